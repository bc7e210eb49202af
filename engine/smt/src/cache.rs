//! Caches of answers: cores of unsatisfiable sets, and models of satisfiable sets.
//!
//! A set of constraints is unsatisfiable if it contains a known core, and satisfiable if a known model satisfies it
//! (the counterexample cache of KLEE). Constraints are hash-consed, so the caches compare only sets of ids.

use super::path::Model;
use cfa::{Evaluator, Expr, ExprId, ExprPool, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::rc::Rc;

/// Unsatisfiable sets of constraints.
#[derive(Default)]
pub(super) struct Cores {
    /// The cores, by the member with the greatest id.
    by_last: FxHashMap<ExprId, Vec<Rc<[ExprId]>>>,
    count: usize,
}

/// The number of cores at which the cache is cleared.
const CORES: usize = 100_000;
/// The maximal number of cores tried for one member.
const TRIED: usize = 64;

impl Cores {
    /// A known core that is a subset of `set`. `set` is sorted by id.
    pub fn find(&self, set: &[ExprId]) -> Option<Rc<[ExprId]>> {
        set.iter().rev().find_map(|last| {
            let cores = self.by_last.get(last)?;
            cores.iter().rev().take(TRIED).find(|core| is_subset(core, set)).cloned()
        })
    }

    /// Adds a core. It may be in any order, but must not be empty.
    pub fn insert(&mut self, mut core: Vec<ExprId>) {
        core.sort_unstable();
        if self.count >= CORES {
            *self = Self::default();
        }
        let cores = self.by_last.entry(*core.last().expect("not empty")).or_default();
        if !cores.iter().rev().take(TRIED).any(|known| is_subset(known, &core)) {
            cores.push(core.into());
            self.count += 1;
        }
    }
}

/// Returns true if `part` is a subset of `whole`. Both are sorted.
fn is_subset(part: &[ExprId], whole: &[ExprId]) -> bool {
    if part.len() > whole.len() {
        return false;
    }
    let mut rest = whole;
    part.iter().all(|e| match rest.binary_search(e) {
        Ok(at) => {
            rest = &rest[at + 1..];
            true
        }
        Err(_) => false,
    })
}

/// Evaluates expressions under models. The values of sub-expressions are cached for the models used last.
#[derive(Default)]
pub(super) struct Evaluations {
    /// The models by id with their values, the most recently used last.
    recent: VecDeque<(u64, FxHashMap<ExprId, Value>)>,
}

/// The number of models with cached values.
const MODELS: usize = 12;
/// The number of values at which a model's cache is cleared.
const VALUES: usize = 200_000;

impl Evaluations {
    /// The truth value of the one-bit expression `e` under `model`.
    pub fn holds(&mut self, pool: &ExprPool, model: &Model, e: ExprId) -> bool {
        self.value(pool, model, e).bv().is_true()
    }

    /// The value of `e` under `model`.
    pub fn value(&mut self, pool: &ExprPool, model: &Model, e: ExprId) -> Value {
        let at = self.recent.iter().rposition(|(id, _)| *id == model.id());
        let mut memo = match at.and_then(|at| self.recent.remove(at)) {
            Some((_, memo)) if memo.len() <= VALUES => memo,
            _ => FxHashMap::default(),
        };
        let value = match memo.get(&e) {
            Some(value) => value.clone(),
            None => {
                let leaf = |leaf, _: &Expr| model.leaf(pool, leaf);
                let mut evaluator = Evaluator::with_memo(pool, leaf, memo);
                let value = evaluator.value(e);
                memo = evaluator.into_memo();
                value
            }
        };
        if self.recent.len() >= MODELS {
            self.recent.pop_front();
        }
        self.recent.push_back((model.id(), memo));
        value
    }
}

/// Recently found models of sets of constraints.
#[derive(Default)]
pub(super) struct Models {
    recent: VecDeque<Model>,
    /// The models of exactly these sets.
    by_set: FxHashMap<Rc<[ExprId]>, Model>,
}

/// The number of sets with models at which the cache is cleared.
const SETS: usize = 20_000;

impl Models {
    /// A known model of `set`. `hardest` are members that most models violate; they are tried first.
    pub fn find(
        &mut self,
        pool: &ExprPool,
        evaluations: &mut Evaluations,
        set: &[ExprId],
        hardest: &[ExprId],
    ) -> Option<Model> {
        if let Some(model) = self.by_set.get(set) {
            return Some(model.clone());
        }
        let satisfies = |model: &Model| hardest.iter().chain(set).all(|&e| evaluations.holds(pool, model, e));
        let at = self.recent.iter().rposition(satisfies)?;
        let model = self.recent.remove(at).expect("found there");
        self.recent.push_back(model.clone());
        Some(model)
    }

    /// Stores a model of `set`.
    pub fn insert(&mut self, set: &[ExprId], model: &Model) {
        if self.by_set.len() >= SETS {
            self.by_set.clear();
        }
        self.by_set.insert(set.into(), model.clone());
        if !model.is_spurious() {
            if self.recent.len() >= MODELS - 2 {
                self.recent.pop_front();
            }
            self.recent.push_back(model.clone());
        }
    }
}

/// The members of `set` in the order of their ids, without duplicates.
pub(super) fn canonical(set: impl IntoIterator<Item = ExprId>) -> Vec<ExprId> {
    let mut seen = FxHashSet::default();
    let mut all: Vec<_> = set.into_iter().filter(|e| seen.insert(*e)).collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_found_in_supersets() {
        let e = |ids: &[u32]| ids.iter().map(|i| ExprId(*i)).collect::<Vec<_>>();
        let mut cores = Cores::default();
        cores.insert(e(&[7, 3]));
        cores.insert(e(&[9]));
        assert!(cores.find(&e(&[1, 3, 5, 7, 8])).is_some());
        assert!(cores.find(&e(&[1, 3, 5, 8])).is_none());
        assert_eq!(cores.find(&e(&[2, 9])).as_deref(), Some(&e(&[9])[..]));
        assert!(cores.find(&[]).is_none());
    }
}
