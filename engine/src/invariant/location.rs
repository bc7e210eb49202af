//! Invariants by location, apart from the analysis that found them.

use cfa::{ExprId, ExprPool, LocId};
use std::collections::BTreeMap;

/// Invariants kept of one location; those over several variables come first.
const MOST_INVARIANTS: usize = 12;

/// Conditions that hold whenever control is at a place: a head of a loop or the entry of a function.
#[derive(Clone, Default)]
pub struct LocationInvariants {
    pub pool: ExprPool,
    pub at: BTreeMap<LocId, Vec<ExprId>>,
}

impl LocationInvariants {
    /// Some conditions of another pool on the variables at a place.
    pub fn add(&mut self, from: &ExprPool, at: LocId, conditions: &[ExprId]) {
        let mut conditions: Vec<(usize, ExprId)> = conditions.iter().map(|&c| (from.vars(c).len(), c)).collect();
        // Bounds of a single variable are what tracking values, and analyses of intervals, have anyway.
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

    pub fn join(&mut self, other: &Self) {
        for (&at, conditions) in &other.at {
            self.add(&other.pool, at, conditions);
        }
    }
}
