//! Symbolic execution.
//!
//! A state is one path: variables and memory over symbols, and a path condition (King, Symbolic execution and program
//! testing, CACM 1976; as a CPA: Lemberger: Abstraction refinement for model checking: program slicing + CEGAR,
//! master's thesis, LMU Munich 2018, section 2.6.6).
//! The module `semantics` defines the effect of operations. This module turns it into a CPA: faults, taints, coverage and
//! merging.

mod asserted;
mod cover;
mod distances;
mod loops;
mod problems;
mod rows;
mod state;
mod transfer;

pub use asserted::{CellCandidate, asserted};
pub use distances::Distance;
pub use loops::{LoopInfo, Loops, RecursiveFunction};
pub use problems::{UndecidedOperation, UndecidedOperations};
pub use rows::{Address, Cells, Snapshot};
pub use state::State;

use crate::analysis::capability::{Limited, Reporting, Statistics};
use crate::analysis::{Coverer, Cpa, Pair, Sides, Step, Stop, Target};
use crate::domain::condition::Confined;
use crate::invariant::observed::{Agreement, Agreements};
use crate::semantics::control::Control;
use crate::semantics::{self, Execution, ObjId};
use crate::verdict::{Reason, ReasonKind, Taints};
use cfa::facts::leading_to_targets;
use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId, ExprPool, Program};
use rustc_hash::FxHashMap;
use smt::budget::Budget;
use smt::{Choice, Feasibility, PathSolver};
use state::Past;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The symbolic-execution domain, with all that its paths share.
pub struct SymbolicExecution<'p> {
    pub(crate) execution: Execution<'p>,
    /// The taints recorded so far.
    pub taints: Taints,
    /// The solver for queries that do not belong to a path.
    pub(crate) solvers: Choice,
    covering: cover::Covering,
    /// For each location, true if an error is reachable from it in the graph.
    pub(crate) leads_to_target: Vec<bool>,
    /// The loops and recursions of the program, with values observed there.
    pub loops: Loops,
    /// If true, merged states keep the values of named variables that are dead.
    keeps_dead: bool,
    /// If present, a path ends at a fault that is no error of the checked property, and the flag records that one did.
    pub(super) ends_at_faults: Option<Arc<AtomicBool>>,
    /// If present, undecided operations are recorded here for the caller, not as taints.
    pub(crate) undecided: Option<UndecidedOperations>,
    /// If true, a fault that the solver cannot decide in time is postponed. Its state is executed again when there is
    /// more time.
    postpones: bool,
    /// If true, abstract states are merged soon, so their feasibility is not checked at each branch.
    pub(super) merges_soon: bool,
    /// The observed loop invariants, if they are collected.
    agreements: Option<Agreements>,
    /// The origin of the first invalid pointer of each operation that read outside all objects.
    invalid_reads: FxHashMap<EdgeId, Option<Reason>>,
    /// Buffer for the result of the execution. Empty between steps.
    steps: semantics::Successors,
}

impl<'p> SymbolicExecution<'p> {
    /// Symbolic execution of a program. `solver` decides path conditions, `solvers` all other queries.
    pub fn new(program: &'p Program, solver: PathSolver, solvers: Choice) -> Self {
        let leads_to_target = leading_to_targets(program);
        Self::over(Execution::new(program, solver), solvers, leads_to_target, Loops::new(program))
    }

    fn over(execution: Execution<'p>, solvers: Choice, leads_to_target: Vec<bool>, loops: Loops) -> Self {
        Self {
            execution,
            taints: Taints::default(),
            solvers,
            covering: cover::Covering::default(),
            leads_to_target,
            loops,
            keeps_dead: false,
            ends_at_faults: None,
            undecided: None,
            postpones: false,
            merges_soon: false,
            agreements: None,
            invalid_reads: FxHashMap::default(),
            steps: Vec::new(),
        }
    }

    /// Declares that the program may lack operations that free memory.
    pub fn lacking_frees(mut self, lacks: bool) -> Self {
        self.execution.lacks_frees |= lacks;
        self
    }

    /// Lets a path end at a fault that is no error of the checked property, because another analysis checks for it. The
    /// flag records whether a path did.
    pub fn ending_at_faults(mut self, ends: Option<Arc<AtomicBool>>) -> Self {
        self.ends_at_faults = ends;
        self
    }

    /// Postpones operations that cannot be decided in time ([`Step::postponed`]).
    pub fn postponing(mut self) -> Self {
        self.postpones = true;
        self
    }

    /// Collects relations that hold in all states at the head of a loop, if `wanted`.
    pub fn comparing(mut self, wanted: bool) -> Self {
        self.agreements = wanted.then(|| Agreements::new(self.execution.program));
        self
    }

    /// A copy for unrolling under assumptions, whose terms are in `pool`. If `bounded`, it is for bounded model
    /// checking, else for induction.
    pub(super) fn for_unrolling(&self, solver: PathSolver, pool: &ExprPool, bounded: bool) -> Self {
        let program = self.execution.program;
        let mut execution = Execution::new(program, solver);
        execution.terms = semantics::Terms::new(pool.clone(), program.layout.pointer_width);
        execution.lacks_frees = self.execution.lacks_frees;
        // In a proof by contracts, every call is checked.
        execution.mode.skips_calls = bounded;
        execution.writes = (!bounded).then(Vec::new);
        Self {
            // Candidate invariants may mention dead variables.
            keeps_dead: true,
            ends_at_faults: self.ends_at_faults.clone(),
            ..Self::over(execution, self.solvers.clone(), self.leads_to_target.clone(), self.loops.without_samples())
        }
    }

    /// Records the values of variables at the head of a loop as a sample.
    pub(super) fn sample(&mut self, st: &State, at: Control) {
        self.loops.sample(st, at.loc, &mut self.execution);
    }

    /// Follows every path to its end, even if no error is reachable from it, and executes every call.
    pub fn follow_everything(&mut self) {
        self.leads_to_target.fill(true);
        self.follow_calls();
    }

    /// Executes every call, even of functions without side effects.
    pub fn follow_calls(&mut self) {
        self.execution.mode.skips_calls = false;
    }
}

impl SymbolicExecution<'_> {
    /// Merges two states at one control state, whose memories differ at `places`.
    pub(super) fn merge_at(&mut self, a: State, b: State, at: Control, places: &[(ObjId, u64)]) -> State {
        let path = self.execution.merge(a.path, b.path, at, places, self.keeps_dead);
        State { path, past: a.past }
    }
}

impl Cpa for SymbolicExecution<'_> {
    type State = State;
    type Evidence = Inputs;

    fn initial(&mut self) -> State {
        let path = self.execution.initial();
        State { path, past: None }
    }

    fn transfer(&mut self, state: State, _at: Control, edge: EdgeId, step: &mut Step<State>) -> Result<(), Stop> {
        self.execute(state, edge, step);
        let found = self.undecided.as_mut().map_or(Vec::new(), |p| std::mem::take(&mut p.found));
        step.undecided.extend(found.into_iter().map(|p| p.edge));
        Ok(())
    }

    fn branch(&mut self, st: State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<State>, Stop> {
        Ok(self.choose(st, then_edge, else_edge, (false, false)))
    }

    fn ran_out(&self) -> bool {
        self.execution.solver.was_cut_short()
    }

    fn leave(&mut self, st: State, return_edge: EdgeId, call_edge: EdgeId) -> Result<State, Stop> {
        let State { path, past } = st;
        let path = self.execution.leave(path, return_edge, call_edge);
        self.note_unset();
        Ok(State { path, past })
    }

    fn target(&mut self, st: &mut State, edge: EdgeId, _error: ErrorId) -> Result<Target<Inputs>, Stop> {
        let answer = self.execution.solver.model(&mut self.execution.terms, &st.pc);
        if answer.is_infeasible() {
            return Ok(Target::Infeasible);
        }
        if let Some(past) = st.past
            && !self.execution.mode.is_abstract
        {
            let reason = match past {
                Past::Approximation(taint) => {
                    let taint = &self.execution.program.taints[taint];
                    let text = format!("a violation was found only past an approximation: {}", taint.reason);
                    Reason::at(text, taint.place).of_kind(ReasonKind::of_taint(taint))
                }
                Past::InvalidRead(edge) => {
                    let text = "a violation was found only past a read outside all objects";
                    let reason = Reason::at(text, self.execution.program.edges[edge].place);
                    reason.because(self.invalid_reads.get(&edge).cloned().flatten())
                }
            };
            self.taints.drop_behaviour(reason);
            return Ok(Target::Undecided);
        }
        match answer {
            Feasibility::Infeasible => Ok(Target::Infeasible),
            Feasibility::Feasible(model) => {
                let model = semantics::model_with_small_objects(&mut self.execution, st, model);
                Ok(Target::Reached(self.execution.inputs(st, &model)))
            }
            Feasibility::Unknown(smt::Reason::Timeout) => Ok(Target::Later),
            Feasibility::Unknown(reason) => {
                let place = self.execution.program.edges[edge].place;
                self.taints.drop_behaviour(Reason::at(format!("a path to an error is undecided: {reason}"), place));
                Ok(Target::Undecided)
            }
        }
    }

    fn merge(&mut self, a: State, b: State, at: Control) -> Result<State, Pair<State>> {
        let places = if a.past == b.past { self.execution.differences(&a, &b) } else { None };
        match places {
            Some(places) => Ok(self.merge_at(a, b, at, &places)),
            None => Err(Box::new((a, b))),
        }
    }

    fn adjust(
        &mut self,
        mut st: State,
        _edge: EdgeId,
        at: Control,
        _more: &mut Vec<State>,
    ) -> Result<Option<State>, Stop> {
        if self.loops.headed_by(at.loc).is_some() && !self.execution.is_feasible(&mut st) {
            return Ok(None);
        }
        self.sample(&st, at);
        if let Some(agreements) = &mut self.agreements {
            agreements.join(&st, at.loc, &self.execution);
        }
        Ok(Some(st))
    }

    fn stop(&mut self, st: &State, at: Control) -> Result<Option<Coverer>, Stop> {
        self.coverer(st, at)
    }

    fn taints(&self) -> Option<&Taints> {
        Some(&self.taints)
    }
}

impl Confined for SymbolicExecution<'_> {
    fn branch_open(&mut self, st: State, edges: (EdgeId, EdgeId), closed: (bool, bool)) -> Result<Sides<State>, Stop> {
        Ok(self.choose(st, edges.0, edges.1, closed))
    }

    fn keep(&mut self, st: &State, at: Control) {
        self.keep_for_covering(st, at);
    }
}

impl Limited for SymbolicExecution<'_> {
    fn limit(&mut self, budget: &Budget, query_time: Option<Duration>) {
        self.execution.solver.set_query_time(query_time);
        self.execution.solver.set_budget(budget.clone());
    }
}

impl Reporting for SymbolicExecution<'_> {
    fn statistics(&self) -> Statistics {
        let solving = self.execution.solver.statistics();
        Statistics {
            terms: self.execution.terms.len() as u64,
            queries: solving.queries,
            solver_calls: solving.solved,
            solver_time: solving.solver_time,
            tracked: 0,
        }
    }

    fn all_taints(&self) -> &Taints {
        &self.taints
    }

    fn agreements(&self) -> Vec<Agreement> {
        self.agreements.as_ref().map_or_else(Vec::new, Agreements::all)
    }
}
