//! The locations from which an error can still be reached.

use crate::{Callee, EdgeId, FuncId, Id, LocId, Op, Program};

/// For every location, whether a path in the CFA leads from it to an error edge, to an operation whose faults are
/// errors, or to an under-approximating edge. The analysis is context-insensitive: it does not match calls and returns.
/// If it returns false for a location, no target is reachable from there in any context. Linear in the size of the
/// program.
pub fn leading_to_targets(program: &Program) -> Vec<bool> {
    let mut entered_from: Vec<Vec<u32>> = vec![Vec::new(); program.locs.len()];
    let mut calls: Vec<Vec<EdgeId>> = vec![Vec::new(); program.funcs.len()];
    let mut indirect = Vec::new();
    let mut work = Vec::new();
    let mut leads = vec![false; program.locs.len()];
    for (id, edge) in program.edges.iter() {
        let ends = match edge.op {
            Op::Error(_) => Some(true),
            Op::Approx { taint } if program.taints[taint].under => Some(true),
            Op::Halt(_) | Op::Return { .. } => Some(false),
            _ => None,
        };
        let ends_here = ends == Some(true) || edge.fault.is_some();
        if ends_here && !std::mem::replace(&mut leads[edge.source.index()], true) {
            work.push(edge.source);
        }
        match edge.op {
            Op::Call { callee: Callee::Direct(callee), .. } => calls[callee.index()].push(id),
            Op::Call { .. } => indirect.push(id),
            _ => {}
        }
        if ends.is_none() {
            entered_from[edge.target.index()].push(edge.source.0);
        }
    }
    // A return leads to the locations after all calls of its function. A call leads to the entries of its callees.
    let mut returns_behind: Vec<bool> = vec![false; program.funcs.len()];
    let mut returns: Vec<Vec<LocId>> = vec![Vec::new(); program.funcs.len()];
    for edge in program.edges.values() {
        if let Op::Return { .. } = edge.op {
            returns[program.locs[edge.source].func.index()].push(edge.source);
        }
    }
    let mut callers_of_entry: Vec<Option<FuncId>> = vec![None; program.locs.len()];
    for (id, func) in program.funcs.iter() {
        callers_of_entry[func.entry.index()] = Some(id);
    }
    let mut behind: Vec<Vec<EdgeId>> = vec![Vec::new(); program.locs.len()];
    for (id, edge) in program.edges.iter() {
        if let Op::Call { .. } = edge.op {
            behind[edge.target.index()].push(id);
        }
    }
    while let Some(loc) = work.pop() {
        let mut reach = |source: LocId| {
            if !std::mem::replace(&mut leads[source.index()], true) {
                work.push(source);
            }
        };
        entered_from[loc.index()].iter().for_each(|&s| reach(LocId(s)));
        if let Some(func) = callers_of_entry[loc.index()] {
            calls[func.index()].iter().chain(&indirect).for_each(|&call| reach(program.edges[call].source));
        }
        for &call in &behind[loc.index()] {
            let mut returns_of = |func: FuncId| {
                if !std::mem::replace(&mut returns_behind[func.index()], true) {
                    returns[func.index()].iter().for_each(|&r| reach(r));
                }
            };
            match program.edges[call].op {
                Op::Call { callee: Callee::Direct(callee), .. } => returns_of(callee),
                _ => program.funcs.ids().for_each(&mut returns_of),
            }
        }
    }
    leads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Check, DataLayout, ErrorInfo, HaltKind};

    #[test]
    fn an_error_in_a_callee_and_behind_a_call() {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let void = p.funcs[p.entry].return_type;
        let f = p.add_function("f", void, None);
        let (entry, f_entry) = (p.funcs[p.entry].entry, p.funcs[f].entry);
        // `f` returns or halts. The error is after the call of `f`.
        let [returns, halts, end] = [(); 3].map(|()| p.add_location(f));
        let yes = p.exprs.bool(true);
        p.add_branch(f_entry, yes, returns, halts, None);
        p.add_edge(returns, Op::Return { value: None }, end, None);
        p.add_edge(halts, Op::Halt(HaltKind::Abort), end, None);
        let [behind, last] = [(); 2].map(|()| p.add_location(p.entry));
        let call = Op::Call { callee: Callee::Direct(f), args: Box::new([]), varargs: None, result: None };
        p.add_edge(entry, call, behind, None);
        let error = p.errors.push(ErrorInfo { check: Check::Call, message: "m".into(), place: None });
        p.add_edge(behind, Op::Error(error), last, None);
        let leads = leading_to_targets(&p);
        let of = |l: LocId| leads[l.index()];
        assert!(of(entry) && of(behind) && of(f_entry) && of(returns));
        assert!(!of(halts) && !of(last) && !of(end));
    }
}
