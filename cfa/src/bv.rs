//! Bit-vector values of any width, with the semantics of SMT-LIB's `FixedSizeBitVectors`.
//!
//! A value of up to 64 bits is one machine word. A wider value (`__int128`, `_BitInt`, structs and vectors held by
//! value) is a big integer. Division by zero and over-long shifts follow SMT-LIB, so every operation is total.
//! operation is total.

mod division;
mod shift;

pub(crate) use division::{sdiv, srem, udiv, urem};
pub(crate) use shift::{ashr, lshr, shl};

use num_bigint::{BigInt, BigUint};
use std::fmt;
use std::ops::{BitAnd, BitOr, BitXor};

/// A bit-vector value: `width >= 1` bits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bv {
    width: u32,
    repr: Repr,
}

/// Invariant: `Small` exactly if the width is at most 64; bits above the width are zero.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(u64),
    Big(Box<BigUint>),
}
use Repr::{Big, Small};

#[inline]
fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

fn big_mask(width: u32) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

impl Bv {
    /// The low `width` bits of `value`, zero-extended beyond 64 bits.
    #[inline]
    pub fn new(width: u32, value: u64) -> Self {
        debug_assert!(width >= 1);
        if width <= 64 {
            Self { width, repr: Small(value & mask(width)) }
        } else {
            Self { width, repr: Big(Box::new(BigUint::from(value))) }
        }
    }
    /// The low `width` bits of `value`, sign-extended beyond 64 bits.
    pub fn from_i64(width: u32, value: i64) -> Self {
        if width <= 64 { Self::new(width, value as u64) } else { Self::new(64, value as u64).sext(width) }
    }
    /// The low `width` bits of `value`, zero-extended beyond 128 bits.
    pub fn from_u128(width: u32, value: u128) -> Self {
        Self::from_big(width, BigUint::from(value))
    }
    /// The low `width` bits of `value`.
    pub fn from_big(width: u32, value: BigUint) -> Self {
        if width <= 64 {
            let low = value.iter_u64_digits().next().unwrap_or(0);
            Self::new(width, low)
        } else if value.bits() > u64::from(width) {
            Self { width, repr: Big(Box::new(value & big_mask(width))) }
        } else {
            Self { width, repr: Big(Box::new(value)) }
        }
    }
    /// The value of bytes in little-endian order. The width is `8 * bytes.len()`. Panics if `bytes` is empty.
    pub fn from_le_bytes(bytes: &[u8]) -> Self {
        assert!(!bytes.is_empty());
        let width = 8 * bytes.len() as u32;
        if bytes.len() <= 8 {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            Self::new(width, u64::from_le_bytes(word))
        } else {
            Self::from_big(width, BigUint::from_bytes_le(bytes))
        }
    }
    /// The `ceil(width / 8)` bytes in little-endian order, padded with zero bits.
    pub fn to_le_bytes(&self) -> Vec<u8> {
        let n = self.width.div_ceil(8) as usize;
        match &self.repr {
            Small(v) => v.to_le_bytes()[..n].to_vec(),
            Big(b) => {
                let mut bytes = b.to_bytes_le();
                bytes.resize(n, 0);
                bytes
            }
        }
    }
    /// The one-bit value of a truth value.
    #[inline]
    pub fn bool(value: bool) -> Self {
        Self { width: 1, repr: Small(u64::from(value)) }
    }
    /// The value 0.
    pub fn zero(width: u32) -> Self {
        Self::new(width, 0)
    }
    /// The value 1.
    pub fn one(width: u32) -> Self {
        Self::new(width, 1)
    }
    /// The value with all bits set.
    pub fn ones(width: u32) -> Self {
        Self::zero(width).not()
    }
    /// The smallest signed value: only the sign bit set.
    pub fn min_signed(width: u32) -> Self {
        Self::from_big(width, BigUint::from(1u8) << (width - 1))
    }

    /// The width in bits.
    #[inline]
    pub fn width(&self) -> u32 {
        self.width
    }
    /// The unsigned value, or `None` if it does not fit into 64 bits.
    #[inline]
    pub fn to_u64(&self) -> Option<u64> {
        match &self.repr {
            Small(v) => Some(*v),
            Big(b) => u64::try_from(&**b).ok(),
        }
    }
    /// The unsigned value, or `None` if it does not fit into 128 bits.
    pub fn to_u128(&self) -> Option<u128> {
        match &self.repr {
            Small(v) => Some(u128::from(*v)),
            Big(b) => u128::try_from(&**b).ok(),
        }
    }
    /// The two's complement value, or `None` if it does not fit into 64 bits.
    #[inline]
    pub fn to_i64(&self) -> Option<i64> {
        match &self.repr {
            Small(v) => Some(sign_extend(*v, self.width)),
            Big(_) => i64::try_from(self.to_bigint()).ok(),
        }
    }
    /// The unsigned value.
    pub fn to_biguint(&self) -> BigUint {
        match &self.repr {
            Small(v) => BigUint::from(*v),
            Big(b) => (**b).clone(),
        }
    }
    /// The two's complement value.
    pub fn to_bigint(&self) -> BigInt {
        let unsigned = BigInt::from(self.to_biguint());
        if self.sign() { unsigned - (BigInt::from(1) << self.width) } else { unsigned }
    }
    /// True if no bit is set.
    #[inline]
    pub fn is_zero(&self) -> bool {
        match &self.repr {
            Small(v) => *v == 0,
            Big(b) => b.bits() == 0,
        }
    }
    /// True if the unsigned value is 1.
    pub fn is_one(&self) -> bool {
        self.to_u64() == Some(1)
    }
    /// True if all bits are set.
    pub fn is_ones(&self) -> bool {
        match &self.repr {
            Small(v) => *v == mask(self.width),
            Big(b) => b.count_ones() == u64::from(self.width),
        }
    }
    /// True if any bit is set. Conditions have one bit.
    #[inline]
    pub fn is_true(&self) -> bool {
        !self.is_zero()
    }
    /// The most significant bit.
    #[inline]
    pub fn sign(&self) -> bool {
        self.bit(self.width - 1)
    }
    /// Bit `i`, counted from the least significant one.
    #[inline]
    pub fn bit(&self, i: u32) -> bool {
        match &self.repr {
            Small(v) => i < 64 && v >> i & 1 == 1,
            Big(b) => b.bit(u64::from(i)),
        }
    }
    /// Returns `Some(k)` if the value is `2^k`.
    pub fn log2_exact(&self) -> Option<u32> {
        match &self.repr {
            Small(v) => v.is_power_of_two().then(|| v.trailing_zeros()),
            Big(b) => (b.count_ones() == 1).then(|| b.trailing_zeros().unwrap() as u32),
        }
    }

    /// The bitwise complement.
    pub fn not(&self) -> Self {
        match &self.repr {
            Small(v) => Self::new(self.width, !v),
            Big(b) => Self::from_big(self.width, big_mask(self.width) ^ &**b),
        }
    }
    /// The two's complement negation.
    pub fn neg(&self) -> Self {
        match &self.repr {
            Small(v) => Self::new(self.width, v.wrapping_neg()),
            Big(_) => self.not().add(&Self::one(self.width)),
        }
    }
    /// The sum modulo `2^width`. Both operands have the same width, here and in all binary operations except `concat`.
    pub fn add(&self, o: &Self) -> Self {
        lift(self, o, u64::wrapping_add, |a, b| a + b)
    }
    /// The difference modulo `2^width`.
    pub fn sub(&self, o: &Self) -> Self {
        let w = self.width;
        lift(self, o, u64::wrapping_sub, |a, b| a + (BigUint::from(1u8) << w) - b)
    }
    /// The product modulo `2^width`.
    pub fn mul(&self, o: &Self) -> Self {
        lift(self, o, u64::wrapping_mul, |a, b| a * b)
    }
    /// Unsigned `<`.
    #[inline]
    pub fn ult(&self, o: &Self) -> bool {
        match (&self.repr, &o.repr) {
            (Small(a), Small(b)) => a < b,
            (Big(a), Big(b)) => a < b,
            _ => unreachable!("widths differ"),
        }
    }
    /// Unsigned `<=`.
    pub fn ule(&self, o: &Self) -> bool {
        !o.ult(self)
    }
    /// Signed `<`.
    #[inline]
    pub fn slt(&self, o: &Self) -> bool {
        match (&self.repr, &o.repr) {
            (Small(a), Small(b)) => sign_extend(*a, self.width) < sign_extend(*b, o.width),
            _ => match (self.sign(), o.sign()) {
                (true, false) => true,
                (false, true) => false,
                _ => self.ult(o),
            },
        }
    }
    /// Signed `<=`.
    pub fn sle(&self, o: &Self) -> bool {
        !o.slt(self)
    }
    /// Bits `hi..=lo`, where `lo <= hi < width`.
    pub fn extract(&self, hi: u32, lo: u32) -> Self {
        debug_assert!(lo <= hi && hi < self.width);
        match &self.repr {
            Small(v) => Self::new(hi - lo + 1, v >> lo),
            Big(b) => Self::from_big(hi - lo + 1, &**b >> lo),
        }
    }
    /// The concatenation, with `self` as the high part.
    pub fn concat(&self, low: &Self) -> Self {
        let width = self.width + low.width;
        match (&self.repr, &low.repr) {
            (Small(h), Small(l)) if width <= 64 => Self::new(width, h << low.width | l),
            _ => Self::from_big(width, self.to_biguint() << low.width | low.to_biguint()),
        }
    }
    /// Zero-extended to `width`, which is at least the current width.
    pub fn zext(&self, width: u32) -> Self {
        debug_assert!(width >= self.width);
        match &self.repr {
            Small(v) => Self::new(width, *v),
            Big(b) => Self { width, repr: Big(b.clone()) },
        }
    }
    /// Sign-extended to `width`, which is at least the current width.
    pub fn sext(&self, width: u32) -> Self {
        debug_assert!(width >= self.width);
        match &self.repr {
            Small(v) if width <= 64 => Self::new(width, sign_extend(*v, self.width) as u64),
            _ if !self.sign() => self.zext(width),
            _ => {
                let high = big_mask(width) ^ big_mask(self.width);
                Self::from_big(width, high | self.to_biguint())
            }
        }
    }
    /// Truncated or zero-extended to `width`.
    pub fn resize(&self, width: u32) -> Self {
        if width <= self.width { self.extract(width - 1, 0) } else { self.zext(width) }
    }
}

impl BitAnd for &Bv {
    type Output = Bv;
    fn bitand(self, o: Self) -> Bv {
        lift(self, o, |a, b| a & b, |a, b| a & b)
    }
}

impl BitOr for &Bv {
    type Output = Bv;
    fn bitor(self, o: Self) -> Bv {
        lift(self, o, |a, b| a | b, |a, b| a | b)
    }
}

impl BitXor for &Bv {
    type Output = Bv;
    fn bitxor(self, o: Self) -> Bv {
        lift(self, o, |a, b| a ^ b, |a, b| a ^ b)
    }
}

/// Applies an operation to two values of equal width: `small` if both fit machine words, else `big`.
fn lift(a: &Bv, b: &Bv, small: impl Fn(u64, u64) -> u64, big: impl Fn(BigUint, BigUint) -> BigUint) -> Bv {
    debug_assert_eq!(a.width, b.width);
    match (&a.repr, &b.repr) {
        (Small(x), Small(y)) => Bv { width: a.width, repr: Small(small(*x, *y) & mask(a.width)) },
        _ => Bv::from_big(a.width, big(a.to_biguint(), b.to_biguint())),
    }
}

#[inline]
fn sign_extend(value: u64, width: u32) -> i64 {
    let unused = 64 - width;
    ((value << unused) as i64) >> unused
}

/// Prints the unsigned decimal value without the width.
impl fmt::Display for Bv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.repr {
            Small(v) => write!(f, "{v}"),
            Big(b) => write!(f, "{b}"),
        }
    }
}

/// `value:width`.
impl fmt::Debug for Bv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}:{}", self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_and_narrow_agree() {
        // Each operation gives the same result on 64 bits (machine word) and inside 128 bits (big integer).
        let samples =
            [0u64, 1, 2, 7, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, u64::MAX, u64::MAX / 2, 1 << 63, 12345678901234567];
        for &a in &samples {
            for &b in &samples {
                let (x, y) = (Bv::new(64, a), Bv::new(64, b));
                let (wx, wy) = (x.sext(128), y.sext(128));
                for (small, big) in [
                    (x.add(&y), wx.add(&wy)),
                    (x.sub(&y), wx.sub(&wy)),
                    (x.mul(&y), wx.mul(&wy)),
                    (&x & &y, &wx & &wy),
                    (x.neg(), wx.neg()),
                    (sdiv(&x, &y), sdiv(&wx, &wy)),
                    (srem(&x, &y), srem(&wx, &wy)),
                ] {
                    assert_eq!(small, big.extract(63, 0), "{a} {b}");
                }
                assert_eq!(x.slt(&y), wx.slt(&wy));
                assert_eq!(x.slt(&y), (a as i64) < (b as i64));
                if b != 0 && !(a as i64 == i64::MIN && b as i64 == -1) {
                    assert_eq!(sdiv(&x, &y).to_i64(), Some(a as i64 / b as i64));
                    assert_eq!(srem(&x, &y).to_i64(), Some(a as i64 % b as i64));
                }
            }
        }
    }

    #[test]
    fn shifts_and_slices() {
        let x = Bv::new(32, 0x8000_00f0);
        assert_eq!(ashr(&x, &Bv::new(32, 4)), Bv::new(32, 0xf800_000f));
        assert_eq!(ashr(&x, &Bv::new(32, 40)), Bv::ones(32));
        assert_eq!(shl(&x, &Bv::new(32, 32)), Bv::zero(32));
        assert_eq!(x.extract(7, 4), Bv::new(4, 15));
        assert_eq!(Bv::new(40, 1).concat(&Bv::new(40, 2)).extract(79, 40), Bv::new(40, 1));
        assert_eq!(Bv::from_le_bytes(&[1, 2, 3]).to_le_bytes(), vec![1, 2, 3]);
        for w in [1, 7, 64, 65, 200] {
            assert!(Bv::min_signed(w).sign());
            assert_eq!(Bv::min_signed(w).log2_exact(), Some(w - 1));
        }
    }
}
