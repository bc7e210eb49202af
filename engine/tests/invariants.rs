//! Tests the invariants of abstract interpretation against executions of random programs.

#[path = "../../slicer/tests/generator/mod.rs"]
mod generator;

use cfa::interp::{InputSource, Interpreter, Limits, Observer, Outcome, State, Unknown};
use cfa::*;
use engine::budget::Budget;
use engine::invariant::{Discharged, Invariants};

/// Inputs of all sizes, mostly small.
struct Random(generator::Random);

impl InputSource for Random {
    fn unknown(&mut self, _what: Unknown, width: u32) -> Bv {
        let value = match self.0.below(3) {
            0 => self.0.below(8) as i64,
            1 => self.0.below(300) as i64 - 150,
            _ => (self.0.below(1 << 31) as i64) << 30 ^ self.0.below(1 << 31) as i64,
        };
        Bv::from_i64(64, value).resize(width)
    }
}

struct Checks<'a> {
    program: &'a Program,
    invariants: &'a Invariants,
    checked: usize,
    informative: usize,
}

impl Observer for Checks<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let at = match self.program.edges[edge].op {
            Op::Call { .. } => self.program.funcs[state.func()].entry,
            Op::Return { .. } | Op::Halt(_) | Op::Error(_) => return,
            _ => self.program.edges[edge].target,
        };
        assert!(self.invariants.is_reachable(at), "{at} was reached over {edge}");
        for (id, var) in self.program.vars.iter() {
            if var.func().is_some_and(|f| f != state.func()) || var.width > 64 {
                continue;
            }
            self.checked += 1;
            if let Some(known) = self.invariants.value(at, id) {
                self.informative += 1;
                let value = state.var(id).unwrap().to_u64().unwrap();
                assert!(known.contains(value), "{id} = {value} at {at}: {known:?}");
            }
        }
    }
}

#[test]
fn hold_in_executions() {
    let (mut checked, mut informative) = (0, 0);
    for seed in 0..400 {
        let (program, _) = generator::generate(seed);
        let invariants = Invariants::new(&program, &Budget::unlimited()).unwrap();
        let interpreter = Interpreter::new(&program);
        for run in 0..4 {
            let mut checks = Checks { program: &program, invariants: &invariants, checked: 0, informative: 0 };
            let limits = Limits { steps: 3_000, ..Limits::default() };
            interpreter.run(&mut Random(generator::Random::new(seed * 8 + run)), limits, &mut checks);
            checked += checks.checked;
            informative += checks.informative;
        }
    }
    assert!(informative * 10 > checked, "{informative} of {checked}");
}

struct Reached<'a> {
    program: &'a Program,
    discharged: &'a Discharged,
    /// The results without analysis of memory.
    of_variables: &'a Discharged,
    accesses: usize,
    valid: usize,
}

impl Observer for Reached<'_> {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        let &Edge { source, ref op, .. } = &self.program.edges[edge];
        assert!(self.discharged.is_reachable(source), "{edge} was executed");
        assert!(self.of_variables.is_reachable(source), "{edge} was executed");
        if op.may_fault() {
            self.accesses += 1;
            self.valid += usize::from(self.discharged.is_valid(edge, source));
        }
    }
}

#[test]
fn what_is_discharged_holds_in_executions() {
    are_discharged_rightly(&|program| Discharged::compute(program, &Budget::unlimited()), 4);
}

#[test]
fn what_is_discharged_quickly_holds_in_executions() {
    are_discharged_rightly(&|program| Discharged::quickly(program, &Budget::unlimited()), 6);
}

#[test]
fn what_is_discharged_function_by_function_holds_in_executions() {
    are_discharged_rightly(&|program| Discharged::analyse_functions(program, &Budget::unlimited()), 12);
}

/// Checks the pre-analysis on random programs. At least one in `part` accesses must be proved.
fn are_discharged_rightly(find: &dyn Fn(&Program) -> Option<Discharged>, part: usize) {
    let (mut accesses, mut valid, mut faults, mut looked_at) = (0, 0, 0, 0);
    for seed in 0..1_500 {
        let shape = generator::Shape { objects: seed % 2 == 0, ..generator::Shape::default() };
        let program = generator::generate_shaped(seed, shape).program;
        let Some(discharged) = find(&program) else { continue };
        let Some(of_variables) = Discharged::analyse_variables(&program, &Budget::unlimited()) else { continue };
        assert!(!of_variables.are_all_valid());
        looked_at += 1;
        let interpreter = Interpreter::new(&program);
        for run in 0..4 {
            let (discharged, of_variables) = (&discharged, &of_variables);
            let mut reached = Reached { program: &program, discharged, of_variables, accesses: 0, valid: 0 };
            let limits = Limits { steps: 3_000, ..Limits::default() };
            let mut inputs = Random(generator::Random::new(seed * 8 + run));
            if let Outcome::Invalid { edge, fault, .. } = interpreter.run(&mut inputs, limits, &mut reached).outcome {
                faults += 1;
                let Edge { op, source, .. } = &program.edges[edge];
                assert!(!discharged.is_valid(edge, *source), "{fault:?} of {op:?} at {edge} of program {seed}");
            }
            accesses += reached.accesses;
            valid += reached.valid;
        }
    }
    assert!(looked_at > 100 && faults > 100, "{looked_at} programs, {faults} faults");
    assert!(valid * part > accesses, "{valid} of {accesses}");
}
