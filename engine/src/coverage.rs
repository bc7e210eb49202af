//! Coverage: the locations that the explorations reached. The report shades the source accordingly.

use cfa::facts::leading_to_targets;
use cfa::{CallGraph, FuncId, Id, LocId, Program};

/// The locations that the explorations reached.
#[derive(Clone, Default, Debug)]
pub struct Coverage {
    /// By location: true if a state reached it, and `None` if explorations cannot observe it. Empty if nothing was
    /// explored or recorded.
    pub visited: Vec<Option<bool>>,
    /// True if no execution reaches any other location: the proof explored everything.
    pub is_complete: bool,
}

impl Coverage {
    /// Combines the locations that each exploration of the simplified program reached.
    pub(crate) fn combine<'a>(
        simplified: &Program,
        explorations: impl Iterator<Item = &'a [bool]>,
        is_complete: bool,
    ) -> Self {
        let mut all: Vec<bool> = Vec::new();
        for visited in explorations.filter(|visited| !visited.is_empty()) {
            all.resize(simplified.locs.len(), false);
            all.iter_mut().zip(visited).for_each(|(all, &visited)| *all |= visited);
        }
        if all.is_empty() {
            return Self::default();
        }
        let follows = followed(simplified);
        let visited =
            all.iter().zip(follows).map(|(&visited, follows)| (visited || follows).then_some(visited)).collect();
        Self { visited, is_complete }
    }
}

/// By location: true if an exploration can observe executions that reach it. Explorations do not observe locations that
/// simplification bypasses, locations from which no path leads to an error, and callees that are summarized.
fn followed(program: &Program) -> Vec<bool> {
    let calls = CallGraph::new(program);
    // Start with the recursive functions and add everything that they call.
    let mut answered: Vec<FuncId> = program.funcs.ids().filter(|&f| calls.is_recursive(f)).collect();
    let mut is_answered = vec![false; program.funcs.len()];
    while let Some(func) = answered.pop() {
        if !std::mem::replace(&mut is_answered[func.index()], true) {
            let called = calls.graph().successors(func.0).iter().map(|&f| FuncId(f));
            answered.extend(called.filter(|&f| program.funcs.get(f).is_some()));
        }
    }
    let mut followed = vec![false; program.locs.len()];
    let leads = leading_to_targets(program);
    let mut open: Vec<LocId> = program.funcs.values().map(|f| f.entry).collect();
    while let Some(loc) = open.pop() {
        let is_followed = leads[loc.index()] && !is_answered[program.locs[loc].func.index()];
        if is_followed && !std::mem::replace(&mut followed[loc.index()], true) {
            open.extend(program.out_edges(loc).map(|edge| program.edges[edge].target));
        }
    }
    followed
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{CType, Check, DataLayout, ErrorInfo, Op, Var, VarKind};

    #[test]
    fn missed_is_only_where_states_are_followed() {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let ty = p.types.push(CType::Unknown { width: 1 });
        let x = p.vars.push(Var {
            name: None,
            ty,
            width: 1,
            kind: VarKind::Global { init: None, is_static: false },
            place: None,
        });
        let x = p.exprs.var(x, 1);
        let [to_error, harmless, bypassed, error, end] = [(); 5].map(|()| p.add_location(p.entry));
        let entry = p.funcs[p.entry].entry;
        p.add_branch(entry, x, to_error, harmless, None);
        p.add_edge(to_error, Op::Skip, error, None);
        p.add_edge(bypassed, Op::Skip, error, None);
        p.add_edge(harmless, Op::Return { value: None }, end, None);
        let check = p.errors.push(ErrorInfo { check: Check::Call, message: String::new(), place: None });
        p.add_edge(error, Op::Error(check), end, None);
        let visited: Vec<bool> = p.locs.ids().map(|loc| loc == entry).collect();
        let coverage = Coverage::combine(&p, [&visited[..], &[]].into_iter(), true);
        let told = [entry, to_error, harmless, bypassed, error].map(|loc| coverage.visited[loc.index()]);
        assert_eq!(told, [Some(true), Some(false), None, None, Some(false)]);
        assert!(Coverage::combine(&p, std::iter::empty(), true).visited.is_empty());
    }
}
