//! Quotients and remainders.

use super::{Bv, lift};

/// Unsigned quotient; all ones for a zero divisor.
pub(crate) fn udiv(a: &Bv, b: &Bv) -> Bv {
    if b.is_zero() {
        return Bv::ones(a.width);
    }
    lift(a, b, |a, b| a / b, |a, b| a / b)
}

/// Unsigned remainder; the dividend for a zero divisor.
pub(crate) fn urem(a: &Bv, b: &Bv) -> Bv {
    if b.is_zero() {
        return a.clone();
    }
    lift(a, b, |a, b| a % b, |a, b| a % b)
}

/// Signed quotient, truncated towards zero; 1 or -1 for a zero divisor, as SMT-LIB defines it.
pub(crate) fn sdiv(a: &Bv, b: &Bv) -> Bv {
    let q = udiv(&magnitude(a), &magnitude(b));
    if a.sign() != b.sign() { q.neg() } else { q }
}

/// Signed remainder with the sign of the dividend; the dividend for a zero divisor.
pub(crate) fn srem(a: &Bv, b: &Bv) -> Bv {
    let r = urem(&magnitude(a), &magnitude(b));
    if a.sign() { r.neg() } else { r }
}

/// The magnitude as an unsigned value of the same width.
fn magnitude(a: &Bv) -> Bv {
    if a.sign() { a.neg() } else { a.clone() }
}
