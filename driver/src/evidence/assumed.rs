//! The assumptions of a proof about memory, if the proof does not check the validity of accesses: it assumes that the
//! writes which the analysis did not execute stay within their objects. The analysis omits them because no error depends
//! on them then.

use crate::evidence::blame;
use cfa::{AllocKind, Check, EdgeId, ExprId, Id, Op, PlaceId, Program};
use engine::Analysis;
use slicer::pointer::{ObjectKind, Options, Places, PointsTo, Shift};
use std::time::Instant;

/// Writes that a proof assumes to stay within live objects.
#[derive(Clone, Default, Debug)]
pub struct Assumed {
    /// The number of writes.
    pub count: usize,
    /// Their places in the user's code, without duplicates, in the order of the text.
    pub places: Vec<PlaceId>,
}

/// Returns the writes that a proof by the analysis `by` assumes to be valid. `slice` is the slice that it analysed;
/// `None` means the whole program. If the deadline passes before the points-to sets are computed, the result contains
/// all writes that the analysis did not execute. With [`Check::Deref`] among `checks` there are no such writes.
pub fn writes(
    program: &Program,
    slice: Option<&slicer::Slice>,
    by: Analysis,
    checks: &[Check],
    deadline: Instant,
) -> Assumed {
    if checks.contains(&Check::Deref) {
        return Assumed::default();
    }
    // The pre-analysis and slicing analyses execute only some of the operations.
    let executes = by != Analysis::Invariants && !by.slices();
    let is_executed = |id: EdgeId| executes && slice.is_none_or(|s| s.kept[id.index()]);
    let is_relevant = |id: EdgeId| slice.is_none_or(|s| s.alive[program.edges[id].source.index()]);
    let not_executed: Vec<(EdgeId, ExprId, Option<u64>)> = program
        .edges
        .iter()
        .filter(|&(id, _)| !is_executed(id) && is_relevant(id))
        .filter_map(|(id, edge)| {
            let (address, len) = match edge.op {
                Op::Store { addr, value } => (addr, Some(u64::from(program.exprs.width(value).div_ceil(8)))),
                Op::Copy { dst, len, .. } | Op::Fill { dst, len, .. } => {
                    (dst, program.exprs.as_const(len).and_then(|l| l.to_u64()))
                }
                _ => return None,
            };
            Some((id, address, len))
        })
        .collect();
    if not_executed.is_empty() {
        return Assumed::default();
    }
    let options = Options { deadline: Some(deadline), ..Options::default() };
    let mut points_to = PointsTo::compute(program, &options);
    let is_assumed = |&&(id, address, len): &&(EdgeId, ExprId, Option<u64>)| match &mut points_to {
        Some(points_to) => points_to.is_reached(program.func_of(id)) && !is_valid(program, points_to, address, len),
        None => true,
    };
    let assumed: Vec<EdgeId> = not_executed.iter().filter(is_assumed).map(|&(id, ..)| id).collect();
    let mut places: Vec<PlaceId> = assumed.iter().filter_map(|&id| program.edges[id].place).collect();
    places.sort_unstable();
    places.dedup();
    for place in &mut places {
        *place = blame::users_place(program, *place);
    }
    let position = |place: &PlaceId| {
        let place = &program.places[*place];
        (place.file, place.line, place.column)
    };
    places.sort_unstable_by_key(position);
    places.dedup_by_key(|place| position(place));
    Assumed { count: assumed.len(), places }
}

/// Returns true if the points-to sets prove that a write of `len` bytes stays within a global variable, or within a
/// local variable of the function that writes.
fn is_valid(program: &Program, points_to: &mut PointsTo, address: ExprId, len: Option<u64>) -> bool {
    let Some(len) = len else { return false };
    let vars = program.exprs.vars(address);
    let places = points_to.places(address);
    let mut any = false;
    for (places, by) in places {
        let found: Vec<(slicer::pointer::ObjectId, Shift)> = match places {
            Places::Object(object) => vec![(object, Shift::ZERO)],
            Places::Set(set) => points_to.set(set).map(|l| (l.object, l.at)).collect(),
        };
        for (object, at) in found {
            any = true;
            let object = &points_to.objects[object];
            let lives = match object.kind {
                ObjectKind::Global(_) => true,
                // Only the address of the variable itself counts: a stored pointer may outlive the variable.
                ObjectKind::Alloc(edge) => match program.edges[edge].op {
                    Op::Alloc { var, kind: AllocKind::Stack, .. } => vars[..] == [var],
                    _ => false,
                },
                _ => false,
            };
            let exact = at.stride == 0 && by.stride == 0;
            let offset = at.off.checked_add(by.off).and_then(|o| u64::try_from(o).ok());
            let end = offset.and_then(|o| o.checked_add(len));
            if !(lives && exact && end.zip(object.size).is_some_and(|(end, size)| end <= size)) {
                return false;
            }
        }
    }
    any
}
