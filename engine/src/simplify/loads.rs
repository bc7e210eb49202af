//! Replaces loads by copies of earlier loads.

use super::{locations, predecessors};
use cfa::{Expr, ExprId, FuncId, LocId, Op, Program, VarId};
use rustc_hash::FxHashMap;

/// Largest number of known loads per location.
const MOST: usize = 16;

/// Pairs of an address and the variable that holds the value there.
type Known = Vec<(ExprId, VarId)>;

/// Replaces a load by a copy if an earlier load from the same address is on the only path to it, without a write
/// between them.
pub fn reuse(program: &mut Program, func: FuncId) {
    let order = locations(program, func);
    let incoming = predecessors(program, func, &order);
    let mut known: FxHashMap<LocId, Known> = FxHashMap::default();
    for loc in order {
        let here = known.remove(&loc).unwrap_or_default();
        for edge in program.out_edges(loc) {
            let mut after = here.clone();
            match program.edges[edge].op {
                Op::Load { var, addr } => {
                    let before =
                        here.iter().find(|(a, v)| *a == addr && program.vars[*v].width == program.vars[var].width);
                    if let Some(&(_, before)) = before.filter(|(_, v)| *v != var) {
                        let value = program.var_expr(before);
                        // The earlier load succeeded, so this one cannot fault.
                        program.edges[edge].op = Op::Assign { var, value };
                        program.edges[edge].fault = None;
                    }
                    overwrite(program, &mut after, var);
                    if !mentions(program, addr, var) && after.len() < MOST {
                        after.push((addr, var));
                    }
                }
                Op::Assign { var, .. } | Op::Havoc { var, .. } => overwrite(program, &mut after, var),
                Op::Skip | Op::Assume { .. } => {}
                _ => after.clear(),
            }
            let target = program.edges[edge].target;
            if incoming[&target] == 1 && !after.is_empty() {
                known.insert(target, after);
            }
        }
    }
}

/// Removes entries that depend on a variable.
fn overwrite(program: &Program, known: &mut Known, var: VarId) {
    known.retain(|&(addr, v)| v != var && !mentions(program, addr, var));
}

fn mentions(program: &Program, e: ExprId, var: VarId) -> bool {
    let mut found = false;
    program.exprs.visit(e, &mut Default::default(), |_, node| found |= matches!(node, Expr::Var(v) if *v == var));
    found
}
