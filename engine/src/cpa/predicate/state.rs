//! What states keep where predicates are tracked: the blocks between abstractions, and the places in memory that predicates speak of.

use crate::cpa::tracking::{State, Tracking};
use crate::execution::{Memory, ObjId, Origin, Trail, Unwritten, Val};
use cfa::{ExprId, Sort};
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

impl State {
    /// The object that has a place, if it is the only one of its origin.
    pub fn only_object(&self, place: Place) -> Option<ObjId> {
        let mut of_origin = self.memory.iter().filter(|(_, o)| o.origin == place.origin);
        let (id, object) = of_origin.next()?;
        let end = place.offset + u64::from(place.len);
        let fits = matches!(object.size, Val::Int(size) if end <= size);
        (fits && of_origin.next().is_none()).then_some(id)
    }
}

impl Tracking<'_> {
    /// Takes note of the symbols made for places of which nothing was known, where that was read in a state of this history.
    pub(crate) fn note_contents(&mut self, history: &Option<Rc<Cut>>) {
        let Some(unwritten) = self.symbolic.execution.unwritten.as_mut().filter(|u| !u.is_empty()) else { return };
        let unwritten = std::mem::take(unwritten);
        if let Some(last) = history {
            for Unwritten { object, origin, offset, len, symbol } in unwritten {
                let seen = Seen { object, place: Place { origin, offset, len }, depth: last.depth + 1 };
                self.contents.insert(symbol, seen);
            }
        }
    }

    /// The symbol by which predicates speak of a place.
    pub(crate) fn place_symbol(&mut self, place: Place) -> ExprId {
        let Self { places, place_of, symbolic, .. } = self;
        *places.entry(place).or_insert_with(|| {
            let (symbol, e) = symbolic.execution.terms.fresh_symbol(Sort::Bv(8 * place.len));
            place_of.insert(symbol, place);
            e
        })
    }
}
