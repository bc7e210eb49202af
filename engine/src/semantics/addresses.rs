//! Constraints on the addresses of objects.

use super::Execution;
use super::memory::Origin;
use super::state::State;
use super::value::ObjId;
use cfa::{Bv, ExprId};
use std::rc::Rc;

/// The lowest and the highest address of objects. Functions have lower addresses; there are fewer than 60,000 of them.
/// The highest address is the end of the stack in a process of Linux on x86-64, with pointers of 64 and of 32 bits.
pub fn range(pointer_width: u32) -> (u64, u64) {
    if pointer_width == 64 { (0x10_0000, 0x7fff_ffff_f000) } else { (0x10_0000, 0xffff_e000) }
}

impl Execution<'_> {
    /// True if two different objects, both alive in `st`, are known to be disjoint. A missing free may let a heap
    /// object reuse the memory of another.
    pub fn are_disjoint(&self, st: &State, o: ObjId, p: ObjId) -> bool {
        !(self.lacks_frees && is_heap(st, o) && is_heap(st, p))
    }

    /// True if `o` is known to have been alive as long as the dead object `dead` was. Objects are numbered in the order
    /// of allocation.
    pub fn outlives(&self, st: &State, o: ObjId, dead: ObjId) -> bool {
        let is_global = (o.0 as usize) < self.program.globals.len();
        st.memory.get(dead).is_none() && (is_global || o.0 < dead.0 && !self.lacks_frees)
    }

    /// Adds to the path condition the constraints on the addresses that occur in `e`. Addresses are aligned, far from
    /// null and from the end of the address space, and live objects do not overlap.
    pub fn expose(&mut self, st: &mut State, e: ExprId) {
        for object in self.terms.bases_in(e) {
            if st.exposed.contains(&object) {
                continue;
            }
            let w = self.program.layout.pointer_width;
            let base = self.terms.base(object);
            let mut facts = apart_from_the_dead(self, st, object);
            let (lowest, highest) = range(w);
            let low = self.terms.int(w, lowest);
            facts.push(self.terms.ule(low, base));
            let high = self.terms.int(w, highest);
            let size = st.memory.get(object).map(|o| (o.size, o.align));
            if let Some((size, align)) = size {
                let size_e = self.terms.term(size, w);
                let last = self.terms.sub(high, size_e);
                facts.push(self.terms.ule(base, last));
                if size_e != high && self.terms.as_const(size_e).is_none() {
                    facts.push(self.terms.ule(size_e, high));
                }
                if align > 1 {
                    let bits = align.trailing_zeros();
                    let lows = self.terms.extract(bits - 1, 0, base);
                    let zero = self.terms.int(bits, 0);
                    facts.push(self.terms.eq(lows, zero));
                }
                for &other in st.exposed.iter() {
                    let Some(other_size) = st.memory.get(other).map(|o| o.size) else { continue };
                    if !self.are_disjoint(st, object, other) {
                        continue;
                    }
                    let other_base = self.terms.base(other);
                    let other_size = self.terms.term(other_size, w);
                    let (end, other_end) = (self.terms.add(base, size_e), self.terms.add(other_base, other_size));
                    let before = self.terms.ule(end, other_base);
                    let after = self.terms.ule(other_end, base);
                    facts.push(self.terms.or(before, after));
                    // An empty object of the heap has an address of its own. Another one may lie anywhere between
                    // objects, and at the address of another empty one.
                    if [object, other].iter().any(|&o| is_heap(st, o)) {
                        facts.push(self.terms.ne(base, other_base));
                    }
                }
            } else {
                facts.push(self.terms.ule(base, high));
            }
            // Extends the model of the path condition by a concrete address. That suffices if sizes are moderate.
            let extended = st.pc.model().map(|model| {
                let mut model = model.clone();
                let slot = if w == 64 {
                    0x1000_0000_0000 + (u64::from(object.0) << 24)
                } else {
                    0x1000_0000 + (u64::from(object.0) << 16)
                };
                model.set(base, cfa::Value::Bv(Bv::new(w, slot)));
                model
            });
            let mut extended = extended.filter(|m| facts.iter().all(|&f| m.eval(&self.terms, f).is_true()));
            for fact in facts {
                let model = extended.clone();
                self.solver.assume(&mut self.terms, &mut st.pc, fact, model);
            }
            if extended.is_none() {
                extended = self.solver.model(&mut self.terms, &st.pc).model();
                let always = self.terms.bool(true);
                self.solver.assume(&mut self.terms, &mut st.pc, always, extended);
            }
            Rc::make_mut(&mut st.exposed).push(object);
        }
    }
}

/// True for a live object of the heap.
fn is_heap(st: &State, object: ObjId) -> bool {
    st.memory.get(object).is_some_and(|o| matches!(o.origin, Origin::Heap(_)))
}

/// The constraints that the addresses of dead objects do not lie in objects that outlived them, for `object` and each
/// exposed object.
fn apart_from_the_dead(ex: &mut Execution, st: &State, object: ObjId) -> Vec<ExprId> {
    let w = ex.program.layout.pointer_width;
    let mut facts = Vec::new();
    for &other in st.exposed.iter() {
        let (live, dead) = match st.memory.get(object) {
            Some(_) => (object, other),
            None => (other, object),
        };
        let Some(size) = st.memory.get(live).map(|o| o.size).filter(|_| ex.outlives(st, live, dead)) else {
            continue;
        };
        let (live, dead, size) = (ex.terms.base(live), ex.terms.base(dead), ex.terms.term(size, w));
        let offset = ex.terms.sub(dead, live);
        facts.push(ex.terms.ule(size, offset));
        facts.push(ex.terms.ne(live, dead));
    }
    facts
}
