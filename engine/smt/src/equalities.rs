//! The leaves whose values a set of conjuncts determines.

use super::facts::Facts;
use super::independence::{Leaves, is_free};
use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, FCmp, FloatFormat, UnOp, float};
use rustc_hash::FxHashMap;

/// The number of passes over the set: later members may bound terms of earlier ones.
const PASSES: u32 = 2;

/// The number of rounds in which rewriting may yield new equalities.
const ROUNDS: u32 = 4;

/// The conjuncts `leaf = constant` of a set, and the other conjuncts, rewritten with these.
pub(super) struct Equalities {
    /// The value of each leaf, with the member of the set that implies it.
    pub values: FxHashMap<ExprId, (Bv, ExprId)>,
    /// The other members: rewritten and original.
    pub rest: Vec<(ExprId, ExprId)>,
    /// True if some value follows from several members. For example, the last iteration of a bounded loop determines
    /// the bound.
    pub has_pinned: bool,
}

impl Equalities {
    /// Finds the equalities of `set` and rewrites the other members.
    pub fn find(pool: &mut ExprPool, leaves: &mut Leaves, set: &[ExprId]) -> Self {
        let rest = set.iter().map(|e| (*e, *e)).collect();
        let mut found = Self { values: FxHashMap::default(), rest, has_pinned: false };
        for _ in 0..ROUNDS {
            let known = found.values.len();
            let Self { values, rest, .. } = &mut found;
            rest.retain(|&(now, origin)| match equality(pool, now) {
                // If two members contradict one another, the second remains and becomes false.
                Some((leaf, value)) if !values.contains_key(&leaf) => {
                    values.insert(leaf, (value, origin));
                    false
                }
                _ => true,
            });
            if found.values.len() == known && (found.has_pinned || !found.pin(pool, leaves)) {
                break;
            }
            let mut memo = FxHashMap::default();
            for (now, _) in &mut found.rest {
                let values = &found.values;
                *now = pool.substitute(*now, &mut memo, |pool, leaf| {
                    values.get(&leaf).map(|(value, _)| pool.constant(value.clone()))
                });
            }
        }
        found
    }

    /// Adds the leaves that the ranges implied by all members restrict to one value.
    fn pin(&mut self, pool: &ExprPool, leaves: &mut Leaves) -> bool {
        let mut facts = Facts::default();
        for _ in 0..PASSES {
            if self.rest.iter().any(|(now, _)| facts.assume(pool, *now).is_err()) {
                return false;
            }
        }
        let before = self.values.len();
        for &(now, origin) in &self.rest {
            for &leaf in leaves.free_leaves(pool, now).iter() {
                if let Some(range) = facts.known(leaf)
                    && let Some(value) = range.as_constant()
                {
                    self.values.entry(leaf).or_insert_with(|| (Bv::new(range.width, value), origin));
                }
            }
        }
        self.has_pinned = self.values.len() > before;
        self.has_pinned
    }
}

/// The leaf and the constant, if `e` is such an equality.
fn equality(pool: &ExprPool, e: ExprId) -> Option<(ExprId, Bv)> {
    let node = pool.get(e);
    match *node {
        Expr::Binary(BinOp::Eq, a, b) if is_free(pool.get(a)) => Some((a, pool.as_const(b)?.clone())),
        Expr::FCompare(FCmp::Eq, format, a, b) => {
            let (leaf, value) = if is_free(pool.get(a)) { (a, b) } else { (b, a) };
            let value = pool.as_const(value)?;
            (is_free(pool.get(leaf)) && has_no_equal(format, value)).then(|| (leaf, value.clone()))
        }
        Expr::Unary(UnOp::Not, a) if is_free(pool.get(a)) => Some((a, Bv::bool(false))),
        _ if is_free(node) => Some((e, Bv::bool(true))),
        _ => None,
    }
}

/// Returns true if a float equals only itself: it is no NaN and no zero. In the format of the x87, some values have
/// several bit patterns, so the result is false.
fn has_no_equal(format: FloatFormat, value: &Bv) -> bool {
    let magnitude = value.extract(format.width() - 2, 0);
    format != FloatFormat::X87 && !float::is_nan(format, value) && !magnitude.is_zero()
}
