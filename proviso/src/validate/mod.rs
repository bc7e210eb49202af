//! The command `proviso validate`. It instruments the program with a witness (see [`weave`]) and verifies the
//! instrumented program.
//!
//! The instrumentation of a violation witness only removes executions, and that of a correctness witness only adds
//! errors. So a violation that is found is a violation of the program, and a proof covers the program and every
//! invariant. If the witness cannot be added to the program, or the instrumented program does not compile, the verdict
//! is UNKNOWN with the reason. The witness may be wrong in any way although the program is correct.

pub mod confirm;
pub mod weave;

use crate::args::{ValidateArgs, VerifyArgs};
use crate::c_scan::{Item, Source};
use crate::findings;
use crate::output::{self, Colors};
use crate::render;
use crate::run::execute;
use crate::witness::place::Places;
use crate::witness::{self, Content, Entry, Location, Loose, Waypoint, form};
use driver::Outcome;
use driver::failure::{Failure, exit};
use driver::files::{self, Outputs};
use driver::job::Job;
use driver::report::{Answer, Report, Violation};
use driver::source::{Sources, Spot};
use driver::task::Otherwise;
use driver::trace::{Event, Trace};
use engine::budget::Budget;
use frontend_llvm::{DataModel, Loader};
use instrument::Property;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use weave::{Following, INVARIANT, Woven, unusable};

const NOT_FOLLOWED: &str = "no execution that follows the witness violates the property";
const ELSEWHERE: &str = "an execution that follows the witness violates the property at another place than its target";
const JOINED: &str = "as no execution follows the witness as it is: of waypoints that follow one another at a condition with `&&` or `||`, \
    the last is taken to decide, and those before to be of its operands";

/// Runs the command and returns the exit code.
pub fn run(args: &ValidateArgs, colors: Colors) -> u8 {
    attempt(args, colors).unwrap_or_else(|failure| output::failure(&failure, colors))
}

fn attempt(args: &ValidateArgs, colors: Colors) -> Result<u8, Failure> {
    let start = Instant::now();
    args.verify.writes_only(&[])?;
    let (mut entries, left_out, is_graphml) = witness::read_any(&args.witness)?;
    for what in left_out {
        output::warning(&format!("a part of the witness is ignored: {what}"), colors);
    }
    let [entry] = entries.as_mut_slice() else {
        return Err(Failure::data(format!("{}: more than one entry is not supported", args.witness.display())));
    };
    let mut job = args.verify.job(Otherwise::Assertions)?;
    output::warnings(&job.warnings, colors);
    adopt(&mut job, entry, args)?;
    for warning in stale(entry, &job)? {
        output::warning(&warning, colors);
    }
    let is_well_formed = match is_graphml {
        true => Ok(()),
        false => {
            form::broken_rule(entry).map_or(Ok(()), |rule| Err(unusable(format!("the witness is malformed: {rule}"))))
        }
    };
    let resolved = is_well_formed.and_then(|()| weave::resolve(entry, &job.load.files()));
    let report = resolved.and_then(|()| match entry.entry_type.as_str() {
        "violation_sequence" => {
            let strict = violation(entry, &job, args, start)?;
            let is_passed_by = matches!(&strict.answer, Answer::Unknown(undecided) if undecided.text == NOT_FOLLOWED);
            match if is_passed_by { weave::joined(entry, &job.load.files())? } else { None } {
                Some(joined) => {
                    output::warning(JOINED, colors);
                    violation(&joined, &job, args, start)
                }
                None => Ok(strict),
            }
        }
        "invariant_set" => correctness(entry, &job, args, start),
        other => Err(unusable(format!("entries of type {other} are not supported"))),
    });
    let report = match report {
        Err(failure) if failure.code == exit::UNKNOWN => {
            output::warning(&format!("no verdict: {failure}"), colors);
            output::print(&format!("UNKNOWN({failure})\n"))?;
            return Ok(exit::UNKNOWN);
        }
        report => report?,
    };
    let text = match args.verify.quiet {
        true => String::new(),
        false => render::report(&report, &Sources::new(), findings::layout(&args.verify, colors, false)),
    };
    output::print(&(text + &report.verdict_line() + "\n"))?;
    Ok(match report.answer {
        Answer::True => exit::TRUE,
        Answer::False(_) => exit::FALSE,
        Answer::Unknown { .. } => exit::UNKNOWN,
    })
}

/// Sets the property and the data model of the job to those of the witness, unless the command line sets them. `Err` if
/// neither the witness nor the command line has a property, or if the specification of the witness is malformed.
fn adopt(job: &mut Job, entry: &Entry, args: &ValidateArgs) -> Result<(), Failure> {
    let task = &entry.metadata.task;
    if args.verify.input.data_model().is_none() {
        let ilp32 = task.data_model == "ILP32";
        job.load.data_model = Some(if ilp32 { DataModel::Ilp32 } else { DataModel::Lp64 });
    }
    let VerifyArgs { property, check, automaton, error_function, .. } = &args.verify;
    if [property, check, automaton, error_function].iter().all(|named| named.is_empty()) {
        // Some tools write the formula without `CHECK( init(…), LTL(…) )`.
        let said = task.specification.trim();
        if said.is_empty() {
            let why = "the witness names no property: pass the `--check` or `--automaton` of the run that wrote it";
            return Err(Failure::data(why));
        }
        let framed =
            if said.starts_with("G ") { format!("CHECK( init(main()), LTL({said}) )") } else { said.to_owned() };
        let file =
            Property::parse_file(&framed).map_err(|e| Failure::data(format!("the witness's specification: {e}")))?;
        job.set_properties(file, args.verify.entry.as_deref())?;
    }
    Ok(())
}

/// Returns a warning for each input file whose hash differs from the hash in the witness. `Err` if an input file cannot
/// be read.
fn stale(entry: &Entry, job: &Job) -> Result<Vec<String>, Failure> {
    let mut warnings = Vec::new();
    for path in job.load.files() {
        let bytes = files::read(&path)?;
        let hashes = &entry.metadata.task.input_file_hashes;
        let of = hashes.iter().find(|(name, _)| Path::new(name).file_name() == path.file_name());
        if of.is_some_and(|(_, hash)| *hash != witness::digest(&bytes)) {
            warnings.push(format!("{} is not the file that the witness is about", path.display()));
        }
    }
    Ok(warnings)
}

/// Verifies the instrumented program. Returns the report with the instrumented files.
///
/// `Err` with the exit code `UNKNOWN` if the witness cannot be added or the instrumented program does not compile.
fn verify(
    entry: &Entry,
    job: &Job,
    args: &VerifyArgs,
    following: Following,
    start: Instant,
) -> Result<(Report, Woven), Failure> {
    let folder = tempfile::tempdir().map_err(|e| Failure::writing("a temporary folder", &e))?;
    let mut job = job.clone();
    let originals = job.load.files();
    let woven = weave::weave(entry, &originals, following, folder.path())?;
    let inputs = job.load.inputs.clone();
    for input in &mut job.load.inputs {
        let number = originals.iter().position(|original| *original == input.path);
        input.path.clone_from(&woven.paths[number.expect("it is one of the files")]);
    }
    // Headers next to the sources must be found although the instrumented files are in another folder, and files of a
    // project are compiled in another directory.
    for path in &originals {
        let beside = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let beside = std::path::absolute(beside).unwrap_or_else(|_| beside.to_owned());
        job.load.clang_args.extend(["-iquote".into(), beside.display().to_string()]);
    }
    for (path, original) in woven.paths.iter().zip(&originals) {
        if let Ok(expanded) = frontend_llvm::preprocessed(path, &job.load) {
            weave::admit_expanded(&expanded, original)?;
        }
    }
    if let Content::Segments(segments) = &entry.content {
        let before = match following {
            Following::Endlessly => weave::stem(segments),
            Following::FirstVisitToTarget => segments.len(),
            Following::FirstVisit | Following::AnyVisit => segments.len().saturating_sub(1),
        };
        job.calls_count_while = (before > 0).then_some((weave::SEGMENT, before as u64));
    }
    if let Content::Invariants(all) = &entry.content {
        let names: Vec<String> = (0..all.len()).map(|n| format!("{INVARIANT}{n}")).collect();
        job.add_error_functions(&names);
    }
    match execute(&Arc::new(job.clone()), args, &Outputs::default(), start, None) {
        Ok(Outcome { mut report, .. }) => {
            report.files = originals.iter().map(|f| f.display().to_string()).collect();
            Ok((report, woven))
        }
        Err(failure) if failure.code == exit::DATA => {
            // If the original program does not compile either, its error is reported instead.
            job.load.inputs = inputs;
            driver::load::load_module(&Loader::default(), &job.load, &Budget::unlimited())?;
            let errors = failure.detail.as_deref().unwrap_or(&failure.message);
            let first = errors.lines().find(|l| l.contains("error:")).unwrap_or(&failure.message);
            Err(unusable(format!("the program with the checks of the witness does not compile: {first}")))
        }
        Err(failure) => Err(failure),
    }
}

/// Validates a violation witness. In the first attempt, the condition of each waypoint must hold at the first visit of
/// the waypoint. If no violation follows the witness in this way, the second attempt accepts any visit. If the violation
/// is at another place than the target, the last attempt ignores violations before the statement of the target.
fn violation(entry: &Entry, job: &Job, args: &ValidateArgs, start: Instant) -> Result<Report, Failure> {
    let Content::Segments(segments) = &entry.content else {
        return Err(unusable("a violation_sequence consists of segments"));
    };
    if weave::is_lasso(entry) {
        return lasso(entry, job, args, start);
    }
    let target = segments.last().and_then(|s| s.segment.last()).map(|item| &item.waypoint);
    let Some(target) = target.filter(|w| w.kind == "target") else {
        return Err(unusable("the last waypoint of the witness is no target"));
    };
    let places = Places::new(&job.load.files()).map_err(|e| Failure::new(exit::NO_INPUT, e.to_string()))?;
    let compare = |(mut report, woven): (Report, Woven)| {
        let why = match &report.answer {
            Answer::False(found) => deviation(found, &woven, target, segments.len(), &places, job),
            Answer::True => Some(NOT_FOLLOWED),
            Answer::Unknown { .. } => None,
        };
        if matches!(report.answer, Answer::False(_)) {
            // The report has the answer of the validation only, not the checks that were decided on the way to it.
            report.checks.clear();
        }
        match (why, &mut report.answer) {
            (Some(why), answer) => *answer = Answer::unknown(why),
            (None, Answer::False(found)) => found.trace.iter_mut().for_each(|t| unweave(t, &woven, &places)),
            _ => {}
        }
        (report, why)
    };
    let (mut report, mut why) = compare(verify(entry, job, &args.verify, Following::FirstVisit, start)?);
    if why == Some(NOT_FOLLOWED) {
        (report, why) = compare(verify(entry, job, &args.verify, Following::AnyVisit, start)?);
    }
    if why == Some(ELSEWHERE)
        && target.loose.is_none()
        && let Ok(verified) = verify(entry, job, &args.verify, Following::FirstVisitToTarget, start)
        && let (at_target, None) = compare(verified)
        && matches!(at_target.answer, Answer::False(_))
    {
        report = at_target;
    }
    Ok(report)
}

/// Returns how a violation deviates from its witness with `segments` segments. Returns `None` if it does not.
fn deviation(
    found: &Violation,
    woven: &Woven,
    target: &Waypoint,
    segments: usize,
    places: &Places,
    job: &Job,
) -> Option<&'static str> {
    match original(found, woven, places) {
        None if found.trace.is_none() => Some("no time was left to compare the violation found with the witness"),
        None => Some("the evaluation of a condition of the witness itself violates the property"),
        Some(spot) if !is_at(&spot, target, places) && !is_in_error(found, target, &spot, job) => Some(ELSEWHERE),
        Some(_) if passed(found) + 1 < segments => {
            Some("the property is violated before all waypoints of the witness are passed")
        }
        Some(_) => None,
    }
}

/// Validates a witness of an infinite execution: some execution must pass the stem, and then the cycle for ever.
fn lasso(entry: &Entry, job: &Job, args: &ValidateArgs, start: Instant) -> Result<Report, Failure> {
    if !job.is_termination_only() {
        return Err(unusable("the witness has a cycle, and the property is not termination"));
    }
    let Content::Segments(segments) = &entry.content else { unreachable!("it has a cycle") };
    let stem = weave::stem(segments);
    let (mut report, woven) = verify(entry, job, &args.verify, Following::Endlessly, start)?;
    let places = Places::new(&job.load.files()).map_err(|e| Failure::new(exit::NO_INPUT, e.to_string()))?;
    let none = "no infinite execution that follows the witness was found";
    match &mut report.answer {
        Answer::False(found) => {
            let spot = found.trace.as_ref().and_then(|t| t.spot.clone());
            let mut at = None;
            if let Some(spot) = &spot {
                let (file, line) = places.physical(spot);
                let files = job.load.files();
                if let Some(number) = files.iter().position(|f| *f == Path::new(&file)) {
                    let (Ok(column) | Err(column)) = woven.position(Path::new(&file), line, spot.column);
                    at = weave::loop_at(&files[number], line, column)?.map(|keyword| (number, keyword));
                }
            }
            if at.is_none() || at != woven.cycle {
                report.answer = Answer::unknown("the infinite execution is not in the loop of the witness's cycle");
            } else if passed(found) < stem {
                report.answer =
                    Answer::unknown("the waypoints before the cycle are not passed before the cycle starts");
            } else if found.may_leave_loop {
                report.answer = Answer::unknown("the loop of the cycle may be left");
            } else {
                found.trace.iter_mut().for_each(|t| unweave(t, &woven, &places));
            }
        }
        Answer::True => report.answer = Answer::unknown(none),
        Answer::Unknown { .. } => {}
    }
    report.checks.clear();
    Ok(report)
}

/// Returns the location of the violation in the original program. Returns `None` if the location is in added text, or
/// if the violation has no trace or no location.
fn original(found: &Violation, woven: &Woven, places: &Places) -> Option<Spot> {
    let mut spot = found.trace.as_ref()?.spot.clone()?;
    let (file, line) = places.physical(&spot);
    spot.column = woven.original_column(Path::new(&file), line, spot.column)?;
    Some(spot)
}

/// Removes the steps of the instrumentation from a trace, except for inputs, and restores the original columns.
fn unweave(trace: &mut Trace, woven: &Woven, places: &Places) {
    let own = |spot: &mut Spot| {
        let (file, line) = places.physical(spot);
        let column = woven.original_column(Path::new(&file), line, spot.column);
        spot.column = column.unwrap_or(0);
        column.is_some()
    };
    let mut steps = std::mem::take(&mut trace.steps);
    let mut number = 0;
    let cut = trace.cut;
    steps.retain_mut(|step| {
        let is_own = step.spot.as_mut().is_none_or(own);
        if let Event::Input { into, .. } = &mut step.event {
            into.take_if(|into| into.as_str() == weave::RESULT);
        }
        trace.cut -= usize::from(!is_own && number < cut);
        number += 1;
        is_own || matches!(step.event, Event::Input { .. })
    });
    trace.steps = steps;
    if let Some(spot) = &mut trace.spot {
        own(spot);
    }
}

/// Returns the number of segments that the violation has passed, which is the last value of the counter in the trace.
fn passed(found: &Violation) -> usize {
    let steps = found.trace.as_ref().map_or(&[][..], |t| &t.steps);
    let last = steps.iter().rev().find_map(|step| match &step.event {
        Event::Assign { target, value } if target == weave::SEGMENT => Some(value.trim_end_matches(['u', 'U'])),
        _ => None,
    });
    last.and_then(|value| value.parse().ok()).unwrap_or(0)
}

/// Returns true if the spot is on the lines of the target, and in the statement of the target if the target has a
/// column.
fn is_at(spot: &Spot, target: &Waypoint, places: &Places) -> bool {
    let is_one = |line: u32| match &target.loose {
        Some(Loose { lines: None, .. }) => true,
        Some(Loose { lines: Some((first, last)), .. }) => (*first..=*last).contains(&line),
        None => line == target.location.line,
    };
    let point = (target.location.line, target.location.column.unwrap_or(0));
    let is_exact = target.loose.is_none() && target.location.column.is_some();
    (is_one(places.statement_line(spot)) || is_one(places.physical(spot).1))
        && !(is_exact && places.is_in_another_statement(spot, point))
}

/// Returns true if the target is in the body of the called error function, because some tools report the violation
/// there. Also returns true in the opposite case: the last step calls a function, and the violation is in its body.
fn is_in_error(found: &Violation, target: &Waypoint, spot: &Spot, job: &Job) -> bool {
    let location = &target.location;
    let named = |path: &&std::path::PathBuf| path.file_name() == Path::new(&location.file_name).file_name();
    let Some(text) = job.load.files().iter().find(named).and_then(|path| std::fs::read_to_string(path).ok()) else {
        return false;
    };
    let source = Source::new(&text);
    let line_of = |at: usize| text[..at].matches('\n').count() as u32 + 1;
    let has = |item: &Item, name: &str, line: u32| match item {
        Item::Function { span, name: its, .. } => {
            let bytes = source.bytes(span);
            source.word(*its) == name && (line_of(bytes.start)..=line_of(bytes.end)).contains(&line)
        }
        _ => false,
    };
    // The message starts with the C name, or with `NAME (symbol SYMBOL)`.
    let mut words = found.message.split([' ', '(', ')']);
    let is_error = words.any(|word| job.error_functions.iter().any(|name| name == word));
    let called = found.message.split(' ').next().unwrap_or_default();
    let entered = target.called.as_deref();
    source.items.iter().any(|item| {
        is_error && has(item, called, location.line) || entered.is_some_and(|name| has(item, name, spot.line))
    })
}

/// Validates a correctness witness. A violation of the program or of an invariant gives `UNKNOWN`.
fn correctness(entry: &Entry, job: &Job, args: &ValidateArgs, start: Instant) -> Result<Report, Failure> {
    let invariants = match &entry.content {
        Content::Invariants(all) => all.as_slice(),
        Content::Segments(none) if none.is_empty() => &[],
        Content::Segments(_) => return Err(unusable("an invariant_set consists of invariants")),
    };
    let (mut report, woven) = verify(entry, job, &args.verify, Following::AnyVisit, start)?;
    if let Answer::False(found) = &report.answer {
        report.answer = match broken(found, invariants.len()) {
            Some(number) => {
                let invariant = &invariants[number].invariant;
                let Location { file_name, line, column, .. } = &invariant.location;
                let column = column.map_or_else(String::new, |c| format!(":{c}"));
                let text = format!("the invariant `{}` does not hold at {file_name}:{line}{column}", invariant.value);
                Answer::unknown(text)
            }
            None => {
                let places = Places::new(&job.load.files()).map_err(|e| Failure::new(exit::NO_INPUT, e.to_string()))?;
                Answer::unknown(match original(found, &woven, &places) {
                    Some(_) => "the program violates the property",
                    None => "the evaluation of an invariant of the witness itself violates the property",
                })
            }
        };
    }
    Ok(report)
}

/// Returns the number of the invariant that a violation is about. Returns `None` if it is about none of them.
fn broken(found: &Violation, invariants: usize) -> Option<usize> {
    (0..invariants).find(|n| found.message.starts_with(&format!("{INVARIANT}{n} ")))
}

/// The result of checking a correctness witness.
pub enum Checked {
    /// The program and all invariants are proved.
    Holds,
    /// The invariant with this number does not hold.
    Broken(usize),
    /// There is neither a proof nor an invariant that does not hold.
    Unknown,
}

/// Checks a correctness witness that Proviso has written. `Err` if the verification fails or the witness cannot be
/// added to the program.
pub fn check(entry: &Entry, job: &Job, args: &VerifyArgs) -> Result<Checked, Failure> {
    let Content::Invariants(invariants) = &entry.content else { return Ok(Checked::Unknown) };
    let (report, _) = verify(entry, job, args, Following::AnyVisit, Instant::now())?;
    Ok(match &report.answer {
        Answer::True => Checked::Holds,
        Answer::False(found) => broken(found, invariants.len()).map_or(Checked::Unknown, Checked::Broken),
        Answer::Unknown { .. } => Checked::Unknown,
    })
}
