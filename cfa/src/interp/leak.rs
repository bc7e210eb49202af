//! Leak detection: heap objects that are unreachable from the variables.
//!
//! Optimised code lacks C variables: a value that the rest of the execution does not need is in no variable, although
//! the C variable still has it. So an object may be reachable in C if a frame of such code has ever had a pointer to
//! it. The check of such an object is undecided.

use super::memory::Object;
use super::{Operand, State};
use crate::index::Id;
use crate::liveness::{self, Liveness};
use crate::program::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The reason why the check of an object is undecided, for the user.
pub const UNDECIDED_LEAK: &str =
    "it is undecided whether memory is lost: optimised code does not show which variables still point to it";

/// The locals that are roots, computed on first use.
#[derive(Clone, Default)]
pub(super) struct Roots {
    locals: Vec<Vec<VarId>>,
    live: FxHashMap<FuncId, Rc<Liveness>>,
    /// For each frame, the base addresses of the heap objects to which its C variables may point, although the code
    /// does not show it. With threads, there is one set for all frames of all threads.
    held: Vec<FxHashSet<u64>>,
    undecided: bool,
}

impl Roots {
    /// True if a check did not find whether an object is reachable.
    pub fn is_undecided(&self) -> bool {
        self.undecided
    }
}

// The objects to which frames of optimised code have had pointers.
impl State<'_> {
    fn has_promoted(&self, func: FuncId) -> bool {
        self.code.holds && self.program.funcs[func].variables != Variables::Kept
    }

    /// Records the heap objects to which the words of a value of the current frame point.
    pub(super) fn hold(&mut self, value: Operand) {
        let width = self.program.layout.pointer_width;
        if value.width < width {
            return;
        }
        let frame = if self.threads.is_some() { 0 } else { self.frames.len() };
        let words = self.value(value);
        for at in (0..=value.width - width).step_by(8) {
            if let Some(word) = words.extract(at + width - 1, at).to_u64()
                && let Some(object) = self.memory.pointed_to(word)
                && object.kind.may_leak()
            {
                let base = object.base;
                if self.leaks.held.len() <= frame {
                    self.leaks.held.resize_with(frame + 1, FxHashSet::default);
                }
                self.leaks.held[frame].insert(base);
            }
        }
    }

    /// Records the objects of the parameters of the current frame, which has just been entered.
    pub(super) fn hold_parameters(&mut self) {
        if self.has_promoted(self.func) {
            for &param in &self.program.funcs[self.func].params {
                self.hold(self.code.vars[param]);
            }
        }
    }

    /// Drops the objects of the current frame, which returns `value` to a frame of `caller`. The registers of the frame
    /// still exist.
    pub(super) fn leave_holder(&mut self, value: Operand, caller: FuncId) {
        if !self.code.holds {
            return;
        }
        if self.threads.is_none() {
            // The frame of the caller is already the last one.
            let frame = self.frames.len();
            let mut ended = self.leaks.held.drain((frame + 1).min(self.leaks.held.len())..);
            let inherited = ended.next().unwrap_or_default();
            drop(ended);
            if self.program.funcs[self.func].variables == Variables::PromotedWithResult && !inherited.is_empty() {
                self.leaks.held.resize_with(frame + 1, FxHashSet::default);
                self.leaks.held[frame].extend(inherited);
            }
        }
        // The caller's code may not use the result, although a C variable has it.
        if self.has_promoted(caller) {
            self.hold(value);
        }
    }
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
        let mut found: FxHashSet<u64> = FxHashSet::default();
        self.follow(&pointers, work, &mut found);
        let is_any_lost = heap.iter().any(|base| !found.contains(base));
        if is_any_lost && self.code.holds {
            let held = self.leaks.held.iter().flatten().copied().collect();
            self.follow(&pointers, held, &mut found);
        }
        // The objects count as steps, so that a run whose heap grows reaches its limit.
        self.steps += (heap.len() + found.len()) as u64;
        let lost = heap.into_iter().find(|base| !found.contains(base));
        self.leaks.undecided |= is_any_lost && lost.is_none();
        lost
    }

    /// Adds the heap objects that are reachable from these addresses.
    fn follow(&self, pointers: &Pointers, mut work: Vec<u64>, found: &mut FxHashSet<u64>) {
        while let Some(addr) = work.pop() {
            if let Some(object) = self.memory.pointed_to(addr)
                && object.kind.may_leak()
                && found.insert(object.base)
            {
                pointers.in_object(object, &mut work);
            }
        }
    }

    /// The locals that are roots: the named variables of C, and live temporaries. If the function's variables may have
    /// become temporaries, a parameter may differ from that of C.
    fn counted(&mut self, func: FuncId, loc: LocId) -> Vec<VarId> {
        let roots = &mut self.leaks;
        if roots.locals.is_empty() {
            roots.locals = liveness::locals(self.program);
        }
        let locals = &roots.locals[func.index()];
        let live = roots.live.entry(func).or_insert_with(|| Rc::new(Liveness::new(self.program, func, locals)));
        let needed: FxHashSet<VarId> = live.at(loc).iter().copied().collect();
        let program = self.program;
        locals.iter().copied().filter(|&v| program.is_root(v) || needed.contains(&v)).collect()
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
