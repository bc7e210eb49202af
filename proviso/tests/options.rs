//! Compiler options: those that change the meaning of a program count wherever they occur. Others have no effect. No
//! option disables a check.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(program: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write(
            "a.c",
            &format!("extern void reach_error(void);\nextern int __VERIFIER_nondet_int(void);\n{program}\n"),
        );
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(self.path().join(name), text).unwrap();
    }

    /// Writes a compilation database with these options.
    fn build(&self, options: &[&str]) {
        let arguments = [&["clang"], options, &["-c", "a.c", "-o", "a.o"]].concat();
        let database = serde_json::json!([{"directory": self.path(), "file": "a.c", "arguments": arguments}]);
        self.write("compile_commands.json", &database.to_string());
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_proviso"))
            .current_dir(self.path())
            .args(args)
            .env("PROVISO_CC", "clang-19")
            .output()
            .unwrap()
    }

    fn code(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.run(args);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Verifies the program with the options of its build. Returns the exit code and the messages.
    fn verify(&self, options: &[&str], args: &[&str]) -> (Option<i32>, String) {
        self.build(options);
        self.code(&[&["verify", "-p", ".", "a.c"], args].concat())
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }
}

/// Options, with a condition that is true in a program compiled with them and false without them.
const MEANINGS: &[(&[&str], &str)] = &[
    (&["-fpack-struct=2"], "sizeof(struct { char c; int i; }) == 6"),
    (&["-fpack-struct=4", "-fno-pack-struct", "-fpack-struct=1"], "sizeof(struct { char c; int i; }) == 5"),
    (&["-mms-bitfields"], "sizeof(struct { char a : 4; int b : 4; }) == 8"),
    (&["-m32", "-malign-double"], "sizeof(long) == 4 && sizeof(struct { char c; double d; }) == 16"),
    (&["-mlong-double-64"], "sizeof(long double) == 8"),
    (&["-fshort-enums", "-fno-short-enums", "-funsigned-char"], "sizeof(enum { A }) == 4 && (char)-1 > 0"),
    (&["-Xclang", "-fwchar-type=short", "-Xclang", "-fno-signed-wchar"], "sizeof(L' ') == 2"),
    (&["-ftrivial-auto-var-init=zero"], "zeroed() == 0"),
    (&["-fopenmp"], "IS(_OPENMP)"),
    (&["-O2"], "IS(__OPTIMIZE__) && !IS(__NO_INLINE__)"),
    (&["-Os"], "IS(__OPTIMIZE_SIZE__)"),
    (&["-ffast-math"], "IS(__FAST_MATH__)"),
    (&["@flags"], "IS(FLAG)"),
    (&["-Xclang", "-DFLAG"], "IS(FLAG)"),
    (&["-Wp,-DFLAG", "-UFLAG"], "IS(FLAG)"),
    (&["-Xpreprocessor", "-DFLAG"], "IS(FLAG)"),
    (&["--define-macro=FLAG"], "IS(FLAG)"),
    (&["--define-macro", "FLAG"], "IS(FLAG)"),
    (&["--include-directory=inc"], "__has_include(\"in.h\")"),
    (&["-iprefix", "inc/../", "-iwithprefixbefore", "inc"], "__has_include(\"in.h\")"),
    (&["-fPIC", "-fno-PIC"], "!IS(__PIC__)"),
    (&["-fsanitize=address"], "__has_feature(address_sanitizer)"),
    (&["-ffreestanding", "-fhosted", "-undef"], "__STDC_HOSTED__ && !IS(__linux__)"),
];

#[test]
fn options_of_a_build_mean_what_they_mean_to_clang() {
    let folder = Folder::new("");
    folder.write("flags", "'-DOTHER=a b' @inner\n");
    folder.write("inner", "-DFLAG");
    folder.write("inc/in.h", "");
    for (options, holds) in MEANINGS {
        // Conditions of the preprocessor are tested in a directive.
        let of_the_preprocessor = holds.contains("IS(") || holds.contains("__has_");
        let condition = match of_the_preprocessor {
            true => {
                format!("#if {}\n#define HOLDS 1\n#else\n#define HOLDS 0\n#endif", holds.replace("IS(", "defined("))
            }
            false => format!("#define HOLDS ({holds})"),
        };
        let text = format!(
            "extern void reach_error(void);\n{condition}\nint zeroed(void) {{ int a[3]; return a[1]; }}\n\
             int main(void) {{ if (HOLDS != EXPECTED) reach_error(); return 0; }}\n"
        );
        folder.write("a.c", &text);
        // Verify that the condition is true, and refute that it is false, with the options of the build.
        for (expected, code) in [("-DEXPECTED=1", 0), ("-DEXPECTED=0", 1)] {
            let property = ["--property", "unreach-call", expected];
            let (got, message) = folder.verify(options, &property);
            assert_eq!(got, Some(code), "{options:?} {expected}: {message}");
        }
        let (without, message) = folder.code(&["verify", "a.c", "--property", "unreach-call", "-DEXPECTED=1"]);
        assert_ne!(without, Some(0), "{options:?}: {message}");
    }
}

#[test]
fn objects_and_the_command_line_have_the_same_options() {
    let program = "struct s { char c; int i; };\nint main(void) { if (sizeof(struct s) != 6 || FLAG != 3) reach_error(); return 0; }";
    let folder = Folder::new(program);
    folder.write("flags", "-Xclang -DFLAG=3");
    let options = ["-fpack-struct=2", "@flags"];
    assert_eq!(folder.run(&[&["cc", "-c", "a.c"], &options[..]].concat()).status.code(), Some(0));
    // The response file is not needed after the compilation.
    std::fs::remove_file(folder.path().join("flags")).unwrap();
    assert_eq!(folder.code(&["verify", "a.o"]).0, Some(0));
    folder.write("flags", "-Xclang -DFLAG=3");
    assert_eq!(folder.code(&[&["verify", "a.c", "--"], &options[..]].concat()).0, Some(0));
    assert_eq!(folder.code(&["verify", "-fpack-struct=2", "a.c", "-Xclang", "-DFLAG=3"]).0, Some(0));
    assert_eq!(folder.code(&["verify", "a.c", "--", "-DFLAG=3"]).0, Some(1));
}

/// Options that load code, run programs, read options or write files; `{}` stands for a file.
const HOSTILE: &[&str] = &[
    "-fplugin={}",
    "-fplugin-arg-x-y",
    "-fpass-plugin={}",
    "-Xclang -load -Xclang {}",
    "-Xclang -plugin -Xclang x",
    "-Xclang -add-plugin -Xclang x",
    "-Xclang -plugin-arg-x -Xclang y",
    "--config={}",
    "--config {}",
    "-B {}",
    "-B{}",
    "-ccc-install-dir {}",
    "-specs={}",
    "--gcc-toolchain={}",
    "-mllvm -load={}",
    "-mllvm=-stats",
    "-Xclang -mllvm -Xclang -info-output-file={}",
    "-o {}",
    "-o{}",
    "--output={}",
    "-Xclang -o -Xclang {}",
    "-MD",
    "-MF {}",
    "-MF{}",
    "-MJ {}",
    "-MMD -MT x -MQ y",
    "-Wp,-MD,{}",
    "-Wp,-MMD,{}",
    "-Xclang -dependency-file -Xclang {}",
    "-dependency-dot {}",
    "-save-temps",
    "-save-temps=obj",
    "--save-temps",
    "-save-stats",
    "-dumpdir {}",
    "-ftime-trace",
    "-ftime-trace={}",
    "-ftime-report",
    "-fprofile-generate={}",
    "-fprofile-instr-generate={}",
    "-fprofile-arcs",
    "-ftest-coverage",
    "--coverage",
    "-fprofile-instr-use={}",
    "-fcoverage-mapping",
    "-Xclang -coverage-notes-file={}",
    "-fcrash-diagnostics-dir={}",
    "-gen-reproducer=always",
    "-serialize-diagnostics {}",
    "-Xclang -serialize-diagnostic-file -Xclang {}",
    "-Xclang -diagnostic-log-file -Xclang {}",
    "-Xclang -header-include-file -Xclang {}",
    "-fsave-optimization-record",
    "-foptimization-record-file={}",
    "-Xclang -opt-record-file -Xclang {}",
    "-gsplit-dwarf",
    "-Xclang -split-dwarf-output -Xclang {}",
    "-fmodules -fmodules-cache-path={}",
    "-fmodule-output={}",
    "-fimplicit-module-maps",
    "-Xclang -emit-pch",
    "-E",
    "-S",
    "-M",
    "-fsyntax-only",
    "-emit-llvm",
    "-emit-ast",
    "-Xclang -ast-dump={}",
    "-Xclang -fixit",
    "-Xclang -rewrite-macros",
    "-Xclang -analyze",
    "--analyze",
    "-fstack-usage",
    "-fproc-stat-report={}",
    "-Xclang -stats-file={}",
    "-gen-cdb-fragment-path {}",
    "-module-dependency-dir {}",
    "-Xclang -as-secure-log-file -Xclang {}",
    "-no-integrated-as",
    "-fno-integrated-cc1",
    "-flto",
    "-fthinlto-index={}",
    "-Xlinker -Map={}",
    "-Wl,-Map,{}",
    "-Wa,-adhln={}",
    "-print-search-dirs",
    "--version",
    "-v",
    "-Xarch_x86_64 -fplugin={}",
    "-Xarch_host -ftime-trace={}",
    "-wrapper {}",
    "-fdump-tree-all={}",
    "-fdiagnostics-format=sarif",
];

#[test]
fn hostile_options_of_a_build_have_no_effect() {
    let folder = Folder::new("int main(void) { return __VERIFIER_nondet_int() == 7; }");
    // The file that these options would read contains an option with which the program does not compile.
    let expand = |option: &str| option.replace("{}", folder.path().join("file").to_str().unwrap());
    let together: Vec<String> =
        HOSTILE.iter().flat_map(|option| expand(option).split(' ').map(str::to_owned).collect::<Vec<_>>()).collect();
    let together: Vec<&str> = together.iter().map(String::as_str).collect();
    let (code, message) = folder.verify(&together, &["--property", "unreach-call"]);
    assert_eq!(code, Some(0), "{message}");
    let names: Vec<PathBuf> = ["a.c", "compile_commands.json"].map(|name| folder.path().join(name)).into();
    assert_eq!(folder.files(), names);
    // The command names the ignored options that may change the meaning.
    for option in ["-fplugin=", "-fpass-plugin=", "-load ", "--config=", "-mllvm ", "-B "] {
        assert!(message.contains(&format!("the option {option}")), "{option}: {message}");
    }
    assert!(!message.contains("-MF") && !message.contains("-save-temps"), "{message}");
}

#[test]
fn options_that_cannot_be_followed_are_refused_or_named() {
    let folder = Folder::new("int main(void) { return 0; }");
    let property = ["--property", "unreach-call"];
    for (options, named) in [
        (&["-mx32"][..], "x32"),
        (&["-funsigned-bitfields"], "-funsigned-bitfields"),
        (&["-fno-signed-bitfields"], "-fno-signed-bitfields"),
        (&["-ffreestanding", "-fno-freestanding"], "-fno-freestanding"),
        (&["-fno-hosted"], "-fno-hosted"),
        (&["-malign-double", "-mno-align-double"], "-mno-align-double"),
        (&["-mno-fused-madd"], "-mno-fused-madd"),
        (&["-mdaz-ftz"], "-mdaz-ftz"),
        (&["-fsso-struct=big-endian"], "-fsso-struct=big-endian"),
        (&["-finstrument-functions"], "-finstrument-functions"),
        (&["-ftrapv", "-ftrapv-handler=h"], "-ftrapv-handler=h"),
        (&["-x", "c++"], "c++"),
    ] {
        let (code, message) = folder.verify(options, &property);
        assert_eq!(code, Some(65), "{options:?}: {message}");
        assert!(message.contains(named), "{options:?}: {message}");
    }
    let (code, message) = folder.verify(&["-fsanitize=shift", "-fno-sanitize-recover"], &property);
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("the option -fno-sanitize-recover of"), "{message}");
    let (code, message) = folder.verify(&["-fnew-in-gcc", "-fipa-pta", "-Wnew"], &property);
    assert_eq!(code, Some(0), "{message}");
    assert!(
        message.contains("-fnew-in-gcc") && !message.contains("-fipa-pta") && !message.contains("-Wnew"),
        "{message}"
    );
}

/// `__FILE__` and `__BASE_FILE__` are the names in the command, in a database and in an object.
#[test]
fn a_file_has_the_name_in_its_command() {
    let program = "#define check(x) do { if (!(x)) reach_error(); } while (0)\n#include \"in.h\"\n\
        int main(void) { check(__builtin_strcmp(__FILE__, NAME) == 0); check(__builtin_strcmp(__BASE_FILE__, NAME) == 0);\n\
        check(__builtin_strcmp(in_h, HEADER) == 0); return 0; }";
    let folder = Folder::new("");
    folder.write("src/in.h", "static const char in_h[] = __FILE__;\n");
    folder.write("src/a.c", &format!("extern void reach_error(void);\n{program}\n"));
    std::fs::create_dir(folder.path().join("build")).unwrap();
    let full = folder.path().join("src").canonicalize().unwrap();
    let absolute = full.join("a.c");
    for (directory, word) in [
        ("", "src/a.c"),
        ("", "./src/a.c"),
        ("src", "a.c"),
        ("src", "./../src/a.c"),
        ("build", "../src/a.c"),
        ("build", absolute.to_str().unwrap()),
    ] {
        let header = format!("{}in.h", &word[..word.len() - "a.c".len()]);
        let header = if word == "a.c" { "./in.h" } else { &header };
        let defines = [format!("-DNAME=\"{word}\""), format!("-DHEADER=\"{header}\"")];
        let directory = folder.path().join(directory);
        let output = folder.path().join("a.o");
        let words = ["-c", word, "-o", output.to_str().unwrap(), &defines[0], &defines[1]];
        // The key `file` may have another form than the word in the command.
        for file in [word, absolute.to_str().unwrap()] {
            let arguments = [&["clang"], &words[..]].concat();
            let database = serde_json::json!([{"directory": directory, "file": file, "arguments": arguments}]);
            folder.write("compile_commands.json", &database.to_string());
            let (code, message) = folder.code(&["verify", "-p", ".", "src/a.c", "--property", "unreach-call"]);
            assert_eq!(code, Some(0), "{word} {file}: {message}");
        }
        let mut build = Command::new(env!("CARGO_BIN_EXE_proviso"));
        build.current_dir(&directory).arg("cc").args(words).env("PROVISO_CC", "clang-19");
        assert!(build.status().unwrap().success());
        let (code, message) = folder.code(&["verify", "a.o", "--property", "unreach-call"]);
        assert_eq!(code, Some(0), "{word}: {message}");
    }
    // Messages and places have the path of the file, however the command names it.
    folder.write("src/a.c", "extern void reach_error(void);\nint main(void) { reach_error(); return 0; } // wrong\n");
    let arguments = ["clang", "-c", "../src/a.c"];
    let database =
        serde_json::json!([{"directory": folder.path().join("build"), "file": "../src/a.c", "arguments": arguments}]);
    folder.write("compile_commands.json", &database.to_string());
    let output = folder.run(&["verify", "-p", ".", "src/a.c", "--property", "unreach-call"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("src/a.c:2") && !text.contains("../src/a.c"), "{text}");
    folder.write("src/a.c", "int main(void) { return x; }\n");
    let message = folder.code(&["verify", "-p", ".", "src/a.c"]).1;
    assert!(message.contains(&format!("\n{}:1:25: error", folder.path().join("src/a.c").display())), "{message}");
}

/// With SSE2 disabled, the x87 computes, with more precision than the types have.
#[test]
fn floats_without_sse_have_no_verdict() {
    let body = "volatile double a = 1 + 0x1p-30, c = 1 + 0x1p-29; double r = a * a - c;";
    let converted = "volatile long n = (1L << 62) + 1; if ((double)n == 1.5) reach_error();";
    let single = "volatile float x = 1; if (x + x != 2) reach_error();";
    let folder = Folder::new(&format!(
        "#ifdef ATTRIBUTE\n__attribute__((target(\"no-sse2\")))\n#endif\nstatic void f(void) {{\n#if CASE == 1\n{body} if (r != 0) reach_error();\n\
         #elif CASE == 2\n{converted}\n#elif CASE == 3\n{single}\n#endif\n}}\n\
         int main(void) {{ f(); if (__VERIFIER_nondet_int() == 5 && CASE < 0) reach_error(); return 0; }}"
    ));
    let property = ["--property", "unreach-call"];
    for (options, case, code) in [
        ("", 1, 0),
        ("-mno-sse2", 1, 2),
        ("-mno-sse2", 2, 2),
        ("-mno-sse2", 3, 0),
        ("-mno-sse", 3, 2),
        ("-mavx -mno-sse2", 1, 2),
        ("-mno-sse2 -msse2", 1, 0),
        ("-mno-sse3 -mno-avx", 1, 0),
        ("-DATTRIBUTE", 1, 2),
        ("-mno-sse2", 4, 0),
    ] {
        let case = format!("-DCASE={case}");
        let options: Vec<&str> = options.split_whitespace().chain([case.as_str()]).collect();
        let (got, message) = folder.verify(&options, &property);
        assert_eq!(got, Some(code), "{options:?}: {message}");
    }
}

/// Options that disable checks, or change the behaviour after a failed check.
const SWITCHES: &[&str] = &[
    "-fno-sanitize=all",
    "-fno-sanitize=undefined",
    "-fno-sanitize=signed-integer-overflow,shift,array-bounds,null,alignment",
    "-fsanitize-trap=undefined",
    "-fsanitize=undefined -fsanitize-trap",
    "-fsanitize-undefined-trap-on-error",
    "-fsanitize-minimal-runtime",
    "-fsanitize-ignorelist=list",
    "-fsanitize-system-ignorelist=list",
    "-fno-sanitize-recover=all",
    "-fsanitize=address",
    "-fsanitize=thread",
    "-Xclang -fno-sanitize=all",
    "-Xclang -fsanitize-trap=signed-integer-overflow,shift,array-bounds",
    "-Xclang -fsanitize-ignorelist=list",
    "-fsanitize-recover=shift",
];
/// Checks, and bodies of programs that violate them.
const CHECKS: &[(&str, &str)] = &[
    ("signed-integer-overflow", "int x = __VERIFIER_nondet_int(); return x + 1 == 5;"),
    ("shift", "return 1 << __VERIFIER_nondet_int();"),
    ("bounds", "int a[3] = {0}; int x = __VERIFIER_nondet_int(); return x < 0 || a[x];"),
    ("float-cast-overflow", "return (int)(1e9f * __VERIFIER_nondet_int());"),
    ("implicit-conversion", "unsigned char c = __VERIFIER_nondet_int(); return c;"),
];

#[test]
fn no_option_switches_checks_off() {
    let body: Vec<String> = CHECKS
        .iter()
        .map(|(check, body)| format!("#ifdef CHECK_{}\nint main(void) {{ {body} }}\n#endif", check.replace('-', "_")))
        .collect();
    let folder = Folder::new(&body.join("\n"));
    folder.write("list", "src:*\nfun:*\n");
    for (n, switch) in SWITCHES.iter().enumerate() {
        let switch: Vec<&str> = switch.split(' ').collect();
        // Each option is tried with the most common check and with one other.
        for (check, _) in [&CHECKS[0], &CHECKS[1 + n % (CHECKS.len() - 1)]] {
            let define = format!("-DCHECK_{}", check.replace('-', "_"));
            let ask = ["--check", check];
            let (code, message) = folder.code(&[&["verify", "a.c"], &ask[..], &["--", &define], &switch].concat());
            assert_eq!(code, Some(1), "{check} -- {switch:?}: {message}");
            let (code, message) = folder.verify(&[&[define.as_str()], &switch[..]].concat(), &ask);
            assert_eq!(code, Some(1), "{check} -p {switch:?}: {message}");
        }
    }
}
