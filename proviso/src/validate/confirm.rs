//! Confirmation of correctness witnesses. Before a witness is written, the program is instrumented with its invariants
//! and verified, as a validator would do it. Conditions that do not hold or cannot be confirmed are removed from the
//! witness.
//!
//! The confirmation never changes a verdict. A condition is in doubt if it was observed in a slice, because the memory
//! of a slice may lack effects of the program.

use super::{Checked, check};
use crate::args::VerifyArgs;
use crate::witness::{Task, correctness_entry};
use driver::job::Job;
use driver::limits;
use driver::report::{Answer, Report};
use std::time::{Duration, Instant};

/// The number of rounds in which a condition that does not hold is removed alone. After them, all conditions in doubt
/// are removed.
const ROUNDS: usize = 10;
/// The time limit of a confirmation, in addition to three times the time of the proof.
const LEAST: Duration = Duration::from_secs(3);

/// Removes from the report of a proof the conditions with which its witness would not be confirmed. `start` is the time
/// at which the proof began.
pub fn confirm(report: &mut Report, task: &Task, job: &Job, args: &VerifyArgs, start: Instant) {
    if !matches!(report.answer, Answer::True) || report.properties.iter().any(|p| p == "termination") {
        return;
    }
    let now = Instant::now();
    let mut end = now + LEAST + 3 * (now - start);
    if let Some(timeout) = limits::wall_time(args.timeout, None) {
        end = end.min(start + timeout.mul_f64(0.9));
    }
    for round in 0.. {
        let Ok((entry, conditions)) = correctness_entry(report, task) else { return };
        if conditions.is_empty() {
            return;
        }
        let left = end.saturating_duration_since(Instant::now());
        let checked = match left.is_zero() {
            true => Checked::Unknown,
            false => check(&entry, job, &args.for_confirming(left)).unwrap_or(Checked::Unknown),
        };
        let in_doubt = report.invariants.iter().flat_map(|i| &i.conditions).any(|c| c.in_doubt);
        match checked {
            Checked::Holds => return,
            Checked::Broken(number) if round < ROUNDS => {
                let (at, numbers) = &conditions[number];
                let of_loop = &mut report.invariants[*at].conditions;
                if let [one] = numbers[..] {
                    let broken = of_loop.remove(one);
                    // If the slice lacks an effect on an object, all conditions about this object are affected.
                    let same = |text: &str| root(text) == root(&broken.text);
                    let all = report.invariants.iter_mut();
                    all.for_each(|i| i.conditions.retain(|c| !c.in_doubt || !same(&c.text)));
                } else {
                    // The conditions hold at the loop head, but the witness states them at another location. So they
                    // are checked one by one.
                    numbers.iter().for_each(|&n| of_loop[n].in_doubt = true);
                }
            }
            _ if in_doubt => report.invariants.iter_mut().for_each(|i| i.conditions.retain(|c| !c.in_doubt)),
            // Proved conditions stay if only time is missing to confirm them.
            _ if left.is_zero() => return,
            // Fewer conditions take less time.
            _ => report.invariants.iter_mut().for_each(|i| i.conditions.truncate(i.conditions.len() / 2)),
        }
    }
}

/// Returns the first name in a condition: `a` in `a[0] == 1`.
fn root(text: &str) -> &str {
    let text = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic() && c != '_');
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
}
