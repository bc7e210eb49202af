//! Values as addresses: where they lead to.

use super::congruence::Congruence;
use super::limits::{Limit, within};
use crate::invariant::value::Value;
use crate::semantics::range as addresses;
use cfa::interp::function_address;
use cfa::{BinOp, FuncId};
use smt::bounds::Bounds;
use std::rc::Rc;

/// Objects, ascending, each with the distances (of pointers' width) from its start.
pub type Targets = Rc<[(u32, Value)]>;

/// The object of what is null or another number that is nobody's address, or what such a one was moved to: its distances are the numbers.
/// What is executed behind an access had an address that leads elsewhere.
pub const NULL: u32 = u32::MAX;

/// Objects of an address, at most, null among them.
const TARGETS: usize = 13;

impl Value {
    /// The address of what lies at the start of an object.
    pub fn address(range: Bounds, align: u32, object: u32) -> Self {
        let zero = Self::constant(range.width, 0);
        let congruence = Congruence::new(u128::from(align.max(1)), 0);
        let plain = Self { targets: Some(Rc::new([(object, zero)])), ..Self::numbers_of(range, congruence) };
        plain.clone().reduced().unwrap_or(plain)
    }
    /// The same as the start of an object.
    pub fn leading_to(&self, object: u32) -> Self {
        Self { targets: Some(Rc::new([(object, Self::constant(self.width(), 0))])), ..self.clone() }
    }
    /// The same of which it is not known where it leads to.
    pub fn untargeted(&self) -> Self {
        Self { targets: None, ..self.clone() }
    }
    /// The same, where the distance from an object has a limit.
    pub fn limited_at(&self, object: u32, limit: Limit) -> Self {
        let limited = |(o, at): &(u32, Self)| (*o, if *o == object { at.limited(limit) } else { at.clone() });
        let targets = self.targets.as_ref().map(|targets| targets.iter().map(limited).collect());
        Self { targets, ..self.clone() }
    }
    /// How far it is from one place of an object to another.
    pub fn distance(&self, o: &Self, is_one: &dyn Fn(u32) -> bool) -> Option<Self> {
        let ([(object, at)], [(other, from)]) = (self.targets.as_deref()?, o.targets.as_deref()?) else {
            return None;
        };
        let is_it = object == other && is_one(*object) && !self.contains(0) && !o.contains(0);
        is_it.then(|| Self::apply(BinOp::Sub, at, from))
    }
    /// What is known of either address; distances in both are put together by `op`.
    pub(in crate::invariant) fn either(&self, o: &Self, op: impl Fn(&Self, &Self) -> Self) -> Option<Targets> {
        if self.targets.is_none() && o.targets.is_none() {
            return None;
        }
        let (a, b) = (leads_to(self)?, leads_to(o)?);
        let mut all: Vec<(u32, Self)> = a.to_vec();
        for (object, at) in b.iter() {
            match all.binary_search_by_key(object, |(object, _)| *object) {
                Ok(i) => all[i].1 = op(&all[i].1, at),
                Err(i) => all.insert(i, (*object, at.clone())),
            }
        }
        (all.len() <= TARGETS).then(|| all.into())
    }

    /// Of an address that is moved.
    pub(in crate::invariant) fn moved(&self, op: BinOp, by: &Self) -> Option<Targets> {
        let targets = self.targets.as_ref()?;
        let may_be_null = matches!(targets.last(), Some((NULL, _)));
        if may_be_distance(by) || may_be_null && may_be_address(by) {
            return None;
        }
        let by = by.untargeted();
        Some(targets.iter().map(|(object, at)| (*object, Self::apply(op, at, &by))).collect())
    }

    /// The same behind an access of so many bytes at `by` from here: it is within the object, of which `most` says how large it is at most.
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
        // Otherwise it is never valid, and nothing is behind it.
        if left.is_empty() { self.clone() } else { Self { targets: Some(left), ..self.clone() } }
    }
}

/// An address whose distances are at most what their limits say; and so it is itself, as objects and functions lie between `low` and `high`.
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

/// An address of which the distance from an object has these bounds; `None` if that is no news.
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

/// Where the values lead to, if they are addresses.
fn leads_to(value: &Value) -> Option<Targets> {
    let (_, high) = addresses(value.width());
    // Functions lie below all objects.
    let is_none = value.range.high < function_address(FuncId(0)) || value.range.low > high;
    value.targets.clone().or_else(|| is_none.then(|| Rc::new([(NULL, value.clone())]) as Targets))
}

/// Whether it may be how far it is from one object to another: an address moved by that is one of the other.
fn may_be_distance(value: &Value) -> bool {
    let (low, high) = addresses(value.width());
    value.targets.is_some() || i128::from(value.range.max) - i128::from(value.range.min) >= i128::from(high - low)
}

/// Whether it is likely enough to be the address of something of which that was forgotten: null moved by that is no null any more.
fn may_be_address(value: &Value) -> bool {
    let (low, high) = addresses(value.width());
    low <= value.range.low && value.range.high <= high
        || i128::from(value.range.max) - i128::from(value.range.min) >= i128::from(high - low) / 2
}
