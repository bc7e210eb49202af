//! The shadows of expressions: the bits of a value that may depend on uninitialised bits.
//!
//! The shadows are exact if that is cheap, as in MemorySanitizer and Memcheck (Seward, Nethercote: Using Valgrind to
//! detect undefined value errors with bit-precision, USENIX 2005): a bit of `&`, `|`, sums, differences and comparisons
//! is initialised if it does not depend on the values of the uninitialised bits. For other operations, all bits are
//! uninitialised that may depend on an uninitialised one.

use super::Cursor;
use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, Op, Program, UnOp, VarId, VarKind};
use rustc_hash::FxHashMap;

/// A larger shadow expression is stored in a variable, because it may occur several times in the shadow of a larger
/// expression.
const LARGE: usize = 6;

/// The shadows of variables. A variable without one is always initialised.
#[derive(Default)]
pub struct Shadows {
    /// The shadow variable of each variable.
    pub variables: FxHashMap<VarId, VarId>,
}

/// A value and its shadow.
#[derive(Clone, Copy)]
struct Shadowed {
    value: ExprId,
    shadow: ExprId,
}

impl Shadows {
    /// The shadow of an expression. Intermediate assignments are inserted at the cursor.
    pub fn expression(&self, program: &mut Program, at: &mut Cursor, e: ExprId) -> ExprId {
        self.shadow_within(program, at, e, &mut FxHashMap::default())
    }

    fn shadow_within(
        &self,
        p: &mut Program,
        at: &mut Cursor,
        e: ExprId,
        known: &mut FxHashMap<ExprId, ExprId>,
    ) -> ExprId {
        if let Some(&shadow) = known.get(&e) {
            return shadow;
        }
        let node = p.exprs.get(e).clone();
        let parts: Vec<Shadowed> =
            node.children().map(|value| Shadowed { value, shadow: self.shadow_within(p, at, value, known) }).collect();
        let shadow = match node {
            Expr::Var(var) => match self.variables.get(&var) {
                Some(&shadow) => p.var_expr(shadow),
                None => zeros(&mut p.exprs, e),
            },
            _ if parts.iter().all(|part| p.exprs.as_const(part.shadow).is_some_and(Bv::is_zero)) => {
                zeros(&mut p.exprs, e)
            }
            ref node => compute(&mut p.exprs, node, e, &parts),
        };
        let shadow = share(p, at, shadow);
        known.insert(e, shadow);
        shadow
    }
}

fn share(program: &mut Program, at: &mut Cursor, shadow: ExprId) -> ExprId {
    let mut nodes = 0;
    program.exprs.visit(shadow, &mut Default::default(), |_, _| nodes += 1);
    if nodes <= LARGE {
        return shadow;
    }
    let func = program.locs[at.loc].func;
    let width = program.exprs.width(shadow);
    let var = super::variable(program, width, Some(VarKind::Temp(func)));
    at.emit(program, Op::Assign { var, value: shadow });
    program.var_expr(var)
}

fn zeros(x: &mut ExprPool, e: ExprId) -> ExprId {
    let width = x.width(e);
    x.int(width, 0)
}

/// The shadow of an operation with at least one operand that may be uninitialised.
fn compute(x: &mut ExprPool, node: &Expr, e: ExprId, parts: &[Shadowed]) -> ExprId {
    match (node, parts) {
        (Expr::Unary(UnOp::Not, _), [a]) => a.shadow,
        (Expr::Unary(UnOp::Neg, _), [a]) => {
            let value = zeros(x, a.value);
            difference(x, Shadowed { value, shadow: value }, *a)
        }
        (&Expr::Binary(op, ..), &[a, b]) => binary(x, op, a, b, e),
        (Expr::Ite(..), &[c, a, b]) => {
            let chosen = x.ite(c.value, a.shadow, b.shadow);
            // If the condition is uninitialised, the bits on which both values agree are still known.
            let differ = x.xor(a.value, b.value);
            let (either, width) = (x.or(a.shadow, b.shadow), x.width(e));
            let differ = x.or(differ, either);
            let by_choice = x.sext(width, c.shadow);
            let by_choice = x.and(by_choice, differ);
            x.or(chosen, by_choice)
        }
        (&Expr::Extract { hi, lo, .. }, [a]) => x.extract(hi, lo, a.shadow),
        (&Expr::Zext { width, .. }, [a]) => x.zext(width, a.shadow),
        (&Expr::Sext { width, .. }, [a]) => x.sext(width, a.shadow),
        _ => everything(x, e, parts),
    }
}

/// All bits if any bit of an operand is uninitialised, else none.
fn everything(x: &mut ExprPool, e: ExprId, parts: &[Shadowed]) -> ExprId {
    let mut any = x.bool(false);
    for part in parts {
        let zero = zeros(x, part.shadow);
        let some = x.ne(part.shadow, zero);
        any = x.or(any, some);
    }
    let width = x.width(e);
    x.sext(width, any)
}

fn binary(x: &mut ExprPool, op: BinOp, a: Shadowed, b: Shadowed, e: ExprId) -> ExprId {
    let both = |x: &mut ExprPool| x.or(a.shadow, b.shadow);
    match op {
        BinOp::And => {
            // The result is 0 if the bit of one operand is 0.
            let (ones_a, ones_b) = (x.or(a.value, a.shadow), x.or(b.value, b.shadow));
            let (both, maybe) = (both(x), x.and(ones_a, ones_b));
            x.and(both, maybe)
        }
        BinOp::Or => {
            let (not_a, not_b) = (x.not(a.value), x.not(b.value));
            let (zeros_a, zeros_b) = (x.or(not_a, a.shadow), x.or(not_b, b.shadow));
            let (both, maybe) = (both(x), x.and(zeros_a, zeros_b));
            x.and(both, maybe)
        }
        BinOp::Xor => both(x),
        BinOp::Concat => x.concat(a.shadow, b.shadow),
        BinOp::Add => {
            let ([low_a, high_a], [low_b, high_b]) = (bounds(x, a), bounds(x, b));
            let (low, high) = (x.add(low_a, low_b), x.add(high_a, high_b));
            let (carries, both) = (x.xor(low, high), both(x));
            x.or(carries, both)
        }
        BinOp::Sub => difference(x, a, b),
        BinOp::Mul => {
            // A bit of the product depends on the bits of both operands that are not above it. A constant factor with
            // trailing zeros shifts the dependence up.
            let moved = [a, b].into_iter().filter_map(|o| x.as_const(o.value)?.to_u64()).map(u64::trailing_zeros).max();
            let width = x.width(e);
            let by = x.int(width, u64::from(moved.unwrap_or(0).min(width - 1)));
            let both = both(x);
            let both = x.binary(BinOp::Shl, both, by);
            let negated = x.neg(both);
            x.or(both, negated)
        }
        BinOp::Shl | BinOp::LShr | BinOp::AShr => {
            let moved = x.binary(op, a.shadow, b.value);
            let by_amount = everything(x, e, &[b]);
            x.or(moved, by_amount)
        }
        BinOp::Eq => {
            // If a known bit differs, the operands are not equal.
            let both = both(x);
            let (known, differ, zero) = (x.not(both), x.xor(a.value, b.value), zeros(x, both));
            let differ = x.and(differ, known);
            let (undecided, some) = (x.eq(differ, zero), x.ne(both, zero));
            x.and(undecided, some)
        }
        BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle => {
            let is_signed = matches!(op, BinOp::Slt | BinOp::Sle);
            let ([low_a, high_a], [low_b, high_b]) =
                if is_signed { (signed_bounds(x, a), signed_bounds(x, b)) } else { (bounds(x, a), bounds(x, b)) };
            let (surely, maybe) = (x.binary(op, high_a, low_b), x.binary(op, low_a, high_b));
            x.xor(surely, maybe)
        }
        BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem => everything(x, e, &[a, b]),
    }
}

fn difference(x: &mut ExprPool, a: Shadowed, b: Shadowed) -> ExprId {
    let ([low_a, high_a], [low_b, high_b]) = (bounds(x, a), bounds(x, b));
    let (low, high) = (x.sub(low_a, high_b), x.sub(high_a, low_b));
    let (borrows, either) = (x.xor(low, high), x.or(a.shadow, b.shadow));
    x.or(borrows, either)
}

/// The least and the greatest unsigned value over all values of the uninitialised bits.
fn bounds(x: &mut ExprPool, a: Shadowed) -> [ExprId; 2] {
    let known = x.not(a.shadow);
    [x.and(a.value, known), x.or(a.value, a.shadow)]
}

/// The least and the greatest signed value over all values of the uninitialised bits. Flipping the sign bit maps the
/// signed order to the unsigned order.
fn signed_bounds(x: &mut ExprPool, a: Shadowed) -> [ExprId; 2] {
    let width = x.width(a.value);
    let sign = x.constant(Bv::min_signed(width));
    let value = x.xor(a.value, sign);
    bounds(x, Shadowed { value, shadow: a.shadow }).map(|bound| x.xor(bound, sign))
}

#[cfg(test)]
mod tests;
