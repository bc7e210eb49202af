//! Executions without end: inputs under which the program cannot end.

use super::choose::{Choice, Chooser, Chosen};
use super::decide::decide;
use crate::config::Config;
use crate::domain::loops::constants;
use crate::outcome;
use crate::stats::Stats;
use crate::verdict::Verdict;
use cfa::graph::CfaGraphs;
use cfa::interp::{Inputs, Interpreter, LimitKind, Limits, Observer, Outcome, Recording, State};
use cfa::loops::LoopForest;
use cfa::{Check, EdgeId, ErrorId, FuncId, Id, LocId, Op, PlaceId, Program, VarId};
use instrument::memory_safety;
use instrument::termination::{
    Cycles, ends_are_errors, fix_inputs, inputs_apart, leaving_is_error, place_of, stop_at_call, stop_at_iteration,
};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smt::budget::Budget;
use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

/// Edges of a run that looks as if it does not end, and of one that is to confirm it.
const LONG: u64 = 300_000;
const CONFIRMED: u64 = 2_000_000;
/// Choices of inputs that are run; those that do not end soon, which are long runs; and those kept of them.
const CHOICES: u64 = 4_000;
const LONG_RUNS: usize = 64;
const SUSPECTS: usize = 16;
/// Of one loop.
const ALIKE: usize = 8;
/// Iterations in which the same values may come again.
const STATES: usize = 256;
/// Turns after which it is not waited for one that is like the next.
const LIKE_THE_NEXT: u64 = 32;
/// Turns in which one is looked for whose loop is never left, once one is known that does not end.
const LOOKS_ON: u32 = 3;
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
    /// Whether it was shown that the loop is not left either; else the execution may go on elsewhere after very many turns.
    pub is_never_left: bool,
    /// How often the loop is entered until then.
    entries: u64,
    /// They lead into the loop; from there on every input is what it was the last time at the same place.
    pub inputs: Inputs,
    /// How many of them are those of one turn, the last ones.
    pub turn: usize,
    /// The program with an error where the recurrence has begun, and that error: what leads there.
    pub program: Program,
    pub error: ErrorId,
}

struct Suspect {
    choice: Choice,
    /// The time that was not enough.
    spent: Duration,
}

pub struct Search<'c> {
    config: &'c Config,
    /// Of all turns.
    budget: &'c Budget,
    /// The program in which each call of a function that brings an input has an input of its own.
    program: Program,
    chooser: Chooser,
    /// Runs that do not end soon, by what they go round in, and whether the same values come again.
    alike: FxHashMap<(Option<Recurrence>, bool), usize>,
    suspects: Vec<Suspect>,
    doubtful: Option<Doubtful>,
}

/// Of executions that never end the first of which it is not known whether its loop is left.
struct Doubtful {
    found: Box<Divergence>,
    /// Turns since then.
    turns: u32,
    /// Half of what was left then: in the end it has to be told.
    budget: Budget,
}

impl<'c> Search<'c> {
    /// Looks for an execution of `program`, which has errors where C leaves undefined what happens.
    pub fn new(program: &Program, config: &'c Config, budget: &'c Budget) -> Self {
        let mut program = program.clone();
        inputs_apart(&mut program);
        let chooser = Chooser::new(&program, constants(&program), config.seed);
        Self { config, budget, program, chooser, alike: FxHashMap::default(), suspects: Vec::new(), doubtful: None }
    }

    /// No more suspects are looked for.
    fn has_looked(&self) -> bool {
        let runs = if self.chooser.has_no_choice() { 1 } else { CHOICES };
        let long: usize = self.alike.values().sum();
        self.chooser.number >= runs || long >= LONG_RUNS || self.suspects.len() >= SUSPECTS
    }

    /// Nothing is left to try.
    pub fn is_done(&self) -> bool {
        self.has_looked() && self.suspects.is_empty()
    }

    /// The answer is known, but maybe not the loop.
    pub fn has_one(&self) -> bool {
        self.doubtful.is_some()
    }

    pub fn turn(
        &mut self,
        budget: &Budget,
        progress: &(dyn Fn(&Stats) + Sync),
        stats: &mut Stats,
    ) -> Option<Box<Divergence>> {
        if !self.has_looked() {
            let part = budget.remaining().map_or(budget.clone(), |left| budget.within(left / 3));
            self.look(&part);
        }
        if let Some(found) = self.try_suspects(budget, progress, stats) {
            return Some(found);
        }
        let is_done = self.is_done();
        let doubtful = self.doubtful.as_mut()?;
        doubtful.turns += 1;
        let is_told = is_done || doubtful.turns > LOOKS_ON || doubtful.budget.spent().is_some();
        self.doubtful.take_if(|_| is_told).map(|doubtful| doubtful.found)
    }

    /// Tries to prove of one after the other that nothing ends.
    fn try_suspects(
        &mut self,
        budget: &Budget,
        progress: &(dyn Fn(&Stats) + Sync),
        stats: &mut Stats,
    ) -> Option<Box<Divergence>> {
        let original = &self.program;
        let waits = self.doubtful.as_ref().and_then(|doubtful| doubtful.budget.remaining());
        let budget = &waits.map_or_else(|| budget.clone(), |left| budget.within(left));
        let mut i = 0;
        while i < self.suspects.len() && budget.spent().is_none() {
            let left = budget.remaining().unwrap_or(Duration::from_secs(3600));
            let time = (left / 2).max(LEAST);
            let Suspect { choice, spent } = &self.suspects[i];
            if *spent >= time {
                i += 1;
                continue;
            }
            let part = budget.within(time);
            let start = Instant::now();
            let outcome = none_reached(without_end(original.clone(), choice), self.config, &part, progress);
            stats.join(&outcome.stats);
            match outcome.verdict {
                Verdict::True => {
                    let Some(mut found) = confirmed(original, choice, budget) else {
                        self.suspects.remove(i);
                        continue;
                    };
                    let time = self.budget.within((start.elapsed() * 2).max(budget.remaining().unwrap_or_default()));
                    found.is_never_left = is_never_left(original, choice, &found, self.config, &time, progress, stats);
                    if found.is_never_left || matches!(found.recurrence, Recurrence::Recursion(_)) {
                        return Some(found);
                    }
                    let message = &mut found.program.errors[found.error].message;
                    *message = "the program never ends once it is in this loop".into();
                    let half = self.budget.remaining().map(|left| self.budget.within(left / 2));
                    let budget = half.unwrap_or_else(|| self.budget.clone());
                    self.doubtful.get_or_insert(Doubtful { found, turns: 0, budget });
                    self.suspects.remove(i);
                }
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
    fn look(&mut self, budget: &Budget) {
        let program = &self.program;
        let interpreter = Interpreter::new(program);
        let forests = Forests::new(program, &Cycles::mark(&mut program.clone()));
        while budget.spent().is_none() && !self.has_looked() {
            let choice = self.chooser.next();
            let deadline = budget.remaining().map(|left| Instant::now() + left / 2);
            let limits = Limits {
                steps: LONG,
                memory: 1 << 27,
                call_depth: 10_000,
                deadline,
                endless: cfa::interp::Endless::GoesOn,
            };
            let mut tail = Tail::new(LONG / 2);
            let mut inputs = Chosen::new(&choice);
            let run = interpreter.run(&mut inputs, limits, &mut tail);
            if !matches!(run.outcome, Outcome::Limit(LimitKind::Steps | LimitKind::CallDepth | LimitKind::Memory)) {
                let Chosen { recent, asked, .. } = inputs;
                self.chooser.ended(choice, run.steps, recent, &asked);
                continue;
            }
            let recurrence = forests.recurrence(program, &tail, run.outcome);
            let mut repeats = Repeats::new(program, recurrence);
            interpreter.run(&mut Chosen::new(&choice), limits, &mut repeats);
            let seen = self.alike.entry((recurrence, repeats.found)).or_default();
            *seen += 1;
            if *seen <= ALIKE {
                // A counter may come to the end of its type, where the execution ends; what comes again does not.
                let first = if repeats.found { 0 } else { self.suspects.len() };
                self.suspects.insert(first, Suspect { choice, spent: Duration::ZERO });
            }
        }
    }
}

/// The program on these inputs, with errors where it ends or does what has no meaning: what becomes of such a run is not known.
fn without_end(mut program: Program, choice: &Choice) -> Program {
    fix_inputs(&mut program, &|input, width| {
        choice.get(&input).map(|values| values.iter().map(|v| v.resize(width)).collect())
    });
    let unknown = ends_are_errors(&mut program);
    memory_safety(&mut program, &[Check::Deref, Check::Free]);
    for id in program.edges.ids() {
        if let Op::Approx { taint } = program.edges[id].op
            && program.taints[taint].under
        {
            program.edges[id].op = Op::Error(unknown);
        }
    }
    program
}

/// Whether no error of `program` can be reached. What only counts turns is sliced away: with it no state comes again. A loop that is to go on for ever stays.
fn none_reached(
    program: Program,
    config: &Config,
    budget: &Budget,
    progress: &(dyn Fn(&Stats) + Sync),
) -> outcome::Outcome {
    // What does not fit into memory is not allocated: that ends an execution, too.
    let is_error = |e: &EdgeId| match program.edges[*e].op {
        Op::Error(_) => true,
        Op::Alloc { size, .. } => program.exprs.as_const(size).is_none(),
        _ => program.edges[*e].fault.is_some(),
    };
    let errors: Vec<EdgeId> = program.edges.ids().filter(is_error).collect();
    decide(&program, &errors, slicer::Control::DecisiveOrder, config, budget, progress)
}

/// Whether the loop of an execution that never ends is not left either.
fn is_never_left(
    original: &Program,
    choice: &Choice,
    found: &Divergence,
    config: &Config,
    budget: &Budget,
    progress: &(dyn Fn(&Stats) + Sync),
    stats: &mut Stats,
) -> bool {
    let mut program = original.clone();
    let cycles = Cycles::mark(&mut program);
    let Some(l) = cycles.loops.iter().find(|l| found.recurrence == Recurrence::Loop(l.head)) else { return false };
    leaving_is_error(&mut program, l, found.entries);
    let outcome = none_reached(without_end(program, choice), config, budget, progress);
    stats.join(&outcome.stats);
    matches!(outcome.verdict, Verdict::True)
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
    let run = interpreter.run(&mut Chosen::new(choice), limits, &mut tail);
    let Outcome::Limit(_) = run.outcome else { return None };
    if run.taints.iter().any(|&t| original.taints[t].over) {
        return None;
    }
    if run.steps < CONFIRMED {
        // What was seen is enough to tell where it is.
        tail = Tail::new(run.steps / 2);
        interpreter.run(&mut Chosen::new(choice), Limits { steps: run.steps, deadline: None, ..limits }, &mut tail);
    }
    let recurrence = Forests::new(&program, &cycles).recurrence(&program, &tail, run.outcome)?;
    let mut counter = Counter::new(&cycles, recurrence);
    let mut recording = Recording::new(Chosen::new(choice));
    let again = Limits { steps: run.steps, deadline: None, ..limits };
    interpreter.run(&mut recording, again, &mut counter);
    let (inputs, settled) = (recording.inputs, recording.source.settled);
    let stopped = |count: u64| {
        let mut program = program.clone();
        let (error, place) = stop_after(&mut program, &cycles, recurrence, count)?;
        // Only what the way there asks for.
        let mut last = Recording::new(inputs.source());
        let run = Interpreter::new(&program).run(&mut last, again, &mut ());
        let is_there = matches!(run.outcome, Outcome::Error(hit, _) if hit == error);
        is_there.then_some((program, error, place, last.inputs))
    };
    // It stops where inputs are the same from then on, and, if that is soon, in a turn as the next one is.
    let mut more = 0;
    loop {
        let count = counter.begun + 2 + more;
        let (program, error, place, inputs) = stopped(count)?;
        let at = inputs.values.len();
        let before = stopped(count - 1).map_or(at, |(.., before)| before.values.len());
        let is_in_time = more < LIKE_THE_NEXT && deadline.is_some_and(|d| Instant::now() < d);
        let is_like_the_next =
            || stopped(count + 1).is_none_or(|(.., after)| after.values[at..] == inputs.values[before..]);
        if at < settled || is_in_time && !is_like_the_next() {
            more = 2 * more + 1;
            continue;
        }
        return Some(Box::new(Divergence {
            recurrence,
            place,
            is_never_left: false,
            entries: counter.entries,
            turn: at - before,
            inputs,
            program,
            error,
        }));
    }
}

/// Makes the iteration or call of this number an error; where the loop or function is.
fn stop_after(
    program: &mut Program,
    cycles: &Cycles,
    recurrence: Recurrence,
    count: u64,
) -> Option<(ErrorId, Option<PlaceId>)> {
    Some(match recurrence {
        Recurrence::Loop(head) => {
            let l = cycles.loops.iter().find(|l| l.head == head)?;
            let place = place_of(program, l);
            (stop_at_iteration(program, l, count, place), place)
        }
        Recurrence::Recursion(func) => {
            let place = program.funcs[func].place;
            (stop_at_call(program, func, count, place), place)
        }
    })
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

/// Whether the variables of a loop's function and the global ones have values at its head that they had there before, in the later part of a run.
struct Repeats {
    head: Option<LocId>,
    vars: Vec<VarId>,
    seen: FxHashSet<u64>,
    found: bool,
}

impl Repeats {
    fn new(program: &Program, recurrence: Option<Recurrence>) -> Self {
        let mut repeats = Self { head: None, vars: Vec::new(), seen: FxHashSet::default(), found: false };
        if let Some(Recurrence::Loop(head)) = recurrence {
            let func = program.locs[head].func;
            let looked_at = program.vars.iter().filter(|(_, var)| var.func().is_none_or(|f| f == func));
            repeats.vars = looked_at.map(|(id, _)| id).collect();
            repeats.head = Some(head);
        }
        repeats
    }
}

impl Observer for Repeats {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let is_looked_at = state.steps() >= LONG / 2 && self.seen.len() < STATES && !self.found;
        if !is_looked_at || Some(state.program().edges[edge].target) != self.head {
            return;
        }
        let mut hasher = FxHasher::default();
        self.vars.iter().for_each(|&var| state.var(var).hash(&mut hasher));
        self.found = !self.seen.insert(hasher.finish());
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

/// Counts how often a loop is entered, and its iterations up to the last time.
struct Counter {
    iteration: Option<EdgeId>,
    enters: FxHashSet<EdgeId>,
    entries: u64,
    count: u64,
    begun: u64,
}

impl Counter {
    fn new(cycles: &Cycles, recurrence: Recurrence) -> Self {
        let mut counter = Self { iteration: None, enters: FxHashSet::default(), entries: 0, count: 0, begun: 0 };
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
            self.entries += 1;
        }
    }
}
