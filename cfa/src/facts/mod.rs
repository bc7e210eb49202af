//! Facts about a whole program that several crates need.

mod targets;

pub use targets::leading_to_targets;

use crate::{AllocKind, CallGraph, Callee, Edge, EdgeId, Family, FuncId, Id, LocId, Op, Program, VarId, VarKind};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

/// True if the program calls `malloc` or a similar function. Functions that are linked but not called do not count.
pub fn allocates(program: &Program) -> bool {
    let calls = CallGraph::new(program);
    program.edges.iter().any(|(id, edge)| {
        matches!(edge.op, Op::Alloc { kind: AllocKind::MALLOC, .. }) && calls.is_reachable(program.func_of(id))
    })
}

/// True if a heap allocation may be executed repeatedly, in a loop or a recursion. One abstract object then represents
/// many concrete ones.
pub fn allocates_again(program: &Program, in_loop: impl Fn(LocId) -> bool) -> bool {
    let calls = CallGraph::new(program);
    let mut repeated: Vec<bool> = program.funcs.ids().map(|f| calls.is_recursive(f)).collect();
    let mut work: Vec<FuncId> = program.funcs.ids().filter(|f| repeated[f.index()]).collect();
    let called = |id: EdgeId| calls.callees(program, id).as_slice().to_vec();
    for (id, edge) in program.edges.iter() {
        if matches!(edge.op, Op::Call { .. }) && in_loop(edge.source) {
            work.extend(called(id));
        }
    }
    let mut callees: Vec<Vec<FuncId>> = vec![Vec::new(); program.funcs.len()];
    for (id, _) in program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Call { .. })) {
        callees[program.func_of(id).index()].extend(called(id));
    }
    let mut seen = FxHashSet::default();
    while let Some(f) = work.pop() {
        if seen.insert(f) {
            repeated[f.index()] = true;
            work.extend(&callees[f.index()]);
        }
    }
    program.edges.iter().any(|(id, edge)| {
        matches!(edge.op, Op::Alloc { kind: AllocKind::Heap(_) | AllocKind::Given, .. })
            && (repeated[program.func_of(id).index()] || in_loop(edge.source))
    })
}

/// The functions that may return: the control flow leads from the entry to a return. A call through a pointer may call a
/// function without a definition, which returns.
pub fn returning(program: &Program) -> FixedBitSet {
    let mut returning = FixedBitSet::with_capacity(program.funcs.len());
    let mut todo: Vec<LocId> = program.funcs.values().map(|func| func.entry).collect();
    let mut seen = FixedBitSet::with_capacity(program.locs.len());
    // By function: the locations after its calls, until a return is found.
    let mut waiting: Vec<Vec<LocId>> = vec![Vec::new(); program.funcs.len()];
    while let Some(loc) = todo.pop() {
        if seen.put(loc.index()) {
            continue;
        }
        for edge in program.out_edges(loc) {
            let Edge { target, ref op, .. } = program.edges[edge];
            match *op {
                Op::Return { .. } => {
                    let func = program.locs[loc].func.index();
                    returning.insert(func);
                    todo.append(&mut waiting[func]);
                }
                Op::Call { callee: Callee::Direct(callee), .. } if !returning.contains(callee.index()) => {
                    waiting[callee.index()].push(target);
                }
                _ => todo.push(target),
            }
        }
    }
    returning
}

/// For every function, the globals that it or its callees may write.
pub fn globals_written(program: &Program) -> Vec<FxHashSet<VarId>> {
    let mut written = vec![FxHashSet::default(); program.funcs.len()];
    let mut calls: Vec<Vec<FuncId>> = vec![Vec::new(); program.funcs.len()];
    let mut indirect = vec![false; program.funcs.len()];
    for edge in program.edges.values() {
        let func = program.locs[edge.source].func.index();
        if let Some(var) = edge.op.def()
            && matches!(program.vars[var].kind, VarKind::Global { .. })
        {
            written[func].insert(var);
        }
        match edge.op {
            Op::Call { callee: Callee::Direct(callee), .. } => calls[func].push(callee),
            Op::Call { .. } => indirect[func] = true,
            _ => {}
        }
    }
    let anywhere: FxHashSet<VarId> = written.iter().flatten().copied().collect();
    for (func, written) in written.iter_mut().enumerate() {
        if indirect[func] {
            written.clone_from(&anywhere);
        }
    }
    loop {
        let mut changed = false;
        for func in 0..calls.len() {
            for &callee in &calls[func] {
                let more: Vec<VarId> = written[callee.index()].difference(&written[func]).copied().collect();
                changed |= !more.is_empty();
                written[func].extend(more);
            }
        }
        if !changed {
            return written;
        }
    }
}

/// True if the program frees heap memory.
pub fn frees(program: &Program) -> bool {
    program.edges.values().any(|e| matches!(e.op, Op::Free { family, .. } if family != Family::Scope))
}
