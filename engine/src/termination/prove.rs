//! Proofs of termination: counterexample-guided synthesis of ranking functions.

use super::Ranking;
use super::decide::decide;
use super::rank::{self, Atoms};
use super::sample::{AllWatched, Iterations, Sampler};
use super::walk::walking;
use crate::composition::Analysis;
use crate::config::Config;
use crate::domain::loops::constants;
use crate::runs::random::Random;
use crate::stats::Stats;
use crate::verdict::{Reason, Verdict};
use cfa::interp::{Inputs, Limits};
use cfa::{EdgeId, ExprId, Id, LocId, Program, VarId};
use instrument::termination::{Component, Cycles, Guard, RankedCell, place_of};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::budget::Budget;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of random runs, and the limit on their edges.
const RUNS: u64 = 120;
const STEPS: u64 = 20_000;
/// The minimal time for a query.
const LEAST: Duration = Duration::from_millis(600);
/// From this time slice on, queries use other analyses as well.
const ALL: Duration = Duration::from_secs(8);

/// The state of the proof for one cycle.
struct Cycle {
    atoms: Atoms,
    cells: Vec<RankedCell>,
    /// Undecided tuples, with the time of the longest unsuccessful attempt.
    open: FxHashMap<Vec<usize>, Duration>,
    /// Variables that may have a new value in each iteration, with the time of the longest unsuccessful attempt to
    /// prove it.
    walking: Vec<(VarId, Duration)>,
    /// The reason why the last query was undecided.
    reason: Option<Reason>,
    /// True if the cycle is proved except for signed overflow.
    overflows: bool,
    /// True if no tuple fits the observed iterations.
    hopeless: bool,
}

/// The semantics of signed arithmetic in a proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arithmetic {
    /// Signed arithmetic wraps around. The proof counts if the relevant operations are proved not to overflow.
    Wrapping,
    /// Only executions without overflow. Components have lower bounds (floors).
    Defined,
}

/// The result of an attempt.
enum Attempt {
    /// The loop or recursion has this ranking function.
    Proved(Ranking),
    /// The tuple was not proved.
    Failed,
    /// There was no tuple to try.
    Nothing,
}

/// The synthesis of ranking functions for all cycles of a program.
pub struct Prover<'p> {
    arithmetic: Arithmetic,
    /// The program, with additional variables for memory cells.
    program: Program,
    /// The same program with all guards open.
    lenient: Program,
    cycles: &'p Cycles,
    guards: &'p [Guard],
    config: &'p Config,
    all: Vec<Cycle>,
    /// The watched variables (while the sampler does not hold them), and the observed iterations by cycle.
    watched: AllWatched,
    iterations: Vec<Iterations>,
    /// The index of the cycle to try first.
    first: usize,
}

impl<'p> Prover<'p> {
    /// A prover for the cycles of the program `marked`.
    pub fn new(
        marked: &Program,
        cycles: &'p Cycles,
        guards: &'p [Guard],
        config: &'p Config,
        arithmetic: Arithmetic,
    ) -> Self {
        let bounded = arithmetic == Arithmetic::Defined;
        let mut program = marked.clone();
        let (mut all, mut watched) = (Vec::new(), AllWatched::default());
        let mut cycle = |atoms, cells, walking: Vec<VarId>| {
            all.push(Cycle {
                atoms,
                cells,
                open: FxHashMap::default(),
                walking: walking.into_iter().map(|v| (v, Duration::ZERO)).collect(),
                reason: None,
                overflows: false,
                hopeless: false,
            });
        };
        let guarded: FxHashSet<LocId> = guards.iter().map(|g| g.place(&program)).collect();
        for l in &cycles.loops {
            let (looked_at, atoms) = rank::of_loop(&mut program, l, &guarded, bounded);
            // Addresses do not overflow. The values of numbers are distinct only if none overflows.
            let walking = if bounded { Vec::new() } else { walking(&program, l) };
            cycle(atoms, looked_at.cells.clone(), walking);
            watched.loops.push(looked_at);
        }
        for (number, r) in (cycles.loops.len() as u32..).zip(&cycles.recursions) {
            let (looked_at, atoms) = rank::of_recursion(&mut program, r, &guarded, bounded);
            cycle(atoms, Vec::new(), Vec::new());
            watched.functions.extend(looked_at.into_iter().map(|(f, w)| ((number, f), w)));
        }
        let iterations = all.iter().map(|_| Iterations::default()).collect();
        let mut lenient = program.clone();
        guards.iter().for_each(|g| g.open(&mut lenient));
        Self { arithmetic, program, lenient, cycles, guards, config, all, watched, iterations, first: 0 }
    }

    /// Observes iterations in runs on random inputs.
    pub fn observe(&mut self, budget: &Budget) {
        let constants = constants(&self.program);
        let seed = self.config.seed;
        self.sample(|sampler| {
            for run in 0..RUNS {
                if budget.spent().is_some() {
                    break;
                }
                let deadline = budget.remaining().map(|left| Instant::now() + left);
                let limits = Limits { steps: STEPS, memory: 1 << 26, call_depth: 2_000, deadline, ..Limits::default() };
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
        let program = match self.arithmetic {
            Arithmetic::Wrapping => &self.lenient,
            Arithmetic::Defined => &self.program,
        };
        let mut sampler = Sampler::new(program, self.cycles, watched);
        sampler.iterations = std::mem::take(&mut self.iterations);
        look(&mut sampler);
        self.iterations = sampler.iterations;
        self.watched = sampler.watched;
    }

    /// Continues until all cycles are `proved`, or until one has no candidate.
    pub fn turn(
        &mut self,
        proved: &mut [Option<Ranking>],
        budget: &Budget,
        share: Duration,
        progress: &(dyn Fn(&Stats) + Sync),
        stats: &mut Stats,
    ) {
        let count = self.all.len();
        for i in (0..count).map(|i| (i + self.first) % count).collect::<Vec<_>>() {
            while proved[i].is_none() && !self.all[i].overflows {
                if budget.spent().is_some() {
                    self.first = i;
                    return;
                }
                match self.try_next(i, budget, share, progress, stats) {
                    Attempt::Proved(ranking) => proved[i] = Some(ranking),
                    Attempt::Failed => {}
                    Attempt::Nothing => {
                        self.first = i;
                        return;
                    }
                }
            }
        }
    }

    /// True if an unproved cycle has no candidates left.
    pub fn is_stuck(&self, proved: &[Option<Ranking>]) -> bool {
        let is_stuck = |c: &Cycle| {
            c.overflows || c.hopeless && c.walking.is_empty() && c.open.values().all(|&spent| spent == Duration::MAX)
        };
        self.all.iter().zip(proved).any(|(c, proved)| proved.is_none() && is_stuck(c))
    }

    /// The reason why an unproved cycle has no ranking function.
    pub fn reason(&self, proved: &[Option<Ranking>]) -> Option<Reason> {
        let i = proved.iter().position(Option::is_none)?;
        let place = match self.cycles.loops.get(i) {
            Some(l) => place_of(&self.program, l),
            None => self.program.funcs[self.cycles.recursions[i - self.cycles.loops.len()].funcs[0]].place,
        };
        let what = if i < self.cycles.loops.len() { "loop" } else { "recursion" };
        Some(Reason::at(format!("no ranking function was found for the {what}"), place))
    }

    /// Tries one tuple for a cycle.
    fn try_next(
        &mut self,
        i: usize,
        budget: &Budget,
        share: Duration,
        progress: &(dyn Fn(&Stats) + Sync),
        stats: &mut Stats,
    ) -> Attempt {
        if let Some(ranking) = self.try_values(i, budget, share, progress, stats) {
            return Attempt::Proved(ranking);
        }
        let cycle = &mut self.all[i];
        let refused = |tuple: &[usize]| cycle.open.get(tuple).is_some_and(|spent| *spent >= share);
        let Some(tuple) = cycle.atoms.next(&self.program, &self.iterations[i], &refused) else {
            cycle.hopeless = true;
            return Attempt::Nothing;
        };
        let part = budget.within(share.max(LEAST));
        let check = |program: &mut Program| self.check(i, &tuple, program);
        let (program, errors, guards) = self.question(&check, &part);
        let config = self.config_for(share);
        let outcome = decide(&program, &errors, slicer::Control::Standard, &config, &part, progress);
        stats.join(&outcome.stats);
        match outcome.verdict {
            Verdict::True if self.arithmetic == Arithmetic::Wrapping => {
                match self.overflows(&guards, &config, &budget.within(share.max(LEAST)), progress, stats) {
                    false => return Attempt::Proved(self.ranking(i, self.texts(i, &tuple))),
                    true => self.all[i].overflows = true,
                }
            }
            Verdict::True => return Attempt::Proved(self.ranking(i, self.texts(i, &tuple))),
            Verdict::False(found) => {
                let before = self.iterations[i].list.len();
                let steps = found.path.len() as u64;
                self.follow(&found.inputs, steps);
                if self.iterations[i].list.len() == before {
                    // The observer could not represent the iteration.
                    self.all[i].open.insert(tuple, Duration::MAX);
                }
            }
            Verdict::Unknown(reason) => {
                let spent = if part.spent().is_some() { share } else { Duration::MAX };
                self.all[i].reason = Some(reason);
                self.all[i].open.insert(tuple, spent);
            }
        }
        Attempt::Failed
    }

    /// Tries to prove that a variable never has the same value twice, for example a pointer that traverses a list of
    /// any shape.
    fn try_values(
        &mut self,
        i: usize,
        budget: &Budget,
        share: Duration,
        progress: &(dyn Fn(&Stats) + Sync),
        stats: &mut Stats,
    ) -> Option<Ranking> {
        let mut left = std::mem::take(&mut self.all[i].walking);
        let mut found = None;
        left.retain_mut(|(var, spent)| {
            if found.is_some() || *spent >= share || budget.spent().is_some() {
                return true;
            }
            let part = budget.within(share.max(LEAST));
            let (program, errors, guards) =
                self.question(&|program| self.cycles.check_values_are_new(program, i, *var), &part);
            if errors.is_empty() {
                return false;
            }
            let config = Config { analysis: Analysis::SHAPE, ..self.config_for(share) };
            let outcome = decide(&program, &errors, slicer::Control::Standard, &config, &part, progress);
            stats.join(&outcome.stats);
            let is_new = matches!(outcome.verdict, Verdict::True);
            if is_new && !self.overflows(&guards, &self.config_for(share), &part, progress, stats) {
                let tuple = vec![format!("number of values that {} has not had", self.name(*var))];
                found = Some(self.ranking(i, tuple));
            }
            *spent = share;
            is_new || part.spent().is_some()
        });
        self.all[i].walking = left;
        found
    }

    fn name(&self, var: VarId) -> &str {
        self.program.vars[var].name.as_deref().unwrap_or("it")
    }

    fn config_for(&self, share: Duration) -> Config {
        // Proofs by invariants answer most of these queries. Others run only if there is enough time.
        let analysis = match self.config.analysis {
            Analysis::Default if share < ALL => Analysis::Invariants,
            other => other,
        };
        // An execution with an invalid access has undefined behaviour and does not count.
        Config { analysis, faults_elsewhere: Some(Arc::default()), ..self.config.clone() }
    }

    /// Decides whether signed arithmetic may overflow at one of these guards.
    fn overflows(
        &self,
        guards: &[&Guard],
        config: &Config,
        budget: &Budget,
        progress: &(dyn Fn(&Stats) + Sync),
        stats: &mut Stats,
    ) -> bool {
        let mut program = self.lenient.clone();
        let errors: Vec<EdgeId> = guards.iter().filter_map(|g| g.fail(&mut program)).collect();
        if errors.is_empty() {
            return false;
        }
        let outcome = decide(&program, &errors, slicer::Control::Standard, config, budget, progress);
        stats.join(&outcome.stats);
        !matches!(outcome.verdict, Verdict::True)
    }

    /// Observes the iterations of a run on given inputs.
    fn follow(&mut self, inputs: &Inputs, steps: u64) {
        self.sample(|sampler| {
            // The added checks consist of edges, too.
            let limits = Limits { steps: steps + 100, memory: 1 << 28, ..Limits::default() };
            sampler.run(&mut inputs.source(), limits, true);
        });
    }

    fn tuple(&self, i: usize, tuple: &[usize]) -> Vec<Component> {
        tuple.iter().map(|&a| self.all[i].atoms.list[a].component).collect()
    }

    /// The program with a check of a cycle, the error edges of the check, and the guards of signed arithmetic that the
    /// check depends on. Only these guards are closed; the others would enlarge the slice.
    fn question(
        &self,
        check: &dyn Fn(&mut Program) -> Vec<EdgeId>,
        budget: &Budget,
    ) -> (Program, Vec<EdgeId>, Vec<&'p Guard>) {
        let mut lenient = self.lenient.clone();
        let errors = check(&mut lenient);
        let deadline = budget.remaining().map(|left| Instant::now() + left / 3);
        let options = slicer::Options { deadline, ..slicer::Options::default() };
        let guards: Vec<&Guard> = match slicer::slice(&lenient, &errors, &options) {
            Err(_) => self.guards.iter().collect(),
            Ok(slice) => {
                let kept = lenient.edges.iter().filter(|(id, _)| slice.kept[id.index()]);
                let written: FxHashSet<VarId> = kept.filter_map(|(_, edge)| edge.op.def()).collect();
                self.guards.iter().filter(|g| g.concerns(&self.program, &written)).collect()
            }
        };
        if self.arithmetic == Arithmetic::Wrapping {
            return (lenient, errors, guards);
        }
        let mut program = self.lenient.clone();
        guards.iter().for_each(|g| g.close(&mut program));
        let errors = check(&mut program);
        (program, errors, guards)
    }

    /// Adds the check that a tuple is a ranking function of the cycle.
    fn check(&self, i: usize, tuple: &[usize], program: &mut Program) -> Vec<EdgeId> {
        let components = self.tuple(i, tuple);
        let number = i.checked_sub(self.cycles.loops.len());
        let Some(number) = number else {
            return self.cycles.check_loop(program, i, &components, &self.all[i].cells);
        };
        let recursion = &self.cycles.recursions[number];
        let first = program.funcs[recursion.funcs[0]].params.clone();
        let mut tuples = FxHashMap::default();
        for &func in &recursion.funcs {
            let params = program.funcs[func].params.clone();
            let own: FxHashMap<ExprId, ExprId> =
                first.iter().zip(&params).map(|(&a, &b)| (program.var_expr(a), program.var_expr(b))).collect();
            let mut memo = FxHashMap::default();
            let mut of_func = |c: &Component| {
                let value = program.exprs.substitute(c.value, &mut memo, |_, leaf| own.get(&leaf).copied());
                Component { value, ..*c }
            };
            tuples.insert(func, components.iter().map(&mut of_func).collect::<Vec<_>>());
        }
        self.cycles.check_recursion(program, number, &tuples)
    }

    fn texts(&self, i: usize, tuple: &[usize]) -> Vec<String> {
        tuple.iter().map(|&a| self.all[i].atoms.list[a].text.clone()).collect()
    }

    fn ranking(&self, i: usize, tuple: Vec<String>) -> Ranking {
        match self.cycles.loops.get(i) {
            Some(l) => Ranking { func: l.func, place: place_of(&self.program, l), is_recursion: false, tuple },
            None => {
                let func = self.cycles.recursions[i - self.cycles.loops.len()].funcs[0];
                Ranking { func, place: self.program.funcs[func].place, is_recursion: true, tuple }
            }
        }
    }
}
