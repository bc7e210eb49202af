//! One analysis as long as it is enough, then another that starts from what the first has learned: explicit steps while only
//! values have to be tracked, and formulas from the first path on that no values refute (Beyer, Löwe: Explicit-state software
//! model checking based on CEGAR and interpolation, FASE 2013, section III-F: predicates are used only where values do not succeed,
//! since their post-operations are much more expensive).

use super::{Algorithm, Ending, Share};
use crate::analysis::Increment;
use crate::analysis::frontier::Frontier;
use crate::analysis::reached::graph::Shape;
use crate::exchange::Exchange;
use crate::invariant::observed::Agreement;
use crate::stats::Stats;
use crate::verdict::Taints;

/// What is made when it is needed.
type Make<'p> = Box<dyn FnOnce() -> Box<dyn Algorithm<'p> + 'p> + 'p>;

pub(crate) struct Delegating<'p> {
    now: Box<dyn Algorithm<'p> + 'p>,
    then: Option<Make<'p>>,
    /// Of the first, once it is over.
    stats: Stats,
    increments: Vec<Increment>,
    /// Where the second takes what others have learned.
    others: Option<Exchange>,
}

impl<'p> Delegating<'p> {
    pub fn new(first: Box<dyn Algorithm<'p> + 'p>, then: Make<'p>) -> Self {
        Self { now: first, then: Some(then), stats: Stats::default(), increments: Vec::new(), others: None }
    }

    /// The second goes on where the first has given up.
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
    fn graph(&self) -> Vec<Shape> {
        self.now.graph()
    }
    fn came(&self) -> &[bool] {
        self.now.came()
    }
}
