//! What a path-wise analysis asks of a solver.

use super::path::{Model, PathCondition};
use super::{Answer, Backend, Reason};
use crate::budget::Budget;
use cfa::{BinOp, Expr, ExprId, ExprPool, UnOp};
use rustc_hash::FxHashSet;
use std::time::Duration;

/// Whether a path condition can be met.
#[derive(Clone, Debug)]
pub enum Feasibility {
    Feasible(Model),
    Infeasible,
    Unknown(Reason),
}

impl Feasibility {
    pub fn is_feasible(&self) -> bool {
        matches!(self, Feasibility::Feasible(_))
    }
    pub fn is_infeasible(&self) -> bool {
        matches!(self, Feasibility::Infeasible)
    }
    pub fn model(self) -> Option<Model> {
        match self {
            Feasibility::Feasible(model) => Some(model),
            _ => None,
        }
    }
}

/// The two sides of a branch.
#[derive(Clone, Debug)]
pub struct Branch {
    pub if_true: Feasibility,
    pub if_false: Feasibility,
}

/// How queries were decided; counts, and the time in the solver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub queries: u64,
    /// By constants and conjuncts at hand.
    pub trivial: u64,
    /// By the model of the path condition.
    pub by_model: u64,
    /// By the solver.
    pub solved: u64,
    pub unknown: u64,
    pub solver_time: Duration,
}

/// Decides path conditions. One per worker thread; all calls must be given the same pool.
pub struct PathSolver {
    backend: Box<dyn Backend>,
    budget: Budget,
    /// For one query, at most.
    query_time: Option<Duration>,
    statistics: Statistics,
}

impl PathSolver {
    /// Queries end with `budget`.
    pub fn new(backend: Box<dyn Backend>, budget: Budget) -> Self {
        Self { backend, budget, query_time: None, statistics: Statistics::default() }
    }
    /// From here on, queries end with `budget`.
    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }
    /// Limits each query, beside the budget.
    pub fn set_query_time(&mut self, limit: Option<Duration>) {
        self.query_time = limit;
    }
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Adds `cond` (one bit) to `pc`. `model` is one of `pc ∧ cond` if known, as [`branch`](Self::branch) and
    /// [`check`](Self::check) give it; without it, the model of `pc` is kept if it satisfies `cond`.
    pub fn assume(&mut self, pool: &mut ExprPool, pc: &mut PathCondition, cond: ExprId, model: Option<Model>) {
        let model = model.or_else(|| pc.model().filter(|m| m.eval(pool, cond).is_true()).cloned());
        let present: FxHashSet<ExprId> = pc.iter().collect();
        for conjunct in conjuncts(pool, cond) {
            if pool.is_false(conjunct) {
                pc.set_contradiction();
            }
            if !pool.is_true(conjunct) && !present.contains(&conjunct) {
                pc.push(conjunct);
            }
        }
        pc.set_model(model);
    }

    /// Whether `pc ∧ cond` can be met. `cond` has one bit.
    pub fn check(&mut self, pool: &mut ExprPool, pc: &PathCondition, cond: ExprId) -> Feasibility {
        self.statistics.queries += 1;
        if pc.is_contradiction() || pool.is_false(cond) {
            self.statistics.trivial += 1;
            return Feasibility::Infeasible;
        }
        if let Some(model) = pc.model()
            && model.eval(pool, cond).is_true()
        {
            self.statistics.by_model += 1;
            return Feasibility::Feasible(model.clone());
        }
        let mut query = pc.conjuncts();
        query.extend(conjuncts(pool, cond));
        self.solve(pool, &query)
    }

    /// Which sides of a branch on `cond` after `pc` can be taken. At most one side needs a query where the model of
    /// `pc` is known.
    pub fn branch(&mut self, pool: &mut ExprPool, pc: &PathCondition, cond: ExprId) -> Branch {
        let negated = pool.not(cond);
        let if_true = self.check(pool, pc, cond);
        let if_false = match (&if_true, pc.model()) {
            // `pc` can be met, so one side can.
            (Feasibility::Infeasible, Some(model)) => Feasibility::Feasible(model.clone()),
            _ => self.check(pool, pc, negated),
        };
        Branch { if_true, if_false }
    }

    /// A model of `pc`.
    pub fn model(&mut self, pool: &mut ExprPool, pc: &PathCondition) -> Feasibility {
        let always = pool.bool(true);
        self.check(pool, pc, always)
    }

    fn solve(&mut self, pool: &mut ExprPool, query: &[ExprId]) -> Feasibility {
        let budget = match self.query_time {
            Some(limit) => self.budget.within(limit),
            None => self.budget.clone(),
        };
        let start = std::time::Instant::now();
        let answer = self.backend.check(pool, query, &budget);
        self.statistics.solved += 1;
        let result = match answer {
            Answer::Unsat => Feasibility::Infeasible,
            Answer::Unknown(reason) => {
                self.statistics.unknown += 1;
                Feasibility::Unknown(reason)
            }
            Answer::Sat => {
                let mut model = Model::default();
                let mut seen = FxHashSet::default();
                let mut leaves = Vec::new();
                for &e in query {
                    pool.visit(e, &mut seen, |e, node| {
                        if matches!(node, Expr::Sym(_) | Expr::Var(_) | Expr::GlobalAddr(_) | Expr::FuncAddr(_)) {
                            leaves.push(e);
                        }
                    });
                }
                for leaf in leaves {
                    model.set(leaf, self.backend.leaf_value(pool, leaf));
                }
                let holds = query.iter().all(|&e| model.eval(pool, e).is_true());
                model.set_spurious(!holds);
                Feasibility::Feasible(model)
            }
        };
        self.statistics.solver_time += start.elapsed();
        result
    }
}

/// The conjuncts of `cond`, in order.
fn conjuncts(pool: &mut ExprPool, cond: ExprId) -> Vec<ExprId> {
    let mut found = Vec::new();
    let mut stack = vec![cond];
    while let Some(e) = stack.pop() {
        match *pool.get(e) {
            Expr::Binary(BinOp::And, a, b) => stack.extend([b, a]),
            Expr::Unary(UnOp::Not, n) => match *pool.get(n) {
                Expr::Binary(BinOp::Or, a, b) => {
                    let (a, b) = (pool.not(a), pool.not(b));
                    stack.extend([b, a]);
                }
                _ => found.push(e),
            },
            _ => found.push(e),
        }
    }
    found
}
