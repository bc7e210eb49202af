//! The C types of variables: from their declared types and, for temporaries, from their uses. The kinds of values that
//! expressions yield.

use super::path::Path;
use super::scalar::{ValueKind, of_type};
use cfa::text::exact::ScalarType;
use cfa::{BinOp, CType, Callee, Expr, ExprId, FloatFormat, Op, Program, Table, TypeId, VarId};
use rustc_hash::FxHashMap;

/// The C types of variables, and the kinds of expressions.
pub struct Kinds<'p> {
    p: &'p Program,
    types: Table<VarId, ScalarType>,
    cache: FxHashMap<ExprId, ValueKind>,
}

impl<'p> Kinds<'p> {
    /// The kinds of the expressions of a program.
    pub fn new(p: &'p Program) -> Self {
        Self { p, types: of_variables(p), cache: FxHashMap::default() }
    }

    /// The C type of a variable.
    pub fn type_of(&self, v: VarId) -> ScalarType {
        self.types[v]
    }

    /// The kind of value that an expression yields without conversion.
    pub fn kind(&mut self, e: ExprId) -> ValueKind {
        if let Some(&kind) = self.cache.get(&e) {
            return kind;
        }
        let pointer = self.p.layout.pointer_width;
        let kind = match *self.p.exprs.get(e) {
            Expr::Var(v) => return self.kind_of_variable(v),
            Expr::GlobalAddr(_) | Expr::FuncAddr(_) => ValueKind::Pointer,
            Expr::FUnary(_, f, _) | Expr::FBinary(_, f, ..) | Expr::Fma(_, f, ..) => ValueKind::Float(f),
            Expr::FConvert { to, .. } | Expr::IntToF { to, .. } => ValueKind::Float(to),
            Expr::Binary(BinOp::Add, a, b) if self.p.exprs.width(e) == pointer => match (self.kind(a), self.kind(b)) {
                (ValueKind::Pointer, ValueKind::Bits) | (ValueKind::Bits, ValueKind::Pointer) => ValueKind::Pointer,
                _ => ValueKind::Bits,
            },
            Expr::Binary(BinOp::Sub, a, b) if self.p.exprs.width(e) == pointer => match (self.kind(a), self.kind(b)) {
                (ValueKind::Pointer, ValueKind::Bits) => ValueKind::Pointer,
                _ => ValueKind::Bits,
            },
            Expr::Ite(_, a, b) => {
                let (a_kind, b_kind) = (self.kind(a), self.kind(b));
                let constant = |e| self.p.exprs.as_const(e).is_some();
                if a_kind == b_kind || constant(b) {
                    a_kind
                } else if constant(a) {
                    b_kind
                } else {
                    ValueKind::Bits
                }
            }
            _ => ValueKind::Bits,
        };
        self.cache.insert(e, kind);
        kind
    }

    /// The kind of value that a variable has.
    fn kind_of_variable(&self, v: VarId) -> ValueKind {
        match self.types[v] {
            ScalarType::Pointer => ValueKind::Pointer,
            ScalarType::Float(f) => ValueKind::Float(f),
            _ => ValueKind::Bits,
        }
    }
}

/// The C type of each variable, from its declared type or its uses.
fn of_variables(p: &Program) -> Table<VarId, ScalarType> {
    let mut guess = Guess { p, pointer: vec![false; p.vars.len()], float: vec![None; p.vars.len()] };
    guess.collect();
    p.vars
        .iter()
        .map(|(v, var)| {
            let i = v.0 as usize;
            of_type(p, var.ty, var.width).unwrap_or(match guess.float[i] {
                Some(format) => ScalarType::Float(format),
                None if guess.pointer[i] => ScalarType::Pointer,
                // A value with the width of a `long double` becomes one: 32-bit targets have no integer of that width.
                None if var.width == FloatFormat::X87.width() && !is_integer(p, var.ty) => {
                    ScalarType::Float(FloatFormat::X87)
                }
                None => ScalarType::Unsigned(var.width),
            })
        })
        .collect()
}

fn is_integer(p: &Program, ty: TypeId) -> bool {
    matches!(p.plain_type(ty), CType::Int { .. })
}

/// The kinds of variables that their uses imply.
struct Guess<'p> {
    p: &'p Program,
    /// By variable, true if a use needs a pointer.
    pointer: Vec<bool>,
    /// By variable, the floating-point format that a use needs.
    float: Vec<Option<FloatFormat>>,
}

impl Guess<'_> {
    fn collect(&mut self) {
        let p = self.p;
        for v in p.funcs.values().filter_map(|f| f.varargs) {
            self.is_pointer(v);
        }
        // Operands of float operations are floats in every expression.
        let mut seen = rustc_hash::FxHashSet::default();
        for edge in p.edges.values() {
            edge.op.for_each_expr(|e| {
                p.exprs.visit(e, &mut seen, |_, node| match *node {
                    Expr::FUnary(_, f, _) | Expr::FBinary(_, f, ..) | Expr::Fma(_, f, ..) => {
                        node.children().for_each(|c| self.is_float(c, f));
                    }
                    Expr::FCompare(_, f, ..) | Expr::FIsNan(f, _) => node.children().for_each(|c| self.is_float(c, f)),
                    Expr::FConvert { from, arg, .. } | Expr::FToInt { from, arg, .. } => self.is_float(arg, from),
                    _ => {}
                });
            });
        }
        // Variables that are assigned to one another have the same kind. Two rounds find the kinds in either order.
        for _ in 0..2 {
            for edge in p.edges.values() {
                self.operation(&edge.op);
            }
        }
    }

    fn operation(&mut self, op: &Op) {
        let p = self.p;
        match op {
            Op::Assign { var, value } => {
                if self.points(*value) {
                    self.is_pointer(*var);
                }
                if let Some(f) = self.floats(*value) {
                    self.float_var(*var, f);
                }
                let target = of_type(p, p.vars[*var].ty, p.vars[*var].width);
                match target {
                    Some(ScalarType::Float(f)) => self.is_float(*value, f),
                    Some(ScalarType::Pointer) => self.address(*value),
                    _ if self.pointer[var.0 as usize] => self.address(*value),
                    _ => {}
                }
            }
            Op::Alloc { var, .. } => self.is_pointer(*var),
            Op::Load { var, addr } => {
                self.address(*addr);
                match Path::find(p, *addr, p.vars[*var].width).map(|path| path.ty) {
                    Some(ScalarType::Float(f)) => self.float_var(*var, f),
                    Some(ScalarType::Pointer) => self.is_pointer(*var),
                    _ => {}
                }
            }
            Op::ObjectSize { ptr: e, .. } | Op::ObjectOffset { ptr: e, .. } | Op::Free { ptr: e, .. } => {
                self.address(*e)
            }
            Op::Store { addr, .. } => self.address(*addr),
            Op::Copy { dst, src, .. } => {
                self.address(*dst);
                self.address(*src);
            }
            Op::Fill { dst, .. } => self.address(*dst),
            Op::Call { callee, args, varargs, result } => {
                if let Some(e) = varargs {
                    self.address(*e);
                }
                match callee {
                    Callee::Indirect(e) => self.address(*e),
                    Callee::Direct(f) => {
                        let function = &p.funcs[*f];
                        for (&v, &arg) in function.params.iter().zip(args) {
                            match of_type(p, p.vars[v].ty, p.vars[v].width) {
                                Some(ScalarType::Pointer) => self.address(arg),
                                Some(ScalarType::Float(format)) => self.is_float(arg, format),
                                _ => {}
                            }
                        }
                        if let (Some(result), Some(width)) = (result, function.return_width) {
                            match of_type(p, function.return_type, width) {
                                Some(ScalarType::Pointer) => self.is_pointer(*result),
                                Some(ScalarType::Float(format)) => self.float_var(*result, format),
                                _ => {}
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Marks a variable as a pointer, if it has the width of one.
    fn is_pointer(&mut self, v: VarId) {
        if self.p.vars[v].width == self.p.layout.pointer_width {
            self.pointer[v.0 as usize] = true;
        }
    }
    /// Marks a variable as a float of this format, if it has its width.
    fn float_var(&mut self, v: VarId, format: FloatFormat) {
        if self.p.vars[v].width == format.width() {
            self.float[v.0 as usize] = Some(format);
        }
    }
    /// Marks the variable, if the expression is one, as a float of this format.
    fn is_float(&mut self, e: ExprId, format: FloatFormat) {
        if let Expr::Var(v) = *self.p.exprs.get(e) {
            self.float_var(v, format);
        }
    }

    /// Marks the variable that an address is computed from as a pointer.
    fn address(&mut self, e: ExprId) {
        match *self.p.exprs.get(e) {
            Expr::Var(v) => self.is_pointer(v),
            Expr::Binary(BinOp::Add, a, b) => {
                if self.p.exprs.as_const(b).is_some() {
                    self.address(a);
                } else if self.p.exprs.as_const(a).is_some() {
                    self.address(b);
                } else if !self.points(a) && !self.points(b) {
                    // One of two operands is the pointer. Indices are usually extended or multiplied.
                    match (self.p.exprs.get(a), self.p.exprs.get(b)) {
                        (Expr::Var(_), Expr::Var(_)) => {}
                        (Expr::Var(v), _) => self.is_pointer(*v),
                        (_, Expr::Var(v)) => self.is_pointer(*v),
                        _ => {}
                    }
                }
            }
            Expr::Binary(BinOp::Sub, a, _) => self.address(a),
            _ => {}
        }
    }

    /// Returns true if the expression is known to be a pointer.
    fn points(&self, e: ExprId) -> bool {
        match *self.p.exprs.get(e) {
            Expr::Var(v) => {
                self.pointer[v.0 as usize]
                    || of_type(self.p, self.p.vars[v].ty, self.p.vars[v].width) == Some(ScalarType::Pointer)
            }
            Expr::GlobalAddr(_) | Expr::FuncAddr(_) => true,
            Expr::Binary(BinOp::Add, a, b) => self.points(a) != self.points(b),
            Expr::Binary(BinOp::Sub, a, b) => self.points(a) && !self.points(b),
            _ => false,
        }
    }
    /// Returns the floating-point format of the expression, if it is known to have one.
    fn floats(&self, e: ExprId) -> Option<FloatFormat> {
        match *self.p.exprs.get(e) {
            Expr::Var(v) => {
                self.float[v.0 as usize].or(match of_type(self.p, self.p.vars[v].ty, self.p.vars[v].width) {
                    Some(ScalarType::Float(f)) => Some(f),
                    _ => None,
                })
            }
            Expr::FUnary(_, f, _) | Expr::FBinary(_, f, ..) | Expr::Fma(_, f, ..) => Some(f),
            Expr::FConvert { to, .. } | Expr::IntToF { to, .. } => Some(to),
            _ => None,
        }
    }
}
