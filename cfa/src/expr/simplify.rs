//! Simplification on construction: constant folding and cheap local rules.
//!
//! A rule looks at a node, its children and sometimes theirs; it never searches. Canonical forms:
//!
//! 1. commutative operations have a constant on the right, else the smaller id on the left;
//! 2. `a - c` is `a + (-c)`, and constants in sums of sums are collected: `(a + c1) + c2` is `a + c`;
//! 3. there is no negated constant, no double negation, no comparison of equal operands;
//! 4. where rounding cannot matter it is to nearest;
//! 5. `Extract` is pushed towards leaves through `Concat`, `Zext`, `Extract`, and adjacent extracts of
//!    one value are joined, so that a value written to memory byte by byte reads back as itself.
//!
//! Every rule is tested against the evaluator on random expressions (`tests/expr_properties.rs`).

mod parts;

use super::eval::apply;
use super::{BinOp, Expr, ExprId, ExprPool, Sort, UnOp};
use crate::bv::Bv;
use crate::float::Rounding;
use BinOp::*;

/// How deep rules may follow from rules before a node is taken as it is: keeps the stack bounded where a
/// rule pushes an operation down a chain as long as the program cares to build.
const MAX_NESTING: u32 = 200;

impl ExprPool {
    /// Interns a simplified form of `node`, whose sort is `sort`.
    pub(super) fn simplified(&mut self, node: Expr, sort: Sort) -> ExprId {
        if let Some(value) = self.fold(&node) {
            return self.constant(value);
        }
        if self.simplifying == MAX_NESTING {
            return self.intern(node, sort);
        }
        self.simplifying += 1;
        let simpler = match node {
            Expr::Unary(op, a) => self.simplify_unary(op, a),
            Expr::Binary(op, a, b) => Some(self.simplify_binary(op, a, b, sort)),
            Expr::Ite(c, t, e) => self.simplify_ite(c, t, e),
            Expr::Extract { hi, lo, arg } => self.simplify_extract(hi, lo, arg),
            Expr::Zext { width, arg } => self.simplify_zext(width, arg),
            Expr::Sext { width, arg } => self.simplify_sext(width, arg),
            Expr::Select { array, index } => self.simplify_select(array, index),
            Expr::Store { array, index, value } => self.simplify_store(array, index, value),
            Expr::FConvert { from, to, arg, .. } if from == to => Some(arg),
            Expr::FConvert { rounding, from, to, arg } if rounding != Rounding::Nearest && from.embeds_into(to) => {
                Some(self.f_convert(Rounding::Nearest, from, to, arg))
            }
            Expr::IntToF { rounding, to, signed, arg }
                if rounding != Rounding::Nearest && to.has_integers(signed, self.width(arg)) =>
            {
                Some(self.int_to_f(Rounding::Nearest, to, signed, arg))
            }
            _ => None,
        };
        self.simplifying -= 1;
        simpler.unwrap_or_else(|| self.intern(node, sort))
    }

    fn fold(&self, node: &Expr) -> Option<Bv> {
        let mut values: [Option<&Bv>; 3] = [None; 3];
        for (slot, child) in values.iter_mut().zip(node.children()) {
            *slot = Some(self.as_const(child)?);
        }
        let values = match values {
            [Some(a), None, None] => &[a][..],
            [Some(a), Some(b), None] => &[a, b],
            [Some(a), Some(b), Some(c)] => &[a, b, c],
            _ => return None,
        };
        apply(node, values)
    }

    fn simplify_unary(&mut self, op: UnOp, a: ExprId) -> Option<ExprId> {
        match (op, self.get(a)) {
            (UnOp::Not, &Expr::Unary(UnOp::Not, x)) | (UnOp::Neg, &Expr::Unary(UnOp::Neg, x)) => Some(x),
            // not (x <= y) is y < x, so that a branch and its opposite are each one comparison.
            (UnOp::Not, &Expr::Binary(Ule, x, y)) => Some(self.binary(Ult, y, x)),
            (UnOp::Not, &Expr::Binary(Sle, x, y)) => Some(self.binary(Slt, y, x)),
            (UnOp::Not, &Expr::Binary(Ult, x, y)) => Some(self.binary(Ule, y, x)),
            (UnOp::Not, &Expr::Binary(Slt, x, y)) => Some(self.binary(Sle, y, x)),
            (UnOp::Neg, &Expr::Binary(Sub, x, y)) => Some(self.binary(Sub, y, x)),
            (UnOp::Neg, &Expr::Binary(Add, x, c)) => {
                let c = self.as_const(c)?.neg();
                let c = self.constant(c);
                Some(self.binary(Sub, c, x))
            }
            (UnOp::Neg, _) if self.width(a) == 1 => Some(a),
            _ => None,
        }
    }

    fn simplify_binary(&mut self, op: BinOp, a: ExprId, b: ExprId, sort: Sort) -> ExprId {
        let (a, b) = if op.is_commutative() && self.should_swap(a, b) { (b, a) } else { (a, b) };
        let width = self.width(a);
        let simpler = if a == b { self.simplify_equal_operands(op, a, width) } else { None }
            .or_else(|| self.as_const(b).cloned().and_then(|c| self.simplify_const_right(op, a, b, &c, width)))
            .or_else(|| self.as_const(a).cloned().and_then(|c| self.simplify_const_left(op, &c, b, width)))
            .or_else(|| self.simplify_general(op, a, b, width));
        simpler.unwrap_or_else(|| self.intern(Expr::Binary(op, a, b), sort))
    }

    fn should_swap(&self, a: ExprId, b: ExprId) -> bool {
        match (self.as_const(a).is_some(), self.as_const(b).is_some()) {
            (true, false) => true,
            (false, true) => false,
            _ => b < a,
        }
    }

    fn simplify_equal_operands(&mut self, op: BinOp, a: ExprId, width: u32) -> Option<ExprId> {
        Some(match op {
            Sub | Xor => self.int(width, 0),
            And | Or => a,
            Eq | Ule | Sle => self.bool(true),
            Ult | Slt => self.bool(false),
            _ => return None,
        })
    }

    /// `a op c`, where `b` is the expression of the constant `c`.
    fn simplify_const_right(&mut self, op: BinOp, a: ExprId, b: ExprId, c: &Bv, width: u32) -> Option<ExprId> {
        let node = self.get(a).clone();
        match op {
            Add | Sub | Or | Xor | Shl | LShr | AShr if c.is_zero() => Some(a),
            And | Mul if c.is_zero() => Some(b),
            Mul | UDiv | SDiv if c.is_one() && !(op == SDiv && width == 1) => Some(a),
            URem if c.is_one() => Some(self.int(width, 0)),
            And if c.is_ones() => Some(a),
            Or if c.is_ones() => Some(b),
            Xor if c.is_ones() => Some(self.not(a)),
            Sub => {
                let negated = self.constant(c.neg());
                Some(self.add(a, negated))
            }
            Add => match node {
                Expr::Binary(Add, x, k) => {
                    let sum = self.as_const(k)?.add(c);
                    let sum = self.constant(sum);
                    Some(self.add(x, sum))
                }
                Expr::Binary(Sub, k, x) => {
                    let sum = self.as_const(k)?.add(c);
                    let sum = self.constant(sum);
                    Some(self.sub(sum, x))
                }
                _ => None,
            },
            Mul if c.is_ones() => Some(self.neg(a)),
            Mul => match node {
                Expr::Binary(Mul, x, k) => {
                    let product = self.as_const(k)?.mul(c);
                    let product = self.constant(product);
                    Some(self.mul(x, product))
                }
                _ => None,
            },
            UDiv => {
                let shift = c.log2_exact()?;
                let shift = self.int(width, u64::from(shift));
                Some(self.binary(LShr, a, shift))
            }
            URem => {
                let mask = c.log2_exact().map(|_| c.sub(&Bv::one(width)))?;
                let mask = self.constant(mask);
                Some(self.and(a, mask))
            }
            Shl | LShr if c.to_u64().is_none_or(|s| s >= u64::from(width)) => Some(self.int(width, 0)),
            LShr => {
                // The high bits, moved down: extract and extension join better than shifts.
                let shift = c.to_u64()? as u32;
                let high = self.extract(width - 1, shift, a);
                Some(self.zext(width, high))
            }
            Shl => {
                let shift = c.to_u64()? as u32;
                let low = self.extract(width - 1 - shift, 0, a);
                let zeros = self.int(shift, 0);
                Some(self.concat(low, zeros))
            }
            And => match node {
                Expr::Binary(And, x, k) => {
                    let both = self.as_const(k)?.and(c);
                    let both = self.constant(both);
                    Some(self.and(x, both))
                }
                _ => {
                    // A mask of low bits is an extension of an extract.
                    let bits = c.add(&Bv::one(width)).log2_exact()?;
                    let low = self.extract(bits - 1, 0, a);
                    Some(self.zext(width, low))
                }
            },
            Or | Xor => match node {
                Expr::Binary(inner, x, k) if inner == op => {
                    let both = op.apply(self.as_const(k)?, c);
                    let both = self.constant(both);
                    Some(self.binary(op, x, both))
                }
                _ => None,
            },
            Eq if width == 1 => Some(if c.is_one() { a } else { self.not(a) }),
            Eq => self.simplify_eq_const(&node, c, width),
            Ult if c.is_zero() => Some(self.bool(false)),
            Ult if c.is_one() => {
                let zero = self.int(width, 0);
                Some(self.eq(a, zero))
            }
            Ule if c.is_ones() => Some(self.bool(true)),
            Ule if c.is_zero() => Some(self.eq(a, b)),
            Slt if *c == Bv::min_signed(width) => Some(self.bool(false)),
            Sle if *c == Bv::min_signed(width).not() => Some(self.bool(true)),
            Ult | Ule | Slt | Sle => self.compare_extended(op, &node, c, false),
            Concat => match node {
                // (x ++ k) ++ c
                Expr::Binary(Concat, x, k) => {
                    let low = self.as_const(k)?.concat(c);
                    let low = self.constant(low);
                    Some(self.concat(x, low))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// `c op b`, for operations that do not commute.
    fn simplify_const_left(&mut self, op: BinOp, c: &Bv, b: ExprId, width: u32) -> Option<ExprId> {
        let node = self.get(b).clone();
        match op {
            Sub if c.is_zero() => Some(self.neg(b)),
            Sub => match node {
                // c - (x + k)
                Expr::Binary(Add, x, k) => {
                    let difference = c.sub(self.as_const(k)?);
                    let difference = self.constant(difference);
                    Some(self.sub(difference, x))
                }
                _ => None,
            },
            Shl | LShr if c.is_zero() => Some(self.int(width, 0)),
            Ult if c.is_ones() => Some(self.bool(false)),
            Ult if c.is_zero() => {
                let zero = self.int(width, 0);
                Some(self.ne(b, zero))
            }
            Ule if c.is_zero() => Some(self.bool(true)),
            Slt if *c == Bv::min_signed(width).not() => Some(self.bool(false)),
            Sle if *c == Bv::min_signed(width) => Some(self.bool(true)),
            Ult | Ule | Slt | Sle => self.compare_extended(op, &node, c, true),
            Concat if c.is_zero() => Some(self.zext(width + self.width(b), b)),
            Concat => match node {
                Expr::Binary(Concat, k, x) => {
                    let high = c.concat(self.as_const(k)?);
                    let high = self.constant(high);
                    Some(self.concat(high, x))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// `node == c` on `width` bits.
    fn simplify_eq_const(&mut self, node: &Expr, c: &Bv, width: u32) -> Option<ExprId> {
        match *node {
            Expr::Binary(Add, x, k) => {
                let value = c.sub(self.as_const(k)?);
                let value = self.constant(value);
                Some(self.eq(x, value))
            }
            Expr::Binary(Sub, x, y) => {
                if let Some(k) = self.as_const(x) {
                    let value = k.sub(c);
                    let value = self.constant(value);
                    Some(self.eq(y, value))
                } else if c.is_zero() {
                    Some(self.eq(x, y))
                } else {
                    None
                }
            }
            Expr::Binary(Xor, x, y) => {
                if let Some(k) = self.as_const(y) {
                    let value = k.xor(c);
                    let value = self.constant(value);
                    Some(self.eq(x, value))
                } else if c.is_zero() {
                    Some(self.eq(x, y))
                } else {
                    None
                }
            }
            Expr::Unary(op, x) => {
                let value = match op {
                    UnOp::Not => c.not(),
                    UnOp::Neg => c.neg(),
                };
                let value = self.constant(value);
                Some(self.eq(x, value))
            }
            Expr::Zext { arg, .. } | Expr::Sext { arg, .. } => {
                let narrow = self.width(arg);
                let low = c.extract(narrow - 1, 0);
                let back = if matches!(node, Expr::Zext { .. }) { low.zext(width) } else { low.sext(width) };
                if back == *c {
                    let low = self.constant(low);
                    Some(self.eq(arg, low))
                } else {
                    Some(self.bool(false))
                }
            }
            Expr::Binary(Concat, x, y) => {
                // Only where one half is constant, so that the rule does not grow terms.
                let split = self.width(y);
                let (high, low) = (c.extract(width - 1, split), c.extract(split - 1, 0));
                if let Some(k) = self.as_const(y) {
                    if *k != low {
                        return Some(self.bool(false));
                    }
                    let high = self.constant(high);
                    Some(self.eq(x, high))
                } else if let Some(k) = self.as_const(x) {
                    if *k != high {
                        return Some(self.bool(false));
                    }
                    let low = self.constant(low);
                    Some(self.eq(y, low))
                } else {
                    None
                }
            }
            Expr::Ite(condition, t, e) => {
                let (t, e) = (self.as_const(t)?, self.as_const(e)?);
                Some(match (t == c, e == c) {
                    (true, true) => self.bool(true),
                    (true, false) => condition,
                    (false, true) => self.not(condition),
                    (false, false) => self.bool(false),
                })
            }
            _ => None,
        }
    }

    /// A comparison of an extended value with a constant `c`, done on the narrow width. The constant is
    /// the left operand if `const_left`.
    fn compare_extended(&mut self, op: BinOp, node: &Expr, c: &Bv, const_left: bool) -> Option<ExprId> {
        let (arg, signed) = match *node {
            Expr::Zext { arg, .. } => (arg, false),
            Expr::Sext { arg, .. } => (arg, true),
            _ => return None,
        };
        let narrow = self.width(arg);
        let low = c.extract(narrow - 1, 0);
        let (fits, op) = if signed {
            // Both orders agree with the narrow order on sign-extended values.
            (low.sext(c.width()) == *c, op)
        } else {
            let unsigned = match op {
                Slt => Ult,
                Sle => Ule,
                other => other,
            };
            (low.zext(c.width()) == *c, unsigned)
        };
        if fits {
            let low = self.constant(low);
            return Some(if const_left { self.binary(op, low, arg) } else { self.binary(op, arg, low) });
        }
        None
    }

    fn simplify_general(&mut self, op: BinOp, a: ExprId, b: ExprId, width: u32) -> Option<ExprId> {
        let (x, y) = (self.get(a).clone(), self.get(b).clone());
        match (op, x, y) {
            // Sums: keep the constant outermost.
            (Add, Expr::Binary(Add, x, k), _) if self.as_const(k).is_some() => {
                let sum = self.add(x, b);
                Some(self.add(sum, k))
            }
            (Add, _, Expr::Binary(Add, y, k)) if self.as_const(k).is_some() => {
                let sum = self.add(a, y);
                Some(self.add(sum, k))
            }
            (Add, Expr::Binary(Sub, x, y), _) if y == b => Some(x),
            (Add, _, Expr::Binary(Sub, x, y)) if y == a => Some(x),
            (Add, Expr::Unary(UnOp::Neg, x), _) => Some(self.sub(b, x)),
            (Add, _, Expr::Unary(UnOp::Neg, y)) => Some(self.sub(a, y)),
            (Sub, _, Expr::Unary(UnOp::Neg, y)) => Some(self.add(a, y)),
            (Sub, Expr::Binary(Add, x, k), _) if self.as_const(k).is_some() => {
                let difference = self.sub(x, b);
                Some(self.add(difference, k))
            }
            (Sub, _, Expr::Binary(Add, y, k)) if self.as_const(k).is_some() => {
                let difference = self.sub(a, y);
                Some(self.sub(difference, k))
            }
            (Sub, Expr::Binary(Add, x, y), _) if x == b => Some(y),
            (Sub, Expr::Binary(Add, x, y), _) if y == b => Some(x),
            (And, Expr::Unary(UnOp::Not, x), _) if x == b => Some(self.int(width, 0)),
            (And, _, Expr::Unary(UnOp::Not, y)) if y == a => Some(self.int(width, 0)),
            (Or, Expr::Unary(UnOp::Not, x), _) if x == b => Some(self.constant(Bv::ones(width))),
            (Or, _, Expr::Unary(UnOp::Not, y)) if y == a => Some(self.constant(Bv::ones(width))),
            (And, Expr::Binary(And, x, y), _) if x == b || y == b => Some(a),
            (And, _, Expr::Binary(And, x, y)) if x == a || y == a => Some(b),
            (Or, Expr::Binary(Or, x, y), _) if x == b || y == b => Some(a),
            (Or, _, Expr::Binary(Or, x, y)) if x == a || y == a => Some(b),
            (Eq, Expr::Binary(Add, x, k), Expr::Binary(Add, y, l)) if k == l => Some(self.eq(x, y)),
            // An operand that holds the other has the greater id: it is on the right.
            (Eq, _, Expr::Binary(Add, x, y)) if x == a || y == a => {
                let other = if x == a { y } else { x };
                let zero = self.int(width, 0);
                Some(self.eq(other, zero))
            }
            (Eq, Expr::Zext { arg: x, .. }, Expr::Zext { arg: y, .. })
            | (Eq, Expr::Sext { arg: x, .. }, Expr::Sext { arg: y, .. })
                if self.width(x) == self.width(y) =>
            {
                Some(self.eq(x, y))
            }
            (Ult | Ule | Slt | Sle, Expr::Zext { arg: x, .. }, Expr::Zext { arg: y, .. })
                if self.width(x) == self.width(y) =>
            {
                let unsigned = if matches!(op, Slt | Ult) { Ult } else { Ule };
                Some(self.binary(unsigned, x, y))
            }
            (Ult | Ule | Slt | Sle, Expr::Sext { arg: x, .. }, Expr::Sext { arg: y, .. })
                if self.width(x) == self.width(y) =>
            {
                Some(self.binary(op, x, y))
            }
            // Adjacent parts of one value; a sign or zero extension of the low part.
            (Concat, Expr::Extract { hi, lo, arg: x }, Expr::Extract { hi: hi2, lo: lo2, arg: y })
                if x == y && lo == hi2 + 1 =>
            {
                Some(self.extract(hi, lo2, x))
            }
            (Concat, Expr::Extract { hi, lo, arg: x }, Expr::Binary(Concat, y, z)) => match *self.get(y) {
                Expr::Extract { hi: hi2, lo: lo2, arg } if arg == x && lo == hi2 + 1 => {
                    let joined = self.extract(hi, lo2, x);
                    Some(self.concat(joined, z))
                }
                _ => None,
            },
            (Concat, Expr::Binary(Concat, z, x), Expr::Extract { hi: hi2, lo: lo2, arg }) => match *self.get(x) {
                Expr::Extract { hi, lo, arg: x } if arg == x && lo == hi2 + 1 => {
                    let joined = self.extract(hi, lo2, x);
                    Some(self.concat(z, joined))
                }
                _ => None,
            },
            (Concat, Expr::Zext { arg, .. }, _) => {
                let inner = self.concat(arg, b);
                Some(self.zext(width + self.width(b), inner))
            }
            _ => None,
        }
    }

    fn simplify_ite(&mut self, c: ExprId, t: ExprId, e: ExprId) -> Option<ExprId> {
        if let Some(c) = self.as_const(c) {
            return Some(if c.is_true() { t } else { e });
        }
        if t == e {
            return Some(t);
        }
        if let &Expr::Unary(UnOp::Not, negated) = self.get(c) {
            return Some(self.ite(negated, e, t));
        }
        if self.sort(t) == Sort::Bv(1) {
            match (self.as_const(t).map(Bv::is_true), self.as_const(e).map(Bv::is_true)) {
                (Some(true), Some(false)) => return Some(c),
                (Some(false), Some(true)) => return Some(self.not(c)),
                (Some(true), None) => return Some(self.or(c, e)),
                (None, Some(false)) => return Some(self.and(c, t)),
                (Some(false), None) => {
                    let n = self.not(c);
                    return Some(self.and(n, e));
                }
                (None, Some(true)) => {
                    let n = self.not(c);
                    return Some(self.or(n, t));
                }
                _ => {}
            }
        }
        match (self.get(t), self.get(e)) {
            (&Expr::Ite(c2, x, _), _) if c2 == c => Some(self.ite(c, x, e)),
            (_, &Expr::Ite(c2, _, y)) if c2 == c => Some(self.ite(c, t, y)),
            _ => None,
        }
    }
}
