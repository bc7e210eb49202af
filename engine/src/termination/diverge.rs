//! Proofs of non-termination: inputs under which the program cannot terminate.

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

/// Maximal number of edges of a run in the search for suspects, and of the run that replays one of them.
const MAX_EDGES: u64 = 300_000;
const MAX_CONFIRMING_EDGES: u64 = 2_000_000;
/// Maximal number of choices of inputs, of long runs among them, and of suspects that are stored at the same time.
const MAX_CHOICES: u64 = 4_000;
const MAX_LONG_RUNS: usize = 64;
const MAX_SUSPECTS: usize = 16;
/// Maximal number of suspects with the same recurrence.
const MAX_ALIKE: usize = 8;
/// Maximal number of states of a loop that are compared to detect repetition.
const MAX_STATES: usize = 256;
/// Maximal number of further iterations in the search for an iteration whose inputs equal those of the next one.
const MAX_UNEQUAL_ITERATIONS: u64 = 32;
/// Number of time slices in which the search continues after a doubtful divergence: it may find a loop that is never
/// left.
const TURNS_AFTER_DOUBTFUL: u32 = 3;
/// The minimal time for the proof that a suspect does not terminate.
const MIN_PROOF_TIME: Duration = Duration::from_millis(200);

/// The loop or recursion of a non-terminating execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Recurrence {
    /// The loop with this head.
    Loop(LocId),
    /// Nested calls of this function.
    Recursion(FuncId),
}

/// A non-terminating execution.
#[derive(Clone)]
pub struct Divergence {
    /// The loop or recursion.
    pub recurrence: Recurrence,
    /// Its place in the source.
    pub place: Option<PlaceId>,
    /// True if it was proved that the execution never leaves the loop. Otherwise it may leave the loop and run forever
    /// in another one.
    pub is_never_left: bool,
    /// Number of entries into the loop, including the last one.
    entries: u64,
    /// Inputs that lead into the loop. Afterwards, each input repeats the last value that was read at the same place.
    pub inputs: Inputs,
    /// Number of inputs of one iteration. They are the last ones of `inputs`.
    pub inputs_per_iteration: usize,
    /// The program with an error at the start of the recurrence.
    pub program: Program,
    /// The error at the start of the recurrence.
    pub error: ErrorId,
}

/// A choice of inputs that leads to a long run, which may be infinite.
struct Suspect {
    choice: Choice,
    /// The order of attempts, smallest first. The first component is false if variables take the same values again: such
    /// a run is more likely infinite than one with a counter, which may reach the end of its type. The second component
    /// is the number of inputs after which each input repeats its last value. A small number makes the counterexample
    /// and its witness short.
    order: (bool, usize),
    /// The time of the longest unsuccessful attempt.
    spent: Duration,
}

/// A search for a non-terminating execution.
pub struct DivergenceSearch<'c> {
    config: &'c Config,
    /// The budget of all time slices.
    budget: &'c Budget,
    /// The program, in which each call of an input function has its own input.
    program: Program,
    chooser: Chooser,
    /// Number of long runs by recurrence and by a flag: true if variables take the same values again.
    alike: FxHashMap<(Option<Recurrence>, bool), usize>,
    suspects: Vec<Suspect>,
    doubtful: Option<DoubtfulDivergence>,
}

/// The first non-terminating execution that may leave its loop.
struct DoubtfulDivergence {
    found: Box<Divergence>,
    /// Number of time slices since it was found.
    turns: u32,
    /// Half of the time that remained when it was found. When it is spent, this execution is reported.
    budget: Budget,
}

impl<'c> DivergenceSearch<'c> {
    /// A search in `program`, which has errors where C leaves the behaviour undefined.
    pub fn new(program: &Program, config: &'c Config, budget: &'c Budget) -> Self {
        let mut program = program.clone();
        inputs_apart(&mut program);
        let chooser = Chooser::new(&program, constants(&program), config.seed);
        Self { config, budget, program, chooser, alike: FxHashMap::default(), suspects: Vec::new(), doubtful: None }
    }

    /// True if the search for suspects is over.
    fn has_all_suspects(&self) -> bool {
        let runs = if self.chooser.has_no_choice() { 1 } else { MAX_CHOICES };
        let long: usize = self.alike.values().sum();
        self.chooser.number >= runs || long >= MAX_LONG_RUNS || self.suspects.len() >= MAX_SUSPECTS
    }

    /// True if no suspect remains, and the search for suspects is over.
    pub fn is_done(&self) -> bool {
        self.has_all_suspects() && self.suspects.is_empty()
    }

    /// True if a non-terminating execution is known, but its loop may be left.
    pub fn has_doubtful(&self) -> bool {
        self.doubtful.is_some()
    }

    /// Continues the search for one time slice.
    pub fn turn(
        &mut self,
        budget: &Budget,
        progress: &(dyn Fn(&Stats) + Sync),
        stats: &mut Stats,
    ) -> Option<Box<Divergence>> {
        if !self.has_all_suspects() {
            let part = budget.remaining().map_or(budget.clone(), |left| budget.within(left / 3));
            self.find_suspects(&part);
        }
        if let Some(found) = self.try_suspects(budget, progress, stats) {
            return Some(found);
        }
        let is_done = self.is_done();
        let doubtful = self.doubtful.as_mut()?;
        doubtful.turns += 1;
        let is_reported = is_done || doubtful.turns > TURNS_AFTER_DOUBTFUL || doubtful.budget.spent().is_some();
        self.doubtful.take_if(|_| is_reported).map(|doubtful| doubtful.found)
    }

    /// Attempts to prove for each suspect that the program does not terminate.
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
            let time = (left / 2).max(MIN_PROOF_TIME);
            let Suspect { choice, spent, .. } = &self.suspects[i];
            if *spent >= time {
                i += 1;
                continue;
            }
            let part = budget.within(time);
            let start = Instant::now();
            let outcome = decide_errors(with_errors_at_ends(original.clone(), choice), self.config, &part, progress);
            stats.join(&outcome.stats);
            match outcome.verdict {
                Verdict::True => {
                    let Some(mut found) = replay_to_recurrence(original, choice, self.config.cycle_after, budget)
                    else {
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
                    self.doubtful.get_or_insert(DoubtfulDivergence { found, turns: 0, budget });
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

    /// Runs the program with further choices of inputs, and stores the choices of long runs as suspects.
    fn find_suspects(&mut self, budget: &Budget) {
        let program = &self.program;
        let interpreter = Interpreter::new(program);
        let forests = Loops::new(program, &Cycles::mark(&mut program.clone()));
        while budget.spent().is_none() && !self.has_all_suspects() {
            let choice = self.chooser.next();
            let deadline = budget.remaining().map(|left| Instant::now() + left / 2);
            let limits = Limits {
                steps: MAX_EDGES,
                memory: 1 << 27,
                call_depth: 10_000,
                deadline,
                endless: cfa::interp::Endless::GoesOn,
            };
            let mut tail = Tail::new(MAX_EDGES / 2);
            let mut inputs = Chosen::new(&choice);
            let run = interpreter.run(&mut inputs, limits, &mut tail);
            if !matches!(run.outcome, Outcome::Limit(LimitKind::Steps | LimitKind::CallDepth | LimitKind::Memory)) {
                let Chosen { recent, asked, .. } = inputs;
                self.chooser.ended(choice, run.steps, recent, &asked);
                continue;
            }
            let repeats_from = inputs.repeats_from;
            let recurrence = forests.recurrence(program, &tail, run.outcome);
            let mut repeats = RepetitionDetector::new(program, recurrence);
            interpreter.run(&mut Chosen::new(&choice), limits, &mut repeats);
            let seen = self.alike.entry((recurrence, repeats.found)).or_default();
            *seen += 1;
            if *seen <= MAX_ALIKE {
                let order = (!repeats.found, repeats_from);
                let at = self.suspects.partition_point(|suspect| suspect.order <= order);
                self.suspects.insert(at, Suspect { choice, order, spent: Duration::ZERO });
            }
        }
    }
}

/// The program with fixed inputs, and with errors wherever it terminates, has undefined behaviour, or has behaviour that
/// the approximations drop. If no error is reachable, the program does not terminate on these inputs.
fn with_errors_at_ends(mut program: Program, choice: &Choice) -> Program {
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

/// Decides whether an error of `program` is reachable. The slice drops counters, which prevent a state from recurring,
/// and keeps infinite loops.
fn decide_errors(
    program: Program,
    config: &Config,
    budget: &Budget,
    progress: &(dyn Fn(&Stats) + Sync),
) -> outcome::Outcome {
    // A failed allocation also ends an execution, so allocations of variable size are criteria.
    let is_error = |e: &EdgeId| match program.edges[*e].op {
        Op::Error(_) => true,
        Op::Alloc { size, .. } => program.exprs.as_const(size).is_none(),
        _ => program.edges[*e].fault.is_some(),
    };
    let errors: Vec<EdgeId> = program.edges.ids().filter(is_error).collect();
    decide(&program, &errors, slicer::Control::DecisiveOrder, config, budget, progress)
}

/// Returns true if a proof shows that a non-terminating execution never leaves its loop.
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
    let outcome = decide_errors(with_errors_at_ends(program, choice), config, budget, progress);
    stats.join(&outcome.stats);
    matches!(outcome.verdict, Verdict::True)
}

/// Replays a non-terminating run up to the start of its recurrence, which lies after the point that `after` names (see
/// [`Config::cycle_after`]). Returns `None` if the run ends, passes an over-approximation, or does not reach that point.
fn replay_to_recurrence(
    original: &Program,
    choice: &Choice,
    after: Option<(VarId, u64)>,
    budget: &Budget,
) -> Option<Box<Divergence>> {
    let deadline =
        Some(Instant::now() + budget.remaining().map_or(Duration::from_secs(5), |left| left.max(MIN_PROOF_TIME)));
    let mut program = original.clone();
    let cycles = Cycles::mark(&mut program);
    let interpreter = Interpreter::new(&program);
    let mut tail = Tail::new(MAX_CONFIRMING_EDGES / 2);
    let limits = Limits {
        steps: MAX_CONFIRMING_EDGES,
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
    if run.steps < MAX_CONFIRMING_EDGES {
        // The shorter run suffices to determine the recurrence.
        tail = Tail::new(run.steps / 2);
        interpreter.run(&mut Chosen::new(choice), Limits { steps: run.steps, deadline: None, ..limits }, &mut tail);
    }
    let recurrence = Loops::new(&program, &cycles).recurrence(&program, &tail, run.outcome)?;
    let mut counter = IterationCounter::new(&cycles, recurrence, after);
    let mut recording = Recording::new(Chosen::new(choice));
    let again = Limits { steps: run.steps, deadline: None, ..limits };
    interpreter.run(&mut recording, again, &mut counter);
    let (inputs, repeats_from) = (recording.inputs, recording.source.repeats_from);
    let stopped = |count: u64| {
        let mut program = program.clone();
        let (error, place) = stop_after(&mut program, &cycles, recurrence, count)?;
        // Keep only the inputs on the path to the error.
        let mut last = Recording::new(inputs.source());
        let run = Interpreter::new(&program).run(&mut last, again, &mut ());
        let reaches_error = matches!(run.outcome, Outcome::Error(hit, _) if hit == error);
        reaches_error.then_some((program, error, place, last.inputs))
    };
    let first = (counter.begun + 2).max(counter.after.map_or(Some(0), |_| counter.passed)?);
    // Stop at an iteration after which the inputs repeat. Prefer one whose inputs equal those of the next iteration.
    let mut more = 0;
    loop {
        let count = first + more;
        let (program, error, place, inputs) = stopped(count)?;
        let at = inputs.values.len();
        let before = stopped(count - 1).map_or(at, |(.., before)| before.values.len());
        let may_continue = more < MAX_UNEQUAL_ITERATIONS && deadline.is_some_and(|d| Instant::now() < d);
        let is_like_the_next =
            || stopped(count + 1).is_none_or(|(.., after)| after.values[at..] == inputs.values[before..]);
        if at < repeats_from || may_continue && !is_like_the_next() {
            more = 2 * more + 1;
            continue;
        }
        return Some(Box::new(Divergence {
            recurrence,
            place,
            is_never_left: false,
            entries: counter.entries,
            inputs_per_iteration: at - before,
            inputs,
            program,
            error,
        }));
    }
}

/// Adds an error at the iteration or call with number `count`. Returns the error and the place of the loop or function.
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

/// Observes the second part of a run: the edges that its outermost active frame executes.
struct Tail {
    from: u64,
    depth: usize,
    edges: FxHashSet<EdgeId>,
    /// Number of executions of calls at any depth.
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
        // After a call, the state is that of the callee.
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

/// Detects whether the variables of a loop's function and the globals repeat a valuation at the loop head, in the
/// second part of a run.
struct RepetitionDetector {
    head: Option<LocId>,
    vars: Vec<VarId>,
    seen: FxHashSet<u64>,
    found: bool,
}

impl RepetitionDetector {
    fn new(program: &Program, recurrence: Option<Recurrence>) -> Self {
        let mut repeats = Self { head: None, vars: Vec::new(), seen: FxHashSet::default(), found: false };
        if let Some(Recurrence::Loop(head)) = recurrence {
            let func = program.locs[head].func;
            let compared = program.vars.iter().filter(|(_, var)| var.func().is_none_or(|f| f == func));
            repeats.vars = compared.map(|(id, _)| id).collect();
            repeats.head = Some(head);
        }
        repeats
    }
}

impl Observer for RepetitionDetector {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let is_compared = state.steps() >= MAX_EDGES / 2 && self.seen.len() < MAX_STATES && !self.found;
        if !is_compared || Some(state.program().edges[edge].target) != self.head {
            return;
        }
        let mut hasher = FxHasher::default();
        self.vars.iter().for_each(|&var| state.var(var).hash(&mut hasher));
        self.found = !self.seen.insert(hasher.finish());
    }
}

/// The loops of all functions, and the recursive functions.
struct Loops {
    graphs: CfaGraphs,
    forests: Vec<LoopForest>,
    recursive: FxHashSet<FuncId>,
}

impl Loops {
    fn new(program: &Program, cycles: &Cycles) -> Self {
        let graphs = CfaGraphs::new(program);
        let forests = graphs.funcs.values().map(|g| LoopForest::new(&g.graph, 0)).collect();
        let recursive = cycles.recursions.iter().flat_map(|r| r.funcs.iter().copied()).collect();
        Self { graphs, forests, recursive }
    }

    /// The recurrence of the run with this tail.
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

    /// The innermost loop that contains all edges of the tail.
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

/// Counts the entries into a loop, and its iterations up to the last entry.
struct IterationCounter {
    iteration: Option<EdgeId>,
    enters: FxHashSet<EdgeId>,
    entries: u64,
    /// The number of iterations.
    count: u64,
    /// The number of iterations before the last entry.
    begun: u64,
    after: Option<(VarId, u64)>,
    /// The first iteration at whose start the variable of `after` has its value.
    passed: Option<u64>,
}

impl IterationCounter {
    fn new(cycles: &Cycles, recurrence: Recurrence, after: Option<(VarId, u64)>) -> Self {
        let enters = FxHashSet::default();
        let mut counter = Self { iteration: None, enters, entries: 0, count: 0, begun: 0, after, passed: None };
        if let Recurrence::Loop(head) = recurrence
            && let Some(l) = cycles.loops.iter().find(|l| l.head == head)
        {
            counter.iteration = Some(l.iteration);
            counter.enters = l.enters.iter().copied().collect();
        }
        counter
    }
}

impl Observer for IterationCounter {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        if Some(edge) == self.iteration {
            self.count += 1;
            if let (Some((var, value)), None) = (self.after, self.passed)
                && state.var(var).and_then(|now| now.to_u64()).is_some_and(|now| now >= value)
            {
                self.passed = Some(self.count);
            }
        } else if self.enters.contains(&edge) {
            self.begun = self.count;
            self.entries += 1;
        }
    }
}
