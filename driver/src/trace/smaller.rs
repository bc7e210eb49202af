//! Smaller inputs that lead to the same error: a string of two characters says more than one of a million.

use cfa::interp::{Inputs, Interpreter, Limits, ObjectSeq, Observer, State};
use cfa::{Bv, Check, EdgeId, ErrorId, FunctionOrigin, InputKind, Op, Program};
use std::time::Duration;

/// Runs whose number of steps is larger are left as they are.
const STEPS: u64 = 50_000;
/// Steps of all runs together.
const ALL_STEPS: u64 = 5_000_000;
/// Bytes of an `int`.
const WORD: u64 = 4;
/// Runs at most.
const RUNS: usize = 400;
/// All runs together take at most this long.
pub const TIME: Duration = Duration::from_millis(300);

/// Where a run ends in an error: with the call that is left for it last, and the last one in the user's code, since an error of the
/// library's or of `reach_error` is one of its caller.
#[derive(PartialEq, Eq)]
struct End {
    error: (ErrorId, EdgeId),
    call: Option<EdgeId>,
    users: Option<EdgeId>,
    /// What models of the library took from the environment, in order: together these say what was read, so none is changed.
    environment: Vec<Bv>,
}

/// The calls that a run is in, and what models of the library took from the environment.
struct Calls<'p> {
    program: &'p Program,
    stack: Vec<EdgeId>,
    environment: Vec<Bv>,
}

impl Observer for Calls<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        match self.program.edges[edge].op {
            Op::Call { .. } => self.stack.push(edge),
            Op::Return { .. } => drop(self.stack.pop()),
            Op::Havoc { var, input } if matches!(self.program.inputs[input].kind, InputKind::Environment(_)) => {
                self.environment.extend(state.var(var));
            }
            _ => {}
        }
    }
}

struct Search<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p>,
    end: Option<End>,
    limits: Limits,
    runs: usize,
    steps: u64,
}

/// Inputs that lead to the same error at the same place as `inputs`, with smaller values where a few runs find some.
pub fn inputs(program: &Program, inputs: &Inputs, error: ErrorId, limits: Limits) -> Inputs {
    let limits = Limits { steps: STEPS, ..limits };
    let mut search = Search { program, interpreter: Interpreter::new(program), end: None, limits, runs: 0, steps: 0 };
    let end = search.run(inputs).filter(|end| end.error.0 == error);
    // Smaller inputs may lose another object, or bring objects that are compared to the same address.
    let is_about_objects = |end: &End| {
        matches!(program.edges[end.error.1].op, Op::Leak(_))
            || matches!(program.errors[end.error.0].check, Check::PointerCompare | Check::PointerSubtract)
    };
    search.end = end.filter(|end| !is_about_objects(end));
    if search.end.is_none() {
        return inputs.clone();
    }
    let mut best = inputs.clone();
    for n in 0..best.values.len() {
        search.value(&mut best, n);
    }
    search.bytes(&mut best);
    for key in best.bytes.keys().copied().collect::<Vec<_>>() {
        search.number(&mut best, key);
    }
    best
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.runs >= RUNS || self.steps >= ALL_STEPS
    }

    /// Returns whether a run on these inputs comes to the same error at the same place.
    fn holds(&mut self, inputs: &Inputs) -> bool {
        !self.is_over() && self.run(inputs) == self.end
    }

    /// Where a run on these inputs ends in an error.
    fn run(&mut self, inputs: &Inputs) -> Option<End> {
        let mut calls = Calls { program: self.program, stack: Vec::new(), environment: Vec::new() };
        let run = self.interpreter.run(&mut inputs.source(), self.limits, &mut calls);
        self.runs += 1;
        self.steps += run.steps;
        let error = run.outcome.error(self.program)?;
        let is_users = |edge: &EdgeId| self.program.funcs[self.program.func_of(*edge)].origin == FunctionOrigin::Source;
        let users = std::iter::once(&error.1).chain(calls.stack.iter().rev()).copied().find(|edge| is_users(edge));
        Some(End { error, call: calls.stack.last().copied(), users, environment: calls.environment })
    }

    fn holds_with(&mut self, best: &mut Inputs, n: usize, value: Bv) -> bool {
        let old = std::mem::replace(&mut best.values[n], value);
        let holds = self.holds(best);
        if !holds {
            best.values[n] = old;
        }
        holds
    }

    /// Makes a value smaller: its amount, if it is negative as a signed number.
    fn value(&mut self, best: &mut Inputs, n: usize) {
        let value = best.values[n].clone();
        let width = value.width();
        if value.is_zero() || self.holds_with(best, n, Bv::zero(width)) {
            return;
        }
        let (Some(bits), 2..=64) = (value.to_u64(), width) else { return };
        let mask = u64::MAX >> (64 - width);
        let is_negative = bits >> (width - 1) == 1;
        let of =
            |amount: u64, negative: bool| Bv::new(width, if negative { amount.wrapping_neg() & mask } else { amount });
        let (negative, most) = match is_negative {
            false => (false, bits),
            // A large unsigned number, maybe.
            true if self.holds_with(best, n, of(mask >> 1, false)) => (false, mask >> 1),
            true => (true, bits.wrapping_neg() & mask),
        };
        // The largest amount that is known not to lead there, and the smallest that does.
        let (mut low, mut high) = (0, most);
        while high - low > 1 && !self.is_over() {
            // Most programs need small numbers.
            let middle = if low == 0 { (high >> (high.ilog2() / 2 + 1)).max(1) } else { low + (high - low) / 2 };
            match self.holds_with(best, n, of(middle, negative)) {
                true => high = middle,
                false => low = middle,
            }
        }
    }

    /// Makes a number in memory smaller: of the aligned word that the byte is in, only the lowest byte is kept if that is enough.
    fn number(&mut self, best: &mut Inputs, (object, at): (ObjectSeq, u64)) {
        let low = at - at % WORD;
        if at == low || !best.bytes.contains_key(&(object, at)) {
            return;
        }
        let mut fewer = best.clone();
        for offset in low..low + WORD {
            fewer.bytes.remove(&(object, offset));
        }
        fewer.bytes.insert((object, low), i8::MAX as u8);
        if !self.holds(&fewer) {
            return;
        }
        *best = fewer;
        let (mut fails, mut holds) = (0, i8::MAX as u8);
        while holds - fails > 1 && !self.is_over() {
            let middle = fails + (holds - fails) / 2;
            let old = best.bytes.insert((object, low), middle);
            match self.holds(best) {
                true => holds = middle,
                false => {
                    fails = middle;
                    best.bytes.insert((object, low), old.unwrap_or(holds));
                }
            }
        }
    }

    /// Leaves out bytes that do not matter: all of them, or halves of what is left.
    fn bytes(&mut self, best: &mut Inputs) {
        let keys: Vec<_> = best.bytes.keys().copied().collect();
        let mut parts = vec![keys];
        while let Some(part) = parts.pop() {
            let mut fewer = best.clone();
            for key in &part {
                fewer.bytes.remove(key);
            }
            if part.is_empty() || self.is_over() {
                continue;
            }
            if self.holds(&fewer) {
                *best = fewer;
            } else if part.len() > 1 {
                let (first, second) = part.split_at(part.len() / 2);
                parts.extend([first.to_vec(), second.to_vec()]);
            }
        }
    }
}
