//! The verification algorithms: the CPA algorithm and the algorithms that use it.

pub(crate) mod bmc;
pub mod cegar;
pub mod cpa;
pub(crate) mod delegate;
pub(crate) mod explore;
pub mod follow;
pub(crate) mod generations;
pub(crate) mod houdini;
pub(crate) mod k_induction;
pub mod random;

use crate::analysis::Increment;
use crate::analysis::frontier::Frontier;
use crate::analysis::reached::graph::ArgNode;
use crate::config::Config;
use crate::exchange::Exchange;
use crate::invariant::observed::Agreement;
use crate::stats::{Counters, Stats};
use crate::verdict::{Reason, Taints};
use certificate::Certificate;
use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId, Program};
use smt::budget::Budget;
use std::time::Duration;

/// The result of an exploration.
pub enum Explored<E> {
    /// All states were explored, and no error was reached.
    Complete,
    /// An error was reached. The exploration can continue.
    Target { error: ErrorId, edge: EdgeId, evidence: E },
}

/// The inputs of every algorithm.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'r> {
    /// The program to verify.
    pub program: &'r Program,
    /// The program with fewer forks, for exploration path by path.
    pub simplified: &'r Program,
    /// The program with counting loops in closed form, if it has such loops.
    pub accelerated: Option<&'r Program>,
    /// The configuration of the run.
    pub config: &'r Config,
    /// The budget of the run.
    pub budget: &'r Budget,
}

/// The resources of an algorithm for one time slice.
pub(crate) struct Share<'a> {
    /// The budget of the time slice.
    pub budget: &'a Budget,
    /// Time limit of one query. A query that exceeds it is repeated in a later time slice.
    pub query_time: Duration,
    /// Called regularly with the counters so far and the number of waiting states.
    pub progress: &'a mut dyn FnMut(&Counters, usize),
}

/// The reason why a program is safe.
pub enum Proof {
    /// All executions were explored.
    Exhaustive,
    /// A certificate with invariants.
    Invariants(Box<Certificate>),
}

/// The result of a time slice.
pub(crate) enum Ending {
    /// No error is reachable.
    Proved(Proof),
    /// An error is reachable with these inputs.
    Violation { error: ErrorId, edge: EdgeId, inputs: Inputs },
    /// The time slice is over. The algorithm can continue.
    TimeIsUp,
    /// The algorithm has ended without an answer.
    GaveUp(Reason),
    /// All executions were explored, but some with approximations.
    Tainted {
        reason: Reason,
        /// True if an `Approx` edge of the program caused it.
        by_program: bool,
    },
    /// The facts published so far do not suffice for a proof.
    NoProof,
}

impl Ending {
    /// The name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Proved(_) => "proof",
            Self::Violation { .. } => "violation",
            Self::TimeIsUp => "time is up",
            Self::GaveUp(_) => "gave up",
            Self::Tainted { .. } => "approximated",
            Self::NoProof => "no proof yet",
        }
    }
}

/// An algorithm that decides reachability of errors, alone or in a portfolio.
pub(crate) trait Algorithm<'p> {
    /// Continues until there is an answer or the share is used up.
    fn run(&mut self, share: &mut Share<'_>) -> Ending;

    /// The part of a time slice that the algorithm needs.
    fn share(&self, turn: Duration) -> Duration {
        turn
    }
    /// The time limit for a first attempt before all other algorithms run, if there should be one.
    fn head_start(&self) -> Option<Duration> {
        None
    }
    /// The share of all paths that has been explored, if it can be estimated.
    fn done(&self) -> Option<f64> {
        None
    }
    /// True if the algorithm explores without abstraction, so that no other exploration is more precise.
    fn is_exact(&self) -> bool {
        false
    }
    /// True if the algorithm may prove programs that no exploration can. A reason that prevents the proofs of
    /// explorations then does not apply to it.
    fn goes_beyond_exploration(&self) -> bool {
        false
    }

    /// Publishes the facts that the algorithm has learned.
    fn publish(&mut self, _exchange: &Exchange) {}
    /// Takes the facts that others have published.
    fn import(&mut self, _exchange: &Exchange) {}

    /// The statistics so far.
    fn stats(&self) -> Stats;
    /// The behaviours that it dropped or added.
    fn taints(&self) -> Taints {
        Taints::default()
    }
    /// The precision increments of its refinements.
    fn increments(&self) -> Vec<Increment> {
        Vec::new()
    }
    /// The unexplored part, if the algorithm explores.
    fn frontier(&self) -> Option<Frontier> {
        None
    }
    /// The invariants observed in all states of each loop head, if the algorithm explores and the configuration
    /// requests them.
    fn agreements(&self) -> Vec<Agreement> {
        Vec::new()
    }
    /// The ARG, if recorded.
    fn graph(&self) -> Vec<ArgNode> {
        Vec::new()
    }
    /// By location: true if a state reached it. Empty if the algorithm does not explore from the start of the program.
    fn visited(&self) -> &[bool] {
        &[]
    }
}

/// An algorithm that cannot be created, for this reason.
pub(crate) struct Impossible(pub Reason);

impl Algorithm<'_> for Impossible {
    fn run(&mut self, _share: &mut Share<'_>) -> Ending {
        Ending::GaveUp(self.0.clone())
    }
    fn stats(&self) -> Stats {
        Stats::default()
    }
}
