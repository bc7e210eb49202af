//! Delegation: runs one analysis until it gives up, then another one that starts with the precision of the first.
//! Explicit-value analysis runs as long as values refute all infeasible paths. Then predicate analysis takes over,
//! whose operations are much more expensive (Beyer, Löwe: Explicit-state software model checking based on CEGAR and
//! interpolation, FASE 2013, section III-F).

use super::{Algorithm, Ending, Share};
use crate::analysis::Increment;
use crate::analysis::frontier::Frontier;
use crate::analysis::reached::graph::ArgNode;
use crate::exchange::Exchange;
use crate::invariant::observed::Agreement;
use crate::stats::Stats;
use crate::verdict::Taints;

/// Creates an algorithm when it is needed.
type Make<'p> = Box<dyn FnOnce() -> Box<dyn Algorithm<'p> + 'p> + 'p>;

/// An analysis that continues with another analysis when it ends without an answer.
pub(crate) struct Delegating<'p> {
    now: Box<dyn Algorithm<'p> + 'p>,
    then: Option<Make<'p>>,
    /// The statistics of the first analysis after its end.
    stats: Stats,
    increments: Vec<Increment>,
    /// The exchange from which the second analysis imports.
    others: Option<Exchange>,
}

impl<'p> Delegating<'p> {
    pub fn new(first: Box<dyn Algorithm<'p> + 'p>, then: Make<'p>) -> Self {
        Self { now: first, then: Some(then), stats: Stats::default(), increments: Vec::new(), others: None }
    }

    /// Starts the second analysis with the facts of the first.
    fn delegate(&mut self, then: Make<'p>) {
        self.stats.join(&self.now.stats());
        self.increments.append(&mut self.now.increments());
        let exchange = Exchange::default();
        self.now.publish(&exchange);
        self.now = then();
        self.now.import(&exchange.for_all());
        if let Some(others) = &self.others {
            self.now.import(others);
        }
    }
}

impl<'p> Algorithm<'p> for Delegating<'p> {
    fn run(&mut self, share: &mut Share<'_>) -> Ending {
        let ending = self.now.run(share);
        match (&ending, self.then.take()) {
            (Ending::GaveUp(_), Some(then)) => {
                self.delegate(then);
                self.now.run(share)
            }
            (_, then) => {
                self.then = then;
                ending
            }
        }
    }

    fn publish(&mut self, exchange: &Exchange) {
        self.now.publish(exchange);
    }
    fn import(&mut self, exchange: &Exchange) {
        self.now.import(exchange);
        self.others = Some(exchange.clone());
    }

    fn stats(&self) -> Stats {
        let mut stats = self.stats;
        stats.join(&self.now.stats());
        stats
    }
    fn taints(&self) -> Taints {
        self.now.taints()
    }
    fn increments(&self) -> Vec<Increment> {
        [&self.increments[..], &self.now.increments()].concat()
    }
    fn frontier(&self) -> Option<Frontier> {
        self.now.frontier()
    }
    fn agreements(&self) -> Vec<Agreement> {
        self.now.agreements()
    }
    fn graph(&self) -> Vec<ArgNode> {
        self.now.graph()
    }
    fn visited(&self) -> &[bool] {
        self.now.visited()
    }
}
