//! Writes float operations: arithmetic in the same format, conversions between floats and bits through memory, and
//! other conversions where C defines them.

use super::expr::{Ty, ValueKind, container, literal, masked};
use super::file::File;
use super::types::float_type;
use cfa::{Bv, Expr, ExprId, FBinOp, FUnOp, FloatFormat, Rounding, float};

impl File<'_> {
    /// The bits of a float.
    pub fn float_bits(&mut self, format: FloatFormat, text: &str) -> String {
        let (name, ty, bytes) = (format!("proviso_bits_of_{}", format.name()), float_type(format), format.width() / 8);
        let (bits, ..) = container(format.width());
        self.memcpy();
        self.helper(&name, || {
            format!("static {bits} {name}({ty} x) {{\n    {bits} bits = 0;\n    memcpy(&bits, &x, {bytes});\n    return bits;\n}}\n")
        });
        format!("{name}({text})")
    }

    /// The float with these bits.
    pub fn float_of_bits(&mut self, format: FloatFormat, text: &str) -> String {
        let (name, ty, bytes) = (format!("proviso_{}_of_bits", format.name()), float_type(format), format.width() / 8);
        let (bits, ..) = container(format.width());
        self.memcpy();
        self.helper(&name, || {
            format!("static {ty} {name}({bits} bits) {{\n    {ty} x = 0;\n    memcpy(&x, &bits, {bytes});\n    return x;\n}}\n")
        });
        format!("{name}({text})")
    }

    /// The value of an expression as a floating type.
    pub fn float(&mut self, format: FloatFormat, e: ExprId) -> String {
        let p = self.p;
        let ty = float_type(format);
        if let Some((name, Ty::Float(f))) = self.lets.get(&e).cloned()
            && f == format
        {
            return name;
        }
        if let Expr::Const(c) = p.exprs.get(e) {
            return self.float_literal(format, c);
        }
        if self.kind(e) != ValueKind::Float(format) || self.lets.contains_key(&e) {
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
                let name = match op {
                    FUnOp::Neg => return format!("(-{a})"),
                    FUnOp::Abs => "fabs",
                    FUnOp::Sqrt(_) => "sqrt",
                    FUnOp::Floor => "floor",
                    FUnOp::Ceil => "ceil",
                    FUnOp::Trunc => "trunc",
                    FUnOp::RoundEven => "rint",
                    FUnOp::RoundAway => "round",
                };
                self.math(name, format, &[a])
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

    /// A call of a function of the math library. Refuses formats that the library does not support.
    fn math(&mut self, name: &str, format: FloatFormat, args: &[String]) -> String {
        let (suffix, ty) = match format {
            FloatFormat::Double => ("", "double"),
            FloatFormat::Single => ("f", "float"),
            FloatFormat::X87 => ("l", "long double"),
            _ => {
                self.refuse(format!("the function '{name}' for {}", float_type(format)));
                ("", "double")
            }
        };
        let name = format!("{name}{suffix}");
        let parameters = vec![ty; args.len()].join(", ");
        self.library(&name, format!("extern {ty} {name}({parameters});"));
        format!("{name}({})", args.join(", "))
    }

    fn float_literal(&mut self, format: FloatFormat, c: &Bv) -> String {
        if float::is_nan(format, c) {
            return match format {
                FloatFormat::X87 => self.extended(c),
                _ => self.float_of_bits(format, &literal(c)),
            };
        }
        let mut shown = float::show(format, c);
        if !shown.contains(['.', 'e', 'i']) {
            shown += ".0";
        }
        let (before, after) = match format {
            FloatFormat::Single => ("", "f"),
            FloatFormat::Double => ("", ""),
            FloatFormat::X87 => ("", "L"),
            FloatFormat::Half => ("(_Float16)", ""),
            FloatFormat::BFloat | FloatFormat::Quad => return self.float_of_bits(format, &literal(c)),
        };
        match shown.as_str() {
            "inf" | "+inf" => format!("({before}1.0{after} / 0.0{after})"),
            "-inf" => format!("({before}-1.0{after} / 0.0{after})"),
            decimal => format!("{before}({decimal}{after})"),
        }
    }

    /// A `long double` from its bytes: not all targets have integers of that width.
    fn extended(&mut self, c: &Bv) -> String {
        let name = "proviso_extended";
        self.memcpy();
        self.helper(name, || {
            format!(
                "static long double {name}(unsigned long long low, unsigned short high) {{\n    long double x = 0;\n    \
                 memcpy(&x, &low, 8);\n    memcpy((char *)&x + 8, &high, 2);\n    return x;\n}}\n"
            )
        });
        let bytes = c.to_le_bytes();
        let low = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        let high = u16::from_le_bytes(bytes[8..10].try_into().expect("two bytes"));
        format!("{name}({low}ULL, {high})")
    }

    /// Converts to an integer, rounding towards zero. Values out of range yield the sign bit alone.
    pub fn float_to_integer(&mut self, from: FloatFormat, signed: bool, width: u32, arg: ExprId) -> String {
        if width > 64 && self.p.layout.pointer_width == 32 {
            self.refuse(format!("the conversion of a float to an integer of {width} bits, for a 32-bit target"));
        }
        let (unsigned, signed_ty, size) = container(width);
        let ty = float_type(from);
        let prefix = if signed { 's' } else { 'u' };
        let name = format!("proviso_{prefix}{width}_of_{}", from.name());
        // The bounds are powers of two, so they are exact in every format that can represent them.
        let (power, suffix) = (if signed { width - 1 } else { width }, if from == FloatFormat::X87 { "L" } else { "" });
        let to = if signed { signed_ty } else { unsigned };
        let lower = if signed { format!("-0x1p{power}{suffix} - 1 < x") } else { "-1 < x".to_owned() };
        let indefinite = literal(&Bv::min_signed(width).zext(size.max(width)));
        self.helper(&name, || {
            format!(
                "static {unsigned} {name}({ty} x) {{\n    if ({lower} && x < 0x1p{power}{suffix})\n        \
                 return ({unsigned})({to})x;\n    return {indefinite};\n}}\n"
            )
        });
        let arg = self.float(from, arg);
        masked(format!("{name}({arg})"), width)
    }
}
