//! The waiting states: the waitlist, and the queue of states to be merged.

use super::*;

/// The merge at a location ends after this number of states that could not be merged.
const MERGE_FAILURES: usize = 6;
/// Number of finished paths before states are given to other threads.
const PATHS_BEFORE_GIVING: u64 = 16;
/// States are given away only if at most one in this number of paths ended by coverage.
const FEW_COVERED: u64 = 16;
/// Largest number of states given away at once.
const MOST_GIVEN: usize = 64;

/// The states that wait for a merge.
pub(super) struct Joining<T> {
    pub(super) queue: JoinQueue<T>,
    pub(super) order: JoinOrder,
    /// States within a block that no other state can join.
    pub(super) pending: Vec<T>,
}

impl<C: Cpa, R: Reached<C>> CpaAlgorithm<'_, C, R> {
    /// Adds a state to the waiting ones, at the start of a block (`starts`) or within one.
    pub(super) fn push(&mut self, node: Waiting<C, R>, starts: bool) {
        self.counters.nodes += 1;
        self.enqueue(node, starts);
        self.counters.waiting = self.counters.waiting.max(self.waiting() as u64);
    }

    pub(super) fn enqueue(&mut self, node: Waiting<C, R>, starts: bool) {
        if self.joining.is_none() && self.cpa.earlier_progress(&node.state) != EarlierProgress::Nothing {
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

    /// Number of states that may be given to other threads. It is 0 if states cover one another: threads do not share
    /// coverage, so both would explore the same paths.
    pub(super) fn spare(&self) -> usize {
        let Counters { paths, covered, .. } = self.counters;
        let is_tree = paths >= PATHS_BEFORE_GIVING && covered * FEW_COVERED <= paths;
        if is_tree { self.waitlist.len() } else { 0 }
    }

    /// Moves every other waiting state to the work queue, starting with those closest to the root. A single state may
    /// have few continuations, and the receiver has to replay its path from the root.
    pub(super) fn give(&mut self) {
        let Some(work_queue) = &self.work_queue else { return };
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
        work_queue.give(paths);
    }

    /// Returns an unexplored state to the waiting ones.
    pub(super) fn requeue(&mut self, node: Waiting<C, R>) {
        self.enqueue(node, false);
    }

    /// Takes the next state. A state that waits for a merge is taken after all states that may still reach its
    /// location.
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

    /// Merges the states at one location. States that cannot be merged wait again.
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

    /// Drops the waiting states of the current block.
    pub(in crate::algorithm) fn end_block(&mut self) {
        if let Some(joining) = &mut self.joining {
            joining.queue = JoinQueue::new();
            joining.pending.clear();
        }
    }

    /// Drops the states whose nodes were removed.
    pub(in crate::algorithm) fn drop_pruned(&mut self) {
        let reached = &self.reached;
        self.waitlist.retain(|node| reached.is_alive(node.node));
    }

    /// Adds a head with its state to the waiting states again.
    pub(in crate::algorithm) fn again(&mut self, state: C::State, at: Control, node: R::Node) {
        self.enqueue(Node { state, at, node, forks: 0, iterations: 0, may_stop: true, merged: false }, true);
    }

    /// Adds the state before the operation of a target to the waiting states again.
    pub(in crate::algorithm) fn retry(&mut self, hit: HitOf<C, R>) {
        let Hit { state, before, at, mut via, node, merged, .. } = hit;
        let (state, node) = (before.unwrap_or(state), self.reached.waits(node, at, &mut via));
        self.enqueue(Node { state, at, node, forks: 0, iterations: 0, may_stop: false, merged }, false);
    }
}
