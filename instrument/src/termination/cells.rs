//! Memory cells in ranking functions.

use crate::checks::pass::guard;
use cfa::graph::Predecessors;
use cfa::{AllocKind, Bv, Expr, ExprId, Family, LocId, Op, Program, VarId};
use rustc_hash::FxHashSet;

/// A memory cell in a ranking function's tuple.
#[derive(Clone, Debug)]
pub struct RankedCell {
    /// The variable that holds the value of the cell at the loop.
    pub var: VarId,
    /// The address of the cell.
    pub addr: ExprId,
}

impl RankedCell {
    /// Adds a load of the cell after `at`. Returns the location after it. If the cell may not exist (the pointer is
    /// null, the object is dead), the load is guarded: it returns any value, so no rank decreases.
    pub(super) fn load(&self, program: &mut Program, at: LocId, is_there: bool) -> LocId {
        let next = program.add_location(program.locs[at].func);
        let edge = program.add_edge(at, Op::Load { var: self.var, addr: self.addr }, next, None);
        if !is_there {
            guard(program, edge);
        }
        next
    }

    /// True if the cell provably exists whenever control is at `at`.
    pub(super) fn is_there(&self, program: &Program, predecessors: &Predecessors, at: LocId) -> bool {
        let pool = &program.exprs;
        let (base, offset) = pool.base_and_offset(self.addr);
        let bytes = u64::from(program.vars[self.var].width.div_ceil(8));
        let fits = |size: u64| offset.checked_add(bytes).is_some_and(|end| end <= size);
        match *pool.get(base) {
            Expr::GlobalAddr(global) => fits(program.globals[global].size),
            Expr::Var(var) => size_behind(program, predecessors, at, var).is_some_and(fits),
            _ => false,
        }
    }
}

/// The least size of the stack object that `var` points to, if every path to `at` allocates it and does not free it.
/// Otherwise `None`.
fn size_behind(program: &Program, predecessors: &Predecessors, at: LocId, var: VarId) -> Option<u64> {
    let allocated = |op: &Op| if let Op::Alloc { var, .. } = *op { Some(var) } else { None };
    let objects: FxHashSet<VarId> = program.edges.values().filter_map(|edge| allocated(&edge.op)).collect();
    let is_of_another =
        |ptr: ExprId| matches!(*program.exprs.get(ptr), Expr::Var(v) if v != var && objects.contains(&v));
    let entry = program.funcs[program.locs[at].func].entry;
    let (mut todo, mut seen) = (vec![at], FxHashSet::from_iter([at]));
    let mut least = None;
    while let Some(loc) = todo.pop() {
        if loc == entry {
            return None;
        }
        for &edge in predecessors.edges_into(loc) {
            let edge = &program.edges[edge];
            match edge.op {
                Op::Alloc { var: v, size, kind: AllocKind::Stack, .. } if v == var => {
                    let size = program.exprs.as_const(size).and_then(Bv::to_u64)?;
                    least = Some(least.map_or(size, |least: u64| least.min(size)));
                    continue;
                }
                Op::Free { ptr, family: Family::Scope } if !is_of_another(ptr) => return None,
                ref op if op.def() == Some(var) => return None,
                _ => {}
            }
            if seen.insert(edge.source) {
                todo.push(edge.source);
            }
        }
    }
    least
}
