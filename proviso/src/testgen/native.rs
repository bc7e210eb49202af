//! Native runs of a suite (`--run`). clang builds the program with counters, the program runs on each test, and
//! llvm-cov reports the executed lines and branches. They are compared with the goals that each test covers in the
//! interpreter.

use super::folders;
use super::given::Given;
use super::goals::Coverage;
use super::suite::Goal;
use super::{Suite, harness, short};
use crate::harness::Build;
use cfa::Function;
use cfa::wording::counted;
use driver::environment::Process;
use driver::failure::Failure;
use driver::trace::Trace;
use frontend_llvm::{InputFile, Options};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Error;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The time between two checks whether a process has ended.
const TICK: Duration = Duration::from_millis(2);
/// The maximal size in bytes of a file that a run writes.
const LARGEST_FILE: u64 = 64 << 20;
/// The maximal number of differences between native runs and the interpreter that the summary lists.
const LISTED: usize = 20;

/// The options with which the program counts. The counters are in a mapped file, so that they outlive a process that
/// is killed.
const COUNTING: [&str; 5] = ["-O0", "-w", "-fcoverage-mapping", "-mllvm", "-runtime-counter-relocation"];

/// C code that starts the counters before the constructors of a harness run, because these may end the process. It
/// removes the variable that the runtime of the counters adds to the environment.
const STARTS_COUNTING: &str = "
extern char **environ;
__attribute__((weak)) void __llvm_profile_initialize(void);
__attribute__((constructor(101))) static void proviso_starts_counting(void) {
    static const char added[] = \"__LLVM_PROFILE_RT_INIT_ONCE=\";
    if (__llvm_profile_initialize) {
        __llvm_profile_initialize();
        for (char **variable = environ, **kept = environ; kept; variable++) {
            int n = 0;
            while (*variable && added[n] && (*variable)[n] == added[n])
                n++;
            if (added[n])
                *kept++ = *variable;
            if (!*variable)
                break;
        }
    }
}
";

/// A number of things and how many of them are covered.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Share {
    covered: usize,
    all: usize,
}

impl Share {
    fn add(&mut self, is_covered: bool) {
        self.all += 1;
        self.covered += usize::from(is_covered);
    }
    fn percent(self) -> f64 {
        if self.all == 0 { 100.0 } else { self.covered as f64 * 100.0 / self.all as f64 }
    }
    fn shown(self, what: &str) -> String {
        if self.all == 0 {
            return format!("no {what}");
        }
        format!("{} of {} {what} ({:.1} %)", self.covered, self.all, self.percent())
    }
    fn json(self) -> serde_json::Value {
        json!({"covered": self.covered, "total": self.all, "percent": self.percent()})
    }
}

/// The executions of the lines and branches of one file.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Counts {
    /// The number of executions of each line.
    lines: BTreeMap<u32, u64>,
    /// The number of executions of each outcome of the conditions of each line.
    branches: BTreeMap<u32, Vec<u64>>,
}

/// By file and line, the last line of the conditions that start on the line. Conditions of one line are omitted.
type Extents = BTreeMap<String, BTreeMap<u32, u32>>;

impl Counts {
    /// Returns how many lines and how many branches are covered.
    fn shares(&self) -> [Share; 2] {
        let (mut lines, mut branches) = (Share::default(), Share::default());
        self.lines.values().for_each(|&n| lines.add(n > 0));
        self.branches.values().flatten().for_each(|&n| branches.add(n > 0));
        [lines, branches]
    }
}

/// One native run.
struct Ran {
    /// The end of the process; `None` if it was killed because its time was up.
    status: Option<ExitStatus>,
    time: Duration,
}

/// A place at which a test natively executes less than it covers in the interpreter.
struct Broken {
    /// The number of the test.
    test: usize,
    path: String,
    /// The first line of the goals.
    line: u32,
    what: String,
}

/// The native runs of a suite.
pub struct Native {
    test_name: &'static str,
    runs: Vec<Ran>,
    files: BTreeMap<String, Counts>,
    broken: Vec<Broken>,
    has_network: bool,
}

/// Builds the program and runs it on each test of a suite, each for at most `timeout`. `Err` if clang or llvm-cov is
/// missing or the program does not build.
pub fn run(suite: &Suite<'_>, timeout: Duration) -> Result<Native, Failure> {
    let place = std::fs::canonicalize(std::env::temp_dir()).unwrap_or_else(|_| std::env::temp_dir());
    let folder = tempfile::tempdir_in(&place).map_err(|e| Failure::writing(&place, &e))?;
    let tools = Tools::find()?;
    let build = |name: &str, text: &str, entry: Option<Entry<'_>>| {
        let put = |file: PathBuf, text: &str| -> Result<PathBuf, Failure> {
            std::fs::write(&file, text).map_err(|e| Failure::writing(&file, &e))?;
            Ok(file)
        };
        let file = put(folder.path().join(format!("{name}.c")), text)?;
        let mut load = suite.job.load.clone();
        if let Some(entry) = entry {
            let wrapper = put(folder.path().join(format!("{name}-entry.c")), &entry.exported())?;
            load.inputs[entry.input].path = wrapper;
        }
        tools.build(suite, &load, folder.path(), name, &file)
    };
    let alone = match suite.found.tests.iter().any(|test| matches!(test.given, Given::Process { .. })) {
        true => Some(build("program", STARTS_COUNTING, None)?),
        false => None,
    };
    let has_network = !is_isolated();
    let (mut runs, mut broken, mut files) = (Vec::new(), Vec::new(), BTreeMap::<String, Counts>::new());
    let mut extents = None;
    for (test, number) in suite.found.tests.iter().zip(1..) {
        let name = format!("{}-{number}", suite.format.test());
        let nothing = Process::default();
        let (program, process) = match (&test.given, &alone) {
            (Given::Process { process, .. }, Some(program)) => (program.clone(), process),
            (given, _) => {
                let (given, entry) = match (given, suite.entry()) {
                    (Given::Call(trace), Some(entry)) => (Given::Call(with_entry(trace)), Some(entry)),
                    (given, _) => (given.clone(), None),
                };
                let text = harness::write(suite.program, suite.job, &given, &name) + STARTS_COUNTING;
                (build(&name, &text, entry)?, &nothing)
            }
        };
        let home = folder.path().join(&name);
        let profile = profile_of(&program);
        if profile.exists() {
            std::fs::remove_file(&profile).map_err(|e| Failure::writing(&profile, &e))?;
        }
        runs.push(start(&program, process, &home, has_network, timeout).map_err(|e| Failure::writing(&home, &e))?);
        let counts = tools.counts(suite, &program, &profile)?;
        if extents.is_none() && profile.exists() {
            extents = Some(tools.extents(&program, &profile)?);
        }
        broken.extend(broken_promises(suite, number, &counts, extents.as_ref().unwrap_or(&Extents::new())));
        for (path, of_test) in counts {
            let sum = files.entry(path).or_default();
            for (line, n) in of_test.lines {
                *sum.lines.entry(line).or_default() += n;
            }
            for (line, outcomes) in of_test.branches {
                let sums = sum.branches.entry(line).or_insert_with(|| vec![0; outcomes.len()]);
                sums.iter_mut().zip(outcomes).for_each(|(sum, n)| *sum += n);
            }
        }
    }
    Ok(Native { test_name: suite.format.test(), runs, files, broken, has_network })
}

/// The symbol by which the harnesses of native runs call the entry function, which may be static.
const ENTRY: &str = "proviso_entry_function";

/// The definition of the entry function.
struct Entry<'a> {
    function: &'a Function,
    /// The canonical path of its file.
    path: PathBuf,
    /// The index of the file in the inputs.
    input: usize,
}

impl Entry<'_> {
    /// Returns C code with the definitions of the file, and with [`ENTRY`].
    fn exported(&self) -> String {
        let Self { function, path, .. } = self;
        let symbol = function.symbol.as_ref().unwrap_or(&function.name);
        format!(
            "#include \"{}\"\nextern __typeof__({}) {ENTRY} __attribute__((alias(\"{symbol}\")));\n",
            path.display(),
            function.name
        )
    }
}

impl Suite<'_> {
    /// Returns the definition of the entry function, if it is in a C file that the user names.
    fn entry(&self) -> Option<Entry<'_>> {
        let load = &self.job.load;
        let function = self.program.funcs.values().find(|f| f.name == load.entry)?;
        let place = &self.program.places[function.place?];
        let path = PathBuf::from(same(&self.program.files[place.file].path));
        let is_its_file = |input: &InputFile| same(&input.path.display().to_string()) == path.display().to_string();
        let input = load.inputs.iter().position(is_its_file)?;
        let is_c = path.extension().is_some_and(|extension| extension == "c") && load.inputs[input].part_of.is_none();
        is_c.then_some(Entry { function, path, input })
    }
}

/// Returns a trace that calls [`ENTRY`] in place of the entry function.
fn with_entry(trace: &Trace) -> Box<Trace> {
    let mut trace = Box::new(trace.clone());
    if let Some(arguments) = &mut trace.arguments {
        arguments.function = ENTRY.to_owned();
    }
    trace
}

/// Returns the places at which a test natively executes less than it covers in the interpreter. The interpreter's
/// branches and those of llvm-cov are compared only if the goals are branches and both have the same number of them. A
/// condition may extend over several lines, and the interpreter and llvm-cov may assign its parts to different ones. So
/// the lines of a condition are compared together.
fn broken_promises(
    suite: &Suite<'_>,
    number: usize,
    counts: &BTreeMap<String, Counts>,
    extents: &Extents,
) -> Vec<Broken> {
    let mut of_files: BTreeMap<&str, BTreeMap<u32, Vec<&Goal>>> = BTreeMap::new();
    for goal in suite.goals {
        if let Some(spot) = &goal.spot {
            of_files.entry(&spot.path).or_default().entry(spot.line).or_default().push(goal);
        }
    }
    let are_branches = matches!(suite.coverage, Coverage::Branches | Coverage::Conditions);
    let (mut broken, none) = (Vec::new(), BTreeMap::new());
    for (path, goals) in of_files {
        let canonical = same(path);
        let Some(file) = counts.get(&canonical) else { continue };
        let lines: BTreeSet<u32> = goals.keys().chain(file.branches.keys()).copied().collect();
        for together in groups(&lines, &file.lines, extents.get(&canonical).unwrap_or(&none)) {
            let goals: Vec<&Goal> = together.iter().filter_map(|line| goals.get(line)).flatten().copied().collect();
            let covered: Vec<&Goal> = goals.iter().copied().filter(|goal| goal.tests.contains(&number)).collect();
            let Some(first) = covered.first() else { continue };
            let native: Vec<u64> =
                together.iter().filter_map(|line| file.branches.get(line)).flatten().copied().collect();
            let executed = together.iter().filter_map(|line| file.lines.get(line));
            let is_executed = executed.clone().count() == 0 || executed.clone().any(|&n| n > 0);
            let taken = native.iter().filter(|&&n| n > 0).count();
            let has_fewer_branches = are_branches && native.len() == goals.len() && taken < covered.len();
            if !is_executed || has_fewer_branches {
                let what = covered.iter().map(|goal| goal.what.as_str()).collect::<Vec<_>>().join(", ");
                let line = first.spot.as_ref().map_or(0, |spot| spot.line);
                broken.push(Broken { test: number, path: path.to_owned(), line, what });
            }
        }
    }
    broken
}

/// Returns the lines in groups. Lines of one condition are in one group, and so are two lines without a line of code
/// between them. `code` contains all lines of code.
fn groups(lines: &BTreeSet<u32>, code: &BTreeMap<u32, u64>, ends: &BTreeMap<u32, u32>) -> Vec<Vec<u32>> {
    let (mut groups, mut end): (Vec<Vec<u32>>, u32) = (Vec::new(), 0);
    for &line in lines {
        let is_apart = || end < line && code.range(end + 1..line).next().is_some();
        match groups.last_mut() {
            Some(group) if !is_apart() => group.push(line),
            _ => groups.push(vec![line]),
        }
        end = end.max(ends.get(&line).copied().unwrap_or(line));
    }
    groups
}

/// Returns the file to which a program writes its counters.
fn profile_of(program: &Path) -> PathBuf {
    program.with_extension("profraw")
}

/// Returns the canonical path of a file, or the path itself if the file does not exist.
fn same(path: &str) -> String {
    std::fs::canonicalize(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

impl Native {
    /// Returns the coverage of each file and in total, as text, with the places that a test covers in the interpreter
    /// but not natively.
    pub fn summary(&self) -> String {
        let late = self.runs.iter().filter(|run| run.status.is_none()).count();
        let killed = self.runs.iter().filter(|run| run.status.is_some_and(|s| s.signal().is_some())).count();
        let mut out = format!("run natively: {}", counted(self.runs.len(), "test"));
        if late > 0 {
            out += &format!(", {late} stopped because the time was up");
        }
        if killed > 0 {
            out += &format!(", {killed} ended by a signal");
        }
        out.push('\n');
        for (path, counts) in &self.files {
            let [lines, branches] = counts.shares();
            let path = short(path);
            out += &format!("  {path}: {}, {}\n", lines.shown("lines"), branches.shown("branches"));
        }
        for broken in self.broken.iter().take(LISTED) {
            let Broken { test, path, line, what } = broken;
            out += &format!("{}-{test} natively does not cover all of {path}:{line}: {what}\n", self.test_name);
        }
        out
    }

    /// Returns the number of executions of each line of a file; `None` if no run reports any for the file.
    pub fn lines(&self, path: &str) -> Option<&BTreeMap<u32, u64>> {
        self.files.get(&same(path)).map(|counts| &counts.lines)
    }

    /// Returns warnings about the runs.
    pub fn warnings(&self) -> Vec<String> {
        let mut out = Vec::new();
        if self.has_network {
            out.push("the tests were run with a network: this system does not let them be run without".to_owned());
        }
        if !self.broken.is_empty() {
            let tests: BTreeSet<usize> = self.broken.iter().map(|broken| broken.test).collect();
            out.push(format!(
                "natively, {} fewer lines or branches than in the interpreter",
                match tests.len() {
                    1 => "1 test executes".to_owned(),
                    n => format!("{n} tests execute"),
                }
            ));
        }
        out
    }

    /// Returns the coverage in JSON.
    pub fn json(&self) -> serde_json::Value {
        let [mut lines, mut branches] = [Share::default(); 2];
        let mut files = Vec::new();
        for (path, counts) in &self.files {
            let [of_lines, of_branches] = counts.shares();
            for (sum, part) in [(&mut lines, of_lines), (&mut branches, of_branches)] {
                sum.all += part.all;
                sum.covered += part.covered;
            }
            let missing: Vec<u32> = counts.lines.iter().filter(|(_, n)| **n == 0).map(|(line, _)| *line).collect();
            let path = short(path);
            files.push(json!({
                "file": path, "lines": of_lines.json(), "branches": of_branches.json(), "missing_lines": missing,
            }));
        }
        let runs = self.runs.iter().zip(1..).map(|(run, number)| {
            json!({
                "test": number,
                "exit": run.status.and_then(|s| s.code()),
                "signal": run.status.and_then(|s| s.signal()),
                "stopped": run.status.is_none(),
                "seconds": run.time.as_secs_f64(),
            })
        });
        let broken =
            self.broken.iter().map(|b| json!({"test": b.test, "file": b.path, "line": b.line, "goals": b.what}));
        json!({
            "lines": lines.json(),
            "branches": branches.json(),
            "files": files,
            "runs": runs.collect::<Vec<_>>(),
            "broken": broken.collect::<Vec<_>>(),
            "network": self.has_network,
        })
    }
}

/// The compiler and the tools that read its counters.
struct Tools {
    clang: PathBuf,
    profdata: PathBuf,
    cov: PathBuf,
}

impl Tools {
    /// Finds the tools of the same version as clang.
    fn find() -> Result<Self, Failure> {
        let clang = frontend_llvm::clang().map_err(|e| Failure::data(format!("{e}")))?;
        let real = std::fs::canonicalize(&clang).unwrap_or_else(|_| clang.clone());
        let version = clang.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix("clang"));
        let suffix = version.unwrap_or_default().to_owned();
        let tool = |name: &str| {
            let besides =
                [real.parent().map(|f| f.join(name)), clang.parent().map(|f| f.join(format!("{name}{suffix}")))];
            let found = besides.into_iter().flatten().find(|path| path.is_file());
            found.ok_or_else(|| {
                Failure::data(format!(
                    "--run needs {name}, which is not beside {}; install llvm{suffix}",
                    real.display()
                ))
            })
        };
        Ok(Self { profdata: tool("llvm-profdata")?, cov: tool("llvm-cov")?, clang: clang.clone() })
    }

    /// Builds the program together with one more C file, and returns the path of the executable.
    fn build(
        &self,
        suite: &Suite<'_>,
        load: &Options,
        folder: &Path,
        name: &str,
        with: &Path,
    ) -> Result<PathBuf, Failure> {
        let program = folder.join(format!("{name}.out"));
        let mut common: Vec<String> = COUNTING.iter().map(|&option| option.to_owned()).collect();
        // A variable with the name would be visible to the program.
        common.push(format!("-fprofile-instr-generate={}%c", profile_of(&program).display()));
        if suite.program.layout.pointer_width == 32 {
            common.push("-m32".into());
        }
        common.push("-g".into());
        let (clang, objects) = (self.clang.display().to_string(), format!("{}/{name}.", folder.display()));
        let build = Build { load, compiler: &clang, common: &common, objects: &objects };
        let mut commands = build.commands(Some(&with.display().to_string()));
        if let Some(link) = commands.last_mut() {
            *link += &format!(" -o {}", program.display());
            // Functions that no test calls may use variables that no file defines.
            if load.entry != "main" {
                *link += " -Wl,--unresolved-symbols=ignore-all";
            }
        }
        for command in commands {
            let made = Command::new("sh").args(["-c", &command]).output();
            let made = made.map_err(|e| Failure::data(format!("sh does not run: {e}")))?;
            if !made.status.success() {
                let said = String::from_utf8_lossy(&made.stderr).into_owned();
                let said: Vec<&str> = said.lines().take(10).collect();
                return Err(Failure::data(format!(
                    "the program cannot be built for native runs:\n{}",
                    said.join("\n")
                )));
            }
        }
        Ok(program)
    }

    /// Returns the counts of a run for the files of the program.
    fn counts(&self, suite: &Suite<'_>, program: &Path, profile: &Path) -> Result<BTreeMap<String, Counts>, Failure> {
        if !profile.is_file() {
            return Ok(BTreeMap::new());
        }
        let mut counts = counts_in(&self.export(program, profile, &["--format=lcov"])?);
        let own: BTreeSet<String> = suite.program.files.values().map(|file| same(&file.path)).collect();
        counts.retain(|path, _| own.contains(path));
        Ok(counts)
    }

    /// Returns the extents of the conditions of a program. The profile is of any run.
    fn extents(&self, program: &Path, profile: &Path) -> Result<Extents, Failure> {
        let text = self.export(program, profile, &["--format=text", "--skip-functions"])?;
        let export: Export = serde_json::from_str(&text).map_err(|e| Failure::data(format!("llvm-cov: {e}")))?;
        let mut extents = Extents::new();
        for file in export.data.into_iter().flat_map(|data| data.files) {
            let ends = extents.entry(same(&file.filename)).or_default();
            for branch in file.branches {
                // A condition is a list of numbers: its first line and column, its last line and column, and counts.
                let [start, _, end, ..] = branch[..] else { continue };
                if start < end {
                    let known = ends.entry(start).or_insert(end);
                    *known = end.max(*known);
                }
            }
        }
        Ok(extents)
    }

    fn export(&self, program: &Path, profile: &Path, options: &[&str]) -> Result<String, Failure> {
        let merged = profile.with_extension("profdata");
        output(Command::new(&self.profdata).args(["merge", "-sparse"]).arg(profile).arg("-o").arg(&merged))?;
        let mut export = Command::new(&self.cov);
        export.arg("export").args(options).arg(program).arg("-instr-profile").arg(&merged);
        output(&mut export)
    }
}

/// The parts of llvm-cov's JSON that are read.
#[derive(serde::Deserialize)]
struct Export {
    data: Vec<ExportData>,
}

#[derive(serde::Deserialize)]
struct ExportData {
    files: Vec<ExportFile>,
}

#[derive(serde::Deserialize)]
struct ExportFile {
    filename: String,
    branches: Vec<Vec<u32>>,
}

/// Returns the standard output of a command. `Err` if it fails.
fn output(command: &mut Command) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let made = command.output().map_err(|e| Failure::data(format!("{name} does not run: {e}")))?;
    if !made.status.success() {
        return Err(Failure::data(format!("{name} fails: {}", String::from_utf8_lossy(&made.stderr).trim())));
    }
    Ok(String::from_utf8_lossy(&made.stdout).into_owned())
}

/// Reads the format of lcov.
fn counts_in(text: &str) -> BTreeMap<String, Counts> {
    let (mut files, mut file) = (BTreeMap::new(), String::new());
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        if key == "SF" {
            file = same(value);
            continue;
        }
        let of: &mut Counts = match key {
            "DA" | "BRDA" => files.entry(file.clone()).or_default(),
            _ => continue,
        };
        let mut fields = value.split(',');
        let line = fields.next().and_then(|n| n.parse().ok());
        let count = fields.next_back().map(|n| n.parse().unwrap_or(0));
        match (line, count, key) {
            (Some(line), Some(n), "DA") => _ = of.lines.insert(line, n),
            (Some(line), Some(n), _) => of.branches.entry(line).or_default().push(n),
            _ => {}
        }
    }
    files
}

/// Starts the program on the inputs of a process, in a new folder, and waits for its end. `Err` if it cannot be
/// started.
fn start(program: &Path, process: &Process, folder: &Path, has_network: bool, timeout: Duration) -> Result<Ran, Error> {
    folders::put_files(folder, process)?;
    let stdin = folder.with_extension("stdin");
    std::fs::write(&stdin, &process.stdin)?;
    let os = std::ffi::OsStr::from_bytes;
    let begin = Instant::now();
    let mut command = Command::new(program);
    command
        .arg0(Process::NAME)
        .args(process.arguments.iter().map(|a| os(a)))
        .env_clear()
        .envs(process.variables.iter().map(|(name, value)| (os(name), os(value))))
        .current_dir(folder)
        .stdin(File::open(&stdin)?)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    let seconds = timeout.as_secs() + 1;
    // SAFETY: the functions of the C library that are called between fork and exec are system calls.
    unsafe {
        command.pre_exec(move || {
            if !has_network {
                without_network()?;
            }
            limit(libc::RLIMIT_FSIZE, LARGEST_FILE)?;
            limit(libc::RLIMIT_CORE, 0)?;
            limit(libc::RLIMIT_CPU, seconds)?;
            match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                0 => Ok(()),
                _ => Err(Error::last_os_error()),
            }
        });
    }
    let mut child = command.spawn()?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if begin.elapsed() >= timeout {
            break None;
        }
        std::thread::sleep(TICK);
    };
    // SAFETY: the signal goes to the process group of the child, which contains only processes of the program.
    unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
    if status.is_none() {
        child.wait()?;
    }
    Ok(Ran { status, time: begin.elapsed() })
}

/// Gives this process a network of its own, which is empty. `Err` if the system does not permit it.
fn without_network() -> Result<(), Error> {
    // SAFETY: the calls change only attributes of this process.
    let done = unsafe {
        libc::unshare(libc::CLONE_NEWNET) == 0 || libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) == 0
    };
    if done { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Returns true if processes can be started without a network.
fn is_isolated() -> bool {
    let mut command = Command::new("true");
    // SAFETY: the function only calls the system.
    unsafe { command.pre_exec(without_network) };
    command.status().is_ok_and(|status| status.success())
}

/// Sets a resource limit of this process.
fn limit(resource: libc::__rlimit_resource_t, most: u64) -> Result<(), Error> {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the pointer is to a local variable.
    match unsafe { libc::setrlimit(resource, &limit) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read() {
        let text = "SF:/no/p.c\nFN:1,main\nDA:1,2\nDA:2,0\nBRDA:1,0,0,2\nBRDA:1,0,1,-\nLF:2\nend_of_record\n";
        let counts = &counts_in(text)["/no/p.c"];
        assert_eq!(counts.branches[&1], [2, 0]);
        assert_eq!(counts.shares(), [Share { covered: 1, all: 2 }, Share { covered: 1, all: 2 }]);
    }

    #[test]
    fn lines_of_a_condition_are_together() {
        let lines = BTreeSet::from([3, 4, 7, 9, 12, 14]);
        // Line 8 has no code. The condition of line 4 ends on line 6, and that of line 9 on line 13.
        let code = [3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14].map(|line| (line, 1)).into();
        let ends = [(4, 6), (9, 13)].into();
        assert_eq!(groups(&lines, &code, &ends), [[3, 4, 7, 9, 12, 14]]);
        assert_eq!(groups(&lines, &code, &BTreeMap::new()), [vec![3, 4], vec![7, 9], vec![12], vec![14]]);
    }

    #[test]
    fn a_run_has_its_inputs_and_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let sh = |script: &str| {
            let process = Process { arguments: vec![b"-c".to_vec(), script.into()], ..Process::default() };
            let home = tempfile::tempdir_in(folder.path()).unwrap();
            start(Path::new("/bin/sh"), &process, home.path(), true, Duration::from_millis(500)).unwrap()
        };
        assert_eq!(sh("exit 3").status.and_then(|s| s.code()), Some(3));
        assert!(sh("while :; do :; done").status.is_none());
    }
}
