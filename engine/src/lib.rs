//! The analyses that decide whether an error of a program can be reached.
//!
//! [`verify`] takes a [`Program`](cfa::Program) whose violations are error edges (see the `instrument` crate) and
//! answers with a [`Verdict`]. FALSE is said only after the reference interpreter has replayed the inputs found;
//! TRUE only where nothing was assumed away (see [`Taints`]).

pub mod budget;
pub mod control;
pub mod cpa;
pub mod explore;
mod replay;
pub mod solver;
mod verdict;
pub mod waitlist;

pub use replay::replay;
pub use verdict::{Counterexample, Reason, Taints, Verdict};

use budget::{Budget, Spent};
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
    pub query_time: Option<Duration>,
}

impl Default for Config {
    fn default() -> Self {
        Self { search: Search::Mixed, seed: 0, max_call_depth: 10_000, query_time: Some(Duration::from_secs(10)) }
    }
}

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
    /// Names and values, in a fixed order; times in seconds.
    pub fn entries(&self) -> Vec<(&'static str, f64)> {
        let c = &self.exploration;
        vec![
            ("edges", c.edges as f64),
            ("paths", c.paths as f64),
            ("forks", c.forks as f64),
            ("covered", c.covered as f64),
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

/// Confirms a violation: runs the program on the inputs and gives the path if it ends in this error.
pub type Replay<'a> = dyn Fn(&Inputs, ErrorId) -> Result<Vec<EdgeId>, String> + 'a;

/// Whether an error edge of `program` can be reached. `replay` confirms violations on the program as the user gave it;
/// (see [`replay()`]); `progress` is called some ten times a second.
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
    let mut solver = PathSolver::new(Box::new(Bitwuzla::new()), budget.clone());
    solver.set_query_time(config.query_time);
    let symbolic = SymbolicExecution::new(program, solver);
    let heads = symbolic.heads();
    let mut explorer = Explorer::new(program, symbolic, heads, config.search, config.seed, config.max_call_depth);
    let mut taints = Taints::default();
    let mut replays = 0;
    let mut last = Instant::now();
    let verdict = loop {
        let run = explorer.run(budget, &mut taints, &mut |counters, waiting| {
            if last.elapsed() >= Duration::from_millis(100) {
                last = Instant::now();
                progress(&Stats {
                    exploration: *counters,
                    waiting_now: waiting as u64,
                    time: start.elapsed(),
                    ..Stats::default()
                });
            }
        });
        match run {
            Ok(Exploration::Complete) => {
                taints.merge(&explorer.cpa.taints);
                break match taints.first(program) {
                    None => Verdict::True,
                    Some(reason) => Verdict::Unknown(reason),
                };
            }
            Ok(Exploration::Target { error, edge, evidence }) => {
                replays += 1;
                match replay(&evidence, error) {
                    Ok(path) => break Verdict::False(Counterexample { error, inputs: evidence, path }),
                    Err(why) => {
                        let text = format!("a violation was found that does not replay: {why}");
                        taints.drop_behaviour(Reason::at(text, program.edges[edge].place));
                    }
                }
            }
            Err(stop) => {
                taints.merge(&explorer.cpa.taints);
                break Verdict::Unknown(match stop {
                    Stop::Spent(Spent::Time) => Reason::new("time limit reached"),
                    Stop::Spent(Spent::Cancelled) => Reason::new("interrupted"),
                    Stop::Fatal(reason) => reason,
                });
            }
        }
    };
    let solving = explorer.cpa.solver.statistics();
    let stats = Stats {
        exploration: explorer.counters,
        waiting_now: explorer.waiting() as u64,
        terms: explorer.cpa.terms() as u64,
        queries: solving.queries,
        solver_calls: solving.solved,
        solver_time: solving.solver_time,
        replays,
        time: start.elapsed(),
    };
    Outcome { verdict, stats, reasons: taints.reasons(program) }
}
