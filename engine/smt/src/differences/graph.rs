//! Difference constraints as a graph, with potentials that satisfy all of them.

use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// `to - from <= most`
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub from: u32,
    pub to: u32,
    pub most: i128,
    /// Who says so.
    pub constraint: u32,
    /// The choice under which that is so; none at level 0.
    pub level: u32,
}

#[derive(Debug)]
pub(super) enum Conflict {
    /// These contradict one another, under these choices.
    Because { constraints: FxHashSet<u32>, levels: FxHashSet<u32> },
    /// Too much was tried.
    Spent,
}

/// The node that stands for zero.
pub(super) const ZERO: u32 = 0;

pub(super) struct Graph {
    edges: Vec<Edge>,
    /// By node, the edges from it.
    out: Vec<Vec<u32>>,
    potentials: Vec<i128>,
    /// By node, the edge that last moved it.
    moved_by: Vec<u32>,
    /// What may still be tried.
    steps: u64,
}

impl Graph {
    pub fn new(nodes: usize, steps: u64) -> Self {
        Self {
            edges: Vec::new(),
            out: vec![Vec::new(); nodes],
            potentials: vec![0; nodes],
            moved_by: vec![0; nodes],
            steps,
        }
    }

    pub fn len(&self) -> usize {
        self.edges.len()
    }

    pub fn value(&self, node: u32) -> i128 {
        self.potentials[node as usize] - self.potentials[ZERO as usize]
    }

    /// Only the first so many are left. The potentials satisfy these, too.
    pub fn truncate(&mut self, edges: usize) {
        for edge in self.edges.drain(edges..).rev() {
            self.out[edge.from as usize].pop();
        }
    }

    /// Counts what is done.
    pub fn charge(&mut self, steps: u64) -> Result<(), Conflict> {
        self.steps = self.steps.checked_sub(steps).ok_or(Conflict::Spent)?;
        Ok(())
    }

    /// Adds an edge, and lowers what it moves. Where that comes back to the edge, there is a negative cycle, and nothing has changed.
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

    /// Those on the cycle that an edge closes, back from where it starts.
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
