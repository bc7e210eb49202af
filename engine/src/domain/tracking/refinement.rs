//! Refinement of the composition: values are tried first, since they are enough for most paths and need no solver; then
//! predicates; then what no predicate can say, as values and constraints with symbols (the explicit domain first: Beyer, Löwe,
//! FASE 2013, section III-F).

use super::{State, Tracking};
use crate::analysis::{Goal, InSlice, PathCheck, Refinement, Stop, WHOLE};
use crate::domain::path::Carrier;
use crate::domain::path::Follower;
use crate::domain::predicate::refinement::{Blocks, Way};
use crate::domain::value::Sharing;
use crate::domain::value::refinement::Infeasible;
use crate::semantics::Mode;
use cfa::interp::Inputs;
use cfa::{EdgeId, LocId};
use smt::budget::Budget;

impl<'p> Tracking<'p> {
    /// Whether `path` leads to `goal`, at full precision, with the operations on it that are `in_slice`.
    pub(crate) fn check_path(
        &mut self,
        path: &[EdgeId],
        goal: Goal,
        in_slice: InSlice<'_>,
        budget: &Budget,
    ) -> Result<PathCheck<Inputs>, Stop> {
        Follower::new(self, in_slice, budget).check(path, goal)
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
        let mut follower = Follower::new(self, WHOLE, budget);
        let helps = |r: &Refinement| !matches!(r, Refinement::Impossible | Refinement::Refined { changed: false, .. });
        let mut result = Ok((Refinement::Impossible, None));
        if !names_unknowns || values {
            let explicit = Mode { names_unknowns: false, ..precise };
            result = follower.in_mode(explicit, |this| Infeasible::refute(this, path, cuts, goal));
        }
        if predicates && !result.as_ref().is_ok_and(|(r, _)| helps(r)) {
            let ends: Vec<LocId> = cuts.iter().map(|&cut| follower.loc_after(path, cut)).collect();
            result = follower.in_mode(precise, |this| {
                let is_local = this.cpa.value.precision().sharing == Sharing::Location;
                Ok(this.cpa.blocks().refine(
                    Way { state: st, history: &st.along.history },
                    &ends,
                    is_local,
                    goal,
                    budget,
                ))
            });
        }
        if names_unknowns && !result.as_ref().is_ok_and(|(r, _)| helps(r)) {
            result = follower.in_mode(precise, |this| Infeasible::refute(this, path, cuts, goal));
        }
        self.undecided().found.clear();
        let (refinement, increment) = result?;
        self.increments.extend(increment);
        Ok(refinement)
    }

    /// The blocks on the way to a state, as formulas.
    pub(crate) fn blocks(&mut self) -> Blocks<'_, 'p> {
        Blocks {
            execution: &mut self.symbolic.execution,
            solvers: &self.symbolic.solvers,
            predicate: &mut self.predicate,
        }
    }
}
