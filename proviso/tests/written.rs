//! Programs written by `proviso reduce`, `instrument` and `slice` behave like their originals. The tests compile and
//! run both.

use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The functions that the programs call. All inputs have the same value. `say` prints without buffering.
const OTHERS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int __VERIFIER_nondet_int(void) { return atoi(getenv("INPUT")); }
void say(int what) { char text[20]; int n = snprintf(text, sizeof text, "say %d\n", what); (void)!write(1, text, n); }
void reach_error(void) { say(-1); _Exit(77); }
"#;

fn proviso(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_proviso")).args(args).output().expect("it runs")
}

fn must(command: &mut Command) {
    let output = command.output().expect("a program that can be run");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::write(bench.path("others.c"), OTHERS).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn compile(&self, compiler: &str, flags: &[&str], source: &Path, to: &str) -> PathBuf {
        let to = self.path(to);
        let mut command = Command::new(compiler);
        must(
            command
                .args(["-w", "-fno-strict-aliasing"])
                .args(flags)
                .arg(source)
                .arg(self.path("others.c"))
                .arg("-lm")
                .arg("-o")
                .arg(&to),
        );
        to
    }

    /// Runs a command that writes a program. Returns the path of the program.
    fn write(&self, args: &[&str], name: &str) -> PathBuf {
        let to = self.path(name);
        let output = proviso(&[args, &["-o", to.to_str().unwrap()]].concat());
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        to
    }
}

/// Runs a program. Returns its exit status and output.
fn run(program: &Path, input: i32) -> (Option<i32>, String) {
    let mut command = Command::new(program);
    let output = command.env("INPUT", input.to_string()).stdin(Stdio::null()).output().expect("it runs");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn what_runs_when_a_program_ends_runs_when_the_written_one_does() {
    let bench = Bench::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/exits.c");
    let file = source.to_str().unwrap();
    for define in ["-DALONE", "-DSURROUNDED"] {
        let original = bench.compile("clang-19", &[define], &source, "original");
        let slice = bench.write(&["slice", file, define, "-c", "say"], "slice.bc");
        let written = [
            bench.write(&["reduce", file, define], "reduced.c"),
            bench.write(&["instrument", file, define, "--check", "signed-integer-overflow"], "instrumented.c"),
            bench.write(&["instrument", file, define, "--check", "address,leak"], "checked.c"),
        ];
        let mut programs = vec![(bench.compile("clang-19", &[], &slice, "slice"), true)];
        for (n, (text, compiler)) in written.iter().zip(["clang-19", "gcc", "clang-19"]).enumerate() {
            programs.push((bench.compile(compiler, &[], text, &format!("written{n}")), false));
        }
        // Each handler is registered alone, and together with all others.
        let registered = (0..9).map(|bit| 1 << bit).chain([0, 0x3f, 0x7f, 0xff, 0x1ff]);
        for input in registered.flat_map(|mask| (0..12).map(move |end| mask << 4 | end)) {
            let (status, output) = run(&original, input);
            let said = |text: &str| text.lines().filter(|line| line.starts_with("say")).collect::<Vec<_>>().join(" ");
            for (program, is_slice) in &programs {
                let (its_status, its_output) = run(program, input);
                let same = match is_slice {
                    true => said(&output) == said(&its_output),
                    false => (status, &output) == (its_status, &its_output),
                };
                assert!(
                    same,
                    "{define}, input {input:#x}, {}: {status:?} {output:?}, not {its_status:?} {its_output:?}",
                    program.display()
                );
            }
        }
    }
}

/// A file with a variable, parameters, results, members, elements and so on of a type.
fn file_of_type(name: &str, declaration: &str, value: &str, number: &str, is_fixed: bool) -> String {
    let (reads, passes) = match is_fixed {
        true => ("", ""),
        false => ("T x = __builtin_va_arg(ap, T); r = show(x, n);", ", global"),
    };
    format!(
        "extern void say(long long);
{declaration}
T global_{name} = {value};
#define global global_{name}
static T table[3] = {{{value}}};
struct holder {{ char c; T m; short s; }};
static struct holder held = {{1, {value}, 2}};
static long long show(T x, int n) {{ return {number}; }}
static T pass(int a, T x, int b) {{ volatile int k = a + b; T y = x; if (k == 3) return y; return x; }}
static long long variadic(int n, ...) {{
    long long r = 0;
    __builtin_va_list ap; __builtin_va_start(ap, n);
    for (int i = 0; i < n; i++) (void)__builtin_va_arg(ap, int);
    {reads}
    __builtin_va_end(ap);
    return r;
}}
void test_{name}(int n) {{
    say(show(global, n)); say(show(pass(1, global, 2), n)); say(show(pass(n, table[0], 2), n));
    T local[2]; local[0] = global; local[1] = table[0];
    T *p = &local[n & 1];
    say(show(*p, n));
    struct holder h = held, g;
    g = h; g.c += n;
    say(show(g.m, n) + g.c + g.s);
    T (*f)(int, T, int) = pass;
    say(show(f(n, h.m, 1), n));
    say(show(*(n > 1 ? &global : &held.m), n));
    say(variadic(1, n{passes})); say(variadic(2, n, n{passes}));
    int m = (n & 3) + 1;
    T vla[m][2][m]; T (*q)[2][m] = vla;
    q[m - 1][1][0] = global;
    say(show(vla[m - 1][1][0], n));
    T *heap = __builtin_alloca(m * sizeof(T));
    heap[m - 1] = *p;
    say(show(heap[m - 1], n));
    static T kept; kept = *p; say(show(kept, n));
    say(sizeof(T) + sizeof h);
}}
"
    )
}

#[test]
fn programs_of_all_types_are_written() {
    // On 32-bit targets, gcc has no 128-bit integers.
    [("--64", &["clang-19", "gcc"][..]), ("--32", &["clang-19"])].into_par_iter().for_each(|(width, compilers)| {
        let bench = Bench::new();
        let (mut files, mut calls, mut main) = (Vec::new(), String::new(), String::new());
        for line in include_str!("data/types.txt").lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split(" | ").collect();
            let &[name, declaration, value, number, ref flags @ ..] = &fields[..] else { panic!("{line}") };
            let flags: Vec<&str> = flags.iter().flat_map(|flags| flags.split(' ')).collect();
            if flags.contains(&"64") && width != "--64" {
                continue;
            }
            let path = bench.path(&format!("{name}.c"));
            std::fs::write(&path, file_of_type(name, declaration, value, number, flags.contains(&"fixed"))).unwrap();
            files.push(path.to_str().unwrap().to_owned());
            main += &format!("extern void test_{name}(int);\n");
            calls += &format!("    test_{name}(n);\n");
        }
        let path = bench.path("main.c");
        let start = "extern int __VERIFIER_nondet_int(void);\nint main(void) {\n    int n = __VERIFIER_nondet_int();\n";
        std::fs::write(&path, format!("{main}{start}{calls}    return 0;\n}}\n")).unwrap();
        files.push(path.to_str().unwrap().to_owned());
        let machine = width.replace("--", "-m");
        let mut compile = Command::new("clang-19");
        let original = bench.path("original");
        must(compile.args(["-w", &machine]).args(&files).arg(bench.path("others.c")).arg("-o").arg(&original));
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        for (command, options) in [("reduce", &[][..]), ("instrument", &["--check", "address"])] {
            let written = bench.write(&[&[command, width], &files[..], options].concat(), "written.c");
            for compiler in compilers {
                let program = bench.compile(compiler, &[&machine, "-O1"], &written, "written");
                for input in [0, 1, 2, 5] {
                    let (expected, found) = (run(&original, input), run(&program, input));
                    assert_eq!(expected, found, "{command} {width} {compiler} {input}");
                }
            }
        }
    });
}

/// Statements, calls, names, and constants.
#[test]
fn programs_of_all_statements_are_written() {
    let bench = Bench::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/statements.c");
    let file = source.to_str().unwrap();
    for width in ["--64", "--32"] {
        let machine = width.replace("--", "-m");
        let original = bench.compile("clang-19", &[&machine, "-std=c17"], &source, "original");
        for command in ["reduce", "instrument"] {
            let written = bench.write(&[command, file, width, "--std", "c17"], "written.c");
            for compiler in ["clang-19", "gcc"] {
                let program = bench.compile(compiler, &[&machine, "-O1"], &written, "written");
                for input in [0, 1, 2, 5, -1] {
                    let (expected, found) = (run(&original, input), run(&program, input));
                    assert_eq!(expected, found, "{command} {width} {compiler} {input}");
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    let bench = Bench::new();
    let source = bench.path("p.c");
    for (declaration, number) in [
        ("typedef _BitInt(200) T; T global;", "x"),
        ("typedef int T __attribute__((vector_size(64))); T global;", "x[1]"),
    ] {
        let text = format!(
            "{declaration}\nextern int f(void);\nint main(void) {{\n    T x = global; global = x + x;\n    return {number};\n}}\n"
        );
        std::fs::write(&source, text).unwrap();
        for command in ["reduce", "instrument"] {
            for name in ["out.c", "out.bc"] {
                let out = bench.path(name);
                let output = proviso(&[command, source.to_str().unwrap(), "-o", out.to_str().unwrap()]);
                let message = String::from_utf8_lossy(&output.stderr).into_owned();
                assert_eq!(output.status.code(), Some(65), "{message}");
                assert!(message.contains("C cannot express") && message.contains("p.c:4"), "{message}");
                assert!(!out.exists());
            }
        }
    }
}

/// A call whose values C passes in other registers than LLVM is refused. The C would compile, and be another program.
#[test]
fn calls_that_c_makes_in_another_way_are_refused() {
    let bench = Bench::new();
    let source = bench.path("p.c");
    let quotient = |kind: &str| format!("volatile _Complex {kind} a = 1, b = 3; a = a / b; return __real__ a > 0;");
    let squares = "volatile double x = 4; return creal(csqrt(x));".to_owned();
    let absolute = "volatile _Complex float z = 3; return cabsf(z);".to_owned();
    let mut bodies: Vec<(String, &str)> = ["float", "double"]
        .into_iter()
        .flat_map(|kind| ["--64", "--32"].map(|width| (quotient(kind), width)))
        .collect();
    bodies.extend([(squares, "--64"), (absolute, "--64"), ("return div(7, 2).rem;".to_owned(), "--32")]);
    let mut refused = 0;
    for (body, width) in bodies {
        let text = format!("#include <complex.h>\n#include <stdlib.h>\nint main(void) {{\n    {body}\n}}\n");
        std::fs::write(&source, text).unwrap();
        let machine = width.replace("--", "-m");
        let original = bench.compile("clang-19", &[&machine], &source, "original");
        for command in ["reduce", "instrument"] {
            let out = bench.path("out.c");
            let output = proviso(&[command, source.to_str().unwrap(), width, "-o", out.to_str().unwrap()]);
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.code() == Some(65) {
                assert!(message.contains("C cannot express "), "{message}");
                refused += 1;
                continue;
            }
            // The front-end may compute the result itself.
            let program = bench.compile("clang-19", &[&machine], &out, "written");
            assert_eq!(run(&original, 0), run(&program, 0), "{command} {width} {body}");
        }
    }
    assert!(refused > 6, "{refused}");
}
