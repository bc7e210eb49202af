//! Coverage goals, and which of them a run covers.

use cfa::interp::{InputSource, Interpreter, Limits, ObjectSeq, Observer, Outcome, State, Unknown};
use cfa::{Bv, CallGraph, Callee, EdgeId, FunctionOrigin, Id, InputId, InputKind, Op, Program};
use std::time::{Duration, Instant};

/// What a suite is to cover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Coverage {
    /// Both ways out of each condition. C's `&&` and `||` are branches, so these are decisions and conditions at once.
    Branches,
    /// A call of one of these functions.
    Calls(Vec<String>),
}

/// The edges to cover, as far as the program can call the functions that they are in.
pub fn goals(program: &Program, coverage: &Coverage) -> Vec<EdgeId> {
    let calls = CallGraph::new(program);
    let is_goal = |edge: EdgeId| match (&program.edges[edge].op, coverage) {
        (Op::Assume { .. }, Coverage::Branches) => program.edges[edge].place.is_some(),
        (Op::Call { callee: Callee::Direct(f), .. }, Coverage::Calls(names)) => names.contains(&program.funcs[*f].name),
        _ => false,
    };
    let own = |edge: EdgeId| {
        let f = program.func_of(edge);
        program.funcs[f].origin == FunctionOrigin::Source && f != program.entry && calls.is_reachable(f)
    };
    program.edges.iter().map(|(id, _)| id).filter(|&e| own(e) && is_goal(e)).collect()
}

/// A run of the program to its end.
pub struct Executed {
    /// By edge: how often it was executed.
    pub counts: Vec<u32>,
    /// The results of `__VERIFIER_nondet_*` functions, in order.
    pub values: Vec<(InputId, Bv)>,
}

/// Runs the program on inputs, or says why there is no such run, or none that can be trusted.
pub fn execute(
    program: &Program,
    interpreter: &Interpreter<'_>,
    source: &mut dyn InputSource,
) -> Result<Executed, String> {
    /// A test that runs longer is of no use to anybody.
    const TIME: Duration = Duration::from_secs(2);
    let limits =
        Limits { steps: 20_000_000, memory: 1 << 28, call_depth: 20_000, deadline: Some(Instant::now() + TIME) };
    let mut counter = Counter { counts: vec![0; program.edges.len()] };
    let mut recorder = Recorder { program, source, values: Vec::new() };
    let run = interpreter.run(&mut recorder, limits, &mut counter);
    if let Some(&taint) = run.taints.iter().find(|&&t| program.taints[t].over) {
        return Err(program.taints[taint].reason.clone());
    }
    match run.outcome {
        Outcome::Exit(_) | Outcome::Abort | Outcome::Error(..) => {}
        other => return Err(format!("the run ends otherwise: {other:?}")),
    }
    Ok(Executed { counts: counter.counts, values: recorder.values })
}

struct Counter {
    counts: Vec<u32>,
}

impl Observer for Counter {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        let count = &mut self.counts[edge.index()];
        *count = count.saturating_add(1);
    }
}

/// Passes on another source's answers and writes down the results of `__VERIFIER_nondet_*` functions.
struct Recorder<'a> {
    program: &'a Program,
    source: &'a mut dyn InputSource,
    values: Vec<(InputId, Bv)>,
}

impl InputSource for Recorder<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let value = self.source.unknown(what, width).resize(width);
        if let Unknown::Havoc(input) = what
            && matches!(self.program.inputs[input].kind, InputKind::Nondet(_))
        {
            self.values.push((input, value.clone()));
        }
        value
    }
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        self.source.bytes(object, offset, bytes);
    }
    fn base(&mut self, object: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        self.source.base(object, size, align)
    }
}
