//! Loops in which a variable never takes the same value twice.

use super::{Cycles, error_if, place_of};
use cfa::{
    Bv, CType, CallGraph, Edge, EdgeId, Family, FuncId, HaltKind, Id, Input, InputKind, Op, Program, Var, VarId,
    VarKind,
};
use rustc_hash::FxHashSet;

impl Cycles {
    /// Makes it an error if `var` has a value at an iteration that it had at an earlier iteration since the same entry
    /// of the loop. If the error is unreachable, the loop terminates, because a variable has finitely many values. A
    /// nondeterministic choice records one of the earlier values (Biere, Artho, Schuppan: Liveness checking as safety
    /// checking, FMICS 2002; here for one variable). `number` is the index of the loop. Returns the error edges, or
    /// none if the check does not apply.
    ///
    /// An analysis may represent addresses of arbitrarily many objects as distinct values. The check therefore requires
    /// that the loop allocates nothing. After a value is recorded, `free` has no effect, so that the addresses of freed
    /// objects are not reused. This could change the behaviour only after the loop, where executions with a recorded
    /// value end. Executions without a recorded value continue.
    pub fn check_values_are_new(&self, program: &mut Program, number: usize, var: VarId) -> Vec<EdgeId> {
        let l = &self.loops[number];
        if self.unclear.is_some() || self.recursions.iter().any(|r| r.funcs.contains(&l.func)) {
            return Vec::new();
        }
        if !makes_no_object(program, l.body.iter().flat_map(|&loc| program.out_edges(loc)).collect()) {
            return Vec::new();
        }
        let place = place_of(program, l);
        let width = program.vars[var].width;
        let bit = program.types.push(CType::Bool);
        let zero = |program: &mut Program, width| program.exprs.constant(Bv::zero(width));
        let global = |program: &mut Program, ty, width| {
            let init = Some(zero(program, width));
            program.vars.push(Var {
                name: None,
                ty,
                width,
                kind: VarKind::Global { init, is_static: true },
                place: None,
            })
        };
        let is_recorded = global(program, bit, 1);
        let recorded = global(program, program.vars[var].ty, width);
        let choice = program.vars.push(Var { name: None, ty: bit, width: 1, kind: VarKind::Temp(l.func), place: None });
        let kind = InputKind::Nondet("__VERIFIER_nondet_bool".to_owned());
        let input = program.inputs.push(Input { kind, ty: bit, width: 1, place });
        let [flag, chosen, was, is] = [is_recorded, choice, recorded, var].map(|v| program.var_expr(v));
        let one = program.exprs.constant(Bv::ones(1));

        let mut leaving: Vec<EdgeId> = l.body.iter().flat_map(|&loc| program.out_edges(loc)).collect();
        leaving.retain(|&e| !l.body.contains(&program.edges[e].target));
        leaving.sort_unstable();

        // Each iteration starts with a comparison of the variable with the recorded value, and may record its value.
        let start = program.detach(l.iteration);
        let [compare, choose, decide, record, mark, on] = [(); 6].map(|()| program.add_location(l.func));
        program.add_branch(start, flag, compare, choose, place);
        let again = program.exprs.eq(was, is);
        let message = "a value recurs at the loop".to_owned();
        let (_, error, new) = error_if(program, compare, l.func, again, message, place);
        program.add_edge(new, Op::Skip, on, place);
        program.add_edge(choose, Op::Havoc { var: choice, input }, decide, place);
        program.add_branch(decide, chosen, record, on, place);
        program.add_edge(record, Op::Assign { var: recorded, value: is }, mark, place);
        program.add_edge(mark, Op::Assign { var: is_recorded, value: one }, on, place);
        program.attach(l.iteration, on);

        // An execution that leaves the loop after it has recorded a value ends.
        for edge in leaving {
            let Edge { target, place, .. } = program.edges[edge];
            let [between, end, sink] = [(); 3].map(|()| program.add_location(l.func));
            program.edges[edge].target = between;
            program.add_branch(between, flag, end, target, place);
            program.add_edge(end, Op::Halt(HaltKind::Assumed), sink, place);
        }

        for edge in program.edges.ids() {
            if matches!(program.edges[edge].op, Op::Free { family, .. } if family != Family::Scope) {
                let Edge { target, place, .. } = program.edges[edge];
                let free = program.add_location(program.func_of(edge));
                let source = program.detach(edge);
                program.add_branch(source, flag, target, free, place);
                program.attach(edge, free);
            }
        }
        vec![error]
    }
}

/// True if the edges and their callees neither allocate objects nor query which object an address is in.
fn makes_no_object(program: &Program, own: Vec<EdgeId>) -> bool {
    let calls = CallGraph::new(program);
    let mut by_func: Vec<Vec<EdgeId>> = vec![Vec::new(); program.funcs.len()];
    program.edges.ids().for_each(|e| by_func[program.func_of(e).index()].push(e));
    let mut seen: FxHashSet<FuncId> = FxHashSet::default();
    let mut todo = own;
    while let Some(edge) = todo.pop() {
        match program.edges[edge].op {
            Op::Alloc { .. } | Op::ObjectOffset { .. } => return false,
            Op::Call { .. } => {
                for &func in calls.callees(program, edge).as_slice() {
                    if seen.insert(func) {
                        todo.extend(&by_func[func.index()]);
                    }
                }
            }
            _ => {}
        }
    }
    true
}
