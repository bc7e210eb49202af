//! Evaluation of operations on bit-vectors of at most 64 bits, with machine words.
//!
//! A value of width `w` is a `u64` whose bits above `w` are zero. These functions agree with the operations of [`Bv`]
//! and [`float`](crate::float) on every input. Tests here and in [`code`](super::code) check that.

use crate::expr::{BinOp, Expr, UnOp};
use crate::float::{FBinOp, FCmp, FUnOp, FloatFormat, Rounding};

/// The word with the low `width` bits set, where `1 <= width <= 64`.
#[inline]
pub fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// The value of `width` bits in two's complement, where `1 <= width <= 64`.
#[inline]
pub fn signed(value: u64, width: u32) -> i64 {
    let unused = 64 - width;
    ((value << unused) as i64) >> unused
}

/// Applies `op` to operands of `width` bits. For a concatenation, `width` is the width of the low operand, and the
/// result has at most 64 bits.
#[inline]
pub fn binary(op: BinOp, width: u32, a: u64, b: u64) -> u64 {
    let m = mask(width);
    let w = u64::from(width);
    match op {
        BinOp::Add => a.wrapping_add(b) & m,
        BinOp::Sub => a.wrapping_sub(b) & m,
        BinOp::Mul => a.wrapping_mul(b) & m,
        BinOp::UDiv => a.checked_div(b).unwrap_or(m),
        BinOp::URem => a.checked_rem(b).unwrap_or(a),
        BinOp::SDiv => match (signed(a, width), signed(b, width)) {
            (x, 0) => (if x < 0 { 1 } else { u64::MAX }) & m,
            (x, y) => x.wrapping_div(y) as u64 & m,
        },
        BinOp::SRem => match (signed(a, width), signed(b, width)) {
            (_, 0) => a,
            (x, y) => x.wrapping_rem(y) as u64 & m,
        },
        BinOp::Shl => (if b < w { a << b } else { 0 }) & m,
        BinOp::LShr => {
            if b < w {
                a >> b
            } else {
                0
            }
        }
        BinOp::AShr => (signed(a, width) >> b.min(63)) as u64 & m,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Eq => u64::from(a == b),
        BinOp::Ult => u64::from(a < b),
        BinOp::Ule => u64::from(a <= b),
        BinOp::Slt => u64::from(signed(a, width) < signed(b, width)),
        BinOp::Sle => u64::from(signed(a, width) <= signed(b, width)),
        BinOp::Concat => (if w < 64 { a << w } else { 0 }) | b,
    }
}

/// Applies the operation `node` to words. `width` is the width of the first operand in bits. Returns `None` if only the
/// general evaluator (`expr::eval`) implements the operation or format, and if the result is a NaN or out of range.
pub fn apply(node: &Expr, width: u32, args: [u64; 3]) -> Option<u64> {
    use FloatFormat::{Double, Single};
    let [a, b, _] = args;
    let (f, g) = (|x: u64| f32::from_bits(x as u32), f64::from_bits);
    Some(match *node {
        Expr::Unary(UnOp::Not, _) => !a & mask(width),
        Expr::Unary(UnOp::Neg, _) => a.wrapping_neg() & mask(width),
        Expr::FUnary(FUnOp::Neg, format @ (Single | Double), _) => a ^ 1 << (format.width() - 1),
        Expr::FUnary(FUnOp::Abs, format @ (Single | Double), _) => a & (mask(format.width()) >> 1),
        Expr::FUnary(FUnOp::SQRT, Single, _) => single(f(a).sqrt())?,
        Expr::FUnary(FUnOp::SQRT, Double, _) => double(g(a).sqrt())?,
        Expr::FBinary(op, Single, ..) => single(arithmetic(op, f(a), f(b))?)?,
        Expr::FBinary(op, Double, ..) => double(arithmetic(op, g(a), g(b))?)?,
        Expr::FCompare(op, Single, ..) => u64::from(compare(op, f(a), f(b))),
        Expr::FCompare(op, Double, ..) => u64::from(compare(op, g(a), g(b))),
        Expr::FIsNan(Single, _) => u64::from(f(a).is_nan()),
        Expr::FIsNan(Double, _) => u64::from(g(a).is_nan()),
        Expr::FConvert { rounding: Rounding::Nearest, from: Single, to: Double, .. } => double(f64::from(f(a)))?,
        Expr::FConvert { rounding: Rounding::Nearest, from: Double, to: Single, .. } => single(g(a) as f32)?,
        Expr::IntToF { rounding: Rounding::Nearest, to: Single, signed: true, .. } => single(signed(a, width) as f32)?,
        Expr::IntToF { rounding: Rounding::Nearest, to: Double, signed: true, .. } => double(signed(a, width) as f64)?,
        Expr::IntToF { rounding: Rounding::Nearest, to: Single, signed: false, .. } => single(a as f32)?,
        Expr::IntToF { rounding: Rounding::Nearest, to: Double, signed: false, .. } => double(a as f64)?,
        Expr::FToInt { from: Single, signed, width, .. } => truncate(f64::from(f(a)), signed, width)?,
        Expr::FToInt { from: Double, signed, width, .. } => truncate(g(a), signed, width)?,
        _ => return None,
    })
}

/// The bits of a result, or `None` for a NaN: the general evaluator implements the NaN rules of x86.
fn single(value: f32) -> Option<u64> {
    (!value.is_nan()).then(|| u64::from(value.to_bits()))
}

fn double(value: f64) -> Option<u64> {
    (!value.is_nan()).then(|| value.to_bits())
}

fn arithmetic<F>(op: FBinOp, a: F, b: F) -> Option<F>
where
    F: std::ops::Add<Output = F>
        + std::ops::Sub<Output = F>
        + std::ops::Mul<Output = F>
        + std::ops::Div<Output = F>
        + std::ops::Rem<Output = F>,
{
    Some(match op {
        FBinOp::ADD => a + b,
        FBinOp::SUB => a - b,
        FBinOp::MUL => a * b,
        FBinOp::DIV => a / b,
        FBinOp::Rem => a % b,
        // These include operations with a rounding other than to nearest, which is that of the host.
        _ => return None,
    })
}

fn compare<F: PartialOrd>(op: FCmp, a: F, b: F) -> bool {
    match op {
        FCmp::Eq => a == b,
        FCmp::Lt => a < b,
        FCmp::Le => a <= b,
    }
}

/// Rounds towards zero. Returns `None` if the result does not fit into `width <= 64` bits.
fn truncate(value: f64, signed: bool, width: u32) -> Option<u64> {
    let whole = value.trunc();
    // Powers of two are exact in a double; NaN fails both comparisons.
    let fits = if signed {
        let bound = 2f64.powi(width as i32 - 1);
        whole >= -bound && whole < bound
    } else {
        whole >= 0.0 && whole < 2f64.powi(width as i32)
    };
    fits.then(|| if signed { whole as i64 as u64 & mask(width) } else { whole as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bv::Bv;
    use proptest::prelude::*;

    fn operand() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), 0..4u64, (u64::MAX - 3)..=u64::MAX, (0..64u32).prop_map(|s| 1 << s), 0..70u64]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn operations_on_words_agree_with_those_on_bit_vectors(a in operand(), b in operand(), width in 1..=64u32, op in 0..BinOp::ALL.len()) {
            let op = BinOp::ALL[op];
            let (x, y) = (Bv::new(width, a), Bv::new(width, b));
            let (a, b) = (x.to_u64().unwrap(), y.to_u64().unwrap());
            if op == BinOp::Concat {
                let high = Bv::new((64 - width).max(1), a);
                prop_assume!(width < 64);
                let concat = high.concat(&y).to_u64().unwrap();
                prop_assert_eq!(binary(op, width, high.to_u64().unwrap(), b), concat);
            } else {
                prop_assert_eq!(binary(op, width, a, b), op.apply(&x, &y).to_u64().unwrap(), "{:?}", op);
            }
        }
    }
}
