//! The slice behaves as the original with respect to its criteria, on random programs.

mod generator;

use cfa::interp::{InputSource, Interpreter, Limits, ObjectSeq, Observer, Outcome, Recording, State, Unknown};
use cfa::{Bv, EdgeId, Op, Program};
use generator::{Random, generate};
use slicer::{Options, slice};

/// The same value for an input each time, so that it does not matter which other inputs are taken.
struct Fixed(u64);

impl InputSource for Fixed {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        match what {
            Unknown::Havoc(input) => Bv::new(width, Random::new(self.0 ^ u64::from(input.0)).below(9) as u64),
            _ => Bv::new(width, 0),
        }
    }
    fn bytes(&mut self, _: ObjectSeq, _: u64, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// The hits of criteria with the values assigned.
struct Hits<'a> {
    original: &'a dyn Fn(EdgeId) -> Option<EdgeId>,
    criteria: &'a [EdgeId],
    hits: Vec<(EdgeId, Bv)>,
}

impl Observer for Hits<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        if let Some(id) = (self.original)(edge)
            && self.criteria.binary_search(&id).is_ok()
            && let Op::Assign { var, .. } = state.program().edges[edge].op
        {
            self.hits.push((id, state.var(var).expect("a global")));
        }
    }
}

fn hits(
    program: &Program,
    original: &dyn Fn(EdgeId) -> Option<EdgeId>,
    criteria: &[EdgeId],
    seed: u64,
) -> (Vec<(EdgeId, Bv)>, Outcome) {
    let mut observer = Hits { original, criteria, hits: Vec::new() };
    let limits = Limits { steps: 200_000, ..Limits::default() };
    let run = Interpreter::new(program).run(&mut Fixed(seed), limits, &mut observer);
    (observer.hits, run.outcome)
}

fn check(seed: u64, options: &Options, sizes: &mut (usize, usize)) -> bool {
    let (program, all) = generate(seed);
    let mut random = Random::new(seed + 1);
    // A few of the criteria, not all, or there is nothing to remove.
    let mut criteria: Vec<EdgeId> = (0..1 + random.below(2)).map(|_| all[random.below(all.len())]).collect();
    criteria.sort_unstable();
    criteria.dedup();
    let slice = slice(&program, &criteria, options).expect("there are criteria");
    sizes.0 += slice.stats.edges.0;
    sizes.1 += slice.stats.edges.1;
    let mut compared = false;
    for input in 0..4 {
        let (expected, outcome) = hits(&program, &|e| Some(e), &criteria, input);
        if !matches!(outcome, Outcome::Exit(_) | Outcome::Abort | Outcome::Assumed) {
            continue;
        }
        let (found, end) = hits(&slice.program, &|e| slice.original[e], &criteria, input);
        assert_eq!(
            expected,
            found,
            "seed {seed}, input {input}, ends {outcome:?} / {end:?}, criteria {criteria:?}\n{}\n--- slice\n{}",
            cfa::text::print(&program),
            cfa::text::print(&slice.program)
        );
        assert!(
            !matches!(end, Outcome::Invalid { .. } | Outcome::Stuck(_) | Outcome::Limit(_)),
            "seed {seed}: {end:?}"
        );
        compared |= !expected.is_empty();
    }
    compared
}

/// Different values each time an input is taken, and unknown bytes: first on the slice, then, translated, on the
/// original.
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
        let criteria = [all[Random::new(seed).below(all.len())]];
        let slice = slice(&program, &criteria, &Options::default()).expect("there are criteria");
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

fn check_many(options: &Options, rounds: u64) {
    let mut sizes = (0, 0);
    let compared = (0..rounds).filter(|&seed| check(seed, options, &mut sizes)).count();
    println!("{compared} of {rounds} programs hit a criterion; {} of {} edges kept", sizes.1, sizes.0);
    assert!(compared as u64 > rounds / 4);
}

fn rounds() -> u64 {
    std::env::var("SLICER_TEST_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(1500)
}

#[test]
fn slices_behave_as_the_original() {
    check_many(&Options::default(), rounds());
}

#[test]
fn slices_without_cutting_off() {
    check_many(&Options { cut_off: false, ..Options::default() }, rounds() / 4);
}

#[test]
fn slices_with_unordered_memory() {
    check_many(&Options { budget: 0, ..Options::default() }, rounds() / 4);
}

#[test]
fn slices_by_unification() {
    let points_to = slicer::pointer::Options { mode: slicer::pointer::Mode::Unification, ..Default::default() };
    check_many(&Options { points_to, ..Options::default() }, rounds() / 4);
}
