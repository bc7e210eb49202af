//! Waitlists: the order in which unexplored states are taken.
//!
//! A waitlist has one set of entries and several orders over it. An order stores ids and skips entries that another
//! order has taken. This makes it cheap to interleave several search strategies.

use crate::semantics::control::{CallStacks, Control, StackId};
use cfa::graph::CfaGraphs;
use cfa::{Callee, Id as _, LocId, Op, Program};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// An order of exploration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchOrder {
    /// The newest state first.
    DepthFirst,
    /// The oldest state first.
    BreadthFirst,
    /// A random state, with weight `2^-forks`: a random walk from the root of the tree of forks (Cadar, Dunbar, Engler:
    /// KLEE, OSDI 2008). Loops cannot starve states close to the root.
    RandomPath,
    /// A state at the least visited location, the newest first.
    Coverage,
    /// The state with the fewest edges to an error, the newest first.
    Nearest,
    /// Depth-first, interleaved with coverage and random-path search.
    Mixed,
}

impl SearchOrder {
    /// The strategies with their names on the command line.
    pub const NAMES: [(&'static str, SearchOrder); 6] = [
        ("mixed", SearchOrder::Mixed),
        ("dfs", SearchOrder::DepthFirst),
        ("bfs", SearchOrder::BreadthFirst),
        ("random-path", SearchOrder::RandomPath),
        ("coverage", SearchOrder::Coverage),
        ("nearest", SearchOrder::Nearest),
    ];
}

/// The keys by which the orders sort an entry.
#[derive(Clone, Copy, Debug)]
pub struct Rank {
    /// Number of forks on the path to the state.
    pub forks: u32,
    /// Number of visits to the location at the time of insertion.
    pub visits: u32,
    /// Lower bound on the number of edges to an error.
    pub distance: u32,
}

/// The waiting entries, with one or more orders over them.
pub struct Waitlist<T> {
    entries: Vec<Option<(T, Rank)>>,
    free: Vec<u32>,
    /// The serial number of the entry in each slot. An order recognises outdated ids by them.
    serials: Vec<u64>,
    next_serial: u64,
    len: usize,
    orders: Vec<Order>,
    turn: usize,
    rng: SmallRng,
}

/// The slot of an entry, and its serial number.
type Id = (u32, u64);

/// An order over the entries.
enum Order {
    /// Depth-first.
    Stack(Vec<Id>),
    /// Breadth-first.
    Queue(VecDeque<Id>),
    /// Ids by number of forks.
    Random(BTreeMap<u32, Vec<Id>>),
    /// By number of visits, then the newest first: visits, serial number, slot.
    Least(BinaryHeap<(Reverse<u32>, u64, u32)>),
    /// By distance to an error, then the newest first: distance, serial number, slot.
    Nearest(BinaryHeap<(Reverse<u32>, u64, u32)>),
}

impl<T> Waitlist<T> {
    /// An empty waitlist. `seed` determines the random choices.
    pub fn new(search: SearchOrder, seed: u64) -> Self {
        let orders = match search {
            SearchOrder::DepthFirst => vec![Order::Stack(Vec::new())],
            SearchOrder::BreadthFirst => vec![Order::Queue(VecDeque::new())],
            SearchOrder::RandomPath => vec![Order::Random(BTreeMap::new())],
            SearchOrder::Coverage => vec![Order::Least(BinaryHeap::new())],
            SearchOrder::Nearest => vec![Order::Nearest(BinaryHeap::new())],
            SearchOrder::Mixed => {
                vec![Order::Stack(Vec::new()), Order::Least(BinaryHeap::new()), Order::Random(BTreeMap::new())]
            }
        };
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            serials: Vec::new(),
            next_serial: 0,
            len: 0,
            orders,
            turn: 0,
            rng: SmallRng::seed_from_u64(seed),
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }
    /// True if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an entry.
    pub fn push(&mut self, item: T, rank: Rank) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.serials.push(0);
            self.entries.len() as u32 - 1
        });
        let serial = self.next_serial;
        self.next_serial += 1;
        self.entries[slot as usize] = Some((item, rank));
        self.serials[slot as usize] = serial;
        self.len += 1;
        for order in &mut self.orders {
            match order {
                Order::Stack(ids) => ids.push((slot, serial)),
                Order::Queue(ids) => ids.push_back((slot, serial)),
                Order::Random(by_forks) => by_forks.entry(rank.forks).or_default().push((slot, serial)),
                Order::Least(heap) => heap.push((Reverse(rank.visits), serial, slot)),
                Order::Nearest(heap) => heap.push((Reverse(rank.distance), serial, slot)),
            }
        }
    }

    /// Takes an entry, by each order in turn. `Mixed` uses depth-first most often. It is the cheapest order, since
    /// consecutive states share most of their solver context.
    pub fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        const TURNS: [usize; 8] = [0, 0, 0, 1, 0, 0, 0, 2];
        let which = if self.orders.len() == 1 { 0 } else { TURNS[self.turn / 16 % TURNS.len()] };
        self.turn += 1;
        loop {
            let (slot, serial) = match &mut self.orders[which] {
                Order::Stack(ids) => ids.pop(),
                Order::Queue(ids) => ids.pop_front(),
                Order::Least(heap) | Order::Nearest(heap) => heap.pop().map(|(_, serial, slot)| (slot, serial)),
                Order::Random(by_forks) => pick(by_forks, &mut self.rng),
            }
            .expect("every waiting entry is in every order");
            if self.serials[slot as usize] == serial
                && let Some((item, _)) = self.entries[slot as usize].take()
            {
                self.free.push(slot);
                self.len -= 1;
                return Some(item);
            }
        }
    }

    /// Drops all entries that are not `wanted`.
    pub fn retain(&mut self, mut wanted: impl FnMut(&T) -> bool) {
        for (slot, entry) in self.entries.iter_mut().enumerate() {
            if entry.as_ref().is_some_and(|(item, _)| !wanted(item)) {
                *entry = None;
                self.free.push(slot as u32);
                self.len -= 1;
            }
        }
    }

    /// All entries, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().flatten().map(|(item, _)| item)
    }
}

/// By location: the least number of edges to an error. A path may step over a call, and may return to any caller.
pub fn distances(program: &Program) -> Vec<u32> {
    let mut before: Vec<Vec<LocId>> = vec![Vec::new(); program.locs.len()];
    let mut returns: Vec<Vec<LocId>> = vec![Vec::new(); program.funcs.len()];
    let mut distance = vec![u32::MAX; program.locs.len()];
    let mut queue = VecDeque::new();
    for (id, edge) in program.edges.iter() {
        match &edge.op {
            Op::Return { .. } => returns[program.func_of(id).index()].push(edge.source),
            Op::Halt(_) => continue,
            _ => before[edge.target.index()].push(edge.source),
        }
        if (matches!(edge.op, Op::Error(_)) || edge.fault.is_some()) && distance[edge.source.index()] != 0 {
            distance[edge.source.index()] = 0;
            queue.push_back(edge.source);
        }
    }
    for edge in program.edges.values() {
        if let Op::Call { callee: Callee::Direct(func), .. } = edge.op {
            before[program.funcs[func].entry.index()].push(edge.source);
            before[edge.target.index()].extend_from_slice(&returns[func.index()]);
        }
    }
    while let Some(loc) = queue.pop_front() {
        for from in std::mem::take(&mut before[loc.index()]) {
            if distance[from.index()] == u32::MAX {
                distance[from.index()] = distance[loc.index()] + 1;
                queue.push_back(from);
            }
        }
    }
    distance
}

/// Picks a level of forks with weight `entries * 2^-forks`, and an entry of it uniformly.
fn pick(by_forks: &mut BTreeMap<u32, Vec<Id>>, rng: &mut SmallRng) -> Option<Id> {
    let shallowest = *by_forks.keys().next()?;
    // Levels 60 or more below the shallowest have negligible weight in floating point.
    let weight = |forks: u32, ids: &[Id]| ids.len() as f64 * (-f64::from(forks - shallowest)).exp2();
    let total: f64 = by_forks.iter().take(60).map(|(&f, ids)| weight(f, ids)).sum();
    let mut point = rng.random::<f64>() * total;
    let mut level = shallowest;
    for (&forks, ids) in by_forks.iter().take(60) {
        level = forks;
        point -= weight(forks, ids);
        if point <= 0.0 {
            break;
        }
    }
    let ids = by_forks.get_mut(&level).expect("a level that was just seen");
    let i = rng.random_range(0..ids.len());
    let id = ids.swap_remove(i);
    if ids.is_empty() {
        by_forks.remove(&level);
    }
    Some(id)
}

/// The position of a waiting state in the order of joins: first the number of loop and recursion iterations, then the
/// reverse post-order numbers of its calls and its location, lexicographically. A state inside a call precedes the
/// states of its caller after the call.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct JoinKey {
    /// Number of iterations of loops and recursions.
    pub iterations: u32,
    /// Reverse post-order numbers of the calls on the stack and of the location.
    pub path: Vec<u32>,
}

/// Computes [`JoinKey`]s.
pub struct JoinOrder {
    graphs: CfaGraphs,
    /// The numbers of the call locations, per interned stack.
    calls: Vec<Vec<u32>>,
}

impl JoinOrder {
    /// The order of the locations of `program`.
    pub fn new(program: &Program) -> Self {
        Self { graphs: CfaGraphs::new(program), calls: Vec::new() }
    }
    /// The reverse post-order number of a location in its function.
    pub fn number(&self, loc: LocId) -> u32 {
        self.graphs.node(loc).unwrap_or(u32::MAX)
    }
    /// The key of a state at `at` after `iterations` iterations.
    pub fn key(&mut self, program: &Program, stacks: &CallStacks, at: Control, iterations: u32) -> JoinKey {
        while self.calls.len() <= at.stack.0 as usize {
            let stack = StackId(self.calls.len() as u32);
            let calls = match stacks.pop(stack) {
                None => Vec::new(),
                Some((below, call)) => {
                    let mut calls = self.calls[below.0 as usize].clone();
                    calls.push(self.number(program.edges[call].source));
                    calls
                }
            };
            self.calls.push(calls);
        }
        let mut path = self.calls[at.stack.0 as usize].clone();
        path.push(self.number(at.loc));
        JoinKey { iterations, path }
    }
}

/// A waitlist that returns all states with the same key together. A state comes after all states that may still join
/// it.
pub struct JoinQueue<T> {
    waiting: BTreeMap<JoinKey, Vec<T>>,
    len: usize,
}

impl<T> JoinQueue<T> {
    /// An empty waitlist.
    pub fn new() -> Self {
        Self { waiting: BTreeMap::new(), len: 0 }
    }
    /// Number of states.
    pub fn len(&self) -> usize {
        self.len
    }
    /// True if there are no states.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Adds a state.
    pub fn push(&mut self, key: JoinKey, item: T) {
        self.waiting.entry(key).or_default().push(item);
        self.len += 1;
    }
    /// All waiting states.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.waiting.values().flatten()
    }
    /// Takes all states with the least key.
    pub fn pop(&mut self) -> Option<(JoinKey, Vec<T>)> {
        let (key, items) = self.waiting.pop_first()?;
        self.len -= items.len();
        Some((key, items))
    }
}

impl<T> Default for JoinQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_gives_every_entry_once() {
        for (name, search) in SearchOrder::NAMES {
            let mut waitlist = Waitlist::new(search, 7);
            let mut seen = Vec::new();
            for i in 0..500u32 {
                waitlist.push(i, Rank { forks: i % 9, visits: i % 5, distance: i % 7 });
                if i % 3 == 0 {
                    seen.push(waitlist.pop().unwrap());
                }
            }
            while let Some(i) = waitlist.pop() {
                seen.push(i);
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..500).collect::<Vec<_>>(), "{name}");
        }
    }
}
