//! Contents of objects: values at constant offsets, over an array for everything else.
//!
//! The element width of the array is that of the first access at a non-constant offset. Accesses that do not match
//! elements are rare: such reads return any value, and such writes make the whole content unknown.

use super::*;
use cfa::{BinOp, Bv};

/// Largest number of elements of an initialized table that the solver receives.
const TABLE: usize = 1 << 9;
/// Largest depth of nested choices. Deeper contents are unknown.
const DEPTH: u32 = 8;

/// The content of an object where no value is known.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Base {
    /// All bytes are zero.
    Zero,
    /// An unknown content. The number distinguishes it from other unknown contents.
    Unknown(u32),
    /// The content at the start of the program.
    Initial(GlobalId),
    /// An array, indexed by element.
    Array(ExprId),
    /// The first content if the condition holds, else the second one. The number is the nesting depth.
    Either(ExprId, Rc<Base>, Rc<Base>, u32),
}

/// The content of an object.
#[derive(Clone)]
pub(super) struct Content {
    /// The known values by offset. They do not overlap.
    cells: BTreeMap<u64, Cell>,
    base: Base,
}

/// A known value of some bytes.
#[derive(Clone, Copy, PartialEq)]
struct Cell {
    len: u32,
    value: ExprId,
}

/// Symbols for unknown contents.
pub(super) struct Contents {
    next: u32,
    /// Values by unknown content, offset and length; arrays by unknown content and element width.
    values: FxHashMap<(u32, u64, u32), ExprId>,
    arrays: FxHashMap<(u32, u32), ExprId>,
    /// Bytes per element by object, once it is determined.
    units: FxHashMap<Object, u32>,
}

impl Contents {
    /// Contents for the objects of a program.
    pub fn new(program: &Program) -> Self {
        // The first numbers are those of globals without known content.
        let next = program.globals.len() as u32;
        Self { next, values: FxHashMap::default(), arrays: FxHashMap::default(), units: FxHashMap::default() }
    }

    /// A content of which nothing is known.
    pub fn unknown(&mut self) -> Content {
        self.next += 1;
        Content::new(Base::Unknown(self.next - 1))
    }

    /// Bytes per element of an object's array. If it is not determined, an access of `len` bytes determines it.
    pub fn unit(&mut self, object: Object, len: u32) -> u32 {
        let unit = if matches!(len, 1 | 2 | 4 | 8) { len } else { 1 };
        *self.units.entry(object).or_insert(unit)
    }
}

impl Base {
    fn depth(&self) -> u32 {
        if let Self::Either(.., depth) = self { *depth } else { 0 }
    }
}

impl Content {
    /// A content without known values over `base`.
    pub fn new(base: Base) -> Self {
        Self { cells: BTreeMap::new(), base }
    }

    /// True if reads have added values since `before`.
    pub fn differs(&self, before: &Self) -> bool {
        self.cells.len() != before.cells.len()
    }

    /// Splits a range of bytes into the pieces in which they were written.
    pub fn pieces(&self, offset: u64, len: u64) -> Vec<(u64, u32)> {
        let (mut at, end, mut all) = (offset, offset + len, Vec::new());
        while at < end {
            let next = self.cells.range(at..end).next().map(|(&start, cell)| (start, start + u64::from(cell.len)));
            match next {
                Some((start, behind)) if start == at && behind <= end => {
                    all.push((at, (behind - at) as u32));
                    at = behind;
                }
                Some((start, _)) => {
                    let gap = if start > at { start } else { end };
                    all.extend(access::pieces(at, gap - at));
                    at = gap;
                }
                None => {
                    all.extend(access::pieces(at, end - at));
                    at = end;
                }
            }
        }
        all
    }

    fn overlapping(&self, offset: u64, len: u64) -> Vec<(u64, Cell)> {
        // No cell is longer than a value of the program, so one cell before the range suffices.
        let before = self.cells.range(..offset).next_back().filter(|(start, c)| *start + u64::from(c.len) > offset);
        before.into_iter().chain(self.cells.range(offset..offset + len)).map(|(&start, &cell)| (start, cell)).collect()
    }
}

/// Reads `len` bytes at an offset. The value read at a constant offset is stored, so that later reads return the same.
pub(super) fn read(ck: &mut Checker<'_>, object: Object, content: &mut Content, offset: ExprId, len: u32) -> ExprId {
    match access::constant_offset(ck, offset) {
        Some(at) => {
            let value = read_at(ck, object, content, at, len);
            if content.overlapping(at, u64::from(len)).is_empty() && ck.pool.as_const(value).is_none() {
                content.cells.insert(at, Cell { len, value });
            }
            value
        }
        None => {
            let unit = ck.contents.unit(object, len);
            let array = array(ck, object, content);
            match array.filter(|_| len.is_multiple_of(unit) && is_multiple(ck, offset, unit)) {
                Some(array) => elements(ck, array, offset, len, unit),
                None => ck.unknown(8 * len),
            }
        }
    }
}

fn read_at(ck: &mut Checker<'_>, object: Object, content: &Content, at: u64, len: u32) -> ExprId {
    let cells = content.overlapping(at, u64::from(len));
    match cells[..] {
        [] => read_base(ck, object, &content.base, at, len),
        [(start, cell)] if start <= at && at + u64::from(len) <= start + u64::from(cell.len) => {
            let low = 8 * (at - start) as u32;
            ck.pool.extract(low + 8 * len - 1, low, cell.value)
        }
        _ => {
            let mut value: Option<ExprId> = None;
            for (piece, n) in content.pieces(at, u64::from(len)) {
                // A cell overlaps the piece partially: read it bytewise.
                let n_bytes = if content
                    .overlapping(piece, u64::from(n))
                    .iter()
                    .any(|&(start, c)| start > piece || start + u64::from(c.len) < piece + u64::from(n))
                {
                    (0..n).map(|i| (piece + u64::from(i), 1)).collect()
                } else {
                    vec![(piece, n)]
                };
                for (piece, n) in n_bytes {
                    let part = read_at(ck, object, content, piece, n);
                    value = Some(value.map_or(part, |low| ck.pool.concat(part, low)));
                }
            }
            value.expect("an access of some bytes")
        }
    }
}

fn read_base(ck: &mut Checker<'_>, object: Object, base: &Base, at: u64, len: u32) -> ExprId {
    match base {
        Base::Zero => ck.pool.int(8 * len, 0),
        &Base::Unknown(number) => {
            if let Some(&value) = ck.contents.values.get(&(number, at, len)) {
                return value;
            }
            let value = ck.unknown(8 * len);
            ck.contents.values.insert((number, at, len), value);
            value
        }
        &Base::Initial(global) => initial(ck, global, at, len),
        &Base::Array(array) => {
            let unit = ck.contents.unit(object, len);
            if !len.is_multiple_of(unit) || !at.is_multiple_of(u64::from(unit)) {
                return ck.unknown(8 * len);
            }
            let offset = ck.word(at);
            elements(ck, array, offset, len, unit)
        }
        Base::Either(c, x, y, _) => {
            let (x, y) = (read_base(ck, object, x, at, len), read_base(ck, object, y, at, len));
            ck.pool.ite(*c, x, y)
        }
    }
}

/// The initial value of bytes of a global object.
fn initial(ck: &mut Checker<'_>, global: GlobalId, at: u64, len: u32) -> ExprId {
    let program = ck.program;
    let Some(init) = &program.globals[global].init else {
        return read_base(ck, global.0, &Base::Unknown(global.0), at, len);
    };
    let end = at + u64::from(len);
    let pointers = init.pointers.iter().map(|&(start, e)| (start, u64::from(ck.pool.width(e) / 8), e));
    let within: Vec<_> = pointers.filter(|&(start, n, _)| start < end && at < start + n).collect();
    match within[..] {
        [] => {
            let byte = |i: u64| usize::try_from(i).ok().and_then(|i| init.bytes.get(i)).copied().unwrap_or(0);
            let bytes: Vec<u8> = (at..end).map(byte).collect();
            ck.pool.constant(Bv::from_le_bytes(&bytes))
        }
        [(start, n, e)] if start <= at && end <= start + n => {
            let low = 8 * (at - start) as u32;
            ck.pool.extract(low + 8 * len - 1, low, e)
        }
        _ => ck.unknown(8 * len),
    }
}

/// Reads `len` bytes, a multiple of the element width, from an array.
fn elements(ck: &mut Checker<'_>, array: ExprId, offset: ExprId, len: u32, unit: u32) -> ExprId {
    let first = element(ck, offset, unit);
    let mut value: Option<ExprId> = None;
    for i in 0..len / unit {
        let index = plus(ck, first, i);
        let part = ck.pool.select(array, index);
        value = Some(value.map_or(part, |low| ck.pool.concat(part, low)));
    }
    value.expect("an access of some bytes")
}

/// The index of the element at an offset.
pub(super) fn element(ck: &mut Checker<'_>, offset: ExprId, unit: u32) -> ExprId {
    match unit.trailing_zeros() {
        0 => offset,
        shift => ck.pool.extract(ck.pointer_width() - 1, shift, offset),
    }
}
fn plus(ck: &mut Checker<'_>, e: ExprId, n: u32) -> ExprId {
    let width = ck.pool.width(e);
    let n = ck.pool.int(width, u64::from(n));
    ck.pool.add(e, n)
}

/// The whole content as an array; `None` if some value does not match the elements.
pub(super) fn array(ck: &mut Checker<'_>, object: Object, content: &Content) -> Option<ExprId> {
    let unit = *ck.contents.units.get(&object)?;
    let mut array = base_array(ck, &content.base, unit)?;
    for (&at, &Cell { len, value }) in &content.cells {
        if !len.is_multiple_of(unit) || !at.is_multiple_of(u64::from(unit)) {
            return None;
        }
        let offset = ck.word(at);
        array = with(ck, array, offset, len, unit, value);
    }
    Some(array)
}

/// Writes a value into an array.
fn with(ck: &mut Checker<'_>, mut array: ExprId, offset: ExprId, len: u32, unit: u32, value: ExprId) -> ExprId {
    let first = element(ck, offset, unit);
    for i in 0..len / unit {
        let index = plus(ck, first, i);
        let part = ck.pool.extract(8 * unit * (i + 1) - 1, 8 * unit * i, value);
        array = ck.pool.store(array, index, part);
    }
    array
}

fn base_array(ck: &mut Checker<'_>, base: &Base, unit: u32) -> Option<ExprId> {
    let index = ck.pointer_width() - unit.trailing_zeros();
    match base {
        Base::Zero => {
            let zero = ck.pool.int(8 * unit, 0);
            Some(ck.pool.const_array(index, zero))
        }
        &Base::Unknown(number) => {
            if let Some(&array) = ck.contents.arrays.get(&(number, unit)) {
                return Some(array);
            }
            let array = ck.pool.fresh_symbol(Sort::Array { index, elem: 8 * unit }).1;
            ck.contents.arrays.insert((number, unit), array);
            Some(array)
        }
        &Base::Initial(global) => {
            let program = ck.program;
            let Some(init) = &program.globals[global].init else {
                return base_array(ck, &Base::Unknown(global.0), unit);
            };
            let mut starts: Vec<u64> =
                (0..init.bytes.len()).filter(|&i| init.bytes[i] != 0).map(|i| i as u64).collect();
            starts.extend(init.pointers.iter().flat_map(|&(at, e)| at..at + u64::from(ck.pool.width(e) / 8)));
            starts.iter_mut().for_each(|at| *at -= *at % u64::from(unit));
            starts.sort_unstable();
            starts.dedup();
            if starts.len() > TABLE {
                return base_array(ck, &Base::Unknown(global.0), unit);
            }
            let mut array = base_array(ck, &Base::Zero, unit)?;
            for at in starts {
                let value = initial(ck, global, at, unit);
                let offset = ck.word(at);
                array = with(ck, array, offset, unit, unit, value);
            }
            Some(array)
        }
        &Base::Array(array) => Some(array),
        Base::Either(c, x, y, _) => {
            let (x, y) = (base_array(ck, x, unit)?, base_array(ck, y, unit)?);
            Some(ck.pool.ite(*c, x, y))
        }
    }
}

/// Writes `len` bytes at an offset.
pub(super) fn write(
    ck: &mut Checker<'_>,
    object: Object,
    content: &mut Content,
    offset: ExprId,
    len: u32,
    value: ExprId,
) {
    let Some(at) = access::constant_offset(ck, offset) else {
        let unit = ck.contents.unit(object, len);
        let array = array(ck, object, content);
        *content = match array.filter(|_| len.is_multiple_of(unit) && is_multiple(ck, offset, unit)) {
            Some(array) => Content::new(Base::Array(with(ck, array, offset, len, unit, value))),
            None => ck.contents.unknown(),
        };
        return;
    };
    let end = at + u64::from(len);
    for (start, cell) in content.overlapping(at, u64::from(len)) {
        content.cells.remove(&start);
        let behind = start + u64::from(cell.len);
        for (from, to) in [(start, at.min(behind)), (end.max(start), behind)] {
            if from < to {
                let (low, high) = (8 * (from - start) as u32, 8 * (to - start) as u32 - 1);
                let value = ck.pool.extract(high, low, cell.value);
                content.cells.insert(from, Cell { len: (to - from) as u32, value });
            }
        }
    }
    content.cells.insert(at, Cell { len, value });
}

/// The content `x` where `here` holds, and `y` elsewhere.
pub(super) fn join_content(ck: &mut Checker<'_>, object: Object, here: ExprId, x: Content, y: &Content) -> Content {
    if ck.pool.is_true(here) {
        return x;
    }
    let base = match x.base == y.base {
        true => x.base.clone(),
        false => {
            let depth = 1 + x.base.depth().max(y.base.depth());
            if depth > DEPTH {
                ck.contents.unknown().base
            } else {
                Base::Either(here, Rc::new(x.base.clone()), Rc::new(y.base.clone()), depth)
            }
        }
    };
    let mut all = Content::new(base);
    for (&at, &cell) in x.cells.iter().chain(&y.cells) {
        if x.cells.get(&at) == y.cells.get(&at) {
            all.cells.insert(at, cell);
            continue;
        }
        let pieces = match all.overlapping(at, u64::from(cell.len)).is_empty() {
            true => vec![(at, cell.len)],
            false => (at..at + u64::from(cell.len)).map(|at| (at, 1)).collect(),
        };
        for (at, len) in pieces {
            if all.overlapping(at, u64::from(len)).is_empty() {
                let in_x = read_at(ck, object, &x, at, len);
                let in_y = read_at(ck, object, y, at, len);
                let value = ck.pool.ite(here, in_x, in_y);
                all.cells.insert(at, Cell { len, value });
            }
        }
    }
    all
}

/// True if the structure of a term shows that it is a multiple of `unit`, a power of two.
fn is_multiple(ck: &Checker<'_>, e: ExprId, unit: u32) -> bool {
    let mut open = vec![(e, unit.trailing_zeros())];
    let mut looked_at = 0;
    while let Some((e, zeros)) = open.pop() {
        looked_at += 1;
        if zeros == 0 {
            continue;
        }
        let least = |e: ExprId| access::constant(ck, e).map_or(0, |c| c.trailing_zeros());
        match *ck.pool.get(e) {
            _ if looked_at > TABLE => return false,
            Expr::Const(ref c) if (0..zeros.min(c.width())).all(|i| !c.bit(i)) => {}
            Expr::Binary(BinOp::Add | BinOp::Sub, a, b) | Expr::Ite(_, a, b) => open.extend([(a, zeros), (b, zeros)]),
            Expr::Unary(cfa::UnOp::Neg, a) => open.push((a, zeros)),
            Expr::Binary(BinOp::Mul, a, b) => match (least(a), least(b)) {
                (n, 0) => open.push((b, zeros.saturating_sub(n))),
                (_, n) => open.push((a, zeros.saturating_sub(n))),
            },
            Expr::Binary(BinOp::Shl, a, n) => match access::constant(ck, n) {
                Some(n) => open.push((a, zeros.saturating_sub(n.min(64) as u32))),
                None => return false,
            },
            Expr::Binary(BinOp::Concat, _, low) if ck.pool.width(low) >= zeros => open.push((low, zeros)),
            Expr::Zext { arg, .. } | Expr::Sext { arg, .. } => open.push((arg, zeros)),
            Expr::Extract { lo: 0, arg, .. } => open.push((arg, zeros)),
            _ => return false,
        }
    }
    true
}
