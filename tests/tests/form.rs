//! The form of the sources: a file is read in one sitting, a type has few methods, a function fits a screen or two. It relies on
//! the layout that rustfmt gives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LINES_OF_A_FILE: usize = 600;
const LINES_OF_A_FUNCTION: usize = 100;
/// Those of traits not counted.
const METHODS_OF_A_TYPE: usize = 40;

struct Source {
    path: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

fn sources() -> Vec<Source> {
    let root = root();
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let (path, name) = (entry.path(), entry.file_name().into_string().expect("a name in UTF-8"));
            if entry.file_type().expect("a type").is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if name.ends_with(".rs") {
                let text = std::fs::read_to_string(&path).expect("a source in UTF-8");
                let path = path.strip_prefix(&root).expect("in the workspace").to_str().expect("UTF-8").to_owned();
                found.push(Source { path, text });
            }
        }
    }
    found
}

/// The crate that a file belongs to.
fn krate(path: &str) -> &str {
    let (inside, _) = path.rsplit_once("/src/").or_else(|| path.rsplit_once("/tests/")).unwrap_or((path, ""));
    inside
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A line without what may come before a keyword of an item.
fn item(line: &str) -> &str {
    let mut line = line.trim_start();
    if let Some(rest) = line.strip_prefix("pub(") {
        line = rest.split_once(") ").map_or(rest, |(_, rest)| rest);
    }
    for word in ["pub ", "const ", "async ", "unsafe ", "extern \"C\" "] {
        line = line.strip_prefix(word).unwrap_or(line);
    }
    line
}

fn identifier(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(text)
}

/// The line that closes what is opened on line `at`.
fn end(lines: &[&str], at: usize) -> usize {
    let depth = indent(lines[at]);
    let closes = |line: &&str| indent(line) == depth && line.trim_start().starts_with('}');
    // On one line, or without a body.
    if lines[at].ends_with('}') || lines[at].ends_with(';') {
        return at;
    }
    at + lines[at..].iter().position(closes).unwrap_or(0)
}

/// The type of an inherent implementation that starts on this line.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generic) => {
            let mut depth = 1;
            let close = generic.find(|c: char| {
                depth += i32::from(c == '<') - i32::from(c == '>');
                depth == 0
            })?;
            &generic[close + 1..]
        }
        None => rest,
    };
    (!rest.contains(" for ")).then(|| identifier(rest.trim_start()))
}

#[test]
fn nothing_is_too_large() {
    let sources = sources();
    assert!(sources.len() > 100, "the sources are found");
    let mut over: BTreeMap<String, usize> = BTreeMap::new();
    // By crate and name, where types are defined; by definition, their methods.
    let mut defined: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for source in &sources {
        for line in source.text.lines().map(item) {
            if let Some(rest) = line.strip_prefix("struct ").or_else(|| line.strip_prefix("enum ")) {
                defined.entry((krate(&source.path), identifier(rest))).or_default().push(&source.path);
            }
        }
    }
    let mut methods: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for Source { path, text } in &sources {
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > LINES_OF_A_FILE {
            over.insert(path.clone(), lines.len());
        }
        for (n, line) in lines.iter().enumerate() {
            if let Some(rest) = item(line).strip_prefix("fn ") {
                let length = end(&lines, n) - n + 1;
                if length > LINES_OF_A_FUNCTION {
                    over.insert(format!("{path}: fn {}", identifier(rest)), length);
                }
            }
            let Some(name) = implemented(line) else { continue };
            let Some(places) = defined.get(&(krate(path), name)) else { continue };
            // Of several types of a name, the one in this file, or the one that is nearest.
            let shared = |place: &str| path.bytes().zip(place.bytes()).take_while(|(a, b)| a == b).count();
            let place = places.iter().max_by_key(|place| (**place == path, shared(place))).expect("one at least");
            let body = &lines[n..end(&lines, n)];
            let count = body.iter().filter(|line| indent(line) == 4 && item(line).starts_with("fn ")).count();
            *methods.entry((place, name)).or_default() += count;
        }
    }
    let many = methods.into_iter().filter(|&(_, count)| count > METHODS_OF_A_TYPE);
    over.extend(many.map(|((place, name), count)| (format!("{place}: {name}"), count)));
    assert!(over.is_empty(), "over the limits: {over:#?}");
}
