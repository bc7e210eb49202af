//! Integers of more than 64 bits in overflow checks: results of operations on two machine words, which are compared
//! with the bounds of one word.

use crate::invariant::value::Value;
use cfa::{BinOp, Expr, ExprId, ExprPool};

/// The lower and upper bound of a signed number.
type Range = (i128, i128);

/// Decides a comparison of two numbers of more than 64 bits, if possible. `of` returns the values of narrower ones.
pub fn compare(
    pool: &ExprPool,
    op: BinOp,
    (a, b): (ExprId, ExprId),
    of: &dyn Fn(ExprId) -> Option<Value>,
) -> Option<bool> {
    let (x, y) = (range(pool, a, of)?, range(pool, b, of)?);
    let holds = |holds: &dyn Fn(i128, i128) -> bool| match (holds(x.1, y.0), holds(x.0, y.1)) {
        (true, _) => Some(true),
        (_, false) => Some(false),
        _ => None,
    };
    // If neither is negative, the signed and the unsigned order agree.
    let is_signed = matches!(op, BinOp::Slt | BinOp::Sle);
    match op {
        BinOp::Slt | BinOp::Ult if is_signed || x.0.min(y.0) >= 0 => holds(&|x, y| x < y),
        BinOp::Sle | BinOp::Ule if is_signed || x.0.min(y.0) >= 0 => holds(&|x, y| x <= y),
        BinOp::Eq if x.1 < y.0 || y.1 < x.0 => Some(false),
        _ => None,
    }
}

/// The range of an expression over narrower numbers that does not wrap around.
fn range(pool: &ExprPool, e: ExprId, of: &dyn Fn(ExprId) -> Option<Value>) -> Option<Range> {
    let width = match pool.sort(e) {
        cfa::Sort::Bv(width @ 65..=128) => width,
        _ => return None,
    };
    let least = i128::MIN >> (128 - width);
    let fits = |range: &Range| least <= range.0 && range.1 <= !least;
    let narrow = |e: ExprId| of(e).filter(|v| pool.sort(e) == cfa::Sort::Bv(v.width()));
    match *pool.get(e) {
        Expr::Const(ref c) => {
            let value = c.sext(128).to_u128()? as i128;
            Some((value, value))
        }
        Expr::Sext { arg, .. } => narrow(arg).map(|v| (v.range.min.into(), v.range.max.into())),
        Expr::Zext { arg, .. } => narrow(arg).map(|v| (v.range.low.into(), v.range.high.into())),
        Expr::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => {
            let (x, y) = (range(pool, a, of)?, range(pool, b, of)?);
            let of_ends = |op: &dyn Fn(i128, i128) -> Option<i128>| {
                let ends: Option<Vec<i128>> =
                    [(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)].into_iter().map(|(x, y)| op(x, y)).collect();
                let ends = ends?;
                Some((*ends.iter().min()?, *ends.iter().max()?))
            };
            let range = match op {
                BinOp::Add => of_ends(&i128::checked_add),
                BinOp::Sub => of_ends(&i128::checked_sub),
                _ => of_ends(&i128::checked_mul),
            };
            range.filter(fits)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::Bv;
    use proptest::prelude::*;
    use smt::bounds::Bounds;

    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), 0..40u64, (0..40u64).prop_map(u64::wrapping_neg), (0..40u64).prop_map(|v| v << 58)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn what_is_seen_is_so(
            (a, b, c, d) in (number(), number(), number(), number()),
            more in 0..3u64,
            width in prop::sample::select(&[65u32, 66, 96, 127, 128][..]),
            signed in any::<bool>(),
            how in 0..3usize,
        ) {
            let mut pool = ExprPool::new();
            let known = [a, b, c, d].map(|v| {
                Value::constant(64, v).join(&Value::constant(64, v.wrapping_add(more))).join(&Value::constant(64, v.wrapping_sub(more)))
            });
            let vars: Vec<ExprId> = (0..4).map(|i| pool.var(cfa::VarId(i), 64)).collect();
            let wide: Vec<ExprId> =
                vars.iter().map(|&v| if signed { pool.sext(width, v) } else { pool.zext(width, v) }).collect();
            let op = [BinOp::Add, BinOp::Sub, BinOp::Mul][how];
            let (x, y) = (pool.binary(op, wide[0], wide[1]), pool.binary(op, wide[2], wide[3]));
            let bv = |v: u64| if signed { Bv::new(64, v).sext(width) } else { Bv::new(64, v).zext(width) };
            let (p, q) = (op.apply(&bv(a), &bv(b)), op.apply(&bv(c), &bv(d)));
            let constant = pool.constant(bv(c));
            let of = |e: ExprId| match *pool.get(e) {
                Expr::Var(v) => Some(known[v.0 as usize].clone()),
                _ => None,
            };
            for compared in [BinOp::Slt, BinOp::Sle, BinOp::Ult, BinOp::Ule, BinOp::Eq] {
                if let Some(holds) = compare(&pool, compared, (x, y), &of) {
                    prop_assert_eq!(compared.apply(&p, &q).is_true(), holds);
                }
                if let Some(holds) = compare(&pool, compared, (constant, x), &of) {
                    prop_assert_eq!(compared.apply(&bv(c), &p).is_true(), holds);
                }
            }
        }

        #[test]
        fn products_of_words_that_fit_do_not_overflow(low in -1000..1000i64, length in 0..1000i64) {
            let mut pool = ExprPool::new();
            let (index, size) = (pool.var(cfa::VarId(0), 64), pool.int(128, 16));
            let index = pool.sext(128, index);
            let product = pool.binary(BinOp::Mul, index, size);
            let most = pool.constant(Bv::from_i64(128, i64::MAX));
            let value = Bounds::signed(64, low, low + length).and_then(Value::of_range);
            prop_assert_eq!(compare(&pool, BinOp::Slt, (most, product), &|_| value.clone()), Some(false));
        }
    }
}
