//! The abstract domains. Each module has the states, transfer relation, precision and refinement of one domain.

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
