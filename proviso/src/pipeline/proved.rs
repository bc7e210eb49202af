//! What there is to say of a proof: what holds at loops, whether anything was checked, what was taken for valid.

use super::{Decided, Pipeline, SLICING};
use crate::assumed;
use crate::loop_invariants;
use crate::report::{AssumedWrites, LoopInvariant};
use crate::source::{Sources, Spot};
use cfa::Program;
use engine::Verdict;
use engine::invariant::Invariants;
use instrument::vacuity;
use std::time::{Duration, Instant};

/// What holds at the loops of a program that was proved without invariants is looked for this long at most.
const INVARIANTS: Duration = Duration::from_secs(5);

/// What is said of TRUE.
#[derive(Clone, Default)]
pub struct Proved {
    pub invariants: Vec<LoopInvariant>,
    /// Why it says nothing of the program.
    pub nothing_checked: Option<String>,
    /// Assumptions that executions reach, and none satisfies.
    pub unsatisfied_assumptions: Vec<Spot>,
    /// The writes that it takes for valid.
    pub assumed_writes: AssumedWrites,
}

impl Pipeline {
    /// Of a verdict other than TRUE there is nothing to say.
    pub(crate) fn describe_proof(&self, program: &Program, decided: &Decided) -> Proved {
        let Decided { outcome, slice, .. } = decided;
        if !matches!(outcome.verdict, Verdict::True) {
            return Proved::default();
        }
        let sources = Sources::new();
        let analysed = decided.analysed(program);
        let nothing_checked = self.lacks_checks(analysed);
        let assumed_writes = self.afterwards("looking what is taken for valid", "assumed", || {
            let deadline = Instant::now() + self.share_of_time(SLICING);
            let found = assumed::writes(program, slice.as_ref(), outcome.decided_by, &self.job.load.checks, deadline);
            let spots = found.places.iter().filter_map(|&place| sources.spot(program, place));
            AssumedWrites { count: found.count, spots: spots.collect() }
        });
        let told = Proved { nothing_checked, assumed_writes, ..Proved::default() };
        if let Some(reached) = &mut self.shared().reached {
            reached.proved = told.clone();
        }
        let invariants =
            self.afterwards("describing loops", "invariants", || self.invariants(program, analysed, outcome, &sources));
        Proved { invariants, ..told }
    }

    /// What holds at loops: what the proof rests on, and where that is wanted, what else is known.
    fn invariants(
        &self,
        program: &Program,
        analysed: &Program,
        outcome: &engine::Outcome,
        sources: &Sources,
    ) -> Vec<LoopInvariant> {
        if outcome.certificate.is_none() && !self.wants_invariants {
            return Vec::new();
        }
        let loops = loop_invariants::Loops::new(analysed, !std::ptr::eq(program, analysed), sources);
        let mut invariants = outcome.certificate.as_ref().map_or_else(Vec::new, |c| loops.certified(c));
        if self.wants_invariants {
            // What all states agree on says more than facts do.
            loop_invariants::add(&mut invariants, loops.agreed(&outcome.agreements));
            let of_program = loop_invariants::Loops::new(program, false, sources);
            let budget = self.budget.within(self.share_of_time(INVARIANTS));
            if of_program.are_there()
                && let Some(facts) = Invariants::new(program, &budget)
            {
                loop_invariants::add(&mut invariants, of_program.certified(&facts.certificate(program)));
            }
        }
        invariants
    }

    /// Why TRUE says nothing of a program in which no check can be reached.
    fn lacks_checks(&self, program: &Program) -> Option<String> {
        if vacuity::has_checks(program) {
            return None;
        }
        let entry = &self.job.load.entry;
        Some(match self.job.error_functions.join(", ") {
            names if names.is_empty() => format!("what starts at {entry} has nothing to check"),
            names => format!("no call of an error function ({names}) can be reached from {entry}"),
        })
    }
}
