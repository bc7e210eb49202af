//! Loads that give what was loaded before.

use super::{locations, predecessors};
use cfa::{Expr, ExprId, FuncId, LocId, Op, Program, VarId};
use rustc_hash::FxHashMap;

/// Loads known at one place.
const MOST: usize = 16;

/// By address, the variable that has what lies there.
type Known = Vec<(ExprId, VarId)>;

/// Makes loads copies where nothing was written since the same was loaded, on the only way to get there.
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
                        // It cannot be a fault where the one before was none.
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

/// Forgets what depends on a variable.
fn overwrite(program: &Program, known: &mut Known, var: VarId) {
    known.retain(|&(addr, v)| v != var && !mentions(program, addr, var));
}

fn mentions(program: &Program, e: ExprId, var: VarId) -> bool {
    let mut found = false;
    program.exprs.visit(e, &mut Default::default(), |_, node| found |= matches!(node, Expr::Var(v) if *v == var));
    found
}
