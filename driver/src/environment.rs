//! The environment in which a program takes the inputs of a counterexample: the command line, environment variables,
//! standard input, files, and the results of library functions that no user can arrange (time, random numbers).

mod parse;
mod process;
mod random;
pub mod replay;
mod scan;

pub use process::{Part, Process};

use crate::source::Spot;
use cfa::Bv;
use cfa::interp::State;
use scan::Last;
use std::collections::{BTreeMap, BTreeSet};

/// A call of a library function that took a value from the environment, as the model of the function executed it.
#[derive(Clone, PartialEq, Debug)]
pub struct LibraryCall {
    /// The name of the function.
    pub function: String,
    /// The arguments, as numbers.
    pub args: Vec<u64>,
    /// For each argument, the string that it pointed to before the call; `None` if it pointed to no string.
    pub texts: Vec<Option<Vec<u8>>>,
    /// The return value.
    pub result: CallResult,
    /// The values that the model chose, in order, without those for allocations.
    pub chosen: Vec<Bv>,
    /// For each allocation in the call that may fail, in order: true if it fails.
    pub allocations: Vec<bool>,
    /// The bytes that the call wrote to objects that its arguments point to.
    pub written: Vec<Written>,
    /// `errno` after the call, if the program can read it.
    pub errno: Option<i32>,
    /// The source place of the call.
    pub spot: Option<Spot>,
}

/// The return value of a library function.
#[derive(Clone, PartialEq, Debug)]
pub enum CallResult {
    /// No value.
    Nothing,
    /// An integer, or a pointer to no object.
    Value(Bv),
    /// A floating-point number of this C type.
    Float(String, Bv),
    /// A pointer into the object that an argument points to: the index of the argument and the offset from it in bytes.
    Argument(usize, i64),
    /// A pointer to an object of the library.
    Object {
        /// The address of the object.
        at: u64,
        /// The content of the object.
        bytes: Vec<u8>,
    },
}

/// Bytes that a call wrote through a pointer argument.
#[derive(Clone, PartialEq, Debug)]
pub struct Written {
    /// The index of the argument.
    pub arg: usize,
    /// The offset from the pointer in bytes.
    pub offset: u64,
    /// The bytes written.
    pub bytes: Vec<u8>,
}

/// The arguments of `main`, as far as the program reads them.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Command {
    /// The number of arguments.
    pub argc: u64,
    /// The strings of `argv`.
    pub arguments: Option<Vec<Vec<u8>>>,
    /// The strings of `envp`.
    pub environment: Option<Vec<Vec<u8>>>,
}

/// An attempt to open a stream.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct OpenedFile {
    /// The path of the file; `None` if the function has none, as `tmpfile`.
    pub name: Option<Vec<u8>>,
    /// True if the program opens the file to read it, without changing it.
    pub is_read: bool,
    /// The bytes that the program reads; `None` if opening fails.
    pub content: Option<Vec<u8>>,
}

/// The environment of a run.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Environment {
    /// The arguments of `main`.
    pub command: Command,
    /// The environment variables by name; `None` for a variable that is not set.
    pub variables: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// The content of standard input; `None` if the program does not read it.
    pub stdin: Option<Vec<u8>>,
    /// The numbers of bytes of standard input after which reading fails, once each.
    pub stdin_failures: Vec<usize>,
    /// The attempts to open a stream, in order.
    pub files: Vec<OpenedFile>,
    /// The functions that open streams.
    pub openers: Vec<String>,
    /// The calls of each function whose results come from the environment, in order.
    pub returns: BTreeMap<String, Vec<LibraryCall>>,
    /// The calls of each function whose model makes no choice except whether its allocations succeed.
    pub allocating: BTreeMap<String, Vec<LibraryCall>>,
    /// The numbers of the signals that are ignored when the program starts.
    ignored_signals: BTreeSet<u64>,
    /// Reasons why the program may not take the inputs of the counterexample in this environment.
    pub doubts: Vec<String>,
}

/// The reason why a harness does not reproduce a run in which a read of a file fails.
const UNREPRODUCED_FAILURE: &str = "reading a file fails, which the harness does not reproduce";

/// The content of a stream, as far as the program has read it.
#[derive(Default)]
struct Stream {
    bytes: Vec<u8>,
    /// The numbers of bytes after which reading fails once. Later reads continue.
    failures: Vec<usize>,
    /// True if the program has read the end of the stream.
    ended: bool,
    /// The last token, which determines the bytes that may follow.
    last: Last,
    /// Reasons why the program may not read these bytes as it read the inputs of the counterexample.
    doubts: Vec<String>,
}

impl Stream {
    fn doubt(&mut self, reason: &str) {
        if !self.doubts.iter().any(|d| d == reason) {
            self.doubts.push(reason.to_owned());
        }
    }
    /// Appends a character that the program reads.
    fn byte(&mut self, byte: u8) {
        if self.ended {
            self.doubt("the program reads after the end of the input");
        }
        if !self.last.allows(byte) {
            self.doubt("the program reads a character that would continue the previous input");
        }
        self.bytes.push(byte);
        self.last = Last::Closed;
    }
    /// Appends a number or word, before which the reader skips white space.
    fn token(&mut self, text: &[u8], last: Last) {
        let follows = text.first().is_some_and(|&first| self.last.allows(first));
        match &self.last {
            _ if follows => {}
            // A number that breaks off after its sign does not match, either.
            Last::Mismatch(taken) if taken[usize::from(b'+')] => {
                self.bytes.extend(b"+ ");
                self.last = Last::Closed;
            }
            Last::Mismatch(_) => {}
            _ => self.byte(b' '),
        }
        text.iter().for_each(|&b| self.byte(b));
        self.last = last;
    }
    /// Records that the next input does not match the directive. `taken` marks the bytes that the directive would take.
    fn mismatch(&mut self, taken: Vec<bool>) {
        if taken.iter().all(|t| *t) {
            return self.end();
        }
        if !matches!(self.last, Last::Closed) && !self.last.allows(b'!') {
            self.byte(b' ');
        }
        self.last = Last::Mismatch(taken);
    }
    /// Ends the input.
    fn end(&mut self) {
        self.ended = true;
    }
    /// Ends the input, or lets reading fail if `fails`. `looks_ahead` is true if the failing read looks for the end of
    /// the number or word that was read last.
    fn stop(&mut self, fails: bool, looks_ahead: bool) {
        if !fails {
            return self.end();
        }
        if !looks_ahead && !matches!(self.last, Last::Closed) {
            self.doubt("reading fails where a character is needed to end the previous input");
        }
        self.failures.push(self.bytes.len());
        self.last = Last::Closed;
    }
    /// Completes the stream after the last read: appends a character that ends the last number, word or mismatch.
    fn close(&mut self) {
        if self.ended {
            return;
        }
        match &self.last {
            Last::Closed => {}
            Last::Mismatch(taken) => {
                let other = (0..=255).find(|&c| !taken[usize::from(c)] && c == b'!');
                let other = other.or((1..=255).find(|&c| !taken[usize::from(c)]));
                self.bytes.extend(other);
            }
            Last::Set(taken) if taken[usize::from(b'\n')] => {
                self.bytes.extend((1..=255).find(|&c| !taken[usize::from(c)]))
            }
            _ => self.bytes.push(b'\n'),
        }
    }
}

/// The way in which a function reads from a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Single characters.
    Characters,
    /// Single characters of a line. The first choice of the model is the size of the buffer.
    Line,
    /// A block of bytes, written to the first argument.
    Block,
    /// Items of a `scanf` format: the index of the argument with the format string.
    Format(usize),
}

/// Returns how a library function reads, and the index of its stream argument (`None`: standard input). Returns `None`
/// if the function reads from no stream.
fn reading(function: &str) -> Option<(Reading, Option<usize>)> {
    use Reading::{Block, Characters, Format, Line};
    Some(match function {
        "getchar" | "getchar_unlocked" | "gets" | "getwchar" => (Characters, None),
        "getc" | "fgetc" | "_IO_getc" | "getc_unlocked" | "fgetc_unlocked" | "fgetwc" | "getwc" => {
            (Characters, Some(0))
        }
        "fgets" | "fgets_unlocked" | "fgetws" => (Characters, Some(2)),
        "__fgets_chk" => (Characters, Some(3)),
        "getline" => (Line, Some(2)),
        "getdelim" | "__getdelim" => (Line, Some(3)),
        "fread" | "fread_unlocked" => (Block, Some(3)),
        "__fread_chk" => (Block, Some(4)),
        _ => match function.trim_start_matches("__isoc99_").trim_start_matches("__isoc23_") {
            "scanf" | "vscanf" => (Format(0), None),
            "fscanf" | "vfscanf" => (Format(1), Some(0)),
            _ => return None,
        },
    })
}

/// Returns true if a library function reads from a stream.
pub fn reads(function: &str) -> bool {
    reading(function).is_some()
}

/// Returns true if the result of a library function is a character that it read.
pub fn returns_a_character(function: &str) -> bool {
    matches!(reading(function), Some((Reading::Characters, stream)) if function != "gets" && stream != Some(2) && stream != Some(3))
}

impl Environment {
    /// Returns the numbers of the signals that are ignored when the program starts, ascending.
    pub fn ignored_signals(&self) -> &BTreeSet<u64> {
        &self.ignored_signals
    }

    /// Returns the texts that a user types: the arguments, environment variables, standard input, and files.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let arguments = self.command.arguments.iter().flat_map(|list| list.iter().skip(1)).map(Vec::as_slice);
        let variables = self.variables.values().flatten().map(Vec::as_slice);
        let files = self.files.iter().filter_map(|file| file.content.as_deref());
        arguments.chain(variables).chain(self.stdin.as_deref()).chain(files)
    }
}

impl OpenedFile {
    /// Returns the attempt of a call that opens a stream, without content.
    fn from_call(call: &LibraryCall) -> Self {
        let is_named = call.function.starts_with("fopen");
        let text = |n: usize| call.texts.get(n).cloned().flatten().filter(|_| is_named);
        Self { name: text(0), is_read: text(1).is_some_and(|mode| mode.starts_with(b"r")), content: None }
    }
}

/// The maximal number of bytes that are recorded of a string or an object.
pub const MAX_TEXT: usize = 1 << 17;

/// Returns the string at an address without its final zero. `None` if no live object contains the address, or there is
/// no zero in the object or in its first [`MAX_TEXT`] bytes from there.
pub fn text_at(state: &State, at: u64) -> Option<Vec<u8>> {
    let object = state.object_at(at).filter(|o| o.live && at < o.base + o.size)?;
    let len = (object.base + object.size - at).min(MAX_TEXT as u64) as usize;
    let mut bytes = state.bytes(at, len)?;
    bytes.truncate(bytes.iter().position(|&b| b == 0)?);
    Some(bytes)
}

impl Environment {
    /// Builds the environment from the arguments of `main` and the calls of library functions, in order.
    /// `pointer_width` is in bits.
    pub fn new(command: Command, calls: &[LibraryCall], pointer_width: u32) -> Self {
        let mut environment = Self { command, ..Self::default() };
        let mut stdin = Stream::default();
        let mut reads_stdin = false;
        // The index in `files` of each open stream, by the address of the stream.
        let mut open: BTreeMap<u64, usize> = BTreeMap::new();
        let mut files: Vec<(OpenedFile, Option<Stream>)> = Vec::new();
        let chooses = |call: &&LibraryCall| !call.chosen.is_empty() && !call.function.contains("printf");
        let choosing: BTreeSet<&str> = calls.iter().filter(chooses).map(|call| call.function.as_str()).collect();
        for call in calls {
            let is_read = reads(&call.function) || call.function.contains("scanf");
            if is_read && call.allocations.contains(&true) {
                environment
                    .doubts
                    .push(format!("an allocation in '{}' fails, which the harness does not reproduce", call.function));
            }
            if !call.allocations.is_empty() && !is_read && !choosing.contains(call.function.as_str()) {
                environment.allocating.entry(call.function.clone()).or_default().push(call.clone());
                continue;
            }
            if let Some((how, argument)) = reading(&call.function) {
                let at = argument.and_then(|n| call.args.get(n));
                let file = at.and_then(|at| open.get(at)).and_then(|&n| files[n].1.as_mut());
                reads_stdin |= file.is_none();
                read(file.unwrap_or(&mut stdin), &how, call, pointer_width);
                continue;
            }
            match call.function.as_str() {
                "fopen" | "fopen64" | "fdopen" | "tmpfile" | "popen" => {
                    let opened = match &call.result {
                        CallResult::Object { at, .. } => Some(*at),
                        _ => None,
                    };
                    if let Some(at) = opened {
                        open.insert(at, files.len());
                    }
                    files.push((OpenedFile::from_call(call), opened.map(|_| Stream::default())));
                    if !environment.openers.contains(&call.function) {
                        environment.openers.push(call.function.clone());
                    }
                }
                "getenv" | "secure_getenv" if environment.variable(call) => {}
                // The first choice of these models is whether the signal is ignored so far.
                "signal" | "bsd_signal" | "sysv_signal" | "__sysv_signal" | "sigaction" => {
                    let ignored = is_true(call.chosen.first()).then(|| call.args.first().copied()).flatten();
                    environment.ignored_signals.extend(ignored);
                }
                // Output and the floating-point environment are not part of the environment that the user arranges.
                name if name.contains("printf") || name.starts_with("fe") => {}
                name => environment.returns.entry(name.to_owned()).or_default().push(call.clone()),
            }
        }
        for stream in std::iter::once(&mut stdin).chain(files.iter_mut().filter_map(|f| f.1.as_mut())) {
            stream.close();
            environment.doubts.append(&mut stream.doubts);
        }
        if files.iter().filter_map(|f| f.1.as_ref()).any(|file| !file.failures.is_empty()) {
            environment.doubts.push(UNREPRODUCED_FAILURE.into());
        }
        environment.stdin_failures = stdin.failures;
        environment.stdin = reads_stdin.then_some(stdin.bytes);
        let content = |(file, stream): (OpenedFile, Option<Stream>)| {
            let content = stream.map(|stream| stream.bytes);
            OpenedFile { content, ..file }
        };
        environment.files = files.into_iter().map(content).collect();
        environment
    }

    /// Records the value of an environment variable that a call read. Returns false if the value cannot be set in the
    /// environment: the name is unknown or unusable, an earlier read returned another value, or `returns` already
    /// records calls of the function.
    fn variable(&mut self, call: &LibraryCall) -> bool {
        let Some(Some(name)) = call.texts.first() else { return false };
        let value = match &call.result {
            CallResult::Object { bytes, .. } => Some(bytes.split(|b| *b == 0).next().unwrap_or_default().to_vec()),
            _ => None,
        };
        let usable = !name.is_empty() && !name.contains(&b'=') && !self.returns.contains_key(&call.function);
        usable && *self.variables.entry(name.clone()).or_insert_with(|| value.clone()) == value
    }
}

/// Maximal number of bytes that are generated for a block that the program reads into a buffer that is too small.
const MAX_UNKNOWN: u64 = 1 << 20;

/// Appends to a stream the bytes that a call read from it.
fn read(stream: &mut Stream, how: &Reading, call: &LibraryCall, pointer_width: u32) {
    let mut chosen = call.chosen.iter();
    match how {
        Reading::Characters | Reading::Line => {
            if matches!(how, Reading::Line) {
                chosen.next();
            }
            // The model chooses a character or -1. After -1 it chooses whether reading fails.
            while let Some(c) = chosen.next() {
                match c.to_u64().filter(|c| *c < 256) {
                    Some(c) => stream.byte(c as u8),
                    None => stream.stop(is_true(chosen.next()), false),
                }
            }
        }
        Reading::Block => {
            let wanted = call.args[1].saturating_mul(call.args[2]);
            let read = chosen.next().and_then(Bv::to_u64).unwrap_or(0);
            let bytes = call.written.iter().find(|w| w.arg == 0).map_or(&[][..], |w: &Written| &w.bytes);
            bytes.iter().take(read as usize).for_each(|&b| stream.byte(b));
            // The call did not return, because the buffer is too small. So the bytes of the block are unknown.
            if call.result == CallResult::Nothing {
                (0..read.min(MAX_UNKNOWN)).for_each(|_| stream.byte(b'x'));
            }
            if read < wanted {
                stream.stop(is_true(chosen.last()), false);
            }
        }
        Reading::Format(n) => {
            let format = call.texts.get(*n).and_then(Option::as_deref).unwrap_or_default();
            if scan::scan(stream, format, &call.chosen, pointer_width).is_none() {
                stream.doubt("the input of scanf cannot be written as text");
            }
        }
    }
}

fn is_true(chosen: Option<&Bv>) -> bool {
    chosen.is_some_and(|value| !value.is_zero())
}
