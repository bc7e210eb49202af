//! Loading programs through the front-end, with its errors as [`Failure`]s.

use crate::failure::{Failure, exit};
use cfa::Program;
use engine::budget::Budget;
use frontend_llvm::{Loader, Options};

/// Compiles and lowers the input, unless the budget is cancelled meanwhile.
pub fn load(options: &Options, budget: &Budget) -> Result<Program, Failure> {
    load_module(&Loader::default(), options, budget)?.lower().map_err(|e| loading(&e))
}

/// Compiles and links the input.
pub fn load_module(loader: &Loader, options: &Options, budget: &Budget) -> Result<frontend_llvm::Module, Failure> {
    let stop = || budget.spent().is_some();
    loader.load(options, &stop).map_err(|e| loading(&e))
}

/// As [`load`], with the module to cut down to a part of the program.
pub fn load_to_cut(options: &Options) -> Result<(Program, frontend_llvm::Cut), Failure> {
    frontend_llvm::load_to_cut(options).map_err(|e| loading(&e))
}

pub fn loading(error: &frontend_llvm::Error) -> Failure {
    let code = error.exit_code();
    match error {
        frontend_llvm::Error::Compile { path, messages } => {
            let mut failure = Failure::new(code, format!("clang cannot compile {}", path.display()));
            failure.detail = Some(messages.clone());
            failure
        }
        _ => {
            let mut failure = Failure::new(if code == 0 { exit::INTERNAL } else { code }, error.to_string());
            failure.detail = error.notes();
            failure
        }
    }
}
