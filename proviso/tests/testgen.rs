//! Suites of tests, judged by running the program natively on them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "\
#include <stdio.h>
extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern double __VERIFIER_nondet_double(void);
extern void reach_error(void);
static int grade(int n) {
    if (n < 0 || n > 100) { puts(\"none\"); return -1; }
    if (n * n == 7921) { puts(\"square\"); return 3; }
    return n > 50;
}
int main(void) {
    int first = __VERIFIER_nondet_int();
    switch (grade(first)) {
    case 3: puts(\"three\"); break;
    case 0: puts(\"low\"); break;
    case 1: puts(\"high\"); break;
    default: puts(\"bad\");
    }
    unsigned char key = __VERIFIER_nondet_uchar();
    for (int i = 0; i < 3; i++)
        key = key * 7 + 1;
    if (key == 200) puts(\"key\");
    if (first % 2 == 0 && key % 2 == 1 && first % 2 == 1) puts(\"never\");
    double d = __VERIFIER_nondet_double();
    if (d > 1.5 && d < 1.5000001) puts(\"close\");
    if (first == 123456789)
        reach_error();
    return 0;
}
";

/// Generates tests of a program in `p.c`. Returns the messages (standard error before standard output) and the JSON.
fn tested(folder: &Path, program: &str, options: &[&str]) -> (String, serde_json::Value) {
    std::fs::write(folder.join("p.c"), program).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_proviso"))
        .args(["testgen", "p.c", "--json", "r.json"])
        .args(options)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = [&output.stderr, &output.stdout].map(|said| String::from_utf8_lossy(said)).concat();
    assert_eq!(output.status.code(), Some(0), "{said}");
    (said, serde_json::from_slice(&std::fs::read(folder.join("r.json")).unwrap()).unwrap())
}

fn testgen(folder: &Path, options: &[&str]) -> (String, serde_json::Value) {
    tested(folder, PROGRAM, &[&["-o", "suite", "--timeout", "40"], options].concat())
}

/// The inputs of the tests of a suite, in order of their names.
fn tests(suite: &Path) -> Vec<(String, Vec<String>)> {
    let mut files: Vec<_> = std::fs::read_dir(suite).unwrap().map(|f| f.unwrap().path()).collect();
    files.retain(|f| {
        let name = f.file_name().unwrap().to_string_lossy();
        name.starts_with("testcase-") && name.ends_with(".xml")
    });
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let values = text
            .lines()
            .filter_map(|l| l.trim().strip_prefix("<input "))
            .map(|l| l.split_once('>').unwrap().1.strip_suffix("</input>").unwrap().to_owned());
        let values = values.collect();
        (text, values)
    };
    files.iter().map(read).collect()
}

/// Runs the program natively on these values. Returns the lines that it prints, and whether it calls the error
/// function.
fn run_natively(folder: &Path, values: &[String]) -> (BTreeSet<String>, bool) {
    let driver = "\
#include <stdio.h>
#include <stdlib.h>
static char line[100];
static const char *next(void) { return fgets(line, sizeof line, stdin) ? line : \"0\"; }
int __VERIFIER_nondet_int(void) { return (int)strtoll(next(), 0, 10); }
unsigned char __VERIFIER_nondet_uchar(void) { return (unsigned char)strtoll(next(), 0, 10); }
double __VERIFIER_nondet_double(void) { return strtod(next(), 0); }
void reach_error(void) { puts(\"error\"); exit(7); }
";
    std::fs::write(folder.join("driver.c"), driver).unwrap();
    if !folder.join("native").exists() {
        let built = Command::new("gcc").args(["-w", "-o", "native", "p.c", "driver.c"]).current_dir(folder).status();
        assert!(built.unwrap().success());
    }
    std::fs::write(folder.join("values"), values.join("\n") + "\n").unwrap();
    let stdin = std::fs::File::open(folder.join("values")).unwrap();
    let output = Command::new(folder.join("native")).stdin(stdin).output().unwrap();
    let lines = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    (lines, output.status.code() == Some(7))
}

#[test]
fn branches_are_covered_natively_and_the_rest_is_proved_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    let (said, result) = testgen(folder.path(), &["--lcov", "covered.info"]);
    let tests = tests(&folder.path().join("suite"));
    assert!(!tests.is_empty() && tests.len() <= 12, "{} tests", tests.len());
    let mut seen = BTreeSet::new();
    let mut error = false;
    for (text, values) in &tests {
        assert!(text.contains("test-format testcase 1.1") && text.contains("<testcase>"), "{text}");
        let (lines, is_error) = run_natively(folder.path(), values);
        seen.extend(lines);
        error |= is_error;
    }
    let expected = ["bad", "close", "error", "high", "key", "low", "none", "square", "three"];
    assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{said}");
    assert!(error);
    // `first % 2 == 1` after `first % 2 == 0` is the only unreachable branch.
    assert!(said.ends_with("1 proved unreachable, 0 open\n"), "{said}");
    assert!(said.contains("p.c:23:"), "{said}");
    assert_eq!(result["unreachable"], 1);
    assert_eq!(result["tests"], tests.len());
    let lcov = std::fs::read_to_string(folder.path().join("covered.info")).unwrap();
    assert!(lcov.contains("SF:p.c\n") && lcov.contains("FNDA:") && lcov.contains("DA:27,1\n"), "{lcov}");
    let metadata = std::fs::read_to_string(folder.path().join("suite/metadata.xml")).unwrap();
    assert!(metadata.contains("<architecture>64bit</architecture>"), "{metadata}");
}

#[test]
fn the_error_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let (said, _) = testgen(folder.path(), &["--coverage", "error-call", "--ktest"]);
    assert!(said.ends_with("1 of 1 error calls covered, 0 proved unreachable, 0 open\n"), "{said}");
    let tests = tests(&folder.path().join("suite"));
    let [(text, values)] = tests.as_slice() else { panic!("{} tests", tests.len()) };
    assert!(text.contains("coversError=\"true\""), "{text}");
    assert!(run_natively(folder.path(), values).1);
    let objects = ktest(&std::fs::read(folder.path().join("suite/testcase-1.ktest")).unwrap());
    assert_eq!(objects.len(), values.len());
    assert_eq!(objects[0], ("__VERIFIER_nondet_int".to_owned(), 123_456_789_i32.to_le_bytes().to_vec()));
    assert_eq!(objects[1].0, "__VERIFIER_nondet_uchar");
    assert_eq!((objects[1].1.len(), objects[2].1.len()), (1, 8));
}

/// Parses a test in KLEE's format, like KLEE's `ktest-tool`. Returns its objects.
fn ktest(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut rest = bytes.strip_prefix(b"KTEST").expect("the magic number");
    fn word(rest: &mut &[u8]) -> usize {
        let (head, tail) = rest.split_at(4);
        *rest = tail;
        u32::from_be_bytes(head.try_into().unwrap()) as usize
    }
    fn text(rest: &mut &[u8]) -> Vec<u8> {
        let length = word(rest);
        let (head, tail) = rest.split_at(length);
        *rest = tail;
        head.to_vec()
    }
    assert_eq!(word(&mut rest), 3);
    let arguments: Vec<_> = (0..word(&mut rest)).map(|_| text(&mut rest)).collect();
    assert_eq!(arguments, [b"p.c"]);
    assert_eq!((word(&mut rest), word(&mut rest)), (0, 0));
    let count = word(&mut rest);
    let objects = (0..count).map(|_| (String::from_utf8(text(&mut rest)).unwrap(), text(&mut rest))).collect();
    assert!(rest.is_empty());
    objects
}

/// The cooperation of a tester and a verifier decides the same goals as the search alone.
#[test]
fn a_tester_and_a_verifier_cooperate() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, _) = testgen(folder.path(), &[]);
    let (together, _) = testgen(folder.path(), &["--cotest"]);
    let covered = |text: &str| text.lines().last().unwrap().split(": ").nth(1).unwrap().to_owned();
    assert_eq!(covered(&alone), covered(&together), "{alone}{together}");
    assert!(together.contains(" 0 open"), "{together}");
    assert!(!tests(&folder.path().join("suite")).is_empty());
}

/// A statement a line, so that gcov's lines are statements.
const STATEMENTS: &str = "\
extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
static int used(int n) {
    int sum = 0;
    while (n > 0) {
        sum += n;
        n -= 3;
    }
    return sum;
}
static int unused(void) {
    return 3;
}
int main(void) {
    int n = __VERIFIER_nondet_int();
    unsigned char key = __VERIFIER_nondet_uchar();
    int both = n == 17 && key > 200;
    if (n > 10 && n < 50)
        n = used(n);
    else if (n == 2000)
        return unused();
    if (both)
        n = 1;
    if (n > 5 && n < 5)
        n = 7;
    return n > 3;
}
";

fn cotest(folder: &Path, options: &[&str]) -> (String, serde_json::Value) {
    tested(folder, STATEMENTS, &[&["-o", "suite", "--timeout", "30"], options].concat())
}

/// Runs `s.c` on these values under gcov. Returns the number of executions of each line.
fn lines(folder: &Path, values: &[String]) -> std::collections::BTreeMap<u64, u64> {
    let work = tempfile::tempdir_in(folder).unwrap();
    let driver = "\
#include <stdio.h>
#include <stdlib.h>
static char line[100];
static const char *next(void) { return fgets(line, sizeof line, stdin) ? line : \"0\"; }
int __VERIFIER_nondet_int(void) { return (int)strtoll(next(), 0, 10); }
unsigned char __VERIFIER_nondet_uchar(void) { return (unsigned char)strtoll(next(), 0, 10); }
";
    std::fs::write(work.path().join("driver.c"), driver).unwrap();
    std::fs::write(work.path().join("s.c"), STATEMENTS).unwrap();
    std::fs::write(work.path().join("values"), values.join("\n") + "\n").unwrap();
    let script = "gcc --coverage -O0 -w -c s.c && gcc --coverage s.o driver.c -o run && (timeout 10 ./run <values; true) && gcov -t s.c";
    let output = Command::new("sh").args(["-c", script]).current_dir(work.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |line: &str| {
        let mut parts = line.split(':').map(str::trim);
        let count = parts.next()?.trim_end_matches('*').to_owned();
        let number = parts.next()?.parse().ok().filter(|n| *n > 0)?;
        Some((number, if count == "#####" { 0 } else { count.parse().ok()? }))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn each_statement_is_named_with_the_test_that_covers_it() {
    let folder = tempfile::tempdir().unwrap();
    let (said, result) = cotest(folder.path(), &["--coverage", "statements"]);
    assert!(said.ends_with(" statements covered, 1 proved unreachable, 0 open\n"), "{said}");
    let tests = tests(&folder.path().join("suite"));
    let executed: Vec<_> = tests.iter().map(|(_, values)| lines(folder.path(), values)).collect();
    let (mut seen, mut counted) = (BTreeSet::new(), 0);
    for goal in result["goals"].as_array().unwrap() {
        let line = goal["location"]["line"].as_u64().unwrap();
        seen.insert(line);
        let by: Vec<usize> = goal["tests"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect();
        match goal["status"].as_str().unwrap() {
            "covered" => {
                assert!(!by.is_empty() && goal["proved_by"].is_null(), "{goal}");
                for test in by {
                    // gcov does not count the last lines of functions.
                    if let Some(&times) = executed[test - 1].get(&line) {
                        assert!(times > 0, "{goal}: not by gcov, test {test}");
                        counted += 1;
                    }
                }
            }
            "unreachable" => {
                assert_eq!(line, 25, "{goal}");
                assert!(goal["proved_by"].is_string() && by.is_empty(), "{goal}");
            }
            other => panic!("{other}: {goal}"),
        }
    }
    assert!(counted >= 17, "{counted} compared");
    // The lines in between belong to the basic block of an earlier line in this list.
    for expected in [4, 5, 6, 9, 12, 15, 18, 19, 20, 21, 22, 23, 24, 25, 26] {
        assert!(seen.contains(&expected), "line {expected} has no goal: {seen:?}");
    }
    let listed = std::fs::read_to_string(folder.path().join("suite/goals.txt")).unwrap();
    assert_eq!(listed.lines().count(), result["goals"].as_array().unwrap().len());
    assert_eq!(listed.lines().filter(|l| l.contains(": covered by testcase-")).count(), listed.lines().count() - 1);
    assert!(listed.contains("proved unreachable by "), "{listed}");
}

#[test]
fn conditions_are_goals_where_nothing_branches_on_them() {
    let folder = tempfile::tempdir().unwrap();
    let (_, branches) = cotest(folder.path(), &[]);
    let (_, conditions) = cotest(folder.path(), &["--coverage", "conditions"]);
    let at = |result: &serde_json::Value, line: u64| {
        let goals = result["goals"].as_array().unwrap();
        goals.iter().filter(|g| g["location"]["line"] == line).map(|g| g["condition"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(at(&branches, 26).len(), 0);
    assert_eq!(at(&conditions, 26), ["\"n > 3\"", "\"n <= 3\""]);
    // `n == 17 && key > 200` as a value has two branches.
    assert_eq!((at(&branches, 17).len(), at(&conditions, 17).len()), (4, 4));
    assert_eq!(conditions["coverage"], "conditions");
}

/// Conditions whose values are computed without a branch. Each line has as many branches as gcov counts for code of
/// gcc.
const VALUES: &str = "\
extern int __VERIFIER_nondet_int(void);
static int both(int a, int b) { return a > 1 && b > 2; }
static int either(int a, int b) { return a || b; }
static int pick(int a) { return a > 5 ? 10 : 20; }
static int *choose(int a, int *p, int *q) { return a > 5 ? p : q; }
static int plain(int a) { return a > 7; }
static int called(int a) { return !(a && plain(a)); }
static int nested(int a, int b) { return a > 3 ? (b ? 1 : 2) : 3; }
static int of_both(int a, int b) { return (a > 3 && b) ? 100 : 200; }
static int within(int a) { return a & (a ? 3 : 8); }
static int compared(int a, int b) { if ((a > 1 && b) == (b > 2 || a)) return 1; return 0; }
static int converted(int a) { return (int)(a * 0.5); }
int main(void) {
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int(), x = 1, y = 2;
    return both(a, b) + either(a, b) + pick(a) + *choose(a, &x, &y) + called(b) + nested(a, b) + of_both(a, b) + within(b)
        + compared(a, b) + converted(a);
}
";

#[test]
fn each_condition_is_a_branch_as_gcov_counts_them() {
    let folder = tempfile::tempdir().unwrap();
    let by_line = |coverage: &str| {
        let options = ["-o", coverage, "--coverage", coverage, "--timeout", "60"];
        let (_, result) = tested(folder.path(), VALUES, &options);
        let mut lines = std::collections::BTreeMap::<u64, u32>::new();
        for goal in result["goals"].as_array().unwrap() {
            assert_eq!(goal["status"], "covered", "{goal}");
            *lines.entry(goal["location"]["line"].as_u64().unwrap()).or_default() += 1;
        }
        lines.into_iter().collect::<Vec<_>>()
    };
    let gcov = [(2, 4), (3, 4), (4, 2), (5, 2), (7, 4), (8, 4), (9, 4), (10, 2), (11, 10)];
    assert_eq!(by_line("branches"), gcov);
    let mut with_values = gcov.to_vec();
    with_values.insert(4, (6, 2));
    assert_eq!(by_line("conditions"), with_values);
}

/// Conditions that are always true or always false, although clang computes them.
const CONSTANT: &str = "\
extern unsigned char __VERIFIER_nondet_uchar(void); extern int puts(const char *);
struct fields { unsigned five : 5; };
int main(void) {
    unsigned char c = __VERIFIER_nondet_uchar();
    struct fields f = { c };
    if (c > 255)
        puts(\"byte\");
    if (f.five >= 32)
        puts(\"field\");
    if ((c & 3) > 7)
        puts(\"mask\");
    switch (c & 3) {
    case 0: puts(\"0\"); break;
    case 7: puts(\"7\"); break;
    }
    int chosen = c > 255 ? 3 : 4;
    if (sizeof(int) == 8)
        puts(\"clang computes this one itself\");
    return chosen;
}
";

#[test]
fn goals_that_are_obviously_unreachable_are_goals() {
    let folder = tempfile::tempdir().unwrap();
    for (coverage, expected) in [
        ("branches", vec![6, 8, 10, 12, 16]),
        ("conditions", vec![6, 8, 10, 12, 16]),
        ("statements", vec![7, 9, 11, 14]),
    ] {
        let options = ["-o", coverage, "--coverage", coverage, "--timeout", "60"];
        let (_, result) = tested(folder.path(), CONSTANT, &options);
        let goals = result["goals"].as_array().unwrap();
        let unreachable = goals.iter().filter(|goal| goal["status"] != "covered");
        let lines: Vec<u64> = unreachable
            .inspect(|goal| assert_eq!(goal["status"], "unreachable", "{goal}"))
            .map(|goal| goal["location"]["line"].as_u64().unwrap())
            .collect();
        assert_eq!(lines, expected, "{coverage}");
    }
}

/// A test of a program that does not terminate consists of the inputs at the beginning of a run.
#[test]
fn a_program_without_end_is_tested() {
    let folder = tempfile::tempdir().unwrap();
    let program = "\
extern int __VERIFIER_nondet_int(void);
int main(void) {
    int state = 0;
    for (;;) {
        int key = __VERIFIER_nondet_int();
        if (state == 0 && key == 4711) state = 1;
        else if (state == 1 && key == 42) state = 2;
        else if (state == 2 && key == state) state = 3;
        if (state > 3) return 1;
    }
}
";
    let (_, result) = tested(folder.path(), program, &["-o", "suite", "--timeout", "60"]);
    let goals = result["goals"].as_array().unwrap();
    let of = |status: &str| goals.iter().filter(|g| g["status"] == status).count();
    // Only the branch to `return` is not covered.
    assert_eq!((of("covered"), of("unreachable")), (goals.len() - 1, 1), "{goals:?}");
    let values = tests(&folder.path().join("suite"));
    // One test has these values in this order. Other values in between have no effect.
    let leads = |test: &[String]| {
        let mut rest = test.iter();
        ["4711", "42", "2"].iter().all(|key| rest.any(|value| value == key))
    };
    assert!(values.iter().any(|(_, test)| leads(test)), "{values:?}");
    assert!(values.iter().all(|(_, test)| test.len() < 10_000), "a test is no longer than it takes");
}

/// The tests of an external tester, in each of the formats, are used if they cover open goals.
#[test]
fn testers_of_others_work_with_the_verifier() {
    let folder = tempfile::tempdir().unwrap();
    let proviso = env!("CARGO_BIN_EXE_proviso");
    let ours = |tests: &str| {
        format!(
            "program = '{proviso}'\narguments = ['testgen', '{{file}}', '--timeout', '4', '--ktest', '-o', 'out']\ntests = ['{tests}']\n"
        )
    };
    // Values from 0 to 2000 and bytes above 200, as files of bytes; and files that are no tests.
    let bytes = "program = 'sh'\ntests = ['out/*']\narguments = ['-c', '''\n\
        mkdir out; printf '\\021\\000\\000\\000\\377' >out/a; printf '\\320\\007\\000\\000\\000' >out/b\n\
        printf '\\036\\000\\000' >out/c; cp {seeds}/* out; echo '<testcase' >out/broken.xml; echo KTEST >out/broken.ktest\n''']\n";
    for (format, adapter) in
        [("xml", ours("out/testcase-*.xml")), ("ktest", ours("out/*.ktest")), ("bytes", bytes.into())]
    {
        std::fs::write(folder.path().join("other.toml"), &adapter).unwrap();
        let (said, result) = cotest(folder.path(), &["--cotest", "--tester", "other.toml"]);
        assert!(said.contains("other: ") && said.contains(" tests in 1 run"), "{format}: {said}");
        assert!(result["tester"]["useful"].as_u64().unwrap() > 0, "{format}: {}", result["tester"]);
        let open = result["goals"].as_array().unwrap().iter().filter(|g| g["status"] == "open").count();
        assert_eq!(open, 0, "{format}: {said}");
        assert!(!tests(&folder.path().join("suite")).is_empty());
    }
    // A tester that writes no test is reported, and no test is counted for it.
    std::fs::write(folder.path().join("none.toml"), "program = 'echo'\narguments = ['no idea']\ntests = ['*.xml']\n")
        .unwrap();
    let (_, result) = cotest(folder.path(), &["--cotest", "--tester", "none.toml"]);
    assert!(result["tester"]["problem"].as_str().unwrap().contains("no idea"), "{}", result["tester"]);
    assert_eq!(result["tester"]["read"], 0);
}

/// A goal is covered if a test of the external verifier reaches it. Its proofs are reported with its name. A violation
/// without such a test has no effect.
#[test]
fn verifiers_of_others_work_with_both() {
    let folder = tempfile::tempdir().unwrap();
    // The product of two primes, and a prime (2^127 - 1): no solver finds factors of 128 bits.
    let program = "\
extern unsigned long __VERIFIER_nondet_ulong(void);
typedef unsigned __int128 wide;
#define PRODUCT ((wide)8188926286163600594 << 64 | 4616413846909282695)
#define PRIME (((wide)1 << 127) - 1)
int main(void) {
    wide a = __VERIFIER_nondet_ulong(), b = __VERIFIER_nondet_ulong();
    if (a < 2 || b < 2)
        return 0;
    if (a * b == PRODUCT)
        return 1;
    if (a * b == PRIME)
        return 2;
    return 0;
}
";
    let sage = |first: &str, then: &str, time: &str| {
        let asked = folder.path().join("asked");
        let tool = format!(
            "program = 'sh'\ntrue = 'NEVER'\nfalse = 'SEE'\ntests = ['*.xml']\narguments = ['-c', '''\n\
             if test -e '{0}'; then echo {then}; else touch '{0}'; echo SEE; fi\n\
             echo '<testcase>{first}</testcase>' >t.xml\n''', '{{file}}']\n",
            asked.display()
        );
        std::fs::write(folder.path().join("sage.toml"), tool).unwrap();
        std::fs::remove_file(asked).ok();
        let options = ["--cotest", "--external", "sage.toml", "--save-gia", "a.html", "-o", "suite", "-t", time];
        let (said, result) = tested(folder.path(), program, &options);
        let shown = std::fs::read_to_string(folder.path().join("a.html")).unwrap() + &result.to_string();
        let told = [" of sage</i>", ", by sage</i>", r#""sage","proofs":1,"tests":1"#].map(|text| shown.contains(text));
        let goals = result["goals"].as_array().unwrap();
        let found = [151_059_027_439_332_767_049_977_454_450_760_542_599, (1u128 << 127) - 1].map(|number| {
            let goal = goals.iter().find(|g| g["condition"].to_string().contains(&format!("== {number}")));
            goal.unwrap_or_else(|| panic!("{number}: {goals:#?}")).clone()
        });
        (said, found, told)
    };
    let factors = "<input>11400714819323198549</input><input>13249961062380153451</input>";
    let (said, [product, prime], told) = sage(factors, "NEVER", "60");
    assert_eq!((product["status"].as_str(), told), (Some("covered"), [true; 3]), "{said}");
    assert_eq!((&prime["status"], &prime["proved_by"]), (&"unreachable".into(), &"sage".into()), "{said}");
    // The same output with a test that does not reach the goal.
    let (said, [product, prime], told) = sage("<input>3</input><input>5</input>", "SEE", "8");
    assert_eq!((&product["status"], &prime["status"], told), (&"open".into(), &"open".into(), [false; 3]), "{said}");
}

/// The coverage lists the lines of each file of a program. Branches in the model of `malloc` do not count.
#[test]
fn coverage_is_told_by_file() {
    let folder = tempfile::tempdir().unwrap();
    let library = "\
#include <stdlib.h>
char *copy(const char *text, unsigned long length) {
    char *new = malloc(length);
    if (!new)
        abort();
    for (unsigned long i = 0; i < length; i++)
        new[i] = text[i];
    return new;
}
";
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    std::fs::write(folder.path().join("lib/copy.c"), library).unwrap();
    let program = "\
extern unsigned char __VERIFIER_nondet_uchar(void);
char *copy(const char *, unsigned long);
void free(void *);
int main(void) {
    unsigned char length = __VERIFIER_nondet_uchar();
    char *new = copy(\"some text\", length % 9);
    free(new);
    return length > 255;
}
";
    let options = ["lib/copy.c", "--lcov", "covered.info", "-o", "suite", "--timeout", "40"];
    let (said, _) = tested(folder.path(), program, &options);
    let lcov = std::fs::read_to_string(folder.path().join("covered.info")).unwrap();
    let of = |file: &str| {
        let part = lcov.split("end_of_record\n").find(|part| part.contains(&format!("SF:{file}\n")));
        part.unwrap_or_else(|| panic!("{file}: {lcov}")).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (main, copy) = (of("p.c"), of("lib/copy.c"));
    let has = |lines: &[String], line: &str| assert!(lines.iter().any(|l| l == line), "{line}: {lines:#?}\n{said}");
    // Line 5 of the library is not executed. The branches are those of the `if` and of the loop.
    let expected = ["FN:2,copy", "DA:5,0", "BRF:4", "BRH:3", "LF:6", "LH:5", "FNF:1", "FNH:1"];
    expected.iter().for_each(|line| has(&copy, line));
    assert!(!copy.iter().any(|line| line.starts_with("BRDA:3,")), "{copy:#?}");
    ["FN:4,main", "BRF:0", "LF:5", "LH:5"].iter().for_each(|line| has(&main, line));
}

/// A test that begins with all inputs of an earlier test counts.
#[test]
fn cooperation_covers_what_goes_on_from_a_test() {
    let folder = tempfile::tempdir().unwrap();
    let program = "\
extern char __VERIFIER_nondet_char(void);
int main(void) {
    int state = 0, depth = 0;
    for (int i = 0; i < 5; i++) {
        char c = __VERIFIER_nondet_char();
        if (c == '(')
            depth++, state = 1;
        else if (c == ')')
            state = 2;
        else if (c != ' ')
            return 0;
    }
    return depth > 3 && state == 2;
}
";
    let (_, result) = tested(folder.path(), program, &["--cotest", "-o", "suite", "--timeout", "60"]);
    let goals = result["goals"].as_array().unwrap();
    assert!(goals.len() > 8 && goals.iter().all(|goal| goal["status"] == "covered"), "{goals:#?}");
}

#[test]
fn what_no_test_gives_is_not_counted_as_covered() {
    let folder = tempfile::tempdir().unwrap();
    let program = "extern int __VERIFIER_nondet_int(void);
char *getenv(const char *);
int main(int argc, char **argv) {
    int a = __VERIFIER_nondet_int(), u, n = 0;
    if (argc > 1)
        n++;
    if (a == 3) {
        if (u == 9)
            n++;
    }
    if (getenv(\"HOME\"))
        n += a == n;
    return n;
}
";
    let (said, _) = tested(folder.path(), program, &["-o", "suite", "--timeout", "40"]);
    assert!(said.contains("2 tests in suite: 5 of 8 branches covered, 0 proved unreachable, 3 open"), "{said}");
    let goals = std::fs::read_to_string(folder.path().join("suite/goals.txt")).unwrap();
    let beyond = "open: it takes more than values of __VERIFIER_nondet_*";
    for goal in ["p.c:5:9: argc > 1: ", "p.c:11:9: getenv(\"HOME\") != 0: "] {
        assert!(goals.lines().any(|line| line.starts_with(goal) && line.ends_with(beyond)), "{goal}: {goals}");
    }
    assert!(goals.contains("p.c:5:9: argc <= 1: covered by") && goals.contains("p.c:8:13: u == 9: open"), "{goals}");
}

/// A tester and a verifier that take turns cover the same goals as symbolic execution alone, even if the program does
/// not terminate. The results at the time limit are kept.
#[test]
fn turns_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let program = "\
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
int main(void) {
    unsigned state = 0, hard = __VERIFIER_nondet_uint();
    while (1) {
        int n = __VERIFIER_nondet_int();
        if (state == 0 && n == 4711)
            state = 1;
        else if (state == 1 && n == 815)
            state = 2;
        else if (state == 2 && hard > 2 && hard * hard * hard + 7 * hard == 31337)
            state = 3;
    }
}
";
    let covered = |how: &[&str]| {
        let (_, result) = tested(folder.path(), program, &[&["-o", "suite", "--cpu-limit", "5"], how].concat());
        result["covered"].as_u64().unwrap()
    };
    let alone = covered(&["--analysis", "symex"]);
    assert!(alone >= 11, "{alone}");
    assert_eq!(covered(&["--cotest"]), alone);
}

/// If no run of a program is a valid test, the suite has one test without inputs, and a warning gives the reason.
#[test]
fn a_suite_has_a_test() {
    let folder = tempfile::tempdir().unwrap();
    let program = "\
#include <pthread.h>
static void *work(void *of) { return of; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    return 0;
}
";
    let (said, _) = tested(folder.path(), program, &["-o", "suite", "--timeout", "20"]);
    assert!(said.contains("pthread_create") && said.contains("one test, of no inputs"), "{said}");
    assert_eq!(tests(&folder.path().join("suite")).len(), 1);
}
