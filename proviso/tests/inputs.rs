//! The inputs of the command: outputs do not overwrite them, and headers are found where compilers find them. Runs that
//! cannot write their cache or queries keep their verdicts.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn proviso(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_proviso")).current_dir(folder).args(args).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

const PROGRAM: &str = "void reach_error(void); int __VERIFIER_nondet_int(void);\n\
    int main(void) { int x = __VERIFIER_nondet_int(); if (x == 3) x++; if (x == 4711) reach_error(); return 0; }\n";

#[test]
fn what_is_read_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, path) = (folder.path(), |name: &str| folder.path().join(name));
    // The bitcode does not mention a header that contains only macros.
    std::fs::write(path("limit.h"), "#define LIMIT 1\n").unwrap();
    std::fs::write(path("p.c"), format!("#include \"limit.h\"\n{PROGRAM}")).unwrap();
    let database = serde_json::json!([{"directory": folder, "file": "p.c", "command": "cc -c p.c"}]);
    std::fs::write(path("compile_commands.json"), database.to_string()).unwrap();
    let made = ["verify", "p.c", "--property", "unreach-call", "--save-condition", "c.txt", "--save-gia", "g.gia"];
    assert_eq!(last_line(&proviso(folder, &made)), "FALSE(unreach-call)");
    for (name, command) in [
        ("compile_commands.json", "verify -p . p.c --json compile_commands.json"),
        ("compile_commands.json", "verify -p compile_commands.json p.c --sarif ./compile_commands.json"),
        ("compile_commands.json", "slice -p . p.c -c reach_error --json compile_commands.json"),
        ("compile_commands.json", "reduce -p . p.c -o compile_commands.json"),
        ("compile_commands.json", "instrument -p . p.c -o compile_commands.json"),
        ("limit.h", "verify p.c --json limit.h"),
        ("limit.h", "reduce p.c -o limit.h"),
        ("g.gia", "verify p.c --property unreach-call --gia g.gia --json g.gia"),
        ("g.gia", "reduce p.c --gia g.gia -o g.gia"),
        ("g.gia", "gia show p.c g.gia -o g.gia"),
        ("c.txt", "verify p.c --property unreach-call --resume c.txt --json c.txt"),
        ("c.txt", "reduce p.c --condition c.txt -o c.txt"),
    ] {
        let before = std::fs::read(path(name)).unwrap();
        let output = proviso(folder, &command.split_whitespace().collect::<Vec<_>>());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(64), "{command}: {said}");
        assert!(said.contains(" would overwrite the input ") && said.contains(name), "{command}: {said}");
        assert!(std::fs::read(path(name)).unwrap() == before, "{command}");
    }
}

#[test]
fn misplaced_inputs_have_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("p.h"), PROGRAM).unwrap();
    assert_eq!(last_line(&proviso(folder, &["verify", "p.h"])), "FALSE(unreach-call)");
    std::fs::write(folder.join("p.c"), PROGRAM).unwrap();
    let made = ["verify", "p.c", "--property", "unreach-call", "--witness", "w.yml"];
    assert_eq!(last_line(&proviso(folder, &made)), "FALSE(unreach-call)");
    for (command, help) in [
        (["validate", "p.c", "w.yml"], "= help: the witness comes first: `proviso validate WITNESS FILE...`"),
        (["verify", "w.yml", "-q"], "= help: `proviso validate` reads witnesses"),
    ] {
        let said = stderr(&proviso(folder, &command));
        assert!(said.contains(help), "{said}");
    }
}

#[test]
fn standard_input_includes_from_the_working_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("inc")).unwrap();
    std::fs::write(folder.path().join("inc/util.h"), "#define BOUND 7\nvoid reach_error(void);\n").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_proviso"))
        .args(["verify", "-"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = b"#include \"inc/util.h\"\nint main(void) { if (BOUND == 7) reach_error(); }\n";
    child.stdin.take().unwrap().write_all(text).unwrap();
    assert_eq!(last_line(&child.wait_with_output().unwrap()), "FALSE(unreach-call)");
}

#[test]
fn input_functions_that_are_not_declared_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.c");
    let declared = "double nondet_float(); int __VERIFIER_nondet_uint();";
    let text = format!(
        "{declared}\nint main(void) {{\n    double d = __VERIFIER_nondet_double();\n    if (d == 2.5) reach_error();\n\
         \x20   unsigned long n = nondet_size_t();\n    n += __VERIFIER_nondet_double() + nondet_int() + nondet_any();\n\
         \x20   return nondet_float() + __VERIFIER_nondet_uint() + n > 3;\n}}\n"
    );
    std::fs::write(&file, text).unwrap();
    let output = proviso(folder.path(), &["verify", "p.c", "--property", "unreach-call", "--json", "r.json"]);
    assert_eq!(last_line(&output), "TRUE");
    let result: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("r.json")).unwrap()).unwrap();
    let expected = [
        "__VERIFIER_nondet_double is not declared: calls of it (the first at p.c:3:16) are assumed to return int",
        "nondet_size_t is not declared: calls of it (the first at p.c:5:23) are assumed to return int",
    ];
    assert_eq!(result["warnings"], serde_json::json!(expected));
    for warning in expected {
        assert!(stderr(&output).contains(&format!("warning: {warning}")), "{}", stderr(&output));
    }
    assert_eq!(stderr(&output).matches("warning").count(), expected.len(), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_kept_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("p.c"), PROGRAM).unwrap();
    // Files and folders occupy the paths at which cache entries and queries would be written.
    std::fs::create_dir(path("cache")).unwrap();
    for n in 0..=255 {
        std::fs::write(path("cache").join(format!("{n:02x}")), "").unwrap();
    }
    let verify =
        |options: &[&str]| proviso(folder.path(), &[&["verify", "p.c", "--analysis", "symex"], options].concat());
    let output = verify(&["--property", "unreach-call", "--cache", "cache"]);
    assert_eq!((output.status.code(), last_line(&output).as_str()), (Some(1), "FALSE(unreach-call)"));
    assert!(stderr(&output).contains("the verdict is not kept in the cache: cannot write"), "{}", stderr(&output));
    std::fs::create_dir(path("queries")).unwrap();
    for n in 0..9 {
        std::fs::write(path("queries").join(format!("{n:03}")), "").unwrap();
    }
    let output = verify(&["--property", "unreach-call", "--dump-queries", "queries"]);
    assert_eq!((output.status.code(), last_line(&output).as_str()), (Some(1), "FALSE(unreach-call)"));
    assert!(stderr(&output).contains("cannot write queries/00"), "{}", stderr(&output));
    assert_eq!(verify(&["--property", "unreach-call", "--dump-queries", "other"]).status.code(), Some(1));
    std::fs::create_dir_all(path("more/000/000001.smt2")).unwrap();
    let output = verify(&["--property", "unreach-call", "--dump-queries", "more"]);
    assert_eq!((output.status.code(), last_line(&output).as_str()), (Some(1), "FALSE(unreach-call)"));
}

#[test]
fn values_of_globals_are_shown_as_c_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let text = "extern void reach_error(void);\nint h[4];\nstruct s { int x; char y; char name[4]; } st;\nint big[100];\n\
        int f(int h1) {\n    if (h[2] == 7 && h[1] == -1 && h[0] == 0 && h[3] == 0 && big[99] == 3)\n\
        if (st.x == 2 && st.y == 'c' && st.name[0] == '*' && st.name[1] == '/' && !st.name[2] && h1 == 5)\n\
        reach_error();\n    return 0;\n}\n";
    std::fs::write(folder.path().join("p.c"), text).unwrap();
    let how = ["verify", "p.c", "--entry", "f", "--entry-globals", "--property", "unreach-call", "--harness", "h.c"];
    let output = proviso(folder.path(), &how);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(last_line(&output), "FALSE(unreach-call)");
    assert!(said.contains("h = {0, -1, 7, 0}  (input"), "{said}");
    assert!(said.contains("st = {.x = 2, .y = 99 'c', .name = \"*/\"}  (input"), "{said}");
    assert!(said.contains("f(h1 = 5)") && !said.contains("argument h ="), "{said}");
}
