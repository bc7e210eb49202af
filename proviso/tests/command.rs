//! The command as a user meets it: exit codes, limits, outputs.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn proviso() -> Command {
    Command::new(env!("CARGO_BIN_EXE_proviso"))
}

fn run(args: &[&str]) -> Output {
    proviso().args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn last_line(output: &Output) -> String {
    stdout(output).lines().last().unwrap_or_default().to_owned()
}

/// Writes a file with this text to a new folder.
fn source(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

const HOLDS: &str = "void reach_error(void); int __VERIFIER_nondet_int(void);\n\
    int main(void) { unsigned x = __VERIFIER_nondet_int(); if (x * 2 == 1) reach_error(); return 0; }\n";

const FAILS: &str = "void reach_error(void);\nint __VERIFIER_nondet_int(void);\n\
    int main(void) {\n    int x = __VERIFIER_nondet_int();\n    if (x == 4711)\n        reach_error();\n    return 0;\n}\n";

/// A program whose exploration does not end and stores more and more states.
const ENDLESS: &str = "void reach_error(void); unsigned __VERIFIER_nondet_uint(void);\n\
    int main(void) { unsigned s = 1; for (;;) { s = s * 3 + __VERIFIER_nondet_uint() % 7; if (s % 5 == 0) s ^= s << 3;\n\
    if (s == 0x12345678 && s == 1) reach_error(); } }\n";

#[test]
fn wrong_command_lines_are_usage_errors() {
    for args in [
        &["verify"][..],
        &["verify", "--no-such-option", "a.c"],
        &["verify", "a.c", "--timeout", "soon"],
        &["verify", "a.c", "--search", "sideways"],
        // Options for outputs that these commands do not write are errors.
        &["testgen", "a.c", "-o", "suite", "--witness", "w.yml"],
        &["validate", "w.yml", "a.c", "--sarif", "s.sarif"],
        &["nonsense"],
        &[],
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(64), "{args:?}");
        assert!(stdout(&output).is_empty() && !stderr(&output).is_empty());
    }
    let output = run(&["verify", "--timout", "3", "a.c"]);
    assert!(stderr(&output).contains("--timeout"), "a similar option is suggested");
}

#[test]
fn a_folder_is_answered_with_its_files() {
    let (folder, file) = source("a.c", HOLDS);
    let path = folder.path().display().to_string();
    let output = run(&["verify", &path]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(64));
    assert!(told.contains("is a folder") && told.contains(&format!("`proviso verify {file}`")), "{told}");
    assert!(!told.contains("`-p"), "{told}");
    std::fs::write(folder.path().join("compile_commands.json"), "[]").unwrap();
    let told = stderr(&run(&["verify", &path]));
    assert!(told.contains(&format!("`-p {path}`")), "{told}");
}

#[test]
fn a_quiet_run_with_json_on_standard_output_prints_json_alone() {
    let (_folder, file) = source("a.c", FAILS);
    let output = run(&["verify", &file, "--json", "-", "--quiet"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(1), ""));
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["verdict_line"], "FALSE(unreach-call)");
}

#[test]
fn names_that_do_not_exist_are_named() {
    let (_folder, file) = source("a.c", HOLDS);
    let output = run(&["verify", &file, "--property", "no-such-property"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(stderr(&output).contains("unreach-call"), "the properties are listed");
    let output = run(&["verify", &file, "--analysis", "magic"]);
    assert_eq!(output.status.code(), Some(64));
    let output = run(&["verify", &file, "--error-function", "no_such_function"]);
    assert_eq!(output.status.code(), Some(65));
    assert!(stderr(&output).contains("no_such_function"));
    let output = run(&["verify", "no/such/file.c"]);
    assert_eq!(output.status.code(), Some(66));
    assert!(stderr(&output).contains("no/such/file.c"));
    let output = run(&["verify", &file, "--json", "/no/such/folder/out.json"]);
    assert_eq!(output.status.code(), Some(73));
}

#[test]
fn a_program_without_the_function_to_start_with_says_which_it_has() {
    let (_folder, file) =
        source("a.c", "static int helper(int x) { return x; }\nint insert(int x) { return helper(x); }\n");
    let told = |options: &[&str]| {
        let output = run(&[&["verify", &file], options].concat());
        assert_eq!(output.status.code(), Some(64));
        stderr(&output)
    };
    let said = told(&[]);
    assert!(said.contains("defines no function 'main'") && said.contains("it defines insert, helper"), "{said}");
    assert!(said.contains("help: --entry FUNCTION"), "{said}");
    assert!(told(&["--entry", "inset", "--property", "valid-deref"]).contains("did you mean 'insert'?"));
    let (_folder, file) = source("a.c", FAILS);
    let output = run(&["verify", &file, "--error-function", "reach_eror"]);
    assert!(stderr(&output).contains("similar names: reach_error"), "{}", stderr(&output));
}

#[test]
fn a_command_line_without_a_command_is_told_to_verify() {
    let (_folder, file) = source("a.c", FAILS);
    // `lib.c` is close to `slice`.
    for args in [&[&*file, "--entry", "f"][..], &["--entry", "f", &file], &["-DX", &file], &["lib.c"]] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(64));
        let help = format!("help: try `proviso verify {}`", args.join(" "));
        assert!(stderr(&output).contains(&help), "{args:?}: {}", stderr(&output));
    }
    let output = run(&["verfy", &file]);
    assert!(stderr(&output).contains("'verify'") && !stderr(&output).contains("try `"), "{}", stderr(&output));
}

#[test]
fn objects_for_linking_with_and_without_lto_are_read() {
    let (folder, _) = source("a.c", FAILS);
    for (options, name) in
        [(&["-flto", "-ffat-lto-objects"][..], "fat.o"), (&["-flto=thin", "-ffat-lto-objects"], "thin.o")]
    {
        let mut clang = Command::new("clang-19");
        let made = clang.current_dir(&folder).args(["-g", "-c", "a.c", "-o", name]).args(options).status().unwrap();
        assert!(made.success());
        let output = run(&["verify", folder.path().join(name).to_str().unwrap(), "--property", "unreach-call"]);
        assert_eq!(last_line(&output), "FALSE(unreach-call)", "{name}: {}", stderr(&output));
    }
    // Outputs name the object file, not the bitcode embedded in it.
    let (json, harness) = (folder.path().join("out.json"), folder.path().join("harness.c"));
    let object = folder.path().join("fat.o").display().to_string();
    let outputs = ["--json", json.to_str().unwrap(), "--harness", harness.to_str().unwrap()];
    run(&[&["verify", &object], &outputs[..]].concat());
    let result: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(result["files"], serde_json::json!([object]));
    let harness = std::fs::read_to_string(harness).unwrap();
    assert!(harness.contains(&format!("harness.c {object} -lm")), "{harness}");
}

#[test]
fn a_quiet_run_prints_the_verdict_alone() {
    let text = "#include <stdlib.h>\nint other(void);\nint main(void) { int *p = malloc(4); *p = 1; other(); return 1 / (*p - 1); }\n";
    let (folder, file) = source("a.c", text);
    let [json, witness] = ["out.json", "out.yml"].map(|name| folder.path().join(name));
    let options = ["--json", json.to_str().unwrap(), "--witness", witness.to_str().unwrap()];
    let output = run(&[&["verify", &file, "--quiet", "--undefined-functions", "any-value"], &options[..]].concat());
    assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), ("FALSE(integer-divide-by-zero)\n", ""));
    assert!(json.exists());
}

#[test]
fn a_proof_says_that_allocations_were_taken_to_succeed() {
    let text = "#include <stdlib.h>\nint main(void) { int *p = malloc(4); *p = 1; free(p); return 0; }\n";
    let (_folder, file) = source("a.c", text);
    let output = run(&["verify", &file]);
    assert_eq!(last_line(&output), "TRUE");
    let said = "assumed: malloc and similar functions do not fail (--malloc-may-fail: they may)";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
    let (_folder, file) = source("a.c", HOLDS);
    assert!(!stderr(&run(&["verify", &file])).contains("malloc"));
}

#[test]
fn columns_are_the_same_in_all_outputs() {
    let (_folder, file) =
        source("a.c", "void reach_error(void);\nint main(void) { /* äöü€ */ reach_error(); return 0; }\n");
    let verify = |options: &[&str]| stdout(&run(&[&["verify", &file, "--property", "unreach-call"], options].concat()));
    let place = format!("{file}:2:34");
    assert!(verify(&[]).contains(&format!("--> {place}\n")), "{}", verify(&[]));
    assert!(verify(&["--message-format", "short"]).contains(&format!("{place}: error")));
    assert!(verify(&["--json", "-"]).contains("\"column\": 34"));
    // The SARIF log declares that it counts columns in characters.
    let sarif = verify(&["--sarif", "-"]);
    assert!(sarif.contains("\"startColumn\": 29") && sarif.contains("unicodeCodePoints"), "{sarif}");
}

#[test]
fn the_call_of_an_entry_is_told_in_terms_of_c() {
    let text = "struct node { int value; char tag[4]; struct node *next; };\n\
        int f(struct node *n, int at, const char *name) {\n    int *p = &at;\n    \
        if (n->next->value == *p + 3 && n->tag[0] == 'a' && n->tag[1] == 'b' && name[0] == 'x' && *p > 1000)\n        \
        return 1 / (n->next->value - *p - 3);\n    return 0;\n}\n";
    let (folder, file) = source("f.c", text);
    let harness = folder.path().join("h.c");
    let check = ["--entry", "f", "--check", "integer-divide-by-zero", "--harness", harness.to_str().unwrap()];
    let out = stdout(&run(&[&["verify", &file], &check[..]].concat()));
    // The inputs are minimised and have their C names.
    assert!(out.contains("f(n = &object1, at = 1001, name = &object2)"), "{out}");
    assert!(out.contains("struct node, 16 bytes: .tag = \"ab\", .next = &object3"), "{out}");
    assert!(out.contains("char, 2 bytes: \"x\"") && out.contains("struct node, 16 bytes: .value = 1004"), "{out}");
    assert!(out.find("the program is called as").unwrap() < out.find("counterexample (").unwrap(), "{out}");
    assert!(!out.contains("number 2") && !out.contains("0x"), "{out}");
    let text = std::fs::read_to_string(harness).unwrap();
    assert!(text.contains("/* struct node: .tag = \"ab\", .next = object2 */"), "{text}");
    let full = stdout(&run(&["verify", &file, "--entry", "f", "--check", "integer-divide-by-zero", "--trace", "full"]));
    assert!(!full.contains("<pointer>"), "{full}");
}

/// A struct may be passed in several registers, and the space for a result is a parameter of the compiled function.
#[test]
fn arguments_that_are_parts_of_structs_have_names() {
    let text = "struct s { int a, b, c; }; struct big { long a[4]; };\n\
        struct big g(struct s x, int k) { struct big b = {{1}}; if (x.c == 3 && k == 7) b.a[0] /= x.c - 3; return b; }\n";
    let (_folder, file) = source("g.c", text);
    let out = stdout(&run(&["verify", &file, "--entry", "g", "--check", "integer-divide-by-zero"]));
    let call = "g(space for the result = &object1, bytes 0 to 7 of x = 0, bytes 8 to 11 of x = 3, k = 7)";
    assert!(out.contains(call), "{out}");
}

#[test]
fn smaller_inputs_lead_to_the_same_call_of_the_error_function() {
    // Smaller numbers lead to the other call.
    let text = "void reach_error(void); int __VERIFIER_nondet_int(void);\n\
        static void check(int x) { if (x > 5) reach_error(); }\n\
        int main(void) {\n    int x = __VERIFIER_nondet_int();\n    \
        if (x > 5 && x < 1000)\n        check(x);\n    \
        if (x >= 1000)\n        reach_error();\n    return 0;\n}\n";
    let (_folder, file) = source("a.c", text);
    let out = stdout(&run(&["verify", &file]));
    let told = |line: &str, value: &str| {
        out.contains(&format!("a.c:{line}")) && out.contains(&format!("x = {value}  (input 1: int)"))
    };
    assert!(told("2:39", "6") && told("8:9", "1000"), "{out}");
}

#[test]
fn a_program_that_does_not_compile_is_shown_with_clangs_words() {
    let (_folder, file) = source("a.c", "int main(void) { return nothing; }\n");
    let output = run(&["verify", &file]);
    assert_eq!(output.status.code(), Some(65));
    assert!(stderr(&output).contains("nothing"), "{}", stderr(&output));
}

#[test]
fn malformed_bitcode_is_an_error_of_the_input() {
    for (name, text) in [("a.bc", "BC\u{c0}garbage"), ("a.ll", "define nonsense"), ("empty.bc", "")] {
        let (_folder, file) = source(name, text);
        let output = run(&["verify", &file]);
        assert_eq!(output.status.code(), Some(65), "{name}: {}", stderr(&output));
        assert!(stderr(&output).contains(name));
    }
}

#[test]
fn the_three_verdicts() {
    let (_folder, file) = source("a.c", HOLDS);
    let output = run(&["verify", &file]);
    assert_eq!((output.status.code(), last_line(&output).as_str()), (Some(0), "TRUE"), "{}", stderr(&output));
    assert!(stdout(&output).contains("unreach-call") && stdout(&output).contains("proved"), "{}", stdout(&output));
    let output = run(&["verify", &file, "--property", "unreach-call"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "TRUE\n"), "{}", stderr(&output));

    let (_folder, file) = source("a.c", FAILS);
    let output = run(&["verify", &file]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(last_line(&output), "FALSE(unreach-call)");
    let text = stdout(&output);
    for part in ["error: reach_error is called", "a.c:6:9", "reach_error();", "^^^", "x = 4711", "input 1: int"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }

    let (_folder, file) = source(
        "a.c",
        &HOLDS.replace("x * 2 == 1", "elsewhere(x)").replace("int main", "int elsewhere(int);\nint main"),
    );
    let output = run(&["verify", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(last_line(&output).starts_with("UNKNOWN("), "{}", stdout(&output));
    assert!(last_line(&output).contains("elsewhere"), "the reason names the construct: {}", last_line(&output));
    assert!(last_line(&output).contains("a.c:3"), "and the place of the call");
}

#[test]
fn a_proof_names_the_writes_that_it_did_not_look_at() {
    let verify = |text: &str, options: &[&str]| {
        let (folder, file) = source("a.c", text);
        let json = folder.path().join("result.json");
        let command = ["verify", &file, "--json", json.to_str().unwrap()];
        let output = run(&[&command, options].concat());
        let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
        let lines = json["assumed_writes"]["locations"].as_array().unwrap().iter();
        let lines: Vec<u64> = lines.map(|l| l["line"].as_u64().unwrap()).collect();
        assert_eq!(stdout(&output).contains("within objects"), !lines.is_empty(), "{}", stdout(&output));
        assert_eq!(json["assumed_writes"]["count"], lines.len());
        (last_line(&output), lines)
    };
    let text = "#include <assert.h>\n#include <string.h>\nint __VERIFIER_nondet_int(void);\nint main(void) {\n\
         int a[4], limit = 3, *l = &limit, n = __VERIFIER_nondet_int();\n\
         a[n] = 100;\n\
         a[3] = 1;\n\
         memset(a, 0, sizeof a);\n\
         memset(a, 0, n);\n\
         strcpy((char *)a, n > 3 ? \"abc\" : \"\");\n\
         assert(*l == 3);\n\
         a[n] = 7;\n\
         return 0;\n}\n";
    let assertions = ["--property", "unreach-call"];
    assert_eq!(verify(text, &assertions), ("TRUE".to_owned(), vec![6, 9, 10]));
    assert_eq!(verify(text, &[]), ("FALSE(address)".to_owned(), vec![]));
    assert!(verify(text, &["--property", "valid-memsafety"]).1.is_empty());
    // With these changes all accesses are in bounds, so the whole program is verified without warnings.
    let whole = text.replace("a[n]", "a[n & 3]").replace("memset(a, 0, n)", "memset(a, 0, n & 15)");
    assert_eq!(
        verify(&whole, &["--property", "unreach-call", "--slicing", "off", "--analysis", "symex"]),
        ("TRUE".to_owned(), vec![])
    );
}

#[test]
fn json_on_standard_output_leaves_the_verdict_last() {
    let (_folder, file) = source("a.c", FAILS);
    let output = run(&["verify", &file, "--json", "-"]);
    let text = stdout(&output);
    let (json, verdict) = text.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(verdict, "FALSE(unreach-call)");
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    let violation = &json["violation"];
    assert_eq!(violation["location"]["line"], 6);
    assert_eq!(violation["inputs"][0]["value"], "4711");
    assert_eq!(violation["inputs"][0]["type"], "int");
    assert_eq!(violation["inputs"][0]["source"], "__VERIFIER_nondet_int()");
    assert_eq!(violation["inputs"][0]["location"]["line"], 4);
    let steps: Vec<&str> = violation["trace"].as_array().unwrap().iter().map(|s| s["step"].as_str().unwrap()).collect();
    assert_eq!(steps.first(), Some(&"input"));
    assert_eq!(steps.last(), Some(&"error"));
    assert!(steps.contains(&"branch"));
    // A pipe by the name of a device is no file that could be replaced.
    assert!(stdout(&run(&["verify", &file, "--json", "/dev/stdout"])).contains("\"verdict\": \"FALSE\""));
}

#[test]
fn a_task_definition_names_everything() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.c"), HOLDS.replace("x * 2 == 1", "sizeof(long) == 4")).unwrap();
    std::fs::write(folder.path().join("u.prp"), "CHECK( init(main()), LTL(G ! call(reach_error())) )\n").unwrap();
    for (model, code) in [("ILP32", 1), ("LP64", 0)] {
        let task = format!(
            "format_version: '2.0'\ninput_files: 'p.c'\nproperties:\n  - property_file: u.prp\n    expected_verdict: true\n\
             options:\n  language: C\n  data_model: {model}\n"
        );
        let file = folder.path().join("t.yml");
        std::fs::write(&file, task).unwrap();
        let output = run(&["verify", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(code), "{model}: {}{}", stdout(&output), stderr(&output));
    }
}

#[test]
fn a_program_without_threads_has_no_data_race() {
    let (_folder, file) = source("a.c", HOLDS);
    let output = run(&["verify", &file, "--property", "no-data-race"]);
    assert_eq!((output.status.code(), last_line(&output)), (Some(0), "TRUE".into()), "{}", stderr(&output));
}

#[test]
fn a_timeout_ends_with_a_verdict_and_statistics_within_a_second() {
    let (_folder, file) = source("a.c", ENDLESS);
    let start = Instant::now();
    let output = run(&["verify", &file, "--analysis", "symex", "--timeout", "2", "--stats"]);
    assert!(start.elapsed() < Duration::from_millis(3200), "{:?}", start.elapsed());
    assert_eq!(output.status.code(), Some(2));
    // The reason names the whole time limit, or the share that was used if the rest was too short for another analysis.
    let text = last_line(&output);
    assert!(text.starts_with("UNKNOWN(timeout of ") && text.contains("2 s"), "{text}");
    assert!(stdout(&output).contains("analysis_paths"), "{}", stdout(&output));
}

#[test]
fn a_memory_limit_ends_with_a_verdict() {
    let (_folder, file) = source("a.c", ENDLESS);
    let output = run(&["verify", &file, "--analysis", "symex", "--memory-limit", "10", "--timeout", "100"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(last_line(&output).starts_with("UNKNOWN(memory limit of 10 MB"), "{}", last_line(&output));
}

#[test]
fn ctrl_c_ends_with_a_verdict_within_a_second() {
    let (_folder, file) = source("a.c", ENDLESS);
    // Z3 would install its own signal handler.
    for solver in ["bitwuzla", "z3"] {
        let child = proviso()
            .args(["verify", &file, "--analysis", "symex", "--solver", solver, "--timeout", "60"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        let interrupted = Instant::now();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert!(interrupted.elapsed() < Duration::from_millis(1200), "{solver}: {:?}", interrupted.elapsed());
        assert_eq!(output.status.code(), Some(2));
        assert!(last_line(&output).starts_with("UNKNOWN(interrupted"), "{}", last_line(&output));
    }
}

#[test]
fn an_input_that_nests_deeply_does_not_overflow_the_stack() {
    let mut expression = String::from("x");
    for _ in 0..20_000 {
        expression = format!("~{expression}");
    }
    let text = HOLDS.replace("x * 2 == 1", &format!("({expression}) == 17 && x == 16"));
    let (_folder, file) = source("a.c", &text);
    let output = run(&["verify", &file, "--timeout", "20", "--", "-fbracket-depth=100000"]);
    // Depending on clang's limits, the result is a verdict or an error of clang.
    assert!(matches!(output.status.code(), Some(0 | 2 | 65)), "{:?} {}", output.status, stderr(&output));
}

#[test]
fn limited_address_space_is_no_crash() {
    let (_folder, file) = source("a.c", HOLDS);
    let command = format!("ulimit -v 3000000; exec {} verify {file}", env!("CARGO_BIN_EXE_proviso"));
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 2)), "{:?} {}", output.status, stderr(&output));
    assert!(matches!(last_line(&output).as_str(), "TRUE" | "UNKNOWN(out of memory)"), "{}", last_line(&output));
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let (_folder, file) = source("a.c", FAILS);
    let result = || {
        let output = run(&["verify", &file, "--seed", "7", "--search", "random-path", "--json", "-"]);
        let text = stdout(&output);
        let json = text.trim_end().rsplit_once('\n').unwrap().0.to_owned();
        let mut json: serde_json::Value = serde_json::from_str(&json).unwrap();
        // Both contain times.
        json["statistics"] = serde_json::Value::Null;
        json["turns"] = serde_json::Value::Null;
        json
    };
    assert_eq!(result(), result());
}

#[test]
fn cfa_prints_what_can_be_read_back() {
    let (_folder, file) = source("a.c", FAILS);
    let output = run(&["cfa", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let program = cfa::text::parse(&text).expect("the text form is read back");
    assert_eq!(cfa::text::print(&program), text);
    let stats = stdout(&run(&["cfa", &file, "--format", "stats"]));
    assert!(stats.contains("edges") && stats.contains("main"), "{stats}");
    let output = run(&["cfa", &file, "--function", "main"]);
    assert!(stdout(&output).contains("main") && stdout(&output).len() < text.len());
    assert_eq!(run(&["cfa", &file, "--function", "niam"]).status.code(), Some(64));
    let out = Path::new(&file).with_extension("cfa");
    assert_eq!(run(&["cfa", &file, "-o", out.to_str().unwrap()]).status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(out).unwrap(), text);
}

#[test]
fn outputs_spare_the_inputs_and_each_other() {
    let (folder, file) = source("ring.c", FAILS);
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::os::unix::fs::symlink("ring.c", at("soft.c")).unwrap();
    std::fs::hard_link(&file, at("hard.svg")).unwrap();
    let property = at("p.prp");
    std::fs::write(&property, "CHECK( init(main()), LTL(G ! call(reach_error())) )\n").unwrap();
    let bitcode = at("ring.bc");
    let clang = Command::new("clang-19").args(["-g", "-c", "-emit-llvm", &file, "-o", &bitcode]).status().unwrap();
    assert!(clang.success());
    let criterion = ["-c", "reach_error"];
    for (args, option) in [
        (vec!["verify", &file, "--harness", &file], "--harness"),
        (vec!["verify", &file, "--json", &at("soft.c")], "--json"),
        (vec!["verify", &file, "--pixel-tree", &at("hard.svg")], "--pixel-tree"),
        (vec!["verify", &file, "--property", &property, "--json", &property], "--json"),
        (vec!["verify", &bitcode, "--harness", &file], "--harness"),
        (vec!["verify", &file, "--json", &at("out"), "--harness", &at("out")], "both write"),
        (vec!["slice", &file, criterion[0], criterion[1], "--c", &file], "--c"),
        (vec!["slice", &bitcode, criterion[0], criterion[1], "-o", &bitcode], "--output"),
        (vec!["slice", &file, criterion[0], criterion[1], "--dot", &at("./ring.c")], "--dot"),
        (vec!["deps", &file, "5", criterion[0], criterion[1], "--json", &file], "--json"),
        (vec!["cfa", &file, "-o", &file], "--output"),
    ] {
        let output = run(&args);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(64), "{args:?}: {text}");
        assert!(text.contains(option), "{args:?}: {text}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), FAILS);
    }
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_run_that_fails_leaves_no_file_and_what_was_there() {
    let (folder, file) = source("a.c", "int main(void) { return nothing; }\n");
    let (old, new) = (folder.path().join("old.json"), folder.path().join("new.c"));
    std::fs::write(&old, "old").unwrap();
    let output = run(&["verify", &file, "--json", old.to_str().unwrap(), "--harness", new.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(65));
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no other file is there");
}

#[test]
fn a_full_disk_is_said() {
    let (_folder, file) = source("a.c", FAILS);
    let full = "/dev/full";
    let output = run(&["verify", &file, "--json", full]);
    assert_eq!(output.status.code(), Some(1), "what was found is not lost");
    assert!(stderr(&output).contains("cannot write /dev/full: No space left on device"), "{}", stderr(&output));
    assert_eq!(last_line(&output), "FALSE(unreach-call)", "what was found is not lost");
    assert_eq!(run(&["slice", &file, "-c", "reach_error", "--c", full]).status.code(), Some(73));
    for command in [&["verify", &file][..], &["slice", &file, "-c", "reach_error"], &["cfa", &file]] {
        let stdout = Stdio::from(std::fs::File::create(full).unwrap());
        let status = proviso().args(command).stdout(stdout).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(73), "{command:?}");
    }
}

#[test]
fn an_analysis_that_panics_ends_itself_and_not_the_others() {
    let (_folder, file) = source("a.c", HOLDS);
    // Another analysis has a verdict, which is reported together with the internal error.
    for jobs in ["1", "2"] {
        let output = run(&["verify", &file, "--slicing", "off", "--fault", "symex", "--jobs", jobs]);
        assert_eq!((output.status.code(), last_line(&output)), (Some(0), "TRUE".into()), "{}", stderr(&output));
        if jobs == "1" {
            let told = stderr(&output);
            assert!(
                told.contains("warning: the analysis `symex` ended by an internal error: a fault in symex"),
                "{told}"
            );
            assert!(told.contains("engine/src/portfolio/turns.rs:") && told.contains("please report it"), "{told}");
        }
    }
    // No analysis has a verdict.
    let faults = ["--fault", "symex", "--fault", "symex-merging"];
    let output = run(&[&["verify", &file], &faults[..]].concat());
    assert_eq!(output.status.code(), Some(70));
    assert!(
        last_line(&output)
            .starts_with("UNKNOWN(internal error: a fault in symex was asked for (engine/src/portfolio/turns.rs:")
    );
    let output = run(&["verify", &file, "--analysis", "value", "--fault", "value", "--json", "-"]);
    assert_eq!(output.status.code(), Some(70));
    // Proofs by invariants use the states of symbolic execution, even if that panicked.
    let (_folder, file) = source(
        "loop.c",
        "void reach_error(void); int __VERIFIER_nondet_int(void);\n\
        int main(void) { unsigned x = 0; while (__VERIFIER_nondet_int()) x += 2; if (x % 2) reach_error(); return 0; }\n",
    );
    let output = run(&["verify", &file, "--fault", "symex", "--fault", "symex-merging", "--timeout", "60"]);
    assert_eq!((output.status.code(), last_line(&output)), (Some(0), "TRUE".into()), "{}", stderr(&output));
}

#[test]
fn the_property_file_says_where_the_program_starts() {
    let text = FAILS.replace("int main(void)", "int start(void)") + "int main(void) { return 0; }\n";
    let (folder, file) = source("a.c", &text);
    let property = |entry: &str| {
        let path = folder.path().join(format!("{entry}.prp"));
        let text = format!("CHECK( init({entry}()), LTL(G ! call(reach_error())) )\n");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let start = property("start");
    for options in [&["--property", &start][..], &["--property", &start, "--entry", "start"], &["--entry", "start"]] {
        let output = run(&[&["verify", &file], options].concat());
        assert_eq!(last_line(&output), "FALSE(unreach-call)", "{options:?}: {}", stderr(&output));
    }
    let output = run(&["verify", &file, "--property", &start, "--entry", "main"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(stderr(&output).contains("init(start())"), "{}", stderr(&output));
    for options in [["--property", &property("nowhere")], ["--entry", "nowhere"]] {
        let output = run(&[&["verify", &file][..], &options].concat());
        assert_eq!(output.status.code(), Some(64));
        assert!(stderr(&output).contains("no function 'nowhere'"), "{}", stderr(&output));
    }
}

#[test]
fn an_unknown_check_is_answered_with_the_known_ones() {
    let (_folder, file) = source("a.c", HOLDS);
    let output = run(&["verify", &file, "--check", "address,shfit"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(stderr(&output).contains("'shfit'") && stderr(&output).contains("vla-bound"), "{}", stderr(&output));
}

#[test]
fn each_property_has_a_verdict() {
    let text = FAILS.replace("int main(void) {", "int main(void) { int a[2]; a[__VERIFIER_nondet_int() & 1] = 1;");
    let (_folder, file) = source("a.c", &text);
    let output = run(&[
        "verify",
        &file,
        "--property",
        "unreach-call",
        "--property",
        "valid-memsafety",
        "--property",
        "termination",
    ]);
    let text = stdout(&output);
    for line in
        ["unreach-call: FALSE(unreach-call)", "valid-memsafety: TRUE", "termination: TRUE", "FALSE(unreach-call)"]
    {
        assert!(text.lines().any(|l| l == line), "{line} is missing in\n{text}\n{}", stderr(&output));
    }
}

#[test]
fn allocations_fail_where_that_is_asked_for() {
    let text = "#include <stdlib.h>\nint main(void) { int *p = malloc(4), *q = calloc(2, 4);\n*p = 1;\nif (q) q[1] = 2;\nreturn *p; }\n";
    let (_folder, file) = source("a.c", text);
    assert_eq!(last_line(&run(&["verify", &file])), "TRUE");
    let output = run(&["verify", &file, "--malloc-may-fail", "--check", "address"]);
    assert_eq!(last_line(&output), "FALSE(address)");
    assert!(stdout(&output).contains("a.c:3") && !stdout(&output).contains("a.c:4"), "{}", stdout(&output));
}

#[test]
fn what_an_automaton_takes_for_granted_is_said() {
    let file = |name: &str| format!("{}/../tests/c/automata/{name}", env!("CARGO_MANIFEST_DIR"));
    let verify = |options: &[&str]| {
        let output = run(&[&["verify", "--json", "-"], options].concat());
        let text = stdout(&output);
        let (json, verdict) = text.trim_end().rsplit_once('\n').unwrap();
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        (verdict.to_owned(), json["assumptions"].to_string(), stderr(&output))
    };
    let (verdict, assumptions, told) = verify(&[&file("within.c"), "--automaton", "spinlock", "--entry", "change"]);
    let said = "automaton spinlock is in its first state for each l (unlocked) when change is called";
    assert!(verdict == "TRUE" && assumptions.contains(said) && told.contains(said), "{verdict} {assumptions} {told}");
    let (verdict, assumptions, _) = verify(&[&file("mutex.c"), "--automaton", "mutex"]);
    assert_eq!((verdict.as_str(), assumptions.as_str()), ("TRUE", "[]"));
    // The automaton assumes that a stream passed to the entry function is open.
    let stream = "#include <stdio.h>\nint first(FILE *f) {\n    return fileno(f);\n}\n";
    let (_folder, file) = source("stream.c", stream);
    let (_, assumptions, _) = verify(&[&file, "--automaton", "file", "--entry", "first"]);
    assert!(assumptions.contains("automaton file is in its first state for each f (unknown)"), "{assumptions}");
}

#[test]
fn an_automaton_asked_for_as_a_property_is_pointed_to() {
    let (_folder, file) = source("a.c", FAILS);
    let output = run(&["verify", &file, "--property", "heap"]);
    assert!(stderr(&output).contains("heap is an automaton: use --automaton heap"), "{}", stderr(&output));
}

#[test]
fn traces_tell_instances_of_an_automaton_apart() {
    let file = format!("{}/../tests/c/automata/files.c", env!("CARGO_MANIFEST_DIR"));
    let output = run(&["verify", &file, "--automaton", "file", "-DCOPY", "-DUSED"]);
    let text = stdout(&output);
    // Each of the two streams has its own state in the trace.
    let states: Vec<&str> = text.lines().filter_map(|l| l.find("file(block").map(|at| l[at..].trim_end())).collect();
    assert_eq!(states, ["file(block #1) = open", "file(block #2) = open", "file(block #1) = closed"], "{text}");
}

#[test]
fn a_pointer_of_an_argument_is_called_as_in_c() {
    let text = "struct s { int *first, *last; };\nint f(struct s *s) {\n    if (*s->first < *s->last)\n        return 1 / (*s->last - 7);\n    return 0;\n}\n";
    let (_folder, file) = source("f.c", text);
    let output = run(&["verify", &file, "--entry", "f", "--check", "integer-divide-by-zero"]);
    let out = stdout(&output);
    assert!(out.contains("FALSE(integer-divide-by-zero)") && out.contains("*s->last = 7"), "{out}");
    assert!(!out.contains(frontend_llvm::FOLLOW), "{out}");
}
