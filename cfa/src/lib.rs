//! The program representation that every stage shares.
//!
//! A C program is a [`Program`]. Its functions are control-flow automata. The edges of an automaton have operations
//! over bit-precise, hash-consed expressions. This crate also has the reference semantics of programs (a concrete
//! interpreter), and their text, DOT and source views. It depends neither on LLVM nor on solvers.

#![warn(missing_docs)]

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
pub mod threads;
pub mod validate;
pub mod wording;

pub use bv::Bv;
pub use callgraph::CallGraph;
pub use check::Check;
pub use expr::{
    Address, Arena, ArrayValue, BinOp, Children, Elements, Evaluator, Expr, ExprId, ExprPool, Sort, SymId, UnOp, Value,
};
pub use float::{FBinOp, FCmp, FUnOp, FloatFormat, Rounding};
pub use index::{Id, Table};
pub use program::*;
pub use source::{FileId, Place, PlaceId, SourceFile};
