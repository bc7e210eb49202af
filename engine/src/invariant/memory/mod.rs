//! Abstract memory: cells of objects, must-relations between variables and memory, and lifetimes of objects.

pub mod cells;
pub mod distances;
pub mod domain;
mod elements;
pub mod environment;
pub mod exit;
pub mod gaps;
mod join;
mod life;
mod relate;
pub mod relations;
mod unknown;
