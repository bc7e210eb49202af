//! How a project compiles its files: `compile_commands.json`, and compilers' options on our own command line.

use crate::args::Cli;
use crate::failure::Failure;
use crate::files;
use clap::CommandFactory;
use frontend_llvm::command::{self, Arguments, Ignored, Origin};
pub use frontend_llvm::words as split;
use frontend_llvm::{CompileCommand, NamedCompiler};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// An entry of a compilation database: how a file is compiled.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Entry {
    pub directory: PathBuf,
    pub file: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    pub arguments: Option<Vec<String>>,
}

impl Entry {
    /// The file by its full name.
    pub fn path(&self) -> PathBuf {
        let path = self.directory.join(&self.file);
        std::fs::canonicalize(&path).unwrap_or(path)
    }

    /// How the file is compiled. Options without effect are added to `ignored`.
    pub fn compile_command(&self, ignored: &mut Vec<Ignored>) -> Result<CompileCommand, Failure> {
        let words = match (&self.arguments, &self.command) {
            (Some(arguments), _) => arguments.clone(),
            (None, command) => split(command.as_deref().unwrap_or("")),
        };
        let compiler = NamedCompiler::of(&words);
        // Before the options, which may choose another.
        let target = compiler.target.map(|target| format!("--target={target}"));
        let arguments = words.get(compiler.place + 1..).unwrap_or_default();
        let read = command::read(arguments, &self.directory, Origin::Build);
        let Arguments { options, ignored: more } = read.map_err(|refusal| {
            let mut failure = Failure::data(format!("{}: {refusal}", self.file.display()));
            failure.detail = Some("  = note: the project compiles the file with it".into());
            failure
        })?;
        ignored.extend(more);
        let options = target.into_iter().chain(options).collect();
        Ok(CompileCommand { directory: self.directory.clone(), options })
    }
}

/// The files, as they can be read, and how those that the project compiles are compiled. `build` is a folder with a
/// compilation database, or the database. Options without effect are added to `ignored`.
pub fn commands(
    build: &Path,
    files: &[PathBuf],
    ignored: &mut Vec<Ignored>,
) -> Result<(Vec<PathBuf>, BTreeMap<PathBuf, CompileCommand>), Failure> {
    let database = if build.is_dir() { build.join("compile_commands.json") } else { build.to_owned() };
    let text = files::read_text(&database)?;
    let entries: Vec<Entry> = serde_json::from_str(&text)
        .map_err(|e| Failure::data(format!("{}: not a compilation database: {e}", database.display())))?;
    let mut found = (Vec::new(), BTreeMap::new());
    for file in files {
        let full = std::fs::canonicalize(file).ok();
        let is_it = |entry: &&Entry| match &full {
            Some(full) => entry.path() == *full,
            None => entry.path().ends_with(file),
        };
        let mut matching: Vec<&Entry> = entries.iter().filter(is_it).collect();
        // A file compiled twice, with and without -fPIC, say: the first is as good.
        matching.dedup_by_key(|entry| entry.path());
        match matching[..] {
            // The user's own: a driver, or bitcode.
            [] if full.is_some() => found.0.push(file.clone()),
            [] => {
                let mut failure =
                    Failure::data(format!("{} is neither a file nor in {}", file.display(), database.display()));
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                let some = entries.iter().filter(|e| e.file.to_string_lossy().contains(&*name)).chain(&entries);
                let some: Vec<String> = some.take(5).map(|e| e.file.display().to_string()).collect();
                failure.detail = Some(format!("  = note: files there: {}", some.join(", ")));
                return Err(failure);
            }
            [entry] => {
                let path = if full.is_some() { file.clone() } else { entry.path() };
                found.1.insert(path.clone(), entry.compile_command(ignored)?);
                found.0.push(path);
            }
            _ => {
                let all: Vec<String> = matching.iter().map(|e| e.path().display().to_string()).collect();
                return Err(Failure::data(format!("{} may be any of {}", file.display(), all.join(", "))));
            }
        }
    }
    Ok(found)
}

/// Our command line with options for compilers moved behind `--`, where they are clang's. What is an option of ours stays one. Those of warnings and debug
/// information are left out.
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
            // `-fwrapv` is clang's, and `-fdot` ours where `-f` is.
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
        // clang says that it does not know an option.
        let unknown = ["-f", "-m"].iter().any(|start| text.starts_with(start) && text != *start).then_some((0, 2));
        match command::meaning_at(text).or(unknown) {
            Some((values, named)) if !is_ours(text, named) => {
                moved.push(arg);
                moved.extend(rest.by_ref().take(values));
            }
            // As a compiler has them.
            _ if text == "-w" || ["-W", "-g", "-pedantic"].iter().any(|start| text.starts_with(start)) => {}
            _ => own.push(arg),
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
    fn commands_are_split_as_by_a_shell() {
        let words = split(r#"cc -DA="x y" '-DB="q"' -DC=\"z\"  a\ b.c ''"#);
        assert_eq!(words, ["cc", "-DA=x y", "-DB=\"q\"", "-DC=\"z\"", "a b.c", ""]);
    }

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
        assert_eq!(moved("proviso slice a.c -c check -fwrapv"), "proviso slice a.c -c check -- -fwrapv");
    }
}
