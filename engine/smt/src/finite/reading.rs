//! Reads terms as constraints over domains.

use super::relation::{NumberedCondition, Relation, bits};
use super::{Constraint, Domain, LARGEST, Problem, Symbol, different};
use crate::bounds::Bounds;
use crate::facts::{Contradiction, Facts};
use cfa::{Expr, ExprId, ExprPool, Sort, SymId};
use rustc_hash::FxHashMap;

/// The minimal number of symbols with more than two values. Solvers decide smaller and boolean problems immediately.
const FEWEST: usize = 5;
/// The maximal number of terms of a constraint.
const TERMS: usize = 300;

/// Reads `set` as a problem. `None` if too little of it is of this kind. Fails if the ranges contradict one another.
pub(super) fn read(pool: &ExprPool, set: &[ExprId]) -> Result<Option<Problem>, Contradiction> {
    let mut facts = Facts::default();
    // The second pass uses the facts of later members.
    for &e in set.iter().chain(set) {
        facts.assume(pool, e)?;
    }
    let mut reading = Reading {
        pool,
        facts: &facts,
        numbers: FxHashMap::default(),
        relations: FxHashMap::default(),
        problem: Problem { symbols: Vec::new(), relations: Vec::new(), constraints: Vec::new(), different: Vec::new() },
        differences: Vec::new(),
        is_difference: Vec::new(),
    };
    let mut left_out = 0;
    for &e in set {
        left_out += usize::from(!reading.constraint(e));
        if 10 * left_out > set.len() {
            return Ok(None);
        }
    }
    if reading.problem.symbols.iter().filter(|s| s.domain.count_ones() > 2).count() < FEWEST {
        return Ok(None);
    }
    let Reading { mut problem, differences, .. } = reading;
    problem.different = different::cliques(problem.symbols.len(), &differences);
    Ok(Some(problem))
}

/// The translation of a set of terms to a problem.
struct Reading<'p> {
    pool: &'p ExprPool,
    facts: &'p Facts,
    /// By leaf, its symbol; `None` if the domain is too large.
    numbers: FxHashMap<ExprId, Option<u32>>,
    relations: FxHashMap<NumberedCondition, u32>,
    problem: Problem,
    /// Pairs of different symbols.
    differences: Vec<(u32, u32)>,
    /// By relation, true if it means that two symbols differ.
    is_difference: Vec<bool>,
}

impl Reading<'_> {
    /// Adds a constraint. Returns false if it is not one over domains.
    fn constraint(&mut self, e: ExprId) -> bool {
        let Some((terms, symbols)) = self.shape(e) else { return false };
        if symbols.is_empty() {
            return false;
        }
        let of = |&s: &u32| {
            let symbol = &self.problem.symbols[s as usize];
            (symbol.width, symbol.least, symbol.domain)
        };
        let shape = NumberedCondition { terms: terms.into(), symbols: symbols.iter().map(of).collect() };
        let relation = match self.relations.get(&shape) {
            Some(&known) => known,
            None => {
                let relation = Relation::compute(&shape);
                self.is_difference.push(relation.is_difference(&shape));
                self.problem.relations.push(relation);
                let number = self.problem.relations.len() as u32 - 1;
                self.relations.insert(shape, number);
                number
            }
        };
        if self.is_difference[relation as usize] {
            self.differences.push((symbols[0], symbols[1]));
        }
        self.problem.constraints.push(Constraint { relation, symbols: symbols.into() });
        true
    }

    /// The terms of `e`, with indices in place of ids, and its symbols.
    fn shape(&mut self, e: ExprId) -> Option<(Vec<Expr>, Vec<u32>)> {
        let (mut terms, mut symbols): (Vec<Expr>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut places: FxHashMap<ExprId, u32> = FxHashMap::default();
        let mut stack = vec![e];
        while let Some(&e) = stack.last() {
            if places.contains_key(&e) {
                stack.pop();
                continue;
            }
            let node = self.pool.get(e);
            let pending = stack.len();
            stack.extend(node.children().filter(|c| !places.contains_key(c)));
            if stack.len() > pending {
                if stack.len() > TERMS {
                    return None;
                }
                continue;
            }
            stack.pop();
            let place = |child: ExprId| ExprId(places[&child]);
            let term = match *node {
                Expr::Sym(_) | Expr::Var(_) => {
                    let symbol = self.symbol(e)?;
                    let local = symbols.iter().position(|&s| s == symbol).unwrap_or_else(|| {
                        symbols.push(symbol);
                        symbols.len() - 1
                    });
                    Expr::Sym(SymId(local as u32))
                }
                Expr::Const(_) => node.clone(),
                Expr::Unary(op, a) => Expr::Unary(op, place(a)),
                Expr::Binary(op, a, b) => Expr::Binary(op, place(a), place(b)),
                Expr::Ite(c, t, f) => Expr::Ite(place(c), place(t), place(f)),
                Expr::Extract { hi, lo, arg } => Expr::Extract { hi, lo, arg: place(arg) },
                Expr::Zext { width, arg } => Expr::Zext { width, arg: place(arg) },
                Expr::Sext { width, arg } => Expr::Sext { width, arg: place(arg) },
                _ => return None,
            };
            if terms.len() >= TERMS {
                return None;
            }
            places.insert(e, terms.len() as u32);
            terms.push(term);
        }
        Some((terms, symbols))
    }

    fn symbol(&mut self, leaf: ExprId) -> Option<u32> {
        if let Some(&known) = self.numbers.get(&leaf) {
            return known;
        }
        let number = self.domain(leaf).map(|symbol| {
            self.problem.symbols.push(symbol);
            self.problem.symbols.len() as u32 - 1
        });
        self.numbers.insert(leaf, number);
        number
    }

    /// A leaf with few possible values.
    fn domain(&self, leaf: ExprId) -> Option<Symbol> {
        let Sort::Bv(width @ ..=64) = self.pool.sort(leaf) else { return None };
        let range = self.facts.known(leaf).copied().unwrap_or(Bounds::full(width));
        // The preferred least values are the same for many symbols, so that these are comparable and share tables.
        let half = (LARGEST / 2) as i64;
        let least = match () {
            () if range.high < LARGEST => 0,
            () if range.min >= -half && range.max < half => -half as u64,
            () if range.high - range.low < LARGEST => range.low,
            () if (range.max.wrapping_sub(range.min) as u64) < LARGEST => range.min as u64,
            () => return None,
        };
        let mask = Bounds::full(width).high;
        let within = bits(Domain::MAX).filter(|&k| range.contains(least.wrapping_add(u64::from(k)) & mask));
        let domain = within.fold(0, |domain: Domain, k| domain | 1 << k);
        Some(Symbol { leaf, width, least: least & mask, domain })
    }
}
