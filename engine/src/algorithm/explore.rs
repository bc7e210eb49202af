//! An exploration as an [`Algorithm`]: the CPA algorithm alone or with CEGAR.

use super::cegar::Cegar;
use super::cpa::CpaAlgorithm;
use super::{Algorithm, Ending, Explored, Proof, Share};
use crate::analysis::capability::{Limited, Participant, Reporting};
use crate::analysis::frontier::Frontier;
use crate::analysis::reached::Reached;
use crate::analysis::reached::graph::ArgNode;
use crate::analysis::{Abstraction, Increment, Stop};
use crate::composition::Analysis;
use crate::exchange::{Exchange, Learner};
use crate::invariant::observed::Agreement;
use crate::stats::{Counters, Stats};
use crate::verdict::Taints;
use cfa::Program;
use cfa::interp::Inputs;
use smt::budget::Budget;
use std::time::Duration;

/// The common interface of the CPA algorithm and CEGAR.
pub(crate) trait Explorer {
    type Domain: Participant + Learner;

    /// Explores until the budget is spent, a target is reached, or all paths are explored.
    fn run(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Explored<Inputs>, Stop>;
    fn domain(&self) -> &Self::Domain;
    fn domain_mut(&mut self) -> &mut Self::Domain;
    fn counters(&self) -> &Counters;
    /// The number of states in the waitlist.
    fn waiting(&self) -> usize;
    /// True if the exploration does not abstract; see [`Algorithm::is_exact`].
    fn is_exact(&self) -> bool;
    /// The share of all paths that has been explored, if it can be estimated.
    fn done(&self) -> Option<f64>;
    /// The unexplored part.
    fn frontier(&self) -> Frontier;
    /// The ARG, if recorded.
    fn graph(&self) -> Vec<ArgNode>;
    /// By location: true if a state reached it.
    fn visited(&self) -> &[bool];
}

impl<C: Participant + Learner, R: Reached<C>> Explorer for CpaAlgorithm<'_, C, R> {
    type Domain = C;

    fn run(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Explored<Inputs>, Stop> {
        CpaAlgorithm::run(self, budget, taints, progress)
    }
    fn domain(&self) -> &C {
        &self.cpa
    }
    fn domain_mut(&mut self) -> &mut C {
        &mut self.cpa
    }
    fn counters(&self) -> &Counters {
        &self.counters
    }
    fn waiting(&self) -> usize {
        CpaAlgorithm::waiting(self)
    }
    fn is_exact(&self) -> bool {
        true
    }
    fn done(&self) -> Option<f64> {
        CpaAlgorithm::done(self)
    }
    fn frontier(&self) -> Frontier {
        CpaAlgorithm::frontier(self, false)
    }
    fn graph(&self) -> Vec<ArgNode> {
        self.reached.shape()
    }
    fn visited(&self) -> &[bool] {
        &self.visited
    }
}

impl<C: Participant + Learner + Abstraction> Explorer for Cegar<'_, C> {
    type Domain = C;

    fn run(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Explored<Inputs>, Stop> {
        Cegar::run(self, budget, taints, progress)
    }
    fn domain(&self) -> &C {
        &self.inner.cpa
    }
    fn domain_mut(&mut self) -> &mut C {
        &mut self.inner.cpa
    }
    fn counters(&self) -> &Counters {
        &self.inner.counters
    }
    fn waiting(&self) -> usize {
        self.inner.waiting()
    }
    fn is_exact(&self) -> bool {
        false
    }
    fn done(&self) -> Option<f64> {
        None
    }
    fn frontier(&self) -> Frontier {
        Cegar::frontier(self)
    }
    fn graph(&self) -> Vec<ArgNode> {
        Reached::<C>::shape(&self.inner.reached)
    }
    fn visited(&self) -> &[bool] {
        &self.inner.visited
    }
}

/// An exploration that shares time with other algorithms.
pub(crate) struct ExplorationAlgorithm<'p, X> {
    program: &'p Program,
    analysis: Analysis,
    explorer: X,
    taints: Taints,
    /// Time limit for a first attempt before all other algorithms run.
    head_start: Option<Duration>,
}

impl<'p, X: Explorer> ExplorationAlgorithm<'p, X> {
    pub fn new(program: &'p Program, analysis: Analysis, explorer: X) -> Self {
        Self { program, analysis, explorer, taints: Taints::default(), head_start: None }
    }

    pub fn with_head_start(self, time: Duration) -> Self {
        Self { head_start: Some(time), ..self }
    }
}

impl<'p, X: Explorer> Algorithm<'p> for ExplorationAlgorithm<'p, X> {
    fn run(&mut self, share: &mut Share<'_>) -> Ending {
        self.explorer.domain_mut().limit(share.budget, Some(share.query_time));
        match self.explorer.run(share.budget, &mut self.taints, share.progress) {
            Ok(Explored::Complete) => match self.taints().first(self.program) {
                None => Ending::Proved(Proof::Exhaustive),
                Some(reason) if self.is_exact() => {
                    Ending::Tainted { reason, by_program: self.taints().reaches_approximation() }
                }
                Some(reason) => Ending::GaveUp(reason),
            },
            Ok(Explored::Target { error, edge, evidence }) => Ending::Violation { error, edge, inputs: evidence },
            Err(Stop::Fatal(reason)) => Ending::GaveUp(reason),
            Err(Stop::Spent(_)) => Ending::TimeIsUp,
        }
    }

    fn done(&self) -> Option<f64> {
        self.explorer.done()
    }
    fn head_start(&self) -> Option<Duration> {
        self.head_start
    }
    fn is_exact(&self) -> bool {
        self.explorer.is_exact()
    }

    fn publish(&mut self, exchange: &Exchange) {
        self.explorer.domain().publish(self.analysis, exchange);
    }
    fn import(&mut self, exchange: &Exchange) {
        self.explorer.domain_mut().import(self.analysis, exchange);
    }

    fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        stats.add(self.explorer.counters(), self.explorer.waiting(), &self.explorer.domain().statistics());
        stats
    }
    fn taints(&self) -> Taints {
        let mut taints = self.taints.clone();
        taints.merge(self.explorer.domain().all_taints());
        taints
    }
    fn increments(&self) -> Vec<Increment> {
        self.explorer.domain().increments().to_vec()
    }
    fn frontier(&self) -> Option<Frontier> {
        let mut frontier = self.explorer.frontier();
        frontier.is_complete |= self.taints().is_empty();
        Some(frontier)
    }
    fn agreements(&self) -> Vec<Agreement> {
        self.explorer.domain().agreements()
    }
    fn graph(&self) -> Vec<ArgNode> {
        self.explorer.graph()
    }
    fn visited(&self) -> &[bool] {
        self.explorer.visited()
    }
}
