//! Objects whose content is an SMT array. An object's content becomes an array on an access at a symbolic offset if the
//! object is too large, or its size is symbolic, for a choice between cells.
//!
//! The access that creates the array determines its element width: the width of the access if that is aligned, else a
//! byte. Most arrays of a program are accessed in whole elements only. Then an access is one term. Other accesses split
//! elements into bytes.

use super::memory::Piece;
use super::state::{Event, State};
use super::terms::Terms;
use super::value::{ObjId, Val, sign_extend};
use super::{Execution, Row, quantified};
use cfa::{BinOp, Bv, Expr, ExprId, Sort};
use rustc_hash::FxHashSet;

/// Maximal number of written bytes of an object whose content is kept when it becomes an array. Constant tables have a
/// higher limit, [`MAX_TABLE`], because bounds on an index often suffice to read them.
const MAX_ARRAY: u64 = 1 << 16;
const MAX_TABLE: u64 = 1 << 19;

/// Maximal number of stores at symbolic indices that [`before_other_stores`] skips.
const MOST_STORES: u32 = 64;

/// Turns the content of an object into an SMT array, for an access of `len` bytes at `offset`. Does nothing if it is an
/// array already.
pub fn make(ex: &mut Execution, st: &mut State, object: ObjId, offset: ExprId, len: u32) {
    let o = st.memory.get(object).expect("a live object");
    if o.array.is_some() {
        return;
    }
    let w = ex.terms.pointer_width;
    let size = match o.size {
        Val::Int(size) => size,
        _ => o.extent(),
    };
    let fits = matches!(len, 2 | 4 | 8)
        && ex.terms.trailing_zeros(offset) >= len.trailing_zeros()
        && size.is_multiple_of(u64::from(len));
    let unit = if fits { len } else { 1 };
    let (zeroed, written) = (o.zeroed, o.extent().min(size));
    // If more bytes are written, the content is forgotten. The array then may have any content. A replay rejects
    // counterexamples that rely on it.
    let kept = written <= if o.read_only { MAX_TABLE } else { MAX_ARRAY };
    let mut array = if zeroed && kept {
        let zero = ex.terms.int(8 * unit, 0);
        ex.terms.const_array(w, zero)
    } else {
        let array = ex.terms.fresh_symbol(Sort::Array { index: w, elem: 8 * unit }).1;
        st.trail.push(Event::UnknownArray { object, array });
        array
    };
    if kept {
        for index in 0..written / u64::from(unit) {
            let at = index * u64::from(unit);
            let o = st.memory.get(object).expect("a live object");
            let is_plain = |at| match o.piece(at) {
                Piece::Default => true,
                Piece::Byte(byte) => byte == 0 && zeroed,
                Piece::Cell { .. } => false,
            };
            if (at..at + u64::from(unit)).all(is_plain) {
                continue;
            }
            let value = ex.read(st, object, at, unit);
            let value = ex.terms.term(value, 8 * unit);
            let index = ex.terms.int(w, index);
            array = ex.terms.store(array, index, value);
        }
    }
    st.memory.get_mut(object).expect("a live object").set_array(array);
}

pub(super) fn read(ex: &mut Execution, st: &mut State, object: ObjId, offset: ExprId, len: u32) -> Val {
    let array = st.memory.get(object).expect("a live object").array.expect("the object is an array");
    quantified::instantiate(ex, st, array, offset, len);
    let array = before_other_stores(ex, st, array, offset, len);
    let value = ex.terms.select_bytes(array, offset, len);
    ex.terms.classify(value)
}

/// Removes the last stores from an array as long as the bounds on the path prove that they do not overlap the bytes
/// read.
fn before_other_stores(ex: &Execution, st: &State, mut array: ExprId, offset: ExprId, len: u32) -> ExprId {
    let range = |e| ex.solver.bounds(&ex.terms, &st.pc, e);
    if ex.terms.has_lambda(array) {
        return array;
    }
    let Some((low, high)) = range(offset) else { return array };
    let Some(high) = high.checked_add(u64::from(len) - 1) else { return array };
    let unit = u64::from(ex.terms.unit(array));
    let (first, last) = (low / unit, high / unit);
    let mut looked_at = 0;
    while let Expr::Store { array: inner, index, .. } = *ex.terms.get(array)
        && looked_at < MOST_STORES
    {
        looked_at += u32::from(ex.terms.as_const(index).is_none());
        match range(index) {
            Some((low, high)) if high < first || low > last => array = inner,
            _ => break,
        }
    }
    array
}

pub(super) fn write(ex: &mut Execution, st: &mut State, object: ObjId, offset: ExprId, len: u32, value: Val) {
    let mut array = st.memory.get(object).expect("a live object").array.expect("the object is an array");
    let unit = ex.terms.unit(array);
    let width = 8 * unit;
    if let Some(first) = ex.terms.element(offset, unit).filter(|_| len.is_multiple_of(unit)) {
        for i in 0..len / unit {
            let part = ex.terms.part(value, 8 * len, width * (i + 1) - 1, width * i);
            let part = ex.terms.term(part, width);
            let at = ex.terms.plus(first, i);
            array = ex.terms.store(array, at, part);
        }
    } else {
        for i in 0..len {
            let byte = ex.terms.part(value, 8 * len, 8 * i + 7, 8 * i);
            let byte = ex.terms.term(byte, 8);
            let at = ex.terms.plus(offset, i);
            let (element, shift) = ex.terms.element_around(at, unit);
            let (byte, ones) = (ex.terms.zext(width, byte), ex.terms.int(width, 0xff));
            let (byte, ones) = (ex.terms.binary(BinOp::Shl, byte, shift), ex.terms.binary(BinOp::Shl, ones, shift));
            let others = ex.terms.not(ones);
            let word = ex.terms.select(array, element);
            let word = ex.terms.binary(BinOp::And, word, others);
            let word = ex.terms.binary(BinOp::Or, word, byte);
            array = ex.terms.store(array, element, word);
        }
    }
    st.memory.get_mut(object).expect("a live object").set_array(array);
}

impl Terms {
    /// The term `values[index >> shift]`, as a tree of if-then-else terms over the bits of the index.
    pub(super) fn select_by_bits(&mut self, values: &[ExprId], index: ExprId, shift: u32) -> ExprId {
        let mut level = values.to_vec();
        let mut bit = shift;
        while level.len() > 1 {
            let condition = self.extract(bit, bit, index);
            level = level
                .chunks(2)
                .map(|pair| match *pair {
                    [even, odd] => self.ite(condition, odd, even),
                    // The offset is never beyond the last candidate.
                    [even] => even,
                    _ => unreachable!("chunks of two"),
                })
                .collect();
            bit += 1;
        }
        level[0]
    }

    /// The number of bytes of an element.
    pub fn unit(&self, array: ExprId) -> u32 {
        let Sort::Array { elem, .. } = self.sort(array) else { panic!("an array") };
        elem / 8
    }

    /// Reads `len >= 1` bytes of an array at a byte offset.
    pub fn select_bytes(&mut self, array: ExprId, offset: ExprId, len: u32) -> ExprId {
        let unit = self.unit(array);
        let mut value = None;
        if let Some(first) = self.element(offset, unit).filter(|_| len.is_multiple_of(unit)) {
            for i in 0..len / unit {
                let at = self.plus(first, i);
                let part = self.select(array, at);
                value = Some(value.map_or(part, |low| self.concat(part, low)));
            }
        } else {
            for i in 0..len {
                let at = self.plus(offset, i);
                let (element, shift) = self.element_around(at, unit);
                let word = self.select(array, element);
                let word = self.binary(BinOp::LShr, word, shift);
                let byte = self.extract(7, 0, word);
                value = Some(value.map_or(byte, |low| self.concat(byte, low)));
            }
        }
        value.expect("at least one byte is read")
    }

    pub(super) fn plus(&mut self, e: ExprId, n: u32) -> ExprId {
        let width = self.pointer_width;
        let n = self.int(width, u64::from(n));
        self.add(e, n)
    }

    /// The index of the element that begins at an offset. `None` unless the structure of the offset proves it aligned.
    fn element(&mut self, offset: ExprId, unit: u32) -> Option<ExprId> {
        let bits = unit.trailing_zeros();
        if bits == 0 {
            return Some(offset);
        }
        if self.trailing_zeros(offset) < bits {
            return None;
        }
        let w = self.pointer_width;
        let shift = self.int(w, u64::from(bits));
        let Some(index) = self.quotient(offset, u64::from(unit)) else {
            return Some(self.binary(BinOp::LShr, offset, shift));
        };
        // A multiplication by `unit` discards the high bits of the index.
        let low = self.constant(Bv::ones(w));
        let low = self.binary(BinOp::LShr, low, shift);
        Some(match *self.get(index) {
            Expr::Binary(BinOp::And, a, b) if a == low || b == low => index,
            _ => self.binary(BinOp::And, index, low),
        })
    }

    /// The index of the element that holds the byte at an offset, and the number of bits by which the byte is shifted
    /// in it.
    fn element_around(&mut self, offset: ExprId, unit: u32) -> (ExprId, ExprId) {
        let w = self.pointer_width;
        let bits = unit.trailing_zeros();
        let shift = self.int(w, u64::from(bits));
        let element = self.binary(BinOp::LShr, offset, shift);
        let within = self.extract(bits.max(1) - 1, 0, offset);
        let within = self.resize(8 * unit, within);
        let eight = self.int(8 * unit, 8);
        (element, self.mul(within, eight))
    }

    /// The index of the cell in `row` that contains `len` bytes at an offset, provided they lie in one cell. `None` if
    /// the structure of the offset shows that they overlap no cell.
    pub(super) fn index_of(&mut self, offset: ExprId, len: u32, row: &Row) -> Option<ExprId> {
        let w = self.pointer_width;
        let first = self.int(w, row.first);
        let mut from_first = self.sub(offset, first);
        if let Some(rest) = self.remainder(from_first, row.stride) {
            if rest >= u64::from(row.len) && rest + u64::from(len) <= row.stride {
                return None;
            }
            let rest = self.int(w, rest);
            from_first = self.sub(from_first, rest);
        }
        if row.stride.is_power_of_two()
            && let Some(index) = self.element(from_first, row.stride as u32)
        {
            return Some(index);
        }
        Some(match self.quotient(from_first, row.stride) {
            Some(index) => index,
            None => {
                let stride = self.int(w, row.stride);
                self.binary(BinOp::UDiv, from_first, stride)
            }
        })
    }

    /// The remainder of `e` modulo `by`, provided the sum does not wrap around. `None` if the structure of `e` does not
    /// determine it.
    fn remainder(&mut self, e: ExprId, by: u64) -> Option<u64> {
        let mut terms = Vec::new();
        self.sum_terms(e, &mut terms);
        let width = self.width(e);
        let mut rest = 0;
        for term in terms {
            match self.as_const(term).and_then(Bv::to_u64) {
                Some(c) => rest += sign_extend(width, c).rem_euclid(by as i64),
                None => drop(self.divided(term, by)?),
            }
        }
        Some(rest as u64 % by)
    }

    /// A term whose product with `by` is `e`, modulo its width. `None` if the structure of `e` shows none.
    fn quotient(&mut self, e: ExprId, by: u64) -> Option<ExprId> {
        let mut terms = Vec::new();
        self.sum_terms(e, &mut terms);
        let width = self.width(e);
        let mut sum = self.int(width, 0);
        for term in terms {
            let part = self.divided(term, by)?;
            sum = self.add(sum, part);
        }
        Some(sum)
    }

    fn divided(&mut self, e: ExprId, by: u64) -> Option<ExprId> {
        if by == 1 {
            return Some(e);
        }
        let width = self.width(e);
        if let Some(c) = self.as_const(e).and_then(Bv::to_u64) {
            let c = sign_extend(width, c);
            return (c % by as i64 == 0).then(|| self.constant(Bv::from_i64(width, c / by as i64)));
        }
        let (factor, rest) = match *self.get(e) {
            Expr::Binary(BinOp::Mul, a, b) => match (self.as_const(a), self.as_const(b)) {
                (Some(c), _) => (c.to_u64()?, b),
                (_, Some(c)) => (c.to_u64()?, a),
                _ => return None,
            },
            Expr::Binary(BinOp::Shl, a, b) => {
                let shift = self.as_const(b)?.to_u64()?;
                (1u64.checked_shl(u32::try_from(shift).ok()?)?, a)
            }
            _ => return None,
        };
        let factor = sign_extend(width, factor);
        if factor % by as i64 != 0 {
            return None;
        }
        let factor = self.constant(Bv::from_i64(width, factor / by as i64));
        Some(self.mul(factor, rest))
    }

    pub(super) fn repeated(&mut self, byte: Val, times: u32) -> ExprId {
        let byte = self.term(byte, 8);
        (1..times).fold(byte, |word, _| self.concat(byte, word))
    }

    /// The largest power of two, at most 8, that divides all offsets and lengths.
    pub(super) fn common_unit(&mut self, offsets: &[Val]) -> u32 {
        let w = self.pointer_width;
        let zeros = offsets.iter().map(|&o| {
            let e = self.term(o, w);
            self.trailing_zeros(e)
        });
        1 << zeros.min().unwrap_or(0).min(3)
    }

    /// Collects the arrays at the base of the stores and choices that `array` consists of.
    pub(super) fn arrays_in(&self, array: ExprId, found: &mut FxHashSet<ExprId>) {
        let mut stack = vec![array];
        while let Some(e) = stack.pop() {
            match *self.get(e) {
                Expr::Store { array, .. } => stack.push(array),
                Expr::Ite(_, t, f) => stack.extend([t, f]),
                _ => {
                    found.insert(e);
                }
            }
        }
    }
}
