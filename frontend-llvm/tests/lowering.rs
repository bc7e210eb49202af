//! Tests of the lowering of C constructs: the operations of a function as text, without the numbers of variables.

use cfa::{InputKind, Op, Program};
use frontend_llvm::{DataModel, Error, Options, load};

fn options(source: &str, extension: &str) -> (tempfile::TempDir, Options) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("test.{extension}"));
    std::fs::write(&path, source).unwrap();
    (folder, Options { inputs: vec![path.into()], ..Options::default() })
}

fn lower(source: &str) -> Program {
    let (_folder, options) = options(source, "c");
    let program = load(&options).and_then(|module| module.lower()).unwrap();
    cfa::validate::validate(&program).unwrap();
    program
}

/// The operations of a function's edges in order of construction, without those between blocks.
fn operations(program: &Program, function: &str) -> Vec<String> {
    let func = program.func_by_name(function).expect("the function is there");
    program
        .edges
        .iter()
        .filter(|&(id, edge)| program.func_of(id) == func && edge.op != Op::Skip)
        .map(|(_, edge)| without_numbers(&cfa::text::operation(program, &edge.op)))
        .collect()
}

/// `x` for `x.v3`.
fn without_numbers(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(dot) = rest.find(".v") {
        let digits = rest[dot + 2..].chars().take_while(char::is_ascii_digit).count();
        result.push_str(&rest[..if digits > 0 { dot } else { dot + 2 }]);
        rest = &rest[dot + 2 + digits..];
    }
    result + rest
}

fn check(source: &str, function: &str, expected: &[&str]) {
    let program = lower(source);
    assert_eq!(operations(&program, function), expected, "{source}");
}

#[test]
fn an_assignment_is_one_edge() {
    check(
        "int f(int x) { x = x + 1; return x * 2; } int main(void) { return f(1); }",
        "f",
        &["x := (x + 1:32)", "return (x * 2:32)"],
    );
}

#[test]
fn a_condition_is_one_branch() {
    check(
        "int f(int x) { if (x < 3 && x != 0) return 1; return 2; } int main(void) { return f(1); }",
        "f",
        &[
            "if (x <s 3:32) means true",
            "else (3:32 <=s x) means false",
            "if ~(x == 0:32) means true",
            "else (x == 0:32) means false",
            "v1 := 1:32",
            "v1 := 2:32",
            "return v1",
        ],
    );
}

#[test]
fn a_branch_says_what_it_means_for_the_condition_in_c() {
    // The compiler swaps the edges of a negation.
    check(
        "void g(void) {} void __VERIFIER_assume(int); void f(int *p, int a) { if (!p) g(); while (!(a > 9)) a++; __VERIFIER_assume(a > 5); }\n\
         int main(void) { f(0, 1); return 0; }",
        "f",
        &[
            "if ~(p == 0:64) means false",
            "else (p == 0:64) means true",
            "call g.f1 ()",
            "if (a <=s 9:32) means true",
            "else (9:32 <s a) means false",
            "a := (a + 1:32)",
            "if (a <=s 5:32) means false",
            "else (5:32 <s a) means true",
            "halt assumed",
            "return",
        ],
    );
}

#[test]
fn old_values_are_saved_before_an_assignment() {
    // The value that is read first is used after the variable has changed.
    check(
        "int f(int x, int y) { y = x++ + x; return y; } int main(void) { return f(1, 2); }",
        "f",
        &["v2 := x", "x := (x + 1:32)", "y := (x + v2)", "return y"],
    );
}

#[test]
fn globals_are_read_before_a_call() {
    check(
        "int g; void set(void) { g = 2; } int f(void) { return g + (set(), g); } int main(void) { return f(); }",
        "f",
        &["v1 := g", "call set.f1 ()", "return (g + v1)"],
    );
}

#[test]
fn results_go_where_they_are_wanted() {
    check(
        "extern int __VERIFIER_nondet_int(void); int id(int x) { return x; }\n\
         int f(int *p) { int x = __VERIFIER_nondet_int(), y = id(x), z = *p; return y + z; }\n\
         int main(void) { int a = 0; return f(&a); }",
        "f",
        &["x := havoc in0", "y := call id.f1 (x)", "z := load p", "return (y + z)"],
    );
}

#[test]
fn a_result_with_other_users_is_kept() {
    // The loaded value is assigned to `c` and, extended, used for the result.
    let program = lower(
        "char c; int f(char *p) { int y = (c = *p) + 1; return y; } int main(void) { char a = 5; return f(&a) - 6; }",
    );
    let text = operations(&program, "f");
    assert_eq!(text[..2], ["v3 := load p", "c := v3"], "{text:?}");
}

#[test]
fn uninitialised_variables_are_inputs_only_where_read() {
    let program =
        lower("int f(int c) { int x, y; if (c) x = 1; y = 2; return x + y; } int main(void) { return f(1); }");
    let named: Vec<_> = program.inputs.values().map(|input| input.kind.clone()).collect();
    assert_eq!(named, [InputKind::Uninit(Some("x".into()))]);
}

#[test]
fn variables_have_c_names_and_types() {
    let program = lower(
        "typedef unsigned long word; struct list { struct list *next; int v[2][3]; };\n\
         int main(void) { word w = 1; struct list *l = 0; { int w = 2; w++; } return w == 1 && !l; }",
    );
    let main = program.func_by_name("main").unwrap();
    let named: Vec<(String, String)> = program
        .vars
        .values()
        .filter(|var| var.func() == Some(main) && var.name.is_some())
        .map(|var| (var.name.clone().unwrap(), program.type_name(var.ty)))
        .collect();
    let expected = [("w", "word"), ("l", "struct list *"), ("w", "int")];
    assert_eq!(named, expected.map(|(name, ty)| (name.to_owned(), ty.to_owned())));
    // The type is cyclic and contains an array of arrays.
    let fields = program.types.values().find_map(|ty| match ty {
        cfa::CType::Struct { name, fields, .. } if name == "list" => Some(fields.clone()),
        _ => None,
    });
    let types: Vec<String> = fields.unwrap().iter().map(|field| program.type_name(field.ty)).collect();
    assert_eq!(types, ["struct list *", "int[3][2]"]);
}

#[test]
fn places_follow_line_markers() {
    let program = lower("int main(void) {\n# 42 \"other.c\"\n  int x = 1;\n  return x;\n}\n");
    let main = program.func_by_name("main").unwrap();
    let place = program.edges.iter().find_map(|(id, edge)| {
        (program.func_of(id) == main && matches!(edge.op, Op::Return { .. })).then_some(edge.place).flatten()
    });
    let place = program.places[place.unwrap()];
    assert!(program.files[place.file].path.ends_with("other.c"));
    assert_eq!(place.line, 43);
}

#[test]
fn edges_know_their_instructions() {
    let program = lower("int main(void) { int x = 1; x = x + 1; return x; }");
    let mut counts = vec![0; 64];
    for edge in program.edges.values() {
        assert!(edge.origin.is_sorted());
        edge.origin.iter().for_each(|&n| counts[n as usize] += 1);
    }
    // Two allocas (of the result and the variable) are no edge.
    assert_eq!(counts.iter().filter(|&&n| n > 0).count(), 7, "{counts:?}");
}

#[test]
fn what_is_not_modelled_is_tainted_with_its_place() {
    let program = lower(
        "#include <setjmp.h>\njmp_buf b; int other(int);\nint main(void) {\n  __asm__ volatile(\"nop\");\n  \
         if (setjmp(b)) return 1;\n  return other(2);\n}",
    );
    let mut found: Vec<(u32, String)> = program
        .taints
        .values()
        .map(|taint| {
            assert!(taint.over && taint.under);
            (program.places[taint.place.unwrap()].line, taint.reason.clone())
        })
        .collect();
    found.sort();
    let expected = [
        (2, "call of undefined function 'other'"),
        (4, "inline assembly: not modelled"),
        (5, "non-local jumps ('_setjmp'): not modelled"),
    ];
    assert_eq!(found, expected.map(|(line, reason)| (line, reason.to_owned())));
}

#[test]
fn the_rounding_mode_is_a_variable_where_it_can_change() {
    let f = "double f(double x, float y) { x = x / y; return x < y; }";
    let operations_of = |rest: &str| {
        let program = lower(&format!("#include <fenv.h>\n#include <math.h>\n{f}\n{rest}"));
        (operations(&program, "f"), program)
    };
    // A query of the mode does not change it.
    let (usual, program) = operations_of("int main(void) { return f(1, 3) + fegetround(); }");
    assert_eq!(usual[0], "x := fdiv.double(x, fconvert.single.double(y))", "{usual:?}");
    assert!(program.vars.values().all(|var| var.name.as_deref() != Some("__rounding_mode")));

    let change = "int main(int n, char **a) { fesetround(FE_UPWARD); return f(n, 3) + lrint(n) + fmod(n, 3) + remainder(n, 3); }";
    let (changed, program) = operations_of(change);
    for mode in ["fdiv.double(", "fdiv.double.down(", "fdiv.double.up(", "fdiv.double.zero("] {
        assert!(changed.iter().any(|operation| operation.contains(mode)), "{changed:?}");
    }
    // Exact operations are no choices. Models compute in their own mode.
    assert!(!changed.iter().any(|operation| operation.contains("fconvert.single.double.up")), "{changed:?}");
    let rint = operations(&program, "lrint").join(" ");
    assert!(rint.contains("ffloor.double") && rint.contains("froundeven.double"), "{rint}");
    for exact in ["fmod", "proviso_remainder"] {
        let operations = operations(&program, exact).join(" ");
        assert!(!operations.contains("double.down") && !operations.contains("double.up"), "{operations}");
    }
    assert!(program.taints.values().all(|taint| !taint.reason.contains("intrinsic")));
}

#[test]
fn a_mode_is_read_before_it_changes() {
    let program = lower(
        "#include <fenv.h>\ndouble f(double x, double y) { return x / y + (fesetround(FE_DOWNWARD), x / y); }\n\
         int main(void) { return f(1, 3); }",
    );
    let operations = operations(&program, "f");
    let at = |what: &str| operations.iter().position(|operation| operation.contains(what)).expect(what);
    assert!(at("fdiv.double") < at("fesetround"), "{operations:?}");
}

#[test]
fn errors_say_what_is_wrong() {
    let error = |source: &str, extension: &str| {
        let (_folder, options) = options(source, extension);
        load(&options).and_then(|module| module.lower()).err().expect("an error")
    };
    assert!(matches!(error("int main( {", "c"), Error::Compile { .. }));
    let missing = error("static int g(void) { return 1; } int f(void) { return g(); }", "c");
    assert_eq!(missing, Error::NoFunction { name: "main".into(), defined: vec!["f".into(), "g".into()] });
    assert!(matches!(error("BC nonsense", "bc"), Error::BadBitcode { .. }));
    let Error::BadBitcode { reason, .. } = error("define void @main() { ret i32 0 }", "ll") else { panic!() };
    assert!(reason.contains("line 1"), "{reason}");
    assert_eq!(load(&Options::default()).err().expect("an error").exit_code(), 64);
    assert!(matches!(
        error("target triple = \"armv7-linux\"\ndefine i32 @main() { ret i32 0 }", "ll"),
        Error::Target { .. }
    ));
}

#[test]
fn modules_are_linked_and_symbols_defined_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let a = file("a.c", "int f(void); int main(void) { return f(); }");
    let b = file("b.c", "static int helper(void) { return 3; } int f(void) { return helper(); }");
    let both = Options { inputs: vec![a.clone().into(), b.clone().into()], ..Options::default() };
    let module = load(&both).unwrap();
    let program = module.lower().unwrap();
    assert!(program.func_by_name("helper").is_some() && program.taints.is_empty());
    // Loads the written bitcode again.
    let written = folder.path().join("both.bc");
    std::fs::write(&written, module.bitcode()).unwrap();
    let again = load(&Options { inputs: vec![written.into()], ..Options::default() }).unwrap().lower().unwrap();
    assert_eq!(again.edges.len(), program.edges.len());
    let twice = Options { inputs: vec![a.into(), b.clone().into(), b.into()], ..Options::default() };
    assert!(matches!(load(&twice).err(), Some(Error::Link { .. })));
}

#[test]
fn the_program_comes_before_the_library() {
    // The program defines its own strlen, and its error function is also a library function.
    let source = "unsigned long strlen(const char *s) { return 7; } void abort(void);\n\
                  int main(int argc, char **argv) { if (strlen(\"\") != 7) abort(); return 0; }";
    let (_folder, mut options) = options(source, "c");
    options.error_functions = vec!["abort".into()];
    let program = load(&options).unwrap().lower().unwrap();
    assert!(program.models.is_empty());
    assert!(program.inputs.is_empty(), "the arguments of main are not read");
    let abort = program.func_by_name("abort").expect("a function of its own");
    assert!(program.edges.values().any(|edge| matches!(
        edge.op,
        Op::Call { callee: cfa::Callee::Direct(callee), .. } if callee == abort
    )));
}

#[test]
fn the_same_input_gives_the_same_program() {
    let source = "#include <stdio.h>\nint g[3] = {1, 2};\n\
                  int main(int argc, char **argv) { for (int i = 0; i < argc; i++) printf(\"%s\", argv[i]); return g[argc]; }";
    let (_folder, mut options) = options(source, "c");
    for data_model in [DataModel::Ilp32, DataModel::Lp64] {
        options.data_model = Some(data_model);
        let text = || cfa::text::print(&load(&options).unwrap().lower().unwrap());
        assert!(text() == text());
    }
}

#[test]
fn a_printing_call_is_kept_where_an_argument_that_its_format_does_not_ask_for_has_no_value() {
    let source = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
        target triple = \"x86_64-pc-linux-gnu\"\n\
        @format = private constant [3 x i8] c\"%s\\00\"\n\
        declare i32 @printf(ptr, ...)\n\
        define i32 @main() {\n\
          %text = alloca [2 x i8]\n\
          %n = call i32 (ptr, ...) @printf(ptr @format, ptr %text, <vscale x 2 x i64> zeroinitializer)\n\
          ret i32 0\n\
        }\n";
    let (_folder, options) = options(source, "ll");
    let program = load(&options).and_then(|module| module.lower()).unwrap();
    let operations = operations(&program, "main");
    assert!(operations.iter().any(|op| op.contains("printf")), "{operations:?}");
}

/// Headers of glibc, preprocessed by gcc, contain this.
#[test]
fn what_gcc_has_preprocessed_compiles() {
    let text = "void free(void *); void *f(void) __attribute__ ((__malloc__ (free, 1))); int main(void) { return 0; }";
    for extension in ["c", "i"] {
        let (_folder, options) = options(text, extension);
        load(&options).and_then(|module| module.lower()).unwrap();
    }
}

#[test]
fn known_formats_ask_for_nothing_that_is_not_modelled() {
    let is_tainted = |before: &str, call: &str| {
        let text = format!(
            "#include <stdarg.h>\n#include <stdio.h>\n#include <wchar.h>\n{before}\n\
             int main(void) {{ char text[80]; return snprintf(text, 80, \"%-5d|%s|%.3f\", 1, text, 2.) + ({call}); }}"
        );
        lower(&text).taints.values().any(|taint| taint.under && taint.reason.contains("print"))
    };
    assert!(!is_tainted("", r#"printf("%p %zu%%\n", text, sizeof text)"#));
    assert!(is_tainted("", r#"printf("%ls\n", L"wide")"#));
    assert!(is_tainted("", r#"printf("%d\n", 1L)"#));
    assert!(is_tainted("", r#"printf("%v\n")"#));
    assert!(is_tainted("", "printf(text)"));
    assert!(is_tainted("static int (*print)(const char *, ...) = printf;", r#"print("%d\n", 1)"#));
    let forwards = "static int print(const char *format, ...) { va_list list; va_start(list, format); \
                    int n = vprintf(format, list); va_end(list); return n; }";
    assert!(is_tainted(forwards, r#"print("%d\n", 1)"#));
}

#[test]
fn models_are_linked_whatever_a_wide_character_is() {
    let text =
        "#include <string.h>\n#include <wchar.h>\nint main(int n, char **a) { return strlen(a[0]) + sizeof(wchar_t); }";
    let (_folder, options) = options(text, "c");
    let options = Options { clang_args: vec!["-fshort-wchar".into()], ..options };
    let program = load(&options).and_then(|module| module.lower()).unwrap();
    assert_eq!(program.models, ["strlen"]);
}
