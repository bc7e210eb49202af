//! Loop invariants of the abstract interpretation, as a GIA.

use super::{Gia, Says};
use crate::condition::{Label, Transition};
use cfa::{Edge, Op, Program, VarId};
use engine::budget::Budget;
use engine::invariant::Invariants;

/// A GIA with loop invariants that the abstract interpretation finds: it ut-covers all paths that violate an invariant.
/// `None` if the interpretation finds none or the budget ends.
pub fn facts(program: &mut Program, budget: &Budget) -> Option<Gia> {
    let certificate = Invariants::new(program, budget)?.certificate(program);
    let mut gia = Gia::nothing();
    let end = gia.add(Some(Says::Unreachable), None);
    let mut transitions = Vec::new();
    let mut heads: Vec<_> = certificate.heads.iter().collect();
    heads.sort_unstable_by_key(|(head, _)| **head);
    for (&head, conditions) in heads {
        let own: Option<Vec<_>> = conditions.iter().map(|&e| program.exprs.import(&certificate.pool, e)).collect();
        let Some(own) = own.filter(|own| !own.is_empty()) else { continue };
        let func = program.locs[head].func;
        let is_of = |v: &VarId| program.vars[*v].func().is_none_or(|f| f == func);
        let own: Vec<_> = own.into_iter().filter(|&e| program.exprs.vars(e).iter().all(is_of)).collect();
        let Some(&first) = own.first() else { continue };
        let all = own[1..].iter().fold(first, |all, &e| program.exprs.and(all, e));
        let broken = program.exprs.not(all);
        let enters = |e: &Edge| e.target == head && !matches!(e.op, Op::Call { .. } | Op::Return { .. });
        let into = program.edges.iter().filter(|(_, e)| enters(e)).map(|(id, _)| id);
        let on = Label::from_edges(into);
        transitions.push(Transition { on: on.clone(), assumption: Some(broken), to: end });
        transitions.push(Transition { on, assumption: Some(all), to: gia.initial });
    }
    if transitions.is_empty() {
        return None;
    }
    transitions.push(Transition::others(gia.initial));
    let initial = gia.initial;
    gia.states[initial].transitions = transitions;
    Some(gia)
}
