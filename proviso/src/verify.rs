//! `proviso verify`: runs a verification under limits, from the command line to the verdict.

mod evidence;

use crate::args::{MessageFormat, VerifyArgs};
use crate::crash;
use crate::findings::{self, Findings};
use crate::output::{self, Colors};
use crate::pixel_tree::Format;
use crate::render;
use crate::run::execute;
use crate::validate::confirm;
use crate::{harness, json, witness};
use driver::Outcome;
use driver::failure::{Failure, exit};
use driver::files::{Outputs, STDOUT};
use driver::input::project::Database;
use driver::job::Job;
use driver::panics;
use driver::report::{Answer, Note, Report, Undefined};
use driver::source::Sources;
use driver::task::Otherwise;
use engine::Analysis;
use evidence::Evidence;
use frontend_llvm::UndefinedFunctions;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The maximal number of undefined functions whose definitions are searched in a project.
const MAX_SEARCHED: usize = 100;

/// Runs the command and returns the exit code.
pub fn run(args: &VerifyArgs, colors: Colors) -> u8 {
    if args.list_analyses {
        let width = Analysis::all().map(|(_, name, _)| name.len()).max().unwrap_or_default();
        let list: Vec<String> = Analysis::all()
            .map(|(_, name, what)| format!("{name:<width$} {}\n", what.replace('\n', &format!("\n{:width$} ", ""))))
            .collect();
        let printed = output::print(&list.concat());
        return printed.map_or_else(|failure| output::failure(&failure, colors), |()| exit::TRUE);
    }
    attempt(args, colors).unwrap_or_else(|failure| output::failure(&failure, colors))
}

fn attempt(args: &VerifyArgs, colors: Colors) -> Result<u8, Failure> {
    let start = Instant::now();
    let parts = args.cooperation_options();
    let otherwise = if parts.is_empty() { Otherwise::Everything } else { Otherwise::Assertions };
    let job = Arc::new(args.job(otherwise)?);
    if let (Some(option), true) = (parts.first(), job.is_exhaustive || job.questions.len() > 1) {
        return Err(Failure::usage(format!("{option} is for one property (--property)")));
    }

    // The format of a picture depends on its file name. A wrong name is an error before the run.
    args.pixel_tree.as_ref().map(|path| Format::from_path(path)).transpose()?;
    let outputs = Outputs::new(args.outputs());
    outputs.check(args.files.iter().chain(&job.files_read).map(PathBuf::as_path))?;
    let findings = Arc::new(Mutex::new(Findings::new(args, colors)));
    let outcome = execute(&job, args, &outputs, start, Some(findings.clone()))?;
    let Outcome { mut report, reproduction, condition, gia, report_data, graph, code } = outcome;
    if let Some(reproduction) = &reproduction {
        let not_passed = harness::not_passed(&reproduction.trace, reproduction.ilp32).into_iter();
        let warning = |what| Note { text: format!("the harness cannot provide {what}"), spot: None };
        report.warnings.extend(not_passed.map(warning));
    }
    // No failure while files are written can change the verdict.
    crash::reached(&report.answer);
    for warning in &report.warnings {
        output::warning_at(&warning.text, warning.spot.clone(), colors);
    }
    if !report.undefined.is_empty() {
        let unknown = job.load.undefined_functions == UndefinedFunctions::Taint;
        output::note(&render::undefined(&report.undefined, unknown), colors);
        defined_elsewhere(&report.undefined, args, colors);
    }
    for assumption in &report.assumptions {
        output::note(&format!("assumed: {assumption}"), colors);
    }
    let is_confirmed = (args.witness.is_some() || args.graphml.is_some()) && parts.is_empty() && !job.is_exhaustive;
    let confirmed = is_confirmed
        && panics::guarded(|| confirm::confirm(&mut report, &witness::Task::from_job(&job), &job, args, start))
            .inspect_err(|what| output::warning(&format!("the witness is not confirmed: {what}"), colors))
            .is_ok();
    if !confirmed {
        report.invariants.iter_mut().for_each(|i| i.conditions.retain(|c| !c.in_doubt));
    }
    report.invariants.retain(|i| !i.conditions.is_empty());
    // The text of the harness has the commands that build it.
    let harness = args.harness.as_deref().zip(reproduction.as_ref()).and_then(|(path, reproduction)| {
        panics::guarded(|| harness::named(&harness::compose(reproduction), path)).ok()
    });
    let report = Arc::new(report);
    let (args, job) = (args.clone(), job.clone());
    let evidence = Evidence {
        report: report.clone(),
        reproduction,
        condition,
        gia,
        report_data,
        graph,
        args: args.clone(),
        job: job.clone(),
        colors,
    };
    evidence.write(start);
    let findings = findings.lock().unwrap_or_else(PoisonError::into_inner);
    publish(&report, harness.as_deref(), &args, &job, &findings, colors).map(|()| code)
}

/// Prints a note about the files of the project that define functions which the program lacks.
fn defined_elsewhere(undefined: &[Undefined], args: &VerifyArgs, colors: Colors) {
    let Some(database) = args.input.build.as_deref().and_then(|build| Database::read(build).ok()) else { return };
    let relevant = undefined.iter().filter(|f| f.relevant > 0).take(MAX_SEARCHED);
    let files = database.files_that_define(&relevant.map(|f| f.name.as_str()).collect::<Vec<_>>());
    let here = std::env::current_dir().unwrap_or_default();
    let shown: Vec<String> = files
        .iter()
        .map(|(path, function)| format!("{} (`{function}`)", path.strip_prefix(&here).unwrap_or(path).display()))
        .collect();
    if !shown.is_empty() {
        output::note(&format!("the project defines some of them in files to add: {}", shown.join(", ")), colors);
    }
}

/// Prints the report and then the verdict line. The verdict line is printed even if the report is not. A quiet run with
/// JSON on standard output prints only JSON, which contains the verdict. `Err` if standard output cannot be written.
fn publish(
    report: &Report,
    harness: Option<&str>,
    args: &VerifyArgs,
    job: &Job,
    findings: &Findings,
    colors: Colors,
) -> Result<(), Failure> {
    let json_on_stdout = args.json.as_deref() == Some(Path::new(STDOUT));
    let unwritten = |what: &str, why: String| {
        output::unwritten(&format!("{what} is not written: {why}"), colors);
        String::new()
    };
    let text = panics::guarded(|| shown(report, harness, args, job, findings, colors));
    let mut text = text.unwrap_or_else(|why| unwritten("the report", why));
    if json_on_stdout {
        output::print_error(&text);
        let json = panics::guarded(|| format!("{:#}\n", json::report(report)));
        text = json.unwrap_or_else(|why| unwritten("--json -", why));
    }
    let is_in_json = json_on_stdout && args.quiet && !text.is_empty();
    if crash::claim_verdict() {
        let line = match args.message_format {
            _ if is_in_json => String::new(),
            MessageFormat::Json => render::json_verdict(report),
            MessageFormat::Human | MessageFormat::Short => report.verdict_line() + "\n",
        };
        output::print(&(text + &line))?;
    }
    Ok(())
}

/// Returns the report in the format that the options select.
fn shown(
    report: &Report,
    harness: Option<&str>,
    args: &VerifyArgs,
    job: &Job,
    findings: &Findings,
    colors: Colors,
) -> String {
    if args.quiet {
        return String::new();
    }
    let on_stderr = args.json.as_deref() == Some(Path::new(STDOUT));
    let mut text = match args.message_format {
        _ if matches!(report.answer, Answer::False(_)) => findings.rest(&report.violations()),
        MessageFormat::Human => render::report(report, &Sources::new(), findings::layout(args, colors, on_stderr)),
        MessageFormat::Short => render::short(report),
        MessageFormat::Json => render::json_lines(report),
    };
    if args.message_format == MessageFormat::Human {
        text += &match (report.checks.len(), job.is_exhaustive) {
            (0 | 1, false) => String::new(),
            (0 | 1, true) => render::places(&report.checks),
            (_, false) => render::verdicts(&report.checks),
            (_, true) => render::table(&report.checks),
        };
    }
    if args.message_format == MessageFormat::Human {
        text += &match &report.answer {
            Answer::True if job.is_default && job.is_exhaustive => render::unchecked(&report.checks),
            Answer::False(violation) if violation.trace.is_some() => {
                render::conditional(report)
                    + &render::ends_at_first(report)
                    + &render::next_step(harness.zip(args.harness.as_deref()))
            }
            _ => String::new(),
        };
    }
    if args.explain || args.verbose {
        text += &render::slicing(report).unwrap_or_default();
    }
    if args.explain {
        text += &render::increments(report);
    }
    if args.stats {
        text += &render::statistics(report);
    }
    text
}
