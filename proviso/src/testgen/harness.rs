//! A test as a C file that provides the inputs of the program.

use super::given::Given;
use super::goals;
use crate::args::TestgenArgs;
use crate::harness;
use crate::test_format::imported::{self, Given as Source};
use cfa::interp::Interpreter;
use cfa::{Bv, InputId, Program};
use cooperate::range::split::literal;
use driver::evidence::reproduction::Reproduction;
use driver::failure::{Failure, exit};
use driver::files::Outputs;
use driver::job::Job;
use driver::load::load;
use driver::task::Otherwise;
use driver::trace::types::plain_name;
use driver::trace::{InputValue, Trace};
use engine::budget::Budget;
use std::path::Path;

/// Writes the harness of a test that is in a file, and returns the exit code. `None` if the user names no such file or
/// no harness.
pub fn of_file(args: &TestgenArgs) -> Option<Result<u8, Failure>> {
    let test = args.test.as_ref().filter(|test| test.parse::<usize>().is_err())?;
    let path = args.verify.harness.as_ref()?;
    let written = || {
        let job = args.verify.job(Otherwise::Assertions)?;
        let mut outputs = Outputs::new([("--harness", Some(path))]);
        let read = job.files_read.iter().map(std::path::PathBuf::as_path);
        outputs
            .check(args.verify.files.iter().map(std::path::PathBuf::as_path).chain(read).chain([Path::new(test)]))?;
        let program = load(&job.load, &Budget::unlimited())?;
        outputs.spare(program.files.values().map(|f| Path::new(&f.path)))?;
        let given = given(&program, Path::new(test))?;
        outputs.put(path, harness::named(&write(&program, &job, &given, test), path));
        outputs.commit()?;
        Ok(exit::TRUE)
    };
    Some(written())
}

/// Returns the values that the test in a file provides to the program. `Err` if the file does not have exactly one
/// test, or the test does not fit the program.
fn given(program: &Program, path: &Path) -> Result<Given, Failure> {
    let problem = |why: String| Failure::data(format!("{}: {why}", path.display()));
    let tests = imported::read(path)?;
    let [test] = tests.as_slice() else { return Err(problem("one test is expected".into())) };
    let mut given = Source::new(program, test);
    let run = goals::execute(program, &Interpreter::new(program), &mut given, false);
    if let Some(why) = given.wrong {
        return Err(problem(format!("the test does not fit the program: {why}")));
    }
    Ok(run.map_err(problem)?.given)
}

/// Returns the text of the harness for a test. `name` names the test in a comment.
pub fn write(program: &Program, job: &Job, given: &Given, name: &str) -> String {
    let input = |(input, value): &(InputId, Bv)| {
        let of = &program.inputs[*input];
        InputValue {
            kind: of.kind.clone(),
            ty: program.type_name(of.ty),
            c_type: plain_name(program, of.ty),
            shown: literal(program, *input, value).1,
            value: value.clone(),
            writes: Vec::new(),
            spot: None,
            function: String::new(),
        }
    };
    let trace = match given {
        Given::Values(values) => Trace { inputs: values.iter().map(input).collect(), ..Trace::default() },
        Given::Call(trace) => Trace::clone(trace),
        Given::Process { process, opened, .. } => {
            Trace { environment: process.environment(opened), ..Trace::default() }
        }
    };
    harness::compose(&Reproduction::new(job, program, trace, format!("of {name}"), None))
}
