//! Simplification of extracts, extensions, and array operations.

use super::*;

pub(super) fn simplify_extract(pool: &mut ExprPool, hi: u32, lo: u32, arg: ExprId) -> Option<ExprId> {
    let width = pool.width(arg);
    if lo == 0 && hi + 1 == width {
        return Some(arg);
    }
    match *pool.get(arg) {
        Expr::Extract { lo: base, arg: x, .. } => Some(pool.extract(hi + base, lo + base, x)),
        Expr::Binary(Concat, x, y) => {
            let split = pool.width(y);
            if lo >= split {
                Some(pool.extract(hi - split, lo - split, x))
            } else if hi < split {
                Some(pool.extract(hi, lo, y))
            } else {
                let high = pool.extract(hi - split, 0, x);
                let low = pool.extract(split - 1, lo, y);
                Some(pool.concat(high, low))
            }
        }
        Expr::Zext { arg: x, .. } => {
            let narrow = pool.width(x);
            if lo >= narrow {
                Some(pool.int(hi - lo + 1, 0))
            } else if hi < narrow {
                Some(pool.extract(hi, lo, x))
            } else {
                let low = pool.extract(narrow - 1, lo, x);
                Some(pool.zext(hi - lo + 1, low))
            }
        }
        Expr::Sext { arg: x, .. } => {
            let narrow = pool.width(x);
            if hi < narrow {
                Some(pool.extract(hi, lo, x))
            } else if lo < narrow {
                let low = pool.extract(narrow - 1, lo, x);
                Some(pool.sext(hi - lo + 1, low))
            } else {
                None
            }
        }
        // Narrows bitwise operations, and from bit 0 also sums and products.
        Expr::Binary(op @ (And | Or | Xor), x, y) if pool.as_const(x).is_some() || pool.as_const(y).is_some() => {
            let (x, y) = (pool.extract(hi, lo, x), pool.extract(hi, lo, y));
            Some(pool.binary(op, x, y))
        }
        Expr::Binary(op @ (Add | Sub | Mul), x, y) if lo == 0 && narrows(pool, hi, x) && narrows(pool, hi, y) => {
            let (x, y) = (pool.extract(hi, 0, x), pool.extract(hi, 0, y));
            Some(pool.binary(op, x, y))
        }
        Expr::Ite(c, t, e) if pool.as_const(t).is_some() || pool.as_const(e).is_some() => {
            let (t, e) = (pool.extract(hi, lo, t), pool.extract(hi, lo, e));
            Some(pool.ite(c, t, e))
        }
        _ => None,
    }
}

/// True if the extract of the bits `hi..=0` of `e` is a simpler term.
pub(super) fn narrows(pool: &ExprPool, hi: u32, e: ExprId) -> bool {
    match *pool.get(e) {
        Expr::Const(_) => true,
        Expr::Zext { arg, .. } | Expr::Sext { arg, .. } => hi < pool.width(arg) || pool.width(arg) == hi + 1,
        _ => false,
    }
}

pub(super) fn simplify_zext(pool: &mut ExprPool, width: u32, arg: ExprId) -> Option<ExprId> {
    match *pool.get(arg) {
        _ if pool.width(arg) == width => Some(arg),
        Expr::Zext { arg: x, .. } => Some(pool.zext(width, x)),
        _ => None,
    }
}

pub(super) fn simplify_sext(pool: &mut ExprPool, width: u32, arg: ExprId) -> Option<ExprId> {
    match *pool.get(arg) {
        _ if pool.width(arg) == width => Some(arg),
        Expr::Sext { arg: x, .. } => Some(pool.sext(width, x)),
        // The sign bit of a proper zero extension is 0.
        Expr::Zext { arg: x, .. } => Some(pool.zext(width, x)),
        _ => None,
    }
}

pub(super) fn simplify_select(pool: &mut ExprPool, array: ExprId, index: ExprId) -> Option<ExprId> {
    match *pool.get(array) {
        Expr::ConstArray { value, .. } => Some(value),
        Expr::Store { array: inner, index: at, value } => {
            if at == index {
                Some(value)
            } else if definitely_differ(pool, at, index) {
                Some(pool.select(inner, index))
            } else {
                None
            }
        }
        _ => None,
    }
}

pub(super) fn simplify_store(pool: &mut ExprPool, array: ExprId, index: ExprId, value: ExprId) -> Option<ExprId> {
    match *pool.get(array) {
        Expr::Store { array: inner, index: at, .. } if at == index => Some(pool.store(inner, index, value)),
        Expr::ConstArray { value: v, .. } if v == value => Some(array),
        _ => None,
    }
}

/// True if two indices differ by structure: distinct constants, or the same base plus distinct constants.
pub(super) fn definitely_differ(pool: &mut ExprPool, a: ExprId, b: ExprId) -> bool {
    let eq = pool.eq(a, b);
    pool.is_false(eq)
}
