//! Abstract memory: cells, each a range of bytes of an object, and objects, one per allocation site.
//!
//! Cells: Miné, Field-sensitive value analysis of embedded C programs with union types and pointer arithmetics, LCTES
//! 2006. An allocation site has two numbers: that of the object that it allocated last, and that of all its older objects
//! (Balakrishnan, Reps, Recency-abstraction for heap-allocated storage, SAS 2006). The analysis assumes that an access stays within the object that its address is
//! derived from. If it proves this, the access is valid, and the results hold up to the first access without proof. If
//! the object is unknown, the points-to set of the address is used.

use crate::invariant::value::Value;
use crate::invariant::value::limits::{LARGEST, Limit, Reach, Reaches};
use crate::semantics::Paged;
use fixedbitset::FixedBitSet;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Largest number of separate written ranges per object.
const RANGES: usize = 64;
/// The contents of cells and the status of objects at a location. An absent cell may hold any value.
#[derive(Clone)]
pub struct Memory {
    /// The values of cells.
    pub cells: Paged<Value>,
    /// The status of objects.
    pub objects: Paged<Status>,
    /// The facts invalidated since the entry of the function. Its callers have to drop them.
    pub lost: Rc<BTreeSet<(u32, Loss)>>,
    /// True if the path has an effect that the model of a library function does not have. Later operations of the model
    /// prove nothing about the function.
    pub is_unmodelled: bool,
}

/// A kind of fact about an object that is no longer valid. All values that refer to it have to drop it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Loss {
    /// The number of the object. It may now be one of the older objects of its site, which have the number `.0`.
    Aged(u32),
    /// The position of its null byte.
    Null,
    /// The position at which a null byte was observed.
    Seen,
    /// Both positions and its size as bounds of numbers, because the number now represents several objects. Bounds of
    /// offsets within the object itself remain.
    Reach,
    /// The object itself: no known address points to it, so its place may be reused.
    Object,
}

/// Upper bound on the number of objects of one site that an address may point to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Count {
    /// No object.
    None,
    /// At most one object.
    One,
    /// Any number of objects.
    Many,
}

/// The contents of the unwritten bytes of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Any contents.
    Any,
    /// Zero bytes.
    Zero,
    /// The initial value of the global variable.
    Initial,
    /// Addresses of the starts of objects with this number.
    Addresses(u32),
}

/// The status of the objects of one site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// Upper bound on the number of objects.
    pub count: Count,
    /// True if an object may have ended its lifetime.
    pub may_be_dead: bool,
    /// True if an object exists on every path to the location.
    pub exists: bool,
    /// Lower and upper (`most`) bound on the size in bytes.
    pub size: u64,
    pub(in crate::invariant) most: u64,
    pub(in crate::invariant) content: Content,
    /// The byte ranges that may have been written, as pairs of start and end: disjoint and ascending.
    pub(in crate::invariant) written: Rc<[(u64, u64)]>,
    /// If the object contains a null byte: a lower bound on the offset of the null byte that [`Reach::Null`] refers to.
    pub(in crate::invariant) null: Option<u64>,
    /// If a null byte was observed: a lower and an upper bound on the offset that [`Reach::Seen`] refers to.
    pub(in crate::invariant) seen: Option<(u64, u64)>,
    /// Lower bounds on its size by lengths of other objects: for each, the size is at least the length plus `more`. The
    /// other fields are not used.
    pub(in crate::invariant) covers: Rc<[Limit]>,
    /// Set if the object ends with zero bytes, regardless of the values of its cells.
    pub(in crate::invariant) zeros: Option<Zeros>,
}

/// The zero bytes at the end of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::invariant) struct Zeros {
    /// The number of zero bytes.
    pub(in crate::invariant) bytes: u64,
    /// The offset of the first zero byte, modulo `bytes`.
    pub(in crate::invariant) phase: u64,
}

/// A range of bytes of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::invariant) struct Cell {
    pub(in crate::invariant) object: u32,
    pub(in crate::invariant) at: u64,
    pub(in crate::invariant) bytes: u64,
}

/// The offset of a cell that represents all aligned elements of its size.
const ELEMENTS: u64 = u64::MAX;

impl Cell {
    /// The cell whose value contains the values of all elements of `bytes` bytes at multiples of `bytes`, in all objects
    /// with this number (array smashing: Blanchet et al., PLDI 2003).
    pub(in crate::invariant) fn elements(object: u32, bytes: u64) -> Self {
        Self { object, at: ELEMENTS, bytes }
    }
    /// True if the cell represents all aligned elements.
    pub(in crate::invariant) fn is_elements(self) -> bool {
        self.at == ELEMENTS
    }
    /// True if the cell is an element of its own size.
    pub(in crate::invariant) fn is_aligned(self) -> bool {
        self.at.is_multiple_of(self.bytes)
    }
}

impl Zeros {
    /// The value of a cell that may overlap the zero bytes.
    pub(in crate::invariant) fn joined(self, cell: Cell, held: &Value) -> Option<Value> {
        let is_aligned = cell.bytes == self.bytes && cell.at % self.bytes == self.phase;
        is_aligned.then(|| held.join(&Value::constant(held.width(), 0)))
    }
}

impl Memory {
    /// A memory without any facts.
    pub fn new() -> Self {
        Self { cells: Paged::new(), objects: Paged::new(), lost: Rc::default(), is_unmodelled: false }
    }
    /// The facts about objects that hold in `self` but not in `b`; restricted to the objects `among`.
    pub fn lost(&self, b: &Memory, among: Option<&FixedBitSet>) -> Vec<(u32, Loss)> {
        let mut lost = Vec::new();
        let is_asked = |index: &usize| among.is_none_or(|among| among.contains(*index));
        for index in self
            .objects
            .differing_pages(&b.objects)
            .flat_map(|p| p * Paged::<Status>::PAGE..(p + 1) * Paged::<Status>::PAGE)
            .filter(is_asked)
        {
            let Some(x) = self.objects.get(index).filter(|x| x.count != Count::None) else { continue };
            let y = b.objects.get(index);
            if y.is_some_and(|y| y.count == Count::None) {
                continue;
            }
            if x.count == Count::One && y.is_none_or(|y| y.count == Count::Many) {
                lost.push((index as u32, Loss::Reach));
            }
            if x.null.is_some() && y.is_none_or(|y| y.null.is_none()) {
                lost.push((index as u32, Loss::Null));
            }
            if x.seen.is_some() && y.is_none_or(|y| y.seen.is_none()) {
                lost.push((index as u32, Loss::Seen));
            }
        }
        lost
    }
    /// The status of an object; `None` if nothing is known.
    pub fn status(&self, object: u32) -> Option<&Status> {
        self.objects.get(object as usize)
    }
    /// True if the number represents one object, so that a cell represents bytes of one object.
    pub fn is_one(&self, object: u32) -> bool {
        self.status(object).is_some_and(|s| s.count == Count::One)
    }
    /// True if the memory has the length that an offset bound refers to. `owns` states that the bound is that of an
    /// offset within the object itself.
    pub(in crate::invariant) fn defines(&self, limit: &Limit, owns: bool) -> bool {
        self.status(limit.object).is_some_and(|status| {
            let is_one_of_them = match status.count {
                Count::None => false,
                Count::One => true,
                Count::Many => owns,
            };
            is_one_of_them && status.has(limit.reach)
        })
    }
    /// Upper bound on the length that an offset bound refers to, if its object is a single live one.
    ///
    /// `owns` states that the bound is that of an offset within the object, which then may be one of several.
    pub(in crate::invariant) fn most(&self, limit: &Limit, owns: bool) -> Option<u64> {
        let status = self.status(limit.object)?;
        let is_there = !status.may_be_dead
            && match status.count {
                Count::None => false,
                Count::One => owns || status.exists,
                Count::Many => owns,
            };
        let most = status.most.min(LARGEST);
        match limit.reach {
            Reach::Size => Some(most),
            Reach::Null => most.checked_sub(1).filter(|_| status.null.is_some()),
            Reach::Seen => most.checked_sub(1).zip(status.seen).map(|(most, (_, seen))| most.min(seen)),
        }
        .filter(|_| is_there)
    }
    /// Keeps only some of the bounds on sizes by lengths of other objects.
    pub(in crate::invariant) fn keep_covers(&mut self, is_kept: impl Fn(&Memory, &Limit) -> bool) {
        let left = |(index, status): (usize, &Status)| {
            let is_lost = |cover: &Limit| !is_kept(self, cover);
            status.covers.iter().any(is_lost).then(|| {
                let covers = status.covers.iter().filter(|cover| !is_lost(cover)).copied().collect();
                (index, Status { covers, ..status.clone() })
            })
        };
        let changed: Vec<(usize, Status)> = self.objects.iter().filter_map(left).collect();
        changed.into_iter().for_each(|(index, status)| self.objects.set(index, Some(status)));
    }
    /// Replaces the bounds on sizes by lengths of other objects.
    pub(super) fn map_covers(&mut self, f: &dyn Fn(Limit) -> Option<Limit>) {
        let now = |(index, status): (usize, &Status)| {
            let covers: Vec<Limit> = status.covers.iter().copied().filter_map(f).collect();
            (covers[..] != status.covers[..]).then(|| (index, Status { covers: covers.into(), ..status.clone() }))
        };
        let changed: Vec<(usize, Status)> = self.objects.iter().filter_map(now).collect();
        changed.into_iter().for_each(|(index, status)| self.objects.set(index, Some(status)));
    }
    pub(in crate::invariant) fn change(&mut self, object: u32, change: impl FnOnce(&mut Status)) {
        if let Some(status) = self.status(object) {
            let mut now = status.clone();
            change(&mut now);
            if now != *status {
                self.objects.set(object as usize, Some(now));
            }
        }
    }
}

impl Status {
    /// The status of objects with these lower and upper bounds on their size.
    pub(in crate::invariant) fn new(count: Count, (size, most): (u64, u64), content: Content) -> Self {
        let exists = count != Count::None;
        let covers = Rc::new([]);
        Self {
            count,
            may_be_dead: false,
            exists,
            size,
            most,
            content,
            written: Rc::new([]),
            null: None,
            seen: None,
            covers,
            zeros: None,
        }
    }
    /// True if the length `reach` of the object is defined.
    pub(in crate::invariant) fn has(&self, reach: Reach) -> bool {
        match reach {
            Reach::Size => true,
            Reach::Null => self.null.is_some(),
            Reach::Seen => self.seen.is_some(),
        }
    }
    /// This status with the number, the lifetime and the size of another one.
    pub(super) fn with_life_of(self, o: &Self) -> Self {
        let Self { count, may_be_dead, exists, size, most, .. } = *o;
        Self { count, may_be_dead, exists, size, most, ..self }
    }
    pub(in crate::invariant) fn is_written(&self, from: u64, to: u64) -> bool {
        self.written.iter().any(|&(a, b)| a < to && from < b)
    }
    pub(in crate::invariant) fn write(&mut self, from: u64, to: u64) {
        if self.content == Content::Any || self.written.iter().any(|&(a, b)| a <= from && to <= b) {
            return;
        }
        let mut all: Vec<(u64, u64)> = self.written.to_vec();
        all.push((from, to));
        self.written = united(all);
    }
    /// Drops facts that differ from `before`, so that a chain of joins ends. The count and the lifetime change only
    /// finitely often.
    pub(super) fn forget_changes(&mut self, before: &Self) {
        if self.size != before.size {
            self.size = 0;
        }
        if self.most != before.most {
            self.most = u64::MAX;
        }
        if (self.content, &self.written) != (before.content, &before.written) {
            (self.content, self.written) = (Content::Any, Rc::new([]));
        }
        if self.seen != before.seen {
            self.seen = self.seen.map(|_| (0, u64::MAX));
        }
        if self.covers != before.covers {
            self.covers = Rc::new([]);
        }
    }
    pub(super) fn join(&self, o: &Self) -> Self {
        if self == o {
            return self.clone();
        }
        if o.count == Count::None {
            return Self { exists: false, ..self.clone() };
        }
        if self.count == Count::None {
            return Self { exists: false, ..o.clone() };
        }
        let content = if self.content == o.content { self.content } else { Content::Any };
        let written = match content {
            Content::Any => Rc::new([]),
            _ => united(self.written.iter().chain(o.written.iter()).copied().collect()),
        };
        Self {
            count: self.count.max(o.count),
            may_be_dead: self.may_be_dead || o.may_be_dead,
            exists: self.exists && o.exists,
            size: self.size.min(o.size),
            most: self.most.max(o.most),
            content,
            written,
            null: self.null.zip(o.null).map(|(a, b)| if a == b { a } else { 0 }),
            seen: self.seen.zip(o.seen).map(|(a, b)| if a == b { a } else { (0, a.1.max(b.1)) }),
            covers: self.covers.iter().filter(|cover| o.covers.contains(cover)).copied().collect(),
            zeros: self.zeros.filter(|zeros| o.zeros == Some(*zeros)),
        }
    }
    /// The status of the objects of both, which all exist.
    pub(super) fn together(&self, o: &Self) -> Self {
        Self { count: Count::Many, exists: self.exists || o.exists, seen: None, covers: Rc::new([]), ..self.join(o) }
    }
}

/// Two memories to be joined.
pub struct Both<'m>(pub &'m Memory, pub &'m Memory);

impl Both<'_> {
    fn least(memory: &Memory, limit: &Limit) -> Option<u64> {
        let status = memory.status(limit.object).filter(|status| status.count != Count::None)?;
        Some(match limit.reach {
            Reach::Size => status.size,
            Reach::Null => status.null.unwrap_or(0),
            Reach::Seen => status.seen.map_or(0, |(least, _)| least),
        })
    }
}

impl Reaches for Both<'_> {
    fn left_least(&self, limit: &Limit) -> Option<u64> {
        Self::least(self.0, limit)
    }
    fn right_least(&self, limit: &Limit) -> Option<u64> {
        Self::least(self.1, limit)
    }
    fn stays(&self, object: u32, reach: Reach, owns: bool) -> bool {
        [self.0, self.1].iter().all(|memory| match memory.objects.get(object as usize) {
            Some(status) if status.count == Count::None => true,
            Some(status) => (owns || status.count == Count::One) && status.has(reach),
            None => false,
        })
    }
}

/// The union of ranges. If there are too many, one range that contains them all.
fn united(mut all: Vec<(u64, u64)>) -> Rc<[(u64, u64)]> {
    all.sort_unstable();
    all.dedup_by(|b, a| {
        let touches = b.0 <= a.1;
        if touches {
            a.1 = a.1.max(b.1);
        }
        touches
    });
    match (all.len() > RANGES, all.first(), all.last()) {
        (true, Some(first), Some(last)) => Rc::new([(first.0, last.1)]),
        _ => all.into(),
    }
}

/// The precision of a join.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Joining {
    /// The exact join.
    Exact,
    /// A join that drops changing facts, for termination.
    Forgetting,
}
