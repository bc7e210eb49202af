//! Observes iterations of loops and recursions in runs of the interpreter.

use cfa::interp::{InputSource, Interpreter, Limits, Observer, Outcome, State};
use cfa::{Bv, EdgeId, Expr, FuncId, Id, Op, Program, VarId};
use instrument::termination::{Cycles, RankedCell};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Largest number of iterations per cycle.
const KEPT: usize = 400;
/// Number of iterations kept from the end of a counterexample.
const LAST: usize = 40;

/// The values of the watched variables in order; `None` if a variable has no value.
pub type Valuation = Box<[Option<u64>]>;

/// The watched variables of a cycle.
#[derive(Default)]
pub struct Watched {
    /// Plain variables, then those of cells.
    pub vars: Vec<VarId>,
    /// The cells.
    pub cells: Vec<RankedCell>,
}

impl Watched {
    fn valuation(&self, program: &Program, state: &State) -> Valuation {
        let plain = self.vars.len() - self.cells.len();
        let vars = self.vars[..plain].iter().map(|&v| state.var(v).and_then(|v| v.to_u64()));
        let cells = self.cells.iter().map(|c| {
            let addr = state.eval(c.addr).to_u64()?;
            let bytes = state.bytes(addr, program.vars[c.var].width.div_ceil(8) as usize)?;
            let mut value = [0; 8];
            value[..bytes.len()].copy_from_slice(&bytes);
            Some(u64::from_le_bytes(value))
        });
        vars.chain(cells).collect()
    }
}

/// The observed iterations of one cycle.
#[derive(Default)]
pub struct Iterations {
    seen: FxHashSet<(Valuation, Valuation)>,
    /// Distinct pairs of the values before and after an iteration.
    pub list: Vec<(Valuation, Valuation)>,
    /// The last iterations of a counterexample.
    last: VecDeque<(Valuation, Valuation)>,
}

impl Iterations {
    fn add(&mut self, from: &Valuation, to: &Valuation, last: bool) {
        if last {
            if self.last.len() == LAST {
                self.last.pop_front();
            }
            self.last.push_back((from.clone(), to.clone()));
        } else if self.list.len() < KEPT && self.seen.insert((from.clone(), to.clone())) {
            self.list.push((from.clone(), to.clone()));
        }
    }

    fn keep_last(&mut self) {
        for iteration in self.last.drain(..) {
            if self.seen.insert(iteration.clone()) {
                self.list.push(iteration);
            }
        }
    }
}

/// The meaning of an edge for iterations.
#[derive(Clone, Copy)]
enum Event {
    /// The edge is irrelevant.
    Nothing,
    /// Execution enters this loop from outside.
    Enter(u32),
    /// An iteration of this loop starts.
    Iteration(u32),
    /// A call in this recursion. Numbers of recursions follow those of loops.
    Call(u32),
}

/// The watched variables of loops, by number, and of functions in recursions.
#[derive(Default)]
pub struct AllWatched {
    /// The watched variables by loop.
    pub loops: Vec<Watched>,
    /// The watched variables by recursion and function.
    pub functions: FxHashMap<(u32, FuncId), Watched>,
}

/// Observes the iterations of all cycles of a program.
pub struct Sampler<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p>,
    events: Vec<Event>,
    /// The watched variables.
    pub watched: AllWatched,
    /// The observed iterations by cycle.
    pub iterations: Vec<Iterations>,
}

impl<'p> Sampler<'p> {
    /// A sampler for the cycles of `program`.
    pub fn new(program: &'p Program, cycles: &Cycles, watched: AllWatched) -> Self {
        let mut events = vec![Event::Nothing; program.edges.len()];
        for (number, l) in (0u32..).zip(&cycles.loops) {
            l.enters.iter().for_each(|e| events[e.index()] = Event::Enter(number));
            events[l.iteration.index()] = Event::Iteration(number);
        }
        // All calls of these functions are events, so that the arguments of the outermost call are known.
        for (number, r) in (cycles.loops.len() as u32..).zip(&cycles.recursions) {
            for (id, edge) in program.edges.iter() {
                if let Op::Call { callee: cfa::Callee::Direct(func), .. } = edge.op
                    && r.funcs.contains(&func)
                {
                    events[id.index()] = Event::Call(number);
                }
            }
        }
        let iterations = (0..cycles.loops.len() + cycles.recursions.len()).map(|_| Iterations::default()).collect();
        Self { program, interpreter: Interpreter::new(program), events, watched, iterations }
    }

    /// Observes a run. If `end_matters`, its last iterations are kept in any case.
    pub fn run(&mut self, inputs: &mut dyn InputSource, limits: Limits, end_matters: bool) -> Outcome {
        let mut watcher = Watcher {
            program: self.program,
            events: &self.events,
            watched: &self.watched,
            iterations: &mut self.iterations,
            last: FxHashMap::default(),
            end_matters,
        };
        let outcome = self.interpreter.run(inputs, limits, &mut watcher).outcome;
        self.iterations.iter_mut().for_each(Iterations::keep_last);
        outcome
    }
}

struct Watcher<'a> {
    program: &'a Program,
    events: &'a [Event],
    watched: &'a AllWatched,
    iterations: &'a mut Vec<Iterations>,
    /// By cycle: depth of the frame and values of its last iteration, deeper frames last.
    last: FxHashMap<u32, Vec<(usize, Valuation)>>,
    end_matters: bool,
}

impl Observer for Watcher<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        match self.events[edge.index()] {
            Event::Nothing => {}
            Event::Enter(cycle) => {
                let depth = state.depth();
                if let Some(last) = self.last.get_mut(&cycle) {
                    while last.last().is_some_and(|(d, _)| *d >= depth) {
                        last.pop();
                    }
                }
            }
            Event::Iteration(cycle) => {
                let depth = state.depth();
                let values = self.watched.loops[cycle as usize].valuation(self.program, state);
                let last = self.last.entry(cycle).or_default();
                while last.last().is_some_and(|(d, _)| *d > depth) {
                    last.pop();
                }
                match last.last_mut().filter(|(d, _)| *d == depth) {
                    Some((_, before)) => {
                        self.iterations[cycle as usize].add(before, &values, self.end_matters);
                        *before = values;
                    }
                    None => last.push((depth, values)),
                }
            }
            Event::Call(cycle) => {
                let depth = state.depth();
                let values = self.watched.functions[&(cycle, state.func())].valuation(self.program, state);
                let last = self.last.entry(cycle).or_default();
                while last.last().is_some_and(|(d, _)| *d >= depth) {
                    last.pop();
                }
                if let Some((d, before)) = last.last()
                    && *d + 1 == depth
                {
                    self.iterations[cycle as usize].add(before, &values, self.end_matters);
                }
                last.push((depth, values));
            }
        }
    }
}

/// The value of `e` for the given values of the variables `vars`; `None` if a value is missing.
pub fn evaluate(program: &Program, e: cfa::ExprId, vars: &FxHashMap<VarId, usize>, values: &Valuation) -> Option<Bv> {
    let mut missing = false;
    let value = program.exprs.eval_tree(e, &mut |leaf| match leaf {
        Expr::Var(var) => {
            let width = program.vars[*var].width;
            match vars.get(var).and_then(|&i| values[i]) {
                Some(value) => Bv::new(width, value).resize(width),
                None => {
                    missing = true;
                    Bv::zero(width)
                }
            }
        }
        _ => {
            missing = true;
            Bv::zero(program.layout.pointer_width)
        }
    });
    (!missing).then_some(value)
}
