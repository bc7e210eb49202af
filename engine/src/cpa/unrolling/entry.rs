//! How a path enters a loop: a pointer that may lead to one of several objects is told apart before it is moved, and loops of library
//! models over constants (a format, a set of delimiters) are followed, since what they lead to depends on every step.

use super::state::{Nest, Role, State};
use super::{Stop, Unrolling};
use cfa::{EdgeId, Expr, ExprId, FunctionOrigin, VarId};
use std::rc::Rc;

/// Iterations of a loop that is followed.
const FOLLOWED: u32 = 64;
/// States that one is divided into by where its pointers lead.
const PARTS: usize = 24;

impl Unrolling<'_> {
    /// The path has come to the head of a loop from outside.
    pub(super) fn enter_loop(&mut self, mut st: State, number: u32) -> Result<Option<State>, Stop> {
        if self.may_be_followed(number) {
            self.activate(&mut st, number, Role::Followed(1));
            return Ok(Some(st));
        }
        let mut parts = self.by_object(st, number).into_iter();
        let first = parts.next();
        for part in parts {
            let entered = self.replace_loop(part, number);
            self.siblings.push(entered);
        }
        Ok(first.map(|st| self.replace_loop(st, number)))
    }

    /// What is assumed of the loop is checked, and takes its place.
    fn replace_loop(&mut self, mut st: State, number: u32) -> State {
        self.check_candidates(&mut st, number);
        self.anchor(&mut st, number);
        self.set_out(&mut st, number);
        if self.assumptions.iterations > 1 {
            let mut first = st.clone();
            self.activate(&mut first, number, Role::First(1));
            self.siblings.push(first);
        }
        self.any(st, number, Role::Any(1))
    }

    /// The path has come back to the head of a loop that it follows.
    pub(super) fn follow_on(&mut self, mut st: State, number: u32, iterations: u32) -> Option<State> {
        if iterations == FOLLOWED || !self.may_be_followed(number) {
            self.replace_from_now(number);
            return None;
        }
        let active = Rc::make_mut(&mut st.nest.active);
        active.last_mut().expect("the loop is active").role = Role::Followed(iterations + 1);
        Some(st)
    }

    fn may_be_followed(&self, number: u32) -> bool {
        let program = self.symbolic.execution.program;
        let func = self.symbolic.loops.loops[number as usize].func;
        !self.assumptions.places[number as usize].replaced && program.funcs[func].origin == FunctionOrigin::Model
    }

    /// The loop depends on what is not known.
    fn replace_from_now(&mut self, number: u32) {
        self.place(number).replaced = true;
        self.drop_assumption();
    }

    /// Both sides of a branch are possible: a loop that the path follows must not end by one of them.
    pub(super) fn forks(&mut self, nest: &Nest, depth: u32, edges: [EdgeId; 2]) {
        let program = self.symbolic.execution.program;
        let Some(&active) = nest.active.last() else { return };
        if !matches!(active.role, Role::Followed(_)) || active.depth != depth {
            return;
        }
        let body = &self.symbolic.loops.loops[active.number as usize].body;
        if edges.iter().any(|&edge| !body.contains(&program.edges[edge].target)) {
            self.replace_from_now(active.number);
        }
    }

    /// The state, divided until what the loop accesses is in one object each, as far as that is a choice.
    fn by_object(&mut self, st: State, number: u32) -> Vec<State> {
        let addresses = self.symbolic.loops.loops[number as usize].addresses.clone();
        let mut vars: Vec<VarId> =
            addresses.iter().flat_map(|&(address, _)| self.symbolic.execution.terms.vars(address)).collect();
        vars.sort_unstable();
        vars.dedup();
        let (mut open, mut done) = (vec![st], Vec::new());
        while let Some(st) = open.pop() {
            let choice = match open.len() + done.len() < PARTS {
                true => vars.iter().find_map(|&var| Some((var, self.choice(&st, var)?))),
                false => None,
            };
            let Some((var, (cond, yes, no))) = choice else {
                done.push(st);
                continue;
            };
            let State { symbolic, nest } = st;
            let past = symbolic.past;
            let sides = self.symbolic.execution.decide(symbolic.path, cond);
            for (path, value) in [(sides.0, yes), (sides.1, no)] {
                let Some(mut path) = path else { continue };
                let value = self.symbolic.execution.terms.classify(value);
                self.symbolic.execution.write_var(&mut path, var, value);
                open.push(State { symbolic: super::symbolic::State { path, past }, nest: nest.clone() });
            }
        }
        done
    }

    /// A choice between addresses in the value of a variable: its condition, and the value on both sides.
    fn choice(&mut self, st: &State, var: VarId) -> Option<(ExprId, ExprId, ExprId)> {
        let crate::execution::Val::Expr(e) = self.symbolic.execution.read_var(st, var) else { return None };
        let terms = &mut self.symbolic.execution.terms;
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
}
