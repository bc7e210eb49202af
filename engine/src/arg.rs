//! The abstract reachability graph: the states met, how one comes from another, and which cover which.

use crate::control::Control;
use cfa::{EdgeId, Id, Table};

cfa::id_type!(
    /// A node of an abstract reachability graph.
    NodeId, "n"
);

/// What has become of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// In the waitlist.
    Waiting,
    /// Its successors are in the graph.
    Expanded,
    /// Another node stands for it.
    Covered(NodeId),
    /// An error or a problem lies within its successors.
    Target,
    /// Cut off by a refinement.
    Pruned,
}

pub struct Node<S> {
    /// Of pruned nodes nothing is kept.
    pub state: Option<S>,
    pub at: Control,
    pub parent: Option<NodeId>,
    /// The edges from the parent to here.
    pub via: Box<[EdgeId]>,
    pub children: Vec<NodeId>,
    pub status: Status,
    /// Nodes that this one covers.
    covers: Vec<NodeId>,
}

/// A tree of states at the locations where paths join, with edges from the covered to what covers them.
pub struct Arg<S> {
    nodes: Table<NodeId, Node<S>>,
}

impl<S> Arg<S> {
    pub fn new() -> Self {
        Self { nodes: Table::new() }
    }
    pub fn node(&self, id: NodeId) -> &Node<S> {
        &self.nodes[id]
    }
    pub fn state(&self, id: NodeId) -> &S {
        self.nodes[id].state.as_ref().expect("a node that is not pruned")
    }
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn add(&mut self, state: S, at: Control, parent: Option<NodeId>, via: Box<[EdgeId]>) -> NodeId {
        let node = Node {
            state: Some(state),
            at,
            parent,
            via,
            children: Vec::new(),
            status: Status::Waiting,
            covers: Vec::new(),
        };
        let id = self.nodes.push(node);
        if let Some(parent) = parent {
            self.nodes[parent].children.push(id);
        }
        id
    }
    pub fn set(&mut self, id: NodeId, status: Status) {
        self.nodes[id].status = status;
        if let Status::Covered(by) = status {
            self.nodes[by].covers.push(id);
        }
    }

    /// The nodes from the root to `id`.
    pub fn line(&self, id: NodeId) -> Vec<NodeId> {
        let mut line: Vec<NodeId> = std::iter::successors(Some(id), |&n| self.nodes[n].parent).collect();
        line.reverse();
        line
    }

    /// Cuts off everything below `id`; the nodes elsewhere that were covered by what is cut off are given back, uncovered
    /// (lazy abstraction: Henzinger, Jhala, Majumdar, Sutre, POPL 2002).
    pub fn prune_below(&mut self, id: NodeId) -> Vec<NodeId> {
        let mut uncovered = Vec::new();
        let mut stack = std::mem::take(&mut self.nodes[id].children);
        stack.reverse();
        while let Some(n) = stack.pop() {
            let node = &mut self.nodes[n];
            node.state = None;
            node.status = Status::Pruned;
            stack.append(&mut node.children);
            uncovered.append(&mut node.covers);
        }
        uncovered.append(&mut self.nodes[id].covers);
        uncovered.retain(|&n| matches!(self.nodes[n].status, Status::Covered(_)));
        for &n in &uncovered {
            self.nodes[n].status = Status::Waiting;
        }
        uncovered
    }
}

impl<S> Default for Arg<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// A node of a finished graph, for pictures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    pub parent: Option<u32>,
    pub status: Status,
    /// Edges of the program between the parent and the node.
    pub edges: u32,
}

impl<S> Arg<S> {
    /// The graph without its states; pruned nodes are left out.
    pub fn shape(&self) -> Vec<Shape> {
        let mut number = vec![None; self.nodes.len()];
        let mut shape: Vec<Shape> = Vec::new();
        for (id, node) in self.nodes.iter().filter(|(_, n)| n.status != Status::Pruned) {
            number[id.index()] = Some(shape.len() as u32);
            let parent = node.parent.and_then(|p| number[p.index()]);
            shape.push(Shape { parent, status: node.status, edges: node.via.len() as u32 });
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::CallStacks;
    use cfa::LocId;

    #[test]
    fn what_was_covered_by_what_is_cut_off_waits_again() {
        let at = Control { loc: LocId(0), stack: CallStacks::EMPTY };
        let mut arg = Arg::new();
        let root = arg.add("root", at, None, Box::default());
        let (a, b) = (arg.add("a", at, Some(root), Box::default()), arg.add("b", at, Some(root), Box::default()));
        let (c, d) = (arg.add("c", at, Some(a), Box::default()), arg.add("d", at, Some(b), Box::default()));
        let e = arg.add("e", at, Some(c), Box::default());
        arg.set(d, Status::Covered(c));
        arg.set(e, Status::Covered(c));
        assert_eq!(arg.line(e), [root, a, c, e]);
        // `d` was covered by `c`, which goes; `e` goes with it.
        assert_eq!(arg.prune_below(a), [d]);
        assert_eq!(arg.node(d).status, Status::Waiting);
        assert_eq!((arg.node(c).status, arg.node(e).status), (Status::Pruned, Status::Pruned));
        assert!(arg.node(c).state.is_none() && arg.node(a).children.is_empty());
        let shape = arg.shape();
        assert_eq!(shape.iter().map(|n| n.parent).collect::<Vec<_>>(), [None, Some(0), Some(0), Some(2)]);
    }
}
