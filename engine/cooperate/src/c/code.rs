//! Operations as statements.

use super::expr::{Kind, Ty, container};
use super::file::{File, Role, frame_object};
use super::kinds;
use super::place::Access;
use cfa::{
    AllocKind, Callee, EdgeId, Expr, ExprId, FuncId, FunctionOrigin, HaltKind, InputId, InputKind, LocId, Op, Out,
    VarId,
};
use rustc_hash::FxHashMap;

/// Parts of expressions that occur more than once get a name if they have so many nodes, and all that are so deep.
const LARGE: u32 = 4;
const DEEP: u32 = 24;

/// Arguments that a call lays out in memory.
const MAX_VARIADIC: usize = 64;

/// The program around an operation, as far as it tells how to write it.
pub struct Around<'a> {
    /// The only edge that leads to a location, if one does.
    pub before: &'a dyn Fn(LocId) -> Option<EdgeId>,
}

impl File<'_> {
    /// The statements of an edge that is no assume edge.
    pub fn statement(&mut self, edge: EdgeId, around: &Around, out: &mut Vec<String>) {
        let p = self.p;
        let op = &p.edges[edge].op;
        self.name_parts(op, out);
        match *op {
            Op::Skip | Op::Leak(_) => {}
            Op::Assume { .. } => unreachable!("branches are written with their locations"),
            Op::Assign { var, value } => {
                let (name, ty) = self.variable(var);
                let value = self.value(value, ty);
                out.push(format!("{name} = {value};"));
            }
            Op::Load { var, addr } => self.load(var, addr, out),
            Op::Store { addr, value } => self.store(addr, value, out),
            Op::Alloc { var, size, kind, zeroed, align } => self.alloc(op, var, size, kind, zeroed, align, out),
            Op::Free { kind: AllocKind::Stack, .. } => {}
            Op::Free { ptr, .. } => {
                self.library("free", "extern void free(void *);".to_owned());
                let ptr = self.pointer(ptr);
                out.push(format!("free({ptr});"));
            }
            Op::ObjectSize { var, ptr } | Op::ObjectOffset { var, ptr } => {
                let _ = (var, ptr);
                self.refuse("the size of an object that is not known to C".to_owned());
            }
            Op::Havoc { var, input } => self.havoc(var, input, out),
            Op::Copy { dst, src, len } => {
                self.library("memmove", "extern void *memmove(void *, const void *, unsigned long);".to_owned());
                let (dst, src, len) = (self.pointer(dst), self.pointer(src), self.bits(len));
                out.push(format!("memmove({dst}, {src}, {len});"));
            }
            Op::Fill { dst, byte, len } => {
                self.library("memset", "extern void *memset(void *, int, unsigned long);".to_owned());
                let (dst, byte, len) = (self.pointer(dst), self.bits(byte), self.bits(len));
                out.push(format!("memset({dst}, {byte}, {len});"));
            }
            Op::Call { .. } => self.call(edge, around, out),
            Op::Return { value: None } => out.push("return;".to_owned()),
            Op::Return { value: Some(value) } => {
                let func = p.func_of(edge);
                let (ty, _) = self.result_type(func).expect("it returns a value");
                let value = self.value(value, ty);
                out.push(format!("return {value};"));
            }
            Op::Halt(kind) => self.halt(kind, out),
            Op::Error(error) => {
                self.library("reach_error", "extern void reach_error(void);".to_owned());
                self.library("abort", "extern void abort(void) __attribute__((__noreturn__));".to_owned());
                out.push(format!("/* {} */", p.errors[error].message.replace("*/", "* /")));
                out.push("reach_error();".to_owned());
                out.push("abort();".to_owned());
            }
            Op::Approx { taint } => {
                out.push(format!("/* not exact: {} */", p.taints[taint].reason.replace("*/", "* /")));
            }
        }
        self.lets.clear();
    }

    fn halt(&mut self, kind: HaltKind, out: &mut Vec<String>) {
        if let HaltKind::Exit(code) = kind {
            self.library("exit", "extern void exit(int) __attribute__((__noreturn__));".to_owned());
            let code = self.signed(code);
            out.push(format!("exit({code});"));
            return;
        }
        if kind == HaltKind::Assumed {
            self.library("__VERIFIER_assume", "extern void __VERIFIER_assume(int);".to_owned());
            out.push("__VERIFIER_assume(0);".to_owned());
        }
        self.library("abort", "extern void abort(void) __attribute__((__noreturn__));".to_owned());
        out.push("abort();".to_owned());
    }

    /// The condition of a branch, after statements that name its parts.
    pub fn branch(&mut self, cond: ExprId, out: &mut Vec<String>) -> String {
        self.parts(&[cond], out);
        let text = self.condition(cond);
        self.lets.clear();
        strip(&text).to_owned()
    }

    // Parts of expressions.

    fn name_parts(&mut self, op: &Op, out: &mut Vec<String>) {
        let mut roots = Vec::new();
        op.for_each_expr(|e| roots.push(e));
        self.parts(&roots, out);
    }

    /// Names what would be written more than once, or nests too deep.
    fn parts(&mut self, roots: &[ExprId], out: &mut Vec<String>) {
        let p = self.p;
        // Uses, size and depth below the parts that are named already; children before parents.
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
            // What is used twice inside of helpers is written once, so this is about text alone.
            if (uses[&e] > 1 && size >= LARGE || depth > DEEP) && p.exprs.width(e) <= 128 {
                let width = p.exprs.width(e);
                let ty = match self.kind(e) {
                    Kind::Bits => Ty::Unsigned(if width == 1 { 1 } else { container(width).2 }),
                    Kind::Pointer => Ty::Pointer,
                    Kind::Float(f) => Ty::Float(f),
                };
                let value = match ty {
                    Ty::Pointer => self.pointer(e),
                    ty => self.value(e, ty),
                };
                let name = self.part_name(ty, width);
                out.push(format!("{name} = {};", strip(&value)));
                self.lets.insert(e, (name, ty));
                (size, depth) = (1, 1);
            }
            measures.insert(e, (size, depth));
        }
    }

    fn part_name(&mut self, ty: Ty, width: u32) -> String {
        let name = self.scope.fresh("part");
        let declaration = match ty {
            Ty::Unsigned(1) => "int ".to_owned(),
            Ty::Unsigned(_) => format!("{} ", container(width).0),
            _ => self.raw_type(ty, width),
        };
        self.part_declarations.push(format!("{declaration}{name};"));
        name
    }

    // Memory.

    fn load(&mut self, var: VarId, addr: ExprId, out: &mut Vec<String>) {
        let width = self.p.vars[var].width;
        let (name, ty) = self.variable(var);
        match self.access(addr, width, ty) {
            Access::Lvalue(lvalue, from) => {
                let value = self.converted(lvalue, from, width, ty);
                out.push(format!("{name} = {};", strip(&value)));
            }
            Access::Bytes(address, bytes) => {
                self.memcpy();
                if !matches!(ty, Ty::Float(_)) {
                    out.push(format!("{name} = 0;"));
                }
                out.push(format!("memcpy(&{name}, {address}, {bytes});"));
                if let Ty::Unsigned(_) = ty
                    && !width.is_multiple_of(8)
                {
                    out.push(format!(
                        "{name} &= ({}1 << {width}) - 1;",
                        if width < 32 { "" } else { "(unsigned long long)" }
                    ));
                }
            }
        }
    }

    fn store(&mut self, addr: ExprId, value: ExprId, out: &mut Vec<String>) {
        let width = self.p.exprs.width(value);
        let hint = match self.kind(value) {
            Kind::Bits => Ty::Unsigned(width),
            Kind::Pointer => Ty::Pointer,
            Kind::Float(f) => Ty::Float(f),
        };
        match self.access(addr, width, hint) {
            Access::Lvalue(lvalue, ty) => {
                let value = self.value(value, ty);
                out.push(format!("{lvalue} = {};", strip(&value)));
            }
            Access::Bytes(address, bytes) => {
                self.memcpy();
                let text = self.value(value, hint);
                let name = self.part_name(hint, width);
                out.push(format!("{name} = {text};"));
                out.push(format!("memcpy({address}, &{name}, {bytes});"));
            }
        }
    }

    pub fn memcpy(&mut self) {
        self.library("memcpy", "extern void *memcpy(void *, const void *, unsigned long);".to_owned());
    }

    /// The value of an lvalue of one type for a variable of another.
    fn converted(&mut self, text: String, from: Ty, width: u32, to: Ty) -> String {
        match (from, to) {
            (a, b) if a == b => text,
            (Ty::Pointer, Ty::Pointer) => text,
            (_, Ty::Pointer) => {
                let bits = self.bits_of(text, from, width);
                format!("(void *)(unsigned long){bits}")
            }
            (Ty::Float(a), Ty::Float(b)) if a == b => text,
            (_, Ty::Float(f)) => {
                let bits = self.bits_of(text, from, width);
                self.float_of_bits(f, &bits)
            }
            (Ty::Signed(a) | Ty::Unsigned(a), Ty::Signed(b)) if a == b => {
                format!("({})({text})", super::types::integer_type(b, true))
            }
            (Ty::Unsigned(8), _) if width < 8 => format!("({text} & {})", (1u32 << width) - 1),
            _ => self.bits_of(format!("({text})"), from, width),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn alloc(
        &mut self,
        op: &Op,
        var: VarId,
        size: ExprId,
        kind: AllocKind,
        zeroed: bool,
        align: u32,
        out: &mut Vec<String>,
    ) {
        if let Some(object) = self.object(var).map(|o| o.name.clone())
            && let Some((_, bytes)) = frame_object(self.p, op)
        {
            if zeroed {
                self.library("memset", "extern void *memset(void *, int, unsigned long);".to_owned());
                out.push(format!("memset(&{object}, 0, {bytes});"));
            }
            return;
        }
        let (name, ty) = self.variable(var);
        let size = self.bits(size);
        let made = match kind {
            AllocKind::Stack => format!("__builtin_alloca({size})"),
            AllocKind::Heap | AllocKind::Library if zeroed => {
                self.library("calloc", "extern void *calloc(unsigned long, unsigned long);".to_owned());
                format!("calloc(1, {size})")
            }
            AllocKind::Heap | AllocKind::Library if align > 16 => {
                self.library("aligned_alloc", "extern void *aligned_alloc(unsigned long, unsigned long);".to_owned());
                format!("aligned_alloc({align}, {size})")
            }
            AllocKind::Heap | AllocKind::Library => {
                self.library("malloc", "extern void *malloc(unsigned long);".to_owned());
                format!("malloc({size})")
            }
        };
        let cast = if ty == Ty::Pointer { "" } else { "(unsigned long)" };
        out.push(format!("{name} = {cast}{made};"));
        if zeroed && kind == AllocKind::Stack {
            self.library("memset", "extern void *memset(void *, int, unsigned long);".to_owned());
            out.push(format!("memset({name}, 0, {size});"));
        }
    }

    // Inputs and calls.

    fn havoc(&mut self, var: VarId, input: InputId, out: &mut Vec<String>) {
        let p = self.p;
        let (name, ty) = self.variable(var);
        let input = &p.inputs[input];
        let width = p.vars[var].width;
        if let InputKind::Nondet(function) = &input.kind
            && let Some(from) = kinds::of_type(p, input.ty, width)
        {
            let declaration = self.types.declare(input.ty, &format!("{function}(void)"), &mut self.names);
            self.library(function, format!("extern {declaration};"));
            let value = self.converted(format!("{function}()"), from, width, ty);
            out.push(format!("{name} = {};", strip(&value)));
            return;
        }
        let (function, result, of) = match (ty, width) {
            (Ty::Float(cfa::FloatFormat::Single), _) => ("float", "float", ty),
            (Ty::Float(cfa::FloatFormat::Double), _) => ("double", "double", ty),
            (_, 1) => ("bool", "_Bool", Ty::Bool),
            (_, ..=8) => ("uchar", "unsigned char", Ty::Unsigned(8)),
            (_, ..=16) => ("ushort", "unsigned short", Ty::Unsigned(16)),
            (_, ..=32) => ("uint", "unsigned int", Ty::Unsigned(32)),
            (_, ..=64) => ("ulonglong", "unsigned long long", Ty::Unsigned(64)),
            _ => ("uint128", "unsigned __int128", Ty::Unsigned(128)),
        };
        let function = format!("__VERIFIER_nondet_{function}");
        self.library(&function, format!("extern {result} {function}(void);"));
        let mut value = self.converted(format!("{function}()"), of, width, ty);
        if !matches!(width, 1 | 8 | 16 | 32 | 64 | 128) && matches!(ty, Ty::Unsigned(_)) {
            value = format!("({value} & (({})1 << {width}) - 1)", container(width).0);
        }
        out.push(format!("{name} = {};", strip(&value)));
    }

    fn call(&mut self, edge: EdgeId, around: &Around, out: &mut Vec<String>) {
        let p = self.p;
        let Op::Call { callee, args, varargs, result } = &p.edges[edge].op else { unreachable!("a call") };
        let (mut texts, returned) = match *callee {
            Callee::Direct(f) => (self.arguments(f, args), self.returned(f)),
            Callee::Indirect(_) => {
                let texts = args.iter().map(|&e| self.natural(e).0).collect();
                (texts, result.map(|v| (self.vars[v].ty, p.vars[v].width)))
            }
        };
        let library = matches!(*callee, Callee::Direct(f) if self.role(f) != Role::Body);
        match (*callee, varargs) {
            (Callee::Direct(f), &Some(block)) if library && p.funcs[f].varargs.is_some() => {
                match self.variadic(edge, block, around) {
                    Some(values) => texts.extend(values),
                    None => self.refuse(format!("the arguments of a call of '{}'", p.funcs[f].name)),
                }
            }
            (Callee::Direct(_), None) if library => {}
            (Callee::Direct(f), varargs) if p.funcs[f].varargs.is_some() => {
                texts.push(varargs.map_or_else(|| "0".to_owned(), |block| self.pointer(block)));
            }
            (Callee::Indirect(_), Some(block)) => texts.push(self.pointer(*block)),
            _ => {}
        }
        let function = match *callee {
            Callee::Direct(f) => self.function(f),
            Callee::Indirect(e) => {
                let result = returned.map_or_else(|| "void ".to_owned(), |(ty, width)| self.raw_type(ty, width));
                let mut types: Vec<String> = args.iter().map(|&e| self.natural(e).1).collect();
                if varargs.is_some() {
                    types.push("char *".to_owned());
                }
                let types = if types.is_empty() { "void".to_owned() } else { types.join(", ") };
                let pointer = self.pointer(e);
                format!("(({result}(*)({types})){pointer})")
            }
        };
        let call = format!("{function}({})", texts.join(", "));
        match (result, returned) {
            (Some(var), Some((from, width))) => {
                let (name, ty) = self.variable(*var);
                let value = self.converted(call, from, width, ty);
                out.push(format!("{name} = {};", strip(&value)));
            }
            _ => out.push(format!("{call};")),
        }
    }

    fn returned(&self, f: FuncId) -> Option<(Ty, u32)> {
        Some((self.result_type(f)?.0, self.p.funcs[f].return_width?))
    }

    /// The arguments as the parameters take them.
    fn arguments(&mut self, f: FuncId, args: &[ExprId]) -> Vec<String> {
        let p = self.p;
        let params = &p.funcs[f].params;
        let mut texts = Vec::new();
        for (i, &param) in params.iter().enumerate() {
            let (ty, width) = (self.vars[param].ty, p.vars[param].width);
            texts.push(match args.get(i) {
                Some(&arg) if p.exprs.width(arg) == width => self.value(arg, ty),
                _ => {
                    self.refuse(format!("a call of '{}' with other arguments than it takes", p.funcs[f].name));
                    "0".to_owned()
                }
            });
        }
        if self.role(f) == Role::External
            && p.funcs[f].origin == FunctionOrigin::Undefined
            && p.funcs[f].varargs.is_none()
        {
            for &arg in args.iter().skip(params.len()) {
                texts.push(self.natural(arg).0);
            }
        }
        texts.iter().map(|t| strip(t).to_owned()).collect()
    }

    /// A value as what it is by itself, and its type.
    fn natural(&mut self, e: ExprId) -> (String, String) {
        let width = self.p.exprs.width(e);
        let ty = match (self.kind(e), self.p.exprs.get(e)) {
            (_, &Expr::Var(v)) => self.vars[v].ty,
            (Kind::Pointer, _) => Ty::Pointer,
            (Kind::Float(f), _) => Ty::Float(f),
            (Kind::Bits, _) => Ty::Unsigned(width),
        };
        let value = match ty {
            Ty::Pointer => self.pointer(e),
            ty => self.value(e, ty),
        };
        (value, self.raw_type(ty, width).trim_end().to_owned())
    }

    /// The variadic arguments: what the statements before the call put into their block.
    fn variadic(&mut self, call: EdgeId, block: ExprId, around: &Around) -> Option<Vec<String>> {
        let p = self.p;
        let &Expr::Var(base) = p.exprs.get(block) else { return None };
        let mut stored: Vec<(u64, ExprId)> = Vec::new();
        let mut at = p.edges[call].source;
        let size = loop {
            let edge = (around.before)(at)?;
            match p.edges[edge].op {
                Op::Store { addr, value } => {
                    let offset = match *p.exprs.get(addr) {
                        _ if addr == block => 0,
                        Expr::Binary(cfa::BinOp::Add, b, k) if b == block => p.exprs.as_const(k)?.to_u64()?,
                        _ => return None,
                    };
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
            let (text, _) = self.natural(value);
            texts.push(match (self.kind(value), width) {
                (Kind::Bits, ..=32) => format!("(int){text}"),
                _ => text,
            });
        }
        Some(texts)
    }
}

/// Without parentheses around all of it.
pub fn strip(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else { return text };
    let mut depth = 0i32;
    // Texts with literals of characters or strings keep theirs.
    if inner.contains(['"', '\'']) {
        return text;
    }
    for c in inner.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return text;
        }
    }
    inner
}

impl File<'_> {
    /// The condition of the then-edge of a location that branches.
    pub fn branch_of(&self, loc: LocId) -> Option<(ExprId, EdgeId, EdgeId)> {
        let Out::Branch { then_edge, else_edge } = self.p.locs[loc].out else { return None };
        match self.p.edges[then_edge].op {
            Op::Assume { cond, .. } => Some((cond, then_edge, else_edge)),
            _ => None,
        }
    }
}
