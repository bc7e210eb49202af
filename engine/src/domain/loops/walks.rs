//! Where loops access memory at addresses that they move: whenever control is at the head, such an address is in the object that it was in
//! when the loop was entered, and not behind the null byte that followed it there. What ends a loop over a string is that byte alone, and
//! no candidate over variables says where it is.
//!
//! Both are candidates like others: assumed of any iteration, checked at the entry and after each iteration, and dropped where they do not hold.

use super::Unrolling;
use super::state::{State, Walk};
use crate::semantics::{ObjId, Val};
use cfa::ExprId;
use rustc_hash::FxHashSet;

/// How far an address is taken to get.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) enum Reach {
    /// To the null byte behind it, if one is known, which stays.
    #[default]
    String,
    /// To the end of its object.
    Object,
    Anywhere,
}

/// Notes how far the addresses of a loop may get that the path is about to enter.
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

/// Assumes of the loop that was entered last that its addresses have got no further.
pub(super) fn assume_walks(cpa: &mut Unrolling<'_>, st: &mut State, number: u32) {
    let mut terms = Vec::new();
    for walk in walks(st) {
        // The loop may end its life.
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

/// Drops what was assumed of addresses that have got further.
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

/// The addresses of the loop that was entered last.
fn walks(st: &State) -> Vec<Walk> {
    let last = st.nest.active.len() - 1;
    st.nest.walks.iter().filter(|w| w.activation == last).copied().collect()
}

/// That an address is within its limit; `None` if it is in another object.
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

/// Whether the null byte that an address was to stay before is there.
fn ends_still(cpa: &mut Unrolling<'_>, st: &mut State, number: u32, walk: Walk) -> bool {
    if !walk.ends || !is_written(cpa, st, number, walk.object) {
        return true;
    }
    let holds = is_null(cpa, st, walk.object, walk.limit);
    follows(cpa, st, holds)
}

fn is_written(cpa: &Unrolling<'_>, st: &State, number: u32, object: ObjId) -> bool {
    let written = &cpa.assumptions.places[number as usize].written;
    st.memory.get(object).is_none_or(|o| written.contains(&o.origin))
}

/// The object that an address is in by its structure, and the offset there.
fn offset_in_object(cpa: &mut Unrolling<'_>, st: &State, address: ExprId) -> Option<(ObjId, ExprId)> {
    let value = cpa.symbolic.execution.eval(st, address);
    let terms = &mut cpa.symbolic.execution.terms;
    let object = terms.object_of(value)?;
    st.memory.get(object)?;
    let (address, base) = (terms.term(value, terms.pointer_width), terms.base(object));
    Some((object, terms.sub(address, base)))
}

/// The offset of a null byte that is not before `offset`. The object remembers where some were written; whether one is still there, and
/// where, is asked.
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

/// The last offset of an access of `len` bytes to an object, if `offset` is not behind it.
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

/// That `len` bytes at an offset are within the object.
fn fits(cpa: &mut Unrolling<'_>, st: &State, object: ObjId, offset: ExprId, len: u32) -> ExprId {
    let terms = &mut cpa.symbolic.execution.terms;
    let width = terms.pointer_width;
    let size = terms.term(st.memory.get(object).expect("a live object").size, width);
    let len = terms.int(width, u64::from(len));
    let (some, last) = (terms.ule(len, size), terms.sub(size, len));
    let inside = terms.ule(offset, last);
    terms.and(some, inside)
}

/// That the byte at an offset within an object is null.
fn is_null(cpa: &mut Unrolling<'_>, st: &mut State, object: ObjId, at: ExprId) -> ExprId {
    let byte = cpa.symbolic.execution.read_at(st, object, Val::Expr(at), 1);
    let terms = &mut cpa.symbolic.execution.terms;
    let (byte, zero) = (terms.term(byte, 8), terms.int(8, 0));
    terms.eq(byte, zero)
}

/// Whether a condition follows from what is known of a path, as far as a short question shows.
fn follows(cpa: &mut Unrolling<'_>, st: &mut State, holds: ExprId) -> bool {
    let mut wrong = FxHashSet::default();
    let value = cpa.symbolic.execution.terms.classify(holds);
    cpa.refute(st, vec![((), value)], &mut wrong);
    wrong.is_empty()
}
