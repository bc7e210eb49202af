//! Translates answers about rewritten sets to answers about the original sets: models get the replaced values, and
//! cores get the original members.

use super::{PathSolver, Solved};
use crate::equalities::Equalities;
use crate::integers::ProcedureResult;
use crate::path::Model;
use cfa::{ExprId, ExprPool, Value};
use rustc_hash::FxHashSet;

impl PathSolver {
    /// The model of the back end, with the values of replaced leaves.
    pub(super) fn backend_model(&mut self, pool: &ExprPool, set: &[ExprId], equal: &Equalities) -> Model {
        let mut model = Model::default();
        for &e in set {
            for &leaf in self.leaves.free_leaves(pool, e).iter() {
                if model.get(leaf).is_none() {
                    let value = match equal.values.get(&leaf) {
                        Some((value, _)) => Value::Bv(value.clone()),
                        None => self.backend.leaf_value(pool, leaf),
                    };
                    model.set(leaf, value);
                }
            }
        }
        model
    }

    /// The result of a decision procedure as an answer about `set`; `None` if there is none.
    pub(super) fn searched(
        &mut self,
        pool: &ExprPool,
        set: &[ExprId],
        equal: &Equalities,
        found: ProcedureResult,
    ) -> Option<Solved> {
        let found = match found {
            ProcedureResult::Unknown => return None,
            ProcedureResult::Core(_) => Solved::Infeasible(set.to_vec()),
            ProcedureResult::Model(values) => {
                let mut model = Model::default();
                let known = equal.values.iter().map(|(leaf, (value, _))| (*leaf, Value::Bv(value.clone())));
                for (leaf, value) in values.into_iter().chain(known) {
                    model.set(leaf, value);
                }
                if !set.iter().all(|&e| self.evaluations.holds(pool, &model, e)) {
                    return None;
                }
                Solved::Feasible(model)
            }
        };
        Some(found)
    }

    /// The members of `set` from which the members of `core` were rewritten.
    pub(super) fn core(
        &mut self,
        pool: &ExprPool,
        equal: &Equalities,
        set: &[ExprId],
        mut core: Vec<ExprId>,
    ) -> Vec<ExprId> {
        if equal.has_pinned {
            return set.to_vec();
        }
        // A member was rewritten with the equalities of its leaves. These equalities may have been rewritten as well.
        let mut next = 0;
        let mut known: FxHashSet<ExprId> = core.iter().copied().collect();
        while next < core.len() {
            for leaf in self.leaves.free_leaves(pool, core[next]).iter() {
                if let Some((_, origin)) = equal.values.get(leaf)
                    && known.insert(*origin)
                {
                    core.push(*origin);
                }
            }
            next += 1;
        }
        core
    }

    /// The values of the leaves of `set` in `model`, with zeros for missing values.
    pub(super) fn restricted(&mut self, pool: &ExprPool, model: &Model, set: &[ExprId]) -> Model {
        let mut part = Model::default();
        for &e in set {
            for &leaf in self.leaves.free_leaves(pool, e).iter() {
                if part.get(leaf).is_none() {
                    part.set(leaf, model.leaf(pool, leaf));
                }
            }
        }
        part.set_spurious(model.is_spurious());
        part
    }
}
