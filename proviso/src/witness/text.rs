//! How a source is written with additions.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// By file and line: the columns that additions take up in what was written.
pub type Added = HashMap<(PathBuf, u32), Vec<Range<u32>>>;

/// A file with additions, as it is written.
pub struct Text<'f> {
    path: &'f Path,
    source: &'f str,
    out: String,
    /// What of the file is written.
    done: usize,
    /// Where that is, in what is written.
    line: u32,
    column: u32,
    added: &'f mut Added,
}

impl<'f> Text<'f> {
    /// `out` is what stands before the file.
    pub fn new(path: &'f Path, source: &'f str, out: String, added: &'f mut Added) -> Self {
        Self { path, source, out, done: 0, line: 1, column: 1, added }
    }

    /// Puts a text at an offset of the file.
    pub fn add(&mut self, at: usize, text: &str) {
        self.copy(at);
        // Conditions of witnesses may span lines.
        let text = text.replace(['\n', '\r'], " ");
        let columns = self.column..self.column + text.len() as u32;
        self.column = columns.end;
        self.added.entry((self.path.to_owned(), self.line)).or_default().push(columns);
        self.out += &text;
    }

    fn copy(&mut self, to: usize) {
        let part = &self.source[self.done..to];
        match part.rfind('\n') {
            Some(last) => {
                self.line += part.matches('\n').count() as u32;
                self.column = (part.len() - last) as u32;
            }
            None => self.column += part.len() as u32,
        }
        self.out += part;
        self.done = to;
    }

    pub fn end(mut self) -> String {
        self.copy(self.source.len());
        self.out
    }
}
