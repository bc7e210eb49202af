//! Samples of values at loop heads and at entries and returns of recursive functions, from runs on random inputs.

use super::{constants, scale};
use crate::domain::symbolic::{Cells, Loops, Snapshot};
use crate::runs::random::Random;
use cfa::interp::{Interpreter, Limits, Observer, State};
use cfa::{Bv, CType, EdgeId, Expr, ExprId, FuncId, LocId, Op, Program, VarId};
use rustc_hash::FxHashMap;
use smt::budget::Budget;
use std::collections::VecDeque;

/// Maximal number of runs. [`STEPS`] limits the edges of all runs, [`STEPS_PER_RUN`] those of one run.
const RUNS: u64 = 300;
const STEPS: u64 = 3_500_000;
const STEPS_PER_RUN: u64 = 300_000;
/// Maximal number of samples per place. [`PER_RUN`] limits those per place and run.
const KEPT: usize = 256;
const PER_RUN: usize = 24;
/// Number of first calls and returns of a recursive function that are always sampled in a run.
const CALLS_PER_RUN: u64 = 10;
/// Number of last visits of each loop head that are sampled in a run.
const LAST: usize = 3;
/// Maximal number of edges of the first run. It suffices for loops over large arrays.
const STEPS_OF_FIRST: u64 = 1_500_000;
/// Maximal number of snapshots per loop. [`SNAPSHOTS_PER_RUN`] is the number of first visits with snapshots in a run,
/// [`CELLS`] the number of cells observed from each start index, and [`STARTS`] the number of start indices.
const SNAPSHOTS: usize = 96;
const SNAPSHOTS_PER_RUN: u64 = 5;
const CELLS: u64 = 16;
const STARTS: usize = 4;

/// The values of all columns in one observation; `None` for an unknown value.
type Row = Vec<Option<u64>>;

/// Runs the program, and a scaled-down version that finishes its loops sooner, and adds the observed values to the
/// samples. Deterministic for a seed.
pub fn observe(program: &Program, loops: &mut Loops, seed: u64, budget: &Budget) {
    let constants = &constants(program);
    if let Some(small) = scale::scaled(program) {
        observe_runs(&small, loops, constants, (seed, RUNS / 4, STEPS / 4), budget);
    }
    observe_runs(program, loops, constants, (seed, RUNS, STEPS), budget);
}

fn observe_runs(
    program: &Program,
    loops: &mut Loops,
    constants: &[u64],
    (seed, runs, most): (u64, u64, u64),
    budget: &Budget,
) {
    let interpreter = Interpreter::new(program);
    let heads: FxHashMap<LocId, usize> = loops.loops.iter().enumerate().map(|(i, l)| (l.head, i)).collect();
    let functions: FxHashMap<FuncId, usize> = loops.recursions.iter().enumerate().map(|(i, r)| (r.func, i)).collect();
    let mut steps = 0;
    for run in 0..runs {
        if steps >= most || budget.spent().is_some() {
            break;
        }
        let mut inputs = Random::new(seed, run, constants);
        let mut watcher = Watcher {
            program,
            loops,
            heads: &heads,
            constants,
            functions: &functions,
            iterations: vec![Iterations::default(); heads.len()],
            calls: Vec::new(),
            nested: vec![Nested::default(); functions.len()],
        };
        let edges = if run == 0 { STEPS_OF_FIRST.min(most / 2) } else { STEPS_PER_RUN.min(most / 8) };
        let limits =
            Limits { steps: edges, memory: 1 << 24, call_depth: 3_000, deadline: budget.deadline, ..Limits::default() };
        steps += interpreter.run(&mut inputs, limits, &mut watcher).steps.max(STEPS / RUNS / 8);
        watcher.finish();
    }
}

/// The observations of one loop in the current run.
#[derive(Clone, Default)]
struct Iterations {
    visits: u64,
    last: VecDeque<Row>,
}

/// The observations of one recursive function in the current run.
#[derive(Clone, Default)]
struct Nested {
    entries: u64,
    returns: u64,
    /// The number of calls that have not returned.
    active: u64,
}

/// True if the event of this number, from 1, is sampled.
fn is_kept(number: u64) -> bool {
    number <= CALLS_PER_RUN || number.is_power_of_two()
}

/// Observes the values of variables at loop heads and entries of recursive functions in a run.
struct Watcher<'a> {
    program: &'a Program,
    loops: &'a mut Loops,
    heads: &'a FxHashMap<LocId, usize>,
    constants: &'a [u64],
    functions: &'a FxHashMap<FuncId, usize>,
    iterations: Vec<Iterations>,
    /// The active calls of recursive functions: the number of frames below, the function's number, and the values at
    /// the entry.
    calls: Vec<(usize, usize, Row)>,
    /// The counters of the recursive functions, by number.
    nested: Vec<Nested>,
}

impl Watcher<'_> {
    fn value(&self, state: &State, var: VarId) -> Option<u64> {
        let value = state.var(var)?.to_u64()?;
        let is_pointer = matches!(self.program.plain_type(self.program.vars[var].ty), CType::Pointer(_));
        (!is_pointer || value == 0).then_some(value)
    }
    fn row(&self, state: &State, vars: &[VarId]) -> Row {
        vars.iter().map(|&v| self.value(state, v)).collect()
    }
    /// The values of a loop's watched variables and distances at its head.
    fn row_of_loop(&self, state: &State, number: usize) -> Row {
        let l = &self.loops.loops[number];
        let width = self.program.layout.pointer_width;
        let mut row = self.row(state, &l.watched);
        row.extend(l.distances.iter().map(|d| {
            let (to, from) = (self.address(state, d.to)?, self.address(state, d.from)?);
            let in_one_object = state.object_at(to)?.base == state.object_at(from)?.base;
            in_one_object.then(|| Bv::new(width, to.wrapping_sub(from)).to_u64())?
        }));
        row
    }
    /// The address of a global, or the address in a variable.
    fn address(&self, state: &State, e: ExprId) -> Option<u64> {
        match *self.program.exprs.get(e) {
            Expr::GlobalAddr(global) => Some(state.global_address(global)),
            Expr::Var(var) => state.var(var).and_then(|v| v.to_u64()),
            _ => None,
        }
    }
    /// Takes a snapshot of the rows of a loop.
    fn snapshot(&mut self, state: &State, number: usize) {
        let l = &self.loops.loops[number];
        let mut starts = vec![0];
        let rows: Vec<Vec<(u64, u64)>> = l.rows.iter().map(|row| self.cells(state, row, &mut starts)).collect();
        if rows.iter().all(Vec::is_empty) {
            return;
        }
        let scalars = self.row(state, &l.watched);
        self.loops.loops[number].snapshots.push(Snapshot { scalars, rows, starts });
    }

    fn cells(&self, state: &State, row: &Cells, starts: &mut Vec<i64>) -> Vec<(u64, u64)> {
        let base = self.address(state, row.base);
        let Some(object) = base.and_then(|base| state.object_at(base)).filter(|o| o.live) else { return Vec::new() };
        let (base, count) = (object.base, object.size.saturating_sub(row.first) / row.stride);
        let in_row = |c: &&u64| **c >= CELLS / 2 && **c < count;
        for &c in self.constants.iter().filter(in_row).take(STARTS) {
            if !starts.contains(&(c as i64)) {
                starts.push(c as i64);
            }
        }
        let mut indices: Vec<u64> = starts.iter().flat_map(|&c| c as u64..c as u64 + CELLS).collect();
        indices.retain(|&k| k < count);
        indices.sort_unstable();
        indices.dedup();
        let cell = |k| {
            let bytes = state.bytes(base + row.first + k * row.stride, row.len as usize)?;
            Some((k, bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))))
        };
        indices.into_iter().filter_map(cell).collect()
    }

    fn finish(mut self) {
        for (i, iterations) in std::mem::take(&mut self.iterations).into_iter().enumerate() {
            for row in iterations.last {
                keep(&mut self.loops.loops[i].samples, row);
            }
        }
    }
}

fn keep(samples: &mut Vec<Row>, row: Row) {
    if samples.len() < KEPT && !samples.contains(&row) {
        samples.push(row);
    }
}

impl Observer for Watcher<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let e = &self.program.edges[edge];
        match &e.op {
            Op::Call { .. } => {
                if let Some(&i) = self.functions.get(&state.func()) {
                    let row = self.row(state, &self.loops.recursions[i].watched);
                    self.nested[i].entries += 1;
                    self.nested[i].active += 1;
                    if is_kept(self.nested[i].entries) {
                        keep(&mut self.loops.recursions[i].entries, row.clone());
                    }
                    self.calls.push((state.depth(), i, row));
                }
            }
            Op::Return { value } => {
                if let Some((depth, i, _)) = self.calls.last()
                    && *depth == state.depth()
                    && self.loops.recursions[*i].func == state.func()
                {
                    let (_, i, mut row) = self.calls.pop().expect("just seen");
                    self.nested[i].returns += 1;
                    self.nested[i].active -= 1;
                    // The outermost calls are the most informative.
                    let is_kept = self.nested[i].active < 2 || is_kept(self.nested[i].returns);
                    if !is_kept || self.loops.recursions[i].samples.len() >= KEPT {
                        return;
                    }
                    row.push(value.and_then(|e| state.eval(e).to_u64()));
                    row.extend(self.row(state, &self.loops.recursions[i].written));
                    keep(&mut self.loops.recursions[i].samples, row);
                }
            }
            _ => {
                let Some(&i) = self.heads.get(&e.target) else { return };
                self.iterations[i].visits += 1;
                let visits = self.iterations[i].visits;
                let l = &self.loops.loops[i];
                if !l.rows.is_empty()
                    && l.snapshots.len() < SNAPSHOTS
                    && (visits <= SNAPSHOTS_PER_RUN || visits.is_power_of_two())
                {
                    self.snapshot(state, i);
                }
                let row = self.row_of_loop(state, i);
                if visits <= PER_RUN as u64 / 2 || visits.is_power_of_two() && visits.ilog2() <= PER_RUN as u32 {
                    keep(&mut self.loops.loops[i].samples, row);
                    return;
                }
                let last = &mut self.iterations[i].last;
                if last.len() == LAST {
                    last.pop_front();
                }
                last.push_back(row);
            }
        }
    }
}
