//! A status line on the terminal for long runs.

use driver::limits::resident_memory;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// The time before the line appears, so that short runs show nothing.
const AFTER: Duration = Duration::from_millis(1000);
/// The maximal number of times per second that the line is drawn.
const RATE: u8 = 5;

/// The status line of a run.
pub struct Progress {
    start: Instant,
    /// The line. It is hidden unless standard error is a terminal.
    line: ProgressBar,
    verbose: bool,
    phase: &'static str,
}

impl Progress {
    /// Returns a status line for a run that began at `start`. `verbose` prints each phase on a line of its own, even
    /// if standard error is not a terminal.
    pub fn new(start: Instant, verbose: bool) -> Self {
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(RATE));
        line.set_style(ProgressStyle::with_template("{wide_msg}").expect("a template that is one"));
        Self { start, line, verbose, phase: "" }
    }

    /// Shows the phase, the statistics of the engine, the number of findings, and the memory in use.
    pub fn show(&mut self, phase: &'static str, engine: Option<&engine::Stats>, findings: usize) {
        let elapsed = self.start.elapsed();
        if self.verbose && phase != self.phase {
            self.line.suspend(|| eprintln!("[{:8.3} s] {phase}", elapsed.as_secs_f64()));
        }
        self.phase = phase;
        if elapsed < AFTER || self.line.is_hidden() {
            return;
        }
        let mut text = format!("{:4} s  {phase}", elapsed.as_secs());
        if let Some(stats) = engine {
            let c = &stats.exploration;
            text += &format!(": {} paths, {} waiting, {} steps", c.paths, stats.waiting_now, short(c.edges));
        }
        match findings {
            0 => {}
            1 => text += ", 1 finding",
            n => text += &format!(", {n} findings"),
        }
        text += &format!(", {} MB", resident_memory() >> 20);
        self.line.set_message(text);
    }

    /// Runs a function that prints, and hides the line meanwhile.
    pub fn suspend(&self, work: impl FnOnce()) {
        self.line.suspend(work);
    }

    /// Removes the line.
    pub fn clear(&mut self) {
        self.line.finish_and_clear();
    }
}

/// Returns a count in thousands or millions if it is large.
fn short(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..10_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}M", count / 1_000_000),
    }
}
