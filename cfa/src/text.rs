//! The text form of programs and expressions.
//!
//! [`print()`] writes a whole program, every table with its ids. [`parse`] reads it back. The result is the same program,
//! except for the numbers of expressions. White space does not matter. `//` starts a comment. A C name may precede an
//! id (`x.v3`). The parser ignores such names.
//!
//! ```text
//! program 64 entry f0
//! file file0 "/home/me/loop.c"
//! place p0 file0:3:9
//! type ty0 void
//! type ty1 int "int" 32 signed
//! input in0 nondet "__VERIFIER_nondet_int" ty1 32 @p0
//! taint taint0 over "inline assembly" @p0
//! error err0 "unreach-call" "reach_error is called" @p0
//! var v0 "limit" ty1 32 = 10:32
//! global g0 "table" ty1 align 4 size 16 bytes "\x01" { 8: &main.f1 }
//!
//! func f1 "main" source ty1 32 (v1) entry l2 @p0 {
//!   param v1 "argc" ty1 32 // int
//!   local v2 "i" ty1 32 // int
//!   l2:
//!     t0: i.v2 := havoc in0 -> l3 @p0 #[0..2] // loop.c:3:9
//!   l3:
//!     t1: if (i.v2 <s limit.v0) means true -> l4
//!     t2: else (limit.v0 <=s i.v2) means false -> l5
//!   l4:
//!     t3: return 0:32 -> l6
//!   …
//! }
//! ```
//!
//! Expressions are infix with parentheses. A constant is `value:width`. `x[7:0]` is an extract. Operations that C
//! writes with one operator for both signednesses end in `u` or `s` (`<u`, `/s`, `>>s`). `++` concatenates. All other
//! operations are functions whose names contain widths and formats: `zext.64(x)`, `fadd.double(x, y)`,
//! `stof.single(i)`. A rounding mode other than to nearest is the last part of the name: `fadd.double.up(x, y)`.
//! Conditions on states may contain the bytes of a global at an offset: `mem.32(table.g0, 8)`. Before an operation,
//! `let e0 = …` names a shared subexpression.

mod c;
mod c_exact;
pub mod exact;
mod parse;
mod print;

pub use c::{c_expr, c_expr_naming, c_expr_with, c_object, c_operation, var_name};
pub use c_exact::c_exact;
pub use parse::{ParseError, expression as parse_expression, program as parse};
pub use print::{expression, function, operation, program as print};

use crate::expr::{BinOp, UnOp};
use crate::float::{FBinOp, FCmp, FUnOp};
use crate::program::FunctionOrigin;

const UNARY: [(UnOp, &str); 2] = [(UnOp::Not, "~"), (UnOp::Neg, "-")];

const BINARY: [(BinOp, &str); 19] = [
    (BinOp::Add, "+"),
    (BinOp::Sub, "-"),
    (BinOp::Mul, "*"),
    (BinOp::UDiv, "/u"),
    (BinOp::SDiv, "/s"),
    (BinOp::URem, "%u"),
    (BinOp::SRem, "%s"),
    (BinOp::Shl, "<<"),
    (BinOp::LShr, ">>u"),
    (BinOp::AShr, ">>s"),
    (BinOp::And, "&"),
    (BinOp::Or, "|"),
    (BinOp::Xor, "^"),
    (BinOp::Eq, "=="),
    (BinOp::Ult, "<u"),
    (BinOp::Ule, "<=u"),
    (BinOp::Slt, "<s"),
    (BinOp::Sle, "<=s"),
    (BinOp::Concat, "++"),
];

const FLOAT_UNARY: [(FUnOp, &str); 8] = [
    (FUnOp::Neg, "fneg"),
    (FUnOp::Abs, "fabs"),
    (FUnOp::SQRT, "fsqrt"),
    (FUnOp::Floor, "ffloor"),
    (FUnOp::Ceil, "fceil"),
    (FUnOp::Trunc, "ftrunc"),
    (FUnOp::RoundEven, "froundeven"),
    (FUnOp::RoundAway, "froundaway"),
];

const FLOAT_BINARY: [(FBinOp, &str); 7] = [
    (FBinOp::ADD, "fadd"),
    (FBinOp::SUB, "fsub"),
    (FBinOp::MUL, "fmul"),
    (FBinOp::DIV, "fdiv"),
    (FBinOp::Rem, "frem"),
    (FBinOp::Min, "fmin"),
    (FBinOp::Max, "fmax"),
];

const FLOAT_COMPARE: [(FCmp, &str); 3] = [(FCmp::Eq, "feq"), (FCmp::Lt, "flt"), (FCmp::Le, "fle")];

const ORIGINS: [(FunctionOrigin, &str); 3] =
    [(FunctionOrigin::Source, "source"), (FunctionOrigin::Model, "model"), (FunctionOrigin::Undefined, "undefined")];

/// The type qualifiers.
const QUALIFIERS: [&str; 4] = ["const", "volatile", "restrict", "_Atomic"];

/// The name of an operation.
fn name_of<T: Copy + PartialEq>(table: &[(T, &'static str)], item: T) -> &'static str {
    table.iter().find(|(t, _)| *t == item).map(|(_, name)| *name).expect("every operation has a name")
}

/// The operation with this name.
fn named<T: Copy>(table: &[(T, &'static str)], name: &str) -> Option<T> {
    table.iter().find(|(_, n)| *n == name).map(|(t, _)| *t)
}
