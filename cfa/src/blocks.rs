//! Basic blocks of a function, as the DOT and HTML views draw them.

use crate::graph::{CfaGraphs, FuncGraph};
use crate::loops::LoopForest;
use crate::program::*;
use crate::source::PlaceId;

/// A basic block: a sequence of edges that control enters only at the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The first location of the block.
    pub start: LocId,
    /// True if `start` is the head of a loop.
    pub is_loop_head: bool,
    /// The edges of the block in order, without [`Op::Skip`] and those without a text. A branch at the end is represented by its then-edge.
    pub steps: Vec<BlockEdge>,
    /// The successor blocks.
    pub next: Vec<Next>,
}

/// One edge of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockEdge {
    /// The edge.
    pub edge: EdgeId,
    /// The source position of the edge.
    pub place: Option<PlaceId>,
    /// The operation as C text.
    pub text: String,
}

/// A successor of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Next {
    /// The first location of the successor.
    pub start: LocId,
    /// For a branch: the condition as C text, and whether this is the then-branch.
    pub condition: Option<(String, bool)>,
}

/// Returns the blocks of the locations that the entry of `func` reaches. The entry block is first. `text` returns the
/// text of an edge; edges without one are left out.
pub fn blocks(p: &Program, graphs: &CfaGraphs, func: FuncId, text: &dyn Fn(EdgeId) -> Option<String>) -> Vec<Block> {
    let reader = Reader { p, graph: &graphs.funcs[func], graphs, text };
    let nodes = &reader.graph.graph;
    if nodes.is_empty() {
        return Vec::new();
    }
    let loops = LoopForest::new(nodes, 0);
    nodes.nodes().filter(|&n| reader.starts_block(n)).map(|n| reader.block(n, loops.is_head(n))).collect()
}

/// Finds the blocks of a function.
struct Reader<'p> {
    p: &'p Program,
    graph: &'p FuncGraph,
    graphs: &'p CfaGraphs,
    text: &'p dyn Fn(EdgeId) -> Option<String>,
}

impl Reader<'_> {
    /// True if control enters the node at the function entry, by a branch, or from several predecessors.
    fn starts_block(&self, node: u32) -> bool {
        match *self.graph.graph.predecessors(node) {
            [only] => node == 0 || matches!(self.out(only), Out::Branch { .. }),
            _ => true,
        }
    }
    fn out(&self, node: u32) -> Out {
        self.p.locs[self.graph.locs[node as usize]].out
    }
    fn target(&self, edge: EdgeId) -> u32 {
        self.graphs.node(self.p.edges[edge].target).expect("the target of a reachable edge is reachable")
    }
    fn step(&self, edge: EdgeId, text: String) -> BlockEdge {
        BlockEdge { edge, place: self.p.edges[edge].place, text }
    }

    fn block(&self, start: u32, is_loop_head: bool) -> Block {
        let name = |node: u32| self.graph.locs[node as usize];
        let mut block = Block { start: name(start), is_loop_head, steps: Vec::new(), next: Vec::new() };
        let mut node = start;
        loop {
            match self.out(node) {
                Out::Sink => return block,
                Out::Branch { then_edge, else_edge } => {
                    for (edge, branch) in [(then_edge, true), (else_edge, false)] {
                        let condition = Some(((self.text)(edge).unwrap_or_default(), branch));
                        block.next.push(Next { start: name(self.target(edge)), condition });
                    }
                    block.steps.push(self.step(then_edge, "branch".into()));
                    return block;
                }
                Out::One(edge) => {
                    let op = &self.p.edges[edge].op;
                    if let Some(text) = (self.text)(edge).filter(|_| *op != Op::Skip) {
                        block.steps.push(self.step(edge, text));
                    }
                    node = self.target(edge);
                    if self.starts_block(node) {
                        block.next.push(Next { start: name(node), condition: None });
                        return block;
                    }
                }
            }
        }
    }
}
