//! Pages with the source text. The claims of a GIA, or the executions of a test suite, determine the colour of a line.

use cfa::Program;
use cooperate::gia::Gia;
use driver::evidence::lines::{Lines, lines};
use driver::failure::Failure;
use driver::source::Sources;
use std::collections::BTreeMap;
use std::fmt::Write;

const STYLE: &str = "\
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5em; background: #fff; color: #1c2330; }
pre { font: 12.5px/18px ui-monospace, 'DejaVu Sans Mono', monospace; margin: 0 0 2em; min-width: max-content; }
pre div { min-height: 18px; } pre b { display: inline-block; width: 4em; text-align: right; margin-right: 1em; color: #6a7385; font-weight: 400; }
u { display: inline-block; width: 5em; text-align: right; margin-right: 1em; color: #6a7385; text-decoration: none; }
.ut { background: #d3f0da; } .rt { background: #fbd0d0; } .cand { background: #faecb9; } .open { background: #e4e7ec; }
i { font-style: normal; font-family: system-ui, sans-serif; font-size: 11.5px; padding: 0 6px; margin-left: 1em; border-radius: 4px; background: #fff9; border: 1px solid #6a738555; }
p span { padding: 1px 8px; margin-right: 1em; border-radius: 4px; }
@media (prefers-color-scheme: dark) {
  body { background: #14181f; color: #dfe4ec; }
  i { background: #0006; }
  .ut { background: #14351f; } .rt { background: #57191c; } .cand { background: #453812; } .open { background: #2b323d; }
}";

/// The notes beside lines, by file and line.
pub type Notes = BTreeMap<String, BTreeMap<u32, Vec<String>>>;

/// The meaning of the colours green and red.
pub struct Legend {
    /// The label of green lines, which the GIA marks as `ut`.
    pub ut: &'static str,
    /// The label of red lines, which the GIA marks as `rt`.
    pub rt: &'static str,
}

/// The legend for a program whose targets are errors.
const OF_ERRORS: Legend = Legend { ut: "all paths verified", rt: "on a path to an error" };

/// Returns an HTML page with the source, whose lines are coloured. `Err` if the program is too large to be drawn.
pub fn page(gia: &Gia, program: &mut Program, sources: &Sources) -> Result<String, Failure> {
    let lines = lines(gia, program, sources);
    Ok(drawn(&lines.ok_or_else(too_large)?, &OF_ERRORS, &Notes::new(), sources))
}

/// Returns the failure for a program that is too large to be drawn.
pub fn too_large() -> Failure {
    Failure::data("the program without the paths that are ut has too many edges to be drawn")
}

/// Returns an HTML page with the coloured lines and the notes beside them.
pub fn drawn(lines: &Lines, legend: &Legend, notes: &Notes, sources: &Sources) -> String {
    let legend = [("ut", legend.ut), ("rt", legend.rt), ("cand", "on a candidate"), ("open", "open")];
    let mut files = BTreeMap::new();
    for (path, lines) in lines {
        let rows = lines.iter().map(|(&line, told)| (line, Row::new(told.name())));
        files.insert(path.clone(), rows.collect());
    }
    sheet("Results about paths", &legend, &files, notes, sources)
}

/// A line of the source on a page.
pub struct Row {
    /// The class of its colour in the legend.
    class: &'static str,
    /// The text before the line.
    mark: String,
}

impl Row {
    /// Returns a row with a colour.
    pub fn new(class: &'static str) -> Self {
        Self { class, mark: String::new() }
    }

    /// Returns the row with a text before the line.
    pub fn marked(self, mark: String) -> Self {
        Self { mark, ..self }
    }
}

/// Returns an HTML page of files by path, whose lines have rows by number. `legend` has the meaning of each colour.
pub fn sheet(
    title: &str,
    legend: &[(&str, &str)],
    files: &BTreeMap<String, BTreeMap<u32, Row>>,
    notes: &Notes,
    sources: &Sources,
) -> String {
    let legend = legend.iter().map(|(class, label)| format!("<span class=\"{class}\">{}</span>", escaped(label)));
    let mut out = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>{STYLE}</style>\n<p>{}</p>\n",
        escaped(title),
        legend.collect::<String>()
    );
    for (path, rows) in files {
        let _ = writeln!(out, "<h3>{}</h3>\n<pre>", escaped(path));
        let Some(text) = sources.text(path) else {
            out += "the text of this file is not available</pre>\n";
            continue;
        };
        for (number, line) in (1..).zip(text.lines()) {
            let row = rows.get(&number);
            let class = row.map_or(String::new(), |row| format!(" class=\"{}\"", row.class));
            let mark = row.filter(|row| !row.mark.is_empty());
            let mark = mark.map_or_else(String::new, |row| format!("<u>{}</u>", escaped(&row.mark)));
            let notes = notes.get(path).and_then(|notes| notes.get(&number)).into_iter().flatten();
            let notes: String = notes.map(|note| format!("<i>{}</i>", escaped(note))).collect();
            // Each row is a block element, so line ends between the rows would be rows of their own.
            let _ = write!(out, "<div{class}><b>{number}</b>{mark}{}{notes}</div>", escaped(line));
        }
        out += "</pre>\n";
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
