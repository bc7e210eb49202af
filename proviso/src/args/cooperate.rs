//! The command line of residual programs and of what analyses give each other.

use super::InputArgs;
use clap::Args;
use std::path::PathBuf;

pub const REDUCE_EXAMPLES: &str = "\
Examples:
  proviso reduce loop.c -o same.c                              the whole program, as C
  proviso verify --property unreach-call --timeout 10 --save-condition rest loop.c     as far as it comes
  proviso reduce loop.c --condition rest --reducer lh -o r.c   what is left, for other tools

Reducers (Beyer, Jakobs: FRed, SEFM 2020):
  parcomp    the product of program and condition, nothing folded; sep is another name
  cfa        each location once: the parts of the program that were not wholly explored
  lh         each loop head once
  lhc        as lh, but loops that are entered on different ways stay apart
  lhb, lhbc  as lh and lhc, but only after ten turns; lhb=N for others
  nlh        turns of loops stay apart, branches are joined";

/// The options of `proviso reduce`.
#[derive(Args, Debug)]
pub struct ReduceArgs {
    /// C files (.c, .i), LLVM bitcode (.bc, .ll), or one task definition (.yml).
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,
    /// What was to be verified, as for `verify`: a condition is one of a program with its errors.
    #[arg(long, value_name = "FILE|NAME")]
    pub property: Option<String>,
    /// The paths to take away [default: none].
    #[arg(long, value_name = "COND")]
    pub condition: Option<PathBuf>,
    /// How the rest is folded.
    #[arg(long, value_name = "NAME", default_value = "parcomp", requires = "condition")]
    pub reducer: String,
    /// Where to write it: C, LLVM bitcode or textual IR by its ending, else the automata as text; `-` is standard output, as C.
    #[arg(short, long, value_name = "OUT.c|OUT.bc|OUT.ll")]
    pub output: Option<PathBuf>,
    /// C without `#line`, which says where in the source a statement comes from.
    #[arg(long)]
    pub no_line: bool,
    /// Draws the shape of the residual program: how many locations are how far from its start.
    #[arg(long)]
    pub shape: bool,
}
