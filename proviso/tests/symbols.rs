//! Error functions in optimised bitcode, and string literals that may share memory.

use std::path::Path;
use std::process::Command;

/// Verifies files in a folder. Returns the verdict line.
fn verdict(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.current_dir(folder).args(["verify", "--property", "unreach-call", "--timeout", "20"]);
    let output = command.args(args).output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

/// True if the verdict is the expected one, with any reason if that is UNKNOWN.
fn says(found: &str, expected: &str) -> bool {
    found == expected || expected == "UNKNOWN" && found.starts_with("UNKNOWN(")
}

/// Cases of error functions: body, specifiers, compiler options, and the expected verdicts of a program that calls the
/// function and of one that does not.
const INLINED: &[(&str, &str, &[&str], &str, &str)] = &[
    ("abort();", "", &["-O0"], "FALSE(unreach-call)", "TRUE"),
    ("", "", &["-O0"], "FALSE(unreach-call)", "TRUE"),
    ("abort();", "", &["-O2", "-g"], "FALSE(unreach-call)", "TRUE"),
    ("abort();", "static", &["-O2", "-g"], "FALSE(unreach-call)", "UNKNOWN"),
    ("g = 1;", "static", &["-O2", "-g"], "FALSE(unreach-call)", "UNKNOWN"),
    ("__builtin_trap();", "static", &["-O2", "-g"], "FALSE(unreach-call)", "UNKNOWN"),
    // After optimisation, calls of an empty function leave no trace.
    ("", "", &["-O2", "-g"], "UNKNOWN", "UNKNOWN"),
    ("", "static", &["-O2", "-g"], "UNKNOWN", "UNKNOWN"),
    ("", "__attribute__((noinline))", &["-O2", "-g"], "UNKNOWN", "UNKNOWN"),
    // Without debug information, inlined calls cannot be recognised.
    ("abort();", "", &["-O2"], "UNKNOWN", "UNKNOWN"),
    ("abort();", "static", &["-O2"], "UNKNOWN", "UNKNOWN"),
    ("abort();", "__attribute__((noinline))", &["-O2"], "FALSE(unreach-call)", "TRUE"),
    ("abort();", "__attribute__((always_inline)) static", &["-O0", "-g"], "FALSE(unreach-call)", "TRUE"),
    ("abort();", "__attribute__((always_inline)) static", &["-O0"], "UNKNOWN", "UNKNOWN"),
];

#[test]
fn error_functions_are_found_where_they_were_inlined() {
    let folder = tempfile::tempdir().unwrap();
    let source = "extern void abort(void); extern int __VERIFIER_nondet_int(void); int g;\n\
        LINKAGE void reach_error(void) { BODY }\n\
        int main(void) { unsigned x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();\n\
        if (CONDITION) reach_error();\nif (y == 4) abort();\nreturn 0; }\n";
    std::fs::write(folder.path().join("a.c"), source).unwrap();
    for &(body, linkage, options, called, not_called) in INLINED {
        for (condition, expected) in [("x == 5", called), ("x != x", not_called)] {
            let mut clang = Command::new("clang-19");
            clang.current_dir(folder.path()).args(["-w", "-c", "-emit-llvm", "a.c", "-o", "a.bc"]).args(options);
            clang.arg(format!("-DBODY={body}")).arg(format!("-DLINKAGE={linkage}"));
            assert!(clang.arg(format!("-DCONDITION={condition}")).status().unwrap().success());
            let found = verdict(folder.path(), &["a.bc"]);
            assert!(says(&found, expected), "{linkage} {{ {body} }} {condition} {options:?}: {found}, not {expected}");
        }
    }
}

/// A merged call has no line, so it may be an inlined call of the error function.
#[test]
fn a_call_without_a_line_may_be_inlined() {
    let folder = tempfile::tempdir().unwrap();
    let source = "extern void abort(void); extern int __VERIFIER_nondet_int(void);\n\
        void reach_error(void) { abort(); }\n\
        int main(void) { if (__VERIFIER_nondet_int() == 5) reach_error();\n\
        if (__VERIFIER_nondet_int() == 6) reach_error();\nreturn 0; }\n";
    std::fs::write(folder.path().join("a.c"), source).unwrap();
    let mut clang = Command::new("clang-19");
    clang.current_dir(folder.path()).args(["-O2", "-g", "-c", "-emit-llvm", "a.c"]);
    assert!(clang.status().unwrap().success());
    assert_ne!(verdict(folder.path(), &["a.bc"]), "TRUE");
}

/// The compiler may have replaced calls of library functions, so that the bitcode does not contain them.
#[test]
fn library_functions_may_be_gone_from_bitcode() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <stdio.h>\n#include <string.h>\n\
        int main(int argc, char **argv) { char a[8]; memcpy(a, argv[0], argc & 7); printf(\"x\\n\"); return strlen(\"abc\"); }\n";
    std::fs::write(folder.path().join("a.c"), source).unwrap();
    for (level, function, expected) in [
        ("-O0", "memcpy", "UNKNOWN"),
        ("-O0", "strlen", "UNKNOWN"),
        ("-O0", "printf", "FALSE(unreach-call)"),
        ("-O0", "puts", "TRUE"),
        ("-O2", "printf", "UNKNOWN"),
    ] {
        let mut clang = Command::new("clang-19");
        clang.current_dir(folder.path()).args([level, "-w", "-c", "-emit-llvm", "a.c"]);
        assert!(clang.status().unwrap().success());
        let found = verdict(folder.path(), &["--error-function", function, "a.bc"]);
        assert!(says(&found, expected), "{level} {function}: {found}, not {expected}");
    }
}

/// Literals of all character types. If one literal is a suffix of another, or equal to one in another file, they may
/// share memory or not, so both results of a comparison are possible. Other literals differ.
#[test]
fn literals_share_memory_or_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    for (prefix, ty) in [("", "char"), ("u8", "char"), ("L", "wchar_t"), ("u", "char16_t"), ("U", "char32_t")] {
        let head = format!(
            "#include <uchar.h>\n#include <wchar.h>\nextern void reach_error(void);\nextern const {ty} *other(void);\n"
        );
        write("other.c", format!("{head}const {ty} *other(void) {{ return {prefix}\"an abc\"; }}\n"));
        for (literal, offset, shares) in
            [("an abc", 0, true), ("abc", 3, true), ("", 6, true), ("ab", 3, false), ("abc", 2, false)]
        {
            for operator in ["==", "!="] {
                let main = format!(
                    "int main(void) {{ if (other() + {offset} {operator} {prefix}\"{literal}\") reach_error(); return 0; }}\n"
                );
                write("main.c", head.clone() + &main);
                let found = verdict(folder.path(), &["main.c", "other.c"]);
                let expected = if shares || operator == "!=" { "FALSE(unreach-call)" } else { "TRUE" };
                assert_eq!(found, expected, "{main}");
            }
        }
    }
}

/// A call of a function that is always inlined executes the body in its file, although the linker takes that of another
/// file. A call through a pointer executes the latter.
#[test]
fn the_body_that_is_always_inlined_is_that_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("b.c", "int f(void) { return 2; }\n".into());
    write("weak.c", "__attribute__((weak)) int f(void) { return 2; }\n".into());
    for (specifiers, called) in [
        ("inline __attribute__((always_inline))", 1),
        ("extern inline __attribute__((gnu_inline, always_inline))", 1),
        ("__attribute__((weak, always_inline)) inline", 1),
        ("__attribute__((weak, noinline))", 2),
    ] {
        let main = |condition: &str| {
            format!(
                "extern void abort(void);\nvoid reach_error(void) {{ abort(); }}\n{specifiers} int f(void) {{ return 1; }}\n\
                 int (*volatile pointer)(void) = f;\nint main(void) {{ if ({condition}) reach_error(); return 0; }}\n"
            )
        };
        for (condition, other, expected) in [
            (format!("f() != {called}"), "b.c", "TRUE"),
            (format!("f() == {called}"), "b.c", "FALSE(unreach-call)"),
            ("pointer() != 2".into(), "b.c", "TRUE"),
            (format!("f() != {called}"), "weak.c", "TRUE"),
        ] {
            // The weak definition of the first file comes before that of the second.
            if specifiers.contains("weak, noinline") && other == "weak.c" {
                continue;
            }
            write("a.c", main(&condition));
            assert_eq!(verdict(folder.path(), &["a.c", other]), expected, "{specifiers}: {condition}, {other}");
            if other == "b.c" {
                let mut clang = Command::new("clang-19");
                clang.current_dir(folder.path()).args(["-w", "-o", "native", "a.c", "b.c"]);
                assert!(clang.status().unwrap().success());
                let ends = Command::new(folder.path().join("native")).status().unwrap().success();
                assert_eq!(ends, expected == "TRUE", "{specifiers}: {condition}");
            }
        }
    }
}

/// Runs a command in a folder. Returns its exit code and its output.
fn output(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_proviso")).current_dir(folder).args(args).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// The points-to analysis of this program takes longer than a share of the limit, so its result may be missing at the end
/// of the limit, but its absence must not separate the literals.
#[test]
fn a_short_limit_does_not_separate_literals() {
    let folder = tempfile::tempdir().unwrap();
    let (count, mut state) = (10_000, 1u64);
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut text =
        "extern int __VERIFIER_nondet_int(void); extern void reach_error(void); const char *other(void);\n".to_owned();
    (0..count).for_each(|n| text += &format!("static void *g{n};\n"));
    text += "static void all(void) {\n";
    for _ in 0..20_000 {
        let (a, b) = (random(count), random(count));
        text += &match random(4) {
            0 => format!("g{a} = g{b};\n"),
            1 => format!("g{a} = &g{b};\n"),
            2 => format!("g{a} = *(void **)g{b};\n"),
            _ => format!("*(void **)g{a} = g{b};\n"),
        };
    }
    text += "}\nint main(void) { const char *p = \"hello\"; unsigned x = __VERIFIER_nondet_int();\n\
        if (x * x == 3) all();\nif (p == other()) reach_error();\nreturn 0; }\n";
    std::fs::write(folder.path().join("a.c"), text).unwrap();
    std::fs::write(folder.path().join("b.c"), "const char *other(void) { return \"hello\"; }\n").unwrap();
    let args = ["verify", "--property", "unreach-call", "a.c", "b.c", "--timeout", "2", "--cache", "cache"];
    for _ in 0..2 {
        let (_, found) = output(folder.path(), &args);
        assert!(found.lines().all(|line| line != "TRUE"), "{found}");
    }
}

/// A program that compares literals of two files, and one that compares the addresses of functions.
const OPEN: [(&str, &str); 2] = [
    (
        "extern void reach_error(void); const char *other(void); extern int __VERIFIER_nondet_int(void);\n\
         static const char *table[] = { \"a hello\" };\n\
         int main(void) { const char *p = \"hello\"; int n = 0;\n\
         for (int i = 0; i < (__VERIFIER_nondet_int() & 7); i++) n++;\n\
         if (p == other() || n == 9)\nreach_error();\nreturn p == table[0] + 2; }\n",
        "const char *other(void) { return \"hello\"; }\n",
    ),
    (
        "extern void reach_error(void); int g(int); extern int __VERIFIER_nondet_int(void);\n\
         int f(int x) { return x + 1; }\n\
         int main(void) { int (*p)(int) = f, (*q)(int) = g; int n = 0;\n\
         for (int i = 0; i < (__VERIFIER_nondet_int() & 7); i++) n++;\n\
         if ((unsigned long)p > (unsigned long)q || n == 9)\nreach_error();\nreturn p(1) == q(0); }\n",
        "int g(int x) { return x; }\n",
    ),
];

/// No command takes one of the results that C leaves open for the only one.
#[test]
fn all_commands_leave_addresses_open() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &str| output(folder.path(), &args.split_whitespace().collect::<Vec<_>>());
    for (a, b) in OPEN {
        std::fs::write(folder.path().join("a.c"), a).unwrap();
        std::fs::write(folder.path().join("b.c"), b).unwrap();
        let (code, found) = run("gia cegar a.c b.c --property unreach-call --timeout 30");
        assert_ne!(code, Some(0), "{found}");
        let (_, found) = run("testgen a.c b.c -o suite --timeout 10");
        assert!(!found.contains("a.c:5:5: p == other(): proved"), "{found}");
        assert!(!found.contains("a.c:5:5: q < p: proved"), "{found}");
    }
}

/// The files of a run with a limit fit the program of the commands that read them, which have other limits.
#[test]
fn automata_fit_programs_with_open_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &str| output(folder.path(), &args.split_whitespace().collect::<Vec<_>>());
    for (a, b) in OPEN {
        std::fs::write(folder.path().join("a.c"), a).unwrap();
        std::fs::write(folder.path().join("b.c"), b).unwrap();
        let files = "a.c b.c --property unreach-call";
        for limit in ["1", "20"] {
            run(&format!("verify {files} --analysis bmc --timeout {limit} --save-condition c --save-gia g"));
            for read in [format!("reduce {files} --condition c"), format!("reduce {files} --gia g")] {
                let (code, found) = run(&format!("{read} --output residual.cfa"));
                assert_eq!(code, Some(0), "{read}: {found}");
            }
            let (code, found) = run(&format!("gia check g {files} --timeout 20"));
            assert!(matches!(code, Some(0 | 2)) && !found.contains("error:"), "{found}");
        }
    }
}

/// C that Proviso writes chooses the addresses of literals, too.
#[test]
fn written_c_leaves_literals_open() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &str| output(folder.path(), &args.split_whitespace().collect::<Vec<_>>());
    let (a, b) = OPEN[0];
    for (a, sign) in [(a.to_owned(), "=="), (a.replace("p == other()", "p != other()"), "!=")] {
        std::fs::write(folder.path().join("a.c"), a).unwrap();
        std::fs::write(folder.path().join("b.c"), b).unwrap();
        for (width, command) in
            [("--64", "reduce"), ("--32", "reduce"), ("--64", "instrument"), ("--64", "instrument --check address")]
        {
            let property = if command.contains("--check") { "" } else { "--property unreach-call" };
            let (code, found) = run(&format!("{command} a.c b.c {property} {width} --output written.c"));
            assert_eq!(code, Some(0), "{command}: {found}");
            if command.contains("--check") {
                continue;
            }
            let (_, found) = run(&format!("verify written.c --property unreach-call {width} --timeout 30 -q"));
            assert_eq!(found.lines().last(), Some("FALSE(unreach-call)"), "{sign} {command}: {found}");
        }
    }
}
