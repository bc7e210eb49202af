//! Dependence analysis of whole programs, and slices of them.
//!
//! [`slice`] keeps of a program what its criteria depend on. Points-to sets ([`pointer`]) part memory into
//! regions; a system dependence graph over variables and regions is walked backwards from the criteria; the
//! operations met are put together again as a program that does, as far as the criteria are concerned, what
//! the original does.
//!
//! Knows the program representation and nothing of LLVM or of solvers.
//!
//! # What a slice preserves
//!
//! If a run of the original executes a criterion, the run of the slice with the same inputs executes it too, in
//! the same order and with the same values, provided that what was removed does nothing undefined. So what holds of
//! all runs of the slice (a proof) holds of the original.
//!
//! The converse depends on [`Control`]. With [`Control::Standard`] a loop that was removed is taken to end: the
//! slice may reach a criterion behind a loop that the original never leaves, so a run of the slice (a counterexample)
//! has to be replayed on the original. With [`Control::DecisiveOrder`] (with [`Control::NonTermination`] if no
//! endless loop has several entries) the slice hits a criterion only if the original does.
//!
//! A path that ends before the criterion (`abort`, a false assumption) ends in the slice as well. If
//! [`Options::cut_off`] is set, so do paths that can no longer get to a criterion, as if an assumption failed.
//!
//! # How it is done
//!
//! Horwitz, Reps, Binkley: *Interprocedural slicing using dependence graphs*, TOPLAS 1990, over static single
//! assignment form for variables and memory regions. Each module names what it follows.

mod alive;
mod build;
mod call_graph;
mod control;
mod criterion;
mod crossing;
mod explain;
mod flow;
mod forward;
mod inputs;
mod mark;
mod modref;
mod picture;
pub mod pointer;
mod regions;
mod sdg;
mod slice;
mod sparse_set;

pub use control::Control;
pub use criterion::{Criterion, Datum, Value, What};
pub use explain::{Dependence, DependenceKind, Explanation};
pub use forward::Forward;
pub use slice::{Analysis, Error, Options, Phase, Slice, Stats, slice};
