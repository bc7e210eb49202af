//! `proviso verify`: from the command line to a verdict, under limits.

mod evidence;

use crate::args::{
    BlocksArg, CoveringArg, MessageFormat, PrecisionArg, PredicatesArg, SearchArg, SlicingArg, SolverArg, TraceArg,
    VerifyArgs,
};
use crate::cache::Cache;
use crate::cooperation::{self, Cooperation};
use crate::crash;
use crate::failure::{Failure, exit};
use crate::files::{Outputs, STDOUT};
use crate::html::Exhibits;
use crate::job::{Job, Otherwise};
use crate::limits::{self, End, Limits, Supervised};
use crate::output::{self, Colors};
use crate::pipeline::{Finished, Pipeline, Shared};
use crate::pixel_tree::Format;
use crate::progress::Progress;
use crate::render::{self, Detail};
use crate::report::{Answer, CheckResult, Note, Report, Rest};
use crate::source::{Sources, Spot};
use crate::witness;
use engine::Analysis;
use engine::budget::Budget;
use engine::domain::value::Sharing;
use engine::smt::{Choice, Kind};
use engine::waitlist::Search;
use evidence::Evidence;
use frontend_llvm::{DataModel, UndefinedFunctions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Runs the command; the exit code.
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
    let parts = Cooperation::options(args);
    let otherwise = if parts.is_empty() { Otherwise::Everything } else { Otherwise::Assertions };
    let job = Arc::new(Job::new(args, otherwise)?);
    if let (Some(option), true) = (parts.first(), job.is_exhaustive || job.asks.len() > 1) {
        return Err(Failure::usage(format!("{option} is for one property (--property)")));
    }

    // The format of a picture is that of its name.
    args.pixel_tree.as_ref().map(|path| Format::of(path)).transpose()?;
    let outputs = Outputs::new(args.outputs());
    outputs.check(args.files.iter().chain(&job.files_read).map(PathBuf::as_path))?;
    let verified = execute(&job, args, &outputs, start, true)?;
    let Verified { mut report, harness, condition, gia, exhibits, graph, code } = verified;
    // Nothing that is written takes the verdict back.
    crash::reached(&report.answer);
    for warning in &report.warnings {
        output::warning_at(&warning.text, warning.spot.clone(), colors);
    }
    if !report.undefined.is_empty() {
        let unknown = job.load.undefined_functions == UndefinedFunctions::Taint;
        output::note(&render::undefined(&report.undefined, unknown), colors);
    }
    for assumption in &report.assumptions {
        output::note(&format!("assumed: {assumption}"), colors);
    }
    let is_confirmed = (args.witness.is_some() || args.graphml.is_some()) && parts.is_empty() && !job.is_exhaustive;
    let confirmed = is_confirmed
        && crash::guarded(|| witness::confirm::confirm(&mut report, &job.witness_task(), &job, args, start))
            .map_err(|what| output::warning(&format!("the witness is not confirmed: {what}"), colors))
            .is_ok();
    if !confirmed {
        report.invariants.iter_mut().for_each(|i| i.conditions.retain(|c| !c.in_doubt));
    }
    report.invariants.retain(|i| !i.conditions.is_empty());
    let report = Arc::new(report);
    let (args, job) = (args.clone(), job.clone());
    let evidence = Evidence {
        report: report.clone(),
        harness,
        condition,
        gia,
        exhibits,
        graph,
        args: args.clone(),
        job: job.clone(),
        colors,
    };
    evidence.write(start);
    publish(&report, &args, &job, colors).map(|()| code)
}

/// What a verification comes to.
pub struct Verified {
    pub report: Report,
    pub harness: Option<String>,
    pub condition: Option<String>,
    pub gia: Option<String>,
    pub exhibits: Exhibits,
    pub graph: Vec<engine::arg::Shape>,
    pub code: u8,
}

/// Verifies under the limits of `args`, which count from `start`. `outputs` are files that no input may be.
///
/// `is_answer`: the verdict is that of the command, and stands as soon as it is reached.
pub fn execute(
    job: &Arc<Job>,
    args: &VerifyArgs,
    outputs: &Outputs,
    start: Instant,
    is_answer: bool,
) -> Result<Verified, Failure> {
    let memory = args.memory_limit.map_or_else(limits::default_memory, |mb| mb.saturating_mul(1 << 20));
    let grace = if args.save_condition.is_some() || args.knowledge.save_gia.is_some() {
        cooperation::GRACE
    } else {
        limits::GRACE
    };
    let limits = Limits { timeout: args.timeout, processor: args.cpu_limit, memory, start, grace };
    limits::limit_address_space(memory);
    crash::expect_verdict();

    let shared = Arc::new(Mutex::new(Shared { warnings: job.warnings.clone(), ..Shared::default() }));
    let budget = Budget::unlimited();
    let cancel = budget.cancel.clone();
    let pipeline = Pipeline { is_answer, ..pipeline(job, args, outputs, limits, &shared, budget)? };
    let mut progress = Progress::new(start, args.verbose);
    let tick = || {
        if let Ok(shared) = shared.try_lock() {
            progress.show(shared.phase, shared.engine.as_ref());
        }
    };
    let work = move || {
        // Shares of what is left are of the time that this thread works.
        let budget = limits.processor.map(|time| pipeline.budget.exerting(time));
        Pipeline { budget: budget.unwrap_or_else(|| pipeline.budget.clone()), ..pipeline }.run()
    };
    let supervised = limits::supervise(&limits, &cancel, tick, work);
    progress.clear();
    let mut shared = std::mem::take(&mut *shared.lock().unwrap_or_else(PoisonError::into_inner));

    let peak_memory = supervised.peak_memory;
    let (finished, code) = conclude(supervised, &mut shared)?;
    let mut checks = std::mem::take(&mut shared.checks);
    if checks.is_empty() {
        checks = vec![only_result(job, &finished.answer)];
    }
    let mut stats = shared.times;
    if let Some(engine) = shared.engine {
        stats.extend(engine.entries().into_iter().map(|(name, value)| (format!("analysis_{name}"), value)));
    }
    stats.push(("total_seconds".into(), start.elapsed().as_secs_f64()));
    stats.push(("peak_memory_mb".into(), (peak_memory >> 20) as f64));
    let mut report = Report {
        answer: finished.answer,
        checks,
        parts: shared.parts,
        properties: job.names(),
        files: job.load.files().iter().map(|f| f.display().to_string()).collect(),
        data_model: shared.data_model.or(job.load.data_model).unwrap_or(DataModel::Lp64).name(),
        analysis: args.analysis.clone(),
        decided_by: finished.decided_by,
        proof: finished.proof,
        nothing_checked: finished.proved.nothing_checked,
        unsatisfied_assumptions: finished.proved.unsatisfied_assumptions,
        assumed_writes: finished.proved.assumed_writes,
        assumptions: shared.assumptions,
        undefined: shared.undefined,
        warnings: Vec::new(),
        turns: finished.turns,
        increments: finished.increments,
        invariants: finished.proved.invariants,
        rankings: finished.rankings,
        notes: finished.notes,
        models: shared.models,
        stats,
    };
    let mut texts: Vec<String> = Vec::new();
    for warning in shared.warnings {
        if !texts.contains(&warning) {
            texts.push(warning);
        }
    }
    texts.extend(finished.crashes.iter().map(|(analysis, what)| {
        format!("the analysis `{analysis}` ended by an internal error: {what}\n  = note: {}", output::DEFECT)
    }));
    report.warnings = texts.into_iter().map(|text| Note { text, spot: None }).chain(vacuity(&report)).collect();
    let graph = finished.graph;
    Ok(Verified {
        report,
        harness: shared.harness,
        condition: shared.condition,
        gia: shared.gia,
        exhibits: shared.exhibits,
        graph,
        code,
    })
}

/// Warnings of a proof that says nothing of the program, or of a part of it.
fn vacuity(report: &Report) -> Vec<Note> {
    let excludes_all = report.nothing_checked.is_some();
    let text = match excludes_all {
        true => "nothing was checked: no execution satisfies the assumption",
        false => "no execution satisfies the assumption: the code behind it was not checked",
    };
    let at = |spot: &Spot| Note { text: text.into(), spot: Some(spot.clone()) };
    match (&report.unsatisfied_assumptions[..], &report.nothing_checked) {
        ([], Some(why)) => vec![Note { text: format!("nothing was checked: {why}"), spot: None }],
        (spots, _) => spots.iter().map(at).collect(),
    }
}

/// The stages with their options.
pub fn pipeline(
    job: &Arc<Job>,
    args: &VerifyArgs,
    outputs: &Outputs,
    limits: Limits,
    shared: &Arc<Mutex<Shared>>,
    budget: Budget,
) -> Result<Pipeline, Failure> {
    Ok(Pipeline {
        job: job.clone(),
        loader: Arc::default(),
        config: config(args)?,
        budget,
        limits,
        shared: shared.clone(),
        wants_harness: args.harness.is_some(),
        wants_exhibits: args.report.is_some(),
        wants_invariants: wants_invariants(args),
        outputs: outputs.clone(),
        slicing: match args.slicing {
            SlicingArg::Off => None,
            SlicingArg::Static => Some(slicer::Control::Standard),
            SlicingArg::Nontermination => Some(slicer::Control::DecisiveOrder),
        },
        cache: Cache::of(args)?,
        cooperation: Arc::new(Cooperation::of(args)?),
        is_answer: false,
    })
}

/// Whether something is written that tells what holds at loops.
fn wants_invariants(args: &VerifyArgs) -> bool {
    [&args.report, &args.witness, &args.graphml].into_iter().any(Option::is_some)
}

/// The result of what was asked alone.
fn only_result(job: &Job, answer: &Answer) -> CheckResult {
    let mut result =
        CheckResult::new(job.asks.iter().map(|a| a.name.clone()).collect::<Vec<_>>().join(", "), job.names());
    match answer {
        Answer::True => result.rest = Rest::Proved,
        Answer::False(violation) => {
            result.rest = Rest::NotAsked;
            result.violations.push((**violation).clone());
        }
        Answer::Unknown { reason, spot } => {
            result.rest = Rest::Unknown(Note { text: reason.clone(), spot: spot.clone() });
        }
    }
    result
}

pub fn config(args: &VerifyArgs) -> Result<engine::Config, Failure> {
    let Some(analysis) = Analysis::parse(&args.analysis) else {
        let names: Vec<&str> = Analysis::all().map(|(_, name, _)| name).collect();
        let message = format!("there is no analysis '{}'; analyses are {}", args.analysis, names.join(", "));
        return Err(Failure::usage(message));
    };
    let search = match args.search {
        SearchArg::Mixed => Search::Mixed,
        SearchArg::Dfs => Search::DepthFirst,
        SearchArg::Bfs => Search::BreadthFirst,
        SearchArg::RandomPath => Search::RandomPath,
        SearchArg::Coverage => Search::Coverage,
        SearchArg::Nearest => Search::Nearest,
    };
    let kind = match args.solver {
        SolverArg::Portfolio => Kind::Portfolio,
        SolverArg::Bitwuzla => Kind::Bitwuzla,
        SolverArg::Z3 => Kind::Z3,
        SolverArg::Both => Kind::Both,
    };
    let sharing = match args.precision {
        PrecisionArg::Scope => Sharing::Scope,
        PrecisionArg::Location => Sharing::Location,
    };
    Ok(engine::Config {
        analysis,
        jobs: args.jobs.max(1),
        search,
        seed: args.seed,
        solvers: Choice { kind, dump: args.dump_queries.clone() },
        wants_graph: args.pixel_tree.is_some() || args.report.is_some(),
        wants_agreements: wants_invariants(args),
        checks_explored: args.explain || args.report.is_some(),
        sharing,
        covers: args.covering == CoveringArg::On,
        value_threshold: args.value_threshold,
        abstracts_at_calls: args.blocks == BlocksArg::Calls,
        combines_predicates: args.predicates == PredicatesArg::Boolean,
        faults: args.fault.iter().filter_map(|name| Analysis::parse(name)).collect(),
        ..engine::Config::default()
    })
}

/// What there is to say after the worker ended one way or another, and the exit code.
fn conclude(supervised: Supervised<Result<Finished, Failure>>, shared: &mut Shared) -> Result<(Finished, u8), Failure> {
    // A violation that was confirmed stands, whatever happened afterwards.
    let mut rescued = shared.violation.take();
    if let Some(violation) = &rescued
        && let Some(check) = shared.checks.iter_mut().find(|c| c.properties.contains(&violation.property))
    {
        check.violations.push(violation.clone());
        rescued = None;
    }
    let rescued = rescued.map(|violation| Answer::False(Box::new(violation)));
    let unknown = |reason: String| Answer::Unknown { reason, spot: None };
    let stopped = supervised.stop.map(|stop| format!("{stop} during {}", shared.phase));
    let (mut finished, internal) = match (supervised.end, stopped) {
        (End::Done(Ok(mut finished)), None) => {
            let internal = finished.has_crashed;
            if let (true, Some((analysis, what))) = (internal, finished.crashes.first()) {
                let text = format!("internal error: {what}");
                output::internal_error(&format!("{text}, in the analysis `{analysis}`"));
                finished.answer = unknown(text);
                finished.crashes.remove(0);
            }
            (finished, internal)
        }
        (End::Done(Ok(mut finished)), Some(stopped)) => {
            if matches!(finished.answer, Answer::Unknown { .. }) {
                finished.answer = unknown(stopped);
            }
            (finished, false)
        }
        (End::Done(Err(failure)), None) if shared.reached.is_none() => return Err(failure),
        (end, stopped) => {
            let why = match end {
                End::Panicked(message) => Err(format!("internal error: {message}")),
                End::Done(Err(failure)) => Ok(stopped.unwrap_or(failure.message)),
                // A compiler that Ctrl-C killed is no error of the input.
                _ => Ok(stopped.unwrap_or_else(|| format!("memory ran out during {}", shared.phase))),
            };
            let (Ok(reason) | Err(reason)) = &why;
            match shared.reached.take() {
                Some(reached) => {
                    shared.warnings.push(format!("what was to be said of the verdict is not complete: {reason}"));
                    (reached, false)
                }
                None => {
                    if why.is_err() {
                        output::internal_error(reason);
                    }
                    (Finished::new(unknown(reason.clone())), why.is_err())
                }
            }
        }
    };
    if let (Answer::Unknown { .. }, Some(rescued)) = (&finished.answer, rescued) {
        finished.answer = rescued;
    }
    if !shared.checks.is_empty() {
        let sum = Answer::of(&shared.checks);
        // What was not come to has the reason for which the run ended.
        if !matches!(sum, Answer::Unknown { .. }) || !internal && matches!(finished.answer, Answer::True) {
            finished.answer = sum;
        }
    }
    let code = match finished.answer {
        Answer::True => exit::TRUE,
        Answer::False(_) => exit::FALSE,
        Answer::Unknown { .. } if internal => exit::INTERNAL,
        Answer::Unknown { .. } if finished.proved_part => exit::PROVED_PART,
        Answer::Unknown { .. } => exit::UNKNOWN,
    };
    Ok((finished, code))
}

/// Prints the report, the verdict line last, which is printed also where there is no report.
fn publish(report: &Report, args: &VerifyArgs, job: &Job, colors: Colors) -> Result<(), Failure> {
    let json_on_stdout = args.json.as_deref() == Some(Path::new(STDOUT));
    let unwritten = |what: &str, why: String| {
        output::warning(&format!("{what} is not written: {why}"), colors);
        String::new()
    };
    let text = crash::guarded(|| shown(report, args, job, colors.for_report(json_on_stdout)));
    let mut text = text.unwrap_or_else(|why| unwritten("the report", why));
    if json_on_stdout {
        output::print_error(&text);
        let json = crash::guarded(|| format!("{:#}\n", report.to_json()));
        text = json.unwrap_or_else(|why| unwritten("--json -", why));
    }
    if crash::claim_verdict() {
        output::print(&(text + &report.verdict_line() + "\n"))?;
    }
    Ok(())
}

/// The report as the options want it.
fn shown(report: &Report, args: &VerifyArgs, job: &Job, with_colors: bool) -> String {
    let detail = if args.trace == TraceArg::Full { Detail::Full } else { Detail::Short };
    let mut text = match args.message_format {
        MessageFormat::Human => render::report(report, &Sources::new(), detail, with_colors),
        MessageFormat::Short => render::short(report),
        MessageFormat::Json => render::json_lines(report),
    };
    if report.checks.len() > 1 && args.message_format == MessageFormat::Human {
        text += &match job.is_exhaustive {
            true => render::table(&report.checks),
            false => render::verdicts(&report.checks),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Stop;
    use crate::report::Violation;
    use std::time::Duration;

    /// However a run ends after its verdict, the verdict stands, and a warning says what is not complete.
    #[test]
    fn a_verdict_that_was_reached_stands() {
        let ends: [(fn() -> End<Result<Finished, Failure>>, Option<Stop>); 6] = [
            (|| End::Abandoned, Some(Stop::Timeout(Duration::from_secs(10)))),
            (|| End::Abandoned, Some(Stop::Processor(Duration::from_secs(10)))),
            (|| End::Abandoned, Some(Stop::Memory(1 << 30))),
            (|| End::Abandoned, Some(Stop::Interrupted)),
            (|| End::Panicked("a defect".into()), None),
            (|| End::Done(Err(Failure::data("what is written"))), None),
        ];
        let violation = || Answer::False(Box::new(Violation::new("unreach-call", "")));
        for (end, stop) in ends {
            for (answer, line, code) in
                [(Answer::True, "TRUE", exit::TRUE), (violation(), "FALSE(unreach-call)", exit::FALSE)]
            {
                let reached = Finished { decided_by: Some("symex"), ..Finished::new(answer) };
                let mut shared = Shared { phase: "describing loops", reached: Some(reached), ..Shared::default() };
                let supervised = Supervised { end: end(), stop, peak_memory: 0 };
                let (finished, its) = conclude(supervised, &mut shared).unwrap();
                assert_eq!((finished.answer.line().as_str(), its, finished.decided_by), (line, code, Some("symex")));
                assert!(shared.warnings.iter().any(|w| w.contains("is not complete: ")), "{:?}", shared.warnings);
            }
            let supervised = Supervised { end: end(), stop, peak_memory: 0 };
            let ended = conclude(supervised, &mut Shared::default());
            assert!(ended.is_err() || matches!(ended.unwrap().0.answer, Answer::Unknown { .. }));
        }
    }
}
