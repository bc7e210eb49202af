//! Reducers: residual programs of a program and a condition (Beyer, Jakobs: FRed: Conditional model checking via
//! reducers and folders, SEFM 2020).
//!
//! `ex(C) \ covered ⊆ ex(reduced) ⊆ ex(C)` (Definition 3): a residual program contains all executions that the
//! condition does not cover, and no execution that the program does not have. [`ParComp`](Reducer::Separate) is the
//! parallel composition. The other reducers fold it, by a partition of its locations that joins only locations of the
//! same program location (Definition 5), coarsened until the result is deterministic (Algorithm 1).
//!
//! The paper inlines functions. Here a function has a copy for each state of the condition in which it is called. So
//! partitions other than the one by location only merge locations within a copy.

mod fold;
mod partition;
mod shape;

pub use shape::Shape;

use crate::condition::Condition;
use crate::restrict::{Restricted, TooLarge, composition, composition_as_far_as_possible};
use cfa::Program;

/// The folding of the parallel composition.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Reducer {
    /// No folding (`sep`, `parcomp`).
    #[default]
    Separate,
    /// One element for each location (`cfa`).
    Locations,
    /// One element for each loop head (`lh`).
    LoopHeads,
    /// One element for each loop head and each path to its loop (`lhc`).
    LoopHeadsByContext,
    /// One element for each loop head and iteration, up to a bound (`lhb`).
    LoopHeadsByIteration(u32),
    /// By loop head, path and iteration, up to a bound (`lhbc`).
    LoopHeadsByIterationAndContext(u32),
    /// Separate loop iterations, merged branches (`nlh`).
    Iterations,
}

/// The number of iterations that `lhb` and `lhbc` distinguish in the paper.
pub const ITERATIONS: u32 = 10;

impl Reducer {
    /// All reducers, with the bounds of the paper.
    pub const ALL: [Self; 7] = [
        Self::Separate,
        Self::Locations,
        Self::LoopHeads,
        Self::LoopHeadsByContext,
        Self::LoopHeadsByIteration(ITERATIONS),
        Self::LoopHeadsByIterationAndContext(ITERATIONS),
        Self::Iterations,
    ];

    /// Parses a name of the paper; `lhb=5` and `lhbc=5` have other bounds.
    pub fn from_name(name: &str) -> Option<Self> {
        let (name, bound) = match name.split_once('=') {
            Some((name, bound)) => (name, Some(bound.parse().ok()?)),
            None => (name, None),
        };
        Some(match (name, bound) {
            ("sep" | "parcomp", None) => Self::Separate,
            ("cfa", None) => Self::Locations,
            ("lh", None) => Self::LoopHeads,
            ("lhc", None) => Self::LoopHeadsByContext,
            ("lhb", bound) => Self::LoopHeadsByIteration(bound.unwrap_or(ITERATIONS)),
            ("lhbc", bound) => Self::LoopHeadsByIterationAndContext(bound.unwrap_or(ITERATIONS)),
            ("nlh", None) => Self::Iterations,
            _ => return None,
        })
    }
}

/// The residual program. Fails if the composition is too large.
pub fn reduce(program: &Program, condition: &Condition, reducer: Reducer) -> Result<Restricted, TooLarge> {
    Ok(folded(program, composition(program, condition)?, reducer))
}

/// Like [`reduce`], but uses less of the condition if the composition would be too large.
pub fn reduce_as_far_as_possible(program: &Program, condition: &Condition, reducer: Reducer) -> Restricted {
    folded(program, composition_as_far_as_possible(program, condition), reducer)
}

fn folded(program: &Program, composed: Restricted, reducer: Reducer) -> Restricted {
    let folded = match partition::compute(&composed, program, reducer) {
        None => composed,
        Some(partition) => fold::fold(program, &composed, &partition),
    };
    folded.with_loads()
}
