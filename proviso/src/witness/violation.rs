//! Violation witnesses: the inputs of the counterexample in the order in which the program reads them, then the target.
//! They determine the execution, so a validator needs no search.

use super::place::{LoopPlace, Places, Point};
use super::{Constraint, Scalar, Segment, Waypoint, WaypointItem, location};
use cfa::InputKind;
use driver::source::Spot;
use driver::trace::{Event, InputValue, Step, Trace};

/// Returns the segments of a witness for a replayed violation.
pub(super) fn segments(trace: &Trace, places: &Places) -> Vec<Segment> {
    let before = &trace.inputs[..trace.inputs.len() - in_target(trace, places)];
    let inputs = before.iter().filter_map(|input| returned(input, places));
    inputs.chain(std::iter::once(target(trace, places))).map(segment).collect()
}

/// Returns the segments of a witness for a violation in threads (format 2.2), each with its thread: the inputs, and one
/// statement after each switch to another thread, in the order of execution.
pub(super) fn interleaved(trace: &Trace, places: &Places) -> Vec<Segment> {
    let inputs = trace.inputs.len() - in_target(trace, places);
    let mut waypoints: Vec<Waypoint> = Vec::new();
    let mut thread = 0;
    // The statement at which the thread was switched to, and its depth, until a later statement is a waypoint. The thread
    // may be within that statement, so only the start of the next one is known to come after the switch.
    let mut resumed: Option<Option<(Point, usize)>> = None;
    for step in &trace.steps {
        let waypoint = match &step.event {
            Event::Switch { thread: next, .. } => {
                (thread, resumed) = (*next, Some(None));
                None
            }
            Event::Input { index, .. } if *index < inputs => returned(&trace.inputs[*index], places),
            Event::Assign { .. } | Event::Call { .. } => {
                let Some(spot) = &step.spot else { continue };
                let Some(at) = places.statement(spot) else { continue };
                let is_header = places.loop_with(std::slice::from_ref(spot)) == Some(LoopPlace::Keyword(at));
                match resumed {
                    Some(Some((before, depth))) if at != before && step.depth >= depth && !is_header => {
                        resumed = None;
                        let mut location = location(spot, None, &step.function, places);
                        (location.line, location.column) = (at.0, Some(at.1));
                        let holds = Constraint::new(Scalar::Text("1".into()), "c_expression");
                        Some(Waypoint::follow("assumption", location, Some(holds)))
                    }
                    Some(None) => {
                        resumed = Some(Some((at, step.depth)));
                        None
                    }
                    Some(Some((_, depth))) if step.depth < depth => {
                        resumed = Some(Some((at, step.depth)));
                        None
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        waypoints.extend(waypoint.map(|waypoint| waypoint.in_thread(thread)));
    }
    waypoints.push(target(trace, places).in_thread(thread));
    waypoints.into_iter().map(segment).collect()
}

/// Returns the segments of a witness for an infinite execution (format 2.1): the inputs before the last iteration of
/// the loop, and one iteration. Returns `None` if the loop has no location in the source.
pub(super) fn lasso(trace: &Trace, places: &Places) -> Option<Vec<Segment>> {
    let spot = trace.spot.as_ref()?;
    let place = places.loop_around(spot).or_else(|| places.loop_with(std::slice::from_ref(spot)))?;
    let (kind, point, value) = match place {
        LoopPlace::Keyword(point) => ("branching", point, Constraint::new(Scalar::Bool(true), "c_expression")),
        LoopPlace::Body(point) => ("assumption", point, Constraint::new(Scalar::Text("1".into()), "c_expression")),
    };
    let mut location = location(spot, None, &trace.function, places);
    (location.line, location.column) = (point.0, Some(point.1));
    // The last iteration is between the last two evaluations of the condition of the loop.
    let is_head = |step: &Step| {
        let at = step.spot.as_ref().and_then(|spot| places.loop_around(spot));
        matches!(step.event, Event::Branch { .. }) && at.is_some_and(|at| at == place)
    };
    let heads: Vec<usize> = (0..trace.steps.len()).filter(|&n| is_head(&trace.steps[n])).collect();
    // The operands of one condition are adjacent steps, so they count as one evaluation.
    let evaluations: Vec<&[usize]> = heads.chunk_by(|before, next| *next == *before + 1).collect();
    let visits: Vec<usize> = evaluations.iter().map(|steps| steps[0]).collect();
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
        // The loop has no condition that is evaluated twice in the trace.
        _ => {
            let first = trace.inputs.len().saturating_sub(trace.inputs_per_iteration);
            (first, trace.inputs[first..].iter().collect())
        }
    };
    let last_input = trace.steps.iter().rposition(|step| input(step).is_some_and(|index| index < first));
    let since = evaluations.partition_point(|steps| last_input.is_some_and(|last| steps[0] < last));
    let left = left_before(trace, &evaluations[since..]).into_iter().map(|holds| {
        Waypoint::follow(kind, location.clone(), Some(Constraint::new(Scalar::Bool(holds), "c_expression")))
    });
    let left = left.filter(|_| matches!(place, LoopPlace::Keyword(_))).collect::<Vec<_>>();
    let mut cycle = vec![Waypoint::follow(kind, location, Some(value))];
    cycle.extend(turn.into_iter().filter_map(|input| returned(input, places)));
    cycle.iter_mut().for_each(|waypoint| waypoint.action = "cycle".into());
    let stem = trace.inputs[..first].iter().filter_map(|input| returned(input, places));
    Some(stem.chain(left).chain(cycle).map(segment).collect())
}

/// Returns the values of the condition of a loop up to the last time that the execution leaves the loop. `evaluations`
/// are the steps of the trace that evaluate the condition. Without these values, a validator takes the first of these
/// evaluations for the start of the cycle.
fn left_before(trace: &Trace, evaluations: &[&[usize]]) -> Vec<bool> {
    // The operand that is evaluated last decides the condition.
    let value = |steps: &&[usize]| match steps.last().map(|&last| &trace.steps[last].event) {
        Some(Event::Branch { taken, .. }) => *taken,
        _ => None,
    };
    let mut values: Vec<bool> = evaluations.iter().map_while(value).collect();
    values.truncate(values.iter().rposition(|holds| !holds).map_or(0, |last| last + 1));
    values
}

/// Returns the number of inputs at the end of the trace that are read within the statement of the target (`a[i] =
/// nondet();`). In the format, the target comes before them, because control first reaches the start of the statement.
fn in_target(trace: &Trace, places: &Places) -> usize {
    let Some(target) = trace.spot.as_ref().and_then(|spot| places.statement(spot)) else { return 0 };
    let mut calls = Vec::new();
    for input in trace.inputs.iter().rev() {
        let Some(spot) = &input.spot else { break };
        // A call that occurs again belongs to an earlier visit of the statement.
        if places.statement(spot) != Some(target) || calls.contains(&(spot.line, spot.column)) {
            break;
        }
        calls.push((spot.line, spot.column));
    }
    calls.len()
}

/// Returns the segment of one waypoint.
fn segment(waypoint: Waypoint) -> Segment {
    Segment { segment: vec![WaypointItem { waypoint }] }
}

/// Returns the waypoint for the return of the call that reads an input. Returns `None` if the input does not come from
/// a call, or if C has no literal for its value.
fn returned(input: &InputValue, places: &Places) -> Option<Waypoint> {
    let InputKind::Nondet(function) = &input.kind else { return None };
    let spot = input.spot.as_ref()?;
    Some(call_returned(spot, function, &literal(input)?, &input.function, places))
}

/// Returns the waypoint for the return of `function` with a value. `spot` is the place of the call, and `body` is the
/// function that contains it.
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

/// Returns the value of an input as a C constant. Returns `None` if C has no literal for it.
fn literal(input: &InputValue) -> Option<String> {
    let bits = &input.value;
    match input.c_type.as_str() {
        // A C constant with a decimal point has type `double`, so the float is converted to it.
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

/// Returns the text if it is a number. NaN and infinities have no literals in C.
fn number(text: String) -> Option<String> {
    text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()).then_some(text)
}

/// Returns the waypoint of the target.
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
