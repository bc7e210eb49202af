//! Compiles the C++ part of the front-end (`shim/`) and links LLVM 19. `llvm-config-19` provides the flags.

use std::process::Command;

fn llvm_config(args: &[&str]) -> Vec<String> {
    let output = Command::new("llvm-config-19").args(args).output();
    let Ok(output) = output else {
        println!("cargo::error=llvm-config-19 is not there: install llvm-19-dev");
        std::process::exit(1);
    };
    String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect()
}

fn main() {
    println!("cargo::rerun-if-changed=shim");
    let mut shim = cc::Build::new();
    shim.cpp(true).files([
        "shim/module.cpp",
        "shim/reachable.cpp",
        "shim/startup.cpp",
        "shim/checks.cpp",
        "shim/tables.cpp",
        "shim/export.cpp",
        "shim/cut.cpp",
    ]);
    // The shim is compiled with optimisation in every profile, because the lowering depends on its speed.
    shim.opt_level(2).debug(false).flag_if_supported("-Wno-unused-parameter");
    for flag in llvm_config(&["--cxxflags"]) {
        match flag.strip_prefix("-I") {
            // A system include folder suppresses warnings in LLVM's own headers.
            Some(folder) => shim.flag("-isystem").flag(folder),
            None => shim.flag(&flag),
        };
    }
    shim.compile("proviso_llvm");
    for folder in llvm_config(&["--libdir"]) {
        println!("cargo::rustc-link-search=native={folder}");
    }
    if std::env::var_os("CARGO_FEATURE_STATIC_LLVM").is_none() {
        println!("cargo::rustc-link-lib=dylib=LLVM-19");
        return;
    }
    for flag in llvm_config(&[
        "--link-static",
        "--libs",
        "core",
        "executionengine",
        "bitreader",
        "bitwriter",
        "irreader",
        "linker",
        "target",
        "transformutils",
    ]) {
        println!("cargo::rustc-link-lib=static:-bundle={}", flag.trim_start_matches("-l"));
    }
    // Every Debian system has these libraries, but maybe not the development files that the linker searches.
    for library in ["libz.so.1", "libzstd.so.1"] {
        println!("cargo::rustc-link-lib=dylib:+verbatim={library}");
    }
}
