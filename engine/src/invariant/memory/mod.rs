//! Abstract memory: cells of objects, what objects and variables have to do with one another, allocations.

pub mod cells;
pub mod environment;
pub mod exit;
mod join;
mod life;
mod relate;
pub mod relations;
pub mod tracker;
