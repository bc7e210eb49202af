//! Correctness witnesses are tried before they are given to anyone: the program is verified with the invariants woven in, as
//! who gets the witness would do it, and what does not hold or cannot be confirmed is left out.
//!
//! Nothing here changes a verdict. What is in doubt was seen of a slice, whose memory may lack what the program does to it.

use super::{Checked, check};
use crate::args::VerifyArgs;
use crate::witness::{Task, correctness_entry};
use driver::job::Job;
use driver::report::{Answer, Report};
use std::time::{Duration, Instant};

/// Conditions that turn out not to hold and are left out one by one; then all that is in doubt goes.
const ROUNDS: usize = 10;
/// What a confirmation may take, beside three times what the proof took.
const LEAST: Duration = Duration::from_secs(3);

/// Leaves out the conditions of a proof's report that its witness would not be confirmed with.
pub fn confirm(report: &mut Report, task: &Task, job: &Job, args: &VerifyArgs, start: Instant) {
    if !matches!(report.answer, Answer::True) || report.properties.iter().any(|p| p == "termination") {
        return;
    }
    let now = Instant::now();
    let mut end = now + LEAST + 3 * (now - start);
    if let Some(timeout) = args.timeout {
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
                    // What the slice lacks of an object it lacks everywhere.
                    let same = |text: &str| root(text) == root(&broken.text);
                    let all = report.invariants.iter_mut();
                    all.for_each(|i| i.conditions.retain(|c| !c.in_doubt || !same(&c.text)));
                } else {
                    // They hold at the head, and are told somewhere else: one by one.
                    numbers.iter().for_each(|&n| of_loop[n].in_doubt = true);
                }
            }
            _ if in_doubt => report.invariants.iter_mut().for_each(|i| i.conditions.retain(|c| !c.in_doubt)),
            // What is proved stays where only time is missing to prove it again.
            _ if left.is_zero() => return,
            // Fewer conditions take less time.
            _ => report.invariants.iter_mut().for_each(|i| i.conditions.truncate(i.conditions.len() / 2)),
        }
    }
}

/// The first name in a condition: `a` of `a[0] == 1`.
fn root(text: &str) -> &str {
    let text = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic() && c != '_');
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
}
