//! The documents agree with the repository: link targets exist, the items in the glossary exist, and the command lines
//! in the documents use subcommands and options of the built command.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in the repository").to_path_buf()
}

/// All documents for readers: those at the top of the repository, in `docs`, and the READMEs of crates.
fn documents() -> Vec<PathBuf> {
    let listing = Command::new("git")
        .args(["ls-files", "-z", "*.md"])
        .current_dir(root())
        .output()
        .expect("git lists the documents");
    assert!(listing.status.success(), "{}", String::from_utf8_lossy(&listing.stderr));
    let documents: Vec<PathBuf> = String::from_utf8(listing.stdout)
        .expect("names are UTF-8")
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(|name| root().join(name))
        .filter(|path| path.exists())
        .collect();
    assert!(documents.len() > 20, "the documents were not found");
    documents
}

/// The targets of the links of a document, without anchors.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(|link| link.split('#').next().unwrap_or(""))
}

#[test]
fn links_lead_to_files() {
    let mut broken = Vec::new();
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a document is readable");
        let folder = document.parent().expect("a document is in a folder");
        for link in links(&text) {
            let external = link.contains("://") || link.starts_with("mailto:");
            if !link.is_empty() && !external && !link.contains(' ') && !folder.join(link).exists() {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn glossary_names_items_that_exist() {
    let page = root().join("docs/design/glossary.md");
    let text = std::fs::read_to_string(&page).expect("the glossary is readable");
    let mut terms = BTreeSet::new();
    for row in text.lines().filter(|line| line.starts_with("| ") && line.contains("](")) {
        let term = row.trim_start_matches("| ").split(" |").next().expect("a row has a term");
        assert!(terms.insert(term.to_owned()), "the glossary has {term} twice");
        let item = row.split("[`").nth(1).and_then(|rest| rest.split('`').next()).expect("a row names an item");
        let file = links(row).last().expect("a row has a link");
        let source = std::fs::read_to_string(page.parent().expect("in a folder").join(file))
            .unwrap_or_else(|error| panic!("{term}: {file}: {error}"));
        let declared = ["struct", "enum", "trait", "type"].iter().any(|keyword| {
            source
                .match_indices(&format!("pub {keyword} {item}"))
                .any(|(at, found)| !source[at + found.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        });
        assert!(declared, "{term}: {file} declares no public {item}");
    }
    assert!(terms.len() > 40, "the glossary was not read");
}

/// The command lines of `proviso` in the blocks of a document, with continued lines joined.
fn command_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut language = None;
    let text = text.replace("\\\n", " ");
    for line in text.lines() {
        if let Some(name) = line.trim_start().strip_prefix("```") {
            language = if language.is_some() { None } else { Some(name.to_owned()) };
        } else if language.as_deref().is_some_and(|language| ["sh", "console", "bash"].contains(&language)) {
            let line = line.trim_start().trim_start_matches("$ ");
            let line = line.split(" #").next().unwrap_or(line);
            let command = line.split(" && ").flat_map(|part| part.split(" | ")).map(str::trim);
            lines.extend(command.filter(|part| part.starts_with("proviso ")).map(str::to_owned));
        }
    }
    lines
}

/// `--help` of a subcommand, which may have subcommands of its own.
fn help(subcommand: &[&str]) -> Option<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_proviso"))
        .args(subcommand)
        .arg("--help")
        .output()
        .expect("the built command starts");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn commands_have_the_options_that_documents_show() {
    let mut helps: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a document is readable");
        for line in command_lines(&text) {
            let words: Vec<&str> = line.split_whitespace().skip(1).take_while(|word| *word != "--").collect();
            let Some(&name) = words.first() else { continue };
            if name.starts_with('-') || name == "cc" || name.chars().any(char::is_uppercase) {
                continue;
            }
            seen += 1;
            let group = matches!(name, "gia");
            let subcommand: Vec<&str> = words.iter().take(if group { 2 } else { 1 }).copied().collect();
            let Some(help) = helps.entry(subcommand.join(" ")).or_insert_with(|| help(&subcommand)) else {
                wrong.push(format!("{}: no such command: {line}", document.display()));
                continue;
            };
            for word in &words {
                let option = word.split('=').next().unwrap_or(word).trim_matches(['[', ']', ',', '`']);
                if option.starts_with("--") && !help.contains(option) {
                    wrong.push(format!("{}: no option {option}: {line}", document.display()));
                }
            }
        }
    }
    assert!(seen > 30, "only {seen} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
