//! Loads the program that conditions and GIAs refer to, and reads the files with conditions and GIAs.

use crate::args::{InputArgs, VerifyArgs};
use crate::testgen;
use cfa::Program;
use clap::Parser;
use cooperate::condition::{self, Condition};
use cooperate::gia::{self, Gia};
use driver::failure::Failure;
use driver::files::{self, Outputs};
use driver::job::Job;
use driver::load::load as load_program;
use driver::task::Otherwise;
use engine::budget::Budget;
use std::path::{Path, PathBuf};

/// Returns the program with its error edges, as `verify` has it with the same options. For a coverage property, it is
/// the program of `testgen --cotest`. `Err` if a file cannot be read, the property is malformed, or an output would
/// overwrite an input.
pub fn load(
    files: &[PathBuf],
    input: &InputArgs,
    property: Option<&str>,
    outputs: &Outputs,
) -> Result<(Program, Job), Failure> {
    #[derive(Parser)]
    struct Defaults {
        #[command(flatten)]
        verify: VerifyArgs,
    }
    let Defaults { mut verify } = Defaults::parse_from(["verify", "FILE"]);
    verify.files = files.to_vec();
    verify.input = input.clone();
    verify.property = property.into_iter().map(str::to_owned).collect();
    let mut job = verify.job(Otherwise::Assertions)?;
    job.load.keeps_output = true;
    outputs.check(files.iter().chain(&job.files_read).map(PathBuf::as_path))?;
    let budget = Budget::unlimited();
    let coverage = testgen::asked_coverage(&job)?;
    let mut program = match &coverage {
        Some(coverage) => testgen::load(job.load.clone(), coverage, &budget)?,
        None => load_program(&job.load, &budget)?,
    };
    outputs.spare(program.files.values().map(|f| Path::new(&f.path)))?;
    if coverage.is_some() {
        return Ok((program, job));
    }
    instrument::memory_safety(&mut program, &job.load.checks);
    instrument::uninitialised(&mut program, &job.load.checks);
    instrument::unreach_call(&mut program, &job.error_functions);
    Ok((program, job))
}

/// Returns the GIA of the program that a file contains. `Err` if the file cannot be read or is malformed.
pub fn read(path: &Path, program: &mut Program) -> Result<Gia, Failure> {
    let text = files::read_text(path)?;
    gia::parse(&text, program).map_err(|e| Failure::automaton(path, &e))
}

/// Returns the condition automaton of the program that a file contains. `Err` if the file cannot be read or is
/// malformed.
pub fn read_condition(path: &Path, program: &mut Program) -> Result<Condition, Failure> {
    let text = files::read_text(path)?;
    condition::parse(&text, program).map_err(|e| Failure::automaton(path, &e))
}
