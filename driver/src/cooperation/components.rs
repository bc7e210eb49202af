//! Component CEGAR as a command and as a verification method. The components run in this process, or any of them as an
//! external process that reads a file and writes one.

use crate::cooperation::saving::{budget_before_recording, tell_gia, tell_given};
use crate::plan::Exchange;
use crate::session::Session;
use anyhow::{Context, anyhow, bail};
use cfa::Program;
use cfa::interp::{Inputs, Interpreter};
use cooperate::gia::cegar::{self, Cegar, Component, Ended};
use cooperate::gia::{self, Gia, Says};
use engine::budget::Budget;
use engine::{Analysis, Config, Counterexample, Outcome, Reason, Verdict};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Maximal time of a replay.
const REPLAY: Duration = Duration::from_secs(20);
/// The interval at which an external process is polled.
const TICK: Duration = Duration::from_millis(10);

/// The three components of CEGAR. A component without a command runs in this process.
pub struct Components<'a> {
    /// The configuration of the components in this process.
    pub config: &'a Config,
    /// The budget of all components.
    pub budget: &'a Budget,
    /// The format in which the components exchange automata.
    pub exchange: &'a Exchange,
    /// The C files to which witnesses refer.
    pub files: &'a [PathBuf],
    /// The shell command of the explorer, if it is external.
    pub explorer: Option<&'a str>,
    /// The shell command of the checker, if it is external.
    pub checker: Option<&'a str>,
    /// The shell command of the refiner, if it is external.
    pub refiner: Option<&'a str>,
}

impl Components<'_> {
    /// Runs component CEGAR, starting from a precision. Returns the result and the number of refinements. A violation
    /// in the result was replayed.
    pub fn run(
        &self,
        program: &mut Program,
        precision: Gia,
        observer: &mut dyn FnMut(usize, &str, &Gia, &Program),
    ) -> (Ended, usize) {
        let (config, budget) = (self.config, self.budget);
        let explore = move |program: &mut Program, gia: &Gia| cegar::explore(program, gia, config, budget);
        let check = move |program: &mut Program, gia: &Gia| cegar::check(program, gia, config, budget);
        let refine = move |program: &mut Program, gia: &Gia| cegar::refine(program, gia, config, budget);
        let mut cegar = Cegar {
            explorer: self.component(self.explorer, Box::new(explore)),
            checker: self.component(self.checker, Box::new(check)),
            refiner: self.component(self.refiner, Box::new(refine)),
            observer,
        };
        let (ended, refinements) = cegar.run(program, precision);
        let ended = match ended {
            Ended::Violated(gia) if replayed(&gia, program).is_none() => {
                Ended::Unknown(Reason::new("the path to a target from the checker cannot be replayed"))
            }
            ended => ended,
        };
        (ended, refinements)
    }

    /// Returns a component whose answers are translated to the format of the exchange: the command, or else `own`.
    fn component<'c>(&'c self, command: Option<&'c str>, own: Box<Component<'c>>) -> Box<Component<'c>> {
        let mut work = match command {
            None => own,
            Some(command) => {
                Box::new(move |program: &mut Program, gia: &Gia| external(command, program, gia, self.budget))
            }
        };
        match self.exchange {
            Exchange::Gia => work,
            Exchange::Translated(format) => Box::new(move |program, gia| {
                let answer = work(program, gia)?;
                format.translate(&answer, program, self.files).map_err(|why| Reason::new(format!("{why:#}")))
            }),
        }
    }
}

/// Replays the tests of a GIA on the program, and returns the first counterexample. Returns `None` if no test reaches
/// an error.
pub fn replayed(gia: &Gia, program: &Program) -> Option<Counterexample> {
    let interpreter = Interpreter::new(program);
    gia.tests(program).into_iter().find_map(|test| {
        let values = test.values.into_iter().map(|(_, _, value)| value).collect();
        let inputs = Inputs { values, ..Inputs::default() };
        let run = interpreter.run(&mut inputs.source(), engine::replay_limits(REPLAY), &mut ());
        let (error, _) = run.outcome.error(program)?;
        let path = engine::replay(program, &inputs, error, REPLAY).ok()?;
        Some(Counterexample { error, inputs, path })
    })
}

/// Runs an external process as a component. It reads a GIA from the file `$GIA` and writes one to `$OUT`. Returns the
/// GIA that it wrote. `Err` if the process fails, runs out of budget, or writes no well-formed GIA.
fn external(command: &str, program: &mut Program, given: &Gia, budget: &Budget) -> Result<Gia, Reason> {
    let problem = |what: String| Reason::new(format!("`{command}`: {what}"));
    let folder = tempfile::tempdir().map_err(|e| problem(e.to_string()))?;
    let (input, output) = (folder.path().join("given.gia"), folder.path().join("answer.gia"));
    std::fs::write(&input, gia::print(given, program)).map_err(|e| problem(e.to_string()))?;
    run_within(command, &[("GIA", &input), ("OUT", &output)], budget).map_err(|why| problem(format!("{why:#}")))?;
    let text = std::fs::read_to_string(&output).map_err(|_| problem("it has written no automaton to $OUT".into()))?;
    gia::parse(&text, program).map_err(|e| problem(format!("its output is malformed: {e}")))
}

/// Runs a shell command in a process group of its own until it ends. `environment` is added to its environment
/// variables. `Err` if the command does not start or fails. If the budget is spent, the group is killed and the result
/// is `Err`.
pub fn run_within(command: &str, environment: &[(&str, &Path)], budget: &Budget) -> anyhow::Result<()> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .process_group(0)
        .spawn()
        .context("it does not start")?;
    loop {
        if let Some(status) = child.try_wait()? {
            return if status.success() { Ok(()) } else { Err(anyhow!("it failed: {status}")) };
        }
        if budget.spent().is_some() {
            // SAFETY: the signal goes to the process group of the child, which nobody has waited for yet.
            unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
            let _ = child.wait();
            bail!("time is up");
        }
        std::thread::sleep(TICK);
    }
}

/// Verifies by component CEGAR: first a slice, then the program if the slice is undecided. The slice is skipped if a
/// GIA was passed, or if the run saves a GIA or report data. `given` is the GIA that the user passed. Returns the
/// outcome.
pub fn component_cegar(session: &Session, program: &Program, exchange: &Exchange, given: Option<&Gia>) -> Outcome {
    // The GIAs before and after the run refer to the program, not to a slice.
    if !session.plan.saves_gia
        && !session.records.report_data
        && given.is_none()
        && let Some(slice) = session.slice(program)
    {
        let outcome = component_cegar_of(session, program, Some(&slice), exchange, None);
        if !matches!(outcome.verdict, Verdict::Unknown(_)) || session.budget.spent().is_some() {
            return outcome;
        }
    }
    component_cegar_of(session, program, None, exchange, given)
}

/// Verifies the slice, or else the program, by component CEGAR.
fn component_cegar_of(
    session: &Session,
    program: &Program,
    slice: Option<&slicer::Slice>,
    exchange: &Exchange,
    given: Option<&Gia>,
) -> Outcome {
    let mut part = slice.map_or(program, |s| &s.program).clone();
    let budget = budget_before_recording(session);
    let lacks_frees = slice.is_some_and(|slice| slice.lacks_frees(program));
    let config = Config { lacks_frees, ..session.config.clone() };
    let components = Components {
        config: &config,
        budget: &budget,
        exchange,
        files: &session.job.load.files(),
        explorer: None,
        checker: None,
        refiner: None,
    };
    let begin = std::time::Instant::now();
    // The GIA that the user passed is the first precision.
    let mut known = given.cloned().unwrap_or_else(Gia::nothing);
    let mut observer = |_: usize, who: &str, gia: &Gia, program: &Program| {
        if who == "combiner" {
            tell_given(session, program, Some(gia));
            known = gia.clone();
        }
    };
    let precision = given.cloned().unwrap_or_else(Gia::nothing);
    let (ended, refinements) = components.run(&mut part, precision, &mut observer);
    let verdict = match ended {
        Ended::Proved => Verdict::True,
        Ended::Unknown(reason) => Verdict::Unknown(reason),
        Ended::Violated(gia) => replayed_on_program(program, &part, slice, &gia),
    };
    let mut outcome = Outcome::new(verdict, Analysis::PREDICATE);
    outcome.stats.exploration.refinements = refinements as u64;
    outcome.stats.time = begin.elapsed();
    if slice.is_none() {
        // Refiners have proved their `ut` claims, but the claims that the user passed are unproved.
        let known = if given.is_some() { known.doubted() } else { known };
        tell_gia(session, &part, &outcome, known, &[], None);
    }
    outcome
}

/// Replays a violation of `part` on the program. Returns `FALSE` with the counterexample, or `UNKNOWN` if the replay
/// fails. `part` is the program, or its slice `slice`.
fn replayed_on_program(program: &Program, part: &Program, slice: Option<&slicer::Slice>, gia: &Gia) -> Verdict {
    let Some(found) = replayed(gia, part) else {
        return Verdict::Unknown(Reason::new("a violation does not replay"));
    };
    let inputs = match slice {
        Some(slice) => slice.inputs_of_original(program, &found.inputs, engine::replay_limits(REPLAY)),
        None => found.inputs,
    };
    match engine::replay(program, &inputs, found.error, REPLAY) {
        Ok(path) => Verdict::False(Counterexample { error: found.error, inputs, path }),
        Err(why) => Verdict::Unknown(Reason::new(format!("a violation does not replay: {why}"))),
    }
}

/// Values of inputs, each with its position on a path.
pub type Fixed = Vec<(usize, cfa::Bv)>;

/// Returns the path to a target, with the values of its inputs, if the GIA has one that replays. Otherwise returns the
/// only path to a candidate, without values, if there is exactly one.
pub fn described(gia: &Gia, program: &mut Program) -> Option<(Vec<cfa::EdgeId>, Fixed)> {
    if let Some(found) = gia.has(Says::Reachable).then(|| replayed(gia, program)).flatten() {
        let mut recording = gia::Recording::default();
        Interpreter::new(program).run(&mut found.inputs.source(), engine::replay_limits(REPLAY), &mut recording);
        let values = recording.test.values.into_iter().map(|(at, _, value)| (at, value)).collect();
        return Some((recording.test.path, values));
    }
    gia.only_path(Says::Candidate, program).map(|path| (path, Vec::new()))
}
