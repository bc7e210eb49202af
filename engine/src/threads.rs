//! Verification of programs with threads, by explicit-state search with the interpreter.
//!
//! A proof by locksets (`locksets`) decides many questions about data races, for all inputs and memory orders. There are
//! three searches:
//!
//! - *Random runs* choose inputs and schedules at random. Schedules follow random priorities (Burckhardt, Kothari,
//!   Musuvathi, Nagarakatte: *A randomized scheduler with probabilistic guarantees of finding bugs*, ASPLOS 2010) or
//!   coin tosses.
//! - *Exploration* enumerates all interleavings depth first and stores visited states. It switches only at visible
//!   operations. An access is visible if two threads were observed to access the memory without a common lock (Stoller:
//!   *Model-checking multi-threaded distributed Java programs*, SPIN 2000; Dwyer, Hatcliff, Robby, Ranganath:
//!   *Exploiting object escape and locking information in partial-order reductions*, FMSD 2004). When more memory turns
//!   out to be shared, the exploration starts again.
//! - *Ordering constraints* find a schedule and inputs together, with a solver (`ordering`). They also prove that no
//!   execution of a program without unbounded loops reaches an error.
//!
//! Otherwise, the verdict is TRUE only if the exploration is complete and the explored runs cover all runs: no inputs except those
//! for which a few values represent all (`compared`), no address decides a branch, and all memory orders are
//! sequentially consistent.

mod compared;
mod joined;
mod locksets;
mod ordering;

use self::compared::Values;
use crate::budget::Budget;
use crate::composition::Analysis;
use crate::domain::loops::constants;
use crate::outcome::Outcome;
use crate::runs::random::Random;
use crate::runs::run;
use crate::verdict::{Counterexample, Reason, ReasonKind, Verdict};
use cfa::interp::{
    Endless, Gap, InputSource, Inputs, Interpreter, LimitKind, Limits, Machine, ObjectSeq, Outcome as End, Recording,
    Sharing, Unknown,
};
use cfa::{Bv, CallGraph, Callee, Check, ErrorId, ExprId, FuncId, InputId, Op, PlaceId, Program, VarId};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Limit on the edges of a random run.
const RUN_STEPS: u64 = 300_000;
/// Limit on the edges that the exploration executes between two points.
const STEP_STEPS: u64 = 3_000_000;
/// Limit on the states on a path of the exploration.
const DEEPEST: usize = 4_000;
/// The number of states that are explored after the set of shared memory has grown, before the exploration starts
/// again.
const BEFORE_RESTART: u64 = 2_000;
/// Limit on the number of visited states.
const MOST_STATES: usize = 30_000_000;
/// The time for random runs before the exploration.
const FIRST: Duration = Duration::from_millis(400);
/// Time limit for the points-to sets of the proof by locksets.
const PROOF: Duration = Duration::from_secs(2);
/// Time limit for the minimisation of a schedule.
const SHORTENING: Duration = Duration::from_secs(2);

/// The checks whose errors ordering constraints exclude: those that are error edges.
const PROVED: [Check; 6] = [
    Check::Call,
    Check::SignedIntegerOverflow,
    Check::SignedLeftShift,
    Check::Shift,
    Check::IntegerDivideByZero,
    Check::Automaton,
];

/// The reason of an exploration that did not reach its end.
fn too_many() -> Reason {
    Reason::new("not all interleavings of the threads were explored in time").of_kind(ReasonKind::Time)
}

/// Answers whether an error of a program with threads can be reached. `limit` is the time that is left, if there is a
/// limit.
pub fn verify(program: &Program, budget: &Budget, limit: Option<Duration>) -> Outcome {
    let limit = limit.or_else(|| budget.remaining()).unwrap_or(Duration::from_secs(900));
    let start = Instant::now();
    if are_race_free(program) {
        return Outcome::new(Verdict::True, Analysis::Default);
    }
    let mut search = Search::new(program, budget);
    let until = |share: f64| start + limit.mul_f64(share);
    let found = |inputs: Inputs, error: ErrorId, path| {
        Outcome::new(Verdict::False(Counterexample { error, inputs, path }), Analysis::Random)
    };
    if let Some((inputs, error, path)) = search.sample((start + FIRST).min(until(0.3))) {
        return found(inputs, error, path);
    }
    match search.order(until(0.1)) {
        Some(Ordered::Violation((inputs, error, path))) => return found(inputs, error, path),
        Some(Ordered::Proof) => return Outcome::new(Verdict::True, Analysis::Default),
        None => {}
    }
    let (explored, is_complete) = search.decide(Sharing::default(), until(0.65));
    // If no input matters, a complete exploration has found all errors, and more random runs are useless.
    let is_hopeless = is_complete && !search.depends_on_inputs;
    if matches!(explored.verdict, Verdict::Unknown(_)) && !is_hopeless {
        match search.order(until(0.85)) {
            Some(Ordered::Violation((inputs, error, path))) => return found(inputs, error, path),
            Some(Ordered::Proof) => return Outcome::new(Verdict::True, Analysis::Default),
            None => {}
        }
        if let Some((inputs, error, path)) = search.sample(until(0.95)) {
            return found(inputs, error, path);
        }
    }
    explored
}

/// Returns true if data races are the only errors of the program, and locksets prove that it has none.
pub fn are_race_free(program: &Program) -> bool {
    program.errors.values().all(|error| error.check == Check::DataRace)
        && locksets::are_race_free(program, Instant::now() + PROOF)
}

/// Like [`verify`], but by the exploration alone. It starts with the memory in `sharing`, which is known to be shared.
pub fn explore(program: &Program, budget: &Budget, limit: Duration, sharing: Sharing) -> Outcome {
    Search::new(program, budget).decide(sharing, Instant::now() + limit).0
}

/// Inputs with a schedule that lead to an error, the error, and the executed edges.
type Found = (Inputs, ErrorId, Vec<cfa::EdgeId>);

/// The result of the search by ordering constraints.
enum Ordered {
    Violation(Found),
    /// No execution reaches an error.
    Proof,
}

/// The result of an exploration of the interleavings.
enum Explored {
    /// Inputs and a schedule that lead to an error.
    Found(Inputs),
    /// All interleavings were explored without an error.
    All,
    /// The exploration stopped early.
    Stopped,
}

/// The analysis of a program with threads.
struct Search<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p>,
    budget: &'p Budget,
    constants: Vec<u64>,
    runs: u64,
    /// The number of points of the longest run so far.
    longest: u64,
    /// The reasons why the exploration is no proof. Empty if it is one.
    reasons: Vec<Reason>,
    depends_on_inputs: bool,
    detects_races: bool,
    has_choices: bool,
    idle: Rc<Idle>,
    compared: Rc<FxHashMap<InputId, Values>>,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, budget: &'p Budget) -> Self {
        let compared = Rc::new(compared::values(program));
        Self {
            program,
            interpreter: Interpreter::new(program),
            budget,
            constants: constants(program),
            runs: 0,
            longest: 16,
            reasons: Vec::new(),
            depends_on_inputs: false,
            detects_races: program.errors.values().any(|e| e.check == Check::DataRace),
            has_choices: !compared.is_empty() || program.inputs.values().any(|i| i.width == 1),
            idle: Rc::new(Idle::new(program)),
            compared,
        }
    }

    // Random runs.

    fn sample(&mut self, until: Instant) -> Option<Found> {
        while Instant::now() < until && self.budget.spent().is_none() {
            self.runs += 1;
            let mut source = Recording::new(Chance::new(self.runs, self.longest, &self.constants));
            let limits =
                Limits { steps: RUN_STEPS, deadline: Some(until), endless: Endless::GoesOn, ..Limits::default() };
            let run = self.interpreter.run(&mut source, limits, &mut ());
            self.longest = self.longest.max(source.source.points).min(100_000);
            let is_exact = !run.taints.iter().any(|&t| self.program.taints[t].over);
            if let (Some(_), true) = (run.outcome.error(self.program), is_exact)
                && let Some((error, path)) = self.confirm(&source.inputs)
            {
                return Some(self.shorten(source.inputs, error, path));
            }
        }
        None
    }

    /// Looks for violations, or a proof that there are none, by ordering constraints. They do not cover data races.
    fn order(&self, until: Instant) -> Option<Ordered> {
        if self.detects_races {
            return None;
        }
        match ordering::find(self.program, &self.interpreter, self.budget, until) {
            ordering::Found::Violation(inputs) => {
                let (error, path) = self.confirm(&inputs)?;
                Some(Ordered::Violation(self.shorten(inputs, error, path)))
            }
            // The constraints cover only errors that are edges.
            ordering::Found::Proof => {
                self.program.errors.values().all(|error| PROVED.contains(&error.check)).then_some(Ordered::Proof)
            }
            ordering::Found::Nothing => None,
        }
    }

    /// Replays inputs with their schedule. Returns the error that is reached and the path to it, if any.
    fn confirm(&self, inputs: &Inputs) -> Option<(ErrorId, Vec<cfa::EdgeId>)> {
        let limits = Limits { steps: 100 * RUN_STEPS, ..Limits::default() };
        let end = self.interpreter.run(&mut inputs.source(), limits, &mut ());
        let (error, _) = end.outcome.error(self.program)?;
        let path = run(self.program, inputs, error, limits).ok()?;
        Some((error, path))
    }

    /// Minimises a schedule: removes switches between threads and moves the others to earlier points, as long as the run
    /// reaches the same error.
    fn shorten(&self, mut inputs: Inputs, error: ErrorId, mut path: Vec<cfa::EdgeId>) -> Found {
        let until = Instant::now() + SHORTENING.min(self.budget.remaining().map_or(SHORTENING, |left| left / 4));
        let limits = Limits { steps: 2 * path.len() as u64 + 10_000, deadline: Some(until), ..Limits::default() };
        let mut size = inputs.schedule.len().div_ceil(2).max(1);
        loop {
            let mut points: Vec<u64> = inputs.schedule.keys().copied().collect();
            points.reverse();
            let mut is_smaller = false;
            for piece in points.chunks(size) {
                if Instant::now() >= until {
                    return (inputs, error, path);
                }
                let mut fewer = inputs.clone();
                fewer.schedule.retain(|point, _| !piece.contains(point));
                if let Ok(shorter) = run(self.program, &fewer, error, limits) {
                    (inputs, path, is_smaller) = (fewer, shorter, true);
                }
            }
            if size == 1 && !is_smaller {
                break;
            }
            size = (size / 2).max(1);
        }
        // A thread that waits in a loop repeats it up to the switch.
        let mut from = 0;
        while let Some((&first, _)) = inputs.schedule.range(from..).next() {
            let (mut point, mut by) = (first, first - from);
            while by > 0 && Instant::now() < until {
                let moved = |(&at, &thread): (&u64, &u32)| (if at < point { at } else { at - by }, thread);
                let earlier = Inputs { schedule: inputs.schedule.iter().map(moved).collect(), ..inputs.clone() };
                match run(self.program, &earlier, error, limits) {
                    Ok(shorter) => {
                        (inputs, path) = (earlier, shorter);
                        point -= by;
                        by = by.min(point - from);
                    }
                    Err(_) => by /= 2,
                }
            }
            from = point + 1;
        }
        (inputs, error, path)
    }

    // Exploration.

    /// Returns the verdict of the exploration, and true if the exploration is complete.
    fn decide(&mut self, sharing: Sharing, until: Instant) -> (Outcome, bool) {
        let explored = self.explore(sharing, until);
        let is_complete = matches!(explored, Explored::All);
        if let Explored::Found(inputs) = explored {
            if let Some((error, path)) = self.confirm(&inputs) {
                let (inputs, error, path) = self.shorten(inputs, error, path);
                let verdict = Verdict::False(Counterexample { error, inputs, path });
                return (Outcome::new(verdict, Analysis::Random), false);
            }
            self.reasons.push(Reason::new("a violation was found that does not replay").of_kind(ReasonKind::Spurious));
        }
        let verdict = match self.reasons.first() {
            None if is_complete => Verdict::True,
            None => Verdict::Unknown(too_many()),
            Some(reason) => Verdict::Unknown(reason.clone()),
        };
        (Outcome::new(verdict, Analysis::Default), is_complete)
    }

    fn explore(&mut self, sharing: Sharing, until: Instant) -> Explored {
        let sharing = Rc::new(RefCell::new(sharing));
        loop {
            sharing.borrow_mut().grew = false;
            self.reasons.clear();
            match self.explore_sharing(&sharing, until) {
                Explored::All if sharing.borrow().grew => {}
                explored => return explored,
            }
        }
    }

    fn note(&mut self, reason: Reason) {
        if self.reasons.iter().all(|known| known.text != reason.text) {
            self.reasons.push(reason);
        }
    }

    fn note_gaps(&mut self, gaps: &[(Gap, Option<PlaceId>)]) {
        for (gap, place) in gaps {
            let kind = if matches!(gap, Gap::Input) { ReasonKind::ThreadInputs } else { ReasonKind::Complexity };
            let text = match gap {
                Gap::Input => "programs with threads are not explored for all inputs",
                Gap::Uninitialised => "a program with threads reads uninitialised memory",
                Gap::Address => "the result may depend on addresses of objects, in a program with threads",
                Gap::WeakOrder => "memory orders weaker than sequential consistency are not explored",
                Gap::Lifetime => {
                    "the lifetime of an object may end before another thread accesses it, in a weak memory order"
                }
                Gap::Library => "a function of the library accesses memory that threads share",
                Gap::Torn => "threads share memory that one of them accesses in several steps",
                Gap::Unordered => {
                    "a failed attempt to lock, the value of a semaphore, or an atomic operation on a large object is not checked for data races"
                }
                Gap::Leak => "leaks while other threads run are not checked",
                Gap::NestedWait => "waiting within an atomic section is not modelled",
            };
            self.note(Reason::at(text, *place).of_kind(kind));
        }
    }

    /// The inputs of a step, after reads of this many open inputs.
    fn choices(&self, forced: Vec<usize>, earlier: usize) -> Choices {
        Choices { forced, earlier, idle: self.idle.clone(), compared: self.compared.clone(), ..Choices::default() }
    }

    fn explore_sharing(&mut self, sharing: &Rc<RefCell<Sharing>>, until: Instant) -> Explored {
        let interpreter = Interpreter::new(self.program);
        let limits = Limits { steps: STEP_STEPS, deadline: Some(until), endless: Endless::GoesOn, ..Limits::default() };
        let mut source = self.choices(Vec::new(), 0);
        let machine = match Machine::new(&interpreter, limits, Some(sharing.clone()), &mut source) {
            Ok(machine) => machine,
            Err(_) => return Explored::Stopped,
        };
        self.depends_on_inputs |= source.has_others;
        if source.has_others {
            self.note_gaps(&[(Gap::Input, None)]);
        }
        let mut visited: FxHashSet<[u64; 2]> = FxHashSet::default();
        let mut path: Vec<Node<'_>> = vec![Node::new(machine, BTreeMap::new(), source)];
        let mut since_growth = 0;
        while let Some(node) = path.last_mut() {
            let Some((thread, forced)) = node.todo.pop() else {
                path.pop();
                continue;
            };
            if self.budget.spent().is_some() || Instant::now() >= until || visited.len() > MOST_STATES {
                self.note(too_many());
                return Explored::Stopped;
            }
            if sharing.borrow().grew {
                since_growth += 1;
                if since_growth > BEFORE_RESTART {
                    return Explored::All;
                }
            }
            let before = node.machine.as_ref().expect("a node has a machine while there is something to do");
            let mut schedule = BTreeMap::from([(before.points(), thread)]);
            let mut machine = match node.todo.is_empty() && !self.has_choices {
                true => node.machine.take().expect("just seen"),
                false => before.clone(),
            };
            let nexts: Vec<Option<cfa::interp::Access>> =
                (0..machine.threads() as u32).map(|t| machine.next(t)).collect();
            let able = machine.enabled();
            let mut source = self.choices(forced, node.earlier);
            machine.restart_steps();
            let mut ended = machine.step(thread, &mut source).err();
            let accesses = machine.accesses().to_vec();
            // A new thread runs up to its first point, so that its next access is known.
            if ended.is_none() && machine.threads() > nexts.len() {
                let new = nexts.len() as u32;
                schedule.insert(machine.points(), new);
                ended = machine.step(new, &mut source).err();
                if machine.threads() > nexts.len() + 1 {
                    self.note(Reason::new(
                        "a thread starts another thread before its first visible operation, which is not explored",
                    ));
                }
            }
            for n in source.forced.len()..source.choices.len() {
                for choice in 1..source.counts[n] {
                    let forced = source.choices[..n].iter().copied().chain([choice]).collect();
                    node.todo.push((thread, forced));
                }
            }
            self.depends_on_inputs |= source.has_others;
            if source.has_others {
                self.note_gaps(&[(Gap::Input, None)]);
            }
            self.note_gaps(machine.gaps());
            for &taint in machine.taints() {
                let taint = &self.program.taints[taint];
                self.note(Reason::approximation(taint));
            }
            if self.detects_races {
                for (other, next) in nexts.iter().enumerate() {
                    let Some(next) = next.filter(|_| other as u32 != thread && able.contains(&(other as u32))) else {
                        continue;
                    };
                    if accesses.iter().any(|access| access.conflicts(&next)) {
                        let mut inputs = inputs_of(&path, &schedule, &source.values);
                        // The other thread makes its conflicting access next.
                        inputs.schedule.insert(machine.points(), other as u32);
                        if self.confirm(&inputs).is_some() {
                            return Explored::Found(inputs);
                        }
                        self.note(
                            Reason::new("a data race was found that does not replay").of_kind(ReasonKind::Spurious),
                        );
                    }
                }
            }
            if ended.is_none() && machine.enabled().is_empty() {
                ended = Some(machine.blocked());
            }
            match ended {
                Some(end) => {
                    if end.error(self.program).is_some() {
                        let inputs = inputs_of(&path, &schedule, &source.values);
                        if machine.taints().iter().any(|&t| self.program.taints[t].over) {
                            continue;
                        }
                        if self.confirm(&inputs).is_some() {
                            return Explored::Found(inputs);
                        }
                        self.note(
                            Reason::new("a violation was found that does not replay").of_kind(ReasonKind::Spurious),
                        );
                    } else {
                        match end {
                            End::Exit(_) | End::Abort | End::Assumed | End::Limit(LimitKind::Endless) => {}
                            End::Limit(kind) => {
                                if kind == LimitKind::Steps {
                                    machine.share_step();
                                }
                                self.note(Reason::new("a thread takes too many steps"));
                            }
                            End::Unreachable => {
                                self.note(Reason::new("code that the compiler assumes to be unreachable is reached"))
                            }
                            _ => self.note(Reason::new("an invalid access ends a run with threads")),
                        }
                    }
                }
                None => {
                    if !visited.insert(machine.fingerprint()) {
                        continue;
                    }
                    if path.len() >= DEEPEST {
                        self.note(Reason::new("interleavings of the threads are too long to be explored"));
                        continue;
                    }
                    path.push(Node::new(machine, schedule, source));
                }
            }
        }
        Explored::All
    }
}

/// A state on the current path of the exploration.
struct Node<'r> {
    /// `None` once the last successor is being explored.
    machine: Option<Machine<'r>>,
    /// The unexplored successors: the thread that continues, and its first choices.
    todo: Vec<(u32, Vec<usize>)>,
    /// The schedule from the predecessor to this state: threads by the points from which they run.
    schedule: BTreeMap<u64, u32>,
    /// The input values that the step from the predecessor has read.
    values: Vec<Bv>,
    /// The number of open inputs that were read on the path to this state.
    earlier: usize,
}

impl<'r> Node<'r> {
    fn new(machine: Machine<'r>, schedule: BTreeMap<u64, u32>, source: Choices) -> Self {
        let mut todo: Vec<(u32, Vec<usize>)> =
            machine.enabled().into_iter().map(|thread| (thread, Vec::new())).collect();
        todo.reverse();
        Self { machine: Some(machine), todo, schedule, values: source.values, earlier: source.earlier }
    }
}

fn inputs_of(path: &[Node<'_>], schedule: &BTreeMap<u64, u32>, values: &[Bv]) -> Inputs {
    let mut inputs = Inputs::default();
    for node in path {
        inputs.schedule.extend(node.schedule.iter().map(|(&point, &thread)| (point, thread)));
        inputs.values.extend(node.values.iter().cloned());
    }
    inputs.schedule.extend(schedule.iter().map(|(&point, &thread)| (point, thread)));
    inputs.values.extend(values.iter().cloned());
    inputs
}

/// The inputs of a step. The exploration enumerates the choices among few values. Other inputs are 0.
#[derive(Default)]
struct Choices {
    forced: Vec<usize>,
    /// The choices made, and the number of values of each.
    choices: Vec<usize>,
    counts: Vec<usize>,
    values: Vec<Bv>,
    has_others: bool,
    /// The number of open inputs that the run has read.
    earlier: usize,
    idle: Rc<Idle>,
    compared: Rc<FxHashMap<InputId, Values>>,
}

impl InputSource for Choices {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let is_idle = match what {
            Unknown::Havoc(input) => self.idle.inputs.contains(&input),
            Unknown::Result(var) => !self.idle.used.contains(&var),
            _ => false,
        };
        let all: Option<Vec<Bv>> = match what {
            _ if is_idle => None,
            Unknown::Havoc(_) if width == 1 => Some(vec![Bv::zero(1), Bv::one(1)]),
            Unknown::Havoc(input) => self.compared.get(&input).and_then(|values| {
                let all = values.after(self.earlier);
                self.earlier += usize::from(values.is_open());
                all
            }),
            _ => None,
        };
        self.has_others |= all.is_none() && !is_idle;
        let value = match all {
            Some(all) => {
                let choice = self.forced.get(self.choices.len()).copied().unwrap_or(0);
                self.choices.push(choice);
                self.counts.push(all.len());
                all[choice].resize(width)
            }
            None => Bv::zero(width),
        };
        if !matches!(what, Unknown::Global(_)) {
            self.values.push(value.clone());
        }
        value
    }
}

/// Inputs that affect no behaviour, because their values reach only unused variables.
#[derive(Default)]
struct Idle {
    /// The inputs without effect.
    inputs: FxHashSet<InputId>,
    /// The variables with an effect.
    used: FxHashSet<VarId>,
}

/// The functions that return the result of a thread.
const JOINS: [&str; 2] = ["pthread_join", "thrd_join"];

impl Idle {
    fn new(program: &Program) -> Self {
        let mut used: FxHashSet<VarId> = FxHashSet::default();
        let take = |used: &mut FxHashSet<VarId>, e: ExprId| {
            program.exprs.vars(e).into_iter().filter(|&v| used.insert(v)).count() > 0
        };
        let is_null = |e: &ExprId| program.exprs.as_const(*e).is_some_and(|value| value.to_u64() == Some(0));
        // The result of a thread is used only if some join reads it.
        let asks = |op: &Op| match op {
            Op::Call { callee: Callee::Direct(callee), args, .. } => {
                JOINS.contains(&program.funcs[*callee].name.as_str()) && !args.get(1).is_some_and(is_null)
            }
            _ => false,
        };
        let may_ask = |&func: &FuncId| JOINS.contains(&program.funcs[func].name.as_str());
        let asks_for_results =
            program.edges.values().any(|e| asks(&e.op)) || CallGraph::new(program).address_taken().iter().any(may_ask);
        let ends_thread = program.func_by_name("proviso_finish").filter(|_| !asks_for_results);
        loop {
            let mut changed = false;
            let mut returns: FxHashSet<FuncId> = FxHashSet::default();
            let mut all_return = false;
            for edge in program.edges.values() {
                match edge.op {
                    Op::Call { callee: Callee::Direct(callee), result: Some(var), .. } if used.contains(&var) => {
                        returns.insert(callee);
                    }
                    Op::Call { callee: Callee::Indirect(_), result: Some(var), .. } => {
                        all_return |= used.contains(&var)
                    }
                    _ => {}
                }
            }
            for edge in program.edges.values() {
                match &edge.op {
                    Op::Assign { var, value } => {
                        if used.contains(var) || program.vars[*var].func().is_none() {
                            changed |= take(&mut used, *value);
                        }
                    }
                    Op::Call { callee: Callee::Direct(callee), .. } if Some(*callee) == ends_thread => {}
                    Op::Call { callee: Callee::Direct(callee), args, varargs, .. } => {
                        for (n, &arg) in args.iter().enumerate() {
                            if program.funcs[*callee].params.get(n).is_some_and(|param| used.contains(param)) {
                                changed |= take(&mut used, arg);
                            }
                        }
                        varargs.iter().for_each(|&e| changed |= take(&mut used, e));
                    }
                    Op::Return { value: Some(value) } => {
                        if all_return || returns.contains(&program.locs[edge.source].func) {
                            changed |= take(&mut used, *value);
                        }
                    }
                    // The exit status has no effect within the program.
                    Op::Halt(_) => {}
                    op => op.for_each_expr(|e| changed |= take(&mut used, e)),
                }
            }
            if !changed {
                break;
            }
        }
        let read = program.edges.values().filter_map(|edge| match edge.op {
            Op::Havoc { var, input } if used.contains(&var) || program.vars[var].func().is_none() => Some(input),
            _ => None,
        });
        let read: FxHashSet<InputId> = read.collect();
        Self { inputs: program.inputs.ids().filter(|input| !read.contains(input)).collect(), used }
    }
}

/// Random inputs and schedules.
struct Chance<'a> {
    rng: SmallRng,
    values: Random<'a>,
    how: How,
    points: u64,
}

/// The choice of the thread that continues.
enum How {
    /// At each point, a random thread continues with a probability of 1 in this number; else the current one continues.
    Coins(u32),
    /// The enabled thread with the highest priority continues. At the points in `changes`, the current thread gets the
    /// lowest priority.
    Priorities { of: Vec<u64>, changes: Vec<u64>, lowest: u64, alone: u64 },
}

impl<'a> Chance<'a> {
    fn new(run: u64, longest: u64, constants: &'a [u64]) -> Self {
        let mut rng = SmallRng::seed_from_u64(0x7ead ^ run);
        let how = match run % 8 {
            0 => How::Coins(2),
            1 => How::Coins(5),
            2 => How::Coins(15),
            3 => How::Coins(60),
            n => {
                let depth = n - 4;
                let changes = (0..depth).map(|_| rng.random_range(0..longest + longest / 4 + 1)).collect();
                How::Priorities { of: Vec::new(), changes, lowest: u64::MAX / 2, alone: 0 }
            }
        };
        Self { rng, values: Random::new(0x7ead, run, constants), how, points: 0 }
    }
}

impl InputSource for Chance<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        match width {
            1 => Bv::new(1, u64::from(self.rng.random_range(0..6) == 0)),
            _ => self.values.unknown(what, width),
        }
    }
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        let _ = (object, offset, bytes);
    }
    fn thread(&mut self, point: u64, current: u32, enabled: &[u32]) -> u32 {
        self.points = point;
        let stay = if enabled.contains(&current) { current } else { enabled[0] };
        match &mut self.how {
            How::Coins(one_in) => {
                if enabled.contains(&current) && self.rng.random_range(0..*one_in) != 0 {
                    return stay;
                }
                enabled[self.rng.random_range(0..enabled.len())]
            }
            How::Priorities { of, changes, lowest, alone } => {
                while of.len() <= *enabled.last().expect("a thread") as usize {
                    of.push(u64::MAX / 2 + 1 + (self.rng.random::<u64>() >> 2));
                }
                *alone += 1;
                // A thread that runs for long may wait for others in a loop, so they get their turn.
                if changes.contains(&point) || *alone > 300 {
                    *lowest -= 1;
                    *alone = 0;
                    if let Some(priority) = of.get_mut(current as usize) {
                        *priority = *lowest;
                    }
                }
                let next = enabled.iter().copied().max_by_key(|&t| of[t as usize]).expect("a thread");
                if next != current {
                    *alone = 0;
                }
                next
            }
        }
    }
}
