//! Fixes inputs to chosen values.

use super::counter;
use cfa::{AllocKind, Bv, InputId, InputKind, Op, Program, VarId};
use rustc_hash::FxHashMap;

/// True if the search for a nonterminating execution may choose the values of the input: results of
/// `__VERIFIER_nondet_*`, arguments, initial values and uninitialised variables. Results of library functions may not
/// be chosen, because a clock, for example, does not stand still.
pub fn may_be_chosen(kind: &InputKind) -> bool {
    match kind {
        InputKind::Nondet(_) | InputKind::Uninit(_) | InputKind::Argument(_) | InputKind::Global(_) => true,
        InputKind::Environment(function) => function == "main",
        InputKind::Unmodelled(_) => false,
    }
}

/// Replaces inputs that [may be chosen](may_be_chosen) by fixed values. An input takes its values in order and repeats
/// the last one for ever. Uninitialised memory becomes zero.
pub fn fix_inputs(program: &mut Program, values: &dyn Fn(InputId, u32) -> Option<Vec<Bv>>) {
    // For each input, the number of values it has taken. The counter stops before the last value, so that states can
    // recur.
    let mut brought: FxHashMap<InputId, VarId> = FxHashMap::default();
    for id in program.edges.ids() {
        if let Op::Alloc { zeroed, kind: AllocKind::Stack | AllocKind::Heap(_) | AllocKind::Given, .. } =
            &mut program.edges[id].op
        {
            *zeroed = true;
        }
        let Op::Havoc { var, input } = program.edges[id].op else { continue };
        let width = program.vars[var].width;
        let may_be_chosen = may_be_chosen(&program.inputs[input].kind);
        let Some(values) = values(input, width).filter(|_| may_be_chosen) else { continue };
        let Some((last, before)) = values.split_last() else { continue };
        let mut value = program.exprs.constant(last.clone());
        if !before.is_empty() {
            let counter = *brought.entry(input).or_insert_with(|| counter(program));
            let count = program.var_expr(counter);
            for (n, earlier) in before.iter().enumerate().rev() {
                let (n, earlier) = (program.exprs.int(64, n as u64), program.exprs.constant(earlier.clone()));
                let is_its_turn = program.exprs.eq(count, n);
                value = program.exprs.ite(is_its_turn, earlier, value);
            }
            let (one, all) = (program.exprs.int(64, 1), program.exprs.int(64, before.len() as u64));
            let is_before = program.exprs.ult(count, all);
            let next = program.exprs.add(count, one);
            let next = program.exprs.ite(is_before, next, count);
            let between = program.add_location(program.func_of(id));
            let target = std::mem::replace(&mut program.edges[id].target, between);
            program.add_edge(between, Op::Assign { var: counter, value: next }, target, None);
        }
        program.edges[id].op = Op::Assign { var, value };
    }
}
