//! The CPA of a [`Part`]: another CPA on the paths that are looked at.
//!
//! A state covers another wherever both are in the automaton. Take an execution from a state reached, here or in the run that the part
//! is what was left of, to an error, as short as there is one. Along it what was explored in either run ends in a state that is covered, or on a path left
//! out; from the covering state, and in the run that left it out, the execution goes on and is shorter. So there is none.

use super::symbolic::SymbolicExecution;
use super::tracking::Tracking;
use super::wrapper::Wrapper;
use super::{At, Before, Cpa, Pair, Sides, Stop, Successors, Target};
use crate::control::Control;
use crate::part::{Part, Place};
use crate::verdict::Taints;
use cfa::{EdgeId, ErrorId};
use std::sync::Arc;

/// Heads that are passed without a branch to states that were seen before.
const MOST_HEADS: u8 = 8;

/// A CPA on a part of the paths.
pub struct Conditional<C: Cpa> {
    inner: C,
    part: Arc<Part>,
    /// Where the state of the last operation was.
    last: Place,
    successors: Successors<C::State>,
}

impl<C: Cpa> Conditional<C> {
    pub fn new(inner: C, part: Arc<Part>) -> Self {
        Self { inner, part, last: Place::Open, successors: Vec::new() }
    }
}

impl<'p, C: Wrapper<'p>> Cpa for Conditional<C> {
    type State = (C::State, Place);
    type Evidence = C::Evidence;

    fn initial(&mut self) -> Self::State {
        (self.inner.initial(), self.part.initial)
    }

    fn transfer(
        &mut self,
        (state, place): Self::State,
        at: Control,
        edge: EdgeId,
        out: &mut Successors<Self::State>,
    ) -> Result<(), Stop> {
        self.last = place;
        let mut successors = std::mem::take(&mut self.successors);
        let done = self.inner.transfer(state, at, edge, &mut successors);
        let behind = self.part.step(place, edge);
        for (state, to) in successors.drain(..) {
            // A state that stays where it is will take the edge again.
            let place = if to == At::Source { place } else { behind };
            if place != Place::Done {
                out.push(((state, place), to));
            }
        }
        self.successors = successors;
        done
    }

    fn faults(&mut self) -> Vec<Self::State> {
        let faults = self.inner.faults();
        if let Place::Seen(..) = self.last {
            return Vec::new();
        }
        faults.into_iter().map(|state| (state, self.last)).collect()
    }

    fn postponed(&mut self) -> Vec<Self::State> {
        self.inner.postponed().into_iter().map(|state| (state, self.last)).collect()
    }

    fn branch(
        &mut self,
        (state, place): Self::State,
        then_edge: EdgeId,
        else_edge: EdgeId,
    ) -> Result<Sides<Self::State>, Stop> {
        let (yes, no) = (self.part.side(place, then_edge), self.part.side(place, else_edge));
        self.inner.symbolic_mut().closed = (yes == Place::Done, no == Place::Done);
        let sides = self.inner.branch(state, then_edge, else_edge);
        self.inner.symbolic_mut().closed = (false, false);
        let (on_yes, on_no) = sides?;
        let open = |state: Option<C::State>, place| state.filter(|_| place != Place::Done).map(|state| (state, place));
        Ok((open(on_yes, yes), open(on_no, no)))
    }

    fn returns(&mut self, (state, place): &mut Self::State, edge: EdgeId) -> bool {
        self.part.step(*place, edge) != Place::Done && self.inner.returns(state, edge)
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
        if let Place::Seen(..) = state.1 {
            return Ok(Target::Infeasible);
        }
        self.inner.target(&mut state.0, edge, error)
    }

    fn adjust(&mut self, (state, place): Self::State, edge: EdgeId, at: Control) -> Result<Option<Self::State>, Stop> {
        let place = match place {
            Place::Seen(_, MOST_HEADS) => return Ok(None),
            Place::Seen(state, heads) => Place::Seen(state, heads + 1),
            place => place,
        };
        self.last = place;
        Ok(self.inner.adjust(state, edge, at)?.map(|state| (state, place)))
    }

    fn stop(&mut self, state: &Self::State, at: Control) -> Result<bool, Stop> {
        if let Place::Seen(..) = state.1 {
            self.inner.symbolic_mut().keeps_all = true;
            let covered = self.inner.stop(&state.0, at);
            self.inner.symbolic_mut().keeps_all = false;
            return covered.map(|_| false);
        }
        self.inner.stop(&state.0, at)
    }

    fn before(&self, state: &Self::State) -> Before {
        match state.1 {
            Place::Open => Before::Nothing,
            Place::State(_) => Before::Begun,
            Place::Seen(..) | Place::Done => Before::Done,
        }
    }

    fn coverer(&self) -> Option<usize> {
        self.inner.coverer()
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

    fn siblings(&mut self) -> Vec<Self::State> {
        self.inner.siblings().into_iter().map(|state| (state, self.last)).collect()
    }

    fn problems(&mut self) -> Vec<EdgeId> {
        self.inner.problems()
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

impl<'p, C: Wrapper<'p>> Wrapper<'p> for Conditional<C> {
    fn symbolic(&self) -> &SymbolicExecution<'p> {
        self.inner.symbolic()
    }
    fn symbolic_mut(&mut self) -> &mut SymbolicExecution<'p> {
        self.inner.symbolic_mut()
    }
    fn tracking(&self) -> Option<&Tracking<'p>> {
        self.inner.tracking()
    }
    fn tracking_mut(&mut self) -> Option<&mut Tracking<'p>> {
        self.inner.tracking_mut()
    }
    fn sliced(&self) -> usize {
        self.inner.sliced()
    }
}
