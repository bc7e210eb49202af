//! Lowers C files or bitcode and prints sizes, times and taints. With `--text` it prints the program itself.
//!
//! `cargo run -p frontend-llvm --example lower -- [--ilp32] [--text] [--ir] FILE... [-- CLANG-ARGUMENTS]`

use frontend_llvm::{DataModel, Options, load};
use std::time::Instant;

fn main() {
    let mut options = Options::default();
    let (mut text, mut ir) = (false, false);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--ilp32" => options.data_model = Some(DataModel::Ilp32),
            "--text" => text = true,
            "--ir" => ir = true,
            "--no-models" => options.models = false,
            "--" => options.clang_args.extend(args.by_ref()),
            _ => options.inputs.push(arg.into()),
        }
    }
    let start = Instant::now();
    let fail = |error: frontend_llvm::Error| -> ! {
        eprintln!("{error}");
        std::process::exit(error.exit_code().into());
    };
    let module = load(&options).unwrap_or_else(|error| fail(error));
    let loaded = start.elapsed();
    if ir {
        module.write_ir("/dev/stdout".as_ref()).unwrap_or_else(|error| fail(error));
    }
    let start = Instant::now();
    let program = module.lower().unwrap_or_else(|error| fail(error));
    let lowered = start.elapsed();
    if let Err(violations) = cfa::validate::validate(&program) {
        for violation in violations.iter().take(5) {
            println!("INVALID: {violation}");
        }
    }
    if text {
        print!("{}", cfa::text::print(&program));
    }
    println!(
        "load {} ms, lower {} ms; {} functions, {} variables, {} globals, {} locations, {} edges, {} expressions",
        loaded.as_millis(),
        lowered.as_millis(),
        program.funcs.len(),
        program.vars.len(),
        program.globals.len(),
        program.locs.len(),
        program.edges.len(),
        program.exprs.len(),
    );
    if let Ok(status) = std::fs::read_to_string("/proc/self/status")
        && let Some(peak) = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))
    {
        println!("peak memory {}", peak.trim());
    }
    if !program.models.is_empty() {
        println!("models: {}", program.models.join(" "));
    }
    for taint in program.taints.values() {
        let place = taint.place.map(|place| {
            let place = program.places[place];
            format!("{}:{}: ", program.files[place.file].path, place.line)
        });
        let direction = match (taint.over, taint.under) {
            (true, true) => "both",
            (true, false) => "over",
            (false, true) => "under",
            (false, false) => "none",
        };
        println!("taint ({direction}): {}{}", place.unwrap_or_default(), taint.reason);
    }
}
