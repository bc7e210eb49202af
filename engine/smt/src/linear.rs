//! A refutation procedure for linear integer arithmetic.
//!
//! Typical questions about offsets, lengths and sizes are linear: does `i - from < n - from` hold if `from <= i < n`? A
//! solver takes seconds for the circuits of 64-bit adders. Here terms are sums of integers, each wrapped around or not.
//! Variables are eliminated from inequalities one by one (Fourier-Motzkin, with rounding to integers). Wrapping,
//! disjunctions and narrow factors of products are decided by case distinction.
//!
//! A product of two terms is a variable. If a program divides by a factor before it multiplies (`w <= MAX / h`, then
//! `w * h`), the product is related to the dividend.
//!
//! All derived inequalities follow from the constraints, and other non-linear constraints are omitted. So a
//! contradiction here is one of the whole set.

use super::facts::Facts;
use cfa::{BinOp, Expr, ExprId, ExprPool, Sort, UnOp};
use rustc_hash::FxHashMap;

/// The maximal number of terms of a set.
const MOST_TERMS: usize = 400;
/// The maximal number of inequalities in an elimination.
const MOST_INEQUALITIES: usize = 300;
/// The maximal number of eliminations for a set.
const ELIMINATIONS: u32 = 200;
/// The maximal number of values of a factor that are enumerated.
const NARROW: u64 = 4;
/// The maximal width of integers, sufficient for 64-bit numbers with coefficients.
const MOST_BITS: u32 = 100;

/// A linear sum: variables with coefficients, in the order of the variables, and a constant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Sum {
    terms: Vec<(u32, i128)>,
    constant: i128,
}

impl Sum {
    fn constant(constant: i128) -> Self {
        Self { terms: Vec::new(), constant }
    }
    fn variable(number: u32) -> Self {
        Self { terms: vec![(number, 1)], constant: 0 }
    }
    /// `self + factor * other`; `None` on overflow.
    fn plus(&self, factor: i128, other: &Self) -> Option<Self> {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut ours, mut theirs) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (variable, coefficient) = match (ours.peek(), theirs.peek()) {
                (Some(&&(x, a)), Some(&&(y, b))) if x == y => {
                    ours.next();
                    theirs.next();
                    (x, a.checked_add(b.checked_mul(factor)?)?)
                }
                (Some(&&(x, a)), Some(&&(y, _))) if x < y => {
                    ours.next();
                    (x, a)
                }
                (Some(&&(x, a)), None) => {
                    ours.next();
                    (x, a)
                }
                (_, Some(&&(y, b))) => {
                    theirs.next();
                    (y, b.checked_mul(factor)?)
                }
                (None, None) => break,
            };
            if coefficient != 0 {
                terms.push((variable, coefficient));
            }
        }
        Some(Self { terms, constant: self.constant.checked_add(other.constant.checked_mul(factor)?)? })
    }
    fn coefficient(&self, variable: u32) -> i128 {
        self.terms.binary_search_by_key(&variable, |t| t.0).map_or(0, |i| self.terms[i].1)
    }
}

/// Returns true if the linear parts of the constraints (one bit each) contradict one another. `false` is inconclusive.
pub(super) fn contradict(pool: &ExprPool, constraints: &[ExprId]) -> bool {
    if !is_promising(pool, constraints) {
        return false;
    }
    let mut facts = Facts::default();
    if constraints.iter().any(|&c| facts.assume(pool, c).is_err()) {
        return true;
    }
    let mut budget = ELIMINATIONS;
    let mut fixed = FxHashMap::default();
    refuted_by_factors(pool, constraints, &facts, &mut fixed, &mut budget)
}

/// Returns true if the set has sums to compare and not too many other terms.
fn is_promising(pool: &ExprPool, constraints: &[ExprId]) -> bool {
    let (mut terms, mut sums) = (0, 0);
    let mut seen = rustc_hash::FxHashSet::default();
    let mut stack: Vec<ExprId> = constraints.to_vec();
    while let Some(e) = stack.pop() {
        if !seen.insert(e) {
            continue;
        }
        terms += 1;
        if terms > MOST_TERMS {
            return false;
        }
        let node = pool.get(e);
        sums += u32::from(matches!(node, Expr::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, ..)));
        stack.extend(node.children());
    }
    sums > 0
}

/// If some product has a factor with few values, refutes the set for each of these. Otherwise refutes the set directly.
fn refuted_by_factors(
    pool: &ExprPool,
    constraints: &[ExprId],
    facts: &Facts,
    fixed: &mut FxHashMap<ExprId, i128>,
    budget: &mut u32,
) -> bool {
    let Some((factor, low, high)) = narrow_factor(pool, constraints, facts, fixed) else {
        let mut reading = Reading::new(pool, facts, fixed);
        for &constraint in constraints {
            reading.constraint(constraint);
        }
        reading.relate_products();
        let Reading { inequalities, wraps, choices, .. } = reading;
        return refuted(inequalities, &wraps, &choices, budget);
    };
    for value in low..=high {
        fixed.insert(factor, i128::from(value));
        if !refuted_by_factors(pool, constraints, facts, fixed, budget) {
            return false;
        }
    }
    fixed.remove(&factor);
    true
}

/// A factor with few values of a product of terms, with the least and the greatest value.
fn narrow_factor(
    pool: &ExprPool,
    constraints: &[ExprId],
    facts: &Facts,
    fixed: &FxHashMap<ExprId, i128>,
) -> Option<(ExprId, u64, u64)> {
    let mut found = None;
    let mut seen = rustc_hash::FxHashSet::default();
    for &constraint in constraints {
        pool.visit(constraint, &mut seen, |_, node| {
            let Expr::Binary(BinOp::Mul, a, b) = *node else { return };
            let (a, b) = (below(pool, a), below(pool, b));
            let is_known = |e| pool.as_const(e).is_some() || fixed.contains_key(&e);
            if found.is_some() || is_known(a) || is_known(b) {
                return;
            }
            for factor in [a, b] {
                if let Some(range) = facts.range(pool, factor)
                    && range.high - range.low < NARROW
                {
                    found = Some((factor, range.low, range.high));
                    return;
                }
            }
        });
    }
    found
}

/// The operand below all zero extensions.
fn below(pool: &ExprPool, mut e: ExprId) -> ExprId {
    while let Expr::Zext { arg, .. } = *pool.get(e) {
        e = arg;
    }
    e
}

/// The translation of terms to linear sums.
struct Reading<'a> {
    pool: &'a ExprPool,
    facts: &'a Facts,
    /// The least and the greatest value of each variable.
    ranges: Vec<(i128, i128)>,
    sums: FxHashMap<ExprId, Sum>,
    /// The inequalities `sum <= 0`.
    inequalities: Vec<Sum>,
    /// The variables for wrapping and signs, which are 0 or 1.
    wraps: Vec<u32>,
    /// The products of two sums that are not constant, with their factors. The factors are not negative.
    products: Vec<(Sum, [Sum; 2])>,
    /// The disjunctions: some alternative of each holds. An alternative is a conjunction of inequalities.
    choices: Vec<Vec<Vec<Sum>>>,
}

impl<'a> Reading<'a> {
    /// `fixed` are the terms with known values.
    fn new(pool: &'a ExprPool, facts: &'a Facts, fixed: &FxHashMap<ExprId, i128>) -> Self {
        let mut reading = Self {
            pool,
            facts,
            ranges: Vec::new(),
            sums: FxHashMap::default(),
            inequalities: Vec::new(),
            wraps: Vec::new(),
            products: Vec::new(),
            choices: Vec::new(),
        };
        for (&factor, &value) in fixed {
            reading.sums.insert(factor, Sum::constant(value));
        }
        reading
    }

    fn fresh(&mut self, low: i128, high: i128) -> Sum {
        let number = self.ranges.len() as u32;
        self.ranges.push((low, high));
        let variable = Sum::variable(number);
        self.inequalities.push(Sum { terms: vec![(number, -1)], constant: low });
        self.inequalities.push(Sum { terms: vec![(number, 1)], constant: -high });
        variable
    }

    /// A variable for a term that is not divided further.
    fn opaque(&mut self, e: ExprId) -> Option<Sum> {
        let width = self.pool.width(e);
        let (low, high) = match self.facts.range(self.pool, e) {
            Some(range) => (i128::from(range.low), i128::from(range.high)),
            None if width <= MOST_BITS => (0, (1 << width) - 1),
            None => return None,
        };
        Some(self.fresh(low, high))
    }

    /// The least and the greatest value of a sum, from the ranges of its variables. `None` on overflow.
    fn range(&self, sum: &Sum) -> Option<(i128, i128)> {
        let (mut low, mut high) = (sum.constant, sum.constant);
        for &(variable, coefficient) in &sum.terms {
            let (least, most) = self.ranges[variable as usize];
            let (a, b) = (least.checked_mul(coefficient)?, most.checked_mul(coefficient)?);
            low = low.checked_add(a.min(b))?;
            high = high.checked_add(a.max(b))?;
        }
        Some((low, high))
    }

    /// `sum` modulo `2^width`; `None` if it may leave the range by more than one modulus.
    fn wrapped(&mut self, sum: Sum, width: u32) -> Option<Sum> {
        let modulus = 1i128.checked_shl(width).filter(|_| width <= MOST_BITS)?;
        let (low, high) = self.range(&sum)?;
        if low >= 0 && high < modulus {
            return Some(sum);
        }
        let by = match (low, high) {
            _ if low >= -modulus && high < modulus => modulus,
            _ if low >= 0 && high < 2 * modulus => -modulus,
            _ => return None,
        };
        let wraps = self.fresh(0, 1);
        self.wraps.push(wraps.terms[0].0);
        let result = sum.plus(by, &wraps)?;
        self.inequalities.push(Sum::default().plus(-1, &result)?);
        self.inequalities.push(result.plus(1, &Sum::constant(1 - modulus))?);
        Some(result)
    }

    /// The unsigned value of a bit-vector.
    fn sum(&mut self, e: ExprId) -> Option<Sum> {
        if let Some(known) = self.sums.get(&e) {
            return Some(known.clone());
        }
        let Sort::Bv(width) = self.pool.sort(e) else { return None };
        let sum = match self.taken_apart(e, width) {
            Some(sum) => sum,
            None => self.opaque(e)?,
        };
        self.sums.insert(e, sum.clone());
        Some(sum)
    }

    fn taken_apart(&mut self, e: ExprId, width: u32) -> Option<Sum> {
        let constant = |pool: &ExprPool, e| pool.as_const(e).and_then(cfa::Bv::to_u128).and_then(|c| c.try_into().ok());
        let sum = match *self.pool.get(e) {
            Expr::Const(_) => return Some(Sum::constant(constant(self.pool, e)?)),
            Expr::Binary(BinOp::Add, a, b) => {
                let a = self.sum(a)?;
                match constant(self.pool, b) {
                    // Subtract the complement, so that the result wraps around at most once.
                    Some(c) if width <= MOST_BITS && c >= 1i128 << (width - 1) => {
                        a.plus(1, &Sum::constant(c - (1 << width)))?
                    }
                    _ => {
                        let b = self.sum(b)?;
                        a.plus(1, &b)?
                    }
                }
            }
            Expr::Binary(BinOp::Sub, a, b) => {
                let (a, b) = (self.sum(a)?, self.sum(b)?);
                a.plus(-1, &b)?
            }
            Expr::Unary(UnOp::Neg, a) => {
                let a = self.sum(a)?;
                Sum::default().plus(-1, &a)?
            }
            Expr::Binary(BinOp::Mul, a, b) => {
                let (a, b) = (self.sum(a)?, self.sum(b)?);
                match (a.terms.is_empty(), b.terms.is_empty()) {
                    (true, _) => Sum::default().plus(a.constant, &b)?,
                    (_, true) => Sum::default().plus(b.constant, &a)?,
                    _ => return self.product(e, &a, &b, width),
                }
            }
            Expr::Zext { arg, .. } => return self.sum(arg),
            Expr::Sext { arg, .. } => {
                let half = 1i128 << (self.pool.width(arg) - 1);
                let sum = self.sum(arg)?;
                return self.range(&sum).is_some_and(|(_, high)| high < half).then_some(sum);
            }
            Expr::Binary(BinOp::Concat, high, low) => {
                let shift = 1i128.checked_shl(self.pool.width(low)).filter(|_| width <= MOST_BITS)?;
                let (high, low) = (self.sum(high)?, self.sum(low)?);
                return low.plus(shift, &high);
            }
            Expr::Extract { hi, lo, arg } if self.pool.width(arg) <= 64 => {
                let whole = self.sum(arg)?;
                if lo == 0 && self.range(&whole).is_some_and(|(low, high)| low >= 0 && high < 1 << (hi + 1)) {
                    return Some(whole);
                }
                // whole = above * 2^(hi + 1) + part * 2^lo + below
                let part = self.opaque(e)?;
                let above = self.fresh(0, (1 << (self.pool.width(arg) - hi - 1)) - 1);
                let below = self.fresh(0, (1 << lo) - 1);
                let sum = below.plus(1 << lo, &part)?.plus(1 << (hi + 1), &above)?;
                self.inequalities.push(sum.plus(-1, &whole)?);
                self.inequalities.push(whole.plus(-1, &sum)?);
                return Some(part);
            }
            _ => return None,
        };
        self.wrapped(sum, width)
    }

    /// A variable for the product `e` of two sums, if it cannot wrap around.
    fn product(&mut self, e: ExprId, a: &Sum, b: &Sum, width: u32) -> Option<Sum> {
        let ((a_low, a_high), (b_low, b_high)) = (self.range(a)?, self.range(b)?);
        let most = a_high.checked_mul(b_high)?;
        if width > MOST_BITS || a_low < 0 || b_low < 0 || most >= 1 << width {
            return None;
        }
        let product = self.fresh(a_low * b_low, most);
        self.products.push((product.clone(), [a.clone(), b.clone()]));
        if let Some(range) = self.facts.range(self.pool, e) {
            self.inequalities.push(Sum::constant(range.low.into()).plus(-1, &product)?);
            self.inequalities.push(product.plus(1, &Sum::constant(-i128::from(range.high)))?);
        }
        Some(product)
    }

    /// Relates the products to the quotients by one of their factors. If `b > 0` and `a <= c / b`, then `a * b <= c`,
    /// because the quotient of numbers that are not negative is rounded down.
    fn relate_products(&mut self) {
        if self.products.is_empty() {
            return;
        }
        let mut read: Vec<ExprId> = self.sums.keys().copied().collect();
        read.sort_unstable();
        for e in read {
            if let Expr::Binary(op @ (BinOp::UDiv | BinOp::SDiv), dividend, divisor) = *self.pool.get(e) {
                // Without an answer nothing follows.
                let _ = self.relate_quotient(e, op == BinOp::SDiv, dividend, divisor);
            }
        }
    }

    fn relate_quotient(&mut self, e: ExprId, is_signed: bool, dividend: ExprId, divisor: ExprId) -> Option<()> {
        let quotient = self.sum(e)?;
        let (dividend, divisor) = match is_signed {
            true => (self.signed(dividend)?, self.signed(divisor)?),
            false => (self.sum(dividend)?, self.sum(divisor)?),
        };
        if self.range(&dividend)?.0 < 0 || self.range(&divisor)?.0 < 0 {
            return None;
        }
        for (product, [a, b]) in self.products.clone() {
            let other = match (a == divisor, b == divisor) {
                (true, _) => b,
                (_, true) => a,
                _ => continue,
            };
            // The divisor and the product are 0, or the divisor is positive and the other factor is larger than the
            // quotient, or the product is at most the dividend.
            let larger = quotient.plus(-1, &other)?.plus(1, &Sum::constant(1))?;
            let positive = Sum::constant(1).plus(-1, &divisor)?;
            let within = product.plus(-1, &dividend)?;
            self.choices.push(vec![vec![divisor.clone(), product], vec![positive, larger], vec![within]]);
        }
        Some(())
    }

    /// The signed value of a bit-vector.
    fn signed(&mut self, e: ExprId) -> Option<Sum> {
        let width = self.pool.width(e);
        if width > 64 {
            return None;
        }
        let sum = self.sum(e)?;
        let half = 1i128 << (width - 1);
        let (low, high) = self.range(&sum)?;
        if high < half {
            return Some(sum);
        }
        if low >= half {
            return sum.plus(1, &Sum::constant(-2 * half));
        }
        let negative = self.fresh(0, 1);
        self.wraps.push(negative.terms[0].0);
        // half * negative <= sum <= half - 1 + half * negative
        self.inequalities.push(Sum::default().plus(half, &negative)?.plus(-1, &sum)?);
        self.inequalities.push(sum.plus(-half, &negative)?.plus(1, &Sum::constant(1 - half))?);
        sum.plus(-2 * half, &negative)
    }

    /// Adds the linear part of the constraint `e` (one bit).
    fn constraint(&mut self, e: ExprId) {
        if let Some(mut alternatives) = self.alternatives(e, true, 0) {
            // Drop alternatives that are impossible by ranges, such as `x < 0` in `x != 0`.
            let possible = |sum: &Sum| self.range(sum).is_none_or(|(least, _)| least <= 0);
            let some: Vec<_> = alternatives.iter().filter(|a| a.iter().all(possible)).cloned().collect();
            if !some.is_empty() {
                alternatives = some;
            }
            match &alternatives[..] {
                [all] => self.inequalities.extend(all.iter().cloned()),
                _ => self.choices.push(alternatives),
            }
        }
    }

    /// The alternatives that `e == value` implies, each a conjunction. `None` if nothing linear follows.
    fn alternatives(&mut self, e: ExprId, value: bool, depth: u32) -> Option<Vec<Vec<Sum>>> {
        let one = Sum::constant(1);
        // `a <= b`, or `b < a`.
        let ordered = |a: &Sum, b: &Sum, strict: bool, value: bool| -> Option<Vec<Vec<Sum>>> {
            let (a, b, strict) = if value { (a, b, strict) } else { (b, a, !strict) };
            let sum = a.plus(-1, b)?;
            Some(vec![vec![if strict { sum.plus(1, &one)? } else { sum }]])
        };
        match *self.pool.get(e) {
            Expr::Unary(UnOp::Not, a) => self.alternatives(a, !value, depth),
            Expr::Binary(BinOp::Ule, a, b) => ordered(&self.sum(a)?, &self.sum(b)?, false, value),
            Expr::Binary(BinOp::Ult, a, b) => ordered(&self.sum(a)?, &self.sum(b)?, true, value),
            Expr::Binary(BinOp::Sle, a, b) => ordered(&self.signed(a)?, &self.signed(b)?, false, value),
            Expr::Binary(BinOp::Slt, a, b) => ordered(&self.signed(a)?, &self.signed(b)?, true, value),
            Expr::Binary(BinOp::Eq, a, b) if self.pool.sort(a) != Sort::Bv(1) => {
                let (a, b) = (self.sum(a)?, self.sum(b)?);
                let (below, above) = (a.plus(-1, &b)?, b.plus(-1, &a)?);
                Some(match value {
                    true => vec![vec![below, above]],
                    false => vec![vec![below.plus(1, &one)?], vec![above.plus(1, &one)?]],
                })
            }
            Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) if self.pool.sort(e) == Sort::Bv(1) && depth < 4 => {
                let (a, b) = (self.alternatives(a, value, depth + 1), self.alternatives(b, value, depth + 1));
                if (op == BinOp::And) != value {
                    // A disjunction. If one operand has no linear part, that operand may be the one that holds, so
                    // nothing follows.
                    let mut all = a?;
                    all.extend(b?);
                    return Some(all);
                }
                match (a, b) {
                    (Some(a), Some(b)) if a.len() * b.len() <= 4 => {
                        let both = |x: &Vec<Sum>, y: &Vec<Sum>| x.iter().chain(y).cloned().collect();
                        Some(a.iter().flat_map(|x| b.iter().map(move |y| both(x, y))).collect())
                    }
                    (a, b) => a.or(b),
                }
            }
            _ => None,
        }
    }
}

/// Returns true if the inequalities have no solution under any wrapping and any choice of alternatives. `budget` limits
/// the eliminations.
fn refuted(inequalities: Vec<Sum>, wraps: &[u32], choices: &[Vec<Vec<Sum>>], budget: &mut u32) -> bool {
    if *budget == 0 {
        return false;
    }
    *budget -= 1;
    if is_contradictory(inequalities.clone()) {
        return true;
    }
    if let Some((choice, others)) = choices.split_first() {
        return choice.iter().all(|alternative| {
            let with = inequalities.iter().chain(alternative).cloned().collect();
            refuted(with, wraps, others, budget)
        });
    }
    let Some((&wrap, others)) = wraps.split_first() else { return false };
    [(0, -1), (1, 1)].into_iter().all(|(value, sign)| {
        // The variable is at most 0, or at least 1.
        let mut with = inequalities.clone();
        with.push(if value == 0 {
            Sum { terms: vec![(wrap, -sign)], constant: 0 }
        } else {
            Sum { terms: vec![(wrap, -sign)], constant: 1 }
        });
        refuted(with, others, choices, budget)
    })
}

/// Returns true if elimination shows that the inequalities `sum <= 0` have no integer solution.
fn is_contradictory(inequalities: Vec<Sum>) -> bool {
    // The strongest constant for each linear combination.
    let mut known: FxHashMap<Vec<(u32, i128)>, i128> = FxHashMap::default();
    for sum in inequalities {
        if insert(&mut known, sum) {
            return true;
        }
    }
    loop {
        let mut occurrences: FxHashMap<u32, (usize, usize)> = FxHashMap::default();
        for terms in known.keys() {
            for &(variable, coefficient) in terms {
                let (above, below) = occurrences.entry(variable).or_default();
                *if coefficient > 0 { above } else { below } += 1;
            }
        }
        let Some((&variable, _)) = occurrences
            .iter()
            .min_by_key(|&(&v, &(above, below))| ((above * below) as i64 - (above + below) as i64, v))
        else {
            return false;
        };
        let (with, without): (Vec<_>, Vec<_>) =
            known.drain().map(|(terms, constant)| Sum { terms, constant }).partition(|s| s.coefficient(variable) != 0);
        known.extend(without.into_iter().map(|s| (s.terms, s.constant)));
        let (above, below): (Vec<_>, Vec<_>) = with.into_iter().partition(|s| s.coefficient(variable) > 0);
        for a in &above {
            for b in &below {
                let (p, q) = (a.coefficient(variable), -b.coefficient(variable));
                // On overflow the inequality is dropped, which is sound.
                let Some(sum) = Sum::default().plus(q, a).and_then(|s| s.plus(p, b)) else { continue };
                if insert(&mut known, sum) {
                    return true;
                }
            }
        }
        if known.len() > MOST_INEQUALITIES {
            return false;
        }
    }
}

/// Adds an inequality. Returns true if no values satisfy it.
fn insert(known: &mut FxHashMap<Vec<(u32, i128)>, i128>, sum: Sum) -> bool {
    let Sum { mut terms, mut constant } = sum;
    if terms.is_empty() {
        return constant > 0;
    }
    let divisor = terms.iter().fold(0, |d, t| gcd(d, t.1.unsigned_abs()));
    if let Ok(divisor) = i128::try_from(divisor)
        && divisor > 1
    {
        terms.iter_mut().for_each(|t| t.1 /= divisor);
        // Round the constant up: the terms are integers.
        constant = constant.div_euclid(divisor) + i128::from(constant.rem_euclid(divisor) != 0);
    }
    let strongest = known.entry(terms).or_insert(constant);
    *strongest = constant.max(*strongest);
    false
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Bitwuzla, Solver, budget::Budget};

    /// Random comparisons of sums over few bits, which wrap around often. Refuted sets have no model.
    #[test]
    fn what_is_refuted_has_no_model() {
        let mut below = crate::dice::dice(1);
        let (mut refuted, mut unsat) = (0, 0);
        for _ in 0..600 {
            let mut pool = ExprPool::new();
            let width = [4, 5, 8][below(3) as usize];
            let leaves: Vec<ExprId> = (0..3).map(|_| pool.fresh_symbol(Sort::Bv(width)).1).collect();
            let mut terms = leaves.clone();
            for _ in 0..4 {
                let (a, b) = (terms[below(terms.len() as u64) as usize], terms[below(terms.len() as u64) as usize]);
                let c = pool.int(width, [0, 1, 3, 8, u64::MAX, u64::MAX - 2, below(40)][below(7) as usize]);
                let e = match below(11) {
                    0..=1 => pool.add(a, b),
                    2..=3 => pool.sub(a, b),
                    4 => pool.add(a, c),
                    5 => pool.mul(a, c),
                    6 => pool.mul(a, b),
                    7 => pool.neg(a),
                    8 => pool.binary([BinOp::UDiv, BinOp::SDiv][below(2) as usize], c, a),
                    9 => {
                        // Products of products take the solver minutes.
                        let [a, b] = [leaves[below(3) as usize], leaves[below(3) as usize]];
                        let half = pool.extract(width / 2 - 1, 0, b);
                        let half = pool.zext(width, half);
                        pool.mul(half, a)
                    }
                    _ => {
                        let hi = below(u64::from(width)) as u32;
                        let lo = below(u64::from(hi) + 1) as u32;
                        let part = pool.extract(hi, lo, a);
                        pool.zext(width, part)
                    }
                };
                terms.push(e);
            }
            let mut set = Vec::new();
            for _ in 0..6 {
                let mut e = pool.bool(true);
                for _ in 0..=below(2) {
                    let a = terms[below(terms.len() as u64) as usize];
                    let b = match below(3) {
                        0 => pool.int(width, below(9)),
                        _ => terms[below(terms.len() as u64) as usize],
                    };
                    let op = [BinOp::Ule, BinOp::Ult, BinOp::Slt, BinOp::Sle, BinOp::Eq][below(5) as usize];
                    let one = pool.binary(op, a, b);
                    e = pool.and(e, one);
                }
                set.push(if below(3) == 0 { pool.not(e) } else { e });
            }
            let answer = Bitwuzla::new().check(&pool, &set, &Budget::lasting(std::time::Duration::from_secs(2)));
            unsat += u32::from(answer == Answer::Unsat);
            if contradict(&pool, &set) {
                refuted += 1;
                assert_ne!(answer, Answer::Sat, "{}", crate::smtlib::script(&pool, &set));
            }
        }
        assert!(refuted * 2 > unsat && refuted > 50, "{refuted} of {unsat}");
    }

    /// Guards of products by divisions, as programs write them. Without the guard, or with another divisor, the product
    /// overflows.
    #[test]
    fn a_division_bounds_a_product() {
        for is_signed in [true, false] {
            let mut pool = ExprPool::new();
            let [w, h, other] = [(); 3].map(|()| pool.fresh_symbol(Sort::Bv(32)).1);
            let (zero, most) = (pool.int(32, 0), pool.int(32, if is_signed { 0x7fff_ffff } else { 0xffff_ffff }));
            let extended = |pool: &mut ExprPool, e| if is_signed { pool.sext(64, e) } else { pool.zext(64, e) };
            let (wide_w, wide_h, wide_most) =
                (extended(&mut pool, w), extended(&mut pool, h), extended(&mut pool, most));
            let product = pool.mul(wide_w, wide_h);
            let overflows = pool.slt(wide_most, product);
            let (division, least, less) = match is_signed {
                true => (BinOp::SDiv, BinOp::Sle, BinOp::Slt),
                false => (BinOp::UDiv, BinOp::Ule, BinOp::Ult),
            };
            let positive = pool.binary(less, zero, h);
            let others_positive = pool.binary(less, zero, other);
            let not_negative = pool.binary(least, zero, w);
            let mut guard = |by| {
                let quotient = pool.binary(division, most, by);
                pool.binary(least, w, quotient)
            };
            let (guarded, wrongly) = (guard(h), guard(other));
            assert!(contradict(&pool, &[positive, not_negative, guarded, overflows]), "{is_signed}");
            assert!(!contradict(&pool, &[positive, not_negative, overflows]));
            assert!(!contradict(&pool, &[positive, others_positive, not_negative, wrongly, overflows]));
            // The divisor may be 0, but then the product is 0, too.
            let not_positive = pool.not(positive);
            let either = pool.or(not_positive, guarded);
            let divisor_not_negative = pool.binary(least, zero, h);
            assert!(contradict(&pool, &[divisor_not_negative, not_negative, either, overflows]));
            assert!(!contradict(&pool, &[not_negative, wrongly, overflows]));
        }
    }
}
