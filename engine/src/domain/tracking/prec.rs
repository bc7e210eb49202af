//! The precision adjustment operator `prec`.
//!
//! Between abstraction locations, states are computed in full. At abstraction locations, `prec` of a CPA with dynamic
//! precision adjustment (Beyer, Henzinger, Théoduloz: Program analysis with dynamic precision adjustment, ASE 2008)
//! does three things:
//! - It forgets all values and constraints that the precision does not track
//!   ([`ValueAbstraction`](crate::domain::value::ValueAbstraction)).
//! - It folds chains of objects to list segments ([`ShapeAbstraction`](crate::domain::shape::ShapeAbstraction)).
//! - It keeps the truth values of predicates
//!   ([`PredicateAbstraction`](crate::domain::predicate::PredicateAbstraction)).
//!
//! Addresses are kept as long as they are live. There are few of them, and memory is useless without them.

use super::{State, Tracking};
use crate::domain::predicate::Cut;
use crate::domain::shape;
use crate::domain::value::Replaced;
use crate::semantics::Val;
use crate::semantics::control::Control;
use cfa::{ExprId, Value};
use smt::Model;
use std::rc::Rc;

impl Tracking<'_> {
    /// Abstracts `st` at the control state `at`. Parts shared with `since` are abstracted already.
    pub(crate) fn prec(&mut self, mut st: State, at: Control, since: Option<&State>) -> State {
        let Self { symbolic, value, predicate, shape, .. } = self;
        let execution = &mut symbolic.execution;
        value.count_values(execution, &symbolic.loops, &st.symbolic.path, &mut st.along.values, at);
        let model = st.pc.model().cloned();
        let (depth, history) = (st.depth(), st.along.history.take());
        let since = since.map(|s| &s.symbolic.path);
        let knowledge = predicate.knowledge(execution, &mut st.symbolic.path, &history, at.loc, since);
        let (pc, trail, memory) = (st.pc.clone(), std::mem::take(&mut st.trail), st.memory.clone());
        let is_predicate = |conjunct| predicate.is_predicate(conjunct);
        let replaced = value.abstract_state(execution, &mut st.symbolic.path, at, since, &is_predicate);
        shape.fold(execution.program, &symbolic.loops, &mut st.symbolic.path, at);
        let terms = self.replaced_terms(&replaced);
        let Self { symbolic, predicate, .. } = self;
        let execution = &mut symbolic.execution;
        if self.ways.1 {
            predicate.name_symbols(execution, &st.symbolic.path, &replaced, depth + 1);
            let replaced = terms.clone();
            st.along.history = Some(Rc::new(Cut { pc, trail, memory, depth, replaced, before: history }));
        }
        if !knowledge.is_empty() {
            let model = model.map(|m| extended(m, &execution.terms, &terms));
            predicate.restore(execution, &mut st.symbolic.path, &st.along.history, knowledge, model);
        }
        st
    }

    /// The symbols that an abstraction introduced, with the terms that they replace.
    fn replaced_terms(&mut self, replaced: &[Replaced]) -> Vec<(ExprId, ExprId)> {
        let terms = &mut self.symbolic.execution.terms;
        replaced
            .iter()
            .map(|&Replaced { symbol, old, .. }| {
                let width = terms.width(symbol);
                (symbol, terms.term(old, width))
            })
            .collect()
    }

    /// The values by which the reached set indexes abstract states, to find a covering state quickly.
    pub(crate) fn values_at(&mut self, st: &State, at: Control) -> Vec<Option<u64>> {
        let live = self.symbolic.execution.live(st.frame.func);
        let locals = live.at(at.loc).iter().map(|&s| st.frame.vars[s as usize]);
        let globals = self.symbolic.execution.read_globals().iter().map(|&s| st.globals[s as usize]);
        let word = |value| match value {
            Val::Int(v) => Some(v),
            Val::Ptr(object, offset) => Some(u64::from(object.0).rotate_right(16) ^ offset),
            Val::Expr(_) | Val::Unset | Val::Unknown => None,
        };
        let shape = self.shape.folds().then(|| shape::shape(st));
        locals.chain(globals).map(word).chain(shape.map(Some)).collect()
    }
}

/// Extends a model of a state to the symbols that replace forgotten values.
fn extended(mut model: Model, terms: &cfa::ExprPool, replaced: &[(ExprId, ExprId)]) -> Model {
    for &(symbol, old) in replaced {
        let old = model.eval(terms, old);
        model.set(symbol, Value::Bv(old));
    }
    model
}
