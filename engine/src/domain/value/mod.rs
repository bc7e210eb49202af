//! Values: the explicit-value analysis, and values and constraints of symbolic execution.
//!
//! - *State*: a state of symbolic execution ([`symbolic::State`](super::symbolic::State)). Where the unknown has no names
//!   ([`Mode`](crate::semantics::Mode)), it maps variables and memory to constants: the explicit-value domain (Beyer, Löwe:
//!   Explicit-state software model checking based on CEGAR and interpolation, FASE 2013). With symbols the domain is symbolic
//!   execution with a precision over values and constraints (the thesis on slicing and CEGAR for symbolic execution, section 2.6.6).
//! - *Transfer*: that of symbolic execution ([`symbolic`](super::symbolic)).
//! - *Precision*: which values, contents of memory and constraints are tracked ([`Precision`]); what is not is forgotten where
//!   paths join (`abstraction`). Refinements of it are in [`refinement`].
//!
//! Chains of objects become list segments where that is asked for ([`shape`](super::shape)).

mod abstraction;
mod callers;
mod dependence;
mod precision;
pub(super) mod refinement;

pub use abstraction::{Replaced, Seen, ValueAbstraction};
pub(crate) use precision::describe;
pub use precision::{Item, Kept, Precision, Sharing};
