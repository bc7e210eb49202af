//! The stages of a verification, run by the worker thread: load, instrument, analyse, replay.

mod proved;
mod vacuity;

use crate::blame;
use crate::cache::{Cache, Place};
use crate::cooperation::Cooperation;
use crate::crash;
use crate::failure::{Failure, exit};
use crate::files::Outputs;
use crate::harness::{self, Subject};
use crate::html::Exhibits;
use crate::job::Job;
use crate::knowledge::Known;
use crate::limits::Limits;
use crate::literals;
use crate::report::{Answer, CheckResult, Increment, Note, PartReport, Ranking, Undefined, Violation};
use crate::source::Sources;
use crate::termination;
use crate::trace::{self, Trace};
use crate::trace::{declared, elsewhere};
use crate::witness::weave::INVARIANT;
use crate::{output, questions};
use cfa::interp::Inputs;
use cfa::{CallGraph, Edge, FunctionOrigin, InputKind, Leak, Op, Program};
use cooperate::stealing::{self, Idle};
use engine::budget::Budget;
use engine::{Config, Counterexample, Reason, Verdict};
use frontend_llvm::{DataModel, Loader, Options, UndefinedFunctions, is_library};
use instrument::vacuity::Assumptions;
use instrument::{Property, Site};
pub use proved::Proved;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Slicing takes at most this long, and at most a fifth of the time left.
const SLICING: Duration = Duration::from_secs(60);
/// A replay takes at most this long, and at most a fifth of the time left.
pub const REPLAY: Duration = Duration::from_secs(60);

/// What the worker knows so far: all there is to report if it must be left behind.
#[derive(Default)]
pub struct Shared {
    /// What it is doing, for people.
    pub phase: &'static str,
    pub engine: Option<engine::Stats>,
    /// Counters and times of finished stages.
    pub times: Vec<(String, f64)>,
    pub models: Vec<String>,
    pub data_model: Option<DataModel>,
    pub warnings: Vec<String>,
    /// What is assumed of the call that the program starts with, and of functions that nobody defines.
    pub assumptions: Vec<String>,
    pub undefined: Vec<Undefined>,
    pub exhibits: Exhibits,
    /// What became of the parts of the paths.
    pub parts: Vec<PartReport>,
    /// The tool of others that decided.
    pub external: Option<&'static str>,
    /// What has been verified, as a file.
    pub condition: Option<String>,
    /// What is known, as a file.
    pub gia: Option<String>,
    /// A violation that was confirmed but not yet explained.
    pub violation: Option<Violation>,
    /// The C file that brings about the first violation that was explained.
    pub harness: Option<String>,
    /// Where several things are asked: what came of each so far.
    pub checks: Vec<CheckResult>,
    /// The program has assumptions.
    pub assumes: bool,
    /// The verdict on what was asked, as soon as there is one: nothing that is described, drawn or saved afterwards takes it back.
    pub reached: Option<Finished>,
}

impl Shared {
    /// A cache that cannot be written to is no reason to fail.
    pub(crate) fn warn_of_cache(&mut self, kept: Result<(), Failure>) {
        if let Err(failure) = kept {
            self.warnings.push(format!("the verdict is not kept in the cache: {failure}"));
        }
    }

    fn assume(&mut self, assumptions: impl IntoIterator<Item = String>) {
        for assumption in assumptions {
            if !self.assumptions.contains(&assumption) {
                self.assumptions.push(assumption);
            }
        }
    }

    /// Adds a counter or a time of a stage, which may have been done before.
    pub(crate) fn count(&mut self, name: &str, value: f64) {
        match self.times.iter_mut().find(|(n, _)| n == name) {
            Some((_, before)) if name.ends_with("_seconds") => *before += value,
            Some((_, before)) => *before = before.max(value),
            None => self.times.push((name.to_owned(), value)),
        }
    }
}

/// What the worker comes back with.
#[derive(Clone)]
pub struct Finished {
    pub answer: Answer,
    pub notes: Vec<Note>,
    pub decided_by: Option<&'static str>,
    /// Of TRUE: what the proof checker says.
    pub proof: Option<String>,
    pub turns: Vec<engine::Turn>,
    pub increments: Vec<Increment>,
    pub rankings: Vec<Ranking>,
    pub graph: Vec<engine::arg::Shape>,
    /// Analyses that ended by an internal error, and what it was.
    pub crashes: Vec<(&'static str, String)>,
    /// They are why there is no verdict.
    pub has_crashed: bool,
    /// Of UNKNOWN: the part of the paths that was asked for is proved.
    pub proved_part: bool,
    pub proved: Proved,
    /// Of FALSE: where it happens.
    pub site: Option<Site>,
}

impl Finished {
    pub fn new(answer: Answer) -> Self {
        Self {
            answer,
            notes: Vec::new(),
            decided_by: None,
            proof: None,
            turns: Vec::new(),
            increments: Vec::new(),
            rankings: Vec::new(),
            graph: Vec::new(),
            crashes: Vec::new(),
            has_crashed: false,
            proved_part: false,
            proved: Proved::default(),
            site: None,
        }
    }
}

#[derive(Clone)]
pub struct Pipeline {
    pub job: Arc<Job>,
    /// Of all programs that are made for the job.
    pub loader: Arc<Loader>,
    pub config: Config,
    pub budget: Budget,
    pub limits: Limits,
    pub shared: Arc<Mutex<Shared>>,
    pub wants_harness: bool,
    pub wants_exhibits: bool,
    /// What holds at loops is to be said of every proof.
    pub wants_invariants: bool,
    /// What will be written.
    pub outputs: Outputs,
    /// Only what the errors depend on is analysed, with such control dependences.
    pub slicing: Option<slicer::Control>,
    /// Which part of the paths is looked at, and by whom.
    pub cooperation: Arc<Cooperation>,
    /// Verdicts of before. Those of termination are not kept.
    pub cache: Option<Cache>,
    /// Its verdict is that of the command: what is asked is neither a part of a question nor a step on the way to another answer.
    pub is_answer: bool,
}

/// A verdict, and what there is to describe it with.
pub(crate) struct Decided {
    pub finished: Finished,
    outcome: engine::Outcome,
    slice: Option<slicer::Slice>,
    /// The outcome speaks of the slice.
    is_of_slice: bool,
}

impl Decided {
    fn analysed<'a>(&'a self, program: &'a Program) -> &'a Program {
        self.slice.as_ref().filter(|_| self.is_of_slice).map_or(program, |slice| &slice.program)
    }
}

impl Pipeline {
    pub fn run(&self) -> Result<Finished, Failure> {
        let mut finished = match self.job.asks_one_thing() {
            true => self.answer(),
            false => questions::run(self),
        }?;
        self.keep(&finished);
        if let Err(what) = crash::guarded(|| self.look_for_vacuity(&mut finished)) {
            self.warn_of_defect("looking whether executions satisfy the assumptions", &what);
        }
        Ok(finished)
    }

    /// The answer to one question.
    pub(crate) fn answer(&self) -> Result<Finished, Failure> {
        if let [Property::Termination] = self.job.properties[..] {
            return termination::run(self);
        }
        if let Some(unsupported) = self.job.properties.iter().find(|p| p.checks().is_empty()) {
            let reason = format!("property {} is not supported", unsupported.name());
            return Ok(Finished::new(Answer::Unknown { reason, spot: None }));
        }
        let (mut program, place) = self.prepare()?;
        let known = self.cooperation.known(&mut program)?;
        let holds_anyway = self.cooperation.is_none() && questions::leave_out_valid(self, &mut program);
        let mut finished = self.decide_and_describe(&program, place.as_ref(), known);
        if holds_anyway {
            finished.proved.nothing_checked = None;
        }
        Ok(finished)
    }

    /// The program as it is, and where its verdict may be kept.
    pub(crate) fn load(&self) -> Result<(Program, Option<Place>), Failure> {
        self.load_with(&self.job.load)
    }

    /// As [`load`](Self::load), with other options.
    pub(crate) fn load_with(&self, options: &Options) -> Result<(Program, Option<Place>), Failure> {
        // What is written of a program is so of what nothing reaches, too, and functions that are asked about must be there; parts of the
        // paths are told by numbers.
        let names_functions = self.job.errors_named || !options.watched.is_empty();
        let is_all = self.wants_exhibits || self.wants_harness || names_functions || !self.cooperation.is_none();
        let options = Options { only_reachable: !is_all, ..options.clone() };
        let loaded = self.stage("loading the program", "load", || {
            let module = load_module(&self.loader, &options, &self.budget)?;
            let place = self.cache.as_ref().map(|cache| cache.place(&module, &self.job, &options));
            let mut program = module.lower().map_err(|e| loading(&e))?;
            literals::share(&mut program, Some(Instant::now() + self.share_of_time(SLICING)));
            Ok::<_, Failure>((program, place))
        })?;
        self.outputs.spare(loaded.0.files.values().map(|f| Path::new(&f.path)))?;
        Ok(loaded)
    }

    /// The program with errors where it violates what is asked, and where its verdict may be kept.
    pub(crate) fn prepare(&self) -> Result<(Program, Option<Place>), Failure> {
        let (mut program, place) = self.load()?;
        self.instrument(&mut program)?;
        self.describe(&program);
        Ok((program, place))
    }

    /// Whether an error of the program can be reached, and what there is to say of the verdict.
    fn decide_and_describe(&self, program: &Program, place: Option<&Place>, known: Known) -> Finished {
        let decided = self.decide(program, place, known);
        let proved = self.describe_proof(program, &decided);
        Finished { proved, ..decided.finished }
    }

    /// Whether an error of the program can be reached.
    pub(crate) fn decide(&self, program: &Program, place: Option<&Place>, known: Known) -> Decided {
        let slice = match self.cooperation.is_none() {
            true => self.stage("slicing", "slicing", || self.slice(program)),
            // Each part has its own.
            false => None,
        };
        let undefined = undefined(program, slice.as_ref().map_or(program, |s| &s.program), &self.job.error_functions);
        if undefined.iter().any(|f| f.relevant > 0) {
            let assumption = self.job.assumption_of_undefined().map(str::to_owned);
            self.shared().assume(assumption);
        }
        self.shared().undefined = undefined;
        if self.wants_exhibits {
            // Several questions tell themselves where they look.
            let is_only = self.shared().checks.is_empty();
            let property = |check| self.job.violated(check).to_owned();
            let property = is_only.then_some(&property as &dyn Fn(cfa::Check) -> String);
            let exhibits = Exhibits::of(program, slice.as_ref(), property, &Sources::new());
            self.shared().exhibits.absorb(exhibits);
        }
        let kept = self.stage("asking the cache", "cache", || {
            place.and_then(|place| place.outcome(program, self.share_of_time(REPLAY)))
        });
        let is_new = kept.is_none();
        let (outcome, is_of_slice) = self.stage("the analysis", "analysis", || match kept {
            Some(kept) => {
                self.shared().count("from_cache", 1.0);
                (kept, true)
            }
            None if !self.cooperation.is_none() => (self.cooperate(program, known), false),
            None => self.analyse(program, slice.as_ref()),
        });
        self.reach(program, &outcome);
        if let Some(place) = place.filter(|_| is_new && self.cooperation.is_none()) {
            let kept = self.afterwards("keeping the verdict in the cache", "cache", || Some(place.keep(&outcome)));
            self.shared().warn_of_cache(kept.unwrap_or(Ok(())));
        }
        self.shared().engine = Some(outcome.stats);
        self.in_words(program, Decided { finished: Finished::new(Answer::True), outcome, slice, is_of_slice })
    }

    /// Puts into words what came out.
    fn in_words(&self, program: &Program, mut decided: Decided) -> Decided {
        let sources = Sources::new();
        let outcome = &decided.outcome;
        let analysed = decided.analysed(program);
        if self.wants_exhibits {
            self.afterwards("showing what was explored", "exhibits", || {
                self.shared().exhibits.add_explored(analysed, &outcome.coverage, &outcome.arg, &sources);
            });
        }
        let note = |reason: &Reason| Note {
            text: reason.text.clone(),
            spot: reason.place.and_then(|p| sources.spot(program, blame::users_place(program, p))),
        };
        let notes = outcome.reasons.iter().map(note).collect();
        let increment = |l: &engine::Increment| Increment {
            spot: l.goal.and_then(|p| sources.spot(analysed, p)),
            tracked: l.tracked.clone(),
        };
        let increments = outcome.increments.iter().map(increment).collect();
        let is_decided = !matches!(outcome.verdict, Verdict::Unknown(_));
        let answer = match &outcome.verdict {
            Verdict::True => Answer::True,
            Verdict::Unknown(reason) => {
                let Note { text, spot } = note(reason);
                Answer::Unknown { reason: text, spot }
            }
            Verdict::False(found) => self.explain(program, found, &sources),
        };
        let site = match &outcome.verdict {
            Verdict::False(found) => Site::of_path(program, &found.path, found.error)
                .map(|site| site.at_origin(program, &found.inputs, engine::replay_limits(self.share_of_time(REPLAY)))),
            _ => None,
        };
        let external = self.shared().external;
        let decided_by = is_decided.then(|| external.unwrap_or(outcome.decided_by.name()));
        let proof = outcome.proof.as_ref().map(ToString::to_string);
        let has_crashed = outcome.has_crashed();
        let proved_part = self.cooperation.proves_part(outcome);
        let crashes = outcome.crashes.iter().map(|c| (c.analysis.name(), crash::with_place(&c.message))).collect();
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
            self.keep(&finished);
        }
        decided.finished = finished;
        decided
    }

    /// Keeps the result of the command, whatever happens from here on.
    fn keep(&self, finished: &Finished) {
        if self.is_answer {
            crash::reached(&finished.answer);
            self.shared().reached = Some(finished.clone());
        }
    }

    /// Keeps a verdict before it is put into words.
    pub(crate) fn reach(&self, program: &Program, outcome: &engine::Outcome) {
        let decided_by = Some(self.shared().external.unwrap_or(outcome.decided_by.name()));
        let answer = match &outcome.verdict {
            Verdict::Unknown(_) => return,
            Verdict::True => Answer::True,
            Verdict::False(found) => {
                let error = &program.errors[found.error];
                let property = self.job.violated(error.check).to_owned();
                Answer::False(Box::new(Violation::new(property, error.message.clone())))
            }
        };
        self.keep(&Finished { decided_by, ..Finished::new(answer) });
    }

    fn warn_of_defect(&self, phase: &str, what: &str) {
        let text = format!("{phase} ended by an {what}\n  = note: {}", output::DEFECT);
        self.shared().warnings.push(text);
    }

    /// Does what a verdict does not need. If it panics, a warning says so, and the verdict stands.
    pub(crate) fn afterwards<T: Default>(&self, phase: &'static str, name: &str, work: impl FnOnce() -> T) -> T {
        crash::guarded(|| self.stage(phase, name, work)).unwrap_or_else(|what| {
            self.warn_of_defect(phase, &what);
            T::default()
        })
    }

    pub(crate) fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a stage and records its time.
    pub(crate) fn stage<T>(&self, phase: &'static str, name: &str, work: impl FnOnce() -> T) -> T {
        self.shared().phase = phase;
        let start = Instant::now();
        let result = work();
        self.shared().count(&format!("{name}_seconds"), start.elapsed().as_secs_f64());
        result
    }

    fn instrument(&self, program: &mut Program) -> Result<(), Failure> {
        instrument::memory_safety(program, &self.job.load.checks);
        instrument::uninitialised(program, &self.job.load.checks);
        let found = instrument::unreach_call(program, &self.job.error_functions);
        // Of an invariant of a witness that always holds (`1`) the compiler leaves nothing.
        if self.job.errors_named
            && let Some(name) = found.missing.iter().find(|name| !name.starts_with(INVARIANT) && !is_library(name))
        {
            return Err(Failure::data(format!("no function '{name}' is defined, declared or called in the program")));
        }
        if let Some((variable, value)) = self.job.calls_count_while {
            instrument::only_while(program, &found.errors, variable, value);
        }
        self.job.weave(program)?;
        for (name, why) in [("assert", " (<assert.h> is not included)"), ("__VERIFIER_assert", "")] {
            if program.models.iter().any(|model| model == name) {
                let text = format!("nobody defines {name}{why}: calls of it are taken as assertions");
                self.shared().warnings.push(text);
            }
        }
        for (name, place) in &program.undeclared {
            let spot = place.and_then(|place| Sources::new().spot(program, place));
            let at = spot.map_or(String::new(), |spot| format!(" at {spot}"));
            self.shared()
                .warnings
                .push(format!("{name} is not declared: calls of it (the first{at}) are taken to return int"));
        }
        Ok(())
    }

    /// Records the size of the program.
    pub(crate) fn describe(&self, program: &Program) {
        let assumes = !Assumptions::of(program).is_empty();
        let mut shared = self.shared();
        shared.assumes |= assumes;
        shared.models.clone_from(&program.models);
        if program.func_by_name(frontend_llvm::FOLLOW).is_some() {
            shared.assume(self.job.assumptions());
        }
        shared.assume(declared::assumption(program));
        shared.assume(self.job.assumptions_of_automata());
        shared.data_model = Some(DataModel::of_pointer_width(program.layout.pointer_width));
        for (name, count) in [
            ("functions", program.funcs.len()),
            ("locations", program.locs.len()),
            ("edges", program.edges.len()),
            ("variables", program.vars.len()),
        ] {
            shared.count(name, count as f64);
        }
    }

    /// The part of the program on which the errors depend; `None` if it is not wanted or takes too long to find.
    pub(crate) fn slice(&self, program: &Program) -> Option<slicer::Slice> {
        let control = self.slicing?;
        if program.edges.values().any(|e| e.op == Op::Leak(Leak::Lost) && e.fault.is_some()) {
            // All that holds pointers matters.
            return None;
        }
        let criteria: Vec<_> = program.edges.iter().filter(|(_, e)| is_target(e)).map(|(id, _)| id).collect();
        let deadline = Some(Instant::now() + self.share_of_time(SLICING));
        let options = slicer::Options { control, deadline, ..slicer::Options::default() };
        match slicer::slice(program, &criteria, &options) {
            Ok(slice) => {
                let (before, after) = slice.stats.edges;
                if self.cooperation.is_none() {
                    self.shared().count("edges_in_slice", after as f64);
                }
                debug_assert!(after <= before);
                Some(slice)
            }
            // Without an error to reach there is nothing to analyse.
            Err(slicer::Error::NoCriterion) => None,
            Err(error) => {
                self.shared().warnings.push(format!("the whole program is analysed: {error}"));
                None
            }
        }
    }

    /// At most `most`, and at most a fifth of the time left.
    pub(crate) fn share_of_time(&self, most: Duration) -> Duration {
        self.limits.left().map_or(most, |left| (left / 5).min(most))
    }

    /// The outcome, and whether it speaks of the slice: it speaks of the whole where the slice is not enough.
    fn analyse(&self, program: &Program, slice: Option<&slicer::Slice>) -> (engine::Outcome, bool) {
        let outcome = self.ask(program, program, slice, &self.config, &self.budget, others(&self.config).as_ref());
        if slice.is_some() && matches!(outcome.verdict, Verdict::Unknown(_)) && self.budget.spent().is_none() {
            // The slice is not enough: a loop without end that it lacks, for one, may keep the program from the error.
            let (mut of_whole, _) = self.analyse(program, None);
            // The same defect is told once.
            let before: Vec<_> = outcome.crashes.into_iter().filter(|c| !of_whole.crashes.contains(c)).collect();
            of_whole.crashes.extend(before);
            return (of_whole, false);
        }
        (outcome, true)
    }

    /// Asks whether a part of the program has an error that can be reached, or what is left of the part in a slice. The inputs of a part
    /// are those of the program.
    pub(crate) fn ask(
        &self,
        program: &Program,
        part: &Program,
        slice: Option<&slicer::Slice>,
        config: &Config,
        budget: &Budget,
        idle: Option<&Idle>,
    ) -> engine::Outcome {
        let replay = |inputs: &Inputs, error| {
            let time = self.share_of_time(REPLAY);
            let inputs = match slice {
                Some(slice) => {
                    let fast = engine::simplify::accelerated(part);
                    slice.inputs_of_original(fast.as_ref().unwrap_or(part), inputs, engine::replay_limits(time))
                }
                None => inputs.clone(),
            };
            engine::replay(program, &inputs, error, time).map(|path| (inputs, path))
        };
        let progress = |stats: &engine::Stats| self.shared().engine = Some(*stats);
        let analysed = slice.map_or(part, |s| &s.program);
        let lacks_frees = slice.is_some() && cfa::facts::frees(part);
        let config = Config { stop_at_unconfirmed: slice.is_some(), lacks_frees, ..config.clone() };
        match idle {
            Some(idle) => stealing::verify(analysed, &config, budget, &replay, &progress, idle),
            // To be ready to share costs: paths are kept, and calls are followed edge by edge.
            None => engine::verify(analysed, &config, budget, &replay, &progress),
        }
    }

    /// Says how a confirmed violation comes about.
    fn explain(&self, program: &Program, found: &Counterexample, sources: &Sources) -> Answer {
        let error = &program.errors[found.error];
        let property = self.job.violated(error.check).to_owned();
        let mut violation = Violation::new(property, error.message.clone());
        self.shared().violation = Some(violation.clone());
        let recorded = self
            .afterwards("replaying the violation", "trace", || Some(trace::record(program, &found.inputs, sources)));
        let Some(recorded) = recorded else { return Answer::False(Box::new(violation)) };
        match recorded {
            Ok(mut trace) => {
                // Constructors run before, and are called by nobody else.
                let entry = &self.job.load.entry;
                trace.arguments.take_if(|call| entry == "main" || call.function != *entry);
                if trace.arguments.is_some() && self.job.load.entry_memory.globals {
                    let doubt = "global variables hold other values at first than C gives them";
                    trace.environment.doubts.push(doubt.into());
                }
                let time = engine::replay_limits(self.share_of_time(REPLAY));
                if elsewhere::differs_by_literals(program, &found.inputs, found.error, time) {
                    let doubt = "it depends on which string literals share memory, which C leaves open (C17, 6.4.5p7)";
                    trace.environment.doubts.push(doubt.into());
                }
                if self.wants_harness && self.shared().harness.is_none() {
                    let not_passed = harness::not_passed(&trace, program.layout.pointer_width == 32);
                    let warnings = not_passed.iter().map(|what| format!("the harness cannot give {what}"));
                    self.shared().warnings.extend(warnings);
                    let spot = trace.spot.as_ref().map_or_else(String::new, |s| format!(" at {s}"));
                    let of = format!("with which this happens{spot}: {}", trace.message);
                    let harness = harness_of(&self.job, program, &trace, of, error.check.sanitizer());
                    self.shared().harness = Some(harness);
                }
                let time = engine::replay_limits(self.share_of_time(REPLAY));
                violation.depends_on_addresses = elsewhere::differs(program, &found.inputs, found.error, time);
                violation.message.clone_from(&trace.message);
                violation.trace = Some(trace);
            }
            // The engine's replay went through, so this is a limit of the second one.
            Err(outcome) => self.shared().warnings.push(format!("the trace is incomplete: {outcome:?}")),
        }
        Answer::False(Box::new(violation))
    }
}

/// The C harness that gives the program the inputs of a violation or of a test.
pub fn harness_of(job: &Job, program: &Program, trace: &Trace, of: String, sanitizer: Option<&'static str>) -> String {
    let files: Vec<String> = job.load.files().iter().map(|f| f.display().to_string()).collect();
    let ilp32 = program.layout.pointer_width == 32;
    let errors = &job.error_functions;
    let undefined: BTreeSet<String> = program
        .funcs
        .values()
        .filter(|f| f.origin == FunctionOrigin::Undefined && !in_library(&f.name))
        .filter(|f| !errors.iter().any(|name| f.is_named(name)))
        .map(|f| f.symbol.as_ref().unwrap_or(&f.name).clone())
        .chain(uncalled(program, trace))
        .collect();
    let models = &program.models;
    let undefined_return = job.load.undefined_functions == UndefinedFunctions::Pure;
    let subject = Subject {
        files: &files,
        error_functions: errors,
        undefined: &undefined,
        undefined_return,
        models,
        ilp32,
        of,
        sanitizer,
    };
    harness::write(trace, &subject)
}

/// Whether the C library defines a function that is no model, but known to the front-end.
fn in_library(name: &str) -> bool {
    frontend_llvm::is_known(name) && !name.starts_with("__") && !name.starts_with("nondet_") && name != "reach_error"
}

/// The functions that nobody defines, with their calls, and those of them in the part that is analysed.
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
            *calls.entry(func.name.clone()).or_default() += reached;
        }
        calls
    };
    let relevant = calls(analysed);
    let all = calls(program).into_iter().filter(|(_, calls)| *calls > 0);
    all.map(|(name, calls)| Undefined { relevant: relevant.get(&name).copied().unwrap_or(0), name, calls }).collect()
}

/// Functions that give inputs, but none on the way to the error.
fn uncalled(program: &Program, trace: &Trace) -> BTreeSet<String> {
    let called = |name: &String| trace.inputs.iter().any(|i| matches!(&i.kind, InputKind::Nondet(n) if n == name));
    let names = program.inputs.values().filter_map(|input| match &input.kind {
        InputKind::Nondet(name) => Some(name.clone()),
        _ => None,
    });
    names.filter(|name| !called(name)).collect()
}

/// Whether the edge may be a violation.
fn is_target(edge: &Edge) -> bool {
    edge.fault.is_some() || matches!(edge.op, Op::Error(_))
}

/// Compiles and lowers the input, unless the budget is cancelled meanwhile.
pub fn load(options: &Options, budget: &Budget) -> Result<Program, Failure> {
    load_module(&Loader::default(), options, budget)?.lower().map_err(|e| loading(&e))
}

/// Compiles and links the input.
pub fn load_module(loader: &Loader, options: &Options, budget: &Budget) -> Result<frontend_llvm::Module, Failure> {
    let stop = || budget.spent().is_some();
    loader.load(options, &stop).map_err(|e| loading(&e))
}

/// As [`load`], with the module to cut down to a part of the program.
pub fn load_to_cut(options: &Options) -> Result<(Program, frontend_llvm::Cut), Failure> {
    frontend_llvm::load_to_cut(options).map_err(|e| loading(&e))
}

pub fn loading(error: &frontend_llvm::Error) -> Failure {
    let code = error.exit_code();
    match error {
        frontend_llvm::Error::Compile { path, messages } => {
            let mut failure = Failure::new(code, format!("clang cannot compile {}", path.display()));
            failure.detail = Some(messages.clone());
            failure
        }
        _ => {
            let mut failure = Failure::new(if code == 0 { exit::INTERNAL } else { code }, error.to_string());
            failure.detail = error.notes();
            failure
        }
    }
}

/// The threads that --jobs allows beside the first, if any.
pub(crate) fn others(config: &Config) -> Option<Idle> {
    (config.jobs > 1).then(|| Idle::new(config.jobs - 1))
}
