//! The C source as messages show it: lines with a caret, short paths.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, renderer::DecorStyle};
use cfa::{PlaceId, Program};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Files bigger than this are not shown.
const MAX_FILE: u64 = 64 << 20;
/// Lines longer than this are cut around the caret.
const MAX_LINE: usize = 400;

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
    files: RefCell<HashMap<PathBuf, Option<Rc<[String]>>>>,
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

    /// A whole file as it is, if it can be read.
    pub fn text(&self, path: &str) -> Option<String> {
        read(Path::new(path))
    }

    fn lines(&self, path: &Path) -> Option<Rc<[String]>> {
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

fn read_lines(path: &Path) -> Option<Rc<[String]>> {
    Some(read(path)?.lines().map(|l| l.replace('\t', " ")).collect())
}

/// One message in the manner of rustc: a title, the source line with a caret, notes below it.
pub struct Message {
    pub level: Level<'static>,
    pub title: String,
    pub spot: Option<Spot>,
    /// Stands beside the caret.
    pub label: Option<String>,
    pub notes: Vec<String>,
}

impl Message {
    pub fn new(level: Level<'static>, title: impl Into<String>) -> Self {
        Self { level, title: title.into(), spot: None, label: None, notes: Vec::new() }
    }
    pub fn at(mut self, spot: Option<Spot>) -> Self {
        self.spot = spot;
        self
    }
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub fn render(&self, sources: &Sources, color: bool) -> String {
        let mut group: Group<'_> = Group::with_title(self.level.clone().primary_title(self.title.as_str()));
        if let Some(spot) = &self.spot {
            match sources.line(&spot.path, spot.line) {
                Some(line) => {
                    let (line, span) = caret(&line, spot.column);
                    let mut annotation = AnnotationKind::Primary.span(span);
                    if let Some(label) = &self.label {
                        annotation = annotation.label(label.as_str());
                    }
                    group = group.element(
                        Snippet::source(line)
                            .line_start(spot.line as usize)
                            .path(spot.path.as_str())
                            .annotation(annotation),
                    );
                }
                None => {
                    let mut origin = annotate_snippets::Origin::path(spot.path.as_str()).line(spot.line as usize);
                    if spot.column > 0 {
                        origin = origin.char_column(spot.column as usize);
                    }
                    group = group.element(origin);
                    if let Some(label) = &self.label {
                        group = group.element(Level::NOTE.message(label.as_str()));
                    }
                }
            }
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.decor_style(DecorStyle::Ascii).render(&[group])
    }
}

/// What of a line to show, and which bytes of that to mark: the word or call at the column.
fn caret(line: &str, column: u32) -> (String, Range<usize>) {
    let trimmed = line.trim_end();
    let mut start = match column {
        0 => trimmed.len() - trimmed.trim_start().len(),
        // Columns count bytes.
        c => floor_char(trimmed, (c as usize - 1).min(trimmed.len())),
    };
    let mut shown = trimmed;
    if shown.len() > MAX_LINE {
        let from = floor_char(shown, start.saturating_sub(MAX_LINE / 2));
        let to = floor_char(shown, (from + MAX_LINE).min(shown.len()));
        shown = &shown[from..to];
        start -= from;
    }
    let end = start + marked(&shown[start..]);
    (shown.to_owned(), start..end)
}

fn floor_char(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Length of the expression that seems to start here: a name with what it is called with, else a character.
fn marked(text: &str) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(line: &str, column: u32) -> String {
        let (shown, span) = caret(line, column);
        shown[span].to_owned()
    }

    #[test]
    fn the_caret_marks_what_starts_there() {
        assert_eq!(marks("    reach_error();", 5), "reach_error()");
        assert_eq!(marks("  if (x > f(1, (2))) {", 11), "f(1, (2))");
        assert_eq!(marks("  x = y + 1;", 5), "=");
        assert_eq!(marks("  x = y + 1;  ", 0), "x");
        assert_eq!(marks("  while (n) {", 3), "while (n)");
        assert_eq!(marks("f(a,", 1), "f");
        assert_eq!(marks("", 4), "");
        assert_eq!(marks("é = 1;", 2), "é");
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let line = format!("{}bad(1){}", "x ".repeat(1000), " y".repeat(1000));
        let (shown, span) = caret(&line, 2001);
        assert!(shown.len() <= MAX_LINE);
        assert_eq!(&shown[span], "bad(1)");
    }

    #[test]
    fn a_message_shows_its_line_or_its_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "int main(void) {\n\treach_error();\n}\n").unwrap();
        let path = file.path().display().to_string();
        let spot = Spot { path: path.clone(), line: 2, column: 2 };
        let message = Message::new(Level::ERROR, "reach_error is called").at(Some(spot)).note("found in 1 ms");
        let text = message.render(&Sources::new(), false);
        let expected = format!(
            "error: reach_error is called\n --> {path}:2:2\n  |\n2 |  reach_error();\n  |  ^^^^^^^^^^^^^\n  |\n  = note: found in 1 ms"
        );
        assert_eq!(text, expected);
        let gone = Spot { path: "gone.c".into(), line: 7, column: 3 };
        let text = Message::new(Level::ERROR, "lost").at(Some(gone)).render(&Sources::new(), false);
        assert_eq!(text, "error: lost\n--> gone.c:7:3");
    }
}
