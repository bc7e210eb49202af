//! The result of each check when a run has several checks.

use std::process::{Command, Output};

fn last_line(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap().lines().last().unwrap_or_default()
}

/// Verifies a program with the default checks. Returns the output, and a function that maps the name of a check to its
/// result, the lines of its violations, and the result for its other places.
fn checks(text: &str) -> (impl Fn(&str) -> (String, Vec<u64>, String), Output) {
    asked(text, &[])
}

fn asked(text: &str, options: &[&str]) -> (impl Fn(&str) -> (String, Vec<u64>, String) + use<>, Output) {
    let folder = tempfile::tempdir().unwrap();
    let [file, json] = ["a.c", "result.json"].map(|name| folder.path().join(name));
    std::fs::write(&file, text).unwrap();
    let mut proviso = Command::new(env!("CARGO_BIN_EXE_proviso"));
    let output = proviso.arg("verify").arg(&file).args(options).arg("--json").arg(&json).output().unwrap();
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let of = move |name: &str| {
        let check = json["checks"].as_array().unwrap().iter().find(|c| c["name"] == name).unwrap().clone();
        let lines = check["violations"].as_array().unwrap().iter().map(|v| v["location"]["line"].as_u64().unwrap());
        let mut lines: Vec<u64> = lines.collect();
        lines.sort_unstable();
        (check["result"].as_str().unwrap().to_owned(), lines, check["rest"].as_str().unwrap_or_default().to_owned())
    };
    (of, output)
}

fn violated(lines: &[u64]) -> (String, Vec<u64>, String) {
    ("violated".to_owned(), lines.to_vec(), "proved".to_owned())
}

#[test]
fn each_check_has_a_result_and_no_violation_hides_another() {
    let (of, output) = checks(
        "#include <assert.h>\n#include <stdlib.h>\nint __VERIFIER_nondet_int(void);\nint main(void) {\n\
         int a[4] = {0}, n = __VERIFIER_nondet_int();\n\
         int *p = malloc(8);\n\
         for (int i = 0; i <= 4; i++) a[i] = i;\n\
         assert(n != 17);\n\
         free(p);\n\
         if (n > 100) free(p);\n\
         int m = n + 1;\n\
         if (m > 3) m = 10 / (m - 4);\n\
         assert(m < 1000);\n\
         return 0;\n}\n",
    );
    // The first violation on the path is reported first; those after the invalid access are reported last.
    assert_eq!((output.status.code(), last_line(&output)), (Some(1), "FALSE(address)"));
    let text = String::from_utf8_lossy(&output.stdout);
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(errors[0].starts_with("error: write of `a[4]`"), "{text}");
    let first_behind =
        text.split("\n\n").position(|part| part.contains("makes another invalid access before this one"));
    let last_before = text
        .split("\n\n")
        .enumerate()
        .filter(|(_, part)| part.starts_with("error: ") && !part.contains("another invalid access before"));
    assert!(first_behind > last_before.map(|(i, _)| i).last(), "{text}");
    assert_eq!(of("unreach-call"), violated(&[8]));
    assert_eq!(of("address"), violated(&[7, 10]));
    assert_eq!(of("signed-integer-overflow"), violated(&[11]));
    assert_eq!(of("integer-divide-by-zero"), violated(&[12]));
    assert_eq!(of("bounds"), violated(&[7]));
    assert_eq!(of("null"), ("proved".to_owned(), vec![], "proved".to_owned()));
    assert!(String::from_utf8_lossy(&output.stdout).contains("signed-integer-overflow"), "{output:?}");
}

/// The pre-analysis proves checks only for executions up to the first invalid access. A later access must not count as
/// proved because of it.
#[test]
fn no_invalid_access_hides_another_of_the_same_pointer() {
    let (of, output) = checks(
        "int __VERIFIER_nondet_int(void);\nint g;\nint main(void) {\n\
         int *p = __VERIFIER_nondet_int() ? &g : 0;\n\
         *p = 1;\n\
         return 10 / (*p ? 1 :\n p == 0);\n}\n",
    );
    assert_eq!((output.status.code(), last_line(&output)), (Some(1), "FALSE(address)"));
    assert_eq!(of("address"), violated(&[5, 6]));
}

/// The pre-analysis proves checks only for executions up to the first failed check. Here the first check always fails,
/// so nothing after it counts as proved.
#[test]
fn no_failed_check_hides_another_that_is_always_behind_it() {
    let (of, output) = checks(
        "int s = 31;\nint main(void) {\n\
         int a = 1 << s;\n\
         int b = 1 << s;\n\
         int c = a - b;\n\
         return c + (a - 1);\n}\n",
    );
    assert_eq!((output.status.code(), last_line(&output)), (Some(1), "FALSE(signed-integer-overflow)"));
    assert_eq!(of("shift"), violated(&[3, 4]));
    assert_eq!(of("signed-integer-overflow"), violated(&[6]));
}

/// Clang folds these checks to failures. It passes operands wider than a register to the handler in memory.
#[test]
fn no_check_that_always_fails_hides_another() {
    let (of, _) = checks(
        "int f(int x) {\nreturn x | (1 << 31); }\n\
         __int128 g(__int128 x) {\nreturn x & ((__int128)-1 << 63); }\n\
         __int128 h(__int128 x, int y) {\nreturn x << y; }\n\
         int main(void) {\nreturn g(1) + f(1) + h(-1, 3) + h(-1, 3) +\n(2 << 31); }\n",
    );
    assert_eq!(of("shift"), violated(&[2, 4, 6, 9]));
}

/// Clang checks null and alignment with one handler. A null pointer is a multiple of every alignment.
#[test]
fn null_is_not_misaligned() {
    for ty in ["char", "int"] {
        let text = format!(
            "int __VERIFIER_nondet_int(void);\n{ty} g;\nint main(void) {{\n{ty} *p = __VERIFIER_nondet_int() ? &g : 0;\nreturn *p;\n}}\n"
        );
        let (of, output) = checks(&text);
        assert_eq!((output.status.code(), last_line(&output)), (Some(1), "FALSE(address)"));
        assert_eq!(of("null"), violated(&[5]));
        assert_eq!(of("alignment"), ("proved".to_owned(), vec![], "proved".to_owned()), "{ty}");
    }
}

/// Every leaked allocation is reported once, whether leak checks at one place or at several find it.
#[test]
fn no_leak_hides_another() {
    let (of, output) = asked(
        "#include <stdlib.h>\n#include <string.h>\nint __VERIFIER_nondet_int(void);\n\
         static char *twice(const char *text) {\n\
         char *copy = malloc(2 * strlen(text) + 1);\n\
         return strcat(strcpy(copy, text), text);\n}\n\
         int main(void) {\n\
         char *a = twice(\"a\");\n\
         int *b = calloc(3, 4);\n\
         int *c = calloc(4, 4), n = __VERIFIER_nondet_int();\n\
         if (n == 1) return 1;\n\
         free(a);\n\
         if (n == 2) { free(b); exit(2); }\n\
         free(c);\n\
         char *d = n > 5 ? strdup(\"d\") : malloc(2);\n\
         return d[0] == b[0];\n}\n",
        &["--check", "leak"],
    );
    assert_eq!(last_line(&output), "FALSE(leak)");
    // Objects that variables point to when `exit` is called are not leaked.
    assert_eq!(of("leak"), violated(&[5, 10, 11, 16, 16]));
}

/// The sum of a pointer and an offset is null only for one address of the object.
#[test]
fn what_depends_on_addresses_is_told() {
    let text = "int __VERIFIER_nondet_int(void);\nint main(void) {\n\
                int a[4] = {0}, n = __VERIFIER_nondet_int();\n\
                if (n >= 0) return 0;\n\
                int *p = &a[3] + n;\n\
                return *p;\n}\n";
    let (of, output) = asked(text, &["--check", "null,address"]);
    assert_eq!(of("null"), violated(&[6]));
    assert_eq!(of("address"), violated(&[6]));
    // Both violations are one finding. The invalid access does not depend on addresses, so there is no note.
    let note = "it depends on the addresses of objects";
    assert!(!String::from_utf8_lossy(&output.stdout).contains(note), "{output:?}");
    let (_, output) = asked(text, &["--check", "null"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches(note).count(), 1, "{output:?}");
    // The model aligns a variable alike in all frames of its function. C does not guarantee that, so there is a note.
    let (of, output) = asked(
        "void reach_error(void);\nstatic void once_more(void) {\n\
         static int last = -1;\n\
         int x = 0, align = (long)&x & 15;\n\
         if (last < 0) last = align;\n\
         else if (align != last) reach_error();\n}\n\
         int main(void) { once_more(); once_more(); return 0; }\n",
        &["--check", "unreach-call"],
    );
    assert_eq!(of("unreach-call"), violated(&[6]));
    assert!(String::from_utf8_lossy(&output.stdout).contains(note));
}

#[test]
fn the_default_question_asks_for_races_and_deadlocks_of_threads() {
    let program = |locks: &str| {
        format!(
            "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic int x;\n\
             static void *work(void *unused) {{\n{locks}\nx++;\npthread_mutex_unlock(&m);\nreturn unused;\n}}\n\
             int main(void) {{\npthread_t t;\npthread_create(&t, 0, work, 0);\nwork(0);\npthread_join(t, 0);\nreturn 0;\n}}\n"
        )
    };
    let proved = ("proved".to_owned(), Vec::new(), "proved".to_owned());
    let (of, output) = asked(&program("pthread_mutex_lock(&m);"), &[]);
    assert_eq!((of("thread"), of("deadlock"), last_line(&output)), (proved.clone(), proved.clone(), "TRUE"));
    let (of, output) = asked(&program("if (x > 7)\npthread_mutex_lock(&m);"), &[]);
    assert_eq!((of("thread").0.as_str(), last_line(&output)), ("violated", "FALSE(thread)"));
    let (of, output) = asked(&program("pthread_mutex_lock(&m);\npthread_mutex_lock(&m);"), &[]);
    assert_eq!((of("thread"), of("deadlock").0.as_str(), last_line(&output)), (proved, "violated", "FALSE(deadlock)"));
}
