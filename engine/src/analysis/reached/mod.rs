//! What the CPA algorithm keeps of the states that it has reached.
//!
//! It is a type parameter of the algorithm: [`Forgotten`] keeps nothing and costs nothing, [`Pictured`] keeps the shape of
//! the graph of states, [`Arg`](crate::analysis::reached::graph::Arg) all that refinement needs. None of the first two changes what is explored.

pub mod graph;

use crate::analysis::{Coverer, Cpa, Stop};
use crate::semantics::control::{CallStacks, Control};
use cfa::{EdgeId, LocId};
use graph::{Shape, Status};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// How a state arrived at a head.
#[derive(Clone, Copy)]
pub struct Arrival<Id> {
    /// The head.
    pub at: Control,
    /// The node last passed.
    pub node: Id,
    /// The last edge; the call's, where a function returned.
    pub edge: EdgeId,
    /// Whether since that node several states became one.
    pub merged: bool,
}

/// What has become of a state at a head: itself with its node, or nothing if it need not be followed.
pub type Adjusted<S, N> = Result<Option<(S, N)>, Stop>;

/// What is kept of the states reached.
pub trait Reached<C: Cpa> {
    /// A node of the graph of states.
    type Node: Copy + Eq + Hash;
    /// Whether the edges between nodes are asked for.
    const PATHS: bool;
    /// Whether states are abstract, so that a path to an error has to be checked, and problems are met.
    const ABSTRACT: bool;

    /// The first state.
    fn root(&mut self, state: &C::State, at: Control) -> Self::Node;

    /// A state that waits at `at`, below a node and behind the edges `via`, which are taken.
    fn waits(&mut self, node: Self::Node, at: Control, via: &mut Vec<EdgeId>) -> Self::Node;

    /// Adjusts the precision of a state that arrived at a head. Returns the state and its node.
    fn adjust(
        &mut self,
        cpa: &mut C,
        stacks: &mut CallStacks,
        state: C::State,
        from: Arrival<Self::Node>,
        via: &mut Vec<EdgeId>,
        more: &mut Vec<C::State>,
    ) -> Adjusted<C::State, Self::Node>;

    /// Whether the state of a node at a head need not be followed, since what was reached before covers it.
    fn stop(&mut self, cpa: &mut C, node: Self::Node, state: &C::State, at: Control) -> Result<bool, Stop>;

    /// The state of a node is about to be followed; `false` if it was cut off in the meantime.
    fn follow(&mut self, _node: Self::Node) -> bool {
        true
    }
    /// Whether a node is not cut off.
    fn is_alive(&self, _node: Self::Node) -> bool {
        true
    }
    /// The state as it is before an operation that may be a problem.
    fn copy(&self, _state: &C::State) -> Option<C::State> {
        None
    }
    /// The state of `other` is now part of that of `node`.
    fn merge(&mut self, _node: Self::Node, _other: Self::Node) {}
    /// An error is reached behind `via`.
    fn target(&mut self, _node: Self::Node, _via: &[EdgeId]) {}
    /// Whether it is known what becomes of the error or problem at `edge` in states of this block.
    fn is_settled(&self, _node: Self::Node, _edge: EdgeId) -> bool {
        false
    }
    /// The edges from the start to a node, if they are kept and paths are not merged.
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
    /// The parent of a node and the edges from there, if they are kept and paths are not merged into it.
    fn step(&self, _node: Self::Node) -> Option<(Option<Self::Node>, &[EdgeId])> {
        None
    }
    /// The node before this one and where it is, where a node stands for all ways between the two.
    fn block(&self, _node: Self::Node) -> Option<(Option<Self::Node>, LocId)> {
        None
    }
    /// The nodes that others cover, with those where they are known.
    fn covered(&self) -> Vec<(Self::Node, Option<Self::Node>)> {
        Vec::new()
    }
    /// The nodes whose states may cover others, where some did, as far as paths to them are kept: at the heads of loops, if what comes there is
    /// covered as a rule.
    fn covers_more(&self, _is_loop: &dyn Fn(LocId) -> bool) -> Vec<Self::Node> {
        Vec::new()
    }
    /// The graph, if it is kept.
    fn shape(&self) -> Vec<Shape> {
        Vec::new()
    }
}

/// Nothing is kept.
pub struct Forgotten;

impl<C: Cpa> Reached<C> for Forgotten {
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

/// Of so many covered states one or more has to be at a place for its states to be told.
const RARE: usize = 16;
/// The node of all states beyond those that are kept.
const BEYOND: u32 = u32::MAX;

/// The graph is kept without its states, for pictures and for the paths to what is left.
pub struct Pictured {
    /// States that are kept; of those beyond nothing is known.
    most: usize,
    nodes: Vec<Shape>,
    /// The edges from its parent to each node.
    via: Vec<Box<[EdgeId]>>,
    /// The node of each call of `stop`.
    stops: Vec<u32>,
    /// What others cover, and by which.
    covered: Vec<(u32, Option<u32>)>,
}

impl Default for Pictured {
    fn default() -> Self {
        Self::of_most(BEYOND as usize)
    }
}

impl Pictured {
    /// Of so many states, the first.
    pub fn of_most(most: usize) -> Self {
        Self { most, nodes: Vec::new(), via: Vec::new(), stops: Vec::new(), covered: Vec::new() }
    }

    fn add(&mut self, parent: Option<u32>, at: Option<LocId>, status: Status, via: Box<[EdgeId]>) -> u32 {
        if self.nodes.len() >= self.most {
            return BEYOND;
        }
        self.nodes.push(Shape { parent, at, status, merged: false, edges: via.len() as u32 });
        self.via.push(via);
        self.nodes.len() as u32 - 1
    }

    fn becomes(&mut self, node: u32, status: Status) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.status = status;
        }
    }
}

impl<C: Cpa> Reached<C> for Pictured {
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
        let Shape { merged, parent, .. } = *self.nodes.get(node as usize)?;
        (!merged).then(|| (parent, &*self.via[node as usize]))
    }
    fn covers_more(&self, is_loop: &dyn Fn(LocId) -> bool) -> Vec<u32> {
        let at = |node: u32| self.nodes.get(node as usize).and_then(|shape| shape.at);
        let mut hits: FxHashMap<LocId, usize> = FxHashMap::default();
        for by in self.covered.iter().filter_map(|(_, by)| at((*by)?)) {
            *hits.entry(by).or_default() += 1;
        }
        // What is not covered at once is when it comes around.
        let of_loops: usize = hits.iter().filter(|(at, _)| is_loop(**at)).map(|(_, n)| n).sum();
        match of_loops * RARE >= self.covered.len() {
            true => hits.retain(|at, _| is_loop(*at)),
            // Where next to nothing is covered, going there again costs more than it saves.
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
    fn shape(&self) -> Vec<Shape> {
        graph::without_pruned(self.nodes.iter().copied())
    }
}
