//! The tests of `scripts/batch`, which are Python like the script.

use std::path::Path;
use std::process::Command;

#[test]
fn batch_script() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("batch");
    let run =
        Command::new("python3").args(["-B", "-m", "unittest", "discover"]).arg(&folder).output().expect("python3 runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
