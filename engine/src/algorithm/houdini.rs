//! Proofs by invariants (Flanagan, Leino: Houdini, an annotation assistant for ESC/Java, FME 2001). A run removes
//! invariant candidates until all remaining ones are inductive. If they do not prove the program, the next plan uses
//! more candidates, or more loop iterations in the induction step. `domain/loops` implements a single run.

use super::cpa::{CpaAlgorithm, Merge, Parameters};
use super::{Algorithm, Ending, Explored, Proof, Setting, Share};
use crate::analysis::capability::Reporting;
use crate::analysis::reached::NoReachedSet;
use crate::analysis::{Cpa, Stop};
use crate::domain::loops::{Assumptions, Effort, QUERY_TIME, Unrolling, observe};
use crate::domain::symbolic::SymbolicExecution;
use crate::exchange::Exchange;
use crate::invariant::{Invariants, LocationInvariants};
use crate::stats::{Counters, Stats};
use crate::verdict::{Reason, Taints};
use cfa::interp::Inputs;
use smt::PathSolver;
use smt::budget::Budget;
use std::time::Duration;

/// The plans in order: number of loop iterations in the induction step, and number of candidates.
const PLANS: [(u32, Effort); 10] = [
    (1, Effort::Facts),
    (1, Effort::Few),
    (1, Effort::Terms),
    (1, Effort::Cells),
    (1, Effort::Powers),
    (1, Effort::Many),
    (2, Effort::Few),
    (1, Effort::Squares),
    (2, Effort::Many),
    (3, Effort::Few),
];
/// Abstract interpretation may use the remaining time of a slice divided by this number.
const ABSTRACT_SHARE: u32 = 2;
/// Time limit for a first attempt before all other algorithms run.
const HEAD_START: Duration = Duration::from_millis(200);

pub(super) type Unrolled<'p> = CpaAlgorithm<'p, Unrolling<'p>>;

/// The result of abstract interpretation.
#[derive(Default)]
pub(super) struct Facts(Option<Invariants>);

impl Facts {
    /// Runs abstract interpretation, unless it has already succeeded. A run that exceeds its share is repeated in the
    /// next time slice.
    pub fn find(&mut self, setting: Setting<'_>, budget: &Budget) {
        if self.0.is_none() {
            let part = match budget.remaining() {
                Some(time) => budget.exerting(time / ABSTRACT_SHARE),
                None => budget.clone(),
            };
            self.0 = Invariants::new(setting.program, &part);
        }
    }

    /// The result, if there is one yet.
    pub fn known(&self) -> Option<&Invariants> {
        self.0.as_ref()
    }

    /// A proof by these invariants alone.
    pub fn proof(&self, setting: Setting<'_>, plain: &SymbolicExecution<'_>) -> Option<Proof> {
        let invariants = self.known().filter(|i| i.prove(setting.program))?;
        let Setting { program, budget, .. } = setting;
        let assumptions = Assumptions::guess(program, &plain.loops, Some(invariants), Effort::Facts, None, budget);
        let mut certificate = assumptions.certificate(program, &plain.loops);
        // No run has observed the frames of loops, and the facts depend on facts at other locations.
        certificate.frames.clear();
        certificate.of_variables = false;
        Some(Proof::Invariants(Box::new(certificate)))
    }
}

/// The accumulated statistics of several explorations.
#[derive(Default)]
pub(super) struct Runs {
    /// The statistics.
    pub stats: Stats,
}

impl Runs {
    /// Continues an exploration and adds to the statistics.
    pub fn run(
        &mut self,
        explorer: &mut Unrolled<'_>,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Explored<Inputs>, Stop> {
        let before = Stats::new(&explorer.counters, &explorer.cpa.symbolic.statistics());
        let earlier = self.stats.exploration;
        let result = explorer.run(budget, taints, &mut |counters, waiting| {
            let mut all = earlier;
            all.add(&counters.since(&before.exploration));
            progress(&all, waiting);
        });
        self.stats.advance(&before, &Stats::new(&explorer.counters, &explorer.cpa.symbolic.statistics()));
        result
    }
}

/// The result of a run under assumptions.
pub(super) struct Tried {
    /// The result of the exploration.
    pub result: Result<Explored<Inputs>, Stop>,
    /// The behaviours that it dropped.
    pub taints: Taints,
    /// The assumptions, with the candidates that the run has refuted.
    pub tried: Assumptions,
    /// True if a query was cut short for lack of time.
    pub cut_short: bool,
}

/// Explores the program under assumptions.
pub(super) fn try_assumptions<'p>(
    setting: Setting<'p>,
    plain: &SymbolicExecution<'p>,
    assumptions: Assumptions,
    runs: &mut Runs,
    budget: &Budget,
    progress: &mut dyn FnMut(&Counters, usize),
) -> Tried {
    let mut explorer = unrolled(setting, plain, assumptions, budget);
    let mut taints = Taints::default();
    let result = runs.run(&mut explorer, budget, &mut taints, progress);
    taints.merge(&explorer.cpa.symbolic.taints);
    let cut_short = explorer.cpa.ran_out();
    let tried = explorer.cpa.into_assumptions();
    Tried { result, taints, tried, cut_short }
}

/// Creates the exploration under assumptions.
pub(super) fn unrolled<'p>(
    setting: Setting<'p>,
    plain: &SymbolicExecution<'p>,
    assumptions: Assumptions,
    budget: &Budget,
) -> Unrolled<'p> {
    let config = setting.config;
    let mut solver = PathSolver::new(config.solvers.open(), budget.clone());
    solver.set_query_time(Some(QUERY_TIME));
    let (search, seed, max_call_depth) = (config.search, config.seed, config.max_call_depth);
    let (heads, merge) = (plain.heads(), Merge::AtHeads);
    let parameters = Parameters {
        heads,
        merge,
        search,
        seed,
        max_call_depth,
        covers: true,
        notes_locations: false,
        counts_on_rest: false,
    };
    CpaAlgorithm::new(setting.program, Unrolling::new(plain, solver, assumptions), NoReachedSet, parameters)
}

/// Proofs by induction for one program.
pub(crate) struct Houdini<'p> {
    setting: Setting<'p>,
    /// Symbolic execution of the program, with the values observed at loop heads.
    plain: SymbolicExecution<'p>,
    facts: Facts,
    plans: Vec<(u32, Effort)>,
    pending: Option<Pending>,
    runs: Runs,
    /// The invariants proved since the last publication.
    shown: LocationInvariants,
}

/// The attempt in progress.
struct Pending {
    /// Index of its plan.
    number: usize,
    /// The remaining candidates.
    left: Assumptions,
}

impl<'p> Houdini<'p> {
    pub fn new(setting: Setting<'p>, plain: SymbolicExecution<'p>) -> Self {
        let mut plans = PLANS.to_vec();
        if plain.loops.cells_asserted {
            // Assertions about cells are unlikely to be proved without candidates about cells. Those plans come first.
            plans.sort_by_key(|&(_, effort)| match effort {
                Effort::Facts => 0,
                Effort::Cells => 1,
                _ => 2,
            });
        }
        Self {
            setting,
            plain,
            facts: Facts::default(),
            plans,
            pending: None,
            runs: Runs::default(),
            shown: LocationInvariants::default(),
        }
    }

    fn plan(&self, number: usize, known: Option<&Assumptions>) -> Pending {
        let (iterations, effort) = self.plans[number];
        let Setting { program, budget, .. } = self.setting;
        let left = Assumptions::guess(program, &self.plain.loops, self.facts.known(), effort, known, budget);
        Pending { number, left: left.with_iterations(iterations) }
    }

    /// If no plan proves the program, determines the candidates that are invariants anyway, for other analyses. The run
    /// continues past errors.
    fn show(&mut self, share: &mut Share<'_>) {
        let Setting { program, budget, .. } = self.setting;
        let (loops, known) = (&self.plain.loops, self.facts.known());
        let mut left = Assumptions::guess(program, loops, known, Effort::Few, None, budget);
        loop {
            left.past_errors = true;
            let Tried { result, taints, tried, cut_short } =
                try_assumptions(self.setting, &self.plain, left, &mut self.runs, share.budget, share.progress);
            let complete = matches!(result, Ok(Explored::Complete)) && taints.is_empty();
            if cut_short || share.budget.spent().is_some() || !complete {
                return;
            }
            if !tried.changed {
                self.shown = tried.shown(program, &self.plain.loops);
                return;
            }
            left = tried.again();
        }
    }

    /// The ending after the last plan.
    fn ended(&self, budget: &Budget) -> Ending {
        match budget.spent().is_some() || self.pending.is_some() {
            true => Ending::TimeIsUp,
            false => Ending::NoProof,
        }
    }
}

impl<'p> Algorithm<'p> for Houdini<'p> {
    /// Searches for inductive invariants that prove the program. The samples of other explorations suggest candidates.
    fn run(&mut self, share: &mut Share<'_>) -> Ending {
        if self.plain.loops.is_empty() {
            return Ending::GaveUp(Reason::new("there is no loop to find an invariant of"));
        }
        let budget = share.budget;
        self.facts.find(self.setting, budget);
        if let Some(proof) = self.facts.proof(self.setting, &self.plain) {
            return Ending::Proved(proof);
        }
        if self.pending.is_none() {
            let Setting { program, config, budget, .. } = self.setting;
            observe(program, &mut self.plain.loops, config.seed, budget);
        }
        let mut pending = self.pending.take().unwrap_or_else(|| self.plan(0, None));
        loop {
            if budget.spent().is_some() {
                self.pending = Some(pending);
                return Ending::TimeIsUp;
            }
            let Tried { result, taints, tried, cut_short } =
                try_assumptions(self.setting, &self.plain, pending.left, &mut self.runs, budget, share.progress);
            match result {
                Ok(Explored::Complete) if taints.is_empty() && !tried.changed => {
                    return Ending::Proved(Proof::Invariants(Box::new(
                        tried.certificate(self.setting.program, &self.plain.loops),
                    )));
                }
                // A result that was cut short is inconclusive.
                _ if cut_short || budget.spent().is_some() => {
                    pending.left = tried.again();
                    self.pending = Some(pending);
                    return Ending::TimeIsUp;
                }
                Ok(Explored::Complete) if tried.changed => pending.left = tried.again(),
                // A violation under assumptions remains one under fewer assumptions. The same holds for operations that
                // cannot be executed.
                Ok(Explored::Target { .. } | Explored::Complete) => {
                    let rows = self.plain.loops.have_rows();
                    let fits = |&(_, effort): &(u32, Effort)| effort != Effort::Cells || rows;
                    let Some(next) = self.plans.iter().skip(pending.number + 1).position(fits) else {
                        self.show(share);
                        return self.ended(share.budget);
                    };
                    pending = self.plan(pending.number + 1 + next, Some(&tried.unsettled()));
                }
                Err(_) => return self.ended(budget),
            }
        }
    }

    fn head_start(&self) -> Option<Duration> {
        Some(HEAD_START)
    }
    fn goes_beyond_exploration(&self) -> bool {
        true
    }
    fn publish(&mut self, exchange: &Exchange) {
        exchange.publish_values(&self.plain.loops);
        exchange.publish_invariants(&std::mem::take(&mut self.shown));
    }
    fn import(&mut self, exchange: &Exchange) {
        exchange.take_observations(&mut self.plain.loops);
    }
    fn stats(&self) -> Stats {
        self.runs.stats
    }
}
