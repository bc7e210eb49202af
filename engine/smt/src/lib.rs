//! Satisfiability of formulas over [`cfa::ExprPool`] terms.
//!
//! A formula is a bit-vector expression of width one. Each solver context belongs to one thread. Capabilities beyond
//! deciding satisfiability are traits: [`Models`] and [`Cores`]. A [`Backend`] has both.
//!
//! The encoding of terms (`translate`) is exact for bit-vectors and arrays. For floats it may over-approximate:
//! payloads of NaN results, out-of-range conversions to integers, `fmod` on wide formats. So `Unsat` is always correct,
//! and models are checked with the evaluator before use.

#![warn(missing_docs)]

mod bitwuzla;
#[allow(non_camel_case_types)]
pub mod bounds;
pub mod budget;
mod cache;
mod checked;
mod choice;
#[cfg(test)]
mod dice;
mod differences;
mod equalities;
pub mod facts;
mod finite;
mod independence;
mod integers;
pub mod interpolate;
mod linear;
mod logged;
mod names;
mod path;
mod path_solver;
mod pointwise;
mod portfolio;
pub mod smtlib;
mod tables;
mod translate;
mod z3;

pub use bitwuzla::Bitwuzla;
pub use checked::Checked;
pub use choice::{Choice, Kind};
pub use logged::{Logged, unwritten};
pub use path::{Model, PathCondition};
pub use path_solver::conjuncts;
pub use path_solver::{Branch, Feasibility, PathSolver, Statistics};
pub use portfolio::Portfolio;
pub use z3::Z3;

use budget::{Budget, Spent};
use cfa::{ExprId, ExprPool, Value};
use std::fmt;

/// The reason why a solver gave no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The time limit was reached.
    Timeout,
    /// The query was cancelled.
    Cancelled,
    /// The solver gave up, with its own explanation.
    Incomplete(String),
    /// Two solvers contradict one another, with the query as SMT-LIB or its path.
    Disagreement(String),
}

impl From<Spent> for Reason {
    fn from(spent: Spent) -> Self {
        match spent {
            Spent::Time => Reason::Timeout,
            Spent::Cancelled => Reason::Cancelled,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Timeout => write!(f, "solver timeout"),
            Reason::Cancelled => write!(f, "interrupted"),
            Reason::Incomplete(why) => write!(f, "solver gave up: {why}"),
            Reason::Disagreement(query) => write!(f, "solvers disagree: {query}"),
        }
    }
}

/// The answer to a satisfiability query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Satisfiable.
    Sat,
    /// Unsatisfiable.
    Unsat,
    /// No answer.
    Unknown(Reason),
}

/// A stack of assertions with satisfiability queries.
///
/// All calls up to [`reset`](Solver::reset) must pass the same pool. The pool may grow.
pub trait Solver {
    /// The name in messages.
    fn name(&self) -> &'static str;
    /// Opens a scope of assertions.
    fn push(&mut self);
    /// Closes the last `n` scopes. Panics if there are fewer.
    fn pop(&mut self, n: u32);
    /// Adds `e` (one bit) to the current scope.
    fn assert(&mut self, pool: &ExprPool, e: ExprId);
    /// Decides whether the assertions and `assumptions` are satisfiable together. Returns within about 50 ms of the end
    /// of the budget.
    fn check(&mut self, pool: &ExprPool, assumptions: &[ExprId], budget: &Budget) -> Answer;
    /// Forgets every assertion, scope and translated term, and frees their memory.
    fn reset(&mut self);
}

/// Solvers with models.
pub trait Models: Solver {
    /// The value of a leaf (a symbol, variable or address) in the model of the last `Sat`. Zero if the leaf does not
    /// matter.
    fn leaf_value(&mut self, pool: &ExprPool, leaf: ExprId) -> Value;

    /// The value of any expression in the model of the last `Sat`, by the reference semantics.
    fn value(&mut self, pool: &ExprPool, e: ExprId) -> Value {
        cfa::Evaluator::new(pool, |leaf, _| self.leaf_value(pool, leaf)).value(e)
    }
}

/// Solvers with unsatisfiable cores.
pub trait Cores: Solver {
    /// A subset of the assumptions of the last `Unsat` that contradicts the assertions. Not minimal in general.
    fn unsat_core(&mut self) -> Vec<ExprId>;
}

impl<S: Solver + ?Sized> Solver for Box<S> {
    fn name(&self) -> &'static str {
        (**self).name()
    }
    fn push(&mut self) {
        (**self).push();
    }
    fn pop(&mut self, n: u32) {
        (**self).pop(n);
    }
    fn assert(&mut self, pool: &ExprPool, e: ExprId) {
        (**self).assert(pool, e);
    }
    fn check(&mut self, pool: &ExprPool, assumptions: &[ExprId], budget: &Budget) -> Answer {
        (**self).check(pool, assumptions, budget)
    }
    fn reset(&mut self) {
        (**self).reset();
    }
}

impl<S: Models + ?Sized> Models for Box<S> {
    fn leaf_value(&mut self, pool: &ExprPool, leaf: ExprId) -> Value {
        (**self).leaf_value(pool, leaf)
    }
}

impl<S: Cores + ?Sized> Cores for Box<S> {
    fn unsat_core(&mut self) -> Vec<ExprId> {
        (**self).unsat_core()
    }
}

/// A solver with all capabilities that the layers above need.
pub trait Backend: Models + Cores {}
impl<S: Models + Cores + ?Sized> Backend for S {}
