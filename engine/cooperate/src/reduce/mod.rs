//! Reducers: from a program and a condition to a residual program (Beyer, Jakobs: FRed: Conditional model checking via reducers and
//! folders, SEFM 2020).
//!
//! `ex(C) \ covered ⊆ ex(reduced) ⊆ ex(C)` (Definition 3): nothing that the condition leaves open is lost, and nothing is added.
//! [`ParComp`](Reducer::Separate) is the parallel composition; the others fold it, by a partition of its locations that joins only
//! locations of one location of the program (Definition 5), coarsened until the result is deterministic (Algorithm 1).
//!
//! The paper inlines functions. Here a function has a copy for each state of the condition in which it is called, so partitions
//! other than by location speak of what is within one copy.

mod fold;
mod partition;
mod shape;

pub use shape::Shape;

use crate::condition::Condition;
use crate::restrict::{Restricted, TooLarge, composition, composition_as_far_as_possible};
use cfa::Program;

/// How the parallel composition is folded.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Reducer {
    /// Not at all (`sep`, `parcomp`).
    #[default]
    Separate,
    /// Each location once (`cfa`).
    Locations,
    /// Each loop head once (`lh`).
    LoopHeads,
    /// Each loop head once for each way to its loop (`lhc`).
    LoopHeadsByContext,
    /// Loop heads by the iteration, up to a bound (`lhb`).
    LoopHeadsByIteration(u32),
    /// Both (`lhbc`).
    LoopHeadsByIterationAndContext(u32),
    /// Iterations of loops stay apart, branches are joined (`nlh`).
    Iterations,
}

/// Iterations that `lhb` and `lhbc` keep apart, as in the paper.
pub const ITERATIONS: u32 = 10;

impl Reducer {
    /// With the paper's bounds.
    pub const ALL: [Self; 7] = [
        Self::Separate,
        Self::Locations,
        Self::LoopHeads,
        Self::LoopHeadsByContext,
        Self::LoopHeadsByIteration(ITERATIONS),
        Self::LoopHeadsByIterationAndContext(ITERATIONS),
        Self::Iterations,
    ];

    /// By its name: `lhb=5` and `lhbc=5` have another bound.
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

/// The residual program.
pub fn reduce(program: &Program, condition: &Condition, reducer: Reducer) -> Result<Restricted, TooLarge> {
    Ok(folded(program, composition(program, condition)?, reducer))
}

/// As [`reduce`], where less of the condition is used if the composition would have too many edges with all of it.
pub fn reduce_as_far_as_possible(program: &Program, condition: &Condition, reducer: Reducer) -> Restricted {
    folded(program, composition_as_far_as_possible(program, condition), reducer)
}

fn folded(program: &Program, composed: Restricted, reducer: Reducer) -> Restricted {
    let folded = match partition::of(&composed, program, reducer) {
        None => composed,
        Some(partition) => fold::fold(program, &composed, &partition),
    };
    folded.with_loads()
}
