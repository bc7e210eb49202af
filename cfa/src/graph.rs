//! Directed graphs with dense node numbers, their orders and strongly connected components, and the CFAs of a program
//! as such graphs.
//!
//! A [`Digraph`] is immutable and compact. Its creator keeps the map from its own ids to the nodes `0..n`. A graph
//! implements the visit traits of petgraph, so petgraph's algorithms apply to it. This crate uses only the iterative
//! ones, because programs have deep graphs. Every algorithm is linear in nodes and edges unless it says otherwise.

use crate::index::Table;
use crate::program::{EdgeId, FuncId, LocId, Program};
use fixedbitset::FixedBitSet;
use petgraph::Direction;
use petgraph::algo::kosaraju_scc;
use petgraph::visit::{
    Dfs, GraphBase, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, NodeCount, NodeIndexable, Visitable,
    Walker,
};
use std::iter::Copied;
use std::ops::Range;
use std::slice;

/// A list of lists in two allocations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lists<T> {
    /// The start of each list in `items`, and the end of the last list.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Lists<T> {
    /// Groups items by key: list `key` has each `item` of a pair `(key, item)`, in the order of the pairs. There are
    /// `len` lists. The function calls `pairs` several times; all calls must return the same pairs.
    pub fn group<I: Iterator<Item = (u32, T)>>(len: usize, pairs: impl Fn() -> I) -> Self {
        let mut starts = vec![0u32; len + 1];
        for (key, _) in pairs() {
            starts[key as usize + 1] += 1;
        }
        for i in 0..len {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut items: Vec<T> = pairs().map(|(_, item)| item).collect();
        for (key, item) in pairs() {
            items[next[key as usize] as usize] = item;
            next[key as usize] += 1;
        }
        Self { starts, items }
    }
    /// Groups pairs in a slice; see [`group`](Self::group).
    pub fn of_pairs(len: usize, pairs: &[(u32, T)]) -> Self {
        Self::group(len, || pairs.iter().copied())
    }
    /// The items of a list.
    pub fn get(&self, list: u32) -> &[T] {
        &self.items[self.starts[list as usize] as usize..self.starts[list as usize + 1] as usize]
    }
    /// The number of lists.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
    /// True if there are no lists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The lists in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[T]> {
        self.starts.windows(2).map(|w| &self.items[w[0] as usize..w[1] as usize])
    }
}

impl Lists<u32> {
    /// The inverse relation: list `b` contains `a` if and only if list `a` contains `b`. All items must be less than
    /// `len`.
    pub fn reversed(&self, len: usize) -> Self {
        Self::group(len, || self.iter().zip(0u32..).flat_map(|(items, n)| items.iter().map(move |&item| (item, n))))
    }
}

/// A directed graph with nodes `0..len`; parallel edges and self-loops are allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Digraph {
    successors: Lists<u32>,
    predecessors: Lists<u32>,
}

impl Digraph {
    /// Builds a graph. The successors and predecessors of a node have the order of `edges`.
    pub fn new(len: usize, edges: &[(u32, u32)]) -> Self {
        Self {
            successors: Lists::of_pairs(len, edges),
            predecessors: Lists::group(len, || edges.iter().map(|&(a, b)| (b, a))),
        }
    }
    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.successors.len()
    }
    /// True if there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The nodes.
    pub fn nodes(&self) -> Range<u32> {
        0..self.len() as u32
    }
    /// The successors of a node.
    pub fn successors(&self, node: u32) -> &[u32] {
        self.successors.get(node)
    }
    /// The predecessors of a node.
    pub fn predecessors(&self, node: u32) -> &[u32] {
        self.predecessors.get(node)
    }
    /// The edges, by source.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.nodes().flat_map(|n| self.successors(n).iter().map(move |&s| (n, s)))
    }
    /// The graph with every edge reversed.
    pub fn reversed(&self) -> Self {
        Self { successors: self.predecessors.clone(), predecessors: self.successors.clone() }
    }
    /// A depth-first search that starts at each of `roots` in order.
    pub fn depth_first(&self, roots: impl IntoIterator<Item = u32>) -> DepthFirst {
        let mut search = DepthFirst { preorder: Vec::new(), postorder: Vec::new(), parent: vec![NONE; self.len()] };
        let mut seen = vec![false; self.len()];
        let mut stack: Vec<(u32, u32)> = Vec::new();
        for root in roots {
            if std::mem::replace(&mut seen[root as usize], true) {
                continue;
            }
            search.preorder.push(root);
            stack.push((root, 0));
            while let Some((node, next)) = stack.last_mut() {
                let Some(&successor) = self.successors(*node).get(*next as usize) else {
                    search.postorder.push(*node);
                    stack.pop();
                    continue;
                };
                *next += 1;
                if !std::mem::replace(&mut seen[successor as usize], true) {
                    search.parent[successor as usize] = *node;
                    search.preorder.push(successor);
                    stack.push((successor, 0));
                }
            }
        }
        search
    }
    /// The nodes that `root` reaches, in reverse postorder: each precedes its successors, except along back edges.
    pub fn reverse_postorder(&self, root: u32) -> Vec<u32> {
        let mut order = self.depth_first([root]).postorder;
        order.reverse();
        order
    }
    /// For each node, whether one of `roots` reaches it. A root reaches itself.
    pub fn reachable(&self, roots: impl IntoIterator<Item = u32>) -> Vec<bool> {
        let mut search = Dfs::empty(self);
        search.stack.extend(roots);
        let mut seen = vec![false; self.len()];
        for node in search.iter(self) {
            seen[node as usize] = true;
        }
        seen
    }
    /// The strongly connected components.
    pub fn components(&self) -> Components {
        Components::new(self)
    }
}

impl GraphBase for Digraph {
    type NodeId = u32;
    type EdgeId = (u32, u32);
}
impl NodeCount for Digraph {
    fn node_count(&self) -> usize {
        self.len()
    }
}
impl NodeIndexable for Digraph {
    fn node_bound(&self) -> usize {
        self.len()
    }
    fn to_index(&self, node: u32) -> usize {
        node as usize
    }
    fn from_index(&self, index: usize) -> u32 {
        index as u32
    }
}
impl Visitable for Digraph {
    type Map = FixedBitSet;
    fn visit_map(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(self.len())
    }
    fn reset_map(&self, map: &mut FixedBitSet) {
        map.clear();
        map.grow(self.len());
    }
}
impl IntoNodeIdentifiers for &Digraph {
    type NodeIdentifiers = Range<u32>;
    fn node_identifiers(self) -> Range<u32> {
        self.nodes()
    }
}
impl<'a> IntoNeighbors for &'a Digraph {
    type Neighbors = Copied<slice::Iter<'a, u32>>;
    fn neighbors(self, node: u32) -> Self::Neighbors {
        self.successors(node).iter().copied()
    }
}
impl<'a> IntoNeighborsDirected for &'a Digraph {
    type NeighborsDirected = Copied<slice::Iter<'a, u32>>;
    fn neighbors_directed(self, node: u32, direction: Direction) -> Self::NeighborsDirected {
        let nodes = match direction {
            Direction::Outgoing => self.successors(node),
            Direction::Incoming => self.predecessors(node),
        };
        nodes.iter().copied()
    }
}

/// The number that stands for "no node".
pub const NONE: u32 = u32::MAX;

/// The result of a depth-first search: the nodes in order of discovery and of completion, and the search tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DepthFirst {
    /// The nodes in order of discovery.
    pub preorder: Vec<u32>,
    /// The nodes in order of completion.
    pub postorder: Vec<u32>,
    /// The parent of each node in the search tree. [`NONE`] for roots and for nodes that were not found.
    pub parent: Vec<u32>,
}

impl DepthFirst {
    /// The position of each of `nodes` nodes in the order of discovery. [`NONE`] for nodes that were not found.
    pub fn numbers(&self, nodes: usize) -> Vec<u32> {
        let mut numbers = vec![NONE; nodes];
        for (i, &node) in (0u32..).zip(&self.preorder) {
            numbers[node as usize] = i;
        }
        numbers
    }
}

/// The strongly connected components of a graph, numbered in reverse topological order: an edge between
/// two components goes from the greater number to the smaller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Components {
    component: Vec<u32>,
    members: Lists<u32>,
}

impl Components {
    fn new(graph: &Digraph) -> Self {
        let components = kosaraju_scc(graph);
        let mut component = vec![NONE; graph.len()];
        for (number, members) in (0u32..).zip(&components) {
            for &node in members {
                component[node as usize] = number;
            }
        }
        let members = Lists::group(components.len(), || component.iter().zip(0u32..).map(|(&c, node)| (c, node)));
        Self { component, members }
    }
    /// The number of components.
    pub fn len(&self) -> usize {
        self.members.len()
    }
    /// True if there are no components.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The component of a node.
    pub fn component(&self, node: u32) -> u32 {
        self.component[node as usize]
    }
    /// The nodes of a component, ascending.
    pub fn members(&self, component: u32) -> &[u32] {
        self.members.get(component)
    }
    /// The components in reverse topological order: each precedes the components that have edges to it.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.members.iter()
    }
    /// True if the node is on a cycle.
    pub fn on_cycle(&self, graph: &Digraph, node: u32) -> bool {
        self.members(self.component(node)).len() > 1 || graph.successors(node).contains(&node)
    }
}

/// The CFA of one function as a graph of the locations that its entry reaches.
///
/// Nodes are numbered in reverse postorder. The entry is node 0. An edge to a node that is not greater is a back edge.
/// The nodes after a then-edge precede the nodes that only the else-edge reaches, so the body of a `while` loop
/// precedes the code after it.
#[derive(Clone, Debug)]
pub struct FuncGraph {
    /// The location of each node.
    pub locs: Vec<LocId>,
    /// The graph.
    pub graph: Digraph,
}

/// The CFAs of all functions of a program, as graphs.
#[derive(Clone, Debug)]
pub struct CfaGraphs {
    /// The graph of each function.
    pub funcs: Table<FuncId, FuncGraph>,
    node: Table<LocId, u32>,
}

impl CfaGraphs {
    /// Builds the graphs of all functions.
    pub fn new(program: &Program) -> Self {
        let mut node = Table::filled(NONE, program.locs.len());
        let funcs = program.funcs.ids().map(|f| FuncGraph::new(program, f, &mut node)).collect();
        Self { funcs, node }
    }
    /// The node of a location in the graph of its function. `None` if the function's entry does not reach it.
    pub fn node(&self, loc: LocId) -> Option<u32> {
        Some(self.node[loc]).filter(|&n| n != NONE)
    }
}

impl FuncGraph {
    /// Sets `node` for the reachable locations, where it must be [`NONE`] before. Omits edges to locations of other
    /// functions. Valid programs have no such edges.
    fn new(program: &Program, func: FuncId, node: &mut Table<LocId, u32>) -> Self {
        let own = |loc: &LocId| program.locs[*loc].func == func;
        let targets = |loc| program.out_edges(loc).map(|edge| program.edges[edge].target).filter(own);
        let mut postorder = Vec::new();
        let mut stack = Vec::new();
        let entry = program.funcs[func].entry;
        if own(&entry) {
            stack.push((entry, 0));
            node[entry] = 0;
        }
        while let Some((loc, next)) = stack.last_mut() {
            let Some(successor) = targets(*loc).rev().nth(*next) else {
                postorder.push(*loc);
                stack.pop();
                continue;
            };
            *next += 1;
            if node[successor] == NONE {
                node[successor] = 0;
                stack.push((successor, 0));
            }
        }
        postorder.reverse();
        for (n, &loc) in (0u32..).zip(&postorder) {
            node[loc] = n;
        }
        let mut edges = Vec::with_capacity(postorder.len());
        for (n, &loc) in (0u32..).zip(&postorder) {
            edges.extend(targets(loc).map(|target| (n, node[target])));
        }
        Self { graph: Digraph::new(postorder.len(), &edges), locs: postorder }
    }
}

/// The edges into each location, ascending. They include edges from unreachable locations.
#[derive(Clone, Debug)]
pub struct Predecessors {
    edges: Lists<EdgeId>,
}

impl Predecessors {
    /// Collects the edges of a program.
    pub fn new(program: &Program) -> Self {
        let pairs = || program.edges.iter().map(|(id, edge)| (edge.target.0, id));
        Self { edges: Lists::group(program.locs.len(), pairs) }
    }
    /// The edges into a location.
    pub fn edges_into(&self, loc: LocId) -> &[EdgeId] {
        self.edges.get(loc.0)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Random sparse graphs with some loops.
    pub(crate) fn graphs(max: usize) -> impl Strategy<Value = Digraph> {
        (1..max).prop_flat_map(|n| {
            let node = 0..n as u32;
            let chain = prop::collection::vec(any::<bool>(), n);
            let extra = prop::collection::vec((node.clone(), node), 0..2 * n);
            (chain, extra).prop_map(move |(chain, extra)| {
                let mut edges = extra;
                edges.extend((1..n as u32).filter(|&i| chain[i as usize]).map(|i| (i - 1, i)));
                Digraph::new(n, &edges)
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn components_are_mutual_reachability(graph in graphs(12)) {
            let components = graph.components();
            let reaches: Vec<_> = graph.nodes().map(|n| graph.reachable([n])).collect();
            for a in graph.nodes() {
                for b in graph.nodes() {
                    let mutual = reaches[a as usize][b as usize] && reaches[b as usize][a as usize];
                    prop_assert_eq!(mutual, components.component(a) == components.component(b));
                }
                prop_assert!(components.members(components.component(a)).contains(&a));
                let cyclic = graph.successors(a).iter().any(|&s| reaches[s as usize][a as usize]);
                prop_assert_eq!(components.on_cycle(&graph, a), cyclic);
            }
            for (a, b) in graph.edges() {
                prop_assert!(components.component(a) >= components.component(b));
            }
        }

        #[test]
        fn orders(graph in graphs(20)) {
            let search = graph.depth_first([0]);
            let reachable = graph.reachable([0]);
            prop_assert_eq!(search.preorder.len(), reachable.iter().filter(|r| **r).count());
            let order = graph.reverse_postorder(0);
            prop_assert_eq!(order[0], 0);
            let position = |n: u32| order.iter().position(|&m| m == n).unwrap();
            for &n in &search.preorder[1..] {
                let parent = search.parent[n as usize];
                prop_assert!(graph.successors(parent).contains(&n));
                prop_assert!(position(parent) < position(n));
            }
            prop_assert_eq!(graph.reversed().reversed(), graph);
        }
    }

    #[test]
    fn deep_graphs() {
        let n = 300_000;
        let edges: Vec<_> = (1..n).map(|i| (i - 1, i)).chain([(n - 1, 0)]).collect();
        let graph = Digraph::new(n as usize, &edges);
        assert_eq!(graph.components().len(), 1);
        assert_eq!(graph.reverse_postorder(0).len(), n as usize);
    }
}
