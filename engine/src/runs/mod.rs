//! Runs of the reference interpreter: replays of violations, and random inputs.

pub mod random;
mod replay;

pub use replay::{replay, replay_limits, run};
