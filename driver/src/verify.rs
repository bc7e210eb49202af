//! A complete verification under its limits.

use crate::answer::answer;
use crate::cache::Cache;
use crate::config::Config;
use crate::cooperation;
use crate::evidence::report_data::ReportData;
use crate::evidence::reproduction::Reproduction;
use crate::failure::{Failure, exit};
use crate::files::Outputs;
use crate::job::{Job, Question};
use crate::limits::{self, Limits, Stop, Supervised, WorkEnd};
use crate::panics;
use crate::plan::Plan;
use crate::question;
use crate::remedies::{Obstacle, RemedyContext, remedies};
use crate::report::{Answer, CheckResult, Note, Report, Rest, Undecided, add_violation, resolve_assumptions};
use crate::session::{Finished, Observer, Session, Shared};
use crate::source::{STDIN, Spot, naming_standard_input};
use crate::vacuity::look_for_vacuity;
use cfa::Check;
use engine::budget::{Budget, Spent};
use engine::{Reason, ReasonKind};
use frontend_llvm::{DataModel, UndefinedFunctions};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The result of a verification.
pub struct Outcome {
    /// The verdict and its description.
    pub report: Report,
    /// The first violation in a form that can be reproduced natively, if the configuration requests it.
    pub reproduction: Option<Reproduction>,
    /// The verified paths, as the text of a condition file, if the configuration requests it.
    pub condition: Option<String>,
    /// The knowledge about the paths, as the text of a GIA file, if the configuration requests it.
    pub gia: Option<String>,
    /// The program as an HTML report shows it, if the configuration requests it.
    pub report_data: ReportData,
    /// The abstract states of the analysis that decided, if the configuration requests them.
    pub graph: Vec<engine::arg::ArgNode>,
    /// The exit code of the verdict.
    pub code: u8,
}

/// A verification of a job.
pub struct Verification<'a> {
    /// The program and the questions.
    pub job: &'a Arc<Job>,
    /// The configuration.
    pub config: &'a Config,
    /// The files that will be written. None of them may be an input.
    pub outputs: &'a Outputs,
    /// The time from which limits count.
    pub start: Instant,
    /// True if the verdict is the one that the user asked for. It is then final as soon as it is reached. False for an
    /// intermediate step.
    pub is_answer: bool,
    /// The observer of the run.
    pub observer: Arc<dyn Observer>,
}

impl Verification<'_> {
    /// Returns the limits of the run.
    pub fn limits(&self) -> Limits {
        let Config { timeout, cpu_limit, memory_limit, cooperation, .. } = self.config;
        let records_at_end = cooperation.save_condition.is_some() || cooperation.save_gia;
        let is_default = timeout.is_none() && cpu_limit.is_none();
        Limits {
            timeout: limits::wall_time(*timeout, is_default.then_some(limits::DEFAULT)),
            is_default,
            processor: *cpu_limit,
            memory: memory_limit.unwrap_or_else(limits::default_memory),
            start: self.start,
            grace: if records_at_end { cooperation::GRACE } else { limits::GRACE },
        }
    }

    /// Returns a session without results.
    ///
    /// # Errors
    /// `Err` if a file of the configuration cannot be read or is malformed.
    pub fn session(&self, budget: Budget) -> Result<Session, Failure> {
        let Config { engine, slicing, stops_at_first, timeout, cpu_limit, cooperation, records, .. } = self.config;
        let shared = Shared { warnings: self.job.warnings.clone(), ..Shared::default() };
        let limit = limits::wall_time(*timeout, None).into_iter().chain(*cpu_limit).min();
        Ok(Session {
            job: self.job.clone(),
            loader: Arc::default(),
            config: engine.clone(),
            budget,
            limits: self.limits(),
            shared: Arc::new(Mutex::new(shared)),
            records: *records,
            outputs: self.outputs.clone(),
            slicing: *slicing,
            continuations: Arc::default(),
            plan: Arc::new(Plan::new(cooperation, engine.seed, limit)?),
            cache: Cache::open(self.config)?,
            is_answer: self.is_answer,
            stops_at_first: *stops_at_first,
            observer: self.observer.clone(),
        })
    }

    /// Runs the verification. The report is complete whatever ends the run.
    ///
    /// # Errors
    /// `Err` if no verdict can be attempted: the program does not compile, a file cannot be read, or the question makes
    /// no sense.
    pub fn run(&self) -> Result<Outcome, Failure> {
        let budget = Budget::unlimited();
        let cancel = budget.cancel.clone();
        let (job, start) = (self.job, self.start);
        let session = self.session(budget)?;
        let (limits, shared) = (session.limits, session.shared.clone());
        let tick = || {
            if let Ok(shared) = shared.try_lock() {
                self.observer.progress(shared.phase, shared.engine.as_ref(), &shared.checks);
            }
        };
        let work = move || {
            // The budget counts the processor time of the thread that creates it, so the worker creates it.
            let budget = limits.processor.map(|time| session.budget.exerting(time));
            run(&Session { budget: budget.unwrap_or_else(|| session.budget.clone()), ..session })
        };
        let supervised = limits::supervise(&limits, &cancel, tick, work);
        let mut shared = std::mem::take(&mut *shared.lock().unwrap_or_else(PoisonError::into_inner));

        let peak_memory = supervised.peak_memory;
        let stop = supervised.stop;
        let (mut finished, code) = conclude(supervised, &mut shared, &*self.observer)?;
        if let (Answer::Unknown(undecided), Some(limit)) = (&mut finished.answer, limits.nearest())
            && undecided.text == Reason::spent(Spent::Time).text
        {
            // The run ended a moment before its limit, to write its results.
            *undecided = Undecided::at_limit(limit);
        }
        let mut checks = std::mem::take(&mut shared.checks);
        if let Some(stop) = stop {
            name_limit(&mut checks, &limits, stop);
        }
        let is_of_accesses = |question: &Question| question.checks.contains(&Check::Deref);
        if let Some(of_accesses) = job.questions.iter().position(is_of_accesses) {
            resolve_assumptions(&mut checks, of_accesses);
        }
        if checks.is_empty() {
            checks = vec![only_result(job, &finished.answer)];
        }
        let mut stats = shared.times;
        if let Some(engine) = shared.engine {
            stats.extend(engine.entries().into_iter().map(|(name, value)| (format!("analysis_{name}"), value)));
        }
        stats.push(("total_seconds".into(), start.elapsed().as_secs_f64()));
        stats.push(("peak_memory_mb".into(), (peak_memory >> 20) as f64));
        if shared.features.allocates && matches!(finished.answer, Answer::True) {
            shared.assumptions.extend(job.assumption_about_allocations());
        }
        let mut report = Report {
            answer: finished.answer,
            parts: shared.parts,
            properties: names(job, &checks),
            checks,
            files: job
                .load
                .named_files()
                .iter()
                .map(|f| naming_standard_input(&f.display().to_string(), STDIN))
                .collect(),
            data_model: shared.data_model.or(job.load.data_model).unwrap_or(DataModel::Lp64).name(),
            analysis: self.config.engine.analysis.name().to_owned(),
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
            notes: folded(finished.notes),
            help: Vec::new(),
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
            format!("the analysis `{analysis}` ended by an internal error: {what}\n  = note: {}", panics::DEFECT)
        }));
        report.warnings = texts.into_iter().map(|text| Note { text, spot: None }).chain(vacuity(&report)).collect();
        if matches!(report.answer, Answer::Unknown { .. }) {
            let limit = match (limits.timeout, limits.processor) {
                (Some(timeout), _) => Some((timeout.as_secs(), false)),
                (None, processor) => processor.map(|limit| (limit.as_secs(), true)),
            };
            let question = RemedyContext {
                entry: job.load.entry.clone(),
                limit,
                undefined_do_anything: job.load.undefined_functions == UndefinedFunctions::Taint,
                is_threaded: shared.features.starts_threads,
                takes_inputs: shared.features.takes_inputs,
                has_parts: shared.features.has_parts,
            };
            report.help = remedies(&report, &question, &shared.obstacles);
            report.notes.extend(shared.obstacles.iter().map(Obstacle::note));
        }
        let graph = finished.graph;
        Ok(Outcome {
            report,
            reproduction: shared.reproduction,
            condition: shared.condition,
            gia: shared.gia,
            report_data: shared.report_data,
            graph,
            code,
        })
    }
}

/// Answers the questions, and then checks whether the answer is vacuous.
fn run(session: &Session) -> Result<Finished, Failure> {
    let mut finished = match session.job.has_single_answer() {
        true => answer(session),
        false => question::run(session),
    }?;
    session.keep(&finished);
    if let Err(what) = panics::guarded(|| look_for_vacuity(session, &mut finished)) {
        session.warn_of_defect("checking whether executions satisfy the assumptions", &what);
    }
    Ok(finished)
}

/// Combines the results after the end of the worker, however it ended, and returns the exit code with them.
fn conclude(
    supervised: Supervised<Result<Finished, Failure>>,
    shared: &mut Shared,
    observer: &dyn Observer,
) -> Result<(Finished, u8), Failure> {
    // A confirmed violation stands, whatever happened afterwards.
    let mut rescued = shared.violation.take();
    if let Some(violation) = &rescued
        && let Some(check) = shared.checks.iter().position(|c| c.properties.contains(&violation.property))
    {
        add_violation(&mut shared.checks, check, violation.clone());
        rescued = None;
    }
    let rescued = rescued.map(|violation| Answer::False(Box::new(violation)));
    let stopped = supervised.stop.map(|stop| Undecided::new(stop.kind(), format!("{stop} during {}", shared.phase)));
    let (mut finished, internal) = match (supervised.end, stopped) {
        (WorkEnd::Done(Ok(mut finished)), None) => {
            let internal = finished.has_crashed;
            if let (true, Some((analysis, what))) = (internal, finished.crashes.first()) {
                let text = format!("internal error: {what}");
                observer.internal_error(&format!("{text}, in the analysis `{analysis}`"));
                finished.answer = Answer::Unknown(Undecided::new(ReasonKind::Stated, text));
                finished.crashes.remove(0);
            }
            (finished, internal)
        }
        (WorkEnd::Done(Ok(mut finished)), Some(stopped)) => {
            if matches!(finished.answer, Answer::Unknown { .. }) {
                finished.answer = Answer::Unknown(stopped);
            }
            (finished, false)
        }
        (WorkEnd::Done(Err(failure)), None) if shared.reached.is_none() => return Err(failure),
        (end, stopped) => {
            let why = match end {
                WorkEnd::Panicked(message) => {
                    Err(Undecided::new(ReasonKind::Stated, format!("internal error: {message}")))
                }
                WorkEnd::Done(Err(failure)) => {
                    Ok(stopped.unwrap_or_else(|| Undecided::new(ReasonKind::Stated, failure.message)))
                }
                // Ctrl-C may have killed the compiler. This is no error of the input.
                _ => Ok(stopped.unwrap_or_else(|| {
                    Undecided::new(ReasonKind::Memory, format!("memory ran out during {}", shared.phase))
                })),
            };
            let (Ok(reason) | Err(reason)) = &why;
            match shared.reached.take() {
                Some(reached) => {
                    shared.warnings.push(format!("the report on the verdict is incomplete: {}", reason.text));
                    (reached, false)
                }
                None => {
                    if why.is_err() {
                        observer.internal_error(&reason.text);
                    }
                    (Finished::new(Answer::Unknown(reason.clone())), why.is_err())
                }
            }
        }
    };
    if let (Answer::Unknown { .. }, Some(rescued)) = (&finished.answer, rescued) {
        finished.answer = rescued;
    }
    if !shared.checks.is_empty() {
        let sum = Answer::summarise(&shared.checks);
        // A question that was not reached has the reason for which the run ended.
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

/// Returns the names of the requested properties. The default question includes those of threads if the program starts
/// threads.
fn names(job: &Job, checks: &[CheckResult]) -> Vec<String> {
    let mut names = job.names();
    for name in checks.iter().filter(|check| check.is_of_threads).flat_map(|check| &check.properties) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Returns the check result of a run with one question.
fn only_result(job: &Job, answer: &Answer) -> CheckResult {
    let mut result =
        CheckResult::new(job.questions.iter().map(|a| a.name.clone()).collect::<Vec<_>>().join(", "), job.names());
    match answer {
        Answer::True => result.rest = Rest::Proved,
        Answer::False(violation) => {
            result.rest = Rest::NotAsked;
            result.violations.push((**violation).clone());
        }
        Answer::Unknown(undecided) => result.rest = Rest::Unknown(undecided.clone()),
    }
    result
}

/// The maximal number of listed places of notes with the same text.
const PLACES: usize = 3;

/// Folds notes with the same text: keeps the first of them, and adds the number of the others to the last one kept. A
/// note that another one at the same place contains is dropped.
fn folded(mut notes: Vec<Note>) -> Vec<Note> {
    let all = notes.clone();
    let says_more = |more: &Note, note: &Note| more.spot == note.spot && more.text.len() > note.text.len();
    notes.retain(|note| !all.iter().any(|more| says_more(more, note) && more.text.contains(&note.text)));
    let mut kept: Vec<Note> = Vec::new();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for note in notes {
        let count = counts.entry(note.text.clone()).or_default();
        *count += 1;
        if *count <= PLACES {
            kept.push(note);
        }
    }
    let mut last = HashSet::new();
    for note in kept.iter_mut().rev() {
        let more = counts[&note.text].saturating_sub(PLACES);
        if more > 0 && last.insert(note.text.clone()) {
            note.text += &format!(" (and in {more} more {})", if more == 1 { "place" } else { "places" });
        }
    }
    kept
}

/// Names the limit that ended the run in the results that were recorded in advance, with a limit of time.
fn name_limit(checks: &mut [CheckResult], limits: &Limits, stop: Stop) {
    for check in checks {
        let Rest::Unknown(undecided) = &mut check.rest else { continue };
        let rest = limits.times().find_map(|time| Some(undecided.text.strip_prefix(&time.to_string())?.to_owned()));
        if let Some(rest) = rest {
            *undecided = Undecided::new(stop.kind(), format!("{stop}{rest}"));
        }
    }
}

/// Returns warnings about a proof that says nothing about the program or a part of it.
fn vacuity(report: &Report) -> Vec<Note> {
    let excludes_all = report.nothing_checked.is_some();
    let text = match excludes_all {
        true => "nothing was checked: no execution satisfies the assumption",
        false => "no execution satisfies the assumption: the code after it was not checked",
    };
    let at = |spot: &Spot| Note { text: text.into(), spot: Some(spot.clone()) };
    match (&report.unsatisfied_assumptions[..], &report.nothing_checked) {
        ([], Some(why)) => vec![Note { text: format!("nothing was checked: {why}"), spot: None }],
        (spots, _) => spots.iter().map(at).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Violation;
    use std::time::Duration;

    #[test]
    fn notes_of_one_text_are_folded() {
        let note = |text: &str, line| {
            let spot = Some(Spot { path: "a.c".into(), line, column: 1 });
            Note { text: text.into(), spot }
        };
        let many = (1..=419).map(|line| note("it is spurious", line)).chain([note("another", 7)]).collect();
        let texts: Vec<String> = folded(many).into_iter().map(|note| note.text).collect();
        let expected = ["it is spurious", "it is spurious", "it is spurious (and in 416 more places)", "another"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn undecided_checks_name_the_limit_that_ended_the_run() {
        let (timeout, processor) = (Some(Duration::from_secs(9)), Some(Duration::from_secs(5)));
        let limits =
            Limits { timeout, is_default: false, processor, memory: 0, start: Instant::now(), grace: limits::GRACE };
        let texts = ["5 s of processor time before it was analysed", "timeout of 9 s", "an approximation"];
        let mut checks = texts.map(|text| CheckResult {
            rest: Rest::Unknown(Undecided::new(ReasonKind::Time, text)),
            ..CheckResult::new("null".to_owned(), Vec::new())
        });
        name_limit(&mut checks, &limits, Stop::Memory(7 << 20));
        let [first, second, third] = checks.map(|check| match check.rest {
            Rest::Unknown(undecided) => undecided.text,
            rest => panic!("{rest:?}"),
        });
        assert_eq!(first, "memory limit of 7 MB before it was analysed");
        assert_eq!((second.as_str(), third.as_str()), ("memory limit of 7 MB", "an approximation"));
    }

    /// The verdict stands however the run ends afterwards, and a warning reports the missing description.
    #[test]
    fn a_verdict_that_was_reached_stands() {
        type Ended = fn() -> WorkEnd<Result<Finished, Failure>>;
        let ends: [(Ended, Option<Stop>); 6] = [
            (|| WorkEnd::Abandoned, Some(Stop::Timeout(Duration::from_secs(10)))),
            (|| WorkEnd::Abandoned, Some(Stop::Processor(Duration::from_secs(10)))),
            (|| WorkEnd::Abandoned, Some(Stop::Memory(1 << 30))),
            (|| WorkEnd::Abandoned, Some(Stop::Interrupted)),
            (|| WorkEnd::Panicked("a defect".into()), None),
            (|| WorkEnd::Done(Err(Failure::data("what is written"))), None),
        ];
        let violation = || Answer::False(Box::new(Violation::new("unreach-call", "")));
        for (end, stop) in ends {
            for (answer, line, code) in
                [(Answer::True, "TRUE", exit::TRUE), (violation(), "FALSE(unreach-call)", exit::FALSE)]
            {
                let reached = Finished { decided_by: Some("symex"), ..Finished::new(answer) };
                let mut shared = Shared { phase: "describing loops", reached: Some(reached), ..Shared::default() };
                let supervised = Supervised { end: end(), stop, peak_memory: 0 };
                let (finished, its) = conclude(supervised, &mut shared, &()).unwrap();
                assert_eq!((finished.answer.line().as_str(), its, finished.decided_by), (line, code, Some("symex")));
                assert!(shared.warnings.iter().any(|w| w.contains("is incomplete: ")), "{:?}", shared.warnings);
            }
            let supervised = Supervised { end: end(), stop, peak_memory: 0 };
            let ended = conclude(supervised, &mut Shared::default(), &());
            assert!(ended.is_err() || matches!(ended.unwrap().0.answer, Answer::Unknown { .. }));
        }
    }
}
