//! The observer that writes a trace down.

mod library;

use super::arguments::{Making, makes};
use super::fault::Life;
use super::names::{Names, Temporaries};
use super::{Event, InputValue, Object, Step, Trace};
use crate::environment::{Command, Environment, LibraryCall};
use crate::source::{Sources, Spot};
use cfa::interp::{Inputs, ObjectSeq, Observer, Outcome, Run, State};
use cfa::{
    Bv, CType, EdgeId, ErrorInfo, Expr, ExprId, FuncId, FunctionOrigin, InputId, InputKind, Op, PlaceId, Program,
    TypeId, VarId,
};
use library::{Library, called, text_at};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

/// Steps kept; beyond this the middle is left out.
const MAX_STEPS: usize = 20_000;
/// Characters of a condition that is shown.
const MAX_CONDITION: usize = 80;

struct Frame {
    /// The call that made it; `None` for the first.
    call: Option<EdgeId>,
    func: FuncId,
    /// Variables that depend on inputs.
    tainted: FxHashSet<VarId>,
    /// The step that says that it was called, if one does.
    step: Option<usize>,
    /// Variables that have no value yet, with what they hold and where they are declared.
    unset: FxHashMap<VarId, InputValue>,
    temporaries: Temporaries,
}

pub struct Recorder<'p> {
    pub(super) program: &'p Program,
    sources: &'p Sources,
    given: &'p Inputs,
    pub(super) names: Names<'p>,
    /// Of objects made by `Alloc` edges, by their number.
    pub(super) lives: Vec<Life>,
    frames: Vec<Frame>,
    library: Vec<Library>,
    vars_of: RefCell<FxHashMap<ExprId, Rc<[VarId]>>>,
    tainted_globals: FxHashSet<VarId>,
    tainted_bytes: FxHashSet<u64>,
    /// Bytes that nobody has written and that were not reported as such.
    unwritten: FxHashSet<u64>,
    inputs: Vec<InputValue>,
    uninitialised: Vec<InputValue>,
    unwritten_bytes: usize,
    command: Command,
    making: Making,
    calls: Vec<LibraryCall>,
    /// What `main` is called with was chosen.
    command_matters: bool,
    steps: Vec<Step>,
    omitted: usize,
    cut: usize,
    /// The variable that took the last input, whose next copy is where the input goes in C.
    fresh: Option<(VarId, usize)>,
    /// The last step, if it is a branch: its edge.
    branched: Option<(usize, EdgeId)>,
    /// What the assertion that failed says.
    assertion: Option<String>,
    /// What a check looked at that failed.
    failed: Vec<(String, String)>,
}

/// Which parameter has the text of the assertion that failed, by the function that is called then.
fn asserted_parameter(function: &str) -> Option<usize> {
    match function {
        "__assert_fail" | "__assert" | "_assert" => Some(0),
        "__assert_func" | "__assert_rtn" => Some(3),
        _ => None,
    }
}

impl<'p> Recorder<'p> {
    pub fn new(program: &'p Program, sources: &'p Sources, given: &'p Inputs) -> Self {
        let first = Frame {
            call: None,
            func: program.entry,
            tainted: FxHashSet::default(),
            step: None,
            unset: FxHashMap::default(),
            temporaries: Temporaries::default(),
        };
        Self {
            program,
            sources,
            given,
            names: Names::new(program),
            lives: Vec::new(),
            frames: vec![first],
            library: Vec::new(),
            vars_of: RefCell::default(),
            tainted_globals: FxHashSet::default(),
            tainted_bytes: FxHashSet::default(),
            unwritten: FxHashSet::default(),
            inputs: Vec::new(),
            uninitialised: Vec::new(),
            unwritten_bytes: 0,
            command: Command::default(),
            making: Making::default(),
            calls: Vec::new(),
            command_matters: false,
            steps: Vec::new(),
            omitted: 0,
            cut: MAX_STEPS / 2,
            fresh: None,
            branched: None,
            assertion: None,
            failed: Vec::new(),
        }
    }

    /// The run ended in an error at an edge.
    pub fn finish(mut self, error: &ErrorInfo, edge: EdgeId, run: &Run) -> Trace {
        // The error edge stands at the entry of the error function; the user looks at its call.
        let frame = self.frame();
        let at_entry = self.program.funcs[frame.func].entry == self.program.edges[edge].source;
        let site = if at_entry { frame.call.unwrap_or(edge) } else { edge };
        let site = self.in_user_code(site).unwrap_or(site);
        let object = run.object.map(|near| self.object(&near));
        let mut spot =
            self.spot(self.program.edges[site].place).or_else(|| error.place.and_then(|p| self.spot(Some(p))));
        // Nobody knows where memory should have been freed, but where it comes from.
        if let (Op::Leak(_), Some(Object { allocated: Some(at), .. })) = (&self.program.edges[edge].op, &object) {
            spot = Some(at.clone());
        }
        let function = self.program.funcs[self.program.func_of(site)].name.clone();
        for step in self.frames.iter().filter_map(|f| f.step).collect::<Vec<_>>() {
            if let Some(step) = self.index(step) {
                self.steps[step].matters = true;
            }
        }
        // The call of the error function itself is the error.
        if let Some(Step { event: Event::Call { .. }, .. }) = self.steps.last().filter(|_| at_entry) {
            self.steps.pop();
        }
        if at_entry && let Some(last) = self.steps.iter_mut().rev().find(|s| matches!(s.event, Event::Branch { .. })) {
            last.matters = true;
        }
        let message = match self.assertion.take() {
            // Where nobody declares `assert`, its text is only in the source.
            Some(text) if text.is_empty() => {
                let text = spot.as_ref().and_then(|s| self.sources.argument(s));
                text.map_or("assertion failed".to_owned(), |text| format!("assertion failed: {text}"))
            }
            Some(text) => format!("assertion failed: {text}"),
            None => match run.outcome {
                Outcome::Invalid { fault, addr, .. } => self.fault(edge, fault, addr, run.accessed, object.as_ref()),
                _ => error.message.clone(),
            },
        };
        let event = Event::Error { message: message.clone(), operands: std::mem::take(&mut self.failed) };
        self.steps.push(Step { event, spot: spot.clone(), function: function.clone(), matters: true });
        Trace {
            message,
            object,
            spot,
            function,
            inputs: self.inputs,
            uninitialised: self.uninitialised,
            unwritten_bytes: self.unwritten_bytes,
            arguments: self.making.finish(self.program, self.given),
            environment: Environment::new(self.command, &self.calls, self.program.layout.pointer_width),
            steps: self.steps,
            omitted: self.omitted,
            cut: self.cut,
        }
    }

    fn frame(&self) -> &Frame {
        self.frames.last().expect("there is a frame")
    }
    fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("there is a frame")
    }

    /// The innermost edge that is in the user's code and executing when `edge` is: itself, or the call
    /// through which control went into a library model.
    fn in_user_code(&self, edge: EdgeId) -> Option<EdgeId> {
        let calls = self.frames.iter().rev().filter_map(|f| f.call);
        std::iter::once(edge).chain(calls).find(|&e| {
            let func = self.program.func_of(e);
            self.program.funcs[func].origin == FunctionOrigin::Source && self.program.edges[e].place.is_some()
        })
    }

    /// Whether an error comes next.
    fn leads_to_error(&self, edge: EdgeId) -> bool {
        let mut next = self.program.out_edges(self.program.edges[edge].target);
        next.any(|e| matches!(self.program.edges[e].op, Op::Error(_)))
    }
    /// Whether an error would have come next on the other side of the branch.
    fn avoids_error(&self, edge: EdgeId) -> bool {
        let mut sides = self.program.out_edges(self.program.edges[edge].source);
        sides.any(|e| e != edge && self.leads_to_error(e))
    }

    pub(super) fn spot(&self, place: Option<PlaceId>) -> Option<Spot> {
        self.sources.spot(self.program, place?)
    }

    fn origin(&self, func: FuncId) -> FunctionOrigin {
        self.program.funcs[func].origin
    }

    /// Whether steps of the present function are shown: not those of library models, nor what is done before `main`.
    fn shown(&self) -> bool {
        self.frames.len() > 1 && self.origin(self.frame().func) != FunctionOrigin::Model
    }

    fn push(&mut self, event: Event, edge: EdgeId, matters: bool) {
        let spot = self.spot(self.program.edges[edge].place);
        let function = self.program.funcs[self.program.func_of(edge)].name.clone();
        if self.steps.len() >= MAX_STEPS {
            // Amortised: a quarter of the kept steps goes at once, from the middle.
            let gone = MAX_STEPS / 4;
            self.steps.drain(self.cut..self.cut + gone);
            self.omitted += gone;
        }
        self.steps.push(Step { event, spot, function, matters });
    }

    /// The number of the next step, counting those that were left out.
    fn next_step(&self) -> usize {
        self.steps.len() + self.omitted
    }
    fn index(&self, step: usize) -> Option<usize> {
        if step < self.cut { Some(step) } else { step.checked_sub(self.omitted).filter(|&i| i >= self.cut) }
    }

    // Dependence on inputs.

    /// The variables in an expression.
    fn vars(&self, e: ExprId) -> Rc<[VarId]> {
        let mut cache = self.vars_of.borrow_mut();
        cache.entry(e).or_insert_with(|| self.program.exprs.vars(e).into()).clone()
    }
    fn is_tainted(&self, e: ExprId) -> bool {
        let frame = self.frame();
        self.vars(e).iter().any(|v| frame.tainted.contains(v) || self.tainted_globals.contains(v))
    }
    fn set_taint(&mut self, var: VarId, tainted: bool) {
        let set = match self.program.vars[var].func() {
            None => &mut self.tainted_globals,
            Some(_) => &mut self.frame_mut().tainted,
        };
        if tainted {
            set.insert(var);
        } else {
            set.remove(&var);
        }
    }
    /// Bytes were written.
    fn write(&mut self, addr: u64, len: u64, tainted: bool) {
        // Fills of megabytes are no reason to be slow.
        for at in addr..addr.saturating_add(len.min(1 << 16)) {
            if tainted {
                self.tainted_bytes.insert(at);
            } else {
                self.tainted_bytes.remove(&at);
            }
            self.unwritten.remove(&at);
        }
        if let Some(call) = self.library.last_mut() {
            match call.written.last_mut() {
                Some((start, before)) if *start + *before == addr => *before += len,
                _ => call.written.push((addr, len)),
            }
        }
    }

    // Names and values.

    /// The variables in an expression that have a name, with their values.
    fn operands(&self, e: ExprId, state: &State) -> Vec<(String, String)> {
        let temporaries = &self.frame().temporaries;
        let named = |&var: &VarId| {
            let (name, ty) = self.names.value(var, temporaries)?;
            Some((name, self.names.show(ty, &state.var(var)?, state)))
        };
        self.vars(e).iter().filter_map(named).collect()
    }

    /// A condition in C, if it is over what has a name.
    fn condition(&self, cond: ExprId) -> Option<String> {
        let temporaries = &self.frame().temporaries;
        if !self.vars(cond).iter().all(|&v| self.names.value(v, temporaries).is_some()) {
            return None;
        }
        let text = cfa::text::c_expr_naming(self.program, cond, &|v| self.names.value(v, temporaries));
        (text.chars().count() <= MAX_CONDITION).then_some(text)
    }

    fn target(&self, addr: ExprId, at: u64, len: u64, state: &State) -> Option<(String, Option<TypeId>)> {
        self.names.target(addr, &self.vars(addr), at, len, state, &self.frame().temporaries)
    }

    // Calls.

    fn call(&mut self, edge: EdgeId, state: &State) {
        let callee = state.func();
        let caller_shown = self.shown();
        let Op::Call { args, .. } = &self.program.edges[edge].op else { return };
        let function = &self.program.funcs[callee];
        let tainted: Vec<bool> = args.iter().map(|&a| self.is_tainted(a)).collect();
        let mut step = None;
        if caller_shown {
            let mut shown = Vec::new();
            for &param in &function.params {
                if let Some(value) = state.var(param) {
                    let name = self.program.vars[param].name.clone().unwrap_or_default();
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

    /// The program's first function is called.
    fn start(&mut self, edge: EdgeId, callee: FuncId, state: &State) {
        self.making.called(self.program, callee, state);
        let params = &self.program.funcs[callee].params;
        let param = |n: usize| state.var(*params.get(n)?)?.to_u64();
        let Some(argc) = param(0).filter(|_| self.command_matters) else { return };
        // An `int`.
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
                said.push((format!("{}[{i}]", name(n, "argv")), super::names::quoted(text)));
            }
        }
        let spot = self.spot(self.program.funcs[callee].place);
        for (target, value) in said {
            self.push(Event::Assign { target, value }, edge, true);
            let step = self.steps.last_mut().expect("just pushed");
            (step.spot, step.function) = (spot.clone(), self.program.funcs[callee].name.clone());
        }
    }

    /// The strings of a vector of pointers that a null pointer ends.
    fn strings(&self, vector: u64, count: u64, state: &State) -> Vec<Vec<u8>> {
        let size = u64::from(self.program.layout.pointer_width / 8);
        let entry = |n: u64| Bv::from_le_bytes(&state.bytes(vector + n * size, size as usize)?).to_u64();
        let pointers = (0..count).map_while(|n| entry(n).filter(|&p| p != 0));
        pointers.map_while(|at| text_at(state, at)).collect()
    }

    fn ret(&mut self, edge: EdgeId, value: Option<ExprId>, state: &State) {
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
            self.push(Event::Return { function: function.name.clone(), value: shown }, edge, false);
        }
        if let Op::Call { result: Some(result), .. } = self.program.edges[call].op {
            self.set_taint(result, tainted);
            let named = Some((format!("{}()", called(function)), Some(function.return_type)));
            self.names.loaded(&mut self.frames.last_mut().expect("the caller").temporaries, result, named);
        }
    }

    // Inputs.

    fn havoc(&mut self, edge: EdgeId, var: VarId, input: InputId, state: &State) {
        let Some(value) = state.var(var) else { return };
        let info = &self.program.inputs[input];
        self.set_taint(var, true);
        if let InputKind::Environment(_) = info.kind {
            if let Some(call) = self.library.last_mut() {
                call.chosen.push(value);
                return;
            }
            if self.frames.len() == 1 {
                self.command_matters = true;
                return;
            }
        }
        let site = self.in_user_code(edge);
        let place = site.and_then(|e| self.program.edges[e].place).or(info.place);
        let function = self.program.funcs[self.program.func_of(site.unwrap_or(edge))].name.clone();
        let spot = self.spot(place);
        let shown = InputValue {
            kind: info.kind.clone(),
            ty: self.program.type_name(info.ty),
            c_type: crate::harness::plain_name(self.program, info.ty),
            shown: match self.program.plain_type(info.ty) {
                CType::Pointer(_) => self.program.show_value(info.ty, &value),
                _ => self.names.show(info.ty, &value, state),
            },
            value,
            writes: Vec::new(),
            spot: spot.clone(),
            function,
        };
        if let InputKind::Uninit(_) = info.kind {
            // It is told when it is read; what no variable of C holds is not.
            if self.names.variable(var).is_some() && self.shown() {
                self.frame_mut().unset.insert(var, shown);
            }
            return;
        }
        let index = self.inputs.len();
        self.inputs.push(shown);
        let into = self.program.vars[var].name.clone();
        self.fresh = into.is_none().then_some((var, self.next_step()));
        self.push(Event::Input { index, into }, edge, true);
        self.steps.last_mut().expect("just pushed").spot = spot;
    }

    /// Whether assigning `value` to `target` only moves the last input to where C wants it; then that step
    /// says so.
    fn moves_input(&mut self, target: &str, expr: ExprId, shown: &str) -> bool {
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
        // `char c = getchar()` shows what arrives.
        if !same {
            shown.clone_into(&mut input.shown);
        }
        *into = Some(target.to_owned());
        self.fresh = None;
        true
    }

    /// Reports bytes that nobody has written, the first time that they are read.
    fn read_unwritten(&mut self, edge: EdgeId, target: Option<String>, at: u64, len: u64, value: String) {
        let found = (at..at.saturating_add(len)).filter(|byte| self.unwritten.remove(byte)).count();
        self.unwritten_bytes += found;
        if found > 0 {
            let edge = self.library.last().map_or(edge, |call| call.edge);
            self.push(Event::Uninitialised { target, value }, edge, true);
        }
    }

    /// Reports variables that have no value when an operation reads them.
    fn read_unset(&mut self, edge: EdgeId) {
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

    fn assigned(&mut self, edge: EdgeId, var: VarId, tainted: bool, state: &State) {
        self.set_taint(var, tainted);
        if let (true, Some(name), Some(value)) = (self.shown(), self.names.variable(var), state.var(var)) {
            let value = self.names.show(self.program.vars[var].ty, &value, state);
            self.push(Event::Assign { target: name.to_owned(), value }, edge, tainted);
        }
    }

    // Operations.

    fn assign(&mut self, edge: EdgeId, var: VarId, value: ExprId, state: &State) {
        let tainted = self.is_tainted(value);
        let name = self.names.variable(var);
        let ty = self.program.vars[var].ty;
        let shown = name.and(state.var(var)).map_or_else(String::new, |v| self.names.show(ty, &v, state));
        if name.is_some_and(|name| self.moves_input(name, value, &shown)) {
            self.set_taint(var, true);
            // The environment's name for it is in the input; here it has C's.
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

    fn branch(&mut self, edge: EdgeId, cond: ExprId, means: Option<bool>, branch: bool, state: &State) {
        if !self.shown() || self.program.edges[edge].place.is_none() {
            return;
        }
        let operands = self.operands(cond, state);
        let matters = self.is_tainted(cond);
        // A switch is several branches of one instruction: what it goes to is of interest.
        let same = |before: EdgeId| {
            let (a, b) = (&self.program.edges[before], &self.program.edges[edge]);
            means.is_none() && !a.origin.is_empty() && a.origin == b.origin && a.source != b.source
        };
        let goes_on = self.branched.filter(|&(step, before)| step + 1 == self.next_step() && same(before));
        let holds = self.condition(cond).filter(|_| branch || goes_on.is_none());
        let event = Event::Branch { taken: means, holds, operands };
        match goes_on.and_then(|(step, _)| self.index(step)) {
            Some(i) => (self.steps[i].event, self.steps[i].matters) = (event, self.steps[i].matters || matters),
            None => self.push(event, edge, matters),
        }
        self.branched = Some((self.next_step() - 1, edge));
    }

    fn load(&mut self, edge: EdgeId, var: VarId, addr: ExprId, state: &State) {
        // Where the variable was part of its own address, that address is gone.
        let known = !self.vars(addr).contains(&var);
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
            self.names.loaded(temporaries, var, target);
        }
        self.assigned(edge, var, tainted, state);
    }

    fn store(&mut self, edge: EdgeId, addr: ExprId, value: ExprId, state: &State) {
        let tainted = self.is_tainted(value);
        let len = u64::from(self.program.exprs.width(value).div_ceil(8));
        let at = state.eval(addr).to_u64().unwrap_or(0);
        self.write(at, len, tainted);
        if makes(&self.program.funcs[self.frame().func]) {
            self.making.stored(self.program, at, &state.eval(value));
        }
        if !self.shown() {
            return;
        }
        if let Some((target, ty)) = self.target(addr, at, len, state) {
            let stored = state.eval(value);
            let shown = ty.map_or_else(|| stored.to_string(), |ty| self.names.show(ty, &stored, state));
            if !self.moves_input(&target, value, &shown) {
                self.push(Event::Assign { target, value: shown }, edge, tainted);
            }
        }
    }

    /// `len` bytes at `dst` were written at once by an operation of the program.
    fn block(&mut self, edge: EdgeId, dst: ExprId, len: u64, tainted: bool, state: &State) {
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
        }
    }

    fn alloc(&mut self, edge: EdgeId, var: VarId, kind: cfa::AllocKind, state: &State) {
        let by_library = self.frames.len() == 1 || self.origin(self.frame().func) == FunctionOrigin::Model;
        let object = self.names.allocated(var, kind, by_library);
        let variable = self.names.object(object).and(self.program.vars[var].place);
        let place = variable.or_else(|| self.program.edges[self.in_user_code(edge).unwrap_or(edge)].place);
        self.lives.push(Life { allocated: self.spot(place), freed: None });
        self.set_taint(var, false);
        let base = state.var(var).and_then(|v| v.to_u64()).unwrap_or(0);
        let function = &self.program.funcs[self.frame().func];
        if makes(function) {
            self.making.allocated(self.program, function, object, base, state);
        }
        // What the program is called with is written by whoever calls it.
        let is_unwritten = self.frames.len() > 1 && !makes(function);
        for &(_, offset) in self.given.bytes.range((object, 0)..=(object, u64::MAX)).map(|(key, _)| key) {
            let at = base.wrapping_add(offset);
            self.tainted_bytes.insert(at);
            if is_unwritten {
                self.unwritten.insert(at);
            }
        }
    }
}

impl Observer for Recorder<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let number = |e: ExprId| state.eval(e).to_u64().unwrap_or(0);
        // After a call the frame is another one, whose parameters have values; arguments were read before.
        if !self.frame().unset.is_empty() {
            self.read_unset(edge);
        }
        match self.program.edges[edge].op {
            Op::Skip | Op::Halt(_) | Op::Approx { .. } | Op::Leak(_) => {}
            Op::Free { ptr, .. } => {
                if let Some(ObjectSeq::Alloc(n)) = state.object_at(number(ptr)).filter(|o| !o.live).map(|o| o.seq) {
                    let freed = self.spot(self.program.edges[self.in_user_code(edge).unwrap_or(edge)].place);
                    self.lives[n as usize].freed = freed;
                }
            }
            Op::Error(_) => {
                let function = &self.program.funcs[state.func()];
                if let Some(n) = asserted_parameter(&function.name) {
                    let text = function.params.get(n).and_then(|&p| text_at(state, state.var(p)?.to_u64()?));
                    self.assertion = Some(text.map_or_else(String::new, |t| String::from_utf8_lossy(&t).into_owned()));
                }
            }
            Op::ObjectSize { var, ptr } | Op::ObjectOffset { var, ptr } => {
                let tainted = self.is_tainted(ptr);
                self.set_taint(var, tainted);
            }
            Op::Assign { var, value } => self.assign(edge, var, value, state),
            // Checks are no branches of the C program.
            Op::Assume { cond, .. } if self.leads_to_error(edge) => self.failed = self.operands(cond, state),
            Op::Assume { .. } if self.avoids_error(edge) => {}
            Op::Assume { cond, branch, means } => self.branch(edge, cond, means, branch, state),
            Op::Load { var, addr } => self.load(edge, var, addr, state),
            Op::Store { addr, value } => self.store(edge, addr, value, state),
            Op::Alloc { var, kind, .. } => {
                self.alloc(edge, var, kind, state);
                if kind != cfa::AllocKind::Stack {
                    self.assigned(edge, var, false, state);
                }
            }
            Op::Havoc { var, input } => self.havoc(edge, var, input, state),
            Op::Copy { dst, src, len } => {
                let [at, from, count] = [dst, src, len].map(number);
                let tainted: Vec<bool> =
                    (0..count.min(1 << 16)).map(|i| self.tainted_bytes.contains(&from.wrapping_add(i))).collect();
                let unwritten: Vec<u64> =
                    (0..count.min(1 << 16)).filter(|&i| self.unwritten.contains(&from.wrapping_add(i))).collect();
                let any = tainted.contains(&true);
                self.write(at, count, false);
                for i in (0..).zip(tainted).filter(|(_, t)| *t).map(|(i, _)| at.wrapping_add(i)) {
                    self.tainted_bytes.insert(i);
                }
                self.unwritten.extend(unwritten.into_iter().map(|i| at.wrapping_add(i)));
                self.block(edge, dst, count, any, state);
            }
            Op::Fill { dst, byte, len } => {
                let tainted = self.is_tainted(byte);
                let [at, count] = [dst, len].map(number);
                self.write(at, count, tainted);
                self.block(edge, dst, count, tainted, state);
            }
            Op::Call { .. } => self.call(edge, state),
            Op::Return { value } => self.ret(edge, value, state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_traces_lose_their_middle() {
        let program = cfa::text::parse(include_str!("../../tests/data/sum.cfa")).unwrap();
        let (sources, inputs) = (Sources::new(), Inputs::default());
        let mut recorder = Recorder::new(&program, &sources, &inputs);
        let edge = program.edges.ids().next().unwrap();
        for i in 0..3 * MAX_STEPS {
            recorder.push(Event::Assign { target: "i".into(), value: i.to_string() }, edge, false);
        }
        assert!(recorder.steps.len() <= MAX_STEPS);
        assert_eq!(recorder.steps.len() + recorder.omitted, 3 * MAX_STEPS);
        let value = |step: &Step| match &step.event {
            Event::Assign { value, .. } => value.parse::<usize>().unwrap(),
            _ => unreachable!(),
        };
        for (number, kept) in [(0, true), (recorder.cut - 1, true), (recorder.cut, false), (3 * MAX_STEPS - 1, true)] {
            let found = recorder.index(number).filter(|&i| i < recorder.steps.len());
            assert_eq!(found.map(|i| value(&recorder.steps[i])), kept.then_some(number));
        }
    }
}
