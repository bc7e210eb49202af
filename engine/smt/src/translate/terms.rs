//! What a solver makes terms of.

use super::*;

/// A sort of SMT-LIB.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SmtSort {
    Bool,
    Bits(u32),
    Float(FloatFormat),
    Array { index: u32, elem: u32 },
}

impl From<Sort> for SmtSort {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Bv(width) => SmtSort::Bits(width),
            Sort::Array { index, elem } => SmtSort::Array { index, elem },
        }
    }
}

/// Rounding modes of SMT-LIB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    NearestEven,
    NearestAway,
    Down,
    Up,
    Zero,
}

impl From<cfa::Rounding> for Rounding {
    fn from(rounding: cfa::Rounding) -> Self {
        match rounding {
            cfa::Rounding::Nearest => Self::NearestEven,
            cfa::Rounding::Down => Self::Down,
            cfa::Rounding::Up => Self::Up,
            cfa::Rounding::Zero => Self::Zero,
        }
    }
}

/// A function symbol of SMT-LIB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fun {
    // Truth values.
    Not,
    And,
    Or,
    Xor,
    /// On every sort: `=`, `ite`.
    Equal,
    Ite,
    // Bit-vectors.
    BvNot,
    BvNeg,
    /// Any but `Eq`.
    Bv(BinOp),
    Extract {
        hi: u32,
        lo: u32,
    },
    /// By this many bits.
    ZeroExtend(u32),
    SignExtend(u32),
    // Arrays.
    Select,
    Store,
    // Floats.
    FpAbs,
    FpNeg,
    FpAdd(Rounding),
    FpSub(Rounding),
    FpMul(Rounding),
    FpDiv(Rounding),
    FpFma(Rounding),
    FpSqrt(Rounding),
    /// The IEEE remainder.
    FpRem,
    FpRoundToIntegral(Rounding),
    FpEq,
    FpLt,
    FpLe,
    FpIsNan,
    FpIsInf,
    FpIsNegative,
    FpIsZero,
    /// The value of the (implicit-one) IEEE representation.
    FpFromBits(FloatFormat),
    FpFromFp(Rounding, FloatFormat),
    FpFromSigned(Rounding, FloatFormat),
    FpFromUnsigned(Rounding, FloatFormat),
    FpToSigned(Rounding, u32),
    FpToUnsigned(Rounding, u32),
}

/// Makes the terms of one solver. Ill-sorted applications are bugs of the caller.
pub trait Terms {
    type Term: Copy + PartialEq;
    fn truth(&mut self, value: bool) -> Self::Term;
    fn bits(&mut self, value: &Bv) -> Self::Term;
    /// A new constant. `name` is unique.
    fn constant(&mut self, name: &str, sort: SmtSort) -> Self::Term;
    fn const_array(&mut self, index: u32, elem: u32, value: Self::Term) -> Self::Term;
    fn apply(&mut self, fun: Fun, args: &[Self::Term]) -> Self::Term;
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Form {
    /// Bits, or an array.
    Bits,
    Truth,
    Float(FloatFormat),
}
