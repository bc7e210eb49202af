//! The options of the front-end.

use crate::command::CompileCommand;
use crate::primitives;
use crate::target::DataModel;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The meaning of a call of a function that is neither defined, nor modelled, nor a primitive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UndefinedFunctions {
    /// The call may do anything. It is tainted in both directions, so no verdict holds after it.
    #[default]
    Taint,
    /// The call returns any value and has no other effect, as in the rules of SV-COMP. It is not tainted.
    Pure,
    /// The call returns any value, and writes any values to global variables and to the objects that its arguments
    /// point to.
    Writes,
    /// The call is an error.
    Error,
}

/// The targets of pointers in the arguments of an entry function other than `main`, and in memory reachable from them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EntryPointers {
    /// Every pointer points to an object of its own. Pointers of recursive types may be null.
    #[default]
    Valid,
    /// Every pointer points to an object of its own, or is null.
    MaybeNull,
    /// Every pointer points to an object of its own, to the start of another object of the same type, or is null.
    Aliasing,
}

/// The memory at the start of an entry function other than `main`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EntryMemory {
    /// The targets of pointers.
    pub pointers: EntryPointers,
    /// The length of the arrays that pointers point to. If absent, a pointer to a struct, union or pointer points to
    /// one element, and other pointers to any number of elements.
    pub array_length: Option<u64>,
    /// The maximal distance of an object from the arguments, in pointers. Pointers to objects further away are null.
    pub depth: Option<u32>,
    /// Global variables have arbitrary values.
    pub globals: bool,
    /// The number of objects is bounded, so that an infinite list does not prevent termination.
    pub finite: bool,
}

/// An input file of the program. A C file that is compiled several times has several entries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputFile {
    /// The path.
    pub path: PathBuf,
    /// The object or archive that the user named, if it contains the file.
    pub part_of: Option<PathBuf>,
    /// The project's compile command. Its options precede those of all files.
    pub command: Option<CompileCommand>,
    /// Replacements of undefined symbols, as in `ld --wrap`: if the file does not define the first symbol, references
    /// to it become references to the second. All replacements are simultaneous.
    pub references: BTreeMap<String, String>,
    /// Symbols that the linker defines in addition to the files, as with `ld --defsym`. A file that both defines and uses
    /// one of them is rejected.
    pub redefined: BTreeSet<String>,
    /// The archive of which this file is a member, as a number. A member is part of the program only if it defines a
    /// symbol that is otherwise undefined.
    pub member: Option<u32>,
}

/// The paths without duplicates, in order.
fn distinct<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !files.contains(path) {
            files.push(path.clone());
        }
    }
    files
}

impl<P: Into<PathBuf>> From<P> for InputFile {
    fn from(path: P) -> Self {
        Self {
            path: path.into(),
            part_of: None,
            command: None,
            references: BTreeMap::new(),
            redefined: BTreeSet::new(),
            member: None,
        }
    }
}

/// The input of [`load`](crate::load).
#[derive(Clone, Debug)]
pub struct Options {
    /// The input files. `.c` and `.i` files are compiled; `.bc` and `.ll` files are read. All are linked into one
    /// module.
    pub inputs: Vec<InputFile>,
    /// The required data model. If absent, the data model of the target that options select, or of the bitcode among
    /// the inputs, else LP64.
    pub data_model: Option<DataModel>,
    /// `-I` for C inputs. The next three fields also apply to C inputs.
    pub include_dirs: Vec<PathBuf>,
    /// `-D`, each `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// `-std=`. If absent, clang's default.
    pub std: Option<String>,
    /// Further arguments for clang.
    pub clang_args: Vec<String>,
    /// Functions of linked objects whose code is unknown, with the names of the objects. No model replaces such a
    /// function.
    pub foreign: BTreeMap<String, String>,
    /// The function at which execution starts.
    pub entry: String,
    /// The memory at the start of an entry function other than `main`.
    pub entry_memory: EntryMemory,
    /// The checks that clang inserts into C files. Each becomes an error edge. In bitcode, existing checks of these
    /// kinds become errors, and others have no effect.
    pub checks: Vec<cfa::Check>,
    /// True if the check of signed overflow is selected by name instead of by group. Files in which overflow is defined
    /// (`-fwrapv`) are then also checked.
    pub checks_wrapping: bool,
    /// Checks that are made elsewhere, maybe in another program of the same source. A path may end without a taint
    /// where such a check fails.
    pub checked_elsewhere: Vec<cfa::Check>,
    /// Functions whose call is a violation. No model replaces them.
    pub error_functions: Vec<String>,
    /// The meaning of calls of undefined functions.
    pub undefined_functions: UndefinedFunctions,
    /// Functions whose calls must remain calls, even if the front-end could implement them directly (`malloc`, `exit`),
    /// because an automaton observes them.
    pub watched: Vec<String>,
    /// Functions that a query names: clang must not replace their calls.
    pub named: Vec<String>,
    /// If true, any allocation may fail. Otherwise only allocations that exceed the address space fail.
    pub malloc_may_fail: bool,
    /// The program may be started without arguments, not even its name, as Linux allowed before version 5.18.
    pub argc_may_be_zero: bool,
    /// Functions whose bodies are removed. If the library or several inputs also define such a function, the definition
    /// in the last input remains.
    pub remove_bodies: Vec<String>,
    /// If true, each value of the environment (input, result of an undefined function) depends on the earlier ones, as
    /// in a file. Executable slices need this.
    pub sequential_environment: bool,
    /// If true, an undefined function may change the later values of the environment, even if it has no result.
    pub undefined_functions_keep_state: bool,
    /// If true, the program may read its own output, so later values of the environment depend on output.
    pub reads_back: bool,
    /// If true, output calls are kept, although a verdict only depends on whether they are valid. Programs that are
    /// executed need this, and so do programs for cooperation.
    pub keeps_output: bool,
    /// If true, every condition of C becomes a branch, even if clang computes it without one (see `lower::decisions`), or
    /// if it is always true or always false.
    /// Coverage needs this.
    pub decisions: bool,
    /// If true, functions and variables that are unreachable from the entry are omitted.
    pub only_reachable: bool,
    /// If true, functions that start threads have models, based on `cfa::threads`. Otherwise they are not modelled.
    pub threads: bool,
    /// If true, library models are linked. Otherwise every library function except the primitives is undefined.
    pub models: bool,
}

impl Options {
    /// The paths of the inputs without duplicates.
    pub fn files(&self) -> Vec<PathBuf> {
        distinct(self.inputs.iter().map(|input| &input.path))
    }

    /// The files that the user named, without duplicates: an object file instead of the bitcode embedded in it.
    pub fn named_files(&self) -> Vec<PathBuf> {
        distinct(self.inputs.iter().map(|input| input.part_of.as_ref().unwrap_or(&input.path)))
    }
    /// True if an enabled check depends on the scopes of variables.
    pub(crate) fn scopes(&self) -> bool {
        is_about_scopes(&self.checks)
    }
    /// Library functions that clang must call instead of translating them, because their calls are errors, observed, or
    /// named by a query.
    pub(crate) fn called_by_name(&self) -> BTreeSet<&str> {
        let is_identifier = |name: &&str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let names = self.error_functions.iter().chain(&self.watched).chain(&self.named).map(String::as_str);
        names.filter(is_identifier).filter(|name| !primitives::aborts(name)).collect()
    }
    /// The sanitizers of the enabled checks, without duplicates.
    pub(crate) fn sanitizers(&self) -> Vec<&'static str> {
        sanitizers(&self.checks)
    }
    /// The clang options that are common to all programs of the inputs: the sanitizers, and whether scopes are marked.
    pub(crate) fn compiled_for(&self) -> (Vec<&'static str>, bool) {
        let all: Vec<cfa::Check> = self.checks.iter().chain(&self.checked_elsewhere).copied().collect();
        (sanitizers(&all), is_about_scopes(&all))
    }
}

fn is_about_scopes(checks: &[cfa::Check]) -> bool {
    checks.iter().any(|check| check.is_fault() || *check == cfa::Check::Memory)
}

fn sanitizers(checks: &[cfa::Check]) -> Vec<&'static str> {
    let in_code = checks.iter().filter(|check| check.is_in_code());
    let mut names: Vec<&str> = in_code.filter_map(|check| check.sanitizer()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

impl Default for Options {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            data_model: None,
            include_dirs: Vec::new(),
            defines: Vec::new(),
            std: None,
            clang_args: Vec::new(),
            foreign: BTreeMap::new(),
            entry: "main".into(),
            entry_memory: EntryMemory::default(),
            checks: Vec::new(),
            checked_elsewhere: Vec::new(),
            error_functions: Vec::new(),
            undefined_functions: UndefinedFunctions::default(),
            watched: Vec::new(),
            named: Vec::new(),
            malloc_may_fail: false,
            argc_may_be_zero: false,
            checks_wrapping: false,
            remove_bodies: Vec::new(),
            sequential_environment: false,
            undefined_functions_keep_state: false,
            reads_back: false,
            keeps_output: false,
            decisions: false,
            only_reachable: false,
            threads: false,
            models: true,
        }
    }
}
