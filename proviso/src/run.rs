//! Runs a verification for the command line: shows its progress on the terminal, and ensures that a verdict line is
//! printed.

use crate::args::VerifyArgs;
use crate::findings::Findings;
use crate::progress::Progress;
use crate::{crash, output};
use driver::Outcome;
use driver::failure::Failure;
use driver::files::Outputs;
use driver::job::Job;
use driver::report::{Answer, CheckResult};
use driver::session::Observer;
use driver::verify::Verification;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Verifies under the limits of `args`, which count from `start`. `outputs` are files that must not be inputs. `Err`
/// if the verification cannot be run.
///
/// With `findings`, the verdict is the answer of the command: it is final as soon as it is reached, and violations are
/// printed when they are found. Without, the run is a step of another command.
pub fn execute(
    job: &Arc<Job>,
    args: &VerifyArgs,
    outputs: &Outputs,
    start: Instant,
    findings: Option<Arc<Mutex<Findings>>>,
) -> Result<Outcome, Failure> {
    crash::prepare(args.memory());
    crash::expect_verdict();
    let is_answer = findings.is_some();
    let findings = findings.filter(|_| !args.quiet);
    let terminal = Arc::new(Terminal {
        findings,
        progress: (!args.quiet).then(|| Mutex::new(Progress::new(start, args.verbose))),
    });
    let verification =
        Verification { job, config: &args.config()?, outputs, start, is_answer, observer: terminal.clone() };
    let outcome = verification.run();
    if let Some(progress) = &terminal.progress {
        progress.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
    outcome
}

/// Shows the progress of a run, and records its verdict in case the process crashes afterwards.
struct Terminal {
    /// The printer of violations, if they are printed when they are found.
    findings: Option<Arc<Mutex<Findings>>>,
    /// The status line. `None` shows nothing.
    progress: Option<Mutex<Progress>>,
}

impl Observer for Terminal {
    fn progress(&self, phase: &'static str, stats: Option<&engine::Stats>, checks: &[CheckResult]) {
        let Some(progress) = &self.progress else { return };
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        let found = checks.iter().flat_map(|c| &c.violations).filter(|v| v.cause.is_none()).count();
        progress.show(phase, stats, found);
        if let Some(findings) = &self.findings {
            let mut findings = findings.lock().unwrap_or_else(PoisonError::into_inner);
            let new = findings.new_ones(checks);
            if !new.is_empty() {
                progress.suspend(|| findings.print(&new));
            }
        }
    }

    fn verdict(&self, answer: &Answer) {
        crash::reached(answer);
    }

    fn internal_error(&self, message: &str) {
        output::internal_error(message);
    }
}
