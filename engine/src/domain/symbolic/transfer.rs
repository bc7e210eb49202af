//! The transfer relation: execution of operations, and treatment of their faults.

use super::SymbolicExecution;
use super::state::{Past, State};
use crate::analysis::{At, Sides, Step};
use crate::semantics::{self, Decision, Event, Fault};
use crate::verdict::Reason;
use cfa::{EdgeId, Id, Op, TaintId};
use smt::Feasibility;
use std::sync::atomic::Ordering;

impl SymbolicExecution<'_> {
    /// Executes an operation that is not an assume or a return, and appends the result to `out`. Undecided operations
    /// stay in `problems`.
    pub(in crate::domain) fn execute(&mut self, state: State, edge: EdgeId, out: &mut Step<State>) {
        let State { path, mut past } = state;
        match self.execution.program.edges[edge].op {
            Op::Approx { taint } => {
                self.approximate(&mut past, taint, edge);
                if self.ends_verdicts(taint) {
                    return;
                }
            }
            Op::Leak(_) if !self.is_watched(edge) => return out.successors.push((State { path, past }, At::Target)),
            _ => {}
        }
        let mut steps = std::mem::take(&mut self.steps);
        self.execution.step(path, edge, &mut steps);
        let faults = self.execution.take_faults();
        self.note_unset();
        if steps.len() == 1 && faults.is_empty() {
            let (path, to) = steps.pop().expect("just seen");
            out.successors.push((State { path, past }, to));
        } else {
            for (path, to) in steps.drain(..) {
                out.successors.push((State { path, past }, to));
            }
            for fault in faults {
                self.past_fault(fault, past, edge, out);
            }
        }
        self.steps = steps;
    }

    /// Records a taint for each variable that was read before it was written. The front end writes variables first, so
    /// the value read is not one of the program.
    pub(super) fn note_unset(&mut self) {
        for var in std::mem::take(&mut self.execution.unset) {
            let place = self.execution.program.vars[var].place;
            self.taints.drop_behaviour(Reason::at("a variable is read before it is written", place));
        }
    }

    /// Executes an `Approx` edge.
    fn approximate(&mut self, past: &mut Option<Past>, taint: TaintId, edge: EdgeId) {
        let t = &self.execution.program.taints[taint];
        if t.under && self.undecided.is_some() {
            self.report_undecided(edge, Reason::approximation(t));
        } else if t.under {
            self.taints.reach(taint);
        }
        if t.over {
            *past = past.or(Some(Past::Approximation(taint)));
        }
    }

    /// True if no verdict can depend on the paths after this taint: it adds behaviours, so there is no counterexample,
    /// and it drops others, so there is no proof.
    fn ends_verdicts(&self, taint: TaintId) -> bool {
        let t = &self.execution.program.taints[taint];
        t.over && t.under && self.undecided.is_none() && !self.execution.mode.is_abstract
    }

    /// Handles a fault: it is an error, or the operation gets an arbitrary result, or the path ends.
    fn past_fault(&mut self, fault: Fault, past: Option<Past>, edge: EdgeId, out: &mut Step<State>) {
        let kind = fault.kind;
        if kind.is_undecided() {
            return self.fault_unless_later(fault, past, edge, out);
        }
        let (reads, asks) = match self.execution.program.edges[edge].op.unshadowed() {
            Op::Load { .. } => (kind.reads_anything(), false),
            Op::ObjectOffset { .. } => (false, kind.reads_anything()),
            _ => (false, false),
        };
        // The pointer may be unknown only because the state is abstract. An arbitrary value over-approximates the read.
        let is_abstract = self.execution.mode.is_abstract && kind.is_unknown() && reads;
        if self.is_watched(edge) && !asks {
            let path = fault.state.clone();
            out.faults.push(State { path, past });
            out.is_doubtful |= !kind.is_certain();
            if !is_abstract {
                return;
            }
        }
        if let (true, false, Some(ended)) = (kind.is_certain(), asks, &self.ends_at_faults) {
            ended.store(true, Ordering::Relaxed);
            return;
        }
        if is_abstract || asks || reads && (self.undecided.is_none() || self.is_recorded(edge)) {
            // An abstract state does not represent concrete executions anyway.
            let past =
                if self.execution.mode.is_abstract { past } else { past.or(Some(self.invalid_read(&fault, edge))) };
            let path = self.execution.any_result(fault.state, edge);
            return out.successors.push((State { path, past }, At::Target));
        }
        // Checking the feasibility of abstract states here avoids a refinement later.
        if self.undecided.is_some()
            && self.execution.mode.names_unknowns
            && self.execution.solver.model(&mut self.execution.terms, &fault.state.pc).is_infeasible()
        {
            return;
        }
        self.fault_unless_later(fault, past, edge, out);
    }

    /// Records an undecided operation if the fault is feasible. Postpones the state if the solver runs out of time.
    fn fault_unless_later(&mut self, fault: Fault, past: Option<Past>, edge: EdgeId, out: &mut Step<State>) {
        if self.postpones {
            match self.execution.solver.model(&mut self.execution.terms, &fault.state.pc) {
                Feasibility::Infeasible => return,
                Feasibility::Unknown(smt::Reason::Timeout) => {
                    return out.postponed.push(State { path: fault.state, past });
                }
                _ => {}
            }
        }
        let reason = self.reason(&fault, edge);
        self.report_undecided(edge, reason);
    }

    /// The over-approximation by an invalid read. Records the origin of the pointer at the first such read of the
    /// operation, for the report.
    fn invalid_read(&mut self, fault: &Fault, edge: EdgeId) -> Past {
        if !self.invalid_reads.contains_key(&edge) {
            let origin = semantics::origin(&mut self.execution, fault, edge);
            self.invalid_reads.insert(edge, origin);
        }
        Past::InvalidRead(edge)
    }

    fn reason(&mut self, fault: &Fault, edge: EdgeId) -> Reason {
        let place = self.execution.program.edges[edge].place;
        // Abstract states are checked at full precision before anything is reported, so a short reason suffices.
        match self.execution.mode.is_abstract {
            true => Reason::at(fault.kind.describe(), place),
            false => Reason::at(self.execution.describe(fault), place).because(semantics::origin(
                &mut self.execution,
                fault,
                edge,
            )),
        }
    }

    /// The successor of `state` over an assume edge, if there is one. The other side is not computed.
    pub(in crate::domain) fn side(&mut self, state: State, edge: EdgeId) -> Option<State> {
        let Op::Assume { cond, .. } = self.execution.program.edges[edge].op else { panic!("an assume edge") };
        let State { path, past } = state;
        let asks = !(self.execution.mode.is_abstract && self.merges_soon);
        let (path, _) = self.execution.branch(path, cond, (true, false), asks);
        self.note_unset();
        let mut path = path?;
        if asks && self.execution.mode.names_unknowns && !self.execution.is_feasible(&mut path) {
            return None;
        }
        if self.execution.mode.is_abstract {
            path.trail.push(Event::Decision(Decision::Branch(edge)));
        }
        Some(State { path, past })
    }

    /// The successors over the then-edge and the else-edge, except for sides that are `closed`.
    pub(super) fn choose(
        &mut self,
        state: State,
        then_edge: EdgeId,
        else_edge: EdgeId,
        closed: (bool, bool),
    ) -> Sides<State> {
        let Op::Assume { cond, .. } = self.execution.program.edges[then_edge].op else { panic!("a branch of assumes") };
        let leads_on = |edge: EdgeId| self.leads_to_target[self.execution.program.edges[edge].target.index()];
        let wanted = (!closed.0 && leads_on(then_edge), !closed.1 && leads_on(else_edge));
        let State { path, past } = state;
        let asks = !(self.execution.mode.is_abstract && self.merges_soon);
        let (yes, no) = self.execution.branch(path, cond, wanted, asks);
        self.note_unset();
        let side = |path: Option<semantics::State>, edge| {
            let mut path = path?;
            if self.execution.mode.is_abstract {
                path.trail.push(Event::Decision(Decision::Branch(edge)));
            }
            Some(State { path, past })
        };
        (side(yes, then_edge), side(no, else_edge))
    }
}
