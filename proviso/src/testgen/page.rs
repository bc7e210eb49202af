//! The page of a suite (`testgen --report`): the source with the number of executions of each line, and the goals that
//! no test covers.

use super::native::Native;
use super::search::Status;
use super::suite::{self, Goal};
use super::{Suite, short};
use crate::picture::{self, Notes, Row};
use driver::source::Sources;
use std::collections::BTreeMap;

/// The colours of lines.
const LEGEND: [(&str, &str); 3] = [
    ("ut", "executed, all goals covered or proved unreachable"),
    ("cand", "executed, with a goal that is open"),
    ("rt", "not executed"),
];

/// Returns the page of a suite. The numbers of executions are those of the native runs, if there are any, else those of
/// the interpreter.
pub fn page(suite: &Suite<'_>, native: Option<&Native>, sources: &Sources) -> String {
    let own = suite::executions(suite.program, &suite.found.counts, sources);
    let mut notes = Notes::new();
    let mut open: BTreeMap<(&str, u32), bool> = BTreeMap::new();
    for goal in suite.goals {
        let (Some(spot), Some(note)) = (&goal.spot, note(goal)) else { continue };
        notes.entry(spot.path.clone()).or_default().entry(spot.line).or_default().push(note);
        let is_open = open.entry((&spot.path, spot.line)).or_default();
        *is_open |= !matches!(goal.status, Status::Unreachable(_));
    }
    let mut files = BTreeMap::new();
    for (path, executions) in &own {
        let lines = native.and_then(|native| native.lines(path)).unwrap_or(&executions.lines);
        let row = |(&line, &count): (&u32, &u64)| {
            let class = match (count, open.get(&(path.as_str(), line))) {
                (0, _) => "rt",
                (_, Some(true)) => "cand",
                _ => "ut",
            };
            (line, Row::new(class).marked(format!("{count}×")))
        };
        files.insert(path.clone(), lines.iter().map(row).collect::<BTreeMap<u32, Row>>());
    }
    let name = suite.job.load.inputs.first().map_or_else(String::new, |input| short(&input.path.display().to_string()));
    picture::sheet(&format!("Tests of {name}"), &LEGEND, &files, &notes, sources)
}

/// Returns the note for a goal that no test covers.
fn note(goal: &Goal) -> Option<String> {
    match goal.status {
        Status::Covered => None,
        Status::Unreachable(by) => Some(format!("{}: proved unreachable by {by}", goal.what)),
        Status::Open | Status::Beyond | Status::NullAllocation => Some(format!("{}: open", goal.what)),
    }
}
