//! Configurable program analyses.
//!
//! An analysis is an abstract domain with a transfer relation, `merge` and `stop` (Beyer, Henzinger, Théoduloz:
//! Configurable software verification, CAV 2007). The position of a state in the program (its [`Control`]) is not part
//! of the domain. The CPA algorithm ([`crate::algorithm::cpa`]) keeps it, follows calls and returns, and queries the
//! domain for the effect of one operation at a time.

pub mod capability;
pub mod composite;
pub mod frontier;
pub mod reached;
pub mod waitlist;
pub mod work_queue;

pub use crate::semantics::{At, Decision};

use crate::semantics::control::Control;
use crate::verdict::{Reason, Taints};
use cfa::{EdgeId, ErrorId, PlaceId};
use smt::budget::Budget;

/// The reason why an exploration stops early. The waitlist keeps the unexplored states.
#[derive(Clone, Debug)]
pub enum Stop {
    /// The budget is spent.
    Spent(smt::budget::Spent),
    /// The exploration cannot continue, for this reason.
    Fatal(Reason),
}

/// The result of an operation on a state. The caller owns it and passes it again, so that steps do not allocate.
pub struct Step<S> {
    /// The states after the operation, with their positions.
    pub successors: Vec<(S, At)>,
    /// The states in which the operation is a fault that is an error (see [`cfa::Edge::fault`]). They are targets, not
    /// successors.
    pub faults: Vec<S>,
    /// The states in which the time slice ended before it was decided whether the operation is a fault. The algorithm
    /// executes the operation again.
    pub postponed: Vec<S>,
    /// The operations whose effect the domain cannot decide, without those that it has reported before.
    pub undecided: Vec<EdgeId>,
    /// True if one of the faults may be spurious, because its state is abstract.
    pub is_doubtful: bool,
}

impl<S> Default for Step<S> {
    fn default() -> Self {
        Self {
            successors: Vec::new(),
            faults: Vec::new(),
            postponed: Vec::new(),
            undecided: Vec::new(),
            is_doubtful: false,
        }
    }
}

impl<S> Step<S> {
    /// Clears the result and keeps its buffers.
    pub fn clear(&mut self) {
        self.successors.clear();
        self.faults.clear();
        self.postponed.clear();
        self.undecided.clear();
        self.is_doubtful = false;
    }

    /// Moves the result of `inner` here, and wraps every state.
    pub fn extend_with<T>(&mut self, inner: &mut Step<T>, mut outer: impl FnMut(T) -> S) {
        self.successors.extend(inner.successors.drain(..).map(|(state, at)| (outer(state), at)));
        self.faults.extend(inner.faults.drain(..).map(&mut outer));
        self.postponed.extend(inner.postponed.drain(..).map(&mut outer));
        self.undecided.append(&mut inner.undecided);
        self.is_doubtful |= inner.is_doubtful;
    }
}

/// The earlier state that covers another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coverer {
    /// The covering state is that of this call of [`Cpa::stop`], counted from 0.
    OfCall(usize),
    /// The domain does not report the covering state.
    Unknown,
}

/// The states that take the then-edge and the else-edge of a branch.
pub type Sides<S> = (Option<S>, Option<S>);

/// Two states that were not merged.
pub type Pair<S> = Box<(S, S)>;

/// The domain's answer for a state before an error edge.
pub enum Target<C> {
    /// The error is reached, with evidence for it.
    Reached(C),
    /// The domain cannot decide. It has recorded why.
    Undecided,
    /// The state represents no execution.
    Infeasible,
    /// The domain cannot decide within the current time slice.
    Later,
}

/// The progress of an earlier run on the continuations of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EarlierProgress {
    /// No continuation was explored.
    Nothing,
    /// Some continuations were explored.
    Begun,
    /// All continuations were explored.
    Done,
}

/// A configurable program analysis. Laws: `transfer`, `branch` and `leave` lose no concrete successor unless they
/// record a taint. `adjust` drops a state only if its concrete states reach no more errors than states that were kept
/// before.
pub trait Cpa {
    /// An abstract state.
    type State;
    /// The evidence for an error, for example inputs.
    type Evidence;

    /// The state at the entry of the program.
    fn initial(&mut self) -> Self::State;

    /// Adds the successors of `state` over an operation other than an assume or a return to `step`, which is clear. A
    /// call yields states at the entries of callees.
    fn transfer(
        &mut self,
        state: Self::State,
        at: Control,
        edge: EdgeId,
        step: &mut Step<Self::State>,
    ) -> Result<(), Stop>;

    /// The successors over the then-edge and the else-edge.
    fn branch(&mut self, state: Self::State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<Self::State>, Stop>;

    /// The successor of a return over `return_edge` to the target of `call_edge`.
    fn leave(&mut self, state: Self::State, return_edge: EdgeId, call_edge: EdgeId) -> Result<Self::State, Stop>;

    /// Decides whether `state`, which is before an error edge, reaches the error.
    fn target(&mut self, state: &mut Self::State, edge: EdgeId, error: ErrorId)
    -> Result<Target<Self::Evidence>, Stop>;

    /// Precision adjustment (`prec`) of a state that reaches, over `edge`, a location where paths join. The result may
    /// be more abstract. It is `None` if the state represents no execution, or none that has to be explored. Further
    /// states that the domain creates at the same control are added to `more`.
    fn adjust(
        &mut self,
        state: Self::State,
        edge: EdgeId,
        at: Control,
        more: &mut Vec<Self::State>,
    ) -> Result<Option<Self::State>, Stop>;

    /// `stop`: the earlier state at the same control that covers `state`, at a location where paths join. A covered
    /// state need not be explored. For abstract states, the algorithm stores the states itself and compares them with
    /// [`Abstraction::covers`].
    fn stop(&mut self, _state: &Self::State, _at: Control) -> Result<Option<Coverer>, Stop> {
        Ok(None)
    }

    /// The progress of an earlier run on the continuations of a state. Explored states come first in the search, so
    /// that later states can be covered by them.
    fn earlier_progress(&self, _state: &Self::State) -> EarlierProgress {
        EarlierProgress::Nothing
    }

    /// `merge`: one state that represents exactly the concrete states of `a` and `b`, which have the same control.
    /// Returns both states if there is no such state or if it does not pay off.
    fn merge(&mut self, a: Self::State, b: Self::State, at: Control) -> Result<Self::State, Pair<Self::State>>;

    /// Called before a return to a caller. Returns `false` if the state need not be explored.
    fn returns(&mut self, _state: &mut Self::State, _edge: EdgeId) -> bool {
        true
    }

    /// True if, where states are merged, those with fewer loop iterations come first. If false, a loop is explored
    /// completely before the code after it. This requires a domain in which every loop terminates.
    fn counts_iterations(&self) -> bool {
        true
    }

    /// True if the time ran out during the last query, so the answer may be imprecise. The exploration should stop and
    /// repeat the query later.
    fn ran_out(&self) -> bool {
        false
    }

    /// The behaviours dropped so far, if the domain records them with the state that dropped them.
    fn taints(&self) -> Option<&Taints> {
        None
    }

    /// Called when execution ended at a halt or at the end of the entry function.
    fn ended(&mut self, _state: Self::State, _edge: EdgeId) {}
}

/// The target of an abstract path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// An error.
    Error {
        /// The error edge, or the operation that faults.
        edge: EdgeId,
        /// The error that it belongs to.
        error: ErrorId,
    },
    /// An operation whose effect the domain cannot decide.
    Undecided {
        /// The undecided operation.
        edge: EdgeId,
    },
}

impl Goal {
    /// The edge of the target.
    pub fn edge(self) -> EdgeId {
        match self {
            Self::Error { edge, .. } | Self::Undecided { edge } => edge,
        }
    }
}

/// The result of a feasibility check at full precision.
pub enum PathCheck<E> {
    /// The path is feasible, with this evidence.
    Feasible(E),
    /// No execution takes the path.
    Infeasible,
    /// The undecided operation is undecided in the program as well, or the check itself is undecided.
    Unknown(Reason),
}

/// A predicate on operations: true if the operation is executed.
pub type InSlice<'a> = &'a dyn Fn(EdgeId) -> bool;

/// The predicate for the whole program.
pub const WHOLE: InSlice<'static> = &|_| true;

/// The result of a refinement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refinement {
    /// The new precision refutes the path at its cuts from index `from` on. The index is the number of cuts if only the
    /// end of the path is refuted. `changed` is true if the precision has grown.
    Refined { from: usize, changed: bool },
    /// The domain cannot express why the path is infeasible.
    Impossible,
}

/// The growth of a precision in one refinement.
#[derive(Clone, Debug)]
pub struct Increment {
    /// The error or operation whose path was refuted.
    pub goal: Option<PlaceId>,
    /// The new items, in terms of the C program.
    pub tracked: Vec<String>,
}

/// A CPA with dynamic precision adjustment whose precision is refined from abstract paths.
pub trait Abstraction: Cpa<State: Clone> {
    /// Copies `state` to both sides of a branch without assuming its condition.
    fn both(&mut self, state: Self::State, then_edge: EdgeId, else_edge: EdgeId) -> Sides<Self::State>;

    /// `prec`: the part of `state`, which has reached `at`, that the precision tracks. `since` is the last adjusted
    /// state on its path. `None` if the state represents no execution.
    fn abstract_state(
        &mut self,
        state: Self::State,
        at: Control,
        since: &Self::State,
    ) -> Result<Option<Self::State>, Stop>;

    /// True if `old` represents all concrete states that `new` represents, both at `at`.
    fn covers(&mut self, old: &Self::State, new: &Self::State, at: Control) -> bool;

    /// A row of values, of equal length for all states at a location. A state can cover `state` only if its row agrees
    /// wherever it has a value.
    fn known_values(&mut self, state: &Self::State, at: Control) -> Vec<Option<u64>>;

    /// The branch decisions of an execution that ends in `state`, since its last adjustment.
    fn decisions(&mut self, state: &mut Self::State) -> Vec<Decision>;

    /// Records the operation as undecided for this reason. It is not reported again.
    fn record_undecided(&mut self, edge: EdgeId, reason: Reason);

    /// The branch decisions of an execution that ends in `state`, by block between adjustments. The result has no
    /// blocks if all paths through the adjusted states are equally good. It is `None` if the blocks contradict each
    /// other.
    fn execution(&mut self, state: &Self::State, budget: &Budget) -> Result<Option<Vec<Vec<Decision>>>, Stop>;

    /// Extends all items that are tracked at some locations to their whole scope. Returns whether the precision has
    /// grown.
    fn widen_precision(&mut self) -> bool;

    /// True if there is a precision to refine; false if the domain tracks everything.
    fn has_precision(&self) -> bool {
        true
    }

    /// Checks whether a path from the start is feasible and leads to `goal`, when only operations `in_slice` are
    /// executed.
    fn check(
        &mut self,
        path: &[EdgeId],
        goal: Goal,
        in_slice: InSlice<'_>,
        budget: &Budget,
    ) -> Result<PathCheck<Self::Evidence>, Stop>;

    /// Refines the precision so that the infeasible path to `state` is not met again. States on the path are adjusted
    /// after `cuts` edges.
    fn refine(
        &mut self,
        state: &Self::State,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Refinement, Stop>;
}
