//! One question of safety: on the slice of its errors first, then on the whole program.

use crate::budget::Budget;
use crate::verdict::Verdict;
use crate::{Config, Outcome, Stats};
use cfa::interp::Inputs;
use cfa::{EdgeId, Program};
use std::time::{Duration, Instant};

/// A replay takes at most this long.
const REPLAY: Duration = Duration::from_secs(1);

/// Whether `errors`, the error edges of `program`, can be reached. The slice has the decisions that they depend on in the sense of `control`.
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
        let inputs = slice.inputs_of_original(program, inputs, crate::replay_limits(time));
        crate::replay(program, &inputs, error, time).map(|path| (inputs, path))
    };
    let sliced = Config { stop_at_unconfirmed: true, lacks_frees: crate::frees(program), ..config.clone() };
    let outcome = crate::verify(&slice.program, &sliced, budget, &replay, progress);
    match outcome.verdict {
        Verdict::Unknown(_) if budget.spent().is_none() => whole(program, config, budget, progress),
        _ => outcome,
    }
}

/// The same without a slice.
pub fn whole(program: &Program, config: &Config, budget: &Budget, progress: &(dyn Fn(&Stats) + Sync)) -> Outcome {
    let replay = |inputs: &Inputs, error| {
        let time = budget.remaining().map_or(REPLAY, |left| left.min(REPLAY));
        crate::replay(program, inputs, error, time).map(|path| (inputs.clone(), path))
    };
    crate::verify(program, config, budget, &replay, progress)
}
