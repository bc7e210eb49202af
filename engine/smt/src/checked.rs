//! Cross-checks two solvers on every query.

use super::{Answer, Cores, Models, Reason, Solver, smtlib};
use crate::budget::Budget;
use cfa::{ExprId, ExprPool, Value};

/// Queries both solvers. If they contradict one another, the answer is unknown, with the query. If one gives up, the
/// answer of the other counts.
pub struct Checked<A, B> {
    first: A,
    second: B,
    scopes: Vec<Vec<ExprId>>,
    /// True if the first solver answered the last query, so its models and cores are used.
    first_answered: bool,
}

impl<A: Solver, B: Solver> Checked<A, B> {
    /// Combines two solvers without assertions.
    pub fn new(first: A, second: B) -> Self {
        Self { first, second, scopes: vec![Vec::new()], first_answered: true }
    }
}

impl<A: Solver, B: Solver> Solver for Checked<A, B> {
    fn name(&self) -> &'static str {
        self.first.name()
    }
    fn push(&mut self) {
        self.scopes.push(Vec::new());
        self.first.push();
        self.second.push();
    }
    fn pop(&mut self, n: u32) {
        self.scopes.truncate(self.scopes.len() - n as usize);
        self.first.pop(n);
        self.second.pop(n);
    }
    fn assert(&mut self, pool: &ExprPool, e: ExprId) {
        self.scopes.last_mut().expect("never empty").push(e);
        self.first.assert(pool, e);
        self.second.assert(pool, e);
    }
    fn check(&mut self, pool: &ExprPool, assumptions: &[ExprId], budget: &Budget) -> Answer {
        let first = self.first.check(pool, assumptions, budget);
        let second = self.second.check(pool, assumptions, budget);
        self.first_answered = !matches!(first, Answer::Unknown(_));
        match (first, second) {
            (Answer::Unknown(_), second) => second,
            (first, Answer::Unknown(_)) => first,
            (first, second) if first == second => first,
            (first, second) => {
                let formulas: Vec<_> = self.scopes.iter().flatten().chain(assumptions).copied().collect();
                let (a, b) = (self.first.name(), self.second.name());
                let query = smtlib::script(pool, &formulas);
                Answer::Unknown(Reason::Disagreement(format!("{a} says {first:?}, {b} says {second:?}:\n{query}")))
            }
        }
    }
    fn reset(&mut self) {
        self.scopes = vec![Vec::new()];
        self.first.reset();
        self.second.reset();
    }
}

impl<A: Models, B: Models> Models for Checked<A, B> {
    fn leaf_value(&mut self, pool: &ExprPool, leaf: ExprId) -> Value {
        if self.first_answered { self.first.leaf_value(pool, leaf) } else { self.second.leaf_value(pool, leaf) }
    }
}

impl<A: Cores, B: Cores> Cores for Checked<A, B> {
    fn unsat_core(&mut self) -> Vec<ExprId> {
        if self.first_answered { self.first.unsat_core() } else { self.second.unsat_core() }
    }
}
