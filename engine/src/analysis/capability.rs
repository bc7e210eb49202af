//! Abilities of a domain that not every algorithm needs. Each is a small trait; a CPA around another forwards it.

use super::{Cpa, Increment};
use crate::invariant::observed::Agreement;
use crate::verdict::Taints;
use cfa::interp::Inputs;
use smt::budget::Budget;
use std::time::Duration;

/// The work that a domain has done.
#[derive(Clone, Copy, Default, Debug)]
pub struct Statistics {
    /// Terms created.
    pub terms: u64,
    /// Questions asked, and those of them that a solver answered.
    pub queries: u64,
    pub solver_calls: u64,
    pub solver_time: Duration,
    /// Values, constraints and predicates tracked, and operations in a slice that grows.
    pub tracked: u64,
}

/// A domain whose questions to solvers are limited.
pub trait Limited {
    /// A single query takes at most `query_time`; all of them end with `budget`.
    fn limit(&mut self, budget: &Budget, query_time: Option<Duration>);
}

/// A domain that reports its work.
pub trait Reporting {
    fn statistics(&self) -> Statistics;
    /// Everything that the domain left out or added.
    fn all_taints(&self) -> &Taints;
    /// What refinements have added to the precision, in order.
    fn increments(&self) -> &[Increment] {
        &[]
    }
    /// Facts that all states at the head of a loop agree on, where that is recorded.
    fn agreements(&self) -> Vec<Agreement> {
        Vec::new()
    }
}

/// A domain that an exploration in a portfolio can run on.
pub trait Participant: Cpa<Evidence = Inputs> + Limited + Reporting {}

impl<C: Cpa<Evidence = Inputs> + Limited + Reporting> Participant for C {}
