//! What comes of each check where several are asked.

use std::process::{Command, Output};

fn last_line(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap().lines().last().unwrap_or_default()
}

/// Of each check what came of it: the result, the lines of its violations, and what is said of the rest; and the output.
fn checks(text: &str) -> (impl Fn(&str) -> (String, Vec<u64>, String), Output) {
    let folder = tempfile::tempdir().unwrap();
    let [file, json] = ["a.c", "result.json"].map(|name| folder.path().join(name));
    std::fs::write(&file, text).unwrap();
    let mut proviso = Command::new(env!("CARGO_BIN_EXE_proviso"));
    let output = proviso.arg("verify").arg(&file).arg("--json").arg(&json).output().unwrap();
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let of = move |name: &str| {
        let check = json["checks"].as_array().unwrap().iter().find(|c| c["name"] == name).unwrap().clone();
        let lines = check["violations"].as_array().unwrap().iter().map(|v| v["location"]["line"].as_u64().unwrap());
        let mut lines: Vec<u64> = lines.collect();
        lines.sort_unstable();
        (check["result"].as_str().unwrap().to_owned(), lines, check["rest"].as_str().unwrap().to_owned())
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
    assert_eq!((output.status.code(), last_line(&output)), (Some(1), "FALSE(unreach-call)"));
    assert_eq!(of("unreach-call"), violated(&[8]));
    assert_eq!(of("address"), violated(&[7, 10]));
    assert_eq!(of("signed-integer-overflow"), violated(&[11]));
    assert_eq!(of("integer-divide-by-zero"), violated(&[12]));
    assert_eq!(of("bounds"), violated(&[7]));
    assert_eq!(of("null"), ("proved".to_owned(), vec![], "proved".to_owned()));
    assert!(String::from_utf8_lossy(&output.stdout).contains("signed-integer-overflow"), "{output:?}");
}

/// What is seen to hold without an analysis holds of executions up to the first invalid access.
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

/// What is seen to hold without an analysis holds of executions up to the first check that fails, here of none further on.
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

/// Clang tells of both at one place, and null is no multiple of anything else than of all.
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
