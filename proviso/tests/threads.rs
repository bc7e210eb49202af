//! Witnesses of violations in threads, and messages about programs with threads.

use std::path::Path;
use std::process::Command;

fn proviso(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_proviso")).current_dir(folder).args(arguments).output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

/// Two threads add inputs to a variable, with or without a lock.
fn adds(lock: &str, unlock: &str) -> String {
    format!(
        "#include <pthread.h>\nint __VERIFIER_nondet_int(void);\nvoid reach_error(void);\nint x;\n\
         pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nvoid *add(void *unused) {{\n    int n = __VERIFIER_nondet_int();\n    \
         {lock}\n    if (n == 1)\n        x++;\n    {unlock}\n    return unused;\n}}\nint main(void) {{\n    \
         pthread_t one, other;\n    pthread_create(&one, 0, add, 0);\n    pthread_create(&other, 0, add, 0);\n    \
         pthread_join(one, 0);\n    pthread_join(other, 0);\n    return 0;\n}}\n"
    )
}

#[test]
fn a_witness_names_the_threads_of_its_steps_and_is_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let (races, waits) = (adds("", ""), adds("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"));
    std::fs::write(folder.path().join("a.c"), &races).unwrap();
    let question = ["--property", "no-data-race", "--timeout", "20"];
    let verify = [&["verify", "a.c", "--witness", "w.yml"], &question[..]].concat();
    let validate = [&["validate", "w.yml", "a.c"], &question[..]].concat();
    assert_eq!(proviso(folder.path(), &verify), "FALSE(no-data-race)");
    let witness = std::fs::read_to_string(folder.path().join("w.yml")).unwrap();
    for part in ["format_version: \"2.2\"", "thread_id: 1", "thread_id: 2", "type: target", "\\result == 1"] {
        assert!(witness.contains(part), "{part}: {witness}");
    }
    assert_eq!(proviso(folder.path(), &validate), "FALSE(no-data-race)");
    // The threads of the corrected program share the state of the witness alone, which is no race of the program.
    std::fs::write(folder.path().join("a.c"), &waits).unwrap();
    let verdict = proviso(folder.path(), &validate);
    assert!(verdict.starts_with("UNKNOWN("), "{verdict}");
}

/// Runs the command and returns what it prints on both streams.
fn shown(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_proviso")).current_dir(folder).args(arguments).output().unwrap();
    [output.stdout, output.stderr].iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

/// Two threads take two locks, one of them in a struct, and write to a variable.
const LOCKS: &str = r#"#include <pthread.h>
#include <stdio.h>
struct account {
    int balance;
    pthread_mutex_t lock;
};
struct account savings = {1, PTHREAD_MUTEX_INITIALIZER};
pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static void *deposit(void *unused) {
    pthread_mutex_lock(&ledger);
    savings.balance++;
    pthread_mutex_lock(&savings.lock);
    pthread_mutex_unlock(&savings.lock);
    pthread_mutex_unlock(&ledger);
    return unused;
}
static void *audit(void *unused) {
    pthread_mutex_lock(&savings.lock);
    savings.balance++;
    pthread_mutex_lock(&ledger);
    pthread_mutex_unlock(&ledger);
    pthread_mutex_unlock(&savings.lock);
    return unused;
}
int main(void) {
    pthread_t one, other;
    printf("start\n");
    pthread_create(&one, NULL, deposit, NULL);
    pthread_create(&other, NULL, audit, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("%d\n", savings.balance);
    return 0;
}
"#;

#[test]
fn messages_name_threads_and_locks() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bank.c"), LOCKS).unwrap();
    let text = shown(folder.path(), &["verify", "bank.c", "--check", "deadlock", "--timeout", "20"]);
    for part in [
        "no thread can continue: thread ",
        "thread 1 (`deposit`) waits for mutex `savings.lock` (bank.c:7), which thread 2 (`audit`) holds",
        "thread 2 (`audit`) waits for mutex `ledger` (bank.c:8), which thread 1 (`deposit`) holds",
        "thread 0 (`main`) waits for the end of thread 1 (`deposit`)",
        "thread 1 (`deposit`) continues\n",
        "pthread_mutex_lock(&savings.lock)",
        "printf()",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("proviso_"), "{text}");
    let text = shown(folder.path(), &["verify", "bank.c", "--check", "thread", "--timeout", "20"]);
    for part in [
        "data race: thread ",
        " `savings.balance`, which thread ",
        ", and no lock excludes the other: thread ",
        " holds mutex `ledger` (bank.c:8)",
        " holds mutex `savings.lock` (bank.c:7)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn an_error_in_a_started_thread_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let program = "#include <pthread.h>\nvoid reach_error(void);\nint x;\nvoid *check(void *unused) {\n    if (x)\n        \
                   reach_error();\n    return unused;\n}\nint main(void) {\n    pthread_t one;\n    \
                   pthread_create(&one, 0, check, 0);\n    pthread_join(one, 0);\n    return 0;\n}\n";
    std::fs::write(folder.path().join("a.c"), program).unwrap();
    let text = shown(folder.path(), &["verify", "a.c", "--property", "unreach-call", "--timeout", "20"]);
    assert!(text.contains("TRUE") && !text.contains("nothing was checked"), "{text}");
}
