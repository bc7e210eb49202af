//! Instrumentation for each kind of check.

pub mod cover;
mod lost;
pub mod memory;
pub mod pass;
pub mod threads;
pub mod uninitialised;
pub mod unreach_call;
