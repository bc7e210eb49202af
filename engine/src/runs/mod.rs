//! Runs of the reference interpreter: replays of candidate violations, and random testing.

pub mod random;
mod replay;

pub use replay::{replay, replay_limits, run};
