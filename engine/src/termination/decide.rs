//! Decides one reachability question: on the slice of its errors first, then on the whole program.

use crate::config::Config;
use crate::outcome::Outcome;
use crate::stats::Stats;
use crate::verdict::Verdict;
use cfa::interp::Inputs;
use cfa::{EdgeId, Program};
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
    let sliced = Config { stop_at_unconfirmed: true, lacks_frees: slice.lacks_frees(program), ..config.clone() };
    let outcome = crate::portfolio::verify(&slice.program, &sliced, budget, &replay, progress);
    match outcome.verdict {
        Verdict::Unknown(_) if budget.spent().is_none() => whole(program, config, budget, progress),
        _ => outcome,
    }
}

/// Decides the question without a slice.
pub fn whole(program: &Program, config: &Config, budget: &Budget, progress: &(dyn Fn(&Stats) + Sync)) -> Outcome {
    let replay = |inputs: &Inputs, error| {
        let time = budget.remaining().map_or(REPLAY, |left| left.min(REPLAY));
        crate::runs::replay(program, inputs, error, time).map(|path| (inputs.clone(), path))
    };
    crate::portfolio::verify(program, config, budget, &replay, progress)
}
