//! Memory: objects at addresses.
//!
//! The objects are in a vector sorted by base address, with a small lookup cache. The allocator does not reuse an
//! address while unused ones remain, so that a dangling pointer does not point into a new object. The objects are far
//! apart, so that an index out of bounds does not reach a neighbour.

mod digest;
mod look;
mod shadow;
mod unwritten;

pub(super) use digest::Digest;

use super::Neighbour;
use super::inputs::{InputSource, ObjectSeq};
use crate::Op;
use crate::index::Id;
use crate::program::{AllocKind, DataLayout, Family, FuncId};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::rc::Rc;
use unwritten::Unwritten;

/// The kind of an invalid memory operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// The address is null, or so close to null that it was computed from it.
    NullPointer,
    /// The bytes are not wholly inside one object.
    OutOfBounds,
    /// The object was freed, or the function that owns it has returned.
    Dangling,
    /// A write to a constant object.
    ReadOnly,
    /// A `Free` of a pointer that is not the start of an object of its family. Also an `ObjectSize` of a pointer that
    /// is not the start of an object, or not of the requested family.
    InvalidFree,
    /// A `Free` of an object of its family that was already freed.
    DoubleFree,
    /// A call to an address that is no function's.
    InvalidCall,
    /// A heap object leaks.
    Leak,
}

/// The reason why a memory operation ends the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// The fault, with the address and the number of accessed bytes.
    Fault(Fault, u64, u64),
    /// The memory limit is reached.
    Limit,
}

/// The kind of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    /// A global object.
    Global {
        /// True if writes are faults.
        read_only: bool,
    },
    /// The object of an `Alloc` edge.
    Allocated(AllocKind),
}

impl ObjectKind {
    /// The family of functions that may deallocate the object.
    pub fn family(self) -> Option<Family> {
        match self {
            Self::Global { .. } => None,
            Self::Allocated(kind) => kind.family(),
        }
    }
    /// True if C calls the object dynamically allocated.
    pub fn is_dynamic(self) -> bool {
        !matches!(self.family(), None | Some(Family::Scope))
    }
    /// True if the object leaks when no pointer leads to it any more.
    pub fn may_leak(self) -> bool {
        matches!(self, Self::Allocated(kind) if kind.may_leak())
    }
    /// True if the object is the placeholder of a pointer that was not dereferenced yet.
    pub fn is_placeholder(self) -> bool {
        self == Self::Allocated(AllocKind::Placeholder)
    }
}

/// A memory object, live or dead.
#[derive(Clone, Debug)]
pub struct Object {
    /// The name of the object.
    pub seq: ObjectSeq,
    /// The address of the first byte.
    pub base: u64,
    /// The size in bytes.
    pub size: u64,
    /// The kind of the object.
    pub kind: ObjectKind,
    /// False once the object was deallocated.
    pub live: bool,
    content: Content,
    /// A hash of the content; `None` if it may have changed since the last call of `digest()`.
    digest: Cell<Option<[u64; 2]>>,
    /// The content for [`Op::Shadow`](crate::Op::Shadow), created on the first access.
    shadow: Option<Box<Content>>,
}

/// The bytes of an object.
#[derive(Clone, Debug)]
enum Content {
    /// All bytes, contiguously. Copies of a memory have them in common until one of them writes.
    Flat(Rc<[u8]>),
    /// All bytes, contiguously, some of which are unwritten. The source observes their reads.
    Partial(Rc<[u8]>, Unwritten),
    /// Pages of `PAGE` bytes by number, created on the first access. The last page may be used in part.
    Paged { pages: FxHashMap<u64, Box<[u8]>>, known: bool },
}

/// The maximal size of an object with contiguous content.
const FLAT: u64 = 1 << 20;
const PAGE: u64 = 1 << 16;
/// Addresses below this one are null.
const NULL_PAGE: u64 = 4096;
/// The limit of dead objects is this many plus half of all objects. Above it, all dead objects are dropped.
const GRAVES: usize = 1 << 12;
const CACHE: usize = 1024;

/// The layout of the address space.
#[derive(Clone, Copy)]
struct Space {
    data: u64,
    /// The first address after those of objects.
    end: u64,
    /// The distance between objects is at least `1 << gap`.
    gap: u32,
}

/// The distance of functions in bytes, and the address of the first one. They are above null and below all objects. The
/// first address is no round number, because programs may use round numbers as addresses.
const FUNCTION: u64 = 16;
const FUNCTIONS: u64 = 0x1_34c0;

/// The address of a function. It is the same in all analyses and in all runs.
pub fn function_address(func: FuncId) -> u64 {
    FUNCTIONS + FUNCTION * func.index() as u64
}

/// The function at an address, in a program with `functions` functions.
pub fn function_at(address: u64, functions: usize) -> Option<FuncId> {
    let offset = address.checked_sub(FUNCTIONS)?;
    let is_one = offset.is_multiple_of(FUNCTION) && offset / FUNCTION < functions as u64;
    is_one.then(|| FuncId::from_index((offset / FUNCTION) as usize))
}

impl Space {
    fn new(layout: DataLayout) -> Self {
        match layout.pointer_width {
            64 => Self { data: 0x10_0000_0000, end: 0x7fff_ffff_0000, gap: 16 },
            _ => Self { data: 0x1000_0000, end: 0xffff_0000, gap: 8 },
        }
    }
}

/// The memory of a run: the objects, and their addresses.
#[derive(Clone)]
pub(super) struct Memory {
    space: Space,
    /// The number of functions.
    functions: usize,
    /// Sorted by base, without overlaps.
    objects: Vec<Object>,
    dead: usize,
    /// The index of the last object that was found, by a hash of the address. May be stale.
    cache: Box<[u32; CACHE]>,
    /// The next address to try for an object.
    next: u64,
    /// The bytes of content in use.
    used: u64,
    limit: u64,
    /// The number of writes, allocations and deallocations.
    pub changes: u64,
}

impl Memory {
    /// An empty memory. Its content takes at most `limit` bytes.
    pub fn new(layout: DataLayout, functions: usize, limit: u64) -> Self {
        let space = Space::new(layout);
        let data = space.data.max(function_address(FuncId::from_index(functions)));
        let space = Space { data, ..space };
        Self {
            space,
            functions,
            objects: Vec::new(),
            dead: 0,
            cache: Box::new([0; CACHE]),
            next: data,
            used: 0,
            limit,
            changes: 0,
        }
    }
    pub fn used(&self) -> u64 {
        self.used
    }

    // Addresses.

    pub fn function_at(&self, addr: u64) -> Option<FuncId> {
        function_at(addr, self.functions)
    }
    /// The object, live or dead, that contains `addr` or ends at it.
    pub fn object_at(&self, addr: u64) -> Option<&Object> {
        let object = &self.objects[self.at_or_below(addr)?];
        (addr - object.base <= object.size).then_some(object)
    }
    pub fn live_objects(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter().filter(|o| o.live)
    }
    /// The object that contains the address. If the address is in the gap between objects, the nearest object.
    pub fn neighbour(&self, addr: u64) -> Option<Neighbour> {
        let below = self.at_or_below(addr);
        let above = below.map_or(0, |i| i + 1);
        let distance = |o: &Object| if addr < o.base { o.base - addr } else { (addr - o.base).saturating_sub(o.size) };
        let candidates = below.into_iter().chain([above]).filter_map(|i| self.objects.get(i));
        let nearest = candidates.min_by_key(|o| distance(o)).filter(|o| distance(o) <= 1 << self.space.gap)?;
        let &Object { seq, base, size, kind, live, .. } = nearest;
        Some(Neighbour { object: seq, kind, size, live, offset: addr.wrapping_sub(base) as i64 })
    }
    /// The live object that contains `addr` or ends at it.
    pub fn pointed_to(&self, addr: u64) -> Option<&Object> {
        let index = self.at_or_below(addr)?;
        self.objects.get(index).filter(|o| o.live && addr - o.base <= o.size)
    }
    fn at_or_below(&self, addr: u64) -> Option<usize> {
        self.objects.partition_point(|o| o.base <= addr).checked_sub(1)
    }

    /// The live object that contains the `len >= 1` bytes at `addr`.
    #[inline]
    fn locate(&mut self, addr: u64, len: u64) -> Result<usize, Stop> {
        let slot = (addr >> self.space.gap) as usize % CACHE;
        let index = self.cache[slot] as usize;
        if let Some(object) = self.objects.get(index)
            && object.holds(addr, len)
        {
            return Ok(index);
        }
        let index = self.search(addr, len)?;
        self.cache[slot] = index as u32;
        Ok(index)
    }
    #[cold]
    fn search(&self, addr: u64, len: u64) -> Result<usize, Stop> {
        let found = self.at_or_below(addr);
        let fault = match found.map(|i| (i, &self.objects[i])) {
            Some((i, object)) if object.holds(addr, len) => return Ok(i),
            _ if addr < NULL_PAGE => Fault::NullPointer,
            Some((_, object)) if !object.live && addr - object.base < object.size => Fault::Dangling,
            _ => Fault::OutOfBounds,
        };
        Err(Stop::Fault(fault, addr, len))
    }
    fn locate_writable(&mut self, addr: u64, len: u64) -> Result<usize, Stop> {
        let index = self.locate(addr, len)?;
        let object = &mut self.objects[index];
        if object.kind == (ObjectKind::Global { read_only: true }) {
            return Err(Stop::Fault(Fault::ReadOnly, addr, len));
        }
        object.digest.set(None);
        self.changes += 1;
        Ok(index)
    }

    // Allocation and deallocation.

    /// Allocates an object. Its bytes are zero if `known`, else the source determines them. Returns `None` if the
    /// object cannot have an address.
    pub fn allocate(
        &mut self,
        seq: ObjectSeq,
        size: u64,
        align: u64,
        kind: ObjectKind,
        known: bool,
        source: &mut dyn InputSource,
    ) -> Result<Option<u64>, Stop> {
        if self.dead > GRAVES + self.objects.len() / 2 {
            self.forget_dead();
        }
        let base = match source.base(seq, size, align as u32) {
            None => self.place(size, align),
            Some(base) => self.is_free(base, size, align).then_some(base),
        };
        let Some(base) = base else { return Ok(None) };
        self.changes += 1;
        let content = if size <= FLAT {
            self.charge(size)?;
            let mut bytes: Rc<[u8]> = std::iter::repeat_n(0, size as usize).collect();
            if !known {
                source.bytes(seq, 0, Rc::make_mut(&mut bytes));
            }
            match !known && size > 0 && source.observes_reads(seq) {
                true => Content::Partial(bytes, Unwritten::all(size as usize)),
                false => Content::Flat(bytes),
            }
        } else {
            Content::Paged { pages: FxHashMap::default(), known }
        };
        let object = Object { seq, base, size, kind, live: true, content, digest: Cell::default(), shadow: None };
        match self.objects.last() {
            Some(last) if last.base >= base => {
                let index = self.at_or_below(base).map_or(0, |i| i + 1);
                self.objects.insert(index, object);
            }
            _ => self.objects.push(object),
        }
        Ok(Some(base))
    }

    /// Deallocates the stack object at `base`.
    pub fn kill(&mut self, base: u64) {
        if let Some(index) = self.at_or_below(base) {
            self.bury(index);
        }
    }

    /// Frees the object of this family at `ptr`, which is not null.
    pub fn free(&mut self, ptr: u64, family: Family) -> Result<(), Stop> {
        let index = self.at_or_below(ptr).filter(|&i| self.objects[i].base == ptr);
        match index.filter(|&i| self.objects[i].kind.family() == Some(family)) {
            Some(index) if self.objects[index].live => {
                self.bury(index);
                Ok(())
            }
            Some(_) => Err(Stop::Fault(Fault::DoubleFree, ptr, 0)),
            None => Err(Stop::Fault(Fault::InvalidFree, ptr, 0)),
        }
    }

    /// The size of the live object that starts at `ptr`. If a family is given, the object must have it.
    pub fn object_size(&self, ptr: u64, family: Option<Family>) -> Result<u64, Stop> {
        let is_of_it = |o: &Object| o.base == ptr && (family.is_none() || o.kind.family() == family);
        match self.at_or_below(ptr).map(|i| &self.objects[i]) {
            Some(object) if is_of_it(object) && object.live => Ok(object.size),
            Some(object) if is_of_it(object) => Err(Stop::Fault(Fault::Dangling, ptr, 0)),
            _ => Err(Stop::Fault(Fault::InvalidFree, ptr, 0)),
        }
    }

    /// The result of [`Op::ObjectOffset`](crate::Op::ObjectOffset).
    pub fn object_offset(&self, ptr: u64, writable: bool) -> u64 {
        let Some(here) = self.at_or_below(ptr) else { return Op::NOWHERE };
        // At the start of an object of size 0, the previous object may end.
        let candidates = self.objects[..=here].iter().rev().take(2);
        let offset = |o: &Object| match o.kind {
            ObjectKind::Global { read_only: true } if writable => Op::NOWHERE,
            ObjectKind::Allocated(AllocKind::Placeholder) => Op::IN_PLACEHOLDER,
            _ => ptr - o.base,
        };
        candidates.filter(|o| o.live && ptr - o.base <= o.size).map(offset).next().unwrap_or(Op::NOWHERE)
    }

    fn bury(&mut self, index: usize) {
        self.changes += 1;
        let object = &mut self.objects[index];
        let held = |content: &Content| match content {
            Content::Flat(bytes) | Content::Partial(bytes, _) => bytes.len() as u64,
            Content::Paged { pages, .. } => pages.len() as u64 * PAGE,
        };
        self.used -= held(&object.content) + object.shadow.as_deref().map_or(0, held);
        object.live = false;
        object.content = Content::Flat(Rc::default());
        object.shadow = None;
        self.dead += 1;
    }

    fn forget_dead(&mut self) {
        self.objects.retain(|o| o.live);
        self.dead = 0;
    }

    fn charge(&mut self, bytes: u64) -> Result<(), Stop> {
        if bytes > self.limit.saturating_sub(self.used) {
            return Err(Stop::Limit);
        }
        self.used += bytes;
        Ok(())
    }

    /// An unused address. If there is none, the address of a dead object.
    fn place(&mut self, size: u64, align: u64) -> Option<u64> {
        let gap = 1 << self.space.gap;
        for fresh in [true, false] {
            if !fresh {
                self.forget_dead();
                self.next = self.space.data;
            }
            let mut index = match self.objects.last() {
                Some(last) if last.base + last.size + gap > self.next => {
                    self.objects.partition_point(|o| o.base + o.size + gap <= self.next)
                }
                _ => self.objects.len(),
            };
            loop {
                let base = self.next.checked_next_multiple_of(align)?;
                // The addresses of objects differ even if their sizes are 0. The gap covers the end.
                let end = base.checked_add(size).filter(|&end| end <= self.space.end);
                let Some(end) = end else { break };
                match self.objects.get(index) {
                    Some(object) if object.base < end + gap => {
                        self.next = object.base + object.size + gap;
                        index += 1;
                    }
                    _ => {
                        self.next = end + gap;
                        return Some(base);
                    }
                }
            }
        }
        None
    }

    /// True if an object may be placed at `base`. Drops the dead objects there.
    fn is_free(&mut self, base: u64, size: u64, align: u64) -> bool {
        let top = self.space.end | 0xffff;
        let size = size.max(1);
        let functions = FUNCTIONS..function_address(FuncId::from_index(self.functions));
        let Some(end) = base.checked_add(size) else { return false };
        if base < NULL_PAGE
            || end > top
            || !base.is_multiple_of(align)
            || (base < functions.end && end > functions.start)
        {
            return false;
        }
        // An object of size 0 takes one byte, so that addresses differ.
        let from = self.objects.partition_point(|o| o.base + o.size.max(1) <= base);
        let to = self.objects.partition_point(|o| o.base < end);
        if self.objects[from..to].iter().any(|o| o.live) {
            return false;
        }
        self.dead -= to - from;
        self.objects.drain(from..to);
        true
    }

    // Content.

    /// The `len` bytes at `addr` as a little-endian word; `1 <= len <= 8`.
    #[inline(always)]
    pub fn load(&mut self, addr: u64, len: u32, source: &mut dyn InputSource) -> Result<u64, Stop> {
        let index = self.locate(addr, u64::from(len))?;
        let object = &self.objects[index];
        if let Content::Flat(bytes) = &object.content {
            let bytes = &bytes[(addr - object.base) as usize..];
            return Ok(match len {
                1 => u64::from(bytes[0]),
                2 => u64::from(u16::from_le_bytes(bytes[..2].try_into().unwrap())),
                4 => u64::from(u32::from_le_bytes(bytes[..4].try_into().unwrap())),
                8 => u64::from_le_bytes(bytes[..8].try_into().unwrap()),
                _ => word(&bytes[..len as usize]),
            });
        }
        let mut bytes = [0; 8];
        self.read(addr, &mut bytes[..len as usize], source)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Writes the low `len` bytes of `value`; `1 <= len <= 8`.
    #[inline(always)]
    pub fn store(&mut self, addr: u64, len: u32, value: u64, source: &mut dyn InputSource) -> Result<(), Stop> {
        let index = self.locate_writable(addr, u64::from(len))?;
        let object = &mut self.objects[index];
        let value = value.to_le_bytes();
        if let Content::Flat(bytes) = &mut object.content {
            let bytes = &mut Rc::make_mut(bytes)[(addr - object.base) as usize..];
            match len {
                1 => bytes[0] = value[0],
                2 => bytes[..2].copy_from_slice(&value[..2]),
                4 => bytes[..4].copy_from_slice(&value[..4]),
                8 => bytes[..8].copy_from_slice(&value),
                _ => bytes[..len as usize].copy_from_slice(&value[..len as usize]),
            }
            return Ok(());
        }
        self.write(addr, &value[..len as usize], source)
    }

    /// Reads `out.len() >= 1` bytes.
    pub fn read(&mut self, addr: u64, out: &mut [u8], source: &mut dyn InputSource) -> Result<(), Stop> {
        let index = self.locate(addr, out.len() as u64)?;
        let object = &self.objects[index];
        let offset = addr - object.base;
        if let Content::Flat(bytes) = &object.content {
            out.copy_from_slice(&bytes[offset as usize..][..out.len()]);
            return Ok(());
        }
        if let Content::Partial(bytes, unwritten) = &object.content {
            out.copy_from_slice(&bytes[offset as usize..][..out.len()]);
            if unwritten.has_any(offset as usize, out.len()) {
                source.read_unwritten();
            }
            return Ok(());
        }
        self.chunks(index, offset, out.len(), source, |chunk, at| {
            out[at..at + chunk.len()].copy_from_slice(chunk);
        })
    }

    /// Writes `bytes.len() >= 1` bytes.
    pub fn write(&mut self, addr: u64, bytes: &[u8], source: &mut dyn InputSource) -> Result<(), Stop> {
        let index = self.locate_writable(addr, bytes.len() as u64)?;
        let offset = addr - self.objects[index].base;
        self.chunks(index, offset, bytes.len(), source, |chunk, at| {
            chunk.copy_from_slice(&bytes[at..at + chunk.len()]);
        })
    }

    /// Writes initial bytes of a global object, even if it is read-only.
    pub fn initialise(
        &mut self,
        base: u64,
        offset: u64,
        bytes: &[u8],
        source: &mut dyn InputSource,
    ) -> Result<(), Stop> {
        if bytes.is_empty() {
            return Ok(());
        }
        let index = self.locate(base + offset, bytes.len() as u64)?;
        self.objects[index].digest.set(None);
        self.chunks(index, offset, bytes.len(), source, |chunk, at| {
            chunk.copy_from_slice(&bytes[at..at + chunk.len()]);
        })
    }

    /// Sets `len` bytes.
    pub fn fill(&mut self, addr: u64, byte: u8, len: u64, source: &mut dyn InputSource) -> Result<(), Stop> {
        if len == 0 {
            return Ok(());
        }
        let index = self.locate_writable(addr, len)?;
        let offset = addr - self.objects[index].base;
        self.chunks(index, offset, len as usize, source, |chunk, _| chunk.fill(byte))
    }

    /// Copies `len` bytes. The ranges may overlap.
    pub fn copy(&mut self, dst: u64, src: u64, len: u64, source: &mut dyn InputSource) -> Result<(), Stop> {
        if len == 0 {
            return Ok(());
        }
        let from = self.locate(src, len)?;
        let to = self.locate_writable(dst, len)?;
        let len = len as usize;
        if from == to {
            let Object { base, content, .. } = &mut self.objects[from];
            if let Content::Flat(bytes) = content {
                let start = (src - *base) as usize;
                Rc::make_mut(bytes).copy_within(start..start + len, (dst - *base) as usize);
                return Ok(());
            }
        } else if let Ok([a, b]) = self.objects.get_disjoint_mut([from, to])
            && let (Content::Flat(input), Content::Flat(output)) = (&a.content, &mut b.content)
        {
            let (start, end) = ((src - a.base) as usize, (dst - b.base) as usize);
            Rc::make_mut(output)[end..end + len].copy_from_slice(&input[start..start + len]);
            return Ok(());
        }
        if len as u64 > self.limit {
            return Err(Stop::Limit);
        }
        let mut buffer = vec![0; len];
        let object = &self.objects[from];
        let start = (src - object.base) as usize;
        if let Content::Partial(bytes, unwritten) = &object.content
            && unwritten.has_any(start, len)
        {
            buffer.copy_from_slice(&bytes[start..start + len]);
            let unwritten = unwritten.part(start, len);
            self.write(dst, &buffer, source)?;
            let target = &mut self.objects[to];
            let end = (dst - target.base) as usize;
            target.content.forget_written(target.size, end, &unwritten, source);
            return Ok(());
        }
        self.read(src, &mut buffer, source)?;
        self.write(dst, &buffer, source)
    }

    /// Calls `visit` with each contiguous piece of `len` bytes of an object, and its offset from the first byte.
    fn chunks(
        &mut self,
        index: usize,
        offset: u64,
        len: usize,
        source: &mut dyn InputSource,
        mut visit: impl FnMut(&mut [u8], usize),
    ) -> Result<(), Stop> {
        let mut room = self.limit.saturating_sub(self.used);
        let object = &mut self.objects[index];
        let (pages, known) = match &mut object.content {
            Content::Flat(bytes) => {
                visit(&mut Rc::make_mut(bytes)[offset as usize..][..len], 0);
                return Ok(());
            }
            // Only writes come here.
            Content::Partial(bytes, unwritten) => {
                visit(&mut Rc::make_mut(bytes)[offset as usize..][..len], 0);
                unwritten.remove(offset as usize, len);
                if unwritten.is_empty() {
                    object.content = Content::Flat(std::mem::take(bytes));
                }
                return Ok(());
            }
            Content::Paged { pages, known } => (pages, *known),
        };
        let mut done = 0;
        while done < len {
            let at = offset + done as u64;
            let (number, start) = (at / PAGE, (at % PAGE) as usize);
            let size = (PAGE as usize - start).min(len - done);
            let page = match pages.entry(number) {
                Entry::Occupied(page) => page.into_mut(),
                Entry::Vacant(_) if room < PAGE => return Err(Stop::Limit),
                Entry::Vacant(vacant) => {
                    room -= PAGE;
                    self.used += PAGE;
                    let mut page = vec![0; PAGE as usize].into_boxed_slice();
                    if !known {
                        let used = (object.size - number * PAGE).min(PAGE) as usize;
                        source.bytes(object.seq, number * PAGE, &mut page[..used]);
                        // Large objects have no record of their unwritten bytes.
                        if source.observes_reads(object.seq) {
                            source.read_unwritten();
                        }
                    }
                    vacant.insert(page)
                }
            };
            visit(&mut page[start..start + size], done);
            done += size;
        }
        Ok(())
    }
}

impl Object {
    /// True if the object is live and contains `len >= 1` bytes from `addr`.
    #[inline]
    fn holds(&self, addr: u64, len: u64) -> bool {
        let offset = addr.wrapping_sub(self.base);
        self.live && offset < self.size && len <= self.size - offset
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
