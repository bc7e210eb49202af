//! The inputs of an execution, with what a native harness must know of the program to give them to it.

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
    /// What the inputs lead to, in words.
    pub of: String,
    /// The sanitizer of clang that reports the error.
    pub sanitizer: Option<&'static str>,
    /// The files of the program, and how they are compiled.
    pub load: Options,
    /// Functions whose call is an error.
    pub error_functions: Vec<String>,
    /// Functions that the program calls and nobody defines. The linker needs them even if the execution does not call them.
    pub undefined: BTreeSet<String>,
    /// Functions that nobody defines only return a value.
    pub undefined_return: bool,
    /// Functions of the program that have a model.
    pub models: Vec<String>,
    /// Pointers have 32 bits.
    pub ilp32: bool,
}

impl Reproduction {
    /// The reproduction of an execution of a job's program.
    pub fn new(job: &Job, program: &Program, trace: Trace, of: String, sanitizer: Option<&'static str>) -> Self {
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
            of,
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

/// Whether the C library defines a function that is no model, but known to the front-end.
fn in_library(name: &str) -> bool {
    frontend_llvm::is_known(name) && !name.starts_with("__") && !name.starts_with("nondet_") && name != "reach_error"
}

/// Functions that give inputs, but none on the way to the error.
fn uncalled(program: &Program, trace: &Trace) -> BTreeSet<String> {
    let called = |name: &String| trace.inputs.iter().any(|i| matches!(&i.kind, InputKind::Nondet(n) if n == name));
    let names = program.inputs.values().filter_map(|input| match &input.kind {
        InputKind::Nondet(name) => Some(name.clone()),
        _ => None,
    });
    names.filter(|name| !called(name)).collect()
}
