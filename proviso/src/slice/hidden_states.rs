//! Tests that slices respect the state that the C library keeps between calls. The table `tests/data/hidden_states.txt`
//! lists calls that change something and calls that depend on something. For each pair, the native program is run with
//! and without the change. If the change affects the result of the second call, a slice for the second call must
//! contain the first.

use super::Subject;
use crate::args::{DependenceArgs, InputArgs};
use cfa::{EdgeId, FunctionOrigin, Id, Op};
use clap::Parser;
use driver::files::Outputs;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const TABLE: &str = include_str!("../../tests/data/hidden_states.txt");
const NATIVE: &str = include_str!("../../tests/data/hidden_states.c");

/// The functions of one part of the library.
#[derive(Default)]
struct Group {
    /// The name of the section in the table.
    name: &'static str,
    /// Lines of C at the start of the program.
    start: Vec<&'static str>,
    /// Statements that change a state.
    changes: Vec<String>,
    /// Expressions that depend on a state.
    questions: Vec<&'static str>,
}

/// The content of the table.
struct Table {
    setup: Vec<&'static str>,
    groups: Vec<Group>,
    /// All functions that the table mentions.
    functions: BTreeSet<&'static str>,
}

/// Parses the table.
fn table() -> Table {
    let mut table = Table { setup: Vec::new(), groups: Vec::new(), functions: BTreeSet::new() };
    let mut section = "";
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
            if !["setup", "neither"].contains(&name) {
                table.groups.push(Group { name, ..Group::default() });
            }
            continue;
        }
        match (section, line.split_at(2)) {
            ("setup", _) => table.setup.push(line),
            ("neither", _) => table.functions.extend(line.split(' ')),
            (_, ("s ", start)) => table.groups.last_mut().unwrap().start.push(start),
            (_, (kind, rest)) => {
                let (functions, code) = rest.split_once(": ").unwrap();
                table.functions.extend(functions.split(' '));
                let group = table.groups.last_mut().unwrap();
                match kind {
                    "w " => group.changes.push(code.to_owned()),
                    "r " => group.questions.push(code),
                    _ => {
                        group.changes.push(format!("(void)({code});"));
                        group.questions.push(code);
                    }
                }
            }
        }
    }
    table
}

/// Returns a program that makes one change and then evaluates one question, with the lines of all changes and of all
/// questions.
fn program(setup: &[&str], group: &Group) -> (String, Vec<u32>, Vec<u32>) {
    const HEADERS: &str = "ctype dirent errno error fcntl fenv getopt langinfo libintl locale math pthread pwd regex search semaphore signal stdarg stddef \
                           stdio stdio_ext stdlib string sys/ioctl sys/mman sys/resource sys/sendfile sys/stat sys/time sys/types sys/uio syslog threads time \
                           unistd utime wchar wctype";
    let mut lines = vec!["#define _GNU_SOURCE".to_owned()];
    lines.extend(HEADERS.split_whitespace().map(|header| format!("#include <{header}.h>")));
    lines.push("extern int choice(int);".into());
    lines.push("extern void check(long);".into());
    lines.extend(setup.iter().map(|&line| line.to_owned()));
    lines.push("int main(void) {".into());
    lines.extend(group.start.iter().map(|&line| line.to_owned()));
    let mut choose = |which: u32, cases: Vec<String>| {
        lines.push(format!("switch (choice({which})) {{"));
        let mut numbers = Vec::new();
        for (n, case) in cases.iter().enumerate() {
            lines.push(format!("case {n}: {{ {case} break; }}"));
            numbers.push(lines.len() as u32);
        }
        lines.push("}".into());
        numbers
    };
    let changes = choose(0, group.changes.clone());
    let questions = choose(1, group.questions.iter().map(|question| format!("check((long)({question}));")).collect());
    lines.push("return 0; }".into());
    (lines.join("\n") + "\n", changes, questions)
}

/// Returns the changes that affect the result of each question, by question.
fn natively(source: &Path, folder: &Path, group: &Group) -> Vec<Vec<usize>> {
    let clang = || {
        let mut clang = Command::new(std::env::var_os("PROVISO_CLANG").unwrap_or("clang-19".into()));
        clang.arg("-w").current_dir(folder);
        clang
    };
    std::fs::write(folder.join("native.c"), NATIVE).unwrap();
    assert!(clang().arg("-Dmain=program").arg("-c").arg(source).args(["-o", "program.o"]).status().unwrap().success());
    let mut link = clang();
    assert!(link.args(["native.c", "program.o", "-o", "native", "-lm", "-lpthread"]).status().unwrap().success());
    let counts = [group.changes.len(), group.questions.len()].map(|n| n.to_string());
    let place = folder.join("place");
    std::fs::create_dir(&place).unwrap();
    let output = Command::new(folder.join("native")).args(counts).current_dir(place).output().unwrap();
    assert!(output.status.success(), "{}: {}", group.name, String::from_utf8_lossy(&output.stderr));
    let mut found = vec![Vec::new(); group.questions.len()];
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let (change, question) = line.split_once(' ').unwrap();
        found[question.parse::<usize>().unwrap()].push(change.parse().unwrap());
    }
    found
}

/// Returns the lines with calls in the slice for each question, by question.
fn sliced(source: &Path, questions: &[u32]) -> Vec<BTreeSet<u32>> {
    #[derive(Parser)]
    struct Args {
        #[command(flatten)]
        input: InputArgs,
        #[command(flatten)]
        dependence: DependenceArgs,
    }
    let mut words = vec!["slice".to_owned()];
    words.extend(questions.iter().flat_map(|line| ["-c".to_owned(), format!("{}:{line}", source.display())]));
    let args = Args::parse_from(words);
    let outputs = Outputs::new([]);
    let (subject, _) =
        Subject::load(&[source.to_owned()], &args.input, &args.dependence, &outputs).expect("it compiles");
    let program = &subject.program;
    let (mut analysis, _) = subject.analyse(true).expect("it is sliced");
    let mut lines = Vec::new();
    for (_, criteria) in subject.by_text() {
        let kept = analysis.slice(criteria).kept;
        let is_call = |id: &EdgeId| {
            let source = program.funcs[program.func_of(*id)].origin == FunctionOrigin::Source;
            kept[id.index()] && source && matches!(program.edges[*id].op, Op::Call { .. })
        };
        let places = program.edges.ids().filter(is_call).filter_map(|id| program.edges[id].place);
        lines.push(places.map(|place| program.places[place].line).collect());
    }
    lines
}

#[test]
fn what_a_call_changes_is_kept_for_the_calls_that_depend_on_it() {
    let table = table();
    let mut pairs = 0;
    for group in &table.groups {
        let folder = tempfile::tempdir().unwrap();
        let (text, changes, questions) = program(&table.setup, group);
        let source = folder.path().join("p.c");
        std::fs::write(&source, text).unwrap();
        let slices = sliced(&source, &questions);
        for ((differences, slice), question) in
            natively(&source, folder.path(), group).iter().zip(slices).zip(&group.questions)
        {
            for &change in differences {
                let change_line = changes[change];
                assert!(
                    slice.contains(&change_line),
                    "{}: {} matters to {question}",
                    group.name,
                    group.changes[change]
                );
                pairs += 1;
            }
        }
    }
    assert!(pairs > 300, "{pairs} pairs");
}

#[test]
fn all_functions_of_models_are_in_the_table() {
    let functions = table().functions;
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontend-llvm/models");
    for file in std::fs::read_dir(models).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let defined = text.lines().map_while(|line| line.strip_prefix("// Defines:")).flat_map(str::split_whitespace);
        for function in defined.filter(|name| !name.contains('.')) {
            assert!(
                functions.contains(function),
                "what does '{function}' keep, and what does it depend on? See hidden_states.txt"
            );
        }
    }
}
