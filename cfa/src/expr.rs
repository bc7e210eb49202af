//! Expressions: one bit-precise, hash-consed term language for programs and for formulas.
//!
//! Every scalar is a bit-vector. A float is the bit-vector of its representation; the float operations name the format.
//! A truth value is a bit-vector of width one. Two expressions are equal if and only if their ids are equal. The
//! constructors of [`ExprPool`] simplify (see [`simplify`](self::simplify)). A pool never removes expressions, so an
//! engine may clone a program's pool and add its own terms.

mod address;
mod arena;
mod check;
mod eval;
mod pool;
mod simplify;
mod transform;

pub use address::Address;
pub use arena::{Arena, Elements};
pub(crate) use eval::apply;
pub use eval::{ArrayValue, Evaluator, Value};
pub use pool::ExprPool;

use crate::bv::{self, Bv};
use crate::float::{FBinOp, FCmp, FUnOp, FloatFormat, Rounding};
use crate::index::{FuncId, GlobalId, VarId, id_type};

id_type!(
    /// An expression in an [`ExprPool`].
    ExprId, "e"
);
id_type!(
    /// A symbol of a formula: an unconstrained value. Only the engine creates symbols; programs contain none.
    SymId, "s"
);

/// The type of an expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sort {
    /// A bit-vector of this many bits, at least 1.
    Bv(u32),
    /// An array from bit-vectors to bit-vectors. Arrays occur in formulas only.
    Array {
        /// The width of an index.
        index: u32,
        /// The width of an element.
        elem: u32,
    },
}

impl Sort {
    /// The width of a bit-vector sort. Panics on arrays.
    #[inline]
    pub fn width(self) -> u32 {
        match self {
            Sort::Bv(width) => width,
            Sort::Array { .. } => panic!("an array has no width"),
        }
    }
}

/// Unary operations on bit-vectors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnOp {
    /// Bitwise complement.
    Not,
    /// Two's complement negation.
    Neg,
}

/// Binary operations of SMT-LIB's `FixedSizeBitVectors`. All are total, including division by zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BinOp {
    /// Sum modulo `2^width`.
    Add,
    /// Difference modulo `2^width`.
    Sub,
    /// Product modulo `2^width`.
    Mul,
    /// Unsigned quotient.
    UDiv,
    /// Signed quotient, truncated towards zero.
    SDiv,
    /// Unsigned remainder.
    URem,
    /// Signed remainder with the sign of the dividend.
    SRem,
    /// Left shift.
    Shl,
    /// Logical right shift.
    LShr,
    /// Arithmetic right shift.
    AShr,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Equality. The result of a comparison has one bit.
    Eq,
    /// Unsigned `<`.
    Ult,
    /// Unsigned `<=`.
    Ule,
    /// Signed `<`.
    Slt,
    /// Signed `<=`.
    Sle,
    /// Concatenation, with the first operand as the high part.
    Concat,
}

impl BinOp {
    /// All operations, in the order of declaration.
    pub const ALL: [Self; 19] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::UDiv,
        Self::SDiv,
        Self::URem,
        Self::SRem,
        Self::Shl,
        Self::LShr,
        Self::AShr,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Eq,
        Self::Ult,
        Self::Ule,
        Self::Slt,
        Self::Sle,
        Self::Concat,
    ];
    /// True if the result is a truth value.
    pub fn is_comparison(self) -> bool {
        matches!(self, Self::Eq | Self::Ult | Self::Ule | Self::Slt | Self::Sle)
    }
    /// True if the operands may be swapped.
    pub fn is_commutative(self) -> bool {
        matches!(self, Self::Add | Self::Mul | Self::And | Self::Or | Self::Xor | Self::Eq)
    }
    /// Applies the operation to values.
    #[inline]
    pub fn apply(self, a: &Bv, b: &Bv) -> Bv {
        match self {
            Self::Add => a.add(b),
            Self::Sub => a.sub(b),
            Self::Mul => a.mul(b),
            Self::UDiv => bv::udiv(a, b),
            Self::SDiv => bv::sdiv(a, b),
            Self::URem => bv::urem(a, b),
            Self::SRem => bv::srem(a, b),
            Self::Shl => bv::shl(a, b),
            Self::LShr => bv::lshr(a, b),
            Self::AShr => bv::ashr(a, b),
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Eq => Bv::bool(a == b),
            Self::Ult => Bv::bool(a.ult(b)),
            Self::Ule => Bv::bool(a.ule(b)),
            Self::Slt => Bv::bool(a.slt(b)),
            Self::Sle => Bv::bool(a.sle(b)),
            Self::Concat => a.concat(b),
        }
    }
}

/// A node of the term graph.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// A constant.
    Const(Bv),
    /// A program variable.
    Var(VarId),
    /// A symbol of a formula.
    Sym(SymId),
    /// The address of a global memory object.
    GlobalAddr(GlobalId),
    /// The address of a function.
    FuncAddr(FuncId),
    /// The bytes of a global memory object at `offset`, little-endian. Conditions on states use it; the edges of a
    /// program do not.
    Content {
        /// The object.
        of: GlobalId,
        /// The offset in bytes.
        offset: u32,
        /// The width in bits, a multiple of 8.
        width: u32,
    },
    /// A unary operation.
    Unary(UnOp, ExprId),
    /// A binary operation.
    Binary(BinOp, ExprId, ExprId),
    /// If-then-else: the condition (one bit), the value if it is 1, the value if it is 0. The values may be arrays.
    Ite(ExprId, ExprId, ExprId),
    /// Bits `hi..=lo` of `arg`.
    Extract {
        /// The most significant bit of the result.
        hi: u32,
        /// The least significant bit of the result.
        lo: u32,
        /// The operand.
        arg: ExprId,
    },
    /// Zero extension.
    Zext {
        /// The width of the result.
        width: u32,
        /// The operand.
        arg: ExprId,
    },
    /// Sign extension.
    Sext {
        /// The width of the result.
        width: u32,
        /// The operand.
        arg: ExprId,
    },
    /// A unary operation on a float.
    FUnary(FUnOp, FloatFormat, ExprId),
    /// A binary operation on floats.
    FBinary(FBinOp, FloatFormat, ExprId, ExprId),
    /// `a * b + c` with a single rounding.
    Fma(Rounding, FloatFormat, ExprId, ExprId, ExprId),
    /// A comparison of floats. The result has one bit.
    FCompare(FCmp, FloatFormat, ExprId, ExprId),
    /// True if the operand is NaN.
    FIsNan(FloatFormat, ExprId),
    /// A conversion between formats. The rounding is [`Rounding::Nearest`] if every value of `from` is a value of `to`.
    FConvert {
        /// The rounding mode.
        rounding: Rounding,
        /// The format of the operand.
        from: FloatFormat,
        /// The format of the result.
        to: FloatFormat,
        /// The operand.
        arg: ExprId,
    },
    /// A conversion of an integer to a float. The rounding is [`Rounding::Nearest`] if `to` has every integer of the
    /// operand's width.
    IntToF {
        /// The rounding mode.
        rounding: Rounding,
        /// The format of the result.
        to: FloatFormat,
        /// True if the operand is signed.
        signed: bool,
        /// The operand.
        arg: ExprId,
    },
    /// A conversion of a float to an integer, rounded towards zero. For NaN and values that do not fit, the result has
    /// only the sign bit set: x86's "integer indefinite".
    FToInt {
        /// The format of the operand.
        from: FloatFormat,
        /// True if the result is signed.
        signed: bool,
        /// The width of the result.
        width: u32,
        /// The operand.
        arg: ExprId,
    },
    /// The element of an array at an index. Array terms occur in formulas only.
    Select {
        /// The array.
        array: ExprId,
        /// The index.
        index: ExprId,
    },
    /// An array with one element replaced.
    Store {
        /// The array.
        array: ExprId,
        /// The index.
        index: ExprId,
        /// The new element.
        value: ExprId,
    },
    /// The array whose elements are all `value`.
    ConstArray {
        /// The width of an index.
        index: u32,
        /// The element.
        value: ExprId,
    },
    /// The array whose elements are `body`, a term over [`Expr::Index`]. [`ExprPool::select`] replaces an element of
    /// such an array by the body at that index, so no formula contains such an element.
    Lambda {
        /// The width of an index.
        index: u32,
        /// The element at [`Expr::Index`].
        body: ExprId,
    },
    /// The bound index in the body of an [`Expr::Lambda`], with its width.
    Index(u32),
}

impl Expr {
    /// Applies the operation to the values of its operands. Returns `None` for leaves and arrays.
    pub fn apply(&self, values: &[&Bv]) -> Option<Bv> {
        apply(self, values)
    }
    /// The direct subexpressions, in order.
    #[inline]
    pub fn children(&self) -> Children {
        use Expr::*;
        let (ids, len) = match *self {
            Const(_) | Var(_) | Sym(_) | GlobalAddr(_) | FuncAddr(_) | Content { .. } | Index(_) => ([ExprId(0); 3], 0),
            Unary(_, a)
            | Extract { arg: a, .. }
            | Zext { arg: a, .. }
            | Sext { arg: a, .. }
            | FUnary(_, _, a)
            | FIsNan(_, a)
            | FConvert { arg: a, .. }
            | IntToF { arg: a, .. }
            | FToInt { arg: a, .. }
            | ConstArray { value: a, .. }
            | Lambda { body: a, .. } => ([a, ExprId(0), ExprId(0)], 1),
            Binary(_, a, b) | FBinary(_, _, a, b) | FCompare(_, _, a, b) | Select { array: a, index: b } => {
                ([a, b, ExprId(0)], 2)
            }
            Ite(a, b, c) | Fma(_, _, a, b, c) | Store { array: a, index: b, value: c } => ([a, b, c], 3),
        };
        Children { ids, next: 0, len }
    }
}

/// An iterator over the direct subexpressions of an expression.
#[derive(Clone)]
pub struct Children {
    ids: [ExprId; 3],
    next: u8,
    len: u8,
}

impl Iterator for Children {
    type Item = ExprId;
    #[inline]
    fn next(&mut self) -> Option<ExprId> {
        (self.next < self.len).then(|| {
            self.next += 1;
            self.ids[usize::from(self.next) - 1]
        })
    }
}
