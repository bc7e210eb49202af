//! Projects: files are compiled with the options of the project's build.

use std::path::PathBuf;
use std::process::{Command, Output};

struct Project(tempfile::TempDir);

impl Project {
    /// A library with headers in several folders and options that only its build knows.
    fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        for folder in ["src", "include", "system", "build"] {
            std::fs::create_dir(project.path(folder)).unwrap();
        }
        project.write("include/limit.h", "int clamp(int value);\n");
        project.write("system/sys.h", "#define MOST (LIMIT - 1)\n");
        project.write("build/config.h", "#define CONFIGURED 1\n");
        project.write(
            "src/clamp.c",
            "#include <limit.h>\n#include <sys.h>\n#ifndef CONFIGURED\n#error configure first\n#endif\n\
             int clamp(int value) {\n    return value > MOST ? MOST : value;\n}\n",
        );
        project.write(
            "src/driver.c",
            "#include \"limit.h\"\nextern void reach_error(void);\nextern int __VERIFIER_nondet_int(void);\n\
             int main(void) {\n    if (clamp(__VERIFIER_nondet_int()) >= LIMIT)\n        reach_error();\n    return 0;\n}\n",
        );
        project.write_database("-DLIMIT=8");
        project
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }
    /// Writes a compilation database with one entry in CMake's style and one in bear's style.
    fn write_database(&self, define: &str) {
        let build = self.path("build");
        let database = serde_json::json!([
            {"directory": build, "file": "../src/clamp.c",
             "command": format!("gcc {define} \"-DNAME=\\\"a b\\\"\" -I../include -isystem ../system -include config.h \
                                 -std=gnu99 -O2 -Wall -fstack-protector-strong -fno-tree-vectorize -MD -MF x.d -o x.o -c ../src/clamp.c")},
            {"directory": build, "file": self.path("src/driver.c"),
             "arguments": ["cc", "-I", "../include", define, "-fPIC", "-c", "-o", "y.o", self.path("src/driver.c")]},
        ]);
        self.write("build/compile_commands.json", &database.to_string());
    }
    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_proviso")).current_dir(self.0.path()).args(args).output().unwrap()
    }
    fn code(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.run(args);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The commands that a message offers for the candidates of a name.
fn offered(message: &str) -> Vec<&str> {
    message.lines().filter_map(|line| line.trim().strip_prefix("=       proviso ")).collect()
}

/// A message about several candidates offers a command for each, and each of them is unambiguous.
#[test]
fn candidates_come_with_commands() {
    let project = Project::new();
    for folder in ["one", "two"] {
        std::fs::create_dir(project.path(folder)).unwrap();
        project.write(&format!("{folder}/main.c"), "int main(void) { return 0; }\n");
    }
    let entry = |file: &str, object: &str, define: &str| serde_json::json!({"directory": project.path("build"), "file": file, "arguments": ["cc", define, "-c", "-o", object, file]});
    let entries = [entry("../one/main.c", "m 1.o", "-DA"), entry("../two/main.c", "m2.o", "-DA")];
    project.write("build/compile_commands.json", &serde_json::json!(entries).to_string());
    let (code, message) = project.code(&["verify", "-p", "build", "main.c"]);
    assert_eq!(code, Some(65), "{message}");
    let commands = offered(&message);
    assert_eq!(commands.len(), 2, "{message}");
    let entries = [entry("../one/main.c", "m 1.o", "-DA"), entry("../one/main.c", "m2.o", "-DB")];
    project.write("build/compile_commands.json", &serde_json::json!(entries).to_string());
    let (code, of_objects) = project.code(&["verify", "-p", "build", "one/main.c"]);
    assert_eq!(code, Some(65), "{of_objects}");
    assert_eq!(offered(&of_objects), ["verify -p build 'build/m 1.o'", "verify -p build build/m2.o"], "{of_objects}");
    assert_eq!(project.code(&["verify", "-p", "build", "build/m 1.o"]).0, Some(0));
}

/// A header that only the project's commands find comes with the folder.
#[test]
fn the_folder_of_a_missing_header_is_named() {
    let project = Project::new();
    project.write("own.c", "#include <limit.h>\nint main(void) { return clamp(1); }\n");
    let (code, message) = project.code(&["verify", "-p", "build", "own.c", "clamp.c"]);
    assert_ne!(code, Some(0));
    assert!(message.contains("help: the project finds `limit.h` by `-I include`"), "{message}");
    let (_, message) = project.code(&["verify", "own.c"]);
    assert!(message.contains("help: name the folder of `limit.h` by `-I FOLDER`"), "{message}");
    assert_eq!(project.code(&["verify", "-p", "build", "own.c", "clamp.c", "-I", "include"]).0, Some(0));
}

/// A note names the file of the project that defines a function which the program lacks.
#[test]
fn the_file_that_defines_a_missing_function_is_named() {
    let project = Project::new();
    let (code, message) = project.code(&["verify", "-p", "build", "src/driver.c"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(
        message.contains("note: the project defines some of them in files to add: src/clamp.c (`clamp`)"),
        "{message}"
    );
    let (_, message) = project.code(&["verify", "-p", "build", "src/driver.c", "src/clamp.c"]);
    assert!(!message.contains("files to add"), "{message}");
}

#[test]
fn files_are_compiled_as_the_database_says() {
    let project = Project::new();
    let files = ["src/clamp.c", "src/driver.c"];
    let verify = |extra: &[&str]| project.code(&[&["verify", "-p", "build"], extra].concat());
    assert_eq!(verify(&files).0, Some(0));
    // Files are found by the ends of their paths. Options of the command line are added.
    assert_eq!(verify(&["driver.c", "clamp.c"]).0, Some(0));
    assert_eq!(verify(&["driver.c", "clamp.c", "-DLIMIT=9"]).0, Some(0));
    let (code, message) = verify(&["driver.c", "clamp.c", "nothing.c"]);
    assert_eq!(code, Some(65));
    assert!(message.contains("nothing.c is neither a file nor in"), "{message}");
    assert!(message.contains("clamp.c"), "{message}");
    // A file outside the project may be added.
    project.write("own.c", "extern void reach_error(void);\nint clamp(int);\nint main(void) {\n    if (clamp(9) == 7)\n        reach_error();\n    return 0;\n}\n");
    assert_eq!(verify(&["own.c", "clamp.c"]).0, Some(1));
    // Without the database, the files do not compile.
    assert_eq!(project.code(&["verify", "src/clamp.c", "src/driver.c"]).0, Some(65));
    assert_eq!(project.code(&["verify", "-p", "src", "clamp.c"]).0, Some(66));
    let (code, message) = project.code(&["verify", "-p", "nowhere", "clamp.c"]);
    assert!(
        code == Some(66) && message.contains("takes the folder with the project's `compile_commands.json`"),
        "{message}"
    );
    project.write("build/compile_commands.json", "{");
    assert_eq!(verify(&files).0, Some(65));
}

#[test]
fn options_of_compilers_need_no_dashes() {
    let project = Project::new();
    let args = "verify src/clamp.c src/driver.c -std=c99 -O2 -Wall -g -I include -isystem system -include build/config.h \
                -DLIMIT=8 -fwrapv -m32";
    let args: Vec<&str> = args.split_whitespace().collect();
    assert_eq!(project.code(&args).0, Some(0));
    let without: Vec<&str> = args.iter().copied().filter(|a| *a != "-isystem").collect();
    assert_ne!(project.code(&without).0, Some(0));
}

/// Writes a compilation database in which each of these commands compiles `a.c` to a different object.
fn database(folder: &std::path::Path, commands: &[&str]) {
    let entries: Vec<_> = commands
        .iter()
        .enumerate()
        .map(|(n, command)| {
            serde_json::json!({"directory": folder, "file": "a.c", "command": format!("{command} -o out{n}/a.o -c a.c")})
        })
        .collect();
    std::fs::write(folder.join("compile_commands.json"), serde_json::json!(entries).to_string()).unwrap();
}

#[test]
fn a_file_with_two_entries_is_named_by_its_object() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(
        path.join("a.c"),
        "void reach_error(void);\nint main(void) { if (X == 2) reach_error(); return 0; }\n",
    )
    .unwrap();
    let verify = |file: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
        let output = command.args(["verify", "-p", ".", file]).current_dir(path).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    database(path, &["cc -DY -DX=1", "cc -DY -DX=2"]);
    let (code, message) = verify("a.c");
    assert_eq!(code, Some(65), "{message}");
    assert!(message.contains("a.c is compiled differently by several entries of ./compile_commands.json"), "{message}");
    assert!(message.contains("out0/a.o: -DX=1") && message.contains("out1/a.o: -DX=2"), "{message}");
    assert_eq!(verify("out0/a.o").0, Some(0));
    assert_eq!(verify("out1/a.o").0, Some(1));
    let (code, message) = verify("a.o");
    assert_eq!(code, Some(65), "{message}");
    // Compilations that differ only in position-independence count as one.
    database(path, &["cc -Wall -DX=1", "cc -DX=1 -fPIC"]);
    assert_eq!(verify("a.c").0, Some(0));
}

#[test]
fn the_compiler_of_a_project_chooses_the_target() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(
        path.join("a.c"),
        "void reach_error(void);\nint main(void) { if (sizeof(void *) != 4) reach_error(); return 0; }\n",
    )
    .unwrap();
    let verify = |command: &str, more: &[&str]| {
        database(path, &[command]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
        let output = command.args(["verify", "-p", ".", "a.c"]).args(more).current_dir(path).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (command, triple) in [
        ("arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb", "-unknown-none-eabi"),
        ("/opt/bin/aarch64-linux-gnu-gcc-12", "aarch64-unknown-linux-gnu"),
        ("ccache riscv64-unknown-elf-clang", "riscv64-unknown-unknown-elf"),
        ("env LC_ALL=C x86_64-w64-mingw32-gcc", "x86_64-w64-windows-gnu"),
        ("clang --target=powerpc64-linux-gnu", "powerpc64-unknown-linux-gnu"),
        ("clang-19 -target mips-linux-gnu", "mips-unknown-linux-gnu"),
        ("gcc -mx32", "x86_64-pc-linux-gnux32"),
        ("hppa-linux-gnu-gcc", "hppa-unknown-linux-gnu"),
    ] {
        let (code, message) = verify(command, &[]);
        assert_eq!(code, Some(65), "{command}: {message}");
        assert!(message.contains(triple) && message.contains("which is not supported"), "{command}: {message}");
        assert!(message.contains("x86_64-linux-gnu"), "{message}");
    }
    for (command, code) in
        [("i686-linux-gnu-gcc", 0), ("gcc -m32", 0), ("clang --target=i386-linux-gnu", 0), ("x86_64-linux-gnu-gcc", 1)]
    {
        assert_eq!(verify(command, &[]).0, Some(code), "{command}");
    }
    // The user may select another target.
    assert_eq!(verify("arm-none-eabi-gcc", &["--", "--target=i386-linux-gnu"]).0, Some(0));
    assert_eq!(verify("gcc -m32", &["--data-model", "LP64"]).0, Some(64));
    // A file outside the project is compiled for the project's target.
    std::fs::write(path.join("driver.c"), "int driver(void) { return sizeof(long); }\n").unwrap();
    assert_eq!(verify("gcc -m32", &["driver.c"]).0, Some(0));
}

/// The validator compiles an instrumented copy of the file, with the command of the project, which names the original.
#[test]
fn witnesses_of_projects_are_validated() {
    let project = Project::new();
    project.write("src/beside.h", "#define ERROR 9\n");
    let program = "#include \"beside.h\"\nextern void reach_error(void);\nextern int __VERIFIER_nondet_int(void);\n\
        int main(void) {\n    if (__VERIFIER_nondet_int() == ERROR)\n        reach_error();\n    return 0;\n}\n";
    project.write("src/clamp.c", program);
    let call = ["verify", "-p", "build", "src/clamp.c", "--property", "unreach-call", "--witness", "w.yml"];
    assert_eq!(project.code(&call).0, Some(1));
    let (code, message) = project.code(&["validate", "-p", "build", "w.yml", "src/clamp.c"]);
    assert_eq!(code, Some(1), "{message}");
    // The input of the witness does not reach the error of another program.
    project.write("src/beside.h", "#define ERROR 8\n");
    assert_ne!(project.code(&["validate", "-p", "build", "w.yml", "src/clamp.c"]).0, Some(1));
}
