//! Suites for programs that take arguments, environment variables, standard input and files, judged by native runs.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output};

fn proviso(folder: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_proviso")).arg("testgen").args(options).current_dir(folder).output().unwrap()
}

/// Makes a suite of a program in `p.c` and returns the standard output and the result in JSON.
fn tested(folder: &Path, program: &str, options: &[&str]) -> (String, serde_json::Value) {
    std::fs::write(folder.join("p.c"), program).unwrap();
    let output = proviso(folder, &[&["p.c", "-o", "suite", "--json", "r.json"], options].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&output.stderr));
    (said, serde_json::from_slice(&std::fs::read(folder.join("r.json")).unwrap()).unwrap())
}

fn compile(folder: &Path, files: &[&str], output: &str) {
    let made = Command::new("clang-19").args(["-w", "-o", output]).args(files).current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// The tests of a suite that start with a name, in order.
fn entries(suite: &Path, start: &str) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(suite).unwrap().map(|e| e.unwrap().path()).collect();
    found.retain(|path| path.file_name().unwrap().as_bytes().starts_with(start.as_bytes()));
    found.sort();
    found
}

/// Asserts that the native runs cover all lines and branches, and that each test natively covers its goals.
fn covers_all(native: &serde_json::Value) {
    assert_eq!(native["branches"]["covered"], native["branches"]["total"], "{native}");
    assert_eq!(native["lines"]["covered"], native["lines"]["total"], "{native}");
    assert_eq!(native["broken"].as_array().unwrap().len(), 0, "{native}");
}

/// Returns the statuses of the goals by their conditions. Of equal conditions, one is covered if any is.
fn statuses(result: &serde_json::Value) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for goal in result["goals"].as_array().unwrap() {
        let [condition, status] = ["condition", "status"].map(|key| goal[key].as_str().unwrap().to_owned());
        let known = all.entry(condition).or_insert_with(|| status.clone());
        if status == "covered" {
            *known = status;
        }
    }
    all
}

const EVERYTHING: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    int quiet = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], \"--quiet\") == 0) quiet = 1;
        else if (argv[i][0] == '-') { puts(\"bad option\"); return 2; }
    }
    if (quiet) puts(\"quiet\");
    const char *mode = getenv(\"P_MODE\");
    if (mode && strcmp(mode, \"fast\") == 0) puts(\"fast\");
    char line[40];
    if (fgets(line, sizeof line, stdin) && strncmp(line, \"go\", 2) == 0) puts(\"go\");
    FILE *f = fopen(\"conf/p.txt\", \"r\");
    if (!f) { puts(\"no file\"); return 1; }
    int n = 0;
    if (fscanf(f, \"%d\", &n) == 1 && n == 4711) puts(\"number\");
    fclose(f);
    return 0;
}
";

#[test]
fn every_way_into_a_program_is_tested() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (said, result) = tested(folder, EVERYTHING, &["--timeout", "30", "--run", "--lcov", "l.info"]);
    assert!(said.contains(" 0 open\n"), "{said}");
    covers_all(&result["native"]);
    // Goals are in the terms of the source.
    let goals = std::fs::read_to_string(folder.join("suite/goals.txt")).unwrap();
    for condition in
        ["strcmp(argv[i], \"--quiet\") == 0", "strncmp(line, \"go\", 2) == 0", "strcmp(mode, \"fast\") == 0"]
    {
        assert!(goals.contains(&format!(": {condition}: covered by test-")), "{goals}");
    }
    assert!(std::fs::read_to_string(folder.join("l.info")).unwrap().contains("SF:p.c\n"));
    // The script of each folder starts a program that was built without Proviso.
    compile(folder, &["p.c"], "program");
    let tests = entries(&folder.join("suite"), "test-");
    let mut printed = BTreeSet::new();
    for test in &tests {
        for part in ["argv", "env", "stdin", "files", "run.sh"] {
            assert!(test.join(part).exists());
        }
        let output = Command::new(test.join("run.sh")).arg(folder.join("program")).output().unwrap();
        assert!(output.status.code().is_some_and(|code| code < 3), "{output:?}");
        printed.extend(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned));
    }
    let expected = ["bad option", "fast", "go", "no file", "number", "quiet"];
    assert_eq!(printed.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    // A second suite replaces the first one, and nothing else.
    std::fs::create_dir(folder.join("suite/test-999")).unwrap();
    std::fs::write(folder.join("suite/test-999/mine"), "").unwrap();
    tested(folder, "int main(int argc, char **argv) { return argc > 1; }", &["--timeout", "10"]);
    let left = entries(&folder.join("suite"), "test-");
    assert!(left.len() == 2 && folder.join("suite/test-999/mine").exists(), "{left:?}");
}

#[test]
fn everyday_programs_are_covered_and_promises_are_kept() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/everyday");
    // All programs are those of `scripts/bench-tests --run proviso/tests/everyday/*.c`.
    let names =
        ["opts.c", "scan.c", "files.c", "ini.c", "longopt.c", "calc.c", "days.c", "stock.c", "units.c", "wrap.c"];
    for name in names {
        let folder = tempfile::tempdir().unwrap();
        let program = std::fs::read_to_string(here.join(name)).unwrap();
        // The search is random and ends by processor time: about one of 40 runs leaves a goal of `ini.c` open.
        let run = |seed| tested(folder.path(), &program, &["--cpu-limit", "20", "--run", "--seed", seed]);
        let mut runs = ["0", "1", "2"].into_iter().map(run);
        let (said, result) = runs.find(|(said, _)| said.contains(" 0 open\n")).expect(name);
        assert!(said.contains("run natively"), "{name}: {said}");
        covers_all(&result["native"]);
    }
}

/// Reads a list, adds to it, and writes it back.
const LIST: &str = "\
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    char line[40];
    int n = 0;
    FILE *f = fopen(\"list.txt\", \"r\");
    if (f) {
        while (fgets(line, sizeof line, f)) n++;
        if (ferror(f)) puts(\"cannot read\");
        fclose(f);
    }
    if (argc < 2) return 0;
    f = fopen(\"list.txt\", \"w\");
    if (!f) { puts(\"cannot write\"); return 1; }
    fprintf(f, \"%d %s\\n\", n, argv[1]);
    return fclose(f) != 0;
}
";

#[test]
fn folders_make_reads_and_writes_fail() {
    let folder = tempfile::tempdir().unwrap();
    let (said, result) = tested(folder.path(), LIST, &["--cpu-limit", "20", "--run"]);
    assert!(said.contains(" 0 open\n"), "{said}");
    covers_all(&result["native"]);
}

/// Makes, tests, enters and removes folders.
const FOLDERS: &str = "\
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct stat s;
    if (argc != 2) return 2;
    if (stat(argv[1], &s) == 0) {
        if (S_ISDIR(s.st_mode)) puts(\"folder\");
        else puts(\"file\");
        if (access(argv[1], X_OK) != 0) return 1;
        if (rmdir(argv[1]) != 0) puts(\"not empty\");
        return 0;
    }
    if (mkdir(argv[1], 0755) != 0) {
        if (errno == EEXIST) puts(\"impossible\");
        return 1;
    }
    if (chdir(\".\") != 0) return 3;
    FILE *f = fopen(argv[1], \"w\");
    if (f) puts(\"impossible\");
    if (mkdir(argv[1], 0755) == 0 || errno != EEXIST) puts(\"impossible\");
    if (rmdir(argv[1]) == 0 && stat(argv[1], &s) != 0) puts(\"gone\");
    return 0;
}
";

#[test]
fn programs_make_and_remove_folders() {
    let folder = tempfile::tempdir().unwrap();
    let (said, result) = tested(folder.path(), FOLDERS, &["--cpu-limit", "10", "--run"]);
    let native = &result["native"];
    assert_eq!(native["broken"].as_array().unwrap().len(), 0, "{native}");
    let status = statuses(&result);
    for (condition, is_covered) in [
        ("(s.st_mode & 61440) == 16384", true),
        ("(s.st_mode & 61440) != 16384", true),
        ("access(argv[1], 1) != 0", true),
        ("access(argv[1], 1) == 0", true),
        ("rmdir(argv[1]) != 0", true),
        ("mkdir(argv[1], 493) == 0", true),
        ("f == 0", true),
        ("f != 0", false),
        ("stat(argv[1], &s) != 0", true),
    ] {
        assert_eq!(status[condition] == "covered", is_covered, "{condition}: {said} {status:?}");
    }
}

/// Tests properties of files: some are those of the test, and some of the system.
const PROPERTIES: &str = "\
#include <stdio.h>
#include <sys/stat.h>
int main(int argc, char **argv) {
    struct stat a, b;
    if (argc != 3 || stat(argv[1], &a) || stat(argv[2], &b)) return 2;
    if (a.st_ino == b.st_ino) puts(\"one file\");
    if (a.st_size > b.st_size) puts(\"larger\");
    if (a.st_mtime < 86400) puts(\"old\");
    if (a.st_uid == 0) puts(\"root\");
    return 0;
}
";

#[test]
fn properties_of_files_are_promised_if_a_test_determines_them() {
    let folder = tempfile::tempdir().unwrap();
    let (said, result) = tested(folder.path(), PROPERTIES, &["--cpu-limit", "10", "--run"]);
    let native = &result["native"];
    assert_eq!(native["broken"].as_array().unwrap().len(), 0, "{native}");
    let status = statuses(&result);
    for (condition, is_covered) in [
        ("a.st_ino == b.st_ino", true),
        ("a.st_ino != b.st_ino", true),
        ("b.st_size < a.st_size", true),
        ("a.st_size <= b.st_size", true),
        ("a.st_mtim.tv_sec < 86400", false),
        ("a.st_mtim.tv_sec >= 86400", true),
        ("a.st_uid == 0", false),
        ("a.st_uid != 0", false),
    ] {
        assert_eq!(status[condition] == "covered", is_covered, "{condition}: {said} {status:?}");
    }
}

/// If the call of `truncate` fails, values for the descriptor of `mkstemp` are chosen that may be impossible.
const IMPOSSIBLE: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char name[] = \"tXXXXXX\";
    if (argc != 2) return 2;
    if (truncate(argv[1], 0) == 0) puts(\"cut\");
    else if (mkstemp(name) > 2) puts(\"made\");
    return 0;
}
";

#[test]
fn a_call_does_not_succeed_because_values_after_its_failure_are_impossible() {
    let folder = tempfile::tempdir().unwrap();
    let (said, result) = tested(folder.path(), IMPOSSIBLE, &["--cpu-limit", "5", "--run"]);
    assert_eq!(result["native"]["broken"].as_array().unwrap().len(), 0, "{said}");
    assert_ne!(statuses(&result)["truncate(argv[1], 0) == 0"], "covered", "{said}");
}

/// Numbers that the seeds 1 and 42 determine, and one that the time determines.
const DICE: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) {
    if (argc > 1) srand(atoi(argv[1]));
    else if (rand() != 1804289383) puts(\"never\");
    if (argc == 3 && rand() == 71876166) puts(\"42\");
    srand(time(NULL));
    if (rand() % 2) puts(\"time\");
    return 0;
}
";

#[test]
fn seeds_determine_random_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let (said, result) = tested(folder.path(), DICE, &["--cpu-limit", "20", "--run"]);
    let goals = result["goals"].as_array().unwrap();
    let status =
        |condition: &str| &goals.iter().find(|goal| goal["condition"] == condition).expect(condition)["status"];
    assert_eq!(status("rand() == 71876166"), "covered", "{said}");
    assert_eq!(status("rand() != 1804289383"), "open", "{said}");
    assert!(said.contains("open: it takes more than arguments"), "{said}");
    assert!(result["native"]["broken"].as_array().unwrap().is_empty(), "{result}");
}

/// Accepts at most 60 lines, each with two fields.
const MANY_LINES: &str = "\
#include <stdio.h>
#include <string.h>
int main(void) {
    char line[80];
    int n = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (!strchr(line, ':')) continue;
        if (n == 60) { puts(\"too many\"); return 1; }
        n++;
    }
    return 0;
}
";

#[test]
fn lines_are_repeated_until_there_are_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let (said, result) = tested(folder.path(), MANY_LINES, &["--cpu-limit", "20", "--run"]);
    assert!(said.contains(" 0 open\n"), "{said}");
    covers_all(&result["native"]);
}

/// Allocates as many bytes as it is told, and a list that grows.
const GROWING: &str = "\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    if (argc > 1) {
        char *block = malloc(atol(argv[1]));
        if (!block) { puts(\"too large\"); return 1; }
        free(block);
    }
    int *list = NULL, c;
    size_t count = 0, room = 0;
    while ((c = getchar()) != EOF) {
        if (count == room) {
            room = room ? 2 * room : 4;
            int *more = realloc(list, room * sizeof *list);
            if (!more) return 2;
            list = more;
        }
        list[count++] = c;
    }
    free(list);
    return 0;
}
";

#[test]
fn goals_that_need_a_null_allocation_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (said, result) = tested(folder.path(), GROWING, &["--cpu-limit", "10", "--run"]);
    assert!(said.contains("p.c:15:17: more == 0: open: it takes an allocation that returns null"), "{said}");
    assert!(said.contains(" 1 open\n"), "{said}");
    assert!(result["native"]["broken"].as_array().unwrap().is_empty(), "{result}");
}

/// Reads lines until the end of the input.
const LINES: &str = "\
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    while ((length = getline(&line, &size, stdin)) >= 0)
        if (length == 0) abort();
    free(line);
    return 0;
}
";

#[test]
fn lines_are_not_empty() {
    let folder = tempfile::tempdir().unwrap();
    let (said, _) = tested(folder.path(), LINES, &["--cpu-limit", "10"]);
    assert!(said.contains("p.c:9:13: length == 0: proved unreachable by abstract interpretation"), "{said}");
    assert!(said.contains(" 0 open\n"), "{said}");
}

/// A block that is entered by a jump over a branch. It has as many statements as branches.
const ENTERED: &str = "\
extern unsigned char __VERIFIER_nondet_uchar(void);
static int entered(int a, int b) {
    int n = 0;
    if ((b & 1) != 2) goto inside;
    n++;
    if (b & 1) {
        n ^= 2;
inside: n += 1;
        n += a;
    }
    return n;
}
int main(void) {
    int a = __VERIFIER_nondet_uchar() & 3;
    a ^= entered(a, a & 7);
    return a;
}
";

#[test]
fn statements_are_not_compared_with_branches() {
    let folder = tempfile::tempdir().unwrap();
    let (said, _) = tested(folder.path(), ENTERED, &["--cpu-limit", "10", "--coverage", "statements", "--run"]);
    assert!(said.contains("run natively") && !said.contains("natively does not cover"), "{said}");
}

const CONDITION: &str = "\
#include <stdio.h>
#include <string.h>
static int count(const char *text, const char *separator, int all) {
    int n = 0;
    unsigned long size = strlen(separator);
    for (unsigned long i = 0; text[i]; i++)
        if (all
            && size != 2
            && size
            && (i + size
                <= (size > 1
                    /* A comment. */
                    ? strlen(text) : i + 1))
            && memcmp(text + i, separator, size) == 0)
            n++;
    return n;
}
int main(int argc, char **argv) {
    if (argc > 1 && strlen(argv[1]) == 2 && count(argv[1], \":\", 1) == 1) puts(\"one of two\");
    return 0;
}
";

/// llvm-cov and the interpreter assign the parts of a condition to different lines.
#[test]
fn parts_of_a_condition_on_several_lines_are_compared_together() {
    let folder = tempfile::tempdir().unwrap();
    let (said, result) = tested(folder.path(), CONDITION, &["--cpu-limit", "5", "--run"]);
    let native = &result["native"];
    assert_eq!(native["lines"]["covered"], native["lines"]["total"], "{said}");
    assert_eq!(native["broken"].as_array().unwrap().len(), 0, "{said}");
}

const OFFSET: &str = "\
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    FILE *f = argc > 1 ? fopen(argv[1], \"r\") : NULL;
    if (f == NULL) return 2;
    if (getc(f) == 'x') puts(\"x\");
    if (lseek(fileno(f), 0, SEEK_CUR) == -1) return 3;
    return 0;
}
";

/// The descriptor of a stream has an offset that the test does not determine. The branches before it are covered.
#[test]
fn a_stream_moves_the_offset_of_its_descriptor() {
    let folder = tempfile::tempdir().unwrap();
    let (said, result) = tested(folder.path(), OFFSET, &["--cpu-limit", "5", "--run"]);
    let goals = std::fs::read_to_string(folder.path().join("suite/goals.txt")).unwrap();
    assert!(goals.contains("getc(f) == 120 'x': covered"), "{goals}");
    assert_eq!(result["native"]["broken"].as_array().unwrap().len(), 0, "{said}");
}

const INPUT: &str = "\
#include <stdio.h>
int main(void) {
    int c = getchar();
    if (c == 'q') return puts(\"quit\"), 3;
    if (c == EOF) return puts(\"nothing\"), 4;
    return 0;
}
";

#[test]
fn suites_have_other_forms() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (said, _) = tested(folder, INPUT, &["--timeout", "10", "--format", "seeds"]);
    assert!(said.contains(": 4 of 4 branches covered"), "{said}");
    let seeds = entries(&folder.join("suite"), "seed-");
    assert!(seeds.iter().any(|seed| std::fs::read(seed).unwrap() == b"q"), "{seeds:?}");

    let (said, result) = tested(folder, INPUT, &["--timeout", "10", "--format", "harness", "--run"]);
    assert!(said.contains("covered by harness-") || said.contains(": 4 of 4 branches covered"), "{said}");
    covers_all(&result["native"]);
    assert!(entries(&folder.join("suite"), "seed-").is_empty());
    let mut ends = BTreeSet::new();
    for harness in entries(&folder.join("suite"), "harness-") {
        compile(folder, &["p.c", harness.to_str().unwrap()], "one");
        ends.insert(Command::new(folder.join("one")).output().unwrap().status.code());
    }
    assert_eq!(ends, BTreeSet::from([Some(0), Some(3), Some(4)]));

    let (said, _) = tested(folder, INPUT, &["--timeout", "10", "--format", "test-comp"]);
    assert!(said.contains("it takes more than values of __VERIFIER_nondet_*"), "{said}");
    assert!(folder.join("suite/testcase-1.xml").exists());
    std::fs::write(
        folder.join("v.c"),
        "int __VERIFIER_nondet_int(void); int main(void) { return __VERIFIER_nondet_int(); }",
    )
    .unwrap();
    for (options, said) in [
        (&["v.c", "--format", "folders"][..], "use --format test-comp or --format harness"),
        (&["p.c", "--run-timeout", "1"], "--run"),
    ] {
        let output = proviso(folder, options);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(64) && told.contains(said), "{told}");
    }
}

const HASH: &str = "\
#include <stdio.h>
int main(void) {
    unsigned long long hash = 0xcbf29ce484222325;
    int c;
    while ((c = getchar()) != EOF)
        hash = (hash ^ (unsigned)c) * 1099511628211;
    if (hash == %)
        puts(\"found\");
    return 0;
}
";

#[test]
fn a_search_starts_with_the_corpus_of_a_fuzzer_and_shows_what_it_covers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let step = |hash: u64, &c: &u8| (hash ^ u64::from(c)).wrapping_mul(1_099_511_628_211);
    let hash = b"a seedling".iter().fold(0xcbf2_9ce4_8422_2325, step);
    let program = HASH.replace('%', &format!("{hash}u"));
    let queue = folder.join("found/default/queue");
    std::fs::create_dir_all(&queue).unwrap();
    std::fs::write(queue.join("id:000000,orig:seed"), "a seedling").unwrap();
    let page = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let (said, _) = tested(folder, &program, &["--cpu-limit", "2", "--report", "before.html"]);
    assert!(said.contains("1 open\n"), "{said}");
    assert!(page("before.html").contains("hash == ") && page("before.html").contains("<div class=\"rt\">"));
    let options = ["--cpu-limit", "10", "--seeds", "found", "--run", "--report", "after.html"];
    let (said, result) = tested(folder, &program, &options);
    assert!(said.contains(": 4 of 4 branches covered"), "{said}");
    covers_all(&result["native"]);
    assert!(!page("after.html").contains("<div class=\"rt\">") && page("after.html").contains("<u>1×</u>"));
    // The tests of a suite are seeds, too.
    std::fs::rename(folder.join("suite"), folder.join("earlier")).unwrap();
    let (said, _) = tested(folder, &program, &["--cpu-limit", "10", "--seeds", "earlier"]);
    assert!(said.contains(": 4 of 4 branches covered"), "{said}");
    let output = proviso(folder, &["p.c", "--seeds", "none"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot read none"), "{output:?}");
}

const SURROUNDINGS: &str = "\
#include <stdio.h>
#include <time.h>
int main(int argc, char **argv, char **envp) {
    time_t now = time(NULL);
    struct tm *tm = localtime(&now);
    if (!envp[0] && argc > 2)
        puts(\"no variables\");
    if (argc == 2 && tm->tm_year > 100)
        puts(\"this century\");
    return 0;
}
";

#[test]
fn a_native_run_has_no_other_variables_and_a_plausible_time() {
    let folder = tempfile::tempdir().unwrap();
    let (said, result) = tested(folder.path(), SURROUNDINGS, &["--cpu-limit", "10", "--run"]);
    let native = &result["native"];
    assert_eq!(native["lines"]["covered"], native["lines"]["total"], "{said}{native}");
    assert_eq!(native["broken"].as_array().unwrap().len(), 0, "{native}");
    for condition in ["argc > 2", "tm->tm_year > 100"] {
        let is_covered = |goal: &serde_json::Value| goal["condition"] == condition && goal["status"] == "covered";
        assert!(result["goals"].as_array().unwrap().iter().any(is_covered), "{condition}: {result}");
    }
}

const FUNCTION: &str = "\
struct node { int value; struct node *next; };
int sum(const struct node *list, const char *word) {
    int total = 0;
    for (; list; list = list->next) {
        if (list->value < 0)
            return -1;
        total += list->value & 15;
    }
    if (word && word[0] == 'x' && word[1] == 'y')
        return 1;
    return total == 20;
}
";

#[test]
fn a_function_is_tested_by_harnesses() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--entry", "sum", "--entry-pointers", "maybe-null", "--cpu-limit", "20", "--run"];
    let (said, result) = tested(folder.path(), FUNCTION, &options);
    assert!(said.contains(" 0 open\n"), "{said}");
    covers_all(&result["native"]);
    assert!(entries(&folder.path().join("suite"), "harness-").len() > 1);
}

const LIBRARY: &str = "\
extern int outside;
extern int helper(int);
static int twice(int x) {
    static int calls;
    calls++;
    return x > 100 ? 0 : 2 * x + calls;
}
int asks(int x) {
    x += twice(0);
    if (x == 7 && helper(x) == 5)
        return 1;
    return outside;
}
int apply(int (*f)(int), int kind, int x) {
    if (kind == 1 && f(x) > 10)
        return 1;
    if (kind == 2)
        return -1;
    return x;
}
int ends(int (*m)[2]) {
    if (m[0][1] == 77)
        return m[1000000][0];
    return 3;
}
";

/// A file without `main`: a harness calls each function, also if it is static, uses what no file defines, or ends in
/// undefined behaviour.
#[test]
fn functions_of_a_library_are_tested() {
    let folder = tempfile::tempdir().unwrap();
    for (function, covered, open) in [
        ("twice", 2, &[][..]),
        // An undefined function may call `twice` with other arguments.
        ("asks", 3, &["helper(x)", "x > 100"]),
        ("apply", 4, &["> 10", "<= 10"]),
        ("ends", 2, &[]),
    ] {
        let (said, result) = tested(folder.path(), LIBRARY, &["--entry", function, "--cpu-limit", "10", "--run"]);
        assert_eq!(result["native"]["broken"].as_array().unwrap().len(), 0, "{function}: {said}");
        assert_eq!(result["covered"], covered, "{function}: {said}");
        // llvm-cov may count a condition whose evaluation did not end as false.
        assert!(result["native"]["branches"]["covered"].as_u64() >= Some(covered), "{function}: {said}");
        for goal in result["goals"].as_array().unwrap() {
            let is_open = open.iter().any(|text| goal["condition"].as_str().unwrap().contains(text));
            assert_eq!(goal["status"] == "open", is_open, "{function}: {goal}");
        }
    }
}

const ENDLESS: &str = "\
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    FILE *f = fopen(\"written\", \"w\");
    if (f) fclose(f);
    if (argc > 1)
        for (;;) sleep(1);
    return 0;
}
";

#[test]
fn runs_end_and_stay_in_their_folders() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let options = ["--timeout", "5", "--run", "--run-timeout", "1"];
    let (said, result) = tested(folder, ENDLESS, &options);
    assert!(said.contains(", 1 stopped because the time was up"), "{said}");
    let runs = result["native"]["runs"].as_array().unwrap();
    assert_eq!(runs.iter().filter(|run| run["stopped"] == true).count(), 1, "{result}");
    assert!(!folder.join("written").exists());
    // The lines that a stopped run executed count as covered.
    assert!(said.contains("p.c: ") && result["native"]["broken"].as_array().unwrap().is_empty(), "{said}");
}
