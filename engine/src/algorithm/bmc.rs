//! Bounded model checking: explores all executions up to a bound on the iterations of each loop and on the nested calls
//! of each function. The bound grows (Biere, Cimatti, Clarke, Zhu: Symbolic model checking without BDDs, TACAS 1999).

use super::houdini::{Runs, Unrolled, unrolled};
use super::{Algorithm, Ending, Explored, Proof, Setting, Share};
use crate::analysis::Stop;
use crate::analysis::capability::Limited;
use crate::analysis::frontier::Frontier;
use crate::domain::loops::Assumptions;
use crate::domain::symbolic::SymbolicExecution;
use crate::exchange::Exchange;
use crate::stats::Stats;
use crate::verdict::{Reason, Taints};

/// Largest bound on iterations.
const MOST: u32 = 1 << 24;

/// The result of an exploration with a bound.
pub(super) enum Seen {
    /// No execution exceeds the bound. The taints apply to the exploration.
    All(Taints),
    /// Some execution exceeds the bound.
    Cut,
    /// The exploration is incomplete.
    Ended(Ending),
}

/// Bounded exploration. It is also the base case of k-induction.
pub(super) struct Base<'p> {
    /// The task.
    pub setting: Setting<'p>,
    /// Symbolic execution of the program, with the values observed at loop heads.
    pub plain: SymbolicExecution<'p>,
    /// The current bound on iterations.
    pub iterations: u32,
    /// The unfinished exploration with the current bound.
    explorer: Option<Unrolled<'p>>,
    /// The statistics of all explorations.
    pub runs: Runs,
    /// The largest bound within which all executions were explored without taints.
    seen: Option<u32>,
}

impl<'p> Base<'p> {
    /// An exploration with the bound 1.
    pub fn new(setting: Setting<'p>, plain: SymbolicExecution<'p>) -> Self {
        Self { setting, plain, iterations: 1, explorer: None, runs: Runs::default(), seen: None }
    }

    /// Continues the exploration with the current bound.
    pub fn explore(&mut self, share: &mut Share<'_>) -> Seen {
        if share.budget.spent().is_some() {
            return Seen::Ended(Ending::TimeIsUp);
        }
        if self.iterations > MOST {
            return Seen::Ended(Ending::GaveUp(Reason::new("loops have too many iterations")));
        }
        let mut explorer = self.explorer.take().unwrap_or_else(|| {
            let bounded = Assumptions::bounded(self.setting.program, &self.plain.loops, self.iterations);
            unrolled(self.setting, &self.plain, bounded, share.budget)
        });
        explorer.cpa.symbolic.limit(share.budget, Some(share.query_time));
        let mut taints = Taints::default();
        let result = self.runs.run(&mut explorer, share.budget, &mut taints, share.progress);
        let seen = match result {
            Ok(Explored::Complete) => {
                taints.merge(&explorer.cpa.symbolic.taints);
                if taints.is_empty() {
                    self.seen = Some(self.iterations);
                }
                if explorer.cpa.assumptions().cut { Seen::Cut } else { Seen::All(taints) }
            }
            Ok(Explored::Target { error, edge, evidence }) => {
                Seen::Ended(Ending::Violation { error, edge, inputs: evidence })
            }
            Err(Stop::Fatal(reason)) => Seen::Ended(Ending::GaveUp(reason)),
            Err(Stop::Spent(_)) => Seen::Ended(Ending::TimeIsUp),
        };
        self.plain.loops.join(&explorer.cpa.symbolic.loops);
        self.explorer = Some(explorer);
        seen
    }

    /// Publishes the values that executions have at loop heads.
    pub fn publish(&self, exchange: &Exchange) {
        exchange.publish_values(&self.plain.loops);
    }

    /// The executions beyond the explored bound.
    pub fn frontier(&self) -> Option<Frontier> {
        self.seen.map(|iterations| Frontier { iterations: Some(iterations), is_complete: true, ..Frontier::default() })
    }

    /// Starts an exploration with another bound.
    pub fn unwind_to(&mut self, iterations: u32) {
        self.iterations = iterations;
        self.explorer = None;
    }

    /// The ending after all executions were explored.
    pub fn complete(&self, taints: &Taints) -> Ending {
        match taints.first(self.setting.program) {
            None => Ending::Proved(Proof::Exhaustive),
            Some(reason) => Ending::GaveUp(reason),
        }
    }
}

/// Bounded model checking with a growing bound on iterations.
pub(crate) struct Bmc<'p> {
    base: Base<'p>,
    taints: Taints,
}

impl<'p> Bmc<'p> {
    pub fn new(setting: Setting<'p>, plain: SymbolicExecution<'p>) -> Self {
        Self { base: Base::new(setting, plain), taints: Taints::default() }
    }
}

impl<'p> Algorithm<'p> for Bmc<'p> {
    fn run(&mut self, share: &mut Share<'_>) -> Ending {
        loop {
            match self.base.explore(share) {
                Seen::Ended(ending) => return ending,
                Seen::Cut => self.base.unwind_to(2 * self.base.iterations),
                Seen::All(taints) => {
                    self.taints = taints;
                    return self.base.complete(&self.taints);
                }
            }
        }
    }

    fn publish(&mut self, exchange: &Exchange) {
        self.base.publish(exchange);
    }
    fn import(&mut self, exchange: &Exchange) {
        exchange.take_observations(&mut self.base.plain.loops);
    }
    fn stats(&self) -> Stats {
        self.base.runs.stats
    }
    fn frontier(&self) -> Option<Frontier> {
        self.base.frontier()
    }
    fn taints(&self) -> Taints {
        self.taints.clone()
    }
}
