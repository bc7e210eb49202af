//! Cooperative test generation (CoTest: Haltermann, Wehrheim: Exchanging information in cooperative software
//! validation, sections 6 to 8, Fig. 13). A tester finds paths to goals. A verifier proves that goals are unreachable.
//! They exchange one generalized information exchange automaton (GIA). Each works on the program without the paths
//! that are known to be unreachable. Its results are combined with the GIA. The suite consists of the paths to
//! reachable goals in the GIA.

use super::goals::{ENDLESS, execute};
use super::search::{Form, Import, SearchResults, Status, TestSearch};
use crate::test_format::imported::{Given, Imported, bytes};
use crate::testgen::tester::Tester;
use cfa::interp::{Inputs, Interpreter, Outcome};
use cfa::{EdgeId, Program};
use cooperate::gia::{self, Gia, Recording, Removed, Says};
use cooperate::reduce::Reducer;
use driver::external::Tool;
use engine::Config;
use engine::budget::Budget;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The first time slice of the own tester. An iteration without a result doubles all time slices.
const TESTER: Duration = Duration::from_millis(500);
/// The first time slice of the own verifier.
const VERIFIER: Duration = Duration::from_millis(500);
/// The first time slice of an external tester or verifier, which has to compile the program first.
const OTHER: Duration = Duration::from_secs(5);
/// The maximal number of inputs that the own tester runs in one time slice, as in the paper.
const MOST_TESTS: usize = 100;
/// The factor of the time slices at which an iteration without a result ends the cooperation.
const MOST: u32 = 256;
/// The maximal length of a run, in edges, that the GIA records edge by edge. For longer runs, it records the inputs up
/// to the last goal that the run reaches for the first time.
const LONG: usize = 300;
/// The maximal time of the run of one test.
const RUN: Duration = Duration::from_secs(2);

/// The parties and the limits of cooperative test generation.
pub struct Setup<'a> {
    /// The program to cover. The expressions of the GIA are added to it.
    pub program: Program,
    /// The edges to cover.
    pub goals: &'a [EdgeId],
    /// The configuration of the own analyses.
    pub config: Config,
    /// The limits of the whole cooperation.
    pub budget: Budget,
    /// The results. Another thread reports them when the time is up.
    pub found: &'a Mutex<SearchResults>,
    /// A function that receives the GIA after each time slice.
    pub tell: &'a dyn Fn(&Gia, &mut Program),
    /// The external tester, in place of the own one.
    pub tester: Option<Outside<'a>>,
    /// An external verifier, in addition to the own one.
    pub verifier: Option<Verifier<'a>>,
}

/// A run of cooperative test generation.
pub struct CoTest<'a> {
    setup: Setup<'a>,
    /// The common knowledge about the paths of the program.
    gia: Gia,
    /// The name of the verifier that proved a goal unreachable, by goal index.
    proved_by: FxHashMap<usize, &'static str>,
    /// True if a run did not end within its limits. Later runs then get smaller limits.
    is_endless: bool,
}

/// An external verifier.
pub struct Verifier<'a> {
    /// The verifier and how to call it.
    pub tool: &'a Tool,
    /// The functions whose call is an error.
    pub errors: &'a [String],
    /// The memory limit in bytes.
    pub memory: u64,
    /// The number of queries for single goals so far.
    pub next: usize,
    /// The reason why the last query did not decide more.
    pub problem: Option<String>,
}

/// An external tester.
pub struct Outside<'a> {
    /// The tester and how to call it.
    pub tester: &'a Tester,
    /// The functions whose call is an error.
    pub errors: &'a [String],
    /// The memory limit in bytes.
    pub memory: u64,
    /// The results of the tester.
    pub report: Import,
}

impl<'a> CoTest<'a> {
    /// A run at its start, at which nothing is known.
    pub fn new(setup: Setup<'a>) -> Self {
        Self { setup, gia: Gia::nothing(), proved_by: FxHashMap::default(), is_endless: false }
    }

    /// Alternates between tester and verifiers until all goals are decided, the budget is spent, or even the longest
    /// time slices bring no result.
    pub fn run(&mut self) {
        self.publish();
        let known = self.gia.tests(&self.setup.program);
        self.cover(&known);
        let (mut turns, mut is_first) = (1, true);
        loop {
            let before = self.open().len();
            if self.setup.tester.is_some() {
                self.import(OTHER * turns);
            } else {
                self.iteration("the tester", TESTER * turns, |search, turn| {
                    TestSearch { most_runs: MOST_TESTS, ..search }.test(turn, is_first);
                });
                is_first = false;
            }
            if self.is_over() {
                break;
            }
            self.iteration("the verifier", VERIFIER * turns, |search, turn| search.verify(turn));
            if self.is_over() {
                break;
            }
            if let Some(mut verifier) = self.setup.verifier.take() {
                let Verifier { tool, errors, memory, ref mut next, ref mut problem } = verifier;
                self.iteration(tool.name, OTHER * turns, |search, turn| {
                    *problem = search.ask(tool, (errors, memory), next, turn);
                });
                self.setup.verifier = Some(verifier);
                self.publish();
                if self.is_over() {
                    break;
                }
            }
            if self.open().len() == before {
                if turns >= MOST {
                    break;
                }
                turns *= 2;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.setup.budget.spent().is_some() || self.open().is_empty()
    }

    fn found(&self) -> std::sync::MutexGuard<'_, SearchResults> {
        self.setup.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> Vec<usize> {
        let found = self.found();
        (0..self.setup.goals.len()).filter(|&i| found.status[i] == Status::Open).collect()
    }

    /// Runs `work` on the residual program for at most `turn`, and adds its results to the GIA. `who` is the name for
    /// its tests.
    fn iteration(&mut self, who: &'static str, turn: Duration, work: impl FnOnce(TestSearch, Duration)) {
        self.found().by = who;
        // An eighth of the remaining time is reserved for recording the results.
        let turn = self.setup.budget.remaining().map_or(turn, |left| turn.min(left / 8 * 7));
        let Ok(rest) = gia::reduce(&mut self.setup.program, &self.gia, Removed::Unreachable, Reducer::Locations) else {
            return;
        };
        // The goals in the residual program, and the indices of the same goals in the original program.
        let open = self.open();
        let number_of: FxHashMap<EdgeId, usize> = open.iter().map(|&i| (self.setup.goals[i], i)).collect();
        let (mut goals, mut numbers) = (Vec::new(), Vec::new());
        for (new, old) in rest.left() {
            if let Some(&number) = number_of.get(&old) {
                goals.push(new);
                numbers.push(number);
            }
        }
        let mut results = SearchResults::default();
        results.is_endless = self.is_endless;
        let local = Mutex::new(results);
        let search = TestSearch {
            program: &rest.program,
            goals: &goals,
            config: self.setup.config.clone(),
            budget: self.setup.budget.exerting(turn),
            found: &local,
            most_runs: usize::MAX,
            form: Form::Values,
        };
        work(search, turn);
        let local = local.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.is_endless |= local.is_endless;
        let tests: Vec<Imported> = local.tests.iter().map(|test| Imported::from_values(test.given.values())).collect();
        self.add_tests(&tests);
        // A goal is unreachable only if all its copies in the residual program are unreachable.
        let mut reachable = FxHashSet::default();
        for (number, status) in numbers.iter().zip(&local.status) {
            match status {
                Status::Unreachable(by) => _ = self.proved_by.insert(*number, *by),
                _ => _ = reachable.insert(*number),
            }
        }
        let unreachable: Vec<usize> = open.iter().copied().filter(|i| !reachable.contains(i)).collect();
        let never: Vec<EdgeId> = unreachable.iter().map(|&i| self.setup.goals[i]).collect();
        if !never.is_empty()
            && let Ok(combined) = gia::combine(&self.gia, &Gia::never(never), &self.setup.program)
        {
            self.gia = combined;
        }
        self.publish();
    }

    /// Runs the external tester on the residual program, and adds those of its tests that cover more when they are run
    /// here.
    fn import(&mut self, turn: Duration) {
        let Ok(rest) = gia::reduce(&mut self.setup.program, &self.gia, Removed::Unreachable, Reducer::Locations) else {
            return;
        };
        let seeds: Vec<Vec<u8>> =
            self.gia.tests(&self.setup.program).iter().map(|test| bytes(&self.setup.program, test)).collect();
        let Some(outside) = &mut self.setup.tester else { return };
        let budget = self.setup.budget.within(turn);
        outside.report.runs += 1;
        self.setup.found.lock().unwrap_or_else(PoisonError::into_inner).by = outside.tester.name;
        let tests = outside.tester.tests(&rest.program, outside.errors, &seeds, (&budget, outside.memory));
        outside.report.problem = tests.as_ref().err().map(|why| format!("{why:#}"));
        let tests = tests.unwrap_or_default();
        let useful = self.add_tests(&tests);
        if let Some(outside) = &mut self.setup.tester {
            outside.report.read += tests.len();
            outside.report.useful += useful;
        }
        self.publish();
    }

    /// Adds the paths of those tests that cover open goals. Returns the number of these tests; 0 if the GIA
    /// contradicts them.
    fn add_tests(&mut self, tests: &[Imported]) -> usize {
        let (mut told, mut runs) = (Gia::nothing(), Gia::nothing());
        let paths = self.reachable(tests);
        self.cover(&paths);
        for path in &paths {
            let mut path = path.clone();
            path.values.retain(|&(at, ..)| at < path.path.len());
            if path.path.len() > LONG {
                runs.add_run(&path, &mut self.setup.program);
                continue;
            }
            let path = path.annotated(&mut self.setup.program);
            told.add_path(&path, Says::Reachable, &self.setup.program);
        }
        for news in [told, runs] {
            // A verifier and a tester that contradict each other would be a defect. The coverage of the run remains
            // recorded.
            let Ok(combined) = gia::combine(&self.gia, &news, &self.setup.program) else { return 0 };
            self.gia = combined;
        }
        paths.len()
    }

    /// Records the goals that the runs of these paths cover.
    fn cover(&self, paths: &[gia::Test]) {
        let interpreter = Interpreter::new(&self.setup.program);
        for path in paths {
            let inputs =
                Inputs { values: path.values.iter().map(|(_, _, v)| v.clone()).collect(), ..Inputs::default() };
            if let Ok(run) = execute(&self.setup.program, &interpreter, &mut inputs.source(), self.is_endless) {
                self.found().take(self.setup.goals, &run);
            }
        }
    }

    /// Runs tests on the program and returns the inputs and paths of those that reach open goals. The path is complete
    /// if the run ends and the path has at most [`LONG`] edges. Otherwise, the path ends at the last open goal that it
    /// reaches.
    fn reachable(&self, tests: &[Imported]) -> Vec<gia::Test> {
        let interpreter = Interpreter::new(&self.setup.program);
        let mut open: FxHashSet<EdgeId> = self.open().into_iter().map(|i| self.setup.goals[i]).collect();
        let mut paths = Vec::new();
        for test in tests {
            if open.is_empty() || self.setup.budget.spent().is_some() {
                break;
            }
            let mut recording = Recording::default();
            let mut given = Given::new(&self.setup.program, test);
            let mut limits = engine::replay_limits(RUN);
            if self.is_endless {
                limits.steps = ENDLESS;
            }
            let run = interpreter.run(&mut given, limits, &mut recording);
            if given.wrong.is_some() || run.taints.iter().any(|&t| self.setup.program.taints[t].over) {
                continue;
            }
            let mut path = recording.test;
            // The last open goal that the run reaches for the first time: a loop may reach the same goals again and
            // again.
            let news = path.path.iter().enumerate().filter(|(_, e)| open.remove(e));
            let Some((last, _)) = news.last() else { continue };
            let is_cut = matches!(run.outcome, Outcome::Limit(_));
            if is_cut {
                path.values.retain(|&(at, ..)| at <= last);
            }
            if is_cut || path.path.len() > LONG {
                path.path.truncate(last + 1);
            }
            paths.push(path);
        }
        paths
    }

    /// Records the goals that the GIA proves unreachable, and passes the GIA to the caller's function.
    fn publish(&mut self) {
        // The status is cloned, not taken: when the time is up, another thread reads it at any moment.
        let mut status = self.found().status.clone();
        status.resize(self.setup.goals.len(), Status::Open);
        if let Ok(rest) = gia::reduce(&mut self.setup.program, &self.gia, Removed::Unreachable, Reducer::Locations)
            && self.gia.has(Says::Unreachable)
        {
            let left: FxHashSet<EdgeId> = rest.left().into_iter().map(|(_, old)| old).collect();
            for (i, goal) in self.setup.goals.iter().enumerate() {
                if !left.contains(goal) && status[i] == Status::Open {
                    // If the proof of another goal implies this one, one of the verifiers is named.
                    let by = self.proved_by.get(&i).or(self.proved_by.values().next());
                    status[i] = Status::Unreachable(by.copied().unwrap_or("default"));
                }
            }
        }
        let mut found = self.found();
        found.status = status;
        found.imported = self.setup.tester.as_ref().map(|outside| outside.report.clone()).unwrap_or_default();
        // If all goals are decided, the failure of the verifier does not matter.
        if let Some(Verifier { problem: Some(why), .. }) = &self.setup.verifier
            && found.status.contains(&Status::Open)
        {
            found.imported.problem.get_or_insert_with(|| why.clone());
        }
        drop(found);
        (self.setup.tell)(&self.gia, &mut self.setup.program);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// The thread that reports when the time is up may read the results at any moment.
    #[test]
    fn what_is_known_of_goals_is_there_while_it_is_computed() {
        let text = "program 64 entry f0
            type ty0 int \"int\" 32 signed
            func f0 \"main\" source ty0 32 () entry l0 { l0: t0: halt exit 0:32 -> l1 l1: }";
        let program = cfa::text::parse(text).unwrap();
        let goals = [EdgeId(0)];
        let mut found = SearchResults::default();
        found.status.push(Status::Covered);
        let found = Mutex::new(found);
        let mut cotest = CoTest::new(Setup {
            program,
            goals: &goals,
            config: Config::default(),
            budget: Budget::unlimited(),
            found: &found,
            tell: &|_, _| {},
            tester: None,
            verifier: None,
        });
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let looks = scope.spawn(|| {
                let mut looks = 0;
                while !is_done.load(Ordering::Relaxed) || looks == 0 {
                    assert_eq!(found.lock().unwrap().status, [Status::Covered]);
                    looks += 1;
                }
            });
            for _ in 0..20_000 {
                cotest.publish();
            }
            is_done.store(true, Ordering::Relaxed);
            looks.join().unwrap();
        });
    }
}
