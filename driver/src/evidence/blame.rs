//! Attribution of places outside of the user's code to a line of the user: places in undefined functions, in library
//! models, and in system headers.

use cfa::{CallGraph, EdgeId, FuncId, FunctionOrigin, Op, PlaceId, Program};
use std::collections::VecDeque;
use std::path::Path;

/// The folders of system files.
const SYSTEM: [&str; 3] = ["/usr/include", "/usr/lib", "/usr/local/include"];

/// Returns the place itself if it is in the user's code. Otherwise returns the place of the call in the user's code
/// from which the fewest calls lead to it. If there is no such call, returns the place itself.
pub fn users_place(program: &Program, place: PlaceId) -> PlaceId {
    let owner = owner(program, place);
    let foreign = owner.is_some_and(|func| program.funcs[func].origin != FunctionOrigin::Source);
    if !foreign && !is_of_system(program, place) {
        return place;
    }
    owner.and_then(|func| call_by_user(program, func)).and_then(|call| program.edges[call].place).unwrap_or(place)
}

/// Returns the function of an approximation at the place, or else of any operation there.
fn owner(program: &Program, place: PlaceId) -> Option<FuncId> {
    let here = || program.edges.iter().filter(|(_, edge)| edge.place == Some(place));
    let approximates = here().find(|(_, edge)| matches!(edge.op, Op::Approx { .. }));
    approximates.or_else(|| here().next()).map(|(id, _)| program.func_of(id))
}

/// Returns true if the place is in a system file.
fn is_of_system(program: &Program, place: PlaceId) -> bool {
    let path = Path::new(&program.files[program.places[place].file].path);
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// Returns the call in the user's reachable code from which the fewest calls lead to the function.
fn call_by_user(program: &Program, func: FuncId) -> Option<EdgeId> {
    let calls = CallGraph::new(program);
    let is_users = |edge: EdgeId| {
        let by_source = program.funcs[program.func_of(edge)].origin == FunctionOrigin::Source;
        by_source && program.edges[edge].place.is_some_and(|place| !is_of_system(program, place))
    };
    let mut seen = vec![func];
    let mut todo = VecDeque::from([func]);
    while let Some(func) = todo.pop_front() {
        let callers = || calls.callers(func).filter(|&edge| calls.is_reachable(program.func_of(edge)));
        if let Some(call) = callers().find(|&edge| is_users(edge)) {
            return Some(call);
        }
        for caller in callers().map(|edge| program.func_of(edge)) {
            if !seen.contains(&caller) {
                seen.push(caller);
                todo.push_back(caller);
            }
        }
    }
    None
}
