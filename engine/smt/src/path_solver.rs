//! What a path-wise analysis asks of a solver, and the layers that answer most of it without one.
//!
//! A query asks whether a condition can hold after a path condition. In this order: the model of the path condition
//! may satisfy it; the ranges of terms that the path condition implies may decide it; else only the conjuncts that share
//! symbols with it, directly or not, matter; a cached core or model may decide those; what is left goes to the
//! solver, with symbols replaced by the constants they are known to equal, or by the few that they may (`cases`).

mod answers;
mod cases;
mod size;

use super::cache::{Cores, Evaluations, Models, canonical};
use super::differences;
use super::equalities::Equalities;
use super::facts::Facts;
use super::finite;
use super::independence::Leaves;
use super::integers::Found;
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
    /// By a constant condition.
    pub trivial: u64,
    /// By the model of the path condition.
    pub by_model: u64,
    /// By the ranges that the path condition implies.
    pub by_facts: u64,
    /// By a cached core or model.
    pub by_cache: u64,
    /// As a contradiction of linear arithmetic.
    pub by_sums: u64,
    /// As comparisons of terms.
    pub by_order: u64,
    /// By propagation and search over symbols with few values.
    pub by_domains: u64,
    /// Calls of the solver. (A query may need several.)
    pub solved: u64,
    pub unknown: u64,
    /// Models that the evaluator did not confirm at first.
    pub spurious: u64,
    pub solver_time: Duration,
}

/// Decides path conditions. One per worker thread; all calls must be given the same pool.
pub struct PathSolver {
    backend: Box<dyn Backend>,
    budget: Budget,
    /// An answer is missing because the budget was spent.
    cut_short: bool,
    /// For one call of the solver, at most.
    query_time: Option<Duration>,
    statistics: Statistics,
    leaves: Leaves,
    cores: Cores,
    models: Models,
    evaluations: Evaluations,
    names: Names,
    /// What the solver said about sets, which are the same but for the names of their symbols as others to come: those on
    /// which it gave up, too, lest the time be spent again.
    solved: FxHashMap<Rc<[ExprId]>, Solved>,
    /// Solver calls since its last reset.
    calls: u32,
    /// Of the first search over symbols with few values.
    steps: u64,
    /// Symbols whose values are tried one by one at the moment.
    cases: u32,
}

/// What the solver says about a set.
#[derive(Clone)]
enum Solved {
    Feasible(Model),
    /// With a part of it that contradicts itself.
    Infeasible(Vec<ExprId>),
    Unknown(Reason),
}

/// Sets whose answers are kept; beyond, they are forgotten.
const SOLVED: usize = 50_000;
/// The solver starts anew after so many calls: what it keeps of old queries slows down new ones.
const CALLS_PER_CONTEXT: u32 = 5_000;
/// Attempts to turn a spurious model into a real one.
const REFINEMENTS: u32 = 8;
/// What the search leaves of the time of queries with less is the solvers': candidates for invariants are dropped for want of it.
const HURRIED: Duration = Duration::from_secs(1);
/// Steps of the search over symbols with few values before the solver is asked, 3 ns each or so: at first, at least, and at most. Twice as many
/// where it found something, half as many where it did not.
const FIRST_SEARCH: u64 = 100_000_000;
const FEWEST_STEPS: u64 = 3_000_000;
const MOST_STEPS: u64 = 400_000_000;

impl PathSolver {
    /// Queries end with `budget`.
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
    /// Limits the processor time of each call of the solver, beside the budget.
    pub fn set_query_time(&mut self, limit: Option<Duration>) {
        self.query_time = limit;
        self.solved.retain(|_, answer| !matches!(answer, Solved::Unknown(_)));
    }
    /// Queries end with `budget`.
    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
        self.cut_short = false;
    }
    /// Whether a query was left without an answer since the budget was set, because too little of the budget was left: what
    /// was decided without it is better decided again.
    pub fn was_cut_short(&self) -> bool {
        self.cut_short
    }
    /// Whether, and why, no more queries will be answered.
    pub fn spent(&self) -> Option<crate::budget::Spent> {
        self.budget.spent()
    }
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Adds `cond` (one bit) to `pc`. `model` is one of `pc ∧ cond` if known, as [`branch`](Self::branch) and
    /// [`check`](Self::check) give it; without it, the model of `pc` is kept if it satisfies `cond`.
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
            let leaves = self.leaves.of(pool, conjunct);
            if !leaves.is_empty() {
                pc.known_mut().groups.add(conjunct, &leaves);
            }
            pc.push(conjunct);
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
        // What `new` adds to what is known; it goes on with each conjunct.
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

    /// Which sides of a branch on `cond` after `pc` can be taken. At most one side needs the solver where the model of
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

    /// A model of `pc ∧ cond`, if one is found within `time` of work.
    pub fn find(&mut self, pool: &mut ExprPool, pc: &PathCondition, cond: ExprId, time: Duration) -> Option<Model> {
        let part = self.budget.exerting(time);
        let (budget, cut_short) = (std::mem::replace(&mut self.budget, part), self.cut_short);
        let found = self.check(pool, pc, cond);
        (self.budget, self.cut_short) = (budget, cut_short);
        found.model().filter(|model| !model.is_spurious())
    }

    /// The only value that `e` can have where `pc` holds, if there is one and it can be met.
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

    /// The least and greatest value, unsigned, that `e` is seen to have where `pc` holds, without the solver.
    pub fn bounds(&self, pool: &ExprPool, pc: &PathCondition, e: ExprId) -> Option<(u64, u64)> {
        pc.known().facts.range(pool, e).map(|r| (r.low, r.high))
    }

    /// The truth value of `e` where `facts` hold, if they decide it.
    fn truth(&mut self, pool: &ExprPool, facts: &Facts, e: ExprId) -> Option<bool> {
        if self.leaves.of(pool, e).is_empty() {
            return Some(self.evaluations.holds(pool, &Model::default(), e));
        }
        facts.range(pool, e)?.as_constant().map(|v| v == 1)
    }

    /// Decides `pc ∧ new` by the groups that matter. `facts` are what both imply.
    fn check_groups(&mut self, pool: &mut ExprPool, pc: &PathCondition, new: &[ExprId], facts: &Facts) -> Feasibility {
        let mut roots = FxHashSet::default();
        for &e in new {
            roots.extend(self.leaves.of(pool, e).iter().copied());
        }
        let leaves = canonical(roots);
        let related = pc.known().groups.of(&leaves);
        let mut model = match pc.model() {
            Some(model) => model.clone(),
            None => {
                // Nobody knows yet whether the other groups can be met.
                let mut model = Model::default();
                for group in pc.known().groups.representatives() {
                    let set = pc.known().groups.of(&[group]);
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
            // The values at hand, moved into the ranges that `new` leaves, often do.
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

    /// Decides `set` (in order of id). The model is one of its leaves alone. `new` are the members that were not asked
    /// about before.
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
        // A contradiction seen here is for the solver, which tells what of the set it rests on.
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
        // Where time ended it, nothing is said against searching as long.
        if finite.is_some() && first.spent().is_none() {
            self.steps = (self.steps / 2).max(FEWEST_STEPS);
        }
        // Where the search may do it after all, half of the time is its.
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
                        // Elements are these choices only where all constraints hold.
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

    /// What comparisons, sums and cases of few values say of a set.
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
            Found::Core(core) => Some(Solved::Infeasible(self.core(pool, equal, set, origins(core)))),
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

/// Adds the values of `part`, which win.
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
