//! A report as SARIF 2.1.0, a format that code hosts and editors show beside the source.

use crate::render;
use driver::report::{Answer, CheckResult, Note, Report, Rest, Undecided, Violation};
use driver::source::{Sources, Spot};
use driver::trace::{Object, Trace};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The maximal number of steps in a code flow, since viewers show all of them.
const MAX_STEPS: usize = 200;

/// The rules: property, name, description, and the weakness (CWE) that a violation is an instance of.
const RULES: [(&str, &str, &str, Option<u32>); 34] = [
    ("unreach-call", "ReachableError", "An assertion can fail, or an error function can be called.", Some(617)),
    ("no-overflow", "SignedOverflow", "Signed arithmetic can overflow.", Some(190)),
    ("valid-deref", "InvalidAccess", "Memory can be accessed outside the objects that are alive.", Some(119)),
    ("valid-free", "InvalidFree", "A pointer that is not to a live heap object can be freed.", Some(763)),
    ("valid-memtrack", "LostMemory", "A heap object can become unreachable without being freed.", Some(401)),
    ("valid-memcleanup", "UnfreedMemory", "A heap object can be alive at the end of the program.", Some(401)),
    ("termination", "NonTermination", "An execution may not terminate.", Some(835)),
    ("no-data-race", "DataRace", "Conflicting accesses of two threads are not ordered.", Some(362)),
    ("address", "InvalidMemoryUse", "Memory can be accessed outside live objects, or freed twice.", Some(119)),
    ("memory", "UninitialisedUse", "An uninitialised value can be used.", Some(457)),
    ("leak", "Leak", "A heap object can become unreachable without being freed.", Some(401)),
    ("signed-integer-overflow", "SignedIntegerOverflow", "Signed arithmetic can overflow.", Some(190)),
    ("unsigned-integer-overflow", "UnsignedIntegerOverflow", "Unsigned arithmetic can wrap around.", Some(190)),
    (
        "shift",
        "InvalidShift",
        "A shift amount can be too large, or a shift can lose bits of a signed integer.",
        Some(1335),
    ),
    ("integer-divide-by-zero", "DivisionByZero", "An integer can be divided by zero.", Some(369)),
    ("float-divide-by-zero", "FloatDivisionByZero", "A float can be divided by zero.", Some(369)),
    (
        "float-cast-overflow",
        "FloatCastOverflow",
        "A float can be converted to a type that cannot represent its value.",
        Some(681),
    ),
    ("implicit-conversion", "ImplicitConversion", "An implicit conversion can change the value.", Some(681)),
    ("bounds", "IndexOutOfBounds", "An index can be outside its array.", Some(129)),
    ("null", "NullPointer", "A null pointer can be used.", Some(476)),
    ("alignment", "Misalignment", "A misaligned address can be used.", Some(704)),
    ("nonnull-attribute", "NullArgument", "Null can be passed for a parameter declared nonnull.", Some(476)),
    ("returns-nonnull-attribute", "NullResult", "A function declared returns_nonnull can return null.", Some(476)),
    ("pointer-overflow", "PointerOverflow", "Pointer arithmetic can wrap around.", Some(823)),
    ("pointer-compare", "PointerComparison", "Pointers into different objects can be ordered.", Some(469)),
    (
        "pointer-subtract",
        "PointerDifference",
        "The difference of pointers into different objects can be taken.",
        Some(469),
    ),
    ("unreachable", "UnreachableReached", "__builtin_unreachable can be reached.", None),
    ("return", "MissingReturn", "The result of a function can be used although it returned no value.", None),
    ("vla-bound", "ArrayLength", "The length of a variable-length array can be zero or negative.", Some(789)),
    ("bool", "InvalidBool", "A _Bool can have another value than 0 and 1.", None),
    ("enum", "InvalidEnum", "An enumeration can have a value that is not one of its constants.", None),
    ("builtin", "BuiltinArgument", "A builtin can be called with zero although that is undefined.", None),
    ("thread", "UnorderedAccess", "Conflicting accesses of two threads are not ordered.", Some(362)),
    ("deadlock", "Deadlock", "All threads can wait for each other.", Some(833)),
];

/// Returns the SARIF log of one run.
pub fn log(report: &Report, sources: &Sources) -> Value {
    let (results, notifications) = match &report.answer {
        Answer::True => (Vec::new(), Vec::new()),
        Answer::False(_) => {
            let open = report.checks.iter().filter_map(|c| match &c.rest {
                Rest::Unknown(note) => {
                    let text = format!("{}: {}", c.name, note.text);
                    Some(notification("note", &text, note.spot.as_ref(), sources))
                }
                Rest::Proved | Rest::NotAsked => None,
            });
            (
                report.violations().into_iter().map(|v| result(v, report.consequences(v), sources)).collect(),
                open.collect(),
            )
        }
        Answer::Unknown(Undecided { text: reason, spot, .. }) => {
            let first = notification("warning", &format!("no verdict: {reason}"), spot.as_ref(), sources);
            let rest =
                report.notes.iter().map(|Note { text, spot }| notification("note", text, spot.as_ref(), sources));
            (Vec::new(), std::iter::once(first).chain(rest).collect())
        }
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "Proviso",
                "semanticVersion": concat!(env!("CARGO_PKG_VERSION")),
                "rules": RULES.iter().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications,
            }],
            "properties": {
                "verdict": report.verdict_line(),
                "files": report.files,
                "properties": report.properties,
                "places": report.checks.iter().filter(|check| check.places.all > 0).map(places).collect::<Vec<_>>(),
            },
            "results": results,
        }],
    })
}

/// Returns how many places of a check are proved, violated and open, with the open places.
fn places(check: &CheckResult) -> Value {
    let [proved, violated, open] = check.counts();
    let spot = |spot: &Spot| json!({"file": spot.path, "line": spot.line, "column": spot.column});
    json!({
        "check": check.name,
        "places": check.places.all,
        "proved": proved,
        "violated": violated,
        "open": open,
        "openLocations": check.open_places().map(spot).collect::<Vec<_>>(),
    })
}

fn rule((id, name, text, cwe): &(&str, &str, &str, Option<u32>)) -> Value {
    let tags: Vec<String> = cwe.iter().map(|n| format!("external/cwe/cwe-{n:03}")).collect();
    json!({
        "id": id,
        "name": name,
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": tags},
    })
}

fn result<'r>(violation: &Violation, consequences: impl Iterator<Item = &'r Violation>, sources: &Sources) -> Value {
    let trace = violation.trace.as_ref();
    let spot = trace.and_then(|t| t.spot.as_ref());
    let help = violation.help();
    let text = help.as_ref().map_or_else(|| violation.message.clone(), |help| format!("{}; {help}", violation.message));
    let mut value = json!({
        "ruleId": violation.property,
        "level": "error",
        "message": {"text": text},
        "locations": spot.iter().map(|s| location(s, sources)).collect::<Vec<_>>(),
        // The fingerprint does not depend on line numbers: it is made of the error and its function.
        "partialFingerprints": {"violation/v1": fingerprint(violation)},
    });
    if let Some(precondition) = violation.precondition() {
        value["properties"] = json!({"precondition": precondition.condition});
    }
    if let Some(index) = RULES.iter().position(|(id, ..)| *id == violation.property) {
        value["ruleIndex"] = json!(index);
    }
    if let Some(trace) = trace {
        value["codeFlows"] = json!([{"threadFlows": [{"locations": flow(trace, sources)}]}]);
        let notes = trace.object.iter().flat_map(Object::notes);
        let origin = trace.origin.iter().map(|origin| (origin.text(), origin.spot.clone()));
        let following = consequences.filter_map(|v| Some((v.message.clone(), v.spot()?.clone())));
        let related = notes.chain(origin).chain(following);
        value["relatedLocations"] = related.map(|(text, spot)| place_with_message(&text, &spot, sources)).collect();
    }
    value
}

fn fingerprint(violation: &Violation) -> String {
    let function = violation.trace.as_ref().map_or("", |t| t.function.as_str());
    let message: String = violation.message.chars().filter(|c| !c.is_ascii_digit()).collect();
    let digest = Sha256::digest(format!("{}\n{message}\n{function}", violation.property));
    digest[..8].iter().map(|b| format!("{b:02x}")).collect()
}

/// Returns the steps that matter and have a place; if there are more than [`MAX_STEPS`], only the first and the last
/// ones.
fn flow(trace: &Trace, sources: &Sources) -> Vec<Value> {
    let steps: Vec<Value> = trace
        .steps
        .iter()
        .filter(|step| step.matters)
        .filter_map(|step| {
            let text = render::event(&step.event, &trace.inputs);
            Some(json!({"location": place_with_message(&text, step.spot.as_ref()?, sources)}))
        })
        .collect();
    if steps.len() <= MAX_STEPS {
        return steps;
    }
    let (head, tail) = (MAX_STEPS / 4, steps.len() - (MAX_STEPS - MAX_STEPS / 4));
    [&steps[..head], &steps[tail..]].concat()
}

fn notification(level: &str, text: &str, spot: Option<&Spot>, sources: &Sources) -> Value {
    json!({
        "level": level,
        "message": {"text": text},
        "locations": spot.iter().map(|s| location(s, sources)).collect::<Vec<_>>(),
    })
}

/// Returns a place with a message about it.
fn place_with_message(text: &str, spot: &Spot, sources: &Sources) -> Value {
    let mut place = location(spot, sources);
    place["message"] = json!({"text": text});
    place
}

fn location(spot: &Spot, sources: &Sources) -> Value {
    let mut region = json!({"startLine": spot.line});
    if spot.column > 0 {
        // The compiler counts bytes, SARIF counts characters.
        let line = sources.line(&spot.path, spot.line);
        let before = line.as_deref().and_then(|line| line.get(..spot.column as usize - 1));
        region["startColumn"] = json!(before.map_or(spot.column as usize, |text| text.chars().count() + 1));
    }
    json!({"physicalLocation": {"artifactLocation": {"uri": uri(&spot.path)}, "region": region}})
}

/// Returns a path as a URI reference. Relative paths remain relative, as code hosts need them.
fn uri(path: &str) -> String {
    let mut out = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b'+' => out.push(byte as char),
            other => out += &format!("%{other:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("src/a b.c"), "src/a%20b.c");
        assert_eq!(uri("/tmp/ü.c"), "file:///tmp/%C3%BC.c");
    }

    #[test]
    fn all_that_can_be_asked_has_a_rule() {
        for check in instrument::NamedCheck::ALL {
            assert!(RULES.iter().any(|(id, ..)| *id == check.name), "{}", check.name);
        }
    }

    #[test]
    fn rules_are_found_by_their_property() {
        let violation = Violation::new("valid-free", "freed twice");
        let value = result(&violation, std::iter::empty(), &Sources::new());
        assert_eq!(value["ruleIndex"], 3);
        assert_eq!(value["partialFingerprints"]["violation/v1"].as_str().unwrap().len(), 16);
        assert_ne!(fingerprint(&violation), fingerprint(&Violation { property: "valid-deref".into(), ..violation }));
    }
}
