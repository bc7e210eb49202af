//! One exploration, by the CPA algorithm alone or refined, as an algorithm beside others.

use super::cegar::Cegar;
use super::cpa::CpaAlgorithm;
use super::{Algorithm, Counters, Ending, Explored, Proof, Share};
use crate::Stats;
use crate::analysis::Analysis;
use crate::arg::Shape;
use crate::budget::Budget;
use crate::cpa::symbolic::agreed::Agreement;
use crate::cpa::wrapper::Wrapper;
use crate::cpa::{Abstraction, Stop};
use crate::exchange::Exchange;
use crate::frontier::Frontier;
use crate::reached::Reached;
use crate::refine::Increment;
use crate::verdict::Taints;
use cfa::Program;
use cfa::interp::Inputs;
use std::time::Duration;

/// Explores the states of an analysis, one way or another.
pub(crate) trait Explorer<'p> {
    type Domain: Wrapper<'p>;

    fn run(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Explored<Inputs>, Stop>;
    fn domain(&self) -> &Self::Domain;
    fn domain_mut(&mut self) -> &mut Self::Domain;
    fn counters(&self) -> &Counters;
    fn waiting(&self) -> usize;
    fn is_exact(&self) -> bool;
    fn done(&self) -> Option<f64>;
    fn frontier(&self) -> Frontier;
    fn graph(&self) -> Vec<Shape>;
    fn came(&self) -> &[bool];
}

impl<'p, C: Wrapper<'p>, R: Reached<C>> Explorer<'p> for CpaAlgorithm<'p, C, R> {
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
    fn graph(&self) -> Vec<Shape> {
        self.reached.shape()
    }
    fn came(&self) -> &[bool] {
        &self.came
    }
}

impl<'p, C: Wrapper<'p> + Abstraction> Explorer<'p> for Cegar<'p, C> {
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
    fn graph(&self) -> Vec<Shape> {
        Reached::<C>::shape(&self.inner.reached)
    }
    fn came(&self) -> &[bool] {
        &self.inner.came
    }
}

/// An exploration in turns with other algorithms.
pub(crate) struct ExplorationAlgorithm<'p, X> {
    program: &'p Program,
    analysis: Analysis,
    explorer: X,
    taints: Taints,
    /// What it may take before anything else is tried.
    head_start: Option<Duration>,
}

impl<'p, X: Explorer<'p>> ExplorationAlgorithm<'p, X> {
    pub fn new(program: &'p Program, analysis: Analysis, explorer: X) -> Self {
        Self { program, analysis, explorer, taints: Taints::default(), head_start: None }
    }

    pub fn with_head_start(self, time: Duration) -> Self {
        Self { head_start: Some(time), ..self }
    }
}

impl<'p, X: Explorer<'p>> Algorithm<'p> for ExplorationAlgorithm<'p, X> {
    fn run(&mut self, share: &mut Share<'_>) -> Ending {
        let solver = self.explorer.domain_mut().symbolic_mut().solver();
        solver.set_query_time(Some(share.query_time));
        solver.set_budget(share.budget.clone());
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
        let domain = self.explorer.domain();
        exchange.publish_values(&domain.symbolic().loops);
        if let Some(tracking) = domain.tracking() {
            exchange.publish_precision(self.analysis, tracking);
        }
    }
    fn import(&mut self, exchange: &Exchange) {
        if let Some(tracking) = self.explorer.domain_mut().tracking_mut() {
            exchange.take_precision(self.analysis, tracking);
        }
    }

    fn stats(&self) -> Stats {
        let (explorer, domain) = (&self.explorer, self.explorer.domain());
        let mut stats = Stats::default();
        stats.add(explorer.counters(), explorer.waiting(), domain.symbolic());
        stats.precision = (domain.sliced() + domain.tracking().map_or(0, |t| t.tracked())) as u64;
        stats
    }
    fn taints(&self) -> Taints {
        let mut taints = self.taints.clone();
        taints.merge(&self.explorer.domain().symbolic().taints);
        taints
    }
    fn increments(&self) -> Vec<Increment> {
        self.explorer.domain().tracking().map_or(Vec::new(), |t| t.increments.clone())
    }
    fn frontier(&self) -> Option<Frontier> {
        let mut frontier = self.explorer.frontier();
        frontier.tells_all |= self.taints().is_empty();
        Some(frontier)
    }
    fn agreements(&self) -> Vec<Agreement> {
        self.explorer.domain().symbolic().agreements()
    }
    fn graph(&self) -> Vec<Shape> {
        self.explorer.graph()
    }
    fn came(&self) -> &[bool] {
        self.explorer.came()
    }
}
