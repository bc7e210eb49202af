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

/// The number of runs. Each run extends the known prefix of the map from the original's allocations to the slice's.
const ROUNDS: usize = 16;

impl Slice {
    /// Returns inputs with which the original program follows the path of the slice on `inputs`. This assumes that the
    /// removed loops terminate and that the removed operations have no undefined behaviour. `limits` bound each run of
    /// the original.
    pub fn inputs_of_original(&self, original: &Program, inputs: &Inputs, limits: Limits) -> Inputs {
        let mut kept_inputs = vec![false; original.inputs.len()];
        for (id, edge) in original.edges.iter() {
            if let Op::Havoc { input, .. } = edge.op {
                kept_inputs[input.index()] |= self.kept[id.index()];
            }
        }
        let interpreter = Interpreter::new(original);
        let mut allocs = FxHashMap::default();
        for round in 0.. {
            let progress = RefCell::new(Progress { in_slice: vec![true], ..Progress::default() });
            let source =
                SliceInputs { inputs, kept_inputs: &kept_inputs, allocs: &allocs, progress: &progress, next: 0 };
            let mut recording = Recording::new(source);
            interpreter.run(&mut recording, limits, &mut Follow { kept: &self.kept, progress: &progress });
            let recorded = recording.inputs;
            let found = progress.into_inner().allocs;
            if found == allocs || round == ROUNDS {
                return recorded;
            }
            allocs = found;
        }
        unreachable!("the last round returns")
    }
}

/// The progress of a run of the original.
#[derive(Default)]
struct Progress {
    /// For each frame, true if all calls up to it are in the slice.
    in_slice: Vec<bool>,
    /// The number of executed `Alloc` edges, in all and in the slice.
    allocs_made: (u64, u64),
    /// Maps the numbers of the original's allocations to the slice's.
    allocs: FxHashMap<u64, u64>,
}

impl Progress {
    fn is_in_slice(&self) -> bool {
        self.in_slice.last().is_some_and(|s| *s)
    }
}

/// Observes which operations of a run are in the slice.
struct Follow<'a> {
    kept: &'a [bool],
    progress: &'a RefCell<Progress>,
}

impl Observer for Follow<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let mut progress = self.progress.borrow_mut();
        match state.program().edges[edge].op {
            Op::Call { .. } => {
                let here = progress.is_in_slice() && self.kept[edge.index()];
                progress.in_slice.push(here);
            }
            Op::Return { .. } => {
                progress.in_slice.pop();
            }
            Op::Alloc { .. } => {
                let (all, of_slice) = progress.allocs_made;
                let mut next = of_slice;
                if progress.is_in_slice() && self.kept[edge.index()] {
                    progress.allocs.insert(all, of_slice);
                    next += 1;
                }
                progress.allocs_made = (all + 1, next);
            }
            _ => {}
        }
    }
}

/// The inputs of a run of the program, from inputs of its slice.
struct SliceInputs<'a> {
    inputs: &'a Inputs,
    kept_inputs: &'a [bool],
    allocs: &'a FxHashMap<u64, u64>,
    progress: &'a RefCell<Progress>,
    /// The position of the next value of the slice's inputs.
    next: usize,
}

impl SliceInputs<'_> {
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
            _ if !self.progress.borrow().is_in_slice() => None,
            _ => {
                self.next += 1;
                self.inputs.values.get(self.next - 1)
            }
        };
        value.map_or_else(|| Bv::zero(width), |v| v.resize(width))
    }
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
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
