//! Runs of the reference interpreter: replays of candidate violations, random testing, and concolic
//! execution.

pub mod concolic;
pub mod random;
mod replay;

pub use replay::{replay, replay_limits, run};
