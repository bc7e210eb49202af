//! Loading of programs by the front-end. Its errors become [`Failure`]s.

use crate::failure::{Failure, exit};
use cfa::Program;
use engine::budget::Budget;
use frontend_llvm::{Loader, Options};

/// Compiles and lowers the input.
///
/// # Errors
/// `Err` if a file cannot be read, compiled or lowered, or if the budget is spent meanwhile.
pub fn load(options: &Options, budget: &Budget) -> Result<Program, Failure> {
    load_module(&Loader::default(), options, budget)?.lower().map_err(|e| loading(&e))
}

/// Compiles and links the input.
///
/// # Errors
/// `Err` if a file cannot be read, compiled or linked, or if the budget is spent meanwhile.
pub fn load_module(loader: &Loader, options: &Options, budget: &Budget) -> Result<frontend_llvm::Module, Failure> {
    let stop = || budget.spent().is_some();
    loader.load(options, &stop).map_err(|e| loading(&e))
}

/// Loads the input like [`load`]. Also returns the data to reduce the module to a part of the program.
///
/// # Errors
/// `Err` if a file cannot be read, compiled or lowered.
pub fn load_to_cut(options: &Options) -> Result<(Program, frontend_llvm::Cut), Failure> {
    frontend_llvm::load_to_cut(options).map_err(|e| loading(&e))
}

/// Returns the failure for an error of the front-end.
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
