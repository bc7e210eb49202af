//! The algorithms: the CPA algorithm, and what wraps it.

pub(crate) mod bmc;
pub mod cegar;
pub mod cpa;
pub(crate) mod delegate;
pub(crate) mod explore;
pub mod follow;
pub(crate) mod houdini;
pub(crate) mod k_induction;
pub mod random;

use crate::analysis::Increment;
use crate::analysis::frontier::Frontier;
use crate::analysis::reached::graph::Shape;
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

/// How an exploration ended.
pub enum Explored<E> {
    /// Every state was explored; no error was reached.
    Complete,
    /// An error was reached. Exploration may be continued.
    Target { error: ErrorId, edge: EdgeId, evidence: E },
}

/// What every algorithm is given.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'r> {
    pub program: &'r Program,
    /// The same with fewer forks, for exploration path by path.
    pub simplified: &'r Program,
    /// That with loops that count in closed form, if there are any.
    pub accelerated: Option<&'r Program>,
    pub config: &'r Config,
    pub budget: &'r Budget,
}

/// What an algorithm may use up before it comes back.
pub(crate) struct Share<'a> {
    pub budget: &'a Budget,
    /// For one query. A query that takes longer is asked again in a later share.
    pub query_time: Duration,
    /// Told now and then what the algorithm has done in all, and how much waits.
    pub progress: &'a mut dyn FnMut(&Counters, usize),
}

/// Why a program is safe.
pub enum Proof {
    /// All executions were explored.
    Exhaustive,
    /// By invariants.
    Invariants(Box<Certificate>),
}

/// How an algorithm has used its share.
pub(crate) enum Ending {
    Proved(Proof),
    Violation {
        error: ErrorId,
        edge: EdgeId,
        inputs: Inputs,
    },
    TimeIsUp,
    /// It has ended without an answer.
    GaveUp(Reason),
    /// All executions were seen, but not in full.
    Tainted {
        reason: Reason,
        /// By what stands in the program, where an execution comes past.
        by_program: bool,
    },
    /// There is no proof with what others have seen so far.
    NoProof,
}

impl Ending {
    /// For people.
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

/// What can be asked whether an error can be reached, beside others that are asked the same.
pub(crate) trait Algorithm<'p> {
    /// Goes on until there is an answer or the share is used up.
    fn run(&mut self, share: &mut Share<'_>) -> Ending;

    /// What part of the time of a turn is enough.
    fn share(&self, turn: Duration) -> Duration {
        turn
    }
    /// What it may take before anything else is tried, if it should be tried before.
    fn head_start(&self) -> Option<Duration> {
        None
    }
    /// The part of all paths that has been explored, if that can be estimated.
    fn done(&self) -> Option<f64> {
        None
    }
    /// Whether it sees executions as they are, so that no other exploration sees more.
    fn is_exact(&self) -> bool {
        false
    }
    /// Whether it may prove what no exploration can, so that what keeps these from a proof says nothing of it.
    fn goes_beyond_exploration(&self) -> bool {
        false
    }

    /// Tells the others what it has learned.
    fn publish(&mut self, _exchange: &Exchange) {}
    /// Takes what the others have learned.
    fn import(&mut self, _exchange: &Exchange) {}

    /// What it has done so far.
    fn stats(&self) -> Stats;
    /// What it left out or added.
    fn taints(&self) -> Taints {
        Taints::default()
    }
    /// What its refinements have learned.
    fn increments(&self) -> Vec<Increment> {
        Vec::new()
    }
    /// What it has left, if it explores.
    fn frontier(&self) -> Option<Frontier> {
        None
    }
    /// What all its states at the heads of loops agree on, if it explores and that is wanted.
    fn agreements(&self) -> Vec<Agreement> {
        Vec::new()
    }
    /// The graph of its states, if it is kept.
    fn graph(&self) -> Vec<Shape> {
        Vec::new()
    }
    /// By location, whether a state came there; empty if it does not explore from the start of the program.
    fn came(&self) -> &[bool] {
        &[]
    }
}

/// An algorithm that cannot be had.
pub(crate) struct Impossible(pub Reason);

impl Algorithm<'_> for Impossible {
    fn run(&mut self, _share: &mut Share<'_>) -> Ending {
        Ending::GaveUp(self.0.clone())
    }
    fn stats(&self) -> Stats {
        Stats::default()
    }
}
