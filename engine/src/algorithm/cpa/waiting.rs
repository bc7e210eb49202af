//! What waits: in the order of the search, or to be merged.

use super::*;

/// States that could not be merged into one before no more are tried.
const MERGE_FAILURES: usize = 6;
/// Paths that end before a state is given away.
const PATHS_BEFORE_GIVING: u64 = 16;
/// A state is given away where at most one path in so many ended because another state covered its own.
const FEW_COVERED: u64 = 16;
/// States that are given away at a time.
const MOST_GIVEN: usize = 64;

/// States that wait to be merged.
pub(super) struct Joining<T> {
    pub(super) queue: JoinQueue<T>,
    pub(super) order: JoinOrder,
    /// Of a block: those that no other can join.
    pub(super) pending: Vec<T>,
}

impl<C: Cpa, R: Reached<C>> CpaAlgorithm<'_, C, R> {
    /// A state begins to wait, at the start of a block or within one.
    pub(super) fn push(&mut self, node: Waiting<C, R>, starts: bool) {
        self.counters.nodes += 1;
        self.enqueue(node, starts);
        self.counters.waiting = self.counters.waiting.max(self.waiting() as u64);
    }

    pub(super) fn enqueue(&mut self, node: Waiting<C, R>, starts: bool) {
        if self.joining.is_none() && self.cpa.before(&node.state) != Before::Nothing {
            self.left += part(node.forks);
            return self.before.push(node);
        }
        let joining = match (&mut self.joining, &self.parameters.merge) {
            (Some(joining), Merge::AtHeads) => joining,
            (Some(joining), Merge::InBlocks(_)) if !starts => joining,
            _ => {
                let visits = &mut self.visits[node.at.loc.index()];
                *visits += 1;
                let distance = self.distances.get(node.at.loc.index()).copied().unwrap_or(0);
                let rank = Rank { forks: node.forks, visits: *visits, distance };
                self.left += part(node.forks);
                return self.waitlist.push(node, rank);
            }
        };
        if let Merge::InBlocks(joins) = &self.parameters.merge
            && !joins[node.at.loc.index()]
        {
            return joining.pending.push(node);
        }
        let key = joining.order.key(self.program, &self.stacks, node.at, node.iterations);
        joining.queue.push(key, node);
    }

    /// States of which one may be given away. Where states cover one another there are none: those of one thread cover nothing of another's, and
    /// both would explore what one does.
    pub(super) fn spare(&self) -> usize {
        let Counters { paths, covered, .. } = self.counters;
        let is_tree = paths >= PATHS_BEFORE_GIVING && covered * FEW_COVERED <= paths;
        if is_tree { self.waitlist.len() } else { 0 }
    }

    /// Leaves every other state that waits to others, from the one closest to the root on: of a single one little may follow, and who takes it
    /// begins anew at the root.
    pub(super) fn give(&mut self) {
        let Some(desk) = &self.desk else { return };
        if self.waitlist.len() < 2 {
            return;
        }
        let mut waiting: Vec<(u32, R::Node)> = self.waitlist.iter().map(|n| (n.forks, n.node)).collect();
        waiting.sort_by_key(|(forks, _)| *forks);
        let given: Vec<R::Node> = waiting.into_iter().step_by(2).map(|(_, node)| node).take(MOST_GIVEN).collect();
        let Some(paths) = given.iter().map(|&node| self.reached.path(node)).collect() else { return };
        let left = &mut self.left;
        self.waitlist.retain(|n| {
            let stays = !given.contains(&n.node);
            *left -= if stays { 0.0 } else { part(n.forks) };
            stays
        });
        desk.give(paths);
    }

    /// A state that was not followed waits again.
    pub(super) fn requeue(&mut self, node: Waiting<C, R>) {
        self.enqueue(node, false);
    }

    /// The next state to follow. What waits to be merged does so until all else has come to its place or past it.
    pub(super) fn dequeue(&mut self) -> Option<Waiting<C, R>> {
        if let Some(joining) = &mut self.joining {
            if let Some(node) = joining.pending.pop() {
                return Some(node);
            }
            if let Some((key, nodes)) = joining.queue.pop() {
                return Some(self.merged(&key, nodes));
            }
        }
        let node = self.before.pop().or_else(|| self.waitlist.pop());
        self.left -= node.as_ref().map_or(0.0, |n| part(n.forks));
        node
    }

    /// States that wait at the same place are merged, those that cannot be wait on.
    pub(super) fn merged(&mut self, key: &JoinKey, mut nodes: Vec<Waiting<C, R>>) -> Waiting<C, R> {
        let mut next = nodes.pop().expect("places with states only");
        let mut apart = Vec::new();
        for mut node in nodes {
            if node.at != next.at || apart.len() >= MERGE_FAILURES {
                apart.push(node);
                continue;
            }
            match self.cpa.merge(next.state, node.state, next.at) {
                Ok(state) => {
                    self.counters.merged += 1;
                    self.reached.merge(next.node, node.node);
                    next.state = state;
                    next.forks = next.forks.max(node.forks);
                    next.merged = true;
                }
                Err(pair) => {
                    (next.state, node.state) = *pair;
                    apart.push(node);
                }
            }
        }
        let joining = self.joining.as_mut().expect("where states are merged");
        for node in apart {
            joining.queue.push(key.clone(), node);
        }
        next
    }

    /// Drops what waits within a block that begins anew.
    pub(in crate::algorithm) fn end_block(&mut self) {
        if let Some(joining) = &mut self.joining {
            joining.queue = JoinQueue::new();
            joining.pending.clear();
        }
    }

    /// Drops what was cut off.
    pub(in crate::algorithm) fn drop_pruned(&mut self) {
        let reached = &self.reached;
        self.waitlist.retain(|node| reached.is_alive(node.node));
    }

    /// A head waits again, with its state.
    pub(in crate::algorithm) fn again(&mut self, state: C::State, at: Control, node: R::Node) {
        self.enqueue(Node { state, at, node, forks: 0, iterations: 0, may_stop: true, merged: false }, true);
    }

    /// The state of a hit waits again, before the operation in question.
    pub(in crate::algorithm) fn retry(&mut self, hit: HitOf<C, R>) {
        let Hit { state, before, at, mut via, node, merged, .. } = hit;
        let (state, node) = (before.unwrap_or(state), self.reached.waits(node, at, &mut via));
        self.enqueue(Node { state, at, node, forks: 0, iterations: 0, may_stop: false, merged }, false);
    }
}
