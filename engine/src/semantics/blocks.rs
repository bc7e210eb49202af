//! Copies and fills of blocks of memory of any length.
//!
//! A short block at a concrete offset and of concrete length is moved in pieces, so that values stay whole. If an
//! offset or the length is symbolic and the destination is small, each element becomes an if-then-else term of its new
//! and its old value. A large destination becomes an array given by a lambda over the index. That is one term of a size
//! independent of the length.

use super::memory::Piece;
use super::state::State;
use super::value::{ObjId, Val};
use super::{Execution, array, content};
use cfa::ExprId;

/// Maximal length of a block that is moved in pieces if an end is an array or has a symbolic offset, in bytes.
const PIECES: u64 = 128;
/// Maximal length of a block that is moved in pieces between concrete offsets, in bytes.
const PLAIN_PIECES: u64 = 1 << 22;
/// Maximal number of elements that become if-then-else terms if all offsets are concrete.
const CHOICES: u64 = 512;
/// Maximal number of elements that become if-then-else terms if an offset is symbolic. Each is then a choice between
/// elements of the source.
const TERM_CHOICES: u64 = 32;

/// The content of a block.
#[derive(Clone, Copy)]
enum Source {
    /// The bytes of an object from an offset on.
    Object(ObjId, Val),
    /// A repeated byte.
    Byte(Val),
}

/// A range of elements of the destination that a block may overwrite: the first offset, the element length in bytes,
/// and the number of elements.
struct Elements {
    first: u64,
    unit: u32,
    count: u64,
}

/// Copies `len` bytes from `src` to `dst`. The path condition keeps both ranges within their objects. They may overlap.
pub(super) fn copy(ex: &mut Execution, st: &mut State, dst: (ObjId, Val), src: (ObjId, Val), len: Val) {
    let is_array = |o: ObjId| st.memory.get(o).is_some_and(|o| o.array.is_some());
    let plain = matches!((dst.1, src.1), (Val::Int(_), Val::Int(_))) && !is_array(dst.0) && !is_array(src.0);
    match len {
        Val::Int(len) if len <= if plain { PLAIN_PIECES } else { PIECES } => copy_pieces(ex, st, dst, src, len),
        len => move_block(ex, st, dst, Source::Object(src.0, src.1), len),
    }
}

/// Sets `len` bytes at `offset` to `byte`. The path condition keeps the range within its object.
pub(super) fn fill(ex: &mut Execution, st: &mut State, object: ObjId, offset: Val, byte: Val, len: Val) {
    let plain = st.memory.get(object).is_some_and(|o| o.array.is_none()) && matches!(offset, Val::Int(_));
    match (offset, byte, len) {
        (Val::Int(offset), Val::Int(byte), Val::Int(len)) if plain && len <= PLAIN_PIECES && offset < content::FAR => {
            ex.note(st, object, false);
            ex.split_cells(st, object, offset, len);
            st.memory.get_mut(object).expect("a live object").fill(offset, byte as u8, len);
        }
        // Arrays need symbols, so without them every fill of constant length is done byte by byte.
        (_, _, Val::Int(len)) if !ex.mode.names_unknowns || len <= if plain { CHOICES } else { PIECES } => {
            for i in 0..len {
                let at = offset_plus(ex, offset, i);
                ex.write_at(st, object, at, 1, byte);
            }
        }
        _ => move_block(ex, st, (object, offset), Source::Byte(byte), len),
    }
}

fn copy_pieces(ex: &mut Execution, st: &mut State, dst: (ObjId, Val), src: (ObjId, Val), len: u64) {
    // All values are read before the first is written, since the ranges may overlap.
    let mut parts: Vec<(u64, u32, Val)> = Vec::new();
    let mut at = 0;
    while at < len {
        let n = match src.1 {
            Val::Int(offset) => part_length(st, src.0, offset + at, len - at),
            _ => (len - at).min(8) as u32,
        };
        let offset = offset_plus(ex, src.1, at);
        parts.push((at, n, ex.read_at(st, src.0, offset, n)));
        at += u64::from(n);
    }
    for (at, n, value) in parts {
        let offset = offset_plus(ex, dst.1, at);
        ex.write_at(st, dst.0, offset, n, value);
    }
}

/// The length of the next piece to copy: the rest of a cell, or up to eight bytes outside cells.
fn part_length(st: &State, object: ObjId, offset: u64, most: u64) -> u32 {
    let o = st.memory.get(object).expect("a live object");
    if o.array.is_some() {
        return most.min(8) as u32;
    }
    match o.piece(offset) {
        Piece::Cell { len, index, .. } => u64::from(len - index).min(most) as u32,
        first => {
            let unknown = first == Piece::Default;
            let mut n = 1;
            while n < most.min(8) {
                match o.piece(offset + n) {
                    Piece::Cell { .. } => break,
                    next if (next == Piece::Default) != unknown => break,
                    _ => n += 1,
                }
            }
            n as u32
        }
    }
}

fn offset_plus(ex: &mut Execution, offset: Val, n: u64) -> Val {
    match offset {
        Val::Int(offset) => Val::Int(offset + n),
        other => {
            let w = ex.terms.pointer_width;
            let e = ex.terms.term(other, w);
            let n = ex.terms.int(w, n);
            let e = ex.terms.add(e, n);
            ex.terms.classify(e)
        }
    }
}

/// Moves a block of symbolic offset or length, or of great length.
fn move_block(ex: &mut Execution, st: &mut State, dst: (ObjId, Val), src: Source, len: Val) {
    ex.note(st, dst.0, false);
    match elements(ex, st, dst, src, len) {
        Some(elements) => choose_elements(ex, st, dst, src, len, &elements),
        None => write_function(ex, st, dst, src, len),
    }
}

/// The elements of `dst` that the block may overwrite. `None` if there are too many, the size is symbolic, or the
/// content is an array.
fn elements(ex: &mut Execution, st: &State, dst: (ObjId, Val), src: Source, len: Val) -> Option<Elements> {
    let o = st.memory.get(dst.0).expect("a live object");
    let Val::Int(size) = o.size else { return None };
    if o.array.is_some() {
        return None;
    }
    let (unit, known) = match src {
        Source::Byte(_) => (ex.terms.common_unit(&[dst.1, len]), matches!(dst.1, Val::Int(_))),
        Source::Object(_, at) => {
            (ex.terms.common_unit(&[dst.1, at, len]), matches!((dst.1, at), (Val::Int(_), Val::Int(_))))
        }
    };
    let w = ex.terms.pointer_width;
    let len = ex.terms.term(len, w);
    let most = ex.solver.bounds(&ex.terms, &st.pc, len).map_or(u64::MAX, |(_, high)| high);
    let (first, end) = match dst.1 {
        Val::Int(offset) => (offset, size.min(offset.saturating_add(most))),
        _ => (0, size),
    };
    // Incomplete elements at the end are not overwritten.
    let count = end.saturating_sub(first) / u64::from(unit);
    (count <= if known { CHOICES } else { TERM_CHOICES }).then_some(Elements { first, unit, count })
}

fn choose_elements(ex: &mut Execution, st: &mut State, dst: (ObjId, Val), src: Source, len: Val, elements: &Elements) {
    let w = ex.terms.pointer_width;
    let unit = elements.unit;
    let (to, len) = (ex.terms.term(dst.1, w), ex.terms.term(len, w));
    // All values are read before the first is written, since the ranges may overlap.
    let mut news = Vec::with_capacity(elements.count as usize);
    for i in 0..elements.count {
        let at = elements.first + i * u64::from(unit);
        let at_e = ex.terms.int(w, at);
        let within = ex.terms.sub(at_e, to);
        let moved = ex.terms.ult(within, len);
        if ex.terms.is_false(moved) {
            continue;
        }
        let Some(new) = element_of(ex, st, src, within, unit) else { continue };
        let old = ex.read(st, dst.0, at, unit);
        let old = ex.terms.term(old, 8 * unit);
        let new = ex.terms.ite(moved, new, old);
        news.push((at, ex.terms.classify(new)));
    }
    for (at, new) in news {
        ex.put(st, dst.0, at, unit, new);
    }
}

/// The `unit` bytes of the block at `within` bytes from its start. `None` if they lie outside the source object.
fn element_of(ex: &mut Execution, st: &mut State, src: Source, within: ExprId, unit: u32) -> Option<ExprId> {
    let w = ex.terms.pointer_width;
    let (object, offset) = match src {
        Source::Byte(byte) => return Some(ex.terms.repeated(byte, unit)),
        Source::Object(object, offset) => (object, ex.terms.term(offset, w)),
    };
    let at = ex.terms.add(offset, within);
    let o = st.memory.get(object).expect("a live object");
    if let (Some(at), Val::Int(size)) = (ex.terms.as_const(at), o.size)
        && at.to_u64().is_none_or(|at| at > size || u64::from(unit) > size - at)
    {
        return None;
    }
    Some(content(ex, st, object, at, unit))
}

/// Reads `len` bytes of an object at an offset that may lie outside the object. The value is then arbitrary.
fn content(ex: &mut Execution, st: &mut State, object: ObjId, offset: ExprId, len: u32) -> ExprId {
    if let Val::Int(offset) = ex.terms.classify(offset) {
        let value = ex.read(st, object, offset, len);
        return ex.terms.term(value, 8 * len);
    }
    if let Some(places) = content::candidates(ex, st, object, offset, len) {
        let value = content::read_choice(ex, st, object, offset, len, places);
        return ex.terms.term(value, 8 * len);
    }
    array::make(ex, st, object, offset, len);
    let array = st.memory.get(object).expect("a live object").array.expect("just made");
    ex.terms.select_bytes(array, offset, len)
}

/// Makes the content of `dst` a lambda array: the elements of the block inside it, and the old elements elsewhere.
fn write_function(ex: &mut Execution, st: &mut State, dst: (ObjId, Val), src: Source, len: Val) {
    let w = ex.terms.pointer_width;
    if write_whole(ex, st, dst, src, len) {
        return;
    }
    let unit = match src {
        Source::Byte(_) => ex.terms.common_unit(&[dst.1, len]),
        Source::Object(_, at) => ex.terms.common_unit(&[dst.1, at, len]),
    };
    let start = ex.terms.int(w, 0);
    array::make(ex, st, dst.0, start, unit);
    let old = st.memory.get(dst.0).expect("a live object").array.expect("just made");
    let whole = ex.terms.unit(old);
    let (to, len) = (ex.terms.term(dst.1, w), ex.terms.term(len, w));
    let index = ex.terms.index(w);
    let size = ex.terms.int(w, u64::from(whole));
    let place = ex.terms.mul(index, size);
    // The block may begin or end within an element, so elements are composed of parts.
    let part = unit.min(whole);
    let mut body = None;
    for i in 0..whole / part {
        let at = ex.terms.int(w, u64::from(i * part));
        let at = ex.terms.add(place, at);
        let within = ex.terms.sub(at, to);
        let moved = ex.terms.ult(within, len);
        let new = element_of(ex, st, src, within, part).expect("the place is a term");
        let was = ex.terms.select(old, index);
        let was = ex.terms.extract(8 * (i + 1) * part - 1, 8 * i * part, was);
        let element = ex.terms.ite(moved, new, was);
        body = Some(body.map_or(element, |low| ex.terms.concat(element, low)));
    }
    let array = ex.terms.lambda(w, body.expect("an element has a part"));
    st.memory.get_mut(dst.0).expect("a live object").set_array(array);
}

/// Overwrites all of `dst` if the source is an array or a repeated byte. Returns false if this does not apply.
fn write_whole(ex: &mut Execution, st: &mut State, dst: (ObjId, Val), src: Source, len: Val) -> bool {
    let w = ex.terms.pointer_width;
    if dst.1 != Val::Int(0) || len != st.memory.get(dst.0).expect("a live object").size {
        return false;
    }
    let array = match src {
        Source::Byte(Val::Int(0)) => {
            // The first access to the zeroed object determines the element width.
            st.memory.get_mut(dst.0).expect("a live object").set_zero();
            return true;
        }
        Source::Byte(byte) => {
            let byte = ex.terms.term(byte, 8);
            Some(ex.terms.const_array(w, byte))
        }
        Source::Object(object, Val::Int(0)) => st.memory.get(object).expect("a live object").array,
        Source::Object(..) => None,
    };
    if let Some(array) = array {
        st.memory.get_mut(dst.0).expect("a live object").set_array(array);
    }
    array.is_some()
}
