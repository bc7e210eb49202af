//! A random sample of the programs of `scripts/attack`. No verdict contradicts the native execution.
//!
//! `ATTACK_SEED` repeats a sample. `ATTACK_SECONDS` is the duration of the test, by default 20.

use std::path::Path;
use std::process::Command;

#[test]
fn no_verdict_contradicts_the_machine() {
    let seconds = std::env::var("ATTACK_SECONDS").unwrap_or_else(|_| "20".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/attack");
    let mut command = Command::new("python3");
    command.arg("-B").arg(script).args(["--proviso", env!("CARGO_BIN_EXE_proviso"), "--count", "100000"]);
    command.args(["--seconds", &seconds, "--timeout", "5"]);
    if let Ok(seed) = std::env::var("ATTACK_SEED") {
        command.args(["--seed", &seed]);
    }
    let run = command.output().expect("python3 runs");
    let text = String::from_utf8_lossy(&run.stdout);
    println!("{text}");
    assert!(run.status.success(), "{text}\n{}", String::from_utf8_lossy(&run.stderr));
    let answers = |what: &str| {
        let summary = text.lines().find(|line| line.contains(" answers: ")).expect("a summary");
        summary
            .split([',', ':'])
            .find_map(|part| part.trim().strip_suffix(what))
            .expect("a number")
            .trim()
            .parse::<u32>()
    };
    let (proved, violated) = (answers("TRUE").expect("a number"), answers("FALSE").expect("a number"));
    assert!(proved > 0 && violated > 0, "{text}");
}
