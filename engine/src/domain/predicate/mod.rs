//! Predicate abstraction.
//!
//! - *State*: where a state is abstracted, it may keep which of a set of predicates hold: each on its own (Cartesian
//!   abstraction), and, for those that it leaves open, which combinations are possible (boolean abstraction, by enumerating
//!   them with the solver: Lahiri, Nieuwenhuis, Oliveras, CAV 2006). They are conjuncts of its path condition; `state` is what it
//!   keeps besides.
//! - *Transfer*: between abstractions states are symbolic ([`symbolic`](super::symbolic)); a block from one to the next is
//!   adjustable (Beyer, Keremoglu, Wendler: Predicate abstraction with adjustable-block encoding, FMCAD 2010).
//! - *Precision*: a predicate is a condition on the variables of one function, on globals, and on places in memory: bytes of the
//!   one object that is alive of those that an operation allocates. Predicates come from sequence interpolants of infeasible paths
//!   (Henzinger, Jhala, Majumdar, McMillan: Abstractions from proofs, POPL 2004), each checked to be an interpolant before it is used
//!   ([`refinement`]).

mod abstraction;
mod precision;
pub(crate) mod refinement;
mod state;

pub use abstraction::{Knowledge, PredicateAbstraction};
pub use precision::Predicates;
pub use state::{Cut, Place};
