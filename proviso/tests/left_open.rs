//! Implementation-defined and undefined behaviour where the checks follow clang's sanitizers: comparisons of pointers,
//! an object that ends where another starts, options that define overflow, handlers of failed assertions, and lifetime
//! markers in bitcode.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Verifies a file in this folder. Returns the last line of standard output.
fn verdict(folder: &Path, name: &str, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.current_dir(folder).args(["verify", name, "--timeout", "120", "--json", "result.json"]).args(options);
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

/// The verdict on a program with this text and file name.
fn verdict_on(text: &str, name: &str, options: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    verdict(folder.path(), name, options)
}

/// The lines of all violations of the last run.
fn violated(folder: &Path) -> BTreeSet<usize> {
    let json = std::fs::read_to_string(folder.join("result.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let violations =
        json["checks"].as_array().unwrap().iter().flat_map(|check| check["violations"].as_array().unwrap());
    violations.map(|violation| violation["location"]["line"].as_u64().unwrap() as usize).collect()
}

/// The numbers of the lines that contain this text.
fn lines_with(program: &str, text: &str) -> BTreeSet<usize> {
    (1..).zip(program.lines()).filter(|(_, line)| line.contains(text)).map(|(number, _)| number).collect()
}

/// Compares pairs of pointers: into objects of all kinds, to their ends, to freed objects, and null. AddressSanitizer
/// reports exactly the lines with violations.
#[test]
fn pairs_of_pointers_are_those_of_the_sanitizer() {
    let pointers = [
        "g", "g + 2", "g + 4", "h", "l", "l + 4", "m", "p", "p + 4", "q", "f", "f + 1", "(int *)s", "&st.a", "&st.b",
        "0",
    ];
    let operators = ["<", "-", ">=", "-", ">", "<="];
    let pairs = (0..pointers.len()).flat_map(|i| (i..pointers.len()).map(move |j| (i, j)));
    let cases = pairs.enumerate().map(|(n, (i, j))| {
        let (a, b) = if (i + j) % 2 == 1 { (i, j) } else { (j, i) };
        format!("    case {n}: r = x[{a}] {} x[{b}]; break;\n", operators[(i * 5 + j) % operators.len()])
    });
    let cases: Vec<String> = cases.collect();
    let text = format!(
        "#include <stdlib.h>\nstatic int g[4], h[4];\nstatic struct {{ int a, b; }} st;\nlong r;\nstatic void test(int n) {{\n\
         int l[4], m[4], *p = malloc(16), *q = malloc(16), *f = malloc(16);\nconst char *s = \"literal\";\nfree(f);\n\
         int *x[] = {{{}}};\nswitch (n) {{\n{}}}\nfree(p);\nfree(q);\n}}\n\
         #ifdef NATIVE\nint main(void) {{ for (int n = 0; n < {}; n++) test(n); }}\n\
         #else\nextern int nondet_int(void);\nint main(void) {{ test(nondet_int()); }}\n#endif\n",
        pointers.join(", "),
        cases.concat(),
        cases.len()
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pairs.c"), &text).unwrap();
    verdict(folder.path(), "pairs.c", &["--check", "pointer-compare,pointer-subtract"]);
    let found = violated(folder.path());
    let sanitizers = "-fsanitize=address,pointer-compare,pointer-subtract";
    let mut clang = Command::new("clang-19");
    clang.current_dir(folder.path()).args(["-g", "-w", "-O0", "-DNATIVE", sanitizers, "-fsanitize-recover=address"]);
    assert!(clang.args(["pairs.c", "-o", "pairs"]).status().unwrap().success());
    let settings = "detect_invalid_pointer_pairs=2:halt_on_error=0:suppress_equal_pcs=0:detect_leaks=0";
    let native = Command::new(folder.path().join("pairs")).env("ASAN_OPTIONS", settings).output().unwrap();
    let reports = String::from_utf8_lossy(&native.stderr).into_owned();
    let line = |frame: &str| frame.split("pairs.c:").nth(1)?.split(':').next()?.parse().ok();
    let frames = reports.lines().filter(|line| line.trim_start().starts_with("#0 ") && line.contains(" in test "));
    // Reports also contain the line of the function that owns the objects.
    let of_cases = lines_with(&text, "case ");
    let seen: BTreeSet<usize> = frames.filter_map(line).filter(|line| of_cases.contains(line)).collect();
    assert!(seen.len() > 90 && seen.len() < cases.len(), "{} of {}", seen.len(), cases.len());
    let shown =
        |lines: &BTreeSet<usize>| -> Vec<&str> { lines.iter().filter_map(|n| text.lines().nth(n - 1)).collect() };
    assert_eq!(shown(&found), shown(&seen));
}

/// An object of any kind may end where an object of another kind starts, but need not.
#[test]
fn an_end_may_be_a_start() {
    let objects = ["g", "s", "l", "p", "v", "c"];
    let pairs = objects.iter().flat_map(|a| objects.iter().filter(move |b| *b != a).map(move |b| (a, b)));
    let both =
        pairs.flat_map(|(a, b)| ["==", "!="].map(|operator| format!("if ({a} + 4 {operator} {b}) reach_error();")));
    let cases: Vec<String> = both.enumerate().map(|(n, test)| format!("case {n}: {test} break;\n")).collect();
    let text = format!(
        "#include <stdlib.h>\nextern void reach_error(void);\nextern int nondet_int(void);\nstatic int g[4];\nint main(void) {{\n\
         static int s[4];\nint l[4], *p = malloc(16), *v = __builtin_alloca(16), *c = (int[4]){{0}};\nif (!p) return 0;\n\
         switch (nondet_int()) {{\n{}}}\nfree(p);\n}}\n",
        cases.concat()
    );
    for model in ["LP64", "ILP32"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ends.c"), &text).unwrap();
        verdict(folder.path(), "ends.c", &["--check", "unreach-call", "--data-model", model]);
        assert_eq!(violated(folder.path()), lines_with(&text, "reach_error();"), "{model}");
    }
}

/// With `-fwrapv`, signed overflow is defined. Clang's group `undefined` does not check it then. The check is made only
/// if it is named.
#[test]
fn overflow_that_is_defined_is_checked_by_name_only() {
    let text = "extern int nondet_int(void);\nint main(void) { int x = nondet_int(); return x + 1 > x; }\n";
    let asks: [(&[&str], &str); 5] = [
        (&[], "FALSE(signed-integer-overflow)"),
        (&["--check", "undefined"], "FALSE(signed-integer-overflow)"),
        (&["--check", "signed-integer-overflow"], "FALSE(signed-integer-overflow)"),
        (&["--check", "undefined,signed-integer-overflow"], "FALSE(signed-integer-overflow)"),
        (&["--property", "no-overflow"], "FALSE(no-overflow)"),
    ];
    for (n, (ask, otherwise)) in asks.into_iter().enumerate() {
        for (options, is_defined) in
            [("-fwrapv", true), ("-fno-strict-overflow", true), ("-fno-wrapv", false), ("-fwrapv -fno-wrapv", false)]
        {
            let all: Vec<&str> = ask.iter().copied().chain(["--"]).chain(options.split(' ')).collect();
            let expected = if is_defined && n < 2 { "TRUE" } else { otherwise };
            assert_eq!(verdict_on(text, "a.c", &all), expected, "{all:?}");
        }
    }
    let ends = "int main(void) { int i = 1; while (i > 0) i += 1000000; return 0; }\n";
    assert_eq!(verdict_on(ends, "a.c", &["--property", "termination", "--", "-fwrapv"]), "TRUE");
}

/// The functions that failed assertions call in various C libraries. A function of this name that the program defines
/// is an ordinary function, and so is one with fewer parameters.
#[test]
fn functions_for_failed_assertions_fail() {
    for (name, parameters, arguments) in [
        ("__assert_fail", "const char *, const char *, unsigned, const char *", "\"n\", \"a.c\", 1, \"main\""),
        ("__assert_perror_fail", "int, const char *, unsigned, const char *", "5, \"a.c\", 1, \"main\""),
        ("__assert", "const char *, const char *, int", "\"n\", \"a.c\", 1"),
        ("__assert_rtn", "const char *, const char *, int, const char *", "\"main\", \"a.c\", 1, \"n\""),
        ("__assert_func", "const char *, int, const char *, const char *", "\"a.c\", 1, \"main\", \"n\""),
        ("_assert", "const char *, const char *, unsigned", "\"n\", \"a.c\", 1"),
    ] {
        let program = |declaration: &str, arguments: &str| {
            format!(
                "extern int nondet_int(void);\n{declaration}\nint main(void) {{ if (nondet_int() == 3) {name}({arguments}); return 0; }}\n"
            )
        };
        let fails = program(&format!("extern void {name}({parameters});"), arguments);
        for options in [&[][..], &["--property", "unreach-call"]] {
            assert_eq!(verdict_on(&fails, "a.c", options), "FALSE(unreach-call)", "{name} {options:?}");
        }
        if name == "__assert_fail" {
            continue;
        }
        let named: Vec<String> = parameters.split(", ").zip('a'..).map(|(ty, name)| format!("{ty} {name}")).collect();
        let own = program(&format!("void {name}({}) {{}}", named.join(", ")), arguments);
        assert_eq!(verdict_on(&own, "a.c", &["--property", "unreach-call"]), "TRUE", "{name}: {own}");
        let declaration = format!("extern void {name}(int); extern void reach_error(void);");
        let other = program(&declaration, "1").replace("return 0;", "else return 0; reach_error();");
        let found = verdict_on(&other, "a.c", &["--property", "unreach-call"]);
        assert!(found.starts_with("UNKNOWN("), "{name}: {found}");
    }
}

/// In bitcode, a variable does not exist after `llvm.lifetime.end`, until its scope begins again. That holds for direct
/// accesses, too.
#[test]
fn scopes_of_bitcode_end_where_they_are_marked() {
    let program = |again: &str| {
        format!(
            "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
             target triple = \"x86_64-pc-linux-gnu\"\n\
             declare void @llvm.lifetime.start.p0(i64, ptr)\ndeclare void @llvm.lifetime.end.p0(i64, ptr)\n\
             declare i32 @nondet_int()\n\
             define i32 @main() {{\nentry:\n  %a = alloca i32\n  %n = call i32 @nondet_int()\n\
             call void @llvm.lifetime.start.p0(i64 4, ptr %a)\n  store i32 5, ptr %a\n  %first = load i32, ptr %a\n\
             %is = icmp eq i32 %n, 0\n  br i1 %is, label %behind, label %end\nend:\n\
             call void @llvm.lifetime.end.p0(i64 4, ptr %a)\n  br label %behind\nbehind:\n  {again}\n  ret i32 0\n}}\n"
        )
    };
    let begins = "call void @llvm.lifetime.start.p0(i64 4, ptr %a)";
    for (again, deref) in [
        ("%v = load i32, ptr %a", false),
        ("store i32 6, ptr %a", false),
        ("", true),
        (&format!("{begins}\n  store i32 6, ptr %a\n  %v = load i32, ptr %a"), true),
    ] {
        let [address, deref_verdict] = match deref {
            true => ["TRUE", "TRUE"],
            false => ["FALSE(address)", "FALSE(valid-deref)"],
        };
        let text = program(again);
        assert_eq!(verdict_on(&text, "a.ll", &["--check", "address"]), address, "{again}");
        assert_eq!(verdict_on(&text, "a.ll", &["--property", "valid-deref"]), deref_verdict, "{again}");
    }
}
