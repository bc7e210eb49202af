//! The effect of each operation on a path.

use super::access::{Access, Resolved};
use super::induction::Change;
use super::memory::{Object, Origin};
use super::pure::Shortcut;
use super::state::{Event, Frame, Past, State};
use super::value::{Val, mask};
use super::{At, Decision, Split, Stop, Successors, SymbolicExecution, follow, function_at};
use cfa::{AllocKind, Callee, EdgeId, Expr, ExprId, FuncId, Id, Op, Sort, VarId};
use std::rc::Rc;

impl SymbolicExecution<'_> {
    pub(super) fn execute(&mut self, mut st: State, edge: EdgeId, out: &mut Successors<State>) -> Result<(), Stop> {
        let program = self.program;
        match &program.edges[edge].op {
            Op::Skip => out.push(follow(st)),
            Op::Assign { var, value } if self.abstracting.values_only => self.assign_cases(st, *var, *value, out),
            Op::Assign { var, value } => {
                let value = self.eval(&st, *value);
                self.write_var(&mut st, *var, value);
                out.push(follow(st));
            }
            Op::Load { var, addr } => {
                let len = program.vars[*var].width.div_ceil(8);
                let addr = self.eval(&st, *addr);
                if let Val::Ptr(object, offset) = addr
                    && let Some(o) = st.memory.get(object)
                    && matches!(o.size, Val::Int(size) if offset < size && u64::from(len) <= size - offset)
                {
                    let value = self.read(&mut st, object, offset, len);
                    self.loaded(&mut st, *var, value, len);
                    out.push(follow(st));
                    return Ok(());
                }
                let mut accesses = Resolved::with_outside(Val::Int(u64::from(len)));
                self.resolve(st, addr, false, edge, &mut accesses)?;
                for Access { mut st, object, offset } in accesses.inside {
                    let value = self.read_at(&mut st, object, offset, len);
                    self.loaded(&mut st, *var, value, len);
                    out.push(follow(st));
                }
                // A read elsewhere gives any bytes, or is a fault.
                for mut st in accesses.outside.into_iter().flatten() {
                    let value = match self.abstracting.values_only {
                        true => Val::Unknown,
                        false => Val::Expr(self.pool.fresh_symbol(Sort::Bv(program.vars[*var].width)).1),
                    };
                    self.write_var(&mut st, *var, value);
                    // An abstract state says nothing of executions anyway.
                    if !self.abstracting.on {
                        st.past = st.past.or(Some(Past::Stray(edge)));
                    }
                    out.push(follow(st));
                }
            }
            Op::Store { addr, value } => {
                let width = self.pool.width(*value);
                let len = width.div_ceil(8);
                let addr = self.eval(&st, *addr);
                let value = self.eval(&st, *value);
                let value = self.resize(value, width, 8 * len);
                if let Val::Ptr(object, offset) = addr
                    && let Some(o) = st.memory.get(object)
                    && !o.read_only
                    && matches!(o.size, Val::Int(size) if offset < size && u64::from(len) <= size - offset)
                {
                    self.write(&mut st, object, offset, len, value);
                    out.push(follow(st));
                    return Ok(());
                }
                let mut accesses = Resolved::new(Val::Int(u64::from(len)));
                self.resolve(st, addr, true, edge, &mut accesses)?;
                for Access { mut st, object, offset } in accesses.inside {
                    self.write_at(&mut st, object, offset, len, value);
                    out.push(follow(st));
                }
            }
            Op::Alloc { var, size, align, kind, zeroed } => {
                let from = self.pool.width(*size);
                let size = self.eval(&st, *size);
                let size = self.resize(size, from, program.layout.pointer_width);
                let origin = match kind {
                    AllocKind::Stack => Origin::Stack(edge),
                    AllocKind::Heap => Origin::Heap(edge),
                };
                let object = st.memory.allocate(Object::new(size, *align, origin, *zeroed));
                if *kind == AllocKind::Stack {
                    Rc::make_mut(&mut st.frame).objects.push(object);
                }
                self.write_var(&mut st, *var, Val::Ptr(object, 0));
                out.push(follow(st));
            }
            Op::Free { ptr, kind: AllocKind::Heap } => {
                let ptr = self.eval(&st, *ptr);
                self.free(st, ptr, edge, out)?;
            }
            Op::Free { ptr, kind: AllocKind::Stack } => {
                let ptr = self.eval(&st, *ptr);
                self.end_scope(st, ptr, edge, out);
            }
            Op::Leak(leak) => self.leaks(st, *leak, edge, out)?,
            Op::ObjectSize { var, ptr } => {
                let ptr = self.eval(&st, *ptr);
                let mut accesses = Resolved::new(Val::Int(0));
                self.resolve(st, ptr, false, edge, &mut accesses)?;
                for Access { mut st, object, .. } in accesses.inside {
                    let size = st.memory.get(object).expect("resolved to a live object").size;
                    let size = self.resize(size, program.layout.pointer_width, program.vars[*var].width);
                    self.write_var(&mut st, *var, size);
                    out.push(follow(st));
                }
            }
            Op::ObjectOffset { var, ptr } => {
                let ptr = self.eval(&st, *ptr);
                self.object_offset(st, *var, ptr, edge, out)?;
            }
            Op::Havoc { var, .. } => {
                let value = self.fresh_input(&mut st, program.vars[*var].width);
                self.write_var(&mut st, *var, value);
                out.push(follow(st));
            }
            Op::Copy { dst, src, len } => {
                let (dst, src) = (self.eval(&st, *dst), self.eval(&st, *src));
                let Some(len) = self.length(&st, *len, edge) else { return Ok(()) };
                if len == Val::Int(0) {
                    out.push(follow(st));
                    return Ok(());
                }
                let mut sources = Resolved::new(len);
                self.resolve(st, src, false, edge, &mut sources)?;
                out.extend(sources.empty.into_iter().map(follow));
                for Access { st, object: src, offset: src_offset } in sources.inside {
                    let mut targets = Resolved::new(len);
                    self.resolve(st, dst, true, edge, &mut targets)?;
                    out.extend(targets.empty.into_iter().map(follow));
                    for Access { mut st, object, offset } in targets.inside {
                        self.copy(&mut st, (object, offset), (src, src_offset), len);
                        out.push(follow(st));
                    }
                }
            }
            Op::Fill { dst, byte, len } => {
                let (dst, byte) = (self.eval(&st, *dst), self.eval(&st, *byte));
                let Some(len) = self.length(&st, *len, edge) else { return Ok(()) };
                if len == Val::Int(0) {
                    out.push(follow(st));
                    return Ok(());
                }
                let mut targets = Resolved::new(len);
                self.resolve(st, dst, true, edge, &mut targets)?;
                out.extend(targets.empty.into_iter().map(follow));
                for Access { mut st, object, offset } in targets.inside {
                    self.fill(&mut st, object, offset, byte, len);
                    out.push(follow(st));
                }
            }
            Op::Call { callee, args, varargs, .. } => match *callee {
                Callee::Direct(func) => self.enter(st, edge, func, args, *varargs, out),
                Callee::Indirect(e) => {
                    let callee = self.eval(&st, e);
                    match callee {
                        Val::Int(address) => match function_at(address, program.funcs.len()) {
                            Some(func) => self.enter(st, edge, func, args, *varargs, out),
                            None => self.invalid(&st, edge, "an invalid function pointer is called"),
                        },
                        Val::Expr(_) if self.abstracting.values_only => self.undecided(edge),
                        Val::Expr(e) => match self.split_value(st, e)? {
                            Split::Undecided(st) => self.undecided_split(st, edge, out),
                            Split::Cases { value: address, here, elsewhere } => {
                                let func = address.to_u64().and_then(|a| function_at(a, program.funcs.len()));
                                match (here, func) {
                                    (Some(st), Some(func)) => self.enter(st, edge, func, args, *varargs, out),
                                    (Some(st), None) => {
                                        self.invalid(&st, edge, "an invalid function pointer is called")
                                    }
                                    (None, _) => {}
                                }
                                out.extend(elsewhere.map(|st| (st, At::Source)));
                            }
                        },
                        Val::Ptr(..) | Val::Unset | Val::Unknown => {
                            self.invalid(&st, edge, "an invalid function pointer is called")
                        }
                    }
                }
            },
            Op::Approx { taint } => {
                let t = &program.taints[*taint];
                if t.under && self.abstracting.watching {
                    self.problem(edge, crate::verdict::Reason::at(t.reason.clone(), t.place));
                } else if t.under {
                    self.taints.reach(*taint);
                }
                if t.over {
                    st.past = st.past.or(Some(Past::Approximation(*taint)));
                }
                out.push(follow(st));
            }
            Op::Assume { .. } | Op::Return { .. } | Op::Halt(_) | Op::Error(_) => {
                unreachable!("the exploration handles control")
            }
        }
        Ok(())
    }

    /// An assignment without symbols: where it is unknown which of two values is chosen, there is a state for each.
    fn assign_cases(&mut self, mut st: State, var: VarId, e: ExprId, out: &mut Successors<State>) {
        let value = self.eval(&st, e);
        if value == Val::Unknown
            && let Expr::Ite(cond, then, otherwise) = *self.pool.get(e)
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

    /// Where `ptr` points in its object goes to `var`.
    fn object_offset(
        &mut self,
        st: State,
        var: VarId,
        ptr: Val,
        edge: EdgeId,
        out: &mut Successors<State>,
    ) -> Result<(), Stop> {
        let width = self.program.layout.pointer_width;
        let mut found = Resolved::asking();
        self.resolve(st, ptr, false, edge, &mut found)?;
        for Access { mut st, offset, .. } in found.inside {
            self.write_var(&mut st, var, offset);
            out.push(follow(st));
        }
        for mut st in found.outside.into_iter().flatten() {
            self.write_var(&mut st, var, Val::Int(mask(width, u64::MAX)));
            out.push(follow(st));
        }
        for mut st in found.anywhere.into_iter().flatten() {
            let value = match self.abstracting.values_only {
                true => Val::Unknown,
                false => Val::Expr(self.pool.fresh_symbol(Sort::Bv(width)).1),
            };
            self.write_var(&mut st, var, value);
            if !self.abstracting.on {
                st.past = st.past.or(Some(Past::Stray(edge)));
            }
            out.push(follow(st));
        }
        Ok(())
    }

    /// A value that the program does not determine.
    fn fresh_input(&mut self, st: &mut State, width: u32) -> Val {
        if self.abstracting.values_only {
            return Val::Unknown;
        }
        let (symbol, e) = self.pool.fresh_symbol(Sort::Bv(width));
        st.trail.push(Event::Input(symbol));
        Val::Expr(e)
    }

    fn loaded(&mut self, st: &mut State, var: VarId, value: Val, len: u32) {
        let value = self.resize(value, 8 * len, self.program.vars[var].width);
        self.write_var(st, var, value);
    }

    /// The solver could not say whether the path goes on.
    fn undecided(&mut self, edge: EdgeId) {
        let place = self.program.edges[edge].place;
        self.problem(edge, crate::verdict::Reason::at("the solver gave up", place));
    }

    /// The solver could not split a state by a value: for want of time, it has to execute the edge again.
    fn undecided_split(&mut self, st: State, edge: EdgeId, out: &mut Successors<State>) {
        match self.solver.was_cut_short() {
            true => out.push((st, At::Source)),
            false => self.undecided(edge),
        }
    }

    /// The number of bytes that an operation works on; `None` if it is not tracked.
    fn length(&mut self, st: &State, len: ExprId, edge: EdgeId) -> Option<Val> {
        let len = self.eval(st, len);
        if self.abstracting.values_only && !matches!(len, Val::Int(_)) {
            self.undecided(edge);
            return None;
        }
        // The value of an address is a number like others here.
        let e = self.term(len, self.program.layout.pointer_width);
        Some(if let Val::Int(_) = len { len } else { Val::Expr(e) })
    }

    fn free(&mut self, mut st: State, ptr: Val, edge: EdgeId, out: &mut Successors<State>) -> Result<(), Stop> {
        match ptr {
            Val::Int(0) => out.push(follow(st)),
            Val::Expr(_) if self.abstracting.values_only => self.undecided(edge),
            Val::Ptr(object, 0) => match st.memory.get(object).map(|o| o.origin) {
                Some(Origin::Heap(_)) => {
                    self.changes(&st, object, Change::Freed);
                    st.memory.remove(object);
                    out.push(follow(st));
                }
                Some(_) => self.invalid(&st, edge, "memory is freed that was not allocated"),
                None => self.invalid(&st, edge, "memory is freed twice"),
            },
            Val::Expr(e) => {
                if let Expr::Ite(c, t, f) = *self.pool.get(e) {
                    let (yes, no) = self.decide(st, c)?;
                    for (side, chosen) in [(yes, t), (no, f)] {
                        if let Some(side) = side {
                            let chosen = self.classify(chosen);
                            self.free(side, chosen, edge, out)?;
                        }
                    }
                    return Ok(());
                }
                let w = self.program.layout.pointer_width;
                let mut rest = Some(st);
                for object in self.bases_in(e) {
                    let Some(st) = rest.take() else { break };
                    let base = self.bases.symbol(&mut self.pool, object, w);
                    let equal = self.pool.eq(e, base);
                    let (yes, no) = self.decide(st, equal)?;
                    if let Some(st) = yes {
                        self.free(st, Val::Ptr(object, 0), edge, out)?;
                    }
                    rest = no;
                }
                if let Some(st) = rest {
                    let null = self.pool.int(w, 0);
                    let equal = self.pool.eq(e, null);
                    let (yes, no) = self.decide(st, equal)?;
                    out.extend(yes.map(follow));
                    if let Some(st) = no {
                        self.invalid(&st, edge, "an invalid pointer is freed");
                    }
                }
            }
            Val::Int(_) | Val::Ptr(..) | Val::Unset | Val::Unknown => {
                self.invalid(&st, edge, "an invalid pointer is freed");
            }
        }
        Ok(())
    }

    /// The scope of an object of the stack ends.
    fn end_scope(&mut self, mut st: State, ptr: Val, edge: EdgeId, out: &mut Successors<State>) {
        match ptr {
            Val::Ptr(object, 0) if st.frame.objects.contains(&object) => {
                self.changes(&st, object, Change::Freed);
                Rc::make_mut(&mut st.frame).objects.retain(|&o| o != object);
                st.memory.remove(object);
            }
            Val::Expr(_) | Val::Unknown => return self.undecided(edge),
            // It was never entered.
            _ => {}
        }
        out.push(follow(st));
    }

    /// Enters a function: binds its parameters.
    fn enter(
        &mut self,
        mut st: State,
        edge: EdgeId,
        func: FuncId,
        args: &[ExprId],
        varargs: Option<ExprId>,
        out: &mut Successors<State>,
    ) {
        let program = self.program;
        let function = &program.funcs[func];
        let mut vars = vec![Val::Unset; self.slots.locals[func.index()].len()];
        for (i, &param) in function.params.iter().enumerate() {
            let width = program.vars[param].width;
            let value = match args.get(i) {
                Some(&arg) => {
                    let value = self.eval(&st, arg);
                    let from = self.pool.width(arg);
                    self.resize(value, from, width)
                }
                None => self.fresh_input(&mut st, width),
            };
            vars[self.slots.of_var[param.index()].local()] = value;
        }
        if let Some(param) = function.varargs {
            let value = varargs.map_or(Val::Int(0), |e| self.eval(&st, e));
            vars[self.slots.of_var[param.index()].local()] = value;
        }
        if self.is_pure(func) {
            let value = |&param: &VarId| vars[self.slots.of_var[param.index()].local()];
            let values: Vec<Val> = function.params.iter().map(value).collect();
            st = match self.call_at_once(st, edge, func, &values) {
                Shortcut::Returned(st) => return out.push(follow(st)),
                Shortcut::Ended => return,
                Shortcut::None(st) => st,
            };
        }
        if self.abstracting.on && matches!(program.edges[edge].op, Op::Call { callee: Callee::Indirect(_), .. }) {
            st.trail.push(Event::Decision(Decision::Callee(func)));
        }
        let depth = st.frame.depth + 1;
        let caller = Some(Rc::clone(&st.frame));
        st.frame = Rc::new(Frame { func, vars, objects: Vec::new(), caller, call: Some(edge), depth });
        if self.induction.is_some()
            && let Some(number) = self.loops.recursion(func)
        {
            return self.call_recursive(st, edge, func, number, out);
        }
        out.push((st, At::Callee(func)));
    }

    /// Leaves a function: its stack objects die, its result goes to the caller.
    pub(super) fn return_to(&mut self, mut st: State, return_edge: EdgeId, call_edge: EdgeId) -> State {
        let program = self.program;
        let Op::Return { value } = program.edges[return_edge].op else { panic!("a return edge") };
        let Op::Call { result, .. } = program.edges[call_edge].op else { panic!("a call edge") };
        let value = match (value, result) {
            (Some(value), Some(var)) => {
                let from = self.pool.width(value);
                let value = self.eval(&st, value);
                Some(self.resize(value, from, program.vars[var].width))
            }
            (None, Some(var)) => {
                // A value is taken from a function that gives none.
                Some(self.fresh_input(&mut st, program.vars[var].width))
            }
            _ => None,
        };
        for &object in &st.frame.objects {
            st.memory.remove(object);
        }
        let caller = st.frame.caller.clone().expect("a frame that was entered by a call");
        st.frame = caller;
        if let (Some(value), Some(var)) = (value, result) {
            self.write_var(&mut st, var, value);
        }
        st
    }
}
