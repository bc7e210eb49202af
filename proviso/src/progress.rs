//! One line on the terminal that says what a long run is doing.

use crate::limits::resident_memory;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Short runs show nothing.
const AFTER: Duration = Duration::from_millis(1000);
const EVERY: Duration = Duration::from_millis(200);

pub struct Progress {
    start: Instant,
    last: Instant,
    terminal: bool,
    verbose: bool,
    phase: &'static str,
    shown: bool,
}

impl Progress {
    /// Shows nothing unless standard error is a terminal; `verbose` prints each phase on a line of its own
    /// wherever standard error goes.
    pub fn new(start: Instant, verbose: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { start, last: start, terminal, verbose, phase: "", shown: false }
    }

    pub fn show(&mut self, phase: &'static str, engine: Option<&engine::Stats>) {
        if self.verbose && phase != self.phase {
            self.clear();
            eprintln!("[{:8.3} s] {phase}", self.start.elapsed().as_secs_f64());
        }
        self.phase = phase;
        if !self.terminal || self.start.elapsed() < AFTER || self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        let mut line = format!("{:4} s  {phase}", self.start.elapsed().as_secs());
        if let Some(stats) = engine {
            let c = &stats.exploration;
            line += &format!(": {} paths, {} waiting, {} steps", c.paths, stats.waiting_now, short(c.edges));
        }
        line += &format!(", {} MB", resident_memory() >> 20);
        eprint!("\r\x1b[K{line}");
        let _ = std::io::stderr().flush();
        self.shown = true;
    }

    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            eprint!("\r\x1b[K");
            let _ = std::io::stderr().flush();
        }
    }
}

/// A count in at most five characters.
fn short(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..10_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}M", count / 1_000_000),
    }
}
