//! The rules of format 2 that the types do not enforce: the kinds and the order of the waypoints of a segment, and
//! their parts.

use super::{Constraint, Content, Entry, Location, Segment, Waypoint};

/// The supported format versions.
const VERSIONS: [&str; 3] = ["2.0", "2.1", "2.2"];
/// The supported formats of expressions.
const FORMATS: [&str; 4] = ["", "c_expression", "acsl_expression", "ext_c_expression"];

/// Returns a description of the first rule that an entry of format 2 breaks. Returns `None` if it breaks none.
pub fn broken_rule(entry: &Entry) -> Option<String> {
    let version = &entry.metadata.format_version;
    if !VERSIONS.contains(&version.as_str()) {
        return Some(format!("format version `{version}` is not supported ({} are)", VERSIONS.join(", ")));
    }
    match &entry.content {
        Content::Segments(segments) if entry.entry_type == "violation_sequence" => of_segments(segments),
        Content::Segments(_) => None,
        Content::Invariants(all) => all.iter().find_map(|item| {
            let invariant = &item.invariant;
            of_location(&invariant.location).or_else(|| of_format(&invariant.format))
        }),
    }
}

/// Returns a description of the first rule that segments break.
fn of_segments(segments: &[Segment]) -> Option<String> {
    let is_cycle = |s: &Segment| s.segment.iter().any(|item| item.waypoint.action == "cycle");
    let has_cycle = segments.iter().any(is_cycle);
    for (number, segment) in (1..).zip(segments) {
        let in_segment = |what: String| Some(format!("segment {number}: {what}"));
        let waypoints: Vec<&Waypoint> = segment.segment.iter().map(|item| &item.waypoint).collect();
        if let Some(broken) = waypoints.iter().find_map(|w| of_waypoint(w)) {
            return in_segment(broken);
        }
        let passed = waypoints.iter().filter(|w| w.action != "avoid").count();
        if passed != 1 {
            return in_segment(format!("{passed} waypoints are to be passed, and each segment has one"));
        }
        if waypoints.last().is_some_and(|w| w.action == "avoid") {
            return in_segment("a waypoint to avoid comes after the one to follow".into());
        }
        if waypoints.iter().any(|w| w.kind == "target") {
            if has_cycle {
                return in_segment("a witness with a cycle has no target".into());
            }
            if number < segments.len() {
                return in_segment("the target is not in the last segment".into());
            }
        }
    }
    let cycle = segments.iter().skip_while(|s| !is_cycle(s));
    cycle.clone().any(|s| !is_cycle(s)).then(|| "a segment to follow comes after one of the cycle".into())
}

/// Returns a description of the first rule that a waypoint breaks.
fn of_waypoint(waypoint: &Waypoint) -> Option<String> {
    let (kind, action) = (waypoint.kind.as_str(), waypoint.action.as_str());
    let needs_constraint = match kind {
        "assumption" | "branching" => Some(true),
        "function_enter" | "target" => Some(false),
        "function_return" => None,
        _ => return Some(format!("waypoints of type {kind} are not supported")),
    };
    if !matches!(action, "follow" | "avoid" | "cycle") {
        return Some(format!("the action {action} is not supported"));
    }
    if kind == "target" && action != "follow" {
        return Some(format!("the action of a target is `follow`, not `{action}`"));
    }
    match (&waypoint.constraint, needs_constraint) {
        (None, Some(true)) => return Some(format!("a waypoint of type {kind} needs a constraint")),
        (Some(_), Some(false)) => return Some(format!("a waypoint of type {kind} has no constraint")),
        (Some(Constraint { format, .. }), _) if of_format(format).is_some() => return of_format(format),
        _ => {}
    }
    of_location(&waypoint.location)
}

/// Returns a description of the first rule that a location breaks.
fn of_location(location: &Location) -> Option<String> {
    match (location.line, location.column) {
        (0, _) => Some(format!("{}: there is no line 0", location.file_name)),
        (line, Some(0)) => Some(format!("{}:{line}: there is no column 0", location.file_name)),
        _ => None,
    }
}

/// Returns a description of the error if a format of expressions does not exist.
fn of_format(format: &str) -> Option<String> {
    (!FORMATS.contains(&format)).then(|| format!("there is no format `{format}` of expressions"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::witness::parse;
    use std::slice::from_ref as one;

    const HEAD: &str = "  metadata:
    format_version: \"2.0\"
    uuid: cae9a4dd-a7d7-42d2-a5d6-7bdc82d737df
    creation_time: \"2026-11-27T12:00:34Z\"
    producer: {name: a, version: 1}
    task: {input_files: [a.c], input_file_hashes: {}, specification: G ! call(f()), data_model: LP64, language: C}
";

    fn waypoint(kind: &str, action: &str, more: &str) -> String {
        format!(
            "    - waypoint: {{type: {kind}, action: {action}, location: {{file_name: a.c, line: 3, column: 1}}{more}}}\n"
        )
    }

    fn rule(segments: &[&[String]]) -> Option<String> {
        rule_with(segments, HEAD)
    }

    fn rule_with(segments: &[&[String]], head: &str) -> Option<String> {
        let segments: String = segments.iter().map(|s| format!("  - segment:\n{}", s.concat())).collect();
        let text = format!("- entry_type: violation_sequence\n{head}  content:\n{segments}");
        broken_rule(&parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))[0])
    }

    #[test]
    fn the_order_of_waypoints_is_that_of_the_format() {
        let target = waypoint("target", "follow", "");
        let given =
            |action: &str| waypoint("assumption", action, ", constraint: {value: x == 1, format: c_expression}");
        let (follow, avoid, cycle) = (given("follow"), given("avoid"), given("cycle"));
        assert_eq!(rule(&[&[avoid.clone(), follow.clone()], one(&target)]), None);
        assert_eq!(rule(&[one(&follow), one(&cycle), &[avoid.clone(), cycle.clone()]]), None);
        for (segments, what) in [
            (&[one(&avoid)][..], "0 waypoints are to be passed"),
            (&[&[follow.clone(), follow.clone()], one(&target)], "2 waypoints are to be passed"),
            (&[&[follow.clone(), avoid.clone()], one(&target)], "comes after the one to follow"),
            (&[one(&target), one(&follow)], "not in the last segment"),
            (&[&[waypoint("target", "avoid", "")]], "the action of a target is `follow`, not `avoid`"),
            (&[&[waypoint("target", "cycle", "")]], "the action of a target is `follow`, not `cycle`"),
            (&[one(&cycle), one(&target)], "a cycle has no target"),
            (&[one(&cycle), one(&follow)], "comes after one of the cycle"),
        ] {
            let broken = rule(segments).unwrap_or_default();
            assert!(broken.contains(what), "{what}: {broken}");
        }
    }

    #[test]
    fn waypoints_are_those_of_the_format() {
        let of = |kind: &str, more: &str| rule(&[&[waypoint(kind, "follow", more)]]).unwrap_or_default();
        assert_eq!(of("target", ""), "");
        for (kind, more, what) in [
            ("loop", "", "waypoints of type loop"),
            ("assumption", "", "needs a constraint"),
            ("branching", "", "needs a constraint"),
            ("target", ", constraint: {value: x}", "has no constraint"),
            ("function_enter", ", constraint: {value: x}", "has no constraint"),
            ("assumption", ", constraint: {value: x, format: prolog}", "no format `prolog`"),
        ] {
            assert!(of(kind, more).contains(what), "{what}: {}", of(kind, more));
        }
        assert_eq!(of("target", ", thread_id: 1"), "");
        assert!(rule(&[&[waypoint("target", "flee", "")]]).is_some_and(|r| r.contains("the action flee is not")));
        let target = waypoint("target", "follow", "");
        for (head, ok) in [("2.0", true), ("2.1", true), ("2.2", true), ("3.0", false), ("0.1", false), ("1", false)] {
            assert_eq!(rule_with(&[one(&target)], &HEAD.replace("2.0", head)).is_none(), ok, "{head}");
        }
        for wrong in ["line: 0, column: 1", "line: 3, column: 0"] {
            assert!(rule(&[&[target.replace("line: 3, column: 1", wrong)]]).is_some(), "{wrong}");
        }
    }

    /// Quotes make no difference.
    #[test]
    fn scalars_are_expressions_with_and_without_quotes() {
        use crate::witness::Scalar;
        let value = |value: &str| {
            let text = format!(
                "- entry_type: violation_sequence\n{HEAD}  content:\n  - segment:\n{}",
                waypoint("assumption", "follow", &format!(", constraint: {{value: {value}}}"))
            );
            match &parse(&text).unwrap_or_else(|e| panic!("{value}: {e}"))[0].content {
                Content::Segments(all) => all[0].segment[0].waypoint.constraint.clone().unwrap().value,
                Content::Invariants(_) => panic!("segments"),
            }
        };
        for (text, expected) in [
            ("1", Scalar::Int(1)),
            ("'1'", Scalar::Int(1)),
            ("-7", Scalar::Int(-7)),
            ("true", Scalar::Bool(true)),
            ("'false'", Scalar::Bool(false)),
            ("010", Scalar::Text("010".into())),
            ("1.50", Scalar::Text("1.50".into())),
            ("18446744073709551615", Scalar::Text("18446744073709551615".into())),
            ("0x1F", Scalar::Text("0x1F".into())),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
        let invariant = |value: &str| {
            let item = format!(
                "  - invariant: {{type: loop_invariant, location: {{file_name: a.c, line: 3}}, value: {value}, format: c_expression}}\n"
            );
            match &parse(&format!("- entry_type: invariant_set\n{HEAD}  content:\n{item}"))
                .unwrap_or_else(|e| panic!("{value}: {e}"))[0]
                .content
            {
                Content::Invariants(all) => all[0].invariant.value.clone(),
                Content::Segments(_) => panic!("invariants"),
            }
        };
        for (text, expected) in
            [("1", "1"), ("'1'", "1"), ("010", "010"), ("true", "true"), ("2.5", "2.5"), ("x == 1", "x == 1")]
        {
            assert_eq!(invariant(text), expected);
        }
    }
}
