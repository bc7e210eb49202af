//! Independence: conjuncts that share no leaf, directly or through other conjuncts, can be solved separately.
//!
//! The idea is that of KLEE (Cadar, Dunbar, Engler: "KLEE", OSDI 2008, "constraint independence"). Here the groups are
//! built incrementally with the path condition. A query finds its group without visiting the others.

use cfa::{Expr, ExprId, ExprPool, Id};
use rpds::{RedBlackTreeMap, Vector};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Returns true if the node is a leaf without a fixed value.
pub(super) fn is_free(node: &Expr) -> bool {
    matches!(node, Expr::Sym(_) | Expr::Var(_) | Expr::GlobalAddr(_) | Expr::FuncAddr(_))
}

/// A cache of the free leaves of expressions. Equal sets are stored once. A long chain of terms, each with one more
/// leaf, would take quadratic space. So large sets are stored only for queried expressions, and in limited number.
#[derive(Default)]
pub(super) struct Leaves {
    /// By expression, an index into `sets`, `UNKNOWN`, or `LARGE`.
    indices: Vec<u32>,
    sets: Vec<Rc<[ExprId]>>,
    numbers: FxHashMap<Rc<[ExprId]>, u32>,
    unions: FxHashMap<(u32, u32), u32>,
    large: FxHashMap<ExprId, Rc<[ExprId]>>,
    /// The total number of leaves in `large`.
    stored: usize,
}

/// In place of an index: the leaves of the expression are not known yet.
const UNKNOWN: u32 = u32::MAX;
/// The mark of a set that is not in `sets`.
const LARGE: u32 = u32::MAX - 1;
/// The maximal size of a set in `sets`.
const SMALL: usize = 64;
/// The maximal total size of the large sets. Beyond it, large sets are recomputed.
const STORED: usize = 1 << 24;

impl Leaves {
    /// The free leaves of `root`, in the order of their ids.
    pub fn free_leaves(&mut self, pool: &ExprPool, root: ExprId) -> Rc<[ExprId]> {
        if self.indices.len() < pool.len() {
            self.indices.resize(pool.len(), UNKNOWN);
        }
        let mut stack = vec![root];
        while let Some(&e) = stack.last() {
            if self.indices[e.index()] != UNKNOWN {
                stack.pop();
                continue;
            }
            let node = pool.get(e);
            let pending = stack.len();
            stack.extend(node.children().filter(|c| self.indices[c.index()] == UNKNOWN));
            if stack.len() > pending {
                continue;
            }
            let mut set = if is_free(node) { self.intern(&[e]) } else { self.intern(&[]) };
            for child in node.children() {
                set = self.union(set, self.indices[child.index()]);
            }
            self.indices[e.index()] = set;
        }
        match self.indices[root.index()] {
            LARGE => self.large(pool, root),
            number => Rc::clone(&self.sets[number as usize]),
        }
    }

    /// The leaves of an expression with a large set.
    fn large(&mut self, pool: &ExprPool, root: ExprId) -> Rc<[ExprId]> {
        if let Some(known) = self.large.get(&root) {
            return Rc::clone(known);
        }
        let mut all = FxHashSet::default();
        let mut seen = FxHashSet::default();
        let mut added = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(e) = stack.pop() {
            match self.indices[e.index()] {
                LARGE => {
                    if seen.insert(e) {
                        stack.extend(pool.get(e).children());
                    }
                }
                number => {
                    if added.insert(number) {
                        all.extend(self.sets[number as usize].iter().copied());
                    }
                }
            }
        }
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_unstable();
        if self.stored > STORED {
            self.large.clear();
            self.stored = 0;
        }
        self.stored += all.len();
        let all: Rc<[ExprId]> = all.into();
        self.large.insert(root, Rc::clone(&all));
        all
    }

    fn intern(&mut self, set: &[ExprId]) -> u32 {
        if let Some(&number) = self.numbers.get(set) {
            return number;
        }
        let number = self.sets.len() as u32;
        let set: Rc<[ExprId]> = set.into();
        self.sets.push(Rc::clone(&set));
        self.numbers.insert(set, number);
        number
    }

    fn union(&mut self, a: u32, b: u32) -> u32 {
        if a == b {
            return a;
        }
        if a == LARGE || b == LARGE {
            return LARGE;
        }
        let (x, y) = (Rc::clone(&self.sets[a as usize]), Rc::clone(&self.sets[b as usize]));
        if y.is_empty() {
            return a;
        }
        if x.is_empty() {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let mut all = Vec::with_capacity(x.len() + y.len());
        all.extend_from_slice(&x);
        all.extend_from_slice(&y);
        all.sort_unstable();
        all.dedup();
        let union = if all.len() > SMALL { LARGE } else { self.intern(&all) };
        self.unions.insert(key, union);
        union
    }
}

/// The independent groups of the conjuncts of a path condition, as a persistent union-find over the leaves.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// The parent of each leaf on the way to the representative of its group. Representatives have none.
    parents: RedBlackTreeMap<ExprId, ExprId>,
    /// The conjuncts of each group, by representative.
    members: RedBlackTreeMap<ExprId, Vector<ExprId>>,
}

impl Groups {
    fn find(&self, mut leaf: ExprId) -> ExprId {
        while let Some(&parent) = self.parents.get(&leaf) {
            leaf = parent;
        }
        leaf
    }

    /// Adds a conjunct with these free leaves. There must be at least one.
    pub fn add(&mut self, conjunct: ExprId, leaves: &[ExprId]) {
        let mut group = self.find(leaves[0]);
        let mut members = self.members.get(&group).cloned().unwrap_or_default();
        for &leaf in &leaves[1..] {
            let other = self.find(leaf);
            if other == group {
                continue;
            }
            let mut joining = self.members.get(&other).cloned().unwrap_or_default();
            self.members.remove_mut(&other);
            self.members.remove_mut(&group);
            // The smaller group is merged into the larger, so parent chains have logarithmic length.
            if joining.len() > members.len() {
                self.parents.insert_mut(group, other);
                group = other;
                std::mem::swap(&mut members, &mut joining);
            } else {
                self.parents.insert_mut(other, group);
            }
            for &member in &joining {
                members.push_back_mut(member);
            }
        }
        members.push_back_mut(conjunct);
        self.members.insert_mut(group, members);
    }

    /// The conjuncts of all groups that contain any of these leaves, in the order of their ids.
    pub fn containing(&self, leaves: &[ExprId]) -> Vec<ExprId> {
        let mut groups: Vec<_> = leaves.iter().map(|&leaf| self.find(leaf)).collect();
        groups.sort_unstable();
        groups.dedup();
        let mut all: Vec<_> = groups.iter().filter_map(|g| self.members.get(g)).flatten().copied().collect();
        all.sort_unstable();
        all
    }

    /// The representatives of all groups with conjuncts, in the order of their ids.
    pub fn representatives(&self) -> Vec<ExprId> {
        self.members.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::Sort;

    #[test]
    fn leaves_of_long_chains() {
        let mut pool = ExprPool::new();
        let mut leaves = Leaves::default();
        let mut sum = pool.int(32, 0);
        let mut all = Vec::new();
        for n in 1..400usize {
            let (_, x) = pool.fresh_symbol(Sort::Bv(32));
            all.push(x);
            sum = pool.xor(sum, x);
            if n % 7 == 0 {
                assert_eq!(*leaves.free_leaves(&pool, sum), all[..]);
            }
        }
        let twice = pool.mul(sum, sum);
        assert_eq!(*leaves.free_leaves(&pool, twice), all[..]);
        assert_eq!(leaves.free_leaves(&pool, all[3])[..], all[3..4]);
    }

    #[test]
    fn groups_join_and_stay_apart() {
        let mut pool = ExprPool::new();
        let x: Vec<_> = (0..6).map(|_| pool.fresh_symbol(Sort::Bv(8)).1).collect();
        let mut leaves = Leaves::default();
        let mut groups = Groups::default();
        let mut add = |groups: &mut Groups, pool: &mut ExprPool, a: usize, b: usize| {
            let e = pool.ult(x[a], x[b]);
            groups.add(e, &leaves.free_leaves(pool, e));
            e
        };
        let e01 = add(&mut groups, &mut pool, 0, 1);
        let e23 = add(&mut groups, &mut pool, 2, 3);
        let before = groups.clone();
        let e12 = add(&mut groups, &mut pool, 1, 2);
        let e45 = add(&mut groups, &mut pool, 4, 5);
        assert_eq!(groups.containing(&[x[0]]), vec![e01, e23, e12]);
        assert_eq!(groups.containing(&[x[5]]), vec![e45]);
        assert_eq!(groups.representatives().len(), 2);
        assert_eq!(before.containing(&[x[0]]), vec![e01]);
        assert_eq!(before.containing(&[x[0], x[3]]), vec![e01, e23]);
        assert!(before.containing(&[x[4]]).is_empty());
    }
}
