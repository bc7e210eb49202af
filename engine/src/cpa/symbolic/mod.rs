//! Symbolic execution.
//!
//! A state is one path: variables and memory over symbols, and a path condition (King, Symbolic execution and
//! program testing, CACM 1976; as a CPA: the thesis on slicing and CEGAR for symbolic execution, section 2). What an operation does
//! to it is told by [`crate::execution`]; here is what an analysis makes of that.

mod cover;
mod hope;
#[cfg(test)]
mod laws;
mod loops;
mod merge;
mod precision;
mod predicates;
mod refine;
mod rows;
mod state;
mod transfer;

pub(crate) use loops::globals_written;
pub use loops::{LoopInfo, Loops, RecursiveFunction};
pub use precision::{Abstracted, Item, Precision, Sharing};
pub use refine::Lesson;
pub use rows::{Cells, Snapshot};
pub use state::State;

use super::{Abstraction, At, Cpa, Decision, Goal, Pair, PathCheck, Refinement, Sides, Stop, Successors, Target};
use crate::budget::Budget;
use crate::control::Control;
use crate::execution::{self, Event, Execution, Mode};
use crate::verdict::{Reason, Taints};
use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId, ExprPool, Id, Program};
use smt::{Choice, Feasibility, PathSolver};
use state::{Past, Route};

/// The analysis: what all paths share.
pub struct SymbolicExecution<'p> {
    pub(crate) execution: Execution<'p>,
    pub taints: Taints,
    /// For questions of its own.
    solvers: Choice,
    covering: cover::Covering,
    /// Per location, whether an error can be reached from it.
    hope: Vec<bool>,
    pub loops: Loops,
    /// Merged states keep what is in named variables that the program does not read any more.
    keeps_dead: bool,
    abstracting: precision::Abstracting,
    /// States in which the last operation is a fault that is an error.
    faults: Vec<State>,
    /// What refinements have learned, in order.
    pub lessons: Vec<Lesson>,
    /// Empty but within a step.
    steps: execution::Successors,
}

impl<'p> SymbolicExecution<'p> {
    pub fn new(program: &'p Program, solver: PathSolver, solvers: Choice) -> Self {
        Self {
            execution: Execution::new(program, solver),
            taints: Taints::default(),
            solvers,
            covering: cover::Covering::default(),
            hope: hope::hopeful(program),
            loops: Loops::new(program),
            keeps_dead: false,
            abstracting: precision::Abstracting::default(),
            faults: Vec::new(),
            lessons: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// In a program that may lack operations which free memory.
    pub fn lacking_frees(mut self, lacks: bool) -> Self {
        self.execution.lacks_frees |= lacks;
        self
    }

    /// The same for exploring the program under assumptions that are made of terms of this pool.
    pub(super) fn for_unrolling(&self, solver: PathSolver, pool: &ExprPool, bounded: bool) -> Self {
        let program = self.execution.program;
        let mut execution = Execution::new(program, solver);
        execution.terms = execution::Terms::new(pool.clone(), program.layout.pointer_width);
        execution.lacks_frees = self.execution.lacks_frees;
        // A proof by contracts shows that they hold.
        execution.mode.skips_calls = bounded;
        execution.writes = (!bounded).then(Vec::new);
        Self {
            execution,
            taints: Taints::default(),
            solvers: self.solvers.clone(),
            covering: cover::Covering::default(),
            hope: self.hope.clone(),
            loops: self.loops.without_samples(),
            // Candidate invariants speak of all variables.
            keeps_dead: true,
            abstracting: precision::Abstracting::default(),
            faults: Vec::new(),
            lessons: Vec::new(),
            steps: Vec::new(),
        }
    }

    pub fn solver(&mut self) -> &mut PathSolver {
        &mut self.execution.solver
    }

    /// What solving took so far.
    pub fn solving(&self) -> &smt::Statistics {
        self.execution.solver.statistics()
    }

    /// Follows every path to its end, whether or not it may come to an error, and every call that it makes.
    pub fn follow_everything(&mut self) {
        self.hope.fill(true);
        self.execution.mode.skips_calls = false;
    }

    /// Terms made so far.
    pub fn terms(&self) -> usize {
        self.execution.terms.len()
    }

    /// Does `work` with states computed otherwise.
    fn in_mode<T>(&mut self, mode: Mode, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.execution.mode, mode);
        let result = work(self);
        self.execution.mode = before;
        result
    }
}

impl Cpa for SymbolicExecution<'_> {
    type State = State;
    type Evidence = Inputs;

    fn initial(&mut self) -> State {
        let path = self.execution.initial();
        State { path, route: Route::default() }
    }

    fn transfer(
        &mut self,
        state: State,
        at: Control,
        edge: EdgeId,
        successors: &mut Successors<State>,
    ) -> Result<(), Stop> {
        let _ = at;
        self.faults.clear();
        self.execute(state, edge, successors);
        Ok(())
    }

    fn faults(&mut self) -> Vec<State> {
        std::mem::take(&mut self.faults)
    }

    fn branch(&mut self, st: State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<State>, Stop> {
        Ok(self.choose(st, then_edge, else_edge))
    }

    fn ran_out(&self) -> bool {
        self.execution.solver.was_cut_short()
    }

    fn leave(&mut self, st: State, return_edge: EdgeId, call_edge: EdgeId) -> Result<State, Stop> {
        let State { path, route } = st;
        let path = self.execution.leave(path, return_edge, call_edge);
        self.note_unset();
        Ok(State { path, route })
    }

    fn target(&mut self, st: &mut State, edge: EdgeId, _error: ErrorId) -> Result<Target<Inputs>, Stop> {
        let answer = self.execution.solver.model(&mut self.execution.terms, &st.pc);
        if answer.is_infeasible() {
            return Ok(Target::Infeasible);
        }
        if let Some(past) = st.route.past
            && !self.execution.mode.is_abstract
        {
            let reason = match past {
                Past::Approximation(taint) => {
                    let taint = &self.execution.program.taints[taint];
                    let text = format!("a violation was found only past an approximation: {}", taint.reason);
                    Reason::at(text, taint.place)
                }
                Past::Stray(edge) => {
                    let text = "a violation was found only past a read outside all objects";
                    Reason::at(text, self.execution.program.edges[edge].place)
                }
            };
            self.taints.drop_behaviour(reason);
            return Ok(Target::Undecided);
        }
        match answer {
            Feasibility::Infeasible => Ok(Target::Infeasible),
            Feasibility::Feasible(model) => Ok(Target::Reached(self.execution.inputs(st, &model))),
            Feasibility::Unknown(smt::Reason::Timeout) => Ok(Target::Later),
            Feasibility::Unknown(reason) => {
                let place = self.execution.program.edges[edge].place;
                self.taints.drop_behaviour(Reason::at(format!("a path to an error is undecided: {reason}"), place));
                Ok(Target::Undecided)
            }
        }
    }

    fn merge(&mut self, a: State, b: State, at: Control) -> Result<State, Pair<State>> {
        self.merge_states(a, b, at)
    }

    fn arrive(&mut self, mut st: State, _edge: EdgeId, at: Control) -> Result<Option<State>, Stop> {
        if self.loops.headed_by(at.loc).is_some() && !self.execution.is_feasible(&mut st) {
            return Ok(None);
        }
        self.loops.sample(&st, at.loc, &self.execution.terms, &self.execution.slots);
        Ok(Some(st))
    }

    fn stop(&mut self, st: &State, at: Control) -> Result<bool, Stop> {
        self.is_covered(st, at)
    }

    fn problems(&mut self) -> Vec<EdgeId> {
        self.take_problems()
    }
}

impl Abstraction for SymbolicExecution<'_> {
    fn both(&mut self, st: State, then_edge: EdgeId, else_edge: EdgeId) -> Sides<State> {
        let side = |edge: EdgeId| {
            self.hope[self.execution.program.edges[edge].target.index()].then(|| {
                let mut st = st.clone();
                st.trail.push(Event::Decision(Decision::Branch(edge)));
                st
            })
        };
        (side(then_edge), side(else_edge))
    }

    fn adjust(&mut self, mut st: State, at: Control, since: &State) -> Result<Option<State>, Stop> {
        let asks = self.abstracting.ways.1 || self.loops.headed_by(at.loc).is_some();
        if asks && !self.is_real(&mut st)? {
            return Ok(None);
        }
        Ok(Some(self.abstracted(st, at, Some(since))))
    }

    fn covers(&mut self, old: &State, new: &State, at: Control) -> bool {
        self.state_covers(old, new, at)
    }

    fn outline(&mut self, st: &State, at: Control) -> Vec<Option<u64>> {
        self.outline_values(st, at)
    }

    fn decisions(&mut self, st: &mut State) -> Vec<Decision> {
        // The model is kept.
        self.execution.is_feasible(st);
        let holds = |cond| st.pc.model().is_some_and(|m| m.eval(&self.execution.terms, cond).is_true());
        let events = st.trail.events(holds);
        events.into_iter().filter_map(|e| if let Event::Decision(d) = e { Some(d) } else { None }).collect()
    }

    fn execution(&mut self, st: &State, budget: &Budget) -> Result<Option<Vec<Vec<Decision>>>, Stop> {
        match &st.route.history {
            None => Ok(Some(Vec::new())),
            Some(_) => self.decisions_in_blocks(st, budget),
        }
    }

    fn settle(&mut self, edge: EdgeId, reason: Reason) {
        // A read can be followed whatever it reads, unless that it is a fault is the question.
        if !self.is_read(edge) || self.is_watched(edge) {
            self.taints.drop_behaviour(reason);
        }
        self.settle_problem(edge);
    }

    fn check(&mut self, path: &[EdgeId], goal: Goal, budget: &Budget) -> Result<PathCheck<Inputs>, Stop> {
        self.check_path(path, goal, budget)
    }

    fn refine(
        &mut self,
        st: &State,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Refinement, Stop> {
        self.refine_path(st, path, cuts, goal, budget)
    }
}
