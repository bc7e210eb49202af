//! Tests GIAs on random programs against runs: the combiner and the reducers preserve claims.

#[path = "../../../slicer/tests/generator/mod.rs"]
mod generator;

use cfa::interp::{Inputs, Interpreter, Limits, Outcome};
use cfa::{Bv, EdgeId, GlobalId, InputId, Program, validate};
use cooperate::condition;
use cooperate::gia::{Coverage, Gia, Recording, Removed, Says, Test, agree, combine, parse, print, reduce};
use cooperate::reduce::Reducer;
use generator::inputs::RandomInputs;
use generator::{Random, generate};

const LIMITS: fn() -> Limits = || Limits { steps: 20_000, ..Limits::default() };

fn outcome(program: &Program, seed: u64) -> Outcome {
    Interpreter::new(program).run(&mut RandomInputs::new(seed), LIMITS(), &mut ()).outcome
}

fn test(program: &Program, seed: u64) -> Test {
    let mut recording = Recording::default();
    Interpreter::new(program).run(&mut RandomInputs::new(seed), LIMITS(), &mut recording);
    recording.test
}

fn covered(program: &Program, gia: &Gia, seed: u64) -> [bool; 3] {
    let mut coverage = Coverage::new(gia);
    Interpreter::new(program).run(&mut RandomInputs::new(seed), LIMITS(), &mut coverage);
    Says::ALL.map(|says| coverage.is_covered(says))
}

/// Compares outcomes of different programs, whose edges differ.
fn same(a: Outcome, b: Outcome) -> bool {
    match (a, b) {
        (Outcome::Error(a, _), Outcome::Error(b, _)) => a == b,
        (Outcome::Invalid { fault: a, .. }, Outcome::Invalid { fault: b, .. }) => a == b,
        (a, b) => a == b,
    }
}

/// An automaton with random claims about prefixes of runs, some with an invariant at their end.
fn some_gia(program: &mut Program, random: &mut Random) -> Gia {
    let mut gia = Gia::nothing();
    for _ in 0..1 + random.below(4) {
        let mut path = test(program, random.below(12) as u64);
        let length = 1 + random.below(path.path.len().min(400));
        path.path.truncate(length);
        path.values.retain(|&(at, ..)| at < length);
        if random.below(2) == 0 {
            // For all inputs.
            path.values.clear();
        }
        let says = [Says::Unreachable, Says::Unreachable, Says::Reachable, Says::Candidate][random.below(4)];
        let path = path.annotated(program);
        gia.add_path(&path, says, program);
    }
    let globals: Vec<_> =
        program.vars.iter().filter(|(_, v)| v.func().is_none() && v.width == 32).map(|(v, _)| v).collect();
    let ids: Vec<_> = gia.states.ids().filter(|&id| id != gia.initial).collect();
    for id in ids {
        if random.below(8) == 0 {
            let value = match random.below(2) {
                0 => program.var_expr(globals[random.below(globals.len())]),
                // Integers in objects, which writes of parts of pointers may overlap.
                _ => program.exprs.content(GlobalId(random.below(3) as u32), 4 * random.below(4) as u32, 32),
            };
            let bound = program.exprs.int(32, random.below(6) as u64);
            gia.states[id].invariant = Some(program.exprs.slt(value, bound));
        }
    }
    gia.check(program).unwrap();
    gia
}

#[test]
fn text_is_read_back_and_rules_are_checked() {
    for seed in 0..30 {
        let (mut program, _) = generate(seed);
        let gia = some_gia(&mut program, &mut Random::new(seed));
        let text = print(&gia, &program);
        let read = parse(&text, &mut program).unwrap_or_else(|e| panic!("program {seed}: {e}\n{text}"));
        assert_eq!(print(&read, &program), text);
        let smaller = gia.simplified();
        smaller.check(&program).unwrap();
        for inputs in 0..8 {
            assert_eq!(covered(&program, &gia, inputs), covered(&program, &read, inputs), "program {seed}");
            assert_eq!(covered(&program, &gia, inputs), covered(&program, &smaller, inputs), "program {seed}");
        }
    }
    let (mut program, _) = generate(1);
    let gia = |says: [Option<Says>; 2], on: bool| {
        let mut gia = Gia::nothing();
        let first = gia.add(says[0], None);
        let second = gia.add(says[1], None);
        gia.states[gia.initial].transitions.push(cooperate::condition::Transition::others(first));
        if on {
            gia.states[first].transitions.push(cooperate::condition::Transition::others(second));
        }
        gia
    };
    use Says::{Candidate, Reachable, Unreachable};
    for (says, rule) in [([Some(Unreachable), None], "rule 1"), ([Some(Reachable), Some(Unreachable)], "rule 2")] {
        assert!(gia(says, false).check(&program).is_ok());
        assert!(gia(says, true).check(&program).unwrap_err().contains(rule));
    }
    let mut candidate = gia([Some(Candidate), None], false);
    assert!(candidate.check(&program).is_ok());
    let id = candidate.states.ids().nth(1).unwrap();
    candidate.states[id].transitions.clear();
    assert!(candidate.check(&program).unwrap_err().contains("rule 3"));
    assert!(parse("gia of 0\nq0 initial\n", &mut program).unwrap_err().message.contains("another program"));
}

/// Theorem 2.
#[test]
fn the_combiner_keeps_what_both_say() {
    let (mut compared, mut said) = (0, 0);
    for seed in 0..150 {
        let (mut program, _) = generate(seed);
        let mut random = Random::new(seed + 7);
        let (a, b) = (some_gia(&mut program, &mut random), some_gia(&mut program, &mut random));
        let Ok(both) = combine(&a, &b, &program) else { continue };
        both.check(&program).unwrap();
        for inputs in 0..12 {
            let [x, y, z] = [&a, &b, &both].map(|gia| covered(&program, gia, inputs));
            // Paths on which the two automata disagree are not compared.
            if (x[0] || y[0]) && (x[1] || y[1]) {
                continue;
            }
            let what = format!("program {seed}, inputs {inputs}");
            assert_eq!([z[0], z[1]], [x[0] || y[0], x[1] || y[1]], "{what}");
            if !z[0] && !z[1] {
                assert_eq!(z[2], x[2] || y[2], "{what}");
            }
            compared += 1;
            said += usize::from(z.iter().any(|&c| c));
        }
    }
    assert!(compared > 300 && said > 100, "{compared} compared, {said} of which something is said");
}

/// The condition of an automaton covers the same paths, and its quotient has no bisimilar states.
#[test]
fn conditions_cover_what_automata_say() {
    let (mut said, mut before, mut after) = (0, 0, 0);
    for seed in 0..150 {
        let (mut program, _) = generate(seed);
        let mut random = Random::new(seed + 7);
        let (a, b) = (some_gia(&mut program, &mut random), some_gia(&mut program, &mut random));
        let edges: Vec<EdgeId> = program.edges.ids().filter(|_| random.below(30) == 0).collect();
        let never = Gia::never(edges);
        let with_never: Vec<Gia> = [&a, &b].into_iter().filter_map(|gia| combine(gia, &never, &program).ok()).collect();
        for gia in with_never.into_iter().chain([a, b]) {
            for says in [Says::Unreachable, Says::Reachable] {
                let condition = gia.condition(&mut program, says);
                (before, after) = (before + gia.states.len(), after + condition.states.len());
                for inputs in 0..12 {
                    let mut coverage = condition::Coverage::new(&condition);
                    Interpreter::new(&program).run(&mut RandomInputs::new(inputs), LIMITS(), &mut coverage);
                    let is_said = covered(&program, &gia, inputs)[says as usize];
                    assert_eq!(
                        coverage.is_covered(),
                        is_said,
                        "program {seed}, inputs {inputs}:\n{}",
                        print(&gia, &program)
                    );
                    said += usize::from(is_said);
                }
            }
        }
    }
    assert!(said > 300 && after < before / 2, "{said} covered, {before} states, {after} of conditions");
    println!("{said} covered, {before} states, {after} of conditions");
}

/// Theorem 1: the reducer keeps the paths that are not X-covered or, if there are candidates, the candidates that are
/// not.
#[test]
fn reducers_keep_what_is_open() {
    let (mut kept, mut gone) = (0, 0);
    for seed in 0..80 {
        let (mut program, _) = generate(seed);
        let gia = some_gia(&mut program, &mut Random::new(seed + 31));
        for (left, says) in [(Removed::Unreachable, Says::Unreachable), (Removed::Reachable, Says::Reachable)] {
            for reducer in [Reducer::Separate, Reducer::Locations] {
                let what = format!("program {seed}, {left:?}, {reducer:?}");
                let residual = reduce(&mut program, &gia, left, reducer).unwrap();
                validate::validate(&residual.program).unwrap_or_else(|e| panic!("{what}: {e:?}"));
                for inputs in 0..8 {
                    let (before, after) = (outcome(&program, inputs), outcome(&residual.program, inputs));
                    if matches!(before, Outcome::Limit(_)) {
                        continue;
                    }
                    let covered = covered(&program, &gia, inputs);
                    let is_candidate = !gia.has(Says::Candidate) || covered[Says::Candidate as usize];
                    if is_candidate && !covered[says as usize] {
                        assert!(same(before, after), "{what}, inputs {inputs}: {before:?}, {after:?}");
                        kept += 1;
                    } else {
                        assert!(same(before, after) || after == Outcome::Assumed, "{what}, inputs {inputs}");
                        gone += usize::from(after == Outcome::Assumed && before != Outcome::Assumed);
                    }
                }
            }
        }
    }
    assert!(kept > 100 && gone > 100, "{kept} kept, {gone} gone");
}

/// The claims of runs about themselves are correct, and the tests can be executed again from their text (Theorem 3,
/// with runs as the tool).
#[test]
fn tests_go_in_and_come_out() {
    let mut replayed = 0;
    for seed in 0..40 {
        let (mut program, _) = generate(seed);
        let mut gia = Gia::nothing();
        let runs: Vec<u64> = (0..6).filter(|&i| !matches!(outcome(&program, i), Outcome::Limit(_))).collect();
        let mut tests = Vec::new();
        for &run in &runs {
            let test = test(&program, run);
            gia.add_path(&test.annotated(&mut program), Says::Reachable, &program);
            tests.push(test);
        }
        for &run in &runs {
            assert!(covered(&program, &gia, run)[Says::Reachable as usize], "program {seed}, run {run}");
        }
        let values = |t: &Test| t.values.iter().map(|(_, input, v)| (*input, v.clone())).collect::<Vec<_>>();
        let out: Vec<_> = gia.tests(&program).iter().map(values).collect();
        for test in &tests {
            assert!(out.contains(&values(test)), "program {seed}");
            replayed += 1;
        }
        assert!(out.len() <= tests.len(), "program {seed}: paths that are the same are there once");
    }
    assert!(replayed > 50, "{replayed}");
}

/// A test that is defined by its inputs names no branches. Claims about branches that it does not take are unrelated to
/// it. Claims about branches that it takes are decided by executing it.
#[test]
fn runs_told_by_inputs_are_combined_with_paths() {
    let mut program = cfa::text::parse(
        "program 64 entry f0
        type ty0 int \"int\" 32 signed
        input in0 nondet \"input\" ty0 32
        func f0 \"main\" source ty0 32 () entry l0 {
          local v0 \"x\" ty0 32
          local v1 \"y\" ty0 32
          l0: t0: v0 := 0:32 -> l1
          l1: t1: v1 := havoc in0 -> l2
          l2: t2: if ~(v0 == 0:32) means true -> l3
              t3: else (v0 == 0:32) means false -> l3
          l3: t4: if (v1 == 7:32) means true -> l4
              t5: else ~(v1 == 7:32) means false -> l5
          l4: t6: return 1:32 -> l6
          l5: t7: return 0:32 -> l6
          l6:
        }",
    )
    .unwrap();
    // Two runs to `y == 7`. One is defined by its input and one by its branches.
    let path: Vec<EdgeId> = [0, 1, 3, 4].map(EdgeId).to_vec();
    let seven = Test { path, values: vec![(1, InputId(0), Bv::new(32, 7))] };
    let (mut run, mut branches) = (Gia::nothing(), Gia::nothing());
    run.add_run(&seven, &mut program);
    branches.add_path(&seven.annotated(&mut program), Says::Reachable, &program);
    let header = print(&Gia::nothing(), &program).lines().next().unwrap().to_owned();
    let mut read = |body: &str| parse(&format!("{header}\nq0 initial\n  {body}\n"), &mut program).unwrap();
    let way = |edge: &str| {
        format!(
            "t1 if (y.v1 == 7:32) -> q1\n  * -> q0\nq1\n  {edge} -> q2\n  * -> q1\nq2\n  t4 -> q3\n  * -> q2\nq3 ut"
        )
    };
    // A claim about an infeasible path with the same condition, a claim about the path of the run, and a target without
    // a path to it.
    let (beside, contrary) = (read(&way("t2")), read(&way("t3")));
    let unclear = read("t4 -> q1\n  * -> q0\nq1 rt");
    let never = read("t2 -> q1\n  * -> q0\nq1\n  t4 -> q2\n  * -> q1\nq2 ut");
    for known in [&run, &branches] {
        for (both, other) in [(known, &beside), (&beside, known)].map(|(a, b)| (combine(a, b, &program), b)) {
            let both = both.unwrap_or_else(|e| panic!("{e}: {}", print(other, &program)));
            let mut coverage = Coverage::new(&both);
            let inputs = Inputs { values: vec![Bv::new(32, 7)], ..Inputs::default() };
            Interpreter::new(&program).run(&mut inputs.source(), LIMITS(), &mut coverage);
            assert!(coverage.is_covered(Says::Reachable) && !coverage.is_covered(Says::Unreachable));
            assert_eq!(agree(&both, &beside, &program), Some(true));
        }
        assert!(combine(known, &contrary, &program).is_err() && combine(&contrary, known, &program).is_err());
        assert_eq!(agree(known, &contrary, &program), Some(false));
    }
    assert!(combine(&unclear, &never, &program).is_err());
    assert_eq!(agree(&unclear, &never, &program), None);
    // A claim about paths that are already covered does not enlarge the residual program.
    let both = combine(&branches, &Gia::never(vec![EdgeId(7)]), &program).unwrap();
    assert_eq!(both.condition(&mut program, Says::Unreachable).states.len(), 2);
}
