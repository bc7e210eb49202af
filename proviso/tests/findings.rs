//! Findings: one for each cause, printed as soon as it is found, in terms of the program. And the advice of runs
//! without a verdict.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Verifies a text as `p.c` in a folder.
fn verify(folder: &Path, text: &str, options: &[&str]) -> Output {
    std::fs::write(folder.join("p.c"), text).expect("the folder is writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.current_dir(folder).args(["verify", "p.c", "--color", "never", "--timeout", "60"]).args(options);
    command.output().expect("the built command starts")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder for files")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn errors(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("error: ")).collect()
}

/// The results of SARIF, by their messages.
fn results(folder: &Path) -> Vec<String> {
    let sarif = std::fs::read_to_string(folder.join("out.sarif")).expect("SARIF is written");
    let sarif: serde_json::Value = serde_json::from_str(&sarif).expect("SARIF is JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("a list of results").iter();
    results.map(|result| result["message"]["text"].as_str().expect("a message").to_owned()).collect()
}

const COUNT: &str = "#include <stdio.h>\n\
    int main(void) {\n\
    char line[64];\n\
    unsigned n = 0;\n\
    FILE *f = fopen(\"config.txt\", \"r\");\n\
    if (fgets(line, sizeof line, f)) n++;\n\
    fclose(f);\n\
    return n;\n}\n";

#[test]
fn a_stream_that_is_not_checked_is_one_finding() {
    let folder = folder();
    let output = verify(folder.path(), COUNT, &["--sarif", "out.sarif", "--check", "address", "--json", "r.json"]);
    let text = stdout(&output);
    assert_eq!(errors(&text), ["error: `stream` of `fgets` is null (address is violated)"], "{text}");
    assert!(text.contains("`fopen` returns null here: p.c:5:11"), "{text}");
    assert_eq!(results(folder.path()), ["`stream` of `fgets` is null"]);
    // No violation is lost: violations with the same cause refer to the number of the finding.
    let json = std::fs::read_to_string(folder.path().join("r.json")).expect("JSON is written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let violations = json["checks"][0]["violations"].as_array().expect("a list of violations");
    assert!(violations.len() > 1, "{violations:?}");
    assert!(violations[1..].iter().all(|violation| violation["cause"] == violations[0]["number"]), "{violations:?}");
}

#[test]
fn uses_of_one_null_pointer_are_one_finding_and_those_of_two_are_two() {
    let text = "#include <stdlib.h>\nstruct node { int value; struct node *next; };\n\
                static int get(struct node *n) { return n->value; }\nint main(void) {\n\
                struct node *n = malloc(sizeof *n);\nn->value = 1;\nn->next = 0;\n\
                struct node *m = malloc(sizeof *m);\nm->value = 2;\nreturn get(n) + get(m);\n}\n";
    let folder = folder();
    let output = verify(folder.path(), text, &["--malloc-may-fail", "--sarif", "out.sarif"]);
    let text = stdout(&output);
    let expected = ["write of `n->value`, but `n` is null", "write of `m->value`, but `m` is null"];
    assert_eq!(results(folder.path()), expected, "{text}");
    assert!(text.contains("the allocation here fails and gives a null pointer: p.c:5:18"), "{text}");
    assert!(text.contains("with the same cause at"), "{text}");
}

#[test]
fn a_bug_in_a_list_is_one_result() {
    let text = "#include <stdlib.h>\nstruct node { int value; struct node *next; };\n\
                static struct node *push(struct node *head, int value) {\nstruct node *n = malloc(sizeof *n);\n\
                n->value = value; n->next = head;\nreturn n;\n}\nint main(void) {\n\
                struct node *l = push(push(0, 1), 2);\nint sum = 0;\n\
                for (struct node *n = l; n; n = n->next) {\nsum += n->value & 7;\nfree(n);\n}\nreturn sum;\n}\n";
    let folder = folder();
    let output = verify(folder.path(), text, &["--sarif", "out.sarif", "--timeout", "20"]);
    let text = stdout(&output);
    let found = results(folder.path());
    assert_eq!(found, ["read of `n->next` in the object allocated in line 4, which was freed in line 13"], "{text}");
    assert!(text.ends_with("FALSE(address)\n"), "{text}");
}

#[test]
fn messages_name_arguments_of_functions_that_the_compiler_replaces() {
    let folder = folder();
    let program = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\nchar *s = calloc(4, 1);\nfree(s);\n\
                   printf(\"%s and more\\n\", s);\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--check", "address", "--trace", "full"]));
    let message = "an argument of `printf` points to the object allocated in line 4, which was freed in line 5";
    assert_eq!(errors(&text), [format!("error: {message} (address is violated)")], "{text}");
    assert!(!text.contains("proviso_"), "{text}");
}

#[test]
fn messages_name_elements_and_functions() {
    let folder = folder();
    let elements = "int __VERIFIER_nondet_int(void);\nstatic int grid[2][3];\nint main(void) {\nint a[4] = {0}, i = __VERIFIER_nondet_int();\n\
                    if (i == 4) a[i] = 1;\nif (i == 2) return grid[i][1];\nvoid (*f)(void) = 0;\nif (i == 7) f();\nreturn a[0];\n}\n";
    let text = stdout(&verify(folder.path(), elements, &["--check", "address"]));
    for message in ["write of `a[4]`, but `a` has 4 elements", "read of `grid[2][1]`, but `grid` has 2 elements"] {
        assert!(text.contains(&format!("error: {message} (")), "{message}: {text}");
    }
    assert!(text.contains("error: call of `f`, which is null") || text.contains("null pointer"), "{text}");
}

#[test]
fn the_first_finding_can_be_the_last() {
    let text = "int __VERIFIER_nondet_int(void);\nint main(void) {\nint n = __VERIFIER_nondet_int(), a[2] = {0};\n\
                if (n == 5) return 1 << (n * 8);\nreturn a[n & 3];\n}\n";
    let folder = folder();
    let all = stdout(&verify(folder.path(), text, &[]));
    assert!(errors(&all).len() > 1, "{all}");
    let output = verify(folder.path(), text, &["--first"]);
    let first = stdout(&output);
    assert_eq!((errors(&first).len(), output.status.code()), (1, Some(1)), "{first}");
    assert!(first.lines().last().is_some_and(|line| line.starts_with("FALSE(")), "{first}");
}

/// The finding is printed although the run does not end until it is killed.
#[test]
fn findings_are_printed_when_they_are_found() {
    let hard = "unsigned __VERIFIER_nondet_uint(void);\nint main(void) {\n\
                unsigned s = __VERIFIER_nondet_uint(), i = 0; int a[2] = {0};\n\
                if (s == 7) return a[s];\n\
                while (i < s * s * s) { i++; s ^= s >> 3; }\n\
                if ((unsigned long)s * i == 1000000016000000063ul) return 1 << s;\nreturn 0; }\n";
    let folder = folder();
    std::fs::write(folder.path().join("p.c"), hard).expect("the folder is writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.current_dir(folder.path()).args(["verify", "p.c", "--check", "address,shift", "--timeout", "100000"]);
    let mut run = command.stdout(Stdio::piped()).spawn().expect("the built command starts");
    let lines = BufReader::new(run.stdout.take().expect("a pipe")).lines();
    let found = lines.map_while(Result::ok).find(|line| line.starts_with("error: "));
    let is_running = run.try_wait().expect("it can be asked").is_none();
    run.kill().expect("it can be killed");
    run.wait().expect("it ends");
    assert!(found.is_some_and(|line| line.contains("address")) && is_running);
}

/// A run without a verdict names the obstacle, then the remedies, the cheapest first.
#[test]
fn a_run_without_a_verdict_says_what_to_do() {
    let hard = "unsigned __VERIFIER_nondet_uint(void); void reach_error(void);\nint main(void) {\n\
                unsigned s = __VERIFIER_nondet_uint(), i = 0;\n\
                while (i < s * s * s) { i++; s ^= s >> 3; }\n\
                if ((unsigned long)s * i == 1000000016000000063ul) reach_error();\nreturn 0; }\n";
    let folder = folder();
    let output = verify(folder.path(), hard, &["--property", "unreach-call", "--timeout", "2", "--json", "r.json"]);
    let text = stdout(&output);
    let help: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("= help: ")).collect();
    assert!(help.first().is_some_and(|first| first.contains("__VERIFIER_assume")), "{text}");
    assert_eq!(help.last(), Some(&"allow more time: `--timeout 10`"), "{text}");
    assert!(text.contains("the result depends on this loop of `main`\n --> p.c:4:"), "{text}");
    let json = std::fs::read_to_string(folder.path().join("r.json")).expect("JSON is written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["help"].as_array().map(Vec::len), Some(help.len()));
    let undefined =
        "int ask(void); void reach_error(void);\nint main(void) { if (ask() == 3) reach_error(); return 0; }\n";
    let text = stdout(&verify(folder.path(), undefined, &["--property", "unreach-call"]));
    assert!(
        text.contains("= help: define `ask`: add a file, or a stub in C by `--undefined-functions stubs.c`"),
        "{text}"
    );
}
