//! The state of a run: its job, its configuration, its limits, and its results so far. The stages of a verification
//! work on it.

use crate::cache::{Cache, CacheFile};
use crate::config::Records;
use crate::evidence::report_data::ReportData;
use crate::evidence::reproduction::Reproduction;
use crate::failure::Failure;
use crate::files::Outputs;
use crate::job::{INVARIANT, Job};
use crate::limits::Limits;
use crate::load::load_module;
use crate::panics;
use crate::plan::Plan;
use crate::remedies::Obstacle;
use crate::report::{Answer, CheckResult, Increment, Note, PartReport, Proved, Ranking, Undefined, Violation};
use crate::source::Sources;
use crate::trace::declared;
use cfa::interp::Inputs;
use cfa::{CallGraph, Callee, Check, Edge, EdgeId, FunctionOrigin, InputKind, Leak, Op, Program};
use cooperate::stealing::{self, Idle};
use engine::budget::Budget;
use engine::{Config, Verdict};
use frontend_llvm::{DataModel, Loader, Options, is_library, is_of_assertions};
use instrument::vacuity::Assumptions;
use instrument::{Continuation, Site};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The maximal duration of slicing. Slicing also takes at most a fifth of the time left.
pub const SLICING: Duration = Duration::from_secs(60);

/// The maximal duration of a replay. A replay also takes at most a fifth of the time left.
pub const REPLAY: Duration = Duration::from_secs(60);

/// The results of the worker so far. If the worker has to be abandoned, the report consists of them alone.
#[derive(Default)]
pub struct Shared {
    /// The current phase, in words for the user.
    pub phase: &'static str,
    /// The statistics of the engine so far.
    pub engine: Option<engine::Stats>,
    /// Counters and times in seconds of finished stages, with their names.
    pub times: Vec<(String, f64)>,
    /// The names of the linked library models.
    pub models: Vec<String>,
    /// The data model of the program, once it is loaded.
    pub data_model: Option<DataModel>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The assumptions about the call that starts the program, and about functions without a definition.
    pub assumptions: Vec<String>,
    /// The called functions without a definition.
    pub undefined: Vec<Undefined>,
    /// The report data of the program.
    pub report_data: ReportData,
    /// The results of the parts of the paths.
    pub parts: Vec<PartReport>,
    /// The external tool that decided, if one did.
    pub external: Option<&'static str>,
    /// The verified paths, as the text of a condition file.
    pub condition: Option<String>,
    /// The knowledge about the paths, as the text of a GIA file.
    pub gia: Option<String>,
    /// A violation that was confirmed but not yet explained.
    pub violation: Option<Violation>,
    /// The first violation that was explained, in a form that can be reproduced natively.
    pub reproduction: Option<Reproduction>,
    /// The results of each question so far, if there are several.
    pub checks: Vec<CheckResult>,
    /// The loops and recursive functions that the last undecided question depends on.
    pub obstacles: Vec<Obstacle>,
    /// The operations of the program on which assumptions and remedies depend.
    pub features: Features,
    /// The verdict on all questions, as soon as it is known. Later descriptions, graphs and files do not change it.
    pub reached: Option<Finished>,
}

/// Operations of a program.
#[derive(Clone, Copy, Default, Debug)]
pub struct Features {
    /// True if the program has assumptions.
    pub assumes: bool,
    /// True if the program calls `malloc` or a similar function.
    pub allocates: bool,
    /// True if the program starts threads.
    pub starts_threads: bool,
    /// True if the program has inputs.
    pub takes_inputs: bool,
    /// True if the program calls a function of its own.
    pub has_parts: bool,
}

impl Features {
    /// Returns the operations of a program.
    fn compute(program: &Program) -> Self {
        let calls = CallGraph::new(program);
        let is_input = |(id, edge): (EdgeId, &Edge)| {
            let Op::Havoc { input, .. } = edge.op else { return false };
            !matches!(program.inputs[input].kind, InputKind::Uninit(_)) && calls.is_reachable(program.func_of(id))
        };
        let is_part = |edge: &Edge| {
            let Op::Call { callee: Callee::Direct(callee), .. } = edge.op else { return false };
            let is_own = |func| program.funcs[func].origin == FunctionOrigin::Source;
            let caller = program.locs[edge.source].func;
            is_own(callee) && is_own(caller) && calls.is_reachable(caller)
        };
        Self {
            assumes: !Assumptions::find(program).is_empty(),
            allocates: cfa::facts::allocates(program),
            starts_threads: program.starts_threads(),
            takes_inputs: program.edges.iter().any(is_input),
            has_parts: program.edges.values().any(is_part),
        }
    }

    /// Returns the operations that this program or another has.
    fn or(self, other: Self) -> Self {
        Self {
            assumes: self.assumes || other.assumes,
            allocates: self.allocates || other.allocates,
            starts_threads: self.starts_threads || other.starts_threads,
            takes_inputs: self.takes_inputs || other.takes_inputs,
            has_parts: self.has_parts || other.has_parts,
        }
    }
}

impl Shared {
    /// Adds a warning if the cache could not be written. This is no reason to fail.
    pub fn warn_of_cache(&mut self, kept: Result<(), Failure>) {
        if let Err(failure) = kept {
            self.warnings.push(format!("the verdict is not kept in the cache: {failure}"));
        }
    }

    /// Adds assumptions for the report, each once.
    pub fn assume(&mut self, assumptions: impl IntoIterator<Item = String>) {
        for assumption in assumptions {
            if !self.assumptions.contains(&assumption) {
                self.assumptions.push(assumption);
            }
        }
    }

    /// Adds a counter or a time of a stage, which may run several times. Names that end in `_seconds` are summed up.
    /// For others, the maximum counts.
    pub fn count(&mut self, name: &str, value: f64) {
        match self.times.iter_mut().find(|(n, _)| n == name) {
            Some((_, before)) if name.ends_with("_seconds") => *before += value,
            Some((_, before)) => *before = before.max(value),
            None => self.times.push((name.to_owned(), value)),
        }
    }
}

/// The result of the worker.
#[derive(Clone)]
pub struct Finished {
    /// The verdict.
    pub answer: Answer,
    /// The remarks of the analysis, each with its place.
    pub notes: Vec<Note>,
    /// The name of the analysis that gave the verdict.
    pub decided_by: Option<&'static str>,
    /// The result of the proof checker, if the verdict is TRUE.
    pub proof: Option<String>,
    /// The time slices of the analyses.
    pub turns: Vec<engine::Turn>,
    /// The increments of the precision, in the order of the refinements.
    pub increments: Vec<Increment>,
    /// The ranking functions, if termination was proved.
    pub rankings: Vec<Ranking>,
    /// The abstract reachability graph of the analysis that decided or ran last.
    pub graph: Vec<engine::arg::ArgNode>,
    /// The analyses that ended with an internal error, each with the message of the error.
    pub crashes: Vec<(&'static str, String)>,
    /// True if these internal errors are the reason why there is no verdict.
    pub has_crashed: bool,
    /// True if the verdict is UNKNOWN but the requested part of the paths is proved.
    pub proved_part: bool,
    /// The description of the proof, if the verdict is TRUE.
    pub proved: Proved,
    /// The site of the violation, if the verdict is FALSE.
    pub site: Option<Site>,
}

impl Finished {
    /// Returns a result with this verdict and nothing else.
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

/// A run and its state, which the worker shares with the thread that supervises it.
#[derive(Clone)]
pub struct Session {
    /// The questions and the program.
    pub job: Arc<Job>,
    /// The loader of all programs of the job.
    pub loader: Arc<Loader>,
    /// The configuration of the engine.
    pub config: Config,
    /// The budget of the analyses.
    pub budget: Budget,
    /// The limits of the run.
    pub limits: Limits,
    /// The results so far.
    pub shared: Arc<Mutex<Shared>>,
    /// The records that are made besides the report.
    pub records: Records,
    /// The files that will be written.
    pub outputs: Outputs,
    /// If set, only the slice on which the errors depend is analysed. The value selects the control dependences.
    pub slicing: Option<slicer::Control>,
    /// The edges of the analysed program on which executions continue after violations that were found before.
    pub continuations: Arc<[Continuation]>,
    /// The part of the paths that is explored, and the analyses that explore it.
    pub plan: Arc<Plan>,
    /// The cache of earlier verdicts, if there is one. It keeps proofs of termination, but not violations of it.
    pub cache: Option<Cache>,
    /// True if the verdict of this session is the verdict of the command. It is false for a part of the questions and
    /// for an intermediate step.
    pub is_answer: bool,
    /// True if the run ends at the first violation of any question.
    pub stops_at_first: bool,
    /// The observer of the run.
    pub observer: Arc<dyn Observer>,
}

/// Observes a run for its user. Several threads call its methods.
pub trait Observer: Send + Sync {
    /// Reports the current phase, about fifty times a second. `checks` are the results so far if there are several
    /// questions. The run waits for this method.
    fn progress(&self, _phase: &'static str, _stats: Option<&engine::Stats>, _checks: &[CheckResult]) {}
    /// Reports that the run has reached its verdict. The verdict is final, but its description does not exist yet.
    fn verdict(&self, _answer: &Answer) {}
    /// Reports that a defect of the verifier ended the run or a part of it.
    fn internal_error(&self, _message: &str) {}
}

/// An observer that does nothing.
impl Observer for () {}

impl Session {
    /// Loads the program with these options. Returns it with the place of its verdict in the cache, if there is a
    /// cache.
    ///
    /// # Errors
    /// `Err` if the program cannot be loaded, or if one of its files is also an output.
    pub fn load_with(&self, options: &Options) -> Result<(Program, Option<CacheFile>), Failure> {
        // Reports and harnesses also show unreachable code, and functions that the user names must be present.
        // Descriptions of parts of the paths identify locations by number, so nothing may be omitted for them either.
        let names_functions = self.job.errors_named || !options.watched.is_empty();
        let is_all = self.records.report_data || self.records.reproduction || names_functions || !self.plan.is_none();
        let options = Options { only_reachable: !is_all, ..options.clone() };
        let loaded = self.stage("loading the program", "load", || {
            let module = load_module(&self.loader, &options, &self.budget)?;
            for warning in module.warnings() {
                let warnings = &mut self.shared().warnings;
                if !warnings.contains(warning) {
                    warnings.push(warning.clone());
                }
            }
            let place = self.cache.as_ref().map(|cache| cache.file(&module, &self.job, &options));
            Ok::<_, Failure>((module.lower()?, place))
        })?;
        self.outputs.spare(loaded.0.files.values().map(|f| Path::new(&f.path)))?;
        Ok(loaded)
    }

    /// Loads the program and adds an error wherever it violates a requested property. Returns it with the place of its
    /// verdict in the cache, if there is a cache.
    ///
    /// # Errors
    /// `Err` if the program cannot be loaded or instrumented.
    pub fn prepare(&self) -> Result<(Program, Option<CacheFile>), Failure> {
        // Cooperating analyses follow only one thread, and so does the termination analysis.
        let threads = self.plan.is_none() && !self.job.is_termination_only();
        let (mut program, place) = self.load_with(&Options { threads, ..self.job.load.clone() })?;
        self.instrument(&mut program)?;
        self.describe(&program);
        Ok((program, place))
    }

    /// Records the result of the command, if this session has it. Later events do not change the result.
    pub fn keep(&self, finished: &Finished) {
        if self.is_answer {
            self.observer.verdict(&finished.answer);
            self.shared().reached = Some(finished.clone());
        }
    }

    /// Records a verdict of the engine before it is explained.
    pub fn reach(&self, program: &Program, outcome: &engine::Outcome) {
        let decided_by = Some(self.shared().external.unwrap_or(outcome.decided_by.name()));
        let answer = match &outcome.verdict {
            Verdict::Unknown(_) => return,
            Verdict::True => Answer::True,
            Verdict::False(found) => {
                let error = &program.errors[found.error];
                let property = self.job.violated_property(error.check).to_owned();
                Answer::False(Box::new(Violation::new(property, error.message.clone())))
            }
        };
        self.keep(&Finished { decided_by, ..Finished::new(answer) });
    }

    /// Adds a warning that a phase ended with an internal error, and asks for a report of the defect.
    pub fn warn_of_defect(&self, phase: &str, what: &str) {
        let text = format!("{phase} ended by an {what}\n  = note: {}", panics::DEFECT);
        self.shared().warnings.push(text);
    }

    /// Runs work that the verdict does not need, as a stage. If it panics, the method adds a warning and returns the
    /// default value. The verdict stands.
    pub fn afterwards<T: Default>(&self, phase: &'static str, name: &str, work: impl FnOnce() -> T) -> T {
        panics::guarded(|| self.stage(phase, name, work)).unwrap_or_else(|what| {
            self.warn_of_defect(phase, &what);
            T::default()
        })
    }

    /// Locks the results so far.
    pub fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a stage and records its duration.
    pub fn stage<T>(&self, phase: &'static str, name: &str, work: impl FnOnce() -> T) -> T {
        self.shared().phase = phase;
        let start = Instant::now();
        let result = work();
        self.shared().count(&format!("{name}_seconds"), start.elapsed().as_secs_f64());
        result
    }

    fn instrument(&self, program: &mut Program) -> Result<(), Failure> {
        for (check, message) in [
            (Check::DataRace, "two threads access the same memory without synchronisation"),
            (Check::Deadlock, "no thread can continue"),
        ] {
            if self.job.load.checks.contains(&check) {
                instrument::threads(program, check, message);
            }
        }
        instrument::memory_safety(program, &self.job.load.checks);
        instrument::uninitialised(program, &self.job.load.checks);
        let found = instrument::unreach_call(program, &self.job.error_functions);
        // The compiler removes an invariant of a witness that always holds (`1`), so its function may be missing.
        if self.job.errors_named
            && let Some(name) = found
                .missing
                .iter()
                .find(|name| !name.starts_with(INVARIANT) && !is_library(name) && !is_of_assertions(name))
        {
            let text = format!("no function '{name}' is defined, declared or called in the program");
            let near = cfa::wording::near(name, program.funcs.values().map(|f| f.name.as_str()));
            let detail = (!near.is_empty()).then(|| format!("  = help: similar names: {}", near.join(", ")));
            return Err(Failure { detail, ..Failure::data(text) });
        }
        if let Some((variable, value)) = self.job.calls_count_while {
            instrument::only_while(program, &found.errors, variable, value);
        }
        self.job.add_automata(program)?;
        for (name, why) in [("assert", " (<assert.h> is not included)"), ("__VERIFIER_assert", "")] {
            if program.models.iter().any(|model| model == name) {
                let text = format!("{name} is not defined{why}: its calls are treated as assertions");
                self.shared().warnings.push(text);
            }
        }
        for (name, place) in &program.undeclared {
            let spot = place.and_then(|place| Sources::new().spot(program, place));
            let at = spot.map_or(String::new(), |spot| format!(" at {spot}"));
            self.shared()
                .warnings
                .push(format!("{name} is not declared: calls of it (the first{at}) are assumed to return int"));
        }
        Ok(())
    }

    /// Records the size of the program and the assumptions about it.
    pub fn describe(&self, program: &Program) {
        let features = Features::compute(program);
        let mut shared = self.shared();
        shared.features = shared.features.or(features);
        shared.models.clone_from(&program.models);
        shared.assume(self.job.assumptions(program));
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

    /// Returns the slice of the program on which the errors depend; `None` if slicing is disabled, does not apply, or
    /// takes too long.
    pub fn slice(&self, program: &Program) -> Option<slicer::Slice> {
        let control = self.slicing?;
        if program.edges.values().any(|e| e.op == Op::Leak(Leak::Lost) && e.fault.is_some()) {
            // Everything that holds pointers matters, because an object is lost when no pointer leads to it.
            return None;
        }
        let criteria: Vec<_> = program.edges.iter().filter(|(_, e)| is_target(e)).map(|(id, _)| id).collect();
        let deadline = Some(Instant::now() + self.share_of_time(SLICING));
        let options = slicer::Options { control, deadline, omit_assumptions: true, ..slicer::Options::default() };
        match slicer::slice(program, &criteria, &options) {
            Ok(slice) => {
                let (before, after) = slice.stats.edges;
                if self.plan.is_none() {
                    self.shared().count("edges_in_slice", after as f64);
                }
                debug_assert!(after <= before);
                Some(slice)
            }
            // If there is no error to reach, there is nothing to analyse.
            Err(slicer::Error::NoCriterion) => None,
            Err(error) => {
                self.shared().warnings.push(format!("the whole program is analysed: {error}"));
                None
            }
        }
    }

    /// Returns `most`, or a fifth of the time left if that is less.
    pub fn share_of_time(&self, most: Duration) -> Duration {
        self.limits.left().map_or(most, |left| (left / 5).min(most))
    }

    /// Asks the engine whether an error is reachable in a part of the program, or in the slice of that part. The inputs
    /// of the part are those of the program.
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
        let lacks_frees = slice.is_some_and(|slice| slice.lacks_frees(part));
        let config = Config { stop_at_unconfirmed: slice.is_some(), lacks_frees, ..config.clone() };
        match idle {
            Some(idle) => stealing::verify(analysed, &config, budget, &replay, &progress, idle),
            // Sharing work has a cost: the engine then keeps paths and follows calls edge by edge.
            None => engine::verify(analysed, &config, budget, &replay, &progress),
        }
    }
}

/// Returns true if the edge may be a violation.
pub fn is_target(edge: &Edge) -> bool {
    edge.fault.is_some() || matches!(edge.op, Op::Error(_))
}

/// Returns the threads that `--jobs` allows besides the first, if there are any.
pub fn others(config: &Config) -> Option<Idle> {
    (config.jobs > 1).then(|| Idle::new(config.jobs - 1))
}
