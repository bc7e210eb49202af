//! C and LLVM bitcode in, [`cfa::Program`] out.

#[allow(dead_code)]
mod compile;
mod error;
#[allow(dead_code)]
mod models;
mod options;
#[allow(dead_code)]
mod primitives;

pub use error::Error;
pub use options::{DataModel, Options, UndefinedFunctions};
