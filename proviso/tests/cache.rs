//! `--cache`: a program that was verified before is not analysed again, and all outputs are the same.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(program: &str) -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        bench.write(program);
        bench
    }

    fn write(&self, program: &str) {
        fs::write(self.folder.path().join("a.c"), program).unwrap();
    }

    fn verify(&self, options: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
        command.current_dir(&self.folder).args(["verify", "a.c", "--cache", "cache", "--json", "a.json"]).args(options);
        if !options.contains(&"--property") {
            command.args(["--property", "unreach-call"]);
        }
        command.output().unwrap()
    }

    /// Returns the verdict line, and true if the verdict comes from the cache.
    fn verdict(&self, options: &[&str]) -> (String, bool) {
        let output = self.verify(options);
        let text = fs::read_to_string(self.folder.path().join("a.json"));
        let json: Value = serde_json::from_str(&text.unwrap()).unwrap();
        let line = String::from_utf8_lossy(&output.stdout).lines().last().unwrap().to_owned();
        assert_eq!(json["verdict_line"], line.as_str());
        (line, json["statistics"]["from_cache"] == 1)
    }

    fn entries(&self) -> Vec<PathBuf> {
        let list = |folder: &Path| fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>();
        let folders = list(&self.folder.path().join("cache"));
        folders.iter().flat_map(|folder| list(folder)).collect()
    }
}

const NONDET: &str = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);\n";

#[test]
fn a_proof_is_found_again_until_the_question_or_the_program_changes() {
    let safe =
        format!("{NONDET}int main(void) {{ int x = __VERIFIER_nondet_int(); if (x > 3 && x < 2) reach_error(); }}");
    let bench = Bench::new(&safe);
    assert_eq!(bench.verdict(&[]), ("TRUE".into(), false));
    assert_eq!(bench.verdict(&[]), ("TRUE".into(), true));
    // Neither limits nor outputs matter.
    assert_eq!(bench.verdict(&["--timeout", "50", "--witness", "w.yml", "--sarif", "s"]), ("TRUE".into(), true));
    for other in [&["--analysis", "symex"][..], &["--property", "no-overflow"], &["--slicing", "off"], &["--seed", "3"]]
    {
        assert_eq!(bench.verdict(other), ("TRUE".into(), false), "{other:?}");
    }
    bench.write(&safe.replace("x < 2", "x < 9"));
    assert_eq!(bench.verdict(&[]), ("FALSE(unreach-call)".into(), false));
}

#[test]
fn a_violation_from_the_cache_is_replayed_and_told_as_any() {
    let bench = Bench::new(&format!(
        "{NONDET}int a[3];\nint main(void) {{\n  int x = __VERIFIER_nondet_int();\n  int *p = __builtin_malloc(4);\n  \
         if (p) *p = x;\n  if (x >= 0 && x < 4) a[x] = 1;\n  if (p && *p == 2) reach_error();\n}}"
    ));
    for property in ["unreach-call", "valid-deref"] {
        let options = ["--property", property, "--harness", "h.c"];
        let first = bench.verify(&options);
        let harness = fs::read_to_string(bench.folder.path().join("h.c")).unwrap();
        let again = bench.verify(&options);
        assert_eq!(String::from_utf8_lossy(&first.stdout), String::from_utf8_lossy(&again.stdout));
        assert_eq!(fs::read_to_string(bench.folder.path().join("h.c")).unwrap(), harness);
        assert!(bench.verdict(&options).1);
    }
}

#[test]
fn what_is_damaged_is_verified_again_and_unknown_is_not_kept() {
    let bench = Bench::new(&format!("{NONDET}int main(void) {{ if (__VERIFIER_nondet_int() == 77) reach_error(); }}"));
    let violated = "FALSE(unreach-call)".to_owned();
    assert_eq!(bench.verdict(&[]), (violated.clone(), false));
    let [entry] = &bench.entries()[..] else { panic!("one entry") };
    let text = fs::read_to_string(entry).unwrap();
    assert!(text.contains("\"77\""), "{text}");
    for damaged in [text.replace("\"77\"", "\"78\""), text[..text.len() / 2].to_owned(), String::new()] {
        fs::write(entry, damaged).unwrap();
        assert_eq!(bench.verdict(&[]), (violated.clone(), false));
        assert_eq!(bench.verdict(&[]), (violated.clone(), true));
    }
    bench.write(
        "void unknown(void); extern void reach_error(void); int x; int main(void) { unknown(); if (x) reach_error(); }",
    );
    assert!(bench.verdict(&[]).0.starts_with("UNKNOWN"));
    assert_eq!(bench.entries().len(), 1);
    assert!(!bench.verdict(&[]).1);
}

#[test]
fn proofs_of_termination_are_kept_with_their_rankings() {
    let bench = Bench::new(&format!(
        "{NONDET}int main(void) {{ unsigned n = __VERIFIER_nondet_int(); while (n > 0) n -= 1; return 0; }}"
    ));
    let rankings = || {
        let verdict = bench.verdict(&["--property", "termination"]);
        let text = fs::read_to_string(bench.folder.path().join("a.json")).unwrap();
        let json: Value = serde_json::from_str(&text).unwrap();
        assert!(!json["ranking_functions"].as_array().expect("rankings").is_empty());
        (verdict, json["ranking_functions"].clone(), json["decided_by"].clone())
    };
    let (first, again) = (rankings(), rankings());
    assert_eq!((first.0, again.0), (("TRUE".into(), false), ("TRUE".into(), true)));
    assert_eq!((first.1, first.2), (again.1, again.2));
    // A cached verdict does not answer another question.
    assert_eq!(bench.verdict(&[]), ("TRUE".into(), false));
    bench.write("int main(void) { while (1) ; }");
    for _ in 0..2 {
        assert_eq!(bench.verdict(&["--property", "termination"]), ("FALSE(termination)".into(), false));
    }
    assert_eq!(bench.entries().len(), 2);
}

#[test]
fn an_automaton_counts_by_its_text() {
    let bench = Bench::new(
        "void dev_open(void) {} void dev_close(void) {}\nint main(void) { dev_open(); dev_open(); return 0; }\n",
    );
    let automaton = |again: &str| {
        let text = format!(
            "automaton dev {{ state s {{ call dev_open() -> t; }}\n\
             state t {{ call dev_open() -> {again}; call dev_close() -> s; }} }}"
        );
        fs::write(bench.folder.path().join("dev.spc"), text).unwrap();
    };
    automaton("s");
    let options = ["--property", "dev.spc"];
    assert_eq!(bench.verdict(&options), ("TRUE".into(), false));
    assert_eq!(bench.verdict(&options), ("TRUE".into(), true));
    automaton("error \"twice\"");
    assert_eq!(bench.verdict(&options), ("FALSE(dev)".into(), false));
}
