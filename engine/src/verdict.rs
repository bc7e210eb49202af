//! What the engine answers.

use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId, PlaceId, TaintId};
use smt::budget::Spent;
use std::iter;

/// The answer to "can an error be reached?".
#[derive(Clone, Debug)]
pub enum Verdict {
    /// No error can be reached, and nothing was assumed away.
    True,
    /// An error is reached; the concrete interpreter has confirmed it.
    False(Counterexample),
    Unknown(Reason),
}

/// A way to an error: the inputs that make the program take it, and the path as the interpreter ran it.
#[derive(Clone, Debug)]
pub struct Counterexample {
    pub error: ErrorId,
    pub inputs: Inputs,
    /// Every edge executed, in order, ending with the error edge.
    pub path: Vec<EdgeId>,
}

/// What stood in the way of a verdict.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Reason {
    /// For the user, without a full stop: "time limit reached".
    pub text: String,
    /// Where in the source it lies, if at a place.
    pub place: Option<PlaceId>,
    /// What it comes from, and what would rule it out.
    pub cause: Option<Box<Reason>>,
}

impl Reason {
    pub fn new(text: impl Into<String>) -> Self {
        Self::at(text, None)
    }
    /// The budget is spent.
    pub fn spent(spent: Spent) -> Self {
        Self::new(match spent {
            Spent::Time => "time limit reached",
            Spent::Cancelled => "interrupted",
        })
    }
    pub fn at(text: impl Into<String>, place: Option<PlaceId>) -> Self {
        Self { text: text.into(), place, cause: None }
    }
    pub fn because(self, cause: Option<Self>) -> Self {
        Self { cause: cause.map(Box::new), ..self }
    }
}

/// Everything that a run left out or added: the one place where taints are recorded, and where they decide.
///
/// DESIGN: a proof holds only if nothing was dropped; a counterexample is replayed, so what was added can only
/// cost a verdict, never make a wrong one.
#[derive(Clone, Default, Debug)]
pub struct Taints {
    dropped: Vec<Reason>,
    program: Vec<TaintId>,
    /// How often something was recorded, known or not; and what came last.
    count: usize,
    last: Option<Left>,
}

/// What was left out.
#[derive(Clone, Debug)]
enum Left {
    Dropped(Reason),
    Approximated(TaintId),
}

impl Taints {
    /// Behaviours were dropped, for this reason.
    pub fn drop_behaviour(&mut self, reason: Reason) {
        self.count += 1;
        self.last = Some(Left::Dropped(reason.clone()));
        if !self.dropped.contains(&reason) {
            self.dropped.push(reason);
        }
    }
    /// An `Approx` edge that drops behaviours can be reached.
    pub fn reach(&mut self, taint: TaintId) {
        self.count += 1;
        self.last = Some(Left::Approximated(taint));
        if !self.program.contains(&taint) {
            self.program.push(taint);
        }
    }
    /// Whether an `Approx` edge that drops behaviours can be reached.
    pub fn reaches_approximation(&self) -> bool {
        !self.program.is_empty()
    }
    /// Records all that `other` did.
    pub fn merge(&mut self, other: &Self) {
        other.dropped.iter().for_each(|r| self.drop_behaviour(r.clone()));
        other.program.iter().for_each(|&t| self.reach(t));
    }
    /// How often behaviours were left out: who compares it before and after a step knows whether the step did.
    pub fn count(&self) -> usize {
        self.count
    }
    /// Why they were left out last.
    pub fn last(&self, program: &cfa::Program) -> Option<Reason> {
        Some(match self.last.as_ref()? {
            Left::Dropped(reason) => reason.clone(),
            &Left::Approximated(taint) => {
                let taint = &program.taints[taint];
                Reason::at(taint.reason.clone(), taint.place)
            }
        })
    }
    /// The first reason why a finished exploration is no proof.
    pub fn first(&self, program: &cfa::Program) -> Option<Reason> {
        let approx = self.program.first().map(|&t| {
            let taint = &program.taints[t];
            Reason::at(taint.reason.clone(), taint.place)
        });
        self.dropped.first().cloned().or(approx)
    }
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.program.is_empty()
    }
    /// All reasons, each before what it comes from, for reports.
    pub fn reasons(&self, program: &cfa::Program) -> Vec<Reason> {
        let approx = self.program.iter().map(|&t| {
            let taint = &program.taints[t];
            Reason::at(taint.reason.clone(), taint.place)
        });
        let dropped = self.dropped.iter().flat_map(|r| iter::once(r).chain(r.cause.as_deref())).cloned();
        dropped.chain(approx).collect()
    }
}
