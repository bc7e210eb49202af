//! What the environment of a program has to be for it to take the inputs of a counterexample: the command line,
//! environment variables, standard input, files, and what library functions return that no one can arrange (time, random
//! numbers).

mod scan;

use crate::source::Spot;
use cfa::Bv;
use scan::Last;
use std::collections::{BTreeMap, BTreeSet};

/// A call of a library function that brought something from outside, as the model of the function did it.
#[derive(Clone, PartialEq, Debug)]
pub struct LibraryCall {
    pub function: String,
    pub args: Vec<u64>,
    /// By argument: the string that it pointed to before the call, if it did.
    pub texts: Vec<Option<Vec<u8>>>,
    pub result: CallResult,
    /// The values that the model chose, in order, but for the allocations.
    pub chosen: Vec<Bv>,
    /// By allocation in it that may fail, in order: true if it fails.
    pub allocations: Vec<bool>,
    /// What it wrote where an argument points to.
    pub written: Vec<Written>,
    /// `errno` afterwards, where the program can see it.
    pub errno: Option<i32>,
    pub spot: Option<Spot>,
}

/// What a library function returned.
#[derive(Clone, PartialEq, Debug)]
pub enum CallResult {
    Nothing,
    /// An integer, or a pointer to nothing.
    Value(Bv),
    /// A floating-point number of this C type.
    Float(String, Bv),
    /// A pointer into what an argument points to: at this offset from it.
    Argument(usize, i64),
    /// A pointer to an object of the library's, with what it holds.
    Object {
        at: u64,
        bytes: Vec<u8>,
    },
}

/// Bytes written at an offset from where an argument points to.
#[derive(Clone, PartialEq, Debug)]
pub struct Written {
    pub arg: usize,
    pub offset: u64,
    pub bytes: Vec<u8>,
}

/// What `main` was called with, as far as it looks at it.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Command {
    pub argc: u64,
    pub arguments: Option<Vec<Vec<u8>>>,
    pub environment: Option<Vec<Vec<u8>>>,
}

/// The environment of a run.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Environment {
    pub command: Command,
    /// By name: the value, or that there is none.
    pub variables: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// What is read from standard input; `None` if nothing is.
    pub stdin: Option<Vec<u8>>,
    /// After how many bytes of it reading fails, once each.
    pub stdin_failures: Vec<usize>,
    /// For each stream opened, in order: what is read from it, or that it cannot be opened.
    pub files: Vec<Option<Vec<u8>>>,
    /// The functions that open streams.
    pub openers: Vec<String>,
    /// By function: what each call of it brings.
    pub returns: BTreeMap<String, Vec<LibraryCall>>,
    /// By function of which nothing is chosen but whether there is memory: its calls.
    pub allocating: BTreeMap<String, Vec<LibraryCall>>,
    /// Why the program may not take these inputs in this environment after all.
    pub doubts: Vec<String>,
}

/// A stream of characters, as far as it was read.
#[derive(Default)]
struct Stream {
    bytes: Vec<u8>,
    /// After how many bytes reading fails; it goes on afterwards.
    failures: Vec<usize>,
    ended: bool,
    last: Last,
    doubts: Vec<String>,
}

impl Stream {
    fn doubt(&mut self, what: &str) {
        if !self.doubts.iter().any(|d| d == what) {
            self.doubts.push(what.to_owned());
        }
    }
    /// The next character.
    fn byte(&mut self, byte: u8) {
        if self.ended {
            self.doubt("more is read after the end of the input");
        }
        if !self.last.allows(byte) {
            self.doubt("a character is read that would belong to what was read before");
        }
        self.bytes.push(byte);
        self.last = Last::Closed;
    }
    /// A number or word, before which white space is skipped.
    fn token(&mut self, text: &[u8], last: Last) {
        let follows = text.first().is_some_and(|&first| self.last.allows(first));
        match &self.last {
            _ if follows => {}
            // A number that breaks off behind its sign did not fit, either.
            Last::Misfit(taken) if taken[usize::from(b'+')] => {
                self.bytes.extend(b"+ ");
                self.last = Last::Closed;
            }
            Last::Misfit(_) => {}
            _ => self.byte(b' '),
        }
        text.iter().for_each(|&b| self.byte(b));
        self.last = last;
    }
    /// What follows is not what was expected.
    fn misfit(&mut self, taken: Vec<bool>) {
        if taken.iter().all(|t| *t) {
            return self.end();
        }
        if !matches!(self.last, Last::Closed) && !self.last.allows(b'!') {
            self.byte(b' ');
        }
        self.last = Last::Misfit(taken);
    }
    fn end(&mut self) {
        self.ended = true;
    }
    /// The input ends, or reading it fails. `looks_ahead`: what was read last is seen to be complete by that.
    fn stop(&mut self, fails: bool, looks_ahead: bool) {
        if !fails {
            return self.end();
        }
        if !looks_ahead && !matches!(self.last, Last::Closed) {
            self.doubt("reading fails where a character is needed to end what was read before");
        }
        self.failures.push(self.bytes.len());
        self.last = Last::Closed;
    }
    /// Nothing more is read.
    fn close(&mut self) {
        if self.ended {
            return;
        }
        match &self.last {
            Last::Closed => {}
            Last::Misfit(taken) => {
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

/// What a function takes from a stream.
enum Reading {
    /// Character by character.
    Characters,
    /// Character by character, after the choice how large the buffer grows.
    Line,
    /// Bytes into its first argument.
    Block,
    /// By the format in this argument.
    Format(usize),
}

/// What a library function reads, and the argument that is the stream (standard input if none is).
fn reading(function: &str) -> Option<(Reading, Option<usize>)> {
    use Reading::{Block, Characters, Format, Line};
    Some(match function {
        "getchar" | "getchar_unlocked" | "gets" | "getwchar" => (Characters, None),
        "getc" | "fgetc" | "_IO_getc" | "getc_unlocked" | "fgetc_unlocked" | "fgetwc" | "getwc" => {
            (Characters, Some(0))
        }
        "fgets" | "fgetws" => (Characters, Some(2)),
        "__fgets_chk" => (Characters, Some(3)),
        "getline" => (Line, Some(2)),
        "getdelim" | "__getdelim" => (Line, Some(3)),
        "fread" => (Block, Some(3)),
        "__fread_chk" => (Block, Some(4)),
        _ => match function.trim_start_matches("__isoc99_").trim_start_matches("__isoc23_") {
            "scanf" | "vscanf" => (Format(0), None),
            "fscanf" | "vfscanf" => (Format(1), Some(0)),
            _ => return None,
        },
    })
}

/// Whether a library function reads from a stream.
pub fn reads(function: &str) -> bool {
    reading(function).is_some()
}

/// Whether the result of a library function is a character.
pub fn gives_a_character(function: &str) -> bool {
    matches!(reading(function), Some((Reading::Characters, stream)) if function != "gets" && stream != Some(2) && stream != Some(3))
}

impl Environment {
    /// From what the program was called with, and what library functions brought, in order.
    pub fn new(command: Command, calls: &[LibraryCall], pointer_width: u32) -> Self {
        let mut environment = Self { command, ..Self::default() };
        let mut stdin = Stream::default();
        let mut reads_stdin = false;
        // By the address of the stream: its number in `files`.
        let mut open: BTreeMap<u64, usize> = BTreeMap::new();
        let mut files: Vec<Option<Stream>> = Vec::new();
        let chooses = |call: &&LibraryCall| !call.chosen.is_empty() && !call.function.contains("printf");
        let choosing: BTreeSet<&str> = calls.iter().filter(chooses).map(|call| call.function.as_str()).collect();
        for call in calls {
            let is_read = reads(&call.function) || call.function.contains("scanf");
            if is_read && call.allocations.contains(&true) {
                environment.doubts.push(format!("an allocation in '{}' fails, which is left out", call.function));
            }
            if !call.allocations.is_empty() && !is_read && !choosing.contains(call.function.as_str()) {
                environment.allocating.entry(call.function.clone()).or_default().push(call.clone());
                continue;
            }
            if let Some((how, argument)) = reading(&call.function) {
                let at = argument.and_then(|n| call.args.get(n));
                let file = at.and_then(|at| open.get(at)).and_then(|&n| files[n].as_mut());
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
                    files.push(opened.map(|_| Stream::default()));
                    if !environment.openers.contains(&call.function) {
                        environment.openers.push(call.function.clone());
                    }
                }
                "getenv" | "secure_getenv" if environment.variable(call) => {}
                // Output is what it is, and so is the floating-point environment.
                name if name.contains("printf") || name.starts_with("fe") => {}
                name => environment.returns.entry(name.to_owned()).or_default().push(call.clone()),
            }
        }
        for stream in std::iter::once(&mut stdin).chain(files.iter_mut().flatten()) {
            stream.close();
            environment.doubts.append(&mut stream.doubts);
        }
        if files.iter().flatten().any(|file| !file.failures.is_empty()) {
            environment.doubts.push("reading a file fails, which is left out".into());
        }
        environment.stdin_failures = stdin.failures;
        environment.stdin = reads_stdin.then_some(stdin.bytes);
        environment.files = files.into_iter().map(|f| f.map(|f| f.bytes)).collect();
        environment
    }

    /// A variable was asked for. False if it was another value than before, which no environment can have.
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

/// Bytes that a program reads where they have no room, as far as a harness has them.
const MAX_UNKNOWN: u64 = 1 << 20;

/// Lets a stream continue with what a call has read from it.
fn read(stream: &mut Stream, how: &Reading, call: &LibraryCall, pointer_width: u32) {
    let mut chosen = call.chosen.iter();
    match how {
        Reading::Characters | Reading::Line => {
            if matches!(how, Reading::Line) {
                chosen.next();
            }
            // A character or -1; then whether that is an error.
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
            // Where there is no room for it, nobody knows what it was.
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
                stream.doubt("what scanf reads cannot be written down");
            }
        }
    }
}

fn is_true(chosen: Option<&Bv>) -> bool {
    chosen.is_some_and(|value| !value.is_zero())
}
