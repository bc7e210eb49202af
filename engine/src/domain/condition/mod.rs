//! The CPA of a condition automaton [`PathAutomaton`]: another CPA, restricted to the paths that the automaton selects.
//!
//! A state covers another regardless of their positions in the automaton. This is sound for the following reason.
//! Assume that some execution leads from a reached state to an error, where the state was reached in this run or in the
//! run whose residual the automaton describes. Take a shortest such execution. The explored part of it ends at a
//! covered state or on a path that the automaton excludes. In the first case, an execution to an error continues from
//! the covering state. In the second case, one continues in the run that verified the excluded path. Both are shorter,
//! which is a contradiction.

pub mod part;

use crate::analysis::capability::{Limited, Reporting, Statistics};
use crate::analysis::{At, Coverer, Cpa, EarlierProgress, Increment, Pair, Sides, Step, Stop, Target};
use crate::domain::condition::part::{PathAutomaton, Position};
use crate::invariant::observed::Agreement;
use crate::semantics::control::Control;
use crate::verdict::Taints;
use cfa::{EdgeId, ErrorId};
use smt::budget::Budget;
use std::sync::Arc;
use std::time::Duration;

/// Maximal number of loop heads on a replayed path between two branches that the automaton names.
const MOST_HEADS: u8 = 8;

/// A CPA that can explore a part of the paths.
pub trait Confined: Cpa {
    /// Like [`Cpa::branch`] for the then-edge and the else-edge, but computes no state for sides that are `closed`.
    fn branch_open(
        &mut self,
        state: Self::State,
        edges: (EdgeId, EdgeId),
        closed: (bool, bool),
    ) -> Result<Sides<Self::State>, Stop>;

    /// Keeps a state that an earlier run reached at `at`, so that it may cover others. Counts as a call of
    /// [`Cpa::stop`].
    fn keep(&mut self, state: &Self::State, at: Control);
}

/// A CPA restricted to the paths that a condition automaton selects.
pub struct Conditional<C: Cpa> {
    pub(crate) inner: C,
    part: Arc<PathAutomaton>,
    /// Buffer for the result of the inner CPA. Empty between steps.
    step: Step<C::State>,
}

impl<C: Cpa> Conditional<C> {
    /// Restricts `inner` to the paths that `part` selects.
    pub fn new(inner: C, part: Arc<PathAutomaton>) -> Self {
        Self { inner, part, step: Step::default() }
    }
}

impl<C: Confined> Cpa for Conditional<C> {
    type State = (C::State, Position);
    type Evidence = C::Evidence;

    fn initial(&mut self) -> Self::State {
        (self.inner.initial(), self.part.initial)
    }

    fn transfer(
        &mut self,
        (state, place): Self::State,
        at: Control,
        edge: EdgeId,
        out: &mut Step<Self::State>,
    ) -> Result<(), Stop> {
        let step = &mut self.step;
        step.clear();
        self.inner.transfer(state, at, edge, step)?;
        let behind = self.part.step(place, edge);
        for (state, to) in step.successors.drain(..) {
            // A state that stays at the source will take the edge again.
            let place = if to == At::Source { place } else { behind };
            if place != Position::Done {
                out.successors.push(((state, place), to));
            }
        }
        if let Position::Seen(..) = place {
            step.faults.clear();
        }
        out.extend_with(step, |state| (state, place));
        Ok(())
    }

    fn branch(
        &mut self,
        (state, place): Self::State,
        then_edge: EdgeId,
        else_edge: EdgeId,
    ) -> Result<Sides<Self::State>, Stop> {
        let (yes, no) = (self.part.side(place, then_edge), self.part.side(place, else_edge));
        let closed = (yes == Position::Done, no == Position::Done);
        let (on_yes, on_no) = self.inner.branch_open(state, (then_edge, else_edge), closed)?;
        let open =
            |state: Option<C::State>, place| state.filter(|_| place != Position::Done).map(|state| (state, place));
        Ok((open(on_yes, yes), open(on_no, no)))
    }

    fn returns(&mut self, (state, place): &mut Self::State, edge: EdgeId) -> bool {
        self.part.step(*place, edge) != Position::Done && self.inner.returns(state, edge)
    }

    fn leave(
        &mut self,
        (state, place): Self::State,
        return_edge: EdgeId,
        call_edge: EdgeId,
    ) -> Result<Self::State, Stop> {
        let behind = self.part.step(place, return_edge);
        Ok((self.inner.leave(state, return_edge, call_edge)?, behind))
    }

    fn target(&mut self, state: &mut Self::State, edge: EdgeId, error: ErrorId) -> Result<Target<C::Evidence>, Stop> {
        if let Position::Seen(..) = state.1 {
            return Ok(Target::Infeasible);
        }
        self.inner.target(&mut state.0, edge, error)
    }

    fn adjust(
        &mut self,
        (state, place): Self::State,
        edge: EdgeId,
        at: Control,
        more: &mut Vec<Self::State>,
    ) -> Result<Option<Self::State>, Stop> {
        let place = match place {
            Position::Seen(_, MOST_HEADS) => return Ok(None),
            Position::Seen(state, heads) => Position::Seen(state, heads + 1),
            place => place,
        };
        let mut created = Vec::new();
        let adjusted = self.inner.adjust(state, edge, at, &mut created)?;
        more.extend(created.into_iter().map(|state| (state, place)));
        Ok(adjusted.map(|state| (state, place)))
    }

    fn stop(&mut self, state: &Self::State, at: Control) -> Result<Option<Coverer>, Stop> {
        if let Position::Seen(..) = state.1 {
            self.inner.keep(&state.0, at);
            return Ok(None);
        }
        self.inner.stop(&state.0, at)
    }

    fn earlier_progress(&self, state: &Self::State) -> EarlierProgress {
        match state.1 {
            Position::Open => EarlierProgress::Nothing,
            Position::State(_) => EarlierProgress::Begun,
            Position::Seen(..) | Position::Done => EarlierProgress::Done,
        }
    }

    fn merge(&mut self, a: Self::State, b: Self::State, at: Control) -> Result<Self::State, Pair<Self::State>> {
        let place = a.1;
        if place != b.1 {
            return Err(Box::new((a, b)));
        }
        match self.inner.merge(a.0, b.0, at) {
            Ok(state) => Ok((state, place)),
            Err(pair) => Err(Box::new(((pair.0, place), (pair.1, place)))),
        }
    }

    fn counts_iterations(&self) -> bool {
        self.inner.counts_iterations()
    }

    fn ran_out(&self) -> bool {
        self.inner.ran_out()
    }

    fn taints(&self) -> Option<&Taints> {
        self.inner.taints()
    }

    fn ended(&mut self, state: Self::State, edge: EdgeId) {
        self.inner.ended(state.0, edge);
    }
}

impl<C: Cpa + Limited> Limited for Conditional<C> {
    fn limit(&mut self, budget: &Budget, query_time: Option<Duration>) {
        self.inner.limit(budget, query_time);
    }
}

impl<C: Cpa + Reporting> Reporting for Conditional<C> {
    fn statistics(&self) -> Statistics {
        self.inner.statistics()
    }
    fn all_taints(&self) -> &Taints {
        self.inner.all_taints()
    }
    fn increments(&self) -> &[Increment] {
        self.inner.increments()
    }
    fn agreements(&self) -> Vec<Agreement> {
        self.inner.agreements()
    }
}
