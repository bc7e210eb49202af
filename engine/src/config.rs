//! How to verify: the configuration of a run.

use crate::analysis::waitlist::Search;
use crate::analysis::work_queue::Desk;
use crate::composition::Analysis;
use crate::domain::condition::part::Part;
use crate::domain::value::Sharing;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

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
    pub part: Option<Arc<Part>>,
    /// Where symbolic execution leaves states for others, when they ask.
    pub desk: Option<Arc<Desk>>,
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
