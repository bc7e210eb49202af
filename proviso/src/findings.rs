//! Findings are printed when they are found, each once.

use crate::args::{MessageFormat, TraceArg, VerifyArgs};
use crate::output::{self, Colors};
use crate::render::{self, Detail};
use driver::files::STDOUT;
use driver::report::{CheckResult, Violation};
use driver::source::Sources;
use std::collections::BTreeSet;
use std::path::Path;

/// How findings are printed, and which of them have been.
pub struct Findings {
    format: MessageFormat,
    detail: Detail,
    /// The report goes to standard error, as JSON is on standard output.
    on_stderr: bool,
    with_colors: bool,
    sources: Sources,
    /// By number.
    printed: BTreeSet<usize>,
}

impl Findings {
    pub fn new(args: &VerifyArgs, colors: Colors) -> Self {
        let on_stderr = args.json.as_deref() == Some(Path::new(STDOUT));
        Self {
            format: args.message_format,
            detail: if args.trace == TraceArg::Full { Detail::Full } else { Detail::Short },
            on_stderr,
            with_colors: colors.for_report(on_stderr),
            sources: Sources::new(),
            printed: BTreeSet::new(),
        }
    }

    /// The findings of checks that have not been printed, which count as printed from now on.
    pub fn new_ones(&mut self, checks: &[CheckResult]) -> Vec<Violation> {
        let all = checks.iter().flat_map(|check| &check.violations);
        let mut new: Vec<Violation> =
            all.filter(|v| v.cause.is_none() && self.printed.insert(v.number)).cloned().collect();
        new.sort_by_key(|violation| violation.number);
        new
    }

    pub fn print(&self, findings: &[Violation]) {
        let text: String = findings.iter().map(|violation| self.text(violation)).collect();
        match self.on_stderr {
            true => output::print_error(&text),
            // What stands in the way is told when the verdict is printed.
            false => drop(output::print(&text)),
        }
    }

    /// The text of the findings that have not been printed.
    pub fn rest(&self, all: &[&Violation]) -> String {
        all.iter().filter(|v| !self.printed.contains(&v.number)).map(|violation| self.text(violation)).collect()
    }

    fn text(&self, violation: &Violation) -> String {
        match self.format {
            MessageFormat::Human => render::finding(violation, &self.sources, self.detail, self.with_colors),
            MessageFormat::Short => render::short_finding(violation),
            MessageFormat::Json => render::json_finding(violation),
        }
    }
}
