//! Optimised bitcode has the same meaning as the C code: the programs of `tests/native` have the same result when
//! lowered from C and from bitcode that clang optimised and vectorised.

use cfa::Bv;
use cfa::interp::{InputSource, Interpreter, Limits, Outcome, Unknown};
use frontend_llvm::{DataModel, Options, load};
use std::path::Path;
use std::process::Command;

/// A minimal environment.
struct Ones;

impl InputSource for Ones {
    fn unknown(&mut self, _: Unknown, width: u32) -> Bv {
        Bv::one(width)
    }
}

fn outcome(options: &Options) -> Outcome {
    let program = load(options).and_then(|module| module.lower()).unwrap();
    cfa::validate::validate(&program).unwrap();
    let run = Interpreter::new(&program).run(&mut Ones, Limits::default(), &mut ());
    for &taint in &run.taints {
        let reason = &program.taints[taint].reason;
        assert!(!reason.ends_with(": not modelled"), "{:?}: {reason}", options.inputs);
    }
    run.outcome
}

fn check(data_model: DataModel, flags: &[&str]) {
    let native = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/native");
    let folder = tempfile::tempdir().unwrap();
    let report = ["-include".to_owned(), native.join("report.h").to_str().unwrap().to_owned()];
    let machine = if data_model == DataModel::Ilp32 { "-m32" } else { "-m64" };
    let mut sources: Vec<_> = std::fs::read_dir(&native).unwrap().map(|entry| entry.unwrap().path()).collect();
    // The optimiser assumes that the rounding mode is never changed, even with options that say otherwise, and that
    // floats that are converted to integers always fit.
    let left_out = ["rounding.c", "conversions.c"];
    sources.retain(|path| path.extension().is_some_and(|e| e == "c") && !left_out.iter().any(|o| path.ends_with(o)));
    sources.sort();
    for source in sources {
        let bitcode = folder.path().join("optimised.bc");
        let compiled = Command::new("clang-19")
            .args(["-c", "-emit-llvm", "-g", "-w", "-ffp-contract=off", machine, "-o"])
            .arg(&bitcode)
            .args(flags)
            .args(&report)
            .arg(&source)
            .status()
            .unwrap();
        assert!(compiled.success());
        let plain = Options {
            inputs: vec![source.clone().into()],
            data_model: Some(data_model),
            clang_args: report.to_vec(),
            ..Options::default()
        };
        let optimised = Options { inputs: vec![bitcode.into()], data_model: Some(data_model), ..Options::default() };
        let expected = outcome(&plain);
        assert!(matches!(expected, Outcome::Exit(_)), "{}: {expected:?}", source.display());
        assert_eq!(outcome(&optimised), expected, "{} {flags:?}", source.display());
    }
}

#[test]
fn optimised_for_64_bits() {
    check(DataModel::Lp64, &["-O2"]);
}

#[test]
fn optimised_for_32_bits() {
    check(DataModel::Ilp32, &["-O3"]);
}

#[test]
fn vectorised() {
    check(DataModel::Lp64, &["-O3", "-mavx2", "-fno-builtin"]);
}

#[test]
fn vectorised_with_gathers() {
    let flags = ["-O3", "-march=skylake-avx512", "-fno-builtin"];
    let native = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/native");
    let mut clang = Command::new("clang-19");
    clang.args(["-S", "-emit-llvm", "-w", "-o", "-", "-include"]).arg(native.join("report.h")).args(flags);
    let output = clang.arg(native.join("vectorised.c")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("call void @llvm.masked.scatter") && text.contains("@llvm.masked.gather"), "{output:?}");
    check(DataModel::Lp64, &flags);
}
