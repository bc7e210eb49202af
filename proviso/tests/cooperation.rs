//! Parts of the paths: ranges, conditions, several analyses.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A violation on one path of many, or none.
fn program(folder: &Path, sum: u32) -> PathBuf {
    let path = folder.join(format!("sum{sum}.c"));
    let text = format!(
        "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n\
         static int part(int x) {{ if (x > 5) return 3; return 1; }}\n\
         static int (*choose)(int) = part;\n\
         int main(void) {{\n  int n = __VERIFIER_nondet_int(), s = 0, i = 0;\n\
         \x20 while (__VERIFIER_nondet_int() > 0 && i < 4) {{ s += choose(__VERIFIER_nondet_int()); i++; }}\n\
         \x20 if (n == 77 && s == {sum}) reach_error();\n  return 0;\n}}\n"
    );
    std::fs::write(&path, text).unwrap();
    path
}

fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_proviso"))
        .current_dir(folder)
        .args(args)
        .args(["--property", "unreach-call"])
        .output()
        .unwrap()
}

fn verdict(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    text.lines().last().unwrap_or_else(|| panic!("no verdict: {errors}")).to_owned()
}

#[test]
fn ranges_divide_the_work() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    // Six is 3 + 3 and 3 + 1 + 1 + 1; eleven is no sum of at most four of these.
    program(folder, 6);
    program(folder, 11);
    let split = run(folder, &["split", "--by", "lb2", "sum6.c"]);
    assert_eq!(split.status.code(), Some(0));
    let test = String::from_utf8(split.stdout).unwrap();
    assert!(test.contains("<testcase>") && test.matches("<input type=\"int\">").count() == 6, "{test}");
    std::fs::write(folder.join("t.xml"), test).unwrap();
    // Conditions and ranges are of one property: assertions, where none is named.
    let several = Command::new(env!("CARGO_BIN_EXE_proviso"))
        .current_dir(folder)
        .args(["verify", "--check", "address,unreach-call", "--range", "-,t.xml", "sum6.c"])
        .output();
    assert_eq!(several.unwrap().status.code(), Some(64));
    let ask = |range: &str, file: &str| run(folder, &["verify", "--analysis", "symex", "--range", range, file]);
    let mut violated = 0;
    for range in ["-,t.xml", "t.xml,-", "t.xml,t.xml"] {
        let proved = ask(range, "sum11.c");
        assert_eq!(proved.status.code(), Some(3), "{range}: {}", verdict(&proved));
        assert!(verdict(&proved).starts_with("UNKNOWN(proved within the range"));
        let found = ask(range, "sum6.c");
        violated += u32::from(found.status.code() == Some(1));
        assert!([Some(1), Some(3)].contains(&found.status.code()), "{range}: {}", verdict(&found));
    }
    assert!(violated >= 1);
    assert_eq!(verdict(&ask("-,-", "sum11.c")), "TRUE");
    for bad in ["t.xml", "-,gone.xml", "-,sum6.c"] {
        assert!(ask(bad, "sum6.c").status.code() >= Some(64), "{bad}");
    }
}

#[test]
fn compositions_join_verdicts() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    program(folder, 6);
    program(folder, 11);
    for composition in
        ["Ra-2Se-Lb3", "Ra-3Se-Lb", "Ra-2bmc-Rdm9", "Ra-Se-Pred-Rdm", "lb1,rdm: value | k-induction | symex"]
    {
        let ask = |file: &str| run(folder, &["verify", "--ranged", composition, "--json", "r.json", file]);
        assert_eq!(verdict(&ask("sum6.c")), "FALSE(unreach-call)", "{composition}");
        let safe = verdict(&ask("sum11.c"));
        if composition.contains("Pred") {
            // Predicates do not always suffice.
            assert!(!safe.starts_with("FALSE"), "{composition}: {safe}");
            continue;
        }
        assert_eq!(safe, "TRUE", "{composition}");
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("r.json")).unwrap()).unwrap();
        let parts = json["parts"].as_array().unwrap();
        assert!(parts.len() >= 2 && parts.iter().all(|p| p["verdict"] == "TRUE"), "{composition}: {parts:?}");
    }
    assert_eq!(run(folder, &["verify", "--ranged", "lb3: symex", "sum6.c"]).status.code(), Some(64));
}

#[test]
fn conditions_are_gone_on_from() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    program(folder, 6);
    program(folder, 11);
    // Random testing proves nothing of any path.
    let begun = run(folder, &["verify", "--analysis", "random", "--save-condition", "none.txt", "sum11.c"]);
    assert_eq!(begun.status.code(), Some(2));
    let none = std::fs::read_to_string(folder.join("none.txt")).unwrap();
    assert!(none.starts_with("condition of ") && !none.contains("accepting"), "{none}");
    let resumed = run(
        folder,
        &["verify", "--analysis", "symex", "--resume", "none.txt", "--save-condition", "all.txt", "sum11.c"],
    );
    assert_eq!(verdict(&resumed), "TRUE");
    assert!(String::from_utf8_lossy(&resumed.stderr).contains("the paths that none.txt covers are verified"));
    assert!(std::fs::read_to_string(folder.join("all.txt")).unwrap().contains("q0 initial accepting"));
    // A condition is of one program.
    let other = run(folder, &["verify", "--resume", "all.txt", "sum6.c"]);
    assert_eq!(other.status.code(), Some(65));
    assert!(String::from_utf8_lossy(&other.stderr).contains("all.txt:1: the condition is of another program"));
    // By hand.
    let header = none.lines().next().unwrap();
    std::fs::write(folder.join("every.txt"), format!("{header}\nq0 initial accepting\n")).unwrap();
    assert_eq!(verdict(&run(folder, &["verify", "--resume", "every.txt", "sum11.c"])), "TRUE");
    // Two analyses in one run.
    for file in ["sum6.c", "sum11.c"] {
        let then = run(folder, &["verify", "--analysis", "random", "--then", "symex", "--first-for", "1", file]);
        assert_eq!(verdict(&then), if file == "sum6.c" { "FALSE(unreach-call)" } else { "TRUE" });
    }
}
