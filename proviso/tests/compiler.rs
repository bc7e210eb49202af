//! `proviso cc`: a project's own build, and what is verified of what it makes.

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
    // What another compiler has made is not known.
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
    let mut child = Command::new(PROVISO);
    let mut child = child.args(["verify", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let text = "void reach_error(void); int main(void) { reach_error(); }";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert_eq!(verdict(&child.wait_with_output().unwrap()), "FALSE(unreach-call)");
}
