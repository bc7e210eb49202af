//! Evidence for a verdict: reproductions, loop invariants, assumptions of proofs, and report data about the program.

pub mod assumed;
pub mod blame;
pub mod lines;
pub mod loop_invariants;
pub mod report_data;
pub mod reproduction;
pub mod wording;
