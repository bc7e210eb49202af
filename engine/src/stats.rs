//! Counters of a run.

use crate::analysis::capability::Statistics;
use std::time::Duration;

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

/// Counters of a run, for progress displays and statistics.
#[derive(Clone, Copy, Default, Debug)]
pub struct Stats {
    pub exploration: Counters,
    /// States waiting at this moment.
    pub waiting_now: u64,
    pub terms: u64,
    pub queries: u64,
    pub solver_calls: u64,
    pub solver_time: Duration,
    pub replays: u64,
    /// Values and constraints tracked in the end.
    pub precision: u64,
    pub time: Duration,
}

impl Stats {
    /// Adds what an exploration did, and its domain.
    pub(crate) fn add(&mut self, counters: &Counters, waiting: usize, domain: &Statistics) {
        self.exploration.add(counters);
        self.waiting_now += waiting as u64;
        self.terms += domain.terms;
        self.queries += domain.queries;
        self.solver_calls += domain.solver_calls;
        self.solver_time += domain.solver_time;
        self.precision += domain.tracked;
    }

    /// The statistics of an exploration so far.
    pub(crate) fn new(counters: &Counters, domain: &Statistics) -> Self {
        let mut stats = Self::default();
        stats.add(counters, 0, domain);
        stats
    }

    /// Adds what was done from `before` to `after`.
    pub(crate) fn advance(&mut self, before: &Self, after: &Self) {
        self.exploration.add(&after.exploration.since(&before.exploration));
        self.terms += after.terms.saturating_sub(before.terms);
        self.precision += after.precision.saturating_sub(before.precision);
        self.queries += after.queries - before.queries;
        self.solver_calls += after.solver_calls - before.solver_calls;
        self.solver_time += after.solver_time - before.solver_time;
    }

    /// Adds what another thread did in the same time.
    pub fn join(&mut self, other: &Self) {
        self.exploration.add(&other.exploration);
        self.waiting_now += other.waiting_now;
        self.terms += other.terms;
        self.queries += other.queries;
        self.solver_calls += other.solver_calls;
        self.solver_time += other.solver_time;
        self.replays += other.replays;
        self.precision += other.precision;
        self.time = self.time.max(other.time);
    }

    /// Names and values, in a fixed order; times in seconds.
    pub fn entries(&self) -> Vec<(&'static str, f64)> {
        let c = &self.exploration;
        vec![
            ("edges", c.edges as f64),
            ("paths", c.paths as f64),
            ("forks", c.forks as f64),
            ("covered", c.covered as f64),
            ("merged", c.merged as f64),
            ("nodes", c.nodes as f64),
            ("waiting", self.waiting_now as f64),
            ("waiting_max", c.waiting as f64),
            ("terms", self.terms as f64),
            ("queries", self.queries as f64),
            ("solver_calls", self.solver_calls as f64),
            ("solver_seconds", self.solver_time.as_secs_f64()),
            ("replays", self.replays as f64),
            ("refinements", c.refinements as f64),
            ("precision", self.precision as f64),
            ("seconds", self.time.as_secs_f64()),
        ]
    }
}
