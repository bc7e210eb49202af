//! The inputs of an execution, with the facts about the program that a native harness needs to pass them to it.

use crate::job::Job;
use crate::trace::Trace;
use cfa::{FunctionOrigin, InputKind, Program};
use frontend_llvm::{Options, UndefinedFunctions};
use std::collections::BTreeSet;

/// An execution that can be reproduced natively.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// The execution.
    pub trace: Trace,
    /// The text that describes the end of the execution.
    pub description: String,
    /// The sanitizer of clang that reports the error, if there is one.
    pub sanitizer: Option<&'static str>,
    /// The files of the program with their compile options.
    pub load: Options,
    /// The functions whose call is an error.
    pub error_functions: Vec<String>,
    /// The undefined functions that the program calls. The linker needs them even if the execution does not call them.
    pub undefined: BTreeSet<String>,
    /// True if undefined functions only return a value, without other effects.
    pub undefined_return: bool,
    /// The functions of the program that have a model.
    pub models: Vec<String>,
    /// True if pointers have 32 bits.
    pub ilp32: bool,
}

impl Reproduction {
    /// Returns the reproduction of an execution (`trace`) of the job's program.
    pub fn new(
        job: &Job,
        program: &Program,
        trace: Trace,
        description: String,
        sanitizer: Option<&'static str>,
    ) -> Self {
        let error_functions = job.error_functions.clone();
        let undefined = program
            .funcs
            .values()
            .filter(|f| f.origin == FunctionOrigin::Undefined && !in_library(&f.name))
            .filter(|f| !error_functions.iter().any(|name| f.is_named(name)))
            .map(|f| f.symbol.as_ref().unwrap_or(&f.name).clone())
            .chain(uncalled(program, &trace))
            .collect();
        Self {
            description,
            sanitizer,
            load: job.load.clone(),
            error_functions,
            undefined,
            undefined_return: job.load.undefined_functions == UndefinedFunctions::Pure,
            models: program.models.clone(),
            ilp32: program.layout.pointer_width == 32,
            trace,
        }
    }
}

/// Returns true if the C library defines this function, which has no model but is known to the front-end.
fn in_library(name: &str) -> bool {
    frontend_llvm::is_known(name) && !name.starts_with("__") && !name.starts_with("nondet_") && name != "reach_error"
}

/// Returns the input functions of the program that the execution does not call.
fn uncalled(program: &Program, trace: &Trace) -> BTreeSet<String> {
    let called = |name: &String| trace.inputs.iter().any(|i| matches!(&i.kind, InputKind::Nondet(n) if n == name));
    let names = program.inputs.values().filter_map(|input| match &input.kind {
        InputKind::Nondet(name) => Some(name.clone()),
        _ => None,
    });
    names.filter(|name| !called(name)).collect()
}
