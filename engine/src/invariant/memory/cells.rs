//! What is known of memory: of cells, each some bytes of an object, and of objects, one for each place that makes some.
//!
//! Cells: Miné, Field-sensitive value analysis of embedded C programs with union types and pointer arithmetics, LCTES 2006. Allocation
//! sites, and which of them stand for one object: Balakrishnan, Reps, Recency-abstraction for heap-allocated storage, SAS 2006.
//! An access is taken to stay within the object that its address was derived from: where that is seen, it is valid, and so is everything
//! before the first that is not. Where it is not seen which object that is, the points-to analysis says it.

use crate::invariant::value::Value;
use crate::invariant::value::limits::{LARGEST, Limit, Reach, Reaches};
use crate::semantics::Paged;
use fixedbitset::FixedBitSet;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Ranges of bytes that were written are told apart up to so many.
const RANGES: usize = 64;
/// What is known of cells and objects at one place. A cell that is absent may hold anything.
#[derive(Clone)]
pub struct Memory {
    pub cells: Paged<Value>,
    pub objects: Paged<Status>,
    /// What is lost since the function was called: of that its caller knows nothing any more.
    pub lost: Rc<BTreeSet<(u32, Loss)>>,
}

/// What was known by all who speak of an object, and is not any more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Loss {
    /// Where its null byte is.
    Null,
    /// Where a null byte was seen.
    Seen,
    /// That, and its size: there are several.
    Reach,
    /// That it is there. No address that is known leads there, so that others may take its place.
    Object,
}

/// How many objects of one site an address may lead to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Count {
    None,
    One,
    Many,
}

/// What an object holds where it was not written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    Any,
    Zero,
    /// What its variable holds at the start.
    Initial,
}

/// What is known of the objects of a site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    pub count: Count,
    pub may_be_dead: bool,
    /// There is one on all ways that lead here.
    pub exists: bool,
    /// Bytes, at least and at most.
    pub size: u64,
    pub(in crate::invariant) most: u64,
    pub(in crate::invariant) content: Content,
    /// Where they may have been written: disjoint, ascending; from, and to before.
    pub(in crate::invariant) written: Rc<[(u64, u64)]>,
    /// One of its bytes is null, this far from the start at least.
    pub(in crate::invariant) null: Option<u64>,
    /// One of its bytes was seen to be null, this far from the start at least and at most.
    pub(in crate::invariant) seen: Option<(u64, u64)>,
    /// Lengths of other objects that are at most its size: what the limit says of 0 is said of the size.
    pub(in crate::invariant) covers: Rc<[Limit]>,
    /// It ends with zeros, whatever its cells are said to hold.
    pub(in crate::invariant) zeros: Option<Zeros>,
}

/// The last bytes of an object, all of them zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::invariant) struct Zeros {
    pub(in crate::invariant) bytes: u64,
    /// Where they start, modulo how many they are.
    pub(in crate::invariant) phase: u64,
}

/// Some bytes of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::invariant) struct Cell {
    pub(in crate::invariant) object: u32,
    pub(in crate::invariant) at: u64,
    pub(in crate::invariant) bytes: u64,
}

impl Zeros {
    /// What a cell holds that may be among them.
    pub(in crate::invariant) fn joined(self, cell: Cell, held: &Value) -> Option<Value> {
        let is_aligned = cell.bytes == self.bytes && cell.at % self.bytes == self.phase;
        is_aligned.then(|| held.join(&Value::constant(held.width(), 0)))
    }
}

impl Memory {
    pub fn new() -> Self {
        Self { cells: Paged::new(), objects: Paged::new(), lost: Rc::default() }
    }
    /// What is known and not in `b`, of what all who speak of an object know; of some objects.
    pub fn lost(&self, b: &Memory, among: Option<&FixedBitSet>) -> Vec<(u32, Loss)> {
        let mut lost = Vec::new();
        let is_asked = |index: &usize| among.is_none_or(|among| among.contains(*index));
        for index in self
            .objects
            .differing_pages(&b.objects)
            .flat_map(|p| p * Paged::<Status>::PAGE..(p + 1) * Paged::<Status>::PAGE)
            .filter(is_asked)
        {
            let Some(x) = self.objects.get(index).filter(|x| x.count == Count::One) else { continue };
            let y = b.objects.get(index).filter(|y| y.count != Count::Many);
            match y {
                None => lost.push((index as u32, Loss::Reach)),
                Some(y) if y.count == Count::One && x.null.is_some() && y.null.is_none() => {
                    lost.push((index as u32, Loss::Null));
                }
                _ => {}
            }
            if x.seen.is_some() && y.is_some_and(|y| y.count == Count::One && y.seen.is_none()) {
                lost.push((index as u32, Loss::Seen));
            }
        }
        lost
    }
    pub fn status(&self, object: u32) -> Option<&Status> {
        self.objects.get(object as usize)
    }
    /// Whether an object's number stands for one object, and a cell for bytes of it.
    pub fn is_one(&self, object: u32) -> bool {
        self.status(object).is_some_and(|s| s.count == Count::One)
    }
    /// The length that a limit is of, at most, if the object is one: what is said of that holds of a number if the object exists.
    pub(in crate::invariant) fn most(&self, limit: &Limit, exists: bool) -> Option<u64> {
        let status = self.status(limit.object)?;
        let is_there = status.count == Count::One && !status.may_be_dead && (exists || status.exists);
        let most = status.most.min(LARGEST);
        match limit.reach {
            Reach::Size => Some(most),
            Reach::Null => most.checked_sub(1).filter(|_| status.null.is_some()),
            Reach::Seen => most.checked_sub(1).zip(status.seen).map(|(most, (_, seen))| most.min(seen)),
        }
        .filter(|_| is_there)
    }
    /// Keeps of what is known of sizes by lengths of other objects some.
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
    /// Of so many bytes, at least and at most.
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
    /// Whether there is such a length.
    pub(in crate::invariant) fn has(&self, reach: Reach) -> bool {
        match reach {
            Reach::Size => true,
            Reach::Null => self.null.is_some(),
            Reach::Seen => self.seen.is_some(),
        }
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
    /// Forgets what is not as it was, such that a row of joins ends. How many objects there are and whether they are alive changes only so often.
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
}

/// Two states of memory that are put together.
pub struct Both<'m>(pub &'m Memory, pub &'m Memory);

impl Both<'_> {
    pub(super) fn exists(memory: &Memory, object: u32) -> bool {
        memory.objects.get(object as usize).is_some_and(|s| s.count != Count::None)
    }
}

impl Reaches for Both<'_> {
    fn left_exists(&self, object: u32) -> bool {
        Self::exists(self.0, object)
    }
    fn right_exists(&self, object: u32) -> bool {
        Self::exists(self.1, object)
    }
    fn stays(&self, object: u32, reach: Reach) -> bool {
        [self.0, self.1].iter().all(|memory| match memory.objects.get(object as usize) {
            Some(status) if status.count == Count::None => true,
            Some(status) => status.count == Count::One && status.has(reach),
            None => false,
        })
    }
}

/// The same as few ranges, and some more if they are too many.
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

/// How states are put together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Joining {
    Exact,
    /// So that it ends.
    Forgetting,
}
