//! What to verify, as a user asks it.

use frontend_llvm::{DataModel, EntryMemory};
use std::path::PathBuf;

/// A program and what is asked about it. [`Task::new`] asks the default question about a program that starts at `main`.
#[derive(Clone, Debug)]
pub struct Task {
    /// C files (`.c`, `.i`), bitcode (`.bc`, `.ll`), objects, archives and programs with embedded bitcode, `-` for standard input;
    /// or one task definition of SV-COMP (`.yml`), which names the files itself.
    pub files: Vec<PathBuf>,
    /// How the files are compiled.
    pub compiling: Compiling,
    /// Property files (`.prp`, `.spc`) and names of properties. If there are any, `checks` is not used.
    pub properties: Vec<String>,
    /// Files with automata, and names of the automata that come with Proviso.
    pub automata: Vec<String>,
    /// Names of checks, as clang's sanitizers are called.
    pub checks: Vec<String>,
    /// What is asked if nothing of the above is given.
    pub otherwise: Otherwise,
    /// Functions whose call is an error. If there are none, those of the property.
    pub error_functions: Vec<String>,
    /// The function with which the program starts, if not the property's and not `main`.
    pub entry: Option<String>,
    /// The memory that `entry` finds, if it is not `main`.
    pub entry_memory: EntryMemory,
    /// The behaviour of functions that nobody defines: `unknown`, `fail`, `any-value`, `any-effect`, or a C file with stubs.
    pub undefined_functions: String,
    /// Every allocation may fail, not only one that no machine has memory for.
    pub malloc_may_fail: bool,
    /// The program may be started without any argument, not even its name, as Linux allowed before version 5.18.
    pub argc_may_be_zero: bool,
    /// Functions whose bodies are removed.
    pub removed_bodies: Vec<String>,
}

/// The question about a program if its user names none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Otherwise {
    /// Assertions, memory safety and undefined behaviour.
    Everything,
    /// Only assertions.
    Assertions,
}

/// How C files are compiled.
#[derive(Clone, Default, Debug)]
pub struct Compiling {
    /// If there is none: the task's, the bitcode's, or LP64.
    pub data_model: Option<DataModel>,
    /// Folders to search for headers.
    pub include_dirs: Vec<PathBuf>,
    /// Macros (`NAME` or `NAME=VALUE`).
    pub defines: Vec<String>,
    /// The C standard, as clang names it.
    pub std: Option<String>,
    /// A `compile_commands.json`, or the folder with it, of the project that the files belong to.
    pub build: Option<PathBuf>,
    /// Further options for clang.
    pub clang_args: Vec<String>,
}

impl Task {
    /// The default question about a program that consists of these files.
    pub fn new(files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self {
            files: files.into_iter().map(Into::into).collect(),
            compiling: Compiling::default(),
            properties: Vec::new(),
            automata: Vec::new(),
            checks: Vec::new(),
            otherwise: Otherwise::Everything,
            error_functions: Vec::new(),
            entry: None,
            entry_memory: EntryMemory::default(),
            undefined_functions: "unknown".into(),
            malloc_may_fail: false,
            argc_may_be_zero: false,
            removed_bodies: Vec::new(),
        }
    }
}
