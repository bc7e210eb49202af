//! `proviso instrument`: writes the program with its checks, for other tools.

use crate::args::{InstrumentArgs, VerifyArgs};
use crate::output::{self, Colors};
use cfa::wording::counted;
use cfa::{Check, Program};
use clap::Parser;
use driver::failure::{At, Failure, exit};
use driver::files::{Outputs, STDOUT};
use driver::load;
use driver::source::Sources;
use driver::task::Otherwise;
use driver::written;
use engine::budget::Budget;
use std::path::{Path, PathBuf};

/// Runs the command and returns the exit code.
pub fn run(args: &InstrumentArgs, colors: Colors) -> u8 {
    match attempt(args, colors) {
        Ok(()) => exit::TRUE,
        Err(failure) => output::failure(&failure, colors),
    }
}

fn attempt(args: &InstrumentArgs, colors: Colors) -> Result<(), Failure> {
    #[derive(Parser)]
    struct Defaults {
        #[command(flatten)]
        verify: VerifyArgs,
    }
    let Defaults { mut verify } = Defaults::parse_from(["verify", "FILE"]);
    verify.files.clone_from(&args.files);
    verify.input = args.input.clone();
    verify.property = args.property.iter().cloned().collect();
    verify.automaton = args.automaton.iter().cloned().collect();
    verify.check.clone_from(&args.check);
    verify.malloc_may_fail = args.malloc_may_fail;
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(STDOUT));
    let mut outputs = Outputs::new([("--output", Some(&output))]);
    let mut job = verify.job(Otherwise::Assertions)?;
    output::warnings(&job.warnings, colors);
    outputs.check(args.files.iter().chain(&job.files_read).map(PathBuf::as_path))?;
    if let Some(question) = job.questions.iter().find(|a| a.checks.is_empty() || a.checks.contains(&Check::Memory)) {
        let text = match question.checks.is_empty() {
            true => "a violation is an infinite execution, not a place in the program",
            false => {
                "the written program cannot observe which memory library functions initialise (select the other checks by name; clang -fsanitize=memory supports this one)"
            }
        };
        return Err(Failure::usage(format!("{} cannot be put into a program: {text}", question.name)));
    }
    job.load.keeps_output = true;
    if args.sequentialise.is_some() {
        let refused = |check: &Check| check.is_fault() || matches!(check, Check::DataRace | Check::Deadlock);
        if let Some(question) = job.questions.iter().find(|question| question.checks.iter().any(refused)) {
            let text = format!("{} cannot be checked in a program whose threads are replaced", question.name);
            return Err(Failure::usage(text));
        }
        job.load.threads = true;
    }
    let mut program = load::load(&job.load, &Budget::unlimited())?;
    outputs.spare(program.files.values().map(|f| Path::new(&f.path)))?;
    instrument::unreach_call(&mut program, &job.error_functions);
    job.add_automata(&mut program)?;
    let mut about = vec!["A program with its checks, written by proviso instrument.".to_owned()];
    if let Some(rounds) = args.sequentialise {
        about.extend(sequentialised(&mut program, rounds, colors)?);
    }
    let checks_memory = job.load.checks.iter().any(|c| c.is_fault());
    // The functions of the C library do not check whether allocations fail. Their models do not check the sizes of
    // objects.
    let has_objects = checks_memory || args.malloc_may_fail;
    if has_objects {
        let trusted = cooperate::c::write_models(&mut program);
        instrument::memory_safety(&mut program, &job.load.checks);
        let never_failing = cooperate::c::never_failing(&program);
        if !never_failing.is_empty() {
            let text = format!("allocations in these library functions do not fail: {}", never_failing.join(", "));
            output::warning(&text, colors);
        }
        if checks_memory && !trusted.is_empty() {
            let text = format!("memory accesses of these library functions are not checked: {}", trusted.join(", "));
            output::warning(&text, colors);
        }
    }
    let options = cooperate::c::Options {
        plain: args.no_line,
        about,
        checks_memory: has_objects,
        ..cooperate::c::Options::default()
    };
    outputs.put(&output, written::text(&program, &output, &options)?.0);
    let inexact = written::approximations(&program);
    if !inexact.is_empty() {
        output::warning(&format!("the C is not exactly the program: {}", inexact.join("; ")), colors);
    }
    outputs.commit()
}

/// Replaces the threads of a program. Returns the bounds, for the comment of the file.
fn sequentialised(program: &mut Program, rounds: u32, colors: Colors) -> Result<Vec<String>, Failure> {
    let bounds = instrument::sequentialise(program, rounds).map_err(|refused| {
        let text = format!("{} cannot be translated into a program without threads", refused.construct);
        let spot = refused.place.and_then(|place| Sources::new().spot(program, place));
        let at = spot.map(|spot| Box::new(At { spot, label: "here".into(), help: None }));
        Failure { at, ..Failure::data(text) }
    })?;
    let Some(bounds) = bounds else {
        output::warning("the program starts no threads: --sequentialise has no effect", colors);
        return Ok(Vec::new());
    };
    let threads: Vec<String> =
        bounds.threads.iter().map(|(name, count)| format!("{} in `{name}`", counted(*count, "thread"))).collect();
    let text = format!(
        "executions end after {}, or if they start more than {}",
        counted(bounds.rounds as usize, "round"),
        threads.join(", ")
    );
    output::note(&format!("a proof of the written program is bounded: {text}"), colors);
    let mut about = vec![format!("It has no threads, but their interleavings, which are bounded: {text}.")];
    about.extend(bounds.ends.iter().map(|reason| format!("Executions end where {reason}.")));
    about.push("Objects on the stacks of threads are static, so their initial bytes are not arbitrary.".into());
    about.push("Memory is sequentially consistent. A call of a library function is one step.".into());
    Ok(about)
}
