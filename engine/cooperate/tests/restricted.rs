//! Tests by running random programs that a restricted program has exactly the runs that the condition does not cover,
//! and that the ranges between bounds divide the runs.
//!
//! `PROVISO_PROGRAMS=N cargo test -p cooperate --test restricted` tests more programs.

#[path = "../../../slicer/tests/generator/mod.rs"]
mod generator;

use cfa::interp::{Interpreter, Limits, Observer, Outcome, State};
use cfa::{EdgeId, Op, Program, validate};
use cooperate::condition::{Condition, Coverage, Label, Transition};
use cooperate::range::split::ranges;
use cooperate::range::{Bound, Range};
use cooperate::reduce::{Reducer, Shape, reduce};
use cooperate::restrict::restrict;
use generator::inputs::RandomInputs;
use generator::{Random, generate};
use std::cmp::Ordering;

fn programs(standard: u64) -> u64 {
    std::env::var("PROVISO_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(standard)
}

struct Path(Vec<EdgeId>);

impl Observer for Path {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        self.0.push(edge);
    }
}

const LIMITS: fn() -> Limits = || Limits { steps: 20_000, ..Limits::default() };

fn outcome(program: &Program, seed: u64) -> Outcome {
    Interpreter::new(program).run(&mut RandomInputs::new(seed), LIMITS(), &mut ()).outcome
}

fn path(program: &Program, seed: u64) -> Vec<EdgeId> {
    let mut path = Path(Vec::new());
    Interpreter::new(program).run(&mut RandomInputs::new(seed), LIMITS(), &mut path);
    path.0
}

fn is_covered(program: &Program, condition: &Condition, seed: u64) -> bool {
    let mut coverage = Coverage::new(condition);
    Interpreter::new(program).run(&mut RandomInputs::new(seed), LIMITS(), &mut coverage);
    coverage.is_covered()
}

/// Compares outcomes of different programs, whose edges differ.
fn same(a: Outcome, b: Outcome) -> bool {
    match (a, b) {
        (Outcome::Error(a, _), Outcome::Error(b, _)) => a == b,
        (Outcome::Invalid { fault: a, .. }, Outcome::Invalid { fault: b, .. }) => a == b,
        (a, b) => a == b,
    }
}

/// Checks that the restricted program behaves like the original on paths that are not covered.
fn check(
    program: &Program,
    condition: &Condition,
    restricted: &Program,
    seeds: std::ops::Range<u64>,
    what: &str,
) -> (u64, u64) {
    let (mut covered, mut open) = (0, 0);
    for seed in seeds {
        let (before, after) = (outcome(program, seed), outcome(restricted, seed));
        if matches!(before, Outcome::Limit(_)) {
            continue;
        }
        if is_covered(program, condition, seed) {
            assert_eq!(after, Outcome::Assumed, "{what}, inputs {seed}: {before:?}");
            covered += 1;
        } else {
            assert!(same(before, after), "{what}, inputs {seed}: {before:?}, {after:?}");
            open += 1;
        }
    }
    (covered, open)
}

/// A tree of paths of runs. Some paths are complete and some are cut. Some states have transitions for all other edges,
/// and some transitions have assumptions.
fn some_condition(program: &mut Program, random: &mut Random) -> Condition {
    let mut c = Condition::nothing();
    let zero_bits = |p: &mut Program, random: &mut Random| {
        let globals: Vec<_> =
            p.vars.iter().filter(|(_, v)| v.func().is_none() && v.width == 32).map(|(id, _)| id).collect();
        let var = globals[random.below(globals.len())];
        let (value, bound) = (p.var_expr(var), p.exprs.int(32, random.below(6) as u64));
        p.exprs.slt(value, bound)
    };
    for _ in 0..1 + random.below(3) {
        let path = path(program, random.below(1000) as u64);
        let length = 1 + random.below(path.len().min(400));
        let mut at = c.initial;
        for (i, &edge) in path[..length].iter().enumerate() {
            if c.states[at].accepting {
                break;
            }
            let named = |t: &Transition| matches!(&t.on, Label::Edges(e) if e.contains(&edge));
            if let Some(t) = c.states[at].transitions.iter().find(|t| named(t)) {
                at = t.to;
                continue;
            }
            // Edges of straight-line code are named only sometimes.
            let is_branch = matches!(program.edges[edge].op, Op::Assume { .. });
            let last = i + 1 == length;
            if !is_branch && !last && random.below(3) > 0 {
                if c.states[at].transitions.iter().all(|t| t.on != Label::Others) {
                    c.states[at].transitions.push(Transition::others(at));
                }
                continue;
            }
            // Some runs turn off before.
            let mut edge = edge;
            let turns_off = is_branch && random.below(5) == 0;
            if turns_off {
                edge = program.out_edges(program.edges[edge].source).find(|&e| e != edge).expect("the other side");
                if c.states[at].transitions.iter().any(|t| matches!(&t.on, Label::Edges(e) if e.contains(&edge))) {
                    break;
                }
            }
            let to = c.add(last && random.below(4) > 0 || turns_off);
            let assumption = (random.below(6) == 0).then(|| zero_bits(program, random));
            c.states[at].transitions.push(Transition { on: Label::from_edges([edge]), assumption, to });
            at = to;
        }
    }
    c.check(program).unwrap();
    c
}

#[test]
fn a_restricted_program_has_the_runs_that_are_not_covered() {
    let (mut covered, mut open) = (0, 0);
    for seed in 0..programs(250) {
        let (mut program, _) = generate(seed);
        let mut random = Random::new(seed + 77);
        let mut condition = some_condition(&mut program, &mut random);
        if seed % 2 == 0 {
            condition = condition.simplified();
        }
        // Assumptions after returns and calls are omitted, so less is covered.
        let has_assumptions = condition.states.values().any(|s| s.transitions.iter().any(|t| t.assumption.is_some()));
        let restricted = restrict(&program, &condition).unwrap();
        validate::validate(&restricted).unwrap_or_else(|e| panic!("program {seed}: {e:?}"));
        let what = format!("program {seed}");
        if has_assumptions {
            for inputs in 0..12 {
                let (before, after) = (outcome(&program, inputs), outcome(&restricted, inputs));
                let is_covered = is_covered(&program, &condition, inputs);
                if !is_covered && !matches!(before, Outcome::Limit(_)) {
                    assert!(same(before, after), "{what}, inputs {inputs}: {before:?}, {after:?}");
                }
                assert!(
                    is_covered || after != Outcome::Assumed || before == Outcome::Assumed,
                    "{what}, inputs {inputs}"
                );
            }
            continue;
        }
        let counted = check(&program, &condition, &restricted, 0..12, &what);
        (covered, open) = (covered + counted.0, open + counted.1);
    }
    assert!(covered > 100 && open > 100, "{covered} covered, {open} open");
}

/// Definition 3: the residual program has all paths that are not covered, and no path that the program does not have.
#[test]
fn reducers_lose_nothing_and_add_nothing() {
    let (mut left, mut folded, mut smaller) = (0, 0, 0);
    // Program 187: a call of a copy that never returns is merged with a call of the same function through a pointer
    // that does.
    for seed in (0..programs(80)).chain([187]) {
        let (mut program, _) = generate(seed);
        let mut random = Random::new(seed + 177);
        let condition = some_condition(&mut program, &mut random);
        let whole = Shape::compute(&program).locations();
        let mut separate = 0;
        let others = [Reducer::LoopHeadsByIteration(1), Reducer::LoopHeadsByIterationAndContext(2)];
        for reducer in Reducer::ALL.into_iter().chain(others) {
            let what = format!("program {seed}, {reducer:?}");
            let residual = reduce(&program, &condition, reducer).unwrap();
            validate::validate(&residual.program).unwrap_or_else(|e| panic!("{what}: {e:?}"));
            for (new, edge) in residual.program.edges.iter() {
                if let Some(old) = residual.edges[new] {
                    let label = |l| residual.locs[l];
                    let from = program.edges[old].source;
                    assert!(label(edge.source).is_none_or(|l| l == from), "{what}: {new} of {old} starts elsewhere");
                }
            }
            let size = Shape::compute(&residual.program).locations();
            match reducer {
                Reducer::Separate => separate = size,
                // The ends of covered paths are separate locations.
                Reducer::Locations => assert!(size <= 2 * whole + 2, "{what}: {size} of {whole}"),
                _ => {}
            }
            smaller += usize::from(size < separate);
            for inputs in 0..8 {
                let (before, after) = (outcome(&program, inputs), outcome(&residual.program, inputs));
                if matches!(before, Outcome::Limit(_)) {
                    continue;
                }
                if !is_covered(&program, &condition, inputs) {
                    assert!(same(before, after), "{what}, inputs {inputs}: {before:?}, {after:?}");
                    left += 1;
                } else {
                    assert!(
                        same(before, after) || after == Outcome::Assumed,
                        "{what}, inputs {inputs}: {before:?}, {after:?}"
                    );
                    folded += usize::from(same(before, after));
                }
            }
        }
    }
    assert!(left > 100 && folded > 30 && smaller > 30, "{left} left, {folded} kept by folding, {smaller} smaller");
}

#[test]
fn ranges_between_bounds_divide_the_paths() {
    let (mut inside, mut outside) = (0, 0);
    for seed in 0..programs(150) {
        let (program, _) = generate(seed);
        let mut random = Random::new(seed + 99);
        let bounds: Vec<Bound> = (0..1 + random.below(3))
            .map(|_| {
                let mut bound = Bound::of_run(&program, &mut RandomInputs::new(random.below(1000) as u64), LIMITS());
                if random.below(3) == 0 {
                    bound.decisions.truncate(random.below(bound.decisions.len() + 1));
                    bound.complete = false;
                }
                bound
            })
            .collect();
        let ranges = ranges(&program, bounds);
        let covering: Vec<Condition> = ranges.iter().map(|r| r.outside(&program)).collect();
        for condition in &covering {
            condition.check(&program).unwrap();
            let restricted = restrict(&program, condition).unwrap();
            validate::validate(&restricted).unwrap_or_else(|e| panic!("program {seed}: {e:?}"));
            let what = format!("program {seed}, a range");
            let counted = check(&program, condition, &restricted, 0..8, &what);
            (inside, outside) = (inside + counted.1, outside + counted.0);
        }
        for inputs in 0..8 {
            if matches!(outcome(&program, inputs), Outcome::Limit(_) | Outcome::Invalid { .. }) {
                continue;
            }
            let own = Bound::of_run(&program, &mut RandomInputs::new(inputs), LIMITS());
            let homes: Vec<usize> =
                (0..ranges.len()).filter(|&i| !is_covered(&program, &covering[i], inputs)).collect();
            // By the definition of a range.
            let contains = |range: &Range| {
                let above = |b: &Bound| b.compare(&own, &program) != Ordering::Greater;
                let below = |b: &Bound| own.compare(b, &program) != Ordering::Greater;
                range.lower.as_ref().is_none_or(above) && range.upper.as_ref().is_none_or(below)
            };
            let defined: Vec<usize> = (0..ranges.len()).filter(|&i| contains(&ranges[i])).collect();
            assert_eq!(homes, defined, "program {seed}, inputs {inputs}");
            // Each run is in one range, except the runs of bounds, which are in two.
            let is_bound = ranges.iter().any(|r| r.upper.as_ref().is_some_and(|b| b.decisions == own.decisions));
            assert!(
                homes.len() == 1 || is_bound && homes.len() == 2,
                "program {seed}, inputs {inputs}: {}",
                homes.len()
            );
        }
    }
    assert!(inside > 100 && outside > 100, "{inside} inside, {outside} outside");
}
