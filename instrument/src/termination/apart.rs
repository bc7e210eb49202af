//! Context-sensitive inputs: a copy of an input function for each of its calls.
//!
//! The search for a nonterminating execution chooses values for each input of the program, and repeats the last one for
//! ever. If all inputs come from one function that wraps `__VERIFIER_nondet_int`, the program has only one input. With
//! a copy of the function for each call, each call has its own inputs.

use super::may_be_chosen;
use cfa::{CallGraph, Callee, Edge, EdgeId, FuncId, Id, Location, Op, Out, Program, VarId, VarKind};
use rustc_hash::FxHashMap;

/// The maximal number of edges of a copied function, and of all copies.
const MOST_EDGES: usize = 40;
const MOST_COPIED: usize = 4_000;

/// Gives each call of a small function with inputs its own copy of the function. One call keeps the original. The
/// executions and the order of their inputs do not change.
pub fn inputs_apart(program: &mut Program) {
    let bodies = bodies(program);
    let mut called: FxHashMap<FuncId, u32> = FxHashMap::default();
    let mut copied = 0;
    let mut next = 0;
    // The loop includes calls in copies.
    while next < program.edges.len() {
        let id = EdgeId::from_index(next);
        next += 1;
        let Op::Call { callee: Callee::Direct(func), .. } = program.edges[id].op else { continue };
        let Some(body) = bodies.get(&func) else { continue };
        let calls = called.entry(func).or_default();
        *calls += 1;
        if *calls > 1 && copied + body.len() <= MOST_COPIED {
            copied += body.len();
            let copy = copy(program, func, body);
            if let Op::Call { callee, .. } = &mut program.edges[id].op {
                *callee = Callee::Direct(copy);
            }
        }
    }
}

/// The functions to copy with their edges: small, not recursive, and leading to an input.
fn bodies(program: &Program) -> FxHashMap<FuncId, Vec<EdgeId>> {
    let calls = CallGraph::new(program);
    let mut all: FxHashMap<FuncId, Vec<EdgeId>> = FxHashMap::default();
    for id in program.edges.ids() {
        let body = all.entry(program.func_of(id)).or_default();
        if body.len() <= MOST_EDGES {
            body.push(id);
        }
    }
    all.retain(|&func, body| {
        let has_errors = body.iter().any(|&e| matches!(program.edges[e].op, Op::Error(_)));
        body.len() <= MOST_EDGES && !has_errors && !calls.is_recursive(func)
    });
    let mut found: FxHashMap<FuncId, Vec<EdgeId>> = FxHashMap::default();
    loop {
        let brings = |e: &EdgeId| match program.edges[*e].op {
            Op::Havoc { input, .. } => may_be_chosen(&program.inputs[input].kind),
            Op::Call { callee: Callee::Direct(func), .. } => found.contains_key(&func),
            _ => false,
        };
        let new: Vec<FuncId> = all.iter().filter(|(_, body)| body.iter().any(brings)).map(|(&func, _)| func).collect();
        if new.is_empty() {
            return found;
        }
        for func in new {
            found.extend(all.remove_entry(&func));
        }
    }
}

/// Copies a function.
fn copy(program: &mut Program, func: FuncId, body: &[EdgeId]) -> FuncId {
    let mut function = program.funcs[func].clone();
    let copy = program.funcs.next_id();
    let of_func: Vec<VarId> = program.vars.iter().filter(|(_, v)| v.func() == Some(func)).map(|(id, _)| id).collect();
    let mut vars: FxHashMap<VarId, VarId> = FxHashMap::default();
    for id in of_func {
        let mut var = program.vars[id].clone();
        match &mut var.kind {
            VarKind::Local(f) | VarKind::Param(f) | VarKind::Temp(f) => *f = copy,
            VarKind::Global { .. } => unreachable!("a variable of a function"),
        }
        vars.insert(id, program.vars.push(var));
    }
    let own = |var: VarId| vars.get(&var).copied().unwrap_or(var);
    let mut values = FxHashMap::default();
    for (&from, &to) in &vars {
        let (from, to) = (program.var_expr(from), program.var_expr(to));
        values.insert(from, to);
    }
    let mut locs = FxHashMap::default();
    let mut loc = |program: &mut Program, at| {
        *locs.entry(at).or_insert_with(|| program.locs.push(Location { func: copy, out: Out::Sink }))
    };
    function.entry = loc(program, function.entry);
    function.params.iter_mut().for_each(|var| *var = own(*var));
    function.varargs = function.varargs.map(own);
    program.funcs.push(function);
    let mut edges = FxHashMap::default();
    let mut memo = FxHashMap::default();
    for &id in body {
        let Edge { source, op, target, place, fault, origin } = program.edges[id].clone();
        let mut op = op;
        op.for_each_expr_mut(|e| *e = program.exprs.substitute(*e, &mut memo, |_, leaf| values.get(&leaf).copied()));
        if let Some(var) = op.def_mut() {
            *var = own(*var);
        }
        if let Op::Havoc { input, .. } = &mut op {
            *input = program.inputs.push(program.inputs[*input].clone());
        }
        let (source, target) = (loc(program, source), loc(program, target));
        edges.insert(id, program.edges.push(Edge { source, op, target, place, fault, origin }));
    }
    for (from, to) in locs {
        program.locs[to].out = match program.locs[from].out {
            Out::Sink => Out::Sink,
            Out::One(edge) => Out::One(edges[&edge]),
            Out::Branch { then_edge, else_edge } => {
                Out::Branch { then_edge: edges[&then_edge], else_edge: edges[&else_edge] }
            }
        };
    }
    copy
}
