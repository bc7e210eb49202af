//! Cooperation between analyses: artifacts that describe what one analysis has verified and others can skip.
//!
//! A [`Condition`](condition::Condition) describes the set of verified paths. An analysis of a program and a condition
//! has to verify only the residual paths.

#![warn(missing_docs)]

pub mod c;
pub mod condition;
mod copies;
pub mod gia;

pub mod range;
pub mod ranged;
pub mod reduce;
pub mod restrict;
pub mod stealing;
