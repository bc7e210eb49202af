//! The command line.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Verifies C programs: proves that an error cannot be reached, or shows how it is reached.
#[derive(Parser, Debug)]
#[command(name = "proviso", version, styles = STYLES, max_term_width = 100, propagate_version = true)]
#[command(after_help = "Start with `proviso verify FILE.c`; `proviso verify --help` explains the options.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Colours in messages.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Decides whether a C program can violate a property.
    ///
    /// The program starts at main. Its inputs are the results of `__VERIFIER_nondet_int()` and the like: each
    /// call may give any value of its type. Proviso looks for inputs with which an error function
    /// (`reach_error` by default) is called, and says
    ///
    ///   TRUE                   no inputs violate the property
    ///   FALSE(unreach-call)    the inputs shown violate it
    ///   UNKNOWN(reason)        neither was shown; the reason says what stood in the way
    ///
    /// as the last line of standard output.
    #[command(after_long_help = EXAMPLES, verbatim_doc_comment)]
    Verify(Box<VerifyArgs>),
    /// Prints a program as the control-flow automata that Proviso works on.
    Cfa(Box<CfaArgs>),
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Color {
    /// Where standard error or output is a terminal and NO_COLOR is not set.
    Auto,
    Always,
    Never,
}

/// How to compile the program.
#[derive(Args, Debug)]
pub struct InputArgs {
    /// Sizes of C types [default: the task's, else LP64].
    #[arg(long, value_name = "MODEL", ignore_case = true)]
    pub data_model: Option<DataModelArg>,
    /// The same as --data-model ILP32.
    #[arg(long = "32", conflicts_with_all = ["data_model", "lp64"])]
    pub ilp32: bool,
    /// The same as --data-model LP64.
    #[arg(long = "64", conflicts_with = "data_model")]
    pub lp64: bool,

    /// Adds a folder to search for headers.
    #[arg(short = 'I', value_name = "DIR", help_heading = "Compiling")]
    pub include: Vec<PathBuf>,
    /// Defines a macro.
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "Compiling")]
    pub define: Vec<String>,
    /// The C standard, as clang names it (c99, gnu11, …).
    #[arg(long, value_name = "STD", help_heading = "Compiling")]
    pub std: Option<String>,
    /// Options passed to clang as they are.
    #[arg(last = true, value_name = "CLANG-OPTION")]
    pub clang_args: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum DataModelArg {
    /// int, long and pointers have 32 bits.
    #[value(name = "ILP32")]
    Ilp32,
    /// int has 32 bits, long and pointers have 64.
    #[value(name = "LP64")]
    Lp64,
}

impl InputArgs {
    /// The data model that the options ask for, if any does.
    pub fn data_model(&self) -> Option<DataModelArg> {
        match (self.ilp32, self.lp64) {
            (true, _) => Some(DataModelArg::Ilp32),
            (_, true) => Some(DataModelArg::Lp64),
            _ => self.data_model,
        }
    }
}

/// The options of `proviso verify`.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
pub struct VerifyArgs {
    /// C files (.c, .i), LLVM bitcode (.bc, .ll), or one task definition (.yml).
    ///
    /// Several files are linked into one program. A task definition (SV-COMP format 2.0) names the
    /// files, the property and the data model.
    #[arg(required_unless_present = "list_analyses", value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,

    /// What to verify: a property file (.prp) or `unreach-call` [default: the task's, else unreach-call].
    #[arg(short, long, value_name = "FILE|NAME", help_heading = "Property")]
    pub property: Option<String>,
    /// A function whose call is the error; may be given several times.
    ///
    /// Without it these are the functions that the property file names and their aliases (reach_error and
    /// __VERIFIER_error are aliases); without a property file also __assert_fail, which a failed `assert`
    /// calls.
    #[arg(long, value_name = "FUNCTION", help_heading = "Property")]
    pub error_function: Vec<String>,

    /// Stop after this many seconds of wall time with UNKNOWN.
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits")]
    pub timeout: Option<std::time::Duration>,
    /// Stop with UNKNOWN before more memory is used [default: 4/5 of the machine's].
    #[arg(short, long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub memory_limit: Option<u64>,

    /// How to analyse; see --list-analyses.
    #[arg(long, value_name = "NAME", default_value = "default", help_heading = "Analysis")]
    pub analysis: String,
    /// Lists the analyses and exits.
    #[arg(long, help_heading = "Analysis")]
    pub list_analyses: bool,
    /// The order in which paths are explored.
    #[arg(long, value_name = "ORDER", default_value = "mixed", help_heading = "Analysis")]
    pub search: SearchArg,
    /// Whether what the errors do not depend on is removed first.
    #[arg(long, value_name = "HOW", default_value = "static", help_heading = "Analysis")]
    pub slicing: SlicingArg,
    /// Seeds every random choice; the same seed gives the same run.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, help_heading = "Analysis")]
    pub seed: u64,

    /// How much of the way to the error is shown.
    #[arg(long, value_name = "HOW", default_value = "short", help_heading = "Output")]
    pub trace: TraceArg,
    /// Writes a C file that, compiled with the program, makes it take the way to the error.
    #[arg(long, value_name = "OUT.c", help_heading = "Output")]
    pub harness: Option<PathBuf>,
    /// Writes the result as JSON; `-` is standard output, before the verdict line.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Prints counters and times.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// Says what is going on.
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,
}

const EXAMPLES: &str = "\
Examples:
  proviso verify prog.c                                reach_error, __assert_fail as errors
  proviso verify --timeout 60 --harness bug.c prog.c   then: clang prog.c bug.c && ./a.out
  proviso verify --error-function die a.c b.c -- -Wno-everything -DDEBUG
  proviso verify task.yml --json result.json

Exit status:
  0   TRUE                        65  the input does not compile or is malformed
  1   FALSE                       66  an input file cannot be read
  2   UNKNOWN                     69  clang is missing
  64  the command line is wrong   70  an internal error of Proviso
                                  73  an output file cannot be written";

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
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SearchArg {
    /// Depth first, interleaved with random-path and coverage; in turns with `merging`.
    Mixed,
    /// In topological order, merging paths where they join.
    Merging,
    /// Depth first: one path to its end, then the latest alternative.
    Dfs,
    /// Breadth first: all paths in step.
    Bfs,
    /// A random walk from the root for each step, so that short paths are favoured.
    RandomPath,
    /// Paths that are near code not yet covered.
    Coverage,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SlicingArg {
    /// The whole program is analysed.
    Off,
    /// A static backward slice from the errors, once.
    Static,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum TraceArg {
    /// Inputs, branches and calls that matter.
    Short,
    /// Every step.
    Full,
}

fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds: f64 = text.trim_end_matches('s').parse().map_err(|_| "expected a number of seconds")?;
    std::time::Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    fn verify(args: &[&str]) -> VerifyArgs {
        let all = ["proviso", "verify"].iter().chain(args);
        match Cli::try_parse_from(all).unwrap().command {
            Command::Verify(args) => *args,
            Command::Cfa(_) => unreachable!(),
        }
    }

    #[test]
    fn clang_options_follow_the_dashes() {
        let args = verify(&["a.c", "b.c", "-DX=1", "-I", "inc", "--32", "--", "-Wall", "-DY"]);
        assert_eq!(args.files.len(), 2);
        assert_eq!(args.input.define, ["X=1"]);
        assert_eq!(args.input.clang_args, ["-Wall", "-DY"]);
        assert_eq!(args.input.data_model(), Some(DataModelArg::Ilp32));
        assert_eq!(verify(&["a.c", "--data-model", "lp64"]).input.data_model(), Some(DataModelArg::Lp64));
    }

    #[test]
    fn timeouts_are_seconds() {
        assert_eq!(verify(&["a.c", "-t", "1.5"]).timeout.unwrap().as_millis(), 1500);
        assert_eq!(verify(&["a.c", "-t", "20s"]).timeout.unwrap().as_secs(), 20);
        assert!(Cli::try_parse_from(["proviso", "verify", "a.c", "-t", "-1"]).is_err());
    }
}
