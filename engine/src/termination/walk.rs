//! Traversals: pointers that take their next value from the memory they point to.

use cfa::{EdgeId, Op, Program, VarId, VarKind};
use instrument::termination::CyclicLoop;
use rustc_hash::FxHashSet;

/// Largest number of variables per loop.
const WALKING: usize = 3;

/// The named pointer variables of a loop whose next value is computed from the current one by at least one load or
/// call, as in `p = p->next`. Variables that occur in conditions come first.
pub fn walking(program: &Program, l: &CyclicLoop) -> Vec<VarId> {
    let mut edges: Vec<EdgeId> = l.body.iter().flat_map(|&loc| program.out_edges(loc)).collect();
    edges.sort_unstable();
    // Flows from variable to variable. A flow is a step if it goes through a load or a call.
    let mut flows: Vec<(VarId, VarId, bool)> = Vec::new();
    let mut decisive = FxHashSet::default();
    for &edge in &edges {
        let (to, from, is_step) = match program.edges[edge].op {
            Op::Assign { var, value } => (var, vec![value], false),
            Op::Load { var, addr } => (var, vec![addr], true),
            Op::Call { result: Some(var), ref args, .. } => (var, args.to_vec(), true),
            Op::Assume { cond, .. } => {
                decisive.extend(program.exprs.vars(cond).iter().copied());
                continue;
            }
            _ => continue,
        };
        for e in from {
            flows.extend(program.exprs.vars(e).iter().map(|&v| (v, to, is_step)));
        }
    }
    let reached = |from: VarId| {
        let (mut seen, mut todo) = (FxHashSet::from_iter([from]), vec![from]);
        while let Some(v) = todo.pop() {
            todo.extend(flows.iter().filter(|f| f.0 == v).map(|f| f.1).filter(|&to| seen.insert(to)));
        }
        seen
    };
    let is_named = |v: &VarId| {
        let var = &program.vars[*v];
        !matches!(var.kind, VarKind::Temp(_)) && var.width == program.layout.pointer_width
    };
    let walks = |v: &VarId| {
        let from = reached(*v);
        flows.iter().any(|&(a, b, is_step)| is_step && from.contains(&a) && reached(b).contains(v))
    };
    let mut found: Vec<VarId> = flows.iter().map(|f| f.1).filter(is_named).collect();
    found.sort_unstable();
    found.dedup();
    found.retain(walks);
    // Variables from which a condition is computed are decisive as well.
    let decides = |v: &VarId| reached(*v).iter().any(|to| decisive.contains(to));
    found.sort_by_key(|v| (!decisive.contains(v), !decides(v)));
    found.truncate(WALKING);
    found
}
