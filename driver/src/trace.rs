//! What happened on the way to the error, in terms of the C program.
//!
//! The interpreter runs the counterexample's inputs and a [`Recorder`](recorder::Recorder) watches. It keeps a shadow of
//! the state, whether each variable and byte depends on an input, so that the steps that matter can be told from the
//! rest: inputs, what is computed from them, branches that they decide, and the calls that lead to the error.

mod access;
mod arguments;
pub mod declared;
pub mod elsewhere;
mod fault;
mod interleaving;
mod names;
mod origin;
mod recorder;
pub mod smaller;
pub mod types;

pub use arguments::{Argument, Arguments, Member, Target};
pub use declared::Declared;
pub use fault::Object;
pub use names::quoted;
pub use origin::{Origin, OriginKind};

use crate::environment::Environment;
use crate::source::{Sources, Spot};
use cfa::interp::{Inputs, InputsSource, Interpreter, Limits, Outcome};
use cfa::{Bv, InputKind, Program};
use engine::simplify::accelerated;
use std::collections::BTreeMap;

/// What a step did.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// A value was taken from outside the program, maybe into a variable.
    Input {
        index: usize,
        into: Option<String>,
    },
    /// What was never written was read.
    Uninitialised {
        target: Option<String>,
        value: String,
    },
    Assign {
        target: String,
        value: String,
    },
    /// A condition was decided: what C says there is true or false, if that is known; what holds, in C, if it can be
    /// said; the variables in it, with their values.
    Branch {
        taken: Option<bool>,
        holds: Option<String>,
        operands: Vec<(String, String)>,
    },
    Call {
        function: String,
        args: Vec<(String, String)>,
    },
    Return {
        function: String,
        value: Option<String>,
    },
    /// From here on another thread runs, in this function: its number, in the order in which threads were started.
    Switch {
        thread: u32,
        function: String,
    },
    /// The variables in the check that failed, with their values.
    Error {
        message: String,
        operands: Vec<(String, String)>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    pub event: Event,
    pub spot: Option<Spot>,
    /// The function it happened in.
    pub function: String,
    /// Whether it belongs in a short trace.
    pub matters: bool,
    /// How many calls that function is away from the first one.
    pub depth: usize,
    /// What has other values since.
    pub writes: Vec<Write>,
}

/// A part of an object that was written: whichever pointer led there, the object has one name.
#[derive(Clone, PartialEq, Debug)]
pub struct Write {
    /// Of a local variable the depth of the call that it belongs to.
    pub frame: Option<usize>,
    /// `x`, `block #2`
    pub object: String,
    /// `.next`, `[3].x`; empty for all of it.
    pub path: String,
    pub value: String,
}

/// What the program took from outside: one value, or what a library function brought.
#[derive(Clone, PartialEq, Debug)]
pub struct InputValue {
    pub kind: InputKind,
    pub ty: String,
    /// The same without typedefs.
    pub c_type: String,
    /// As C writes it.
    pub shown: String,
    pub value: Bv,
    /// What a library function wrote into the program's memory, as targets and values.
    pub writes: Vec<(String, String)>,
    pub spot: Option<Spot>,
    /// The function that it was taken in.
    pub function: String,
}

impl InputValue {
    /// Where it came from, for people.
    pub fn source(&self) -> String {
        match &self.kind {
            InputKind::Nondet(function) | InputKind::Environment(function) => format!("{function}()"),
            InputKind::Uninit(Some(name)) => format!("uninitialised {name}"),
            InputKind::Uninit(None) => "uninitialised memory".into(),
            InputKind::Argument(name) => match (name.strip_prefix("length of "), name.strip_suffix(" is null")) {
                (Some(pointer), _) => format!("elements that a {pointer} leads to"),
                (_, Some(pointer)) => format!("whether a {pointer} is null"),
                (None, None) => format!("argument {name}"),
            },
            InputKind::Global(name) => name.clone(),
            InputKind::Unmodelled(what) if what == frontend_llvm::GIVEN => "a function that was given".into(),
            InputKind::Unmodelled(what) => what.clone(),
        }
    }
}

impl Trace {
    /// The value of an argument that is no pointer to an object, as C writes it.
    pub fn argument(&self, argument: &Argument) -> String {
        let is_it = |i: &&InputValue| matches!(&i.kind, InputKind::Argument(name) if *name == argument.name);
        self.inputs.iter().find(is_it).map_or_else(|| argument.value.to_string(), |input| input.shown.clone())
    }
}

/// What a call of `malloc` gives.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    pub size: u64,
    /// Bytes by their offset; others are zero.
    pub bytes: BTreeMap<u64, u8>,
}

/// The violation, replayed.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Trace {
    pub message: String,
    /// Of a violation of memory safety: the object that it is about.
    pub object: Option<Object>,
    /// Where the value comes from with which the access or the check goes wrong.
    pub origin: Option<Origin>,
    /// Where the user's code makes the error happen: the call of the error function.
    pub spot: Option<Spot>,
    /// The function that this is in.
    pub function: String,
    pub inputs: Vec<InputValue>,
    /// How many of the last ones are those of one turn, if it is about a loop without end.
    pub turn: usize,
    /// Variables that were read before they were written.
    pub uninitialised: Vec<InputValue>,
    /// Bytes of memory that was read before it was written.
    pub unwritten_bytes: usize,
    /// What calls of `malloc` give, in their order, if some of those bytes are in it; how many are.
    pub heap: Vec<Block>,
    pub unwritten_on_heap: usize,
    /// Variables that no file defines, by name.
    pub declared: Vec<Declared>,
    /// What the program takes all this from.
    pub environment: Environment,
    /// What the first function is called with, if it is another than `main`.
    pub arguments: Option<Arguments>,
    pub steps: Vec<Step>,
    /// Steps that are not in `steps` because there were too many; they were before index `cut`.
    pub omitted: usize,
    pub cut: usize,
}

/// Edges of a run of which all is told; beyond, what loops that count come to is told at once.
const TOLD: u64 = 300_000;

/// Runs the inputs and tells what happens, if it is a violation; else how the run ended.
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

fn recorded(program: &Program, inputs: &Inputs, sources: &Sources, limits: Limits) -> Result<Trace, Outcome> {
    let mut recorder = recorder::Recorder::new(program, sources, inputs);
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
