//! Tests the slicing CPA around each analysis: which operations it omits, and that it loses no error.

use cfa::interp::Inputs;
use cfa::{EdgeId, Op, Program};
use engine::budget::Budget;
use engine::{Analysis, Config, Outcome, Verdict, replay, verify};
use std::time::Duration;

const PATH: [&str; 4] = ["symex-slicing", "symex-cegar-slicing", "value-slicing", "predicate-slicing"];
const LOCATION: [&str; 4] =
    ["symex-slicing-location", "symex-cegar-slicing-location", "value-slicing-location", "predicate-slicing-location"];

/// A program with one function and 32-bit variables.
fn program(variables: &[&str], errors: usize, edges: &str) -> Program {
    let mut text = String::from("program 64 entry f0\ntype ty0 void\ntype ty1 int \"int\" 32 signed\n");
    (0..errors).for_each(|i| text += &format!("error err{i} \"unreach-call\" \"m\"\n"));
    text += "input in0 nondet \"__VERIFIER_nondet_int\" ty1 32\n";
    text += "\nfunc f0 \"main\" source ty0 () entry l0 {\n";
    variables.iter().enumerate().for_each(|(i, name)| text += &format!("  local v{i} \"{name}\" ty1 32\n"));
    text += edges;
    text += "}\n";
    cfa::text::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

fn run(p: &Program, name: &str) -> Outcome {
    let analysis = Analysis::parse(name).expect("an analysis");
    let confirm =
        |inputs: &Inputs, error| replay(p, inputs, error, Duration::from_secs(9)).map(|path| (inputs.clone(), path));
    let config = Config { analysis, ..Config::default() };
    verify(p, &config, &Budget::lasting(Duration::from_secs(20)), &confirm, &|_| {})
}

/// Figure 21 of Lemberger's thesis (see `domain::slicing`): `x` is never negative, and its sign does not affect the
/// error.
fn figure(error: &str) -> Program {
    program(
        &["x", "y"],
        1,
        &format!(
            "  l0:
    t0: v0 := 0:32 -> l1
  l1:
    t1: v1 := havoc in0 -> l2
  l2:
    t2: if (v0 <s 0:32) -> l3
    t3: else (0:32 <=s v0) -> l4
  l3:
    t4: v0 := 1:32 -> l4
  l4:
    t5: if {error} -> l5
    t6: else ~{error} -> l6
  l5:
    t7: error err0 -> l7
  l6:
    t8: halt exit 0:32 -> l7
  l7:
"
        ),
    )
}

#[test]
fn the_sliced_path_is_a_counterexample_of_another() {
    let p = figure("(v1 == 42:32)");
    for analysis in PATH.into_iter().chain(LOCATION) {
        let outcome = run(&p, analysis);
        let Verdict::False(found) = outcome.verdict else { panic!("{}: {:?}", analysis, outcome.verdict) };
        assert_eq!(found.inputs.values[0].to_u64(), Some(42), "{}", analysis);
        assert!(found.path.contains(&EdgeId(3)), "{}: the path is one of the program", analysis);
    }
    // In depth-first order, the first path to the error is feasible in the slice but not in the program.
    for (path, location) in PATH.into_iter().zip(LOCATION) {
        let refinements = |analysis| run(&p, analysis).stats.exploration.refinements;
        assert_eq!((refinements(path), refinements(location)), (1, 0), "{}", path);
    }
}

#[test]
fn what_the_slice_reaches_and_the_program_does_not_is_refuted() {
    // The error is on the side of the branch that is never taken.
    let p = figure("(v0 == 1:32)");
    for analysis in PATH.into_iter().chain(LOCATION) {
        let outcome = run(&p, analysis);
        assert!(matches!(outcome.verdict, Verdict::True), "{}: {:?}", analysis, outcome.verdict);
        // If the precision of the inner domain drops the variable at a join, another refinement is needed.
        assert!((1..=2).contains(&outcome.stats.exploration.refinements), "{}", analysis);
    }
}

/// A loop that counts a variable without effect on the error, then a loop with an error that depends on one variable
/// only.
fn counting() -> Program {
    program(
        &["x", "w", "z", "go"],
        1,
        "  l0:
    t0: v0 := 0:32 -> l1
  l1:
    t1: v1 := 0:32 -> l11
  l11:
    t13: v2 := 0:32 -> l2
  l2:
    t2: if (v1 <s 100000:32) -> l3
    t3: else (100000:32 <=s v1) -> l5
  l3:
    t4: v1 := (v1 + 1:32) -> l4
  l4:
    t5: v2 := (v2 + v1) -> l2
  l5:
    t6: v3 := havoc in0 -> l6
  l6:
    t7: if (v3 == 0:32) -> l7
    t8: else ~(v3 == 0:32) -> l8
  l7:
    t9: halt exit v2 -> l10
  l8:
    t10: if (v0 == 0:32) -> l5
    t11: else ~(v0 == 0:32) -> l9
  l9:
    t12: error err0 -> l10
  l10:
",
    )
}

#[test]
fn operations_that_no_error_depends_on_are_not_executed() {
    let p = counting();
    let whole = run(&p, "symex");
    assert!(matches!(whole.verdict, Verdict::True), "{:?}", whole.verdict);
    assert!(whole.stats.exploration.edges > 100_000, "{}", whole.stats.exploration.edges);
    for analysis in LOCATION {
        let outcome = run(&p, analysis);
        assert!(matches!(outcome.verdict, Verdict::True), "{}: {:?}", analysis, outcome.verdict);
        let edges = outcome.stats.exploration.edges;
        assert!(edges < 100, "{}: {edges} edges", analysis);
        assert!(outcome.stats.exploration.refinements > 0, "{}", analysis);
    }
    let together = run(&p, "predicate-slicing-location");
    assert_eq!(together.stats.exploration.refinements, 1, "slice and predicates are refined in one step");
    // The exit of the loop is a branch on every path to the error. Target-path slicing uses it as a criterion, also if
    // paths are merged in blocks and distinguished by predicates.
    for analysis in PATH {
        let outcome = run(&p, analysis);
        assert!(matches!(outcome.verdict, Verdict::True), "{}: {:?}", analysis, outcome.verdict);
    }
}

#[test]
fn an_error_that_no_path_comes_to_has_no_slice() {
    // Two errors under one condition that never holds. With the slice for the first, no path reaches the second or its
    // dependences.
    let p = program(
        &["x", "y", "c"],
        2,
        "  l0:
    t0: v0 := 0:32 -> l1
  l1:
    t1: v2 := havoc in0 -> l2
  l2:
    t2: if (v0 == 1:32) -> l3
    t3: else ~(v0 == 1:32) -> l9
  l3:
    t4: if (v2 == 0:32) -> l4
    t5: else ~(v2 == 0:32) -> l5
  l4:
    t6: error err0 -> l10
  l5:
    t7: v1 := (v2 * v2) -> l6
  l6:
    t8: v1 := (v1 + 1:32) -> l7
  l7:
    t9: if (v1 == 3:32) -> l8
    t10: else ~(v1 == 3:32) -> l9
  l8:
    t11: error err1 -> l10
  l9:
    t12: halt exit 0:32 -> l10
  l10:
",
    );
    let errors: Vec<EdgeId> = p.edges.iter().filter(|(_, e)| matches!(e.op, Op::Error(_))).map(|(id, _)| id).collect();
    let slice = |criteria: &[EdgeId]| {
        let slice = slicer::slice(&p, criteria, &slicer::Options::default()).expect("small");
        slice.kept.iter().filter(|k| **k).count() as u64
    };
    let (first, both) = (slice(&errors[..1]), slice(&errors));
    assert!(first < both, "{first}, {both}");
    // The full precision consists of the slice only.
    let outcome = run(&p, "symex-slicing-location");
    assert!(matches!(outcome.verdict, Verdict::True), "{:?}", outcome.verdict);
    let sliced = outcome.stats.precision;
    assert!(sliced > 0 && sliced <= first, "{sliced} of {first}, {both} in advance");
}
