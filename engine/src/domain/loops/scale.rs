//! A scaled-down program with small constants instead of large ones.
//!
//! Loops over a million cells take too long for runs to observe what follows them. The relations at a loop head seldom
//! depend on the number. So runs of the same program with, say, 16 for 1,000,000 and 64 for 4,000,000 show them as
//! well. These runs are no executions of the program. They need not be, because the candidates derived from them are
//! checked.

use cfa::{Bv, Expr, ExprId, ExprPool, Op, Program, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// The range of constants that are large, and may be sizes or bounds.
const LARGE: std::ops::Range<u64> = 512..1 << 26;
/// The replacement of the smallest large constant.
const SMALL: u64 = 16;
/// Maximal distance of a constant from a multiple of the smallest large one. [`MULTIPLES`] is the largest factor.
const NEAR: u64 = 8;
const MULTIPLES: u64 = 16;

/// The program with scaled constants. `None` if no condition or initial value has a large one.
pub fn scaled(program: &Program) -> Option<Program> {
    let mut seen = FxHashSet::default();
    let mut base: Option<u64> = None;
    let mut consider = |e: ExprId| {
        program.exprs.visit(e, &mut seen, |part, _| {
            if let Some(c) = large(&program.exprs, part) {
                base = Some(base.map_or(c, |b| b.min(c)));
            }
        });
    };
    for edge in program.edges.values() {
        if let Op::Assume { cond, .. } = edge.op {
            consider(cond);
        }
    }
    for var in program.vars.values() {
        if let VarKind::Global { init: Some(init), .. } = var.kind {
            consider(init);
        }
    }
    let base = base?;
    let mut small = program.clone();
    let (pool, mut memo) = (&mut small.exprs, FxHashMap::default());
    let mut replace = |e: &mut ExprId| {
        *e = pool.substitute(*e, &mut memo, |pool, leaf| {
            let value = shrunk(large(pool, leaf)?, base)?;
            let width = pool.width(leaf);
            Some(pool.int(width, value))
        });
    };
    for edge in program.edges.ids() {
        small.edges[edge].op.for_each_expr_mut(&mut replace);
    }
    for var in program.vars.ids() {
        if let VarKind::Global { init: Some(init), .. } = &mut small.vars[var].kind {
            replace(init);
        }
    }
    Some(small)
}

fn large(pool: &ExprPool, e: ExprId) -> Option<u64> {
    match pool.get(e) {
        Expr::Const(c) if matches!(c.width(), 32 | 64) => Bv::to_u64(c).filter(|c| LARGE.contains(c)),
        _ => None,
    }
}

fn shrunk(c: u64, base: u64) -> Option<u64> {
    let multiple = (c + base / 2) / base;
    let near = (multiple * base).abs_diff(c) <= NEAR && (1..=MULTIPLES).contains(&multiple);
    near.then(|| (multiple * SMALL + c).saturating_sub(multiple * base))
}

#[cfg(test)]
mod tests {
    use super::shrunk;

    #[test]
    fn multiples_stay_multiples() {
        assert_eq!(shrunk(1_000_000, 1_000_000), Some(16));
        assert_eq!(shrunk(999_999, 1_000_000), Some(15));
        assert_eq!(shrunk(4_000_000, 1_000_000), Some(64));
        // The base is 99,999.
        assert_eq!(shrunk(100_000, 99_999), Some(17));
        assert_eq!(shrunk(400_000, 99_999), Some(4 * 17));
        assert_eq!(shrunk(123_456, 100_000), None);
    }
}
