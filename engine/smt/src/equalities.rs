//! What a set of conjuncts says outright: which leaves have which values.

use super::facts::Facts;
use super::independence::{Leaves, is_free};
use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, FCmp, FloatFormat, UnOp, float};
use rustc_hash::FxHashMap;

/// What members say is looked at again, as later ones may say more of the terms of earlier ones.
const PASSES: u32 = 2;

/// Rounds in which rewriting may give new equalities.
const ROUNDS: u32 = 4;

/// The conjuncts of a set that say `leaf = constant`, and the others under them.
pub(super) struct Equalities {
    /// By leaf, with the member of the set that it comes from.
    pub values: FxHashMap<ExprId, (Bv, ExprId)>,
    /// The other members, rewritten and as they were.
    pub rest: Vec<(ExprId, ExprId)>,
    /// Some values follow from several members: the last iteration of a loop up to a bound says what the bound is.
    pub has_pinned: bool,
}

impl Equalities {
    pub fn find(pool: &mut ExprPool, leaves: &mut Leaves, set: &[ExprId]) -> Self {
        let rest = set.iter().map(|e| (*e, *e)).collect();
        let mut found = Self { values: FxHashMap::default(), rest, has_pinned: false };
        for _ in 0..ROUNDS {
            let known = found.values.len();
            let Self { values, rest, .. } = &mut found;
            rest.retain(|&(now, origin)| match equality(pool, now) {
                // Where two say different things, the second is left, and becomes false.
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

    /// Adds the leaves that have one value only, by what all members say of their ranges.
    fn pin(&mut self, pool: &ExprPool, leaves: &mut Leaves) -> bool {
        let mut facts = Facts::default();
        for _ in 0..PASSES {
            if self.rest.iter().any(|(now, _)| facts.assume(pool, *now).is_err()) {
                return false;
            }
        }
        let before = self.values.len();
        for &(now, origin) in &self.rest {
            for &leaf in leaves.of(pool, now).iter() {
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

/// If `e` says that a leaf has a value: which.
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

/// Whether a float equals nothing but itself: no NaN, none of the two zeros. (The x87's format has several patterns for a value.)
fn has_no_equal(format: FloatFormat, value: &Bv) -> bool {
    let magnitude = value.extract(format.width() - 2, 0);
    format != FloatFormat::X87 && !float::is_nan(format, value) && !magnitude.is_zero()
}
