//! Simplification on construction: constant folding and cheap local rules.
//!
//! A rule inspects a node, its children, and sometimes their children. It never searches. Canonical forms:
//!
//! 1. A commutative operation has a constant on the right, else the smaller id on the left.
//! 2. `a - c` is `a + (-c)`. Constants in nested sums are collected: `(a + c1) + c2` is `a + c`.
//! 3. There is no negated constant, no double negation, and no comparison of equal operands.
//! 4. If the rounding mode cannot affect the result, it is [`Rounding::Nearest`].
//! 5. `Extract` is pushed towards the leaves through `Concat`, `Zext` and `Extract`. Adjacent extracts of one value are
//!    joined. A value that was written to memory byte by byte is therefore read back as the same term.
//!
//! Every rule is tested against the evaluator on random expressions (`tests/expr_properties.rs`).

mod parts;
mod ranges;

use super::eval::apply;
use super::{BinOp, Expr, ExprId, ExprPool, Sort, UnOp};
use crate::bv::Bv;
use crate::float::Rounding;
use BinOp::*;
use parts::*;
use ranges::compare_by_size;

/// The maximal nesting depth of rule applications. At this depth a node is stored without simplification. The limit
/// bounds the stack for rules that push an operation down an arbitrarily long chain.
const MAX_NESTING: u32 = 200;

/// Interns a simplified form of `node`, whose sort is `sort`.
pub(super) fn simplified(pool: &mut ExprPool, node: Expr, sort: Sort) -> ExprId {
    if let Some(value) = fold(pool, &node) {
        return pool.constant(value);
    }
    if pool.simplifying == MAX_NESTING {
        return pool.intern(node, sort);
    }
    pool.simplifying += 1;
    let simpler = match node {
        Expr::Unary(op, a) => simplify_unary(pool, op, a),
        Expr::Binary(op, a, b) => Some(simplify_binary(pool, op, a, b, sort)),
        Expr::Ite(c, t, e) => simplify_ite(pool, c, t, e),
        Expr::Extract { hi, lo, arg } => simplify_extract(pool, hi, lo, arg),
        Expr::Zext { width, arg } => simplify_zext(pool, width, arg),
        Expr::Sext { width, arg } => simplify_sext(pool, width, arg),
        Expr::Select { array, index } => simplify_select(pool, array, index),
        Expr::Store { array, index, value } => simplify_store(pool, array, index, value),
        Expr::FConvert { from, to, arg, .. } if from == to => Some(arg),
        Expr::FConvert { rounding, from, to, arg } if rounding != Rounding::Nearest && from.embeds_into(to) => {
            Some(pool.f_convert(Rounding::Nearest, from, to, arg))
        }
        Expr::IntToF { rounding, to, signed, arg }
            if rounding != Rounding::Nearest && to.has_integers(signed, pool.width(arg)) =>
        {
            Some(pool.int_to_f(Rounding::Nearest, to, signed, arg))
        }
        _ => None,
    };
    pool.simplifying -= 1;
    simpler.unwrap_or_else(|| pool.intern(node, sort))
}

fn fold(pool: &ExprPool, node: &Expr) -> Option<Bv> {
    let mut values: [Option<&Bv>; 3] = [None; 3];
    for (slot, child) in values.iter_mut().zip(node.children()) {
        *slot = Some(pool.as_const(child)?);
    }
    let values = match values {
        [Some(a), None, None] => &[a][..],
        [Some(a), Some(b), None] => &[a, b],
        [Some(a), Some(b), Some(c)] => &[a, b, c],
        _ => return None,
    };
    apply(node, values)
}

fn simplify_unary(pool: &mut ExprPool, op: UnOp, a: ExprId) -> Option<ExprId> {
    match (op, pool.get(a)) {
        (UnOp::Not, &Expr::Unary(UnOp::Not, x)) | (UnOp::Neg, &Expr::Unary(UnOp::Neg, x)) => Some(x),
        // not (x <= y) is y < x, so a branch condition and its negation are both single comparisons.
        (UnOp::Not, &Expr::Binary(Ule, x, y)) => Some(pool.binary(Ult, y, x)),
        (UnOp::Not, &Expr::Binary(Sle, x, y)) => Some(pool.binary(Slt, y, x)),
        (UnOp::Not, &Expr::Binary(Ult, x, y)) => Some(pool.binary(Ule, y, x)),
        (UnOp::Not, &Expr::Binary(Slt, x, y)) => Some(pool.binary(Sle, y, x)),
        (UnOp::Neg, &Expr::Binary(Sub, x, y)) => Some(pool.binary(Sub, y, x)),
        (UnOp::Neg, &Expr::Binary(Add, x, c)) => {
            let c = pool.as_const(c)?.neg();
            let c = pool.constant(c);
            Some(pool.binary(Sub, c, x))
        }
        (UnOp::Neg, _) if pool.width(a) == 1 => Some(a),
        _ => None,
    }
}

fn simplify_binary(pool: &mut ExprPool, op: BinOp, a: ExprId, b: ExprId, sort: Sort) -> ExprId {
    let (a, b) = if op.is_commutative() && should_swap(pool, a, b) { (b, a) } else { (a, b) };
    let width = pool.width(a);
    let simpler = if a == b { simplify_equal_operands(pool, op, a, width) } else { None }
        .or_else(|| pool.as_const(b).cloned().and_then(|c| simplify_const_right(pool, op, a, b, &c, width)))
        .or_else(|| pool.as_const(a).cloned().and_then(|c| simplify_const_left(pool, op, &c, b, width)))
        .or_else(|| simplify_general(pool, op, a, b, width));
    simpler.unwrap_or_else(|| pool.intern(Expr::Binary(op, a, b), sort))
}

fn should_swap(pool: &ExprPool, a: ExprId, b: ExprId) -> bool {
    match (pool.as_const(a).is_some(), pool.as_const(b).is_some()) {
        (true, false) => true,
        (false, true) => false,
        _ => b < a,
    }
}

fn simplify_equal_operands(pool: &mut ExprPool, op: BinOp, a: ExprId, width: u32) -> Option<ExprId> {
    Some(match op {
        Sub | Xor => pool.int(width, 0),
        And | Or => a,
        Eq | Ule | Sle => pool.bool(true),
        Ult | Slt => pool.bool(false),
        _ => return None,
    })
}

/// `a op c`, where `b` is the expression of the constant `c`.
fn simplify_const_right(pool: &mut ExprPool, op: BinOp, a: ExprId, b: ExprId, c: &Bv, width: u32) -> Option<ExprId> {
    match op {
        Add | Sub | Or | Xor | Shl | LShr | AShr if c.is_zero() => Some(a),
        And | Mul if c.is_zero() => Some(b),
        Mul | UDiv | SDiv if c.is_one() && !(op == SDiv && width == 1) => Some(a),
        URem if c.is_one() => Some(pool.int(width, 0)),
        And if c.is_ones() => Some(a),
        Or if c.is_ones() => Some(b),
        Xor if c.is_ones() => Some(pool.not(a)),
        Add | Sub | Mul | UDiv | URem => arithmetic_const_right(pool, op, a, c, width),
        And | Or | Xor | Shl | LShr | Concat => bits_const_right(pool, op, a, c, width),
        Eq | Ult | Ule | Slt | Sle => compare_const_right(pool, op, a, b, c, width),
        SDiv | SRem | AShr => None,
    }
}

fn arithmetic_const_right(pool: &mut ExprPool, op: BinOp, a: ExprId, c: &Bv, width: u32) -> Option<ExprId> {
    let node = pool.get(a).clone();
    match op {
        Sub => {
            let negated = pool.constant(c.neg());
            Some(pool.add(a, negated))
        }
        Add => match node {
            Expr::Binary(Add, x, k) => {
                let sum = pool.as_const(k)?.add(c);
                let sum = pool.constant(sum);
                Some(pool.add(x, sum))
            }
            Expr::Binary(Sub, k, x) => {
                let sum = pool.as_const(k)?.add(c);
                let sum = pool.constant(sum);
                Some(pool.sub(sum, x))
            }
            _ => None,
        },
        Mul if c.is_ones() => Some(pool.neg(a)),
        Mul => match node {
            Expr::Binary(Mul, x, k) => {
                let product = pool.as_const(k)?.mul(c);
                let product = pool.constant(product);
                Some(pool.mul(x, product))
            }
            _ => None,
        },
        UDiv => {
            let shift = c.log2_exact()?;
            let shift = pool.int(width, u64::from(shift));
            Some(pool.binary(LShr, a, shift))
        }
        URem => {
            let mask = c.log2_exact().map(|_| c.sub(&Bv::one(width)))?;
            let mask = pool.constant(mask);
            Some(pool.and(a, mask))
        }
        _ => None,
    }
}

fn bits_const_right(pool: &mut ExprPool, op: BinOp, a: ExprId, c: &Bv, width: u32) -> Option<ExprId> {
    let node = pool.get(a).clone();
    match op {
        Shl | LShr if c.to_u64().is_none_or(|s| s >= u64::from(width)) => Some(pool.int(width, 0)),
        LShr => {
            // The high bits as extract and extension: these combine with other rules better than shifts.
            let shift = c.to_u64()? as u32;
            let high = pool.extract(width - 1, shift, a);
            Some(pool.zext(width, high))
        }
        Shl => {
            let shift = c.to_u64()? as u32;
            let low = pool.extract(width - 1 - shift, 0, a);
            let zeros = pool.int(shift, 0);
            Some(pool.concat(low, zeros))
        }
        And => match node {
            Expr::Binary(And, x, k) => {
                let both = pool.as_const(k)? & c;
                let both = pool.constant(both);
                Some(pool.and(x, both))
            }
            _ => {
                // A mask of low bits is an extension of an extract.
                let bits = c.add(&Bv::one(width)).log2_exact()?;
                let low = pool.extract(bits - 1, 0, a);
                Some(pool.zext(width, low))
            }
        },
        Or | Xor => match node {
            Expr::Binary(inner, x, k) if inner == op => {
                let both = op.apply(pool.as_const(k)?, c);
                let both = pool.constant(both);
                Some(pool.binary(op, x, both))
            }
            _ => None,
        },
        Concat => match node {
            // (x ++ k) ++ c
            Expr::Binary(Concat, x, k) => {
                let low = pool.as_const(k)?.concat(c);
                let low = pool.constant(low);
                Some(pool.concat(x, low))
            }
            _ => None,
        },
        _ => None,
    }
}

fn compare_const_right(pool: &mut ExprPool, op: BinOp, a: ExprId, b: ExprId, c: &Bv, width: u32) -> Option<ExprId> {
    let node = pool.get(a).clone();
    match op {
        Eq if width == 1 => Some(if c.is_one() { a } else { pool.not(a) }),
        Eq => simplify_eq_const(pool, &node, c, width),
        Ult if c.is_zero() => Some(pool.bool(false)),
        Ult if c.is_one() => {
            let zero = pool.int(width, 0);
            Some(pool.eq(a, zero))
        }
        Ule if c.is_ones() => Some(pool.bool(true)),
        Ule if c.is_zero() => Some(pool.eq(a, b)),
        Slt if *c == Bv::min_signed(width) => Some(pool.bool(false)),
        Sle if *c == Bv::min_signed(width).not() => Some(pool.bool(true)),
        Ult | Ule | Slt | Sle => {
            compare_extended(pool, op, &node, c, false).or_else(|| compare_by_size(pool, op, a, c, false))
        }
        _ => None,
    }
}

/// `c op b`, for operations that do not commute.
fn simplify_const_left(pool: &mut ExprPool, op: BinOp, c: &Bv, b: ExprId, width: u32) -> Option<ExprId> {
    let node = pool.get(b).clone();
    match op {
        Sub if c.is_zero() => Some(pool.neg(b)),
        Sub => match node {
            // c - (x + k)
            Expr::Binary(Add, x, k) => {
                let difference = c.sub(pool.as_const(k)?);
                let difference = pool.constant(difference);
                Some(pool.sub(difference, x))
            }
            _ => None,
        },
        Shl | LShr if c.is_zero() => Some(pool.int(width, 0)),
        Ult if c.is_ones() => Some(pool.bool(false)),
        Ult if c.is_zero() => {
            let zero = pool.int(width, 0);
            Some(pool.ne(b, zero))
        }
        Ule if c.is_zero() => Some(pool.bool(true)),
        Slt if *c == Bv::min_signed(width).not() => Some(pool.bool(false)),
        Sle if *c == Bv::min_signed(width) => Some(pool.bool(true)),
        Ult | Ule | Slt | Sle => {
            compare_extended(pool, op, &node, c, true).or_else(|| compare_by_size(pool, op, b, c, true))
        }
        Concat if c.is_zero() => Some(pool.zext(width + pool.width(b), b)),
        Concat => match node {
            Expr::Binary(Concat, k, x) => {
                let high = c.concat(pool.as_const(k)?);
                let high = pool.constant(high);
                Some(pool.concat(high, x))
            }
            _ => None,
        },
        _ => None,
    }
}

/// `node == c` on `width` bits.
fn simplify_eq_const(pool: &mut ExprPool, node: &Expr, c: &Bv, width: u32) -> Option<ExprId> {
    match *node {
        Expr::Binary(Add, x, k) => {
            let value = c.sub(pool.as_const(k)?);
            let value = pool.constant(value);
            Some(pool.eq(x, value))
        }
        Expr::Binary(Sub, x, y) => {
            if let Some(k) = pool.as_const(x) {
                let value = k.sub(c);
                let value = pool.constant(value);
                Some(pool.eq(y, value))
            } else if c.is_zero() {
                Some(pool.eq(x, y))
            } else {
                None
            }
        }
        Expr::Binary(Xor, x, y) => {
            if let Some(k) = pool.as_const(y) {
                let value = k ^ c;
                let value = pool.constant(value);
                Some(pool.eq(x, value))
            } else if c.is_zero() {
                Some(pool.eq(x, y))
            } else {
                None
            }
        }
        Expr::Unary(op, x) => {
            let value = match op {
                UnOp::Not => c.not(),
                UnOp::Neg => c.neg(),
            };
            let value = pool.constant(value);
            Some(pool.eq(x, value))
        }
        Expr::Zext { arg, .. } | Expr::Sext { arg, .. } => {
            let narrow = pool.width(arg);
            let low = c.extract(narrow - 1, 0);
            let back = if matches!(node, Expr::Zext { .. }) { low.zext(width) } else { low.sext(width) };
            if back == *c {
                let low = pool.constant(low);
                Some(pool.eq(arg, low))
            } else {
                Some(pool.bool(false))
            }
        }
        Expr::Binary(Concat, x, y) => {
            // Only if one half is constant, so that the rule does not grow terms.
            let split = pool.width(y);
            let (high, low) = (c.extract(width - 1, split), c.extract(split - 1, 0));
            if let Some(k) = pool.as_const(y) {
                if *k != low {
                    return Some(pool.bool(false));
                }
                let high = pool.constant(high);
                Some(pool.eq(x, high))
            } else if let Some(k) = pool.as_const(x) {
                if *k != high {
                    return Some(pool.bool(false));
                }
                let low = pool.constant(low);
                Some(pool.eq(y, low))
            } else {
                None
            }
        }
        Expr::Ite(condition, t, e) => {
            let (t, e) = (pool.as_const(t)?, pool.as_const(e)?);
            Some(match (t == c, e == c) {
                (true, true) => pool.bool(true),
                (true, false) => condition,
                (false, true) => pool.not(condition),
                (false, false) => pool.bool(false),
            })
        }
        _ => None,
    }
}

/// Narrows a comparison of an extended value with a constant `c`. If `const_left`, the constant is the left operand.
fn compare_extended(pool: &mut ExprPool, op: BinOp, node: &Expr, c: &Bv, const_left: bool) -> Option<ExprId> {
    let (arg, signed) = match *node {
        Expr::Zext { arg, .. } => (arg, false),
        Expr::Sext { arg, .. } => (arg, true),
        _ => return None,
    };
    let narrow = pool.width(arg);
    let low = c.extract(narrow - 1, 0);
    let (fits, op) = if signed {
        // On sign-extended values, the signed and the unsigned order both agree with the narrow order.
        (low.sext(c.width()) == *c, op)
    } else {
        let unsigned = match op {
            Slt => Ult,
            Sle => Ule,
            other => other,
        };
        (low.zext(c.width()) == *c, unsigned)
    };
    if fits {
        let low = pool.constant(low);
        return Some(if const_left { pool.binary(op, low, arg) } else { pool.binary(op, arg, low) });
    }
    None
}

fn simplify_general(pool: &mut ExprPool, op: BinOp, a: ExprId, b: ExprId, width: u32) -> Option<ExprId> {
    let (x, y) = (pool.get(a).clone(), pool.get(b).clone());
    match (op, x, y) {
        // Keep the constant of a sum outermost.
        (Add, Expr::Binary(Add, x, k), _) if pool.as_const(k).is_some() => {
            let sum = pool.add(x, b);
            Some(pool.add(sum, k))
        }
        (Add, _, Expr::Binary(Add, y, k)) if pool.as_const(k).is_some() => {
            let sum = pool.add(a, y);
            Some(pool.add(sum, k))
        }
        (Add, Expr::Binary(Sub, x, y), _) if y == b => Some(x),
        (Add, _, Expr::Binary(Sub, x, y)) if y == a => Some(x),
        (Add, Expr::Unary(UnOp::Neg, x), _) => Some(pool.sub(b, x)),
        (Add, _, Expr::Unary(UnOp::Neg, y)) => Some(pool.sub(a, y)),
        (Sub, _, Expr::Unary(UnOp::Neg, y)) => Some(pool.add(a, y)),
        (Sub, Expr::Binary(Add, x, k), _) if pool.as_const(k).is_some() => {
            let difference = pool.sub(x, b);
            Some(pool.add(difference, k))
        }
        (Sub, _, Expr::Binary(Add, y, k)) if pool.as_const(k).is_some() => {
            let difference = pool.sub(a, y);
            Some(pool.sub(difference, k))
        }
        (Sub, Expr::Binary(Add, x, y), _) if x == b => Some(y),
        (Sub, Expr::Binary(Add, x, y), _) if y == b => Some(x),
        (And, Expr::Unary(UnOp::Not, x), _) if x == b => Some(pool.int(width, 0)),
        (And, _, Expr::Unary(UnOp::Not, y)) if y == a => Some(pool.int(width, 0)),
        (Or, Expr::Unary(UnOp::Not, x), _) if x == b => Some(pool.constant(Bv::ones(width))),
        (Or, _, Expr::Unary(UnOp::Not, y)) if y == a => Some(pool.constant(Bv::ones(width))),
        (And, Expr::Binary(And, x, y), _) if x == b || y == b => Some(a),
        (And, _, Expr::Binary(And, x, y)) if x == a || y == a => Some(b),
        (Or, Expr::Binary(Or, x, y), _) if x == b || y == b => Some(a),
        (Or, _, Expr::Binary(Or, x, y)) if x == a || y == a => Some(b),
        (Eq, Expr::Binary(Add, x, k), Expr::Binary(Add, y, l)) if k == l => Some(pool.eq(x, y)),
        // An operand that contains the other has the greater id, so it is on the right.
        (Eq, _, Expr::Binary(Add, x, y)) if x == a || y == a => {
            let other = if x == a { y } else { x };
            let zero = pool.int(width, 0);
            Some(pool.eq(other, zero))
        }
        (Eq, Expr::Zext { arg: x, .. }, Expr::Zext { arg: y, .. })
        | (Eq, Expr::Sext { arg: x, .. }, Expr::Sext { arg: y, .. })
            if pool.width(x) == pool.width(y) =>
        {
            Some(pool.eq(x, y))
        }
        (Ult | Ule | Slt | Sle, Expr::Zext { arg: x, .. }, Expr::Zext { arg: y, .. })
            if pool.width(x) == pool.width(y) =>
        {
            let unsigned = if matches!(op, Slt | Ult) { Ult } else { Ule };
            Some(pool.binary(unsigned, x, y))
        }
        (Ult | Ule | Slt | Sle, Expr::Sext { arg: x, .. }, Expr::Sext { arg: y, .. })
            if pool.width(x) == pool.width(y) =>
        {
            Some(pool.binary(op, x, y))
        }
        // Joins adjacent parts of one value, and extensions of the low part.
        (Concat, Expr::Extract { hi, lo, arg: x }, Expr::Extract { hi: hi2, lo: lo2, arg: y })
            if x == y && lo == hi2 + 1 =>
        {
            Some(pool.extract(hi, lo2, x))
        }
        (Concat, Expr::Extract { hi, lo, arg: x }, Expr::Binary(Concat, y, z)) => match *pool.get(y) {
            Expr::Extract { hi: hi2, lo: lo2, arg } if arg == x && lo == hi2 + 1 => {
                let joined = pool.extract(hi, lo2, x);
                Some(pool.concat(joined, z))
            }
            _ => None,
        },
        (Concat, Expr::Binary(Concat, z, x), Expr::Extract { hi: hi2, lo: lo2, arg }) => match *pool.get(x) {
            Expr::Extract { hi, lo, arg: x } if arg == x && lo == hi2 + 1 => {
                let joined = pool.extract(hi, lo2, x);
                Some(pool.concat(z, joined))
            }
            _ => None,
        },
        (Concat, Expr::Zext { arg, .. }, _) => {
            let inner = pool.concat(arg, b);
            Some(pool.zext(width + pool.width(b), inner))
        }
        _ => None,
    }
}

fn simplify_ite(pool: &mut ExprPool, c: ExprId, t: ExprId, e: ExprId) -> Option<ExprId> {
    if let Some(c) = pool.as_const(c) {
        return Some(if c.is_true() { t } else { e });
    }
    if t == e {
        return Some(t);
    }
    if let &Expr::Unary(UnOp::Not, negated) = pool.get(c) {
        return Some(pool.ite(negated, e, t));
    }
    if pool.sort(t) == Sort::Bv(1) {
        match (pool.as_const(t).map(Bv::is_true), pool.as_const(e).map(Bv::is_true)) {
            (Some(true), Some(false)) => return Some(c),
            (Some(false), Some(true)) => return Some(pool.not(c)),
            (Some(true), None) => return Some(pool.or(c, e)),
            (None, Some(false)) => return Some(pool.and(c, t)),
            (Some(false), None) => {
                let n = pool.not(c);
                return Some(pool.and(n, e));
            }
            (None, Some(true)) => {
                let n = pool.not(c);
                return Some(pool.or(n, t));
            }
            _ => {}
        }
    }
    match (pool.get(t), pool.get(e)) {
        (&Expr::Ite(c2, x, _), _) if c2 == c => Some(pool.ite(c, x, e)),
        (_, &Expr::Ite(c2, _, y)) if c2 == c => Some(pool.ite(c, t, y)),
        _ => None,
    }
}
