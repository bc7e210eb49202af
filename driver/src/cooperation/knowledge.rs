//! The knowledge before a run, as a GIA (`--gia`).
//!
//! The claims of a file are not trusted. Paths to errors are replayed, candidates are checked at full precision, and
//! conditions are the precision of a first analysis of the program. Only `--trust-gia` excludes the paths that the GIA
//! claims to reach no error.

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

/// Maximal time of each analysis of the claims of a file. It takes at most a fifth of the remaining time, too.
const LOOK: Duration = Duration::from_secs(20);

/// The knowledge that a run starts with.
#[derive(Default)]
pub struct Known {
    /// The condition of the paths that the run does not explore.
    pub covered: Option<Condition>,
    /// The GIA that the user passed.
    pub gia: Option<Gia>,
}

/// Checks the claims of a GIA from the file `name`: targets reached, then candidates, then conditions as a precision.
/// Returns the outcome if one of them yields a verdict.
pub fn check_claims(session: &Session, program: &Program, gia: &Gia, name: &str) -> Option<Outcome> {
    let mut program = program.clone();
    if gia.has(Says::Reachable) {
        let begin = Instant::now();
        let found = replayed(gia, &program);
        let verdict = match found {
            Some(found) => Verdict::False(found),
            None => Verdict::Unknown(engine::Reason::new("no `rt` path of the automaton can be replayed")),
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
            Counterexample::Path(_) => {
                Verdict::Unknown(engine::Reason::new("the conditions of the automaton are not sufficient for a proof"))
            }
            Counterexample::Unknown(reason) => Verdict::Unknown(reason),
        };
        return concluded(session, verdict, "conditions", name, begin);
    }
    None
}

/// Adds the verdict about one kind of claims to the report. Returns it as an outcome if it is not `UNKNOWN`.
fn concluded(session: &Session, verdict: Verdict, what: &str, name: &str, begin: Instant) -> Option<Outcome> {
    let is_one = !matches!(verdict, Verdict::Unknown(_));
    let mut outcome = Outcome::new(verdict, Analysis::PREDICATE);
    outcome.stats.time = begin.elapsed();
    add_part(session, &format!("{what} of {name}"), outcome.decided_by.name(), &outcome, begin);
    is_one.then_some(outcome)
}

impl Known {
    /// Returns the knowledge that a run on `program` starts with, from the files of the plan. The program must contain
    /// the errors already.
    ///
    /// # Errors
    /// `Err` if a condition or a GIA is malformed or belongs to another program.
    pub fn read(plan: &Plan, program: &mut Program) -> Result<Self, Failure> {
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
