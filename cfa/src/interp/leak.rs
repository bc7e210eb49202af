//! Which objects of the heap no variable leads to.

use super::memory::{Object, ObjectKind};
use super::{Operand, State};
use crate::index::{Id, Table};
use crate::liveness::{self, Liveness};
use crate::program::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Which locals count, worked out when first needed.
#[derive(Default)]
pub(super) struct Roots {
    locals: Vec<Vec<VarId>>,
    live: FxHashMap<FuncId, Rc<Liveness>>,
}

impl State<'_> {
    /// An object of the heap that is lost when control has come over this edge.
    pub(super) fn lost(&mut self, edge: EdgeId) -> Option<u64> {
        let heap: Vec<u64> =
            self.memory.live_objects().filter(|o| o.kind == ObjectKind::Heap).map(|o| o.base).collect();
        if heap.is_empty() {
            return None;
        }
        let width = self.program.layout.pointer_width;
        let mut found: FxHashSet<u64> = FxHashSet::default();
        let mut work: Vec<u64> = Vec::new();
        for (id, var) in self.program.vars.iter() {
            if var.func().is_none() {
                self.pointers_in(self.code.vars[id], (0, 0), width, &mut work);
            }
        }
        // The frames, the present one last.
        let mut frames: Vec<(FuncId, LocId, (usize, usize))> = Vec::new();
        for frame in &self.frames {
            let after = self.program.edges[self.code.calls[frame.call as usize].edge].target;
            frames.push((frame.func, after, (frame.words, frame.wides)));
        }
        frames.push((self.func, self.program.edges[edge].target, (self.words_base, self.wides_base)));
        for (func, loc, bases) in frames {
            for var in self.counted(func, loc) {
                self.pointers_in(self.code.vars[var], bases, width, &mut work);
            }
        }
        for object in self.memory.live_objects().filter(|o| o.kind != ObjectKind::Heap) {
            pointers_of(object, width, &mut work);
        }
        while let Some(addr) = work.pop() {
            if let Some(object) = self.memory.pointed_to(addr)
                && object.kind == ObjectKind::Heap
                && found.insert(object.base)
            {
                pointers_of(object, width, &mut work);
            }
        }
        heap.into_iter().find(|base| !found.contains(base))
    }

    /// The locals that may lead to objects: those that C names, and temporaries that are still needed.
    fn counted(&mut self, func: FuncId, loc: LocId) -> Vec<VarId> {
        let roots = &mut self.leaks;
        if roots.locals.is_empty() {
            roots.locals = liveness::locals(self.program);
        }
        let locals = &roots.locals[func.index()];
        let live = roots.live.entry(func).or_insert_with(|| Rc::new(Liveness::new(self.program, func, locals)));
        let needed: FxHashSet<VarId> = live.at(loc).iter().copied().collect();
        let vars: &Table<VarId, Var> = &self.program.vars;
        locals.iter().copied().filter(|v| !matches!(vars[*v].kind, VarKind::Temp(_)) || needed.contains(v)).collect()
    }

    /// The pointer-wide parts of a variable.
    fn pointers_in(&self, var: Operand, (words, wides): (usize, usize), width: u32, out: &mut Vec<u64>) {
        if var.width < width {
            return;
        }
        let value = self.value_in(var, words, wides);
        for part in 0..var.width / width {
            out.extend(value.extract((part + 1) * width - 1, part * width).to_u64());
        }
    }
}

/// What stands at aligned places in an object.
fn pointers_of(object: &Object, width: u32, out: &mut Vec<u64>) {
    object.words(width / 8, |word| out.push(word));
}
