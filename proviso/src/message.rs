//! Messages in the format of rustc: a title, the source line with a caret, and notes below it.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet, renderer::DecorStyle};
use driver::source::{Sources, Spot, marked};
use std::ops::Range;

/// The maximal number of bytes of a source line. Longer lines are cut around the caret.
const MAX_LINE: usize = 400;

/// A message in the format of rustc: a title, the source line with a caret, and notes below it.
pub struct Message {
    /// The severity.
    pub level: Level<'static>,
    /// The first line.
    pub title: String,
    /// The place that the message is about.
    pub spot: Option<Spot>,
    /// The text beside the caret.
    pub label: Option<String>,
    /// The notes below the source line.
    pub notes: Vec<String>,
    /// Advice to the user, below the notes.
    pub helps: Vec<String>,
}

impl Message {
    /// Returns a message that consists of a title only.
    pub fn new(level: Level<'static>, title: impl Into<String>) -> Self {
        Self { level, title: title.into(), spot: None, label: None, notes: Vec::new(), helps: Vec::new() }
    }
    /// Sets the place of the message.
    pub fn at(mut self, spot: Option<Spot>) -> Self {
        self.spot = spot;
        self
    }
    /// Sets the text beside the caret.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
    /// Adds advice to the user.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.helps.push(help.into());
        self
    }

    /// Returns the text of the message, with terminal colours if `color` is set. The text does not end with a line
    /// end.
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
                    let mut origin = Origin::path(spot.path.as_str()).line(spot.line as usize);
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
        for help in &self.helps {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let text = renderer.decor_style(DecorStyle::Ascii).render(&[group]);
        // The renderer counts columns in characters. All other parts count columns in bytes, as clang does.
        match self.spot.as_ref().and_then(|spot| Some((spot, characters(sources, spot)?))) {
            Some((spot, shown)) => {
                let place = format!("{}:{}:", spot.path, spot.line);
                text.replacen(&format!("{place}{shown}"), &format!("{place}{}", spot.column), 1)
            }
            None => text,
        }
    }
}

/// Returns a message as a line of JSON. `property` is the violated property, for a finding.
pub fn json_line(level: &str, text: &str, spot: Option<&Spot>, property: Option<&str>) -> String {
    let of = |number: u32| (number > 0).then_some(number);
    let mut object = serde_json::json!({
        "file": spot.map(|s| &s.path),
        "line": spot.and_then(|s| of(s.line)),
        "column": spot.and_then(|s| of(s.column)),
        "level": level,
        "message": text,
    });
    if let Some(property) = property {
        object["property"] = property.into();
    }
    format!("{object}\n")
}

/// Returns the column of a place in characters; `None` if it equals the column in bytes.
fn characters(sources: &Sources, spot: &Spot) -> Option<usize> {
    let line = sources.line(&spot.path, spot.line)?;
    let before = line.get(..(spot.column as usize).checked_sub(1)?)?;
    (!before.is_ascii()).then(|| before.chars().count() + 1)
}

/// Returns the part of a line to show and the bytes of that part to mark: the word or call at the column.
fn caret(line: &str, column: u32) -> (String, Range<usize>) {
    let trimmed = line.trim_end();
    let mut start = match column {
        0 => trimmed.len() - trimmed.trim_start().len(),
        // Columns are counted in bytes.
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
        std::fs::write(&file, "/* äöü */ reach_error();\n").unwrap();
        let spot = Spot { path: path.clone(), line: 1, column: 14 };
        let text = Message::new(Level::ERROR, "reach_error is called").at(Some(spot)).render(&Sources::new(), false);
        assert_eq!(
            text,
            format!(
                "error: reach_error is called\n --> {path}:1:14\n  |\n1 | /* äöü */ reach_error();\n  |           ^^^^^^^^^^^^^"
            )
        );
        let gone = Spot { path: "gone.c".into(), line: 7, column: 3 };
        let text = Message::new(Level::ERROR, "lost").at(Some(gone)).render(&Sources::new(), false);
        assert_eq!(text, "error: lost\n--> gone.c:7:3");
    }
}
