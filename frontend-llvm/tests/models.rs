//! Compares the models of the C library with the real C library, natively and on random inputs: results, `errno`,
//! output parameters, and memory. See `native/harness.h`.
//!
//! Environment variables: `PROVISO_TEST_SEED` is the seed (by default a new one, which a failure reports).
//! `PROVISO_MODEL_CALLS` is the number of runs of each driver (by default a few hundred; a million finds rare
//! differences). `PROVISO_MODEL_DRIVERS` are the names of drivers, separated by spaces (by default all).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The seed: `PROVISO_TEST_SEED`, or a new one, which a failure reports.
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

/// The names in the list of definitions of a model file, including those of included files.
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

/// Compiles the models of `files` with prefixed names, and the drivers of `test`, and runs all drivers.
fn compare(test: &str, files: &[&str], calls: u32) {
    let clang = std::env::var("PROVISO_CLANG").unwrap_or("clang-19".into());
    // 32-bit code uses SSE, as the interpreter computes.
    let machines: [(&str, &[&str]); 2] = [("64 bits", &["-m64"]), ("32 bits", &["-m32", "-msse2", "-mfpmath=sse"])];
    let seed = seed();
    let calls = std::env::var("PROVISO_MODEL_CALLS").unwrap_or(calls.to_string());
    let drivers = std::env::var("PROVISO_MODEL_DRIVERS").unwrap_or_default();
    for (name, machine) in machines {
        let dir = tempfile::tempdir().unwrap();
        let program = build(&clang, machine, test, files, dir.path());
        eprintln!("{test}, {name}: PROVISO_TEST_SEED={seed} PROVISO_MODEL_CALLS={calls}");
        let mut command = Command::new(program);
        command.args([&seed.to_string(), &calls, "compare"]).args(drivers.split_whitespace());
        eprintln!("{}", run(&mut command));
    }
}

fn build(clang: &str, machine: &[&str], test: &str, files: &[&str], dir: &Path) -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (models, native) = (crate_folder.join("models"), crate_folder.join("tests/native"));
    let files: Vec<&str> = files.iter().copied().chain(["errno.c"]).collect();
    let names: BTreeSet<String> = files.iter().flat_map(|file| defined(&models, file)).collect();
    // The state of models is in separate sections, so that the harness can reset it.
    let mut unit = String::from(
        "#define PROVISO_ERRNO\n#define PROVISO_WIDE\n#define PROVISO_SCANS\n#define PROVISO_POSITIONS\n#define PROVISO_PUSHES\n#define PROVISO_DESCRIPTORS\n#define PROVISO_FILES\n\
         #define PROVISO_SEEDS\n#define PROVISO_RESEEDS\n#pragma clang section bss=\"model_bss\" data=\"model_data\"\n\
         #define malloc model_malloc\n#define free model_free\n",
    );
    // `printf.void` and similar names are no C names, and are not called here.
    for name in names.iter().filter(|name| !name.contains('.')) {
        unit.push_str(&format!("#define {name} model_{name}\n"));
    }
    for file in files {
        unit.push_str(&format!("#include \"{file}\"\n"));
    }
    let path = |name: &str| dir.join(name);
    std::fs::write(path("models.c"), unit).unwrap();
    let compile = |source: PathBuf, object: &str, flags: &[&str]| {
        let mut command = Command::new(clang);
        command.args(machine).args(flags).args(["-w", "-c", "-ffp-contract=off"]);
        run(command.arg(source).arg("-o").arg(path(object)));
    };
    let models = models.to_str().unwrap();
    compile(path("models.c"), "models.o", &["-nostdinc", "-fno-math-errno", "-O0", "-I", models]);
    compile(native.join("harness.c"), "harness.o", &["-O1"]);
    compile(native.join("inputs.c"), "inputs.o", &["-O1"]);
    // The test must call the C library's function instead of an instruction.
    compile(native.join(format!("{test}.c")), "test.o", &["-O1", "-fno-builtin"]);
    let objects = ["models.o", "harness.o", "inputs.o", "test.o"].map(path);
    run(Command::new(clang).args(machine).args(objects).arg("-lm").arg("-o").arg(path("test")));
    path("test")
}

#[test]
fn string() {
    compare("string", &["string.c", "messages.c"], 2000);
}

#[test]
fn wide() {
    compare("wide", &["wide.c", "wctype.c", "multibyte.c", "wnumber.c"], 2000);
}

#[test]
fn wstdio() {
    compare("wstdio", &["wstdio.c", "wscanf.c"], 500);
}

#[test]
fn ctype() {
    compare("ctype", &["ctype.c"], 2000);
}

#[test]
fn stdlib() {
    compare("stdlib", &["stdlib.c", "alloc.c", "environment.c", "string.c"], 1000);
}

#[test]
fn search() {
    compare("search", &["search.c"], 1000);
}

#[test]
fn stdio() {
    compare("stdio", &["printf.c", "scanf.c", "stdio.c", "string.c", "mounts.c"], 500);
}

#[test]
fn system() {
    compare("system", &["network.c", "sched.c", "getopt.c", "iconv.c"], 2000);
}

#[test]
fn unistd() {
    compare("unistd", &["unistd.c", "socket.c"], 500);
}

#[test]
fn files() {
    compare("files", &["files.c", "process.c"], 500);
}

#[test]
fn folders() {
    compare("folders", &["folders.c", "mman.c", "regex.c"], 500);
}

#[test]
fn report() {
    compare("report", &["report.c"], 500);
}

#[test]
fn users() {
    compare("users", &["users.c"], 300);
}

#[test]
fn signal() {
    compare("signal", &["signal.c"], 2000);
}

#[test]
fn locale() {
    compare("locale", &["locale.c"], 500);
}

#[test]
fn fenv() {
    compare("fenv", &["fenv.c"], 500);
}

#[test]
fn time() {
    compare("time", &["time.c"], 500);
}

#[test]
fn math() {
    let files = ["math.c", "mathf.c", "mathl.c", "transcendental.c", "transcendentalf.c", "transcendentall.c"];
    compare("math", &files, 1000);
}

#[test]
fn complex() {
    compare("complex", &["complex.c", "complexf.c", "complexl.c"], 1000);
}

#[test]
fn pthread() {
    compare("pthread", &["pthread.c", "threads.c"], 1000);
}
