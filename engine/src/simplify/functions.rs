//! Functions that only compute, in line: what they give as an expression over what they are given.

use super::{only_edge, substituted};
use cfa::{Callee, EdgeId, ExprId, FuncId, Op, Program, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Edges of such a function, and operators of what it gives.
const MOST_EDGES: usize = 20;
const MOST_SIZE: usize = 60;
/// Functions that call functions that call such functions.
const ROUNDS: usize = 4;

/// Makes assignments of calls whose callee assigns to its own variables and returns, and does nothing else. Edges keep their numbers.
pub fn inline(program: &mut Program) {
    let mut known: FxHashMap<FuncId, ExprId> = FxHashMap::default();
    for _ in 0..ROUNDS {
        let unknown: Vec<FuncId> = program.funcs.ids().filter(|func| !known.contains_key(func)).collect();
        let before = known.len();
        known.extend(unknown.into_iter().filter_map(|func| Some((func, given(program, func)?))));
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

/// What a function gives, over its parameters and global variables, if it does nothing else.
fn given(program: &mut Program, func: FuncId) -> Option<ExprId> {
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
                // What was never assigned to is any value, and not the same at each call.
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

/// What a call does, if that is an assignment.
fn assignment(program: &mut Program, edge: EdgeId, known: &FxHashMap<FuncId, ExprId>) -> Option<Op> {
    let Op::Call { callee: Callee::Direct(func), ref args, varargs: None, result } = program.edges[edge].op else {
        return None;
    };
    let (&given, function) = (known.get(&func)?, &program.funcs[func]);
    // Old C calls functions with arguments of other widths, which are fitted at the call.
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
