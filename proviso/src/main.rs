//! The command `proviso`: runs the verification pipeline and prints its results.

mod args;
mod c_scan;
mod cc;
mod cfa_command;
mod crash;
mod deps_command;
mod findings;
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
mod request;
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
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use driver::failure::{Failure, exit};
use driver::limits;

/// Returns the failure for a command line with files and options but without a subcommand. `None` if the error has
/// another cause.
fn without_command(error: &clap::Error) -> Option<Failure> {
    const INPUTS: [&str; 8] = [".c", ".i", ".bc", ".ll", ".o", ".a", ".yml", "compile_commands.json"];
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let commands = Cli::command();
    let mut first = words.iter().filter(|word| !word.starts_with('-'));
    let first_is_command = first.next().is_some_and(|word| commands.find_subcommand(word).is_some());
    let is_input =
        |word: &&String| INPUTS.iter().any(|end| word.ends_with(end)) || std::path::Path::new(word).is_file();
    let file = words.iter().find(is_input).filter(|_| !first_is_command)?;
    let wrong = match error.get(ContextKind::InvalidSubcommand).or_else(|| error.get(ContextKind::InvalidArg))? {
        ContextValue::String(word) => word,
        _ => return None,
    };
    // A name that is close to that of a command is a misspelt command, unless it is a file (`lib.c` is close to `slice`).
    if error.get(ContextKind::SuggestedSubcommand).is_some() && wrong != file {
        return None;
    }
    let mut failure = Failure::usage(match wrong == file {
        true => format!("`{file}` is a file, and the first word has to be a command"),
        false => format!("`{wrong}` is not a command: the first word has to be one"),
    });
    failure.detail = Some(format!("  = help: try `proviso verify {}`", words.join(" ")));
    Some(failure)
}

fn main() {
    if let Some(args) = cc::arguments(std::env::args_os().collect()) {
        std::process::exit(cc::run(&args));
    }
    crash::install();
    limits::deepen_stack();
    let cli =
        Cli::try_parse_from(args::with_compiler_options(std::env::args_os().collect())).unwrap_or_else(|mut error| {
            match without_command(&error) {
                Some(failure) => {
                    output::failure(&failure, output::Colors::new(args::Color::Auto, false, false));
                }
                None => {
                    // The words after `--` are options of clang, so they are no values of ours.
                    error.remove(ContextKind::Suggested);
                    drop(error.print());
                }
            }
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            std::process::exit(if asked { 0 } else { i32::from(exit::USAGE) });
        });
    let is_quiet = match &cli.command {
        Command::Verify(args) => args.quiet,
        Command::Validate(args) => args.verify.quiet,
        Command::Testgen(args) => args.verify.quiet,
        Command::Split(args) => args.verify.quiet,
        _ => false,
    };
    let is_json = matches!(&cli.command, Command::Verify(args) if args.message_format == args::MessageFormat::Json);
    if is_json {
        crash::use_json();
    }
    let colors = output::Colors::new(cli.color, is_quiet, is_json);
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
        // The verdict remains valid, although the queries were not written.
        output::unwritten(&Failure::writing(path, &error).message, colors);
    }
    // `exit` would destroy the libraries that an abandoned worker may still use.
    crash::leave_quietly(code)
}
