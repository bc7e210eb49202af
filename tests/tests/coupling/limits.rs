//! The limits that decide what is explored: constants with a comment that gives the quantity, the unit and the reason.
//!
//! `LIST_LIMITS=engine cargo test -p proviso-tests --test coupling limits -- --nocapture` prints those of the crates
//! whose folders start with `engine`.

use super::{root, sources};
use std::path::Path;

/// The crates that decide what is explored, by folder.
const CRATES: [&str; 6] = ["slicer", "engine/smt", "engine/certificate", "engine", "engine/cooperate", "driver"];

/// The types of limits.
const TYPES: [&str; 9] = ["u8", "u16", "u32", "u64", "u128", "usize", "i128", "f64", "Duration"];

/// A constant of a module that is a number or a duration.
struct Limit {
    /// The name, the type and the value.
    text: String,
    /// The comment above the constant, or above the group of constants that it belongs to.
    comment: String,
}

/// Returns the limits in a source text, without those of tests.
fn limits(text: &str) -> Vec<Limit> {
    let mut found = Vec::new();
    let (mut comment, mut is_group) = (String::new(), false);
    for line in text.lines().take_while(|line| *line != "#[cfg(test)]") {
        if let Some(words) = line.strip_prefix("///") {
            // A comment below a constant starts a new group.
            if is_group {
                comment.clear();
            }
            comment += if comment.is_empty() { "" } else { " " };
            comment += words.trim_start();
            is_group = false;
        } else if let Some(constant) = constant(line) {
            found.push(Limit { text: constant.to_owned(), comment: comment.clone() });
            is_group = true;
        } else if !line.starts_with("#[") {
            (comment, is_group) = (String::new(), false);
        }
    }
    found
}

/// Returns the name, the type and the value of the constant that a line defines at the top level of a module.
fn constant(line: &str) -> Option<&str> {
    let (visibility, definition) = line.split_once("const ")?;
    let (_, rest) = definition.split_once(": ")?;
    let (ty, _) = rest.split_once(" =")?;
    let is_item = visibility.is_empty() || visibility.starts_with("pub");
    (is_item && TYPES.contains(&ty)).then_some(definition.trim_end_matches(';'))
}

#[test]
fn limits_have_reasons() {
    let listed = std::env::var("LIST_LIMITS").ok();
    let (mut count, mut bare) = (0, Vec::new());
    for folder in CRATES {
        for file in sources::rust_files(&root().join(folder).join("src")) {
            let text = std::fs::read_to_string(&file).expect("a source in UTF-8");
            let name = file.strip_prefix(root()).unwrap_or(Path::new("")).display();
            for limit in limits(&text) {
                count += 1;
                if limit.comment.is_empty() {
                    bare.push(format!("{name}: {}", limit.text));
                }
                if listed.as_ref().is_some_and(|listed| folder.starts_with(listed.as_str())) {
                    println!("{name}: {}\n    {}", limit.text, limit.comment);
                }
            }
        }
    }
    assert!(count > 300, "the limits are found: {count}");
    assert!(bare.is_empty(), "constants without a comment on the quantity, the unit and the reason: {bare:#?}");
}

#[test]
fn a_comment_belongs_to_the_constants_below_it() {
    let text = "/// The number of runs. [`STEPS`] limits each.\nconst RUNS: u64 = 3;\npub const STEPS: u64 = 1 << 4;\n\
                /// The time.\nconst TIME: Duration = SECOND;\n\nconst BARE: usize = 1;\nstruct S;\n    const INNER: u8 = 1;\n\
                const TEXT: &str = \"\";\n#[cfg(test)]\nconst TESTED: u32 = 1;\n";
    let found: Vec<(String, String)> = limits(text).into_iter().map(|limit| (limit.text, limit.comment)).collect();
    let group = "The number of runs. [`STEPS`] limits each.";
    let expected = [
        ("RUNS: u64 = 3", group),
        ("STEPS: u64 = 1 << 4", group),
        ("TIME: Duration = SECOND", "The time."),
        ("BARE: usize = 1", ""),
    ];
    assert_eq!(found, expected.map(|(text, comment)| (text.to_owned(), comment.to_owned())));
}
