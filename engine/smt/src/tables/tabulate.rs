//! Conditions that depend on constant tables and one term alone.
//!
//! Whether `table[i] > 7` is for each `i` known beforehand. So it is written down for all of them, as a decision diagram over the
//! bits of `i` (Bryant, Graph-based algorithms for boolean function manipulation, IEEE Transactions on Computers 1986): what a solver
//! would have to find out of one choice between thousands of wide elements.

use super::stores;
use crate::facts::Facts;
use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, Sort};
use rustc_hash::{FxHashMap, FxHashSet};

/// Elements that a choice between them is good enough for.
const FEW: u64 = 1 << 8;
/// Values for which something is written down.
const MOST: u64 = 1 << 17;
/// Operations that are computed for one query.
const WORK: u64 = 1 << 23;

/// What a term is, for each value of another from the least on.
pub(super) struct Tabulated {
    pub argument: ExprId,
    pub low: u64,
    pub high: u64,
    pub values: Vec<u64>,
}

/// What the tabulated terms are, and the other terms that are left to be looked at with them.
pub(super) struct Found {
    pub tabulated: FxHashMap<ExprId, Tabulated>,
    pub others: FxHashSet<ExprId>,
}

/// What a term depends on.
#[derive(Clone, Copy, PartialEq)]
enum Depends {
    /// On nothing, or on one term, and whether on tables.
    On(Option<ExprId>, bool),
    Otherwise,
}

impl Depends {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Depends::On(a, x), Depends::On(b, y)) if a.is_none() || b.is_none() || a == b => {
                Depends::On(a.or(b), x || y)
            }
            _ => Depends::Otherwise,
        }
    }
}

/// The largest terms of no more than `width` bits that depend on tables and one term alone, where one of the tables is large. `order`
/// has each term after its parts, `reads` are reads of tables.
pub(super) fn find(
    pool: &ExprPool,
    roots: &[ExprId],
    order: &[ExprId],
    reads: &[ExprId],
    facts: &Facts,
    width: u32,
) -> Option<Found> {
    let mut tables = Tables::default();
    let mut arguments: FxHashMap<ExprId, (u64, u64)> = FxHashMap::default();
    for &read in reads {
        let Expr::Select { array, index } = *pool.get(read) else { continue };
        if !tables.is_constant(pool, array) {
            continue;
        }
        if let Some((argument, low, high)) = core(pool, facts, index) {
            arguments.insert(argument, (low, high));
        }
    }
    if arguments.is_empty() {
        return None;
    }
    let mut depends: FxHashMap<ExprId, Depends> = FxHashMap::default();
    for &e in order {
        let of = match *pool.get(e) {
            _ if arguments.contains_key(&e) => Depends::On(Some(e), false),
            Expr::Select { array, index } if tables.is_constant(pool, array) => {
                depends[&index].and(Depends::On(None, true))
            }
            Expr::Const(_) => Depends::On(None, false),
            ref node if node.children().next().is_none() || !is_bits(pool, e) => Depends::Otherwise,
            ref node => node.children().map(|c| depends[&c]).fold(Depends::On(None, false), Depends::and),
        };
        depends.insert(e, of);
    }
    let mut found = Found { tabulated: FxHashMap::default(), others: FxHashSet::default() };
    let (mut stack, mut work) = (roots.to_vec(), 0);
    while let Some(e) = stack.pop() {
        if found.tabulated.contains_key(&e) || !found.others.insert(e) {
            continue;
        }
        if let Depends::On(Some(argument), true) = depends[&e]
            && is_bits(pool, e)
            && pool.width(e) <= width
            && let Some(values) = tables.values(pool, e, argument, arguments[&argument], &mut work)
        {
            let (low, high) = arguments[&argument];
            found.others.remove(&e);
            found.tabulated.insert(e, Tabulated { argument, low, high, values });
            stack.push(argument);
            continue;
        }
        stack.extend(pool.get(e).children());
    }
    Some(found).filter(|found| !found.tabulated.is_empty())
}

fn is_bits(pool: &ExprPool, e: ExprId) -> bool {
    matches!(pool.sort(e), Sort::Bv(_))
}

/// The innermost term that an index is computed from by widening, scaling and moving and that has few enough values, with their bounds.
fn core(pool: &ExprPool, facts: &Facts, index: ExprId) -> Option<(ExprId, u64, u64)> {
    let inner = |&e: &ExprId| match *pool.get(e) {
        Expr::Zext { arg, .. } | Expr::Sext { arg, .. } | Expr::Extract { arg, .. } => Some(arg),
        Expr::Binary(BinOp::Add | BinOp::Mul | BinOp::Shl | BinOp::LShr | BinOp::And, a, b) => {
            match (pool.as_const(a).is_some(), pool.as_const(b).is_some()) {
                (false, true) => Some(a),
                (true, false) => Some(b),
                _ => None,
            }
        }
        _ => None,
    };
    let bounded = std::iter::successors(Some(index), inner).filter_map(|e| Some((e, facts.range(pool, e)?)));
    let bounded = bounded.map(|(e, range)| (e, range.low, range.high));
    bounded.filter(|(_, low, high)| (FEW..MOST).contains(&(high - low))).last()
}

/// The content of arrays of constants.
#[derive(Default)]
struct Tables {
    known: FxHashMap<ExprId, Option<Table>>,
}

struct Table {
    elements: FxHashMap<u64, Bv>,
    /// Where nothing was stored.
    default: Option<Bv>,
}

impl Table {
    fn read(pool: &ExprPool, array: ExprId) -> Option<Self> {
        let (mut elements, mut base) = (FxHashMap::default(), array);
        for store in stores(pool, array) {
            let Expr::Store { array, index, value } = *pool.get(store) else { unreachable!("a store") };
            elements.entry(pool.as_const(index)?.to_u64()?).or_insert(pool.as_const(value)?.clone());
            base = array;
        }
        let default = match *pool.get(base) {
            Expr::ConstArray { value, .. } => Some(pool.as_const(value)?.clone()),
            Expr::Sym(_) => None,
            _ => return None,
        };
        Some(Self { elements, default })
    }

    fn get(&self, index: &Bv) -> Option<&Bv> {
        index.to_u64().and_then(|index| self.elements.get(&index)).or(self.default.as_ref())
    }
}

/// An operation of a term, on results of earlier ones.
enum Step<'p> {
    Argument,
    Read { table: &'p Table, index: usize },
    Apply { term: &'p Expr, operands: Vec<usize> },
}

impl Tables {
    fn is_constant(&mut self, pool: &ExprPool, array: ExprId) -> bool {
        self.known.entry(array).or_insert_with(|| Table::read(pool, array)).is_some()
    }

    /// The values of `e` for those of `argument`, which alone it depends on; nothing where that is too much work, or depends on
    /// what is not known of a table.
    fn values(
        &self,
        pool: &ExprPool,
        e: ExprId,
        argument: ExprId,
        (low, high): (u64, u64),
        work: &mut u64,
    ) -> Option<Vec<u64>> {
        let steps = self.steps(pool, e, argument);
        *work += (high - low + 1) * steps.len() as u64;
        if *work > WORK {
            return None;
        }
        let width = pool.width(argument);
        let mut results: Vec<Bv> = Vec::with_capacity(steps.len());
        let value = |at: u64| {
            results.clear();
            for step in &steps {
                let result = match step {
                    Step::Argument => Bv::new(width, at),
                    Step::Read { table, index } => table.get(&results[*index])?.clone(),
                    Step::Apply { term, operands } => {
                        let operands: Vec<&Bv> = operands.iter().map(|&n| &results[n]).collect();
                        term.apply(&operands)?
                    }
                };
                results.push(result);
            }
            results.last()?.to_u64()
        };
        (low..=high).map(value).collect()
    }

    fn steps<'p>(&'p self, pool: &'p ExprPool, e: ExprId, argument: ExprId) -> Vec<Step<'p>> {
        let mut steps = Vec::new();
        let mut places: FxHashMap<ExprId, usize> = FxHashMap::default();
        let mut stack = vec![(e, false)];
        while let Some((e, is_ready)) = stack.pop() {
            if places.contains_key(&e) {
                continue;
            }
            let node = pool.get(e);
            let operands = match *node {
                _ if e == argument => Vec::new(),
                Expr::Select { index, .. } => vec![index],
                _ => node.children().collect(),
            };
            if !is_ready {
                stack.push((e, true));
                stack.extend(operands.iter().map(|&c| (c, false)));
                continue;
            }
            let operands: Vec<usize> = operands.iter().map(|c| places[c]).collect();
            places.insert(e, steps.len());
            steps.push(match *node {
                _ if e == argument => Step::Argument,
                Expr::Select { array, .. } => {
                    let table = self.known[&array].as_ref().expect("a table of constants");
                    Step::Read { table, index: operands[0] }
                }
                _ => Step::Apply { term: node, operands },
            });
        }
        steps
    }
}
