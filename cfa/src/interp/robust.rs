//! Robustness of a run against memory orders that are weaker than sequential consistency.
//!
//! A program is robust if each of its executions in C11's memory model, without cycles of program order and reads-from
//! (RC11: Lahav, Vafeiadis, Kang, Hur, Dreyer: *Repairing sequential consistency in C/C++11*, PLDI 2017), is sequentially
//! consistent. It is, if no sequentially consistent run reaches a next access that the memory model permits to be
//! executed in another way (Lahav, Margalit: *Robustness against release/acquire semantics*, PLDI 2019; Margalit, Lahav:
//! *Verifying observational robustness against a C11-style memory model*, POPL 2021).
//!
//! The writes of a location are numbered. A *view* maps locations to the latest write that precedes a point of the run:
//!
//! - by *conflicts*: program order, and the order of conflicting accesses,
//! - by coherence: a write, or a read from it or from a later one, *happens before* the point,
//! - by the order of *sequentially consistent* accesses, over such accesses alone.
//!
//! An access of a location could read an older write, or write before one, if neither of the last two views contains a
//! write that the first contains. Sequentially consistent fences act like read-modify-writes of one location that nothing else
//! accesses (Lahav, Giannarakis, Vafeiadis: *Taming release-acquire consistency*, POPL 2016): they are in one order, and a
//! read after a fence cannot read a write that is older than one before an earlier fence. This order is not a part of
//! *happens before*, so it does not order accesses that race. The release sequence of a write consists of read-modify-writes
//! only, which makes fewer programs robust.

use super::memory::Digest;
use super::races::Access;
use crate::program::Program;
use crate::threads::{ThreadOp, order};
use std::collections::{BTreeMap, BTreeSet};

/// The key of a counter in a view. `(address, 0)` counts the writes of a location. `(address, 1 + thread * KINDS + kind)`
/// counts the accesses of this kind by the thread, for race detection, or all accesses ([`ANY`]), for the ends of lifetimes, or
/// the allocations ([`MADE`]).
/// [`releases_of`] a thread counts its releases.
type Key = (u64, u32);
type View = BTreeMap<Key, u32>;

fn join(into: &mut View, other: &View) {
    for (&key, &number) in other {
        let known = into.entry(key).or_insert(0);
        *known = (*known).max(number);
    }
}

/// The number of kinds of accesses: reads and writes, atomic or not, [`ANY`] and [`MADE`].
const KINDS: u32 = 6;
/// The kind of all accesses.
const ANY: u32 = 4;
/// The kind of an allocation that writes the whole object.
const MADE: u32 = 5;

fn kind_of(writes: bool, atomic: bool) -> u32 {
    u32::from(writes) + 2 * u32::from(atomic)
}

/// The key of the accesses of a kind by a thread.
fn accesses_of(thread: u32, kind: u32, addr: u64) -> Key {
    (addr, 1 + thread * KINDS + kind)
}

/// The views at a point of a thread, or at the releases of a lock.
#[derive(Clone, Default)]
struct Views {
    conflicts: View,
    happened: View,
    sequential: View,
}

impl Views {
    fn join(&mut self, other: &Self) {
        join(&mut self.conflicts, &other.conflicts);
        join(&mut self.happened, &other.happened);
        join(&mut self.sequential, &other.sequential);
    }
}

#[derive(Clone, Default)]
struct Thread {
    views: Views,
    /// The writes that relaxed loads have read. A later fence acquires them.
    read: View,
    /// The events that the last fence has released.
    fenced: View,
}

#[derive(Clone, Default)]
struct Location {
    len: u64,
    /// The conflicts that precede its writes.
    writes: View,
    /// The conflicts that precede its reads after the last write.
    reads: View,
    /// The events that a load of the last write acquires if it has acquire semantics.
    message: View,
    /// True if the last write is sequentially consistent.
    is_sequential: bool,
    /// The sequentially consistent accesses that precede its sequentially consistent writes.
    sequential_writes: View,
    /// The sequentially consistent accesses that precede its sequentially consistent reads after the last write.
    sequential_reads: View,
}

/// The kinds of operations in a program that the check depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Orders {
    /// The program has operations with weak memory orders.
    pub are_weak: bool,
    has_fences: bool,
}

impl Orders {
    pub fn of(program: &Program) -> Self {
        Self { are_weak: program.has_weak_orders(), has_fences: program.thread_op(ThreadOp::Fence).is_some() }
    }
}

/// Properties of an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    /// The order of an atomic access.
    pub order: Option<u64>,
    /// True for the write of a read-modify-write.
    pub updates: bool,
    /// True if the access is checked for races.
    pub races: bool,
    /// True if the lifetime of the object may end before the end of the program.
    pub may_end: bool,
}

/// Checks whether a run is robust.
#[derive(Clone)]
pub(super) struct Robust {
    has_fences: bool,
    detects_races: bool,
    threads: Vec<Thread>,
    locations: BTreeMap<u64, Location>,
    /// Objects that an allocation has written: the size and the thread, by address.
    made: BTreeMap<u64, (u64, u32)>,
    /// The words of locks and other records of the library. Their accesses are in one order.
    words: BTreeMap<u64, Location>,
    locks: BTreeMap<u64, Views>,
    /// The views at the sequentially consistent fences so far.
    fences: Views,
    /// The numbers of the latest accesses.
    latest: View,
    /// The threads that have ended.
    ended: BTreeSet<u32>,
}

/// The key of the releases by a thread. After the last one, the thread accesses no memory.
fn releases_of(thread: u32) -> Key {
    (u64::MAX, 1 + thread)
}

/// True for the keys that count the writes of a location.
fn counts_writes(key: &Key) -> bool {
    key.1 == 0
}

fn acquires(order: u64) -> bool {
    matches!(order, order::ACQUIRE | order::ACQUIRE_RELEASE | order::SEQUENTIAL)
}
fn releases(order: u64) -> bool {
    matches!(order, order::RELEASE | order::ACQUIRE_RELEASE | order::SEQUENTIAL)
}

impl Robust {
    pub fn new(orders: Orders, detects_races: bool) -> Self {
        Self {
            has_fences: orders.has_fences,
            detects_races,
            threads: Vec::new(),
            locations: BTreeMap::new(),
            made: BTreeMap::new(),
            words: BTreeMap::new(),
            locks: BTreeMap::new(),
            fences: Views::default(),
            latest: View::new(),
            ended: BTreeSet::new(),
        }
    }

    fn thread(&mut self, thread: u32) -> &mut Thread {
        let n = thread as usize;
        if self.threads.len() <= n {
            self.threads.resize_with(n + 1, Thread::default);
        }
        &mut self.threads[n]
    }
    fn next(&mut self, key: Key) -> u32 {
        let latest = self.latest.entry(key).or_insert(0);
        *latest += 1;
        *latest
    }

    pub fn start(&mut self, parent: u32, child: u32) {
        let views = self.thread(parent).views.clone();
        self.thread(child).views = views;
    }
    pub fn end(&mut self, thread: u32) {
        *self.thread(thread) = Thread::default();
        self.ended.insert(thread);
    }
    /// Returns true if the end of each thread that has ended happens before this point of `thread`. The caller checks that
    /// no other thread is alive.
    pub fn has_joined(&self, thread: u32) -> bool {
        let is_joined = |&ended: &u32| {
            let key = releases_of(ended);
            let known = self.threads.get(thread as usize).and_then(|t| t.views.happened.get(&key));
            known == self.latest.get(&key)
        };
        self.ended.iter().all(is_joined)
    }

    pub fn acquire(&mut self, thread: u32, lock: u64) {
        if let Some(views) = self.locks.get(&lock).cloned() {
            self.thread(thread).views.join(&views);
        }
    }
    pub fn release(&mut self, thread: u32, lock: u64) {
        let key = releases_of(thread);
        let number = self.next(key);
        let views = &mut self.thread(thread).views;
        views.happened.insert(key, number);
        let views = views.clone();
        self.locks.entry(lock).or_default().join(&views);
    }

    pub fn fence(&mut self, thread: u32, order: u64) {
        self.thread(thread);
        let own = &mut self.threads[thread as usize];
        if acquires(order) {
            let read = std::mem::take(&mut own.read);
            join(&mut own.views.happened, &read);
        }
        if order == order::SEQUENTIAL {
            own.views.join(&self.fences);
            let Views { conflicts, happened, .. } = &own.views;
            let happened = happened.iter().filter(|(key, _)| counts_writes(key)).map(|(&key, &n)| (key, n)).collect();
            self.fences = Views { conflicts: conflicts.clone(), happened, sequential: View::new() };
        }
        if releases(order) {
            own.fenced = own.views.happened.clone();
        }
    }

    /// An access to a word of the library.
    pub fn word(&mut self, thread: u32, addr: u64, writes: bool) {
        let mut word = self.words.remove(&addr).unwrap_or_default();
        Self::conflict(&mut word, self.thread(thread), writes);
        self.words.insert(addr, word);
    }

    /// Orders an access after the accesses that it conflicts with.
    fn conflict(location: &mut Location, own: &mut Thread, writes: bool) {
        let conflicts = &mut own.views.conflicts;
        join(conflicts, &location.writes);
        if writes {
            join(conflicts, &location.reads);
            location.writes = conflicts.clone();
            location.reads.clear();
        } else {
            join(&mut location.reads, conflicts);
        }
    }

    /// Records that the last read of `addr` by the thread belongs to a read-modify-write with this order.
    pub fn update(&mut self, thread: u32, addr: u64, order: u64) {
        let Some(location) = self.locations.get_mut(&addr) else { return };
        let n = thread as usize;
        if let Some(own) = self.threads.get_mut(n) {
            Self::read(location, own, order, self.has_fences);
        }
    }

    fn read(location: &mut Location, own: &mut Thread, order: u64, has_fences: bool) {
        if acquires(order) {
            join(&mut own.views.happened, &location.message);
        } else if has_fences {
            join(&mut own.read, &location.message);
        }
        if order == order::SEQUENTIAL {
            if location.is_sequential {
                join(&mut own.views.sequential, &location.sequential_writes);
            }
            join(&mut location.sequential_reads, &own.views.sequential);
        }
    }

    /// Records that the thread accesses an address: its accesses of this kind up to now happen before later accesses.
    fn count(&mut self, thread: u32, kind: u32, addr: u64) {
        let key = accesses_of(thread, kind, addr);
        let number = self.next(key);
        self.thread(thread).views.happened.insert(key, number);
    }
    /// Returns true if all accesses of this kind by `other` to the address happen before this point of `thread`.
    fn is_after(&self, thread: u32, other: u32, kind: u32, addr: u64) -> bool {
        let key = accesses_of(other, kind, addr);
        self.latest
            .get(&key)
            .is_none_or(|latest| self.threads[thread as usize].views.happened.get(&key) == Some(latest))
    }

    /// Records an allocation that writes the `len` bytes at `addr`, for race detection.
    pub fn make(&mut self, thread: u32, addr: u64, len: u64) {
        if self.detects_races {
            self.count(thread, MADE, addr);
            self.made.insert(addr, (len, thread));
        }
    }
    /// Returns true if the allocation of the object at this address happens before this point of the thread.
    fn is_made(&self, thread: u32, addr: u64) -> bool {
        let made = self.made.range(..=addr).next_back().filter(|&(base, (len, _))| addr - base < *len);
        made.is_none_or(|(&base, &(_, maker))| maker == thread || self.is_after(thread, maker, MADE, base))
    }

    /// Records an access. Returns false if another execution of the access is permitted, or if it races.
    pub fn access(&mut self, thread: u32, access: &Access, how: How) -> bool {
        let How { order, updates, races, may_end } = how;
        let (addr, len, key) = (access.addr, access.len, (access.addr, 0));
        self.thread(thread);
        let last = addr.saturating_add(len.max(1) - 1);
        let before = self.locations.range(..addr).next_back();
        let overlaps = before.is_some_and(|(&at, known)| addr - at < known.len)
            || addr < last && self.locations.range(addr + 1..=last).next().is_some();
        let mut location = self.locations.remove(&addr).unwrap_or_else(|| Location { len, ..Location::default() });
        if overlaps || location.len != len {
            self.locations.insert(addr, location);
            return false;
        }
        let mut is_robust = true;
        if races && self.detects_races {
            is_robust &= !self.races(thread, access) && self.is_made(thread, addr);
            self.count(thread, kind_of(access.writes, access.atomic), addr);
        }
        if may_end {
            self.count(thread, ANY, addr);
        }
        let number = if access.writes { self.next(key) } else { self.latest.get(&key).copied().unwrap_or(0) };
        let has_fences = self.has_fences;
        let own = &mut self.threads[thread as usize];
        let known = |view: &View| view.get(&key).copied().unwrap_or(0);
        let is_sequential = order == Some(order::SEQUENTIAL);
        let sequential = if is_sequential { known(&own.views.sequential) } else { 0 };
        is_robust &= known(&own.views.conflicts) <= known(&own.views.happened).max(sequential);
        Self::conflict(&mut location, own, access.writes);
        own.views.happened.insert(key, number);
        if !access.writes {
            if let Some(order) = order {
                Self::read(&mut location, own, order, has_fences);
            }
            self.locations.insert(addr, location);
            return is_robust;
        }
        own.views.conflicts.insert(key, number);
        location.writes.insert(key, number);
        let message = match order {
            Some(order) if releases(order) => own.views.happened.clone(),
            Some(_) => own.fenced.clone(),
            None => View::new(),
        };
        if updates {
            join(&mut location.message, &message);
        } else {
            location.message = message;
        }
        location.is_sequential = is_sequential;
        if is_sequential {
            let sequential = &mut own.views.sequential;
            join(sequential, &location.sequential_writes);
            join(sequential, &location.sequential_reads);
            sequential.insert(key, number);
            location.sequential_writes = sequential.clone();
            location.sequential_reads.clear();
        }
        self.locations.insert(addr, location);
        is_robust
    }

    /// Records an operation on a lock as an access. Returns true if it races. Other checks need no record of it.
    pub fn lock_races(&mut self, thread: u32, access: &Access) -> bool {
        if !self.detects_races {
            return false;
        }
        self.thread(thread);
        let races = self.races(thread, access);
        self.count(thread, kind_of(access.writes, access.atomic), access.addr);
        races
    }

    /// Returns false if an execution is permitted in which the lifetime of the `len` bytes at `addr` ends before an access of
    /// another thread that precedes the end in this run. The accesses were recorded with [`How::may_end`].
    pub fn ends_last(&self, thread: u32, addr: u64, len: u64) -> bool {
        let others = || (0..self.threads.len() as u32).filter(|&other| other != thread);
        let mut accessed = self.locations.range(addr..addr.saturating_add(len)).map(|(&at, _)| at);
        (thread as usize) >= self.threads.len()
            || accessed.all(|at| others().all(|other| self.is_after(thread, other, ANY, at)))
    }

    /// True if an earlier access conflicts with this one and does not happen before it.
    fn races(&self, thread: u32, access: &Access) -> bool {
        let others = (0..self.threads.len() as u32).filter(|&other| other != thread);
        let kinds = [(false, false), (true, false), (false, true), (true, true)];
        others.into_iter().any(|other| {
            kinds.iter().any(|&(writes, atomic)| {
                (writes || access.writes)
                    && !(atomic && access.atomic)
                    && !self.is_after(thread, other, kind_of(writes, atomic), access.addr)
            })
        })
    }

    /// Adds everything that later checks depend on. Only the order of numbers counts.
    pub fn digest(&self, mix: &mut Digest) {
        let mut numbers: BTreeMap<Key, BTreeSet<u32>> = BTreeMap::new();
        let locations = || self.locations.iter().chain(&self.words);
        let views = |views: &Views| [views.conflicts.clone(), views.happened.clone(), views.sequential.clone()];
        let mut all: Vec<View> = vec![self.latest.clone()];
        for thread in &self.threads {
            all.extend(views(&thread.views));
            all.extend([thread.read.clone(), thread.fenced.clone()]);
        }
        self.locks.values().chain([&self.fences]).for_each(|lock| all.extend(views(lock)));
        for (_, location) in locations() {
            let Location { writes, reads, message, sequential_writes, sequential_reads, .. } = location;
            all.extend([writes, reads, message, sequential_writes, sequential_reads].map(View::clone));
        }
        for (&key, &number) in all.iter().flatten() {
            numbers.entry(key).or_default().insert(number);
        }
        for view in &all {
            mix.word(view.len() as u64);
            for (key, number) in view {
                let latest = self.latest.get(key);
                let rank = match key.1 {
                    0 => numbers[key].range(..number).count() as u64,
                    _ => u64::from(latest == Some(number)),
                };
                mix.words(&[key.0, u64::from(key.1), rank]);
            }
        }
        for (&addr, location) in locations() {
            mix.words(&[addr, location.len, u64::from(location.is_sequential)]);
        }
        self.locks.keys().for_each(|&lock| mix.word(lock));
        self.ended.iter().for_each(|&thread| mix.word(u64::from(thread)));
    }
}
