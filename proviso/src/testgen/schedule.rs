//! The order in which candidates run. Each candidate has a source, and the share of a source depends on the recent
//! success of its candidates (as for the operators of Lyu et al., MOpt: Optimized mutation scheduling for fuzzers, USENIX
//! Security 2019). No source waits for the end of the queue of another one.

use driver::environment::Process;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::collections::VecDeque;
use std::hash::BuildHasher;

/// The origin of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The processes with which the search starts. They run before all others.
    Start,
    /// Children of generational search.
    Child,
    /// Processes with strings that a run compared.
    Text,
    /// Processes with numbers that a run compared.
    Number,
    /// Processes with the options that the program passes to `getopt`.
    Option,
    /// Processes with one word of the dictionary as one of their inputs.
    Word,
    /// Processes with the arguments of one and the texts of another process.
    Combined,
    /// Random mutations of processes that were kept.
    Mutation,
    /// Mutations of the processes nearest to open goals.
    Near,
}

impl Source {
    const ALL: [Self; 9] = [
        Self::Start,
        Self::Child,
        Self::Text,
        Self::Number,
        Self::Option,
        Self::Word,
        Self::Combined,
        Self::Mutation,
        Self::Near,
    ];
}

/// The maximal number of waiting candidates of a class of a source. If there are more, the oldest ones are dropped.
const MOST_WAITING: usize = 4000;
/// The factor by which the success of earlier candidates of a source counts less after each further one.
const FADING: f64 = 0.99;
/// The success of a source before its first candidate, in new edges per unit of cost.
const OPTIMISM: f64 = 2.0;
/// The least share of a source, relative to that of the most successful one.
const LEAST_SHARE: f64 = 0.05;
/// The number of steps of a run that cost as much as the start of a run.
const STEPS_OF_START: f64 = 5000.0;

/// The order of the candidates of a source.
#[derive(Clone, Copy)]
enum Class {
    /// They run first.
    First,
    /// They run when none of the first class waits.
    Later,
}

/// The success of a source.
struct Record {
    gain: f64,
    cost: f64,
}

/// The candidates that wait for their runs, and the success of their sources.
pub struct Schedule {
    /// By source, the candidates of each class.
    waiting: [[VecDeque<Process>; 2]; Source::ALL.len()],
    /// The hash values of all processes that were added.
    added: FxHashSet<u64>,
    records: [Record; Source::ALL.len()],
}

impl Schedule {
    /// Creates a schedule without candidates.
    pub fn new() -> Self {
        Self {
            waiting: std::array::from_fn(|_| Default::default()),
            added: FxHashSet::default(),
            records: std::array::from_fn(|_| Record { gain: OPTIMISM, cost: 1.0 }),
        }
    }

    /// Adds a candidate after the others of its source, unless it was added before.
    pub fn add(&mut self, source: Source, process: Process) {
        self.add_to(Class::First, source, process);
    }

    /// Adds a candidate that runs when no other candidates of its source wait, unless it was added before.
    pub fn add_later(&mut self, source: Source, process: Process) {
        self.add_to(Class::Later, source, process);
    }

    fn add_to(&mut self, class: Class, source: Source, process: Process) {
        if self.is_new(&process) {
            let waiting = &mut self.waiting[source as usize][class as usize];
            waiting.push_back(process);
            if waiting.len() > MOST_WAITING {
                waiting.pop_front();
            }
        }
    }

    /// Returns true if the process was not added before, and records it.
    fn is_new(&mut self, process: &Process) -> bool {
        self.added.insert(FxBuildHasher.hash_one(process))
    }

    /// Returns true if a candidate of the source waits.
    pub fn is_waiting(&self, source: Source) -> bool {
        self.waiting[source as usize].iter().any(|waiting| !waiting.is_empty())
    }

    /// Returns the source of the next candidate, among the sources for which `is_ready` returns true. `chance` is a
    /// number from 0 to below 1. `None` if no source is ready.
    pub fn next_source(&self, is_ready: impl Fn(Source) -> bool, chance: f64) -> Option<Source> {
        if is_ready(Source::Start) {
            return Some(Source::Start);
        }
        let rate = |source: Source| {
            let Record { gain, cost } = self.records[source as usize];
            gain / cost
        };
        let ready: Vec<Source> = Source::ALL.into_iter().filter(|&source| is_ready(source)).collect();
        let best = ready.iter().map(|&source| rate(source)).fold(f64::MIN_POSITIVE, f64::max);
        let share = |source: Source| rate(source) / best + LEAST_SHARE;
        let mut left = chance * ready.iter().map(|&source| share(source)).sum::<f64>();
        let chosen = ready.iter().find(|&&source| {
            left -= share(source);
            left < 0.0
        });
        chosen.or(ready.last()).copied()
    }

    /// Takes a candidate of a source: the oldest option, the newest child or combination, a random word, and by turns the
    /// newest and a random compared value. `number` is a random number.
    pub fn take(&mut self, source: Source, number: usize) -> Option<Process> {
        let [first, later] = &mut self.waiting[source as usize];
        let waiting = if first.is_empty() { later } else { first };
        match source {
            Source::Start | Source::Option => waiting.pop_front(),
            Source::Text | Source::Number if number.is_multiple_of(2) => waiting.pop_back(),
            Source::Word | Source::Text | Source::Number if !waiting.is_empty() => {
                waiting.remove(number / 2 % waiting.len())
            }
            _ => waiting.pop_back(),
        }
    }

    /// Records the run of a candidate: the number of edges that no run had taken before, whether it was kept for another
    /// reason, and the number of its steps.
    pub fn record(&mut self, source: Source, new_edges: usize, is_kept: bool, steps: u64) {
        /// The success of a run that takes no new edge, but is kept.
        const KEPT: f64 = 0.1;
        let record = &mut self.records[source as usize];
        let gain = (1.0 + new_edges as f64).ln() + if is_kept { KEPT } else { 0.0 };
        record.gain = FADING * record.gain + gain;
        record.cost = FADING * record.cost + 1.0 + steps as f64 / STEPS_OF_START;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_with_success_get_more_runs_and_none_starves() {
        let mut schedule = Schedule::new();
        for _ in 0..1000 {
            schedule.record(Source::Child, 0, false, 1000);
            schedule.record(Source::Word, 1, true, 1000);
        }
        let is_ready = |source| matches!(source, Source::Child | Source::Word);
        let chosen = (0..1000).map(|n| schedule.next_source(is_ready, f64::from(n) / 1000.0).unwrap());
        let children = chosen.filter(|source| *source == Source::Child).count();
        assert!((20..100).contains(&children), "{children}");
        assert_eq!(schedule.next_source(|_| false, 0.0), None);
        assert_eq!(schedule.next_source(|_| true, 0.9), Some(Source::Start));
    }

    #[test]
    fn the_newest_children_run_first_and_options_in_order() {
        let mut schedule = Schedule::new();
        let process = |text: &str| Process { stdin: text.into(), ..Process::default() };
        for (source, texts) in [(Source::Child, ["1", "2", "3"]), (Source::Option, ["a", "b", "c"])] {
            texts.into_iter().for_each(|text| schedule.add(source, process(text)));
        }
        assert_eq!(schedule.take(Source::Child, 0), Some(process("3")));
        assert_eq!(schedule.take(Source::Option, 0), Some(process("a")));
        assert!(schedule.is_waiting(Source::Child) && !schedule.is_waiting(Source::Word));
        // A process that was added before is not added again.
        ["4", "3", "5"].into_iter().for_each(|text| schedule.add_later(Source::Child, process(text)));
        let all = std::iter::from_fn(|| schedule.take(Source::Child, 0)).collect::<Vec<_>>();
        assert_eq!(all, ["2", "1", "5", "4"].map(process));
    }
}
