//! What an exploration has done, as a condition: all paths are covered but those that go through its frontier.

use super::{Condition, StateId, Transition};
use cfa::{CallGraph, Callee, EdgeId, FuncId, Id, Op, Out, Program, Table};
use engine::frontier::{Frontier, Left, PathId, Paths};
use rustc_hash::FxHashMap;

/// States that a condition of a frontier may have; beyond, it forgets what was explored deepest.
const MOST_STATES: usize = 30_000;
/// States of the condition for paths that are given.
const MOST_GIVEN: usize = 200_000;

/// What a path takes where the CFA of the original leaves a choice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Choice {
    Branch(EdgeId),
    /// The function that the call through a pointer enters.
    Callee(EdgeId, FuncId),
}

/// The program that was explored: the original, or a part of it.
pub struct Explored<'a> {
    pub program: &'a Program,
    pub original: &'a Program,
    /// The edge and the function of the original.
    pub edge: &'a dyn Fn(EdgeId) -> Option<EdgeId>,
    pub func: &'a dyn Fn(FuncId) -> FuncId,
    /// Paths were left out that are verified only with the rest: a state that covers another may lead to some.
    pub counts_on_rest: bool,
}

impl Explored<'_> {
    /// What a path of the program explored takes in the original.
    pub(crate) fn choices(&self, path: &[EdgeId]) -> Vec<Choice> {
        let mut out = Vec::new();
        for (i, &edge) in path.iter().enumerate() {
            let Some(original) = (self.edge)(edge) else { continue };
            match (&self.program.edges[edge].op, &self.original.edges[original].op) {
                (Op::Assume { .. }, Op::Assume { .. }) => out.push(Choice::Branch(original)),
                (Op::Call { .. }, Op::Call { callee: Callee::Indirect(_), .. }) => {
                    // A path that ends there is open for all functions.
                    let Some(&next) = path.get(i + 1) else { break };
                    out.push(Choice::Callee(original, (self.func)(self.program.func_of(next))));
                }
                _ => {}
            }
        }
        out
    }

    /// The condition that covers what an exploration has seen to the end: nothing, if it is not known what it has left.
    pub fn condition(&self, frontier: &Frontier) -> Condition {
        match frontier.left(self.counts_on_rest) {
            Some(left) if frontier.given_up.is_none() => {
                self.tree(&frontier.paths, &left).condition(self.original).unwrap_or_else(Condition::nothing)
            }
            _ => Condition::nothing(),
        }
    }

    /// The choices on paths, in time linear in the pieces of which the paths are made.
    fn tree(&self, paths: &Paths, left: &Left) -> Choices {
        let mut tree = Choices::default();
        // Where a path has come to, and the call through a pointer that it ends with.
        let mut ends: Table<PathId, (usize, Option<EdgeId>)> = Table::new();
        for (path, piece) in paths.pieces().iter() {
            let (mut at, mut call) = piece.after.map_or((0, None), |before| ends[before]);
            let edges = if left.leads_there[path.index()] { &piece.edges[..] } else { &[] };
            for &edge in edges {
                if let Some(call) = call.take() {
                    at = tree.child(at, Choice::Callee(call, (self.func)(self.program.func_of(edge))));
                }
                let Some(original) = (self.edge)(edge) else { continue };
                match (&self.program.edges[edge].op, &self.original.edges[original].op) {
                    (Op::Assume { .. }, Op::Assume { .. }) => at = tree.child(at, Choice::Branch(original)),
                    (Op::Call { .. }, Op::Call { callee: Callee::Indirect(_), .. }) => call = Some(original),
                    _ => {}
                }
            }
            ends.push((at, call));
        }
        for end in &left.ends {
            let node = &mut tree.nodes[ends[end.path].0];
            match end.is_elsewhere {
                true => node.is_elsewhere = true,
                false => node.open = true,
            }
        }
        tree.cut(MOST_STATES);
        tree
    }
}

/// The tree of the choices on open paths.
struct Choices {
    nodes: Vec<Node>,
}

/// A node of the tree of open paths.
#[derive(Default)]
struct Node {
    /// A path ends here, so all that follows is open.
    open: bool,
    /// A path ends here of which the rest is elsewhere.
    is_elsewhere: bool,
    children: Vec<(Choice, usize)>,
}

impl Default for Choices {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

impl Choices {
    /// The node behind a choice.
    fn child(&mut self, at: usize, choice: Choice) -> usize {
        if let Some(&(_, child)) = self.nodes[at].children.iter().find(|(c, _)| *c == choice) {
            return child;
        }
        let child = self.nodes.len();
        self.nodes.push(Node::default());
        self.nodes[at].children.push((choice, child));
        child
    }

    /// Keeps what is told apart by so many nodes closest to the root: behind the others all is open.
    fn cut(&mut self, most: usize) {
        let mut order = vec![0];
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            // What is told of one of several paths is not told of the others.
            let is_unclear = self.nodes[node].is_elsewhere && !self.nodes[node].children.is_empty();
            self.nodes[node].open |= next > most || is_unclear;
            if !self.nodes[node].open {
                order.extend(self.nodes[node].children.iter().map(|(_, child)| *child));
            }
        }
    }

    /// The condition that covers all other paths. `None` if these cannot be paths of one program.
    fn condition(self, program: &Program) -> Option<Condition> {
        Tree { program, calls: CallGraph::new(program), nodes: self.nodes, states: FxHashMap::default() }.condition()
    }
}

/// The condition that covers all paths but those that extend one of `open`. `None` if these cannot be paths of one program.
pub fn all_but(program: &Program, open: &[Vec<Choice>]) -> Option<Condition> {
    if open.is_empty() {
        return Some(Condition::everything());
    }
    let mut tree = Choices::default();
    for path in open {
        let end = path.iter().fold(0, |at, &choice| tree.child(at, choice));
        tree.nodes[end].open = true;
    }
    tree.cut(MOST_GIVEN);
    tree.condition(program)
}

/// The states behind which nothing is told apart.
#[derive(Clone, Copy)]
struct Ends {
    /// Verified.
    covered: StateId,
    /// Verified once the rest is.
    elsewhere: StateId,
    free: StateId,
}

struct Tree<'a> {
    program: &'a Program,
    calls: CallGraph,
    nodes: Vec<Node>,
    /// By node.
    states: FxHashMap<usize, StateId>,
}

impl Tree<'_> {
    fn condition(mut self) -> Option<Condition> {
        let mut out = Condition::nothing();
        let ends = Ends { covered: out.add(true), elsewhere: out.add(true), free: out.add(false) };
        out.states[ends.elsewhere].with_rest = true;
        let mut todo = vec![0];
        self.states.insert(0, out.initial);
        if self.nodes[0].open || self.nodes[0].is_elsewhere {
            return Some(Condition::nothing());
        }
        while let Some(node) = todo.pop() {
            let state = self.states[&node];
            let mut transitions = match self.nodes[node].children.first()?.0 {
                Choice::Branch(_) => self.branch(node, &mut out, ends, &mut todo)?,
                Choice::Callee(call, _) => {
                    let inside = out.add(false);
                    let entered = self.callees(node, call, &mut out, ends, &mut todo)?;
                    out.states[inside].transitions = entered;
                    vec![Transition::on(call, inside)]
                }
            };
            transitions.push(Transition::others(state));
            out.states[state].transitions = transitions;
        }
        Some(out)
    }

    /// The state for a node of the tree, or for one that is not in it.
    fn state(&mut self, node: Option<usize>, out: &mut Condition, ends: Ends, todo: &mut Vec<usize>) -> StateId {
        let Some(node) = node else { return ends.covered };
        if self.nodes[node].open {
            return ends.free;
        }
        if self.nodes[node].is_elsewhere {
            return ends.elsewhere;
        }
        *self.states.entry(node).or_insert_with(|| {
            todo.push(node);
            out.add(false)
        })
    }

    /// For the two sides of the branch at a node.
    fn branch(
        &mut self,
        node: usize,
        out: &mut Condition,
        ends: Ends,
        todo: &mut Vec<usize>,
    ) -> Option<Vec<Transition>> {
        let children = self.nodes[node].children.clone();
        let Choice::Branch(first) = children.first()?.0 else { return None };
        let source = self.program.edges[first].source;
        let edges: Vec<EdgeId> = self.program.out_edges(source).collect();
        let belongs = |choice: &Choice| matches!(choice, Choice::Branch(e) if edges.contains(e));
        if !children.iter().all(|(choice, _)| belongs(choice)) {
            return None;
        }
        let side = |edge: EdgeId| {
            let child = children.iter().find(|(c, _)| *c == Choice::Branch(edge)).map(|c| c.1);
            Transition::on(edge, self.state(child, out, ends, todo))
        };
        Some(edges.into_iter().map(side).collect())
    }

    /// For the functions that the call at a node may enter, by their first edges.
    fn callees(
        &mut self,
        node: usize,
        call: EdgeId,
        out: &mut Condition,
        ends: Ends,
        todo: &mut Vec<usize>,
    ) -> Option<Vec<Transition>> {
        let children = self.nodes[node].children.clone();
        let callees = self.calls.callees(self.program, call).as_slice().to_vec();
        let belongs = |choice: &Choice| matches!(choice, Choice::Callee(c, f) if *c == call && callees.contains(f));
        if !children.iter().all(|(choice, _)| belongs(choice)) {
            return None;
        }
        let mut transitions = Vec::new();
        for func in callees {
            let child = children.iter().find(|(c, _)| *c == Choice::Callee(call, func)).map(|c| c.1);
            let entry = self.program.funcs[func].entry;
            // The first edge of the function may be a choice itself.
            let decides = |node: usize| match self.nodes[node].children.first() {
                Some(&(Choice::Branch(e), _)) => self.program.edges[e].source == entry,
                Some(&(Choice::Callee(e, _), _)) => self.program.edges[e].source == entry,
                None => false,
            };
            match child {
                Some(node) if !self.nodes[node].open && !self.nodes[node].is_elsewhere && decides(node) => {
                    match self.program.locs[entry].out {
                        Out::Branch { .. } => transitions.extend(self.branch(node, out, ends, todo)?),
                        // A call through a pointer right away: what it enters is not told apart from here.
                        _ => return None,
                    }
                }
                _ => {
                    let to = self.state(child, out, ends, todo);
                    transitions.extend(self.program.out_edges(entry).map(|e| Transition::on(e, to)));
                }
            }
        }
        Some(transitions)
    }
}
