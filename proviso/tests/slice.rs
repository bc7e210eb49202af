//! A slice behaves like its program at the criterion. The programs in `tests/slice`, and random programs of csmith, are
//! sliced for each of their criteria. The program and the slice run natively on the same input.
//!
//! The programs call `criterion(place, value)`, which prints its arguments.
//!
//! Environment variables: `PROVISO_SLICE_PROGRAMS` is the number of random programs, by default 2. `PROVISO_SLICE_SEED`
//! is the seed of the first one, by default from the clock.

use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

const INPUT: &str = "ab and more\n12 34\n";
const CRITERION: &str = "#include <stdio.h>\nstatic long calls;\nvoid criterion(int place, long value) {\n\
    if (calls++ < 100000) printf(\"criterion %d: %ld\\n\", place, value);\n}\n";

fn clang() -> Command {
    let mut clang = Command::new(std::env::var_os("PROVISO_CLANG").unwrap_or("clang-19".into()));
    clang.arg("-w");
    clang
}

fn must(command: &mut Command) -> Output {
    let output = command.output().expect("a program that can be run");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Runs a program. Returns its output for the criteria in the given places; `None` if it does not end in time.
fn run(program: &Path, places: &BTreeSet<u32>, limit: Duration) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let (input, told) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&input, INPUT).unwrap();
    let mut child = Command::new(program)
        .stdin(std::fs::File::open(&input).unwrap())
        .stdout(std::fs::File::create(&told).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let told = String::from_utf8_lossy(&std::fs::read(&told).unwrap()).into_owned();
    let wanted = |line: &&str| {
        let place = line.strip_prefix("criterion ").and_then(|rest| rest.split(':').next()?.parse().ok());
        place.is_some_and(|place| places.contains(&place))
    };
    Some(told.lines().filter(wanted).map(str::to_owned).collect())
}

struct Bench {
    folder: tempfile::TempDir,
    criterion: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (source, criterion) = (folder.path().join("criterion.c"), folder.path().join("criterion.o"));
        std::fs::write(&source, CRITERION).unwrap();
        must(clang().arg("-c").arg(&source).arg("-o").arg(&criterion));
        Self { folder, criterion }
    }
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
    /// Compiles a file and links it with the function `criterion`.
    fn link(&self, file: &Path, flags: &[&str], out: &str) -> PathBuf {
        let out = self.path(out);
        must(clang().args(flags).arg(file).arg(&self.criterion).arg("-lm").arg("-o").arg(&out));
        out
    }
    /// Slices for lines of a source. `None` if one of them has no code, or only unreachable code.
    fn slice(&self, file: &Path, source: &str, lines: &[u32], options: &[&str]) -> Option<()> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
        command.arg("slice").arg(file).args(options);
        for line in lines {
            command.args(["-c", &format!("{source}:{line}")]);
        }
        let output = command.output().expect("a program that can be run");
        let message = String::from_utf8_lossy(&output.stderr);
        if ["there is no code in that place", "no execution can reach the criterion"]
            .iter()
            .any(|m| message.contains(m))
        {
            return None;
        }
        assert!(output.status.success(), "{command:?}\n{message}");
        Some(())
    }
}

/// The slicing options in the comments of a source.
fn options_of(text: &str) -> Vec<&str> {
    let line = text.lines().find_map(|l| l.strip_prefix("// options: "));
    line.map_or_else(Vec::new, |l| l.split(' ').collect())
}

/// The criteria of a source: line and place.
fn criteria(text: &str) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for (n, line) in text.lines().enumerate() {
        if let Some(call) = line.split("criterion(").nth(1)
            && let Ok(place) = call.split(',').next().unwrap_or("").trim().parse()
        {
            found.push((n as u32 + 1, place));
        }
    }
    found
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/slice");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "c"));
    files.sort();
    assert!(files.len() >= 4);
    files
}

#[test]
fn slices_do_what_programs_do() {
    programs().into_par_iter().for_each(|file| {
        let bench = Bench::new();
        let text = std::fs::read_to_string(&file).unwrap();
        let original = bench.link(&file, &["-O0"], "original");
        let all = criteria(&text);
        assert!(all.len() >= 5);
        for (n, (line, place)) in all.iter().enumerate() {
            let places = BTreeSet::from([*place]);
            let expected = run(&original, &places, Duration::from_secs(10)).expect("the program ends");
            let (bitcode, blanked) = (bench.path("slice.bc"), bench.path("blanked.c"));
            let (bitcode_name, blanked_name) = (bitcode.to_str().unwrap(), blanked.to_str().unwrap());
            let options: &[&str] = match n % 4 {
                1 => &["--control", "nontermination"],
                2 => &["--points-to", "unification"],
                3 => &["--cut-off", "no"],
                _ => &[],
            };
            let own = options_of(&text);
            let options = [options, &own, &["-o", bitcode_name, "--c", blanked_name]].concat();
            let name = file.file_name().unwrap().to_str().unwrap();
            bench.slice(&file, name, &[*line], &options).expect("a line with code");
            for (what, level) in [(&bitcode, "-O0"), (&bitcode, "-O2"), (&blanked, "-O0")] {
                let told = run(&bench.link(what, &[level], "slice"), &places, Duration::from_secs(10));
                assert_eq!(told.as_ref(), Some(&expected), "{}:{line}, {} {level}", file.display(), what.display());
            }
        }
    });
}

/// In preprocessed C, line directives give the lines other numbers.
#[test]
fn preprocessed_programs_are_sliced() {
    programs().into_par_iter().for_each(|file| {
        let bench = Bench::new();
        let text = std::fs::read_to_string(&file).unwrap();
        let (preprocessed, blanked) = (bench.path("program.i"), bench.path("blanked.c"));
        must(clang().arg("-E").arg(&file).arg("-o").arg(&preprocessed));
        assert!(std::fs::read_to_string(&preprocessed).unwrap().contains("# 1 \""));
        let original = bench.link(&file, &["-O0"], "original");
        for (line, place) in criteria(&text).into_iter().step_by(3) {
            let places = BTreeSet::from([place]);
            let expected = run(&original, &places, Duration::from_secs(10)).expect("the program ends");
            let options = [&options_of(&text)[..], &["--c", blanked.to_str().unwrap()]].concat();
            let name = file.file_name().unwrap().to_str().unwrap();
            bench.slice(&preprocessed, name, &[line], &options).expect("a line with code");
            let told = run(&bench.link(&blanked, &["-O0"], "slice"), &places, Duration::from_secs(10));
            assert_eq!(told, Some(expected), "{}:{line}", file.display());
        }
    });
}

/// A slice ends where the program ends in a call that does not return, whatever the statement.
#[test]
fn calls_that_do_not_return_end_slices() {
    let text = include_str!("../../tests/slice/ends.c");
    (1..=5).into_par_iter().for_each(|start: u32| {
        let bench = Bench::new();
        let text = text.replace("START \"0\"", &format!("START \"{start}\""));
        let (file, blanked) = (bench.path("ends.c"), bench.path("blanked.c"));
        std::fs::write(&file, &text).unwrap();
        let original = bench.link(&file, &["-O0"], "original");
        for (line, place) in criteria(&text) {
            let places = BTreeSet::from([place]);
            let expected = run(&original, &places, Duration::from_secs(10)).expect("the program ends");
            bench.slice(&file, "ends.c", &[line], &["--c", blanked.to_str().unwrap()]).expect("a line with code");
            let told = run(&bench.link(&blanked, &["-O0"], "slice"), &places, Duration::from_secs(10));
            assert_eq!(told, Some(expected), "criterion {place}, start {start}");
        }
    });
}

/// The slice does not need a struct that is passed by copy, so it removes its address. The call must still have an
/// object to copy.
#[test]
fn what_is_passed_by_copy_is_there() {
    let bench = Bench::new();
    let text = "extern void criterion(int, long);\nstruct large { long parts[5]; };\n\
        static struct large one, *places[2] = {&one, 0};\n\
        static long second(struct large unused, long value) { return value + 1; }\n\
        static long through(struct large *from, long value) { return second(*from, value) * 2; }\n\
        int main(void) {\nstruct large *from = places[0];\ncriterion(1, through(from, 5));\nreturn 0; }\n";
    let (file, bitcode) = (bench.path("copies.c"), bench.path("slice.bc"));
    std::fs::write(&file, text).unwrap();
    bench.slice(&file, "copies.c", &[8], &["-o", bitcode.to_str().unwrap()]).expect("a line with code");
    for level in ["-O0", "-O2"] {
        let told = run(&bench.link(&bitcode, &[level], "slice"), &BTreeSet::from([1]), Duration::from_secs(10));
        assert_eq!(told, Some(vec!["criterion 1: 12".to_owned()]), "{level}");
    }
}

#[test]
fn optimised_bitcode_is_sliced() {
    let bench = Bench::new();
    for file in programs() {
        let text = std::fs::read_to_string(&file).unwrap();
        let all = criteria(&text);
        let bitcode = bench.path("program.bc");
        must(clang().args(["-O2", "-g", "-c", "-emit-llvm"]).arg(&file).arg("-o").arg(&bitcode));
        let original = bench.link(&bitcode, &["-O0"], "original");
        let places: BTreeSet<u32> = all.iter().map(|&(_, place)| place).collect();
        let expected = run(&original, &places, Duration::from_secs(10)).expect("the program ends");
        let out = bench.path("slice.ll");
        let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
        command.arg("slice").args(options_of(&text)).arg(&bitcode);
        must(command.args(["-c", "criterion", "-o"]).arg(&out));
        let told = run(&bench.link(&out, &["-O1"], "slice"), &places, Duration::from_secs(10));
        assert_eq!(told, Some(expected), "{}", file.display());
    }
}

const CSMITH: &[&[&str]] = &[
    &["--max-funcs", "6"],
    &["--float", "--max-funcs", "6"],
    &["--no-packed-struct", "--max-struct-fields", "4", "--max-array-dim", "2"],
    &["--builtins", "--max-pointer-depth", "4", "--max-funcs", "8"],
];

/// Inserts criteria before some of the checksums, and before some returns of functions with arithmetic types.
fn with_criteria(text: &str, seed: u64) -> String {
    let mut out = String::new();
    let mut number = 0;
    let mut line_number = 0;
    let mut scalar = false;
    let mut add = |out: &mut String, line: &str| {
        out.push_str(line);
        out.push('\n');
        line_number += 1;
        line_number
    };
    for line in text.lines() {
        let is_header = line.contains("func_") && line.starts_with("static") && !line.trim_end().ends_with(';');
        if is_header {
            let head = line.split("func_").next().unwrap_or("");
            scalar =
                !head.contains('*') && (head.contains("int") && !head.contains("struct") && !head.contains("union"));
        }
        let trimmed = line.trim_start();
        let value = if let Some(rest) = trimmed.strip_prefix("transparent_crc(") {
            rest.split(',').next()
        } else if let (true, Some(rest)) = (scalar, trimmed.strip_prefix("return ")) {
            rest.strip_suffix(';').filter(|v| v.starts_with("g_") || v.starts_with("l_"))
        } else {
            None
        };
        if let Some(value) = value.filter(|v| v.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')) {
            number += 1;
            if (seed.wrapping_add(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % 3 == 0 {
                add(&mut out, &format!("    criterion({number}, (long)({value}));"));
            }
        }
        add(&mut out, line);
        if trimmed.starts_with("#include \"csmith.h\"") {
            add(&mut out, "extern void criterion(int, long);");
        }
    }
    out
}

#[test]
fn slices_of_random_programs_do_what_the_programs_do() {
    let number = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock").as_secs();
    let (programs, first) =
        (number("PROVISO_SLICE_PROGRAMS").unwrap_or(2), number("PROVISO_SLICE_SEED").unwrap_or(clock));
    let bench = Bench::new();
    // One of the builtins that csmith calls needs the CRC32 instruction.
    let flags = ["-isystem", "/usr/include/csmith", "-DCSMITH", "-g", "-mcrc32"];
    let (mut equal, mut left_out, mut hits, mut tried) = (0, 0, 0, 0);
    let mut seed = first;
    while tried < programs {
        let made = Command::new("csmith")
            .args(CSMITH[(seed % CSMITH.len() as u64) as usize])
            .args(["--seed", &seed.to_string()])
            .output()
            .expect("csmith runs");
        let source = bench.path("random.c");
        let text = with_criteria(&String::from_utf8_lossy(&made.stdout), seed);
        std::fs::write(&source, &text).unwrap();
        let all = criteria(&text);
        let bitcode = bench.path("random.bc");
        must(clang().args(flags).args(["-O0", "-c", "-emit-llvm"]).arg(&source).arg("-o").arg(&bitcode));
        let original = bench.link(&bitcode, &["-O0"], "original");
        let everything = all.iter().map(|&(_, place)| place).collect();
        seed += 1;
        // Skip programs that do not end or reach no criterion.
        let told = run(&original, &everything, Duration::from_secs(2));
        if told.is_none_or(|told| told.is_empty()) {
            left_out += 1;
            assert!(left_out < 20 + 5 * programs, "most random programs do not end");
            continue;
        }
        tried += 1;
        for (n, chosen) in all.chunks(1 + seed as usize % 3).take(4).enumerate() {
            let places: BTreeSet<u32> = chosen.iter().map(|c| c.1).collect();
            let lines: Vec<u32> = chosen.iter().map(|c| c.0).collect();
            let expected = run(&original, &places, Duration::from_secs(10)).expect("it ended before");
            let (slice, blanked) = (bench.path("slice.bc"), bench.path("blanked.c"));
            if bench.slice(&bitcode, "random.c", &lines, &["-o", slice.to_str().unwrap()]).is_none() {
                let is_met = |place: &u32| expected.iter().any(|line| line.starts_with(&format!("criterion {place}:")));
                assert!(!places.iter().all(is_met), "csmith seed {}, lines {lines:?}", seed - 1);
                continue;
            }
            let level = if n % 2 == 0 { "-O0" } else { "-O2" };
            let told = run(&bench.link(&slice, &[level], "slice"), &places, Duration::from_secs(20));
            assert_eq!(told.as_ref(), Some(&expected), "csmith seed {}, lines {lines:?}, {level}", seed - 1);
            let options = [&["--c", blanked.to_str().unwrap()], &flags[..]].concat();
            bench.slice(&source, "random.c", &lines, &options).expect("the bitcode has code there");
            let linked = bench.link(&blanked, &[&flags[..], &[level]].concat(), "slice");
            let told = run(&linked, &places, Duration::from_secs(20));
            assert_eq!(told.as_ref(), Some(&expected), "C, csmith seed {}, lines {lines:?}, {level}", seed - 1);
            hits += expected.len();
            equal += 1;
        }
    }
    println!("{equal} slices of {tried} programs, {hits} hits of criteria, none different");
}
