//! The slicing CPA: another CPA on a slice of the program that grows with the infeasible paths found.
//!
//! The precision is a set of operations, the slice. An operation outside the slice has no effect, and a branch outside
//! it is followed on both sides. A refinement adds slicing criteria: the branches and the last operation of an
//! infeasible path (target-path slicing), or the last operation only (target-location slicing). It adds all operations
//! on which the criteria depend. The same step also refines the precision of the inner CPA (Lemberger: Abstraction
//! refinement for model checking: program slicing + CEGAR, master's thesis, LMU Munich 2018, sections 3.2 and 3.3,
//! Algorithm 4). Since control flow is unchanged, a slice that is insensitive to termination is sound here.
//!
//! With target-location slicing, a path is checked in the slice of its last operation, like checkPath(σ, A/c) of the
//! thesis. Contradictions that are unrelated to the error (Figure 21 of the thesis) then do not refute the path.
//! The counterexample is then not that path, but the run of the program on the inputs of the slice, which has to reach
//! the error. If it does not, the path itself is checked. If a path is feasible in the slice but infeasible in the
//! program, its branches become criteria as well. The thesis' algorithm does not terminate in this case.
//!
//! If the program has a single error and was sliced for it before, the slice is the whole program. Target-location
//! slicing helps if there are several errors, each with its own slice, or if the program was not sliced before.

mod slices;

use crate::analysis::InSlice;
use crate::analysis::capability::{Limited, Reporting, Statistics};
use crate::analysis::{
    Abstraction, At, Coverer, Cpa, Decision, Goal, Increment, Pair, PathCheck, Refinement, Sides, Step, Stop, Target,
};
use crate::invariant::observed::Agreement;
use crate::semantics::control::{CallStacks, Control, following};
use crate::verdict::{Reason, Taints};
use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId, Op, Out, Program};
pub use slices::Criteria;
use slices::{Slices, executes};
use smt::budget::Budget;
use std::time::Duration;

/// A CPA on a slice that grows.
pub struct Slicing<'p, C> {
    /// The CPA on the slice.
    pub inner: C,
    program: &'p Program,
    pub(crate) slices: Slices<'p>,
}

impl<'p, C> Slicing<'p, C> {
    /// Starts with the operations that faults depend on. Returns an error if the slicer exceeds its limits.
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

    fn transfer(&mut self, state: C::State, at: Control, edge: EdgeId, out: &mut Step<C::State>) -> Result<(), Stop> {
        // Operations that may be faults are in the slice.
        if self.has(edge) {
            return self.inner.transfer(state, at, edge, out);
        }
        out.successors.push((state, At::Target));
        Ok(())
    }

    fn branch(&mut self, state: C::State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<C::State>, Stop> {
        if self.has(then_edge) {
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

    fn adjust(
        &mut self,
        state: C::State,
        edge: EdgeId,
        at: Control,
        more: &mut Vec<C::State>,
    ) -> Result<Option<C::State>, Stop> {
        self.inner.adjust(state, edge, at, more)
    }

    fn stop(&mut self, state: &C::State, at: Control) -> Result<Option<Coverer>, Stop> {
        self.inner.stop(state, at)
    }

    fn ran_out(&self) -> bool {
        self.inner.ran_out()
    }

    fn merge(&mut self, a: C::State, b: C::State, at: Control) -> Result<C::State, Pair<C::State>> {
        self.inner.merge(a, b, at)
    }
}

impl<C: Abstraction<Evidence = Inputs>> Slicing<'_, C> {
    /// The abstract state at the end of a path, for the current slice and precision. `None` if there is none, or if the
    /// path splits.
    fn along(
        &mut self,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Option<C::State>, Stop> {
        let program = self.program;
        let mut stacks = CallStacks::new();
        let mut at = Control { loc: program.funcs[program.entry].entry, stack: CallStacks::EMPTY };
        let mut state = self.initial();
        let mut since = state.clone();
        for (i, &edge) in path.iter().enumerate() {
            if i % 256 == 0
                && let Some(spent) = budget.spent()
            {
                return Err(Stop::Spent(spent));
            }
            let next = path.get(i + 1).copied().unwrap_or(goal.edge());
            let call = stacks.pop(at.stack).map(|(_, call)| call);
            let to = following(program, &mut stacks, at, edge, Some(program.func_of(next)));
            let Some(after) = self.over(state, at, edge, to, call)? else { return Ok(None) };
            (state, at) = (after, to);
            if cuts.contains(&(i + 1)) {
                let Some(abstracted) = self.abstract_state(state, at, &since)? else { return Ok(None) };
                since = abstracted.clone();
                state = abstracted;
            }
        }
        if matches!(goal, Goal::Undecided { .. }) || matches!(program.edges[goal.edge()].op, Op::Error(_)) {
            return Ok(Some(state));
        }
        let mut step = Step::default();
        self.transfer(state, at, goal.edge(), &mut step)?;
        Ok(step.faults.pop())
    }

    /// The only successor over an edge; `None` if there is none or several. `call` is the call edge to which a return
    /// leads.
    fn over(
        &mut self,
        state: C::State,
        at: Control,
        edge: EdgeId,
        to: Control,
        call: Option<EdgeId>,
    ) -> Result<Option<C::State>, Stop> {
        let program = self.program;
        if let Out::Branch { then_edge, else_edge } = program.locs[at.loc].out {
            let (yes, no) = self.branch(state, then_edge, else_edge)?;
            return Ok(if edge == then_edge { yes } else { no });
        }
        if let (Op::Return { .. }, Some(call)) = (&program.edges[edge].op, call) {
            return Ok(Some(self.leave(state, edge, call)?));
        }
        let mut step = Step::default();
        self.transfer(state, at, edge, &mut step)?;
        let mut successors = step.successors;
        let arrives = |step: At| match step {
            At::Target | At::Source => true,
            At::Callee(func) => program.funcs[func].entry == to.loc,
        };
        successors.retain(|&(_, step)| arrives(step));
        Ok(match successors.pop() {
            Some((state, step)) if successors.is_empty() && step != At::Source => Some(state),
            _ => None,
        })
    }
}

impl<C: Abstraction<Evidence = Inputs>> Abstraction for Slicing<'_, C> {
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
    fn record_undecided(&mut self, edge: EdgeId, reason: Reason) {
        self.inner.record_undecided(edge, reason);
    }
    fn check(
        &mut self,
        path: &[EdgeId],
        goal: Goal,
        in_slice: InSlice<'_>,
        budget: &Budget,
    ) -> Result<PathCheck<Inputs>, Stop> {
        let program = self.program;
        if let Goal::Error { error, .. } = goal
            && let Some(slice) = self.slices.of_target(path, goal)
        {
            let both = |edge: EdgeId| in_slice(edge) && executes(program, &slice, edge);
            if let PathCheck::Feasible(inputs) = self.inner.check(path, goal, &both, budget)?
                && let Some(inputs) = self.slices.confirmed(path, goal, error, &inputs)
            {
                return Ok(PathCheck::Feasible(inputs));
            }
        }
        self.inner.check(path, goal, in_slice, budget)
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
        if !grown && self.slices.criteria == Criteria::TargetLocation {
            let (program, slice) = (self.program, self.slices.all());
            let checked = self.inner.check(path, goal, &|edge| executes(program, &slice, edge), budget)?;
            grown = !matches!(checked, PathCheck::Infeasible) && self.slices.grow_along(path, goal);
        }
        // The inner precision is refined in the same step, with the path in the current slice (Algorithm 4 of the
        // thesis).
        let inner = match grown {
            false => self.inner.refine(state, path, cuts, goal, budget),
            true if !self.inner.has_precision() => Ok(Refinement::Impossible),
            true => match self.along(path, cuts, goal, budget)? {
                Some(state) => self.inner.refine(&state, path, cuts, goal, budget),
                None => Ok(Refinement::Impossible),
            },
        };
        if !grown && matches!(inner, Ok(Refinement::Impossible | Refinement::Refined { changed: false, .. })) {
            grown = self.slices.grow_along(path, goal);
        }
        if !grown {
            return inner;
        }
        // States of any path may lack the effect of an operation that is new in the slice, and have outdated values. So
        // the exploration restarts from the beginning.
        Ok(Refinement::Refined { from: 0, changed: true })
    }

    fn has_precision(&self) -> bool {
        self.inner.has_precision()
    }
}

impl<C: Limited> Limited for Slicing<'_, C> {
    fn limit(&mut self, budget: &Budget, query_time: Option<Duration>) {
        self.inner.limit(budget, query_time);
    }
}

impl<C: Reporting> Reporting for Slicing<'_, C> {
    fn statistics(&self) -> Statistics {
        let inner = self.inner.statistics();
        Statistics { tracked: inner.tracked + self.slices.len() as u64, ..inner }
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
