//! Canonical names of symbols, independent of the path.
//!
//! Abstracted states and repeated calls lead to the same queries about new symbols. Symbols are renamed in the order in
//! which they occur. So such a query is solved once (Visser, Geldenhuys, Dwyer: *Green: reducing, reusing and recycling
//! constraints in program analysis*, FSE 2012), and solvers receive few different terms.

use super::path::Model;
use cfa::{Expr, ExprId, ExprPool, Sort};
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximal number of terms of a set. Larger sets are not renamed.
const MOST_TERMS: usize = 4_000;

/// The canonical symbols, by sort and number.
#[derive(Default)]
pub(super) struct Names {
    by_sort: FxHashMap<Sort, Vec<ExprId>>,
}

/// A set of formulas with canonical symbols.
pub(super) struct Renamed {
    /// The renamed formulas, in the order of the set.
    pub members: Vec<ExprId>,
    /// Pairs (canonical symbol, original symbol).
    symbols: Vec<(ExprId, ExprId)>,
}

impl Names {
    /// Renames the symbols of a set.
    pub fn rename(&mut self, pool: &mut ExprPool, set: &[ExprId]) -> Renamed {
        let Some(symbols) = symbols(pool, set) else { return Renamed { members: set.to_vec(), symbols: Vec::new() } };
        let mut used: FxHashMap<Sort, usize> = FxHashMap::default();
        let mut names: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for symbol in symbols {
            let sort = pool.sort(symbol);
            let number = used.entry(sort).or_default();
            let known = self.by_sort.entry(sort).or_default();
            if known.len() == *number {
                known.push(pool.fresh_symbol(sort).1);
            }
            names.insert(symbol, known[*number]);
            *number += 1;
        }
        let mut memo = FxHashMap::default();
        let members = set.iter().map(|&e| pool.substitute(e, &mut memo, |_, leaf| names.get(&leaf).copied())).collect();
        Renamed { members, symbols: names.into_iter().map(|(old, new)| (new, old)).collect() }
    }
}

impl Renamed {
    /// Translates a model of the renamed set to a model of the original set.
    pub fn model(&self, model: &Model) -> Model {
        if self.symbols.is_empty() {
            return model.clone();
        }
        let names: FxHashMap<ExprId, ExprId> = self.symbols.iter().copied().collect();
        let mut own = Model::default();
        for (leaf, value) in model.iter() {
            own.set(names.get(&leaf).copied().unwrap_or(leaf), value.clone());
        }
        own.set_spurious(model.is_spurious());
        own
    }
}

/// The symbols of a set in the order in which they occur; `None` if the set is too large.
fn symbols(pool: &ExprPool, set: &[ExprId]) -> Option<Vec<ExprId>> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut stack: Vec<ExprId> = set.iter().rev().copied().collect();
    while let Some(e) = stack.pop() {
        if !seen.insert(e) {
            continue;
        }
        if seen.len() > MOST_TERMS {
            return None;
        }
        match pool.get(e) {
            Expr::Sym(_) => found.push(e),
            node => stack.extend(node.children()),
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{Bv, Value};

    #[test]
    fn the_same_question_about_other_symbols() {
        let mut pool = ExprPool::new();
        let mut names = Names::default();
        let mut question = |pool: &mut ExprPool| {
            let [x, y] = [0; 2].map(|_| pool.fresh_symbol(Sort::Bv(8)).1);
            let four = pool.int(8, 4);
            let (less, equal) = (pool.ult(x, y), pool.eq(x, four));
            let renamed = names.rename(pool, &[less, equal]);
            (x, y, renamed)
        };
        let (x, y, first) = question(&mut pool);
        let (_, _, second) = question(&mut pool);
        assert_eq!(first.members, second.members);
        // A model of the renamed set. Its second member contains only `x`.
        let mut model = Model::default();
        for leaf in symbols(&pool, &first.members).unwrap() {
            model.set(leaf, Value::Bv(Bv::new(8, 9)));
        }
        model.set(symbols(&pool, &first.members[1..]).unwrap()[0], Value::Bv(Bv::new(8, 4)));
        let own = first.model(&model);
        assert_eq!((own.eval(&pool, x).to_u64(), own.eval(&pool, y).to_u64()), (Some(4), Some(9)));
    }

    #[test]
    fn symbols_of_different_sorts_and_roles_stay_apart() {
        let mut pool = ExprPool::new();
        let mut names = Names::default();
        let [x, y] = [0; 2].map(|_| pool.fresh_symbol(Sort::Bv(8)).1);
        let (_, wide) = pool.fresh_symbol(Sort::Bv(16));
        let seven = pool.int(8, 7);
        let (square, product) = (pool.mul(x, x), pool.mul(x, y));
        let (same, different) = (pool.eq(square, seven), pool.eq(product, seven));
        let (narrow, wider) = (pool.zext(16, x), pool.zext(16, y));
        let (a, b) = (pool.ult(narrow, wide), pool.ult(wider, wide));
        assert_ne!(names.rename(&mut pool, &[same]).members, names.rename(&mut pool, &[different]).members);
        assert_ne!(names.rename(&mut pool, &[a, b]).members, names.rename(&mut pool, &[a, a]).members);
        assert_eq!(names.rename(&mut pool, &[a]).members, names.rename(&mut pool, &[b]).members);
    }
}
