//! Proofs by induction over loops and recursions.
//!
//! # Loops
//!
//! In induction mode, a path does not unroll loops. At the entry of a loop, the path splits in two:
//!
//! - The *first* path executes the first `k - 1` iterations.
//! - The *any* path represents arbitrary `k` consecutive iterations. All variables and memory that the loop may modify
//!   become unknown (havoc), and the loop's *candidate invariants* are assumed. Of its `k` iterations, the first
//!   `k - 1` represent iterations of the execution without errors. Only the last one is checked.
//!
//! In the early iterations of an any path, errors and exits from the loop are dropped, and the candidates are assumed
//! at each arrival at the head. After the last iteration, and at every arrival at the head on the first path, the
//! candidates are checked. A candidate that fails a check is dropped, and the run is repeated until a run drops none.
//! Then all remaining candidates together are `k`-inductive (for `k = 1`: Flanagan, Leino: Houdini, an annotation
//! assistant for ESC/Java, FME 2001). If that run reached no error, the program is safe (Sheeran, Singh, Stålmarck:
//! Checking safety properties using induction and a SAT-solver, FMCAD 2000; Beyer, Dangl, Wendler: Boosting k-induction
//! with continuously-refined invariants, CAV 2015).
//!
//! *Soundness*, for nested loops: take an execution up to an error, or up to an arrival at a head. For each loop that
//! it has entered, let `n` be the number of iterations since the entry, where the last may be unfinished. At each such
//! entry, choose the first path if `n < k`, and otherwise the any path with the last `k` iterations. This combination
//! of paths is explored. A loop that the execution left was left in one of the first `k - 1` iterations, or in the last
//! iteration of an any path. A loop that it is still in is also in such an iteration. So nothing that the execution
//! reaches is dropped. The assumptions at the heads on the path hold by induction over the length of the execution.
//!
//! Memory is treated alike. A run records which objects each loop writes, and is repeated if it assumed otherwise. A
//! pointer that points into some object at the entry of the loop is assumed to stay in it. This is checked like the
//! candidates.
//!
//! # Recursions
//!
//! A call of a recursive function is replaced by a *contract*. The candidates about arguments and globals
//! (precondition) are checked before the call. Everything that the call may modify becomes unknown. The candidates
//! about arguments, result and globals (postcondition) are assumed. If no call of the function is active, the path
//! splits: a second path enters the body. Arguments and everything that the recursion may modify are unknown there, and
//! the precondition is assumed. The path ends at the return, where the postcondition is checked. This is Hoare's rule
//! for recursive procedures: by induction over the length of the execution, every call satisfies the precondition, and
//! every call that returns satisfies the postcondition.
//!
//! # Bounded model checking
//!
//! Without the *any* paths, and with `k` iterations of loops and nested calls allowed, this is bounded model checking
//! (Biere, Cimatti, Clarke, Zhu, TACAS 1999). There is one formula for all paths between two locations where states are
//! merged. The assumptions record whether the bound cut a path off.

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
use assumptions::HeadAssumptions;
use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId, Leak, Op};
use smt::PathSolver;
use state::{Activation, Nest, Role, State};
use std::rc::Rc;

/// Symbolic execution in which loops and recursions are unrolled for a bounded number of iterations, or replaced by
/// assumptions.
pub struct Unrolling<'p> {
    /// The symbolic execution.
    pub symbolic: SymbolicExecution<'p>,
    assumptions: Assumptions,
    /// Further states that arrive together with the current one.
    siblings: Vec<State>,
    /// Buffer for the result of symbolic execution. Empty between steps.
    step: Step<symbolic::State>,
}

impl<'p> Unrolling<'p> {
    /// Unrolling under assumptions, with the program and the options of `plain`. It starts without values observed at
    /// loop heads.
    pub fn new(plain: &SymbolicExecution<'p>, solver: PathSolver, assumptions: Assumptions) -> Self {
        let symbolic = plain.for_unrolling(solver, &assumptions.pool, assumptions.bounded);
        Self { symbolic, assumptions, siblings: Vec::new(), step: Step::default() }
    }

    /// The assumptions, reduced to those that held so far.
    pub fn assumptions(&self) -> &Assumptions {
        &self.assumptions
    }

    /// The assumptions, reduced to those that held.
    pub fn into_assumptions(self) -> Assumptions {
        self.assumptions
    }

    fn place(&mut self, number: u32) -> &mut HeadAssumptions {
        &mut self.assumptions.places[number as usize]
    }

    fn drop_assumption(&mut self) {
        self.assumptions.changed = true;
    }

    /// True if the path is in an early iteration of an *any* path, which represents an iteration without errors.
    pub(super) fn is_early(&self, nest: &Nest) -> bool {
        let iterations = self.assumptions.iterations;
        nest.active.iter().any(|a| matches!(a.role, Role::Any(iteration) if iteration < iterations))
    }

    /// Records that the active loops and recursions modify an object that existed at their entry. `depth` is that of
    /// the frame with the operation.
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

    /// Removes the innermost activation.
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
                // A havocked object may contain a pointer to anything.
                Leak::Lost => Some("invariants do not contain the targets of pointers in memory"),
                Leak::Alive if self.symbolic.loops.allocate(program) => {
                    Some("loops allocate memory, and invariants do not contain the number of allocated objects")
                }
                Leak::Alive => None,
            };
            if let Some(text) = text {
                self.symbolic.report_undecided(edge, Reason::at(text, program.edges[edge].place));
            }
        }
        let depth = symbolic.frame.depth;
        let mut step = std::mem::take(&mut self.step);
        self.symbolic.transfer(symbolic, at, edge, &mut step)?;
        for write in self.symbolic.execution.take_writes() {
            self.changes(&nest, depth, write);
        }
        // In an early iteration errors are dropped. If such an error is doubtful, executions that continue would be
        // dropped as well.
        if step.is_doubtful && self.is_early(&nest) {
            let text =
                "the target of an access is unknown under the assumption that earlier iterations of the loop are valid";
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
        // In this mode, a path to an error is only recorded, and then dropped. It does not count if an approximation
        // or an invalid read precedes the error.
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
        // Candidates may mention dead variables, so states do not cover each other.
        match self.symbolic.loops.headed_by(at.loc) {
            None => Ok(Some(st)),
            Some(_) if !self.symbolic.execution.is_feasible(&mut st) => Ok(None),
            Some(number) => {
                if self.assumptions.bounded {
                    // Without assumptions, these are values of executions.
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
