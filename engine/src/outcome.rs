//! The answer of a run, with what went into it.

use crate::analysis::Increment;
use crate::analysis::frontier::Frontier;
use crate::analysis::reached::graph;
use crate::composition::Analysis;
use crate::coverage::Coverage;
use crate::crash::Crash;
use crate::invariant::observed::Agreement;
use crate::simplify::Simplified;
use crate::stats::Stats;
use crate::verdict::{Reason, Verdict};
use certificate::{Certificate, ProofCheck};
use std::sync::Arc;
use std::time::Duration;

/// A time in which one analysis worked. Times count from the start of the run.
#[derive(Clone, Debug)]
pub struct Turn {
    pub analysis: Analysis,
    /// Of several at once, which thread, from 0.
    pub thread: usize,
    pub start: Duration,
    pub end: Duration,
    /// Operations executed in it.
    pub edges: u64,
    pub solver_calls: u64,
    /// What came out: `proof`, `violation`, `time is up`, `gave up`, `approximated` or `no proof yet`.
    pub ended: &'static str,
}

/// The answer with what went into it.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    pub stats: Stats,
    /// Everything that kept the run from being a proof, whether or not it decided the verdict.
    pub reasons: Vec<Reason>,
    /// The analysis that gave the verdict, if it is TRUE or FALSE.
    pub decided_by: Analysis,
    /// Of TRUE: whether a checker apart from the analyses has confirmed the proof.
    pub proof: Option<ProofCheck>,
    /// Of TRUE: the conditions that prove it, where it is a proof by invariants of one turn.
    pub certificate: Option<Certificate>,
    /// Of TRUE by exploration, where wanted: what all states at the heads of loops agree on.
    pub agreements: Vec<Agreement>,
    /// A violation that was found but did not replay: nobody may call the program safe.
    pub unconfirmed: Option<Reason>,
    /// Who worked when, in order of their ends.
    pub turns: Vec<Turn>,
    /// What refinements have learned, in order.
    pub increments: Vec<Increment>,
    /// The abstract reachability graph of the analysis that decided or came last, where one is built.
    pub arg: Vec<graph::Shape>,
    /// Where explorations came to.
    pub coverage: Coverage,
    /// What each exploration has left, where there is no verdict and it is wanted.
    pub frontiers: Vec<Frontier>,
    /// Where paths of these are of the simplified program, that one.
    pub simplified: Option<Arc<Simplified>>,
    /// The analyses that ended by a panic. Where there is no verdict and no limit was met, the reason is the first of them.
    pub crashes: Vec<Crash>,
}

impl Outcome {
    /// A verdict and nothing else to say of it.
    pub fn new(verdict: Verdict, decided_by: Analysis) -> Self {
        Self {
            verdict,
            stats: Stats::default(),
            reasons: Vec::new(),
            decided_by,
            proof: None,
            certificate: None,
            agreements: Vec::new(),
            unconfirmed: None,
            turns: Vec::new(),
            increments: Vec::new(),
            arg: Vec::new(),
            coverage: Coverage::default(),
            frontiers: Vec::new(),
            simplified: None,
            crashes: Vec::new(),
        }
    }

    /// No verdict, for a reason from outside.
    pub fn unknown(reason: Reason, analysis: Analysis) -> Self {
        Self::new(Verdict::Unknown(reason), analysis)
    }

    /// Whether there is no verdict because an analysis panicked.
    pub fn has_crashed(&self) -> bool {
        matches!(&self.verdict, Verdict::Unknown(reason) if self.crashes.iter().any(|c| c.reason() == *reason))
    }
}
