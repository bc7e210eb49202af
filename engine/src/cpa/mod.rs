//! Configurable program analyses.
//!
//! An analysis is an abstract domain with a transfer relation, `merge` and `stop` (Beyer, Henzinger, Théoduloz:
//! Configurable software verification, CAV 2007). Where a state stands in the program (its [`Control`]) is not part of
//! the domain: the exploration loop ([`crate::explore`]) keeps it, follows calls and returns, and asks the domain for
//! the effect of one operation at a time.

pub mod symbolic;

use crate::control::Control;
use crate::verdict::Reason;
use cfa::{EdgeId, ErrorId, FuncId};

/// Why an exploration ends before its time. The waitlist keeps what was not explored.
#[derive(Clone, Debug)]
pub enum Stop {
    /// The budget is spent.
    Spent(crate::budget::Spent),
    /// Something that makes going on pointless.
    Fatal(Reason),
}

/// Where a successor stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// At the target of the edge.
    Target,
    /// Still at its source: a case split that has to execute the edge again.
    Source,
    /// At the entry of a callee, whose frame has been entered.
    Callee(FuncId),
}

/// The successors of a state along an edge.
pub type Successors<S> = Vec<(S, At)>;

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

/// A configurable program analysis. Laws: `transfer`, `branch` and `leave` lose no concrete successor, unless they
/// record a taint; `arrive` drops a state only if every concrete state that it stands for can reach no more errors
/// than states kept before.
pub trait Cpa {
    type State;
    /// Evidence for an error.
    type Evidence;

    fn initial(&mut self) -> Self::State;

    /// The effect of an operation that is not an assume or a return. A call yields states at callees.
    fn transfer(
        &mut self,
        state: Self::State,
        at: Control,
        edge: EdgeId,
        successors: &mut Successors<Self::State>,
    ) -> Result<(), Stop>;

    /// The states that take the then-edge and the else-edge.
    fn branch(&mut self, state: Self::State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<Self::State>, Stop>;

    /// Back from a callee over `return_edge`, to the target of `call_edge`.
    fn leave(&mut self, state: Self::State, return_edge: EdgeId, call_edge: EdgeId) -> Result<Self::State, Stop>;

    /// The state stands before an error edge.
    fn target(&mut self, state: &mut Self::State, edge: EdgeId, error: ErrorId)
    -> Result<Target<Self::Evidence>, Stop>;

    /// The state has come over `edge` to a location where paths join. `None` if it need not be followed: what was
    /// reached there before covers it. The state may be replaced by one that stands for more.
    fn arrive(&mut self, state: Self::State, edge: EdgeId, at: Control) -> Result<Option<Self::State>, Stop>;

    /// One state for two at the same control, which stands for exactly what the two stand for; or the two, if there is
    /// none that is worth it.
    fn merge(&mut self, a: Self::State, b: Self::State, at: Control) -> Result<Self::State, Pair<Self::State>>;

    /// Called when execution ended at a halt or at the end of the entry function.
    fn ended(&mut self, _state: Self::State, _edge: EdgeId) {}
}
