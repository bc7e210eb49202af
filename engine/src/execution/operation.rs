//! The effect of each operation on a state.

use super::eval::function_address;
use super::fault::{Fault, FaultKind};
use super::memory::{Object, Origin};
use super::pointer::{Access, Resolution};
use super::state::State;
use super::value::{Val, mask};
use super::{At, Execution, Split, blocks, function_at};
use cfa::{AllocKind, Callee, EdgeId, Expr, ExprId, Op, Sort, VarId};
use std::rc::Rc;

/// What became of the states before an operation.
pub type Successors = Vec<(State, At)>;

/// A successor at the target of its edge.
fn follow(st: State) -> (State, At) {
    (st, At::Target)
}

impl Execution<'_> {
    /// The effect of an operation that is not an assume or a return. What is a fault is kept for [`take_faults`](Self::take_faults).
    pub fn step(&mut self, mut st: State, edge: EdgeId, out: &mut Successors) {
        let program = self.program;
        match &program.edges[edge].op {
            Op::Skip | Op::Approx { .. } => out.push(follow(st)),
            Op::Assign { var, value } if !self.names_unknowns() => self.assign_cases(st, *var, *value, out),
            Op::Assign { var, value } => {
                let value = self.eval(&st, *value);
                self.write_var(&mut st, *var, value);
                out.push(follow(st));
            }
            Op::Load { var, addr } => self.load(st, *var, *addr, out),
            Op::Store { addr, value } => self.store(st, *addr, *value, out),
            Op::Alloc { var, size, align, kind, zeroed } => {
                let from = self.terms.width(*size);
                let size = self.eval(&st, *size);
                let size = self.terms.resized(size, from, program.layout.pointer_width);
                let origin = match kind {
                    AllocKind::Stack => Origin::Stack(edge),
                    AllocKind::Heap | AllocKind::Library => Origin::Heap(edge),
                };
                let object = st.memory.allocate(Object::new(size, *align, origin, *zeroed));
                if *kind == AllocKind::Stack {
                    Rc::make_mut(&mut st.frame).objects.push(object);
                }
                self.write_var(&mut st, *var, Val::Ptr(object, 0));
                out.push(follow(st));
            }
            Op::Free { ptr, kind } => {
                let ptr = self.eval(&st, *ptr);
                match kind {
                    AllocKind::Stack => self.end_scope(st, ptr, out),
                    AllocKind::Heap | AllocKind::Library => self.free(st, ptr, out),
                }
            }
            Op::Leak(leak) => self.leaks(st, *leak, edge, out),
            Op::ObjectSize { var, ptr } => {
                let ptr = self.eval(&st, *ptr);
                for Access { mut st, object, .. } in Resolution::read(self, st, ptr, Val::Int(0)).inside {
                    let size = st.memory.get(object).expect("resolved to a live object").size;
                    let size = self.terms.resized(size, program.layout.pointer_width, program.vars[*var].width);
                    self.write_var(&mut st, *var, size);
                    out.push(follow(st));
                }
            }
            Op::ObjectOffset { var, ptr } => self.object_offset(st, *var, *ptr, out),
            Op::Havoc { var, .. } => {
                let value = self.fresh_input(&mut st, program.vars[*var].width);
                self.write_var(&mut st, *var, value);
                out.push(follow(st));
            }
            Op::Copy { dst, src, len } => self.copy(st, *dst, *src, *len, out),
            Op::Fill { dst, byte, len } => self.fill(st, *dst, *byte, *len, out),
            Op::Call { callee: Callee::Direct(func), args, varargs, .. } => {
                self.enter(st, edge, *func, args, *varargs, out);
            }
            Op::Call { callee: Callee::Indirect(pointer), args, varargs, .. } => {
                self.call_pointer(st, edge, *pointer, args, *varargs, out);
            }
            Op::Assume { .. } | Op::Return { .. } | Op::Halt(_) | Op::Error(_) => {
                unreachable!("the exploration handles control")
            }
        }
    }

    /// The faults of the last step.
    #[inline]
    pub fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
    }

    /// `st` behind an operation whose result may be anything.
    pub fn any_result(&mut self, mut st: State, edge: EdgeId) -> State {
        let var = self.program.edges[edge].op.def().expect("an operation with a result");
        let value = match self.names_unknowns() {
            true => Val::Expr(self.terms.fresh_symbol(Sort::Bv(self.program.vars[var].width)).1),
            false => Val::Unknown,
        };
        self.write_var(&mut st, var, value);
        st
    }

    /// An assignment without symbols: where it is unknown which of two values is chosen, there is a state for each.
    fn assign_cases(&mut self, mut st: State, var: VarId, e: ExprId, out: &mut Successors) {
        let value = self.eval(&st, e);
        if value == Val::Unknown
            && let Expr::Ite(cond, then, otherwise) = *self.terms.get(e)
            && self.eval(&st, cond) == Val::Unknown
            && [then, otherwise].into_iter().any(|e| self.eval(&st, e) != Val::Unknown)
        {
            let yes = self.assume_value(st.clone(), cond, true);
            let no = self.assume_value(st, cond, false);
            self.assign_cases(yes, var, then, out);
            self.assign_cases(no, var, otherwise, out);
            return;
        }
        self.write_var(&mut st, var, value);
        out.push(follow(st));
    }

    fn load(&mut self, mut st: State, var: VarId, addr: ExprId, out: &mut Successors) {
        let len = self.program.vars[var].width.div_ceil(8);
        let addr = self.eval(&st, addr);
        if let Val::Ptr(object, offset) = addr
            && let Some(o) = st.memory.get(object)
            && matches!(o.size, Val::Int(size) if offset < size && u64::from(len) <= size - offset)
        {
            let value = self.read(&mut st, object, offset, len);
            self.loaded(&mut st, var, value, len);
            out.push(follow(st));
            return;
        }
        for Access { mut st, object, offset } in Resolution::read(self, st, addr, Val::Int(u64::from(len))).inside {
            let value = self.read_at(&mut st, object, offset, len);
            self.loaded(&mut st, var, value, len);
            out.push(follow(st));
        }
    }

    fn loaded(&mut self, st: &mut State, var: VarId, value: Val, len: u32) {
        let value = self.terms.resized(value, 8 * len, self.program.vars[var].width);
        self.write_var(st, var, value);
    }

    fn store(&mut self, mut st: State, addr: ExprId, value: ExprId, out: &mut Successors) {
        let width = self.terms.width(value);
        let len = width.div_ceil(8);
        let addr = self.eval(&st, addr);
        let value = self.eval(&st, value);
        let value = self.terms.resized(value, width, 8 * len);
        if let Val::Ptr(object, offset) = addr
            && let Some(o) = st.memory.get(object)
            && !o.read_only
            && matches!(o.size, Val::Int(size) if offset < size && u64::from(len) <= size - offset)
        {
            self.write(&mut st, object, offset, len, value);
            out.push(follow(st));
            return;
        }
        for Access { mut st, object, offset } in Resolution::write(self, st, addr, Val::Int(u64::from(len))).inside {
            self.write_at(&mut st, object, offset, len, value);
            out.push(follow(st));
        }
    }

    fn copy(&mut self, st: State, dst: ExprId, src: ExprId, len: ExprId, out: &mut Successors) {
        let (dst, src) = (self.eval(&st, dst), self.eval(&st, src));
        let Some((st, len)) = self.length(st, len) else { return };
        if len == Val::Int(0) {
            out.push(follow(st));
            return;
        }
        let sources = Resolution::read(self, st, src, len);
        out.extend(sources.empty.into_iter().map(follow));
        for Access { st, object: src, offset: src_offset } in sources.inside {
            let targets = Resolution::write(self, st, dst, len);
            out.extend(targets.empty.into_iter().map(follow));
            for Access { mut st, object, offset } in targets.inside {
                blocks::copy(self, &mut st, (object, offset), (src, src_offset), len);
                out.push(follow(st));
            }
        }
    }

    fn fill(&mut self, st: State, dst: ExprId, byte: ExprId, len: ExprId, out: &mut Successors) {
        let (dst, byte) = (self.eval(&st, dst), self.eval(&st, byte));
        let Some((st, len)) = self.length(st, len) else { return };
        if len == Val::Int(0) {
            out.push(follow(st));
            return;
        }
        let targets = Resolution::write(self, st, dst, len);
        out.extend(targets.empty.into_iter().map(follow));
        for Access { mut st, object, offset } in targets.inside {
            blocks::fill(self, &mut st, object, offset, byte, len);
            out.push(follow(st));
        }
    }

    /// The number of bytes that an operation works on; if it is not tracked, the operation is undecided.
    fn length(&mut self, st: State, len: ExprId) -> Option<(State, Val)> {
        let len = self.eval(&st, len);
        if !self.names_unknowns() && !matches!(len, Val::Int(_)) {
            self.fault(st, FaultKind::Undecided, None);
            return None;
        }
        // The value of an address is a number like others here.
        let e = self.terms.term(len, self.program.layout.pointer_width);
        Some((st, if let Val::Int(_) = len { len } else { Val::Expr(e) }))
    }

    /// Where a pointer points in its object goes to `var`. Where nothing is known of it, that is a fault of which any result
    /// can be taken.
    fn object_offset(&mut self, st: State, var: VarId, ptr: ExprId, out: &mut Successors) {
        let ptr = self.eval(&st, ptr);
        let found = Resolution::asking(self, st, ptr);
        for Access { mut st, offset, .. } in found.inside {
            self.write_var(&mut st, var, offset);
            out.push(follow(st));
        }
        for mut st in found.outside {
            self.write_var(&mut st, var, Val::Int(mask(self.program.layout.pointer_width, u64::MAX)));
            out.push(follow(st));
        }
    }

    fn free(&mut self, mut st: State, ptr: Val, out: &mut Successors) {
        match ptr {
            Val::Int(0) => out.push(follow(st)),
            Val::Expr(_) if !self.names_unknowns() => self.fault(st, FaultKind::Undecided, None),
            Val::Ptr(object, 0) => match st.memory.get(object).map(|o| o.origin) {
                Some(Origin::Heap(_)) => {
                    self.note(&st, object, true);
                    st.memory.remove(object);
                    out.push(follow(st));
                }
                Some(_) => self.fault(st, FaultKind::NotAllocated, Some(object)),
                None => self.fault(st, FaultKind::FreedTwice, Some(object)),
            },
            Val::Expr(e) => self.free_term(st, e, out),
            Val::Int(_) | Val::Ptr(..) | Val::Unset | Val::Unknown => self.fault(st, FaultKind::InvalidFree, None),
        }
    }

    fn free_term(&mut self, st: State, e: ExprId, out: &mut Successors) {
        if let Expr::Ite(c, t, f) = *self.terms.get(e) {
            let (yes, no) = self.decide(st, c);
            for (side, chosen) in [(yes, t), (no, f)] {
                if let Some(side) = side {
                    let chosen = self.terms.classify(chosen);
                    self.free(side, chosen, out);
                }
            }
            return;
        }
        let mut rest = Some(st);
        for object in self.terms.bases_in(e) {
            let Some(st) = rest.take() else { break };
            let base = self.terms.base(object);
            let equal = self.terms.eq(e, base);
            let (yes, no) = self.decide(st, equal);
            if let Some(st) = yes {
                self.free(st, Val::Ptr(object, 0), out);
            }
            rest = no;
        }
        if let Some(st) = rest {
            let null = self.terms.int(self.program.layout.pointer_width, 0);
            let equal = self.terms.eq(e, null);
            let (yes, no) = self.decide(st, equal);
            out.extend(yes.map(follow));
            if let Some(st) = no {
                self.fault(st, FaultKind::InvalidFree, None);
            }
        }
    }

    /// The scope of an object of the stack ends.
    fn end_scope(&mut self, mut st: State, ptr: Val, out: &mut Successors) {
        match ptr {
            Val::Ptr(object, 0) if st.frame.objects.contains(&object) => {
                self.note(&st, object, true);
                Rc::make_mut(&mut st.frame).objects.retain(|&o| o != object);
                st.memory.remove(object);
            }
            Val::Expr(_) | Val::Unknown => return self.fault(st, FaultKind::Undecided, None),
            // It was never entered.
            _ => {}
        }
        out.push(follow(st));
    }

    fn call_pointer(
        &mut self,
        st: State,
        edge: EdgeId,
        pointer: ExprId,
        args: &[ExprId],
        varargs: Option<ExprId>,
        out: &mut Successors,
    ) {
        let functions = self.program.funcs.len();
        match self.eval(&st, pointer) {
            Val::Int(address) => match function_at(address, functions) {
                Some(func) => self.enter(st, edge, func, args, varargs, out),
                None => self.fault(st, FaultKind::InvalidFunction, None),
            },
            Val::Expr(_) if !self.names_unknowns() => self.fault(st, FaultKind::Undecided, None),
            Val::Expr(e) => match self.leads_to_function(st, e).map(|st| self.split_value(st, e)) {
                None => {}
                Some(split) => match split {
                    // For want of time, it has to execute the edge again.
                    Split::Undecided(st) if self.solver.was_cut_short() => out.push((st, At::Source)),
                    Split::Undecided(st) => self.fault(st, FaultKind::Undecided, None),
                    Split::Cases { value: address, here, elsewhere } => {
                        let func = address.to_u64().and_then(|a| function_at(a, functions));
                        match (here, func) {
                            (Some(st), Some(func)) => self.enter(st, edge, func, args, varargs, out),
                            (Some(st), None) => self.fault(st, FaultKind::InvalidFunction, None),
                            (None, _) => {}
                        }
                        out.extend(elsewhere.map(|st| (st, At::Source)));
                    }
                },
            },
            Val::Ptr(..) | Val::Unset | Val::Unknown => self.fault(st, FaultKind::InvalidFunction, None),
        }
    }

    /// The part of `st` in which a pointer leads to a function whose address the program takes; elsewhere it leads to none that
    /// could be meant, and there are too many places to try them one by one.
    fn leads_to_function(&mut self, st: State, pointer: ExprId) -> Option<State> {
        let w = self.program.layout.pointer_width;
        let mut known = self.terms.bool(false);
        for func in self.taken.clone() {
            let address = self.terms.int(w, function_address(func));
            let here = self.terms.eq(pointer, address);
            known = self.terms.or(known, here);
        }
        let (here, elsewhere) = self.decide(st, known);
        if let Some(st) = elsewhere {
            self.fault(st, FaultKind::InvalidFunction, None);
        }
        here
    }
}
