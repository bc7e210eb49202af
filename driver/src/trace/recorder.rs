//! The observer of an interpreter run that records a trace.

mod bad_value;
pub(in crate::trace) mod library;
mod memory_fault;
mod operations;

use super::arguments::{Making, creates_objects};
use super::fault;
use super::names::{Names, Temporaries};
use super::{Block, Event, InputValue, Object, Precondition, Step, Trace, Write};
use crate::environment::{Command, Environment, LibraryCall, text_at};
use crate::source::{Sources, Spot};
use bad_value::{BadValues, FaultSource};
use cfa::interp::{Fault, Inputs, ObjectSeq, Observer, Outcome, Run, State};
use cfa::{
    Bv, CType, Callee, Check, EdgeId, ErrorInfo, Expr, ExprId, FuncId, FunctionOrigin, InputId, InputKind, LocId, Op,
    PlaceId, Program, TypeId, VarId,
};
use library::{Library, called, is_internal, is_of_macro};
use memory_fault::Life;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The maximum number of kept steps. If there are more, the recorder drops steps from the middle.
const MAX_STEPS: usize = 20_000;
/// The maximum number of recorded `malloc` blocks. A test harness reproduces their initial content.
const MOST_BLOCKS: usize = 1_000;
/// The maximum length of a condition in a trace, in characters.
const MAX_CONDITION: usize = 80;
/// The maximal number of edges without effect from a check to the code after it.
const HANDLER: usize = 8;
/// An upper bound of offsets from a null pointer, in bytes.
const NULL_PAGE: u64 = 4096;

/// A stack frame of the run.
struct Frame {
    /// The call edge that created the frame. `None` for the first frame.
    call: Option<EdgeId>,
    /// The function of the frame.
    func: FuncId,
    /// The local variables that depend on inputs.
    tainted: FxHashSet<VarId>,
    /// The number of the step that records the call, if there is one.
    step: Option<usize>,
    /// The variables that are not initialised yet, with their arbitrary values.
    unset: FxHashMap<VarId, InputValue>,
    /// The temporaries of the frame that have names in C.
    temporaries: Temporaries,
}

/// The observer of an interpreter run that records a trace.
pub struct Recorder<'p> {
    /// The program of the run.
    program: &'p Program,
    /// The source files, for positions and texts.
    sources: &'p Sources,
    /// The inputs of the run.
    given: &'p Inputs,
    /// The C names of objects and variables.
    names: Names<'p>,
    /// The source positions at which objects of `Alloc` edges were allocated and freed, by the number of the object.
    lives: Vec<Life>,
    /// The stack frames, outermost first.
    frames: Vec<Frame>,
    /// The calls of library models that have not returned, outermost first.
    library: Vec<Library>,
    /// A cache of the variables in each expression.
    vars_of: RefCell<FxHashMap<ExprId, Rc<[VarId]>>>,
    /// The global variables that depend on inputs.
    tainted_globals: FxHashSet<VarId>,
    /// The addresses of bytes that depend on inputs.
    tainted_bytes: FxHashSet<u64>,
    /// The addresses of bytes that have an input value because they were never written. A read of such a byte removes
    /// its address, so the trace reports each byte only once.
    unwritten: FxHashSet<u64>,
    /// The addresses in `unwritten` that belong to blocks from `malloc`.
    on_heap: FxHashSet<u64>,
    /// The user's function that the program calls first.
    first: FuncId,
    /// The blocks that `malloc` returned, in order.
    heap: Vec<Block>,
    /// The number of bytes of these blocks that were read before they were written.
    unwritten_on_heap: usize,
    /// The inputs that the program took, in order.
    inputs: Vec<InputValue>,
    /// The variables that were read before they were written.
    uninitialised: Vec<InputValue>,
    /// The number of bytes that were read before they were written.
    unwritten_bytes: usize,
    /// The arguments of `main`.
    command: Command,
    /// The creation of the arguments of an entry function other than `main`.
    making: Making,
    /// The objects whose sizes the program queried, as `__CPROVER_r_ok` does.
    measured: FxHashSet<ObjectSeq>,
    /// The library calls that depend on the environment, in order of their return.
    calls: Vec<LibraryCall>,
    /// True if the inputs chose the arguments of `main`.
    command_matters: bool,
    /// The recorded steps. If steps were omitted, they preceded the step at index `cut`.
    steps: Vec<Step>,
    /// The writes that no step records yet. The next step takes them.
    untold: Vec<Write>,
    /// The number of omitted steps.
    omitted: usize,
    /// The index in `steps` at which steps are omitted.
    cut: usize,
    /// The variable that took the last input, and the number of the input's step. The next copy of this variable goes
    /// to the variable or memory that receives the input in C.
    fresh: Option<(VarId, usize)>,
    /// The number and the edge of the last branch step.
    branched: Option<(usize, EdgeId)>,
    /// The text of the assertion that failed. It is empty if the program does not have the text.
    assertion: Option<String>,
    /// The named variables in the check that failed, with their values.
    failed: Vec<(String, String)>,
    /// The sources of null pointers and of values that were never set.
    bad_values: BadValues,
    /// The source of the bad value that the error is about.
    bad: Option<FaultSource>,
    /// The invalid access, in terms of C.
    access: Option<fault::Access>,
    /// The uninitialised memory from which a variable's shadow value comes: its C expression and its object.
    shadows: FxHashMap<VarId, (Option<String>, Option<Object>)>,
}

/// Returns the user's function that the program's entry function calls last, after the constructors. Returns the entry
/// function itself if it calls no function of the user.
fn first_function(program: &Program) -> FuncId {
    let calls = program.edges.values().filter(|edge| program.locs[edge.source].func == program.entry);
    let mut called = calls.filter_map(|edge| match edge.op {
        Op::Call { callee: Callee::Direct(callee), .. } => Some(callee),
        _ => None,
    });
    called.rfind(|&func| program.funcs[func].origin == FunctionOrigin::Source).unwrap_or(program.entry)
}

/// Returns the index of the parameter that has the text of the failed assertion. `None` if the function is not one that
/// a failed `assert` calls.
fn asserted_parameter(function: &str) -> Option<usize> {
    match function {
        "__assert_fail" | "__assert" | "_assert" => Some(0),
        "__assert_func" | "__assert_rtn" => Some(3),
        _ => None,
    }
}

impl<'p> Recorder<'p> {
    /// Returns a recorder for a run of the program on the inputs `given`.
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
            first: first_function(program),
            library: Vec::new(),
            vars_of: RefCell::default(),
            tainted_globals: FxHashSet::default(),
            tainted_bytes: FxHashSet::default(),
            unwritten: FxHashSet::default(),
            on_heap: FxHashSet::default(),
            heap: Vec::new(),
            unwritten_on_heap: 0,
            inputs: Vec::new(),
            uninitialised: Vec::new(),
            unwritten_bytes: 0,
            command: Command::default(),
            making: Making::default(),
            measured: FxHashSet::default(),
            calls: Vec::new(),
            command_matters: false,
            steps: Vec::new(),
            untold: Vec::new(),
            omitted: 0,
            cut: MAX_STEPS / 2,
            fresh: None,
            branched: None,
            assertion: None,
            failed: Vec::new(),
            bad_values: BadValues::default(),
            bad: None,
            access: None,
            shadows: FxHashMap::default(),
        }
    }

    /// Returns the trace of a run that did not end in an error: the inputs, and the environment that the run needs. The
    /// trace has no steps.
    pub fn finish_without_error(mut self) -> Trace {
        library::interrupt(&mut self);
        Trace {
            arguments: self.making.finish(self.program, self.given),
            environment: Environment::new(self.command, &self.calls, self.program.layout.pointer_width),
            inputs: self.inputs,
            uninitialised: self.uninitialised,
            unwritten_bytes: self.unwritten_bytes,
            heap: if self.unwritten_on_heap == 0 { Vec::new() } else { self.heap },
            unwritten_on_heap: self.unwritten_on_heap,
            ..Trace::default()
        }
    }

    /// Returns the trace of a run that ended in `error` at `edge`.
    pub fn finish(mut self, error: &ErrorInfo, edge: EdgeId, run: &Run) -> Trace {
        // If the call of a function is the error, the trace reports this call.
        let frame = self.frame();
        let at_entry = super::is_call_error(self.program, error, edge);
        let is_in_error_function =
            at_entry && frame.call.is_some() && self.depth() > 0 && self.origin(frame.func) != FunctionOrigin::Model;
        let site = if at_entry { frame.call.unwrap_or(edge) } else { edge };
        let site = self.in_user_code(site).unwrap_or(site);
        let mut object = run.object.map(|near| self.object_near(&near));
        let mut message = error.message.clone();
        let mut spot =
            self.spot(self.program.edges[site].place).or_else(|| error.place.and_then(|p| self.spot(Some(p))));
        if error.check == Check::Memory {
            self.explain_use(edge, spot.as_ref(), &mut message, &mut object);
        }
        // The position where a leaked object should have been freed is unknown. The trace reports its allocation.
        let leaked = match (&self.program.edges[edge].op, run.object.as_ref().map(|near| near.object)) {
            (Op::Leak(_), Some(ObjectSeq::Alloc(n))) => self.lives.get(n as usize),
            _ => None,
        };
        let leaked = leaked.and_then(|life| Some((life.by, life.allocated.clone()?)));
        if let Some((_, allocated)) = &leaked {
            spot = Some(allocated.clone());
        }
        // An error in the program's entry function, such as at the end of the program, is attributed to the function of
        // the last step.
        let last = self.steps.last().map(|step| &step.function);
        let func = self.program.func_of(site);
        let last = last.filter(|_| func == self.program.entry);
        let function = match &leaked {
            Some((by, _)) => self.function_of(*by),
            None => last.map_or(self.function_of(site), String::as_str),
        };
        let function = function.to_owned();
        for step in self.frames.iter().filter_map(|f| f.step).collect::<Vec<_>>() {
            if let Some(step) = self.index(step) {
                self.steps[step].matters = true;
            }
        }
        // The error step replaces the step of the call of the error function.
        if let Some(Step { event: Event::Call { .. }, .. }) = self.steps.last().filter(|_| at_entry) {
            self.steps.pop();
        }
        if at_entry && let Some(last) = self.steps.iter_mut().rev().find(|s| matches!(s.event, Event::Branch { .. })) {
            last.matters = true;
        }
        let message = match self.assertion.take() {
            // If `assert` is not declared, only the source file has the text of the assertion.
            Some(text) if text.is_empty() => {
                let text = spot.as_ref().and_then(|s| self.sources.argument(s));
                text.map_or("assertion failed".to_owned(), |text| format!("assertion failed: {text}"))
            }
            Some(text) => format!("assertion failed: {text}"),
            None => match run.outcome {
                Outcome::Invalid { fault, addr, .. } => {
                    let access = self.access.take();
                    fault::message(
                        &self.program.edges[edge].op,
                        spot.as_ref(),
                        fault,
                        addr,
                        run.accessed,
                        object.as_ref(),
                        access.as_ref(),
                    )
                }
                _ => message,
            },
        };
        let event = Event::Error { message: message.clone(), operands: std::mem::take(&mut self.failed) };
        let depth = self.depth() - usize::from(is_in_error_function);
        let writes = std::mem::take(&mut self.untold);
        let source = self.bad.take().filter(|source| source.explains(error.check));
        let origin = source.and_then(|source| self.origin_at(source));
        library::interrupt(&mut self);
        self.steps.push(Step { event, spot: spot.clone(), function: function.clone(), matters: true, depth, writes });
        let buffer = run.object.as_ref().map(|near| near.object).filter(|seq| !self.measured.contains(seq));
        let buffer = buffer.and_then(|seq| self.making.index_of(seq));
        let arguments = self.making.finish(self.program, self.given);
        let precondition = match (&run.outcome, &arguments, &object, buffer) {
            (Outcome::Invalid { fault: Fault::OutOfBounds, .. }, Some(call), Some(object), Some(index)) => {
                let writes = matches!(self.program.edges[edge].op.unshadowed(), Op::Store { .. } | Op::Fill { .. });
                Precondition::for_access(call, object, index, run.accessed, writes, &self.steps)
            }
            _ => None,
        };
        Trace {
            message,
            object,
            origin,
            precondition,
            spot,
            function,
            inputs: self.inputs,
            inputs_per_iteration: 0,
            // With `Check::Memory`, the use of the uninitialised value is the error. The value is irrelevant.
            uninitialised: if error.check == Check::Memory { Vec::new() } else { self.uninitialised },
            unwritten_bytes: if error.check == Check::Memory { 0 } else { self.unwritten_bytes },
            heap: if error.check == Check::Memory || self.unwritten_on_heap == 0 { Vec::new() } else { self.heap },
            unwritten_on_heap: self.unwritten_on_heap,
            declared: Vec::new(),
            arguments,
            environment: Environment::new(self.command, &self.calls, self.program.layout.pointer_width),
            steps: self.steps,
            omitted: self.omitted,
            cut: self.cut,
            schedule: None,
        }
    }

    fn frame(&self) -> &Frame {
        self.frames.last().expect("there is a frame")
    }
    fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("there is a frame")
    }

    /// Returns the innermost edge of the user's code that is active while `edge` executes: `edge` itself, or the call
    /// through which control entered a library model. `None` if no active edge is in the user's code.
    fn in_user_code(&self, edge: EdgeId) -> Option<EdgeId> {
        let calls = self.frames.iter().rev().filter_map(|f| f.call);
        std::iter::once(edge).chain(calls).find(|&e| {
            let func = self.program.func_of(e);
            self.program.funcs[func].origin == FunctionOrigin::Source && self.program.edges[e].place.is_some()
        })
    }

    /// Returns the source position of a place, if known.
    fn spot(&self, place: Option<PlaceId>) -> Option<Spot> {
        self.sources.spot(self.program, place?)
    }

    fn origin(&self, func: FuncId) -> FunctionOrigin {
        self.program.funcs[func].origin
    }

    /// Returns true if the trace shows steps of the current function. It shows no steps of library models and of the
    /// entry function, which runs before `main`.
    fn shown(&self) -> bool {
        self.frames.len() > 1 && self.origin(self.frame().func) != FunctionOrigin::Model
    }

    /// Appends a step.
    fn push(&mut self, event: Event, edge: EdgeId, matters: bool) {
        let spot = self.spot(self.program.edges[edge].place);
        let function = self.function_of(edge).to_owned();
        if self.steps.len() >= MAX_STEPS {
            // The removal of a quarter of the kept steps at once has constant amortised cost per step.
            let gone = MAX_STEPS / 4;
            self.steps.drain(self.cut..self.cut + gone);
            self.omitted += gone;
        }
        let (depth, writes) = (self.depth(), std::mem::take(&mut self.untold));
        self.steps.push(Step { event, spot, function, matters, depth, writes });
    }

    /// Returns the name of the function that contains an edge. The entry function runs before the user's first function
    /// and chooses its arguments, so its edges belong to that function, and so do those of functions that make arguments.
    fn function_of(&self, edge: EdgeId) -> &'p str {
        let func = self.program.func_of(edge);
        let is_of_arguments =
            matches!(self.program.funcs[func].name.as_str(), frontend_llvm::MAKE | frontend_llvm::FOLLOW);
        let func = if func == self.program.entry || is_of_arguments { self.first } else { func };
        match self.program.funcs[func].name.as_str() {
            frontend_llvm::GIVEN => "a function that an argument points to",
            name => name,
        }
    }

    /// Returns the number of calls between the user's first function and the innermost function that is no model.
    fn depth(&self) -> usize {
        let innermost = self.frames.iter().rposition(|f| self.origin(f.func) != FunctionOrigin::Model);
        innermost.unwrap_or(0).saturating_sub(1)
    }

    /// Adds writes to the last step.
    fn wrote(&mut self, writes: impl IntoIterator<Item = Write>) {
        self.steps.last_mut().expect("a step was told").writes.extend(writes);
    }

    /// Returns the number of the next step. Numbers count omitted steps.
    fn next_step(&self) -> usize {
        self.steps.len() + self.omitted
    }
    /// Returns the index in `steps` of the step with this number. `None` if the step was omitted.
    fn index(&self, step: usize) -> Option<usize> {
        if step < self.cut { Some(step) } else { step.checked_sub(self.omitted).filter(|&i| i >= self.cut) }
    }

    // Dependence on inputs.

    /// Returns the variables in an expression.
    fn vars(&self, e: ExprId) -> Rc<[VarId]> {
        let mut cache = self.vars_of.borrow_mut();
        cache.entry(e).or_insert_with(|| self.program.exprs.vars(e).into()).clone()
    }
    /// Returns true if a variable in the expression depends on inputs.
    fn is_tainted(&self, e: ExprId) -> bool {
        let frame = self.frame();
        self.vars(e).iter().any(|v| frame.tainted.contains(v) || self.tainted_globals.contains(v))
    }
    /// Records whether a variable depends on inputs.
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
    /// Records a write of `len` bytes at `addr`. The parameter `tainted` is true if the bytes depend on inputs.
    fn write(&mut self, addr: u64, len: u64, tainted: bool) {
        // Only the first 64 KiB are tracked, so that large fills stay fast.
        for at in addr..addr.saturating_add(len.min(1 << 16)) {
            if tainted {
                self.tainted_bytes.insert(at);
            } else {
                self.tainted_bytes.remove(&at);
            }
            self.unwritten.remove(&at);
            self.on_heap.remove(&at);
        }
        if let Some(call) = self.library.last_mut() {
            match call.written.last_mut() {
                Some((start, before)) if *start + *before == addr => *before += len,
                _ => call.written.push((addr, len)),
            }
        }
    }

    // Names and values.

    /// Returns the variables in an expression that have a name, with their values.
    fn operands(&self, e: ExprId, state: &State) -> Vec<(String, String)> {
        let temporaries = &self.frame().temporaries;
        let named = |&var: &VarId| {
            let (name, ty) = self.names.value(var, temporaries)?;
            Some((name, self.names.show(ty, &state.var(var)?, state)))
        };
        self.vars(e).iter().flat_map(|var| self.names.operands(var, temporaries)).filter_map(named).collect()
    }

    /// Returns a condition as a C expression. `None` if one of its variables has no name or the text is longer than
    /// [`MAX_CONDITION`].
    fn condition(&self, cond: ExprId) -> Option<String> {
        let temporaries = &self.frame().temporaries;
        if !self.vars(cond).iter().all(|&v| self.names.value(v, temporaries).is_some()) {
            return None;
        }
        let text = cfa::text::c_expr_naming(self.program, cond, &|v| self.names.value(v, temporaries));
        (text.chars().count() <= MAX_CONDITION).then_some(text)
    }

    /// Returns the C expression for the `len` bytes at address `at`, and their type if known. The address is the value
    /// of `addr`.
    fn target(&self, addr: ExprId, at: u64, len: u64, state: &State) -> Option<(String, Option<TypeId>)> {
        self.names.target(addr, &self.vars(addr), at, len, state, &self.frame().temporaries)
    }

    /// Returns the C expression for the `len` bytes at address `at`, the name of the pointer in it, and true if that
    /// pointer is null. The address may be outside all objects or in a dead object.
    fn dereferenced(&self, addr: ExprId, at: u64, len: u64, state: &State) -> Option<(String, String, bool)> {
        self.names.through(addr, &self.vars(addr), at, len, state, &self.frame().temporaries)
    }

    /// Returns the C name for the value of an expression. `None` if the expression is not a single variable.
    fn named(&self, e: ExprId) -> Option<String> {
        let Expr::Var(var) = *self.program.exprs.get(e) else { return None };
        Some(self.names.value(var, &self.frame().temporaries)?.0)
    }
}

/// Returns true if the edge leads to an error edge.
fn leads_to_error(program: &Program, edge: EdgeId) -> bool {
    leads_to(program, edge, |op| matches!(op, Op::Error(_)))
}

/// Returns true if another branch of the edge's source location leads to an error edge. If `means` is `None`, these
/// count, too: a branch to the end of the program, to an approximation, to the choice between the errors of a check for
/// two rules (null and misaligned pointers), and one that makes no difference because its check was proved.
fn avoids_error(program: &Program, edge: EdgeId, means: Option<bool>) -> bool {
    let end: fn(&Op) -> bool = match means {
        Some(_) => |op| matches!(op, Op::Error(_)),
        None => |op| matches!(op, Op::Error(_) | Op::Approx { .. } | Op::Halt(_)),
    };
    let of_check = |e| matches!(program.edges[e].op, Op::Error(error) if program.errors[error].check != Check::Call);
    let after = |e: EdgeId| program.out_edges(program.edges[e].target);
    let is_choice = |e| after(e).count() == 2 && after(e).any(|side| after(side).any(of_check));
    let is_idle = |e| next_effect(program, e, HANDLER) == next_effect(program, edge, HANDLER);
    let mut sides = program.out_edges(program.edges[edge].source);
    sides.any(|e| e != edge && (leads_to(program, e, end) || means.is_none() && (is_choice(e) || is_idle(e))))
}

/// Returns the first location after an edge at which the program has an effect: before it are at most `length` edges
/// that do nothing, and branches whose sides meet.
fn next_effect(program: &Program, edge: EdgeId, length: usize) -> LocId {
    let at = program.edges[edge].target;
    let Some(length) = length.checked_sub(1) else { return at };
    match program.out_edges(at).collect::<Vec<_>>()[..] {
        [next] if matches!(program.edges[next].op, Op::Skip) => next_effect(program, next, length),
        [one, other] => {
            let after = next_effect(program, one, length);
            if after == next_effect(program, other, length) { after } else { at }
        }
        _ => at,
    }
}

/// Returns true if the predicate `what` holds for an operation that follows the edge.
fn leads_to(program: &Program, edge: EdgeId, what: fn(&Op) -> bool) -> bool {
    program.out_edges(program.edges[edge].target).any(|e| what(&program.edges[e].op))
}

impl Observer for Recorder<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let number = |e: ExprId| state.eval(e).to_u64().unwrap_or(0);
        // The caller reads the arguments of a call. So this precedes the handling of the call, which pushes the frame
        // of the callee.
        if !self.frame().unset.is_empty() {
            self.read_unset(edge);
        }
        self.follow(edge, state);
        match self.program.edges[edge].op {
            Op::Skip | Op::Halt(_) | Op::Approx { .. } | Op::Leak(_) => {}
            Op::Shadow(ref op) => self.shadow(op, state),
            Op::Free { ptr, .. } => {
                if let Some((object, n)) = state.object_at(number(ptr)).filter(|o| !o.live).and_then(|o| match o.seq {
                    ObjectSeq::Alloc(n) => Some((o, n)),
                    ObjectSeq::Global(_) => None,
                }) {
                    self.untold.extend(self.names.freed(object));
                    let freed = self.spot(self.program.edges[self.in_user_code(edge).unwrap_or(edge)].place);
                    let moved_by = self.moving();
                    let life = &mut self.lives[n as usize];
                    (life.freed, life.moved_by) = (freed, moved_by);
                }
            }
            Op::Error(_) => {
                let function = &self.program.funcs[state.func()];
                if let Some(n) = asserted_parameter(&function.name) {
                    let text = function.params.get(n).and_then(|&p| text_at(state, state.var(p)?.to_u64()?));
                    self.assertion = Some(text.map_or_else(String::new, |t| String::from_utf8_lossy(&t).into_owned()));
                }
            }
            Op::ObjectSize { var, ptr, .. } | Op::ObjectOffset { var, ptr, .. } => {
                self.measured.extend(state.object_at(number(ptr)).map(|object| object.seq));
                let tainted = self.is_tainted(ptr);
                self.set_taint(var, tainted);
            }
            Op::Assign { var, value } => {
                self.pass_shadow(var, value, state);
                self.assign(edge, var, value, state);
            }
            // An edge to an error edge is a failed check, not a branch of the C program.
            Op::Assume { cond, .. } if leads_to_error(self.program, edge) => {
                self.failed = self.operands(cond, state);
                self.bad = self.bad_source(cond);
            }
            Op::Assume { means, .. } if avoids_error(self.program, edge, means) => {}
            Op::Assume { cond, branch, means, .. } => self.branch(edge, cond, means, branch, state),
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
                let among = |bytes: &FxHashSet<u64>| -> Vec<u64> {
                    let moved = (0..count.min(1 << 16)).filter(|&i| bytes.contains(&from.wrapping_add(i)));
                    moved.map(|i| at.wrapping_add(i)).collect()
                };
                let (unwritten, on_heap) = (among(&self.unwritten), among(&self.on_heap));
                let any = tainted.contains(&true);
                self.write(at, count, false);
                for i in (0..).zip(tainted).filter(|(_, t)| *t).map(|(i, _)| at.wrapping_add(i)) {
                    self.tainted_bytes.insert(i);
                }
                self.unwritten.extend(unwritten);
                self.on_heap.extend(on_heap);
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

    fn faulted(&mut self, edge: EdgeId, addr: u64, state: &State) {
        (self.access, self.bad) = self.invalid_access(edge, addr, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_traces_lose_their_middle() {
        let program = cfa::text::parse(include_str!("../../../instrument/tests/data/sum.cfa")).unwrap();
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
