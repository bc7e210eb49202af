//! The analyses that decide whether an error of a program can be reached.
//!
//! [`verify`] takes a [`Program`](cfa::Program) whose violations are error edges (see the `instrument` crate) and
//! answers with a [`Verdict`]. FALSE is said only after the reference interpreter has replayed the inputs found;
//! TRUE only where nothing was assumed away (see [`Taints`]).

pub mod arg;
pub mod budget;
pub mod cegar;
pub mod control;
pub mod cpa;
pub mod explore;
pub mod invariants;
mod replay;
pub mod solver;
mod verdict;
pub mod waitlist;

pub use replay::{replay, replay_limits};
pub use verdict::{Counterexample, Reason, Taints, Verdict};

use budget::Budget;
use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId, Program};
use cpa::Stop;
use cpa::symbolic::SymbolicExecution;
use explore::{Counters, Exploration, Explorer};
use solver::{Bitwuzla, PathSolver};
use std::time::{Duration, Instant};
use waitlist::Search;

/// How to verify.
#[derive(Clone, Debug)]
pub struct Config {
    pub search: Search,
    /// Makes the run repeatable.
    pub seed: u64,
    /// Nested calls that are followed; deeper ones make a proof impossible.
    pub max_call_depth: u32,
    /// For one solver query.
    pub query_time: Duration,
    /// Whether loop invariants are tried where exploration does not end.
    pub induction: bool,
    /// Whether a violation that does not replay ends the run: where the program is a slice, it is a sign that the
    /// slice lacks what keeps the original from the error.
    pub stop_at_unconfirmed: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            search: Search::Mixed,
            seed: 0,
            max_call_depth: 10_000,
            query_time: Duration::from_secs(30),
            induction: true,
            stop_at_unconfirmed: false,
        }
    }
}

/// The first turn of each way of exploring; turns grow by the factor [`GROWTH`].
const FIRST_SHARE: Duration = Duration::from_secs(1);
const GROWTH: u32 = 3;

/// Counters of a run, for progress displays and statistics.
#[derive(Clone, Copy, Default, Debug)]
pub struct Stats {
    pub exploration: Counters,
    /// States waiting at this moment.
    pub waiting_now: u64,
    pub terms: u64,
    pub queries: u64,
    pub solver_calls: u64,
    pub solver_time: Duration,
    pub replays: u64,
    pub time: Duration,
}

impl Stats {
    /// Adds what a phase did.
    fn add(&mut self, explorer: &Explorer<'_, SymbolicExecution<'_>>) {
        self.exploration.add(&explorer.counters);
        self.waiting_now = explorer.waiting() as u64;
        self.terms += explorer.cpa.terms() as u64;
        let solving = explorer.cpa.solver.statistics();
        self.queries += solving.queries;
        self.solver_calls += solving.solved;
        self.solver_time += solving.solver_time;
    }

    /// Names and values, in a fixed order; times in seconds.
    pub fn entries(&self) -> Vec<(&'static str, f64)> {
        let c = &self.exploration;
        vec![
            ("edges", c.edges as f64),
            ("paths", c.paths as f64),
            ("forks", c.forks as f64),
            ("covered", c.covered as f64),
            ("merged", c.merged as f64),
            ("nodes", c.nodes as f64),
            ("waiting", self.waiting_now as f64),
            ("waiting_max", c.waiting as f64),
            ("terms", self.terms as f64),
            ("queries", self.queries as f64),
            ("solver_calls", self.solver_calls as f64),
            ("solver_seconds", self.solver_time.as_secs_f64()),
            ("replays", self.replays as f64),
            ("seconds", self.time.as_secs_f64()),
        ]
    }
}

/// The answer with what went into it.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    pub stats: Stats,
    /// Everything that kept the run from being a proof, whether or not it decided the verdict.
    pub reasons: Vec<Reason>,
}

/// Confirms a violation: runs the program as the user gave it on the inputs (translated, if the program analysed is a
/// slice), and gives the inputs it ran on and the path if it ends in this error; otherwise says how it ended.
pub type Replay<'a> = dyn Fn(&Inputs, ErrorId) -> Result<(Inputs, Vec<EdgeId>), String> + 'a;

/// Whether an error edge of `program` can be reached. `replay` confirms violations on the program as the user gave it
/// (see [`replay()`]); `progress` is called some ten times a second.
///
/// Symbolic execution path by path, the same with paths merged where they join, and proofs by loop invariants take turns
/// with growing shares of the time. The first two find violations and prove what has few paths or few turns of
/// loops, and the values that the first sees suggest invariants to the third.
pub fn verify(
    program: &Program,
    config: &Config,
    budget: &Budget,
    replay: &Replay<'_>,
    progress: &dyn Fn(&Stats),
) -> Outcome {
    let start = Instant::now();
    if program.errors.is_empty() {
        return Outcome { verdict: Verdict::True, stats: Stats::default(), reasons: Vec::new() };
    }
    let mut run = Run { program, config, budget, progress, start, last: start, stats: Stats::default() };
    let mut explorers = vec![run.explorer(config.search)];
    if config.search == Search::Mixed {
        explorers.push(run.explorer(Search::Merging));
    }
    let mut taints = Taints::default();
    let has_loops = !explorers[0].cpa.loops.loops.is_empty();
    let induction = config.induction && has_loops;
    let mut share = FIRST_SHARE;
    let mut replays = 0;
    let verdict = 'run: loop {
        for i in 0..explorers.len() {
            let part = if induction || explorers.len() > 1 { budget.within(share) } else { budget.clone() };
            let query_time = if explorers.len() > 1 { share.min(config.query_time) } else { config.query_time };
            // A query that takes longer than this turn is asked again in a later one.
            explorers[i].cpa.solver.set_query_time(Some(query_time));
            loop {
                match run.explore(&mut explorers[i], &part, &mut taints) {
                    Ok(Exploration::Complete) => {
                        taints.merge(&explorers[i].cpa.taints);
                        break 'run match taints.first(program) {
                            None => Verdict::True,
                            Some(_) if induction && run.prove(&mut explorers[0].cpa, budget) => Verdict::True,
                            Some(reason) => Verdict::Unknown(reason),
                        };
                    }
                    Ok(Exploration::Target { error, edge, evidence }) => {
                        replays += 1;
                        match replay(&evidence, error) {
                            Ok((inputs, path)) => break 'run Verdict::False(Counterexample { error, inputs, path }),
                            Err(why) => {
                                let text = format!("a violation was found that does not replay: {why}");
                                let reason = Reason::at(text, program.edges[edge].place);
                                if config.stop_at_unconfirmed {
                                    break 'run Verdict::Unknown(reason);
                                }
                                taints.drop_behaviour(reason);
                            }
                        }
                    }
                    Err(Stop::Fatal(reason)) => break 'run Verdict::Unknown(reason),
                    Err(Stop::Spent(_)) => break,
                }
            }
            if let Some(spent) = budget.spent() {
                break 'run Verdict::Unknown(Reason::spent(spent));
            }
        }
        if induction && run.prove(&mut explorers[0].cpa, &budget.within(share)) {
            break Verdict::True;
        }
        share *= GROWTH;
    };
    for explorer in &explorers {
        taints.merge(&explorer.cpa.taints);
        run.stats.add(explorer);
    }
    let mut stats = run.stats;
    stats.replays = replays;
    stats.time = start.elapsed();
    Outcome { verdict, stats, reasons: taints.reasons(program) }
}

/// What the phases of a run share.
struct Run<'r> {
    program: &'r Program,
    config: &'r Config,
    budget: &'r Budget,
    progress: &'r dyn Fn(&Stats),
    start: Instant,
    last: Instant,
    /// Of the phases that are over.
    stats: Stats,
}

impl<'r> Run<'r> {
    fn explorer(&self, search: Search) -> Explorer<'r, SymbolicExecution<'r>> {
        let mut solver = PathSolver::new(Box::new(Bitwuzla::new()), self.budget.clone());
        solver.set_query_time(Some(self.config.query_time));
        let symbolic = SymbolicExecution::new(self.program, solver);
        self.explorer_with(symbolic, search)
    }

    fn explorer_with(&self, symbolic: SymbolicExecution<'r>, search: Search) -> Explorer<'r, SymbolicExecution<'r>> {
        let heads = symbolic.heads();
        let config = self.config;
        Explorer::new(self.program, symbolic, heads, search, config.seed, config.max_call_depth)
    }

    fn explore(
        &mut self,
        explorer: &mut Explorer<'r, SymbolicExecution<'r>>,
        budget: &Budget,
        taints: &mut Taints,
    ) -> Result<Exploration<Inputs>, Stop> {
        let (start, base, progress) = (self.start, self.stats, self.progress);
        let last = &mut self.last;
        explorer.run(budget, taints, &mut |counters, waiting| {
            if last.elapsed() >= Duration::from_millis(100) {
                *last = Instant::now();
                let mut stats = base;
                stats.exploration.add(counters);
                stats.waiting_now = waiting as u64;
                stats.time = start.elapsed();
                progress(&stats);
            }
        })
    }

    /// Whether loop invariants prove the program: runs with fewer and fewer candidates, until all that are left hold.
    fn prove(&mut self, plain: &mut SymbolicExecution<'r>, budget: &Budget) -> bool {
        let mut induction = plain.guess_invariants();
        loop {
            if budget.spent().is_some() {
                return false;
            }
            let mut solver = PathSolver::new(Box::new(Bitwuzla::new()), budget.clone());
            solver.set_query_time(Some(Duration::from_secs(2)));
            let symbolic = plain.for_induction(solver, induction);
            let mut explorer = self.explorer_with(symbolic, Search::Merging);
            let mut taints = Taints::default();
            let result = self.explore(&mut explorer, budget, &mut taints);
            self.stats.add(&explorer);
            taints.merge(&explorer.cpa.taints);
            let tried = explorer.cpa.induction.take().expect("an inductive run");
            match result {
                // A violation under assumptions remains one under fewer.
                Ok(Exploration::Target { .. }) | Err(_) => return false,
                Ok(Exploration::Complete) if !taints.is_empty() => return false,
                Ok(Exploration::Complete) if !tried.changed => return true,
                Ok(Exploration::Complete) => induction = tried.again(),
            }
        }
    }
}
