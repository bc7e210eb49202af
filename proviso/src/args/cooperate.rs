//! The options for residual programs, and for the exchange of results between analyses.

use super::{InputArgs, seconds};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

pub const REDUCE_EXAMPLES: &str = "\
Examples:
  proviso reduce loop.c -o same.c                              the whole program, as C
  proviso verify --property unreach-call --timeout 10 --save-condition done loop.c
                                                               the paths verified in ten seconds
  proviso reduce loop.c --condition done --reducer lh -o r.c   the other paths, for other tools

Reducers (Beyer, Jakobs: FRed, SEFM 2020):
  parcomp    the product of program and condition without folding; sep is another name
  cfa        each location once: the parts of the program that are not completely explored
  lh         each loop head once
  lhc        like lh, but loops that are entered on different paths are distinguished
  lhb, lhbc  like lh and lhc, but only after ten iterations; lhb=N for another number
  nlh        iterations of loops are distinguished, branches are joined";

/// The options of `proviso gia`.
#[derive(Args, Debug)]
pub struct GiaArgs {
    #[command(subcommand)]
    pub command: GiaCommand,
}

#[derive(Subcommand, Debug)]
pub enum GiaCommand {
    /// Writes an empty GIA, which makes no claims.
    New {
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Checks the claims of a GIA: replays the paths to rt, and proves that the paths to ut reach no target.
    ///
    /// The last line is CORRECT, WRONG or UNKNOWN. The lines before it give the reasons.
    Check {
        gia: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        /// Seconds for the proof [default: 60].
        #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
        timeout: Option<std::time::Duration>,
    },
    /// Prints a GIA as text, as a drawing for Graphviz (ut green, rt blue, cand yellow), as JSON, or on the source.
    ///
    /// `--format html` is a page with the source. A line is green if all paths through it are ut, red if it is on a
    /// path that is rt, yellow if it is on one that is cand, and grey otherwise.
    Show {
        gia: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FORMAT", default_value = "text")]
        format: GiaFormat,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Combines two GIAs into one with the claims of both.
    Combine {
        first: PathBuf,
        second: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Runs the model explorer of component CEGAR, with the conditions of a GIA as precision. The result is a proof
    /// (ut) or a candidate path.
    Explore {
        #[command(flatten)]
        component: GiaComponent,
        /// The precision [default: none].
        #[arg(long, value_name = "GIA")]
        precision: Option<PathBuf>,
    },
    /// Runs the feasibility checker of component CEGAR. A feasible candidate becomes rt, with its inputs. Other
    /// candidates stay.
    CheckFeasibility {
        gia: PathBuf,
        #[command(flatten)]
        component: GiaComponent,
    },
    /// Runs the precision refiner of component CEGAR. An infeasible candidate becomes ut, with the conditions that
    /// refute it.
    Refine {
        gia: PathBuf,
        #[command(flatten)]
        component: GiaComponent,
    },
    /// Runs component CEGAR (CC-Gia): explorer, checker and refiner in turn, until all paths are ut, or one is rt.
    ///
    /// Each component may be a shell command, which reads a GIA from the file $GIA and writes one to $OUT. The last
    /// line is TRUE, FALSE or UNKNOWN. FALSE means that a path was executed; TRUE means that the explorer claims that
    /// all paths are ut.
    Cegar {
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(long, value_name = "COMMAND")]
        explorer: Option<String>,
        #[arg(long, value_name = "COMMAND")]
        checker: Option<String>,
        #[arg(long, value_name = "COMMAND")]
        refiner: Option<String>,
        /// Exchanges witnesses instead of GIAs (CC-Wit).
        #[arg(long)]
        witnesses: bool,
        /// Writes the result of each component in each iteration, as N-NAME.gia.
        #[arg(long, value_name = "FOLDER")]
        keep: Option<PathBuf>,
        #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
        timeout: Option<std::time::Duration>,
    },
    /// Converts a witness (format 2) to a GIA: a violation becomes a candidate, invariants become conditions on paths
    /// to ut.
    FromWitness {
        #[arg(id = "evidence", value_name = "WITNESS")]
        witness: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Converts a GIA to a witness: its path to rt or its candidate becomes a violation, else its conditions at loops
    /// become invariants.
    ToWitness {
        gia: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Converts tests (Test-Comp's format, KLEE's .ktest, an AFL queue) to a GIA: executes each test, and marks those
    /// that reach an error rt.
    FromTests {
        /// A folder or file with tests.
        tests: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Converts the paths of a GIA to rt to a test suite in Test-Comp's format.
    ToTests {
        gia: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        /// The folder of the suite.
        #[arg(short, long, value_name = "FOLDER")]
        output: PathBuf,
    },
    /// Converts a condition to a GIA: the paths that it covers are ut.
    FromCondition {
        condition: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Converts a GIA to a condition: it covers the paths that are ut.
    ToCondition {
        gia: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// The options for results about paths that a run reads and writes.
#[derive(Args, Clone, Default, Debug)]
pub struct KnowledgeArgs {
    /// Starts from the claims of a GIA (see `proviso gia`). Paths to errors are executed, candidates are explored, and
    /// conditions are tried in a proof. No claim is trusted.
    #[arg(long, value_name = "FILE", help_heading = "Cooperation", conflicts_with_all = ["cache", "range", "ranged", "resume"])]
    pub gia: Option<PathBuf>,
    /// Assumes that the paths that the GIA marks ut are verified.
    #[arg(long, help_heading = "Cooperation", requires = "gia")]
    pub trust_gia: bool,
    /// Writes the results about paths at the end, also at a limit or Ctrl-C, as a GIA: paths that reach no error, a
    /// path that does, undecided paths, and invariants.
    #[arg(long, value_name = "FILE", help_heading = "Cooperation", conflicts_with_all = ["cache", "range", "ranged"])]
    pub save_gia: Option<PathBuf>,
    /// Verifies by component CEGAR: a model explorer, a feasibility checker and a precision refiner that exchange only
    /// GIAs (CC-Gia). `proviso gia cegar` supports external components.
    #[arg(long, help_heading = "Cooperation", conflicts_with_all = ["cc_wit", "trust_gia", "cache", "range", "ranged", "resume", "save_condition", "then", "external"])]
    pub cc_gia: bool,
    /// Verifies by component CEGAR with verification witnesses instead of GIAs (CC-Wit), for comparison.
    #[arg(long, help_heading = "Cooperation", conflicts_with_all = ["gia", "save_gia", "cache", "range", "ranged", "resume", "save_condition", "then", "external"])]
    pub cc_wit: bool,
}

/// The options of a component of CEGAR: the program, the time limit, and the output.
#[derive(Args, Debug)]
pub struct GiaComponent {
    #[command(flatten)]
    pub subject: GiaSubject,
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<std::time::Duration>,
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The program of a GIA.
#[derive(Args, Debug)]
pub struct GiaSubject {
    /// The program: C files, bitcode, or one task definition.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub input: InputArgs,
    /// The property, as for `verify`. Its errors are the targets.
    #[arg(long, value_name = "FILE|NAME")]
    pub property: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum GiaFormat {
    Text,
    Dot,
    Json,
    Html,
}

/// The options of `proviso reduce`.
#[derive(Args, Debug)]
pub struct ReduceArgs {
    /// C files (.c, .i), LLVM bitcode (.bc, .ll), or one task definition (.yml).
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,
    /// The property, as for `verify` [default: the task's, else unreach-call]. A condition belongs to a program with
    /// the errors of this property.
    #[arg(long, value_name = "FILE|NAME")]
    pub property: Option<String>,
    /// A condition. Removes the paths that it covers [default: none].
    #[arg(long, value_name = "COND")]
    pub condition: Option<PathBuf>,
    /// A GIA. Removes the paths that --take selects, and if there are candidates, all paths that are not candidates.
    #[arg(long, value_name = "GIA", conflicts_with = "condition")]
    pub gia: Option<PathBuf>,
    /// The paths of the GIA to remove: those that reach no target (ut), or those that reach one (rt).
    #[arg(long, value_name = "WHICH", default_value = "ut", requires = "gia")]
    pub take: TakeArg,
    /// The reducer, which folds the residual program.
    #[arg(long, value_name = "NAME", default_value = "parcomp")]
    pub reducer: String,
    /// The output file: C, LLVM bitcode or textual IR by its extension, else the automata as text; `-` for C on
    /// standard output.
    #[arg(short, long, value_name = "OUT.c|OUT.bc|OUT.ll")]
    pub output: Option<PathBuf>,
    /// Writes C without `#line` directives, which refer to the original source.
    #[arg(long)]
    pub no_line: bool,
    /// Draws the shape of the residual program: the number of locations at each distance from its start.
    #[arg(long)]
    pub shape: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum TakeArg {
    Ut,
    Rt,
}

pub const INSTRUMENT_EXAMPLES: &str = "\
Examples:
  proviso instrument prog.c --check signed-integer-overflow,shift -o checked.c
  proviso instrument prog.c --property no-overflow -o checked.bc
  proviso instrument bank.c --sequentialise=3 -o sequential.c && proviso verify sequential.c";

/// The options of `proviso instrument`.
#[derive(Args, Debug)]
pub struct InstrumentArgs {
    /// C files (.c, .i), LLVM bitcode (.bc, .ll), or one task definition (.yml).
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,
    /// The checks, as for `verify`, except `memory`. For `address` and `leak`, the written program has a table of its
    /// objects.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', conflicts_with = "property")]
    pub check: Vec<String>,
    /// A property instead of checks, as for `verify`.
    #[arg(long, value_name = "FILE|NAME")]
    pub property: Option<String>,
    /// An automaton instead of checks, as for `verify`.
    #[arg(long, value_name = "FILE|NAME", conflicts_with_all = ["check", "property"])]
    pub automaton: Option<String>,
    /// Every allocation of memory may fail, depending on an input (`__VERIFIER_nondet_bool`).
    #[arg(long)]
    pub malloc_may_fail: bool,
    /// Replaces threads by their interleavings in which each runs at most ROUNDS times [default: 2].
    ///
    /// The written program has no threads, so that tools for sequential programs can verify it. Each of its violations
    /// is a violation of the program. A proof covers only the interleavings within the bounds, which the command reports.
    /// Memory safety, data races and deadlocks cannot be checked.
    #[arg(long, value_name = "ROUNDS", num_args = 0..=1, require_equals = true, default_missing_value = "2",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub sequentialise: Option<u32>,
    /// The output file: C, LLVM bitcode or textual IR by its extension; `-` for C on standard output.
    #[arg(short, long, value_name = "OUT.c|OUT.bc|OUT.ll")]
    pub output: Option<PathBuf>,
    /// Writes C without `#line` directives, which refer to the original source.
    #[arg(long)]
    pub no_line: bool,
}
