//! Functions that bring inputs, apart: a body for each call.
//!
//! Who looks for an execution without end chooses values for each input of the program, one of which stays for ever. A program whose inputs all come
//! from one function that wraps `__VERIFIER_nondet_int` has one input only. With a copy of such a function for each call, each call has inputs of
//! its own.

use super::may_be_chosen;
use cfa::{CallGraph, Callee, Edge, EdgeId, FuncId, Id, Location, Op, Out, Program, VarId, VarKind};
use rustc_hash::FxHashMap;

/// Edges of a function that is copied, and of all copies.
const MOST_EDGES: usize = 40;
const MOST_COPIED: usize = 4_000;

/// Gives calls of small functions with inputs that may be chosen bodies of their own; one call keeps the one that there is. What
/// executions there are, and the order in which they ask for inputs, does not change.
pub fn inputs_apart(program: &mut Program) {
    let bodies = bodies(program);
    let mut called: FxHashMap<FuncId, u32> = FxHashMap::default();
    let mut copied = 0;
    let mut next = 0;
    // Calls in copies come to their turn, too.
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

/// The functions that are copied, with their edges: small ones that lead to an input, and not to themselves.
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

/// The same function once more.
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
