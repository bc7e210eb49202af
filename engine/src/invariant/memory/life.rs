//! The lifetimes of objects: allocation, release, and validity of accesses.

use super::domain::{MemoryDomain, Places};
use super::environment::{Environment, addresses_of};
use crate::invariant::memory::cells::{Cell, Content, Count, Loss, Memory, Status};
use crate::invariant::value::Value;
use crate::invariant::value::address::NULL;
use crate::invariant::value::limits::{Limit, Reach};
use cfa::{AllocKind, BinOp, EdgeId, ExprId, Family, FuncId, Op};
use smt::bounds::Bounds;
use std::rc::Rc;

/// The value of an address after older objects of a site, or the only one, got another number: each of its targets may
/// have the old or the new one.
fn aged(value: &Value, lost: &[(u32, Loss)]) -> Option<Value> {
    let older = |object: u32| {
        lost.iter().find_map(|&(o, loss)| match loss {
            Loss::Aged(older) if o == object => Some(older),
            _ => None,
        })
    };
    let targets = value.targets.as_ref()?;
    let moved: Vec<(u32, Value)> =
        targets.iter().filter_map(|(object, at)| Some(renamed((*object, at), (*object, older(*object)?)))).collect();
    (!moved.is_empty()).then(|| {
        let others = Value { targets: Some(moved.into()), limits: value.limits.clone(), ..value.clone() };
        value.join(&others)
    })
}

/// A target `from` that now has the number `to`. Of its offset bounds, those within the object remain.
fn renamed((object, at): (u32, &Value), (from, to): (u32, u32)) -> (u32, Value) {
    if object != from {
        return (object, at.clone());
    }
    let own = |limit: Limit| (limit.object == from).then_some(Limit { object: to, ..limit });
    (to, Value { limits: at.limits.map(own), ..at.clone() })
}

/// The value without invalidated facts. `None` if it has none of them, and `Some(None)` if nothing remains.
fn without(value: &Value, lost: &[(u32, Loss)]) -> Option<Option<Value>> {
    if let Some(aged) = aged(value, lost) {
        return Some(without_other(&aged, lost).unwrap_or(Some(aged)));
    }
    without_other(value, lost)
}

fn without_other(value: &Value, lost: &[(u32, Loss)]) -> Option<Option<Value>> {
    let leads_there = |(object, _): &(u32, Value)| lost.iter().any(|&(o, loss)| o == *object && loss == Loss::Object);
    if value.targets.as_ref().is_some_and(|targets| targets.iter().any(leads_there)) {
        return Some(None);
    }
    value.without(&|limit, owns| is_lost(limit, owns, lost)).map(Some)
}

/// True if the offset bound refers to an invalidated fact. `owns` states that it is that of an offset within its object.
fn is_lost(limit: &Limit, owns: bool, lost: &[(u32, Loss)]) -> bool {
    lost.iter().any(|&(object, loss)| {
        let is_of_it = match loss {
            Loss::Null => limit.reach == Reach::Null,
            Loss::Seen => limit.reach == Reach::Seen,
            Loss::Reach | Loss::Aged(_) => !owns,
            Loss::Object => true,
        };
        object == limit.object && is_of_it
    })
}

impl Environment {
    /// Like `lose`, also for a value outside the environment.
    fn lose_with(&mut self, lost: &[(u32, Loss)], value: &mut Option<Value>) {
        self.lose(lost);
        if let Some(left) = value.as_ref().and_then(|value| without(value, lost)) {
            *value = left;
        }
    }

    /// Drops facts about objects, and records this for the callers.
    pub fn lose(&mut self, lost: &[(u32, Loss)]) {
        if lost.is_empty() {
            return;
        }
        self.memory.note_lost(lost);
        // An observed null byte does not invalidate reads.
        if lost.iter().any(|&(_, loss)| loss != Loss::Seen) {
            self.recent.forget_reads();
        }
        for row in [&mut self.globals, &mut self.locals, &mut self.memory.cells] {
            let changed: Vec<(usize, Option<Value>)> =
                row.iter().filter_map(|(index, value)| Some((index, without(value, lost)?))).collect();
            for (index, value) in changed {
                row.set(index, value.filter(|v| !v.is_full()));
            }
        }
        self.memory.keep_covers(|_, cover| !is_lost(cover, false, lost));
    }
}

impl Environment {
    /// Gives an object another number, which now has `status`. It shares the number with other objects unless `is_only`.
    /// Records this for the callers.
    fn rename(&mut self, (from, to): (u32, u32), status: &Status, is_only: bool) {
        let mut lost = vec![(from, Loss::Aged(to))];
        lost.extend((!is_only).then_some((to, Loss::Reach)));
        lost.extend((!status.has(Reach::Null)).then_some((to, Loss::Null)));
        lost.extend((!status.has(Reach::Seen)).then_some((to, Loss::Seen)));
        self.memory.note_lost(&lost);
        let has = |limit: &Limit| limit.object != to || status.has(limit.reach);
        let of_number = |limit: Limit| match limit.object {
            o if o == from => is_only.then_some(Limit { object: to, ..limit }).filter(has),
            o if o == to => is_only.then_some(limit).filter(has),
            _ => Some(limit),
        };
        let is_about = |limit: &Limit| limit.object == from || limit.object == to;
        let now = |value: &Value| {
            let is_hit = |(object, at): &(u32, Value)| *object == from || at.limits.iter().any(|l| is_about(&l));
            let are_hit = value.targets.as_ref().is_some_and(|targets| targets.iter().any(is_hit));
            if !are_hit && !value.limits.iter().any(|l| is_about(&l)) {
                return None;
            }
            let limits = value.limits.map(of_number);
            let Some(targets) = &value.targets else { return Some(Value { limits, ..value.clone() }) };
            let mut all: Vec<(u32, Value)> = Vec::new();
            for (object, at) in targets.iter() {
                let (object, at) = match *object {
                    o if o == from => {
                        let (o, at) = renamed((o, at), (from, to));
                        (o, Value { limits: at.limits.map(|limit| Some(limit).filter(has)), ..at })
                    }
                    o => {
                        let kept = |limit: Limit| match (o == to, limit.object) {
                            // An offset bound within the object itself.
                            (true, object) if object == to => Some(limit).filter(has),
                            (true, object) if object == from => None,
                            _ => of_number(limit),
                        };
                        (o, Value { limits: at.limits.map(kept), ..at.clone() })
                    }
                };
                match all.iter_mut().find(|(o, _)| *o == object) {
                    Some((_, other)) => *other = other.join(&at),
                    None => all.push((object, at)),
                }
            }
            all.sort_by_key(|(object, _)| *object);
            Some(Value { limits, targets: Some(all.into()), ..value.clone() })
        };
        for row in [&mut self.globals, &mut self.locals, &mut self.memory.cells] {
            let changed: Vec<(usize, Value)> =
                row.iter().filter_map(|(index, value)| Some((index, now(value)?))).collect();
            for (index, value) in changed {
                row.set(index, Some(value).filter(|v| !v.is_full()));
            }
        }
        self.memory.map_covers(&of_number);
    }
}

impl Memory {
    /// Records facts that callers have to drop. If an object has another number now, its lost facts are also lost for
    /// that number.
    fn note_lost(&mut self, lost: &[(u32, Loss)]) {
        if lost.iter().all(|l| self.lost.contains(l)) {
            return;
        }
        let all = Rc::make_mut(&mut self.lost);
        for &(object, loss) in lost {
            let Loss::Aged(older) = loss else { continue };
            let of_it: Vec<Loss> =
                all.range((object, Loss::Aged(0))..).map_while(|&(o, l)| (o == object).then_some(l)).collect();
            all.extend(of_it.into_iter().filter(|l| !matches!(l, Loss::Aged(_))).map(|l| (older, l)));
        }
        all.extend(lost.iter().copied());
    }
}

impl MemoryDomain<'_> {
    /// Allocates an object at `edge`. Returns its address.
    pub fn allocate(&mut self, env: &mut Environment, edge: EdgeId, size: Option<&Value>) -> Option<Value> {
        let Op::Alloc { var, align, zeroed, .. } = self.program.edges[edge].op else { unreachable!("an allocation") };
        let object = self.site(edge);
        if let Some(older) = self.older(object) {
            self.age(env, object, older);
        }
        let given = size;
        let (size, most) = given.map_or((0, u64::MAX), |size| (size.range.low, size.range.high));
        let content = self.fresh(object, zeroed);
        let is_first = env.memory.status(object).is_some_and(|s| s.count == Count::None);
        self.spoil(env, object, 0, u64::MAX);
        if !is_first {
            env.lose(&[(object, Loss::Reach), (object, Loss::Null), (object, Loss::Seen)]);
        }
        env.memory.change(object, |status| {
            *status = match is_first {
                true => Status {
                    null: size.checked_sub(1).filter(|_| zeroed),
                    ..Status::new(Count::One, (size, most), content)
                },
                false => Status {
                    may_be_dead: status.may_be_dead,
                    ..Status::new(Count::Many, (status.size.min(size), status.most.max(most)), Content::Any)
                },
            };
        });
        if is_first {
            let covers = given.into_iter().flat_map(|size| size.limits.iter().collect::<Vec<_>>());
            let older = self.older(object);
            // The size was evaluated when these numbers represented other objects.
            let is_renamed = |l: &Limit| l.object == object || Some(l.object) == older;
            let covers = covers.filter(|l| l.is_exact && l.times == 1 && !is_renamed(l));
            let covers = covers.map(|l| Limit { more: -l.more, is_exact: false, ..l });
            env.memory.change(object, |status| status.covers = covers.collect());
        }
        let width = self.program.vars[var].width;
        Some(Value::address(addresses_of(width, size), align, object))
    }

    /// Makes the object that a site allocated last one of its older objects.
    fn age(&mut self, env: &mut Environment, recent: u32, older: u32) {
        let statuses = env.memory.status(recent).cloned().zip(env.memory.status(older).cloned());
        let Some((now, before)) = statuses.filter(|(now, _)| now.count != Count::None) else { return };
        let is_only = before.count == Count::None && now.count == Count::One;
        if !is_only && now.zeros != before.zeros {
            self.fold_zeros(&mut env.memory, recent);
            self.fold_zeros(&mut env.memory, older);
        }
        let mut moved: Vec<((u64, u64), Option<Value>)> = Vec::new();
        if is_only {
            for (at, bytes) in self.cells_of(recent) {
                let id = self.cell(recent, at, bytes);
                moved.extend(env.memory.cells.get(id as usize).cloned().map(|value| ((at, bytes), Some(value))));
            }
        } else {
            let mut all = self.cells_of(recent);
            all.extend(self.cells_of(older));
            all.sort_unstable();
            all.dedup();
            for (at, bytes) in all {
                let held = |object| self.held(&env.memory, Cell { object, at, bytes });
                let held = match before.count {
                    Count::None => held(recent),
                    _ => held(recent).zip(held(older)).map(|(a, b)| a.join(&b)),
                };
                moved.push(((at, bytes), held));
            }
        }
        for object in [recent, older] {
            for (at, bytes) in self.cells_of(object) {
                let id = self.cell(object, at, bytes);
                env.memory.cells.set(id as usize, None);
                env.recent.forget_cell(id);
            }
        }
        for ((at, bytes), value) in moved {
            let id = self.cell(older, at, bytes);
            env.memory.cells.set(id as usize, value.filter(|value| !value.is_full()));
        }
        let status = match before.count {
            Count::None => now,
            _ => before.together(&now),
        };
        env.memory.objects.set(older as usize, Some(status.clone()));
        env.memory.objects.set(recent as usize, Some(Status::new(Count::None, (0, 0), Content::Any)));
        env.rename((recent, older), &status, is_only);
    }

    /// The objects of the frame of a function that is not active do not exist.
    pub fn begin(&self, memory: &mut Memory, frame: &[u32]) {
        for &object in frame {
            memory.change(object, |status| *status = Status::new(Count::None, (0, 0), Content::Any));
        }
    }

    /// Replaces the number, lifetime and size of all allocated objects by those that hold almost everywhere in the
    /// program, so that a chain of joins ends soon. The objects of `frame`, that of the function itself, keep theirs.
    pub fn generalise(&self, env: &mut Environment, frame: &[u32]) {
        let general = |(index, status): (usize, &Status)| {
            let general = self.general(index as u32).filter(|_| !frame.contains(&(index as u32)))?;
            let now = match status.count {
                Count::None => general,
                _ => status.clone().with_life_of(&status.join(&general)),
            };
            (now != *status).then_some((index, now))
        };
        let changed: Vec<(usize, Status)> = env.memory.objects.iter().filter_map(general).collect();
        let is_summary = |(index, now): &&(usize, Status)| now.count == Count::Many && env.memory.is_one(*index as u32);
        let lost: Vec<(u32, Loss)> =
            changed.iter().filter(is_summary).map(|(index, _)| (*index as u32, Loss::Reach)).collect();
        for (index, status) in changed {
            env.memory.objects.set(index, Some(status));
        }
        env.lose_said(&lost);
        env.memory.keep_covers(|memory, cover| memory.defines(cover, false));
    }

    /// The family of functions that may end the lifetime of an object.
    fn family(&self, object: u32) -> Option<Family> {
        match self.program.edges[self.allocation(object)?].op {
            Op::Alloc { kind, .. } => kind.family(),
            _ => None,
        }
    }

    /// Ends the lifetime of the object at an address. Null has no effect.
    pub fn free(&mut self, env: &mut Environment, value: Option<&Value>, address: ExprId, family: Family) {
        if value.and_then(Value::as_constant) == Some(0) {
            return;
        }
        let objects: Vec<u32> = match self.places(value, address) {
            Places::Known(targets) => targets.iter().map(|(object, _)| *object).collect(),
            Places::Objects(objects) => objects.to_vec(),
        };
        let is_scope = family == Family::Scope;
        let is_known = value.is_some_and(|v| v.targets.is_some());
        let is_it = match is_scope {
            true => objects.len() == 1,
            // Each of the candidates may be treated as freed: no known address points to any of them afterwards.
            false => is_known && objects.iter().all(|&object| self.family(object) == Some(family)),
        };
        if is_it && objects.iter().all(|&object| env.memory.is_one(object)) {
            self.end(env, &objects, &mut None);
            return;
        }
        for object in objects {
            if self.family(object) == Some(family) {
                env.memory.change(object, |status| status.may_be_dead |= status.count != Count::None);
            }
        }
    }

    /// Drops the null bytes of objects that `reach` refers to.
    pub fn lose_null(&self, env: &mut Environment, reach: Reach, objects: &[u32]) {
        let has_null = |object: &u32| env.memory.status(*object).is_some_and(|s| s.has(reach));
        let lost: Vec<u32> = objects.iter().copied().filter(|o| has_null(o) && !self.is_constant(*o)).collect();
        for &object in &lost {
            env.memory.change(object, |status| match reach {
                Reach::Seen => status.seen = None,
                _ => status.null = None,
            });
        }
        let loss = if reach == Reach::Seen { Loss::Seen } else { Loss::Null };
        let lost: Vec<(u32, Loss)> = lost.into_iter().map(|object| (object, loss)).collect();
        env.lose(&lost);
    }

    /// Ends the lifetimes of objects. No known address points to them afterwards, so their places may be reused.
    /// `result` is a value outside the environment.
    pub fn end(&self, env: &mut Environment, objects: &[u32], result: &mut Option<Value>) {
        let lost: Vec<(u32, Loss)> = objects.iter().map(|&object| (object, Loss::Object)).collect();
        env.lose_with(&lost, result);
        for &object in objects {
            self.spoil(env, object, 0, u64::MAX);
            env.memory.change(object, |status| *status = Status::new(Count::None, (0, 0), Content::Any));
        }
    }

    /// Ends the lifetimes of the objects of one frame, when other frames of the function may be active. `result` is a
    /// value outside the environment.
    pub fn end_some(&self, env: &mut Environment, objects: &[u32], result: &mut Option<Value>) {
        let losses = [Loss::Reach, Loss::Null, Loss::Seen];
        let lost: Vec<(u32, Loss)> = objects.iter().flat_map(|&object| losses.map(|loss| (object, loss))).collect();
        env.lose_with(&lost, result);
        for &object in objects {
            env.memory.change(object, |status| {
                (status.may_be_dead, status.count) = (true, Count::Many);
                (status.null, status.seen, status.covers) = (None, None, Rc::new([]));
            });
        }
    }

    /// True if `value` points to at least `bytes` bytes of live objects in every state.
    pub fn is_valid(&self, memory: &Memory, value: Option<&Value>, bytes: u64, writes: bool) -> bool {
        self.is_valid_up_to(memory, value, &Value::constant(64, bytes), writes)
    }

    /// Like `is_valid`, for an abstract number of bytes.
    pub fn is_valid_up_to(&self, memory: &Memory, value: Option<&Value>, len: &Value, writes: bool) -> bool {
        let Some(targets) = value.and_then(|v| v.targets.as_ref()) else { return false };
        targets.iter().all(|(object, at)| {
            let is_constant = self.is_constant(*object);
            memory.status(*object).is_some_and(|status| {
                status.count != Count::None
                    && !status.may_be_dead
                    && (at.range.high.checked_add(len.range.high).is_some_and(|end| end <= status.size)
                        || self.reaches(memory, *object, at, len))
            }) && !(writes && is_constant)
        })
    }

    /// The offset of an address in its object. `None` if it may be in none, in a placeholder, or, if `writable`, in a
    /// constant object.
    pub fn offset(&self, memory: &Memory, value: Option<&Value>, writable: bool) -> Option<Value> {
        let targets = value?.targets.as_ref()?;
        let counts = |object: u32| self.is_plain(object) && !(writable && self.is_constant(object));
        if !targets.iter().all(|(object, _)| counts(*object)) || !self.is_valid(memory, value, 0, false) {
            return None;
        }
        let plain = |at: &Value| at.without(&|_, _| true).unwrap_or_else(|| at.clone());
        targets.iter().map(|(_, at)| plain(at)).reduce(|a, b| a.join(&b))
    }

    /// The size of the object at an address, which is not null. `None` if it may be any, or that of a placeholder.
    pub fn size(&self, memory: &Memory, value: Option<&Value>) -> Option<Value> {
        // The bounds of an object that does not exist may exclude each other.
        let may_exist = |object: &u32| memory.status(*object).is_none_or(|status| status.size <= status.most);
        let targets = value?.targets.as_ref()?.iter().map(|(object, _)| *object);
        let targets: Vec<u32> = targets.filter(|object| *object != NULL && may_exist(object)).collect();
        let size = |object: &u32| {
            let status = memory.status(*object).filter(|_| self.is_plain(*object))?;
            Value::of_range(Bounds::unsigned(64, status.size, status.most)?)
        };
        let sizes: Option<Vec<Value>> = targets.iter().map(size).collect();
        let joined = sizes?.into_iter().reduce(|a, b| a.join(&b))?;
        Some(match targets[..] {
            [object] if memory.is_one(object) => joined.limited(Limit::new(object, Reach::Size, 0).exact()),
            _ => joined,
        })
    }

    /// True if an object is neither a placeholder nor a function.
    fn is_plain(&self, object: u32) -> bool {
        match self.allocation(object).map(|edge| &self.program.edges[edge].op) {
            Some(Op::Alloc { kind, .. }) => !matches!(kind, AllocKind::Placeholder),
            _ => (object as usize) < self.program.globals.len(),
        }
    }

    /// True if `value` is the start of a live object, of this family if one is given.
    pub fn is_start(&self, memory: &Memory, value: Option<&Value>, family: Option<Family>) -> bool {
        let targets = value.and_then(|v| v.targets.as_ref());
        let is_of_it = |object: u32| family.is_none() || self.family(object) == family;
        let starts = targets.is_some_and(|all| all.iter().all(|(o, at)| is_of_it(*o) && at.as_constant() == Some(0)));
        starts && self.is_valid(memory, value, 0, false)
    }

    /// True if the object has `len` bytes at offset `at`, according to offset bounds.
    fn reaches(&self, memory: &Memory, object: u32, at: &Value, len: &Value) -> bool {
        let (len, constant) = match len.as_constant() {
            Some(len) => (None, len.min(i64::MAX as u64) as i64),
            None => (Some(crate::invariant::resized(len, at.width())), 0),
        };
        let end = len.map(|len| Value::apply(BinOp::Add, at, &len));
        let limits = &end.as_ref().unwrap_or(at).limits;
        let is_one = |object: u32| memory.status(object).filter(|s| s.count == Count::One);
        let Some(status) = memory.status(object) else { return false };
        limits.iter().any(|l: Limit| {
            if l.object == object {
                // The null byte itself is one more byte.
                let needed = if l.reach == Reach::Size { constant } else { constant.saturating_sub(1) };
                return status.has(l.reach) && l.more >= needed;
            }
            if status.count != Count::One {
                return false;
            }
            let is_there =
                is_one(l.object).is_some_and(|other| other.exists && !other.may_be_dead && other.has(l.reach));
            let covers =
                |c: &Limit| (c.object, c.reach) == (l.object, l.reach) && c.more.saturating_add(l.more) >= constant;
            is_there && status.covers.iter().any(covers)
        })
    }

    /// True if a function of this family may free the object at an address.
    pub fn can_be_freed(&self, memory: &Memory, value: Option<&Value>, family: Family) -> bool {
        let Some(value) = value else { return false };
        if value.as_constant() == Some(0) {
            return true;
        }
        let Some(targets) = &value.targets else { return false };
        targets.iter().all(|(object, at)| {
            let is_of_it = self.family(*object) == Some(family);
            let status = memory.status(*object);
            let is_null = *object == NULL && at.as_constant() == Some(0);
            is_null
                || is_of_it
                    && at.as_constant() == Some(0)
                    && status.is_some_and(|s| s.count == Count::One && !s.may_be_dead)
        })
    }

    /// The functions that an address points to, if it points to functions only.
    pub fn functions(&self, value: Option<&Value>) -> Option<Vec<FuncId>> {
        let value = value.filter(|v| !v.contains(0))?;
        let function = |(object, at): &(u32, Value)| {
            let function = object.checked_sub(self.program.globals.len() as u32)?;
            (*object < self.first_site && at.as_constant() == Some(0)).then_some(FuncId(function))
        };
        value.targets.as_ref()?.iter().map(function).collect()
    }

    /// The callees of a call according to the points-to analysis.
    pub fn callees(&self, call: EdgeId) -> &[FuncId] {
        self.points_to.as_ref().map_or(&[], |points_to| points_to.callees(call))
    }
}
