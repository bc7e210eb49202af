//! What to load and how.

use crate::command::CompileCommand;
use crate::primitives;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Sizes of C's types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataModel {
    /// `int`, `long` and pointers have 32 bits (i386).
    Ilp32,
    /// `long` and pointers have 64 bits (x86-64).
    Lp64,
}

impl DataModel {
    /// Its name in the world of C.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ilp32 => "ILP32",
            Self::Lp64 => "LP64",
        }
    }

    /// The data model of a program with pointers of so many bits.
    pub fn of_pointer_width(bits: u32) -> Self {
        if bits == 32 { Self::Ilp32 } else { Self::Lp64 }
    }
}

/// What a call of a function means that is neither defined, modelled nor a primitive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UndefinedFunctions {
    /// It may do anything: behaviours are added and dropped, and no verdict survives the call.
    #[default]
    Taint,
    /// It returns any value and does nothing else, as the rules of SV-COMP have it: no taint.
    Pure,
    /// It returns any value, and writes any values into the objects that its arguments point to and into global variables.
    Writes,
    /// It must not be called: the call is an error.
    Error,
}

/// Where pointers lead that a function other than `main` is given, or finds in what it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EntryPointers {
    /// To objects of their own. Pointers in objects from which one comes back to objects of the same type may be null.
    #[default]
    Valid,
    /// To objects of their own, or nowhere.
    MaybeNull,
    /// To objects of their own, to the start of one that other pointers of the same type lead to, or nowhere.
    Aliasing,
}

/// What a function other than `main` finds in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EntryMemory {
    pub pointers: EntryPointers,
    /// Elements of the arrays that pointers lead to. Otherwise one struct, union or pointer, and any number of others.
    pub array_length: Option<u64>,
    /// Pointers that lead further away from the arguments are null.
    pub depth: Option<u32>,
    /// Global variables have any content.
    pub globals: bool,
    /// Objects are counted, and not made without end: a list that has none is no reason for a program not to end.
    pub finite: bool,
}

/// A file of the program. A C file that is compiled twice, differently or not, is two of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputFile {
    pub path: PathBuf,
    /// How the project compiles it: its options come before those of all files.
    pub command: Option<CompileCommand>,
    /// As `ld --wrap` has it: a reference to the first symbol, if the file does not define that, is one to the second. All of them are
    /// replaced at once.
    pub references: BTreeMap<String, String>,
    /// The member of an archive that it is of. Members are a part of the program only if they define what others leave undefined.
    pub member: Option<u32>,
}

impl<P: Into<PathBuf>> From<P> for InputFile {
    fn from(path: P) -> Self {
        Self { path: path.into(), command: None, references: BTreeMap::new(), member: None }
    }
}

/// The input of [`load`](crate::load).
#[derive(Clone, Debug)]
pub struct Options {
    /// `.c` and `.i` files are compiled, `.bc` and `.ll` files read; all are linked into one module.
    pub inputs: Vec<InputFile>,
    /// Sizes of C's types, which the target must have; if absent, those of the target that options choose, or of the bitcode among the inputs, else LP64.
    pub data_model: Option<DataModel>,
    /// `-I`, for C inputs, as are the next three.
    pub include_dirs: Vec<PathBuf>,
    /// `-D`, each `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// `-std=`; clang's default if absent.
    pub std: Option<String>,
    /// Further arguments for clang.
    pub clang_args: Vec<String>,
    /// Functions of objects that are part of the program while nothing else is known of them, and the objects. No model stands for such a function.
    pub foreign: BTreeMap<String, String>,
    /// The function that execution starts with.
    pub entry: String,
    pub entry_memory: EntryMemory,
    /// What C files are checked for, besides: checks that clang can put into the code. Each becomes an error edge. In
    /// bitcode, checks of these kinds are errors where they are, and others do nothing.
    pub checks: Vec<cfa::Check>,
    /// Signed overflow is asked about by its own name, not as one of a group: files that define it (`-fwrapv`) are checked for it as well.
    pub checks_wrapping: bool,
    /// Checks that somebody makes, maybe of another program made of the same source: where one fails, a path may end without a taint.
    pub checked_elsewhere: Vec<cfa::Check>,
    /// Functions whose call is the violation: never replaced by a model.
    pub error_functions: Vec<String>,
    pub undefined_functions: UndefinedFunctions,
    /// Functions whose calls in the program stay calls, where the front-end would put in what they do (`malloc`, `exit`): somebody watches them.
    pub watched: Vec<String>,
    /// Functions that somebody asks about by name: clang calls them where the program does.
    pub named: Vec<String>,
    /// Any allocation may fail, not only one of more memory than there can be.
    pub malloc_may_fail: bool,
    /// Functions that lose their bodies. If there is another definition, in the library or in more than one input, that
    /// in the last input stays.
    pub remove_bodies: Vec<String>,
    /// Values that the environment gives (input read, results of functions that nobody defines) depend on those it
    /// gave before, as those of a file do: for slices that are to run.
    pub sequential_environment: bool,
    /// A function that nobody defines may change what those values are, also one without a result.
    pub undefined_functions_keep_state: bool,
    /// What the program writes it may read again, so that output is among what those values depend on.
    pub reads_back: bool,
    /// Calls that print stay what they are, also where all that matters to a verdict is whether they can: for programs that are to run, and for those
    /// who share the work on one.
    pub keeps_output: bool,
    /// Every condition of C is a branch, also one that clang's code merely computes with (see `lower::decisions`): for coverage.
    pub decisions: bool,
    /// Leave out functions and variables that nothing reaches from where execution starts.
    pub only_reachable: bool,
    /// Link the library models. Without them, every library function but the primitives is undefined.
    pub models: bool,
}

impl Options {
    /// The files that are inputs, each once.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = Vec::new();
        for input in &self.inputs {
            if !files.contains(&input.path) {
                files.push(input.path.clone());
            }
        }
        files
    }
    /// Whether it matters where the scopes of variables begin and end.
    pub(crate) fn scopes(&self) -> bool {
        is_about_scopes(&self.checks)
    }
    /// Library functions that clang has to call where the program does, and not to translate: their calls are errors, or somebody watches or
    /// names them.
    pub(crate) fn called_by_name(&self) -> BTreeSet<&str> {
        let is_identifier = |name: &&str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let names = self.error_functions.iter().chain(&self.watched).chain(&self.named).map(String::as_str);
        names.filter(is_identifier).filter(|name| !primitives::aborts(name)).collect()
    }
    /// The sanitizers that clang has to put into the code for the checks, each once.
    pub(crate) fn sanitizers(&self) -> Vec<&'static str> {
        sanitizers(&self.checks)
    }
    /// What clang is asked for, which is the same for all programs that are made of the inputs: the sanitizers, and whether to mark scopes.
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
            checks_wrapping: false,
            remove_bodies: Vec::new(),
            sequential_environment: false,
            undefined_functions_keep_state: false,
            reads_back: false,
            keeps_output: false,
            decisions: false,
            only_reachable: false,
            models: true,
        }
    }
}
