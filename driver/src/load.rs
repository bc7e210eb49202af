//! Loading of programs by the front-end. Its errors become [`Failure`]s.

use crate::failure::{Failure, exit};
use crate::source::{STDIN, naming_standard_input};
use cfa::Program;
use engine::budget::Budget;
use frontend_llvm::{Loader, Options};
use std::path::Path;

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
    loader.load(options, &stop).map_err(|error| {
        let mut failure = loading(&error);
        if let frontend_llvm::Error::Compile { messages, .. } = &error
            && let Some(header) = missing_header(messages)
        {
            let help = header_help(header, options);
            failure.detail = failure.detail.map(|detail| format!("{}\n  = help: {help}", detail.trim_end()));
        }
        failure
    })
}

/// Loads the input like [`load`]. Also returns the data to reduce the module to a part of the program.
///
/// # Errors
/// `Err` if a file cannot be read, compiled or lowered.
pub fn load_to_cut(options: &Options) -> Result<(Program, frontend_llvm::Cut), Failure> {
    frontend_llvm::load_to_cut(options).map_err(|e| loading(&e))
}

/// Returns the header that clang has not found, as the program names it.
fn missing_header(messages: &str) -> Option<&str> {
    let (before, _) = messages.split_once("' file not found")?;
    Some(before.rsplit_once('\'')?.1)
}

/// Returns advice about a header that clang has not found. If the commands of the project search a folder that has it,
/// the advice names the folder.
fn header_help(header: &str, options: &Options) -> String {
    let commands = options.inputs.iter().filter_map(|input| input.command.as_ref());
    let folders = commands.flat_map(|command| {
        let words = command.options.iter().zip(command.options.iter().skip(1).map(Some).chain([None]));
        words.filter_map(|(word, next)| {
            let folder = ["-I", "-isystem", "-iquote"].iter().find_map(|name| word.strip_prefix(name))?;
            Some(command.directory.join(if folder.is_empty() { next?.as_str() } else { folder }))
        })
    });
    let found = folders.filter(|folder| folder.join(header).is_file()).find_map(|folder| folder.canonicalize().ok());
    match found {
        Some(folder) => {
            let here = std::env::current_dir().unwrap_or_default();
            let shown = match folder.strip_prefix(&here) {
                Ok(below) if below.as_os_str().is_empty() => Path::new("."),
                Ok(below) => below,
                Err(_) => &folder,
            };
            format!("the project finds `{header}` by `-I {}`", shown.display())
        }
        None => format!(
            "name the folder of `{header}` by `-I FOLDER`; `-p BUILD` compiles the files of a project with its options"
        ),
    }
}

/// Returns the failure for an error of the front-end.
pub fn loading(error: &frontend_llvm::Error) -> Failure {
    let code = error.exit_code();
    match error {
        frontend_llvm::Error::Compile { path, messages } => {
            let named = |text: &str| naming_standard_input(text, STDIN);
            let mut failure = Failure::new(code, named(&format!("clang cannot compile {}", path.display())));
            failure.detail = Some(named(messages));
            failure
        }
        _ => {
            let mut failure = Failure::new(if code == 0 { exit::INTERNAL } else { code }, error.to_string());
            failure.detail = error.notes();
            failure
        }
    }
}
