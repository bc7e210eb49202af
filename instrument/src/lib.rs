//! Properties, and what makes their violations reachability of error locations.
//!
//! A [`Property`] is what a property file asks for. Each one that is supported has a check in
//! [`checks`] that changes a program such that it executes an [`Op::Error`](cfa::Op::Error) edge
//! exactly where it violated the property before. Everything after this stage knows only of error edges.

mod asked;
pub mod automaton;
pub mod checks;
mod property;
pub mod termination;
pub mod vacuity;

pub use asked::{Asked, UnknownCheck};
pub use automaton::Automaton;
pub use checks::cover::cover;
pub use checks::memory::memory_safety;
pub use checks::pass::{Operation, Site, guard_all, let_pass, sites};
pub use checks::uninitialised::uninitialised;
pub use checks::unreach_call::{UnreachCall, only_while, unreach_call};
pub use property::{Property, PropertyError, PropertyFile};
