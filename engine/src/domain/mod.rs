//! The abstract domains, one folder each: states, transfer relation, precision, refinement.

pub mod condition;
pub mod interval;
pub mod loops;
pub mod path;
pub mod predicate;
pub mod shape;
pub mod slicing;
pub mod symbolic;
pub mod tracking;
pub mod value;
