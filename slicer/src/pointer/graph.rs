//! The constraint graph: nodes with points-to sets, joined by inclusions.
//!
//! A node takes in what its sources have, plainly or moved by a shift. Propagation goes in waves (Pereira, Berlin:
//! *Wave propagation and deep propagation for pointer analysis*, CGO 2009): cycles of plain edges are merged, and
//! each node, in topological order, takes once what is new in its sources. A cycle of shifts that do not cancel,
//! `p = p + 16`, would count up for ever (Pearce, Kelly, Hankin: *Efficient field-sensitive pointer analysis
//! of C*, 2007): its edges get the cycle's stride.

use super::memory::{LocationId, Memory};
use super::sets::{SetId, SetPool};
use super::terms::{Shift, Way, gcd};
use crate::sparse_set::SparseSet;
use cfa::graph::{Components, Digraph};
use rustc_hash::{FxHashMap, FxHashSet};

pub type NodeId = u32;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ShiftedSource {
    from: NodeId,
    way: Way,
    /// Of the source, what has come through.
    done: SetId,
}

/// What is done with a node's pointers, and the set for which it has been done.
#[derive(Clone, Copy)]
struct Pending<U> {
    done: SetId,
    what: U,
}

struct Node<U> {
    all: SetId,
    /// The times when `all` last grew and when it last took in its sources.
    grown: u32,
    taken: u32,
    sources: Vec<NodeId>,
    /// Sources that have not been taken in at all yet.
    new_sources: Vec<NodeId>,
    shifted: Vec<ShiftedSource>,
    new_locations: Vec<u32>,
    uses: Vec<Pending<U>>,
    /// All uses have been done for this set.
    used: SetId,
}

/// `U` is what can be done with the pointers of a node.
pub struct Graph<U> {
    pub sets: SetPool,
    parent: Vec<NodeId>,
    nodes: Vec<Node<U>>,
    edges: FxHashSet<(NodeId, NodeId)>,
    shifted_edges: FxHashSet<(NodeId, NodeId, Way)>,
    moved: FxHashMap<(SetId, Way), SetId>,
    /// Edges were added since the last cycles were merged.
    changed: bool,
    /// The nodes in topological order, as of when there were `ordered` nodes.
    order: Vec<NodeId>,
    ordered: usize,
    clock: u32,
    /// Something was added that no wave has seen.
    pub pending: bool,
    scratch: Vec<SetId>,
}

impl<U: Copy> Graph<U> {
    pub fn new() -> Self {
        Self {
            sets: SetPool::new(),
            parent: Vec::new(),
            nodes: Vec::new(),
            edges: FxHashSet::default(),
            shifted_edges: FxHashSet::default(),
            moved: FxHashMap::default(),
            changed: false,
            order: Vec::new(),
            ordered: 0,
            clock: 0,
            pending: false,
            scratch: Vec::new(),
        }
    }
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    pub fn fresh_node(&mut self) -> NodeId {
        let id = self.nodes.len() as u32;
        self.parent.push(id);
        self.nodes.push(Node {
            all: SetId::EMPTY,
            grown: 0,
            taken: 0,
            sources: Vec::new(),
            new_sources: Vec::new(),
            shifted: Vec::new(),
            new_locations: Vec::new(),
            uses: Vec::new(),
            used: SetId::EMPTY,
        });
        id
    }
    pub fn find(&self, mut node: NodeId) -> NodeId {
        while self.parent[node as usize] != node {
            node = self.parent[node as usize];
        }
        node
    }
    fn find_shorten(&mut self, node: NodeId) -> NodeId {
        let root = self.find(node);
        let mut at = node;
        while at != root {
            at = std::mem::replace(&mut self.parent[at as usize], root);
        }
        root
    }
    pub fn points_to(&self, node: NodeId) -> SetId {
        self.nodes[self.find(node) as usize].all
    }

    // Adding. What is added takes effect in the next wave.

    pub fn add_location(&mut self, node: NodeId, location: LocationId) {
        let n = self.find_shorten(node) as usize;
        self.nodes[n].new_locations.push(location.0);
        self.pending = true;
    }
    pub fn add_edge(&mut self, from: NodeId, to: NodeId) {
        let (from, to) = (self.find_shorten(from), self.find_shorten(to));
        if from != to && self.edges.insert((from, to)) {
            (self.changed, self.pending) = (true, true);
            self.sets.work += 1;
            self.nodes[to as usize].new_sources.push(from);
        }
    }
    pub fn add_shifted(&mut self, from: NodeId, to: NodeId, way: Way) {
        if way == Way::SAME {
            return self.add_edge(from, to);
        }
        let (from, to) = (self.find_shorten(from), self.find_shorten(to));
        if self.shifted_edges.insert((from, to, way)) {
            (self.changed, self.pending) = (true, true);
            self.nodes[to as usize].shifted.push(ShiftedSource { from, way, done: SetId::EMPTY });
        }
    }
    pub fn add_use(&mut self, node: NodeId, what: U) {
        let n = self.find_shorten(node) as usize;
        self.nodes[n].uses.push(Pending { done: SetId::EMPTY, what });
        self.nodes[n].used = SetId::EMPTY;
        self.pending = true;
    }

    // Waves.

    /// Each node takes in its sources once; returns whether any set grew.
    pub fn propagate(&mut self, memory: &mut Memory) -> bool {
        self.merge_cycles();
        self.pending = false;
        let mut any = false;
        for i in 0..self.order.len() {
            any |= self.take_in(self.order[i] as usize, memory);
        }
        any
    }

    /// The nodes that have pointers that have not been used, sources first.
    pub fn unused(&self) -> Vec<NodeId> {
        let is_unused = |n: &Node<U>| n.all != n.used && !n.uses.is_empty();
        self.order.iter().copied().filter(|&n| is_unused(&self.nodes[n as usize])).collect()
    }
    /// The uses of a node, each with the pointers it has not been done for. They count as done.
    pub fn take_uses(&mut self, node: NodeId) -> Vec<(U, SetId)> {
        let n = node as usize;
        let all = self.nodes[n].all;
        let mut uses = std::mem::take(&mut self.nodes[n].uses);
        let found = uses
            .iter_mut()
            .filter(|u| u.done != all)
            .map(|u| (u.what, self.sets.difference(all, std::mem::replace(&mut u.done, all))))
            .collect();
        self.nodes[n].uses = uses;
        self.nodes[n].used = all;
        found
    }

    fn take_in(&mut self, n: usize, memory: &mut Memory) -> bool {
        let mut found = std::mem::take(&mut self.scratch);
        self.clock += 1;
        let taken = std::mem::replace(&mut self.nodes[n].taken, self.clock);
        let node = &self.nodes[n];
        let sets = node.sources.iter().map(|&s| &self.nodes[s as usize]).filter(|s| s.grown > taken).map(|s| s.all);
        found.extend(sets.filter(|&s| s != node.all));
        if !node.new_sources.is_empty() {
            found.extend(node.new_sources.iter().map(|&s| self.nodes[s as usize].all));
            let node = &mut self.nodes[n];
            node.sources.append(&mut node.new_sources);
        }
        if !self.nodes[n].new_locations.is_empty() {
            let new: SparseSet = std::mem::take(&mut self.nodes[n].new_locations).into_iter().collect();
            found.push(self.sets.intern(new));
        }
        for i in 0..self.nodes[n].shifted.len() {
            let ShiftedSource { from, way, done } = self.nodes[n].shifted[i];
            let all = self.nodes[from as usize].all;
            if all != done {
                let new = self.sets.difference(all, done);
                self.nodes[n].shifted[i].done = all;
                let moved = self.moved(new, way, memory);
                found.push(moved);
            }
        }
        let mut grew = false;
        if !found.is_empty() {
            let all = self.sets.union_all(self.nodes[n].all, &mut found);
            found.clear();
            let node = &mut self.nodes[n];
            if all != node.all {
                node.all = all;
                node.grown = self.clock;
                grew = true;
            }
        }
        self.scratch = found;
        grew
    }

    /// Whether every inclusion holds.
    pub fn is_solved(&self) -> bool {
        (0..self.nodes.len()).filter(|&n| self.parent[n] as usize == n).all(|n| {
            let node = &self.nodes[n];
            let all = self.sets.get(node.all);
            node.new_sources.is_empty()
                && node.new_locations.is_empty()
                && node.sources.iter().all(|&s| all.contains_all(self.sets.get(self.points_to(s))))
                && node.shifted.iter().all(|s| s.done == self.points_to(s.from))
                && node.uses.iter().all(|u| u.done == node.all)
        })
    }

    fn moved(&mut self, set: SetId, way: Way, memory: &mut Memory) -> SetId {
        if let Some(&known) = self.moved.get(&(set, way)) {
            return known;
        }
        let locations = self.sets.get(set).clone();
        let mut moved: Vec<u32> =
            locations.iter().filter_map(|l| memory.moved(LocationId(l), way)).map(|l| l.0).collect();
        moved.sort_unstable();
        self.sets.work += moved.len() as u64;
        let id = self.sets.intern(moved.into_iter().collect());
        self.moved.insert((set, way), id);
        id
    }

    /// Merges the cycles of plain edges, gives cycles of shifts their stride, and orders the nodes.
    fn merge_cycles(&mut self) {
        if !self.changed && self.ordered == self.nodes.len() {
            return;
        }
        self.tidy();
        let edges = self.nodes.iter().zip(0u32..).flat_map(|(node, n)| {
            node.plain_sources().chain(node.moved_sources().map(|s| s.0)).map(move |source| (n, source))
        });
        let components = Digraph::new(self.nodes.len(), &edges.collect::<Vec<_>>()).components();
        if self.changed {
            let mut merged = false;
            for members in components.iter().filter(|members| members.len() > 1) {
                merged |= self.merge_plain_cycles(members);
            }
            if merged {
                self.tidy();
            }
        }
        // Who was merged is in the component still, so the order holds.
        self.order.clear();
        let mut members = Vec::new();
        for component in components.iter() {
            members.clear();
            members.extend(component.iter().filter(|&&n| self.parent[n as usize] == n));
            if let [first, rest @ ..] = &members[..]
                && (!rest.is_empty() || self.nodes[*first as usize].moved_sources().any(|s| s.0 == *first))
            {
                self.stride_cycle(&members, &components);
            }
            self.order.extend(&members);
        }
        self.ordered = self.nodes.len();
        self.changed = false;
    }

    /// Merges the cycles of plain edges in a component; whether there are any.
    fn merge_plain_cycles(&mut self, members: &[NodeId]) -> bool {
        let number: FxHashMap<NodeId, u32> = members.iter().copied().zip(0..).collect();
        let mut edges = Vec::new();
        for (&n, i) in members.iter().zip(0..) {
            edges.extend(self.nodes[n as usize].plain_sources().filter_map(|s| Some((i, *number.get(&s)?))));
        }
        let mut merged = false;
        for cycle in Digraph::new(members.len(), &edges).components().iter().filter(|cycle| cycle.len() > 1) {
            merged = true;
            for &member in &cycle[1..] {
                self.merge(members[cycle[0] as usize], members[member as usize]);
            }
        }
        merged
    }

    /// Redirects edges to representatives and drops doubles.
    fn tidy(&mut self) {
        let mut nodes = std::mem::take(&mut self.nodes);
        for (n, node) in nodes.iter_mut().enumerate() {
            for list in [&mut node.sources, &mut node.new_sources] {
                let mut moved = false;
                for s in list.iter_mut() {
                    let root = self.find(*s);
                    moved |= root != *s || root as usize == n;
                    *s = root;
                }
                if moved {
                    list.sort_unstable();
                    list.dedup();
                    list.retain(|&s| s as usize != n);
                }
            }
            let mut moved = false;
            for s in &mut node.shifted {
                let root = self.find(s.from);
                moved |= root != s.from;
                s.from = root;
            }
            if moved {
                node.shifted.sort_unstable();
                node.shifted.dedup_by_key(|s| (s.from, s.way));
            }
        }
        self.nodes = nodes;
    }

    /// Where going round a cycle moves a pointer, the cycle's shifts get the stride of that movement.
    fn stride_cycle(&mut self, members: &[NodeId], components: &Components) {
        let inside = |n: NodeId| components.of(n) == components.of(members[0]);
        let mut potential: FxHashMap<NodeId, i64> = FxHashMap::default();
        let mut stride = 0u32;
        let mut stack = vec![members[0]];
        potential.insert(members[0], 0);
        while let Some(n) = stack.pop() {
            let here = potential[&n];
            let node = &self.nodes[n as usize];
            let plain = node.plain_sources().map(|from| (from, Shift::ZERO));
            for (from, shift) in plain.chain(node.moved_sources()).filter(|e| inside(e.0)) {
                stride = gcd(stride, shift.stride);
                let there = here.wrapping_sub(shift.off);
                match potential.get(&from) {
                    Some(&p) => stride = gcd(stride, u32::try_from(there.abs_diff(p)).unwrap_or(1)),
                    None => {
                        potential.insert(from, there);
                        stack.push(from);
                    }
                }
            }
        }
        if stride == 0 {
            return;
        }
        for &n in members {
            for s in &mut self.nodes[n as usize].shifted {
                let Way::Moved(shift) = s.way else { continue };
                let strided = Way::Moved(Shift::new(shift.off, gcd(shift.stride, stride)));
                if inside(s.from) && strided != s.way {
                    *s = ShiftedSource { way: strided, done: SetId::EMPTY, ..*s };
                    self.shifted_edges.insert((s.from, n, strided));
                }
            }
        }
    }

    /// Two nodes become one.
    pub fn merge(&mut self, a: NodeId, b: NodeId) {
        let (a, b) = (self.find_shorten(a), self.find_shorten(b));
        if a == b {
            return;
        }
        self.changed = true;
        self.parent[b as usize] = a;
        let [node, other] = self.nodes.get_disjoint_mut([a as usize, b as usize]).expect("distinct nodes");
        node.taken = node.taken.min(other.taken);
        node.grown = node.grown.max(other.grown);
        if node.all != other.all {
            node.all = self.sets.union(node.all, other.all);
            self.clock += 1;
            node.grown = self.clock;
        }
        append(&mut node.sources, &mut other.sources);
        append(&mut node.new_sources, &mut other.new_sources);
        append(&mut node.shifted, &mut other.shifted);
        append(&mut node.new_locations, &mut other.new_locations);
        if !other.uses.is_empty() {
            append(&mut node.uses, &mut other.uses);
            node.used = SetId::EMPTY;
        }
    }
}

impl<U> Node<U> {
    fn plain_sources(&self) -> impl Iterator<Item = NodeId> {
        self.sources.iter().chain(&self.new_sources).copied()
    }
    /// Distances are not moved on and on, and what they lead to is anywhere in its object: no cycle through them counts up.
    fn moved_sources(&self) -> impl Iterator<Item = (NodeId, Shift)> {
        self.shifted.iter().filter_map(|s| if let Way::Moved(shift) = s.way { Some((s.from, shift)) } else { None })
    }
}

/// Moves the items of one list to another, in time of the shorter.
fn append<T>(to: &mut Vec<T>, from: &mut Vec<T>) {
    if from.len() > to.len() {
        std::mem::swap(to, from);
    }
    to.append(from);
    *from = Vec::new();
}
