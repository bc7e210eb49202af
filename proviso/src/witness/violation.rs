//! Violation witnesses: the inputs of the counterexample in the order in which the program takes them, then the target.
//! That fixes an execution, so whoever follows it needs no search.

use super::place::{LoopPlace, Places};
use super::{Constraint, Scalar, Segment, Waypoint, WaypointItem, location};
use cfa::InputKind;
use driver::source::Spot;
use driver::trace::{Event, InputValue, Step, Trace};

/// The segments of a witness for a violation that was replayed.
pub(super) fn segments(trace: &Trace, places: &Places) -> Vec<Segment> {
    let before = &trace.inputs[..trace.inputs.len() - in_target(trace, places)];
    let inputs = before.iter().filter_map(|input| returned(input, places));
    inputs.chain(std::iter::once(target(trace, places))).map(segment).collect()
}

/// The segments of a witness for an execution without end (format 2.1): what leads to the loop, and one iteration of it. `None` where the loop
/// has no place in the source.
pub(super) fn lasso(trace: &Trace, places: &Places) -> Option<Vec<Segment>> {
    let spot = trace.spot.as_ref()?;
    let place = places.loop_around(spot).or_else(|| places.loop_with(std::slice::from_ref(spot)))?;
    let (kind, point, value) = match place {
        LoopPlace::Keyword(point) => ("branching", point, Constraint::new(Scalar::Bool(true), "c_expression")),
        LoopPlace::Body(point) => ("assumption", point, Constraint::new(Scalar::Text("1".into()), "c_expression")),
    };
    let mut location = location(spot, None, &trace.function, places);
    (location.line, location.column) = (point.0, Some(point.1));
    // The last iteration is between the last two times that the condition of the loop was looked at.
    let is_head = |step: &Step| {
        let at = step.spot.as_ref().and_then(|spot| places.loop_around(spot));
        matches!(step.event, Event::Branch { .. }) && at.is_some_and(|at| at == place)
    };
    let mut visits: Vec<usize> = (0..trace.steps.len()).filter(|&n| is_head(&trace.steps[n])).collect();
    // Operands of one condition follow one another.
    visits.dedup_by(|next, before| *next == *before + 1);
    let input = |step: &Step| match step.event {
        Event::Input { index, .. } => Some(index),
        _ => None,
    };
    let (first, turn): (usize, Vec<&InputValue>) = match visits[..] {
        [.., from, to] => {
            let given: Vec<usize> = trace.steps[from..to].iter().filter_map(input).collect();
            let first = given.first().copied().unwrap_or(trace.inputs.len());
            (first, given.iter().map(|&i| &trace.inputs[i]).collect())
        }
        // It has no condition.
        _ => {
            let first = trace.inputs.len().saturating_sub(trace.turn);
            (first, trace.inputs[first..].iter().collect())
        }
    };
    let mut cycle = vec![Waypoint::follow(kind, location, Some(value))];
    cycle.extend(turn.into_iter().filter_map(|input| returned(input, places)));
    cycle.iter_mut().for_each(|waypoint| waypoint.action = "cycle".into());
    let stem = trace.inputs[..first].iter().filter_map(|input| returned(input, places));
    Some(stem.chain(cycle).map(segment).collect())
}

/// How many of the last inputs are taken within the statement of the target (`a[i] = nondet();`): the format has the target
/// before them, as control comes to the start of the statement first.
fn in_target(trace: &Trace, places: &Places) -> usize {
    let Some(target) = trace.spot.as_ref().and_then(|spot| places.statement(spot)) else { return 0 };
    let mut calls = Vec::new();
    for input in trace.inputs.iter().rev() {
        let Some(spot) = &input.spot else { break };
        // A call that comes again is one of an earlier visit.
        if places.statement(spot) != Some(target) || calls.contains(&(spot.line, spot.column)) {
            break;
        }
        calls.push((spot.line, spot.column));
    }
    calls.len()
}

fn segment(waypoint: Waypoint) -> Segment {
    Segment { segment: vec![WaypointItem { waypoint }] }
}

/// The return of a call that gives an input; `None` for what does not come from a call, and values that C has no literals for.
fn returned(input: &InputValue, places: &Places) -> Option<Waypoint> {
    let InputKind::Nondet(function) = &input.kind else { return None };
    let spot = input.spot.as_ref()?;
    Some(call_returned(spot, function, &literal(input)?, &input.function, places))
}

/// The return of the call of a function at a place, in the body of another, with a value.
pub fn call_returned(spot: &Spot, function: &str, value: &str, body: &str, places: &Places) -> Waypoint {
    let mut location = location(spot, None, body, places);
    if let Some((line, column)) = places.call_end(spot, function) {
        location.line = line;
        location.column = Some(column);
    }
    let constraint =
        Constraint { value: Scalar::Text(format!("\\result == {value}")), format: "acsl_expression".into() };
    Waypoint {
        kind: "function_return".into(),
        action: "follow".into(),
        location,
        constraint: Some(constraint),
        thread_id: None,
        called: Some(function.to_owned()),
        loose: None,
    }
}

/// The value as a constant of C.
fn literal(input: &InputValue) -> Option<String> {
    let bits = &input.value;
    match input.c_type.as_str() {
        // In C a constant with a point is a double, to which the float is converted.
        "float" => number(format!("{:?}", f64::from(f32::from_bits(bits.to_u64()? as u32)))),
        "double" => number(format!("{:?}", f64::from_bits(bits.to_u64()?))),
        "long double" => number(input.shown.clone()).map(|n| n + "L"),
        "void *" => None,
        _ if bits.width() > 64 => None,
        "unsigned int" => Some(format!("{}U", bits.to_biguint())),
        "unsigned long" | "unsigned long long" => Some(format!("{}ULL", bits.to_biguint())),
        name if name.starts_with("unsigned") || name == "_Bool" => Some(bits.to_biguint().to_string()),
        _ => Some(bits.to_bigint().to_string()),
    }
}

/// NaN and infinities have no literals.
fn number(text: String) -> Option<String> {
    text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()).then_some(text)
}

fn target(trace: &Trace, places: &Places) -> Waypoint {
    let spot = trace.spot.clone().unwrap_or_else(|| driver::source::Spot { path: String::new(), line: 1, column: 0 });
    let mut location = location(&spot, Some(spot.column), &trace.function, places);
    if let Some((line, column)) = places.statement(&spot) {
        location.line = line;
        location.column = Some(column);
    }
    Waypoint {
        kind: "target".into(),
        action: "follow".into(),
        location,
        constraint: None,
        thread_id: None,
        called: None,
        loose: None,
    }
}
