//! Vacuous proofs: the command names the assumption that no execution satisfies, for all properties and all kinds of
//! assumptions.

use std::process::Command;

/// The results of a run about assumptions.
struct Vacuity {
    verdict: String,
    stderr: String,
    nothing_checked: Option<String>,
    /// The lines of the assumptions that no execution satisfies.
    lines: Vec<u64>,
}

/// Verifies a program with these options.
fn verify(text: &str, options: &[&str]) -> Vacuity {
    let folder = tempfile::tempdir().unwrap();
    let (file, json) = (folder.path().join("a.c"), folder.path().join("result.json"));
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.arg("verify").arg(&file).args(["--timeout", "60", "--json"]).arg(&json).args(options);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let json = std::fs::read_to_string(json).unwrap_or_else(|e| panic!("{e}: {stderr}\n{text}"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let places = json["unsatisfied_assumptions"].as_array().unwrap();
    Vacuity {
        verdict: String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned(),
        stderr,
        nothing_checked: json["nothing_checked"].as_str().map(str::to_owned),
        lines: places.iter().filter_map(|place| place["line"].as_u64()).collect(),
    }
}

/// The functions for assumptions: declarations, on one line, and the name of the function.
const WORDS: [(&str, &str); 9] = [
    ("extern void __VERIFIER_assume(int);", "__VERIFIER_assume"),
    ("extern void __CPROVER_assume(_Bool);", "__CPROVER_assume"),
    ("extern void __ESBMC_assume(_Bool);", "__ESBMC_assume"),
    ("extern void klee_assume(unsigned long);", "klee_assume"),
    ("extern void abort(void); void assume_abort_if_not(int c) { if (!c) abort(); }", "assume_abort_if_not"),
    ("extern void exit(int); void my_assume(int c) { if (!c) exit(0); }", "my_assume"),
    ("void assume(int c) { while (!c); }", "assume"),
    ("void __VERIFIER_assume(int c) { if (!c) { L: goto L; } }", "__VERIFIER_assume"),
    ("extern void __VERIFIER_assume(int); static void need(int c) { __VERIFIER_assume(c); }", "need"),
];

/// Bodies of `f`, which start at line 5 and in which `A` is an assumption. With each: true if no check is reached, and
/// the lines of the assumptions that no execution satisfies.
const BODIES: [(&str, bool, &[u64]); 13] = [
    ("A(n > 10 && n < 5);\nassert(0);", true, &[5]),
    ("A(n > 10);\nA(n < 5);\nassert(n == 3);", true, &[6]),
    ("A(u < 0);\nassert(n == 3);", true, &[5]),
    ("A(0);\nassert(0);", true, &[5]),
    ("if (n > 3)\nA(n < 2);\nelse\nA(n > 10);\nassert(0);", true, &[6, 8]),
    ("int a[2] = {n, 1};\nA(a[0] > a[1] && a[0] < 0);\nassert(0);", true, &[6]),
    ("A(d > 1 && d < 0.5);\nassert(0);", true, &[5]),
    (
        "for (int i = 0; i < 3; i++) {\nint k = nondet_int();\nA(k > 0 && k < 10);\nn = i ? n + k : k;\n}\nA(n < 3);\nassert(0);",
        true,
        &[10],
    ),
    ("if (n == 3) n = 4;\nassert(n != 3);\nA(n == 3);", false, &[7]),
    ("if (n > 3) {\nA(n < 2);\nassert(0);\n}", false, &[6]),
    // A constant assumption ends a path deliberately and is not reported.
    ("if (n > 3) A(0);\nassert(n <= 3);", false, &[]),
    ("A(n > 10 && n < 15);\nassert(n > 9);", false, &[]),
    ("A(n > 0 && n < 10000 && m > 0 && m < 10000);\nA(n * m == 6557 * 17);\nassert(n > 0);", false, &[]),
];

/// The program with this body of `f` and this function for assumptions.
fn program((declarations, word): (&str, &str), body: &str) -> String {
    let body = body.replace("A(", &format!("{word}("));
    format!(
        "#include <assert.h>\nextern int nondet_int(void); extern unsigned nondet_uint(void); extern double nondet_double(void);\n\
         {declarations} void uncalled(int n) {{ {word}(n > 3 && n < 2); }}\n\
         void f(void) {{ int n = nondet_int(), m = nondet_int(); unsigned u = nondet_uint(); double d = nondet_double();\n\
         {body}\n}}\nint main(void) {{ f(); return 0; }}\n"
    )
}

/// The options of the runs. In runs that check assertions, a reached assertion counts as a check.
const WAYS: [&[&str]; 8] = [
    &[],
    &["--property", "unreach-call"],
    &["--check", "unreach-call,shift"],
    &["--entry", "f"],
    &["--property", "unreach-call", "--property", "termination"],
    &["--property", "unreach-call", "--slicing", "off"],
    &["--property", "unreach-call", "--jobs", "2"],
    &["--property", "unreach-call", "--automaton", "file"],
];

fn confirm(text: &str, options: &[&str], nothing_checked: Option<bool>, lines: &[u64]) {
    let found = verify(text, options);
    let all = format!("{options:?}\n{}\n{text}", found.stderr);
    // An assumption that is written as an infinite loop violates termination.
    let ends = !options.contains(&"termination") || !(text.contains("while (!c)") || text.contains("goto L"));
    assert!(found.verdict == "TRUE" || !ends, "{}: {all}", found.verdict);
    assert_eq!(found.lines, lines, "{all}");
    for line in lines {
        assert!(found.stderr.contains(&format!("a.c:{line}:")), "line {line} is not named: {all}");
    }
    if let Some(expected) = nothing_checked {
        let names_assumptions = found.nothing_checked.as_ref().is_some_and(|why| why.contains("satisfies"));
        assert_eq!(names_assumptions, expected, "{all}");
        assert_eq!(found.stderr.contains("nothing was checked"), expected, "{all}");
    }
}

#[test]
fn every_word_for_an_assumption_is_asked_about() {
    let mut ways = WAYS.iter().cycle();
    for word in WORDS {
        for (body, nothing_checked, lines) in [BODIES[0], BODIES[1], BODIES[4], BODIES[10], BODIES[12]] {
            confirm(&program(word, body), ways.next().unwrap(), Some(nothing_checked), lines);
        }
    }
}

#[test]
fn every_contradiction_is_found() {
    let mut ways = WAYS.iter().cycle();
    for (body, nothing_checked, lines) in BODIES {
        confirm(&program(WORDS[0], body), ways.next().unwrap(), Some(nothing_checked), lines);
    }
}

#[test]
fn every_question_is_asked() {
    let properties = ["no-overflow", "valid-memsafety", "valid-memcleanup", "termination"];
    for property in properties {
        confirm(&program(WORDS[0], BODIES[1].0), &["--property", property], Some(true), BODIES[1].2);
        // In runs that do not check assertions, a reached assertion does not count.
        confirm(&program(WORDS[0], BODIES[9].0), &["--property", property], None, BODIES[9].2);
    }
}

/// Assumptions about arguments of the entry function are checked like others, including those about the sizes of
/// objects.
#[test]
fn assumptions_about_arguments_are_asked_about() {
    let contract = |bounds: &str| {
        format!(
            "extern void __CPROVER_assume(_Bool); extern _Bool __CPROVER_r_ok(const void *, unsigned long);\n\
             int called(const unsigned char *in, unsigned length) {{\n\
             __CPROVER_assume({bounds});\n\
             __CPROVER_assume(__CPROVER_r_ok(in, length));\n\
             return length ? in[length - 1] : 0;\n}}\n"
        )
    };
    confirm(&contract("length <= 4"), &["--entry", "called"], Some(false), &[]);
    confirm(&contract("length <= 4 && length > 5"), &["--entry", "called"], Some(true), &[3]);
    confirm(&contract("length > 0 && length + 1 == 0 && length < 9"), &["--entry", "called"], Some(true), &[3]);
}

#[test]
fn a_cached_proof_is_asked_about() {
    let cache = tempfile::tempdir().unwrap();
    let options = ["--property", "unreach-call", "--cache", cache.path().to_str().unwrap()];
    let text = program(WORDS[0], BODIES[0].0);
    for _ in 0..2 {
        confirm(&text, &options, Some(true), &[5]);
    }
}

#[test]
fn a_proof_without_checks_says_so() {
    let nothing = |text: &str| verify(text, &["--property", "unreach-call"]).nothing_checked.unwrap_or_default();
    assert!(nothing("int main(void) { return 0; }").contains("can be reached from main"));
    let uncalled = "void reach_error(void); void f(void) { reach_error(); } int main(void) { return 0; }";
    assert!(nothing(uncalled).contains("can be reached from main"));
    // An infinite loop may contain the reached checks.
    let declarations = "void reach_error(void); int nondet_int(void); void __VERIFIER_assume(int);";
    for body in [
        "for (;;) { if (x == 2) reach_error(); } __VERIFIER_assume(x < 3);",
        "if (x == 3) { if (x == 4) reach_error(); } for (;;) {}",
    ] {
        let text = format!(
            "{declarations}\nint main(void) {{ int x = nondet_int(); __VERIFIER_assume(x > 3);\n{body} return 0; }}\n"
        );
        assert_eq!(nothing(&text), "", "{text}");
    }
}
