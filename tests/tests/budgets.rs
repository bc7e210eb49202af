//! Every constant that bounds work, time or size stands in one table, `docs/budgets.md`, which is made of the sources: what it is a
//! bound of, and why, is its comment. `UPDATE_GOLDEN=1 cargo test -p proviso-tests --test budgets` writes it anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Where budgets are.
const FOLDERS: [&str; 8] = [
    "cfa/src",
    "engine/smt/src",
    "engine/src",
    "engine/cooperate/src",
    "slicer/src",
    "instrument/src",
    "frontend-llvm/src",
    "proviso/src",
];

/// Numbers here are those of a format that is shared with others, or marks within one.
const FORMATS: [&str; 6] = [
    "cfa/src/float.rs",
    "cfa/src/interp/code.rs",
    "cfa/src/text/c.rs",
    "frontend-llvm/src/compile.rs",
    "frontend-llvm/src/cut.rs",
    "frontend-llvm/src/ir/op.rs",
];

const INTRODUCTION: &str = "\
# Budgets

Every number that bounds work, time or size, by file. The table is made of the sources (`tests/tests/budgets.rs`): values are changed there, and
what a number counts and why it is what it is, is the comment on it. Times are wall time where a stage is meant, and processor time of the thread
where a turn of an analysis or one query of a solver is (`smt/src/budget.rs`, `exerting`), so that what else runs on the machine takes nothing from it.
";

struct Constant {
    name: String,
    value: String,
    why: String,
}

/// The text of a number or a time, for people; `None` for what is neither.
fn shown(ty: &str, value: &str) -> Option<String> {
    let inside = |start: &str| value.strip_prefix(start).and_then(|rest| rest.strip_suffix(')'));
    match ty {
        "Duration" | "std::time::Duration" => {
            let start = value.find("from_")?;
            let (unit, number) = value[start + 5..].split_once('(')?;
            let unit = match unit {
                "millis" => "ms",
                "secs" | "secs_f64" => "s",
                other => other,
            };
            Some(format!("{} {unit}", number.trim_end_matches(')')))
        }
        list if list.starts_with("[u") => Some(value.to_owned()),
        "u16" | "u32" | "u64" | "u128" | "usize" | "f64" | "i64" => {
            let value = inside("(").unwrap_or(value);
            value.starts_with(|c: char| c.is_ascii_digit()).then(|| value.to_owned())
        }
        _ => None,
    }
}

/// The constants of a source, as rustfmt lays it out. One without a comment continues the comment before.
fn constants(text: &str) -> Vec<Constant> {
    let mut found = Vec::new();
    let mut why = String::new();
    let mut fresh = false;
    let program = text.split("#[cfg(test)]\nmod ").next().expect("one part at least");
    for line in program.lines() {
        if let Some(comment) = line.strip_prefix("///") {
            if !fresh {
                why.clear();
            }
            why = format!("{why} {}", comment.trim()).trim().to_owned();
            fresh = true;
            continue;
        }
        fresh = false;
        let visible = line.strip_prefix("pub(crate) ").or_else(|| line.strip_prefix("pub ")).unwrap_or(line);
        let parts = visible.strip_prefix("const ").and_then(|rest| rest.strip_suffix(';')?.split_once(": "));
        let known = parts.and_then(|(name, rest)| {
            let (ty, value) = rest.split_once(" = ")?;
            Some(Constant { name: name.to_owned(), value: shown(ty, value)?, why: why.clone() })
        });
        match known {
            // How wide a variable is bounds nothing.
            Some(constant) if constant.name.ends_with("WIDTH") => {}
            Some(constant) => found.push(constant),
            None => why.clear(),
        }
    }
    found
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        if entry.file_type().expect("a type").is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && path.file_stem().is_none_or(|stem| stem != "tests") {
            found.push(path);
        }
    }
}

#[test]
fn every_budget_is_in_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut table = INTRODUCTION.to_owned();
    let mut unexplained = Vec::new();
    let mut count = 0;
    for folder in FOLDERS {
        let mut files = Vec::new();
        sources(&root.join(folder), &mut files);
        files.sort();
        for path in files {
            let of_file = constants(&std::fs::read_to_string(&path).expect("a source in UTF-8"));
            let name = path.strip_prefix(root).expect("in the workspace").display().to_string();
            if of_file.is_empty()
                || FORMATS.contains(&name.as_str())
                || name.contains("/tests/")
                || name.contains("/laws")
            {
                continue;
            }
            write!(table, "\n**`{name}`**\n\n| constant | value | of what, and why |\n|---|---|---|\n")
                .expect("a string");
            for Constant { name: constant, value, why } in of_file {
                writeln!(table, "| `{constant}` | {value} | {} |", why.replace('|', "\\|")).expect("a string");
                count += 1;
                if why.is_empty() {
                    unexplained.push(format!("{name}: {constant}"));
                }
            }
        }
    }
    assert!(count > 100, "the constants are found");
    assert!(unexplained.is_empty(), "constants without a comment: {unexplained:#?}");
    let path = root.join("docs/budgets.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &table).expect("the table can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = table.lines().find(|line| !kept.lines().any(|other| other == *line));
    assert!(kept == table, "docs/budgets.md is not what the sources say ({differs:?}): run with UPDATE_GOLDEN=1");
}
