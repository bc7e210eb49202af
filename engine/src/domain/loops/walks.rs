//! String traversals: bounds on addresses that loops move. Whenever control is at the head, such an address is assumed
//! to be in the object in which it was at the entry of the loop, and not beyond the null byte that followed it. A loop
//! over a string ends at that byte, and no candidate over variables describes its position.
//!
//! Both assumptions are treated like candidates. They are assumed in any iteration, checked at the entry and after each
//! iteration, and dropped when they fail.

use super::Unrolling;
use super::state::{State, Walk};
use crate::semantics::{ObjId, Val};
use cfa::ExprId;
use rustc_hash::FxHashSet;

/// The assumed bound of an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) enum Reach {
    /// The next null byte, if one is known at the entry. The byte is assumed to stay null.
    #[default]
    String,
    /// The end of the object.
    Object,
    /// No bound is assumed.
    Anywhere,
}

/// The bounds of the addresses that one loop moves.
pub(super) struct Bounds<'a, 'p> {
    cpa: &'a mut Unrolling<'p>,
    /// The number of the loop.
    number: u32,
}

impl<'a, 'p> Bounds<'a, 'p> {
    pub(super) fn new(cpa: &'a mut Unrolling<'p>, number: u32) -> Self {
        Self { cpa, number }
    }

    /// Records the assumed bounds of the addresses of a loop that the path is about to enter.
    pub(super) fn record(&mut self, st: &mut State) {
        let Some(l) = self.cpa.symbolic.loops.loops.get(self.number as usize) else { return };
        for (i, (address, len)) in l.addresses.clone().into_iter().enumerate() {
            let reach = self.cpa.assumptions.places[self.number as usize].reach(i);
            if reach == Reach::Anywhere || self.cpa.assumptions.without_walks || !self.cpa.is_set(st, address) {
                continue;
            }
            let Some((object, offset)) = self.offset_in_object(st, address) else { continue };
            let ends = if reach == Reach::String { self.end_of_string(st, object, offset) } else { None };
            let Some(limit) = ends.or_else(|| self.end_of_object(st, object, offset, len)) else { continue };
            let walk = Walk { activation: st.nest.active.len(), number: i, object, limit, ends: ends.is_some() };
            std::rc::Rc::make_mut(&mut st.nest.walks).push(walk);
        }
    }

    /// Assumes the bounds of the addresses of the innermost active loop.
    pub(super) fn assume(&mut self, st: &mut State) {
        let mut terms = Vec::new();
        for walk in Self::walks(st) {
            // The loop may have ended the life of the object.
            let is_alive = st.memory.get(walk.object).is_some();
            if walk.ends && is_alive && self.is_written(st, walk.object) {
                self.cpa.symbolic.execution.write_at(st, walk.object, Val::Expr(walk.limit), 1, Val::Int(0));
            }
            if let Some((_, Val::Expr(term))) = self.within_limit(st, walk) {
                terms.push(term);
            }
        }
        self.cpa.assume_all(st, terms, Vec::new(), &[]);
    }

    /// Drops the assumptions about addresses of the innermost active loop that fail in the state.
    pub(super) fn check(&mut self, st: &mut State) {
        let (mut open, mut wrong) = (Vec::new(), FxHashSet::default());
        let walks = Self::walks(st);
        for &walk in &walks {
            match self.within_limit(st, walk) {
                Some(value) if self.ends_still(st, walk) => open.push(value),
                _ => drop(wrong.insert(walk.number)),
            }
        }
        self.cpa.refute(st, open, &mut wrong);
        for walk in walks.into_iter().filter(|w| wrong.contains(&w.number)) {
            let place = self.cpa.place(self.number);
            let next = if walk.ends { Reach::Object } else { Reach::Anywhere };
            if place.reach(walk.number) < next {
                place.reaches.insert(walk.number, next);
                self.cpa.drop_assumption();
            }
        }
    }

    /// The addresses of the innermost active loop.
    fn walks(st: &State) -> Vec<Walk> {
        let last = st.nest.active.len() - 1;
        st.nest.walks.iter().filter(|w| w.activation == last).copied().collect()
    }

    /// The condition that an address is within its bound, with the number of the address. `None` if it is in another
    /// object.
    fn within_limit(&mut self, st: &State, walk: Walk) -> Option<(usize, Val)> {
        let (address, _) = self.cpa.symbolic.loops.loops[self.number as usize].addresses[walk.number];
        if !self.cpa.is_set(st, address) {
            return None;
        }
        let (object, offset) = self.offset_in_object(st, address)?;
        let terms = &mut self.cpa.symbolic.execution.terms;
        let within = terms.ule(offset, walk.limit);
        (object == walk.object).then(|| (walk.number, terms.classify(within)))
    }

    /// True if the null byte that bounds an address is still there.
    fn ends_still(&mut self, st: &mut State, walk: Walk) -> bool {
        if !walk.ends || !self.is_written(st, walk.object) {
            return true;
        }
        let holds = self.is_null(st, walk.object, walk.limit);
        self.follows(st, holds)
    }

    /// True if the loop or recursion may write the object, or the object is dead.
    fn is_written(&self, st: &State, object: ObjId) -> bool {
        let written = &self.cpa.assumptions.places[self.number as usize].written;
        st.memory.get(object).is_none_or(|o| written.contains(&o.origin))
    }

    /// The object that an address points into, by its structure, and the offset there.
    fn offset_in_object(&mut self, st: &State, address: ExprId) -> Option<(ObjId, ExprId)> {
        let value = self.cpa.symbolic.execution.eval(st, address);
        let terms = &mut self.cpa.symbolic.execution.terms;
        let object = terms.object_of(value)?;
        st.memory.get(object)?;
        let (address, base) = (terms.term(value, terms.pointer_width), terms.base(object));
        Some((object, terms.sub(address, base)))
    }

    /// The offset of a null byte at or after `offset`. The candidates are recorded writes of null bytes and the first
    /// null byte known. The solver checks that the byte is still null.
    fn end_of_string(&mut self, st: &mut State, object: ObjId, offset: ExprId) -> Option<ExprId> {
        let o = st.memory.get(object)?;
        let width = self.cpa.symbolic.execution.terms.pointer_width;
        let mut found = o.nulls().to_vec();
        if let Some(start) = self.cpa.symbolic.execution.terms.as_const(offset).and_then(cfa::Bv::to_u64) {
            found.extend(o.first_null(start).map(|at| self.cpa.symbolic.execution.terms.int(width, at)));
        }
        while let Some(at) = found.pop() {
            let reached = self.cpa.symbolic.execution.terms.ule(offset, at);
            let inside = self.fits(st, object, at, 1);
            let mut holds = self.cpa.symbolic.execution.terms.and(reached, inside);
            if self.follows(st, holds) {
                holds = self.is_null(st, object, at);
                if self.follows(st, holds) {
                    return Some(at);
                }
            }
        }
        None
    }

    /// The last valid offset of an access of `len` bytes to an object. `None` if `offset` may be beyond it.
    fn end_of_object(&mut self, st: &mut State, object: ObjId, offset: ExprId, len: u32) -> Option<ExprId> {
        let fits = self.fits(st, object, offset, len);
        if !self.follows(st, fits) {
            return None;
        }
        let terms = &mut self.cpa.symbolic.execution.terms;
        let width = terms.pointer_width;
        let size = terms.term(st.memory.get(object)?.size, width);
        let len = terms.int(width, u64::from(len));
        Some(terms.sub(size, len))
    }

    /// The condition that `len` bytes at an offset lie within the object.
    fn fits(&mut self, st: &State, object: ObjId, offset: ExprId, len: u32) -> ExprId {
        let terms = &mut self.cpa.symbolic.execution.terms;
        let width = terms.pointer_width;
        let size = terms.term(st.memory.get(object).expect("a live object").size, width);
        let len = terms.int(width, u64::from(len));
        let (some, last) = (terms.ule(len, size), terms.sub(size, len));
        let inside = terms.ule(offset, last);
        terms.and(some, inside)
    }

    /// The condition that the byte at an offset within an object is null.
    fn is_null(&mut self, st: &mut State, object: ObjId, at: ExprId) -> ExprId {
        let byte = self.cpa.symbolic.execution.read_at(st, object, Val::Expr(at), 1);
        let terms = &mut self.cpa.symbolic.execution.terms;
        let (byte, zero) = (terms.term(byte, 8), terms.int(8, 0));
        terms.eq(byte, zero)
    }

    /// True if the path implies a condition, as far as a short query can prove it.
    fn follows(&mut self, st: &mut State, holds: ExprId) -> bool {
        let mut wrong = FxHashSet::default();
        let value = self.cpa.symbolic.execution.terms.classify(holds);
        self.cpa.refute(st, vec![((), value)], &mut wrong);
        wrong.is_empty()
    }
}
