//! Paths followed again: whether they are feasible.
//!
//! A [`Carrier`] is a domain whose states carry a state of symbolic execution. [`Follower`] executes a path in it, operation by
//! operation, at the precision that the execution has at the moment.

use crate::analysis::{At, Cpa, Goal, InSlice, PathCheck, Step, Stop, Target};
use crate::domain::symbolic::{self, Problem, Problems, SymbolicExecution};
use crate::semantics::Mode;
use crate::semantics::control::Control;
use crate::verdict::Reason;
use cfa::interp::Inputs;
use cfa::{EdgeId, LocId, Op, PlaceId};
use smt::budget::{Budget, Spent};
use std::marker::PhantomData;
use std::ops::DerefMut;

/// States that one path may split into, by the objects that pointers point into.
const MOST_STATES: usize = 64;

/// A domain whose states are states of symbolic execution with something kept beside them.
pub trait Carrier<'p> {
    type State: Clone + DerefMut<Target = symbolic::State>;

    fn symbolic(&self) -> &SymbolicExecution<'p>;
    fn symbolic_mut(&mut self) -> &mut SymbolicExecution<'p>;

    fn initial(&mut self) -> Self::State;
    /// Adds to `out` the effect of an operation that is not an assume or a return; undecided operations stay with the execution.
    fn execute(&mut self, st: Self::State, edge: EdgeId, out: &mut Step<Self::State>);
    /// The part of a state that takes this side of its branch, if there is one.
    fn side(&mut self, st: Self::State, edge: EdgeId) -> Option<Self::State>;
    fn leave(&mut self, st: Self::State, return_edge: EdgeId, call_edge: EdgeId) -> Result<Self::State, Stop>;

    /// The part of a state at `at` that the precision tracks.
    fn abstracted(&mut self, st: Self::State, at: Control) -> Self::State;
    /// Whether `old` stands for all that `new` stands for, both at `at`.
    fn covers(&mut self, old: &Self::State, new: &Self::State, at: Control) -> bool;

    /// The undecided operations met since the last look.
    fn undecided<'s>(&'s mut self) -> &'s mut Problems
    where
        'p: 's,
    {
        self.symbolic_mut().problems.as_mut().expect("they are looked into")
    }
    /// Whether the solver does not refute the state; where the unknown has no names, it is not asked.
    fn is_real(&mut self, st: &mut Self::State) -> bool {
        let execution = &mut self.symbolic_mut().execution;
        !execution.mode.names_unknowns || execution.is_feasible(st)
    }
}

/// The states at the end of a path.
pub enum End<S> {
    States(Vec<S>),
    /// With the number of edges after which the last of them ended, if none is left.
    Nowhere(usize),
    /// Something kept the path from being followed.
    Problem,
}

/// Follows paths, in the mode that the execution is in.
pub struct Follower<'a, 'p, C: Carrier<'p>> {
    pub cpa: &'a mut C,
    /// The operations on a path that are executed; the others do nothing. Control goes along the path anyway.
    pub in_slice: InSlice<'a>,
    pub budget: &'a Budget,
    /// The result of the last operation, kept for its buffers.
    result: Step<C::State>,
    program: PhantomData<&'p ()>,
}

impl<'a, 'p, C: Carrier<'p>> Follower<'a, 'p, C> {
    pub fn new(cpa: &'a mut C, in_slice: InSlice<'a>, budget: &'a Budget) -> Self {
        Self { cpa, in_slice, budget, result: Step::default(), program: PhantomData }
    }

    /// Does `work` with states computed otherwise.
    pub fn in_mode<T>(&mut self, mode: Mode, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.cpa.symbolic_mut().execution.mode, mode);
        let result = work(self);
        self.cpa.symbolic_mut().execution.mode = before;
        result
    }

    /// Whether `path` leads to `goal`, at full precision.
    pub fn check(&mut self, path: &[EdgeId], goal: Goal) -> Result<PathCheck<Inputs>, Stop> {
        let mode = Mode { names_unknowns: true, is_abstract: false, ..self.cpa.symbolic_mut().execution.mode };
        let result = self.in_mode(mode, |this| this.check_precisely(path, goal));
        self.cpa.undecided().found.clear();
        result
    }

    fn check_precisely(&mut self, path: &[EdgeId], goal: Goal) -> Result<PathCheck<Inputs>, Stop> {
        let states = loop {
            let start = self.cpa.initial();
            match self.along(vec![start], path)? {
                End::States(states) => break states,
                End::Nowhere(_) => return Ok(PathCheck::Infeasible),
                // What lies before the problem on the path is looked at first, so this one is new only to the full
                // precision. Abstract states read anything through pointers that are not tracked.
                End::Problem => match self.cpa.undecided().found.last().map(|p| p.edge) {
                    Some(edge) if self.cpa.symbolic_mut().is_read(edge) && !self.cpa.undecided().is_settled(edge) => {
                        self.cpa.undecided().settle(edge);
                    }
                    _ => return Ok(PathCheck::Unknown(self.last_problem())),
                },
            }
        };
        match goal {
            Goal::Error { edge, error } => {
                for st in &mut self.at_error(states, edge)? {
                    match self.cpa.symbolic_mut().target(st, edge, error)? {
                        Target::Reached(inputs) => return Ok(PathCheck::Feasible(inputs)),
                        Target::Infeasible => {}
                        Target::Undecided | Target::Later => {
                            return Ok(PathCheck::Unknown(Reason::at(
                                "a path to an error is undecided",
                                self.cpa.symbolic_mut().execution.program.edges[edge].place,
                            )));
                        }
                    }
                }
                Ok(PathCheck::Infeasible)
            }
            Goal::Problem { edge } => {
                self.cpa.undecided().found.clear();
                for mut st in states {
                    if self.cpa.is_real(&mut st) {
                        self.step(st, edge, None)?;
                    }
                }
                Ok(match self.cpa.undecided().found.iter().any(|p| p.edge == edge) {
                    true => PathCheck::Unknown(self.last_problem()),
                    false => PathCheck::Infeasible,
                })
            }
        }
    }

    pub fn last_problem(&mut self) -> Reason {
        self.cpa.undecided().found.pop().map_or_else(|| Reason::new("the path cannot be followed"), |p| p.reason)
    }

    /// Whether no state gets to the goal: the number of edges after which the last ended.
    pub fn contradiction(
        &mut self,
        states: Vec<C::State>,
        path: &[EdgeId],
        goal: Option<Goal>,
    ) -> Result<Option<usize>, Stop> {
        let mut states = match self.along(states, path)? {
            End::States(states) => states,
            End::Nowhere(at) => return Ok(Some(at)),
            End::Problem => return Ok(None),
        };
        match goal {
            None => {
                for st in &mut states {
                    if self.cpa.is_real(st) {
                        return Ok(None);
                    }
                }
            }
            Some(Goal::Error { edge, .. }) => {
                for st in &mut self.at_error(states, edge)? {
                    if self.cpa.is_real(st) {
                        return Ok(None);
                    }
                }
            }
            Some(Goal::Problem { edge }) => {
                self.cpa.undecided().found.clear();
                for mut st in states {
                    if self.cpa.is_real(&mut st) {
                        self.step(st, edge, None)?;
                    }
                }
                if self.cpa.undecided().found.iter().any(|p| p.edge == edge) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(path.len()))
    }

    /// The states that violate the property at an edge: those in which its operation is a fault, or all before an error edge.
    pub fn at_error(&mut self, states: Vec<C::State>, edge: EdgeId) -> Result<Vec<C::State>, Stop> {
        if matches!(self.cpa.symbolic_mut().execution.program.edges[edge].op, Op::Error(_)) {
            return Ok(states);
        }
        let mut faults = Vec::new();
        for mut st in states {
            if self.cpa.is_real(&mut st) {
                self.step(st, edge, None)?;
                faults.append(&mut self.result.faults);
            }
        }
        Ok(faults)
    }

    /// Follows a path.
    pub fn along(&mut self, mut states: Vec<C::State>, path: &[EdgeId]) -> Result<End<C::State>, Stop> {
        self.cpa.undecided().found.clear();
        for (i, &edge) in path.iter().enumerate() {
            if (i % 256 == 0 || self.cpa.symbolic_mut().execution.solver.was_cut_short())
                && let Some(spent) = self.budget.spent()
            {
                return Err(Stop::Spent(spent));
            }
            let next = path.get(i + 1).copied();
            let mut after = Vec::with_capacity(states.len());
            for st in states {
                after.extend(self.step(st, edge, next)?);
            }
            if !self.cpa.undecided().found.is_empty() || after.len() > MOST_STATES {
                return Ok(End::Problem);
            }
            if after.is_empty() {
                return Ok(End::Nowhere(i + 1));
            }
            states = after;
        }
        Ok(End::States(states))
    }

    /// The successors of a state over one edge; `next` tells which function a call enters.
    pub fn step(&mut self, st: C::State, edge: EdgeId, next: Option<EdgeId>) -> Result<Vec<C::State>, Stop> {
        let program = self.cpa.symbolic_mut().execution.program;
        self.result.clear();
        match program.edges[edge].op {
            _ if !(self.in_slice)(edge) => Ok(vec![st]),
            Op::Assume { .. } => Ok(self.cpa.side(st, edge).into_iter().collect()),
            Op::Return { .. } => {
                let call = st.frame.call.expect("a path returns from where it was called");
                Ok(vec![self.cpa.leave(st, edge, call)?])
            }
            Op::Error(_) | Op::Halt(_) => Ok(vec![st]),
            _ => {
                let mut after = Vec::new();
                let mut pending = vec![st];
                let mut splits = 0;
                while let Some(st) = pending.pop() {
                    self.cpa.execute(st, edge, &mut self.result);
                    if self.cpa.symbolic_mut().execution.solver.was_cut_short() {
                        return Err(Stop::Spent(Spent::Time));
                    }
                    // A length may have any number of values, of which most lead nowhere.
                    splits += 1;
                    if splits > MOST_STATES {
                        let reason = Reason::at("a path splits into too many cases", program.edges[edge].place);
                        self.cpa.undecided().found.push(Problem { edge, reason });
                        return Ok(Vec::new());
                    }
                    for (st, to) in self.result.successors.drain(..) {
                        match to {
                            At::Target => after.push(st),
                            At::Source => pending.push(st),
                            At::Callee(func) => {
                                let entered = next.is_none_or(|e| program.func_of(e) == func);
                                after.extend(entered.then_some(st));
                            }
                        }
                    }
                    if after.len() + pending.len() > MOST_STATES {
                        break;
                    }
                }
                after.append(&mut pending);
                Ok(after)
            }
        }
    }

    /// Where the user sees the goal: an error in a function that nobody defines is at its call.
    pub fn place_of(&self, goal: Goal, path: &[EdgeId]) -> Option<PlaceId> {
        let last =
            path.last().filter(|&&e| matches!(self.cpa.symbolic().execution.program.edges[e].op, Op::Call { .. }));
        self.cpa.symbolic().execution.program.edges[last.copied().unwrap_or(goal.edge())].place
    }

    /// Where the path stands after its first `n` edges.
    pub fn loc_after(&self, path: &[EdgeId], n: usize) -> LocId {
        let edge = path[n - 1];
        match self.cpa.symbolic().execution.program.edges[edge].op {
            Op::Call { .. } | Op::Return { .. } => match path.get(n) {
                Some(&next) => self.cpa.symbolic().execution.program.edges[next].source,
                None => self.cpa.symbolic().execution.program.edges[edge].target,
            },
            _ => self.cpa.symbolic().execution.program.edges[edge].target,
        }
    }
}
