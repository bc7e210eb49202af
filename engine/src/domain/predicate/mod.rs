//! Predicate abstraction.
//!
//! - *State*: an abstract state may keep which predicates hold. Cartesian abstraction keeps the truth value of each
//!   predicate on its own. Boolean abstraction also keeps which combinations of the undecided predicates are possible,
//!   enumerated with the solver (Lahiri, Nieuwenhuis, Oliveras, CAV 2006). The kept predicates are conjuncts of the
//!   path condition. The module `state` defines the further parts of a state.
//! - *Transfer*: between abstractions, states are symbolic ([`symbolic`](super::symbolic)). The blocks between
//!   abstractions are adjustable (Beyer, Keremoglu, Wendler: Predicate abstraction with adjustable-block encoding,
//!   FMCAD 2010).
//! - *Precision*: a predicate is a condition on the variables of one function, globals, and places in memory. A place
//!   is a range of bytes of an object that is the only live object of its allocation site. Predicates come from
//!   sequence interpolants of infeasible paths (Henzinger, Jhala, Majumdar, McMillan: Abstractions from proofs, POPL
//!   2004). Each sequence is checked to be one before it is used (`refinement`).

mod abstraction;
mod precision;
pub(crate) mod refinement;
mod state;

pub use abstraction::{Knowledge, PredicateAbstraction};
pub use precision::Predicates;
pub use state::{ByteRange, Cut};
