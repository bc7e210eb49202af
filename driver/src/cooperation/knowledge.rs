//! What is known before a run and after it, as a GIA (`--gia`, `--save-gia`).
//!
//! Nothing in a file is believed. Paths to errors are run, candidates are followed at full precision, and conditions are the precision
//! of a first look at the program. Only `--trust-gia` takes paths to no error away.

use crate::cooperation::components::replayed;
use crate::cooperation::saving::add_part;
use crate::failure::Failure;
use crate::plan::Plan;
use crate::session::Session;
use cfa::Program;
use cooperate::condition::Condition;
use cooperate::gia::{self, Gia, Says};
use engine::components::{Components, Counterexample};
use engine::{Analysis, Config, Outcome, Verdict};
use std::time::{Duration, Instant};

/// What looks at the facts of a file may take each, at most a fifth of the time left.
const LOOK: Duration = Duration::from_secs(20);

/// What a run starts from.
#[derive(Default)]
pub struct Known {
    /// Paths that are not looked at.
    pub covered: Option<Condition>,
    pub gia: Option<Gia>,
}

/// Looks at what a file says; a verdict, if that follows.
pub fn look_at(session: &Session, program: &Program, gia: &Gia, name: &str) -> Option<Outcome> {
    let mut program = program.clone();
    if gia.has(Says::Reachable) {
        let begin = Instant::now();
        let found = replayed(gia, &program);
        let verdict = match found {
            Some(found) => Verdict::False(found),
            None => Verdict::Unknown(engine::Reason::new("no path to rt that it has replays")),
        };
        if let Some(outcome) = concluded(session, verdict, "rt", name, begin) {
            return Some(outcome);
        }
    }
    let config = Config { jobs: 1, wants_frontier: false, ..session.config.clone() };
    if gia.has(Says::Candidate) {
        let begin = Instant::now();
        let budget = session.budget.within(session.share_of_time(LOOK));
        let verdict = match gia::cegar::check(&mut program, gia, &config, &budget) {
            Ok(checked) => match replayed(&checked, &program) {
                Some(found) => Verdict::False(found),
                None => Verdict::Unknown(engine::Reason::new("no candidate is feasible")),
            },
            Err(reason) => Verdict::Unknown(reason),
        };
        if let Some(outcome) = concluded(session, verdict, "candidates", name, begin) {
            return Some(outcome);
        }
    }
    let conditions = gia.conditions();
    if !conditions.is_empty() {
        let begin = Instant::now();
        let budget = session.budget.within(session.share_of_time(LOOK));
        let components = Components { program: &program, config: &config, budget: &budget };
        let verdict = match components.explore(&conditions, &|_| false) {
            Counterexample::Proved => Verdict::True,
            Counterexample::Path(_) => Verdict::Unknown(engine::Reason::new("they are not enough for a proof")),
            Counterexample::Unknown(reason) => Verdict::Unknown(reason),
        };
        return concluded(session, verdict, "conditions", name, begin);
    }
    None
}

fn concluded(session: &Session, verdict: Verdict, what: &str, name: &str, begin: Instant) -> Option<Outcome> {
    let is_one = !matches!(verdict, Verdict::Unknown(_));
    let mut outcome = Outcome::new(verdict, Analysis::PREDICATE);
    outcome.stats.time = begin.elapsed();
    add_part(session, &format!("{what} of {name}"), outcome.decided_by.name(), &outcome, begin);
    is_one.then_some(outcome)
}

impl Known {
    /// What a run starts from, of the program with its errors.
    ///
    /// # Errors
    /// If a condition or an automaton is malformed or is about another program.
    pub fn of(plan: &Plan, program: &mut Program) -> Result<Self, Failure> {
        let covered = plan.condition(program)?;
        let Some((path, text)) = &plan.gia else { return Ok(Self { covered, gia: None }) };
        let gia = gia::parse(text, program).map_err(|e| Failure::automaton(path, &e))?;
        let covered = match plan.trusts_gia && gia.has(Says::Unreachable) {
            true => Some(gia.condition(program, Says::Unreachable)),
            false => covered,
        };
        Ok(Self { covered, gia: Some(gia) })
    }
}
