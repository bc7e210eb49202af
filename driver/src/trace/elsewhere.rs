//! Whether a violation depends on where objects lie in memory.

use cfa::interp::{InputSource, Inputs, InputsSource, Interpreter, Limits, ObjectSeq, Outcome, Unknown};
use cfa::{Bv, ErrorId, InputKind, Program};

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

    fn thread(&mut self, point: u64, current: u32, enabled: &[u32]) -> u32 {
        self.inputs.thread(point, current, enabled)
    }
}

/// Inputs, but for the choice of the objects that string literals are in: each is one of its own, or the first other one that it may be in.
struct Literals<'a> {
    inputs: InputsSource<'a>,
    program: &'a Program,
    share: bool,
}

impl InputSource for Literals<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let value = self.inputs.unknown(what, width);
        match what {
            Unknown::Havoc(input) if self.program.inputs[input].kind == InputKind::literals() => {
                Bv::new(width, u64::from(self.share))
            }
            _ => value,
        }
    }

    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        self.inputs.bytes(object, offset, bytes);
    }

    fn base(&mut self, object: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        self.inputs.base(object, size, align)
    }

    fn thread(&mut self, point: u64, current: u32, enabled: &[u32]) -> u32 {
        self.inputs.thread(point, current, enabled)
    }
}

/// Whether a run on these inputs, which comes to `error`, does not come to it with objects elsewhere.
pub fn differs(program: &Program, inputs: &Inputs, error: ErrorId, limits: Limits) -> bool {
    let next = FIRST[usize::from(program.layout.pointer_width == 64)];
    misses(program, &mut Elsewhere { inputs: inputs.source(), next }, error, limits)
}

/// Whether a run on these inputs, which comes to `error`, does not come to it where string literals share memory otherwise.
pub fn differs_by_literals(program: &Program, inputs: &Inputs, error: ErrorId, limits: Limits) -> bool {
    program.inputs.values().any(|input| input.kind == InputKind::literals())
        && [false, true]
            .into_iter()
            .any(|share| misses(program, &mut Literals { inputs: inputs.source(), program, share }, error, limits))
}

fn misses(program: &Program, source: &mut dyn InputSource, error: ErrorId, limits: Limits) -> bool {
    match Interpreter::new(program).run(source, limits, &mut ()).outcome {
        Outcome::Limit(_) | Outcome::Unplaced(_) => false,
        outcome => outcome.error(program).is_none_or(|(found, _)| found != error),
    }
}
