//! The claims of a GIA about the lines of the source.

use crate::source::Sources;
use cfa::{FunctionOrigin, Op, Program};
use cooperate::gia::{Gia, PathClaim};
use std::collections::BTreeMap;

/// For each file and line, the greatest claim about the edges of the line, in the order of [`PathClaim`].
pub type Lines = BTreeMap<String, BTreeMap<u32, PathClaim>>;

/// Returns the claims of a GIA about the lines of the user's functions that may be called. Returns `None` if the
/// residual program would be too large.
pub fn lines(gia: &Gia, program: &mut Program, sources: &Sources) -> Option<Lines> {
    let told = gia.told(program).ok()?;
    let mut lines = Lines::new();
    for ((id, edge), told) in program.edges.iter().zip(told) {
        let func = program.func_of(id);
        let is_own =
            program.funcs[func].origin == FunctionOrigin::Source && func != program.entry && edge.op != Op::Skip;
        if let Some(told) = told.filter(|_| is_own)
            && let Some(spot) = edge.place.and_then(|place| sources.spot(program, place))
        {
            let line = lines.entry(spot.path).or_default().entry(spot.line).or_insert(told);
            *line = told.max(*line);
        }
    }
    Some(lines)
}
