//! Data races by happens-before, with vector clocks and the synchronisation of C11's memory orders.
//!
//! Mattern: *Virtual time and global states of distributed systems*, 1989. Flanagan, Freund: *FastTrack*, PLDI 2009, is
//! an optimisation that is not implemented here.

use crate::program::EdgeId;
use crate::threads::{BLOCK, order};
use rustc_hash::FxHashMap;

/// An access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The address.
    pub addr: u64,
    /// The number of bytes.
    pub len: u64,
    /// True for a write.
    pub writes: bool,
    /// True for an atomic access.
    pub atomic: bool,
    /// The edge that accesses memory.
    pub edge: EdgeId,
}

impl Access {
    /// True if two accesses overlap, one of them writes, and not both are atomic.
    pub fn conflicts(&self, other: &Self) -> bool {
        (self.writes || other.writes)
            && !(self.atomic && other.atomic)
            && self.addr < other.addr.saturating_add(other.len)
            && other.addr < self.addr.saturating_add(self.len)
    }
}

/// A vector clock: the number of steps of each thread.
type Clock = Vec<u32>;

fn join(into: &mut Clock, other: &Clock) {
    if into.len() < other.len() {
        into.resize(other.len(), 0);
    }
    into.iter_mut().zip(other).for_each(|(a, b)| *a = (*a).max(*b));
}

/// Vector clocks: one for each thread, and one for each address that a thread releases.
#[derive(Clone, Default)]
pub(super) struct Clocks {
    threads: Vec<Clock>,
    /// For each address, the clocks of the release sequences that its value belongs to, by the thread that heads the
    /// sequence (C17, 5.1.2.4p10).
    released: FxHashMap<u64, Vec<(u32, Clock)>>,
    /// For each thread, the clocks that its relaxed loads have read. A later fence acquires them.
    read: Vec<Clock>,
    /// For each thread, the clock that its last fence has released.
    fenced: Vec<Clock>,
}

impl Clocks {
    fn ensure(&mut self, thread: u32) {
        while self.threads.len() <= thread as usize {
            let n = self.threads.len();
            let mut clock = vec![0; n + 1];
            clock[n] = 1;
            self.threads.push(clock);
            self.read.push(Vec::new());
            self.fenced.push(Vec::new());
        }
    }
    pub fn start(&mut self, parent: u32, child: u32) {
        self.ensure(parent.max(child));
        let clock = self.threads[parent as usize].clone();
        join(&mut self.threads[child as usize], &clock);
        self.tick(parent);
    }
    fn tick(&mut self, thread: u32) {
        self.threads[thread as usize][thread as usize] += 1;
    }
    pub fn acquire(&mut self, thread: u32, addr: u64) {
        self.ensure(thread);
        for (_, clock) in self.released.get(&addr).into_iter().flatten() {
            join(&mut self.threads[thread as usize], clock);
        }
    }
    /// Adds a clock to the release sequence that a thread heads at an address.
    fn head(&mut self, thread: u32, addr: u64, clock: &Clock) {
        let sequences = self.released.entry(addr).or_default();
        match sequences.iter_mut().find(|(head, _)| *head == thread) {
            Some((_, known)) => join(known, clock),
            None => sequences.push((thread, clock.clone())),
        }
    }
    pub fn release(&mut self, thread: u32, addr: u64) {
        self.ensure(thread);
        let clock = self.threads[thread as usize].clone();
        self.head(thread, addr, &clock);
        self.tick(thread);
    }
    /// An atomic load.
    pub fn load(&mut self, thread: u32, addr: u64, order: u64) {
        self.ensure(thread);
        let acquires = matches!(order, order::ACQUIRE | order::ACQUIRE_RELEASE | order::SEQUENTIAL);
        for (_, clock) in self.released.get(&addr).into_iter().flatten() {
            join(&mut self.read[thread as usize], clock);
            if acquires {
                join(&mut self.threads[thread as usize], clock);
            }
        }
    }
    /// An atomic store. The store of a read-modify-write (`updates`) continues the release sequences of the address.
    /// Another store continues those that the same thread heads, and ends the others.
    pub fn store(&mut self, thread: u32, addr: u64, order: u64, updates: bool) {
        self.ensure(thread);
        let releases = matches!(order, order::RELEASE | order::ACQUIRE_RELEASE | order::SEQUENTIAL);
        let clock = if releases { &self.threads[thread as usize] } else { &self.fenced[thread as usize] }.clone();
        if !updates {
            self.released.entry(addr).or_default().retain(|(head, _)| *head == thread);
        }
        self.head(thread, addr, &clock);
        if releases {
            self.tick(thread);
        }
    }
    pub fn fence(&mut self, thread: u32, order: u64) {
        self.ensure(thread);
        let t = thread as usize;
        if order != order::RELEASE {
            let read = std::mem::take(&mut self.read[t]);
            join(&mut self.threads[t], &read);
        }
        if order != order::ACQUIRE {
            self.fenced[t] = self.threads[t].clone();
            self.tick(thread);
        }
    }
    fn knows(&self, thread: u32, other: u32, time: u32) -> bool {
        self.threads
            .get(thread as usize)
            .and_then(|clock| clock.get(other as usize))
            .is_some_and(|&known| time <= known)
    }
    fn now(&self, thread: u32) -> u32 {
        self.threads.get(thread as usize).map_or(1, |clock| clock[thread as usize])
    }
}

/// An access with its thread and its time.
type Recorded = (u32, u32, Access);

/// The last access of each thread and kind (read or write, atomic or not).
#[derive(Clone, Default)]
pub(super) struct Races {
    bytes: FxHashMap<u64, Vec<Recorded>>,
    /// The accesses to more than [`LONGEST`] bytes.
    long: Vec<Recorded>,
}

/// The maximal number of bytes of an access that is recorded byte by byte.
const LONGEST: u64 = 4096;

impl Races {
    /// Records an access by a thread. Returns an earlier access of another thread that it races with, if there is one.
    pub fn access(&mut self, thread: u32, access: &Access, clocks: &Clocks) -> Option<(u32, Access)> {
        let now = clocks.now(thread);
        let races = |&&(other, time, ref before): &&Recorded| {
            other != thread && before.conflicts(access) && !clocks.knows(thread, other, time)
        };
        let is_same = |&(other, _, ref before): &Recorded| {
            other == thread && before.writes == access.writes && before.atomic == access.atomic
        };
        let record = |known: &mut Vec<Recorded>, is_same: &dyn Fn(&Recorded) -> bool| match known
            .iter_mut()
            .find(|k| is_same(k))
        {
            Some(entry) => *entry = (thread, now, *access),
            None => known.push((thread, now, *access)),
        };
        if let Some(&(other, _, before)) = self.long.iter().find(races) {
            return Some((other, before));
        }
        if access.len > LONGEST {
            let last = access.addr.saturating_add(access.len - 1);
            let touched = self.bytes.iter().filter(|&(&at, _)| (access.addr..=last).contains(&at));
            if let Some(&(other, _, before)) = touched.flat_map(|(_, known)| known).find(races) {
                return Some((other, before));
            }
            record(&mut self.long, &|k| is_same(k) && (k.2.addr, k.2.len) == (access.addr, access.len));
            return None;
        }
        for at in access.addr..access.addr.saturating_add(access.len) {
            let known = self.bytes.entry(at).or_default();
            if let Some(&(other, _, before)) = known.iter().find(races) {
                return Some((other, before));
            }
            record(known, &is_same);
        }
        None
    }
}

/// The order of an atomic section's accesses, if it is one of C11's.
pub(super) fn order_of(kind: Option<u64>) -> Option<u64> {
    kind.filter(|&kind| kind < BLOCK)
}
