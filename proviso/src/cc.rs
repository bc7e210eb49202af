//! `proviso cc`: the project's compiler, which leaves in what it makes how it was made.
//!
//! Every object gets a section with the commands that compiled its C files. Linkers and archivers carry the section along, so
//! an archive or a program knows the C files that it consists of.

use crate::binary;
use crate::project::Entry;
use anyhow::{Context, anyhow};
use frontend_llvm::command;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the compiler that is run.
const COMPILER: &str = "PROVISO_CC";

/// The compiler's arguments, if this is a call of the compiler: by `proviso cc` or by the name `proviso-cc`.
pub fn arguments(all: Vec<OsString>) -> Option<Vec<OsString>> {
    let name = Path::new(all.first()?).file_name()?;
    let by_name = name == "proviso-cc";
    if !by_name && all.get(1)? != "cc" {
        return None;
    }
    let rest: Vec<OsString> = all.into_iter().skip(if by_name { 1 } else { 2 }).collect();
    // Our own help.
    (by_name || !rest.is_empty() && rest != ["--help"] && rest != ["-h"]).then_some(rest)
}

/// Compiles as the project wants it; the compiler's exit code.
pub fn run(args: &[OsString]) -> i32 {
    let compiler = std::env::var_os(COMPILER).filter(|name| !name.is_empty()).unwrap_or_else(|| "cc".into());
    let status = match Command::new(&compiler).args(args).status() {
        Ok(status) => status,
        Err(error) => {
            eprintln!("proviso cc: cannot run {}: {error}; {COMPILER} names another compiler", compiler.display());
            return 127;
        }
    };
    if status.success()
        && let Err(problem) = record(args)
    {
        eprintln!("proviso cc: warning: not recorded: {problem:#}");
    }
    // As a shell says that it was ended by a signal.
    status.code().unwrap_or(128 + 9)
}

/// What a command line makes of which C files.
#[derive(PartialEq, Eq, Debug)]
struct Compilation {
    sources: Vec<String>,
    /// Each file written, with the sources in it.
    outputs: Vec<(PathBuf, Vec<String>)>,
}

impl Compilation {
    /// `None` if no C file is compiled into an object or a program.
    fn of(args: &[String]) -> Option<Self> {
        let (mut sources, mut output, mut only_compiles) = (Vec::new(), None, false);
        let mut language_is_c = None;
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.as_str() {
                "-E" | "-S" | "-M" | "-MM" | "-fsyntax-only" | "-###" => return None,
                "-c" => only_compiles = true,
                "-o" => output = rest.next().cloned(),
                "-x" => language_is_c = rest.next().map(|language| language == "c"),
                "-I" | "-D" | "-U" | "-include" | "-imacros" | "-isystem" | "-iquote" | "-idirafter" | "-MF"
                | "-MT" | "-MQ" | "-L" | "-l" | "-Xlinker" | "-Xassembler" | "-Xpreprocessor" | "-T" | "-u" | "-z"
                | "-e" | "--param" | "-arch" | "-aux-info" | "-G" | "-A" | "-B" | "-isysroot" | "-target"
                | "-Xclang" => {
                    rest.next();
                }
                option if option.starts_with("-o") && option.len() > 2 => output = Some(option[2..].to_owned()),
                option if option.starts_with('-') => {}
                file if language_is_c.unwrap_or(file.ends_with(".c") || file.ends_with(".i")) => {
                    sources.push(file.to_owned());
                }
                _ => {}
            }
        }
        if sources.is_empty() {
            return None;
        }
        let outputs = match output {
            Some(output) => vec![(output.into(), sources.clone())],
            None if only_compiles => {
                let object = |source: &String| Path::new(source).with_extension("o").file_name().map(PathBuf::from);
                sources.iter().filter_map(|s| Some((object(s)?, vec![s.clone()]))).collect()
            }
            None => vec![("a.out".into(), sources.clone())],
        };
        Some(Self { sources, outputs })
    }
}

/// Writes into what was made how that was done.
fn record(args: &[OsString]) -> anyhow::Result<()> {
    let words: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    // Builds delete response files.
    let words = command::expand(&words, Path::new(""));
    let Some(compilation) = Compilation::of(&words) else { return Ok(()) };
    let directory = std::env::current_dir()?;
    // Options, without files and what is said of outputs.
    let arguments: Vec<String> = std::iter::once("cc".to_owned()).chain(words).collect();
    for (output, sources) in compilation.outputs.iter().filter(|(output, _)| output.is_file()) {
        let new = sources.iter().map(|source| Entry {
            directory: directory.clone(),
            file: source.into(),
            command: None,
            arguments: Some(arguments.clone()),
        });
        let new: Vec<Entry> = new.collect();
        // What is linked to other objects has their records, too.
        let data = std::fs::read(output)?;
        if !data.starts_with(binary::ELF) {
            continue;
        }
        let before = binary::section(&data, binary::SECTION).unwrap_or_default();
        add_section(output, &[before, binary::to_text(&new).into_bytes()].concat())?;
    }
    Ok(())
}

/// Gives an object or program the section with the records, in place of the one that it may have.
fn add_section(file: &Path, content: &[u8]) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let text = folder.path().join("records");
    std::fs::write(&text, content)?;
    let section = binary::SECTION;
    let status = Command::new("objcopy")
        .arg(format!("--remove-section={section}"))
        .arg(format!("--add-section={section}={}", text.display()))
        .arg(format!("--set-section-flags={section}=noload,readonly"))
        .arg(file)
        .status()
        .context("cannot run objcopy")?;
    if status.success() { Ok(()) } else { Err(anyhow!("objcopy of {}: {status}", file.display())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(line: &str) -> Vec<(String, usize)> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let found = Compilation::of(&words).map_or_else(Vec::new, |c| c.outputs);
        found.into_iter().map(|(path, sources)| (path.display().to_string(), sources.len())).collect()
    }

    #[test]
    fn what_a_command_line_makes() {
        assert_eq!(outputs("-O2 -I inc.c -c src/a.c -o out/a.o -MD -MF a.c"), [("out/a.o".into(), 1)]);
        assert_eq!(outputs("-c src/a.c b.c"), [("a.o".into(), 1), ("b.o".into(), 1)]);
        assert_eq!(outputs("a.c b.c c.o -oprog -lm"), [("prog".into(), 2)]);
        assert_eq!(outputs("a.c"), [("a.out".into(), 1)]);
        assert_eq!(outputs("-x c -c template -o t.o"), [("t.o".into(), 1)]);
        for nothing in ["-E a.c", "a.o -o prog", "--version", "-S a.c", "-c a.s -o a.o", "-MM a.c"] {
            assert!(outputs(nothing).is_empty(), "{nothing}");
        }
    }
}
