//! Expressions as C text with exactly the same value, for witnesses and harnesses that other tools evaluate.
//!
//! Arithmetic uses unsigned types, which have the semantics of bit-vectors, and masks the result to its width. The
//! printed text has no undefined behaviour. Some expressions have no such text: those over temporaries, of more than 64
//! bits, or with a divisor that may be zero.

use crate::bv::Bv;
use crate::expr::{BinOp, Expr, ExprId, ExprPool, UnOp};
use crate::float::{self, FBinOp, FCmp, FUnOp, FloatFormat, Rounding};
use crate::program::{CType, Program, VarId};

/// Returns C text with the value of `e`: 0 or 1 for a condition, else the unsigned value as `unsigned int`, or above 32
/// bits as `unsigned long long`. The text is parenthesised, so it can be an operand. Returns `None` if there is no such
/// text of moderate size over variables for which `in_scope` returns true.
pub fn c_exact(p: &Program, pool: &ExprPool, e: ExprId, in_scope: &dyn Fn(VarId) -> bool) -> Option<String> {
    let mut printer = Printer { p, pool, in_scope, budget: MAX_NODES };
    if pool.width(e) == 1 { printer.condition(e) } else { printer.unsigned(e) }
}

/// The maximal number of operators in a condition of a witness. Compilers have limits, and nobody reads longer
/// conditions.
const MAX_NODES: u32 = 400;
/// The maximal width of a value: that of the largest type that every C implementation has.
const MAX_WIDTH: u32 = 64;

/// The printing of an expression that has the same value in C.
struct Printer<'p> {
    p: &'p Program,
    pool: &'p ExprPool,
    in_scope: &'p dyn Fn(VarId) -> bool,
    budget: u32,
}

/// The C types that hold a value of this width: the unsigned type, the signed type, and their width.
fn container(width: u32) -> (&'static str, &'static str, u32) {
    if width <= 32 { ("unsigned int", "int", 32) } else { ("unsigned long long", "long long", 64) }
}

fn suffix(width: u32) -> &'static str {
    if width <= 32 { "U" } else { "ULL" }
}

/// Masks a value of the container's type to `width` bits.
fn masked(text: String, width: u32) -> String {
    if width == container(width).2 { text } else { format!("({text} & {}{})", Bv::ones(width), suffix(width)) }
}

impl Printer<'_> {
    fn spend(&mut self, e: ExprId) -> Option<u32> {
        self.budget = self.budget.checked_sub(1)?;
        match self.pool.sort(e) {
            crate::expr::Sort::Bv(width) if width <= MAX_WIDTH => Some(width),
            _ => None,
        }
    }

    /// The C name and type of a variable. `None` if C has no such variable in scope.
    fn var(&self, v: VarId) -> Option<(&str, Type)> {
        let var = &self.p.vars[v];
        let name = var.name.as_deref().filter(|n| is_identifier(n) && (self.in_scope)(v))?;
        let ty =
            match *self.p.plain_type(var.ty) {
                CType::Int { width, signed, .. } | CType::Enum { width, signed, .. } if width == var.width => {
                    if signed { Type::Signed } else { Type::Unsigned }
                }
                CType::Bool => Type::Unsigned,
                CType::Pointer(_) if var.width == self.p.layout.pointer_width => Type::Pointer,
                CType::Float { format, .. } if format.width() == var.width => Type::Float(format),
                _ => return None,
            };
        Some((name, ty))
    }

    /// Prints `e` as an integer that is 0 or 1.
    fn condition(&mut self, e: ExprId) -> Option<String> {
        if self.spend(e)? != 1 {
            return None;
        }
        Some(match *self.pool.get(e) {
            Expr::Const(ref c) => c.to_string(),
            Expr::Unary(UnOp::Not, a) => match *self.pool.get(a) {
                Expr::Binary(BinOp::Eq, a, b) if self.pool.width(a) > 1 => self.equality("!=", a, b)?,
                _ => format!("(!{})", self.condition(a)?),
            },
            Expr::Unary(UnOp::Neg, a) => self.condition(a)?,
            Expr::Binary(op, a, b) => match op {
                BinOp::And | BinOp::Mul => format!("({} && {})", self.condition(a)?, self.condition(b)?),
                BinOp::Or => format!("({} || {})", self.condition(a)?, self.condition(b)?),
                BinOp::Xor | BinOp::Add | BinOp::Sub => format!("({} != {})", self.condition(a)?, self.condition(b)?),
                BinOp::Eq if self.pool.width(a) == 1 => format!("({} == {})", self.condition(a)?, self.condition(b)?),
                BinOp::Eq => self.equality("==", a, b)?,
                BinOp::Ult => format!("({} < {})", self.unsigned(a)?, self.unsigned(b)?),
                BinOp::Ule => format!("({} <= {})", self.unsigned(a)?, self.unsigned(b)?),
                BinOp::Slt => format!("({} < {})", self.signed(a)?, self.signed(b)?),
                BinOp::Sle => format!("({} <= {})", self.signed(a)?, self.signed(b)?),
                _ => return None,
            },
            Expr::Ite(c, t, f) => format!("({} ? {} : {})", self.condition(c)?, self.condition(t)?, self.condition(f)?),
            Expr::Extract { lo, arg, .. } => {
                let arg_text = self.unsigned(arg)?;
                let shifted = if lo == 0 { arg_text } else { format!("({arg_text} >> {lo})") };
                format!("({shifted} & 1{})", suffix(self.pool.width(arg)))
            }
            Expr::FCompare(op, f, a, b) => {
                let operator = match op {
                    FCmp::Eq => "==",
                    FCmp::Lt => "<",
                    FCmp::Le => "<=",
                };
                format!("({} {operator} {})", self.float(f, a)?, self.float(f, b)?)
            }
            Expr::FIsNan(f, a) => {
                let a = self.float(f, a)?;
                format!("({a} != {a})")
            }
            Expr::Var(v) => match self.var(v)? {
                (name, Type::Unsigned) => name.to_owned(),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn equality(&mut self, operator: &str, a: ExprId, b: ExprId) -> Option<String> {
        // Pointers are compared as pointers. Integers are compared with their C signedness.
        for (a, b) in [(a, b), (b, a)] {
            if let &Expr::Var(v) = self.pool.get(a)
                && let Some((name, ty)) = self.var(v)
            {
                let name = name.to_owned();
                match (ty, self.pool.as_const(b)) {
                    (Type::Pointer, Some(c)) if c.is_zero() => return Some(format!("({name} {operator} 0)")),
                    (Type::Signed, _) => return Some(format!("({name} {operator} {})", self.signed(b)?)),
                    _ => {}
                }
            }
        }
        Some(format!("({} {operator} {})", self.unsigned(a)?, self.unsigned(b)?))
    }

    /// Prints the unsigned value, in its container type.
    fn unsigned(&mut self, e: ExprId) -> Option<String> {
        let width = self.spend(e)?;
        if width == 1 {
            return Some(format!("(unsigned int){}", self.condition(e)?));
        }
        let (ty, _, size) = container(width);
        Some(match *self.pool.get(e) {
            Expr::Const(ref c) => format!("{c}{}", suffix(width)),
            Expr::Var(v) => {
                let (name, kind) = self.var(v)?;
                match kind {
                    Type::Unsigned if width == size => name.to_owned(),
                    Type::Unsigned => format!("({ty}){name}"),
                    Type::Signed => masked(format!("({ty}){name}"), width),
                    Type::Pointer => format!("({ty})(unsigned long){name}"),
                    Type::Float(_) => return None,
                }
            }
            Expr::Unary(op, a) => {
                let operator = if op == UnOp::Not { '~' } else { '-' };
                masked(format!("({operator}{})", self.unsigned(a)?), width)
            }
            Expr::Binary(op, a, b) => self.arithmetic(op, a, b, width)?,
            Expr::Ite(c, t, f) => format!("({} ? {} : {})", self.condition(c)?, self.unsigned(t)?, self.unsigned(f)?),
            Expr::Extract { lo, arg, .. } => {
                let arg = self.unsigned(arg)?;
                let shifted = if lo == 0 { arg } else { format!("({arg} >> {lo})") };
                masked(format!("({ty}){shifted}"), width)
            }
            Expr::Zext { arg, .. } => format!("({ty}){}", self.unsigned(arg)?),
            Expr::Sext { arg, .. } => masked(format!("({ty}){}", self.signed(arg)?), width),
            Expr::FToInt { .. } => return None,
            _ => return None,
        })
    }

    fn arithmetic(&mut self, op: BinOp, a: ExprId, b: ExprId, width: u32) -> Option<String> {
        let constant = self.pool.as_const(b).and_then(Bv::to_u64);
        let (ty, _, _) = container(width);
        let plain =
            |this: &mut Self, operator: &str| Some(format!("({} {operator} {})", this.unsigned(a)?, this.unsigned(b)?));
        Some(match op {
            BinOp::Add => masked(plain(self, "+")?, width),
            BinOp::Sub => masked(plain(self, "-")?, width),
            BinOp::Mul => masked(plain(self, "*")?, width),
            BinOp::And => plain(self, "&")?,
            BinOp::Or => plain(self, "|")?,
            BinOp::Xor => plain(self, "^")?,
            BinOp::UDiv if constant.is_some_and(|c| c != 0) => plain(self, "/")?,
            BinOp::URem if constant.is_some_and(|c| c != 0) => plain(self, "%")?,
            BinOp::SDiv | BinOp::SRem if self.pool.as_const(b).is_some_and(|c| !c.is_zero() && !c.is_ones()) => {
                let operator = if op == BinOp::SDiv { '/' } else { '%' };
                masked(format!("({ty})({} {operator} {})", self.signed(a)?, self.signed(b)?), width)
            }
            BinOp::Shl if constant.is_some_and(|c| c < u64::from(width)) => {
                masked(format!("({} << {})", self.unsigned(a)?, constant?), width)
            }
            BinOp::LShr if constant.is_some_and(|c| c < u64::from(width)) => {
                format!("({} >> {})", self.unsigned(a)?, constant?)
            }
            BinOp::AShr if constant.is_some_and(|c| c < u64::from(width)) => {
                masked(format!("({ty})({} >> {})", self.signed(a)?, constant?), width)
            }
            BinOp::Shl | BinOp::LShr => {
                let operator = if op == BinOp::Shl { "<<" } else { ">>" };
                let (a, b) = (self.unsigned(a)?, self.unsigned(b)?);
                masked(format!("({b} < {width} ? {a} {operator} {b} : 0)"), width)
            }
            BinOp::Concat => {
                let low = self.pool.width(b);
                format!("((({ty}){} << {low}) | {})", self.unsigned(a)?, self.unsigned(b)?)
            }
            _ => return None,
        })
    }

    /// Prints the two's complement value, as `int` or `long long`.
    fn signed(&mut self, e: ExprId) -> Option<String> {
        let width = self.spend(e)?;
        let (_, ty, size) = container(width);
        match *self.pool.get(e) {
            Expr::Const(ref c) => {
                let value = c.to_i64()?;
                let suffix = if width > 32 { "LL" } else { "" };
                return Some(match value {
                    // The least value has no literal.
                    _ if c.log2_exact() == Some(width - 1) && width == size => format!("({}{suffix} - 1)", value + 1),
                    ..0 => format!("({value}{suffix})"),
                    _ => format!("{value}{suffix}"),
                });
            }
            Expr::Var(v) => match self.var(v)? {
                (name, Type::Signed) => return Some(name.to_owned()),
                // A narrower unsigned type promotes to int, but this needs the signed interpretation of its bits.
                (_, Type::Unsigned | Type::Pointer) => {}
                (_, Type::Float(_)) => return None,
            },
            Expr::Sext { arg, .. } => return Some(format!("({ty}){}", self.signed(arg)?)),
            // The value is not negative, so it equals the unsigned value.
            Expr::Zext { arg, .. } if self.pool.width(arg) < width => {
                return Some(format!("({ty}){}", self.unsigned(arg)?));
            }
            _ => {}
        }
        let unsigned = self.unsigned(e)?;
        let unused = size - width;
        Some(if unused == 0 {
            format!("({ty}){unsigned}")
        } else {
            format!("(({ty})({unsigned} << {unused}) >> {unused})")
        })
    }

    /// Prints a value of the floating type. Accepts only operations that every implementation computes alike: without
    /// excess precision, and rounded to nearest.
    fn float(&mut self, format: FloatFormat, e: ExprId) -> Option<String> {
        self.budget = self.budget.checked_sub(1)?;
        let ty = match format {
            FloatFormat::Single => "float",
            FloatFormat::Double => "double",
            _ => return None,
        };
        Some(match *self.pool.get(e) {
            Expr::Const(ref c) => literal(format, c)?,
            Expr::Var(v) => match self.var(v)? {
                (name, Type::Float(f)) if f == format => name.to_owned(),
                _ => return None,
            },
            Expr::FUnary(FUnOp::Neg, f, a) if f == format => format!("(-{})", self.float(f, a)?),
            Expr::FBinary(op, f, a, b) if f == format => {
                let operator = match op {
                    FBinOp::ADD => '+',
                    FBinOp::SUB => '-',
                    FBinOp::MUL => '*',
                    FBinOp::DIV => '/',
                    _ => return None,
                };
                format!("({ty})({} {operator} {})", self.float(f, a)?, self.float(f, b)?)
            }
            Expr::FConvert { rounding: Rounding::Nearest, from, arg, .. } => {
                format!("({ty}){}", self.float(from, arg)?)
            }
            Expr::IntToF { rounding: Rounding::Nearest, signed: true, arg, .. } => {
                format!("({ty}){}", self.signed(arg)?)
            }
            Expr::IntToF { rounding: Rounding::Nearest, arg, .. } => format!("({ty}){}", self.unsigned(arg)?),
            Expr::Ite(c, t, f) => {
                format!("({} ? {} : {})", self.condition(c)?, self.float(format, t)?, self.float(format, f)?)
            }
            _ => return None,
        })
    }
}

/// The kind of C type that a printed expression has.
#[derive(Clone, Copy)]
enum Type {
    Signed,
    Unsigned,
    Pointer,
    Float(FloatFormat),
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
