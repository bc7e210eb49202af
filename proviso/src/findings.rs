//! Prints findings as soon as they are found, each once.

use crate::args::{MessageFormat, TraceArg, VerifyArgs};
use crate::output::{self, Colors};
use crate::render::{self, Detail, Layout};
use driver::files::STDOUT;
use driver::report::{CheckResult, Violation};
use driver::source::Sources;
use std::collections::BTreeSet;
use std::path::Path;

/// The format of findings, and the findings that were already printed.
pub struct Findings {
    format: MessageFormat,
    layout: Layout,
    /// True if the report goes to standard error, because standard output is for JSON.
    on_stderr: bool,
    sources: Sources,
    /// The numbers of the printed findings.
    printed: BTreeSet<usize>,
}

/// Returns the layout of the report, which goes to standard output or to standard error.
pub fn layout(args: &VerifyArgs, colors: Colors, on_stderr: bool) -> Layout {
    Layout {
        detail: if args.trace == TraceArg::Full { Detail::Full } else { Detail::Short },
        color: colors.for_report(on_stderr),
        columns: output::columns(on_stderr),
    }
}

impl Findings {
    /// Returns a printer that has printed nothing.
    pub fn new(args: &VerifyArgs, colors: Colors) -> Self {
        let on_stderr = args.json.as_deref() == Some(Path::new(STDOUT));
        Self {
            format: args.message_format,
            layout: layout(args, colors, on_stderr),
            on_stderr,
            sources: Sources::new(),
            printed: BTreeSet::new(),
        }
    }

    /// Returns the findings of checks that were not yet printed, in the order of their numbers. They count as printed
    /// from now on. Findings that follow from others are excluded.
    pub fn new_ones(&mut self, checks: &[CheckResult]) -> Vec<Violation> {
        let all = checks.iter().flat_map(|check| &check.violations);
        let mut new: Vec<Violation> =
            all.filter(|v| v.cause.is_none() && self.printed.insert(v.number)).cloned().collect();
        new.sort_by_key(|violation| violation.number);
        new
    }

    /// Prints findings to the stream of the report.
    pub fn print(&self, findings: &[Violation]) {
        let text: String = findings.iter().map(|violation| self.text(violation)).collect();
        match self.on_stderr {
            true => output::print_error(&text),
            // If standard output fails, the error is reported when the verdict is printed.
            false => drop(output::print(&text)),
        }
    }

    /// Returns the text of the findings that were not printed.
    pub fn rest(&self, all: &[&Violation]) -> String {
        all.iter().filter(|v| !self.printed.contains(&v.number)).map(|violation| self.text(violation)).collect()
    }

    fn text(&self, violation: &Violation) -> String {
        match self.format {
            MessageFormat::Human => render::finding(violation, &self.sources, self.layout),
            MessageFormat::Short => render::short_finding(violation),
            MessageFormat::Json => render::json_finding(violation),
        }
    }
}
