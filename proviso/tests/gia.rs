//! What is known of paths, as files: written, checked, combined, and reduced by.

use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = __VERIFIER_nondet_int();
    int y = 0;
    if (x == 7)
        y = 2;
    if (x < 5)
        y = y + 1;
    if (y == 2)
        reach_error();
    return 0;
}
";

fn proviso(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_proviso")).args(args).current_dir(folder).output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.code().is_some_and(|c| c < 3), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The number of the edge of which the text form has such a line, and the variable that is read or written there.
fn edge(cfa: &str, what: &str) -> (String, String) {
    let line = cfa.lines().find(|l| l.contains(what)).unwrap_or_else(|| panic!("{what} in\n{cfa}"));
    let number = line.trim().split(':').next().unwrap().to_owned();
    let at = line.find("x.v").expect("a variable");
    let variable: String = line[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '.').collect();
    (number, variable)
}

#[test]
fn what_is_said_is_checked_combined_and_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("p.c"), PROGRAM).unwrap();
    let cfa = text(&proviso(folder, &["cfa", "p.c"]));
    let header = text(&proviso(folder, &["gia", "new", "p.c"])).lines().next().unwrap().to_owned();
    let (havoc, x) = edge(&cfa, ":= havoc");
    let (seven, _) = edge(&cfa, "== 7:32) means true");
    let (other, _) = edge(&cfa, "== 7:32) means false");
    let write = |name: &str, body: &str| std::fs::write(folder.join(name), format!("{header}\n{body}")).unwrap();
    let verdict = |name: &str| {
        let output = proviso(folder, &["gia", "check", name, "p.c"]);
        (text(&output).lines().last().unwrap().to_owned(), output.status.code().unwrap())
    };

    // Other values than 7 lead to no error.
    write("ut", &format!("q0 initial\n  {other} -> q1\n  * -> q0\nq1 ut\n"));
    assert_eq!(verdict("ut"), ("CORRECT".to_owned(), 0));
    write("wrong", &format!("q0 initial\n  {seven} -> q1\n  * -> q0\nq1 ut\n"));
    assert_eq!(verdict("wrong"), ("WRONG".to_owned(), 1));
    // 7 does.
    let path = |value: u32| format!("q0 initial\n  {havoc} if ({x} == {value}:32) -> q1\n  * -> q0\nq1 rt\n");
    write("rt", &path(7));
    assert_eq!(verdict("rt"), ("CORRECT".to_owned(), 0));
    write("lie", &path(6));
    assert_eq!(verdict("lie"), ("WRONG".to_owned(), 1));
    write("unclear", &format!("q0 initial\n  {seven} -> q1\n  * -> q0\nq1 rt\n"));
    assert_eq!(verdict("unclear"), ("UNKNOWN".to_owned(), 2));
    // A rule of the format is broken, and the program is another.
    write("broken", &format!("q0 initial\n  {other} -> q1\nq1 ut\n  * -> q0\n"));
    let broken = proviso(folder, &["gia", "check", "broken", "p.c"]);
    assert_eq!(broken.status.code(), Some(65));
    assert!(String::from_utf8_lossy(&broken.stderr).contains("rule 1"));

    let both = proviso(folder, &["gia", "combine", "ut", "rt", "p.c", "-o", "both"]);
    assert!(both.status.success(), "{}", String::from_utf8_lossy(&both.stderr));
    assert_eq!(verdict("both"), ("CORRECT".to_owned(), 0));
    let dot = text(&proviso(folder, &["gia", "show", "both", "p.c", "-f", "dot"]));
    assert!(dot.contains("palegreen") && dot.contains("lightblue"), "{dot}");
    let json = text(&proviso(folder, &["gia", "show", "both", "p.c", "-f", "json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let says: Vec<_> = json["states"].as_array().unwrap().iter().filter_map(|s| s["says"].as_str()).collect();
    assert!(says.contains(&"ut") && says.contains(&"rt"), "{says:?}");

    // As a condition and back.
    text(&proviso(folder, &["gia", "to-condition", "ut", "p.c", "-o", "condition"]));
    text(&proviso(folder, &["gia", "from-condition", "condition", "p.c", "-o", "again"]));
    assert_eq!(verdict("again"), ("CORRECT".to_owned(), 0));

    // The error is left where the harmless paths go, and not where its own do: asked as any other verifier would be.
    let answer = |options: &[&str]| {
        let mut args = vec!["reduce", "p.c", "-o", "rest.c"];
        args.extend(options);
        text(&proviso(folder, &args));
        text(&proviso(folder, &["verify", "rest.c", "--property", "unreach-call", "--timeout", "20"]))
            .lines()
            .last()
            .unwrap()
            .to_owned()
    };
    for reducer in ["parcomp", "cfa", "lh", "lhc", "lhb", "lhbc", "nlh", "sep"] {
        assert_eq!(answer(&["--condition", "condition", "--reducer", reducer]), "FALSE(unreach-call)", "{reducer}");
        assert_eq!(answer(&["--gia", "both", "--take", "rt", "--reducer", reducer]), "TRUE", "{reducer}");
    }
    assert_eq!(answer(&["--gia", "both"]), "FALSE(unreach-call)");
    let shape = text(&proviso(folder, &["reduce", "p.c", "--gia", "both", "--shape"]));
    assert!(shape.lines().count() > 3 && shape.contains('#'), "{shape}");
}
