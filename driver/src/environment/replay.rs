//! Runs of the interpreter in which the program gets what a [`Process`] gives: the models of library functions choose
//! what the C library would return on these arguments, this standard input, and these files.
//!
//! The models leave results to the environment, as values of `Havoc` edges. Here, the library function that the program
//! called last, and the number of values that it has taken, tell the meaning of the next value. A value that a process
//! does not determine, such as the time, comes from a sequence that the caller chooses.

use super::process::{Place, is_below};
use super::{OpenedFile, Process, Reading, parse, reading, text_at};
use cfa::interp::{InputSource, Interpreter, Limits, ObjectSeq, Observer, Run, State, Unknown};
use cfa::{Bv, EdgeId, ExprId, FuncId, FunctionOrigin, Id, InputKind, Op, Program};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};

/// The first descriptor that is not open when a process starts.
const FIRST_DESCRIPTOR: u64 = 3;
/// The maximal number of opened streams that a run records.
pub const MOST_OPENED: usize = 1000;
/// `ENOENT` on Linux.
const NO_ENTRY: u64 = 2;
/// `EBADF` on Linux.
const BAD_DESCRIPTOR: u64 = 9;

/// The meaning of a library function for the inputs of a process.
#[derive(Clone, Copy)]
enum What {
    /// Reads from the stream that the argument with this index is; `None` for standard input.
    Reads(Kind, Option<usize>),
    /// Opens a stream.
    Opens,
    /// Asks for an environment variable, or changes it.
    Variable,
    /// Opens a descriptor.
    OpensDescriptor,
    /// Reads from a descriptor.
    ReadsDescriptor,
    /// Writes to a descriptor.
    WritesDescriptor,
    /// Closes a descriptor.
    ClosesDescriptor,
    /// Has the usual outcome, which is 0.
    Usual,
    /// Moves the position in a stream, or replaces its file.
    Moves,
    /// Depends on what a process does not determine.
    Other,
}

/// The way in which a function reads from a stream. See [`Reading`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Characters,
    Line,
    Block,
    Format(usize),
}

impl What {
    /// Returns the meaning of a library function by its name.
    fn of(function: &str) -> Self {
        let name = function.trim_end_matches(".void");
        let bare = name.trim_start_matches("__isoc99_").trim_start_matches("__isoc23_");
        if let Some((how, stream)) = reading(bare) {
            let kind = match how {
                Reading::Characters => Kind::Characters,
                Reading::Line => Kind::Line,
                Reading::Block => Kind::Block,
                Reading::Format(format) => Kind::Format(format),
            };
            return Self::Reads(kind, stream);
        }
        match bare {
            "fopen" | "fopen64" => Self::Opens,
            "getenv" | "secure_getenv" | "setenv" | "unsetenv" | "putenv" => Self::Variable,
            "open" | "open64" | "__open_2" | "__open64_2" => Self::OpensDescriptor,
            "read" | "__read_chk" => Self::ReadsDescriptor,
            "write" => Self::WritesDescriptor,
            "close" => Self::ClosesDescriptor,
            "fclose" | "fflush" | "isatty" | "ferror" | "feof" | "clearerr" | "fsync" | "atexit" | "sleep"
            | "usleep" | "nanosleep" => Self::Usual,
            "fseek" | "fseeko" | "fseeko64" | "rewind" | "fsetpos" | "fsetpos64" | "freopen" | "freopen64"
            | "lseek" | "lseek64" | "fdopen" | "popen" | "tmpfile" | "tmpfile64" | "dup2" | "getw" | "fmemopen" => {
                Self::Moves
            }
            _ => Self::Other,
        }
    }
}

/// What a run wanted and a process did not give.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Wanted {
    /// True if the program read arguments.
    pub arguments: bool,
    /// True if the program read standard input.
    pub stdin: bool,
    /// The streams that the program opened, in order, at most [`MOST_OPENED`].
    pub opened: Vec<OpenedFile>,
    /// The paths of files that were missing.
    pub missing: BTreeSet<Vec<u8>>,
    /// The names of environment variables that the program asked for.
    pub variables: BTreeSet<Vec<u8>>,
}

/// A run on the inputs of a process.
pub struct Replayed {
    /// The run.
    pub run: Run,
    /// True if the process determined all values that the program read.
    pub is_determined: bool,
    /// The reason why the run is none of this process, if there is one.
    pub problem: Option<String>,
    /// What the program asked for.
    pub wanted: Wanted,
}

/// Runs a program on the inputs of processes.
pub struct Replayer<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p>,
    /// The meaning of each library function.
    library: Vec<Option<What>>,
    /// The number of strings in each vector of the arguments of `main`; 0 if the program reads none.
    strings: usize,
    /// True if there is a vector of arguments, and one of environment variables.
    vectors: [bool; 2],
}

impl<'p> Replayer<'p> {
    /// Prepares a program, in time linear in its size.
    pub fn new(program: &'p Program) -> Self {
        let is_model = |origin: FunctionOrigin| origin == FunctionOrigin::Model;
        let library = program.funcs.values().map(|f| is_model(f.origin).then(|| What::of(&f.name))).collect();
        let asked = program.inputs.values().filter(|i| i.kind == InputKind::Environment("main".into())).count();
        // A vector has an input for the number of its strings, and one for the size of each.
        let each = Process::MOST_ARGUMENTS + 1;
        let vectors = match asked {
            n if n > 2 * each => [true, true],
            n if n > each => [true, false],
            _ => [false, false],
        };
        Self { program, interpreter: Interpreter::new(program), library, strings: each, vectors }
    }

    /// Runs the program on the inputs of a process. `others` gives the values that a process does not determine.
    pub fn run<O: Observer>(
        &self,
        process: &Process,
        others: &mut dyn FnMut() -> u64,
        limits: Limits,
        observer: &mut O,
    ) -> Replayed {
        let now = RefCell::new(Now::new());
        let mut source = Source { replayer: self, process, now: &now, others };
        let mut watch = Watch { replayer: self, now: &now, observer };
        let run = self.interpreter.run(&mut source, limits, &mut watch);
        let now = now.into_inner();
        Replayed { run, is_determined: now.is_determined, problem: now.problem, wanted: now.wanted }
    }
}

/// An open file.
#[derive(Clone)]
struct Open {
    /// The path of the file; `None` for standard input.
    path: Option<Vec<u8>>,
    /// The number of bytes that were read.
    at: usize,
    /// True if the stream has reached the end of the file.
    at_end: bool,
    /// True if the program only writes to it.
    is_written: bool,
}

/// The call of a library function that the program executed last.
struct Call {
    what: What,
    function: FuncId,
    depth: usize,
    args: Vec<u64>,
    /// The index in [`Now::open`] of the file that the call reads, if it does.
    file: usize,
    /// The number of values that the call has taken.
    taken: usize,
    /// The values that the call will take, if they were computed in advance.
    planned: VecDeque<Bv>,
    /// The size of the buffer of `getline`, before the call.
    room: u64,
    /// The path or name that the call is about.
    text: Option<Vec<u8>>,
    /// True if the call fails.
    fails: bool,
}

/// The state of a run.
struct Now {
    open: Vec<Open>,
    /// The indices in `open` of streams by their address.
    streams: FxHashMap<u64, usize>,
    /// The indices in `open` of descriptors.
    descriptors: FxHashMap<u64, usize>,
    /// The files that the program wrote.
    written: BTreeSet<Vec<u8>>,
    call: Option<Call>,
    /// The number of values of `main` taken so far.
    of_main: usize,
    /// The text of the next object that is allocated.
    next_text: Option<Vec<u8>>,
    /// The content of objects that the environment determines.
    texts: FxHashMap<ObjectSeq, Vec<u8>>,
    is_determined: bool,
    problem: Option<String>,
    wanted: Wanted,
}

impl Now {
    fn new() -> Self {
        let stdin = Open { path: None, at: 0, at_end: false, is_written: false };
        Self {
            open: vec![stdin],
            streams: FxHashMap::default(),
            descriptors: FxHashMap::from_iter([(0, 0)]),
            written: BTreeSet::new(),
            call: None,
            of_main: 0,
            next_text: None,
            texts: FxHashMap::default(),
            is_determined: true,
            problem: None,
            wanted: Wanted::default(),
        }
    }

    fn trouble(&mut self, why: &str) {
        self.problem.get_or_insert_with(|| why.to_owned());
    }

    /// Returns the lowest descriptor that is not open.
    fn lowest_descriptor(&self) -> u64 {
        (FIRST_DESCRIPTOR..).find(|file| !self.descriptors.contains_key(file)).unwrap_or(FIRST_DESCRIPTOR)
    }

    /// Opens the file with a path, for a stream or descriptor. Returns its index, or `None` if there is no such file.
    fn open(&mut self, process: &Process, path: &[u8], reads: bool, creates: bool) -> Option<usize> {
        let place = match Place::of(path) {
            Place::Below(place) => place,
            Place::Nowhere => {
                if path.last() == Some(&b'/') || path.ends_with(b".") {
                    self.trouble("the program opens a folder");
                }
                return None;
            }
            Place::Outside => {
                self.trouble("the program opens a file outside its folder");
                return None;
            }
        };
        if process.files.keys().any(|other| is_below(other, &place) || is_below(&place, other)) {
            self.trouble("the program opens a folder");
            return None;
        }
        let exists = process.files.contains_key(&place);
        let was_written = self.written.contains(&place);
        if was_written && reads {
            self.trouble("the program reads a file that it has written");
        }
        if creates {
            // The folder of a new file exists only if another file is there.
            let folder = place.iter().rposition(|&b| b == b'/').map(|end| &place[..end]);
            if folder.is_some_and(|folder| !process.files.keys().any(|other| is_below(other, folder))) {
                return None;
            }
        } else if !exists && !was_written {
            self.wanted.missing.insert(place);
            return None;
        }
        if !reads || creates {
            self.written.insert(place.clone());
        }
        self.open.push(Open { path: Some(place), at: 0, at_end: false, is_written: !reads });
        Some(self.open.len() - 1)
    }
}

/// Returns the content of an open file.
fn content<'a>(process: &'a Process, open: &Open) -> &'a [u8] {
    match &open.path {
        None => &process.stdin,
        Some(_) if open.is_written => &[],
        Some(path) => process.files.get(path).map_or(&[], Vec::as_slice),
    }
}

struct Source<'a, 'p> {
    replayer: &'a Replayer<'p>,
    process: &'a Process,
    now: &'a RefCell<Now>,
    others: &'a mut dyn FnMut() -> u64,
}

impl Source<'_, '_> {
    fn other(&mut self, now: &mut Now, width: u32) -> Bv {
        now.is_determined = false;
        Bv::new(width.min(64), (self.others)() & (u64::MAX >> (64 - width.min(64)))).resize(width)
    }

    /// Returns the next value of the arguments of `main`.
    fn of_main(&self, now: &mut Now, width: u32) -> Bv {
        let Replayer { strings, vectors, .. } = self.replayer;
        let (vector, at) = match now.of_main {
            n if n <= *strings => (0, n),
            n => (1, n - strings - 1),
        };
        now.of_main += 1;
        let strings: Vec<Vec<u8>> = match (vector, vectors[0]) {
            (0, _) => {
                let name = Process::NAME.as_bytes().to_vec();
                std::iter::once(name).chain(self.process.arguments.iter().cloned()).collect()
            }
            _ => {
                let pair = |(name, value): (&Vec<u8>, &Vec<u8>)| [name.as_slice(), value.as_slice()].join(&b'=');
                self.process.variables.iter().map(pair).collect()
            }
        };
        if vector == 0 {
            now.wanted.arguments = true;
        }
        let Some(n) = at.checked_sub(1) else { return Bv::new(width, strings.len() as u64) };
        let text = strings.get(n).cloned().unwrap_or_default();
        let size = text.len() as u64 + 1;
        now.next_text = Some(text);
        Bv::new(width, size)
    }

    /// Returns the next value that a library function takes.
    fn of_call(&mut self, now: &mut Now, width: u32) -> Bv {
        let Some(mut call) = now.call.take() else { return self.other(now, width) };
        let value = self.value(now, &mut call, width);
        call.taken += 1;
        now.call = Some(call);
        value
    }

    fn value(&mut self, now: &mut Now, call: &mut Call, width: u32) -> Bv {
        let first = call.taken == 0;
        let number = |value: u64| Bv::new(64, value).resize(width);
        match call.what {
            What::Reads(kind, _) => {
                if now.open[call.file].path.is_none() {
                    now.wanted.stdin = true;
                }
                let bytes = content(self.process, &now.open[call.file]);
                let open = &mut now.open[call.file];
                let rest = bytes.get(open.at..).unwrap_or_default();
                match kind {
                    Kind::Line if first => {
                        let delimiter = call.text.as_ref().and_then(|d| d.first().copied()).unwrap_or(b'\n');
                        let length = rest.iter().position(|&b| b == delimiter).map_or(rest.len(), |at| at + 1) as u64;
                        let doubled = 2 * call.room;
                        number(match length + 1 {
                            needed if needed <= call.room => 0,
                            needed if needed <= doubled => doubled,
                            needed => needed,
                        })
                    }
                    Kind::Characters | Kind::Line => match rest.first() {
                        // After the end, a function asks whether it failed.
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
                    Kind::Block if first => {
                        let wanted = call.args[1].saturating_mul(call.args[2]);
                        let more = wanted.min(rest.len() as u64);
                        call.planned = rest[..more as usize].iter().map(|&b| Bv::new(8, b.into())).collect();
                        open.at += more as usize;
                        open.at_end |= more < wanted;
                        number(more)
                    }
                    Kind::Block | Kind::Format(_) => {
                        if first && let Kind::Format(_) = kind {
                            let format = call.text.clone().unwrap_or_default();
                            let pointer = self.replayer.program.layout.pointer_width;
                            let mut text = parse::Text { bytes, at: open.at, at_end: open.at_end };
                            match parse::choices(&mut text, &format, pointer) {
                                Some(choices) => call.planned = choices.into(),
                                None => now.problem = Some("what scanf reads here is not replayed".into()),
                            }
                            (open.at, open.at_end) = (text.at, text.at_end);
                        }
                        call.planned.pop_front().map_or_else(|| Bv::zero(width), |value| value.resize(width))
                    }
                }
            }
            What::Opens if first => {
                let path = call.text.clone().unwrap_or_default();
                let mode = call.args.get(1).copied().unwrap_or(0);
                let (reads, creates) = (mode & 1 != 0, mode & 2 != 0);
                let file = now.open(self.process, &path, reads, creates);
                call.fails = file.is_none();
                call.file = file.unwrap_or(0);
                if now.wanted.opened.len() < MOST_OPENED {
                    let content = file.map(|file| content(self.process, &now.open[file]).to_vec());
                    now.wanted.opened.push(OpenedFile { name: Some(path), is_read: reads, content });
                }
                Bv::new(1, u64::from(call.fails)).resize(width)
            }
            What::OpensDescriptor if first => {
                let path = call.text.clone().unwrap_or_default();
                let flags = call.args.get(1).copied().unwrap_or(0);
                let (access, creates) = (flags & 3, flags & 0o100 != 0);
                let file = now.open(self.process, &path, access != 1, creates);
                let descriptor = file.map(|file| {
                    let lowest = now.lowest_descriptor();
                    now.descriptors.insert(lowest, file);
                    lowest
                });
                call.fails = descriptor.is_none();
                descriptor.map_or_else(|| Bv::from_i64(64, -1).resize(width), number)
            }
            What::Opens | What::OpensDescriptor if call.fails => number(NO_ENTRY),
            // The descriptor of a stream.
            What::Opens => {
                let lowest = now.lowest_descriptor();
                now.descriptors.insert(lowest, call.file);
                number(lowest)
            }
            What::OpensDescriptor => Bv::zero(width),
            What::Variable => {
                let name = call.text.clone().unwrap_or_default();
                let value = self.process.variables.get(&name);
                now.wanted.variables.insert(name);
                match value {
                    _ if width == 1 => Bv::new(1, u64::from(value.is_none())),
                    Some(value) => {
                        now.next_text = Some(value.clone());
                        number(value.len() as u64 + 1)
                    }
                    None => Bv::zero(width),
                }
            }
            What::ReadsDescriptor if first => {
                let Some(&file) = now.descriptors.get(&(call.args[0] & 0xffff_ffff)) else {
                    call.fails = true;
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
                open.at += count;
                number(count as u64)
            }
            What::WritesDescriptor if first => number(call.args[2]),
            What::ReadsDescriptor if call.fails => number(BAD_DESCRIPTOR),
            What::ReadsDescriptor => {
                call.planned.pop_front().map_or_else(|| Bv::zero(width), |value| value.resize(width))
            }
            What::ClosesDescriptor | What::WritesDescriptor | What::Usual => Bv::zero(width),
            What::Moves | What::Other => self.other(now, width),
        }
    }
}

impl InputSource for Source<'_, '_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let cell = self.now;
        let mut now = cell.borrow_mut();
        let Unknown::Havoc(input) = what else { return self.other(&mut now, width) };
        let kind = &self.replayer.program.inputs[input].kind;
        match kind {
            InputKind::Environment(of) if of == "main" => self.of_main(&mut now, width),
            _ if *kind == InputKind::allocation() || *kind == InputKind::literals() => Bv::zero(width),
            InputKind::Environment(_) => self.of_call(&mut now, width),
            _ => self.other(&mut now, width),
        }
    }

    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        let cell = self.now;
        let mut now = cell.borrow_mut();
        if let Some(text) = now.texts.get(&object) {
            for (at, byte) in (offset as usize..).zip(bytes) {
                *byte = text.get(at).copied().unwrap_or(0);
            }
            return;
        }
        now.is_determined = false;
        bytes.iter_mut().for_each(|byte| *byte = (self.others)() as u8);
    }

    fn base(&mut self, object: ObjectSeq, _: u64, _: u32) -> Option<u64> {
        let mut now = self.now.borrow_mut();
        if let Some(text) = now.next_text.take() {
            now.texts.insert(object, text);
        }
        None
    }
}

struct Watch<'a, 'p, O> {
    replayer: &'a Replayer<'p>,
    now: &'a RefCell<Now>,
    observer: &'a mut O,
}

impl<O: Observer> Watch<'_, '_, O> {
    /// Records the call of a library function by the program. The state is that at its entry.
    fn called(&mut self, edge: EdgeId, state: &State) {
        let Replayer { program, library, .. } = self.replayer;
        let function = state.func();
        let caller = program.func_of(edge);
        let Some(what) = library[function.index()].filter(|_| library[caller.index()].is_none()) else { return };
        let params = &program.funcs[function].params;
        let mut args: Vec<u64> = params.iter().map(|&p| state.var(p).and_then(|v| v.to_u64()).unwrap_or(0)).collect();
        let mut now = self.now.borrow_mut();
        if let What::Moves = what {
            now.trouble("how the program opens or moves in a stream is not replayed");
        }
        let file = match what {
            What::Reads(_, Some(stream)) => args.get(stream).and_then(|at| now.streams.get(at)).copied().unwrap_or(0),
            _ => 0,
        };
        let text = |n: usize| args.get(n).and_then(|&at| text_at(state, at));
        let mut room = 0;
        let text = match what {
            What::Opens => {
                let mode = text(1).unwrap_or_default();
                let (both, start) = (mode.contains(&b'+'), mode.first().copied().unwrap_or(0));
                let path = text(0);
                if start == b'a' || both && start == b'w' {
                    now.trouble("the program changes a file");
                }
                args[1] = u64::from(start == b'r') + 2 * u64::from(start != b'r');
                path
            }
            What::OpensDescriptor => {
                // The flags are an `int`.
                if args[1] & 3 == 2 || args[1] & 0o2000 != 0 {
                    now.trouble("the program changes a file");
                }
                text(0)
            }
            What::Variable => text(0).map(|name| name.split(|&b| b == b'=').next().unwrap_or_default().to_vec()),
            What::Reads(Kind::Format(format), _) => text(format),
            What::Reads(Kind::Line, stream) => {
                let size = program.layout.pointer_width as usize / 8;
                let read = |at: u64| Some(Bv::from_le_bytes(&state.bytes(at, size)?).to_u64().unwrap_or(0));
                let (line, before) = (read(args[0]).unwrap_or(0), read(args[1]).unwrap_or(0));
                /// The first size that the C library allocates.
                const LINE: u64 = 120;
                room = if line == 0 || before == 0 { LINE } else { before };
                // `getdelim` has the delimiter before the stream.
                Some(vec![if stream == Some(3) { args[2] as u8 } else { b'\n' }])
            }
            _ => None,
        };
        if let What::ClosesDescriptor = what {
            now.descriptors.remove(&(args[0] & 0xffff_ffff));
        }
        let depth = state.depth();
        let (taken, planned, fails) = (0, VecDeque::new(), false);
        now.call = Some(Call { what, function, depth, args, file, taken, planned, room, text, fails });
    }

    /// Records the stream that a call opened.
    fn returns(&mut self, value: ExprId, state: &State) {
        let mut now = self.now.borrow_mut();
        let Now { call: Some(call), streams, .. } = &mut *now else { return };
        if matches!(call.what, What::Opens)
            && !call.fails
            && call.function == state.func()
            && call.depth == state.depth()
            && let Some(at) = state.eval(value).to_u64().filter(|&at| at != 0)
        {
            streams.insert(at, call.file);
        }
    }
}

impl<O: Observer> Observer for Watch<'_, '_, O> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        match self.replayer.program.edges[edge].op {
            Op::Call { .. } => self.called(edge, state),
            Op::Return { value: Some(value) } => self.returns(value, state),
            _ => {}
        }
        self.observer.executed(edge, state);
    }

    fn faulted(&mut self, edge: EdgeId, addr: u64, state: &State) {
        self.observer.faulted(edge, addr, state);
    }
}
