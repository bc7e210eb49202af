//! A report for people: the error in the format of rustc, then the counterexample line by line.

use crate::message::{Message, json_line};
use annotate_snippets::Level;
use cfa::InputKind;
use cfa::wording::counted;
use driver::environment::{Command, Environment};
use driver::evidence::wording::facts;
use driver::report::{Answer, AssumedWrites, CheckResult, Report, Rest, Undecided, Undefined, Violation};
use driver::source::{Sources, Spot};
use driver::trace::{self, Argument, Event, InputValue, Step, Target, Trace, quoted};
use engine::ReasonKind;
use instrument::NamedCheck;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The appearance of a report.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The steps of traces that are printed.
    pub detail: Detail,
    /// True if the report has terminal colours.
    pub color: bool,
    /// The number of columns of the terminal. Without one, source lines are not cut.
    pub columns: Option<usize>,
}

/// The selection of steps of a trace to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// The steps that matter, at most [`SHORT`] of them.
    Short,
    /// All steps, at most [`FULL`] of them.
    Full,
}

/// The maximal number of steps in a short trace.
const SHORT: usize = 40;
/// The maximal number of steps in a full trace.
const FULL: usize = 5_000;
/// The maximal number of steps in an iteration of a loop that is not repeated if the next ones look the same.
const ITERATION: usize = 12;
/// The number of steps from which on a row stands for repeated iterations: fewer are as easy to read.
const REPEATED: usize = 4;
/// The minimal number of columns for the source text of a step.
const SOURCE: usize = 48;
/// The maximal number of columns that source lines are padded to if there is no terminal.
const MAX_PAD: usize = 80;
/// The number of columns of a terminal that remain for the event of a step.
const EVENT: usize = 50;
/// The maximal number of notes shown.
const MAX_NOTES: usize = 8;
/// The maximal number of open places shown for a check.
const MAX_OPEN: usize = 6;
/// The maximal number of places shown for writes that a proof assumes to be valid.
const MAX_ASSUMED: usize = 3;

/// Returns the text before the verdict line. It is empty for a proof without assumptions about writes.
pub fn report(report: &Report, sources: &Sources, layout: Layout) -> String {
    let mut out = String::new();
    match &report.answer {
        Answer::True => assumed(&mut out, &report.assumed_writes),
        Answer::False(_) => {
            report.violations().into_iter().for_each(|found| out += &finding(found, sources, layout));
        }
        Answer::Unknown(Undecided { text: reason, spot, .. }) => {
            let main = Message::new(Level::WARNING, format!("no verdict: {reason}")).at(spot.clone());
            let main = report.help.iter().fold(main, |main, help| main.help(help));
            let _ = writeln!(out, "{}\n", main.render(sources, layout.color));
            let others: Vec<_> = report.notes.iter().filter(|n| !reason.contains(&n.text) || n.spot != *spot).collect();
            for note in others.iter().take(MAX_NOTES) {
                let message = Message::new(Level::NOTE, note.text.clone()).at(note.spot.clone());
                let _ = writeln!(out, "{}\n", message.render(sources, layout.color));
            }
            if others.len() > MAX_NOTES {
                let _ = writeln!(out, "note: and {} more like these\n", others.len() - MAX_NOTES);
            }
        }
    }
    out
}

/// Returns the result of each check in one line, followed by the counts of places. Checks without places share one
/// line, and so do those that are undecided for the same reason before their places are known.
pub fn table(checks: &[CheckResult]) -> String {
    let is_empty = |c: &&CheckResult| c.places.all == 0 && matches!(c.rest, Rest::Proved) && !c.is_of_threads;
    // The checks that are undecided as a whole, by the reason.
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for check in checks {
        if let Some(reason) = undecided_as_a_whole(check) {
            alike.entry(reason).or_default().push(&check.name);
        }
    }
    alike.retain(|_, names| names.len() > 1);
    let is_alike = |c: &&CheckResult| undecided_as_a_whole(c).is_some_and(|reason| alike.contains_key(&reason));
    let rows = || checks.iter().filter(|c| !is_empty(c) && !is_alike(c));
    let width = rows().map(|c| c.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for check in rows() {
        let places = if check.places.all == 0 { String::new() } else { counted(check.places.all, "place") };
        let (mut spots, mut following) = (Vec::<String>::new(), Vec::<String>::new());
        for violation in &check.violations {
            let spot = violation.spot().map_or_else(|| "?".into(), ToString::to_string);
            let list = if violation.cause.is_none() { &mut spots } else { &mut following };
            // Several locations of the program may have the same source place, for example if a macro is expanded.
            if !list.contains(&spot) {
                list.push(spot);
            }
        }
        following.retain(|spot| !spots.contains(spot));
        let violated = match (spots.is_empty(), following.is_empty()) {
            (true, true) => None,
            (false, true) => Some(format!("violated at {}", spots.join(", "))),
            (true, false) => Some(format!("violated by a finding above, at {}", following.join(", "))),
            (false, false) => {
                Some(format!("violated at {}, with the same cause at {}", spots.join(", "), following.join(", ")))
            }
        };
        let what = match (violated, &check.rest) {
            (None, Rest::Unknown(note)) => {
                let limit = match check.is_undecided_without_open_places() {
                    true => " (all places in known code are proved)",
                    false => "",
                };
                format!("unknown: {}{limit}", note.on_a_line())
            }
            (None, Rest::NotAsked) => "not checked".into(),
            (None, _) if check.assumes_valid_accesses => "proved for executions without invalid accesses".into(),
            (None, _) => "proved".into(),
            (Some(violated), Rest::Proved) if check.places.all > 0 && check.counts()[0] == 0 => violated,
            (Some(violated), Rest::Proved) => {
                let limit = if check.assumes_valid_accesses { " for executions without invalid accesses" } else { "" };
                format!("{violated}; proved elsewhere{limit}")
            }
            (Some(violated), Rest::Unknown(note)) => {
                let unknown = || format!("{violated}; otherwise unknown: {}", note.on_a_line());
                match check.counts() {
                    [0, _, 0] if check.places.all > 0 => unknown(),
                    [proved, _, 0] if proved > 0 => {
                        format!("{} (all other places in known code are proved)", unknown())
                    }
                    _ => format!("{violated}; unknown at other places"),
                }
            }
            (Some(violated), Rest::NotAsked) => violated,
        };
        let _ = writeln!(out, "  {:width$}  {places:>11}  {what}", check.name);
    }
    for (reason, names) in &alike {
        let _ = writeln!(out, "  unknown ({reason}): {}", names.join(", "));
    }
    let empty: Vec<&str> = checks.iter().filter(is_empty).map(|c| c.name.as_str()).collect();
    match empty.len() {
        0 => {}
        _ if empty.len() == checks.len() => out += "  nothing to check\n",
        _ => {
            let _ = writeln!(out, "  nothing to check: {}", empty.join(", "));
        }
    }
    format!("checks:\n{out}{}\n", places(checks))
}

/// Returns the reason why a check is undecided, if no place of it is known. For example, no time was left to load the
/// program.
fn undecided_as_a_whole(check: &CheckResult) -> Option<String> {
    match &check.rest {
        Rest::Unknown(note) if check.places.all == 0 && check.violations.is_empty() => Some(note.on_a_line()),
        _ => None,
    }
}

/// Returns for each check with violated or open places how many are proved, violated and open, with the open places.
/// Checks without results are left out. Empty if all places are proved.
pub fn places(checks: &[CheckResult]) -> String {
    let is_whole = |check: &&CheckResult| {
        check.counts()[1..] == [0, 0] || (matches!(check.rest, Rest::NotAsked) && check.violations.is_empty())
    };
    if checks.iter().all(|check| is_whole(&check)) {
        return String::new();
    }
    let line = |check: &CheckResult| {
        let [proved, violated, open] = check.counts().map(grouped);
        let spots = open_spots(check);
        format!(
            "  {}: {proved} of {} proved, {violated} violated, {open} open{spots}\n",
            check.name,
            match check.place_count() {
                1 => "1 place".to_owned(),
                all => format!("{} places", grouped(all)),
            }
        )
    };
    let lines: String = checks.iter().filter(|check| !is_whole(check)).map(line).collect();
    let limit = match checks.iter().any(|check| !check.violations.is_empty()) {
        true => " (a proof is about executions up to their first violation)",
        false => "",
    };
    format!("places by result{limit}:\n{lines}")
}

/// Returns the first open places of a check as a list in parentheses; empty if there are none.
fn open_spots(check: &CheckResult) -> String {
    let shown: Vec<String> = check.open_places().take(MAX_OPEN).map(ToString::to_string).collect();
    let more = match check.open_places().count().saturating_sub(MAX_OPEN) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    if shown.is_empty() { String::new() } else { format!(" ({}{more})", shown.join(", ")) }
}

/// Returns a number with its digits in groups of three.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a note with the checks that did not run. `checks` are those that ran.
pub fn unchecked(checks: &[CheckResult]) -> String {
    let has_run = |name: &str| checks.iter().any(|check| check.name == name);
    // These run if the program starts threads.
    let is_of_threads = |name: &str| matches!(name, "thread" | "deadlock");
    let names = NamedCheck::ALL.iter().map(|check| check.name).filter(|name| !has_run(name) && !is_of_threads(name));
    // Users do not know the check by this name.
    let named = |name: &str| if name == "memory" { "memory (uninitialised values)".into() } else { name.to_owned() };
    let names = names.map(named).collect::<Vec<_>>().join(", ");
    let text = format!("not checked: {names} (--check NAME); termination, valid-memcleanup (--property NAME)");
    Message::new(Level::NOTE, text).render(&Sources::default(), false) + "\n\n"
}

/// Returns a note that tells the findings that depend on the length of a caller's buffer apart. Empty if there are none.
pub fn conditional(report: &Report) -> String {
    let text = match (report.conditional(), report.violations().len()) {
        (0, _) => return String::new(),
        (1, 1) => "the finding depends on the assumption that callers may pass a short buffer".to_owned(),
        (some, all) => {
            let verb = if some == 1 { "depends" } else { "depend" };
            format!("{some} of {all} findings {verb} on the assumption that callers may pass a short buffer")
        }
    };
    Message::new(Level::NOTE, text).render(&Sources::default(), false) + "\n\n"
}

/// Returns advice on how to end a run at its first finding, if the run with findings used up a limit. Empty otherwise.
pub fn ends_at_first(report: &Report) -> String {
    let is_at_limit = |check: &CheckResult| match &check.rest {
        Rest::Unknown(undecided) => {
            matches!(undecided.kind, ReasonKind::Time | ReasonKind::Memory)
        }
        Rest::Proved | Rest::NotAsked => false,
    };
    if report.violations().is_empty() || !report.checks.iter().any(is_at_limit) {
        return String::new();
    }
    let text = "`--first` ends the run at the first finding";
    Message::new(Level::HELP, text).render(&Sources::default(), false) + "\n\n"
}

/// Returns advice on the next step after a violation. `harness` is the harness that the run wrote and its file.
pub fn next_step(harness: Option<(&str, &Path)>) -> String {
    let text = match harness.map(|(text, path)| (crate::harness::commands(text), path)) {
        None => "`--harness bug.c` writes a C file that reproduces the violation when it is compiled with the program"
            .into(),
        // A command that replaces functions of the library is long and has internal names.
        Some((commands, _)) if commands.len() == 1 && !commands[0].contains("proviso_") => {
            format!("build and run the harness: {}", commands[0])
        }
        Some((_, path)) => format!("the first lines of {} are the commands that build and run it", path.display()),
    };
    Message::new(Level::HELP, text).render(&Sources::default(), false) + "\n\n"
}

/// Returns the verdict on each property, one line each.
pub fn verdicts(checks: &[CheckResult]) -> String {
    checks.iter().map(|c| format!("{}: {}\n", c.name, c.answer().line())).collect()
}

/// Writes the assumptions of a proof about writes.
fn assumed(out: &mut String, writes: &AssumedWrites) {
    if writes.count == 0 {
        return;
    }
    let what = if writes.count == 1 { "1 write stays".into() } else { format!("{} writes stay", writes.count) };
    let _ =
        writeln!(out, "note: the proof assumes that {what} within objects (--property valid-memsafety checks this)");
    for spot in writes.spots.iter().take(MAX_ASSUMED) {
        let _ = writeln!(out, "  --> {spot}");
    }
    if writes.spots.len() > MAX_ASSUMED {
        let _ = writeln!(out, "  and in {}", counted(writes.spots.len() - MAX_ASSUMED, "more place"));
    }
    out.push('\n');
}

/// Returns one line for each finding, in the format of compilers: `file:line:column: error: message [property]`. Without
/// a verdict, returns one line with the reason.
pub fn short(report: &Report) -> String {
    lines(report).iter().filter(|line| line.is_main()).map(Line::short).collect()
}

/// Returns the same lines as JSON, one object per line.
pub fn json_lines(report: &Report) -> String {
    lines(report).iter().map(Line::json).collect()
}

/// Returns one finding as a line in the format of compilers.
pub fn short_finding(violation: &Violation) -> String {
    lines_of(violation).iter().filter(|line| line.is_main()).map(Line::short).collect()
}

/// Returns the verdict as a line of JSON.
pub fn json_verdict(report: &Report) -> String {
    Line { level: "verdict", ..Line::note(None, report.verdict_line()) }.json()
}

/// Returns the lines of one finding as JSON, one object per line.
pub fn json_finding(violation: &Violation) -> String {
    lines_of(violation).iter().map(Line::json).collect()
}

impl Line<'_> {
    /// Returns true for a finding or the reason why there is no verdict, false for what explains it.
    fn is_main(&self) -> bool {
        matches!(self.level, "error" | "warning")
    }

    fn short(&self) -> String {
        let place = self.spot.map_or_else(|| "proviso".to_owned(), ToString::to_string);
        let of = self.property.map_or_else(String::new, |property| format!(" [{property}]"));
        format!("{place}: {}: {}{of}\n", self.level, self.text.replace('\n', " "))
    }

    fn json(&self) -> String {
        json_line(self.level, &self.text, self.spot, self.property)
    }
}

/// A message about a place.
struct Line<'r> {
    spot: Option<&'r Spot>,
    level: &'static str,
    text: String,
    /// The violated property, for an error.
    property: Option<&'r str>,
}

/// Returns the errors, each followed by the steps to it, or the reason why there is no verdict.
fn lines(report: &Report) -> Vec<Line<'_>> {
    match &report.answer {
        Answer::True => Vec::new(),
        Answer::False(_) => report.violations().into_iter().flat_map(lines_of).collect(),
        Answer::Unknown(Undecided { text: reason, spot, .. }) => {
            let text = format!("no verdict: {reason}");
            let mut all = vec![Line { spot: spot.as_ref(), level: "warning", text, property: None }];
            all.extend(report.notes.iter().take(MAX_NOTES).map(|n| Line::note(n.spot.as_ref(), n.text.clone())));
            all.extend(report.help.iter().map(|help| Line { level: "help", ..Line::note(None, help.clone()) }));
            all
        }
    }
}

/// Returns an error, followed by the steps to it.
fn lines_of(found: &Violation) -> Vec<Line<'_>> {
    let (text, property) = (found.message.clone(), Some(found.property.as_str()));
    let mut all = vec![Line { spot: found.spot(), level: "error", text, property }];
    let steps = found.trace.iter().flat_map(|t| t.steps.iter().map(move |s| (t, s)));
    all.extend(found.notes().into_iter().map(|note| Line::note(found.spot(), note)));
    all.extend(found.help().map(|help| Line { level: "help", ..Line::note(found.spot(), help) }));
    let told = steps.filter(|(_, s)| s.matters && s.spot.is_some()).take(SHORT);
    all.extend(told.map(|(trace, step)| Line::note(step.spot.as_ref(), event(&step.event, &trace.inputs))));
    all
}

impl<'r> Line<'r> {
    fn note(spot: Option<&'r Spot>, text: String) -> Self {
        Self { spot, level: "note", text, property: None }
    }
}

/// Returns the text of a finding and its counterexample.
pub fn finding(violation: &Violation, sources: &Sources, layout: Layout) -> String {
    let mut out = String::new();
    let title = format!("{} ({} is violated)", violation.message, violation.property);
    let mut message = Message::new(Level::ERROR, title);
    if let Some(trace) = &violation.trace {
        message = message.at(trace.spot.clone());
        if !trace.function.is_empty() {
            message = message.label(format!("in {}", trace.function));
        }
        let notes = trace.object.iter().flat_map(trace::Object::notes);
        for (text, spot) in notes.filter(|(_, spot)| trace.spot.as_ref() != Some(spot)) {
            message = message.note(format!("{text}: {spot}"));
        }
        if let Some(origin) = trace.origin.as_ref().filter(|origin| trace.spot.as_ref() != Some(&origin.spot)) {
            message = message.note(format!("{}: {}", origin.text(), origin.spot));
        }
        message = violation.notes().into_iter().fold(message, |message, note| message.note(note));
        let takes = !trace.inputs.is_empty() || trace.declared.iter().any(|d| !d.is_of_library());
        let is_started = trace.environment.command != Command::default() || trace.environment.stdin.is_some();
        if !takes && !is_started {
            message = message.note(match trace.uninitialised.is_empty() && trace.unwritten_bytes == 0 {
                true => "the violation needs no input",
                false => "the violation needs no input, but uninitialised memory must have the values shown",
            });
        }
    } else {
        message = message.note("there was no time left for the counterexample");
    }
    message = violation.help().into_iter().fold(message, Message::help);
    let _ = writeln!(out, "{}\n", message.render(sources, layout.color));
    if let Some(trace) = &violation.trace {
        call(&mut out, trace);
        steps(&mut out, trace, sources, layout);
        declared(&mut out, trace);
        environment(&mut out, &trace.environment);
    }
    out
}

/// Returns one line with the functions that no file defines and the number of their calls. If `unknown` is set, the
/// analysis assumes nothing about these functions.
pub fn undefined(functions: &[Undefined], unknown: bool) -> String {
    let one = |f: &Undefined| match (f.relevant, f.calls) {
        (0, calls) => format!("{} ({calls}, none matters)", f.name),
        (relevant, calls) if relevant == calls => format!("{} ({calls})", f.name),
        (relevant, calls) => format!("{} ({relevant} of {calls} matter)", f.name),
    };
    let list: Vec<String> = functions.iter().map(one).collect();
    let matter = unknown && functions.iter().any(|f| f.relevant > 0);
    let advice = if matter { " (--undefined-functions sets their behaviour)" } else { "" };
    format!("undefined functions, with their calls: {}{advice}", list.join(", "))
}

/// Writes the initial values of variables that no file defines.
fn declared(out: &mut String, trace: &Trace) {
    let some: Vec<_> = trace.declared.iter().filter(|d| !d.bytes.is_empty()).collect();
    if some.is_empty() {
        return;
    }
    let _ = writeln!(out, "initial values of undefined variables:");
    for variable in some {
        let _ = writeln!(out, "  {}", variable.shown());
    }
    out.push('\n');
}

/// Writes the call of the entry function.
fn call(out: &mut String, trace: &Trace) {
    let Some(call) = &trace.arguments else { return };
    let pointer = |target: Option<Target>| match target {
        Some(Target::Object(n)) => format!("&object{}", n + 1),
        Some(Target::Function) => "a function".into(),
        None => "NULL".into(),
    };
    let value = |a: &Argument| match a.target {
        Some(_) => format!("{} = {}", a.name, pointer(a.target)),
        None => format!("{} = {}", a.name, trace.argument(a)),
    };
    let values: Vec<String> = call.values.iter().map(value).collect();
    let _ = writeln!(out, "the program is called as:\n  {}({})", call.function, values.join(", "));
    for (n, object) in call.objects.iter().enumerate() {
        let size = counted(object.size, "byte");
        let _ = writeln!(out, "  object{}: {}, {size}: {}", n + 1, object.ty, object.shown(pointer));
    }
    out.push('\n');
}

/// A row in the table of steps.
#[derive(Clone, Copy)]
enum Row {
    /// The step with this index.
    Step(usize),
    /// The last rows occur again.
    Again { rows: usize, times: usize },
}

impl Row {
    /// Returns the number of steps that the row stands for.
    fn steps(self) -> usize {
        match self {
            Self::Step(_) => 1,
            Self::Again { rows, times } => rows * times,
        }
    }
}

/// Returns rows for the steps `chosen`, in which iterations of loops that look the same are one row. `key` is the
/// appearance of a step.
fn folded<K: PartialEq>(chosen: &[usize], key: impl Fn(usize) -> K) -> Vec<Row> {
    let keys: Vec<K> = chosen.iter().map(|&i| key(i)).collect();
    let (mut rows, mut at) = (Vec::new(), 0);
    while at < keys.len() {
        let times = |rows: usize| {
            let first = &keys[at..at + rows];
            keys[at + rows..].chunks_exact(rows).take_while(|next| *next == first).count()
        };
        let periods = 1..=ITERATION.min(keys.len() - at);
        let again = periods.map(|rows| Row::Again { rows, times: times(rows) });
        let most = again.max_by_key(|row| row.steps()).filter(|row| row.steps() >= REPEATED);
        let length = if let Some(Row::Again { rows, .. }) = most { rows } else { 1 };
        rows.extend(chosen[at..at + length].iter().map(|&i| Row::Step(i)).chain(most));
        at += length + most.map_or(0, Row::steps);
    }
    rows
}

/// Writes the table of steps: line number, source text, and the event.
fn steps(out: &mut String, trace: &Trace, sources: &Sources, Layout { detail, columns, .. }: Layout) {
    let chosen: Vec<usize> =
        (0..trace.steps.len()).filter(|&i| detail == Detail::Full || trace.steps[i].matters).collect();
    let all = folded(&chosen, |i| (&trace.steps[i].spot, event(&trace.steps[i].event, &trace.inputs)));
    let limit = if detail == Detail::Full { FULL } else { SHORT };
    let is_cut = all.len() > limit;
    let head = if is_cut { limit / 3 } else { all.len() };
    let tail = all.len() - (limit - head).min(all.len());
    let left_out: usize = if is_cut { all[head..tail].iter().map(|row| row.steps()).sum() } else { 0 };
    let table = if is_cut { [&all[..head], &all[tail..]].concat() } else { all };
    let is_step = |row: &Row| if let Row::Step(i) = *row { Some(i) } else { None };
    let rows: Vec<usize> = table.iter().filter_map(is_step).collect();

    let number = |step: &Step| step.spot.as_ref().map_or(0, |s| s.line);
    let width = rows.iter().map(|&i| number(&trace.steps[i])).max().unwrap_or(0).to_string().len().max(2);
    let room = columns.map(|columns| columns.saturating_sub(width + 5 + EVENT).max(SOURCE));
    let texts = rows.iter().filter_map(|&i| trace.steps[i].spot.as_ref());
    let longest = texts.filter_map(|s| sources.line(&s.path, s.line)).map(|text| text.trim_end().chars().count()).max();
    // The events start in the same column as far as the source lines allow it.
    let pad = longest.unwrap_or(0).clamp(SOURCE, room.unwrap_or(MAX_PAD));
    let total = trace.steps.len() + trace.omitted;
    let _ = match detail {
        Detail::Short if rows.len() < total => {
            let total = counted(total, "step");
            writeln!(out, "counterexample ({} of {total}; --trace full shows all):", rows.len())
        }
        _ => writeln!(out, "counterexample ({}):", counted(total, "step")),
    };
    let mut file = "";
    let mut line = 0;
    for (at, row) in table.iter().enumerate() {
        if at == head && is_cut {
            let verb = if left_out == 1 { "is" } else { "are" };
            let _ = writeln!(out, "{:width$} … {} {verb} left out here", "", counted(left_out, "step"));
            line = 0;
        }
        let step = match *row {
            Row::Step(i) => &trace.steps[i],
            Row::Again { rows, times } => {
                let (what, verb) =
                    if rows == 1 { ("step".into(), "occurs") } else { (format!("{rows} steps"), "occur") };
                let _ = writeln!(out, "{:width$} … the last {what} {verb} {} more", "", counted(times, "time"));
                line = 0;
                continue;
            }
        };
        let what = event(&step.event, &trace.inputs);
        let Some(spot) = &step.spot else {
            let _ = writeln!(out, "{:>width$} | {:pad$}  {what}", "", "");
            continue;
        };
        if spot.path != file {
            let _ = writeln!(out, "{:width$}--> {}", "", spot.path);
            (file, line) = (&spot.path, 0);
        }
        let repeats = spot.line == line && !matches!(step.event, Event::Call { .. });
        line = spot.line;
        let text = if repeats { None } else { sources.line(&spot.path, spot.line) };
        let text = text.as_deref().map_or("", str::trim_end);
        let shown = if repeats { String::new() } else { spot.line.to_string() };
        let _ = writeln!(
            out,
            "{shown:>width$} | {:pad$}  {what}",
            room.map_or_else(|| text.to_owned(), |room| cut(text, room))
        );
    }
    out.push('\n');
}

/// Writes the arguments, standard input, environment variables and files with which the program has to be started.
fn environment(out: &mut String, environment: &Environment) {
    let mut rows: Vec<(String, String)> = Vec::new();
    if let Some(arguments) = &environment.command.arguments {
        let list: Vec<String> = arguments.iter().skip(1).map(|a| quoted(a)).collect();
        rows.push(("arguments".into(), if list.is_empty() { "none".into() } else { list.join(" ") }));
    }
    if let Some(stdin) = &environment.stdin {
        rows.push(("standard input".into(), if stdin.is_empty() { "empty".into() } else { quoted(stdin) }));
        for after in &environment.stdin_failures {
            rows.push((String::new(), format!("reading it fails after {}, once", counted(after, "byte"))));
        }
    }
    for (name, value) in &environment.variables {
        let value = value.as_ref().map_or("not set".into(), |v| quoted(v));
        rows.push((String::from_utf8_lossy(name).into_owned(), value));
    }
    rows.extend(environment.ignored_signals().iter().map(|number| (format!("signal {number}"), "ignored".into())));
    for file in environment.files.iter().filter(|file| file.is_read) {
        let Some(name) = &file.name else { continue };
        let content = match file.content.as_deref() {
            None => "cannot be opened".into(),
            Some([]) => "empty".into(),
            Some(content) => quoted(content),
        };
        rows.push((format!("file {}", quoted(name)), content));
    }
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    if !rows.is_empty() {
        out.push_str("the program is started with:\n");
        for (name, value) in &rows {
            let _ = writeln!(out, "  {name:width$}  {value}");
        }
        out.push('\n');
    }
    for doubt in &environment.doubts {
        let _ = writeln!(out, "note: a native run may not show it: {doubt}\n");
    }
}

fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    text.chars().take(columns - 1).chain(['…']).collect()
}

/// Returns a description of the event of a step.
pub fn event(event: &Event, inputs: &[InputValue]) -> String {
    let list = |values: &[(String, String)]| {
        let parts: Vec<String> =
            values.iter().map(|(n, v)| if n.is_empty() { v.clone() } else { format!("{n} = {v}") }).collect();
        parts.join(", ")
    };
    match event {
        Event::Input { index, into } => {
            let input = &inputs[*index];
            let mut parts = Vec::new();
            if !input.shown.is_empty() && (into.is_some() || input.writes.is_empty()) {
                let target = into.as_ref().map_or_else(|| input.source(), Clone::clone);
                parts.push(format!("{target} = {}", input.shown));
            }
            parts.extend(input.writes.iter().map(|(target, value)| format!("{target} = {value}")));
            let what = if let InputKind::Environment(function) = &input.kind { function } else { &input.ty };
            format!("{}  (input {}: {what})", parts.join(", "), index + 1)
        }
        Event::Uninitialised { target: Some(target), value } => format!("{target} = {value}  (uninitialised)"),
        Event::Uninitialised { target: None, value } => format!("{value}  (uninitialised memory)"),
        Event::Assign { target, value } => format!("{target} = {value}"),
        Event::Branch { taken, holds, operands } => {
            let said = taken.map(|t| t.to_string()).or_else(|| holds.clone());
            let values = if operands.is_empty() { None } else { Some(format!("({})", list(operands))) };
            said.into_iter().chain(values).collect::<Vec<_>>().join("  ")
        }
        Event::Call { function, args } => format!("{function}({})", list(args)),
        Event::Switch { thread, start, function } => {
            let name = start.as_ref().map_or_else(String::new, |start| format!(" (`{start}`)"));
            let place = if start.as_ref() == Some(function) { String::new() } else { format!(" in {function}") };
            format!("thread {thread}{name} continues{place}")
        }
        Event::Return { function, value: Some(value) } => format!("{function} returns {value}"),
        Event::Return { function, value: None } => format!("{function} returns"),
        Event::Error { message, operands } if operands.is_empty() => message.clone(),
        Event::Error { message, operands } => format!("{message}  ({})", list(operands)),
    }
}

/// Returns the number of operations that slicing removed, as a sentence; `None` if the program was not sliced.
pub fn slicing(report: &Report) -> Option<String> {
    let stat = |name: &str| report.stats.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
    let (all, kept) = (stat("edges")?, stat("edges_in_slice")?);
    Some(format!("slicing removed {:.0} of {all:.0} operations, on which no error depends\n", all - kept))
}

/// Returns the analysis that decided, the proof, the time slices, the refinements and the ranking functions, one line
/// each.
pub fn increments(report: &Report) -> String {
    let mut out = String::new();
    if let Some(name) = report.decided_by {
        let _ = writeln!(out, "decided by: {name}");
    }
    if let Some(proof) = &report.proof {
        let _ = writeln!(out, "proof: {proof}");
    }
    let restarts = |at: usize| {
        let turn = &report.turns[at];
        report.turns[..at]
            .iter()
            .rfind(|before| before.thread == turn.thread)
            .is_none_or(|before| turn.start < before.end)
    };
    let searches: Vec<usize> = (0..report.turns.len()).filter(|&at| restarts(at)).collect();
    for (at, turn) in report.turns.iter().enumerate() {
        if let (Ok(number), 2..) = (searches.binary_search(&at), searches.len()) {
            let how = if number == 0 {
                " (it ends at a violation, a proof or a limit; times count from its start)"
            } else {
                ""
            };
            let _ = writeln!(out, "search {}{how}:", number + 1);
        }
        let (start, end) = (turn.start.as_secs_f64(), turn.end.as_secs_f64());
        let (name, edges, calls) = (turn.analysis.name(), turn.edges, turn.solver_calls);
        let what = format!("{edges} operations, {calls} solver calls: {}", turn.ended);
        let _ = writeln!(out, "{start:8.2} s to {end:.2} s  {name:<16} {what}");
    }
    for (i, increment) in report.increments.iter().enumerate() {
        let place = increment.spot.as_ref().map_or_else(String::new, |s| format!(" to refute a path to {s}"));
        let _ = writeln!(out, "refinement {}: tracks {}{place}", i + 1, increment.tracked.join(", "));
    }
    for ranking in &report.rankings {
        let place = ranking.spot.as_ref().map_or_else(|| ranking.function.clone(), ToString::to_string);
        let _ = match (&ranking.tuple[..], ranking.is_recursion) {
            ([], false) => writeln!(out, "the loop at {place} has no second iteration"),
            ([], true) => writeln!(out, "{} never calls itself", ranking.function),
            (tuple, false) => writeln!(out, "the loop at {place} ends: {} gets smaller", shown(tuple)),
            (tuple, true) => {
                writeln!(out, "the calls of {} in one another end: {} gets smaller", ranking.function, shown(tuple))
            }
        };
    }
    if report.increments.is_empty() && report.rankings.is_empty() {
        out += "no refinement was needed\n";
    }
    out
}

/// Returns a tuple that decreases lexicographically, in backquotes.
fn shown(tuple: &[String]) -> String {
    let all = facts(tuple).join(", ");
    if let [_] = tuple { format!("`{all}`") } else { format!("`({all})`") }
}

/// Returns the statistics as a table.
pub fn statistics(report: &Report) -> String {
    let width = report.stats.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = String::from("statistics:\n");
    for (name, value) in &report.stats {
        let _ = match value.fract() {
            0.0 => writeln!(out, "  {name:width$}  {value:>12.0}"),
            _ => writeln!(out, "  {name:width$}  {value:>12.3}"),
        };
    }
    if !report.models.is_empty() {
        let _ = writeln!(out, "  {:width$}  {}", "models", report.models.join(", "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::Bv;
    use cfa::interp::Inputs;

    #[test]
    fn checks_that_were_not_analysed_share_a_line() {
        let check = |name: &str, reason: &str, places: usize| CheckResult {
            rest: Rest::Unknown(Undecided::new(ReasonKind::Time, reason)),
            places: driver::report::Places { all: places, ..Default::default() },
            ..CheckResult::new(name.to_owned(), Vec::new())
        };
        let checks = [check("null", "timeout", 0), check("bounds", "timeout", 2), check("shift", "timeout", 0)];
        let text = table(&[&checks[..], &[check("address", "no stub", 0)]].concat());
        assert!(text.contains("\n  unknown (timeout): null, shift\n"), "{text}");
        let rows = text.lines().filter(|line| line.contains("  unknown: ")).count();
        assert_eq!(rows, 2, "{text}");
    }

    #[test]
    fn the_table_agrees_with_the_counts_of_places() {
        let check = |all: usize, discharged: usize| CheckResult {
            rest: Rest::Unknown(Undecided::new(ReasonKind::Time, "no stub")),
            places: driver::report::Places { all, discharged, ..Default::default() },
            violations: vec![Violation::new("shift", "too far")],
            ..CheckResult::new("shift".to_owned(), Vec::new())
        };
        let (none_open, one_open, only) = (table(&[check(2, 1)]), table(&[check(2, 0)]), table(&[check(1, 0)]));
        let limit = "; otherwise unknown: no stub (all other places in known code are proved)\n";
        assert!(none_open.contains(limit) && none_open.contains(", 0 open"), "{none_open}");
        assert!(one_open.contains("; unknown at other places\n") && one_open.contains(", 1 open"), "{one_open}");
        assert!(only.contains("; otherwise unknown: no stub\n") && only.contains(", 0 open"), "{only}");
    }

    #[test]
    fn iterations_that_look_the_same_are_one_row() {
        let shown = |keys: &str| {
            let keys: Vec<char> = keys.chars().collect();
            let chosen: Vec<usize> = (0..keys.len()).collect();
            let rows = folded(&chosen, |i| keys[i]);
            assert_eq!(rows.iter().map(|row| row.steps()).sum::<usize>(), keys.len());
            let text = |row: &Row| match *row {
                Row::Step(i) => keys[i].to_string(),
                Row::Again { rows, times } => format!("[{rows}x{times}]"),
            };
            rows.iter().map(text).collect::<String>()
        };
        assert_eq!(shown("aaaaaaab"), "a[1x6]b");
        assert_eq!(shown("xababababab"), "xab[2x4]");
        assert_eq!(shown("aabbaab"), "aabbaab");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn a_trace_speaks_of_c() {
        let mut program = cfa::text::parse(include_str!("../../instrument/tests/data/sum.cfa")).unwrap();
        instrument::unreach_call(&mut program, &["reach_error".to_owned()]);
        let inputs = Inputs { values: vec![Bv::new(32, 38), Bv::new(16, 11)], ..Inputs::default() };
        let trace = driver::trace::record(&program, &inputs, &Sources::new()).unwrap();
        let message = trace.message.clone();
        let violation = Violation { trace: Some(trace), ..Violation::new("unreach-call", message) };
        let report = Report { answer: Answer::False(Box::new(violation)), data_model: "LP64", ..Report::default() };
        let layout = Layout { detail: Detail::Short, color: false, columns: None };
        let text = super::report(&report, &Sources::new(), layout);
        let squeezed: Vec<String> = text
            .lines()
            .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|l| !l.is_empty())
            .collect();
        assert_eq!(
            squeezed,
            [
                "error: reach_error is called (unreach-call is violated)",
                "--> gone/sum.c:16:9",
                "= note: in main",
                "counterexample (7 of 21 steps; --trace full shows all):",
                "--> gone/sum.c",
                "13 | a[1] = 38 (input 1: int)",
                "14 | p.y = 11 (input 2: short)",
                "15 | true (limit = 10, p.y = 11)",
                "7 | s = 39",
                "| s = 42",
                "15 | sum() == 42 (sum() = 42)",
                "16 | reach_error is called",
            ]
        );
    }
}
