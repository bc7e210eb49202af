//! Hash-consed points-to sets.
//!
//! In programs with large heaps, thousands of pointers have the same few sets. Interned sets that are equal have equal
//! ids, and unions and differences are cached (Barbar, Sui: *Hash consed points-to sets*, SAS 2021).

use crate::sparse_set::SparseSet;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A set in a [`SetPool`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SetId(pub u32);

impl SetId {
    /// The empty set.
    pub const EMPTY: Self = Self(0);
}

/// A pool of interned sets, with caches of unions and differences.
pub struct SetPool {
    sets: Vec<Rc<SparseSet>>,
    ids: FxHashMap<Rc<SparseSet>, SetId>,
    unions: FxHashMap<(SetId, SetId), SetId>,
    differences: FxHashMap<(SetId, SetId), SetId>,
    /// The number of blocks that all operations have visited so far, as a measure of cost.
    pub work: u64,
}

impl SetPool {
    /// A pool with the empty set.
    pub fn new() -> Self {
        let empty = Rc::new(SparseSet::new());
        let mut ids = FxHashMap::default();
        ids.insert(empty.clone(), SetId::EMPTY);
        Self { sets: vec![empty], ids, unions: FxHashMap::default(), differences: FxHashMap::default(), work: 0 }
    }
    /// The set with this id.
    pub fn get(&self, id: SetId) -> &Rc<SparseSet> {
        &self.sets[id.0 as usize]
    }
    /// The id of the set.
    pub fn intern(&mut self, set: SparseSet) -> SetId {
        self.work += 1 + set.block_count() as u64;
        if let Some(&id) = self.ids.get(&set) {
            return id;
        }
        let id = SetId(self.sets.len() as u32);
        let set = Rc::new(set);
        self.sets.push(set.clone());
        self.ids.insert(set, id);
        id
    }
    /// The union of two sets.
    pub fn union(&mut self, a: SetId, b: SetId) -> SetId {
        let (a, b) = (a.min(b), a.max(b));
        if a == SetId::EMPTY || a == b {
            return b;
        }
        if let Some(&known) = self.unions.get(&(a, b)) {
            return known;
        }
        // The larger set first, since it often includes the other.
        let (large, small) = if self.get(a).block_count() > self.get(b).block_count() { (a, b) } else { (b, a) };
        self.work += self.get(large).block_count() as u64;
        let id = if self.get(large).contains_all(self.get(small)) {
            large
        } else {
            let mut set = SparseSet::clone(self.get(large));
            set.union(self.get(small));
            self.intern(set)
        };
        self.unions.insert((a, b), id);
        id
    }
    /// The union of one set and others, without intermediate sets. Sorts `others` and removes duplicates.
    pub fn union_all(&mut self, first: SetId, others: &mut Vec<SetId>) -> SetId {
        others.sort_unstable();
        others.dedup();
        if let [] | [_] | [_, _] = others[..] {
            return others.iter().fold(first, |all, &other| self.union(all, other));
        }
        let mut all = SparseSet::clone(self.get(first));
        for &other in others.iter() {
            self.work += self.get(other).block_count() as u64;
            all.union(self.get(other));
        }
        self.intern(all)
    }
    /// The elements of `a` that are not in `b`.
    pub fn difference(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || a == SetId::EMPTY {
            return SetId::EMPTY;
        }
        if b == SetId::EMPTY {
            return a;
        }
        if let Some(&known) = self.differences.get(&(a, b)) {
            return known;
        }
        self.work += self.get(a).block_count() as u64;
        let mut set = SparseSet::clone(self.get(a));
        set.subtract(self.get(b));
        let id = self.intern(set);
        self.differences.insert((a, b), id);
        id
    }
}
