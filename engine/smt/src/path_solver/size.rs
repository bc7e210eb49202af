//! Detects queries that are too large for their time limit.

use crate::budget::Budget;
use cfa::{ExprId, ExprPool};
use rustc_hash::FxHashSet;
use std::time::Duration;

/// The speed at which a solver reads a query.
const TERMS_PER_MILLISECOND: usize = 100;

/// Returns true if a solver could not even read the formulas within the budget. Solvers check their time limit only
/// after rewriting all formulas.
pub fn is_too_large(pool: &ExprPool, set: &[ExprId], budget: &Budget) -> bool {
    let in_time = |time: Duration| (time.as_millis() as usize).saturating_mul(TERMS_PER_MILLISECOND);
    budget.remaining().is_some_and(|time| is_larger(pool, set, in_time(time)))
}

/// Returns true if the formulas have more than `limit` different terms.
fn is_larger(pool: &ExprPool, set: &[ExprId], limit: usize) -> bool {
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut stack: Vec<ExprId> = set.to_vec();
    while let Some(e) = stack.pop() {
        if seen.insert(e) {
            if seen.len() > limit {
                return true;
            }
            stack.extend(pool.get(e).children());
        }
    }
    false
}
