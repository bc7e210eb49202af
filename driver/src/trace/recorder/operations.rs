//! The steps that each operation adds to a trace.

use super::*;

impl Recorder<'_> {
    /// Records a call. The state is that at the entry of the callee.
    pub(super) fn call(&mut self, edge: EdgeId, state: &State) {
        let callee = state.func();
        let caller_shown = self.shown();
        let Op::Call { args, .. } = &self.program.edges[edge].op else { return };
        let function = &self.program.funcs[callee];
        let tainted: Vec<bool> = args.iter().map(|&a| self.is_tainted(a)).collect();
        let mut step = None;
        if caller_shown && !self.program.is_monitor(callee) && !is_internal(function) && !is_of_macro(function) {
            let mut shown = Vec::new();
            for (n, &param) in function.params.iter().enumerate() {
                if let Some(value) = state.var(param) {
                    let in_c = || function.param_name(n).map(str::to_owned);
                    let name = self.program.vars[param].name.clone().or_else(in_c).unwrap_or_default();
                    shown.push((name, self.names.show(self.program.vars[param].ty, &value, state)));
                }
            }
            step = Some(self.next_step());
            self.push(Event::Call { function: called(function).to_owned(), args: shown }, edge, false);
        }
        if function.origin == FunctionOrigin::Model && self.origin(self.frame().func) != FunctionOrigin::Model {
            self.enter_library(edge, args, callee, state);
        } else if self.frames.len() == 1 && function.origin == FunctionOrigin::Source {
            self.start(edge, callee, state);
        }
        let tainted = function.params.iter().zip(tainted).filter(|(_, t)| *t).map(|(p, _)| *p).collect();
        let (unset, temporaries) = (FxHashMap::default(), Temporaries::default());
        self.frames.push(Frame { call: Some(edge), func: callee, tainted, step, unset, temporaries });
    }

    /// Records the call of the user's first function, and the arguments of `main` if the inputs chose them.
    pub(super) fn start(&mut self, edge: EdgeId, callee: FuncId, state: &State) {
        self.making.called(self.program, callee, state);
        let params = &self.program.funcs[callee].params;
        let param = |n: usize| state.var(*params.get(n)?)?.to_u64();
        let Some(argc) = param(0).filter(|_| self.command_matters) else { return };
        // The parameter is an `int`.
        let argc = argc & 0xffff_ffff;
        let strings = |n, count| param(n).filter(|&at| at != 0).map(|at| self.strings(at, count, state));
        self.command = Command { argc, arguments: strings(1, argc), environment: strings(2, u64::MAX) };
        let name = |n: usize, otherwise: &str| {
            let named = params.get(n).and_then(|p| self.program.vars[*p].name.clone());
            named.unwrap_or_else(|| otherwise.to_owned())
        };
        let mut said = vec![(name(0, "argc"), argc.to_string())];
        for (n, strings) in [(1, &self.command.arguments), (2, &self.command.environment)] {
            for (i, text) in strings.iter().flatten().enumerate() {
                said.push((format!("{}[{i}]", name(n, "argv")), crate::trace::names::quoted(text)));
            }
        }
        let spot = self.spot(self.program.funcs[callee].place);
        for (target, value) in said {
            let (object, path) = target.split_at(target.find('[').unwrap_or(target.len()));
            let (object, path) = (object.to_owned(), path.to_owned());
            let write = Write { frame: Some(0), object, path, value: value.clone() };
            self.push(Event::Assign { target, value }, edge, true);
            self.wrote([write]);
            let step = self.steps.last_mut().expect("just pushed");
            (step.spot, step.function) = (spot.clone(), self.program.funcs[callee].name.clone());
        }
    }

    /// Returns the strings of a vector of at most `count` pointers. A null pointer ends the vector.
    pub(super) fn strings(&self, vector: u64, count: u64, state: &State) -> Vec<Vec<u8>> {
        let size = u64::from(self.program.layout.pointer_width / 8);
        let entry = |n: u64| Bv::from_le_bytes(&state.bytes(vector + n * size, size as usize)?).to_u64();
        let pointers = (0..count).map_while(|n| entry(n).filter(|&p| p != 0));
        pointers.map_while(|at| text_at(state, at)).collect()
    }

    /// Records a return. The state is that before the return.
    pub(super) fn ret(&mut self, edge: EdgeId, value: Option<ExprId>, state: &State) {
        let tainted = value.is_some_and(|v| self.is_tainted(v));
        let returns = value.map(|v| state.eval(v));
        self.making.returned(&self.program.funcs[self.frame().func], returns.as_ref(), state);
        if let Some(library) = self.library.pop_if(|l| l.depth == self.frames.len()) {
            self.leave_library(library, value, tainted, state);
        }
        let frame = self.frames.pop().expect("a return leaves a frame");
        let Some(call) = frame.call else { return };
        let function = &self.program.funcs[frame.func];
        if frame.step.is_some() && function.origin == FunctionOrigin::Source {
            let shown = value.map(|v| self.names.show(function.return_type, &state.eval(v), state));
            self.push(Event::Return { function: function.name.clone(), value: shown.clone() }, edge, false);
            if let (Op::Call { result: Some(result), .. }, Some(value), true) =
                (&self.program.edges[call].op, shown, self.shown())
            {
                let write = self.names.variable_written(*result, &value, self.depth());
                self.wrote(write);
            }
        }
        if let Op::Call { result: Some(result), ref args, .. } = self.program.edges[call].op {
            self.set_taint(result, tainted);
            let named = match function.name == frontend_llvm::FOLLOW {
                // The result replaces a token. Its name is that of the C pointer that held the token.
                true => {
                    let pointer = args.first().and_then(|&token| self.vars(token).first().copied());
                    pointer
                        .and_then(|v| self.names.value(v, &self.frame().temporaries))
                        .map(|(name, ty)| (name, Some(ty)))
                }
                false => {
                    (!is_internal(function)).then(|| (format!("{}()", called(function)), Some(function.return_type)))
                }
            };
            self.names.loaded(&mut self.frames.last_mut().expect("the caller").temporaries, result, named);
        }
    }

    // Inputs.

    /// Records that a variable took an input.
    pub(super) fn havoc(&mut self, edge: EdgeId, var: VarId, input: InputId, state: &State) {
        let Some(value) = state.var(var) else { return };
        let info = &self.program.inputs[input];
        self.set_taint(var, true);
        if info.kind == InputKind::literals() {
            return;
        }
        if let InputKind::Environment(_) = info.kind {
            if let Some(call) = self.library.last_mut() {
                match info.kind == InputKind::allocation() {
                    true => call.allocations.push(!value.is_zero()),
                    false => call.chosen.push(value),
                }
                return;
            }
            if self.frames.len() == 1 {
                self.command_matters = true;
                return;
            }
        }
        let site = self.in_user_code(edge);
        let place = site.and_then(|e| self.program.edges[e].place).or(info.place);
        let function = self.function_of(site.unwrap_or(edge)).to_owned();
        let spot = self.spot(place);
        let shown = InputValue {
            kind: info.kind.clone(),
            ty: crate::trace::types::name(self.program, info.ty),
            c_type: crate::trace::types::plain_name(self.program, info.ty),
            shown: match self.program.plain_type(info.ty) {
                // The input decides whether an allocation fails.
                _ if info.kind == InputKind::allocation() => if value.is_zero() { "not NULL" } else { "NULL" }.into(),
                CType::Pointer(_) => self.program.show_value(info.ty, &value),
                _ => self.names.show(info.ty, &value, state),
            },
            value,
            writes: Vec::new(),
            spot: spot.clone(),
            function,
        };
        if let InputKind::Uninit(_) = info.kind {
            // A later read of the variable reports the value. Variables without a name in C are not reported.
            if self.names.variable(var).is_some() && self.shown() {
                self.frame_mut().unset.insert(var, shown);
            }
            return;
        }
        let index = self.inputs.len();
        self.inputs.push(shown);
        let length =
            || creates_objects(&self.program.funcs[self.frame().func]).then(|| self.making.next_length(&info.kind));
        let into = self.program.vars[var].name.clone().or_else(|| length().flatten());
        self.fresh = into.is_none().then_some((var, self.next_step()));
        let write = self.names.variable_written(var, &self.inputs[index].shown, self.depth()).filter(|_| self.shown());
        // Each byte of a large object is an input of its own.
        let is_part = matches!(info.kind, InputKind::Global(_))
            && matches!(self.program.plain_type(info.ty), CType::Unknown { .. });
        self.push(Event::Input { index, into }, edge, !is_part);
        self.wrote(write);
        self.steps.last_mut().expect("just pushed").spot = spot;
    }

    /// Returns true if the assignment of `expr` to `target` only moves the last input to the variable or memory that
    /// receives it in C. In that case, the step of the input records `target` and `writes`.
    pub(super) fn moves_input(
        &mut self,
        target: &str,
        expr: ExprId,
        shown: &str,
        writes: impl IntoIterator<Item = Write>,
    ) -> bool {
        let Some((var, step)) = self.fresh else { return false };
        if *self.vars(expr) != [var] {
            return false;
        }
        let Some(i) = self.index(step) else { return false };
        let Event::Input { into, index } = &mut self.steps[i].event else { return false };
        let input = &mut self.inputs[*index];
        let same = input.shown.split(" '").next() == shown.split(" '").next();
        if !same && !matches!(input.kind, InputKind::Environment(_)) {
            return false;
        }
        // The conversion of a library function's result may change the value, as in `char c = getchar()`. The trace
        // shows the converted value.
        if !same {
            shown.clone_into(&mut input.shown);
        }
        *into = Some(target.to_owned());
        self.steps[i].writes.extend(writes);
        self.fresh = None;
        true
    }

    /// Reports the first read of bytes that were never written. Their C expression is `target`.
    pub(super) fn read_unwritten(&mut self, edge: EdgeId, target: Option<String>, at: u64, len: u64, value: String) {
        let read: Vec<u64> = (at..at.saturating_add(len)).filter(|byte| self.unwritten.remove(byte)).collect();
        let found = read.len();
        self.unwritten_bytes += found;
        self.unwritten_on_heap += read.iter().filter(|byte| self.on_heap.remove(byte)).count();
        if found > 0 {
            let edge = self.library.last().map_or(edge, |call| call.edge);
            self.push(Event::Uninitialised { target, value }, edge, true);
        }
    }

    /// Reports the first read of each variable that is not initialised and that the operation of the edge reads.
    pub(super) fn read_unset(&mut self, edge: EdgeId) {
        let op = &self.program.edges[edge].op;
        let mut read = Vec::new();
        op.for_each_expr(|e| read.extend(self.vars(e).iter().filter(|v| self.frame().unset.contains_key(v))));
        for var in read {
            if let Some(value) = self.frame_mut().unset.remove(&var) {
                let target = self.names.variable(var).map(str::to_owned);
                self.push(Event::Uninitialised { target, value: value.shown.clone() }, edge, true);
                self.uninitialised.push(value);
            }
        }
        if let Some(var) = op.def().filter(|_| !matches!(op, Op::Havoc { .. })) {
            self.frame_mut().unset.remove(&var);
        }
    }

    /// Records that a variable has a new value, which depends on inputs if `tainted` is true.
    pub(super) fn assigned(&mut self, edge: EdgeId, var: VarId, tainted: bool, state: &State) {
        self.set_taint(var, tainted);
        if self.program.is_automaton(var) {
            return self.automaton_moved(edge, var, state);
        }
        // An assignment without a source position is not in the source, such as at the end of a variable's scope.
        let is_written = self.shown() && self.program.edges[edge].place.is_some();
        if let (true, Some(name), Some(value)) = (is_written, self.names.variable(var), state.var(var)) {
            let ty = self.program.vars[var].ty;
            self.names.pointed(ty, &value, state);
            let value = self.names.show(ty, &value, state);
            let write = self.names.variable_written(var, &value, self.depth());
            self.push(Event::Assign { target: name.to_owned(), value }, edge, tainted);
            self.wrote(write);
        }
    }

    /// Records that an instance of a specification automaton reached a state.
    fn automaton_moved(&mut self, edge: EdgeId, var: VarId, state: &State) {
        let info = &self.program.vars[var];
        let (Some(name), Some(value)) = (&info.name, state.var(var)) else { return };
        let (used, key) = (VarId(var.0 - 2), VarId(var.0 - 1));
        let is_key = matches!(self.program.types[self.program.vars[key].ty], CType::Pointer(_));
        // The assignment may only move the instance to other variables, or remove it.
        if is_key && state.var(used).is_some_and(|used| used.is_zero()) {
            return;
        }
        if let Op::Assign { value, .. } = self.program.edges[edge].op
            && let Expr::Var(from) = *self.program.exprs.get(value)
            && self.program.is_automaton(from)
        {
            return;
        }
        let watched = state.var(key).filter(|_| is_key);
        let watched = watched
            .map_or_else(String::new, |at| format!("({})", self.names.show(self.program.vars[key].ty, &at, state)));
        let value = self.program.show_value(info.ty, &value);
        let event = Event::Assign { target: format!("{name}{watched}"), value };
        self.push(event, self.in_user_code(edge).unwrap_or(edge), true);
    }

    // Operations.

    /// Records an assignment.
    pub(super) fn assign(&mut self, edge: EdgeId, var: VarId, value: ExprId, state: &State) {
        let tainted = self.is_tainted(value);
        let name = self.names.variable(var);
        let ty = self.program.vars[var].ty;
        let shown = name.and(state.var(var)).map_or_else(String::new, |v| self.names.show(ty, &v, state));
        if name.is_some_and(|name| {
            self.moves_input(name, value, &shown, self.names.variable_written(var, &shown, self.depth()))
        }) {
            self.set_taint(var, true);
            // The step of the input already records this assignment.
            return;
        }
        if name.is_none() {
            if let Some((fresh, step)) = self.fresh
                && *self.program.exprs.get(value) == Expr::Var(fresh)
            {
                self.fresh = Some((var, step));
            }
            let vars = self.vars(value);
            let temporaries = &mut self.frames.last_mut().expect("there is a frame").temporaries;
            self.names.computed(temporaries, var, &vars, state);
        }
        self.assigned(edge, var, tainted, state);
    }

    /// Records a branch. The truth value of C's condition is `means`, if known. `branch` is true on the then-edge.
    pub(super) fn branch(&mut self, edge: EdgeId, cond: ExprId, means: Option<bool>, branch: bool, state: &State) {
        if !self.shown() || self.program.edges[edge].place.is_none() {
            return;
        }
        let operands = self.operands(cond, state);
        let matters = self.is_tainted(cond);
        // A switch is several branches of one instruction. The trace shows only the last one, which selects the target.
        let same = |before: EdgeId| {
            let (a, b) = (&self.program.edges[before], &self.program.edges[edge]);
            means.is_none() && !a.origin.is_empty() && a.origin == b.origin && a.source != b.source
        };
        let goes_on = self.branched.filter(|&(step, before)| step + 1 == self.next_step() && same(before));
        let holds = self.condition(cond).filter(|_| branch || goes_on.is_none());
        // A branch without a condition in C is no branch of the C program. It belongs to a check that is not enabled.
        if means.is_none() && holds.is_none() && goes_on.is_none() {
            return;
        }
        let event = Event::Branch { taken: means, holds, operands };
        match goes_on.and_then(|(step, _)| self.index(step)) {
            Some(i) => (self.steps[i].event, self.steps[i].matters) = (event, self.steps[i].matters || matters),
            None => self.push(event, edge, matters),
        }
        self.branched = Some((self.next_step() - 1, edge));
    }

    /// Records a load. The state is that after it.
    pub(super) fn load(&mut self, edge: EdgeId, var: VarId, addr: ExprId, state: &State) {
        // If the address depends on the loaded variable, the load has overwritten it.
        let vars = self.vars(addr);
        let known = !vars.contains(&var);
        let at = if known { state.eval(addr).to_u64().unwrap_or(0) } else { 0 };
        let len = u64::from(self.program.vars[var].width.div_ceil(8));
        let tainted =
            self.is_tainted(addr) || (known && (at..at.saturating_add(len)).any(|b| self.tainted_bytes.contains(&b)));
        let target = if known { self.target(addr, at, len, state) } else { None };
        if !self.unwritten.is_empty() && known {
            let ty = target.as_ref().and_then(|t| t.1).unwrap_or(self.program.vars[var].ty);
            let value = state.var(var).map_or_else(String::new, |v| self.names.show(ty, &v, state));
            self.read_unwritten(edge, target.as_ref().map(|t| t.0.clone()), at, len, value);
        }
        if self.names.variable(var).is_none() {
            let temporaries = &mut self.frames.last_mut().expect("there is a frame").temporaries;
            match state.object_at(at).filter(|object| known && self.names.is_table(object.seq)) {
                Some(_) => self.names.loaded_element(temporaries, var, &vars),
                None => self.names.loaded(temporaries, var, target),
            }
        }
        self.assigned(edge, var, tainted, state);
    }

    /// Records a store.
    pub(super) fn store(&mut self, edge: EdgeId, addr: ExprId, value: ExprId, state: &State) {
        let tainted = self.is_tainted(value);
        let len = u64::from(self.program.exprs.width(value).div_ceil(8));
        let at = state.eval(addr).to_u64().unwrap_or(0);
        self.write(at, len, tainted);
        if creates_objects(&self.program.funcs[self.frame().func]) {
            self.making.stored(self.program, at, &state.eval(value));
        }
        if !self.shown() {
            return;
        }
        if let Some((target, ty)) = self.target(addr, at, len, state) {
            let stored = state.eval(value);
            let shown = ty.map_or_else(|| stored.to_string(), |ty| self.names.show(ty, &stored, state));
            if let Some(ty) = ty {
                self.names.pointed(ty, &stored, state);
            }
            let writes = self.names.written(at, len, state);
            if !self.moves_input(&target, value, &shown, writes.clone()) {
                self.push(Event::Assign { target, value: shown }, edge, tainted);
                self.wrote(writes);
            }
        }
    }

    /// Records that one operation of the program wrote `len` bytes at `dst`.
    pub(super) fn block(&mut self, edge: EdgeId, dst: ExprId, len: u64, tainted: bool, state: &State) {
        if !self.shown() {
            return;
        }
        let at = state.eval(dst).to_u64().unwrap_or(0);
        let vars = self.vars(dst);
        let named = vars.first().and_then(|&v| self.names.value(v, &self.frame().temporaries));
        let hint = named.as_ref().and_then(|(name, ty)| match *self.program.plain_type(*ty) {
            CType::Pointer(to) => Some((name.as_str(), to)),
            _ => None,
        });
        if let Some((target, value)) = self.names.region(at, len, state, hint) {
            self.push(Event::Assign { target, value }, edge, tainted);
            self.wrote(self.names.written(at, len, state));
        }
    }

    /// Records an allocation.
    pub(super) fn alloc(&mut self, edge: EdgeId, var: VarId, kind: cfa::AllocKind, state: &State) {
        let by_library = self.frames.len() == 1 || self.origin(self.frame().func) == FunctionOrigin::Model;
        let object = self.names.allocated(var, kind, self.depth(), by_library);
        let variable = self.names.object(object).and(self.program.vars[var].place);
        let by = self.in_user_code(edge).unwrap_or(edge);
        let place = variable.or(self.program.edges[by].place);
        self.lives.push(Life { by, allocated: self.spot(place), freed: None, moved_by: None });
        self.set_taint(var, false);
        let base = state.var(var).and_then(|v| v.to_u64()).unwrap_or(0);
        let function = &self.program.funcs[self.frame().func];
        if creates_objects(function) && kind != cfa::AllocKind::Placeholder {
            self.making.allocated(self.program, function, object, base, state);
        }
        // The caller of the program initialises the objects that it passes.
        let is_unwritten = self.frames.len() > 1 && !creates_objects(function);
        let given = self.given.bytes.range((object, 0)..=(object, u64::MAX));
        let given: BTreeMap<u64, u8> = given.map(|(&(_, offset), &byte)| (offset, byte)).collect();
        let by_malloc = is_unwritten && !by_library && kind == cfa::AllocKind::MALLOC;
        for &offset in given.keys() {
            let at = base.wrapping_add(offset);
            self.tainted_bytes.insert(at);
            if is_unwritten {
                self.unwritten.insert(at);
            }
            if by_malloc {
                self.on_heap.insert(at);
            }
        }
        if by_malloc && self.heap.len() < MOST_BLOCKS {
            let size = state.object_at(base).map_or(0, |o| o.size);
            self.heap.push(Block { size, bytes: given });
        }
    }
}
