//! Predicates as invariant candidates for another analysis.

use super::*;
use cfa::DataLayout;

#[test]
fn predicates_are_suggested_once_and_without_memory() {
    let mut program = Program::new(DataLayout { pointer_width: 64 });
    let ty = program.funcs[program.entry].return_type;
    let kind = VarKind::Local(program.entry);
    let x = program.vars.push(cfa::Var { name: Some("x".into()), ty, width: 32, kind, place: None });
    let solvers = Choice::default();
    let domain =
        || SymbolicExecution::new(&program, PathSolver::new(solvers.open(), Budget::unlimited()), solvers.clone());
    let how = Options {
        values_only: false,
        full: false,
        numbers: false,
        sharing: Sharing::Scope,
        threshold: 0,
        values: false,
        predicates: true,
        boolean: false,
        folds: false,
    };
    let (mut finder, mut prover) = (Tracking::new(domain(), how), domain());
    // Make the ids of the two pools differ.
    for i in 100..110 {
        finder.symbolic.execution.terms.int(32, i);
    }
    let (var, seven) = (finder.symbolic.execution.terms.var(x, 32), finder.symbolic.execution.terms.int(32, 7));
    let plain = finder.symbolic.execution.terms.ule(var, seven);
    let place = ByteRange { origin: Origin::Global(GlobalId(0)), offset: 0, len: 4 };
    let content = finder.predicate.place_symbol(&mut finder.symbolic.execution, place);
    let about_memory = finder.symbolic.execution.terms.ule(var, content);
    finder.predicate.precision_mut().add(Some(program.entry), None, plain);
    finder.predicate.precision_mut().add(Some(program.entry), None, about_memory);
    // The contents of memory after `calloc` and one write.
    let zeros = finder.symbolic.execution.terms.const_array(32, seven);
    let array = finder.symbolic.execution.terms.store(zeros, seven, var);
    let element = finder.symbolic.execution.terms.select(array, var);
    let about_array = finder.symbolic.execution.terms.ule(var, element);
    finder.predicate.precision_mut().add(Some(program.entry), None, about_array);
    for _ in 0..2 {
        finder.predicate.suggest_invariants(&finder.symbolic.execution.terms, &mut prover.loops);
    }
    let (pool, suggested) = &prover.loops.suggested;
    assert_eq!(suggested.len(), 1);
    assert_eq!(
        cfa::text::c_expr(&program, pool, suggested[0]),
        cfa::text::c_expr(&program, &finder.symbolic.execution.terms, plain)
    );
}
