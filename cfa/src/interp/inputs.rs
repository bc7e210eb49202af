//! What a run takes from the environment of the program.

use crate::bv::Bv;
use crate::program::{GlobalId, InputId, VarId};
use std::collections::BTreeMap;

/// A memory object, named so that every executor of the same path gives it the same name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ObjectSeq {
    Global(GlobalId),
    /// The object of the n-th `Alloc` edge executed, from 0.
    Alloc(u64),
}

/// A value that the program does not determine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// That of a `Havoc` edge.
    Havoc(InputId),
    /// That of a parameter for which the call has no argument.
    Argument(VarId),
    /// That which a call stores into this variable although the callee returns nothing.
    Result(VarId),
    /// The initial value of a global variable that is initialised elsewhere.
    Global(VarId),
}

/// Where a run's unknown values come from.
pub trait InputSource {
    /// A value of `width` bits (one of another width is truncated or zero-extended). Asked once for each
    /// unknown value of a run: for globals before the run, in order of id, then as execution meets them.
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv;
    /// Changes the unknown `bytes` of an object, given as zeros, that start at `offset`. Asked at most once
    /// for each byte, in pieces of any size, when an object is made or later.
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        let _ = (object, offset, bytes);
    }
    /// The address of an object, or `None` to leave it to the interpreter. One that is null, overlaps
    /// something else, or is no multiple of `align` ends the run with
    /// [`Unplaced`](super::Outcome::Unplaced).
    fn base(&mut self, object: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        let _ = (object, size, align);
        None
    }
}

/// The inputs of one run, written down.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Inputs {
    /// The values of `Havoc` edges, missing arguments and missing results, in order of execution; when they
    /// are used up, 0.
    pub values: Vec<Bv>,
    /// The initial values of global variables that have none; 0 for others.
    pub globals: BTreeMap<VarId, Bv>,
    /// Bytes of unknown content by object and byte offset; 0 for others.
    pub bytes: BTreeMap<(ObjectSeq, u64), u8>,
    /// Addresses of objects.
    pub bases: BTreeMap<ObjectSeq, u64>,
}

impl Inputs {
    /// These inputs as a source, from the first value on.
    pub fn source(&self) -> InputsSource<'_> {
        InputsSource { inputs: self, next: 0 }
    }
}

/// Reads [`Inputs`].
pub struct InputsSource<'a> {
    inputs: &'a Inputs,
    next: usize,
}

impl InputsSource<'_> {
    /// How many of the values were asked for, those after the end included.
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
}

/// Passes on another source's answers and writes them down, so that the run can be repeated.
pub struct Recording<S> {
    pub source: S,
    pub inputs: Inputs,
}

impl<S: InputSource> Recording<S> {
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
}
