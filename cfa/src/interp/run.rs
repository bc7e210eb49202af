//! A run: its limits, how it ends, and who watches it.

use super::*;

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Edges.
    pub steps: u64,
    /// Bytes of memory content and of frames; what was never touched of large objects does not count.
    pub memory: u64,
    /// Frames.
    pub call_depth: usize,
    /// Looked at now and then.
    pub deadline: Option<Instant>,
    pub endless: Endless,
}

/// What becomes of a run that is seen to go on for ever.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Endless {
    /// It ends.
    #[default]
    Ends,
    /// It goes on to another limit.
    GoesOn,
}

impl Default for Limits {
    /// A billion edges, a gibibyte, 100 000 frames.
    fn default() -> Self {
        Self { steps: 1_000_000_000, memory: 1 << 30, call_depth: 100_000, deadline: None, endless: Endless::Ends }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitKind {
    Steps,
    Memory,
    CallDepth,
    Time,
    /// A state came again: the run goes on for ever.
    Endless,
}

/// How a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// With this status. (A process gives its parent the low 8 bits.)
    Exit(i32),
    Abort,
    /// An assumption does not hold: there is no such run.
    Assumed,
    /// What the compiler took for unreachable was reached.
    Unreachable,
    /// The property is violated.
    Error(ErrorId, EdgeId),
    /// The edge cannot be executed, because of what it does with this address.
    Invalid {
        edge: EdgeId,
        fault: Fault,
        addr: u64,
    },
    /// The location has no edge that can be taken. Does not happen in a program as the front-end makes it.
    Stuck(LocId),
    /// There is no room for this object, or the inputs put it where it cannot be.
    Unplaced(ObjectSeq),
    Limit(LimitKind),
}

impl Outcome {
    /// The error that the run ended in, with its edge: also a fault, where the program says that it is one.
    pub fn error(&self, program: &Program) -> Option<(ErrorId, EdgeId)> {
        match *self {
            Self::Error(error, edge) => Some((error, edge)),
            Self::Invalid { edge, .. } => program.edges[edge].fault.map(|error| (error, edge)),
            _ => None,
        }
    }
}

/// What is known after a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    pub outcome: Outcome,
    /// Edges executed.
    pub steps: u64,
    /// The taints met, each once, in order of the first time.
    pub taints: Vec<TaintId>,
    /// `Alloc` edges executed.
    pub allocs: u64,
    /// Heap objects that are alive at the end.
    pub live_heap: u64,
    /// The calls that have not returned at the end, outermost first.
    pub stack: Vec<EdgeId>,
    /// Of a run that ends in a fault: the bytes that were to be accessed from the address on, and the object that the address
    /// lies in or near.
    pub accessed: u64,
    pub object: Option<Neighbour>,
}

/// An object near an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Neighbour {
    pub object: ObjectSeq,
    pub kind: ObjectKind,
    /// Bytes.
    pub size: u64,
    pub live: bool,
    /// Where the address is, from the start of the object.
    pub offset: i64,
}

/// Watches a run.
pub trait Observer {
    /// The edge has been executed and this is the state after it: after a `Call`, that at the start of the
    /// callee. `Return`, `Halt` and `Error` have no state after them; theirs is the one before.
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let _ = (edge, state);
    }
}

/// Sees nothing.
impl Observer for () {}
