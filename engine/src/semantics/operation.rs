//! The effect of each operation on a path state.

use super::fault::{Fault, FaultKind};
use super::memory::{Object, Origin};
use super::pointer::{Access, Resolution};
use super::state::{State, Successors};
use super::value::{ObjId, Val, mask};
use super::{At, Execution, Split, leak, segment};
use cfa::interp::{function_address, function_at};
use cfa::{AllocKind, Callee, EdgeId, Expr, ExprId, Family, Op, Sort, VarId};
use std::rc::Rc;

impl Execution<'_> {
    /// Executes an operation that is not an assume, return, halt or error. Appends the successors to `out`. Faults are
    /// kept for [`take_faults`](Self::take_faults).
    pub fn step(&mut self, st: State, edge: EdgeId, out: &mut Successors) {
        let of_shadows = matches!(self.program.edges[edge].op, Op::Shadow(_));
        Step { ex: self, edge, of_shadows, out }.execute(st);
    }

    /// Returns and clears the faults of the last step.
    #[inline]
    pub fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
    }

    /// The successor of `st` by an operation whose result is arbitrary. Panics if the operation has no result.
    pub fn any_result(&mut self, mut st: State, edge: EdgeId) -> State {
        let var = self.program.edges[edge].op.def().expect("an operation with a result");
        let value = match self.mode.names_unknowns {
            true => Val::Expr(self.terms.fresh_symbol(Sort::Bv(self.program.vars[var].width)).1),
            false => Val::Unknown,
        };
        self.write_var(&mut st, var, value);
        st
    }
}

/// The execution of one operation.
struct Step<'e, 'p, 'o> {
    ex: &'e mut Execution<'p>,
    edge: EdgeId,
    /// If true, the operation reads and writes the shadows of objects.
    of_shadows: bool,
    out: &'o mut Successors,
}

impl Step<'_, '_, '_> {
    /// Executes the operation on one state.
    fn execute(&mut self, mut st: State) {
        let program = self.ex.program;
        match program.edges[self.edge].op.unshadowed() {
            Op::Skip | Op::Approx { .. } => self.follow(st),
            Op::Assign { var, value } if !self.ex.mode.names_unknowns => self.assign_cases(st, *var, *value),
            Op::Assign { var, value } => {
                let value = self.ex.eval(&st, *value);
                self.ex.write_var(&mut st, *var, value);
                self.follow(st);
            }
            Op::Load { var, addr } => self.load(st, *var, *addr),
            Op::Store { addr, value } => self.store(st, *addr, *value),
            Op::Alloc { var, size, align, kind, zeroed } => {
                let from = self.ex.terms.width(*size);
                let size = self.ex.eval(&st, *size);
                let size = self.ex.terms.resized(size, from, program.layout.pointer_width);
                let origin = match kind {
                    AllocKind::Stack => Origin::Stack(self.edge),
                    AllocKind::Heap(_) | AllocKind::Library(_) | AllocKind::Given | AllocKind::Placeholder => {
                        Origin::Heap(self.edge)
                    }
                };
                let object = st.memory.allocate(Object::new(size, *align, origin, *zeroed));
                if *kind == AllocKind::Stack {
                    Rc::make_mut(&mut st.frame).objects.push(object);
                }
                self.ex.write_var(&mut st, *var, Val::Ptr(object, 0));
                self.follow(st);
            }
            Op::Free { ptr, family } => {
                let ptr = self.ex.eval(&st, *ptr);
                match family {
                    Family::Scope => self.end_scope(st, ptr),
                    _ => self.free(st, ptr, *family),
                }
            }
            Op::Leak(leak) => leak::split(self.ex, st, *leak, self.edge, self.out),
            Op::ObjectSize { var, ptr, family } => {
                let ptr = self.ex.eval(&st, *ptr);
                let width = program.layout.pointer_width;
                for Access { st, object, offset } in Resolution::read(self.ex, st, ptr, Val::Int(0)).inside {
                    let (offset, zero) = (self.ex.terms.term(offset, width), self.ex.terms.int(width, 0));
                    let is_start = self.ex.terms.eq(offset, zero);
                    let (start, inner) = self.ex.decide(st, is_start);
                    if let Some(st) = inner {
                        self.ex.fault(st, FaultKind::InvalidFree, Some(object));
                    }
                    let Some(mut st) = start else { continue };
                    let object_there = st.memory.get(object).expect("resolved to a live object");
                    if family.is_some() && object_there.origin.family(program) != *family {
                        self.ex.fault(st, FaultKind::NotAllocated, Some(object));
                        continue;
                    }
                    let size = object_there.size;
                    let size = self.ex.terms.resized(size, width, program.vars[*var].width);
                    self.ex.write_var(&mut st, *var, size);
                    self.follow(st);
                }
            }
            Op::ObjectOffset { var, ptr, writable } => self.object_offset(st, *var, *ptr, *writable),
            Op::Havoc { var, .. } => {
                let value = self.ex.fresh_input(&mut st, self.edge, program.vars[*var].width);
                self.ex.write_var(&mut st, *var, value);
                self.follow(st);
            }
            Op::Copy { dst, src, len } => self.copy(st, *dst, *src, *len),
            Op::Fill { dst, byte, len } => self.fill(st, *dst, *byte, *len),
            Op::Call { callee: Callee::Direct(func), args, varargs, .. } => {
                self.ex.enter(st, self.edge, *func, args, *varargs, self.out);
            }
            Op::Call { callee: Callee::Indirect(pointer), args, varargs, .. } => {
                self.call_pointer(st, *pointer, args, *varargs);
            }
            Op::Shadow(_) => unreachable!("a shadow has none"),
            Op::Assume { .. } | Op::Return { .. } | Op::Halt(_) | Op::Error(_) => {
                unreachable!("the exploration handles control")
            }
        }
    }

    /// The object whose content the operation accesses: the object itself or its shadow.
    #[inline]
    fn content_of(&self, object: ObjId) -> ObjId {
        if self.of_shadows { object.shadow() } else { object }
    }

    /// Adds a successor at the target of the edge.
    fn follow(&mut self, st: State) {
        self.out.push((st, At::Target));
    }

    /// Executes an assignment without symbols. If the condition of an if-then-else is unknown and an alternative is
    /// known, the state splits.
    fn assign_cases(&mut self, mut st: State, var: VarId, e: ExprId) {
        let value = self.ex.eval(&st, e);
        if value == Val::Unknown
            && let Expr::Ite(cond, then, otherwise) = *self.ex.terms.get(e)
            && self.ex.eval(&st, cond) == Val::Unknown
            && [then, otherwise].into_iter().any(|e| self.ex.eval(&st, e) != Val::Unknown)
        {
            let yes = self.ex.assume_value(st.clone(), cond, true);
            let no = self.ex.assume_value(st, cond, false);
            self.assign_cases(yes, var, then);
            self.assign_cases(no, var, otherwise);
            return;
        }
        self.ex.write_var(&mut st, var, value);
        self.follow(st);
    }

    fn load(&mut self, mut st: State, var: VarId, addr: ExprId) {
        let len = self.ex.program.vars[var].width.div_ceil(8);
        let addr = self.ex.eval(&st, addr);
        if let Val::Ptr(object, offset) = addr
            && let Some(o) = st.memory.get(object)
            && matches!(o.size, Val::Int(size) if offset < size && u64::from(len) <= size - offset)
        {
            let content = self.content_of(object);
            let value = self.ex.read(&mut st, content, offset, len);
            if self.ex.unfolds && self.load_unfolded(&mut st, var, (content, offset, len), value) {
                return;
            }
            self.loaded(&mut st, var, value, len);
            self.follow(st);
            return;
        }
        for Access { mut st, object, offset } in Resolution::read(self.ex, st, addr, Val::Int(u64::from(len))).inside {
            let value = self.ex.read_at(&mut st, self.content_of(object), offset, len);
            self.loaded(&mut st, var, value, len);
            self.follow(st);
        }
    }

    /// Unfolds the list segment that the loaded `value` points to, if there is one, because variables may point to
    /// single nodes only. Returns false if there is none.
    fn load_unfolded(
        &mut self,
        st: &mut State,
        var: VarId,
        (object, offset, len): (ObjId, u64, u32),
        value: Val,
    ) -> bool {
        let states = match value {
            Val::Ptr(segment, _) => segment::unfold(self.ex, st, segment),
            Val::Expr(e) if self.ex.terms.bases_in(e).iter().any(|&o| segment::is_summary(st, o)) => {
                self.loaded(st, var, Val::Unknown, len);
                self.follow(st.clone());
                return true;
            }
            _ => None,
        };
        let Some(states) = states else { return false };
        for mut st in states {
            let value = self.ex.read(&mut st, object, offset, len);
            self.loaded(&mut st, var, value, len);
            self.follow(st);
        }
        true
    }

    fn loaded(&mut self, st: &mut State, var: VarId, value: Val, len: u32) {
        let value = self.ex.terms.resized(value, 8 * len, self.ex.program.vars[var].width);
        self.ex.write_var(st, var, value);
    }

    fn store(&mut self, mut st: State, addr: ExprId, value: ExprId) {
        let width = self.ex.terms.width(value);
        let len = width.div_ceil(8);
        let addr = self.ex.eval(&st, addr);
        let value = self.ex.eval(&st, value);
        let value = self.ex.terms.resized(value, width, 8 * len);
        if let Val::Ptr(object, offset) = addr
            && let Some(o) = st.memory.get(object)
            && !o.read_only
            && matches!(o.size, Val::Int(size) if offset < size && u64::from(len) <= size - offset)
        {
            self.ex.write(&mut st, self.content_of(object), offset, len, value);
            self.follow(st);
            return;
        }
        for Access { mut st, object, offset } in Resolution::write(self.ex, st, addr, Val::Int(u64::from(len))).inside {
            self.ex.write_at(&mut st, self.content_of(object), offset, len, value);
            self.follow(st);
        }
    }

    fn copy(&mut self, st: State, dst: ExprId, src: ExprId, len: ExprId) {
        let (dst, src) = (self.ex.eval(&st, dst), self.ex.eval(&st, src));
        let Some((st, len)) = self.length(st, len) else { return };
        if len == Val::Int(0) {
            self.follow(st);
            return;
        }
        let sources = Resolution::read(self.ex, st, src, len);
        sources.empty.into_iter().for_each(|st| self.follow(st));
        for Access { st, object: src, offset: src_offset } in sources.inside {
            let targets = Resolution::write(self.ex, st, dst, len);
            targets.empty.into_iter().for_each(|st| self.follow(st));
            for Access { mut st, object, offset } in targets.inside {
                let (dst, src) = (self.content_of(object), self.content_of(src));
                self.ex.copy_block(&mut st, (dst, offset), (src, src_offset), len);
                self.follow(st);
            }
        }
    }

    fn fill(&mut self, st: State, dst: ExprId, byte: ExprId, len: ExprId) {
        let (dst, byte) = (self.ex.eval(&st, dst), self.ex.eval(&st, byte));
        let Some((st, len)) = self.length(st, len) else { return };
        if len == Val::Int(0) {
            self.follow(st);
            return;
        }
        let targets = Resolution::write(self.ex, st, dst, len);
        targets.empty.into_iter().for_each(|st| self.follow(st));
        for Access { mut st, object, offset } in targets.inside {
            let object = self.content_of(object);
            self.ex.fill_block(&mut st, object, offset, byte, len);
            self.follow(st);
        }
    }

    /// The length of a block operation. If the length is not tracked, the operation is an undecided fault.
    fn length(&mut self, st: State, len: ExprId) -> Option<(State, Val)> {
        let len = self.ex.eval(&st, len);
        if !self.ex.mode.names_unknowns && !matches!(len, Val::Int(_)) {
            self.ex.fault(st, FaultKind::Undecided, None);
            return None;
        }
        // An address as a length is a number like any other.
        let e = self.ex.terms.term(len, self.ex.program.layout.pointer_width);
        Some((st, if let Val::Int(_) = len { len } else { Val::Expr(e) }))
    }

    /// Assigns to `var` the offset of a pointer in its object, or a code if there is none.
    fn object_offset(&mut self, st: State, var: VarId, ptr: ExprId, writable: bool) {
        let ptr = self.ex.eval(&st, ptr);
        let found = Resolution::asking(self.ex, st, ptr);
        let width = self.ex.program.layout.pointer_width;
        for Access { mut st, object, offset } in found.inside {
            let offset = match st.memory.get(object) {
                Some(o) if o.origin.is_placeholder(self.ex.program) => Val::Int(mask(width, Op::IN_PLACEHOLDER)),
                Some(o) if o.read_only && writable => Val::Int(mask(width, Op::NOWHERE)),
                _ => offset,
            };
            self.ex.write_var(&mut st, var, offset);
            self.follow(st);
        }
        for mut st in found.outside {
            self.ex.write_var(&mut st, var, Val::Int(mask(width, Op::NOWHERE)));
            self.follow(st);
        }
    }

    /// Frees the object at `ptr`, which must belong to `family`.
    fn free(&mut self, mut st: State, ptr: Val, family: Family) {
        match ptr {
            Val::Int(0) => self.follow(st),
            Val::Expr(_) if !self.ex.mode.names_unknowns => self.ex.fault(st, FaultKind::Undecided, None),
            Val::Ptr(object, 0) if segment::is_summary(&st, object) => self.ex.fault(st, FaultKind::Undecided, None),
            Val::Ptr(object, 0) => match st.memory.get(object).map(|o| o.origin.family(self.ex.program)) {
                Some(of) if of == Some(family) => {
                    self.ex.note(&st, object, true);
                    st.memory.remove(object);
                    self.follow(st);
                }
                Some(_) => self.ex.fault(st, FaultKind::NotAllocated, Some(object)),
                None => self.ex.fault(st, FaultKind::FreedTwice, Some(object)),
            },
            Val::Expr(e) => self.free_term(st, e, family),
            Val::Int(_) | Val::Ptr(..) | Val::Unset | Val::Unknown => self.ex.fault(st, FaultKind::InvalidFree, None),
        }
    }

    fn free_term(&mut self, st: State, e: ExprId, family: Family) {
        if let Expr::Ite(c, t, f) = *self.ex.terms.get(e) {
            let (yes, no) = self.ex.decide(st, c);
            for (side, chosen) in [(yes, t), (no, f)] {
                if let Some(side) = side {
                    let chosen = self.ex.terms.classify(chosen);
                    self.free(side, chosen, family);
                }
            }
            return;
        }
        let mut rest = Some(st);
        for object in self.ex.terms.bases_in(e) {
            let Some(st) = rest.take() else { break };
            let base = self.ex.terms.base(object);
            let equal = self.ex.terms.eq(e, base);
            let (yes, no) = self.ex.decide(st, equal);
            if let Some(st) = yes {
                self.free(st, Val::Ptr(object, 0), family);
            }
            rest = no;
        }
        if let Some(st) = rest {
            let null = self.ex.terms.int(self.ex.program.layout.pointer_width, 0);
            let equal = self.ex.terms.eq(e, null);
            let (yes, no) = self.ex.decide(st, equal);
            yes.into_iter().for_each(|st| self.follow(st));
            if let Some(st) = no {
                self.ex.fault(st, FaultKind::InvalidFree, None);
            }
        }
    }

    /// Ends the life of a stack object whose scope ends.
    fn end_scope(&mut self, mut st: State, ptr: Val) {
        match ptr {
            Val::Ptr(object, 0) if st.frame.objects.contains(&object) => {
                self.ex.note(&st, object, true);
                Rc::make_mut(&mut st.frame).objects.retain(|&o| o != object);
                st.memory.remove(object);
            }
            Val::Expr(_) | Val::Unknown => return self.ex.fault(st, FaultKind::Undecided, None),
            // The scope was never entered.
            _ => {}
        }
        self.follow(st);
    }

    fn call_pointer(&mut self, st: State, pointer: ExprId, args: &[ExprId], varargs: Option<ExprId>) {
        let functions = self.ex.program.funcs.len();
        match self.ex.eval(&st, pointer) {
            Val::Int(address) => match function_at(address, functions) {
                Some(func) => self.ex.enter(st, self.edge, func, args, varargs, self.out),
                None => self.ex.fault(st, FaultKind::InvalidFunction, None),
            },
            Val::Expr(_) if !self.ex.mode.names_unknowns => self.ex.fault(st, FaultKind::Undecided, None),
            Val::Expr(e) => match self.leads_to_function(st, e).map(|st| self.ex.split_value(st, e)) {
                None => {}
                Some(split) => match split {
                    // The solver ran out of time: the edge has to be executed again.
                    Split::Undecided(st) if self.ex.solver.was_cut_short() => self.out.push((st, At::Source)),
                    Split::Undecided(st) => self.ex.fault(st, FaultKind::Undecided, None),
                    Split::Cases { value: address, here, elsewhere } => {
                        let func = address.to_u64().and_then(|a| function_at(a, functions));
                        match (here, func) {
                            (Some(st), Some(func)) => self.ex.enter(st, self.edge, func, args, varargs, self.out),
                            (Some(st), None) => self.ex.fault(st, FaultKind::InvalidFunction, None),
                            (None, _) => {}
                        }
                        self.out.extend(elsewhere.map(|st| (st, At::Source)));
                    }
                },
            },
            Val::Ptr(..) | Val::Unset | Val::Unknown => self.ex.fault(st, FaultKind::InvalidFunction, None),
        }
    }

    /// The state in which a pointer equals the address of a function that the program takes. The rest is a fault.
    /// Without this step, the caller would have to enumerate arbitrary addresses.
    fn leads_to_function(&mut self, st: State, pointer: ExprId) -> Option<State> {
        let w = self.ex.program.layout.pointer_width;
        let mut known = self.ex.terms.bool(false);
        for func in self.ex.taken.clone() {
            let address = self.ex.terms.int(w, function_address(func));
            let here = self.ex.terms.eq(pointer, address);
            known = self.ex.terms.or(known, here);
        }
        let (here, elsewhere) = self.ex.decide(st, known);
        if let Some(st) = elsewhere {
            self.ex.fault(st, FaultKind::InvalidFunction, None);
        }
        here
    }
}
