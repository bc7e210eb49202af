//! The division of the time among the questions.

use super::Run;
use super::group::Group;
use crate::limits::{Limits, Stop};
use engine::budget::Budget;
use std::time::Duration;

/// The time of a group in the first round if there is no time limit: of assertions, and of all others.
const FIRST: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(10)];
/// The divisor of the time for assertions in the first round if there are other questions.
const FOR_ASSERTIONS: u32 = 4;
/// The factor by which the time grows in each round.
const GROWTH: u32 = 4;
/// The part of the time limit that is reserved for writing results.
const WRITING: Duration = Duration::from_millis(300);

impl Run<'_> {
    /// Returns the time that this group may take, if `groups` groups are still to be tried in this round; `None` if it
    /// may take as long as it needs.
    pub(super) fn share(&self, group: &Group, groups: usize, round: u32) -> Option<Duration> {
        let is_first = self.is_first(group);
        let first = if is_first { FIRST[0] } else { FIRST[1] };
        let grown = first.saturating_mul(GROWTH.saturating_pow(round));
        let Some(left) = self.session.limits.left() else {
            let alone = groups == 1 && round == 0 && group.questions.len() == 1 && self.questions.len() == 1;
            return (!alone).then_some(grown);
        };
        let left = left.saturating_sub(WRITING);
        let groups = groups as u32;
        if self.session.limits.is_default && groups > 1 {
            // The user did not set this limit, so nobody waits for it. Quick results come first.
            return Some(grown.min(left / groups));
        }
        Some(match round {
            // A group with several questions leaves time to divide it.
            0 if group.questions.len() > 1 => left / (groups + 1),
            0 if is_first && groups > 1 => left / FOR_ASSERTIONS,
            _ => left / groups,
        })
    }

    /// Returns a budget and limits that end after `share` of the limit that ends first.
    pub(super) fn limited(&self, share: Duration) -> (Budget, Limits) {
        let (budget, mut limits) = (&self.session.budget, self.session.limits);
        match limits.nearest() {
            Some(Stop::Processor(limit)) => {
                let left = limits.processor_left().unwrap_or_default();
                limits.processor = Some(limit.saturating_sub(left) + share);
                (budget.exerting(share), limits)
            }
            _ => {
                limits.timeout = Some(limits.start.elapsed() + share);
                (budget.within(share), limits)
            }
        }
    }

    /// Returns a budget and limits that end after half of the time that is left of these limits, or of all time.
    pub(super) fn half_of(&self, own: Option<&(Budget, Limits)>) -> Option<(Budget, Limits)> {
        let limits = own.map_or(&self.session.limits, |(_, limits)| limits);
        limits.left().map(|left| self.limited(left / 2))
    }

    /// Returns the reason why a group that took its `share` of the time `limit` has no answer. The rest of the time may
    /// be too short for another try.
    pub(super) fn lateness(&self, limit: Stop, share: Option<Duration>) -> String {
        let is_ending = self.session.budget.spent().is_some();
        let has_more = !is_ending && self.session.limits.left().is_some_and(|left| left > 2 * WRITING);
        match (limit, share.filter(|_| has_more).map(|share| share.as_secs_f64())) {
            (Stop::Timeout(limit) | Stop::DefaultTimeout(limit), Some(share)) => {
                format!("timeout of {share:.1} s for this check, of {} s for all checks", limit.as_secs_f64())
            }
            (Stop::Processor(limit), Some(share)) => {
                format!("{share:.1} s of processor time for this check, of {} s for all checks", limit.as_secs_f64())
            }
            _ => limit.to_string(),
        }
    }
}
