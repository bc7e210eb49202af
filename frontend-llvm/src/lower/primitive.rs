//! What calls of primitives do: see [`crate::primitives`].

use super::builder::{Builder, Cursor};
use crate::primitives::Primitive;
use cfa::{AllocKind, BinOp, Callee, Check, Expr, ExprId, ExprPool, HaltKind, InputKind, Op, Rounding, TypeId};

/// The error number of `malloc`.
const ENOMEM: u64 = 12;
/// What malloc aligns to.
const HEAP_ALIGN: u32 = 16;
/// For an alignment that is not constant: more than any program asks for.
const LARGE_ALIGN: u32 = 4096;
/// Bytes of the largest block that one input fills.
const MAX_INPUT: u64 = 256;

impl Builder<'_, '_> {
    /// Does what a call of `primitive`, under the name `name`, does, and gives the result if one of `width` bits
    /// is wanted.
    pub fn primitive(
        &mut self,
        primitive: Primitive,
        name: &str,
        args: &[ExprId],
        width: Option<u32>,
    ) -> Option<ExprId> {
        let value = match (primitive, args) {
            (Primitive::Nondet, _) => {
                let width = width?;
                let suffix = name.trim_start_matches("__VERIFIER_").trim_start_matches("nondet_");
                let ty = self.cx.source.nondet_type(&mut self.cx.program, suffix, width);
                Some(self.havoc(width, InputKind::Nondet(name.to_owned()), ty))
            }
            (Primitive::Environment, _) => {
                let width = width?;
                let model = self.cx.program.funcs[self.func].name.clone();
                let ty =
                    self.cx.source.nondet_type(&mut self.cx.program, name.trim_start_matches("__proviso_env_"), width);
                Some(self.havoc(width, InputKind::Environment(model), ty))
            }
            (Primitive::NondetMemory, &[pointer, size, ..]) => {
                self.fill_with_inputs(pointer, size, &InputKind::Nondet(name.to_owned()), None);
                None
            }
            (Primitive::EnvironmentMemory, &[pointer, size, ..]) => {
                let model = self.cx.program.funcs[self.func].name.clone();
                self.fill_with_inputs(pointer, size, &InputKind::Environment(model), None);
                None
            }
            (Primitive::Assume, &[condition, ..]) => {
                let holds = self.is_nonzero(condition);
                self.assume(holds);
                None
            }
            (Primitive::Assert, &[condition, ref rest @ ..]) => {
                let holds = self.is_nonzero(condition);
                let message = rest.first().copied();
                self.assert(holds, message);
                None
            }
            (Primitive::Require, &[condition, message, ..]) => {
                let holds = self.is_nonzero(condition);
                let violated = self.x().not(holds);
                let message = self.string_at(message).unwrap_or_else(|| "an argument is not what it has to be".into());
                self.when_violated(violated, Check::Argument, message);
                None
            }
            (Primitive::Exit, _) => {
                self.exit(args.first().copied());
                None
            }
            (Primitive::ExitNow, _) => {
                self.exit_now(args.first().copied());
                None
            }
            (Primitive::Abort, _) => {
                self.halt(HaltKind::Abort);
                None
            }
            (Primitive::Nothing, _) => {
                self.emit(Op::Skip);
                None
            }
            (Primitive::Malloc, &[size, ..]) => Some(self.malloc(size)),
            (Primitive::AllocationFails, _) => {
                let function = self.cx.program.funcs[self.func].name.clone();
                let fails = self.allocation_fails(&function);
                let width = width?;
                Some(self.x().resize(width, fails))
            }
            (Primitive::Alloc, &[size, ..]) => {
                let size = self.as_pointer(size);
                Some(self.alloc(size, HEAP_ALIGN, AllocKind::Library, false))
            }
            (Primitive::AllocZeroed, &[size, ..]) => {
                let size = self.as_pointer(size);
                Some(self.alloc(size, HEAP_ALIGN, AllocKind::Heap, true))
            }
            (Primitive::AlignedAlloc, &[align, size, ..]) => {
                let align = self.x().as_const(align).and_then(cfa::Bv::to_u64);
                let align = align.filter(|a| a.is_power_of_two()).and_then(|a| u32::try_from(a).ok());
                let size = self.as_pointer(size);
                Some(self.alloc(size, align.map_or(LARGE_ALIGN, |a| a.max(HEAP_ALIGN)), AllocKind::Heap, false))
            }
            (Primitive::Free, &[ptr, ..]) => {
                let ptr = self.as_pointer(ptr);
                self.emit(Op::Free { ptr, kind: AllocKind::Heap });
                None
            }
            (Primitive::ObjectSize, &[ptr, ..]) => {
                let (ptr, width) = (self.as_pointer(ptr), self.pointer_width());
                let var = self.temp(width);
                self.emit(Op::ObjectSize { var, ptr });
                Some(self.var_expr(var))
            }
            (Primitive::ObjectOffset, &[ptr, ..]) => {
                let (ptr, width) = (self.as_pointer(ptr), self.pointer_width());
                let var = self.temp(width);
                self.emit(Op::ObjectOffset { var, ptr });
                Some(self.var_expr(var))
            }
            (Primitive::Rounding, _) => {
                let mode = self.cx.rounding_mode.map(|var| self.var_expr(var));
                let mode = mode.map(|mode| self.pin(mode));
                Some(mode.unwrap_or_else(|| self.int(Rounding::WIDTH, 0)))
            }
            (Primitive::SetRounding, &[mode, ..]) => {
                if let Some(var) = self.cx.rounding_mode {
                    let value = self.x().extract(Rounding::WIDTH - 1, 0, mode);
                    self.emit(Op::Assign { var, value });
                }
                None
            }
            (Primitive::Approximate { over, under }, &[what, ..]) => {
                let what = self.string_at(what).unwrap_or_else(|| "a library function".into());
                let reason = if what.contains(' ') { what } else { format!("'{what}' is not modelled exactly") };
                self.approximate(reason, over, under);
                None
            }
            (Primitive::Unmodelled(what), _) => self.unmodelled(&format!("{what} ('{name}')"), width),
            // Called with too few arguments.
            _ => self.unmodelled(&format!("this call of '{name}'"), width),
        };
        match (value, width) {
            (Some(value), Some(width)) => Some(self.x().resize(width, value)),
            (None, Some(width)) if !matches!(self.cursor, Cursor::Dead) => {
                Some(self.havoc(width, InputKind::Uninit(None), None))
            }
            _ => None,
        }
    }

    fn is_nonzero(&mut self, e: ExprId) -> ExprId {
        let width = self.x().width(e);
        let zero = self.int(width, 0);
        self.x().ne(e, zero)
    }

    /// Where the condition does not hold, an assertion has failed.
    fn assert(&mut self, holds: ExprId, message: Option<ExprId>) {
        let message = message.map(|e| self.as_pointer(e));
        let violated = self.x().not(holds);
        self.when(violated, |b| {
            let null = b.size(0);
            let line = b.int(32, 0);
            let failed = Callee::Direct(b.cx.failed_assertion());
            let args = Box::new([message.unwrap_or(null), null, line, null]);
            b.emit(Op::Call { callee: failed, args, varargs: None, result: None });
            b.halt(HaltKind::Abort);
        });
    }

    /// Ends the program after what is to run at its end.
    pub fn exit(&mut self, status: Option<ExprId>) {
        for n in 0..self.cx.exit_functions.len() {
            let callee = Callee::Direct(self.cx.exit_functions[n]);
            self.emit(Op::Call { callee, args: Box::default(), varargs: None, result: None });
        }
        self.exit_now(status);
    }

    fn exit_now(&mut self, status: Option<ExprId>) {
        let status = match status {
            Some(status) => self.x().resize(32, status),
            None => self.int(32, 0),
        };
        self.halt(HaltKind::Exit(status));
    }

    /// Fresh memory; null, and the error number that says so, if there are more bytes than a pointer difference can be.
    fn malloc(&mut self, size: ExprId) -> ExprId {
        let width = self.pointer_width();
        let size = self.as_pointer(size);
        let max = self.x().constant(cfa::Bv::min_signed(width).not());
        let too_large = self.x().ult(max, size);
        let may_fail = self.cx.options.malloc_may_fail;
        if !may_fail && (self.x().is_false(too_large) || self.is_small(size)) {
            return self.alloc(size, HEAP_ALIGN, AllocKind::Heap, false);
        }
        let size = self.share(size);
        let fails = self.allocation_fails("malloc");
        let too_large = self.x().ult(max, size);
        let too_large = self.x().or(too_large, fails);
        let var = self.temp(width);
        let (fails, succeeds, after) = (self.new_location(), self.new_location(), self.new_location());
        self.branch(too_large, fails, succeeds);
        self.cursor = Cursor::At(fails);
        self.set_errno(ENOMEM);
        let null = self.size(0);
        self.emit(Op::Assign { var, value: null });
        self.goto(after);
        self.cursor = Cursor::At(succeeds);
        self.emit(Op::Alloc { var, size, align: HEAP_ALIGN, kind: AllocKind::Heap, zeroed: false });
        self.goto(after);
        self.cursor = Cursor::At(after);
        self.var_expr(var)
    }

    /// One bit: whether an allocation by a function fails that need not.
    fn allocation_fails(&mut self, function: &str) -> ExprId {
        match self.cx.options.malloc_may_fail {
            true => self.havoc(1, InputKind::Environment(function.to_owned()), None),
            false => self.x().bool(false),
        }
    }

    /// Whether a size is a few times a shorter unsigned number, so that it is no more than half of what there is.
    fn is_small(&mut self, size: ExprId) -> bool {
        let width = self.x().width(size);
        let x = self.x();
        match *x.get(size) {
            Expr::Zext { arg, .. } => x.width(arg) < width,
            Expr::Binary(BinOp::Mul | BinOp::Shl | BinOp::Add, a, b) => {
                let small =
                    |x: &ExprPool, e: ExprId| x.as_const(e).and_then(cfa::Bv::to_u64).is_some_and(|n| n < 1 << 16);
                let narrow =
                    |x: &ExprPool, e: ExprId| matches!(*x.get(e), Expr::Zext { arg, .. } if x.width(arg) <= width / 2);
                (small(x, a) && narrow(x, b)) || (small(x, b) && narrow(x, a))
            }
            _ => false,
        }
    }

    /// Stores an error number where the program can see it.
    fn set_errno(&mut self, error: u64) {
        let Some(location) = self.cx.errno_location else { return };
        let address = self.temp(self.pointer_width());
        let callee = Callee::Direct(location);
        self.emit(Op::Call { callee, args: Box::default(), varargs: None, result: Some(address) });
        let (address, error) = (self.var_expr(address), self.int(32, error));
        self.store(address, error);
    }

    /// Fresh bytes from `pointer` on; `ty` is what they are as a whole.
    pub fn fill_with_inputs(&mut self, pointer: ExprId, size: ExprId, kind: &InputKind, ty: Option<TypeId>) {
        let (pointer, size) = (self.as_pointer(pointer), self.as_pointer(size));
        match self.x().as_const(size).and_then(cfa::Bv::to_u64) {
            Some(0) => {}
            Some(size) if size <= MAX_INPUT => {
                let bytes = self.havoc(size as u32 * 8, kind.clone(), ty);
                self.store(pointer, bytes);
            }
            _ => {
                let (pointer, size) = (self.share(pointer), self.share(size));
                let width = self.pointer_width();
                let (zero, one) = (self.size(0), self.size(1));
                let index_var = self.temp(width);
                let index = self.var_expr(index_var);
                self.emit(Op::Assign { var: index_var, value: zero });
                let Some(head) = self.here() else { return };
                let (body, after) = (self.new_location(), self.new_location());
                let more = self.x().ult(index, size);
                self.branch(more, body, after);
                self.cursor = Cursor::At(body);
                let byte = self.havoc(8, kind.clone(), None);
                let address = self.x().add(pointer, index);
                self.store(address, byte);
                let next = self.x().add(index, one);
                self.emit(Op::Assign { var: index_var, value: next });
                self.goto(head);
                self.cursor = Cursor::At(after);
            }
        }
    }

    /// The string literal at an address.
    fn string_at(&mut self, address: ExprId) -> Option<String> {
        let Expr::GlobalAddr(global) = *self.x().get(address) else { return None };
        let bytes = &self.cx.program.globals[global].init.as_ref()?.bytes;
        let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }
}
