//! Verifiers of others (`--external`): what is to be verified is written as a file that they read, their verdict is read from what they
//! print. A violation is replayed on the original program before it is said; a proof rests on the tool.
//!
//! How a tool is called is data (`adapter`): `esbmc.toml` and `klee.toml` here, and any file of the same form (docs/guide/sharing-work.md).
//! Testers (`tester`) are called the same way.

pub mod adapter;

use crate::failure::Failure;
use adapter::{Adapter, Ran};
use anyhow::{Context, Error, anyhow};
use cfa::interp::Interpreter;
use cfa::{CallGraph, Function, FunctionOrigin, MONITOR, Op, Program};
use cooperate::range::test_case::TestCase;
use engine::budget::Budget;
use engine::{Analysis, Counterexample, Outcome, Reason, Verdict};
use slicer::Slice;
use std::time::{Duration, Instant};

const KNOWN: [(&str, &str); 2] = [("esbmc", include_str!("esbmc.toml")), ("klee", include_str!("klee.toml"))];
/// What finding out what a tool need not read may take.
const SLICING: Duration = Duration::from_secs(5);
/// Test cases that are tried for one violation.
const MOST_TESTS: usize = 100;

/// A tool by its name.
#[derive(Clone, Debug)]
pub struct Tool {
    pub name: &'static str,
    adapter: Adapter,
}

/// Under what a tool is run.
pub struct Task<'a> {
    /// The program that violations are those of.
    pub original: &'a Program,
    pub error_functions: &'a [String],
    pub budget: &'a Budget,
    pub memory: u64,
    /// How long a replay may take.
    pub replay: Duration,
}

impl Tool {
    /// One that is known, or that a file ending in `.toml` describes.
    pub fn of(name: &str) -> Result<Self, Failure> {
        let adapter = Adapter::of(name, &KNOWN)?;
        if adapter.r#true.is_empty() || adapter.r#false.is_empty() {
            return Err(Failure::data(format!("{name}: an empty text tells no verdict")));
        }
        Ok(Self { name: Adapter::short_name(name), adapter })
    }

    /// What it takes has to be there.
    pub fn installed(self) -> Result<Self, Failure> {
        self.adapter.require(self.name).map(|()| self)
    }

    /// What the tool says of a program whose paths and inputs are those of the original.
    pub fn verify(&self, program: &Program, task: &Task<'_>) -> Outcome {
        let verdict = self.run(program, task).unwrap_or_else(|why| Verdict::Unknown(Reason::new(format!("{why:#}"))));
        Outcome::new(verdict, Analysis::Default)
    }

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
                Some(text) => Err(anyhow!("{name} has not seen everything: {text}")),
                None => self.believed(program, &ran).map(|()| Verdict::True),
            },
            (false, false) if ran.ended.is_none() => Err(anyhow!("{name} was stopped for want of time")),
            (false, false) => Err(anyhow!("{name} has no verdict; it says last: {}", ran.last_words())),
        }
    }

    /// Whether the proof is one of the program: of a tool that came to its end and was content, about C that asks and does all that the program does.
    fn believed(&self, program: &Program, ran: &Ran) -> anyhow::Result<()> {
        let name = self.name;
        match ran.ended {
            None => return Err(anyhow!("{name} was stopped after it had said that it has a proof")),
            Some(status) if !status.success() => {
                return Err(anyhow!("{name} says that it has a proof, and ends with {status}"));
            }
            Some(_) => {}
        }
        if let Some(error) = &ran.unsaid {
            return Err(anyhow!("{name} has a proof of C that cannot ask all that is asked: \"{error}\""));
        }
        match inexact(program) {
            Some(why) => Err(anyhow!("{name} proves it, of C that is not exactly the program: {why}")),
            None => Ok(()),
        }
    }

    /// The violation, if one of the tests that the tool has written leads to it in the original.
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
        Err(why.context(format!("{name} says FALSE, but its violation is not confirmed")))
    }
}

/// What the errors of a program depend on, which is less to read for others. Not where memory is freed: a slice may lack that.
fn slice(program: &Program, budget: &Budget) -> Option<Slice> {
    if cfa::facts::frees(program) || program.edges.values().any(|e| e.fault.is_some()) {
        return None;
    }
    let errors = program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Error(_)));
    let criteria: Vec<_> = errors.map(|(id, _)| id).collect();
    // The library has functions of its own in the place of models.
    let models = program.funcs.iter().filter(|(_, f)| f.origin == FunctionOrigin::Model);
    let time = budget.remaining().map_or(SLICING, |left| SLICING.min(left / 5));
    let options = slicer::Options {
        atomic: models.map(|(id, _)| id).collect(),
        deadline: Some(Instant::now() + time),
        ..slicer::Options::default()
    };
    slicer::slice(program, &criteria, &options).ok()
}

/// Inputs under which the original runs into an error, from a test case for a slice of the program whose inputs are those of the original, or
/// for all of it.
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

/// Where the C of a program may do less than the program: approximations outside of models of the library, which has functions of its own in
/// their place.
fn inexact(program: &Program) -> Option<String> {
    let calls = CallGraph::new(program);
    program.edges.iter().find_map(|(id, edge)| {
        let func = program.func_of(id);
        let Function { name, origin, .. } = &program.funcs[func];
        let is_written = calls.is_reachable(func) && (*origin != FunctionOrigin::Model || name.starts_with(MONITOR));
        match edge.op {
            Op::Approx { taint } if is_written => Some(program.taints[taint].reason.clone()),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_are_read() {
        for (name, _) in KNOWN {
            assert_eq!(Tool::of(name).unwrap().name, name);
        }
        let told = "program = \"no-such-verifier\"\narguments = []\ntrue = \"T\"\nfalse = \"F\"\n";
        let lacking = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
        std::fs::write(lacking.path(), told).unwrap();
        let failure = Tool::of(lacking.path().to_str().unwrap()).unwrap().installed().unwrap_err();
        assert!(failure.message.ends_with("needs no-such-verifier, which is not in PATH"), "{}", failure.message);
        assert!(Tool::of("nobody").is_err() && Tool::of("missing.toml").is_err());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.toml");
        let known = KNOWN[0].1;
        for bad in
            [known.replace("input = \"c\"", "input = \"java\""), known.replace("program", "programme"), String::new()]
        {
            std::fs::write(&path, bad).unwrap();
            assert!(Tool::of(path.to_str().unwrap()).is_err());
        }
    }
}
