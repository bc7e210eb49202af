//! Inlines functions that only compute: their result is an expression over their parameters and global variables.

use super::{only_edge, substituted};
use cfa::{Callee, EdgeId, ExprId, FuncId, Op, Program, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Largest number of edges of such a function, and largest size of its result.
const MOST_EDGES: usize = 20;
const MOST_SIZE: usize = 60;
/// Largest depth of such functions that call each other.
const ROUNDS: usize = 4;

/// Replaces calls by assignments if the callee only assigns to its own variables and returns. Edges keep their ids.
pub fn inline(program: &mut Program) {
    let mut known: FxHashMap<FuncId, ExprId> = FxHashMap::default();
    for _ in 0..ROUNDS {
        let unknown: Vec<FuncId> = program.funcs.ids().filter(|func| !known.contains_key(func)).collect();
        let before = known.len();
        known.extend(unknown.into_iter().filter_map(|func| Some((func, result_of(program, func)?))));
        if known.len() == before {
            return;
        }
        for edge in program.edges.ids().collect::<Vec<_>>() {
            if let Some(op) = assignment(program, edge, &known) {
                program.edges[edge].op = op;
            }
        }
    }
}

/// The result of a function over its parameters and global variables, if the function has no other effect.
fn result_of(program: &mut Program, func: FuncId) -> Option<ExprId> {
    let mut values = FxHashMap::default();
    let mut at = program.funcs[func].entry;
    for _ in 0..MOST_EDGES {
        let edge = &program.edges[only_edge(program, at)?];
        let (target, fault) = (edge.target, edge.fault);
        match edge.op {
            _ if fault.is_some() => return None,
            Op::Skip => {}
            Op::Assign { var, .. } if program.vars[var].func() != Some(func) => return None,
            Op::Assign { var, value } => {
                let value = substituted(program, value, &values);
                values.insert(var, small(program, value)?);
            }
            Op::Return { value: Some(value) } => {
                let value = substituted(program, value, &values);
                // An uninitialized variable has an arbitrary value, which may differ between calls.
                let params = &program.funcs[func].params;
                let is_known =
                    |v: &VarId| params.contains(v) || matches!(program.vars[*v].kind, VarKind::Global { .. });
                return small(program, value).filter(|_| program.exprs.vars(value).iter().all(is_known));
            }
            _ => return None,
        }
        at = target;
    }
    None
}

fn small(program: &Program, e: ExprId) -> Option<ExprId> {
    let mut size = 0;
    program.exprs.visit(e, &mut FxHashSet::default(), |_, _| size += 1);
    (size <= MOST_SIZE).then_some(e)
}

/// The assignment that is equivalent to a call, if there is one.
fn assignment(program: &mut Program, edge: EdgeId, known: &FxHashMap<FuncId, ExprId>) -> Option<Op> {
    let Op::Call { callee: Callee::Direct(func), ref args, varargs: None, result } = program.edges[edge].op else {
        return None;
    };
    let (&given, function) = (known.get(&func)?, &program.funcs[func]);
    // In K&R C, the widths of arguments and parameters may differ. Such calls convert their arguments.
    let fits = |(&param, &arg): (&VarId, &ExprId)| program.vars[param].width == program.exprs.width(arg);
    let fit = args.len() >= function.params.len() && function.params.iter().zip(args).all(fits);
    if program.edges[edge].fault.is_some() || !fit {
        return None;
    }
    let Some(var) = result else { return Some(Op::Skip) };
    if program.vars[var].width != program.exprs.width(given) {
        return None;
    }
    let values: FxHashMap<VarId, ExprId> = function.params.iter().copied().zip(args.iter().copied()).collect();
    Some(Op::Assign { var, value: substituted(program, given, &values) })
}
