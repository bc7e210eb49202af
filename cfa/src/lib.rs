//! The program representation that every stage shares.
//!
//! A C program is a [`Program`]: functions as control-flow automata whose edges carry operations over
//! bit-precise, hash-consed expressions. This crate also holds the reference semantics of that
//! representation, a concrete interpreter, and its text, DOT and source views. It knows nothing of LLVM and
//! nothing of solvers.

pub mod blocks;
mod bv;
pub mod callgraph;
mod check;
pub mod dominators;
pub mod dot;
mod expr;
pub mod facts;
pub mod float;
pub mod graph;
mod index;
pub mod interp;
pub mod liveness;
pub mod loops;
mod program;
mod source;
pub mod text;
pub mod validate;

pub use bv::Bv;
pub use callgraph::CallGraph;
pub use check::Check;
pub use expr::{
    Arena, ArrayValue, BinOp, Children, Elements, Evaluator, Expr, ExprId, ExprPool, Sort, SymId, UnOp, Value,
};
pub use float::{FBinOp, FCmp, FUnOp, FloatFormat, Rounding};
pub use index::{Id, Table};
pub use program::*;
pub use source::{FileId, Place, PlaceId, SourceFile};
