//! Exhaustive tests of the models of the C library: of all functions that allocate, and of all functions with a stream
//! parameter. Both lists are derived from clang's output for the models, so they include new functions. A function that
//! allocates without a row in [`ALLOCATING`] makes the test fail.

use cfa::interp::{Fault, InputSource, Interpreter, Limits, Outcome, Unknown};
use cfa::{Bv, Check, InputKind, Program};
use frontend_llvm::{Options, load};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The permitted operations on the object that a function returns as `p`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Object {
    /// `free` may deallocate it.
    MayBeFreed,
    /// Another function deallocates it, or none.
    Other,
    /// The program does not receive it.
    None,
}

/// The condition under which a function sets `failed`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Failure {
    /// If and only if an allocation fails.
    Memory,
    /// At any time. Failed allocations are one of the reasons.
    Environment,
    Never,
}

use Failure::{Environment, Memory, Never};
use Object::{MayBeFreed, Other};

const GROUPS: &str =
    "int count = 5; unsigned groups[5]; failed = getgrouplist(\"a\", 7, groups, &count) < 0 && count == 5;";

/// The functions of the models that allocate, each with statements that call it and set `p` and `failed`.
const ALLOCATING: &[(&str, &str, Object, Failure)] = &[
    ("__CPROVER_allocate", "p = __CPROVER_allocate(5, 0); failed = !p;", MayBeFreed, Never),
    ("__asprintf_chk", "failed = __asprintf_chk(&s, 1, \"%d\", 5) < 0; p = failed ? 0 : s;", MayBeFreed, Memory),
    ("__cxa_atexit", "FORTY failed |= __cxa_atexit(with, 0, 0) != 0;", Object::None, Memory),
    ("__getdelim", "failed = __getdelim(&s, &size, 'a', stdin) < 0 && !s; p = s;", MayBeFreed, Memory),
    ("__isoc23_sscanf", "failed = __isoc23_sscanf(\"a\", \"%ms\", &s) < 1; p = s;", MayBeFreed, Memory),
    ("__isoc23_swscanf", "failed = __isoc23_swscanf(L\"a\", L\"%ms\", &s) < 1; p = s;", MayBeFreed, Memory),
    ("__isoc23_vsscanf", "failed = list_1(\"a\", \"%ms\", &s) < 1; p = s;", MayBeFreed, Memory),
    ("__isoc23_vswscanf", "failed = list_2(L\"a\", L\"%ms\", &s) < 1; p = s;", MayBeFreed, Memory),
    ("__isoc99_sscanf", "failed = __isoc99_sscanf(\"a\", \"%ms\", &s) < 1; p = s;", MayBeFreed, Memory),
    ("__isoc99_swscanf", "failed = __isoc99_swscanf(L\"a\", L\"%ms\", &s) < 1; p = s;", MayBeFreed, Memory),
    ("__isoc99_vsscanf", "failed = list_3(\"a\", \"%ms\", &s) < 1; p = s;", MayBeFreed, Memory),
    ("__isoc99_vswscanf", "failed = list_4(L\"a\", L\"%ms\", &s) < 1; p = s;", MayBeFreed, Memory),
    ("__realpath_chk", "failed = !(p = __realpath_chk(\"a\", 0, -1));", MayBeFreed, Environment),
    ("__strdup", "failed = !(p = __strdup(\"a\"));", MayBeFreed, Memory),
    ("__strndup", "failed = !(p = __strndup(\"a\", 1));", MayBeFreed, Memory),
    ("__vasprintf_chk", "failed = list_5(&s, \"%d\", 5) < 0; p = failed ? 0 : s;", MayBeFreed, Memory),
    ("aligned_alloc", "failed = !(p = aligned_alloc(32, 64));", MayBeFreed, Memory),
    ("asprintf", "failed = asprintf(&s, \"%d\", 5) < 0; p = failed ? 0 : s;", MayBeFreed, Memory),
    ("at_quick_exit", "FORTY failed |= at_quick_exit(without) != 0;", Object::None, Memory),
    ("atexit", "FORTY failed |= atexit(without) != 0;", Object::None, Memory),
    ("bind_textdomain_codeset", "failed = !(p = bind_textdomain_codeset(\"a\", \"b\"));", Other, Memory),
    ("bindtextdomain", "failed = !(p = bindtextdomain(\"a\", \"b\"));", Other, Memory),
    ("calloc", "failed = !(p = calloc(2, 3));", MayBeFreed, Memory),
    ("canonicalize_file_name", "failed = !(p = canonicalize_file_name(\"a\"));", MayBeFreed, Environment),
    ("duplocale", "failed = !(p = duplocale((void *)-1));", Other, Memory),
    ("fdopen", "failed = !(p = fdopen(5, \"r\"));", Other, Environment),
    ("fdopendir", "failed = !(p = fdopendir(5));", Other, Environment),
    ("fmemopen", "failed = !(p = fmemopen(0, 5, \"r\"));", Other, Environment),
    ("fopen", "failed = !(p = fopen(\"a\", \"r\"));", Other, Environment),
    ("fopen64", "failed = !(p = fopen64(\"a\", \"r\"));", Other, Environment),
    ("getaddrinfo", "failed = getaddrinfo(\"a\", 0, 0, &p);", Other, Environment),
    ("getcwd", "failed = !(p = getcwd(0, 0));", MayBeFreed, Environment),
    ("getdelim", "failed = getdelim(&s, &size, 'a', stdin) < 0 && !s; p = s;", MayBeFreed, Memory),
    // The variable may not exist.
    ("getenv", "failed = !(p = getenv(\"A\"));", Other, Environment),
    ("getgrent", "failed = !(list = getgrent()); p = failed ? 0 : list[0];", Other, Environment),
    ("getgrgid", "failed = !(list = getgrgid(5)); p = failed ? 0 : list[0];", Other, Environment),
    ("getgrnam", "failed = !(list = getgrnam(\"a\")); p = failed ? 0 : list[0];", Other, Environment),
    ("getgrouplist", GROUPS, Object::None, Memory),
    ("getline", "failed = getline(&s, &size, stdin) < 0 && !s; p = s;", MayBeFreed, Memory),
    ("getpwent", "failed = !(list = getpwent()); p = failed ? 0 : list[0];", Other, Environment),
    ("getpwnam", "failed = !(list = getpwnam(\"a\")); p = failed ? 0 : list[0];", Other, Environment),
    ("getpwuid", "failed = !(list = getpwuid(5)); p = failed ? 0 : list[0];", Other, Environment),
    ("hcreate", "if ((failed = !hcreate(1))) _Exit(FAILED); p = hsearch(item, 1);", Other, Memory),
    ("hcreate_r", "failed = !hcreate_r(1, table); p = table[0];", Other, Memory),
    ("iconv_open", "p = iconv_open(\"a\", \"b\"); if ((failed = p == (void *)-1)) p = 0;", Other, Environment),
    ("memalign", "failed = !(p = memalign(32, 5));", MayBeFreed, Memory),
    ("mmap", "p = mmap(0, 5, 3, 0x22, -1, 0); if ((failed = p == (void *)-1)) p = 0;", Other, Memory),
    ("mmap64", "p = mmap64(0, 5, 3, 0x22, -1, 0); if ((failed = p == (void *)-1)) p = 0;", Other, Memory),
    ("newlocale", "failed = !(p = newlocale(1, \"POSIX\", 0));", Other, Memory),
    ("on_exit", "FORTY failed |= on_exit(with_status, 0) != 0;", Object::None, Memory),
    ("open_memstream", "failed = !(p = open_memstream(&s, &size));", Other, Environment),
    ("open_wmemstream", "failed = !(p = open_wmemstream((wchar_t **)&s, &size));", Other, Environment),
    ("opendir", "failed = !(p = opendir(\"a\"));", Other, Environment),
    ("popen", "failed = !(p = popen(\"a\", \"r\"));", Other, Environment),
    ("posix_memalign", "failed = posix_memalign(&p, 32, 5);", MayBeFreed, Memory),
    ("putenv", "failed = putenv(\"A=b\");", Object::None, Memory),
    ("pvalloc", "failed = !(p = pvalloc(5));", MayBeFreed, Memory),
    ("re_compile_pattern", "failed = re_compile_pattern(\"a\", 1, table) != 0; p = table[0];", Other, Environment),
    ("re_match", "COMPILE failed = re_match(table, \"a\", 1, 0, parts) < 0; p = parts[1];", MayBeFreed, Environment),
    (
        "re_match_2",
        "COMPILE failed = re_match_2(table, 0, 0, \"a\", 1, 0, parts, 1) < 0; p = parts[1];",
        MayBeFreed,
        Environment,
    ),
    (
        "re_search",
        "COMPILE failed = re_search(table, \"a\", 1, 0, 1, parts) < 0; p = parts[2];",
        MayBeFreed,
        Environment,
    ),
    (
        "re_search_2",
        "COMPILE failed = re_search_2(table, 0, 0, \"a\", 1, 0, 1, parts, 1) < 0; p = parts[2];",
        MayBeFreed,
        Environment,
    ),
    ("realloc", "failed = !(p = realloc(0, 5));", MayBeFreed, Memory),
    ("reallocarray", "failed = !(p = reallocarray(0, 5, 6));", MayBeFreed, Memory),
    ("realpath", "failed = !(p = realpath(\"a\", 0));", MayBeFreed, Environment),
    ("regcomp", "failed = regcomp(table, \"a\", 0); p = table[0];", Other, Environment),
    ("secure_getenv", "failed = !(p = secure_getenv(\"A\"));", Other, Environment),
    ("setenv", "failed = setenv(\"A\", \"b\", 1); p = failed ? 0 : getenv(\"A\");", Other, Memory),
    ("setmntent", "failed = !(p = setmntent(\"a\", \"r\"));", Other, Environment),
    ("sscanf", "failed = sscanf(\"a\", \"%ms\", &s) < 1; p = s;", MayBeFreed, Memory),
    ("strdup", "failed = !(p = strdup(\"a\"));", MayBeFreed, Memory),
    ("strndup", "failed = !(p = strndup(\"a\", 1));", MayBeFreed, Memory),
    ("swscanf", "failed = swscanf(L\"a\", L\"%ms\", &s) < 1; p = s;", MayBeFreed, Memory),
    ("textdomain", "failed = !(p = textdomain(\"a\"));", Other, Memory),
    ("tmpfile", "failed = !(p = tmpfile());", Other, Environment),
    ("tmpfile64", "failed = !(p = tmpfile64());", Other, Environment),
    ("tsearch", "failed = !(p = tsearch(&size, &root, order));", Other, Memory),
    ("utmpxname", "failed = utmpxname(\"a\") != 0;", Object::None, Memory),
    ("valloc", "failed = !(p = valloc(5));", MayBeFreed, Memory),
    ("vasprintf", "failed = list_6(&s, \"%d\", 5) < 0; p = failed ? 0 : s;", MayBeFreed, Memory),
    ("vsscanf", "failed = list_7(\"a\", \"%ms\", &s) < 1; p = s;", MayBeFreed, Memory),
    ("vswscanf", "failed = list_8(L\"a\", L\"%ms\", &s) < 1; p = s;", MayBeFreed, Memory),
    ("wcsdup", "failed = !(p = wcsdup(L\"a\"));", MayBeFreed, Memory),
];

/// Declarations that the rows use. Functions that take a `va_list` are called through variadic wrappers.
const PRELUDE: &str = r#"
struct item { char *key; void *data; };
static struct item item = {"a", 0};
extern void *hsearch(struct item, int);
static void *table[64], *parts[3], *root;
static void without(void) {}
static void with(void *argument) {}
static void with_status(int status, void *argument) {}
static int order(const void *a, const void *b) { return 0; }
enum { FAILED = 7, EMPTY, FREED };
#define COMPILE if (re_compile_pattern("a", 1, table)) _Exit(FAILED);
#define FORTY for (int i = 0; i < 40; i++)
#define LIST(name, type, target, ...) \
    static int name(type text, target format, ...) { \
        va_list list; \
        __builtin_va_start(list, format); \
        return __VA_ARGS__; \
    }
LIST(list_1, const char *, const char *, __isoc23_vsscanf(text, format, list))
LIST(list_2, const wchar_t *, const wchar_t *, __isoc23_vswscanf(text, format, list))
LIST(list_3, const char *, const char *, __isoc99_vsscanf(text, format, list))
LIST(list_4, const wchar_t *, const wchar_t *, __isoc99_vswscanf(text, format, list))
LIST(list_5, char **, const char *, __vasprintf_chk(text, 1, format, list))
LIST(list_6, char **, const char *, vasprintf(text, format, list))
LIST(list_7, const char *, const char *, vsscanf(text, format, list))
LIST(list_8, const wchar_t *, const wchar_t *, vswscanf(text, format, list))
"#;

/// The models according to clang.
struct Models {
    /// The types of the functions with C names that a program can call.
    types: BTreeMap<String, String>,
    /// For each function, including static ones, the functions whose names occur in its body.
    mentions: BTreeMap<String, BTreeSet<String>>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models")
}

/// The names of the model files that are compiled separately, sorted.
fn files() -> Vec<String> {
    let names = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".c")).collect();
    names.sort();
    names
}

fn clang(source: &Path, args: &[&str]) -> String {
    let clang = std::env::var("PROVISO_CLANG").unwrap_or("clang-19".into());
    let mut command = Command::new(clang);
    command.args(["-m64", "-w", "-nostdinc", "-fno-math-errno", "-O0", "-I"]).arg(folder()).args(args).arg(source);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Models {
    fn read() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("models.c");
        let parts = ["ERRNO", "WIDE", "SCANS", "DESCRIPTORS", "FILES", "SEEDS", "RESEEDS", "ARGUMENTS"];
        let mut unit: String = parts.iter().map(|part| format!("#define PROVISO_{part}\n")).collect();
        files().iter().for_each(|file| writeln!(unit, "#include \"{file}\"").unwrap());
        std::fs::write(&source, unit).unwrap();

        let mut mentions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut present: Option<String> = None;
        let mut public = BTreeSet::new();
        for line in clang(&source, &["-S", "-emit-llvm", "-o", "-"]).lines() {
            let mut names = line.split('@').skip(1).map(name_at_start);
            if line.starts_with("define ") {
                present = names.next();
                let function = present.clone().expect("a function has a name");
                if !line.starts_with("define internal ") && !function.contains('.') {
                    public.insert(function.clone());
                }
                mentions.insert(function, BTreeSet::new());
            } else if line == "}" {
                present = None;
            } else if let Some(function) = &present {
                mentions.get_mut(function).unwrap().extend(names);
            }
        }
        // A line of clang's AST dump:
        // `|-FunctionDecl 0x... <...> line:1:5 used fputc 'int (int, struct proviso_stream *)'`.
        let mut types = BTreeMap::new();
        for line in clang(&source, &["-fsyntax-only", "-Xclang", "-ast-dump"]).lines() {
            let Some((_, declaration)) = line.split_once("-FunctionDecl ") else { continue };
            let Some((before, ty)) = declaration.split_once(" '") else { continue };
            let name = before.rsplit(' ').next().unwrap();
            if public.contains(name) {
                types.insert(name.to_owned(), ty.split('\'').next().unwrap().to_owned());
            }
        }
        Self { types, mentions }
    }

    /// The functions that a function calls, directly or indirectly.
    fn reached(&self, function: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut work: Vec<&str> = self.mentions.get(function).into_iter().flatten().map(String::as_str).collect();
        while let Some(name) = work.pop() {
            if reached.insert(name) {
                work.extend(self.mentions.get(name).into_iter().flatten().map(String::as_str));
            }
        }
        reached
    }

    /// The functions that allocate. True for those that fail only if memory is exhausted.
    fn allocating(&self) -> BTreeMap<&str, bool> {
        let mut found = BTreeMap::new();
        for function in self.types.keys() {
            let reached = self.reached(function);
            let may_fail = |name: &&str| {
                ["malloc", "__proviso_allocation_fails"].contains(name) || name.starts_with("__proviso_alloc_")
            };
            let fails = reached.iter().any(may_fail);
            if fails || reached.iter().any(|name| name.starts_with("__proviso_make_")) {
                found.insert(function.as_str(), fails);
            }
        }
        found
    }

    /// Declarations of functions for a program, with the types in the models.
    fn declarations<'a>(&self, functions: impl IntoIterator<Item = &'a str>) -> String {
        let mut text = String::from(
            "typedef __SIZE_TYPE__ size_t; typedef __PTRDIFF_TYPE__ ssize_t; typedef __WCHAR_TYPE__ wchar_t;\n\
             typedef __WINT_TYPE__ wint_t; typedef __builtin_va_list va_list;\n\
             typedef int proviso_order_of(const void *, const void *);\n\
             extern int __VERIFIER_nondet_int(void);\nextern void free(void *), _Exit(int);\n\
             extern struct proviso_stream *stdin;\n",
        );
        for function in functions {
            let ty = self.types[function].replace("struct __va_list_tag *", "va_list");
            let (result, parameters) = ty.split_once('(').unwrap();
            writeln!(text, "extern {result}{function}({parameters};").unwrap();
        }
        text
    }
}

/// The name at the start of a piece of IR after an `@`.
fn name_at_start(text: &str) -> String {
    match text.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap().trim_start_matches("\\01").to_owned(),
        None => text.split(|c: char| !c.is_alphanumeric() && !"_.$".contains(c)).next().unwrap().to_owned(),
    }
}

fn lower(source: &str, options: Options) -> Program {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("test.c");
    std::fs::write(&path, source).unwrap();
    let module = load(&Options { inputs: vec![path.into()], ..options }).unwrap_or_else(|e| panic!("{e}\n{source}"));
    module.lower().unwrap()
}

/// Plausible values of the environment.
struct Environs<'p> {
    program: &'p Program,
    random: u64,
    /// The value of `__VERIFIER_nondet_int`.
    which: usize,
    allocations_fail: bool,
}

impl InputSource for Environs<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        // Xorshift (Marsaglia, 2003).
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        const LIKED: [u64; 8] = [0, 1, 2, 3, 0, 1, 47, u64::MAX];
        let value = match what {
            Unknown::Havoc(input) => match &self.program.inputs[input].kind {
                InputKind::Nondet(_) => self.which as u64,
                kind if *kind == InputKind::allocation() => self.allocations_fail.into(),
                _ => LIKED[(self.random >> 20) as usize % LIKED.len()],
            },
            _ => 0,
        };
        Bv::new(64, value).resize(width)
    }
}

/// The outcome of a run in which `__VERIFIER_nondet_int` returns `which`.
fn run(interpreter: &Interpreter, program: &Program, seed: u64, which: usize, allocations_fail: bool) -> Outcome {
    let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut environs = Environs { program, random, which, allocations_fail };
    let limits = Limits { steps: 20_000, ..Limits::default() };
    interpreter.run(&mut environs, limits, &mut ()).outcome
}

/// Repeats a run until the expected outcomes have occurred. Returns whether runs ended in each of two ways.
fn observe(
    program: &Program,
    which: usize,
    allocations_fail: bool,
    expected: (bool, bool),
    ways: [&dyn Fn(Outcome) -> bool; 2],
) -> (bool, bool) {
    const FEWEST: u64 = 100;
    const MOST: u64 = 20_000;
    let interpreter = Interpreter::new(program);
    let mut seen = (false, false);
    for seed in 1..=MOST {
        let end = run(&interpreter, program, seed, which, allocations_fail);
        seen = (seen.0 || ways[0](end), seen.1 || ways[1](end));
        if seed >= FEWEST && (seen.0 || !expected.0) && (seen.1 || !expected.1) {
            break;
        }
    }
    seen
}

const FAILED: Outcome = Outcome::Exit(7);
const FREED: Outcome = Outcome::Exit(9);

/// A program that calls one of the functions, chosen by an input. It reaches an error if the function failed, and frees
/// the object.
fn allocating_program(models: &Models) -> String {
    let mut text = models.declarations(models.allocating().into_keys());
    text.push_str(PRELUDE);
    text.push_str("int main(void) {\n    switch (__VERIFIER_nondet_int()) {\n");
    for (n, (_, statements, ..)) in ALLOCATING.iter().enumerate() {
        writeln!(
            text,
            "    case {n}: {{\n        void *p = 0, **list = 0;\n        char *s = 0;\n        size_t size = 0;\n        \
             int failed = 0;\n        {statements}\n        if (failed)\n            _Exit(FAILED);\n        \
             if (!p)\n            _Exit(EMPTY);\n        free(p);\n        _Exit(FREED);\n    }}"
        )
        .unwrap();
    }
    text + "    }\n    return 0;\n}\n"
}

#[test]
fn every_function_that_allocates_says_who_frees_and_how_it_fails() {
    let models = Models::read();
    let found = models.allocating();
    let known: BTreeSet<&str> = ALLOCATING.iter().map(|row| row.0).collect();
    assert_eq!(found.keys().copied().collect::<BTreeSet<_>>(), known, "functions that allocate, and the table of them");

    let source = allocating_program(&models);
    let options = |malloc_may_fail| Options { malloc_may_fail, ..Options::default() };
    let [never, may] = [false, true].map(|may_fail| lower(&source, options(may_fail)));
    let mut wrong = Vec::new();
    for (n, &(name, _, object, failure)) in ALLOCATING.iter().enumerate() {
        let is_invalid = |end: Outcome| matches!(end, Outcome::Invalid { fault: Fault::InvalidFree, .. });
        let expected = match object {
            Object::MayBeFreed => (true, false),
            Object::Other => (false, true),
            Object::None => (false, false),
        };
        let freed = observe(&never, n, false, expected, [&|end| end == FREED, &is_invalid]);
        if freed != expected {
            wrong.push(format!("{name}: (freed, invalid free) is {freed:?}, not {expected:?}"));
        }
        let expected = match failure {
            Failure::Memory => (false, true),
            Failure::Environment => (true, true),
            Failure::Never => (false, false),
        };
        let without = observe(&never, n, false, (expected.0, false), [&|end| end == FAILED, &|_| false]);
        let with = observe(&may, n, true, (expected.1, false), [&|end| end == FAILED, &|_| false]);
        let fails = (without.0, with.0);
        if fails != expected {
            wrong.push(format!("{name}: (fails, fails where allocation does) is {fails:?}, not {expected:?}"));
        }
        if failure == Failure::Memory && !found[name] {
            wrong.push(format!("{name}: nothing that it allocates can fail"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An argument of a type, for a function that receives an invalid stream or folder.
fn argument(ty: &str) -> &'static str {
    match ty {
        "struct proviso_stream *" | "struct proviso_folder *" => "none",
        "int" | "size_t" | "long" | "long long" | "wchar_t" | "wint_t" => "1",
        "const char *" => "\"r\"",
        "const wchar_t *" => "L\"r\"",
        "struct __va_list_tag *" => "list",
        _ => "room",
    }
}

#[test]
fn every_function_with_a_stream_asks_whether_it_is_one() {
    let models = Models::read();
    let takes_stream = |ty: &&String| ty.contains("proviso_stream *") || ty.contains("proviso_folder *");
    let mut missed = Vec::new();
    let mut count = 0;
    // Each file separately, so that requirements of other files do not matter.
    for file in files() {
        let text = std::fs::read_to_string(folder().join(&file)).unwrap();
        let defined: BTreeSet<&str> =
            text.lines().filter_map(|l| l.strip_prefix("// Defines:")).flat_map(str::split_whitespace).collect();
        let parameters = |name: &str| models.types.get(name)?.split_once('(').map(|(_, rest)| rest.to_owned());
        let names: Vec<&str> =
            defined.into_iter().filter(|name| parameters(name).is_some_and(|ty| takes_stream(&&ty))).collect();
        if names.is_empty() {
            continue;
        }
        let mut source = models.declarations(names.iter().copied());
        source.push_str("extern void *calloc(size_t, size_t);\nstatic char memory[64];\nstatic void *room = memory;\n");
        let mut cases = String::new();
        for (n, name) in names.iter().enumerate() {
            let parameters = parameters(name).unwrap();
            let parameters = parameters.trim_end_matches(')').split(", ").filter(|ty| *ty != "...");
            let arguments: Vec<&str> = parameters.map(argument).collect();
            writeln!(
                source,
                "static void call_{n}(void *none, ...) {{\n    va_list list;\n    __builtin_va_start(list, none);\n    \
                 {name}({});\n}}",
                arguments.join(", ")
            )
            .unwrap();
            writeln!(cases, "    case {n}: call_{n}(none, 1); break;").unwrap();
        }
        writeln!(
            source,
            "int main(void) {{\n    void *none = calloc(1, 2000);\n    switch (__VERIFIER_nondet_int()) {{\n{cases}    }}\n    return 0;\n}}"
        )
        .unwrap();
        let program = lower(&source, Options { checks: vec![Check::Argument], ..Options::default() });
        for (n, name) in names.iter().enumerate() {
            let is_asked = |end: Outcome| match end.error(&program) {
                Some((error, _)) => program.errors[error].check == Check::Argument,
                None => end == Outcome::Assumed,
            };
            count += 1;
            let interpreter = Interpreter::new(&program);
            let ends: Vec<Outcome> = (1..=50).map(|seed| run(&interpreter, &program, seed, n, false)).collect();
            if !ends.iter().all(|&end| is_asked(end)) || ends.iter().all(|end| *end == Outcome::Assumed) {
                missed.push(format!("{file}: {name}"));
            }
        }
    }
    assert!(missed.is_empty(), "these take a stream that is none: {}", missed.join(", "));
    assert!(count > 80, "only {count} functions with streams");
}
