//! Findings: one for each cause, printed as soon as it is found, in terms of the program. And the advice of runs
//! without a verdict.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Verifies a text as `p.c` in a folder.
fn verify(folder: &Path, text: &str, options: &[&str]) -> Output {
    std::fs::write(folder.join("p.c"), text).expect("the folder is writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.current_dir(folder).args(["verify", "p.c", "--color", "never", "--timeout", "60"]).args(options);
    command.output().expect("the built command starts")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder for files")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn errors(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("error: ")).collect()
}

/// The results of SARIF, by their messages.
fn results(folder: &Path) -> Vec<String> {
    let sarif = std::fs::read_to_string(folder.join("out.sarif")).expect("SARIF is written");
    let sarif: serde_json::Value = serde_json::from_str(&sarif).expect("SARIF is JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("a list of results").iter();
    results.map(|result| result["message"]["text"].as_str().expect("a message").to_owned()).collect()
}

const COUNT: &str = "#include <stdio.h>\n\
    int main(void) {\n\
    char line[64];\n\
    unsigned n = 0;\n\
    FILE *f = fopen(\"config.txt\", \"r\");\n\
    if (fgets(line, sizeof line, f)) n++;\n\
    fclose(f);\n\
    return n;\n}\n";

#[test]
fn a_stream_that_is_not_checked_is_one_finding() {
    let folder = folder();
    let output = verify(folder.path(), COUNT, &["--sarif", "out.sarif", "--check", "address", "--json", "r.json"]);
    let text = stdout(&output);
    assert_eq!(errors(&text), ["error: `stream` of `fgets` is null (address is violated)"], "{text}");
    assert!(text.contains("`fopen` returns null here: p.c:5:11"), "{text}");
    assert_eq!(results(folder.path()), ["`stream` of `fgets` is null"]);
    // No violation is lost: violations with the same cause refer to the number of the finding.
    let json = std::fs::read_to_string(folder.path().join("r.json")).expect("JSON is written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let violations = json["checks"][0]["violations"].as_array().expect("a list of violations");
    assert!(violations.len() > 1, "{violations:?}");
    assert!(violations[1..].iter().all(|violation| violation["cause"] == violations[0]["number"]), "{violations:?}");
}

#[test]
fn uses_of_one_null_pointer_are_one_finding_and_those_of_two_are_two() {
    let text = "#include <stdlib.h>\nstruct node { int value; struct node *next; };\n\
                static int get(struct node *n) { return n->value; }\nint main(void) {\n\
                struct node *n = malloc(sizeof *n);\nn->value = 1;\nn->next = 0;\n\
                struct node *m = malloc(sizeof *m);\nm->value = 2;\nreturn get(n) + get(m);\n}\n";
    let folder = folder();
    let output = verify(folder.path(), text, &["--malloc-may-fail", "--sarif", "out.sarif"]);
    let text = stdout(&output);
    let expected = ["write of `n->value`, but `n` is null", "write of `m->value`, but `m` is null"];
    assert_eq!(results(folder.path()), expected, "{text}");
    assert!(text.contains("the allocation here fails and gives a null pointer: p.c:5:18"), "{text}");
    assert!(text.contains("with the same cause at"), "{text}");
}

#[test]
fn a_bug_in_a_list_is_one_result() {
    let text = "#include <stdlib.h>\nstruct node { int value; struct node *next; };\n\
                static struct node *push(struct node *head, int value) {\nstruct node *n = malloc(sizeof *n);\n\
                n->value = value; n->next = head;\nreturn n;\n}\nint main(void) {\n\
                struct node *l = push(push(0, 1), 2);\nint sum = 0;\n\
                for (struct node *n = l; n; n = n->next) {\nsum += n->value & 7;\nfree(n);\n}\nreturn sum;\n}\n";
    let folder = folder();
    let output = verify(folder.path(), text, &["--sarif", "out.sarif", "--timeout", "20"]);
    let text = stdout(&output);
    let found = results(folder.path());
    assert_eq!(found, ["read of `n->next` in the object allocated in line 4, which was freed in line 13"], "{text}");
    assert!(text.ends_with("FALSE(address)\n"), "{text}");
}

/// The search continues after an invalid access. Another access to the same address is no second error, but one to
/// another address may be.
#[test]
fn accesses_to_one_address_outside_an_object_are_one_finding() {
    let folder = folder();
    let text = "#include <stdio.h>\n#include <string.h>\nint main(int argc, char **argv) {\nchar name[4] = \"\";\n\
                if (argc > 1) strcpy(name, argv[1]);\nputs(name);\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), text, &[]));
    assert_eq!(errors(&text).len(), 1, "{text}");
    assert!(text.contains("violated at p.c:5:15, with the same cause at p.c:6:1"), "{text}");
    let two = "int __VERIFIER_nondet_int(void);\nint main(void) {\nint a[4] = {0}, n = __VERIFIER_nondet_int();\n\
               for (int i = 0; i <= 4; i++)\na[i] = i;\n\
               return n > 5 ? a[n] : 0;\n}\n";
    let text = stdout(&verify(folder.path(), two, &[]));
    assert_eq!(errors(&text).len(), 2, "{text}");
    assert!(text.contains("the execution makes another invalid access before this one, at p.c:5:6"), "{text}");
}

/// A divisor that is 0 is no null pointer, even if it has the width of one.
#[test]
fn only_pointers_come_from_null_pointers() {
    let folder = folder();
    let text = "struct ring { unsigned long head, cap; };\n\
                unsigned long next(struct ring *r) {\nreturn (r->head + 1) %\nr->cap;\n}\n";
    let text = stdout(&verify(folder.path(), text, &["--entry", "next", "--check", "integer-divide-by-zero"]));
    assert_eq!(errors(&text), ["error: division by zero (integer-divide-by-zero is violated)"], "{text}");
    assert!(!text.contains("null pointer"), "{text}");
}

#[test]
fn messages_name_objects_as_the_call_does() {
    let folder = folder();
    let text = "int second(const char *left, const char *right) {\nreturn left[1] + right[1];\n}\n";
    let text = stdout(&verify(folder.path(), text, &["--entry", "second", "--check", "address"]));
    assert_eq!(errors(&text).len(), 2, "{text}");
    for object in ["object1", "object2"] {
        assert!(text.contains(&format!("at offset 1 of `{object}`, which has 1 byte")), "{text}");
        assert!(text.contains(&format!("number of elements of {object} = 1")), "{text}");
    }
    assert!(!text.contains("is allocated here"), "{text}");
}

/// The macros of `ctype.h` read tables of the library. A trace shows the character instead of the element.
#[test]
fn traces_show_the_character_that_a_class_is_looked_up_for() {
    let folder = folder();
    let text = "#include <ctype.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\nint c = getchar();\n\
                if (isdigit(c)) abort();\nchar s[2] = {(char)c};\nif (isupper((unsigned char)*s)) s[c] = 0;\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), text, &["--check", "address", "--trace", "full"]));
    assert!(text.contains(" true  (s[0] = "), "{text}");
    assert!(!text.contains("table") && !text.contains("*__ctype_b_loc"), "{text}");
}

#[test]
fn messages_name_arguments_of_functions_that_the_compiler_replaces() {
    let folder = folder();
    let program = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\nchar *s = calloc(4, 1);\nfree(s);\n\
                   printf(\"%s and more\\n\", s);\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--check", "address", "--trace", "full"]));
    let message = "an argument of `printf` points to the object allocated in line 4, which was freed in line 5";
    assert_eq!(errors(&text), [format!("error: {message} (address is violated)")], "{text}");
    assert!(!text.contains("proviso_"), "{text}");
}

#[test]
fn messages_name_elements_and_functions() {
    let folder = folder();
    let elements = "int __VERIFIER_nondet_int(void);\nstatic int grid[2][3];\nint main(void) {\nint a[4] = {0}, i = __VERIFIER_nondet_int();\n\
                    if (i == 4) a[i] = 1;\nif (i == 2) return grid[i][1];\nvoid (*f)(void) = 0;\nif (i == 7) f();\nreturn a[0];\n}\n";
    let text = stdout(&verify(folder.path(), elements, &["--check", "address"]));
    for message in ["write of `a[4]`, but `a` has 4 elements", "read of `grid[2][1]`, but `grid` has 2 elements"] {
        assert!(text.contains(&format!("error: {message} (")), "{message}: {text}");
    }
    assert!(text.contains("error: call of `f`, which is null") || text.contains("null pointer"), "{text}");
}

#[test]
fn the_first_finding_can_be_the_last() {
    let text = "int __VERIFIER_nondet_int(void);\nint main(void) {\nint n = __VERIFIER_nondet_int(), a[2] = {0};\n\
                if (n == 5) return 1 << (n * 8);\nreturn a[n & 3];\n}\n";
    let folder = folder();
    let all = stdout(&verify(folder.path(), text, &[]));
    assert!(errors(&all).len() > 1, "{all}");
    let output = verify(folder.path(), text, &["--first"]);
    let first = stdout(&output);
    assert_eq!((errors(&first).len(), output.status.code()), (1, Some(1)), "{first}");
    assert!(first.lines().last().is_some_and(|line| line.starts_with("FALSE(")), "{first}");
}

/// The finding is printed although the run does not end until it is killed.
#[test]
fn findings_are_printed_when_they_are_found() {
    let hard = "unsigned __VERIFIER_nondet_uint(void);\nint main(void) {\n\
                unsigned s = __VERIFIER_nondet_uint(), i = 0; int a[2] = {0};\n\
                if (s == 7) return a[s];\n\
                while (i < s * s * s) { i++; s ^= s >> 3; }\n\
                if ((unsigned long)s * i == 1000000016000000063ul) return 1 << s;\nreturn 0; }\n";
    let folder = folder();
    std::fs::write(folder.path().join("p.c"), hard).expect("the folder is writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.current_dir(folder.path()).args(["verify", "p.c", "--check", "address,shift", "--timeout", "100000"]);
    let mut run = command.stdout(Stdio::piped()).spawn().expect("the built command starts");
    let lines = BufReader::new(run.stdout.take().expect("a pipe")).lines();
    let found = lines.map_while(Result::ok).find(|line| line.starts_with("error: "));
    let is_running = run.try_wait().expect("it can be asked").is_none();
    run.kill().expect("it can be killed");
    run.wait().expect("it ends");
    assert!(found.is_some_and(|line| line.contains("address")) && is_running);
}

/// A run without a verdict names the obstacle, then the remedies, the cheapest first.
#[test]
fn a_run_without_a_verdict_says_what_to_do() {
    let hard = "unsigned __VERIFIER_nondet_uint(void); void reach_error(void);\nint main(void) {\n\
                unsigned s = __VERIFIER_nondet_uint(), i = 0;\n\
                while (i < s * s * s) { i++; s ^= s >> 3; }\n\
                if ((unsigned long)s * i == 1000000016000000063ul) reach_error();\nreturn 0; }\n";
    let folder = folder();
    let output = verify(folder.path(), hard, &["--property", "unreach-call", "--timeout", "2", "--json", "r.json"]);
    let text = stdout(&output);
    let help: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("= help: ")).collect();
    assert!(help.first().is_some_and(|first| first.contains("__VERIFIER_assume")), "{text}");
    assert_eq!(help.last(), Some(&"allow more time: `--timeout 10`"), "{text}");
    assert!(text.contains("the result depends on this loop of `main`\n --> p.c:4:"), "{text}");
    let json = std::fs::read_to_string(folder.path().join("r.json")).expect("JSON is written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["help"].as_array().map(Vec::len), Some(help.len()));
    let undefined =
        "int ask(void); void reach_error(void);\nint main(void) { if (ask() == 3) reach_error(); return 0; }\n";
    let text = stdout(&verify(folder.path(), undefined, &["--property", "unreach-call"]));
    assert!(
        text.contains("= help: define `ask`: add a file, or a stub in C by `--undefined-functions stubs.c`"),
        "{text}"
    );
}

/// A leak is reported at the allocation, and so is its function.
#[test]
fn a_leak_names_the_function_that_allocates() {
    let folder = folder();
    let program = "#include <stdlib.h>\nstatic int *make(int v) {\nint *p = malloc(sizeof *p);\n*p = v;\nreturn p;\n}\n\
                   int main(void) {\nint *p = make(3);\nreturn *p;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--property", "valid-memcleanup", "--json", "r.json"]));
    assert!(text.contains(" --> p.c:3:10\n") && text.contains(" in make\n") && !text.contains(" in main\n"), "{text}");
}

/// The messages of shifts do not exclude the reason of the violation: a negative value, a negative or large amount, or a
/// large result.
#[test]
fn messages_of_shifts_name_all_reasons() {
    let folder = folder();
    let program = "int __VERIFIER_nondet_int(void);\nint main(void) {\nint n = __VERIFIER_nondet_int();\n\
                   if (n == -1) return n << 2;\nif (n == -2) return 4 << n;\nif (n == -3) return n << n;\n\
                   if (n == -4) return 8 >> n;\nif (n == 5) return 1 << 31;\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--check", "shift"]));
    let mut found = errors(&text);
    found.sort_unstable();
    let of_value = "error: left shift of a signed integer:";
    let expected = [
        "the amount of a shift is negative, or not less than the width of 'int' (shift is violated)",
        "the amount is negative, or the amount or the result is too large for 'int' (shift is violated)",
        "an operand is negative, or the amount or the result is too large for 'int' (shift is violated)",
        "the result does not fit into 'int' (shift is violated)",
        "the value is negative, or the result does not fit into 'int' (shift is violated)",
    ];
    let mut expected: Vec<String> = expected.map(|text| format!("{of_value} {text}")).into();
    expected[0] = expected[0].replace(of_value, "error:");
    expected.sort_unstable();
    assert_eq!(found, expected, "{text}");
}

/// `malloc(0)` has room for some bytes in real libraries, so an input of 0 does not show the violation natively.
#[test]
fn inputs_are_not_minimised_to_blocks_without_bytes() {
    let folder = folder();
    let program = "#include <stdlib.h>\nunsigned __VERIFIER_nondet_uint(void);\nint main(void) {\n\
                   unsigned n = __VERIFIER_nondet_uint();\nif (n > 4096) return 1;\nchar *p = malloc(n);\np[n] = 1;\n\
                   free(p);\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--check", "address"]));
    let message = "write of `p[1]` at offset 1 of the object allocated in line 6, which has 1 byte";
    assert_eq!(errors(&text), [format!("error: {message} (address is violated)")], "{text}");
}

/// Only `main` is executed with threads, by one search. Other entry functions and analyses are no remedy.
#[test]
fn remedies_for_threads_are_about_threads() {
    let folder = folder();
    let program = "#include <pthread.h>\n#include <assert.h>\nint __VERIFIER_nondet_int(void);\nstatic int n;\n\
                   static void *run(void *p) { n += __VERIFIER_nondet_int() & 1; return p; }\nint main(void) {\n\
                   pthread_t t;\npthread_create(&t, 0, run, 0);\npthread_join(t, 0);\nassert(n * n < 2);\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--property", "unreach-call", "--timeout", "5"]));
    let help: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("= help: ")).collect();
    if text.ends_with("TRUE\n") {
        return;
    }
    assert!(help.first().is_some_and(|first| first.contains("interleavings")), "{text}");
    assert!(!text.contains("--entry") && !text.contains("--list-analyses"), "{text}");
}

/// Static tables of functions do not lead to undefined functions, whatever the arguments of the entry function are.
#[test]
fn tables_of_functions_are_no_arguments() {
    let table = "static int twice(int n) { return n & 255; }\nstatic int half(int n) { return n / 2; }\n\
                 typedef int op(int);\nstatic op *const table[] = { twice, half };\n\
                 struct named { const char *name; op *run; };\nstatic const struct named all[] = { {\"twice\", twice} };\n";
    let plain = "int apply(const char *name, unsigned n) {\nconst struct named *first = &all[0];\n\
                 if (name[0] == 'n') return all[0].run(3) + first->run(4);\nreturn table[n & 1](3);\n}\n";
    let with_callback = "int apply(op *callback, unsigned n) {\nif (n == 7) return all[0].run(3);\n\
                         return callback ? table[n & 1](3) : 0;\n}\n";
    let folder = folder();
    for entry in [plain, with_callback] {
        let output = verify(folder.path(), &format!("{table}{entry}"), &["--entry", "apply"]);
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stdout(&output).ends_with("TRUE\n"), "{}", stdout(&output));
        assert!(!messages.contains("undefined functions, with"), "{messages}");
    }
}

/// A run lists an assumption only if the program can depend on it: functions of the library that are linked but not
/// called do not count.
#[test]
fn assumptions_are_those_of_the_program() {
    let folder = folder();
    let program = "#include <stdio.h>\nint main(int argc, char **argv) {\nchar text[20];\nint n = 0;\n\
                   if (fgets(text, 20, stdin)) return text[0];\nscanf(\"%d\", &n);\nreturn n & 7;\n}\n";
    let output = verify(folder.path(), program, &[]);
    assert!(stdout(&output).ends_with("TRUE\n"), "{}", stdout(&output));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// A violation that needs an order of two objects depends on their addresses.
#[test]
fn the_order_of_objects_depends_on_addresses() {
    let folder = folder();
    for condition in ["p < q", "p > q"] {
        let program = format!(
            "#include <assert.h>\nstatic int a, b;\nint main(void) {{\nint *p = &a, *q = &b;\nassert({condition});\nreturn 0;\n}}\n"
        );
        verify(folder.path(), &program, &["--property", "unreach-call", "--json", "r.json"]);
        let json = std::fs::read_to_string(folder.path().join("r.json")).expect("JSON is written");
        let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        assert_eq!(json["violation"]["depends_on_addresses"], true, "{condition}");
    }
}

/// If all accesses are proved to be valid, no proof assumes it. A check that is unknown although no place is open says
/// so, and no place is proved elsewhere if there is no other place.
#[test]
fn tables_do_not_contradict_themselves() {
    let folder = folder();
    let unknown = "int ask(int *p);\nstatic int table[4];\nint main(void) {\nint s = 0, n = ask(&s);\n\
                   if (n > 3) s = table[n & 3];\nreturn s & 7;\n}\n";
    let text = stdout(&verify(folder.path(), unknown, &["--check", "address,bounds"]));
    assert!(
        text.contains("unknown: call of undefined function 'ask'")
            && text.contains("(all places in known code are proved)"),
        "{text}"
    );
    let all =
        "int __VERIFIER_nondet_int(void);\nint main(void) {\nint n = __VERIFIER_nondet_int();\nreturn 100 / n;\n}\n";
    let text = stdout(&verify(folder.path(), all, &["--check", "integer-divide-by-zero,bounds"]));
    assert!(text.contains("violated at p.c:4:") && !text.contains("proved elsewhere"), "{text}");
}

/// 0 is no limit.
#[test]
fn a_timeout_of_zero_is_no_limit() {
    let text = "int main(void) { return 0; }\n";
    assert_eq!(stdout(&verify(folder().path(), text, &["--timeout", "0", "--quiet"])), "TRUE\n");
}

const LOSES: &str = "#include <stdlib.h>\nstruct node { struct node *next; };\nint main(void) {\n\
    struct node *list = 0;\nfor (int i = 0; i < 2; i++) {\nstruct node *node = malloc(sizeof *node);\n\
    node->next = list;\nlist = node;\n}\nlist = list->next;\nfree(list);\nreturn 0;\n}\n";

/// A leak is reported at the allocation, with the place after which no pointer is left.
#[test]
fn a_leak_names_where_the_last_pointer_is_lost() {
    let folder = folder();
    let output = verify(folder.path(), LOSES, &["--check", "leak", "--json", "r.json"]);
    let text = stdout(&output);
    assert!(text.contains("= note: no pointer to it is left after this: p.c:10"), "{text}");
    let json = std::fs::read_to_string(folder.path().join("r.json")).expect("JSON is written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["violation"]["object"]["lost"]["line"], 10, "{json:#}");
}

/// The report of a violation names the next step. With a harness, it is the command that builds and runs it.
#[test]
fn a_violation_names_the_next_step() {
    let folder = folder();
    let program = "int __VERIFIER_nondet_int(void);\nint main(void) {\nreturn 1 / __VERIFIER_nondet_int();\n}\n";
    let text = stdout(&verify(folder.path(), program, &[]));
    assert!(text.contains("\nhelp: `--harness bug.c` writes a C file"), "{text}");
    let text = stdout(&verify(folder.path(), program, &["--harness", "bug.c"]));
    let command = text.lines().find_map(|line| line.strip_prefix("help: build and run the harness: "));
    let command = command.unwrap_or_else(|| panic!("{text}"));
    let output = Command::new("sh").args(["-c", command]).current_dir(folder.path()).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("division by zero"), "{output:?}");
    let text = stdout(&verify(folder.path(), program, &["--message-format", "short"]));
    assert!(!text.contains("help:"), "{text}");
}

/// A proof of the default question lists what it does not include.
#[test]
fn a_proof_names_what_was_not_asked() {
    let folder = folder();
    let program = "int main(void) {\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &[]));
    for part in ["note: not checked: ", "leak", "termination"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("deadlock") && !text.contains("unreach-call,"), "{text}");
    for options in [&["--check", "address,bounds"][..], &["--property", "unreach-call"], &["--quiet"]] {
        let text = stdout(&verify(folder.path(), program, options));
        assert!(!text.contains("not checked: "), "{options:?}: {text}");
    }
}

/// Source lines in counterexamples are cut only to the width of a terminal.
#[test]
fn lines_are_not_cut_without_a_terminal() {
    let folder = folder();
    let long = "a_function_with_a_long_name(the_first_argument_of_it, the_second_argument_of_it)";
    let program = format!(
        "int __VERIFIER_nondet_int(void);\nstatic int a_function_with_a_long_name(int x, int y) {{\nreturn x / y;\n}}\n\
         int main(void) {{\nint the_first_argument_of_it = 1, the_second_argument_of_it = __VERIFIER_nondet_int();\n\
         return {long};\n}}\n"
    );
    let text = stdout(&verify(folder.path(), &program, &[]));
    assert!(text.contains(&format!("return {long};  ")) && !text.contains('…'), "{text}");
}

/// A length that is a negative number converted to `size_t` is shown with this number.
#[test]
fn lengths_that_were_negative_are_shown() {
    let folder = folder();
    let program = "#include <string.h>\nint __VERIFIER_nondet_int(void);\nstatic char to[8], from[8];\nint main(void) {\n\
                   int n = __VERIFIER_nondet_int();\nif (n < 0)\nmemcpy(to, from, n);\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--check", "address"]));
    assert!(text.contains(" converted to size_t)"), "{text}");
}

/// An access before the start of an object names the element.
#[test]
fn an_element_before_an_object_is_named() {
    let folder = folder();
    let program = "#include <stdlib.h>\nint main(void) {\nint *data = malloc(16), size = 0;\nif (!data)\nreturn 0;\n\
                   data[--size] = 1;\nfree(data);\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--check", "address"]));
    let expected = "write of `data[-1]`, 4 bytes before the object allocated in line 3";
    assert!(text.contains(expected), "{text}");
}

/// A buffer with a length, in the ways in which programs pass them.
const BUFFERS: &str = "#include <stddef.h>\n#include <stdint.h>\n\
    extern void __CPROVER_assume(_Bool); extern _Bool __CPROVER_r_ok(const void *, size_t);\n\
    struct buffer { int flags; char *data; unsigned used; };\n\
    unsigned crc(const uint8_t *p, size_t n) {\nunsigned c = 1;\n\
    for (size_t i = 0; i < n; i++)\nc ^= p[i];\nreturn c;\n}\n\
    int fill(int value, unsigned count, int *out) {\nfor (unsigned i = 0; i < count; i++) out[i] = value;\nreturn 0;\n}\n\
    int at(const int *p, unsigned i) {\nreturn p[i];\n}\n\
    int fifth(const short *p) {\nreturn p[4];\n}\n\
    int beyond(const struct buffer *b, unsigned n) {\nreturn n == 7 ? ((const int *)b)[n] : 0;\n}\n\
    int last(const struct buffer *b, int mode) {\nreturn b->used ? b->data[b->used - 1] ^ mode : 0;\n}\n\
    int before(const int *p, int n) {\nreturn n == 3 ? p[-1] : 0;\n}\n\
    unsigned checked(const uint8_t *p, size_t n) {\n\
    __CPROVER_assume(n <= 2 && __CPROVER_r_ok(p, n));\nreturn crc(p, n + 1);\n}\n";

/// Verifies a function of [`BUFFERS`]. Returns the text and the JSON.
fn verify_buffer(folder: &Path, entry: &str) -> (String, serde_json::Value) {
    let options = ["--entry", entry, "--check", "address", "--sarif", "out.sarif", "--json", "r.json"];
    let text = stdout(&verify(folder, BUFFERS, &options));
    let json = std::fs::read_to_string(folder.join("r.json")).expect("JSON is written");
    (text, serde_json::from_str(&json).expect("it is JSON"))
}

/// A violation that a long enough buffer rules out names the buffer and its length, in all outputs.
#[test]
fn a_short_buffer_is_told_apart() {
    let folder = folder();
    for (entry, condition) in [
        ("crc", "__CPROVER_r_ok(p, n)"),
        ("fill", "__CPROVER_w_ok(out, count * sizeof *out)"),
        ("at", "__CPROVER_r_ok(p, (i + 1) * sizeof *p)"),
        ("last", "__CPROVER_r_ok(b->data, b->used)"),
    ] {
        let (text, json) = verify_buffer(folder.path(), entry);
        let advice = format!("`__CPROVER_assume({condition});`");
        assert!(text.contains("callers may pass a short buffer") && text.contains(&advice), "{entry}: {text}");
        assert!(text.contains("\nnote: the finding depends on the assumption"), "{text}");
        assert_eq!(json["violation"]["precondition"], condition);
        assert!(json["help"][0].as_str().is_some_and(|help| help.contains(&advice)), "{}", json["help"]);
        let sarif = std::fs::read_to_string(folder.path().join("out.sarif")).expect("SARIF is written");
        let sarif: serde_json::Value = serde_json::from_str(&sarif).expect("it is JSON");
        let result = &sarif["runs"][0]["results"][0];
        assert_eq!((&result["level"], &result["properties"]["precondition"]), (&"error".into(), &condition.into()));
        assert!(results(folder.path())[0].contains(&advice));
    }
}

/// No longer buffer rules these out, or the program states a condition about the buffer itself.
#[test]
fn other_findings_of_buffers_are_errors() {
    let folder = folder();
    for entry in ["before", "checked", "fifth", "beyond"] {
        let (text, json) = verify_buffer(folder.path(), entry);
        assert!(text.ends_with("FALSE(address)\n") && !text.contains("short buffer"), "{text}");
        assert!(json["violation"]["precondition"].is_null(), "{}", json["violation"]);
        let sarif = std::fs::read_to_string(folder.path().join("out.sarif")).expect("SARIF is written");
        assert!(sarif.contains("\"level\": \"error\""), "{sarif}");
    }
}

/// Standard input has a name, and its lines are shown.
#[test]
fn standard_input_has_a_name() {
    for name in ["-", "/dev/stdin"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
        command.args(["verify", name, "--color", "never", "--timeout", "60", "--check", "address"]);
        let mut run = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the built command starts");
        let program = b"int main(void) {\n    int a[2] = {0};\n    return a[2];\n}\n";
        std::io::Write::write_all(&mut run.stdin.take().expect("a pipe"), program).expect("the command reads it");
        let text = stdout(&run.wait_with_output().expect("the run ends"));
        assert!(text.contains("--> <stdin>:3:12\n") && text.contains("3 |     return a[2];"), "{text}");
        assert!(!text.contains("stdin.c"), "{text}");
    }
}

/// Files that define the same function are no program.
#[test]
fn two_programs_are_not_linked() {
    let folder = folder();
    std::fs::write(folder.path().join("other.c"), "int main(void) { return 1; }\n").expect("the folder is writable");
    let output = verify(folder.path(), "int main(void) { return 0; }\n", &["other.c"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("error: other.c defines 'main', which another file defines, too"), "{text}");
    assert!(text.contains("help: ") && !text.contains("symbol multiply defined"), "{text}");
    // A harness is no file of the program.
    let harness = "/* Made by proviso: the inputs with which this happens */\n";
    std::fs::write(folder.path().join("bug.c"), harness).expect("the folder is writable");
    let output = verify(folder.path(), "int main(void) { return 0; }\n", &["."]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("proviso verify other.c p.c`"), "{text}");
}

/// A data race has no place among the checks of the program, but it counts, and no limit ended the search for others.
#[test]
fn a_data_race_counts() {
    let folder = folder();
    let program = "#include <pthread.h>\nint shared;\nstatic void add(int by) { shared += by; }\n\
        static void *run(void *p) { (void)p; add(2); return 0; }\nint main(void) {\npthread_t t;\n\
        pthread_create(&t, 0, run, 0);\nadd(3);\npthread_join(t, 0);\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--json", "r.json"]));
    let json = std::fs::read_to_string(folder.path().join("r.json")).expect("JSON is written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let checks = json["checks"].as_array().expect("a list of checks");
    let thread = checks.iter().find(|check| check["name"] == "thread").expect("a check of threads");
    assert_eq!((&thread["places_violated"], &thread["reason"]), (&1.into(), &serde_json::Value::Null), "{thread}");
    let names = json["properties"].as_array().expect("a list of names");
    assert!(names.contains(&"thread".into()) && names.contains(&"deadlock".into()), "{names:?}");
    assert!(text.contains("add(by = 3)") || text.contains("add(by = 2)"), "{text}");
}

/// Inputs that the violation does not need are as small as possible.
#[test]
fn arguments_that_are_not_needed_are_not_given() {
    let folder = folder();
    let program = "#include <stdio.h>\nint main(int argc, char **argv) {\nint a[2] = {argc, 1};\nint c = getchar();\n\
        if (argc > 4) return argv[1][0];\nreturn c == 'x' ? a[2] : 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--check", "address"]));
    assert!(text.contains("  arguments       none\n"), "{text}");
}

/// A violation that follows from another one does not take the place of one that does not.
#[test]
fn violations_that_follow_from_others_are_found_last() {
    let folder = folder();
    let program = "int __VERIFIER_nondet_int(void);\nstatic int stack[4], n;\n\
        static void push(int v) {\nstack[n++] = v;\n}\nstatic int pop(void) {\nreturn stack[--n];\n}\n\
        int main(void) {\nfor (int i = 0; i < 6; i++) {\nif (__VERIFIER_nondet_int()) push(i);\n\
        else push(pop() + pop());\n}\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--check", "address"]));
    let overflow = ["write of `stack[4]`, but `stack` has 4 elements"];
    let underflow = ["read of `stack[-1]`, but `stack` has 4 elements"];
    let found = errors(&text);
    for [message] in [overflow, underflow] {
        assert!(found.contains(&format!("error: {message} (address is violated)").as_str()), "{text}");
    }
    assert!(!text.contains("the execution makes another invalid access before this one"), "{text}");
}

/// Two accesses of one line are two errors, if each fails without the other. A violation after another one in the same
/// execution is still found.
#[test]
fn two_errors_of_a_line_are_two_findings() {
    let folder = folder();
    let either = "int __VERIFIER_nondet_int(void);\nint a[4];\nint main(void) {\n\
        int i = __VERIFIER_nondet_int() & 7, j = __VERIFIER_nondet_int() & 7;\n\
        return i < 4 ? a[j] : a[i];\n}\n";
    let text = stdout(&verify(folder.path(), either, &["--check", "address"]));
    assert_eq!(errors(&text).len(), 2, "{text}");
    let both = "int a[4];\nint main(void) {\nvolatile int i = 4;\na[i] = 1;\ni = 5;\na[i] = 2;\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), both, &["--check", "address"]));
    assert_eq!(errors(&text).len(), 2, "{text}");
    assert!(text.contains("the execution makes another invalid access before this one"), "{text}");
}

/// Characters that the violation does not depend on are easy to type, and the content of files is listed.
#[test]
fn inputs_are_easy_to_type() {
    let folder = folder();
    let line = "#include <stdio.h>\n#include <string.h>\nint main(void) {\nchar line[32], name[6];\n\
        if (!fgets(line, sizeof line, stdin)) return 1;\nline[strcspn(line, \"\\n\")] = 0;\n\
        strcpy(name, line);\nreturn name[0];\n}\n";
    let text = stdout(&verify(folder.path(), line, &["--check", "address"]));
    let input =
        text.lines().find_map(|line| line.strip_prefix("  standard input  ")).unwrap_or_else(|| panic!("{text}"));
    assert!(input.len() >= 8 && !input.contains('\\'), "{text}");
    let file = "#include <stdio.h>\nint main(void) {\nFILE *f = fopen(\"config.txt\", \"r\");\nif (!f) return 1;\n\
        char b[2];\nint c, n = 0;\nwhile ((c = fgetc(f)) != EOF && c != '\\n') b[n++] = c;\nfclose(f);\n\
        return b[0];\n}\n";
    let text = stdout(&verify(folder.path(), file, &["--check", "address", "--json", "r.json"]));
    let row =
        text.lines().find_map(|line| line.strip_prefix("  file \"config.txt\"  ")).unwrap_or_else(|| panic!("{text}"));
    assert!(row.len() >= 5 && !row.contains('\\'), "{text}");
    let json = std::fs::read_to_string(folder.path().join("r.json")).expect("JSON is written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let opened = &json["violation"]["environment"]["files"][0];
    assert_eq!((&opened["name"], &opened["is_read"]), (&"config.txt".into(), &true.into()), "{opened}");
    assert_eq!(opened["content"].as_str().map(|content| format!("\"{content}\"")).as_deref(), Some(row));
}

/// The text about an object that `realloc` freed names this function.
#[test]
fn checks_of_two_rules_are_no_branches() {
    let folder = folder();
    let program = "extern int __VERIFIER_nondet_int(void);\nstatic int get(int *p) { *p ^= 1; return *p; }\n\
        int main(void) {\nint x = __VERIFIER_nondet_int();\nint y = 100 / (get(&x) - 1);\nreturn 100 / (y - 10);\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--trace", "full"]));
    assert!(text.contains("get returns 11") && !text.contains("& 0x3") && !text.contains(" != 1"), "{text}");
}

#[test]
fn numbers_in_arguments_have_no_leading_zeros() {
    let folder = folder();
    let program = "#include <assert.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n\
        if (argc > 1) assert(atoi(argv[1]) != -17);\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--check", "unreach-call"]));
    assert!(text.contains("\n  arguments  \"-17\"\n"), "{text}");
}

#[test]
fn an_undecided_path_leads_to_the_call_of_the_error_function() {
    let folder = folder();
    let program = "extern unsigned __VERIFIER_nondet_uint(void);\nextern void abort(void);\nvoid reach_error(void) { abort(); }\n\
        int main(void) {\nunsigned x = __VERIFIER_nondet_uint();\nunsigned y = x;\nif (x < y) reach_error();\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--property", "unreach-call", "--analysis", "value"]));
    assert!(text.contains("found a path to this place") && text.contains("--> p.c:7:12"), "{text}");
}

#[test]
fn an_object_that_realloc_moved_names_it() {
    let folder = folder();
    let program = "#include <stdlib.h>\nint main(void) {\nchar *p = malloc(4);\nchar *q = realloc(p, 100);\n\
        p[0] = 1;\nfree(q);\nreturn 0;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--check", "address"]));
    assert!(text.contains("in line 3, which `realloc` freed in line 4"), "{text}");
    assert!(text.contains("`realloc` moves it to another address here: p.c:4"), "{text}");
}

/// A full trace has no steps for functions that only macros of headers call.
#[test]
fn a_full_trace_names_no_functions_of_macros() {
    let folder = folder();
    let program = "#include <ctype.h>\n#include <stdio.h>\nint main(void) {\nchar b[2];\nint n = 0, c;\n\
        while (isdigit(c = getchar())) b[n++] = c;\nreturn n;\n}\n";
    let text = stdout(&verify(folder.path(), program, &["--check", "address", "--trace", "full"]));
    assert!(text.contains("write of `b[2]`") && !text.contains("__ctype"), "{text}");
}
