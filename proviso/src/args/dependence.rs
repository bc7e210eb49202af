//! The options of slices, dependences and control flow.

use super::*;

/// The options of `proviso slice` and `proviso deps` for criteria and dependences.
#[derive(Args, Debug)]
pub struct DependenceArgs {
    /// A criterion, whose behaviour the slice preserves. Repeatable.
    ///
    ///   reach_error     calls of a function, with their arguments
    ///   file.c:12       all operations of a line
    ///   file.c:12:5     the operations at a column of a line
    ///   file.c:12:x     the value of a variable when control reaches a line
    ///   counter         the values of a global variable (`global:counter` if a function has the
    ///                   same name)
    ///
    /// If the program has only one file, its name may be left out: `12`, `12:x`.
    #[arg(short, long, value_name = "CRITERION", required = true, verbatim_doc_comment, help_heading = "Criteria")]
    pub criterion: Vec<String>,
    /// Like --criterion, but only on paths to one of the other criteria. For example, `__VERIFIER_assume`.
    #[arg(long, value_name = "CRITERION", help_heading = "Criteria")]
    pub secondary_criterion: Vec<String>,
    /// A function that is kept completely if any part of it is in the slice. Repeatable.
    #[arg(long, value_name = "FUNCTION", help_heading = "Criteria")]
    pub preserve: Vec<String>,
    /// The function at which execution starts.
    #[arg(long, value_name = "FUNCTION", default_value = "main", help_heading = "Criteria")]
    pub entry: String,

    /// The points-to analysis.
    #[arg(long, value_name = "HOW", default_value = "andersen", help_heading = "Dependences")]
    pub points_to: PointsToArg,
    /// Number of callers by which heap objects of one allocation site are distinguished.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=3), help_heading = "Dependences")]
    pub heap_contexts: u8,
    /// The kind of control dependence.
    #[arg(long, value_name = "HOW", default_value = "standard", help_heading = "Dependences")]
    pub control: ControlArg,
    /// The behaviour of functions that are neither defined nor modelled.
    #[arg(long, value_name = "WHAT", default_value = "reachable", help_heading = "Dependences")]
    pub undefined_functions: UndefinedArg,
    /// The program may read its own output again, from a file or a pipe. So the slice keeps output that may affect
    /// input.
    #[arg(long, help_heading = "Dependences")]
    pub read_back: bool,
    /// Ends a path when it can no longer reach a criterion.
    #[arg(long, value_name = "YES|NO", default_value = "yes", value_parser = yes_or_no, action = clap::ArgAction::Set, help_heading = "Dependences")]
    pub cut_off: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum PointsToArg {
    /// Inclusion-based and field-sensitive.
    Andersen,
    /// Inclusion-based and field-insensitive.
    AndersenNoFields,
    /// Unification-based, for very large programs.
    Unification,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum ControlArg {
    /// Standard control dependence, which assumes that all loops terminate.
    Standard,
    /// Also dependences on loops that may not terminate (NTSCD).
    Nontermination,
    /// Also dependences on branches that decide the order of operations (NTSCD and decisive order).
    DecisiveOrder,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum UndefinedArg {
    /// They only return values. Not sound in general.
    Pure,
    /// They read memory that is reachable from their arguments. Not sound in general.
    Read,
    /// They read and write memory that is reachable from arguments of such functions, and call the functions found
    /// there.
    Reachable,
    /// They read and write all memory.
    Anything,
}

/// The options of `proviso slice`.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
pub struct SliceArgs {
    /// C files (.c, .i), LLVM bitcode (.bc, .ll), one task definition (.yml), or `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub dependence: DependenceArgs,
    /// Computes the forward slice: the lines that the criteria affect. It is not a program.
    #[arg(long, help_heading = "Criteria", conflicts_with_all = ["output", "blank"])]
    pub forward: bool,

    /// Writes the slice as LLVM bitcode (.bc) or text (.ll); `-` for bitcode on standard output.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Writes the C file with the removed code blanked out. It compiles. If there are several files, writes each to
    /// this folder.
    #[arg(long = "c", alias = "blank", value_name = "FILE.c|DIR", help_heading = "Output")]
    pub blank: Option<PathBuf>,
    /// Lists the lines of the slice, as `file:line`.
    #[arg(long, help_heading = "Output")]
    pub lines: bool,
    /// Prints the source with the lines of the slice marked [default if there is no other output].
    #[arg(long, help_heading = "Output")]
    pub annotate: bool,
    /// Draws the dependences in the slice between the program's own operations, for Graphviz.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub dot: Option<PathBuf>,
    /// Writes the result as JSON; `-` for standard output.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Prints sizes and times.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,

    #[command(flatten)]
    pub input: InputArgs,
}

pub(super) const SLICE_EXAMPLES: &str = "\
Examples:
  proviso slice prog.c -c reach_error                    the source, with the lines of the slice marked
  proviso slice prog.bc -c prog.c:40:sum -o small.bc     bitcode that clang compiles and lli runs
  proviso slice prog.c -c report --c small.c --stats     C that compiles
  clang -c -emit-llvm -g prog.c -o - | proviso slice - -c reach_error -o - | opt -O2 -o fast.bc
  proviso slice prog.c -c 12:x --forward --lines         the lines that x of line 12 affects

Exit status: 0, or an error code of `proviso verify` (64 and above); 65 if a criterion matches nothing.";

/// The options of `proviso deps`.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
pub struct DepsArgs {
    /// The program's files, as for `proviso slice`, and then the place to explain: LINE, file.c:LINE,
    /// file.c:LINE:COLUMN, or file.c:LINE:VARIABLE (the assignments of the variable's value there).
    #[arg(required = true, value_name = "FILE|PLACE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub dependence: DependenceArgs,
    /// Writes the chain as JSON; `-` for standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub input: InputArgs,
}

pub(super) const DEPS_EXAMPLES: &str = "\
Examples:
  proviso deps prog.c -c reach_error 12
  proviso deps a.c b.c -c reach_error b.c:12:x

Exit status: 0 if the line is in the slice, 1 if it is not, or an error code of `proviso verify` (64 and above).";

/// The options of `proviso cfa`.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
pub struct CfaArgs {
    /// C files (.c, .i), LLVM bitcode (.bc, .ll), or one task definition (.yml).
    ///
    /// Several files are linked into one program. A task definition (SV-COMP format 2.0) names the
    /// files, the property and the data model.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,
    /// The output format.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub format: CfaFormat,
    /// Prints only this function.
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// The output file [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Draws the locations of all functions: a pixel for each location, a row for each distance from the entry.
    #[arg(long, value_name = "OUT.svg|OUT.png")]
    pub pixel_tree: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum CfaFormat {
    /// The text form, which can be read back.
    Text,
    /// A drawing for Graphviz: `proviso cfa -f dot a.c | dot -Tsvg > a.svg`.
    Dot,
    /// The call graph, for Graphviz.
    Calls,
    /// Sizes: functions, locations, edges, variables, operations.
    Stats,
    /// The functions that the sources define, one per line: name, file, first line and last line, separated by tabs.
    Functions,
}
