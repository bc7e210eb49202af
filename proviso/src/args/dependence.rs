//! The options of slices, dependences and control flow.

use super::*;

/// What a slice is about, and how dependences are found: `proviso slice` and `proviso deps`.
#[derive(Args, Debug)]
pub struct DependenceArgs {
    /// What must stay as it is; may be given several times.
    ///
    ///   reach_error     calls of a function, with their arguments
    ///   file.c:12       all that is done in a line
    ///   file.c:12:5     what is done at a column of a line
    ///   file.c:12:x     the value of a variable when control comes to a line
    ///   counter         the values of a global variable (`global:counter` if a function has that name)
    ///
    /// The file may be left out where a program has only one: `12`, `12:x`.
    #[arg(short, long, value_name = "CRITERION", required = true, verbatim_doc_comment, help_heading = "Criteria")]
    pub criterion: Vec<String>,
    /// As --criterion, but only as far as it lies on a way to one of those: `__VERIFIER_assume`, say.
    #[arg(long, value_name = "CRITERION", help_heading = "Criteria")]
    pub secondary_criterion: Vec<String>,
    /// Functions that are kept whole if any of them is kept.
    #[arg(long, value_name = "FUNCTION", help_heading = "Criteria")]
    pub preserve: Vec<String>,
    /// The function that the program starts with.
    #[arg(long, value_name = "FUNCTION", default_value = "main", help_heading = "Criteria")]
    pub entry: String,

    /// How pointers are followed.
    #[arg(long, value_name = "HOW", default_value = "andersen", help_heading = "Dependences")]
    pub points_to: PointsToArg,
    /// How many calls up heap objects made in one place are told apart.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=3), help_heading = "Dependences")]
    pub heap_contexts: u8,
    /// What decides whether something is executed.
    #[arg(long, value_name = "HOW", default_value = "standard", help_heading = "Dependences")]
    pub control: ControlArg,
    /// What functions do that are neither defined nor modelled.
    #[arg(long, value_name = "WHAT", default_value = "reachable", help_heading = "Dependences")]
    pub undefined_functions: UndefinedArg,
    /// What the program writes it may read again, from a file or a pipe: output stays as far as input does.
    #[arg(long, help_heading = "Dependences")]
    pub read_back: bool,
    /// Whether a way ends where it can no longer come to a criterion.
    #[arg(long, value_name = "YES|NO", default_value = "yes", value_parser = yes_or_no, action = clap::ArgAction::Set, help_heading = "Dependences")]
    pub cut_off: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum PointsToArg {
    /// By inclusion, fields apart.
    Andersen,
    /// By inclusion, all fields of an object as one.
    AndersenNoFields,
    /// By unification: for very large programs.
    Unification,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum ControlArg {
    /// Branches that decide it if all loops terminate.
    Standard,
    /// Also loops that may go on for ever (NTSCD).
    Nontermination,
    /// And what decides the order of things (NTSCD and decisive order).
    DecisiveOrder,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum UndefinedArg {
    /// They only return values. Not sound in general.
    Pure,
    /// They read what their arguments lead to. Not sound in general.
    Read,
    /// They read and write what arguments of such functions lead to, and call the functions found there.
    Reachable,
    /// They read and write everything.
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
    /// What the criteria have an influence on, instead of what has one on them: lines only, no program.
    #[arg(long, help_heading = "Criteria", conflicts_with_all = ["output", "blank"])]
    pub forward: bool,

    /// Writes the slice as LLVM bitcode (.bc) or text (.ll); `-` is bitcode on standard output.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Writes the C file with what is removed blanked; it compiles. Of a program of several, writes each into this folder.
    #[arg(long = "c", alias = "blank", value_name = "FILE.c|DIR", help_heading = "Output")]
    pub blank: Option<PathBuf>,
    /// Lists the lines kept, `file:line` each.
    #[arg(long, help_heading = "Output")]
    pub lines: bool,
    /// Shows the source with the lines kept marked [default without another output].
    #[arg(long, help_heading = "Output")]
    pub annotate: bool,
    /// Draws the dependences kept between the program's own operations, for Graphviz.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub dot: Option<PathBuf>,
    /// Writes the result as JSON; `-` is standard output.
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
  proviso slice prog.c -c reach_error                    the source, with the lines kept marked
  proviso slice prog.bc -c prog.c:40:sum -o small.bc     bitcode that clang compiles and lli runs
  proviso slice prog.c -c report --c small.c --stats     C that compiles
  clang -c -emit-llvm -g prog.c -o - | proviso slice - -c reach_error -o - | opt -O2 -o fast.bc
  proviso slice prog.c -c 12:x --forward --lines         what x of line 12 has an influence on

Exit status: 0, or as of `proviso verify` from 64 on; 65 if a criterion matches nothing.";

/// The options of `proviso deps`.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
pub struct DepsArgs {
    /// The program's files, as of `proviso slice`; then the place asked about: LINE, file.c:LINE,
    /// file.c:LINE:COLUMN, or file.c:LINE:VARIABLE (what gives the variable its value there).
    #[arg(required = true, value_name = "FILE|PLACE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub dependence: DependenceArgs,
    /// Writes the chain as JSON; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub input: InputArgs,
}

pub(super) const DEPS_EXAMPLES: &str = "\
Examples:
  proviso deps prog.c -c reach_error 12
  proviso deps a.c b.c -c reach_error b.c:12:x

Exit status: 0 if the line is in the slice, 1 if it is not, or as of `proviso verify` from 64 on.";

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
    /// What to print.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub format: CfaFormat,
    /// Only this function.
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Where to write it [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Draws the locations of all functions, a pixel each, in rows by their distance from the entry.
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
    /// The functions that the sources define, a line each: name, file, first line, last line, with tabs between.
    Functions,
}
