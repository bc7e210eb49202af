//! Abstract values of bit-vectors of up to 64 bits: the product of unsigned intervals, signed intervals and known bits.

use cfa::{BinOp, Bv};

#[inline]
fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

#[inline]
fn sign_extend(value: u64, width: u32) -> i64 {
    ((value << (64 - width)) as i64) >> (64 - width)
}

/// The set of the values `v` of `width` bits with `low <= v <= high` unsigned, `min <= v <= max` signed, all bits of
/// `ones` set and all bits of `zeros` clear.
///
/// Constructors return `None` if they detect that the set is empty. An empty set that they do not detect remains as a
/// `Bounds`; it is a sound abstraction, because every property holds for the empty set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The width in bits, `1..=64`.
    pub width: u32,
    /// The least value, unsigned.
    pub low: u64,
    /// The greatest value, unsigned.
    pub high: u64,
    /// The least value, signed.
    pub min: i64,
    /// The greatest value, signed.
    pub max: i64,
    /// The bits that are 0 in all values. Bits above the width are set.
    pub zeros: u64,
    /// The bits that are 1 in all values.
    pub ones: u64,
}

impl Bounds {
    /// All values of `width` bits, `1..=64`.
    pub fn full(width: u32) -> Self {
        let max = (mask(width) >> 1) as i64;
        Self { width, low: 0, high: mask(width), min: -max - 1, max, zeros: !mask(width), ones: 0 }
    }
    /// The set of one value.
    pub fn constant(width: u32, value: u64) -> Self {
        let signed = sign_extend(value, width);
        Self { width, low: value, high: value, min: signed, max: signed, zeros: !value, ones: value }
    }
    /// The set of one truth value, of width 1.
    pub fn bool(value: bool) -> Self {
        Self::constant(1, u64::from(value))
    }
    /// The set of one value; `None` if it has more than 64 bits.
    pub fn of_bv(value: &Bv) -> Option<Self> {
        (value.width() <= 64).then(|| Self::constant(value.width(), value.to_u64().expect("narrow")))
    }
    /// The values from `low` to `high`, unsigned; `None` if there are none.
    pub fn unsigned(width: u32, low: u64, high: u64) -> Option<Self> {
        Self { low, high, ..Self::full(width) }.normal()
    }
    /// The values from `min` to `max`, signed; `None` if there are none.
    pub fn signed(width: u32, min: i64, max: i64) -> Option<Self> {
        Self { min, max, ..Self::full(width) }.normal()
    }
    /// The values with these bits clear and set; `None` if there are none.
    pub fn bits(width: u32, zeros: u64, ones: u64) -> Option<Self> {
        Self { zeros: zeros | !mask(width), ones, ..Self::full(width) }.normal()
    }
    /// The only value, if the unsigned interval has one value.
    pub fn as_constant(&self) -> Option<u64> {
        (self.low == self.high).then_some(self.low)
    }
    /// Returns true if the set contains the value.
    pub fn contains(&self, value: u64) -> bool {
        let signed = sign_extend(value, self.width);
        self.low <= value
            && value <= self.high
            && self.min <= signed
            && signed <= self.max
            && value & self.zeros == 0
            && value & self.ones == self.ones
    }
    /// Returns true if the set is `true` alone, of width 1.
    pub fn is_true(&self) -> bool {
        self.width == 1 && self.low == 1
    }
    /// Returns true if the set is `false` alone, of width 1.
    pub fn is_false(&self) -> bool {
        self.width == 1 && self.high == 0
    }

    /// Reduces the product: each component tightens the others. `None` if the set is found to be empty.
    fn normal(mut self) -> Option<Self> {
        // Two rounds: the signed bounds may tighten the unsigned ones, and these may tighten the bits, and vice versa.
        for _ in 0..2 {
            let m = mask(self.width);
            if self.ones & self.zeros != 0 || self.low > self.high || self.min > self.max {
                return None;
            }
            self.low = self.low.max(self.ones);
            self.high = self.high.min(!self.zeros);
            // The values are multiples of the power of two that the known low zeros determine.
            let low_zeros = self.zeros.trailing_ones().min(self.width - 1);
            self.low = self.low.checked_next_multiple_of(1 << low_zeros)?;
            self.high = self.high >> low_zeros << low_zeros;
            if self.low > self.high {
                return None;
            }
            // If both ends have the same sign, the signed and the unsigned order agree.
            let sign = 1u64 << (self.width - 1);
            if self.high < sign || self.low >= sign {
                self.min = self.min.max(sign_extend(self.low, self.width));
                self.max = self.max.min(sign_extend(self.high, self.width));
            }
            if self.min > self.max {
                return None;
            }
            if self.min >= 0 || self.max < 0 {
                self.low = self.low.max(self.min as u64 & m);
                self.high = self.high.min(self.max as u64 & m);
            }
            if self.low > self.high {
                return None;
            }
            // The bounds' common leading bits are known.
            let differing = self.low ^ self.high;
            let known = if differing == 0 { u64::MAX } else { !(u64::MAX >> differing.leading_zeros()) };
            self.ones |= self.low & known;
            self.zeros |= !self.low & known;
        }
        if self.ones & self.zeros != 0 { None } else { Some(self) }
    }

    /// The intersection; `None` if it is found to be empty.
    pub fn meet(&self, o: &Self) -> Option<Self> {
        debug_assert_eq!(self.width, o.width);
        Self {
            width: self.width,
            low: self.low.max(o.low),
            high: self.high.min(o.high),
            min: self.min.max(o.min),
            max: self.max.min(o.max),
            zeros: self.zeros | o.zeros,
            ones: self.ones | o.ones,
        }
        .normal()
    }
    /// A set that contains the union.
    pub fn join(&self, o: &Self) -> Self {
        Self {
            width: self.width,
            low: self.low.min(o.low),
            high: self.high.max(o.high),
            min: self.min.min(o.min),
            max: self.max.max(o.max),
            zeros: self.zeros & o.zeros,
            ones: self.ones & o.ones,
        }
    }
    /// Removes a value if it is an end of an interval; `None` if no value remains.
    pub fn without(&self, value: u64) -> Option<Self> {
        let mut r = *self;
        if r.low == r.high && r.low == value {
            return None;
        }
        if r.low == value {
            r.low += 1;
        }
        if r.high == value {
            r.high -= 1;
        }
        let signed = sign_extend(value, self.width);
        if r.min == signed {
            r.min = r.min.checked_add(1)?;
        }
        if r.max == signed {
            r.max = r.max.checked_sub(1)?;
        }
        r.normal()
    }

    /// A value that is probably in the set: `value` itself if it is, otherwise the nearest end.
    pub fn nearest(&self, value: u64) -> u64 {
        let mut v = (value | self.ones) & !self.zeros & mask(self.width);
        v = v.clamp(self.low, self.high);
        let signed = sign_extend(v, self.width);
        (signed.clamp(self.min, self.max) as u64) & mask(self.width)
    }

    /// The bitwise complements of the values.
    pub fn not(&self) -> Self {
        let m = mask(self.width);
        Self {
            width: self.width,
            low: !self.high & m,
            high: !self.low & m,
            min: !self.max,
            max: !self.min,
            zeros: self.ones | !m,
            ones: self.zeros & m,
        }
    }

    /// The possible values of `a op b`, for any operation but `Concat`.
    pub fn apply(op: BinOp, a: &Self, b: &Self) -> Self {
        let width = a.width;
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
            let value = op.apply(&Bv::new(width, x), &Bv::new(width, y));
            return Self::constant(value.width(), value.to_u64().expect("narrow"));
        }
        let full = Self::full(if op.is_comparison() { 1 } else { width });
        let result = match op {
            BinOp::Add => a.add(b),
            BinOp::Sub => a.sub(b),
            BinOp::Mul => a.mul(b),
            BinOp::UDiv if b.low > 0 => Self::unsigned(width, a.low / b.high, a.high / b.low),
            BinOp::URem if b.low > 0 => {
                if a.high < b.low {
                    Some(*a)
                } else {
                    Self::unsigned(width, 0, a.high.min(b.high - 1))
                }
            }
            BinOp::SDiv if b.min > 0 => {
                // Division truncates towards zero. The quotient grows with the dividend, and its magnitude decreases
                // with the divisor.
                let low = if a.min < 0 { a.min / b.min } else { a.min / b.max };
                let high = if a.max < 0 { a.max / b.max } else { a.max / b.min };
                Self::signed(width, low, high)
            }
            BinOp::SRem if b.min > 0 => {
                let bound = b.max - 1;
                let min = if a.min < 0 { a.min.max(-bound) } else { 0 };
                let max = if a.max > 0 { a.max.min(bound) } else { 0 };
                Self::signed(width, min, max)
            }
            BinOp::And => Self::bits(width, a.zeros | b.zeros, a.ones & b.ones)
                .and_then(|r| r.meet(&Self::unsigned(width, 0, a.high.min(b.high))?)),
            BinOp::Or => Self::bits(width, a.zeros & b.zeros, a.ones | b.ones)
                .and_then(|r| r.meet(&Self::unsigned(width, a.low.max(b.low), mask(width))?)),
            BinOp::Xor => Self::bits(width, a.zeros & b.zeros | a.ones & b.ones, a.ones & b.zeros | a.zeros & b.ones),
            BinOp::LShr => Self::unsigned(width, shifted(a.low, b.high), shifted(a.high, b.low)),
            BinOp::Shl if b.as_constant().is_some_and(|s| s < u64::from(width)) => {
                let s = b.low;
                let m = mask(width);
                Self::bits(width, a.zeros << s | ((1 << s) - 1) | !m, a.ones << s & m)
            }
            BinOp::AShr if b.high < u64::from(width) => {
                // The result grows with the shifted value, and tends to 0 or -1 as the amount grows.
                let low = a.min >> if a.min < 0 { b.low } else { b.high };
                let high = a.max >> if a.max < 0 { b.high } else { b.low };
                Self::signed(width, low, high)
            }
            BinOp::Eq => match a.meet(b) {
                None => return Self::bool(false),
                Some(_) => None,
            },
            BinOp::Ult => decided(a.high < b.low, a.low >= b.high),
            BinOp::Ule => decided(a.high <= b.low, a.low > b.high),
            BinOp::Slt => decided(a.max < b.min, a.min >= b.max),
            BinOp::Sle => decided(a.max <= b.min, a.min > b.max),
            _ => None,
        };
        result.unwrap_or(full)
    }

    fn add(&self, o: &Self) -> Option<Self> {
        let width = self.width;
        let mut r = Self::full(width);
        // The interval is exact only if both ends wrap around, or neither does.
        let (low, high) = (u128::from(self.low) + u128::from(o.low), u128::from(self.high) + u128::from(o.high));
        if low >> width == high >> width {
            (r.low, r.high) = (low as u64 & mask(width), high as u64 & mask(width));
        }
        if let (Some(min), Some(max)) = (self.min.checked_add(o.min), self.max.checked_add(o.max))
            && min >= r.min
            && max <= r.max
        {
            (r.min, r.max) = (min, max);
        }
        // The low bits that both operands determine.
        let known = (self.zeros | self.ones) & (o.zeros | o.ones);
        let n = known.trailing_ones().min(width);
        if n > 0 {
            let low_mask = mask(n);
            let sum = self.ones.wrapping_add(o.ones) & low_mask;
            r.ones |= sum;
            r.zeros |= !sum & low_mask;
        }
        r.normal()
    }

    fn sub(&self, o: &Self) -> Option<Self> {
        let width = self.width;
        let mut r = Self::full(width);
        // The interval is exact only if both ends wrap around, or neither does.
        if (self.low < o.high) == (self.high < o.low) {
            (r.low, r.high) =
                (self.low.wrapping_sub(o.high) & mask(width), self.high.wrapping_sub(o.low) & mask(width));
        }
        if let (Some(min), Some(max)) = (self.min.checked_sub(o.max), self.max.checked_sub(o.min))
            && min >= r.min
            && max <= r.max
        {
            (r.min, r.max) = (min, max);
        }
        r.normal()
    }

    fn mul(&self, o: &Self) -> Option<Self> {
        let width = self.width;
        let mut r = Self::full(width);
        let high = u128::from(self.high) * u128::from(o.high);
        if high <= u128::from(mask(width)) {
            (r.low, r.high) = (self.low * o.low, high as u64);
        }
        let products = [(self.min, o.min), (self.min, o.max), (self.max, o.min), (self.max, o.max)]
            .map(|(x, y)| i128::from(x) * i128::from(y));
        let (min, max) = (products.into_iter().min()?, products.into_iter().max()?);
        if min >= i128::from(r.min) && max <= i128::from(r.max) {
            (r.min, r.max) = (min as i64, max as i64);
        }
        let zeros = (self.zeros.trailing_ones() + o.zeros.trailing_ones()).min(width);
        if zeros > 0 {
            r.zeros |= mask(zeros);
        }
        r.normal()
    }

    /// The values, zero-extended to `width` bits.
    pub fn zext(&self, width: u32) -> Self {
        let above = mask(width) & !mask(self.width);
        Self { low: self.low, high: self.high, ones: self.ones, zeros: self.zeros | above, ..Self::full(width) }
            .normal()
            .unwrap_or(Self::full(width))
    }
    /// The values, sign-extended to `width` bits.
    pub fn sext(&self, width: u32) -> Self {
        Self::signed(width, self.min, self.max).unwrap_or(Self::full(width))
    }
    /// Bits `hi..=lo` of the values.
    pub fn extract(&self, hi: u32, lo: u32) -> Self {
        let width = hi - lo + 1;
        let m = mask(width);
        let bits = Self::bits(width, self.zeros >> lo & m, self.ones >> lo & m);
        let bits = bits.unwrap_or(Self::full(width));
        // If the extraction removes no high bits, it preserves the order.
        if self.high >> lo <= m
            && let Some(range) = Self::unsigned(width, self.low >> lo, self.high >> lo)
        {
            return bits.meet(&range).unwrap_or(bits);
        }
        let full = Self::full(width);
        if lo == 0
            && self.min >= full.min
            && self.max <= full.max
            && let Some(range) = Self::signed(width, self.min, self.max)
        {
            return bits.meet(&range).unwrap_or(bits);
        }
        bits
    }
    /// The concatenations of a value of `self`, as the high bits, and a value of `low`. Together at most 64 bits.
    pub fn concat(&self, low: &Self) -> Self {
        let (width, n) = (self.width + low.width, low.width);
        Self {
            low: self.low << n | low.low,
            high: self.high << n | low.high,
            zeros: self.zeros << n | low.zeros & mask(n),
            ones: self.ones << n | low.ones,
            ..Self::full(width)
        }
        .normal()
        .unwrap_or(Self::full(width))
    }
}

fn decided(yes: bool, no: bool) -> Option<Bounds> {
    match (yes, no) {
        (true, _) => Some(Bounds::bool(true)),
        (_, true) => Some(Bounds::bool(false)),
        _ => None,
    }
}

/// Shifts right. The result of shifts by 64 or more is zero.
fn shifted(value: u64, by: u64) -> u64 {
    if by < 64 { value >> by } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(r: &Bounds, v: u64) -> bool {
        let s = sign_extend(v, r.width);
        r.low <= v && v <= r.high && r.min <= s && s <= r.max && v & r.zeros == 0 && v & r.ones == r.ones
    }

    /// All sets of a small width that the constructors return, with their members.
    fn samples(width: u32) -> Vec<(Bounds, Vec<u64>)> {
        let m = mask(width);
        let mut ranges = vec![Bounds::full(width)];
        for a in 0..=m {
            for b in 0..=m {
                ranges.extend(Bounds::unsigned(width, a, b));
                ranges.extend(Bounds::signed(width, sign_extend(a, width), sign_extend(b, width)));
                ranges.extend(Bounds::bits(width, a, b));
            }
        }
        ranges.sort_by_key(|r| (r.low, r.high, r.min, r.max, r.zeros, r.ones));
        ranges.dedup();
        let members = |r: &Bounds| (0..=m).filter(|v| contains(r, *v)).collect();
        ranges.into_iter().map(|r| (r, members(&r))).collect()
    }

    #[test]
    fn operations_hold_every_result() {
        use BinOp::*;
        let width = 3;
        let samples = samples(width);
        let ops = [Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor, Eq, Ult, Ule, Slt, Sle];
        for (a, xs) in &samples {
            assert!(!xs.is_empty() || a.low != a.high);
            for (b, ys) in &samples {
                for op in ops {
                    let r = Bounds::apply(op, a, b);
                    for &x in xs {
                        for &y in ys {
                            let v = op.apply(&Bv::new(width, x), &Bv::new(width, y)).to_u64().unwrap();
                            assert!(contains(&r, v), "{x} {op:?} {y} = {v} not in {r:?}; {a:?} {b:?}");
                        }
                    }
                }
                match a.meet(b) {
                    Some(r) => assert!(xs.iter().all(|x| !ys.contains(x) || contains(&r, *x))),
                    None => assert!(!xs.iter().any(|x| ys.contains(x))),
                }
                let (joined, joint) = (a.join(b), a.concat(b));
                assert!(xs.iter().chain(ys).all(|x| contains(&joined, *x)));
                for &x in xs {
                    assert!(ys.iter().all(|y| contains(&joint, x << width | y)));
                }
            }
        }
    }

    #[test]
    fn parts_hold_every_result() {
        for (a, xs) in samples(4) {
            for &x in &xs {
                assert!(contains(&a.not(), !x & 15));
                assert!(contains(&a.zext(7), x));
                assert!(contains(&a.sext(7), sign_extend(x, 4) as u64 & 127));
                for hi in 0..4 {
                    for lo in 0..=hi {
                        assert!(contains(&a.extract(hi, lo), x >> lo & mask(hi - lo + 1)), "{a:?} {hi} {lo}");
                    }
                }
                for v in 0..16 {
                    if v != x {
                        assert!(contains(&a.without(v).unwrap(), x), "{a:?} {v}");
                    }
                }
            }
        }
    }
}
