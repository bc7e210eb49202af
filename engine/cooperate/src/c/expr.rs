//! Writes expressions as C with exactly the same values.
//!
//! Arithmetic uses unsigned types, whose semantics in C is that of bit-vectors, and masks results to their width.
//! Operations that C leaves undefined (large shifts, division by zero, out-of-range conversions) become helper
//! functions. Addresses are pointers plus offsets instead of integers where possible, because other verifiers lose
//! track of an object when its address is an integer.

use super::file::{self, File};
use super::types::{WIDE, integer_type};
use cfa::{BinOp, Bv, Expr, ExprId, FCmp, FloatFormat, UnOp, VarId};

/// The C type of an lvalue or operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ty {
    /// An unsigned integer type with at least this many bits. The bits above are zero.
    Unsigned(u32),
    /// A signed integer type with this many bits.
    Signed(u32),
    /// `_Bool`.
    Bool,
    /// A pointer.
    Pointer,
    /// A floating type.
    Float(FloatFormat),
}

/// The kind of value that an expression yields without conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// An integer.
    Bits,
    /// A pointer.
    Pointer,
    /// A float.
    Float(FloatFormat),
}

/// The unsigned and the signed type in which values of this width are computed, and the width of these types.
pub fn container(width: u32) -> (&'static str, &'static str, u32) {
    match width {
        0..=32 => ("unsigned int", "int", 32),
        33..=64 => ("unsigned long long", "long long", 64),
        _ => (WIDE.0, WIDE.1, 128),
    }
}

fn suffix(width: u32) -> &'static str {
    if width <= 32 { "U" } else { "ULL" }
}

/// The value as a literal of its container type.
pub fn literal(value: &Bv) -> String {
    let width = value.width();
    match value.to_u64() {
        Some(word) if width <= 64 => format!("{word}{}", suffix(width)),
        _ => {
            let words = value.zext(width.max(128)).to_le_bytes();
            let word = |at: usize| u64::from_le_bytes(words[at..at + 8].try_into().expect("eight bytes"));
            format!("(({}){}ULL << 64 | {}ULL)", WIDE.0, word(8), word(0))
        }
    }
}

/// Masks a value of the container type to `width` bits.
pub fn masked(text: String, width: u32) -> String {
    if width == container(width).2 {
        text
    } else {
        format!("({text} & {})", literal(&Bv::ones(width).zext(container(width).2)))
    }
}

impl File<'_> {
    /// The kind of value that an expression yields without conversion.
    pub fn kind(&mut self, e: ExprId) -> ValueKind {
        if let Some(&kind) = self.kinds.get(&e) {
            return kind;
        }
        let pointer = self.p.layout.pointer_width;
        let kind = match *self.p.exprs.get(e) {
            Expr::Var(v) => return self.kind_of_var(v),
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
        self.kinds.insert(e, kind);
        kind
    }

    /// The kind of value that a variable has.
    pub fn kind_of_var(&self, v: VarId) -> ValueKind {
        match self.vars[v].ty {
            Ty::Pointer => ValueKind::Pointer,
            Ty::Float(f) => ValueKind::Float(f),
            _ => ValueKind::Bits,
        }
    }

    /// The bits of a value of type `ty`, in their container type.
    pub fn bits_of(&mut self, text: String, ty: Ty, width: u32) -> String {
        let (unsigned, ..) = container(width);
        match ty {
            Ty::Unsigned(_) if integer_type(width, false) == unsigned => text,
            Ty::Unsigned(_) | Ty::Bool => format!("({unsigned}){text}"),
            Ty::Signed(_) => masked(format!("({unsigned}){text}"), width),
            Ty::Pointer => {
                format!("({unsigned})(unsigned long){text}")
            }
            Ty::Float(f) => self.float_bits(f, &text),
        }
    }

    /// The value of an expression, converted for an lvalue of type `ty`.
    pub fn value(&mut self, e: ExprId, ty: Ty) -> String {
        match ty {
            Ty::Unsigned(_) if self.p.exprs.width(e) == 1 => self.condition(e),
            Ty::Unsigned(_) => self.bits(e),
            Ty::Signed(_) => self.signed(e),
            Ty::Bool if self.p.exprs.width(e) == 1 => self.condition(e),
            Ty::Bool => self.bits(e),
            Ty::Pointer => match *self.p.exprs.get(e) {
                Expr::Var(v)
                    if self.vars[v].ty == Ty::Pointer
                        && !self.objects.contains_key(&v)
                        && !self.lets.contains_key(&e) =>
                {
                    format!("(void *){}", self.variable(v).0)
                }
                Expr::Const(ref c) if c.is_zero() => "0".to_owned(),
                _ => format!("(void *){}", self.pointer(e)),
            },
            Ty::Float(f) => self.float(f, e),
        }
    }

    /// The one-bit expression as an `int` that is 0 or 1.
    pub fn condition(&mut self, e: ExprId) -> String {
        if let Some((name, _)) = self.lets.get(&e) {
            return name.clone();
        }
        let p = self.p;
        match *p.exprs.get(e) {
            Expr::Const(ref c) => c.to_string(),
            Expr::Var(v) => self.variable(v).0,
            Expr::Unary(UnOp::Not, a) => match *p.exprs.get(a) {
                Expr::Binary(BinOp::Eq, a, b) if p.exprs.width(a) > 1 => self.equality("!=", a, b),
                _ => format!("!{}", self.condition(a)),
            },
            Expr::Unary(UnOp::Neg, a) => self.condition(a),
            Expr::Binary(op, a, b) => match op {
                BinOp::And | BinOp::Mul => format!("({} && {})", self.condition(a), self.condition(b)),
                BinOp::Or => format!("({} || {})", self.condition(a), self.condition(b)),
                BinOp::Xor | BinOp::Add | BinOp::Sub => format!("({} != {})", self.condition(a), self.condition(b)),
                BinOp::Eq if p.exprs.width(a) == 1 => format!("({} == {})", self.condition(a), self.condition(b)),
                BinOp::Eq => self.equality("==", a, b),
                BinOp::Ult if p.exprs.width(a) > 1 => format!("({} < {})", self.bits(a), self.bits(b)),
                BinOp::Ule if p.exprs.width(a) > 1 => format!("({} <= {})", self.bits(a), self.bits(b)),
                BinOp::Slt if p.exprs.width(a) > 1 => format!("({} < {})", self.signed(a), self.signed(b)),
                BinOp::Sle if p.exprs.width(a) > 1 => format!("({} <= {})", self.signed(a), self.signed(b)),
                // For one bit, the signed value of 1 is -1.
                BinOp::Ult | BinOp::LShr => format!("(!{} && {})", self.condition(a), self.condition(b)),
                BinOp::Slt => format!("({} && !{})", self.condition(a), self.condition(b)),
                BinOp::Ule => format!("(!{} || {})", self.condition(a), self.condition(b)),
                BinOp::Sle => format!("({} || !{})", self.condition(a), self.condition(b)),
                BinOp::Shl => format!("({} && !{})", self.condition(a), self.condition(b)),
                BinOp::AShr => self.condition(a),
                // A division by zero yields all ones, and its remainder is the dividend.
                BinOp::UDiv => format!("({} || !{})", self.condition(a), self.condition(b)),
                BinOp::SDiv => format!("({} || !{})", self.condition(a), self.condition(b)),
                BinOp::URem | BinOp::SRem => format!("({} && !{})", self.condition(a), self.condition(b)),
                BinOp::Concat => unreachable!("a concatenation has at least two bits"),
            },
            Expr::Ite(c, t, f) => {
                format!("({} ? {} : {})", self.condition(c), self.condition(t), self.condition(f))
            }
            Expr::Extract { lo: 0, arg, .. } => format!("(int)({} & 1)", self.bits(arg)),
            Expr::Extract { lo, arg, .. } => format!("(int)({} >> {lo} & 1)", self.bits(arg)),
            Expr::FCompare(op, f, a, b) => {
                let operator = match op {
                    FCmp::Eq => "==",
                    FCmp::Lt => "<",
                    FCmp::Le => "<=",
                };
                format!("({} {operator} {})", self.float(f, a), self.float(f, b))
            }
            Expr::FIsNan(f, a) => {
                let a = self.float(f, a);
                format!("({a} != {a})")
            }
            Expr::FToInt { .. } => format!("(int)({} & 1)", self.bits(e)),
            ref other => {
                self.refuse(format!("the condition {other:?}"));
                "0".to_owned()
            }
        }
    }

    fn equality(&mut self, operator: &str, a: ExprId, b: ExprId) -> String {
        let p = self.p;
        let (a, b) = if p.exprs.as_const(a).is_some() { (b, a) } else { (a, b) };
        match (self.kind(a), self.kind(b)) {
            (ValueKind::Pointer, _) if p.exprs.as_const(b).is_some_and(Bv::is_zero) => {
                format!("({} {operator} 0)", self.pointer(a))
            }
            (ValueKind::Pointer, ValueKind::Pointer) => format!("({} {operator} {})", self.pointer(a), self.pointer(b)),
            _ => {
                let signed = |this: &Self, e| matches!(*p.exprs.get(e), Expr::Var(v) if matches!(this.vars[v].ty, Ty::Signed(_)));
                let constant = |e: ExprId| p.exprs.as_const(e).is_some();
                if signed(self, a) && (signed(self, b) || constant(b)) {
                    format!("({} {operator} {})", self.signed(a), self.signed(b))
                } else {
                    format!("({} {operator} {})", self.bits(a), self.bits(b))
                }
            }
        }
    }

    /// The unsigned value of an expression, in its container type.
    pub fn bits(&mut self, e: ExprId) -> String {
        let p = self.p;
        let width = p.exprs.width(e);
        if width > 128 {
            self.refuse(format!("a value of {width} bits"));
            return "0".to_owned();
        }
        if let Some((name, ty)) = self.lets.get(&e).cloned() {
            return self.bits_of(name, ty, width);
        }
        if width == 1 {
            return format!("(unsigned int){}", self.condition(e));
        }
        match self.kind(e) {
            ValueKind::Bits => {}
            ValueKind::Pointer => {
                let text = match *p.exprs.get(e) {
                    Expr::Var(v) => self.variable(v).0,
                    _ => self.pointer(e),
                };
                return self.bits_of(text, Ty::Pointer, width);
            }
            ValueKind::Float(f) => {
                let text = self.float(f, e);
                return self.float_bits(f, &text);
            }
        }
        let (ty, _, _) = container(width);
        match *p.exprs.get(e) {
            Expr::Const(ref c) => literal(c),
            Expr::Var(v) => {
                let (name, ty) = self.variable(v);
                self.bits_of(name, ty, width)
            }
            Expr::Unary(op, a) => {
                let operator = if op == UnOp::Not { '~' } else { '-' };
                masked(format!("({operator}{})", self.bits(a)), width)
            }
            Expr::Binary(op, a, b) => self.arithmetic(op, a, b, width),
            Expr::Ite(c, t, f) => format!("({} ? {} : {})", self.condition(c), self.bits(t), self.bits(f)),
            Expr::Extract { lo, arg, .. } => {
                let arg = self.bits(arg);
                let shifted = if lo == 0 { arg } else { format!("({arg} >> {lo})") };
                masked(format!("({ty}){shifted}"), width)
            }
            Expr::Zext { arg, .. } => format!("({ty}){}", self.bits(arg)),
            Expr::Sext { arg, .. } => masked(format!("({ty}){}", self.signed(arg)), width),
            Expr::FToInt { from, signed, arg, .. } => self.float_to_integer(from, signed, width, arg),
            ref other => {
                self.refuse(format!("the expression {other:?}"));
                "0".to_owned()
            }
        }
    }

    fn arithmetic(&mut self, op: BinOp, a: ExprId, b: ExprId, width: u32) -> String {
        let p = self.p;
        let constant = p.exprs.as_const(b).and_then(Bv::to_u64);
        let (ty, signed_ty, size) = container(width);
        let mut plain = |operator: &str| format!("({} {operator} {})", self.bits(a), self.bits(b));
        match op {
            BinOp::Add => masked(plain("+"), width),
            BinOp::Sub => masked(plain("-"), width),
            BinOp::Mul => masked(plain("*"), width),
            BinOp::And => plain("&"),
            BinOp::Or => plain("|"),
            BinOp::Xor => plain("^"),
            BinOp::UDiv if constant.is_some_and(|c| c != 0) => plain("/"),
            BinOp::URem if constant.is_some_and(|c| c != 0) => plain("%"),
            BinOp::SDiv | BinOp::SRem if p.exprs.as_const(b).is_some_and(|c| !c.is_zero() && !c.is_ones()) => {
                let operator = if op == BinOp::SDiv { '/' } else { '%' };
                masked(format!("({ty})({} {operator} {})", self.signed(a), self.signed(b)), width)
            }
            BinOp::UDiv | BinOp::URem => {
                let (name, operator, by_zero) = if op == BinOp::UDiv {
                    ("udiv", '/', literal(&Bv::ones(width)))
                } else {
                    ("urem", '%', "a".into())
                };
                let name = format!("proviso_{name}{width}");
                self.helper(&name, || {
                    format!("static {ty} {name}({ty} a, {ty} b) {{\n    return b ? a {operator} b : {by_zero};\n}}\n")
                });
                format!("{name}({}, {})", self.bits(a), self.bits(b))
            }
            BinOp::SDiv | BinOp::SRem => {
                // Check -1 first: the negation of the least number is not representable.
                let (name, operator, by_zero, by_minus_one) = match op {
                    BinOp::SDiv => ("sdiv", '/', format!("(a < 0 ? 1 : ({ty})-1)"), format!("-({ty})a")),
                    _ => ("srem", '%', format!("({ty})a"), "0".to_owned()),
                };
                let name = format!("proviso_{name}{size}");
                self.helper(&name, || {
                    format!(
                        "static {ty} {name}({signed_ty} a, {signed_ty} b) {{\n    if (b == 0)\n        return {by_zero};\n    \
                         if (b == -1)\n        return {by_minus_one};\n    return ({ty})(a {operator} b);\n}}\n"
                    )
                });
                masked(format!("{name}({}, {})", self.signed(a), self.signed(b)), width)
            }
            BinOp::Shl | BinOp::LShr | BinOp::AShr => self.shift(op, a, b, width),
            BinOp::Concat => {
                let low = p.exprs.width(b);
                format!("(({ty}){} << {low} | {})", self.bits(a), self.bits(b))
            }
            BinOp::Eq | BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle => unreachable!("one bit"),
        }
    }

    fn shift(&mut self, op: BinOp, a: ExprId, b: ExprId, width: u32) -> String {
        let (ty, signed_ty, _) = container(width);
        let amount = match self.p.exprs.as_const(b).and_then(Bv::to_u64) {
            Some(c) => c.to_string(),
            None => self.bits(b),
        };
        let small = is_small(self.p, b, width);
        match op {
            BinOp::Shl if small => masked(format!("({} << {amount})", self.bits(a)), width),
            BinOp::LShr if small => format!("({} >> {amount})", self.bits(a)),
            BinOp::AShr if small => masked(format!("({ty})({} >> {amount})", self.signed(a)), width),
            BinOp::AShr => {
                let name = format!("proviso_ashr{width}");
                self.helper(&name, || {
                    format!("static {ty} {name}({signed_ty} a, {ty} b) {{\n    return ({ty})(a >> (b < {width} ? b : {}));\n}}\n", width - 1)
                });
                masked(format!("{name}({}, {amount})", self.signed(a)), width)
            }
            _ => {
                let (name, operator) = if op == BinOp::Shl { ("shl", "<<") } else { ("lshr", ">>") };
                let name = format!("proviso_{name}{width}");
                self.helper(&name, || {
                    format!("static {ty} {name}({ty} a, {ty} b) {{\n    return b < {width} ? a {operator} b : 0;\n}}\n")
                });
                masked(format!("{name}({}, {amount})", self.bits(a)), width)
            }
        }
    }

    /// The signed value of an expression, in its container type.
    pub fn signed(&mut self, e: ExprId) -> String {
        let p = self.p;
        let width = p.exprs.width(e);
        let (_, ty, size) = container(width);
        if !self.lets.contains_key(&e) {
            match *p.exprs.get(e) {
                Expr::Const(ref c) => {
                    if let Some(value) = c.to_i64()
                        && width <= 64
                    {
                        let suffix = if width > 32 { "LL" } else { "" };
                        return match value {
                            // C has no literal for the least value.
                            _ if c.log2_exact() == Some(width - 1) && width == size => {
                                format!("({}{suffix} - 1)", value + 1)
                            }
                            ..0 => format!("({value}{suffix})"),
                            _ => format!("{value}{suffix}"),
                        };
                    }
                }
                Expr::Var(v) if matches!(self.vars[v].ty, Ty::Signed(_)) => return self.variable(v).0,
                Expr::Sext { arg, .. } => return format!("({ty}){}", self.signed(arg)),
                Expr::Binary(op @ (BinOp::SDiv | BinOp::SRem), a, b)
                    if p.exprs.as_const(b).is_some_and(|c| !c.is_zero() && !c.is_ones()) =>
                {
                    let operator = if op == BinOp::SDiv { '/' } else { '%' };
                    return format!("({} {operator} {})", self.signed(a), self.signed(b));
                }
                Expr::Zext { arg, .. } if p.exprs.width(arg) < width => return format!("({ty}){}", self.bits(arg)),
                _ => {}
            }
        }
        let unsigned = self.bits(e);
        match size - width.min(size) {
            0 => format!("({ty}){unsigned}"),
            unused => format!("(({ty})({unsigned} << {unused}) >> {unused})"),
        }
    }

    /// The expression as a `char *`.
    pub fn pointer(&mut self, e: ExprId) -> String {
        let p = self.p;
        if let Some((name, ty)) = self.lets.get(&e).cloned() {
            return match ty {
                Ty::Pointer => name,
                _ => format!("(char *)(unsigned long){name}"),
            };
        }
        if self.kind(e) != ValueKind::Pointer {
            return match p.exprs.as_const(e) {
                Some(c) if c.is_zero() => "(char *)0".to_owned(),
                _ => format!("(char *)(unsigned long){}", self.bits(e)),
            };
        }
        match *p.exprs.get(e) {
            Expr::Var(v) => match self.objects.get(&v) {
                Some(object) => format!("(char *)&{}", object.name),
                None => format!("(char *){}", self.variable(v).0),
            },
            Expr::GlobalAddr(g) => match file::string(self, g) {
                Some(text) => text,
                None => format!("(char *)&{}", self.global(g)),
            },
            Expr::FuncAddr(f) => format!("(char *){}", self.function(f)),
            Expr::Ite(c, a, b) => format!("({} ? {} : {})", self.condition(c), self.pointer(a), self.pointer(b)),
            Expr::Binary(BinOp::Add, a, b) => {
                let (base, offset) = if self.kind(a) == ValueKind::Pointer { (a, b) } else { (b, a) };
                format!("({} + {})", self.pointer(base), self.signed(offset))
            }
            Expr::Binary(_, a, b) => format!("({} - {})", self.pointer(a), self.signed(b)),
            ref other => unreachable!("{other:?} is no pointer"),
        }
    }
}

/// Returns true if the shift amount is certainly less than the width.
fn is_small(p: &cfa::Program, amount: ExprId, width: u32) -> bool {
    let exprs = &p.exprs;
    let less = |e: ExprId| exprs.as_const(e).and_then(Bv::to_u64).is_some_and(|c| c < u64::from(width));
    match *exprs.get(amount) {
        Expr::Binary(BinOp::And, a, b) => less(a) || less(b),
        Expr::Zext { arg, .. } => is_small(p, arg, width),
        _ => less(amount),
    }
}
