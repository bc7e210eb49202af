//! `proviso instrument --sequentialise`: programs without threads, which other analyses verify.

use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_proviso")).args(args).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Writes a program to a new folder.
fn source(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.c");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

/// Two threads move money between accounts on the heap, by functions with loops. The lock is optional.
const BANK: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
struct account {
    pthread_mutex_t lock;
    int balance[2];
};
static void move_money(struct account *account, int amount) {
#ifdef LOCKED
    pthread_mutex_lock(&account->lock);
#endif
    printf("%d to %p\n", amount, (void *)account);
    for (int i = 0; i < 2; i++)
        account->balance[i] += i ? amount : -amount;
#ifdef LOCKED
    pthread_mutex_unlock(&account->lock);
#endif
}
static void *work(void *argument) {
    int amount = __VERIFIER_nondet_int();
    if (amount < 0 || amount > 100)
        return NULL;
    move_money(argument, amount);
    return argument;
}
int main(void) {
    pthread_t one, other;
    struct account *account = calloc(1, sizeof *account);
    if (!account)
        return 1;
    pthread_mutex_init(&account->lock, NULL);
    pthread_create(&one, NULL, work, account);
    pthread_create(&other, NULL, work, account);
    void *result;
    pthread_join(one, &result);
    pthread_join(other, NULL);
    if (account->balance[0] + account->balance[1] != 0)
        reach_error();
    if (result && result != account)
        reach_error();
    free(account);
    return 0;
}
"#;

#[test]
fn a_sequential_program_has_the_violations_of_its_threads() {
    let (folder, file) = source(BANK);
    for (lock, name, verdict) in [
        ("-DUNLOCKED", "sequential.c", "FALSE(unreach-call)"),
        ("-DLOCKED", "sequential.c", "TRUE"),
        ("-DUNLOCKED", "sequential.bc", "FALSE(unreach-call)"),
    ] {
        let path = folder.path().join(name);
        let out = path.to_str().unwrap();
        let written = run(&["instrument", &file, lock, "--property", "unreach-call", "--sequentialise", "-o", out]);
        let message = stderr(&written);
        assert_eq!(written.status.code(), Some(0), "{message}");
        assert!(
            message.contains("is bounded: executions end after 2 rounds") && message.contains("2 threads in `work`")
        );
        let output = run(&["verify", out, "--property", "unreach-call", "--timeout", "60"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text.lines().last(), Some(verdict), "{name} {lock} {text}");
    }
}

#[test]
fn constructs_without_a_translation_are_refused() {
    let head = "#include <pthread.h>\nint x;\nvoid reach_error(void);\n";
    let main = "int main(void) { pthread_t t;\npthread_create(&t, 0, START, 0); return 0; }\n";
    let recursive = format!(
        "{head}void visit(int n) {{ x++; if (n)\nvisit(n - 1); }}\nvoid *run(void *p) {{ visit(3); return p; }}\n{main}"
    );
    let unknown = format!(
        "{head}void *run(void *p) {{ return p; }}\nvoid *other(void *p) {{ return p; }}\nvoid *(*volatile start)(void *) = run;\n{main}"
    );
    let waits = format!(
        "{head}pthread_mutex_t m;\nvoid __VERIFIER_atomic_begin(void);\nvoid __VERIFIER_atomic_end(void);\n\
         void *run(void *p) {{ __VERIFIER_atomic_begin();\npthread_mutex_lock(&m); __VERIFIER_atomic_end(); return p; }}\n{main}"
    );
    for (text, start, construct, line) in [
        (&recursive, "run", "the recursive function `visit` cannot be translated", ":5:"),
        (&unknown, "start", "a call of `pthread_create` whose function is not a constant cannot", ":8:"),
        (&waits, "run", "waiting in an atomic section cannot be translated", ":8:"),
    ] {
        let (_folder, file) = source(&text.replace("START", start));
        let output = run(&["instrument", &file, "--sequentialise=3"]);
        let message = stderr(&output);
        assert!(output.status.code() == Some(65) && message.contains(construct) && message.contains(line), "{message}");
    }
    let (_folder, file) = source(BANK);
    for check in ["address", "thread", "deadlock"] {
        let output = run(&["instrument", &file, "--sequentialise", "--check", check]);
        let message = stderr(&output);
        assert!(message.contains("cannot be checked in a program whose threads are replaced"), "{check} {message}");
    }
}
