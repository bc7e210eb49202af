//! Reads terms as integers, and conditions as difference constraints.

use super::Formula;
use super::graph::ZERO;
use crate::independence::is_free;
use cfa::{BinOp, Expr, ExprId, ExprPool, Sort, UnOp};
use rustc_hash::FxHashMap;

/// The maximal numbers of nodes and of parts of formulas. Larger sets are hardly about order.
const MOST_NODES: usize = 400;
const MOST_PARTS: usize = 4_000;
/// The maximal depth of terms.
const DEPTH: u32 = 40;

/// The pseudo-constraint of formulas that relate terms to their operands.
pub(super) const OF_TERMS: u32 = u32::MAX;

/// A term as a signed or unsigned integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Number {
    term: ExprId,
    signed: bool,
}

/// The sum of a node and a constant.
type Sum = (u32, i128);

/// The difference constraints of a set.
pub(super) struct Reading<'p> {
    pool: &'p ExprPool,
    nodes: FxHashMap<Number, u32>,
    /// The formulas, each with the index of its constraint.
    pub formulas: Vec<(Formula, u32)>,
    /// True if some part of the set was omitted.
    pub is_open: bool,
    /// True if the set compares two terms. Comparisons with constants alone are left to other procedures.
    is_order: bool,
    parts: usize,
}

impl<'p> Reading<'p> {
    /// Reads a set of constraints. `None` if it compares no terms, or if it is too large.
    pub fn read(pool: &'p ExprPool, set: &[ExprId]) -> Option<Self> {
        let mut this =
            Self { pool, nodes: FxHashMap::default(), formulas: Vec::new(), is_open: false, is_order: false, parts: 0 };
        for (i, &e) in set.iter().enumerate() {
            let formula = this.formula(e, true, 0)?;
            this.formulas.push((formula, i as u32));
        }
        this.relate_signs();
        this.is_order.then_some(this)
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes.len() + 1
    }

    /// The leaves, each with one of its nodes and its width.
    pub fn leaves(&self) -> impl Iterator<Item = (ExprId, u32, u32)> {
        let free = self.nodes.iter().filter(|(number, _)| is_free(self.pool.get(number.term)));
        free.map(|(number, &node)| (number.term, node, self.pool.width(number.term)))
    }

    /// Reads `e`, or its negation if `holds` is false.
    fn formula(&mut self, e: ExprId, holds: bool, depth: u32) -> Option<Formula> {
        self.parts += 1;
        if self.parts > MOST_PARTS || depth > DEPTH {
            return None;
        }
        let pool = self.pool;
        Some(match *pool.get(e) {
            Expr::Const(ref c) if c.is_true() == holds => Formula::All(Vec::new()),
            Expr::Const(_) => Formula::Any(Vec::new()),
            Expr::Unary(UnOp::Not, a) => self.formula(a, !holds, depth + 1)?,
            Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
                let parts = vec![self.formula(a, holds, depth + 1)?, self.formula(b, holds, depth + 1)?];
                if (op == BinOp::And) == holds { Formula::All(parts) } else { any(parts) }
            }
            Expr::Binary(op @ (BinOp::Eq | BinOp::Xor), a, b) if matches!(pool.sort(a), Sort::Bv(1)) => {
                let same = (op == BinOp::Eq) == holds;
                let yes = vec![self.formula(a, true, depth + 1)?, self.formula(b, same, depth + 1)?];
                let no = vec![self.formula(a, false, depth + 1)?, self.formula(b, !same, depth + 1)?];
                Formula::Any(vec![Formula::All(yes), Formula::All(no)])
            }
            Expr::Ite(c, t, f) => {
                let yes = vec![self.formula(c, true, depth + 1)?, self.formula(t, holds, depth + 1)?];
                let no = vec![self.formula(c, false, depth + 1)?, self.formula(f, holds, depth + 1)?];
                Formula::Any(vec![Formula::All(yes), Formula::All(no)])
            }
            Expr::Binary(op, a, b) if op.is_comparison() && is_number(pool, a) => {
                self.comparison(op, a, b, holds, depth + 1)?
            }
            ref leaf if is_free(leaf) => {
                let (node, plus) = self.sum(e, false, depth)?;
                match holds {
                    true => at_most((ZERO, 1), (node, plus)),
                    false => at_most((node, plus), (ZERO, 0)),
                }
            }
            _ => {
                self.is_open = true;
                Formula::Open
            }
        })
    }

    fn comparison(&mut self, op: BinOp, a: ExprId, b: ExprId, holds: bool, depth: u32) -> Option<Formula> {
        let signed = matches!(op, BinOp::Slt | BinOp::Sle | BinOp::Eq);
        let (x, y) = (self.sum(a, signed, depth)?, self.sum(b, signed, depth)?);
        self.is_order |= x.0 != ZERO && y.0 != ZERO;
        let less = |(node, plus): Sum| (node, plus + 1);
        Some(match (op, holds) {
            (BinOp::Eq, true) => Formula::All(vec![at_most(x, y), at_most(y, x)]),
            (BinOp::Eq, false) => Formula::Any(vec![at_most(less(x), y), at_most(less(y), x)]),
            (BinOp::Ult | BinOp::Slt, true) => at_most(less(x), y),
            (BinOp::Ult | BinOp::Slt, false) => at_most(y, x),
            (_, true) => at_most(x, y),
            (_, false) => at_most(less(y), x),
        })
    }

    /// Reads a term as an integer.
    fn sum(&mut self, term: ExprId, signed: bool, depth: u32) -> Option<Sum> {
        let pool = self.pool;
        if let Some(c) = pool.as_const(term) {
            let value = if signed { i128::from(c.to_i64()?) } else { i128::from(c.to_u64()?) };
            return Some((ZERO, value));
        }
        match *pool.get(term) {
            Expr::Zext { arg, .. } => return self.sum(arg, false, depth),
            Expr::Sext { arg, .. } if signed => return self.sum(arg, true, depth),
            _ => {}
        }
        let number = Number { term, signed };
        if let Some(&node) = self.nodes.get(&number) {
            return Some((node, 0));
        }
        let node = self.nodes() as u32;
        if self.nodes() >= MOST_NODES || depth > DEPTH {
            return None;
        }
        self.nodes.insert(number, node);
        let width = pool.width(term);
        let (least, most) = range(width, signed);
        self.of_terms(Formula::All(vec![at_most((node, 0), (ZERO, most)), at_most((ZERO, least), (node, 0))]));
        match *pool.get(term) {
            Expr::Binary(BinOp::Add, x, c) if pool.as_const(c).is_some() => {
                let c = i128::from(pool.as_const(c).and_then(|c| c.to_i64())?);
                let (x, plus) = self.sum(x, signed, depth + 1)?;
                let wraps = |by: i128| equal((node, 0), (x, plus + c + by));
                // The sum can leave the range only on the side of the constant's sign.
                let whole = 1 << width;
                self.of_terms(Formula::Any(vec![wraps(0), wraps(if c < 0 { whole } else { -whole })]));
            }
            Expr::Ite(c, t, f) => {
                let (yes, no) = (self.formula(c, true, depth + 1)?, self.formula(c, false, depth + 1)?);
                let (t, f) = (self.sum(t, signed, depth + 1)?, self.sum(f, signed, depth + 1)?);
                let of = |condition, value| Formula::All(vec![condition, equal((node, 0), value)]);
                self.of_terms(Formula::Any(vec![of(yes, t), of(no, f)]));
            }
            ref leaf if is_free(leaf) => {}
            _ => self.is_open = true,
        }
        Some((node, 0))
    }

    fn of_terms(&mut self, formula: Formula) {
        self.formulas.push((formula, OF_TERMS));
    }

    /// Relates the signed and the unsigned integer of a term: both are equal if they are not negative.
    fn relate_signs(&mut self) {
        let both: Vec<(u32, u32, u32)> = self
            .nodes
            .iter()
            .filter(|(number, _)| number.signed)
            .filter_map(|(&Number { term, .. }, &node)| {
                let other = self.nodes.get(&Number { term, signed: false })?;
                Some((node, *other, self.pool.width(term)))
            })
            .collect();
        for (signed, unsigned, width) in both {
            let (signed, unsigned) = ((signed, 0), (unsigned, 0));
            let same = vec![at_most((ZERO, 0), signed), equal(signed, unsigned)];
            let moved = vec![at_most(signed, (ZERO, -1)), equal((signed.0, 1 << width), unsigned)];
            self.of_terms(Formula::Any(vec![Formula::All(same), Formula::All(moved)]));
        }
    }
}

fn is_number(pool: &ExprPool, e: ExprId) -> bool {
    matches!(pool.sort(e), Sort::Bv(2..=64))
}

fn range(width: u32, signed: bool) -> (i128, i128) {
    match signed {
        true => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        false => (0, (1 << width) - 1),
    }
}

/// The constraint `x <= y`.
fn at_most((x, plus): Sum, (y, other): Sum) -> Formula {
    Formula::Difference { from: y, to: x, most: other - plus }
}

fn equal(x: Sum, y: Sum) -> Formula {
    Formula::All(vec![at_most(x, y), at_most(y, x)])
}

/// The disjunction of `parts`. Nested disjunctions are flattened.
fn any(parts: Vec<Formula>) -> Formula {
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Formula::Open => return Formula::Open,
            Formula::Any(inner) => all.extend(inner),
            other => all.push(other),
        }
    }
    Formula::Any(all)
}
