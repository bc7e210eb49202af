//! `proviso cc` as the compiler of a project's build, and the verification of the binaries that it makes.

use std::path::Path;
use std::process::{Command, Output, Stdio};

const PROVISO: &str = env!("CARGO_BIN_EXE_proviso");

fn verdict(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    if last.is_empty() { String::from_utf8_lossy(&output.stderr).into_owned() } else { last.to_owned() }
}

fn verify(folder: &Path, args: &[&str]) -> String {
    verdict(&Command::new(PROVISO).current_dir(folder).arg("verify").args(args).output().unwrap())
}

fn make(folder: &Path, script: &str) {
    let script = script.replace("CC", &format!("'{PROVISO}' cc"));
    let status = Command::new("sh").args(["-e", "-c", &script]).current_dir(folder).status().unwrap();
    assert!(status.success(), "{script}");
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    write("lib/limit.h", "extern int limit(int);\n");
    write("lib/limit.c", "#include \"limit.h\"\nint limit(int x) { return x > LIMIT ? LIMIT : x; }\n");
    write("lib/unused.c", "int unused(void) { return 1; }\n");
    let main = "#include <assert.h>\n#include <limit.h>\nint __VERIFIER_nondet_int(void);\n\
                int main(void) { assert(limit(__VERIFIER_nondet_int()) <= BOUND); return 0; }\n";
    write("main.c", main);
    write("input.c", "int __VERIFIER_nondet_int(void) { return 3; }\n");
    folder
}

#[test]
fn a_program_knows_how_it_was_compiled() {
    let folder = project();
    let path = folder.path();
    make(
        path,
        "CC -c -DLIMIT=9 -O2 -o limit.o lib/limit.c && (cd lib && CC -c unused.c) && ar rc lib.a limit.o lib/unused.o && \
         CC -Ilib -DBOUND=9 main.c -g -c && cc -c input.c && CC main.o input.o lib.a -o good && \
         CC -DBOUND=8 -Ilib main.c input.o lib.a -o bad && ./good && ./bad",
    );
    // Objects of another compiler have no records and are treated as unknown code.
    assert_eq!(verify(path, &["good"]), "TRUE");
    assert_eq!(verify(path, &["bad"]), "FALSE(unreach-call)");
    assert_eq!(verify(path, &["lib.a", "main.o"]), "TRUE");
    assert_eq!(verify(path, &["limit.o", "main.o"]), "TRUE");
    // Meson's archives name their members.
    make(path, "mkdir out && ar rcT out/thin.a limit.o lib/unused.o");
    assert_eq!(verify(path, &["out/thin.a", "main.o"]), "TRUE");
    std::fs::rename(path.join("limit.o"), path.join("gone.o")).unwrap();
    let output = verify(path, &["out/thin.a", "main.o"]);
    assert!(output.contains("cannot read out/../limit.o"), "{output}");
    let output = verify(path, &["/bin/true"]);
    assert!(output.contains("proviso cc"), "{output}");
}

#[test]
fn the_compiler_is_the_projects() {
    let folder = project();
    let cc = |args: &[&str]| Command::new(PROVISO).arg("cc").args(args).current_dir(folder.path()).output().unwrap();
    let own = Command::new("cc").arg("--version").output().unwrap();
    assert_eq!(cc(&["--version"]).stdout, own.stdout);
    let output = cc(&["-c", "lib/limit.c"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("LIMIT"));
    assert!(!folder.path().join("limit.o").exists());
    let output = Command::new(PROVISO).arg("cc").arg("-c").env("PROVISO_CC", "no-such-compiler").output().unwrap();
    assert_eq!(output.status.code(), Some(127));
}

#[test]
fn bitcode_that_clang_embeds_and_standard_input() {
    let folder = project();
    let clang = |args: &[&str]| {
        let status = Command::new("clang-19").args(args).current_dir(folder.path()).status().unwrap();
        assert!(status.success());
    };
    clang(&["-fembed-bitcode", "-g", "-DLIMIT=9", "-c", "lib/limit.c", "-o", "embedded.o"]);
    clang(&["-flto", "-g", "-DBOUND=9", "-Ilib", "-c", "main.c", "-o", "lto.o"]);
    assert_eq!(verify(folder.path(), &["embedded.o", "lto.o"]), "TRUE");
    // A linker concatenates embedded modules.
    clang(&["-fembed-bitcode", "-g", "-DBOUND=9", "-Ilib", "-c", "main.c", "-o", "main.o"]);
    let status =
        Command::new("ld").args(["-r", "main.o", "embedded.o", "-o", "both.o"]).current_dir(folder.path()).status();
    assert!(status.unwrap().success());
    assert_eq!(verify(folder.path(), &["both.o"]), "TRUE");
    clang(&[
        "-fembed-bitcode",
        "-g",
        "-DBOUND=2",
        "-DLIMIT=9",
        "-Ilib",
        "main.c",
        "lib/limit.c",
        "input.c",
        "-o",
        "whole",
    ]);
    assert_eq!(verify(folder.path(), &["whole"]), FALSE);
    let mut child = Command::new(PROVISO);
    let mut child = child.args(["verify", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let text = "void reach_error(void); int main(void) { reach_error(); }";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert_eq!(verdict(&child.wait_with_output().unwrap()), "FALSE(unreach-call)");
}

/// Makes a folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

const REACH_ERROR: &str = "#include <stdlib.h>\nvoid reach_error(void) { abort(); }\n";
const FALSE: &str = "FALSE(unreach-call)";

/// Runs a linked program. Returns true if a signal ends it, as in `reach_error`, which aborts.
fn aborts(folder: &Path, program: &str) -> bool {
    use std::os::unix::process::ExitStatusExt;
    let status = Command::new(folder.join(program)).status().unwrap();
    status.signal().is_some()
}

#[test]
fn a_file_that_is_compiled_twice_is_two_parts_of_the_program() {
    let part = "extern int total;\nstatic int own(void) { return X; }\n\
                __attribute__((constructor)) static void init(void) { static int calls; total += own() + 10 * ++calls; }\n";
    let main =
        format!("{REACH_ERROR}int total;\nint main(void) {{ if (total == EXPECTED) reach_error(); return 0; }}\n");
    let folder = folder(&[("part.c", part), ("main.c", &main)]);
    let path = folder.path();
    make(
        path,
        "CC -DX=1 -c part.c -o p1.o && CC -DX=2 -c part.c -o p2.o && CC -DX=2 -c part.c -o p3.o && \
         CC -DEXPECTED=23 -c main.c && CC main.o p1.o p2.o -o two && CC -DX=2 -DEXPECTED=34 main.c part.c p3.o p2.o -o three && \
         CC -DEXPECTED=21 main.c p1.o p2.o -o other",
    );
    for (program, verdict) in [("two", FALSE), ("three", "TRUE"), ("other", "TRUE")] {
        assert_eq!(aborts(path, program), verdict == FALSE, "{program}");
        assert_eq!(verify(path, &[program, "--property", "unreach-call"]), verdict, "{program}");
    }
    assert_eq!(verify(path, &["main.o", "p1.o", "p2.o", "--property", "unreach-call"]), FALSE);
    assert_eq!(verify(path, &["main.o", "p2.o", "p3.o", "--property", "unreach-call"]), "TRUE");
    let output = verify(path, &["p1.o", "p2.o", "--entry", "own"]);
    assert!(output.contains("own is a static function of"), "{output}");
    // As for a linker, an object that is named twice is linked twice, so its symbols have two definitions.
    let output = verify(path, &["main.o", "main.o"]);
    assert!(output.contains("defines 'total', which another file defines, too"), "{output}");
}

#[test]
fn references_that_the_linker_replaces() {
    let main = format!("{REACH_ERROR}int get(void);\nint main(void) {{ if (get() == 2) reach_error(); return 0; }}\n");
    let wrapper = "int __real_get(void); int get(void);\nint __wrap_get(void) { return __real_get() + 1; }\n";
    let defines = format!("{main}int __wrap_get(void) {{ return 2; }}\nint get(void) {{ return 1; }}\n");
    let own = "static int get(void) { return 3; } int unused(void) { return get(); }\n";
    let folder = folder(&[
        ("main.c", &main),
        ("wrapper.c", wrapper),
        ("get.c", "int get(void) { return 1; }\nint again(void) { return get(); }\n"),
        ("other.c", "int other(void) { return 2; }\n"),
        ("defines.c", &defines),
        ("own.c", own),
    ]);
    let path = folder.path();
    make(
        path,
        "for file in main wrapper get other own; do CC -c $file.c; done; \
         CC main.o wrapper.o get.o own.o -Wl,--wrap=get -o wrapped; \
         CC main.c wrapper.c get.o -Xlinker --wrap -Xlinker get -o together; \
         CC main.o get.o -o plain; CC main.o other.o -Wl,--defsym,get=other -o defined; \
         echo --wrap=get > options; CC main.o wrapper.o get.o -Wl,@options -o response; \
         CC defines.c -Wl,--wrap=get -o defines",
    );
    // `--wrap` does not replace references to a symbol in the object that defines it.
    for (program, verdict) in [
        ("wrapped", FALSE),
        ("together", FALSE),
        ("plain", "TRUE"),
        ("defined", FALSE),
        ("response", FALSE),
        ("defines", "TRUE"),
    ] {
        assert_eq!(aborts(path, program), verdict == FALSE, "{program}");
        assert_eq!(verify(path, &[program, "--property", "unreach-call"]), verdict, "{program}");
    }
    // The linker options recorded in a program do not apply to the other files of the command line.
    assert_eq!(verify(path, &["main.o", "wrapper.o", "get.o", "--property", "unreach-call"]), "TRUE");
}

#[test]
fn options_of_the_linker_are_not_dropped_in_silence() {
    let start = "int get(void) { return 1; }\nint main(void) { return get(); }\nvoid go(void) { for (;;) ; }\n";
    let folder = folder(&[("main.c", start), ("v.map", "{ global: main; local: *; };\n"), ("own.ld", "get = main;\n")]);
    let path = folder.path();
    make(
        path,
        "CC -c main.c; CC main.o -Wl,-O1,--as-needed,--gc-sections -Wl,-rpath,/x -Wl,-z,now -o plain; \
         CC main.o -Wl,--version-script=v.map -o versions; CC main.o -Wl,-e,go -o elsewhere; CC main.o -Wl,-z,muldefs -o several; \
         CC main.o -nostartfiles -Wl,--entry=go -o bare; CC main.o -Wl,--defsym=here=0x1000 -o number; CC main.o own.ld -o script",
    );
    let run = |args: &[&str]| {
        let output = Command::new(PROVISO).current_dir(path).arg("verify").args(args).output().unwrap();
        (verdict(&output), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (line, messages) = run(&["plain"]);
    assert_eq!(line, "TRUE");
    assert!(!messages.contains("linked"), "{messages}");
    let (line, messages) = run(&["versions"]);
    assert_eq!(line, "TRUE");
    assert!(
        messages.contains(
            "versions is linked with a linker option that is taken to change nothing: --version-script=v.map"
        ),
        "{messages}"
    );
    for (program, message) in [
        ("several", "several is linked with -z muldefs, which is not represented"),
        ("number", "number is linked with --defsym=here=0x1000, which is not represented"),
        ("elsewhere", "elsewhere is linked with -e go: it does not start at main"),
        ("bare", "it does not start at main"),
        ("script", "the source of own.ld, which is a part of script, is unknown"),
    ] {
        let (_, messages) = run(&[program]);
        assert!(messages.contains(message), "{program}: {messages}");
    }
    assert_eq!(run(&["elsewhere", "--entry", "main"]).0, "TRUE");
}

/// Objects without records are unknown parts of the program. They are not ignored.
#[test]
fn objects_of_other_origin() {
    let main = format!(
        "{REACH_ERROR}#include <string.h>\n#include <ctype.h>\nint state;\n\
         int main(int argc, char **argv) {{ if (strnlen(argv[0], 0) != 0) reach_error(); return 0; }}\n"
    );
    let folder = folder(&[
        ("main.c", &main),
        ("length.c", "unsigned long strnlen(const char *s, unsigned long n) { return 7; }\n"),
        ("init.c", "extern int state; __attribute__((constructor)) static void init(void) { state = 1; }\n"),
        ("more.s", ".globl more\nmore: ret\n"),
    ]);
    let path = folder.path();
    make(
        path,
        "CC -c main.c; cc -fno-builtin -c length.c; cc -c init.c; cc -fno-builtin -fPIC -shared length.c -o liblength.so; ar rc liblength.a length.o; \
         CC main.o -o plain; CC main.o length.o -o object; CC main.o liblength.a -o archive; CC main.o -L. -llength -o library; \
         CC main.o ./liblength.so -o path; CC main.o init.o -o constructor; CC main.o more.s -o assembly",
    );
    let run = |program: &str| verify(path, &[program, "--property", "unreach-call"]);
    assert_eq!(run("plain"), "TRUE");
    for program in ["object", "archive", "library", "path"] {
        assert!(run(program).starts_with("UNKNOWN"), "{program}: {}", run(program));
    }
    assert!(verify(path, &["main.o", "liblength.a"]).contains("are unknown"));
    for (program, part) in [("constructor", "init.o"), ("assembly", "more.s")] {
        let output = run(program);
        assert!(
            output.contains(&format!("the source of {part}, which is a part of {program}, is unknown")),
            "{output}"
        );
    }
}

/// A strong definition in an object without records replaces definitions that are not strong: a proof must not rest on
/// these.
#[test]
fn definitions_that_unknown_objects_replace() {
    let cases = [
        ("f", "__attribute__((weak)) int f(void) { return 1; }", "f() == 1"),
        ("f", "int one(void) { return 1; } int f(void) __attribute__((weak, alias(\"one\")));", "f() == 1"),
        ("f", "extern int f(void) __attribute__((weak));", "!f"),
        ("f", "inline int f(void) { return 1; }", "f() == 1"),
        ("x", "__attribute__((weak)) int x = 1;", "x == 1"),
        ("x", "__attribute__((weak)) const int x = 1;", "x == 1"),
        ("x", "int y = 1; extern int x __attribute__((weak, alias(\"y\")));", "x == 1"),
        ("x", "extern int x __attribute__((weak));", "!&x"),
        ("x", "int x;", "x == 0"),
        (
            "strnlen",
            "__attribute__((weak)) unsigned long strnlen(const char *s, unsigned long n) { return 1; }",
            "strnlen(\"\", 0) == 1",
        ),
    ];
    let strong =
        "int f(void) { return 2; }\nint x = 2;\nunsigned long strnlen(const char *s, unsigned long n) { return 2; }\n";
    let folder = folder(&[("strong.c", strong), ("other.c", "int f(void) { return 1; }\n")]);
    let path = folder.path();
    make(path, "cc -fno-builtin -c strong.c; cc -c other.c");
    for (symbol, definition, holds) in cases {
        let main =
            format!("{REACH_ERROR}{definition}\nint main(void) {{ if (!({holds})) reach_error(); return 0; }}\n");
        std::fs::write(path.join("main.c"), main).unwrap();
        make(path, "CC -O0 -fno-builtin -fcommon -c main.c; CC main.o strong.o -o replaced");
        assert!(aborts(path, "replaced"), "{definition}");
        let found = verify(path, &["replaced", "--property", "unreach-call"]);
        // The address of the function is known not to be null.
        let expected = if holds == "!f" { FALSE } else { "UNKNOWN" };
        assert!(found.starts_with(expected), "{symbol}: {definition}: {found}");
        // Alone, and with an object that defines no such variable, the definitions count.
        let alone = if definition.contains("inline") { "other.o" } else { "" };
        make(path, &format!("CC main.o {alone} -o alone"));
        assert!(!aborts(path, "alone"), "{definition}");
        let expected = if alone.is_empty() { "TRUE" } else { "UNKNOWN" };
        assert!(verify(path, &["alone", "--property", "unreach-call"]).starts_with(expected), "{definition}");
    }
}

/// Compilers may use the definition in the same object instead of the one of `--defsym`.
#[test]
fn symbols_that_the_linker_defines_again() {
    let main = format!("{REACH_ERROR}int f(void);\nint main(void) {{ if (f() == 2) reach_error(); return 0; }}\n");
    let both = format!("{main}int f(void) {{ return 1; }}\nint g(void) {{ return 2; }}\n");
    let folder = folder(&[
        ("main.c", &main),
        ("both.c", &both),
        ("g.c", "int g(void) { return 2; }\n"),
        ("f.c", "int f(void) { return 1; }\n"),
    ]);
    let path = folder.path();
    make(
        path,
        "CC both.c -Wl,--defsym=f=g -o both; CC main.c f.c g.c -Wl,--defs,f=g -o apart; CC both.c -Wl,--defsym=main=g -o start; \
         CC both.c -Wl,--defsym=h=g -o neither",
    );
    let run = |program: &str| verify(path, &[program, "--property", "unreach-call"]);
    assert!(aborts(path, "both") && aborts(path, "apart"));
    assert!(run("both").contains("uses f, which it defines and --defsym defines again"), "{}", run("both"));
    assert_eq!(run("apart"), FALSE);
    assert!(run("start").contains("it does not start at main"), "{}", run("start"));
    assert_eq!(run("neither"), "TRUE");
}

/// Code that the loader runs before `main` or after its end, in objects without records and in shared libraries.
#[test]
fn code_that_runs_on_its_own() {
    let main = format!(
        "{REACH_ERROR}int flag; int unused(void);\nint main(void) {{ if (flag) reach_error(); return flag == 7 ? unused() : 0; }}\n"
    );
    let code = "extern int flag; int unused(void) { return 1; }\nvoid set(void) { flag = 1; }\n";
    let folder = folder(&[("main.c", &main), ("code.c", code)]);
    let path = folder.path();
    make(
        path,
        "CC -c main.c; CC -fPIC -shared code.c -o libplain.so; cc -c code.c; CC main.o ./libplain.so -o plain; CC main.o code.o -o object",
    );
    // Without such code, the library is unknown only where the program calls it.
    for program in ["plain", "object"] {
        assert_eq!(verify(path, &[program, "--property", "unreach-call"]), "TRUE", "{program}");
    }
    let attribute = |name: &str| format!("__attribute__(({name})) static void own(void) {{ set(); }}\n");
    let pointer =
        |section: &str| format!("__attribute__((section(\"{section}\"), used)) static void (*own)(void) = set;\n");
    // In a shared library, the assembler's call needs no symbol that the dynamic linker resolves.
    let call = |section: &str| {
        format!(
            "__attribute__((used)) static void own(void) {{ set(); }}\n__asm__(\".section {section}, \\\"ax\\\"\\ncall own\\n.text\");\n"
        )
    };
    for (text, options) in [
        (attribute("constructor"), ""),
        (attribute("destructor"), ""),
        (attribute("constructor(200)"), ""),
        (pointer(".init_array"), ""),
        (pointer(".fini_array"), ""),
        (call(".init"), ""),
        (call(".fini"), ""),
        (String::new(), "-Wl,-init=set"),
        (String::new(), "-Wl,-fini=set"),
    ] {
        std::fs::write(path.join("own.c"), format!("{code}{text}")).unwrap();
        make(path, &format!("CC -fPIC -shared own.c {options} -o libown.so; CC main.o ./libown.so -o program"));
        let found = verify(path, &["program", "--property", "unreach-call"]);
        let message = "the source of ./libown.so, which is a part of program, is unknown";
        assert!(found.contains(message), "{text}{options}: {found}");
        // Only the linker calls `set` then.
        if options.is_empty() {
            make(path, "cc -fPIC -c own.c; CC main.o own.o -o program");
            let found = verify(path, &["program", "--property", "unreach-call"]);
            assert!(found.contains("the source of own.o, which is a part of program, is unknown"), "{text}: {found}");
        }
    }
    // A library that is required by another one runs its code, too. One that is not required does not run it.
    std::fs::write(path.join("own.c"), format!("{code}{}", attribute("constructor"))).unwrap();
    std::fs::write(path.join("user.c"), "int set(void); int unused(void); int use(void) { return set(); }\n").unwrap();
    let calls = format!(
        "{REACH_ERROR}int flag; int use(void);\nint main(void) {{ if (flag) reach_error(); return flag == 7 ? use() : 0; }}\n"
    );
    std::fs::write(path.join("calls.c"), calls).unwrap();
    make(
        path,
        "mkdir lib; CC -fPIC -shared own.c -o lib/libown.so; CC -fPIC -shared user.c -Llib -lown -Wl,-rpath,'$ORIGIN' -o lib/libuser.so; \
         CC calls.c -Llib -luser -Wl,-rpath,\"$PWD/lib\" -o required; \
         CC main.c libplain.so -Wl,--as-needed ./libown.so -o unneeded",
    );
    assert!(aborts(path, "required"));
    let found = verify(path, &["required", "--property", "unreach-call"]);
    assert!(found.contains("lib/libown.so, which is a part of required, is unknown"), "{found}");
    assert_eq!(verify(path, &["unneeded", "--property", "unreach-call"]), "TRUE");
}

/// A member of an archive is part of the program if it defines an undefined symbol, as for linkers.
#[test]
fn members_of_archives_are_parts_if_they_are_needed() {
    let main = format!(
        "{REACH_ERROR}int value(void); int state;\nint main(void) {{ if (value() + state != 1) reach_error(); return 0; }}\n"
    );
    let folder = folder(&[
        ("main.c", &main),
        ("value.c", "int helper(void); int value(void) { return helper(); }\n"),
        ("helper.c", "int helper(void) { return 1; }\n"),
        ("again.c", "int value(void) { return 5; }\n"),
        (
            "init.c",
            "extern int state; __attribute__((constructor)) static void init(void) { state = 1; }\nint unused(void) { return 0; }\n",
        ),
    ]);
    let path = folder.path();
    make(
        path,
        "for file in main value helper again init; do CC -c $file.c; done; ar rc lib.a helper.o value.o again.o init.o; CC main.o lib.a -o program",
    );
    assert!(!aborts(path, "program"));
    for inputs in [&["program"][..], &["main.o", "lib.a"], &["lib.a", "main.c"]] {
        assert_eq!(verify(path, &[inputs, &["--property", "unreach-call"]].concat()), "TRUE", "{inputs:?}");
    }
    assert_eq!(verify(path, &["main.o", "init.o", "lib.a", "--property", "unreach-call"]), FALSE);
}

#[test]
fn the_target_of_the_compiler_is_recorded() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(&[("a.c", "int main(void) { return 0; }\n")]);
    let script = folder.path().join("compiler");
    std::fs::write(&script, "#!/bin/sh\n[ \"$1\" = -dumpmachine ] && echo arm-none-eabi && exit\nexec cc \"$@\"\n")
        .unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let cc = |args: &[&str]| {
        let mut command = Command::new(PROVISO);
        command.arg("cc").args(args).env("PROVISO_CC", &script).current_dir(folder.path());
        assert!(command.status().unwrap().success());
    };
    cc(&["-c", "a.c", "-o", "a.o"]);
    let output = verify(folder.path(), &["a.o"]);
    assert!(output.contains("(--target=arm-none-eabi), which is not supported"), "{output}");
    make(folder.path(), "CC -m32 -c a.c -o b.o");
    assert_eq!(verify(folder.path(), &["b.o", "--32"]), "TRUE");
}

/// A file is preprocessed once more without the sanitizers of the checks only if its text may depend on them.
#[test]
fn files_without_names_of_sanitizers_are_preprocessed_once() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (clang, log) = (path("clang"), path("log"));
    std::fs::write(&clang, format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec clang-19 \"$@\"\n", log.display())).unwrap();
    std::fs::set_permissions(&clang, std::fs::Permissions::from_mode(0o755)).unwrap();
    let runs_of_the_preprocessor = |text: &str| {
        std::fs::write(path("a.c"), format!("#include <stdlib.h>\n{text}\nint main(void) {{ return 0; }}\n")).unwrap();
        std::fs::write(&log, "").unwrap();
        let mut command = Command::new(PROVISO);
        command.current_dir(&folder).args(["verify", "a.c", "--check", "shift"]).env("PROVISO_CLANG", &clang);
        assert_eq!(verdict(&command.output().unwrap()), "TRUE");
        let log = std::fs::read_to_string(&log).unwrap();
        assert!(log.contains("-fsanitize=shift"), "{log}");
        log.lines().filter(|line| line.split(' ').any(|word| word == "-E")).count()
    };
    assert_eq!(runs_of_the_preprocessor("int x;"), 0);
    assert_eq!(runs_of_the_preprocessor("int x = __has_feature(undefined_behavior_sanitizer);"), 2);
    assert_eq!(runs_of_the_preprocessor("#define FEATURE(a, b) __has_feature(a##b)\nint x;"), 2);
}
