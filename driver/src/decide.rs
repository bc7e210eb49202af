//! One question about a program: slicing, cache, analyses, and the description of the verdict.

use crate::cache::CacheFile;
use crate::cooperation::cooperate;
use crate::cooperation::knowledge::Known;
use crate::evidence::blame;
use crate::evidence::report_data::ReportData;
use crate::evidence::reproduction::Reproduction;
use crate::evidence::wording::{facts, is_internal};
use crate::panics;
use crate::proved::describe_proof;
use crate::remedies::Obstacle;
use crate::report::{Answer, Increment, Note, Proved, TARGETS_OF_ARGUMENTS, Undecided, Undefined, Violation};
use crate::session::{Finished, REPLAY, Session, others};
use crate::source::Sources;
use crate::trace::{self, elsewhere, lost, passed, smaller};
use cfa::{CallGraph, Check, FunctionOrigin, Program};
use engine::{Counterexample, Reason, Verdict};
use instrument::Site;
use std::collections::BTreeMap;

/// A verdict, with the data for its description.
pub struct Decided {
    /// The result so far.
    pub finished: Finished,
    outcome: engine::Outcome,
    slice: Option<slicer::Slice>,
    /// True if the outcome is about the slice.
    is_of_slice: bool,
}

impl Decided {
    /// Describes the proof. The description is empty for a verdict other than TRUE.
    pub fn describe_proof(&self, session: &Session, program: &Program) -> Proved {
        describe_proof(session, program, &self.outcome, self.slice.as_ref(), self.analysed(program))
    }

    fn analysed<'a>(&'a self, program: &'a Program) -> &'a Program {
        self.slice.as_ref().filter(|_| self.is_of_slice).map_or(program, |slice| &slice.program)
    }
}

/// Decides whether an error of the program is reachable, and describes the verdict.
pub fn decide_and_describe(
    session: &Session,
    program: &Program,
    cache_file: Option<&CacheFile>,
    known: Known,
) -> Finished {
    let decided = decide(session, program, cache_file, known);
    let proved = decided.describe_proof(session, program);
    Finished { proved, ..decided.finished }
}

/// Decides whether an error of the program is reachable.
pub fn decide(session: &Session, program: &Program, cache_file: Option<&CacheFile>, known: Known) -> Decided {
    if program.starts_threads() {
        return decide_threads(session, program);
    }
    let slice = match session.plan.is_none() {
        true => session.stage("slicing", "slicing", || session.slice(program)),
        // Each part of the paths has its own slice.
        false => None,
    };
    let undefined = undefined(program, slice.as_ref().map_or(program, |s| &s.program), &session.job.error_functions);
    record_undefined(session, undefined);
    if session.records.report_data {
        // If there are several questions, they record their checked sites themselves.
        let is_only = session.shared().checks.is_empty();
        let property = |check| session.job.violated_property(check).to_owned();
        let property = is_only.then_some(&property as &dyn Fn(cfa::Check) -> String);
        let report_data = ReportData::collect(program, slice.as_ref(), property, &Sources::new());
        session.shared().report_data.absorb(report_data);
    }
    let kept = session.stage("asking the cache", "cache", || {
        cache_file.and_then(|file| file.outcome(program, session.share_of_time(REPLAY)))
    });
    let is_new = kept.is_none();
    // These are the obstacles if the run ends during the analysis.
    let analysed = slice.as_ref().map_or(program, |slice| &slice.program);
    let obstacles = panics::guarded(|| Obstacle::find(analysed, &Sources::new())).unwrap_or_default();
    let before = std::mem::replace(&mut session.shared().obstacles, obstacles);
    let (outcome, is_of_slice) = session.stage("the analysis", "analysis", || match kept {
        Some(kept) => {
            session.shared().count("from_cache", 1.0);
            (kept, true)
        }
        None if !session.plan.is_none() => (cooperate(session, program, known), false),
        None => analyse(session, program, slice.as_ref()),
    });
    session.reach(program, &outcome);
    if !matches!(outcome.verdict, Verdict::Unknown(_)) {
        session.shared().obstacles = before;
    }
    if let Some(file) = cache_file.filter(|_| is_new && session.plan.is_none()) {
        let stored = session.afterwards("storing the verdict in the cache", "cache", || Some(file.store(&outcome)));
        session.shared().warn_of_cache(stored.unwrap_or(Ok(())));
    }
    session.shared().engine = Some(outcome.stats);
    in_words(session, program, Decided { finished: Finished::new(Answer::True), outcome, slice, is_of_slice })
}

/// Records the undefined functions, and the assumption about them if one is called. The assumption may also be the
/// reason why a call does not matter. A call matters if it matters for one of the questions.
fn record_undefined(session: &Session, undefined: Vec<Undefined>) {
    if undefined.iter().any(|f| f.calls > 0) {
        let assumption = session.job.assumption_of_undefined().map(str::to_owned);
        session.shared().assume(assumption);
    }
    let recorded = &mut session.shared().undefined;
    for function in undefined {
        match recorded.iter_mut().find(|f| f.name == function.name) {
            Some(known) => {
                known.relevant = known.relevant.max(function.relevant);
                known.calls = known.calls.max(function.calls);
            }
            None => recorded.push(function),
        }
    }
}

/// Decides whether an error of a program with threads is reachable.
fn decide_threads(session: &Session, program: &Program) -> Decided {
    record_undefined(session, undefined(program, program, &session.job.error_functions));
    let outcome = session.stage("exploring interleavings", "analysis", || {
        engine::threads::verify(program, &session.budget, session.limits.left())
    });
    session.reach(program, &outcome);
    session.shared().engine = Some(outcome.stats);
    let finished = Finished::new(Answer::True);
    in_words(session, program, Decided { finished, outcome, slice: None, is_of_slice: false })
}

/// Turns the engine's outcome into a result: the answer, the remarks, and the site of a violation.
fn in_words(session: &Session, program: &Program, mut decided: Decided) -> Decided {
    let sources = Sources::new();
    let outcome = &decided.outcome;
    let analysed = decided.analysed(program);
    if session.records.report_data {
        session.afterwards("collecting the explored states", "exhibits", || {
            session.shared().report_data.add_explored(analysed, &outcome.coverage, &outcome.arg, &sources);
        });
    }
    let note = |reason: &Reason| Note {
        text: reason.text.clone(),
        spot: reason.place.and_then(|p| sources.spot(program, blame::users_place(program, p))),
    };
    let notes = outcome.reasons.iter().map(note).collect();
    let increment = |l: &engine::Increment| Increment {
        // The code of library models is not the program's.
        spot: l.goal.and_then(|p| sources.spot(analysed, p)).filter(|spot| !is_internal(&spot.path)),
        tracked: facts(&l.tracked),
    };
    let increments = outcome.increments.iter().map(increment).collect();
    let is_decided = !matches!(outcome.verdict, Verdict::Unknown(_));
    let answer = match &outcome.verdict {
        Verdict::True => Answer::True,
        Verdict::Unknown(reason) => {
            let Note { text, spot } = note(reason);
            Answer::Unknown(Undecided { kind: reason.kind, text, spot })
        }
        Verdict::False(found) => explain(session, program, found, &sources),
    };
    let site = match &outcome.verdict {
        // Data races and deadlocks have no site of their own.
        Verdict::False(found) if matches!(program.errors[found.error].check, Check::DataRace | Check::Deadlock) => None,
        Verdict::False(found) => Site::of_path(program, &found.path, found.error)
            .map(|site| site.at_origin(program, &found.inputs, engine::replay_limits(session.share_of_time(REPLAY)))),
        _ => None,
    };
    let external = session.shared().external;
    let decided_by = is_decided.then(|| external.unwrap_or(outcome.decided_by.name()));
    let proof = outcome.proof.as_ref().map(ToString::to_string);
    let has_crashed = outcome.has_crashed();
    let proved_part = session.plan.proves_part(outcome);
    let crashes = outcome.crashes.iter().map(|c| (c.analysis.name(), panics::with_place(&c.message))).collect();
    let finished = Finished {
        answer,
        notes,
        decided_by,
        proof,
        turns: std::mem::take(&mut decided.outcome.turns),
        increments,
        rankings: Vec::new(),
        graph: std::mem::take(&mut decided.outcome.arg),
        crashes,
        has_crashed,
        proved_part,
        proved: Proved::default(),
        site,
    };
    if is_decided {
        session.keep(&finished);
    }
    decided.finished = finished;
    decided
}

/// Runs the analysis. Returns the outcome, and true if it is about the slice. If the slice does not suffice, the
/// outcome is about the whole program.
fn analyse(session: &Session, program: &Program, slice: Option<&slicer::Slice>) -> (engine::Outcome, bool) {
    let outcome =
        session.ask(program, program, slice, &session.config, &session.budget, others(&session.config).as_ref());
    if slice.is_some() && matches!(outcome.verdict, Verdict::Unknown(_)) && session.budget.spent().is_none() {
        // The slice does not suffice. For example, it may lack a loop without end that keeps the program from the
        // error.
        let (mut of_whole, _) = analyse(session, program, None);
        // The same defect is reported once.
        let before: Vec<_> = outcome.crashes.into_iter().filter(|c| !of_whole.crashes.contains(c)).collect();
        of_whole.crashes.extend(before);
        return (of_whole, false);
    }
    (outcome, true)
}

/// Explains a confirmed violation: replays it, on smaller inputs if some are found, and records the trace.
fn explain(session: &Session, program: &Program, found: &Counterexample, sources: &Sources) -> Answer {
    let error = &program.errors[found.error];
    let property = session.job.violated_property(error.check).to_owned();
    let mut violation = Violation::new(property, error.message.clone());
    session.shared().violation = Some(violation.clone());
    let time = engine::replay_limits(session.share_of_time(smaller::TIME));
    let smaller = || match program.starts_threads() {
        true => None,
        false => {
            let inputs = smaller::inputs(program, &found.inputs, found.error, time);
            let inputs = smaller::environment(program, &inputs, found.error, sources, time);
            Some(smaller::printable(program, &inputs, found.error, sources, time))
        }
    };
    let inputs = &session.afterwards("looking for smaller inputs", "smaller_inputs", smaller);
    let inputs = inputs.as_ref().unwrap_or(&found.inputs);
    let recorded =
        session.afterwards("replaying the violation", "trace", || Some(trace::record(program, inputs, sources)));
    let Some(recorded) = recorded else { return Answer::False(Box::new(violation)) };
    match recorded {
        Ok(mut trace) => {
            // Constructors run before the entry function, and nothing else calls them.
            let entry = &session.job.load.entry;
            trace.arguments.take_if(|call| entry == "main" || call.function != *entry);
            if trace.arguments.is_some() && session.job.load.entry_memory.globals {
                let doubt = "global variables have initial values that differ from those in C";
                trace.environment.doubts.push(doubt.into());
            }
            let time = engine::replay_limits(session.share_of_time(REPLAY));
            let is_threaded = program.starts_threads();
            if !is_threaded && elsewhere::differs_by_literals(program, inputs, found.error, time) {
                let doubt = "it depends on which string literals share memory, which C leaves open (C17, 6.4.5p7)";
                trace.environment.doubts.push(doubt.into());
            }
            let is_before_global = |object: &trace::Object| {
                matches!(object.kind, cfa::interp::ObjectKind::Global { .. }) && object.offset < 0
            };
            if trace.object.as_ref().is_some_and(is_before_global) {
                let doubt = "AddressSanitizer does not detect all accesses before a global variable";
                trace.environment.doubts.push(doubt.into());
            }
            if session.records.reproduction && is_threaded && trace.schedule.is_none() {
                session
                    .shared()
                    .warnings
                    .push("the harness provides only inputs: the system schedules the threads".into());
            }
            if session.records.reproduction && session.shared().reproduction.is_none() {
                let spot = trace.spot.as_ref().map_or_else(String::new, |s| format!(" at {s}"));
                let of = format!("of the violation{spot}: {}", trace.message);
                let sanitizer = error.check.sanitizer();
                let reproduction = Reproduction::new(&session.job, program, trace.clone(), of, sanitizer);
                session.shared().reproduction = Some(reproduction);
            }
            let time = engine::replay_limits(session.share_of_time(REPLAY));
            violation.passed = passed::passed(program, inputs, &session.continuations, sources, time);
            violation.depends_on_addresses = !is_threaded && elsewhere::differs(program, inputs, found.error, time);
            violation.message.clone_from(&trace.message);
            if error.check == Check::Memtrack
                && !is_threaded
                && let Some(object) = &mut trace.object
            {
                let limits = engine::replay_limits(session.share_of_time(REPLAY));
                object.lost = lost::place(program, inputs, found.error, sources, limits);
            }
            violation.trace = Some(trace);
        }
        // The engine's replay succeeded, so this is a limit of the second replay.
        Err(outcome) => session.shared().warnings.push(format!("the trace is incomplete: in the replay, {outcome}")),
    }
    Answer::False(Box::new(violation))
}

/// Returns the functions without a definition, each with the number of its calls and the number of its calls in the
/// analysed part.
fn undefined(program: &Program, analysed: &Program, errors: &[String]) -> Vec<Undefined> {
    let is_undefined = |f: &cfa::Function| {
        let is_error = errors.iter().any(|name| f.is_named(name));
        f.origin == FunctionOrigin::Undefined && !is_error && !frontend_llvm::is_known(&f.name)
    };
    let calls = |program: &Program| {
        let mut calls: BTreeMap<String, usize> = BTreeMap::new();
        let graph = CallGraph::new(program);
        for (id, func) in program.funcs.iter().filter(|(_, f)| is_undefined(f)) {
            let reached = graph.callers(id).filter(|&edge| graph.is_reachable(program.func_of(edge))).count();
            let name = if func.name == frontend_llvm::GIVEN { TARGETS_OF_ARGUMENTS } else { &func.name };
            *calls.entry(name.to_owned()).or_default() += reached;
        }
        calls
    };
    let relevant = calls(analysed);
    let all = calls(program).into_iter().filter(|(_, calls)| *calls > 0);
    all.map(|(name, calls)| Undefined { relevant: relevant.get(&name).copied().unwrap_or(0), name, calls }).collect()
}
