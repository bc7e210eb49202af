//! The interface that constructs the terms of a solver.

use super::*;

/// A sort of SMT-LIB.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SmtSort {
    /// Truth values.
    Bool,
    /// Bit-vectors of this width.
    Bits(u32),
    /// Floats of this format.
    Float(FloatFormat),
    /// Arrays from bit-vectors of width `index` to bit-vectors of width `elem`.
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
    /// Equality on any sort (`=`).
    Equal,
    /// The choice `ite` on any sort.
    Ite,
    // Bit-vectors.
    BvNot,
    BvNeg,
    /// A bit-vector operation other than `Eq`.
    Bv(BinOp),
    /// Extracts bits `hi..=lo`.
    Extract {
        /// The highest bit.
        hi: u32,
        /// The lowest bit.
        lo: u32,
    },
    /// Extends by this many zero bits.
    ZeroExtend(u32),
    /// Extends by this many copies of the sign bit.
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
    /// The float with this IEEE representation (without an explicit integer bit).
    FpFromBits(FloatFormat),
    FpFromFp(Rounding, FloatFormat),
    FpFromSigned(Rounding, FloatFormat),
    FpFromUnsigned(Rounding, FloatFormat),
    FpToSigned(Rounding, u32),
    FpToUnsigned(Rounding, u32),
}

/// Constructs the terms of one solver. Callers must pass well-sorted arguments.
pub trait Terms {
    /// A term.
    type Term: Copy + PartialEq;
    /// A truth value.
    fn truth(&mut self, value: bool) -> Self::Term;
    /// A bit-vector constant.
    fn bits(&mut self, value: &Bv) -> Self::Term;
    /// A new free constant. `name` is unique.
    fn constant(&mut self, name: &str, sort: SmtSort) -> Self::Term;
    /// An array that has the same value at all indices.
    fn const_array(&mut self, index: u32, elem: u32, value: Self::Term) -> Self::Term;
    /// The application of a function.
    fn apply(&mut self, fun: Fun, args: &[Self::Term]) -> Self::Term;
}

/// The form of a translated expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Form {
    /// Bits, or an array.
    Bits,
    Truth,
    Float(FloatFormat),
}
