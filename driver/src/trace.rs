//! The trace of a counterexample: the steps that lead to the error, in terms of the C program.
//!
//! The interpreter runs the counterexample's inputs, and a `Recorder` observes the run. The
//! recorder tracks which variables and bytes depend on an input. This taint distinguishes the steps that matter from
//! the rest. The steps that matter are inputs, values computed from them, branches that they decide, and the calls that
//! lead to the error.

mod access;
mod arguments;
pub mod declared;
pub mod elsewhere;
mod fault;
mod interleaving;
pub mod lost;
mod names;
mod origin;
pub mod passed;
mod precondition;
mod recorder;
pub mod schedule;
pub mod smaller;
pub mod types;
mod waits;

pub use access::access_path;
pub use arguments::{Argument, Arguments, Member, Target};
pub use declared::Declared;
pub use fault::Object;
pub use names::{in_c, quoted};
pub use origin::{Origin, OriginKind};
pub use precondition::Precondition;
pub use schedule::Schedule;

use crate::environment::Environment;
use crate::source::{Sources, Spot};
use cfa::interp::{Inputs, InputsSource, Interpreter, Limits, Outcome};
use cfa::{Bv, Check, EdgeId, ErrorInfo, InputKind, Program};
use engine::simplify::accelerated;
use std::collections::BTreeMap;

/// The event of a trace step.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The program took an input.
    Input {
        /// The index of the input in [`Trace::inputs`].
        index: usize,
        /// The variable or memory that received the input, if C has a name for it.
        into: Option<String>,
    },
    /// The program read a variable or memory that was never written.
    Uninitialised {
        /// The C expression of the variable or memory, if it has one.
        target: Option<String>,
        /// The value that was read.
        value: String,
    },
    /// The program assigned a value.
    Assign {
        /// The C expression of the variable or memory.
        target: String,
        /// The new value, as C writes it.
        value: String,
    },
    /// The program decided a condition.
    Branch {
        /// The truth value of C's condition, if known.
        taken: Option<bool>,
        /// The condition that holds, as a C expression, if it has one.
        holds: Option<String>,
        /// The named variables in the condition, with their values.
        operands: Vec<(String, String)>,
    },
    /// The program called a function.
    Call {
        /// The name of the callee.
        function: String,
        /// The names of the parameters, with the values of the arguments.
        args: Vec<(String, String)>,
    },
    /// A function returned.
    Return {
        /// The name of the function that returned.
        function: String,
        /// The returned value, as C writes it.
        value: Option<String>,
    },
    /// Another thread runs from here on.
    Switch {
        /// The number of the thread, in the order in which threads were started.
        thread: u32,
        /// The function in which the thread started, if known.
        start: Option<String>,
        /// The function in which the thread runs.
        function: String,
    },
    /// The error was reached.
    Error {
        /// The error message.
        message: String,
        /// The named variables in the failed check, with their values.
        operands: Vec<(String, String)>,
    },
}

/// A step of a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// The event of the step.
    pub event: Event,
    /// The source position of the step, if known.
    pub spot: Option<Spot>,
    /// The function that executed the step.
    pub function: String,
    /// True if the step belongs in a short trace.
    pub matters: bool,
    /// The number of calls between the first function and the function of the step.
    pub depth: usize,
    /// The writes of the step, and the earlier writes that have no step of their own.
    pub writes: Vec<Write>,
}

/// A write to an object or to a part of it. The object has the same name for all pointers that lead to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Write {
    /// The depth of the call that owns the local variable. `None` for all other objects.
    pub frame: Option<usize>,
    /// The name of the object, such as `x` or `block #2`.
    pub object: String,
    /// The path of the part inside the object, such as `.next` or `[3].x`. It is empty for the whole object.
    pub path: String,
    /// The new value, as C writes it.
    pub value: String,
}

/// An input: one value from outside the program, or the results of one call of a library function.
#[derive(Clone, PartialEq, Debug)]
pub struct InputValue {
    /// The kind of the input.
    pub kind: InputKind,
    /// The name of the C type.
    pub ty: String,
    /// The C type without typedefs.
    pub c_type: String,
    /// The value, as C writes it.
    pub shown: String,
    /// The value as a bit vector.
    pub value: Bv,
    /// The writes of a library function to the program's memory, as targets and values.
    pub writes: Vec<(String, String)>,
    /// The source position at which the program took the input, if known.
    pub spot: Option<Spot>,
    /// The function that took the input.
    pub function: String,
}

impl InputValue {
    /// Returns a description of the input's origin for users.
    pub fn source(&self) -> String {
        match &self.kind {
            InputKind::Nondet(function) | InputKind::Environment(function) => format!("{function}()"),
            InputKind::Uninit(Some(name)) => format!("uninitialised {name}"),
            InputKind::Uninit(None) => "uninitialised memory".into(),
            InputKind::Argument(name) => match (name.strip_prefix("length of "), name.strip_suffix(" is null")) {
                (Some(pointer), _) => format!("number of elements that the argument of type {pointer} points to"),
                (_, Some(pointer)) => format!("whether the pointer of type {pointer} is null"),
                (None, None) => format!("argument {name}"),
            },
            InputKind::Global(name) => name.clone(),
            InputKind::Unmodelled(what) if what == frontend_llvm::GIVEN => {
                "a function that an argument points to".into()
            }
            InputKind::Unmodelled(what) => what.clone(),
        }
    }
}

impl Trace {
    /// Returns the value of an argument, as C writes it. The argument must not point to an object.
    pub fn argument(&self, argument: &Argument) -> String {
        let is_it = |i: &&InputValue| matches!(&i.kind, InputKind::Argument(name) if *name == argument.name);
        self.inputs.iter().find(is_it).map_or_else(|| argument.value.to_string(), |input| input.shown.clone())
    }
}

/// The initial content of a block that `malloc` returned.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// The size in bytes.
    pub size: u64,
    /// The bytes by offset. All other bytes are 0.
    pub bytes: BTreeMap<u64, u8>,
}

/// The trace of a violation, recorded while the interpreter replayed it.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Trace {
    /// The error message.
    pub message: String,
    /// The object that a violation of memory safety is about.
    pub object: Option<Object>,
    /// The origin of the bad value that makes the access or the check fail.
    pub origin: Option<Origin>,
    /// The precondition of the entry function that rules the violation out, if a longer buffer does so.
    pub precondition: Option<Precondition>,
    /// The source position in the user's code that causes the error, such as the call of the error function.
    pub spot: Option<Spot>,
    /// The function that contains this position.
    pub function: String,
    /// The inputs of the run, in order.
    pub inputs: Vec<InputValue>,
    /// The number of the last inputs that belong to one iteration, if the violation is a loop that does not terminate.
    /// 0 for other violations.
    pub inputs_per_iteration: usize,
    /// The variables that were read before they were written.
    pub uninitialised: Vec<InputValue>,
    /// The number of bytes of memory that were read before they were written.
    pub unwritten_bytes: usize,
    /// The blocks that `malloc` returned, in order. It is empty if `unwritten_on_heap` is 0, or if the violation is the
    /// use of an uninitialised value.
    pub heap: Vec<Block>,
    /// The number of bytes of these blocks that were read before they were written.
    pub unwritten_on_heap: usize,
    /// The variables that no file defines, in the order of their names.
    pub declared: Vec<Declared>,
    /// The environment that provides the inputs of library functions and of `main`.
    pub environment: Environment,
    /// The arguments of the entry function, if it is not `main`.
    pub arguments: Option<Arguments>,
    /// The recorded steps, in order. The last step is the error.
    pub steps: Vec<Step>,
    /// The number of steps that `steps` omits because there were too many. They preceded the step at index `cut`.
    pub omitted: usize,
    /// The index in `steps` of the first step after the omitted ones.
    pub cut: usize,
    /// The order in which threads take turns, if the program starts threads and a native execution can follow it.
    pub schedule: Option<Schedule>,
}

/// The maximum number of executed edges of a run that is recorded step by step. For a longer run, the trace records the
/// program with counting loops in closed form.
const TOLD: u64 = 300_000;

/// Runs the program on the inputs and returns the trace of the violation. `Err` with the outcome of the run if it does
/// not end in an error.
pub fn record(program: &Program, inputs: &Inputs, sources: &Sources) -> Result<Trace, Outcome> {
    if program.starts_threads() {
        return interleaving::record(program, inputs, sources, Limits::default());
    }
    let Some(fast) = accelerated(program) else { return recorded(program, inputs, sources, Limits::default()) };
    match recorded(program, inputs, sources, Limits { steps: TOLD, ..Limits::default() }) {
        Err(Outcome::Limit(_)) => recorded(&fast, inputs, sources, Limits::default()),
        ended => ended,
    }
}

/// Records a run without threads, within limits. `Err` with the outcome of the run if it does not end in an error.
fn recorded(program: &Program, inputs: &Inputs, sources: &Sources, limits: Limits) -> Result<Trace, Outcome> {
    let mut recorder = recorder::Recorder::new(program, sources, inputs);
    let mut source: InputsSource<'_> = inputs.source();
    let run = Interpreter::new(program).run(&mut source, limits, &mut recorder);
    match run.outcome.error(program) {
        Some((error, edge)) => {
            let trace = recorder.finish(&program.errors[error], edge, &run);
            Ok(Trace { declared: declared::initial_values(program, inputs), ..trace })
        }
        None => Err(run.outcome),
    }
}

/// Runs a program without threads on inputs, and returns the values that it reads. It does not matter how the run ends.
/// The trace has no steps.
pub fn given(program: &Program, inputs: &Inputs, sources: &Sources, limits: Limits) -> Trace {
    let mut recorder = recorder::Recorder::new(program, sources, inputs);
    Interpreter::new(program).run(&mut inputs.source(), limits, &mut recorder);
    Trace { declared: declared::initial_values(program, inputs), ..recorder.finish_without_error() }
}

/// Returns true if the error at an edge is the call of the function that contains the edge. The edge is at the entry of
/// that function. A guard that limits the error to some calls ([`instrument::only_while`]) may precede it.
fn is_call_error(program: &Program, error: &ErrorInfo, edge: EdgeId) -> bool {
    let function = &program.funcs[program.func_of(edge)];
    let is_at_entry = function.entry == program.edges[edge].source;
    match error.check {
        Check::Call => is_at_entry || error.place.is_some() && error.place == function.place,
        Check::Automaton => is_at_entry,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```c
    /// 4  static int sum(const int *v, int n) {
    /// 5      int s = 0;
    /// 6      for (int i = 0; i < n; i++)
    /// 7          s = s + v[i];
    /// 8      return s; }
    /// 10 int main(void) {
    /// 11     int a[3] = {1, 2, 3};
    /// 12     struct point p = {0, 0};
    /// 13     a[1] = __VERIFIER_nondet_int();
    /// 14     p.y = __VERIFIER_nondet_short();
    /// 15     if (p.y > limit && sum(a, 3) == 42)
    /// 16         reach_error(); … }
    /// ```
    fn sum() -> Program {
        let mut program = cfa::text::parse(include_str!("../../instrument/tests/data/sum.cfa")).unwrap();
        instrument::unreach_call(&mut program, &["reach_error".to_owned()]);
        program
    }

    fn inputs(a: u64, y: u64) -> Inputs {
        Inputs { values: vec![Bv::new(32, a), Bv::new(16, y)], ..Inputs::default() }
    }

    #[test]
    fn a_trace_speaks_of_c() {
        let trace = record(&sum(), &inputs(38, 11), &Sources::new()).unwrap();
        assert_eq!(trace.message, "reach_error is called");
        assert_eq!(trace.spot.as_ref().unwrap().to_string(), "gone/sum.c:16:9");
        assert_eq!(trace.function, "main");
        let shown: Vec<_> = trace.inputs.iter().map(|i| (i.source(), i.ty.clone(), i.shown.clone())).collect();
        let expected = [("__VERIFIER_nondet_int()", "int", "38"), ("__VERIFIER_nondet_short()", "short", "11")];
        assert_eq!(shown, expected.map(|(a, b, c)| (a.into(), b.into(), c.into())));
    }

    #[test]
    fn a_run_without_error_has_no_trace() {
        assert_eq!(record(&sum(), &inputs(0, 11), &Sources::new()).unwrap_err(), Outcome::Exit(0));
    }
}
