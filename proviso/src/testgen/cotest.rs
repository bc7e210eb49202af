//! Cooperative test generation (CoTest: Haltermann, Wehrheim: Exchanging information in cooperative software validation, sections 6
//! to 8, Fig. 13): a tester finds paths to goals, a verifier shows that goals cannot be come to. All that they give each other is one
//! generalized information exchange automaton: each works on the program without what is known to be unreachable, and what it finds is
//! combined with what was known. The suite is what the automaton has as paths to reachable goals.

use super::goals::{ENDLESS, execute};
use super::search::{Found, Import, Search, Status};
use crate::test_format::imported::{Given, Imported, bytes};
use crate::testgen::tester::Tester;
use cfa::interp::{Inputs, Interpreter, Outcome};
use cfa::{EdgeId, Program};
use cooperate::gia::{self, Gia, Left, Recording, Says};
use cooperate::reduce::Reducer;
use driver::external::Tool;
use engine::Config;
use engine::budget::Budget;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The first turns of both; where an iteration finds nothing, they double.
const TESTER: Duration = Duration::from_millis(500);
const VERIFIER: Duration = Duration::from_millis(500);
/// The first turn of another's tester, which has to compile the program first.
const OTHER: Duration = Duration::from_secs(5);
/// Inputs that the tester makes in a turn, as the paper's does.
const MOST_TESTS: usize = 100;
/// Where turns of so many times that find nothing, nothing is to be found.
const MOST: u32 = 256;
/// Edges of a run that are told one by one: of longer ones the inputs are told, up to the last goal that they come to first.
const LONG: usize = 300;
/// What the run of one test may take.
const RUN: Duration = Duration::from_secs(2);

pub struct CoTest<'a> {
    /// To whose expressions those of the automaton are added.
    pub program: Program,
    pub goals: &'a [EdgeId],
    pub config: Config,
    pub budget: Budget,
    /// Shared with whoever reports when time is up.
    pub found: &'a Mutex<Found>,
    /// Told what is known after each turn.
    pub tell: &'a dyn Fn(&Gia, &mut Program),
    pub gia: Gia,
    /// Who makes tests, if not we.
    pub tester: Option<Outside<'a>>,
    /// Who else makes proofs.
    pub verifier: Option<Verifier<'a>>,
    /// By goal: who proved it unreachable.
    pub proved_by: FxHashMap<usize, &'static str>,
    /// A run went on and on: others are not waited for long.
    pub is_endless: bool,
}

/// Another's verifier.
pub struct Verifier<'a> {
    pub tool: &'a Tool,
    /// Functions whose call is an error.
    pub errors: &'a [String],
    pub memory: u64,
    /// Goals that it was asked about one by one.
    pub next: usize,
    /// Why it found no more when it was asked last.
    pub problem: Option<String>,
}

/// Another's tester.
pub struct Outside<'a> {
    pub tester: &'a Tester,
    /// Functions whose call is an error.
    pub errors: &'a [String],
    pub memory: u64,
    pub report: Import,
}

impl CoTest<'_> {
    pub fn run(&mut self) {
        self.publish();
        let known = self.gia.tests(&self.program);
        self.cover(&known);
        let (mut turns, mut is_first) = (1, true);
        loop {
            let before = self.open().len();
            if self.tester.is_some() {
                self.import(OTHER * turns);
            } else {
                self.iteration("the tester", TESTER * turns, |search, turn| {
                    Search { most_runs: MOST_TESTS, ..search }.test(turn, is_first);
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
            if let Some(mut verifier) = self.verifier.take() {
                let Verifier { tool, errors, memory, ref mut next, ref mut problem } = verifier;
                self.iteration(tool.name, OTHER * turns, |search, turn| {
                    *problem = search.ask(tool, (errors, memory), next, turn);
                });
                self.verifier = Some(verifier);
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
        self.budget.spent().is_some() || self.open().is_empty()
    }

    fn found(&self) -> std::sync::MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> Vec<usize> {
        let found = self.found();
        (0..self.goals.len()).filter(|&i| found.status[i] == Status::Open).collect()
    }

    /// Lets one of them work on what is left, and takes in what it found.
    fn iteration(&mut self, who: &'static str, turn: Duration, work: impl FnOnce(Search, Duration)) {
        self.found().by = who;
        // What is found has to be taken in as well.
        let turn = self.budget.remaining().map_or(turn, |left| turn.min(left / 8 * 7));
        let Ok(rest) = gia::reduce(&mut self.program, &self.gia, Left::Unreachable, Reducer::Locations) else { return };
        // The goals in the residual program, and which goals of the program they are.
        let open = self.open();
        let number_of: FxHashMap<EdgeId, usize> = open.iter().map(|&i| (self.goals[i], i)).collect();
        let (mut goals, mut numbers) = (Vec::new(), Vec::new());
        for (new, old) in rest.left() {
            if let Some(&number) = number_of.get(&old) {
                goals.push(new);
                numbers.push(number);
            }
        }
        let local = Mutex::new(Found { is_endless: self.is_endless, ..Found::default() });
        let search = Search {
            program: &rest.program,
            goals: &goals,
            config: self.config.clone(),
            budget: self.budget.exerting(turn),
            found: &local,
            most_runs: usize::MAX,
        };
        work(search, turn);
        let local = local.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.is_endless |= local.is_endless;
        let tests: Vec<Imported> = local.tests.iter().map(|test| Imported::of(&test.values)).collect();
        self.add_tests(&tests);
        // All its images have to be.
        let mut reachable = FxHashSet::default();
        for (number, status) in numbers.iter().zip(&local.status) {
            match status {
                Status::Unreachable(by) => _ = self.proved_by.insert(*number, *by),
                _ => _ = reachable.insert(*number),
            }
        }
        let unreachable: Vec<usize> = open.iter().copied().filter(|i| !reachable.contains(i)).collect();
        let never: Vec<EdgeId> = unreachable.iter().map(|&i| self.goals[i]).collect();
        if !never.is_empty()
            && let Ok(combined) = gia::combine(&self.gia, &Gia::never(never), &self.program)
        {
            self.gia = combined;
        }
        self.publish();
    }

    /// Lets another's tester work on what is left, and takes in those of its tests that cover more when they are run here.
    fn import(&mut self, turn: Duration) {
        let Ok(rest) = gia::reduce(&mut self.program, &self.gia, Left::Unreachable, Reducer::Locations) else { return };
        let seeds: Vec<Vec<u8>> = self.gia.tests(&self.program).iter().map(|test| bytes(&self.program, test)).collect();
        let Some(outside) = &mut self.tester else { return };
        let budget = self.budget.within(turn);
        outside.report.runs += 1;
        self.found.lock().unwrap_or_else(PoisonError::into_inner).by = outside.tester.name;
        let tests = outside.tester.tests(&rest.program, outside.errors, &seeds, (&budget, outside.memory));
        outside.report.problem = tests.as_ref().err().map(|why| format!("{why:#}"));
        let tests = tests.unwrap_or_default();
        let useful = self.add_tests(&tests);
        if let Some(outside) = &mut self.tester {
            outside.report.read += tests.len();
            outside.report.useful += useful;
        }
        self.publish();
    }

    /// Adds the paths of tests that cover what is open; how many do.
    fn add_tests(&mut self, tests: &[Imported]) -> usize {
        let (mut told, mut runs) = (Gia::nothing(), Gia::nothing());
        let paths = self.reachable(tests);
        self.cover(&paths);
        for path in &paths {
            let mut path = path.clone();
            path.values.retain(|&(at, ..)| at < path.path.len());
            if path.path.len() > LONG {
                runs.add_run(&path, &mut self.program);
                continue;
            }
            let path = path.annotated(&mut self.program);
            told.add_path(&path, Says::Reachable, &self.program);
        }
        for news in [told, runs] {
            // A verifier and a tester that disagree would be a defect: what was run counts.
            let Ok(combined) = gia::combine(&self.gia, &news, &self.program) else { return 0 };
            self.gia = combined;
        }
        paths.len()
    }

    /// Notes what paths cover that are `rt` now.
    fn cover(&self, paths: &[gia::Test]) {
        let interpreter = Interpreter::new(&self.program);
        for path in paths {
            let inputs =
                Inputs { values: path.values.iter().map(|(_, _, v)| v.clone()).collect(), ..Inputs::default() };
            if let Ok(run) = execute(&self.program, &interpreter, &mut inputs.source(), self.is_endless) {
                self.found().take(self.goals, &run);
            }
        }
    }

    /// Runs tests on the program: their inputs, and their paths, in full where a run ends and is not long, else as far as it comes to what is open.
    fn reachable(&self, tests: &[Imported]) -> Vec<gia::Test> {
        let interpreter = Interpreter::new(&self.program);
        let mut open: FxHashSet<EdgeId> = self.open().into_iter().map(|i| self.goals[i]).collect();
        let mut paths = Vec::new();
        for test in tests {
            if open.is_empty() || self.budget.spent().is_some() {
                break;
            }
            let mut recording = Recording::default();
            let mut given = Given::new(&self.program, test);
            let mut limits = engine::replay_limits(RUN);
            if self.is_endless {
                limits.steps = ENDLESS;
            }
            let run = interpreter.run(&mut given, limits, &mut recording);
            if given.wrong.is_some() || run.taints.iter().any(|&t| self.program.taints[t].over) {
                continue;
            }
            let mut path = recording.test;
            // Where it comes to the last of those that it comes to, for the first time: what goes round comes there again and again.
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

    /// What the automaton says of goals that no test covers.
    fn publish(&mut self) {
        // Not taken away: where time is up, somebody reads it meanwhile.
        let mut status = self.found().status.clone();
        status.resize(self.goals.len(), Status::Open);
        if let Ok(rest) = gia::reduce(&mut self.program, &self.gia, Left::Unreachable, Reducer::Locations)
            && self.gia.has(Says::Unreachable)
        {
            let left: FxHashSet<EdgeId> = rest.left().into_iter().map(|(_, old)| old).collect();
            for (i, goal) in self.goals.iter().enumerate() {
                if !left.contains(goal) && status[i] == Status::Open {
                    // What lies behind what was proved is proved by the same.
                    let by = self.proved_by.get(&i).or(self.proved_by.values().next());
                    status[i] = Status::Unreachable(by.copied().unwrap_or("default"));
                }
            }
        }
        let mut found = self.found();
        found.status = status;
        found.imported = self.tester.as_ref().map(|outside| outside.report.clone()).unwrap_or_default();
        // Where all is decided, it does not matter who could not.
        if let Some(Verifier { problem: Some(why), .. }) = &self.verifier
            && found.status.contains(&Status::Open)
        {
            found.imported.problem.get_or_insert_with(|| why.clone());
        }
        drop(found);
        (self.tell)(&self.gia, &mut self.program);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Who reports when time is up may look at any moment.
    #[test]
    fn what_is_known_of_goals_is_there_while_it_is_computed() {
        let text = "program 64 entry f0
            type ty0 int \"int\" 32 signed
            func f0 \"main\" source ty0 32 () entry l0 { l0: t0: halt exit 0:32 -> l1 l1: }";
        let program = cfa::text::parse(text).unwrap();
        let goals = [EdgeId(0)];
        let found = Mutex::new(Found { status: vec![Status::Covered], ..Found::default() });
        let mut cotest = CoTest {
            program,
            goals: &goals,
            config: Config::default(),
            budget: Budget::unlimited(),
            found: &found,
            tell: &|_, _| {},
            gia: Gia::nothing(),
            tester: None,
            verifier: None,
            proved_by: FxHashMap::default(),
            is_endless: false,
        };
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
