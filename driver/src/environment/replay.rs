//! Runs of the interpreter on the inputs of a [`Process`]: the models of library functions return what the C library
//! would return for these arguments, this standard input, and these files.
//!
//! The models take their results from the environment, as values of `Havoc` edges. This module supplies these values.
//! The library function that the program called last, and the number of values that this call has taken, determine the
//! meaning of the next value. A value that the process does not determine, such as the time, comes from a sequence that
//! the caller chooses.

pub use super::parse::Place;
use super::process::{PathTarget, is_below};
use super::random::LibraryRandom;
use super::{OpenedFile, Part, Process, Reading, parse, reading, text_at};
use cfa::interp::{InputSource, Interpreter, Limits, ObjectSeq, Observer, Run, State, Unknown};
use cfa::{Bv, Edge, EdgeId, Expr, ExprId, FuncId, FunctionOrigin, GlobalId, Id, InputKind, Op, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};

/// The first descriptor that is not open when a process starts.
const FIRST_DESCRIPTOR: u64 = 3;
/// The times in a replay: the earliest one in seconds since 1970, and the length in seconds of the period that starts there.
const NOT_BEFORE: u64 = 1_700_000_000;
const DURATION: u64 = 1 << 30;
/// The number of microseconds in a second.
const MICROSECONDS: u64 = 1_000_000;
/// The years in a replay: the earliest one, counted from 1900, and the number of years that start there.
const YEAR: u64 = 123;
const YEARS: u64 = 30;
/// The largest file position in bytes that every file system supports.
const MAX_POSITION: u64 = 1 << 33;
/// The maximal number of attempts to open a stream that a run records.
pub const MAX_OPENED: usize = 1000;
/// `ENOENT` on Linux.
const NO_ENTRY: u64 = 2;
/// `EACCES` on Linux.
const NO_ACCESS: u64 = 13;
/// `EEXIST` on Linux.
const EXISTS: u64 = 17;
/// `ENOTDIR` on Linux.
const NO_FOLDER: u64 = 20;
/// `EISDIR` on Linux.
const IS_FOLDER: u64 = 21;
/// `ENOTTY` on Linux.
const NO_TERMINAL: u64 = 25;
/// `EBADF` on Linux.
const BAD_DESCRIPTOR: u64 = 9;
/// `ENOTEMPTY` on Linux.
const NOT_EMPTY: u64 = 39;
/// The bit in the mode of `access` that asks for the right to execute.
const TO_EXECUTE: u64 = 1;

/// The effect of a library function on the inputs of a process.
#[derive(Clone, Copy)]
enum LibraryEffect {
    /// Reads from a stream: the index of the stream argument, `None` for standard input.
    Reads(Reading, Option<usize>),
    /// Opens a stream.
    Opens,
    /// Reads or changes an environment variable.
    Variable,
    /// Opens a descriptor.
    OpensDescriptor,
    /// Reads from a descriptor.
    ReadsDescriptor,
    /// Writes to a descriptor.
    WritesDescriptor,
    /// Closes a descriptor.
    ClosesDescriptor,
    /// Only returns a status. The replay chooses success, which is 0.
    Succeeds,
    /// Opens a stream for an open descriptor (`fdopen`).
    OpensOnDescriptor,
    /// Replaces the file of a stream.
    Reopens,
    /// Sets the position of a stream: `fseek` to the position in the arguments, `rewind` to the start.
    Seeks,
    /// Returns the position of a stream.
    ReturnsPosition,
    /// Sets the position of a descriptor.
    SeeksDescriptor,
    /// Returns the properties of a file: `stat` with its path, `fstat` with its descriptor.
    ReturnsProperties(FileName),
    /// Tests whether a file exists and has certain rights (`access`).
    TestsAccess,
    /// Makes a folder.
    MakesFolder,
    /// Removes a folder.
    RemovesFolder,
    /// Changes the working directory.
    ChangesFolder,
    /// Removes a file.
    Removes,
    /// Tests whether a descriptor is a terminal. In a replay, none is.
    TestsTerminal,
    /// Returns the time in seconds since 1970, and the rest in a smaller unit.
    Clock,
    /// Returns the local time in years, months, …
    Calendar,
    /// Sets the seed of the random numbers, which is the first argument.
    SeedsRandom,
    /// Returns the next random number.
    ReturnsRandom,
    /// Replaces the state of the generator of random numbers.
    ReplacesRandom,
    /// A function that is not replayed. From its call on, the replay deviates from a native run.
    NotReplayed,
    /// Returns values that a process does not determine.
    Other,
}

/// The way in which a function names a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileName {
    Path,
    Descriptor,
}

impl LibraryEffect {
    /// Returns the effect of the library function with this name.
    fn from_name(function: &str) -> Self {
        let name = function.trim_end_matches(".void");
        let bare = name.trim_start_matches("__isoc99_").trim_start_matches("__isoc23_");
        if let Some((how, stream)) = reading(bare).filter(|_| !bare.contains("getw")) {
            return Self::Reads(how, stream);
        }
        match bare {
            "fopen" | "fopen64" => Self::Opens,
            "getenv" | "secure_getenv" | "setenv" | "unsetenv" | "putenv" => Self::Variable,
            "open" | "open64" | "__open_2" | "__open64_2" => Self::OpensDescriptor,
            "read" | "__read_chk" => Self::ReadsDescriptor,
            "write" => Self::WritesDescriptor,
            "close" => Self::ClosesDescriptor,
            "isatty" | "tcgetattr" => Self::TestsTerminal,
            "time" | "gettimeofday" | "clock_gettime" | "timespec_get" => Self::Clock,
            "localtime" | "localtime_r" => Self::Calendar,
            "fclose" | "fflush" | "ferror" | "feof" | "clearerr" | "fsync" | "atexit" | "sleep" | "usleep"
            | "nanosleep" => Self::Succeeds,
            "fdopen" => Self::OpensOnDescriptor,
            "freopen" | "freopen64" => Self::Reopens,
            "fseek" | "fseeko" | "fseeko64" | "rewind" => Self::Seeks,
            "ftell" | "ftello" | "ftello64" => Self::ReturnsPosition,
            "lseek" | "lseek64" => Self::SeeksDescriptor,
            "stat" | "stat64" | "lstat" | "lstat64" => Self::ReturnsProperties(FileName::Path),
            "fstat" | "fstat64" => Self::ReturnsProperties(FileName::Descriptor),
            "access" => Self::TestsAccess,
            "mkdir" => Self::MakesFolder,
            "rmdir" => Self::RemovesFolder,
            "chdir" => Self::ChangesFolder,
            "unlink" | "remove" => Self::Removes,
            "srand" | "srandom" => Self::SeedsRandom,
            "rand" | "random" => Self::ReturnsRandom,
            "initstate" | "setstate" => Self::ReplacesRandom,
            "popen" | "tmpfile" | "tmpfile64" | "fmemopen" | "getw" | "dup" | "dup2" | "pipe" | "rename"
            | "fgetpos" | "fgetpos64" | "fsetpos" | "fsetpos64" | "pread" | "pread64" | "readv" | "mmap" | "mmap64" => {
                Self::NotReplayed
            }
            _ if bare.contains("getw") || bare.starts_with("wscanf") || bare.starts_with("fwscanf") => {
                Self::NotReplayed
            }
            _ => Self::Other,
        }
    }
}

/// The inputs that a run requested from the process, including those that the process does not have.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RequestedInputs {
    /// True if the program read arguments.
    pub arguments: bool,
    /// True if the program read standard input.
    pub stdin: bool,
    /// The attempts of the program to open a stream, in order, at most [`MAX_OPENED`].
    pub opened: Vec<OpenedFile>,
    /// The paths of files that were missing.
    pub missing: BTreeSet<Vec<u8>>,
    /// The paths of files that the program opened for writing.
    pub created: BTreeSet<Vec<u8>>,
    /// The names of the environment variables that the program looked up.
    pub variables: BTreeSet<Vec<u8>>,
}

/// The origins of the values of a run: positions in the byte strings of the process. An observer of the run reads them.
#[derive(Default)]
pub struct Origins {
    value: Option<(Part, Place)>,
    texts: FxHashMap<ObjectSeq, Part>,
    is_undetermined: bool,
}

impl Origins {
    /// Returns the place of the value that the run took last, once: the part, and the bytes of it. At the end of a part,
    /// the position of the byte is its length. `None` if no byte of the process determines the value.
    pub fn take(&mut self) -> Option<(Part, Place)> {
        self.value.take()
    }

    /// Returns true if the run has taken a value that the process does not determine. The content of uninitialised memory
    /// does not count.
    pub fn is_undetermined(&self) -> bool {
        self.is_undetermined
    }

    /// Returns the part whose bytes are the initial content of an object, up to a zero after them.
    pub fn text(&self, object: ObjectSeq) -> Option<&Part> {
        self.texts.get(&object)
    }
}

/// A run on the inputs of a process.
pub struct Replayed {
    /// The run.
    pub run: Run,
    /// True if the process determined all values that the program read. Uninitialised memory counts only if it is read.
    pub is_determined: bool,
    /// The reason why the replay deviates from a native run of this process from some point on. The observer has
    /// observed only the edges before that point.
    pub problem: Option<String>,
    /// The requested inputs.
    pub wanted: RequestedInputs,
}

/// Runs a program on the inputs of processes.
pub struct Replayer<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p>,
    /// By edge, the observations that it needs. The array is smaller than the edges themselves, so it stays in the cache.
    observed: Vec<Observed>,
    /// By function: the effect of a library function. `None` for functions of the program.
    library: Vec<Option<LibraryEffect>>,
    /// The meaning of each value that the program takes for the parameters of `main`, in order.
    main_inputs: Vec<MainInput>,
    /// The stream of standard input.
    stdin: Option<GlobalId>,
    /// The function by which models choose a value between two bounds.
    between: Option<FuncId>,
}

/// The observation of an edge in a replay.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Observed {
    Nothing,
    Call,
    Havoc,
    Return(ExprId),
    OverApproximation,
}

impl Observed {
    fn from_edge(program: &Program, edge: &Edge) -> Self {
        match edge.op {
            Op::Call { .. } => Self::Call,
            Op::Havoc { .. } => Self::Havoc,
            Op::Return { value: Some(value) } => Self::Return(value),
            Op::Approx { taint } if program.taints[taint].over => Self::OverApproximation,
            _ => Self::Nothing,
        }
    }
}

/// The meaning of a value that the program takes before `main`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct MainInput {
    vector: Vector,
    /// `Some(n)`: the value is the size of the string with index `n`. `None`: the value is the number of strings.
    string: Option<usize>,
}

/// A vector of strings that `main` receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Vector {
    Arguments,
    Environment,
}

impl MainInput {
    /// Returns the values for the parameters of `main`, as the front-end creates them. If the program does not read
    /// `argv`, there is only the number of arguments. There are no values for a vector that it does not use.
    fn all(program: &Program) -> Vec<Self> {
        const EACH: usize = Process::MOST_ARGUMENTS + 1;
        let number = |vector| Self { vector, string: None };
        let whole = |vector| {
            let strings = (0..EACH).map(move |n| Self { vector, string: Some(n) });
            std::iter::once(number(vector)).chain(strings)
        };
        let (arguments, environment) = (whole(Vector::Arguments), whole(Vector::Environment));
        match program.inputs.values().filter(|i| i.kind == InputKind::Environment("main".into())).count() {
            0 => Vec::new(),
            1 => vec![number(Vector::Arguments)],
            n if n == 1 + EACH && Self::reads_environment_only(program) => environment.collect(),
            n if n == 2 + EACH => std::iter::once(number(Vector::Arguments)).chain(environment).collect(),
            _ => arguments.chain(environment).collect(),
        }
    }

    /// Returns true if `main` reads its third parameter and neither of the first two.
    fn reads_environment_only(program: &Program) -> bool {
        let Some((main, function)) = program.funcs.iter().find(|(_, f)| f.name == "main") else { return false };
        let mut seen = FxHashSet::default();
        let mut reads = [false; 3];
        for (_, edge) in program.edges.iter().filter(|(id, _)| program.func_of(*id) == main) {
            edge.op.for_each_expr(|e| {
                program.exprs.visit(e, &mut seen, |_, node| {
                    if let Expr::Var(var) = node {
                        let parameters = reads.iter_mut().zip(&function.params);
                        parameters.filter(|(_, parameter)| *parameter == var).for_each(|(read, _)| *read = true);
                    }
                });
            });
        }
        reads == [false, false, true]
    }
}

impl<'p> Replayer<'p> {
    /// Prepares a program, in time linear in its size.
    pub fn new(program: &'p Program) -> Self {
        let is_model = |origin: FunctionOrigin| origin == FunctionOrigin::Model;
        let library =
            program.funcs.values().map(|f| is_model(f.origin).then(|| LibraryEffect::from_name(&f.name))).collect();
        let stdin = program.globals.iter().find(|(_, global)| global.name == "proviso_stdin").map(|(id, _)| id);
        let between = program.funcs.iter().find(|(_, f)| f.name == "proviso_env_between").map(|(id, _)| id);
        let main_inputs = MainInput::all(program);
        let observed = program.edges.values().map(|edge| Observed::from_edge(program, edge)).collect();
        Self { observed, program, interpreter: Interpreter::new(program), library, main_inputs, stdin, between }
    }

    /// Returns true if the edge is an over-approximation.
    pub fn is_over_approximation(&self, edge: EdgeId) -> bool {
        self.observed[edge.index()] == Observed::OverApproximation
    }

    /// Runs the program on the inputs of a process. `others` returns the values that the process does not determine. If
    /// it is `None`, they are 0.
    pub fn run<O: Observer>(
        &self,
        process: &Process,
        others: Option<&mut dyn FnMut() -> u64>,
        limits: Limits,
        observer: &mut O,
    ) -> Replayed {
        self.run_with_origins(process, others, limits, observer, &RefCell::default())
    }

    /// Like [`run`](Self::run). Sets `origins` before the observer is called for a `Havoc` or `Alloc` edge.
    pub fn run_with_origins<O: Observer>(
        &self,
        process: &Process,
        others: Option<&mut dyn FnMut() -> u64>,
        limits: Limits,
        observer: &mut O,
        origins: &RefCell<Origins>,
    ) -> Replayed {
        let now = RefCell::new(ReplayState::new());
        // The references get the lifetime of this call.
        let others = others.map(|others| -> &mut dyn FnMut() -> u64 { others });
        let mut source = ProcessInputs { replayer: self, process, now: &now, others, origins };
        let mut watch = CallObserver { replayer: self, process, has_deviated: false, now: &now, observer };
        let run = self.interpreter.run(&mut source, limits, &mut watch);
        let now = now.into_inner();
        Replayed { run, is_determined: now.is_determined, problem: now.problem, wanted: now.wanted }
    }
}

/// An open file.
#[derive(Clone)]
struct OpenFile {
    /// The path of the file; `None` for standard input.
    path: Option<Vec<u8>>,
    /// The number of bytes that were read.
    at: usize,
    /// True if the stream has reached the end of the file.
    at_end: bool,
    /// True if the program only writes to it.
    is_written: bool,
    /// True if it is a folder: every read fails.
    is_folder: bool,
}

impl OpenFile {
    fn part(&self) -> Part {
        self.path.clone().map_or(Part::Stdin, Part::File)
    }
}

/// The call of a library function that the program executed last.
struct ActiveCall {
    effect: LibraryEffect,
    function: FuncId,
    depth: usize,
    args: Vec<u64>,
    /// The index in [`ReplayState::open`] of the file that the call uses. 0 (standard input) if it uses none.
    file: usize,
    /// The number of values that the call has taken.
    taken: usize,
    /// The values that the call will take, if they were computed in advance.
    planned: VecDeque<Bv>,
    /// The bytes of the file that determine the planned values of `scanf`.
    places: VecDeque<Option<Place>>,
    /// The position in the file of the first byte of a block that the call reads.
    from: usize,
    /// For `getline`: the size of its buffer before the call, in bytes. For operations on positions: the position that the
    /// call returns.
    size_or_position: u64,
    /// The string argument of the call: a path, a name or a format. For `getline`, the delimiter.
    text: Option<Vec<u8>>,
    /// The error number of the call, if it fails.
    error: Option<u64>,
    /// The file whose properties the call returns.
    described: Option<Described>,
}

/// A file or folder whose properties a call returns.
#[derive(Clone, Copy)]
struct Described {
    kind: FileKind,
    /// The number of the file among those whose properties the run has requested.
    number: u64,
}

/// The kind of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FileKind {
    /// A file of the process, with its size in bytes.
    Given(u64),
    /// A file that the program has written.
    Written,
    Folder,
}

/// The state of a run.
struct ReplayState {
    open: Vec<OpenFile>,
    /// The indices in `open` of streams by their address.
    streams: FxHashMap<u64, usize>,
    /// The indices in `open` of descriptors.
    descriptors: FxHashMap<u64, usize>,
    /// The files that the program wrote, and those that it removed.
    written: BTreeSet<Vec<u8>>,
    removed: BTreeSet<Vec<u8>>,
    /// The folders that the program has made.
    made: BTreeSet<Vec<u8>>,
    /// The files whose properties the program has requested; `None` for standard input.
    described: Vec<Option<Vec<u8>>>,
    /// The device and the number of the first of these files.
    identity: Option<(u64, u64)>,
    call: Option<ActiveCall>,
    /// The bounds of the next value, if the model restricts it (`proviso_env_between`).
    bounds: Option<(i64, i64)>,
    /// The number of values that the program has taken for the parameters of `main`.
    main_inputs: usize,
    /// The content of the next object that the model allocates, if the process determines it.
    next_text: Option<(Option<Part>, Vec<u8>)>,
    /// The content of the objects that models have allocated for strings of the process.
    texts: FxHashMap<ObjectSeq, Vec<u8>>,
    /// The generator of random numbers; `None` if the process does not determine its state.
    random: Option<LibraryRandom>,
    is_determined: bool,
    problem: Option<String>,
    wanted: RequestedInputs,
}

impl ReplayState {
    fn new() -> Self {
        let stdin = OpenFile { path: None, at: 0, at_end: false, is_written: false, is_folder: false };
        Self {
            open: vec![stdin],
            streams: FxHashMap::default(),
            descriptors: FxHashMap::from_iter([(0, 0)]),
            written: BTreeSet::new(),
            removed: BTreeSet::new(),
            made: BTreeSet::new(),
            described: Vec::new(),
            identity: None,
            call: None,
            bounds: None,
            main_inputs: 0,
            next_text: None,
            texts: FxHashMap::default(),
            random: Some(LibraryRandom::new(1)),
            is_determined: true,
            problem: None,
            wanted: RequestedInputs::default(),
        }
    }

    /// Records the first reason why the replay deviates from a native run.
    fn record_problem(&mut self, why: &str) {
        self.problem.get_or_insert_with(|| why.to_owned());
    }

    /// Returns true if there is a folder with this path, which is relative to the working directory.
    fn has_folder(&self, process: &Process, place: &[u8]) -> bool {
        self.made.contains(place) || process.has_folder(place)
    }

    /// Returns the kind of the file or folder with this path; `None` if there is none.
    fn kind(&self, process: &Process, place: &[u8]) -> Option<FileKind> {
        if self.has_folder(process, place) {
            return Some(FileKind::Folder);
        }
        if self.written.contains(place) {
            return Some(FileKind::Written);
        }
        let content = process.files.get(place).filter(|_| !self.removed.contains(place))?;
        Some(FileKind::Given(content.len() as u64))
    }

    /// Returns the error number of the search for a path whose last part is missing: a part before it is a file or, if a
    /// file is created, missing.
    fn missing_error(&self, process: &Process, place: &[u8]) -> u64 {
        let ends = (0..place.len()).filter(|&at| place[at] == b'/');
        let is_file = |end: usize| self.kind(process, &place[..end]).is_some_and(|kind| kind != FileKind::Folder);
        if ends.into_iter().any(is_file) { NO_FOLDER } else { NO_ENTRY }
    }

    /// Returns the error number of the creation of a file or folder because the folder that would contain it is missing.
    fn parent_error(&self, process: &Process, place: &[u8]) -> Option<u64> {
        let end = place.iter().rposition(|&b| b == b'/')?;
        (!self.has_folder(process, &place[..end])).then(|| self.missing_error(process, place))
    }

    /// Returns the path of a file or folder, relative to the working directory. Otherwise the error number, which is that
    /// of a native run only for the empty path.
    fn place(&mut self, path: &[u8]) -> Result<Vec<u8>, u64> {
        match PathTarget::from_path(path) {
            PathTarget::Below(place) => return Ok(place),
            PathTarget::Nowhere if path.is_empty() => {}
            PathTarget::Nowhere => {
                self.record_problem("the program uses a path that ends with '/' or '.', or is too long")
            }
            PathTarget::Outside => self.record_problem("the program tests for a file outside the working directory"),
        }
        Err(NO_ENTRY)
    }

    /// Returns the kind of the file with a path, and the path relative to the working directory. Otherwise the error
    /// number.
    fn look_up(&mut self, process: &Process, path: &[u8]) -> Result<(FileKind, Vec<u8>), u64> {
        if path == b"." {
            return Ok((FileKind::Folder, path.to_vec()));
        }
        let place = self.place(path)?;
        match self.kind(process, &place) {
            Some(kind) => Ok((kind, place)),
            None => {
                let error = self.missing_error(process, &place);
                self.wanted.missing.insert(place);
                Err(error)
            }
        }
    }

    /// Records that the program requests the properties of a file.
    fn describe(&mut self, kind: FileKind, place: Option<Vec<u8>>) -> Described {
        if kind == FileKind::Written {
            self.record_problem("the program requests the size of a file that it has written");
        }
        let number = self.described.iter().position(|other| *other == place).unwrap_or_else(|| {
            self.described.push(place);
            self.described.len() - 1
        });
        Described { kind, number: number as u64 }
    }

    /// Makes a folder. `Err` with the error number.
    fn make_folder(&mut self, process: &Process, path: &[u8]) -> Result<(), u64> {
        let place = self.place(path)?;
        if self.kind(process, &place).is_some() {
            return Err(EXISTS);
        }
        self.wanted.missing.insert(place.clone());
        if let Some(error) = self.parent_error(process, &place) {
            return Err(error);
        }
        self.made.insert(place);
        Ok(())
    }

    /// Removes an empty folder. `Err` with the error number.
    fn remove_folder(&mut self, process: &Process, path: &[u8]) -> Result<(), u64> {
        let (kind, place) = self.look_up(process, path)?;
        if kind != FileKind::Folder {
            return Err(NO_FOLDER);
        }
        let others = process.files.keys().filter(|file| !self.removed.contains(*file));
        if others.chain(&self.written).chain(&self.made).any(|other| is_below(other, &place)) {
            return Err(NOT_EMPTY);
        }
        if !self.made.remove(&place) || process.has_folder(&place) {
            self.record_problem("the program removes a folder that it has not made");
        }
        Ok(())
    }

    /// Returns the lowest descriptor that is not open.
    fn lowest_descriptor(&self) -> u64 {
        (FIRST_DESCRIPTOR..).find(|file| !self.descriptors.contains_key(file)).unwrap_or(FIRST_DESCRIPTOR)
    }

    /// Opens the file with a path, for a stream or descriptor. Returns its index, or the error number.
    fn open(&mut self, process: &Process, path: &[u8], reads: bool, creates: bool) -> Result<usize, u64> {
        let place = match PathTarget::from_path(path) {
            PathTarget::Below(place) => place,
            PathTarget::Nowhere => {
                if path.last() == Some(&b'/') || path.ends_with(b".") {
                    self.record_problem("the program opens a folder by a path that ends with '/' or '.'");
                }
                return Err(NO_ENTRY);
            }
            PathTarget::Outside => {
                self.record_problem("the program opens a file outside the working directory");
                return Err(NO_ENTRY);
            }
        };
        let kind = self.kind(process, &place);
        let is_folder = kind == Some(FileKind::Folder);
        if is_folder && (!reads || creates) {
            return Err(IS_FOLDER);
        }
        if kind == Some(FileKind::Written) && reads {
            self.record_problem("the program reads a file that it has written");
        }
        match kind {
            Some(_) => {}
            None if creates => {
                if let Some(error) = self.parent_error(process, &place) {
                    return Err(error);
                }
            }
            None => {
                let error = self.missing_error(process, &place);
                self.wanted.missing.insert(place);
                return Err(error);
            }
        }
        if !reads || creates {
            self.written.insert(place.clone());
            self.wanted.created.insert(place.clone());
            self.removed.remove(&place);
        }
        self.open.push(OpenFile { path: Some(place), at: 0, at_end: false, is_written: !reads, is_folder });
        Ok(self.open.len() - 1)
    }
}

/// Returns the choices of the model for a call that reads from a folder. `format` is that of `scanf`. `None` if this use
/// of `scanf` is not supported.
fn folder_choices(how: Reading, format: &[u8]) -> Option<VecDeque<Bv>> {
    let (end, fails, error) = (Bv::from_i64(64, -1), Bv::new(1, 1), Bv::new(64, IS_FOLDER));
    let first = match how {
        Reading::Characters => vec![end],
        // The buffer does not grow.
        Reading::Line => vec![Bv::zero(64), end],
        // No byte is read.
        Reading::Block => vec![Bv::zero(64)],
        Reading::Format(_) => parse::choices_at_end(format)?,
    };
    Some(first.into_iter().chain([fails, error]).collect())
}

/// Returns the content of an open file.
fn content<'a>(process: &'a Process, open: &OpenFile) -> &'a [u8] {
    match &open.path {
        None => &process.stdin,
        Some(_) if open.is_written => &[],
        Some(path) => process.files.get(path).map_or(&[], Vec::as_slice),
    }
}

/// The inputs of a replay, as the process determines them.
struct ProcessInputs<'a, 'p> {
    replayer: &'a Replayer<'p>,
    process: &'a Process,
    now: &'a RefCell<ReplayState>,
    others: Option<&'a mut dyn FnMut() -> u64>,
    origins: &'a RefCell<Origins>,
}

impl ProcessInputs<'_, '_> {
    fn next_other(&mut self) -> u64 {
        self.others.as_mut().map_or(0, |others| others())
    }

    /// Returns a value that the process does not determine, between the bounds if the model has set them.
    fn other(&mut self, now: &mut ReplayState, width: u32) -> Bv {
        let is_determined = now.bounds.is_some_and(|(low, high)| low == high);
        now.is_determined &= is_determined;
        self.origins.borrow_mut().is_undetermined |= !is_determined;
        let value = self.next_other();
        match now.bounds {
            Some((low, high)) => Bv::from_i64(64, between(value, low, high)).resize(width),
            None => Bv::new(width.min(64), value & (u64::MAX >> (64 - width.min(64)))).resize(width),
        }
    }

    /// Returns the bytes of `struct stat` on x86-64. A process determines the kind of a file, its rights, and the size and
    /// the number of links of a file that is no folder.
    fn properties(&mut self, now: &mut ReplayState, described: Described) -> VecDeque<Bv> {
        /// The size of the structure in bytes.
        const SIZE: usize = 144;
        /// The number of nanoseconds in a second.
        const NANOSECONDS: u64 = 1_000_000_000;
        now.is_determined = false;
        self.origins.borrow_mut().is_undetermined = true;
        // Small numbers are valid for each of these properties.
        let mut other = || self.next_other() & 0xffff;
        let (device, first) = *now.identity.get_or_insert_with(|| (other(), 1 + other()));
        let (mode, size, links) = match described.kind {
            FileKind::Given(size) => (0o100_644, size, 1),
            FileKind::Written => (0o100_644, 0, 1),
            FileKind::Folder => (0o040_755, 4096 + other(), 2 + other()),
        };
        let mut bytes = [0; SIZE];
        let mut put = |at: usize, size: usize, value: u64| {
            bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        };
        put(0, 8, device);
        put(8, 8, first + described.number);
        put(16, 8, links);
        put(24, 4, mode);
        put(28, 4, other());
        put(32, 4, other());
        put(48, 8, size);
        put(56, 8, 4096 + other());
        put(64, 8, size.div_ceil(512) + other());
        // The times of the last access, modification and change.
        for at in [72, 88, 104] {
            put(at, 8, NOT_BEFORE + self.next_other() % DURATION);
            put(at + 8, 8, self.next_other() % NANOSECONDS);
        }
        bytes.iter().map(|&byte| Bv::new(8, byte.into())).collect()
    }

    /// Returns the next value of the arguments of `main`.
    fn main_input(&self, now: &mut ReplayState, width: u32) -> Bv {
        let known = self.replayer.main_inputs.get(now.main_inputs).copied();
        now.main_inputs += 1;
        let Some(MainInput { vector, string }) = known else { return Bv::zero(width) };
        let strings: Vec<Vec<u8>> = match vector {
            Vector::Arguments => {
                now.wanted.arguments = true;
                let name = Process::NAME.as_bytes().to_vec();
                std::iter::once(name).chain(self.process.arguments.iter().cloned()).collect()
            }
            Vector::Environment => {
                let pair = |(name, value): (&Vec<u8>, &Vec<u8>)| [name.as_slice(), value.as_slice()].join(&b'=');
                self.process.variables.iter().map(pair).collect()
            }
        };
        let Some(n) = string else { return Bv::new(width, strings.len() as u64) };
        let text = strings.get(n).cloned().unwrap_or_default();
        let size = text.len() as u64 + 1;
        let is_argument = vector == Vector::Arguments && (1..strings.len()).contains(&n);
        now.next_text = Some((is_argument.then(|| Part::Argument(n - 1)), text));
        Bv::new(width, size)
    }

    /// Returns the next value that a library function takes.
    fn library_value(&mut self, now: &mut ReplayState, width: u32) -> Bv {
        let Some(mut call) = now.call.take() else { return self.other(now, width) };
        let value = self.value(now, &mut call, width);
        call.taken += 1;
        now.call = Some(call);
        value
    }

    fn value(&mut self, now: &mut ReplayState, call: &mut ActiveCall, width: u32) -> Bv {
        let first = call.taken == 0;
        let number = |value: u64| Bv::new(64, value).resize(width);
        match call.effect {
            LibraryEffect::Reads(kind, _) => {
                if now.open[call.file].path.is_none() {
                    now.wanted.stdin = true;
                }
                let bytes = content(self.process, &now.open[call.file]);
                let open = &mut now.open[call.file];
                let rest = bytes.get(open.at..).unwrap_or_default();
                if matches!(kind, Reading::Characters | Reading::Line) && width > 1 && !(first && kind == Reading::Line)
                {
                    self.origins.borrow_mut().value = Some((open.part(), Place::Byte(open.at.min(bytes.len()))));
                }
                match kind {
                    _ if open.is_folder => {
                        self.origins.borrow_mut().value = None;
                        if first {
                            match folder_choices(kind, call.text.as_deref().unwrap_or_default()) {
                                Some(choices) => call.planned = choices,
                                None => {
                                    now.problem.get_or_insert_with(|| "this use of scanf cannot be replayed".into());
                                }
                            }
                        }
                        call.planned.pop_front().map_or_else(|| Bv::zero(width), |value| value.resize(width))
                    }
                    Reading::Line if first => {
                        let delimiter = call.text.as_ref().and_then(|d| d.first().copied()).unwrap_or(b'\n');
                        let length = rest.iter().position(|&b| b == delimiter).map_or(rest.len(), |at| at + 1) as u64;
                        let doubled = 2 * call.size_or_position;
                        number(match length + 1 {
                            needed if needed <= call.size_or_position => 0,
                            needed if needed <= doubled => doubled,
                            needed => needed,
                        })
                    }
                    Reading::Characters | Reading::Line => match rest.first() {
                        // After the end, the model chooses one bit: true if reading failed.
                        _ if width == 1 => Bv::zero(1),
                        Some(&byte) => {
                            open.at += 1;
                            number(byte.into())
                        }
                        None => {
                            open.at_end = true;
                            Bv::from_i64(64, -1).resize(width)
                        }
                    },
                    Reading::Block if first => {
                        let wanted = call.args[1].saturating_mul(call.args[2]);
                        let more = wanted.min(rest.len() as u64);
                        call.planned = rest[..more as usize].iter().map(|&b| Bv::new(8, b.into())).collect();
                        call.from = open.at;
                        open.at += more as usize;
                        open.at_end |= more < wanted;
                        number(more)
                    }
                    Reading::Block | Reading::Format(_) => {
                        if first && let Reading::Format(_) = kind {
                            let format = call.text.clone().unwrap_or_default();
                            let pointer = self.replayer.program.layout.pointer_width;
                            let mut text = parse::Text { bytes, at: open.at, at_end: open.at_end };
                            match parse::choices(&mut text, &format, pointer) {
                                Some(choices) => {
                                    call.places = choices.iter().map(|choice| choice.place.clone()).collect();
                                    call.planned = choices.into_iter().map(|choice| choice.value).collect();
                                }
                                None => {
                                    now.problem.get_or_insert_with(|| "this use of scanf cannot be replayed".into());
                                }
                            }
                            (open.at, open.at_end) = (text.at, text.at_end);
                        }
                        let value = call.planned.pop_front();
                        let place = match kind {
                            Reading::Block => value.is_some().then(|| Place::Byte(call.from + call.taken - 1)),
                            _ => call.places.pop_front().flatten(),
                        };
                        let part = now.open[call.file].part();
                        self.origins.borrow_mut().value = place.map(|place| (part, place));
                        value.map_or_else(|| Bv::zero(width), |value| value.resize(width))
                    }
                }
            }
            LibraryEffect::Opens if first => {
                let path = call.text.clone().unwrap_or_default();
                let mode = call.args.get(1).copied().unwrap_or(0);
                let (reads, creates) = (mode & 1 != 0, mode & 2 != 0);
                let file = now.open(self.process, &path, reads, creates);
                (call.error, call.file) = (file.err(), file.unwrap_or(0));
                if now.wanted.opened.len() < MAX_OPENED {
                    let content = file.ok().map(|file| content(self.process, &now.open[file]).to_vec());
                    now.wanted.opened.push(OpenedFile { name: Some(path), is_read: reads, content });
                }
                Bv::new(1, u64::from(call.error.is_some())).resize(width)
            }
            LibraryEffect::OpensDescriptor if first => {
                let path = call.text.clone().unwrap_or_default();
                let flags = call.args.get(1).copied().unwrap_or(0);
                let (access, creates) = (flags & 3, flags & 0o100 != 0);
                let file = now.open(self.process, &path, access != 1, creates);
                let descriptor = file.map(|file| {
                    let lowest = now.lowest_descriptor();
                    now.descriptors.insert(lowest, file);
                    lowest
                });
                call.error = descriptor.err();
                descriptor.map_or_else(|_| Bv::from_i64(64, -1).resize(width), number)
            }
            // The first value tells that the call fails.
            _ if !first && let Some(error) = call.error => number(error),
            // The descriptor of a stream.
            LibraryEffect::Opens => {
                let lowest = now.lowest_descriptor();
                now.descriptors.insert(lowest, call.file);
                number(lowest)
            }
            LibraryEffect::OpensDescriptor => Bv::zero(width),
            LibraryEffect::Variable => {
                let name = call.text.clone().unwrap_or_default();
                let value = self.process.variables.get(&name);
                now.wanted.variables.insert(name.clone());
                match value {
                    _ if width == 1 => Bv::new(1, u64::from(value.is_none())),
                    Some(value) => {
                        now.next_text = Some((Some(Part::Variable(name)), value.clone()));
                        number(value.len() as u64 + 1)
                    }
                    None => Bv::zero(width),
                }
            }
            LibraryEffect::ReadsDescriptor if first => {
                let file = now.descriptors.get(&(call.args[0] & 0xffff_ffff)).copied();
                call.error = match file {
                    None => Some(BAD_DESCRIPTOR),
                    Some(file) if now.open[file].is_folder => Some(IS_FOLDER),
                    Some(_) => None,
                };
                let Some(file) = file.filter(|_| call.error.is_none()) else {
                    return Bv::from_i64(64, -1).resize(width);
                };
                if now.open[file].path.is_none() {
                    now.wanted.stdin = true;
                }
                let bytes = content(self.process, &now.open[file]);
                let open = &mut now.open[file];
                let rest = bytes.get(open.at..).unwrap_or_default();
                let count = call.args[2].min(rest.len() as u64) as usize;
                call.planned = rest[..count].iter().map(|&b| Bv::new(8, b.into())).collect();
                (call.file, call.from) = (file, open.at);
                open.at += count;
                number(count as u64)
            }
            LibraryEffect::WritesDescriptor if first => number(call.args[2]),
            LibraryEffect::ReadsDescriptor => {
                if !call.planned.is_empty() {
                    let at = call.from + call.taken - 1;
                    self.origins.borrow_mut().value = Some((now.open[call.file].part(), Place::Byte(at)));
                }
                call.planned.pop_front().map_or_else(|| Bv::zero(width), |value| value.resize(width))
            }
            LibraryEffect::ClosesDescriptor | LibraryEffect::WritesDescriptor | LibraryEffect::Succeeds => {
                let (low, high) = now.bounds.unwrap_or((0, 0));
                Bv::from_i64(64, between(0, low, high)).resize(width)
            }
            LibraryEffect::OpensOnDescriptor | LibraryEffect::Reopens if first => {
                Bv::new(1, u64::from(call.error.is_some())).resize(width)
            }
            LibraryEffect::OpensOnDescriptor => number(BAD_DESCRIPTOR),
            LibraryEffect::Reopens => number(NO_ENTRY),
            // The model chooses one bit: true if the stream has positions. A file has.
            LibraryEffect::Seeks | LibraryEffect::ReturnsPosition if width == 1 => Bv::new(1, 1),
            LibraryEffect::Seeks | LibraryEffect::ReturnsPosition => number(call.size_or_position),
            LibraryEffect::SeeksDescriptor if first => number(call.size_or_position),
            LibraryEffect::TestsAccess
            | LibraryEffect::MakesFolder
            | LibraryEffect::RemovesFolder
            | LibraryEffect::ChangesFolder
            | LibraryEffect::Removes
            | LibraryEffect::ReturnsProperties(_)
                if first =>
            {
                if let Some(described) = call.described {
                    call.planned = self.properties(now, described);
                }
                Bv::from_i64(64, -i64::from(call.error.is_some())).resize(width)
            }
            LibraryEffect::ReturnsProperties(_) if width == 8 => {
                call.planned.pop_front().unwrap_or_else(|| Bv::zero(8))
            }
            LibraryEffect::ReturnsProperties(_) if width > 64 => {
                let bytes: Vec<u8> = call.planned.drain(..).map(|b| b.to_u64().unwrap_or(0) as u8).collect();
                Bv::from_le_bytes(&bytes).resize(width)
            }
            LibraryEffect::SeeksDescriptor
            | LibraryEffect::TestsAccess
            | LibraryEffect::MakesFolder
            | LibraryEffect::RemovesFolder
            | LibraryEffect::ChangesFolder
            | LibraryEffect::Removes
            | LibraryEffect::ReturnsProperties(_) => Bv::zero(width),
            LibraryEffect::TestsTerminal if first => Bv::from_i64(64, -1).resize(width),
            LibraryEffect::TestsTerminal => number(NO_TERMINAL),
            // The process does not determine the time. The replay chooses a time after the release of this program, and
            // the conversion to local time succeeds.
            LibraryEffect::Clock | LibraryEffect::Calendar if width == 1 => Bv::zero(1),
            LibraryEffect::Clock => {
                now.is_determined = false;
                self.origins.borrow_mut().is_undetermined = true;
                let value = self.next_other();
                number(if first { NOT_BEFORE + value % DURATION } else { value % MICROSECONDS })
            }
            LibraryEffect::Calendar if now.bounds.is_none() && width == 32 => {
                now.is_determined = false;
                self.origins.borrow_mut().is_undetermined = true;
                number(YEAR + self.next_other() % YEARS)
            }
            LibraryEffect::ReturnsRandom if first && let Some(random) = &mut now.random => number(random.next().into()),
            LibraryEffect::NotReplayed
            | LibraryEffect::Other
            | LibraryEffect::Calendar
            | LibraryEffect::SeedsRandom
            | LibraryEffect::ReturnsRandom
            | LibraryEffect::ReplacesRandom => self.other(now, width),
        }
    }
}

/// Maps a value to a number between two bounds, inclusive. 0 is mapped to 0 if 0 is between them.
fn between(value: u64, low: i64, high: i64) -> i64 {
    let count = high.wrapping_sub(low).wrapping_add(1) as u64;
    match value {
        0 if (low..=high).contains(&0) => 0,
        _ if count == 0 => value as i64,
        _ => low.wrapping_add((value % count) as i64),
    }
}

impl InputSource for ProcessInputs<'_, '_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let cell = self.now;
        let mut now = cell.borrow_mut();
        self.origins.borrow_mut().value = None;
        let Unknown::Havoc(input) = what else { return self.other(&mut now, width) };
        let kind = &self.replayer.program.inputs[input].kind;
        let value = match kind {
            InputKind::Environment(of) if of == "main" => self.main_input(&mut now, width),
            _ if *kind == InputKind::allocation() || *kind == InputKind::literals() => Bv::zero(width),
            InputKind::Environment(_) => self.library_value(&mut now, width),
            _ => self.other(&mut now, width),
        };
        now.bounds = None;
        value
    }

    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        let cell = self.now;
        let now = cell.borrow();
        if let Some(text) = now.texts.get(&object) {
            for (at, byte) in (offset as usize..).zip(bytes) {
                *byte = text.get(at).copied().unwrap_or(0);
            }
            return;
        }
        // The bytes are 0 on entry.
        if let Some(others) = &mut self.others {
            bytes.iter_mut().for_each(|byte| *byte = others() as u8);
        }
    }

    fn observes_reads(&self, object: ObjectSeq) -> bool {
        !self.now.borrow().texts.contains_key(&object)
    }

    fn read_unwritten(&mut self) {
        self.now.borrow_mut().is_determined = false;
    }

    fn base(&mut self, object: ObjectSeq, _: u64, _: u32) -> Option<u64> {
        let mut now = self.now.borrow_mut();
        if let Some((part, text)) = now.next_text.take() {
            now.texts.insert(object, text);
            self.origins.borrow_mut().texts.extend(part.map(|part| (object, part)));
        }
        None
    }
}

/// Observes the calls of library functions in a replay.
struct CallObserver<'a, 'p, O> {
    replayer: &'a Replayer<'p>,
    process: &'a Process,
    /// True once the replay deviates from the process; see [`Replayed::problem`].
    has_deviated: bool,
    now: &'a RefCell<ReplayState>,
    observer: &'a mut O,
}

impl<O: Observer> CallObserver<'_, '_, O> {
    /// Records the call of a library function by the program. `state` is the state at the entry of the function.
    fn record_call(&mut self, edge: EdgeId, state: &State) {
        let Replayer { program, library, .. } = self.replayer;
        let function = state.func();
        let caller = program.func_of(edge);
        if Some(function) == self.replayer.between
            && let [low, high, ..] = program.funcs[function].params[..]
        {
            // The bounds are of type `int`.
            let bound = |var| state.var(var).and_then(|v| v.to_u64()).map(|v| i64::from(v as u32 as i32));
            self.now.borrow_mut().bounds = bound(low).zip(bound(high));
        }
        let Some(effect) = library[function.index()].filter(|_| library[caller.index()].is_none()) else { return };
        let params = &program.funcs[function].params;
        let mut args: Vec<u64> = params.iter().map(|&p| state.var(p).and_then(|v| v.to_u64()).unwrap_or(0)).collect();
        let mut now = self.now.borrow_mut();
        if let LibraryEffect::NotReplayed = effect {
            now.record_problem("this operation on files cannot be replayed");
        }
        let stdin = || self.replayer.stdin.map(|stdin| state.global_address(stdin));
        let stream = match effect {
            LibraryEffect::Reads(_, Some(stream)) => args.get(stream).copied(),
            LibraryEffect::Reads(_, None) => stdin(),
            LibraryEffect::Seeks | LibraryEffect::ReturnsPosition => args.first().copied(),
            _ => None,
        };
        let file = stream.and_then(|at| now.streams.get(&at)).copied().unwrap_or(0);
        if matches!(effect, LibraryEffect::Reads(..)) && now.open[file].is_written {
            now.record_problem("the program reads a file that it has written");
        }
        let reads_unwritten = Cell::new(false);
        let reads = |at: u64, len: usize| reads_unwritten.set(reads_unwritten.get() || state.has_unwritten(at, len));
        let text = |n: usize| {
            let &at = args.get(n)?;
            let text = text_at(state, at)?;
            reads(at, text.len() + 1);
            Some(text)
        };
        let mut size_or_position = 0;
        let text = match effect {
            LibraryEffect::Opens | LibraryEffect::Reopens => {
                let mode = text(1).unwrap_or_default();
                let (both, start) = (mode.contains(&b'+'), mode.first().copied().unwrap_or(0));
                let path = text(0);
                if both {
                    now.record_problem("the program reads and writes a file");
                }
                args[1] = u64::from(start == b'r') + 2 * u64::from(start != b'r');
                path
            }
            LibraryEffect::OpensDescriptor => {
                // The flags are an `int`.
                if args[1] & 3 == 2 {
                    now.record_problem("the program reads and writes a file");
                }
                text(0)
            }
            LibraryEffect::ReturnsProperties(FileName::Path)
            | LibraryEffect::TestsAccess
            | LibraryEffect::MakesFolder
            | LibraryEffect::RemovesFolder
            | LibraryEffect::ChangesFolder
            | LibraryEffect::Removes => text(0),
            LibraryEffect::Variable => {
                text(0).map(|name| name.split(|&b| b == b'=').next().unwrap_or_default().to_vec())
            }
            LibraryEffect::Reads(Reading::Format(format), _) => text(format),
            LibraryEffect::Reads(Reading::Line, stream) => {
                let size = program.layout.pointer_width as usize / 8;
                [args[0], args[1]].iter().for_each(|&at| reads(at, size));
                let read = |at: u64| Some(Bv::from_le_bytes(&state.bytes(at, size)?).to_u64().unwrap_or(0));
                let (line, before) = (read(args[0]).unwrap_or(0), read(args[1]).unwrap_or(0));
                /// The first size that the C library allocates.
                const LINE: u64 = 120;
                size_or_position = if line == 0 || before == 0 { LINE } else { before };
                // `getdelim` has the delimiter before the stream.
                Some(vec![if stream == Some(3) { args[2] as u8 } else { b'\n' }])
            }
            _ => None,
        };
        now.is_determined &= !reads_unwritten.get();
        if let LibraryEffect::ClosesDescriptor = effect {
            now.descriptors.remove(&(args[0] & 0xffff_ffff));
        }
        let depth = state.depth();
        let (taken, planned, mut error, mut file) = (0, VecDeque::new(), None, file);
        let mut described = None;
        let path = text.clone().unwrap_or_default();
        let process = self.process;
        let of_descriptor = || now.descriptors.get(&(args[0] & 0xffff_ffff)).copied();
        let used = match effect {
            LibraryEffect::Seeks | LibraryEffect::ReturnsPosition => Some(file),
            LibraryEffect::SeeksDescriptor | LibraryEffect::ReturnsProperties(FileName::Descriptor) => of_descriptor(),
            _ => None,
        };
        if used.is_some_and(|file| now.open[file].is_folder) {
            now.record_problem("the program asks for the position or the properties of a folder");
        }
        match effect {
            LibraryEffect::OpensOnDescriptor => {
                let opened = now.descriptors.get(&(args[0] & 0xffff_ffff)).copied();
                (file, error) = (opened.unwrap_or(0), opened.is_none().then_some(BAD_DESCRIPTOR));
            }
            LibraryEffect::Reopens => {
                let opened = now.open(process, &path, args[1] & 1 != 0, args[1] & 2 != 0);
                (file, error) = (opened.unwrap_or(0), opened.err());
                now.streams.insert(args[2], file);
            }
            LibraryEffect::Seeks => {
                let whence = args.get(2).map(|whence| whence & 0xffff_ffff);
                size_or_position = now.open[file].at as u64;
                let end = content(process, &now.open[file]).len() as u64;
                let base = match whence {
                    None | Some(0) => 0,
                    Some(1) => size_or_position,
                    _ => end,
                };
                let target = base.wrapping_add(if whence.is_none() { 0 } else { args[1] });
                if whence.is_some_and(|whence| whence > 1) {
                    size_or_position = target;
                }
                if target <= i64::MAX as u64 {
                    if target > MAX_POSITION {
                        now.record_problem("not every file system supports the file position that the program sets");
                    }
                    now.open[file].at = target as usize;
                    now.open[file].at_end = false;
                }
            }
            LibraryEffect::ReturnsPosition => size_or_position = now.open[file].at as u64,
            LibraryEffect::SeeksDescriptor => match now.descriptors.get(&(args[0] & 0xffff_ffff)).copied() {
                Some(index) => {
                    let end = content(process, &now.open[index]).len() as u64;
                    let base = [0, now.open[index].at as u64, end].get(args[2] as usize & 3).copied().unwrap_or(0);
                    size_or_position = base.wrapping_add(args[1]);
                    now.open[index].at = size_or_position as usize;
                    if size_or_position > MAX_POSITION {
                        now.record_problem("not every file system supports the file position that the program sets");
                    }
                }
                None => now.record_problem("the program sets the position of a descriptor that it has not opened"),
            },
            LibraryEffect::ReturnsProperties(_) if program.layout.pointer_width != 64 => {
                now.record_problem("the properties of files are those of a 64-bit system");
            }
            LibraryEffect::ReturnsProperties(FileName::Path) => match now.look_up(process, &path) {
                Ok((kind, place)) => described = Some(now.describe(kind, Some(place))),
                Err(number) => error = Some(number),
            },
            LibraryEffect::TestsAccess => match now.look_up(process, &path) {
                // Tests do not make files executable.
                Ok((kind, _)) if kind != FileKind::Folder && args[1] & TO_EXECUTE != 0 => error = Some(NO_ACCESS),
                Ok(_) => {}
                Err(number) => error = Some(number),
            },
            LibraryEffect::MakesFolder => {
                error = now.make_folder(process, &path).err();
                // Without the rights of the owner, the program cannot use the folder.
                if args[1] & 0o700 != 0o700 {
                    now.record_problem("the program makes a folder without the rights of its owner");
                }
            }
            LibraryEffect::RemovesFolder => error = now.remove_folder(process, &path).err(),
            LibraryEffect::ChangesFolder => match now.look_up(process, &path) {
                Ok((FileKind::Folder, place)) => {
                    if place != b"." {
                        now.record_problem("the program changes its working directory");
                    }
                }
                Ok(_) => error = Some(NO_FOLDER),
                Err(number) => error = Some(number),
            },
            LibraryEffect::ReturnsProperties(FileName::Descriptor) => {
                match now.descriptors.get(&(args[0] & 0xffff_ffff)).copied() {
                    Some(index) => {
                        let (size, place) =
                            (content(process, &now.open[index]).len() as u64, now.open[index].path.clone());
                        let kind = if now.open[index].is_written { FileKind::Written } else { FileKind::Given(size) };
                        described = Some(now.describe(kind, place));
                    }
                    None => now.record_problem("the program calls fstat with a descriptor that it has not opened"),
                }
            }
            // A seed may be computed from every value that the run has taken before.
            LibraryEffect::SeedsRandom => {
                now.random = now.is_determined.then(|| LibraryRandom::new(args.first().copied().unwrap_or(0) as u32));
            }
            LibraryEffect::ReplacesRandom => now.random = None,
            LibraryEffect::Removes => match now.look_up(process, &path) {
                Ok((FileKind::Folder, _)) => now.record_problem("the program removes a folder like a file"),
                Ok((_, place)) => {
                    now.written.remove(&place);
                    now.removed.insert(place);
                }
                Err(number) => error = Some(number),
            },
            _ => {}
        }
        let places = VecDeque::new();
        now.call = Some(ActiveCall {
            effect,
            function,
            depth,
            args,
            file,
            taken,
            planned,
            places,
            from: 0,
            size_or_position,
            text,
            error,
            described,
        });
    }

    /// Records the stream that a call opened.
    fn record_return(&mut self, value: ExprId, state: &State) {
        let mut now = self.now.borrow_mut();
        let ReplayState { call: Some(call), streams, .. } = &mut *now else { return };
        if matches!(call.effect, LibraryEffect::Opens | LibraryEffect::OpensOnDescriptor)
            && call.error.is_none()
            && call.function == state.func()
            && call.depth == state.depth()
            && let Some(at) = state.eval(value).to_u64().filter(|&at| at != 0)
        {
            streams.insert(at, call.file);
        }
    }
}

impl<O: Observer> Observer for CallObserver<'_, '_, O> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        match self.replayer.observed[edge.index()] {
            Observed::Call => {
                self.record_call(edge, state);
                self.has_deviated = self.now.borrow().problem.is_some();
            }
            Observed::Havoc => self.has_deviated = self.now.borrow().problem.is_some(),
            Observed::Return(value) => self.record_return(value, state),
            Observed::Nothing | Observed::OverApproximation => {}
        }
        if !self.has_deviated {
            self.observer.executed(edge, state);
        }
    }

    fn faulted(&mut self, edge: EdgeId, addr: u64, state: &State) {
        self.observer.faulted(edge, addr, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_between_their_bounds() {
        assert_eq!(between(0, -1, 0), 0);
        assert_eq!(between(0, 1, 31), 1);
        assert_eq!(between(7, 5, 5), 5);
        assert!((-1..=255).contains(&between(u64::MAX, -1, 255)));
        assert_eq!(between(0x9e37_79b9_7f4a_7c15, i64::MIN, i64::MAX), 0x9e37_79b9_7f4a_7c15_u64 as i64);
    }

    #[test]
    fn only_uninitialised_memory_that_is_read_is_undetermined() {
        let is_determined = |offset: u64| {
            let text = format!(
                "program 64 entry f0
                type ty0 int \"int\" 32 signed
                func f0 \"main\" source ty0 32 () entry l0 {{
                  local v0 \"p\" ty0 64
                  local v1 \"x\" ty0 32
                  l0: t0: v0 := alloc stack 8:64 align 8 -> l1
                  l1: t1: store v0, 5:32 -> l2
                  l2: t2: v1 := load (v0 + {offset}:64) -> l3
                  l3: t3: halt exit 0:32 -> l4
                  l4:
                }}"
            );
            let program = cfa::text::parse(&text).unwrap();
            Replayer::new(&program).run(&Process::default(), None, Limits::default(), &mut ()).is_determined
        };
        assert_eq!([0, 1, 4].map(is_determined), [true, false, false]);
    }

    #[test]
    fn files_are_opened_as_the_system_does() {
        let files = [("a.txt", "1"), ("d/b", "22")].map(|(name, text)| (name.into(), text.into()));
        let process = Process { files: files.into(), ..Process::default() };
        let open =
            |now: &mut ReplayState, path: &str, reads, creates| now.open(&process, path.as_bytes(), reads, creates);
        let mut now = ReplayState::new();
        assert!(open(&mut now, "./a.txt", true, false).is_ok());
        assert_eq!(open(&mut now, "none", true, false), Err(NO_ENTRY));
        assert_eq!(now.wanted.missing, BTreeSet::from([b"none".to_vec()]));
        // A new file needs an existing folder.
        assert!(open(&mut now, "d/new", false, true).is_ok());
        assert_eq!(open(&mut now, "e/new", false, true), Err(NO_ENTRY));
        // A folder can be opened to read it.
        let folder = open(&mut now, "d", true, false).unwrap();
        assert!(now.open[folder].is_folder);
        assert_eq!(open(&mut now, "d", false, true), Err(IS_FOLDER));
        assert_eq!(open(&mut now, "a.txt/c", true, false), Err(NO_FOLDER));
        assert_eq!(now.look_up(&process, b"d/b"), Ok((FileKind::Given(2), b"d/b".to_vec())));
        assert_eq!(now.look_up(&process, b"d/c"), Err(NO_ENTRY));
        assert_eq!(now.look_up(&process, b"a.txt/c"), Err(NO_FOLDER));
        // Folders are made where their parents exist, and removed when they are empty.
        assert_eq!(now.make_folder(&process, b"d"), Err(EXISTS));
        assert_eq!(now.make_folder(&process, b"e/f"), Err(NO_ENTRY));
        assert_eq!(now.make_folder(&process, b"a.txt/f"), Err(NO_FOLDER));
        assert!(now.make_folder(&process, b"e").is_ok() && now.make_folder(&process, b"e/f").is_ok());
        assert!(open(&mut now, "e/new", false, true).is_ok());
        assert_eq!(now.look_up(&process, b"e/f").map(|(kind, _)| kind), Ok(FileKind::Folder));
        assert_eq!(now.remove_folder(&process, b"e"), Err(NOT_EMPTY));
        assert!(now.remove_folder(&process, b"e/f").is_ok() && now.look_up(&process, b"e/f").is_err());
        assert_eq!(now.problem, None);
        assert!(open(&mut now, "d/new", true, false).is_ok() && now.problem.is_some());
        for path in ["/etc/passwd", "../x", "d/"] {
            let mut now = ReplayState::new();
            assert!(open(&mut now, path, true, false).is_err() && now.problem.is_some(), "{path}");
        }
    }
}
