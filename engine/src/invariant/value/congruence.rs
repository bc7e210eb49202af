//! Congruences of unsigned bit-vector values (Granger: Static analysis of arithmetical congruences, 1989), adapted to
//! wrap-around.

/// The set of unsigned values `v` with `v ≡ rest` modulo `modulus`. The modulus 0 represents the single value `rest`,
/// and the modulus 1 all values. `rest < modulus` unless the modulus is 0. Moduli are at most 2^64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Congruence {
    /// The modulus.
    pub modulus: u128,
    /// The remainder.
    pub rest: u128,
}

/// The greatest common divisor.
pub fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The largest modulus.
const LARGEST: u128 = 1 << 64;

impl Congruence {
    /// All values.
    pub const ALL: Self = Self { modulus: 1, rest: 0 };

    /// A single value.
    pub fn constant(value: u64) -> Self {
        Self { modulus: 0, rest: u128::from(value) }
    }
    /// The congruence with this modulus and remainder.
    pub fn new(modulus: u128, rest: u128) -> Self {
        match modulus {
            0 => Self { modulus, rest },
            _ if modulus > LARGEST => Self::ALL,
            _ => Self { modulus, rest: rest % modulus },
        }
    }
    /// True if `value` is in the set.
    pub fn contains(&self, value: u64) -> bool {
        match self.modulus {
            0 => self.rest == u128::from(value),
            m => u128::from(value) % m == self.rest,
        }
    }
    /// An over-approximation of the union.
    pub fn join(&self, o: &Self) -> Self {
        Self::new(gcd(gcd(self.modulus, o.modulus), self.rest.abs_diff(o.rest)), self.rest)
    }
    /// An over-approximation of the intersection: exact if one modulus divides the other, or if the common one is small
    /// and quickly found, and otherwise the set with the larger modulus. `None` if the intersection is empty.
    pub fn meet(&self, o: &Self) -> Option<Self> {
        let g = gcd(self.modulus, o.modulus);
        let apart = self.rest.abs_diff(o.rest);
        if g == 0 {
            return (apart == 0).then_some(*self);
        }
        if !apart.is_multiple_of(g) {
            return None;
        }
        // If one set contains the other, `fine` is the smaller one.
        let (coarse, fine) =
            if self.modulus == 0 || o.modulus != 0 && self.modulus > o.modulus { (o, self) } else { (self, o) };
        if fine.modulus == 0 || fine.modulus % coarse.modulus == 0 {
            return Some(*fine);
        }
        // Chinese remainder theorem, if the result is found within a few steps.
        let steps = coarse.modulus / g;
        if steps <= 64
            && let Some(rest) =
                (0..steps).map(|i| fine.rest + i * fine.modulus).find(|v| v % coarse.modulus == coarse.rest)
            && fine.modulus * steps <= LARGEST
        {
            return Some(Self::new(fine.modulus * steps, rest));
        }
        Some(*fine)
    }
    /// The set after possible wrap-around at `width` bits.
    pub fn wrapped(&self, width: u32) -> Self {
        let wrap = 1u128 << width;
        match self.modulus {
            0 => Self::new(0, self.rest % wrap),
            m => Self::new(gcd(m, wrap), self.rest),
        }
    }
    /// Sums, before wrap-around.
    pub fn add(&self, o: &Self) -> Self {
        Self::new(gcd(self.modulus, o.modulus), self.rest + o.rest)
    }
    /// Differences modulo 2^`width`. Only the common divisor of the modulus and 2^`width` remains, unless `exact`
    /// states that no difference is negative.
    pub fn sub(&self, o: &Self, width: u32, exact: bool) -> Self {
        let wrap = 1u128 << width;
        let modulus = gcd(self.modulus, o.modulus);
        if modulus == 0 {
            return Self::new(0, (wrap + self.rest - o.rest % wrap) % wrap);
        }
        let modulus = if exact { modulus } else { gcd(modulus, wrap) };
        // The least multiple of the modulus that makes the difference non-negative.
        let lift = o.rest.div_ceil(modulus) * modulus;
        Self::new(modulus, self.rest + lift - o.rest)
    }
    /// Products, before wrap-around. All values if the numbers become too large.
    pub fn mul(&self, o: &Self) -> Self {
        let product = |a: u128, b: u128| a.checked_mul(b);
        let parts = [
            product(self.modulus, o.modulus),
            product(self.modulus, o.rest),
            product(o.modulus, self.rest),
            product(self.rest, o.rest),
        ];
        match parts {
            [Some(a), Some(b), Some(c), Some(rest)] => {
                let modulus = gcd(a, gcd(b, c));
                if modulus > LARGEST {
                    // Every divisor of a modulus is a modulus as well.
                    let two = 1u128 << modulus.trailing_zeros().min(64);
                    return Self::new(two, rest);
                }
                Self::new(modulus, rest)
            }
            _ => Self::ALL,
        }
    }
    /// Remainders of division by `by > 0`.
    pub fn rem(&self, by: u64) -> Self {
        match self.modulus {
            0 => Self::new(0, self.rest % u128::from(by)),
            m => Self::new(gcd(m, u128::from(by)), self.rest),
        }
    }
    /// The least member that is at least `low`.
    pub fn next(&self, low: u64) -> Option<u64> {
        let low = u128::from(low);
        let value = match self.modulus {
            0 => Some(self.rest).filter(|&r| r >= low),
            m => Some(low + (m + self.rest - low % m) % m),
        };
        value.and_then(|v| u64::try_from(v).ok())
    }
    /// The greatest member that is at most `high`.
    pub fn previous(&self, high: u64) -> Option<u64> {
        let high = u128::from(high);
        match self.modulus {
            0 => Some(self.rest).filter(|&r| r <= high).map(|r| r as u64),
            m => high.checked_sub((m + high % m - self.rest) % m).map(|v| v as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(width: u32) -> Vec<(Congruence, Vec<u64>)> {
        let mut found = vec![];
        for modulus in 0..10u128 {
            for rest in 0..if modulus == 0 { 1 << width } else { modulus } {
                let c = Congruence::new(modulus, rest);
                found.push((c, (0..1u64 << width).filter(|v| c.contains(*v)).collect()));
            }
        }
        found
    }

    #[test]
    fn laws_on_small_numbers() {
        let width = 4;
        let m = (1u64 << width) - 1;
        let all = all(width);
        for (a, xs) in &all {
            for low in 0..=m {
                let above = xs.iter().copied().find(|&x| x >= low);
                assert_eq!(a.next(low).filter(|&v| v <= m), above, "{a:?} {low}");
                assert_eq!(a.previous(low), xs.iter().copied().rfind(|&x| x <= low), "{a:?} {low}");
            }
            for (b, ys) in &all {
                let (join, meet) = (a.join(b), a.meet(b));
                assert!(xs.iter().chain(ys).all(|&v| join.contains(v)));
                assert!(
                    xs.iter().filter(|x| ys.contains(x)).all(|&v| meet.unwrap().contains(v)),
                    "{a:?} {b:?} {meet:?}"
                );
                for &x in xs {
                    for &y in ys {
                        assert!(a.add(b).contains(x + y));
                        assert!(a.add(b).wrapped(width).contains((x + y) & m));
                        assert!(a.mul(b).contains(x * y), "{a:?} {b:?}");
                        assert!(a.mul(b).wrapped(width).contains((x * y) & m));
                        assert!(a.sub(b, width, false).contains(x.wrapping_sub(y) & m), "{a:?} {b:?} {x} {y}");
                        if x >= y {
                            assert!(a.sub(b, width, true).contains(x - y), "{a:?} {b:?} {x} {y}");
                        }
                        if y > 0 {
                            assert!(a.rem(y).contains(x % y));
                        }
                    }
                }
            }
        }
    }
}
