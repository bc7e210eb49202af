//! The program and the questions, as a user states them.

use frontend_llvm::{DataModel, EntryMemory};
use std::path::PathBuf;

/// A program and the questions about it. [`Task::new`] asks the default question about a program that starts at `main`.
#[derive(Clone, Debug)]
pub struct Task {
    /// C files (`.c`, `.i`), bitcode (`.bc`, `.ll`), objects, archives and programs with embedded bitcode, or `-` for
    /// standard input. Alternatively, one task definition of SV-COMP (`.yml`), which names the files itself.
    pub files: Vec<PathBuf>,
    /// The options of the compiler.
    pub compiling: Compiling,
    /// Property files (`.prp`, `.spc`) and names of properties. If there are any, `checks` is not used.
    pub properties: Vec<String>,
    /// Files with automata, and names of automata that Proviso ships.
    pub automata: Vec<String>,
    /// Names of checks, which are those of clang's sanitizers.
    pub checks: Vec<String>,
    /// The question if `properties`, `automata` and `checks` are empty and the task definition names no property.
    pub otherwise: Otherwise,
    /// Functions whose call is an error. If there are none, the property determines them.
    pub error_functions: Vec<String>,
    /// The function that the program starts with. By default, the property names it, or it is `main`.
    pub entry: Option<String>,
    /// The memory that `entry` finds when it is called, if it is not `main`.
    pub entry_memory: EntryMemory,
    /// The behaviour of functions without a definition: `unknown`, `fail`, `any-value`, `any-effect`, or the name of a
    /// C file with stubs.
    pub undefined_functions: String,
    /// True if every allocation may fail. Otherwise, only one for which no machine has memory may fail.
    pub malloc_may_fail: bool,
    /// True if the program may be started without any argument, not even its name. Linux allowed this before version
    /// 5.18.
    pub argc_may_be_zero: bool,
    /// Functions whose bodies are removed.
    pub removed_bodies: Vec<String>,
}

/// The default question, for a user who names none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Otherwise {
    /// Assertions, memory safety and undefined behaviour.
    Everything,
    /// Only assertions.
    Assertions,
}

/// The options with which C files are compiled.
#[derive(Clone, Default, Debug)]
pub struct Compiling {
    /// The data model. By default, the task or the bitcode determines it, or it is LP64.
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
    /// Returns the default question about a program that consists of these files.
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
