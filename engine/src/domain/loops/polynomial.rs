//! Bit-vector terms as polynomials over the integers modulo a power of two. Bit-blasting is slow for these.

use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, Sort, UnOp};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Maximal number of monomials. [`DEGREE`] limits the factors of a monomial, [`NODES`] the subterms of a term.
const MONOMIALS: usize = 24;
const DEGREE: usize = 4;
const NODES: usize = 400;
/// Maximal number of equations used as premises.
const EQUATIONS: usize = 12;
/// Maximal number of rewriting steps.
const REDUCTIONS: usize = 40;

/// A sum of products. Maps the sorted factors of each product to its coefficient, which is not zero. A factor is a term
/// other than a sum, product or constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Polynomial {
    width: u32,
    parts: BTreeMap<Vec<ExprId>, Bv>,
}

impl Polynomial {
    /// The polynomial of a term; `None` if it is too large.
    pub fn from_term(pool: &ExprPool, e: ExprId) -> Option<Self> {
        let Sort::Bv(width) = pool.sort(e) else { return None };
        let mut memo: FxHashMap<ExprId, Self> = FxHashMap::default();
        let mut stack = vec![e];
        while let Some(&e) = stack.last() {
            if memo.contains_key(&e) {
                stack.pop();
                continue;
            }
            if memo.len() > NODES {
                return None;
            }
            let children: &[ExprId] = match pool.get(e) {
                Expr::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) => &[*a, *b],
                Expr::Unary(_, a) => &[*a],
                Expr::Binary(BinOp::Shl, a, b) if pool.as_const(*b).is_some() => &[*a],
                _ => &[],
            };
            let pending = stack.len();
            stack.extend(children.iter().filter(|c| !memo.contains_key(c)));
            if stack.len() > pending {
                continue;
            }
            let of = |e: &ExprId| &memo[e];
            let polynomial = match pool.get(e) {
                Expr::Const(c) => Self::constant(c.clone()),
                Expr::Binary(BinOp::Add, a, b) => of(a).plus(of(b))?,
                Expr::Binary(BinOp::Sub, a, b) => of(a).plus(&of(b).times(&Bv::ones(width)))?,
                Expr::Binary(BinOp::Mul, a, b) => of(a).product(of(b))?,
                Expr::Unary(UnOp::Neg, a) => of(a).times(&Bv::ones(width)),
                // The complement is the negation minus one.
                Expr::Unary(UnOp::Not, a) => of(a).times(&Bv::ones(width)).plus(&Self::constant(Bv::ones(width)))?,
                Expr::Binary(BinOp::Shl, a, b) if let Some(by) = pool.as_const(*b) => {
                    of(a).times(&BinOp::Shl.apply(&Bv::one(width), by))
                }
                _ => Self { width, parts: BTreeMap::from([(vec![e], Bv::one(width))]) },
            };
            memo.insert(e, polynomial);
        }
        memo.remove(&e)
    }

    fn constant(c: Bv) -> Self {
        let width = c.width();
        let parts = if c.is_zero() { BTreeMap::new() } else { BTreeMap::from([(Vec::new(), c)]) };
        Self { width, parts }
    }
    fn plus(&self, o: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (factors, c) in &o.parts {
            sum.add_part(factors.clone(), c);
        }
        (sum.parts.len() <= MONOMIALS).then_some(sum)
    }
    fn add_part(&mut self, factors: Vec<ExprId>, c: &Bv) {
        let zero = Bv::zero(self.width);
        let total = self.parts.get(&factors).unwrap_or(&zero).add(c);
        if total.is_zero() {
            self.parts.remove(&factors);
        } else {
            self.parts.insert(factors, total);
        }
    }
    fn times(&self, c: &Bv) -> Self {
        let parts = self.parts.iter().map(|(f, d)| (f.clone(), d.mul(c))).filter(|(_, d)| !d.is_zero()).collect();
        Self { width: self.width, parts }
    }
    fn product(&self, o: &Self) -> Option<Self> {
        let mut product = Self { width: self.width, parts: BTreeMap::new() };
        for (f, c) in &self.parts {
            for (g, d) in &o.parts {
                let mut factors: Vec<ExprId> = f.iter().chain(g).copied().collect();
                if factors.len() > DEGREE {
                    return None;
                }
                factors.sort_unstable();
                product.add_part(factors, &c.mul(d));
                if product.parts.len() > MONOMIALS {
                    return None;
                }
            }
        }
        Some(product)
    }

    /// Rewrites products by the rules until none applies. `None` if there are too many steps.
    fn reduced(mut self, rules: &[Rule]) -> Option<Self> {
        for _ in 0..REDUCTIONS {
            let reducible = rules.iter().find_map(|rule| {
                let (rest, c) =
                    self.parts.iter().find_map(|(factors, c)| Some((without(factors, &rule.product)?, c.clone())))?;
                Some((rule, rest, c))
            });
            let Some((rule, rest, c)) = reducible else { return Some(self) };
            let rest = Self { width: self.width, parts: BTreeMap::from([(rest, c.neg())]) };
            self = self.plus(&rule.zero.product(&rest)?)?;
        }
        None
    }

    /// Solves `self = 0` for one of the leaves `free`. Returns the leaf and the term that it equals, in which the leaf
    /// does not occur.
    pub fn solve(&self, pool: &mut ExprPool, free: &[ExprId]) -> Option<(ExprId, ExprId)> {
        let candidates = self.parts.iter().filter(|(f, c)| f.len() == 1 && c.bit(0) && free.contains(&f[0]));
        let leaves: Vec<(ExprId, Bv)> = candidates.map(|(f, c)| (f[0], c.clone())).collect();
        'leaf: for (leaf, coefficient) in leaves.into_iter().rev() {
            let mut sum = pool.int(self.width, 0);
            let scale = inverse(&coefficient).neg();
            for (factors, c) in &self.parts {
                if *factors == [leaf] {
                    continue;
                }
                let mut term = pool.constant(c.mul(&scale));
                for &f in factors {
                    let mut inside = false;
                    pool.visit(f, &mut Default::default(), |e, _| inside |= e == leaf);
                    if inside {
                        continue 'leaf;
                    }
                    term = pool.mul(term, f);
                }
                sum = pool.add(sum, term);
            }
            return Some((leaf, sum));
        }
        None
    }
}

/// The factors without those of `product`, if they contain all of these. Both are sorted.
fn without(factors: &[ExprId], product: &[ExprId]) -> Option<Vec<ExprId>> {
    let mut left = factors.to_vec();
    for p in product {
        let at = left.iter().position(|f| f == p)?;
        left.remove(at);
    }
    Some(left)
}

/// The inverse of an odd number modulo a power of two.
fn inverse(odd: &Bv) -> Bv {
    // Newton's iteration doubles the number of correct bits. An odd number is its own inverse modulo 8.
    let two = Bv::new(odd.width(), 2);
    let mut inverse = odd.clone();
    let mut bits = 3;
    while bits < odd.width() {
        inverse = inverse.mul(&two.sub(&odd.mul(&inverse)));
        bits *= 2;
    }
    inverse
}

/// True if the one-bit term is an equation of equal polynomials, or a disjunction with one. Then it is valid.
pub fn is_identity(pool: &ExprPool, e: ExprId) -> bool {
    match *pool.get(e) {
        Expr::Binary(BinOp::Eq, a, b) => match (Polynomial::from_term(pool, a), Polynomial::from_term(pool, b)) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        },
        Expr::Binary(BinOp::Or, a, b) => is_identity(pool, a) || is_identity(pool, b),
        _ => false,
    }
}

/// True if the one-bit term is a nonlinear equation that follows from `equations` by substitution and rewriting.
/// Solvers often fail to see that two factors are equal.
pub fn follows(pool: &mut ExprPool, e: ExprId, equations: &[(ExprId, ExprId)]) -> bool {
    if let Expr::Binary(BinOp::Or, a, b) = *pool.get(e) {
        // If one side does not hold, the other has to.
        return [(a, b), (b, a)].into_iter().any(|(one, other)| {
            let fails = pool.not(one);
            let mut more = equations.to_vec();
            if let Expr::Binary(BinOp::Eq, x, y) = *pool.get(fails)
                && pool.width(x) > 1
            {
                more.insert(0, (x, y));
            }
            follows(pool, other, &more)
        });
    }
    let Expr::Binary(BinOp::Eq, a, b) = *pool.get(e) else { return false };
    let has_products = |p: Polynomial| p.parts.keys().any(|factors| factors.len() > 1);
    if ![a, b].into_iter().any(|side| Polynomial::from_term(pool, side).is_some_and(has_products)) {
        return false;
    }
    let mut e = e;
    let mut definitions: Vec<(ExprId, ExprId)> = Vec::new();
    let mut rules = Vec::new();
    for &(a, b) in equations.iter().take(EQUATIONS) {
        let mut equation = pool.eq(a, b);
        for &(leaf, meaning) in &definitions {
            equation = replace(pool, equation, leaf, meaning);
        }
        let mut leaves = Vec::new();
        pool.visit(equation, &mut Default::default(), |leaf, node| {
            if matches!(node, Expr::Sym(_)) {
                leaves.push(leaf);
            }
        });
        if let Some((leaf, meaning)) = definition(pool, equation, &leaves) {
            e = replace(pool, e, leaf, meaning);
            definitions.push((leaf, meaning));
        } else if let Some(rule) = difference(pool, equation).and_then(Rule::new) {
            rules.push(rule);
        }
    }
    pool.is_true(e) || difference(pool, e).and_then(|p| p.reduced(&rules)).is_some_and(|p| p.parts.is_empty())
}

/// A polynomial that equals zero, as a rewriting rule for a product.
struct Rule {
    product: Vec<ExprId>,
    /// The polynomial. Its coefficient of the product is one.
    zero: Polynomial,
}

impl Rule {
    fn new(zero: Polynomial) -> Option<Self> {
        let odd = zero.parts.iter().filter(|(factors, c)| factors.len() > 1 && c.bit(0));
        let (product, c) = odd.max_by_key(|(factors, _)| factors.len())?;
        let (product, inverse) = (product.clone(), inverse(c));
        Some(Self { zero: zero.times(&inverse), product })
    }
}

fn replace(pool: &mut ExprPool, e: ExprId, leaf: ExprId, by: ExprId) -> ExprId {
    pool.substitute(e, &mut FxHashMap::default(), |_, l| (l == leaf).then_some(by))
}

/// A term that is zero if and only if the equation `e` holds. Many equivalent equations give the same term. `None` if
/// `e` is no equation over more than one bit.
pub fn zero(pool: &mut ExprPool, e: ExprId) -> Option<ExprId> {
    let mut p = difference(pool, e)?;
    // The negated polynomial gives the same equation, so the sign is normalised.
    if let Some((_, c)) = p.parts.last_key_value()
        && c.sign()
    {
        p = p.times(&Bv::ones(p.width));
    }
    let mut sum = pool.int(p.width, 0);
    for (factors, c) in &p.parts {
        let c = pool.constant(c.clone());
        let term = factors.iter().fold(c, |term, &f| pool.mul(term, f));
        sum = pool.add(sum, term);
    }
    Some(sum)
}

/// The left side minus the right side of an equation over more than one bit.
fn difference(pool: &ExprPool, e: ExprId) -> Option<Polynomial> {
    let Expr::Binary(BinOp::Eq, a, b) = *pool.get(e) else { return None };
    if pool.width(a) < 2 {
        return None;
    }
    let (a, b) = (Polynomial::from_term(pool, a)?, Polynomial::from_term(pool, b)?);
    a.plus(&b.times(&Bv::ones(a.width)))
}

/// The definition of one of the leaves `free` by an equation over more than one bit.
pub fn definition(pool: &mut ExprPool, e: ExprId, free: &[ExprId]) -> Option<(ExprId, ExprId)> {
    difference(pool, e)?.solve(pool, free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::Evaluator;
    use proptest::prelude::*;

    fn term(pool: &mut ExprPool, leaves: &[ExprId], code: &[u8]) -> ExprId {
        let mut stack = vec![leaves[0], leaves[1]];
        for &c in code {
            let (a, b) = (stack[stack.len() - 1], stack[stack.len() - 2]);
            let c32 = pool.int(8, u64::from(c));
            let next = match c % 9 {
                0 => pool.add(a, b),
                1 => pool.sub(a, b),
                2 => pool.mul(a, b),
                3 => pool.neg(a),
                4 => pool.not(a),
                5 => pool.mul(a, c32),
                6 => pool.and(a, c32),
                7 => leaves[usize::from(c) / 9 % leaves.len()],
                _ => {
                    let by = pool.int(8, 2);
                    pool.binary(BinOp::Shl, a, by)
                }
            };
            stack.push(next);
        }
        *stack.last().unwrap()
    }

    #[test]
    fn equal_factors() {
        let mut pool = ExprPool::new();
        let mut symbol = || pool.fresh_symbol(Sort::Bv(32)).1;
        let (i, j, m) = (symbol(), symbol(), symbol());
        // `i * m + j = (i + 1) * m` if `j = m`.
        let (product, one) = (pool.mul(i, m), pool.int(32, 1));
        let left = pool.add(product, j);
        let next = pool.add(i, one);
        let right = pool.mul(next, m);
        let goal = pool.eq(left, right);
        assert!(!is_identity(&pool, goal));
        assert!(!follows(&mut pool, goal, &[]));
        assert!(follows(&mut pool, goal, &[(j, m)]));
        assert!(!follows(&mut pool, goal, &[(j, i)]));
        // If `i * i + i = 2j`, then `(i + 1) * (i + 1) + (i + 1) = 2(j + i + 1)`.
        let (two, square) = (pool.int(32, 2), pool.mul(i, i));
        let (sum, twice) = (pool.add(square, i), pool.mul(two, j));
        let squares = pool.mul(next, next);
        let left = pool.add(squares, next);
        let more = pool.add(j, next);
        let right = pool.mul(two, more);
        let goal = pool.eq(left, right);
        assert!(follows(&mut pool, goal, &[(sum, twice)]));
        assert!(!follows(&mut pool, goal, &[(square, twice)]));
    }

    proptest! {
        #[test]
        fn identities_and_definitions(code in prop::collection::vec(any::<u8>(), 1..9), more in prop::collection::vec(any::<u8>(), 1..9), values in any::<[u8; 3]>()) {
            let mut pool = ExprPool::new();
            let leaves: Vec<ExprId> = (0..3).map(|_| pool.fresh_symbol(Sort::Bv(8)).1).collect();
            let (a, b) = (term(&mut pool, &leaves, &code), term(&mut pool, &leaves, &more));
            let e = pool.eq(a, b);
            let value = |pool: &ExprPool, e: ExprId, values: &[u8; 3]| {
                Evaluator::new(pool, |leaf, _| {
                    let i = leaves.iter().position(|&l| l == leaf).unwrap();
                    cfa::Value::Bv(Bv::new(8, u64::from(values[i])))
                }).eval(e)
            };
            if is_identity(&pool, e) {
                prop_assert!(value(&pool, e, &values).is_true());
            }
            if let Some((leaf, meaning)) = definition(&mut pool, e, &leaves) {
                // The equation holds if and only if the leaf has the value defined.
                let i = leaves.iter().position(|&l| l == leaf).unwrap();
                let mut at = values;
                at[i] = value(&pool, meaning, &values).to_u64().unwrap() as u8;
                prop_assert!(value(&pool, e, &at).is_true());
                let same = values[i] == at[i];
                prop_assert_eq!(value(&pool, e, &values).is_true(), same);
            }
        }

        /// Consequences of equations hold in every assignment that satisfies them.
        #[test]
        fn consequences(code in prop::collection::vec(any::<u8>(), 1..9), more in prop::collection::vec(any::<u8>(), 1..9), leaf in 0usize..3, values in any::<[u8; 3]>()) {
            let mut pool = ExprPool::new();
            let leaves: Vec<ExprId> = (0..3).map(|_| pool.fresh_symbol(Sort::Bv(8)).1).collect();
            let (a, b) = (term(&mut pool, &leaves, &code), term(&mut pool, &leaves, &more));
            let goal = pool.eq(a, b);
            let left = if values[0] & 1 == 0 { leaves[leaf] } else { pool.mul(leaves[leaf], leaves[0]) };
            let equation = (left, b);
            let holds = |pool: &ExprPool, e: ExprId| {
                Evaluator::new(pool, |leaf, _| {
                    let i = leaves.iter().position(|&l| l == leaf).unwrap();
                    cfa::Value::Bv(Bv::new(8, u64::from(values[i])))
                }).eval(e).is_true()
            };
            let given = pool.eq(equation.0, equation.1);
            if follows(&mut pool, goal, &[equation]) && holds(&pool, given) {
                prop_assert!(holds(&pool, goal));
            }
            // The guard is a negated equation.
            let fails = pool.not(given);
            let guarded = pool.or(fails, goal);
            if follows(&mut pool, guarded, &[]) {
                prop_assert!(holds(&pool, guarded));
            }
        }

        #[test]
        fn inverses(v in any::<u64>()) {
            for width in [1, 2, 8, 32, 64] {
                let odd = Bv::new(width, v | 1);
                prop_assert!(odd.mul(&inverse(&odd)).is_one());
            }
        }
    }
}
