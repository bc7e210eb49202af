//! Tests on random programs that a slice behaves like the original with respect to its criteria.
//!
//! `SLICER_TEST_ROUNDS` is the number of programs of the main test. The other tests use a fraction of it.

mod generator;

use cfa::interp::{InputSource, Interpreter, Limits, ObjectSeq, Observer, Outcome, Recording, State, Unknown};
use cfa::{Bv, EdgeId, Op, Program};
use generator::inputs::FixedInputs;
use generator::{Endless, Generator, Random, Shape, generate, generate_shaped};
use slicer::{Analysis, Control, Criterion, Options, Slice, Value, What, slice};

fn rounds() -> u64 {
    std::env::var("SLICER_TEST_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(1200)
}

/// The observable value when a criterion is reached.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Seen {
    Value(Option<Bv>),
    Bytes(Option<Vec<u8>>),
}

/// The hits of criteria with the values assigned or observed.
struct Hits<'a> {
    original: &'a dyn Fn(EdgeId) -> Option<EdgeId>,
    criteria: &'a [Criterion],
    hits: Vec<(EdgeId, Vec<Seen>)>,
}

impl Observer for Hits<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let Some(id) = (self.original)(edge) else { return };
        let Some(criterion) = self.criteria.iter().find(|c| c.edge == id) else { return };
        let seen = match &criterion.what {
            What::Operation => match state.program().edges[edge].op {
                Op::Assign { var, .. } => vec![Seen::Value(state.var(var))],
                _ => return,
            },
            What::Values(values) => values
                .iter()
                .map(|value| match *value {
                    Value::Var(v) => Seen::Value(state.var(v)),
                    // The integers of the object. The addresses after them may differ.
                    Value::Global(g) => Seen::Bytes(state.bytes(state.global_address(g), 16)),
                    Value::Object(_) => unreachable!("not observed here"),
                })
                .collect(),
        };
        self.hits.push((id, seen));
    }
}

type Trace = (Vec<(EdgeId, Vec<Seen>)>, Outcome);

fn hits(
    program: &Program,
    original: &dyn Fn(EdgeId) -> Option<EdgeId>,
    criteria: &[Criterion],
    seed: u64,
    steps: u64,
) -> Trace {
    let mut observer = Hits { original, criteria, hits: Vec::new() };
    let limits = Limits { steps, ..Limits::default() };
    let run = Interpreter::new(program).run(&mut FixedInputs(seed), limits, &mut observer);
    (observer.hits, run.outcome)
}

/// A few of the criteria, so that the slice can remove something.
fn some_criteria(g: &Generator, seed: u64) -> Vec<Criterion> {
    let mut random = Random::new(seed + 1);
    let mut criteria = Vec::new();
    for _ in 0..1 + random.below(2) {
        if g.probes.is_empty() || random.below(3) == 0 {
            criteria.push(Criterion::operation(g.criteria[random.below(g.criteria.len())]));
            continue;
        }
        let probe = &g.probes[random.below(g.probes.len())];
        let values = (0..random.below(3))
            .map(|_| match random.below(3) {
                0 => Value::Global(cfa::GlobalId(random.below(g.program.globals.len()) as u32)),
                _ => Value::Var(probe.vars[random.below(probe.vars.len())]),
            })
            .collect();
        criteria.push(Criterion { edge: probe.edge, what: What::Values(values) });
    }
    criteria.sort_unstable_by_key(|c| c.edge);
    criteria.dedup_by_key(|c| c.edge);
    criteria
}

/// The numbers of steps compared: of the slice, and of the original, which needs more steps.
const STEPS: u64 = 5_000;
const LONG: u64 = 1_000_000;

struct Check<'a> {
    seed: u64,
    options: &'a Options,
    criteria: &'a [Criterion],
    program: &'a Program,
    slice: &'a Slice,
}

impl Check<'_> {
    /// Compares one run. Returns true if the comparison was conclusive.
    fn input(&self, input: u64) -> bool {
        let identity = |e: EdgeId| Some(e);
        let of_slice = |e: EdgeId| self.slice.original[e];
        let (expected, outcome) = hits(self.program, &identity, self.criteria, input, STEPS);
        let diverges = matches!(outcome, Outcome::Limit(_));
        if !diverges && !matches!(outcome, Outcome::Exit(_) | Outcome::Abort | Outcome::Assumed) {
            return false;
        }
        let (found, end) = hits(&self.slice.program, &of_slice, self.criteria, input, STEPS);
        let sensitive = self.options.control != Control::Standard;
        if !diverges {
            self.assert(expected == found, &expected, &found, &outcome, &end);
            self.assert(
                !matches!(end, Outcome::Invalid { .. } | Outcome::Stuck(_) | Outcome::Limit(_)),
                &expected,
                &found,
                &outcome,
                &end,
            );
        } else if found.len() >= expected.len() {
            self.assert(found[..expected.len()] == expected[..], &expected, &found, &outcome, &end);
            if sensitive && found.len() > expected.len() {
                // The slice may be ahead of the original, but the original has to reach the same criteria later.
                let (all, outcome) = hits(self.program, &identity, self.criteria, input, LONG);
                if matches!(outcome, Outcome::Invalid { .. } | Outcome::Stuck(_)) {
                    return false;
                }
                self.assert(all.starts_with(&found), &all, &found, &outcome, &end);
            }
        } else {
            self.assert(false, &expected, &found, &outcome, &end);
        }
        !expected.is_empty()
    }
    fn assert(
        &self,
        holds: bool,
        expected: &[(EdgeId, Vec<Seen>)],
        found: &[(EdgeId, Vec<Seen>)],
        outcome: &Outcome,
        end: &Outcome,
    ) {
        assert!(
            holds,
            "seed {}, ends {outcome:?} / {end:?}, criteria {:?}\n{expected:?}\n{found:?}\n{}\n--- slice\n{}",
            self.seed,
            self.criteria,
            cfa::text::print(self.program),
            cfa::text::print(&self.slice.program)
        );
    }
}

#[derive(Default)]
struct Tally {
    programs: usize,
    compared: usize,
    edges: (usize, usize),
}

fn check(seed: u64, shape: Shape, options: &Options, tally: &mut Tally) {
    let g = generate_shaped(seed, shape);
    let criteria = some_criteria(&g, seed);
    let mut analysis = Analysis::new(&g.program, &criteria, options).expect("there is time");
    let slice = analysis.slice(&criteria);
    assert_eq!(cfa::validate::validate(&slice.program), Ok(()), "seed {seed}");
    tally.programs += 1;
    tally.edges.0 += slice.stats.edges.0;
    tally.edges.1 += slice.stats.edges.1;
    let check = Check { seed, options, criteria: &criteria, program: &g.program, slice: &slice };
    tally.compared += usize::from((0..4).filter(|&input| check.input(input)).count() > 0);
    if seed.is_multiple_of(3) {
        check_again(seed, options, &criteria, &slice);
    }
}

/// A slice of a slice is a slice, and not larger.
fn check_again(seed: u64, options: &Options, criteria: &[Criterion], slice: &Slice) {
    let there = |c: &Criterion| {
        let edge = slice.original.iter().find(|(_, original)| **original == Some(c.edge))?.0;
        Some(Criterion { edge, what: c.what.clone() })
    };
    let mut criteria: Vec<Criterion> = criteria.iter().filter_map(there).collect();
    criteria.sort_unstable_by_key(|c| c.edge);
    let mut analysis = Analysis::new(&slice.program, &criteria, options).expect("there is time");
    let again = analysis.slice(&criteria);
    assert!(again.stats.edges.1 <= slice.stats.edges.1, "seed {seed}: {:?}", again.stats.edges);
    let check = Check { seed, options, criteria: &criteria, program: &slice.program, slice: &again };
    (0..4).for_each(|input| {
        check.input(input);
    });
}

fn check_many(options: &Options, shape: Shape, rounds: u64) {
    let mut tally = Tally::default();
    (0..rounds).for_each(|seed| check(seed, shape, options, &mut tally));
    println!(
        "{} of {} programs hit a criterion; {} of {} edges kept",
        tally.compared, tally.programs, tally.edges.1, tally.edges.0
    );
    assert!(tally.compared as u64 > rounds / 4);
}

#[test]
fn slices_behave_as_the_original() {
    check_many(&Options::default(), Shape::default(), rounds());
}

#[test]
fn values_are_what_they_were() {
    check_many(&Options::default(), Shape { probes: true, ..Shape::default() }, rounds());
}

#[test]
fn slices_without_cutting_off() {
    let shape = Shape { probes: true, endless: Endless::Any, ..Shape::default() };
    check_many(&Options { cut_off: false, ..Options::default() }, shape, rounds() / 4);
}

#[test]
fn slices_with_unordered_memory() {
    let shape = Shape { probes: true, ..Shape::default() };
    check_many(&Options { budget: 0, ..Options::default() }, shape, rounds() / 4);
}

#[test]
fn slices_by_unification() {
    let points_to = slicer::pointer::Options { mode: slicer::pointer::Mode::Unification, ..Default::default() };
    let shape = Shape { probes: true, ..Shape::default() };
    check_many(&Options { points_to, ..Options::default() }, shape, rounds() / 4);
}

#[test]
fn slices_of_programs_that_may_not_end() {
    let shape = Shape { probes: true, endless: Endless::Any, ..Shape::default() };
    check_many(&Options::default(), shape, rounds() / 2);
}

#[test]
fn slices_that_end_where_the_original_does() {
    let shape = Shape { probes: true, endless: Endless::Reducible, ..Shape::default() };
    check_many(&Options { control: Control::NonTermination, ..Options::default() }, shape, rounds() / 2);
}

#[test]
fn slices_that_keep_the_order_for_ever() {
    let shape = Shape { probes: true, endless: Endless::Any, ..Shape::default() };
    check_many(&Options { control: Control::DecisiveOrder, ..Options::default() }, shape, rounds() / 2);
    let options = Options { control: Control::DecisiveOrder, cut_off: false, ..Options::default() };
    check_many(&options, shape, rounds() / 4);
}

/// Supplies different values each time an input is read, and unknown bytes. Used first for the slice and then,
/// translated, for the original.
struct Varied(Random);

impl InputSource for Varied {
    fn unknown(&mut self, _: Unknown, width: u32) -> Bv {
        Bv::new(width, self.0.below(9) as u64)
    }
    fn bytes(&mut self, _: ObjectSeq, _: u64, bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|b| *b = self.0.below(4) as u8);
    }
}

#[test]
fn inputs_of_a_slice_become_inputs_of_the_original() {
    let limits = Limits { steps: 200_000, ..Limits::default() };
    let (mut hit, mut taken) = (0, 0);
    for seed in 0..rounds() / 2 {
        let (program, all) = generate(seed);
        let edges = [all[Random::new(seed).below(all.len())]];
        let criteria = [Criterion::operation(edges[0])];
        let slice = slice(&program, &edges, &Options::default()).expect("there are criteria");
        let original = |e: EdgeId| slice.original[e];
        let mut found = Hits { original: &original, criteria: &criteria, hits: Vec::new() };
        let mut inputs = Recording::new(Varied(Random::new(seed)));
        Interpreter::new(&slice.program).run(&mut inputs, limits, &mut found);
        taken += inputs.inputs.values.len();
        let translated = slice.inputs_of_original(&program, &inputs.inputs, limits);
        let identity = |e: EdgeId| Some(e);
        let mut expected = Hits { original: &identity, criteria: &criteria, hits: Vec::new() };
        let run = Interpreter::new(&program).run(&mut translated.source(), limits, &mut expected);
        if matches!(run.outcome, Outcome::Exit(_) | Outcome::Abort | Outcome::Assumed) {
            assert_eq!(expected.hits, found.hits, "seed {seed}, criteria {criteria:?}");
            hit += usize::from(!found.hits.is_empty());
        }
    }
    println!("{hit} runs hit the criterion, {taken} values taken");
    assert!(hit as u64 > rounds() / 10 && taken > hit / 4);
}
