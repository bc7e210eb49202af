//! Options that are one of several words.

use clap::ValueEnum;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Color {
    /// Where standard error or output is a terminal and NO_COLOR is not set.
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SearchArg {
    /// Depth first, interleaved with random-path and coverage.
    Mixed,
    /// Depth first: one path to its end, then the latest alternative.
    Dfs,
    /// Breadth first: all paths in step.
    Bfs,
    /// A random walk from the root for each step, so that short paths are favoured.
    RandomPath,
    /// Paths that are near code not yet covered.
    Coverage,
    /// Paths that are near an error.
    Nearest,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum PointersArg {
    /// To objects of their own; only pointers in lists, trees and the like may be null.
    Valid,
    /// To objects of their own, or they are null.
    MaybeNull,
    /// To objects of their own, or to one that others of their type lead to, or they are null.
    Aliasing,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SolverArg {
    /// Bitwuzla; a query that takes it long is given to a solver of integer arithmetic and to Z3 as well.
    Portfolio,
    Bitwuzla,
    Z3,
    /// Bitwuzla and Z3 for every query; where they contradict one another, the answer is unknown.
    Both,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum PrecisionArg {
    /// Wherever the variable lives.
    Scope,
    /// At that location alone.
    Location,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum BlocksArg {
    /// At loop heads, and at entries of recursive functions.
    Loops,
    /// There, and where functions are entered and left.
    Calls,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum PredicatesArg {
    /// Which combinations are possible.
    Boolean,
    /// Nothing: only predicates that hold, or do not, are kept.
    Cartesian,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum CoveringArg {
    /// As every analysis here is meant to be.
    On,
    /// Each state is followed: what the analysis is worth without.
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SlicingArg {
    /// The whole program is analysed.
    Off,
    /// A static backward slice from the errors, once; loops that are removed are taken to end.
    Static,
    /// The same with all loops before an error that may not end.
    Nontermination,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum TraceArg {
    /// Inputs, branches and calls that matter.
    Short,
    /// Every step.
    Full,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum MessageFormat {
    /// With the source, and the way to the error.
    Human,
    /// `file:line:column: error: message`, a line each: what editors read from compilers.
    Short,
    /// The same as objects, each on a line of its own (file, line, column, level, message, property).
    Json,
}
