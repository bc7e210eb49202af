//! Entry of loops. If a pointer may point to several objects, the state splits before the loop moves the pointer. Loops
//! of library models over constant strings (a format, a set of delimiters) are unrolled, because the result depends on
//! every iteration.

use super::state::{Nest, Role, State};
use super::walks::Bounds;
use super::{Stop, Unrolling, symbolic};
use cfa::{EdgeId, Expr, ExprId, FunctionOrigin, VarId};
use std::rc::Rc;

/// Maximal number of iterations of an unrolled loop.
const FOLLOWED: u32 = 64;
/// Maximal number of states into which a state splits at the entry of a loop.
const PARTS: usize = 24;

/// Enters a loop. Further states go to `siblings`.
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

/// Checks the assumptions about the loop, and replaces the loop by them.
fn replace_loop(cpa: &mut Unrolling<'_>, mut st: State, number: u32) -> State {
    cpa.check_candidates(&mut st, number);
    cpa.anchor(&mut st, number);
    Bounds::new(cpa, number).record(&mut st);
    if cpa.assumptions.iterations > 1 {
        let mut first = st.clone();
        cpa.activate(&mut first, number, Role::First(1));
        cpa.siblings.push(first);
    }
    cpa.any(st, number, Role::Any(1))
}

/// Returns to the head of an unrolled loop. `None` if the loop has to be replaced from now on.
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

/// Replaces the loop by its assumptions from the next run on, because its iterations depend on unknown values.
fn replace_from_now(cpa: &mut Unrolling<'_>, number: u32) {
    cpa.place(number).replaced = true;
    cpa.drop_assumption();
}

/// Handles a branch with two feasible sides: a loop that leaves by one of them cannot be unrolled.
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

/// Splits the state until each address that the loop moves points into one object, as far as the addresses are
/// if-then-else terms.
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

/// The first if-then-else term among the summands of a variable's address: its condition, and the address on both
/// sides.
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
