//! The memory of one path: objects with byte-precise content. States share objects until they write them.
//!
//! The content of an object is a sequence of chunks. A chunk that was never written is absent: its bytes are zero or
//! unknown, depending on the object. Within a chunk, a byte is concrete, unwritten, or belongs to a *cell*: a value of
//! up to sixteen bytes that is not a plain number. After a write at a symbolic offset of a large object, the content is
//! an SMT array instead.

mod covering;
mod objects;
mod summary;

pub use summary::{Link, Summary};

use super::value::{ObjId, Val};
use cfa::{AllocKind, EdgeId, ExprId, Family, GlobalId, Op, Program};
pub use objects::Memory;
use std::rc::Rc;

/// Bytes of a chunk. A write to a shared object copies one chunk.
pub const CHUNK: usize = 256;
/// Maximal length of a cell in bytes.
pub const MAX_CELL: usize = 16;

/// Maximal number of symbolic offsets of null bytes that an object remembers.
const NULLS: usize = 4;

/// Bytes of a part.
pub const PART: u64 = 4;
/// Maximal size, in bytes, of an object whose parts are tracked separately.
const IN_PARTS: u64 = 4096;

/// A unit of memory that an abstraction tracks or forgets: four bytes of a small object with the cells that begin in
/// them, or all of a large object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Part(u32);

impl Part {
    /// All of a large object.
    pub const WHOLE: Part = Part(u32::MAX);

    /// The offset of its first byte; `None` for [`WHOLE`](Self::WHOLE).
    pub fn offset(self) -> Option<u64> {
        (self != Self::WHOLE).then_some(self.start())
    }
    /// The offset of its first byte. Meaningless for [`WHOLE`](Self::WHOLE).
    pub fn start(self) -> u64 {
        u64::from(self.0) * PART
    }
    /// The parts of the chunk that begins at the offset `start`.
    pub fn of_chunk(start: u64) -> impl Iterator<Item = Part> {
        let first = (start / PART) as u32;
        (first..first + CHUNK as u32 / PART as u32).map(Part)
    }
}

/// The allocation site of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Origin {
    /// A global variable.
    Global(GlobalId),
    /// A stack allocation at an edge.
    Stack(EdgeId),
    /// A heap allocation at an edge.
    Heap(EdgeId),
    /// The shadow of a global object.
    GlobalShadow(GlobalId),
    /// The shadow of an allocated object.
    AllocShadow(EdgeId),
}

impl Origin {
    /// True if such objects are [placeholders](cfa::AllocKind::Placeholder), which are no objects of the C program.
    pub fn is_placeholder(self, program: &Program) -> bool {
        matches!(self, Self::Heap(edge) if program.edges[edge].op.allocates_placeholder())
    }
    fn kind(self, program: &Program) -> Option<AllocKind> {
        match self {
            Self::Heap(edge) | Self::Stack(edge) => match program.edges[edge].op {
                Op::Alloc { kind, .. } => Some(kind),
                _ => None,
            },
            Self::Global(_) | Self::GlobalShadow(_) | Self::AllocShadow(_) => None,
        }
    }
    /// The family whose functions may free such objects.
    pub fn family(self, program: &Program) -> Option<Family> {
        self.kind(program).and_then(AllocKind::family)
    }
    /// True if an unreachable object of this origin is a leak.
    pub fn may_leak(self, program: &Program) -> bool {
        self.kind(program).is_some_and(AllocKind::may_leak)
    }
    fn shadow(self) -> Self {
        match self {
            Self::Global(g) => Self::GlobalShadow(g),
            Self::Stack(edge) | Self::Heap(edge) => Self::AllocShadow(edge),
            of_shadow => of_shadow,
        }
    }
}

/// A live object.
#[derive(Clone, Debug)]
pub struct Object {
    /// The size in bytes.
    pub size: Val,
    /// The alignment in bytes, a power of two.
    pub align: u32,
    /// The allocation site.
    pub origin: Origin,
    /// If true, unwritten bytes are zero. If false, they are unknown.
    pub zeroed: bool,
    /// If true, the program must not write the object.
    pub read_only: bool,
    chunks: Vec<Option<Rc<Chunk>>>,
    /// Symbolic offsets at which null bytes were written, the latest last. Strings may end there.
    nulls: Vec<ExprId>,
    /// The content as an array, once the object became one.
    pub array: Option<ExprId>,
    /// If present, the object stands for an end of a list segment, not for one concrete object.
    pub summary: Option<Summary>,
    /// The list segment whose nodes each own such an object.
    pub owner: Option<ObjId>,
}

/// A value in a chunk that is not a plain number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// The offset of its first byte in the chunk.
    pub start: u8,
    /// Its length in bytes.
    pub len: u8,
    /// The value.
    pub value: Val,
}

/// Tag of an unwritten byte.
const DEFAULT: u8 = 0;
/// Tag of a concrete byte.
const CONCRETE: u8 = 1;
/// `CELL + k` is the tag of the k-th byte of a cell.
const CELL: u8 = 2;

/// Some consecutive bytes of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Chunk {
    bytes: [u8; CHUNK],
    tags: [u8; CHUNK],
    /// Sorted by start.
    cells: Vec<Cell>,
}

impl Chunk {
    const EMPTY: Chunk = Chunk { bytes: [0; CHUNK], tags: [DEFAULT; CHUNK], cells: Vec::new() };

    fn cell_at(&self, start: usize) -> &Cell {
        let i = self.cells.binary_search_by_key(&(start as u8), |c| c.start).expect("a tag says a cell starts here");
        &self.cells[i]
    }
}

/// The content of one byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece {
    /// An unwritten byte of unknown value.
    Default,
    /// A concrete byte.
    Byte(u8),
    /// Byte `index` of a cell of `len` bytes.
    Cell {
        /// The value of the cell.
        value: Val,
        /// The length of the cell in bytes.
        len: u8,
        /// The index of the byte in the cell.
        index: u8,
    },
}

impl Object {
    /// An object without written bytes.
    pub fn new(size: Val, align: u32, origin: Origin, zeroed: bool) -> Self {
        Self {
            size,
            align,
            origin,
            zeroed,
            read_only: false,
            chunks: Vec::new(),
            nulls: Vec::new(),
            array: None,
            summary: None,
            owner: None,
        }
    }

    /// This object with another summary.
    pub fn summarizing(self, summary: Option<Summary>) -> Self {
        Self { summary, ..self }
    }

    /// The object for the other end of the list segment that begins with `first`, if its nodes are like this object.
    /// Its content is unknown.
    pub fn last(&self, first: ObjId) -> Self {
        Self::new(self.size, self.align, self.origin, false).summarizing(Some(Summary::Last(first)))
    }
    /// True if it is only the last node of a list segment.
    pub fn is_last(&self) -> bool {
        matches!(self.summary, Some(Summary::Last(_)))
    }

    #[inline]
    fn chunk(&self, offset: u64) -> Option<&Chunk> {
        self.chunks.get((offset / CHUNK as u64) as usize)?.as_deref()
    }
    #[inline]
    fn chunk_mut(&mut self, offset: u64) -> &mut Chunk {
        let index = (offset / CHUNK as u64) as usize;
        if index >= self.chunks.len() {
            self.chunks.resize(index + 1, None);
        }
        Rc::make_mut(self.chunks[index].get_or_insert_with(|| Rc::new(Chunk::EMPTY)))
    }

    /// The `len` bytes at `offset` as one value, if they are exactly one cell, or if `len <= 8` and all are concrete.
    #[inline]
    pub fn read_whole(&self, offset: u64, len: u32) -> Option<Val> {
        let at = (offset % CHUNK as u64) as usize;
        let n = len as usize;
        if at + n > CHUNK {
            return None;
        }
        let Some(chunk) = self.chunk(offset) else {
            return (self.zeroed && n <= 8).then_some(Val::Int(0));
        };
        match chunk.tags[at] {
            CONCRETE if n <= 8 => {
                if chunk.tags[at..at + n].iter().any(|&t| t != CONCRETE) {
                    return None;
                }
                let mut word = [0; 8];
                word[..n].copy_from_slice(&chunk.bytes[at..at + n]);
                Some(Val::Int(u64::from_le_bytes(word)))
            }
            CELL => {
                let cell = chunk.cell_at(at);
                (u32::from(cell.len) == len).then_some(cell.value)
            }
            _ => None,
        }
    }

    /// The content of the byte at `offset`. The content must not be an array.
    pub fn piece(&self, offset: u64) -> Piece {
        let at = (offset % CHUNK as u64) as usize;
        let Some(chunk) = self.chunk(offset) else {
            return if self.zeroed { Piece::Byte(0) } else { Piece::Default };
        };
        match chunk.tags[at] {
            DEFAULT if self.zeroed => Piece::Byte(0),
            DEFAULT => Piece::Default,
            CONCRETE => Piece::Byte(chunk.bytes[at]),
            tag => {
                let index = tag - CELL;
                let cell = chunk.cell_at(at - usize::from(index));
                Piece::Cell { value: cell.value, len: cell.len, index }
            }
        }
    }

    /// Writes a constant of `len <= 8` bytes.
    #[inline]
    pub fn write_int(&mut self, offset: u64, len: u32, value: u64) {
        let at = (offset % CHUNK as u64) as usize;
        let n = len as usize;
        let bytes = value.to_le_bytes();
        if at + n > CHUNK {
            for (i, &byte) in bytes[..n].iter().enumerate() {
                self.write_bytes(offset + i as u64, &[byte]);
            }
            return;
        }
        self.write_bytes(offset, &bytes[..n]);
    }

    /// Writes concrete bytes.
    pub fn write_bytes(&mut self, mut offset: u64, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let at = (offset % CHUNK as u64) as usize;
            let n = bytes.len().min(CHUNK - at);
            let chunk = self.chunk_mut(offset);
            if !chunk.cells.is_empty() {
                cut(chunk, at, n);
            }
            chunk.bytes[at..at + n].copy_from_slice(&bytes[..n]);
            chunk.tags[at..at + n].fill(CONCRETE);
            offset += n as u64;
            bytes = &bytes[n..];
        }
    }

    /// True if a cell of `len` bytes fits at `offset`: it is not too long and does not cross a chunk.
    pub fn fits_cell(offset: u64, len: u32) -> bool {
        len as usize <= MAX_CELL && (offset % CHUNK as u64) as usize + len as usize <= CHUNK
    }

    /// Writes a value of `len` bytes. [`fits_cell`](Self::fits_cell) must hold.
    pub fn write_cell(&mut self, offset: u64, len: u32, value: Val) {
        debug_assert!(Self::fits_cell(offset, len));
        let at = (offset % CHUNK as u64) as usize;
        let n = len as usize;
        let chunk = self.chunk_mut(offset);
        cut(chunk, at, n);
        for i in 0..n {
            chunk.tags[at + i] = CELL + i as u8;
        }
        let place = chunk.cells.partition_point(|c| usize::from(c.start) < at);
        chunk.cells.insert(place, Cell { start: at as u8, len: len as u8, value });
    }

    /// Sets `len` bytes. The caller must have split cells that cross the ends of the range.
    pub fn fill(&mut self, mut offset: u64, byte: u8, mut len: u64) {
        while len > 0 {
            let at = (offset % CHUNK as u64) as usize;
            let n = (CHUNK - at).min(usize::try_from(len).unwrap_or(CHUNK));
            if n == CHUNK && byte == 0 && self.zeroed {
                if let Some(chunk) = self.chunks.get_mut((offset / CHUNK as u64) as usize) {
                    *chunk = None;
                }
            } else {
                let chunk = self.chunk_mut(offset);
                cut(chunk, at, n);
                chunk.bytes[at..at + n].fill(byte);
                chunk.tags[at..at + n].fill(CONCRETE);
            }
            offset += n as u64;
            len -= n as u64;
        }
    }

    /// Replaces the content by an array.
    pub fn set_array(&mut self, array: ExprId) {
        self.chunks.clear();
        self.array = Some(array);
    }

    /// Symbolic offsets at which a null byte was written. A later write may have overwritten it.
    pub fn nulls(&self) -> &[ExprId] {
        &self.nulls
    }

    /// Records that a null byte was written at a symbolic offset.
    pub fn note_null(&mut self, offset: ExprId) {
        self.nulls.retain(|&at| at != offset);
        if self.nulls.len() == NULLS {
            self.nulls.remove(0);
        }
        self.nulls.push(offset);
    }

    /// The first offset from `from` on at which the byte is known to be null, within the next 4096 bytes. `None` if the
    /// content is an array.
    pub fn first_null(&self, from: u64) -> Option<u64> {
        let Val::Int(size) = self.size else { return None };
        let end = size.min(from.saturating_add(IN_PARTS));
        self.array.is_none().then(|| (from..end).find(|&at| self.piece(at) == Piece::Byte(0)))?
    }

    /// Makes all content zero.
    pub fn set_zero(&mut self) {
        self.chunks.clear();
        self.zeroed = true;
        self.nulls.clear();
        self.array = None;
    }

    /// Makes all content unknown.
    pub fn forget(&mut self) {
        self.chunks.clear();
        self.zeroed = false;
        self.nulls.clear();
        self.array = None;
    }

    /// Makes all content unknown except addresses and the parts for which `keep` holds.
    pub fn forget_numbers(&mut self, keep: impl Fn(Part) -> bool) {
        let kept: Vec<bool> = match self.size_in_parts() {
            Some(_) => self.parts().map(keep).collect(),
            None if keep(Part::WHOLE) => return,
            None => Vec::new(),
        };
        if self.array.is_some() {
            // Addresses in an array are not recognisable, so they are forgotten too.
            return self.forget();
        }
        let zeroed = std::mem::replace(&mut self.zeroed, false);
        let keeps = |offset: u64| kept.get((offset / PART) as usize).is_some_and(|&k| k);
        if zeroed && let Val::Int(size) = self.size {
            // Zeros that are kept have to become explicit, because unwritten bytes are unknown from now on.
            for offset in (0..size).filter(|&o| keeps(o) && self.piece(o) == Piece::Default).collect::<Vec<_>>() {
                self.write_bytes(offset, &[0]);
            }
        }
        for (index, slot) in self.chunks.iter_mut().enumerate() {
            let Some(shared) = slot else { continue };
            let start = (index * CHUNK) as u64;
            let is_kept = |cell: &Cell| matches!(cell.value, Val::Ptr(..)) || keeps(start + u64::from(cell.start));
            let mut chunk = Chunk::EMPTY;
            for cell in shared.cells.iter().filter(|&c| is_kept(c)) {
                for i in 0..cell.len {
                    chunk.tags[usize::from(cell.start + i)] = CELL + i;
                }
                chunk.cells.push(cell.clone());
            }
            for at in (0..CHUNK).filter(|&at| shared.tags[at] == CONCRETE && keeps(start + at as u64)) {
                chunk.tags[at] = CONCRETE;
                chunk.bytes[at] = shared.bytes[at];
            }
            *slot = chunk.tags.iter().any(|&t| t != DEFAULT).then(|| Rc::new(chunk));
        }
    }

    /// The number of parts. `None` if the object is too large, or of symbolic size, to be tracked in parts.
    fn size_in_parts(&self) -> Option<u64> {
        match self.size {
            Val::Int(size) if size <= IN_PARTS && self.array.is_none() => Some(size.div_ceil(PART)),
            _ => None,
        }
    }

    /// The parts of the object. None if it is not tracked in parts.
    pub fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        (0..self.size_in_parts().unwrap_or(0)).map(|i| Part(i as u32))
    }

    /// The parts on which `len` bytes from `offset` on depend, including the part in which a cell begins that extends
    /// into the range.
    pub fn parts_at(&self, offset: u64, len: u64) -> Vec<Part> {
        if self.size_in_parts().is_none() {
            return vec![Part::WHOLE];
        }
        let first = match self.piece(offset) {
            Piece::Cell { index, .. } => offset.saturating_sub(u64::from(index)),
            _ => offset,
        };
        let end = offset.saturating_add(len).min(IN_PARTS);
        (first / PART..end.div_ceil(PART)).map(|part| Part(part as u32)).collect()
    }

    /// The parts with content other than unknown bytes and addresses.
    pub fn known_parts(&self) -> Vec<Part> {
        if self.size_in_parts().is_none() {
            return if self.is_forgotten() { Vec::new() } else { vec![Part::WHOLE] };
        }
        let is_number = |offset| match self.piece(offset) {
            Piece::Default => false,
            Piece::Byte(_) => true,
            Piece::Cell { value, index, .. } => index == 0 && !matches!(value, Val::Ptr(..)),
        };
        let Val::Int(size) = self.size else { unreachable!("it has parts") };
        self.parts().filter(|&p| (p.start()..(p.start() + PART).min(size)).any(is_number)).collect()
    }

    /// True if the content of a part contains a term.
    pub fn has_terms(&self, part: Part) -> bool {
        let range = match part.offset() {
            Some(start) => start..start + PART,
            None => 0..self.extent(),
        };
        let is_term = |offset| matches!(self.piece(offset), Piece::Cell { value: Val::Expr(_), .. });
        self.array.is_some() || range.into_iter().any(is_term)
    }

    /// True if all content is unknown except addresses.
    pub fn is_forgotten(&self) -> bool {
        !self.zeroed
            && self.array.is_none()
            && self.chunks.iter().flatten().all(|chunk| {
                !chunk.tags.contains(&CONCRETE) && chunk.cells.iter().all(|c| matches!(c.value, Val::Ptr(..)))
            })
    }

    /// An upper bound on the offsets of written bytes.
    pub fn extent(&self) -> u64 {
        (self.chunks.len() * CHUNK) as u64
    }

    /// Cells that cross an end of the range of `len` bytes at `offset`, as (offset, length, value). A write to the
    /// range has to split them first.
    pub fn straddling(&self, offset: u64, len: u64) -> Vec<(u64, u8, Val)> {
        let mut cells: Vec<(u64, u8, Val)> = Vec::new();
        for end in [offset, offset + len] {
            // Finds the cell with bytes on both sides of `end`.
            if end == 0 || end % CHUNK as u64 == 0 {
                continue;
            }
            if let Some(chunk) = self.chunk(end) {
                let at = (end % CHUNK as u64) as usize;
                if chunk.tags[at] > CELL {
                    let start = at - usize::from(chunk.tags[at] - CELL);
                    let cell = chunk.cell_at(start);
                    let base = end - at as u64;
                    if !cells.iter().any(|&(o, ..)| o == base + start as u64) {
                        cells.push((base + start as u64, cell.len, cell.value));
                    }
                }
            }
        }
        cells
    }

    /// Calls `visit` with the offset, length and value of every cell.
    pub fn for_each_cell(&self, mut visit: impl FnMut(u64, u8, Val)) {
        for (i, chunk) in self.chunks.iter().enumerate() {
            for cell in chunk.iter().flat_map(|c| &c.cells) {
                visit((i * CHUNK) as u64 + u64::from(cell.start), cell.len, cell.value);
            }
        }
    }

    /// Applies `map` to the value of every cell.
    pub fn map_cells(&mut self, mut map: impl FnMut(Val) -> Val) {
        for chunk in self.chunks.iter_mut().flatten() {
            if chunk.cells.iter().any(|c| map(c.value) != c.value) {
                Rc::make_mut(chunk).cells.iter_mut().for_each(|c| c.value = map(c.value));
            }
        }
    }

    /// The offsets of the chunks in which the two objects differ.
    pub fn differing_chunks(&self, other: &Object) -> Vec<u64> {
        let n = self.chunks.len().max(other.chunks.len());
        (0..n)
            .filter(|&i| {
                let (a, b) =
                    (self.chunks.get(i).and_then(Option::as_ref), other.chunks.get(i).and_then(Option::as_ref));
                match (a, b) {
                    (None, None) => false,
                    (Some(a), Some(b)) => !Rc::ptr_eq(a, b) && a != b,
                    _ => true,
                }
            })
            .map(|i| (i * CHUNK) as u64)
            .collect()
    }
}

/// Removes the cells that begin within `at..at + n`. The caller must have split cells that cross the ends of the range.
fn cut(chunk: &mut Chunk, at: usize, n: usize) {
    chunk.cells.retain(|c| {
        let start = usize::from(c.start);
        start < at || start >= at + n
    });
}
