//! The observer that writes a trace down.

mod library;

mod operations;

use super::arguments::{Making, makes};
use super::fault::{self, Life};
use super::names::{Names, Temporaries};
use super::origin;
use super::{Block, Event, InputValue, Object, Step, Trace, Write};
use crate::environment::{Command, Environment, LibraryCall};
use crate::source::{Sources, Spot};
use cfa::interp::{Inputs, ObjectSeq, Observer, Outcome, Run, State};
use cfa::{
    Bv, CType, Callee, Check, EdgeId, ErrorInfo, Expr, ExprId, FuncId, FunctionOrigin, InputId, InputKind, Op, PlaceId,
    Program, TypeId, VarId,
};
use library::{Library, text_at};
pub(super) use library::{called, is_internal};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Steps kept; beyond this the middle is left out.
const MAX_STEPS: usize = 20_000;
/// Calls of `malloc` whose memory a harness gives.
const MOST_BLOCKS: usize = 1_000;
/// Characters of a condition that is shown.
const MAX_CONDITION: usize = 80;

pub(super) struct Frame {
    /// The call that made it; `None` for the first.
    pub(super) call: Option<EdgeId>,
    pub(super) func: FuncId,
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
    pub(super) frames: Vec<Frame>,
    pub(super) library: Vec<Library>,
    vars_of: RefCell<FxHashMap<ExprId, Rc<[VarId]>>>,
    tainted_globals: FxHashSet<VarId>,
    tainted_bytes: FxHashSet<u64>,
    /// Bytes that nobody has written and that were not reported as such.
    unwritten: FxHashSet<u64>,
    /// Those of them that `malloc` has given the program.
    on_heap: FxHashSet<u64>,
    /// The user's function that the program starts with.
    first: FuncId,
    heap: Vec<Block>,
    unwritten_on_heap: usize,
    inputs: Vec<InputValue>,
    uninitialised: Vec<InputValue>,
    unwritten_bytes: usize,
    command: Command,
    making: Making,
    calls: Vec<LibraryCall>,
    /// What `main` is called with was chosen.
    command_matters: bool,
    steps: Vec<Step>,
    /// What was written without a step of its own.
    untold: Vec<Write>,
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
    /// Where null pointers and values that were never set come from, and the one that the error is about.
    pub(super) sources_of_values: origin::Sources,
    bad: Option<origin::Source>,
    /// The access that is invalid, in the words of the program.
    access: Option<fault::Access>,
    /// By variable that holds a shadow of memory which is not initialised, what that memory is in C, and its object.
    pub(super) shadows: FxHashMap<VarId, (Option<String>, Option<Object>)>,
}

/// The user's function that the program starts with, which is called after constructors; the entry itself if there is none.
fn first_function(program: &Program) -> FuncId {
    let calls = program.edges.values().filter(|edge| program.locs[edge.source].func == program.entry);
    let mut called = calls.filter_map(|edge| match edge.op {
        Op::Call { callee: Callee::Direct(callee), .. } => Some(callee),
        _ => None,
    });
    called.rfind(|&func| program.funcs[func].origin == FunctionOrigin::Source).unwrap_or(program.entry)
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
            sources_of_values: origin::Sources::default(),
            bad: None,
            access: None,
            shadows: FxHashMap::default(),
        }
    }

    /// The run ended in an error at an edge.
    pub fn finish(mut self, error: &ErrorInfo, edge: EdgeId, run: &Run) -> Trace {
        // The error edge stands at the entry of the error function; the user looks at its call.
        let frame = self.frame();
        let is_call = matches!(error.check, Check::Call | Check::Automaton);
        let at_entry = is_call && self.program.funcs[frame.func].entry == self.program.edges[edge].source;
        let site = if at_entry { frame.call.unwrap_or(edge) } else { edge };
        let site = self.in_user_code(site).unwrap_or(site);
        let mut object = run.object.map(|near| fault::object(&self, &near));
        let mut message = error.message.clone();
        let mut spot =
            self.spot(self.program.edges[site].place).or_else(|| error.place.and_then(|p| self.spot(Some(p))));
        if error.check == Check::Memory {
            fault::explain_use(&self, edge, spot.as_ref(), &mut message, &mut object);
        }
        // Nobody knows where memory should have been freed, but where it comes from.
        if let (Op::Leak(_), Some(Object { allocated: Some(at), .. })) = (&self.program.edges[edge].op, &object) {
            spot = Some(at.clone());
        }
        // What is wrong where the program ends is told of where it was before.
        let last = self.steps.last().map(|step| &step.function);
        let func = self.program.func_of(site);
        let function = last.filter(|_| func == self.program.entry);
        let function = function.map_or(self.function_of(site), String::as_str).to_owned();
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
                Outcome::Invalid { fault, addr, .. } => {
                    let access = self.access.take();
                    fault::fault(
                        &self,
                        edge,
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
        let (depth, writes) = (self.depth(), std::mem::take(&mut self.untold));
        let origin = self.bad.take().and_then(|source| self.origin_at(source));
        library::interrupt(&mut self);
        self.steps.push(Step { event, spot: spot.clone(), function: function.clone(), matters: true, depth, writes });
        Trace {
            message,
            object,
            origin,
            spot,
            function,
            inputs: self.inputs,
            turn: 0,
            // Whatever it holds, using it is the error.
            uninitialised: if error.check == Check::Memory { Vec::new() } else { self.uninitialised },
            unwritten_bytes: if error.check == Check::Memory { 0 } else { self.unwritten_bytes },
            heap: if error.check == Check::Memory || self.unwritten_on_heap == 0 { Vec::new() } else { self.heap },
            unwritten_on_heap: self.unwritten_on_heap,
            declared: Vec::new(),
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
    pub(super) fn in_user_code(&self, edge: EdgeId) -> Option<EdgeId> {
        let calls = self.frames.iter().rev().filter_map(|f| f.call);
        std::iter::once(edge).chain(calls).find(|&e| {
            let func = self.program.func_of(e);
            self.program.funcs[func].origin == FunctionOrigin::Source && self.program.edges[e].place.is_some()
        })
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
        let function = self.function_of(edge).to_owned();
        if self.steps.len() >= MAX_STEPS {
            // Amortised: a quarter of the kept steps goes at once, from the middle.
            let gone = MAX_STEPS / 4;
            self.steps.drain(self.cut..self.cut + gone);
            self.omitted += gone;
        }
        let (depth, writes) = (self.depth(), std::mem::take(&mut self.untold));
        self.steps.push(Step { event, spot, function, matters, depth, writes });
    }

    /// The function of the user that an edge is in. What runs before the first one, and chooses its arguments, belongs to it.
    fn function_of(&self, edge: EdgeId) -> &'p str {
        let func = self.program.func_of(edge);
        let func = if func == self.program.entry { self.first } else { func };
        &self.program.funcs[func].name
    }

    /// How many calls the present function of the program is away from the first one.
    fn depth(&self) -> usize {
        let innermost = self.frames.iter().rposition(|f| self.origin(f.func) != FunctionOrigin::Model);
        innermost.unwrap_or(0).saturating_sub(1)
    }

    /// What the last step wrote.
    fn wrote(&mut self, writes: impl IntoIterator<Item = Write>) {
        self.steps.last_mut().expect("a step was told").writes.extend(writes);
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
    pub(super) fn vars(&self, e: ExprId) -> Rc<[VarId]> {
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

    pub(super) fn target(&self, addr: ExprId, at: u64, len: u64, state: &State) -> Option<(String, Option<TypeId>)> {
        self.names.target(addr, &self.vars(addr), at, len, state, &self.frame().temporaries)
    }

    /// C's expression for `len` bytes at an address outside all objects or in a dead one, the pointer in it, and whether that is null.
    pub(super) fn dereferenced(
        &self,
        addr: ExprId,
        at: u64,
        len: u64,
        state: &State,
    ) -> Option<(String, String, bool)> {
        self.names.through(addr, &self.vars(addr), at, len, state, &self.frame().temporaries)
    }

    /// The name of the value of an expression that is one variable.
    pub(super) fn named(&self, e: ExprId) -> Option<String> {
        let Expr::Var(var) = *self.program.exprs.get(e) else { return None };
        Some(self.names.value(var, &self.frame().temporaries)?.0)
    }

    // Calls.
}

/// Whether an error comes next.
fn leads_to_error(program: &Program, edge: EdgeId) -> bool {
    leads_to(program, edge, |op| matches!(op, Op::Error(_)))
}

/// Whether an error would have come next on the other side of the branch, or the end of what C defines.
fn avoids_error(program: &Program, edge: EdgeId, means: Option<bool>) -> bool {
    let end: fn(&Op) -> bool = match means {
        Some(_) => |op| matches!(op, Op::Error(_)),
        None => |op| matches!(op, Op::Error(_) | Op::Approx { .. } | Op::Halt(_)),
    };
    let mut sides = program.out_edges(program.edges[edge].source);
    sides.any(|e| e != edge && leads_to(program, e, end))
}

/// Whether such an operation comes next.
fn leads_to(program: &Program, edge: EdgeId, what: fn(&Op) -> bool) -> bool {
    program.out_edges(program.edges[edge].target).any(|e| what(&program.edges[e].op))
}

impl Observer for Recorder<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let number = |e: ExprId| state.eval(e).to_u64().unwrap_or(0);
        // After a call the frame is another one, whose parameters have values; arguments were read before.
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
            Op::ObjectSize { var, ptr, .. } | Op::ObjectOffset { var, ptr } => {
                let tainted = self.is_tainted(ptr);
                self.set_taint(var, tainted);
            }
            Op::Assign { var, value } => {
                self.pass_shadow(var, value, state);
                self.assign(edge, var, value, state);
            }
            // Checks are no branches of the C program.
            Op::Assume { cond, .. } if leads_to_error(self.program, edge) => {
                self.failed = self.operands(cond, state);
                self.bad = self.bad_source(cond);
            }
            Op::Assume { means, .. } if avoids_error(self.program, edge, means) => {}
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
        (self.access, self.bad) = fault::access(self, edge, addr, state);
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
