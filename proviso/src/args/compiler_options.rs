//! Compiler options on the command line of Proviso.

use super::Cli;
use clap::CommandFactory;
use frontend_llvm::command;
use std::ffi::OsString;

/// Moves compiler options behind `--`, so that they are passed to clang. Options of Proviso stay where they are.
/// Compiler options that do not affect the meaning of a program are removed, such as those for warnings and libraries.
pub fn with_compiler_options(args: Vec<OsString>) -> Vec<OsString> {
    let name = args.get(1).and_then(|a| a.to_str()).unwrap_or_default();
    let cli = Cli::command();
    let ours = cli.find_subcommand(name).filter(|ours| ours.get_arguments().any(|a| a.get_id() == "clang_args"));
    let Some(ours) = ours else { return args };
    let is_ours = |text: &str, named: usize| {
        let mut options = ours.get_arguments().chain(cli.get_arguments());
        match text.strip_prefix("--") {
            Some(long) => {
                let long = long.split('=').next().unwrap_or_default();
                matches!(long, "help" | "version") || options.any(|a| a.get_long() == Some(long))
            }
            // `-fwrapv` is an option of clang; `-fdot` is one of Proviso if the command has `-f`.
            None => {
                let short = text.chars().nth(1);
                named <= 2 && (short == Some('h') || options.any(|a| a.get_short() == short))
            }
        }
    };
    let mut own = Vec::new();
    let mut moved: Vec<OsString> = Vec::new();
    let mut rest = args.into_iter();
    while let Some(arg) = rest.next() {
        let text = arg.to_str().unwrap_or_default();
        if text == "--" {
            moved.extend(rest);
            break;
        }
        // Unknown options are passed to clang, which reports them.
        let unknown = ["-f", "-m"].iter().any(|start| text.starts_with(start) && text != *start).then_some((0, 2));
        match command::meaning_at(text).or(unknown) {
            Some((values, named)) if !is_ours(text, named) => {
                moved.push(arg);
                moved.extend(rest.by_ref().take(values));
            }
            // Options of compilers for warnings and debug information.
            _ if text == "-w" || ["-W", "-g"].iter().any(|start| text.starts_with(start)) => {}
            // Other short names of compilers, such as `-o`, may be errors of the user.
            _ => match command::meaningless_at(text).filter(|_| !text.starts_with("--")) {
                Some((values, named))
                    if !is_ours(text, named) && (named > 2 || ["-l", "-L"].contains(&&text[..named])) =>
                {
                    rest.by_ref().take(values).for_each(drop);
                }
                _ => own.push(arg),
            },
        }
    }
    if !moved.is_empty() {
        own.push("--".into());
        own.extend(moved);
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_options_go_behind_the_dashes() {
        let moved = |line: &str| {
            let args = line.split_whitespace().map(OsString::from).collect();
            with_compiler_options(args).join(std::ffi::OsStr::new(" ")).into_string().unwrap()
        };
        assert_eq!(
            moved("proviso verify -std=c99 a.c -O2 -include x.h -Wall -t 5 -m32 -- -DX"),
            "proviso verify a.c -t 5 -- -std=c99 -O2 -include x.h -m32 -DX"
        );
        assert_eq!(moved("proviso cfa -f dot a.c"), "proviso cfa -f dot a.c");
        assert_eq!(moved("proviso cfa -fdot a.c -fwrapv"), "proviso cfa -fdot a.c -- -fwrapv");
        assert_eq!(
            moved("proviso verify -v --std c99 -DA a.c -Xclang -DB --define-macro C -Wp,-DD --witness w -Iinc"),
            "proviso verify -v --std c99 -DA a.c --witness w -Iinc -- -Xclang -DB --define-macro C -Wp,-DD"
        );
        assert_eq!(
            moved("proviso verify -p build -pipe a.c -MMD -MF a.d -lm -L lib -pedantic-errors -rdynamic -o a"),
            "proviso verify -p build a.c -o a"
        );
        assert_eq!(moved("proviso slice a.c -c check -fwrapv"), "proviso slice a.c -c check -- -fwrapv");
    }
}
