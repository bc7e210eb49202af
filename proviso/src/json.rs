//! Translates reports into JSON. `docs/reference/json.md` describes the schema.

use cfa::interp::ObjectKind;
use cfa::{AllocKind, InputKind};
use driver::environment::Environment;
use driver::evidence::wording::{facts, is_internal};
use driver::report::*;
use driver::source::Spot;
use driver::trace::{
    Argument, Arguments, Declared, Event, InputValue, Member, Object, Origin, OriginKind, Target, Trace,
};
use engine::Turn;
use serde_json::{Value, json};

/// The maximal number of places of assumed writes in the JSON.
const MAX_ASSUMED: usize = 100;

/// Returns the report of a run as JSON.
pub fn report(report: &Report) -> Value {
    let (verdict, reason, violation) = match &report.answer {
        Answer::True => ("TRUE", Value::Null, Value::Null),
        Answer::False(violation) => ("FALSE", Value::Null, violation_json(violation)),
        Answer::Unknown(Undecided { text, spot, .. }) => {
            ("UNKNOWN", json!({"text": text, "location": spot_json(spot.as_ref())}), Value::Null)
        }
    };
    let notes: Vec<Value> =
        report.notes.iter().map(|n| json!({"text": n.text, "location": spot_json(n.spot.as_ref())})).collect();
    let increment = |l: &Increment| json!({"location": spot_json(l.spot.as_ref()), "tracked": l.tracked});
    let increments: Vec<Value> = report.increments.iter().map(increment).collect();
    // Loops of library models are not in the source.
    let of_source = report.rankings.iter().filter(|ranking| !is_internal(&ranking.function));
    let unsatisfied: Vec<Value> = report.unsatisfied_assumptions.iter().map(|s| spot_json(Some(s))).collect();
    let stats: serde_json::Map<String, Value> =
        report.stats.iter().map(|(name, value)| (name.clone(), number(*value))).collect();
    json!({
        "schema": "proviso-result-1",
        "tool": {"name": "proviso", "version": env!("CARGO_PKG_VERSION")},
        "verdict": verdict,
        "verdict_line": report.verdict_line(),
        "checks": report.checks.iter().map(check_json).collect::<Vec<_>>(),
        "properties": report.properties,
        "files": report.files,
        "data_model": report.data_model,
        "analysis": report.analysis,
        "decided_by": report.decided_by,
        "parts": report.parts.iter().map(part_json).collect::<Vec<_>>(),
        "proof": report.proof,
        "nothing_checked": report.nothing_checked,
        "unsatisfied_assumptions": unsatisfied,
        "assumed_writes": assumed_json(&report.assumed_writes),
        "assumptions": report.assumptions,
        "undefined_functions": report.undefined.iter().map(undefined_json).collect::<Vec<_>>(),
        "warnings": report.warnings.iter().map(Note::on_a_line).collect::<Vec<_>>(),
        "turns": report.turns.iter().map(turn_json).collect::<Vec<_>>(),
        "refinements": increments,
        "ranking_functions": of_source.map(ranking_json).collect::<Vec<_>>(),
        "reason": reason,
        "violation": violation,
        "notes": notes,
        "help": report.advice(),
        "models": report.models.iter().filter(|name| !is_internal(name)).collect::<Vec<_>>(),
        "statistics": stats,
    })
}

/// Returns a statistic as JSON: counters are integers, times are not.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

/// Returns a place as JSON; null if there is none. An unknown column is null.
pub fn spot_json(spot: Option<&Spot>) -> Value {
    match spot {
        None => Value::Null,
        Some(s) => json!({"file": s.path, "line": s.line, "column": (s.column > 0).then_some(s.column)}),
    }
}

fn turn_json(turn: &Turn) -> Value {
    json!({
        "analysis": turn.analysis.name(),
        "thread": turn.thread,
        "start_seconds": turn.start.as_secs_f64(),
        "end_seconds": turn.end.as_secs_f64(),
        "edges": turn.edges,
        "solver_calls": turn.solver_calls,
        "ended": turn.ended,
    })
}

fn part_json(part: &PartReport) -> Value {
    json!({
        "paths": part.paths,
        "analysis": part.analysis,
        "verdict": part.verdict,
        "reason": part.reason,
        "seconds": part.seconds,
    })
}

fn assumed_json(assumed: &AssumedWrites) -> Value {
    let first = assumed.spots.iter().take(MAX_ASSUMED);
    json!({"count": assumed.count, "locations": first.map(|spot| spot_json(Some(spot))).collect::<Vec<_>>()})
}

fn check_json(check: &CheckResult) -> Value {
    let [proved, violated, open] = check.counts();
    let reason = match &check.rest {
        Rest::Unknown(note) => json!({"text": note.text, "location": spot_json(note.spot.as_ref())}),
        Rest::Proved | Rest::NotAsked => Value::Null,
    };
    json!({
        "name": check.name,
        "result": check.word(),
        "places": check.place_count(),
        "discharged": check.places.discharged,
        "places_proved": proved,
        "places_violated": violated,
        "places_open": open,
        "open": check.open_places().map(|spot| spot_json(Some(spot))).collect::<Vec<_>>(),
        "violations": check.violations.iter().map(violation_json).collect::<Vec<_>>(),
        "rest": match check.rest {
            Rest::Proved => json!("proved"),
            Rest::Unknown(_) => json!("unknown"),
            Rest::NotAsked => Value::Null,
        },
        "assumes_valid_accesses": check.assumes_valid_accesses,
        "reason": reason,
    })
}

/// Returns a violation as JSON, with its trace if there is one.
pub fn violation_json(violation: &Violation) -> Value {
    let mut value = json!({
        "property": violation.property,
        "message": violation.message,
        "behind_invalid_access": violation.is_behind(),
        "depends_on_addresses": violation.depends_on_addresses,
        "number": violation.number,
        "cause": violation.cause,
        "precondition": violation.precondition().map(|precondition| &precondition.condition),
        "help": violation.help(),
    });
    if let Some(trace) = &violation.trace {
        value["location"] = spot_json(trace.spot.as_ref());
        value["function"] = json!(trace.function);
        value["object"] = trace.object.as_ref().map_or(Value::Null, object_json);
        value["origin"] = trace.origin.as_ref().map_or(Value::Null, origin_json);
        value["inputs"] = trace.inputs.iter().enumerate().map(|(i, input)| input_json(Some(i), input)).collect();
        value["uninitialised"] = trace.uninitialised.iter().map(|v| input_json(None, v)).collect();
        value["environment"] = environment_json(&trace.environment);
        value["declared"] = trace.declared.iter().map(declared_json).collect();
        value["call"] = trace.arguments.as_ref().map_or(Value::Null, |call| call_json(call, trace));
        value["trace"] = trace
            .steps
            .iter()
            .map(|step| {
                let mut value = event_json(&step.event);
                value["location"] = spot_json(step.spot.as_ref());
                value["function"] = json!(step.function);
                value["matters"] = json!(step.matters);
                value
            })
            .collect();
        value["unwritten_bytes"] = json!(trace.unwritten_bytes);
        value["omitted_steps"] = json!(trace.omitted);
    }
    value
}

fn origin_json(origin: &Origin) -> Value {
    json!({
        "kind": match origin.kind {
            OriginKind::Null => "null",
            OriginKind::FailedAllocation => "failed-allocation",
            OriginKind::Unset => "unset",
        },
        "function": origin.function,
        "location": spot_json(Some(&origin.spot)),
    })
}

fn object_json(object: &Object) -> Value {
    json!({
        "name": object.name,
        "kind": match object.kind {
            ObjectKind::Global { .. } => "global",
            ObjectKind::Allocated(AllocKind::Stack) => "stack",
            ObjectKind::Allocated(AllocKind::Heap(_)) => "heap",
            ObjectKind::Allocated(AllocKind::Library(_)) => "library",
            ObjectKind::Allocated(AllocKind::Given) => "given",
            ObjectKind::Allocated(AllocKind::Placeholder) => "stand-in",
        },
        "size": object.size,
        "offset": object.offset,
        "allocated": spot_json(object.allocated.as_ref()),
        "freed": spot_json(object.freed.as_ref()),
        "lost": spot_json(object.lost.as_ref()),
    })
}

fn ranking_json(ranking: &Ranking) -> Value {
    json!({
        "location": spot_json(ranking.spot.as_ref()),
        "function": ranking.function,
        "of": if ranking.is_recursion { "recursion" } else { "loop" },
        "tuple": ranking.tuple.iter().flat_map(|part| facts(std::slice::from_ref(part))).collect::<Vec<_>>(),
    })
}

fn undefined_json(function: &Undefined) -> Value {
    json!({"name": function.name, "calls": function.calls, "calls_that_matter": function.relevant})
}

fn declared_json(variable: &Declared) -> Value {
    let bytes: serde_json::Map<String, Value> =
        variable.bytes.iter().map(|(at, byte)| (at.to_string(), json!(byte))).collect();
    json!({"name": variable.name, "size": variable.size, "bytes": bytes})
}

/// Returns the call of the entry function as JSON.
fn call_json(call: &Arguments, trace: &Trace) -> Value {
    let pointer = |target: Option<Target>| match target {
        Some(Target::Object(n)) => json!(n),
        Some(Target::Function) => json!("function"),
        None => Value::Null,
    };
    let argument = |a: &Argument| {
        let value = a.target.is_none().then(|| trace.argument(a));
        let bits = format!("{:#x}", a.value.to_biguint());
        json!({"name": a.name, "value": value, "bits": bits, "object": pointer(a.target)})
    };
    let arguments = call.values.iter().map(argument);
    let objects = call.objects.iter().map(|o| {
        let bytes: serde_json::Map<String, Value> = o.bytes.iter().map(|(at, b)| (at.to_string(), json!(b))).collect();
        let pointers: serde_json::Map<String, Value> =
            o.pointers.iter().map(|&(at, to)| (at.to_string(), pointer(to))).collect();
        let member = |(path, member): &(String, Member)| {
            let (value, object) = match member {
                Member::Value(value) => (json!(value), Value::Null),
                Member::Pointer(target) => (Value::Null, pointer(*target)),
            };
            json!({"path": path, "value": value, "object": object})
        };
        let members: Vec<Value> = o.members.iter().map(member).collect();
        json!({"type": o.ty, "size": o.size, "bytes": bytes, "pointers": pointers, "members": members})
    });
    json!({
        "function": call.function,
        "arguments": arguments.collect::<Vec<_>>(),
        "objects": objects.collect::<Vec<_>>(),
    })
}

/// Returns the conditions under which the violation occurs in a native run: arguments, standard input, environment
/// variables, and files.
fn environment_json(environment: &Environment) -> Value {
    let text = |bytes: &Vec<u8>| json!(String::from_utf8_lossy(bytes));
    let variables: serde_json::Map<String, Value> = environment
        .variables
        .iter()
        .map(|(name, value)| (String::from_utf8_lossy(name).into_owned(), value.as_ref().map_or(Value::Null, text)))
        .collect();
    let files = environment.files.iter().map(|file| {
        let (name, content) = (file.name.as_ref().map(text), file.content.as_ref().map(text));
        json!({"name": name, "is_read": file.is_read, "content": content})
    });
    json!({
        "arguments": environment.command.arguments.as_ref().map(|list| list.iter().map(text).collect::<Vec<_>>()),
        "stdin": environment.stdin.as_ref().map(text),
        "stdin_failures": environment.stdin_failures,
        "variables": variables,
        "files": files.collect::<Vec<_>>(),
        "ignored_signals": environment.ignored_signals(),
        "doubts": environment.doubts,
    })
}

fn input_json(index: Option<usize>, input: &InputValue) -> Value {
    let kind = match input.kind {
        InputKind::Nondet(_) => "nondet",
        InputKind::Uninit(_) => "uninitialised",
        InputKind::Environment(_) => "environment",
        InputKind::Argument(_) => "argument",
        InputKind::Global(_) => "global",
        InputKind::Unmodelled(_) => "unmodelled",
    };
    json!({
        "number": index.map(|i| i + 1),
        "kind": kind,
        "source": input.source(),
        "type": input.ty,
        "value": input.shown,
        "width": input.value.width(),
        "bits": format!("{:#x}", input.value.to_biguint()),
        "writes": named_values(&input.writes),
        "location": spot_json(input.spot.as_ref()),
    })
}

fn named_values(list: &[(String, String)]) -> Value {
    list.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}

fn event_json(event: &Event) -> Value {
    let values = named_values;
    match event {
        Event::Input { index, into } => json!({"step": "input", "input": index + 1, "into": into}),
        Event::Assign { target, value } => json!({"step": "assign", "target": target, "value": value}),
        Event::Branch { taken, holds, operands } => {
            json!({"step": "branch", "taken": taken, "holds": holds, "operands": values(operands)})
        }
        Event::Uninitialised { target, value } => json!({"step": "uninitialised", "target": target, "value": value}),
        Event::Call { function, args } => json!({"step": "call", "callee": function, "arguments": values(args)}),
        Event::Switch { thread, start, function } => {
            json!({"step": "switch", "thread": thread, "start": start, "function": function})
        }
        Event::Return { function, value } => json!({"step": "return", "from": function, "value": value}),
        Event::Error { message, operands } => {
            json!({"step": "error", "message": message, "operands": values(operands)})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(answer: Answer) -> Report {
        Report {
            answer,
            properties: vec!["unreach-call".into()],
            files: vec!["a.c".into()],
            data_model: "LP64",
            analysis: "symex".into(),
            stats: vec![("paths".into(), 3.0), ("seconds".into(), 0.25)],
            ..Report::default()
        }
    }

    #[test]
    fn verdict_lines_are_one_line() {
        assert_eq!(report(Answer::True).verdict_line(), "TRUE");
        let spot = Some(Spot { path: "a.c".into(), line: 3, column: 1 });
        let unknown =
            Answer::Unknown(Undecided { spot, ..Undecided::new(engine::ReasonKind::default(), "two\nlines") });
        assert_eq!(report(unknown).verdict_line(), "UNKNOWN(two lines at a.c:3:1)");
        let violation = Violation::new("unreach-call", "");
        assert_eq!(report(Answer::False(Box::new(violation))).verdict_line(), "FALSE(unreach-call)");
    }

    #[test]
    fn json_has_every_key() {
        let json = super::report(&report(Answer::True));
        assert_eq!(json["schema"], "proviso-result-1");
        assert_eq!(json["verdict"], "TRUE");
        assert_eq!(json["statistics"]["paths"], 3);
        assert_eq!(json["statistics"]["seconds"], 0.25);
        assert!(json["violation"].is_null() && json["reason"].is_null());
    }
}
