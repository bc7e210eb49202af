//! Failures, which end a run without a verdict, and their exit codes.

use crate::source::Spot;
use cfa::wording::of_system;
use cooperate::condition;
use std::fmt;
use std::io;
use std::path::Path;

/// The exit codes: those of the three verdicts, and those of `sysexits.h`.
pub mod exit {
    /// The verdict is TRUE.
    pub const TRUE: u8 = 0;
    /// The verdict is FALSE.
    pub const FALSE: u8 = 1;
    /// The verdict is UNKNOWN.
    pub const UNKNOWN: u8 = 2;
    /// The paths of the requested range are proved. The verdict on the whole program is UNKNOWN.
    pub const PROVED_PART: u8 = 3;
    /// The command line is wrong.
    pub const USAGE: u8 = 64;
    /// The input is malformed. For example, it does not compile.
    pub const DATA: u8 = 65;
    /// An input cannot be read.
    pub const NO_INPUT: u8 = 66;
    /// Proviso itself has a defect.
    pub const INTERNAL: u8 = 70;
    /// An output cannot be written.
    pub const CANT_CREATE: u8 = 73;
    /// clang cannot be run. The front-end returns this code.
    pub const UNAVAILABLE: u8 = 69;

    /// All exit codes.
    pub const ALL: [u8; 10] =
        [TRUE, FALSE, UNKNOWN, PROVED_PART, USAGE, DATA, NO_INPUT, UNAVAILABLE, INTERNAL, CANT_CREATE];
}

/// A failure, which ends a run without a verdict: a message for the user and an exit code.
#[derive(Debug)]
pub struct Failure {
    /// The message for the user, one line.
    pub message: String,
    /// Further lines of the message, such as the output of the compiler.
    pub detail: Option<String>,
    /// The place of the failure in a file, with a label and a hint.
    pub at: Option<Box<At>>,
    /// The exit code, one of [`exit::ALL`] or a code of the front-end.
    pub code: u8,
}

/// The place in a file that caused a failure.
#[derive(Debug)]
pub struct At {
    /// The position in the file.
    pub spot: Spot,
    /// The text beside the place.
    pub label: String,
    /// A hint for the user, if there is one.
    pub help: Option<String>,
}

impl Failure {
    /// Returns a failure with this exit code and message.
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self { message: message.into(), detail: None, at: None, code }
    }
    /// Returns a failure of the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(exit::USAGE, message)
    }
    /// Returns a failure of a malformed input.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(exit::DATA, message)
    }
    /// Returns the failure of a malformed condition automaton or GIA, with the number of the line if the error has one.
    pub fn automaton(path: &Path, error: &condition::Error) -> Self {
        let line = if error.line == 0 { String::new() } else { format!(":{}", error.line) };
        Self::data(format!("{}{line}: {}", path.display(), error.message))
    }
    /// Returns the failure to read a file.
    pub fn reading(path: &Path, error: &io::Error) -> Self {
        Self::new(exit::NO_INPUT, format!("cannot read {}: {}", path.display(), of_system(error)))
    }
    /// Returns the failure to write a file.
    pub fn writing(path: impl AsRef<Path>, error: &io::Error) -> Self {
        Self::new(exit::CANT_CREATE, format!("cannot write {}: {}", path.as_ref().display(), of_system(error)))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
