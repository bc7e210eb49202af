//! What is known before a run and after it, as a GIA (`--gia`, `--save-gia`).
//!
//! Nothing in a file is believed. Paths to errors are run, candidates are followed at full precision, and conditions are the precision
//! of a first look at the program. Only `--trust-gia` takes paths to no error away.

use crate::cooperation::Cooperation;
use crate::gia_command::{cegar, picture};
use crate::pipeline::Pipeline;
use crate::source::Sources;
use cfa::{EdgeId, Program};
use cooperate::condition::Condition;
use cooperate::gia::{self, Annotated, Gia, Says};
use engine::budget::Budget;
use engine::components::{Components, Counterexample};
use engine::{Analysis, Config, Outcome, Verdict};
use std::time::{Duration, Instant};

/// What looks at the facts of a file may take each, at most a fifth of the time left.
const LOOK: Duration = Duration::from_secs(20);
/// What finding facts for a file may take at the end.
const FACTS: Duration = Duration::from_secs(1);
/// Undecided paths that are written down.
const MOST_CANDIDATES: usize = 64;

/// What a run starts from.
#[derive(Default)]
pub struct Known {
    /// Paths that are not looked at.
    pub covered: Option<Condition>,
    pub gia: Option<Gia>,
}

impl Pipeline {
    /// Looks at what a file says; a verdict, if that follows.
    pub(crate) fn look_at(&self, program: &Program, gia: &Gia, name: &str) -> Option<Outcome> {
        let mut program = program.clone();
        if gia.has(Says::Reachable) {
            let begin = Instant::now();
            let found = cegar::replayed(gia, &program);
            let verdict = match found {
                Some(found) => Verdict::False(found),
                None => Verdict::Unknown(engine::Reason::new("no path to rt that it has replays")),
            };
            if let Some(outcome) = self.conclude(verdict, "rt", name, begin) {
                return Some(outcome);
            }
        }
        let config = Config { jobs: 1, wants_frontier: false, ..self.config.clone() };
        if gia.has(Says::Candidate) {
            let begin = Instant::now();
            let budget = self.budget.within(self.share_of_time(LOOK));
            let verdict = match gia::cegar::check(&mut program, gia, &config, &budget) {
                Ok(checked) => match cegar::replayed(&checked, &program) {
                    Some(found) => Verdict::False(found),
                    None => Verdict::Unknown(engine::Reason::new("no candidate is feasible")),
                },
                Err(reason) => Verdict::Unknown(reason),
            };
            if let Some(outcome) = self.conclude(verdict, "candidates", name, begin) {
                return Some(outcome);
            }
        }
        let conditions = gia.conditions();
        if !conditions.is_empty() {
            let begin = Instant::now();
            let budget = self.budget.within(self.share_of_time(LOOK));
            let components = Components { program: &program, config: &config, budget: &budget };
            let verdict = match components.explore(&conditions, &|_| false) {
                Counterexample::Proved => Verdict::True,
                Counterexample::Path(_) => Verdict::Unknown(engine::Reason::new("they are not enough for a proof")),
                Counterexample::Unknown(reason) => Verdict::Unknown(reason),
            };
            return self.conclude(verdict, "conditions", name, begin);
        }
        None
    }

    fn conclude(&self, verdict: Verdict, what: &str, name: &str, begin: Instant) -> Option<Outcome> {
        let is_one = !matches!(verdict, Verdict::Unknown(_));
        let mut outcome = Outcome::new(verdict, Analysis::PREDICATE);
        outcome.stats.time = begin.elapsed();
        self.add_part(&format!("{what} of {name}"), outcome.decided_by.name(), &outcome, begin);
        is_one.then_some(outcome)
    }

    /// What is known at the end, as a file, and over the source in the report.
    pub(crate) fn tell_gia(
        &self,
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
            // What was not proved here is a candidate, unless the user vouches for it.
            let given = before.map(|gia| self.cooperation.as_trusted(gia));
            self.add(&mut gia, [Some(candidates), given], &program);
            // Facts may take what is left of the time.
            self.write_gia(&gia, &program);
            self.draw_gia(&gia, &mut program);
            let facts = gia::facts(&mut program, &Budget::lasting(FACTS));
            self.add(&mut gia, [facts, None], &program);
        }
        self.write_gia(&gia, &program);
        self.draw_gia(&gia, &mut program);
    }

    fn draw_gia(&self, gia: &Gia, program: &mut Program) {
        if self.wants_exhibits
            && let Some(lines) = picture::lines(gia, program, &Sources::new())
        {
            self.shared().exhibits.known = lines;
        }
    }

    /// What there is if nothing else is found out in time.
    pub(crate) fn tell_given(&self, program: &Program, given: Option<&Gia>) {
        let gia = given.map_or_else(Gia::nothing, |gia| self.cooperation.as_trusted(gia));
        self.write_gia(&gia, program);
    }

    fn write_gia(&self, gia: &Gia, program: &Program) {
        if self.cooperation.saves_gia {
            self.shared().gia = Some(gia::print(gia, program));
        }
    }

    fn add(&self, gia: &mut Gia, others: [Option<Gia>; 2], program: &Program) {
        for other in others.into_iter().flatten() {
            match gia::combine(gia, &other, program) {
                Ok(both) => *gia = both,
                Err(e) => self.shared().warnings.push(format!("--save-gia: {e}")),
            }
        }
    }

    /// For whoever goes on from it, what is known of loops is assumed: a path that breaks it is no execution.
    pub(crate) fn save_facts(&self, program: &Program) {
        let mut program = program.clone();
        if let Some(facts) = gia::facts(&mut program, &Budget::lasting(FACTS)) {
            let covered = facts.condition(&mut program, Says::Unreachable);
            self.save(&program, &covered);
        }
    }
}

impl Cooperation {
    /// What a GIA says, as far as the user vouches for it.
    fn as_trusted(&self, gia: &Gia) -> Gia {
        if self.trusts_gia { gia.clone() } else { gia.doubted() }
    }

    /// What the run starts from, of the program with its errors.
    pub fn known(&self, program: &mut Program) -> Result<Known, crate::failure::Failure> {
        let covered = self.condition(program)?;
        let Some((path, text)) = &self.gia else { return Ok(Known { covered, gia: None }) };
        let gia = gia::parse(text, program).map_err(|e| crate::failure::Failure::automaton(path, &e))?;
        let covered = match self.trusts_gia && gia.has(Says::Unreachable) {
            true => Some(gia.condition(program, Says::Unreachable)),
            false => covered,
        };
        Ok(Known { covered, gia: Some(gia) })
    }
}
