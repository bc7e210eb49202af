//! The states of tracking.

use crate::cpa::symbolic;
use crate::execution::{Memory, ObjId, Origin, Trail, Val};
use cfa::{ExprId, LocId, VarId};
use rpds::{HashTrieMap, HashTrieSet};
use smt::PathCondition;
use std::ops::{Deref, DerefMut};
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

/// A state of symbolic execution of which something may have been forgotten.
#[derive(Clone)]
pub struct State {
    pub symbolic: symbolic::State,
    pub along: Along,
}

/// What is kept of the way to a state.
#[derive(Clone, Default)]
pub struct Along {
    /// The states that were abstracted on it, where predicates are tracked.
    pub history: Option<Rc<Cut>>,
    /// Values that tracked variables had at heads of loops, while they are few.
    pub values: HashTrieMap<(LocId, VarId), HashTrieSet<u64>>,
}

impl Deref for State {
    type Target = symbolic::State;
    #[inline]
    fn deref(&self) -> &symbolic::State {
        &self.symbolic
    }
}

impl DerefMut for State {
    #[inline]
    fn deref_mut(&mut self) -> &mut symbolic::State {
        &mut self.symbolic
    }
}

impl State {
    /// States abstracted on the way.
    pub fn depth(&self) -> u32 {
        self.along.history.as_ref().map_or(0, |cut| cut.depth + 1)
    }

    /// The object that has a place, if it is the only one of its origin.
    pub fn only_object(&self, place: Place) -> Option<ObjId> {
        let mut of_origin = self.memory.iter().filter(|(_, o)| o.origin == place.origin);
        let (id, object) = of_origin.next()?;
        let end = place.offset + u64::from(place.len);
        let fits = matches!(object.size, Val::Int(size) if end <= size);
        (fits && of_origin.next().is_none()).then_some(id)
    }
}
