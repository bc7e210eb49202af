//! Tests the check of GIAs against runs: no run refutes a confirmed claim, and some run refutes a wrong one.

#[path = "../../../slicer/tests/generator/mod.rs"]
mod generator;

use cfa::interp::{Inputs, Interpreter, Limits, Outcome};
use cfa::{Bv, Program};
use cooperate::gia::check::{Checked, Targets, contradiction, reachable, unreachable};
use cooperate::gia::{Coverage, Gia, Recording, Says, parse, print};
use engine::Config;
use engine::budget::Budget;
use generator::inputs::RandomInputs;
use generator::{Random, generate};
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Correct,
    Wrong,
    Unknown,
}

fn answer(checked: &[Checked]) -> Answer {
    match (checked.iter().all(|c| c.wrong.is_empty()), checked.iter().all(|c| c.open.is_empty())) {
        (false, _) => Answer::Wrong,
        (true, true) => Answer::Correct,
        (true, false) => Answer::Unknown,
    }
}

fn check(gia: &Gia, program: &mut Program, time: Duration) -> (Answer, [Checked; 2]) {
    let (targets, config) = (Targets::errors(program), Config::default());
    let checked = [
        reachable(gia, program, &targets, &config, &Budget::lasting(time)),
        unreachable(gia, program, &targets, &config, &Budget::lasting(time)),
    ];
    (answer(&checked), checked)
}

/// Runs on these inputs: returns true if some refutes a claim, and true if some is `rt`.
fn refuted<'a>(gia: &Gia, program: &Program, inputs: impl IntoIterator<Item = &'a Inputs>) -> (bool, bool) {
    let (mut is_refuted, mut is_reached) = (false, false);
    for inputs in inputs {
        let mut coverage = Coverage::new(gia);
        let run = Interpreter::new(program).run(&mut inputs.source(), Limits::default(), &mut coverage);
        let is_error = run.outcome.error(program).is_some();
        is_refuted |= coverage.is_covered(Says::Unreachable) && is_error;
        is_refuted |= coverage.is_covered(Says::Reachable) && !is_error && run.outcome != Outcome::Assumed;
        is_reached |= coverage.is_covered(Says::Reachable) && is_error;
    }
    (is_refuted, is_reached)
}

/// `x = nondet(); if (x == 0) error; y = nondet(); if (y == 3) error;`
const TWO_INPUTS: &str = "program 64 entry f0
type ty0 int \"int\" 32 signed
input in0 nondet \"input\" ty0 32
error err0 \"unreach-call\" \"an error\"
func f0 \"main\" source ty0 32 () entry l0 {
  local v0 \"x\" ty0 32
  local v1 \"y\" ty0 32
  l0: t0: v0 := havoc in0 -> l1
  l1: t1: if (v0 == 0:32) means true -> l2
      t2: else ~(v0 == 0:32) means false -> l3
  l2: t3: error err0 -> l7
  l3: t4: v1 := havoc in0 -> l4
  l4: t5: if (v1 == 3:32) means true -> l5
      t6: else ~(v1 == 3:32) means false -> l6
  l5: t7: error err0 -> l7
  l6: t8: return 0:32 -> l7
  l7:
}";

fn program() -> Program {
    cfa::text::parse(TWO_INPUTS).unwrap_or_else(|e| panic!("{e:?}"))
}

/// The inputs of all behaviours of the program.
fn all_inputs() -> Vec<Inputs> {
    let word = |value: u64| Bv::new(32, value);
    let pairs = [0, 1, 5].into_iter().flat_map(|x| [0, 3, 5].map(|y| [x, y]));
    pairs.map(|[x, y]| Inputs { values: vec![word(x), word(y)], ..Inputs::default() }).collect()
}

fn read(program: &mut Program, body: &str) -> Gia {
    let header = print(&Gia::nothing(), program).lines().next().unwrap().to_owned();
    parse(&format!("{header}\n{body}"), program).unwrap_or_else(|e| panic!("{e}\n{body}"))
}

/// All automata of a family. Inputs are fixed, unconstrained, fixed to several values, or not named. The step to the
/// claim reads one edge, a set of edges, or any edge. States are separate or merged.
#[test]
fn what_is_correct_is_so_of_all_runs() {
    let inputs = [
        "",
        "  t0 -> q1\n",
        "  t0 if (x.v0 == 0:32) -> q1\n",
        "  t0 if (x.v0 == 5:32) -> q1\n",
        "  t0 if (x.v0 == 0:32) -> q1\n  t0 if (x.v0 == 5:32) -> q1\n",
        "  t0 if (x.v0 == 0:32) -> q1\n  t0 if (x.v0 == 5:32) -> q2\n",
        "  t0 if (x.v0 == 0:32) -> q1\n  t0 -> q2\n",
        "  t0 if (x.v0 <=u 5:32) -> q1\n",
    ];
    let steps = [
        "",
        "  t1 -> q3\n",
        "  t2 -> q3\n",
        "  t1 t2 -> q3\n",
        "  t3 -> q3\n",
        "  t3 t2 -> q3\n",
        "  t3 -> q3\n  t2 -> q3\n",
        "  * -> q3\n",
        "  t4 if (y.v1 == 3:32) -> q3\n",
        "  t4 if (y.v1 == 5:32) -> q3\n",
        "  t3 -> q3\n  t4 if (y.v1 == 3:32) -> q3\n",
        "  t3 -> q3\n  t4 if (y.v1 == 3:32) -> q3\n  t4 if (y.v1 == 5:32) -> q3\n",
        "  t7 -> q3\n",
        "  t3 t7 -> q3\n",
    ];
    let (mut program, all) = (program(), all_inputs());
    let mut counts = [0; 3];
    for start in ["q0 initial", "q0 initial rt", "q0 initial ut"] {
        for first in inputs {
            for (second, others) in steps.iter().flat_map(|s| [(s, true), (s, false)]) {
                for third in ["", "  t2 -> q3\n", "  t3 t2 -> q3\n", "  t6 -> q3\n"] {
                    for says in ["rt", "ut"] {
                        let stays = |q: u32| {
                            if others && !second.contains('*') { format!("  * -> q{q}\n") } else { String::new() }
                        };
                        let is_named = !first.contains("q2") && !third.is_empty();
                        if is_named || start.len() > 10 && !(first.is_empty() && second.is_empty() && third.is_empty())
                        {
                            continue;
                        }
                        let body = format!(
                            "{start}\n{first}  * -> q0\nq1\n{second}{}q2\n{third}  * -> q2\nq3 {says}\n",
                            stays(1)
                        );
                        let body = if start.len() > 10 { format!("{start}\nq1\nq2\nq3\n") } else { body };
                        let gia = read(&mut program, &body);
                        let (given, why) = check(&gia, &mut program, Duration::from_secs(20));
                        let (is_refuted, is_reached) = refuted(&gia, &program, &all);
                        match given {
                            Answer::Correct => {
                                assert!(!is_refuted, "{body}{why:?}");
                                assert!(is_reached || !gia.has(Says::Reachable), "nothing is reached: {body}{why:?}");
                            }
                            Answer::Wrong => assert!(is_refuted, "{body}{why:?}"),
                            // Every false claim has a refuting execution.
                            Answer::Unknown => assert!(!is_refuted, "{body}{why:?}"),
                        }
                        counts[given as usize] += 1;
                    }
                }
            }
        }
    }
    println!("{counts:?}");
    assert!(counts[0] > 100 && counts[1] > 100 && counts[2] > 50, "{counts:?}");
}

/// A claim over sets of edges, `*`, or merged states is checked even if another path replays.
#[test]
fn a_path_that_replays_says_nothing_of_others() {
    let mut program = program();
    let mut verdict = |body: &str| check(&read(&mut program, body), &mut program.clone(), Duration::from_secs(20)).0;
    let both = "q0 initial\n  t0 if (x.v0 == 0:32) -> q1\n  t0 if (x.v0 == 5:32) -> q2\n  * -> q0\nq1\n  t3 -> q3\n  * -> q1\nq2\n";
    assert_eq!(verdict(&format!("{both}  t2 t6 -> q3\n  * -> q2\nq3 rt\n")), Answer::Wrong);
    assert_eq!(verdict(&format!("{both}  * -> q3\nq3 rt\n")), Answer::Wrong);
    assert_eq!(verdict(&format!("{both}  t4 if (y.v1 == 3:32) -> q3\n  * -> q2\nq3 rt\n")), Answer::Correct);
    assert_eq!(verdict("q0 initial rt\n"), Answer::Wrong);
    // The claim holds for all values of the second input, which is proved.
    assert_eq!(verdict("q0 initial\n  t0 if (x.v0 == 0:32) -> q1\n  * -> q0\nq1 rt\n"), Answer::Correct);
    assert_eq!(verdict("q0 initial\n  t0 if (x.v0 == 5:32) -> q1\n  * -> q0\nq1 rt\n"), Answer::Wrong);
    // No run takes this path.
    assert_eq!(
        verdict("q0 initial\n  t0 if (x.v0 == 5:32) -> q1\n  * -> q0\nq1\n  t3 -> q2\n  * -> q1\nq2 rt\n"),
        Answer::Unknown
    );
}

/// An infinite path reaches no target.
#[test]
fn what_does_not_end_reaches_no_target() {
    let text = "program 64 entry f0
        type ty0 int \"int\" 32 signed
        input in0 nondet \"input\" ty0 32
        error err0 \"unreach-call\" \"an error\"
        func f0 \"main\" source ty0 32 () entry l0 {
          local v0 \"x\" ty0 32
          l0: t0: v0 := havoc in0 -> l1
          l1: t1: if (v0 == 0:32) means true -> l1
              t2: else ~(v0 == 0:32) means false -> l2
          l2: t3: error err0 -> l3
          l3:
        }";
    let mut program = cfa::text::parse(text).unwrap();
    let mut verdict = |body: &str| {
        let gia = read(&mut program, body);
        check(&gia, &mut program, Duration::from_secs(20)).0
    };
    assert_ne!(verdict("q0 initial rt\n"), Answer::Correct);
    assert_eq!(verdict("q0 initial\n  t0 if (x.v0 == 0:32) -> q1\nq1 rt\n"), Answer::Wrong);
    assert_eq!(verdict("q0 initial\n  t0 if (x.v0 == 1:32) -> q1\nq1 rt\n"), Answer::Correct);
    assert_ne!(verdict("q0 initial\n  t0 -> q1\nq1 rt\n"), Answer::Correct);
}

/// Only claims whose conditions overlap contradict one another.
#[test]
fn contradictions_are_executions_of_both() {
    let mut program = program();
    let claim = |condition: &str, says: &str| format!("q0 initial\n  t0 if {condition} -> q1\n  * -> q0\nq1 {says}\n");
    let (config, mut asked) = (Config::default(), 0);
    for (a, b, overlap) in [
        ("(0:32 <s x.v0)", "(3:32 <s x.v0)", true),
        ("(x.v0 == 0:32)", "(x.v0 == 5:32)", false),
        ("(x.v0 <u 5:32)", "(4:32 <u x.v0)", false),
        ("(x.v0 <=u 5:32)", "(4:32 <u x.v0)", true),
    ] {
        for (first, second) in [("rt", "ut"), ("ut", "rt"), ("rt", "rt"), ("ut", "ut")] {
            let (one, other) = (read(&mut program, &claim(a, first)), read(&mut program, &claim(b, second)));
            let found = contradiction(&one, &other, &mut program, &config, &Budget::unlimited()).unwrap();
            assert_eq!(found.is_some(), overlap && first != second, "{a} {first}, {b} {second}: {found:?}");
            asked += 1;
        }
    }
    assert_eq!(asked, 16);
}

/// Random programs with random claims about their runs: no run refutes a confirmed claim.
#[test]
fn runs_of_random_programs_refute_nothing_that_is_correct() {
    let limits = || Limits { steps: 20_000, ..Limits::default() };
    let (mut correct, mut wrong) = (0, 0);
    for seed in 0..60 {
        let (mut program, _) = generate(seed);
        let mut random = Random::new(seed + 3);
        let mut gia = Gia::nothing();
        for _ in 0..1 + random.below(3) {
            let mut recording = Recording::default();
            let values = Random::new(random.below(12) as u64);
            Interpreter::new(&program).run(&mut RandomInputs(values), limits(), &mut recording);
            let mut path = recording.test;
            let length = 1 + random.below(path.path.len().min(200));
            if random.below(2) == 0 {
                path.path.truncate(length);
                path.values.retain(|&(at, ..)| at < length);
            }
            if random.below(4) == 0 {
                path.values.clear();
            }
            let says = [Says::Reachable, Says::Reachable, Says::Unreachable][random.below(3)];
            let path = path.annotated(&mut program);
            gia.add_path(&path, says, &program);
        }
        gia.check(&program).unwrap();
        let (given, why) = check(&gia, &mut program, Duration::from_secs(1));
        correct += usize::from(given == Answer::Correct);
        wrong += usize::from(given == Answer::Wrong);
        for run in (0..40).filter(|_| given == Answer::Correct) {
            let mut coverage = Coverage::new(&gia);
            let run = Interpreter::new(&program).run(&mut RandomInputs::new(run), limits(), &mut coverage);
            let is_error = run.outcome.error(&program).is_some();
            let what = format!("program {seed}: {why:?}\n{}", print(&gia, &program));
            assert!(!(coverage.is_covered(Says::Unreachable) && is_error), "{what}");
            let ends = matches!(run.outcome, Outcome::Exit(_) | Outcome::Abort);
            assert!(!(coverage.is_covered(Says::Reachable) && ends), "{what}");
        }
    }
    println!("{correct} correct, {wrong} wrong");
    assert!(correct > 5 && wrong > 5, "{correct} correct, {wrong} wrong");
}
