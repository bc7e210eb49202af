//! The result of a run: the verdict and the data for reports.

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

/// A time slice of one analysis. Times are relative to the start of the run.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The analysis that ran.
    pub analysis: Analysis,
    /// The index of the thread that ran it, from 0.
    pub thread: usize,
    /// Start of the time slice.
    pub start: Duration,
    /// End of the time slice.
    pub end: Duration,
    /// Number of operations executed in it.
    pub edges: u64,
    /// Number of solver calls in it.
    pub solver_calls: u64,
    /// The result: `proof`, `violation`, `time is up`, `gave up`, `approximated` or `no proof yet`.
    pub ended: &'static str,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Counters of the run.
    pub stats: Stats,
    /// All reasons that prevented a proof, including those that did not decide the verdict.
    pub reasons: Vec<Reason>,
    /// The analysis that found the verdict, if it is TRUE or FALSE.
    pub decided_by: Analysis,
    /// For TRUE: the result of the independent proof checker.
    pub proof: Option<ProofCheck>,
    /// For TRUE: the certificate, if one time slice proved it by invariants.
    pub certificate: Option<Certificate>,
    /// For TRUE by exploration, if requested: the invariants observed at the loop heads.
    pub agreements: Vec<Agreement>,
    /// Set if a violation was found that did not replay. The program must not be reported as safe.
    pub unconfirmed: Option<Reason>,
    /// The time slices, in order of their ends.
    pub turns: Vec<Turn>,
    /// The precision increments of all refinements, in order.
    pub increments: Vec<Increment>,
    /// The abstract reachability graph of the analysis that decided or ran last, if it built one.
    pub arg: Vec<graph::ArgNode>,
    /// The locations that the explorations reached.
    pub coverage: Coverage,
    /// The frontier of each exploration, if there is no verdict and the frontier is requested.
    pub frontiers: Vec<Frontier>,
    /// The simplified program, if paths of the frontiers refer to it.
    pub simplified: Option<Arc<Simplified>>,
    /// The analyses that panicked. If there is no verdict and no limit was reached, the first of them is the reason.
    pub crashes: Vec<Crash>,
}

impl Outcome {
    /// An outcome with a verdict and no further data.
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

    /// An outcome without a verdict, for a reason outside the engine.
    pub fn unknown(reason: Reason, analysis: Analysis) -> Self {
        Self::new(Verdict::Unknown(reason), analysis)
    }

    /// The outcome of a whole from those of its parts. FALSE has priority over UNKNOWN, and UNKNOWN over TRUE. The result
    /// is the outcome of the deciding part, with the statistics of all. Panics if there are no parts.
    pub fn of_parts(parts: Vec<Self>) -> Self {
        let rank = |outcome: &&Self| match outcome.verdict {
            Verdict::False(_) => 0,
            Verdict::Unknown(_) => 1,
            Verdict::True => 2,
        };
        let mut outcome = parts.iter().min_by_key(rank).expect("at least one part").clone();
        if parts.len() == 1 {
            return outcome;
        }
        let mut stats = Stats::default();
        let (mut reasons, mut crashes) = (Vec::new(), Vec::new());
        for part in &parts {
            stats.join(&part.stats);
            reasons.extend(part.reasons.iter().cloned());
            crashes.extend(part.crashes.iter().cloned());
            // A possible violation of one analysis prevents a proof.
            if let (Verdict::True, Some(reason)) = (&outcome.verdict, &part.unconfirmed) {
                outcome.verdict = Verdict::Unknown(reason.clone());
            }
        }
        reasons.dedup();
        // Proofs and certificates describe only their own part.
        Self { stats, reasons, crashes, proof: None, certificate: None, ..outcome }
    }

    /// True if there is no verdict because an analysis panicked.
    pub fn has_crashed(&self) -> bool {
        matches!(&self.verdict, Verdict::Unknown(reason) if self.crashes.iter().any(|c| c.reason() == *reason))
    }
}
