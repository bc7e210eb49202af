//! What is shown of a verdict: traces, reproductions, invariants of loops, the program with what was found.

pub mod assumed;
pub mod blame;
pub mod exhibits;
pub mod lines;
pub mod loop_invariants;
pub mod reproduction;
