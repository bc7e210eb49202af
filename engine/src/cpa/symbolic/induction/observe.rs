//! Values at heads of loops and at entries and returns of recursive functions, from runs on random inputs.

use super::super::loops::Loops;
use cfa::interp::{InputSource, Interpreter, Limits, Observer, State, Unknown};
use cfa::{Bv, CType, EdgeId, FuncId, LocId, Op, Program, VarId};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Runs, at most, and edges of all of them and of each.
const RUNS: u64 = 300;
const STEPS: u64 = 2_000_000;
const STEPS_PER_RUN: u64 = 300_000;
/// Values kept: per place, and per place and run.
const KEPT: usize = 256;
const PER_RUN: usize = 24;
/// Calls of a recursive function, and returns, that are kept of a run in any case.
const CALLS_PER_RUN: u64 = 10;
/// Of a run, the last ones at each place are kept, too.
const LAST: usize = 3;

type Row = Vec<Option<u64>>;

/// Runs the program and adds what it sees to the samples. Deterministic for a seed.
pub fn observe(program: &Program, loops: &mut Loops, constants: &[u64], seed: u64) {
    let interpreter = Interpreter::new(program);
    let heads: FxHashMap<LocId, usize> = loops.loops.iter().enumerate().map(|(i, l)| (l.head, i)).collect();
    let functions: FxHashMap<FuncId, usize> = loops.recursions.iter().enumerate().map(|(i, r)| (r.func, i)).collect();
    let mut steps = 0;
    for run in 0..RUNS {
        if steps >= STEPS {
            break;
        }
        let mut inputs = Random { rng: SmallRng::seed_from_u64(seed ^ run), run, constants };
        let mut watcher = Watcher {
            program,
            loops,
            heads: &heads,
            functions: &functions,
            turns: vec![Turns::default(); heads.len()],
            calls: Vec::new(),
            nested: vec![Nested::default(); functions.len()],
        };
        let limits = Limits { steps: STEPS_PER_RUN, memory: 1 << 24, call_depth: 3_000, deadline: None };
        steps += interpreter.run(&mut inputs, limits, &mut watcher).steps.max(STEPS / RUNS / 8);
        watcher.finish();
    }
}

/// Inputs of a size that changes from run to run.
struct Random<'a> {
    rng: SmallRng,
    run: u64,
    constants: &'a [u64],
}

impl InputSource for Random<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let _ = what;
        let value = match self.run % 6 {
            0 => self.rng.random_range(0..3),
            1 => self.rng.random_range(-2..8),
            2 => self.rng.random_range(0..20),
            3 => self.rng.random_range(-100..300),
            4 if !self.constants.is_empty() => {
                let c = self.constants[self.rng.random_range(0..self.constants.len())] as i64;
                c.wrapping_add(self.rng.random_range(-1..2))
            }
            _ => match self.rng.random_range(0..3) {
                0 => self.rng.random_range(0..4),
                1 => self.rng.random_range(-5..50),
                _ => self.rng.random::<i64>(),
            },
        };
        Bv::from_i64(64, value).resize(width)
    }
}

/// What was seen of one loop in the present run.
#[derive(Clone, Default)]
struct Turns {
    visits: u64,
    last: VecDeque<Row>,
}

/// What was seen of one recursive function in the present run.
#[derive(Clone, Default)]
struct Nested {
    entries: u64,
    returns: u64,
    /// Calls that have not returned.
    active: u64,
}

/// Whether to keep what was seen the time of this number, from 1.
fn is_kept(number: u64) -> bool {
    number <= CALLS_PER_RUN || number.is_power_of_two()
}

struct Watcher<'a> {
    program: &'a Program,
    loops: &'a mut Loops,
    heads: &'a FxHashMap<LocId, usize>,
    functions: &'a FxHashMap<FuncId, usize>,
    turns: Vec<Turns>,
    /// The recursive functions that are active: frames below, number, values at the entry.
    calls: Vec<(usize, usize, Row)>,
    /// By number of the recursive function.
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
    fn finish(mut self) {
        for (i, turns) in std::mem::take(&mut self.turns).into_iter().enumerate() {
            for row in turns.last {
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
                    // The outermost calls tell most.
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
                self.turns[i].visits += 1;
                let visits = self.turns[i].visits;
                let row = self.row(state, &self.loops.loops[i].watched);
                if visits <= PER_RUN as u64 / 2 || visits.is_power_of_two() && visits.ilog2() <= PER_RUN as u32 {
                    keep(&mut self.loops.loops[i].samples, row);
                    return;
                }
                let last = &mut self.turns[i].last;
                if last.len() == LAST {
                    last.pop_front();
                }
                last.push_back(row);
            }
        }
    }
}
