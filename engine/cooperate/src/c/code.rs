//! Writes operations as C statements.

use super::file::{File, frame_object};
use super::memory;
use super::place::Access;
use super::roles::{self, Role};
use super::scalar::{ValueKind, of_type, raw_type, strip};
use cfa::text::exact::{ExactPrinter, ScalarType, WIDE, container};
use cfa::{
    AllocKind, Callee, EdgeId, Expr, ExprId, Family, FuncId, FunctionOrigin, HaltKind, InputId, InputKind, LocId, Op,
    VarId,
};
use rustc_hash::FxHashMap;

/// Repeated sub-expressions with at least this many nodes, and all sub-expressions of this depth, become variables.
const LARGE: u32 = 4;
const DEEP: u32 = 24;

/// The maximal number of variadic arguments of a call.
const MAX_VARIADIC: usize = 64;

impl File<'_> {
    /// The statements of an edge other than an assume edge. `before` returns the only edge into a location, if there is
    /// exactly one.
    pub fn statements(&mut self, edge: EdgeId, before: &dyn Fn(LocId) -> Option<EdgeId>) -> Vec<String> {
        let mut statements = Statements { file: self, before, out: Vec::new() };
        statements.edge(edge);
        statements.out
    }

    /// The condition of a branch, with preceding statements that define its sub-expressions.
    pub fn branch(&mut self, cond: ExprId) -> (Vec<String>, String) {
        let mut statements = Statements { file: self, before: &|_| None, out: Vec::new() };
        statements.parts(&[cond]);
        let out = statements.out;
        let text = self.condition(cond);
        self.scope.end_statement();
        (out, strip(&text).to_owned())
    }
}

/// The calling convention of a function.
#[derive(PartialEq, Eq)]
struct Convention {
    /// By parameter, and last for the result, true if it is a float.
    floats: Vec<bool>,
    is_variadic: bool,
    is_library: bool,
}

/// Collects the statements of one operation.
struct Statements<'f, 'p, 'a> {
    file: &'f mut File<'p>,
    before: &'a dyn Fn(LocId) -> Option<EdgeId>,
    out: Vec<String>,
}

impl Statements<'_, '_, '_> {
    /// Writes an edge other than an assume edge.
    fn edge(&mut self, edge: EdgeId) {
        let p = self.file.p;
        let op = &p.edges[edge].op;
        if matches!(*op, Op::Assign { var, .. } if self.file.is_dead(var)) {
            return;
        }
        let mut roots = Vec::new();
        op.for_each_expr(|e| roots.push(e));
        self.parts(&roots);
        self.file.checks_before(edge, &mut self.out);
        match *op {
            Op::Skip | Op::Leak(_) => {}
            Op::Assume { .. } => unreachable!("branches are written with their locations"),
            Op::Assign { var, value } => {
                let (name, ty) = self.file.variable(var);
                let value = self.file.value(value, ty);
                self.out.push(format!("{name} = {value};"));
            }
            Op::Load { var, addr } => self.load(var, addr),
            Op::Store { addr, value } => self.store(addr, value),
            Op::Alloc { var, size, kind, zeroed, align } => self.alloc(op, var, size, kind, zeroed, align),
            Op::Free { family: Family::Scope, .. } => {}
            Op::Free { ptr, family } if self.file.watch.is_some() => {
                let ptr = self.file.pointer(ptr);
                self.out.push(format!("proviso_free({ptr}, {});", memory::family(family)));
            }
            Op::Free { ptr, .. } => {
                self.file.library("free", "extern void free(void *);".to_owned());
                let ptr = self.file.pointer(ptr);
                self.out.push(format!("free({ptr});"));
            }
            Op::ObjectSize { var, ptr, family } if self.file.watch.is_some() => {
                let family = family.map_or("-1".to_owned(), memory::family);
                self.measure(var, ptr, "size", &format!(", {family}"));
            }
            Op::ObjectOffset { var, ptr, writable } if self.file.watch.is_some() => {
                self.measure(var, ptr, "offset", if writable { ", 1" } else { ", 0" });
            }
            Op::ObjectSize { .. } | Op::ObjectOffset { .. } => {
                self.file.refuse("the size of an object that C does not know".to_owned());
            }
            Op::Havoc { var, input } => self.havoc(var, input),
            Op::Copy { dst, src, len } => {
                self.file.library("memmove", "extern void *memmove(void *, const void *, unsigned long);".to_owned());
                let (dst, src, len) = (self.file.pointer(dst), self.file.pointer(src), self.file.bits(len));
                self.out.push(format!("memmove({dst}, {src}, {len});"));
            }
            Op::Fill { dst, byte, len } => {
                self.file.library("memset", "extern void *memset(void *, int, unsigned long);".to_owned());
                let (dst, byte, len) = (self.file.pointer(dst), self.file.bits(byte), self.file.bits(len));
                self.out.push(format!("memset({dst}, {byte}, {len});"));
            }
            Op::Shadow(_) => self.file.refuse("whether memory is initialised".to_owned()),
            Op::Call { callee: Callee::Indirect(pointer), .. } => self.call_pointer(edge, pointer),
            Op::Call { .. } => self.call(edge, None),
            Op::Return { value: None } => self.out.push("return;".to_owned()),
            Op::Return { value: Some(value) } => {
                let func = p.func_of(edge);
                let (ty, _) = self.file.result_type(func).expect("it returns a value");
                let value = self.file.value(value, ty);
                self.out.push(format!("return {value};"));
            }
            Op::Halt(kind) => self.halt(kind),
            Op::Error(error) => {
                self.file.library("reach_error", "extern void reach_error(void);".to_owned());
                self.file.library("abort", "extern void abort(void) __attribute__((__noreturn__));".to_owned());
                self.out.push(format!("/* {} */", p.errors[error].message.replace("*/", "* /")));
                self.out.push("reach_error();".to_owned());
                self.out.push("abort();".to_owned());
            }
            Op::Approx { taint } => {
                self.out.push(format!("/* not exact: {} */", p.taints[taint].reason.replace("*/", "* /")));
            }
        }
        self.file.scope.end_statement();
    }

    fn halt(&mut self, kind: HaltKind) {
        let end = match kind {
            HaltKind::Exit(status) => Some(("exit", status)),
            HaltKind::ExitNow(status) => Some(("_Exit", status)),
            _ => None,
        };
        if let Some((function, status)) = end {
            let declaration = format!("extern void {function}(int) __attribute__((__noreturn__));");
            self.file.library(function, declaration);
            let status = self.file.signed(status);
            self.out.push(format!("{function}({});", strip(&status)));
            return;
        }
        if kind == HaltKind::Assumed {
            self.file.library("__VERIFIER_assume", "extern void __VERIFIER_assume(int);".to_owned());
            self.out.push("__VERIFIER_assume(0);".to_owned());
        }
        self.file.library("abort", "extern void abort(void) __attribute__((__noreturn__));".to_owned());
        self.out.push("abort();".to_owned());
    }

    // Sub-expressions.

    /// Defines variables for sub-expressions that would be repeated or nested too deep.
    fn parts(&mut self, roots: &[ExprId]) {
        let p = self.file.p;
        // Count uses, sizes and depths, excluding sub-expressions that already have names. Children come before
        // parents.
        let mut uses: FxHashMap<ExprId, u32> = FxHashMap::default();
        let mut order = Vec::new();
        let mut stack: Vec<(ExprId, bool)> = roots.iter().map(|&e| (e, false)).collect();
        while let Some((e, done)) = stack.pop() {
            if done {
                order.push(e);
                continue;
            }
            let count = uses.entry(e).or_default();
            *count += 1;
            if *count == 1 {
                stack.push((e, true));
                stack.extend(p.exprs.get(e).children().map(|c| (c, false)));
            }
        }
        if order.len() < LARGE as usize {
            return;
        }
        let mut measures: FxHashMap<ExprId, (u32, u32)> = FxHashMap::default();
        for e in order {
            let (mut size, mut depth) = (1u32, 1u32);
            for child in p.exprs.get(e).children() {
                let (s, d) = measures[&child];
                size = size.saturating_add(s);
                depth = depth.max(d + 1);
            }
            // Helper functions evaluate their arguments once, so only repetitions in the text count.
            if (uses[&e] > 1 && size >= LARGE || depth > DEEP) && p.exprs.width(e) <= 128 {
                let width = p.exprs.width(e);
                let ty = match self.file.kind(e) {
                    ValueKind::Bits => ScalarType::Unsigned(if width == 1 { 1 } else { container(width).2 }),
                    ValueKind::Pointer => ScalarType::Pointer,
                    ValueKind::Float(f) => ScalarType::Float(f),
                };
                let value = match ty {
                    ScalarType::Pointer => self.file.pointer(e),
                    ty => self.file.value(e, ty),
                };
                let name = self.new_variable(ty, width);
                self.out.push(format!("{name} = {};", strip(&value)));
                self.file.scope.name_part(e, name, ty);
                (size, depth) = (1, 1);
            }
            measures.insert(e, (size, depth));
        }
    }

    /// Declares a variable for a sub-expression. Returns its name.
    fn new_variable(&mut self, ty: ScalarType, width: u32) -> String {
        let name = self.file.names.fresh_local("part");
        let declaration = match ty {
            ScalarType::Unsigned(1) => "int ".to_owned(),
            ScalarType::Unsigned(_) => format!("{} ", container(width).0),
            _ => raw_type(ty, width),
        };
        self.file.scope.declare(format!("{declaration}{name};"));
        name
    }

    // Memory.

    fn load(&mut self, var: VarId, addr: ExprId) {
        let width = self.file.p.vars[var].width;
        let (name, ty) = self.file.variable(var);
        match self.file.access(addr, width, ty) {
            Access::Lvalue(lvalue, from) => {
                let value = self.file.converted(lvalue, from, width, ty);
                self.out.push(format!("{name} = {};", strip(&value)));
            }
            Access::Bytes(address, bytes) => {
                self.file.memcpy();
                if !matches!(ty, ScalarType::Float(_)) {
                    self.out.push(format!("{name} = 0;"));
                }
                self.out.push(format!("memcpy(&{name}, {address}, {bytes});"));
                if let ScalarType::Unsigned(_) = ty
                    && !width.is_multiple_of(8)
                {
                    self.out.push(format!(
                        "{name} &= ({}1 << {width}) - 1;",
                        if width < 32 { "" } else { "(unsigned long long)" }
                    ));
                }
            }
        }
    }

    fn store(&mut self, addr: ExprId, value: ExprId) {
        let width = self.file.p.exprs.width(value);
        let hint = match self.file.kind(value) {
            ValueKind::Bits => ScalarType::Unsigned(width),
            ValueKind::Pointer => ScalarType::Pointer,
            ValueKind::Float(f) => ScalarType::Float(f),
        };
        match self.file.access(addr, width, hint) {
            Access::Lvalue(lvalue, ty) => {
                let value = self.file.value(value, ty);
                self.out.push(format!("{lvalue} = {};", strip(&value)));
            }
            Access::Bytes(address, bytes) => {
                self.file.memcpy();
                let text = self.file.value(value, hint);
                let name = self.new_variable(hint, width);
                self.out.push(format!("{name} = {text};"));
                self.out.push(format!("memcpy({address}, &{name}, {bytes});"));
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn alloc(&mut self, op: &Op, var: VarId, size: ExprId, kind: AllocKind, zeroed: bool, align: u32) {
        if let Some(object) = self.file.scope.object(var).map(|o| o.name.clone())
            && let Some((_, bytes)) = frame_object(self.file.p, op)
        {
            if zeroed {
                self.file.library("memset", "extern void *memset(void *, int, unsigned long);".to_owned());
                self.out.push(format!("memset(&{object}, 0, {bytes});"));
            }
            if self.file.watch.is_some() {
                self.out.push(format!("proviso_begin(&{object}, {bytes}, PROVISO_STACK);"));
            }
            return;
        }
        let (name, ty) = self.file.variable(var);
        let exact = self.file.bits(size);
        let watched = self.file.watch.is_some();
        let size = if watched { format!("({exact} + PROVISO_GAP)") } else { exact.clone() };
        let made = match kind {
            AllocKind::Stack => format!("__builtin_alloca({size})"),
            AllocKind::Heap(_) | AllocKind::Library(_) | AllocKind::Given | AllocKind::Placeholder if zeroed => {
                self.file.library("calloc", "extern void *calloc(unsigned long, unsigned long);".to_owned());
                format!("calloc(1, {size})")
            }
            AllocKind::Heap(_) | AllocKind::Library(_) | AllocKind::Given | AllocKind::Placeholder if align > 16 => {
                self.file
                    .library("aligned_alloc", "extern void *aligned_alloc(unsigned long, unsigned long);".to_owned());
                format!("aligned_alloc({align}, {size})")
            }
            AllocKind::Heap(_) | AllocKind::Library(_) | AllocKind::Given | AllocKind::Placeholder => {
                self.file.library("malloc", "extern void *malloc(unsigned long);".to_owned());
                format!("malloc({size})")
            }
        };
        let made = match kind {
            AllocKind::Stack => made,
            _ if !watched => made,
            kind => {
                let what = match kind {
                    AllocKind::Placeholder => "PROVISO_STAND_IN",
                    kind if kind.may_leak() => "PROVISO_HEAP",
                    _ => "PROVISO_GIVEN",
                };
                let family = kind.family().map_or("-1".to_owned(), memory::family);
                format!("proviso_allocate({made}, {exact}, {what}, {family})")
            }
        };
        let cast = if ty == ScalarType::Pointer { "" } else { "(unsigned long)" };
        self.out.push(format!("{name} = {cast}{made};"));
        if zeroed && kind == AllocKind::Stack {
            self.file.library("memset", "extern void *memset(void *, int, unsigned long);".to_owned());
            self.out.push(format!("memset({name}, 0, {size});"));
        }
        if watched && kind == AllocKind::Stack {
            self.out.push(format!(
                "proviso_begin({}{name}, {exact}, PROVISO_STACK);",
                if ty == ScalarType::Pointer { "" } else { "(void *)" }
            ));
        }
    }

    fn measure(&mut self, var: VarId, ptr: ExprId, what: &str, more: &str) {
        let (name, ty) = self.file.variable(var);
        let width = self.file.p.vars[var].width;
        let ptr = self.file.pointer(ptr);
        let value = self.file.converted(format!("proviso_{what}({ptr}{more})"), ScalarType::Unsigned(width), width, ty);
        self.out.push(format!("{name} = {};", strip(&value)));
    }

    // Inputs and calls.

    fn havoc(&mut self, var: VarId, input: InputId) {
        let p = self.file.p;
        let (name, ty) = self.file.variable(var);
        let input = &p.inputs[input];
        let width = p.vars[var].width;
        if let InputKind::Nondet(function) = &input.kind
            && let Some(from) = of_type(p, input.ty, width)
        {
            let declaration = self.file.declare(input.ty, &format!("{function}(void)"));
            self.file.library(function, format!("extern {declaration};"));
            let value = self.file.converted(format!("{function}()"), from, width, ty);
            self.out.push(format!("{name} = {};", strip(&value)));
            return;
        }
        let (function, result, of) = match (ty, width) {
            (ScalarType::Float(cfa::FloatFormat::Single), _) => ("float", "float", ty),
            (ScalarType::Float(cfa::FloatFormat::Double), _) => ("double", "double", ty),
            (_, 1) => ("bool", "_Bool", ScalarType::Bool),
            (_, ..=8) => ("uchar", "unsigned char", ScalarType::Unsigned(8)),
            (_, ..=16) => ("ushort", "unsigned short", ScalarType::Unsigned(16)),
            (_, ..=32) => ("uint", "unsigned int", ScalarType::Unsigned(32)),
            (_, ..=64) => ("ulonglong", "unsigned long long", ScalarType::Unsigned(64)),
            _ => ("uint128", WIDE.0, ScalarType::Unsigned(128)),
        };
        let function = format!("__VERIFIER_nondet_{function}");
        self.file.library(&function, format!("extern {result} {function}(void);"));
        let mut value = self.file.converted(format!("{function}()"), of, width, ty);
        if !matches!(width, 1 | 8 | 16 | 32 | 64 | 128) && matches!(ty, ScalarType::Unsigned(_)) {
            value = format!("({value} & (({})1 << {width}) - 1)", container(width).0);
        }
        self.out.push(format!("{name} = {};", strip(&value)));
    }

    /// Writes a call through a pointer. The ABI passes floats and integers in different registers, and library
    /// functions take variadic arguments differently from functions of the file. So the call uses the convention of the
    /// functions that the pointer may refer to. If these differ, the text compares the pointer with each function.
    fn call_pointer(&mut self, edge: EdgeId, pointer: ExprId) {
        let mut groups: Vec<(Convention, Vec<FuncId>)> = Vec::new();
        for f in self.file.behind_pointer(edge) {
            let convention = self.file.convention(f);
            match groups.iter_mut().find(|group| group.0 == convention) {
                Some(group) => group.1.push(f),
                None => groups.push((convention, vec![f])),
            }
        }
        let last = groups.pop().map(|(_, functions)| functions[0]);
        for (_, functions) in &groups {
            let pointer = self.file.pointer(pointer);
            let is_one: Vec<String> =
                functions.iter().map(|&f| format!("{pointer} == (char *){}", self.file.function(f))).collect();
            self.out.push(format!("if ({}) {{", is_one.join(" || ")));
            self.call(edge, Some(functions[0]));
            self.out.push("} else {".to_owned());
        }
        self.call(edge, last);
        if !groups.is_empty() {
            self.out.push("}".repeat(groups.len()));
        }
    }

    /// Writes a call. For a call through a pointer, `like` determines the types of parameters and result.
    fn call(&mut self, edge: EdgeId, like: Option<FuncId>) {
        let p = self.file.p;
        let Op::Call { callee, args, varargs, result } = &p.edges[edge].op else { unreachable!("a call") };
        // A function that does not take these arguments is called through a pointer with the types of the call.
        let as_pointer = match *callee {
            Callee::Direct(f) => roles::role(p, f) == Role::Body && p.funcs[f].varargs.is_none() && !takes(p, f, args),
            Callee::Indirect(_) => true,
        };
        let (mut texts, returned) = match *callee {
            Callee::Direct(f) if !as_pointer => {
                let returned = self.file.result_type(f).zip(self.file.p.funcs[f].return_width);
                (self.file.arguments(f, args), returned.map(|((ty, _), width)| (ty, width)))
            }
            _ => match like {
                Some(f) => {
                    let returned = result.and(self.file.result_type(f)).zip(p.funcs[f].return_width);
                    (self.file.arguments(f, args), returned.map(|((ty, _), width)| (ty, width)))
                }
                None => {
                    let texts = args.iter().map(|&e| self.file.natural(e).0).collect();
                    (texts, result.map(|v| (self.file.type_of(v), p.vars[v].width)))
                }
            },
        };
        let called = match *callee {
            Callee::Direct(f) => Some(f),
            Callee::Indirect(_) => like,
        };
        // Library functions take variadic arguments by the ABI, functions of the file take a block with them.
        let is_library = called.is_none_or(|f| roles::role(p, f) != Role::Body);
        let takes_block = called.is_some_and(|f| !is_library && p.funcs[f].varargs.is_some());
        match *varargs {
            Some(block) if is_library && called.is_none_or(|f| p.funcs[f].varargs.is_some()) => {
                match (self.variadic(edge, block), called) {
                    (Some(values), _) => texts.extend(values),
                    (None, Some(f)) => self.file.refuse(format!("the arguments of a call of '{}'", p.funcs[f].name)),
                    (None, None) => self.file.refuse("the arguments of a call through a pointer".to_owned()),
                }
            }
            varargs if takes_block => {
                texts.push(varargs.map_or_else(|| "0".to_owned(), |block| self.file.pointer(block)));
            }
            _ => {}
        }
        let function = match *callee {
            Callee::Direct(f) if !as_pointer => self.file.function(f),
            callee => {
                let result = returned.map_or_else(|| "void ".to_owned(), |(ty, width)| raw_type(ty, width));
                let mut types: Vec<String> = match like {
                    Some(f) => {
                        let raw = |&v: &VarId| raw_type(self.file.type_of(v), p.vars[v].width).trim_end().to_owned();
                        p.funcs[f].params.iter().map(raw).collect()
                    }
                    None => args.iter().map(|&e| self.file.natural(e).1).collect(),
                };
                if takes_block {
                    types.push("char *".to_owned());
                } else if is_library && varargs.is_some() {
                    types.push("...".to_owned());
                }
                let types = if types.is_empty() { "void".to_owned() } else { types.join(", ") };
                let pointer = match callee {
                    Callee::Direct(f) => self.file.function(f),
                    Callee::Indirect(e) => self.file.pointer(e),
                };
                format!("(({result}(*)({types})){pointer})")
            }
        };
        let call = format!("{function}({})", texts.join(", "));
        match (result, returned) {
            (Some(var), Some((from, width))) if !self.file.is_dead(*var) => {
                let (name, ty) = self.file.variable(*var);
                let value = self.file.converted(call, from, width, ty);
                self.out.push(format!("{name} = {};", strip(&value)));
            }
            _ => self.out.push(format!("{call};")),
        }
    }

    /// The values of variadic arguments: those that the preceding statements store into the block.
    fn variadic(&mut self, call: EdgeId, block: ExprId) -> Option<Vec<String>> {
        let p = self.file.p;
        let &Expr::Var(base) = p.exprs.get(block) else { return None };
        let mut stored: Vec<(u64, ExprId)> = Vec::new();
        let mut at = p.edges[call].source;
        let size = loop {
            let edge = (self.before)(at)?;
            match p.edges[edge].op {
                Op::Store { addr, value } => {
                    let (to, offset) = p.exprs.base_and_offset(addr);
                    if to != block {
                        return None;
                    }
                    stored.push((offset, value));
                }
                Op::Alloc { var, size, .. } if var == base => break p.exprs.as_const(size)?.to_u64()?,
                _ => return None,
            }
            if stored.len() > MAX_VARIADIC {
                return None;
            }
            at = p.edges[edge].source;
        };
        stored.sort_by_key(|&(offset, _)| offset);
        if stored.is_empty() && size > 0 {
            return None;
        }
        let mut texts = Vec::new();
        for (_, value) in stored {
            let width = p.exprs.width(value);
            let (text, _) = self.file.natural(value);
            texts.push(match (self.file.kind(value), width) {
                (ValueKind::Bits, ..=32) => format!("(int){text}"),
                _ => text,
            });
        }
        Some(texts)
    }
}

impl File<'_> {
    /// Declares `memcpy`.
    pub fn memcpy(&mut self) {
        self.library("memcpy", "extern void *memcpy(void *, const void *, unsigned long);".to_owned());
    }

    /// Converts the value of an lvalue to the type of a variable.
    fn converted(&mut self, text: String, from: ScalarType, width: u32, to: ScalarType) -> String {
        match (from, to) {
            // The pointers may have different target types, which compilers reject (gcc from version 14 on).
            (ScalarType::Pointer, ScalarType::Pointer) => format!("(void *){text}"),
            (a, b) if a == b => text,
            (_, ScalarType::Pointer) => {
                let bits = self.bits_of(text, from, width);
                format!("(void *)(unsigned long){bits}")
            }
            (ScalarType::Float(a), ScalarType::Float(b)) if a == b => text,
            (_, ScalarType::Float(f)) => {
                let bits = self.bits_of(text, from, width);
                self.float_of_bits(f, &bits)
            }
            (ScalarType::Signed(a) | ScalarType::Unsigned(a), ScalarType::Signed(b)) if a == b => {
                format!("({})({text})", super::types::integer_type(b, true))
            }
            (ScalarType::Unsigned(8), _) if width < 8 => format!("({text} & {})", (1u32 << width) - 1),
            _ => self.bits_of(format!("({text})"), from, width),
        }
    }

    /// The functions that a call through a pointer may call, by the widths of their parameters and results.
    fn behind_pointer(&self, call: EdgeId) -> Vec<FuncId> {
        let p = self.p;
        let Op::Call { args, varargs, result, .. } = &p.edges[call].op else { unreachable!("a call") };
        let fits = |&f: &FuncId| {
            let function = &p.funcs[f];
            let returns = result.is_none_or(|v| function.return_width == Some(p.vars[v].width));
            // For 32-bit targets, the program does not record which arguments of a call are variadic.
            let has_rest = function.varargs.is_some() && varargs.is_some() && roles::role(p, f) == Role::Body;
            takes(p, f, args) && (args.len() == function.params.len() || has_rest) && returns
        };
        self.address_taken().iter().copied().filter(fits).collect()
    }

    fn convention(&self, f: FuncId) -> Convention {
        let is_float = |ty: ScalarType| matches!(ty, ScalarType::Float(_));
        let function = &self.p.funcs[f];
        let parameters = function.params.iter().map(|&v| is_float(self.type_of(v)));
        Convention {
            floats: parameters.chain([self.result_type(f).is_some_and(|(ty, _)| is_float(ty))]).collect(),
            is_variadic: function.varargs.is_some(),
            is_library: roles::role(self.p, f) != Role::Body,
        }
    }

    /// The arguments of a call, converted to the types of the parameters.
    fn arguments(&mut self, f: FuncId, args: &[ExprId]) -> Vec<String> {
        let p = self.p;
        let params = &p.funcs[f].params;
        let mut texts = Vec::new();
        for (i, &param) in params.iter().enumerate() {
            let (ty, width) = (self.type_of(param), p.vars[param].width);
            texts.push(match args.get(i) {
                Some(&arg) if p.exprs.width(arg) == width => self.value(arg, ty),
                _ => {
                    self.refuse(format!("a call of '{}' with other arguments than it takes", p.funcs[f].name));
                    "0".to_owned()
                }
            });
        }
        if roles::role(self.p, f) == Role::External
            && p.funcs[f].origin == FunctionOrigin::Undefined
            && p.funcs[f].varargs.is_none()
        {
            for &arg in args.iter().skip(params.len()) {
                texts.push(self.natural(arg).0);
            }
        }
        texts.iter().map(|t| strip(t).to_owned()).collect()
    }

    /// The value of an expression in its own type, and that type.
    fn natural(&mut self, e: ExprId) -> (String, String) {
        let width = self.p.exprs.width(e);
        let ty = match (self.kind(e), self.p.exprs.get(e)) {
            (_, &Expr::Var(v)) => self.type_of(v),
            (ValueKind::Pointer, _) => ScalarType::Pointer,
            (ValueKind::Float(f), _) => ScalarType::Float(f),
            (ValueKind::Bits, _) => ScalarType::Unsigned(width),
        };
        let value = match ty {
            ScalarType::Pointer => self.pointer(e),
            ty => self.value(e, ty),
        };
        (value, raw_type(ty, width).trim_end().to_owned())
    }
}

/// Returns true if each parameter has an argument of its width.
fn takes(program: &cfa::Program, f: FuncId, args: &[ExprId]) -> bool {
    let fits = |(i, &param): (usize, &VarId)| {
        args.get(i).is_some_and(|&arg| program.exprs.width(arg) == program.vars[param].width)
    };
    program.funcs[f].params.iter().enumerate().all(fits)
}
