//! Verdicts, and the taints that decide whether an exploration is a proof.

use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId, FILE_ASSEMBLY, Harm, INLINE_ASSEMBLY, PlaceId, Taint, TaintId, UNDEFINED_CALL};
use smt::budget::Spent;
use std::iter;

/// The answer to the question whether an error is reachable.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// No error is reachable, and no behaviours were dropped.
    True,
    /// An error is reachable. The reference interpreter has confirmed it.
    False(Counterexample),
    /// The analysis did not decide, for this reason.
    Unknown(Reason),
}

/// A counterexample: the inputs, and the path that the interpreter executed on them.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The error that the path reaches.
    pub error: ErrorId,
    /// The inputs with which the interpreter reaches it.
    pub inputs: Inputs,
    /// All executed edges in order. The last one is the error edge.
    pub path: Vec<EdgeId>,
}

/// The kind of a reason. It determines what the user can do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum ReasonKind {
    /// The time of the run, or of a query, is over.
    Time,
    /// The memory of the run is exhausted.
    Memory,
    /// No execution follows the path of a candidate counterexample.
    Spurious,
    /// The program calls a function without a definition.
    UndefinedFunction,
    /// An operation or a library function is approximated.
    Approximation,
    /// A transfer of control is approximated: a non-local jump, or assembly. No function can replace it.
    ControlFlow,
    /// A program with threads is not explored for all inputs.
    ThreadInputs,
    /// The exploration is too large, or no invariant was found.
    #[default]
    Complexity,
    /// The text states what to do, or the run was stopped from outside.
    Stated,
}

impl ReasonKind {
    /// The kind of the reason that an approximation is.
    pub fn of_taint(taint: &Taint) -> Self {
        let is = |start: &str| taint.reason.starts_with(start);
        match taint.harm() {
            _ if is(UNDEFINED_CALL) => Self::UndefinedFunction,
            Harm::Elsewhere | Harm::Again => Self::ControlFlow,
            _ if is(INLINE_ASSEMBLY) || is(FILE_ASSEMBLY) => Self::ControlFlow,
            _ => Self::Approximation,
        }
    }
}

/// The reason why there is no verdict.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Reason {
    /// The kind of the reason.
    pub kind: ReasonKind,
    /// For the user, without a full stop: "time limit reached".
    pub text: String,
    /// The place in the source, if the reason has one.
    pub place: Option<PlaceId>,
    /// The underlying cause, and what would rule it out.
    pub cause: Option<Box<Reason>>,
}

impl Reason {
    /// A reason without a place.
    pub fn new(text: impl Into<String>) -> Self {
        Self::at(text, None)
    }
    /// The reason for a spent budget.
    pub fn spent(spent: Spent) -> Self {
        match spent {
            Spent::Time => Self::new("time limit reached").of_kind(ReasonKind::Time),
            Spent::Cancelled => Self::new("interrupted").of_kind(ReasonKind::Stated),
        }
    }
    /// The reason that an approximation is.
    pub fn approximation(taint: &Taint) -> Self {
        Self::at(taint.reason.clone(), taint.place).of_kind(ReasonKind::of_taint(taint))
    }
    /// A reason with a place.
    pub fn at(text: impl Into<String>, place: Option<PlaceId>) -> Self {
        Self { kind: ReasonKind::default(), text: text.into(), place, cause: None }
    }
    /// Sets the kind.
    pub fn of_kind(self, kind: ReasonKind) -> Self {
        Self { kind, ..self }
    }
    /// Sets the underlying cause.
    pub fn because(self, cause: Option<Self>) -> Self {
        Self { cause: cause.map(Box::new), ..self }
    }
}

/// The taints of a run: all behaviours that it dropped or added. Taints are recorded here, and decide the verdict here.
///
/// DESIGN: a proof holds only if nothing was dropped. Counterexamples are replayed, so an added behaviour can cost a
/// verdict but never makes a wrong one.
#[derive(Clone, Default, Debug)]
pub struct Taints {
    dropped: Vec<Reason>,
    program: Vec<TaintId>,
    /// Number of records, including duplicates.
    count: usize,
    /// The last record.
    last: Option<TaintRecord>,
}

/// A record of dropped behaviours.
#[derive(Clone, Debug)]
enum TaintRecord {
    Dropped(Reason),
    Approximated(TaintId),
}

impl Taints {
    /// Records that behaviours were dropped for this reason.
    pub fn drop_behaviour(&mut self, reason: Reason) {
        self.count += 1;
        self.last = Some(TaintRecord::Dropped(reason.clone()));
        if !self.dropped.contains(&reason) {
            self.dropped.push(reason);
        }
    }
    /// Records that an `Approx` edge that drops behaviours is reachable.
    pub fn reach(&mut self, taint: TaintId) {
        self.count += 1;
        self.last = Some(TaintRecord::Approximated(taint));
        if !self.program.contains(&taint) {
            self.program.push(taint);
        }
    }
    /// True if an `Approx` edge that drops behaviours is reachable.
    pub fn reaches_approximation(&self) -> bool {
        !self.program.is_empty()
    }
    /// Adds all records of `other`.
    pub fn merge(&mut self, other: &Self) {
        other.dropped.iter().for_each(|r| self.drop_behaviour(r.clone()));
        other.program.iter().for_each(|&t| self.reach(t));
    }
    /// The number of records, including duplicates. Compare it before and after a step to detect whether the step
    /// dropped behaviours.
    pub fn count(&self) -> usize {
        self.count
    }
    /// The last reason why behaviours were dropped.
    pub fn last(&self, program: &cfa::Program) -> Option<Reason> {
        Some(match self.last.as_ref()? {
            TaintRecord::Dropped(reason) => reason.clone(),
            &TaintRecord::Approximated(taint) => Reason::approximation(&program.taints[taint]),
        })
    }
    /// The first reason why a complete exploration is no proof.
    pub fn first(&self, program: &cfa::Program) -> Option<Reason> {
        let approx = self.program.first().map(|&taint| Reason::approximation(&program.taints[taint]));
        self.dropped.first().cloned().or(approx)
    }
    /// True if nothing was dropped.
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.program.is_empty()
    }
    /// All reasons, each followed by its cause, for reports.
    pub fn reasons(&self, program: &cfa::Program) -> Vec<Reason> {
        let approx = self.program.iter().map(|&taint| Reason::approximation(&program.taints[taint]));
        let dropped = self.dropped.iter().flat_map(|r| iter::once(r).chain(r.cause.as_deref())).cloned();
        dropped.chain(approx).collect()
    }
}
