//! Abstract values: the reduced product of an unsigned and a signed interval, known bits, a congruence and a small
//! value set.
//!
//! Intervals: Cousot, Cousot, Static determination of dynamic properties of programs, 1976. Known bits: the tristate
//! numbers of Vishwanathan et al., Sound, precise, and fast abstract interpretation with tristate numbers, CGO 2022.
//! Both are implemented by the solver's [`Bounds`].

pub mod address;
pub mod congruence;
pub mod limits;
pub mod wide;

use address::{NULL, Targets};
use cfa::{BinOp, Bv};
use congruence::Congruence;
use limits::{Limit, Limits, Reaches, Same, Within};
use smt::bounds::Bounds;
use std::rc::Rc;

/// Largest number of members of a value set.
const MEMBERS: usize = 32;

/// A set of values of 1 to 64 bits: the intersection of its components. Operations that detect an empty set return
/// `None`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    pub(crate) range: Bounds,
    /// The congruence.
    pub congruence: Congruence,
    /// The members in ascending order, if they are few.
    pub members: Option<Rc<[u64]>>,
    /// As addresses: the values point to one of these targets. `None` if the targets are unknown.
    pub targets: Option<Targets>,
    /// The offset bounds of the values.
    pub limits: Limits,
}

impl Value {
    /// All values of `width` bits.
    pub fn full(width: u32) -> Self {
        Self::numbers_of(Bounds::full(width), Congruence::ALL)
    }
    /// A single value.
    pub fn constant(width: u32, value: u64) -> Self {
        Self {
            range: Bounds::constant(width, value),
            congruence: Congruence::constant(value),
            members: Some(Rc::new([value])),
            targets: None,
            limits: Limits::NONE,
        }
    }
    /// The numbers in `range` and `congruence`.
    pub(in crate::invariant) fn numbers_of(range: Bounds, congruence: Congruence) -> Self {
        Self { range, congruence, members: None, targets: None, limits: Limits::NONE }
    }
    /// A single value; `None` if it has more than 64 bits.
    pub fn of_bv(value: &Bv) -> Option<Self> {
        (value.width() <= 64).then(|| Self::constant(value.width(), value.to_u64().expect("narrow")))
    }
    pub(crate) fn of_range(range: Bounds) -> Option<Self> {
        Self::numbers_of(range, Congruence::ALL).reduced()
    }
    /// The width in bits.
    pub fn width(&self) -> u32 {
        self.range.width
    }
    /// The set with a further offset bound.
    pub fn limited(&self, limit: Limit) -> Self {
        Self { limits: self.limits.with(limit), ..self.clone() }
    }
    /// The set without lost offset bounds; `None` if it has none of them. `is_lost` also gets whether the bound is that
    /// of an offset within its object.
    pub fn without(&self, is_lost: &dyn Fn(&Limit, bool) -> bool) -> Option<Self> {
        let limits = self.limits.without(&|limit| is_lost(limit, false));
        let of_target = |object: u32| move |limit: &Limit| is_lost(limit, limit.object == object);
        let left = |(o, at): &(u32, Self)| at.limits.without(&of_target(*o));
        let is_hit = |target: &(u32, Self)| left(target).is_some();
        let targets = self.targets.as_ref().filter(|targets| targets.iter().any(is_hit));
        if limits.is_none() && targets.is_none() {
            return None;
        }
        let stripped = |target: &(u32, Self)| match left(target) {
            Some(limits) => (target.0, Self { limits, ..target.1.clone() }),
            None => target.clone(),
        };
        let targets = match targets {
            Some(targets) => Some(targets.iter().map(stripped).collect()),
            None => self.targets.clone(),
        };
        Some(Self { limits: limits.unwrap_or_else(|| self.limits.clone()), targets, ..self.clone() })
    }
    /// The member, if there is only one.
    pub fn as_constant(&self) -> Option<u64> {
        self.range.as_constant()
    }
    /// True if nothing is known.
    pub fn is_full(&self) -> bool {
        *self == Self::full(self.width())
    }
    /// True if `value` may be a member.
    pub fn contains(&self, value: u64) -> bool {
        self.range.contains(value)
            && self.congruence.contains(value)
            && self.members.as_ref().is_none_or(|m| m.binary_search(&value).is_ok())
    }
    /// For values of one bit: whether 1 and 0 are members.
    pub fn truth(&self) -> (bool, bool) {
        (self.contains(1), self.contains(0))
    }

    /// Reduction: the components refine each other. `None` if the set is empty.
    pub(in crate::invariant) fn reduced(mut self) -> Option<Self> {
        let width = self.width();
        if let Some([rest @ .., (NULL, at)]) = self.targets.as_deref()
            && !rest.is_empty()
            && at.range.meet(&self.range).is_none()
        {
            self.targets = Some(rest.into());
        }
        for _ in 0..2 {
            if let Some(members) = &self.members {
                let left = members.iter().filter(|&&v| self.range.contains(v) && self.congruence.contains(v));
                if left.clone().count() < members.len() {
                    self.members = Some(left.copied().collect());
                }
                let numbers = Self::of_members(width, self.members?);
                return numbers.map(|v| Self { targets: self.targets, limits: self.limits, ..v });
            }
            let (low, high) = (self.congruence.next(self.range.low)?, self.congruence.previous(self.range.high)?);
            if low > high {
                return None;
            }
            if (low, high) != (self.range.low, self.range.high) {
                self.range = self.range.meet(&Bounds::unsigned(width, low, high)?)?;
            }
            if let Some(value) = self.as_constant() {
                let is_one = self.congruence.contains(value);
                return is_one.then(|| Self {
                    targets: self.targets,
                    limits: self.limits,
                    ..Self::constant(width, value)
                });
            }
            // Known low bits are equivalent to a congruence modulo a power of two.
            let two = if self.congruence.modulus == 0 { 64 } else { self.congruence.modulus.trailing_zeros() };
            let part = (1u128 << two.min(width)) - 1;
            let bits = self.congruence.rest & part;
            let (zeros, ones) = (!bits & part, bits);
            self.range = self.range.meet(&Bounds::bits(width, zeros as u64, ones as u64)?)?;
            let known = (self.range.zeros | self.range.ones).trailing_ones().min(width);
            if known > two {
                let modulus = 1u128 << known;
                let bits = Congruence::new(modulus, u128::from(self.range.ones) % modulus);
                self.congruence = self.congruence.meet(&bits)?;
            }
        }
        Some(self)
    }

    /// The set of exactly these values, which are ascending.
    fn of_members(width: u32, members: Rc<[u64]>) -> Option<Self> {
        let (&first, rest) = members.split_first()?;
        let (mut range, mut congruence) = (Bounds::constant(width, first), Congruence::constant(first));
        for &v in rest {
            range = range.join(&Bounds::constant(width, v));
            congruence = congruence.join(&Congruence::constant(v));
        }
        Some(Self { members: Some(members), ..Self::numbers_of(range, congruence) })
    }

    /// The set of these values in any order, if they are few.
    fn of_few(width: u32, mut values: Vec<u64>) -> Option<Self> {
        values.sort_unstable();
        values.dedup();
        (values.len() <= MEMBERS).then(|| Self::of_members(width, values.into()))?
    }

    /// The values that are among these, in ascending order. `None` if there is none.
    pub(in crate::invariant) fn among(&self, values: Vec<u64>) -> Option<Self> {
        let (low, high) = (*values.first()?, *values.last()?);
        let range = || Bounds::unsigned(self.width(), low, high).and_then(Self::of_range);
        self.meet(&Self::of_few(self.width(), values).or_else(range)?)
    }

    /// An over-approximation of the intersection. `None` if it is empty.
    pub fn meet(&self, o: &Self) -> Option<Self> {
        let members = match (&self.members, &o.members) {
            (Some(a), Some(b)) => Some(a.iter().filter(|v| b.binary_search(v).is_ok()).copied().collect()),
            (Some(a), None) | (None, Some(a)) => Some(Rc::clone(a)),
            (None, None) => None,
        };
        // For addresses, keep the smaller set of targets.
        let targets = match (&self.targets, &o.targets) {
            (Some(a), Some(b)) if b.len() < a.len() => Some(Rc::clone(b)),
            (Some(a), Some(b)) if a != b && a.iter().map(|t| t.0).eq(b.iter().map(|t| t.0)) => {
                let met = |((object, x), (_, y)): (&(u32, Self), &(u32, Self))| {
                    (*object, x.meet(y).unwrap_or_else(|| x.clone()))
                };
                Some(a.iter().zip(b.iter()).map(met).collect())
            }
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        let (range, congruence) = (self.range.meet(&o.range)?, self.congruence.meet(&o.congruence)?);
        Self { range, congruence, members, targets, limits: self.limits.both(&o.limits) }.reduced()
    }

    /// The least set that the domain can represent and that contains both.
    pub fn join(&self, o: &Self) -> Self {
        if self == o {
            return self.clone();
        }
        self.join_where(o, &Same)
    }
    /// Like `join`, for values in two states.
    pub fn join_where(&self, o: &Self, how: &dyn Reaches) -> Self {
        if self == o && self.limits.is_empty() && self.targets.is_none() {
            return self.clone();
        }
        let targets = self.either(o, how, |object, a, b| a.join_where(b, &Within { how, object }));
        Self { targets, limits: Limits::joined(self, o, how), ..self.joined_numbers(o) }
    }

    /// The smaller one of two unsigned numbers of one state, if each of them is a possible result.
    pub fn least(&self, o: &Self) -> Self {
        let joined = self.join(o);
        let limits = joined.limits.both(&self.limits.up_to()).both(&o.limits.up_to());
        let most = Bounds::unsigned(self.width(), 0, self.range.high.min(o.range.high)).and_then(Self::of_range);
        let least = most.and_then(|most| joined.meet(&most)).unwrap_or(joined);
        Self { limits, ..least }
    }

    /// The value where only one of two joined states has it: without the offset bounds on lengths that the joined state
    /// does not have.
    pub fn one_sided(&self, how: &dyn Reaches) -> Self {
        let is_lost = |limit: &Limit, owns: bool| {
            let owns = owns || how.owner() == Some(limit.object);
            !how.stays(limit.object, limit.reach, owns)
        };
        self.without(&is_lost).unwrap_or_else(|| self.clone())
    }

    fn joined_numbers(&self, o: &Self) -> Self {
        if let (Some(a), Some(b)) = (&self.members, &o.members)
            && let Some(joined) = Self::of_few(self.width(), a.iter().chain(b.iter()).copied().collect())
        {
            return joined;
        }
        let (range, congruence) = (self.range.join(&o.range), self.congruence.join(&o.congruence));
        Self::numbers_of(range, congruence)
    }

    /// True if `o` is a subset of `self`, as far as the domain can show it.
    pub fn includes(&self, o: &Self) -> bool {
        self.join(o) == *self
    }

    /// Widening: contains `self` and `o`, such that a chain of widenings is finite. Changed bounds move to the next of
    /// the ascending `thresholds` (bit patterns), and value sets only grow by thresholds.
    pub fn widen(&self, o: &Self, thresholds: &[u64]) -> Self {
        self.widen_where(o, thresholds, &Same)
    }
    /// Like `widen`, for values in two states.
    pub fn widen_where(&self, o: &Self, thresholds: &[u64], how: &dyn Reaches) -> Self {
        let mut joined = self.join_where(o, how);
        if joined == *self {
            return joined;
        }
        joined.limits = Limits::widened(self, &joined, how);
        let widened = |object, a: &Self, b: &Self| a.widen_where(b, thresholds, &Within { how, object });
        if let (Some(before), Some(after)) = (&self.members, &joined.members) {
            let fits = |v: &u64| before.binary_search(v).is_ok() || thresholds.binary_search(v).is_ok();
            if after.iter().all(fits) {
                joined.targets = self.either(o, how, widened);
                return joined;
            }
        }
        joined.targets = self.either(o, how, widened);
        joined.members = None;
        let width = self.width();
        let full = Bounds::full(width);
        let (old, r) = (&self.range, &mut joined.range);
        let at_most = |v: u64| thresholds[..thresholds.partition_point(|&t| t <= v)].last().copied();
        let at_least = |v: u64| thresholds.get(thresholds.partition_point(|&t| t < v)).copied();
        let signed = |t: u64| Bounds::constant(width, t).min;
        if r.low < old.low {
            r.low = at_most(r.low).unwrap_or(0);
        }
        if r.high > old.high {
            r.high = at_least(r.high).unwrap_or(full.high);
        }
        if r.min < old.min {
            r.min = thresholds.iter().map(|&t| signed(t)).filter(|&t| t <= r.min).max().unwrap_or(full.min);
        }
        if r.max > old.max {
            r.max = thresholds.iter().map(|&t| signed(t)).filter(|&t| t >= r.max).min().unwrap_or(full.max);
        }
        joined
    }

    /// The results of an operation on all pairs of members, if they are few.
    fn pointwise(width: u32, a: &Self, b: &Self, op: impl Fn(u64, u64) -> Option<u64>) -> Option<Self> {
        let (xs, ys) = (a.members.as_ref()?, b.members.as_ref()?);
        if xs.len() * ys.len() > 4 * MEMBERS {
            return None;
        }
        let mut values = Vec::with_capacity(xs.len() * ys.len());
        for &x in xs.iter() {
            for &y in ys.iter() {
                values.push(op(x, y)?);
            }
        }
        Self::of_few(width, values)
    }

    /// The results of an operation on all members.
    fn map(&self, width: u32, op: impl Fn(u64) -> u64) -> Option<Self> {
        let members = self.members.as_ref()?;
        Self::of_few(width, members.iter().map(|&v| op(v)).collect())
    }

    /// The values of `a op b`, for any operation except `Concat`.
    pub fn apply(op: BinOp, a: &Self, b: &Self) -> Self {
        let targets = match op {
            // A sum points to the target of the operand that is an address.
            BinOp::Add => a.moved(op, b).or_else(|| b.moved(op, a)),
            BinOp::Sub => a.moved(op, b),
            _ => None,
        };
        Self { targets, limits: Limits::of_result(op, a, b), ..Self::numbers(op, a, b) }
    }

    fn numbers(op: BinOp, a: &Self, b: &Self) -> Self {
        let width = if op.is_comparison() { 1 } else { a.width() };
        let word = |x, y| op.apply(&Bv::new(a.width(), x), &Bv::new(a.width(), y)).to_u64();
        if let Some(exact) = Self::pointwise(width, a, b, word) {
            return exact;
        }
        let range = Bounds::apply(op, &a.range, &b.range);
        if op.is_comparison() {
            if op == BinOp::Eq && range.as_constant().is_none() && a.meet(b).is_none() {
                return Self::constant(1, 0);
            }
            return Self::of_range(range).unwrap_or(Self::full(1));
        }
        let (x, y) = (&a.congruence, &b.congruence);
        let fits = |v: Option<u128>| v.is_some_and(|v| v >> width == 0);
        let (ah, bh) = (u128::from(a.range.high), u128::from(b.range.high));
        let congruence = match op {
            BinOp::Add if fits(Some(ah + bh)) => x.add(y),
            BinOp::Add => x.add(y).wrapped(width),
            BinOp::Sub => x.sub(y, width, a.range.low >= b.range.high),
            BinOp::Mul if fits(ah.checked_mul(bh)) => x.mul(y),
            BinOp::Mul => x.mul(y).wrapped(width),
            BinOp::Shl => match b.as_constant() {
                Some(s) if s < u64::from(width) => x.mul(&Congruence::constant(1 << s)).wrapped(width),
                _ => Congruence::ALL,
            },
            BinOp::URem => match b.as_constant() {
                Some(c) if c > 0 => x.rem(c),
                _ => Congruence::ALL,
            },
            BinOp::SRem if a.range.min >= 0 => match b.as_constant() {
                Some(c) if c > 0 && b.range.min > 0 => x.rem(c),
                _ => Congruence::ALL,
            },
            BinOp::UDiv => match b.as_constant().map(u128::from) {
                Some(c) if c > 0 && x.modulus % c == 0 && x.rest % c == 0 => Congruence::new(x.modulus / c, x.rest / c),
                _ => Congruence::ALL,
            },
            _ => Congruence::ALL,
        };
        Self::numbers_of(range, congruence).reduced().unwrap_or(Self::numbers_of(range, Congruence::ALL))
    }

    /// The bitwise complement.
    pub fn not(&self) -> Self {
        let m = Bounds::full(self.width()).high;
        match self.map(self.width(), |v| !v & m) {
            Some(exact) => exact,
            None => Self::of_range(self.range.not()).unwrap_or(Self::full(self.width())),
        }
    }
    /// Zero extension.
    pub fn zext(&self, width: u32) -> Self {
        let numbers = match self.map(width, |v| v) {
            Some(exact) => exact,
            None => Self::numbers_of(self.range.zext(width), self.congruence).reduced().unwrap_or(Self::full(width)),
        };
        Self { limits: self.limits.clone(), ..numbers }
    }
    /// Sign extension.
    pub fn sext(&self, width: u32) -> Self {
        let narrow = self.width();
        let numbers = match self.map(width, |v| Bv::new(narrow, v).sext(width).to_u64().expect("at most 64 bits")) {
            Some(exact) => exact,
            None => {
                let congruence = if self.range.min >= 0 { self.congruence } else { self.congruence.wrapped(narrow) };
                Self::numbers_of(self.range.sext(width), congruence).reduced().unwrap_or(Self::full(width))
            }
        };
        let limits = if self.range.min >= 0 { self.limits.clone() } else { Limits::NONE };
        Self { limits, ..numbers }
    }
    /// The bits `hi..=lo`.
    pub fn extract(&self, hi: u32, lo: u32) -> Self {
        let width = hi - lo + 1;
        let m = Bounds::full(width).high;
        let limits = if lo == 0 && self.range.high <= m { self.limits.clone() } else { Limits::NONE };
        if let Some(exact) = self.map(width, |v| v >> lo & m) {
            return Self { limits, ..exact };
        }
        let congruence = match lo {
            0 if self.range.high <= m => self.congruence,
            0 => self.congruence.wrapped(width),
            _ => Congruence::ALL,
        };
        let plain = Self { limits, ..Self::numbers_of(self.range.extract(hi, lo), congruence) };
        plain.reduced().unwrap_or(Self::full(width))
    }
    /// The concatenation of `self` (high bits) and `low`, at most 64 bits.
    pub fn concat(&self, low: &Self) -> Self {
        let width = self.width() + low.width();
        let n = low.width();
        match Self::pointwise(width, self, low, |h, l| Some(h << n | l)) {
            Some(exact) => exact,
            None => Self::of_range(self.range.concat(&low.range)).unwrap_or(Self::full(width)),
        }
    }
}

/// Truncates or zero-extends. For more than 64 bits, nothing is known.
pub(crate) fn resized(value: &Value, width: u32) -> Value {
    if width > 64 {
        // The result is never used.
        return Value::full(64);
    }
    if width == value.width() {
        return value.clone();
    }
    if width <= value.width() { value.extract(width - 1, 0) } else { value.zext(width) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WIDTHS: [u32; 4] = [1, 5, 32, 64];

    /// A value together with one of its members.
    fn held(width: u32) -> impl Strategy<Value = (Value, u64)> {
        let m = Bounds::full(width).high;
        let number = prop_oneof![any::<u64>(), 0..40u64, (0..40u64).prop_map(|v| v.wrapping_neg())];
        let numbers = prop::collection::vec(number.prop_map(move |v| v & m), 1..5);
        (numbers, 0..4u8, 0..12u128).prop_map(move |(numbers, kind, modulus)| {
            let v = numbers[0];
            let joined =
                numbers.iter().skip(1).fold(Value::constant(width, v), |a, &n| a.join(&Value::constant(width, n)));
            let value = match kind {
                0 => joined,
                1 => Value { members: None, congruence: Congruence::ALL, ..joined },
                2 => Value { members: None, ..joined },
                _ => {
                    let congruence = match modulus {
                        0 => Congruence::ALL,
                        _ => Congruence::new(modulus, u128::from(v)),
                    };
                    Value::numbers_of(Bounds::full(width), congruence)
                }
            };
            (value, v)
        })
    }

    fn two() -> impl Strategy<Value = ((Value, u64), (Value, u64))> {
        prop::sample::select(&WIDTHS[..]).prop_flat_map(|w| (held(w), held(w)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn operations_hold_every_result(((a, x), (b, y)) in two()) {
            let w = a.width();
            prop_assert!(a.contains(x) && b.contains(y));
            let (p, q) = (Bv::new(w, x), Bv::new(w, y));
            for op in BinOp::ALL.into_iter().filter(|op| *op != BinOp::Concat) {
                let result = op.apply(&p, &q).to_u64().unwrap();
                let abs = Value::apply(op, &a, &b);
                prop_assert!(abs.contains(result), "{a:?} {op:?} {b:?}: {x} {y} -> {result} not in {abs:?}");
            }
            prop_assert!(a.not().contains(p.not().to_u64().unwrap()));
            if w <= 32 {
                prop_assert!(a.zext(w + 7).contains(x));
                prop_assert!(a.sext(w + 7).contains(p.sext(w + 7).to_u64().unwrap()));
                prop_assert!(a.concat(&b).contains(p.concat(&q).to_u64().unwrap()));
            }
            for (hi, lo) in [(w - 1, 0), (w / 2, 0), (w - 1, w / 2)] {
                prop_assert!(a.extract(hi, lo).contains(p.extract(hi, lo).to_u64().unwrap()), "{a:?} {hi} {lo}");
            }
        }

        #[test]
        fn order_join_meet_and_widening(((a, x), (b, y)) in two(), mut thresholds in prop::collection::vec(any::<u64>(), 0..4)) {
            let m = Bounds::full(a.width()).high;
            thresholds.iter_mut().for_each(|t| *t &= m);
            thresholds.sort_unstable();
            let joined = a.join(&b);
            prop_assert!(joined.contains(x) && joined.contains(y));
            prop_assert!(a.least(&b).contains(x.min(y)));
            prop_assert!(joined.includes(&a) && joined.includes(&b) && a.includes(&a));
            prop_assert_eq!(&joined, &b.join(&a));
            let wide = a.widen(&b, &thresholds);
            prop_assert!(wide.contains(x) && wide.contains(y), "{:?}", wide);
            match a.meet(&b) {
                Some(meet) => prop_assert!(!b.contains(x) || meet.contains(x)),
                None => prop_assert!(!b.contains(x) && !a.contains(y)),
            }
            prop_assert!(a.clone().reduced().unwrap().contains(x));
        }

        #[test]
        fn widening_ends(w in prop::sample::select(&WIDTHS[..]), values in prop::collection::vec(any::<u64>(), 200), step in 0..9u64) {
            let m = Bounds::full(w).high;
            let thresholds = [0, 1, 7 & m, 100 & m, m];
            let mut thresholds = thresholds.to_vec();
            thresholds.sort_unstable();
            let mut now = Value::constant(w, values[0] & m);
            let mut changes = 0;
            for (i, v) in values.iter().enumerate() {
                let v = if step == 0 { *v } else { step * i as u64 } & m;
                let next = now.widen(&Value::constant(w, v), &thresholds);
                changes += u32::from(next != now);
                now = next;
            }
            // Each bound moves through the thresholds at most, for four bounds. Known bits and divisors change at most
            // as often as there are bits, for both.
            prop_assert!(changes < 4 * 7 + 2 * 64, "{changes}");
        }
    }
}
