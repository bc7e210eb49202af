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

/// Records the assumed bounds of the addresses of a loop that the path is about to enter.
pub(super) fn set_out(cpa: &mut Unrolling<'_>, st: &mut State, number: u32) {
    let Some(l) = cpa.symbolic.loops.loops.get(number as usize) else { return };
    for (i, (address, len)) in l.addresses.clone().into_iter().enumerate() {
        let reach = cpa.assumptions.places[number as usize].reach(i);
        if reach == Reach::Anywhere || cpa.assumptions.without_walks || !cpa.is_set(st, address) {
            continue;
        }
        let Some((object, offset)) = offset_in_object(cpa, st, address) else { continue };
        let ends = if reach == Reach::String { end_of_string(cpa, st, object, offset) } else { None };
        let Some(limit) = ends.or_else(|| end_of_object(cpa, st, object, offset, len)) else { continue };
        let walk = Walk { activation: st.nest.active.len(), number: i, object, limit, ends: ends.is_some() };
        std::rc::Rc::make_mut(&mut st.nest.walks).push(walk);
    }
}

/// Assumes the bounds of the addresses of the innermost active loop.
pub(super) fn assume_walks(cpa: &mut Unrolling<'_>, st: &mut State, number: u32) {
    let mut terms = Vec::new();
    for walk in walks(st) {
        // The loop may have ended the life of the object.
        let is_alive = st.memory.get(walk.object).is_some();
        if walk.ends && is_alive && is_written(cpa, st, number, walk.object) {
            cpa.symbolic.execution.write_at(st, walk.object, Val::Expr(walk.limit), 1, Val::Int(0));
        }
        if let Some((_, Val::Expr(term))) = within_limit(cpa, st, number, walk) {
            terms.push(term);
        }
    }
    cpa.assume_all(st, terms, Vec::new(), &[]);
}

/// Drops the assumptions about addresses of the innermost active loop that fail in the state.
pub(super) fn check_walks(cpa: &mut Unrolling<'_>, st: &mut State, number: u32) {
    let (mut open, mut wrong) = (Vec::new(), FxHashSet::default());
    let walks = walks(st);
    for &walk in &walks {
        match within_limit(cpa, st, number, walk) {
            Some(value) if ends_still(cpa, st, number, walk) => open.push(value),
            _ => drop(wrong.insert(walk.number)),
        }
    }
    cpa.refute(st, open, &mut wrong);
    for walk in walks.into_iter().filter(|w| wrong.contains(&w.number)) {
        let place = cpa.place(number);
        let next = if walk.ends { Reach::Object } else { Reach::Anywhere };
        if place.reach(walk.number) < next {
            place.reaches.insert(walk.number, next);
            cpa.drop_assumption();
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
fn within_limit(cpa: &mut Unrolling<'_>, st: &State, number: u32, walk: Walk) -> Option<(usize, Val)> {
    let (address, _) = cpa.symbolic.loops.loops[number as usize].addresses[walk.number];
    if !cpa.is_set(st, address) {
        return None;
    }
    let (object, offset) = offset_in_object(cpa, st, address)?;
    let terms = &mut cpa.symbolic.execution.terms;
    let within = terms.ule(offset, walk.limit);
    (object == walk.object).then(|| (walk.number, terms.classify(within)))
}

/// True if the null byte that bounds an address is still there.
fn ends_still(cpa: &mut Unrolling<'_>, st: &mut State, number: u32, walk: Walk) -> bool {
    if !walk.ends || !is_written(cpa, st, number, walk.object) {
        return true;
    }
    let holds = is_null(cpa, st, walk.object, walk.limit);
    follows(cpa, st, holds)
}

/// True if the loop or recursion may write the object, or the object is dead.
fn is_written(cpa: &Unrolling<'_>, st: &State, number: u32, object: ObjId) -> bool {
    let written = &cpa.assumptions.places[number as usize].written;
    st.memory.get(object).is_none_or(|o| written.contains(&o.origin))
}

/// The object that an address points into, by its structure, and the offset there.
fn offset_in_object(cpa: &mut Unrolling<'_>, st: &State, address: ExprId) -> Option<(ObjId, ExprId)> {
    let value = cpa.symbolic.execution.eval(st, address);
    let terms = &mut cpa.symbolic.execution.terms;
    let object = terms.object_of(value)?;
    st.memory.get(object)?;
    let (address, base) = (terms.term(value, terms.pointer_width), terms.base(object));
    Some((object, terms.sub(address, base)))
}

/// The offset of a null byte at or after `offset`. The candidates are recorded writes of null bytes and the first null
/// byte known. The solver checks that the byte is still null.
fn end_of_string(cpa: &mut Unrolling<'_>, st: &mut State, object: ObjId, offset: ExprId) -> Option<ExprId> {
    let o = st.memory.get(object)?;
    let width = cpa.symbolic.execution.terms.pointer_width;
    let mut found = o.nulls().to_vec();
    if let Some(start) = cpa.symbolic.execution.terms.as_const(offset).and_then(cfa::Bv::to_u64) {
        found.extend(o.first_null(start).map(|at| cpa.symbolic.execution.terms.int(width, at)));
    }
    while let Some(at) = found.pop() {
        let reached = cpa.symbolic.execution.terms.ule(offset, at);
        let inside = fits(cpa, st, object, at, 1);
        let mut holds = cpa.symbolic.execution.terms.and(reached, inside);
        if follows(cpa, st, holds) {
            holds = is_null(cpa, st, object, at);
            if follows(cpa, st, holds) {
                return Some(at);
            }
        }
    }
    None
}

/// The last valid offset of an access of `len` bytes to an object. `None` if `offset` may be beyond it.
fn end_of_object(cpa: &mut Unrolling<'_>, st: &mut State, object: ObjId, offset: ExprId, len: u32) -> Option<ExprId> {
    let fits = fits(cpa, st, object, offset, len);
    if !follows(cpa, st, fits) {
        return None;
    }
    let terms = &mut cpa.symbolic.execution.terms;
    let width = terms.pointer_width;
    let size = terms.term(st.memory.get(object)?.size, width);
    let len = terms.int(width, u64::from(len));
    Some(terms.sub(size, len))
}

/// The condition that `len` bytes at an offset lie within the object.
fn fits(cpa: &mut Unrolling<'_>, st: &State, object: ObjId, offset: ExprId, len: u32) -> ExprId {
    let terms = &mut cpa.symbolic.execution.terms;
    let width = terms.pointer_width;
    let size = terms.term(st.memory.get(object).expect("a live object").size, width);
    let len = terms.int(width, u64::from(len));
    let (some, last) = (terms.ule(len, size), terms.sub(size, len));
    let inside = terms.ule(offset, last);
    terms.and(some, inside)
}

/// The condition that the byte at an offset within an object is null.
fn is_null(cpa: &mut Unrolling<'_>, st: &mut State, object: ObjId, at: ExprId) -> ExprId {
    let byte = cpa.symbolic.execution.read_at(st, object, Val::Expr(at), 1);
    let terms = &mut cpa.symbolic.execution.terms;
    let (byte, zero) = (terms.term(byte, 8), terms.int(8, 0));
    terms.eq(byte, zero)
}

/// True if the path implies a condition, as far as a short query can prove it.
fn follows(cpa: &mut Unrolling<'_>, st: &mut State, holds: ExprId) -> bool {
    let mut wrong = FxHashSet::default();
    let value = cpa.symbolic.execution.terms.classify(holds);
    cpa.refute(st, vec![((), value)], &mut wrong);
    wrong.is_empty()
}
