//! A picture of a GIA: the source text, each line coloured by the knowledge about it.

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
    let mut out = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Results about paths</title>\n<style>{STYLE}</style>\n\
         <p><span class=\"ut\">{}</span><span class=\"rt\">{}</span>\
         <span class=\"cand\">on a candidate</span><span class=\"open\">open</span></p>\n",
        legend.ut, legend.rt
    );
    for (path, lines) in lines {
        let _ = writeln!(out, "<h3>{}</h3>\n<pre>", escaped(path));
        let Some(text) = sources.text(path) else {
            out += "the text of this file is not available</pre>\n";
            continue;
        };
        for (number, line) in (1..).zip(text.lines()) {
            let class = lines.get(&number).map_or(String::new(), |told| format!(" class=\"{}\"", told.name()));
            let notes = notes.get(path).and_then(|notes| notes.get(&number)).into_iter().flatten();
            let notes: String = notes.map(|note| format!("<i>{}</i>", escaped(note))).collect();
            // Each row is a block element, so line ends between the rows would be rows of their own.
            let _ = write!(out, "<div{class}><b>{number}</b>{}{notes}</div>", escaped(line));
        }
        out += "</pre>\n";
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
