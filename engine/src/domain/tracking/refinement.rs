//! Refinement of the composition. It tries values first, since they refute most paths and need no solver (explicit
//! domain first: Beyer, Löwe, FASE 2013, section III-F). Then it tries predicates. Finally it tries values and
//! constraints with symbols, for paths that no predicate refutes.

use super::{State, Tracking};
use crate::analysis::{Goal, InSlice, PathCheck, Refinement, Stop, WHOLE};
use crate::domain::path::Carrier;
use crate::domain::path::Follower;
use crate::domain::predicate::refinement::{AbstractPath, Blocks};
use crate::domain::value::Sharing;
use crate::domain::value::refinement::Infeasible;
use crate::semantics::Mode;
use cfa::interp::Inputs;
use cfa::{EdgeId, LocId};
use smt::budget::Budget;

impl<'p> Tracking<'p> {
    /// Checks whether `path` is feasible and reaches `goal`, at full precision. Only operations that are `in_slice` are
    /// executed.
    pub(crate) fn check_path(
        &mut self,
        path: &[EdgeId],
        goal: Goal,
        in_slice: InSlice<'_>,
        budget: &Budget,
    ) -> Result<PathCheck<Inputs>, Stop> {
        Follower::new(self, in_slice, budget).check(path, goal)
    }

    /// Refines the precision so that it refutes `path`, which leads to `st` and has abstractions after `cuts` edges: by
    /// values, then by predicates, then by values and constraints with symbols.
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
                    AbstractPath { state: st, history: &st.along.history },
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

    /// The context that builds formulas for the blocks of a path.
    pub(crate) fn blocks(&mut self) -> Blocks<'_, 'p> {
        Blocks {
            execution: &mut self.symbolic.execution,
            solvers: &self.symbolic.solvers,
            predicate: &mut self.predicate,
        }
    }
}
