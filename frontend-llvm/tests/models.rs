//! The models of the C library against the C library itself, natively, on random inputs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The seed: `PROVISO_TEST_SEED`, or a fresh one, which a failure shows.
fn seed() -> u64 {
    match std::env::var("PROVISO_TEST_SEED") {
        Ok(seed) => seed.parse().expect("PROVISO_TEST_SEED is a number"),
        Err(_) => SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64,
    }
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{text}", output.status);
    text
}

/// Names that a model file says it defines, through what it includes, too.
fn defined(folder: &Path, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let mut names = Vec::new();
    for line in text.lines() {
        if let Some(list) = line.strip_prefix("// Defines:") {
            names.extend(list.split_whitespace().map(str::to_owned));
        }
        if let Some(included) = line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"')) {
            names.extend(defined(folder, included));
        }
    }
    names
}

/// Compiles the models of `files` with their names prefixed, and a test program that compares them with the C
/// library; runs it.
fn compare(test: &str, files: &[&str]) {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (models, native) = (crate_folder.join("models"), crate_folder.join("tests/native"));
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { dir.path().join(name) };

    let mut unit = String::from("#define PROVISO_ERRNO\n");
    for name in files.iter().chain(&["errno.c"]).flat_map(|file| defined(&models, file)) {
        // `printf.void` and its like are no C names, and are not called here.
        if !name.contains('.') {
            unit.push_str(&format!("#define {name} model_{name}\n"));
        }
    }
    for file in files.iter().chain(&["errno.c"]) {
        unit.push_str(&format!("#include \"{file}\"\n"));
    }
    std::fs::write(path("models.c"), unit).unwrap();
    let clang = std::env::var("PROVISO_CLANG").unwrap_or("clang-19".into());
    let compile = |source: &Path, object: &Path, flags: &[&str]| {
        run(Command::new(&clang).args(flags).args(["-w", "-c", "-ffp-contract=off"]).arg(source).arg("-o").arg(object));
    };
    compile(
        &path("models.c"),
        &path("models.o"),
        &["-nostdinc", "-fno-math-errno", "-O0", "-I", models.to_str().unwrap()],
    );
    compile(&native.join("harness.c"), &path("harness.o"), &["-O1"]);
    // What the test calls is the C library's function, not an instruction.
    compile(&native.join(format!("{test}.c")), &path("test.o"), &["-O1", "-fno-builtin"]);
    run(Command::new(&clang)
        .args([path("models.o"), path("harness.o"), path("test.o")])
        .arg("-lm")
        .arg("-o")
        .arg(path("test")));
    let seed = seed();
    eprintln!("{test}: PROVISO_TEST_SEED={seed}: {}", run(Command::new(path("test")).arg(seed.to_string())).trim());
}

#[test]
fn string() {
    compare("string", &["string.c", "ctype.c"]);
}

#[test]
fn stdlib() {
    compare("stdlib", &["stdlib.c"]);
}

#[test]
fn stdio() {
    compare("stdio", &["printf.c", "scanf.c", "stdio.c"]);
}

#[test]
fn math() {
    let files = ["math.c", "mathf.c", "mathl.c", "transcendental.c", "transcendentalf.c", "transcendentall.c"];
    compare("math", &files);
}
