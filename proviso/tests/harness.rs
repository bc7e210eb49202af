//! Harnesses, compiled by the command that they print.

use std::path::Path;
use std::process::{Command, Output};

/// Verifies a file of this text, which must fail, and returns the harness's file and what the command warns of.
fn harness(folder: &Path, name: &str, text: &str, options: &[&str]) -> (String, String) {
    let (file, harness) = (folder.join(name), folder.join("harness.c"));
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.arg("verify").arg(file).args(options).arg("--harness").arg(&harness);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    (std::fs::read_to_string(harness).unwrap(), stderr)
}

/// Does what the harness says, with this compiler.
fn as_it_says(folder: &Path, harness: &str, compiler: &str) -> Output {
    let line = harness.lines().find_map(|line| line.strip_prefix(" *     clang ")).expect("a command");
    let script = format!("{compiler} -w {}", line.replace("THIS_FILE", "harness.c"));
    Command::new("timeout").args(["20", "sh", "-c", &script]).current_dir(folder).output().unwrap()
}

const USES_THE_HEAP: &str = "#include <stdlib.h>\n#include <time.h>\n#include <unistd.h>\nint main(void) {\n    \
    char text[4], *object = malloc(3);\n    \
    if (object)\n        object[2 + (read(0, text, 4) > 2 && text[1] == 'k' && time(0) == 77 && sysconf(4) == 9)] = 1;\n    \
    free(object);\n    return 0;\n}\n";

#[test]
fn what_a_sanitizer_has_itself_is_the_harness_s() {
    let folder = tempfile::tempdir().unwrap();
    let (text, _) = harness(folder.path(), "heap.c", USES_THE_HEAP, &["--check", "address"]);
    for compiler in ["clang-19", "gcc"] {
        let output = as_it_says(folder.path(), &text, compiler);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("heap-buffer-overflow"), "{compiler}: {stderr}\n{text}");
    }
}

#[test]
fn an_allocation_of_a_preprocessed_program_fails() {
    let folder = tempfile::tempdir().unwrap();
    let program = "void *malloc(unsigned long);\nint main(void) { int *p = malloc(4); *p = 1; return 0; }\n";
    let (text, _) = harness(folder.path(), "fails.i", program, &["--check", "null", "--malloc-may-fail"]);
    let output = as_it_says(folder.path(), &text, "clang-19");
    assert!(String::from_utf8_lossy(&output.stderr).contains("null pointer"), "{output:?}\n{text}");
}

#[test]
fn what_cannot_be_passed_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let program = "void reach_error(void);\ntypedef int eight __attribute__((vector_size(32)));\n\
        int f(eight v) { if (v[7] == 3) reach_error(); return 0; }\n";
    let options = ["--32", "--entry", "f", "--property", "unreach-call"];
    let (text, warnings) = harness(folder.path(), "vector.c", program, &options);
    let said = "the argument 'v' of 'f', which is passed as 0";
    assert!(warnings.contains(&format!("the harness cannot give {said}")), "{warnings}");
    assert!(text.contains("cannot be given from outside") && text.contains(said), "{text}");
}
