//! Places in the C source and its lines, as messages and reports show them.

use cfa::{PlaceId, Program};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The maximal size in bytes of a file that is shown.
const MAX_FILE: u64 = 64 << 20;

/// A line and a column of a source file, as messages and JSON show them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Spot {
    /// The path of the file. It is relative to the working directory if the file is below it.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1; 0 if it is unknown.
    pub column: u32,
}

impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.path, self.line)?;
        if self.column > 0 { write!(f, ":{}", self.column) } else { Ok(()) }
    }
}

/// The source files of a program, which are read when they are first shown. If a file cannot be read, only its name is
/// shown. This is normal for bitcode, which does not contain its source.
#[derive(Default)]
pub struct Sources {
    files: RefCell<HashMap<PathBuf, Option<Arc<[String]>>>>,
    here: Option<PathBuf>,
}

impl Sources {
    /// Returns the sources relative to the current working directory. No file is read yet.
    pub fn new() -> Self {
        Self { files: RefCell::default(), here: std::env::current_dir().ok() }
    }

    /// Returns the source position of a place; `None` for code that the compiler added.
    pub fn spot(&self, program: &Program, place: PlaceId) -> Option<Spot> {
        let place = program.places[place];
        let path = Path::new(&program.files[place.file].path);
        let short = self.here.as_deref().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
        let short = if STANDARD_INPUT.get().is_some_and(|input| input == path) { Path::new(STDIN) } else { short };
        let spot = Spot { path: short.display().to_string(), line: place.line, column: place.column };
        (place.line > 0).then_some(spot)
    }

    /// Returns a line of a file without its line break, if the file can be read. Tabs become spaces.
    pub fn line(&self, path: &str, line: u32) -> Option<String> {
        let lines = self.lines(Path::new(path))?;
        lines.get(line.checked_sub(1)? as usize).cloned()
    }

    /// Returns the text in the parentheses of the call at a place; `None` if there is no call or the file cannot be
    /// read.
    pub fn argument(&self, spot: &Spot) -> Option<String> {
        let line = self.line(&spot.path, spot.line)?;
        let start = (spot.column as usize).checked_sub(1).filter(|&c| line.is_char_boundary(c))?;
        let call = &line[start..start + marked(&line[start..])];
        Some(call.split_once('(')?.1.strip_suffix(')')?.trim().to_owned())
    }

    /// Returns the identifier at a place, if there is one.
    pub fn word(&self, spot: &Spot) -> Option<String> {
        let line = self.line(&spot.path, spot.line)?;
        let rest = line.get((spot.column as usize).checked_sub(1)?..)?;
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        (!name.is_empty()).then_some(name)
    }

    /// Returns a whole file, if it can be read.
    pub fn text(&self, path: &str) -> Option<String> {
        read(Path::new(path))
    }

    fn lines(&self, path: &Path) -> Option<Arc<[String]>> {
        let mut files = self.files.borrow_mut();
        files.entry(path.to_owned()).or_insert_with(|| read_lines(path)).clone()
    }
}

/// The name of standard input in messages, as clang writes it.
pub const STDIN: &str = "<stdin>";

/// The file that holds the text of standard input.
static STANDARD_INPUT: OnceLock<PathBuf> = OnceLock::new();

/// Sets the file that holds the text of standard input. Messages name standard input instead. Only the first call has an
/// effect.
pub fn set_standard_input(path: &Path) {
    let _ = STANDARD_INPUT.set(path.to_owned());
}

/// Returns a text in which `name` replaces the file that holds the text of standard input.
pub fn naming_standard_input(text: &str, name: &str) -> String {
    match STANDARD_INPUT.get() {
        Some(path) => text.replace(&path.display().to_string(), name),
        None => text.to_owned(),
    }
}

fn read(path: &Path) -> Option<String> {
    let path = if path == Path::new(STDIN) { STANDARD_INPUT.get()? } else { path };
    let data = std::fs::metadata(path).ok()?;
    if !data.is_file() || data.len() > MAX_FILE {
        return None;
    }
    Some(decoded(&std::fs::read(path).ok()?))
}

/// Decodes a source file as text of the same length in bytes, because columns count bytes. In a file that is not UTF-8,
/// bytes other than ASCII become `?`.
pub fn decoded(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&b| if b.is_ascii() { b as char } else { '?' }).collect(),
    }
}

fn read_lines(path: &Path) -> Option<Arc<[String]>> {
    Some(read(path)?.lines().map(|l| l.replace('\t', " ")).collect())
}

/// Returns the length in bytes of the expression that seems to start here: a name with its call arguments if it has
/// some, or otherwise one character.
pub fn marked(text: &str) -> usize {
    let word = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    if word == 0 {
        return text.chars().next().map_or(0, char::len_utf8);
    }
    let rest = &text[word..];
    if rest.trim_start().starts_with('(') {
        let mut depth = 0i32;
        for (i, c) in rest.char_indices() {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            if c == ')' && depth == 0 {
                return word + i + 1;
            }
        }
    }
    word
}
