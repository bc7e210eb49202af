//! Elements at an unknown index of arrays whose other indices are known.
//!
//! A table that was written element by element and is read at an index that has few values is a choice between these
//! elements, by the bits of the index. Solvers of arrays find that out one element at a time.

use super::facts::Facts;
use cfa::{Expr, ExprId, ExprPool};
use rustc_hash::{FxHashMap, FxHashSet};

/// Choices of all elements together.
const MOST_CHOICES: u64 = 1 << 15;
/// Arrays that were written less often are left to the solver.
const FEW_STORES: usize = 3;
/// Bits of constants of which each is chosen on its own.
const NARROW: u32 = 8;
/// What the constraints say is looked at again, as later ones may say more of the terms of earlier ones.
const ROUNDS: u32 = 2;

/// The constraints with choices for elements, and the bounds of indices that they rely on; `None` if there is no such
/// element, or a contradiction.
pub(super) fn spread(pool: &mut ExprPool, constraints: &[ExprId]) -> Option<Vec<ExprId>> {
    let order = post_order(pool, constraints);
    let is_table = |&e: &ExprId| {
        let Expr::Select { array, index } = *pool.get(e) else { return false };
        pool.as_const(index).is_none() && stores(pool, array).take(FEW_STORES).count() == FEW_STORES
    };
    let candidates: Vec<ExprId> = order.iter().copied().filter(is_table).collect();
    if candidates.is_empty() {
        return None;
    }
    let mut facts = Facts::default();
    for _ in 0..ROUNDS {
        if constraints.iter().any(|&c| facts.assume(pool, c).is_err()) {
            return None;
        }
    }
    let mut left = MOST_CHOICES;
    let mut bounded: FxHashMap<ExprId, (u64, u64)> = FxHashMap::default();
    for e in candidates {
        let Expr::Select { index, .. } = *pool.get(e) else { unreachable!("a candidate") };
        let Some(range) = facts.range(pool, index) else { continue };
        let choices = 1u64.checked_shl(bits_between(range.low, range.high)).unwrap_or(u64::MAX);
        if choices <= left {
            left -= choices;
            bounded.insert(e, (range.low, range.high));
        }
    }
    if bounded.is_empty() {
        return None;
    }
    let mut now: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut bounds = Vec::new();
    for e in order {
        let node = pool.get(e).clone();
        let children: Vec<ExprId> = node.children().map(|c| now[&c]).collect();
        let new = match (&node, bounded.get(&e)) {
            (Expr::Select { .. }, Some(&(low, high))) => {
                let (array, index) = (children[0], children[1]);
                let width = pool.width(index);
                let (least, most) = (pool.int(width, low), pool.int(width, high));
                bounds.extend([pool.ule(least, index), pool.ule(index, most)]);
                element(pool, array, index, low, high)
            }
            _ if children.is_empty() => e,
            _ => pool.rebuild(&node, &children),
        };
        now.insert(e, new);
    }
    Some(constraints.iter().map(|c| now[c]).chain(bounds).collect())
}

/// The element at an index from `low` to `high`.
fn element(pool: &mut ExprPool, array: ExprId, index: ExprId, low: u64, high: u64) -> ExprId {
    let mut written: FxHashMap<u64, ExprId> = FxHashMap::default();
    let mut base = array;
    while let Expr::Store { array, index, value } = *pool.get(base)
        && let Some(at) = pool.as_const(index).and_then(cfa::Bv::to_u64)
    {
        written.entry(at).or_insert(value);
        base = array;
    }
    let width = pool.width(index);
    let bits = bits_between(low, high);
    let first = if bits >= 64 { 0 } else { low >> bits << bits };
    let level: Vec<Option<ExprId>> = (0..1u64 << bits)
        .map(|i| {
            let at = first + i;
            (low..=high).contains(&at).then(|| {
                written.get(&at).copied().unwrap_or_else(|| {
                    let at = pool.int(width, at);
                    pool.select(base, at)
                })
            })
        })
        .collect();
    let elem = pool.width(level.iter().flatten().next().copied().expect("the range is not empty"));
    if elem > 1 && elem <= NARROW && level.iter().flatten().all(|&e| pool.as_const(e).is_some()) {
        // Bit by bit: most of the bits of many tables depend on few bits of the index.
        let mut whole = None;
        for bit in 0..elem {
            let part = level.iter().map(|e| e.map(|e| pool.extract(bit, bit, e))).collect();
            let part = choose(pool, part, index, bits);
            whole = Some(whole.map_or(part, |low| pool.concat(part, low)));
        }
        return whole.expect("an element has a bit");
    }
    choose(pool, level, index, bits)
}

/// One of a row by the low bits of an index.
fn choose(pool: &mut ExprPool, mut level: Vec<Option<ExprId>>, index: ExprId, bits: u32) -> ExprId {
    for bit in 0..bits {
        let condition = pool.extract(bit, bit, index);
        level = level
            .chunks(2)
            .map(|pair| match *pair {
                [Some(even), Some(odd)] => Some(pool.ite(condition, odd, even)),
                // Where the index is not, anything will do.
                [even, odd] => even.or(odd),
                _ => unreachable!("a power of two"),
            })
            .collect();
    }
    level[0].expect("the range is not empty")
}

/// The bits in which numbers of a range differ.
fn bits_between(low: u64, high: u64) -> u32 {
    64 - (low ^ high).leading_zeros()
}

/// The stores at known indices from the last one back.
fn stores(pool: &ExprPool, array: ExprId) -> impl Iterator<Item = ExprId> {
    let known = |e: ExprId| match *pool.get(e) {
        Expr::Store { array, index, .. } if pool.as_const(index).is_some() => Some((e, array)),
        _ => None,
    };
    std::iter::successors(known(array), move |&(_, inner)| known(inner)).map(|(e, _)| e)
}

/// All terms, each after its parts.
fn post_order(pool: &ExprPool, roots: &[ExprId]) -> Vec<ExprId> {
    let mut order = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack: Vec<(ExprId, bool)> = roots.iter().map(|&e| (e, false)).collect();
    while let Some((e, done)) = stack.pop() {
        if done {
            order.push(e);
        } else if seen.insert(e) {
            stack.push((e, true));
            stack.extend(pool.get(e).children().map(|c| (c, false)));
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Bitwuzla, Solver, budget::Budget};
    use cfa::Sort;

    /// Reads of a table between random bounds.
    #[test]
    fn choices_are_elements() {
        let mut below = crate::dice::dice(3);
        let (mut sat, mut unsat) = (0, 0);
        for _ in 0..150 {
            let mut pool = ExprPool::new();
            let mut array = pool.fresh_symbol(Sort::Array { index: 8, elem: 4 }).1;
            let x = pool.fresh_symbol(Sort::Bv(4)).1;
            let start = below(200);
            for i in 0..below(40) {
                let (at, value) = (pool.int(8, start + i), pool.int(4, below(3)));
                let value = if below(30) == 0 { x } else { value };
                array = pool.store(array, at, value);
            }
            let index = pool.fresh_symbol(Sort::Bv(8)).1;
            let (low, high) = (pool.int(8, start + below(5)), pool.int(8, start + below(45)));
            let read = pool.select(array, index);
            let wide = pool.zext(8, read);
            let again = pool.select(array, wide);
            let value = pool.int(4, below(12));
            let set = [pool.ule(low, index), pool.ule(index, high), pool.eq(read, value), pool.ne(again, x)];
            let set: Vec<ExprId> = set.into_iter().filter(|&e| !pool.is_true(e)).collect();
            let Some(now) = spread(&mut pool, &set) else { continue };
            let ask = |set: &[ExprId]| Bitwuzla::new().check(&pool, set, &Budget::unlimited());
            let answer = ask(&set);
            assert_eq!(answer, ask(&now));
            *if answer == Answer::Sat { &mut sat } else { &mut unsat } += 1;
        }
        assert!(sat > 20 && unsat > 20, "{sat} {unsat}");
    }
}
