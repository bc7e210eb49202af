//! The product of two analyses: a composite CPA with strengthening (Beyer, Henzinger, Théoduloz: Configurable software
//! verification, CAV 2007, section 3).
//!
//! The first component leads: it provides the evidence for errors, and its precision is refined. The product excludes
//! every state that either component excludes.

use super::capability::{Limited, Reporting, Statistics};
use super::{
    Abstraction, At, Cpa, Decision, Goal, InSlice, Increment, Pair, PathCheck, Refinement, Sides, Step, Stop, Target,
};
use crate::invariant::observed::Agreement;
use crate::semantics::control::Control;
use crate::verdict::{Reason, Taints};
use cfa::{EdgeId, ErrorId};
use smt::budget::Budget;
use std::time::Duration;

/// A domain that can use the state of its sibling in a product.
pub trait Strengthen<Other>: Cpa {
    /// The concrete states that both `state` and `other` represent after `edge`; `None` if there are none.
    fn strengthen(&mut self, state: Self::State, _other: &Other, _edge: EdgeId) -> Option<Self::State> {
        Some(state)
    }
}

/// A domain with an order on states, and an abstraction that needs no precision.
pub trait Order: Cpa {
    /// True if `old` represents all concrete states that `new` represents, at the same control.
    fn includes(&self, old: &Self::State, new: &Self::State) -> bool;
    /// Abstracts a state where paths join, so that a path meets only finitely many states. `None` if the state
    /// represents no concrete state.
    fn prec(&mut self, state: Self::State, at: Control) -> Option<Self::State>;
}

/// The product CPA.
pub struct Product<A: Cpa, B: Cpa> {
    /// The leading component.
    pub first: A,
    /// The second component.
    pub second: B,
    /// Buffers for the results of the components. Empty outside a step.
    steps: (Step<A::State>, Step<B::State>),
}

/// A state of the product.
#[derive(Clone)]
pub struct State<A, B> {
    /// The state of the first component.
    pub first: A,
    /// The state of the second component.
    pub second: B,
}

type Both<A, B> = State<<A as Cpa>::State, <B as Cpa>::State>;

impl<A, B> Product<A, B>
where
    A: Cpa<State: Clone> + Strengthen<<B as Cpa>::State>,
    B: Cpa<State: Clone> + Strengthen<<A as Cpa>::State>,
{
    /// The product of two domains.
    pub fn new(first: A, second: B) -> Self {
        Self { first, second, steps: Default::default() }
    }

    /// Strengthens both states after `edge`; `None` if either is infeasible.
    fn reduced(&mut self, first: A::State, second: B::State, edge: EdgeId) -> Option<Both<A, B>> {
        let second = self.second.strengthen(second, &first, edge)?;
        let first = self.first.strengthen(first, &second, edge)?;
        Some(State { first, second })
    }
}

impl<A, B> Cpa for Product<A, B>
where
    A: Cpa<State: Clone> + Strengthen<<B as Cpa>::State>,
    B: Cpa<State: Clone> + Strengthen<<A as Cpa>::State>,
{
    type State = Both<A, B>;
    type Evidence = A::Evidence;

    fn initial(&mut self) -> Self::State {
        State { first: self.first.initial(), second: self.second.initial() }
    }

    fn transfer(
        &mut self,
        state: Self::State,
        at: Control,
        edge: EdgeId,
        out: &mut Step<Self::State>,
    ) -> Result<(), Stop> {
        let State { first, second: before } = state;
        let (mut ours, mut theirs) = std::mem::take(&mut self.steps);
        self.first.transfer(first, at, edge, &mut ours)?;
        self.second.transfer(before.clone(), at, edge, &mut theirs)?;
        for (first, to) in ours.successors.drain(..) {
            if to == At::Source {
                // The first component executes the operation again.
                out.successors.push((State { first, second: before.clone() }, to));
                continue;
            }
            for (second, _) in theirs.successors.iter().filter(|(_, there)| *there == to) {
                let state = match to {
                    At::Target => self.reduced(first.clone(), second.clone(), edge),
                    _ => Some(State { first: first.clone(), second: second.clone() }),
                };
                out.successors.extend(state.map(|state| (state, to)));
            }
        }
        // A fault state is a state before the operation, so it pairs with the second component's state before it.
        out.extend_with(&mut ours, |first| State { first, second: before.clone() });
        theirs.clear();
        self.steps = (ours, theirs);
        Ok(())
    }

    fn branch(&mut self, state: Self::State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<Self::State>, Stop> {
        let ours = self.first.branch(state.first, then_edge, else_edge)?;
        let theirs = self.second.branch(state.second, then_edge, else_edge)?;
        let mut both = |ours: Option<A::State>, theirs: Option<B::State>, edge| self.reduced(ours?, theirs?, edge);
        Ok((both(ours.0, theirs.0, then_edge), both(ours.1, theirs.1, else_edge)))
    }

    fn leave(&mut self, state: Self::State, return_edge: EdgeId, call_edge: EdgeId) -> Result<Self::State, Stop> {
        let first = self.first.leave(state.first, return_edge, call_edge)?;
        Ok(State { first, second: self.second.leave(state.second, return_edge, call_edge)? })
    }

    fn target(
        &mut self,
        state: &mut Self::State,
        edge: EdgeId,
        error: ErrorId,
    ) -> Result<Target<Self::Evidence>, Stop> {
        match self.second.target(&mut state.second, edge, error)? {
            Target::Infeasible => Ok(Target::Infeasible),
            _ => self.first.target(&mut state.first, edge, error),
        }
    }

    fn adjust(
        &mut self,
        state: Self::State,
        edge: EdgeId,
        at: Control,
        more: &mut Vec<Self::State>,
    ) -> Result<Option<Self::State>, Stop> {
        let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
        let Some(second) = self.second.adjust(state.second, edge, at, &mut seconds)? else { return Ok(None) };
        let first = self.first.adjust(state.first, edge, at, &mut firsts)?;
        debug_assert!(seconds.is_empty(), "the second component does not split states");
        more.extend(firsts.into_iter().map(|first| State { first, second: second.clone() }));
        Ok(first.map(|first| State { first, second }))
    }

    /// The product merges no states, since a merge has to be exact in both components at once.
    fn merge(&mut self, a: Self::State, b: Self::State, _: Control) -> Result<Self::State, Pair<Self::State>> {
        Err(Box::new((a, b)))
    }

    fn returns(&mut self, state: &mut Self::State, edge: EdgeId) -> bool {
        self.first.returns(&mut state.first, edge) && self.second.returns(&mut state.second, edge)
    }

    fn ran_out(&self) -> bool {
        self.first.ran_out() || self.second.ran_out()
    }
}

impl<A, B> Abstraction for Product<A, B>
where
    A: Abstraction<State: Clone> + Strengthen<<B as Cpa>::State>,
    B: Order<State: Clone> + Strengthen<<A as Cpa>::State>,
{
    fn both(&mut self, state: Self::State, then_edge: EdgeId, else_edge: EdgeId) -> Sides<Self::State> {
        let State { first, second } = state;
        let (yes, no) = self.first.both(first, then_edge, else_edge);
        let with = |first: Option<A::State>| first.map(|first| State { first, second: second.clone() });
        (with(yes), with(no))
    }

    fn abstract_state(
        &mut self,
        state: Self::State,
        at: Control,
        since: &Self::State,
    ) -> Result<Option<Self::State>, Stop> {
        let Some(second) = self.second.prec(state.second, at) else { return Ok(None) };
        let first = self.first.abstract_state(state.first, at, &since.first)?;
        Ok(first.map(|first| State { first, second }))
    }

    fn covers(&mut self, old: &Self::State, new: &Self::State, at: Control) -> bool {
        self.second.includes(&old.second, &new.second) && self.first.covers(&old.first, &new.first, at)
    }

    fn known_values(&mut self, state: &Self::State, at: Control) -> Vec<Option<u64>> {
        self.first.known_values(&state.first, at)
    }
    fn decisions(&mut self, state: &mut Self::State) -> Vec<Decision> {
        self.first.decisions(&mut state.first)
    }
    fn has_precision(&self) -> bool {
        self.first.has_precision()
    }
    fn widen_precision(&mut self) -> bool {
        self.first.widen_precision()
    }
    fn record_undecided(&mut self, edge: EdgeId, reason: Reason) {
        self.first.record_undecided(edge, reason);
    }
    fn execution(&mut self, state: &Self::State, budget: &Budget) -> Result<Option<Vec<Vec<Decision>>>, Stop> {
        self.first.execution(&state.first, budget)
    }
    fn check(
        &mut self,
        path: &[EdgeId],
        goal: Goal,
        in_slice: InSlice<'_>,
        budget: &Budget,
    ) -> Result<PathCheck<A::Evidence>, Stop> {
        self.first.check(path, goal, in_slice, budget)
    }
    fn refine(
        &mut self,
        state: &Self::State,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Refinement, Stop> {
        self.first.refine(&state.first, path, cuts, goal, budget)
    }
}

impl<A: Cpa + Limited, B: Cpa> Limited for Product<A, B> {
    fn limit(&mut self, budget: &Budget, query_time: Option<Duration>) {
        self.first.limit(budget, query_time);
    }
}

impl<A: Cpa + Reporting, B: Cpa> Reporting for Product<A, B> {
    fn statistics(&self) -> Statistics {
        self.first.statistics()
    }
    fn all_taints(&self) -> &Taints {
        self.first.all_taints()
    }
    fn increments(&self) -> &[Increment] {
        self.first.increments()
    }
    fn agreements(&self) -> Vec<Agreement> {
        self.first.agreements()
    }
}
