//! The components of CEGAR as separate services: model explorer, feasibility checker and precision refiner. A driver
//! composes them and lets them exchange artifacts (Beyer, Haltermann, Lemberger, Wehrheim: Decomposing software
//! verification into off-the-shelf components, ICSE 2022). The components are stateless: they keep nothing between
//! calls.
//!
//! The abstract models are those of predicate abstraction with blocks from loop head to loop head. If an abstract state
//! cannot decide an operation (for example, where a pointer points), the explorer does not report it as a path to a
//! target. It tracks the predicates that decide the operation. The last edge of a reported path is an error edge or an
//! operation that faults.

use crate::algorithm::cegar::Cegar;
use crate::algorithm::cpa::{Merge, Parameters};
use crate::analysis::{Abstraction, Cpa, Goal, PathCheck, Stop, WHOLE};
use crate::config::Config;
use crate::domain::path::{Carrier, Follower};
use crate::domain::predicate::refinement::AbstractPath;
use crate::domain::symbolic::SymbolicExecution;
use crate::domain::tracking::{Options, State, Tracking};
use crate::semantics::Mode;
use crate::semantics::control::{CallStacks, Control, following};
use crate::verdict::{Reason, Taints};
use cfa::interp::Inputs;
use cfa::{Edge, EdgeId, ErrorId, ExprId, ExprPool, FuncId, Id, Op, Program, VarKind};
use smt::PathSolver;
use smt::budget::Budget;
use smt::budget::Spent;

/// The result of the model explorer.
pub enum Counterexample {
    /// The abstract model reaches no error, and nothing was dropped.
    Proved,
    /// An abstract counterexample: the edges from the start to the target.
    Path(Vec<EdgeId>),
    /// The explorer stopped for this reason.
    Unknown(Reason),
}

/// The result of the feasibility checker.
pub enum Feasibility {
    /// The path is feasible: these inputs reach the error.
    Feasible(ErrorId, Inputs),
    /// No execution takes the path.
    Infeasible,
    /// The checker stopped for this reason.
    Unknown(Reason),
}

/// The result of the refiner: conditions that refute an infeasible path.
pub struct Interpolants {
    /// The pool of the expressions in `conditions`.
    pub pool: ExprPool,
    /// Pairs of a position on the path and the condition that holds after the edge at that position, sorted by
    /// position.
    pub conditions: Vec<(usize, ExprId)>,
}

/// The components for one program.
#[derive(Clone, Copy)]
pub struct Components<'p> {
    /// The program to verify.
    pub program: &'p Program,
    /// The configuration of the run.
    pub config: &'p Config,
    /// The budget that all calls share.
    pub budget: &'p Budget,
}

impl<'p> Components<'p> {
    /// Explores the abstract model that tracks `predicates` (expressions of `program`) and their negations. If
    /// `is_infeasible` rejects a path to a target, the explorer checks the path. If the path is infeasible, the
    /// explorer refines the precision to exclude it.
    pub fn explore(&self, predicates: &[ExprId], is_infeasible: &dyn Fn(&[EdgeId]) -> bool) -> Counterexample {
        let mut cpa = self.domain();
        for &predicate in predicates {
            cpa.blocks().track(&self.program.exprs, predicate);
        }
        let config = self.config;
        let parameters = Parameters {
            heads: cpa.symbolic.cutpoints(config.abstracts_at_calls),
            merge: Merge::InBlocks(cpa.symbolic.heads()),
            search: config.search,
            seed: config.seed,
            max_call_depth: config.max_call_depth,
            covers: true,
            notes_locations: false,
            counts_on_rest: false,
        };
        let mut taints = Taints::default();
        let mut cegar = Cegar::new(self.program, cpa, parameters);
        match cegar.next_path(self.budget, &mut taints, is_infeasible) {
            Ok(Some(path)) => Counterexample::Path(path),
            Ok(None) => {
                taints.merge(&cegar.inner.cpa.symbolic.taints);
                taints.first(self.program).map_or(Counterexample::Proved, Counterexample::Unknown)
            }
            Err(stop) => Counterexample::Unknown(reason(stop)),
        }
    }

    /// Returns whether a path of the abstract model is feasible in the program.
    pub fn check(&self, path: &[EdgeId]) -> Feasibility {
        let Some((goal, path)) = self.goal(path) else { return Feasibility::Infeasible };
        let mut cpa = self.domain();
        match (cpa.check_path(path, goal, WHOLE, self.budget), goal) {
            (Err(stop), _) => Feasibility::Unknown(reason(stop)),
            (Ok(_), _) if cpa.ran_out() => Feasibility::Unknown(Reason::spent(Spent::Time)),
            (Ok(PathCheck::Feasible(inputs)), Goal::Error { error, .. }) => Feasibility::Feasible(error, inputs),
            (Ok(PathCheck::Feasible(_)), _) => unreachable!("only errors have evidence"),
            (Ok(PathCheck::Infeasible), _) => Feasibility::Infeasible,
            (Ok(PathCheck::Unknown(reason)), _) => Feasibility::Unknown(reason),
        }
    }

    /// Computes conditions at loop heads that refute an infeasible path. Conditions that no expression of the program
    /// can represent are omitted. Fails if the path is feasible or if the budget is spent.
    pub fn refine(&self, path: &[EdgeId]) -> Result<Interpolants, Reason> {
        let mut out = Interpolants { pool: ExprPool::default(), conditions: Vec::new() };
        let whole = path;
        let Some((goal, path)) = self.goal(path) else { return Ok(out) };
        let mut cpa = self.domain();
        let heads = cpa.symbolic.cutpoints(self.config.abstracts_at_calls);
        let found = match self.abstract_path(&mut cpa, path, goal, &heads) {
            Ok(None) => return Ok(out),
            Ok(Some((state, cuts))) => {
                cpa.symbolic.execution.mode = Mode { is_abstract: false, ..cpa.symbolic.execution.mode };
                cpa.blocks()
                    .interpolants(AbstractPath { state: &state, history: &state.along.history }, self.budget)
                    .map(|found| (found, cuts))
            }
            Err(Stop::Spent(spent)) => return Err(Reason::spent(spent)),
            Err(Stop::Fatal(_)) => None,
        };
        let Some((found, cuts)) = found else {
            // The conditions at heads do not refute the path, so decide whether it is feasible.
            return match self.check(whole) {
                Feasibility::Infeasible => Ok(out),
                Feasibility::Feasible(..) => Err(Reason::new("the path to refute is feasible")),
                Feasibility::Unknown(reason) => Err(reason),
            };
        };
        for (k, interpolant) in found {
            for conjunct in smt::conjuncts(&mut cpa.symbolic.execution.terms, interpolant) {
                // Terms about the heap and the stack, or about locals of two functions, have no expression.
                let Some(own) = cpa.blocks().condition(&mut out.pool, conjunct) else { continue };
                let Some(at) = self.position(path, cuts[k], &out.pool, own) else { continue };
                match out.conditions.last_mut().filter(|(last, _)| *last == at) {
                    Some((_, all)) => *all = out.pool.and(*all, own),
                    None => out.conditions.push((at, own)),
                }
            }
        }
        out.conditions.sort_by_key(|&(at, _)| at);
        Ok(out)
    }

    fn domain(&self) -> Tracking<'p> {
        let Config { solvers, lacks_frees, faults_elsewhere, query_time, .. } = self.config;
        let mut solver = PathSolver::new(solvers.open(), self.budget.clone());
        solver.set_query_time(Some(*query_time));
        let symbolic = SymbolicExecution::new(self.program, solver, solvers.clone())
            .lacking_frees(*lacks_frees)
            .ending_at_faults(faults_elsewhere.clone());
        let how = Options {
            values_only: false,
            full: false,
            numbers: false,
            sharing: self.config.sharing,
            threshold: 0,
            values: false,
            predicates: true,
            boolean: self.config.combines_predicates,
            folds: false,
        };
        Tracking::new(symbolic, how)
    }

    fn goal<'e>(&self, path: &'e [EdgeId]) -> Option<(Goal, &'e [EdgeId])> {
        let (&edge, path) = path.split_last()?;
        let Edge { op, fault, .. } = &self.program.edges[edge];
        let goal = match (op, fault) {
            (&Op::Error(error), _) | (_, &Some(error)) => Goal::Error { edge, error },
            _ => Goal::Undecided { edge },
        };
        Some((goal, path))
    }

    /// Follows the path and abstracts the state at each head to nothing. Returns the state at the goal and the
    /// positions of the heads, or `None` if a block between two heads is infeasible on its own.
    #[allow(clippy::type_complexity)]
    fn abstract_path(
        &self,
        cpa: &mut Tracking<'p>,
        path: &[EdgeId],
        goal: Goal,
        heads: &[bool],
    ) -> Result<Option<(State, Vec<usize>)>, Stop> {
        let program = self.program;
        let (mut stacks, mut cuts) = (CallStacks::new(), Vec::new());
        let mut at = Control { loc: program.funcs[program.entry].entry, stack: CallStacks::EMPTY };
        let mut state = Carrier::initial(cpa);
        let mut since = state.clone();
        let several =
            |edge: EdgeId| Stop::Fatal(Reason::at("a path to refine splits into cases", program.edges[edge].place));
        for (i, &edge) in path.iter().enumerate() {
            if i % 256 == 0
                && let Some(spent) = self.budget.spent()
            {
                return Err(Stop::Spent(spent));
            }
            let next = path.get(i + 1).copied().or(Some(goal.edge()));
            let mut follower = Follower::new(cpa, WHOLE, self.budget);
            let mut after = follower.step(state, edge, next)?;
            state = match after.pop() {
                None => return Ok(None),
                Some(_) if !after.is_empty() => return Err(several(edge)),
                Some(state) => state,
            };
            // An undecided read may return any value here.
            cpa.undecided().found.clear();
            at = following(program, &mut stacks, at, edge, next.map(|next| program.func_of(next)));
            if heads[at.loc.index()] {
                let Some(abstracted) = cpa.abstract_state(state, at, &since)? else { return Ok(None) };
                since = abstracted.clone();
                state = abstracted;
                cuts.push(i + 1);
            }
        }
        if !matches!(goal, Goal::Error { .. }) {
            return Ok(Some((state, cuts)));
        }
        let mut follower = Follower::new(cpa, WHOLE, self.budget);
        Ok(follower.at_error(vec![state], goal.edge())?.pop().map(|state| (state, cuts)))
    }

    /// The position of the last edge before the cut after which the function is active whose locals the condition uses.
    fn position(&self, path: &[EdgeId], cut: usize, pool: &ExprPool, condition: ExprId) -> Option<usize> {
        let func = scope(self.program, pool, condition)?;
        let lands_in = |i: usize| match path.get(i + 1) {
            Some(&next) => self.program.func_of(next),
            None => self.program.locs[self.program.edges[path[i]].target].func,
        };
        (0..cut).rev().find(|&i| func.is_none_or(|func| lands_in(i) == func))
    }
}

/// The function whose locals the condition uses: `Some(None)` if it uses none, `None` if it uses those of two
/// functions.
fn scope(program: &Program, pool: &ExprPool, condition: ExprId) -> Option<Option<FuncId>> {
    let mut func = None;
    for var in pool.vars(condition) {
        let (VarKind::Local(owner) | VarKind::Param(owner) | VarKind::Temp(owner)) = program.vars[var].kind else {
            continue;
        };
        if func.is_some_and(|func| func != owner) {
            return None;
        }
        func = Some(owner);
    }
    Some(func)
}

fn reason(stop: Stop) -> Reason {
    match stop {
        Stop::Spent(spent) => Reason::spent(spent),
        Stop::Fatal(reason) => reason,
    }
}
