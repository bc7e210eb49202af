//! The commands `proviso slice` and `proviso deps`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = "extern void check(int value);\nint __VERIFIER_nondet_int(void);\nextern void log_it(const char *text);\n\n\
static int total, noise;\n\n\
static int square(int x) {\n    noise += x;\n    return x * x;\n}\n\n\
int main(void) {\n    int input = __VERIFIER_nondet_int();\n    for (int i = 0; i < 3; i++)\n        noise = noise * 2 + i;\n\
    for (int i = 0; i < 4; i++)\n        total += square(i);\n    if (input > 7)\n        check(total);\n    return noise;\n}\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::write(folder.path("prog.c"), PROGRAM).unwrap();
        folder
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_proviso")).current_dir(self.0.path()).args(args).output().unwrap()
    }
    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
    /// Runs the command, which must fail with this exit code. Returns the message.
    fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(output.stdout.is_empty());
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

fn lines(numbers: &[u32]) -> String {
    numbers.iter().map(|n| format!("prog.c:{n}\n")).collect()
}

#[test]
fn lines_are_those_that_the_criterion_depends_on() {
    let folder = Folder::new();
    let slice = |criteria: &[&str]| {
        let mut args = vec!["slice", "prog.c", "--lines"];
        criteria.iter().for_each(|c| args.extend(["-c", c]));
        folder.ok(&args)
    };
    let check = lines(&[5, 7, 9, 12, 13, 16, 17, 18, 19]);
    assert_eq!(slice(&["check"]), check);
    assert_eq!(slice(&["prog.c:19"]), check);
    assert_eq!(slice(&["19:9"]), check);
    // The value of a variable when control reaches a line, even if the line does not use it.
    assert!(slice(&["20:noise"]).contains("prog.c:15\n"));
    assert!(slice(&["20:noise"]).contains("prog.c:8\n"));
    assert!(!slice(&["18:input"]).contains("prog.c:17\n"));
    assert!(slice(&["global:noise"]).contains("prog.c:15\n"));
    // The slice for several criteria is the union.
    assert!(slice(&["check", "20:noise"]).contains("prog.c:15\n"));
    assert!(slice(&["__VERIFIER_nondet_int"]).contains("prog.c:13\n"));
}

#[test]
fn a_forward_slice_is_what_is_influenced() {
    let folder = Folder::new();
    let found = folder.ok(&["slice", "prog.c", "-c", "13", "--forward", "--lines"]);
    assert!(found.contains("prog.c:18\n") && found.contains("prog.c:19\n"), "{found}");
    assert!(!found.contains("prog.c:15\n") && !found.contains("prog.c:17\n"), "{found}");
    folder.fails(64, &["slice", "prog.c", "-c", "13", "--forward", "-o", "x.bc"]);
}

#[test]
fn secondary_criteria_count_on_the_way_to_others() {
    let folder = Folder::new();
    let text = "extern void check(int); extern void note(int);\nint main(void) {\n    int x = 3;\n    note(1);\n    check(x);\n    note(2);\n    return 0;\n}\n";
    std::fs::write(folder.path("prog.c"), text).unwrap();
    let pure = ["slice", "prog.c", "-c", "check", "--undefined-functions", "pure", "--lines"];
    let found = folder.ok(&[&pure[..], &["--secondary-criterion", "note"]].concat());
    assert!(found.contains("prog.c:4\n") && !found.contains("prog.c:6\n"), "{found}");
    assert!(!folder.ok(&pure).contains("prog.c:4\n"));
}

#[test]
fn criteria_that_match_nothing_name_what_is_near() {
    let folder = Folder::new();
    let fails = |criterion: &str| folder.fails(65, &["slice", "prog.c", "-c", criterion]);
    assert!(fails("chekc").contains("similar names: check"));
    assert!(fails("squar").contains("square"));
    assert!(fails("prog.c:11").contains("prog.c:9 `return x * x;`"));
    assert!(fails("other.c:12").contains("files with code: prog.c") || fails("other.c:12").contains("prog.c"));
    assert!(fails("19:2").contains("columns"));
    assert!(fails("19:inptu").contains("similar names: input"));
    assert!(fails("19:zzz").contains("variables there:"));
    assert!(fails("global:totl").contains("total"));
    folder.fails(65, &["slice", "prog.c", "-c", "check", "--preserve", "nothing"]);
    folder.fails(64, &["slice", "prog.c"]);
    folder.fails(66, &["slice", "gone.c", "-c", "check"]);
}

#[test]
fn bitcode_comes_from_standard_input_and_goes_to_standard_output() {
    let folder = Folder::new();
    for level in ["-O0", "-O2"] {
        let clang = Command::new("clang-19")
            .args([level, "-g", "-c", "-emit-llvm", "-o", "-"])
            .arg(folder.path("prog.c"))
            .output()
            .unwrap();
        assert!(clang.status.success());
        let mut child = Command::new(env!("CARGO_BIN_EXE_proviso"))
            .args(["slice", "-", "-c", "check", "-o", "-", "--stats"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&clang.stdout).unwrap();
        let output = child.wait_with_output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && output.stdout.starts_with(b"BC"), "{messages}");
        assert!(messages.contains("instructions"), "{messages}");
        std::fs::write(folder.path("small.bc"), &output.stdout).unwrap();
        let text = Command::new("clang-19")
            .args(["-S", "-emit-llvm", "-o", "-"])
            .arg(folder.path("small.bc"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        assert!(text.contains("call void @check") && !text.contains("@noise"), "{text}");
    }
}

#[test]
fn results_are_there_for_programs() {
    let folder = Folder::new();
    folder.ok(&[
        "slice", "prog.c", "-c", "check", "--json", "out.json", "--dot", "out.dot", "-o", "out.ll", "--c", "out.c",
    ]);
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("out.json")).unwrap();
    assert_eq!(json["schema"], "proviso-slice-1");
    assert_eq!(json["lines"][0]["file"], "prog.c");
    assert_eq!(json["lines"][0]["kept"][0], 5);
    assert!(json["after"]["size"]["instructions"].as_u64() < json["before"]["size"]["instructions"].as_u64());
    assert!(read("out.dot").starts_with("digraph"));
    assert!(read("out.ll").contains("define") && !read("out.ll").contains("@noise"));
    let blanked = read("out.c");
    assert_eq!(blanked.len(), PROGRAM.len());
    assert!(blanked.contains("total += square(i);") && !blanked.contains("noise * 2"), "{blanked}");
    assert!(Path::new(&folder.path("out.c")).exists());
}

/// A program of two files is blanked, compiles, and prints the same as before. A macro in the header uses a variable
/// that one file defines.
#[test]
fn several_c_files_are_blanked_into_a_folder() {
    let folder = Folder::new();
    let sources = [
        ("stat.h", "extern int calls, total, unused;\n#define COUNT() (calls++)\nint add(int x);\nint noise(int x);\n"),
        (
            "stat.c",
            "#include \"stat.h\"\nint calls, total;\nint unused = 7;\nstatic int scale = 3;\n\
             int noise(int x) {\n    unused += x;\n    return unused * 2;\n}\n\
             int add(int x) {\n    unused++;\n    total += x * scale;\n    return total;\n}\n",
        ),
        (
            "main.c",
            "#include \"stat.h\"\n#include <stdio.h>\nvoid check(int x) { printf(\"%d\\n\", x); }\n\
             int main(int argc, char **argv) {\n    int last = 0;\n    for (int i = 0; i < argc + 3; i++) {\n\
             last = add(i);\n        COUNT();\n        noise(i);\n    }\n    check(last + calls);\n    return 0;\n}\n",
        ),
    ];
    for (name, text) in sources {
        std::fs::write(folder.path(name), text).unwrap();
    }
    // `check` is a criterion, so the slice keeps its body.
    folder.ok(&["slice", "stat.c", "main.c", "-c", "check", "-c", "main.c:3", "--c", "out"]);
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
    let (stat, main) = (read("out/stat.c"), read("out/main.c"));
    assert!(stat.contains("int calls, total;") && stat.contains("scale = 3"), "{stat}");
    assert!(!stat.contains("unused") && !stat.contains("noise") && !main.contains("noise"), "{stat}{main}");
    for files in [["stat.c", "main.c"], ["out/stat.c", "out/main.c"]] {
        let mut clang = Command::new("clang-19");
        clang.current_dir(folder.path("")).args(["-I.", "-o", "prog"]).args(files);
        assert!(clang.status().unwrap().success(), "{files:?}");
        let output = Command::new(folder.path("prog")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "22\n", "{files:?}");
    }
    let message = folder.fails(64, &["slice", "stat.c", "main.c", "-c", "check", "--c", "."]);
    assert!(message.contains("--c would overwrite the input stat.c"), "{message}");
    let message = folder.fails(64, &["slice", "stat.c", "main.c", "-c", "check", "--c", "-"]);
    assert!(message.contains("folder"), "{message}");
}

#[test]
fn the_annotated_source_marks_lines() {
    let text = Folder::new().ok(&["slice", "prog.c", "-c", "check"]);
    assert!(text.contains("17 |+         total += square(i);"), "{text}");
    assert!(text.contains("15 |          noise = noise * 2 + i;"), "{text}");
}

#[test]
fn deps_tells_why() {
    let folder = Folder::new();
    let text = folder.ok(&["deps", "prog.c", "9", "-c", "check"]);
    let told: Vec<&str> = text.lines().filter(|l| l.starts_with("info:") || l.starts_with("note:")).collect();
    assert!(told[0].contains("the criterion"), "{text}");
    assert!(told[1].contains("`total`") && told[1].contains("line 19"), "{text}");
    assert!(told.last().unwrap().contains("flows to line 17 (the place asked about)"), "{text}");
    let text = folder.ok(&["deps", "prog.c", "13", "-c", "check"]);
    assert!(text.contains("controls whether line 19 is executed"), "{text}");
    let output = folder.run(&["deps", "prog.c", "prog.c:15", "-c", "check", "--json", "-"]);
    assert_eq!(output.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["in_slice"], &json["chain"]), (&false.into(), &serde_json::Value::Null));
    let json = folder.ok(&["deps", "prog.c", "17:total", "-c", "check", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["chain"][0]["kind"], "criterion");
    assert_eq!(json["chain"][1]["through"], "total");
    folder.fails(64, &["deps", "prog.c", "-c", "check"]);
    folder.fails(65, &["deps", "prog.c", "prog.c:1000", "-c", "check"]);
}

/// A program that takes addresses of library functions and variables. The code for that depends on whether the program
/// is position-independent.
const LINKED: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    extern void check(long value);\nextern char **environ;\nint noise;\n\
    static int (*show)(const char *) = puts;\nstatic size_t (*const measures[])(const char *) = {strlen};\n\
    int main(int argc, char **argv) {\n    long n = 0;\n    char line[8] = \"\";\n    fgets(line, 8, stdin);\n\
    for (int i = 0; i < argc; i++)\n        n += measures[0](argv[i]), noise++;\n    fprintf(stderr, \"%s\", line);\n\
    if (environ && line[0] == 'x')\n        n += show(line) >= 0;\n    check(n + sizeof(long) + strlen(line));\n    return noise;\n}\n";

fn clang(args: &[&str], folder: &Folder) {
    let output = Command::new("clang-19").arg("-w").args(args).current_dir(folder.0.path()).output().unwrap();
    assert!(output.status.success(), "clang {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a program. Returns its output.
fn told(folder: &Folder, program: &str) -> String {
    let mut command = Command::new(folder.path(program));
    command.arg("abc").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"xyz\n").unwrap();
    String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
}

#[test]
fn slices_link_as_their_input_does() {
    let folder = Folder::new();
    std::fs::write(folder.path("linked.c"), LINKED).unwrap();
    let check = "#include <stdio.h>\nvoid check(long value) { printf(\"check %ld\\n\", value); }\n";
    std::fs::write(folder.path("check.c"), check).unwrap();
    for target in ["-m64", "-m32"] {
        let model = if target == "-m32" { "--32" } else { "--64" };
        // Bitcode contains its target.
        for flags in [&["-O0"][..], &["-O2"], &["-O1", "-fPIC"]] {
            let all = [&[target, "-g", "-c", "-emit-llvm", "linked.c", "-o", "linked.bc"], flags].concat();
            clang(&all, &folder);
            clang(&[target, "linked.bc", "check.c", "-o", "whole"], &folder);
            folder.ok(&["slice", "linked.bc", "-c", "check", "-o", "small.bc"]);
            clang(&[target, "small.bc", "check.c", "-o", "small"], &folder);
            let expected = told(&folder, "./whole");
            assert!(expected.contains("check "), "{expected}");
            assert_eq!(told(&folder, "./small"), expected);
        }
        folder.ok(&["slice", "linked.c", model, "-c", "check", "-o", "small.bc"]);
        clang(&[target, "small.bc", "check.c", "-o", "small"], &folder);
        assert!(told(&folder, "./small").contains("check "));
    }
    // `small.bc` is a 32-bit module now.
    let message = folder.fails(64, &["slice", "small.bc", "--64", "-c", "check"]);
    assert!(
        message
            .contains("small.bc is compiled for i386-pc-linux-gnu, which has data model ILP32, and LP64 is requested"),
        "{message}"
    );
    clang(&["-m32", "-g", "-c", "-emit-llvm", "check.c", "-o", "check.bc"], &folder);
    clang(&["-m64", "-g", "-c", "-emit-llvm", "linked.c", "-o", "linked.bc"], &folder);
    let message = folder.fails(64, &["slice", "linked.bc", "check.bc", "-c", "check"]);
    assert!(
        message.contains("check.bc is compiled for i386-pc-linux-gnu, and linked.bc for x86_64-pc-linux-gnu"),
        "{message}"
    );
}

#[test]
fn the_data_model_of_bitcode_is_found_in_it() {
    let folder = Folder::new();
    let text = "extern void reach_error(void);\nint main(void) {\n    if (sizeof(long) != 4)\n        reach_error();\n    return 0;\n}\n";
    std::fs::write(folder.path("size.c"), text).unwrap();
    clang(&["-m32", "-g", "-c", "-emit-llvm", "size.c", "-o", "size.bc"], &folder);
    let output = folder.run(&["verify", "size.bc", "--json", "out.json"]);
    assert_eq!(output.status.code(), Some(0));
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path("out.json")).unwrap()).unwrap();
    assert_eq!(json["data_model"], "ILP32");
    assert_eq!(folder.run(&["verify", "size.bc", "--64"]).status.code(), Some(64));
    // A C file is compiled for the target of the bitcode on the same command line.
    std::fs::write(folder.path("other.c"), "int other = sizeof(void *);\n").unwrap();
    assert_eq!(folder.run(&["verify", "size.bc", "other.c"]).status.code(), Some(0));
    assert_eq!(folder.run(&["verify", "size.c", "--", "-m32"]).status.code(), Some(0));
    assert_eq!(folder.run(&["verify", "size.c", "--64", "--", "-m32"]).status.code(), Some(64));
}

#[test]
fn output_matters_to_input_only_if_the_program_reads_it_back() {
    let folder = Folder::new();
    let text = "#include <stdio.h>\n#include <stdlib.h>\nextern void check(long);\n\
        int main(void) {\n    char line[64];\n    long sum = 0;\n    while (fgets(line, sizeof line, stdin)) {\n\
        printf(\"read %s\", line);\n        fprintf(stderr, \"%ld\\n\", sum);\n        sum += atoi(line);\n    }\n\
        check(sum);\n    return 0;\n}\n";
    std::fs::write(folder.path("log.c"), text).unwrap();
    let found = folder.ok(&["slice", "log.c", "-c", "check", "--lines"]);
    assert!(found.contains("log.c:10\n"), "{found}");
    assert!(!found.contains("log.c:8\n") && !found.contains("log.c:9\n"), "{found}");
    // The drawing has the program's own operations, and one node for each call of a library function.
    folder.ok(&["slice", "log.c", "-c", "check", "--dot", "log.dot"]);
    let dot = std::fs::read_to_string(folder.path("log.dot")).unwrap();
    assert!(dot.matches("label=").count() < 30 && dot.matches("subgraph").count() == 1, "{dot}");
    let atoi = dot.lines().find(|l| l.contains("atoi(")).and_then(|l| l.split_whitespace().next()).unwrap();
    let fgets = dot.lines().find(|l| l.contains("fgets(")).and_then(|l| l.split_whitespace().next()).unwrap();
    assert!(dot.contains(&format!("{atoi} -> {fgets} [label=\"line\"]")), "{dot}");
    let found = folder.ok(&["slice", "log.c", "-c", "check", "--lines", "--read-back"]);
    assert!(found.contains("log.c:8\n") && found.contains("log.c:9\n"), "{found}");
    // With `%n`, printf writes to `line`.
    std::fs::write(folder.path("log.c"), text.replace("read %s\", line", "%s%n\", \"x\", (int *)line")).unwrap();
    let found = folder.ok(&["slice", "log.c", "-c", "check", "--lines"]);
    assert!(found.contains("log.c:8\n"), "{found}");
}

/// Undefined functions may share hidden state.
#[test]
fn functions_that_nobody_defines_are_kept_for_those_that_come_after() {
    let folder = Folder::new();
    let text = "extern void step(void);\nextern int get(void);\nextern void check(int);\nint main(void) {\n    step();\n    check(get());\n\
                step();\n    return 0;\n}\n";
    std::fs::write(folder.path("p.c"), text).unwrap();
    let found = folder.ok(&["slice", "p.c", "-c", "check", "--lines"]);
    assert!(found.contains("p.c:5\n") && !found.contains("p.c:7\n"), "{found}");
}

#[test]
fn a_value_that_is_not_needed_is_returned_as_zero() {
    let folder = Folder::new();
    let text = "extern void check(int);\nint main(void) {\n    int s = 3;\n    check(s);\n    int r = s + 1;\n    return r;\n}\n";
    std::fs::write(folder.path("p.c"), text).unwrap();
    folder.ok(&["slice", "p.c", "-c", "check", "--c", "s.c"]);
    let slice = std::fs::read_to_string(folder.path("s.c")).unwrap();
    assert!(slice.contains("\n    return 0;\n") && !slice.contains("int r"), "{slice}");
    std::fs::write(folder.path("p.c"), text.replace("return r;", "return(r+s);")).unwrap();
    folder.ok(&["slice", "p.c", "-c", "check", "--c", "s.c"]);
    let slice = std::fs::read_to_string(folder.path("s.c")).unwrap();
    assert!(slice.contains("\n    return 0   ;\n"), "{slice}");
    // A function with several return statements has one place at which LLVM returns from it. Its results may not read
    // variables whose assignments are blanked.
    let text = "extern void check(int);\nstatic int find(int *v, int key) {\n    check(key);\n    int low = 0;\n\
                while (low < 4) {\n        if (v[low] == key)\n            return low;\n        low++;\n    }\n\
                return v[low] == key ? low : -1;\n}\n\
                int main(void) {\n    int v[9] = {1};\n    for (int i = 0; i < 3; i++)\n\
                find(v, i);\n    return 0;\n}\n";
    std::fs::write(folder.path("p.c"), text).unwrap();
    folder.ok(&["slice", "p.c", "-c", "check", "--c", "s.c"]);
    let slice = std::fs::read_to_string(folder.path("s.c")).unwrap();
    assert!(slice.contains("check(key)") && !slice.contains("v[low]") && !slice.contains("int low"), "{slice}");
    // A result that the criterion depends on stays.
    std::fs::write(folder.path("p.c"), text.replace("find(v, i);", "check(find(v, i));")).unwrap();
    folder.ok(&["slice", "p.c", "-c", "check", "--c", "s.c"]);
    let slice = std::fs::read_to_string(folder.path("s.c")).unwrap();
    assert!(slice.contains("return v[low] == key ? low : -1;") && slice.contains("return low;"), "{slice}");
}

/// Two lines with code have the same number, so it is not known which code is in the slice.
#[test]
fn functions_whose_places_line_directives_hide_stay() {
    let folder = Folder::new();
    let text = "extern void check(int);\nint main(void) {\n    int s = 3;\n#line 3\n    check(s);\n    return 0;\n}\n";
    std::fs::write(folder.path("p.c"), text).unwrap();
    folder.ok(&["slice", "p.c", "-c", "check", "--c", "s.c"]);
    assert_eq!(std::fs::read_to_string(folder.path("s.c")).unwrap(), text);
}

#[test]
fn a_function_that_was_inlined_is_a_criterion() {
    let folder = Folder::new();
    let text = "#include <stdio.h>\n#include <stdlib.h>\nstatic int noise;\n\
        static inline __attribute__((always_inline)) void deep(long v) { printf(\"check %ld\\n\", v); }\n\
        void check(long v) { if (v > 2) deep(v); }\nvoid nothing(int v) {}\n\
        int main(int argc, char **argv) {\n    char line[9] = \"\";\n    long sum = 0;\n    fgets(line, 9, stdin);\n\
        for (int i = 0; line[i]; i++) {\n        sum += line[i];\n        noise += atoi(argv[0]);\n        check(sum);\n    }\n\
        printf(\"%d\\n\", noise);\n    nothing(noise);\n    return 0;\n}\n";
    std::fs::write(folder.path("inlined.c"), text).unwrap();
    clang(&["-O2", "-g", "-c", "-emit-llvm", "inlined.c", "-o", "inlined.bc"], &folder);
    clang(&["inlined.bc", "-o", "whole"], &folder);
    let checks = |program: &str| -> Vec<String> {
        told(&folder, program).lines().filter(|l| l.starts_with("check")).map(str::to_owned).collect()
    };
    let expected = checks("whole");
    assert!(expected.len() > 2, "{expected:?}");
    for criterion in ["check", "deep", "inlined.c:14", "inlined.c:5", "inlined.c:4"] {
        folder.ok(&["slice", "inlined.bc", "-c", criterion, "-o", "small.bc"]);
        clang(&["small.bc", "-o", "small"], &folder);
        assert_eq!(checks("small"), expected, "{criterion}");
        let lines = folder.ok(&["slice", "inlined.bc", "-c", criterion, "--lines"]);
        assert!(lines.contains("inlined.c:12\n") && !lines.contains("inlined.c:13\n"), "{criterion}: {lines}");
    }
    // The call of `nothing` was inlined, so the bitcode has no code for the criterion.
    let message = folder.fails(65, &["slice", "inlined.bc", "-c", "check", "-c", "nothing", "-o", "small.bc"]);
    assert!(message.contains("no execution can reach the criterion 'nothing'"), "{message}");
    folder.ok(&["slice", "inlined.c", "-c", "nothing", "-o", "small.bc"]);
}

#[test]
fn jumps_are_refused() {
    let folder = Folder::new();
    let text = "#include <setjmp.h>\nextern void check(int);\nstatic jmp_buf start;\n\
        static void fail(int code) {\n    longjmp(start, code);\n}\n\
        int main(void) {\n    int code = setjmp(start);\n    if (code)\n        check(code);\n    else\n        fail(3);\n    return 0;\n}\n";
    std::fs::write(folder.path("jump.c"), text).unwrap();
    let message = folder.fails(65, &["slice", "jump.c", "-c", "check"]);
    assert!(message.contains("the program calls longjmp (jump.c:5:5)"), "{message}");
    // Without a `longjmp`, `setjmp` is no obstacle.
    std::fs::write(folder.path("jump.c"), text.replace("    longjmp(start, code);\n", "    check(code);\n")).unwrap();
    folder.ok(&["slice", "jump.c", "-c", "check"]);
}
