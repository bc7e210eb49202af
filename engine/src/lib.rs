//! The analyses that decide whether an error of a program can be reached.
//!
//! [`verify`] takes a [`Program`](cfa::Program) whose violations are error edges (see the `instrument` crate) and
//! answers with a [`Verdict`]. FALSE is said only after the reference interpreter has replayed the inputs found;
//! TRUE only where nothing was assumed away (see [`Taints`]).

pub mod algorithm;
mod analysis;
pub mod arg;
pub mod components;
pub mod control;
pub mod coverage;
pub mod cpa;
mod crash;
pub mod desk;
mod exchange;
mod execution;
pub mod frontier;
pub mod invariants;
pub mod part;
pub mod proof;
pub mod reached;
mod refine;
mod replay;
pub mod simplify;
mod strategy;
pub mod termination;
mod verdict;
pub mod waitlist;

pub use analysis::Analysis;
pub use cpa::symbolic::agreed::{Agreement, Line, Place, Root, Values};
pub use crash::Crash;
pub use execution::sign_extend as signed;
pub use refine::Increment;
pub use replay::{replay, replay_limits};
pub use smt::{self, budget};
pub use strategy::configurations::frees;
pub use verdict::{Counterexample, Reason, Taints, Verdict};

use algorithm::turns::Turns;
use algorithm::{Counters, Setting, parallel};
use budget::Budget;
use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId, Program};
use cpa::symbolic::SymbolicExecution;
use cpa::value::Sharing;
use exchange::Exchange;
use simplify::Simplified;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use waitlist::Search;

/// How to verify.
#[derive(Clone, Debug)]
pub struct Config {
    pub analysis: Analysis,
    /// Threads among which several analyses are divided.
    pub jobs: usize,
    /// The order in which symbolic execution follows paths.
    pub search: Search,
    /// Makes the run repeatable.
    pub seed: u64,
    /// Whether states that others stand for are dropped; without, explorations are those of tools that lack it.
    pub covers: bool,
    /// Nested calls that are followed; deeper ones make a proof impossible.
    pub max_call_depth: u32,
    /// Which solver answers.
    pub solvers: smt::Choice,
    /// Whether pictures are wanted: analyses which can do without the graph of states keep its shape, and all note where they came to.
    pub wants_graph: bool,
    /// Whether it is wanted what all states at the head of a loop agree on.
    pub wants_agreements: bool,
    /// Whether proofs that followed all executions are checked, too.
    pub checks_explored: bool,
    /// Whether what is left of a run without a verdict is wanted.
    pub wants_frontier: bool,
    /// Paths were left out that are verified if the others are.
    pub counts_on_rest: bool,
    /// The process ends soon after: what an analysis has left need not be taken apart, which can take seconds.
    pub is_last: bool,
    /// The paths that symbolic execution looks at, if not all; no other analysis knows of it.
    pub part: Option<Arc<part::Part>>,
    /// Where symbolic execution leaves states for others, when they ask.
    pub desk: Option<std::sync::Arc<desk::Desk>>,
    /// For one solver query.
    pub query_time: Duration,
    /// Distinct values of a variable at one loop head before the value analysis tracks it no more.
    pub value_threshold: usize,
    /// For which locations a refinement extends the precision.
    pub sharing: Sharing,
    /// Whether predicate analyses abstract where functions are entered and left, too, not only where cycles are cut.
    pub abstracts_at_calls: bool,
    /// Whether they keep which combinations of predicates are possible (boolean abstraction), or each on its own (Cartesian).
    pub combines_predicates: bool,
    /// Whether a violation that does not replay ends the run: where the program is a slice, it is a sign that the
    /// slice lacks what keeps the original from the error.
    pub stop_at_unconfirmed: bool,
    /// Whether the program may lack operations that free memory, as a slice does: then the address of one object of the
    /// heap may be that of another.
    pub lacks_frees: bool,
    /// Whether somebody else asks whether operations on memory are faults: where one is for which nobody asks here, the path ends,
    /// and that is no reason against a proof. Whether that has happened is said here.
    pub faults_elsewhere: Option<Arc<AtomicBool>>,
    /// Analyses that panic in their first turn, to see what becomes of the others.
    pub faults: Vec<Analysis>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            analysis: Analysis::Default,
            jobs: 1,
            search: Search::Mixed,
            seed: 0,
            covers: true,
            max_call_depth: 10_000,
            solvers: smt::Choice::default(),
            wants_graph: false,
            wants_agreements: false,
            checks_explored: false,
            wants_frontier: false,
            counts_on_rest: false,
            is_last: false,
            part: None,
            desk: None,
            query_time: Duration::from_secs(30),
            value_threshold: 500,
            sharing: Sharing::Scope,
            abstracts_at_calls: false,
            combines_predicates: true,
            stop_at_unconfirmed: false,
            lacks_frees: false,
            faults_elsewhere: None,
            faults: Vec::new(),
        }
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
    /// Values and constraints tracked in the end.
    pub precision: u64,
    pub time: Duration,
}

impl Stats {
    /// Adds what an analysis did.
    fn add(&mut self, counters: &Counters, waiting: usize, cpa: &SymbolicExecution<'_>) {
        self.exploration.add(counters);
        self.waiting_now += waiting as u64;
        self.terms += cpa.terms() as u64;
        let solving = cpa.solving();
        self.queries += solving.queries;
        self.solver_calls += solving.solved;
        self.solver_time += solving.solver_time;
    }

    /// What an exploration has done so far.
    fn of(counters: &Counters, cpa: &SymbolicExecution<'_>) -> Self {
        let mut stats = Self::default();
        stats.add(counters, 0, cpa);
        stats
    }

    /// Adds what was done from `before` to `after`.
    fn advance(&mut self, before: &Self, after: &Self) {
        self.exploration.add(&after.exploration.since(&before.exploration));
        self.terms += after.terms.saturating_sub(before.terms);
        self.precision += after.precision.saturating_sub(before.precision);
        self.queries += after.queries - before.queries;
        self.solver_calls += after.solver_calls - before.solver_calls;
        self.solver_time += after.solver_time - before.solver_time;
    }

    /// Adds what another thread did in the same time.
    pub fn join(&mut self, other: &Self) {
        self.exploration.add(&other.exploration);
        self.waiting_now += other.waiting_now;
        self.terms += other.terms;
        self.queries += other.queries;
        self.solver_calls += other.solver_calls;
        self.solver_time += other.solver_time;
        self.replays += other.replays;
        self.precision += other.precision;
        self.time = self.time.max(other.time);
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
            ("refinements", c.refinements as f64),
            ("precision", self.precision as f64),
            ("seconds", self.time.as_secs_f64()),
        ]
    }
}

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
    pub proof: Option<proof::ProofCheck>,
    /// Of TRUE: the conditions that prove it, where it is a proof by invariants of one turn.
    pub certificate: Option<proof::Certificate>,
    /// Of TRUE by exploration, where wanted: what all states at the heads of loops agree on.
    pub agreements: Vec<Agreement>,
    /// A violation that was found but did not replay: nobody may call the program safe.
    pub unconfirmed: Option<Reason>,
    /// Who worked when, in order of their ends.
    pub turns: Vec<Turn>,
    /// What refinements have learned, in order.
    pub increments: Vec<Increment>,
    /// The abstract reachability graph of the analysis that decided or came last, where one is built.
    pub arg: Vec<arg::Shape>,
    /// Where explorations came to.
    pub coverage: coverage::Coverage,
    /// What each exploration has left, where there is no verdict and it is wanted.
    pub frontiers: Vec<frontier::Frontier>,
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
            coverage: coverage::Coverage::default(),
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

/// Confirms a violation: runs the program as the user gave it on the inputs (translated, if the program analysed is a
/// slice), and gives the inputs it ran on and the path if it ends in this error; otherwise says how it ended.
pub type Replay<'a> = dyn Fn(&Inputs, ErrorId) -> Result<(Inputs, Vec<EdgeId>), String> + Sync + 'a;

/// Whether an error edge of `program` can be reached. `replay` confirms violations on the program as the user gave it
/// (see [`replay()`]); `progress` is called some ten times a second.
pub fn verify(
    program: &Program,
    config: &Config,
    budget: &Budget,
    replay: &Replay<'_>,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Outcome {
    if program.errors.is_empty() {
        let proof = Some(proof::ProofCheck::NotChecked("there is nothing to prove".into()));
        return Outcome { proof, ..Outcome::new(Verdict::True, config.analysis) };
    }
    if !config.wants_frontier && config.part.is_none() {
        // What is given to others is told by paths of the program that they have.
        let simplified = config.desk.is_none().then(|| simplify::simplified(program));
        let wants_accelerated = matches!(config.analysis, Analysis::Default | Analysis::SymexAccelerated);
        let accelerated = if wants_accelerated { simplify::accelerated(program) } else { None };
        let accelerated = accelerated.map(|program| simplify::simplified(&program));
        let simplified = simplified.as_ref().unwrap_or(program);
        let setting = Setting { program, simplified, accelerated: accelerated.as_ref(), config, budget };
        return run(setting, replay, progress);
    }
    let simplified = if config.desk.is_none() { Simplified::of(program) } else { None };
    let part = config.part.as_ref().map(|part| part.joined(&simplified.as_ref()?.joined).map(Arc::new));
    // A part may tell ways apart that are one in the simplified program.
    let simplified = simplified.filter(|_| !matches!(part, Some(None)));
    let config = &Config { part: part.flatten().or_else(|| config.part.clone()), ..config.clone() };
    let analysed = simplified.as_ref().map_or(program, |s| &s.program);
    let outcome = run(Setting { program, simplified: analysed, accelerated: None, config, budget }, replay, progress);
    Outcome { simplified: simplified.filter(|_| config.wants_frontier).map(Arc::new), ..outcome }
}

fn run(setting: Setting<'_>, replay: &Replay<'_>, progress: &(dyn Fn(&Stats) + Sync)) -> Outcome {
    let Setting { program, config, .. } = setting;
    let analyses = match config.analysis {
        Analysis::Default => {
            let mut analyses = strategy::Features::of(program).analyses();
            // Last, as proofs of others have invariants.
            analyses.extend(setting.accelerated.map(|_| Analysis::SymexAccelerated));
            analyses
        }
        // Proofs by invariants need executions to learn from.
        Analysis::Invariants => vec![Analysis::Symex, Analysis::Invariants],
        one => vec![one],
    };
    if config.jobs > 1 && analyses.len() > 1 {
        return parallel::verify(setting, &analyses, replay, progress);
    }
    Turns::new(setting, &analyses, Exchange::default(), replay, progress).verify()
}
