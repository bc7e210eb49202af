//! A slice as lines of the source.

use super::subject::Subject;
use cfa::{FunctionOrigin, Id};
use driver::source::Sources;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The lines with code. A line is true if it is kept.
pub struct Lines {
    files: BTreeMap<String, BTreeMap<u32, bool>>,
}

impl Lines {
    /// Returns the lines of a program. `kept` is indexed by edge. The lines are those of operations, of the headers of
    /// functions, and of the declarations of the variables that kept operations use.
    pub fn new(subject: &Subject, kept: &[bool]) -> Self {
        let program = &subject.program;
        let mut lines = Self { files: BTreeMap::new() };
        for ((file, line), columns) in &subject.places.code {
            let is_kept = columns.values().flatten().any(|e| kept[e.index()]);
            lines.files.entry(file.clone()).or_default().insert(*line, is_kept);
        }
        let mut declared = BTreeSet::new();
        let mut functions = BTreeMap::new();
        for (id, edge) in program.edges.iter() {
            let f = program.func_of(id);
            if program.funcs[f].origin != FunctionOrigin::Source || f == program.entry {
                continue;
            }
            *functions.entry(f).or_insert(false) |= kept[id.index()];
            if kept[id.index()] {
                declared.extend(edge.op.def());
                edge.op.for_each_expr(|e| declared.extend(program.exprs.vars(e)));
            }
        }
        for (f, is_kept) in functions {
            lines.mark(subject, program.funcs[f].place, is_kept);
        }
        for var in declared {
            lines.mark(subject, program.vars[var].place, true);
        }
        lines
    }

    /// Adds the line of a place. The line is kept if `kept` is true.
    fn mark(&mut self, subject: &Subject, place: Option<cfa::PlaceId>, kept: bool) {
        if let Some(spot) = place.and_then(|p| subject.places.spot(&subject.program, p))
            && let Some(lines) = self.files.get_mut(&spot.path)
        {
            *lines.entry(spot.line).or_insert(false) |= kept;
        }
    }

    /// Returns the number of lines with code.
    pub fn with_code(&self) -> usize {
        self.files.values().map(BTreeMap::len).sum()
    }

    /// Returns the kept lines, sorted by file and line.
    pub fn kept(&self) -> impl Iterator<Item = (&str, u32)> {
        self.files.iter().flat_map(|(file, lines)| {
            lines.iter().filter(|(_, kept)| **kept).map(move |(line, _)| (file.as_str(), *line))
        })
    }

    /// Returns the kept lines of each file. Files without kept lines have an empty list.
    pub fn by_file(&self) -> Vec<(&str, Vec<u32>)> {
        let kept = |lines: &BTreeMap<u32, bool>| lines.iter().filter(|(_, k)| **k).map(|(l, _)| *l).collect();
        self.files.iter().map(|(file, lines)| (file.as_str(), kept(lines))).collect()
    }

    /// Returns the source with a mark before each kept line. With `color`, the other lines are dimmed. Long ranges
    /// without kept lines are omitted.
    pub fn annotated(&self, sources: &Sources, color: bool) -> String {
        /// The maximum number of removed lines that are shown between two kept lines.
        const CONTEXT: u32 = 4;
        let mut out = String::new();
        for (file, lines) in &self.files {
            let kept: Vec<u32> = lines.iter().filter(|(_, k)| **k).map(|(l, _)| *l).collect();
            let Some(&last) = kept.last() else { continue };
            let width = last.to_string().len().max(2);
            let _ = writeln!(out, "{:width$}--> {file}", "");
            let mut next = kept[0];
            for &line in &kept {
                if line > next + CONTEXT {
                    let _ = writeln!(out, "{:>width$}", "…");
                } else {
                    (next..line).for_each(|removed| row(&mut out, sources, file, removed, width, false, color));
                }
                row(&mut out, sources, file, line, width, true, color);
                next = line + 1;
            }
        }
        out
    }
}

/// Writes one line of the annotated source.
fn row(out: &mut String, sources: &Sources, file: &str, line: u32, width: usize, kept: bool, color: bool) {
    let text = sources.line(file, line).unwrap_or_default();
    let text = text.trim_end();
    let mark = if kept { '+' } else { ' ' };
    let _ = match (kept, color) {
        (true, true) => writeln!(out, "\x1b[1;34m{line:>width$} |\x1b[0m\x1b[1;32m+\x1b[0m \x1b[1m{text}\x1b[0m"),
        (false, true) => writeln!(out, "\x1b[34m{line:>width$} |\x1b[0m  \x1b[2m{text}\x1b[0m"),
        _ => writeln!(out, "{line:>width$} |{mark} {text}"),
    };
}
