//! Chooses inputs under which a program may not terminate: a sequence of values for each input, of which the last one
//! repeats forever.

use cfa::interp::{InputSource, Unknown};
use cfa::{Bv, InputId, Program};
use instrument::termination::may_be_chosen;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The values of each input that may be chosen: a nonempty sequence, of which the last value repeats forever.
pub type Choice = FxHashMap<InputId, Vec<Bv>>;

/// Number of most recently read inputs that are recorded. The input that ended the run is likely among them.
const RECENT: usize = 16;
/// Largest number of values chosen for one input. Parsers that hang do so within few bytes.
const VALUES: usize = 16;
/// One in this number of choices is new. The others are mutations of the best one so far.
const ANEW: u64 = 4;

/// Generates choices: simple ones first, then random ones, then mutations of the choice with the longest run.
pub struct Chooser {
    asked: Vec<(InputId, u32)>,
    constants: Vec<u64>,
    rng: SmallRng,
    /// Number of choices made.
    pub number: u64,
    best: Option<Run>,
    /// Largest number of reads of each input in a run, up to [`VALUES`].
    times: FxHashMap<InputId, usize>,
}

/// A run that terminated.
struct Run {
    choice: Choice,
    steps: u64,
    recent: VecDeque<InputId>,
}

impl Chooser {
    /// `constants` are the constants that the program compares with.
    pub fn new(program: &Program, constants: Vec<u64>, seed: u64) -> Self {
        let chosen = program.inputs.iter().filter(|(_, i)| may_be_chosen(&i.kind));
        let asked = chosen.map(|(id, i)| (id, i.width)).collect();
        Self {
            asked,
            constants,
            rng: SmallRng::seed_from_u64(seed),
            number: 0,
            best: None,
            times: FxHashMap::default(),
        }
    }

    /// True if there is only one choice.
    pub fn has_no_choice(&self) -> bool {
        self.asked.is_empty()
    }

    /// The next choice.
    pub fn next(&mut self) -> Choice {
        let number = self.number;
        self.number += 1;
        const FIRST: [i64; 6] = [0, 1, -1, 2, 5, 100];
        if let Some(&all) = FIRST.get(number as usize) {
            return self.asked.iter().map(|&(id, width)| (id, vec![Bv::from_i64(64, all).resize(width)])).collect();
        }
        match self.best.take() {
            Some(best) if !number.is_multiple_of(ANEW) => {
                let choice = self.changed(&best);
                self.best = Some(best);
                choice
            }
            best => {
                self.best = best;
                (0..self.asked.len()).map(|i| (self.asked[i].0, self.values(i))).collect()
            }
        }
    }

    /// Records a terminated run: its length in edges, its last inputs, and the number of reads of each input.
    pub fn ended(&mut self, choice: Choice, steps: u64, recent: VecDeque<InputId>, asked: &FxHashMap<InputId, usize>) {
        for (&input, &times) in asked {
            let most = self.times.entry(input).or_default();
            *most = times.min(VALUES).max(*most);
        }
        if self.best.as_ref().is_none_or(|best| steps >= best.steps) {
            self.best = Some(Run { choice, steps, recent });
        }
    }

    fn changed(&mut self, run: &Run) -> Choice {
        let mut choice = run.choice.clone();
        for _ in 0..self.rng.random_range(1..3) {
            let (id, width) = match run.recent.len() {
                n @ 1.. if self.rng.random() => {
                    let id = run.recent[self.rng.random_range(0..n)];
                    (id, choice[&id][0].width())
                }
                _ => self.asked[self.rng.random_range(0..self.asked.len())],
            };
            let other = self.asked[self.rng.random_range(0..self.asked.len())].0;
            let value = match self.rng.random_range(0..4) {
                0 => run.choice[&other][0].resize(width),
                _ => self.value(width),
            };
            let times = self.times.get(&id).copied().unwrap_or(1);
            if times <= 1 || self.rng.random_range(0..4) == 0 {
                choice.insert(id, vec![value]);
            } else if let Some(values) = choice.get_mut(&id) {
                let n = self.rng.random_range(0..times);
                while values.len() <= n {
                    values.push(values[values.len() - 1].clone());
                }
                values[n] = value;
            }
        }
        choice
    }

    /// Random values for an input: one, or as many as the program may read.
    fn values(&mut self, number: usize) -> Vec<Bv> {
        let (id, width) = self.asked[number];
        let times = self.times.get(&id).copied().unwrap_or(1);
        let count = if times > 1 && self.rng.random() { times } else { 1 };
        (0..count).map(|_| self.value(width)).collect()
    }

    fn value(&mut self, width: u32) -> Bv {
        let rng = &mut self.rng;
        let value: i64 = match rng.random_range(0..8) {
            0 => 0,
            1 => 1,
            2 => -1,
            3 => rng.random_range(-4..8),
            4 => rng.random_range(-100..300),
            5 if self.number.is_multiple_of(2) => rng.random::<i64>(),
            _ if !self.constants.is_empty() => {
                let c = self.constants[rng.random_range(0..self.constants.len())] as i64;
                c.wrapping_add(rng.random_range(-1..2))
            }
            _ => rng.random_range(0..3),
        };
        Bv::from_i64(64, value).resize(width)
    }
}

/// An input source with the chosen values, and zero for all other inputs.
pub struct Chosen<'a> {
    choice: &'a Choice,
    /// The most recently read inputs.
    pub recent: VecDeque<InputId>,
    /// Number of reads of each input.
    pub asked: FxHashMap<InputId, usize>,
    given: usize,
    /// Number of values returned when the last value of some sequence was returned for the first time.
    pub repeats_from: usize,
}

impl<'a> Chosen<'a> {
    /// An input source for `choice`.
    pub fn new(choice: &'a Choice) -> Self {
        let recent = VecDeque::with_capacity(RECENT);
        Self { choice, recent, asked: FxHashMap::default(), given: 0, repeats_from: 0 }
    }
}

impl InputSource for Chosen<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        if !matches!(what, Unknown::Global(_)) {
            self.given += 1;
        }
        let Unknown::Havoc(input) = what else { return Bv::zero(width) };
        let Some(values) = self.choice.get(&input) else { return Bv::zero(width) };
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(input);
        let asked = self.asked.entry(input).or_default();
        let last = values.len() - 1;
        let n = (*asked).min(last);
        if last > 0 && *asked <= last {
            self.repeats_from = self.given;
        }
        *asked += 1;
        values[n].resize(width)
    }
}
