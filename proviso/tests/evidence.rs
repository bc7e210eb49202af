//! A failure to write an output does not lose the verdict. Covers every output and every kind of failure.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const HOLDS: &str = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int n = __VERIFIER_nondet_int(), s = 0;
    for (int i = 0; i < n && i < 4; i++)
        s += 2;
    if (s == 3)
        reach_error();
    return 0;
}
";

/// All files that a verification writes.
const OUTPUTS: [&str; 9] = [
    "--harness",
    "--witness",
    "--graphml",
    "--json",
    "--sarif",
    "--report",
    "--pixel-tree",
    "--save-condition",
    "--save-gia",
];

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.args(["verify", "--property", "unreach-call", "--analysis", "symex"]).args(args).current_dir(folder);
    command
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("true.c"), HOLDS).unwrap();
    std::fs::write(folder.path().join("false.c"), HOLDS.replace("s == 3", "s == 4")).unwrap();
    folder
}

const VERDICTS: [(&str, i32, &str); 2] = [("true.c", 0, "TRUE"), ("false.c", 1, "FALSE(unreach-call)")];

#[test]
fn no_output_that_cannot_be_written_takes_the_verdict_back() {
    let folder = folder();
    for (file, code, verdict) in VERDICTS {
        for option in OUTPUTS {
            // The file name determines the format of a picture.
            let full = if option == "--pixel-tree" { "full.svg" } else { "full" };
            let _ = std::os::unix::fs::symlink("/dev/full", folder.path().join(full));
            let output = command(folder.path(), &[option, full, file]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), last_line(&output).as_str()), (Some(code), verdict), "{option}: {said}");
            let is_written = option != "--harness" || code == 1;
            let named =
                format!("warning: {option} {full} is not written: cannot write {full}: No space left on device");
            assert_eq!(said.contains(&named), is_written, "{option}: {said}");
        }
        // Explanations and statistics go to standard error and need no file.
        let output = command(folder.path(), &["--explain", "--stats", "--json", "full", file]).output().unwrap();
        assert_eq!((output.status.code(), last_line(&output).as_str()), (Some(code), verdict));
    }
    // If one file cannot be written, the others still are.
    let args = ["--witness", "full", "--json", "all.json", "--sarif", "full", "--report", "all.html", "false.c"];
    let output = command(folder.path(), &args).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches("is not written").count(), 2);
    for name in ["all.json", "all.html"] {
        assert!(folder.path().join(name).metadata().unwrap().len() > 100, "{name}");
    }
}

/// Writing to a pipe without a reader blocks.
#[test]
fn a_run_that_is_ended_while_it_writes_has_its_verdict() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (file, code, verdict) in VERDICTS {
        let witness = folder.path().join(format!("{file}.yml"));
        let args = ["--witness", witness.to_str().unwrap(), "--report", "pipe", file];
        let mut child = command(folder.path(), &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The witness comes before the report.
        while !witness.exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(interrupt.success());
        let status = child.wait().unwrap();
        let (mut stdout, mut stderr) = (String::new(), String::new());
        child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((status.code(), stdout.lines().last()), (Some(code), Some(verdict)), "{stderr}");
        assert!(stderr.contains("--report pipe is not written: interrupted"), "{stderr}");
    }
    // The same at a time limit.
    let output = command(folder.path(), &["--timeout", "5", "--report", "pipe", "true.c"]).output().unwrap();
    assert_eq!((output.status.code(), last_line(&output).as_str()), (Some(0), "TRUE"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--report pipe is not written: timeout of "));
}
