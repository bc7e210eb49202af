//! The search for tests. Random runs come first, or runs of processes, with mutations and children of these. The
//! analyses then search for executions that reach the open goals.
//!
//! In a round, all open goals are errors, and the analysis continues after each error that it reaches. The program
//! itself is then run to its end on the inputs that the analysis found, so the run also covers the goals after the
//! error. A proof means that all goals of the round are unreachable. When the rounds find nothing more, the search
//! queries the goals one by one.

use super::generations::Generations;
use super::given::Given;
use super::goals::{self, Executed, execute, execute_inputs};
use super::guide::{Compared, Frontier, Guide};
use super::mutate::{Mutator, Novelty, smaller};
use super::schedule::Source;
use cfa::interp::{InputSource, Inputs, Interpreter};
use cfa::{EdgeId, ErrorId, Id, Op, Program};
use driver::environment::Process;
use driver::environment::replay::Replayer;
use driver::external::{Task, Tool};
use driver::source::Sources;
use engine::budget::{Budget, worked};
use engine::invariant::Discharged;
use engine::{Analysis, Config, Verdict};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The number of consecutive random runs without new coverage after which the random search ends.
const USELESS: u32 = 60;
/// The maximal time of the random search.
const RANDOM: Duration = Duration::from_secs(1);
/// A time slice that no search needs.
const DAY: Duration = Duration::from_secs(86_400);
/// The first time slice of an analysis. A time slice without a result doubles the next.
const TURN: Duration = Duration::from_secs(1);
/// The number of consecutive executions without new coverage after which a round ends.
const STALE: u32 = 12;
/// The maximal time of slicing.
const SLICING: Duration = Duration::from_secs(10);
/// The minimal time of an external verifier for one goal.
const ONE_GOAL: Duration = Duration::from_secs(2);
/// The minimal and the maximal time of a run of the whole program on inputs that were found in a slice. Between these,
/// the run ends with its round.
const REPLAY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));

/// The state of a coverage goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Not decided.
    Open,
    /// Reached, but only with values that the tests cannot provide, such as the time, or memory that was never written.
    Beyond,
    /// Not decided. Only executions in which an allocation returns null reach it.
    NullAllocation,
    /// On the path of a test.
    Covered,
    /// Proved unreachable by the analysis or external verifier with this name.
    Unreachable(&'static str),
}

impl Status {
    /// Returns true if the goal is neither covered nor proved unreachable.
    pub fn is_open(self) -> bool {
        match self {
            Self::Open | Self::Beyond | Self::NullAllocation => true,
            Self::Covered | Self::Unreachable(_) => false,
        }
    }
}

/// A test: the inputs of the program, and the goals that the run covers.
#[derive(Clone, Debug)]
pub struct Test {
    /// The inputs.
    pub given: Given,
    /// The indices of the covered goals.
    pub covers: Vec<u32>,
    /// The indices of the goals that the run reaches only with values that the test does not determine. A native run may
    /// cover them.
    pub reaches: Vec<u32>,
    /// The name of the cooperating tool that found the test; empty without cooperation.
    pub by: &'static str,
}

/// The results of the search so far.
#[derive(Clone, Default, Debug)]
pub struct SearchResults {
    /// The tests of the suite.
    pub tests: Vec<Test>,
    /// The state of each goal.
    pub status: Vec<Status>,
    /// For each goal, the number of runs that reached it only with values that no test determines.
    undetermined: Vec<u8>,
    /// The number of executions of each edge, over all tests.
    pub counts: Vec<u64>,
    /// The number of inputs that were run, including those that cover nothing new.
    pub runs: usize,
    /// The name of the tool whose tests are recorded now, if several tools cooperate.
    pub by: &'static str,
    /// True if a run did not end within its limits. Later runs then get smaller limits.
    pub is_endless: bool,
    /// The reason why the first run is not a valid test.
    pub problem: Option<String>,
    /// The results of an external tester.
    pub imported: Import,
}

/// The results of an external tester.
#[derive(Clone, Default, Debug)]
pub struct Import {
    /// The number of runs of the tester.
    pub runs: u32,
    /// The number of tests that were read.
    pub read: usize,
    /// The number of tests that covered an open goal.
    pub useful: usize,
    /// The reason why the last run of the tester failed.
    pub problem: Option<String>,
}

impl SearchResults {
    fn open(&self) -> Vec<usize> {
        (0..self.status.len()).filter(|&i| self.status[i] == Status::Open).collect()
    }

    /// Records a run as a test if it covers a new goal or if there is no test yet. Returns true if it covers a new
    /// goal.
    pub fn take(&mut self, goals: &[EdgeId], run: &Executed) -> bool {
        let covers = covered(goals, run);
        let is_new = self.is_new(&covers);
        self.undetermined.resize(goals.len(), 0);
        let reaches = self.reached_by(goals, run);
        let mut is_first = false;
        for &i in &reaches {
            let i = i as usize;
            self.undetermined[i] = self.undetermined[i].saturating_add(1);
            if self.status[i] == Status::Open {
                self.status[i] = Status::Beyond;
                is_first |= matches!(run.given, Given::Process { .. });
            }
        }
        if is_new || is_first || self.tests.is_empty() {
            covers.iter().for_each(|&i| self.status[i as usize] = Status::Covered);
            self.counts.resize(run.counts.len(), 0);
            self.counts.iter_mut().zip(&run.counts).for_each(|(sum, &n)| *sum += u64::from(n));
            self.tests.push(Test { given: run.given.clone(), covers, reaches, by: self.by });
        }
        is_new
    }

    /// Returns the indices of the goals that a run reaches only with values that a test does not determine, and that no
    /// test covers.
    fn reached_by(&self, goals: &[EdgeId], run: &Executed) -> Vec<u32> {
        let is_reached = |&i: &usize| run.here[goals[i].index()] > 0 && run.counts[goals[i].index()] == 0;
        let open = (0..goals.len()).filter(|&i| self.status[i].is_open());
        open.filter(is_reached).map(|i| i as u32).collect()
    }

    /// Returns true if a run that reaches a goal may cover it. The first runs that do not cover it show that no test
    /// determines it.
    fn is_wanted(&self, goal: usize) -> bool {
        /// The maximal number of runs that are repeated for a goal, and do not cover it.
        const MOST: u8 = 30;
        match self.status[goal] {
            Status::Covered => false,
            Status::Beyond => self.undetermined.get(goal).is_none_or(|&runs| runs < MOST),
            Status::Open | Status::NullAllocation | Status::Unreachable(_) => true,
        }
    }

    fn is_new(&self, covers: &[u32]) -> bool {
        covers.iter().any(|&i| self.status[i as usize] != Status::Covered)
    }

    /// Drops tests whose goals other tests cover, earlier tests first: the later tests were generated for certain
    /// goals. At least one test remains.
    pub fn drop_superfluous(&mut self) {
        let status = &self.status;
        let purpose = |test: &Test| {
            let reached = test.reaches.iter().filter(|&&i| status[i as usize] == Status::Beyond);
            test.covers.iter().chain(reached).map(|&i| i as usize).collect::<Vec<_>>()
        };
        let mut times = vec![0u32; status.len()];
        self.tests.iter().flat_map(purpose).for_each(|i| times[i] += 1);
        let mut left = self.tests.len();
        self.tests.retain(|test| {
            let goals = purpose(test);
            let superfluous = left > 1 && goals.iter().all(|&i| times[i] > 1);
            if superfluous {
                left -= 1;
                goals.into_iter().for_each(|i| times[i] -= 1);
            }
            !superfluous
        });
    }
}

/// Returns the indices of the goals that a run covers.
fn covered(goals: &[EdgeId], run: &Executed) -> Vec<u32> {
    (0..goals.len()).filter(|&i| run.counts[goals[i].index()] > 0).map(|i| i as u32).collect()
}

/// The search for tests of one program.
pub struct TestSearch<'a> {
    /// The program to cover.
    pub program: &'a Program,
    /// The edges to cover.
    pub goals: &'a [EdgeId],
    /// The configuration of the analyses.
    pub config: Config,
    /// The limits of the whole search.
    pub budget: Budget,
    /// The results. Another thread reports them when the time is up.
    pub found: &'a Mutex<SearchResults>,
    /// The number of runs after which the search ends.
    pub most_runs: usize,
    /// The kind of inputs that the tests give to the program.
    pub form: Form<'a>,
}

/// The kind of inputs that tests give to a program.
pub enum Form<'a> {
    /// Values of the `__VERIFIER_nondet_*` functions.
    Values,
    /// The inputs that the operating system gives to a process.
    Process(Box<Processes<'a>>),
    /// The arguments of a function, and everything else that a harness gives.
    Call,
}

/// The search among the inputs of processes.
pub struct Processes<'a> {
    /// Runs the program on the inputs of a process.
    pub replayer: Replayer<'a>,
    /// Creates new processes by mutation of those that were run.
    mutator: Mutex<Mutator>,
    /// The frontier, with the number of its goals.
    frontier: Mutex<Option<(usize, Arc<Frontier>)>>,
}

impl<'a> Processes<'a> {
    /// Prepares a search that starts with these processes. Equal seeds of random numbers make equal processes.
    pub fn new(program: &'a Program, seed: u64, start: Vec<Process>) -> Self {
        let mutator = Mutex::new(Mutator::new(program, seed, start));
        Self { replayer: Replayer::new(program), mutator, frontier: Mutex::default() }
    }

    fn mutator(&self) -> MutexGuard<'_, Mutator> {
        self.mutator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows the path of a process that was run, and queues its children.
    fn follow(&self, generations: &mut Generations<'_>, budget: &Budget) {
        let mut mutator = self.mutator();
        let Some(process) = mutator.next_to_follow() else { return };
        let is_reached = mutator.reached();
        drop(mutator);
        let children = generations.children(&self.replayer, &process, &is_reached, budget);
        self.mutator().put_first(children);
    }

    /// Returns the frontier of the goals that no test covers and no analysis has proved unreachable.
    fn frontier(&self, search: &TestSearch<'_>) -> Arc<Frontier> {
        let mut known = self.frontier.lock().unwrap_or_else(PoisonError::into_inner);
        let found = search.found();
        let is_open = |goal: usize| found.status[goal].is_open();
        // A decided goal does not become open again, so an equal number means equal goals.
        let count = (0..found.status.len()).filter(|&goal| is_open(goal)).count();
        if let Some((of, frontier)) = &*known
            && *of == count
        {
            return frontier.clone();
        }
        self.mutator().retain_goals(|goal| is_open(goal as usize));
        let frontier = Arc::new(Frontier::new(search.program, search.goals, is_open));
        *known = Some((count, frontier.clone()));
        frontier
    }
}

/// The maximal time for reducing the size of tests.
const SHRINKING: Duration = Duration::from_secs(2);
/// The time of abstract interpretation: a divisor `n` (it gets the n-th part of the remaining time), and the maximum.
const STATIC: (u32, Duration) = (6, Duration::from_secs(10));
/// The time of the first runs of mutated processes: a divisor `n` (they get the n-th part of the remaining time), and
/// the minimum.
const MUTATING: (u32, Duration) = (2, Duration::from_secs(1));
/// The part of the first mutation that comes before abstract interpretation: a divisor.
const EARLY: u32 = 5;
/// The part of the time that the first analyses have at least, even if mutation still covers goals: a divisor.
const ANALYSING: u32 = 5;
/// The number of consecutive single goals without a decision after which quick proofs end.
const MOST_UNDECIDED: u32 = 5;
/// The number of consecutive mutated processes without progress after which mutation stops and the analyses continue.
const FRUITLESS: u32 = 10_000;
/// The time of quick proofs of single goals: a divisor `n` (they get the n-th part of the remaining time), and the
/// maximum of one.
const SINGLY: (u32, Duration) = (3, Duration::from_millis(400));
/// The largest part of the time of mutation for following paths: a divisor.
const FOLLOWING: u32 = 2;
/// The number of processes that miss the goal of an analysis after which the goal counts as beyond tests.
const MISSES: u32 = 3;

impl TestSearch<'_> {
    /// Runs the whole search: random runs or runs of mutated processes, rounds for all goals, then rounds for single goals.
    /// Ends when no goal is open, the budget is spent, `most_runs` is reached, or the longest turns decide nothing.
    pub fn run(self) {
        let whole = self.budget.clone();
        let part = match (&self.form, whole.remaining()) {
            (Form::Process(_), Some(left)) => {
                let spared = (left / 10).min(SHRINKING);
                let mut part = whole.clone();
                part.deadline = part.deadline.and_then(|deadline| deadline.checked_sub(spared));
                part.exerting(left - spared)
            }
            _ => whole.clone(),
        };
        let search = Self { budget: part, ..self };
        search.search();
        let search = Self { budget: whole, ..search };
        if let Form::Process(processes) = &search.form {
            search.shrink(processes);
        }
    }

    fn search(&self) {
        self.found().status = vec![Status::Open; self.goals.len()];
        // The analysis that the user chose, or the default analysis, which is the best one for proofs.
        let asked = Some(self.config.analysis).filter(|&a| a != Analysis::Default);
        let proving = asked.unwrap_or(Analysis::Default);
        let interpreter = Interpreter::new(self.program);
        let mut generations = Generations::new(self.program);
        match &self.form {
            Form::Values | Form::Call => self.random(&interpreter),
            Form::Process(processes) => {
                let (part, least) = MUTATING;
                let turn = self.budget.remaining().map_or(8 * least, |left| (left / part).max(least));
                let spared = self.budget.remaining().map_or(Duration::ZERO, |left| left / ANALYSING);
                let first = turn / EARLY;
                self.mutate(processes, &mut generations, first);
                // The search is not led to goals that are proved unreachable.
                self.prove_statically();
                self.mutate(processes, &mut generations, turn - first);
                self.mutate_on(processes, &mut generations, spared);
            }
        }
        if !matches!(self.form, Form::Process(_)) {
            self.prove_statically();
        }
        if let Form::Process(_) = self.form {
            self.prove_singly(&interpreter, proving);
            self.mark_null_allocations();
        }
        let mut turn = TURN;
        // Rounds for all goals at once, as long as they decide some.
        while !self.is_over() && turn <= 4 * TURN {
            let open = self.found().open();
            self.round(&interpreter, &open, asked.unwrap_or(Analysis::Symex), turn, true);
            if let Form::Process(processes) = &self.form {
                self.mutate(processes, &mut generations, turn);
                self.mutate_on(processes, &mut generations, turn);
            }
            if self.found().open().len() == open.len() {
                turn *= 2;
            }
        }
        // The remaining goals may all be unreachable.
        while !self.is_over() {
            let open = self.found().open();
            let turn = self.budget.remaining().map_or(8 * TURN, |left| left / 4);
            self.round(&interpreter, &open, proving, turn, false);
            if self.found().open().len() == open.len() {
                break;
            }
        }
        // Single goals, in growing time slices.
        let mut turn = TURN;
        while !self.is_over() && turn < DAY {
            // A slice of all the time that is left decides a goal, or no longer slice does.
            let is_last = self.budget.remaining().is_some_and(|left| turn >= left);
            let open = self.found().open();
            for goal in open {
                if self.budget.spent().is_some() {
                    return;
                }
                if self.found().status[goal] == Status::Open {
                    self.round(&interpreter, &[goal], proving, turn, false);
                    if let Form::Process(processes) = &self.form {
                        self.mutate(processes, &mut generations, turn / 2);
                    }
                }
            }
            if is_last {
                break;
            }
            turn *= 3;
        }
    }

    /// Searches for quick proofs and tests of single goals: of those first whose branches runs have reached.
    fn prove_singly(&self, interpreter: &Interpreter<'_>, analysis: Analysis) {
        let (part, turn) = SINGLY;
        let budget = self.budget.remaining().map_or(self.budget.clone(), |left| self.budget.exerting(left / part));
        let mut open = self.found().open();
        let Form::Process(processes) = &self.form else { return };
        let is_reached = processes.mutator().reached();
        let misses_branch = |goal: usize| {
            let source = self.program.edges[self.goals[goal]].source;
            !self.program.out_edges(source).any(|edge| is_reached[edge.index()])
        };
        open.sort_by_key(|&goal| misses_branch(goal));
        let mut undecided = 0;
        for goal in open {
            if budget.spent().is_some() || self.is_over() || undecided == MOST_UNDECIDED {
                return;
            }
            if self.found().status[goal] == Status::Open {
                let before = self.found().open().len();
                self.round(interpreter, &[goal], analysis, turn, false);
                undecided = if self.found().open().len() == before { undecided + 1 } else { 0 };
            }
        }
    }

    /// Generates tests without proofs: random runs if `at_random` is set, then rounds of `turn` each. Random runs are
    /// the same in each call.
    pub fn test(&self, turn: Duration, at_random: bool) {
        self.found().status = vec![Status::Open; self.goals.len()];
        let interpreter = Interpreter::new(self.program);
        if at_random {
            self.random(&interpreter);
        }
        // A round ends when its executions cover nothing new. The next round searches for the remaining goals.
        while !self.is_over() {
            let open = self.found().open();
            self.round(&interpreter, &open, Analysis::Symex, turn, true);
            if self.found().open().len() == open.len() {
                break;
            }
        }
    }

    /// Searches for proofs: one round for all open goals, then one round for each goal that remains open. The first
    /// round has half of `turn`. The other rounds share the other half, but each has at least half a second.
    pub fn verify(&self, turn: Duration) {
        self.found().status = vec![Status::Open; self.goals.len()];
        let interpreter = Interpreter::new(self.program);
        let open = self.found().open();
        if !open.is_empty() {
            self.round(&interpreter, &open, self.config.analysis, turn / 2, false);
        }
        let each = turn / 2 / u32::try_from(open.len().max(1)).unwrap_or(u32::MAX);
        for goal in open {
            if self.budget.spent().is_none() && self.found().status[goal] == Status::Open {
                self.round(&interpreter, &[goal], self.config.analysis, each.max(Duration::from_millis(500)), false);
            }
        }
    }

    /// Queries an external verifier. It queries all open goals together as long as that decides some. It then queries
    /// the goals one by one, since the program of a single goal is smaller. `next` counts the queries for single
    /// goals, over all calls: the next call continues there. Returns the reason why the verifier did not decide more.
    pub fn ask(
        &self,
        tool: &Tool,
        (errors, memory): (&[String], u64),
        next: &mut usize,
        turn: Duration,
    ) -> Option<String> {
        self.found().status = vec![Status::Open; self.goals.len()];
        // Other processes do not spend the CPU time of this thread.
        let (all, budget) = (self.budget.within(turn / 2), self.budget.within(turn));
        let mut problem = None;
        while problem.is_none() && all.spent().is_none() {
            let open = self.found().open();
            if open.is_empty() {
                return None;
            }
            problem = self.ask_about(&open, tool, (errors, memory), &all).err();
        }
        let mut open = self.found().open();
        let begin = *next % open.len().max(1);
        open.rotate_left(begin);
        for (i, &goal) in open.iter().enumerate() {
            if budget.spent().is_some() {
                break;
            }
            *next += 1;
            if self.found().status[goal] != Status::Open {
                continue;
            }
            let left = budget.remaining().unwrap_or(turn) / u32::try_from(open.len() - i).unwrap_or(u32::MAX);
            let answer = self.ask_about(&[goal], tool, (errors, memory), &budget.within(left.max(ONE_GOAL)));
            problem = answer.err().or(problem);
        }
        problem
    }

    /// Queries the verifier whether an execution reaches one of these goals, and records the result. `Err` with the
    /// reason if no goal was decided.
    fn ask_about(
        &self,
        goals: &[usize],
        tool: &Tool,
        (errors, memory): (&[String], u64),
        budget: &Budget,
    ) -> Result<(), String> {
        let mut program = self.program.clone();
        instrument::cover(&mut program, &goals.iter().map(|&i| self.goals[i]).collect::<Vec<_>>());
        let task = Task { original: &program, error_functions: errors, budget, memory, replay: REPLAY.1 };
        match tool.verify(&program, &task).verdict {
            Verdict::True => {
                let mut found = self.found();
                goals.iter().for_each(|&i| found.status[i] = Status::Unreachable(tool.name));
                Ok(())
            }
            Verdict::False(violation) => {
                let interpreter = Interpreter::new(self.program);
                match self.try_inputs(&interpreter, &mut violation.inputs.source())? {
                    true => Ok(()),
                    false => Err(format!("{} has found nothing new", tool.name)),
                }
            }
            Verdict::Unknown(why) => Err(why.text),
        }
    }

    fn found(&self) -> std::sync::MutexGuard<'_, SearchResults> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        let found = self.found();
        found.runs >= self.most_runs || found.open().is_empty() || self.budget.spent().is_some()
    }

    /// Returns the number of consecutive runs without progress after which mutation ends. It is smaller if earlier runs
    /// have reached all goals, and some of them only with values that a test does not determine.
    fn most_fruitless(&self) -> u32 {
        let status = &self.found().status;
        if status.contains(&Status::Open) {
            FRUITLESS
        } else if status.iter().any(|status| status.is_open()) {
            FRUITLESS / 10
        } else {
            0
        }
    }

    /// Runs the program on the inputs and records the run. Returns true if it covers a new goal. `Err` with the reason
    /// if the run is not a valid test.
    fn try_inputs(&self, interpreter: &Interpreter<'_>, source: &mut dyn InputSource) -> Result<bool, String> {
        let is_endless = self.found().is_endless;
        let run = match self.form {
            Form::Call => execute_inputs(self.program, interpreter, source, is_endless, |counts| self.wants(counts))?,
            _ => execute(self.program, interpreter, source, is_endless)?,
        };
        let mut found = self.found();
        found.is_endless |= run.is_endless;
        found.runs += 1;
        Ok(found.take(self.goals, &run))
    }

    /// Returns true if a run with these numbers of executions may become a test.
    fn wants(&self, counts: &[u32]) -> bool {
        let found = self.found();
        let mut goals = self.goals.iter().enumerate();
        found.tests.is_empty() || goals.any(|(i, goal)| counts[goal.index()] > 0 && found.is_wanted(i))
    }

    /// Proves by abstract interpretation that goals are unreachable, unless the search is over.
    fn prove_statically(&self) {
        if self.is_over() {
            return;
        }
        let open = self.found().open();
        for goal in self.unreachable(&open, |_| ()) {
            let status = &mut self.found().status[goal];
            if *status == Status::Open {
                *status = Status::Unreachable("abstract interpretation");
            }
        }
    }

    /// Marks the open goals that only executions in which an allocation returns null reach.
    fn mark_null_allocations(&self) {
        let open = self.found().open();
        if open.is_empty() || !cfa::facts::allocates(self.program) {
            return;
        }
        for goal in self.unreachable(&open, goals::without_null_allocations) {
            let status = &mut self.found().status[goal];
            if *status == Status::Open {
                *status = Status::NullAllocation;
            }
        }
    }

    /// Returns those of the open goals that abstract interpretation proves unreachable in the program after a change.
    fn unreachable(&self, open: &[usize], change: impl Fn(&mut Program)) -> Vec<usize> {
        let budget =
            self.budget.exerting(self.budget.remaining().map_or(STATIC.1, |left| (left / STATIC.0).min(STATIC.1)));
        let mut program = self.program.clone();
        change(&mut program);
        // Returns a location that an execution reaches if and only if it reaches the goal. For a branch, this is a new
        // location after it. A call may not return, so its location is the source of the call.
        let behind = |program: &mut Program, goal: EdgeId| {
            if !matches!(program.edges[goal].op, Op::Assume { .. }) {
                return program.edges[goal].source;
            }
            let (func, target) = (program.func_of(goal), program.edges[goal].target);
            let behind = program.add_location(func);
            program.edges[goal].target = behind;
            program.add_edge(behind, Op::Skip, target, None);
            behind
        };
        let places: Vec<_> = open.iter().map(|&i| behind(&mut program, self.goals[i])).collect();
        // If the program calls unknown code, unreachability is not proved.
        let Some(found) = Discharged::compute(&program, &budget).filter(|found| found.unknown().is_empty()) else {
            return Vec::new();
        };
        let pairs = open.iter().copied().zip(places);
        pairs.filter(|(_, place)| !found.is_reachable(*place)).map(|(goal, _)| goal).collect()
    }

    /// Runs the program as a process with these inputs and records the run. Returns true if it covers a new goal. `Err`
    /// with the reason if the run is not a valid test.
    fn try_process(&self, processes: &Processes<'_>, process: &Process, steps: u64) -> Result<bool, String> {
        let execute = |guide: &mut Guide<'_>, wants: &dyn Fn(&[u32]) -> bool| {
            goals::execute_process(self.program, &processes.replayer, process, steps, Some(guide), wants)
        };
        let frontier = processes.frontier(self);
        let mut guide = Guide::new(self.program, self.goals, &frontier, false);
        let (run, wanted) = execute(&mut guide, &|counts| self.wants(counts))?;
        let is_covering = {
            let mut found = self.found();
            found.runs += 1;
            found.take(self.goals, &run)
        };
        let new_edges = processes.mutator().new_edges(&run.here);
        if !new_edges.is_empty()
            && !run.is_endless
            && let Some(less) = self.trim(processes, process, &new_edges)
        {
            return Ok(self.try_process(processes, &less, steps)? | is_covering);
        }
        let novelty = processes.mutator().learn(process, &run.here, &wanted, guide.nearest);
        if novelty > Novelty::Nothing && !run.is_endless {
            let frontier = processes.frontier(self);
            let mut guide = Guide::new(self.program, self.goals, &frontier, true);
            let _ = execute(&mut guide, &|_| false);
            let mut mutator = processes.mutator();
            let Compared { texts, numbers } = guide.compared.unwrap_or_default();
            mutator.replace(process, novelty, &texts, Source::Text);
            mutator.replace(process, novelty, &numbers, Source::Number);
            mutator.learn_options(process, guide.options);
        }
        Ok(is_covering)
    }

    /// Returns a smaller process whose run takes all of these edges. `None` if no such process is found.
    fn trim(&self, processes: &Processes<'_>, process: &Process, edges: &[EdgeId]) -> Option<Process> {
        /// The maximal number of runs.
        const MOST: usize = 40;
        let mut smallest = None;
        // Larger parts come first. After one was removed, no larger ones are tried again.
        let (mut candidates, mut next) = (smaller(process), 0);
        for _ in 0..MOST {
            let Some(less) = candidates.get(next).filter(|_| self.budget.spent().is_none()) else { break };
            let run = goals::execute_process(self.program, &processes.replayer, less, goals::ENDLESS, None, |_| false);
            if run.is_ok_and(|(run, _)| edges.iter().all(|edge| run.here[edge.index()] > 0)) {
                smallest = Some(less.clone());
                candidates = smaller(less);
            } else {
                next += 1;
            }
        }
        smallest
    }

    /// Reduces the size of each test, as long as it still covers the goals that no other test covers.
    fn shrink(&self, processes: &Processes<'_>) {
        /// The maximal number of runs for one test.
        const MOST: usize = 300;
        let budget = self.budget.exerting(SHRINKING);
        self.found().drop_superfluous();
        let count = self.found().tests.len();
        for n in 0..count {
            let (mut test, mut others, beyond) = {
                let found = self.found();
                let others = || found.tests.iter().enumerate().filter(|(i, _)| *i != n).map(|(_, test)| test);
                let reached: FxHashSet<u32> = others().flat_map(|test| &test.reaches).copied().collect();
                let test = found.tests[n].clone();
                let is_own = |&goal: &u32| found.status[goal as usize] == Status::Beyond && !reached.contains(&goal);
                let beyond: Vec<u32> = test.reaches.iter().copied().filter(is_own).collect();
                (test, others().flat_map(|test| &test.covers).copied().collect::<FxHashSet<u32>>(), beyond)
            };
            others.retain(|goal| test.covers.contains(goal));
            let mut own: Vec<u32> = test.covers.iter().copied().filter(|goal| !others.contains(goal)).collect();
            let mut runs = 0;
            'smaller: while let Given::Process { process, .. } = &test.given {
                for less in smaller(process) {
                    if runs == MOST || budget.spent().is_some() {
                        break 'smaller;
                    }
                    runs += 1;
                    let run =
                        goals::execute_process(self.program, &processes.replayer, &less, goals::STEPS, None, |_| true);
                    let Ok((run, _)) = run else { continue };
                    let covers = covered(self.goals, &run);
                    let mut found = self.found();
                    let is_reached = |goal: &u32| run.here[self.goals[*goal as usize].index()] > 0;
                    if own.iter().all(|goal| covers.contains(goal)) && beyond.iter().all(is_reached) {
                        test.reaches = found.reached_by(self.goals, &run);
                        for &goal in &covers {
                            if found.status[goal as usize] != Status::Covered {
                                found.status[goal as usize] = Status::Covered;
                                own.push(goal);
                            }
                        }
                        (test.given, test.covers) = (run.given, covers);
                        continue 'smaller;
                    }
                    // A smaller process may reach goals that are open.
                    if found.is_new(&covers) {
                        found.take(self.goals, &run);
                    }
                }
                break;
            }
            self.found().tests[n] = test;
        }
        // Recompute the counts for the reduced tests.
        let tests = self.found().tests.clone();
        let mut counts = vec![0; self.program.edges.len()];
        for test in &tests {
            let Given::Process { process, .. } = &test.given else { continue };
            let run = goals::execute_process(self.program, &processes.replayer, process, goals::STEPS, None, |_| true);
            if let Ok((run, _)) = run {
                counts.iter_mut().zip(&run.counts).for_each(|(sum, &n)| *sum += u64::from(n));
            }
        }
        self.found().counts = counts;
    }

    /// Runs mutated processes for at most `turn`, or until [`most_fruitless`](Self::most_fruitless) consecutive ones bring
    /// no progress.
    fn mutate(&self, processes: &Processes<'_>, generations: &mut Generations<'_>, turn: Duration) {
        let budget = self.budget.exerting(turn);
        let mut fruitless = 0;
        let begin = worked().saturating_sub(generations.time() * FOLLOWING);
        while fruitless < self.most_fruitless() && budget.spent().is_none() && self.found().runs < self.most_runs {
            if generations.time() * FOLLOWING <= worked().saturating_sub(begin) {
                processes.follow(generations, &budget);
            }
            let (process, progress) = {
                let mut mutator = processes.mutator();
                (mutator.next_process(), mutator.progress())
            };
            if let Err(why) = self.try_process(processes, &process, goals::ENDLESS) {
                let mut found = self.found();
                if found.tests.is_empty() {
                    found.problem.get_or_insert(why);
                }
            }
            let is_new = processes.mutator().progress() > progress;
            fruitless = if is_new { 0 } else { fruitless + 1 };
        }
    }

    /// Runs mutated processes, in slices of [`TURN`], as long as each slice covers open goals. Leaves `spared` of the time.
    fn mutate_on(&self, processes: &Processes<'_>, generations: &mut Generations<'_>, spared: Duration) {
        loop {
            let is_late = self.budget.remaining().is_some_and(|left| left < spared + TURN);
            let before = self.found().open().len();
            if is_late || self.is_over() {
                return;
            }
            self.mutate(processes, generations, TURN);
            if self.found().open().len() == before {
                return;
            }
        }
    }

    fn random(&self, interpreter: &Interpreter<'_>) {
        let budget = self.budget.exerting(RANDOM);
        // The run on zeros comes first. It becomes a test even if it covers no goal.
        if let Err(why) = self.try_inputs(interpreter, &mut Inputs::default().source()) {
            self.found().problem = Some(why);
        }
        let random = engine::algorithm::random::RandomInputs::new(self.program, self.config.seed);
        let (mut useless, mut number) = (0, 0);
        while useless < USELESS && budget.spent().is_none() && !self.is_over() {
            let is_new = self.try_inputs(interpreter, &mut random.run(number)).unwrap_or(false);
            useless = if is_new { 0 } else { useless + 1 };
            number += 1;
        }
    }

    /// Runs an analysis that searches for executions of these goals, for at most `turn` of CPU time. If `arranges` is
    /// set, it searches only among the executions that tests can arrange, and proves nothing.
    fn round(
        &self,
        interpreter: &Interpreter<'_>,
        goals: &[usize],
        analysis: Analysis,
        turn: Duration,
        arranges: bool,
    ) {
        let mut program = self.program.clone();
        let is_restricted = arranges && matches!(self.form, Form::Process(_));
        if is_restricted {
            goals::without_failures(&mut program);
        }
        let edges: Vec<EdgeId> = goals.iter().map(|&i| self.goals[i]).collect();
        let errors = instrument::cover(&mut program, &edges);
        let goal_of = |error: ErrorId| goals[errors.iter().position(|&e| e == error).expect("an error of ours")];
        let criteria: Vec<EdgeId> =
            program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Error(_))).map(|(id, _)| id).collect();
        let options = slicer::Options { deadline: Some(Instant::now() + SLICING), ..slicer::Options::default() };
        let slice = slicer::slice(&program, &criteria, &options).ok();
        let budget = self.budget.exerting(turn);
        let limits = || {
            let (least, most) = REPLAY;
            engine::replay_limits(budget.remaining().map_or(most, |left| left.clamp(least, most)))
        };
        let stale = Mutex::new(0u32);
        let misses: Mutex<FxHashMap<usize, u32>> = Mutex::default();
        let replay = |inputs: &Inputs, error: ErrorId| {
            let inputs = match &slice {
                Some(slice) => slice.inputs_of_original(&program, inputs, limits()),
                None => inputs.clone(),
            };
            let new = match &self.form {
                Form::Values | Form::Call => self.try_inputs(interpreter, &mut inputs.source())?,
                Form::Process(processes) => {
                    let trace = driver::trace::given(self.program, &inputs, &Sources::new(), limits());
                    let process = Process::from_environment(&trace.environment);
                    let tried = self.try_process(processes, &process, goals::STEPS);
                    let mut misses = misses.lock().unwrap_or_else(PoisonError::into_inner);
                    let mut found = self.found();
                    let status = &mut found.status[goal_of(error)];
                    if *status == Status::Open {
                        let misses = misses.entry(goal_of(error)).or_insert(0);
                        *misses += 1;
                        if *misses >= MISSES {
                            *status = Status::Beyond;
                        }
                    }
                    tried?
                }
            };
            if !matches!(self.found().status[goal_of(error)], Status::Covered | Status::Beyond) {
                return Err("the run takes another way".into());
            }
            let mut stale = stale.lock().unwrap_or_else(PoisonError::into_inner);
            *stale = if new { 0 } else { *stale + 1 };
            // The goal is covered. The analysis continues on other paths, unless these only lead to covered goals.
            let found = self.found();
            if *stale < STALE && found.runs < self.most_runs && goals.iter().any(|&i| found.status[i] == Status::Open) {
                return Err("covered".into());
            }
            Ok((inputs, Vec::new()))
        };
        let analysed = slice.as_ref().map_or(&program, |s| &s.program);
        let lacks_frees = slice.as_ref().is_some_and(|slice| slice.lacks_frees(&program));
        let config = Config { analysis, lacks_frees, ..self.config.clone() };
        let outcome = engine::verify(analysed, &config, &budget, &replay, &|_| {});
        if matches!(outcome.verdict, Verdict::True) && !is_restricted {
            let mut found = self.found();
            for &i in goals {
                // A goal that a test covers is reachable, even if an analysis reports a proof.
                if found.status[i] == Status::Open {
                    found.status[i] = Status::Unreachable(outcome.decided_by.name());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_cover_is_dropped() {
        let test = |covers: &[u32]| Test {
            given: Given::Values(Vec::new()),
            covers: covers.to_vec(),
            reaches: Vec::new(),
            by: "",
        };
        let mut found = SearchResults { status: vec![Status::Covered; 4], ..SearchResults::default() };
        found.tests = vec![test(&[0, 1]), test(&[2]), test(&[1, 2]), test(&[0, 3])];
        found.drop_superfluous();
        let left: Vec<_> = found.tests.iter().map(|t| t.covers.clone()).collect();
        assert_eq!(left, [vec![1, 2], vec![0, 3]]);
        // A native run of the first test may cover a goal that no test covers.
        found.tests =
            vec![Test { reaches: vec![4], ..test(&[0]) }, Test { reaches: vec![1], ..test(&[0]) }, test(&[0, 1])];
        found.status.push(Status::Beyond);
        found.drop_superfluous();
        assert_eq!(found.tests.iter().map(|test| test.covers.len()).collect::<Vec<_>>(), [1, 2]);
    }

    /// The limit on runs, which the tester of a cooperation has, counts random runs and the runs of rounds.
    #[test]
    fn a_search_ends_after_so_many_runs() {
        let text = "program 64 entry f0
            type ty0 int \"int\" 32 signed
            input in0 nondet \"__VERIFIER_nondet_int\" ty0 32
            func f0 \"main\" source ty0 32 () entry l0 {
              local v0 \"x\" ty0 32
              l0: t0: v0 := havoc in0 -> l1
              l1: t1: if (v0 == 123456:32) -> l2
                  t2: else ~(v0 == 123456:32) -> l2
              l2: t3: if (v0 == 123457:32) -> l3
                  t4: else ~(v0 == 123457:32) -> l3
              l3: t5: halt exit 0:32 -> l4
              l4:
            }";
        let program = cfa::text::parse(text).unwrap();
        let goals: Vec<EdgeId> = [1, 2, 3, 4].map(EdgeId).into();
        let search = |most_runs| {
            let found = Mutex::new(SearchResults::default());
            let (config, budget) = (Config::default(), Budget::unlimited());
            let search = TestSearch {
                program: &program,
                goals: &goals,
                config,
                budget,
                found: &found,
                most_runs,
                form: Form::Values,
            };
            search.test(Duration::from_secs(60), true);
            let found = found.into_inner().unwrap();
            (found.runs, found.tests.len())
        };
        assert_eq!(search(1), (1, 1));
        // With one run less, the goal that only the last run covers is not reached.
        let (runs, tests) = search(usize::MAX);
        assert_eq!(tests, 3);
        assert_eq!(search(runs), (runs, 3));
        assert_eq!(search(runs - 1), (runs - 1, 2));
    }

    #[test]
    fn one_test_is_always_left() {
        let only = Test { given: Given::Values(Vec::new()), covers: Vec::new(), reaches: Vec::new(), by: "" };
        let mut found = SearchResults { tests: vec![only], ..SearchResults::default() };
        found.drop_superfluous();
        assert_eq!(found.tests.len(), 1);
    }
}
