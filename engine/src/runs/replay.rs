//! Confirms candidate violations with the reference interpreter.

use crate::simplify::accelerated;
use cfa::interp::{Inputs, Interpreter, LimitKind, Limits, Observer, Outcome, State, UNDECIDED_LEAK};
use cfa::{EdgeId, ErrorId, Id, Op, Program};
use std::time::{Duration, Instant};

/// Limit on the edges of a replay. Paths from symbolic execution are short in comparison.
const STEPS: u64 = 500_000_000;

/// Limit on the edges of a replay if a program with loops in closed form is available.
const FEW_STEPS: u64 = 30_000_000;

/// Limits for an interpreter run of at most `time`.
pub fn replay_limits(time: Duration) -> Limits {
    Limits { steps: STEPS, deadline: Some(Instant::now() + time), ..Limits::default() }
}

/// Number of edges that a run records until it is known whether it ends in the error. Most longer runs do not.
const KEPT: usize = 1 << 22;

/// Records the first `most` edges of a run.
struct Path {
    edges: Vec<EdgeId>,
    most: usize,
}

impl Observer for Path {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        if self.edges.len() < self.most {
            self.edges.push(edge);
        }
    }
}

/// Runs `program` on `inputs` for at most `time`. Returns the path if the run ends in `error` without
/// over-approximation, and otherwise a description of how it ended. If a run exceeds its step limit, it is repeated on
/// the program with counting loops in closed form. The returned path then omits these loops.
pub fn replay(program: &Program, inputs: &Inputs, error: ErrorId, time: Duration) -> Result<Vec<EdgeId>, String> {
    let fast = accelerated(program);
    let limits = replay_limits(time);
    let Some(fast) = fast else { return run(program, inputs, error, limits).map_err(|(_, why)| why) };
    match run(program, inputs, error, Limits { steps: FEW_STEPS, ..limits }) {
        Err((true, _)) => {
            let path = run(&fast, inputs, error, replay_limits(time)).map_err(|(_, why)| why)?;
            // Edges of the accelerated program that are not in the original are omitted. So are calls that it replaced.
            let is_own = |edge: &EdgeId| {
                let known = (edge.index() < program.edges.len()).then(|| &program.edges[*edge].op);
                known.is_some_and(|op| !matches!(op, Op::Call { .. }) || *op == fast.edges[*edge].op)
            };
            Ok(path.into_iter().filter(is_own).collect())
        }
        ended => ended.map_err(|(_, why)| why),
    }
}

/// Returns the path, or a description of how the run ended and whether it reached a limit.
pub fn run(program: &Program, inputs: &Inputs, error: ErrorId, limits: Limits) -> Result<Vec<EdgeId>, (bool, String)> {
    run_keeping(program, inputs, error, limits, KEPT)
}

/// Like `run`, and records `kept` edges in the first run.
fn run_keeping(
    program: &Program,
    inputs: &Inputs,
    error: ErrorId,
    limits: Limits,
    kept: usize,
) -> Result<Vec<EdgeId>, (bool, String)> {
    let mut path = Path { edges: Vec::new(), most: kept };
    let run = Interpreter::new(program).run(&mut inputs.source(), limits, &mut path);
    if let Some(&taint) = run.taints.iter().find(|&&t| program.taints[t].over) {
        return Err((false, format!("it depends on an approximation: {}", program.taints[taint].reason)));
    }
    let has_undecided_leak = run.has_undecided_leak;
    match run.outcome {
        outcome if outcome.error(program).is_some_and(|(hit, _)| hit == error) => {
            if run.steps > kept as u64 {
                // The run terminates in the error, so a second run without a deadline can record all edges.
                path = Path { edges: Vec::with_capacity(run.steps as usize), most: usize::MAX };
                Interpreter::new(program).run(&mut inputs.source(), Limits { deadline: None, ..limits }, &mut path);
            }
            Ok(path.edges)
        }
        _ if has_undecided_leak => Err((false, UNDECIDED_LEAK.into())),
        Outcome::Limit(LimitKind::Endless) => Err((false, "the program does not end".into())),
        outcome => Err((matches!(outcome, Outcome::Limit(_)), outcome.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `while (x < n) x++; error`, with inputs for `n`.
    const LOOP: &str = "program 64 entry f0
type ty0 void
type ty1 int \"int\" 32 signed
input in0 nondet \"n\" ty1 32
error err0 \"unreach-call\" \"m\"

func f0 \"main\" source ty0 () entry l0 {
  local v0 \"x\" ty1 32
  local v1 \"n\" ty1 32
  l0:
    t0: v1 := havoc in0 -> l1
  l1:
    t1: if (v0 <u v1) -> l2
    t2: else (v1 <=u v0) -> l3
  l2:
    t3: v0 := (v0 + 1:32) -> l1
  l3:
    t4: error err0 -> l4
  l4:
}
";

    #[test]
    fn a_path_is_whole_however_much_of_it_is_kept_at_first() {
        let program = cfa::text::parse(LOOP).unwrap_or_else(|e| panic!("{e:?}"));
        let inputs = Inputs { values: vec![cfa::Bv::new(32, 100)], ..Inputs::default() };
        let error = program.errors.ids().next().expect("there is one");
        let path = |kept| {
            run_keeping(&program, &inputs, error, replay_limits(Duration::from_secs(60)), kept)
                .expect("the error is met")
        };
        let whole = path(usize::MAX);
        assert!(whole.len() > 200, "{}", whole.len());
        for kept in [0, 1, 100, whole.len() - 1, whole.len()] {
            assert_eq!(path(kept), whole, "{kept}");
        }
    }
}
