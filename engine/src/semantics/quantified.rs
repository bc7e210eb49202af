//! Quantified facts about array cells. The solver never gets a quantifier: a read of a cell adds the instance for that
//! cell to the path condition.

use super::Execution;
use super::state::State;
use cfa::ExprId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Adds to the path condition the instances of the quantified facts for the cell that `len` bytes at `offset` of the
/// array read.
pub(super) fn instantiate(ex: &mut Execution, st: &mut State, array: ExprId, offset: ExprId, len: u32) {
    if st.quantified.is_empty() {
        return;
    }
    let mut below = FxHashSet::default();
    ex.terms.arrays_in(array, &mut below);
    for fact in Rc::clone(&st.quantified).iter() {
        for row in &fact.rows {
            let mut roots = FxHashSet::default();
            ex.terms.arrays_in(row.array, &mut roots);
            if below.is_disjoint(&roots) {
                continue;
            }
            let Some(k) = ex.terms.index_of(offset, len, row) else { continue };
            let instance = ex
                .terms
                .substitute(fact.formula, &mut FxHashMap::default(), |_, leaf| (leaf == fact.index).then_some(k));
            if ex.terms.as_const(instance).is_some_and(|c| c.is_true()) || st.instances.contains(&instance) {
                continue;
            }
            Rc::make_mut(&mut st.instances).push(instance);
            ex.expose(st, instance);
            ex.solver.assume(&mut ex.terms, &mut st.pc, instance, None);
        }
    }
}
