//! Cells of memory that tuples speak of.

use crate::checks::pass::guard;
use cfa::graph::Predecessors;
use cfa::{AllocKind, BinOp, Bv, Expr, ExprId, Family, LocId, Op, Program, VarId};
use rustc_hash::FxHashSet;

/// A cell of memory that a tuple speaks of: the variable stands for its value at the loop.
#[derive(Clone, Debug)]
pub struct RankedCell {
    pub var: VarId,
    pub addr: ExprId,
}

impl RankedCell {
    /// Adds its load behind `at`; where that ends. An execution goes on where the cell is not there (the pointer is null, the object is
    /// gone): such a read gives any value, and no rank gets smaller.
    pub(super) fn load(&self, program: &mut Program, at: LocId, is_there: bool) -> LocId {
        let next = program.add_location(program.locs[at].func);
        let edge = program.add_edge(at, Op::Load { var: self.var, addr: self.addr }, next, None);
        if !is_there {
            guard(program, edge);
        }
        next
    }

    /// Whether it is seen to be there whenever control is at `at`.
    pub(super) fn is_there(&self, program: &Program, predecessors: &Predecessors, at: LocId) -> bool {
        let pool = &program.exprs;
        let constant = |e: ExprId| pool.as_const(e).and_then(Bv::to_u64);
        let (base, offset) = match *pool.get(self.addr) {
            Expr::Binary(BinOp::Add, a, b) => match (constant(a), constant(b)) {
                (_, Some(by)) => (a, by),
                (Some(by), _) => (b, by),
                _ => return false,
            },
            _ => (self.addr, 0),
        };
        let bytes = u64::from(program.vars[self.var].width.div_ceil(8));
        let fits = |size: u64| offset.checked_add(bytes).is_some_and(|end| end <= size);
        match *pool.get(base) {
            Expr::GlobalAddr(global) => fits(program.globals[global].size),
            Expr::Var(var) => size_behind(program, predecessors, at, var).is_some_and(fits),
            _ => false,
        }
    }
}

/// The size of the object of a variable of the function, which comes into being on all ways to `at` and does not end behind.
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
        for &edge in predecessors.of(loc) {
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
