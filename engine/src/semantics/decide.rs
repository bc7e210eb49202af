//! Splitting states by conditions.

use super::Execution;
use super::state::State;
use super::value::Val;
use cfa::{Bv, ExprId};
use smt::Feasibility;

/// The parts of a state where a condition holds and where it does not.
pub type Sides = (Option<State>, Option<State>);

/// A state by whether a term has a certain value. It lives for a moment, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub enum Split {
    Cases {
        value: Bv,
        here: Option<State>,
        elsewhere: Option<State>,
    },
    /// No model of the path condition is known, and none was found.
    Undecided(State),
}

impl Execution<'_> {
    /// The sides of `st` on which `cond`, a condition of the program, is 1 and 0, as far as they are `wanted`. Only if it `asks` is it
    /// found out now whether there are any.
    pub fn branch(&mut self, st: State, cond: ExprId, wanted: (bool, bool), asks: bool) -> Sides {
        let cond = match self.eval(&st, cond) {
            Val::Int(0) => return (None, Some(st)),
            Val::Int(_) => return (Some(st), None),
            _ if !self.mode.names_unknowns => {
                let yes = wanted.0.then(|| self.assume_value(st.clone(), cond, true));
                let no = wanted.1.then(|| self.assume_value(st, cond, false));
                return (yes, no);
            }
            cond => self.terms.term(cond, 1),
        };
        match wanted {
            (true, true) if asks => self.decide(st, cond),
            (true, true) => {
                let negated = self.terms.not(cond);
                (self.follow_only(st.clone(), cond), self.follow_only(st, negated))
            }
            (true, false) => (self.follow_only(st, cond), None),
            (false, true) => {
                let cond = self.terms.not(cond);
                (None, self.follow_only(st, cond))
            }
            (false, false) => (None, None),
        }
    }

    /// The sides of `st` on which the one-bit `cond` is 1 and 0. A side that the solver could not refute is kept.
    pub fn decide(&mut self, mut st: State, cond: ExprId) -> Sides {
        if let Some(c) = self.terms.as_const(cond) {
            return if c.is_true() { (Some(st), None) } else { (None, Some(st)) };
        }
        self.expose(&mut st, cond);
        let branch = self.solver.branch(&mut self.terms, &st.pc, cond);
        let negated = self.terms.not(cond);
        match (branch.if_true, branch.if_false) {
            (Feasibility::Infeasible, Feasibility::Infeasible) => (None, None),
            (model, Feasibility::Infeasible) => {
                if let (None, Feasibility::Feasible(_)) = (st.pc.model(), &model) {
                    self.solver.assume(&mut self.terms, &mut st.pc, cond, model.model());
                }
                (Some(st), None)
            }
            (Feasibility::Infeasible, model) => {
                if let (None, Feasibility::Feasible(_)) = (st.pc.model(), &model) {
                    self.solver.assume(&mut self.terms, &mut st.pc, negated, model.model());
                }
                (None, Some(st))
            }
            (yes, no) => {
                let mut other = st.clone();
                self.solver.assume(&mut self.terms, &mut st.pc, cond, yes.model());
                self.solver.assume(&mut self.terms, &mut other.pc, negated, no.model());
                (Some(st), Some(other))
            }
        }
    }

    /// The part of `st` where `cond` holds, of which the rest is of no interest. Whether there is such a part is not asked
    /// now: a model is looked for where one is needed.
    pub fn follow_only(&mut self, mut st: State, cond: ExprId) -> Option<State> {
        self.expose(&mut st, cond);
        self.solver.assume(&mut self.terms, &mut st.pc, cond, None);
        (!st.pc.is_contradiction()).then_some(st)
    }

    /// Looks for a model of the path condition if none is at hand; `false` if there is none.
    pub fn is_feasible(&mut self, st: &mut State) -> bool {
        if st.pc.model().is_some() {
            return true;
        }
        match self.solver.model(&mut self.terms, &st.pc) {
            Feasibility::Infeasible => false,
            Feasibility::Unknown(_) => true,
            Feasibility::Feasible(model) => {
                let always = self.terms.bool(true);
                self.solver.assume(&mut self.terms, &mut st.pc, always, Some(model));
                true
            }
        }
    }

    /// Splits `st` by whether `e` has the value it has in the path condition's model.
    pub fn split_value(&mut self, mut st: State, e: ExprId) -> Split {
        self.expose(&mut st, e);
        let value = match st.pc.model() {
            Some(model) => model.eval(&self.terms, e),
            None => match self.solver.model(&mut self.terms, &st.pc) {
                Feasibility::Feasible(model) => model.eval(&self.terms, e),
                _ => return Split::Undecided(st),
            },
        };
        let constant = self.terms.constant(value.clone());
        let equal = self.terms.eq(e, constant);
        let (here, elsewhere) = self.decide(st, equal);
        Split::Cases { value, here, elsewhere }
    }
}
