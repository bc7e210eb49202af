//! Constructors of expressions.

use super::arena::Arena;
use super::simplify::simplified;
use super::{BinOp, Expr, ExprId, Sort, UnOp};
use crate::float::{FBinOp, FCmp, FUnOp, FloatFormat, Rounding};
use rustc_hash::FxHashMap;
use std::ops::{Deref, DerefMut};

/// The expressions of a program or of a formula: an [`Arena`] with simplifying constructors.
#[derive(Clone, Default)]
pub struct ExprPool {
    arena: Arena,
    /// The current nesting depth of simplifications.
    pub(super) simplifying: u32,
}

/// The arena provides the queries and the leaf constructors.
impl Deref for ExprPool {
    type Target = Arena;
    #[inline]
    fn deref(&self) -> &Arena {
        &self.arena
    }
}

impl DerefMut for ExprPool {
    #[inline]
    fn deref_mut(&mut self) -> &mut Arena {
        &mut self.arena
    }
}

impl ExprPool {
    /// An empty pool.
    pub fn new() -> Self {
        Self::default()
    }
    /// A unary operation.
    pub fn unary(&mut self, op: UnOp, a: ExprId) -> ExprId {
        let sort = self.sort(a);
        simplified(self, Expr::Unary(op, a), sort)
    }
    /// The bitwise complement, or the negation of a condition.
    pub fn not(&mut self, a: ExprId) -> ExprId {
        self.unary(UnOp::Not, a)
    }
    /// The two's complement negation.
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        self.unary(UnOp::Neg, a)
    }
    /// A binary operation. Both operands have the same width, except for `Concat`.
    pub fn binary(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        let width = self.width(a);
        debug_assert!(op == BinOp::Concat || width == self.width(b), "{op:?} on {width} and {} bits", self.width(b));
        let result = match op {
            BinOp::Concat => width + self.width(b),
            _ if op.is_comparison() => 1,
            _ => width,
        };
        simplified(self, Expr::Binary(op, a, b), Sort::Bv(result))
    }
    /// `c ? t : e`, where `c` has one bit and `t` and `e` have the same sort.
    pub fn ite(&mut self, c: ExprId, t: ExprId, e: ExprId) -> ExprId {
        debug_assert_eq!(self.width(c), 1);
        debug_assert_eq!(self.sort(t), self.sort(e));
        let sort = self.sort(t);
        simplified(self, Expr::Ite(c, t, e), sort)
    }
    /// Bits `hi..=lo`, where `lo <= hi < width`.
    pub fn extract(&mut self, hi: u32, lo: u32, arg: ExprId) -> ExprId {
        debug_assert!(lo <= hi && hi < self.width(arg));
        simplified(self, Expr::Extract { hi, lo, arg }, Sort::Bv(hi - lo + 1))
    }
    /// `arg` zero-extended to `width`, which is at least the width of `arg`.
    pub fn zext(&mut self, width: u32, arg: ExprId) -> ExprId {
        debug_assert!(width >= self.width(arg));
        simplified(self, Expr::Zext { width, arg }, Sort::Bv(width))
    }
    /// `arg` sign-extended to `width`, which is at least the width of `arg`.
    pub fn sext(&mut self, width: u32, arg: ExprId) -> ExprId {
        debug_assert!(width >= self.width(arg));
        simplified(self, Expr::Sext { width, arg }, Sort::Bv(width))
    }
    /// `arg` truncated or zero-extended to `width`.
    pub fn resize(&mut self, width: u32, arg: ExprId) -> ExprId {
        if width <= self.width(arg) { self.extract(width - 1, 0, arg) } else { self.zext(width, arg) }
    }
    /// A unary operation on a float.
    pub fn f_unary(&mut self, op: FUnOp, format: FloatFormat, a: ExprId) -> ExprId {
        simplified(self, Expr::FUnary(op, format, a), Sort::Bv(format.width()))
    }
    /// A binary operation on floats.
    pub fn f_binary(&mut self, op: FBinOp, format: FloatFormat, a: ExprId, b: ExprId) -> ExprId {
        simplified(self, Expr::FBinary(op, format, a, b), Sort::Bv(format.width()))
    }
    /// `a * b + c` with a single rounding.
    pub fn fma(&mut self, rounding: Rounding, format: FloatFormat, a: ExprId, b: ExprId, c: ExprId) -> ExprId {
        simplified(self, Expr::Fma(rounding, format, a, b, c), Sort::Bv(format.width()))
    }
    /// A comparison of floats.
    pub fn f_compare(&mut self, op: FCmp, format: FloatFormat, a: ExprId, b: ExprId) -> ExprId {
        simplified(self, Expr::FCompare(op, format, a, b), Sort::Bv(1))
    }
    /// True if the operand is NaN.
    pub fn f_is_nan(&mut self, format: FloatFormat, a: ExprId) -> ExprId {
        simplified(self, Expr::FIsNan(format, a), Sort::Bv(1))
    }
    /// A conversion between float formats.
    pub fn f_convert(&mut self, rounding: Rounding, from: FloatFormat, to: FloatFormat, arg: ExprId) -> ExprId {
        simplified(self, Expr::FConvert { rounding, from, to, arg }, Sort::Bv(to.width()))
    }
    /// A conversion of an integer to a float.
    pub fn int_to_f(&mut self, rounding: Rounding, to: FloatFormat, signed: bool, arg: ExprId) -> ExprId {
        simplified(self, Expr::IntToF { rounding, to, signed, arg }, Sort::Bv(to.width()))
    }
    /// A conversion of a float to an integer, rounded towards zero.
    pub fn f_to_int(&mut self, from: FloatFormat, signed: bool, width: u32, arg: ExprId) -> ExprId {
        simplified(self, Expr::FToInt { from, signed, width, arg }, Sort::Bv(width))
    }
    /// The element of an array at an index. If the array contains a lambda, the result contains none: it is a choice
    /// between the stored values and the body of the lambda at `index`.
    pub fn select(&mut self, array: ExprId, index: ExprId) -> ExprId {
        let Sort::Array { elem, .. } = self.sort(array) else { panic!("select from a bit-vector") };
        if self.has_lambda(array) {
            return element(self, array, index);
        }
        simplified(self, Expr::Select { array, index }, Sort::Bv(elem))
    }
    /// The array with the element at `index` replaced by `value`.
    pub fn store(&mut self, array: ExprId, index: ExprId, value: ExprId) -> ExprId {
        let sort = self.sort(array);
        simplified(self, Expr::Store { array, index, value }, sort)
    }
    /// The array with indices of `index` bits whose elements are all `value`.
    pub fn const_array(&mut self, index: u32, value: ExprId) -> ExprId {
        let elem = self.width(value);
        self.intern(Expr::ConstArray { index, value }, Sort::Array { index, elem })
    }
    /// The bound index of a lambda.
    pub fn index(&mut self, width: u32) -> ExprId {
        self.intern(Expr::Index(width), Sort::Bv(width))
    }
    /// The array with indices of `index` bits whose elements are `body`, a bit-vector over [`index`](Self::index).
    pub fn lambda(&mut self, index: u32, body: ExprId) -> ExprId {
        let elem = self.width(body);
        self.intern(Expr::Lambda { index, body }, Sort::Array { index, elem })
    }

    /// `a + b`.
    pub fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Add, a, b)
    }
    /// `a - b`.
    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Sub, a, b)
    }
    /// `a * b`.
    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Mul, a, b)
    }
    /// `a & b`.
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::And, a, b)
    }
    /// The bitwise or of `a` and `b`.
    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Or, a, b)
    }
    /// `a ^ b`.
    pub fn xor(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Xor, a, b)
    }
    /// `a == b`.
    pub fn eq(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Eq, a, b)
    }
    /// `a != b`.
    pub fn ne(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let eq = self.eq(a, b);
        self.not(eq)
    }
    /// Unsigned `a < b`.
    pub fn ult(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Ult, a, b)
    }
    /// Unsigned `a <= b`.
    pub fn ule(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Ule, a, b)
    }
    /// Signed `a < b`.
    pub fn slt(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Slt, a, b)
    }
    /// Signed `a <= b`.
    pub fn sle(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Sle, a, b)
    }
    /// The concatenation of `high` and `low`.
    pub fn concat(&mut self, high: ExprId, low: ExprId) -> ExprId {
        self.binary(BinOp::Concat, high, low)
    }
}

/// An element of an array that contains a lambda. Iterative, because an array may have many stores.
fn element(pool: &mut ExprPool, array: ExprId, index: ExprId) -> ExprId {
    let mut elements: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut stack = vec![array];
    while let Some(&a) = stack.last() {
        if elements.contains_key(&a) {
            stack.pop();
            continue;
        }
        let element = match *pool.get(a) {
            _ if !pool.has_lambda(a) => pool.select(a, index),
            Expr::Store { index: at, value, .. } if at == index => value,
            Expr::Store { array: inner, index: at, value } => match elements.get(&inner) {
                None => {
                    stack.push(inner);
                    continue;
                }
                Some(&other) => {
                    let here = pool.eq(at, index);
                    pool.ite(here, value, other)
                }
            },
            Expr::Ite(c, t, e) => match (elements.get(&t), elements.get(&e)) {
                (Some(&t), Some(&e)) => pool.ite(c, t, e),
                _ => {
                    stack.extend([t, e]);
                    continue;
                }
            },
            Expr::Lambda { body, .. } => {
                let bound = |pool: &mut ExprPool, leaf| matches!(pool.get(leaf), Expr::Index(_)).then_some(index);
                pool.substitute(body, &mut FxHashMap::default(), bound)
            }
            ref node => unreachable!("{node:?} is no array with a lambda"),
        };
        elements.insert(a, element);
        stack.pop();
    }
    elements[&array]
}
