//! What a number is at most, by how far objects reach: bounds between a variable and a length that no variable need hold.
//!
//! Of each object there are three lengths: its size, the place of one of its null bytes, whichever it may be, and the place of a null byte that
//! the program came upon, which is a number of the program's then (`n = strlen(s)`). Difference bounds on these,
//! with a factor (`4 * n <= size`): Gulwani et al., A combination framework for tracking partition sizes, POPL 2009, has the sizes of objects
//! as such variables, and Simon, King, Analyzing string buffers in C, AMAST 2002, the first null byte.
//!
//! A limit says something only while its object exists, and the object is one (see [`Count`](super::memory::Count)).

use crate::invariant::value::Value;
use cfa::BinOp;
use smt::bounds::Bounds;
use std::rc::Rc;

/// How far an object reaches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reach {
    /// Bytes.
    Size,
    /// The distance of a null byte from the start: the same one for all who speak of it.
    Null,
    /// The distance of the null byte at which it was last seen that a byte is null, as where a walk ends.
    Seen,
}

/// `times * v + more <= reach`, of the unsigned value as a mathematical number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    pub object: u32,
    pub reach: Reach,
    /// Greater than 0.
    pub times: u64,
    pub more: i64,
    /// Both sides are equal.
    pub is_exact: bool,
}

/// Limits of one number, at most.
const LIMITS: usize = 8;
/// No object has more bytes (`PTRDIFF_MAX`).
pub const LARGEST: u64 = i64::MAX as u64;
/// Numbers of a limit are smaller.
const SMALL: i128 = 1 << 40;

impl Limit {
    pub fn new(object: u32, reach: Reach, more: i64) -> Self {
        Self { object, reach, times: 1, more, is_exact: false }
    }
    pub fn exact(self) -> Self {
        Self { is_exact: true, ..self }
    }
    fn key(&self) -> (u32, Reach, u64) {
        (self.object, self.reach, self.times)
    }
    fn with(self, times: i128, more: i128) -> Option<Self> {
        let fits = 0 < times && times < SMALL && -SMALL < more && more < SMALL;
        fits.then_some(Self { times: times as u64, more: more as i64, ..self })
    }
    fn about(self) -> Self {
        Self { is_exact: false, ..self }
    }
    /// The largest value that has it.
    pub fn most(&self) -> u128 {
        ((i128::from(LARGEST) - i128::from(self.more)).max(0) / i128::from(self.times)) as u128
    }
    /// The largest value that has it where the object reaches so far.
    pub fn most_of(&self, reach: u64) -> Option<u64> {
        let most = (i128::from(reach) - i128::from(self.more)) / i128::from(self.times);
        u64::try_from(most).ok()
    }
    /// Of `v + by` where `v` has it; `by` at most.
    pub fn plus(self, by: u64) -> Option<Self> {
        self.with(self.times.into(), i128::from(self.more) - i128::from(self.times) * i128::from(by))
    }
    /// Of `v - by` where `v` has it; `by` at least.
    pub fn minus(self, by: u64) -> Option<Self> {
        self.with(self.times.into(), i128::from(self.more) + i128::from(self.times) * i128::from(by))
    }
    /// Of `by * v` where `v` has it.
    fn multiplied(self, by: u64) -> Option<Self> {
        (by > 0 && self.times.is_multiple_of(by)).then(|| Self { times: self.times / by, ..self })
    }
    /// Of `v` where `by * v` has it.
    pub fn divided(self, by: u64) -> Option<Self> {
        self.with(i128::from(self.times) * i128::from(by), self.more.into())
    }
    /// Of what is less than `v` by at least so much.
    pub fn below(self, by: u64) -> Option<Self> {
        self.about().minus(by)
    }
    /// Whether a number is at most one of which this says what it is: `times * other + more` is at most the reach.
    pub fn is_passed_by(&self, other: &Value) -> bool {
        let least = i128::from(self.times) * i128::from(other.range.high) + i128::from(self.more);
        self.is_exact && (least <= 0 || other.limits.iter().any(|l| l.key() == self.key() && l.more >= self.more))
    }
    /// Of what is at most `v`.
    pub fn up_to(self) -> Self {
        self.about()
    }
}

/// All of them that are known of a number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Limits(Option<Rc<[Limit]>>);

impl Limits {
    pub const NONE: Self = Self(None);

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
    pub fn iter(&self) -> impl Iterator<Item = Limit> + '_ {
        self.0.iter().flat_map(|limits| limits.iter().copied())
    }
    /// Of each object, reach and factor the strongest; as many as are kept.
    fn of(limits: impl IntoIterator<Item = Limit>) -> Self {
        let mut all: Vec<Limit> = limits.into_iter().collect();
        all.sort_unstable_by_key(|l| (l.key(), std::cmp::Reverse((l.more, l.is_exact))));
        all.dedup_by_key(|l| l.key());
        all.truncate(LIMITS);
        Self((!all.is_empty()).then(|| all.into()))
    }
    pub fn map(&self, f: impl FnMut(Limit) -> Option<Limit>) -> Self {
        if self.is_empty() { Self::NONE } else { Self::of(self.iter().filter_map(f)) }
    }
    /// Of numbers that are at most these.
    pub fn up_to(&self) -> Self {
        self.map(|l| Some(l.up_to()))
    }
    pub fn with(&self, limit: Limit) -> Self {
        Self::of(self.iter().chain([limit]))
    }
    pub fn both(&self, o: &Self) -> Self {
        match (self.is_empty(), o.is_empty()) {
            (_, true) => self.clone(),
            (true, _) => o.clone(),
            _ => Self::of(self.iter().chain(o.iter())),
        }
    }
    /// Of the values of `a op b`.
    pub fn of_result(op: BinOp, a: &Value, b: &Value) -> Self {
        if a.limits.is_empty() && b.limits.is_empty() {
            return Self::NONE;
        }
        let negated = |v: &Value| {
            let negative = v.as_constant().filter(|_| v.range.max < 0)?;
            Some(Value::constant(v.width(), negative.wrapping_neg() & Bounds::full(v.width()).high))
        };
        match op {
            BinOp::Add => match (negated(a), negated(b)) {
                (_, Some(by)) => Self::difference(a, &by),
                (Some(by), _) => Self::difference(b, &by),
                _ => Self::sum(a, b),
            },
            BinOp::Sub => Self::difference(a, b),
            BinOp::Mul => match (a.as_constant(), b.as_constant()) {
                (_, Some(by)) => Self::product(a, by),
                (Some(by), _) => Self::product(b, by),
                _ => Self::NONE,
            },
            BinOp::Shl => match b.as_constant() {
                Some(by) if by < u64::from(a.width()) => Self::product(a, 1 << by),
                _ => Self::NONE,
            },
            // What is left is at most what was there.
            BinOp::And => a.limits.up_to().both(&b.limits.up_to()),
            BinOp::LShr | BinOp::UDiv | BinOp::URem if op != BinOp::UDiv || !b.contains(0) => a.limits.up_to(),
            _ => Self::NONE,
        }
    }

    /// Of a sum that does not wrap around where either limit holds, numbers of so many bits.
    fn sum(a: &Value, b: &Value) -> Self {
        let one = |a: &Value, b: &Value| {
            let full = (1u128 << a.width()) - 1;
            let (by, is_constant) = (b.range.high, b.as_constant().is_some());
            a.limits.map(|l| {
                let fits = u128::from(a.range.high).min(l.most()) + u128::from(by) <= full;
                let l = l.plus(by).filter(|_| fits)?;
                Some(if is_constant { l } else { l.up_to() })
            })
        };
        match (a.limits.is_empty(), b.limits.is_empty()) {
            (true, true) => Self::NONE,
            (false, true) => one(a, b),
            (true, false) => one(b, a),
            _ => one(a, b).both(&one(b, a)),
        }
    }
    /// Of a difference.
    fn difference(a: &Value, b: &Value) -> Self {
        if a.limits.is_empty() || a.range.low < b.range.high {
            return Self::NONE;
        }
        let is_constant = b.as_constant().is_some();
        a.limits.map(|l| {
            let l = l.minus(b.range.low)?;
            Some(if is_constant { l } else { l.up_to() })
        })
    }
    /// Of a product by a constant.
    fn product(a: &Value, by: u64) -> Self {
        let full = (1u128 << a.width()) - 1;
        a.limits.map(|l| {
            let most = u128::from(a.range.high).min(l.most());
            l.multiplied(by).filter(|_| most.checked_mul(by.into()).is_some_and(|most| most <= full))
        })
    }
    /// Of numbers that have what either of two have: of values `a` and `b` in two states that are put together.
    pub fn joined(a: &Value, b: &Value, how: &dyn Reaches) -> Self {
        if a.limits.is_empty() && b.limits.is_empty() {
            return Self::NONE;
        }
        // What is known on the side that does not say it: 0 <= reach.
        let implied = |value: &Value, limit: Limit| {
            let more = -(i128::from(limit.times) * i128::from(value.range.high));
            limit.with(limit.times.into(), more).map(Limit::about)
        };
        let other = |limit: Limit, value: &Value, is_there: bool| {
            if !is_there {
                return Some(limit);
            }
            let said = value.limits.iter().find(|l| l.key() == limit.key());
            let found = said.or_else(|| implied(value, limit))?;
            let is_exact = limit.is_exact && found.is_exact && limit.more == found.more;
            Some(Limit { more: limit.more.min(found.more), is_exact, ..limit })
        };
        let kept = |limit: &Limit| how.stays(limit.object, limit.reach);
        let of_a = a.limits.iter().filter(kept).filter_map(|l| other(l, b, how.right_exists(l.object)));
        let of_b = b.limits.iter().filter(kept).filter_map(|l| other(l, a, how.left_exists(l.object)));
        // Each is right by itself, but the weaker of two of one key was put together with its like.
        Self::of(of_a.chain(of_b))
    }
    /// Those of `before` that still hold, after they were put together with others.
    pub fn widened(before: &Self, joined: &Self) -> Self {
        let is_old = |l: &Limit| before.iter().any(|b| b.key() == l.key() && b.more <= l.more);
        if joined.is_empty() { Self::NONE } else { Self::of(joined.iter().filter(is_old)) }
    }
    /// What is left without some; `None` if all are.
    pub fn without(&self, is_lost: &dyn Fn(&Limit) -> bool) -> Option<Self> {
        self.iter().any(|l| is_lost(&l)).then(|| self.map(|l| Some(l).filter(|l| !is_lost(l))))
    }
}

/// A value as a number that is at most what its limits say; `most` is how far they reach, where that is known.
pub fn within(value: &Value, most: &dyn Fn(&Limit) -> Option<u64>) -> Value {
    let most = value.limits.iter().filter_map(|l| l.most_of(most(&l)?)).min();
    let bounds = most.filter(|most| *most < value.range.high).and_then(|most| Bounds::unsigned(value.width(), 0, most));
    bounds.and_then(Value::of_range).and_then(|v| value.meet(&v)).unwrap_or_else(|| value.clone())
}

/// What becomes of limits where two states are put together.
pub trait Reaches {
    /// Whether an object may exist in the first state; what is said of one that does not holds.
    fn left_exists(&self, object: u32) -> bool;
    fn right_exists(&self, object: u32) -> bool;
    /// Whether there is such a length of the object in both.
    fn stays(&self, object: u32, reach: Reach) -> bool;
}

/// Both are the same state.
pub struct Same;

impl Reaches for Same {
    fn left_exists(&self, _object: u32) -> bool {
        true
    }
    fn right_exists(&self, _object: u32) -> bool {
        true
    }
    fn stays(&self, _object: u32, _reach: Reach) -> bool {
        true
    }
}
