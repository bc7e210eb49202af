//! Several solvers for queries that one takes long for.
//!
//! Bitwuzla answers most queries in milliseconds. Those that it does not are mostly not hard, but not for it: sums of
//! 64-bit numbers are easy for a solver of integers, and Z3 simplifies others away. So they take turns, which get longer.

use super::integers::{self, Found};
use super::path::zero;
use super::{Answer, Bitwuzla, Cores, Models, Reason, Solver, Z3};
use crate::budget::Budget;
use cfa::{ExprId, ExprPool, Value};
use rustc_hash::FxHashMap;
use std::time::Duration;

/// The first turn of Bitwuzla.
const FIRST: Duration = Duration::from_millis(60);
/// A turn of another solver, as a multiple of Bitwuzla's before.
const OTHERS: u32 = 3;
/// Turns grow by this factor.
const GROWTH: u32 = 4;

/// Whose models and cores are good.
enum Answered {
    Bitwuzla,
    Z3(Box<Z3>),
    Integers(FxHashMap<ExprId, Value>),
    /// With a core.
    Contradiction(Vec<ExprId>),
}

pub struct Portfolio {
    bitwuzla: Bitwuzla,
    scopes: Vec<Vec<ExprId>>,
    answered: Answered,
}

impl Portfolio {
    pub fn new() -> Self {
        Self { bitwuzla: Bitwuzla::new(), scopes: vec![Vec::new()], answered: Answered::Bitwuzla }
    }

    /// An answer of the integers, or of Z3.
    fn others(&mut self, pool: &ExprPool, assumptions: &[ExprId], budget: &Budget, time: Duration) -> Option<Answer> {
        let set: Vec<ExprId> = self.scopes.iter().flatten().chain(assumptions).copied().collect();
        if integers::is_promising(pool, &set) {
            match integers::solve(pool, &set, &budget.within(time)) {
                Found::Model(values) => {
                    self.answered = Answered::Integers(values);
                    return Some(Answer::Sat);
                }
                Found::Core(core) => {
                    self.answered = Answered::Contradiction(core);
                    return Some(Answer::Unsat);
                }
                Found::Nothing => {}
            }
        }
        // Asked once, and nothing assumed, Z3 simplifies more.
        let mut z3 = Box::new(Z3::new());
        set.iter().for_each(|&e| z3.assert(pool, e));
        match z3.check(pool, &[], &budget.within(time)) {
            Answer::Sat => {
                self.answered = Answered::Z3(z3);
                Some(Answer::Sat)
            }
            Answer::Unsat => {
                self.answered = Answered::Contradiction(assumptions.to_vec());
                Some(Answer::Unsat)
            }
            Answer::Unknown(_) => None,
        }
    }
}

impl Default for Portfolio {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver for Portfolio {
    fn name(&self) -> &'static str {
        self.bitwuzla.name()
    }
    fn push(&mut self) {
        self.scopes.push(Vec::new());
        self.bitwuzla.push();
    }
    fn pop(&mut self, n: u32) {
        self.scopes.truncate(self.scopes.len() - n as usize);
        self.bitwuzla.pop(n);
    }
    fn assert(&mut self, pool: &ExprPool, e: ExprId) {
        self.scopes.last_mut().expect("never empty").push(e);
        self.bitwuzla.assert(pool, e);
    }
    fn check(&mut self, pool: &ExprPool, assumptions: &[ExprId], budget: &Budget) -> Answer {
        let mut time = FIRST;
        loop {
            self.answered = Answered::Bitwuzla;
            let answer = self.bitwuzla.check(pool, assumptions, &budget.within(time));
            if !matches!(answer, Answer::Unknown(_)) || budget.spent().is_some() {
                return answer;
            }
            if let Some(answer) = self.others(pool, assumptions, budget, time * OTHERS) {
                return answer;
            }
            if budget.spent().is_some() || matches!(answer, Answer::Unknown(Reason::Incomplete(_))) {
                return answer;
            }
            time *= GROWTH;
        }
    }
    fn reset(&mut self) {
        *self = Self::new();
    }
}

impl Models for Portfolio {
    fn leaf_value(&mut self, pool: &ExprPool, leaf: ExprId) -> Value {
        match &mut self.answered {
            Answered::Bitwuzla => self.bitwuzla.leaf_value(pool, leaf),
            Answered::Z3(z3) => z3.leaf_value(pool, leaf),
            Answered::Integers(values) => values.get(&leaf).cloned().unwrap_or_else(|| zero(pool.sort(leaf))),
            Answered::Contradiction(_) => zero(pool.sort(leaf)),
        }
    }
}

impl Cores for Portfolio {
    fn unsat_core(&mut self) -> Vec<ExprId> {
        match &self.answered {
            Answered::Contradiction(core) => core.clone(),
            _ => self.bitwuzla.unsat_core(),
        }
    }
}
