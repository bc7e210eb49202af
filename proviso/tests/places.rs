//! Every place is reported as proved, violated or open. A proved place never fails natively, whatever the undefined
//! functions do.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/places").join(name)
}

/// Verifies a program. Returns the JSON report and the verdict line.
fn report(file: &Path, options: &[&str]) -> (Value, String) {
    let mut proviso = Command::new(env!("CARGO_BIN_EXE_proviso"));
    let output = proviso.args(["verify", "--timeout", "10", "--json", "-"]).args(options).arg(file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (json, verdict) = text.trim_end().rsplit_once('\n').unwrap();
    (serde_json::from_str(json).unwrap(), verdict.to_owned())
}

/// The numbers of proved, violated and open places of a check.
fn counts(report: &Value, check: &str) -> [u64; 3] {
    let check = report["checks"].as_array().unwrap().iter().find(|c| c["name"] == check).unwrap();
    ["places_proved", "places_violated", "places_open"].map(|key| check[key].as_u64().unwrap())
}

/// The lines with open places, of all checks.
fn open_lines(report: &Value) -> BTreeSet<u64> {
    let checks = report["checks"].as_array().unwrap();
    let open = checks.iter().flat_map(|check| check["open"].as_array().unwrap());
    open.map(|spot| spot["line"].as_u64().unwrap()).collect()
}

/// Runs a program with sanitizers. Returns the line of the failure, if there is one. `mode` selects the behaviour of
/// the functions that the analysis does not know.
fn failing_line(program: &Path, file: &str, mode: &str) -> Option<u64> {
    let output = Command::new(program).env("MODE", mode).env("ASAN_OPTIONS", "detect_leaks=0").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_error = text.contains("runtime error") || text.contains("AddressSanitizer");
    let line = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok());
    let mark = format!("{file}:");
    let at = text.match_indices(&mark).find_map(|(at, _)| line(&text[at + mark.len()..]));
    assert_eq!(is_error, at.is_some(), "{text}");
    at
}

/// Links a program with a file that defines the functions that it calls, and runs it in this number of modes. Each line
/// that fails must be open. Returns the number of failures.
fn proved_places_hold_natively(name: &str, modes: u32) -> usize {
    let file = data(&format!("{name}.c"));
    let (report, verdict) = report(&file, &[]);
    assert!(verdict.starts_with("UNKNOWN("), "{verdict}");
    let open = open_lines(&report);
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let library = data(&format!("{name}_library.c"));
    let mut clang = Command::new("clang-19");
    clang.args(["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-w", "-o"]).arg(&program);
    assert!(clang.args([&file, &library]).status().unwrap().success());
    let fails = |mode: u32| failing_line(&program, &format!("{name}.c"), &mode.to_string());
    let failing: Vec<u64> = (0..=modes).filter_map(fails).collect();
    for line in &failing {
        assert!(open.contains(line), "line {line} fails, and is said to be proved; open: {open:?}");
    }
    failing.len()
}

#[test]
fn what_unknown_code_may_write_is_open() {
    assert!(proved_places_hold_natively("reached", 7) >= 5);
}

#[test]
fn what_unknown_code_reaches_in_indirect_ways_is_open() {
    assert_eq!(proved_places_hold_natively("escaped", 14), 14);
    let (report, _) = report(&data("escaped.c"), &["--check", "bounds"]);
    let [proved, violated, open] = counts(&report, "bounds");
    assert!(proved >= 9 && violated == 0, "{proved} {open}");
}

#[test]
fn locals_that_unknown_code_does_not_know_hold() {
    assert!(proved_places_hold_natively("locals", 2) >= 2);
    let (report, _) = report(&data("locals.c"), &[]);
    let [proved, violated, open] = counts(&report, "bounds");
    assert!(proved >= 3 && violated == 0 && open == 0, "{proved} {violated} {open}");
    let [proved, _, open] = counts(&report, "address");
    assert!(proved > 2 * open, "{proved} {open}");
}

#[test]
fn what_signal_handlers_write_is_open() {
    assert_eq!(proved_places_hold_natively("handlers", 2), 3);
    let (report, _) = report(&data("handlers.c"), &["--check", "bounds"]);
    let [proved, violated, open] = counts(&report, "bounds");
    assert!(proved >= 2 && violated == 0 && open == 3, "{proved} {violated} {open}");
}

#[test]
fn only_installed_functions_are_signal_handlers() {
    // `reinstalled.c` replaces a handler that it installed with `sigaction`, and installs it again.
    for program in ["installed", "reinstalled"] {
        assert_eq!(proved_places_hold_natively(program, 1), 2, "{program}");
        let (report, _) = report(&data(&format!("{program}.c")), &["--check", "bounds"]);
        let [proved, violated, open] = counts(&report, "bounds");
        assert!(proved >= 1 && violated == 0 && open == 2, "{program}: {proved} {violated} {open}");
    }
}

#[test]
fn what_signal_handlers_write_while_the_program_waits_is_open() {
    assert_eq!(proved_places_hold_natively("handlers_while_waiting", 2), 3);
    let (report, _) = report(&data("handlers_while_waiting.c"), &["--check", "address"]);
    let [_, violated, open] = counts(&report, "address");
    assert_eq!([violated, open], [0, 3]);
}

/// Signals that the program sends, waits for signals, and changed names of environment variables.
#[test]
fn places_after_signals_are_answered() {
    assert_eq!(proved_places_hold_natively("after_signals", 5), 6);
    let (report, _) = report(&data("after_signals.c"), &["--check", "bounds"]);
    let [proved, violated, open] = counts(&report, "bounds");
    assert!(proved >= 1 && violated + open == 4, "{proved} {violated} {open}");
}

/// The number of printed characters is negative if a library does not know the conversion. `%n` writes.
#[test]
fn places_after_unknown_formats_are_answered() {
    let (report, verdict) = report(&data("formats.c"), &["--check", "bounds"]);
    assert!(verdict.starts_with("UNKNOWN(") || verdict.starts_with("FALSE("), "{verdict}");
    let [proved, violated, open] = counts(&report, "bounds");
    assert_eq!([proved, violated + open], [5, 2], "{report}");
}

/// A place in a library model is listed by the call that leads to it.
#[test]
fn open_places_in_models_are_listed_by_calls() {
    let (report, verdict) = report(&data("in_model.c"), &["--check", "address"]);
    assert!(verdict.starts_with("UNKNOWN("), "{verdict}");
    assert_eq!(open_lines(&report), BTreeSet::from([7]), "{report}");
    let mut proviso = Command::new(env!("CARGO_BIN_EXE_proviso"));
    let output = proviso.args(["verify", "--timeout", "10", "--check", "address"]).arg(data("in_model.c")).output();
    let told = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(told.contains("places by result:\n  address: ") && told.contains("in_model.c:7:"), "{told}");
}

/// C defines no behaviour after a division by zero. If no check is about the division, places are proved under the
/// assumption that it does not happen.
#[test]
fn divisions_that_nobody_asked_about_are_assumed_to_be_defined() {
    let (report, verdict) = report(&data("unasked_division.c"), &["--check", "address"]);
    assert!(verdict.starts_with("FALSE(address") || verdict.starts_with("UNKNOWN("), "{verdict}");
    let assumed = report["assumptions"].as_array().unwrap();
    assert!(assumed.iter().any(|text| text.as_str().unwrap().contains("no division is by zero")), "{report}");
    let [proved, violated, open] = counts(&report, "address");
    assert!(proved > 3 && violated + open == 1, "{report}");
}

#[test]
fn specifications_with_positions_may_do_anything() {
    let (report, verdict) = report(&data("positions.c"), &["--check", "bounds"]);
    assert!(verdict.starts_with("UNKNOWN("), "{verdict}");
    assert_eq!(counts(&report, "bounds"), [4, 0, 2], "{report}");
    // Only `sprintf` writes outside an object.
    let (report, verdict) = self::report(&data("positions.c"), &["--check", "address"]);
    assert!(verdict.starts_with("UNKNOWN("), "{verdict}");
    let [_, violated, open] = counts(&report, "address");
    assert!(violated == 0 && open > 0, "{report}");
}

/// Natively, execution continues after a misaligned access, so later places are not proved by it.
#[test]
fn a_check_that_always_fails_does_not_prove_later_ones() {
    let (report, _) = report(&data("always_fails.c"), &["--check", "alignment"]);
    assert_eq!(counts(&report, "alignment"), [0, 2, 2]);
}

/// The places of a report add up, and assumptions about undefined functions are listed.
#[test]
fn inputs_are_addresses_that_the_program_exposes() {
    let failing = |name: &str| {
        let (report, _) = report(&data("exposed.c"), &["--check", "address", &format!("-D{name}")]);
        let [_, violated, open] = counts(&report, "address");
        violated + open
    };
    // Only the access through the input fails.
    assert_eq!(failing("HIDDEN"), 1);
    // The later access depends on what it wrote.
    let exposing =
        ["PRINTED", "FORMATTED", "NUMBER", "CONSTANT", "FILED", "FUNCTION", "TEXT", "READ_AS_NUMBER", "FROM_NULL"];
    for name in exposing {
        assert!(failing(name) >= 2, "{name}");
    }
    // The input is the address of an object, so the later access fails.
    let known = [
        "COMPARED",
        "DIFFERENCE",
        "PARTS",
        "REPRESENTATION",
        "UNION",
        "INITIAL",
        "ARGUMENT",
        "VARIABLE_ARGUMENT",
        "SORTED",
    ];
    for name in known {
        assert!(failing(name) >= 1, "{name}");
    }
}

#[test]
fn reports_count_places() {
    let (report, verdict) = report(&data("locals.c"), &["--check", "address,bounds"]);
    let assumptions = report["assumptions"].as_array().unwrap();
    let is_listed = |part: &str| assumptions.iter().any(|text| text.as_str().unwrap().contains(part));
    assert!(is_listed("undefined functions") && is_listed("--argc-may-be-zero"), "{assumptions:?}");
    let check = &report["checks"][0];
    let sum: u64 =
        ["places_proved", "places_violated", "places_open"].iter().map(|key| check[*key].as_u64().unwrap()).sum();
    assert_eq!(check["places"].as_u64(), Some(sum));
    assert!(verdict.starts_with("UNKNOWN("), "{verdict}");
    let mut proviso = Command::new(env!("CARGO_BIN_EXE_proviso"));
    let output = proviso
        .args(["verify", "--timeout", "10", "--check", "address,bounds"])
        .arg(data("locals.c"))
        .output()
        .unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let [proved, violated, open] = counts(&report, "address");
    let line = format!("address: {proved} of {sum} places proved, {violated} violated, {open} open");
    assert!(text.contains(&line), "{text}");
}
