//! The transfer relation: execution, and what becomes of its faults.

use super::SymbolicExecution;
use super::state::{Past, Route, State};
use crate::cpa::{At, Sides, Successors};
use crate::execution::{Decision, Event, Fault};
use crate::verdict::Reason;
use cfa::{EdgeId, Id, Op, TaintId};

impl SymbolicExecution<'_> {
    /// The effect of an operation that is not an assume or a return.
    pub(super) fn execute(&mut self, state: State, edge: EdgeId, out: &mut Successors<State>) {
        let State { path, mut route } = state;
        match self.execution.program.edges[edge].op {
            Op::Approx { taint } => self.approximate(&mut route, taint, edge),
            Op::Leak(_) if !self.is_watched(edge) => return out.push((State { path, route }, At::Target)),
            _ => {}
        }
        let mut steps = std::mem::take(&mut self.steps);
        self.execution.step(path, edge, &mut steps);
        let faults = self.execution.take_faults();
        self.note_unset();
        self.note_contents(&route);
        if steps.len() == 1 && faults.is_empty() {
            let (path, to) = steps.pop().expect("just seen");
            out.push((State { path, route }, to));
        } else {
            for (path, to) in steps.drain(..) {
                out.push((State { path, route: route.clone() }, to));
            }
            for fault in faults {
                self.past_fault(fault, &route, edge, out);
            }
        }
        self.steps = steps;
    }

    /// The front-end writes variables before it reads them; where it could not tell, what is read is no value of the program.
    pub(super) fn note_unset(&mut self) {
        for var in std::mem::take(&mut self.execution.unset) {
            let place = self.execution.program.vars[var].place;
            self.taints.drop_behaviour(Reason::at("a variable is read before it is written", place));
        }
    }

    /// An operation that stands for others.
    fn approximate(&mut self, route: &mut Route, taint: TaintId, edge: EdgeId) {
        let t = &self.execution.program.taints[taint];
        if t.under && self.abstracting.watching {
            self.problem(edge, Reason::at(t.reason.clone(), t.place));
        } else if t.under {
            self.taints.reach(taint);
        }
        if t.over {
            route.past = route.past.or(Some(Past::Approximation(taint)));
        }
    }

    /// Whether a fault of the operation is an error.
    pub(in crate::cpa) fn is_watched(&self, edge: EdgeId) -> bool {
        self.execution.program.edges[edge].fault.is_some()
    }

    /// The operation is a fault: that is an error, or it is followed with any result, or the path ends.
    fn past_fault(&mut self, fault: Fault, route: &Route, edge: EdgeId, out: &mut Successors<State>) {
        let kind = fault.kind;
        if kind.is_undecided() {
            return self.problem(edge, self.reason(&fault, edge));
        }
        let (reads, asks) = match self.execution.program.edges[edge].op {
            Op::Load { .. } => (kind.reads_anything(), false),
            Op::ObjectOffset { .. } => (false, kind.reads_anything()),
            _ => (false, false),
        };
        // What may only be unknown because states are abstract: a read gives anything, which is more than it gives wherever
        // the pointer really points.
        let is_abstract = self.execution.mode.is_abstract && kind.is_unknown() && reads;
        if self.is_watched(edge) && !asks {
            let path = fault.state.clone();
            self.faults.push(State { path, route: route.clone() });
            if !is_abstract {
                return;
            }
        }
        if is_abstract || asks || reads && (!self.abstracting.watching || self.is_settled(edge)) {
            let mut route = route.clone();
            // An abstract state says nothing of executions anyway.
            if !self.execution.mode.is_abstract {
                route.past = route.past.or(Some(Past::Stray(edge)));
            }
            let path = self.execution.any_result(fault.state, edge);
            return out.push((State { path, route }, At::Target));
        }
        // Where states are abstract, a look now spares a refinement later.
        if self.abstracting.watching
            && self.execution.mode.names_unknowns
            && self.execution.solver.model(&mut self.execution.terms, &fault.state.pc).is_infeasible()
        {
            return;
        }
        self.problem(edge, self.reason(&fault, edge));
    }

    fn reason(&self, fault: &Fault, edge: EdgeId) -> Reason {
        // What an abstract state does not know is checked at full precision before it is told.
        let what = match self.execution.mode.is_abstract {
            true => fault.kind.describe().into(),
            false => self.execution.describe(fault),
        };
        Reason::at(what, self.execution.program.edges[edge].place)
    }

    /// The states that take the then-edge and the else-edge.
    pub(super) fn choose(&mut self, state: State, then_edge: EdgeId, else_edge: EdgeId) -> Sides<State> {
        let Op::Assume { cond, .. } = self.execution.program.edges[then_edge].op else { panic!("a branch of assumes") };
        let leads_on = |edge: EdgeId| self.hope[self.execution.program.edges[edge].target.index()];
        let wanted = (leads_on(then_edge), leads_on(else_edge));
        let State { path, route } = state;
        let constraints = path.pc.len();
        // Where paths are merged again soon, it is asked where a block ends whether there are any.
        let asks = !(self.execution.mode.is_abstract && self.abstracting.ways.1);
        let (yes, no) = self.execution.branch(path, cond, wanted, asks);
        self.note_unset();
        let other = (yes.is_some() && no.is_some()).then(|| route.clone());
        let (mut yes, mut no) = match other {
            Some(other) => (yes.map(|path| State { path, route }), no.map(|path| State { path, route: other })),
            None => match yes {
                Some(path) => (Some(State { path, route }), None),
                None => (None, no.map(|path| State { path, route })),
            },
        };
        for (side, edge) in [(&mut yes, then_edge), (&mut no, else_edge)] {
            let Some(st) = side else { continue };
            self.note_constraints(st, constraints, then_edge);
            if self.execution.mode.is_abstract {
                st.trail.push(Event::Decision(Decision::Branch(edge)));
            }
        }
        (yes, no)
    }
}
