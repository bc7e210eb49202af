//! Decides one reachability question: on the slice of its errors first, then on the whole program.

use crate::config::Config;
use crate::outcome::Outcome;
use crate::stats::Stats;
use crate::verdict::Verdict;
use cfa::interp::Inputs;
use cfa::{AllocKind, CallGraph, EdgeId, Family, Id, LocId, Op, Program};
use smt::budget::Budget;
use std::time::{Duration, Instant};

/// Time limit of a replay.
const REPLAY: Duration = Duration::from_secs(1);

/// Decides whether `errors`, which are all error edges of `program`, are reachable. `control` selects the control
/// dependences of the slice.
pub fn decide(
    program: &Program,
    errors: &[EdgeId],
    control: slicer::Control,
    config: &Config,
    budget: &Budget,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Outcome {
    let deadline = budget.remaining().map(|left| Instant::now() + left / 3);
    let options = slicer::Options { control, deadline, ..slicer::Options::default() };
    let Ok(slice) = slicer::slice(program, errors, &options) else { return whole(program, config, budget, progress) };
    let replay = |inputs: &Inputs, error| {
        let time = budget.remaining().map_or(REPLAY, |left| left.min(REPLAY));
        let inputs = slice.inputs_of_original(program, inputs, crate::runs::replay_limits(time));
        crate::runs::replay(program, &inputs, error, time).map(|path| (inputs, path))
    };
    let sliced = Config { stop_at_unconfirmed: true, lacks_frees: makes_room(program), ..config.clone() };
    let outcome = crate::portfolio::verify(&slice.program, &sliced, budget, &replay, progress);
    match outcome.verdict {
        Verdict::Unknown(_) if budget.spent().is_none() => whole(program, config, budget, progress),
        _ => outcome,
    }
}

/// True if a heap object may be allocated after another was freed, so that it may reuse the address. If not, missing
/// frees in a slice do not change addresses.
fn makes_room(program: &Program) -> bool {
    let calls = CallGraph::new(program);
    let mut seen = vec![false; program.locs.len()];
    let frees = program.edges.values().filter(|e| matches!(e.op, Op::Free { family, .. } if family != Family::Scope));
    let mut todo: Vec<LocId> = frees.map(|e| e.target).collect();
    while let Some(loc) = todo.pop() {
        if std::mem::replace(&mut seen[loc.index()], true) {
            continue;
        }
        for id in program.out_edges(loc) {
            let edge = &program.edges[id];
            match edge.op {
                Op::Alloc { kind, .. } if kind != AllocKind::Stack => return true,
                Op::Call { .. } => {
                    todo.extend(calls.callees(program, id).as_slice().iter().map(|&func| program.funcs[func].entry));
                }
                // Continue after all possible calls.
                Op::Return { .. } => {
                    todo.extend(calls.callers(program.func_of(id)).map(|call| program.edges[call].target));
                }
                _ => {}
            }
            todo.push(edge.target);
        }
    }
    false
}

/// Decides the question without a slice.
pub fn whole(program: &Program, config: &Config, budget: &Budget, progress: &(dyn Fn(&Stats) + Sync)) -> Outcome {
    let replay = |inputs: &Inputs, error| {
        let time = budget.remaining().map_or(REPLAY, |left| left.min(REPLAY));
        crate::runs::replay(program, inputs, error, time).map(|path| (inputs.clone(), path))
    };
    crate::portfolio::verify(program, config, budget, &replay, progress)
}

#[cfg(test)]
mod tests {
    use super::makes_room;

    /// In this program, `f` frees an object. `main` allocates one, calls `f`, and continues with `then`.
    fn program(then: &str) -> cfa::Program {
        let text = format!(
            "program 64 entry f0\ntype ty0 void\n\nfunc f0 \"main\" source ty0 () entry l0 {{\n  \
             local v0 \"p\" ty0 64\n  l0:\n    t0: v0 := alloc heap malloc 8:64 align 8 -> l1\n  \
             l1:\n    t1: call f1 (v0) -> l2\n  l2:\n    t2: {then} -> l3\n  \
             l3:\n    t3: halt abort -> l4\n  l4:\n}}\n\n\
             func f1 \"f\" source ty0 (v1) entry l5 {{\n  param v1 \"q\" ty0 64\n  l5:\n    t4: free malloc v1 -> l6\n  \
             l6:\n    t5: return -> l7\n  l7:\n}}\n"
        );
        cfa::text::parse(&text).unwrap()
    }

    #[test]
    fn room_is_made_for_what_is_allocated_later() {
        assert!(!makes_room(&program("skip")));
        assert!(!makes_room(&program("v0 := alloc stack 8:64 align 8")));
        assert!(makes_room(&program("v0 := alloc heap malloc 8:64 align 8")));
    }
}
