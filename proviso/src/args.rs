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

/// Verifies C programs: proves that no error is reachable, or shows an execution that reaches one.
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
    /// The program starts at main. Its inputs are the results of `__VERIFIER_nondet_int()` and similar
    /// functions: each call may return any value of its type. Proviso searches for inputs that cause a
    /// failed assertion, a call of an error function (`reach_error` by default), an invalid memory
    /// access, or undefined behaviour. The options --check and --property select other properties.
    /// The last line of standard output is the verdict:
    ///
    ///   TRUE                   no inputs violate the property
    ///   FALSE(unreach-call)    the inputs shown violate the property in parentheses
    ///   UNKNOWN(reason)        there is neither a proof nor a violation, for this reason
    #[command(after_long_help = EXAMPLES, verbatim_doc_comment)]
    Verify(Box<VerifyArgs>),
    /// Validates a witness of a verdict, from Proviso or another tool (SV-COMP's format 2).
    ///
    /// A violation witness restricts the search to the executions that pass its waypoints. The
    /// invariants of a correctness witness are checked, and used in the proof. The last line of standard
    /// output is the verdict:
    ///
    ///   TRUE                   the program is correct, and the invariants of the witness hold
    ///   FALSE(unreach-call)    an execution that follows the witness violates the property
    ///   UNKNOWN(reason)        neither was shown; the reason names an invariant that does not hold
    #[command(verbatim_doc_comment)]
    Validate(Box<ValidateArgs>),
    /// Makes tests that cover a program's branches, or call its error function.
    ///
    /// The suite is a folder with one file or folder per test. The form of the tests depends on the source of the
    /// program's inputs: arguments and files, `__VERIFIER_nondet_int()` and similar functions, or the arguments of the
    /// function of --entry. Proviso runs every test before it writes it, and proves that goals which no execution can
    /// cover are unreachable.
    #[command(after_long_help = TESTGEN_EXAMPLES)]
    Testgen(Box<TestgenArgs>),
    /// Finds test cases that divide the paths of a program into ranges.
    ///
    /// Paths are ordered by their branches; the true branch comes first. A test case represents the path that it takes.
    /// It divides the other paths into those before and those after it, for `proviso verify --range -,TEST.xml` and
    /// `--range TEST.xml,-`. Test cases have the format of Test-Comp.
    #[command(after_long_help = SPLIT_EXAMPLES)]
    Split(Box<SplitArgs>),
    /// Removes the parts of a program on which a given place (the criterion) does not depend.
    ///
    /// At the criterion, the slice behaves like the program: for the same inputs, it executes the criterion as often,
    /// in the same order, with the same values. The removed code is assumed to terminate without undefined behaviour.
    #[command(after_long_help = SLICE_EXAMPLES)]
    Slice(Box<SliceArgs>),
    /// Explains why a line is in a slice, by a chain of dependences from the criterion to the line.
    #[command(after_long_help = DEPS_EXAMPLES)]
    Deps(Box<DepsArgs>),
    /// Compiles like the project's compiler, and records in each object how it was compiled.
    ///
    /// Build the project with it: `make CC="proviso cc"`, `./configure CC="proviso cc"`, or, for CMake, CC=proviso-cc
    /// with a link named proviso-cc to the command. The build has the same results as before. Its objects, archives and
    /// programs can then be verified: `proviso verify ./program` verifies all C files of the program, each with the
    /// options of the build. The command runs the compiler cc, or the one in PROVISO_CC.
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
    /// Prints a program as control-flow automata, the representation that Proviso analyses.
    Cfa(Box<CfaArgs>),
    /// Writes the program with its checks, for other tools. A failed check calls reach_error.
    #[command(after_long_help = INSTRUMENT_EXAMPLES)]
    Instrument(Box<InstrumentArgs>),
    /// Writes the residual program: the program without the paths that a condition covers, as C, bitcode or automata.
    ///
    /// The residual program is an ordinary program for compilers, verifiers and testers. It has all executions of the
    /// program that the condition does not cover, and no execution that the program does not have.
    ///
    /// For all properties, the errors of the program are calls of reach_error in C and bitcode. So the residual program
    /// for no-overflow is verified with --property unreach-call. There are no such calls for memory safety and
    /// termination. The command warns of this, and other tools have to check these properties themselves.
    #[command(after_long_help = REDUCE_EXAMPLES)]
    Reduce(Box<ReduceArgs>),
    /// Works with generalized information exchange automata (GIA), in which analyses store results about paths
    /// (docs/guide/gia.md).
    Gia(Box<GiaArgs>),
}

/// The options for the compilation of the program.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    /// Sizes of C types [default: those of the task or the bitcode, else LP64].
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
    /// Compiles files with the options of a project's build: a folder with compile_commands.json, or such a file.
    ///
    /// Files may be named by their path or the end of it. CMake writes compile_commands.json with
    /// -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; `bear -- make` writes it for other builds.
    #[arg(short = 'p', long = "build", value_name = "DIR", help_heading = "Compiling")]
    pub build: Option<PathBuf>,
    /// Options for clang. Most (-include, -U, -f…, -m…, -O2) need no `--` before them. Options that do not affect the
    /// meaning of a program (warnings, debug information, outputs) are ignored.
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
    /// The data model that the options select, if any.
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
    /// C files (.c, .i), LLVM bitcode (.bc, .ll), objects, archives and programs built with `proviso cc` or with
    /// embedded bitcode, `-` for standard input, or one task definition (.yml).
    ///
    /// Several files are linked into one program. A task definition (SV-COMP format 2.0) names the files, the property
    /// and the data model.
    #[arg(required_unless_present = "list_analyses", value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,

    /// The property to verify: a property file (.prp), or a name from the list below. Repeatable
    /// [default: the task's property, else the default checks of --check].
    ///
    ///   unreach-call      no error function is called
    ///   no-overflow       results of signed arithmetic, including left shifts, fit their types
    ///   valid-deref       memory accesses stay within live objects
    ///   valid-free        only live heap objects are freed
    ///   valid-memtrack    every heap object is reachable from a variable until it is freed
    ///   valid-memsafety   valid-deref, valid-free and valid-memtrack
    ///   valid-memcleanup  all heap objects are freed when the program ends
    ///   termination       every execution ends
    ///   no-data-race      conflicting accesses of threads to shared memory are ordered
    #[arg(verbatim_doc_comment)]
    #[arg(long, value_name = "FILE|NAME", help_heading = "Property")]
    pub property: Vec<String>,
    /// An automaton that observes the calls of the program and must not reach its error state.
    /// Repeatable.
    ///
    /// A file in the format of docs/guide/automata.md, or the name of a built-in automaton:
    ///
    ///   mutex      pthread mutexes: locked and unlocked in turn, not used after destruction
    ///   file       streams of stdio.h: closed once, not used after that
    ///   heap       malloc and free in pairs
    ///   spinlock   spin locks of Linux, with saved interrupt flags
    #[arg(verbatim_doc_comment)]
    #[arg(long, value_name = "FILE|NAME", conflicts_with = "check", help_heading = "Property")]
    pub automaton: Vec<String>,
    /// The checks, by the names of clang's sanitizers [default: unreach-call,address,undefined].
    ///
    /// Each check has its own result, and one violation does not hide the others: a check is proved
    /// if no execution violates it before it violates another check. Without this option, thread and
    /// deadlock are also checked if the program starts threads.
    ///
    ///   unreach-call               assertions hold, and no error function is called
    ///                              (also: assertions)
    ///   address                    accesses stay within live objects, and only live heap objects
    ///                              are freed
    ///   memory                     no branch, address or divisor depends on uninitialised memory
    ///   leak                       every heap object is reachable by pointers until it is freed
    ///   signed-integer-overflow    results of signed arithmetic fit their types
    ///   unsigned-integer-overflow  unsigned arithmetic does not wrap around
    ///   shift                      shift amounts are less than the width, and signed shifts lose
    ///                              no bits
    ///   integer-divide-by-zero, float-divide-by-zero, float-cast-overflow, implicit-conversion,
    ///   bounds, null, alignment, nonnull-attribute, returns-nonnull-attribute, pointer-overflow,
    ///   unreachable, return, vla-bound, bool, enum, builtin
    ///   pointer-compare, pointer-subtract
    ///                              pointers that are ordered or subtracted point into one object
    ///   thread                     conflicting accesses of threads to shared memory are ordered
    ///   deadlock                   some thread can continue until the program ends
    ///   undefined                  the checks of clang's group of this name
    ///   all                        all of these
    ///   default                    unreach-call, address and undefined
    #[arg(verbatim_doc_comment)]
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        conflicts_with = "property",
        help_heading = "Property"
    )]
    pub check: Vec<String>,
    /// A function whose call is an error. Repeatable.
    ///
    /// By default, the error functions are those in the property file and their aliases (reach_error and
    /// __VERIFIER_error are aliases). Without a property file, they also include __assert_fail and the other functions
    /// that a failed `assert` or `assert_perror` calls.
    #[arg(long, value_name = "FUNCTION", help_heading = "Property")]
    pub error_function: Vec<String>,
    /// The function at which execution starts [default: that of the property file, else main].
    ///
    /// Unless it is main, its arguments are arbitrary. Pointers point to objects with arbitrary content, which are
    /// created when the program accesses them.
    #[arg(long, value_name = "FUNCTION", help_heading = "Property")]
    pub entry: Option<String>,
    /// Targets of pointers in the arguments of the --entry function, and in the objects to which they point.
    #[arg(long, value_name = "HOW", default_value = "valid", help_heading = "Property")]
    pub entry_pointers: PointersArg,
    /// Number of elements in each array to which such a pointer points [default: one struct, union or pointer; any
    /// number of others].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=65536), help_heading = "Property")]
    pub entry_array_length: Option<u64>,
    /// Number of pointers in a chain from the arguments after which pointers are null [default: no bound].
    #[arg(long, value_name = "NUMBER", help_heading = "Property")]
    pub entry_depth: Option<u32>,
    /// Global variables have arbitrary values when the --entry function is called, instead of their initial values.
    #[arg(long, help_heading = "Property")]
    pub entry_globals: bool,
    /// The behaviour of undefined functions, including targets of function pointers in arguments of
    /// --entry: a word for all of them, or a C file with stubs for some.
    ///
    ///   unknown      arbitrary; the verdict is UNKNOWN if it matters
    ///   fail         a call is an error
    ///   any-value    a call returns an arbitrary value, and does nothing else
    ///   any-effect   a call returns an arbitrary value, and may overwrite global variables and the
    ///                targets of its arguments
    #[arg(verbatim_doc_comment)]
    #[arg(long, value_name = "HOW|FILE", default_value = "unknown", help_heading = "Property")]
    pub undefined_functions: String,
    /// Every allocation of memory may fail and return a null pointer. By default, `malloc` and similar functions fail
    /// only if the size exceeds that of any machine.
    #[arg(long, help_heading = "Property")]
    pub malloc_may_fail: bool,
    /// The program may be started without arguments, not even its name, as Linux allowed before version 5.18.
    #[arg(long, help_heading = "Property")]
    pub argc_may_be_zero: bool,
    /// Removes the body of a function. Repeatable.
    ///
    /// If the library or another file also defines the function, that definition is used (that of the last file, if
    /// there are several). Otherwise the function is undefined. Static functions have the names that goto-cc uses:
    /// __CPROVER_file_local_FILE_c_NAME.
    #[arg(long, value_name = "FUNCTION", help_heading = "Property")]
    pub remove_function_body: Vec<String>,

    /// Stops at the first finding.
    #[arg(long, help_heading = "Limits")]
    pub first: bool,
    /// Stops with UNKNOWN after this many seconds of wall time; 0 for no limit [default: 120, or no limit with
    /// --cpu-limit].
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits")]
    pub timeout: Option<std::time::Duration>,
    /// Stops with UNKNOWN after this many seconds of processor time. Other processes on the machine do not count.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits")]
    pub cpu_limit: Option<std::time::Duration>,
    /// Stops with UNKNOWN before it uses more memory than this [default: 4/5 of the machine's memory].
    #[arg(short, long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub memory_limit: Option<u64>,

    /// A folder of verdicts. A program that was verified before with the same question is not analysed again.
    ///
    /// Programs are identified by their bitcode, including debug information. Proofs and violations of the properties of
    /// --property are stored. UNKNOWN is not, and neither are the results of checks (the default ones, --check). Several
    /// runs may use the folder at once. Files that were not modified recently were not used recently, and can be
    /// deleted.
    #[arg(long, value_name = "FOLDER", help_heading = "Limits")]
    pub cache: Option<PathBuf>,

    /// The analysis; see --list-analyses.
    #[arg(long, value_name = "NAME", default_value = "default", help_heading = "Analysis")]
    pub analysis: String,
    /// Lists the analyses and exits.
    #[arg(long, help_heading = "Analysis")]
    pub list_analyses: bool,
    /// Explores only the paths between two test cases; `-` for no bound.
    ///
    /// Paths are ordered by their branches; the true branch comes first. A test case (Test-Comp's format) represents
    /// the path that it takes, or the first of those that it may take. Both bounds belong to the range. A violation in
    /// the range is a violation of the program. A proof of the range is no proof of the program: the verdict is
    /// UNKNOWN, and the exit code 3.
    #[arg(long, value_name = "LOWER.xml,UPPER.xml", allow_hyphen_values = true, help_heading = "Cooperation", conflicts_with_all = ["ranged", "resume", "then", "cache"])]
    pub range: Option<String>,
    /// Divides the paths into ranges and runs one analysis on each range, in parallel.
    ///
    /// The splitters are those of `proviso split`; a single one computes all bounds. The compositions of Haltermann,
    /// Jakobs, Richter, Wehrheim (FASE 2023) may be given by name: Ra-2Se-Lb3, Ra-3Se-Lb, Ra-2bmc-Rdm9,
    /// Ra-Se-Pred-Lb10.
    #[arg(long, value_name = "SPLITTER: ANALYSIS | ANALYSIS", help_heading = "Cooperation", conflicts_with_all = ["resume", "then"])]
    pub ranged: Option<String>,
    /// Writes the verified paths when the analysis ends without a verdict, also at a limit or Ctrl-C: as a condition
    /// for --resume and `proviso reduce`, or as a drawing (.dot).
    #[arg(long, value_name = "FILE", help_heading = "Cooperation", conflicts_with = "cache")]
    pub save_condition: Option<PathBuf>,
    /// Explores only the paths that a condition does not cover. Those that it covers are assumed to be verified.
    #[arg(long, value_name = "FILE", help_heading = "Cooperation", conflicts_with = "cache")]
    pub resume: Option<PathBuf>,
    /// A second analysis, for the paths that the first one (--analysis) has not verified in its time (--first-for).
    /// `lhb: predicate` also selects a reducer.
    #[arg(long, value_name = "[REDUCER:] NAME", help_heading = "Cooperation", conflicts_with = "cache")]
    pub then: Option<String>,
    /// An external tool instead of a second analysis: esbmc, klee, or a file that describes a tool (.toml;
    /// docs/guide/sharing-work.md).
    ///
    /// The tool gets the residual program as C or bitcode. A violation that it finds is reported only if it can be
    /// replayed on the program. A proof is not checked, and the report states that it relies on the tool.
    #[arg(long, value_name = "NAME|FILE.toml", help_heading = "Cooperation", conflicts_with_all = ["cache", "then", "range", "ranged"])]
    pub external: Option<String>,
    /// Time limit of the first analysis [default: half of the shorter of --timeout and --cpu-limit, else 10 s]. It is
    /// processor time if there is a --cpu-limit and one job. 0 skips the first analysis.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Cooperation")]
    pub first_for: Option<std::time::Duration>,
    /// The reducer that makes the residual program for --then, --resume and --external; `proviso reduce --help` lists
    /// the reducers [default: parcomp].
    #[arg(long, value_name = "NAME", help_heading = "Cooperation")]
    pub reducer: Option<String>,
    #[command(flatten)]
    pub knowledge: KnowledgeArgs,
    /// The order in which paths are explored.
    #[arg(long, value_name = "ORDER", default_value = "mixed", help_heading = "Analysis")]
    pub search: SearchArg,
    /// Number of threads on which the analyses run.
    #[arg(short, long, value_name = "NUMBER", default_value_t = 1, value_parser = positive, help_heading = "Analysis")]
    pub jobs: usize,
    /// The SMT solver; `both` compares the answers of two.
    #[arg(long, value_name = "SOLVER", default_value = "portfolio", help_heading = "Analysis")]
    pub solver: SolverArg,
    /// Writes every query to the solver as SMT-LIB into a folder.
    #[arg(long, value_name = "FOLDER", help_heading = "Analysis")]
    pub dump_queries: Option<PathBuf>,
    /// Locations at which a refinement adds facts to the precision. If that makes no progress, it adds them everywhere.
    #[arg(long, value_name = "WHERE", default_value = "scope", help_heading = "Analysis")]
    pub precision: PrecisionArg,
    /// Drops a state if an earlier one covers it.
    #[arg(long, value_name = "HOW", default_value = "on", help_heading = "Analysis")]
    pub covering: CoveringArg,
    /// Number of values of a variable at one loop after which the value analysis stops tracking it; 0 for no limit.
    #[arg(long, value_name = "NUMBER", default_value_t = 500, help_heading = "Analysis")]
    pub value_threshold: usize,
    /// Locations at which predicate analyses abstract. The code between them is one block.
    #[arg(long, value_name = "WHERE", default_value = "loops", help_heading = "Analysis")]
    pub blocks: BlocksArg,
    /// Information that predicate analyses keep about predicates that are not decided.
    #[arg(long, value_name = "HOW", default_value = "boolean", help_heading = "Analysis")]
    pub predicates: PredicatesArg,
    /// Removes code that cannot affect the errors before the analysis.
    #[arg(long, value_name = "HOW", default_value = "static", help_heading = "Analysis")]
    pub slicing: SlicingArg,
    /// Seed of all random choices. The same seed gives the same run.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, help_heading = "Analysis")]
    pub seed: u64,
    /// Makes an analysis panic, for tests.
    #[arg(long, value_name = "NAME", hide = true)]
    pub fault: Vec<String>,

    /// Level of detail of counterexamples.
    #[arg(long, value_name = "HOW", default_value = "short", help_heading = "Output")]
    pub trace: TraceArg,
    /// Writes a C file that reproduces the violation when it is compiled with the program.
    #[arg(long, value_name = "OUT.c", help_heading = "Output")]
    pub harness: Option<PathBuf>,
    /// Writes a witness of the verdict that other tools can validate (SV-COMP's format 2.0): the inputs and the error
    /// for FALSE, the loop invariants for TRUE.
    #[arg(long, value_name = "OUT.yml", help_heading = "Output")]
    pub witness: Option<PathBuf>,
    /// Writes the same witness as GraphML (format 1.0), for older tools.
    #[arg(long, value_name = "OUT.graphml", help_heading = "Output")]
    pub graphml: Option<PathBuf>,
    /// Writes the result as JSON; `-` for standard output, before the verdict line. With `--quiet`, `-` writes JSON only.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Writes the result as SARIF 2.1.0, for code hosts and editors; `-` for standard output.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub sarif: Option<PathBuf>,
    /// Writes a report as one HTML page: the source with the results, the counterexample step by step, invariants,
    /// control flow, and statistics.
    #[arg(long, value_name = "OUT.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Format of findings.
    #[arg(long, value_name = "HOW", default_value = "human", help_heading = "Output")]
    pub message_format: MessageFormat,
    /// Prints the facts that each refinement adds, in terms of the C program.
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
    /// Draws the reached states as SVG or PNG: a pixel for each state, a row for each distance from the start. Covered
    /// states are green, errors red.
    #[arg(long, value_name = "OUT.svg|OUT.png", help_heading = "Output")]
    pub pixel_tree: Option<PathBuf>,
    /// Prints counters and times.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// Prints the progress of the run.
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,
    /// Prints only the verdict: no findings, table, warnings or notes. Does not affect output files. Files that cannot be
    /// written are still reported.
    #[arg(short, long, conflicts_with_all = ["verbose", "explain", "stats"], help_heading = "Output")]
    pub quiet: bool,
}

/// The options of `proviso validate`.
#[derive(Args, Debug)]
pub struct ValidateArgs {
    /// The witness: YAML of format 2, or GraphML of format 1.0. The content determines the format, not the file name.
    #[arg(id = "evidence", value_name = "WITNESS")]
    pub witness: PathBuf,
    #[command(flatten)]
    pub verify: VerifyArgs,
}

impl VerifyArgs {
    /// The output files, by option.
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

    /// Fails if an output option is set that is not in `written`, the options that the command supports.
    pub fn writes_only(&self, written: &[&str]) -> Result<(), Failure> {
        match self.outputs().into_iter().find(|(option, path)| path.is_some() && !written.contains(option)) {
            Some((option, _)) => Err(Failure::usage(format!("{option} is for `proviso verify`"))),
            None => Ok(()),
        }
    }

    /// The same options for a confirmation of a proof: with this time limit, and without outputs.
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
  proviso verify --check address,leak prog.c           only these checks, by the names of clang's sanitizers
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

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| "expected a number from 1".into())
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
        for check in instrument::NamedCheck::ALL {
            assert!(words.contains(&check.name), "{} is missing", check.name);
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

    #[test]
    fn there_is_at_least_one_job() {
        assert_eq!(verify(&["a.c", "--jobs", "2"]).jobs, 2);
        assert!(Cli::try_parse_from(["proviso", "verify", "a.c", "--jobs", "0"]).is_err());
    }
}
