//! Values as addresses: their targets.

use super::congruence::Congruence;
use super::limits::{Limit, Reach, Reaches, Within, within};
use crate::invariant::value::Value;
use crate::semantics::range as addresses;
use cfa::interp::function_address;
use cfa::{BinOp, FuncId};
use smt::bounds::Bounds;
use std::cmp::Ordering;
use std::rc::Rc;

/// The target objects in ascending order, each with the possible offsets (of pointer width) from its start.
pub type Targets = Rc<[(u32, Value)]>;

/// The pseudo-object of null, and of other numbers that are no address of an object, possibly after pointer arithmetic.
/// Its offsets are the numbers themselves. After a successful access, its address has another target.
pub const NULL: u32 = u32::MAX;

/// Largest number of targets of an address, including null.
const TARGETS: usize = 64;

impl Value {
    /// The address of the start of an object.
    pub fn address(range: Bounds, align: u32, object: u32) -> Self {
        let zero = Self::constant(range.width, 0);
        let congruence = Congruence::new(u128::from(align.max(1)), 0);
        let plain = Self { targets: Some(Rc::new([(object, zero)])), ..Self::numbers_of(range, congruence) };
        plain.clone().reduced().unwrap_or(plain)
    }
    /// The same value, as the address of the start of an object.
    pub fn leading_to(&self, object: u32) -> Self {
        Self { targets: Some(Rc::new([(object, Self::constant(self.width(), 0))])), ..self.clone() }
    }
    /// The same value without known targets.
    pub fn untargeted(&self) -> Self {
        Self { targets: None, ..self.clone() }
    }
    /// The same value with an offset bound on its offset within an object.
    pub fn limited_at(&self, object: u32, limit: Limit) -> Self {
        let limited = |(o, at): &(u32, Self)| (*o, if *o == object { at.limited(limit) } else { at.clone() });
        let targets = self.targets.as_ref().map(|targets| targets.iter().map(limited).collect());
        Self { targets, ..self.clone() }
    }
    /// The difference of two addresses within one object.
    pub fn distance(&self, o: &Self, is_one: &dyn Fn(u32) -> bool) -> Option<Self> {
        let ([(object, at)], [(other, from)]) = (self.targets.as_deref()?, o.targets.as_deref()?) else {
            return None;
        };
        let is_it = object == other && is_one(*object) && !self.contains(0) && !o.contains(0);
        is_it.then(|| Self::apply(BinOp::Sub, at, from))
    }
    /// The targets of either address, which are values in two states. `op` combines the offsets within common objects.
    pub(in crate::invariant) fn either(
        &self,
        o: &Self,
        how: &dyn Reaches,
        op: impl Fn(u32, &Self, &Self) -> Self,
    ) -> Option<Targets> {
        if self.targets.is_none() && o.targets.is_none() {
            return None;
        }
        let (a, b) = (leads_to(self)?, leads_to(o)?);
        let one_sided = |object: u32, at: &Self| (object, at.one_sided(&Within { how, object }));
        let mut all: Vec<(u32, Self)> = Vec::with_capacity(a.len() + b.len());
        let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
        loop {
            let order = match (a.peek(), b.peek()) {
                (Some((x, _)), Some((y, _))) => x.cmp(y),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let first = if order.is_le() { a.next() } else { None };
            let second = if order.is_ge() { b.next() } else { None };
            all.push(match (first, second) {
                (Some((object, x)), Some((_, y))) => (*object, op(*object, x, y)),
                (Some((object, at)), None) | (None, Some((object, at))) => one_sided(*object, at),
                (None, None) => unreachable!("one of them is next"),
            });
        }
        (all.len() <= TARGETS).then(|| all.into())
    }

    /// The targets of an address after pointer arithmetic, if `by` is no distance between objects.
    pub(in crate::invariant) fn moved(&self, op: BinOp, by: &Self) -> Option<Targets> {
        let targets = self.targets.as_ref()?;
        let may_be_null = matches!(targets.last(), Some((NULL, _)));
        if by.targets.is_some() || may_be_null && may_be_address(by) {
            return None;
        }
        let by = by.untargeted();
        let moved = |(object, at): &(u32, Value)| (*object, Self::apply(op, at, &by));
        Some(targets.iter().map(moved).collect())
    }

    /// The value of an address after an access of `bytes` bytes at offset `by` from it: the access is within the
    /// object. `most` returns the largest possible size of an object.
    pub fn accessed(&self, by: &Self, bytes: u64, most: impl Fn(u32) -> u64) -> Self {
        let Some(targets) = &self.targets else { return self.clone() };
        let width = self.width();
        let full = Bounds::full(width);
        let is_distance = |v: i128| i128::from(full.min) <= v && v <= i128::from(full.max);
        let within = |(object, at): &(u32, Self)| {
            if *object == NULL {
                return None;
            }
            let first = -i128::from(by.range.max);
            let last = i128::from(most(*object)) - i128::from(bytes) - i128::from(by.range.min);
            if !is_distance(first) || !is_distance(last) {
                return Some((*object, at.clone()));
            }
            let bounds = Bounds::signed(width, first as i64, last as i64)?;
            Some((*object, at.meet(&Self::of_range(bounds)?)?))
        };
        let left: Targets = targets.iter().filter_map(within).collect();
        // If no target remains, the access is never valid, and the code after it is unreachable.
        if left.is_empty() { self.clone() } else { Self { targets: Some(left), ..self.clone() } }
    }
}

impl Value {
    /// The value of an address after an access of `bytes` bytes at it, which was valid.
    pub fn reaching(&self, bytes: u64) -> Self {
        let Ok(bytes) = i64::try_from(bytes) else { return self.clone() };
        let reaching = |(object, at): &(u32, Self)| match *object {
            NULL => (NULL, at.clone()),
            object => (object, at.limited(Limit::new(object, Reach::Size, bytes))),
        };
        let targets = self.targets.as_ref().map(|targets| targets.iter().map(reaching).collect());
        Self { targets, ..self.clone() }
    }
}

/// An address whose offsets are refined by their offset bounds. The address itself is refined as well, since objects
/// and functions lie between `low` and `high`.
pub fn leading_within(value: &Value, most: &dyn Fn(u32, &Limit) -> Option<u64>, (low, high): (u64, u64)) -> Value {
    let is_limited = |targets: &&Targets| targets.iter().any(|(_, at)| !at.limits.is_empty());
    let Some(targets) = value.targets.as_ref().filter(is_limited) else { return value.clone() };
    let at_most = |(object, at): &(u32, Value)| (*object, within(at, &|limit| most(*object, limit)));
    let targets: Targets = targets.iter().map(at_most).collect();
    let furthest = |(object, at): &(u32, Value)| (*object != NULL).then_some(at.range.high);
    let furthest: Option<Vec<u64>> = targets.iter().map(furthest).collect();
    let last = furthest.and_then(|all| all.into_iter().max()).and_then(|most| high.checked_add(most));
    let bounds = last.and_then(|last| Bounds::unsigned(value.width(), low, last));
    let now = bounds.and_then(|bounds| value.meet(&Value::of_range(bounds)?)).unwrap_or_else(|| value.clone());
    Value { targets: Some(targets), ..now }
}

/// Restricts the offset of an address within an object. `None` if nothing changes.
pub fn confined(value: &Value, object: u32, (low, high): (u64, u64)) -> Option<Value> {
    let high = high.min(Bounds::full(value.width()).high);
    let bounds = Value::of_range(Bounds::unsigned(value.width(), low, high)?)?;
    let confined = |(o, at): &(u32, Value)| {
        let met = if *o == object { at.meet(&bounds) } else { None };
        (*o, met.unwrap_or_else(|| at.clone()))
    };
    let targets: Targets = value.targets.as_ref()?.iter().map(confined).collect();
    let now = Value { targets: Some(targets), ..value.clone() };
    (now != *value).then_some(now)
}

/// The targets of a value. Numbers outside the address range have the target null.
fn leads_to(value: &Value) -> Option<Targets> {
    let (_, high) = addresses(value.width());
    // Functions lie below all objects.
    let is_none = value.range.high < function_address(FuncId(0)) || value.range.low > high;
    value.targets.clone().or_else(|| is_none.then(|| Rc::new([(NULL, value.clone())]) as Targets))
}

/// True if the value may be the distance between two objects. An address plus this value may point to the other object.
pub fn is_wide(value: &Value) -> bool {
    let (low, high) = addresses(value.width());
    i128::from(value.range.max) - i128::from(value.range.min) >= i128::from(high - low)
}

/// True if the value may be an address whose targets are unknown. Null plus this value is no longer null.
fn may_be_address(value: &Value) -> bool {
    let (low, high) = addresses(value.width());
    low <= value.range.low && value.range.high <= high
        || i128::from(value.range.max) - i128::from(value.range.min) >= i128::from(high - low) / 2
}
