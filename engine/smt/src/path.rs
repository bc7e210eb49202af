//! Path conditions and their models. Both are persistent, so states after a branch share them.

use super::facts::Facts;
use super::independence::Groups;
use cfa::{Bv, Evaluator, Expr, ExprId, ExprPool, Sort, SymId, Value};
use rpds::RedBlackTreeMap;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Values of leaves (symbols, variables, addresses). A leaf without a value is zero. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Model {
    values: RedBlackTreeMap<ExprId, Value>,
    /// Models with equal ids have equal values. The empty model has id 0.
    id: u64,
    spurious: bool,
}

static NEXT_MODEL: AtomicU64 = AtomicU64::new(1);

impl Model {
    /// The value of a leaf, if it was set.
    pub fn get(&self, leaf: ExprId) -> Option<&Value> {
        self.values.get(&leaf)
    }
    /// The leaves with values, and these values.
    pub fn iter(&self) -> impl Iterator<Item = (ExprId, &Value)> {
        self.values.iter().map(|(leaf, value)| (*leaf, value))
    }
    /// The bit-vector symbols with their values, in the order of their creation.
    pub fn symbols(&self, pool: &ExprPool) -> BTreeMap<SymId, Bv> {
        let symbol = |(leaf, value): (ExprId, &Value)| match (pool.get(leaf), value) {
            (Expr::Sym(s), Value::Bv(v)) => Some((*s, v.clone())),
            _ => None,
        };
        self.iter().filter_map(symbol).collect()
    }
    /// Sets the value of a leaf.
    pub fn set(&mut self, leaf: ExprId, value: Value) {
        self.values.insert_mut(leaf, value);
        self.id = NEXT_MODEL.fetch_add(1, Ordering::Relaxed);
    }
    pub(super) fn id(&self) -> u64 {
        self.id
    }
    /// Returns true if the formula does not evaluate to true under this model. A solver may accept such a model because
    /// the encoding of floats is approximate (see [`crate`]). The formula may then be unsatisfiable.
    pub fn is_spurious(&self) -> bool {
        self.spurious
    }
    pub(super) fn set_spurious(&mut self, spurious: bool) {
        self.spurious = spurious;
    }
    /// The value of a bit-vector expression. Panics for arrays.
    pub fn eval(&self, pool: &ExprPool, e: ExprId) -> Bv {
        self.value(pool, e).bv().clone()
    }
    /// The value of an expression.
    pub fn value(&self, pool: &ExprPool, e: ExprId) -> Value {
        Evaluator::new(pool, |leaf, _| self.leaf(pool, leaf)).value(e)
    }
    /// The value of a leaf, zero if it was not set.
    pub(super) fn leaf(&self, pool: &ExprPool, leaf: ExprId) -> Value {
        self.get(leaf).cloned().unwrap_or_else(|| zero(pool.sort(leaf)))
    }
}

/// The zero value of a sort.
pub fn zero(sort: Sort) -> Value {
    match sort {
        Sort::Bv(width) => Value::Bv(Bv::zero(width)),
        Sort::Array { elem, .. } => {
            Value::Array(Rc::new(cfa::ArrayValue { default: Bv::zero(elem), entries: BTreeMap::new() }))
        }
    }
}

/// A conjunction that grows along a path, as a persistent list. No conjunct is a conjunction itself, and none is known
/// to follow from its predecessors. The condition includes the ranges that the conjuncts imply, and their independent
/// groups. Cheap to clone. [`PathSolver::assume`](super::PathSolver::assume) adds conjuncts.
#[derive(Clone, Debug, Default)]
pub struct PathCondition {
    last: Option<Rc<Node>>,
    /// Behind a pointer, since every operation moves states but few operations change path conditions.
    known: Rc<ConjunctFacts>,
}

/// The information about all conjuncts.
#[derive(Clone, Debug, Default)]
pub(super) struct ConjunctFacts {
    /// A model of the conjuncts, if known.
    model: Option<Model>,
    /// True if the conjuncts were found to contradict one another.
    contradiction: bool,
    /// The independent groups of the conjuncts.
    pub groups: Groups,
    /// The ranges that the conjuncts imply.
    pub facts: Facts,
}

/// A conjunct of a path condition, with information about all conjuncts up to it.
#[derive(Debug)]
struct Node {
    conjunct: ExprId,
    len: usize,
    before: Option<Rc<Node>>,
    /// The groups and ranges of the conjuncts up to this one.
    groups: Groups,
    facts: Facts,
}

impl PathCondition {
    /// The condition `true`.
    pub fn new() -> Self {
        Self { last: None, known: Rc::new(ConjunctFacts { model: Some(Model::default()), ..ConjunctFacts::default() }) }
    }
    /// The number of conjuncts.
    pub fn len(&self) -> usize {
        self.last.as_ref().map_or(0, |n| n.len)
    }
    /// Returns true if there are no conjuncts.
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }
    /// The conjuncts, newest first.
    pub fn iter(&self) -> impl Iterator<Item = ExprId> {
        std::iter::successors(self.last.as_deref(), |n| n.before.as_deref()).map(|n| n.conjunct)
    }
    /// The conjuncts, oldest first.
    pub fn conjuncts(&self) -> Vec<ExprId> {
        let mut all: Vec<_> = self.iter().collect();
        all.reverse();
        all
    }
    /// Returns true if the conjuncts were found to contradict one another without a solver.
    pub fn is_contradiction(&self) -> bool {
        self.known.contradiction
    }
    /// A model of all conjuncts, if known.
    pub fn model(&self) -> Option<&Model> {
        self.known.model.as_ref()
    }
    /// Discards the model. The solver searches for another one when it is needed.
    pub fn forget_model(&mut self) {
        if self.known.model.is_some() {
            self.set_model(None);
        }
    }
    pub(super) fn set_model(&mut self, model: Option<Model>) {
        self.known_mut().model = model;
    }
    pub(super) fn set_contradiction(&mut self) {
        self.known_mut().contradiction = true;
    }
    pub(super) fn known(&self) -> &ConjunctFacts {
        &self.known
    }
    pub(super) fn known_mut(&mut self) -> &mut ConjunctFacts {
        Rc::make_mut(&mut self.known)
    }
    pub(super) fn push(&mut self, conjunct: ExprId) {
        let len = self.len() + 1;
        let ConjunctFacts { groups, facts, .. } = (*self.known).clone();
        self.last = Some(Rc::new(Node { conjunct, len, before: self.last.take(), groups, facts }));
    }

    /// Returns the common prefix of both conditions, and the remaining conjuncts of each. Takes time linear in the
    /// number of conjuncts after the last shared node.
    pub fn part(&self, other: &Self) -> (Self, Vec<ExprId>, Vec<ExprId>) {
        let (mut a, mut b) = (self.last.as_ref(), other.last.as_ref());
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let len = |n: Option<&Rc<Node>>| n.map_or(0, |n| n.len);
        while len(a) > len(b) {
            ours.push(a.expect("it is longer"));
            a = ours[ours.len() - 1].before.as_ref();
        }
        while len(b) > len(a) {
            theirs.push(b.expect("it is longer"));
            b = theirs[theirs.len() - 1].before.as_ref();
        }
        while let (Some(x), Some(y)) = (a, b)
            && !Rc::ptr_eq(x, y)
        {
            ours.push(x);
            theirs.push(y);
            (a, b) = (x.before.as_ref(), y.before.as_ref());
        }
        // Both paths may have added the same conjuncts separately.
        while let (Some(x), Some(y)) = (ours.last(), theirs.last())
            && x.conjunct == y.conjunct
        {
            a = ours.pop();
            theirs.pop();
        }
        let model = self.known.model.clone();
        let known = match a {
            Some(node) => ConjunctFacts {
                model,
                contradiction: self.known.contradiction && other.known.contradiction,
                groups: node.groups.clone(),
                facts: node.facts.clone(),
            },
            None => ConjunctFacts { model, ..ConjunctFacts::default() },
        };
        let common = Self { last: a.cloned(), known: Rc::new(known) };
        let conjuncts = |nodes: Vec<&Rc<Node>>| nodes.into_iter().rev().map(|n| n.conjunct).collect();
        (common, conjuncts(ours), conjuncts(theirs))
    }
}

/// Frees the list iteratively: recursion would overflow the stack on long lists.
impl Drop for Node {
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(node) = before {
            match Rc::try_unwrap(node) {
                Ok(mut node) => before = node.before.take(),
                Err(_) => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_part_where_their_conjuncts_differ() {
        let mut pool = ExprPool::new();
        let bits: Vec<ExprId> = (0..6).map(|_| pool.fresh_symbol(Sort::Bv(1)).1).collect();
        let path = |start: &PathCondition, conjuncts: &[usize]| {
            let mut pc = start.clone();
            conjuncts.iter().for_each(|&i| pc.push(bits[i]));
            pc
        };
        let shared = path(&PathCondition::new(), &[0, 1]);
        // The third conjunct was added to both paths separately.
        let (a, b) = (path(&shared, &[2, 3]), path(&shared, &[2, 4, 5]));
        let (common, ours, theirs) = a.part(&b);
        assert_eq!(common.conjuncts(), bits[..3]);
        assert_eq!((ours, theirs), (vec![bits[3]], vec![bits[4], bits[5]]));
        let (common, ours, theirs) = a.part(&shared);
        assert_eq!((common.conjuncts(), ours, theirs), (bits[..2].to_vec(), vec![bits[2], bits[3]], vec![]));
        let (common, ours, theirs) = path(&PathCondition::new(), &[1]).part(&a);
        assert!(common.is_empty());
        assert_eq!((ours, theirs), (vec![bits[1]], bits[..4].to_vec()));
    }
}
