//! Options with a fixed set of values.

use clap::ValueEnum;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Color {
    /// If the stream is a terminal and NO_COLOR is not set.
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
    /// Breadth first: all paths step by step.
    Bfs,
    /// Chooses each state by a random walk from the root, which favours short paths.
    RandomPath,
    /// Prefers paths near code that is not covered yet.
    Coverage,
    /// Prefers paths near an error.
    Nearest,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum PointersArg {
    /// Each pointer points to its own object. Only pointers in recursive structures, such as lists and trees, may be
    /// null.
    Valid,
    /// Each pointer points to its own object or is null.
    MaybeNull,
    /// Each pointer points to its own object or to that of another pointer of its type, or is null.
    Aliasing,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SolverArg {
    /// Bitwuzla. For long queries, also a solver for integer arithmetic, and Z3.
    Portfolio,
    Bitwuzla,
    Z3,
    /// Bitwuzla and Z3 for every query. If they contradict each other, the answer is unknown.
    Both,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum PrecisionArg {
    /// In the whole scope of the variable.
    Scope,
    /// Only at the location of the refinement.
    Location,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum BlocksArg {
    /// At loop heads, and at entries of recursive functions.
    Loops,
    /// Also at entries and exits of functions.
    Calls,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum PredicatesArg {
    /// The possible combinations of their truth values.
    Boolean,
    /// None: only predicates that always or never hold are kept.
    Cartesian,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum CoveringArg {
    /// Covered states are dropped.
    On,
    /// All states are explored, for comparison.
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SlicingArg {
    /// The whole program is analysed.
    Off,
    /// A static backward slice from the errors. Removed loops are assumed to terminate.
    Static,
    /// The same, but keeps all loops before an error that may not terminate.
    Nontermination,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum TraceArg {
    /// Relevant inputs, branches and calls.
    Short,
    /// Every step.
    Full,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum MessageFormat {
    /// With the source and the counterexample.
    Human,
    /// `file:line:column: error: message`, one line per finding, as compilers print for editors.
    Short,
    /// The same as JSON objects, one per line (file, line, column, level, message, property).
    Json,
}
