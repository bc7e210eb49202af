//! One module for each kind of violation that can be put into a program as error edges.

pub mod cover;
mod lost;
pub mod memory;
pub mod pass;
pub mod uninitialised;
pub mod unreach_call;
