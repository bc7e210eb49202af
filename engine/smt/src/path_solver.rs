//! The solver interface of path-wise analyses, with layers that answer most queries without a solver.
//!
//! A query asks whether a condition is satisfiable together with a path condition. The layers are tried in this order:
//!
//! 1. The model of the path condition may satisfy the condition.
//! 2. The ranges of terms that the path condition implies may decide it.
//! 3. Only conjuncts that share symbols with the condition, directly or through others, are kept.
//! 4. A cached core or model may decide these.
//! 5. The solver decides the rest, after symbols have been replaced by constants that they equal. Symbols with few
//!    possible values are enumerated (`cases`).

mod answers;
mod cases;
mod size;

use super::cache::{Cores, Evaluations, Models, canonical};
use super::differences;
use super::equalities::Equalities;
use super::facts::Facts;
use super::finite;
use super::independence::Leaves;
use super::integers::ProcedureResult;
use super::linear::contradict;
use super::names::Names;
use super::path::{Model, PathCondition};
use super::pointwise::pointwise;
use super::tables;
use super::{Answer, Backend, Reason};
use crate::budget::Budget;
use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, UnOp, Value};
use rustc_hash::{FxHashMap, FxHashSet};
pub use size::is_too_large;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The answer to the question whether a path condition is satisfiable.
#[derive(Clone, Debug)]
pub enum Feasibility {
    /// Satisfiable, with a model.
    Feasible(Model),
    /// Unsatisfiable.
    Infeasible,
    /// No answer.
    Unknown(Reason),
}

impl Feasibility {
    /// Returns true if it is satisfiable.
    pub fn is_feasible(&self) -> bool {
        matches!(self, Feasibility::Feasible(_))
    }
    /// Returns true if it is unsatisfiable.
    pub fn is_infeasible(&self) -> bool {
        matches!(self, Feasibility::Infeasible)
    }
    /// The model, if it is satisfiable.
    pub fn model(self) -> Option<Model> {
        match self {
            Feasibility::Feasible(model) => Some(model),
            _ => None,
        }
    }
}

/// The feasibility of both sides of a branch.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The side on which the condition is true.
    pub if_true: Feasibility,
    /// The side on which the condition is false.
    pub if_false: Feasibility,
}

/// Numbers of queries by the layer that decided them, and the time in the solver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// All queries.
    pub queries: u64,
    /// Decided by a constant condition.
    pub trivial: u64,
    /// Decided by the model of the path condition.
    pub by_model: u64,
    /// Decided by the ranges that the path condition implies.
    pub by_facts: u64,
    /// Decided by a cached core or model.
    pub by_cache: u64,
    /// Refuted by linear arithmetic.
    pub by_sums: u64,
    /// Decided as difference constraints.
    pub by_order: u64,
    /// Decided by propagation and search over symbols with few values.
    pub by_domains: u64,
    /// Calls of the solver. A query may need several.
    pub solved: u64,
    /// Queries without an answer.
    pub unknown: u64,
    /// Models that the evaluator did not confirm at first.
    pub spurious: u64,
    /// The time in the solver.
    pub solver_time: Duration,
}

/// Decides path conditions. Each worker thread has its own. All calls must pass the same pool.
pub struct PathSolver {
    backend: Box<dyn Backend>,
    budget: Budget,
    /// True if a query has no answer because the budget was spent.
    cut_short: bool,
    /// The limit on the processor time of each call of the solver.
    query_time: Option<Duration>,
    statistics: Statistics,
    leaves: Leaves,
    cores: Cores,
    models: Models,
    evaluations: Evaluations,
    names: Names,
    /// The solver's answers by set of renamed constraints, so that sets that differ only in symbols share them.
    /// Includes the sets without an answer, so that no more time is spent on them.
    solved: FxHashMap<Rc<[ExprId]>, Solved>,
    /// The number of solver calls since its last reset.
    calls: u32,
    /// The step limit of the first search over symbols with few values.
    steps: u64,
    /// The current nesting depth of case distinctions.
    cases: u32,
}

/// The solver's answer about a set.
#[derive(Clone)]
enum Solved {
    Feasible(Model),
    /// Unsatisfiable, with a core.
    Infeasible(Vec<ExprId>),
    Unknown(Reason),
}

/// The number of sets at which the stored answers are discarded.
const SOLVED: usize = 50_000;
/// The number of calls after which the solver is reset, because its memory of old queries slows down new ones.
const CALLS_PER_CONTEXT: u32 = 5_000;
/// The maximal number of attempts to turn a spurious model into a real one.
const REFINEMENTS: u32 = 8;
/// The time from which a query shares its remaining time with the search. The solvers get all of a shorter time, since
/// otherwise invariant candidates are lost.
const HURRIED: Duration = Duration::from_secs(1);
/// The step limit (about 3 ns each) of the search over symbols with few values that precedes the solver: initial,
/// minimal and maximal. It doubles after each success and halves after each failure.
const FIRST_SEARCH: u64 = 100_000_000;
const FEWEST_STEPS: u64 = 3_000_000;
const MOST_STEPS: u64 = 400_000_000;

impl PathSolver {
    /// A solver for path conditions. Queries end with `budget`.
    pub fn new(backend: Box<dyn Backend>, budget: Budget) -> Self {
        Self {
            backend,
            budget,
            cut_short: false,
            query_time: None,
            statistics: Statistics::default(),
            leaves: Leaves::default(),
            cores: Cores::default(),
            models: Models::default(),
            evaluations: Evaluations::default(),
            names: Names::default(),
            solved: FxHashMap::default(),
            calls: 0,
            steps: FIRST_SEARCH,
            cases: 0,
        }
    }
    /// Limits the processor time of each call of the solver, in addition to the budget.
    pub fn set_query_time(&mut self, limit: Option<Duration>) {
        self.query_time = limit;
        self.solved.retain(|_, answer| !matches!(answer, Solved::Unknown(_)));
    }
    /// Sets a new budget, with which queries end.
    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
        self.cut_short = false;
    }
    /// Returns true if some query since the last [`set_budget`](Self::set_budget) has no answer because the budget was
    /// nearly spent. Decisions that depend on such a query should be repeated.
    pub fn was_cut_short(&self) -> bool {
        self.cut_short
    }
    /// The reason why further queries will have no answer, if there is one.
    pub fn spent(&self) -> Option<crate::budget::Spent> {
        self.budget.spent()
    }
    /// The statistics so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Adds `cond` (one bit) to `pc`. `model` is a model of `pc ∧ cond` if known, from [`branch`](Self::branch) or
    /// [`check`](Self::check). Without it, the model of `pc` is kept if it satisfies `cond`.
    pub fn assume(&mut self, pool: &mut ExprPool, pc: &mut PathCondition, cond: ExprId, model: Option<Model>) {
        let model = match model {
            Some(model) => Some(model).filter(|m| !m.is_spurious()),
            None => pc.model().filter(|m| self.evaluations.holds(pool, m, cond)).cloned(),
        };
        for conjunct in conjuncts(pool, cond) {
            match self.truth(pool, &pc.known().facts, conjunct) {
                Some(true) => continue,
                Some(false) => pc.set_contradiction(),
                None => {}
            }
            if pc.known_mut().facts.assume(pool, conjunct).is_err() {
                pc.set_contradiction();
            }
            let leaves = self.leaves.free_leaves(pool, conjunct);
            if !leaves.is_empty() {
                pc.known_mut().groups.add(conjunct, &leaves);
            }
            pc.push(conjunct);
        }
        pc.set_model(model);
    }

    /// Decides whether `pc ∧ cond` is satisfiable. `cond` has one bit.
    pub fn check(&mut self, pool: &mut ExprPool, pc: &PathCondition, cond: ExprId) -> Feasibility {
        self.statistics.queries += 1;
        if pc.is_contradiction() || pool.is_false(cond) {
            self.statistics.trivial += 1;
            return Feasibility::Infeasible;
        }
        if let Some(model) = pc.model() {
            if pool.is_true(cond) {
                self.statistics.trivial += 1;
                return Feasibility::Feasible(model.clone());
            }
            if self.evaluations.holds(pool, model, cond) {
                self.statistics.by_model += 1;
                return Feasibility::Feasible(model.clone());
            }
        }
        let new = conjuncts(pool, cond);
        // Evaluate each conjunct under the facts of its predecessors.
        let mut facts = pc.known().facts.clone();
        for &conjunct in &new {
            if self.truth(pool, &facts, conjunct) == Some(false) || facts.assume(pool, conjunct).is_err() {
                self.statistics.by_facts += 1;
                return Feasibility::Infeasible;
            }
        }
        let result = self.check_groups(pool, pc, &new, &facts);
        if let Feasibility::Unknown(_) = result {
            self.statistics.unknown += 1;
        }
        result
    }

    /// Decides which sides of a branch on `cond` are feasible after `pc`. If the model of `pc` is known, at most one
    /// side needs the solver.
    pub fn branch(&mut self, pool: &mut ExprPool, pc: &PathCondition, cond: ExprId) -> Branch {
        let negated = pool.not(cond);
        let if_true = self.check(pool, pc, cond);
        let if_false = match (&if_true, pc.model()) {
            // `pc` is satisfiable, so one side is feasible.
            (Feasibility::Infeasible, Some(model)) => Feasibility::Feasible(model.clone()),
            _ => self.check(pool, pc, negated),
        };
        Branch { if_true, if_false }
    }

    /// Looks for a model of `pc`.
    pub fn model(&mut self, pool: &mut ExprPool, pc: &PathCondition) -> Feasibility {
        let always = pool.bool(true);
        self.check(pool, pc, always)
    }

    /// A model of `pc ∧ cond`, if one is found within `time` of processor time.
    pub fn find(&mut self, pool: &mut ExprPool, pc: &PathCondition, cond: ExprId, time: Duration) -> Option<Model> {
        let part = self.budget.exerting(time);
        let (budget, cut_short) = (std::mem::replace(&mut self.budget, part), self.cut_short);
        let found = self.check(pool, pc, cond);
        (self.budget, self.cut_short) = (budget, cut_short);
        found.model().filter(|model| !model.is_spurious())
    }

    /// The only value of `e` in all models of `pc`; `None` if there are several, or if `pc` may be unsatisfiable.
    pub fn unique_value(&mut self, pool: &mut ExprPool, pc: &PathCondition, e: ExprId) -> Option<Bv> {
        if let Some(c) = pool.as_const(e) {
            return Some(c.clone());
        }
        let range = pc.known().facts.range(pool, e);
        if let Some(value) = range.and_then(|r| r.as_constant()) {
            return Some(Bv::new(pool.width(e), value));
        }
        let model = match pc.model() {
            Some(model) => model.clone(),
            None => self.model(pool, pc).model().filter(|m| !m.is_spurious())?,
        };
        let value = self.evaluations.value(pool, &model, e).bv().clone();
        let c = pool.constant(value.clone());
        let other = pool.ne(e, c);
        self.check(pool, pc, other).is_infeasible().then_some(value)
    }

    /// The least and the greatest unsigned value of `e` under `pc`, as far as the facts imply them. Does not call the
    /// solver.
    pub fn bounds(&self, pool: &ExprPool, pc: &PathCondition, e: ExprId) -> Option<(u64, u64)> {
        pc.known().facts.range(pool, e).map(|r| (r.low, r.high))
    }

    /// The truth value of `e`, if `facts` decide it.
    fn truth(&mut self, pool: &ExprPool, facts: &Facts, e: ExprId) -> Option<bool> {
        if self.leaves.free_leaves(pool, e).is_empty() {
            return Some(self.evaluations.holds(pool, &Model::default(), e));
        }
        facts.range(pool, e)?.as_constant().map(|v| v == 1)
    }

    /// Decides `pc ∧ new` by the relevant groups. `facts` are implied by both.
    fn check_groups(&mut self, pool: &mut ExprPool, pc: &PathCondition, new: &[ExprId], facts: &Facts) -> Feasibility {
        let mut roots = FxHashSet::default();
        for &e in new {
            roots.extend(self.leaves.free_leaves(pool, e).iter().copied());
        }
        let leaves = canonical(roots);
        let related = pc.known().groups.containing(&leaves);
        let mut model = match pc.model() {
            Some(model) => model.clone(),
            None => {
                // The model is unknown, so the other groups have to be checked as well.
                let mut model = Model::default();
                for group in pc.known().groups.representatives() {
                    let set = pc.known().groups.containing(&[group]);
                    if related.binary_search(&set[0]).is_ok() {
                        continue;
                    }
                    match self.solve(pool, &set, &[]) {
                        Feasibility::Feasible(part) => extend(&mut model, &part),
                        other => return other,
                    }
                }
                model
            }
        };
        let set = canonical(related.into_iter().chain(new.iter().copied()).filter(|e| !pool.is_true(*e)));
        if !set.is_empty() {
            // Move the values of the current model into the ranges that `new` implies. This often yields a model.
            let mut moved = model.clone();
            for &leaf in &leaves {
                if let Some(range) = facts.known(leaf) {
                    let value = moved.leaf(pool, leaf).bv().to_u64().expect("facts are about narrow terms");
                    let nearest = range.nearest(value);
                    if nearest != value {
                        moved.set(leaf, Value::Bv(Bv::new(range.width, nearest)));
                    }
                }
            }
            if moved.id() != model.id() && new.iter().chain(&set).all(|&e| self.evaluations.holds(pool, &moved, e)) {
                self.statistics.by_facts += 1;
                return Feasibility::Feasible(moved);
            }
            match self.solve(pool, &set, new) {
                Feasibility::Feasible(part) => extend(&mut model, &part),
                other => return other,
            }
        }
        Feasibility::Feasible(model)
    }

    /// Decides `set` (sorted by id). The model contains exactly the leaves of the set. `new` are the members that no
    /// earlier query contained.
    fn solve(&mut self, pool: &mut ExprPool, set: &[ExprId], new: &[ExprId]) -> Feasibility {
        if self.cores.find(set).is_some() {
            self.statistics.by_cache += 1;
            return Feasibility::Infeasible;
        }
        if let Some(model) = self.models.find(pool, &mut self.evaluations, set, new) {
            self.statistics.by_cache += 1;
            return Feasibility::Feasible(self.restricted(pool, &model, set));
        }
        let renamed = self.names.rename(pool, set);
        let asked = canonical(renamed.members.iter().copied());
        let found = match self.solved.get(&*asked) {
            Some(known) => {
                self.statistics.by_cache += 1;
                known.clone()
            }
            None => {
                let start = Instant::now();
                let budget = match self.query_time {
                    Some(limit) => self.budget.exerting(limit),
                    None => self.budget.clone(),
                };
                let found = self.call(pool, &asked, &budget);
                self.statistics.solver_time += start.elapsed();
                let cut_short = matches!(found, Solved::Unknown(_))
                    && (self.budget.spent().is_some() || is_too_large(pool, &asked, &self.budget));
                self.cut_short |= cut_short;
                if !cut_short {
                    if self.solved.len() >= SOLVED {
                        self.solved.clear();
                    }
                    self.solved.insert(asked.into(), found.clone());
                }
                found
            }
        };
        match found {
            Solved::Feasible(model) => {
                let model = renamed.model(&model);
                self.models.insert(set, &model);
                Feasibility::Feasible(model)
            }
            Solved::Infeasible(core) => {
                let core = set.iter().zip(&renamed.members).filter(|(_, now)| core.contains(now)).map(|(e, _)| *e);
                let core: Vec<ExprId> = core.collect();
                if !core.is_empty() {
                    self.cores.insert(core);
                }
                Feasibility::Infeasible
            }
            Solved::Unknown(reason) => Feasibility::Unknown(reason),
        }
    }

    fn call(&mut self, pool: &mut ExprPool, set: &[ExprId], budget: &Budget) -> Solved {
        if is_too_large(pool, set, budget) {
            return Solved::Unknown(Reason::Timeout);
        }
        let equal = Equalities::find(pool, &mut self.leaves, set);
        let origin: FxHashMap<ExprId, ExprId> = equal.rest.iter().map(|(now, origin)| (*now, *origin)).collect();
        if let Some(&falsum) = equal.rest.iter().map(|(now, _)| now).find(|e| pool.is_false(**e)) {
            return Solved::Infeasible(self.core(pool, &equal, set, vec![origin[&falsum]]));
        }
        let constraints: Vec<ExprId> = equal.rest.iter().map(|(now, _)| *now).filter(|e| !pool.is_true(*e)).collect();
        if let Some(found) = self.without_solver(pool, set, &equal, &origin, &constraints, budget) {
            return found;
        }
        // If reading finds a contradiction, the solver is called nevertheless, since it returns a core.
        let finite = finite::read(pool, &constraints).ok().flatten();
        let search = |this: &mut Self, pool: &ExprPool, work, budget: &Budget| {
            let found = finite.as_ref()?.solve(pool, &constraints, work, budget);
            let found = this.searched(pool, set, &equal, found)?;
            this.statistics.by_domains += 1;
            Some(found)
        };
        let first = budget.remaining().map_or(budget.clone(), |time| budget.exerting(time / 2));
        if let Some(found) = search(self, pool, self.steps, &first) {
            self.steps = (2 * self.steps).min(MOST_STEPS);
            return found;
        }
        // A search that the time limit ended is no reason for a smaller step limit.
        if finite.is_some() && first.spent().is_none() {
            self.steps = (self.steps / 2).max(FEWEST_STEPS);
        }
        // A later search may succeed, so it gets half of the time.
        let whole = budget;
        let time = budget.remaining().filter(|time| *time >= HURRIED);
        let half = finite.as_ref().and(time).map(|time| budget.exerting(time / 2));
        let budget = half.as_ref().unwrap_or(budget);
        let spread = tables::spread(pool, &constraints);
        if self.calls >= CALLS_PER_CONTEXT {
            self.backend.reset();
            self.calls = 0;
        }
        let mut lemmas: Vec<ExprId> = Vec::new();
        let mut inexact: FxHashSet<ExprId> = FxHashSet::default();
        let mut spurious: Option<Model> = None;
        for _ in 0..=REFINEMENTS {
            self.calls += 1;
            self.statistics.solved += 1;
            let mut query = spread.clone().unwrap_or_else(|| constraints.clone());
            query.extend(&lemmas);
            match self.backend.check(pool, &query, budget) {
                Answer::Unsat => {
                    let core = self.backend.unsat_core();
                    if core.iter().any(|e| inexact.contains(e)) {
                        break;
                    }
                    if spread.is_some() {
                        // The replacements of elements depend on all constraints.
                        return Solved::Infeasible(set.to_vec());
                    }
                    let core = core.iter().filter_map(|e| origin.get(e)).copied().collect();
                    return Solved::Infeasible(self.core(pool, &equal, set, core));
                }
                Answer::Unknown(_) if spurious.is_some() => break,
                Answer::Unknown(reason) => {
                    return search(self, pool, u64::MAX, whole).unwrap_or(Solved::Unknown(reason));
                }
                Answer::Sat => {}
            }
            let mut model = self.backend_model(pool, set, &equal);
            if set.iter().all(|&e| self.evaluations.holds(pool, &model, e)) {
                return Solved::Feasible(model);
            }
            self.statistics.spurious += 1;
            let known = lemmas.len();
            for (lemma, exact) in pointwise(pool, &constraints, &model) {
                if !lemmas.contains(&lemma) {
                    lemmas.push(lemma);
                    if !exact {
                        inexact.insert(lemma);
                    }
                }
            }
            model.set_spurious(true);
            spurious = Some(model);
            if lemmas.len() == known {
                break;
            }
        }
        Solved::Feasible(spurious.expect("set before the loop is left"))
    }

    /// Tries difference constraints, linear arithmetic and case distinctions.
    fn without_solver(
        &mut self,
        pool: &mut ExprPool,
        set: &[ExprId],
        equal: &Equalities,
        origin: &FxHashMap<ExprId, ExprId>,
        constraints: &[ExprId],
        budget: &Budget,
    ) -> Option<Solved> {
        let origins = |core: Vec<ExprId>| core.iter().filter_map(|e| origin.get(e)).copied().collect();
        let ordered = match differences::solve(pool, constraints) {
            ProcedureResult::Core(core) => Some(Solved::Infeasible(self.core(pool, equal, set, origins(core)))),
            found => self.searched(pool, set, equal, found),
        };
        if ordered.is_some() {
            self.statistics.by_order += 1;
            return ordered;
        }
        if contradict(pool, constraints) {
            self.statistics.by_sums += 1;
            return Some(Solved::Infeasible(set.to_vec()));
        }
        match self.by_cases(pool, constraints, budget)? {
            Solved::Infeasible(core) => Some(Solved::Infeasible(self.core(pool, equal, set, origins(core)))),
            Solved::Feasible(mut model) => {
                equal.values.iter().for_each(|(leaf, (value, _))| model.set(*leaf, Value::Bv(value.clone())));
                Some(Solved::Feasible(model))
            }
            Solved::Unknown(_) => None,
        }
    }
}

/// Adds the values of `part`, which override existing values.
fn extend(model: &mut Model, part: &Model) {
    for (leaf, value) in part.iter() {
        model.set(leaf, value.clone());
    }
    model.set_spurious(model.is_spurious() || part.is_spurious());
}

/// The conjuncts of `cond`, in order.
pub fn conjuncts(pool: &mut ExprPool, cond: ExprId) -> Vec<ExprId> {
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
