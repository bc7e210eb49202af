//! Executions without end: inputs under which the program cannot end.

use super::decide::whole;
use crate::budget::Budget;
use crate::cpa::unrolling::constants;
use crate::verdict::Verdict;
use crate::{Config, Stats};
use cfa::graph::CfaGraphs;
use cfa::interp::{InputSource, Inputs, Interpreter, LimitKind, Limits, Observer, Outcome, Recording, State, Unknown};
use cfa::loops::LoopForest;
use cfa::{Bv, Check, EdgeId, ErrorId, FuncId, Id, InputId, LocId, Op, PlaceId, Program};
use instrument::memory_safety;
use instrument::termination::{
    Cycles, ends_are_errors, fix_inputs, may_be_chosen, place_of, stop_at_call, stop_at_iteration,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::{Duration, Instant};

/// Edges of a run that looks as if it does not end, and of one that is to confirm it.
const LONG: u64 = 300_000;
const CONFIRMED: u64 = 2_000_000;
/// Choices of inputs that are run, and those kept that do not end.
const CHOICES: u64 = 400;
const SUSPECTS: usize = 16;
/// Of one loop.
const ALIKE: usize = 8;
/// The least time for a proof.
const LEAST: Duration = Duration::from_millis(200);

/// What an execution without end goes round in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Recurrence {
    /// The loop with this head.
    Loop(LocId),
    /// Calls of this function within one another.
    Recursion(FuncId),
}

/// An execution that does not end.
#[derive(Clone)]
pub struct Divergence {
    pub recurrence: Recurrence,
    pub place: Option<PlaceId>,
    /// They lead into the loop; from there on every input is what it was the last time at the same place.
    pub inputs: Inputs,
    /// The program with an error where the recurrence has begun, and that error: what leads there.
    pub program: Program,
    pub error: ErrorId,
}

/// Each input that may be chosen has one value throughout.
type Choice = FxHashMap<InputId, Bv>;

struct Suspect {
    choice: Choice,
    /// The time that was not enough.
    spent: Duration,
}

pub struct Search<'c> {
    config: &'c Config,
    /// Whether suspects have been looked for.
    has_looked: bool,
    suspects: Vec<Suspect>,
}

impl<'c> Search<'c> {
    pub fn new(config: &'c Config) -> Self {
        Self { config, has_looked: false, suspects: Vec::new() }
    }

    /// Nothing is left to try.
    pub fn is_done(&self) -> bool {
        self.has_looked && self.suspects.is_empty()
    }

    /// Looks for an execution of `program`, which has errors where C leaves undefined what happens.
    pub fn turn(
        &mut self,
        program: &Program,
        budget: &Budget,
        progress: &(dyn Fn(&Stats) + Sync),
        stats: &mut Stats,
    ) -> Option<Box<Divergence>> {
        if !std::mem::replace(&mut self.has_looked, true) {
            let part = budget.remaining().map_or(budget.clone(), |left| budget.within(left / 3));
            self.look(program, &part);
        }
        self.try_suspects(program, budget, progress, stats)
    }

    /// Tries to prove of one after the other that nothing ends.
    fn try_suspects(
        &mut self,
        original: &Program,
        budget: &Budget,
        progress: &(dyn Fn(&Stats) + Sync),
        stats: &mut Stats,
    ) -> Option<Box<Divergence>> {
        let mut i = 0;
        while i < self.suspects.len() && budget.spent().is_none() {
            let left = budget.remaining().unwrap_or(Duration::from_secs(3600));
            let time = (left / 2).max(LEAST);
            if self.suspects[i].spent >= time {
                i += 1;
                continue;
            }
            let mut program = original.clone();
            let choice = &self.suspects[i].choice;
            fix_inputs(&mut program, &|input, width| choice.get(&input).map(|v| v.resize(width)));
            ends_are_errors(&mut program);
            // So is what has no meaning: what becomes of such a run is not known.
            memory_safety(&mut program, &[Check::Deref, Check::Free]);
            let part = budget.within(time);
            let outcome = whole(&program, self.config, &part, progress);
            stats.join(&outcome.stats);
            match outcome.verdict {
                Verdict::True => match confirmed(original, &self.suspects[i].choice, budget) {
                    Some(found) => return Some(found),
                    None => drop(self.suspects.remove(i)),
                },
                Verdict::False(_) => drop(self.suspects.remove(i)),
                Verdict::Unknown(_) if part.spent().is_none() => drop(self.suspects.remove(i)),
                Verdict::Unknown(_) => {
                    self.suspects[i].spent = time;
                    i += 1;
                }
            }
        }
        None
    }

    /// Looks for runs that do not end soon.
    fn look(&mut self, program: &Program, budget: &Budget) {
        let asked: Vec<InputId> = {
            let chosen = program.inputs.iter().filter(|(_, i)| may_be_chosen(&i.kind));
            chosen.map(|(id, _)| id).collect()
        };
        let constants = constants(program);
        let interpreter = Interpreter::new(program);
        let forests = Forests::new(program, &Cycles::mark(&mut program.clone()));
        let mut alike: FxHashMap<Option<Recurrence>, usize> = FxHashMap::default();
        let runs = if asked.is_empty() { 1 } else { CHOICES };
        for number in 0..runs {
            if budget.spent().is_some() || self.suspects.len() >= SUSPECTS {
                return;
            }
            let choice = choice(program, &asked, number, self.config.seed, &constants);
            let deadline = budget.remaining().map(|left| Instant::now() + left / 2);
            let limits = Limits {
                steps: LONG,
                memory: 1 << 27,
                call_depth: 10_000,
                deadline,
                endless: cfa::interp::Endless::GoesOn,
            };
            let mut tail = Tail::new(LONG / 2);
            let run = interpreter.run(&mut Chosen(&choice), limits, &mut tail);
            if !matches!(run.outcome, Outcome::Limit(LimitKind::Steps | LimitKind::CallDepth | LimitKind::Memory)) {
                continue;
            }
            let recurrence = forests.recurrence(program, &tail, run.outcome);
            let seen = alike.entry(recurrence).or_default();
            *seen += 1;
            if *seen <= ALIKE {
                self.suspects.push(Suspect { choice, spent: Duration::ZERO });
            }
        }
    }
}

/// The run, which is known not to end, from its start to where the recurrence has begun.
fn confirmed(original: &Program, choice: &Choice, budget: &Budget) -> Option<Box<Divergence>> {
    let deadline = Some(Instant::now() + budget.remaining().map_or(Duration::from_secs(5), |left| left.max(LEAST)));
    let mut program = original.clone();
    let cycles = Cycles::mark(&mut program);
    let interpreter = Interpreter::new(&program);
    let mut tail = Tail::new(CONFIRMED / 2);
    let limits = Limits {
        steps: CONFIRMED,
        memory: 1 << 29,
        call_depth: 20_000,
        deadline,
        endless: cfa::interp::Endless::GoesOn,
    };
    let run = interpreter.run(&mut Chosen(choice), limits, &mut tail);
    let Outcome::Limit(_) = run.outcome else { return None };
    if run.taints.iter().any(|&t| original.taints[t].over) {
        return None;
    }
    if run.steps < CONFIRMED {
        // What was seen is enough to tell where it is.
        tail = Tail::new(run.steps / 2);
        interpreter.run(&mut Chosen(choice), Limits { steps: run.steps, deadline: None, ..limits }, &mut tail);
    }
    let recurrence = Forests::new(&program, &cycles).recurrence(&program, &tail, run.outcome)?;
    let mut counter = Counter::new(&cycles, recurrence);
    let mut recording = Recording::new(Chosen(choice));
    let again = Limits { steps: run.steps, deadline: None, ..limits };
    interpreter.run(&mut recording, again, &mut counter);
    let count = counter.begun + 2;
    let mut inputs = recording.inputs;
    let (error, place) = match recurrence {
        Recurrence::Loop(head) => {
            let number = cycles.loops.iter().position(|l| l.head == head)?;
            let place = place_of(&program, &cycles.loops[number]);
            (stop_at_iteration(&mut program, &cycles.loops[number], count, place), place)
        }
        Recurrence::Recursion(func) => {
            let place = program.funcs[func].place;
            (stop_at_call(&mut program, func, count, place), place)
        }
    };
    // Only what the way there asks for.
    let mut last = Recording::new(inputs.source());
    let run = Interpreter::new(&program).run(&mut last, again, &mut ());
    match run.outcome {
        Outcome::Error(hit, _) if hit == error => {
            inputs = last.inputs;
            Some(Box::new(Divergence { recurrence, place, inputs, program, error }))
        }
        _ => None,
    }
}

/// The choice of this number.
fn choice(program: &Program, asked: &[InputId], number: u64, seed: u64, constants: &[u64]) -> Choice {
    let mut rng = SmallRng::seed_from_u64(seed ^ number);
    let mut value = |_: InputId| -> i64 {
        match number {
            0 => 0,
            1 => 1,
            2 => -1,
            3 => 2,
            4 => 5,
            5 => 100,
            _ => match rng.random_range(0..8) {
                0 => 0,
                1 => 1,
                2 => -1,
                3 => rng.random_range(-4..8),
                4 => rng.random_range(-100..300),
                5 if number.is_multiple_of(2) => rng.random::<i64>(),
                _ if !constants.is_empty() => {
                    let c = constants[rng.random_range(0..constants.len())] as i64;
                    c.wrapping_add(rng.random_range(-1..2))
                }
                _ => rng.random_range(0..3),
            },
        }
    };
    asked.iter().map(|&i| (i, Bv::from_i64(64, value(i)).resize(program.inputs[i].width))).collect()
}

/// Gives the chosen values, and zero for everything else.
struct Chosen<'a>(&'a Choice);

impl InputSource for Chosen<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        match what {
            Unknown::Havoc(input) => self.0.get(&input).map_or_else(|| Bv::zero(width), |v| v.resize(width)),
            _ => Bv::zero(width),
        }
    }
}

/// Watches the later part of a run: what the outermost frame that goes on does there.
struct Tail {
    from: u64,
    depth: usize,
    edges: FxHashSet<EdgeId>,
    /// Calls, however deep.
    calls: FxHashMap<EdgeId, u64>,
}

impl Tail {
    fn new(from: u64) -> Self {
        Self { from, depth: usize::MAX, edges: FxHashSet::default(), calls: FxHashMap::default() }
    }
}

impl Observer for Tail {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        if state.steps() < self.from {
            return;
        }
        let is_call = matches!(state.program().edges[edge].op, Op::Call { .. });
        // The state after a call is that of the callee.
        let depth = state.depth() - usize::from(is_call);
        if is_call {
            *self.calls.entry(edge).or_default() += 1;
        }
        if depth < self.depth {
            self.depth = depth;
            self.edges.clear();
        }
        if depth == self.depth {
            self.edges.insert(edge);
        }
    }
}

/// The loops of all functions, and which of these call themselves, maybe by way of others.
struct Forests {
    graphs: CfaGraphs,
    forests: Vec<LoopForest>,
    recursive: FxHashSet<FuncId>,
}

impl Forests {
    fn new(program: &Program, cycles: &Cycles) -> Self {
        let graphs = CfaGraphs::new(program);
        let forests = graphs.funcs.values().map(|g| LoopForest::new(&g.graph, 0)).collect();
        let recursive = cycles.recursions.iter().flat_map(|r| r.funcs.iter().copied()).collect();
        Self { graphs, forests, recursive }
    }

    /// What the run whose later part this is goes round in.
    fn recurrence(&self, program: &Program, tail: &Tail, outcome: Outcome) -> Option<Recurrence> {
        let in_loop = (outcome != Outcome::Limit(LimitKind::CallDepth)).then(|| self.loop_of(program, tail)).flatten();
        in_loop.or_else(|| {
            let called = |e: EdgeId| match program.edges[e].op {
                Op::Call { callee: cfa::Callee::Direct(func), .. } => Some(func),
                _ => None,
            };
            let again = |e: EdgeId| called(e).filter(|func| self.recursive.contains(func));
            let calls = tail.calls.iter().filter_map(|(&e, &n)| Some((n, std::cmp::Reverse(e), again(e)?)));
            calls.max().map(|(.., func)| Recurrence::Recursion(func))
        })
    }

    /// The loop that all of the outermost frame's tail is in.
    fn loop_of(&self, program: &Program, tail: &Tail) -> Option<Recurrence> {
        let mut edges: Vec<EdgeId> = tail.edges.iter().copied().collect();
        edges.sort_unstable();
        let func = program.func_of(*edges.first()?);
        let forest = &self.forests[func.index()];
        let inside =
            |l: u32, e: &EdgeId| self.graphs.node(program.edges[*e].source).is_some_and(|n| forest.contains(l, n));
        let all: Vec<u32> = (0..forest.loops().len() as u32).filter(|&l| edges.iter().all(|e| inside(l, e))).collect();
        let &innermost = all.iter().max_by_key(|&&l| forest.get(l).depth)?;
        Some(Recurrence::Loop(self.graphs.funcs[func].locs[forest.get(innermost).head as usize]))
    }
}

/// Counts iterations of a loop up to where it is entered for the last time.
struct Counter {
    iteration: Option<EdgeId>,
    enters: FxHashSet<EdgeId>,
    count: u64,
    begun: u64,
}

impl Counter {
    fn new(cycles: &Cycles, recurrence: Recurrence) -> Self {
        let mut counter = Self { iteration: None, enters: FxHashSet::default(), count: 0, begun: 0 };
        if let Recurrence::Loop(head) = recurrence
            && let Some(l) = cycles.loops.iter().find(|l| l.head == head)
        {
            counter.iteration = Some(l.iteration);
            counter.enters = l.enters.iter().copied().collect();
        }
        counter
    }
}

impl Observer for Counter {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        if Some(edge) == self.iteration {
            self.count += 1;
        } else if self.enters.contains(&edge) {
            self.begun = self.count;
        }
    }
}
