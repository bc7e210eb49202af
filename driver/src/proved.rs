//! The description of a proof: loop invariants, vacuity, and assumed writes.

use crate::evidence::assumed;
use crate::evidence::loop_invariants;
use crate::report::{AssumedWrites, LoopInvariant, Proved};
use crate::session::{SLICING, Session};
use crate::source::Sources;
use cfa::Program;
use engine::Verdict;
use engine::invariant::Invariants;
use instrument::vacuity;
use std::time::{Duration, Instant};

/// The maximal duration of the search for loop invariants after a proof without invariants.
const INVARIANTS: Duration = Duration::from_secs(5);

/// Describes a proof. The description is empty for a verdict other than TRUE.
///
/// `analysed` is the program that the outcome is about: the slice, or the program itself.
pub fn describe_proof(
    session: &Session,
    program: &Program,
    outcome: &engine::Outcome,
    slice: Option<&slicer::Slice>,
    analysed: &Program,
) -> Proved {
    if !matches!(outcome.verdict, Verdict::True) {
        return Proved::default();
    }
    let sources = Sources::new();
    let nothing_checked = lacks_checks(session, analysed);
    let assumed_writes = session.afterwards("collecting the assumptions of the proof", "assumed", || {
        let deadline = Instant::now() + session.share_of_time(SLICING);
        let found = assumed::writes(program, slice, outcome.decided_by, &session.job.load.checks, deadline);
        let spots = found.places.iter().filter_map(|&place| sources.spot(program, place));
        AssumedWrites { count: found.count, spots: spots.collect() }
    });
    let told = Proved { nothing_checked, assumed_writes, ..Proved::default() };
    if let Some(reached) = &mut session.shared().reached {
        reached.proved = told.clone();
    }
    let invariants = session
        .afterwards("describing loops", "invariants", || invariants(session, program, analysed, outcome, &sources));
    Proved { invariants, ..told }
}

/// Returns the loop invariants of the proof. If the configuration requests invariants, observed and pre-analysed ones
/// are added.
fn invariants(
    session: &Session,
    program: &Program,
    analysed: &Program,
    outcome: &engine::Outcome,
    sources: &Sources,
) -> Vec<LoopInvariant> {
    if outcome.certificate.is_none() && !session.records.invariants {
        return Vec::new();
    }
    let loops = loop_invariants::Loops::new(analysed, !std::ptr::eq(program, analysed), sources);
    let mut invariants = outcome.certificate.as_ref().map_or_else(Vec::new, |c| loops.certified(c));
    if session.records.invariants {
        // A relation that all explored states satisfy says more than the facts of a certificate.
        loop_invariants::add(&mut invariants, loops.agreed(&outcome.agreements));
        let of_program = loop_invariants::Loops::new(program, false, sources);
        let budget = session.budget.within(session.share_of_time(INVARIANTS));
        if of_program.are_there()
            && let Some(facts) = Invariants::new(program, &budget)
        {
            loop_invariants::add(&mut invariants, of_program.certified(&facts.certificate(program)));
        }
    }
    invariants
}

/// Returns the reason why a proof says nothing about a program in which no check is reachable; `None` if a check is
/// reachable.
fn lacks_checks(session: &Session, program: &Program) -> Option<String> {
    if vacuity::has_checks(program) {
        return None;
    }
    let entry = &session.job.load.entry;
    Some(match session.job.error_functions.join(", ") {
        names if names.is_empty() => format!("no check is reachable from {entry}"),
        names => format!("no call of an error function ({names}) can be reached from {entry}"),
    })
}
