//! Invariants by location, independent of the analysis that found them.

use cfa::{ExprId, ExprPool, LocId};
use std::collections::BTreeMap;

/// Largest number of invariants per location. Invariants over several variables have priority.
const MOST_INVARIANTS: usize = 12;

/// Conditions that hold whenever execution is at a location, which is a loop head or a function entry.
#[derive(Clone, Default)]
pub struct LocationInvariants {
    /// The pool of the conditions.
    pub pool: ExprPool,
    /// The conditions by location.
    pub at: BTreeMap<LocId, Vec<ExprId>>,
}

impl LocationInvariants {
    /// Adds conditions from another pool. Those beyond the limit are dropped.
    pub fn add(&mut self, from: &ExprPool, at: LocId, conditions: &[ExprId]) {
        let mut conditions: Vec<(usize, ExprId)> = conditions.iter().map(|&c| (from.vars(c).len(), c)).collect();
        // Analyses of values and intervals find bounds of single variables themselves.
        conditions.sort_by_key(|&(vars, _)| usize::MAX - vars.min(2));
        let known = self.at.entry(at).or_default();
        for (_, condition) in conditions {
            if known.len() < MOST_INVARIANTS
                && let Some(own) = self.pool.import(from, condition)
                && !known.contains(&own)
            {
                known.push(own);
            }
        }
    }

    /// Adds the invariants of `other`.
    pub fn join(&mut self, other: &Self) {
        for (&at, conditions) in &other.at {
            self.add(&other.pool, at, conditions);
        }
    }
}
