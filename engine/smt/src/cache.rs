//! Answers to reuse: cores of unsatisfiable sets and models of satisfiable ones.
//!
//! A set of constraints that holds a known core is unsatisfiable; one that a known model satisfies is satisfiable (the
//! counterexample cache of KLEE). Constraints are hash-consed, so sets of ids are all there is to compare.

use super::path::Model;
use cfa::{Evaluator, Expr, ExprId, ExprPool, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::rc::Rc;

/// Sets that contradict themselves.
#[derive(Default)]
pub(super) struct Cores {
    /// By the member with the greatest id.
    by_last: FxHashMap<ExprId, Vec<Rc<[ExprId]>>>,
    count: usize,
}

/// Beyond, the cache starts anew.
const CORES: usize = 100_000;
/// Cores tried for one member.
const TRIED: usize = 64;

impl Cores {
    /// A known core within `set` (in order of id).
    pub fn find(&self, set: &[ExprId]) -> Option<Rc<[ExprId]>> {
        set.iter().rev().find_map(|last| {
            let cores = self.by_last.get(last)?;
            cores.iter().rev().take(TRIED).find(|core| is_subset(core, set)).cloned()
        })
    }

    /// `core` need not be in order, but not be empty.
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

/// Both in order.
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

/// Evaluation under models, with the values of sub-expressions kept for the models used last.
#[derive(Default)]
pub(super) struct Evaluations {
    /// The most recently used last.
    recent: VecDeque<(u64, FxHashMap<ExprId, Value>)>,
}

/// Models with kept values.
const MODELS: usize = 12;
/// Kept values of one model.
const VALUES: usize = 200_000;

impl Evaluations {
    /// The truth value of `e` (one bit) under `model`.
    pub fn holds(&mut self, pool: &ExprPool, model: &Model, e: ExprId) -> bool {
        self.value(pool, model, e).bv().is_true()
    }

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

/// Models found lately, of sets of constraints.
#[derive(Default)]
pub(super) struct Models {
    recent: VecDeque<Model>,
    /// Of exactly these sets.
    by_set: FxHashMap<Rc<[ExprId]>, Model>,
}

/// Sets with a stored model; beyond, the cache starts anew.
const SETS: usize = 20_000;

impl Models {
    /// A model of `set`. `hardest` are members that most models violate, to be tried first.
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

/// The members of `set` in order of id, each once.
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
