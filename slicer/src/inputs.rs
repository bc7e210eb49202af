//! Translates inputs of a slice to inputs of the original program.
//!
//! The slice reads fewer inputs than the original: it lacks inputs, and calls with the inputs inside them, that no
//! criterion depends on. An input that a run of the original reads is also an input of the slice if its edge and all
//! active calls are in the slice. Both runs read these inputs in the same order. So the original runs with the slice's
//! values in turn, and with zeros for all other inputs.

use crate::slice::Slice;
use cfa::interp::{InputSource, Inputs, Interpreter, Limits, ObjectSeq, Observer, Recording, State, Unknown};
use cfa::{Bv, EdgeId, Id, Op, Program};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

impl Slice {
    /// Returns inputs with which the original program follows the path of the slice on `inputs`. This assumes that the
    /// removed loops terminate and that the removed operations have no undefined behaviour. `limits` bound the run
    /// of the original.
    ///
    /// If the original violates an optional assumption, which the slice may have omitted, strings of unknown content
    /// become not empty: the first bytes of objects are letters instead of zeros if that satisfies the assumptions.
    pub fn inputs_of_original(&self, original: &Program, inputs: &Inputs, limits: Limits) -> Inputs {
        let mut kept_inputs = vec![false; original.inputs.len()];
        for (id, edge) in original.edges.iter() {
            if let Op::Havoc { input, .. } = edge.op {
                kept_inputs[input.index()] |= self.kept[id.index()];
            }
        }
        let kept = &self.kept;
        let run = |first_byte| {
            let calls = RefCell::new(vec![true]);
            let source = SliceInputs {
                inputs,
                kept,
                kept_inputs: &kept_inputs,
                first_byte,
                calls: &calls,
                allocs: FxHashMap::default(),
                allocs_made: (0, 0),
                next: 0,
            };
            let mut recording = Recording::new(source);
            let mut observer = RunOfOriginal { kept, calls: &calls, holds: true };
            Interpreter::new(original).run(&mut recording, limits, &mut observer);
            (recording.inputs, observer.holds)
        };
        let (inputs, holds) = run(0);
        let other = if holds { None } else { Some(run(b'a')) };
        other.filter(|(_, holds)| *holds).map_or(inputs, |(inputs, _)| inputs)
    }
}

/// Observes which active calls of a run are in the slice, and whether its optional assumptions hold.
struct RunOfOriginal<'a> {
    kept: &'a [bool],
    /// For each frame, true if all calls up to it are in the slice.
    calls: &'a RefCell<Vec<bool>>,
    /// False after an optional assumption was violated.
    holds: bool,
}

impl Observer for RunOfOriginal<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        match state.program().edges[edge].op {
            Op::Call { .. } => {
                let mut calls = self.calls.borrow_mut();
                let here = calls.last().is_some_and(|s| *s) && self.kept[edge.index()];
                calls.push(here);
            }
            Op::Assume { branch: true, optional: true, .. } => self.holds = false,
            Op::Return { .. } => {
                self.calls.borrow_mut().pop();
            }
            _ => {}
        }
    }
}

/// The inputs of a run of the program, from inputs of its slice.
struct SliceInputs<'a> {
    inputs: &'a Inputs,
    kept: &'a [bool],
    kept_inputs: &'a [bool],
    /// The first byte of an object with unknown content, unless the slice's inputs contain it.
    first_byte: u8,
    calls: &'a RefCell<Vec<bool>>,
    /// Maps the numbers of the original's allocations to the slice's.
    allocs: FxHashMap<u64, u64>,
    /// The number of executed `Alloc` edges, in all and in the slice.
    allocs_made: (u64, u64),
    /// The position of the next value of the slice's inputs.
    next: usize,
}

impl SliceInputs<'_> {
    /// Returns true if all active calls are in the slice.
    fn is_in_slice(&self) -> bool {
        self.calls.borrow().last().is_some_and(|s| *s)
    }

    fn in_slice(&self, object: ObjectSeq) -> Option<ObjectSeq> {
        match object {
            ObjectSeq::Global(_) => Some(object),
            ObjectSeq::Alloc(n) => self.allocs.get(&n).map(|&n| ObjectSeq::Alloc(n)),
        }
    }
}

impl InputSource for SliceInputs<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let value = match what {
            Unknown::Global(var) => self.inputs.globals.get(&var),
            Unknown::Havoc(input) if !self.kept_inputs[input.index()] => None,
            _ if !self.is_in_slice() => None,
            _ => {
                self.next += 1;
                self.inputs.values.get(self.next - 1)
            }
        };
        value.map_or_else(|| Bv::zero(width), |v| v.resize(width))
    }
    fn allocates(&mut self, edge: EdgeId) {
        let (all, of_slice) = self.allocs_made;
        self.allocs_made.0 += 1;
        if self.is_in_slice() && self.kept[edge.index()] {
            self.allocs.insert(all, of_slice);
            self.allocs_made.1 += 1;
        }
    }
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        if let (0, [first, ..]) = (offset, &mut *bytes) {
            *first = self.first_byte;
        }
        let Some(object) = self.in_slice(object) else { return };
        let end = offset.saturating_add(bytes.len() as u64);
        for (&(_, at), &byte) in self.inputs.bytes.range((object, offset)..(object, end)) {
            bytes[(at - offset) as usize] = byte;
        }
    }
    fn base(&mut self, object: ObjectSeq, _size: u64, _align: u32) -> Option<u64> {
        self.inputs.bases.get(&self.in_slice(object)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, slice};
    use cfa::interp::{Inputs, Interpreter, Limits, ObjectSeq, Outcome};
    use cfa::{EdgeId, Op};

    /// Each element of the list is an allocation whose content determines whether there is a further one.
    #[test]
    fn a_long_list_of_unknown_objects_becomes_an_input_of_the_original() {
        let text = "program 64 entry f0
            type ty0 int \"int\" 32 signed
            error err0 \"unreach-call\" \"m\"
            func f0 \"main\" source ty0 32 () entry l0 {
              local v0 \"n\" ty0 32
              local v1 \"other\" ty0 64
              local v2 \"element\" ty0 64
              local v3 \"more\" ty0 8
              l0: t0: v0 := 0:32 -> l1
              l1: t1: v1 := alloc heap malloc 1:64 align 16 -> l2
              l2: t2: v2 := alloc heap malloc 1:64 align 16 -> l3
              l3: t3: v3 := load v2 -> l4
              l4: t4: if (v3 == 1:8) -> l5
                  t5: else ~(v3 == 1:8) -> l7
              l5: t6: v0 := (v0 + 1:32) -> l6
              l6: t7: if (v0 == 40:32) -> l8
                  t8: else ~(v0 == 40:32) -> l1
              l7: t9: halt exit 0:32 -> l9
              l8: t10: error err0 -> l9
              l9:
            }";
        let program = cfa::text::parse(text).unwrap();
        let slice = slice(&program, &[EdgeId(10)], &Options::default()).unwrap();
        let allocations = slice.program.edges.values().filter(|e| matches!(e.op, Op::Alloc { .. })).count();
        assert_eq!(allocations, 1);
        let mut inputs = Inputs::default();
        inputs.bytes.extend((0..40).map(|n| ((ObjectSeq::Alloc(n), 0), 1)));
        let found = slice.inputs_of_original(&program, &inputs, Limits::default());
        let run = Interpreter::new(&program).run(&mut found.source(), Limits::default(), &mut ());
        assert!(matches!(run.outcome, Outcome::Error(..)), "{:?}", run.outcome);
    }
}
