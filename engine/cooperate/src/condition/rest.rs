//! Builds the condition of an exploration: it covers all paths that do not pass the exploration's frontier.

use super::blocks::{Blocks, Exit};
use super::{Condition, Label, MOST_STATES, StateId, Transition, bounded};
use cfa::{CallGraph, Callee, EdgeId, FuncId, Id, LocId, Op, Out, Program, Table};
use engine::frontier::{Frontier, PathId, Unexplored};
use engine::simplify::{SideTarget, Simplified, Split};
use rustc_hash::FxHashMap;

/// The limit on states on paths to covering states. Beyond it, exploring these paths again takes longer than the
/// covering states save. The condition still covers all explored paths.
const MOST_WAYS: usize = 30_000;
/// The limit on states of a condition for paths that are handed over.
const MOST_GIVEN: usize = 200_000;

/// A decision of a path at a choice of the original program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Choice {
    /// The branch edge.
    Branch(EdgeId),
    /// The function that a call through a pointer enters.
    Callee(EdgeId, FuncId),
    /// The side of a region that the path leaves. A region is a group of branches that the explored program merged into
    /// one.
    Region(usize, bool),
    /// The next head of the path, if the exploration merged all paths to that head.
    Head(LocId),
}

/// The program that was explored: the original program, or a slice or part of it.
pub struct ExploredProgram<'a> {
    /// The explored program before simplification.
    pub program: &'a Program,
    /// The simplified program on which the exploration ran, if any.
    pub simplified: Option<&'a Simplified>,
    /// The original program.
    pub original: &'a Program,
    /// Maps edges to edges of the original.
    pub edge: &'a dyn Fn(EdgeId) -> Option<EdgeId>,
    /// Maps functions to functions of the original.
    pub func: &'a dyn Fn(FuncId) -> FuncId,
    /// True if the exploration omitted paths that are verified only together with residual paths. A covering state may
    /// lead to such paths.
    pub counts_on_rest: bool,
}

impl<'a> ExploredProgram<'a> {
    /// The original program as the explored program.
    pub fn unchanged(program: &'a Program) -> Self {
        let (edge, func) = (&Some, &|f| f);
        Self { program, simplified: None, original: program, edge, func, counts_on_rest: false }
    }

    /// The function of an edge of a path, in the original.
    fn func_of(&self, edge: EdgeId) -> FuncId {
        (self.func)(self.simplified.map_or(self.program, |s| &s.program).func_of(edge))
    }

    /// The decisions of a path of the explored program, in the original.
    pub(crate) fn choices(&self, path: &[EdgeId]) -> Vec<Choice> {
        let mut out = Vec::new();
        for (i, &edge) in path.iter().enumerate() {
            let Some(original) = (self.edge)(edge) else { continue };
            match (&self.program.edges[edge].op, &self.original.edges[original].op) {
                (Op::Assume { .. }, Op::Assume { .. }) => out.push(Choice::Branch(original)),
                (Op::Call { .. }, Op::Call { callee: Callee::Indirect(_), .. }) => {
                    // A path that ends here is open for all callees.
                    let Some(&next) = path.get(i + 1) else { break };
                    out.push(Choice::Callee(original, (self.func)(self.program.func_of(next))));
                }
                _ => {}
            }
        }
        out
    }

    /// The condition that covers the completely explored paths. It covers nothing if the frontier does not describe all
    /// residual paths.
    pub fn condition(&self, frontier: &Frontier) -> Condition {
        self.condition_within(frontier, MOST_STATES)
    }

    /// Like [`ExploredProgram::condition`], with at most `most` states that distinguish paths.
    pub fn condition_within(&self, frontier: &Frontier, most: usize) -> Condition {
        // Loop heads and iteration counts of a part of the program do not describe the whole program.
        let is_whole = std::ptr::eq(self.program, self.original);
        if let Some(iterations) = frontier.iterations {
            return if is_whole { bounded::within(self.original, iterations) } else { Condition::nothing() };
        }
        let is_told = frontier.heads.is_empty() || is_whole;
        match frontier.left(self.counts_on_rest) {
            Some(left) if frontier.given_up.is_none() && is_told => {
                self.tree(frontier, &left, most).condition(self, &frontier.heads).unwrap_or_else(Condition::nothing)
            }
            _ => Condition::nothing(),
        }
    }

    /// The tree of decisions on residual paths and on paths to covering states. Takes time linear in the pieces of the
    /// paths.
    fn tree(&self, frontier: &Frontier, left: &Unexplored, most: usize) -> Choices {
        let paths = &frontier.paths;
        let mut wanted = left.leads_there.clone();
        for &covering in &frontier.covering {
            let mut at = Some(covering);
            while let Some(path) = at.filter(|p| !wanted[p.index()]) {
                wanted[path.index()] = true;
                at = paths.pieces()[path].after;
            }
        }
        let mut tree = Choices::default();
        // The tree node at the end of each path, with the call through a pointer that ends the path, if any.
        let mut ends: Table<PathId, (usize, Option<EdgeId>)> = Table::new();
        for (path, piece) in paths.pieces().iter() {
            let (mut at, mut call) = piece.after.map_or((0, None), |before| ends[before]);
            let edges = if wanted[path.index()] { &piece.edges[..] } else { &[] };
            if let Some(head) = piece.head.filter(|_| wanted[path.index()] && piece.after.is_some()) {
                at = tree.child(at, Choice::Head(head));
            }
            for &edge in edges {
                if let Some(call) = call.take() {
                    at = tree.child(at, Choice::Callee(call, self.func_of(edge)));
                }
                if let Some((region, side)) = self.simplified.and_then(|s| s.branch_map.side(edge)) {
                    at = tree.child(at, Choice::Region(region, side));
                    continue;
                }
                if self.simplified.is_some_and(|s| s.branch_map.is_new(edge)) {
                    continue;
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
        tree.cut(most.saturating_sub(ENDS), self);
        tree
    }

    /// The branches of a region in the original.
    fn splits(&self, region: usize) -> Option<&'a [Split]> {
        Some(&self.simplified?.branch_map.region(region).0)
    }
}

/// The tree of decisions on open paths.
struct Choices {
    nodes: Vec<Node>,
}

/// A node of the tree of open paths.
#[derive(Default)]
struct Node {
    /// True if a path ends here, so all extensions are open.
    open: bool,
    /// True if a path ends here whose extensions are covered elsewhere.
    is_elsewhere: bool,
    /// True if no path in the subtree is open or covered elsewhere.
    is_done: bool,
    /// True if the explored paths of the subtree are not distinguished.
    is_cut: bool,
    /// The head of the node, if paths are merged.
    head: Option<LocId>,
    children: Vec<(Choice, usize)>,
}

impl Node {
    /// Returns true if the subtree distinguishes no paths.
    fn is_end(&self) -> bool {
        self.open || self.is_elsewhere || self.is_cut
    }
}

impl Default for Choices {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

impl Choices {
    /// The child for a decision, created on demand.
    fn child(&mut self, at: usize, choice: Choice) -> usize {
        if let Some(&(_, child)) = self.nodes[at].children.iter().find(|(c, _)| *c == choice) {
            return child;
        }
        let child = self.nodes.len();
        let head = if let Choice::Head(head) = choice { Some(head) } else { None };
        self.nodes.push(Node { head, ..Node::default() });
        self.nodes[at].children.push((choice, child));
        child
    }

    /// Keeps the nodes closest to the root, with at most `most` states. Each dropped subtree becomes entirely open, or
    /// entirely explored.
    fn cut(&mut self, most: usize, explored: &ExploredProgram<'_>) {
        for node in (0..self.nodes.len()).rev() {
            let Node { open, is_elsewhere, children, .. } = &self.nodes[node];
            self.nodes[node].is_done =
                !open && !is_elsewhere && children.iter().all(|(_, child)| self.nodes[*child].is_done);
        }
        let mut order = vec![0];
        let (mut next, mut written, mut ways) = (0, 0, 0);
        while let Some(&at) = order.get(next) {
            next += 1;
            let states = self.states(at, explored);
            let node = &mut self.nodes[at];
            // Coverage of one of several paths through a node does not extend to the others.
            node.open |= node.is_elsewhere && !node.children.is_empty();
            if node.open || node.is_elsewhere {
                continue;
            }
            if written + states > most || node.is_done && ways + states > MOST_WAYS {
                node.open = !node.is_done;
                node.is_cut = node.is_done;
                continue;
            }
            written += states;
            ways += if node.is_done { states } else { 0 };
            order.extend(node.children.iter().map(|(_, child)| *child));
        }
    }

    /// The number of states that represent a node. Regions and calls through pointers need several.
    fn states(&self, node: usize, explored: &ExploredProgram<'_>) -> usize {
        match self.nodes[node].children.first() {
            Some(&(Choice::Region(region, _), _)) => explored.splits(region).map_or(1, <[Split]>::len),
            Some((Choice::Callee(..), _)) => 2,
            _ => 1,
        }
    }

    /// The condition that covers all paths outside the tree. `None` if the tree does not fit the program.
    fn condition(self, explored: &ExploredProgram<'_>, heads: &[bool]) -> Option<Condition> {
        let (nodes, calls) = (self.nodes, CallGraph::new(explored.original));
        let blocks = (!heads.is_empty()).then(|| Blocks::new(explored.original, &calls, heads));
        Tree { explored, calls, nodes, blocks, states: FxHashMap::default() }.condition()
    }
}

/// The condition that covers all paths except the extensions of those in `open`. `None` if these do not fit the
/// program.
pub fn all_but(program: &Program, open: &[Vec<Choice>]) -> Option<Condition> {
    if open.is_empty() {
        return Some(Condition::everything());
    }
    let mut tree = Choices::default();
    for path in open {
        let end = path.iter().fold(0, |at, &choice| tree.child(at, choice));
        tree.nodes[end].open = true;
    }
    let explored = ExploredProgram::unchanged(program);
    tree.cut(MOST_GIVEN, &explored);
    tree.condition(&explored, &[])
}

/// The number of [`Ends`].
const ENDS: usize = 3;

/// The states after which paths are not distinguished.
#[derive(Clone, Copy)]
struct Ends {
    /// The paths are verified.
    covered: StateId,
    /// The paths are verified together with the residual paths.
    elsewhere: StateId,
    /// The paths are not verified.
    free: StateId,
}

/// The tree of explored paths, from which a condition is built.
struct Tree<'a> {
    explored: &'a ExploredProgram<'a>,
    calls: CallGraph,
    nodes: Vec<Node>,
    /// The blocks of merged paths, if paths were merged.
    blocks: Option<Blocks<'a>>,
    /// The states by node.
    states: FxHashMap<usize, StateId>,
}

impl<'a> Tree<'a> {
    fn condition(mut self) -> Option<Condition> {
        let mut out = Condition::nothing();
        let ends = Ends { covered: out.add(true), elsewhere: out.add(true), free: out.add(false) };
        out.states[ends.elsewhere].with_rest = true;
        let mut todo = vec![0];
        let entry = self.explored.original.funcs[self.explored.original.entry].entry;
        self.states.insert(0, out.initial);
        // An analysis without a verdict and without residual paths does not know its residual paths.
        if self.nodes[0].open || self.nodes[0].is_elsewhere || self.nodes[0].is_done {
            return Some(Condition::nothing());
        }
        while let Some(node) = todo.pop() {
            let state = self.states[&node];
            let mut transitions = match self.nodes[node].children.first().map(|child| child.0) {
                None if self.nodes[node].is_done => Vec::new(),
                None => return None,
                Some(Choice::Branch(_) | Choice::Region(..)) => self.branch(node, &mut out, ends, &mut todo)?,
                Some(Choice::Head(_)) => {
                    let from = self.nodes[node].head.unwrap_or(entry);
                    self.block(node, from, &mut out, ends, &mut todo)?
                }
                Some(Choice::Callee(call, _)) => {
                    let inside = out.add(self.nodes[node].is_done);
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

    /// The state of a tree node. Paths outside the tree (`None`) are covered.
    fn state(&mut self, node: Option<usize>, out: &mut Condition, ends: Ends, todo: &mut Vec<usize>) -> StateId {
        let Some(node) = node else { return ends.covered };
        if self.nodes[node].open {
            return ends.free;
        }
        if self.nodes[node].is_elsewhere {
            return ends.elsewhere;
        }
        if self.nodes[node].is_cut {
            return ends.covered;
        }
        let is_done = self.nodes[node].is_done;
        *self.states.entry(node).or_insert_with(|| {
            todo.push(node);
            out.add(is_done)
        })
    }

    /// The nodes after these decisions, where the tree has them. `None` if the node has other decisions.
    fn children(&self, node: usize, choices: &[Choice]) -> Option<Vec<Option<usize>>> {
        let children = &self.nodes[node].children;
        let are_all = children.iter().all(|(choice, _)| choices.contains(choice));
        let child = |choice| children.iter().find(|(c, _)| c == choice).map(|c| c.1);
        are_all.then(|| choices.iter().map(child).collect())
    }

    /// The transitions on both sides of the branch at a node.
    fn branch(
        &mut self,
        node: usize,
        out: &mut Condition,
        ends: Ends,
        todo: &mut Vec<usize>,
    ) -> Option<Vec<Transition>> {
        let first = match self.nodes[node].children.first()?.0 {
            Choice::Branch(first) => first,
            Choice::Region(region, _) => return self.region(node, region, out, ends, todo),
            Choice::Callee(..) | Choice::Head(_) => return None,
        };
        let program = self.explored.original;
        let edges: Vec<EdgeId> = program.out_edges(program.edges[first].source).collect();
        let children = self.children(node, &edges.iter().map(|edge| Choice::Branch(*edge)).collect::<Vec<_>>())?;
        let side = |(edge, child)| Transition::on(edge, self.state(child, out, ends, todo));
        Some(edges.into_iter().zip(children).map(side).collect())
    }

    /// The transitions on the exits of the block that starts at a node.
    fn block(
        &mut self,
        node: usize,
        from: LocId,
        out: &mut Condition,
        ends: Ends,
        todo: &mut Vec<usize>,
    ) -> Option<Vec<Transition>> {
        let heads: Option<Vec<(LocId, usize)>> = self.nodes[node]
            .children
            .iter()
            .map(|(choice, child)| match choice {
                Choice::Head(head) => Some((*head, *child)),
                _ => None,
            })
            .collect();
        let child: FxHashMap<LocId, usize> = heads?.into_iter().collect();
        let exits = self.blocks.as_mut()?.exits(from, child.keys().copied().collect());
        let mut by_state: FxHashMap<StateId, Vec<EdgeId>> = FxHashMap::default();
        for &(edge, exit) in exits.iter() {
            let to = match exit {
                Exit::Head(head) => self.state(child.get(&head).copied(), out, ends, todo),
                Exit::Unclear => ends.free,
                Exit::Never => ends.covered,
            };
            by_state.entry(to).or_default().push(edge);
        }
        let mut transitions: Vec<Transition> = by_state
            .into_iter()
            .map(|(to, edges)| Transition { on: Label::from_edges(edges), assumption: None, to })
            .collect();
        transitions.sort_unstable_by_key(|t| t.to);
        Some(transitions)
    }

    /// The transitions on the first branch of the region at a node. The other branches get states of their own.
    fn region(
        &mut self,
        node: usize,
        region: usize,
        out: &mut Condition,
        ends: Ends,
        todo: &mut Vec<usize>,
    ) -> Option<Vec<Transition>> {
        let children = self.children(node, &[true, false].map(|side| Choice::Region(region, side)))?;
        let [yes, no] = [children[0], children[1]].map(|child| self.state(child, out, ends, todo));
        let splits = self.explored.splits(region)?;
        let inner: Vec<StateId> = splits[1..].iter().map(|_| out.add(self.nodes[node].is_done)).collect();
        let mut first = Vec::new();
        for (i, split) in splits.iter().enumerate() {
            let mut transitions = Vec::new();
            for (edge, to) in split.edges.into_iter().zip(split.to) {
                let to = match to {
                    // The first branch of a region is never a target.
                    SideTarget::Split(next) => *inner.get(next.checked_sub(1)?)?,
                    SideTarget::Side(true) => yes,
                    SideTarget::Side(false) => no,
                };
                transitions.push(Transition::on((self.explored.edge)(edge)?, to));
            }
            match i.checked_sub(1) {
                None => first = transitions,
                Some(i) => {
                    transitions.push(Transition::others(inner[i]));
                    out.states[inner[i]].transitions = transitions;
                }
            }
        }
        Some(first)
    }

    /// Returns true if the first branch of a region is at the location of the original.
    fn begins_at(&self, region: usize, loc: LocId) -> bool {
        let first = self.explored.splits(region).and_then(|splits| (self.explored.edge)(splits[0].edges[0]));
        first.is_some_and(|edge| self.explored.original.edges[edge].source == loc)
    }

    /// The transitions on the first edges of the functions that the call at a node may enter.
    fn callees(
        &mut self,
        node: usize,
        call: EdgeId,
        out: &mut Condition,
        ends: Ends,
        todo: &mut Vec<usize>,
    ) -> Option<Vec<Transition>> {
        let program = self.explored.original;
        let callees = self.calls.callees(program, call).as_slice().to_vec();
        let choices: Vec<Choice> = callees.iter().map(|func| Choice::Callee(call, *func)).collect();
        let mut transitions = Vec::new();
        for (func, child) in callees.into_iter().zip(self.children(node, &choices)?) {
            let entry = program.funcs[func].entry;
            // The first edge of the function may be a decision itself.
            let decides = |node: usize| match self.nodes[node].children.first() {
                Some(&(Choice::Branch(e) | Choice::Callee(e, _), _)) => program.edges[e].source == entry,
                Some(&(Choice::Region(region, _), _)) => self.begins_at(region, entry),
                Some((Choice::Head(_), _)) | None => false,
            };
            match child {
                Some(node) if !self.nodes[node].is_end() && decides(node) => {
                    match program.locs[entry].out {
                        Out::Branch { .. } => transitions.extend(self.branch(node, out, ends, todo)?),
                        // The function starts with another call through a pointer. This representation cannot
                        // distinguish its callees.
                        _ => return None,
                    }
                }
                _ => {
                    let to = self.state(child, out, ends, todo);
                    transitions.extend(program.out_edges(entry).map(|e| Transition::on(e, to)));
                }
            }
        }
        Some(transitions)
    }
}
