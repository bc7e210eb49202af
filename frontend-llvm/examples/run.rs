//! Runs C files or bitcode in the interpreter and prints the outcome. All inputs are 1.
//!
//! `cargo run -p frontend-llvm --example run -- [--ilp32] FILE... [-- CLANG-ARGUMENTS]`

use cfa::Bv;
use cfa::interp::{InputSource, Interpreter, Limits, Unknown};
use frontend_llvm::{DataModel, Options, load};

struct Ones;

impl InputSource for Ones {
    fn unknown(&mut self, _: Unknown, width: u32) -> Bv {
        Bv::one(width)
    }
}

fn main() {
    let mut options = Options::default();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--ilp32" => options.data_model = Some(DataModel::Ilp32),
            "--" => options.clang_args.extend(args.by_ref()),
            _ => options.inputs.push(arg.into()),
        }
    }
    let program = load(&options).and_then(|module| module.lower()).unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(error.exit_code().into());
    });
    let run = Interpreter::new(&program).run(&mut Ones, Limits::default(), &mut ());
    println!("{:?} after {} steps", run.outcome, run.steps);
    for taint in run.taints {
        println!("taint: {}", program.taints[taint].reason);
    }
}
