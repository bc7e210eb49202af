//! Writes expressions as C with exactly the same values.
//!
//! Operations that C leaves undefined (large shifts, division by zero, out-of-range conversions) become helper
//! functions. Addresses are pointers plus offsets instead of integers where possible, because other verifiers lose
//! track of an object when its address is an integer.

use super::file::{self, File};
use super::scalar::ValueKind;
use cfa::text::exact::{ExactPrinter, ScalarType, container, literal, masked};
use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, FBinOp, FloatFormat, Rounding};

impl File<'_> {
    /// The value of an expression, converted for an lvalue of type `ty`.
    pub fn value(&mut self, e: ExprId, ty: ScalarType) -> String {
        match ty {
            ScalarType::Unsigned(_) if self.p.exprs.width(e) == 1 => self.condition(e),
            ScalarType::Unsigned(_) => self.bits(e),
            ScalarType::Signed(_) => self.signed(e),
            ScalarType::Bool if self.p.exprs.width(e) == 1 => self.condition(e),
            ScalarType::Bool => self.bits(e),
            ScalarType::Pointer => match *self.p.exprs.get(e) {
                Expr::Var(v)
                    if self.type_of(v) == ScalarType::Pointer
                        && self.scope.object(v).is_none()
                        && self.scope.part(e).is_none() =>
                {
                    format!("(void *){}", self.variable(v).0)
                }
                Expr::Const(ref c) if c.is_zero() => "0".to_owned(),
                _ => format!("(void *){}", self.pointer(e)),
            },
            ScalarType::Float(f) => self.float(f, e),
        }
    }

    /// Returns true if the text of the expression refers only to constants and to addresses of objects and functions.
    fn is_address_constant(&self, e: ExprId) -> bool {
        self.scope.part(e).is_none()
            && match self.p.exprs.get(e) {
                Expr::Var(v) => self.scope.object(*v).is_some(),
                node => node.children().all(|child| self.is_address_constant(child)),
            }
    }

    /// The expression as a `char *` whose value compilers do not know. clang's front-end takes the end of an object and the
    /// start of another one for different addresses if they are written as offsets from the objects.
    fn opaque(&mut self, e: ExprId) -> String {
        let name = "proviso_address";
        let definition = format!("static char *{name}(char *address) {{\n    return address;\n}}\n");
        Self::helper(self, name, definition);
        format!("{name}({})", self.pointer(e))
    }

    /// The expression as a `char *`.
    pub fn pointer(&mut self, e: ExprId) -> String {
        let p = self.p;
        if let Some((name, ty)) = self.scope.part(e).cloned() {
            return match ty {
                ScalarType::Pointer => name,
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
            Expr::Var(v) => match self.scope.object(v) {
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

impl<'p> ExactPrinter<'p> for File<'p> {
    const HAS_HELPERS: bool = true;

    fn pool(&self) -> &'p ExprPool {
        &self.p.exprs
    }

    fn enter(&mut self, e: ExprId) -> bool {
        let width = self.p.exprs.width(e);
        if width > 128 {
            self.refuse(format!("a value of {width} bits"));
        }
        width <= 128
    }

    fn named(&mut self, e: ExprId) -> Option<(String, ScalarType)> {
        if let Some(part) = self.scope.part(e) {
            return Some(part.clone());
        }
        match (self.kind(e), self.p.exprs.get(e)) {
            (_, &Expr::Var(v)) => Some(self.variable(v)),
            (ValueKind::Pointer, _) => Some((self.pointer(e), ScalarType::Pointer)),
            (ValueKind::Float(f), _) => Some((self.float(f, e), ScalarType::Float(f))),
            (ValueKind::Bits, _) => None,
        }
    }

    fn compared_pointers(&mut self, operator: &str, a: ExprId, b: ExprId) -> Option<String> {
        match (self.kind(a), self.kind(b)) {
            (ValueKind::Pointer, _) if self.p.exprs.as_const(b).is_some_and(Bv::is_zero) => {
                Some(format!("({} {operator} 0)", self.pointer(a)))
            }
            (ValueKind::Pointer, ValueKind::Pointer) => {
                let are_constant = self.is_address_constant(a) && self.is_address_constant(b);
                let left = if are_constant { self.opaque(a) } else { self.pointer(a) };
                Some(format!("({left} {operator} {})", self.pointer(b)))
            }
            _ => None,
        }
    }

    fn float(&mut self, format: FloatFormat, e: ExprId) -> String {
        let p = self.p;
        let ty = format.c_name();
        if let Some((name, ScalarType::Float(f))) = self.scope.part(e).cloned()
            && f == format
        {
            return name;
        }
        if let Expr::Const(c) = p.exprs.get(e) {
            return self.float_literal(format, c);
        }
        if self.kind(e) != ValueKind::Float(format) || self.scope.part(e).is_some() {
            let bits = self.bits(e);
            return self.float_of_bits(format, &bits);
        }
        let rounding = match *p.exprs.get(e) {
            Expr::FUnary(op, ..) => op.rounding(),
            Expr::FBinary(op, ..) => op.rounding(),
            Expr::Fma(rounding, ..) | Expr::FConvert { rounding, .. } | Expr::IntToF { rounding, .. } => Some(rounding),
            _ => None,
        };
        if rounding.is_some_and(|r| r != Rounding::Nearest) {
            self.refuse("an operation that is not rounded to nearest".to_owned());
        }
        match *p.exprs.get(e) {
            Expr::Var(v) => self.variable(v).0,
            Expr::Ite(c, t, f) => {
                format!("({} ? {} : {})", self.condition(c), self.float(format, t), self.float(format, f))
            }
            Expr::FUnary(op, _, a) => {
                let a = self.float(format, a);
                match op.c_function() {
                    Some(name) => self.math(name, format, &[a]),
                    None => format!("(-{a})"),
                }
            }
            Expr::FBinary(op, _, a, b) => {
                let (a, b) = (self.float(format, a), self.float(format, b));
                match op {
                    FBinOp::Add(_) => format!("({ty})({a} + {b})"),
                    FBinOp::Sub(_) => format!("({ty})({a} - {b})"),
                    FBinOp::Mul(_) => format!("({ty})({a} * {b})"),
                    FBinOp::Div(_) => format!("({ty})({a} / {b})"),
                    FBinOp::Rem => self.math("fmod", format, &[a, b]),
                    FBinOp::Min => self.math("fmin", format, &[a, b]),
                    FBinOp::Max => self.math("fmax", format, &[a, b]),
                }
            }
            Expr::Fma(_, _, a, b, c) => {
                let args = [a, b, c].map(|e| self.float(format, e));
                self.math("fma", format, &args)
            }
            Expr::FConvert { from, arg, .. } => format!("({ty}){}", self.float(from, arg)),
            // Compilers do not convert `_BitInt` for 32-bit targets.
            Expr::IntToF { arg, .. } if p.exprs.width(arg) > 64 && p.layout.pointer_width == 32 => {
                self.refuse(format!(
                    "the conversion of an integer of {} bits to a float, for a 32-bit target",
                    p.exprs.width(arg)
                ));
                "0".to_owned()
            }
            Expr::IntToF { signed: true, arg, .. } => format!("({ty}){}", self.signed(arg)),
            Expr::IntToF { arg, .. } => format!("({ty}){}", self.bits(arg)),
            ref other => unreachable!("{other:?} is no float"),
        }
    }

    fn float_bits(&mut self, format: FloatFormat, text: &str) -> String {
        let (name, ty, bytes) = (format!("proviso_bits_of_{}", format.name()), format.c_name(), format.width() / 8);
        let (bits, ..) = container(format.width());
        self.memcpy();
        self.helper(&name, format!("static {bits} {name}({ty} x) {{\n    {bits} bits = 0;\n    memcpy(&bits, &x, {bytes});\n    return bits;\n}}\n"));
        format!("{name}({text})")
    }

    // Converts to an integer, rounding towards zero. Values out of range yield the sign bit alone.
    fn float_to_integer(&mut self, from: FloatFormat, signed: bool, width: u32, arg: ExprId) -> String {
        if width > 64 && self.p.layout.pointer_width == 32 {
            self.refuse(format!("the conversion of a float to an integer of {width} bits, for a 32-bit target"));
        }
        let (unsigned, signed_ty, size) = container(width);
        let ty = from.c_name();
        let prefix = if signed { 's' } else { 'u' };
        let name = format!("proviso_{prefix}{width}_of_{}", from.name());
        // The bounds are powers of two, so they are exact in every format that can represent them.
        let (power, suffix) = (if signed { width - 1 } else { width }, if from == FloatFormat::X87 { "L" } else { "" });
        let to = if signed { signed_ty } else { unsigned };
        let lower = if signed { format!("-0x1p{power}{suffix} - 1 < x") } else { "-1 < x".to_owned() };
        let indefinite = literal(&Bv::min_signed(width).zext(size.max(width)));
        self.helper(
            &name,
            format!(
                "static {unsigned} {name}({ty} x) {{\n    if ({lower} && x < 0x1p{power}{suffix})\n        \
                 return ({unsigned})({to})x;\n    return {indefinite};\n}}\n"
            ),
        );
        let arg = self.float(from, arg);
        masked(format!("{name}({arg})"), width)
    }

    fn helper(&mut self, name: &str, definition: String) {
        Self::helper(self, name, definition);
    }

    fn refuse(&mut self, what: String) {
        Self::refuse(self, what);
    }
}
