//! Counters of a run.

use crate::analysis::capability::Statistics;
use std::time::Duration;

/// Counters of a run.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counters {
    /// Edges executed, including assume edges and calls.
    pub edges: u64,
    /// Paths that ended: at a halt, in an invalid operation, at a bound, or covered.
    pub paths: u64,
    /// Branches with two feasible sides.
    pub forks: u64,
    /// States found covered.
    pub covered: u64,
    /// States merged into others.
    pub merged: u64,
    /// States that were in the waitlist.
    pub nodes: u64,
    /// Refinements of the precision.
    pub refinements: u64,
    /// Largest size of the waitlist.
    pub waiting: u64,
}

impl Counters {
    /// Adds the counters of another exploration. Maxima stay maxima.
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

    /// The difference between these counters and `before`.
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
    /// Counters of the explorations.
    pub exploration: Counters,
    /// Number of states in the waitlist now.
    pub waiting_now: u64,
    /// Solver terms created.
    pub terms: u64,
    /// Queries to the solver layers.
    pub queries: u64,
    /// Queries that a solver answered.
    pub solver_calls: u64,
    /// Time in the solver.
    pub solver_time: Duration,
    /// Replays of candidate violations.
    pub replays: u64,
    /// Values, constraints and predicates in the final precision.
    pub precision: u64,
    /// Wall time of the run.
    pub time: Duration,
}

impl Stats {
    /// Adds the counters of an exploration and of its domain.
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

    /// Adds the difference between `before` and `after`.
    pub(crate) fn advance(&mut self, before: &Self, after: &Self) {
        self.exploration.add(&after.exploration.since(&before.exploration));
        self.terms += after.terms.saturating_sub(before.terms);
        self.precision += after.precision.saturating_sub(before.precision);
        self.queries += after.queries - before.queries;
        self.solver_calls += after.solver_calls - before.solver_calls;
        self.solver_time += after.solver_time - before.solver_time;
    }

    /// Adds the statistics of another thread that ran in parallel.
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

    /// Names and values, in a fixed order. Times are in seconds.
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
