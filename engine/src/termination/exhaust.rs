//! Programs all of whose paths end: every path is followed to its end, none is covered by another and none is left out.

use crate::algorithm::Explored;
use crate::algorithm::cpa::{CpaAlgorithm, Merge, Parameters};
use crate::budget::Budget;
use crate::cpa::Stop;
use crate::cpa::symbolic::SymbolicExecution;
use crate::reached::Forgotten;
use crate::verdict::Taints;
use crate::waitlist::Search;
use crate::{Config, Stats};
use cfa::{EdgeId, Id, Program, VarId};
use instrument::termination::{Cycles, Guard};
use rustc_hash::FxHashSet;
use smt::PathSolver;
use std::time::Instant;

/// The program whose paths are followed: `marked`, with errors where executions end that C does not define, if what is computed there
/// matters to how often anything is repeated. Where it does not, executions go on in the same way whatever is computed, so the proof does not rest
/// on that arithmetic wraps around.
pub fn followed(marked: &Program, cycles: &Cycles, guards: &[Guard], budget: &Budget) -> Program {
    let mut program = marked.clone();
    guards.iter().for_each(|g| g.open(&mut program));
    let repeated: Vec<EdgeId> = cycles.loops.iter().map(|l| l.iteration).collect();
    let calls = cycles.recursions.iter().flat_map(|r| &r.calls);
    let criteria: Vec<EdgeId> = repeated.into_iter().chain(calls.copied()).collect();
    let deadline = budget.remaining().map(|left| Instant::now() + left / 10);
    let slice = slicer::slice(&program, &criteria, &slicer::Options { deadline, ..slicer::Options::default() });
    // A recursion through a pointer has no edge of its own.
    let written: Option<FxHashSet<VarId>> = slice.ok().filter(|_| cycles.unclear.is_none()).map(|slice| {
        let kept = program.edges.iter().filter(|(id, _)| slice.kept[id.index()]);
        kept.filter_map(|(_, edge)| edge.op.def()).collect()
    });
    let matters = |g: &&Guard| written.as_ref().is_none_or(|written| g.concerns(marked, written));
    guards.iter().filter(matters).for_each(|g| {
        g.fail(&mut program);
    });
    program
}

pub enum Turn {
    AllEnd,
    Open,
}

/// Calls that may nest: what goes deeper is left to proofs.
const DEPTH: u32 = 2_000;

pub struct Paths<'p> {
    /// `None` once it is known that this shows nothing.
    explorer: Option<CpaAlgorithm<'p, SymbolicExecution<'p>, Forgotten>>,
    taints: Taints,
}

impl<'p> Paths<'p> {
    pub fn new(program: &'p Program, config: &Config, budget: &Budget) -> Self {
        let solver = PathSolver::new(config.solvers.open(), budget.clone());
        let mut domain = SymbolicExecution::new(program, solver, config.solvers.clone());
        domain.follow_everything();
        let parameters = Parameters {
            // Nowhere is a state covered.
            heads: vec![false; program.locs.len()],
            merge: Merge::Never,
            search: Search::DepthFirst,
            seed: config.seed,
            max_call_depth: config.max_call_depth.min(DEPTH),
            covers: true,
            notes_locations: false,
            counts_on_rest: false,
        };
        let explorer = CpaAlgorithm::new(program, domain, Forgotten, parameters);
        Self { explorer: Some(explorer), taints: Taints::default() }
    }

    pub fn is_done(&self) -> bool {
        self.explorer.is_none()
    }

    pub fn turn(&mut self, budget: &Budget, stats: &mut Stats) -> Turn {
        let Some(explorer) = &mut self.explorer else { return Turn::Open };
        explorer.cpa.solver().set_budget(budget.clone());
        explorer.cpa.solver().set_query_time(budget.remaining());
        let before = Stats::of(&explorer.counters, &explorer.cpa);
        let result = explorer.run(budget, &mut self.taints, &mut |_, _| {});
        stats.advance(&before, &Stats::of(&explorer.counters, &explorer.cpa));
        match result {
            Ok(Explored::Complete) => {
                self.taints.merge(&explorer.cpa.taints);
                let clean = self.taints.is_empty() && explorer.counters.covered == 0 && explorer.counters.merged == 0;
                self.explorer = None;
                if clean { Turn::AllEnd } else { Turn::Open }
            }
            Err(Stop::Spent(_)) => Turn::Open,
            // What C does not define (an error edge), and what cannot be followed, shows nothing.
            Ok(Explored::Target { .. }) | Err(Stop::Fatal(_)) => {
                self.explorer = None;
                Turn::Open
            }
        }
    }
}
