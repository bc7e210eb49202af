//! Witnesses of infinite executions: a stem, and a cycle that is passed again and again.
//!
//! In the instrumented program, an execution that does not follow the witness *terminates*, so an infinite execution
//! follows it. The waypoints of the cycle are in a loop. An iteration of this loop that does not pass the cycle also
//! ends the execution. So an execution that never leaves this loop passes the cycle for ever.

use super::{File, ROUND, SEGMENT, Site, read, unsupported};
use crate::validate::weave::unusable;
use crate::witness::{Entry, Segment, Waypoint};
use driver::failure::Failure;
use std::path::Path;

/// The expression that ends an execution that does not follow the witness.
pub(super) const STOP: &str = "__builtin_abort()";

/// Returns true if the witness describes an infinite execution.
pub fn is_lasso(entry: &Entry) -> bool {
    match &entry.content {
        crate::witness::Content::Segments(segments) => stem(segments) < segments.len(),
        crate::witness::Content::Invariants(_) => false,
    }
}

/// Returns the number of segments before the cycle.
pub fn stem(segments: &[Segment]) -> usize {
    let is_cycle = |s: &Segment| s.segment.iter().any(|item| item.waypoint.action == "cycle");
    segments.iter().position(is_cycle).unwrap_or(segments.len())
}

/// Adds to the loop around the cycle a check that each iteration passes the cycle. Returns the loop: the number of its
/// file, and the offset of its keyword.
///
/// `Err` if the cycle is in no loop of the source, or if a waypoint after the start of the cycle does not belong to it.
pub(super) fn close(files: &mut [File<'_>], segments: &[Segment]) -> Result<(usize, usize), Failure> {
    let stem = stem(segments);
    let mut around: Option<(usize, Vec<usize>)> = None;
    for (number, segment) in segments.iter().enumerate().skip(stem) {
        let Some(Waypoint { action, location, .. }) = segment.segment.last().map(|item| &item.waypoint) else {
            return Err(unusable("a segment of the witness has no waypoints"));
        };
        if action != "cycle" {
            return Err(unsupported(location, "other waypoints follow those of the cycle"));
        }
        let of = |file: &File<'_>| {
            let has = |(_, hook): &(&Site, &super::Hook)| hook.cases.iter().any(|(n, _)| *n == number);
            file.hooks.iter().find(has).map(|(site, _)| loops_around(file, site.offset()))
        };
        let found = files.iter().enumerate().find_map(|(at, file)| Some((at, of(file)?)));
        let (at, loops) = found.ok_or_else(|| unsupported(location, "the waypoint has no location"))?;
        // A waypoint in another function is passed in a call from the loop, or the iterations do not pass it.
        match &mut around {
            None => around = Some((at, loops)),
            Some((file, all)) if *file == at => {
                let common: Vec<usize> = all.iter().copied().filter(|l| loops.contains(l)).collect();
                if !common.is_empty() {
                    *all = common;
                }
            }
            Some(_) => {}
        }
    }
    let (file, at) = around
        .and_then(|(file, loops)| Some((file, *loops.last()?)))
        .ok_or_else(|| unusable("the cycle of the witness is in no loop of the source"))?;
    let check = format!("({SEGMENT} < {stem} ? (void)0 : {ROUND} ? (void)({ROUND} = 0) : {STOP})");
    files[file].hooks.entry(Site::BeforeCondition(at)).or_default().always.push(check);
    Ok((file, at))
}

/// Returns the expression that records that a segment of the cycle was passed. The first segment of the cycle follows
/// the last one.
pub(super) fn next(number: usize, segments: usize, stem: usize) -> String {
    match number + 1 == segments {
        true => format!("(void)({SEGMENT} = {stem}, {ROUND} = 1)"),
        false => format!("(void)({SEGMENT} = {})", number + 1),
    }
}

/// Returns the number of segments before the cycle, and the number of all segments.
pub(super) fn extent(segments: &[Segment]) -> (usize, usize) {
    (stem(segments), segments.len())
}

/// Returns the offset of the keyword of the innermost loop around a place of a file. Column 0 means the first token of
/// the line. Returns `Ok(None)` if there is no such loop. `Err` if the file cannot be read.
pub fn loop_at(path: &Path, line: u32, column: u32) -> Result<Option<usize>, Failure> {
    let text = read(path)?;
    let file = File::new(path, &text);
    let Some(&start) = file.lines.get((line as usize).wrapping_sub(1)) else { return Ok(None) };
    let indentation = text[start..].find(|c: char| c != ' ' && c != '\t').unwrap_or(0);
    let offset = start + column.checked_sub(1).map_or(indentation, |c| c as usize);
    Ok(loops_around(&file, offset).last().copied())
}

/// Returns the offsets of the keywords of the loops around an offset, outermost first.
fn loops_around(file: &File<'_>, offset: usize) -> Vec<usize> {
    let is_loop = |at: usize| matches!(file.source.word(file.token_at(at)), "while" | "for" | "do");
    let around = file.statements.iter().filter(|(bytes, _)| bytes.contains(&offset) && is_loop(bytes.start));
    let mut around: Vec<_> = around.map(|(bytes, _)| (bytes.start, std::cmp::Reverse(bytes.end))).collect();
    around.sort_unstable();
    around.into_iter().map(|(start, _)| start).collect()
}
