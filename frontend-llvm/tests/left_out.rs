//! One compilation serves several programs. After the removal of the other programs' checks, a program equals the one
//! compiled without them.

use cfa::{Check, Program};
use frontend_llvm::{Error, Loader, Options, UndefinedFunctions};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// The default checks besides assertions.
const OTHERS: &[Check] = &[
    Check::Deref,
    Check::Free,
    Check::Argument,
    Check::SignedIntegerOverflow,
    Check::UnsignedIntegerOverflow,
    Check::Shift,
    Check::SignedLeftShift,
    Check::IntegerDivideByZero,
    Check::FloatDivideByZero,
    Check::FloatCastOverflow,
    Check::Bounds,
    Check::Null,
    Check::Alignment,
    Check::NonnullAttribute,
    Check::ReturnsNonnullAttribute,
    Check::PointerOverflow,
    Check::PointerCompare,
    Check::PointerSubtract,
    Check::Unreachable,
    Check::Return,
    Check::VlaBound,
    Check::Bool,
    Check::Enum,
    Check::Builtin,
];

fn c_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => c_files(&path, found),
            false if path.extension().is_some_and(|e| e == "c") => found.push(path),
            false => {}
        }
    }
}

/// The functions of a program as text, without ids, which depend on the order of creation, and without the instructions
/// of edges.
fn text(program: &Program) -> String {
    let all = cfa::text::print(program);
    let functions = &all[all.find("\nfunc ").unwrap_or(0)..];
    let mut text = String::with_capacity(functions.len());
    for line in functions.lines() {
        let (code, place) = line.split_once(" // ").unwrap_or((line, ""));
        let code = code.split_once(" #[").map_or(code, |(code, _)| code);
        let words = code.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
        for word in words {
            let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let numbered = name.trim_end_matches(|c: char| c.is_ascii_digit());
            text += if numbered.is_empty() { name } else { numbered };
            text += &word[name.len()..];
        }
        text += place;
        text.push('\n');
    }
    text
}

/// The lines without the paths on which clang brings the result to the end of scopes.
fn without_returns(text: &str) -> Vec<&str> {
    let is_kept = |line: &&str| {
        let is_computed = line.split_once(": v := ").is_some_and(|(_, value)| {
            !["call", "havoc", "load", "alloc", "size", "offset"].iter().any(|how| value.starts_with(how))
        });
        !is_computed && ![": return", ": skip", "  temp "].iter().any(|what| line.contains(what))
    };
    let is_location = |line: &str| line.trim_start().starts_with("l:");
    // The load of the result has the source position of that path.
    let unplaced = |line| match line {
        line if str::contains(line, ": v := load v -> ") => line.split(" @").next().unwrap_or(line),
        line => line,
    };
    text.lines().filter(|line| !is_location(line)).filter(is_kept).map(unplaced).collect()
}

#[test]
fn what_others_ask_leaves_no_trace() {
    let mut files = Vec::new();
    c_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/c"), &mut files);
    files.sort();
    // Only a part of the files, to save time.
    let is_compared = |(i, file): (usize, PathBuf)| (i % 3 == 0 || file.ends_with("left_scopes.c")).then_some(file);
    let files: Vec<PathBuf> = files.into_iter().enumerate().filter_map(is_compared).collect();
    let is_exact = files.par_iter().filter_map(|file| {
        let loader = Loader::default();
        let alone = Options {
            inputs: vec![file.clone().into()],
            undefined_functions: UndefinedFunctions::Pure,
            ..Options::default()
        };
        let load = |options: &Options| -> Result<Program, Error> { loader.load(options, &|| false)?.lower() };
        // Some files are no programs without their options. A division by zero without a check is reported as a taint.
        let expected = load(&alone).ok()?;
        if expected.taints.values().any(|taint| taint.reason.starts_with("division by zero")) {
            return None;
        }
        let expected = text(&expected);
        let in_code: Vec<Check> = OTHERS.iter().copied().filter(|check| check.is_in_code()).collect();
        let [found, with_scopes] = [in_code, OTHERS.to_vec()].map(|checked_elsewhere| {
            let program = load(&Options { checked_elsewhere, ..alone.clone() }).unwrap();
            cfa::validate::validate(&program).unwrap();
            text(&program)
        });
        for found in [&found, &with_scopes] {
            assert_eq!(without_returns(&expected), without_returns(found), "{}", file.display());
        }
        Some(expected == found)
    });
    let is_exact: Vec<bool> = is_exact.collect();
    let (compared, exact) = (is_exact.len(), is_exact.iter().filter(|is_exact| **is_exact).count());
    // In a few functions, clang leaves the result in a variable that was just assigned.
    assert!(compared > 50 && exact * 20 > compared * 19, "{compared} programs are compared, {exact} are equal");
}
