//! Parts of values, extensions, and arrays.

use super::*;

impl ExprPool {
    pub(super) fn simplify_extract(&mut self, hi: u32, lo: u32, arg: ExprId) -> Option<ExprId> {
        let width = self.width(arg);
        if lo == 0 && hi + 1 == width {
            return Some(arg);
        }
        match *self.get(arg) {
            Expr::Extract { lo: base, arg: x, .. } => Some(self.extract(hi + base, lo + base, x)),
            Expr::Binary(Concat, x, y) => {
                let split = self.width(y);
                if lo >= split {
                    Some(self.extract(hi - split, lo - split, x))
                } else if hi < split {
                    Some(self.extract(hi, lo, y))
                } else {
                    let high = self.extract(hi - split, 0, x);
                    let low = self.extract(split - 1, lo, y);
                    Some(self.concat(high, low))
                }
            }
            Expr::Zext { arg: x, .. } => {
                let narrow = self.width(x);
                if lo >= narrow {
                    Some(self.int(hi - lo + 1, 0))
                } else if hi < narrow {
                    Some(self.extract(hi, lo, x))
                } else {
                    let low = self.extract(narrow - 1, lo, x);
                    Some(self.zext(hi - lo + 1, low))
                }
            }
            Expr::Sext { arg: x, .. } => {
                let narrow = self.width(x);
                if hi < narrow {
                    Some(self.extract(hi, lo, x))
                } else if lo < narrow {
                    let low = self.extract(narrow - 1, lo, x);
                    Some(self.sext(hi - lo + 1, low))
                } else {
                    None
                }
            }
            // Low bits of bitwise operations and, from bit 0, of sums and products.
            Expr::Binary(op @ (And | Or | Xor), x, y) if self.as_const(x).is_some() || self.as_const(y).is_some() => {
                let (x, y) = (self.extract(hi, lo, x), self.extract(hi, lo, y));
                Some(self.binary(op, x, y))
            }
            Expr::Binary(op @ (Add | Sub | Mul), x, y) if lo == 0 && self.narrows(hi, x) && self.narrows(hi, y) => {
                let (x, y) = (self.extract(hi, 0, x), self.extract(hi, 0, y));
                Some(self.binary(op, x, y))
            }
            Expr::Ite(c, t, e) if self.as_const(t).is_some() || self.as_const(e).is_some() => {
                let (t, e) = (self.extract(hi, lo, t), self.extract(hi, lo, e));
                Some(self.ite(c, t, e))
            }
            _ => None,
        }
    }

    /// Whether taking the low bits `hi..=0` of `e` makes a simpler term.
    pub(super) fn narrows(&self, hi: u32, e: ExprId) -> bool {
        match *self.get(e) {
            Expr::Const(_) => true,
            Expr::Zext { arg, .. } | Expr::Sext { arg, .. } => hi < self.width(arg) || self.width(arg) == hi + 1,
            _ => false,
        }
    }

    pub(super) fn simplify_zext(&mut self, width: u32, arg: ExprId) -> Option<ExprId> {
        match *self.get(arg) {
            _ if self.width(arg) == width => Some(arg),
            Expr::Zext { arg: x, .. } => Some(self.zext(width, x)),
            _ => None,
        }
    }

    pub(super) fn simplify_sext(&mut self, width: u32, arg: ExprId) -> Option<ExprId> {
        match *self.get(arg) {
            _ if self.width(arg) == width => Some(arg),
            Expr::Sext { arg: x, .. } => Some(self.sext(width, x)),
            // The sign bit of a proper zero extension is zero.
            Expr::Zext { arg: x, .. } => Some(self.zext(width, x)),
            _ => None,
        }
    }

    pub(super) fn simplify_select(&mut self, array: ExprId, index: ExprId) -> Option<ExprId> {
        match *self.get(array) {
            Expr::ConstArray { value, .. } => Some(value),
            Expr::Store { array: inner, index: at, value } => {
                if at == index {
                    Some(value)
                } else if self.definitely_differ(at, index) {
                    Some(self.select(inner, index))
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    pub(super) fn simplify_store(&mut self, array: ExprId, index: ExprId, value: ExprId) -> Option<ExprId> {
        match *self.get(array) {
            Expr::Store { array: inner, index: at, .. } if at == index => Some(self.store(inner, index, value)),
            Expr::ConstArray { value: v, .. } if v == value => Some(array),
            _ => None,
        }
    }

    /// Whether two indices differ by structure: distinct constants, or one base plus distinct constants.
    pub(super) fn definitely_differ(&mut self, a: ExprId, b: ExprId) -> bool {
        let eq = self.eq(a, b);
        self.is_false(eq)
    }
}
