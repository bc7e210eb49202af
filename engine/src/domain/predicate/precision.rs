//! The precision of predicate abstraction.

use crate::invariant::LocationInvariants;
use cfa::{ExprId, ExprPool, FuncId, LocId, Program, VarId, VarKind};
use rustc_hash::FxHashMap;

/// The tracked predicates, by function and location. Predicates on locals are under their function, those on globals
/// only under `None`. Predicates tracked at all locations are under the location `None`.
#[derive(Clone, Default)]
pub struct Predicates {
    by_scope: FxHashMap<(Option<FuncId>, Option<LocId>), Vec<ExprId>>,
}

impl Predicates {
    /// The number of pairs of a location and a predicate tracked there.
    pub fn len(&self) -> usize {
        self.by_scope.values().map(Vec::len).sum()
    }
    /// True if no predicate is tracked.
    pub fn is_empty(&self) -> bool {
        self.by_scope.values().all(Vec::is_empty)
    }
    /// All tracked predicates. A predicate may occur several times.
    pub fn all(&self) -> impl Iterator<Item = ExprId> {
        self.by_scope.values().flatten().copied()
    }
    /// The predicates of a function, or on globals only, that are tracked at a location.
    pub fn tracked(&self, func: Option<FuncId>, at: LocId) -> impl Iterator<Item = ExprId> {
        let scopes = [(func, None), (func, Some(at))];
        scopes.into_iter().filter_map(|scope| self.by_scope.get(&scope)).flatten().copied()
    }
    /// Tracks all predicates at all locations.
    pub fn share(&mut self) {
        let mut local: Vec<_> = self.by_scope.extract_if(|(_, at), _| at.is_some()).collect();
        local.sort_unstable();
        for ((func, _), predicates) in local {
            predicates.into_iter().for_each(|predicate| _ = self.add(func, None, predicate));
        }
    }
    /// Tracks a predicate, at one location or everywhere. Returns `false` if it was tracked there already.
    pub fn add(&mut self, func: Option<FuncId>, at: Option<LocId>, predicate: ExprId) -> bool {
        let all = self.by_scope.entry((func, at)).or_default();
        let new = !all.contains(&predicate);
        if new {
            all.push(predicate);
        }
        new
    }
    /// Tracks invariants of other analyses as predicates at their locations. They are not assumed: each state decides
    /// again whether they hold (after Beyer, Dangl, Wendler: Boosting k-induction with continuously-refined invariants,
    /// CAV 2015).
    pub fn add_invariants(&mut self, program: &Program, terms: &mut ExprPool, invariants: &LocationInvariants) {
        for (&at, conditions) in &invariants.at {
            for &condition in conditions {
                let is_global = |v: &VarId| matches!(program.vars[*v].kind, VarKind::Global { .. });
                let func = (!invariants.pool.vars(condition).iter().all(is_global)).then_some(program.locs[at].func);
                if let Some(predicate) = terms.import(&invariants.pool, condition) {
                    self.add(func, Some(at), predicate);
                }
            }
        }
    }
}
