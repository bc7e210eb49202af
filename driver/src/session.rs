//! A run: what it verifies, with what, how long, and what it has found so far. The stages of a verification work on it.

use crate::cache::{Cache, Place};
use crate::config::Records;
use crate::evidence::exhibits::Exhibits;
use crate::evidence::reproduction::Reproduction;
use crate::failure::Failure;
use crate::files::Outputs;
use crate::job::{INVARIANT, Job};
use crate::limits::Limits;
use crate::literals;
use crate::load::{load_module, loading};
use crate::panics;
use crate::plan::Plan;
use crate::remedies::Obstacle;
use crate::report::{Answer, CheckResult, Increment, Note, PartReport, Proved, Ranking, Undefined, Violation};
use crate::source::Sources;
use crate::trace::declared;
use cfa::interp::Inputs;
use cfa::{AllocKind, Check, Edge, Leak, Op, Program};
use cooperate::stealing::{self, Idle};
use engine::budget::Budget;
use engine::{Config, Verdict};
use frontend_llvm::{DataModel, Loader, Options, is_library};
use instrument::Site;
use instrument::vacuity::Assumptions;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Slicing takes at most this long, and at most a fifth of the time left.
pub const SLICING: Duration = Duration::from_secs(60);

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
    /// The first violation that was explained, as it can be reproduced natively.
    pub reproduction: Option<Reproduction>,
    /// Where several things are asked: what came of each so far.
    pub checks: Vec<CheckResult>,
    /// What the last undecided question depends on.
    pub obstacles: Vec<Obstacle>,
    /// The program has assumptions.
    pub assumes: bool,
    /// The program calls `malloc` or a function like it.
    pub allocates: bool,
    /// The verdict on what was asked, as soon as there is one: nothing that is described, drawn or saved afterwards takes it back.
    pub reached: Option<Finished>,
}

impl Shared {
    /// A cache that cannot be written to is no reason to fail.
    pub fn warn_of_cache(&mut self, kept: Result<(), Failure>) {
        if let Err(failure) = kept {
            self.warnings.push(format!("the verdict is not kept in the cache: {failure}"));
        }
    }

    pub fn assume(&mut self, assumptions: impl IntoIterator<Item = String>) {
        for assumption in assumptions {
            if !self.assumptions.contains(&assumption) {
                self.assumptions.push(assumption);
            }
        }
    }

    /// Adds a counter or a time of a stage, which may have been done before.
    pub fn count(&mut self, name: &str, value: f64) {
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

/// A run and its state, which the worker shares with the thread that watches it.
#[derive(Clone)]
pub struct Session {
    pub job: Arc<Job>,
    /// Of all programs that are made for the job.
    pub loader: Arc<Loader>,
    pub config: Config,
    pub budget: Budget,
    pub limits: Limits,
    pub shared: Arc<Mutex<Shared>>,
    /// What is recorded besides the report.
    pub records: Records,
    /// What will be written.
    pub outputs: Outputs,
    /// Only what the errors depend on is analysed, with such control dependences.
    pub slicing: Option<slicer::Control>,
    /// Which part of the paths is looked at, and by whom.
    pub plan: Arc<Plan>,
    /// Verdicts of before. Those of termination are not kept.
    pub cache: Option<Cache>,
    /// Its verdict is that of the command: what is asked is neither a part of a question nor a step on the way to another answer.
    pub is_answer: bool,
    /// It ends at the first violation of anything that is asked.
    pub stops_at_first: bool,
    /// Follows the run.
    pub observer: Arc<dyn Observer>,
}

/// Follows a run, for its user. The methods are called from several threads.
pub trait Observer: Send + Sync {
    /// The run works on this phase, about fifty times a second. `checks` are the results so far if several things are asked. The run
    /// waits while this works.
    fn progress(&self, _phase: &'static str, _stats: Option<&engine::Stats>, _checks: &[CheckResult]) {}
    /// The run has reached its verdict. The verdict stands, but it is not described yet.
    fn verdict(&self, _answer: &Answer) {}
    /// A defect of the verifier ended the run, or a part of it.
    fn internal_error(&self, _message: &str) {}
}

/// An observer that does nothing.
impl Observer for () {}

impl Session {
    /// The program as it is with these options, and where its verdict may be kept.
    pub fn load_with(&self, options: &Options) -> Result<(Program, Option<Place>), Failure> {
        // What is written of a program is so of what nothing reaches, too, and functions that are asked about must be there; parts of the
        // paths are told by numbers.
        let names_functions = self.job.errors_named || !options.watched.is_empty();
        let is_all = self.records.exhibits || self.records.reproduction || names_functions || !self.plan.is_none();
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
    pub fn prepare(&self) -> Result<(Program, Option<Place>), Failure> {
        // Who shares the work follows one thread, and so does who looks for ends.
        let threads = self.plan.is_none() && !self.job.is_about_ends();
        let (mut program, place) = self.load_with(&Options { threads, ..self.job.load.clone() })?;
        self.instrument(&mut program)?;
        self.describe(&program);
        Ok((program, place))
    }

    /// Keeps the result of the command, whatever happens from here on.
    pub fn keep(&self, finished: &Finished) {
        if self.is_answer {
            self.observer.verdict(&finished.answer);
            self.shared().reached = Some(finished.clone());
        }
    }

    /// Keeps a verdict before it is put into words.
    pub fn reach(&self, program: &Program, outcome: &engine::Outcome) {
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

    pub fn warn_of_defect(&self, phase: &str, what: &str) {
        let text = format!("{phase} ended by an {what}\n  = note: {}", panics::DEFECT);
        self.shared().warnings.push(text);
    }

    /// Does what a verdict does not need. If it panics, a warning says so, and the verdict stands.
    pub fn afterwards<T: Default>(&self, phase: &'static str, name: &str, work: impl FnOnce() -> T) -> T {
        panics::guarded(|| self.stage(phase, name, work)).unwrap_or_else(|what| {
            self.warn_of_defect(phase, &what);
            T::default()
        })
    }

    pub fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a stage and records its time.
    pub fn stage<T>(&self, phase: &'static str, name: &str, work: impl FnOnce() -> T) -> T {
        self.shared().phase = phase;
        let start = Instant::now();
        let result = work();
        self.shared().count(&format!("{name}_seconds"), start.elapsed().as_secs_f64());
        result
    }

    fn instrument(&self, program: &mut Program) -> Result<(), Failure> {
        for (check, message) in [
            (Check::DataRace, "two threads access the same memory, and nothing orders them"),
            (Check::Deadlock, "no thread can go on"),
        ] {
            if self.job.load.checks.contains(&check) {
                instrument::threads(program, check, message);
            }
        }
        instrument::memory_safety(program, &self.job.load.checks);
        instrument::uninitialised(program, &self.job.load.checks);
        let found = instrument::unreach_call(program, &self.job.error_functions);
        // Of an invariant of a witness that always holds (`1`) the compiler leaves nothing.
        if self.job.errors_named
            && let Some(name) = found.missing.iter().find(|name| !name.starts_with(INVARIANT) && !is_library(name))
        {
            let text = format!("no function '{name}' is defined, declared or called in the program");
            let near = cfa::wording::near(name, program.funcs.values().map(|f| f.name.as_str()));
            let detail = (!near.is_empty()).then(|| format!("  = help: similar names: {}", near.join(", ")));
            return Err(Failure { detail, ..Failure::data(text) });
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
    pub fn describe(&self, program: &Program) {
        let assumes = !Assumptions::of(program).is_empty();
        let mut shared = self.shared();
        shared.assumes |= assumes;
        shared.allocates |= program.edges.values().any(|e| matches!(e.op, Op::Alloc { kind: AllocKind::MALLOC, .. }));
        shared.models.clone_from(&program.models);
        if program.func_by_name(frontend_llvm::FOLLOW).is_some() {
            shared.assume(self.job.assumptions());
        }
        let is_argument = |input: &cfa::Input| input.kind == cfa::InputKind::Environment("main".into());
        if !self.job.load.argc_may_be_zero && program.inputs.values().any(is_argument) {
            shared.assume([
                "main is given at least one argument, the program's name (--argc-may-be-zero: any number)".into()
            ]);
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
    pub fn slice(&self, program: &Program) -> Option<slicer::Slice> {
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
                if self.plan.is_none() {
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
    pub fn share_of_time(&self, most: Duration) -> Duration {
        self.limits.left().map_or(most, |left| (left / 5).min(most))
    }

    /// Asks whether a part of the program has an error that can be reached, or what is left of the part in a slice. The inputs of a part
    /// are those of the program.
    pub fn ask(
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
}

/// Whether the edge may be a violation.
pub fn is_target(edge: &Edge) -> bool {
    edge.fault.is_some() || matches!(edge.op, Op::Error(_))
}

/// The threads that --jobs allows beside the first, if any.
pub fn others(config: &Config) -> Option<Idle> {
    (config.jobs > 1).then(|| Idle::new(config.jobs - 1))
}
