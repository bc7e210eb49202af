//! Paths followed again: whether they are feasible.

use crate::budget::{Budget, Spent};
use crate::cpa::symbolic::Problem;
use crate::cpa::tracking::{State, Tracking};
use crate::cpa::{At, Cpa, Goal, InSlice, PathCheck, Stop, Target};
use crate::execution::Mode;
use crate::verdict::Reason;
use cfa::interp::Inputs;
use cfa::{EdgeId, LocId, Op, PlaceId};

/// States that one path may split into, by the objects that pointers point into.
const MOST_STATES: usize = 64;

/// The states at the end of a path.
pub(super) enum End {
    States(Vec<State>),
    /// With the number of edges after which the last of them ended, if none is left.
    Nowhere(usize),
    /// Something kept the path from being followed.
    Problem,
}

/// Follows paths, in the mode that the execution is in.
pub(crate) struct Follower<'a, 'p> {
    pub cpa: &'a mut Tracking<'p>,
    /// The operations on a path that are executed; the others do nothing. Control goes along the path anyway.
    pub in_slice: InSlice<'a>,
    pub budget: &'a Budget,
}

impl<'p> Follower<'_, 'p> {
    /// Does `work` with states computed otherwise.
    pub(super) fn in_mode<T>(&mut self, mode: Mode, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.cpa.symbolic.execution.mode, mode);
        let result = work(self);
        self.cpa.symbolic.execution.mode = before;
        result
    }

    /// Whether `path` leads to `goal`, at full precision.
    pub(super) fn check(&mut self, path: &[EdgeId], goal: Goal) -> Result<PathCheck<Inputs>, Stop> {
        let mode = Mode { names_unknowns: true, is_abstract: false, ..self.cpa.symbolic.execution.mode };
        let result = self.in_mode(mode, |this| this.check_precisely(path, goal));
        self.cpa.open_problems().found.clear();
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
                End::Problem => match self.cpa.open_problems().found.last().map(|p| p.edge) {
                    Some(edge) if self.cpa.symbolic.is_read(edge) && !self.cpa.open_problems().is_settled(edge) => {
                        self.cpa.open_problems().settle(edge);
                    }
                    _ => return Ok(PathCheck::Unknown(self.last_problem())),
                },
            }
        };
        match goal {
            Goal::Error { edge, error } => {
                for st in &mut self.at_error(states, edge)? {
                    match self.cpa.target(st, edge, error)? {
                        Target::Reached(inputs) => return Ok(PathCheck::Feasible(inputs)),
                        Target::Infeasible => {}
                        Target::Undecided | Target::Later => {
                            return Ok(PathCheck::Unknown(Reason::at(
                                "a path to an error is undecided",
                                self.cpa.symbolic.execution.program.edges[edge].place,
                            )));
                        }
                    }
                }
                Ok(PathCheck::Infeasible)
            }
            Goal::Problem { edge } => {
                self.cpa.open_problems().found.clear();
                for mut st in states {
                    if self.cpa.is_real(&mut st)? {
                        self.step(st, edge, None)?;
                    }
                }
                Ok(match self.cpa.open_problems().found.iter().any(|p| p.edge == edge) {
                    true => PathCheck::Unknown(self.last_problem()),
                    false => PathCheck::Infeasible,
                })
            }
        }
    }

    pub(super) fn last_problem(&mut self) -> Reason {
        self.cpa.open_problems().found.pop().map_or_else(|| Reason::new("the path cannot be followed"), |p| p.reason)
    }

    /// Whether no state gets to the goal: the number of edges after which the last ended.
    pub(super) fn contradiction(
        &mut self,
        states: Vec<State>,
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
                    if self.cpa.is_real(st)? {
                        return Ok(None);
                    }
                }
            }
            Some(Goal::Error { edge, .. }) => {
                for st in &mut self.at_error(states, edge)? {
                    if self.cpa.is_real(st)? {
                        return Ok(None);
                    }
                }
            }
            Some(Goal::Problem { edge }) => {
                self.cpa.open_problems().found.clear();
                for mut st in states {
                    if self.cpa.is_real(&mut st)? {
                        self.step(st, edge, None)?;
                    }
                }
                if self.cpa.open_problems().found.iter().any(|p| p.edge == edge) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(path.len()))
    }

    /// The states that violate the property at an edge: those in which its operation is a fault, or all before an error edge.
    pub(crate) fn at_error(&mut self, states: Vec<State>, edge: EdgeId) -> Result<Vec<State>, Stop> {
        if matches!(self.cpa.symbolic.execution.program.edges[edge].op, Op::Error(_)) {
            return Ok(states);
        }
        let mut faults = Vec::new();
        for mut st in states {
            if self.cpa.is_real(&mut st)? {
                self.cpa.faults.clear();
                self.step(st, edge, None)?;
                faults.append(&mut self.cpa.faults);
            }
        }
        Ok(faults)
    }

    /// Follows a path.
    pub(super) fn along(&mut self, mut states: Vec<State>, path: &[EdgeId]) -> Result<End, Stop> {
        self.cpa.open_problems().found.clear();
        for (i, &edge) in path.iter().enumerate() {
            if (i % 256 == 0 || self.cpa.symbolic.execution.solver.was_cut_short())
                && let Some(spent) = self.budget.spent()
            {
                return Err(Stop::Spent(spent));
            }
            let next = path.get(i + 1).copied();
            let mut after = Vec::with_capacity(states.len());
            for st in states {
                after.extend(self.step(st, edge, next)?);
            }
            if !self.cpa.open_problems().found.is_empty() || after.len() > MOST_STATES {
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
    pub fn step(&mut self, st: State, edge: EdgeId, next: Option<EdgeId>) -> Result<Vec<State>, Stop> {
        let program = self.cpa.symbolic.execution.program;
        match program.edges[edge].op {
            _ if !(self.in_slice)(edge) => Ok(vec![st]),
            Op::Assume { .. } => Ok(self.cpa.side(st, edge)?.into_iter().collect()),
            Op::Return { .. } => {
                let call = st.frame.call.expect("a path returns from where it was called");
                Ok(vec![self.cpa.leave(st, edge, call)?])
            }
            Op::Error(_) | Op::Halt(_) => Ok(vec![st]),
            _ => {
                let mut after = Vec::new();
                let mut pending = vec![st];
                let mut successors = Vec::new();
                let mut splits = 0;
                while let Some(st) = pending.pop() {
                    self.cpa.execute(st, edge, &mut successors);
                    if self.cpa.symbolic.execution.solver.was_cut_short() {
                        return Err(Stop::Spent(Spent::Time));
                    }
                    // A length may have any number of values, of which most lead nowhere.
                    splits += 1;
                    if splits > MOST_STATES {
                        let reason = Reason::at("a path splits into too many cases", program.edges[edge].place);
                        self.cpa.open_problems().found.push(Problem { edge, reason });
                        return Ok(Vec::new());
                    }
                    for (st, to) in successors.drain(..) {
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
    pub(super) fn place_of(&self, goal: Goal, path: &[EdgeId]) -> Option<PlaceId> {
        let last = path.last().filter(|&&e| matches!(self.cpa.symbolic.execution.program.edges[e].op, Op::Call { .. }));
        self.cpa.symbolic.execution.program.edges[last.copied().unwrap_or(goal.edge())].place
    }

    /// Where the path stands after its first `n` edges.
    pub(super) fn loc_after(&self, path: &[EdgeId], n: usize) -> LocId {
        let edge = path[n - 1];
        match self.cpa.symbolic.execution.program.edges[edge].op {
            Op::Call { .. } | Op::Return { .. } => match path.get(n) {
                Some(&next) => self.cpa.symbolic.execution.program.edges[next].source,
                None => self.cpa.symbolic.execution.program.edges[edge].target,
            },
            _ => self.cpa.symbolic.execution.program.edges[edge].target,
        }
    }
}
