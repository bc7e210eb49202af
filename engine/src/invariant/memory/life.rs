//! The lifetimes of objects: allocation, release, and validity of accesses.

use super::environment::{Environment, addresses_of};
use super::tracker::{Places, Tracker};
use crate::invariant::memory::cells::{Content, Count, Loss, Memory, Status};
use crate::invariant::value::Value;
use crate::invariant::value::address::NULL;
use crate::invariant::value::limits::{Limit, Reach};
use cfa::{BinOp, EdgeId, ExprId, Family, FuncId, GlobalId, Op};
use std::rc::Rc;

/// The value without invalidated facts. `None` if it has none of them, and `Some(None)` if nothing remains.
fn without(value: &Value, lost: &[(u32, Loss)]) -> Option<Option<Value>> {
    let leads_there = |(object, _): &(u32, Value)| lost.iter().any(|&(o, loss)| o == *object && loss == Loss::Object);
    if value.targets.as_ref().is_some_and(|targets| targets.iter().any(leads_there)) {
        return Some(None);
    }
    value.without(&|limit| is_lost(limit, lost)).map(Some)
}

/// True if the offset bound refers to an invalidated fact.
fn is_lost(limit: &Limit, lost: &[(u32, Loss)]) -> bool {
    lost.iter().any(|&(object, loss)| {
        let is_of_it = match loss {
            Loss::Null => limit.reach == Reach::Null,
            Loss::Seen => limit.reach == Reach::Seen,
            Loss::Reach | Loss::Object => true,
        };
        object == limit.object && is_of_it
    })
}

impl Environment {
    /// Drops facts about objects, and records this for the callers.
    pub fn lose(&mut self, lost: &[(u32, Loss)]) {
        if lost.is_empty() {
            return;
        }
        if !lost.iter().all(|l| self.memory.lost.contains(l)) {
            Rc::make_mut(&mut self.memory.lost).extend(lost.iter().copied());
        }
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
        self.memory.keep_covers(|_, cover| !is_lost(cover, lost));
    }
}

impl Tracker<'_> {
    /// Allocates an object at `edge`. Returns its address.
    pub fn allocate(&mut self, env: &mut Environment, edge: EdgeId, size: Option<&Value>) -> Option<Value> {
        let Op::Alloc { var, align, zeroed, .. } = self.program.edges[edge].op else { unreachable!("an allocation") };
        let object = self.site(edge);
        let given = size;
        let (size, most) = given.map_or((0, u64::MAX), |size| (size.range.low, size.range.high));
        let content = if zeroed { Content::Zero } else { Content::Any };
        let is_first = env.memory.status(object).is_some_and(|s| s.count == Count::None);
        self.spoil(env, object, 0, u64::MAX);
        if !is_first {
            env.lose(&[(object, Loss::Reach)]);
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
            let covers = covers.filter(|l| l.is_exact && l.times == 1 && l.object != object);
            let covers = covers.map(|l| Limit { more: -l.more, is_exact: false, ..l });
            env.memory.change(object, |status| status.covers = covers.collect());
        }
        let width = self.program.vars[var].width;
        Some(Value::address(addresses_of(width, size), align, object))
    }

    /// The family of functions that may end the lifetime of an object.
    fn family(&self, object: u32) -> Option<Family> {
        match self.program.edges[self.allocation(object)?].op {
            Op::Alloc { kind, .. } => kind.family(),
            _ => None,
        }
    }

    /// Ends the lifetime of the object at an address.
    pub fn free(&mut self, env: &mut Environment, value: Option<&Value>, address: ExprId, family: Family) {
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
            self.end(env, &objects, None);
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
        let is_read_only = |object: u32| {
            (object as usize) < self.program.globals.len() && self.program.globals[GlobalId(object)].read_only
        };
        let has_null = |object: &u32| env.memory.status(*object).is_some_and(|s| s.has(reach));
        let lost: Vec<u32> = objects.iter().copied().filter(|o| has_null(o) && !is_read_only(*o)).collect();
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
    pub fn end(&self, env: &mut Environment, objects: &[u32], result: Option<&mut Option<Value>>) {
        let lost: Vec<(u32, Loss)> = objects.iter().map(|&object| (object, Loss::Object)).collect();
        env.lose(&lost);
        if let Some(value) = result
            && let Some(without) = value.as_ref().and_then(|value| without(value, &lost))
        {
            *value = without;
        }
        for &object in objects {
            self.spoil(env, object, 0, u64::MAX);
            env.memory.change(object, |status| *status = Status::new(Count::None, (0, 0), Content::Any));
        }
    }

    /// Ends the lifetimes of the objects of one frame, when other frames of the function may be active.
    pub fn end_some(&self, env: &mut Environment, objects: &[u32]) {
        let lost: Vec<(u32, Loss)> = objects.iter().map(|&object| (object, Loss::Reach)).collect();
        env.lose(&lost);
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
            let is_global = (*object as usize) < self.program.globals.len();
            let is_constant = is_global && self.program.globals[GlobalId(*object)].read_only;
            memory.status(*object).is_some_and(|status| {
                status.count != Count::None
                    && !status.may_be_dead
                    && (at.range.high.checked_add(len.range.high).is_some_and(|end| end <= status.size)
                        || self.reaches(memory, *object, at, len))
            }) && !(writes && is_constant)
        })
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
        let Some(status) = is_one(object) else { return false };
        limits.iter().any(|l: Limit| {
            if l.object == object {
                // The null byte itself is one more byte.
                let needed = if l.reach == Reach::Size { constant } else { constant.saturating_sub(1) };
                return status.has(l.reach) && l.more >= needed;
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
