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
            // The options in an argument in quotes are those of another command.
            let line: String = line.split('\'').step_by(2).collect();
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

/// The pages for users, whose commands are run. Pages with measurements need corpora.
fn pages() -> Vec<PathBuf> {
    let is_for_users = |path: &PathBuf| {
        let path = path.strip_prefix(root()).expect("a document is in the repository");
        path == Path::new("README.md") || path.starts_with("docs/guide") || path.starts_with("docs/reference")
    };
    documents().into_iter().filter(is_for_users).collect()
}

/// The starts of command lines that are not run, each with the reason.
const NOT_RUN: [(&str, &str); 20] = [
    ("./scripts/setup", "it installs packages"),
    ("./scripts/test", "it runs this test"),
    ("tar ", "it needs a release; tests/batch/real/test_release.py runs the command"),
    ("proviso-0.1.0", "it needs a release; tests/batch/real/test_release.py runs the command"),
    ("pip ", "it needs a release; tests/batch/real/test_release.py runs the command"),
    ("python ", "it needs a release; tests/batch/real/test_release.py runs the command"),
    ("cmake ", "it needs CMake; tests/batch/real/test_ci.py has a compilation database"),
    ("PROVISO_CACHE=", "it needs a repository; tests/batch/real/test_ci.py has one"),
    ("sbatch ", "it needs Slurm"),
    ("dask ", "it needs a cluster; tests/batch has one"),
    ("scripts/batch run tasks/", "it needs a cluster; tests/batch has one"),
    ("scripts/batch run hard.yml", "it needs a cluster; tests/batch has one"),
    ("scripts/bench-automata", "it needs sources of programs"),
    ("proviso verify --analysis symex --first-for 10 --external", "it needs ESBMC"),
    ("proviso verify --resume done.txt --first-for 0 --external", "it needs KLEE"),
    ("proviso testgen --cotest --tester", "it needs an external tester"),
    ("proviso testgen FILE.c -o SUITE --cotest --tester", "it needs AFL++"),
    ("proviso testgen FILE.c -o corpus", "it needs AFL++"),
    ("proviso testgen checksums.c", "it needs zlib"),
    ("proviso gia show A FILE.c -f dot", "it needs Graphviz"),
];

/// The commands that make the files of a page, by the name of the page.
const PREPARATIONS: [(&str, &str); 6] = [
    ("batches.md", "proviso cc -c src/ring.c -o ring.o && ar rcs libparse.a ring.o && touch old.jsonl new.jsonl"),
    ("continuous-integration.md", "touch last.jsonl"),
    ("gia.md", "proviso gia new FILE.c -o B && cp B P && proviso gia to-condition B FILE.c -o COND"),
    ("install.md", "mkdir -p ~/.local/share/bash-completion/completions"),
    ("sharing-work.md", "proviso cfa loop.c > /dev/null"),
    ("tests.md", "mkdir FOLDER found && echo -v > FOLDER/seed && cp FOLDER/seed found"),
];

/// A command of a page, with the lines that the page shows as its output.
struct Shown {
    command: String,
    /// `None` in blocks that show only commands.
    output: Option<Vec<String>>,
}

/// The commands in the blocks of a page, with continued lines joined.
fn shown_commands(text: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut language = None;
    for line in text.replace("\\\n", " ").lines() {
        if let Some(name) = line.strip_prefix("```") {
            language = if language.is_some() { None } else { Some(name.to_owned()) };
            continue;
        }
        match (language.as_deref(), line.strip_prefix("$ ")) {
            (Some("sh"), _) if !line.is_empty() => {
                let command = line.split(" #").next().expect("split has a part").trim().to_owned();
                shown.push(Shown { command, output: None });
            }
            (Some("console"), Some(command)) => {
                shown.push(Shown { command: command.to_owned(), output: Some(Vec::new()) });
            }
            (Some("console"), None) => {
                let last = shown.last_mut().and_then(|last| last.output.as_mut());
                last.expect("a block with output starts with a command").push(line.to_owned());
            }
            _ => {}
        }
    }
    shown
}

/// True if a command has printed this line of a page. `…` stands for any characters, including none.
fn is_line(page: &str, printed: &str) -> bool {
    // The shell names itself and the process before it describes a signal.
    page == printed
        || page == "Aborted" && printed.contains("Aborted")
        || page.split_once('…').is_some_and(|(start, end)| {
            let (start, end) = (start.trim_end(), end.trim_start());
            printed.len() >= start.len() + end.len() && printed.starts_with(start) && printed.ends_with(end)
        })
}

/// True if a command has printed the lines of a page. A line `…` stands for any lines.
fn agrees(page: &[String], printed: &[&str]) -> bool {
    match page {
        [] => printed.is_empty(),
        [first, page @ ..] if first == "…" => (0..=printed.len()).any(|skipped| agrees(page, &printed[skipped..])),
        [first, page @ ..] => {
            printed.first().is_some_and(|printed| is_line(first, printed)) && agrees(page, &printed[1..])
        }
    }
}

/// A folder with the files that the commands of a page name, and programs for the start of `PATH`.
fn user_folder(page: &str, name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = |from: &Path, to: &str| {
        let status = Command::new("cp").arg("-r").arg(from).arg(folder.path().join(to)).status().expect("cp starts");
        assert!(status.success(), "{}", from.display());
    };
    copy(&root().join("proviso/tests/data/documents/."), ".");
    for tests in ["tests/examples", "tests/c/automata", "tests/slice/example"] {
        std::fs::create_dir_all(folder.path().join(tests)).expect("the folder is writable");
        copy(&root().join(tests).join("."), tests);
    }
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("in a folder")).expect("the folder is writable");
        std::fs::write(&path, text).expect("the folder is writable");
        let mut permissions = path.metadata().expect("the file exists").permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        std::fs::set_permissions(path, permissions).expect("the file is ours");
    };
    let compile =
        serde_json::json!([{"directory": folder.path(), "file": "src/ring.c", "command": "cc -Isrc -c src/ring.c"}]);
    write("build/compile_commands.json", &compile.to_string());
    let batch = format!(
        "#!/bin/sh\ncase $1 in run) shift; set -- run --proviso '{}' \"$@\";; esac\nexec '{}' \"$@\"\n",
        env!("CARGO_BIN_EXE_proviso"),
        root().join("scripts/batch").display()
    );
    write("scripts/batch", &batch);
    write("bin/proviso-batch", &batch);
    std::fs::rename(folder.path().join("mine"), folder.path().join("bin/mine")).expect("the refiner exists");
    // A file that the page contains begins with its name in a comment.
    for block in page.split("```c\n").skip(1) {
        let text = block.split("```").next().expect("split has a part");
        if let Some(name) = text.lines().next().and_then(|line| line.strip_prefix("// ")).filter(|n| n.ends_with(".c"))
        {
            write(name, text);
        }
    }
    if let Some((_, preparation)) = PREPARATIONS.iter().find(|(page, _)| *page == name) {
        let (status, printed) = shell(folder.path(), preparation);
        assert_eq!(status, Some(0), "{name}: {preparation}: {printed}");
    }
    folder
}

/// Runs a command line in a folder. Returns its exit code and everything that it prints.
fn shell(folder: &Path, line: &str) -> (Option<i32>, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_proviso")).parent().expect("in a folder");
    let path = format!("bin:{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("bash")
        .args(["-c", &format!("{{ {line}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", path.replacen("bin:", &format!("{}:", folder.join("bin").display()), 1))
        .env("HOME", folder)
        .output()
        .expect("bash starts");
    // The shell itself reports signals on standard error.
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&printed).into_owned())
}

#[test]
fn commands_of_pages_run_and_print_what_the_pages_show() {
    let (mut run, mut compared, mut wrong) = (0, 0, Vec::new());
    let mut unused: BTreeSet<&str> = NOT_RUN.iter().map(|(start, _)| *start).collect();
    for path in pages() {
        let page = std::fs::read_to_string(&path).expect("a page is readable");
        let name = path.file_name().and_then(|name| name.to_str()).expect("a page has a name");
        let commands = shown_commands(&page);
        let mut folder = None;
        for Shown { command, output } in &commands {
            if let Some((start, _)) = NOT_RUN.iter().find(|(start, _)| command.starts_with(start)) {
                unused.remove(start);
                continue;
            }
            let folder = folder.get_or_insert_with(|| user_folder(&page, name));
            let (status, printed) = shell(folder.path(), command);
            run += 1;
            // A command without a verdict, such as a compiler, fails with 1, too, but it prints an error then.
            let is_understood = match status {
                Some(0..=3) => command.starts_with("proviso") || !printed.contains("error: "),
                Some(64..=127) => output.is_some(),
                _ => true,
            };
            if !is_understood {
                wrong.push(format!("{name}: {command}: {status:?}\n{printed}"));
            }
            let printed: Vec<&str> = printed.lines().collect();
            if let Some(lines) = output.as_ref().filter(|lines| !lines.is_empty()) {
                compared += 1;
                if !agrees(lines, &printed) {
                    wrong.push(format!("{name}: {command}: it prints\n{}", printed.join("\n")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(run > 60 && compared > 8, "{run} commands were run, the output of {compared} was compared");
    assert!(unused.is_empty(), "no page has these commands: {unused:?}");
}
