//! Which objects there are, how long they live, and whether operations find them alive.

use super::environment::{Environment, addresses_of};
use super::memory::{Content, Count, Memory, Status};
use super::tracker::{Places, Tracker};
use super::value::{NULL, Value};
use crate::execution::Paged;
use cfa::{AllocKind, EdgeId, ExprId, FuncId, GlobalId, Op};

impl Tracker<'_> {
    /// A new object; its address.
    pub fn allocate(&mut self, env: &mut Environment, edge: EdgeId, size: Option<&Value>) -> Option<Value> {
        let Op::Alloc { var, align, zeroed, .. } = self.program.edges[edge].op else { unreachable!("an allocation") };
        let object = self.site(edge);
        let (size, most) = size.map_or((0, u64::MAX), |size| (size.range.low, size.range.high));
        let content = if zeroed { Content::Zero } else { Content::Any };
        let is_first = self.status(&env.memory, object).is_some_and(|s| s.count == Count::None);
        self.spoil(env, object, 0, u64::MAX);
        self.change(&mut env.memory, object, |status| {
            *status = match is_first {
                true => Status::new(Count::One, (size, most), content),
                false => Status {
                    may_be_dead: status.may_be_dead,
                    ..Status::new(Count::Many, (status.size.min(size), status.most.max(most)), Content::Any)
                },
            };
        });
        let width = self.program.vars[var].width;
        Some(Value::address(addresses_of(width, size), align, object))
    }

    /// Ends the life of what is at an address.
    pub fn free(&mut self, env: &mut Environment, value: Option<&Value>, address: ExprId, kind: AllocKind) {
        let objects: Vec<u32> = match self.places(value, address) {
            Places::Known(targets) => targets.iter().map(|(object, _)| *object).collect(),
            Places::Objects(objects) => objects.to_vec(),
        };
        let is_scope = kind == AllocKind::Stack;
        if let [object] = objects[..]
            && is_scope
            && self.is_one(&env.memory, object)
        {
            self.end(env, &[object], None);
            return;
        }
        for object in objects {
            let Some(edge) = self.allocation(object) else { continue };
            let Op::Alloc { kind, .. } = self.program.edges[edge].op else { continue };
            if is_scope == (kind == AllocKind::Stack) {
                self.change(&mut env.memory, object, |status| status.may_be_dead |= status.count != Count::None);
            }
        }
    }

    /// Ends the life of objects of the stack. No address that is known leads there any more, so that others may take their place.
    pub fn end(&self, env: &mut Environment, objects: &[u32], result: Option<&mut Option<Value>>) {
        let leads_there = |value: &Value| {
            value.targets.as_ref().is_some_and(|targets| targets.iter().any(|(o, _)| objects.contains(o)))
        };
        let dangling = |row: &Paged<Value>| -> Vec<usize> {
            row.iter().filter(|(_, value)| leads_there(value)).map(|(index, _)| index).collect()
        };
        for row in [&mut env.globals, &mut env.locals, &mut env.memory.cells] {
            for index in dangling(row) {
                row.set(index, None);
            }
        }
        if let Some(result) = result {
            result.take_if(|value| leads_there(value));
        }
        for &object in objects {
            self.spoil(env, object, 0, u64::MAX);
            self.change(&mut env.memory, object, |status| *status = Status::new(Count::None, (0, 0), Content::Any));
        }
    }

    /// Says that the objects of a frame are dead, where those of another frame of the function may still be alive.
    pub fn end_some(&self, env: &mut Environment, objects: &[u32]) {
        for &object in objects {
            self.change(&mut env.memory, object, |status| {
                (status.may_be_dead, status.count) = (true, Count::Many);
            });
        }
    }

    /// Forgets what memory holds, and what is alive.
    pub fn forget(&self, env: &mut Environment) {
        for object in self.everything.iter().copied() {
            self.spoil(env, object, 0, u64::MAX);
            self.change(&mut env.memory, object, |status| status.may_be_dead |= object >= self.first_site);
        }
    }

    /// Whether an address leads to so many bytes of objects that are alive, whatever is known.
    pub fn is_valid(&self, memory: &Memory, value: Option<&Value>, bytes: u64, writes: bool) -> bool {
        let Some(targets) = value.and_then(|v| v.targets.as_ref()) else { return false };
        targets.iter().all(|(object, at)| {
            let is_global = (*object as usize) < self.program.globals.len();
            let is_constant = is_global && self.program.globals[GlobalId(*object)].read_only;
            self.status(memory, *object).is_some_and(|status| {
                status.count != Count::None
                    && !status.may_be_dead
                    && at.range.high.checked_add(bytes).is_some_and(|end| end <= status.size)
            }) && !(writes && is_constant)
        })
    }

    /// Whether an address is the start of an object that is alive.
    pub fn is_start(&self, memory: &Memory, value: Option<&Value>) -> bool {
        let targets = value.and_then(|v| v.targets.as_ref());
        let starts = targets.is_some_and(|all| all.iter().all(|(_, at)| at.as_constant() == Some(0)));
        starts && self.is_valid(memory, value, 0, false)
    }

    /// Whether what is at an address can be freed.
    pub fn can_be_freed(&self, memory: &Memory, value: Option<&Value>) -> bool {
        let Some(value) = value else { return false };
        if value.as_constant() == Some(0) {
            return true;
        }
        let Some(targets) = &value.targets else { return false };
        targets.iter().all(|(object, at)| {
            let is_of_heap = self
                .allocation(*object)
                .is_some_and(|edge| matches!(self.program.edges[edge].op, Op::Alloc { kind: AllocKind::Heap, .. }));
            let status = self.status(memory, *object);
            let is_null = *object == NULL && at.as_constant() == Some(0);
            is_null
                || is_of_heap
                    && at.as_constant() == Some(0)
                    && status.is_some_and(|s| s.count == Count::One && !s.may_be_dead)
        })
    }

    /// The functions that an address may be of, if it is one of a function.
    pub fn functions(&self, value: Option<&Value>) -> Option<Vec<FuncId>> {
        let value = value.filter(|v| !v.contains(0))?;
        let function = |(object, at): &(u32, Value)| {
            let function = object.checked_sub(self.program.globals.len() as u32)?;
            (*object < self.first_site && at.as_constant() == Some(0)).then_some(FuncId(function))
        };
        value.targets.as_ref()?.iter().map(function).collect()
    }

    /// Which functions a call may call, as the points-to analysis sees it.
    pub fn callees(&self, call: EdgeId) -> &[FuncId] {
        self.points_to.callees(call)
    }
}
