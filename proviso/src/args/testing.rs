//! The command line of test suites, and of test cases as bounds between paths.

use super::VerifyArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The options of `proviso split`.
#[derive(Args, Debug)]
pub struct SplitArgs {
    /// The splitters that choose the paths, separated by commas: lb3, lb10 (or lb with another number), rdm, rdm9.
    ///
    /// lbN chooses the left-most path with N iterations of each loop, with those of inner loops in each iteration of
    /// the outer ones. rdm takes the true side of each branch with a probability of 50 %, rdm9 with 90 %. --seed
    /// determines the random path.
    #[arg(long, value_name = "SPLITTERS", default_value = "lb3")]
    pub by: String,
    /// The folder for the files bound-1.xml, bound-2.xml, …, in the order of the paths [default: standard output].
    #[arg(short, long, value_name = "FOLDER", help_heading = "Output")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub verify: VerifyArgs,
}

pub const SPLIT_EXAMPLES: &str = "\
Examples:
  proviso split loop.c > three.xml                    a test case with three iterations of the loop
  proviso verify --range -,three.xml loop.c           the paths up to it
  proviso verify --range three.xml,- loop.c           the others: on another machine, by another analysis
  proviso split --by lb3,lb10 -o bounds loop.c        two bounds, for three ranges";

/// The options of `proviso testgen`.
#[derive(Args, Debug)]
pub struct TestgenArgs {
    /// The folder for the suite. The tests of an earlier suite in this folder are deleted.
    #[arg(short, long, value_name = "FOLDER", default_value = "test-suite", help_heading = "Output")]
    pub output: PathBuf,
    /// The coverage criterion of the tests [default: that of the property, else branches].
    #[arg(long, value_name = "WHAT", help_heading = "Property")]
    pub coverage: Option<CoverageArg>,
    /// The form of the tests [default: test-comp if the program calls __VERIFIER_nondet_* functions or --property is
    /// one of Test-Comp, harness with
    /// --entry, else folders].
    #[arg(long, value_name = "FORM", help_heading = "Output")]
    pub format: Option<FormatArg>,
    /// Builds the program with clang, runs it on each test, and reports the coverage that llvm-cov measures.
    ///
    /// Each run is in a temporary folder, without network, and ends after --run-timeout. Without this option, nothing
    /// of the program is run.
    #[arg(long, help_heading = "Output")]
    pub run: bool,
    /// The time limit of each native run, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "5", requires = "run", value_parser = super::seconds, help_heading = "Output")]
    pub run_timeout: std::time::Duration,
    /// Starts the search from the inputs in a folder: the tests of an earlier suite (test-N), or files of bytes, as in the
    /// corpus of a fuzzer.
    ///
    /// A file is used as standard input, and as a file whose path is the only argument. Folders in the folder are read,
    /// too, such as those of AFL++ (default/queue).
    #[arg(long, value_name = "FOLDER")]
    pub seeds: Option<PathBuf>,
    /// Lets a tester and a verifier cooperate: each uses the results of the other.
    ///
    /// They exchange one generalized information exchange automaton (docs/guide/gia.md). Each works on the program
    /// without the paths that are already proved unreachable.
    #[arg(long)]
    pub cotest: bool,
    /// The external tester for --cotest: `afl` (AFL++), `klee`, or a file NAME.toml that describes how to call one
    /// (docs/guide/sharing-work.md).
    ///
    /// The tester runs on the residual program, as C or bitcode. A test that it writes (Test-Comp's XML, .ktest, a file
    /// of bytes) is used if its run in Proviso's interpreter covers an open goal.
    #[arg(long, value_name = "NAME", requires = "cotest")]
    pub tester: Option<String>,
    /// Also writes each test in KLEE's format (testcase-N.ktest), for ktest-tool and libkleeRuntest. Each input is an
    /// object with the name of the function that returns it.
    #[arg(long, help_heading = "Output")]
    pub ktest: bool,
    /// The test that --harness writes: its number in the new suite [default: 1], or a file (testcase-3.xml, a .ktest)
    /// of an existing suite. With a file, no suite is generated.
    #[arg(long, value_name = "N|TEST.xml", requires = "harness", help_heading = "Output")]
    pub test: Option<String>,
    /// Writes the coverage of all tests in lcov's format.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub lcov: Option<PathBuf>,
    #[command(flatten)]
    pub verify: VerifyArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum FormatArg {
    /// A file testcase-N.xml for each test, in the exchange format of Test-Comp.
    TestComp,
    /// A folder test-N for each test: arguments, environment variables, standard input, files, and run.sh, which starts
    /// a program on them.
    Folders,
    /// A file seed-N for each test: its standard input, or else its only file. A corpus for AFL++ and libFuzzer.
    Seeds,
    /// A file harness-N.c for each test, which is compiled with the program.
    Harness,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum CoverageArg {
    /// Every statement.
    Statements,
    /// Both outcomes of every branch. `&&`, `||` and `?:` are branches, too, even if only their value is used.
    Branches,
    /// Branches, and both values of each comparison whose value is computed but not branched on.
    Conditions,
    /// A call of the error function.
    ErrorCall,
}

pub const TESTGEN_EXAMPLES: &str = "\
Examples:
  proviso testgen prog.c -o suite --timeout 30         then: suite/test-1/run.sh ./prog
  proviso testgen prog.c --run                         the lines and branches that the suite covers natively
  proviso testgen prog.c --format seeds -o corpus      then: afl-fuzz -i corpus -o found ./prog
  proviso testgen prog.c --seeds found --run           continues with what AFL++ found
  proviso testgen prog.c --property coverage-branches.prp --lcov covered.info   then: genhtml covered.info
  proviso testgen prog.c --coverage error-call
  proviso testgen prog.c --test test-suite/testcase-3.xml --harness three.c   then: clang prog.c three.c && ./a.out
  proviso testgen prog.c --cotest --tester afl         AFL++ makes the tests, a verifier proves what no test can cover";
