//! Reads and writes of the content of objects, at offsets within them.

use super::memory::{CHUNK, MAX_CELL, Object, Piece};
use super::state::{Event, State};
use super::value::{ObjId, Val};
use super::{Execution, Unwritten, array};
use cfa::{ExprId, Sort};

/// Maximal number of candidate offsets for an access at a symbolic offset. With more, the object's content becomes an
/// array.
const CANDIDATES: u64 = 256;

/// Offset from which on an object has no chunks. Content beyond it is an array, or unknown.
pub(super) const FAR: u64 = 1 << 30;

impl Execution<'_> {
    /// Reads `len` bytes at a constant offset. The bytes lie within the object, which is live.
    pub fn read(&mut self, st: &mut State, object: ObjId, offset: u64, len: u32) -> Val {
        let o = st.memory.get(object).expect("a live object");
        if o.array.is_none()
            && let Some(value) = o.read_whole(offset, len)
        {
            return value;
        }
        if o.array.is_some() || (offset >= FAR && self.mode.names_unknowns) {
            let w = self.terms.pointer_width;
            let offset = self.terms.int(w, offset);
            array::make(self, st, object, offset, len);
            return array::read(self, st, object, offset, len);
        }
        let mut value: Option<ExprId> = None;
        let mut at = 0;
        while at < len {
            let o = st.memory.get(object).expect("a live object");
            if !self.mode.names_unknowns
                && matches!(
                    o.piece(offset + u64::from(at)),
                    Piece::Default | Piece::Cell { value: Val::Unknown | Val::Expr(_), .. }
                )
            {
                return Val::Unknown;
            }
            let (part, n) = match o.piece(offset + u64::from(at)) {
                Piece::Byte(byte) => (self.terms.int(8, u64::from(byte)), 1),
                Piece::Default => {
                    // A maximal run of unknown bytes within the read becomes one symbol, which memory keeps.
                    let mut n = 1;
                    while at + n < len
                        && (n as usize) < MAX_CELL
                        && Object::fits_cell(offset + u64::from(at), n + 1)
                        && o.piece(offset + u64::from(at + n)) == Piece::Default
                    {
                        n += 1;
                    }
                    (unknown_bytes(self, st, object, offset + u64::from(at), n), n)
                }
                Piece::Cell { value, len: cell_len, index } => {
                    let n = (u32::from(cell_len - index)).min(len - at);
                    let width = 8 * u32::from(cell_len);
                    let lo = 8 * u32::from(index);
                    let part = self.terms.part(value, width, lo + 8 * n - 1, lo);
                    (self.terms.term(part, 8 * n), n)
                }
            };
            value = Some(match value {
                None => part,
                Some(low) => self.terms.concat(part, low),
            });
            at += n;
        }
        self.terms.classify(value.expect("at least one byte is read"))
    }

    /// Writes `len` bytes at a constant offset within the object.
    pub fn write(&mut self, st: &mut State, object: ObjId, offset: u64, len: u32, value: Val) {
        self.note(st, object, false);
        self.put(st, object, offset, len, value);
    }

    /// Like [`write`](Self::write), but does not record the write, since no operation of the program causes it.
    pub fn put(&mut self, st: &mut State, object: ObjId, offset: u64, len: u32, value: Val) {
        let o = st.memory.get(object).expect("a live object");
        if o.array.is_some() || (offset >= FAR && self.mode.names_unknowns) {
            let w = self.terms.pointer_width;
            let offset = self.terms.int(w, offset);
            array::make(self, st, object, offset, len);
            return array::write(self, st, object, offset, len, value);
        }
        if offset >= FAR {
            return st.memory.get_mut(object).expect("a live object").forget();
        }
        self.split_cells(st, object, offset, u64::from(len));
        let width = 8 * len;
        if let Val::Int(v) = value
            && len <= 8
        {
            st.memory.get_mut(object).expect("a live object").write_int(offset, len, v);
        } else if Object::fits_cell(offset, len) && wide_constant(self, value).is_none() {
            st.memory.get_mut(object).expect("a live object").write_cell(offset, len, value);
        } else if let Some(bytes) = wide_constant(self, value) {
            st.memory.get_mut(object).expect("a live object").write_bytes(offset, &bytes);
        } else {
            // The value is longer than a cell or crosses chunks. Write it in pieces that do neither.
            let mut at = 0;
            while at < len {
                let room = (CHUNK as u64 - (offset + u64::from(at)) % CHUNK as u64) as u32;
                let n = (len - at).min(8).min(room);
                let part = self.terms.part(value, width, 8 * (at + n) - 1, 8 * at);
                let o = st.memory.get_mut(object).expect("a live object");
                match part {
                    Val::Int(v) => o.write_int(offset + u64::from(at), n, v),
                    _ => o.write_cell(offset + u64::from(at), n, part),
                }
                at += n;
            }
        }
    }

    /// Splits cells that lie partly in the range into cells of one byte.
    pub fn split_cells(&mut self, st: &mut State, object: ObjId, offset: u64, len: u64) {
        let straddling = st.memory.get(object).expect("a live object").straddling(offset, len);
        for (start, cell_len, value) in straddling {
            let width = 8 * u32::from(cell_len);
            for i in 0..u32::from(cell_len) {
                let byte = self.terms.part(value, width, 8 * i + 7, 8 * i);
                let o = st.memory.get_mut(object).expect("a live object");
                match byte {
                    Val::Int(v) => o.write_int(start + u64::from(i), 1, v),
                    _ => o.write_cell(start + u64::from(i), 1, byte),
                }
            }
        }
    }

    /// Reads `len` bytes at an offset that the path condition keeps within the object.
    pub fn read_at(&mut self, st: &mut State, object: ObjId, offset: Val, len: u32) -> Val {
        let offset = match offset {
            Val::Int(offset) => return self.read(st, object, offset, len),
            other => self.terms.term(other, self.terms.pointer_width),
        };
        match candidates(self, st, object, offset, len) {
            Some(places) => read_choice(self, st, object, offset, len, places),
            None => {
                array::make(self, st, object, offset, len);
                array::read(self, st, object, offset, len)
            }
        }
    }

    /// Writes `len` bytes at an offset that the path condition keeps within the object.
    pub fn write_at(&mut self, st: &mut State, object: ObjId, offset: Val, len: u32, value: Val) {
        let w = self.terms.pointer_width;
        let offset = match offset {
            Val::Int(offset) => return self.write(st, object, offset, len, value),
            other => self.terms.term(other, w),
        };
        if value == Val::Int(0) && len == 1 {
            st.memory.get_mut(object).expect("a live object").note_null(offset);
        }
        match candidates(self, st, object, offset, len) {
            Some((first, stride, count)) if stride >= u64::from(len) => {
                let value = self.terms.term(value, 8 * len);
                for i in 0..count {
                    let at = first + i * stride;
                    let old = self.read(st, object, at, len);
                    let old = self.terms.term(old, 8 * len);
                    let at_e = self.terms.int(w, at);
                    let here = self.terms.eq(offset, at_e);
                    let new = self.terms.ite(here, value, old);
                    let new = self.terms.classify(new);
                    self.write(st, object, at, len, new);
                }
            }
            Some(_) if len > 1 => {
                // The candidate ranges overlap, but those of single bytes do not.
                for i in 0..len {
                    let byte = self.terms.part(value, 8 * len, 8 * i + 7, 8 * i);
                    let i = self.terms.int(w, u64::from(i));
                    let at = self.terms.add(offset, i);
                    self.write_at(st, object, Val::Expr(at), 1, byte);
                }
            }
            _ => {
                self.note(st, object, false);
                array::make(self, st, object, offset, len);
                array::write(self, st, object, offset, len, value);
            }
        }
    }
}

/// A fresh symbol for `len` bytes that were never written. Memory and the trail record it.
fn unknown_bytes(ex: &mut Execution, st: &mut State, object: ObjId, offset: u64, len: u32) -> ExprId {
    let (symbol, e) = ex.terms.fresh_symbol(Sort::Bv(8 * len));
    st.trail.push(Event::Unknown { object, offset, len, symbol });
    if let Some(unwritten) = &mut ex.unwritten {
        let origin = st.memory.get(object).expect("a live object").origin;
        unwritten.push(Unwritten { object, origin, offset, len, symbol: e });
    }
    st.memory.get_mut(object).expect("a live object").write_cell(offset, len, Val::Expr(e));
    e
}

/// The bytes of a constant that is a term, which has more than 64 bits.
fn wide_constant(ex: &Execution, value: Val) -> Option<Vec<u8>> {
    match value {
        Val::Expr(e) => ex.terms.as_const(e).map(|c| c.to_le_bytes()),
        _ => None,
    }
}

/// An if-then-else term over the values at the candidate offsets `(first, stride, count)`, of which one is `offset`.
pub(super) fn read_choice(
    ex: &mut Execution,
    st: &mut State,
    object: ObjId,
    offset: ExprId,
    len: u32,
    (first, stride, count): (u64, u64, u64),
) -> Val {
    let mut values = Vec::with_capacity(count as usize);
    for i in 0..count {
        let value = ex.read(st, object, first + i * stride, len);
        values.push(ex.terms.term(value, 8 * len));
    }
    let w = ex.terms.pointer_width;
    let first = ex.terms.int(w, first);
    let relative = ex.terms.sub(offset, first);
    let e = ex.terms.select_by_bits(&values, relative, stride.trailing_zeros());
    ex.terms.classify(e)
}

/// The first offset, the stride and the number of candidate offsets for an access of `len` bytes at `offset`. `None` if
/// there are too many, the object's size is symbolic, or its content is an array.
pub(super) fn candidates(
    ex: &Execution,
    st: &State,
    object: ObjId,
    offset: ExprId,
    len: u32,
) -> Option<(u64, u64, u64)> {
    let o = st.memory.get(object).expect("a live object");
    let Val::Int(size) = o.size else { return None };
    if o.array.is_some() {
        return None;
    }
    // The offset is a variable part plus a constant. The low zero bits of the variable part give the stride.
    let (variable, constant) = ex.terms.base_and_offset(offset);
    let shift = ex.terms.trailing_zeros(variable).min(16);
    let stride = 1u64 << shift;
    let first = constant % stride;
    let last = size.checked_sub(u64::from(len))?;
    let count = last.checked_sub(first).map_or(0, |room| room / stride + 1);
    (1..=CANDIDATES).contains(&count).then_some((first, stride, count))
}
