//! The constraint graph: nodes with points-to sets, and edges that are inclusions.
//!
//! The set of a node includes the sets of its sources, some of them moved by a shift. Propagation goes in waves
//! (Pereira, Berlin: *Wave propagation and deep propagation for pointer analysis*, CGO 2009). Cycles of plain edges are
//! merged. Then each node, in topological order, adds the new elements of its sources once.
//!
//! A cycle of shifts that do not cancel, such as `p = p + 16`, would add offsets forever (Pearce, Kelly, Hankin:
//! *Efficient field-sensitive pointer analysis of C*, 2007). The edges of such a cycle get the cycle's stride.

use super::memory::{LocationId, Memory};
use super::sets::{SetId, SetPool};
use super::terms::{LeafTransform, Shift, gcd};
use crate::sparse_set::SparseSet;
use cfa::graph::{Components, Digraph};
use rustc_hash::{FxHashMap, FxHashSet};

/// A node of the constraint graph.
pub type NodeId = u32;

/// An edge of the constraint graph that changes offsets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ShiftedSource {
    from: NodeId,
    way: LeafTransform,
    /// The part of the source's set that has been added.
    done: SetId,
}

/// A use of a node's pointers, and the set that it has been applied to.
#[derive(Clone, Copy)]
struct Pending<U> {
    done: SetId,
    what: U,
}

/// A node of the constraint graph.
struct Node<U> {
    all: SetId,
    /// The times at which `all` last grew and at which the sources were last added.
    grown: u32,
    taken: u32,
    sources: Vec<NodeId>,
    /// Sources that no wave has visited yet.
    new_sources: Vec<NodeId>,
    shifted: Vec<ShiftedSource>,
    new_locations: Vec<u32>,
    uses: Vec<Pending<U>>,
    /// The set that all uses have been applied to.
    used: SetId,
}

/// The constraint graph. `U` is the type of the uses of a node's pointers.
pub struct Graph<U> {
    /// The pool of points-to sets.
    pub sets: SetPool,
    parent: Vec<NodeId>,
    nodes: Vec<Node<U>>,
    edges: FxHashSet<(NodeId, NodeId)>,
    shifted_edges: FxHashSet<(NodeId, NodeId, LeafTransform)>,
    moved: FxHashMap<(SetId, LeafTransform), SetId>,
    /// True if edges were added since cycles were last merged.
    changed: bool,
    /// The nodes in topological order, at the time when there were `ordered` nodes.
    order: Vec<NodeId>,
    ordered: usize,
    clock: u32,
    /// True if something was added since the last wave.
    pub pending: bool,
    scratch: Vec<SetId>,
}

impl<U: Copy> Graph<U> {
    /// A graph without nodes.
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
    /// The number of nodes, including merged ones.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Adds a node with an empty set.
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
    /// The representative of the node.
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
    /// The points-to set of the node.
    pub fn points_to(&self, node: NodeId) -> SetId {
        self.nodes[self.find(node) as usize].all
    }

    // Additions. They take effect in the next wave.

    /// Adds a location to the set of a node.
    pub fn add_location(&mut self, node: NodeId, location: LocationId) {
        let n = self.find_shorten(node) as usize;
        self.nodes[n].new_locations.push(location.0);
        self.pending = true;
    }
    /// Adds the constraint that the set of `to` includes the set of `from`.
    pub fn add_edge(&mut self, from: NodeId, to: NodeId) {
        let (from, to) = (self.find_shorten(from), self.find_shorten(to));
        if from != to && self.edges.insert((from, to)) {
            (self.changed, self.pending) = (true, true);
            self.sets.work += 1;
            self.nodes[to as usize].new_sources.push(from);
        }
    }
    /// Adds the constraint that the set of `to` includes the set of `from`, changed by `way`.
    pub fn add_shifted(&mut self, from: NodeId, to: NodeId, way: LeafTransform) {
        if way == LeafTransform::SAME {
            return self.add_edge(from, to);
        }
        let (from, to) = (self.find_shorten(from), self.find_shorten(to));
        if self.shifted_edges.insert((from, to, way)) {
            (self.changed, self.pending) = (true, true);
            self.nodes[to as usize].shifted.push(ShiftedSource { from, way, done: SetId::EMPTY });
        }
    }
    /// Adds a use of the node's pointers.
    pub fn add_use(&mut self, node: NodeId, what: U) {
        let n = self.find_shorten(node) as usize;
        self.nodes[n].uses.push(Pending { done: SetId::EMPTY, what });
        self.nodes[n].used = SetId::EMPTY;
        self.pending = true;
    }

    // Waves.

    /// Runs one wave: each node adds its sources once. Returns true if any set grew.
    pub fn propagate(&mut self, memory: &mut Memory) -> bool {
        self.merge_cycles();
        self.pending = false;
        let mut any = false;
        for i in 0..self.order.len() {
            any |= self.take_in(self.order[i] as usize, memory);
        }
        any
    }

    /// The nodes with pointers that some use has not been applied to, sources first.
    pub fn unused(&self) -> Vec<NodeId> {
        let is_unused = |n: &Node<U>| n.all != n.used && !n.uses.is_empty();
        self.order.iter().copied().filter(|&n| is_unused(&self.nodes[n as usize])).collect()
    }
    /// Returns the uses of a node, each with the pointers that it has not been applied to. Marks them as applied.
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

    /// True if all constraints are satisfied.
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

    fn moved(&mut self, set: SetId, way: LeafTransform, memory: &mut Memory) -> SetId {
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

    /// Merges the cycles of plain edges, computes the strides of cycles of shifts, and orders the nodes.
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
        // Merged nodes belong to the same component, so the order is still topological.
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

    /// Merges the cycles of plain edges in a component. Returns true if there were any.
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

    /// Redirects edges to representatives and removes duplicates.
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

    /// If a traversal of a cycle moves a pointer, sets the stride of the cycle's shifts to that movement.
    fn stride_cycle(&mut self, members: &[NodeId], components: &Components) {
        let inside = |n: NodeId| components.component(n) == components.component(members[0]);
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
                let LeafTransform::Moved(shift) = s.way else { continue };
                let strided = LeafTransform::Moved(Shift::new(shift.off, gcd(shift.stride, stride)));
                if inside(s.from) && strided != s.way {
                    *s = ShiftedSource { way: strided, done: SetId::EMPTY, ..*s };
                    self.shifted_edges.insert((s.from, n, strided));
                }
            }
        }
    }

    /// Merges two nodes.
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
    /// The sources with a shift. Distances are not shifted further, and the pointers that they lead to have any offset.
    /// So only cycles of shifts can add offsets forever.
    fn moved_sources(&self) -> impl Iterator<Item = (NodeId, Shift)> {
        self.shifted
            .iter()
            .filter_map(|s| if let LeafTransform::Moved(shift) = s.way { Some((s.from, shift)) } else { None })
    }
}

/// Moves the items of one list to another. Takes time linear in the shorter list.
fn append<T>(to: &mut Vec<T>, from: &mut Vec<T>) {
    if from.len() > to.len() {
        std::mem::swap(to, from);
    }
    to.append(from);
    *from = Vec::new();
}
