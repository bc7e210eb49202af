//! The slice that an analysis of some of the paths explores.

use crate::session::Session;
use cfa::{CallGraph, EdgeId, FuncId, Id, Op, Program};
use cooperate::condition::Condition;
use cooperate::reduce::Reducer;
use engine::{Analysis, Config};
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the condition automaton of the paths that `covered` does not cover, with the slice beside which it runs
/// (`None`: beside the program). Returns `None` if the analysis is not symbolic execution, if the user chose another
/// reducer, if the slice does not determine the paths of the program, or if the condition has no such automaton.
pub fn beside(
    session: &Session,
    program: &Program,
    covered: &Condition,
    config: &Config,
) -> Option<(Option<slicer::Slice>, engine::part::PathAutomaton)> {
    if config.analysis != Analysis::Symex || session.plan.reducer != Reducer::Separate {
        return None;
    }
    let Some(slice) = session.slice(program) else { return Some((None, covered.part(None)?)) };
    if !tells_paths(program, &slice) {
        return None;
    }
    let mut edges: FxHashMap<EdgeId, Vec<EdgeId>> = FxHashMap::default();
    for (new, original) in slice.original.iter() {
        if let Some(original) = *original {
            edges.entry(original).or_default().push(new);
        }
    }
    let part = covered.part(Some(&edges))?;
    Some((Some(slice), part))
}

/// Returns the slice of `part` to analyse, or `None` for `part` itself. If `wanted`, the explored paths are reported
/// afterwards. The slice must then determine the paths of `part`, and the analysis must not report progress per loop
/// head.
pub fn slice_for(session: &Session, part: &Program, config: &Config, wanted: bool) -> Option<slicer::Slice> {
    match wanted && config.analysis.tells_heads() {
        true => None,
        false => session.slice(part).filter(|slice| !wanted || tells_paths(part, slice)),
    }
}

/// Returns true if each path of the slice determines the path of the program as far as it is in the slice. This holds
/// if the program has no call that the slice omits and that may enter a function with branches in the slice.
pub fn tells_paths(program: &Program, slice: &slicer::Slice) -> bool {
    let branches = slice.program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Assume { .. }));
    let branching: FxHashSet<FuncId> = branches.map(|(id, _)| slice.program.func_of(id)).collect();
    let calls = CallGraph::new(program);
    // True for functions that branch in the slice, and for their direct and indirect callers.
    let mut reaches = vec![false; program.funcs.len()];
    let mut work: Vec<FuncId> = branching.into_iter().collect();
    while let Some(f) = work.pop() {
        if !std::mem::replace(&mut reaches[f.index()], true) {
            work.extend(calls.callers(f).map(|edge| program.func_of(edge)));
        }
    }
    let mut in_slice = vec![false; program.edges.len()];
    for (id, edge) in slice.program.edges.iter() {
        if let (Op::Call { .. }, Some(original)) = (&edge.op, slice.original[id]) {
            in_slice[original.index()] = true;
        }
    }
    let is_call = |e: &cfa::Edge| matches!(e.op, Op::Call { .. });
    program.edges.iter().filter(|(_, e)| is_call(e)).all(|(id, _)| {
        let enters = || calls.callees(program, id).as_slice().iter().any(|f| reaches[f.index()]);
        in_slice[id.index()] || !calls.is_reachable(program.func_of(id)) || !enters()
    })
}
