//! Confirming a violation with the reference interpreter.

use cfa::interp::{Inputs, Interpreter, Limits, Observer, State};
use cfa::{EdgeId, ErrorId, Program};
use std::time::{Duration, Instant};

/// Edges of a replay; a path that was found symbolically is short in comparison.
const STEPS: u64 = 500_000_000;

/// Bounds of a run of the interpreter that is to end within `time`.
pub fn replay_limits(time: Duration) -> Limits {
    Limits { steps: STEPS, deadline: Some(Instant::now() + time), ..Limits::default() }
}

struct Path(Vec<EdgeId>);

impl Observer for Path {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        self.0.push(edge);
    }
}

/// Runs `program` on `inputs`, for at most `time`, and gives the path if it ends in `error` without meeting an
/// approximation; otherwise says how it ended.
pub fn replay(program: &Program, inputs: &Inputs, error: ErrorId, time: Duration) -> Result<Vec<EdgeId>, String> {
    let mut path = Path(Vec::new());
    let run = Interpreter::new(program).run(&mut inputs.source(), replay_limits(time), &mut path);
    if let Some(&taint) = run.taints.iter().find(|&&t| program.taints[t].over) {
        return Err(format!("it depends on an approximation: {}", program.taints[taint].reason));
    }
    match run.outcome {
        outcome if outcome.error(program).is_some_and(|(hit, _)| hit == error) => Ok(path.0),
        outcome => Err(format!("the run ends otherwise: {outcome:?}")),
    }
}
