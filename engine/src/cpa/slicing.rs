//! The slicing CPA: another CPA on the part of the program that the paths met so far depend on.
//!
//! Its precision is a set of operations, the slice; one that is not in it does nothing, and a branch that is not in it is
//! followed both ways. Refinement makes the operations on an infeasible path criteria, or its last operation alone, and adds
//! what they depend on; the precision of the CPA inside is refined in the same step (the thesis on slicing and CEGAR for
//! symbolic execution, sections 3.2 and 3.3, Algorithm 4). Since control flow stays as it is, a slice that forgets that loops may not
//! terminate is sound here.

use super::symbolic::SymbolicExecution;
use super::tracking::Tracking;
use super::wrapper::Wrapper;
use super::{Abstraction, At, Cpa, Decision, Goal, Pair, PathCheck, Refinement, Sides, Stop, Successors, Target};
use crate::budget::Budget;
use crate::control::Control;
pub use crate::refine::Criteria;
use crate::refine::Slices;
use crate::verdict::Reason;
use cfa::{EdgeId, ErrorId, Op, Program};

/// A CPA on a slice that grows.
pub struct Slicing<'p, C> {
    pub inner: C,
    program: &'p Program,
    slices: Slices<'p>,
}

impl<'p, C> Slicing<'p, C> {
    /// Starts with an empty slice. An error if the dependences cannot be found within the slicer's limits.
    pub fn new(
        program: &'p Program,
        inner: C,
        criteria: Criteria,
        options: slicer::Options,
    ) -> Result<Self, slicer::Error> {
        Ok(Self { inner, program, slices: Slices::new(program, criteria, options)? })
    }

    fn has(&self, edge: EdgeId) -> bool {
        self.slices.has(edge)
    }
}

impl<C: Abstraction> Cpa for Slicing<'_, C> {
    type State = C::State;
    type Evidence = C::Evidence;

    fn initial(&mut self) -> C::State {
        self.inner.initial()
    }

    fn transfer(
        &mut self,
        state: C::State,
        at: Control,
        edge: EdgeId,
        out: &mut Successors<C::State>,
    ) -> Result<(), Stop> {
        // Calls are entered in any case: paths are paths of the program. What may be a fault is in the slice.
        let always = matches!(self.program.edges[edge].op, Op::Call { .. } | Op::Approx { .. });
        if always || self.has(edge) {
            return self.inner.transfer(state, at, edge, out);
        }
        out.push((state, At::Target));
        Ok(())
    }

    fn faults(&mut self) -> Vec<C::State> {
        self.inner.faults()
    }

    fn branch(&mut self, state: C::State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<C::State>, Stop> {
        if self.has(then_edge) || self.has(else_edge) {
            return self.inner.branch(state, then_edge, else_edge);
        }
        Ok(self.inner.both(state, then_edge, else_edge))
    }

    fn leave(&mut self, state: C::State, return_edge: EdgeId, call_edge: EdgeId) -> Result<C::State, Stop> {
        self.inner.leave(state, return_edge, call_edge)
    }

    fn target(&mut self, state: &mut C::State, edge: EdgeId, error: ErrorId) -> Result<Target<C::Evidence>, Stop> {
        self.inner.target(state, edge, error)
    }

    fn adjust(&mut self, state: C::State, edge: EdgeId, at: Control) -> Result<Option<C::State>, Stop> {
        self.inner.adjust(state, edge, at)
    }

    fn stop(&mut self, state: &C::State, at: Control) -> Result<bool, Stop> {
        self.inner.stop(state, at)
    }

    fn problems(&mut self) -> Vec<EdgeId> {
        self.inner.problems()
    }

    fn ran_out(&self) -> bool {
        self.inner.ran_out()
    }

    fn merge(&mut self, a: C::State, b: C::State, at: Control) -> Result<C::State, Pair<C::State>> {
        self.inner.merge(a, b, at)
    }
}

impl<C: Abstraction> Abstraction for Slicing<'_, C> {
    fn both(&mut self, state: C::State, then_edge: EdgeId, else_edge: EdgeId) -> Sides<C::State> {
        self.inner.both(state, then_edge, else_edge)
    }
    fn abstract_state(&mut self, state: C::State, at: Control, since: &C::State) -> Result<Option<C::State>, Stop> {
        self.inner.abstract_state(state, at, since)
    }
    fn covers(&mut self, old: &C::State, new: &C::State, at: Control) -> bool {
        self.inner.covers(old, new, at)
    }
    fn known_values(&mut self, state: &C::State, at: Control) -> Vec<Option<u64>> {
        self.inner.known_values(state, at)
    }
    fn decisions(&mut self, state: &mut C::State) -> Vec<Decision> {
        self.inner.decisions(state)
    }
    fn execution(&mut self, state: &C::State, budget: &Budget) -> Result<Option<Vec<Vec<Decision>>>, Stop> {
        self.inner.execution(state, budget)
    }
    fn widen_precision(&mut self) -> bool {
        self.inner.widen_precision()
    }
    fn settle(&mut self, edge: EdgeId, reason: Reason) {
        self.inner.settle(edge, reason);
    }
    fn check(&mut self, path: &[EdgeId], goal: Goal, budget: &Budget) -> Result<PathCheck<C::Evidence>, Stop> {
        self.inner.check(path, goal, budget)
    }

    fn refine(
        &mut self,
        state: &C::State,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Refinement, Stop> {
        let mut grown = self.slices.grow(path, goal);
        // The precision inside is refined in the same step (Algorithm 4 of the thesis).
        let inner = match grown && !self.inner.has_precision() {
            true => Ok(Refinement::Impossible),
            false => self.inner.refine(state, path, cuts, goal, budget),
        };
        if !grown && matches!(inner, Ok(Refinement::Impossible | Refinement::Refined { changed: false, .. })) {
            grown = self.slices.grow_along(path, goal);
        }
        if !grown {
            return inner;
        }
        // States of any path may have passed an operation that is new in the slice without its effect: a value from before
        // would be taken for the present one. So none of them stays, not only what follows on this path.
        Ok(Refinement::Refined { from: 0, changed: true })
    }

    fn has_precision(&self) -> bool {
        self.inner.has_precision()
    }
}

impl<'p, C: Wrapper<'p> + Abstraction> Wrapper<'p> for Slicing<'_, C> {
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
        self.slices.len()
    }
}
