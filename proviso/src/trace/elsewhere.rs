//! Whether a violation depends on where objects lie in memory.

use cfa::interp::{InputSource, Inputs, InputsSource, Interpreter, Limits, ObjectSeq, Outcome, Unknown};
use cfa::{Bv, ErrorId, Program};

/// Where the first object lies, with pointers of 32 and of 64 bits: about where Linux puts what a program allocates, which is far from where
/// the interpreter does.
const FIRST: [u64; 2] = [0x5655_8000, 0x5555_5555_8000];
/// Bytes between objects.
const GAP: u64 = 4096;
/// What each object is aligned to: as `malloc` aligns what it gives, and functions their frames (System V ABI, AMD64, section 3.2.2). So what
/// two calls of a function have at the same place in their frames is aligned alike.
const ALIGN: u64 = 16;

/// Inputs, with objects at addresses of their own.
struct Elsewhere<'a> {
    inputs: InputsSource<'a>,
    next: u64,
}

impl InputSource for Elsewhere<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        self.inputs.unknown(what, width)
    }

    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        self.inputs.bytes(object, offset, bytes);
    }

    fn base(&mut self, _: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        let base = self.next.checked_next_multiple_of(u64::from(align).max(ALIGN))?;
        self.next = base.checked_add(size)?.checked_add(GAP)?;
        Some(base)
    }
}

/// Whether a run on these inputs, which comes to `error`, does not come to it with objects elsewhere.
pub fn differs(program: &Program, inputs: &Inputs, error: ErrorId, limits: Limits) -> bool {
    let next = FIRST[usize::from(program.layout.pointer_width == 64)];
    let mut elsewhere = Elsewhere { inputs: inputs.source(), next };
    match Interpreter::new(program).run(&mut elsewhere, limits, &mut ()).outcome {
        Outcome::Limit(_) | Outcome::Unplaced(_) => false,
        outcome => outcome.error(program).is_none_or(|(found, _)| found != error),
    }
}
