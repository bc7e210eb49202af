//! Expressions: one bit-precise, hash-consed term language for programs and for formulas.
//!
//! Every scalar is a bit-vector; a float is the bit-vector of its representation and the float
//! operations carry the format. A truth value is a bit-vector of width one. Equality of expressions is
//! equality of ids. The constructors of [`ExprPool`] simplify (see [`simplify`](self::simplify)); a
//! pool only ever grows, so an engine may clone a program's pool and extend it with its own terms.

mod arena;
mod check;
mod eval;
mod pool;
mod simplify;
mod transform;

pub use arena::{Arena, Elements};
pub(crate) use eval::apply;
pub use eval::{ArrayValue, Evaluator, Value};
pub use pool::ExprPool;

use crate::bv::{self, Bv};
use crate::float::{FBinOp, FCmp, FUnOp, FloatFormat, Rounding};
use crate::index::id_type;
use crate::program::{FuncId, GlobalId, VarId};

id_type!(
    /// An expression in an [`ExprPool`].
    ExprId, "e"
);
id_type!(
    /// A symbol of a formula: an unconstrained value. Programs have none; engines make them.
    SymId, "s"
);

/// The type of an expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sort {
    /// A bit-vector of this many bits, at least 1.
    Bv(u32),
    /// An array from bit-vectors to bit-vectors, of these widths. Formulas only.
    Array { index: u32, elem: u32 },
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

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnOp {
    Not,
    Neg,
}

/// Binary operations of SMT-LIB bit-vectors: total, division by zero included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    /// Comparisons give one bit.
    Eq,
    Ult,
    Ule,
    Slt,
    Sle,
    /// The first operand above the second.
    Concat,
}

impl BinOp {
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
    pub fn is_comparison(self) -> bool {
        matches!(self, Self::Eq | Self::Ult | Self::Ule | Self::Slt | Self::Sle)
    }
    pub fn is_commutative(self) -> bool {
        matches!(self, Self::Add | Self::Mul | Self::And | Self::Or | Self::Xor | Self::Eq)
    }
    /// The operation on values.
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
    Const(Bv),
    /// A program variable.
    Var(VarId),
    /// A symbol of a formula.
    Sym(SymId),
    /// The address of a global memory object.
    GlobalAddr(GlobalId),
    /// The address of a function.
    FuncAddr(FuncId),
    /// What a global memory object contains at an offset, as many whole bytes as `width` has, in conditions on states; no edge of a
    /// program has it.
    Content {
        of: GlobalId,
        offset: u32,
        width: u32,
    },
    Unary(UnOp, ExprId),
    Binary(BinOp, ExprId, ExprId),
    /// Condition (one bit), value if 1, value if 0. Also on arrays.
    Ite(ExprId, ExprId, ExprId),
    /// Bits `hi..=lo`.
    Extract {
        hi: u32,
        lo: u32,
        arg: ExprId,
    },
    /// Extended with zeros to this width.
    Zext {
        width: u32,
        arg: ExprId,
    },
    /// Extended with the sign bit to this width.
    Sext {
        width: u32,
        arg: ExprId,
    },
    FUnary(FUnOp, FloatFormat, ExprId),
    FBinary(FBinOp, FloatFormat, ExprId, ExprId),
    /// `a * b + c` with one rounding.
    Fma(Rounding, FloatFormat, ExprId, ExprId, ExprId),
    FCompare(FCmp, FloatFormat, ExprId, ExprId),
    FIsNan(FloatFormat, ExprId),
    /// Between formats. To nearest where every value of `from` is one of `to`.
    FConvert {
        rounding: Rounding,
        from: FloatFormat,
        to: FloatFormat,
        arg: ExprId,
    },
    /// An integer as a float. To nearest where the format has every integer of the width.
    IntToF {
        rounding: Rounding,
        to: FloatFormat,
        signed: bool,
        arg: ExprId,
    },
    /// Towards zero. Of NaN and what does not fit, the sign bit alone: x86's "integer indefinite".
    FToInt {
        from: FloatFormat,
        signed: bool,
        width: u32,
        arg: ExprId,
    },
    /// Arrays, in formulas only.
    Select {
        array: ExprId,
        index: ExprId,
    },
    Store {
        array: ExprId,
        index: ExprId,
        value: ExprId,
    },
    /// The array of this index width that holds `value` everywhere.
    ConstArray {
        index: u32,
        value: ExprId,
    },
    /// The array of this index width whose elements are `body`, a term over [`Expr::Index`]. An element of such an array is
    /// the body at that index (see [`ExprPool::select`]), so that no formula ever holds one.
    Lambda {
        index: u32,
        body: ExprId,
    },
    /// In the body of a [`Expr::Lambda`]: the index, of this width.
    Index(u32),
}

impl Expr {
    /// The value of the operation on bit-vector values of its sub-expressions. `None` for leaves and arrays.
    pub fn apply(&self, values: &[&Bv]) -> Option<Bv> {
        apply(self, values)
    }
    /// The direct sub-expressions, in order.
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

/// Iterator over the direct sub-expressions of an expression.
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
