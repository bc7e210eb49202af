//! Offset bounds: symbolic upper bounds of numbers in terms of the lengths of objects.
//!
//! An object has three lengths: its size, the offset of one of its null bytes, and the offset of a null byte that the
//! program has observed. The last one is a value of the program (`n = strlen(s)`). Offset bounds are difference bounds
//! on these lengths with a factor (`4 * n <= size`). Gulwani et al., A combination framework for tracking partition
//! sizes, POPL 2009, use sizes of objects as such variables. Simon, King, Analyzing string buffers in C, AMAST 2002,
//! use the first null byte.
//!
//! An offset bound of a number is meaningful only while its object exists and its number represents one object (see
//! [`Count`](crate::invariant::memory::cells::Count)). An offset bound of an offset within the object itself refers to
//! the object that the address points to, also if its number represents several.
//!
//! Invariant: the memory of an environment has the length to which a bound in it refers (`Memory::defines`). The status
//! of an object determines which null byte is meant, so a bound without that status has no meaning, and it would be
//! wrong as soon as the status gets another null byte. Therefore an operation that drops a length, or gives it
//! another meaning, drops the bounds that refer to it, in the environment and in the callers (`Loss`). A join keeps a
//! bound only if both memories have its length, also where a cell or a target exists in one memory only. A caller keeps
//! a bound of a callee's exit only if its own memory after the call has the length: the exit is joined over all callers,
//! and some of them may lack it.

use crate::invariant::value::Value;
use cfa::BinOp;
use smt::bounds::Bounds;
use std::rc::Rc;

/// A length of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reach {
    /// Its size in bytes.
    Size,
    /// The offset of one of its null bytes. All bounds refer to the same null byte.
    Null,
    /// The offset of the null byte that was observed last, for example at the end of a string traversal.
    Seen,
}

/// The bound `times * v + more <= reach` on a value `v`, which is unsigned and taken as a mathematical integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// The object.
    pub object: u32,
    /// The length of the object.
    pub reach: Reach,
    /// The factor, greater than 0.
    pub times: u64,
    /// The constant.
    pub more: i64,
    /// True if both sides are equal.
    pub is_exact: bool,
}

/// Largest number of offset bounds of one number.
const LIMITS: usize = 8;
/// The largest possible size of an object (`PTRDIFF_MAX`).
pub const LARGEST: u64 = i64::MAX as u64;
/// The factors and constants of a bound are smaller than this.
const SMALL: i128 = 1 << 40;

impl Limit {
    /// The bound `v + more <= reach`.
    pub fn new(object: u32, reach: Reach, more: i64) -> Self {
        Self { object, reach, times: 1, more, is_exact: false }
    }
    /// The same bound as an equality.
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
    /// The largest value that satisfies the bound for the largest possible object.
    pub fn most(&self) -> u128 {
        ((i128::from(LARGEST) - i128::from(self.more)).max(0) / i128::from(self.times)) as u128
    }
    /// The largest value that satisfies the bound if the length is at most `reach`.
    pub fn most_of(&self, reach: u64) -> Option<u64> {
        let most = (i128::from(reach) - i128::from(self.more)) / i128::from(self.times);
        u64::try_from(most).ok()
    }
    /// The bound of `v + k` for any `k <= by`, where `v` satisfies this one.
    pub fn plus(self, by: u64) -> Option<Self> {
        self.with(self.times.into(), i128::from(self.more) - i128::from(self.times) * i128::from(by))
    }
    /// The bound of `v - k` for any `k >= by`, where `v` satisfies this one.
    pub fn minus(self, by: u64) -> Option<Self> {
        self.with(self.times.into(), i128::from(self.more) + i128::from(self.times) * i128::from(by))
    }
    /// The bound of `by * v`, where `v` satisfies this one.
    fn multiplied(self, by: u64) -> Option<Self> {
        (by > 0 && self.times.is_multiple_of(by)).then(|| Self { times: self.times / by, ..self })
    }
    /// The bound of `v`, where `by * v` satisfies this one.
    pub fn divided(self, by: u64) -> Option<Self> {
        self.with(i128::from(self.times) * i128::from(by), self.more.into())
    }
    /// The bound of a value that is less than `v` by at least `by`.
    pub fn below(self, by: u64) -> Option<Self> {
        self.about().minus(by)
    }
    /// True if this bound is an equality, and `other` satisfies it as an inequality: `times * other + more <= reach`.
    pub fn is_passed_by(&self, other: &Value) -> bool {
        let least = i128::from(self.times) * i128::from(other.range.high) + i128::from(self.more);
        self.is_exact && (least <= 0 || other.limits.iter().any(|l| l.key() == self.key() && l.more >= self.more))
    }
    /// The bound of a value that is at most `v`.
    pub fn up_to(self) -> Self {
        self.about()
    }
}

/// The offset bounds of one number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Limits(Option<Rc<[Limit]>>);

impl Limits {
    /// No bounds.
    pub const NONE: Self = Self(None);

    /// True if there are no bounds.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
    /// The bounds.
    pub fn iter(&self) -> impl Iterator<Item = Limit> + '_ {
        self.0.iter().flat_map(|limits| limits.iter().copied())
    }
    /// Keeps the strongest bound for each object, length and factor, up to the maximal number. An equality implies each
    /// inequality that does not contradict it.
    fn strongest(limits: impl IntoIterator<Item = Limit>) -> Self {
        let mut all: Vec<Limit> = limits.into_iter().collect();
        all.sort_unstable_by_key(|l| (l.key(), std::cmp::Reverse((l.is_exact, l.more))));
        all.dedup_by_key(|l| l.key());
        all.truncate(LIMITS);
        Self((!all.is_empty()).then(|| all.into()))
    }
    /// Applies `f` to each bound, and drops those for which it returns `None`.
    pub fn map(&self, f: impl FnMut(Limit) -> Option<Limit>) -> Self {
        if self.is_empty() { Self::NONE } else { Self::strongest(self.iter().filter_map(f)) }
    }
    /// The bounds of a number that is at most this one.
    pub fn up_to(&self) -> Self {
        self.map(|l| Some(l.up_to()))
    }
    /// Adds a bound.
    pub fn with(&self, limit: Limit) -> Self {
        Self::strongest(self.iter().chain([limit]))
    }
    /// The bounds of both.
    pub fn both(&self, o: &Self) -> Self {
        match (self.is_empty(), o.is_empty()) {
            (_, true) => self.clone(),
            (true, _) => o.clone(),
            _ => Self::strongest(self.iter().chain(o.iter())),
        }
    }
    /// The bounds of the value of `a op b`.
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
            // The result is at most the operand.
            BinOp::And => a.limits.up_to().both(&b.limits.up_to()),
            BinOp::LShr | BinOp::UDiv | BinOp::URem if op != BinOp::UDiv || !b.contains(0) => a.limits.up_to(),
            _ => Self::NONE,
        }
    }

    /// The bounds of a sum. A bound is kept if the sum does not wrap around while it holds.
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
    /// The bounds of a difference.
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
    /// The bounds of a product with a constant.
    fn product(a: &Value, by: u64) -> Self {
        let full = (1u128 << a.width()) - 1;
        a.limits.map(|l| {
            let most = u128::from(a.range.high).min(l.most());
            l.multiplied(by).filter(|_| most.checked_mul(by.into()).is_some_and(|most| most <= full))
        })
    }
    /// The bounds of the join of `a` and `b`, which are values in two states.
    pub fn joined(a: &Value, b: &Value, how: &dyn Reaches) -> Self {
        if a.limits.is_empty() && b.limits.is_empty() {
            return Self::NONE;
        }
        // A side without the bound satisfies a weaker one, by the least length there.
        let implied = |value: &Value, limit: Limit, least: u64| {
            let more = i128::from(least) - i128::from(limit.times) * i128::from(value.range.high);
            limit.with(limit.times.into(), more).map(Limit::about)
        };
        let other = |limit: Limit, value: &Value, least: Option<u64>| {
            // The object does not exist there.
            let Some(least) = least else { return Some(limit) };
            let said = value.limits.iter().find(|l| l.key() == limit.key());
            let found = said.or_else(|| implied(value, limit, least))?;
            let is_exact = limit.is_exact && found.is_exact && limit.more == found.more;
            Some(Limit { more: limit.more.min(found.more), is_exact, ..limit })
        };
        let kept = |limit: &Limit| how.stays(limit.object, limit.reach, how.owner() == Some(limit.object));
        let of_a = a.limits.iter().filter(kept).filter_map(|l| other(l, b, how.right_least(&l)));
        let of_b = b.limits.iter().filter(kept).filter_map(|l| other(l, a, how.left_least(&l)));
        // Each result is correct, but the weaker of two bounds with one key was joined with its counterpart.
        Self::strongest(of_a.chain(of_b))
    }
    /// The bounds of `before` that still hold in `joined`, with those that only the range of `before` implies, and those
    /// by objects that do not exist before.
    pub fn widened(before: &Value, joined: &Value, how: &dyn Reaches) -> Self {
        let implies =
            |value: &Value, l: &Limit| -(i128::from(l.times) * i128::from(value.range.high)) >= i128::from(l.more);
        let is_old = |l: &Limit| {
            before.limits.iter().any(|b| b.key() == l.key() && b.more <= l.more)
                || implies(before, l) && !implies(joined, l)
                || how.left_least(l).is_none()
        };
        if joined.limits.is_empty() { Self::NONE } else { Self::strongest(joined.limits.iter().filter(is_old)) }
    }
    /// The bounds without those that are lost; `None` if none is.
    pub fn without(&self, is_lost: &dyn Fn(&Limit) -> bool) -> Option<Self> {
        self.iter().any(|l| is_lost(&l)).then(|| self.map(|l| Some(l).filter(|l| !is_lost(l))))
    }
}

/// A value refined by its offset bounds. `most` returns the largest possible length that a bound refers to, if known.
pub fn within(value: &Value, most: &dyn Fn(&Limit) -> Option<u64>) -> Value {
    let most = value.limits.iter().filter_map(|l| l.most_of(most(&l)?)).min();
    let bounds = most.filter(|most| *most < value.range.high).and_then(|most| Bounds::unsigned(value.width(), 0, most));
    bounds.and_then(Value::of_range).and_then(|v| value.meet(&v)).unwrap_or_else(|| value.clone())
}

/// Determines the offset bounds after a join of two states.
pub trait Reaches {
    /// A lower bound on the length that a bound refers to, in the first state. `None` if its object does not exist
    /// there, so that the bound holds vacuously.
    fn left_least(&self, limit: &Limit) -> Option<u64>;
    /// Like `left_least`, in the second state.
    fn right_least(&self, limit: &Limit) -> Option<u64>;
    /// True if this length of the object is defined in both states. `owns` states that the bound is that of an offset
    /// within the object itself, so that the number may represent several objects.
    fn stays(&self, object: u32, reach: Reach, owns: bool) -> bool;
    /// The object in which the joined values are offsets.
    fn owner(&self) -> Option<u32> {
        None
    }
}

/// The values are offsets within an object.
pub struct Within<'a> {
    /// The rule for bounds by other objects.
    pub how: &'a dyn Reaches,
    /// The object.
    pub object: u32,
}

impl Reaches for Within<'_> {
    fn left_least(&self, limit: &Limit) -> Option<u64> {
        self.how.left_least(limit)
    }
    fn right_least(&self, limit: &Limit) -> Option<u64> {
        self.how.right_least(limit)
    }
    fn stays(&self, object: u32, reach: Reach, owns: bool) -> bool {
        self.how.stays(object, reach, owns)
    }
    fn owner(&self) -> Option<u32> {
        Some(self.object)
    }
}

/// Both values are from the same state.
pub struct Same;

impl Reaches for Same {
    fn left_least(&self, _limit: &Limit) -> Option<u64> {
        Some(0)
    }
    fn right_least(&self, _limit: &Limit) -> Option<u64> {
        Some(0)
    }
    fn stays(&self, _object: u32, _reach: Reach, _owns: bool) -> bool {
        true
    }
}
