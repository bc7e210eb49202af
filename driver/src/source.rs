//! Places in the C source, and its lines, as messages and reports name them.

use cfa::{PlaceId, Program};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files bigger than this are not shown.
const MAX_FILE: u64 = 64 << 20;

/// A line and column of a source file as messages and JSON name it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Spot {
    /// Relative to the working directory if it is below it.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where unknown.
    pub column: u32,
}

impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.path, self.line)?;
        if self.column > 0 { write!(f, ":{}", self.column) } else { Ok(()) }
    }
}

/// The source files of a program, read when they are first shown. A file that cannot be read is shown as
/// its name only: bitcode travels without its source.
#[derive(Default)]
pub struct Sources {
    files: RefCell<HashMap<PathBuf, Option<Arc<[String]>>>>,
    here: Option<PathBuf>,
}

impl Sources {
    pub fn new() -> Self {
        Self { files: RefCell::default(), here: std::env::current_dir().ok() }
    }

    /// Where a place is; `None` for code that the compiler made itself.
    pub fn spot(&self, program: &Program, place: PlaceId) -> Option<Spot> {
        let place = program.places[place];
        let path = Path::new(&program.files[place.file].path);
        let short = self.here.as_deref().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
        let spot = Spot { path: short.display().to_string(), line: place.line, column: place.column };
        (place.line > 0).then_some(spot)
    }

    /// A line of a file without its end, if it can be read.
    pub fn line(&self, path: &str, line: u32) -> Option<String> {
        let lines = self.lines(Path::new(path))?;
        lines.get(line.checked_sub(1)? as usize).cloned()
    }

    /// What stands in the parentheses of the call at a place.
    pub fn argument(&self, spot: &Spot) -> Option<String> {
        let line = self.line(&spot.path, spot.line)?;
        let start = (spot.column as usize).checked_sub(1).filter(|&c| line.is_char_boundary(c))?;
        let call = &line[start..start + marked(&line[start..])];
        Some(call.split_once('(')?.1.strip_suffix(')')?.trim().to_owned())
    }

    /// The name that stands at a place.
    pub fn word(&self, spot: &Spot) -> Option<String> {
        let line = self.line(&spot.path, spot.line)?;
        let rest = line.get((spot.column as usize).checked_sub(1)?..)?;
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        (!name.is_empty()).then_some(name)
    }

    /// A whole file as it is, if it can be read.
    pub fn text(&self, path: &str) -> Option<String> {
        read(Path::new(path))
    }

    fn lines(&self, path: &Path) -> Option<Arc<[String]>> {
        let mut files = self.files.borrow_mut();
        files.entry(path.to_owned()).or_insert_with(|| read_lines(path)).clone()
    }
}

fn read(path: &Path) -> Option<String> {
    let data = std::fs::metadata(path).ok()?;
    if !data.is_file() || data.len() > MAX_FILE {
        return None;
    }
    Some(decoded(&std::fs::read(path).ok()?))
}

/// A source file as text with as many bytes: columns count bytes. Bytes of other encodings than UTF-8 become `?`.
pub fn decoded(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&b| if b.is_ascii() { b as char } else { '?' }).collect(),
    }
}

fn read_lines(path: &Path) -> Option<Arc<[String]>> {
    Some(read(path)?.lines().map(|l| l.replace('\t', " ")).collect())
}

/// Length of the expression that seems to start here: a name with what it is called with, else a character.
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
