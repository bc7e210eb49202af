//! Expressions as C text with exactly the same values.
//!
//! Arithmetic uses unsigned types, which have the semantics of bit-vectors, and masks the result to its width. The
//! printed text has no undefined behaviour. All texts are parenthesised, so they can be operands.

use crate::bv::Bv;
use crate::expr::{BinOp, Expr, ExprId, ExprPool, UnOp};
use crate::float::{FCmp, FloatFormat};

/// The C type of a named value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScalarType {
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

/// The names of the 128-bit integer types, unsigned and signed. A file that uses them declares them.
pub const WIDE: (&str, &str) = ("proviso_uint128", "proviso_int128");

/// The unsigned and the signed type in which values of this width are computed, and the width of these types.
pub fn container(width: u32) -> (&'static str, &'static str, u32) {
    match width {
        0..=32 => ("unsigned int", "int", 32),
        33..=64 => ("unsigned long long", "long long", 64),
        _ => (WIDE.0, WIDE.1, 128),
    }
}

/// The value as a literal of its container type.
pub fn literal(value: &Bv) -> String {
    let width = value.width();
    match value.to_u64() {
        Some(word) if width <= 64 => format!("{word}{}", if width <= 32 { "U" } else { "ULL" }),
        _ => {
            let words = value.zext(width.max(128)).to_le_bytes();
            let word = |at: usize| u64::from_le_bytes(words[at..at + 8].try_into().expect("eight bytes"));
            format!("(({}){}ULL << 64 | {}ULL)", WIDE.0, word(8), word(0))
        }
    }
}

/// Masks a value of the container type to `width` bits.
pub fn masked(text: String, width: u32) -> String {
    let (.., size) = container(width);
    if width == size { text } else { format!("({text} & {})", literal(&Bv::ones(width).zext(size))) }
}

/// A printer of exact C text. The required methods describe the context of the text.
pub trait ExactPrinter<'p> {
    /// True if the text may call helper functions.
    const HAS_HELPERS: bool;

    /// The pool of the expressions.
    fn pool(&self) -> &'p ExprPool;
    /// Called before each expression is printed. Returns false if C has no text for it. Then the printed text is
    /// meaningless.
    fn enter(&mut self, e: ExprId) -> bool;
    /// The name of a variable or of a named part, or the text of an expression that has a pointer or floating type in
    /// C. `None` for all other expressions.
    fn named(&mut self, e: ExprId) -> Option<(String, ScalarType)>;
    /// The comparison of two pointers. `None` if their bits have to be compared.
    fn compared_pointers(&mut self, operator: &str, a: ExprId, b: ExprId) -> Option<String>;
    /// The value of a floating expression of this format.
    fn float(&mut self, format: FloatFormat, e: ExprId) -> String;
    /// The bits of a float.
    fn float_bits(&mut self, format: FloatFormat, text: &str) -> String;
    /// The conversion of a float to an integer, rounded towards zero.
    fn float_to_integer(&mut self, from: FloatFormat, signed: bool, width: u32, arg: ExprId) -> String;
    /// Defines a helper function, unless it is defined.
    fn helper(&mut self, name: &str, definition: String);
    /// Records that C has no text for an expression.
    fn refuse(&mut self, what: String);

    /// The bits of a value of type `ty`, in their container type.
    fn bits_of(&mut self, text: String, ty: ScalarType, width: u32) -> String {
        let (unsigned, _, size) = container(width);
        match ty {
            ScalarType::Unsigned(bits) if bits == size => text,
            ScalarType::Unsigned(_) | ScalarType::Bool => format!("({unsigned}){text}"),
            ScalarType::Signed(_) => masked(format!("({unsigned}){text}"), width),
            ScalarType::Pointer => format!("({unsigned})(unsigned long){text}"),
            ScalarType::Float(f) => self.float_bits(f, &text),
        }
    }

    /// The one-bit expression as an `int` that is 0 or 1.
    fn condition(&mut self, e: ExprId) -> String {
        if !self.enter(e) {
            return "0".to_owned();
        }
        if let Some((name, _)) = self.named(e) {
            return name;
        }
        let pool = self.pool();
        match *pool.get(e) {
            Expr::Const(ref c) => c.to_string(),
            Expr::Unary(UnOp::Not, a) => match *pool.get(a) {
                Expr::Binary(BinOp::Eq, a, b) if pool.width(a) > 1 => self.equality("!=", a, b),
                _ => format!("(!{})", self.condition(a)),
            },
            Expr::Unary(UnOp::Neg, a) => self.condition(a),
            Expr::Binary(op, a, b) if op.is_comparison() && pool.width(a) > 1 => match op {
                BinOp::Eq => self.equality("==", a, b),
                BinOp::Ult => format!("({} < {})", self.bits(a), self.bits(b)),
                BinOp::Ule => format!("({} <= {})", self.bits(a), self.bits(b)),
                BinOp::Slt => format!("({} < {})", self.signed(a), self.signed(b)),
                _ => format!("({} <= {})", self.signed(a), self.signed(b)),
            },
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.condition(a), self.condition(b));
                match op {
                    BinOp::And | BinOp::Mul => format!("({a} && {b})"),
                    BinOp::Or => format!("({a} || {b})"),
                    BinOp::Xor | BinOp::Add | BinOp::Sub => format!("({a} != {b})"),
                    BinOp::Eq => format!("({a} == {b})"),
                    // For one bit, the signed value of 1 is -1.
                    BinOp::Ult | BinOp::LShr => format!("(!{a} && {b})"),
                    BinOp::Ule => format!("(!{a} || {b})"),
                    // The remainder of a division by zero is the dividend.
                    BinOp::Slt | BinOp::Shl | BinOp::URem | BinOp::SRem => format!("({a} && !{b})"),
                    // A division by zero yields all ones.
                    BinOp::Sle | BinOp::UDiv | BinOp::SDiv => format!("({a} || !{b})"),
                    BinOp::AShr => a,
                    BinOp::Concat => unreachable!("a concatenation has at least two bits"),
                }
            }
            Expr::Ite(c, t, f) => format!("({} ? {} : {})", self.condition(c), self.condition(t), self.condition(f)),
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
            Expr::FToInt { from, signed, arg, .. } => format!("(int){}", self.float_to_integer(from, signed, 1, arg)),
            ref other => {
                self.refuse(format!("the condition {other:?}"));
                "0".to_owned()
            }
        }
    }

    /// A comparison for equality. Pointers are compared as pointers, and integers with the signedness of a variable.
    fn equality(&mut self, operator: &str, a: ExprId, b: ExprId) -> String {
        if let Some(text) = self.compared_pointers(operator, a, b) {
            return text;
        }
        for (a, b) in [(a, b), (b, a)] {
            if let Expr::Var(_) = self.pool().get(a)
                && let Some((name, ScalarType::Signed(_))) = self.named(a)
            {
                return format!("({name} {operator} {})", self.signed(b));
            }
        }
        format!("({} {operator} {})", self.bits(a), self.bits(b))
    }

    /// The unsigned value of an expression, in its container type.
    fn bits(&mut self, e: ExprId) -> String {
        if !self.enter(e) {
            return "0".to_owned();
        }
        let pool = self.pool();
        let width = pool.width(e);
        if let Some((text, ty)) = self.named(e) {
            return self.bits_of(text, ty, width);
        }
        if width == 1 {
            return format!("(unsigned int){}", self.condition(e));
        }
        let (ty, _, _) = container(width);
        match *pool.get(e) {
            Expr::Const(ref c) => literal(c),
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

    /// The bits of `a op b`.
    fn arithmetic(&mut self, op: BinOp, a: ExprId, b: ExprId, width: u32) -> String {
        let constant = self.pool().as_const(b);
        let (ty, signed_ty, size) = container(width);
        let operator = match op {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::And => "&",
            BinOp::Or => "|",
            BinOp::Xor => "^",
            BinOp::UDiv | BinOp::SDiv => "/",
            BinOp::URem | BinOp::SRem => "%",
            BinOp::Shl | BinOp::LShr | BinOp::AShr => return self.shift(op, a, b, width),
            BinOp::Concat => {
                let low = self.pool().width(b);
                return format!("(({ty}){} << {low} | {})", self.bits(a), self.bits(b));
            }
            BinOp::Eq | BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle => unreachable!("one bit"),
        };
        match op {
            BinOp::SDiv | BinOp::SRem if constant.is_some_and(|c| !c.is_zero() && !c.is_ones()) => {
                masked(format!("({ty})({} {operator} {})", self.signed(a), self.signed(b)), width)
            }
            BinOp::SDiv | BinOp::SRem => {
                // Check -1 first: the negation of the least number is not representable.
                let (name, by_zero, by_minus_one) = match op {
                    BinOp::SDiv => ("sdiv", format!("(a < 0 ? 1 : ({ty})-1)"), format!("-({ty})a")),
                    _ => ("srem", format!("({ty})a"), "0".to_owned()),
                };
                let name = format!("proviso_{name}{size}");
                let definition = format!(
                    "static {ty} {name}({signed_ty} a, {signed_ty} b) {{\n    if (b == 0)\n        return {by_zero};\n    \
                     if (b == -1)\n        return {by_minus_one};\n    return ({ty})(a {operator} b);\n}}\n"
                );
                self.helper(&name, definition);
                masked(format!("{name}({}, {})", self.signed(a), self.signed(b)), width)
            }
            BinOp::UDiv | BinOp::URem if constant.is_none_or(Bv::is_zero) => {
                let (name, by_zero) =
                    if op == BinOp::UDiv { ("udiv", literal(&Bv::ones(width))) } else { ("urem", "a".into()) };
                let name = format!("proviso_{name}{width}");
                let definition =
                    format!("static {ty} {name}({ty} a, {ty} b) {{\n    return b ? a {operator} b : {by_zero};\n}}\n");
                self.helper(&name, definition);
                format!("{name}({}, {})", self.bits(a), self.bits(b))
            }
            _ => {
                let text = format!("({} {operator} {})", self.bits(a), self.bits(b));
                if matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul) { masked(text, width) } else { text }
            }
        }
    }

    /// The bits of a shift of `a` by `b`.
    fn shift(&mut self, op: BinOp, a: ExprId, b: ExprId, width: u32) -> String {
        let (ty, signed_ty, _) = container(width);
        let is_small = is_less(self.pool(), b, width);
        let a = if op == BinOp::AShr { self.signed(a) } else { self.bits(a) };
        let amount = match self.pool().as_const(b).and_then(Bv::to_u64) {
            Some(c) => c.to_string(),
            None => self.bits(b),
        };
        let (name, operator) = match op {
            BinOp::Shl => ("shl", "<<"),
            BinOp::LShr => ("lshr", ">>"),
            _ => ("ashr", ">>"),
        };
        match op {
            BinOp::LShr if is_small => format!("({a} >> {amount})"),
            BinOp::Shl if is_small => masked(format!("({a} << {amount})"), width),
            BinOp::AShr if is_small => masked(format!("({ty})({a} >> {amount})"), width),
            BinOp::Shl | BinOp::LShr if !Self::HAS_HELPERS => {
                masked(format!("({amount} < {width} ? {a} {operator} {amount} : 0)"), width)
            }
            _ => {
                let name = format!("proviso_{name}{width}");
                let definition = if op == BinOp::AShr {
                    let most = width - 1;
                    format!(
                        "static {ty} {name}({signed_ty} a, {ty} b) {{\n    return ({ty})(a >> (b < {width} ? b : {most}));\n}}\n"
                    )
                } else {
                    format!("static {ty} {name}({ty} a, {ty} b) {{\n    return b < {width} ? a {operator} b : 0;\n}}\n")
                };
                self.helper(&name, definition);
                masked(format!("{name}({a}, {amount})"), width)
            }
        }
    }

    /// The signed value of an expression, in its container type.
    fn signed(&mut self, e: ExprId) -> String {
        if !self.enter(e) {
            return "0".to_owned();
        }
        let pool = self.pool();
        let width = pool.width(e);
        let (_, ty, size) = container(width);
        let unsigned = match self.named(e) {
            Some((name, ScalarType::Signed(_))) => return name,
            Some((text, named)) => self.bits_of(text, named, width),
            None => match *pool.get(e) {
                Expr::Const(ref c) if width <= 64 => {
                    let value = c.to_i64().expect("at most 64 bits");
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
                Expr::Sext { arg, .. } => return format!("({ty}){}", self.signed(arg)),
                Expr::Binary(op @ (BinOp::SDiv | BinOp::SRem), a, b)
                    if pool.as_const(b).is_some_and(|c| !c.is_zero() && !c.is_ones()) =>
                {
                    let operator = if op == BinOp::SDiv { '/' } else { '%' };
                    return format!("({} {operator} {})", self.signed(a), self.signed(b));
                }
                Expr::Zext { arg, .. } => return format!("({ty}){}", self.bits(arg)),
                _ => self.bits(e),
            },
        };
        match size - width.min(size) {
            0 => format!("({ty}){unsigned}"),
            unused => format!("(({ty})({unsigned} << {unused}) >> {unused})"),
        }
    }
}

/// True if the structure of a shift amount shows that it is less than the width.
fn is_less(pool: &ExprPool, amount: ExprId, width: u32) -> bool {
    let less = |e: ExprId| pool.as_const(e).and_then(Bv::to_u64).is_some_and(|c| c < u64::from(width));
    match *pool.get(amount) {
        Expr::Binary(BinOp::And, a, b) => less(a) || less(b),
        Expr::Zext { arg, .. } => is_less(pool, arg, width),
        _ => less(amount),
    }
}
