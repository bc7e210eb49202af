//! `scripts/batch` with the real verifier, on the tasks in `tests/examples`.

use std::path::Path;
use std::process::Command;

#[test]
fn batch_solves_the_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.jsonl");
    let run =
        |arguments: &[&str]| Command::new(root.join("scripts/batch")).args(arguments).output().expect("python3 runs");
    let run_tasks = || {
        run(&[
            "run",
            root.join("tests/examples").to_str().unwrap(),
            "--out",
            results.to_str().unwrap(),
            "--proviso",
            env!("CARGO_BIN_EXE_proviso"),
            "--timeout",
            "60",
        ])
    };
    let first = run_tasks();
    let report = String::from_utf8_lossy(&first.stdout);
    assert!(first.status.success(), "{report}{}", String::from_utf8_lossy(&first.stderr));
    assert!(report.contains("solved 4 of 4 (2 TRUE, 2 FALSE)"), "{report}");

    let again = run_tasks();
    let progress = String::from_utf8_lossy(&again.stderr);
    assert!(progress.contains("4 of 4 tasks are done already"), "{progress}");

    let file = results.to_str().unwrap();
    let compared = run(&["compare", file, file]);
    assert!(compared.status.success());
    let text = String::from_utf8_lossy(&compared.stdout);
    assert!(text.contains("lost: 0") && text.contains("solved in both: 4"), "{text}");

    for (format, expected) in [
        ("csv", "unreach-call,examples,true,TRUE,correct-true,,0,"),
        ("junit", "tests=\"4\" failures=\"0\" errors=\"0\" skipped=\"0\""),
        ("benchexec", "<column title=\"status\" value=\"false(unreach-call)\" />"),
    ] {
        let exported = run(&["export", file, "--format", format]);
        let text = String::from_utf8_lossy(&exported.stdout);
        assert!(exported.status.success() && text.contains(expected), "{text}");
    }

    let plot = folder.path().join("quantiles.svg");
    let drawn = run(&["plot", &format!("one={file}"), &format!("two={file}"), "--out", plot.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&drawn.stdout);
    assert!(drawn.status.success() && text.contains("solved by any: 4"), "{text}");
    let svg = std::fs::read_to_string(plot).unwrap();
    assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
    assert!(svg.contains("one (4)") && svg.contains("two (4)"), "{svg}");
}

/// Runs `tests/batch/real`: killed and resumed batches, functions of a project, and a cluster of processes.
#[test]
fn batches_of_the_real_verifier() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/batch/real");
    let mut command = Command::new("python3");
    command.args(["-B", "-m", "unittest", "discover", "-v"]).arg(&folder).env("PROVISO", env!("CARGO_BIN_EXE_proviso"));
    let run = command.output().expect("python3 runs");
    let text = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{text}");
    // `--nocapture` shows the skipped tests with their reasons.
    text.lines().filter(|line| line.contains("skipped")).for_each(|line| println!("{line}"));
}

#[test]
fn functions_are_listed_with_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let library = "static int twice(int x)\n{\n  return 2 * x;\n}\n\nint four(void) {\n  return twice(2);\n}\n";
    std::fs::write(folder.path().join("a.c"), library).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_proviso"))
        .current_dir(&folder)
        .args(["cfa", "a.c", "--format", "functions"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 2, "{text}");
    for (row, name, first, last) in [(&rows[0], "four", "6", "7"), (&rows[1], "twice", "1", "3")] {
        assert!(row[1].ends_with("/a.c"), "{text}");
        assert_eq!([row[0], row[2], row[3]], [name, first, last]);
    }
}

/// A release may run on a machine without the right clang.
#[test]
fn a_missing_clang_and_one_of_another_version_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let clang = folder.path().join("clang");
    std::fs::write(&clang, "#!/bin/sh\necho 'Debian clang version 14.0.6'\n").unwrap();
    std::fs::set_permissions(&clang, std::fs::Permissions::from_mode(0o755)).unwrap();
    let verify = |variable: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
        command.args(["verify", "../tests/examples/sum.c"]).env_remove("PROVISO_CLANG");
        variable.map(|name| command.env("PROVISO_CLANG", name));
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = verify(clang.to_str());
    assert!(code == Some(69) && text.contains("which is clang 14; clang 19 is needed"), "{text}");
    let (code, text) = verify(Some("no-such-clang"));
    assert!(code == Some(69) && text.contains("\"no-such-clang\", which is not a program"), "{text}");
    assert_eq!(verify(Some("clang-19")).0, Some(0));
}
