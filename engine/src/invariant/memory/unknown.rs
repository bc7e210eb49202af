//! The effect of unknown code on abstract memory.

use super::domain::MemoryDomain;
use super::environment::Environment;
use crate::invariant::memory::cells::{Content, Count, Loss, Memory, Status};
use crate::semantics::Paged;
use cfa::{AllocKind, GlobalId, Id, Op, VarId};
use fixedbitset::FixedBitSet;
use std::rc::Rc;

impl MemoryDomain<'_> {
    /// The memory when unknown code has run: global objects exist with arbitrary content, constants have their initial
    /// content. No other object is known.
    pub fn at_any_time(&self) -> Memory {
        let mut memory = self.initial();
        for (id, global) in self.program.globals.iter().filter(|(_, global)| !global.read_only) {
            let status = Status::new(Count::One, (global.size, global.size), Content::Any);
            memory.objects.set(id.index(), Some(status));
        }
        memory
    }

    /// Applies the effect of unknown code without undefined behaviour: it may write all global variables and all memory
    /// except constants, and free all objects that a callee may free.
    pub fn disturb_all(&self, env: &mut Environment) {
        env.globals = Paged::new();
        self.disturb(env, |_| true);
    }

    /// Applies the effect of unknown code without undefined behaviour on objects that it knows: it may write all except
    /// constants, and free all that a callee may free.
    pub fn disturb(&self, env: &mut Environment, knows: impl Fn(u32) -> bool) {
        self.lose_nulls_of(env, &knows);
        env.memory.cells.retain(|cell| !knows(self.cells[cell].object));
        let disturbed = |(object, status): (usize, &Status)| {
            let may_be_dead = status.may_be_dead || self.may_be_ended(object as u32);
            let now = Status {
                may_be_dead,
                content: Content::Any,
                written: Rc::new([]),
                null: None,
                seen: None,
                covers: Rc::new([]),
                zeros: None,
                ..status.clone()
            };
            let may_change = status.count != Count::None && !self.is_constant(object as u32) && knows(object as u32);
            (may_change && now != *status).then_some((object, now))
        };
        let changed: Vec<(usize, Status)> = env.memory.objects.iter().filter_map(disturbed).collect();
        changed.into_iter().for_each(|(object, status)| env.memory.objects.set(object, Some(status)));
        let program = self.program;
        let is_local = |var: VarId| program.vars[var].func().is_some();
        env.recent.forget_shared(&program.exprs, &is_local);
        env.recent.written(&|_| false);
    }

    /// Applies the effect of a function's callees before a non-local jump back into it: they may have written, allocated
    /// or freed all objects that they touch.
    pub fn come_back(&self, env: &mut Environment, touched: &FixedBitSet) {
        let losses = [Loss::Null, Loss::Seen, Loss::Reach];
        let mut lost: Vec<(u32, Loss)> =
            touched.ones().flat_map(|object| losses.map(|loss| (object as u32, loss))).collect();
        let older = |object: usize| Some((object as u32, Loss::Aged(self.older(object as u32)?)));
        lost.extend(touched.ones().filter_map(older));
        env.lose(&lost);
        for object in touched.ones() {
            self.spoil(env, object as u32, 0, u64::MAX);
            let is_site = self.allocation(object as u32).is_some();
            env.memory.change(object as u32, |status| {
                (status.content, status.written, status.zeros) = (Content::Any, Rc::new([]), None);
                (status.null, status.seen, status.covers) = (None, None, Rc::new([]));
                if is_site {
                    (status.count, status.may_be_dead, status.exists) = (Count::Many, true, false);
                    (status.size, status.most) = (0, u64::MAX);
                }
            });
        }
        env.recent.written(&|_| false);
    }

    /// Forgets the content of all objects except constants.
    pub(super) fn spoil_all(&self, env: &mut Environment) {
        env.memory.cells = Paged::new();
        let spoiled = |(object, status): (usize, &Status)| {
            let mut now = Status { zeros: None, ..status.clone() };
            now.write(0, u64::MAX);
            (!self.is_constant(object as u32) && now != *status).then_some((object, now))
        };
        let changed: Vec<(usize, Status)> = env.memory.objects.iter().filter_map(spoiled).collect();
        changed.into_iter().for_each(|(object, status)| env.memory.objects.set(object, Some(status)));
        env.recent.forget_cells(&|_| true);
    }

    fn lose_nulls_of(&self, env: &mut Environment, knows: impl Fn(u32) -> bool) {
        let mut lost = Vec::new();
        let may_change = |object: usize| !self.is_constant(object as u32) && knows(object as u32);
        for (object, status) in env.memory.objects.iter().filter(|(object, _)| may_change(*object)) {
            lost.extend(status.null.map(|_| (object as u32, Loss::Null)));
            lost.extend(status.seen.map(|_| (object as u32, Loss::Seen)));
        }
        env.lose(&lost);
    }

    /// True if an object is a constant global.
    pub(super) fn is_constant(&self, object: u32) -> bool {
        (object as usize) < self.program.globals.len() && self.program.globals[GlobalId(object)].read_only
    }

    /// True if a function that did not allocate the object may end its life: the object is allocated, but not on a
    /// stack.
    fn may_be_ended(&self, object: u32) -> bool {
        let Some(edge) = self.allocation(object) else { return false };
        !matches!(self.program.edges[edge].op, Op::Alloc { kind: AllocKind::Stack, .. })
    }
}
