//! Several questions in one run, each with its own result.
//!
//! Questions that can be answered together form a group. A group is one program with the errors of all its questions.
//! It is loaded with the checks that clang inserts for them. Assertions are a group of their own, and that group comes
//! first after the pre-analysis. Its program has no other checks, so its slice is often small. Groups without a place
//! come last. A group that cannot be decided as a whole is divided. When a violation is found, it is recorded, its
//! place is no longer an error, and the group continues with the others.
//!
//! Executions first end at the violations that were found. If no other violation is found, they continue after these.
//!
//! If another group asks whether accesses are valid, a path ends at an invalid access, and this does not prevent a
//! proof. All groups together prove the same as one question for everything. If an invalid access was found, violations
//! of other questions may lie after it. Such a group is analysed again, and the invalid accesses are skipped when
//! they would fault.
//!
//! The pre-analysis proves checks for executions that end at a check that fails. If such a check was found, the
//! discharged checks are analysed again, for executions that continue after it.

mod group;
mod share;

use crate::answer::answer;
use crate::cooperation::knowledge::Known;
use crate::decide::decide;
use crate::failure::{Failure, exit};
use crate::job::Question;
use crate::limits::Limits;
use crate::preanalysis::{Holding, Looks, has_work, leave_out, origins};
use crate::report::{Answer, CheckResult, Places, Rest, Undecided, Violation, add_violation};
use crate::session::{Finished, Session};
use crate::source::{Sources, Spot};
use cfa::{CallGraph, Check, EdgeId, ErrorId, FuncId, FunctionOrigin, Op, Program};
use engine::ReasonKind;
use engine::budget::Budget;
use group::Group;
use instrument::{NamedCheck, Operation, Property, Site, sites};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A group is tried again only if its share of time is at least this many times the previous one.
const MORE: f64 = 1.5;

/// The reason of a check that was proved before a violation of another check was found, after which executions continue.
const NOT_BEHIND: &str = "checked only in executions that end at their first violation";

/// The reason of a check if the search for further violations ended.
const REPEATED: &str = "the search found the same violation again";

/// The end of an attempt at a group.
enum Attempt {
    /// All questions of the group are decided.
    Decided,
    /// Undecided because the time of the attempt is over. More time may help.
    TimeIsUp,
    /// Undecided, although there was time left.
    GaveUp,
}

/// The state of a run with several questions.
struct Run<'p> {
    session: &'p Session,
    questions: Vec<Question>,
    /// The results of the attempts so far.
    parts: Vec<Finished>,
    /// The accesses that were found to be invalid.
    invalid: FxHashSet<Operation>,
    looks: Looks,
    /// The questions that are undecided because their share of the time was over, by index.
    late: FxHashSet<usize>,
}

/// Answers all questions. The result of each is in `shared.checks`; the returned answer summarises them.
///
/// # Errors
/// `Err` if a program cannot be loaded, or an attempt fails.
pub fn run(session: &Session) -> Result<Finished, Failure> {
    let questions = session.job.questions.clone();
    session.shared().checks = questions.iter().map(|question| result(session, question)).collect();
    let mut run = Run {
        session,
        questions,
        parts: Vec::new(),
        invalid: FxHashSet::default(),
        looks: Looks::default(),
        late: FxHashSet::default(),
    };
    let mut groups = run.groups();
    let mut round = 0;
    let mut proved = Vec::new();
    while !groups.is_empty() {
        let mut left = Vec::new();
        let mut waiting = VecDeque::from(groups);
        while let Some(mut group) = waiting.pop_front() {
            let mut asked = vec![&mut group];
            if round == 0 && session.job.is_exhaustive {
                // The pre-analysis of all groups comes before any time is spent on the undecided checks of one.
                asked.extend(waiting.iter_mut());
            }
            run.load_all(asked)?;
            waiting.extend(run.asks_of_threads(&group));
            if round == 0 && run.has_no_place(&group) && waiting.iter().any(|other| run.has_places(other)) {
                // Only unknown code may violate its questions.
                waiting.push_back(group);
                continue;
            }
            if group.questions.is_empty() {
                if !group.held.is_empty() {
                    proved.push(group);
                }
                continue;
            }
            let open = 1 + waiting.iter().filter(|group| !group.questions.is_empty()).count();
            let share = run.share(&group, open, round);
            if share.is_some_and(|share| share < group.tried.mul_f64(MORE)) {
                continue;
            }
            let attempt = run.attempt(&mut group, share)?;
            if run.stops_here() {
                return Ok(run.finish());
            }
            match attempt {
                Attempt::Decided => proved.push(group),
                Attempt::GaveUp | Attempt::TimeIsUp if group.questions.len() > 1 => {
                    left.extend(group.divided());
                }
                Attempt::GaveUp => {
                    group.questions.clear();
                    proved.push(group);
                }
                Attempt::TimeIsUp => {
                    group.tried = share.unwrap_or_default();
                    group.program.take_if(|_| group.whole.is_some());
                    left.push(group);
                }
            }
            if session.budget.spent().is_some() {
                return Ok(run.finish());
            }
        }
        groups = left;
        round += 1;
    }
    let proved = run.go_behind_checks(proved)?;
    run.go_behind_faults(proved)?;
    Ok(run.finish())
}

/// Returns the initial result of a question: nothing was analysed yet.
fn result(session: &Session, question: &Question) -> CheckResult {
    let names = match question.properties[..] {
        [] => vec![question.name.clone()],
        ref properties => properties.iter().map(|p| p.name().to_owned()).collect(),
    };
    let mut result = CheckResult::new(question.name.clone(), names);
    if let Some(limit) = session.limits.nearest() {
        result.rest = Rest::Unknown(Undecided::new(limit.kind(), format!("{limit} before it was analysed")));
    }
    result
}

impl Run<'_> {
    /// Returns true if the run ends because a violation was found. Everything undecided then counts as not asked.
    fn stops_here(&self) -> bool {
        let mut shared = self.session.shared();
        let ends = self.session.stops_at_first && shared.checks.iter().any(|check| !check.violations.is_empty());
        for check in shared.checks.iter_mut().filter(|check| ends && matches!(check.rest, Rest::Unknown(_))) {
            check.rest = Rest::NotAsked;
        }
        ends
    }

    /// Returns the initial groups.
    fn groups(&self) -> Vec<Group> {
        let all = 0..self.questions.len();
        if !self.session.job.is_exhaustive {
            return all.map(|question| Group::new(vec![question])).collect();
        }
        // Checks for leaks depend on the whole program, assertions often on a small slice. So they do not share a
        // program.
        let (own, common): (Vec<usize>, Vec<usize>) = all.partition(|&question| self.has_own_program(question));
        let mut groups: Vec<Group> = own.into_iter().map(|question| Group::new(vec![question])).collect();
        if !common.is_empty() {
            groups.push(Group::new(common));
        }
        groups
    }

    /// Adds the questions about threads to the default questions, if the program of the group starts threads. Returns
    /// their groups.
    fn asks_of_threads(&mut self, group: &Group) -> Vec<Group> {
        let is_threaded = group.program.as_ref().is_some_and(Program::starts_threads);
        let is_of_threads = |question: &Question| question.checks.contains(&Check::DataRace);
        if !self.session.job.is_default || !is_threaded || self.questions.iter().any(is_of_threads) {
            return Vec::new();
        }
        let first = self.questions.len();
        self.questions.extend(NamedCheck::of_threads().into_iter().map(Question::check));
        let results = self.questions[first..].iter().map(|question| result(self.session, question)).collect::<Vec<_>>();
        self.session.shared().checks.extend(results);
        (first..self.questions.len()).map(|question| Group::new(vec![question])).collect()
    }

    /// Returns true if the group questions for assertions. Such a group comes first.
    fn is_first(&self, group: &Group) -> bool {
        group.questions.iter().any(|&a| self.questions[a].checks.contains(&Check::Call))
    }

    /// Returns true if a question of the group is undecided and has a place.
    fn has_places(&self, group: &Group) -> bool {
        let shared = self.session.shared();
        group.questions.iter().any(|&question| shared.checks[question].places.all > 0)
    }

    /// Returns true if questions of the group are undecided, but none has a place.
    fn has_no_place(&self, group: &Group) -> bool {
        self.session.job.is_exhaustive && !group.questions.is_empty() && !self.has_places(group)
    }

    /// Returns the session for one group, with its share of the time if there is one.
    fn part(&self, group: &Group, share: Option<&(Budget, Limits)>) -> Session {
        let mut part = Session { is_answer: false, ..self.session.clone() };
        let job = &self.session.job;
        let mut own = job.with_questions(group.questions.iter().map(|&a| self.questions[a].clone()).collect());
        if job.is_exhaustive {
            own.load.checked_elsewhere = self.questions.iter().flat_map(|a| &a.checks).copied().collect();
        }
        part.job = Arc::new(own);
        if let Some((budget, limits)) = share {
            (part.budget, part.limits) = (budget.clone(), *limits);
        }
        part.continuations = group.continuations().into();
        part.config.faults_elsewhere =
            (job.is_exhaustive && self.of_memory().is_some()).then(|| group.ends_at_access.clone());
        part
    }

    /// Tries to answer all questions of a group within its share of the time.
    fn attempt(&mut self, group: &mut Group, share: Option<Duration>) -> Result<Attempt, Failure> {
        let own = share.map(|share| self.limited(share));
        if let Some(limit) = self.session.limits.nearest() {
            // This is the result if the run ends during the attempt.
            let shared = self.session.shared();
            let is_open = |&question: &usize| matches!(shared.checks[question].rest, Rest::Unknown(_));
            let open: Vec<usize> = group.questions.iter().copied().filter(is_open).collect();
            drop(shared);
            self.settle(&open, &Rest::Unknown(Undecided::at_limit(limit)));
        }
        let mut is_proved_before = false;
        loop {
            // Violations that follow from others may take the places of those that do not. So they are searched last.
            let first = group.ends_at_violations().then(|| self.half_of(own.as_ref())).flatten();
            let part = self.part(group, first.as_ref().or(own.as_ref()));
            let program = group.program.as_mut().expect("just loaded");
            let (finished, decided) = match part.job.properties[..] {
                [ref one] if !part.job.is_exhaustive && (*one == Property::Termination || one.checks().is_empty()) => {
                    (answer(&part)?, None)
                }
                _ => {
                    let mut decided = decide(&part, program, None, Known::default());
                    let finished = std::mem::replace(&mut decided.finished, Finished::new(Answer::True));
                    (finished, Some(decided))
                }
            };
            let site = finished.site;
            let answer = finished.answer.clone();
            self.parts.push(finished);
            // The proof is described once its result is recorded.
            let describe = |parts: &mut [Finished], program: &Program| {
                if let (Some(finished), Some(decided)) = (parts.last_mut(), &decided) {
                    finished.proved = decided.describe_proof(&part, program);
                }
            };
            let rests_on_failed = group.rests_on_failed();
            let program = group.program.as_ref().expect("it was asked");
            match answer {
                Answer::True | Answer::Unknown { .. } if group.ends_at_violations() => group.go_on(),
                Answer::True if rests_on_failed => {
                    describe(&mut self.parts, program);
                    self.ask_again(group);
                    if group.questions.is_empty() {
                        return Ok(Attempt::Decided);
                    }
                }
                Answer::True => {
                    self.settle(&group.questions, &Rest::Proved);
                    // The pre-analysis proved the accesses of which this group does not question.
                    let asks_of_memory =
                        group.seen.is_empty() && self.of_memory().is_some_and(|m| group.questions.contains(&m));
                    let ended = group.ends_at_access.load(Ordering::Relaxed) && !asks_of_memory || group.is_behind;
                    let mut shared = self.session.shared();
                    group.questions.iter().for_each(|&question| shared.checks[question].assumes_valid_accesses = ended);
                    drop(shared);
                    describe(&mut self.parts, program);
                    if !group.is_behind {
                        return Ok(Attempt::Decided);
                    }
                    is_proved_before = true;
                    self.ask_again(group);
                    if group.questions.is_empty() {
                        return Ok(Attempt::Decided);
                    }
                }
                // An earlier proof stands.
                Answer::Unknown { .. } if is_proved_before => {
                    self.settle(&group.questions, &Rest::Proved);
                    return Ok(Attempt::Decided);
                }
                Answer::Unknown(undecided) => {
                    let is_late = part.budget.spent().is_some();
                    match is_late {
                        true => self.late.extend(&group.questions),
                        false => self.late.retain(|question| !group.questions.contains(question)),
                    }
                    let reason = match self.session.limits.nearest().filter(|_| is_late) {
                        Some(limit) => Undecided::new(limit.kind(), self.lateness(limit, share)),
                        None => undecided,
                    };
                    self.settle(&group.questions, &Rest::Unknown(reason));
                    return Ok(if is_late { Attempt::TimeIsUp } else { Attempt::GaveUp });
                }
                Answer::False(violation) => {
                    self.violated(&group.questions, *violation);
                    if self.session.stops_at_first {
                        return Ok(Attempt::Decided);
                    }
                    if !self.session.job.is_exhaustive {
                        self.settle(&group.questions, &Rest::NotAsked);
                        return Ok(Attempt::Decided);
                    }
                    let Some(site) = site.filter(|site| group.seen.insert(*site)) else {
                        // A data race or a deadlock has no site, so the search cannot continue without it.
                        let rest = match site {
                            None if group.questions.len() == 1 => Rest::NotAsked,
                            _ => Rest::Unknown(Undecided::new(ReasonKind::default(), REPEATED)),
                        };
                        self.settle(&group.questions, &rest);
                        group.go_on();
                        return Ok(Attempt::GaveUp);
                    };
                    group.let_pass(site);
                    let program = group.program.as_ref().expect("it was asked");
                    match site {
                        Site::Fault(edge) => {
                            self.invalid.extend(Operation::from_edge(program, edge));
                            group.is_behind = !group.discharged.is_empty();
                        }
                        Site::Check(_) => {
                            is_proved_before = false;
                            self.failed(group, site);
                        }
                        Site::Call(_) | Site::Lost(_) => {}
                    }
                }
            }
        }
    }

    /// Loads the programs of the groups and counts the places that can violate each question. The pre-analysis
    /// discharges checks. Groups that question neither for assertions nor for memory safety come first: in the same time,
    /// the pre-analysis proves more checks than accesses. Assertions come last: most programs have few of them.
    fn load_all(&mut self, mut groups: Vec<&mut Group>) -> Result<(), Failure> {
        let mut loaded = Vec::new();
        for group in &mut groups {
            loaded.push(self.load(group)?);
        }
        let new = groups.into_iter().zip(loaded).filter(|(_, is_new)| *is_new);
        let mut new: Vec<&mut Group> = new.map(|(group, _)| group).collect();
        new.sort_by_key(|group| (!self.is_common(group), self.is_first(group)));
        self.looks.expect(new.iter().filter(|group| group.program.as_ref().is_some_and(has_work)).count());
        for group in new {
            self.discharge(group);
        }
        Ok(())
    }

    /// Loads the program of a group. Returns true if the program is new, so that the pre-analysis has not run on it.
    fn load(&mut self, group: &mut Group) -> Result<bool, Failure> {
        if group.program.is_some() || group.questions.is_empty() {
            return Ok(false);
        }
        if group.copy_whole() {
            self.leave_out_others(&group.questions, group.program.as_mut().expect("just copied"));
            return Ok(false);
        }
        let part = self.part(group, None);
        let properties = &part.job.properties;
        let only_termination = !properties.is_empty() && properties.iter().all(|p| p.checks().is_empty());
        if !part.job.is_exhaustive && only_termination {
            group.program = Some(Program::new(cfa::DataLayout { pointer_width: 64 }));
            return Ok(false);
        }
        let program = match part.prepare() {
            // The cache holds only the answer to all questions at once, so the place in it is ignored.
            Ok((program, _)) => program,
            // Bitcode has only the checks that it was compiled with, and the user did not request these checks by name.
            Err(failure) if self.session.job.is_default && failure.code == exit::USAGE && self.is_common(group) => {
                let text = format!("undefined behaviour is not checked: {}", failure.message);
                self.session.shared().warnings.push(text);
                self.settle(&group.questions, &Rest::NotAsked);
                group.questions.clear();
                return Ok(false);
            }
            Err(failure) => return Err(failure),
        };
        group.program = Some(program);
        Ok(true)
    }

    /// Removes the errors of all other questions from a program.
    fn leave_out_others(&self, questions: &[usize], program: &mut Program) {
        let is_of_others = |&(_, error): &(Site, ErrorId)| {
            !questions.iter().any(|&question| self.questions[question].checks.contains(&program.errors[error].check))
        };
        let others: Vec<Site> = sites(program).into_iter().filter(is_of_others).map(|(site, _)| site).collect();
        leave_out(program, &others);
    }

    /// Removes the checks of a group's program that the pre-analysis proves, and counts the places of its questions.
    fn discharge(&self, group: &mut Group) {
        let program = group.program.as_mut().expect("just loaded");
        let is_exhaustive = self.session.job.is_exhaustive;
        let found = sites(program);
        let held = match is_exhaustive {
            true => self.looks.holding(self.session, program, &found),
            false => Holding::default(),
        };
        let Holding { sites: safe, rests_on_accesses: rests, unknown } = held;
        // If the program calls unknown code, checks that hold whatever this code does are no proof of the program. They
        // remain errors.
        let is_asked = unknown.is_some();
        let edge = |site: &Site| match *site {
            Site::Check(edge) | Site::Fault(edge) | Site::Call(edge) => edge,
            Site::Lost(allocation) => allocation.edge,
        };
        let left_out = if is_asked { &[][..] } else { &safe[..] };
        group.discharged = left_out.iter().map(|site| (edge(site), program.edges[edge(site)].clone())).collect();
        leave_out(program, left_out);
        group.ends_at_access.fetch_or(rests && !left_out.is_empty(), Ordering::Relaxed);
        let safe: FxHashSet<Site> = safe.into_iter().collect();
        let mut held: FxHashSet<usize> = FxHashSet::default();
        let loses_behaviours = is_exhaustive && CallGraph::new(program).may_lose_behaviours(program);
        let mut shared = self.session.shared();
        for &question in &group.questions {
            let of_question = |error: ErrorId| self.questions[question].checks.contains(&program.errors[error].check);
            let left = found.iter().filter(|(_, error)| of_question(*error)).count();
            let discharged = found.iter().filter(|(site, error)| of_question(*error) && safe.contains(site)).count();
            // When a group is analysed again, violated places are already removed and do not count here.
            let open = found.iter().filter(|(site, error)| of_question(*error) && !safe.contains(site));
            let open = origins(program, open.map(|(site, _)| edge(site)).collect());
            let all = (discharged + open.len()).max(shared.checks[question].places.all);
            let open = spots(program, open.into_iter());
            shared.checks[question].places = Places { all, discharged, open };
            if self.session.records.report_data {
                let sites = found.iter().copied().filter(|&(_, error)| of_question(error));
                shared.report_data.add_checked(&self.questions[question].name, program, sites, &Sources::new());
                let is_leak = |edge: &EdgeId| matches!(program.edges[*edge].op, Op::Leak(_));
                let leaks = found.iter().filter(|(_, error)| of_question(*error)).map(|(site, _)| edge(site));
                let lost = origins(program, leaks.filter(is_leak).collect());
                shared.report_data.add_spots(&self.questions[question].name, spots(program, lost.into_iter()));
            }
            let is_of_unknown = loses_behaviours && self.is_of_unknown_code(question, program, found.is_empty());
            // Data races and deadlocks have no place of their own.
            let is_of_threads = program.starts_threads()
                && self.questions[question].checks.iter().any(|c| matches!(c, Check::DataRace | Check::Deadlock));
            shared.checks[question].is_of_threads = is_of_threads;
            if left == discharged && is_exhaustive && !(is_asked && left > 0) && !is_of_unknown && !is_of_threads {
                shared.checks[question].rest = Rest::Proved;
                shared.checks[question].assumes_valid_accesses = rests && left > 0;
                held.insert(question);
            }
        }
        group.held = group.questions.extract_if(.., |question| held.contains(question)).collect();
    }

    /// True if unknown code may violate a question that has no place in the known code. Unknown code may call every
    /// error function that the user or the program names. If no question has a place, it may violate any, and the
    /// question about error functions stands for all.
    fn is_of_unknown_code(&self, question: usize, program: &Program, nothing_is_asked: bool) -> bool {
        let is_about_calls = |question: &Question| question.checks.contains(&Check::Call);
        if !is_about_calls(&self.questions[question]) {
            return nothing_is_asked && !self.questions.iter().any(is_about_calls);
        }
        let names = &self.session.job.error_functions;
        let is_there = || program.funcs.values().any(|func| names.iter().any(|name| func.is_named(name)));
        nothing_is_asked || !self.session.job.is_default || is_there()
    }

    /// Adds the discharged checks to the questions again, for executions that continue after a violation.
    fn ask_again(&mut self, group: &mut Group) {
        group.questions.append(&mut group.held);
        group.restore();
        group.passed = group.failed.sites.borrow().clone();
        self.leave_out_others(&group.questions, group.program.as_mut().expect("it has been loaded"));
        // The group has its own program from now on.
        group.whole = None;
        self.looks.again();
        self.discharge(group);
    }

    /// Records that a check fails and that executions continue after it. Proofs of the same program may rest on
    /// executions that end there, so they become undecided.
    fn failed(&self, group: &Group, site: Site) {
        group.failed.sites.borrow_mut().insert(site);
        if group.discharged.is_empty() {
            return;
        }
        let shared = self.session.shared();
        let is_proved = |&question: &usize| matches!(shared.checks[question].rest, Rest::Proved);
        let proved: Vec<usize> = group.failed.questions.iter().copied().filter(is_proved).collect();
        drop(shared);
        self.settle(&proved, &Rest::Unknown(Undecided::new(ReasonKind::default(), NOT_BEHIND)));
    }

    /// Repeats the proofs that rest on executions that end at failing checks. Returns the groups that are still
    /// proved.
    fn go_behind_checks(&mut self, groups: Vec<Group>) -> Result<Vec<Group>, Failure> {
        let count = groups.len();
        let mut proved = Vec::new();
        for (i, mut group) in groups.into_iter().enumerate() {
            if group.rests_on_failed() {
                group.questions.append(&mut group.held);
                self.load(&mut group)?;
                self.ask_again(&mut group);
                let share = self.share(&group, count - i, 1);
                if !group.questions.is_empty() && !matches!(self.attempt(&mut group, share)?, Attempt::Decided) {
                    continue;
                }
            } else if !group.failed.sites.borrow().is_empty() {
                self.settle(&group.questions, &Rest::Proved);
                self.settle(&group.held, &Rest::Proved);
            }
            proved.push(group);
        }
        Ok(proved)
    }

    /// Returns true if no other question is asked together with this one. An error for data races or deadlocks has no
    /// site, so it cannot be removed from a program that answers other questions, too.
    fn has_own_program(&self, question: usize) -> bool {
        let is_own = |check: &Check| {
            check.is_fault() || matches!(check, Check::Call | Check::Memory | Check::DataRace | Check::Deadlock)
        };
        self.questions[question].checks.iter().any(is_own)
    }

    /// Returns true if the questions of the group share a program.
    fn is_common(&self, group: &Group) -> bool {
        !group.questions.iter().any(|&question| self.has_own_program(question))
    }

    /// Returns the index of the question whether accesses are valid.
    fn of_memory(&self) -> Option<usize> {
        self.questions.iter().position(|a| a.checks.contains(&Check::Deref))
    }

    /// Repeats the proofs that rest on executions that end at invalid accesses, if some accesses were found to be
    /// invalid.
    fn go_behind_faults(&mut self, proved: Vec<Group>) -> Result<(), Failure> {
        let Some(memory) = self.of_memory() else { return Ok(()) };
        let is_of_memory = |group: &Group| group.questions.contains(&memory) || group.held.contains(&memory);
        let ended = |group: &Group| group.ends_at_access.load(Ordering::Relaxed) && !is_of_memory(group);
        let mut groups: Vec<Group> = proved.into_iter().filter(ended).collect();
        let count = groups.len();
        for (i, group) in groups.iter_mut().enumerate() {
            if self.invalid.is_empty() {
                continue;
            }
            let whole = group.whole.take();
            group.restore();
            let Some(program) = group.program.as_mut() else { continue };
            group.questions.append(&mut group.held);
            self.leave_out_others(&group.questions, program);
            group.guard_all(&self.invalid);
            if whole.is_none() {
                self.looks.again();
                self.discharge(group);
                if group.questions.is_empty() {
                    continue;
                }
            }
            let share = self.share(group, count - i, 1);
            if !matches!(self.attempt(group, share)?, Attempt::Decided) {
                // An earlier proof stands.
                let shared = self.session.shared();
                let unviolated = group.questions.iter().copied().filter(|&a| shared.checks[a].violations.is_empty());
                let unviolated: Vec<usize> = unviolated.collect();
                drop(shared);
                self.settle(&unviolated, &Rest::Proved);
                group.ends_at_access.store(true, Ordering::Relaxed);
            }
        }
        let mut shared = self.session.shared();
        if matches!(shared.checks[memory].rest, Rest::Proved) {
            for group in
                groups.iter().filter(|group| self.invalid.is_empty() || !group.ends_at_access.load(Ordering::Relaxed))
            {
                let all = group.questions.iter().chain(&group.held);
                all.for_each(|&question| shared.checks[question].assumes_valid_accesses = false);
            }
        }
        Ok(())
    }

    /// Records the result for everything in these questions that is not violated.
    fn settle(&self, questions: &[usize], rest: &Rest) {
        let mut shared = self.session.shared();
        for &question in questions {
            shared.checks[question].rest = rest.clone();
        }
    }

    /// Records a violation with the question that it answers.
    fn violated(&mut self, questions: &[usize], violation: Violation) {
        let mut shared = self.session.shared();
        shared.violation = None;
        let question = questions
            .iter()
            .copied()
            .find(|&question| shared.checks[question].properties.contains(&violation.property));
        add_violation(&mut shared.checks, question.unwrap_or(questions[0]), violation);
    }

    /// Combines all results into one.
    fn finish(self) -> Finished {
        let checks = self.session.shared().checks.clone();
        let mut all = Finished::new(Answer::summarise(&checks));
        let late = checks.iter().position(|check| matches!(check.answer(), Answer::Unknown { .. }));
        if let (Answer::Unknown(undecided), Some(limit)) = (&mut all.answer, self.session.limits.nearest())
            && late.is_some_and(|question| self.late.contains(&question))
        {
            // The reason of the check names its share, which is not the limit that the user can change.
            let text = if checks.len() > 1 { format!("{limit}, divided among the checks") } else { limit.to_string() };
            *undecided = Undecided { text, ..Undecided::at_limit(limit) };
        }
        let nothing =
            self.parts.iter().filter(|p| matches!(p.answer, Answer::True)).map(|p| p.proved.nothing_checked.clone());
        let nothing: Vec<Option<String>> = nothing.collect();
        let has_places = checks.iter().any(|c| c.places.all > 0);
        // Data races and deadlocks have no places, but a proof of them checks something.
        let has_checks = nothing.iter().any(Option::is_none);
        if matches!(all.answer, Answer::True) && !has_checks && !(has_places && nothing.is_empty()) {
            let why = format!("no check is reachable from {}", self.session.job.load.entry);
            all.proved.nothing_checked = match has_places {
                false => Some(why),
                true => nothing.into_iter().collect::<Option<Vec<String>>>().and_then(|all| all.into_iter().next()),
            };
        }
        let asks_of_memory = self.of_memory().is_some();
        for part in self.parts {
            let decides = match (&all.answer, &part.answer) {
                (Answer::False(all), Answer::False(part)) => all.property == part.property,
                (Answer::True, Answer::True) => true,
                _ => false,
            };
            if decides && all.decided_by.is_none() {
                (all.decided_by, all.proof, all.graph) = (part.decided_by, part.proof, part.graph);
            }
            if !asks_of_memory && part.proved.assumed_writes.count > all.proved.assumed_writes.count {
                all.proved.assumed_writes = part.proved.assumed_writes;
            }
            all.turns.extend(part.turns);
            all.increments.extend(part.increments);
            all.rankings.extend(part.rankings);
            all.crashes.extend(part.crashes);
            all.has_crashed |= part.has_crashed;
            // The proof of one check is about executions up to a violation of another.
            if matches!(all.answer, Answer::True) && all.proved.invariants.is_empty() {
                all.proved.invariants = part.proved.invariants;
            }
            for note in part.notes {
                if !all.notes.iter().any(|n| n.text == note.text && n.spot == note.spot) {
                    all.notes.push(note);
                }
            }
        }
        // A crash does not matter if another analysis reached a verdict.
        if !matches!(all.answer, Answer::Unknown { .. }) {
            all.has_crashed = false;
        }
        all
    }
}

/// Returns the places of edges, sorted by source position. The place of an edge in a library model is that of the calls
/// that may lead to it.
fn spots(program: &Program, edges: impl Iterator<Item = EdgeId>) -> Vec<Spot> {
    let is_of_model = |func: FuncId| program.funcs[func].origin == FunctionOrigin::Model;
    let (of_models, mut own): (Vec<EdgeId>, Vec<EdgeId>) = edges.partition(|&edge| is_of_model(program.func_of(edge)));
    if !of_models.is_empty() {
        let calls = CallGraph::new(program);
        let mut models: Vec<FuncId> = of_models.into_iter().map(|edge| program.func_of(edge)).collect();
        let mut seen: FxHashSet<FuncId> = models.iter().copied().collect();
        while let Some(model) = models.pop() {
            for call in calls.callers(model) {
                let caller = program.func_of(call);
                match is_of_model(caller) {
                    true => models.extend(seen.insert(caller).then_some(caller)),
                    false => own.push(call),
                }
            }
        }
    }
    let sources = Sources::new();
    let own = own.into_iter().filter_map(|edge| sources.spot(program, program.edges[edge].place?));
    let mut spots: Vec<Spot> = own.filter(|spot| spot.column > 0).collect();
    spots.sort();
    spots.dedup();
    spots
}
