//! The states of symbolic execution.

use crate::execution::{self, Memory, ObjId, Origin, Trail, Val};
use cfa::{EdgeId, ExprId, TaintId};
use smt::PathCondition;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// An operation that adds behaviours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Past {
    Approximation(TaintId),
    /// A read that C does not define, which may give anything.
    Stray(EdgeId),
}

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

/// What analyses keep of how a path came about.
#[derive(Clone, Default)]
pub struct Route {
    /// The states that were abstracted on the way, where predicates are tracked.
    pub history: Option<Rc<Cut>>,
    /// The path went through an operation that adds behaviours.
    pub past: Option<Past>,
}

/// One path.
#[derive(Clone)]
pub struct State {
    pub path: execution::State,
    pub route: Route,
}

impl Deref for State {
    type Target = execution::State;
    #[inline]
    fn deref(&self) -> &execution::State {
        &self.path
    }
}

impl DerefMut for State {
    #[inline]
    fn deref_mut(&mut self) -> &mut execution::State {
        &mut self.path
    }
}

impl State {
    /// States abstracted on the way.
    pub fn depth(&self) -> u32 {
        self.route.history.as_ref().map_or(0, |cut| cut.depth + 1)
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
