//! Dependence analysis of whole programs, and slices of them.
//!
//! Knows the program representation and nothing of LLVM or of solvers.

mod alive;
mod call_graph;
mod graph;
pub mod pointer;
mod regions;
mod sparse_set;
