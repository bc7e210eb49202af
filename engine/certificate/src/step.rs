//! The effect of operations and calls on a set of executions.

use super::*;
use cfa::{Callee, Family, Op};

impl Checker<'_> {
    /// Applies an edge; `None` if no execution continues.
    pub(super) fn step(&mut self, mut st: State, edge: EdgeId) -> Checked<Option<State>> {
        let program = self.program;
        let is_asked = program.edges[edge].fault.is_some();
        match &program.edges[edge].op {
            Op::Skip => {}
            // The checker does not model shadow memory.
            Op::Shadow(op) => {
                if is_asked {
                    self.never(&mut st, "it depends on whether memory is initialised")?;
                }
                if let Some(var) = op.def() {
                    let value = self.unknown(program.vars[var].width);
                    self.set(&mut st, var, value);
                }
            }
            Op::Assign { var, value } => {
                let value = self.eval(&st, *value);
                self.set(&mut st, *var, value);
            }
            Op::Havoc { var, .. } => {
                let value = self.fresh(program.vars[*var].width);
                self.set(&mut st, *var, value);
            }
            Op::Load { var, addr } => {
                let addr = self.eval(&st, *addr);
                let value = access::load(self, &mut st, addr, program.vars[*var].width, is_asked)?;
                self.set(&mut st, *var, value);
            }
            Op::Store { addr, value } => {
                let (addr, value) = (self.eval(&st, *addr), self.eval(&st, *value));
                access::store(self, &mut st, addr, value, is_asked)?;
            }
            Op::Alloc { var, size, align, kind, zeroed } => {
                let size = self.eval(&st, *size);
                let base = access::allocate(self, &mut st, edge, size, *align, *kind, *zeroed);
                self.set(&mut st, *var, base);
            }
            Op::Free { ptr, family: Family::Scope } => {
                let ptr = self.eval(&st, *ptr);
                access::end_scope(self, &mut st, ptr)?;
            }
            Op::Free { ptr, family } => {
                let ptr = self.eval(&st, *ptr);
                access::free(self, &mut st, ptr, *family, is_asked)?;
            }
            Op::Leak(_) => {
                if is_asked {
                    self.leaks_nothing(&mut st)?;
                }
            }
            Op::ObjectSize { var, ptr, family } => {
                let ptr = self.eval(&st, *ptr);
                let value = access::object_size(self, &mut st, ptr, *family, is_asked)?;
                self.set(&mut st, *var, value);
            }
            Op::ObjectOffset { var, ptr, writable } => {
                let ptr = self.eval(&st, *ptr);
                let value = access::object_offset(self, &st, ptr, *writable);
                self.set(&mut st, *var, value);
            }
            Op::Copy { dst, src, len } => {
                let (dst, src, len) = (self.eval(&st, *dst), self.eval(&st, *src), self.eval(&st, *len));
                access::copy(self, &mut st, dst, src, len, is_asked)?;
            }
            Op::Fill { dst, byte, len } => {
                let (dst, byte, len) = (self.eval(&st, *dst), self.eval(&st, *byte), self.eval(&st, *len));
                access::fill(self, &mut st, dst, byte, len, is_asked)?;
            }
            Op::Approx { taint } => {
                if program.taints[*taint].under {
                    self.never(&mut st, "it depends on an operation that is not modelled")?;
                }
            }
            Op::Call { callee: Callee::Direct(func), args, varargs, result } => {
                return self.call(st, *func, args, *varargs, *result);
            }
            Op::Call { callee: Callee::Indirect(pointer), args, varargs, result } => {
                let pointer = self.eval(&st, *pointer);
                return self.call_pointer(st, pointer, args, *varargs, *result, is_asked);
            }
            Op::Assume { .. } | Op::Return { .. } | Op::Halt(_) | Op::Error(_) => unreachable!("done by the walk"),
        }
        Ok(Some(st))
    }

    /// Checks for leaks: no heap object is alive.
    fn leaks_nothing(&mut self, st: &mut State) -> Checked {
        // Objects of other iterations have no entry.
        if self.heap_in_loops || !self.around.is_empty() {
            return self.never(st, "loops allocate memory, whose objects it does not count");
        }
        let mut holds = self.pool.bool(true);
        for (&object, slot) in Rc::clone(&st.memory).iter() {
            if matches!(self.objects[object as usize].kind, ObjectKind::Heap(_)) {
                let dead = self.pool.not(slot.alive);
                holds = self.pool.and(holds, dead);
            }
        }
        self.claim(st, holds, "memory leaks")
    }

    /// Applies a call through a pointer. The pointer has to be the address of a function.
    fn call_pointer(
        &mut self,
        st: State,
        pointer: ExprId,
        args: &[ExprId],
        varargs: Option<ExprId>,
        result: Option<VarId>,
        is_asked: bool,
    ) -> Checked<Option<State>> {
        let mut after = None;
        for (here, leaf) in access::leaves(self, pointer) {
            let mut called = State { pc: self.pool.and(st.pc, here), ..st.clone() };
            let back = match *self.pool.get(leaf) {
                _ if self.pool.is_false(called.pc) => None,
                Expr::FuncAddr(func) => self.call(called, func, args, varargs, result)?,
                // A call of null ends the execution.
                Expr::Const(_) if !is_asked && access::constant(self, leaf) == Some(0) => None,
                _ => {
                    self.never(&mut called, "a function is called through a pointer")?;
                    None
                }
            };
            after = match (after, back) {
                (None, one) | (one, None) => one,
                (Some(a), Some(b)) => Some(self.join(a, &b)),
            };
        }
        Ok(after)
    }

    fn call(
        &mut self,
        mut st: State,
        func: FuncId,
        args: &[ExprId],
        varargs: Option<ExprId>,
        result: Option<VarId>,
    ) -> Checked<Option<State>> {
        let program = self.program;
        let function = &program.funcs[func];
        let is_followed = self.certificate.frames.get(&function.entry).is_some_and(|frame| frame.followed);
        if is_followed && self.nested(func).is_power_of_two() && self.never(&mut st, "").is_ok() {
            return Ok(None);
        }
        let locals = self.unset(func);
        let mut callee = State { pc: st.pc, globals: Rc::clone(&st.globals), locals, memory: Rc::clone(&st.memory) };
        for (&param, &arg) in function.params.iter().zip(args) {
            let value = self.eval(&st, arg);
            let value = self.pool.resize(program.vars[param].width, value);
            self.set(&mut callee, param, value);
        }
        if let Some(param) = function.varargs {
            let value = match varargs {
                Some(e) => self.eval(&st, e),
                None => self.pool.int(program.vars[param].width, 0),
            };
            self.set(&mut callee, param, value);
        }
        let back = if self.calls.is_recursive(func) && !is_followed {
            Some(self.by_contract(callee, func)?)
        } else {
            self.body(func, callee)?
        };
        let Some((after, value)) = back else { return Ok(None) };
        let mut st = State { locals: st.locals, ..after };
        if let Some(var) = result {
            let width = program.vars[var].width;
            let value = match value {
                Some(value) => self.pool.resize(width, value),
                None => self.fresh(width),
            };
            self.set(&mut st, var, value);
        }
        Ok(Some(st))
    }

    /// Applies the contract of a function to a call in state `entry`. The outermost call also checks the contract for
    /// all calls.
    fn by_contract(&mut self, mut entry: State, func: FuncId) -> Checked<(State, Option<ExprId>)> {
        let program = self.program;
        let function = &program.funcs[func];
        let contract = self.certificate.contracts.get(&func).cloned().unwrap_or_default();
        let holds = self.all(&entry, &contract.requires);
        self.claim(&mut entry, holds, "a call does not satisfy the precondition of its function")?;
        let mut globals: Vec<VarId> = self.changes[func.index()].iter().copied().collect();
        globals.sort_unstable();
        let (place, is_active) = (function.entry, self.around.iter().any(|a| a.place == function.entry));
        // In early iterations the contract is assumed; it is checked in the last one.
        if !is_active && self.early == 0 {
            let changed: Vec<VarId> =
                function.params.iter().chain(&function.varargs).chain(&globals).copied().collect();
            let mut any = entry.clone();
            self.around.push(walk::Around { place, objects: self.objects.len() as Object });
            self.forget(&mut any, place, &changed, &[])?;
            let holds = self.all(&any, &contract.requires);
            self.assume(&mut any, holds);
            let began = any.clone();
            let back = self.body(func, any)?;
            self.around.pop();
            if let Some((mut after, value)) = back {
                let mut all = self.pool.bool(true);
                for &e in &contract.ensures {
                    let term = self.instance(e, &contract, &began, &after, value);
                    all = self.pool.and(all, term);
                }
                self.claim(&mut after, all, "a function does not ensure its postcondition")?;
            }
        }
        let mut after = entry.clone();
        self.forget(&mut after, place, &globals, &[])?;
        let value = function.return_width.map(|width| self.fresh(width));
        for &e in &contract.ensures {
            let term = self.instance(e, &contract, &entry, &after, value);
            self.assume(&mut after, term);
        }
        Ok((after, value))
    }

    /// A postcondition for the return state `after` with result `value` of a call that started in `began`.
    fn instance(
        &mut self,
        e: ExprId,
        contract: &CertifiedContract,
        began: &State,
        after: &State,
        value: Option<ExprId>,
    ) -> ExprId {
        let mut meaning: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        meaning.extend(contract.result.zip(value));
        for &(var, symbol) in &contract.after {
            meaning.insert(symbol, self.get(after, var));
        }
        self.eval_with(began, e, &meaning)
    }
}
