//! How analyses share the work on a program: artifacts that say what one has done and another need not do.
//!
//! A [`Condition`](condition::Condition) is the set of paths that have been verified. Whatever takes a program and a condition
//! need only look at the rest.

pub mod c;
pub mod condition;
pub mod gia;

pub mod range;
pub mod ranged;
pub mod reduce;
pub mod restrict;
pub mod stealing;
