//! Expressions and operations in C notation for readers: in traces, DOT graphs and messages.
//!
//! In C, the types of the operands determine the meaning of an operator: `/` is a signed or an unsigned division. In the
//! CFA, each operation has one meaning. The printer inserts a cast if the types of the operands imply another meaning.
//! An address is printed as the C object that it denotes (`p->next`, `a[i].x`) if the types determine it. Long
//! expressions are cut with `…`, so the text has at most a few lines.

mod names;
mod objects;

use crate::bv::Bv;
use crate::expr::{BinOp, Expr, ExprId, ExprPool, SymId, UnOp};
use crate::float::{self, FBinOp, FCmp, FUnOp, FloatFormat, Rounding};
use crate::program::*;
use names::{constant, int_name, width_or_zero};

/// Prints an expression of `pool`, which is the program's pool or an extension of it.
pub fn c_expr(p: &Program, pool: &ExprPool, e: ExprId) -> String {
    c_expr_with(p, pool, e, &|_| None)
}

/// Prints an expression as [`c_expr`] does. `name` returns the name of a symbol.
pub fn c_expr_with(p: &Program, pool: &ExprPool, e: ExprId, name: &dyn Fn(SymId) -> Option<String>) -> String {
    let mut printer = Printer { p, pool, budget: MAX_NODES, name, var: &|_| None };
    printer.expr(e, LOWEST)
}

/// Prints an expression of the program. `var` may return another name and type for a variable.
pub fn c_expr_naming(p: &Program, e: ExprId, var: &dyn Fn(VarId) -> Option<(String, TypeId)>) -> String {
    Printer { p, pool: &p.exprs, budget: MAX_NODES, name: &|_| None, var }.expr(e, LOWEST)
}

/// Prints the object of `width` bits at an address.
pub fn c_object(p: &Program, pool: &ExprPool, addr: ExprId, width: u32) -> String {
    let mut printer = Printer { p, pool, budget: MAX_NODES, name: &|_| None, var: &|_| None };
    printer.object(addr, width)
}

/// Prints the operation of an edge as a statement, or a branch as its condition.
pub fn c_operation(p: &Program, op: &Op) -> String {
    let pool = &p.exprs;
    let expr = |e: ExprId| c_expr(p, pool, e);
    let var = |v: VarId| var_name(p, v);
    match op {
        Op::Skip => String::new(),
        Op::Assign { var: v, value } => format!("{} = {}", var(*v), expr(*value)),
        Op::Assume { cond, .. } => expr(*cond),
        Op::Load { var: v, addr } => format!("{} = {}", var(*v), c_object(p, pool, *addr, p.vars[*v].width)),
        Op::Store { addr, value } => format!("{} = {}", c_object(p, pool, *addr, pool.width(*value)), expr(*value)),
        Op::Alloc { var: v, size, kind: AllocKind::Stack, .. } => format!("{} = alloca({})", var(*v), expr(*size)),
        Op::Alloc { var: v, size, zeroed: true, .. } => format!("{} = calloc(1, {})", var(*v), expr(*size)),
        Op::Alloc { var: v, size, .. } => format!("{} = malloc({})", var(*v), expr(*size)),
        Op::Free { ptr, family: Family::Scope } => format!("the scope of the object at {} ends", expr(*ptr)),
        Op::Free { ptr, .. } => format!("free({})", expr(*ptr)),
        Op::Leak(_) => "is memory lost?".to_owned(),
        Op::ObjectSize { var: v, ptr, .. } => format!("{} = size of the object at {}", var(*v), expr(*ptr)),
        Op::ObjectOffset { var: v, ptr, writable } => {
            let object = if *writable { "its object that is not constant" } else { "its object" };
            format!("{} = offset of {} in {object}", var(*v), expr(*ptr))
        }
        Op::Havoc { var: v, input } => {
            let source = match &p.inputs[*input].kind {
                InputKind::Nondet(name) | InputKind::Environment(name) | InputKind::Unmodelled(name) => {
                    format!("{name}()")
                }
                InputKind::Argument(name) => format!("argument {name}"),
                InputKind::Global(name) => format!("any {name}"),
                InputKind::Uninit(_) => "uninitialised".to_owned(),
            };
            format!("{} = {source}", var(*v))
        }
        Op::Copy { dst, src, len } => format!("memmove({}, {}, {})", expr(*dst), expr(*src), expr(*len)),
        Op::Fill { dst, byte, len } => format!("memset({}, {}, {})", expr(*dst), expr(*byte), expr(*len)),
        Op::Shadow(op) => format!("shadow: {}", c_operation(p, op)),
        Op::Call { callee, args, varargs, result } => {
            let callee = match callee {
                Callee::Direct(f) => p.funcs[*f].name.clone(),
                Callee::Indirect(e) => {
                    format!(
                        "(*{})",
                        Printer { p, pool, budget: MAX_NODES, name: &|_| None, var: &|_| None }.expr(*e, UNARY)
                    )
                }
            };
            let mut args: Vec<_> = args.iter().map(|&a| expr(a)).collect();
            if varargs.is_some() {
                args.push("…".to_owned());
            }
            let result = result.map(|v| format!("{} = ", var(v))).unwrap_or_default();
            format!("{result}{callee}({})", args.join(", "))
        }
        Op::Return { value: None } => "return".to_owned(),
        Op::Return { value: Some(value) } => format!("return {}", expr(*value)),
        Op::Halt(HaltKind::Exit(code)) => format!("exit({})", expr(*code)),
        Op::Halt(HaltKind::ExitNow(code)) => format!("_Exit({})", expr(*code)),
        Op::Halt(HaltKind::Abort) => "abort()".to_owned(),
        Op::Halt(HaltKind::Assumed) => "an assumption does not hold".to_owned(),
        Op::Halt(HaltKind::Unreachable) => "undefined behaviour".to_owned(),
        Op::Error(error) => format!("error: {}", p.errors[*error].message),
        Op::Approx { taint } => format!("approximated: {}", p.taints[*taint].reason),
    }
}

/// The C name of a variable, or `tmp` with its number if C does not name it.
pub fn var_name(p: &Program, var: VarId) -> String {
    p.vars[var].name.clone().unwrap_or_else(|| format!("tmp{}", var.0))
}

/// The maximal number of printed nodes. The rest is cut.
const MAX_NODES: u32 = 150;

/// Precedence levels of C's grammar.
type Level = u8;
const LOWEST: Level = 0;
const CONDITIONAL: Level = 1;
const OR: Level = 2;
const AND: Level = 3;
const BIT_OR: Level = 4;
const BIT_XOR: Level = 5;
const BIT_AND: Level = 6;
const EQUALITY: Level = 7;
const RELATION: Level = 8;
const SHIFT: Level = 9;
const SUM: Level = 10;
const PRODUCT: Level = 11;
const UNARY: Level = 12;
const POSTFIX: Level = 13;

/// The interpretation of an expression's bits in C.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interpretation {
    Signed,
    Unsigned,
    /// The value does not depend on the signedness.
    Either,
    Float(FloatFormat),
}

/// The operation with the rounding mode `Nearest` in place of its own. All roundings to integral values become the same
/// operation. So two operations that differ only in the rounding mode become equal.
fn unrounded(node: &Expr) -> Expr {
    let mut node = node.clone();
    match &mut node {
        Expr::FUnary(op @ (FUnOp::Floor | FUnOp::Ceil | FUnOp::Trunc), ..) => *op = FUnOp::RoundEven,
        Expr::FUnary(op, ..) => *op = op.with_rounding(Rounding::Nearest),
        Expr::FBinary(op, ..) => *op = op.with_rounding(Rounding::Nearest),
        Expr::Fma(rounding, ..) | Expr::FConvert { rounding, .. } | Expr::IntToF { rounding, .. } => {
            *rounding = Rounding::Nearest;
        }
        _ => {}
    }
    node
}

/// A printer of expressions.
struct Printer<'p> {
    p: &'p Program,
    pool: &'p ExprPool,
    /// The number of nodes that may still be printed.
    budget: u32,
    name: &'p dyn Fn(SymId) -> Option<String>,
    /// Another name and type for a variable, or `None`.
    var: &'p dyn Fn(VarId) -> Option<(String, TypeId)>,
}

impl Printer<'_> {
    fn variable(&self, var: VarId) -> (String, TypeId) {
        (self.var)(var).unwrap_or_else(|| (var_name(self.p, var), self.p.vars[var].ty))
    }

    /// Prints `e` as an operand with at least the precedence `level`.
    fn expr(&mut self, e: ExprId, level: Level) -> String {
        let (text, own) = self.node(e);
        if own < level { format!("({text})") } else { text }
    }

    /// Prints `e` as an operand with a given interpretation, with a cast if needed.
    fn read(&mut self, e: ExprId, reading: Interpretation, level: Level) -> String {
        if let (Some(c), Interpretation::Float(format)) = (self.pool.as_const(e), reading) {
            return if c.width() == format.width() { float::show(format, c) } else { c.to_string() };
        }
        if let (Some(c), Interpretation::Unsigned) = (self.pool.as_const(e), reading) {
            return c.to_string();
        }
        let own = self.reading(e);
        if own == reading
            || matches!((own, reading), (Interpretation::Either, Interpretation::Signed | Interpretation::Unsigned))
        {
            return self.expr(e, level);
        }
        let name = match reading {
            Interpretation::Float(format) => format.c_name().to_owned(),
            _ => int_name(self.pool.width(e), reading == Interpretation::Signed),
        };
        self.cast(&name, e, level)
    }

    fn cast(&mut self, ty: &str, e: ExprId, level: Level) -> String {
        let text = format!("({ty}){}", self.expr(e, UNARY));
        if UNARY < level { format!("({text})") } else { text }
    }

    fn reading(&self, e: ExprId) -> Interpretation {
        match *self.pool.get(e) {
            Expr::Var(v) => match self.p.plain_type(self.variable(v).1) {
                CType::Int { signed: true, .. } | CType::Enum { signed: true, .. } => Interpretation::Signed,
                CType::Float { format, .. } if format.width() == self.pool.width(e) => Interpretation::Float(*format),
                CType::Unknown { .. } => Interpretation::Either,
                _ => Interpretation::Unsigned,
            },
            Expr::Const(_) | Expr::Sym(_) | Expr::Content { .. } => Interpretation::Either,
            Expr::GlobalAddr(_) | Expr::FuncAddr(_) => Interpretation::Unsigned,
            Expr::FUnary(_, f, _) | Expr::FBinary(_, f, ..) | Expr::Fma(_, f, ..) => Interpretation::Float(f),
            Expr::FConvert { to, .. } | Expr::IntToF { to, .. } => Interpretation::Float(to),
            Expr::FToInt { signed, .. } => {
                if signed {
                    Interpretation::Signed
                } else {
                    Interpretation::Unsigned
                }
            }
            Expr::Sext { .. } | Expr::Binary(BinOp::SDiv | BinOp::SRem | BinOp::AShr, ..) => Interpretation::Signed,
            Expr::Binary(BinOp::UDiv | BinOp::URem | BinOp::LShr | BinOp::Concat, ..) => Interpretation::Unsigned,
            // The operand is narrower than the result, so the result is not negative in either interpretation.
            Expr::Zext { .. } => Interpretation::Either,
            Expr::Extract { .. } => Interpretation::Unsigned,
            Expr::Binary(op, a, b) if !op.is_comparison() => match (self.shallow(a), self.shallow(b)) {
                (Interpretation::Either, other) | (other, Interpretation::Either) => other,
                (Interpretation::Signed, Interpretation::Signed) => Interpretation::Signed,
                _ => Interpretation::Unsigned,
            },
            Expr::Unary(_, a) => self.shallow(a),
            Expr::Ite(_, t, e) => match (self.shallow(t), self.shallow(e)) {
                (Interpretation::Either, other) | (other, Interpretation::Either) => other,
                (a, b) if a == b => a,
                _ => Interpretation::Unsigned,
            },
            _ => Interpretation::Either,
        }
    }

    /// An approximation of [`reading`](Self::reading) for an operand of an operand. Its recursion is bounded to keep it
    /// cheap.
    fn shallow(&self, e: ExprId) -> Interpretation {
        match self.pool.get(e) {
            Expr::Unary(..) | Expr::Ite(..) => Interpretation::Either,
            Expr::Binary(op, a, b) if !op.is_comparison() => match (self.pool.get(*a), self.pool.get(*b)) {
                (Expr::Var(_), _) => self.reading(*a),
                (_, Expr::Var(_)) => self.reading(*b),
                _ => Interpretation::Either,
            },
            _ => self.reading(e),
        }
    }

    /// True if the expression is one operation in the rounding mode of a variable (see [`Rounding::choice`]).
    fn is_rounding_choice(&self, e: ExprId) -> bool {
        let &Expr::Ite(c, t, f) = self.pool.get(e) else { return false };
        let &Expr::Binary(BinOp::Eq, mode, _) = self.pool.get(c) else { return false };
        if !matches!(self.pool.get(mode), Expr::Var(_)) || self.pool.width(mode) != Rounding::WIDTH {
            return false;
        }
        let other = match *self.pool.get(f) {
            Expr::Ite(_, other, _) if self.is_rounding_choice(f) => other,
            _ => f,
        };
        unrounded(self.pool.get(t)) == unrounded(self.pool.get(other))
    }

    /// Prints an operation in the rounding mode of the environment. `e` is the operation in one of the modes.
    fn rounded(&mut self, e: ExprId) -> (String, Level) {
        match *self.pool.get(e) {
            Expr::FUnary(FUnOp::Floor | FUnOp::Ceil | FUnOp::Trunc | FUnOp::RoundEven, f, a) => {
                self.call("rint", &[a], Interpretation::Float(f))
            }
            _ => self.node(e),
        }
    }

    fn infix(
        &mut self,
        operator: &str,
        level: Level,
        a: ExprId,
        b: ExprId,
        reading: Interpretation,
    ) -> (String, Level) {
        let (a, b) = (self.read(a, reading, level), self.read(b, reading, level + 1));
        (format!("{a} {operator} {b}"), level)
    }

    fn call(&mut self, name: &str, args: &[ExprId], reading: Interpretation) -> (String, Level) {
        let args: Vec<_> = args.iter().map(|&a| self.read(a, reading, LOWEST)).collect();
        (format!("{name}({})", args.join(", ")), POSTFIX)
    }

    /// Prints an expression. Returns its text and its precedence.
    fn node(&mut self, e: ExprId) -> (String, Level) {
        if self.budget == 0 {
            return ("…".to_owned(), POSTFIX);
        }
        self.budget -= 1;
        let width = width_or_zero(self.pool, e);
        match *self.pool.get(e) {
            Expr::Const(ref c) => match constant(c) {
                text if text.starts_with('-') => (text, UNARY),
                text => (text, POSTFIX),
            },
            Expr::Var(v) => (self.variable(v).0, POSTFIX),
            Expr::Sym(s) => ((self.name)(s).unwrap_or_else(|| format!("{s}")), POSTFIX),
            Expr::GlobalAddr(g) => match self.p.plain_type(self.p.globals[g].ty) {
                CType::Array(..) => (self.p.globals[g].name.clone(), POSTFIX),
                _ => (format!("&{}", self.p.globals[g].name), UNARY),
            },
            Expr::FuncAddr(f) => (self.p.funcs[f].name.clone(), POSTFIX),
            Expr::Content { of, offset, width } => (self.content(of, offset, width), POSTFIX),
            Expr::Unary(UnOp::Not, a) if width == 1 => match *self.pool.get(a) {
                Expr::Binary(BinOp::Eq, a, b) => self.equality("!=", a, b),
                Expr::FCompare(FCmp::Eq, f, a, b) => self.infix("!=", EQUALITY, a, b, Interpretation::Float(f)),
                _ => (format!("!{}", self.expr(a, UNARY)), UNARY),
            },
            Expr::Unary(op, a) => {
                let operator = if op == UnOp::Not { '~' } else { '-' };
                (format!("{operator}{}", self.expr(a, POSTFIX)), UNARY)
            }
            Expr::Binary(op, a, b) => self.binary(op, a, b, width),
            // In C, the environment determines the rounding mode.
            Expr::Ite(_, t, _) if self.is_rounding_choice(e) => self.rounded(t),
            Expr::Ite(c, t, f) => {
                let (c, t) = (self.expr(c, OR), self.expr(t, LOWEST));
                (format!("{c} ? {t} : {}", self.expr(f, CONDITIONAL)), CONDITIONAL)
            }
            Expr::Extract { hi, lo, arg } => self.part(hi - lo + 1, lo, arg),
            Expr::Zext { arg, .. } if self.pool.width(arg) == 1 => self.node(arg),
            Expr::Zext { width, arg } => match self.reading(arg) {
                Interpretation::Unsigned | Interpretation::Either if width <= 64 => self.node(arg),
                _ => (self.read(arg, Interpretation::Unsigned, UNARY), UNARY),
            },
            Expr::Sext { arg, .. } if self.pool.width(arg) == 1 => (format!("-{}", self.expr(arg, UNARY)), UNARY),
            Expr::Sext { arg, .. } => match self.reading(arg) {
                Interpretation::Signed => self.node(arg),
                _ => (self.read(arg, Interpretation::Signed, UNARY), UNARY),
            },
            Expr::FUnary(op, f, a) => match op.c_function() {
                Some(name) => self.call(name, &[a], Interpretation::Float(f)),
                None => (format!("-{}", self.read(a, Interpretation::Float(f), POSTFIX)), UNARY),
            },
            Expr::FBinary(op, f, a, b) => match op {
                FBinOp::Add(_) => self.infix("+", SUM, a, b, Interpretation::Float(f)),
                FBinOp::Sub(_) => self.infix("-", SUM, a, b, Interpretation::Float(f)),
                FBinOp::Mul(_) => self.infix("*", PRODUCT, a, b, Interpretation::Float(f)),
                FBinOp::Div(_) => self.infix("/", PRODUCT, a, b, Interpretation::Float(f)),
                FBinOp::Rem => self.call("fmod", &[a, b], Interpretation::Float(f)),
                FBinOp::Min => self.call("fmin", &[a, b], Interpretation::Float(f)),
                FBinOp::Max => self.call("fmax", &[a, b], Interpretation::Float(f)),
            },
            Expr::Fma(_, f, a, b, c) => self.call("fma", &[a, b, c], Interpretation::Float(f)),
            Expr::FCompare(op, f, a, b) => match op {
                FCmp::Eq => self.infix("==", EQUALITY, a, b, Interpretation::Float(f)),
                FCmp::Lt => self.infix("<", RELATION, a, b, Interpretation::Float(f)),
                FCmp::Le => self.infix("<=", RELATION, a, b, Interpretation::Float(f)),
            },
            Expr::FIsNan(f, a) => self.call("isnan", &[a], Interpretation::Float(f)),
            Expr::FConvert { from, to, arg, .. } => {
                (format!("({}){}", to.c_name(), self.read(arg, Interpretation::Float(from), UNARY)), UNARY)
            }
            Expr::IntToF { to, signed, arg, .. } => {
                let reading = if signed { Interpretation::Signed } else { Interpretation::Unsigned };
                (format!("({}){}", to.c_name(), self.read(arg, reading, UNARY)), UNARY)
            }
            Expr::FToInt { from, signed, width, arg } => {
                (format!("({}){}", int_name(width, signed), self.read(arg, Interpretation::Float(from), UNARY)), UNARY)
            }
            Expr::Select { array, index } => {
                (format!("{}[{}]", self.expr(array, POSTFIX), self.expr(index, LOWEST)), POSTFIX)
            }
            Expr::Store { array, index, value } => {
                let (array, index) = (self.expr(array, POSTFIX), self.expr(index, LOWEST));
                (format!("{array}[{index} = {}]", self.expr(value, LOWEST)), POSTFIX)
            }
            Expr::ConstArray { value, .. } => (format!("{{{}…}}", self.expr(value, LOWEST)), POSTFIX),
            Expr::Lambda { body, .. } => (format!("{{i: {}}}", self.expr(body, LOWEST)), POSTFIX),
            Expr::Index(_) => ("i".into(), POSTFIX),
        }
    }

    /// Prints an extract of `bits` bits.
    fn part(&mut self, bits: u32, lo: u32, arg: ExprId) -> (String, Level) {
        let inner = if lo == 0 { self.expr(arg, UNARY) } else { format!("({} >> {lo})", self.expr(arg, SHIFT)) };
        match bits {
            // No C type has this width.
            2..64 if !bits.is_power_of_two() || bits < 8 => (format!("{inner} & {:#x}", (1u64 << bits) - 1), BIT_AND),
            _ => (format!("({}){inner}", int_name(bits, false)), UNARY),
        }
    }

    fn binary(&mut self, op: BinOp, a: ExprId, b: ExprId, width: u32) -> (String, Level) {
        use Interpretation::{Signed, Unsigned};
        let plain = |this: &mut Self, operator: &str, level| {
            let (a, b) = (this.expr(a, level), this.expr(b, level + 1));
            (format!("{a} {operator} {b}"), level)
        };
        match op {
            BinOp::Add => {
                // `x + (-5)` is printed as `x - 5`.
                if let Some(c) = self.pool.as_const(b).filter(|c| c.sign() && c.width() > 1) {
                    let (a, c) = (self.expr(a, SUM), constant(&c.neg()));
                    return (format!("{a} - {c}"), SUM);
                }
                plain(self, "+", SUM)
            }
            BinOp::Sub => plain(self, "-", SUM),
            BinOp::Mul => plain(self, "*", PRODUCT),
            BinOp::SDiv => self.infix("/", PRODUCT, a, b, Signed),
            BinOp::UDiv => self.infix("/", PRODUCT, a, b, Unsigned),
            BinOp::SRem => self.infix("%", PRODUCT, a, b, Signed),
            BinOp::URem => self.infix("%", PRODUCT, a, b, Unsigned),
            BinOp::Shl => plain(self, "<<", SHIFT),
            BinOp::LShr | BinOp::AShr => {
                let reading = if op == BinOp::AShr { Signed } else { Unsigned };
                let (a, b) = (self.read(a, reading, SHIFT), self.expr(b, SHIFT + 1));
                (format!("{a} >> {b}"), SHIFT)
            }
            BinOp::And if width == 1 => plain(self, "&&", AND),
            BinOp::Or if width == 1 => plain(self, "||", OR),
            BinOp::Xor if width == 1 => plain(self, "!=", EQUALITY),
            BinOp::And => plain(self, "&", BIT_AND),
            BinOp::Or => plain(self, "|", BIT_OR),
            BinOp::Xor => plain(self, "^", BIT_XOR),
            BinOp::Eq => self.equality("==", a, b),
            BinOp::Ult => self.relation(["<", ">"], a, b, Unsigned),
            BinOp::Ule => self.relation(["<=", ">="], a, b, Unsigned),
            BinOp::Slt => self.relation(["<", ">"], a, b, Signed),
            BinOp::Sle => self.relation(["<=", ">="], a, b, Signed),
            // A shift by a constant is a concatenation with zeros.
            BinOp::Concat => {
                let low = self.pool.width(b);
                let high = match *self.pool.get(a) {
                    Expr::Extract { lo: 0, arg, .. } if self.pool.width(arg) == width => arg,
                    _ => a,
                };
                let high = self.expr(high, SHIFT);
                if self.pool.as_const(b).is_some_and(Bv::is_zero) {
                    return (format!("{high} << {low}"), SHIFT);
                }
                (format!("({high} << {low}) | {}", self.expr(b, BIT_OR + 1)), BIT_OR)
            }
        }
    }

    /// Prints a comparison. If the constant is on the left, it swaps the operands and mirrors the operator.
    fn relation(&mut self, operators: [&str; 2], a: ExprId, b: ExprId, reading: Interpretation) -> (String, Level) {
        if self.pool.as_const(a).is_some() && self.pool.as_const(b).is_none() {
            return self.infix(operators[1], RELATION, b, a, reading);
        }
        self.infix(operators[0], RELATION, a, b, reading)
    }

    fn equality(&mut self, operator: &str, a: ExprId, b: ExprId) -> (String, Level) {
        // A constant takes the interpretation of the other operand.
        let reading = self.reading(a);
        let (a, b) = match reading {
            Interpretation::Float(_) => (self.expr(a, EQUALITY), self.expr(b, EQUALITY + 1)),
            reading => (self.expr(a, EQUALITY), self.read_constant(b, reading)),
        };
        (format!("{a} {operator} {b}"), EQUALITY)
    }
    fn read_constant(&mut self, e: ExprId, reading: Interpretation) -> String {
        match (self.pool.as_const(e), reading) {
            (Some(c), Interpretation::Unsigned) => c.to_string(),
            _ => self.expr(e, EQUALITY + 1),
        }
    }
}

#[cfg(test)]
mod tests;
