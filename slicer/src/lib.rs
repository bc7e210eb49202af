//! Dependence analysis and slicing of whole programs.
//!
//! [`slice()`] reduces a program to the operations that its criteria depend on. Points-to sets ([`mod@pointer`]) partition
//! memory into regions. A backward walk from the criteria marks nodes of a system dependence graph over variables and
//! regions. The marked operations form a new program. As far as the criteria are concerned, it behaves like the
//! original.
//!
//! The crate knows the program representation. It does not know LLVM or solvers.
//!
//! # Guarantees
//!
//! If a run of the original executes a criterion, the run of the slice on the same inputs executes it too, in the same
//! order and with the same values. This assumes that the removed operations have no undefined behaviour. So a property
//! of all runs of the slice (a proof) holds for the original.
//!
//! The converse depends on [`Control`]. [`Control::Standard`] assumes that removed loops terminate. The slice may then
//! reach a criterion after a loop that never terminates in the original, so a counterexample of the slice has to be
//! replayed on the original. With [`Control::DecisiveOrder`] the slice reaches a criterion only if the original does.
//! [`Control::NonTermination`] suffices if no endless loop has several entries.
//!
//! A path that ends before the criterion (`abort`, a false assumption) ends in the slice as well. If
//! [`Options::cut_off`] is set, paths from which no criterion is reachable also end, as if an assumption failed.
//!
//! # Method
//!
//! Horwitz, Reps, Binkley: *Interprocedural slicing using dependence graphs*, TOPLAS 1990, over static single
//! assignment form for variables and memory regions. Each module names the papers that it implements.

#![warn(missing_docs)]

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
mod options;
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
pub use options::Options;
pub use slice::{Analysis, Error, Phase, Slice, Stats, slice};
