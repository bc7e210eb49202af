//! Candidate violations of programs with threads, by bounded model checking with ordering constraints over events.
//!
//! The program is [unrolled](unroll). Each read takes its value from a write (*read-from*), which comes before the read,
//! and no other write of the same memory is between them. These constraints, and the order of each thread, are over
//! clocks of the blocks (Alglave, Kroening, Tautschnig: *Partial orders for efficient bounded model checking of
//! concurrent software*, CAV 2013). The clocks are bit-vectors. A solution is a schedule with inputs, in which an error is
//! reached. It is only a candidate: the unrolling omits what it does not follow, so the interpreter has to confirm it. If the
//! unrolling omits nothing, no bound cuts it, and there is no solution, no execution reaches an error.

mod unroll;

use self::unroll::{Access, Cell, Event, Unrolled, unroll};
use crate::budget::Budget;
use cfa::interp::{InputSource, Inputs, Interpreter, Limits, Observer, Recording, State, Unknown};
use cfa::{Bv, EdgeId, ExprId, ExprPool, InputId, Program, Sort};
use rustc_hash::FxHashMap;
use smt::{Answer, Choice};
use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// The bounds on loops, in the order in which they are tried.
const BOUNDS: [u32; 4] = [1, 2, 5, 12];
/// Limit on the constraints.
const MOST_CONSTRAINTS: usize = 400_000;
/// Limit on the steps of a plan that a run may skip.
const SKIPPED: usize = 20;
/// Limit on the edges of a run that follows a schedule.
const RUN_STEPS: u64 = 1_000_000;

/// The result of the constraints.
pub(super) enum Found {
    /// Inputs with a schedule that reach an error.
    Violation(Inputs),
    /// No execution reaches an error.
    Proof,
    Nothing,
}

/// Looks for inputs with a schedule that reach an error. There is no error if the constraints of an unrolling that omits
/// nothing have no solution.
pub(super) fn find(program: &Program, interpreter: &Interpreter<'_>, budget: &Budget, until: Instant) -> Found {
    for bound in BOUNDS {
        let Ok(unrolled) = unroll(program, bound) else { return Found::Nothing };
        let left = until.saturating_duration_since(Instant::now());
        if left < Duration::from_millis(10) || budget.spent().is_some() {
            return Found::Nothing;
        }
        let (is_cut, omits) = (unrolled.is_cut, unrolled.omits);
        match solve(unrolled, &budget.within(left)) {
            Solved::Plan(plan) => {
                if let Some(inputs) = follow(program, interpreter, plan, until) {
                    return Found::Violation(inputs);
                }
            }
            Solved::Impossible if !is_cut && !omits => return Found::Proof,
            Solved::Impossible | Solved::Unknown => {}
        }
        if !is_cut {
            return Found::Nothing;
        }
    }
    Found::Nothing
}

/// The result of the solver.
enum Solved {
    Plan(Plan),
    /// The constraints have no solution.
    Impossible,
    Unknown,
}

/// A schedule with inputs.
struct Plan {
    /// The edges that threads execute at visible operations, in their order.
    steps: Vec<(u32, EdgeId)>,
    /// The values of inputs, in the order in which a thread takes them.
    inputs: FxHashMap<(u32, InputId), VecDeque<Bv>>,
}

/// Finds a schedule with inputs that satisfy the ordering constraints and reach an error.
fn solve(unrolled: Unrolled, budget: &Budget) -> Solved {
    let Unrolled { mut pool, blocks, events, initial, inputs, ids, reused, errors, ends, orders, .. } = unrolled;
    let width = usize::BITS - (blocks.len() + 1).leading_zeros() + 1;
    let clocks: Vec<ExprId> = blocks.iter().map(|_| pool.fresh_symbol(Sort::Bv(width)).1).collect();
    let mut constraints = Vec::new();
    // The order of each thread.
    let mut last: FxHashMap<u32, usize> = FxHashMap::default();
    for (n, block) in blocks.iter().enumerate() {
        if let Some(before) = last.insert(block.thread, n) {
            constraints.push(pool.ult(clocks[before], clocks[n]));
        }
    }
    for (guard, before, after) in orders {
        let order = pool.ult(clocks[before], clocks[after]);
        constraints.push(implies(&mut pool, guard, order));
    }
    let mut by_cell: FxHashMap<Cell, Vec<&Event>> = FxHashMap::default();
    for event in &events {
        by_cell.entry(event.cell).or_default().push(event);
    }
    let mut cells: Vec<(Cell, Vec<&Event>)> = by_cell.into_iter().collect();
    cells.sort_unstable_by_key(|(cell, _)| *cell);
    // The pairs of blocks that access the same memory, in different threads.
    let mut conflicts: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (cell, events) in cells {
        let mut writes: Vec<(&Event, ExprId)> = Vec::new();
        for &event in &events {
            if let Access::Write(written) = event.access {
                writes.push((event, written));
            }
        }
        for event in &events {
            let others = writes.iter().map(|(write, _)| write.block);
            let apart = others.filter(|&other| blocks[other].thread != blocks[event.block].thread);
            conflicts.extend(apart.map(|other| (event.block.min(other), event.block.max(other))));
        }
        for read in events {
            let Access::Read(value) = read.access else { continue };
            let thread = blocks[read.block].thread;
            let now = clocks[read.block];
            // The clock of the write from which the read takes its value; 0 for the initial value.
            let source = pool.fresh_symbol(Sort::Bv(width)).1;
            let start = pool.int(width, 0);
            let is_start = pool.eq(source, start);
            let is_initial = pool.eq(value, initial[&cell]);
            let mut sources = vec![pool.and(is_start, is_initial)];
            for &(write, written) in &writes {
                if blocks[write.block].thread == thread && write.block >= read.block {
                    continue;
                }
                let clock = clocks[write.block];
                let is_before = pool.ult(clock, now);
                let is_done = pool.and(write.guard, is_before);
                // No later write is before the read.
                let is_not_later = pool.ule(clock, source);
                let latest = implies(&mut pool, is_done, is_not_later);
                constraints.push(implies(&mut pool, read.guard, latest));
                let is_source = pool.eq(source, clock);
                let is_value = pool.eq(value, written);
                let is_taken = pool.and(is_source, is_value);
                sources.push(pool.and(is_done, is_taken));
            }
            let any = disjunction(&mut pool, &sources);
            constraints.push(implies(&mut pool, read.guard, any));
            if constraints.len() > MOST_CONSTRAINTS {
                return Solved::Unknown;
            }
        }
    }
    for (one, other) in conflicts {
        constraints.push(pool.ne(clocks[one], clocks[other]));
    }
    let start = pool.int(width, 0);
    for &clock in &clocks {
        constraints.push(pool.ult(start, clock));
    }
    // An error is reached before the program ends.
    let mut reached = Vec::new();
    for &(guard, error) in &errors {
        let mut facts = guard;
        for &(ending, end) in &ends {
            let before = pool.ult(clocks[error], clocks[end]);
            let before = implies(&mut pool, ending, before);
            facts = pool.and(facts, before);
        }
        reached.push(facts);
    }
    constraints.push(disjunction(&mut pool, &reached));
    let mut solver = Choice::default().open();
    for &constraint in &constraints {
        solver.assert(&pool, constraint);
    }
    // Usually, all threads have identifiers of their own.
    let mut are_different = pool.bool(true);
    for (later, &id) in ids.iter().enumerate() {
        for (earlier, &other) in ids[..later].iter().enumerate() {
            let is_same = pool.eq(id, other);
            let is_different = pool.not(is_same);
            if reused.contains(&(earlier, later)) {
                are_different = pool.and(are_different, is_different);
            } else {
                solver.assert(&pool, is_different);
            }
        }
    }
    match solver.check(&pool, &[are_different], budget) {
        Answer::Sat => {}
        Answer::Unsat if solver.check(&pool, &[], budget) == Answer::Unsat => return Solved::Impossible,
        Answer::Unsat | Answer::Unknown(_) => return Solved::Unknown,
    }
    let mut holds = |e: ExprId| !solver.value(&pool, e).bv().is_zero();
    let executed: Vec<usize> = (0..blocks.len()).filter(|&n| holds(blocks[n].guard)).collect();
    let taken: Vec<bool> = inputs.iter().map(|input| holds(input.guard)).collect();
    let first = (0..errors.len()).filter(|&n| holds(reached[n])).map(|n| errors[n].1);
    let first: Vec<usize> = first.collect();
    let mut clock = |n: usize| solver.value(&pool, clocks[n]).bv().to_u64().unwrap_or(0);
    let Some(end) = first.into_iter().map(&mut clock).min() else { return Solved::Unknown };
    let mut order: Vec<(u64, usize)> = executed.into_iter().map(|n| (clock(n), n)).collect();
    order.retain(|&(at, _)| at <= end);
    order.sort_unstable();
    // The interpreter numbers threads in the order of their starts.
    let mut numbers = FxHashMap::from_iter([(0, 0)]);
    for &(_, n) in &order {
        if let Some(started) = blocks[n].starts {
            numbers.insert(started, numbers.len() as u32);
        }
    }
    let number = |thread: u32| numbers.get(&thread).copied();
    let steps = order.iter().filter_map(|&(_, n)| Some((number(blocks[n].thread)?, blocks[n].edge))).collect();
    let mut values: FxHashMap<(u32, InputId), VecDeque<Bv>> = FxHashMap::default();
    for (input, _) in inputs.iter().zip(taken).filter(|(_, taken)| *taken) {
        if let Some(thread) = number(input.thread) {
            let value = solver.value(&pool, input.symbol).bv().clone();
            values.entry((thread, input.input)).or_default().push_back(value);
        }
    }
    Solved::Plan(Plan { steps, inputs: values })
}

fn implies(pool: &mut ExprPool, a: ExprId, b: ExprId) -> ExprId {
    let not = pool.not(a);
    pool.or(not, b)
}

fn disjunction(pool: &mut ExprPool, all: &[ExprId]) -> ExprId {
    let mut any = pool.bool(false);
    for &e in all {
        any = pool.or(any, e);
    }
    any
}

/// Runs the program in the order of a plan. Returns the inputs with the schedule if an error is reached.
fn follow(program: &Program, interpreter: &Interpreter<'_>, plan: Plan, until: Instant) -> Option<Inputs> {
    let Plan { steps, inputs } = plan;
    let mut of_threads: FxHashMap<u32, VecDeque<usize>> = FxHashMap::default();
    for (n, (thread, _)) in steps.iter().enumerate() {
        of_threads.entry(*thread).or_default().push_back(n);
    }
    let guide = RefCell::new(Guide { done: vec![false; steps.len()], steps, of_threads, next: 0, thread: 0 });
    let mut source = Recording::new(Guided { guide: &guide, inputs });
    let limits = Limits { steps: RUN_STEPS, deadline: Some(until), ..Limits::default() };
    let run = interpreter.run(&mut source, limits, &mut Follower { guide: &guide });
    let is_exact = !run.taints.iter().any(|&t| program.taints[t].over);
    (is_exact && run.outcome.error(program).is_some()).then_some(source.inputs)
}

/// The progress of a run along a plan.
struct Guide {
    steps: Vec<(u32, EdgeId)>,
    done: Vec<bool>,
    /// The steps of each thread that are not done.
    of_threads: FxHashMap<u32, VecDeque<usize>>,
    /// The first step that is not done.
    next: usize,
    /// The thread that runs.
    thread: u32,
}

struct Guided<'g> {
    guide: &'g RefCell<Guide>,
    inputs: FxHashMap<(u32, InputId), VecDeque<Bv>>,
}

impl InputSource for Guided<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let thread = self.guide.borrow().thread;
        let planned = match what {
            Unknown::Havoc(input) => self.inputs.get_mut(&(thread, input)).and_then(VecDeque::pop_front),
            _ => None,
        };
        // Waits for conditions end spuriously.
        planned.unwrap_or_else(|| Bv::new(width, u64::from(width == 1)))
    }
    fn thread(&mut self, _: u64, current: u32, enabled: &[u32]) -> u32 {
        let mut guide = self.guide.borrow_mut();
        let planned = guide.steps.get(guide.next).map(|step| step.0).filter(|thread| enabled.contains(thread));
        let stay = if enabled.contains(&current) { current } else { enabled[0] };
        guide.thread = planned.unwrap_or(stay);
        guide.thread
    }
}

struct Follower<'g> {
    guide: &'g RefCell<Guide>,
}

impl Observer for Follower<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let mut guide = self.guide.borrow_mut();
        let thread = state.thread();
        guide.thread = thread;
        let guide = &mut *guide;
        let Some(own) = guide.of_threads.get_mut(&thread) else { return };
        // A path may skip the first access of a block.
        let Some(at) = own.iter().take(SKIPPED).position(|&n| guide.steps[n].1 == edge) else { return };
        own.drain(..=at).for_each(|n| guide.done[n] = true);
        while guide.done.get(guide.next) == Some(&true) {
            guide.next += 1;
        }
    }
}
