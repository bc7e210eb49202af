//! A run: one analysis, or several that take turns.

use crate::algorithm::cegar::Cegar;
use crate::algorithm::cpa::{CpaAlgorithm, Merge, Parameters};
use crate::algorithm::{Counters, Exploration};
use crate::analysis::Analysis;
use crate::arg::Shape;
use crate::budget::Budget;
use crate::cpa::slicing::{Criteria, Slicing};
use crate::cpa::symbolic::SymbolicExecution;
use crate::cpa::tracking::{self, Tracking};
use crate::cpa::{Abstraction, Stop};
use crate::exchange::Exchange;
use crate::frontier::{Frontier, Open};
use crate::induction::{Bounded, Proof, Prover};
use crate::proof::{self, Certificate, ProofCheck};
use crate::reached::{Forgotten, Pictured, Reached};
use crate::testing::{Tested, Tester};
use crate::verdict::{Counterexample, Reason, Taints, Verdict};
use crate::{Config, Crash, Outcome, Replay, Stats};
use cfa::interp::Inputs;
use cfa::{AllocKind, EdgeId, ErrorId, Op, Program};
use smt::PathSolver;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The first turn of each analysis; turns grow by the factor [`GROWTH`].
const FIRST_SHARE: Duration = Duration::from_millis(500);
const GROWTH: u32 = 3;
/// A turn goes on where what is left is estimated to take at most so many times what was spent before: so often, and for so
/// long in all.
const NEARLY_DONE: f64 = 4.0;
const EXTENSIONS: u32 = 3;
const EXTENDED: Duration = Duration::from_secs(2);
/// What part of a turn is enough for random testing.
const TESTING: u32 = 4;
/// What the check of a proof may take.
const CHECK_TIME: Duration = Duration::from_secs(5);
/// What proofs by invariants may take before anything else is tried.
const FIRST_PROOF: Duration = Duration::from_millis(400);

/// Values of a variable before predicates take over.
const FEW_VALUES: usize = 40;

/// How an analysis goes about it.
enum Method<'r> {
    Exploration(Box<dyn Explore<'r> + 'r>),
    /// Up to growing bounds.
    Bounded(Box<Bounded<'r>>),
    /// By loop invariants, which the values seen by others suggest.
    Invariants(Box<Houdini<'r>>),
    Testing(Tester<'r>),
    /// It cannot be made.
    Nothing,
}

/// Proofs by invariants.
struct Houdini<'r> {
    /// What is known of the program.
    plain: SymbolicExecution<'r>,
    prover: Prover<'r>,
}

/// An exploration of states of symbolic execution, one way or another.
trait Explore<'p> {
    fn run(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Exploration<Inputs>, Stop>;
    fn domain(&self) -> &SymbolicExecution<'p>;
    fn domain_mut(&mut self) -> &mut SymbolicExecution<'p>;
    /// If its states keep only what is tracked.
    fn tracking(&mut self) -> Option<&mut Tracking<'p>> {
        None
    }
    fn counters(&self) -> &Counters;
    fn waiting(&self) -> usize;
    /// Whether states are never abstracted, so that no other exploration sees more.
    fn is_exact(&self) -> bool {
        false
    }
    /// The part of all paths that has been explored, if that can be estimated.
    fn done(&self) -> Option<f64> {
        None
    }
    fn frontier(&self) -> Vec<Open>;
    /// Operations in a slice that grows.
    fn sliced(&self) -> usize {
        0
    }
    fn graph(&self) -> Vec<Shape> {
        Vec::new()
    }
}

impl<'p, R: Reached<SymbolicExecution<'p>>> Explore<'p> for CpaAlgorithm<'p, SymbolicExecution<'p>, R> {
    fn run(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Exploration<Inputs>, Stop> {
        CpaAlgorithm::run(self, budget, taints, progress)
    }
    fn domain(&self) -> &SymbolicExecution<'p> {
        &self.cpa
    }
    fn domain_mut(&mut self) -> &mut SymbolicExecution<'p> {
        &mut self.cpa
    }
    fn counters(&self) -> &Counters {
        &self.counters
    }
    fn waiting(&self) -> usize {
        CpaAlgorithm::waiting(self)
    }
    fn is_exact(&self) -> bool {
        true
    }
    fn frontier(&self) -> Vec<Open> {
        CpaAlgorithm::frontier(self)
    }
    fn done(&self) -> Option<f64> {
        CpaAlgorithm::done(self)
    }
    fn graph(&self) -> Vec<Shape> {
        self.reached.shape()
    }
}

/// An analysis whose states keep what is tracked, itself or around it.
trait Tracks<'p>: Abstraction<Evidence = Inputs> {
    fn tracking(&self) -> &Tracking<'p>;
    fn tracking_mut(&mut self) -> &mut Tracking<'p>;
    fn sliced(&self) -> usize {
        0
    }
}

impl<'p> Tracks<'p> for Tracking<'p> {
    fn tracking(&self) -> &Tracking<'p> {
        self
    }
    fn tracking_mut(&mut self) -> &mut Tracking<'p> {
        self
    }
}

impl<'p> Tracks<'p> for Slicing<'p, Tracking<'p>> {
    fn tracking(&self) -> &Tracking<'p> {
        &self.inner
    }
    fn tracking_mut(&mut self) -> &mut Tracking<'p> {
        &mut self.inner
    }
    fn sliced(&self) -> usize {
        self.len()
    }
}

impl<'p, C: Tracks<'p>> Explore<'p> for Cegar<'p, C> {
    fn run(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Exploration<Inputs>, Stop> {
        Cegar::run(self, budget, taints, progress)
    }
    fn domain(&self) -> &SymbolicExecution<'p> {
        &self.inner.cpa.tracking().symbolic
    }
    fn domain_mut(&mut self) -> &mut SymbolicExecution<'p> {
        &mut self.inner.cpa.tracking_mut().symbolic
    }
    fn tracking(&mut self) -> Option<&mut Tracking<'p>> {
        Some(self.inner.cpa.tracking_mut())
    }
    fn counters(&self) -> &Counters {
        &self.inner.counters
    }
    fn waiting(&self) -> usize {
        self.inner.waiting()
    }
    fn frontier(&self) -> Vec<Open> {
        Cegar::frontier(self)
    }
    fn sliced(&self) -> usize {
        self.inner.cpa.sliced()
    }
    fn graph(&self) -> Vec<Shape> {
        Reached::<C>::shape(&self.inner.reached)
    }
}

/// An analysis under way.
struct Worker<'r> {
    analysis: Analysis,
    method: Method<'r>,
    taints: Taints,
    /// Why it does not go on.
    given_up: Option<Reason>,
    /// The time of its turns so far.
    spent: Duration,
}

impl Worker<'_> {
    /// What it takes to explore what is left at the pace so far, if that can be told and is not much more.
    fn nearly_done(&self) -> Option<Duration> {
        let Method::Exploration(exploration) = &self.method else { return None };
        let done = exploration.done()?;
        let left = (1.0 - done) / done;
        (left <= NEARLY_DONE).then(|| self.spent.mul_f64(left))
    }
}

/// How a turn ended.
enum Turn {
    Proved,
    Violation {
        error: ErrorId,
        edge: EdgeId,
        inputs: Inputs,
    },
    TimeIsUp,
    /// The analysis has ended without an answer.
    GaveUp(Reason),
    /// All executions were seen, but not in full.
    Tainted(Reason),
}

pub struct Run<'r> {
    program: &'r Program,
    config: &'r Config,
    budget: &'r Budget,
    replay: &'r Replay<'r>,
    progress: &'r (dyn Fn(&Stats) + Sync),
    start: Instant,
    last: Instant,
    /// Of the explorations that are over.
    stats: Stats,
    exchange: Exchange,
    /// Of the last proof by invariants.
    proof: Option<ProofCheck>,
    certificate: Option<Certificate>,
    crashes: Vec<Crash>,
}

impl<'r> Run<'r> {
    pub fn new(
        program: &'r Program,
        config: &'r Config,
        budget: &'r Budget,
        replay: &'r Replay<'r>,
        progress: &'r (dyn Fn(&Stats) + Sync),
    ) -> Self {
        let start = Instant::now();
        Self {
            program,
            config,
            budget,
            replay,
            progress,
            start,
            last: start,
            stats: Stats::default(),
            exchange: Exchange::default(),
            proof: None,
            certificate: None,
            crashes: Vec::new(),
        }
    }

    /// `analyses` take turns, and tell each other what they learn.
    pub fn verify(mut self, analyses: &[Analysis]) -> Outcome {
        let mut workers: Vec<Worker<'r>> = analyses.iter().map(|&a| self.worker(a)).collect();
        // What no analysis may overlook.
        let mut common = Taints::default();
        let mut decided = 0;
        let mut share = FIRST_SHARE;
        let verdict = 'run: loop {
            if share == FIRST_SHARE
                && let Some(i) = workers.iter().position(|w| matches!(w.method, Method::Invariants(_)))
            {
                let first = self.budget.within(FIRST_PROOF);
                match self.guarded(Analysis::Invariants, |run| run.prove(&mut workers, i, &first)) {
                    Ok(Turn::Proved) => {
                        decided = i;
                        break Verdict::True;
                    }
                    Ok(_) => {}
                    Err(crash) => workers[i].given_up = Some(crash),
                }
            }
            for i in 0..workers.len() {
                if workers[i].given_up.is_some() {
                    continue;
                }
                let alone = workers.iter().filter(|w| w.given_up.is_none()).count() == 1;
                let mut part = match workers[i].method {
                    _ if alone => self.budget.clone(),
                    Method::Testing(_) => self.budget.within(share / TESTING),
                    _ => self.budget.within(share),
                };
                // Alone, an analysis comes back only with a query that takes too long: it gets more time at each turn.
                let query_time =
                    if alone { self.config.query_time.max(share) } else { share.min(self.config.query_time) };
                decided = i;
                self.take(&mut workers[i]);
                let (mut extensions, mut extended) = (0, Duration::ZERO);
                loop {
                    let (analysis, start) = (workers[i].analysis, Instant::now());
                    let turn = self.guarded(analysis, |run| run.turn(&mut workers, i, &part, query_time));
                    workers[i].spent += start.elapsed();
                    self.publish(&mut workers[i]);
                    match turn.unwrap_or_else(Turn::GaveUp) {
                        Turn::Proved => match common.first(self.program) {
                            None => break 'run Verdict::True,
                            Some(reason) => break 'run Verdict::Unknown(reason),
                        },
                        Turn::Violation { error, edge, inputs } => {
                            self.stats.replays += 1;
                            match (self.replay)(&inputs, error) {
                                Ok((inputs, path)) => {
                                    break 'run Verdict::False(Counterexample { error, inputs, path });
                                }
                                Err(why) => {
                                    let text = format!("a violation was found that does not replay: {why}");
                                    let reason = Reason::at(text, self.program.edges[edge].place);
                                    if self.config.stop_at_unconfirmed {
                                        break 'run Verdict::Unknown(reason);
                                    }
                                    common.drop_behaviour(reason);
                                }
                            }
                        }
                        Turn::TimeIsUp => match workers[i].nearly_done() {
                            Some(more) if extensions < EXTENSIONS && extended + more <= EXTENDED.max(share) => {
                                // A little more than estimated, lest it ends right before the end.
                                let more = more.mul_f64(1.25) + Duration::from_millis(10);
                                (extensions, extended) = (extensions + 1, extended + more);
                                part = self.budget.within(more);
                            }
                            _ => break,
                        },
                        Turn::GaveUp(reason) => {
                            workers[i].given_up = Some(reason);
                            break;
                        }
                        Turn::Tainted(reason) => {
                            // Another exploration would meet the same; an invariant may show that it does not matter.
                            for worker in workers.iter_mut().filter(|w| !matches!(w.method, Method::Invariants(_))) {
                                worker.given_up.get_or_insert_with(|| reason.clone());
                            }
                            break;
                        }
                    }
                }
                if let Some(spent) = self.budget.spent() {
                    break 'run Verdict::Unknown(Reason::spent(spent));
                }
            }
            if workers.iter().all(|w| w.given_up.is_some()) {
                // Only the first is asked why: the others are there to help it. But what is our fault comes before.
                let crash = self.crashes.first().map(Crash::reason);
                break Verdict::Unknown(
                    crash.unwrap_or_else(|| workers[0].given_up.clone().expect("all have given up")),
                );
            }
            share = share.saturating_mul(GROWTH);
        };
        self.outcome(workers, common, decided, verdict)
    }

    /// Does a piece of the work of an analysis. If it panics, that analysis has given up, and no other.
    ///
    /// What a panic leaves behind in the state of the analysis is not used again but for what others learn from it, which
    /// they check: candidates and what to track.
    fn guarded<T>(&mut self, analysis: Analysis, work: impl FnOnce(&mut Self) -> T) -> Result<T, Reason> {
        let fault = self.config.faults.contains(&analysis);
        let done = catch_unwind(AssertUnwindSafe(|| {
            assert!(!fault, "a fault in {} was asked for", analysis.name());
            work(self)
        }));
        done.map_err(|panic| {
            let crash = Crash::new(analysis, &*panic);
            let reason = crash.reason();
            self.crashes.push(crash);
            reason
        })
    }

    fn worker(&self, analysis: Analysis) -> Worker<'r> {
        let config = self.config;
        let standard = tracking::Options {
            values_only: false,
            full: false,
            sharing: config.sharing,
            threshold: config.value_threshold,
            values: true,
            predicates: false,
            boolean: config.combines_predicates,
        };
        let at_joins = |how| {
            let cpa = Tracking::new(self.domain(), how);
            let parameters = self.parameters(cpa.symbolic.heads(), Merge::Never);
            Method::Exploration(Box::new(Cegar::new(self.program, cpa, parameters)))
        };
        let in_blocks = |how| {
            let cpa = Tracking::new(self.domain(), how);
            let (heads, joins) = (cpa.symbolic.cutpoints(config.abstracts_at_calls), cpa.symbolic.heads());
            let parameters = self.parameters(heads, Merge::InBlocks(joins));
            Method::Exploration(Box::new(Cegar::new(self.program, cpa, parameters)))
        };
        let sliced = |how| {
            let cpa = Tracking::new(self.domain().lacking_frees(frees(self.program)), how);
            let parameters = self.parameters(cpa.symbolic.heads(), Merge::Never);
            match Slicing::new(self.program, cpa, Criteria::TargetPath, slicer::Options::default()) {
                Ok(cpa) => Method::Exploration(Box::new(Cegar::new(self.program, cpa, parameters))),
                Err(_) => Method::Nothing,
            }
        };
        let method = match analysis {
            Analysis::Symex => self.exploration(Merge::Never),
            Analysis::Merging => self.exploration(Merge::AtHeads),
            Analysis::Value => at_joins(tracking::Options { values_only: true, ..standard }),
            Analysis::ValueNoCegar => {
                at_joins(tracking::Options { values_only: true, full: true, threshold: 0, ..standard })
            }
            Analysis::SymexCegar => at_joins(tracking::Options { threshold: 0, ..standard }),
            Analysis::Predicate => in_blocks(tracking::Options {
                values: false,
                predicates: true,
                threshold: standard.threshold.min(FEW_VALUES),
                ..standard
            }),
            Analysis::ValuePredicate => in_blocks(tracking::Options {
                predicates: true,
                threshold: standard.threshold.min(FEW_VALUES),
                ..standard
            }),
            Analysis::Invariants => {
                Method::Invariants(Box::new(Houdini { plain: self.domain(), prover: Prover::new(self.program) }))
            }
            Analysis::Bmc => Method::Bounded(Box::new(Bounded::new(self.program, config, self.domain(), None))),
            Analysis::KInduction => {
                let prover = Prover::new(self.program);
                Method::Bounded(Box::new(Bounded::new(self.program, config, self.domain(), Some(prover))))
            }
            Analysis::SymexSlicing => sliced(tracking::Options { full: true, threshold: 0, ..standard }),
            Analysis::SymexCegarSlicing => sliced(tracking::Options { threshold: 0, ..standard }),
            Analysis::Random => Method::Testing(Tester::new(self.program, config.seed)),
            Analysis::Default => unreachable!("made of others"),
        };
        Worker { analysis, method, taints: Taints::default(), given_up: None, spent: Duration::ZERO }
    }

    fn domain(&self) -> SymbolicExecution<'r> {
        let solvers = &self.config.solvers;
        let solver = PathSolver::new(solvers.open(), self.budget.clone());
        SymbolicExecution::new(self.program, solver, solvers.clone()).lacking_frees(self.config.lacks_frees)
    }

    fn parameters(&self, heads: Vec<bool>, merge: Merge) -> Parameters {
        let Config { search, seed, max_call_depth, .. } = *self.config;
        Parameters { heads, merge, search, seed, max_call_depth }
    }

    /// An exploration of all states in full.
    fn exploration(&self, merge: Merge) -> Method<'r> {
        let cpa = self.domain();
        let parameters = self.parameters(cpa.heads(), merge);
        Method::Exploration(match self.config.wants_graph {
            true => Box::new(CpaAlgorithm::new(self.program, cpa, Pictured::default(), parameters)),
            false => Box::new(CpaAlgorithm::new(self.program, cpa, Forgotten, parameters)),
        })
    }

    fn turn(&mut self, workers: &mut [Worker<'r>], i: usize, budget: &Budget, query_time: Duration) -> Turn {
        let mut reporter = Reporter { base: self.stats, start: self.start, last: self.last, progress: self.progress };
        let mut progress = |counters: &Counters, waiting: usize| reporter.report(counters, waiting);
        let worker = &mut workers[i];
        if let Method::Bounded(bounded) = &mut worker.method {
            let result = bounded.run(budget, query_time, &mut worker.taints, &mut |explorer, budget, taints| {
                let before = Stats::of(&explorer.counters, &explorer.cpa.symbolic);
                let result = explorer.run(budget, taints, &mut progress);
                self.stats.advance(&before, &Stats::of(&explorer.counters, &explorer.cpa.symbolic));
                result
            });
            self.last = reporter.last;
            let proof = bounded.proof.take();
            return match result {
                Ok(Exploration::Complete) => match worker.taints.first(self.program) {
                    None if proof.is_some() => self.checked(proof.expect("just seen")),
                    None => Turn::Proved,
                    Some(reason) => Turn::GaveUp(reason),
                },
                Ok(Exploration::Target { error, edge, evidence }) => Turn::Violation { error, edge, inputs: evidence },
                Err(Stop::Fatal(reason)) => Turn::GaveUp(reason),
                Err(Stop::Spent(_)) => Turn::TimeIsUp,
            };
        }
        if let Method::Testing(tester) = &mut worker.method {
            let before = tester.edges;
            let tested = tester.run(budget);
            self.stats.exploration.edges += tester.edges - before;
            return match tested {
                Tested::Violation { error, edge, inputs } => Turn::Violation { error, edge, inputs },
                Tested::Spent => Turn::TimeIsUp,
                Tested::Enough => Turn::GaveUp(Reason::new("runs on random inputs violate nothing")),
            };
        }
        let exploration = match &mut worker.method {
            Method::Exploration(exploration) => exploration,
            Method::Nothing => return Turn::GaveUp(Reason::new("the dependences of the program could not be found")),
            Method::Bounded(_) | Method::Testing(_) => unreachable!("done above"),
            Method::Invariants(_) => return self.prove(workers, i, budget),
        };
        // A query that takes longer than this turn is asked again in a later one.
        exploration.domain_mut().solver().set_query_time(Some(query_time));
        exploration.domain_mut().solver().set_budget(budget.clone());
        let result = exploration.run(budget, &mut worker.taints, &mut progress);
        self.last = reporter.last;
        match result {
            Ok(Exploration::Complete) => {
                worker.taints.merge(&exploration.domain().taints);
                match worker.taints.first(self.program) {
                    None => Turn::Proved,
                    Some(reason) if exploration.is_exact() => Turn::Tainted(reason),
                    Some(reason) => Turn::GaveUp(reason),
                }
            }
            Ok(Exploration::Target { error, edge, evidence }) => Turn::Violation { error, edge, inputs: evidence },
            Err(Stop::Fatal(reason)) => Turn::GaveUp(reason),
            Err(Stop::Spent(_)) => Turn::TimeIsUp,
        }
    }

    /// What an analysis has learned, for the others.
    fn publish(&mut self, worker: &mut Worker<'r>) {
        let Method::Exploration(exploration) = &mut worker.method else { return };
        self.exchange.publish_values(exploration.domain());
        if let Some(tracking) = exploration.tracking() {
            self.exchange.publish_precision(worker.analysis, tracking);
        }
    }

    /// What the others have learned, for an analysis.
    fn take(&self, worker: &mut Worker<'r>) {
        match &mut worker.method {
            Method::Exploration(exploration) => {
                if let Some(tracking) = exploration.tracking() {
                    self.exchange.take_precision(worker.analysis, tracking);
                }
            }
            Method::Bounded(bounded) => self.exchange.take_observations(&mut bounded.plain.loops),
            Method::Invariants(houdini) => self.exchange.take_observations(&mut houdini.plain.loops),
            Method::Testing(_) | Method::Nothing => {}
        }
    }

    /// Whether invariants prove the program, by the worker of this number.
    fn prove(&mut self, workers: &mut [Worker<'r>], i: usize, budget: &Budget) -> Turn {
        let Method::Invariants(houdini) = &mut workers[i].method else { unreachable!("the worker for it") };
        let Houdini { plain, prover } = &mut **houdini;
        if plain.loops.is_empty() {
            return Turn::GaveUp(Reason::new("there is no loop to find an invariant of"));
        }
        let proved = prover.prove(plain, self.config, budget, &mut |explorer, budget, taints| {
            let mut reporter =
                Reporter { base: self.stats, start: self.start, last: self.last, progress: self.progress };
            let before = Stats::of(&explorer.counters, &explorer.cpa.symbolic);
            let result = explorer.run(budget, taints, &mut |counters, waiting| reporter.report(counters, waiting));
            self.last = reporter.last;
            self.stats.advance(&before, &Stats::of(&explorer.counters, &explorer.cpa.symbolic));
            result
        });
        match proved {
            Some(proof) => self.checked(proof),
            None if budget.spent().is_some() || prover.is_pending() => Turn::TimeIsUp,
            // More samples may suggest better candidates.
            None => unproved(workers),
        }
    }

    /// What the checker says of a proof. One that it refutes is none.
    fn checked(&mut self, proof: Proof) -> Turn {
        let check = match proof {
            Ok(certificate) => {
                let check = proof::check(self.program, &certificate, &self.budget.within(CHECK_TIME));
                self.certificate = Some(certificate);
                check
            }
            Err(why) => ProofCheck::NotChecked(why),
        };
        if let ProofCheck::Refuted(what) = check {
            return Turn::GaveUp(Reason::new(format!("a proof was found that is none: {what}")));
        }
        self.proof = Some(check);
        Turn::Proved
    }

    fn outcome(mut self, workers: Vec<Worker<'r>>, common: Taints, decided: usize, verdict: Verdict) -> Outcome {
        let unconfirmed = common.first(self.program);
        let mut taints = common;
        let mut lessons = Vec::new();
        let mut arg = Vec::new();
        let mut frontiers = Vec::new();
        let decided_by = workers[decided].analysis;
        for (i, mut worker) in workers.into_iter().enumerate() {
            taints.merge(&worker.taints);
            let Method::Exploration(exploration) = &mut worker.method else { continue };
            taints.merge(&exploration.domain().taints);
            self.stats.add(exploration.counters(), exploration.waiting(), exploration.domain());
            self.stats.precision += exploration.sliced() as u64;
            if let Some(tracking) = exploration.tracking() {
                self.stats.precision += tracking.tracked() as u64;
                lessons.append(&mut tracking.lessons);
            }
            if self.config.wants_frontier && matches!(verdict, Verdict::Unknown(_)) {
                frontiers.push(Frontier { analysis: worker.analysis, open: exploration.frontier() });
            }
            if i == decided || arg.is_empty() {
                arg = exploration.graph();
            }
            if self.budget.spent().is_some() {
                // To take apart what an interrupted run leaves can take longer than it had.
                std::mem::forget(worker);
            }
        }
        self.stats.time = self.start.elapsed();
        let explored = || ProofCheck::NotChecked("all executions were explored".into());
        let proof = matches!(verdict, Verdict::True).then(|| self.proof.unwrap_or_else(explored));
        let reasons = taints.reasons(self.program);
        let certificate = self.certificate.filter(|_| matches!(verdict, Verdict::True));
        let (stats, crashes) = (self.stats, self.crashes);
        Outcome {
            verdict,
            stats,
            reasons,
            decided_by,
            proof,
            certificate,
            unconfirmed,
            lessons,
            arg,
            frontiers,
            crashes,
        }
    }
}

/// Whether the program frees memory.
pub fn frees(program: &Program) -> bool {
    program.edges.values().any(|e| matches!(e.op, Op::Free { kind: AllocKind::Heap | AllocKind::Library, .. }))
}

/// Another try has a point only if executions may still show more.
fn unproved(workers: &[Worker<'_>]) -> Turn {
    // Only these meet values that can occur.
    let is_exact = |w: &&Worker<'_>| matches!(&w.method, Method::Exploration(e) if e.is_exact());
    let mut explorations = workers.iter().filter(is_exact);
    match explorations.clone().any(|w| w.given_up.is_none()) {
        true => Turn::TimeIsUp,
        false => {
            let reason = explorations.find_map(|w| w.given_up.clone());
            Turn::GaveUp(reason.unwrap_or_else(|| Reason::new("no invariants prove the program")))
        }
    }
}

/// Tells what goes on, some ten times a second.
struct Reporter<'r> {
    base: Stats,
    start: Instant,
    last: Instant,
    progress: &'r (dyn Fn(&Stats) + Sync),
}

impl Reporter<'_> {
    fn report(&mut self, counters: &Counters, waiting: usize) {
        if self.last.elapsed() >= Duration::from_millis(100) {
            self.last = Instant::now();
            let mut stats = self.base;
            stats.exploration.add(counters);
            stats.waiting_now = waiting as u64;
            stats.time = self.start.elapsed();
            (self.progress)(&stats);
        }
    }
}
