//! Names of symbols that do not depend on a path.
//!
//! States that are abstracted or called again ask the same questions about new symbols. Symbols are renamed in the order
//! in which they occur, so that such questions are asked once (Visser, Geldenhuys, Dwyer: Green: reducing, reusing and
//! recycling constraints in program analysis, FSE 2012), and a solver sees few different terms.

use super::path::Model;
use cfa::{Expr, ExprId, ExprPool, Sort};
use rustc_hash::{FxHashMap, FxHashSet};

/// Terms of a set that is renamed; larger ones are left as they are.
const MOST_TERMS: usize = 4_000;

/// The symbols that others are renamed to, by sort and number.
#[derive(Default)]
pub(super) struct Names {
    by_sort: FxHashMap<Sort, Vec<ExprId>>,
}

/// A set of formulas with its symbols renamed.
pub(super) struct Renamed {
    /// Member by member.
    pub members: Vec<ExprId>,
    /// New and old name.
    symbols: Vec<(ExprId, ExprId)>,
}

impl Names {
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
    /// The model of the set itself for one of the renamed set.
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

/// The symbols in a set in the order in which they occur; `None` if the set is too large.
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
