//! The operator `prec`: what a state keeps where paths join.
//!
//! Between the locations where paths join, states are computed in full; there, the operator `prec` of a CPA with
//! dynamic precision adjustment (Beyer, Henzinger, Théoduloz: Program analysis with dynamic precision adjustment, ASE
//! 2008) forgets every value and every constraint that the precision does not track (`cpa/value`), and keeps which predicates
//! hold (`cpa/predicate`). Values that are not numbers but addresses are kept as long as they are live: there are few of them,
//! and nothing can be said of memory without them.

use super::{State, Stop, Tracking};
use crate::control::Control;
use crate::cpa::predicate::Cut;
use crate::cpa::value::shape;
use crate::execution::Val;
use cfa::{EdgeId, Expr, ExprId, Id, Value};
use smt::Model;
use std::rc::Rc;

impl Tracking<'_> {
    /// `st` is followed over one side of a branch: `before` conjuncts of its path condition are older.
    pub(crate) fn note_constraints(&mut self, st: &State, before: usize, edge: EdgeId) {
        if !self.symbolic.execution.mode.names_unknowns {
            return;
        }
        let added = st.pc.len().saturating_sub(before);
        for conjunct in st.pc.iter().take(added) {
            self.source.entry(conjunct).or_insert(edge);
        }
    }

    /// `prec`: what the precision tracks of `st` at `at`. What `since` shares with it was abstracted before.
    pub(crate) fn prec(&mut self, mut st: State, at: Control, since: Option<&State>) -> State {
        self.count_values(&mut st, at);
        let model = st.pc.model().cloned();
        let knowledge = self.knowledge(&mut st, at.loc, since);
        let (pc, trail, memory) = (st.pc.clone(), std::mem::take(&mut st.trail), st.memory.clone());
        self.replaced.clear();
        self.depth = st.depth() + 1;
        let precision = std::mem::take(&mut self.precision);
        let keep = |item| precision.keeps(at.loc, item);
        self.callers.forget_others(precision.changes());
        self.forget_callers(&mut st, Some(at.loc), since, &keep);
        self.forget(&mut st, at, since.map(|s| &s.memory), &keep);
        self.precision = precision;
        self.fold(&mut st, at);
        let replaced = self.replaced();
        if self.ways.1 {
            self.name_kept(&st);
            let (depth, replaced) = (st.depth(), replaced.clone());
            st.along.history =
                Some(Rc::new(Cut { pc, trail, memory, depth, replaced, before: st.along.history.take() }));
        }
        if !knowledge.is_empty() {
            let model = model.map(|m| self.extended(m, &replaced));
            let before = st.pc.len();
            self.restore_knowledge(&mut st, knowledge, model);
            let added = st.pc.len() - before;
            self.of_predicates.extend(st.pc.iter().take(added));
        }
        st
    }

    /// Notes which variables of an abstracted state have a symbol as their value that is older.
    fn name_kept(&mut self, st: &State) {
        let globals = self.symbolic.execution.slots.globals.iter().zip(st.globals.iter());
        let locals = self.symbolic.execution.slots.locals[st.frame.func.index()].iter().zip(&st.frame.vars);
        for (&var, &value) in globals.chain(locals) {
            if let Val::Expr(e) = value
                && matches!(self.symbolic.execution.terms.get(e), Expr::Sym(_))
            {
                let name = self.symbolic.execution.terms.var(var, self.symbolic.execution.program.vars[var].width);
                self.names.entry((e, self.depth)).or_insert(name);
            }
        }
    }

    /// The symbols made by the abstraction, with the terms that they replace.
    fn replaced(&mut self) -> Vec<(ExprId, ExprId)> {
        let replaced = std::mem::take(&mut self.replaced);
        replaced
            .into_iter()
            .map(|(symbol, value)| {
                (symbol, self.symbolic.execution.terms.term(value, self.symbolic.execution.terms.width(symbol)))
            })
            .collect()
    }

    /// A model of a state, extended to the symbols that replace what was forgotten.
    fn extended(&self, mut model: Model, replaced: &[(ExprId, ExprId)]) -> Model {
        for &(symbol, old) in replaced {
            let old = model.eval(&self.symbolic.execution.terms, old);
            model.set(symbol, Value::Bv(old));
        }
        model
    }

    /// An abstract state to cover others is looked for by the values that it has at these places.
    pub(crate) fn values_at(&mut self, st: &State, at: Control) -> Vec<Option<u64>> {
        let live = self.symbolic.execution.live(st.frame.func);
        let locals = live.at(at.loc).iter().map(|&s| st.frame.vars[s as usize]);
        let globals = self.symbolic.execution.read_globals().iter().map(|&s| st.globals[s as usize]);
        let word = |value| match value {
            Val::Int(v) => Some(v),
            Val::Ptr(object, offset) => Some(u64::from(object.0).rotate_right(16) ^ offset),
            Val::Expr(_) | Val::Unset | Val::Unknown => None,
        };
        let shape = self.folding.map(|_| shape::shape(st));
        locals.chain(globals).map(word).chain(shape.map(Some)).collect()
    }

    /// Whether the solver does not refute the state; where the unknown has no names, it is not asked.
    pub(crate) fn is_real(&mut self, st: &mut State) -> Result<bool, Stop> {
        Ok(!self.symbolic.execution.mode.names_unknowns || self.symbolic.execution.is_feasible(st))
    }
}
