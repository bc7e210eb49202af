//! Verification of C programs as a library: from C or bitcode to a verdict with its evidence.
//!
//! A [`Task`] is a program and the questions about it. A [`Config`] determines the analyses and the limits. [`verify()`]
//! loads the program, slices it, runs the analyses, replays the violations that they find, and returns an [`Outcome`].
//! The command `proviso` adds arguments and file formats.
//!
#![doc = "```no_run"]
#![doc = include_str!("../examples/verify.rs")]
#![doc = "```"]
//!
//! Data flows down this list. No module uses one below it.
//!
//! | modules | content |
//! |---|---|
//! | [`failure`], [`panics`], [`limits`], [`source`], [`files`] | errors, limits, places in the source |
//! | [`input`], [`task`], [`job`], [`load`] | the subject of a verification: files, questions, programs |
//! | [`environment`], [`trace`], [`report`], [`evidence`] | results as data: traces, reproductions, invariants |
//! | [`external`], [`plan`], [`config`], [`cache`] | analyses, tools, options, verdicts |
//! | [`session`] | the state of a run |
//! | [`cooperation`], [`preanalysis`], [`decide`], [`proved`], [`termination`], [`answer`], [`question`], [`vacuity`] | the stages |
//! | [`mod@verify`] | a verification under its limits |

#![warn(missing_docs)]

mod addresses;
pub mod answer;
pub mod cache;
pub mod config;
pub mod cooperation;
pub mod decide;
pub mod environment;
pub mod evidence;
pub mod external;
pub mod failure;
pub mod files;
pub mod input;
pub mod job;
pub mod limits;
pub mod load;
pub mod panics;
pub mod plan;
pub mod preanalysis;
pub mod proved;
pub mod question;
pub mod remedies;
pub mod report;
pub mod session;
pub mod source;
pub mod task;
pub mod termination;
pub mod trace;
pub mod vacuity;
pub mod verify;
pub mod written;

pub use config::Config;
pub use failure::Failure;
pub use report::Report;
pub use session::Observer;
pub use task::Task;
pub use verify::Outcome;

use std::sync::Arc;
use std::time::Instant;

/// Verifies a task. Returns the verdict with its report and its evidence.
///
/// # Errors
/// `Err` if no verdict can be attempted: the program does not compile, a file cannot be read, or the question makes no
/// sense.
pub fn verify(task: &Task, config: &Config) -> Result<Outcome, Failure> {
    let job = Arc::new(job::Job::new(task)?);
    let verification = verify::Verification {
        job: &job,
        config,
        outputs: &files::Outputs::default(),
        start: Instant::now(),
        is_answer: true,
        observer: Arc::new(()),
    };
    verification.run()
}
