//! Ranking functions by counterexample-guided synthesis.

use super::Ranking;
use super::decide::decide;
use super::rank::{self, Atoms};
use super::sample::{AllWatched, Sampler, Turns};
use crate::algorithm::random::Random;
use crate::budget::Budget;
use crate::cpa::unrolling::constants;
use crate::verdict::{Reason, Verdict};
use crate::{Analysis, Config, Stats};
use cfa::interp::{Inputs, Limits};
use cfa::{EdgeId, ExprId, Program};
use instrument::termination::{Cycles, RankedCell, place_of};
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// Runs on random inputs, and edges of one.
const RUNS: u64 = 120;
const STEPS: u64 = 20_000;
/// The least time for a question.
const LEAST: Duration = Duration::from_millis(600);
/// For so long a question other analyses are asked as well.
const ALL: Duration = Duration::from_secs(8);

/// What is known of a cycle.
struct Cycle {
    atoms: Atoms,
    cells: Vec<RankedCell>,
    /// Tuples of which it is not known whether they are ranking functions, and the time that was not enough.
    open: FxHashMap<Vec<usize>, Duration>,
    /// The last that was not decided, and why.
    reason: Option<Reason>,
    proved: Option<Vec<usize>>,
    /// No tuple fits the turns seen.
    hopeless: bool,
}

pub struct Prover<'p> {
    /// With the variables that stand for cells.
    program: Program,
    cycles: &'p Cycles,
    config: &'p Config,
    all: Vec<Cycle>,
    /// What the sampler has while it is there, and turns by cycle.
    watched: AllWatched,
    turns: Vec<Turns>,
    /// Which cycle is tried first.
    first: usize,
}

impl<'p> Prover<'p> {
    pub fn new(marked: &Program, cycles: &'p Cycles, config: &'p Config) -> Self {
        let mut program = marked.clone();
        let (mut all, mut watched) = (Vec::new(), AllWatched::default());
        let mut cycle = |atoms, cells| {
            all.push(Cycle { atoms, cells, open: FxHashMap::default(), reason: None, proved: None, hopeless: false });
        };
        for l in &cycles.loops {
            let (looked_at, atoms) = rank::of_loop(&mut program, l);
            cycle(atoms, looked_at.cells.clone());
            watched.loops.push(looked_at);
        }
        for (number, r) in (cycles.loops.len() as u32..).zip(&cycles.recursions) {
            let (looked_at, atoms) = rank::of_recursion(&mut program, r);
            cycle(atoms, Vec::new());
            watched.functions.extend(looked_at.into_iter().map(|(f, w)| ((number, f), w)));
        }
        let turns = all.iter().map(|_| Turns::default()).collect();
        Self { program, cycles, config, all, watched, turns, first: 0 }
    }

    /// Runs the program on random inputs to see turns.
    pub fn observe(&mut self, budget: &Budget) {
        let constants = constants(&self.program);
        let seed = self.config.seed;
        self.sample(|sampler| {
            for run in 0..RUNS {
                if budget.spent().is_some() {
                    break;
                }
                let deadline = budget.remaining().map(|left| Instant::now() + left);
                let limits = Limits { steps: STEPS, memory: 1 << 26, call_depth: 2_000, deadline };
                let mut random = Random::new(seed, run, &constants);
                sampler.run(&mut random, limits, false);
                if random.asked == 0 {
                    break;
                }
            }
        });
    }

    fn sample(&mut self, look: impl FnOnce(&mut Sampler<'_>)) {
        let watched = std::mem::take(&mut self.watched);
        let mut sampler = Sampler::new(&self.program, self.cycles, watched);
        sampler.turns = std::mem::take(&mut self.turns);
        look(&mut sampler);
        self.turns = sampler.turns;
        self.watched = sampler.watched;
    }

    /// Goes on until all cycles have a ranking function, which are the answer, or one has none for now.
    pub fn turn(
        &mut self,
        budget: &Budget,
        share: Duration,
        progress: &(dyn Fn(&Stats) + Sync),
        stats: &mut Stats,
    ) -> Option<Vec<Ranking>> {
        let count = self.all.len();
        for i in (0..count).map(|i| (i + self.first) % count).collect::<Vec<_>>() {
            while self.all[i].proved.is_none() {
                if budget.spent().is_some() || !self.try_next(i, budget, share, progress, stats) {
                    self.first = i;
                    return None;
                }
            }
        }
        Some((0..count).map(|i| self.ranking(i)).collect())
    }

    /// Whether nothing more can be tried.
    pub fn is_stuck(&self) -> bool {
        self.all.iter().any(|c| c.proved.is_none() && c.hopeless && c.open.is_empty())
    }

    /// Why a cycle has no ranking function.
    pub fn reason(&self) -> Option<Reason> {
        let i = self.all.iter().position(|c| c.proved.is_none())?;
        let place = match self.cycles.loops.get(i) {
            Some(l) => place_of(&self.program, l),
            None => self.program.funcs[self.cycles.recursions[i - self.cycles.loops.len()].funcs[0]].place,
        };
        let what = if i < self.cycles.loops.len() { "loop" } else { "recursion" };
        Some(Reason::at(format!("no ranking function was found for the {what}"), place))
    }

    /// Tries a tuple; whether there was one.
    fn try_next(
        &mut self,
        i: usize,
        budget: &Budget,
        share: Duration,
        progress: &(dyn Fn(&Stats) + Sync),
        stats: &mut Stats,
    ) -> bool {
        let cycle = &mut self.all[i];
        let refused = |tuple: &[usize]| cycle.open.get(tuple).is_some_and(|spent| *spent >= share);
        let Some(tuple) = cycle.atoms.next(&self.program, &self.turns[i], &refused) else {
            cycle.hopeless = true;
            return false;
        };
        let (program, errors) = self.instrumented(i, &tuple);
        let part = budget.within(share.max(LEAST));
        // Proofs by invariants answer most such questions, if at all; the others where there is time.
        let analysis = match self.config.analysis {
            Analysis::Default if share < ALL => Analysis::Invariants,
            other => other,
        };
        let config = Config { analysis, ..self.config.clone() };
        let outcome = decide(&program, &errors, &config, &part, progress);
        stats.join(&outcome.stats);
        match outcome.verdict {
            Verdict::True => self.all[i].proved = Some(tuple),
            Verdict::False(found) => {
                let before = self.turns[i].list.len();
                let steps = found.path.len() as u64;
                self.follow(&found.inputs, steps);
                if self.turns[i].list.len() == before {
                    // The turn could not be seen as it is.
                    self.all[i].open.insert(tuple, Duration::MAX);
                }
            }
            Verdict::Unknown(reason) => {
                let spent = if part.spent().is_some() { share } else { Duration::MAX };
                self.all[i].reason = Some(reason);
                self.all[i].open.insert(tuple, spent);
            }
        }
        true
    }

    /// Sees the turns of a run on these inputs.
    fn follow(&mut self, inputs: &Inputs, steps: u64) {
        self.sample(|sampler| {
            // The checks are edges, too.
            let limits = Limits { steps: steps + 100, memory: 1 << 28, ..Limits::default() };
            sampler.run(&mut inputs.source(), limits, true);
        });
    }

    fn tuple(&self, i: usize, tuple: &[usize]) -> Vec<ExprId> {
        tuple.iter().map(|&a| self.all[i].atoms.list[a].e).collect()
    }

    /// The program with the check that this tuple ranks the cycle.
    fn instrumented(&self, i: usize, tuple: &[usize]) -> (Program, Vec<EdgeId>) {
        let mut program = self.program.clone();
        let exprs = self.tuple(i, tuple);
        let number = i.checked_sub(self.cycles.loops.len());
        let Some(number) = number else {
            let errors = self.cycles.check_loop(&mut program, i, &exprs, &self.all[i].cells);
            return (program, errors);
        };
        let recursion = &self.cycles.recursions[number];
        let first = program.funcs[recursion.funcs[0]].params.clone();
        let mut tuples = FxHashMap::default();
        for &func in &recursion.funcs {
            let params = program.funcs[func].params.clone();
            let own: FxHashMap<ExprId, ExprId> =
                first.iter().zip(&params).map(|(&a, &b)| (program.var_expr(a), program.var_expr(b))).collect();
            let mut memo = FxHashMap::default();
            let of_func: Vec<ExprId> = exprs
                .iter()
                .map(|&e| program.exprs.substitute(e, &mut memo, |_, leaf| own.get(&leaf).copied()))
                .collect();
            tuples.insert(func, of_func);
        }
        let errors = self.cycles.check_recursion(&mut program, number, &tuples);
        (program, errors)
    }

    fn ranking(&self, i: usize) -> Ranking {
        let tuple = self.all[i].proved.as_ref().expect("all are proved");
        let tuple = tuple.iter().map(|&a| self.all[i].atoms.list[a].text.clone()).collect();
        match self.cycles.loops.get(i) {
            Some(l) => Ranking { func: l.func, place: place_of(&self.program, l), is_recursion: false, tuple },
            None => {
                let func = self.cycles.recursions[i - self.cycles.loops.len()].funcs[0];
                Ranking { func, place: self.program.funcs[func].place, is_recursion: true, tuple }
            }
        }
    }
}
