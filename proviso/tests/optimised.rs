//! Verdicts on bitcode that clang optimised: intrinsics that C without optimisation does not have.

use std::path::Path;
use std::process::Command;

/// The last line of the report on a file.
fn verdict(file: &Path, options: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_proviso"))
        .args(["verify", "--timeout", "60", "--cpu-limit", "60"])
        .arg(file)
        .args(options)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

/// Compiles C with these flags, and checks that the bitcode contains the intrinsics. Then verifies it.
fn of_c(text: &str, flags: &[&str], intrinsics: &[&str], options: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (source, bitcode) = (folder.path().join("a.c"), folder.path().join("a.ll"));
    std::fs::write(&source, text).unwrap();
    let mut clang = Command::new("clang-19");
    clang.args(["-g", "-S", "-emit-llvm"]).args(flags).arg(&source).arg("-o").arg(&bitcode);
    assert!(clang.status().unwrap().success());
    let assembly = std::fs::read_to_string(&bitcode).unwrap();
    for intrinsic in intrinsics {
        assert!(assembly.contains(&format!("@llvm.{intrinsic}")), "{flags:?}: no {intrinsic}");
    }
    verdict(&bitcode, options)
}

fn of_assembly(text: &str, options: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ll");
    std::fs::write(&file, text).unwrap();
    verdict(&file, options)
}

const TARGET: &str =
    "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
target triple = \"x86_64-pc-linux-gnu\"";

const UNREACH: [&str; 2] = ["--property", "unreach-call"];
const ADDRESS: [&str; 2] = ["--check", "address"];

/// A loop that clang vectorises with masked accesses. `from` has `length` elements, and `wanted` of them are read.
fn masked(length: usize, wanted: usize, expected: i32) -> String {
    format!(
        "void reach_error(void); int __VERIFIER_nondet_int(void);
        __attribute__((noinline)) void copy(int *restrict to, const int *restrict from, const int *restrict is_wanted, int n) {{
            for (int i = 0; i < n; i++) if (is_wanted[i]) to[i] = from[i] + 1;
        }}
        int main(void) {{
            int to[16], from[{length}], is_wanted[16];
            int x = __VERIFIER_nondet_int();
            for (int i = 0; i < 16; i++) to[i] = -i;
            for (int i = 0; i < {length}; i++) from[i] = x;
            for (int i = 0; i < 16; i++) is_wanted[i] = i < {wanted} && i != 3;
            copy(to, from, is_wanted, 16);
            int last = to[15], third = to[3], first = to[0];
            if (last != -15 || third != -3 || first != (int)((unsigned)x + {expected}u)) reach_error();
            return 0;
        }}"
    )
}

#[test]
fn lanes_that_are_masked_off_are_not_accessed() {
    let (flags, intrinsics) = (["-O3", "-mavx2", "-fno-inline"], ["masked.load", "masked.store"]);
    for options in [UNREACH, ADDRESS] {
        assert_eq!(of_c(&masked(11, 11, 1), &flags, &intrinsics, &options), "TRUE");
    }
    assert_eq!(of_c(&masked(11, 11, 2), &flags, &intrinsics, &UNREACH), "FALSE(unreach-call)");
    assert_eq!(of_c(&masked(11, 12, 1), &flags, &intrinsics, &ADDRESS), "FALSE(address)");
}

/// A loop that clang vectorises with gathers and scatters. `accessed` lanes may be accessed, at indices less than
/// `length`.
fn gathered(accessed: usize, length: usize, expected: i32) -> String {
    format!(
        "void reach_error(void);
        __attribute__((noinline)) void put(int *restrict to, const int *restrict from, const int *restrict at, int n) {{
            for (int i = 0; i < n; i++) if (at[i] >= 0) to[3 * i] = from[at[i]];
        }}
        int main(void) {{
            int to[34], from[5] = {{10, 11, 12, 13, 14}}, at[16];
            for (int i = 0; i < 34; i++) to[i] = -1;
            for (int i = 0; i < 16; i++) at[i] = i < {accessed} ? i % ({length} + 1) - 1 : -9;
            put(to, from, at, 16);
            if (to[0] != -1 || to[3] != 10 || to[33] != {expected} || to[32] != -1) reach_error();
            return 0;
        }}"
    )
}

#[test]
fn gathers_and_scatters_access_lanes_that_are_not_masked_off() {
    let flags = ["-O3", "-march=skylake-avx512", "-fno-inline"];
    let intrinsics = ["masked.gather", "masked.scatter"];
    for options in [UNREACH, ADDRESS] {
        assert_eq!(of_c(&gathered(12, 5, 14), &flags, &intrinsics, &options), "TRUE");
    }
    assert_eq!(of_c(&gathered(12, 5, 13), &flags, &intrinsics, &UNREACH), "FALSE(unreach-call)");
    assert_eq!(of_c(&gathered(14, 5, 14), &flags, &intrinsics, &ADDRESS), "FALSE(address)");
    assert_eq!(of_c(&gathered(12, 6, 14), &flags, &intrinsics, &ADDRESS), "FALSE(address)");
}

/// A switch that clang converts to a table of relative addresses.
fn named(expected: char) -> String {
    format!(
        "void reach_error(void); int __VERIFIER_nondet_int(void);
        __attribute__((noinline)) static const char *name(int n) {{
            switch (n) {{
            case 0: return \"zero\"; case 1: return \"one\"; case 2: return \"two\"; case 3: return \"three\";
            case 4: return \"four\"; default: return \"many\";
            }}
        }}
        int main(void) {{
            int n = __VERIFIER_nondet_int();
            const char *text = name(n);
            char wanted = n == 0 ? 'z' : n == 1 ? 'o' : n == 2 || n == 3 ? 't' : n == 4 ? '{expected}' : 'm';
            if (text[0] != wanted) reach_error();
            return text[3] == 0;
        }}"
    )
}

#[test]
fn tables_of_relative_addresses_have_their_targets() {
    for level in ["-O1", "-O2", "-O3"] {
        let of_c = |text: &str, options: &[&str]| of_c(text, &[level], &["load.relative"], options);
        assert_eq!(of_c(&named('f'), &UNREACH), "TRUE");
        assert_eq!(of_c(&named('f'), &ADDRESS), "TRUE");
        assert_eq!(of_c(&named('g'), &UNREACH), "FALSE(unreach-call)");
    }
}

/// A program that reads an entry of a table of relative addresses at an offset in bytes.
fn entry(offset: i64) -> String {
    let value = |name: &str| {
        format!("i32 trunc (i64 sub (i64 ptrtoint (ptr @{name} to i64), i64 ptrtoint (ptr @table to i64)) to i32)")
    };
    format!(
        "{TARGET}
        @a = private constant [2 x i8] c\"a\\00\"
        @b = private constant [2 x i8] c\"b\\00\"
        @table = private unnamed_addr constant [2 x i32] [{}, {}], align 4
        declare void @reach_error()
        declare ptr @llvm.load.relative.i64(ptr, i64)
        define i32 @main() {{
            %target = call ptr @llvm.load.relative.i64(ptr @table, i64 {offset})
            %byte = load i8, ptr %target
            %is_b = icmp eq i8 %byte, 98
            br i1 %is_b, label %end, label %error
        error:
            call void @reach_error()
            unreachable
        end:
            ret i32 0
        }}",
        value("a"),
        value("b")
    )
}

#[test]
fn offsets_into_tables_of_relative_addresses_may_be_invalid() {
    assert_eq!(of_assembly(&entry(4), &UNREACH), "TRUE");
    assert_eq!(of_assembly(&entry(0), &UNREACH), "FALSE(unreach-call)");
    for outside in [8, 6, -4, -1] {
        assert_eq!(of_assembly(&entry(outside), &ADDRESS), "FALSE(address)", "{outside}");
    }
    let unaligned = of_assembly(&entry(2), &UNREACH);
    assert!(unaligned.starts_with("UNKNOWN(a part of an entry of a table"), "{unaligned}");
}

/// Three-way comparisons, the last with this result.
fn compared(expected: i32) -> String {
    format!(
        "{TARGET}
        declare void @reach_error()
        declare i32 @__VERIFIER_nondet_int()
        declare i32 @llvm.scmp.i32.i64(i64, i64)
        declare i8 @llvm.ucmp.i8.i32(i32, i32)
        declare <2 x i64> @llvm.scmp.v2i64.v2i16(<2 x i16>, <2 x i16>)
        define i32 @main() {{
            %x = call i32 @__VERIFIER_nondet_int()
            %wide = sext i32 %x to i64
            %s = call i32 @llvm.scmp.i32.i64(i64 %wide, i64 -3)
            %u = call i8 @llvm.ucmp.i8.i32(i32 %x, i32 -3)
            %is_less = icmp slt i32 %x, -3
            %is_greater = icmp sgt i32 %x, -3
            %a = zext i1 %is_greater to i32
            %b = zext i1 %is_less to i32
            %sign = sub i32 %a, %b
            %right.s = icmp eq i32 %s, %sign
            %up = icmp ugt i32 %x, -3
            %down = icmp ult i32 %x, -3
            %same = icmp eq i32 %x, -3
            %u.up = icmp eq i8 %u, 1
            %u.down = icmp eq i8 %u, -1
            %u.same = icmp eq i8 %u, 0
            %right.up = icmp eq i1 %up, %u.up
            %right.down = icmp eq i1 %down, %u.down
            %right.same = icmp eq i1 %same, %u.same
            %v = call <2 x i64> @llvm.scmp.v2i64.v2i16(<2 x i16> <i16 5, i16 -1>, <2 x i16> <i16 5, i16 0>)
            %v0 = extractelement <2 x i64> %v, i32 0
            %v1 = extractelement <2 x i64> %v, i32 1
            %right.v0 = icmp eq i64 %v0, 0
            %right.v1 = icmp eq i64 %v1, {expected}
            %c = and i1 %right.s, %right.up
            %d = and i1 %right.down, %right.same
            %e = and i1 %right.v0, %right.v1
            %f = and i1 %c, %d
            %all = and i1 %e, %f
            br i1 %all, label %end, label %error
        error:
            call void @reach_error()
            unreachable
        end:
            ret i32 0
        }}"
    )
}

#[test]
fn three_way_comparisons_are_exact() {
    assert_eq!(of_assembly(&compared(-1), &UNREACH), "TRUE");
    assert_eq!(of_assembly(&compared(1), &UNREACH), "FALSE(unreach-call)");
}

/// An error function with only masked stores, which clang inlines.
#[test]
fn inlined_error_functions_may_only_store_masked() {
    let program = |condition: &str| {
        format!(
            "int g[64], c[64], m[64];
            static void fail(void) {{ for (int i = 0; i < 64; i++) if (m[i] > 0) g[i] = c[i]; }}
            int __VERIFIER_nondet_int(void);
            int main(void) {{ int n = __VERIFIER_nondet_int(); if ({condition}) fail(); return g[3]; }}"
        )
    };
    let of_c = |condition: &str| {
        let options = ["--property", "unreach-call", "--error-function", "fail"];
        of_c(&program(condition), &["-O3", "-mavx2"], &["masked.store"], &options)
    };
    assert_eq!(of_c("n == 7"), "FALSE(unreach-call)");
    assert_eq!(of_c("n > 7 && n < 9 && n * 2 + c[0] + m[0] == 17"), "TRUE");
}

/// Addresses of a variable whose scope ends are stored by masked accesses, in the function itself or in another one.
#[test]
fn masked_stores_keep_addresses() {
    let program = |keep: &str| {
        format!(
            "int *keep[64]; int m[64]; volatile int one = 1, n = 16;
            static inline void fill(int *p, int k) {{ for (int i = 0; i < k; i++) if (m[i] > 0) keep[i] = p; }}
            int main(void) {{
                int k = n;
                for (int i = 0; i < 64; i++) m[i] = one;
                {{ int x = one; {keep} }}
                return *keep[3];
            }}"
        )
    };
    for keep in ["for (int i = 0; i < k; i++) if (m[i] > 0) keep[i] = &x;", "fill(&x, k);"] {
        let flags = ["-O3", "-mavx2", "-Xclang", "-disable-lifetime-markers"];
        let unmarked = of_c(&program(keep), &flags, &["masked.store"], &ADDRESS);
        assert!(unmarked.starts_with("UNKNOWN(clang does not mark the end"), "{keep}: {unmarked}");
    }
}

/// Vectors of pointers to objects of the caller of an entry function, loaded with and without masks.
#[test]
fn pointers_in_vectors_lead_to_objects_of_the_caller() {
    let program = |condition: &str, check: &str| {
        format!(
            "void reach_error(void);
            void f(int **restrict p, const int *restrict m, long *restrict o) {{
                _Pragma(\"clang loop vectorize_width(4) interleave_count(1) unroll(disable)\")
                for (int i = 0; i < 4; i++) {condition} o[i] = (long)p[i];
            }}
            void entry(int **p) {{
                long o[4] = {{0}};
                int m[4] = {{0, 0, 1, 0}};
                f(p, m, o);
                {check}
            }}"
        )
    };
    let options =
        ["--property", "unreach-call", "--entry", "entry", "--entry-array-length", "4", "--entry-pointers", "valid"];
    for (condition, intrinsics) in [("if (m[i] > 0)", &["masked.load"][..]), ("", &[])] {
        let of_c =
            |check: &str| of_c(&program(condition, check), &["-O3", "-fno-inline", "-mavx2"], intrinsics, &options);
        assert_eq!(of_c("if (*(int *)o[2] == 12345) reach_error();"), "FALSE(unreach-call)", "{condition}");
        assert_eq!(of_c("*(int *)o[2] = 1; if (p[2] != (int *)o[2]) reach_error();"), "TRUE", "{condition}");
    }
}

/// The address of a variable whose scope ends is passed to a function that keeps it, or only reads the variable.
#[test]
fn calls_keep_addresses_of_variables_without_scopes() {
    let program = |keep: &str| {
        format!(
            "int *kept; volatile int one = 1; int other;
            __attribute__((noinline)) int peek(int *p) {{ if (one) {keep}; return *p + one; }}
            __attribute__((noinline)) int entry(int n) {{
                kept = &other;
                {{ int x = n; peek(&x); }}
                return *kept;
            }}
            int main(void) {{ return entry(one); }}"
        )
    };
    for flags in [&["-O1"][..], &["-O2"], &["-O1", "-g0"], &["-O0", "-g0"]] {
        let flags = [flags, &["-Xclang", "-disable-lifetime-markers"]].concat();
        let kept = of_c(&program("kept = p"), &flags, &[], &ADDRESS);
        assert!(kept.starts_with("UNKNOWN(clang does not mark the end"), "{flags:?}: {kept}");
        assert_eq!(of_c(&program("one = *p"), &flags, &[], &ADDRESS), "TRUE", "{flags:?}");
    }
}

/// Memory to which only a variable points that the code does not need any more, when the program ends in another way than
/// by the return of `main`. The C program does not lose it. If the variable was overwritten, it does; the code is the same.
#[test]
fn memory_of_variables_that_the_code_lacks_is_not_lost() {
    const START: &str = "#include <assert.h>
#include <stdlib.h>
int __VERIFIER_nondet_int(void);
int other;
static int any(void) { return __VERIFIER_nondet_int() & 3; }
static char write_and_read(char *p) { p[any()] = (char)any(); return p[any()]; }
";
    const NONE: &str = "";
    // A function, and the body of `main`.
    let programs = [
        (NONE, "char *p = malloc(4); if (write_and_read(p) == 1) exit(1); free(p);"),
        (NONE, "char *p = malloc(4); if (write_and_read(p) == 1) abort(); free(p);"),
        (NONE, "char *p = malloc(4); assert(write_and_read(p) != 1); free(p);"),
        (NONE, "char *p = malloc(4); if (write_and_read(p) == 1) { p = 0; exit(1); } free(p);"),
        // The last iteration overwrites the temporary of the variable that points to the older object.
        (
            NONE,
            "char *p = 0, *q = 0; for (int i = 0; i < 2; i++) { q = p; p = malloc(4); i += write_and_read(p) == 3; } exit(0);",
        ),
        (
            "__attribute__((noinline)) void stop(int k) { if (k == 1) exit(2); }",
            "char *p = malloc(4); stop(write_and_read(p)); free(p);",
        ),
        // Nothing uses the result of a call.
        (
            "__attribute__((noinline)) char *make(void) { char *p = malloc(4); other = write_and_read(p); return p; }",
            "char *p = make(); exit(other);",
        ),
        // The optimised function has no result.
        (
            "__attribute__((noinline)) static char *make(void) { char *p = malloc(4); other = write_and_read(p); return p; }",
            "char *p = make(); exit(other);",
        ),
        // Nothing uses a parameter after the check.
        (
            "__attribute__((noinline)) static int use(char *p) { if (write_and_read(p) == 1) exit(3); return 1; }",
            "char *p = malloc(4); if (use(p)) free(p);",
        ),
    ];
    let lost = ["--property", "valid-memtrack"];
    for (functions, body) in programs {
        let text = format!("{START}{functions}\nint main(void) {{ {body} return 0; }}");
        let expected = if body.contains("p = 0; exit") { "FALSE(valid-memtrack)" } else { "TRUE" };
        assert_eq!(of_c(&text, &["-O0"], &[], &lost), expected, "{body}");
        for flags in [&["-O1"][..], &["-O2", "-m32"], &["-O2", "-g0"], &["-O0", "-g0"]] {
            let verdict = of_c(&text, flags, &[], &lost);
            let is_undecided = verdict.contains("optimised code does not show which variables still point to it");
            assert!(verdict == expected || is_undecided, "{flags:?} {body}: {verdict}");
        }
    }
}

/// Memory is lost in optimised code if no function that had a pointer to it is executed any more.
#[test]
fn functions_that_return_lose_memory() {
    let start = "#include <stdlib.h>
int __VERIFIER_nondet_int(void);
struct node { struct node *next; int value; } *head;
static int any(void) { return __VERIFIER_nondet_int() & 3; }
__attribute__((noinline)) int forget(int x) { char *p = malloc(4); p[x] = (char)x; return p[any()]; }
__attribute__((noinline)) void drop(void) { head = head->next; }
__attribute__((noinline)) void add(void) { struct node *n = malloc(sizeof *n); n->value = any(); n->next = head; head = n; }
";
    let programs = [
        "if (forget(any()) == 1) exit(1);",
        "if (forget(any()) == 1) for (;;) any();",
        "char *p = malloc(4); p[any()] = (char)any(); if (p[any()] == 1) return 1; free(p);",
        "add(); add(); drop(); if (any() == 2) abort(); free(head);",
    ];
    for body in programs {
        let text = format!("{start}int main(void) {{ {body} return 0; }}");
        for flags in [&["-O0"][..], &["-O1"], &["-O2", "-m32"], &["-O2", "-g0"], &["-O0", "-g0"]] {
            let verdict = of_c(&text, flags, &[], &["--property", "valid-memsafety"]);
            assert_eq!(verdict, "FALSE(valid-memtrack)", "{flags:?} {body}");
        }
    }
}

/// In a written program, main's variables are roots of leak checks only if its code contains them.
#[test]
fn written_checks_of_optimised_code_find_no_leak_at_an_exit() {
    let text = "#include <stdlib.h>
int __VERIFIER_nondet_int(void);
int main(void) {
    char *p = malloc(4);
    p[__VERIFIER_nondet_int() & 3] = (char)__VERIFIER_nondet_int();
    if (p[__VERIFIER_nondet_int() & 3] == 1) exit(1);
    if (!BAD) free(p);
    return 0;
}";
    for (bad, expected) in [("-DBAD=0", "TRUE"), ("-DBAD=1", "FALSE(unreach-call)")] {
        let folder = tempfile::tempdir().unwrap();
        let [source, bitcode, written] = ["a.c", "a.bc", "b.c"].map(|name| folder.path().join(name));
        std::fs::write(&source, text).unwrap();
        let mut clang = Command::new("clang-19");
        clang.args(["-g", "-O1", "-c", "-emit-llvm", bad]).arg(&source).arg("-o").arg(&bitcode);
        assert!(clang.status().unwrap().success());
        let mut instrument = Command::new(env!("CARGO_BIN_EXE_proviso"));
        instrument.arg("instrument").arg(&bitcode).args(["--check", "leak", "-o"]).arg(&written);
        assert!(instrument.status().unwrap().success());
        assert_eq!(verdict(&written, &UNREACH), expected, "{bad}");
    }
}

#[test]
fn inputs_may_be_addresses_that_optimised_code_converts() {
    let program = |condition: &str| {
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\nint x;
            __attribute__((noinline)) int is_near(int *p, unsigned long *r) {{ int old = *p; return {condition} + old; }}
            int main(void) {{
                volatile int a[2] = {{0, 0}};
                unsigned long r;
                if (scanf(\"%lu\", &r) != 1 || !is_near(&x, &r)) return 0;
                *(int *)(r & ~3ul) = 1;
                a[x + 1] = 1;
                return a[0];
            }}"
        )
    };
    // Without the names of values, a difference of numbers looks like one of pointers.
    let difference = program("*r - (unsigned long)p < 4");
    // clang merges the number with that of the check.
    let merged = program("(((unsigned long)p & -4ul) - *r <= 3)");
    let checked = ["-O1", "-fsanitize=alignment", "-fsanitize-trap=all"];
    assert_eq!(of_c(&difference, &["-O1"], &[], &ADDRESS), "FALSE(address)");
    assert_eq!(of_c(&difference, &["-O2"], &[], &ADDRESS), "FALSE(address)");
    assert_eq!(of_c(&merged, &checked, &[], &ADDRESS), "FALSE(address)");
}
