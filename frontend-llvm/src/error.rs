//! The errors of loading a program.

use cfa::wording::{list, near, of_system};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The supported targets, for messages.
const SUPPORTED: &str = "x86-64 and i386 with Linux and the GNU C library (x86_64-linux-gnu, i386-linux-gnu)";

/// The reason why a program could not be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The options contradict each other or the input. For example, there is no entry function or no input.
    Usage(String),
    /// The program does not define the function that execution starts with.
    NoFunction {
        /// The name of the function.
        name: String,
        /// The functions that the program defines. Those that other files see come first.
        defined: Vec<String>,
    },
    /// A file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// clang rejected a C file.
    Compile {
        /// The file.
        path: PathBuf,
        /// clang's messages.
        messages: String,
    },
    /// clang cannot be run.
    NoCompiler(String),
    /// LLVM cannot read a `.bc` or `.ll` file, or its verifier rejects it.
    BadBitcode {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
        /// The LLVM version that wrote the file, as the file says: `LLVM16.0.6`.
        producer: Option<String>,
    },
    /// The target of a file is not supported or missing.
    Target {
        /// The file.
        path: PathBuf,
        /// The triple, and the reason.
        target: String,
        /// The options that select the target, if any.
        options: String,
    },
    /// The modules cannot be linked, for example because a symbol is defined twice.
    Link {
        /// The file that cannot be linked to the preceding ones.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A limit or the user ended the run.
    Interrupted,
    /// A defect of Proviso.
    Internal(String),
}

impl Error {
    /// The exit code of `sysexits.h` for this kind of error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::NoFunction { .. } => 64, // EX_USAGE
            Self::Compile { .. } | Self::BadBitcode { .. } | Self::Target { .. } | Self::Link { .. } => 65, // EX_DATAERR
            Self::Unreadable { .. } => 66, // EX_NOINPUT
            Self::NoCompiler(_) => 69,     // EX_UNAVAILABLE
            Self::Interrupted => 75,       // EX_TEMPFAIL
            Self::Internal(_) => 70,       // EX_SOFTWARE
        }
    }
}

impl Error {
    /// The failure to read or write a file, without the number of the system's error.
    pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), reason: of_system(error) }
    }

    /// The error, with the functions that the program defines if one is missing.
    pub(crate) fn with_functions(self, defined: &[String]) -> Self {
        match self {
            Self::NoFunction { name, .. } => Self::NoFunction { name, defined: defined.to_vec() },
            other => other,
        }
    }

    /// Notes and remedies for the user, one per line.
    pub fn notes(&self) -> Option<String> {
        if let Self::NoFunction { name, defined } = self {
            return Some(other_functions(name, defined));
        }
        if let Self::Link { reason, .. } = self
            && let Some(name) = defined_twice(reason)
        {
            let help = match name {
                "main" => "the files of one run are one program: verify each program alone".to_owned(),
                _ => format!(
                    "if `{name}` is a function, `--remove-function-body {name}` keeps one of its definitions; a variable \
                     is `extern` in all files but one"
                ),
            };
            return Some(format!("  = help: {help}"));
        }
        let Self::Target { .. } = self else { return None };
        let help = "to verify it as a program for one of these, end the command line with -- --target=x86_64-linux-gnu";
        Some(format!("  = note: supported are {}\n  = help: {help}", SUPPORTED))
    }
}

/// Returns the symbol that two files define, if that is the reason why LLVM cannot link them.
fn defined_twice(reason: &str) -> Option<&str> {
    let (_, rest) = reason.split_once("Linking globals named '")?;
    let (name, rest) = rest.split_once('\'')?;
    rest.contains("multiply defined").then_some(name)
}

/// A note with the functions that the program defines, and suggestions for a misspelt name.
fn other_functions(name: &str, defined: &[String]) -> String {
    if defined.is_empty() {
        return "  = note: it does not define any function".into();
    }
    let functions = || defined.iter().map(String::as_str);
    let note = format!("  = note: it defines {}", list(functions()));
    let near = near(name, functions());
    let quoted: Vec<String> = near.iter().map(|other| format!("'{other}'")).collect();
    let help = match quoted.is_empty() {
        true => "  = help: --entry FUNCTION starts with one of them, with any arguments".into(),
        false => format!("  = help: did you mean {}? (--entry FUNCTION)", quoted.join(" or ")),
    };
    format!("{note}\n{help}")
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) => f.write_str(message),
            Self::NoFunction { name, .. } => write!(f, "the program defines no function '{name}'"),
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
            Self::Link { path, reason } => match defined_twice(reason) {
                Some(name) => write!(f, "{} defines '{name}', which another file defines, too", path.display()),
                None => write!(f, "cannot link {}: {reason}", path.display()),
            },
            Self::Interrupted => f.write_str("interrupted"),
            Self::Internal(message) => write!(f, "internal error: {message}"),
        }
    }
}

impl std::error::Error for Error {}
