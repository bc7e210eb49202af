//! Locations that an execution can pass on its way to a criterion.

use crate::pointer::PointsTo;
use cfa::{Edge, EdgeId, FuncId, Id, LocId, Op, Out, Program};

/// The locations that execution can reach and from which it can still reach a criterion.
///
/// Calls and returns are not matched, so both sets are over-approximations. A path that reaches a location outside
/// `locs` cannot reach a criterion any more.
pub struct Alive {
    /// By location, true if execution can reach it and can reach a criterion from it.
    pub locs: Vec<bool>,
    /// By location, true if execution can reach it.
    pub reached: Vec<bool>,
    /// True if optional assumptions are omitted.
    omits: bool,
}

impl Alive {
    /// Computes both sets. If `criteria` is `None`, a location is alive if execution can reach it. If `omits` is set,
    /// optional assumptions hold in every execution.
    pub fn compute(program: &Program, points_to: &PointsTo, criteria: Option<&[EdgeId]>, omits: bool) -> Self {
        let (reached, callers) = reach(program, points_to, omits);
        match criteria {
            None => Self { locs: reached.clone(), reached, omits },
            Some(criteria) => Self { locs: useful(program, points_to, &reached, &callers, criteria), reached, omits },
        }
    }
    /// The edges out of a location. The only one of an omitted assumption is the edge on which it holds.
    pub fn out(&self, program: &Program, loc: LocId) -> Out {
        out(program, loc, self.omits)
    }
    /// Returns true if the location is alive.
    pub fn loc(&self, loc: LocId) -> bool {
        self.locs[loc.index()]
    }
    /// The edges that start at live locations, in the order of their ids.
    pub fn edges<'a>(&'a self, program: &'a Program) -> impl Iterator<Item = EdgeId> + 'a {
        let follows = |id: EdgeId, e: &Edge| {
            self.loc(e.source) && !matches!(self.out(program, e.source), Out::One(only) if only != id)
        };
        program.edges.iter().filter(move |(id, e)| follows(*id, e)).map(|(id, _)| id)
    }
}

fn out(program: &Program, loc: LocId, omits: bool) -> Out {
    let only = if omits { program.optional_assumption(loc) } else { None };
    only.map_or(program.locs[loc].out, Out::One)
}

/// Returns the locations that execution can reach, and for each function the reached edges that may call it.
fn reach(program: &Program, points_to: &PointsTo, omits: bool) -> (Vec<bool>, Vec<Vec<EdgeId>>) {
    let mut reached = vec![false; program.locs.len()];
    let mut returns = vec![false; program.funcs.len()];
    let mut callers: Vec<Vec<EdgeId>> = vec![Vec::new(); program.funcs.len()];
    let mut work = vec![program.funcs[program.entry].entry];
    while let Some(loc) = work.pop() {
        if std::mem::replace(&mut reached[loc.index()], true) {
            continue;
        }
        let omitted = if omits { program.optional_assumption(loc) } else { None };
        for id in program.out_edges(loc).filter(|&id| omitted.is_none_or(|only| only == id)) {
            let edge = &program.edges[id];
            match edge.op {
                Op::Call { .. } => {
                    for &f in points_to.callees(id) {
                        callers[f.index()].push(id);
                        work.push(program.funcs[f].entry);
                        if returns[f.index()] {
                            work.push(edge.target);
                        }
                    }
                }
                Op::Return { .. } => {
                    let f = program.func_of(id);
                    if !std::mem::replace(&mut returns[f.index()], true) {
                        work.extend(callers[f.index()].iter().map(|&c| program.edges[c].target));
                    }
                }
                Op::Halt(_) | Op::Error(_) => {}
                _ => {
                    // An undefined function may call the functions whose addresses it has.
                    for &f in points_to.callees(id) {
                        callers[f.index()].push(id);
                        work.push(program.funcs[f].entry);
                    }
                    work.push(edge.target);
                }
            }
        }
    }
    (reached, callers)
}

/// The reached locations from which execution may reach a criterion.
fn useful(
    program: &Program,
    points_to: &PointsTo,
    reached: &[bool],
    callers: &[Vec<EdgeId>],
    criteria: &[EdgeId],
) -> Vec<bool> {
    let mut useful = vec![false; program.locs.len()];
    let mut work: Vec<LocId> = criteria.iter().map(|&c| program.edges[c].source).collect();
    let mut into: Vec<Vec<LocId>> = vec![Vec::new(); program.locs.len()];
    let mut returns: Vec<Vec<LocId>> = vec![Vec::new(); program.funcs.len()];
    let mut calls_before: Vec<Vec<EdgeId>> = vec![Vec::new(); program.locs.len()];
    for (id, edge) in program.edges.iter().filter(|(_, e)| reached[e.source.index()]) {
        match edge.op {
            Op::Return { .. } => returns[program.func_of(id).index()].push(edge.source),
            Op::Halt(_) | Op::Error(_) => {}
            _ => {
                // A call is left through the returns of its callees, so its source does not precede its target
                // directly.
                if !matches!(edge.op, Op::Call { .. }) {
                    into[edge.target.index()].push(edge.source);
                }
                if !points_to.callees(id).is_empty() {
                    calls_before[edge.target.index()].push(id);
                }
            }
        }
    }
    // The function that starts at a location, to continue at its callers.
    let mut entry_of = vec![None; program.locs.len()];
    for (f, func) in program.funcs.iter() {
        entry_of[func.entry.index()] = Some(f);
    }
    let mut returned: Vec<bool> = vec![false; program.funcs.len()];
    let return_to = |f: FuncId, returned: &mut Vec<bool>, work: &mut Vec<LocId>| {
        if !std::mem::replace(&mut returned[f.index()], true) {
            work.extend(&returns[f.index()]);
        }
    };
    while let Some(loc) = work.pop() {
        if !reached[loc.index()] || std::mem::replace(&mut useful[loc.index()], true) {
            continue;
        }
        // Execution arrives here from a call only through a return of a callee.
        for &call in &calls_before[loc.index()] {
            for &f in points_to.callees(call) {
                return_to(f, &mut returned, &mut work);
            }
        }
        work.extend(&into[loc.index()]);
        if let Some(f) = entry_of[loc.index()] {
            work.extend(callers[f.index()].iter().map(|&c| program.edges[c].source));
        }
    }
    useful
}
