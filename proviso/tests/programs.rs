//! Runs `proviso verify` on the C programs of `tests/c` and compares the verdicts with the expected ones.
//!
//! By default, a program is verified twice. Without options, the verdict must be TRUE. With `-DBUG`, it must be FALSE,
//! and the violation must be on a line that contains `wrong`. Unless the options name a property, only assertions are
//! checked. Comments at the top of a program change this:
//!
//! - `// run: OPTIONS => VERDICT` replaces the two runs.
//! - `// line: N` is the line of the violation, if `#line` moves it.
//! - `// ranks: N` is the number of components of the ranking function that the proof of a loop needs.
//! - `// native: no`: the violation depends on uninitialised memory, so it is not reproduced natively.
//! - `// native: unseen`: no sanitizer detects the violation, or a harness cannot enforce it.
//! - `// native: c++`: clang has the check in C++ only.
//!
//! Every other violation is reproduced natively: the program is compiled with the harness and run.
//!
//! `PROVISO_TEST=memory/vla cargo test -p proviso --test programs` runs only the programs with that name. Runs listed
//! in `tests/c/gaps.txt` are known to be UNKNOWN. A run with another verdict must be removed from the list.

mod words;

use rayon::prelude::*;
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use words::internal_word;

/// One invocation and its expected verdict.
#[derive(Debug)]
struct Run {
    file: PathBuf,
    options: Vec<String>,
    /// `TRUE`, `FALSE(property)` or `UNKNOWN`.
    verdict: String,
}

impl Run {
    /// The line of the run in `gaps.txt`.
    fn name(&self, root: &Path) -> String {
        let file = self.file.strip_prefix(root).unwrap().display();
        std::iter::once(file.to_string()).chain(self.options.iter().cloned()).collect::<Vec<_>>().join(" ")
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("tests/c").canonicalize().unwrap()
}

/// The programs below a folder, sorted.
fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|e| e == "c") && !path.to_string_lossy().ends_with(".inc.c") {
            found.push(path);
        }
    }
}

fn runs(file: &Path) -> Vec<Run> {
    let text = std::fs::read_to_string(file).unwrap();
    let run = |options: &str, verdict: &str| Run {
        file: file.to_owned(),
        options: options.split_whitespace().map(String::from).collect(),
        verdict: verdict.trim().to_owned(),
    };
    let mut runs: Vec<Run> = text
        .lines()
        .filter_map(|l| l.strip_prefix("// run:"))
        .map(|l| {
            let (options, verdict) = l.split_once("=>").expect("// run: OPTIONS => VERDICT");
            run(options, verdict)
        })
        .collect();
    if runs.is_empty() {
        runs = vec![run("", "TRUE"), run("-DBUG", "FALSE(unreach-call)")];
    }
    runs
}

fn proviso(run: &Run, folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.current_dir(run.file.parent().unwrap());
    command.args(["verify", "--timeout", "60", "--stats"]);
    if !run.options.iter().any(|o| ["--property", "--check", "--automaton"].contains(&o.as_str())) {
        command.args(["--property", "unreach-call"]);
    }
    command.arg("--json").arg(folder.join("result.json")).arg("--harness").arg(folder.join("harness.c"));
    // Later options win, so a run can have another timeout.
    command.arg(run.file.file_name().unwrap()).args(&run.options).args(["--color", "never"]).output().unwrap()
}

/// Runs the verifier. Fails with a message if the result is not the expected one.
fn check(run: &Run, folder: &Path) -> Result<(), String> {
    let output = proviso(run, folder);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let verdict = stdout.lines().last().unwrap_or("");
    let expected_code = match run.verdict.split('(').next().unwrap() {
        "TRUE" => 0,
        "FALSE" => 1,
        _ => 2,
    };
    let matches = verdict == run.verdict || (run.verdict == "UNKNOWN" && verdict.starts_with("UNKNOWN("));
    if !matches || output.status.code() != Some(expected_code) {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stderr: Vec<_> = stderr.lines().take(12).collect();
        return Err(format!(
            "says {verdict} (exit {:?}), not {}\n{}",
            output.status.code(),
            run.verdict,
            stderr.join("\n")
        ));
    }
    says_no_internal_word(&output)?;
    let json = std::fs::read_to_string(folder.join("result.json")).map_err(|e| format!("no JSON: {e}"))?;
    let json: serde_json::Value = serde_json::from_str(&json).map_err(|e| format!("bad JSON: {e}"))?;
    if let Some(word) = internal_word(&without_statistics(&json)) {
        return Err(format!("JSON has the internal word {word}"));
    }
    if json["verdict_line"] != verdict {
        return Err(format!("JSON says {}", json["verdict_line"]));
    }
    match expected_code {
        0 => has_ranks(&json, run)?,
        1 => {
            violation_is_on_a_wrong_line(&json, run, &stdout)?;
            reproduces(run, folder)?;
        }
        _ => {}
    }
    Ok(())
}

/// The text of a result. Statistics and names of models are exempt, because they name parts of the engine.
fn without_statistics(json: &serde_json::Value) -> String {
    let mut json = json.clone();
    for key in ["statistics", "models", "proof"] {
        json[key].take();
    }
    json.to_string()
}

/// Fails if a message contains an internal name. Statistics are exempt, because they name counters of the engine, and so
/// are lines of the program.
fn says_no_internal_word(output: &Output) -> Result<(), String> {
    for stream in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(stream);
        let said = text.split("statistics:\n").next().unwrap_or_default();
        let is_quoted =
            |line: &&str| line.split_once('|').is_some_and(|(number, _)| number.trim().parse::<u32>().is_ok());
        let said: String = said.lines().filter(|line| !is_quoted(line)).flat_map(|line| [line, "\n"]).collect();
        if let Some(word) = internal_word(&said) {
            let line = said.lines().find(|line| line.contains(word)).unwrap_or_default();
            return Err(format!("says the internal word {word}: {line}"));
        }
    }
    Ok(())
}

/// Fails if the program has a line `// ranks: N` and no ranking function of the proof has N components.
fn has_ranks(json: &serde_json::Value, run: &Run) -> Result<(), String> {
    let text = std::fs::read_to_string(&run.file).unwrap();
    let Some(ranks) = text.lines().find_map(|l| l.strip_prefix("// ranks:")) else { return Ok(()) };
    let ranks: usize = ranks.trim().parse().unwrap();
    let tuples = json["ranking_functions"].as_array().ok_or("no ranking functions")?;
    let longest = tuples.iter().filter_map(|ranking| ranking["tuple"].as_array()).map(Vec::len).max();
    if longest == Some(ranks) { Ok(()) } else { Err(format!("has {longest:?} ranks, not {ranks}: {tuples:?}")) }
}

fn violation_is_on_a_wrong_line(json: &serde_json::Value, run: &Run, stdout: &str) -> Result<(), String> {
    let location = &json["violation"]["location"];
    let file = location["file"].as_str().ok_or("the violation has no location")?;
    let line = location["line"].as_u64().ok_or("the violation has no line")? as usize;
    let text = std::fs::read_to_string(&run.file).unwrap();
    let marked = text.lines().find_map(|l| l.strip_prefix("// line:")).map_or(0, |l| l.trim().parse().unwrap());
    let at = text.lines().nth(line - 1).unwrap_or("");
    let named = at.contains("wrong") || line == marked;
    if Path::new(file).file_name() != run.file.file_name() || !named {
        return Err(format!("the violation is at {file}:{line}: {at}"));
    }
    if !stdout.contains(&format!("{file}:{line}")) || !stdout.contains("counterexample (") {
        return Err(format!("the message does not show {file}:{line}:\n{stdout}"));
    }
    Ok(())
}

/// The sanitizers of clang that must detect the violation, too. Empty if the violation is a call of the error function.
fn sanitizers(verdict: &str) -> &str {
    match verdict {
        "FALSE(no-overflow)" => "signed-integer-overflow,shift",
        "FALSE(valid-deref)" | "FALSE(valid-free)" | "FALSE(valid-memtrack)" => "address",
        "FALSE(leak)" => "address",
        "FALSE(pointer-compare)" => "address,pointer-compare",
        "FALSE(pointer-subtract)" => "address,pointer-subtract",
        "FALSE(unreach-call)" | "FALSE(valid-memcleanup)" => "",
        // The harness itself sees these.
        "FALSE(no-data-race)" | "FALSE(thread)" | "FALSE(deadlock)" => "",
        // A check has the name of its sanitizer.
        other => other.trim_start_matches("FALSE(").trim_end_matches(')'),
    }
}

/// Compiles the program with the harness and runs it. Fails unless the error function is called or a sanitizer reports
/// an error.
fn reproduces(run: &Run, folder: &Path) -> Result<(), String> {
    // A harness cannot reproduce an infinite execution.
    if run.verdict == "FALSE(termination)" {
        return Ok(());
    }
    let harness = std::fs::read_to_string(folder.join("harness.c")).map_err(|e| format!("no harness: {e}"))?;
    // No sanitizer detects some violations, such as those of automata. The compiler does not know the functions of
    // other verifiers, unless the program declares them.
    let text = std::fs::read_to_string(&run.file).unwrap();
    let vocabulary =
        (text.contains("__CPROVER_") || text.contains("__ESBMC_")) && !text.contains("// native: declares");
    if text.lines().any(|l| l == "// native: unseen") || vocabulary {
        return Ok(());
    }
    if harness.contains("cannot be set from outside") {
        let declared = text.lines().any(|l| l == "// native: no");
        return if declared { Ok(()) } else { Err(format!("the harness cannot provide all values:\n{harness}")) };
    }
    let mut clang = Command::new("clang-19");
    clang.current_dir(run.file.parent().unwrap());
    clang
        .args(["-w", "-Wno-implicit-function-declaration", "-O0", "-o"])
        .arg(folder.join("native"))
        .args(["-x", if text.lines().any(|l| l == "// native: c++") { "c++" } else { "c" }])
        .arg(run.file.file_name().unwrap());
    clang.args(["-x", "c"]).arg(folder.join("harness.c")).arg("-lm");
    // With threads, the sanitizer is that of the command in the harness.
    let checks_leaks = harness.contains("proviso_segments") && harness.contains(" -fsanitize=leak ");
    let sanitizers = if checks_leaks { "leak" } else { sanitizers(&run.verdict) };
    if !sanitizers.is_empty() {
        clang.arg(format!("-fsanitize={sanitizers}")).arg("-fno-sanitize-recover=all");
    }
    // The macros that replace library functions by functions of the harness.
    clang.args(harness.split_whitespace().filter(|word| word.starts_with("-D") && word.contains("=proviso_")));
    // The calls that these options add enforce the schedule of threads.
    if harness.contains("proviso_segments") {
        let (_, options) = harness.split_once("clang-19 ").expect("a command");
        let known = ["-Xclang", "-mllvm", "-fsanitize=thread", "-fsanitize-coverage", "-tsan", "-asan", "-pthread"];
        clang.args(
            options
                .split_whitespace()
                .take_while(|word| *word != "&&")
                .filter(|word| known.iter().any(|k| word.starts_with(k))),
        );
    }
    // The harness calls functions of this sanitizer.
    if sanitizers.is_empty() && harness.contains(" -fsanitize=address ") {
        clang.arg("-fsanitize=address");
    }
    let mut options = run.options.iter();
    while let Some(option) = options.next() {
        match option.as_str() {
            "--32" => drop(clang.arg("-m32")),
            "--std" => drop(clang.arg(format!("-std={}", options.next().unwrap()))),
            "--error-function" | "--timeout" | "--data-model" | "--property" | "--check" | "--entry" => {
                options.next();
            }
            "--entry-globals" | "--malloc-may-fail" | "--argc-may-be-zero" => {}
            option if option.starts_with("--entry-") => drop(options.next()),
            option if option.starts_with("-D") || option.ends_with(".c") => drop(clang.arg(option)),
            _ => {}
        }
    }
    let compiled = clang.output().unwrap();
    let errors = String::from_utf8_lossy(&compiled.stderr);
    if !compiled.status.success() {
        // Some machines have no start files for 32-bit programs.
        return if errors.contains("ld: cannot find") {
            Ok(())
        } else {
            Err(format!("the harness does not compile:\n{errors}"))
        };
    }
    // A leak before an infinite loop is never reported natively, so a timeout counts as reproduced.
    let mut native = Command::new("timeout");
    native.arg("20").arg(folder.join("native")).stdin(std::process::Stdio::null());
    // After the return of `main`, LeakSanitizer must not use stale pointers on the stack and in registers.
    native.env("LSAN_OPTIONS", "use_stacks=0:use_registers=0");
    native.env("ASAN_OPTIONS", "detect_invalid_pointer_pairs=2");
    let native = native.output().unwrap();
    let stderr = String::from_utf8_lossy(&native.stderr);
    // A program may define its error function itself; `assert` has its own message.
    let failed = match sanitizers {
        "" if run.verdict == "FALSE(valid-memcleanup)" => true,
        "" => stderr.contains("is called") || stderr.contains("Assertion") || native.status.signal() == Some(ABORT),
        _ if run.verdict == "FALSE(valid-memtrack)" && native.status.code() == Some(TIMED_OUT) => true,
        _ => {
            // A division by zero that the sanitizer does not instrument, as in the library, ends with a signal.
            let reports = [
                "runtime error:",
                "AddressSanitizer",
                "LeakSanitizer",
                "MemorySanitizer",
                "UndefinedBehaviorSanitizer: FPE",
                // The harness itself sees uses of objects of other threads.
                "after its lifetime",
            ];
            reports.iter().any(|report| stderr.contains(report))
        }
    };
    if failed { Ok(()) } else { Err(format!("does not fail natively ({})\n{stderr}", native.status)) }
}

const ABORT: i32 = 6;
/// The status that `timeout` ends with.
const TIMED_OUT: i32 = 124;

/// Does `work` for every run, with a folder for files, on all cores.
fn in_parallel(runs: &[Run], work: impl Fn(&Run, &Path) + Sync) {
    runs.par_iter().for_each_init(|| tempfile::tempdir().unwrap(), |folder, run| work(run, folder.path()));
}

#[test]
fn programs_get_the_verdicts_they_expect() {
    let root = root();
    let mut files = Vec::new();
    programs(&root, &mut files);
    let filter = std::env::var("PROVISO_TEST").unwrap_or_default();
    let runs: Vec<Run> = files.iter().flat_map(|f| runs(f)).filter(|r| r.name(&root).contains(&filter)).collect();
    let gaps = std::fs::read_to_string(root.join("gaps.txt")).unwrap_or_default();
    let gaps: BTreeSet<&str> =
        gaps.lines().map(|l| l.split('#').next().unwrap().trim()).filter(|l| !l.is_empty()).collect();

    let failures = Mutex::new(Vec::new());
    in_parallel(&runs, |run, folder| {
        for file in ["result.json", "harness.c"] {
            let _ = std::fs::remove_file(folder.join(file));
        }
        let name = run.name(&root);
        let failure = match (check(run, folder), gaps.contains(name.as_str())) {
            (Ok(()), false) => return,
            (Err(what), true) if what.starts_with("says UNKNOWN(") => return,
            (Ok(()), true) => "is no gap any more: take it from gaps.txt".to_owned(),
            (Err(what), _) => what,
        };
        failures.lock().unwrap().push(format!("{name}: {failure}"));
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(failures.is_empty(), "{} of {} runs fail:\n{}", failures.len(), runs.len(), failures.join("\n"));
}

/// Each check of the command has a program that is verified with this check alone, three times: with values well within
/// the allowed range, with the last allowed value, and with the next one. There, clang's sanitizer of the same name
/// must detect the violation, too.
#[test]
fn each_check_has_a_program_within_on_the_edge_and_beyond() {
    for check in instrument::NamedCheck::ALL {
        let name = check.name;
        // Violations between threads are tested in `tests/c/threads`.
        if matches!(name, "thread" | "deadlock") {
            continue;
        }
        let file = root().join(format!("checks/each/{name}.c"));
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("no program for {name}: {e}"));
        let unseen = text.lines().any(|l| l.starts_with("// native: ") && l != "// native: c++");
        assert!(!unseen && text.contains("at("), "{name}: nothing confirms it, or it is the same everywhere");
        let expected =
            [("", "TRUE".to_owned()), (" -DAT=EDGE", "TRUE".into()), (" -DAT=BEYOND", format!("FALSE({name})"))];
        let expected = expected.map(|(at, verdict)| (format!("--check {name}{at}"), verdict));
        let runs: Vec<(String, String)> = runs(&file).into_iter().map(|r| (r.options.join(" "), r.verdict)).collect();
        assert_eq!(runs, expected, "{name}");
        let gaps = std::fs::read_to_string(root().join("gaps.txt")).unwrap();
        assert!(!gaps.contains("checks/each"), "each of these has to have its verdict");
    }
}

/// Returns true if the output of `proviso instrument`, compiled and run, calls the error function: with the harness of
/// the violation if the expected verdict is FALSE, else with other inputs.
fn checked_program_fails(run: &Run, folder: &Path, compiler: &[&str], seed: &str) -> Result<bool, String> {
    let (checked, binary, harness) = (folder.join("checked.c"), folder.join("checked"), folder.join("harness.c"));
    let mut instrument = Command::new(env!("CARGO_BIN_EXE_proviso"));
    instrument.current_dir(run.file.parent().unwrap()).arg("instrument").arg(run.file.file_name().unwrap());
    let made = instrument.args(&run.options).arg("-o").arg(&checked).output().unwrap();
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into_owned());
    }
    if run.verdict != "TRUE" && !harness.exists() {
        proviso(run, folder);
        // The harness defines the error function only if the property is its call.
        let text = std::fs::read_to_string(&harness).map_err(|e| format!("no harness: {e}"))?;
        let own = "#include <stdio.h>\nvoid reach_error(void) { fprintf(stderr, \"reach_error is called\\n\"); }\n";
        let own = if text.contains("void reach_error") { "" } else { own };
        std::fs::write(&harness, text + "\n" + own).unwrap();
    }
    let any = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/any_inputs.c");
    let inputs = if run.verdict == "TRUE" { &any } else { &harness };
    let mut compile = Command::new(compiler[0]);
    compile.args(&compiler[1..]).args(["-w", "-fno-strict-aliasing", "-o"]).arg(&binary);
    let compiled = compile.arg(format!("-DSEED={seed}")).args([&checked, inputs]).arg("-lm").output().unwrap();
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    let mut native = Command::new("timeout");
    let native = native.arg("20").arg(&binary).stdin(std::process::Stdio::null()).output().unwrap();
    match native.status.code() {
        Some(TIMED_OUT) => Err("it does not end".into()),
        _ => Ok(String::from_utf8_lossy(&native.stderr).contains("reach_error is called")),
    }
}

/// The memory checks in instrumented programs detect exactly the violations of the verifier when the programs run
/// natively.
#[test]
fn programs_with_memory_checks_in_them_fail_where_they_are_wrong() {
    let root = root();
    let mut files = Vec::new();
    programs(&root.join("memsafety"), &mut files);
    files.extend(["memory", "each/address", "each/leak"].map(|name| root.join(format!("checks/{name}.c"))));
    // Left out: runs that differ only in the analysis; leaks before an infinite loop, which instrumented programs check
    // at the end only; and `INNER`, in which an object starts where another has ended, which the checks cannot
    // distinguish.
    let is_about_memory = |r: &Run| {
        let options = r.options.join(" ");
        ["address", "leak", "valid-mem"].iter().any(|name| options.contains(name))
            && r.verdict != "UNKNOWN"
            && ["--analysis", "--32", "FOR_EVER", "-DINNER"].iter().all(|other| !options.contains(other))
    };
    let runs: Vec<Run> = files.iter().flat_map(|f| runs(f)).filter(is_about_memory).collect();
    assert!(runs.len() > 50 && runs.iter().any(|r| r.verdict == "TRUE"), "{} runs", runs.len());
    let failures = Mutex::new(Vec::new());
    in_parallel(&runs, |run, folder| {
        let _ = std::fs::remove_file(folder.join("harness.c"));
        for (compiler, seed) in [(&["clang-19", "-O0"], "1"), (&["gcc", "-O1"], "7")] {
            let failure = match checked_program_fails(run, folder, compiler, seed) {
                Ok(fails) if fails == (run.verdict != "TRUE") => continue,
                Ok(fails) => format!("{} {}", compiler[0], if fails { "reaches the error" } else { "does not" }),
                Err(why) => why,
            };
            failures.lock().unwrap().push(format!("{}: {failure}", run.name(&root)));
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {} runs fail:\n{}", failures.len(), runs.len(), failures.join("\n"));
}

/// The limit on the processor time of each run of an analysis, in seconds. It is short because the test looks for wrong
/// verdicts, not for missing ones.
const PATIENCE: &str = "2";

/// A single analysis may be UNKNOWN, but must not contradict the expected verdict. Each run uses one analysis, chosen
/// by the number of the run. `PROVISO_ANALYSES=all` combines each run with each analysis, `PROVISO_ANALYSES=NAME` uses
/// one analysis for all runs.
#[test]
fn no_analysis_contradicts_what_a_program_expects() {
    let root = root();
    let mut files = Vec::new();
    programs(&root, &mut files);
    let filter = std::env::var("PROVISO_TEST").unwrap_or_default();
    let wanted = std::env::var("PROVISO_ANALYSES").unwrap_or_default();
    let list = Command::new(env!("CARGO_BIN_EXE_proviso")).args(["verify", "--list-analyses"]).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let names: Vec<&str> =
        list.lines().filter(|l| !l.starts_with(' ')).filter_map(|l| l.split_whitespace().next()).collect();
    assert!(names.len() > 5 && names.contains(&"value"), "{list}");
    let mut tries = Vec::new();
    // Runs that are expected to be UNKNOWN with the default analyses are left out: another analysis may decide them.
    let decided = |r: &Run| !r.verdict.starts_with("UNKNOWN");
    let chosen = files.iter().flat_map(|f| runs(f)).filter(|r| r.name(&root).contains(&filter) && decided(r));
    for (i, mut run) in chosen.enumerate() {
        // Later options win.
        run.options.extend(["--cpu-limit".into(), PATIENCE.into()]);
        for (j, name) in names.iter().enumerate() {
            if wanted == "all" || wanted == *name || wanted.is_empty() && i % names.len() == j {
                let mut options = run.options.clone();
                options.extend(["--analysis".into(), (*name).into()]);
                tries.push(Run { file: run.file.clone(), options, verdict: run.verdict.clone() });
            }
        }
    }
    let (answered, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    in_parallel(&tries, |run, folder| {
        let output = proviso(run, folder);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let verdict = stdout.lines().last().unwrap_or("");
        let unknown = verdict.starts_with("UNKNOWN(") && output.status.code() == Some(2);
        // If several checks are violated, an analysis may find another one first.
        let asks_more = run.options.windows(2).any(|o| o[0] == "--check" && (o[1].contains(',') || o[1] == "default"));
        let is_false = [verdict, &run.verdict].iter().all(|verdict| verdict.starts_with("FALSE("));
        if verdict == run.verdict || asks_more && is_false {
            answered.fetch_add(1, Ordering::SeqCst);
        } else if !unknown {
            let what = format!("{}: {verdict} (exit {:?})", run.name(&root), output.status.code());
            failures.lock().unwrap().push(what);
        }
    });
    let (answered, failures) = (answered.into_inner(), failures.into_inner().unwrap());
    println!("{answered} of {} runs have the answer", tries.len());
    assert!(failures.is_empty(), "{} of {} runs:\n{}", failures.len(), tries.len(), failures.join("\n"));
    assert!(2 * answered > tries.len(), "only {answered} of {} runs have an answer", tries.len());
}
