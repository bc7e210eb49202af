//! Configurable program analyses.
//!
//! An analysis is an abstract domain with a transfer relation, `merge` and `stop` (Beyer, Henzinger, Théoduloz:
//! Configurable software verification, CAV 2007). Where a state stands in the program (its [`Control`]) is not part of
//! the domain: the CPA algorithm ([`crate::algorithm::cpa`]) keeps it, follows calls and returns, and asks the domain for
//! the effect of one operation at a time.

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

/// Why an exploration ends before its time. The waitlist keeps what was not explored.
#[derive(Clone, Debug)]
pub enum Stop {
    /// The budget is spent.
    Spent(smt::budget::Spent),
    /// Something that makes going on pointless.
    Fatal(Reason),
}

/// The result of an operation on a state. The caller owns it and passes it again, so that steps do not allocate.
pub struct Step<S> {
    /// The states after the operation, with their positions.
    pub successors: Vec<(S, At)>,
    /// The states in which the operation is a fault that is an error (see [`cfa::Edge::fault`]): targets, not successors.
    pub faults: Vec<S>,
    /// The states in which the time did not suffice to decide whether the operation is a fault. It is executed again.
    pub postponed: Vec<S>,
    /// The operations met whose effect the domain cannot decide, unless it has reported them before.
    pub undecided: Vec<EdgeId>,
    /// True if one of the faults may be none, because its state says less than the program does.
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
    /// Forgets the last result and keeps its buffers.
    pub fn clear(&mut self) {
        self.successors.clear();
        self.faults.clear();
        self.postponed.clear();
        self.undecided.clear();
        self.is_doubtful = false;
    }

    /// Moves the result of `inner` here, with every state turned into one of this domain.
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
    /// The state that the domain was asked about in this call of [`Cpa::stop`], counted from 0.
    OfCall(usize),
    /// The domain does not tell which.
    Unknown,
}

/// The states that take the then-edge and the else-edge of a branch.
pub type Sides<S> = (Option<S>, Option<S>);

/// Two states.
pub type Pair<S> = Box<(S, S)>;

/// What a domain makes of a state that reached an error.
pub enum Target<C> {
    /// The error is reached, with evidence for it.
    Reached(C),
    /// The domain cannot tell (it has recorded why).
    Undecided,
    /// The state stands for no execution.
    Infeasible,
    /// The domain cannot tell within the time that it may take now.
    Later,
}

/// What an earlier run has explored of what a state leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Before {
    Nothing,
    /// Some of it.
    Begun,
    /// All.
    Done,
}

/// A configurable program analysis. Laws: `transfer`, `branch` and `leave` lose no concrete successor, unless they
/// record a taint; `adjust` drops a state only if every concrete state that it stands for can reach no more errors
/// than states kept before.
pub trait Cpa {
    type State;
    /// Evidence for an error.
    type Evidence;

    fn initial(&mut self) -> Self::State;

    /// Adds to `step`, which is clear, the effect of an operation that is not an assume or a return. A call yields states at callees.
    fn transfer(
        &mut self,
        state: Self::State,
        at: Control,
        edge: EdgeId,
        step: &mut Step<Self::State>,
    ) -> Result<(), Stop>;

    /// The states that take the then-edge and the else-edge.
    fn branch(&mut self, state: Self::State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<Self::State>, Stop>;

    /// Back from a callee over `return_edge`, to the target of `call_edge`.
    fn leave(&mut self, state: Self::State, return_edge: EdgeId, call_edge: EdgeId) -> Result<Self::State, Stop>;

    /// The state stands before an error edge.
    fn target(&mut self, state: &mut Self::State, edge: EdgeId, error: ErrorId)
    -> Result<Target<Self::Evidence>, Stop>;

    /// `prec`: the state has come over `edge` to a location where paths join. `None` if it stands for no execution, or for
    /// none that need be followed. The state may be replaced by one that stands for more. `more` takes further states at the same
    /// control that the domain creates there.
    fn adjust(
        &mut self,
        state: Self::State,
        edge: EdgeId,
        at: Control,
        more: &mut Vec<Self::State>,
    ) -> Result<Option<Self::State>, Stop>;

    /// The earlier state at the same control that covers `state`, which has arrived where paths join. A covered state need not be
    /// followed. (Where states are abstract, the algorithm keeps them and compares: [`Abstraction::covers`].)
    fn stop(&mut self, _state: &Self::State, _at: Control) -> Result<Option<Coverer>, Stop> {
        Ok(None)
    }

    /// What was explored before of what a state leads to. That comes first, so that what follows can be covered by it.
    fn before(&self, _state: &Self::State) -> Before {
        Before::Nothing
    }

    /// One state for two at the same control, which stands for exactly what the two stand for; or the two, if there is
    /// none that is worth it.
    fn merge(&mut self, a: Self::State, b: Self::State, at: Control) -> Result<Self::State, Pair<Self::State>>;

    /// The state stands before a return to a caller; `false` if it need not be followed.
    fn returns(&mut self, _state: &mut Self::State, _edge: EdgeId) -> bool {
        true
    }

    /// Whether, where states are merged, those that went round loops less often come first. Otherwise a loop is gone
    /// through before what is behind it, which takes a domain in which every loop ends.
    fn counts_iterations(&self) -> bool {
        true
    }

    /// Whether time ran out amid what was asked last, so that the answer says less than it could: it is time to stop, and
    /// what can be asked again is asked again later.
    fn ran_out(&self) -> bool {
        false
    }

    /// What was left out so far, if an account is kept of it in which each state that leaves something out shows.
    fn taints(&self) -> Option<&Taints> {
        None
    }

    /// Called when execution ended at a halt or at the end of the entry function.
    fn ended(&mut self, _state: Self::State, _edge: EdgeId) {}
}

/// What an abstract path leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    Error {
        edge: EdgeId,
        error: ErrorId,
    },
    /// An operation whose effect the domain cannot tell.
    Problem {
        edge: EdgeId,
    },
}

impl Goal {
    pub fn edge(self) -> EdgeId {
        match self {
            Self::Error { edge, .. } | Self::Problem { edge } => edge,
        }
    }
}

/// What an abstract path is at full precision.
pub enum PathCheck<E> {
    Feasible(E),
    Infeasible,
    /// The problem on it is one of the program, or it cannot be decided.
    Unknown(Reason),
}

/// Which operations are executed.
pub type InSlice<'a> = &'a dyn Fn(EdgeId) -> bool;

/// All of them.
pub const WHOLE: InSlice<'static> = &|_| true;

/// What became of a refinement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refinement {
    /// The path is refuted by what is tracked now at its cuts from this one (an index; the number of cuts for the end of the
    /// path) on. `changed`: the precision has grown.
    Refined { from: usize, changed: bool },
    /// The domain cannot express why the path is infeasible.
    Impossible,
}

/// What a refinement has added to the precision.
#[derive(Clone, Debug)]
pub struct Increment {
    /// The error or operation whose path was refuted.
    pub goal: Option<PlaceId>,
    /// What is tracked from now on, in terms of the C program.
    pub tracked: Vec<String>,
}

/// A CPA with dynamic precision adjustment whose precision is refined from abstract paths.
pub trait Abstraction: Cpa<State: Clone> {
    /// `state` on both sides of a branch, of which nothing is assumed.
    fn both(&mut self, state: Self::State, then_edge: EdgeId, else_edge: EdgeId) -> Sides<Self::State>;

    /// `prec`: the part of `state`, which has come to `at`, that the precision tracks. `since` is a state from whose
    /// adjustment it comes. `None` if it stands for no execution.
    fn abstract_state(
        &mut self,
        state: Self::State,
        at: Control,
        since: &Self::State,
    ) -> Result<Option<Self::State>, Stop>;

    /// Whether `old` stands for all that `new` stands for, both at `at`.
    fn covers(&mut self, old: &Self::State, new: &Self::State, at: Control) -> bool;

    /// Values that a state which covers `state` must agree on where it has a value at all: a row of the same length for all
    /// states at a location.
    fn known_values(&mut self, state: &Self::State, at: Control) -> Vec<Option<u64>>;

    /// The decisions of an execution that ends in `state`, since its last adjustment.
    fn decisions(&mut self, state: &mut Self::State) -> Vec<Decision>;

    /// The problem at this operation is known: it is recorded, and not met again.
    fn settle(&mut self, edge: EdgeId, reason: Reason);

    /// The decisions of an execution that ends in `state`, by block between adjustments; no blocks if any path that leads
    /// through the states adjusted is as good as another; `None` if the blocks contradict one another.
    fn execution(&mut self, state: &Self::State, budget: &Budget) -> Result<Option<Vec<Vec<Decision>>>, Stop>;

    /// What is tracked at some locations is tracked in all of its scope from now on; whether that is more.
    fn widen_precision(&mut self) -> bool;

    /// Whether there is a precision to be refined: not where everything is tracked.
    fn has_precision(&self) -> bool {
        true
    }

    /// Whether a path from the start leads to `goal`, if of its operations only those are executed that are `in_slice`.
    fn check(
        &mut self,
        path: &[EdgeId],
        goal: Goal,
        in_slice: InSlice<'_>,
        budget: &Budget,
    ) -> Result<PathCheck<Self::Evidence>, Stop>;

    /// Refines the precision so that the infeasible path to `state`, on which states are adjusted after `cuts` edges, is
    /// not met again.
    fn refine(
        &mut self,
        state: &Self::State,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Refinement, Stop>;
}
