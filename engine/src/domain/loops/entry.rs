//! How a path enters a loop: a pointer that may lead to one of several objects is told apart before it is moved, and loops of library
//! models over constants (a format, a set of delimiters) are followed, since what they lead to depends on every step.

use super::state::{Nest, Role, State};
use super::{Stop, Unrolling, symbolic, walks};
use cfa::{EdgeId, Expr, ExprId, FunctionOrigin, VarId};
use std::rc::Rc;

/// Iterations of a loop that is followed.
const FOLLOWED: u32 = 64;
/// States that one is divided into by where its pointers lead.
const PARTS: usize = 24;

/// The path has come to the head of a loop from outside.
pub(super) fn enter_loop(cpa: &mut Unrolling<'_>, mut st: State, number: u32) -> Result<Option<State>, Stop> {
    if may_be_followed(cpa, number) {
        cpa.activate(&mut st, number, Role::Followed(1));
        return Ok(Some(st));
    }
    let mut parts = by_object(cpa, st, number).into_iter();
    let first = parts.next();
    for part in parts {
        let entered = replace_loop(cpa, part, number);
        cpa.siblings.push(entered);
    }
    Ok(first.map(|st| replace_loop(cpa, st, number)))
}

/// What is assumed of the loop is checked, and takes its place.
fn replace_loop(cpa: &mut Unrolling<'_>, mut st: State, number: u32) -> State {
    cpa.check_candidates(&mut st, number);
    cpa.anchor(&mut st, number);
    walks::set_out(cpa, &mut st, number);
    if cpa.assumptions.iterations > 1 {
        let mut first = st.clone();
        cpa.activate(&mut first, number, Role::First(1));
        cpa.siblings.push(first);
    }
    cpa.any(st, number, Role::Any(1))
}

/// The path has come back to the head of a loop that it follows.
pub(super) fn follow_on(cpa: &mut Unrolling<'_>, mut st: State, number: u32, iterations: u32) -> Option<State> {
    if iterations == FOLLOWED || !may_be_followed(cpa, number) {
        replace_from_now(cpa, number);
        return None;
    }
    let active = Rc::make_mut(&mut st.nest.active);
    active.last_mut().expect("the loop is active").role = Role::Followed(iterations + 1);
    Some(st)
}

fn may_be_followed(cpa: &Unrolling<'_>, number: u32) -> bool {
    let program = cpa.symbolic.execution.program;
    let func = cpa.symbolic.loops.loops[number as usize].func;
    !cpa.assumptions.places[number as usize].replaced && program.funcs[func].origin == FunctionOrigin::Model
}

/// The loop depends on what is not known.
fn replace_from_now(cpa: &mut Unrolling<'_>, number: u32) {
    cpa.place(number).replaced = true;
    cpa.drop_assumption();
}

/// Both sides of a branch are possible: a loop that the path follows must not end by one of them.
pub(super) fn forks(cpa: &mut Unrolling<'_>, nest: &Nest, depth: u32, edges: [EdgeId; 2]) {
    let program = cpa.symbolic.execution.program;
    let Some(&active) = nest.active.last() else { return };
    if !matches!(active.role, Role::Followed(_)) || active.depth != depth {
        return;
    }
    let body = &cpa.symbolic.loops.loops[active.number as usize].body;
    if edges.iter().any(|&edge| !body.contains(&program.edges[edge].target)) {
        replace_from_now(cpa, active.number);
    }
}

/// The state, divided until what the loop accesses is in one object each, as far as that is a choice.
fn by_object(cpa: &mut Unrolling<'_>, st: State, number: u32) -> Vec<State> {
    let addresses = cpa.symbolic.loops.loops[number as usize].addresses.clone();
    let mut vars: Vec<VarId> =
        addresses.iter().flat_map(|&(address, _)| cpa.symbolic.execution.terms.vars(address)).collect();
    vars.sort_unstable();
    vars.dedup();
    let (mut open, mut done) = (vec![st], Vec::new());
    while let Some(st) = open.pop() {
        let choice = match open.len() + done.len() < PARTS {
            true => vars.iter().find_map(|&var| Some((var, choice(cpa, &st, var)?))),
            false => None,
        };
        let Some((var, (cond, yes, no))) = choice else {
            done.push(st);
            continue;
        };
        let State { symbolic, nest } = st;
        let past = symbolic.past;
        let sides = cpa.symbolic.execution.decide(symbolic.path, cond);
        for (path, value) in [(sides.0, yes), (sides.1, no)] {
            let Some(mut path) = path else { continue };
            let value = cpa.symbolic.execution.terms.classify(value);
            cpa.symbolic.execution.write_var(&mut path, var, value);
            open.push(State { symbolic: symbolic::State { path, past }, nest: nest.clone() });
        }
    }
    done
}

/// A choice between addresses in the value of a variable: its condition, and the value on both sides.
fn choice(cpa: &mut Unrolling<'_>, st: &State, var: VarId) -> Option<(ExprId, ExprId, ExprId)> {
    let crate::semantics::Val::Expr(e) = cpa.symbolic.execution.read_var(st, var) else { return None };
    let terms = &mut cpa.symbolic.execution.terms;
    if terms.bases_in(e).is_empty() {
        return None;
    }
    let mut sum = Vec::new();
    terms.sum_terms(e, &mut sum);
    let (i, (cond, yes, no)) = sum.iter().enumerate().find_map(|(i, &term)| match *terms.get(term) {
        Expr::Ite(cond, yes, no) => Some((i, (cond, yes, no))),
        _ => None,
    })?;
    let mut with = |chosen| (0..sum.len()).filter(|&j| j != i).fold(chosen, |all, j| terms.add(all, sum[j]));
    Some((cond, with(yes), with(no)))
}
