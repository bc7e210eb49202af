//! Ranges of terms that a path condition implies, found by cheap propagation.
//!
//! Constants and bounds from earlier branches decide most branches of most programs. Facts record these without a
//! solver. A conjunct such as `x < c` narrows the range of `x`, and then the ranges of the operands of `x`. The
//! evaluation of a condition computes the ranges of its sub-terms and intersects each with the recorded one.

use super::bounds::Bounds;
use cfa::{BinOp, Expr, ExprId, ExprPool, Sort, UnOp};
use rpds::RedBlackTreeMap;
use rustc_hash::FxHashMap;

/// Ranges of terms. Persistent: cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    ranges: RedBlackTreeMap<ExprId, Bounds>,
}

/// The error that facts contradict one another.
#[derive(Debug)]
pub struct Contradiction;

/// The maximal number of terms in one evaluation, which bounds the cost of a query. Larger terms have no range.
const EVALUATED: usize = 4_000;
/// The maximal depth to which a fact is propagated into a term.
const DEPTH: u32 = 12;

impl Facts {
    /// The range of a term of at most 64 bits; `None` for wider terms.
    pub fn range(&self, pool: &ExprPool, e: ExprId) -> Option<Bounds> {
        Evaluation { facts: self, memo: FxHashMap::default() }.range(pool, e)
    }

    /// The range recorded for `e` itself, if there is one.
    pub fn known(&self, e: ExprId) -> Option<&Bounds> {
        self.ranges.get(&e)
    }

    /// Records that the value of `e` is in `range`, without propagation.
    pub fn set(&mut self, e: ExprId, range: Bounds) {
        self.ranges.insert_mut(e, range);
    }

    /// Records that the one-bit expression `e` is true, and propagates this to its operands.
    pub fn assume(&mut self, pool: &ExprPool, e: ExprId) -> Result<(), Contradiction> {
        self.refine(pool, e, Bounds::bool(true), DEPTH)
    }

    /// Records that the value of `e` is in `range`, and propagates this to its operands.
    fn refine(&mut self, pool: &ExprPool, e: ExprId, range: Bounds, depth: u32) -> Result<(), Contradiction> {
        let before = self.shallow(pool, e);
        let now = before.meet(&range).ok_or(Contradiction)?;
        if now == before {
            // A comparison that is already known to hold may still narrow its operands.
            if now.width != 1 || self.ranges.contains_key(&e) {
                return Ok(());
            }
        }
        if pool.as_const(e).is_some() {
            return Ok(());
        }
        self.ranges.insert_mut(e, now);
        if depth == 0 {
            return Ok(());
        }
        self.refine_operands(pool, e, now, depth - 1)
    }

    /// Propagates the range `r` of `e` to its operands.
    fn refine_operands(&mut self, pool: &ExprPool, e: ExprId, r: Bounds, depth: u32) -> Result<(), Contradiction> {
        match *pool.get(e) {
            Expr::Unary(UnOp::Not, a) => self.refine(pool, a, r.not(), depth),
            Expr::Zext { arg, .. } => {
                let width = pool.width(arg);
                if r.low > Bounds::full(width).high {
                    return Err(Contradiction);
                }
                let high = r.high.min(Bounds::full(width).high);
                let narrow = Bounds::unsigned(width, r.low, high).ok_or(Contradiction)?;
                let bits = Bounds::bits(width, r.zeros, r.ones & Bounds::full(width).high).ok_or(Contradiction)?;
                self.refine(pool, arg, narrow.meet(&bits).ok_or(Contradiction)?, depth)
            }
            Expr::Sext { arg, .. } => {
                let full = Bounds::full(pool.width(arg));
                let narrow = Bounds::signed(full.width, r.min.max(full.min), r.max.min(full.max));
                self.refine(pool, arg, narrow.ok_or(Contradiction)?, depth)
            }
            Expr::Extract { hi, lo, arg } if pool.width(arg) <= 64 => {
                let part = Bounds::full(hi - lo + 1).high << lo;
                let bits = Bounds::bits(pool.width(arg), (r.zeros << lo) & part, r.ones << lo);
                self.refine(pool, arg, bits.ok_or(Contradiction)?, depth)
            }
            Expr::Binary(BinOp::Concat, high, low) => {
                let n = pool.width(low);
                self.refine(pool, high, r.extract(r.width - 1, n), depth)?;
                self.refine(pool, low, r.extract(n - 1, 0), depth)
            }
            // Adding a constant moves the range. If the sum may wrap around, nothing follows.
            Expr::Binary(BinOp::Add, a, b) => {
                let Some(c) = pool.as_const(b) else { return Ok(()) };
                let c = Bounds::of_bv(c).expect("as wide as the sum");
                self.refine(pool, a, Bounds::apply(BinOp::Sub, &r, &c), depth)
            }
            Expr::Binary(BinOp::And, a, b) => {
                let (ra, rb) = (self.shallow(pool, a), self.shallow(pool, b));
                // If a bit of the result is zero and that of one operand is one, the bit of the other operand is zero.
                let part = |ones: u64| Bounds::bits(r.width, r.zeros & ones, r.ones).ok_or(Contradiction);
                self.refine(pool, a, part(rb.ones)?, depth)?;
                self.refine(pool, b, part(ra.ones)?, depth)
            }
            Expr::Binary(BinOp::Or, a, b) => {
                let (ra, rb) = (self.shallow(pool, a), self.shallow(pool, b));
                let part = |zeros: u64| Bounds::bits(r.width, r.zeros, r.ones & zeros).ok_or(Contradiction);
                self.refine(pool, a, part(rb.zeros)?, depth)?;
                self.refine(pool, b, part(ra.zeros)?, depth)
            }
            Expr::Binary(op, a, b) if op.is_comparison() && pool.width(a) <= 64 => {
                let Some(holds) = r.as_constant() else { return Ok(()) };
                self.refine_compared(pool, op, holds == 1, a, b, depth)
            }
            Expr::Ite(c, t, f) => {
                let (rt, rf) = (self.shallow(pool, t), self.shallow(pool, f));
                match (rt.meet(&r).is_some(), rf.meet(&r).is_some()) {
                    (false, false) => Err(Contradiction),
                    (true, false) => {
                        self.refine(pool, c, Bounds::bool(true), depth)?;
                        self.refine(pool, t, r, depth)
                    }
                    (false, true) => {
                        self.refine(pool, c, Bounds::bool(false), depth)?;
                        self.refine(pool, f, r, depth)
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn refine_compared(
        &mut self,
        pool: &ExprPool,
        op: BinOp,
        holds: bool,
        a: ExprId,
        b: ExprId,
        depth: u32,
    ) -> Result<(), Contradiction> {
        // `not (a < b)` is `b <= a`.
        let (op, a, b) = match (op, holds) {
            (BinOp::Eq, _) | (_, true) => (op, a, b),
            (BinOp::Ult, false) => (BinOp::Ule, b, a),
            (BinOp::Ule, false) => (BinOp::Ult, b, a),
            (BinOp::Slt, false) => (BinOp::Sle, b, a),
            (_, false) => (BinOp::Slt, b, a),
        };
        let (ra, rb) = (self.shallow(pool, a), self.shallow(pool, b));
        let (w, full) = (ra.width, Bounds::full(ra.width));
        let (na, nb) = match op {
            BinOp::Eq if holds => {
                let both = ra.meet(&rb);
                (both, both)
            }
            BinOp::Eq => {
                let without = |r: &Bounds, o: &Bounds| match o.as_constant() {
                    Some(c) => r.without(c),
                    None => Some(*r),
                };
                (without(&ra, &rb), without(&rb, &ra))
            }
            BinOp::Ult => {
                if rb.high == 0 || ra.low == full.high {
                    return Err(Contradiction);
                }
                (Bounds::unsigned(w, 0, rb.high - 1), Bounds::unsigned(w, ra.low + 1, full.high))
            }
            BinOp::Ule => (Bounds::unsigned(w, 0, rb.high), Bounds::unsigned(w, ra.low, full.high)),
            BinOp::Slt => {
                if rb.max == full.min || ra.min == full.max {
                    return Err(Contradiction);
                }
                (Bounds::signed(w, full.min, rb.max - 1), Bounds::signed(w, ra.min + 1, full.max))
            }
            _ => (Bounds::signed(w, full.min, rb.max), Bounds::signed(w, ra.min, full.max)),
        };
        self.refine(pool, a, na.ok_or(Contradiction)?, depth)?;
        self.refine(pool, b, nb.ok_or(Contradiction)?, depth)
    }

    /// The range of `e` (at most 64 bits), from the ranges recorded for `e` and its operands.
    fn shallow(&self, pool: &ExprPool, e: ExprId) -> Bounds {
        let node = pool.get(e);
        let operand = |e: ExprId| match (pool.as_const(e), pool.sort(e)) {
            (Some(c), _) => Bounds::of_bv(c),
            (None, Sort::Bv(width @ ..=64)) => Some(self.known(e).copied().unwrap_or(Bounds::full(width))),
            _ => None,
        };
        let structural = structural(pool, node, pool.width(e), operand);
        match self.known(e) {
            // If the intersection is empty, the recorded range is returned: contradictions are not reported here.
            Some(known) => structural.meet(known).unwrap_or(*known),
            None => structural,
        }
    }
}

/// One evaluation, with the ranges of the terms computed so far.
struct Evaluation<'f> {
    facts: &'f Facts,
    memo: FxHashMap<ExprId, Option<Bounds>>,
}

impl Evaluation<'_> {
    fn range(&mut self, pool: &ExprPool, root: ExprId) -> Option<Bounds> {
        let mut stack = vec![root];
        while let Some(&e) = stack.last() {
            if self.memo.contains_key(&e) {
                stack.pop();
                continue;
            }
            let width = match pool.sort(e) {
                Sort::Bv(width @ ..=64) => width,
                _ => {
                    self.memo.insert(e, None);
                    continue;
                }
            };
            let known = self.facts.known(e).copied();
            if let Some(known) = known.filter(|k| k.as_constant().is_some()) {
                self.memo.insert(e, Some(known));
                continue;
            }
            let node = pool.get(e);
            if self.memo.len() < EVALUATED && has_rule(node) {
                let pending = stack.len();
                stack.extend(node.children().filter(|c| !self.memo.contains_key(c)));
                if stack.len() > pending {
                    continue;
                }
            }
            let operand = |c: ExprId| {
                self.memo.get(&c).copied().unwrap_or_else(|| match pool.sort(c) {
                    Sort::Bv(width @ ..=64) => Some(Bounds::full(width)),
                    _ => None,
                })
            };
            let structural = structural(pool, node, width, operand);
            let range = match known {
                Some(known) => structural.meet(&known).unwrap_or(known),
                None => structural,
            };
            self.memo.insert(e, Some(range));
        }
        self.memo[&root]
    }
}

/// Returns true if [`structural`] uses the operands of the node.
fn has_rule(node: &Expr) -> bool {
    matches!(
        node,
        Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Ite(..)
            | Expr::Extract { .. }
            | Expr::Zext { .. }
            | Expr::Sext { .. }
    )
}

/// The range of a node of `width` bits from the ranges of its operands. `operand` returns `None` for operands without a
/// range.
fn structural(pool: &ExprPool, node: &Expr, width: u32, operand: impl Fn(ExprId) -> Option<Bounds>) -> Bounds {
    let computed = match *node {
        Expr::Const(ref c) => Bounds::of_bv(c),
        Expr::Unary(UnOp::Not, a) => operand(a).map(|r| r.not()),
        Expr::Unary(UnOp::Neg, a) => operand(a).map(|r| Bounds::apply(BinOp::Sub, &Bounds::constant(width, 0), &r)),
        Expr::Binary(BinOp::Concat, a, b) => operand(a).zip(operand(b)).map(|(a, b)| a.concat(&b)),
        Expr::Binary(op, a, b) => operand(a).zip(operand(b)).map(|(a, b)| Bounds::apply(op, &a, &b)),
        Expr::Ite(c, t, f) => match operand(c) {
            Some(c) if c.is_true() => operand(t),
            Some(c) if c.is_false() => operand(f),
            _ => operand(t).zip(operand(f)).map(|(t, f)| t.join(&f)),
        },
        Expr::Extract { hi, lo, arg } => operand(arg).map(|r| r.extract(hi, lo)),
        Expr::Zext { arg, .. } => operand(arg).map(|r| r.zext(width)),
        Expr::Sext { arg, .. } => operand(arg).map(|r| r.sext(width)),
        Expr::Select { array, .. } => pool.elements(array).and_then(|e| {
            let within = Bounds::unsigned(width, e.low, e.high)?;
            within.meet(&Bounds::bits(width, e.zeros, e.ones)?)
        }),
        _ => None,
    };
    computed.unwrap_or(Bounds::full(width))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An element of a table of constants is between the least and the greatest element, whatever the index.
    #[test]
    fn elements_of_tables_have_ranges() {
        let mut pool = ExprPool::new();
        let zero = pool.int(16, 0);
        let mut array = pool.const_array(32, zero);
        let elements: Vec<u64> = (0..50).map(|i| 16 * (i * 37 % 90)).collect();
        for (i, &element) in elements.iter().enumerate() {
            let (index, value) = (pool.int(32, i as u64), pool.int(16, element));
            array = pool.store(array, index, value);
        }
        let index = pool.fresh_symbol(Sort::Bv(32)).1;
        let read = pool.select(array, index);
        let range = Facts::default().range(&pool, read).expect("narrow");
        assert!(elements.iter().chain(&[0]).all(|&e| range.contains(e)));
        assert_eq!((range.low, range.high, range.zeros & 15), (0, *elements.iter().max().expect("some"), 15));
        // One element is unconstrained.
        let value = pool.fresh_symbol(Sort::Bv(16)).1;
        let first = pool.int(32, 0);
        let array = pool.store(array, first, value);
        let read = pool.select(array, index);
        assert_eq!(Facts::default().range(&pool, read), Some(Bounds::full(16)));
    }
}
