//! The search for tests: random runs first, then the analyses, which are asked for executions of the goals that are left.
//!
//! In a round, all open goals are errors, and the analysis goes on after each that it reaches: what it finds is run to the
//! end on the program itself, where it covers what lies behind as well. A proof means that all goals of its round are
//! unreachable. When rounds find nothing more, goals are asked for one by one.

use super::goals::{Executed, execute};
use cfa::interp::{InputSource, Inputs, Interpreter};
use cfa::{EdgeId, ErrorId, Id, Op, Program};
use driver::external::{Task, Tool};
use engine::budget::Budget;
use engine::{Analysis, Config, Verdict};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Random runs end after so many that cover nothing new.
const USELESS: u32 = 60;
const RANDOM: Duration = Duration::from_secs(1);
/// The first turn of an analysis; turns that bring nothing double.
const TURN: Duration = Duration::from_secs(1);
/// A round ends after so many executions in a row that cover nothing new.
const STALE: u32 = 12;
/// What slicing may take.
const SLICING: Duration = Duration::from_secs(10);
/// What another's verifier is given for one goal, at least.
const ONE_GOAL: Duration = Duration::from_secs(2);
/// What the run of the whole program on inputs found in a slice may take.
const REPLAY: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Open,
    /// Reached, but only with what no test gives: arguments, files, the environment, memory that was never written.
    Beyond,
    Covered,
    /// Proved by this analysis, or another's verifier: no execution comes there.
    Unreachable(&'static str),
}

/// A test: what it gives the program, and which goals it covers, by index.
#[derive(Clone, Debug)]
pub struct Test {
    pub values: Vec<(cfa::InputId, cfa::Bv)>,
    pub covers: Vec<u32>,
    /// Who of those that cooperate found it.
    pub by: &'static str,
}

/// What has been found so far.
#[derive(Clone, Default, Debug)]
pub struct Found {
    pub tests: Vec<Test>,
    /// By goal.
    pub status: Vec<Status>,
    /// By edge: executions by all tests.
    pub counts: Vec<u64>,
    /// Inputs that were made and run, whether or not they cover something new.
    pub runs: usize,
    /// Whose tests are taken, where several cooperate.
    pub by: &'static str,
    /// A run went on and on: others are not waited for long.
    pub is_endless: bool,
    /// Why the first run cannot be trusted.
    pub problem: Option<String>,
    /// What came of another's tests.
    pub imported: Import,
}

/// What came of the tests of a tester that is not ours.
#[derive(Clone, Default, Debug)]
pub struct Import {
    pub runs: u32,
    pub read: usize,
    /// Tests that covered what was open.
    pub useful: usize,
    /// Why its last run was of no use.
    pub problem: Option<String>,
}

impl Found {
    fn open(&self) -> Vec<usize> {
        (0..self.status.len()).filter(|&i| self.status[i] == Status::Open).collect()
    }

    /// Keeps a run if it covers something new, or is the first.
    pub fn take(&mut self, goals: &[EdgeId], run: &Executed) -> bool {
        let covers: Vec<u32> =
            (0..goals.len()).filter(|&i| run.counts[goals[i].index()] > 0).map(|i| i as u32).collect();
        let is_new = covers.iter().any(|&i| self.status[i as usize] != Status::Covered);
        for (status, goal) in self.status.iter_mut().zip(goals) {
            if *status == Status::Open && run.here[goal.index()] > 0 {
                *status = Status::Beyond;
            }
        }
        if is_new || self.tests.is_empty() {
            covers.iter().for_each(|&i| self.status[i as usize] = Status::Covered);
            self.counts.resize(run.counts.len(), 0);
            self.counts.iter_mut().zip(&run.counts).for_each(|(sum, &n)| *sum += u64::from(n));
            self.tests.push(Test { values: run.values.clone(), covers, by: self.by });
        }
        is_new
    }

    /// Drops tests that others make superfluous, the earlier ones first: the later were made on purpose.
    pub fn drop_superfluous(&mut self) {
        let mut times = vec![0u32; self.status.len()];
        self.tests.iter().flat_map(|t| &t.covers).for_each(|&i| times[i as usize] += 1);
        let mut left = self.tests.len();
        self.tests.retain(|test| {
            let superfluous = left > 1 && test.covers.iter().all(|&i| times[i as usize] > 1);
            if superfluous {
                left -= 1;
                test.covers.iter().for_each(|&i| times[i as usize] -= 1);
            }
            !superfluous
        });
    }
}

/// The search over one program.
pub struct Search<'a> {
    pub program: &'a Program,
    pub goals: &'a [EdgeId],
    pub config: Config,
    pub budget: Budget,
    /// Shared with whoever reports when time is up.
    pub found: &'a Mutex<Found>,
    /// The search ends after so many runs of inputs.
    pub most_runs: usize,
}

impl Search<'_> {
    pub fn run(&self) {
        self.found().status = vec![Status::Open; self.goals.len()];
        let interpreter = Interpreter::new(self.program);
        self.random(&interpreter);
        let mut turn = TURN;
        // Whoever was asked for, or who is best for it.
        let asked = Some(self.config.analysis).filter(|&a| a != Analysis::Default);
        let proving = asked.unwrap_or(Analysis::Default);
        // All goals at once, as long as that finds some.
        while !self.is_over() && turn <= 4 * TURN {
            let open = self.found().open();
            self.round(&interpreter, &open, asked.unwrap_or(Analysis::Symex), turn);
            if self.found().open().len() == open.len() {
                turn *= 2;
            }
        }
        // What is left may be unreachable altogether.
        while !self.is_over() {
            let open = self.found().open();
            let turn = self.budget.remaining().map_or(8 * TURN, |left| left / 4);
            self.round(&interpreter, &open, proving, turn);
            if self.found().open().len() == open.len() {
                break;
            }
        }
        // One by one, in growing turns.
        let mut turn = TURN;
        while !self.is_over() {
            let open = self.found().open();
            for goal in open {
                if self.budget.spent().is_some() {
                    return;
                }
                if self.found().status[goal] == Status::Open {
                    self.round(&interpreter, &[goal], proving, turn);
                }
            }
            turn *= 3;
        }
    }

    /// Tests alone: what runs find in this time, no proofs. Random runs find the same each time.
    pub fn test(&self, turn: Duration, at_random: bool) {
        self.found().status = vec![Status::Open; self.goals.len()];
        let interpreter = Interpreter::new(self.program);
        if at_random {
            self.random(&interpreter);
        }
        // Rounds end where what they find covers nothing new; the next looks for what is left.
        while !self.is_over() {
            let open = self.found().open();
            self.round(&interpreter, &open, Analysis::Symex, turn);
            if self.found().open().len() == open.len() {
                break;
            }
        }
    }

    /// Proofs first: that no goal can be come to, or that one cannot.
    pub fn verify(&self, turn: Duration) {
        self.found().status = vec![Status::Open; self.goals.len()];
        let interpreter = Interpreter::new(self.program);
        let open = self.found().open();
        if !open.is_empty() {
            self.round(&interpreter, &open, self.config.analysis, turn / 2);
        }
        let each = turn / 2 / u32::try_from(open.len().max(1)).unwrap_or(u32::MAX);
        for goal in open {
            if self.budget.spent().is_none() && self.found().status[goal] == Status::Open {
                self.round(&interpreter, &[goal], self.config.analysis, each.max(Duration::from_millis(500)));
            }
        }
    }

    /// Another's verifier: about all goals as long as that finds something, then about one after another, of which each is a smaller program. The
    /// first `next` were asked about before. Why it found no more.
    pub fn ask(
        &self,
        tool: &Tool,
        (errors, memory): (&[String], u64),
        next: &mut usize,
        turn: Duration,
    ) -> Option<String> {
        self.found().status = vec![Status::Open; self.goals.len()];
        // Other processes do not work on this thread's time.
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

    /// Asks whether one of these goals can be come to.
    fn ask_about(
        &self,
        goals: &[usize],
        tool: &Tool,
        (errors, memory): (&[String], u64),
        budget: &Budget,
    ) -> Result<(), String> {
        let mut program = self.program.clone();
        instrument::cover(&mut program, &goals.iter().map(|&i| self.goals[i]).collect::<Vec<_>>());
        let task = Task { original: &program, error_functions: errors, budget, memory, replay: REPLAY };
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

    fn found(&self) -> std::sync::MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        let found = self.found();
        found.runs >= self.most_runs || found.open().is_empty() || self.budget.spent().is_some()
    }

    /// Whether the inputs cover something new.
    fn try_inputs(&self, interpreter: &Interpreter<'_>, source: &mut dyn InputSource) -> Result<bool, String> {
        let is_endless = self.found().is_endless;
        let run = execute(self.program, interpreter, source, is_endless)?;
        let mut found = self.found();
        found.is_endless |= run.is_endless;
        found.runs += 1;
        Ok(found.take(self.goals, &run))
    }

    fn random(&self, interpreter: &Interpreter<'_>) {
        let budget = self.budget.exerting(RANDOM);
        // The run on zeros comes first; it is a test whatever it covers.
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

    /// Lets an analysis look for executions of these goals.
    fn round(&self, interpreter: &Interpreter<'_>, goals: &[usize], analysis: Analysis, turn: Duration) {
        let mut program = self.program.clone();
        let edges: Vec<EdgeId> = goals.iter().map(|&i| self.goals[i]).collect();
        let errors = instrument::cover(&mut program, &edges);
        let goal_of = |error: ErrorId| goals[errors.iter().position(|&e| e == error).expect("an error of ours")];
        let criteria: Vec<EdgeId> =
            program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Error(_))).map(|(id, _)| id).collect();
        let options = slicer::Options { deadline: Some(Instant::now() + SLICING), ..slicer::Options::default() };
        let slice = slicer::slice(&program, &criteria, &options).ok();
        let stale = Mutex::new(0u32);
        let replay = |inputs: &Inputs, error: ErrorId| {
            let inputs = match &slice {
                Some(slice) => slice.inputs_of_original(&program, inputs, engine::replay_limits(REPLAY)),
                None => inputs.clone(),
            };
            let new = self.try_inputs(interpreter, &mut inputs.source())?;
            if !matches!(self.found().status[goal_of(error)], Status::Covered | Status::Beyond) {
                return Err("the run takes another way".into());
            }
            let mut stale = stale.lock().unwrap_or_else(PoisonError::into_inner);
            *stale = if new { 0 } else { *stale + 1 };
            // Covered: on to other paths, unless these only lead to what is covered.
            let found = self.found();
            if *stale < STALE && found.runs < self.most_runs && goals.iter().any(|&i| found.status[i] == Status::Open) {
                return Err("covered".into());
            }
            Ok((inputs, Vec::new()))
        };
        let analysed = slice.as_ref().map_or(&program, |s| &s.program);
        let lacks_frees = slice.is_some() && cfa::facts::frees(&program);
        let config = Config { analysis, lacks_frees, ..self.config.clone() };
        let outcome = engine::verify(analysed, &config, &self.budget.exerting(turn), &replay, &|_| {});
        if matches!(outcome.verdict, Verdict::True) {
            let mut found = self.found();
            for &i in goals {
                // What a test covers is reachable, whatever is proved.
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
        let test = |covers: &[u32]| Test { values: Vec::new(), covers: covers.to_vec(), by: "" };
        let mut found = Found { status: vec![Status::Covered; 4], ..Found::default() };
        found.tests = vec![test(&[0, 1]), test(&[2]), test(&[1, 2]), test(&[0, 3])];
        found.drop_superfluous();
        let left: Vec<_> = found.tests.iter().map(|t| t.covers.clone()).collect();
        assert_eq!(left, [vec![1, 2], vec![0, 3]]);
    }

    /// As for the tester of those that cooperate: random runs and rounds count alike.
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
            let found = Mutex::new(Found::default());
            let (config, budget) = (Config::default(), Budget::unlimited());
            let search = Search { program: &program, goals: &goals, config, budget, found: &found, most_runs };
            search.test(Duration::from_secs(60), true);
            let found = found.into_inner().unwrap();
            (found.runs, found.tests.len())
        };
        assert_eq!(search(1), (1, 1));
        // What the last run covers is not come to with one less.
        let (runs, tests) = search(usize::MAX);
        assert_eq!(tests, 3);
        assert_eq!(search(runs), (runs, 3));
        assert_eq!(search(runs - 1), (runs - 1, 2));
    }

    #[test]
    fn one_test_is_always_left() {
        let only = Test { values: Vec::new(), covers: Vec::new(), by: "" };
        let mut found = Found { tests: vec![only], ..Found::default() };
        found.drop_superfluous();
        assert_eq!(found.tests.len(), 1);
    }
}
