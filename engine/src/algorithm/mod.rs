//! The algorithms: the CPA algorithm, and what wraps it.

pub mod cegar;
pub mod cpa;

use cfa::{EdgeId, ErrorId};

/// How an exploration ended.
pub enum Exploration<E> {
    /// Every state was explored; no error was reached.
    Complete,
    /// An error was reached. Exploration may be continued.
    Target { error: ErrorId, edge: EdgeId, evidence: E },
}

/// Counters of a run.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counters {
    /// Edges followed, assume edges and calls included.
    pub edges: u64,
    /// Paths that ended: at a halt, in an invalid operation, at a bound, or covered.
    pub paths: u64,
    /// Branches of which both sides were feasible.
    pub forks: u64,
    /// States found covered.
    pub covered: u64,
    /// States merged into another.
    pub merged: u64,
    /// States that waited.
    pub nodes: u64,
    /// Refinements of the precision.
    pub refinements: u64,
    /// Largest size of the waitlist.
    pub waiting: u64,
}

impl Counters {
    /// Adds those of another exploration; maxima are kept.
    pub fn add(&mut self, other: &Self) {
        self.edges += other.edges;
        self.paths += other.paths;
        self.forks += other.forks;
        self.covered += other.covered;
        self.merged += other.merged;
        self.nodes += other.nodes;
        self.refinements += other.refinements;
        self.waiting = self.waiting.max(other.waiting);
    }

    /// What was counted after `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            edges: self.edges - before.edges,
            paths: self.paths - before.paths,
            forks: self.forks - before.forks,
            covered: self.covered - before.covered,
            merged: self.merged - before.merged,
            nodes: self.nodes - before.nodes,
            refinements: self.refinements - before.refinements,
            waiting: self.waiting,
        }
    }
}
