//! The inputs of a run: values that its environment determines.

use crate::bv::Bv;
use crate::program::{EdgeId, GlobalId, InputId, VarId};
use std::collections::BTreeMap;

/// A name for a memory object. Every executor of the same path gives the object the same name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ObjectSeq {
    /// A global object.
    Global(GlobalId),
    /// The object of the n-th executed `Alloc` edge, counted from 0.
    Alloc(u64),
}

/// A value that the program does not determine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// The value of a `Havoc` edge.
    Havoc(InputId),
    /// A parameter for which the call has no argument.
    Argument(VarId),
    /// The variable that takes the result of a call whose callee returned none.
    Result(VarId),
    /// The initial value of a global variable that another file initialises.
    Global(VarId),
}

/// A source of the unknown values of a run.
pub trait InputSource {
    /// Returns a value, which the caller truncates or zero-extends to `width` bits. The interpreter calls this once for
    /// each unknown value of a run: first for globals, in order of id, then in order of execution.
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv;
    /// An `Alloc` edge is about to create an object. The interpreter calls this before it requests the address and the
    /// bytes of the object.
    fn allocates(&mut self, edge: EdgeId) {
        let _ = edge;
    }
    /// Sets the unknown `bytes` of an object from `offset` on. They are zero on entry. The interpreter requests each
    /// byte at most once, in pieces of any size, when it creates the object or later.
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        let _ = (object, offset, bytes);
    }
    /// Returns true if the interpreter must call [`read_unwritten`](Self::read_unwritten) for this object. The
    /// interpreter requests this when it requests bytes of the object.
    fn observes_reads(&self, object: ObjectSeq) -> bool {
        let _ = object;
        false
    }
    /// The run reads unknown bytes that the program has not written. A copy of such bytes is no read: the bytes at its
    /// destination are unwritten, too. The interpreter may also call this if the run does not read them.
    fn read_unwritten(&mut self) {}
    /// Returns the address of an object, or `None` if the interpreter may choose it. The run ends with
    /// [`Unplaced`](super::Outcome::Unplaced) if the address is null, is no multiple of `align`, or makes the object
    /// overlap another.
    fn base(&mut self, object: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        let _ = (object, size, align);
        None
    }
    /// Chooses the thread that continues at a point, from those that are enabled. Points are numbered in the order of
    /// execution.
    fn thread(&mut self, point: u64, current: u32, enabled: &[u32]) -> u32 {
        let _ = point;
        if enabled.contains(&current) { current } else { enabled[0] }
    }
}

/// The recorded inputs of one run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Inputs {
    /// The values of `Havoc` edges, missing arguments and missing results, in order of execution. Further values are 0.
    pub values: Vec<Bv>,
    /// The initial values of global variables without an initialiser. Missing values are 0.
    pub globals: BTreeMap<VarId, Bv>,
    /// Unknown bytes by object and byte offset. Missing bytes are 0.
    pub bytes: BTreeMap<(ObjectSeq, u64), u8>,
    /// The addresses of objects.
    pub bases: BTreeMap<ObjectSeq, u64>,
    /// The schedule of a program with threads: the thread that runs from each point on. If that thread is blocked or
    /// has ended, the first thread that can continue runs.
    pub schedule: BTreeMap<u64, u32>,
}

impl Inputs {
    /// A source that returns these inputs from the first value on.
    pub fn source(&self) -> InputsSource<'_> {
        InputsSource { inputs: self, next: 0 }
    }
}

/// An input source that reads [`Inputs`].
pub struct InputsSource<'a> {
    inputs: &'a Inputs,
    next: usize,
}

impl InputsSource<'_> {
    /// The number of requested values, including requests after the last value.
    pub fn used(&self) -> usize {
        self.next
    }
}

impl InputSource for InputsSource<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let value = if let Unknown::Global(var) = what {
            self.inputs.globals.get(&var)
        } else {
            self.next += 1;
            self.inputs.values.get(self.next - 1)
        };
        value.map_or_else(|| Bv::zero(width), |v| v.resize(width))
    }
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        let end = offset.saturating_add(bytes.len() as u64);
        for (&(_, at), &byte) in self.inputs.bytes.range((object, offset)..(object, end)) {
            bytes[(at - offset) as usize] = byte;
        }
    }
    fn base(&mut self, object: ObjectSeq, _size: u64, _align: u32) -> Option<u64> {
        self.inputs.bases.get(&object).copied()
    }
    fn thread(&mut self, point: u64, current: u32, enabled: &[u32]) -> u32 {
        let default = if enabled.contains(&current) { current } else { enabled[0] };
        self.inputs.schedule.get(&point).copied().filter(|t| enabled.contains(t)).unwrap_or(default)
    }
}

/// An input source that forwards to another one and records its answers, so that the run can be repeated.
pub struct Recording<S> {
    /// The source that answers.
    pub source: S,
    /// The recorded answers.
    pub inputs: Inputs,
}

impl<S: InputSource> Recording<S> {
    /// Starts without recorded answers.
    pub fn new(source: S) -> Self {
        Self { source, inputs: Inputs::default() }
    }
}

impl<S: InputSource> InputSource for Recording<S> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let value = self.source.unknown(what, width).resize(width);
        if let Unknown::Global(var) = what {
            self.inputs.globals.insert(var, value.clone());
        } else {
            self.inputs.values.push(value.clone());
        }
        value
    }
    fn allocates(&mut self, edge: EdgeId) {
        self.source.allocates(edge);
    }
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        self.source.bytes(object, offset, bytes);
        for (at, &byte) in (offset..).zip(&*bytes) {
            if byte != 0 {
                self.inputs.bytes.insert((object, at), byte);
            }
        }
    }
    fn base(&mut self, object: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        let base = self.source.base(object, size, align)?;
        self.inputs.bases.insert(object, base);
        Some(base)
    }
    fn thread(&mut self, point: u64, current: u32, enabled: &[u32]) -> u32 {
        let default = if enabled.contains(&current) { current } else { enabled[0] };
        let next = self.source.thread(point, current, enabled);
        if next != default {
            self.inputs.schedule.insert(point, next);
        }
        next
    }
}
