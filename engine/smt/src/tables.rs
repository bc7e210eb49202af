//! Replaces reads of arrays at unknown indices, if the other indices are known.
//!
//! A table that was written element by element, and is read at an index with few values, is a choice between these
//! elements by the bits of the index. Array solvers find this out one element at a time.

mod tabulate;

use super::facts::Facts;
use cfa::{Expr, ExprId, ExprPool};
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximal number of choices for all elements together.
const MOST_CHOICES: u64 = 1 << 15;
/// Arrays with fewer stores are left to the solver.
const FEW_STORES: usize = 3;
/// The maximal width of constants whose bits are chosen separately.
const NARROW: u32 = 8;
/// The number of passes over the constraints: later ones may bound terms of earlier ones.
const ROUNDS: u32 = 2;

/// Returns the constraints with choices in place of elements, and the bounds of indices that the choices assume. `None`
/// if there is no such element, or if the ranges contradict one another.
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
    let known = tabulate::find(pool, constraints, &order, &candidates, &facts, NARROW);
    let is_left = |e: &ExprId| known.as_ref().is_none_or(|known| known.others.contains(e));
    let mut left = MOST_CHOICES;
    let mut bounded: FxHashMap<ExprId, (u64, u64)> = FxHashMap::default();
    for e in candidates.into_iter().filter(is_left) {
        let Expr::Select { index, .. } = *pool.get(e) else { unreachable!("a candidate") };
        let Some(range) = facts.range(pool, index) else { continue };
        let choices = 1u64.checked_shl(bits_between(range.low, range.high)).unwrap_or(u64::MAX);
        if choices <= left {
            left -= choices;
            bounded.insert(e, (range.low, range.high));
        }
    }
    if bounded.is_empty() && known.is_none() {
        return None;
    }
    let mut now: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut bounds = Vec::new();
    for e in order {
        if let Some(known) = known.as_ref().and_then(|known| known.tabulated.get(&e)) {
            let argument = now[&known.argument];
            bounds.extend(between(pool, argument, known.low, known.high));
            let value = |at: u64| known.values.get(at.checked_sub(known.low)? as usize).copied();
            let width = pool.width(e);
            let term = choose_constant(pool, width, value, argument, known.low, known.high);
            now.insert(e, term);
            continue;
        }
        if !is_left(&e) {
            continue;
        }
        let node = pool.get(e).clone();
        let children: Vec<ExprId> = node.children().map(|c| now[&c]).collect();
        let new = match (&node, bounded.get(&e)) {
            (Expr::Select { .. }, Some(&(low, high))) => {
                let (array, index) = (children[0], children[1]);
                bounds.extend(between(pool, index, low, high));
                element(pool, array, index, low, high)
            }
            _ if children.is_empty() => e,
            _ => pool.rebuild(&node, &children),
        };
        now.insert(e, new);
    }
    Some(constraints.iter().map(|c| now[c]).chain(bounds).collect())
}

fn between(pool: &mut ExprPool, e: ExprId, low: u64, high: u64) -> [ExprId; 2] {
    let width = pool.width(e);
    let (least, most) = (pool.int(width, low), pool.int(width, high));
    [pool.ule(least, e), pool.ule(e, most)]
}

/// The narrow constant at an index from `low` to `high`, chosen bit by bit. In many tables, most bits depend on few
/// bits of the index.
fn choose_constant(
    pool: &mut ExprPool,
    width: u32,
    value: impl Fn(u64) -> Option<u64>,
    index: ExprId,
    low: u64,
    high: u64,
) -> ExprId {
    let bits = bits_between(low, high);
    let first = low >> bits << bits;
    let mut whole = None;
    for bit in 0..width {
        let is_set =
            |i| (low..=high).contains(&(first + i)).then(|| value(first + i)).flatten().map(|v| v >> bit & 1 == 1);
        let part = (0..1u64 << bits).map(|i| is_set(i).map(|set| pool.bool(set))).collect();
        let part = choose(pool, part, index, bits);
        whole = Some(whole.map_or(part, |low| pool.concat(part, low)));
    }
    whole.expect("an element has a bit")
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
    let constant = |e: &Option<ExprId>| e.map(|e| pool.as_const(e)?.to_u64()).map_or(Some(None), |v| v.map(Some));
    if (2..=NARROW).contains(&elem)
        && let Some(values) = level.iter().map(constant).collect::<Option<Vec<Option<u64>>>>()
    {
        let value = |at: u64| values[(at - first) as usize];
        return choose_constant(pool, elem, value, index, low, high);
    }
    choose(pool, level, index, bits)
}

/// The entry of `level` that the low bits of an index select.
fn choose(pool: &mut ExprPool, mut level: Vec<Option<ExprId>>, index: ExprId, bits: u32) -> ExprId {
    for bit in 0..bits {
        let condition = pool.extract(bit, bit, index);
        level = level
            .chunks(2)
            .map(|pair| match *pair {
                [Some(even), Some(odd)] => Some(pool.ite(condition, odd, even)),
                // The index never has this value, so any element is correct.
                [even, odd] => even.or(odd),
                _ => unreachable!("a power of two"),
            })
            .collect();
    }
    level[0].expect("the range is not empty")
}

/// The number of low bits in which numbers of a range differ.
fn bits_between(low: u64, high: u64) -> u32 {
    64 - (low ^ high).leading_zeros()
}

/// The stores at known indices, from the last one backwards.
fn stores(pool: &ExprPool, array: ExprId) -> impl Iterator<Item = ExprId> {
    let known = |e: ExprId| match *pool.get(e) {
        Expr::Store { array, index, .. } if pool.as_const(index).is_some() => Some((e, array)),
        _ => None,
    };
    std::iter::successors(known(array), move |&(_, inner)| known(inner)).map(|(e, _)| e)
}

/// All terms, each after its operands.
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
    use cfa::{Evaluator, Sort, Value};

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

    /// Conditions on large tables at one index, some with missing elements, and on other terms.
    #[test]
    fn conditions_on_large_tables_are_written_down() {
        let mut below = crate::dice::dice(5);
        let (mut hold, mut fail) = (0, 0);
        for round in 0..40 {
            let mut pool = ExprPool::new();
            let (x, y) = (pool.fresh_symbol(Sort::Bv(16)).1, pool.fresh_symbol(Sort::Bv(16)).1);
            let size = 300 + below(200);
            let unknown = pool.fresh_symbol(Sort::Array { index: 20, elem: 16 }).1;
            let tables = [0, 1].map(|_| {
                let zero = pool.int(16, 0);
                let mut array = if below(2) == 0 { unknown } else { pool.const_array(20, zero) };
                for i in 0..size {
                    let value = if below(400) == 0 { y } else { pool.int(16, below(size)) };
                    let at = pool.int(20, i);
                    if below(400) > 0 {
                        array = pool.store(array, at, value);
                    }
                }
                array
            });
            let (wide, step) = (pool.zext(20, x), pool.int(20, below(3)));
            let next = pool.add(wide, step);
            let (a, b) = (pool.select(tables[0], wide), pool.select(tables[1], next));
            let (least, most) = (pool.int(16, below(5)), pool.int(16, size - 1 - below(5)));
            let other = if below(3) == 0 { y } else { pool.int(16, below(size)) };
            let (sum, few) = (pool.add(a, b), pool.int(16, size));
            let last = if round % 2 == 0 { pool.ule(few, sum) } else { pool.ult(b, other) };
            let set = [pool.ule(least, x), pool.ule(x, most), pool.ule(a, other), last];
            let now = spread(&mut pool, &set).expect("the index has bounds");
            let content = cfa::ArrayValue { default: cfa::Bv::new(16, below(size)), entries: Default::default() };
            let (content, of_y) = (std::rc::Rc::new(content), cfa::Bv::new(16, below(size)));
            let leaf = |at: u64| {
                let (content, of_y) = (content.clone(), of_y.clone());
                move |e: ExprId, _: &Expr| match e {
                    _ if e == unknown => Value::Array(content.clone()),
                    _ if e == y => Value::Bv(of_y.clone()),
                    _ => Value::Bv(cfa::Bv::new(16, at)),
                }
            };
            // The content of the tables does not depend on the index.
            let mut evaluator = Evaluator::new(&pool, leaf(0));
            tables.iter().for_each(|&table| drop(evaluator.value(table)));
            let content = evaluator.into_memo();
            for at in 0..size + 3 {
                let mut evaluator = Evaluator::with_memo(&pool, leaf(at), content.clone());
                let mut all = |set: &[ExprId]| set.iter().all(|&e| evaluator.eval(e).is_true());
                let holds = all(&set);
                assert_eq!(holds, all(&now), "{round}: {at}");
                *if holds { &mut hold } else { &mut fail } += 1;
            }
        }
        assert!(hold > 1000 && fail > 1000, "{hold} {fail}");
    }
}
