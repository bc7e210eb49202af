//! The report as one HTML file (`--report`): all results of a run, with the source beside them.
//!
//! The page is a fixed document (`page.html`, `page.css`, `page.js`, and the libraries in `vendor`) that contains the
//! run as a JSON object. It loads nothing else. [`ReportData`] provides the data that comes from the program.

use driver::evidence::report_data::{Checked, ReportData};

use crate::json::{self, spot_json, violation_json};
use crate::pixel_tree::{Format, PixelTree};
use crate::render;
use driver::report::{Answer, LoopInvariant, Report, Rest, Violation};
use driver::source::{Sources, Spot};
use driver::trace::Write;
use engine::arg::ArgNode;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const HIGHLIGHT: &str = include_str!("vendor/highlight.min.js");
const DAGRE: &str = include_str!("vendor/dagre.min.js");

/// The maximal size in bytes of a file whose text is in the page. Longer files are listed without their text.
const MAX_FILE: usize = 2 << 20;
/// The maximal number of steps of all traces in the page.
const MAX_STEPS: usize = 20_000;

/// Returns the page for a run. `graph` holds the reached states; it is empty if no graph was kept.
pub fn page(report: &Report, report_data: &ReportData, graph: &[ArgNode], sources: &Sources) -> String {
    let pixels = if graph.is_empty() {
        Value::Null
    } else {
        json!(String::from_utf8(PixelTree::of_states(graph).draw(Format::Svg)).expect("SVG is text"))
    };
    let mut run = json::report(report);
    // The page has the violations once, with descriptions of their steps.
    run["violation"].take();
    for check in run["checks"].as_array_mut().into_iter().flatten() {
        check["violations"].take();
    }
    let all = report.violations();
    let most = MAX_STEPS / all.len().max(1);
    let data = json!({
        "run": run,
        "violations": all.into_iter().map(|v| described_violation(v, most)).collect::<Vec<_>>(),
        "invariants": report.invariants.iter().map(invariant_json).collect::<Vec<_>>(),
        "files": files(report, report_data, sources),
        "functions": report_data.functions(),
        "globals": report_data.globals(),
        "pixels": pixels,
        "states": report_data.states(),
        "complete": report_data.is_complete(),
    });
    // Within a script element, only `</script` and `<!--` have a meaning.
    let data = data.to_string().replace('<', "\\u003c");
    let title = format!("{}: {}", report.verdict_line(), report.files.join(", "));
    let parts = [
        ("{{title}}", escaped(&title)),
        ("{{style}}", STYLE.to_owned()),
        ("{{highlight}}", HIGHLIGHT.to_owned()),
        ("{{dagre}}", DAGRE.to_owned()),
        ("{{script}}", SCRIPT.to_owned()),
        ("{{data}}", data),
    ];
    filled(PAGE, &parts)
}

/// Returns a violation whose steps have descriptions. If there are more than `most` steps, only the first and the last
/// ones are kept.
fn described_violation(violation: &Violation, most: usize) -> Value {
    let mut value = violation_json(violation);
    let Some(trace) = &violation.trace else { return value };
    let steps = value["trace"].as_array_mut().expect("a trace is a list");
    for (step, said) in steps.iter_mut().zip(&trace.steps) {
        step["text"] = json!(render::event(&said.event, &trace.inputs));
        step["depth"] = json!(said.depth);
        if !said.writes.is_empty() {
            step["writes"] = said.writes.iter().map(write_json).collect();
        }
    }
    let surplus = steps.len().saturating_sub(most);
    let middle = (steps.len() - surplus) / 2;
    steps.drain(middle..middle + surplus);
    value["cut"] = json!(if surplus > 0 { middle } else { trace.cut });
    value["left_out"] = json!(trace.omitted + surplus);
    value
}

fn write_json(write: &Write) -> Value {
    json!({"frame": write.frame, "object": write.object, "path": write.path, "value": write.value})
}

/// Returns the template with each mark replaced. Marks in the inserted texts are not replaced.
fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(template.len() + parts.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut rest = template;
    while let Some(at) = rest.find("{{") {
        out += &rest[..at];
        rest = &rest[at..];
        match parts.iter().find(|(mark, _)| rest.starts_with(mark)) {
            Some((mark, text)) => {
                out += text;
                rest = &rest[mark.len()..];
            }
            None => {
                out += "{{";
                rest = &rest[2..];
            }
        }
    }
    out + rest
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn invariant_json(invariant: &LoopInvariant) -> Value {
    json!({
        "function": invariant.function,
        "locations": invariant.spots.iter().map(|s| spot_json(Some(s))).collect::<Vec<_>>(),
        "conditions": invariant.conditions.iter().map(|c| c.text.clone()).collect::<Vec<_>>(),
    })
}

/// Returns the files that have code or that a place of the report is in, with their text and the results for their
/// lines.
fn files(report: &Report, report_data: &ReportData, sources: &Sources) -> Vec<Value> {
    let mut paths: BTreeSet<&str> = report_data.paths().collect();
    paths.extend(spots(report).map(|spot| spot.path.as_str()));
    // The files of the user come first. The compiler may know them by other paths.
    let real = |path: &str| std::fs::canonicalize(path).ok();
    let known: BTreeMap<_, &str> = paths.iter().filter_map(|&path| Some((real(path)?, path))).collect();
    let given = |path: &String| real(path).and_then(|real| known.get(&real)).copied();
    let given: Vec<&str> = report.files.iter().map(|path| given(path).unwrap_or(path)).collect();
    paths.extend(&given);
    let (first, others): (Vec<&str>, Vec<&str>) = paths.into_iter().partition(|p| given.contains(p));
    let checked = checked(report, report_data);
    let file = |path: &str| {
        let text = sources.text(path).filter(|text| text.len() <= MAX_FILE);
        let lines = report_data.lines(path);
        let (told, checks) = (report_data.claims(path), checked.get(path));
        (text.is_some() || lines.is_some())
            .then(|| json!({"path": path, "text": text, "code": lines, "told": told, "checks": checks}))
    };
    first.into_iter().chain(others).filter_map(file).collect()
}

/// For each line, the checks there: the name, the number of places, and the result.
type CheckedLines<'a> = BTreeMap<u32, BTreeMap<&'a str, (usize, &'static str)>>;

fn checked<'a>(report: &'a Report, report_data: &'a ReportData) -> BTreeMap<&'a str, CheckedLines<'a>> {
    let mut files: BTreeMap<&'a str, CheckedLines<'a>> = BTreeMap::new();
    // Several parts of the run may have checked the same place.
    let mut seen = BTreeSet::new();
    for Checked { check, spot } in report_data.checked() {
        if !seen.insert((check, &spot.path, spot.line, spot.column)) {
            continue;
        }
        let named = || report.checks.iter().find(|c| c.name == *check);
        let asked = || report.checks.iter().find(|c| c.properties.contains(check));
        let Some(result) = named().or_else(asked) else { continue };
        let came = match result.rest {
            Rest::Proved => "proved",
            Rest::Unknown(_) if result.places.discharged > 0 && !result.places.open.contains(spot) => "proved",
            Rest::Unknown(_) => "unknown",
            Rest::NotAsked => "not checked",
        };
        let of_line = files.entry(&spot.path).or_default().entry(spot.line).or_default();
        let (count, worst) = of_line.entry(check).or_insert((0, came));
        *count += 1;
        if *worst == "proved" {
            *worst = came;
        }
    }
    // The place of a violation may differ from the place of the check, for example in a call of the library.
    for result in &report.checks {
        for violation in &result.violations {
            let Some(spot) = violation.spot() else { continue };
            let of_line = files.entry(&spot.path).or_default().entry(spot.line).or_default();
            let name = of_line.keys().copied().find(|name| *name == result.name || *name == violation.property);
            of_line.entry(name.unwrap_or(&result.name)).or_insert((1, "violated")).1 = "violated";
        }
    }
    files
}

/// Returns all places that the report names.
fn spots(report: &Report) -> impl Iterator<Item = &Spot> {
    let reason = match &report.answer {
        Answer::Unknown(undecided) => undecided.spot.as_ref(),
        _ => None,
    };
    let traces = report.violations().into_iter().filter_map(|v| v.trace.as_ref());
    let steps = traces.flat_map(|t| t.steps.iter().filter_map(|s| s.spot.as_ref()));
    let invariants = report.invariants.iter().flat_map(|i| &i.spots);
    steps.chain(reason).chain(report.notes.iter().filter_map(|n| n.spot.as_ref())).chain(invariants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_in_what_is_put_in_stay() {
        let parts = [("{{a}}", "{{b}} {{x}}".to_owned()), ("{{b}}", "B".to_owned())];
        assert_eq!(filled("<{{a}}|{{b}}|{{c}}>", &parts), "<{{b}} {{x}}|B|{{c}}>");
    }
}
