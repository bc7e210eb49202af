//! Links the two SMT solvers. `scripts/setup-deps` installs both into the git-ignored `.deps` of the workspace. This
//! script downloads and compiles nothing.
//!
//! - Bitwuzla: one static archive, which includes CaDiCaL, and Debian's libgmp. The crate `bitwuzla-sys` declares its
//!   functions. Its feature that downloads and builds the library is off.
//! - Z3: the shared library of the PyPI wheel, through the crate `z3-sys`. Debian's own libz3 (4.8, a dependency of
//!   libLLVM) is too old for it. `PKG_CONFIG_PATH` in `.cargo/config.toml` points z3-sys to `.deps/z3`. The search path
//!   below does so as well, for build directories from before the setup. `Z3_LIBRARY_PATH_OVERRIDE` would select
//!   Debian's library.
//!
//! At run time, the library is found next to the binaries (`target/<profile>/`). Each binary searches its own folder,
//! the parent folder (for tests in `deps/`) and `../lib` (for installations). So `proviso` can be moved together with
//! `libz3.so.*`. Link arguments apply only to the binaries of their own package. Any other package with a binary that
//! links `smt` needs the same line in its build script, as `engine` and `proviso` have it. `cargo run` and `cargo test`
//! find the library without it.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let deps = root.join(".deps");
    for solver in ["bitwuzla", "z3"] {
        let stamp = deps.join(solver).join("stamp");
        println!("cargo::rerun-if-changed={}", stamp.display());
        if !stamp.is_file() {
            println!("cargo::error={solver} is not there yet: run scripts/setup-deps");
            process::exit(1);
        }
        println!("cargo::rustc-link-search=native={}", deps.join(solver).join("lib").display());
    }
    println!("cargo::rustc-link-lib=static:-bundle=bitwuzla");
    println!("cargo::rustc-link-lib=gmp");
    println!("cargo::rustc-link-lib=stdc++");
    println!("cargo::rustc-link-arg=-Wl,-rpath,$ORIGIN:$ORIGIN/..:$ORIGIN/../lib");

    // OUT_DIR is target/<profile>/build/smt-<hash>/out.
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let profile = out.ancestors().nth(3).expect("OUT_DIR is that deep");
    if let Err(e) = lay_beside(&deps.join("z3/lib"), profile) {
        println!("cargo::error=cannot put libz3 into {}: {e}", profile.display());
        process::exit(1);
    }
}

/// Links or copies `libz3.so.<version>` into `folder`.
fn lay_beside(lib: &Path, folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(lib)? {
        let file = entry?;
        if file.file_name().to_string_lossy().starts_with("libz3.so.") {
            // Replace the file by renaming: a running program may have the old one open.
            let new = folder.join(".libz3.new");
            let _ = fs::remove_file(&new);
            fs::hard_link(file.path(), &new).or_else(|_| fs::copy(file.path(), &new).map(drop))?;
            fs::rename(&new, folder.join(file.file_name()))?;
        }
    }
    Ok(())
}
