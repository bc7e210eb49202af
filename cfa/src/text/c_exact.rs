//! Expressions as C text with exactly the same value, for witnesses and harnesses that other tools evaluate. Some
//! expressions have no such text: those over temporaries, of more than 64 bits, or with a divisor that may be zero.

use super::exact::{ExactPrinter, ScalarType};
use crate::bv::Bv;
use crate::expr::{Expr, ExprId, ExprPool, Sort};
use crate::float::{self, FBinOp, FUnOp, FloatFormat, Rounding};
use crate::program::{CType, Program, VarId};

/// Returns C text with the value of `e`: 0 or 1 for a condition, else the unsigned value as `unsigned int`, or above 32
/// bits as `unsigned long long`. The text is parenthesised, so it can be an operand. Returns `None` if there is no such
/// text of moderate size over variables for which `in_scope` returns true.
pub fn c_exact(p: &Program, pool: &ExprPool, e: ExprId, in_scope: &dyn Fn(VarId) -> bool) -> Option<String> {
    let mut printer = Printer { p, pool, in_scope, budget: MAX_NODES, has_failed: false };
    let text = if pool.width(e) == 1 { printer.condition(e) } else { printer.bits(e) };
    (!printer.has_failed).then_some(text)
}

/// The maximal number of operators in a condition of a witness. Compilers have limits, and nobody reads longer
/// conditions.
const MAX_NODES: u32 = 400;
/// The maximal width of a value: that of the largest type that every C implementation has.
const MAX_WIDTH: u32 = 64;

/// A printer of text that stands alone.
struct Printer<'p> {
    p: &'p Program,
    pool: &'p ExprPool,
    in_scope: &'p dyn Fn(VarId) -> bool,
    budget: u32,
    has_failed: bool,
}

impl Printer<'_> {
    /// The C name and type of a variable. `None` if C has no such variable in scope.
    fn var(&self, v: VarId) -> Option<(String, ScalarType)> {
        let var = &self.p.vars[v];
        let name = var.name.as_ref().filter(|n| is_identifier(n) && (self.in_scope)(v))?;
        let width = var.width;
        let ty = match *self.p.plain_type(var.ty) {
            CType::Int { width: w, signed, .. } | CType::Enum { width: w, signed, .. } if w == width => match signed {
                true if width == 1 => return None,
                true => ScalarType::Signed(width),
                false => ScalarType::Unsigned(width),
            },
            CType::Bool => ScalarType::Unsigned(width),
            CType::Pointer(_) if width == self.p.layout.pointer_width => ScalarType::Pointer,
            CType::Float { format, .. } if format.width() == width => ScalarType::Float(format),
            _ => return None,
        };
        Some((name.clone(), ty))
    }

    /// Prints a value of the floating type. Accepts only operations that every implementation computes alike: without
    /// excess precision, and rounded to nearest.
    fn printed_float(&mut self, format: FloatFormat, e: ExprId) -> Option<String> {
        if !self.enter(e) {
            return None;
        }
        let ty = match format {
            FloatFormat::Single => "float",
            FloatFormat::Double => "double",
            _ => return None,
        };
        Some(match *self.pool.get(e) {
            Expr::Const(ref c) => literal(format, c)?,
            Expr::Var(v) => match self.var(v)? {
                (name, ScalarType::Float(f)) if f == format => name,
                _ => return None,
            },
            Expr::FUnary(FUnOp::Neg, f, a) if f == format => format!("(-{})", self.float(f, a)),
            Expr::FBinary(op, f, a, b) if f == format => {
                let operator = match op {
                    FBinOp::ADD => '+',
                    FBinOp::SUB => '-',
                    FBinOp::MUL => '*',
                    FBinOp::DIV => '/',
                    _ => return None,
                };
                format!("({ty})({} {operator} {})", self.float(f, a), self.float(f, b))
            }
            Expr::FConvert { rounding: Rounding::Nearest, from, arg, .. } => {
                format!("({ty}){}", self.float(from, arg))
            }
            Expr::IntToF { rounding: Rounding::Nearest, signed: true, arg, .. } => {
                format!("({ty}){}", self.signed(arg))
            }
            Expr::IntToF { rounding: Rounding::Nearest, arg, .. } => format!("({ty}){}", self.bits(arg)),
            Expr::Ite(c, t, f) => {
                format!("({} ? {} : {})", self.condition(c), self.float(format, t), self.float(format, f))
            }
            _ => return None,
        })
    }
}

impl<'p> ExactPrinter<'p> for Printer<'p> {
    const HAS_HELPERS: bool = false;

    fn pool(&self) -> &'p ExprPool {
        self.pool
    }
    fn enter(&mut self, e: ExprId) -> bool {
        let has_type = matches!(self.pool.sort(e), Sort::Bv(width) if width <= MAX_WIDTH);
        self.has_failed |= self.budget == 0 || !has_type;
        self.budget = self.budget.saturating_sub(1);
        !self.has_failed
    }
    fn named(&mut self, e: ExprId) -> Option<(String, ScalarType)> {
        let Expr::Var(v) = *self.pool.get(e) else { return None };
        let known = self.var(v);
        self.has_failed |= known.is_none();
        known
    }
    fn compared_pointers(&mut self, operator: &str, a: ExprId, b: ExprId) -> Option<String> {
        let Expr::Var(v) = *self.pool.get(a) else { return None };
        let (name, ty) = self.var(v)?;
        let is_null = self.pool.as_const(b).is_some_and(Bv::is_zero);
        (ty == ScalarType::Pointer && is_null).then(|| format!("({name} {operator} 0)"))
    }
    fn float(&mut self, format: FloatFormat, e: ExprId) -> String {
        let text = self.printed_float(format, e);
        self.has_failed |= text.is_none();
        text.unwrap_or_default()
    }
    fn float_bits(&mut self, _: FloatFormat, _: &str) -> String {
        self.has_failed = true;
        String::new()
    }
    fn float_to_integer(&mut self, _: FloatFormat, _: bool, _: u32, _: ExprId) -> String {
        self.has_failed = true;
        String::new()
    }
    fn helper(&mut self, _: &str, _: String) {
        self.has_failed = true;
    }
    fn refuse(&mut self, _: String) {
        self.has_failed = true;
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A literal of the value. Infinities and NaNs are printed as divisions.
fn literal(format: FloatFormat, c: &Bv) -> Option<String> {
    let suffix = if format == FloatFormat::Single { "f" } else { "" };
    let shown = float::show(format, c);
    Some(match shown.as_str() {
        "inf" => format!("(1.0{suffix} / 0.0{suffix})"),
        "-inf" => format!("(-1.0{suffix} / 0.0{suffix})"),
        _ if float::is_nan(format, c) => format!("(0.0{suffix} / 0.0{suffix})"),
        // The shortest decimal that parses to the value.
        decimal if decimal.contains(['.', 'e']) => format!("({decimal}{suffix})"),
        _ => return None,
    })
}
