//! Harnesses, compiled with the command in their first comment.

use std::path::Path;
use std::process::{Command, Output};

/// Verifies a program that violates its property. Returns the text of the harness, and the warnings of the command.
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

/// Compiles and runs the harness with the command that it contains, but with this compiler.
fn as_it_says(folder: &Path, harness: &str, compiler: &str) -> Output {
    let lines = harness.lines().map_while(|line| line.starts_with([' ', '/']).then_some(line));
    let command: Vec<&str> = lines.filter_map(|line| line.strip_prefix(" *     ")).collect();
    let command = command.join("\n");
    let (named, _) = command.split_once(' ').expect("a command");
    let script = command.replace(&format!("{named} "), &format!("{compiler} -w "));
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

/// The harness of an index before a global array, where AddressSanitizer may find another variable.
#[test]
fn an_index_before_a_global_array_is_reproduced() {
    let folder = tempfile::tempdir().unwrap();
    let program = "#include <stdio.h>\nstatic int counts[26];\nint main(void) {\n    int c = getchar();\n    \
        if (c != EOF)\n        counts[c - 'a']++;\n    return 0;\n}\n";
    let (text, _) = harness(folder.path(), "counts.c", program, &["--check", "address"]);
    assert!(text.contains("read of `counts[-49]`, but `counts` has 26 elements"), "{text}");
    let output = as_it_says(folder.path(), &text, "clang-19");
    assert!(String::from_utf8_lossy(&output.stderr).contains("index -49 out of bounds"), "{output:?}\n{text}");
}

/// `free` as the destructor of a key is a step of the thread that ends.
#[test]
fn a_free_by_the_library_is_a_step_of_the_schedule() {
    let folder = tempfile::tempdir().unwrap();
    let program = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
        static pthread_key_t key;\nstatic _Atomic(int *) passed;\nstatic atomic_int done;\n\
        static void *work(void *unused) {\n    int *made = malloc(4);\n    pthread_setspecific(key, made);\n    \
        atomic_store(&passed, made);\n    while (!atomic_load_explicit(&done, memory_order_relaxed))\n        ;\n    \
        return unused;\n}\n\
        int main(void) {\n    pthread_t thread;\n    int *got;\n    pthread_key_create(&key, free);\n    \
        pthread_create(&thread, 0, work, 0);\n    while (!(got = atomic_load(&passed)))\n        ;\n    \
        *got = 2;\n    atomic_store_explicit(&done, 1, memory_order_relaxed);\n    pthread_join(thread, 0);\n    \
        return 0;\n}\n";
    let (text, _) = harness(folder.path(), "key.c", program, &["--check", "thread"]);
    let output = as_it_says(folder.path(), &text, "clang-19");
    assert!(String::from_utf8_lossy(&output.stderr).contains("data race: thread 1 frees"), "{output:?}\n{text}");
}

#[test]
fn what_cannot_be_passed_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let program = "void reach_error(void);\ntypedef int eight __attribute__((vector_size(32)));\n\
        int f(eight v) { if (v[7] == 3) reach_error(); return 0; }\n";
    let options = ["--32", "--entry", "f", "--property", "unreach-call"];
    let (text, warnings) = harness(folder.path(), "vector.c", program, &options);
    let said = "the argument 'v' of 'f', which is passed as 0";
    assert!(warnings.contains(&format!("the harness cannot provide {said}")), "{warnings}");
    assert!(text.contains("cannot be set from outside") && text.contains(said), "{text}");
}

#[test]
fn the_command_compiles_the_program_as_it_was_verified() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("a part");
    std::fs::create_dir(&part).unwrap();
    std::fs::write(part.join("limit.h"), "int getopt_like(void);\n").unwrap();
    let program = "#include \"limit.h\"\nvoid reach_error(void); int __VERIFIER_nondet_int(void);\n\
        int main(void) { if (__VERIFIER_nondet_int() == LIMIT) reach_error(); return 0; }\n";
    let include = format!("-I{}", part.display());
    let (text, _) = harness(folder.path(), "a program.c", program, &[&include, "-DLIMIT=(4 + 4)", "--std", "c99"]);
    assert!(text.contains("-std=c99") && text.contains("'-DLIMIT=(4 + 4)'"), "{text}");
    let output = as_it_says(folder.path(), &text, "clang-19");
    assert!(String::from_utf8_lossy(&output.stderr).contains("reach_error is called"), "{output:?}\n{text}");
    // The compiler in the command exists.
    let named = text.lines().find_map(|line| line.strip_prefix(" *     ")?.split(' ').next()).unwrap();
    assert!(Command::new(named).arg("--version").output().is_ok(), "{named}");
}

#[test]
fn a_project_s_files_are_compiled_with_their_own_options() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("inc")).unwrap();
    // The header that all files include declares what the harness defines.
    write("inc/config.h", "int getenv_of(int);\nint other(int);\n#define LIMIT 4\n");
    write(
        "a.c",
        "void reach_error(void); int __VERIFIER_nondet_int(void); int part(int);\n\
        int main(void) { if (part(__VERIFIER_nondet_int()) == LIMIT) reach_error(); return other(1); }\n",
    );
    write("b.c", "int part(int x) { return x + MORE; }\n");
    let entry = |file: &str, options: &[&str]| {
        let words = [&["cc", "-include", "inc/config.h"], options, &["-c", file]].concat();
        serde_json::json!({"directory": folder.path(), "file": file, "arguments": words})
    };
    write("compile_commands.json", &serde_json::json!([entry("a.c", &[]), entry("b.c", &["-DMORE=1"])]).to_string());
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.current_dir(folder.path()).args(["verify", "-p", ".", "a.c", "b.c", "--property", "unreach-call"]);
    let output = command.args(["--undefined-functions", "any-value", "--harness", "harness.c"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(folder.path().join("harness.c")).unwrap();
    let output = as_it_says(folder.path(), &text, "clang-19");
    assert!(String::from_utf8_lossy(&output.stderr).contains("reach_error is called"), "{output:?}\n{text}");
}

#[test]
fn functions_of_headers_are_defined_without_a_conflict() {
    let folder = tempfile::tempdir().unwrap();
    // `getopt` is in <unistd.h>, which the harness includes, with other parameters.
    let program = "void reach_error(void); int getopt(void), mkstemps(int);\n\
        int main(void) { if (getopt() == 5 && mkstemps(1) == 6) reach_error(); return 0; }\n";
    let options = ["--property", "unreach-call", "--undefined-functions", "any-value"];
    let (text, _) = harness(folder.path(), "same.c", program, &options);
    let output = as_it_says(folder.path(), &text, "clang-19");
    assert!(String::from_utf8_lossy(&output.stderr).contains("reach_error is called"), "{output:?}\n{text}");
}

#[test]
fn a_harness_of_an_earlier_run_does_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (file, old) = (folder.path().join("a.c"), folder.path().join("harness.c"));
    let program = "void reach_error(void); int main(void) { if (LIMIT) reach_error(); return 0; }\n";
    std::fs::write(&file, program).unwrap();
    let verify = |define: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
        command.arg("verify").arg(&file).arg(define).arg("--harness").arg(&old).output().unwrap()
    };
    assert_eq!(verify("-DLIMIT=1").status.code(), Some(1));
    assert!(old.exists());
    let output = verify("-DLIMIT=0");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        !old.exists() && said.contains("harness.c of an earlier run is removed: the verdict is now TRUE"),
        "{said}"
    );
}

const STRUCTS: &str = "void reach_error(void);\n\
    struct part { short a; unsigned b : 3, c : 5; };\n\
    struct __attribute__((packed)) odd { char c; int n; };\n\
    struct mixed { double d; int i; };\n\
    struct floats { float x, y, z; };\n\
    struct big { struct part parts[2]; struct odd odd; union { double d; long l; } u; int *p; char name[300]; long double e; };\n\
    typedef float four __attribute__((vector_size(16)));\n\
    struct big make(const int *k), nondet_big(void);\n\
    struct mixed mix(int), nondet_mixed(void);\n\
    struct odd nondet_odd(void);\n\
    struct part nondet_part(void);\n\
    struct floats nondet_floats(void);\n\
    four nondet_four(void);\n\
    int main(void) {\n    \
    struct big b = make(0), c = nondet_big();\n    \
    struct mixed m = mix(3), n = nondet_mixed();\n    \
    struct odd o = nondet_odd();\n    \
    struct part p = nondet_part();\n    \
    struct floats f = nondet_floats();\n    \
    four v = nondet_four();\n    \
    if (b.parts[1].b == 5 && b.parts[1].a == -3 && b.odd.n == 99 && b.u.d == 2.5 && b.name[299] == 'x' && b.e == 0.5L\n        \
    && c.u.l == 7 && c.name[1] == 'y' && m.d == 0.5 && m.i == 3 && n.i == 4 && n.d == -1 && o.c == 'c' && o.n == 12\n        \
    && p.a == 4 && p.b == 6 && p.c == 9 && f.x == 1 && f.z == 3 && v[2] == 1.5f)\n        reach_error();\n    return 0;\n}\n";

#[test]
fn functions_that_nobody_defines_return_structs() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--property", "unreach-call", "--undefined-functions", "any-value"];
    let (text, _) = harness(folder.path(), "structs.c", STRUCTS, &options);
    for compiler in ["clang-19", "gcc"] {
        let output = as_it_says(folder.path(), &text, compiler);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("reach_error is called"), "{compiler}: {stderr}\n{text}");
    }
    let narrow = [&options[..], &["--32"]].concat();
    let (text, _) = harness(folder.path(), "structs.c", STRUCTS, &narrow);
    let output = as_it_says(folder.path(), &text, "clang-19");
    assert!(String::from_utf8_lossy(&output.stderr).contains("reach_error is called"), "{output:?}\n{text}");
}

#[test]
fn what_a_function_of_unknown_type_does_is_not_given() {
    let folder = tempfile::tempdir().unwrap();
    let program = "void reach_error(void);\nstruct big { long a[4]; } make(int *);\n\
        int main(void) { int k = 1; struct big (*f)(int *) = make; if (f(&k).a[2] == 4 && k == 1) reach_error(); return 0; }\n";
    let options = ["--property", "unreach-call", "--undefined-functions", "any-value"];
    let (text, _) = harness(folder.path(), "pointer.c", program, &options);
    assert!(text.contains("cannot be set from outside"), "{text}");
    let output = as_it_says(folder.path(), &text, "clang-19");
    assert_eq!(output.status.code(), Some(2), "{output:?}\n{text}");
}
