//! The front-end: translates C and LLVM bitcode to [`cfa::Program`].
//!
//! [`load`] compiles C with clang, reads bitcode and textual IR, and links all inputs with the library models that they
//! need. [`Module::lower`] translates the result to a program. `shim/` encapsulates the C++ classes of LLVM. The
//! lowering works on the plain data of `ir`.

#![warn(missing_docs)]

pub mod command;
mod compile;
mod cut;
mod dialect;
mod error;
mod file_assembly;
mod file_local;
mod hidden;
mod included;
mod ir;
mod llvm;
mod lower;
mod models;
mod module;
mod options;
mod primitives;
pub mod scan_format;
mod target;

pub use command::CompileCommand;
pub use compile::is_translated;
pub use cut::{Cut, KeptPart, Size, Unused};
pub use error::Error;
pub use included::files_read;
pub use lower::{FOLLOW, GIVEN, LIBRARY_VARIABLES, MAKE, MAX_OBJECT, is_given, token_mask};
pub use models::is_library;
pub use module::{Loader, Module, clang, errors_in, load, load_to_cut, preprocessed};
pub use options::{EntryMemory, EntryPointers, InputFile, Options, UndefinedFunctions};
pub use primitives::{is_known, is_of_assertions};
pub use target::{DataModel, NamedCompiler, words};
