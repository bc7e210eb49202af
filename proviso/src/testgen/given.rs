//! The inputs that a test gives to the program.

use cfa::{Bv, InputId};
use driver::environment::{OpenedFile, Process};
use driver::trace::Trace;

/// The inputs of a test.
#[derive(Clone, PartialEq, Debug)]
pub enum Given {
    /// The results of the `__VERIFIER_nondet_*` functions, in the order of their calls.
    Values(Vec<(InputId, Bv)>),
    /// The inputs that the operating system gives to a process.
    Process {
        /// The arguments, variables, standard input and files.
        process: Process,
        /// The streams that the program opens in its run, in order.
        opened: Vec<OpenedFile>,
        /// The approximation that the run reaches, if any. A native run may take another path from there.
        doubt: Option<String>,
    },
    /// Everything that a harness gives: the arguments of the entry function and their memory, and results of functions.
    Call(Box<Trace>),
}

impl Given {
    /// Returns the values of the `__VERIFIER_nondet_*` functions; none for other inputs.
    pub fn values(&self) -> &[(InputId, Bv)] {
        match self {
            Self::Values(values) => values,
            Self::Process { .. } | Self::Call(_) => &[],
        }
    }
}
