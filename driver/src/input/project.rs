//! The compile commands of a project: `compile_commands.json`.

use crate::failure::Failure;
use crate::files;
use crate::source::decoded;
use frontend_llvm::command::{self, Arguments, Ignored, Origin};
pub use frontend_llvm::words as split;
use frontend_llvm::{CompileCommand, InputFile, NamedCompiler};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// An entry of a compilation database: the compile command of a file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Entry {
    /// The folder in which the compiler runs.
    pub directory: PathBuf,
    /// The file, relative to `directory` or absolute.
    pub file: PathBuf,
    /// The command as a shell line. It is used if there are no `arguments`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The words of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Vec<String>>,
    /// The object file that the command writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
}

impl Entry {
    /// Returns the path of the file, canonical if the file exists.
    pub fn path(&self) -> PathBuf {
        let path = self.directory.join(&self.file);
        std::fs::canonicalize(&path).unwrap_or(path)
    }

    /// Returns the words of the command.
    fn words(&self) -> Vec<String> {
        match (&self.arguments, &self.command) {
            (Some(arguments), _) => arguments.clone(),
            (None, command) => split(command.as_deref().unwrap_or("")),
        }
    }

    /// Returns the compile command of the file. Options without effect are added to `ignored`. `Err` if an option is
    /// not supported.
    pub fn compile_command(&self, ignored: &mut Vec<Ignored>) -> Result<CompileCommand, Failure> {
        let words = self.words();
        let compiler = NamedCompiler::from_command(&words);
        // The target of the compiler's name precedes the options, which may choose another target.
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
        let file = Some(self.named_file(arguments));
        Ok(CompileCommand { directory: self.directory.clone(), options, file })
    }

    /// Returns the file as the compiler's arguments name it. `file` may name it in another way.
    fn named_file(&self, arguments: &[String]) -> PathBuf {
        let arguments = command::expand(arguments, &self.directory);
        let path = self.path();
        let is_named =
            |word: &&String| std::fs::canonicalize(self.directory.join(word)).is_ok_and(|found| found == path);
        let is_exact = arguments.iter().any(|word| Path::new(word) == self.file);
        let named = if is_exact { None } else { arguments.iter().rev().find(is_named).map(PathBuf::from) };
        named.unwrap_or_else(|| self.file.clone())
    }

    /// Returns the path of the object file that the command writes, canonical if the file exists.
    fn object(&self) -> PathBuf {
        let words = self.words();
        let named = words.iter().position(|word| word == "-o").and_then(|at| words.get(at + 1)).map(PathBuf::from);
        let by_default = || self.file.with_extension("o").file_name().map(PathBuf::from);
        let object = self.output.clone().or(named).or_else(by_default).unwrap_or_default();
        let path = self.directory.join(object);
        std::fs::canonicalize(&path).unwrap_or(path)
    }

    /// Returns the file with its compile command as an input. `Err` if an option is not supported.
    pub fn input(&self, ignored: &mut Vec<Ignored>) -> Result<InputFile, Failure> {
        Ok(InputFile { command: Some(self.compile_command(ignored)?), ..InputFile::from(self.path()) })
    }

    /// Returns the compile command without options that only choose how code is addressed. Projects compile libraries
    /// with and without them. `Err` if an option is not supported.
    fn meaning(&self) -> Result<CompileCommand, Failure> {
        let mut command = self.compile_command(&mut Vec::new())?;
        command.options.retain(|option| !["-fPIC", "-fpic", "-fPIE", "-fpie"].contains(&option.as_str()));
        Ok(command)
    }
}

/// The name of a compilation database in its folder.
const DATABASE: &str = "compile_commands.json";
/// The maximal number of files of a project that are searched for the definition of a function.
const MAX_SEARCHED: usize = 5000;
/// The maximal size in bytes of a file that is searched.
const MAX_SEARCHED_SIZE: u64 = 4 << 20;
/// The maximal number of candidates for a name that a message lists.
const MAX_CANDIDATES: usize = 8;

/// A compilation database.
pub struct Database {
    path: PathBuf,
    entries: Vec<Entry>,
}

impl Database {
    /// Reads the file `build`, or `compile_commands.json` in it if it is a folder. `Err` if the file is unreadable or
    /// malformed.
    pub fn read(build: &Path) -> Result<Self, Failure> {
        let path = if build.is_dir() { build.join(DATABASE) } else { build.to_owned() };
        let text = files::read_text(&path).map_err(|mut failure| {
            failure.detail = Some(format!("  = help: `-p` takes the folder with the project's `{DATABASE}`"));
            failure
        })?;
        let entries = entries(&text, &path)?;
        Ok(Self { path, entries })
    }

    /// Returns the input for a C file or for the object that is compiled from it. A file that does not exist here is
    /// found by the end of its path. Returns `None` if the file exists and the database has no entry for it. `Err` if
    /// there is neither a file nor an entry, or if several entries match and differ.
    pub fn input(&self, file: &Path, ignored: &mut Vec<Ignored>) -> Result<Option<InputFile>, Failure> {
        let full = std::fs::canonicalize(file).ok();
        let is_it = |path: &Path| full.as_ref().map_or_else(|| path.ends_with(file), |full| path == full);
        let of_source: Vec<&Entry> = self.entries.iter().filter(|entry| is_it(&entry.path())).collect();
        let matching = match of_source.is_empty() {
            false => of_source,
            true => self.entries.iter().filter(|entry| is_it(&entry.object())).collect(),
        };
        let Some(first) = matching.first() else {
            return match full {
                // The file belongs to the user, not to the project: a driver, or bitcode.
                Some(_) => Ok(None),
                None => Err(self.unknown(file)),
            };
        };
        if matching.iter().any(|entry| entry.path() != first.path()) {
            let mut failure =
                Failure::data(format!("{} files of the project match {}", matching.len(), file.display()));
            let paths: Vec<PathBuf> = matching.iter().map(|entry| entry.path()).collect();
            failure.detail = Some(self.commands(&paths));
            return Err(failure);
        }
        let commands: Vec<CompileCommand> = matching.iter().map(|entry| entry.meaning()).collect::<Result<_, _>>()?;
        if commands.iter().any(|command| *command != commands[0]) {
            return Err(self.ambiguous(file, &matching, &commands));
        }
        let mut input = first.input(ignored)?;
        // Messages show the name that the user chose.
        if full.is_some_and(|full| full == first.path()) {
            input.path = file.to_owned();
        }
        Ok(Some(input))
    }

    /// Returns the C files of the project whose texts seem to define some of these functions, each with the first of
    /// them. Each function is attributed to one file. Only the first [`MAX_SEARCHED`] files are read.
    pub fn files_that_define<'n>(&self, functions: &[&'n str]) -> Vec<(PathBuf, &'n str)> {
        let mut rest = functions.to_vec();
        let mut found = Vec::new();
        for path in self.entries.iter().take(MAX_SEARCHED).map(Entry::path) {
            let is_small = std::fs::metadata(&path).is_ok_and(|data| data.len() <= MAX_SEARCHED_SIZE);
            if rest.is_empty() || !is_small {
                continue;
            }
            let text = std::fs::read(&path).map(|bytes| decoded(&bytes)).unwrap_or_default();
            let (here, elsewhere): (Vec<_>, Vec<_>) = rest.into_iter().partition(|function| defines(&text, function));
            found.extend(here.first().map(|&first| (path, first)));
            rest = elsewhere;
        }
        found
    }

    /// Returns the failure that the database has no entry for the file.
    fn unknown(&self, file: &Path) -> Failure {
        let mut failure = Failure::data(format!("{} is neither a file nor in {}", file.display(), self.path.display()));
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let alike = self.entries.iter().filter(|e| e.file.to_string_lossy().contains(&*name));
        let some: Vec<String> = alike.chain(&self.entries).take(5).map(|e| e.file.display().to_string()).collect();
        failure.detail = Some(format!("  = note: files there: {}", some.join(", ")));
        failure
    }

    /// Returns the failure that the entries compile one file with different options.
    fn ambiguous(&self, file: &Path, entries: &[&Entry], commands: &[CompileCommand]) -> Failure {
        let is_common = |option: &String| commands.iter().all(|command| command.options.contains(option));
        let notes = entries.iter().zip(commands).map(|(entry, command)| {
            let own: Vec<&str> = command.options.iter().filter(|o| !is_common(o)).map(String::as_str).collect();
            let own = if own.is_empty() { format!("in {}", command.directory.display()) } else { own.join(" ") };
            format!("  = note: {}: {own}\n", entry.object().display())
        });
        let notes: String = notes.collect();
        let text = format!("{} is compiled differently by several entries of {}", file.display(), self.path.display());
        let mut failure = Failure::data(text);
        let objects: Vec<PathBuf> = entries.iter().map(|entry| entry.object()).collect();
        failure.detail = Some(format!("{notes}{}", self.commands(&objects)));
        failure
    }

    /// Returns help with one command for each candidate, ready to be copied.
    fn commands(&self, candidates: &[PathBuf]) -> String {
        let here = std::env::current_dir().unwrap_or_default();
        let word = |path: &Path| files::shell_word(&path.strip_prefix(&here).unwrap_or(path).to_string_lossy());
        let build = match self.path.file_name() {
            Some(name) if name == DATABASE => self.path.parent().filter(|p| !p.as_os_str().is_empty()),
            _ => Some(self.path.as_path()),
        };
        let build = word(build.unwrap_or(Path::new(".")));
        let mut lines = vec!["  = help: name the one that is a part of the program:".to_owned()];
        let shown = candidates.iter().take(MAX_CANDIDATES);
        lines.extend(shown.map(|path| format!("  =       proviso verify -p {build} {}", word(path))));
        if candidates.len() > MAX_CANDIDATES {
            lines.push(format!("  =       (and {} more)", candidates.len() - MAX_CANDIDATES));
        }
        lines.join("\n")
    }
}

/// Returns true if C text seems to define a function with external linkage: its name, parentheses and a brace follow one
/// another, outside a declaration with `static`.
fn defines(text: &str, function: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(function).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + function.len()..]);
        let start = before.rfind([';', '}', '#', '/']).map_or(0, |at| at + 1);
        if before.ends_with(is_part) || before[start..].split(|c| !is_part(c)).any(|word| word == "static") {
            return false;
        }
        let Some(mut rest) = after.trim_start().strip_prefix('(') else { return false };
        let mut depth = 1;
        while depth > 0 {
            let Some(at) = rest.find(['(', ')', ';', '{']) else { return false };
            depth = match rest.as_bytes()[at] {
                b'(' => depth + 1,
                b')' => depth - 1,
                _ => return false,
            };
            rest = &rest[at + 1..];
        }
        rest.trim_start().starts_with('{')
    })
}

/// Parses the entries of a compilation database. `database` is its path for the message. `Err` if the text is
/// malformed.
pub fn entries(text: &str, database: &Path) -> Result<Vec<Entry>, Failure> {
    serde_json::from_str(text)
        .map_err(|e| Failure::data(format!("{}: not a compilation database: {e}", database.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_in_text() {
        for text in ["int f(void) { }", "int *\nf (int (*g)(int), int x)\n{", "static int a; int f() {}"] {
            assert!(defines(text, "f"), "{text}");
        }
        for text in ["int f(void);", "static int f(int x) {}", "int off(void) {}", "if (f(x)) {", "x = f(y); {", "f(x"]
        {
            assert!(!defines(text, "f"), "{text}");
        }
    }

    #[test]
    fn commands_are_split_as_by_a_shell() {
        let words = split(r#"cc -DA="x y" '-DB="q"' -DC=\"z\"  a\ b.c ''"#);
        assert_eq!(words, ["cc", "-DA=x y", "-DB=\"q\"", "-DC=\"z\"", "a b.c", ""]);
    }
}
