//! Confirming a violation with the reference interpreter.

use cfa::interp::{Inputs, Interpreter, Limits, Observer, Outcome, State};
use cfa::{EdgeId, ErrorId, Program};
use std::time::{Duration, Instant};

/// Bounds of a replay; a path that was found symbolically is short in comparison.
const STEPS: u64 = 200_000_000;
const TIME: Duration = Duration::from_secs(60);

struct Path(Vec<EdgeId>);

impl Observer for Path {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        self.0.push(edge);
    }
}

/// Runs `program` on `inputs` and gives the path if it ends in `error` without meeting an approximation; otherwise says
/// how it ended.
pub fn replay(program: &Program, inputs: &Inputs, error: ErrorId) -> Result<Vec<EdgeId>, String> {
    let mut path = Path(Vec::new());
    let limits = Limits { steps: STEPS, deadline: Some(Instant::now() + TIME), ..Limits::default() };
    let run = Interpreter::new(program).run(&mut inputs.source(), limits, &mut path);
    if let Some(&taint) = run.taints.iter().find(|&&t| program.taints[t].over) {
        return Err(format!("it depends on an approximation: {}", program.taints[taint].reason));
    }
    match run.outcome {
        Outcome::Error(hit, _) if hit == error => Ok(path.0),
        outcome => Err(format!("the run ends otherwise: {outcome:?}")),
    }
}
