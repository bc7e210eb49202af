//! The command line.

mod choices;
mod compiler_options;
mod cooperate;
mod dependence;
mod testing;

pub use choices::*;
pub use compiler_options::with_compiler_options;
pub use cooperate::*;
pub use dependence::*;
pub use testing::*;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use driver::failure::Failure;
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
    /// call may give any value of its type. Proviso looks for inputs with which an assertion fails or an error
    /// function (`reach_error` by default) is called, memory is used that is not valid, or something is done
    /// that C leaves undefined (--check and --property ask for other things), and says
    ///
    ///   TRUE                   no inputs do
    ///   FALSE(unreach-call)    the inputs shown do; what is violated
    ///   UNKNOWN(reason)        neither was shown; the reason says what stood in the way
    ///
    /// as the last line of standard output.
    #[command(after_long_help = EXAMPLES, verbatim_doc_comment)]
    Verify(Box<VerifyArgs>),
    /// Checks a witness of a verdict, ours or another tool's (SV-COMP's format 2).
    ///
    /// A witness of a violation restricts the search to the executions that pass its waypoints; a witness of correctness has
    /// its invariants checked, and they help in the proof. The last line is
    ///
    ///   TRUE                   the program is correct, and the invariants of the witness hold
    ///   FALSE(unreach-call)    an execution that follows the witness violates the property
    ///   UNKNOWN(reason)        neither was shown: an invariant that does not hold is named
    #[command(verbatim_doc_comment)]
    Validate(Box<ValidateArgs>),
    /// Makes tests that cover a program's branches, or call its error function.
    ///
    /// The suite is a folder in the format of Test-Comp: each test lists what `__VERIFIER_nondet_int()` and the like give, in
    /// order. Each was run before it is written; goals that no execution can cover are proved to be unreachable.
    #[command(after_long_help = TESTGEN_EXAMPLES)]
    Testgen(Box<TestgenArgs>),
    /// Finds inputs at which to divide the paths of a program into ranges.
    ///
    /// Paths are ordered by their branches, those that are true first. A test case stands for the path that it takes, and divides
    /// the others into those before and those after: `proviso verify --range -,TEST.xml` and `--range TEST.xml,-`. The test
    /// cases are those of Test-Comp's tools.
    #[command(after_long_help = SPLIT_EXAMPLES)]
    Split(Box<SplitArgs>),
    /// Removes from a program what a place in it does not depend on.
    ///
    /// What is kept behaves at the criterion as the whole program does: for the same inputs it comes there as often,
    /// in the same order, with the same values. What is removed is taken to terminate and to do nothing undefined.
    #[command(after_long_help = SLICE_EXAMPLES)]
    Slice(Box<SliceArgs>),
    /// Says why a line is in a slice: the chain of dependences from the criterion to it.
    #[command(after_long_help = DEPS_EXAMPLES)]
    Deps(Box<DepsArgs>),
    /// The project's compiler, which leaves in objects how they were compiled.
    ///
    /// A project that is built with it (`make CC="proviso cc"`, `./configure CC="proviso cc"`; for CMake a link named proviso-cc to
    /// the command, CC=proviso-cc) is built as before. Its objects, archives and programs can then be verified: `proviso verify ./program`
    /// takes all C files in it, each as the project compiles it. The compiler that is run is cc, or what PROVISO_CC names.
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Cc {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMPILER-OPTION")]
        args: Vec<std::ffi::OsString>,
    },
    /// Prints completions of the command line for a shell.
    ///
    /// For bash: `proviso completions bash > ~/.local/share/bash-completion/completions/proviso`
    Completions { shell: clap_complete::Shell },
    /// Prints the manual page: `proviso man | man -l -`.
    Man,
    /// Prints a program as the control-flow automata that Proviso works on.
    Cfa(Box<CfaArgs>),
    /// Writes the program with its checks for other tools: where one fails, reach_error is called.
    #[command(after_long_help = INSTRUMENT_EXAMPLES)]
    Instrument(Box<InstrumentArgs>),
    /// Writes what is left of a program when the paths of a condition are taken away, as C, bitcode or automata.
    ///
    /// The residual program is a program like any other: compilers, verifiers and testers take it. Its executions are among those of
    /// the program, and all that the condition does not cover are there.
    ///
    /// Whatever the property, C and bitcode call reach_error where the program has an error, so a residual program of no-overflow is asked
    /// with --property unreach-call. Of memory safety and termination they have no errors, which a warning says: tools have to look themselves.
    #[command(after_long_help = REDUCE_EXAMPLES)]
    Reduce(Box<ReduceArgs>),
    /// Works on what analyses know of the paths of a program: generalized information exchange automata (docs/guide/gia.md).
    Gia(Box<GiaArgs>),
}

/// How to compile the program.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    /// Sizes of C types [default: the task's, those of bitcode, else LP64].
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
    /// Compiles files as the project does: a folder with compile_commands.json, or such a file.
    ///
    /// Files are named as they lie or by the end of their path. CMake writes it with
    /// -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; `bear -- make` does for other builds.
    #[arg(short = 'p', long = "build", value_name = "DIR", help_heading = "Compiling")]
    pub build: Option<PathBuf>,
    /// Options for clang. Most (-include, -U, -f…, -m…, -O2) need no dashes before them. Options that say nothing of the meaning of a program
    /// (warnings, debug information, outputs) have no effect.
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
#[derive(Args, Clone, Debug)]
#[command(args_override_self = true)]
pub struct VerifyArgs {
    /// C files (.c, .i), LLVM bitcode (.bc, .ll), objects, archives and programs built with `proviso cc` or with embedded
    /// bitcode, `-` for standard input, or one task definition (.yml).
    ///
    /// Several files are linked into one program. A task definition (SV-COMP format 2.0) names the
    /// files, the property and the data model.
    #[arg(required_unless_present = "list_analyses", value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,

    /// What to verify: a property file (.prp), or a property's name; may be given several times [default: the task's, else what
    /// --check asks without a name].
    ///
    ///   unreach-call      no error function is called
    ///   no-overflow       signed arithmetic, shifts to the left included, gives no result that does not fit its type
    ///   valid-deref       memory is accessed only within objects that are alive
    ///   valid-free        only objects of the heap that are alive are freed
    ///   valid-memtrack    to each object of the heap some variable leads, until it is freed
    ///   valid-memsafety   these three
    ///   valid-memcleanup  all objects of the heap are freed when the program ends
    ///   termination       every execution ends
    ///   no-data-race      something orders the accesses of threads to what they share
    #[arg(verbatim_doc_comment)]
    #[arg(long, value_name = "FILE|NAME", help_heading = "Property")]
    pub property: Vec<String>,
    /// An automaton that watches the calls of the program; its error must not be reached. May be given several times.
    ///
    /// A file (docs/guide/automata.md has the format), or the name of one of those that come with Proviso:
    ///
    ///   mutex      pthread mutexes: locked and unlocked in turn, not used after they are destroyed
    ///   file       streams of stdio.h: closed once, not used after that
    ///   heap       malloc and free in pairs
    ///   spinlock   spin locks as Linux has them, with saved interrupt flags
    #[arg(verbatim_doc_comment)]
    #[arg(long, value_name = "FILE|NAME", conflicts_with = "check", help_heading = "Property")]
    pub automaton: Vec<String>,
    /// What to check, by the names of clang's sanitizers [default: unreach-call,address,undefined].
    ///
    /// Each check has a result of its own, and one violation does not hide the others: a check is proved if no execution violates
    /// it that has not done something forbidden before.
    ///
    ///   unreach-call                assertions hold, and no error function is called (also: assertions)
    ///   address                     accesses stay within live objects, and only such of the heap are freed
    ///   memory                      what is not initialised is copied at most: no branch, address or divisor depends on it
    ///   leak                        to each object of the heap a pointer leads until it is freed
    ///   signed-integer-overflow     signed arithmetic fits its type
    ///   unsigned-integer-overflow   unsigned arithmetic does not wrap around
    ///   shift                       shifts are by fewer bits than the type has, and lose none of signed integers
    ///   integer-divide-by-zero, float-divide-by-zero, float-cast-overflow, implicit-conversion, bounds, null, alignment,
    ///   nonnull-attribute, returns-nonnull-attribute, pointer-overflow, unreachable, return, vla-bound, bool, enum, builtin
    ///   pointer-compare, pointer-subtract   pointers that are ordered or subtracted lead into one object
    ///   thread                      something orders the accesses of threads to what they share
    ///   deadlock                    some thread can go on until the program ends
    ///   undefined                   all that clang's group of this name has
    ///   all                         all of these
    ///   default                     unreach-call, address and undefined
    #[arg(verbatim_doc_comment)]
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        conflicts_with = "property",
        help_heading = "Property"
    )]
    pub check: Vec<String>,
    /// A function whose call is the error; may be given several times.
    ///
    /// Without it these are the functions that the property file names and their aliases (reach_error and
    /// __VERIFIER_error are aliases); without a property file also __assert_fail and the other functions that a
    /// failed `assert` or `assert_perror` calls.
    #[arg(long, value_name = "FUNCTION", help_heading = "Property")]
    pub error_function: Vec<String>,
    /// The function that execution starts with [default: the property file's, else main].
    ///
    /// Its arguments are arbitrary, unless it is main: pointers lead to objects that come into being when the program
    /// looks at them, filled with any values.
    #[arg(long, value_name = "FUNCTION", help_heading = "Property")]
    pub entry: Option<String>,
    /// Where the pointers lead that the function of --entry is given, or finds in what it is given.
    #[arg(long, value_name = "HOW", default_value = "valid", help_heading = "Property")]
    pub entry_pointers: PointersArg,
    /// Elements of each array that such a pointer leads to [default: one struct, union or pointer, any number of others].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=65536), help_heading = "Property")]
    pub entry_array_length: Option<u64>,
    /// Such pointers are null where so many lead there from the arguments [default: no bound].
    #[arg(long, value_name = "NUMBER", help_heading = "Property")]
    pub entry_depth: Option<u32>,
    /// Global variables have any values when the function of --entry is called, not their initial ones.
    #[arg(long, help_heading = "Property")]
    pub entry_globals: bool,
    /// What functions do that nobody defines, those that arguments of --entry lead to among them: all of them, or a C file with stubs for some.
    ///
    ///   unknown      anything: there is no verdict where it matters
    ///   fail         calling one is an error
    ///   any-value    each call returns any value, and does nothing else
    ///   any-effect   each call returns any value, and may overwrite what its arguments point to, and global variables
    #[arg(verbatim_doc_comment)]
    #[arg(long, value_name = "HOW|FILE", default_value = "unknown", help_heading = "Property")]
    pub undefined_functions: String,
    /// Any allocation of memory may fail (return a null pointer), not only one of more than any machine has. Without this option
    /// `malloc` and the like succeed.
    #[arg(long, help_heading = "Property")]
    pub malloc_may_fail: bool,
    /// The program may be started without any argument, not even its name, as Linux allowed before version 5.18.
    #[arg(long, help_heading = "Property")]
    pub argc_may_be_zero: bool,
    /// A function whose body is taken away; may be given several times.
    ///
    /// If the library or another file defines it as well, that definition counts (of several files, the last one's);
    /// else it is a function that nobody defines. Static functions go by the names that goto-cc gives them:
    /// __CPROVER_file_local_FILE_c_NAME.
    #[arg(long, value_name = "FUNCTION", help_heading = "Property")]
    pub remove_function_body: Vec<String>,

    /// Stop at the first finding.
    #[arg(long, help_heading = "Limits")]
    pub first: bool,
    /// Stop after this many seconds of wall time with UNKNOWN [default: 120 where neither --property nor --check nor --automaton is given].
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits")]
    pub timeout: Option<std::time::Duration>,
    /// Stop after this many seconds of processor time with UNKNOWN, however busy the machine is.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits")]
    pub cpu_limit: Option<std::time::Duration>,
    /// Stop with UNKNOWN before more memory is used [default: 4/5 of the machine's].
    #[arg(short, long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub memory_limit: Option<u64>,

    /// A folder of verdicts: a program that was verified before, asked the same, is not analysed again.
    ///
    /// Programs are told apart by their bitcode, debug information included. Proofs and violations are kept, not UNKNOWN. Several runs may use it at once; a
    /// file in it that was not modified lately was not used lately, and can be deleted.
    #[arg(long, value_name = "FOLDER", help_heading = "Limits")]
    pub cache: Option<PathBuf>,

    /// How to analyse; see --list-analyses.
    #[arg(long, value_name = "NAME", default_value = "default", help_heading = "Analysis")]
    pub analysis: String,
    /// Lists the analyses and exits.
    #[arg(long, help_heading = "Analysis")]
    pub list_analyses: bool,
    /// Looks only at the paths between two test cases; `-` for no bound.
    ///
    /// Paths are ordered by their branches, those that are true first; a test case (Test-Comp's format) is the path that it takes, or
    /// the first of those that it may take. Both bounds belong to the range. A violation is one of the program; a
    /// proof is not: the verdict is UNKNOWN, and the exit code 3.
    #[arg(long, value_name = "LOWER.xml,UPPER.xml", allow_hyphen_values = true, help_heading = "Cooperation", conflicts_with_all = ["ranged", "resume", "then", "cache"])]
    pub range: Option<String>,
    /// Divides the paths into ranges, each for an analysis, which run at the same time.
    ///
    /// Splitters are those of `proviso split`; one of them stands for as many bounds as are needed. The compositions of
    /// Haltermann, Jakobs, Richter, Wehrheim (FASE 2023) go by their names: Ra-2Se-Lb3, Ra-3Se-Lb, Ra-2bmc-Rdm9, Ra-Se-Pred-Lb10.
    #[arg(long, value_name = "SPLITTER: ANALYSIS | ANALYSIS", help_heading = "Cooperation", conflicts_with_all = ["resume", "then"])]
    pub ranged: Option<String>,
    /// Writes which paths have been verified when the analysis ends without a verdict, also at a limit or Ctrl-C: as a condition
    /// for --resume and `proviso reduce`, or as a picture (.dot).
    #[arg(long, value_name = "FILE", help_heading = "Cooperation", conflicts_with = "cache")]
    pub save_condition: Option<PathBuf>,
    /// Looks only at the paths that a condition does not cover: those that it covers are taken to be verified.
    #[arg(long, value_name = "FILE", help_heading = "Cooperation", conflicts_with = "cache")]
    pub resume: Option<PathBuf>,
    /// A second analysis, for the paths that the first one (--analysis) has not verified in its time (--first-for); 'lhb: predicate' also
    /// names a reducer.
    #[arg(long, value_name = "[REDUCER:] NAME", help_heading = "Cooperation", conflicts_with = "cache")]
    pub then: Option<String>,
    /// A tool of others in place of a second analysis: esbmc, klee, or a file that describes one (.toml; docs/guide/sharing-work.md).
    ///
    /// It is given C or bitcode of the paths that are left. A violation that it finds is replayed on the program before it is
    /// said; a proof rests on the tool, and the report says so.
    #[arg(long, value_name = "NAME|FILE.toml", help_heading = "Cooperation", conflicts_with_all = ["cache", "then", "range", "ranged"])]
    pub external: Option<String>,
    /// How long the first analysis may take [default: half of --timeout or --cpu-limit, the shorter one, else 10 s], of processor time where
    /// there is a --cpu-limit and one job; 0 leaves all to the second.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Cooperation")]
    pub first_for: Option<std::time::Duration>,
    /// What makes a program of the paths that are left, for --then, --resume and --external; `proviso reduce --help` lists
    /// them [default: parcomp].
    #[arg(long, value_name = "NAME", help_heading = "Cooperation")]
    pub reducer: Option<String>,
    #[command(flatten)]
    pub knowledge: KnowledgeArgs,
    /// The order in which paths are explored.
    #[arg(long, value_name = "ORDER", default_value = "mixed", help_heading = "Analysis")]
    pub search: SearchArg,
    /// Threads among which the analyses that take turns are divided.
    #[arg(short, long, value_name = "NUMBER", default_value_t = 1, help_heading = "Analysis")]
    pub jobs: usize,
    /// Which solver answers; `both` asks two and compares.
    #[arg(long, value_name = "SOLVER", default_value = "portfolio", help_heading = "Analysis")]
    pub solver: SolverArg,
    /// Writes every query to the solver as SMT-LIB into a folder.
    #[arg(long, value_name = "FOLDER", help_heading = "Analysis")]
    pub dump_queries: Option<PathBuf>,
    /// Where a refinement makes the analysis track what it found missing; everywhere in any case once that leads no further.
    #[arg(long, value_name = "WHERE", default_value = "scope", help_heading = "Analysis")]
    pub precision: PrecisionArg,
    /// Whether a state is dropped that an earlier one stands for.
    #[arg(long, value_name = "HOW", default_value = "on", help_heading = "Analysis")]
    pub covering: CoveringArg,
    /// Values of a variable at one loop before the value analysis tracks it no more; 0 for no limit.
    #[arg(long, value_name = "NUMBER", default_value_t = 500, help_heading = "Analysis")]
    pub value_threshold: usize,
    /// Where predicate analyses abstract: what lies between is one block.
    #[arg(long, value_name = "WHERE", default_value = "loops", help_heading = "Analysis")]
    pub blocks: BlocksArg,
    /// What predicate analyses keep of predicates that may hold or not.
    #[arg(long, value_name = "HOW", default_value = "boolean", help_heading = "Analysis")]
    pub predicates: PredicatesArg,
    /// Whether what the errors do not depend on is removed first.
    #[arg(long, value_name = "HOW", default_value = "static", help_heading = "Analysis")]
    pub slicing: SlicingArg,
    /// Seeds every random choice; the same seed gives the same run.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, help_heading = "Analysis")]
    pub seed: u64,
    /// Lets an analysis panic, to test what becomes of the others.
    #[arg(long, value_name = "NAME", hide = true)]
    pub fault: Vec<String>,

    /// How much of the way to the error is shown.
    #[arg(long, value_name = "HOW", default_value = "short", help_heading = "Output")]
    pub trace: TraceArg,
    /// Writes a C file that, compiled with the program, makes it take the way to the error.
    #[arg(long, value_name = "OUT.c", help_heading = "Output")]
    pub harness: Option<PathBuf>,
    /// Writes a witness of the verdict for other tools to check (SV-COMP's format 2.0): of FALSE the inputs and the error, of
    /// TRUE the invariants of loops.
    #[arg(long, value_name = "OUT.yml", help_heading = "Output")]
    pub witness: Option<PathBuf>,
    /// Writes the same witness as GraphML (format 1.0), for tools that read nothing newer.
    #[arg(long, value_name = "OUT.graphml", help_heading = "Output")]
    pub graphml: Option<PathBuf>,
    /// Writes the result as JSON; `-` is standard output, before the verdict line.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Writes the result as SARIF 2.1.0, for code hosts and editors; `-` is standard output.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub sarif: Option<PathBuf>,
    /// Writes everything as one HTML page: the source with what was found, the counterexample step by step, invariants,
    /// control flow, statistics.
    #[arg(long, value_name = "OUT.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// How findings are printed.
    #[arg(long, value_name = "HOW", default_value = "human", help_heading = "Output")]
    pub message_format: MessageFormat,
    /// Says what each refinement learned, in terms of the C program.
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
    /// Draws the states reached, a pixel each, as SVG or PNG: a row per step from the start; covered states are green,
    /// errors red.
    #[arg(long, value_name = "OUT.svg|OUT.png", help_heading = "Output")]
    pub pixel_tree: Option<PathBuf>,
    /// Prints counters and times.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// Says what is going on.
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,
    /// Prints the verdict and nothing else: no findings, table, warnings or notes. Files are written as without it.
    #[arg(short, long, conflicts_with_all = ["verbose", "explain", "stats"], help_heading = "Output")]
    pub quiet: bool,
}

/// The options of `proviso validate`.
#[derive(Args, Debug)]
pub struct ValidateArgs {
    /// The witness: YAML of format 2, or GraphML of format 1.0, whatever the file is called.
    #[arg(id = "evidence", value_name = "WITNESS")]
    pub witness: PathBuf,
    #[command(flatten)]
    pub verify: VerifyArgs,
}

impl VerifyArgs {
    /// The files that are to be written, by option.
    pub fn outputs(&self) -> [(&'static str, Option<&PathBuf>); 9] {
        [
            ("--harness", self.harness.as_ref()),
            ("--witness", self.witness.as_ref()),
            ("--graphml", self.graphml.as_ref()),
            ("--json", self.json.as_ref()),
            ("--sarif", self.sarif.as_ref()),
            ("--report", self.report.as_ref()),
            ("--pixel-tree", self.pixel_tree.as_ref()),
            ("--save-condition", self.save_condition.as_ref()),
            ("--save-gia", self.knowledge.save_gia.as_ref()),
        ]
    }

    /// Of a command that writes no others than these.
    pub fn writes_only(&self, written: &[&str]) -> Result<(), Failure> {
        match self.outputs().into_iter().find(|(option, path)| path.is_some() && !written.contains(option)) {
            Some((option, _)) => Err(Failure::usage(format!("{option} is for `proviso verify`"))),
            None => Ok(()),
        }
    }

    /// The same for a second look at what was proved, which takes so long at most and writes nothing.
    pub fn for_confirming(&self, timeout: std::time::Duration) -> Self {
        Self {
            timeout: Some(timeout),
            harness: None,
            witness: None,
            graphml: None,
            json: None,
            sarif: None,
            report: None,
            pixel_tree: None,
            verbose: false,
            quiet: true,
            ..self.clone()
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  proviso verify prog.c                                assertions, memory safety, undefined behaviour
  proviso verify --check address,leak prog.c           only these, by the names of clang's sanitizers
  proviso verify --property unreach-call prog.c        only reach_error, __assert_fail as errors
  proviso verify --timeout 60 --harness bug.c prog.c   then: clang prog.c bug.c && ./a.out
  proviso verify --error-function die a.c b.c -- -Wno-everything -DDEBUG
  proviso verify task.yml --json result.json

Exit status:
  0   TRUE                        64  the command line is wrong
  1   FALSE                       65  the input does not compile or is malformed
  2   UNKNOWN                     66  an input file cannot be read
  3   UNKNOWN, but the range of   69  clang is missing
      --range is proved           70  an internal error of Proviso
                                  73  an output file cannot be written";

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" | "on" | "true" => Ok(true),
        "no" | "off" | "false" => Ok(false),
        _ => Err("expected yes or no".into()),
    }
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
            _ => unreachable!(),
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
    fn the_help_names_every_check() {
        let mut command = Cli::command();
        let verify = command.find_subcommand_mut("verify").unwrap();
        let argument = verify.get_arguments().find(|argument| argument.get_long() == Some("check")).unwrap();
        let help = argument.get_long_help().unwrap().to_string();
        let words: Vec<&str> = help.split([' ', ',', '\n']).collect();
        for asked in instrument::Asked::ALL {
            assert!(words.contains(&asked.name), "{} is missing", asked.name);
        }
    }

    #[test]
    fn the_help_has_every_exit_code() {
        let help = Cli::command().find_subcommand("verify").unwrap().get_after_long_help().unwrap().to_string();
        let (_, codes) = help.split_once("Exit status:").unwrap();
        let numbers: Vec<u8> = codes.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        for code in driver::failure::exit::ALL {
            assert!(numbers.contains(&code), "{code} is missing in {codes}");
        }
    }

    #[test]
    fn timeouts_are_seconds() {
        assert_eq!(verify(&["a.c", "-t", "1.5"]).timeout.unwrap().as_millis(), 1500);
        assert_eq!(verify(&["a.c", "-t", "20s"]).timeout.unwrap().as_secs(), 20);
        assert!(Cli::try_parse_from(["proviso", "verify", "a.c", "-t", "-1"]).is_err());
    }
}
