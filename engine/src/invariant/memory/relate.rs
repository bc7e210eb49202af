//! Derives offset bounds of numbers and addresses from conditions and operations.

use super::domain::Places;
use super::environment::{Environment, Rows};
use crate::invariant::memory::cells::{Count, Loss};
use crate::invariant::value::Value;
use crate::invariant::value::address::{Targets, confined};
use crate::invariant::value::congruence::gcd;
use crate::invariant::value::limits::{LARGEST, Limit, Reach};
use cfa::{BinOp, Expr, ExprId, ExprPool, UnOp, VarId};
use smt::bounds::Bounds;

/// The least positive difference between two numbers `less < greater`.
fn stride(less: &Value, greater: &Value) -> u64 {
    let (x, y) = (less.congruence, greater.congruence);
    let modulus = gcd(x.modulus, y.modulus);
    if modulus == 0 {
        return 1;
    }
    match (y.rest % modulus + modulus - x.rest % modulus) % modulus {
        0 => u64::try_from(modulus).unwrap_or(1),
        apart => apart as u64,
    }
}

/// The bounds of a number that differs from another one, if the latter is one of its bounds.
fn except(number: &Value, other: &Value) -> Option<(u64, u64)> {
    let (other, low, high) = (other.as_constant()?, number.range.low, number.range.high);
    match (low == other, high == other) {
        (true, false) => Some((low + 1, high)),
        (false, true) => Some((low, high - 1)),
        _ => None,
    }
}

/// The largest number with `width` bits.
fn full(width: u32) -> u64 {
    Bounds::full(width).high
}

impl Environment {
    /// Executes an operation that writes memory at some places, and drops must-relations that it invalidates.
    pub(in crate::invariant) fn writing(
        &mut self,
        rows: &Rows,
        pool: &ExprPool,
        places: &Places,
        write: impl FnOnce(&mut Self),
    ) {
        let is_written = |object: u32| match places {
            Places::Known(targets) => targets.iter().any(|(o, _)| *o == object),
            Places::Objects(objects) => objects.contains(&object),
        };
        self.keep_contents(rows, pool, &is_written);
        self.keeping_reads(rows, pool, &is_written, write);
    }

    /// Drops the facts about objects that a callee may have written.
    pub(in crate::invariant) fn lose_written(&mut self, rows: &Rows, pool: &ExprPool, lost: &[(u32, Loss)]) {
        let is_lost = |object: u32| lost.iter().any(|(lost, _)| *lost == object);
        self.keeping_reads(rows, pool, &is_lost, |env| env.lose(lost));
    }

    /// Drops facts about objects whose contents have not changed.
    pub(in crate::invariant) fn lose_said(&mut self, lost: &[(u32, Loss)]) {
        let reads = self.recent.reads.clone();
        self.lose(lost);
        self.recent.reads = reads;
    }

    /// Executes a change to some objects, and drops the reads from them.
    fn keeping_reads(
        &mut self,
        rows: &Rows,
        pool: &ExprPool,
        is_touched: &dyn Fn(u32) -> bool,
        change: impl FnOnce(&mut Self),
    ) {
        let is_elsewhere = |address: ExprId| {
            let targets = self.eval(rows, pool, address).and_then(|value| value.targets);
            targets.is_some_and(|targets| targets.iter().all(|(object, _)| !is_touched(*object)))
        };
        let reads = &self.recent.reads;
        let kept: Vec<_> = reads.iter().filter(|(_, address)| is_elsewhere(*address)).copied().collect();
        change(self);
        self.recent.reads = kept;
    }

    /// Drops the variables that hold the contents of written objects.
    pub(in crate::invariant) fn keep_contents(
        &mut self,
        rows: &Rows,
        pool: &ExprPool,
        is_written: &dyn Fn(u32) -> bool,
    ) {
        let mut recent = std::mem::take(&mut self.recent);
        recent.written(&|address| {
            let targets = self.eval(rows, pool, address).and_then(|value| value.targets);
            targets.is_some_and(|targets| targets.iter().all(|(object, _)| !is_written(*object)))
        });
        self.recent = recent;
    }

    /// Derives offset bounds from a condition that holds, or does not hold.
    pub(in crate::invariant) fn relate(&mut self, rows: &Rows, pool: &ExprPool, cond: ExprId, holds: bool) {
        match *pool.get(cond) {
            Expr::Unary(UnOp::Not, inner) => self.relate(rows, pool, inner, !holds),
            Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) if (op == BinOp::And) == holds => {
                self.relate(rows, pool, a, holds);
                self.relate(rows, pool, b, holds);
            }
            Expr::Binary(op @ (BinOp::Ule | BinOp::Ult | BinOp::Sle | BinOp::Slt), a, b) if pool.width(a) <= 64 => {
                let is_strict = matches!(op, BinOp::Ult | BinOp::Slt);
                let is_signed = matches!(op, BinOp::Sle | BinOp::Slt);
                match holds {
                    true => self.at_most(rows, pool, (a, b), is_strict, is_signed),
                    false => self.at_most(rows, pool, (b, a), !is_strict, is_signed),
                }
            }
            Expr::Binary(BinOp::Eq, a, b) if pool.width(a) <= 64 => {
                if !holds {
                    self.separate_gaps(rows, pool, (a, b));
                    self.separate_gaps(rows, pool, (b, a));
                }
                let pairs = self.compared(rows, pool, a, b);
                for (object, x, y) in pairs {
                    // Transfer the bounds of each side to the other. If the sides differ, a value below a length is
                    // below it by the stride.
                    let of = |this: &Limit, other: &Value, by: u64| match holds {
                        true => Some(*this),
                        false if this.is_passed_by(other) => this.below(by),
                        false => None,
                    };
                    for limit in x.limits.iter().filter_map(|l| of(&l, &y, stride(&y, &x))) {
                        self.limit_side(rows, pool, b, object, limit);
                    }
                    for limit in y.limits.iter().filter_map(|l| of(&l, &x, stride(&x, &y))) {
                        self.limit_side(rows, pool, a, object, limit);
                    }
                    if let Some(object) = object {
                        for (side, this, other) in [(a, &x, &y), (b, &y, &x)] {
                            let left =
                                if holds { Some((other.range.low, other.range.high)) } else { except(this, other) };
                            if let Some(ends) = left {
                                self.confine(rows, pool, side, object, ends);
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// The sides of a comparison as numbers, and also as offsets if both point into one object.
    fn compared(&self, rows: &Rows, pool: &ExprPool, a: ExprId, b: ExprId) -> Vec<(Option<u32>, Value, Value)> {
        let (Some(x), Some(y)) = (self.eval(rows, pool, a), self.eval(rows, pool, b)) else { return Vec::new() };
        let mut found = Vec::new();
        if let (Some([(object, at)]), Some([(other, to)])) = (x.targets.as_deref(), y.targets.as_deref())
            && object == other
            && self.is_one(*object)
            && !x.contains(0)
            && !y.contains(0)
        {
            found.push((Some(*object), at.clone(), to.clone()));
        }
        found.push((None, x, y));
        found
    }

    fn limit_side(&mut self, rows: &Rows, pool: &ExprPool, e: ExprId, object: Option<u32>, limit: Limit) {
        match object {
            Some(object) => self.limit_at(rows, pool, e, object, limit),
            None => self.limit(rows, pool, e, limit),
        }
    }

    /// Applies `a <= b`, or `a < b` if strict.
    fn at_most(&mut self, rows: &Rows, pool: &ExprPool, (a, b): (ExprId, ExprId), is_strict: bool, is_signed: bool) {
        self.narrow_gaps(rows, pool, (a, b), is_strict, is_signed);
        for (object, x, y) in self.compared(rows, pool, a, b) {
            let is_order = match object {
                // The order of addresses is that of offsets if none wraps around: in 64 bits, objects lie in the lower
                // half.
                Some(_) => x.width() == 64 && !is_signed && x.range.min >= 0 && y.range.min >= 0,
                None => !is_signed || x.range.min >= 0,
            };
            if !is_order {
                continue;
            }
            if object.is_none() {
                self.recent.ordered(pool, a, b);
            }
            let by = if is_strict { stride(&x, &y) } else { 0 };
            for limit in y.limits.iter().filter_map(|limit| limit.below(by)) {
                self.limit_side(rows, pool, a, object, limit);
            }
            if let (Some(object), Some(most), Some(least)) =
                (object, y.range.high.min(LARGEST).checked_sub(by), x.range.low.checked_add(by))
            {
                self.confine(rows, pool, a, object, (0, most));
                self.confine(rows, pool, b, object, (least, LARGEST));
            }
        }
    }

    /// Restricts the offset of an address within an object to `ends`, and those of the variables and cells that are
    /// computed from it.
    pub(super) fn confine(&mut self, rows: &Rows, pool: &ExprPool, e: ExprId, object: u32, ends: (u64, u64)) {
        // The shifted bounds, if the shift does not wrap around.
        let moved = |(low, high): (u64, u64), by: i64| {
            let ends = [low, high].map(|end| i64::try_from(end).ok()?.checked_add(by));
            let [Some(low), Some(high)] = ends else { return None };
            (high >= 0).then_some((low.max(0) as u64, high as u64))
        };
        match *pool.get(e) {
            Expr::Var(var) => {
                let Some(value) = self.get(rows, var) else { return };
                let Some(now) = confined(value, object, ends) else { return };
                self.limit_var(rows, var, now);
                let ends_of_sum = |by: u64| {
                    let by = Bounds::constant(pool.width(e), by).min;
                    let is_moved =
                        i64::try_from(ends.0).is_ok_and(|low| low.checked_add(by).is_some_and(|low| low >= 0));
                    moved(ends, by).filter(|_| is_moved)
                };
                for (sum, _, by) in self.recent.sums.clone().into_iter().filter(|(_, of, _)| *of == var) {
                    let now = ends_of_sum(by).and_then(|e| confined(self.get(rows, sum)?, object, e));
                    if let Some(now) = now {
                        self.limit_var(rows, sum, now);
                    }
                }
                for (_, by, cell) in self.recent.copies.clone().into_iter().filter(|(of, ..)| *of == var) {
                    let cells = &mut self.memory.cells;
                    let now = ends_of_sum(by).and_then(|e| confined(cells.get(cell as usize)?, object, e));
                    if now.is_some() {
                        cells.set(cell as usize, now);
                    }
                }
            }
            Expr::Binary(BinOp::Add, a, b) => {
                let (Some(value), Some(by)) = (self.eval(rows, pool, a), self.eval(rows, pool, b)) else { return };
                let (Some([(_, at)]), Some(_)) = (value.targets.as_deref(), by.as_constant()) else { return };
                let by = by.range.min;
                let stays = at.range.min >= 0 && at.range.min.checked_add(by).is_some_and(|low| low >= 0);
                if stays
                    && at.range.max.checked_add(by).is_some()
                    && let Some(ends) = by.checked_neg().and_then(|by| moved(ends, by))
                {
                    self.confine(rows, pool, a, object, ends);
                }
            }
            _ => {}
        }
    }

    /// A byte that is not null lies before the null byte of its object. Applies this to all recorded reads; `cond` is a
    /// condition that holds.
    pub(in crate::invariant) fn relate_reads(&mut self, rows: &Rows, pool: &ExprPool, cond: Option<ExprId>) {
        for (read, address) in self.recent.reads.clone() {
            let may_be_null = self.get(rows, read.var).is_none_or(|value| value.contains(0));
            let is_excluded = |cond| {
                self.eval_given(rows, pool, cond, (read.var, Value::constant(read.width, 0)))
                    .is_some_and(|v| !v.contains(1))
            };
            if may_be_null && !cond.is_some_and(is_excluded) {
                continue;
            }
            let Some(targets) = self.eval(rows, pool, address).and_then(|value| value.targets) else { continue };
            for (object, at) in targets.iter() {
                let Some(status) = self.memory.status(*object).filter(|status| status.count != Count::None) else {
                    continue;
                };
                for (reach, null) in [(Reach::Null, status.null), (Reach::Seen, status.seen.map(|(least, _)| least))] {
                    let is_it = |l: &Limit| l.object == *object && l.reach == reach && l.more >= 0;
                    if null.is_some_and(|null| at.range.high <= null || at.limits.iter().any(|l| is_it(&l))) {
                        self.limit_at(rows, pool, address, *object, Limit::new(*object, reach, 1));
                    }
                }
            }
        }
    }

    /// A recorded read of a null byte determines the observed null byte of its object.
    pub(in crate::invariant) fn see_nulls(&mut self, rows: &Rows, pool: &ExprPool) {
        for (read, address) in self.recent.reads.clone() {
            if self.get(rows, read.var).and_then(Value::as_constant) != Some(0) {
                continue;
            }
            let Some(targets) = self.eval(rows, pool, address).and_then(|value| value.targets) else { continue };
            let [(object, at)] = &targets[..] else { continue };
            let seen = Limit::new(*object, Reach::Seen, 0).exact();
            if at.limits.iter().any(|l| l == seen) || !self.is_one(*object) {
                continue;
            }
            // If no other null byte is known, this is the known one.
            let is_first = self.memory.status(*object).is_some_and(|status| status.null.is_none());
            let lost = [(*object, Loss::Seen), (*object, Loss::Null)];
            self.lose_said(if is_first { &lost } else { &lost[..1] });
            self.memory.change(*object, |status| {
                status.seen = Some((at.range.low, at.range.high));
                status.null = status.null.or(Some(at.range.low));
            });
            self.limit_at(rows, pool, address, *object, seen);
            if is_first {
                self.limit_at(rows, pool, address, *object, Limit { reach: Reach::Null, ..seen });
            }
        }
    }

    /// Refines the lengths of objects by a value that has exact offset bounds.
    pub(in crate::invariant) fn bound_reaches(&mut self, value: &Value) {
        for limit in value.limits.iter().filter(|limit| limit.is_exact) {
            let of = |v: u64| i128::from(limit.times) * i128::from(v) + i128::from(limit.more);
            let (Ok(least), most) = (u64::try_from(of(value.range.low).max(0)), of(value.range.high)) else { continue };
            let most = u64::try_from(most).unwrap_or(if most < 0 { 0 } else { u64::MAX });
            if !self.is_one(limit.object) {
                continue;
            }
            self.memory.change(limit.object, |status| match limit.reach {
                Reach::Size => (status.size, status.most) = (status.size.max(least), status.most.min(most)),
                Reach::Null => status.null = status.null.map(|null| null.max(least)),
                Reach::Seen => status.seen = status.seen.map(|(low, high)| (low.max(least), high.min(most))),
            });
        }
    }

    /// Sets the refined targets of a variable, which holds an address, and of the cells that it equals.
    pub(super) fn lead_to(&mut self, rows: &Rows, var: VarId, targets: Targets) {
        if let Some(value) = self.get(rows, var).filter(|value| value.targets.as_ref() != Some(&targets)) {
            let value = Value { targets: Some(targets), ..value.clone() };
            self.limit_var(rows, var, value);
        }
    }

    /// Sets the refined value of a variable, and of the cells that it equals.
    fn limit_var(&mut self, rows: &Rows, var: VarId, value: Value) {
        for cell in self.recent.cells_of(var).collect::<Vec<u32>>() {
            self.memory.cells.set(cell as usize, Some(value.clone()));
        }
        self.set(rows, var, Some(value));
    }

    /// Adds an offset bound to an expression, as a number.
    pub(in crate::invariant) fn limit(&mut self, rows: &Rows, pool: &ExprPool, e: ExprId, limit: Limit) {
        let width = pool.width(e);
        if width > 64 {
            return;
        }
        let value = |env: &Self, e: ExprId| env.eval(rows, pool, e).unwrap_or_else(|| Value::full(pool.width(e)));
        match *pool.get(e) {
            Expr::Var(var) => {
                let now = value(self, e);
                if now.limits.iter().any(|l| l == limit) {
                    return;
                }
                let fits =
                    |by: u64| u128::from(now.range.high).min(limit.most()) + u128::from(by) <= full(width).into();
                self.limit_var(rows, var, now.limited(limit));
                for (sum, _, by) in self.recent.sums.clone().into_iter().filter(|(_, of, _)| *of == var) {
                    if let Some(limit) = limit.plus(by).filter(|_| fits(by)) {
                        let now = self.get(rows, sum).cloned().unwrap_or_else(|| Value::full(width));
                        self.limit_var(rows, sum, now.limited(limit));
                    }
                }
            }
            Expr::Zext { arg, .. } => self.limit(rows, pool, arg, limit),
            Expr::Sext { arg, .. } if value(self, arg).range.min >= 0 => self.limit(rows, pool, arg, limit),
            Expr::Binary(BinOp::Add, a, b) => {
                let (x, y) = (value(self, a), value(self, b));
                if let Some(by) = y.as_constant().filter(|_| y.range.max < 0).map(|by| by.wrapping_neg() & full(width))
                {
                    if let Some(limit) = limit.plus(by).filter(|_| x.range.low >= by) {
                        self.limit(rows, pool, a, limit);
                    }
                } else if x.range.high.checked_add(y.range.high).is_some_and(|most| most <= full(width)) {
                    for (side, other) in [(a, y), (b, x)] {
                        let is_constant = other.as_constant().is_some();
                        if let Some(limit) = limit.minus(other.range.low) {
                            self.limit(rows, pool, side, if is_constant { limit } else { limit.up_to() });
                        }
                    }
                }
            }
            Expr::Binary(op @ (BinOp::Mul | BinOp::Shl), a, b) => {
                let constant = |e: ExprId| value(self, e).as_constant();
                let (a, by) = match constant(b) {
                    None if op == BinOp::Mul => (b, constant(a)),
                    by => (a, by),
                };
                let by = if op == BinOp::Shl { by.filter(|by| *by < 63).map(|by| 1 << by) } else { by };
                let high = value(self, a).range.high;
                if let Some(by) =
                    by.filter(|by| *by > 0 && high.checked_mul(*by).is_some_and(|most| most <= full(width)))
                    && let Some(limit) = limit.divided(by)
                {
                    self.limit(rows, pool, a, limit);
                }
            }
            _ => {}
        }
    }

    /// Adds an offset bound to the offset of an address within an object.
    pub(in crate::invariant) fn limit_at(
        &mut self,
        rows: &Rows,
        pool: &ExprPool,
        e: ExprId,
        object: u32,
        limit: Limit,
    ) {
        let Some(value) = self.eval(rows, pool, e) else { return };
        match *pool.get(e) {
            Expr::Var(var) => {
                let limited = value.limited_at(object, limit);
                if limited == value {
                    return;
                }
                self.limit_var(rows, var, limited);
                for (sum, _, by) in self.recent.sums.clone().into_iter().filter(|(_, of, _)| *of == var) {
                    if let Some(limit) = limit.plus(by)
                        && let Some(now) = self.get(rows, sum).cloned()
                    {
                        // The sum may wrap around to a smaller value.
                        let limit = if by == 0 { limit } else { limit.up_to() };
                        self.limit_var(rows, sum, now.limited_at(object, limit));
                    }
                }
            }
            Expr::Binary(BinOp::Add, a, b) => {
                let (Some(x), Some(y)) = (self.eval(rows, pool, a), self.eval(rows, pool, b)) else { return };
                let (base, targets, offset, by) = match (x.targets.as_deref(), y.targets.as_deref()) {
                    (Some(targets), None) => (a, targets, b, &y),
                    (None, Some(targets)) => (b, targets, a, &x),
                    _ => return,
                };
                let Some((_, at)) = targets.iter().find(|(of, _)| *of == object) else { return };
                // The sum of distances does not wrap around.
                let most = at.range.high.checked_add(by.range.high).filter(|most| *most <= full(pool.width(e)));
                if most.is_none() {
                    return;
                }
                // A number is bounded by a length of one object only, to which the address certainly leads.
                let is_certain = targets.len() == 1 && self.is_one(object);
                if let Some(limit) = limit.minus(at.range.low).filter(|_| is_certain) {
                    let is_exact = limit.is_exact && at.as_constant().is_some();
                    self.limit(rows, pool, offset, Limit { is_exact, ..limit });
                }
                if let Some(limit) = limit.minus(by.range.low) {
                    let is_exact = limit.is_exact && by.as_constant().is_some();
                    self.limit_at(rows, pool, base, object, Limit { is_exact, ..limit });
                }
            }
            _ => {}
        }
    }
}
