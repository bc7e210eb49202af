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

impl Execution<'_> {
    /// Copies `len` bytes from `src` to `dst`. The path condition keeps both ranges within their objects. They may
    /// overlap.
    pub(super) fn copy_block(&mut self, st: &mut State, dst: (ObjId, Val), src: (ObjId, Val), len: Val) {
        let is_array = |o: ObjId| st.memory.get(o).is_some_and(|o| o.array.is_some());
        let plain = matches!((dst.1, src.1), (Val::Int(_), Val::Int(_))) && !is_array(dst.0) && !is_array(src.0);
        match len {
            Val::Int(len) if len <= if plain { PLAIN_PIECES } else { PIECES } => self.copy_pieces(st, dst, src, len),
            len => BlockMove { ex: self, st, dst, src: Source::Object(src.0, src.1), len }.run(),
        }
    }

    /// Sets `len` bytes at `offset` to `byte`. The path condition keeps the range within its object.
    pub(super) fn fill_block(&mut self, st: &mut State, object: ObjId, offset: Val, byte: Val, len: Val) {
        let plain = st.memory.get(object).is_some_and(|o| o.array.is_none()) && matches!(offset, Val::Int(_));
        match (offset, byte, len) {
            (Val::Int(offset), Val::Int(byte), Val::Int(len))
                if plain && len <= PLAIN_PIECES && offset < content::FAR =>
            {
                self.note(st, object, false);
                self.split_cells(st, object, offset, len);
                st.memory.get_mut(object).expect("a live object").fill(offset, byte as u8, len);
            }
            // Arrays need symbols, so without them every fill of constant length is done byte by byte.
            (_, _, Val::Int(len)) if !self.mode.names_unknowns || len <= if plain { CHOICES } else { PIECES } => {
                for i in 0..len {
                    let at = self.terms.offset_plus(offset, i);
                    self.write_at(st, object, at, 1, byte);
                }
            }
            _ => BlockMove { ex: self, st, dst: (object, offset), src: Source::Byte(byte), len }.run(),
        }
    }

    fn copy_pieces(&mut self, st: &mut State, dst: (ObjId, Val), src: (ObjId, Val), len: u64) {
        // All values are read before the first is written, since the ranges may overlap.
        let mut parts: Vec<(u64, u32, Val)> = Vec::new();
        let mut at = 0;
        while at < len {
            let n = match src.1 {
                Val::Int(offset) => part_length(st, src.0, offset + at, len - at),
                _ => (len - at).min(8) as u32,
            };
            let offset = self.terms.offset_plus(src.1, at);
            parts.push((at, n, self.read_at(st, src.0, offset, n)));
            at += u64::from(n);
        }
        for (at, n, value) in parts {
            let offset = self.terms.offset_plus(dst.1, at);
            self.write_at(st, dst.0, offset, n, value);
        }
    }
}

/// A move of a block of symbolic offset or length, or of great length.
struct BlockMove<'a, 'p> {
    ex: &'a mut Execution<'p>,
    st: &'a mut State,
    /// The object and the offset of the first byte.
    dst: (ObjId, Val),
    src: Source,
    /// The number of bytes.
    len: Val,
}

impl BlockMove<'_, '_> {
    fn run(&mut self) {
        self.ex.note(self.st, self.dst.0, false);
        match self.elements() {
            Some(elements) => self.choose_elements(&elements),
            None => self.write_function(),
        }
    }

    /// The elements of `dst` that the block may overwrite. `None` if there are too many, the size is symbolic, or the
    /// content is an array.
    fn elements(&mut self) -> Option<Elements> {
        let o = self.st.memory.get(self.dst.0).expect("a live object");
        let Val::Int(size) = o.size else { return None };
        if o.array.is_some() {
            return None;
        }
        let (unit, known) = match self.src {
            Source::Byte(_) => (self.ex.terms.common_unit(&[self.dst.1, self.len]), matches!(self.dst.1, Val::Int(_))),
            Source::Object(_, at) => (
                self.ex.terms.common_unit(&[self.dst.1, at, self.len]),
                matches!((self.dst.1, at), (Val::Int(_), Val::Int(_))),
            ),
        };
        let w = self.ex.terms.pointer_width;
        let len = self.ex.terms.term(self.len, w);
        let most = self.ex.solver.bounds(&self.ex.terms, &self.st.pc, len).map_or(u64::MAX, |(_, high)| high);
        let (first, end) = match self.dst.1 {
            Val::Int(offset) => (offset, size.min(offset.saturating_add(most))),
            _ => (0, size),
        };
        // Incomplete elements at the end are not overwritten.
        let count = end.saturating_sub(first) / u64::from(unit);
        (count <= if known { CHOICES } else { TERM_CHOICES }).then_some(Elements { first, unit, count })
    }

    fn choose_elements(&mut self, elements: &Elements) {
        let w = self.ex.terms.pointer_width;
        let unit = elements.unit;
        let (to, len) = (self.ex.terms.term(self.dst.1, w), self.ex.terms.term(self.len, w));
        // All values are read before the first is written, since the ranges may overlap.
        let mut news = Vec::with_capacity(elements.count as usize);
        for i in 0..elements.count {
            let at = elements.first + i * u64::from(unit);
            let at_e = self.ex.terms.int(w, at);
            let within = self.ex.terms.sub(at_e, to);
            let moved = self.ex.terms.ult(within, len);
            if self.ex.terms.is_false(moved) {
                continue;
            }
            let Some(new) = self.element_of(within, unit) else { continue };
            let old = self.ex.read(self.st, self.dst.0, at, unit);
            let old = self.ex.terms.term(old, 8 * unit);
            let new = self.ex.terms.ite(moved, new, old);
            news.push((at, self.ex.terms.classify(new)));
        }
        for (at, new) in news {
            self.ex.put(self.st, self.dst.0, at, unit, new);
        }
    }

    /// The `unit` bytes of the block at `within` bytes from its start. `None` if they lie outside the source object.
    fn element_of(&mut self, within: ExprId, unit: u32) -> Option<ExprId> {
        let w = self.ex.terms.pointer_width;
        let (object, offset) = match self.src {
            Source::Byte(byte) => return Some(self.ex.terms.repeated(byte, unit)),
            Source::Object(object, offset) => (object, self.ex.terms.term(offset, w)),
        };
        let at = self.ex.terms.add(offset, within);
        let o = self.st.memory.get(object).expect("a live object");
        if let (Some(at), Val::Int(size)) = (self.ex.terms.as_const(at), o.size)
            && at.to_u64().is_none_or(|at| at > size || u64::from(unit) > size - at)
        {
            return None;
        }
        Some(self.content(object, at, unit))
    }

    /// Reads `len` bytes of an object at an offset that may lie outside the object. The value is then arbitrary.
    fn content(&mut self, object: ObjId, offset: ExprId, len: u32) -> ExprId {
        if let Val::Int(offset) = self.ex.terms.classify(offset) {
            let value = self.ex.read(self.st, object, offset, len);
            return self.ex.terms.term(value, 8 * len);
        }
        if let Some(places) = content::candidates(self.ex, self.st, object, offset, len) {
            let value = content::read_choice(self.ex, self.st, object, offset, len, places);
            return self.ex.terms.term(value, 8 * len);
        }
        array::make(self.ex, self.st, object, offset, len);
        let array = self.st.memory.get(object).expect("a live object").array.expect("just made");
        self.ex.terms.select_bytes(array, offset, len)
    }

    /// Makes the content of `dst` a lambda array: the elements of the block inside it, and the old elements elsewhere.
    fn write_function(&mut self) {
        let w = self.ex.terms.pointer_width;
        if self.write_whole() {
            return;
        }
        let unit = match self.src {
            Source::Byte(_) => self.ex.terms.common_unit(&[self.dst.1, self.len]),
            Source::Object(_, at) => self.ex.terms.common_unit(&[self.dst.1, at, self.len]),
        };
        let start = self.ex.terms.int(w, 0);
        array::make(self.ex, self.st, self.dst.0, start, unit);
        let old = self.st.memory.get(self.dst.0).expect("a live object").array.expect("just made");
        let whole = self.ex.terms.unit(old);
        let (to, len) = (self.ex.terms.term(self.dst.1, w), self.ex.terms.term(self.len, w));
        let index = self.ex.terms.index(w);
        let size = self.ex.terms.int(w, u64::from(whole));
        let place = self.ex.terms.mul(index, size);
        // The block may begin or end within an element, so elements are composed of parts.
        let part = unit.min(whole);
        let mut body = None;
        for i in 0..whole / part {
            let at = self.ex.terms.int(w, u64::from(i * part));
            let at = self.ex.terms.add(place, at);
            let within = self.ex.terms.sub(at, to);
            let moved = self.ex.terms.ult(within, len);
            let new = self.element_of(within, part).expect("the place is a term");
            let was = self.ex.terms.select(old, index);
            let was = self.ex.terms.extract(8 * (i + 1) * part - 1, 8 * i * part, was);
            let element = self.ex.terms.ite(moved, new, was);
            body = Some(body.map_or(element, |low| self.ex.terms.concat(element, low)));
        }
        let array = self.ex.terms.lambda(w, body.expect("an element has a part"));
        self.st.memory.get_mut(self.dst.0).expect("a live object").set_array(array);
    }

    /// Overwrites all of `dst` if the source is an array or a repeated byte. Returns false if this does not apply.
    fn write_whole(&mut self) -> bool {
        let w = self.ex.terms.pointer_width;
        if self.dst.1 != Val::Int(0) || self.len != self.st.memory.get(self.dst.0).expect("a live object").size {
            return false;
        }
        let array = match self.src {
            Source::Byte(Val::Int(0)) => {
                // The first access to the zeroed object determines the element width.
                self.st.memory.get_mut(self.dst.0).expect("a live object").set_zero();
                return true;
            }
            Source::Byte(byte) => {
                let byte = self.ex.terms.term(byte, 8);
                Some(self.ex.terms.const_array(w, byte))
            }
            Source::Object(object, Val::Int(0)) => self.st.memory.get(object).expect("a live object").array,
            Source::Object(..) => None,
        };
        if let Some(array) = array {
            self.st.memory.get_mut(self.dst.0).expect("a live object").set_array(array);
        }
        array.is_some()
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
