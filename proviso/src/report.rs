//! The result of a verification run as data, and as JSON (the schema is described in `docs/reference/json.md`).

use crate::environment::Environment;
use crate::source::Spot;
use crate::trace::{Arguments, Declared, Event, InputValue, Object, Target, Trace};
use cfa::interp::ObjectKind;
use cfa::{AllocKind, InputKind};
use engine::Turn;
use serde_json::{Value, json};

/// Places of assumed writes that are written.
const MAX_ASSUMED: usize = 100;

/// The verdict with what belongs to it.
#[derive(Clone, Debug)]
pub enum Answer {
    True,
    False(Box<Violation>),
    Unknown { reason: String, spot: Option<Spot> },
}

/// A confirmed violation.
#[derive(Clone, Debug)]
pub struct Violation {
    pub property: String,
    pub message: String,
    /// How it comes about; `None` if there was no time left to say.
    pub trace: Option<Trace>,
    /// An access before it is not valid, behind which execution goes on as it does behind a sanitizer that recovers.
    pub is_behind: bool,
    /// With objects at other addresses the same inputs do not lead to it.
    pub depends_on_addresses: bool,
    /// Of an execution without end: it may go on elsewhere, after very many iterations of the loop that it is in.
    pub may_leave_loop: bool,
}

impl Violation {
    pub fn new(property: impl Into<String>, message: impl Into<String>) -> Self {
        let (property, message) = (property.into(), message.into());
        Self { property, message, trace: None, is_behind: false, depends_on_addresses: false, may_leave_loop: false }
    }

    /// What is to be known of it besides.
    pub fn notes(&self) -> Vec<&'static str> {
        let behind = "an access before it is not valid, where a run may end";
        let addresses = "it depends on where objects lie in memory: a run that has them elsewhere may not show it";
        let elsewhere =
            "the program does not end in any case; whether this loop is left after very many iterations is not known";
        [(self.is_behind, behind), (self.depends_on_addresses, addresses), (self.may_leave_loop, elsewhere)]
            .into_iter()
            .filter_map(|(holds, text)| holds.then_some(text))
            .collect()
    }
}

/// What came of one thing that was asked.
#[derive(Clone, Debug)]
pub struct CheckResult {
    pub name: String,
    /// By these names verdicts call its violations.
    pub properties: Vec<String>,
    /// Where it can be violated, and how many of these places were seen to be safe before anything was analysed.
    pub places: Places,
    pub violations: Vec<Violation>,
    /// Of all that is not violated.
    pub rest: Rest,
    /// That is proved only of executions in which all accesses are valid, which is not proved.
    pub assumes_valid_accesses: bool,
}

#[derive(Clone, Default, Debug)]
pub struct Places {
    pub all: usize,
    pub discharged: usize,
    /// Where the others are, those in the program's own code.
    pub open: Vec<Spot>,
}

#[derive(Clone, Debug)]
pub enum Rest {
    Proved,
    /// Why it is not known, for now or for ever.
    Unknown(Note),
    /// One violation was asked for, or this input cannot be asked.
    NotAsked,
}

impl CheckResult {
    pub fn new(name: String, properties: Vec<String>) -> Self {
        let nothing = Note { text: "it was not looked at".into(), spot: None };
        Self {
            name,
            properties,
            places: Places::default(),
            violations: Vec::new(),
            rest: Rest::Unknown(nothing),
            assumes_valid_accesses: false,
        }
    }

    /// The verdict on it alone.
    pub fn answer(&self) -> Answer {
        match (self.violations.first(), &self.rest) {
            (Some(violation), _) => Answer::False(Box::new(violation.clone())),
            (None, Rest::Unknown(Note { text, spot })) => Answer::Unknown { reason: text.clone(), spot: spot.clone() },
            (None, Rest::Proved | Rest::NotAsked) => Answer::True,
        }
    }

    /// In a word.
    pub fn word(&self) -> &'static str {
        match self.answer() {
            Answer::True if matches!(self.rest, Rest::NotAsked) => "not checked",
            Answer::True => "proved",
            Answer::False(_) => "violated",
            Answer::Unknown { .. } => "unknown",
        }
    }
}

/// Something that the analysis had to leave out or add.
#[derive(Clone, Debug)]
pub struct Note {
    pub text: String,
    pub spot: Option<Spot>,
}

impl Note {
    /// The text, with the place if there is one.
    fn on_a_line(&self) -> String {
        let place = self.spot.as_ref().map_or_else(String::new, |spot| format!(" at {spot}"));
        format!("{}{place}", self.text)
    }
}

/// Writes that a proof takes for valid, as nobody asked.
#[derive(Clone, Default, Debug)]
pub struct AssumedWrites {
    pub count: usize,
    /// Where they are, each place once.
    pub spots: Vec<Spot>,
}

/// What a refinement has learned.
#[derive(Clone, Debug)]
pub struct Increment {
    /// Where the path went that was refuted.
    pub spot: Option<Spot>,
    /// What is tracked since.
    pub tracked: Vec<String>,
}

/// What a proof says of a loop.
#[derive(Clone, Debug)]
pub struct LoopInvariant {
    /// Places of the loop's head and of the ways back to it.
    pub spots: Vec<Spot>,
    pub function: String,
    /// All of them hold whenever control comes to the head.
    pub conditions: Vec<Condition>,
}

/// Why a loop or a recursion ends.
#[derive(Clone, Debug)]
pub struct Ranking {
    pub spot: Option<Spot>,
    pub function: String,
    pub is_recursion: bool,
    /// It gets lexicographically smaller with each iteration or call. Empty: there is never a second iteration.
    pub tuple: Vec<String>,
}

/// An exact C condition.
#[derive(Clone, Debug)]
pub struct Condition {
    pub text: String,
    /// Whether it was seen of a slice only and in what the slice may have left out, so that it is to be confirmed.
    pub in_doubt: bool,
    /// Where its variables are declared.
    pub declared: Vec<Spot>,
}

/// A function that nobody defines.
#[derive(Clone, Debug)]
pub struct Undefined {
    pub name: String,
    /// Places where it is or may be called.
    pub calls: usize,
    /// Those of them that matter for the property.
    pub relevant: usize,
}

/// What one of several analyses made of its part of the paths.
#[derive(Clone, Debug)]
pub struct PartReport {
    /// "from bound 1 to bound 2".
    pub paths: String,
    pub analysis: &'static str,
    pub verdict: &'static str,
    /// Of UNKNOWN.
    pub reason: Option<String>,
    pub seconds: f64,
}

#[derive(Clone, Debug)]
pub struct Report {
    pub answer: Answer,
    /// By what was asked; the answer sums it up.
    pub checks: Vec<CheckResult>,
    /// Where the paths were divided: what became of the parts.
    pub parts: Vec<PartReport>,
    /// Names of the properties that were asked for.
    pub properties: Vec<String>,
    pub files: Vec<String>,
    pub data_model: &'static str,
    pub analysis: String,
    /// The one of several analyses that gave the verdict.
    pub decided_by: Option<&'static str>,
    /// Of TRUE: what the proof checker says.
    pub proof: Option<String>,
    /// Of TRUE: why it says nothing of the program.
    pub nothing_checked: Option<String>,
    /// Of TRUE: assumptions that executions reach, and none satisfies.
    pub unsatisfied_assumptions: Vec<Spot>,
    /// Of TRUE: the writes that it takes for valid.
    pub assumed_writes: AssumedWrites,
    /// What was assumed of the call that the program starts with, and of functions that nobody defines.
    pub assumptions: Vec<String>,
    pub undefined: Vec<Undefined>,
    /// What the user should know of the input and of how it was read.
    pub warnings: Vec<Note>,
    /// Which analysis worked when.
    pub turns: Vec<Turn>,
    /// What refinements have learned, in order.
    pub increments: Vec<Increment>,
    /// Of TRUE: what the proof says of loops.
    pub invariants: Vec<LoopInvariant>,
    /// Of TRUE, where termination was asked for: what gets smaller.
    pub rankings: Vec<Ranking>,
    pub notes: Vec<Note>,
    pub models: Vec<String>,
    /// Counters and times, in a fixed order.
    pub stats: Vec<(String, f64)>,
}

impl Answer {
    /// For people: `UNKNOWN(reason at file.c:3:1)`.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::Unknown { reason: reason.into(), spot: None }
    }

    /// What all results come to: FALSE if anything is violated, which a run comes to without another violation if there is such a one, TRUE if all
    /// is proved.
    pub fn of(checks: &[CheckResult]) -> Self {
        if let Some(violation) = checks.iter().flat_map(|c| &c.violations).min_by_key(|v| v.is_behind) {
            return Self::False(Box::new(violation.clone()));
        }
        for check in checks {
            if let Answer::Unknown { reason, spot } = check.answer() {
                return Self::Unknown { reason, spot };
            }
        }
        Self::True
    }

    /// As the verdict line has it.
    pub fn line(&self) -> String {
        match self {
            Answer::True => "TRUE".into(),
            Answer::False(violation) => format!("FALSE({})", violation.property),
            Answer::Unknown { reason, spot } => {
                let place = spot.as_ref().map_or_else(String::new, |s| format!(" at {s}"));
                let text = format!("{reason}{place}");
                let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                format!("UNKNOWN({text})")
            }
        }
    }
}

impl Report {
    /// The last line of standard output.
    pub fn verdict_line(&self) -> String {
        self.answer.line()
    }

    /// All that was found: of each thing that was asked, or what the answer is; last what comes behind an access that is not valid.
    pub fn violations(&self) -> Vec<&Violation> {
        let mut of_checks: Vec<&Violation> = self.checks.iter().flat_map(|c| &c.violations).collect();
        of_checks.sort_by_key(|violation| violation.is_behind);
        match &self.answer {
            Answer::False(violation) if of_checks.is_empty() => vec![violation],
            _ => of_checks,
        }
    }

    pub fn to_json(&self) -> Value {
        let (verdict, reason, violation) = match &self.answer {
            Answer::True => ("TRUE", Value::Null, Value::Null),
            Answer::False(violation) => ("FALSE", Value::Null, violation_json(violation)),
            Answer::Unknown { reason, spot } => {
                ("UNKNOWN", json!({"text": reason, "location": spot_json(spot.as_ref())}), Value::Null)
            }
        };
        let notes: Vec<Value> =
            self.notes.iter().map(|n| json!({"text": n.text, "location": spot_json(n.spot.as_ref())})).collect();
        let increment = |l: &Increment| json!({"location": spot_json(l.spot.as_ref()), "tracked": l.tracked});
        let increments: Vec<Value> = self.increments.iter().map(increment).collect();
        let unsatisfied: Vec<Value> = self.unsatisfied_assumptions.iter().map(|s| spot_json(Some(s))).collect();
        let stats: serde_json::Map<String, Value> =
            self.stats.iter().map(|(name, value)| (name.clone(), number(*value))).collect();
        json!({
            "schema": "proviso-result-1",
            "tool": {"name": "proviso", "version": env!("CARGO_PKG_VERSION")},
            "verdict": verdict,
            "verdict_line": self.verdict_line(),
            "checks": self.checks.iter().map(check_json).collect::<Vec<_>>(),
            "properties": self.properties,
            "files": self.files,
            "data_model": self.data_model,
            "analysis": self.analysis,
            "decided_by": self.decided_by,
            "parts": self.parts.iter().map(part_json).collect::<Vec<_>>(),
            "proof": self.proof,
            "nothing_checked": self.nothing_checked,
            "unsatisfied_assumptions": unsatisfied,
            "assumed_writes": assumed_json(&self.assumed_writes),
            "assumptions": self.assumptions,
            "undefined_functions": self.undefined.iter().map(undefined_json).collect::<Vec<_>>(),
            "warnings": self.warnings.iter().map(Note::on_a_line).collect::<Vec<_>>(),
            "turns": self.turns.iter().map(turn_json).collect::<Vec<_>>(),
            "refinements": increments,
            "ranking_functions": self.rankings.iter().map(ranking_json).collect::<Vec<_>>(),
            "reason": reason,
            "violation": violation,
            "notes": notes,
            "models": self.models,
            "statistics": stats,
        })
    }
}

/// Counters are integers in JSON, times are not.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

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
    let reason = match &check.rest {
        Rest::Unknown(note) => json!({"text": note.text, "location": spot_json(note.spot.as_ref())}),
        Rest::Proved | Rest::NotAsked => Value::Null,
    };
    json!({
        "name": check.name,
        "result": check.word(),
        "places": check.places.all,
        "discharged": check.places.discharged,
        "open": check.places.open.iter().map(|spot| spot_json(Some(spot))).collect::<Vec<_>>(),
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

/// As it is in the JSON.
pub fn violation_json(violation: &Violation) -> Value {
    let mut value = json!({
        "property": violation.property,
        "message": violation.message,
        "behind_invalid_access": violation.is_behind,
        "depends_on_addresses": violation.depends_on_addresses,
    });
    if let Some(trace) = &violation.trace {
        value["location"] = spot_json(trace.spot.as_ref());
        value["function"] = json!(trace.function);
        value["object"] = trace.object.as_ref().map_or(Value::Null, object_json);
        value["inputs"] = trace.inputs.iter().enumerate().map(|(i, input)| input_json(Some(i), input)).collect();
        value["uninitialised"] = trace.uninitialised.iter().map(|v| input_json(None, v)).collect();
        value["environment"] = environment_json(&trace.environment);
        value["declared"] = trace.declared.iter().map(declared_json).collect();
        value["call"] = trace.arguments.as_ref().map_or(Value::Null, call_json);
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

fn object_json(object: &Object) -> Value {
    json!({
        "name": object.name,
        "kind": match object.kind {
            ObjectKind::Global { .. } => "global",
            ObjectKind::Allocated(AllocKind::Stack) => "stack",
            ObjectKind::Allocated(AllocKind::Heap(_)) => "heap",
            ObjectKind::Allocated(AllocKind::Library(_)) => "library",
            ObjectKind::Allocated(AllocKind::Given) => "given",
            ObjectKind::Allocated(AllocKind::StandIn) => "stand-in",
        },
        "size": object.size,
        "offset": object.offset,
        "allocated": spot_json(object.allocated.as_ref()),
        "freed": spot_json(object.freed.as_ref()),
    })
}

fn ranking_json(ranking: &Ranking) -> Value {
    json!({
        "location": spot_json(ranking.spot.as_ref()),
        "function": ranking.function,
        "of": if ranking.is_recursion { "recursion" } else { "loop" },
        "tuple": ranking.tuple,
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

/// The call that the program starts with.
fn call_json(call: &Arguments) -> Value {
    let pointer = |target: Option<Target>| match target {
        Some(Target::Object(n)) => json!(n),
        Some(Target::Function) => json!("function"),
        None => Value::Null,
    };
    let arguments = call
        .values
        .iter()
        .map(|a| json!({"name": a.name, "bits": format!("{:#x}", a.value.to_biguint()), "object": pointer(a.target)}));
    let objects = call.objects.iter().map(|o| {
        let bytes: serde_json::Map<String, Value> = o.bytes.iter().map(|(at, b)| (at.to_string(), json!(b))).collect();
        let pointers: serde_json::Map<String, Value> =
            o.pointers.iter().map(|&(at, to)| (at.to_string(), pointer(to))).collect();
        json!({"type": o.ty, "size": o.size, "bytes": bytes, "pointers": pointers})
    });
    json!({
        "function": call.function,
        "arguments": arguments.collect::<Vec<_>>(),
        "objects": objects.collect::<Vec<_>>(),
    })
}

/// What a person has to arrange to see the violation.
fn environment_json(environment: &Environment) -> Value {
    let text = |bytes: &Vec<u8>| json!(String::from_utf8_lossy(bytes));
    let variables: serde_json::Map<String, Value> = environment
        .variables
        .iter()
        .map(|(name, value)| (String::from_utf8_lossy(name).into_owned(), value.as_ref().map_or(Value::Null, text)))
        .collect();
    json!({
        "arguments": environment.command.arguments.as_ref().map(|list| list.iter().map(text).collect::<Vec<_>>()),
        "stdin": environment.stdin.as_ref().map(text),
        "stdin_failures": environment.stdin_failures,
        "variables": variables,
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
            checks: Vec::new(),
            parts: Vec::new(),
            properties: vec!["unreach-call".into()],
            files: vec!["a.c".into()],
            data_model: "LP64",
            analysis: "symex".into(),
            decided_by: None,
            proof: None,
            nothing_checked: None,
            unsatisfied_assumptions: Vec::new(),
            assumed_writes: AssumedWrites::default(),
            assumptions: Vec::new(),
            undefined: Vec::new(),
            warnings: Vec::new(),
            turns: Vec::new(),
            increments: Vec::new(),
            invariants: Vec::new(),
            rankings: Vec::new(),
            notes: Vec::new(),
            models: Vec::new(),
            stats: vec![("paths".into(), 3.0), ("seconds".into(), 0.25)],
        }
    }

    #[test]
    fn verdict_lines_are_one_line() {
        assert_eq!(report(Answer::True).verdict_line(), "TRUE");
        let spot = Some(Spot { path: "a.c".into(), line: 3, column: 1 });
        let unknown = Answer::Unknown { reason: "two\nlines".into(), spot };
        assert_eq!(report(unknown).verdict_line(), "UNKNOWN(two lines at a.c:3:1)");
        let violation = Violation::new("unreach-call", "");
        assert_eq!(report(Answer::False(Box::new(violation))).verdict_line(), "FALSE(unreach-call)");
    }

    #[test]
    fn json_has_every_key() {
        let json = report(Answer::True).to_json();
        assert_eq!(json["schema"], "proviso-result-1");
        assert_eq!(json["verdict"], "TRUE");
        assert_eq!(json["statistics"]["paths"], 3);
        assert_eq!(json["statistics"]["seconds"], 0.25);
        assert!(json["violation"].is_null() && json["reason"].is_null());
    }
}
