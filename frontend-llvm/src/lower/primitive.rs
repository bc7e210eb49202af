//! Lowers calls of primitives; see [`crate::primitives`].

use super::builder::{Builder, Cursor};
use super::source::promised_type;
use crate::primitives::Primitive;
use cfa::{AllocKind, BinOp, Callee, Check, Expr, ExprId, ExprPool, Family, HaltKind, InputKind, Op, Rounding, TypeId};

/// The error number of a failed allocation.
const ENOMEM: u64 = 12;
/// The alignment of `malloc`.
const HEAP_ALIGN: u32 = 16;
/// The size of a page in bytes.
const PAGE: u32 = 4096;
/// The alignment that is assumed if the requested one is not constant. It exceeds all practical alignments.
const LARGE_ALIGN: u32 = 4096;
/// The maximal size in bytes of a block without a type that is one input.
const MAX_INPUT: u64 = 256;
/// The maximal size in bytes of a struct that is one input.
const MAX_STRUCT_INPUT: u64 = 4096;

/// Lowers a call of `primitive` under the name `name`. Returns the result if the caller needs one of `width` bits.
pub(super) fn lower(
    b: &mut Builder,
    primitive: Primitive,
    name: &str,
    args: &[ExprId],
    width: Option<u32>,
) -> Option<ExprId> {
    let value = match (primitive, args) {
        (Primitive::Nondet, _) => {
            let width = width?;
            let ty = b.cx.source.nondet_type(&mut b.cx.program, type_in(name), width);
            Some(b.havoc(width, InputKind::Nondet(name.to_owned()), ty))
        }
        (Primitive::Environment, _) => {
            let width = width?;
            let model = b.cx.program.funcs[b.func].name.clone();
            let ty = b.cx.source.nondet_type(&mut b.cx.program, name.trim_start_matches("__proviso_env_"), width);
            Some(b.havoc(width, InputKind::Environment(model), ty))
        }
        (Primitive::Malloc, &[size, ..]) => Some(allocate(b, Request::of_malloc(size))),
        (Primitive::AllocationFails, _) => {
            let fails = allocation_fails(b);
            let width = width?;
            Some(b.x().resize(width, fails))
        }
        (Primitive::Alloc { family, may_fail }, &[size, ..]) => {
            let (align, zeroed) = if family == Family::Mapping { (PAGE, true) } else { (HEAP_ALIGN, false) };
            Some(allocate(b, Request { size, align, family, zeroed, may_fail, may_be_too_large: false }))
        }
        (Primitive::AllocZeroed { may_fail }, &[size, ..]) => {
            Some(allocate(b, Request { zeroed: true, may_fail, may_be_too_large: false, ..Request::of_malloc(size) }))
        }
        (Primitive::AlignedAlloc, &[align, size, ..]) => {
            let align = b.x().as_const(align).and_then(cfa::Bv::to_u64);
            let align = align.filter(|a| a.is_power_of_two()).and_then(|a| u32::try_from(a).ok());
            let align = align.map_or(LARGE_ALIGN, |a| a.max(HEAP_ALIGN));
            Some(allocate(b, Request { align, may_be_too_large: false, ..Request::of_malloc(size) }))
        }
        (Primitive::ObjectSize(family), &[ptr, ..]) => {
            let (ptr, width) = (b.as_pointer(ptr), b.pointer_width());
            let var = b.temp(width);
            b.emit(Op::ObjectSize { var, ptr, family });
            Some(b.var_expr(var))
        }
        (Primitive::ObjectOffset, &[ptr, ..]) => {
            let (ptr, width) = (b.as_pointer(ptr), b.pointer_width());
            let var = b.temp(width);
            b.emit(Op::ObjectOffset { var, ptr, writable: false });
            Some(b.var_expr(var))
        }
        (Primitive::Rounding, _) => {
            let mode = b.cx.rounding_mode.map(|var| b.var_expr(var));
            let mode = mode.map(|mode| b.pin(mode));
            Some(mode.unwrap_or_else(|| b.int(Rounding::WIDTH, 0)))
        }
        (Primitive::Counts, _) => Some(b.int(1, b.cx.counts.into())),
        (Primitive::Thread(op), _) => super::threads::call(b, op, args),
        (Primitive::Unmodelled(what), _) => b.unmodelled(&format!("{what} ('{name}')"), width),
        _ if has_effect(b, primitive, name, args) => None,
        // The call has too few arguments.
        _ => b.unmodelled(&format!("this call of '{name}'"), width),
    };
    match (value, width) {
        (Some(value), Some(width)) => Some(b.x().resize(width, value)),
        (None, Some(width)) if !matches!(b.cursor, Cursor::Dead) => Some(b.havoc(width, InputKind::Uninit(None), None)),
        _ => None,
    }
}

/// The part of an input function's name that implies its type.
fn type_in(name: &str) -> &str {
    name.trim_start_matches("__VERIFIER_").trim_start_matches("nondet_")
}

/// Records a call of an undeclared input function whose name implies another type than `int`.
pub(super) fn note_undeclared(b: &mut Builder, name: &str) {
    let promises_other = promised_type(type_in(name)).is_some_and(|(ty, _)| !matches!(ty, "int" | "int32_t"));
    let undeclared = &mut b.cx.program.undeclared;
    if promises_other && undeclared.iter().all(|(known, _)| known != name) {
        undeclared.push((name.to_owned(), b.place));
    }
}

/// Lowers a primitive without a result. Returns false if the primitive has one, or if arguments are missing.
fn has_effect(b: &mut Builder, primitive: Primitive, name: &str, args: &[ExprId]) -> bool {
    match (primitive, args) {
        (Primitive::NondetMemory, &[pointer, size, ..]) => {
            fill_with_inputs(b, pointer, size, &InputKind::Nondet(name.to_owned()), None);
        }
        (Primitive::EnvironmentMemory, &[pointer, size, ..]) => {
            let model = b.cx.program.funcs[b.func].name.clone();
            fill_with_inputs(b, pointer, size, &InputKind::Environment(model), None);
        }
        (Primitive::Assume, &[condition, ..]) => {
            let holds = is_nonzero(b, condition);
            b.assume(holds);
        }
        (Primitive::AssumeOptionally, &[condition, ..]) => {
            let holds = is_nonzero(b, condition);
            b.assume_optionally(holds);
        }
        (Primitive::Assert, &[condition, ref rest @ ..]) => {
            let holds = is_nonzero(b, condition);
            let message = rest.first().copied();
            assert(b, holds, message);
        }
        (Primitive::Require, &[condition, message, ..]) => {
            let holds = is_nonzero(b, condition);
            let violated = b.x().not(holds);
            let message =
                string_at(b, message).unwrap_or_else(|| "an argument violates a requirement of its function".into());
            b.when_violated(violated, Check::Argument, message);
        }
        (Primitive::Use, &[value, ..]) => b.demand_always(value, "it is written".into()),
        (Primitive::Exit, _) => {
            exit(b, args.first().copied());
        }
        (Primitive::ExitNow, _) => {
            let status = exit_status(b, args.first().copied());
            b.halt(HaltKind::ExitNow(status));
        }
        (Primitive::QuickExit, _) => {
            let status = exit_status(b, args.first().copied());
            if let Some(function) = b.cx.quick_exit_function {
                b.emit(Op::Call {
                    callee: Callee::Direct(function),
                    args: Box::default(),
                    varargs: None,
                    result: None,
                });
            }
            b.halt(HaltKind::ExitNow(status));
        }
        (Primitive::Abort, _) => {
            b.halt(HaltKind::Abort);
        }
        (Primitive::Nothing, _) => {
            super::threads::synchronise(b, name);
            b.emit(Op::Skip);
        }
        (Primitive::Free(family), &[ptr, ..]) => {
            let ptr = b.as_pointer(ptr);
            b.emit(Op::Free { ptr, family });
        }
        (Primitive::SetRounding, &[mode, ..]) => {
            if let Some(var) = b.cx.rounding_mode {
                let value = b.x().extract(Rounding::WIDTH - 1, 0, mode);
                b.emit(Op::Assign { var, value });
            }
        }
        (Primitive::InstallHandler, &[_, _]) => {
            // The program keeps the address of the handler, so that the analyses find it.
            args.iter().for_each(|&arg| _ = b.pin(arg));
            let model = &b.cx.program.funcs[b.func].name;
            // Models of calls whose result is not used have this prefix (`models/signal.c`).
            let model = model.strip_prefix("proviso_ignored_").unwrap_or(model);
            let reason = format!("{} ('{model}'): not modelled", cfa::HANDLERS);
            b.approximate(reason, false, true);
        }
        (Primitive::Approximate { over, under }, &[what, ..]) => approximate(b, what, over, under),
        (Primitive::Expose, &[address, ..]) => b.expose(address),
        (Primitive::UnknownFormat, _) if b.cx.knows_formats => {
            let never = b.x().bool(false);
            b.assume(never);
        }
        (Primitive::UnknownFormat, &[what, ..]) => approximate(b, what, true, true),
        _ => return false,
    }
    true
}

fn approximate(b: &mut Builder, what: ExprId, over: bool, under: bool) {
    let what = string_at(b, what).unwrap_or_else(|| "a library function".into());
    let reason = if what.contains(' ') { what } else { format!("'{what}' is not modelled exactly") };
    b.approximate(reason, over, under);
}

fn is_nonzero(b: &mut Builder, e: ExprId) -> ExprId {
    let width = b.x().width(e);
    let zero = b.int(width, 0);
    b.x().ne(e, zero)
}

/// Emits the failure of an assertion where the condition is false.
fn assert(b: &mut Builder, holds: ExprId, message: Option<ExprId>) {
    let message = message.map(|e| b.as_pointer(e));
    let violated = b.x().not(holds);
    b.when(violated, |b| {
        let null = b.size(0);
        let line = b.int(32, 0);
        let failed = Callee::Direct(b.cx.failed_assertion());
        let args = Box::new([message.unwrap_or(null), null, line, null]);
        b.emit(Op::Call { callee: failed, args, varargs: None, result: None });
        b.halt(HaltKind::Abort);
    });
}

/// Ends the program after its exit handlers.
pub(super) fn exit(b: &mut Builder, status: Option<ExprId>) {
    let status = exit_status(b, status);
    if let Some(function) = b.cx.exit_function {
        b.emit(Op::Call { callee: Callee::Direct(function), args: Box::new([status]), varargs: None, result: None });
    }
    b.halt(HaltKind::Exit(status));
}

fn exit_status(b: &mut Builder, status: Option<ExprId>) -> ExprId {
    match status {
        Some(status) => b.x().resize(32, status),
        None => b.int(32, 0),
    }
}

/// A request for new memory.
struct Request {
    size: ExprId,
    align: u32,
    family: Family,
    zeroed: bool,
    /// The allocation may fail if the user enables failing allocations.
    may_fail: bool,
    /// The size may exceed the range of pointer differences. Then the allocation fails.
    may_be_too_large: bool,
}

impl Request {
    fn of_malloc(size: ExprId) -> Self {
        let (family, align) = (Family::Malloc, HEAP_ALIGN);
        Self { size, align, family, zeroed: false, may_fail: true, may_be_too_large: true }
    }
}

/// The address of new memory. If the allocation fails, null, and `errno` is set.
fn allocate(b: &mut Builder, request: Request) -> ExprId {
    let Request { size, align, family, zeroed, may_fail, may_be_too_large } = request;
    let width = b.pointer_width();
    let size = b.as_pointer(size);
    let kind = AllocKind::from_family(family);
    let is_unwritten = family == Family::Malloc && !zeroed;
    let may_fail = may_fail && b.cx.options.malloc_may_fail;
    let max = b.x().constant(cfa::Bv::min_signed(width).not());
    let too_large = b.x().ult(max, size);
    let never_fails = !may_be_too_large || b.x().is_false(too_large) || is_small(b, size);
    if !may_fail && never_fails {
        let address = b.alloc(size, align, kind, zeroed);
        if is_unwritten {
            b.poison_heap(address, size);
        }
        return address;
    }
    let size = b.share(size);
    let mut fails = if may_fail { allocation_fails(b) } else { b.x().bool(false) };
    if may_be_too_large {
        let too_large = b.x().ult(max, size);
        fails = b.x().or(too_large, fails);
    }
    let var = b.temp(width);
    let (failed, succeeds, after) = (b.new_location(), b.new_location(), b.new_location());
    b.branch_without_place(fails, failed, succeeds);
    b.cursor = Cursor::At(failed);
    set_errno(b, |b| b.int(32, ENOMEM));
    let null = b.size(0);
    b.emit(Op::Assign { var, value: null });
    b.goto(after);
    b.cursor = Cursor::At(succeeds);
    b.emit(Op::Alloc { var, size, align, kind, zeroed });
    if is_unwritten {
        let address = b.var_expr(var);
        b.poison_heap(address, size);
    }
    b.goto(after);
    b.cursor = Cursor::At(after);
    b.var_expr(var)
}

/// An input bit that decides whether an allocation fails.
fn allocation_fails(b: &mut Builder) -> ExprId {
    match b.cx.options.malloc_may_fail {
        true => b.havoc(1, InputKind::allocation(), None),
        false => b.x().bool(false),
    }
}

/// True if the size is a small multiple of a narrower unsigned number, so that it is at most half of the address space.
fn is_small(b: &mut Builder, size: ExprId) -> bool {
    let width = b.x().width(size);
    let x = b.x();
    match *x.get(size) {
        Expr::Zext { arg, .. } => x.width(arg) < width,
        Expr::Binary(BinOp::Mul | BinOp::Shl | BinOp::Add, a, b) => {
            let small = |x: &ExprPool, e: ExprId| x.as_const(e).and_then(cfa::Bv::to_u64).is_some_and(|n| n < 1 << 16);
            let narrow =
                |x: &ExprPool, e: ExprId| matches!(*x.get(e), Expr::Zext { arg, .. } if x.width(arg) <= width / 2);
            (small(x, a) && narrow(x, b)) || (small(x, b) && narrow(x, a))
        }
        _ => false,
    }
}

/// Stores an error number in `errno`, if the program uses it.
pub(super) fn set_errno(b: &mut Builder, error: impl FnOnce(&mut Builder) -> ExprId) {
    let Some(location) = b.cx.errno_location else { return };
    let error = error(b);
    let address = b.pointer_temp();
    let callee = Callee::Direct(location);
    b.emit(Op::Call { callee, args: Box::default(), varargs: None, result: Some(address) });
    let address = b.var_expr(address);
    b.store(address, error);
}

/// Stores arbitrary bytes from `pointer` on. `ty` is their type as a whole.
pub(super) fn fill_with_inputs(b: &mut Builder, pointer: ExprId, size: ExprId, kind: &InputKind, ty: Option<TypeId>) {
    let (pointer, size) = (b.as_pointer(pointer), b.as_pointer(size));
    match b.x().as_const(size).and_then(cfa::Bv::to_u64) {
        Some(0) => {}
        Some(size) if size <= if ty.is_some() { MAX_STRUCT_INPUT } else { MAX_INPUT } => {
            let bytes = b.havoc(size as u32 * 8, kind.clone(), ty);
            b.store(pointer, bytes);
        }
        _ => {
            let (pointer, size) = (b.share(pointer), b.share(size));
            let width = b.pointer_width();
            let (zero, one) = (b.size(0), b.size(1));
            let index_var = b.temp(width);
            let index = b.var_expr(index_var);
            b.emit(Op::Assign { var: index_var, value: zero });
            let Some(head) = b.here() else { return };
            let (body, after) = (b.new_location(), b.new_location());
            let more = b.x().ult(index, size);
            b.branch(more, body, after);
            b.cursor = Cursor::At(body);
            let byte = b.havoc(8, kind.clone(), None);
            let address = b.x().add(pointer, index);
            b.store(address, byte);
            let next = b.x().add(index, one);
            b.emit(Op::Assign { var: index_var, value: next });
            b.goto(head);
            b.cursor = Cursor::At(after);
        }
    }
}

/// The string literal at an address.
fn string_at(b: &mut Builder, address: ExprId) -> Option<String> {
    let Expr::GlobalAddr(global) = *b.x().get(address) else { return None };
    let bytes = &b.cx.program.globals[global].init.as_ref()?.bytes;
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
}
