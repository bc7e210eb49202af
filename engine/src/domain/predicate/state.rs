//! The state of predicate abstraction: the history of abstractions on a path, and places in memory that predicates
//! mention.

use crate::semantics::{Memory, ObjId, Origin, State, Trail, Val};
use cfa::ExprId;
use smt::PathCondition;
use std::rc::Rc;

/// An abstraction point of a path: the end of one block and the start of the next. Formulas of blocks are built from
/// these records.
pub struct Cut {
    /// The path condition before the abstraction.
    pub pc: PathCondition,
    /// The trail before the abstraction.
    pub trail: Trail,
    /// The memory before the abstraction.
    pub memory: Memory,
    /// The number of earlier abstraction points on the path.
    pub depth: u32,
    /// The symbols that the abstraction introduced, each with the term that it replaces.
    pub replaced: Vec<(ExprId, ExprId)>,
    /// The previous abstraction point.
    pub before: Option<Rc<Cut>>,
}

impl Drop for Cut {
    /// Drops the history in a loop, because it may be too long for recursion.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(cut) = next {
            match Rc::try_unwrap(cut) {
                Ok(mut cut) => next = cut.before.take(),
                Err(_) => break,
            }
        }
    }
}

/// A range of bytes in all objects of one origin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ByteRange {
    /// The origin of the objects.
    pub origin: Origin,
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes.
    pub len: u32,
}

/// The first read of unknown bytes. The symbol for them represents the content since the last abstraction.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The object that was read.
    pub object: ObjId,
    /// The bytes that were read.
    pub place: ByteRange,
    /// The number of abstractions before the read.
    pub depth: u32,
}

/// The object of `st` that contains a place, if it is the only live object of its origin.
pub(super) fn only_object(st: &State, place: ByteRange) -> Option<ObjId> {
    let mut of_origin = st.memory.iter().filter(|(_, o)| o.origin == place.origin);
    let (id, object) = of_origin.next()?;
    let end = place.offset + u64::from(place.len);
    let fits = matches!(object.size, Val::Int(size) if end <= size);
    (fits && of_origin.next().is_none()).then_some(id)
}
