//! Whether every execution of a program ends.
//!
//! The question is about executions that C defines: the others are taken to end where they do what is not defined, and a proof may not
//! rest on that (a counter that comes to the end of its type is none).
//!
//! *Yes* is shown cycle by cycle (see [`Cycles`]): runs of the interpreter show iterations of each loop and recursion, a tuple is made up
//! that gets smaller in all of them ([`rank`]), and whether it does so in every iteration of every execution is a question for
//! [`crate::portfolio::verify`], on a slice. Where it does not, the execution found shows further iterations ([`prove`]): counterexample-guided synthesis
//! of lexicographic ranking functions, bit-precise, with the invariants that the other analyses find. Programs all of whose
//! paths end are proved by following them all.
//!
//! *No* is shown by a choice of inputs, some values for each call that brings one and the last of them for ever, with which the program as a whole cannot end: a run that does not come to an end is looked
//! for ([`choose`]), the inputs are fixed to those of the run, all ends of the program are made errors, and that none can be reached is a proof by
//! the same analyses, on a slice that keeps what may end and loops that may not ([`diverge`]). Their invariants are the closed recurrent set (Gupta,
//! Henzinger, Majumdar, Rybalchenko, Xu: Proving non-termination, POPL 2008).

mod choose;
mod decide;
mod diverge;
mod exhaust;
mod prove;
mod rank;
mod read;
mod sample;
mod walk;

pub use diverge::{Divergence, Recurrence};

use crate::config::Config;
use crate::stats::Stats;
use crate::verdict::{Reason, Taints};
use cfa::{EdgeId, FuncId, Id, Op, PlaceId, Program, VarId};
use instrument::termination::{Cycles, Guard, only_defined};
use prove::{Arithmetic, Prover};
use rustc_hash::FxHashSet;
use smt::budget::Budget;
use std::time::{Duration, Instant};

/// The first turn of each way to an answer; turns grow by the factor [`GROWTH`].
const FIRST_SHARE: Duration = Duration::from_millis(600);
const GROWTH: u32 = 2;

/// The answer.
#[derive(Clone)]
pub enum Termination {
    /// All executions end; by what was shown of each loop and recursion, if not by following all executions.
    Ends(Vec<Ranking>),
    Diverges(Box<Divergence>),
    Unknown(Reason),
}

/// Why a loop or recursion ends.
#[derive(Clone, Debug)]
pub struct Ranking {
    pub func: FuncId,
    pub place: Option<PlaceId>,
    pub is_recursion: bool,
    /// The tuple, in C, that gets lexicographically smaller with each iteration or call. Empty: there is never a second one.
    pub tuple: Vec<String>,
}

/// The answer with what went into it.
#[derive(Clone)]
pub struct Terminated {
    pub answer: Termination,
    pub stats: Stats,
    /// What had the answer, for people: of a proof one of [`PROOFS`].
    pub decided_by: &'static str,
}

/// What shows that a program ends.
pub const PROOFS: [&str; 3] = [NOTHING_REPEATED, RANKED, FOLLOWED];
const NOTHING_REPEATED: &str = "nothing is repeated";
const RANKED: &str = "ranking functions";
const FOLLOWED: &str = "all executions were followed to their ends";

/// Whether all executions of `program` end, which has errors where C leaves undefined what it does (signed arithmetic that
/// overflows), if that is known. `progress` is called some ten times a second.
pub fn terminates(
    program: &Program,
    config: &Config,
    budget: &Budget,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Terminated {
    let start = Instant::now();
    let mut marked = program.clone();
    let guards = only_defined(&mut marked);
    let cycles = Cycles::mark(&mut marked);
    let guards = that_matter(&mut marked, &cycles, guards, budget);
    let search = Search {
        program,
        marked: &marked,
        cycles: &cycles,
        guards: &guards,
        config,
        budget,
        progress,
        stats: Stats::default(),
    };
    let mut answer = search.run();
    answer.stats.time = start.elapsed();
    answer
}

/// The guards of what matters to how often anything is repeated. The others are opened: executions go on in the same way whatever is computed
/// there, so no proof rests on it.
fn that_matter(program: &mut Program, cycles: &Cycles, guards: Vec<Guard>, budget: &Budget) -> Vec<Guard> {
    // A recursion through a pointer has no edge of its own.
    if cycles.unclear.is_some() {
        return guards;
    }
    guards.iter().for_each(|g| g.open(program));
    let calls = cycles.recursions.iter().flat_map(|r| r.calls.iter().copied());
    let criteria: Vec<EdgeId> = cycles.loops.iter().map(|l| l.iteration).chain(calls).collect();
    let deadline = budget.remaining().map(|left| Instant::now() + left / 10);
    let slice = slicer::slice(program, &criteria, &slicer::Options { deadline, ..slicer::Options::default() });
    let written: Option<FxHashSet<VarId>> = slice.ok().map(|slice| {
        let kept = program.edges.iter().filter(|(id, _)| slice.kept[id.index()]);
        kept.filter_map(|(_, edge)| edge.op.def()).collect()
    });
    let matters = |g: &Guard| written.as_ref().is_none_or(|written| g.concerns(program, written));
    let guards: Vec<Guard> = guards.into_iter().filter(matters).collect();
    guards.iter().for_each(|g| g.close(program));
    guards
}

struct Search<'a> {
    program: &'a Program,
    /// The program of the executions that C defines, with its cycles marked.
    marked: &'a Program,
    cycles: &'a Cycles,
    guards: &'a [Guard],
    config: &'a Config,
    budget: &'a Budget,
    progress: &'a (dyn Fn(&Stats) + Sync),
    stats: Stats,
}

impl Search<'_> {
    fn run(mut self) -> Terminated {
        // What drops behaviour anywhere may also go on without end there.
        let taint = self.taint();
        if self.cycles.loops.is_empty() && self.cycles.recursions.is_empty() {
            return match taint {
                None => self.answer(Termination::Ends(Vec::new()), NOTHING_REPEATED),
                Some(reason) => self.answer(Termination::Unknown(reason), ""),
            };
        }
        let prover = |arithmetic| Prover::new(self.marked, self.cycles, self.guards, self.config, arithmetic);
        let mut wrapping = prover(Arithmetic::Wrapping);
        let mut defined = prover(Arithmetic::Defined);
        let mut proved: Vec<Option<Ranking>> = vec![None; self.cycles.loops.len() + self.cycles.recursions.len()];
        let mut divergence = diverge::Search::new(self.program, self.config, self.budget);
        let followed = exhaust::followed(self.marked, self.guards);
        let mut paths = exhaust::Paths::new(&followed, self.config, self.budget);
        wrapping.observe(&self.budget.within(FIRST_SHARE / 2));
        defined.observe(&self.budget.within(FIRST_SHARE / 2));
        let mut share = FIRST_SHARE;
        loop {
            // Once some execution is known not to end, no proof is to be had.
            let may_end = taint.is_none() && !divergence.has_one();
            if may_end && self.cycles.unclear.is_none() {
                for prover in [&mut wrapping, &mut defined] {
                    let part = self.budget.within(share.saturating_mul(2));
                    prover.turn(&mut proved, &part, share, self.progress, &mut self.stats);
                }
                if proved.iter().all(Option::is_some) {
                    let rankings = proved.into_iter().flatten().collect();
                    return self.answer(Termination::Ends(rankings), RANKED);
                }
            }
            let part = self.budget.within(share);
            if let Some(found) = divergence.turn(&part, self.progress, &mut self.stats) {
                return self.answer(Termination::Diverges(found), "a closed recurrent set");
            }
            if may_end && !divergence.has_one() {
                match paths.turn(&self.budget.within(share), &mut self.stats) {
                    exhaust::Turn::AllEnd => {
                        return self.answer(Termination::Ends(Vec::new()), FOLLOWED);
                    }
                    exhaust::Turn::Open => {}
                }
            }
            if let Some(spent) = self.budget.spent()
                && !divergence.has_one()
            {
                let reason = taint.unwrap_or_else(|| Reason::spent(spent));
                return self.answer(Termination::Unknown(reason), "");
            }
            let stuck = taint.is_some() || wrapping.is_stuck(&proved) && defined.is_stuck(&proved);
            if stuck && divergence.is_done() && (taint.is_some() || paths.is_done()) {
                let reason = taint
                    .or_else(|| defined.reason(&proved))
                    .unwrap_or_else(|| Reason::new("no ranking function was found"));
                return self.answer(Termination::Unknown(reason), "");
            }
            share = share.saturating_mul(GROWTH);
        }
    }

    fn answer(self, answer: Termination, decided_by: &'static str) -> Terminated {
        Terminated { answer, stats: self.stats, decided_by }
    }

    /// Where the program may do what is not represented.
    fn taint(&self) -> Option<Reason> {
        let mut taints = Taints::default();
        let known = crate::invariant::Invariants::new(self.program, &self.budget.within(FIRST_SHARE));
        for edge in self.program.edges.values() {
            if let Op::Approx { taint } = edge.op
                && self.program.taints[taint].under
                && known.as_ref().is_none_or(|k| k.is_reachable(edge.source))
            {
                taints.reach(taint);
            }
        }
        taints.first(self.program)
    }
}
