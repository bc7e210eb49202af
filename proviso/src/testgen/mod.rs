//! `proviso testgen`: generates tests that cover a program, as a test suite in the format of Test-Comp.

mod cotest;
mod folders;
mod generations;
mod given;
mod goals;
mod guide;
mod harness;
mod mutate;
mod native;
mod page;
mod schedule;
mod search;
pub mod suite;
pub mod tester;

use crate::args::TestgenArgs;
use crate::output::{self, Colors};
use crate::picture::{self, Legend, Notes};
use crate::test_format::{ktest, test_xml};
use crate::{crash, json, witness};
use cfa::wording::counted;
use cfa::{Callee, EdgeId, InputKind, Op, Program};
use cooperate::gia::{self, Gia};
use cotest::{CoTest, Outside, Setup, Verifier};
use driver::environment::Process;
use driver::evidence::lines::{Lines, lines};
use driver::external::Tool;
use driver::failure::{Failure, exit};
use driver::files::Outputs;
use driver::job::Job;
use driver::limits::{self, Limits, Stop, WorkEnd};
use driver::source::Sources;
use driver::task::Otherwise;
use driver::trace::declared;
use engine::Config;
use engine::budget::Budget;
use frontend_llvm::Options;
use given::Given;
pub use goals::{Coverage, goals as goals_of};
use instrument::Property;
use search::{Form, Import, Processes, SearchResults, Status, Test, TestSearch};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use suite::{Format, Metadata};
use tester::Tester;

/// The time limit of the search if the user sets neither a wall-clock limit nor a CPU limit.
const DEFAULT_TIME: Duration = Duration::from_secs(60);
/// The maximal number of uncovered goals that the summary lists.
const LISTED: usize = 20;
/// The end of the time limit that is reserved for writing the suite.
const WRITING: Duration = Duration::from_millis(300);

/// Runs the command and returns the exit code. A failure is printed.
pub fn run(args: &TestgenArgs, colors: Colors) -> u8 {
    let written = args.verify.writes_only(&["--json", "--save-gia", "--harness", "--report"]);
    let work = |()| harness::of_file(args).unwrap_or_else(|| attempt(args, colors));
    written.and_then(work).unwrap_or_else(|failure| output::failure(&failure, colors))
}

fn attempt(args: &TestgenArgs, colors: Colors) -> Result<u8, Failure> {
    let start = Instant::now();
    let job = args.verify.job(Otherwise::Assertions)?;
    output::warnings(&job.warnings, colors);
    let coverage = coverage(args, &job)?;
    let saves_gia = args.verify.knowledge.save_gia.as_ref();
    for (option, is_given) in [("--external", args.verify.external.is_some()), ("--save-gia", saves_gia.is_some())] {
        if is_given && !args.cotest {
            return Err(Failure::usage(format!("{option} needs --cotest")));
        }
    }
    let mut outputs = Outputs::new([
        ("--lcov", args.lcov.as_ref()),
        ("--json", args.verify.json.as_ref()),
        ("--save-gia", saves_gia),
        ("--harness", args.verify.harness.as_ref()),
        ("--report", args.verify.report.as_ref()),
    ]);
    outputs.check(args.verify.files.iter().chain(&job.files_read).map(std::path::PathBuf::as_path))?;
    let config = args.verify.engine()?;
    let memory = args.verify.memory();
    let processor = args.verify.cpu_limit;
    let time = limits::wall_time(args.verify.timeout, processor.is_none().then_some(DEFAULT_TIME));
    let limits = Limits { timeout: time, is_default: false, processor, memory, start, grace: limits::GRACE };
    crash::prepare(memory);

    let budget = time.map_or_else(Budget::unlimited, |time| Budget::lasting(time.saturating_sub(WRITING)));
    let cancel = budget.cancel.clone();
    let shared = Arc::new(Mutex::new(SearchResults::default()));
    let loaded: Arc<Mutex<Option<Arc<Program>>>> = Arc::default();
    let cooperates = args.cotest;
    let parties = Parties {
        tester: args.tester.as_deref().map(Tester::find).transpose()?,
        verifier: args.verify.external.as_deref().map(Tool::find).transpose()?,
        errors: job.error_functions.clone(),
        memory,
        draws: saves_gia.map(|path| path.extension().is_some_and(|e| e == "html")),
    };
    let known: Arc<Mutex<Option<Known>>> = Arc::default();
    let seeds = args.seeds.as_deref().map(folders::seeds).transpose()?.unwrap_or_default();
    let asked_format = asked_format(args, &job);
    let form = Arc::new(Mutex::new(Format::TestComp));
    let name = parties.tester.as_ref().map(|tester| tester.name);
    let worker = {
        let (shared, loaded, known, mut options, coverage) =
            (shared.clone(), loaded.clone(), known.clone(), job.load.clone(), coverage.clone());
        let form = form.clone();
        // Other tools receive a program that can be executed, so it keeps its output.
        options.keeps_output = cooperates;
        move || -> Result<(), Failure> {
            let budget = processor.map_or(budget.clone(), |time| budget.exerting(time.saturating_sub(WRITING)));
            let program = Arc::new(load(options, &coverage, &budget)?);
            *loaded.lock().unwrap_or_else(PoisonError::into_inner) = Some(program.clone());
            let goals = goals::goals(&program, &coverage);
            let format = format_of(&program, asked_format)?;
            if !seeds.is_empty() && (cooperates || takes(&program, format) != Takes::Process) {
                let why = "--seeds needs a program that takes arguments, variables, standard input or files";
                return Err(Failure::usage(why));
            }
            *form.lock().unwrap_or_else(PoisonError::into_inner) = format;
            if cooperates {
                parties.cooperate((*program).clone(), &goals, config, budget, (&shared, &known))?;
            } else {
                let most_runs = usize::MAX;
                let form = match takes(&program, format) {
                    Takes::Values => Form::Values,
                    Takes::Process => Form::Process(Box::new(Processes::new(&program, config.seed, seeds))),
                    Takes::Arguments => Form::Call,
                };
                TestSearch { program: &program, goals: &goals, config, budget, found: &shared, most_runs, form }.run();
            }
            Ok(())
        }
    };
    let supervised = limits::supervise(&limits, &cancel, || {}, worker);
    match supervised.end {
        WorkEnd::Done(Err(failure)) if supervised.stop.is_none() => return Err(failure),
        // The tests that were found before the panic remain valid.
        WorkEnd::Panicked(message) => output::internal_error(&format!("internal error: {message}")),
        _ => {}
    }
    let Some(program) = loaded.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return Err(Failure::data("the time or memory was spent before the program was loaded"));
    };
    let mut found = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
    found.drop_superfluous();
    let format = *form.lock().unwrap_or_else(PoisonError::into_inner);
    has_a_test(&mut found, takes(&program, format), colors);
    let goals = goals::goals(&program, &coverage);
    let sources = Sources::new();
    let told = suite::goals(&program, &goals, &found, format, &sources);
    let suite = Suite { program: &program, goals: &told, found: &found, coverage: &coverage, job: &job, format };
    outputs.spare(program.files.values().map(|f| Path::new(&f.path)))?;
    suite.write(&args.output, args.ktest)?;
    let native = args.run.then(|| native::run(&suite, args.run_timeout)).transpose()?;
    suite.put_others(args, &sources, &mut outputs)?;
    match (saves_gia, known.lock().unwrap_or_else(PoisonError::into_inner).take()) {
        (Some(path), Some(known)) => outputs.put(path, known.text(&suite, &sources)),
        (Some(_), None) => output::warning("the GIA is not written: the search did not stop in time", colors),
        (None, _) => {}
    }
    let stopped = supervised.stop.map(|s| s.to_string());
    if let Some(path) = &args.verify.json {
        let mut json = suite.json(stopped.as_deref(), start, name);
        if let Some(native) = &native {
            json["native"] = native.json();
        }
        outputs.put(path, format!("{json:#}\n"));
    }
    if let Some(path) = &args.verify.report {
        outputs.put(path, page::page(&suite, native.as_ref(), &sources));
    }
    outputs.commit()?;
    output::print(&suite.summary(&args.output, name))?;
    if let Some(native) = &native {
        output::print(&native.summary())?;
        native.warnings().iter().for_each(|warning| output::warning(warning, colors));
    }
    for assumption in suite.assumptions() {
        output::note(&format!("assumed: {assumption}"), colors);
    }
    if let Some(text) = suite.doubts() {
        output::warning(&text, colors);
    }
    if let Some(problem) = &found.imported.problem {
        output::warning(problem, colors);
    }
    if let Some(stop) = supervised.stop.filter(|s| !matches!(s, Stop::Timeout(_) | Stop::Processor(_))) {
        output::warning(&format!("{stop}: the suite consists of the tests that were found before"), colors);
    }
    Ok(exit::TRUE)
}

/// The GIA at the end of a run: its text, or the lines that a picture of it shows.
enum Known {
    /// The text form of the automaton.
    Text(String),
    /// The lines that the picture shows.
    Lines(Lines),
}

impl Known {
    fn text(self, suite: &Suite, sources: &Sources) -> String {
        match self {
            Self::Text(text) => text,
            Self::Lines(lines) => picture::drawn(&lines, &OF_GOALS, &suite.notes(), sources),
        }
    }
}

/// The meaning of the colours in a picture whose targets are coverage goals.
const OF_GOALS: Legend = Legend { ut: "proved unreachable", rt: "on the path of a test" };

/// The external tools that cooperate with the own tester and verifier, and the format in which the final GIA is saved.
struct Parties {
    tester: Option<Tester>,
    verifier: Option<Tool>,
    errors: Vec<String>,
    memory: u64,
    /// `Some(true)` saves the GIA as a picture, `Some(false)` as text. `None` does not save it.
    draws: Option<bool>,
}

impl Parties {
    /// Runs cooperative test generation. If the GIA is to be saved, each turn stores it in `known`. `Err` if the GIA
    /// is to be saved but `known` remains empty, because the GIA is too large for a picture.
    fn cooperate(
        &self,
        program: Program,
        goals: &[EdgeId],
        config: Config,
        budget: Budget,
        (found, known): (&Mutex<SearchResults>, &Mutex<Option<Known>>),
    ) -> Result<(), Failure> {
        let Self { errors, memory, .. } = self;
        let memory = *memory;
        let tester = self.tester.as_ref().map(|tester| Outside { tester, errors, memory, report: Import::default() });
        let verifier = self.verifier.as_ref().map(|tool| Verifier { tool, errors, memory, next: 0, problem: None });
        let tell = |gia: &Gia, program: &mut Program| {
            let told = self.known(gia, program);
            if told.is_some() {
                *known.lock().unwrap_or_else(PoisonError::into_inner) = told;
            }
        };
        CoTest::new(Setup { program, goals, config, budget, found, tell: &tell, tester, verifier }).run();
        let is_drawn = known.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if self.draws.is_some() && !is_drawn { Err(picture::too_large()) } else { Ok(()) }
    }

    /// Returns the GIA in the format in which it is saved; `None` if it is not to be saved or cannot be drawn.
    fn known(&self, gia: &Gia, program: &mut Program) -> Option<Known> {
        Some(match self.draws? {
            true => Known::Lines(lines(gia, program, &Sources::new())?),
            false => Known::Text(gia::print(gia, program)),
        })
    }
}

/// Returns a path relative to the working directory, if it is below it.
fn short(path: &str) -> String {
    let here = std::env::current_dir().ok();
    let short = here.as_deref().and_then(|here| Path::new(path).strip_prefix(here).ok());
    short.map_or_else(|| path.to_owned(), |short| short.display().to_string())
}

/// Adds a test without inputs to an empty suite, unless no call of a function is possible, and prints a warning. The
/// tools that measure a suite run the program on its tests, so they cannot measure a suite without tests.
fn has_a_test(found: &mut SearchResults, takes: Takes, colors: Colors) {
    if found.tests.is_empty() {
        let given = match takes {
            Takes::Values => Some(Given::Values(Vec::new())),
            Takes::Process => Some(Given::Process { process: Process::default(), opened: Vec::new(), doubt: None }),
            Takes::Arguments => None,
        };
        let suite = if given.is_some() { "the suite has one test, of no inputs" } else { "the suite has no test" };
        found.tests.extend(given.map(|given| Test { given, covers: Vec::new(), reaches: Vec::new(), by: "" }));
        let why = found.problem.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        output::warning(&format!("no run can be followed to its end{why}: {suite}"), colors);
    }
}

/// The source of the inputs of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// From `__VERIFIER_nondet_*` functions, or it takes none.
    Values,
    /// From the operating system.
    Process,
    /// From the caller of the function of `--entry`.
    Arguments,
}

/// Returns the kind of inputs that tests of this form provide to the program.
fn takes(program: &Program, format: Format) -> Takes {
    if format == Format::TestComp { Takes::Values } else { sources_of(program) }
}

/// Returns the source from which the program takes its inputs.
fn sources_of(program: &Program) -> Takes {
    let entry = program.edges.values().filter(|edge| program.locs[edge.source].func == program.entry);
    let calls_main = |edge: &cfa::Edge| match edge.op {
        Op::Call { callee: Callee::Direct(callee), .. } => program.funcs[callee].name == "main",
        _ => false,
    };
    if program.inputs.values().any(|input| matches!(input.kind, InputKind::Argument(_)))
        || !entry.into_iter().any(calls_main)
    {
        return Takes::Arguments;
    }
    let kinds = || program.inputs.values().map(|input| &input.kind);
    let is_outside = |kind: &InputKind| {
        matches!(kind, InputKind::Environment(_)) && ![InputKind::allocation(), InputKind::literals()].contains(kind)
    };
    let has_values = kinds().any(|kind| matches!(kind, InputKind::Nondet(_)));
    if !has_values && kinds().any(is_outside) { Takes::Process } else { Takes::Values }
}

/// Returns the form of tests that the user asks for; `None` if the program decides.
fn asked_format(args: &TestgenArgs, job: &Job) -> Option<Format> {
    use crate::args::FormatArg;
    // Coverage properties come from Test-Comp, whose tools read only its own test format.
    let is_of_testcomp = job.properties.iter().any(|p| matches!(p, Property::Coverage { .. }));
    match args.format {
        None if args.cotest || args.ktest || is_of_testcomp => Some(Format::TestComp),
        None => None,
        Some(FormatArg::TestComp) => Some(Format::TestComp),
        Some(FormatArg::Folders) => Some(Format::Folders),
        Some(FormatArg::Seeds) => Some(Format::Seeds),
        Some(FormatArg::Harness) => Some(Format::Harness),
    }
}

/// Returns the form of the tests of a program. `Err` if its tests cannot have the form that the user asks for.
fn format_of(program: &Program, asked: Option<Format>) -> Result<Format, Failure> {
    let usage = |what: &str, instead: &str| Err(Failure::usage(format!("{what}; {instead}")));
    match (sources_of(program), asked) {
        (Takes::Values, None) => Ok(Format::TestComp),
        (Takes::Process, None) => Ok(Format::Folders),
        (Takes::Arguments, None) => Ok(Format::Harness),
        (Takes::Arguments, Some(Format::Folders | Format::Seeds)) => {
            usage("only a harness can give arguments to a function", "use --format harness")
        }
        (Takes::Values, Some(Format::Folders | Format::Seeds)) => usage(
            "no folder and no seed can give the values that the program takes from functions",
            "use --format test-comp or --format harness",
        ),
        (_, Some(format)) => Ok(format),
    }
}

/// Returns the coverage criterion: that of `--coverage`, else that of the property, else branch coverage. `Err` if the
/// criterion of the property is not supported.
fn coverage(args: &TestgenArgs, job: &Job) -> Result<Coverage, Failure> {
    use crate::args::CoverageArg;
    match args.coverage {
        Some(CoverageArg::Statements) => Ok(Coverage::Statements),
        Some(CoverageArg::Branches) => Ok(Coverage::Branches),
        Some(CoverageArg::Conditions) => Ok(Coverage::Conditions),
        Some(CoverageArg::ErrorCall) => Ok(Coverage::Calls(job.error_functions.clone())),
        None => Ok(asked_coverage(job)?.unwrap_or(Coverage::Branches)),
    }
}

/// Returns the coverage criterion of the first coverage property; `None` if there is no such property. `Err` if the
/// criterion is not supported.
pub fn asked_coverage(job: &Job) -> Result<Option<Coverage>, Failure> {
    let query = job.properties.iter().find_map(|p| match p {
        Property::Coverage { query } => Some(query.as_str()),
        _ => None,
    });
    let Some(query) = query else { return Ok(None) };
    Ok(Some(match query.split_once("@CALL(") {
        Some((_, rest)) => Coverage::Calls(vec![rest.split(')').next().unwrap_or_default().trim().to_owned()]),
        None if query.is_empty() || query.contains("@DECISIONEDGE") => Coverage::Branches,
        None if query.contains("@CONDITIONEDGE") => Coverage::Conditions,
        None if query.contains("@BASICBLOCKENTRY") => Coverage::Statements,
        None => return Err(Failure::data(format!("the coverage '{query}' is not supported"))),
    }))
}

/// Loads the program and prepares it for the goals of `coverage`. Automata name the edges of this program, so all
/// parties that exchange automata must load it with this function. `Err` if the program cannot be loaded.
pub fn load(mut options: Options, coverage: &Coverage, budget: &Budget) -> Result<Program, Failure> {
    options.decisions = matches!(coverage, Coverage::Branches | Coverage::Conditions);
    let mut program = driver::load::load(&options, budget)?;
    goals::prepare(&mut program, coverage);
    Ok(program)
}

/// A generated suite, with its program and its job.
struct Suite<'a> {
    program: &'a Program,
    goals: &'a [suite::Goal],
    found: &'a SearchResults,
    coverage: &'a Coverage,
    job: &'a Job,
    format: Format,
}

impl Suite<'_> {
    /// Returns how many goals are covered, how many are proved unreachable, and how many are open.
    fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for goal in self.goals {
            counts[match goal.status {
                Status::Covered => 0,
                Status::Unreachable(_) => 1,
                Status::Open | Status::Beyond | Status::NullAllocation => 2,
            }] += 1;
        }
        counts
    }

    /// Returns the notes for each line: the tests and tools that decided its goals. Goals that no test covers come
    /// first.
    fn notes(&self) -> Notes {
        let mut notes = Notes::new();
        let mut covered: BTreeMap<(&str, u32), BTreeMap<&str, BTreeSet<usize>>> = BTreeMap::new();
        for goal in self.goals {
            let Some(spot) = &goal.spot else { continue };
            let test = goal.tests.first().and_then(|number| self.found.tests.get(number - 1));
            let note = match (goal.status, test) {
                (Status::Covered, Some(test)) => {
                    let of_line = covered.entry((&spot.path, spot.line)).or_default();
                    of_line.entry(test.by).or_default().insert(goal.tests[0]);
                    continue;
                }
                (Status::Unreachable(by), _) => format!("never {}, by {by}", goal.what),
                _ => format!("open: {}", goal.what),
            };
            notes.entry(spot.path.clone()).or_default().entry(spot.line).or_default().push(note);
        }
        for ((path, line), of_line) in covered {
            let of_line = of_line.into_iter().map(|(who, tests)| {
                let numbers: Vec<String> = tests.iter().map(usize::to_string).collect();
                format!("testcase-{} of {who}", numbers.join(", "))
            });
            notes.entry(path.to_owned()).or_default().entry(line).or_default().extend(of_line);
        }
        notes
    }

    /// Returns for each tool the number of its tests and the number of goals that it proved unreachable.
    fn contributions(&self) -> BTreeMap<&str, [usize; 2]> {
        let mut of: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
        for test in self.found.tests.iter().filter(|test| !test.by.is_empty()) {
            of.entry(test.by).or_default()[0] += 1;
        }
        for goal in self.goals {
            if let Status::Unreachable(by) = goal.status {
                of.entry(by).or_default()[1] += 1;
            }
        }
        of
    }

    /// Adds the files besides the suite to `outputs`: the line coverage of `--lcov`, and the harness of one test.
    /// `Err` if the suite has no test with the number of `--test`.
    fn put_others(&self, args: &TestgenArgs, sources: &Sources, outputs: &mut Outputs) -> Result<(), Failure> {
        if let Some(path) = &args.lcov {
            outputs.put(path, suite::lcov(&suite::executions(self.program, &self.found.counts, sources)));
        }
        if let Some(path) = &args.verify.harness {
            let number = args.test.as_deref().map_or(Ok(1), str::parse::<usize>).unwrap_or(0);
            let count = self.found.tests.len();
            let test = number.checked_sub(1).and_then(|at| self.found.tests.get(at));
            let test =
                test.ok_or_else(|| Failure::usage(format!("there is no test {number}: the suite has {count}")))?;
            let name = format!("{}-{number}", self.format.test());
            let text = harness::write(self.program, self.job, &test.given, &name);
            outputs.put(path, crate::harness::named(&text, path));
        }
        Ok(())
    }

    /// Writes `goals.txt` and the tests into `folder`. Deletes the tests of an earlier suite in this folder first.
    /// `Err` if a file cannot be read or written.
    fn write(&self, folder: &Path, as_ktest: bool) -> Result<(), Failure> {
        let writing = |path: &Path| {
            let path = path.to_owned();
            move |error: std::io::Error| Failure::writing(&path, &error)
        };
        std::fs::create_dir_all(folder).map_err(writing(folder))?;
        for entry in std::fs::read_dir(folder).map_err(writing(folder))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_of = |start: &str, end: &str| {
                let number = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
                number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
            };
            let path = entry.path();
            if [("testcase-", ".xml"), ("testcase-", ".ktest"), ("seed-", ""), ("harness-", ".c")]
                .iter()
                .any(|(start, end)| is_of(start, end))
                && path.is_file()
            {
                std::fs::remove_file(&path).map_err(writing(&path))?;
            } else if is_of("test-", "") && folders::is_test(&path) {
                std::fs::remove_dir_all(&path).map_err(writing(&path))?;
            }
        }
        let put = |name: &str, content: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, content).map_err(writing(&path))
        };
        let lines: String = self.goals.iter().map(|goal| format!("{goal}\n")).collect();
        put("goals.txt", lines.as_bytes())?;
        if self.format == Format::TestComp {
            put("metadata.xml", self.metadata()?.xml().as_bytes())?;
        }
        let program = &self.job.load.inputs[0].path.display().to_string();
        let covers_error = matches!(self.coverage, Coverage::Calls(_));
        let mut seeds = BTreeSet::new();
        for (i, test) in self.found.tests.iter().enumerate() {
            let number = i + 1;
            let name = format!("{}-{number}", self.format.test());
            match (self.format, &test.given) {
                (Format::TestComp, given) => {
                    let covers = covers_error && !test.covers.is_empty();
                    put(&format!("{name}.xml"), test_xml(self.program, given.values(), covers).as_bytes())?;
                    if as_ktest {
                        put(&format!("{name}.ktest"), &ktest(self.program, program, given.values()))?;
                    }
                }
                (Format::Folders, Given::Process { process, .. }) => {
                    folders::write(&folder.join(&name), process, &self.purpose(number))?;
                }
                (Format::Seeds, Given::Process { process, .. }) => {
                    if let Some(seed) = folders::seed(process).filter(|seed| seeds.insert(seed.to_vec())) {
                        put(&name, seed)?;
                    }
                }
                (Format::Folders | Format::Seeds, Given::Values(_) | Given::Call(_)) => {}
                (Format::Harness, given) => {
                    let text = harness::write(self.program, self.job, given, &name);
                    let path = folder.join(format!("{name}.c"));
                    put(&format!("{name}.c"), crate::harness::named(&text, &path).as_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Returns the assumptions of the proofs; none if no goal is proved unreachable.
    fn assumptions(&self) -> Vec<String> {
        if self.counts()[1] == 0 {
            return Vec::new();
        }
        let allocations = self.job.assumption_about_allocations().filter(|_| cfa::facts::allocates(self.program));
        self.job
            .assumptions(self.program)
            .into_iter()
            .chain(allocations)
            .chain(declared::assumption(self.program))
            .collect()
    }

    /// Returns a warning about the tests whose runs meet approximations; `None` if there are none.
    fn doubts(&self) -> Option<String> {
        let doubt = |test: &Test| match &test.given {
            Given::Process { doubt, .. } => doubt.clone(),
            _ => None,
        };
        let doubts: Vec<String> = self.found.tests.iter().filter_map(doubt).collect();
        let first = doubts.first()?;
        let (tests, meet) = (counted(doubts.len(), "test"), if doubts.len() == 1 { "meets" } else { "meet" });
        Some(format!("{tests} {meet} an approximation ({first}); a native run may take another path from there"))
    }

    /// Returns the goals that only this test covers, else all goals that it covers, as lines.
    fn purpose(&self, number: usize) -> Vec<String> {
        let line = |goal: &suite::Goal| match &goal.spot {
            Some(spot) => format!("{spot}: {}", goal.what),
            None => goal.what.clone(),
        };
        let of = |alone: bool| {
            let goals = self.goals.iter().filter(move |goal| goal.tests.contains(&number));
            goals.filter(move |goal| !alone || goal.tests.len() == 1).map(line).collect::<Vec<_>>()
        };
        let own = of(true);
        if own.is_empty() { of(false) } else { own }
    }

    fn metadata(&self) -> Result<Metadata, Failure> {
        let file = &self.job.load.inputs[0].path;
        let bytes = std::fs::read(file).map_err(|e| Failure::reading(file, &e))?;
        let entry = &self.job.load.entry;
        let query = self.coverage.query();
        Ok(Metadata {
            specification: format!("COVER( init({entry}()), FQL({query}) )"),
            program: file.display().to_string(),
            hash: witness::digest(&bytes),
            entry: entry.clone(),
            bits: self.program.layout.pointer_width,
            time: witness::now(),
        })
    }

    fn summary(&self, folder: &Path, tester: Option<&str>) -> String {
        let mut out = String::new();
        let left: Vec<&suite::Goal> = self.goals.iter().filter(|goal| goal.status != Status::Covered).collect();
        for goal in left.iter().take(LISTED) {
            out += &format!("{goal}\n");
        }
        if left.len() > LISTED {
            out += &format!("… and {} more, in {}\n", left.len() - LISTED, folder.join("goals.txt").display());
        }
        if let Some(tester) = tester {
            let Import { runs, read, useful, .. } = self.found.imported;
            let (read, runs) = (counted(read, "test"), counted(runs, "run"));
            out += &format!("{tester}: {read} in {runs}; {useful} of them covered a goal that was open\n");
        }
        if self.found.tests.iter().any(|test| !test.by.is_empty()) {
            let each = self.contributions().into_iter().map(|(who, [tests, proofs])| match (tests, proofs) {
                (_, 0) => format!("{who} {}", counted(tests, "test")),
                (0, _) => format!("{who} {}", counted(proofs, "proof")),
                _ => format!("{who} {} and {}", counted(tests, "test"), counted(proofs, "proof")),
            });
            out += &format!("by each: {}\n", each.collect::<Vec<_>>().join(", "));
        }
        let [covered, unreachable, open] = self.counts();
        out + &format!(
            "{} in {}: {covered} of {} {} covered, {unreachable} proved unreachable, {open} open\n",
            counted(self.found.tests.len(), "test"),
            folder.display(),
            self.goals.len(),
            self.coverage.name(),
        )
    }

    fn json(&self, stopped: Option<&str>, start: Instant, tester: Option<&str>) -> serde_json::Value {
        let goals = self.goals.iter().map(|goal| {
            let (status, by) = match goal.status {
                Status::Open | Status::Beyond | Status::NullAllocation => ("open", None),
                Status::Covered => ("covered", None),
                Status::Unreachable(by) => ("unreachable", Some(by)),
            };
            json!({
                "location": json::spot_json(goal.spot.as_ref()),
                "condition": goal.what,
                "status": status,
                "beyond": matches!(goal.status, Status::Beyond | Status::NullAllocation),
                "tests": goal.tests,
                "proved_by": by,
            })
        });
        let goals: Vec<_> = goals.collect();
        let imported = &self.found.imported;
        let tester = tester.map(|name| {
            json!({"name": name, "runs": imported.runs, "read": imported.read, "useful": imported.useful, "problem": imported.problem})
        });
        let each = self
            .contributions()
            .into_iter()
            .map(|(who, [tests, proofs])| json!({"by": who, "tests": tests, "proofs": proofs}));
        let contributions: Vec<_> = each.collect();
        let [covered, unreachable, _] = self.counts();
        json!({
            "schema": "proviso-testgen-1",
            "tool": {"name": "proviso", "version": env!("CARGO_PKG_VERSION")},
            "tests": self.found.tests.len(),
            "runs": self.found.runs,
            "coverage": self.coverage.name(),
            "covered": covered,
            "unreachable": unreachable,
            "assumptions": self.assumptions(),
            "goals": goals,
            "contributions": contributions,
            "tester": tester,
            "stopped": stopped,
            "seconds": start.elapsed().as_secs_f64(),
        })
    }
}
