//! Difference constraints as a graph, with potentials that satisfy all of them.

use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// The constraint `to - from <= most`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The node that is subtracted.
    pub from: u32,
    /// The node that it is subtracted from.
    pub to: u32,
    /// The upper bound of the difference.
    pub most: i128,
    /// The index of the constraint that implies it.
    pub constraint: u32,
    /// The decision level that it depends on; 0 if it depends on no decision.
    pub level: u32,
}

/// The reason why an edge cannot be added.
#[derive(Debug)]
pub(super) enum Conflict {
    /// These constraints contradict one another under the decisions at these levels.
    Because { constraints: FxHashSet<u32>, levels: FxHashSet<u32> },
    /// The limit on steps was exceeded.
    Spent,
}

/// The node of the constant zero.
pub(super) const ZERO: u32 = 0;

/// The graph, with a potential for each node.
pub(super) struct Graph {
    edges: Vec<Edge>,
    /// By node, the outgoing edges.
    out: Vec<Vec<u32>>,
    potentials: Vec<i128>,
    /// By node, the edge that last lowered its potential.
    moved_by: Vec<u32>,
    /// The number of remaining steps.
    steps: u64,
}

impl Graph {
    /// A graph without edges.
    pub fn new(nodes: usize, steps: u64) -> Self {
        Self {
            edges: Vec::new(),
            out: vec![Vec::new(); nodes],
            potentials: vec![0; nodes],
            moved_by: vec![0; nodes],
            steps,
        }
    }

    /// The number of edges.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// The value of a node relative to [`ZERO`].
    pub fn value(&self, node: u32) -> i128 {
        self.potentials[node as usize] - self.potentials[ZERO as usize]
    }

    /// Removes all but the first `edges` edges. The potentials still satisfy these.
    pub fn truncate(&mut self, edges: usize) {
        for edge in self.edges.drain(edges..).rev() {
            self.out[edge.from as usize].pop();
        }
    }

    /// Counts `steps`. Fails if the limit is exceeded.
    pub fn charge(&mut self, steps: u64) -> Result<(), Conflict> {
        self.steps = self.steps.checked_sub(steps).ok_or(Conflict::Spent)?;
        Ok(())
    }

    /// Adds an edge and lowers the potentials that violate it. If that reaches the edge again, there is a negative
    /// cycle, and the graph stays unchanged.
    pub fn add(&mut self, edge: Edge) -> Result<(), Conflict> {
        let number = self.edges.len() as u32;
        self.edges.push(edge);
        self.out[edge.from as usize].push(number);
        let mut before: Vec<(u32, i128)> = Vec::new();
        let mut queue = VecDeque::from([number]);
        while let Some(next) = queue.pop_front() {
            let Edge { from, to, most, .. } = self.edges[next as usize];
            let lowered = self.potentials[from as usize] + most;
            if self.potentials[to as usize] <= lowered {
                continue;
            }
            let spent = self.charge(1 + self.out[to as usize].len() as u64).is_err();
            before.push((to, self.potentials[to as usize]));
            self.potentials[to as usize] = lowered;
            self.moved_by[to as usize] = next;
            if spent || to == edge.from {
                let conflict = if spent { Conflict::Spent } else { self.cycle(edge) };
                before.into_iter().rev().for_each(|(node, value)| self.potentials[node as usize] = value);
                self.truncate(number as usize);
                return Err(conflict);
            }
            queue.extend(&self.out[to as usize]);
        }
        Ok(())
    }

    /// The conflict of the edges on the cycle that `edge` closes. Follows the edges backwards from its source.
    fn cycle(&self, edge: Edge) -> Conflict {
        let (mut constraints, mut levels) = (FxHashSet::default(), FxHashSet::default());
        let mut node = edge.from;
        loop {
            let by = self.edges[self.moved_by[node as usize] as usize];
            constraints.insert(by.constraint);
            levels.insert(by.level);
            node = by.from;
            if node == edge.from {
                return Conflict::Because { constraints, levels };
            }
        }
    }
}
