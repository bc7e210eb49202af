//! Proves termination by exhaustive exploration: follows every path to its end, without coverage or omission.

use crate::algorithm::Explored;
use crate::algorithm::cpa::{CpaAlgorithm, Merge, Parameters};
use crate::analysis::Stop;
use crate::analysis::capability::{Limited, Reporting};
use crate::analysis::reached::NoReachedSet;
use crate::analysis::waitlist::SearchOrder;
use crate::config::Config;
use crate::domain::symbolic::SymbolicExecution;
use crate::stats::Stats;
use crate::verdict::Taints;
use cfa::Program;
use instrument::termination::Guard;
use smt::PathSolver;
use smt::budget::Budget;

/// The program to explore, with errors at undefined behaviour.
pub fn followed(marked: &Program, guards: &[Guard]) -> Program {
    let mut program = marked.clone();
    guards.iter().for_each(|g| {
        g.fail(&mut program);
    });
    program
}

/// The result of a time slice.
pub enum Turn {
    /// All paths terminate.
    AllEnd,
    /// The exploration is incomplete, or cannot prove termination.
    Open,
}

/// Largest call depth. Deeper recursions need a ranking function.
const DEPTH: u32 = 2_000;

/// The exhaustive exploration of a program.
pub struct Paths<'p> {
    /// `None` once the exploration has ended or failed.
    explorer: Option<CpaAlgorithm<'p, SymbolicExecution<'p>, NoReachedSet>>,
    taints: Taints,
}

impl<'p> Paths<'p> {
    /// An exploration of `program`.
    pub fn new(program: &'p Program, config: &Config, budget: &Budget) -> Self {
        let solver = PathSolver::new(config.solvers.open(), budget.clone());
        let mut domain = SymbolicExecution::new(program, solver, config.solvers.clone());
        domain.follow_everything();
        let parameters = Parameters {
            // Without heads, no state is covered.
            heads: vec![false; program.locs.len()],
            merge: Merge::Never,
            search: SearchOrder::DepthFirst,
            seed: config.seed,
            max_call_depth: config.max_call_depth.min(DEPTH),
            covers: true,
            notes_locations: false,
            counts_on_rest: false,
        };
        let explorer = CpaAlgorithm::new(program, domain, NoReachedSet, parameters);
        Self { explorer: Some(explorer), taints: Taints::default() }
    }

    /// True if the exploration has ended.
    pub fn is_done(&self) -> bool {
        self.explorer.is_none()
    }

    /// Continues the exploration for one time slice.
    pub fn turn(&mut self, budget: &Budget, stats: &mut Stats) -> Turn {
        let Some(explorer) = &mut self.explorer else { return Turn::Open };
        explorer.cpa.limit(budget, budget.remaining());
        let before = Stats::new(&explorer.counters, &explorer.cpa.statistics());
        let result = explorer.run(budget, &mut self.taints, &mut |_, _| {});
        stats.advance(&before, &Stats::new(&explorer.counters, &explorer.cpa.statistics()));
        match result {
            Ok(Explored::Complete) => {
                self.taints.merge(&explorer.cpa.taints);
                let clean = self.taints.is_empty() && explorer.counters.covered == 0 && explorer.counters.merged == 0;
                self.explorer = None;
                if clean { Turn::AllEnd } else { Turn::Open }
            }
            Err(Stop::Spent(_)) => Turn::Open,
            // An undefined behaviour (an error edge) or an unsupported operation prevents the proof.
            Ok(Explored::Target { .. }) | Err(Stop::Fatal(_)) => {
                self.explorer = None;
                Turn::Open
            }
        }
    }
}
