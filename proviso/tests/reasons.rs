//! The reasons and notes of runs without a verdict: the origin of an invalid pointer, and the options that would
//! exclude it, in terms of the program.

use std::process::Command;

/// The reason and the notes of a run from its JSON: the text, and the line of the place.
fn reasons(program: &str, options: &[&str]) -> Vec<(String, Option<u64>)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.c");
    std::fs::write(&file, program).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.current_dir(folder.path()).args(["verify", "p.c", "--json", "r.json", "--cpu-limit", "10"]).args(options);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.lines().last().unwrap_or_default().starts_with("UNKNOWN("), "{program}\n{said}");
    let json = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let notes = json["notes"].as_array().unwrap().iter();
    let told =
        |note: &serde_json::Value| (note["text"].as_str().unwrap().to_owned(), note["location"]["line"].as_u64());
    let reasons: Vec<_> = std::iter::once(&json["reason"]).chain(notes).map(told).collect();
    // The text output contains the reasons of the JSON.
    assert!(reasons.iter().all(|(text, _)| said.contains(text.as_str())), "{reasons:?}\n{said}");
    reasons
}

#[track_caller]
fn expect(program: &str, options: &[&str], text: &[&str], line: u64) {
    let reasons = reasons(program, options);
    let fits = |(said, at): &(String, Option<u64>)| text.iter().all(|part| said.contains(part)) && *at == Some(line);
    assert!(reasons.iter().any(fits), "{text:?} at line {line} is not among {reasons:?} of\n{program}");
}

const UNREACH: [&str; 2] = ["--property", "unreach-call"];

#[test]
fn where_a_pointer_comes_from_is_told_with_what_rules_it_out() {
    let program = |declared: &str, pointer: &str| {
        format!(
            "void reach_error(void); unsigned long __VERIFIER_nondet_ulong(void); void *malloc(unsigned long);\n\
             int unknown(void);\n{declared}\nint main(void) {{\n{pointer}\n\
             if (*p == 7) reach_error();\nreturn 0; }}\n"
        )
    };
    let input = program("", "int *p = (int *)__VERIFIER_nondet_ulong();");
    expect(&input, &UNREACH, &["__VERIFIER_nondet_ulong()", "__VERIFIER_assume"], 5);
    let unset = program("int x;", "int *p; if (__VERIFIER_nondet_ulong()) p = &x;");
    expect(&unset, &UNREACH, &["`p`, which is not initialised", "initialising it"], 5);
    let content = program("", "int **list = malloc(16), *p = list[1];");
    expect(&content, &UNREACH, &["read from `list`", "initialising it"], 5);
    expect(&program("", "int *p = (int *)0x1234;"), &UNREACH, &["the number 0x1234"], 6);
    expect(&program("extern int *device;", "int *p = device;"), &UNREACH, &["`device`, which is not defined"], 6);
    let far = program("int table[4];", "int *p = table + __VERIFIER_nondet_ulong();");
    expect(&far, &UNREACH, &["`table`", "--check address"], 3);
}

#[test]
fn what_cannot_be_told_of_what_arguments_lead_to_is_told_with_the_option_that_helps() {
    let owner = "struct owner { union { int *p; long n; } u; };\nint look(struct owner *o) { return *o->u.p; }\n";
    expect(
        owner,
        &["--property", "valid-deref", "--entry", "look"],
        &["struct owner", "a caller that builds the object in C"],
        2,
    );
    let called = "void reach_error(void);\nint ask(int (*f)(void)) { if (f() == 3) reach_error(); return 0; }\n";
    expect(called, &["--property", "unreach-call", "--entry", "ask"], &["--undefined-functions"], 2);
}

#[test]
fn errno_goes_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let program = "#include <assert.h>\n#include <errno.h>\n#include <stdlib.h>\n\
                   int main(void) { void *p = calloc((size_t)-1 / 2, 3); assert(p || errno == 0); return 0; }\n";
    std::fs::write(folder.path().join("p.c"), program).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.current_dir(folder.path()).args(["verify", "p.c", "--property", "unreach-call", "--trace", "full"]);
    let said = String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned();
    assert!(said.contains("errno = 12") && !said.contains("proviso_errno"), "{said}");
    assert!(said.ends_with("FALSE(unreach-call)\n"), "{said}");
}

/// The assumption about undefined functions is printed also if it is the reason why their calls do not matter. A call
/// matters if it matters for one of the checks.
#[test]
fn assumptions_about_undefined_functions_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let program = "#include <assert.h>\nstruct node { struct node *next; int n; };\nvoid set(struct node *);\n\
                   int main(void) { struct node b = {0, 1}, a = {&b, 2}; set(&a); assert(CHECKED == 1); return 0; }\n";
    std::fs::write(folder.path().join("p.c"), program).unwrap();
    let run = |checked: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
        command.current_dir(folder.path()).args(["verify", "p.c", "--undefined-functions", "any-effect", checked]);
        let output = command.output().unwrap();
        let (out, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(notes.contains("note: assumed: undefined functions return any value, and write only"), "{notes}");
        (out, notes)
    };
    let (out, notes) = run("-DCHECKED=b.n");
    assert!(out.ends_with("TRUE\n") && notes.contains("set (1, none matters)"), "{out}{notes}");
    let (out, notes) = run("-DCHECKED=a.n");
    assert!(out.ends_with("FALSE(unreach-call)\n") && notes.contains("set (1)"), "{out}{notes}");
}

/// The assumption that a string ends with a zero is printed for each length of the arrays.
#[test]
fn the_assumption_that_strings_end_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let program = "#include <assert.h>\nvoid f(char *s) { if (s[0] == 'a' && s[LENGTH - 1] == 'a') assert(0); }\n";
    std::fs::write(folder.path().join("p.c"), program).unwrap();
    for (options, length) in
        [(&[][..], "1"), (&["--entry-array-length", "1"], "1"), (&["--entry-array-length", "3"], "3")]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
        command.current_dir(folder.path()).args(["verify", "p.c", "--entry", "f"]).args(options);
        let output = command.arg(format!("-DLENGTH={length}")).output().unwrap();
        let (out, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(notes.contains("a string ends with a zero"), "{notes}");
        let verdict = if options.is_empty() { "FALSE(unreach-call)\n" } else { "TRUE\n" };
        assert!(out.ends_with(verdict), "{out}");
    }
}

/// The text of a run with these options, and its reasons in JSON: that of the run, and those of the checks.
fn reasons_of_checks(program: &str, options: &[&str]) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.c"), program).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.current_dir(folder.path()).args(["verify", "p.c", "--json", "r.json"]).args(options).output().unwrap();
    let json = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let of_checks = json["checks"].as_array().unwrap().iter().filter_map(|check| check["reason"]["text"].as_str());
    (json["reason"]["text"].as_str().unwrap().to_owned(), of_checks.map(str::to_owned).collect())
}

/// Several hard checks share the time. The reason of a check names its share, and the reason of the run names the limit
/// that the user can change.
#[test]
fn what_took_its_share_of_the_time_does_not_say_that_all_is_gone() {
    let hard = "unsigned __VERIFIER_nondet_uint(void); void reach_error(void);\nint main(void) {\n\
                unsigned s = __VERIFIER_nondet_uint(), i = 0; int a[2];\n\
                while (i < s * s * s) { i++; s ^= s >> 3; }\n\
                if ((unsigned long)s * i == 1000000016000000063ul) reach_error();\n\
                if ((unsigned long)s * i == 1000000016000000097ul) a[i] = 1;\na[s & 1] = 1;\nreturn a[s & 1]; }\n";
    for (option, end, limit) in [
        ("--timeout", " s for this check, of 5 s for all checks", "timeout of 5 s"),
        ("--cpu-limit", " s of processor time for this check, of 5 s for all checks", "5 s of processor time"),
    ] {
        let (reason, of_checks) = reasons_of_checks(hard, &[option, "5"]);
        assert!(of_checks.iter().any(|text| text.ends_with(end)), "{of_checks:?}");
        assert!(reason.starts_with(limit), "{reason}");
    }
    let told = reasons(hard, &["--timeout", "2", "--property", "unreach-call"]);
    assert!(told.iter().any(|(text, _)| text.starts_with("timeout of 2 s") && !text.contains("for all")), "{told:?}");
}
