//! The control-flow graph of a function.

use cfa::graph::Digraph;
use cfa::{EdgeId, FuncId, LocId, Op, Program};
use rustc_hash::FxHashMap;

/// The control-flow graph of the reachable locations of a function.
pub struct FunctionGraph {
    /// The locations by node.
    pub locs: Vec<LocId>,
    node: FxHashMap<LocId, u32>,
    /// The graph.
    pub graph: Digraph,
    /// By node, its incoming edge, if there is only one.
    before: Vec<Option<EdgeId>>,
}

impl FunctionGraph {
    /// The graph of function `f`.
    pub fn new(p: &Program, f: FuncId) -> Self {
        let entry = p.funcs[f].entry;
        let (mut locs, mut node) = (vec![entry], FxHashMap::default());
        node.insert(entry, 0u32);
        let mut edges = Vec::new();
        let mut before: Vec<(u32, Option<EdgeId>)> = vec![(0, None)];
        let mut done = 0;
        while let Some(&loc) = locs.get(done) {
            for edge in p.out_edges(loc) {
                let target = p.edges[edge].target;
                let n = *node.entry(target).or_insert_with(|| {
                    locs.push(target);
                    before.push((0, None));
                    locs.len() as u32 - 1
                });
                edges.push((done as u32, n));
                let (count, last) = &mut before[n as usize];
                *count += 1;
                *last = (*count == 1).then_some(edge);
            }
            done += 1;
        }
        // The entry has an additional incoming edge, from callers.
        before[0].1 = None;
        let graph = Digraph::new(locs.len(), &edges);
        Self { locs, node, graph, before: before.into_iter().map(|(_, edge)| edge).collect() }
    }

    /// The node of a location.
    pub fn node(&self, loc: LocId) -> u32 {
        self.node[&loc]
    }

    /// The edge into a location, if there is only one.
    pub fn before(&self, loc: LocId) -> Option<EdgeId> {
        self.before[self.node(loc) as usize]
    }
}

/// The operations of a function.
pub fn operations(p: &Program, f: FuncId) -> impl Iterator<Item = &Op> {
    FunctionGraph::new(p, f).locs.into_iter().flat_map(|loc| p.out_edges(loc)).map(|edge| &p.edges[edge].op)
}
