//! Leak detection: heap objects that are unreachable from the variables.

use super::memory::Object;
use super::{Operand, State};
use crate::index::{Id, Table};
use crate::liveness::{self, Liveness};
use crate::program::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The locals that are roots, computed on first use.
#[derive(Clone, Default)]
pub(super) struct Roots {
    locals: Vec<Vec<VarId>>,
    live: FxHashMap<FuncId, Rc<Liveness>>,
}

impl State<'_> {
    /// A heap object that is unreachable after this edge.
    pub(super) fn lost(&mut self, edge: EdgeId) -> Option<u64> {
        let heap = || self.memory.live_objects().filter(|o| o.kind.may_leak());
        let lowest = heap().map(|o| o.base).min()?;
        let pointers = Pointers {
            width: self.program.layout.pointer_width,
            lowest,
            highest: heap().map(|o| o.base + o.size).max()?,
        };
        let heap: Vec<u64> = heap().map(|o| o.base).collect();
        let mut found: FxHashSet<u64> = FxHashSet::default();
        let mut work: Vec<u64> = Vec::new();
        for (id, var) in self.program.vars.iter() {
            if var.func().is_none() {
                self.pointers_in(self.code.vars[id], (0, 0), &pointers, &mut work);
            }
        }
        // The frames, the current one last.
        let mut frames: Vec<(FuncId, LocId, (usize, usize))> = Vec::new();
        for frame in &self.frames {
            let after = self.program.edges[self.code.calls[frame.call as usize].edge].target;
            frames.push((frame.func, after, (frame.words, frame.wides)));
        }
        frames.push((self.func, self.program.edges[edge].target, (self.words_base, self.wides_base)));
        for (func, loc, bases) in frames {
            for var in self.counted(func, loc) {
                self.pointers_in(self.code.vars[var], bases, &pointers, &mut work);
            }
        }
        for object in self.memory.live_objects().filter(|o| !o.kind.may_leak()) {
            pointers.in_object(object, &mut work);
        }
        while let Some(addr) = work.pop() {
            if let Some(object) = self.memory.pointed_to(addr)
                && object.kind.may_leak()
                && found.insert(object.base)
            {
                pointers.in_object(object, &mut work);
            }
        }
        // The objects count as steps, so that a run whose heap grows reaches its limit.
        self.steps += (heap.len() + found.len()) as u64;
        heap.into_iter().find(|base| !found.contains(base))
    }

    /// The locals that are roots: the named variables of C, and live temporaries.
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

    /// Collects the words of a variable that may be heap pointers.
    fn pointers_in(&self, var: Operand, (words, wides): (usize, usize), pointers: &Pointers, out: &mut Vec<u64>) {
        let width = pointers.width;
        if var.width < width {
            return;
        }
        let value = self.value_in(var, words, wides);
        for at in (0..=var.width - width).step_by(8) {
            out.extend(value.extract(at + width - 1, at).to_u64().filter(|&word| pointers.may_be(word)));
        }
    }
}

/// The range of heap pointers: words of `width` bits from the lowest heap object to the end of the highest.
struct Pointers {
    width: u32,
    lowest: u64,
    highest: u64,
}

impl Pointers {
    fn may_be(&self, word: u64) -> bool {
        (self.lowest..=self.highest).contains(&word)
    }
    /// Collects the words in an object that may be heap pointers.
    fn in_object(&self, object: &Object, out: &mut Vec<u64>) {
        object.words(self.width / 8, |word| {
            if self.may_be(word) {
                out.push(word);
            }
        });
    }
}
