//! Runs several algorithms on one task in time slices, with exchange of facts.

use super::{Replay, configurations};
use crate::algorithm::{Algorithm, Ending, Proof, Setting, Share};
use crate::analysis::reached::graph::ArgNode;
use crate::composition::Analysis;
use crate::coverage::Coverage;
use crate::crash::Crash;
use crate::exchange::Exchange;
use crate::outcome::{Outcome, Turn};
use crate::stats::{Counters, Stats};
use crate::verdict::{Counterexample, Reason, ReasonKind, Taints, Verdict};
use certificate::{Certificate, ProofCheck};
use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId};
use smt::budget::{Budget, Spent};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Length of the first time slices. Each round is [`GROWTH`] times as long as the last.
const FIRST_TURN: Duration = Duration::from_millis(500);
const GROWTH: u32 = 3;
/// Time for exploration path by path before others get a head start. Programs with few paths need no more.
const OPENING: Duration = Duration::from_millis(100);
/// A time slice is extended if the estimated remaining time is at most this many times the time spent so far, and at
/// most `EXTENDED`. It is extended again only if the next estimate is smaller by at least a quarter, so that a wrong
/// estimate is not trusted twice.
const NEARLY_DONE: f64 = 4.0;
const EXTENDED: Duration = Duration::from_secs(2);
/// Time that is added to each estimate of the remaining time.
const SLACK: Duration = Duration::from_millis(10);
/// Limit on the processor time of a proof check.
const CHECK_TIME: Duration = Duration::from_secs(1);
/// Limit on the processor time of a proof check that explores all executions again.
const FOLLOWING_TIME: Duration = Duration::from_secs(1);

/// An analysis with its state.
struct Worker<'r> {
    analysis: Analysis,
    algorithm: Box<dyn Algorithm<'r> + 'r>,
    /// The reason why it has ended.
    given_up: Option<Reason>,
    /// True if it ended only because it, or another analysis, dropped behaviours.
    is_tainted: bool,
    /// The processor time of its time slices so far.
    spent: Duration,
}

impl Worker<'_> {
    /// The estimated time to complete the exploration at the present pace, if it is known and short.
    fn nearly_done(&self) -> Option<Duration> {
        let done = self.algorithm.done()?;
        let left = (1.0 - done) / done;
        (left <= NEARLY_DONE).then(|| self.spent.mul_f64(left))
    }
}

/// The consequence of a time slice for the run.
enum After {
    /// The run has this verdict.
    Decided(Verdict),
    /// The same algorithm continues.
    GoesOn,
    /// The time slice is over.
    Over,
    /// The algorithm had no answer within its time. The time slice may be extended.
    TimeIsUp,
}

/// The analyses that take turns in one thread.
pub(crate) struct Turns<'r> {
    setting: Setting<'r>,
    replay: &'r Replay<'r>,
    progress: &'r (dyn Fn(&Stats) + Sync),
    workers: Vec<Worker<'r>>,
    start: Instant,
    last: Instant,
    replays: u64,
    exchange: Exchange,
    /// Behaviours dropped in ways that invalidate proofs of all analyses.
    common: Taints,
    /// The check of the last proof.
    proof: Option<ProofCheck>,
    certificate: Option<Certificate>,
    crashes: Vec<Crash>,
    turns: Vec<Turn>,
}

impl<'r> Turns<'r> {
    pub fn new(
        setting: Setting<'r>,
        analyses: &[Analysis],
        exchange: Exchange,
        replay: &'r Replay<'r>,
        progress: &'r (dyn Fn(&Stats) + Sync),
    ) -> Self {
        let start = Instant::now();
        let worker = |&analysis: &Analysis| Worker {
            analysis,
            algorithm: configurations::algorithm(setting, analysis),
            given_up: None,
            is_tainted: false,
            spent: Duration::ZERO,
        };
        Self {
            setting,
            replay,
            progress,
            workers: analyses.iter().map(worker).collect(),
            start,
            last: start,
            replays: 0,
            exchange,
            common: Taints::default(),
            proof: None,
            certificate: None,
            crashes: Vec::new(),
            turns: Vec::new(),
        }
    }

    /// Runs until one of the analyses has a verdict or all have given up.
    pub fn verify(mut self) -> Outcome {
        let first = self.opening().or_else(|| self.head_starts());
        let (decided, verdict) = first.unwrap_or_else(|| self.take_turns());
        self.outcome(decided, verdict)
    }

    /// Runs exploration path by path for a moment before others get a head start, unless the proof should have
    /// invariants. The slice is extended by the time of a head start if that seems to suffice.
    fn opening(&mut self) -> Option<(usize, Verdict)> {
        let others = self.workers.iter().filter_map(|w| w.algorithm.head_start()).max()?;
        let config = self.setting.config;
        let opens = config.analysis == Analysis::Default && !config.wants_agreements;
        if !opens || !self.workers[0].algorithm.is_exact() {
            return None;
        }
        self.turn(0, OPENING, others).map(|verdict| (0, verdict))
    }

    /// Runs the first attempts that precede the time slices.
    fn head_starts(&mut self) -> Option<(usize, Verdict)> {
        for i in 0..self.workers.len() {
            let Some(time) = self.workers[i].algorithm.head_start() else { continue };
            if let Some(verdict) = self.turn(i, time, Duration::ZERO) {
                return Some((i, verdict));
            }
        }
        None
    }

    fn take_turns(&mut self) -> (usize, Verdict) {
        let mut turn = FIRST_TURN;
        loop {
            for i in 0..self.workers.len() {
                if self.workers[i].given_up.is_some() {
                    continue;
                }
                if let Some(verdict) = self.turn(i, turn, EXTENDED.max(turn)) {
                    return (i, verdict);
                }
                if let Some(spent) = self.setting.budget.spent() {
                    return (i, Verdict::Unknown(Reason::spent(spent)));
                }
            }
            if self.workers.iter().all(|w| w.given_up.is_some()) {
                // The reason of the first analysis is reported, since the others support it. Panics take precedence.
                let crash = self.crashes.first().map(Crash::reason);
                let reason = crash.or_else(|| self.workers[0].given_up.clone()).expect("all have given up");
                return (self.workers.len() - 1, Verdict::Unknown(reason));
            }
            turn = turn.saturating_mul(GROWTH);
        }
    }

    /// Runs one time slice of a worker. The slice may be extended by `extension` if that seems to suffice.
    fn turn(&mut self, i: usize, turn: Duration, mut extension: Duration) -> Option<Verdict> {
        let config = self.setting.config;
        // An analysis has to end its slice regularly to import the facts of others, also of other threads.
        let alone = self.workers.iter().filter(|w| w.given_up.is_none()).count() == 1 && !self.exchange.is_shared();
        let mut part = match alone {
            true => self.setting.budget.clone(),
            false => self.setting.budget.exerting(self.workers[i].algorithm.share(turn)),
        };
        // An analysis that runs alone returns early only for a query that exceeds its limit. Each slice raises the
        // limit.
        let query_time = if alone { config.query_time.max(turn) } else { turn.min(config.query_time) };
        self.workers[i].algorithm.import(&self.exchange);
        loop {
            let ending = self.timed(i, &part, query_time);
            self.workers[i].algorithm.publish(&self.exchange);
            match self.evaluate_end(i, ending.unwrap_or_else(Ending::GaveUp)) {
                After::Decided(verdict) => return Some(verdict),
                After::GoesOn => {}
                After::Over => return None,
                After::TimeIsUp => match self.workers[i].nearly_done() {
                    // Take somewhat more than the estimate, so that the analysis does not stop shortly before its end.
                    Some(more) if more.mul_f64(1.25) + SLACK <= extension => {
                        let more = more.mul_f64(1.25) + SLACK;
                        extension = more.mul_f64(0.75);
                        part = self.setting.budget.exerting(more);
                    }
                    _ => return None,
                },
            }
        }
    }

    /// Evaluates the end of a time slice.
    fn evaluate_end(&mut self, i: usize, ending: Ending) -> After {
        match ending {
            Ending::Proved(_) => After::Decided(match self.common.first(self.setting.program) {
                None => Verdict::True,
                Some(reason) => Verdict::Unknown(reason),
            }),
            Ending::Violation { error, edge, inputs } => self.replayed(error, edge, &inputs),
            Ending::TimeIsUp => After::TimeIsUp,
            Ending::GaveUp(reason) => {
                self.workers[i].given_up = Some(reason);
                After::Over
            }
            Ending::Tainted { reason, by_program } => {
                // Every other exploration would meet the same approximation. A proof by invariants may avoid it, unless
                // it is an `Approx` edge of the program that executions reach.
                for worker in self.workers.iter_mut().filter(|w| by_program || !w.algorithm.goes_beyond_exploration()) {
                    worker.is_tainted |= worker.given_up.is_none();
                    worker.given_up.get_or_insert_with(|| reason.clone());
                }
                After::Over
            }
            Ending::NoProof => {
                // Another attempt makes sense only if executions may still yield new facts.
                let mut exact = self.workers.iter().filter(|w| w.algorithm.is_exact());
                if !exact.clone().any(|w| w.given_up.is_none()) {
                    let reason = exact.find_map(|w| w.given_up.clone());
                    self.workers[i].given_up =
                        Some(reason.unwrap_or_else(|| Reason::new("no invariants prove the program")));
                }
                After::Over
            }
        }
    }

    /// A violation counts if the interpreter confirms it. Otherwise no analysis may report the program as safe.
    fn replayed(&mut self, error: ErrorId, edge: EdgeId, inputs: &Inputs) -> After {
        self.replays += 1;
        match (self.replay)(inputs, error) {
            Ok((inputs, path)) => After::Decided(Verdict::False(Counterexample { error, inputs, path })),
            Err(why) => {
                let text = format!("the candidate counterexample is spurious: in its replay, {why}");
                let place = self.setting.program.edges[edge].place;
                let reason = Reason::at(text, place).of_kind(ReasonKind::Spurious);
                if self.setting.config.stop_at_unconfirmed {
                    return After::Decided(Verdict::Unknown(reason));
                }
                self.common.drop_behaviour(reason);
                After::GoesOn
            }
        }
    }

    /// Continues a worker and records the time slice.
    fn timed(&mut self, i: usize, budget: &Budget, query_time: Duration) -> Result<Ending, Reason> {
        let (start, before) = (self.start.elapsed(), self.workers[i].algorithm.stats());
        let mut end = None;
        let worked = smt::budget::worked();
        let ending = self.guarded(i, |this| {
            let ending = this.advance(i, budget, query_time);
            end = Some((this.start.elapsed(), smt::budget::worked()));
            this.checked(ending)
        });
        let (end, until) = end.unwrap_or_else(|| (self.start.elapsed(), smt::budget::worked()));
        let after = self.workers[i].algorithm.stats();
        self.workers[i].spent += until.saturating_sub(worked);
        self.turns.push(Turn {
            analysis: self.workers[i].analysis,
            thread: 0,
            start,
            end,
            edges: after.exploration.edges.saturating_sub(before.exploration.edges),
            solver_calls: after.solver_calls.saturating_sub(before.solver_calls),
            ended: ending.as_ref().map_or("gave up", Ending::name),
        });
        ending
    }

    /// Continues a worker.
    fn advance(&mut self, i: usize, budget: &Budget, query_time: Duration) -> Ending {
        let mut base = self.stats_but(i);
        base.replays = self.replays;
        let Self { workers, last, start, progress, .. } = self;
        let mut report = |counters: &Counters, waiting: usize| {
            // About ten times a second.
            if last.elapsed() >= Duration::from_millis(100) {
                *last = Instant::now();
                let mut stats = base;
                stats.exploration.add(counters);
                stats.waiting_now += waiting as u64;
                stats.time = start.elapsed();
                progress(&stats);
            }
        };
        workers[i].algorithm.run(&mut Share { budget, query_time, progress: &mut report })
    }

    /// The statistics of all workers except one.
    fn stats_but(&self, i: usize) -> Stats {
        let mut stats = Stats::default();
        for (_, worker) in self.workers.iter().enumerate().filter(|(j, _)| *j != i) {
            stats.join(&worker.algorithm.stats());
        }
        stats
    }

    /// Does some work of an analysis. If it panics, only that analysis gives up.
    ///
    /// The state of a panicked analysis is used only for the exchange. Others verify what they take from there.
    fn guarded<T>(&mut self, i: usize, work: impl FnOnce(&mut Self) -> T) -> Result<T, Reason> {
        let analysis = self.workers[i].analysis;
        let fault = self.setting.config.faults.contains(&analysis);
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

    /// Checks a proof with the certificate checker. A refuted proof is discarded.
    fn checked(&mut self, ending: Ending) -> Ending {
        let Ending::Proved(proof) = ending else { return ending };
        let Setting { program, config, budget, .. } = self.setting;
        // The check must leave time to report the verdict.
        let left = budget.remaining().map_or(CHECK_TIME, |left| left / 2);
        let check = |certificate: &Certificate, time: Duration| {
            let time = time.min(left);
            certificate::check(program, certificate, &config.solvers, &budget.exerting(time))
        };
        let check = match proof {
            Proof::Exhaustive if config.checks_explored && config.part.is_none() => {
                check(&Certificate::followed(program), FOLLOWING_TIME)
            }
            Proof::Exhaustive => ProofCheck::NotChecked("all executions were explored".into()),
            Proof::Invariants(certificate) => {
                let check = check(&certificate, CHECK_TIME);
                self.certificate = Some(*certificate);
                check
            }
        };
        if let ProofCheck::Refuted(what) = check {
            return Ending::GaveUp(Reason::new(format!("the proof that was found does not pass its check: {what}")));
        }
        self.proof = Some(check);
        Ending::Proved(Proof::Exhaustive)
    }

    fn outcome(self, decided: usize, verdict: Verdict) -> Outcome {
        let Self { setting, workers, start, replays, common, proof, certificate, crashes, turns, .. } = self;
        let unconfirmed = common.first(setting.program);
        let decided_by = workers[decided].analysis;
        let (mut taints, mut stats) = (common, Stats::default());
        let is_true = matches!(verdict, Verdict::True);
        let agreements = if is_true { workers[decided].algorithm.agreements() } else { Vec::new() };
        let (mut increments, mut frontiers, mut arg) = (Vec::new(), Vec::new(), Vec::<ArgNode>::new());
        let coverage = {
            let whole = is_true.then(|| workers[decided].algorithm.visited()).filter(|visited| !visited.is_empty());
            let of =
                |visited: &mut dyn Iterator<Item = &[bool]>, all| Coverage::combine(setting.simplified, visited, all);
            match whole {
                Some(visited) => of(&mut std::iter::once(visited), true),
                None => of(&mut workers.iter().map(|w| w.algorithm.visited()), false),
            }
        };
        for (i, worker) in workers.into_iter().enumerate() {
            let algorithm = &worker.algorithm;
            taints.merge(&algorithm.taints());
            stats.join(&algorithm.stats());
            increments.append(&mut algorithm.increments());
            if setting.config.wants_frontier
                && matches!(verdict, Verdict::Unknown(_))
                && let Some(mut frontier) = algorithm.frontier()
            {
                if !(worker.is_tainted && frontier.is_complete) {
                    frontier.given_up.clone_from(&worker.given_up);
                }
                frontiers.push(frontier);
            }
            let graph = algorithm.graph();
            if !graph.is_empty() && (i == decided || arg.is_empty()) {
                arg = graph;
            }
            let spent = setting.budget.spent();
            if spent == Some(Spent::Cancelled) || spent.is_some() && setting.config.is_last {
                // Releasing the memory of an interrupted analysis can take longer than its run.
                std::mem::forget(worker);
            }
        }
        stats.time = start.elapsed();
        stats.replays = replays;
        Outcome {
            verdict,
            stats,
            reasons: taints.reasons(setting.program),
            decided_by,
            proof: proof.filter(|_| is_true),
            certificate: certificate.filter(|_| is_true),
            agreements,
            coverage,
            unconfirmed,
            turns,
            increments,
            arg,
            frontiers,
            simplified: None,
            crashes,
        }
    }
}
