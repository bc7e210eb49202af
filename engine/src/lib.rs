//! The analyses that decide whether a program can reach an error.
//!
//! [`verify`] takes a [`Program`](cfa::Program) whose violations are error edges (see the `instrument` crate) and
//! returns a [`Verdict`]. The verdict is FALSE only after the reference interpreter has replayed the inputs. The
//! verdict is TRUE only if the analysis dropped no behaviours (see [`Taints`]).

pub mod algorithm;
pub mod analysis;
pub mod components;
mod composition;
mod config;
pub mod coverage;
mod crash;
pub mod domain;
mod exchange;
pub mod invariant;
#[cfg(test)]
mod laws;
mod outcome;
mod portfolio;
mod runs;
mod semantics;
pub mod simplify;
mod stats;
pub mod termination;
pub mod threads;
mod verdict;

pub use analysis::reached::graph as arg;
pub use analysis::{Increment, frontier, waitlist, work_queue};
pub use composition::Analysis;
pub use config::Config;
pub use crash::Crash;
pub use domain::condition::part;
pub use invariant::observed::{Agreement, Line, NamedScalar, Root, Values};
pub use outcome::{Outcome, Turn};
pub use portfolio::{Replay, verify};
pub use runs::{concolic, replay, replay_limits};
pub use semantics::{control, sign_extend as signed};
pub use smt::{self, budget};
pub use stats::{Counters, Stats};
pub use verdict::{Counterexample, Reason, ReasonKind, Taints, Verdict};
