//! Programs written as C behave like their originals: compiled by gcc and clang, they have the same exit status and
//! output.

use std::path::Path;
use std::process::{Command, Stdio};

/// The input functions. All return the same value, so the order of calls does not matter.
const INPUTS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static long long value(void) { return atoll(getenv("INPUT")); }
#define GIVES(type, name) __attribute__((weak)) type __VERIFIER_nondet_##name(void) { return (type)value(); }
GIVES(_Bool, bool) GIVES(char, char) GIVES(signed char, schar) GIVES(unsigned char, uchar) GIVES(short, short)
GIVES(unsigned short, ushort) GIVES(int, int) GIVES(unsigned, uint) GIVES(long, long) GIVES(unsigned long, ulong)
GIVES(long long, longlong) GIVES(unsigned long long, ulonglong) GIVES(float, float) GIVES(double, double)
GIVES(__int128, int128) GIVES(unsigned __int128, uint128)
__attribute__((weak)) void reach_error(void) { puts("error"); fflush(stdout); _Exit(77); }
__attribute__((weak)) void __VERIFIER_assume(int holds) { if (!holds) { puts("assumed"); fflush(stdout); _Exit(78); } }
"#;

fn compile(compiler: &str, sources: &[&Path], to: &Path) -> bool {
    let output = Command::new(compiler)
        .args(["-w", "-O1", "-fno-strict-aliasing", "-ffp-contract=off", "-o"])
        .arg(to)
        .args(sources)
        .arg("-lm")
        .output()
        .expect("a compiler");
    if !output.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success()
}

fn run(program: &Path, input: &str) -> (Option<i32>, Vec<u8>) {
    let output = Command::new(program).env("INPUT", input).stdin(Stdio::null()).output().expect("it runs");
    (output.status.code(), output.stdout)
}

fn reduce(source: &Path, to: &Path) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_proviso")).arg("reduce").arg(source).arg("-o").arg(to).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}", source.display());
}

/// Compares a program with its written C, compiled by both compilers, and with its written bitcode.
fn compare(source: &Path, folder: &Path) {
    let inputs = folder.join("inputs.c");
    std::fs::write(&inputs, INPUTS).unwrap();
    let [before, after, text] = ["before", "after", "residual.c"].map(|name| folder.join(name));
    assert!(compile("gcc", &[source, &inputs], &before), "{}", source.display());
    reduce(source, &text);
    // Warnings that are errors in newer compilers (gcc from version 14 on).
    let strict = ["-fsyntax-only", "-Werror=incompatible-pointer-types", "-Werror=int-conversion"];
    let checked = Command::new("gcc").args(strict).arg(&text).output().expect("gcc");
    assert!(checked.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&checked.stderr));
    for compiler in ["gcc", "clang-19"] {
        assert!(compile(compiler, &[&text, &inputs], &after), "{compiler}: the C of {}", source.display());
        for input in ["0", "1", "-1", "3", "100", "5000000000"] {
            assert_eq!(run(&before, input), run(&after, input), "{compiler}, {}, input {input}", source.display());
        }
    }
}

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern int __VERIFIER_nondet_int(void);
struct node { int value; struct node *next; char data[4]; unsigned flag : 3; };
struct point { int x, y; };
union bits { float f; unsigned u; };
typedef struct { double re, im; } complex_t;
static struct node *list;
static const char *names[] = { "a", "b\"c" };
int table[5] = { 1, 2, 3 };
complex_t unit = { 1.0, -0.5 };
static struct point add(struct point a, struct point b) { struct point r = { a.x + b.x, a.y + b.y }; return r; }
static int sum(int n, ...) {
    __builtin_va_list l; __builtin_va_start(l, n);
    int s = 0;
    for (int i = 0; i < n; i++) s += __builtin_va_arg(l, int);
    __builtin_va_end(l);
    return s;
}
static int twice(int x) { return 2 * x; }
static int (*operation)(int) = twice;
int main(void) {
    int n = __VERIFIER_nondet_int() & 7;
    unsigned u = n;
    for (int i = 0; i < n; i++) {
        struct node *p = malloc(sizeof *p);
        memset(p, 0, sizeof *p);
        p->value = table[i % 5];
        p->next = list;
        p->data[2] = 'x';
        p->flag = i;
        list = p;
        if (i == 4) break;
        while (u > 9) { if (u % 3 == 0) goto out; u -= 2; }
    }
out:;
    union bits b; b.f = u * 1.5f;
    struct point q = { 1, n };
    q = add(q, q);
    switch (q.y) { case 2: u++; break; case 4: u += 3; case 6: u <<= n; break; default: u = ~u; }
    printf("%d %s %f %x %d %.2f\n", sum(3, 1, -2, u), names[n & 1], u * 1.5, b.u, operation(n), unit.im);
    int total = 0;
    for (struct node *p = list; p; p = p->next) total = total * 7 + p->value + p->flag + p->data[2];
    long double far[2] = { __builtin_infl(), -__builtin_infl() }, near = far[n & 1];
    printf("%d %d %d\n", near > n, near < n, n + 0.5L > 3);
    char text[16];
    strcpy(text, "total");
    printf("%s %d %lu\n", text, total, strlen(text));
    return (signed char)total >> 1;
}
"#;

#[test]
fn a_program_with_everything_behaves_the_same_as_c() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("p.c");
    std::fs::write(&source, PROGRAM).unwrap();
    compare(&source, folder.path());
    let text = std::fs::read_to_string(folder.path().join("residual.c")).unwrap();
    for part in
        ["struct node *next;", "p->next = ", "while (i < n) {", "#line ", "__VERIFIER_nondet_int()", "table[i % 5]"]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    for ending in ["bc", "ll"] {
        let module = folder.path().join(format!("residual.{ending}"));
        reduce(&source, &module);
        let after = folder.path().join("after");
        assert!(compile("clang-19", &[&module, &folder.path().join("inputs.c")], &after));
        assert_eq!(run(&folder.path().join("before"), "3"), run(&after, "3"), "{ending}");
    }
}

#[test]
fn programs_behave_the_same_as_c() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/c");
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "memory/alloca.c",
        "floats/conversion.c",
        "integers/division.c",
        "control/goto.c",
        "functions/varargs_struct.c",
    ] {
        compare(&tests.join(name), folder.path());
    }
}

const FUNCTION_TYPES: &str = r#"
extern int __VERIFIER_nondet_int(void);
extern int printf(const char *, ...);
typedef int fn(int); typedef const fn *pf; typedef fn other; typedef int (*pg)(int);
static int inc(int x) { return x + 1; }
static pf tab[2] = { inc, inc };
static pg one = inc;
struct q { fn *a; pf b[2]; pg c; other *d; fn **e; } Q = { inc, { inc, inc }, inc, inc, &Q.a };
static int apply(pf f, fn *g, pg h) { return f(1) + g(2) + h(3) + Q.a(0) + Q.b[1](0) + (*Q.e)(4) + Q.d(5); }
static int sum(int n, __builtin_va_list *l) {
    int s = 0;
    for (int i = 0; i < n; i++) s += __builtin_va_arg(*l, int);
    return s;
}
static int total(int n, ...) {
    __builtin_va_list l; __builtin_va_start(l, n);
    int s = sum(n, &l);
    __builtin_va_end(l);
    return s;
}
int main(void) {
    pf l = tab[__VERIFIER_nondet_int() & 1];
    printf("%d %d\n", apply(l, inc, one), total(2, 3, 4));
    return 0;
}
"#;

#[test]
fn pointers_to_types_of_functions_are_pointers_in_c() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("p.c");
    std::fs::write(&source, FUNCTION_TYPES).unwrap();
    compare(&source, folder.path());
    let text = std::fs::read_to_string(folder.path().join("residual.c")).unwrap();
    // The variable that clang makes for the result is never read, so it is not written.
    assert!(!text.contains(" = 0U;"), "{text}");
    let unused = ["-fsyntax-only", "-Werror=unused-but-set-variable"];
    assert!(Command::new("gcc").args(unused).arg(folder.path().join("residual.c")).status().unwrap().success());
}

#[test]
fn an_object_of_no_known_type_is_so_many_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let text = "struct module { char name[12]; int n; }; extern struct module this_module;\n\
                extern void other(void *); int main(void) { other(&this_module); return 0; }\n";
    std::fs::write(folder.path().join("a.c"), text).unwrap();
    let mut proviso = Command::new(env!("CARGO_BIN_EXE_proviso"));
    let arguments = ["reduce", "a.c", "--data-model", "ILP32", "-o", "written.c"];
    assert!(proviso.args(arguments).current_dir(folder.path()).status().unwrap().success());
    let gcc = Command::new("gcc").args(["-m32", "-fsyntax-only", "written.c"]).current_dir(folder.path()).status();
    assert!(gcc.unwrap().success(), "{}", std::fs::read_to_string(folder.path().join("written.c")).unwrap());
}

/// In a written program, violations of all properties are calls of `reach_error`. The command warns if some have no
/// edge in the program.
#[test]
fn what_a_written_program_does_not_ask_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let text = "extern int __VERIFIER_nondet_int(void); extern void *malloc(unsigned long);\n\
                int main(void) { int *p = malloc(4), x = __VERIFIER_nondet_int(); return p[x + 1 == 7]; }\n";
    std::fs::write(folder.path().join("a.c"), text).unwrap();
    let said = |property: &str, to: &str| {
        let mut proviso = Command::new(env!("CARGO_BIN_EXE_proviso"));
        let arguments = ["reduce", "a.c", "--property", property, "-o", to];
        let output = proviso.args(arguments).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    };
    for property in ["valid-memsafety", "valid-memcleanup", "termination"] {
        let warning = said(property, "written.c");
        assert!(warning.contains("does not check all of") && warning.contains(property), "{warning}");
        assert_eq!(said(property, "written.cfa"), "");
    }
    assert_eq!(said("no-overflow", "written.c"), "");
    assert!(std::fs::read_to_string(folder.path().join("written.c")).unwrap().contains("reach_error();"));
    // This program does not access memory, so there is no warning.
    std::fs::write(folder.path().join("a.c"), "int main(void) { return 0; }\n").unwrap();
    assert_eq!(said("valid-memsafety", "written.c"), "");
}

/// The warning does not depend on the verifier for which the program is written.
#[test]
fn what_a_written_program_lacks_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let text = "extern int other(int); extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\n\
                int main(void) { int x = __VERIFIER_nondet_int(); ASSUME(x > 3);\n\
                if (other(x) == x) reach_error(); return 0; }\n";
    std::fs::write(folder.path().join("a.c"), text).unwrap();
    for assume in ["__VERIFIER_assume", "__CPROVER_assume", "__ESBMC_assume"] {
        for command in ["reduce", "instrument"] {
            let arguments = [command, "a.c", &format!("-DASSUME={assume}"), "-o", "written.c"];
            let mut proviso = Command::new(env!("CARGO_BIN_EXE_proviso"));
            let output = proviso.args(arguments).current_dir(folder.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.contains("call of undefined function 'other'"), "{said}");
        }
    }
}

const MANY_FUNCTIONS: &str = r#"
extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
static int one(int a) { return a; }
static int two(int a, long b) { return a + (int)b; }
static int three(char *p, int a, long b) { return *p + a + (int)b; }
int main(void) {
    int n = __VERIFIER_nondet_int(), s = 0;
    void *f[3] = { (void *)one, (void *)two, (void *)three };
    char c = 1;
    for (int i = 0; i < n; i++) {
        int k = __VERIFIER_nondet_int();
        if (k < 0 || k > 2) continue;
        void *g = f[k];
        s += k == 0 ? ((int (*)(int))g)(1) : k == 1 ? ((int (*)(int, long))g)(1, 2) : ((int (*)(char *, int, long))g)(&c, 1, 2);
        if (s == 77777) reach_error();
    }
    return s;
}
"#;

/// A residual program compares a function pointer with the possible callees, and calls each with the arguments of its
/// type.
#[test]
fn functions_that_do_not_take_the_arguments_are_called_as_the_pointer_is() {
    let folder = tempfile::tempdir().unwrap();
    let [source, condition, text, inputs, before, after] =
        ["p.c", "done.txt", "residual.c", "inputs.c", "before", "after"].map(|name| folder.path().join(name));
    std::fs::write(&source, MANY_FUNCTIONS).unwrap();
    std::fs::write(&inputs, INPUTS).unwrap();
    let proviso = |command: &str| {
        let mut proviso = Command::new(env!("CARGO_BIN_EXE_proviso"));
        proviso.arg(command).arg(&source);
        proviso
    };
    let mut verify = proviso("verify");
    verify.args(["--property", "unreach-call", "--analysis", "symex", "--cpu-limit", "1"]);
    verify.arg("--save-condition").arg(&condition).output().unwrap();
    let mut reduce = proviso("reduce");
    let output =
        reduce.arg("--condition").arg(&condition).args(["--reducer", "cfa", "-o"]).arg(&text).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(compile("gcc", &[&source, &inputs], &before));
    for compiler in ["gcc", "clang-19"] {
        assert!(compile(compiler, &[&text, &inputs], &after));
        for input in ["0", "1", "2"] {
            assert_eq!(run(&before, input), run(&after, input), "{compiler}, input {input}");
        }
    }
}

/// Comparisons of the end of an object with the start of another. Both results are possible.
const ENDS: [&str; 12] = [
    "&ga[4] == &gb[0]",
    "!(ga + 4 != gb)",
    "ga + 4 == (int *)&s",
    "&s.b[3] == &t.a",
    "&la[4] == &lb[0] || &lb[4] == &la[0]",
    "(unsigned long)&ga[4] == (unsigned long)&gb[0]",
    "(unsigned long)(ga + 4) - (unsigned long)gb == 0",
    "!(&ga[4] == &gb[0] ? 0 : 1)",
    "(char *)\"abc\" + 4 == (char *)&gb",
    "ga + 4 == la",
    "ga + 4 == gb && x == 3",
    "(ga + 4 == gb) + x == 1",
];

/// clang's front-end takes addresses with constant offsets from two objects for different, so written C hides one of them.
#[test]
fn an_object_may_end_where_another_starts() {
    let folder = tempfile::tempdir().unwrap();
    let proviso = |args: &str| {
        let mut proviso = Command::new(env!("CARGO_BIN_EXE_proviso"));
        let output = proviso.current_dir(&folder).args(args.split_whitespace()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for condition in ENDS {
        let source = format!(
            "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\n\
             int ga[4], gb[4]; struct {{ int a, b[3]; }} s, t;\n\
             int main(void) {{ int x = __VERIFIER_nondet_int(), la[4], lb[4];\n\
             if ({condition}) reach_error();\nreturn 0; }}\n"
        );
        std::fs::write(folder.path().join("a.c"), source).unwrap();
        for command in ["reduce", "instrument"] {
            proviso(&format!("{command} a.c --property unreach-call -o written.c"));
            for file in ["a.c", "written.c"] {
                let found = proviso(&format!("verify {file} --property unreach-call --timeout 30 -q"));
                assert_eq!(found.trim(), "FALSE(unreach-call)", "{condition}: {file} of {command}");
            }
        }
    }
}
