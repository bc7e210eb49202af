//! The value domain: explicit-value analysis, and symbolic execution with a precision over values and constraints.
//!
//! - *State*: a state of symbolic execution ([`symbolic::State`](super::symbolic::State)). If unknown values are not
//!   named by symbols (`Mode`), a state maps variables and memory to constants. That is the
//!   explicit-value domain (Beyer, Löwe: Explicit-state software model checking based on CEGAR and interpolation, FASE
//!   2013). With symbols, the domain is symbolic execution with a precision over values and constraints (Lemberger:
//!   Abstraction refinement for model checking: program slicing + CEGAR, master's thesis, LMU Munich 2018, section
//!   2.6.6).
//! - *Transfer*: the transfer relation of symbolic execution ([`symbolic`](super::symbolic)).
//! - *Precision*: the values, memory contents and constraints that are tracked ([`Precision`]). At abstraction
//!   locations, `abstraction` forgets everything else. `refinement` refines the precision.
//!
//! If the analysis enables it, chains of objects become list segments ([`shape`](super::shape)).

mod abstraction;
mod callers;
mod dependence;
mod precision;
pub(super) mod refinement;

pub use abstraction::{Replaced, Seen, ValueAbstraction};
pub(crate) use precision::describe;
pub use precision::{Item, Kept, Precision, Sharing};
