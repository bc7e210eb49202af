//! Locations in the input files as witnesses name them. Lines are those of the file itself, whatever its line markers
//! say. Columns are those of the tokens that the format requires.

use crate::c_scan::{Item, Source, Statement, Structure};
use driver::source::{self, Spot};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The input files, with the positions of their lines.
pub struct Places {
    files: Vec<File>,
    /// The file and the physical line, by the file and the line that a line marker names.
    marked: HashMap<(PathBuf, u32), (usize, u32)>,
}

/// An input file.
struct File {
    name: String,
    canonical: Option<PathBuf>,
    bytes: Vec<u8>,
    text: Option<Text>,
}

/// The text of a C file.
struct Text {
    text: String,
    /// The byte offsets of the starts of the lines.
    lines: Vec<usize>,
    /// The tokens and items, once they were needed.
    structure: OnceLock<Arc<Structure>>,
}

/// A line and a column, both from 1.
pub type Point = (u32, u32);

/// The place where an invariant of a loop head is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopPlace {
    /// The keyword of a `while` or `for`.
    Keyword(Point),
    /// The first statement of the body of a `do`.
    Body(Point),
}

impl Places {
    /// Reads the files. `Err` if a file cannot be read.
    pub fn new(paths: &[PathBuf]) -> std::io::Result<Self> {
        let mut places = Self { files: Vec::new(), marked: HashMap::new() };
        for path in paths {
            let bytes = std::fs::read(path)?;
            let is_c = path.extension().is_some_and(|e| e == "c" || e == "i" || e == "h");
            let text = is_c.then(|| Text::new(&bytes));
            let (name, canonical) = (path.display().to_string(), path.canonicalize().ok());
            if let Some(text) = &text {
                places.read_markers(text);
            }
            places.files.push(File { name, canonical, bytes, text });
        }
        Ok(places)
    }

    /// Returns the names and the contents of the files.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|f| (f.name.as_str(), f.bytes.as_slice()))
    }

    /// Records the lines that the line markers of a file name. The file is the next one to be added.
    fn read_markers(&mut self, text: &Text) {
        let here = self.files.len();
        let mut origin: Option<(PathBuf, u32)> = None;
        for (index, line) in text.text.lines().enumerate() {
            if let Some((number, name)) = marker(line) {
                origin = Some((PathBuf::from(name), number));
            } else if let Some((name, number)) = &mut origin {
                self.marked.entry((name.clone(), *number)).or_insert((here, index as u32 + 1));
                *number += 1;
            }
        }
    }

    /// Returns the input file and the physical line of a spot. Returns `None` if the spot is in no input file.
    fn find(&self, spot: &Spot) -> Option<(&File, u32)> {
        let path = Path::new(&spot.path);
        let canonical = path.canonicalize().ok();
        let marked = || {
            let line = self.marked.iter().find(|((name, line), _)| *line == spot.line && same(name, path));
            line.map(|(_, &(file, line))| (&self.files[file], line))
        };
        let own = |f: &&File| f.name == spot.path || f.canonical.is_some() && f.canonical == canonical;
        marked().or_else(|| self.files.iter().find(own).map(|f| (f, spot.line)))
    }

    /// Returns the name of the input file and the physical line of a spot. Returns the path and the line of the spot
    /// itself if it is in no input file.
    pub fn physical(&self, spot: &Spot) -> (String, u32) {
        match self.find(spot) {
            Some((file, line)) => (file.name.clone(), line),
            None => (spot.path.clone(), spot.line),
        }
    }

    /// Returns the right parenthesis of the call at the spot. `function` is the name of the callee.
    pub fn call_end(&self, spot: &Spot, function: &str) -> Option<Point> {
        let (file, line) = self.find(spot)?;
        let text = file.text.as_ref()?;
        let from = text.offset(line, spot.column.max(1))?;
        let end_of_line = text.text[from..].find('\n').map_or(text.text.len(), |n| from + n);
        let name = from + find_word(&text.text[from..end_of_line], function)?;
        let source = Source::lexed(&text.text[name..]);
        let close = source.closing(1)?;
        Some(text.point(name + source.tokens[close].range.start))
    }

    /// Returns the start of the statement or declaration that contains the spot.
    pub fn statement(&self, spot: &Spot) -> Option<Point> {
        self.enclosing(spot, &mut |source, statement, at| {
            let inner = matches!(statement, Statement::Jump(_) | Statement::Declaration(_) | Statement::Plain(_));
            let header = matches!(statement, Statement::Control { header, .. } if source.bytes(header).contains(&at));
            (inner || header).then(|| source.bytes(statement.span()).start)
        })
    }

    /// Returns true if the innermost statement around `point`, in the file of the spot, does not contain the spot.
    /// Returns false if one of them is in no statement.
    pub fn is_in_another_statement(&self, spot: &Spot, point: Point) -> bool {
        let Some((file, line)) = self.find(spot) else { return false };
        let Some(text) = file.text.as_ref() else { return false };
        let offsets = (text.offset(line, spot.column.max(1)), text.offset(point.0, point.1));
        let (Some(at), Some(target)) = offsets else { return false };
        let source = text.source();
        let innermost = |at: usize| {
            let mut found = None;
            visit_around(&source, at, &mut |statement| found = Some(source.bytes(statement.span())));
            found
        };
        // A spot without a column may be anywhere on its line.
        spot.column > 0 && innermost(at).is_some() && innermost(target).is_some_and(|bytes| !bytes.contains(&at))
    }

    /// Returns the line of the statement that contains the spot. Returns the line of the spot if there is no such
    /// statement.
    pub fn statement_line(&self, spot: &Spot) -> u32 {
        self.statement(spot).map_or_else(|| self.physical(spot).1, |(line, _)| line)
    }

    /// Returns the loop whose keyword or condition is at the spot.
    pub fn loop_around(&self, spot: &Spot) -> Option<LoopPlace> {
        let mut body = false;
        let point = self.enclosing(spot, &mut |source, statement, at| {
            let Statement::Control { span, header, bodies } = statement else { return None };
            let start = source.bytes(span).start;
            if at != start && !source.bytes(header).contains(&at) {
                return None;
            }
            body = source.word(span.start) == "do";
            match source.word(span.start) {
                "while" | "for" => Some(start),
                "do" => first(bodies.first()?).map(|first| source.bytes(first.span()).start),
                _ => None,
            }
        })?;
        Some(if body { LoopPlace::Body(point) } else { LoopPlace::Keyword(point) })
    }

    /// Returns the innermost loop that contains all spots.
    pub fn loop_with(&self, spots: &[Spot]) -> Option<LoopPlace> {
        let mut all = spots.iter().map(|spot| self.loops_around(spot));
        let first = all.next()?;
        let rest: Vec<_> = all.collect();
        first.into_iter().rev().find(|of| rest.iter().all(|loops| loops.contains(of)))
    }

    /// Returns the loops that contain the spot, outermost first.
    fn loops_around(&self, spot: &Spot) -> Vec<LoopPlace> {
        let mut loops = Vec::new();
        let _ = self.enclosing(spot, &mut |source, statement, _| {
            let Statement::Control { span, bodies, .. } = statement else { return None };
            match source.word(span.start) {
                "while" | "for" => loops.push((false, source.bytes(span).start)),
                "do" => {
                    loops.extend(bodies.first().and_then(first).map(|first| (true, source.bytes(first.span()).start)))
                }
                _ => {}
            }
            None
        });
        let Some(text) = self.find(spot).and_then(|(file, _)| file.text.as_ref()) else { return Vec::new() };
        let place =
            |(is_do, at)| if is_do { LoopPlace::Body(text.point(at)) } else { LoopPlace::Keyword(text.point(at)) };
        loops.into_iter().map(place).collect()
    }

    /// Returns true if a variable declared at `declared` is in scope in the statement at `point` in the file of `spot`.
    pub fn is_in_scope(&self, declared: &Spot, spot: &Spot, point: Point) -> bool {
        let (Some((file, line)), Some((other, _))) = (self.find(declared), self.find(spot)) else { return false };
        let Some(text) = file.text.as_ref().filter(|_| file.name == other.name) else { return false };
        let (Some(at), Some(user)) = (text.offset(line, declared.column.max(1)), text.offset(point.0, point.1)) else {
            return false;
        };
        // Debug information may have only the line. The declaration then starts after the indentation.
        let at = at + text.text[at..].find(|c: char| c != ' ' && c != '\t').unwrap_or(0);
        let source = text.source();
        let Some(item) = source.items.iter().find(|i| source.bytes(i.span()).contains(&at)) else { return false };
        // Parameters are in scope in their whole function. A global declaration is in scope in everything after it.
        let (mut scope, mut global) = (source.bytes(item.span()), !matches!(item, Item::Function { .. }));
        if let Item::Function { body, .. } = item {
            visit(&source, body, at, &mut |statement| {
                if let Statement::Compound(span, _) | Statement::Control { span, .. } = statement {
                    scope = source.bytes(span);
                    global = false;
                }
            });
        }
        // For invariants, the variables of a `for` are in scope at its keyword.
        let header = scope.start == user;
        global && at < user || scope.contains(&user) && (at < user || header)
    }

    /// Returns the offset that `pick` selects for the innermost statement around the spot, as a point. Statements for
    /// which `pick` returns `None` are skipped.
    fn enclosing(
        &self,
        spot: &Spot,
        pick: &mut dyn FnMut(&Source<'_>, &Statement, usize) -> Option<usize>,
    ) -> Option<Point> {
        let (file, line) = self.find(spot)?;
        let text = file.text.as_ref()?;
        let at = text.offset(line, spot.column.max(1))?;
        let source = text.source();
        let mut found = None;
        visit_around(&source, at, &mut |statement| found = pick(&source, statement, at).or(found));
        found.map(|offset| text.point(offset))
    }
}

/// Returns the first statement that is not a block.
fn first(statement: &Statement) -> Option<&Statement> {
    match statement {
        Statement::Compound(_, all) => first(all.first()?),
        other => Some(other),
    }
}

/// Calls `what` for the statements of the function around the offset, outermost first. Does nothing outside functions.
fn visit_around(source: &Source<'_>, at: usize, what: &mut dyn FnMut(&Statement)) {
    if let Some(Item::Function { body, .. }) = source.items.iter().find(|i| source.bytes(i.span()).contains(&at)) {
        visit(source, body, at, what);
    }
}

/// Calls `what` for the statements around the offset, outermost first.
fn visit(source: &Source<'_>, statement: &Statement, at: usize, what: &mut dyn FnMut(&Statement)) {
    if !source.bytes(statement.span()).contains(&at) {
        return;
    }
    what(statement);
    match statement {
        Statement::Compound(_, all) | Statement::Control { bodies: all, .. } => {
            for inner in all {
                visit(source, inner, at, what);
            }
        }
        Statement::Label { statement, .. } => visit(source, statement, at, what),
        Statement::Jump(_) | Statement::Declaration(_) | Statement::Plain(_) => {}
    }
}

/// Returns true if a name in a line marker is the name of this path.
fn same(name: &Path, path: &Path) -> bool {
    name == path || name.canonicalize().is_ok_and(|n| path.canonicalize().is_ok_and(|p| n == p))
}

/// Parses a line marker, `# 12 "file.c"` or `#line 12 "file.c"`. Returns its line and its file.
fn marker(line: &str) -> Option<(u32, &str)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let (number, rest) = rest.split_once(' ')?;
    let name = rest.trim_start().strip_prefix('"')?;
    Some((number.parse().ok()?, &name[..name.find('"')?]))
}

/// Returns the byte offset of the first occurrence of a whole word in the text.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .find(|&at| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

impl Text {
    fn new(bytes: &[u8]) -> Self {
        let text = source::decoded(bytes);
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, lines, structure: OnceLock::new() }
    }

    /// Returns the text with its tokens and items.
    fn source(&self) -> Source<'_> {
        let structure = self.structure.get_or_init(|| Source::new(&self.text).structure());
        Source::scanned(&self.text, structure.clone())
    }

    /// Returns the byte offset of a line and a column, both from 1. Returns `None` if there is no such place.
    fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let at = (self.lines.get(line.checked_sub(1)? as usize)? + column as usize).checked_sub(1)?;
        (at <= self.text.len() && self.text.is_char_boundary(at)).then_some(at)
    }

    /// Returns the line and the column of a byte offset.
    fn point(&self, offset: usize) -> Point {
        let line = self.lines.partition_point(|&start| start <= offset);
        (line as u32, (offset - self.lines[line - 1]) as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "\
int f(void);
int main(void) {
    int x = f( /* ) */ );
    for (int i = 0; i < x; i++) {
        while (f()
               < 3)
            x +=
                f();
    }
    if (x) reach_error();
    do { x++; } while (x < 9);
}
";

    fn places(text: &str) -> (tempfile::TempDir, Places, String) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.c");
        std::fs::write(&path, text).unwrap();
        let places = Places::new(std::slice::from_ref(&path)).unwrap();
        (dir, places, path.display().to_string())
    }

    #[test]
    fn tokens_are_found() {
        let (_dir, places, path) = places(PROGRAM);
        let spot = |line, column| Spot { path: path.clone(), line, column };
        assert_eq!(places.call_end(&spot(3, 13), "f"), Some((3, 24)));
        assert_eq!(places.statement(&spot(3, 13)), Some((3, 5)));
        assert_eq!(places.statement(&spot(8, 17)), Some((7, 13)));
        assert_eq!(places.statement(&spot(10, 12)), Some((10, 12)));
        assert_eq!(places.statement(&spot(10, 9)), Some((10, 5)));
        assert_eq!(places.loop_around(&spot(4, 23)), Some(LoopPlace::Keyword((4, 5))));
        assert_eq!(places.loop_around(&spot(6, 16)), Some(LoopPlace::Keyword((5, 9))));
        assert_eq!(places.loop_around(&spot(5, 9)), Some(LoopPlace::Keyword((5, 9))));
        assert_eq!(places.loop_around(&spot(8, 17)), None);
        assert_eq!(places.loop_around(&spot(10, 9)), None);
        assert_eq!(places.loop_around(&spot(11, 26)), Some(LoopPlace::Body((11, 10))));
        assert_eq!(places.physical(&spot(4, 1)), (path.clone(), 4));
    }

    #[test]
    fn line_markers_are_undone() {
        let (_dir, places, path) = places("# 1 \"orig.c\"\nint f(void);\n#line 40 \"orig.c\"\n\nint g = 1;\n");
        let spot = Spot { path: "orig.c".into(), line: 41, column: 5 };
        assert_eq!(places.physical(&spot), (path, 5));
        let gone = Spot { path: "else.h".into(), line: 4, column: 5 };
        assert_eq!(places.physical(&gone), ("else.h".into(), 4));
    }
}
