//! External verifiers (`--external`). The residual program is written to a file that the tool reads. The verdict is
//! read from the output of the tool. A violation is replayed on the original program before it is reported. A proof is
//! trusted.
//!
//! The description of a tool is data (`adapter`): `esbmc.toml` and `klee.toml` in this folder, and any file of the same
//! form (docs/guide/sharing-work.md). External testers (`tester`) are described in the same form.

pub mod adapter;

use crate::failure::Failure;
use crate::written::approximations;
use adapter::{Adapter, Ran};
use anyhow::{Context, Error, anyhow};
use cfa::interp::Interpreter;
use cfa::{FunctionOrigin, Op, Program};
use cooperate::range::test_case::TestCase;
use engine::budget::Budget;
use engine::{Analysis, Counterexample, Outcome, Reason, Verdict};
use slicer::Slice;
use std::time::{Duration, Instant};

/// The names and descriptions of the built-in tools.
const KNOWN: [(&str, &str); 2] = [("esbmc", include_str!("esbmc.toml")), ("klee", include_str!("klee.toml"))];
/// Maximal time to slice the program for a tool.
const SLICING: Duration = Duration::from_secs(5);
/// Maximal number of test cases that are replayed for one violation.
const MOST_TESTS: usize = 100;

/// An external verifier.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The name in reports.
    pub name: &'static str,
    adapter: Adapter,
}

/// The context in which a tool runs.
pub struct Task<'a> {
    /// The original program, on which violations are replayed.
    pub original: &'a Program,
    /// The functions whose calls are violations.
    pub error_functions: &'a [String],
    /// The budget of the run.
    pub budget: &'a Budget,
    /// The memory limit in bytes.
    pub memory: u64,
    /// Maximal time of a replay.
    pub replay: Duration,
}

impl Tool {
    /// Returns a built-in tool, or the tool that a file with the extension `.toml` describes. `Err` if there is none,
    /// or if its description has no text for a proof or for a violation.
    pub fn find(name: &str) -> Result<Self, Failure> {
        let adapter = Adapter::find(name, &KNOWN)?;
        if adapter.r#true.is_empty() || adapter.r#false.is_empty() {
            return Err(Failure::data(format!(
                "{name}: 'true' and 'false' must each name a text of the tool's output, and must not be empty"
            )));
        }
        Ok(Self { name: Adapter::short_name(name), adapter })
    }

    /// Returns the tool if all programs that it needs exist. `Err` with the first missing one.
    pub fn installed(self) -> Result<Self, Failure> {
        self.adapter.require(self.name).map(|()| self)
    }

    /// Runs the tool on a program whose paths and inputs are those of the original, and returns the outcome. Failures
    /// of the tool are `UNKNOWN` with their reason.
    pub fn verify(&self, program: &Program, task: &Task<'_>) -> Outcome {
        let verdict = self.run(program, task).unwrap_or_else(|why| Verdict::Unknown(Reason::new(format!("{why:#}"))));
        Outcome::new(verdict, Analysis::Default)
    }

    /// Runs the tool on a slice of the program and returns its verdict. `Err` if it has none, or if it is not
    /// confirmed.
    fn run(&self, program: &Program, task: &Task<'_>) -> anyhow::Result<Verdict> {
        let Self { name, adapter } = self;
        let whole = program;
        let slice = slice(program, task.budget);
        let program = slice.as_ref().map_or(program, |slice| &slice.program);
        let ran = adapter.run(name, program, (task.error_functions, &[]), (task.budget, task.memory))?;
        let said = &ran.said;
        let not_all = adapter.unless.iter().find(|text| said.contains(*text));
        match (said.contains(&adapter.r#true), said.contains(&adapter.r#false)) {
            (true, true) if not_all.is_none() => Err(anyhow!("{name} contradicts itself")),
            (_, true) => self.confirmed(&ran, whole, slice.as_ref(), task),
            (true, false) => match not_all {
                Some(text) => Err(anyhow!("{name} has not explored everything: {text}")),
                None => self.believed(program, &ran).map(|()| Verdict::True),
            },
            (false, false) if ran.ended.is_none() => Err(anyhow!("{name} was stopped because its time was over")),
            (false, false) => Err(anyhow!("{name} has no verdict; its last line is: {}", ran.last_words())),
        }
    }

    /// Checks that the tool's proof is a proof of the program. `Err` if the tool was stopped or failed, if its C input
    /// lacks an error of the program, or if the C input is not exactly the program.
    fn believed(&self, program: &Program, ran: &Ran) -> anyhow::Result<()> {
        let name = self.name;
        match ran.ended {
            None => return Err(anyhow!("{name} was stopped after it had reported a proof")),
            Some(status) if !status.success() => {
                return Err(anyhow!("{name} reports a proof, but ends with {status}"));
            }
            Some(_) => {}
        }
        if let Some(error) = &ran.unsaid {
            return Err(anyhow!(
                "{name} reports a proof, but the C file that it verified lacks a check of the program: \"{error}\""
            ));
        }
        match approximations(program).first() {
            Some(why) => {
                Err(anyhow!("{name} reports a proof, but the C file that it verified approximates the program: {why}"))
            }
            None => Ok(()),
        }
    }

    /// Returns the violation if one of the tool's tests reaches an error in the original program. `Err` with the reason
    /// of the last test otherwise.
    fn confirmed(&self, ran: &Ran, whole: &Program, slice: Option<&Slice>, task: &Task<'_>) -> anyhow::Result<Verdict> {
        let name = self.name;
        let mut why = anyhow!("{name} has written no test case");
        for path in self.adapter.test_files(ran).into_iter().take(MOST_TESTS) {
            let read = std::fs::read_to_string(&path).map_err(Error::from);
            let test = read.and_then(|text| TestCase::parse(&text).map_err(Error::msg));
            match test.and_then(|test| replay(&test, whole, slice, task)) {
                Ok(found) => return Ok(Verdict::False(found)),
                Err(error) => why = error,
            }
        }
        Err(why.context(format!("{name} reports FALSE, but its violation is not confirmed")))
    }
}

/// Returns a slice of the program for its errors, so that the tool has less to read. Returns `None` if the program
/// frees memory, because a slice may lack that, if it has memory faults, or if slicing fails.
fn slice(program: &Program, budget: &Budget) -> Option<Slice> {
    if cfa::facts::frees(program) || program.edges.values().any(|e| e.fault.is_some()) {
        return None;
    }
    let errors = program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Error(_)));
    let criteria: Vec<_> = errors.map(|(id, _)| id).collect();
    // The tool's library replaces the models.
    let models = program.funcs.iter().filter(|(_, f)| f.origin == FunctionOrigin::Model);
    let time = budget.remaining().map_or(SLICING, |left| SLICING.min(left / 5));
    let options = slicer::Options {
        atomic: models.map(|(id, _)| id).collect(),
        deadline: Some(Instant::now() + time),
        ..slicer::Options::default()
    };
    slicer::slice(program, &criteria, &options).ok()
}

/// Replays a test case on the original program and returns the counterexample. The test case is for `slice` if there is
/// one. The slice is one of `whole`, whose inputs are those of the original. `Err` if the original reaches no error.
fn replay(test: &TestCase, whole: &Program, slice: Option<&Slice>, task: &Task<'_>) -> anyhow::Result<Counterexample> {
    let limits = engine::replay_limits(task.replay);
    let given_to = slice.map_or(task.original, |slice| &slice.program);
    let mut source = test.source(given_to);
    let mut run = Interpreter::new(given_to).run(&mut source, limits, &mut ());
    let mut inputs = source.inputs().map_err(Error::msg)?;
    if let Some(slice) = slice {
        inputs = slice.inputs_of_original(whole, &inputs, limits);
        run = Interpreter::new(task.original).run(&mut inputs.source(), limits, &mut ());
    }
    let (error, _) = run.outcome.error(task.original).with_context(|| format!("in its replay, {}", run.outcome))?;
    let path = engine::replay(task.original, &inputs, error, task.replay).map_err(Error::msg)?;
    Ok(Counterexample { error, inputs, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_are_read() {
        for (name, _) in KNOWN {
            assert_eq!(Tool::find(name).unwrap().name, name);
        }
        let told = "program = \"no-such-verifier\"\narguments = []\ntrue = \"T\"\nfalse = \"F\"\n";
        let lacking = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
        std::fs::write(lacking.path(), told).unwrap();
        let failure = Tool::find(lacking.path().to_str().unwrap()).unwrap().installed().unwrap_err();
        assert!(failure.message.ends_with("needs no-such-verifier, which is not in PATH"), "{}", failure.message);
        assert!(Tool::find("nobody").is_err() && Tool::find("missing.toml").is_err());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.toml");
        let known = KNOWN[0].1;
        for bad in
            [known.replace("input = \"c\"", "input = \"java\""), known.replace("program", "programme"), String::new()]
        {
            std::fs::write(&path, bad).unwrap();
            assert!(Tool::find(path.to_str().unwrap()).is_err());
        }
    }
}
