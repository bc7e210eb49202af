//! The portfolio: selects the analyses of a run, their order, and their exchange of facts.
//!
//! [`verify`] is the entry of the engine. A run of one analysis is a portfolio of one. The default selects several
//! analyses by the features of the program (Beyer, Dangl: Strategy selection for software verification based on boolean
//! features, ISoLA 2018). They run in time slices ([`turns`]) or on several threads ([`parallel`]).

pub mod configurations;
mod features;
mod parallel;
mod turns;

use crate::algorithm::Setting;
use crate::composition::Analysis;
use crate::config::Config;
use crate::exchange::Exchange;
use crate::outcome::Outcome;
use crate::simplify::{self, Simplified};
use crate::stats::Stats;
use crate::verdict::Verdict;
use cfa::interp::Inputs;
use cfa::{CallGraph, EdgeId, ErrorId, Program};
use features::Features;
use smt::budget::Budget;
use std::sync::Arc;
use turns::Turns;

/// Confirms a candidate violation. It executes the user's unsliced program on the inputs, which it translates if the
/// analysed program is a slice. Returns the inputs and the path if the run ends in this error, and otherwise a
/// description of how it ended.
pub type Replay<'a> = dyn Fn(&Inputs, ErrorId) -> Result<(Inputs, Vec<EdgeId>), String> + Sync + 'a;

/// Decides whether an error edge of `program` is reachable. `replay` confirms violations on the user's unsliced program
/// (see `replay`). `progress` is called about ten times a second.
pub fn verify(
    program: &Program,
    config: &Config,
    budget: &Budget,
    replay: &Replay<'_>,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Outcome {
    if program.errors.is_empty() && !CallGraph::new(program).may_lose_behaviours(program) {
        let proof = Some(certificate::ProofCheck::NotChecked("there is nothing to prove".into()));
        return Outcome { proof, ..Outcome::new(Verdict::True, config.analysis) };
    }
    if !config.wants_frontier && config.part.is_none() {
        // Work for other threads consists of paths, which have to be paths of the program that those threads have.
        let simplified = config.work_queue.is_none().then(|| simplify::simplified(program));
        let wants_accelerated = matches!(config.analysis, Analysis::Default | Analysis::SymexAccelerated);
        let accelerated = if wants_accelerated { simplify::accelerated(program) } else { None };
        let accelerated = accelerated.map(|program| simplify::simplified(&program));
        let simplified = simplified.as_ref().unwrap_or(program);
        let setting = Setting { program, simplified, accelerated: accelerated.as_ref(), config, budget };
        return run(setting, replay, progress);
    }
    let simplified = if config.work_queue.is_none() { Simplified::new(program) } else { None };
    let part = config.part.as_ref().map(|part| part.for_simplified(&simplified.as_ref()?.branch_map).map(Arc::new));
    // The condition automaton may distinguish paths that the simplified program merges.
    let simplified = simplified.filter(|_| !matches!(part, Some(None)));
    let config = &Config { part: part.flatten().or_else(|| config.part.clone()), ..config.clone() };
    let analysed = simplified.as_ref().map_or(program, |s| &s.program);
    let outcome = run(Setting { program, simplified: analysed, accelerated: None, config, budget }, replay, progress);
    Outcome { simplified: simplified.filter(|_| config.wants_frontier).map(Arc::new), ..outcome }
}

fn run(setting: Setting<'_>, replay: &Replay<'_>, progress: &(dyn Fn(&Stats) + Sync)) -> Outcome {
    let Setting { program, config, .. } = setting;
    let analyses = match config.analysis {
        Analysis::Default => {
            let mut analyses = Features::compute(program).analyses();
            // It comes last, since the proofs of other analyses have invariants.
            analyses.extend(setting.accelerated.map(|_| Analysis::SymexAccelerated));
            analyses
        }
        // Proofs by invariants learn from executions.
        Analysis::Invariants => vec![Analysis::Symex, Analysis::Invariants],
        one => vec![one],
    };
    if config.jobs > 1 && analyses.len() > 1 {
        return parallel::verify(setting, &analyses, replay, progress);
    }
    Turns::new(setting, &analyses, Exchange::default(), replay, progress).verify()
}
