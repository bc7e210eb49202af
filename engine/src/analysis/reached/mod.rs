//! The reached set of the CPA algorithm.
//!
//! It is a type parameter of the algorithm. [`NoReachedSet`] stores nothing and costs nothing. [`StatelessArg`] stores the
//! ARG without its states. [`Arg`](crate::analysis::reached::graph::Arg) stores everything that refinement needs. The
//! first two do not affect the exploration.

pub mod graph;

use crate::analysis::{Coverer, Cpa, Stop};
use crate::semantics::control::{CallStacks, Control};
use cfa::{EdgeId, LocId};
use graph::{ArgNode, Status};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The arrival of a state at a head.
#[derive(Clone, Copy)]
pub struct Arrival<Id> {
    /// The position of the head.
    pub at: Control,
    /// The last node on the path.
    pub node: Id,
    /// The last edge; after a return, the call edge.
    pub edge: EdgeId,
    /// True if states were merged since that node.
    pub merged: bool,
}

/// A state after precision adjustment, with its node; `None` if it need not be explored.
pub type Adjusted<S, N> = Result<Option<(S, N)>, Stop>;

/// A reached set.
pub trait Reached<C: Cpa> {
    /// A node of the ARG.
    type Node: Copy + Eq + Hash;
    /// True if the reached set records the edges between nodes.
    const PATHS: bool;
    /// True if states are abstract. Paths to errors then have to be checked, and operations may be undecided.
    const ABSTRACT: bool;

    /// Adds the initial state.
    fn root(&mut self, state: &C::State, at: Control) -> Self::Node;

    /// Adds a waiting state at `at`, below `node` after the edges `via`. Takes the edges.
    fn waits(&mut self, node: Self::Node, at: Control, via: &mut Vec<EdgeId>) -> Self::Node;

    /// Adjusts the precision of a state that arrives at a head. Returns the state and its node.
    fn adjust(
        &mut self,
        cpa: &mut C,
        stacks: &mut CallStacks,
        state: C::State,
        from: Arrival<Self::Node>,
        via: &mut Vec<EdgeId>,
        more: &mut Vec<C::State>,
    ) -> Adjusted<C::State, Self::Node>;

    /// True if an earlier state covers the state of a node at a head.
    fn stop(&mut self, cpa: &mut C, node: Self::Node, state: &C::State, at: Control) -> Result<bool, Stop>;

    /// Called before a state is explored. Returns `false` if its node was removed or covered in the meantime.
    fn follow(&mut self, _node: Self::Node) -> bool {
        true
    }
    /// True if a node was not removed.
    fn is_alive(&self, _node: Self::Node) -> bool {
        true
    }
    /// A copy of the state, for the case that the next operation is undecided.
    fn copy(&self, _state: &C::State) -> Option<C::State> {
        None
    }
    /// Records that the state of `other` was merged into that of `node`.
    fn merge(&mut self, _node: Self::Node, _other: Self::Node) {}
    /// Records that an error is reached after `via`.
    fn target(&mut self, _node: Self::Node, _via: &[EdgeId]) {}
    /// True if the error or undecided operation at `edge` needs no further check in the block of this node.
    fn is_closed(&self, _node: Self::Node, _edge: EdgeId) -> bool {
        false
    }
    /// The edges from the start to a node, if edges are recorded and paths are not merged.
    fn path(&self, node: Self::Node) -> Option<Vec<EdgeId>> {
        let (mut line, mut at) = (Vec::new(), Some(node));
        while let Some(n) = at {
            let (parent, via) = self.step(n)?;
            line.push(via);
            at = parent;
        }
        line.reverse();
        Some(line.concat())
    }
    /// The predecessor of a node and the edges between them, if edges are recorded and no paths were merged into the
    /// node.
    fn step(&self, _node: Self::Node) -> Option<(Option<Self::Node>, &[EdgeId])> {
        None
    }
    /// If a node represents all paths from its predecessor, the predecessor and the location of the node.
    fn block(&self, _node: Self::Node) -> Option<(Option<Self::Node>, LocId)> {
        None
    }
    /// The covered nodes, each with its covering node if known.
    fn covered(&self) -> Vec<(Self::Node, Option<Self::Node>)> {
        Vec::new()
    }
    /// Nodes whose states may cover further states, if covering was effective and paths to the nodes are recorded. If
    /// loop heads account for a fair share of the coverings, only nodes at loop heads are returned.
    fn covers_more(&self, _is_loop: &dyn Fn(LocId) -> bool) -> Vec<Self::Node> {
        Vec::new()
    }
    /// The ARG, if recorded.
    fn shape(&self) -> Vec<ArgNode> {
        Vec::new()
    }
}

/// A reached set that stores nothing.
pub struct NoReachedSet;

impl<C: Cpa> Reached<C> for NoReachedSet {
    type Node = ();
    const PATHS: bool = false;
    const ABSTRACT: bool = false;

    fn root(&mut self, _: &C::State, _: Control) {}
    fn waits(&mut self, (): (), _: Control, _: &mut Vec<EdgeId>) {}
    fn adjust(
        &mut self,
        cpa: &mut C,
        _: &mut CallStacks,
        state: C::State,
        from: Arrival<()>,
        _: &mut Vec<EdgeId>,
        more: &mut Vec<C::State>,
    ) -> Adjusted<C::State, ()> {
        Ok(cpa.adjust(state, from.edge, from.at, more)?.map(|state| (state, ())))
    }
    fn stop(&mut self, cpa: &mut C, (): (), state: &C::State, at: Control) -> Result<bool, Stop> {
        Ok(cpa.stop(state, at)?.is_some())
    }
}

/// A location counts as effective if it covers at least one in this number of covered states.
const RARE: usize = 16;
/// The node of all states beyond the limit.
const BEYOND: u32 = u32::MAX;

/// A reached set that stores the ARG without states, for export and for the paths of the frontier.
pub struct StatelessArg {
    /// Maximum number of nodes. Nothing is recorded of further ones.
    most: usize,
    nodes: Vec<ArgNode>,
    /// The edges from the predecessor of each node.
    via: Vec<Box<[EdgeId]>>,
    /// The node of each call of `stop`.
    stops: Vec<u32>,
    /// The covered nodes, each with its covering node if known.
    covered: Vec<(u32, Option<u32>)>,
}

impl Default for StatelessArg {
    fn default() -> Self {
        Self::of_most(BEYOND as usize)
    }
}

impl StatelessArg {
    /// Records at most `most` nodes.
    pub fn of_most(most: usize) -> Self {
        Self { most, nodes: Vec::new(), via: Vec::new(), stops: Vec::new(), covered: Vec::new() }
    }

    fn add(&mut self, parent: Option<u32>, at: Option<LocId>, status: Status, via: Box<[EdgeId]>) -> u32 {
        if self.nodes.len() >= self.most {
            return BEYOND;
        }
        self.nodes.push(ArgNode { parent, at, status, merged: false, edges: via.len() as u32 });
        self.via.push(via);
        self.nodes.len() as u32 - 1
    }

    fn becomes(&mut self, node: u32, status: Status) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.status = status;
        }
    }
}

impl<C: Cpa> Reached<C> for StatelessArg {
    type Node = u32;
    const PATHS: bool = true;
    const ABSTRACT: bool = false;

    fn root(&mut self, _: &C::State, at: Control) -> u32 {
        self.add(None, Some(at.loc), Status::Waiting, Box::default())
    }
    fn waits(&mut self, node: u32, at: Control, via: &mut Vec<EdgeId>) -> u32 {
        self.add(Some(node), Some(at.loc), Status::Waiting, std::mem::take(via).into())
    }
    fn adjust(
        &mut self,
        cpa: &mut C,
        _: &mut CallStacks,
        state: C::State,
        from: Arrival<u32>,
        via: &mut Vec<EdgeId>,
        more: &mut Vec<C::State>,
    ) -> Adjusted<C::State, u32> {
        let Some(state) = cpa.adjust(state, from.edge, from.at, more)? else { return Ok(None) };
        Ok(Some((state, self.add(Some(from.node), Some(from.at.loc), Status::Waiting, std::mem::take(via).into()))))
    }
    fn stop(&mut self, cpa: &mut C, node: u32, state: &C::State, at: Control) -> Result<bool, Stop> {
        self.stops.push(node);
        let coverer = cpa.stop(state, at)?;
        self.becomes(node, if coverer.is_some() { Status::Covered } else { Status::Expanded });
        if let Some(coverer) = coverer.filter(|_| node != BEYOND) {
            let by = match coverer {
                Coverer::OfCall(call) => self.stops.get(call).copied(),
                Coverer::Unknown => None,
            };
            self.covered.push((node, by));
        }
        Ok(coverer.is_some())
    }
    fn follow(&mut self, node: u32) -> bool {
        self.becomes(node, Status::Expanded);
        true
    }
    fn merge(&mut self, node: u32, other: u32) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.merged = true;
        }
        self.becomes(other, Status::Pruned);
    }
    fn target(&mut self, node: u32, via: &[EdgeId]) {
        self.add(Some(node), None, Status::Target, via.into());
    }
    fn step(&self, node: u32) -> Option<(Option<u32>, &[EdgeId])> {
        let ArgNode { merged, parent, .. } = *self.nodes.get(node as usize)?;
        (!merged).then(|| (parent, &*self.via[node as usize]))
    }
    fn covers_more(&self, is_loop: &dyn Fn(LocId) -> bool) -> Vec<u32> {
        let at = |node: u32| self.nodes.get(node as usize).and_then(|shape| shape.at);
        let mut hits: FxHashMap<LocId, usize> = FxHashMap::default();
        for by in self.covered.iter().filter_map(|(_, by)| at((*by)?)) {
            *hits.entry(by).or_default() += 1;
        }
        // A state that is not covered at other locations is covered at the next loop head.
        let of_loops: usize = hits.iter().filter(|(at, _)| is_loop(**at)).map(|(_, n)| n).sum();
        match of_loops * RARE >= self.covered.len() {
            true => hits.retain(|at, _| is_loop(*at)),
            // Revisiting a location that covers almost nothing costs more than it saves.
            false => hits.retain(|_, n| *n * RARE >= self.covered.len()),
        }
        let is_one = |&node: &u32| {
            let shape = self.nodes.get(node as usize);
            shape.is_some_and(|s| s.status == Status::Expanded && s.at.is_some_and(|at| hits.contains_key(&at)))
        };
        self.stops.iter().copied().filter(is_one).collect()
    }
    fn covered(&self) -> Vec<(u32, Option<u32>)> {
        self.covered.clone()
    }
    fn shape(&self) -> Vec<ArgNode> {
        graph::without_pruned(self.nodes.iter().copied())
    }
}
