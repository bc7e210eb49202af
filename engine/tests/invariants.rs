//! Invariants by abstract interpretation against executions of random programs.

#[path = "../../slicer/tests/generator/mod.rs"]
mod generator;

use cfa::interp::{InputSource, Interpreter, Limits, Observer, State, Unknown};
use cfa::*;
use engine::budget::Budget;
use engine::invariants::Invariants;

/// Values of any size, small ones preferred.
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
