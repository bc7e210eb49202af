//! Shell completions and the manual page, generated from the definition of the command line.

use crate::args::Cli;
use crate::output::{self, Colors};
use clap::CommandFactory;
use clap_complete::Shell;
use driver::failure::{Failure, exit};

/// Prints the completions for a shell and returns the exit code.
pub fn completions(shell: Shell, colors: Colors) -> u8 {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "proviso", &mut text);
    print(&text, colors)
}

/// Prints the manual page of the command and all its subcommands, and returns the exit code.
pub fn page(colors: Colors) -> u8 {
    let mut command = Cli::command();
    command.build();
    let mut text = Vec::new();
    let pages =
        std::iter::once(command.clone()).chain(command.get_subcommands().filter(|c| c.get_name() != "help").cloned());
    let written = pages.into_iter().try_for_each(|page| clap_mangen::Man::new(page).render(&mut text));
    match written {
        Ok(()) => print(&text, colors),
        Err(error) => output::failure(&Failure::writing("the manual page", &error), colors),
    }
}

fn print(text: &[u8], colors: Colors) -> u8 {
    driver::files::write_stdout(text).map_or_else(|failure| output::failure(&failure, colors), |()| exit::TRUE)
}
