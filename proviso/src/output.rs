//! Standard output and standard error.

use crate::args::Color;
use crate::message::{Message, json_line};
use annotate_snippets::Level;
use driver::failure::Failure;
use driver::panics::DEFECT;
use driver::source::{Sources, Spot};
use std::io::{IsTerminal, Write};

/// The use of colours on the output streams, and whether messages are printed.
#[derive(Clone, Copy, Debug)]
pub struct Colors {
    /// True if warnings and notes are not printed.
    pub is_quiet: bool,
    /// True if messages are lines of JSON.
    pub is_json: bool,
    /// True if standard output has colours.
    pub stdout: bool,
    /// True if standard error has colours.
    pub stderr: bool,
}

impl Colors {
    /// Returns the use of colours that the option demands. `NO_COLOR` has effect only for `auto`.
    pub fn new(when: Color, is_quiet: bool, is_json: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let on = |terminal: bool| match when {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && wanted,
        };
        Self {
            is_quiet,
            is_json,
            stdout: on(std::io::stdout().is_terminal()),
            stderr: on(std::io::stderr().is_terminal()),
        }
    }
    /// Returns true if the report has colours. It goes to standard error if standard output is for JSON.
    pub fn for_report(self, on_stderr: bool) -> bool {
        if on_stderr { self.stderr } else { self.stdout }
    }
}

/// Returns the number of columns of the terminal that standard output or standard error is; `None` if it is none.
pub fn columns(of_stderr: bool) -> Option<usize> {
    let descriptor = if of_stderr { libc::STDERR_FILENO } else { libc::STDOUT_FILENO };
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: `TIOCGWINSZ` writes a `winsize`.
    let is_terminal = unsafe { libc::ioctl(descriptor, libc::TIOCGWINSZ, &raw mut size) } == 0;
    // Terminals of unknown size report 0.
    is_terminal.then(|| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Writes to standard output. A reader that has closed the stream is not a failure. `Err` for other errors.
pub fn print(text: &str) -> Result<(), Failure> {
    driver::files::write_stdout(text.as_bytes())
}

/// Writes to standard error and ignores errors.
pub fn print_error(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The severity of a message: the word in JSON, and the level in text.
#[derive(Clone, Copy)]
enum Severity {
    Error,
    Warning,
    Note,
}

fn message(severity: Severity, text: &str, spot: Option<Spot>, colors: Colors) {
    let (word, level) = match severity {
        Severity::Error => ("error", Level::ERROR),
        Severity::Warning => ("warning", Level::WARNING),
        Severity::Note => ("note", Level::NOTE),
    };
    print_error(&match colors.is_json {
        true => json_line(word, text, spot.as_ref(), None),
        false => Message::new(level, text).at(spot).render(&Sources::new(), colors.stderr) + "\n",
    });
}

/// Prints a warning to standard error, unless the run is quiet.
pub fn warning(text: &str, colors: Colors) {
    if !colors.is_quiet {
        message(Severity::Warning, text, None, colors);
    }
}

/// Prints to standard error that an output is missing, also in a quiet run: the exit code does not show it.
pub fn unwritten(text: &str, colors: Colors) {
    message(Severity::Warning, text, None, colors);
}

/// Prints a warning to standard error, with a place of the source if there is one, unless the run is quiet.
pub fn warning_at(text: &str, spot: Option<Spot>, colors: Colors) {
    if !colors.is_quiet {
        message(Severity::Warning, text, spot, colors);
    }
}

/// Prints warnings to standard error, unless the run is quiet.
pub fn warnings(texts: &[String], colors: Colors) {
    texts.iter().for_each(|text| warning(text, colors));
}

/// Prints a note to standard error, unless the run is quiet.
pub fn note(text: &str, colors: Colors) {
    if !colors.is_quiet {
        message(Severity::Note, text, None, colors);
    }
}

/// Prints the reason why there is no verdict to standard error, and returns the exit code.
pub fn failure(failure: &Failure, colors: Colors) -> u8 {
    match &failure.at {
        None => message(Severity::Error, &failure.message, None, colors),
        Some(at) => {
            let mut said =
                Message::new(Level::ERROR, failure.message.as_str()).at(Some(at.spot.clone())).label(&at.label);
            said.notes.extend(at.help.clone());
            print_error(&(said.render(&Sources::new(), colors.stderr) + "\n"));
        }
    }
    if let Some(detail) = &failure.detail {
        print_error(detail.trim_end());
        print_error("\n");
    }
    failure.code
}

/// Prints an internal error to standard error, with a note about defects.
pub fn internal_error(text: &str) {
    print_error(&format!("error: {text}\n  = note: {DEFECT}\n"));
}
