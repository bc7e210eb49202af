//! Correctness witnesses: the invariants of a proof, as C conditions at the loops of the source.
//!
//! A `while` or `for` has its invariant at its keyword, where the format says that it holds before the condition is looked at.
//! What holds at the head of a `do` holds before its first statement, and is written down there.

use super::place::{LoopPlace, Places, Point};
use super::{Invariant, InvariantItem, Location, location};
use driver::report::LoopInvariant;
use driver::source::Spot;

/// Conditions of a loop, by their numbers and its own.
pub(super) type Origin = (usize, Vec<usize>);

/// The invariants that have a place in the input files, and which conditions each consists of.
pub(super) fn invariants(found: &[LoopInvariant], places: &Places) -> (Vec<InvariantItem>, Vec<Origin>) {
    let mut taken: Vec<(usize, Location)> = Vec::new();
    let (mut items, mut conditions) = (Vec::new(), Vec::new());
    for (number, found) in found.iter().enumerate() {
        let Some((kind, spot, point)) = place(found, places) else { continue };
        let mut location = location(spot, None, &found.function, places);
        (location.line, location.column) = (point.0, Some(point.1));
        // Inner loops come first. An outer one without a place of its own seems to be where its inner one is.
        if taken.iter().any(|(of, at)| *of != number && *at == location) {
            continue;
        }
        taken.push((number, location.clone()));
        let in_scope = |at: &usize| found.conditions[*at].declared.iter().all(|d| places.is_in_scope(d, spot, point));
        let (in_doubt, sure): (Vec<usize>, Vec<usize>) =
            (0..found.conditions.len()).filter(in_scope).partition(|&at| found.conditions[at].in_doubt);
        // What is sure is one invariant, what is in doubt one each, so that it is known which does not hold.
        for group in std::iter::once(sure).filter(|s| !s.is_empty()).chain(in_doubt.into_iter().map(|at| vec![at])) {
            let texts: Vec<&str> = group.iter().map(|&at| found.conditions[at].text.as_str()).collect();
            let value = match texts.as_slice() {
                [one] => (*one).to_owned(),
                many => many.iter().map(|text| format!("({text})")).collect::<Vec<_>>().join(" && "),
            };
            let format = "c_expression".into();
            let invariant = Invariant { kind: kind.into(), location: location.clone(), value, format, loose: None };
            items.push(InvariantItem { invariant });
            conditions.push((number, group));
        }
    }
    (items, conditions)
}

/// Where the loop is said to be: at the first of its spots that is at a keyword or a condition; for loops without (`while (1)` in a
/// slice) around all of them; where it is made of jumps, the statement at its head.
fn place<'f>(found: &'f LoopInvariant, places: &Places) -> Option<(&'static str, &'f Spot, Point)> {
    let of = |spot, place| match place {
        LoopPlace::Keyword(point) => ("loop_invariant", spot, point),
        LoopPlace::Body(point) => ("location_invariant", spot, point),
    };
    let at = found.spots.iter().find_map(|spot| Some(of(spot, places.loop_around(spot)?)));
    let around = || Some(of(found.spots.first()?, places.loop_with(&found.spots)?));
    let head = || found.spots.last().and_then(|spot| Some(("location_invariant", spot, places.statement(spot)?)));
    at.or_else(around).or_else(head)
}
