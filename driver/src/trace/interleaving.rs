//! The trace of a run with threads: the steps of all threads in the order of their execution, with the thread switches.

use super::names::{Names, Temporaries};
use super::recorder::library::name_in_c;
use super::schedule::Collector;
use super::waits::Waits;
use super::{Event, InputValue, Step, Trace, declared};
use crate::source::{Sources, Spot};
use cfa::interp::{
    Access, InputSource, Inputs, InputsSource, Interpreter, Limits, ObjectSeq, Observer, Outcome, Run, State, Unknown,
};
use cfa::threads::ThreadOp;
use cfa::{
    Bv, Callee, Check, EdgeId, ErrorInfo, ExprId, FuncId, FunctionOrigin, InputKind, Op, PlaceId, Program, VarId,
    VarKind,
};
use rustc_hash::FxHashMap;

/// The maximum number of kept steps. If there are more, the trace has only the last ones.
const MAX_STEPS: usize = 5_000;
/// A function that ends other threads. Schedules for native executions do not cover such ends.
const CANCEL: &str = "pthread_cancel";

/// Runs the program on the inputs, with their schedule, and returns the trace of the violation. `Err` with the outcome
/// of the run if it does not end in an error.
pub fn record(program: &Program, inputs: &Inputs, sources: &Sources, limits: Limits) -> Result<Trace, Outcome> {
    let mut recorder = Recorder {
        program,
        sources,
        names: Names::new(program),
        temporaries: FxHashMap::default(),
        last: 0,
        steps: Vec::new(),
        omitted: 0,
        inputs: Vec::new(),
        accessed: FxHashMap::default(),
        at: FxHashMap::default(),
        allocated: FxHashMap::default(),
        waits: Waits::default(),
        schedule: program.func_by_name(CANCEL).is_none().then(|| Collector::new(program)),
    };
    let mut source = Scheduled { inputs: inputs.source(), last: 0 };
    let run = Interpreter::new(program).run(&mut source, limits, &mut recorder);
    match run.outcome.error(program) {
        Some((error, edge)) => {
            let trace = recorder.finish(&program.errors[error], edge, &run, source.last);
            Ok(Trace { declared: declared::initial_values(program, inputs), ..trace })
        }
        None => Err(run.outcome),
    }
}

/// Recorded inputs that observe which thread runs last.
struct Scheduled<'a> {
    inputs: InputsSource<'a>,
    last: u32,
}

impl InputSource for Scheduled<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        self.inputs.unknown(what, width)
    }
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        self.inputs.bytes(object, offset, bytes);
    }
    fn base(&mut self, object: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        self.inputs.base(object, size, align)
    }
    fn thread(&mut self, point: u64, current: u32, enabled: &[u32]) -> u32 {
        self.last = self.inputs.thread(point, current, enabled);
        if !enabled.contains(&self.last) {
            self.last = if enabled.contains(&current) { current } else { enabled[0] };
        }
        self.last
    }
}

/// The observer of a run with threads that records a trace.
struct Recorder<'p> {
    program: &'p Program,
    sources: &'p Sources,
    names: Names<'p>,
    /// The temporaries that have names in C, by thread and depth of the call.
    temporaries: FxHashMap<(u32, usize), Temporaries>,
    /// The thread of the last step.
    last: u32,
    steps: Vec<Step>,
    /// The number of steps that were dropped from the start.
    omitted: usize,
    inputs: Vec<InputValue>,
    /// The last access of each thread at an edge to an address.
    accessed: FxHashMap<(u32, EdgeId, u64), Accessed>,
    /// The last edge of each thread in the user's code.
    at: FxHashMap<u32, EdgeId>,
    /// The edges in the user's code that allocated objects.
    allocated: FxHashMap<ObjectSeq, EdgeId>,
    waits: Waits,
    schedule: Option<Collector<'p>>,
}

/// An access that was recorded.
struct Accessed {
    /// The C expression of the memory, if it has one.
    name: Option<String>,
    /// The locks that the thread held.
    locks: Vec<u64>,
}

impl Recorder<'_> {
    /// Returns the source position of a place, if known.
    fn spot(&self, place: Option<PlaceId>) -> Option<Spot> {
        self.sources.spot(self.program, place?)
    }
    /// Returns true if the function is in the user's code.
    fn is_source(&self, func: FuncId) -> bool {
        self.program.funcs[func].origin == FunctionOrigin::Source
    }

    /// Appends a step. If another thread executed the last step, a step for the thread switch precedes it.
    fn push(&mut self, event: Event, edge: EdgeId, matters: bool, thread: u32, depth: usize) {
        let spot = self.spot(self.program.edges[edge].place);
        let function = self.program.funcs[self.program.func_of(edge)].name.clone();
        if self.steps.len() >= 2 * MAX_STEPS {
            self.steps.drain(..MAX_STEPS);
            self.omitted += MAX_STEPS;
        }
        if thread != self.last {
            self.last = thread;
            let start = self.waits.start(thread).map(str::to_owned);
            let event = Event::Switch { thread, start, function: function.clone() };
            let (spot, function) = (spot.clone(), function.clone());
            self.steps.push(Step { event, spot, function, matters: true, depth, writes: Vec::new() });
        }
        self.steps.push(Step { event, spot, function, matters, depth, writes: Vec::new() });
    }

    /// Returns the trace of a run that ended in `error` at `edge`, in the thread `last`.
    fn finish(mut self, error: &ErrorInfo, edge: EdgeId, run: &Run, last: u32) -> Trace {
        let program = self.program;
        let at_entry = super::is_call_error(program, error, edge);
        let first = if at_entry { run.stack.last().copied().unwrap_or(edge) } else { edge };
        let in_user_code =
            |&edge: &EdgeId| self.is_source(program.func_of(edge)) && program.edges[edge].place.is_some();
        // The library may make the second access of a race.
        let earlier = run.race.as_ref().map(|[(_, before), _]| before.edge);
        // A leak is reported at the allocation, as it is unknown where the object should have been freed.
        let leaked = run.object.as_ref().filter(|_| matches!(program.edges[edge].op, Op::Leak(_)));
        let leaked = leaked.and_then(|near| self.allocated.get(&near.object).copied());
        let mut candidates = leaked.into_iter().chain([first]).chain(run.stack.iter().rev().copied()).chain(earlier);
        let site = candidates.find(in_user_code).unwrap_or(first);
        let spot = self.spot(program.edges[site].place).or_else(|| self.spot(error.place));
        let function = program.funcs[program.func_of(site)].name.clone();
        let message = match &run.race {
            Some([(first, before), (second, access)]) => self.race(*first, before, *second, access),
            None if error.check == Check::Deadlock => match self.waits.waiting() {
                waiting if waiting.is_empty() => error.message.clone(),
                waiting => format!("{}: {}", error.message, waiting.join("; ")),
            },
            None => error.message.clone(),
        };
        let schedule = self.schedule.take().and_then(|events| events.finish(run, last, error.check == Check::Deadlock));
        let event = Event::Error { message: message.clone(), operands: Vec::new() };
        self.push(event, site, true, self.last, 0);
        if self.steps.len() > MAX_STEPS {
            let gone = self.steps.len() - MAX_STEPS;
            self.steps.drain(..gone);
            self.omitted += gone;
        }
        Trace {
            message,
            spot,
            function,
            inputs: self.inputs,
            steps: self.steps,
            omitted: self.omitted,
            cut: 0,
            schedule,
            ..Trace::default()
        }
    }

    /// Returns the error message of a data race between two accesses, each with its thread.
    fn race(&self, first: u32, before: &Access, second: u32, access: &Access) -> String {
        let known = |thread: u32, access: &Access| self.accessed.get(&(thread, access.edge, access.addr));
        let (earlier, later) = (known(first, before), known(second, access));
        let name = later.and_then(|a| a.name.as_ref()).or(earlier.and_then(|a| a.name.as_ref()));
        let lock = self.waits.lock(access.addr);
        let name = name.map(|name| format!("`{name}`")).or_else(|| lock.map(str::to_owned));
        let name = name.unwrap_or_else(|| "memory".to_owned());
        let kind = |access: &Access| match self.program.edges[access.edge].op {
            Op::Free { .. } => "frees",
            Op::Call { .. } if lock.is_some() && access.writes => "initialises or destroys",
            Op::Call { .. } if lock.is_some() => "uses",
            _ if access.writes => "writes",
            _ => "reads",
        };
        let at = |access: &Access| {
            self.spot(self.program.edges[access.edge].place).map_or_else(String::new, |spot| format!(" at {spot}"))
        };
        let [one, other] = [first, second].map(|thread| self.waits.thread(thread));
        // The run ends before the second access is observed.
        let (before_locks, locks) = (earlier.map_or(Vec::new(), |a| a.locks.clone()), self.waits.held(second));
        let order = match before_locks.is_empty() && locks.is_empty() {
            true => "without synchronisation".to_owned(),
            false => format!(
                "and no lock excludes the other: thread {second} holds {}, thread {first} holds {}",
                self.waits.locks(&locks),
                self.waits.locks(&before_locks)
            ),
        };
        format!("data race: {other} {} {name}, which {one} {}{}, {order}", kind(access), kind(before), at(before))
    }
}

impl Observer for Recorder<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let program = self.program;
        if let Some(schedule) = &mut self.schedule {
            schedule.executed(edge, state);
        }
        let (thread, depth) = (state.thread(), state.depth());
        let func = program.func_of(edge);
        let objects = self.waits.executed(program, edge, state, &self.names, self.sources);
        let op = &program.edges[edge].op;
        let is_in_user_code = self.is_source(func) && program.edges[edge].place.is_some();
        if is_in_user_code {
            self.at.insert(thread, edge);
        }
        if let Op::Alloc { var, kind, .. } = *op {
            let object = self.names.allocated(var, kind, depth, !self.is_source(func));
            self.allocated.extend(self.at.get(&thread).map(|&at| (object, at)));
        }
        if !is_in_user_code {
            return;
        }
        match *op {
            Op::Load { var, addr } => {
                let Some(at) = state.eval(addr).to_u64() else { return };
                let width = program.vars[var].width;
                let target = self.target(addr, at, u64::from(width.div_ceil(8)), state, thread, depth);
                self.access(thread, edge, at, target.as_ref().map(|(name, _)| name));
                let temporaries = self.temporaries.entry((thread, depth)).or_default();
                self.names.loaded(temporaries, var, target);
            }
            Op::Store { addr, value } => {
                let Some(at) = state.eval(addr).to_u64() else { return };
                let width = program.exprs.width(value);
                let target = self.target(addr, at, u64::from(width.div_ceil(8)), state, thread, depth);
                self.access(thread, edge, at, target.as_ref().map(|(name, _)| name));
                let Some((name, ty)) = target else { return };
                let value = state.eval(value);
                let value = ty.map_or_else(|| value.to_string(), |ty| self.names.show(ty, &value, state));
                self.push(Event::Assign { target: name, value }, edge, true, thread, depth);
            }
            Op::Havoc { var, input } if matches!(program.inputs[input].kind, InputKind::Nondet(_)) => {
                let input = &program.inputs[input];
                let Some(value) = state.var(var) else { return };
                let shown = self.names.show(input.ty, &value, state);
                let ty = super::types::name(program, input.ty);
                let spot = self.spot(program.edges[edge].place);
                let function = program.funcs[func].name.clone();
                self.inputs.push(InputValue {
                    kind: input.kind.clone(),
                    ty,
                    c_type: super::types::plain_name(program, input.ty),
                    shown,
                    value,
                    writes: Vec::new(),
                    spot,
                    function,
                });
                let index = self.inputs.len() - 1;
                self.push(
                    Event::Input { index, into: self.names.variable(var).map(str::to_owned) },
                    edge,
                    true,
                    thread,
                    depth,
                );
            }
            Op::Assign { var, .. } | Op::Havoc { var, .. } if matches!(program.vars[var].kind, VarKind::Local(_)) => {
                let Some(name) = self.names.variable(var) else { return };
                let Some(value) = state.var(var) else { return };
                let value = self.names.show(program.vars[var].ty, &value, state);
                self.push(Event::Assign { target: name.to_owned(), value }, edge, false, thread, depth);
            }
            Op::Call { callee: Callee::Direct(callee), .. } => {
                let function = &program.funcs[callee];
                let name = match function.origin {
                    FunctionOrigin::Model => name_in_c(function),
                    _ => Some(function.name.as_str()),
                };
                if let Some(name) = name.filter(|name| ThreadOp::by_name(name).is_none()) {
                    let args = match function.origin {
                        FunctionOrigin::Source => self.arguments(callee, state),
                        _ => objects.into_iter().map(|name| (String::new(), name)).collect(),
                    };
                    let event = Event::Call { function: name.to_owned(), args };
                    self.push(event, edge, true, thread, depth.saturating_sub(1));
                }
            }
            Op::Copy { dst, src, len } => self.bytes(&[src, dst], len, edge, state),
            Op::Fill { dst, len, .. } => self.bytes(&[dst], len, edge, state),
            Op::Assume { means: taken @ Some(_), .. } => {
                let event = Event::Branch { taken, holds: None, operands: Vec::new() };
                self.push(event, edge, false, thread, depth);
            }
            _ => {}
        }
    }
}

impl Recorder<'_> {
    /// Records an access, with the C expression of the memory.
    fn access(&mut self, thread: u32, edge: EdgeId, at: u64, name: Option<&String>) {
        let locks = self.waits.held(thread);
        self.accessed.insert((thread, edge, at), Accessed { name: name.cloned(), locks });
    }

    /// Returns the names of the parameters with the arguments, at the entry of a function.
    fn arguments(&self, callee: FuncId, state: &State) -> Vec<(String, String)> {
        let function = &self.program.funcs[callee];
        let argument = |(n, &param): (usize, &VarId)| {
            let var = &self.program.vars[param];
            let name = var.name.as_deref().or(function.param_name(n)).unwrap_or_default();
            Some((name.to_owned(), self.names.show(var.ty, &state.var(param)?, state)))
        };
        function.params.iter().enumerate().filter_map(argument).collect()
    }

    /// Records the accesses of an edge to `len` bytes at these addresses.
    fn bytes(&mut self, addrs: &[ExprId], len: ExprId, edge: EdgeId, state: &State) {
        let (thread, depth) = (state.thread(), state.depth());
        for &addr in addrs {
            let (Some(at), Some(len)) = (state.eval(addr).to_u64(), state.eval(len).to_u64()) else { continue };
            let target = self.target(addr, at, len, state, thread, depth);
            self.access(thread, edge, at, target.as_ref().map(|(name, _)| name));
        }
    }

    /// Returns the C expression for the `len` bytes at address `at`, and their type if known. The address is the value
    /// of `addr` in a call of the thread at this depth.
    fn target(
        &mut self,
        addr: ExprId,
        at: u64,
        len: u64,
        state: &State,
        thread: u32,
        depth: usize,
    ) -> Option<(String, Option<cfa::TypeId>)> {
        let vars = self.program.exprs.vars(addr);
        let temporaries = self.temporaries.entry((thread, depth)).or_default();
        self.names.target(addr, &vars, at, len, state, temporaries)
    }
}
