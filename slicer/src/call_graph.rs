//! The call graph, restricted to calls that can be executed.

use crate::pointer::PointsTo;
use cfa::graph::{Components, Digraph};
use cfa::{EdgeId, FuncId, Id, Program};
use rustc_hash::FxHashMap;

/// The call graph of a program, with its strongly connected components.
pub struct CallGraph {
    callees: FxHashMap<EdgeId, Box<[FuncId]>>,
    callers: Vec<Vec<EdgeId>>,
    components: Components,
    recursive: Vec<bool>,
}

impl CallGraph {
    /// Builds the call graph from `edges`, the edges that can be executed.
    pub fn new(program: &Program, points_to: &PointsTo, edges: impl Iterator<Item = EdgeId>) -> Self {
        let mut callees: FxHashMap<EdgeId, Box<[FuncId]>> = FxHashMap::default();
        let mut callers = vec![Vec::new(); program.funcs.len()];
        let mut called = Vec::new();
        for id in edges {
            let targets = points_to.callees(id);
            if targets.is_empty() {
                continue;
            }
            callees.insert(id, targets.into());
            for &f in targets {
                callers[f.index()].push(id);
                called.push((program.func_of(id).0, f.0));
            }
        }
        let graph = Digraph::new(program.funcs.len(), &called);
        let components = graph.components();
        let recursive = graph.nodes().map(|f| components.on_cycle(&graph, f)).collect();
        Self { callees, callers, components, recursive }
    }
    /// The functions that an edge may call. The edge is a call, or the `Approx` edge of an undefined function.
    pub fn callees(&self, call: EdgeId) -> &[FuncId] {
        self.callees.get(&call).map_or(&[], |c| c)
    }
    /// The edges that may call the function.
    pub fn callers(&self, f: FuncId) -> &[EdgeId] {
        &self.callers[f.index()]
    }
    /// Returns true if the function may call itself, directly or through other functions.
    pub fn is_recursive(&self, f: FuncId) -> bool {
        self.recursive[f.index()]
    }
    /// The strongly connected components, callees before callers.
    pub fn bottom_up(&self) -> impl Iterator<Item = &[u32]> {
        self.components.iter()
    }
}
