//! Splits of states by conditions.

use super::Execution;
use super::state::State;
use super::value::Val;
use cfa::{Bv, ExprId};
use smt::Feasibility;

/// The state in which a condition holds, and the state in which it does not. `None` for an infeasible or unwanted side.
pub type Sides = (Option<State>, Option<State>);

/// The result of splitting a state by the value of a term. It is short-lived, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub enum Split {
    /// The state was split.
    Cases {
        /// A value that the term has in some model.
        value: Bv,
        /// The state in which the term has that value.
        here: Option<State>,
        /// The state in which it has another value.
        elsewhere: Option<State>,
    },
    /// No model of the path condition was found.
    Undecided(State),
}

impl Execution<'_> {
    /// Splits `st` by a condition of the program into the sides that are `wanted`. If `asks`, and both sides are
    /// wanted, the solver decides now which sides are feasible.
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

    /// Splits `st` by the one-bit term `cond`. Drops a side only if the solver proves it infeasible.
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

    /// Adds `cond` to the path condition without a query. Returns `None` if the path condition becomes a syntactic
    /// contradiction. The solver searches for a model when one is needed.
    pub fn follow_only(&mut self, mut st: State, cond: ExprId) -> Option<State> {
        self.expose(&mut st, cond);
        self.solver.assume(&mut self.terms, &mut st.pc, cond, None);
        (!st.pc.is_contradiction()).then_some(st)
    }

    /// Searches for a model of the path condition unless it has one. Returns `false` only if the solver proves that
    /// there is none.
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

    /// Splits `st` by the value that `e` has in a model of the path condition.
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
