//! A run: its limits, its outcome, and its observer.

use super::*;

/// The resource limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Executed edges.
    pub steps: u64,
    /// Bytes of memory content and frames. Untouched parts of large objects do not count.
    pub memory: u64,
    /// Number of frames.
    pub call_depth: usize,
    /// Checked periodically.
    pub deadline: Option<Instant>,
    /// The treatment of infinite runs.
    pub endless: Endless,
}

/// The treatment of a run that is proved to be infinite.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Endless {
    /// The run ends with [`LimitKind::Endless`].
    #[default]
    Ends,
    /// The run continues until it reaches another limit.
    GoesOn,
}

impl Default for Limits {
    /// A billion edges, a gibibyte, 100 000 frames.
    fn default() -> Self {
        Self { steps: 1_000_000_000, memory: 1 << 30, call_depth: 100_000, deadline: None, endless: Endless::Ends }
    }
}

/// The limit that ended a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitKind {
    /// [`Limits::steps`].
    Steps,
    /// [`Limits::memory`].
    Memory,
    /// [`Limits::call_depth`].
    CallDepth,
    /// [`Limits::deadline`].
    Time,
    /// A state recurred, so the run is infinite.
    Endless,
}

/// The end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// `exit` or a return from `main`, with this status. (The parent process receives the low 8 bits.)
    Exit(i32),
    /// `abort`.
    Abort,
    /// An assumption is false: no such execution exists.
    Assumed,
    /// The run reached code that the compiler assumed to be unreachable.
    Unreachable,
    /// The run violated the property on this edge.
    Error(ErrorId, EdgeId),
    /// The operation of this edge is invalid for this address.
    Invalid {
        /// The edge.
        edge: EdgeId,
        /// The kind of the fault.
        fault: Fault,
        /// The address.
        addr: u64,
    },
    /// No outgoing edge of the location can be taken. Programs of the front-end have no such locations.
    Stuck(LocId),
    /// There is no room for the object, or the inputs place it at an invalid address.
    Unplaced(ObjectSeq),
    /// A limit.
    Limit(LimitKind),
}

impl std::fmt::Display for LimitKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Steps => "its limit of steps is reached",
            Self::Memory => "its limit of memory is reached",
            Self::CallDepth => "its limit of nested calls is reached",
            Self::Time => "its time limit is reached",
            Self::Endless => "the program does not end",
        })
    }
}

/// Formats the outcome for the user, as the end of a sentence that starts with "it ends because".
impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exit(status) => write!(f, "the program exits with status {status}"),
            Self::Abort => f.write_str("the program aborts"),
            Self::Assumed => f.write_str("an assumption does not hold"),
            Self::Unreachable => f.write_str("code is reached that the compiler assumes to be unreachable"),
            Self::Error(..) => f.write_str("another check fails first"),
            Self::Invalid { .. } => f.write_str("another access is invalid first"),
            Self::Stuck(_) => f.write_str("execution cannot continue"),
            Self::Unplaced(_) => f.write_str("no object can lie at the address that it needs"),
            Self::Limit(kind) => kind.fmt(f),
        }
    }
}

impl Outcome {
    /// The error in which the run ended, with its edge. A fault counts if [`Edge::fault`](crate::Edge::fault) names an
    /// error.
    pub fn error(&self, program: &Program) -> Option<(ErrorId, EdgeId)> {
        match *self {
            Self::Error(error, edge) => Some((error, edge)),
            Self::Invalid { edge, .. } => program.edges[edge].fault.map(|error| (error, edge)),
            _ => None,
        }
    }
}

/// The result of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The end of the run.
    pub outcome: Outcome,
    /// The number of executed edges.
    pub steps: u64,
    /// The taints on the path, without duplicates, in order of occurrence.
    pub taints: Vec<TaintId>,
    /// The number of executed `Alloc` edges.
    pub allocs: u64,
    /// The number of heap objects that are live at the end.
    pub live_heap: u64,
    /// The calls that have not returned, outermost first.
    pub stack: Vec<EdgeId>,
    /// If the run ended in a fault: the number of bytes of the access.
    pub accessed: u64,
    /// If the run ended in a fault: the object that contains the address or is near it.
    pub object: Option<Neighbour>,
    /// The two accesses and their threads, if the run ends in a data race.
    pub race: Option<[(u32, Access); 2]>,
    /// True if the run passed a leak check whose result depends on C variables that the code may lack.
    pub has_undecided_leak: bool,
}

/// An object near an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Neighbour {
    /// The name of the object.
    pub object: ObjectSeq,
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The size in bytes.
    pub size: u64,
    /// True if the object is live.
    pub live: bool,
    /// The offset of the address from the start of the object.
    pub offset: i64,
}

/// An observer of a run.
pub trait Observer {
    /// Is called after the execution of each edge, with the state after it. After a `Call`, that is the state at the
    /// entry of the callee. `Return`, `Halt` and `Error` have no state after them; for these it is the state before.
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let _ = (edge, state);
    }
    /// Is called if the edge cannot be executed because it uses this address in an invalid way. The state is the one
    /// before the edge.
    fn faulted(&mut self, edge: EdgeId, addr: u64, state: &State) {
        let _ = (edge, addr, state);
    }
}

/// An observer that does nothing.
impl Observer for () {}
