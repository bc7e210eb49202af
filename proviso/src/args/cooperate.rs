//! The command line of residual programs and of what analyses give each other.

use super::{InputArgs, seconds};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

pub const REDUCE_EXAMPLES: &str = "\
Examples:
  proviso reduce loop.c -o same.c                              the whole program, as C
  proviso verify --property unreach-call --timeout 10 --save-condition done loop.c
                                                               as far as it comes in ten seconds
  proviso reduce loop.c --condition done --reducer lh -o r.c   what is left, for other tools

Reducers (Beyer, Jakobs: FRed, SEFM 2020):
  parcomp    the product of program and condition, nothing folded; sep is another name
  cfa        each location once: the parts of the program that were not wholly explored
  lh         each loop head once
  lhc        as lh, but loops that are entered on different ways stay apart
  lhb, lhbc  as lh and lhc, but only after ten iterations; lhb=N for others
  nlh        iterations of loops stay apart, branches are joined";

/// The options of `proviso gia`.
#[derive(Args, Debug)]
pub struct GiaArgs {
    #[command(subcommand)]
    pub command: GiaCommand,
}

#[derive(Subcommand, Debug)]
pub enum GiaCommand {
    /// Writes one that says nothing, to start from.
    New {
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Checks that what it says is so: paths to rt are replayed, that those to ut reach no target is proved.
    ///
    /// The last line is CORRECT, WRONG or UNKNOWN, after what stands in the way.
    Check {
        gia: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        /// Seconds for the proof [default: 60].
        #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
        timeout: Option<std::time::Duration>,
    },
    /// Prints it as text, as a picture for Graphviz (ut green, rt blue, cand yellow), as JSON, or over the source.
    ///
    /// `--format html` is a page with the source: lines are green if all paths through them are ut, red on a path that is rt, yellow on
    /// one that is cand, else grey.
    Show {
        gia: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FORMAT", default_value = "text")]
        format: GiaFormat,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Makes one of two that says what both say.
    Combine {
        first: PathBuf,
        second: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// The model explorer of component CEGAR: with the conditions of a GIA as precision, everything ut or one candidate.
    Explore {
        #[command(flatten)]
        component: GiaComponent,
        /// The precision [default: none].
        #[arg(long, value_name = "GIA")]
        precision: Option<PathBuf>,
    },
    /// The feasibility checker of component CEGAR: a candidate that can be run becomes rt, with its inputs; others stay candidates.
    CheckFeasibility {
        gia: PathBuf,
        #[command(flatten)]
        component: GiaComponent,
    },
    /// The precision refiner of component CEGAR: the infeasible candidate becomes ut, with the conditions that refute it.
    Refine {
        gia: PathBuf,
        #[command(flatten)]
        component: GiaComponent,
    },
    /// Component CEGAR (CC-Gia): explorer, checker and refiner in turn, until everything is ut, or a path is rt.
    ///
    /// Each component may be a command of the shell: it finds an automaton in the file $GIA and writes one to $OUT. The last line is
    /// TRUE, FALSE or UNKNOWN; FALSE is said of a path that was run, TRUE when the explorer says that everything is ut.
    Cegar {
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(long, value_name = "COMMAND")]
        explorer: Option<String>,
        #[arg(long, value_name = "COMMAND")]
        checker: Option<String>,
        #[arg(long, value_name = "COMMAND")]
        refiner: Option<String>,
        /// Exchanges witnesses instead (CC-Wit).
        #[arg(long)]
        witnesses: bool,
        /// Writes what each component gave in each iteration, as N-NAME.gia.
        #[arg(long, value_name = "FOLDER")]
        keep: Option<PathBuf>,
        #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
        timeout: Option<std::time::Duration>,
    },
    /// Makes one of a witness (format 2): a violation is a candidate, invariants are conditions on the way to ut.
    FromWitness {
        #[arg(id = "evidence", value_name = "WITNESS")]
        witness: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Makes a witness of one: its path to rt or its candidate as a violation, else its conditions at loops as invariants.
    ToWitness {
        gia: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Makes one of tests (Test-Comp's format, KLEE's .ktest, an AFL queue): each is run, and those that reach an error are rt.
    FromTests {
        /// Folder or file.
        tests: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Writes its paths to rt as a test suite in Test-Comp's format.
    ToTests {
        gia: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        /// The folder of the suite.
        #[arg(short, long, value_name = "FOLDER")]
        output: PathBuf,
    },
    /// Makes one of a condition: what it covers is ut.
    FromCondition {
        condition: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Makes a condition of one: it covers what is ut.
    ToCondition {
        gia: PathBuf,
        #[command(flatten)]
        subject: GiaSubject,
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// What is known of paths, in a run.
#[derive(Args, Clone, Default, Debug)]
pub struct KnowledgeArgs {
    /// Starts from what a GIA says (see `proviso gia`), whoever wrote it. Paths to errors are run, candidates are followed, and its
    /// conditions are tried for a proof; nothing else of it is believed.
    #[arg(long, value_name = "FILE", help_heading = "Cooperation", conflicts_with_all = ["cache", "range", "ranged", "resume"])]
    pub gia: Option<PathBuf>,
    /// Takes paths that the GIA says reach no error to be verified.
    #[arg(long, help_heading = "Cooperation", requires = "gia")]
    pub trust_gia: bool,
    /// Writes what is known at the end, also at a limit or Ctrl-C, as a GIA: paths that reach no error, one that does, paths that
    /// could not be decided, invariants.
    #[arg(long, value_name = "FILE", help_heading = "Cooperation", conflicts_with_all = ["cache", "range", "ranged"])]
    pub save_gia: Option<PathBuf>,
    /// Verifies by component CEGAR: a model explorer, a feasibility checker and a precision refiner that give each other nothing but
    /// GIAs (CC-Gia). `proviso gia cegar` does it with components of others.
    #[arg(long, help_heading = "Cooperation", conflicts_with_all = ["cc_wit", "trust_gia", "cache", "range", "ranged", "resume", "save_condition", "then", "external"])]
    pub cc_gia: bool,
    /// The same with verification witnesses as what is exchanged (CC-Wit), to see what they lose.
    #[arg(long, help_heading = "Cooperation", conflicts_with_all = ["gia", "save_gia", "cache", "range", "ranged", "resume", "save_condition", "then", "external"])]
    pub cc_wit: bool,
}

/// A component of CEGAR: the program, how long it may take, and where what it finds goes.
#[derive(Args, Debug)]
pub struct GiaComponent {
    #[command(flatten)]
    pub subject: GiaSubject,
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<std::time::Duration>,
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The program that a GIA speaks of.
#[derive(Args, Debug)]
pub struct GiaSubject {
    /// The program: C files, bitcode, or one task definition.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub input: InputArgs,
    /// What was to be verified, as for `verify`: its errors are the targets.
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
    /// What was to be verified, as for `verify` [default: the task's, else unreach-call]: a condition is one of a program with
    /// its errors.
    #[arg(long, value_name = "FILE|NAME")]
    pub property: Option<String>,
    /// The paths to take away [default: none].
    #[arg(long, value_name = "COND")]
    pub condition: Option<PathBuf>,
    /// What is known of its paths: those that are --take are taken away, and if there are candidates, all that are none.
    #[arg(long, value_name = "GIA", conflicts_with = "condition")]
    pub gia: Option<PathBuf>,
    /// The paths to take away: that reach no target (ut), or that reach one (rt).
    #[arg(long, value_name = "WHICH", default_value = "ut", requires = "gia")]
    pub take: TakeArg,
    /// How the rest is folded.
    #[arg(long, value_name = "NAME", default_value = "parcomp")]
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

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum TakeArg {
    Ut,
    Rt,
}

pub const INSTRUMENT_EXAMPLES: &str = "\
Examples:
  proviso instrument prog.c --check signed-integer-overflow,shift -o checked.c
  proviso instrument prog.c --property no-overflow -o checked.bc";

/// The options of `proviso instrument`.
#[derive(Args, Debug)]
pub struct InstrumentArgs {
    /// C files (.c, .i), LLVM bitcode (.bc, .ll), or one task definition (.yml).
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,
    /// The checks, as for `verify`: all but `memory`. For `address` and `leak` the program gets a table of its objects.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', conflicts_with = "property")]
    pub check: Vec<String>,
    /// A property instead, as for `verify`.
    #[arg(long, value_name = "FILE|NAME")]
    pub property: Option<String>,
    /// An automaton instead, as for `verify`.
    #[arg(long, value_name = "FILE|NAME", conflicts_with_all = ["check", "property"])]
    pub automaton: Option<String>,
    /// Any allocation of memory may fail, as the input says (`__VERIFIER_nondet_bool`).
    #[arg(long)]
    pub malloc_may_fail: bool,
    /// Where to write it: C, LLVM bitcode or textual IR by its ending; `-` is standard output, as C.
    #[arg(short, long, value_name = "OUT.c|OUT.bc|OUT.ll")]
    pub output: Option<PathBuf>,
    /// C without `#line`, which says where in the source a statement comes from.
    #[arg(long)]
    pub no_line: bool,
}
