//! Case distinctions: divides a query into several, one for each value of a symbol with few values.
//!
//! For example, a table has the size 1, 2 or 4, and its load limit is 0.95 of that. With a known size, all of this is
//! constant. Otherwise, the solver needs circuits for products, conversions and rounding. So if a hard term depends
//! only on one symbol, and the constraints on this symbol alone leave few values, these values are tried one by one.

use super::{PathSolver, Solved};
use crate::budget::Budget;
use crate::cache::canonical;
use crate::facts::Facts;
use cfa::{BinOp, Bv, Evaluator, Expr, ExprId, ExprPool, Sort, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximal number of values that are tried.
const MOST: usize = 4;
/// The maximal number of values between the bounds of a symbol.
const SPAN: u64 = 16;
/// The maximal nesting depth.
const DEPTH: u32 = 2;

/// A symbol with few values.
struct Split {
    leaf: ExprId,
    values: Vec<Bv>,
    /// The constraints that imply the values.
    because: Vec<ExprId>,
}

impl PathSolver {
    /// Combines the answers of all cases of `constraints`. `None` if there are no cases, or if one has no answer. A
    /// core is a subset of `constraints`.
    pub(super) fn by_cases(&mut self, pool: &mut ExprPool, constraints: &[ExprId], budget: &Budget) -> Option<Solved> {
        if self.cases == DEPTH {
            return None;
        }
        let split = self.split(pool, constraints)?;
        let budget = budget.remaining().map_or(budget.clone(), |time| budget.exerting(time / 2));
        let mut core = split.because;
        for value in split.values {
            let value = pool.constant(value);
            let case = pool.eq(split.leaf, value);
            let set = canonical(constraints.iter().copied().chain([case]));
            self.cases += 1;
            let found = self.call(pool, &set, &budget);
            self.cases -= 1;
            match found {
                Solved::Infeasible(part) => core.extend(part.into_iter().filter(|e| *e != case)),
                Solved::Feasible(model) => return Some(Solved::Feasible(model)),
                Solved::Unknown(_) => return None,
            }
        }
        Some(Solved::Infeasible(canonical(core)))
    }

    /// The symbol with few values that most of the hard terms depend on, and on nothing else.
    fn split(&mut self, pool: &ExprPool, constraints: &[ExprId]) -> Option<Split> {
        let mut hard: FxHashMap<ExprId, u32> = FxHashMap::default();
        let mut seen = FxHashSet::default();
        for &constraint in constraints {
            pool.visit(constraint, &mut seen, |e, node| {
                if is_hard(pool, node)
                    && let [leaf] = *self.leaves.free_leaves(pool, e)
                    && matches!(pool.sort(leaf), Sort::Bv(..=64))
                {
                    *hard.entry(leaf).or_default() += 1;
                }
            });
        }
        let (&leaf, _) = hard.iter().max_by_key(|&(leaf, count)| (count, std::cmp::Reverse(leaf)))?;
        let because: Vec<ExprId> =
            constraints.iter().copied().filter(|&e| *self.leaves.free_leaves(pool, e) == [leaf]).collect();
        let mut facts = Facts::default();
        for &e in &because {
            if facts.assume(pool, e).is_err() {
                return Some(Split { leaf, values: Vec::new(), because });
            }
        }
        let range = facts.range(pool, leaf)?;
        if range.high - range.low >= SPAN {
            return None;
        }
        let holds = |value: &Bv| {
            let mut evaluator = Evaluator::new(pool, |_, _| Value::Bv(value.clone()));
            because.iter().all(|&e| evaluator.value(e).bv().is_true())
        };
        let values: Vec<Bv> = (range.low..=range.high).map(|v| Bv::new(range.width, v)).filter(holds).collect();
        (values.len() <= MOST).then_some(Split { leaf, values, because })
    }
}

/// Returns true if the operation needs a large circuit.
fn is_hard(pool: &ExprPool, node: &Expr) -> bool {
    let known = |e| pool.as_const(e).is_some();
    match *node {
        Expr::FUnary(..) | Expr::FBinary(..) | Expr::Fma(..) => true,
        Expr::FConvert { .. } | Expr::IntToF { .. } | Expr::FToInt { .. } => true,
        Expr::Binary(BinOp::Mul, a, b) => !known(a) && !known(b),
        Expr::Binary(BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem, ..) => true,
        Expr::Binary(BinOp::Shl | BinOp::LShr | BinOp::AShr, _, by) => !known(by),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Bitwuzla, Solver};
    use cfa::{FBinOp, FCmp, FloatFormat, Rounding};

    /// Random constraints over a symbol with few values, hard terms of it, and two other symbols. Answers agree with a
    /// bit-blaster, cores are unsatisfiable, and models satisfy the constraints.
    #[test]
    fn cases_are_all() {
        const FORMAT: FloatFormat = FloatFormat::Single;
        let mut below = crate::dice::dice(7);
        let (mut models, mut cores) = (0, 0);
        for _ in 0..200 {
            let mut pool = ExprPool::new();
            let mut symbol = || pool.fresh_symbol(Sort::Bv(32)).1;
            let (n, x, y) = (symbol(), symbol(), symbol());
            let (one, most) = (pool.int(32, 1), pool.int(32, 2 + below(3)));
            let less = pool.sub(n, one);
            let common = pool.and(n, less);
            let zero = pool.int(32, 0);
            let mut set = vec![pool.ule(n, most), pool.ne(n, zero), pool.eq(common, zero)];
            let square = pool.mul(n, n);
            let float = pool.int_to_f(Rounding::Nearest, FORMAT, false, n);
            let part = pool.constant(Bv::new(32, u64::from(0.95f32.to_bits())));
            let most_of = pool.f_binary(FBinOp::Mul(Rounding::Nearest), FORMAT, float, part);
            let rounded = pool.f_to_int(FORMAT, false, 32, most_of);
            let hard = [square, rounded, pool.binary(BinOp::UDiv, most, n), pool.binary(BinOp::Shl, n, n)];
            for _ in 0..3 + below(5) {
                let (a, b) = (hard[below(4) as usize], [x, y, n, less][below(4) as usize]);
                let few = pool.int(32, below(9));
                let sum = pool.add(b, few);
                set.push(match below(4) {
                    0 => pool.eq(a, sum),
                    1 => pool.ule(sum, a),
                    2 => pool.ule(a, sum),
                    _ => pool.ne(a, b),
                });
            }
            if below(4) == 0 {
                set.push(pool.f_compare(FCmp::Eq, FORMAT, x, part));
            }
            let set = canonical(set.into_iter().filter(|&e| !pool.is_true(e)));
            let budget = Budget::unlimited();
            let ask = |pool: &ExprPool, set: &[ExprId]| Bitwuzla::new().check(pool, set, &budget);
            let mut solver = PathSolver::new(Box::new(Bitwuzla::new()), budget.clone());
            match solver.by_cases(&mut pool, &set, &budget) {
                Some(Solved::Feasible(model)) => {
                    models += 1;
                    assert!(set.iter().all(|&e| solver.evaluations.holds(&pool, &model, e)));
                }
                Some(Solved::Infeasible(core)) => {
                    cores += 1;
                    assert!(core.iter().all(|e| set.contains(e)));
                    assert_eq!(ask(&pool, &core), Answer::Unsat, "{}", crate::smtlib::script(&pool, &set));
                }
                _ => {}
            }
        }
        assert!(models > 40 && cores > 40, "{models} {cores}");
    }
}
