//! Why no verdict could be attempted, and the exit codes that say so.

use crate::source::Spot;
use cooperate::condition;
use std::fmt;
use std::io;
use std::path::Path;

/// Exit codes: the three verdicts, then those of `sysexits.h`.
pub mod exit {
    pub const TRUE: u8 = 0;
    pub const FALSE: u8 = 1;
    pub const UNKNOWN: u8 = 2;
    /// UNKNOWN of the program, but what was asked of it is proved: the paths of a range.
    pub const PROVED_PART: u8 = 3;
    /// The command line is wrong.
    pub const USAGE: u8 = 64;
    /// The input is malformed: it does not compile, say.
    pub const DATA: u8 = 65;
    /// An input cannot be read.
    pub const NO_INPUT: u8 = 66;
    /// A defect of ours.
    pub const INTERNAL: u8 = 70;
    /// An output cannot be written.
    pub const CANT_CREATE: u8 = 73;
    /// clang cannot be run: the front-end's code.
    pub const UNAVAILABLE: u8 = 69;

    /// All exit codes.
    pub const ALL: [u8; 10] =
        [TRUE, FALSE, UNKNOWN, PROVED_PART, USAGE, DATA, NO_INPUT, UNAVAILABLE, INTERNAL, CANT_CREATE];
}

/// A run that ends without a verdict: a message for the user and an exit code.
#[derive(Debug)]
pub struct Failure {
    pub message: String,
    /// What else there is to say: more lines, such as the compiler's output.
    pub detail: Option<String>,
    /// Where it is, with what stands beside the place and what may help.
    pub at: Option<Box<At>>,
    pub code: u8,
}

/// A place in a file that is wrong.
#[derive(Debug)]
pub struct At {
    pub spot: Spot,
    pub label: String,
    pub help: Option<String>,
}

impl Failure {
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self { message: message.into(), detail: None, at: None, code }
    }
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(exit::USAGE, message)
    }
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(exit::DATA, message)
    }
    /// An automaton that is refused, with the line if it is one that is wrong.
    pub fn automaton(path: &Path, error: &condition::Error) -> Self {
        let line = if error.line == 0 { String::new() } else { format!(":{}", error.line) };
        Self::data(format!("{}{line}: {}", path.display(), error.message))
    }
    pub fn reading(path: &Path, error: &io::Error) -> Self {
        Self::new(exit::NO_INPUT, format!("cannot read {}: {}", path.display(), plain(error)))
    }
    pub fn writing(path: impl AsRef<Path>, error: &io::Error) -> Self {
        Self::new(exit::CANT_CREATE, format!("cannot write {}: {}", path.as_ref().display(), plain(error)))
    }
}

/// The system's words without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
