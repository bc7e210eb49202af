//! A portfolio of solvers for queries that take one solver long.
//!
//! Bitwuzla answers most queries in milliseconds. Most of the others are hard only for Bitwuzla: sums of 64-bit numbers
//! are easy for an integer solver, and Z3 simplifies others away. So the solvers take turns with growing time slices.

use super::integers::{self, ProcedureResult, Promise};
use super::path::zero;
use super::z3::Z3Terms;
use super::{Answer, Bitwuzla, Cores, Models, Reason, Solver, Z3};
use crate::budget::Budget;
use cfa::{ExprId, ExprPool, Value};
use rustc_hash::FxHashMap;
use std::time::Duration;

/// Bitwuzla's first time slice.
const FIRST: Duration = Duration::from_millis(60);
/// Bitwuzla's first time slice for sets that may be pure arithmetic, and the slice of the integer solver before it.
const ARITHMETIC: Duration = Duration::from_millis(40);
/// The number of sets whose terms share one context.
const SETS_PER_CONTEXT: u32 = 200;
/// The time slice of another solver, as a multiple of Bitwuzla's preceding slice.
const OTHERS: u32 = 3;
/// The growth of time slices per round.
const GROWTH: u32 = 4;

/// The solver that answered the last query, whose models and cores are used.
enum Answered {
    Bitwuzla,
    Z3,
    Integers(FxHashMap<ExprId, Value>),
    /// The integer solver refuted the set, with a core.
    Contradiction(Vec<ExprId>),
}

/// The portfolio of Bitwuzla, integer arithmetic and Z3.
pub struct Portfolio {
    bitwuzla: Bitwuzla,
    scopes: Vec<Vec<ExprId>>,
    answered: Answered,
    /// The context of integer terms, and the number of sets in it.
    integers: Option<Z3Terms>,
    sets: u32,
    z3: Option<Z3>,
}

impl Portfolio {
    /// A portfolio without assertions.
    pub fn new() -> Self {
        Self {
            bitwuzla: Bitwuzla::new(),
            scopes: vec![Vec::new()],
            answered: Answered::Bitwuzla,
            integers: None,
            sets: 0,
            z3: None,
        }
    }

    fn integers(&mut self, pool: &ExprPool, set: &[ExprId], budget: &Budget) -> Option<Answer> {
        self.sets += 1;
        if self.sets.is_multiple_of(SETS_PER_CONTEXT) {
            self.integers = None;
        }
        match integers::solve(pool, set, self.integers.get_or_insert_with(Z3Terms::new), budget) {
            ProcedureResult::Model(values) => {
                self.answered = Answered::Integers(values);
                Some(Answer::Sat)
            }
            ProcedureResult::Core(core) => {
                self.answered = Answered::Contradiction(core);
                Some(Answer::Unsat)
            }
            ProcedureResult::Unknown => None,
        }
    }

    fn z3(&mut self, pool: &ExprPool, set: &[ExprId], assumptions: &[ExprId], budget: &Budget) -> Option<Answer> {
        // Z3 simplifies more in a single query without assumptions.
        let z3 = self.z3.get_or_insert_default();
        z3.start_anew();
        set.iter().for_each(|&e| z3.assert(pool, e));
        match z3.check(pool, &[], budget) {
            Answer::Sat => {
                self.answered = Answered::Z3;
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
        if let Some(spent) = budget.spent() {
            return Answer::Unknown(spent.into());
        }
        let set: Vec<ExprId> = self.scopes.iter().flatten().chain(assumptions).copied().collect();
        let promise = integers::promise(pool, &set);
        let mut time = FIRST;
        if promise == Promise::All {
            if let Some(answer) = self.integers(pool, &set, &budget.exerting(ARITHMETIC)) {
                return answer;
            }
            time = ARITHMETIC;
        }
        loop {
            self.answered = Answered::Bitwuzla;
            let answer = self.bitwuzla.check(pool, assumptions, &budget.exerting(time));
            let ended = |answer: &Answer| match answer {
                Answer::Unknown(Reason::Timeout) => budget.spent().is_some(),
                Answer::Unknown(Reason::Incomplete(_)) => false,
                _ => true,
            };
            if ended(&answer) {
                return answer;
            }
            if promise > Promise::Nothing
                && let Some(answer) = self.integers(pool, &set, &budget.exerting(time * OTHERS))
            {
                return answer;
            }
            if let Some(answer) = self.z3(pool, &set, assumptions, &budget.exerting(time * OTHERS)) {
                return answer;
            }
            if budget.spent().is_some() || !matches!(answer, Answer::Unknown(Reason::Timeout)) {
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
        match &self.answered {
            Answered::Bitwuzla => self.bitwuzla.leaf_value(pool, leaf),
            Answered::Z3 => self.z3.as_mut().expect("it has answered").leaf_value(pool, leaf),
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
