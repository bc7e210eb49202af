//! Verification of ranges of a program's paths (`--range`, `--ranged`).

use super::analysed::AnalysedProgram;
use super::saving::{add_part, budget_before_recording, save_after};
use super::slices::slice_for;
use crate::session::Session;
use cfa::Program;
use cooperate::condition::Condition;
use cooperate::range::Range;
use cooperate::range::test_case::TestCase;
use cooperate::ranged::{self, Composition, RangePart};
use cooperate::restrict::Restricted;
use cooperate::stealing::Idle;
use engine::budget::Budget;
use engine::{Config, Outcome, Reason, Verdict};
use std::time::Instant;

/// Verifies the paths between two test cases. A bound of `None` leaves that side open. Returns the outcome, which is
/// `UNKNOWN` if the range is empty or a bound cannot be computed.
pub fn verify_range(session: &Session, program: &Program, bounds: &[Option<TestCase>; 2]) -> Outcome {
    let (config, budget) = (&session.config, budget_before_recording(session));
    let bound = |test: &Option<TestCase>| {
        let path = test.as_ref().map(|test| test.bound(program, &config.solvers, &budget));
        path.transpose()
    };
    let range = match (bound(&bounds[0]), bound(&bounds[1])) {
        (Ok(lower), Ok(upper)) => Range { lower, upper },
        (Err(reason), _) | (_, Err(reason)) => return Outcome::unknown(reason, config.analysis),
    };
    if let (Some(lower), Some(upper)) = (&range.lower, &range.upper)
        && lower.compare(upper, program).is_gt()
    {
        // A proof for an empty range would be vacuous.
        let reason = Reason::new("the range is empty: its lower bound comes after its upper bound");
        return Outcome::unknown(reason, config.analysis);
    }
    let is_whole = range == Range::default();
    verify_parts(session, program, vec![RangePart::new(range, config.analysis)], is_whole, &budget)
}

/// Verifies several ranges, each by its analysis, and returns the joint outcome.
pub fn verify_ranged(session: &Session, program: &Program, composition: &Composition) -> Outcome {
    let budget = budget_before_recording(session);
    let (bounds, problems) = composition.bounds(program, &session.config, &budget);
    session.shared().warnings.extend(problems);
    verify_parts(session, program, ranged::parts(program, composition, bounds), true, &budget)
}

/// Verifies the parts, reports each, and records the results. `are_whole` is true if the parts cover all paths of the
/// program. Returns the joint outcome.
fn verify_parts(
    session: &Session,
    program: &Program,
    mut parts: Vec<RangePart>,
    are_whole: bool,
    budget: &Budget,
) -> Outcome {
    let begin = Instant::now();
    let wanted = session.plan.records_paths();
    let verify = |part: Option<&Restricted>, config: &Config, budget: &Budget, idle: &Idle| {
        let of_part = part.map_or(program, |r| &r.program);
        let slice = slice_for(session, of_part, config, wanted);
        let mut analysed = AnalysedProgram { program, restricted: part, slice: slice.as_ref() };
        let mut outcome = session.ask(program, of_part, analysed.slice, config, budget, Some(idle));
        if analysed.slice.is_some() && matches!(outcome.verdict, Verdict::Unknown(_)) && budget.spent().is_none() {
            analysed.slice = None;
            outcome = session.ask(program, of_part, None, config, budget, Some(idle));
        }
        let explored = analysed.explored(&outcome, false).0;
        (outcome, explored.unwrap_or_else(Condition::nothing))
    };
    let config = Config { wants_frontier: wanted, ..session.config.clone() };
    ranged::verify(program, &mut parts, &config, budget, &verify);
    let number = parts.len();
    for (i, part) in parts.iter().enumerate() {
        let paths = match (i, &part.range.lower, &part.range.upper) {
            (_, None, None) => "all".to_owned(),
            (_, None, Some(_)) => "up to bound 1".into(),
            (_, Some(_), None) => format!("from bound {}", (number - 1).max(1)),
            _ => format!("from bound {} to bound {}", i.max(1), i.max(1) + 1),
        };
        if let Some(outcome) = &part.outcome {
            add_part(session, &paths, outcome.decided_by.name(), outcome, begin);
        }
    }
    let outcome = ranged::joint(&parts, are_whole);
    save_after(session, program, &outcome, &ranged::verified_paths(&parts), &[], None);
    outcome
}
