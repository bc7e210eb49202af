//! Program simplification: fewer forks for exploration path by path.
//!
//! clang lowers one C condition to several branches: `a || b`, several `case` labels of one destination, a comparison
//! in a temporary. Each branch doubles the number of paths. This module merges such branches into one condition each,
//! and replaces repeated loads by copies. Everything else is preserved: locations and edges keep their ids, C variables
//! keep their values at all locations that remain reachable, inputs are read in the same order, and errors are reached
//! on the same inputs (see `laws`). Each of the few rounds is linear in the size of the program.
//!
//! On request, counting loops are put into closed form (`accelerate`), and functions that only compute are inlined
//! (`functions`).

mod accelerate;
mod branch_map;
mod branches;
mod functions;
mod loads;

#[cfg(test)]
mod laws;

pub use accelerate::accelerated;
pub use branch_map::{BranchMap, Region, SideTarget, Simplified, Split};

use cfa::{ExprId, FuncId, LocId, Op, Out, Program, VarId};
use rustc_hash::FxHashMap;

/// Largest number of rounds. A merge may enable further merges around it.
const ROUNDS: usize = 6;

/// The program with fewer forks.
pub fn simplified(program: &Program) -> Program {
    let mut program = program.clone();
    // Leak checks inspect the memory that variables refer to, also of dead variables.
    if program.edges.values().any(|e| matches!(e.op, Op::Leak(_))) {
        return program;
    }
    let locals = locals(&program);
    for func in program.funcs.ids().collect::<Vec<_>>() {
        loads::reuse(&mut program, func);
        let locals = locals.get(&func).map_or(&[][..], Vec::as_slice);
        for _ in 0..ROUNDS {
            if !branches::join(&mut program, func, locals) {
                break;
            }
        }
    }
    program
}

/// The variables of each function.
fn locals(program: &Program) -> FxHashMap<FuncId, Vec<VarId>> {
    let mut locals: FxHashMap<FuncId, Vec<VarId>> = FxHashMap::default();
    for (id, var) in program.vars.iter() {
        if let Some(func) = var.func() {
            locals.entry(func).or_default().push(id);
        }
    }
    locals
}

/// The reachable locations of a function, breadth-first from its entry.
fn locations(program: &Program, func: FuncId) -> Vec<LocId> {
    let mut order = vec![program.funcs[func].entry];
    let mut seen: rustc_hash::FxHashSet<LocId> = order.iter().copied().collect();
    let mut next = 0;
    while let Some(&loc) = order.get(next) {
        next += 1;
        for edge in program.out_edges(loc) {
            let target = program.edges[edge].target;
            if seen.insert(target) {
                order.push(target);
            }
        }
    }
    order
}

/// Number of incoming edges by location. The entry counts one more.
fn predecessors(program: &Program, func: FuncId, locations: &[LocId]) -> FxHashMap<LocId, u32> {
    let mut count = FxHashMap::from_iter([(program.funcs[func].entry, 1)]);
    for edge in locations.iter().flat_map(|&loc| program.out_edges(loc)) {
        *count.entry(program.edges[edge].target).or_default() += 1;
    }
    count
}

/// `e` with its variables replaced.
fn substituted(program: &mut Program, e: ExprId, values: &FxHashMap<VarId, ExprId>) -> ExprId {
    if values.is_empty() {
        return e;
    }
    program.exprs.substitute(e, &mut FxHashMap::default(), |pool, leaf| match pool.get(leaf) {
        cfa::Expr::Var(v) => values.get(v).copied(),
        _ => None,
    })
}

/// The outgoing edge of a location, if it has exactly one.
fn only_edge(program: &Program, loc: LocId) -> Option<cfa::EdgeId> {
    match program.locs[loc].out {
        Out::One(edge) => Some(edge),
        _ => None,
    }
}
