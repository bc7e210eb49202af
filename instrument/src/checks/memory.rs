//! Memory safety: makes memory faults and leaks errors.

use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::{CallGraph, Check, ErrorId, ErrorInfo, FunctionOrigin, HaltKind, Leak, LocId, Op, Program};

/// Makes memory faults errors if one of `checks` covers them. Each operation has its own error.
pub fn memory_safety(program: &mut Program, checks: &[Check]) {
    let allocates = program.edges.values().any(|e| match e.op {
        Op::Alloc { kind, .. } => kind.may_leak(),
        // The removed behaviours may allocate.
        Op::Approx { taint } => program.taints[taint].under,
        _ => false,
    });
    for (check, leak) in [(Check::Memtrack, Leak::Lost), (Check::Memcleanup, Leak::Alive)] {
        if allocates && checks.contains(&check) {
            look_for_leaks(program, leak);
        }
    }
    for id in program.edges.ids() {
        let edge = &program.edges[id];
        let Some((check, message)) = fault(&edge.op).filter(|(check, _)| checks.contains(check)) else { continue };
        let place = edge.place;
        let error = program.errors.push(ErrorInfo { check, message: message.to_owned(), place });
        program.edges[id].fault = Some(error);
    }
}

/// The check and the message for a fault of the operation.
fn fault(op: &Op) -> Option<(Check, &'static str)> {
    Some(match op {
        Op::Load { .. } => (Check::Deref, "invalid read"),
        Op::Store { .. } => (Check::Deref, "invalid write"),
        Op::Copy { .. } => (Check::Deref, "invalid copy"),
        Op::Fill { .. } => (Check::Deref, "invalid write"),
        Op::Free { .. } if op.may_fault() => (Check::Free, "invalid free"),
        // The library models of `realloc` and `malloc_usable_size` use this operation.
        Op::ObjectSize { .. } => (Check::Free, "invalid reallocation"),
        Op::Leak(Leak::Lost) => (Check::Memtrack, "memory is lost"),
        Op::Leak(Leak::Alive) => (Check::Memcleanup, "memory is not freed"),
        Op::Call { .. } if op.may_fault() => (Check::Deref, "call through an invalid pointer"),
        _ => return None,
    })
}

/// Inserts leak checks at the ends of the program. Checks for unreachable objects are also inserted at loop heads and
/// at entries of recursive functions, because the program may not end. An unreachable object remains unreachable, so
/// these locations suffice.
fn look_for_leaks(program: &mut Program, leak: Leak) {
    let mut places: Vec<LocId> = Vec::new();
    for edge in program.edges.values() {
        let ends = matches!(edge.op, Op::Halt(HaltKind::Exit(_) | HaltKind::ExitNow(_) | HaltKind::Abort));
        places.extend(ends.then_some(edge.source));
    }
    if leak == Leak::Lost {
        let calls = CallGraph::new(program);
        let graphs = CfaGraphs::new(program);
        for (func, graph) in graphs.funcs.iter() {
            if program.funcs[func].origin == FunctionOrigin::Model {
                continue;
            }
            let forest = LoopForest::new(&graph.graph, 0);
            places.extend(forest.loops().iter().map(|l| graph.locs[l.head as usize]));
            if calls.is_recursive(func) {
                places.push(program.funcs[func].entry);
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    for loc in places {
        program.insert_before(loc, Op::Leak(leak));
    }
}

/// Inserts a leak check after every operation of the program's own functions, which reports the given error. A run then
/// ends at the first operation after which no pointer leads to a live heap object.
pub fn watch_losses(program: &mut Program, error: ErrorId) {
    for id in program.edges.ids().collect::<Vec<_>>() {
        let func = program.func_of(id);
        let edge = &program.edges[id];
        let may_lose = matches!(
            edge.op,
            Op::Assign { .. }
                | Op::Load { .. }
                | Op::Store { .. }
                | Op::Copy { .. }
                | Op::Fill { .. }
                | Op::Free { .. }
                | Op::Call { .. }
        );
        if !may_lose || edge.place.is_none() || program.funcs[func].origin != FunctionOrigin::Source {
            continue;
        }
        let (target, place) = (edge.target, edge.place);
        let after = program.add_location(func);
        program.edges[id].target = after;
        let check = program.add_edge(after, Op::Leak(Leak::Lost), target, place);
        program.edges[check].fault = Some(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{CType, DataLayout, EdgeId, Family, HaltKind, VarKind};

    #[test]
    fn what_is_asked_for_is_watched() {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let ty = p.types.push(CType::Unknown { width: 64 });
        let var = cfa::Var { name: None, ty, width: 64, kind: VarKind::Temp(p.entry), place: None };
        let var = p.vars.push(var);
        let null = p.exprs.int(64, 0);
        let [a, b, c, d] = [(); 4].map(|()| p.add_location(p.entry));
        let entry = p.funcs[p.entry].entry;
        let load = p.add_edge(entry, Op::Load { var, addr: null }, a, None);
        let free = p.add_edge(a, Op::Free { ptr: null, family: Family::Malloc }, b, None);
        let skip = p.add_edge(b, Op::Skip, c, None);
        p.add_edge(c, Op::Halt(HaltKind::Abort), d, None);
        memory_safety(&mut p, &[Check::Free, Check::Call]);
        assert_eq!((p.edges[load].fault, p.edges[skip].fault, p.errors.len()), (None, None, 1));
        let error = p.edges[free].fault.unwrap();
        assert_eq!(p.errors[error].check, Check::Free);
        memory_safety(&mut p, &[Check::Deref]);
        assert_eq!(p.edges[free].fault, Some(error));
        assert!(p.edges[load].fault.is_some());
    }

    /// A check follows each operation of the program's own functions that may drop a pointer.
    #[test]
    fn losses_are_watched_after_each_operation() {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let ty = p.types.push(CType::Unknown { width: 64 });
        let var = cfa::Var { name: None, ty, width: 64, kind: VarKind::Temp(p.entry), place: None };
        let var = p.vars.push(var);
        let null = p.exprs.int(64, 0);
        let file = p.files.push(cfa::SourceFile { path: "a.c".into() });
        let place = Some(p.place(cfa::Place { file, line: 1, column: 1, inlined_at: None }));
        let [a, b, c] = [(); 3].map(|()| p.add_location(p.entry));
        let entry = p.funcs[p.entry].entry;
        let assign = p.add_edge(entry, Op::Assign { var, value: null }, a, place);
        p.add_edge(a, Op::Skip, b, place);
        p.add_edge(b, Op::Halt(HaltKind::Abort), c, place);
        let info = ErrorInfo { check: Check::Memtrack, message: String::new(), place: None };
        let error = p.errors.push(info);
        watch_losses(&mut p, error);
        let checks: Vec<EdgeId> = p.edges.ids().filter(|&e| p.edges[e].op == Op::Leak(Leak::Lost)).collect();
        let [check] = checks[..] else { panic!("{checks:?}") };
        assert_eq!((p.edges[check].source, p.edges[check].target), (p.edges[assign].target, a));
        assert_eq!((p.edges[check].fault, p.edges[check].place), (Some(error), place));
    }
}
