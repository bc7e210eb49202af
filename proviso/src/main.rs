//! The command `proviso`: runs the pipeline and renders its results.

mod args;
mod asked;
mod c_scan;
mod cc;
mod cfa_command;
mod crash;
mod deps_command;
mod gia_command;
mod harness;
mod html;
mod instrument_command;
mod json;
#[cfg(test)]
mod mangled;
mod manual;
mod message;
mod output;
mod picture;
mod pixel_tree;
mod progress;
mod reduce_command;
mod render;
mod run;
mod sarif;
mod slice;
mod split;
mod subject;
mod test_format;
mod testgen;
mod validate;
mod verify;
mod witness;

use args::{Cli, Command};
use clap::Parser;
use clap::error::ErrorKind;
use driver::failure::{Failure, exit};
use driver::limits;

fn main() {
    if let Some(args) = cc::arguments(std::env::args_os().collect()) {
        std::process::exit(cc::run(&args));
    }
    crash::install();
    limits::deepen_stack();
    let cli = Cli::try_parse_from(args::with_compiler_options(std::env::args_os().collect())).unwrap_or_else(|error| {
        let _ = error.print();
        let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        std::process::exit(if asked { 0 } else { i32::from(exit::USAGE) });
    });
    let colors = output::Colors::new(cli.color);
    let code = match &cli.command {
        Command::Verify(args) => verify::run(args, colors),
        Command::Validate(args) => validate::run(args, colors),
        Command::Testgen(args) => testgen::run(args, colors),
        Command::Completions { shell } => manual::completions(*shell, colors),
        Command::Man => manual::page(colors),
        Command::Slice(args) => slice::run(args, colors),
        Command::Split(args) => split::run(args, colors),
        Command::Deps(args) => deps_command::run(args, colors),
        Command::Cc { args } => u8::try_from(cc::run(args)).unwrap_or(exit::INTERNAL),
        Command::Cfa(args) => cfa_command::run(args, colors),
        Command::Instrument(args) => instrument_command::run(args, colors),
        Command::Reduce(args) => reduce_command::run(args, colors),
        Command::Gia(args) => gia_command::run(args, colors),
    };
    if let Some((path, error)) = engine::smt::unwritten()
        && code <= exit::PROVED_PART
    {
        // The verdict stands without its queries.
        output::warning(&Failure::writing(path, &error).message, colors);
    }
    // Not `exit`: a worker that was left behind must not see its libraries torn down.
    crash::leave_quietly(code)
}
