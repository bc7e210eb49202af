//! Loading of programs by the front-end. Its errors become [`Failure`]s. All commands load programs here, so they all
//! analyse the same program: the one of the front-end, with the inputs and approximations for what C leaves open about
//! addresses.

use crate::addresses;
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
    load_module(&Loader::default(), options, budget)?.lower()
}

/// The compiled and linked input.
pub struct Module(frontend_llvm::Module);

#[expect(clippy::disallowed_methods, reason = "the methods complete the program")]
impl Module {
    /// Translates the module to a program.
    ///
    /// # Errors
    /// `Err` if the program cannot be represented.
    pub fn lower(&self) -> Result<Program, Failure> {
        self.0.lower().map(complete).map_err(|e| loading(&e))
    }

    /// Like [`Self::lower`], for displaying a module. If the entry function is missing, the program starts at another
    /// function. `None` if there is no function.
    ///
    /// # Errors
    /// `Err` if the program cannot be represented.
    pub fn lower_from_any(&self) -> Result<Option<Program>, Failure> {
        Ok(self.0.lower_from_any().map_err(|e| loading(&e))?.map(complete))
    }

    /// Warnings for the user: options without effect.
    pub fn warnings(&self) -> &[String] {
        self.0.warnings()
    }

    /// The module as bitcode, including library models.
    pub fn bitcode(&self) -> Vec<u8> {
        self.0.bitcode()
    }
}

/// Completes a program of the front-end.
fn complete(mut program: Program) -> Program {
    addresses::leave_open(&mut program);
    program
}

/// Compiles and links the input.
///
/// # Errors
/// `Err` if a file cannot be read, compiled or linked, or if the budget is spent meanwhile.
pub fn load_module(loader: &Loader, options: &Options, budget: &Budget) -> Result<Module, Failure> {
    let stop = || budget.spent().is_some();
    loader.load(options, &stop).map(Module).map_err(|error| {
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

/// Loads the input, and the data to reduce the module to a part of the program. The program is for the computation of
/// dependences, which do not depend on addresses. It has neither the inputs nor the approximations that [`load`] adds,
/// so no analysis may draw conclusions from its executions.
///
/// # Errors
/// `Err` if a file cannot be read, compiled or lowered.
#[expect(clippy::disallowed_methods, reason = "the program is only for dependences")]
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
