//! The trace of a run with threads: the steps of all threads in the order of their execution, with the thread switches.

use super::names::{Names, Temporaries};
use super::schedule::Collector;
use super::{Event, InputValue, Step, Trace, declared};
use crate::source::{Sources, Spot};
use cfa::interp::{Access, Inputs, InputsSource, Interpreter, Limits, Observer, Outcome, Run, State};
use cfa::threads::ThreadOp;
use cfa::{Callee, Check, EdgeId, ErrorInfo, FuncId, FunctionOrigin, InputKind, Op, PlaceId, Program, VarKind};
use rustc_hash::FxHashMap;

/// The maximum number of kept steps. If there are more, the trace has only the last ones.
const MAX_STEPS: usize = 5_000;

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
        schedule: Some(Collector::new(program)),
    };
    let mut source: InputsSource<'_> = inputs.source();
    let run = Interpreter::new(program).run(&mut source, limits, &mut recorder);
    match run.outcome.error(program) {
        Some((error, edge)) => {
            let trace = recorder.finish(&program.errors[error], edge, &run);
            Ok(Trace { declared: declared::of(program, inputs), ..trace })
        }
        None => Err(run.outcome),
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
    /// The C expressions of the memory that edges accessed, by edge and address.
    accessed: FxHashMap<(EdgeId, u64), String>,
    schedule: Option<Collector<'p>>,
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
            let event = Event::Switch { thread, function: function.clone() };
            let (spot, function) = (spot.clone(), function.clone());
            self.steps.push(Step { event, spot, function, matters: true, depth, writes: Vec::new() });
        }
        self.steps.push(Step { event, spot, function, matters, depth, writes: Vec::new() });
    }

    /// Returns the trace of a run that ended in `error` at `edge`.
    fn finish(mut self, error: &ErrorInfo, edge: EdgeId, run: &Run) -> Trace {
        let program = self.program;
        let at_entry =
            error.check == Check::Call && program.funcs[program.func_of(edge)].entry == program.edges[edge].source;
        let first = if at_entry { run.stack.last().copied().unwrap_or(edge) } else { edge };
        let in_user_code =
            |&edge: &EdgeId| self.is_source(program.func_of(edge)) && program.edges[edge].place.is_some();
        let mut candidates = std::iter::once(first).chain(run.stack.iter().rev().copied());
        let site = candidates.find(in_user_code).unwrap_or(first);
        let spot = self.spot(program.edges[site].place).or_else(|| self.spot(error.place));
        let function = program.funcs[program.func_of(site)].name.clone();
        let message = match &run.race {
            Some([(first, before), (second, access)]) => self.race(*first, before, *second, access),
            None => error.message.clone(),
        };
        let schedule = self.schedule.take().and_then(|events| events.finish(run, error.check == Check::Deadlock));
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
        let name = [access, before].into_iter().find_map(|access| self.accessed.get(&(access.edge, access.addr)));
        let name = name.map_or_else(|| "memory".to_owned(), |name| format!("'{name}'"));
        let kind = |access: &Access| if access.writes { "writes" } else { "reads" };
        let at = |access: &Access| {
            self.spot(self.program.edges[access.edge].place).map_or_else(String::new, |spot| format!(" at {spot}"))
        };
        format!(
            "data race: thread {second} {} {name}, which thread {first} {}{}, without synchronisation",
            kind(access),
            kind(before),
            at(before)
        )
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
        let op = &program.edges[edge].op;
        if let Op::Alloc { var, kind, .. } = *op {
            self.names.allocated(var, kind, depth, !self.is_source(func));
        }
        if !self.is_source(func) || program.edges[edge].place.is_none() {
            return;
        }
        match *op {
            Op::Load { var, addr } => {
                let Some(at) = state.eval(addr).to_u64() else { return };
                let width = program.vars[var].width;
                let target = self.target(addr, at, u64::from(width.div_ceil(8)), state, thread, depth);
                if let Some((name, _)) = &target {
                    self.accessed.insert((edge, at), name.clone());
                }
                let temporaries = self.temporaries.entry((thread, depth)).or_default();
                self.names.loaded(temporaries, var, target);
            }
            Op::Store { addr, value } => {
                let Some(at) = state.eval(addr).to_u64() else { return };
                let width = program.exprs.width(value);
                let target = self.target(addr, at, u64::from(width.div_ceil(8)), state, thread, depth);
                let Some((name, ty)) = target else { return };
                self.accessed.insert((edge, at), name.clone());
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
                let name = &program.funcs[callee].name;
                if ThreadOp::by_name(name).is_none() {
                    let event = Event::Call { function: name.clone(), args: Vec::new() };
                    self.push(event, edge, true, thread, depth.saturating_sub(1));
                }
            }
            Op::Assume { means: taken @ Some(_), .. } => {
                let event = Event::Branch { taken, holds: None, operands: Vec::new() };
                self.push(event, edge, false, thread, depth);
            }
            _ => {}
        }
    }
}

impl Recorder<'_> {
    /// Returns the C expression for the `len` bytes at address `at`, and their type if known. The address is the value
    /// of `addr` in a call of the thread at this depth.
    fn target(
        &mut self,
        addr: cfa::ExprId,
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
