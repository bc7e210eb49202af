//! What states keep where predicates are tracked: the blocks between abstractions, and the places in memory that predicates speak of.

use crate::semantics::{Memory, ObjId, Origin, State, Trail, Val};
use cfa::ExprId;
use smt::PathCondition;
use std::rc::Rc;

/// A state as it was abstracted.
pub struct Cut {
    pub pc: PathCondition,
    pub trail: Trail,
    /// Before anything of it was forgotten.
    pub memory: Memory,
    /// States abstracted before this one.
    pub depth: u32,
    /// The symbols made then, with the terms that they replace.
    pub replaced: Vec<(ExprId, ExprId)>,
    pub before: Option<Rc<Cut>>,
}

impl Drop for Cut {
    /// Iterative: there may be many.
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

/// Some bytes of the objects of one origin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    pub origin: Origin,
    pub offset: u64,
    pub len: u32,
}

/// Where a symbol for bytes that nothing is known of was first read: it stands for the content since the last abstraction.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub object: ObjId,
    pub place: Place,
    /// States abstracted before.
    pub depth: u32,
}

/// The object of `st` that has a place, if it is the only one of its origin.
pub(super) fn only_object(st: &State, place: Place) -> Option<ObjId> {
    let mut of_origin = st.memory.iter().filter(|(_, o)| o.origin == place.origin);
    let (id, object) = of_origin.next()?;
    let end = place.offset + u64::from(place.len);
    let fits = matches!(object.size, Val::Int(size) if end <= size);
    (fits && of_origin.next().is_none()).then_some(id)
}
