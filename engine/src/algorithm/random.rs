//! Random testing: the interpreter runs the program on random inputs.
//!
//! It proves nothing. But a run takes milliseconds, where symbolic execution needs minutes. Only random testing finds
//! violations after a hundred thousand iterations of a loop. Generational search takes half of the time: it finds
//! violations that need inputs of a certain form.

use super::generations::{Found, GenerationalSearch};
use super::{Algorithm, Ending, Share};
use crate::domain::loops::constants;
use crate::runs::random::Random;
use crate::stats::{Counters, Stats};
use crate::verdict::Reason;
use cfa::interp::{InputSource, Inputs, Interpreter, Limits, ObjectSeq, Observer, Unknown};
use cfa::{Bv, Program};
use smt::Choice;
use smt::budget::{Budget, worked};
use std::time::Duration;

/// Limits on the edges of a run: short, and long for every `LONG_EVERY`-th run.
const SHORT: u64 = 100_000;
const LONG: u64 = 20_000_000;
const LONG_EVERY: u64 = 16;
/// Testing ends after this number of runs or of edges in total.
const RUNS: u64 = 4_000;
const EDGES: u64 = 60_000_000;
/// Testing uses the length of a time slice divided by this number.
const PART: u32 = 4;
/// Generational search and random runs alternate after this time.
const PIECE: Duration = Duration::from_millis(700);
/// The time slice of a first attempt if the program has arguments. Other analyses take long to explore strings.
const HEAD_START: Duration = PIECE.saturating_mul(PART);

/// A generator of random inputs for the runs of one program.
pub struct RandomInputs {
    constants: Vec<u64>,
    seed: u64,
}

impl RandomInputs {
    /// A generator for `program`. Equal seeds yield equal inputs.
    pub fn new(program: &Program, seed: u64) -> Self {
        Self { constants: constants(program), seed }
    }

    /// The inputs of run `number`.
    pub fn run(&self, number: u64) -> Random<'_> {
        Random::new(self.seed, number, &self.constants)
    }
}

/// Records the inputs that another source provides.
struct Recorder<'a> {
    source: Random<'a>,
    inputs: Inputs,
}

impl InputSource for Recorder<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let value = self.source.unknown(what, width);
        match what {
            Unknown::Global(var) => drop(self.inputs.globals.insert(var, value.clone())),
            _ => self.inputs.values.push(value.clone()),
        }
        value
    }

    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        self.source.bytes(object, offset, bytes);
        for (i, &byte) in bytes.iter().enumerate().filter(|(_, byte)| **byte != 0) {
            self.inputs.bytes.insert((object, offset + i as u64), byte);
        }
    }
}

/// An observer that does nothing.
struct Nobody;
impl Observer for Nobody {}

/// A series of runs.
pub(crate) struct Tester<'p> {
    program: &'p Program,
    constants: Vec<u64>,
    seed: u64,
    /// Number of runs, and of their edges, so far.
    runs: u64,
    edges: u64,
    /// True if the random runs have ended.
    is_over: bool,
    /// The processor time of generational search, and that of random runs.
    times: [Duration; 2],
    search: GenerationalSearch<'p>,
}

impl<'p> Tester<'p> {
    pub fn new(program: &'p Program, solvers: &'p Choice, seed: u64) -> Self {
        let constants = constants(program);
        let search = GenerationalSearch::new(program, solvers, constants.clone(), seed);
        Self { program, constants, seed, runs: 0, edges: 0, is_over: false, times: Default::default(), search }
    }

    /// Runs the program on random inputs until one run violates the property without an approximation before.
    fn run_random(&mut self, budget: &Budget) -> Option<Found> {
        let interpreter = Interpreter::new(self.program);
        while self.runs < RUNS && self.edges < EDGES {
            if budget.spent().is_some() {
                return None;
            }
            let deadline = budget.remaining().map(|time| std::time::Instant::now() + time);
            let steps = if self.runs.is_multiple_of(LONG_EVERY) { LONG } else { SHORT };
            let limits = Limits { steps, memory: 1 << 26, call_depth: 10_000, deadline, ..Limits::default() };
            let mut random = Random::new(self.seed, self.runs, &self.constants);
            let run = interpreter.run(&mut random, limits, &mut Nobody);
            self.runs += 1;
            self.edges += run.steps;
            if let Some((error, edge)) = run.outcome.error(self.program)
                && run.taints.iter().all(|&t| !self.program.taints[t].over)
            {
                let source = Random::new(self.seed, self.runs - 1, &self.constants);
                let mut recorder = Recorder { source, inputs: Inputs::default() };
                interpreter.run(&mut recorder, Limits { deadline: None, ..limits }, &mut Nobody);
                return Some(Found { error, edge, inputs: recorder.inputs });
            }
            if random.asked == 0 {
                break;
            }
        }
        self.is_over = true;
        None
    }
}

impl<'p> Algorithm<'p> for Tester<'p> {
    /// Runs until one run violates the property. Deterministic for a seed, except that the budget may end it.
    fn run(&mut self, share: &mut Share<'_>) -> Ending {
        while !self.is_over || !self.search.is_over() {
            if share.budget.spent().is_some() {
                return Ending::TimeIsUp;
            }
            let part = share.budget.exerting(PIECE);
            let start = worked();
            let searches = self.is_over || !self.search.is_over() && self.times[0] <= self.times[1];
            let found = if searches { self.search.run(&part) } else { self.run_random(&part) };
            self.times[usize::from(!searches)] += worked().saturating_sub(start);
            if let Some(Found { error, edge, inputs }) = found {
                return Ending::Violation { error, edge, inputs };
            }
        }
        Ending::GaveUp(Reason::new("runs on random inputs violate nothing"))
    }

    fn share(&self, turn: Duration) -> Duration {
        turn / PART
    }
    fn head_start(&self) -> Option<Duration> {
        self.search.has_arguments().then_some(HEAD_START)
    }
    fn stats(&self) -> Stats {
        Stats {
            exploration: Counters { edges: self.edges + self.search.edges, ..Counters::default() },
            ..Stats::default()
        }
    }
}
