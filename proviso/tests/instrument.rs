//! `proviso instrument`: the written program has the same checks as the original.

use std::io::Write;
use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_proviso")).args(args).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

/// Writes a file with this text to a new folder.
fn source(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn a_program_is_written_with_its_checks() {
    let text = "int __VERIFIER_nondet_int(void);\nint main(void) { int x = __VERIFIER_nondet_int();\n\
                if (x < LIMIT) x = x + 1;\nreturn 0; }\n";
    let (folder, file) = source("a.c", text);
    for (limit, verdict) in [("2147483647", "TRUE"), ("x + 1u", "FALSE(unreach-call)")] {
        for name in ["checked.c", "checked.bc"] {
            let path = folder.path().join(name);
            let (out, limit) = (path.to_str().unwrap(), format!("-DLIMIT={limit}"));
            let output = run(&["instrument", &file, &limit, "--check", "signed-integer-overflow", "-o", out]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            let output = run(&["verify", out, "--property", "unreach-call"]);
            assert_eq!(last_line(&output), verdict, "{limit} {name} {}", stderr(&output));
        }
    }
    let refuses = |ask| stderr(&run(&["instrument", &file, ask])).contains(" cannot be put into a program: ");
    assert!(["--check=memory", "--check=all", "--property=termination"].into_iter().all(refuses));
}

#[test]
fn a_program_is_written_with_a_table_of_its_objects() {
    let text = "#include <stdlib.h>\n#include <string.h>\nstatic char table[4] = \"abc\"; int __VERIFIER_nondet_int(void);\n\
                int main(void) { int i = __VERIFIER_nondet_int();\n\
                if (i < 0 || i > LAST) return 0; char *p = malloc(i + 2); if (!p) return 0;\n\
                memset(p, table[i], i + 2); free(p); return 0; }\n";
    let (folder, file) = source("a.c", text);
    for (last, verdict) in [("3", "TRUE"), ("4", "FALSE(unreach-call)")] {
        for name in ["checked.c", "checked.bc", "checked.ll"] {
            let (path, last) = (folder.path().join(name), format!("-DLAST={last}"));
            let out = path.to_str().unwrap();
            run(&["instrument", &file, &last, "--check", "default,leak", "-o", out]);
            let output = run(&["verify", out, "--property", "unreach-call"]);
            assert_eq!(last_line(&output), verdict, "{last} {name} {}", stderr(&output));
        }
    }
}

/// `errno` and the arguments have no gap: the tables of `ctype.h` and the environment may follow them.
#[test]
fn objects_of_the_system_have_no_gap() {
    let text = "#include <ctype.h>\n#include <errno.h>\n#include <stdlib.h>\n\
                int main(int argc, char **argv) { errno = 0; char *home = getenv(\"A\");\n\
                return isalpha('a') && (!home || home[0] == 'b') && argc == 1 && argv[0][0] ? errno : 1; }\n";
    let (folder, file) = source("a.c", text);
    let [checked, program] = ["checked.c", "program"].map(|name| folder.path().join(name));
    run(&["instrument", &file, "--check", "address", "-o", checked.to_str().unwrap()]);
    std::fs::write(folder.path().join("error.c"), "void abort(void); void reach_error(void) { abort(); }").unwrap();
    let mut clang = Command::new("clang-19");
    clang.arg("-w").arg(&checked).arg(folder.path().join("error.c")).arg("-o").arg(&program);
    assert!(clang.status().unwrap().success());
    assert!(Command::new(&program).env_clear().env("A", "b").status().unwrap().success());
}

/// Allocations may fail in a written program, including those of library functions, whose models are written for that.
/// The same holds with and without memory checks.
#[test]
fn allocations_fail_in_a_written_program() {
    let text = "#include <stdlib.h>\n#include <string.h>\nint main(void) { char *p = calloc(1, 4); if (!p) return 0;\n\
                char *q = realloc(p, 8); if (!q) { p[3] = 1; free(p); return 0; }\n\
                free(q); q = strdup(\"ab\"); if (q || BAD) q[0] = 1; free(q); return 0; }\n";
    let (folder, file) = source("a.c", text);
    let path = folder.path().join("checked.c");
    let (out, fail) = (path.to_str().unwrap(), "--malloc-may-fail");
    for check in ["address,leak", "null"] {
        for (bad, options, verdict) in
            [("0", &[fail][..], "TRUE"), ("1", &[], "TRUE"), ("1", &[fail], "FALSE(unreach-call)")]
        {
            let bad = format!("-DBAD={bad}");
            let output = run(&[&["instrument", &file, &bad, "--check", check, "-o", out], options].concat());
            assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
            let output = run(&["verify", out, "--property", "unreach-call"]);
            assert_eq!(last_line(&output), verdict, "{check} {bad} {options:?} {}", stderr(&output));
        }
    }
}

/// Library functions without a written model allocate successfully in a written program. The command warns of that.
#[test]
fn library_functions_that_do_not_fail_are_named() {
    let text = "#include <stdlib.h>\nint main(void) { int *p = &(int){0}; return setenv(\"A\", \"b\", 1) || *p; }\n";
    let (folder, file) = source("a.c", text);
    let path = folder.path().join("checked.c");
    let command = ["instrument", &file, "--check", "null", "-o", path.to_str().unwrap()];
    assert_eq!(stderr(&run(&command)), "");
    let output = run(&[&command[..], &["--malloc-may-fail"]].concat());
    assert!(
        stderr(&output).contains("allocations in these library functions do not fail: setenv"),
        "{}",
        stderr(&output)
    );
}

/// A written program declares variables that other files define, even with unknown sizes. If the size is known,
/// accesses are checked.
#[test]
fn a_written_program_declares_what_others_define() {
    let text =
        "extern int table[], sizes[3];\nint main(int n, char **unused) { return n < 3 && table[sizes[n]] + 1 > 0; }\n";
    let (folder, file) = source("a.c", text);
    let path = folder.path().join("checked.c");
    for check in ["signed-integer-overflow", "address"] {
        run(&["instrument", &file, "--check", check, "-o", path.to_str().unwrap()]);
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(written.contains("extern unsigned char table[];"), "{written}");
        let is_object = written.contains("proviso_begin((void *)&sizes, 12, PROVISO_GLOBAL)");
        assert_eq!(is_object, check == "address", "{written}");
    }
}
