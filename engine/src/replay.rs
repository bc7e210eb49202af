//! Confirming a violation with the reference interpreter.

use crate::simplify::accelerated;
use cfa::interp::{Inputs, Interpreter, LimitKind, Limits, Observer, Outcome, State};
use cfa::{EdgeId, ErrorId, Id, Op, Program};
use std::time::{Duration, Instant};

/// Edges of a replay; a path that was found symbolically is short in comparison.
const STEPS: u64 = 500_000_000;

/// The same, where loops that count need not be gone through.
const FEW_STEPS: u64 = 30_000_000;

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
/// approximation; otherwise says how it ended. A run that goes on and on is made again with the loops that only count in closed form; they are not
/// in the path then.
pub fn replay(program: &Program, inputs: &Inputs, error: ErrorId, time: Duration) -> Result<Vec<EdgeId>, String> {
    let fast = accelerated(program);
    let limits = replay_limits(time);
    let Some(fast) = fast else { return run(program, inputs, error, limits).map_err(|(_, why)| why) };
    match run(program, inputs, error, Limits { steps: FEW_STEPS, ..limits }) {
        Err((true, _)) => {
            let path = run(&fast, inputs, error, replay_limits(time)).map_err(|(_, why)| why)?;
            // A call that is an assignment there is none of the path.
            let is_own = |edge: &EdgeId| {
                let known = (edge.index() < program.edges.len()).then(|| &program.edges[*edge].op);
                known.is_some_and(|op| !matches!(op, Op::Call { .. }) || *op == fast.edges[*edge].op)
            };
            Ok(path.into_iter().filter(is_own).collect())
        }
        ended => ended.map_err(|(_, why)| why),
    }
}

/// The path, or whether a limit was met and how the run ended.
pub(crate) fn run(
    program: &Program,
    inputs: &Inputs,
    error: ErrorId,
    limits: Limits,
) -> Result<Vec<EdgeId>, (bool, String)> {
    let mut path = Path(Vec::new());
    let run = Interpreter::new(program).run(&mut inputs.source(), limits, &mut path);
    if let Some(&taint) = run.taints.iter().find(|&&t| program.taints[t].over) {
        return Err((false, format!("it depends on an approximation: {}", program.taints[taint].reason)));
    }
    match run.outcome {
        outcome if outcome.error(program).is_some_and(|(hit, _)| hit == error) => Ok(path.0),
        Outcome::Limit(LimitKind::Endless) => Err((false, "the run does not end".into())),
        outcome => Err((matches!(outcome, Outcome::Limit(_)), format!("the run ends otherwise: {outcome:?}"))),
    }
}
