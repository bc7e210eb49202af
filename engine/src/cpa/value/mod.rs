//! Values: the explicit-value analysis, and values and constraints of symbolic execution.
//!
//! - *State*: a state of symbolic execution ([`symbolic::State`](super::symbolic::State)). Where the unknown has no names
//!   ([`Mode`](crate::execution::Mode)), it maps variables and memory to constants: the explicit-value domain (Beyer, Löwe:
//!   Explicit-state software model checking based on CEGAR and interpolation, FASE 2013). With symbols the domain is symbolic
//!   execution with a precision over values and constraints (the thesis on slicing and CEGAR for symbolic execution, section 2.6.6).
//! - *Transfer*: that of symbolic execution ([`symbolic`](super::symbolic)).
//! - *Precision*: which values, contents of memory and constraints are tracked ([`Precision`]); what is not is forgotten where
//!   paths join (`abstraction`). Refinements of it are in [`refine`](crate::refine).
//!
//! Chains of objects become list segments where that is asked for (`shape`).

mod abstraction;
mod callers;
mod precision;
pub(super) mod shape;

pub(super) use callers::Callers;
pub(crate) use precision::describe;
pub use precision::{Item, Kept, Precision, Sharing};
