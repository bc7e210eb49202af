//! The abstract reachability graph (ARG): the reached states, their successors, and the coverings.
//!
//! The graph has two kinds of nodes. *Heads* are nodes where states are abstracted, and they store their states.
//! Between heads there are nodes where paths fork. A path from head to head is a block. If paths are merged within
//! blocks, the graph has heads only.

use crate::analysis::reached::{Adjusted, Arrival, Reached};
use crate::analysis::{Abstraction, Stop};
use crate::semantics::control::{CallStacks, Control, walk};
use cfa::{EdgeId, Id, LocId, Program, Table};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::Hasher;

cfa::id_type!(
    /// A node of an abstract reachability graph.
    NodeId, "n"
);

/// The status of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// In the waitlist.
    Waiting,
    /// Its successors are in the graph.
    Expanded,
    /// Another node covers it.
    Covered,
    /// A reachable error.
    Target,
    /// Removed by a refinement, or merged into another node.
    Pruned,
}

/// A node of the graph.
pub struct Node<S> {
    /// The abstract state, for heads that are not pruned.
    state: Option<Box<S>>,
    /// The position in the program.
    pub at: Control,
    /// The predecessor.
    pub parent: Option<NodeId>,
    /// The head at the start of the block of this node. A head is its own head.
    pub head: NodeId,
    /// The edges from the parent to this node.
    pub via: Box<[EdgeId]>,
    children: Vec<NodeId>,
    /// The status.
    pub status: Status,
    /// True if several paths from the last head were merged into the state.
    merged: bool,
    /// The heads that this one covers.
    covers: Vec<NodeId>,
    /// True if it is in the index of heads that may cover others.
    noted: bool,
}

/// A tree of states, with covering edges from covered nodes to the nodes that cover them.
pub struct Arg<'p, S> {
    program: &'p Program,
    nodes: Table<NodeId, Node<S>>,
    /// True if paths are merged within blocks.
    merges: bool,
    reached: FxHashMap<Control, Bucket>,
    /// Pairs of a head and an error or undecided operation in its block whose status is decided or recorded as
    /// undecided.
    closed: FxHashSet<(NodeId, EdgeId)>,
}

/// Maximal number of sets of known places in which a lookup searches for a covering state, with the state's own set.
const MOST_SETS: usize = 24;
/// A lookup considers only this many sets at the front of [`Bucket::order`].
const WINDOW: usize = 256;
/// In each set, a lookup compares a state with this many of the newest heads.
const NEWEST: usize = 24;
/// It also compares with this many of the older heads, in rotation. A state that recurs is thus compared with every head
/// over time.
const OLDER: usize = 8;

/// An index of the heads at one control, for the search of covering states. Its keys are the places with known values,
/// then a hash of these values.
#[derive(Default)]
struct Bucket {
    sets: Vec<(Places, ByHash)>,
    number: FxHashMap<Places, u32>,
    /// The sets. Sets in which a covering head was found come first.
    order: Vec<u32>,
    /// Number of lookups so far.
    turn: usize,
}

/// The set of places with known values, as bits.
type Places = Box<[u64]>;
type ByHash = FxHashMap<u64, Vec<NodeId>>;

impl<'p, S> Arg<'p, S> {
    /// An empty graph. `merges` is true if paths are merged between heads.
    pub fn new(program: &'p Program, merges: bool) -> Self {
        Self { program, nodes: Table::new(), merges, reached: FxHashMap::default(), closed: FxHashSet::default() }
    }
    /// The node with this id.
    pub fn node(&self, id: NodeId) -> &Node<S> {
        &self.nodes[id]
    }
    /// The state of a head. Panics if the head is pruned.
    pub fn state(&self, head: NodeId) -> &S {
        self.nodes[head].state.as_ref().expect("a head that is not pruned")
    }
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// True if there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// True if paths are merged between heads.
    pub fn merges(&self) -> bool {
        self.merges
    }
    /// Removes everything.
    pub fn clear(&mut self) {
        self.nodes = Table::new();
        self.reached.clear();
        self.closed.clear();
    }

    fn add(&mut self, state: Option<S>, at: Control, parent: Option<NodeId>, via: Box<[EdgeId]>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let head = match parent {
            Some(parent) if state.is_none() => self.nodes[parent].head,
            _ => id,
        };
        let state = state.map(Box::new);
        let (children, covers) = (Vec::new(), Vec::new());
        let (status, merged, noted) = (Status::Waiting, false, false);
        self.nodes.push(Node { state, at, parent, head, via, children, status, merged, covers, noted });
        if let Some(parent) = parent {
            self.nodes[parent].children.push(id);
        }
        id
    }

    /// The nodes on the path from the root to `id`.
    fn ancestry(&self, id: NodeId) -> Vec<NodeId> {
        let mut line: Vec<NodeId> = std::iter::successors(Some(id), |&n| self.nodes[n].parent).collect();
        line.reverse();
        line
    }

    /// The heads on the path from the root to `id`.
    pub fn line(&self, id: NodeId) -> Vec<NodeId> {
        let mut line = self.ancestry(id);
        line.retain(|&n| self.nodes[n].head == n);
        line
    }

    /// The edges from the root to `id`, and the positions of the heads on this path, without the root.
    pub fn path_to(&self, id: NodeId) -> (Vec<EdgeId>, Vec<usize>) {
        let (mut path, mut cuts) = (Vec::new(), Vec::new());
        for &n in &self.ancestry(id)[1..] {
            path.extend(&*self.nodes[n].via);
            if self.nodes[n].head == n {
                cuts.push(path.len());
            }
        }
        (path, cuts)
    }

    /// Records that the error or undecided operation at `edge` needs no further check in the block of `node`.
    pub fn close(&mut self, node: NodeId, edge: EdgeId) {
        self.closed.insert((self.nodes[node].head, edge));
    }

    /// Removes all nodes below `head`, and sets `head` to waiting. Returns the heads elsewhere that `head` or a removed
    /// node covered. They are now waiting (lazy abstraction: Henzinger, Jhala, Majumdar, Sutre, POPL 2002).
    pub fn prune_below(&mut self, head: NodeId) -> Vec<NodeId> {
        let mut uncovered = Vec::new();
        let mut stack = std::mem::take(&mut self.nodes[head].children);
        stack.reverse();
        while let Some(n) = stack.pop() {
            let node = &mut self.nodes[n];
            node.state = None;
            node.via = Box::default();
            node.status = Status::Pruned;
            stack.append(&mut std::mem::take(&mut node.children));
            uncovered.append(&mut std::mem::take(&mut node.covers));
        }
        uncovered.append(&mut self.nodes[head].covers);
        uncovered.retain(|&n| self.nodes[n].status == Status::Covered);
        for &n in &uncovered {
            self.nodes[n].status = Status::Waiting;
        }
        self.nodes[head].status = Status::Waiting;
        uncovered
    }

    /// Searches a head at the same control that covers `id`, whose known values are given. If there is none, adds `id`
    /// to the index. `covers` compares the states.
    fn covering(
        &mut self,
        id: NodeId,
        known_values: &[Option<u64>],
        mut covers: impl FnMut(&S, &S) -> bool,
    ) -> Option<NodeId> {
        let Self { reached, nodes, .. } = self;
        let bucket = reached.entry(nodes[id].at).or_default();
        let state = nodes[id].state.as_deref().expect("a head that is not pruned");
        let places = places(known_values);
        bucket.turn += 1;
        let turn = bucket.turn;
        let own = bucket.number.get(&places).copied();
        let mut tried = 0;
        for i in 0..=bucket.order.len().min(WINDOW) {
            // The state's own set comes first.
            let number = match i.checked_sub(1) {
                None => own,
                Some(i) => Some(bucket.order[i]).filter(|&n| Some(n) != own),
            };
            let Some(number) = number else { continue };
            let (known, by_hash) = &mut bucket.sets[number as usize];
            // A covering state has a subset of the known places.
            if known.iter().zip(&places).any(|(k, p)| k & !p != 0) {
                continue;
            }
            tried += 1;
            if tried > MOST_SETS {
                break;
            }
            let Some(heads) = by_hash.get_mut(&hash(known, known_values)) else { continue };
            heads.retain(|&n| nodes[n].status != Status::Pruned);
            let older = heads.len().saturating_sub(NEWEST);
            let some = (0..OLDER.min(older)).map(|k| (turn * OLDER + k) % older);
            let found = (older..heads.len()).rev().chain(some).map(|k| heads[k]).find(|&n| {
                match (nodes[n].status, &nodes[n].state) {
                    (Status::Waiting | Status::Expanded, Some(old)) => n != id && covers(old, state),
                    _ => false,
                }
            });
            if found.is_some() {
                if let Some(i) = i.checked_sub(1) {
                    bucket.order.swap(i, i / 2);
                }
                return found;
            }
        }
        if !std::mem::replace(&mut nodes[id].noted, true) {
            bucket.add(id, places, known_values);
        }
        None
    }
}

impl Bucket {
    fn add(&mut self, id: NodeId, known: Places, known_values: &[Option<u64>]) {
        let hash = hash(&known, known_values);
        let next = self.sets.len() as u32;
        let number = *self.number.entry(known.clone()).or_insert(next);
        if number == next {
            self.sets.push((known, ByHash::default()));
            self.order.push(number);
            // Sets beyond the window move into it in rotation.
            let last = self.order.len() - 1;
            self.order.swap(last, self.turn % WINDOW.min(last + 1));
        }
        self.sets[number as usize].1.entry(hash).or_default().push(id);
    }
}

/// The places with a known value.
fn places(known_values: &[Option<u64>]) -> Places {
    let word = |values: &[Option<u64>]| values.iter().rev().fold(0, |bits, v| bits << 1 | u64::from(v.is_some()));
    known_values.chunks(64).map(word).collect()
}

/// Hashes the values at the known places.
fn hash(known: &Places, known_values: &[Option<u64>]) -> u64 {
    let mut hasher = FxHasher::default();
    for (i, &word) in known.iter().enumerate() {
        let mut bits = word;
        while bits != 0 {
            hasher.write_u64(known_values[64 * i + bits.trailing_zeros() as usize].unwrap_or_default());
            bits &= bits - 1;
        }
    }
    hasher.finish()
}

impl<C: Abstraction> Reached<C> for Arg<'_, C::State> {
    type Node = NodeId;
    const PATHS: bool = true;
    const ABSTRACT: bool = true;

    fn root(&mut self, state: &C::State, at: Control) -> NodeId {
        self.add(Some(state.clone()), at, None, Box::default())
    }

    fn waits(&mut self, node: NodeId, at: Control, via: &mut Vec<EdgeId>) -> NodeId {
        match self.merges {
            true => self.nodes[node].head,
            false => self.add(None, at, Some(node), std::mem::take(via).into()),
        }
    }

    fn adjust(
        &mut self,
        cpa: &mut C,
        stacks: &mut CallStacks,
        mut state: C::State,
        from: Arrival<NodeId>,
        via: &mut Vec<EdgeId>,
        _more: &mut Vec<C::State>,
    ) -> Adjusted<C::State, NodeId> {
        let (head, at) = (self.nodes[from.node].head, from.at);
        let mut via = std::mem::take(via);
        if self.merges {
            // Choose one feasible path of those that were merged.
            let decisions = cpa.decisions(&mut state);
            via = walk(self.program, stacks, self.nodes[head].at, &decisions, at);
        }
        let Some(state) = cpa.abstract_state(state, at, self.state(head))? else { return Ok(None) };
        let node = self.add(Some(state.clone()), at, Some(from.node), via.into());
        self.nodes[node].merged = from.merged;
        Ok(Some((state, node)))
    }

    fn stop(&mut self, cpa: &mut C, node: NodeId, state: &C::State, at: Control) -> Result<bool, Stop> {
        let known_values = cpa.known_values(state, at);
        let found = self.covering(node, &known_values, |old, new| cpa.covers(old, new, at));
        self.nodes[node].status = if found.is_some() { Status::Covered } else { Status::Expanded };
        if let Some(by) = found {
            self.nodes[by].covers.push(node);
        }
        Ok(found.is_some())
    }

    fn follow(&mut self, node: NodeId) -> bool {
        match self.nodes[node].status {
            Status::Pruned | Status::Covered => false,
            _ => {
                self.nodes[node].status = Status::Expanded;
                true
            }
        }
    }

    fn is_alive(&self, node: NodeId) -> bool {
        self.nodes[node].status != Status::Pruned
    }

    fn copy(&self, state: &C::State) -> Option<C::State> {
        Some(state.clone())
    }

    fn target(&mut self, node: NodeId, via: &[EdgeId]) {
        let at = self.nodes[node].at;
        let leaf = self.add(None, at, Some(node), via.into());
        self.nodes[leaf].status = Status::Target;
    }

    fn is_closed(&self, node: NodeId, edge: EdgeId) -> bool {
        self.closed.contains(&(self.nodes[node].head, edge))
    }

    fn step(&self, node: NodeId) -> Option<(Option<NodeId>, &[EdgeId])> {
        (!self.merges).then(|| (self.nodes[node].parent, &*self.nodes[node].via))
    }

    fn block(&self, node: NodeId) -> Option<(Option<NodeId>, LocId)> {
        self.merges.then(|| (self.nodes[node].parent, self.nodes[node].at.loc))
    }

    fn covered(&self) -> Vec<(NodeId, Option<NodeId>)> {
        // A head may keep a node in its list that it no longer covers. If several heads list a node, its covering head
        // is unknown.
        let mut by: FxHashMap<NodeId, Option<NodeId>> = FxHashMap::default();
        for (id, node) in self.nodes.iter() {
            let own = (node.status == Status::Expanded).then_some(id);
            for &covered in &node.covers {
                by.entry(covered).and_modify(|by| *by = by.filter(|&by| Some(by) == own)).or_insert(own);
            }
        }
        let covered = self.nodes.iter().filter(|(_, n)| n.status == Status::Covered);
        covered.map(|(id, _)| (id, by.get(&id).copied().flatten())).collect()
    }

    fn shape(&self) -> Vec<ArgNode> {
        let number = |n: NodeId| n.index() as u32;
        without_pruned(self.nodes.values().map(|n| ArgNode {
            parent: n.parent.map(number),
            at: Some(n.at.loc),
            status: n.status,
            merged: n.merged,
            edges: n.via.len() as u32,
        }))
    }
}

/// A node of a finished graph, for export.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArgNode {
    /// The index of the predecessor.
    pub parent: Option<u32>,
    /// The location. [`StatelessArg`](super::StatelessArg) records `None` for an error, which is at the location of its
    /// predecessor.
    pub at: Option<LocId>,
    /// The status.
    pub status: Status,
    /// True if several states were merged into this one.
    pub merged: bool,
    /// Number of program edges between the predecessor and this node.
    pub edges: u32,
}

/// Removes the pruned nodes and renumbers the others.
pub(crate) fn without_pruned(nodes: impl Iterator<Item = ArgNode>) -> Vec<ArgNode> {
    let mut number: Vec<Option<u32>> = Vec::new();
    let mut shape: Vec<ArgNode> = Vec::new();
    for node in nodes {
        let kept = node.status != Status::Pruned;
        number.push(kept.then_some(shape.len() as u32));
        if kept {
            let parent = node.parent.and_then(|p| number[p as usize]);
            shape.push(ArgNode { parent, ..node });
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_covered_by_what_is_cut_off_waits_again() {
        let program = cfa::text::parse(
            "program 64 entry f0\ntype ty0 void\n\nfunc f0 \"main\" source ty0 () entry l0 {\n  l0:\n}\n",
        )
        .unwrap();
        let at = Control { loc: LocId(0), stack: CallStacks::EMPTY };
        let mut arg = Arg::new(&program, false);
        let root = arg.add(Some("root"), at, None, Box::default());
        let fork = arg.add(None, at, Some(root), [EdgeId(7)].into());
        let (a, b) = (
            arg.add(Some("a"), at, Some(fork), [EdgeId(8)].into()),
            arg.add(Some("b"), at, Some(root), Box::default()),
        );
        let c = arg.add(Some("c"), at, Some(a), [EdgeId(9)].into());
        let d = arg.add(Some("d"), at, Some(b), Box::default());
        let e = arg.add(Some("e"), at, Some(c), Box::default());
        assert_eq!(arg.covering(c, &[Some(1)], |_, _| true), None);
        for id in [d, e] {
            assert_eq!(arg.covering(id, &[Some(1)], |_, _| true), Some(c));
            arg.nodes[c].covers.push(id);
            arg.nodes[id].status = Status::Covered;
        }
        assert_eq!((arg.line(e), arg.node(fork).head), (vec![root, a, c, e], root));
        assert_eq!(arg.path_to(c), (vec![EdgeId(7), EdgeId(8), EdgeId(9)], vec![2, 3]));
        // `c` covered `d` and is removed. `e` is below `c` and is removed as well.
        assert_eq!(arg.prune_below(a), [d]);
        assert_eq!(arg.node(d).status, Status::Waiting);
        assert_eq!((arg.node(c).status, arg.node(e).status), (Status::Pruned, Status::Pruned));
        assert!(arg.node(c).state.is_none() && arg.node(a).children.is_empty());
        // A removed node covers nothing.
        assert_eq!(arg.covering(d, &[Some(1)], |_, _| true), None);
    }
}
