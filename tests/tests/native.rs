//! Compares the interpreter with the machine: a program has the same result when it is compiled natively and when it is
//! lowered and interpreted. The programs are those in `native/`, and random programs of csmith, which have no undefined
//! behaviour and end with a checksum of their globals.
//!
//! Environment variables: `CSMITH_PROGRAMS` is the number of random programs, by default 20. `CSMITH_SEED` is the seed
//! of the first one, by default from the clock. The others have the following seeds.

use cfa::Bv;
use cfa::interp::{InputSource, Interpreter, Limits, Outcome, Unknown};
use frontend_llvm::{DataModel, Options};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Flags for both sides. Fused floating-point operations are disabled, because they round once instead of twice.
const SHARED: &[&str] = &["-w", "-ffp-contract=off"];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The flags that include `native/report.h`, which defines how a program reports its result.
fn report() -> Vec<OsString> {
    vec!["-include".into(), here().join("native/report.h").into()]
}

/// The result of a native run; `None` if it does not end in time.
fn natively(source: &Path, model: DataModel, flags: &[OsString], folder: &Path, time: Duration) -> Option<u32> {
    let binary = folder.join("program");
    // 32-bit code uses SSE, because the x87 computes with more precision than the types have.
    let machine: &[&str] = match model {
        DataModel::Lp64 => &["-m64"],
        DataModel::Ilp32 => &["-m32", "-msse2", "-mfpmath=sse"],
    };
    let status = Command::new("clang-19")
        .args(["-O0", "-DNATIVE"])
        .args(machine)
        .args(SHARED)
        .args(flags)
        .arg("-o")
        .args([&binary, source])
        .arg("-lm")
        .status()
        .expect("clang-19 runs");
    assert!(status.success(), "clang-19 does not compile {}", source.display());
    let mut child = Command::new(&binary).stdout(Stdio::piped()).spawn().expect("the program runs");
    let start = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if start.elapsed() > time {
            child.kill().expect("a child");
            child.wait().expect("a child");
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = String::from_utf8(child.wait_with_output().expect("a child").stdout).expect("text");
    let result = output.lines().find_map(|line| line.strip_prefix("result "));
    Some(result.unwrap_or_else(|| panic!("no result in {output:?}")).parse().expect("a number"))
}

/// The environment: every input is 1. `argc` is 1, and programs read nothing else.
struct Ones;

impl InputSource for Ones {
    fn unknown(&mut self, _: Unknown, width: u32) -> Bv {
        Bv::one(width)
    }
}

/// A random schedule of a program with threads. Inputs of one bit, such as whether a wait ends spuriously, are random.
/// All others are 1.
struct RandomSchedule(u64);

impl RandomSchedule {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

impl InputSource for RandomSchedule {
    fn unknown(&mut self, _: Unknown, width: u32) -> Bv {
        let bit = if width == 1 { self.below(2) as u64 } else { 1 };
        Bv::new(width, bit)
    }
    fn thread(&mut self, _: u64, _: u32, enabled: &[u32]) -> u32 {
        enabled[self.below(enabled.len())]
    }
}

/// The result of a comparison.
#[derive(Debug)]
enum Comparison {
    Equal {
        steps: u64,
        time: Duration,
    },
    /// One of the sides takes too long.
    TooLong,
    Different(String),
}

fn compare(source: &Path, model: DataModel, flags: &[OsString], folder: &Path, time: Duration) -> Comparison {
    compare_in(&mut Ones, false, source, model, flags, folder, time)
}

/// Compares a native run with a run of the interpreter in an environment.
fn compare_in(
    environment: &mut dyn InputSource,
    threads: bool,
    source: &Path,
    model: DataModel,
    flags: &[OsString],
    folder: &Path,
    time: Duration,
) -> Comparison {
    let Some(expected) = natively(source, model, flags, folder, time) else { return Comparison::TooLong };
    let mut clang_args: Vec<String> = SHARED.iter().map(|flag| flag.to_string()).collect();
    clang_args.extend(flags.iter().map(|flag| flag.to_str().expect("text").to_owned()));
    let options =
        Options { inputs: vec![source.into()], data_model: Some(model), clang_args, threads, ..Options::default() };
    let program = match frontend_llvm::load(&options).and_then(|module| module.lower()) {
        Ok(program) => program,
        Err(error) => return Comparison::Different(error.to_string()),
    };
    let start = Instant::now();
    let limits = Limits { steps: 50_000_000, ..Limits::default() };
    let run = Interpreter::new(&program).run(environment, limits, &mut ());
    match run.outcome {
        Outcome::Exit(result) if result as u32 == expected => {
            Comparison::Equal { steps: run.steps, time: start.elapsed() }
        }
        Outcome::Limit(_) => Comparison::TooLong,
        outcome => {
            let taints: Vec<&str> = run.taints.iter().map(|&t| &*program.taints[t].reason).collect();
            let mut what = format!("{outcome:?} after {} edges instead of {expected}; taints: {taints:?}", run.steps);
            if let Outcome::Invalid { edge, .. } = outcome {
                what += &format!("; in {}", program.funcs[program.func_of(edge)].name);
                if let Some(place) = program.edges[edge].place {
                    what += &format!(" at line {}", program.places[place].line);
                }
            }
            Comparison::Different(what)
        }
    }
}

#[test]
fn programs_end_as_they_do_natively() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut sources: Vec<PathBuf> = std::fs::read_dir(here().join("native"))
        .expect("the programs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    sources.sort();
    let mut failures = Vec::new();
    for source in &sources {
        for model in [DataModel::Lp64, DataModel::Ilp32] {
            match compare(source, model, &report(), folder.path(), Duration::from_secs(30)) {
                Comparison::Equal { steps, time } => {
                    let rate = steps as f64 / time.as_secs_f64() / 1e6;
                    println!("{} {model:?}: {steps} edges, {rate:.0} M/s", source.display());
                }
                other => failures.push(format!("{} {model:?}: {other:?}", source.display())),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The models of pthreads and of the threads of C11 agree with the C library, on one and on several threads. The result
/// of these programs depends on no schedule.
#[test]
fn programs_with_threads_end_as_they_do_natively() {
    let folder = tempfile::tempdir().expect("a folder");
    let entries = std::fs::read_dir(here().join("native/threads")).expect("the programs");
    let sources =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.extension().is_some_and(|e| e == "c"));
    let mut failures = Vec::new();
    for source in sources {
        for (model, seed) in [(DataModel::Lp64, 1), (DataModel::Ilp32, 2), (DataModel::Lp64, 3)] {
            let environment = &mut RandomSchedule(seed);
            match compare_in(environment, true, &source, model, &report(), folder.path(), Duration::from_secs(30)) {
                Comparison::Equal { .. } => {}
                other => failures.push(format!("{} {model:?} {seed}: {other:?}", source.display())),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Options of csmith, chosen by seed. Each list makes other features likely.
const CSMITH: &[&[&str]] = &[
    &[],
    &["--float"],
    &["--no-packed-struct", "--max-struct-fields", "4", "--max-array-dim", "2"],
    &["--builtins", "--max-pointer-depth", "4"],
    &["--max-funcs", "20", "--no-arrays"],
];

#[test]
fn random_programs_end_as_they_do_natively() {
    let number = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock").as_secs();
    let first = number("CSMITH_SEED").unwrap_or(clock);
    let programs = number("CSMITH_PROGRAMS").unwrap_or(20);
    println!("CSMITH_SEED={first} CSMITH_PROGRAMS={programs}");

    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("program.c");
    let mut flags = report();
    flags.extend(["-DCSMITH", "-isystem", "/usr/include/csmith"].map(OsString::from));
    let (mut equal, mut too_long, mut edges, mut time) = (0, 0, 0, Duration::ZERO);
    let mut failures = Vec::new();
    for seed in first..first + programs {
        let options = CSMITH[(seed % CSMITH.len() as u64) as usize];
        let made =
            Command::new("csmith").args(options).args(["--seed", &seed.to_string()]).output().expect("csmith runs");
        assert!(made.status.success(), "csmith fails with seed {seed}");
        std::fs::write(&source, made.stdout).expect("a file");
        let model = if seed % 3 == 0 { DataModel::Ilp32 } else { DataModel::Lp64 };
        match compare(&source, model, &flags, folder.path(), Duration::from_secs(1)) {
            Comparison::Equal { steps, time: t } => {
                equal += 1;
                edges += steps;
                time += t;
            }
            Comparison::TooLong => too_long += 1,
            Comparison::Different(what) => {
                failures.push(format!("csmith {} --seed {seed}, {model:?}: {what}", options.join(" ")));
                println!("{}", failures.last().expect("a failure"));
            }
        }
    }
    let rate = edges as f64 / time.as_secs_f64() / 1e6;
    println!("{equal} equal, {too_long} too long, {} different; {edges} edges, {rate:.1} M/s", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(too_long <= equal + 2, "most programs take too long");
}
