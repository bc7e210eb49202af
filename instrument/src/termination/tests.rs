use super::*;
use cfa::interp::{Inputs, Interpreter, Limits, Outcome};

/// ```c
/// char x = nondet(), y;
/// while (x > 0) { y = x; while (y > 0) y--; x = x - 1 or, with 3 taken off below 3, less }
/// ```
fn nested(step: &str) -> Program {
    let text = format!(
        "program 64 entry f0\nfile file0 \"a.c\"\nplace p0 file0:3:9\ntype ty0 void\n\
         type ty1 int \"char\" 8 signed\ninput in0 nondet \"__VERIFIER_nondet_char\" ty1 8 @p0\n\n\
         func f0 \"main\" source ty0 () entry l0 {{\n  local v0 \"x\" ty1 8\n  local v1 \"y\" ty1 8\n  \
         l0:\n    t0: v0 := havoc in0 -> l1\n  l1:\n    t1: if (0:8 <s v0) -> l2 @p0\n    t2: else (v0 <=s 0:8) -> l6\n  \
         l2:\n    t3: v1 := v0 -> l3\n  l3:\n    t4: if (0:8 <s v1) -> l4\n    t5: else (v1 <=s 0:8) -> l5\n  \
         l4:\n    t6: v1 := (v1 + -1:8) -> l3\n  l5:\n    t7: v0 := {step} -> l1\n  \
         l6:\n    t8: halt abort -> l7\n  l7:\n}}\n"
    );
    cfa::text::parse(&text).unwrap()
}

fn run(program: &Program, x: u64) -> Outcome {
    let inputs = Inputs { values: vec![cfa::Bv::new(8, x)], ..Inputs::default() };
    let limits = Limits { steps: 100_000, ..Limits::default() };
    Interpreter::new(program).run(&mut inputs.source(), limits, &mut ()).outcome
}

#[test]
fn loops_are_cut_behind_their_conditions() {
    let mut program = nested("(v0 + -1:8)");
    let edges = program.edges.len();
    let cycles = Cycles::mark(&mut program);
    assert!(cycles.recursions.is_empty() && cycles.unclear.is_none());
    let [outer, inner] = &cycles.loops[..] else { panic!("two loops") };
    assert_eq!((outer.head, inner.head), (LocId(1), LocId(3)));
    assert!(inner.body.is_subset(&outer.body));
    // The conditions lead to the iteration edges. The successors of a condition become the successors of its iteration
    // edge.
    for (l, condition, next) in [(outer, EdgeId(1), EdgeId(3)), (inner, EdgeId(4), EdgeId(6))] {
        assert_eq!(program.edges[condition].target, program.edges[l.iteration].source);
        assert_eq!(program.edges[next].source, program.edges[l.iteration].target);
        assert_eq!(l.enters.len(), 1);
    }
    assert!(program.edges.iter().skip(edges).all(|(_, e)| e.op == Op::Skip));
    assert_eq!(place_of(&program, outer), Some(PlaceId(0)));
    assert_eq!(run(&program, 100), Outcome::Abort);
}

/// The check fails in exactly the runs in which the tuple does not decrease.
#[test]
fn a_check_fails_where_the_tuple_does_not_get_smaller() {
    let ranked = |step: &str, loop_number: usize, tuple: &[VarId]| {
        let mut program = nested(step);
        let cycles = Cycles::mark(&mut program);
        let tuple: Vec<Component> =
            tuple.iter().map(|&v| Component { value: program.var_expr(v), floor: None }).collect();
        let errors = cycles.check_loop(&mut program, loop_number, &tuple, &[]);
        assert_eq!(errors.len(), tuple.len() + 1);
        program
    };
    let (x, y) = (VarId(0), VarId(1));
    let down = ranked("(v0 + -1:8)", 0, &[x]);
    let inner = ranked("(v0 + -1:8)", 1, &[y]);
    let wrong = ranked("(v0 + -1:8)", 1, &[x]);
    let none = ranked("(v0 + -1:8)", 0, &[]);
    let pair = ranked("(v0 + -1:8)", 1, &[x, y]);
    for x in 0..128 {
        assert_eq!(run(&down, x), Outcome::Abort);
        assert_eq!(run(&inner, x), Outcome::Abort);
        assert_eq!(run(&pair, x), Outcome::Abort);
        // Both loops have a second iteration if x is at least 2.
        assert_eq!(matches!(run(&wrong, x), Outcome::Error(..)), x >= 2);
        assert_eq!(matches!(run(&none, x), Outcome::Error(..)), x >= 2);
    }
    // A value that wraps around does not decrease: 3 * 50 is negative, 3 * 100 is 44.
    let up = ranked("(v0 * 3:8)", 0, &[x]);
    assert_eq!(run(&up, 50), Outcome::Abort);
    let Outcome::Error(error, _) = run(&up, 10) else { panic!("10 grows to 30") };
    assert_eq!(up.errors[error].check, Check::Termination);
    assert!(matches!(run(&up, 100), Outcome::Error(..) | Outcome::Abort));
}

#[test]
fn the_turn_counted_is_the_one_that_is_stopped() {
    let mut program = nested("(v0 + -1:8)");
    let cycles = Cycles::mark(&mut program);
    // The inner loop has 3 + 2 iterations before x is 1.
    let error = stop_at_iteration(&mut program, &cycles.loops[1], 5, None);
    assert_eq!(run(&program, 2), Outcome::Abort);
    assert!(matches!(run(&program, 3), Outcome::Error(hit, _) if hit == error));
}

#[test]
fn ends_are_errors_with_fixed_inputs() {
    let mut program = nested("(v0 + 0:8)");
    fix_inputs(&mut program, &|_, width| Some(vec![cfa::Bv::new(width, 7)]));
    ends_are_errors(&mut program);
    assert_eq!(run(&program, 0), Outcome::Limit(cfa::interp::LimitKind::Endless));
    let mut program = nested("(v0 + -1:8)");
    let error = ends_are_errors(&mut program);
    assert!(matches!(run(&program, 0), Outcome::Error(hit, _) if hit == error));
}

/// Whichever value is recorded, the error is reachable if and only if a value recurs before the loop is left.
#[test]
fn a_value_that_comes_again_is_an_error() {
    let fails = |step: &str, number: usize, var: u32, x: u64| {
        let mut program = nested(step);
        let cycles = Cycles::mark(&mut program);
        let errors = cycles.check_values_are_new(&mut program, number, VarId(var));
        assert_eq!(errors.len(), 1);
        cfa::validate::validate(&program).unwrap();
        (0..20).any(|before| {
            let bits = (0..20).map(|i| cfa::Bv::new(1, u64::from(i == before)));
            let values = [cfa::Bv::new(8, x)].into_iter().chain(bits).collect();
            let inputs = Inputs { values, ..Inputs::default() };
            let limits = Limits { steps: 10_000, ..Limits::default() };
            let outcome = Interpreter::new(&program).run(&mut inputs.source(), limits, &mut ()).outcome;
            matches!(outcome, Outcome::Error(..))
        })
    };
    // x decreases. y decreases after each entry of the inner loop.
    assert!(!fails("(v0 + -1:8)", 0, 0, 5) && !fails("(v0 + -1:8)", 1, 1, 5));
    // x changes only in the other loop.
    assert!(fails("(v0 + -1:8)", 1, 0, 5));
    // x alternates, at the second iteration or later.
    assert!(fails("(5:8 - v0)", 0, 0, 2) && !fails("(5:8 - v0)", 0, 0, 5));
}

/// Each allocation returns a new address, so an address never recurs.
#[test]
fn no_value_is_new_where_objects_are_made() {
    let text = |op: &str| {
        format!(
            "program 64 entry f0\ntype ty0 void\n\nfunc f0 \"main\" source ty0 () entry l0 {{\n  \
             local v0 \"p\" ty0 64\n  l0:\n    t0: v0 := 1:64 -> l1\n  \
             l1:\n    t1: if (0:64 <u v0) -> l2\n    t2: else (v0 <=u 0:64) -> l3\n  \
             l2:\n    t3: {op} -> l1\n  l3:\n    t4: halt abort -> l4\n  l4:\n}}\n"
        )
    };
    for (op, checks) in [("v0 := (v0 + -1:64)", 1), ("v0 := alloc heap malloc 8:64 align 8", 0)] {
        let mut program = cfa::text::parse(&text(op)).unwrap();
        let cycles = Cycles::mark(&mut program);
        assert_eq!(cycles.check_values_are_new(&mut program, 0, VarId(0)).len(), checks, "{op}");
    }
}

#[test]
fn a_recursion_is_checked_at_its_calls() {
    // f(n) { if (n > 0) f(n - 1); } and the same with n + 1.
    for (step, ends) in [("(v0 + -1:8)", true), ("(v0 + 1:8)", false)] {
        let text = format!(
            "program 64 entry f0\ntype ty0 void\ntype ty1 int \"char\" 8 signed\n\n\
             func f0 \"main\" source ty0 () entry l0 {{\n  l0:\n    t0: call f1 (9:8) -> l1\n  l1:\n    t1: halt abort -> l2\n  l2:\n}}\n\n\
             func f1 \"f\" source ty0 (v0) entry l3 {{\n  param v0 \"n\" ty1 8\n  l3:\n    t2: if (0:8 <s v0) -> l4\n    t3: else (v0 <=s 0:8) -> l5\n  \
             l4:\n    t4: call f1 ({step}) -> l5\n  l5:\n    t5: return -> l6\n  l6:\n}}\n"
        );
        let mut program = cfa::text::parse(&text).unwrap();
        let cycles = Cycles::mark(&mut program);
        assert_eq!(cycles.recursions[0].calls, [EdgeId(4)]);
        let n = Component { value: program.var_expr(VarId(0)), floor: None };
        let errors = cycles.check_recursion(&mut program, 0, &FxHashMap::from_iter([(FuncId(1), vec![n])]));
        assert_eq!(errors.len(), 2);
        assert_eq!(run(&program, 0) == Outcome::Abort, ends);
    }
}

/// main: x = g(); y = f(); if (x < y) exit(1), else abort; f: return nondet; g: return f() + 1.
const TWO_CALLS: &str = "program 64 entry f0\ntype ty0 void\ntype ty1 int \"char\" 8 signed\n\
         input in0 nondet \"__VERIFIER_nondet_char\" ty1 8\n\n\
         func f0 \"main\" source ty0 () entry l0 {\n  local v0 \"x\" ty1 8\n  local v1 \"y\" ty1 8\n  \
         l0:\n    t0: v0 := call f2 () -> l1\n  l1:\n    t1: v1 := call f1 () -> l2\n  \
         l2:\n    t2: if (v0 <s v1) -> l3\n    t3: else (v1 <=s v0) -> l4\n  \
         l3:\n    t4: halt exit 1:32 -> l5\n  l4:\n    t5: halt abort -> l6\n  l5:\n  l6:\n}\n\n\
         func f1 \"f\" source ty1 8 () entry l7 {\n  local v2 \"r\" ty1 8\n  \
         l7:\n    t6: v2 := havoc in0 -> l8\n  l8:\n    t7: return v2 -> l9\n  l9:\n}\n\n\
         func f2 \"g\" source ty1 8 () entry l10 {\n  local v3 \"s\" ty1 8\n  \
         l10:\n    t8: v3 := call f1 () -> l11\n  l11:\n    t9: return (v3 + 1:8) -> l12\n  l12:\n}\n";

/// Each value is taken once, and the last one repeatedly.
#[test]
fn inputs_are_fixed_to_values_in_order() {
    for (values, outcome) in [(&[3, 9][..], Outcome::Exit(1)), (&[3], Outcome::Abort), (&[9, 3, 20], Outcome::Abort)] {
        let mut program = cfa::text::parse(TWO_CALLS).unwrap();
        fix_inputs(&mut program, &|_, width| Some(values.iter().map(|&v| cfa::Bv::new(width, v)).collect()));
        cfa::validate::validate(&program).unwrap();
        assert_eq!(
            Interpreter::new(&program).run(&mut Inputs::default().source(), Limits::default(), &mut ()).outcome,
            outcome
        );
    }
}

/// Each call has its own input, in the same order, also through a wrapper of the input function.
#[test]
fn inputs_apart_are_asked_for_in_the_same_order() {
    let program = cfa::text::parse(TWO_CALLS).unwrap();
    let mut apart = program.clone();
    inputs_apart(&mut apart);
    assert_eq!((program.inputs.len(), apart.inputs.len()), (1, 2));
    cfa::validate::validate(&apart).unwrap();
    let run = |program: &Program, values: [u64; 2]| {
        let inputs = Inputs { values: values.map(|v| cfa::Bv::new(8, v)).into(), ..Inputs::default() };
        Interpreter::new(program).run(&mut inputs.source(), Limits::default(), &mut ()).outcome
    };
    for x in 0..4 {
        for y in 0..4 {
            let outcome = run(&apart, [x, y]);
            assert_eq!(outcome, run(&program, [x, y]));
            assert_eq!(outcome == Outcome::Exit(1), x + 1 < y, "{x} {y}");
        }
    }
}
