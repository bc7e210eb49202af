//! Termination analysis: does every execution of a program terminate?
//!
//! The question concerns executions with defined behaviour. Other executions are taken to end at the undefined
//! behaviour, and a proof must not rely on that (for example, on a counter that overflows).
//!
//! Termination is proved cycle by cycle (see [`Cycles`]) by counterexample-guided synthesis of lexicographic ranking
//! functions. Runs of the interpreter yield iterations of each loop and recursion. A tuple is synthesized that
//! decreases in all of them (`rank`). [`crate::portfolio::verify`] decides on a slice whether it decreases in every
//! iteration of every execution. If not, the counterexample yields further iterations (`prove`). The proof is
//! bit-precise and uses the invariants that the other analyses find. Programs whose paths are all finite are proved by
//! exhaustive exploration.
//!
//! Non-termination is proved by a choice of inputs under which the program cannot terminate: a sequence of values for
//! each input call, of which the last one repeats forever. Long runs suggest such inputs (`choose`). The inputs are
//! then fixed, and all ends of the program become errors. The same analyses prove the errors unreachable, on a slice
//! that preserves termination (`diverge`). Their invariants form the closed recurrent set (Gupta, Henzinger,
//! Majumdar, Rybalchenko, Xu: Proving non-termination, POPL 2008).

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

/// The first time slice of each method. Each round is [`GROWTH`] times as long as the last.
const FIRST_SHARE: Duration = Duration::from_millis(600);
const GROWTH: u32 = 2;

/// The result of the analysis.
#[derive(Clone)]
pub enum Termination {
    /// All executions terminate. The list has a ranking function for each loop and recursion, unless the proof is by
    /// exhaustive exploration.
    Ends(Vec<Ranking>),
    /// Some execution does not terminate.
    Diverges(Box<Divergence>),
    /// The analysis did not decide, for this reason.
    Unknown(Reason),
}

/// A ranking function: the reason why a loop or recursion terminates.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The function that contains it.
    pub func: FuncId,
    /// Its place in the source.
    pub place: Option<PlaceId>,
    /// True for a recursion, false for a loop.
    pub is_recursion: bool,
    /// The components, as C text, of the tuple that decreases lexicographically with each iteration or call. Empty if
    /// there is never a second one.
    pub tuple: Vec<String>,
}

/// The result with its statistics.
#[derive(Clone)]
pub struct Terminated {
    /// The result.
    pub answer: Termination,
    /// The statistics.
    pub stats: Stats,
    /// The deciding method for display. For proofs it is one of [`PROOFS`].
    pub decided_by: &'static str,
}

/// The methods that prove termination.
pub const PROOFS: [&str; 3] = [NOTHING_REPEATED, RANKED, FOLLOWED];
const NOTHING_REPEATED: &str = "nothing is repeated";
const RANKED: &str = "ranking functions";
const FOLLOWED: &str = "all executions were followed to their ends";

/// Decides whether all executions of `program` terminate. The program has errors where C leaves the behaviour undefined
/// (signed overflow). `progress` is called about ten times a second.
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
    let search = TerminationSearch {
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

/// The guards that influence how often anything repeats. The others are opened: executions continue in the same way
/// regardless of the values computed there, so no proof relies on them.
fn that_matter(program: &mut Program, cycles: &Cycles, guards: Vec<Guard>, budget: &Budget) -> Vec<Guard> {
    // A recursion through a pointer has no edge to slice for.
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

/// A search for a proof of termination, or for a non-terminating execution.
struct TerminationSearch<'a> {
    program: &'a Program,
    /// The program with defined behaviour only, with its cycles marked.
    marked: &'a Program,
    cycles: &'a Cycles,
    guards: &'a [Guard],
    config: &'a Config,
    budget: &'a Budget,
    progress: &'a (dyn Fn(&Stats) + Sync),
    stats: Stats,
}

impl TerminationSearch<'_> {
    fn run(mut self) -> Terminated {
        // An operation with dropped behaviours may also fail to terminate.
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
        let mut divergence = diverge::DivergenceSearch::new(self.program, self.config, self.budget);
        let followed = exhaust::followed(self.marked, self.guards);
        let mut paths = exhaust::Paths::new(&followed, self.config, self.budget);
        wrapping.observe(&self.budget.within(FIRST_SHARE / 2));
        defined.observe(&self.budget.within(FIRST_SHARE / 2));
        let mut share = FIRST_SHARE;
        loop {
            // If a non-terminating execution is known, no proof exists.
            let may_end = taint.is_none() && !divergence.has_doubtful();
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
            if may_end && !divergence.has_doubtful() {
                match paths.turn(&self.budget.within(share), &mut self.stats) {
                    exhaust::Turn::AllEnd => {
                        return self.answer(Termination::Ends(Vec::new()), FOLLOWED);
                    }
                    exhaust::Turn::Open => {}
                }
            }
            if let Some(spent) = self.budget.spent()
                && !divergence.has_doubtful()
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

    /// The first reachable edge that drops behaviours.
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
