//! Tabulates conditions that depend on constant tables and one term only.
//!
//! The truth value of `table[i] > 7` is known for each `i`. It is written as a decision diagram over the bits of `i`
//! (Bryant, *Graph-based algorithms for boolean function manipulation*, IEEE Transactions on Computers 1986).
//! Otherwise, a solver would have to derive it from a choice between thousands of wide elements.

use super::stores;
use crate::facts::Facts;
use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, Sort};
use rustc_hash::{FxHashMap, FxHashSet};

/// Tables with at most this many elements are not tabulated: a choice between their elements suffices.
const FEW: u64 = 1 << 8;
/// The maximal number of argument values.
const MOST: u64 = 1 << 17;
/// The maximal number of operations that are computed for a query.
const WORK: u64 = 1 << 23;

/// The values of a term for all values of its argument.
pub(super) struct Tabulated {
    /// The argument.
    pub argument: ExprId,
    /// Its least value.
    pub low: u64,
    /// Its greatest value.
    pub high: u64,
    /// The values of the term, in the order of the argument's values.
    pub values: Vec<u64>,
}

/// The tabulated terms, and the other terms that have to be visited with them.
pub(super) struct TabulatedTerms {
    /// The tabulated terms.
    pub tabulated: FxHashMap<ExprId, Tabulated>,
    /// The other terms.
    pub others: FxHashSet<ExprId>,
}

/// The dependences of a term.
#[derive(Clone, Copy, PartialEq)]
enum Depends {
    /// The only term that it depends on, if any, and true if it depends on tables.
    On(Option<ExprId>, bool),
    /// Depends on several terms, or on other things.
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

/// The largest terms of at most `width` bits that depend only on tables and one term, if one of the tables is large.
/// `order` contains each term after its operands. `reads` are the reads of tables.
pub(super) fn find(
    pool: &ExprPool,
    roots: &[ExprId],
    order: &[ExprId],
    reads: &[ExprId],
    facts: &Facts,
    width: u32,
) -> Option<TabulatedTerms> {
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
    let mut found = TabulatedTerms { tabulated: FxHashMap::default(), others: FxHashSet::default() };
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

/// The innermost term with few values from which an index is computed by extending, scaling and adding, with its
/// bounds.
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

/// The content of constant arrays.
#[derive(Default)]
struct Tables {
    known: FxHashMap<ExprId, Option<Table>>,
}

/// The constant elements of an array term.
struct Table {
    elements: FxHashMap<u64, Bv>,
    /// The element at all other indices, if known.
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

/// An operation in the evaluation of a term, on results of earlier steps.
enum Step<'p> {
    /// The argument of the function.
    Argument,
    /// The element of a table at the result of an earlier step.
    Read { table: &'p Table, index: usize },
    /// The result of an operator on the results of earlier steps.
    Apply { term: &'p Expr, operands: Vec<usize> },
}

impl Tables {
    fn is_constant(&mut self, pool: &ExprPool, array: ExprId) -> bool {
        self.known.entry(array).or_insert_with(|| Table::read(pool, array)).is_some()
    }

    /// The values of `e` for the values of `argument`, the only term that it depends on. `None` if that takes too much
    /// work, or if it reads an unknown element.
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
