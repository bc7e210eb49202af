//! Correctness witnesses: the invariants of a proof, as C conditions at the loops of the source.
//!
//! The invariant of a `while` or `for` is at its keyword. According to the format, it holds there before each
//! evaluation of the condition. The invariant at the head of a `do` is at the first statement of its body, because it
//! holds before this statement.

use super::place::{LoopPlace, Places, Point};
use super::{Invariant, InvariantItem, Location, location};
use driver::report::LoopInvariant;
use driver::source::Spot;

/// The index of a loop, and the indices of its conditions.
pub(super) type Origin = (usize, Vec<usize>);

/// Returns the invariants that have a location in the input files, and the conditions that each consists of.
pub(super) fn invariants(found: &[LoopInvariant], places: &Places) -> (Vec<InvariantItem>, Vec<Origin>) {
    let mut taken: Vec<(usize, Location)> = Vec::new();
    let (mut items, mut conditions) = (Vec::new(), Vec::new());
    for (number, found) in found.iter().enumerate() {
        let Some((kind, spot, point)) = place(found, places) else { continue };
        let mut location = location(spot, None, &found.function, places);
        (location.line, location.column) = (point.0, Some(point.1));
        // Inner loops come first. An outer loop without a location of its own would get the location of its inner loop.
        if taken.iter().any(|(of, at)| *of != number && *at == location) {
            continue;
        }
        taken.push((number, location.clone()));
        let in_scope = |at: &usize| found.conditions[*at].declared.iter().all(|d| places.is_in_scope(d, spot, point));
        let (in_doubt, sure): (Vec<usize>, Vec<usize>) =
            (0..found.conditions.len()).filter(in_scope).partition(|&at| found.conditions[at].in_doubt);
        // All conditions that are not in doubt form one invariant. Each condition in doubt is an invariant of its own,
        // so that a check shows which one does not hold.
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

/// Returns the location of a loop. It is the first of its spots at a keyword or a condition. If there is none (`while
/// (1)` in a slice), it is the innermost loop around all spots. If the loop consists of jumps, it is the statement at
/// its head.
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
