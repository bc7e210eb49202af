//! Cooperative test generation (CoTest: Haltermann, Wehrheim: Exchanging information in cooperative software validation, sections 6
//! to 8, Fig. 13): a tester finds paths to goals, a verifier shows that goals cannot be come to. All that they give each other is one
//! generalized information exchange automaton: each works on the program without what is known to be unreachable, and what it finds is
//! combined with what was known. The suite is what the automaton has as paths to reachable goals.

use super::goals::execute;
use super::search::{Found, Search, Status, Test};
use cfa::interp::{InputSource, Inputs, Interpreter, ObjectSeq, Unknown};
use cfa::{Bv, CallGraph, EdgeId, HaltKind, InputKind, Op, Out, Program};
use cooperate::condition::{Label, Transition};
use cooperate::gia::{self, Gia, Left, Recording, Says};
use cooperate::reduce::Reducer;
use cooperate::restrict::Restricted;
use engine::Config;
use engine::budget::Budget;
use rustc_hash::FxHashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The first turns of both; where an iteration finds nothing, they double.
const TESTER: Duration = Duration::from_secs(2);
const VERIFIER: Duration = Duration::from_secs(4);
/// Where turns of so many times that find nothing, nothing is to be found.
const MOST: u32 = 32;
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
    pub gia: Gia,
}

impl CoTest<'_> {
    pub fn run(&mut self) {
        self.publish();
        let mut turns = 1;
        loop {
            let before = self.open().len();
            self.iteration(TESTER * turns, |search, turn| search.test(turn));
            if self.is_over() {
                break;
            }
            self.iteration(VERIFIER * turns, |search, turn| search.verify(turn));
            if self.is_over() {
                break;
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

    /// Lets one of the two work on what is left, and takes in what it found.
    fn iteration(&mut self, turn: Duration, work: impl Fn(&Search, Duration)) {
        let Ok(rest) = gia::reduce(&mut self.program, &self.gia, Left::Unreachable, Reducer::Locations) else { return };
        // The goals in the residual program, and which goals of the program they are.
        let open = self.open();
        let (mut goals, mut numbers) = (Vec::new(), Vec::new());
        for (new, old) in left(&rest) {
            if let Some(number) = open.iter().copied().find(|&i| self.goals[i] == old) {
                goals.push(new);
                numbers.push(number);
            }
        }
        let local = Mutex::new(Found::default());
        let search = Search {
            program: &rest.program,
            goals: &goals,
            config: self.config.clone(),
            budget: self.budget.clone(),
            found: &local,
        };
        work(&search, turn);
        let local = local.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut news = Gia::nothing();
        for path in self.reachable(&local.tests) {
            let path = path.annotated(&mut self.program);
            news.add_path(&path, Says::Reachable, &self.program);
        }
        let unreachable = |number: usize| {
            let mut images = numbers.iter().zip(&local.status).filter(|(n, _)| **n == number).peekable();
            images.peek().is_none() || images.all(|(_, status)| *status == Status::Unreachable)
        };
        let never: Vec<EdgeId> = open.iter().filter(|&&i| unreachable(i)).map(|&i| self.goals[i]).collect();
        // A verifier and a tester that disagree would be a defect: what was run counts.
        if let Ok(combined) = gia::combine(&self.gia, &news) {
            self.gia = combined;
        }
        if !never.is_empty()
            && let Ok(combined) = gia::combine(&self.gia, &unreachable_gia(never))
        {
            self.gia = combined;
        }
        self.publish();
    }

    /// Runs tests on the program: their paths, as far as the last goal that none of those before covers.
    fn reachable(&self, tests: &[Test]) -> Vec<gia::Test> {
        let interpreter = Interpreter::new(&self.program);
        let mut open: FxHashSet<EdgeId> = self.open().into_iter().map(|i| self.goals[i]).collect();
        let mut paths = Vec::new();
        for test in tests {
            let mut recording = Recording::default();
            let mut given = Given { program: &self.program, values: test.values.iter().map(|(_, v)| v) };
            let run = interpreter.run(&mut given, engine::replay_limits(RUN), &mut recording);
            if run.taints.iter().any(|&t| self.program.taints[t].over) {
                continue;
            }
            let mut path = recording.test;
            let Some(last) = path.path.iter().rposition(|e| open.contains(e)) else { continue };
            path.path.truncate(last + 1);
            path.values.retain(|&(at, ..)| at <= last);
            for e in &path.path {
                open.remove(e);
            }
            paths.push(path);
        }
        paths
    }

    /// What the automaton says, as tests and goals.
    fn publish(&mut self) {
        let mut status = vec![Status::Open; self.goals.len()];
        if let Ok(rest) = gia::reduce(&mut self.program, &self.gia, Left::Unreachable, Reducer::Locations)
            && self.gia.has(Says::Unreachable)
        {
            let left: FxHashSet<EdgeId> = left(&rest).into_iter().map(|(_, old)| old).collect();
            for (i, goal) in self.goals.iter().enumerate() {
                if !left.contains(goal) {
                    status[i] = Status::Unreachable;
                }
            }
        }
        let mut found = Found { status, ..Found::default() };
        let interpreter = Interpreter::new(&self.program);
        let mut paths = self.gia.tests(&self.program);
        // A suite has at least one test.
        if paths.is_empty() {
            paths.push(gia::Test::default());
        }
        for path in paths {
            let inputs = Inputs { values: path.values.into_iter().map(|(_, _, v)| v).collect(), ..Inputs::default() };
            if let Ok(run) = execute(&self.program, &interpreter, &mut inputs.source()) {
                found.take(self.goals, &run);
            }
        }
        *self.found() = found;
    }
}

/// The edges of a residual program that can be called and do not lead to where all is covered, with those of the program.
fn left(rest: &Restricted) -> Vec<(EdgeId, EdgeId)> {
    let program = &rest.program;
    let calls = CallGraph::new(program);
    let is_left = |edge: EdgeId| match program.locs[program.edges[edge].target].out {
        Out::One(next) => rest.edges[next].is_some() || program.edges[next].op != Op::Halt(HaltKind::Assumed),
        _ => true,
    };
    let edges = rest.edges.iter().filter_map(|(new, old)| Some((new, (*old)?)));
    edges.filter(|&(new, _)| calls.is_reachable(program.func_of(new)) && is_left(new)).collect()
}

/// Says that every path with one of these edges is infeasible.
fn unreachable_gia(never: Vec<EdgeId>) -> Gia {
    let mut gia = Gia::nothing();
    let ut = gia.add(Some(Says::Unreachable), None);
    let initial = gia.initial;
    gia.states[initial].transitions =
        vec![Transition { on: Label::of(never), assumption: None, to: ut }, Transition::others(initial)];
    gia
}

/// What `__VERIFIER_nondet_*` functions give, in order; all else is zero.
struct Given<'a, V> {
    program: &'a Program,
    values: V,
}

impl<'a, V: Iterator<Item = &'a Bv>> InputSource for Given<'_, V> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let nondet = |input| matches!(self.program.inputs[input].kind, InputKind::Nondet(_));
        let value = match what {
            Unknown::Havoc(input) if nondet(input) => self.values.next(),
            _ => None,
        };
        value.map_or_else(|| Bv::zero(width), |v| v.resize(width))
    }
    fn bytes(&mut self, _: ObjectSeq, _: u64, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}
