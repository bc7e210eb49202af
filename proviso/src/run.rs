//! A verification as the command runs it: observed on the terminal, and with a verdict line whatever happens.

use crate::args::VerifyArgs;
use crate::progress::Progress;
use crate::{crash, output};
use driver::Outcome;
use driver::failure::Failure;
use driver::files::Outputs;
use driver::job::Job;
use driver::report::Answer;
use driver::session::Observer;
use driver::verify::Verification;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Verifies under the limits of `args`, which count from `start`. `outputs` are files that no input may be.
///
/// `is_answer`: the verdict is that of the command, and stands as soon as it is reached.
pub fn execute(
    job: &Arc<Job>,
    args: &VerifyArgs,
    outputs: &Outputs,
    start: Instant,
    is_answer: bool,
) -> Result<Outcome, Failure> {
    crash::prepare(args.memory());
    crash::expect_verdict();
    let terminal =
        Arc::new(Terminal { progress: (!args.quiet).then(|| Mutex::new(Progress::new(start, args.verbose))) });
    let verification =
        Verification { job, config: &args.config()?, outputs, start, is_answer, observer: terminal.clone() };
    let outcome = verification.run();
    if let Some(progress) = &terminal.progress {
        progress.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
    outcome
}

/// Shows the progress of a run, and keeps its verdict should the process not go on.
struct Terminal {
    /// `None`: nothing is shown.
    progress: Option<Mutex<Progress>>,
}

impl Observer for Terminal {
    fn progress(&self, phase: &'static str, stats: Option<&engine::Stats>) {
        if let Some(progress) = &self.progress {
            progress.lock().unwrap_or_else(PoisonError::into_inner).show(phase, stats);
        }
    }

    fn verdict(&self, answer: &Answer) {
        crash::reached(answer);
    }

    fn internal_error(&self, message: &str) {
        output::internal_error(message);
    }
}
