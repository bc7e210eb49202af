//! Sparse sets of small integers, as sorted vectors of 64-bit blocks.

/// A set of `u32`. Unions merge sorted vectors.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct SparseSet {
    /// Pairs (block number, its bits, which are never 0), ascending by block number.
    blocks: Vec<(u32, u64)>,
}

impl SparseSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }
    /// The number of items. Takes time linear in the number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|(_, bits)| bits.count_ones() as usize).sum()
    }
    /// Returns true if the set has more than `count` items.
    pub fn has_more_than(&self, count: usize) -> bool {
        self.blocks.len() > count || self.len() > count
    }
    /// The number of blocks, as a measure of memory and time.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }
    /// Returns true if the set contains the item.
    pub fn contains(&self, item: u32) -> bool {
        match self.blocks.binary_search_by_key(&(item / 64), |b| b.0) {
            Ok(i) => self.blocks[i].1 >> (item % 64) & 1 == 1,
            Err(_) => false,
        }
    }
    /// Adds the item. Returns true if it is new.
    pub fn insert(&mut self, item: u32) -> bool {
        let bit = 1u64 << (item % 64);
        let block = item / 64;
        if self.blocks.last().is_none_or(|b| b.0 < block) {
            self.blocks.push((block, bit));
            return true;
        }
        match self.blocks.binary_search_by_key(&block, |b| b.0) {
            Ok(i) => {
                let new = self.blocks[i].1 & bit == 0;
                self.blocks[i].1 |= bit;
                new
            }
            Err(i) => {
                self.blocks.insert(i, (block, bit));
                true
            }
        }
    }
    /// The items in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.iter().flat_map(|&(block, bits)| Bits { base: block * 64, bits })
    }
    /// Returns true if the set contains every item of `other`.
    pub fn contains_all(&self, other: &Self) -> bool {
        let mut i = 0;
        other.blocks.len() <= self.blocks.len()
            && other.blocks.iter().all(|&(block, bits)| {
                i += self.position(i, block, other);
                self.blocks.get(i).is_some_and(|&(b, have)| b == block && bits & !have == 0)
            })
    }
    /// The distance from index `i` to the first block with a number of at least `block`. `other` is the set that is
    /// being traversed.
    fn position(&self, i: usize, block: u32, other: &Self) -> usize {
        let rest = &self.blocks[i..];
        if other.blocks.len() * 8 < self.blocks.len() {
            rest.partition_point(|b| b.0 < block)
        } else {
            rest.iter().position(|b| b.0 >= block).unwrap_or(rest.len())
        }
    }
    /// Adds the items of `other`. Returns true if any of them is new.
    pub fn union(&mut self, other: &Self) -> bool {
        if other.blocks.is_empty() {
            return false;
        }
        // Find the new items first, and merge only if there are any.
        let mut new = Self::default();
        let mut i = 0;
        let mut missing = 0;
        for &(block, bits) in &other.blocks {
            i += self.position(i, block, other);
            new.note(&self.blocks, i, block, bits, &mut missing);
        }
        if new.blocks.is_empty() {
            return false;
        }
        self.merge(&new, missing);
        true
    }
    /// Adds the items of `bits` that `blocks` lacks to this set of new items. `i` is the index in `blocks`.
    fn note(&mut self, blocks: &[(u32, u64)], i: usize, block: u32, bits: u64, missing: &mut usize) {
        match blocks.get(i) {
            Some(&(b, have)) if b == block => {
                if bits & !have != 0 {
                    self.blocks.push((block, bits & !have));
                }
            }
            _ => {
                self.blocks.push((block, bits));
                *missing += 1;
            }
        }
    }
    /// Merges `new` in place, from the back. `missing` is the number of its blocks that this set lacks.
    fn merge(&mut self, new: &Self, missing: usize) {
        let mut from = self.blocks.len();
        self.blocks.resize(from + missing, (0, 0));
        let mut to = self.blocks.len();
        let mut k = new.blocks.len();
        while k > 0 {
            let (block, bits) = new.blocks[k - 1];
            if from > 0 && self.blocks[from - 1].0 >= block {
                from -= 1;
                to -= 1;
                self.blocks[to] = self.blocks[from];
                if self.blocks[to].0 == block {
                    self.blocks[to].1 |= bits;
                    k -= 1;
                }
            } else {
                to -= 1;
                self.blocks[to] = (block, bits);
                k -= 1;
            }
        }
        debug_assert_eq!(from, to);
    }
    /// Removes the items of `other`.
    pub fn subtract(&mut self, other: &Self) {
        if other.blocks.is_empty() {
            return;
        }
        let mut i = 0;
        self.blocks.retain_mut(|(block, bits)| {
            while i < other.blocks.len() && other.blocks[i].0 < *block {
                i += 1;
            }
            if let Some(&(b, theirs)) = other.blocks.get(i)
                && b == *block
            {
                *bits &= !theirs;
            }
            *bits != 0
        });
    }
}

impl FromIterator<u32> for SparseSet {
    fn from_iter<I: IntoIterator<Item = u32>>(items: I) -> Self {
        let mut set = Self::new();
        for item in items {
            set.insert(item);
        }
        set
    }
}

/// Iterates over the members among 64 consecutive numbers from `base` on.
struct Bits {
    base: u32,
    bits: u64,
}

impl Iterator for Bits {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        if self.bits == 0 {
            return None;
        }
        let item = self.base + self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Deterministic pseudo-random numbers.
    fn numbers(mut seed: u64) -> impl FnMut(u32) -> u32 {
        move |bound| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as u32 % bound
        }
    }

    #[test]
    fn behaves_as_a_set() {
        let mut random = numbers(7);
        for round in 0..300 {
            let bound = [50, 300, 5000][round % 3];
            let (a_len, b_len) = (random(200), random(60));
            let a: BTreeSet<u32> = (0..a_len).map(|_| random(bound)).collect();
            let b: BTreeSet<u32> = (0..b_len).map(|_| random(bound)).collect();
            let (sa, sb): (SparseSet, SparseSet) = (a.iter().copied().collect(), b.iter().rev().copied().collect());
            assert!(sb.iter().eq(b.iter().copied()));
            let mut union = sa.clone();
            assert_eq!(sa.contains_all(&sb), b.is_subset(&a));
            assert_eq!(union.union(&sb), !b.is_subset(&a));
            assert!(union.contains_all(&sa) && union.contains_all(&sb));
            assert!(union.iter().eq(a.union(&b).copied()));
            assert_eq!(union.len(), a.union(&b).count());
            let mut difference = sa.clone();
            difference.subtract(&sb);
            assert!(difference.iter().eq(a.difference(&b).copied()));
            for x in 0..bound.min(100) {
                assert_eq!(union.contains(x), a.contains(&x) || b.contains(&x));
            }
        }
    }
}
