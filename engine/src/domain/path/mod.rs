//! Feasibility of paths.
//!
//! A [`Carrier`] is a domain whose states contain a state of symbolic execution. A [`Follower`] executes a path in it,
//! edge by edge, in the current mode of the execution.

use crate::analysis::{At, Cpa, Goal, InSlice, PathCheck, Step, Stop, Target};
use crate::domain::symbolic::{self, SymbolicExecution, UndecidedOperation, UndecidedOperations};
use crate::semantics::Mode;
use crate::semantics::control::Control;
use crate::verdict::Reason;
use cfa::interp::Inputs;
use cfa::{EdgeId, LocId, Op, PlaceId};
use smt::budget::{Budget, Spent};
use std::marker::PhantomData;
use std::ops::DerefMut;

/// Maximal number of states that one path may split into. Paths split by the objects that pointers point to.
const MOST_STATES: usize = 64;

/// A domain whose states are states of symbolic execution with additional data.
pub trait Carrier<'p> {
    /// The states.
    type State: Clone + DerefMut<Target = symbolic::State>;

    /// The symbolic execution inside.
    fn symbolic(&self) -> &SymbolicExecution<'p>;
    /// The symbolic execution inside, to be changed.
    fn symbolic_mut(&mut self) -> &mut SymbolicExecution<'p>;

    /// The initial state.
    fn initial(&mut self) -> Self::State;
    /// Executes an operation that is not an assume or a return, and appends the result to `out`. Undecided operations
    /// are recorded in [`undecided`](Self::undecided).
    fn execute(&mut self, st: Self::State, edge: EdgeId, out: &mut Step<Self::State>);
    /// The successor of a state over an assume edge; `None` if the state is infeasible there.
    fn side(&mut self, st: Self::State, edge: EdgeId) -> Option<Self::State>;
    /// The successor of a state over a return to the call edge `call_edge`.
    fn leave(&mut self, st: Self::State, return_edge: EdgeId, call_edge: EdgeId) -> Result<Self::State, Stop>;

    /// Abstracts a state at the control state `at`.
    fn abstracted(&mut self, st: Self::State, at: Control) -> Self::State;
    /// True if `old` covers `new`, both at `at`.
    fn covers(&mut self, old: &Self::State, new: &Self::State, at: Control) -> bool;

    /// The undecided operations since they were last cleared. Panics if the execution does not record them.
    fn undecided<'s>(&'s mut self) -> &'s mut UndecidedOperations
    where
        'p: 's,
    {
        self.symbolic_mut().undecided.as_mut().expect("they are looked into")
    }
    /// False if the solver refutes the state. Without symbols for unknown values, the solver is not queried.
    fn is_real(&mut self, st: &mut Self::State) -> bool {
        let execution = &mut self.symbolic_mut().execution;
        !execution.mode.names_unknowns || execution.is_feasible(st)
    }
}

/// The result of following a path.
pub enum PathEnd<S> {
    /// The states at the end of the path.
    States(Vec<S>),
    /// The path is infeasible. The last state ended after this number of edges.
    Nowhere(usize),
    /// The path could not be followed to its end: an operation is undecided, or there are too many states.
    Undecided,
}

/// Executes paths in the current mode of the execution.
pub struct Follower<'a, 'p, C: Carrier<'p>> {
    /// The domain.
    pub cpa: &'a mut C,
    /// Selects the operations to execute. Others have no effect, but control follows their edges.
    pub in_slice: InSlice<'a>,
    /// The budget.
    pub budget: &'a Budget,
    /// Buffer for the result of the last operation.
    result: Step<C::State>,
    program: PhantomData<&'p ()>,
}

impl<'a, 'p, C: Carrier<'p>> Follower<'a, 'p, C> {
    /// A follower that executes the operations in `in_slice`.
    pub fn new(cpa: &'a mut C, in_slice: InSlice<'a>, budget: &'a Budget) -> Self {
        Self { cpa, in_slice, budget, result: Step::default(), program: PhantomData }
    }

    /// Calls `work` with the execution in another mode.
    pub fn in_mode<T>(&mut self, mode: Mode, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.cpa.symbolic_mut().execution.mode, mode);
        let result = work(self);
        self.cpa.symbolic_mut().execution.mode = before;
        result
    }

    /// Checks whether `path` is feasible and reaches `goal`, at full precision.
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
                PathEnd::States(states) => break states,
                PathEnd::Nowhere(_) => return Ok(PathCheck::Infeasible),
                // Earlier undecided operations on the path were examined before, so this one is undecided at full
                // precision only. Abstract states over-approximate reads through untracked pointers. So record such a
                // read as undecided, which over-approximates it, and repeat the check.
                PathEnd::Undecided => match self.cpa.undecided().found.last().map(|p| p.edge) {
                    Some(edge) if self.cpa.symbolic_mut().is_read(edge) && !self.cpa.undecided().is_recorded(edge) => {
                        self.cpa.undecided().record_undecided(edge);
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
            Goal::Undecided { edge } => {
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

    /// Removes the last undecided operation and returns its reason.
    pub fn last_problem(&mut self) -> Reason {
        self.cpa.undecided().found.pop().map_or_else(|| Reason::new("the path cannot be followed"), |p| p.reason)
    }

    /// Checks whether all states contradict `path` or do not reach `goal`. Returns the number of edges after which the
    /// last state ended. `None` if a state may reach the goal, or the path could not be followed.
    pub fn contradiction(
        &mut self,
        states: Vec<C::State>,
        path: &[EdgeId],
        goal: Option<Goal>,
    ) -> Result<Option<usize>, Stop> {
        let mut states = match self.along(states, path)? {
            PathEnd::States(states) => states,
            PathEnd::Nowhere(at) => return Ok(Some(at)),
            PathEnd::Undecided => return Ok(None),
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
            Some(Goal::Undecided { edge }) => {
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

    /// The states that violate the property at an edge: all states before an error edge, else the faults of the
    /// operation.
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

    /// Executes a path from the given states.
    pub fn along(&mut self, mut states: Vec<C::State>, path: &[EdgeId]) -> Result<PathEnd<C::State>, Stop> {
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
                return Ok(PathEnd::Undecided);
            }
            if after.is_empty() {
                return Ok(PathEnd::Nowhere(i + 1));
            }
            states = after;
        }
        Ok(PathEnd::States(states))
    }

    /// The successors of a state over one edge. `next` is the next edge of the path; it determines the callee of a
    /// call.
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
                    // A block operation of symbolic length splits once per value, and most values lead nowhere.
                    splits += 1;
                    if splits > MOST_STATES {
                        let reason = Reason::at("a path splits into too many cases", program.edges[edge].place);
                        self.cpa.undecided().found.push(UndecidedOperation { edge, reason });
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

    /// The source place of the goal. For an error in a function without a definition, that is the call.
    pub fn place_of(&self, goal: Goal, path: &[EdgeId]) -> Option<PlaceId> {
        let last =
            path.last().filter(|&&e| matches!(self.cpa.symbolic().execution.program.edges[e].op, Op::Call { .. }));
        self.cpa.symbolic().execution.program.edges[last.copied().unwrap_or(goal.edge())].place
    }

    /// The location after the first `n >= 1` edges of the path.
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
