//! A test as a C file that gives the program its inputs.

use super::goals;
use super::imported::{self, Given};
use crate::failure::Failure;
use crate::harness::plain_name;
use crate::job::Job;
use crate::pipeline::harness_of;
use crate::trace::{InputValue, Trace};
use cfa::interp::Interpreter;
use cfa::{Bv, InputId, Program};
use cooperate::range::split::literal;
use std::path::Path;

/// What a harness is of.
pub enum Which {
    Number(usize),
    File(std::path::PathBuf),
}

impl Which {
    /// What the command line says; the first test where it says nothing.
    pub fn of(said: Option<&str>) -> Self {
        match said.map_or(Ok(1), str::parse) {
            Ok(number) => Self::Number(number),
            Err(_) => Self::File(said.unwrap_or_default().into()),
        }
    }
}

/// The values that a test in a file gives to the program.
pub fn values(program: &Program, path: &Path) -> Result<Vec<(InputId, Bv)>, Failure> {
    let problem = |why: String| Failure::data(format!("{}: {why}", path.display()));
    let tests = imported::read(path)?;
    let [test] = tests.as_slice() else { return Err(problem("one test is expected".into())) };
    let mut given = Given::new(program, test);
    let run = goals::execute(program, &Interpreter::new(program), &mut given, false);
    if let Some(why) = given.wrong {
        return Err(problem(format!("the test does not fit the program: {why}")));
    }
    Ok(run.map_err(problem)?.values)
}

/// The harness of a test.
pub fn write(program: &Program, job: &Job, values: &[(InputId, Bv)], name: &str) -> String {
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
    let trace = Trace { inputs: values.iter().map(input).collect(), ..Trace::default() };
    harness_of(job, program, &trace, format!("of {name}"), None)
}
