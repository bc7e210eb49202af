//! Refinement: abstract paths are followed again without abstraction; where that leads nowhere, it is found what has to be
//! tracked so that they are not met again.
//!
//! Values are tried first, since they are enough for most paths and need no solver; then predicates; then what no predicate
//! can say, as values and constraints with symbols (002, the explicit domain first: Beyer, Löwe, FASE 2013, section III-F).

mod dependence;
mod path;
mod predicate;
mod slice;
mod value;

pub(crate) use path::Follower;
pub(crate) use predicate::Blocks;
pub use slice::Criteria;
pub(crate) use slice::{Slices, executes};

use crate::budget::Budget;
use crate::cpa::tracking::{State, Tracking};
use crate::cpa::{Goal, InSlice, PathCheck, Refinement, Stop, WHOLE};
use crate::execution::Mode;
use cfa::interp::Inputs;
use cfa::{EdgeId, LocId, PlaceId};
use value::Infeasible;

/// What a refinement has added to the precision.
#[derive(Clone, Debug)]
pub struct Increment {
    /// The error or operation whose path was refuted.
    pub goal: Option<PlaceId>,
    /// What is tracked from now on, in terms of the C program.
    pub tracked: Vec<String>,
}

impl Tracking<'_> {
    /// Whether `path` leads to `goal`, at full precision, with the operations on it that are `in_slice`.
    pub(crate) fn check_path(
        &mut self,
        path: &[EdgeId],
        goal: Goal,
        in_slice: InSlice<'_>,
        budget: &Budget,
    ) -> Result<PathCheck<Inputs>, Stop> {
        Follower { cpa: self, in_slice, budget }.check(path, goal)
    }

    /// Tracks what refutes `path`, which leads to `st` and on which states are abstracted after `cuts` edges: values where
    /// they do, then predicates, then what no predicate can say, as values and constraints.
    pub(crate) fn refine_path(
        &mut self,
        st: &State,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Refinement, Stop> {
        let names_unknowns = self.symbolic.execution.mode.names_unknowns;
        let precise = Mode { is_abstract: false, ..self.symbolic.execution.mode };
        let (values, predicates) = self.ways;
        let mut follower = Follower { cpa: self, in_slice: WHOLE, budget };
        let helps =
            |r: &Result<_, _>| !matches!(r, Ok(Refinement::Impossible | Refinement::Refined { changed: false, .. }));
        let mut result = Ok(Refinement::Impossible);
        if !names_unknowns || values {
            let explicit = Mode { names_unknowns: false, ..precise };
            result = follower.in_mode(explicit, |this| Infeasible::refute(this, path, cuts, goal));
        }
        if predicates && !helps(&result) {
            let ends: Vec<LocId> = cuts.iter().map(|&cut| follower.loc_after(path, cut)).collect();
            result = follower.in_mode(precise, |this| Blocks { cpa: this.cpa }.refine(st, &ends, goal, budget));
        }
        if names_unknowns && !helps(&result) {
            result = follower.in_mode(precise, |this| Infeasible::refute(this, path, cuts, goal));
        }
        self.open_problems().found.clear();
        result
    }
}
