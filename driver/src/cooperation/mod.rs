//! Verification of parts of a program's paths: ranges, and the residual paths of conditions, by one or several analyses
//! (`--range`, `--ranged`, `--resume`, `--then`, `--save-condition`).

mod analysed;
pub mod components;
pub mod knowledge;
mod ranges;
mod saving;
mod slices;

use crate::external::{self, Tool};
use crate::plan::{Plan, Second};
use crate::session::{REPLAY, Session, others};
use analysed::AnalysedProgram;
use cfa::{EdgeId, Program};
use components::component_cegar;
use cooperate::condition::Condition;
use cooperate::gia::{Gia, Says};
use engine::budget::Budget;
use engine::{Config, Outcome, Verdict};
use knowledge::{Known, check_claims};
use ranges::{verify_range, verify_ranged};
use saving::{add_part, budget_before_recording, save, save_after, tell_given};
use slices::{beside, slice_for};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The grace period of a worker that has to record its results when it is cancelled. On a busy machine a second may be
/// too short, and then all results would be lost.
pub const GRACE: Duration = Duration::from_secs(30);

/// Verifies the paths that the user selected, with the analyses that the user chose, and records the results for
/// further runs. Returns the outcome.
pub fn cooperate(session: &Session, program: &Program, known: Known) -> Outcome {
    if let Some(exchange) = &session.plan.components {
        return component_cegar(session, program, exchange, known.gia.as_ref());
    }
    let Plan { range, ranged, then, .. } = &*session.plan;
    if range.is_some() || ranged.is_some() {
        // This is the recorded result if the worker does not return in time.
        save(session, program, &Condition::nothing());
    }
    if let Some(bounds) = range {
        return verify_range(session, program, bounds);
    }
    if let Some(composition) = ranged {
        return verify_ranged(session, program, composition);
    }
    if let Some((path, _)) = &session.plan.resumed {
        let assumption = format!("the paths that {} covers are verified", path.display());
        session.shared().assumptions.push(assumption);
    }
    let budget = budget_before_recording(session);
    let gia = known.gia;
    let mut covered = known.covered.unwrap_or_else(Condition::nothing);
    // These are the recorded results if the worker does not return in time.
    save(session, program, &covered);
    tell_given(session, program, gia.as_ref());
    if let (Some((path, _)), Some(gia)) = (&session.plan.gia, &gia) {
        let name = path.display().to_string();
        if session.plan.trusts_gia && gia.has(Says::Unreachable) {
            let assumption = format!("the paths that are ut in {name} reach no error");
            session.shared().assumptions.push(assumption);
        }
        if let Some(outcome) = check_claims(session, program, gia, &name) {
            save_after(session, program, &outcome, &covered, &[], Some(gia));
            return outcome;
        }
    }
    let gia = gia.as_ref();
    let mut config = session.config.clone();
    if let Some((second, time)) = then {
        if !time.is_zero() {
            let begin = Instant::now();
            // The effort of a budget measures one thread only.
            let is_effort = session.limits.processor.is_some() && config.jobs == 1;
            let share = if is_effort { budget.exerting(*time) } else { budget.within(*time) };
            let (first, done, undecided) = analyse_uncovered(session, program, &covered, &config, &share, true);
            add_part(session, "all", first.decided_by.name(), &first, begin);
            if !matches!(first.verdict, Verdict::Unknown(_)) || budget.spent().is_some() {
                save_after(session, program, &first, &done, &undecided, gia);
                return first;
            }
            save(session, program, &done);
            covered = done;
        }
        match second {
            Second::Analysis(analysis) => config.analysis = *analysis,
            Second::External(tool) => return run_external(session, program, &covered, gia, tool, &budget),
        }
    }
    config.is_last = true;
    let begin = Instant::now();
    let (outcome, done, undecided) =
        analyse_uncovered(session, program, &covered, &config, &budget, session.plan.records_paths());
    if then.is_some() {
        add_part(session, "the remaining paths", outcome.decided_by.name(), &outcome, begin);
    }
    save_after(session, program, &outcome, &done, &undecided, gia);
    outcome
}

/// Runs an external tool on the paths that `covered` does not cover, and records the results. Returns the outcome.
fn run_external(
    session: &Session,
    program: &Program,
    covered: &Condition,
    gia: Option<&Gia>,
    tool: &Tool,
    budget: &Budget,
) -> Outcome {
    let begin = Instant::now();
    let residual = session.plan.residual(program, covered);
    let task = external::Task {
        original: program,
        error_functions: &session.job.error_functions,
        budget,
        memory: session.limits.memory,
        replay: session.share_of_time(REPLAY),
    };
    let outcome = tool.verify(&residual.program, &task);
    add_part(session, "the remaining paths", tool.name, &outcome, begin);
    if !matches!(outcome.verdict, Verdict::Unknown(_)) {
        session.shared().external = Some(tool.name);
    }
    if matches!(outcome.verdict, Verdict::True) {
        let text = format!("the proof of {} for the remaining paths is correct; it was not checked", tool.name);
        session.shared().assumptions.push(text);
    }
    save_after(session, program, &outcome, covered, &[], gia);
    outcome
}

/// Analyses the paths that are not covered. Returns the outcome, the condition that is covered afterwards (`covered`
/// itself unless `wanted`), and the undecided paths to errors.
fn analyse_uncovered(
    session: &Session,
    program: &Program,
    covered: &Condition,
    config: &Config,
    budget: &Budget,
    wanted: bool,
) -> (Outcome, Condition, Vec<Vec<EdgeId>>) {
    let is_whole = *covered == Condition::nothing();
    // Symbolic execution can explore some of the paths of the program itself, without a residual program.
    let beside = if is_whole { None } else { beside(session, program, covered, config) };
    let restricted = (!is_whole && beside.is_none()).then(|| session.plan.residual(program, covered));
    let part = restricted.as_ref().map_or(program, |r| &r.program);
    let counts_on_rest = covered.counts_on_rest();
    let mut config = Config { wants_frontier: wanted, counts_on_rest, ..config.clone() };
    let slice = match beside {
        Some((slice, paths)) => {
            config.part = Some(Arc::new(paths));
            config.wants_agreements = false;
            slice
        }
        None => slice_for(session, part, &config, wanted),
    };
    let mut analysed = AnalysedProgram { program, restricted: restricted.as_ref(), slice: slice.as_ref() };
    let mut outcome = session.ask(program, part, analysed.slice, &config, budget, others(&session.config).as_ref());
    if analysed.slice.is_some() && matches!(outcome.verdict, Verdict::Unknown(_)) && budget.spent().is_none() {
        analysed.slice = None;
        if config.part.is_some() {
            config.part = covered.part(None).map(Arc::new);
        }
        outcome = session.ask(program, part, None, &config, budget, others(&session.config).as_ref());
    }
    session.reach(program, &outcome);
    if analysed.slice.is_some() || restricted.is_some() {
        // The certificate and the observed invariants refer to loop heads of the slice or of the residual program,
        // which the caller does not have.
        outcome.certificate = None;
        outcome.agreements.clear();
        analysed.map_to_original(&mut outcome);
    }
    // Executions may reach locations to which only covered paths lead.
    outcome.coverage.is_complete &= is_whole;
    let (explored, undecided) = analysed.explored(&outcome, counts_on_rest);
    // If a condition automaton ran beside the exploration, the explored condition covers the covered paths, too.
    let replaces = config.part.is_some() && !counts_on_rest || is_whole;
    let done = match explored {
        Some(explored) if replaces => explored,
        Some(explored) => covered.union(&explored),
        None => covered.clone(),
    };
    (outcome, done, undecided)
}
