//! A decision procedure for conjunctions over symbols with few values each: constraint propagation and search.
//!
//! Schedules, colourings and permutations have a simple structure that circuits hide; for example, seven different
//! values do not fit into six. Here each bounded symbol has a domain, which is a set of bits. A constraint over two or
//! three symbols is the table of the combinations that it allows (generalized arc consistency: Mackworth, *Consistency
//! in networks of relations*, AIJ 1977). Cliques of pairwise different symbols form one constraint (Régin, *A filtering
//! algorithm for constraints of difference in CSPs*, AAAI 1994). Before the search, values for which propagation fails
//! are removed (singleton consistency: Debruyne and Bessière, IJCAI 1997). The search restarts, and branches on symbols
//! whose constraints failed most often (dom/wdeg: Boussemart et al., ECAI 2004).
//!
//! Constraints of other kinds are omitted. So a contradiction is one of the whole set. A model counts only if the
//! evaluator confirms it.

mod different;
mod reading;
mod relation;
mod search;

use super::budget::Budget;
use super::facts::Contradiction;
use super::integers::{ProcedureResult, confirmed};
use cfa::{Bv, ExprId, ExprPool, Value};
use rustc_hash::FxHashMap;
use search::{Outcome, Search};

/// The values of a symbol: bit `k` represents the `k`-th value, counted from the least one.
type Domain = u128;
/// The maximal number of values of a symbol: one for each bit.
const LARGEST: u64 = Domain::BITS as u64;

/// A constraint satisfaction problem.
pub(super) struct Problem {
    symbols: Vec<Symbol>,
    relations: Vec<relation::Relation>,
    constraints: Vec<Constraint>,
    /// Sets of pairwise different symbols. The symbols of a set have the same least value.
    different: Vec<Vec<u32>>,
}

/// A symbol with a small domain.
struct Symbol {
    leaf: ExprId,
    width: u32,
    /// The value of the first bit of the domain. The values of the other bits follow, modulo 2^width.
    least: u64,
    domain: Domain,
}

impl Symbol {
    fn value(&self, k: u32) -> Bv {
        Bv::new(self.width, self.least.wrapping_add(u64::from(k)))
    }
}

/// A constraint on some symbols.
struct Constraint {
    relation: u32,
    symbols: Box<[u32]>,
}

/// Reads `set` as a problem. `None` if too little of it is of this kind.
pub(super) fn read(pool: &ExprPool, set: &[ExprId]) -> Result<Option<Problem>, Contradiction> {
    reading::read(pool, set)
}

impl Problem {
    /// Looks for a model of `set`, from which the problem was read, or for a contradiction. `work` limits the number of
    /// steps, of some nanoseconds each.
    pub(super) fn solve(&self, pool: &ExprPool, set: &[ExprId], work: u64, budget: &Budget) -> ProcedureResult {
        match Search::new(self, work, budget).run() {
            Outcome::Contradiction => ProcedureResult::Core(set.to_vec()),
            Outcome::Solution(choices) => {
                let value = |(s, k): (&Symbol, u32)| (s.leaf, Value::Bv(s.value(k)));
                let values: FxHashMap<ExprId, Value> = self.symbols.iter().zip(choices).map(value).collect();
                confirmed(pool, set, values)
            }
            Outcome::Unknown => ProcedureResult::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Bitwuzla, Solver};
    use cfa::{BinOp, Sort};

    /// Creates symbols with values from 0 to `most`.
    fn symbols(pool: &mut ExprPool, set: &mut Vec<ExprId>, count: usize, most: u64) -> Vec<ExprId> {
        let symbols: Vec<ExprId> = (0..count).map(|_| pool.fresh_symbol(Sort::Bv(32)).1).collect();
        for &symbol in &symbols {
            let (zero, most) = (pool.int(32, 0), pool.int(32, most));
            set.push(pool.binary(BinOp::Sle, zero, symbol));
            set.push(pool.binary(BinOp::Sle, symbol, most));
        }
        symbols
    }

    /// Reads and solves `set`. `None` if it is no problem of this kind.
    fn solved(pool: &ExprPool, set: &[ExprId], work: u64) -> Option<ProcedureResult> {
        let budget = Budget::lasting(std::time::Duration::from_secs(60));
        match read(pool, set) {
            Ok(problem) => problem.map(|p| p.solve(pool, set, work, &budget)),
            Err(Contradiction) => Some(ProcedureResult::Core(set.to_vec())),
        }
    }

    /// More pigeons than holes: with disequalities, and with products that are negative if their factors differ.
    #[test]
    fn pigeons() {
        for (pigeons, product, fits) in [(13, false, false), (13, true, false), (12, false, true), (12, true, true)] {
            let mut pool = ExprPool::new();
            let mut set = Vec::new();
            let symbols = symbols(&mut pool, &mut set, pigeons, 11);
            for (i, &a) in symbols.iter().enumerate() {
                for &b in &symbols[i + 1..] {
                    set.push(if product {
                        let (x, y) = (pool.sub(a, b), pool.sub(b, a));
                        let (square, zero) = (pool.mul(x, y), pool.int(32, 0));
                        pool.binary(BinOp::Slt, square, zero)
                    } else {
                        pool.ne(a, b)
                    });
                }
            }
            match solved(&pool, &set, 10_000_000) {
                Some(ProcedureResult::Model(_)) => assert!(fits),
                Some(ProcedureResult::Core(_)) => assert!(!fits),
                _ => panic!("{pigeons} {product}"),
            }
        }
    }

    /// Random constraints over a few symbols. Results agree with a bit-blaster.
    #[test]
    fn domains_agree_with_bits() {
        let mut below = crate::dice::dice(3);
        let (mut models, mut cores) = (0, 0);
        for round in 0..300 {
            let mut pool = ExprPool::new();
            let mut set = Vec::new();
            let count = 14 + below(6) as usize;
            let symbols = symbols(&mut pool, &mut set, count, 3 + below(4));
            for _ in 0..12 + below(24) {
                let mut pick = || symbols[below(symbols.len() as u64) as usize];
                let (a, b, c, d) = (pick(), pick(), pick(), pick());
                let few = pool.int(32, below(6));
                let e = match below(8) {
                    0..=3 => pool.ne(a, b),
                    4 => {
                        let sum = pool.add(a, b);
                        pool.eq(sum, c)
                    }
                    5 => {
                        let (difference, product) = (pool.sub(a, b), pool.mul(c, d));
                        pool.binary(BinOp::Slt, difference, product)
                    }
                    6 => {
                        let (less, swapped) = (pool.binary(BinOp::Ult, a, b), pool.sub(b, a));
                        let difference = pool.sub(a, b);
                        let distance = pool.ite(less, swapped, difference);
                        pool.eq(distance, few)
                    }
                    _ => {
                        let (x, y) = (pool.sub(a, few), pool.add(b, few));
                        pool.binary(BinOp::Sle, x, y)
                    }
                };
                if pool.as_const(e).is_none() {
                    set.push(e);
                }
            }
            let answer = Bitwuzla::new().check(&pool, &set, &Budget::lasting(std::time::Duration::from_secs(60)));
            // Every third search has a limit and may give up.
            let work = if round % 3 == 0 { 50 * below(100) } else { u64::MAX };
            match solved(&pool, &set, work) {
                Some(ProcedureResult::Model(_)) => {
                    models += 1;
                    assert_eq!(answer, Answer::Sat, "{}", crate::smtlib::script(&pool, &set));
                }
                Some(ProcedureResult::Core(_)) => {
                    cores += 1;
                    assert_eq!(answer, Answer::Unsat, "{}", crate::smtlib::script(&pool, &set));
                }
                Some(ProcedureResult::Unknown) => assert_eq!(round % 3, 0, "{}", crate::smtlib::script(&pool, &set)),
                None => {}
            }
        }
        assert!(models > 60 && cores > 60, "{models} {cores}");
    }
}
