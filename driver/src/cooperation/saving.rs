//! Records the verified paths and the knowledge of a run, so that another run can continue from them
//! (`--save-condition`, `--save-gia`).

use crate::evidence::lines;
use crate::plan::Plan;
use crate::report::PartReport;
use crate::session::Session;
use crate::source::Sources;
use cfa::{EdgeId, Program};
use cooperate::condition::{self, Condition};
use cooperate::gia::{self, Annotated, Gia, Says};
use engine::budget::Budget;
use engine::{Analysis, Outcome, Reason, Verdict};
use std::time::{Duration, Instant};

/// The time that is reserved at the end of a time limit to record the results, at most a tenth of the limit.
const RECORDING: Duration = Duration::from_secs(1);
/// Maximal time of the pre-analysis that derives facts for a file at the end.
const FACTS: Duration = Duration::from_secs(1);
/// Maximal number of undecided paths that are saved as candidates.
const MOST_CANDIDATES: usize = 64;

/// Returns the session's budget. If the run records its results and has a time limit, the budget is reduced by the time
/// to record them.
pub fn budget_before_recording(session: &Session) -> Budget {
    let Some(limit) = session.limits.timeout.filter(|_| session.plan.records_paths()) else {
        return session.budget.clone();
    };
    let left = limit.saturating_sub(session.limits.start.elapsed());
    session.budget.within(left.saturating_sub(RECORDING.min(limit / 10)))
}

/// Records the outcome of a run: the verified paths `done` and, if wanted, the GIA with `undecided` paths as
/// candidates. `gia` is the GIA that the user passed.
pub fn save_after(
    session: &Session,
    program: &Program,
    outcome: &Outcome,
    done: &Condition,
    undecided: &[Vec<EdgeId>],
    gia: Option<&Gia>,
) {
    session.reach(program, outcome);
    // The cheapest comes first, as the time may be over.
    session.afterwards("saving what was verified", "saving", || match outcome.verdict {
        Verdict::True => save(session, program, &Condition::everything()),
        _ if *done == Condition::nothing() && session.config.analysis == Analysis::Invariants => {
            save_facts(session, program);
        }
        _ => save(session, program, done),
    });
    if session.plan.saves_gia || gia.is_some() && session.records.report_data {
        session.afterwards("saving what is known", "saving", || {
            tell_gia(session, program, outcome, Gia::of_condition(done), undecided, gia);
        });
    }
}

/// Records the condition `done` as text, or as a DOT graph if the file has the extension `.dot`. Does nothing if the
/// user wants no condition. A condition with more than [`condition::MOST_STATES`] states is truncated.
pub fn save(session: &Session, program: &Program, done: &Condition) {
    let Some(path) = &session.plan.saved else { return };
    let limited = (done.states.len() > condition::MOST_STATES).then(|| done.truncated(condition::MOST_STATES - 1));
    let done = limited.as_ref().unwrap_or(done);
    let is_picture = path.extension().is_some_and(|e| e == "dot");
    let text = if is_picture { done.dot(program) } else { condition::print(done, program) };
    session.shared().condition = Some(text);
}

/// Adds the outcome of one part of the run to the report. `paths` describes the part; `begin` is its start.
pub fn add_part(session: &Session, paths: &str, analysis: &'static str, outcome: &Outcome, begin: Instant) {
    let (verdict, reason) = match &outcome.verdict {
        Verdict::True => ("TRUE", None),
        Verdict::False(_) => ("FALSE", None),
        Verdict::Unknown(Reason { text, .. }) => ("UNKNOWN", Some(text.clone())),
    };
    let spent = if outcome.stats.time.is_zero() { begin.elapsed() } else { outcome.stats.time };
    let seconds = spent.min(begin.elapsed()).as_secs_f64();
    session.shared().parts.push(PartReport { paths: paths.into(), analysis, verdict, reason, seconds });
}

/// Records the final GIA for `--save-gia`, and its claims about source lines for the report. `done` is the GIA of the
/// verified paths; `before` is the GIA that the user passed.
pub fn tell_gia(
    session: &Session,
    program: &Program,
    outcome: &Outcome,
    done: Gia,
    undecided: &[Vec<EdgeId>],
    before: Option<&Gia>,
) {
    let mut program = program.clone();
    let mut gia = match &outcome.verdict {
        Verdict::True => Gia::all_unreachable(),
        Verdict::False(found) => gia::cegar::reached(&mut program, &found.inputs),
        Verdict::Unknown(_) => done,
    };
    if matches!(outcome.verdict, Verdict::Unknown(_)) {
        let mut candidates = Gia::nothing();
        for path in undecided.iter().take(MOST_CANDIDATES) {
            let path = Annotated { path: path.clone(), conditions: Vec::new() };
            candidates.add_path(&path, Says::Candidate, &program);
        }
        // Claims that were not proved in this run are candidates, unless the user trusts them.
        let given = before.map(|gia| as_trusted(&session.plan, gia));
        add_facts(session, &mut gia, [Some(candidates), given], &program);
        // The search for facts may use up the remaining time, so the GIA is written before it, too.
        write_gia(session, &gia, &program);
        draw_gia(session, &gia, &mut program);
        let facts = gia::facts(&mut program, &Budget::lasting(FACTS));
        add_facts(session, &mut gia, [facts, None], &program);
    }
    write_gia(session, &gia, &program);
    draw_gia(session, &gia, &mut program);
}

/// Records the claims of a GIA about source lines, if the report shows them.
pub fn draw_gia(session: &Session, gia: &Gia, program: &mut Program) {
    if session.records.report_data
        && let Some(lines) = lines::lines(gia, program, &Sources::new())
    {
        session.shared().report_data.known = lines;
    }
}

/// Records the GIA that the run starts with, as the result if nothing else is found in time.
pub fn tell_given(session: &Session, program: &Program, given: Option<&Gia>) {
    let gia = given.map_or_else(Gia::nothing, |gia| as_trusted(&session.plan, gia));
    write_gia(session, &gia, program);
}

/// Records the text of a GIA, if the user wants it saved.
pub fn write_gia(session: &Session, gia: &Gia, program: &Program) {
    if session.plan.saves_gia {
        session.shared().gia = Some(gia::print(gia, program));
    }
}

/// Combines `gia` with others. A GIA that cannot be combined is skipped with a warning.
pub fn add_facts(session: &Session, gia: &mut Gia, others: [Option<Gia>; 2], program: &Program) {
    for other in others.into_iter().flatten() {
        match gia::combine(gia, &other, program) {
            Ok(both) => *gia = both,
            Err(e) => session.shared().warnings.push(format!("--save-gia: {e}")),
        }
    }
}

/// Saves a condition that covers the paths which violate the loop invariants of the pre-analysis. Such paths are no
/// executions, so a run that continues from the condition assumes the invariants.
pub fn save_facts(session: &Session, program: &Program) {
    let mut program = program.clone();
    if let Some(facts) = gia::facts(&mut program, &Budget::lasting(FACTS)) {
        let covered = facts.condition(&mut program, Says::Unreachable);
        save(session, &program, &covered);
    }
}

/// Returns the GIA itself if the user trusts it, or else the GIA with all its claims as candidates.
pub fn as_trusted(plan: &Plan, gia: &Gia) -> Gia {
    if plan.trusts_gia { gia.clone() } else { gia.doubted() }
}
