//! The configuration of a run.

use crate::analysis::waitlist::SearchOrder;
use crate::analysis::work_queue::WorkQueue;
use crate::composition::Analysis;
use crate::domain::condition::part::PathAutomaton;
use crate::domain::value::Sharing;
use cfa::VarId;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The configuration of a run.
#[derive(Clone, Debug)]
pub struct Config {
    /// The analysis to run.
    pub analysis: Analysis,
    /// Number of threads among which the default analysis divides its analyses.
    pub jobs: usize,
    /// The order in which symbolic execution explores paths.
    pub search: SearchOrder,
    /// Seed of all random choices. Runs with the same seed are repeatable.
    pub seed: u64,
    /// True if covered states are dropped. Set it to false to explore as tools without coverage do.
    pub covers: bool,
    /// Largest call depth that is explored. A deeper call makes a proof impossible.
    pub max_call_depth: u32,
    /// The SMT solver to use.
    pub solvers: smt::Choice,
    /// True if the caller needs the abstract reachability graph and the coverage. Analyses that need no graph then keep
    /// one without states, and all analyses record the locations that they reach.
    pub wants_graph: bool,
    /// True if the caller needs the invariants observed in all states of each loop head.
    pub wants_agreements: bool,
    /// True if the certificate checker also checks proofs that explored all executions.
    pub checks_explored: bool,
    /// True if the caller needs the frontier of a run without a verdict.
    pub wants_frontier: bool,
    /// True if the caller left out paths that are verified only if all others are.
    pub counts_on_rest: bool,
    /// True if the process ends soon after the run. Analyses then skip the release of their memory, which can take
    /// seconds.
    pub is_last: bool,
    /// The condition automaton of the paths that symbolic execution explores; it explores all paths if `None`. Other
    /// analyses ignore it.
    pub part: Option<Arc<PathAutomaton>>,
    /// The work queue in which symbolic execution leaves states when other threads ask for work.
    pub work_queue: Option<Arc<WorkQueue>>,
    /// Time limit of one solver query.
    pub query_time: Duration,
    /// The value analysis stops tracking a variable that has more distinct values at one loop head.
    pub value_threshold: usize,
    /// The locations at which a refinement extends the precision.
    pub sharing: Sharing,
    /// True if predicate analyses also abstract at function entries and exits, not only at cut points of cycles.
    pub abstracts_at_calls: bool,
    /// True for boolean predicate abstraction, which keeps the feasible combinations of predicates; false for Cartesian
    /// abstraction, which keeps each predicate on its own.
    pub combines_predicates: bool,
    /// True if a violation that does not replay ends the run. In a slice, such a violation indicates that the slice
    /// lacks an operation that prevents the error.
    pub stop_at_unconfirmed: bool,
    /// True if the program may lack operations that free memory, as a slice may. Two heap objects may then have the
    /// same address.
    pub lacks_frees: bool,
    /// Set if another run checks the memory operations that this run does not check. A path then ends at a fault
    /// without an enabled check, and this does not prevent a proof. The engine sets the flag when it ends a path this
    /// way.
    pub faults_elsewhere: Option<Arc<AtomicBool>>,
    /// A global variable and a value: an infinite execution is in its cycle once the variable has at least the value. A
    /// program that is instrumented with a witness must pass the stem of the witness first.
    pub cycle_after: Option<(VarId, u64)>,
    /// Analyses that panic in their first time slice. Tests use it to observe how the others continue.
    pub faults: Vec<Analysis>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            analysis: Analysis::Default,
            jobs: 1,
            search: SearchOrder::Mixed,
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
            work_queue: None,
            query_time: Duration::from_secs(30),
            value_threshold: 500,
            sharing: Sharing::Scope,
            abstracts_at_calls: false,
            combines_predicates: true,
            stop_at_unconfirmed: false,
            lacks_frees: false,
            faults_elsewhere: None,
            cycle_after: None,
            faults: Vec::new(),
        }
    }
}
