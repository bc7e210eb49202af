//! k-induction (Sheeran, Singh, Stålmarck: Checking safety properties using induction and a SAT-solver, FMCAD 2000).
//! For k = 1, 2, …, the base case explores all executions with k iterations of each loop, and the step proves that k
//! safe iterations imply a safe next one. Auxiliary invariants strengthen the step (Beyer, Dangl, Wendler: Boosting
//! k-induction with continuously-refined invariants, CAV 2015). `domain/loops` implements a single step.

use super::bmc::{Base, Seen};
use super::houdini::{Facts, Tried, try_assumptions};
use super::{Algorithm, Ending, Explored, Proof, Setting, Share};
use crate::analysis::frontier::Frontier;
use crate::domain::loops::{Assumptions, Effort, observe};
use crate::domain::symbolic::SymbolicExecution;
use crate::exchange::Exchange;
use crate::invariant::LocationInvariants;
use crate::stats::Stats;
use crate::verdict::Taints;

/// The candidate sets for each k. Candidates about array cells are used for k = 1 only.
const EFFORTS: [Effort; 4] = [Effort::Facts, Effort::Few, Effort::Cells, Effort::Many];

/// k-induction with invariants.
pub(crate) struct KInduction<'p> {
    base: Base<'p>,
    facts: Facts,
    /// The candidates that steps have proved.
    known: Option<Assumptions>,
    observed: bool,
    /// The invariants proved since the last publication.
    shown: LocationInvariants,
    taints: Taints,
}

impl<'p> KInduction<'p> {
    pub fn new(setting: Setting<'p>, plain: SymbolicExecution<'p>) -> Self {
        let (base, facts) = (Base::new(setting, plain), Facts::default());
        Self {
            base,
            facts,
            known: None,
            observed: false,
            shown: LocationInvariants::default(),
            taints: Taints::default(),
        }
    }

    /// Attempts a proof by the induction step with the current k.
    fn step(&mut self, share: &mut Share<'_>) -> Option<Proof> {
        let Base { setting, plain, iterations, runs, .. } = &mut self.base;
        if !std::mem::replace(&mut self.observed, true) {
            observe(setting.program, &mut plain.loops, setting.config.seed, setting.budget);
        }
        for effort in EFFORTS {
            if effort == Effort::Cells && !(*iterations == 1 && plain.loops.have_rows()) {
                continue;
            }
            let (facts, known) = (self.facts.known(), self.known.as_ref());
            let guessed = Assumptions::guess(setting.program, &plain.loops, facts, effort, known, setting.budget);
            let mut left = guessed.with_iterations(*iterations);
            left.past_errors = true;
            loop {
                let Tried { result, taints, tried, cut_short } =
                    try_assumptions(*setting, plain, left, runs, share.budget, share.progress);
                let complete = matches!(result, Ok(Explored::Complete)) && taints.is_empty();
                if cut_short || share.budget.spent().is_some() || !complete {
                    self.known = Some(tried.unsettled());
                    if complete || share.budget.spent().is_some() {
                        return None;
                    }
                    break;
                }
                if !tried.changed {
                    if !tried.violated {
                        return Some(Proof::Invariants(Box::new(tried.certificate(setting.program, &plain.loops))));
                    }
                    self.shown = tried.shown(setting.program, &plain.loops);
                    self.known = Some(tried.with_candidates_as_facts());
                    break;
                }
                left = tried.again();
            }
        }
        None
    }
}

impl<'p> Algorithm<'p> for KInduction<'p> {
    fn run(&mut self, share: &mut Share<'_>) -> Ending {
        self.facts.find(self.base.setting, share.budget);
        if let Some(proof) = self.facts.proof(self.base.setting, &self.base.plain) {
            return Ending::Proved(proof);
        }
        loop {
            match self.base.explore(share) {
                Seen::Ended(ending) => return ending,
                Seen::All(taints) => {
                    self.taints = taints;
                    return self.base.complete(&self.taints);
                }
                Seen::Cut => {}
            }
            if let Some(proof) = self.step(share) {
                return Ending::Proved(proof);
            }
            if share.budget.spent().is_some() {
                return Ending::TimeIsUp;
            }
            self.base.unwind_to(self.base.iterations + 1);
        }
    }

    fn publish(&mut self, exchange: &Exchange) {
        self.base.publish(exchange);
        exchange.publish_invariants(&std::mem::take(&mut self.shown));
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
