//! Why a program could not be loaded.

use crate::target;
use std::fmt;
use std::path::PathBuf;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The options contradict each other or the input: no entry function, no input, mixed targets.
    Usage(String),
    /// A file could not be read.
    Unreadable { path: PathBuf, reason: String },
    /// clang rejected a C file; its own messages.
    Compile { path: PathBuf, messages: String },
    /// clang could not be run.
    NoCompiler(String),
    /// A `.bc` or `.ll` file that LLVM does not read, or that its verifier rejects.
    BadBitcode {
        path: PathBuf,
        reason: String,
        /// The LLVM that wrote it, as it says itself: `LLVM16.0.6`.
        producer: Option<String>,
    },
    /// A file that is compiled for a target that is not supported, or for none.
    Target {
        path: PathBuf,
        /// Its triple, and what else is wrong with it.
        target: String,
        /// The options that choose it, if any do.
        options: String,
    },
    /// The modules do not link: a symbol defined twice.
    Link { path: PathBuf, reason: String },
    /// The limit or the user ended the run.
    Interrupted,
    /// A fault of ours.
    Internal(String),
}

impl Error {
    /// The exit code of `sysexits.h` that tells this kind of error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 64, // EX_USAGE
            Self::Compile { .. } | Self::BadBitcode { .. } | Self::Target { .. } | Self::Link { .. } => 65, // EX_DATAERR
            Self::Unreadable { .. } => 66, // EX_NOINPUT
            Self::NoCompiler(_) => 69,     // EX_UNAVAILABLE
            Self::Interrupted => 75,       // EX_TEMPFAIL
            Self::Internal(_) => 70,       // EX_SOFTWARE
        }
    }
}

impl Error {
    /// Why, and what to do, a line each.
    pub fn notes(&self) -> Option<String> {
        let Self::Target { .. } = self else { return None };
        let help = "to verify it as a program for one of these, end the command line with -- --target=x86_64-linux-gnu";
        Some(format!("  = note: supported are {}\n  = help: {help}", target::SUPPORTED))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) => f.write_str(message),
            Self::Unreadable { path, reason } => write!(f, "cannot read {}: {reason}", path.display()),
            Self::Compile { path, messages } => {
                write!(f, "clang cannot compile {}:\n{}", path.display(), messages.trim_end())
            }
            Self::NoCompiler(reason) => write!(f, "cannot run clang: {reason}"),
            Self::BadBitcode { path, reason, producer } => {
                write!(f, "cannot read {}: {reason}", path.display())?;
                match producer {
                    Some(producer) => write!(f, " (written by {producer}; this tool reads LLVM 19 and older)"),
                    None => Ok(()),
                }
            }
            Self::Target { path, target, options } => {
                let options = if options.is_empty() { String::new() } else { format!(" ({options})") };
                write!(f, "{} is compiled for {target}{options}, which is not supported", path.display())
            }
            Self::Link { path, reason } => write!(f, "cannot link {}: {reason}", path.display()),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Internal(message) => write!(f, "internal error: {message}"),
        }
    }
}

impl std::error::Error for Error {}
