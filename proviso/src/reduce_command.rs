//! `proviso reduce`: writes residual programs.

use crate::args::{ReduceArgs, TakeArg};
use crate::output::{self, Colors};
use crate::subject::{load, read, read_condition};
use cfa::wording::counted;
use cooperate::gia::{self, Removed};
use cooperate::reduce::{Shape, reduce};
use cooperate::restrict::TooLarge;
use driver::failure::{Failure, exit};
use driver::files::{Outputs, STDOUT};
use driver::job::Job;
use driver::plan::reducer_of;
use driver::written::{Language, approximations, language, text};
use std::path::PathBuf;

/// Runs the command and returns the exit code.
pub fn run(args: &ReduceArgs, colors: Colors) -> u8 {
    match attempt(args, colors) {
        Ok(()) => exit::TRUE,
        Err(failure) => output::failure(&failure, colors),
    }
}

fn attempt(args: &ReduceArgs, colors: Colors) -> Result<(), Failure> {
    let stdout = PathBuf::from(STDOUT);
    // If the user questions only for the drawing, it replaces the program on standard output.
    let output = args.output.as_ref().or((!args.shape).then_some(&stdout));
    let mut outputs = Outputs::new([("--output", output)]);
    let (mut program, job) = load(&args.files, &args.input, args.property.as_deref(), &outputs)?;
    output::warnings(&job.warnings, colors);
    let reducer = reducer_of(&args.reducer)?;
    let whole = Shape::compute(&program);
    let too_large = |e: TooLarge| Failure::data(e.to_string());
    let residual = match (&args.condition, &args.gia) {
        (Some(path), _) => {
            let condition = read_condition(path, &mut program)?;
            reduce(&program, &condition, reducer).map_err(too_large)?.program
        }
        (None, Some(path)) => {
            let gia = read(path, &mut program)?;
            let take = match args.take {
                TakeArg::Ut => Removed::Unreachable,
                TakeArg::Rt => Removed::Reachable,
            };
            gia::reduce(&mut program, &gia, take, reducer).map_err(too_large)?.program
        }
        (None, None) => program,
    };
    let shape = Shape::compute(&residual);
    if let Some(output) = output {
        let about = vec!["A residual program, written by proviso reduce.".to_owned()];
        let options = cooperate::c::Options { plain: args.no_line, about, ..cooperate::c::Options::default() };
        let (text, unsaid) = text(&residual, output, &options)?;
        outputs.put(output, text);
        if language(output) != Language::Automata {
            warn_of_unasked(&job, unsaid.as_deref(), colors);
        }
        let inexact = approximations(&residual);
        if !inexact.is_empty() {
            output::warning(&format!("the C is not exactly the program: {}", inexact.join("; ")), colors);
        }
    }
    outputs.commit()?;
    if args.shape {
        output::print(&shape.draw(40, 60))?;
    }
    if args.condition.is_some() || args.gia.is_some() || args.shape {
        let (now, before) = (shape.locations(), whole.locations());
        let ratio = now as f64 / before.max(1) as f64;
        let by = &args.reducer;
        output::print_error(&format!(
            "{by}: {}, {}; {ratio:.2} times the program's {before}\n",
            counted(now, "location"),
            counted(shape.edges, "edge")
        ));
    }
    Ok(())
}

/// Prints a warning for each property that the written program does not check completely. A property that does not
/// correspond to a location of the program cannot become a call of `reach_error`.
fn warn_of_unasked(job: &Job, unsaid: Option<&str>, colors: Colors) {
    for question in &job.questions {
        let why = match (question.checks.is_empty(), unsaid) {
            (true, _) => "a violation is an infinite execution, not a place in the program",
            (false, Some(_)) if question.checks.iter().any(|c| c.is_fault()) => {
                "memory accesses are not checked (`proviso instrument` writes a program that checks them)"
            }
            (false, Some(error)) => &format!("other tools do not check this error: \"{error}\""),
            (false, None) => continue,
        };
        output::warning(&format!("the C does not check all of {}: {why}", question.name), colors);
    }
}
