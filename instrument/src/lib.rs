//! Properties, and the instrumentation that reduces their violations to reachability of error edges.
//!
//! A [`Property`] is an entry of a property file. For each supported property, an instrumentation in [`checks`] changes
//! a program so that it executes an [`Op::Error`](cfa::Op::Error) edge if and only if it violated the property before.
//! Later stages know only error edges.

#![warn(missing_docs)]

pub mod automaton;
pub mod checks;
mod named_check;
mod property;
mod sequential;
pub mod termination;
#[cfg(test)]
#[path = "../../cfa/tests/mangled/mod.rs"]
mod texts;
pub mod vacuity;

pub use automaton::Automaton;
pub use checks::cover::cover;
pub use checks::memory::{memory_safety, watch_losses};
pub use checks::pass::{Continuation, Operation, Site, end_at, guard_all, let_pass, sites};
pub use checks::threads::threads;
pub use checks::uninitialised::uninitialised;
pub use checks::unreach_call::{UnreachCall, only_while, unreach_call};
pub use named_check::{NamedCheck, UnknownCheck};
pub use property::{Property, PropertyError, PropertyFile};
pub use sequential::{Bounds, Untranslated, sequentialise};
