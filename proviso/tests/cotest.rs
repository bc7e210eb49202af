//! Cooperative test generation on programs with long runs, infinite loops, and arguments.

use serde_json::Value;
use std::process::Command;

/// Runs cooperative test generation. Returns the numbers of covered, unreachable and open goals, and the resulting
/// automaton.
fn cotest(program: &str) -> ([u64; 3], String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.c"), program).unwrap();
    let how = ["testgen", "--cotest", "p.c", "-o", "suite", "--json", "r.json", "--save-gia", "known.gia", "-t", "60"];
    let run = Command::new(env!("CARGO_BIN_EXE_proviso")).args(how).current_dir(folder.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let result: Value = serde_json::from_str(&read("r.json")).unwrap();
    let goals = result["goals"].as_array().unwrap().len() as u64;
    let [covered, unreachable] = ["covered", "unreachable"].map(|what| result[what].as_u64().unwrap());
    ([covered, unreachable, goals - covered - unreachable], read("known.gia"))
}

/// Goals after an infinite loop are proved unreachable.
#[test]
fn a_loop_without_end_is_not_left() {
    let (goals, _) = cotest(
        "int main(void) {
    int x = 1, y = -1, z = 1;
    while (x == z) { z = y; y = x; x = -x; }
    return 0;
}
",
    );
    assert_eq!(goals, [1, 1, 0]);
}

/// The automaton describes a run of a million iterations by its input.
#[test]
fn a_long_run_is_told_by_its_inputs() {
    let (goals, gia) = cotest(
        "extern int __VERIFIER_nondet_int(void);
int main(void) {
    int a = __VERIFIER_nondet_int(), i = 0;
    if (a <= 0)
        return 1;
    while (i < 1000000) { a = a + 1; i = i + 1; }
    if (i < 1000000)
        return 2;
    return 0;
}
",
    );
    assert_eq!(goals, [5, 1, 0]);
    assert!(gia.lines().count() < 100, "{gia}");
}

/// `--analysis` selects the verifier.
#[test]
fn any_analysis_is_the_verifier() {
    let program = "extern unsigned char __VERIFIER_nondet_uchar(void);
int main(void) {
    unsigned begin = __VERIFIER_nondet_uchar(), sum = begin, some = 0;
    while (__VERIFIER_nondet_uchar()) { sum = (sum * 3 + __VERIFIER_nondet_uchar()) % 251; some = 1; }
    if (!some && sum != begin)
        return 1;
    return 0;
}
";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.c"), program).unwrap();
    let how = ["testgen", "--cotest", "--analysis", "predicate", "p.c", "-o", "suite", "-t", "60"];
    let run = Command::new(env!("CARGO_BIN_EXE_proviso")).args(how).current_dir(folder.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let goals = std::fs::read_to_string(folder.path().join("suite/goals.txt")).unwrap();
    assert!(goals.contains("proved unreachable by predicate") && !goals.contains("open"), "{goals}");
}

/// Tests are run with the program's name as the only argument.
#[test]
fn a_program_that_takes_arguments_is_tested() {
    let (goals, _) = cotest(
        "extern int __VERIFIER_nondet_int(void);
int main(int argc, char **argv) {
    int x = __VERIFIER_nondet_int();
    if (argc == 1 && x > 3)
        return 1;
    return x == 2;
}
",
    );
    assert_eq!(goals, [3, 0, 1]);
}
