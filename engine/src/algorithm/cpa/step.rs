//! One step of the exploration: from a waiting state to its waiting successors.

use super::*;

/// Largest number of edges in one step. Then the state returns to the waitlist, for fairness.
const BLOCK: u32 = 50_000;
/// Number of edges between checks of the budget. A branch on a long path takes a millisecond.
const TICK: u32 = 64;

impl<C: Cpa, R: Reached<C>> CpaAlgorithm<'_, C, R> {
    /// Explores a state up to the next fork, or to where it waits for a merge.
    pub(super) fn step(
        &mut self,
        waiting: Waiting<C, R>,
        budget: &Budget,
        taints: &mut Taints,
    ) -> Result<Option<HitOf<C, R>>, Stop> {
        let Node { mut state, mut at, mut node, forks, mut iterations, may_stop, mut merged } = waiting;
        if !self.reached.follow(node) || may_stop && self.covered(node, &state, at)? {
            return Ok(None);
        }
        let mut via: Vec<EdgeId> = Vec::new();
        let mut steps = 0;
        loop {
            self.tick += 1;
            let ran_out = self.cpa.ran_out();
            if self.tick >= TICK || ran_out {
                self.tick = 0;
                if let Some(spent) = budget.spent().or(ran_out.then_some(Spent::Time)) {
                    let node = self.reached.waits(node, at, &mut via);
                    self.push(Node { state, at, node, forks, iterations, may_stop: false, merged }, false);
                    return Err(Stop::Spent(spent));
                }
            }
            steps += 1;
            self.counters.edges += 1;
            if R::PATHS
                && let Some(visited) = self.visited.get_mut(at.loc.index())
            {
                *visited = true;
            }
            let way = match self.successors(state, at, node, taints)? {
                Next::One(way) => way,
                Next::Ways => {
                    self.counters.paths += u64::from(self.ways.is_empty());
                    self.fork((node, merged), &via, forks, iterations)?;
                    return Ok(None);
                }
                Next::Hit { goal, state, before, evidence } => {
                    self.fork((node, merged), &via, forks, iterations)?;
                    return Ok(Some(Hit { goal, state, before, at, node, via, merged, evidence }));
                }
                Next::Later(state) => {
                    self.fork((node, merged), &via, forks, iterations)?;
                    let node = self.reached.waits(node, at, &mut via);
                    self.push(Node { state, at, node, forks, iterations, may_stop: false, merged }, false);
                    return Err(Stop::Spent(Spent::Time));
                }
            };
            (state, at) = (way.state, way.at);
            let mut waits = steps >= BLOCK;
            if way.moved {
                if R::PATHS {
                    via.push(way.edge);
                }
                let is_head = self.parameters.heads[at.loc.index()];
                if is_head {
                    match self.come_to_head(state, Arrival { at, node, edge: way.over, merged }, &mut via)? {
                        Some(adjusted) => (state, node, merged) = (adjusted.0, adjusted.1, false),
                        None => return Ok(None),
                    }
                    iterations += self.iterations(way.over, at);
                }
                match &self.parameters.merge {
                    Merge::InBlocks(_) if is_head => {
                        self.push(Node { state, at, node, forks, iterations: 0, may_stop: true, merged }, true);
                        return Ok(None);
                    }
                    Merge::InBlocks(joins) => waits |= joins[at.loc.index()],
                    Merge::AtHeads => waits |= is_head,
                    Merge::Never => {}
                }
                // If states are merged, covered states are excluded from the merge.
                if is_head && self.covered(node, &state, at)? {
                    return Ok(None);
                }
            }
            if waits {
                let node = self.reached.waits(node, at, &mut via);
                self.push(Node { state, at, node, forks, iterations, may_stop: false, merged }, false);
                return Ok(None);
            }
        }
    }

    /// Adds the successors of a fork to the waitlist. `from` is the last node, and whether states were merged since.
    pub(super) fn fork(
        &mut self,
        from: (R::Node, bool),
        via: &[EdgeId],
        forks: u32,
        iterations: u32,
    ) -> Result<(), Stop> {
        let mut ways = std::mem::take(&mut self.ways);
        self.counters.forks += ways.len().saturating_sub(1) as u64;
        for way in ways.drain(..) {
            self.wait(way, from, via, forks + 1, iterations)?;
        }
        self.ways = ways;
        Ok(())
    }

    /// Adds one successor to the waitlist.
    pub(super) fn wait(
        &mut self,
        way: Successor<C::State>,
        (node, merged): (R::Node, bool),
        via: &[EdgeId],
        forks: u32,
        iterations: u32,
    ) -> Result<(), Stop> {
        let Successor { state, at, edge, over, moved } = way;
        let mut path = Vec::new();
        if R::PATHS {
            path.extend_from_slice(via);
            path.extend(moved.then_some(edge));
        }
        if !moved || !self.parameters.heads[at.loc.index()] {
            let node = self.reached.waits(node, at, &mut path);
            self.push(Node { state, at, node, forks, iterations, may_stop: false, merged }, false);
            return Ok(());
        }
        let Some((state, node)) = self.come_to_head(state, Arrival { at, node, edge: over, merged }, &mut path)? else {
            return Ok(());
        };
        let merges = matches!(self.parameters.merge, Merge::AtHeads);
        if merges && self.covered(node, &state, at)? {
            return Ok(());
        }
        let iterations = iterations + self.iterations(over, at);
        self.push(Node { state, at, node, forks, iterations, may_stop: !merges, merged: false }, true);
        Ok(())
    }

    /// 1 if the transition over `edge` to `to` starts another iteration of a loop or a recursion, if iterations count.
    pub(super) fn iterations(&self, edge: EdgeId, to: Control) -> u32 {
        let (Some(joining), Merge::AtHeads) = (&self.joining, &self.parameters.merge) else { return 0 };
        if !self.cpa.counts_iterations() {
            return 0;
        }
        let edge = &self.program.edges[edge];
        if !matches!(edge.op, Op::Call { .. }) {
            return u32::from(joining.order.number(to.loc) <= joining.order.number(edge.source));
        }
        u32::from(self.is_called(to.stack, self.program.locs[to.loc].func))
    }

    /// True if `func` is active below the top of the stack.
    pub(super) fn is_called(&self, mut stack: crate::semantics::control::StackId, func: FuncId) -> bool {
        while let Some((below, call)) = self.stacks.pop(stack) {
            if self.program.func_of(call) == func {
                return true;
            }
            stack = below;
        }
        false
    }

    /// Adjusts the precision of a state that arrives at a head.
    pub(super) fn come_to_head(
        &mut self,
        state: C::State,
        from: Arrival<R::Node>,
        via: &mut Vec<EdgeId>,
    ) -> Adjusted<C::State, R::Node> {
        let mut more = Vec::new();
        let adjusted = self.reached.adjust(&mut self.cpa, &mut self.stacks, state, from, via, &mut more)?;
        if R::ABSTRACT && self.cpa.ran_out() {
            // The adjustment is incomplete if time ran out.
            self.lost = Some(from.node);
            return Err(Stop::Spent(Spent::Time));
        }
        for state in more {
            let node = self.reached.waits(from.node, from.at, &mut Vec::new());
            self.push(Node { state, at: from.at, node, forks: 0, iterations: 0, may_stop: false, merged: false }, true);
        }
        self.counters.paths += u64::from(adjusted.is_none());
        Ok(adjusted)
    }

    /// True if an earlier state covers the state at this head. Updates the counters.
    pub(super) fn covered(&mut self, node: R::Node, state: &C::State, at: Control) -> Result<bool, Stop> {
        let covered = self.parameters.covers && self.reached.stop(&mut self.cpa, node, state, at)?;
        self.counters.covered += u64::from(covered);
        self.counters.paths += u64::from(covered);
        Ok(covered)
    }
}
