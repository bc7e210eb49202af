//! Witnesses of violations in threads.

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
