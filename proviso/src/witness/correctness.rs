//! Correctness witnesses: the invariants of a proof, as C conditions at the loops of the source.
//!
//! A `while` or `for` has its invariant at its keyword, where the format says that it holds before the condition is looked at.
//! What holds at the head of a `do` holds before its first statement, and is written down there.

use super::place::{LoopPlace, Places};
use super::{Invariant, InvariantItem, location};
use crate::report::{Condition, LoopInvariant};

/// The invariants that have a place in the input files.
pub(super) fn invariants(found: &[LoopInvariant], places: &Places) -> Vec<InvariantItem> {
    let mut items: Vec<Invariant> = Vec::new();
    for invariant in found.iter().filter_map(|invariant| item(invariant, places)) {
        // Inner loops come first. An outer one without a place of its own seems to be where its inner one is.
        if items.iter().all(|i| i.location != invariant.location) {
            items.push(invariant);
        }
    }
    items.into_iter().map(|invariant| InvariantItem { invariant }).collect()
}

fn item(found: &LoopInvariant, places: &Places) -> Option<Invariant> {
    let (kind, spot, point) = found.spots.iter().find_map(|spot| match places.loop_around(spot)? {
        LoopPlace::Keyword(point) => Some(("loop_invariant", spot, point)),
        LoopPlace::Body(point) => Some(("location_invariant", spot, point)),
    })?;
    let mut location = location(spot, None, &found.function, places);
    (location.line, location.column) = (point.0, Some(point.1));
    let in_scope = |c: &&Condition| c.declared.iter().all(|d| places.is_in_scope(d, spot, point));
    let conditions: Vec<&str> = found.conditions.iter().filter(in_scope).map(|c| c.text.as_str()).collect();
    let value = match conditions.as_slice() {
        [] => return None,
        [one] => (*one).to_owned(),
        many => many.iter().map(|c| format!("({c})")).collect::<Vec<_>>().join(" && "),
    };
    Some(Invariant { kind: kind.into(), location, value, format: "c_expression".into() })
}
