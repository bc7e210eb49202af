//! Proofs by induction over loops and recursions.
//!
//! # Loops
//!
//! In this mode a path does not go round a loop at will. Where it enters one, it is split in two. The *first* path goes on
//! as it is, for the first `k - 1` iterations. On the *any* path, everything the loop may change becomes unknown, except that
//! the loop's *candidate invariants* hold, and it goes round `k` times: the first `k - 1` of these iterations stand for iterations
//! of the execution that went well, and only the last is looked at. So in the early iterations of an any path, errors and exits from
//! the loop are dropped, and where it comes back to the head the candidates are assumed; after the last iteration, and at every head
//! on the first path, they are checked. A candidate that does not hold at a check is dropped, and the run has to be
//! repeated, until a run drops none: then all remaining candidates are `k`-inductive together (for `k = 1`: Flanagan, Leino:
//! Houdini, an annotation assistant for ESC/Java, FME 2001), and if that run reached no error, the program is safe
//! (Sheeran, Singh, Stålmarck: Checking safety properties using induction and a SAT-solver, FMCAD 2000; Beyer, Dangl,
//! Wendler: Boosting k-induction with continuously-refined invariants, CAV 2015).
//!
//! *Soundness*, for loops within one another: take an execution up to an error, or up to an arrival at a head. For every loop
//! that it has entered, it has gone through some number `n` of iterations since, of which the last may be unfinished. The path
//! that takes, at each such entry, the first path if `n < k` and the any path with the last `k` iterations otherwise, is
//! explored: a loop that was left was left in one of the first `k - 1` iterations or in the last iteration of an any path; one that the
//! execution is still in is in such an iteration, too, so nothing that the execution meets now is dropped. What is assumed at
//! the heads on the way holds by induction over the length of the execution. Memory is treated alike: what a loop may
//! change is found by watching the writes of a run, and a run whose assumptions about that fail is repeated. A pointer that
//! stays in the object it points into when the loop is entered keeps it; that is checked as the candidates are.
//!
//! # Recursions
//!
//! A call of a recursive function is replaced by a *contract*: candidates about its arguments and globals are checked
//! before it, what it may change becomes unknown, and candidates about arguments, result and globals are assumed. Where
//! no call of the function is active yet, the path is split: another path goes into the body, with arguments and what the
//! recursion may change unknown except for the former candidates, and ends at the return, where the latter are checked.
//! That is Hoare's rule for recursive procedures: by induction over the length of the execution, every call that is
//! made satisfies the former, and every call that returns the latter.
//!
//! # Bounded model checking
//!
//! With the any paths left out, and `k` iterations of loops and nested calls allowed, this is bounded model checking (Biere, Cimatti,
//! Clarke, Zhu, TACAS 1999), one formula for all paths between two places where states are merged. Whether the bound
//! cut anything off is noted.

mod assumptions;
mod cells;
mod check;
mod contracts;
mod entry;
mod heads;
mod observe;
mod polynomial;
mod scale;
mod state;
mod templates;
mod walks;

pub use assumptions::{Assumptions, QUERY_TIME, constants};
pub use observe::observe;
pub use templates::Effort;

use crate::analysis::{At, Cpa, Pair, Sides, Step, Stop, Target};
use crate::domain::symbolic::{self, SymbolicExecution};
use crate::semantics::Write;
use crate::semantics::control::Control;
use crate::verdict::Reason;
use assumptions::Place;
use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId, Leak, Op};
use smt::PathSolver;
use state::{Activation, Nest, Role, State};
use std::rc::Rc;

/// Symbolic execution in which loops and recursions are not unrolled at will, but for some iterations, or replaced by what is
/// assumed of them.
pub struct Unrolling<'p> {
    pub symbolic: SymbolicExecution<'p>,
    assumptions: Assumptions,
    /// States that come with the one that arrived last.
    siblings: Vec<State>,
    /// The result of symbolic execution. Empty but within a step.
    step: Step<symbolic::State>,
}

impl<'p> Unrolling<'p> {
    /// Under these assumptions, on the program of an analysis that has seen some of its executions.
    pub fn new(plain: &SymbolicExecution<'p>, solver: PathSolver, assumptions: Assumptions) -> Self {
        let symbolic = plain.for_unrolling(solver, &assumptions.pool, assumptions.bounded);
        Self { symbolic, assumptions, siblings: Vec::new(), step: Step::default() }
    }

    /// What was assumed, and what of it held.
    pub fn assumptions(&self) -> &Assumptions {
        &self.assumptions
    }

    pub fn into_assumptions(self) -> Assumptions {
        self.assumptions
    }

    fn place(&mut self, number: u32) -> &mut Place {
        &mut self.assumptions.places[number as usize]
    }

    fn drop_assumption(&mut self) {
        self.assumptions.changed = true;
    }

    /// Whether the path is in an iteration that stands for one that went well.
    pub(super) fn is_early(&self, nest: &Nest) -> bool {
        let iterations = self.assumptions.iterations;
        nest.active.iter().any(|a| matches!(a.role, Role::Any(iteration) if iteration < iterations))
    }

    /// Records that the loops and recursions that a path is in change an object, where it was there when they were entered;
    /// `depth` is that of the frame in which that happens.
    fn changes(&mut self, nest: &Nest, depth: u32, write: Write) {
        if self.assumptions.bounded {
            return;
        }
        for &Activation { number, depth: of, allocated, role } in nest.active.iter() {
            if matches!(role, Role::Followed(_)) || of > depth || write.object.number() >= allocated as usize {
                continue;
            }
            if write.frees {
                self.symbolic.taints.drop_behaviour(Reason::new("a loop frees memory that it did not allocate"));
            } else if self.place(number).written.insert(write.origin) {
                self.drop_assumption();
            }
        }
    }

    fn activate(&mut self, st: &mut State, number: u32, role: Role) {
        let (depth, allocated) = (st.frame.depth, st.memory.allocated());
        Rc::make_mut(&mut st.nest.active).push(Activation { number, depth, allocated, role });
    }

    /// The path leaves what it entered last.
    fn deactivate(&mut self, st: &mut State) {
        Rc::make_mut(&mut st.nest.active).pop();
        let left = st.nest.active.len();
        if st.nest.walks.last().is_some_and(|w| w.activation >= left) {
            Rc::make_mut(&mut st.nest.walks).retain(|w| w.activation < left);
        }
    }
}

impl Cpa for Unrolling<'_> {
    type State = State;
    type Evidence = Inputs;

    fn initial(&mut self) -> State {
        State { symbolic: self.symbolic.initial(), nest: Nest::default() }
    }

    fn transfer(&mut self, state: State, at: Control, edge: EdgeId, out: &mut Step<State>) -> Result<(), Stop> {
        let State { symbolic, nest } = state;
        let program = self.symbolic.execution.program;
        if let Op::Leak(leak) = program.edges[edge].op
            && !self.assumptions.bounded
            && self.symbolic.is_watched(edge)
        {
            let text = match leak {
                // What stands there after any number of iterations may be a pointer to anything.
                Leak::Lost => Some("invariants do not say where pointers in memory lead"),
                Leak::Alive if self.symbolic.loops.allocate(program) => {
                    Some("loops allocate memory, which invariants do not count")
                }
                Leak::Alive => None,
            };
            if let Some(text) = text {
                self.symbolic.problem(edge, Reason::at(text, program.edges[edge].place));
            }
        }
        let depth = symbolic.frame.depth;
        let mut step = std::mem::take(&mut self.step);
        self.symbolic.transfer(symbolic, at, edge, &mut step)?;
        for write in self.symbolic.execution.take_writes() {
            self.changes(&nest, depth, write);
        }
        // In an early iteration errors are dropped, and with this one executions that go on.
        if step.is_doubtful && self.is_early(&nest) {
            let text = "what an operation accesses is not known where earlier iterations of a loop are taken to have gone well";
            self.symbolic.taints.drop_behaviour(Reason::at(text, program.edges[edge].place));
        }
        for (symbolic, to) in step.successors.drain(..) {
            let st = State { symbolic, nest: nest.clone() };
            let recursion = if let At::Callee(func) = to { self.symbolic.loops.recursion(func) } else { None };
            match recursion {
                Some(number) => self.call_recursive(st, edge, number, &mut out.successors),
                None => out.successors.push((st, to)),
            }
        }
        out.extend_with(&mut step, |symbolic| State { symbolic, nest: nest.clone() });
        step.clear();
        self.step = step;
        Ok(())
    }

    fn branch(&mut self, st: State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<State>, Stop> {
        let State { symbolic, nest } = st;
        let depth = symbolic.frame.depth;
        let (yes, no) = self.symbolic.branch(symbolic, then_edge, else_edge)?;
        if yes.is_some() && no.is_some() {
            entry::forks(self, &nest, depth, [then_edge, else_edge]);
        }
        let mut side = |symbolic: Option<symbolic::State>, edge| {
            let mut st = State { symbolic: symbolic?, nest: nest.clone() };
            self.leave_loops(&mut st, edge).then_some(st)
        };
        Ok((side(yes, then_edge), side(no, else_edge)))
    }

    fn leave(&mut self, st: State, return_edge: EdgeId, call_edge: EdgeId) -> Result<State, Stop> {
        let State { symbolic, nest } = st;
        Ok(State { symbolic: self.symbolic.leave(symbolic, return_edge, call_edge)?, nest })
    }

    fn target(&mut self, st: &mut State, edge: EdgeId, error: ErrorId) -> Result<Target<Inputs>, Stop> {
        if self.is_early(&st.nest) {
            return Ok(Target::Infeasible);
        }
        // What is past an approximation is no violation that counts.
        if self.assumptions.past_errors && st.past.is_none() {
            self.assumptions.violated |= self.symbolic.execution.is_feasible(st);
            return Ok(Target::Infeasible);
        }
        self.symbolic.target(&mut st.symbolic, edge, error)
    }

    fn merge(&mut self, a: State, b: State, at: Control) -> Result<State, Pair<State>> {
        if a.nest != b.nest {
            return Err(Box::new((a, b)));
        }
        match self.symbolic.merge(a.symbolic, b.symbolic, at) {
            Ok(symbolic) => Ok(State { symbolic, nest: a.nest }),
            Err(pair) => {
                let (x, y) = *pair;
                Err(Box::new((State { symbolic: x, nest: a.nest }, State { symbolic: y, nest: b.nest })))
            }
        }
    }

    fn adjust(
        &mut self,
        mut st: State,
        edge: EdgeId,
        at: Control,
        more: &mut Vec<State>,
    ) -> Result<Option<State>, Stop> {
        // What candidates speak of is not all live, so no state covers another.
        match self.symbolic.loops.headed_by(at.loc) {
            None => Ok(Some(st)),
            Some(_) if !self.symbolic.execution.is_feasible(&mut st) => Ok(None),
            Some(number) => {
                if self.assumptions.bounded {
                    // Nothing is assumed, so these are values of executions.
                    self.symbolic.sample(&st.symbolic, at);
                }
                let entered = self.come_to_loop(st, edge, number);
                more.append(&mut self.siblings);
                entered
            }
        }
    }

    fn returns(&mut self, st: &mut State, edge: EdgeId) -> bool {
        self.return_in_induction(st, edge)
    }

    fn counts_iterations(&self) -> bool {
        false
    }

    fn ran_out(&self) -> bool {
        self.symbolic.ran_out()
    }
}
