//! Writing a source file with additions.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The ranges of columns of the additions in the written text, by file and line.
pub type Added = HashMap<(PathBuf, u32), Vec<Range<u32>>>;

/// A source file with additions, while it is written.
pub struct Text<'f> {
    path: &'f Path,
    source: &'f str,
    out: String,
    /// The number of bytes of the source that have been written.
    done: usize,
    /// The current line of the source, from 1.
    line: u32,
    /// The current column of the written text, from 1.
    column: u32,
    added: &'f mut Added,
}

impl<'f> Text<'f> {
    /// Starts to write a file after the text `out`. The columns of additions are recorded in `added`.
    pub fn new(path: &'f Path, source: &'f str, out: String, added: &'f mut Added) -> Self {
        Self { path, source, out, done: 0, line: 1, column: 1, added }
    }

    /// Adds a text at a byte offset of the source. The offsets must not decrease.
    pub fn add(&mut self, at: usize, text: &str) {
        self.copy(at);
        // Conditions in witnesses may contain line ends.
        let text = text.replace(['\n', '\r'], " ");
        let columns = self.column..self.column + text.len() as u32;
        self.column = columns.end;
        self.added.entry((self.path.to_owned(), self.line)).or_default().push(columns);
        self.out += &text;
    }

    /// Copies the source up to a byte offset.
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

    /// Copies the rest of the source and returns the written text.
    pub fn end(mut self) -> String {
        self.copy(self.source.len());
        self.out
    }
}
