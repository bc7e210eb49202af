//! Optional capabilities of a domain, as small traits. A wrapper CPA forwards them to its inner CPA.

use super::{Cpa, Increment};
use crate::invariant::observed::Agreement;
use crate::verdict::Taints;
use cfa::interp::Inputs;
use smt::budget::Budget;
use std::time::Duration;

/// Counters of the work of a domain.
#[derive(Clone, Copy, Default, Debug)]
pub struct Statistics {
    /// Solver terms created.
    pub terms: u64,
    /// Queries to the solver layers.
    pub queries: u64,
    /// Queries that a solver answered.
    pub solver_calls: u64,
    /// Time in the solver.
    pub solver_time: Duration,
    /// Values, constraints and predicates in the precision, and operations in a growing slice.
    pub tracked: u64,
}

/// A domain with limits on its solver queries.
pub trait Limited {
    /// Limits each query to `query_time` and all queries to `budget`.
    fn limit(&mut self, budget: &Budget, query_time: Option<Duration>);
}

/// A domain that reports its work.
pub trait Reporting {
    /// The counters so far.
    fn statistics(&self) -> Statistics;
    /// All behaviours that the domain dropped or added.
    fn all_taints(&self) -> &Taints;
    /// The precision increments of all refinements, in order.
    fn increments(&self) -> &[Increment] {
        &[]
    }
    /// The invariants observed in all states of each loop head, if recorded.
    fn agreements(&self) -> Vec<Agreement> {
        Vec::new()
    }
}

/// A domain that a portfolio can explore.
pub trait Participant: Cpa<Evidence = Inputs> + Limited + Reporting {}

impl<C: Cpa<Evidence = Inputs> + Limited + Reporting> Participant for C {}
