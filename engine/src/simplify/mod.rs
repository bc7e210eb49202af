//! A program with fewer forks, for exploration path by path.
//!
//! What C writes as one condition clang lowers to several branches: `a || b`, several `case` labels of one destination, a
//! comparison kept in a temporary. A path for each is a path too many. Here they become one condition each; loads that give
//! what was just loaded become copies, so that they are not in the way. Nothing else changes: locations and edges keep
//! their numbers, variables that C has keep their values wherever control still comes to, inputs are asked for in the same order,
//! and an error is reached on the same inputs (`laws`). Linear in the program, for each of a few rounds.
//!
//! Where that is asked for, loops that only count are put in closed form as well (`accelerate`), with the functions that they call to compute
//! something in line (`functions`).

mod accelerate;
mod branches;
mod functions;
mod joined;
mod loads;

#[cfg(test)]
mod laws;

pub use accelerate::accelerated;
pub use joined::{Joined, Region, Simplified, Split, To};

use cfa::{ExprId, FuncId, LocId, Op, Out, Program, VarId};
use rustc_hash::FxHashMap;

/// Rounds, at most: what one makes smaller lets the next make smaller what is around it.
const ROUNDS: usize = 6;

/// The same program with fewer forks.
pub fn simplified(program: &Program) -> Program {
    let mut program = program.clone();
    // What variables lead to is looked at there, also if nobody reads them.
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

/// By function, its variables.
fn locals(program: &Program) -> FxHashMap<FuncId, Vec<VarId>> {
    let mut locals: FxHashMap<FuncId, Vec<VarId>> = FxHashMap::default();
    for (id, var) in program.vars.iter() {
        if let Some(func) = var.func() {
            locals.entry(func).or_default().push(id);
        }
    }
    locals
}

/// The locations of a function that control can come to, its entry first, each before what only it leads to.
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

/// How many edges lead to each location; the entry counts one more.
fn predecessors(program: &Program, func: FuncId, locations: &[LocId]) -> FxHashMap<LocId, u32> {
    let mut count = FxHashMap::from_iter([(program.funcs[func].entry, 1)]);
    for edge in locations.iter().flat_map(|&loc| program.out_edges(loc)) {
        *count.entry(program.edges[edge].target).or_default() += 1;
    }
    count
}

/// `e` with variables replaced.
fn substituted(program: &mut Program, e: ExprId, values: &FxHashMap<VarId, ExprId>) -> ExprId {
    if values.is_empty() {
        return e;
    }
    program.exprs.substitute(e, &mut FxHashMap::default(), |pool, leaf| match pool.get(leaf) {
        cfa::Expr::Var(v) => values.get(v).copied(),
        _ => None,
    })
}

/// The only edge out of a location.
fn only_edge(program: &Program, loc: LocId) -> Option<cfa::EdgeId> {
    match program.locs[loc].out {
        Out::One(edge) => Some(edge),
        _ => None,
    }
}
