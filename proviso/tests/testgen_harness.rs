//! Harnesses of tests, compiled with the program and run.

use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "\
#include <stdio.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern double __VERIFIER_nondet_double(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);
int main(void) {
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n >= 0);
    double d = __VERIFIER_nondet_double();
    if (n == 77)
        puts(__VERIFIER_nondet_bool() ? \"yes\" : \"no\");
    if (d > 2.5 && d < 2.6)
        puts(\"between\");
    if (n == 4711)
        reach_error();
    puts(\"end\");
    return 0;
}
";

fn proviso(folder: &Path, options: &[&str]) -> Output {
    let command = [&["testgen", "p.c"], options].concat();
    Command::new(env!("CARGO_BIN_EXE_proviso")).args(command).current_dir(folder).output().unwrap()
}

/// Compiles the program with a harness and runs it. Returns its output and its exit code, `None` after a signal.
fn run(folder: &Path, harness: &str) -> (String, Option<i32>) {
    let compiled =
        Command::new("clang-19").args(["-w", "p.c", harness, "-o", "run"]).current_dir(folder).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(folder.join("run")).output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

#[test]
fn each_test_has_its_harness() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("p.c"), PROGRAM).unwrap();
    let output = proviso(folder, &["-o", "suite", "--timeout", "40", "--harness", "first.c"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let first = run(folder, "first.c");
    let mut printed = String::new();
    let mut fails = 0;
    for number in 1.. {
        let test = format!("suite/testcase-{number}.xml");
        if !folder.join(&test).exists() {
            break;
        }
        let output = proviso(folder, &["--test", &test, "--harness", "one.c"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let (said, code) = run(folder, "one.c");
        assert!(number > 1 || (said.clone(), code) == first);
        fails += usize::from(code.is_none());
        printed += &said;
    }
    // The tests together take every branch of the program, and one of them calls the error function.
    assert!(["yes", "no", "between", "end"].iter().all(|word| printed.contains(word)), "{printed}");
    assert_eq!(fails, 1);

    std::fs::write(
        folder.join("mine.xml"),
        "<testcase><input>77</input><input>2.55</input><input>1</input></testcase>",
    )
    .unwrap();
    assert_eq!(proviso(folder, &["--test", "mine.xml", "--harness", "mine.c"]).status.code(), Some(0));
    assert_eq!(run(folder, "mine.c"), ("yes\nbetween\nend\n".to_owned(), Some(0)));
    assert!(
        std::fs::read_to_string(folder.join("mine.c"))
            .unwrap()
            .starts_with("/* Made by proviso: the inputs of mine.xml")
    );
}

#[test]
fn what_is_no_test_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("p.c"), PROGRAM).unwrap();
    std::fs::write(folder.join("odd.xml"), "<testcase><input>many</input></testcase>").unwrap();
    for (options, code, said) in [
        (&["--test", "3"][..], 64, "--harness"),
        (&["--test", "99", "--harness", "h.c", "-o", "s", "--timeout", "20"], 64, "there is no test 99"),
        (&["--test", "0", "--harness", "h.c", "-o", "s", "--timeout", "20"], 64, "there is no test 0"),
        (&["--test", "nowhere.xml", "--harness", "h.c"], 66, "nowhere.xml"),
        (&["--test", "odd.xml", "--harness", "h.c"], 65, "'many' is no value of type int"),
    ] {
        let output = proviso(folder, options);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(code) && told.contains(said), "{:?} {told}", output.status.code());
        assert!(!folder.join("h.c").exists());
    }
}
