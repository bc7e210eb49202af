//! Whether a proof says anything: the question that is put after TRUE.

use cfa::callgraph::CallGraph;
use cfa::graph::Predecessors;
use cfa::{Check, Edge, EdgeId, ErrorInfo, FunctionOrigin, HaltKind, LocId, Op, Out, Program, Table};
use std::collections::BTreeSet;

/// What ends runs in tasks of SV-COMP that do not satisfy an assumption.
const ASSUMPTION: &str = "assume_abort_if_not";

/// Whether control may come from the program's start to an error, as far as calls say.
pub fn has_checks(program: &Program) -> bool {
    let calls = CallGraph::new(program);
    let checks = |edge: &Edge| edge.fault.is_some() || matches!(edge.op, Op::Error(_));
    program.edges.iter().any(|(id, edge)| checks(edge) && calls.is_reachable(program.func_of(id)))
}

/// The program with other errors: a run ends otherwise than at an assumption, can no longer end, or comes to a condition on which an error
/// of the program depends. If none of them can be reached, the assumptions contradict each other before anything was
/// checked. `None` if the program assumes nothing.
pub fn signs_of_life(program: &Program) -> Option<Program> {
    let is_assumption =
        |id: EdgeId, kind: HaltKind| kind == HaltKind::Assumed || program.funcs[program.func_of(id)].name == ASSUMPTION;
    let assumes = program.edges.iter().any(|(id, edge)| {
        let of_user = program.funcs[program.func_of(id)].origin == FunctionOrigin::Source;
        of_user && matches!(edge.op, Op::Halt(kind) if is_assumption(id, kind))
    });
    if !assumes {
        return None;
    }
    let mut asked = program.clone();
    asked.errors = Table::new();
    let sign = ErrorInfo { check: Check::Call, message: "a sign of life".into(), place: None };
    let sign = asked.errors.push(sign);
    for (id, edge) in program.edges.iter() {
        // Where an operation may be a fault, it is checked.
        let checks = edge.fault.is_some() || matches!(edge.op, Op::Error(_));
        asked.edges[id].fault = None;
        if checks || matches!(edge.op, Op::Halt(kind) if !is_assumption(id, kind)) {
            asked.edges[id].op = Op::Error(sign);
        }
    }
    let mut signs = conditions(program);
    signs.extend(endless(program));
    for loc in signs {
        let (found, sink) = (asked.add_location(asked.locs[loc].func), asked.add_location(asked.locs[loc].func));
        asked.add_edge(found, Op::Error(sign), sink, None);
        match program.locs[loc].out {
            Out::Sink => drop(asked.add_edge(loc, Op::Skip, found, None)),
            _ => program.out_edges(loc).for_each(|edge| asked.edges[edge].target = found),
        }
    }
    Some(asked)
}

/// The branches one side of which leads to an error without further branches.
fn conditions(program: &Program) -> BTreeSet<LocId> {
    let predecessors = Predecessors::new(program);
    let calls = CallGraph::new(program);
    let errors = program.edges.iter().filter(|(_, edge)| matches!(edge.op, Op::Error(_)));
    let mut todo: Vec<LocId> = errors.map(|(_, edge)| edge.source).collect();
    let mut seen: BTreeSet<LocId> = todo.iter().copied().collect();
    let mut found = BTreeSet::new();
    while let Some(loc) = todo.pop() {
        let func = program.locs[loc].func;
        let from_callers = calls.callers(func).filter(|_| program.funcs[func].entry == loc);
        for edge in predecessors.of(loc).iter().copied().chain(from_callers) {
            let edge = &program.edges[edge];
            if matches!(edge.op, Op::Assume { .. }) {
                found.insert(edge.source);
            } else if seen.insert(edge.source) {
                todo.push(edge.source);
            }
        }
    }
    found
}

/// The locations from which no end of their function can be reached: in loops without end, and where a slice lacks them.
fn endless(program: &Program) -> Vec<LocId> {
    let ends = |op: &Op| matches!(op, Op::Halt(_) | Op::Error(_) | Op::Return { .. });
    let predecessors = Predecessors::new(program);
    let mut can_end = Table::filled(false, program.locs.len());
    let mut todo = Vec::new();
    for edge in program.edges.values().filter(|edge| ends(&edge.op)) {
        can_end[edge.target] = true;
        todo.push(edge.target);
    }
    while let Some(loc) = todo.pop() {
        for &edge in predecessors.of(loc) {
            let source = program.edges[edge].source;
            if !std::mem::replace(&mut can_end[source], true) {
                todo.push(source);
            }
        }
    }
    let is_used = |loc: LocId| program.locs[loc].out != Out::Sink || !predecessors.of(loc).is_empty();
    program.locs.ids().filter(|&loc| !can_end[loc] && is_used(loc)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `__start` calls `main`, which assumes that `v0` is 3 and then that it is `second`; `main` may call `fail`, which
    /// is the error, if `v0` is 4.
    fn program(second: u32) -> Program {
        let text = format!(
            "program 64 entry f0\ntype ty0 void\ntype ty1 int \"int\" 32 signed\n\
             input in0 nondet \"n\" ty1 32\nvar v0 \"x\" ty1 32 = 0:32\n\
             func f0 \"__start\" source ty0 () entry l0 {{\n  l0:\n    t0: v0 := havoc in0 -> l1\n\
             l1:\n    t1: if (v0 == 3:32) -> l2\n    t2: else ~(v0 == 3:32) -> l9\n\
             l2:\n    t3: if (v0 == {second}:32) -> l3\n    t4: else ~(v0 == {second}:32) -> l9\n\
             l3:\n    t5: if (v0 == 4:32) -> l4\n    t6: else ~(v0 == 4:32) -> l5\n\
             l4:\n    t7: call fail.f1 () -> l5\n  l5:\n    t8: halt exit 0:32 -> l6\n  l6:\n\
             l9:\n    t9: halt assumed -> l10\n  l10:\n}}\n\
             func f1 \"fail\" source ty0 () entry l7 {{\n  l7:\n    t10: halt abort -> l8\n  l8:\n}}\n"
        );
        let mut program = cfa::text::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        crate::unreach_call(&mut program, &["fail".to_owned()]);
        program
    }

    #[test]
    fn ends_and_conditions_of_checks_are_asked_for() {
        let program = program(5);
        assert!(has_checks(&program));
        assert_eq!(conditions(&program).len(), 1);
        let asked = signs_of_life(&program).unwrap();
        cfa::validate::validate(&asked).unwrap();
        let errors = |p: &Program| p.edges.values().filter(|e| matches!(e.op, Op::Error(_))).count();
        // The end of the program, the error (and what is behind it), the condition in front of it.
        assert_eq!((errors(&program), errors(&asked)), (1, 4));
    }

    #[test]
    fn what_assumes_nothing_needs_no_question() {
        let mut program = program(5);
        for edge in program.edges.iter_mut().map(|(_, e)| e).filter(|e| e.op == Op::Halt(HaltKind::Assumed)) {
            edge.op = Op::Halt(HaltKind::Abort);
        }
        assert!(signs_of_life(&program).is_none());
    }
}
