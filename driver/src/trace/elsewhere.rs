//! Replays of a violation with other addresses of objects. They show whether the violation depends on the addresses.

use cfa::interp::{InputSource, Inputs, InputsSource, Interpreter, Limits, ObjectSeq, Outcome, Unknown};
use cfa::{Bv, ErrorId, InputKind, Program};

/// The address of the first object, for pointers of 32 and of 64 bits. Linux places heap objects near these addresses.
/// The addresses that the interpreter chooses are far away.
const FIRST: [u64; 2] = [0x5655_8000, 0x5555_5555_8000];
/// The end of the highest object if later objects have lower addresses, for pointers of 32 and of 64 bits. The stack of
/// Linux starts near these addresses.
const LAST: [u64; 2] = [0xbfff_8000, 0x7fff_ffff_8000];
/// The minimum number of bytes between objects.
const GAP: u64 = 4096;
/// The minimum alignment of objects in bytes. It is the alignment of blocks from `malloc` and of stack frames (System V
/// ABI, AMD64, section 3.2.2). So objects at the same offset in the frames of two calls of a function have the same
/// alignment.
const ALIGN: u64 = 16;

/// An input source that returns recorded inputs, but places objects at other addresses.
struct Elsewhere<'a> {
    inputs: InputsSource<'a>,
    /// The address that bounds the next object.
    next: u64,
    /// True if later objects have lower addresses.
    is_descending: bool,
}

impl InputSource for Elsewhere<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        self.inputs.unknown(what, width)
    }

    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        self.inputs.bytes(object, offset, bytes);
    }

    fn base(&mut self, _: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        let align = u64::from(align).max(ALIGN);
        if self.is_descending {
            let base = self.next.checked_sub(size)? / align * align;
            self.next = base.checked_sub(GAP)?;
            return Some(base);
        }
        let base = self.next.checked_next_multiple_of(align)?;
        self.next = base.checked_add(size)?.checked_add(GAP)?;
        Some(base)
    }

    fn thread(&mut self, point: u64, current: u32, enabled: &[u32]) -> u32 {
        self.inputs.thread(point, current, enabled)
    }
}

/// An input source that returns recorded inputs, except for the objects of string literals. Each literal is an object
/// of its own, or a part of the first other object that may contain it.
struct Literals<'a> {
    inputs: InputsSource<'a>,
    program: &'a Program,
    /// True if a literal is a part of another object.
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

/// Returns true if a run on the inputs does not reach `error` when objects have other addresses, in the order of their
/// creation or in the reverse order. The run reaches `error` with the recorded addresses. A replay that exceeds the
/// limits or finds no address for an object does not count.
pub fn differs(program: &Program, inputs: &Inputs, error: ErrorId, limits: Limits) -> bool {
    let is_wide = usize::from(program.layout.pointer_width == 64);
    [(FIRST[is_wide], false), (LAST[is_wide], true)].into_iter().any(|(next, is_descending)| {
        misses(program, &mut Elsewhere { inputs: inputs.source(), next, is_descending }, error, limits)
    })
}

/// Returns true if a run on the inputs does not reach `error` when string literals share memory in another way. The run
/// reaches `error` with the recorded choice. A replay that exceeds the limits does not count.
pub fn differs_by_literals(program: &Program, inputs: &Inputs, error: ErrorId, limits: Limits) -> bool {
    program.inputs.values().any(|input| input.kind == InputKind::literals())
        && [false, true]
            .into_iter()
            .any(|share| misses(program, &mut Literals { inputs: inputs.source(), program, share }, error, limits))
}

/// Returns true if a run does not reach `error`. Returns false if the run exceeds the limits or cannot place an object.
fn misses(program: &Program, source: &mut dyn InputSource, error: ErrorId, limits: Limits) -> bool {
    match Interpreter::new(program).run(source, limits, &mut ()).outcome {
        Outcome::Limit(_) | Outcome::Unplaced(_) => false,
        outcome => outcome.error(program).is_none_or(|(found, _)| found != error),
    }
}
