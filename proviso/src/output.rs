//! Standard output, standard error and files.

use crate::args::Color;
use crate::failure::Failure;
use crate::source::{Message, Sources};
use annotate_snippets::Level;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Whether colours are used, on either stream.
#[derive(Clone, Copy, Debug)]
pub struct Colors {
    pub stdout: bool,
    pub stderr: bool,
}

impl Colors {
    pub fn new(when: Color) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let on = |terminal: bool| match when {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && wanted,
        };
        Self { stdout: on(std::io::stdout().is_terminal()), stderr: on(std::io::stderr().is_terminal()) }
    }
    /// For the report, which goes to standard error when standard output is for JSON.
    pub fn for_report(self, on_stderr: bool) -> bool {
        if on_stderr { self.stderr } else { self.stdout }
    }
}

/// To standard output. A reader that went away is no reason to fail.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

pub fn print_error(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn message(level: Level<'static>, text: &str, colors: Colors) {
    print_error(&(Message::new(level, text).render(&Sources::default(), colors.stderr) + "\n"));
}

pub fn warning(text: &str, colors: Colors) {
    message(Level::WARNING, text, colors);
}

/// Tells why there is no verdict; the exit code.
pub fn failure(failure: &Failure, colors: Colors) -> u8 {
    message(Level::ERROR, &failure.message, colors);
    if let Some(detail) = &failure.detail {
        print_error(detail.trim_end());
        print_error("\n");
    }
    failure.code
}

pub fn internal_error(text: &str) {
    print_error(&format!("error: {text}\n  = note: this is a defect of proviso; please report it with the program\n"));
}

/// An output file that cannot be written is found out before the work is done, not after.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    std::fs::OpenOptions::new().append(true).create(true).open(path).map(drop).map_err(|e| Failure::writing(path, &e))
}

/// Writes a file; if that fails now, says so.
pub fn write_file(path: &Path, text: &str, colors: Colors) {
    if let Err(error) = std::fs::write(path, text) {
        message(Level::ERROR, &Failure::writing(path, &error).message, colors);
    }
}
