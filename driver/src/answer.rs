//! The answer to a single question.

use crate::cooperation::knowledge::Known;
use crate::decide::decide_and_describe;
use crate::failure::Failure;
use crate::preanalysis::leave_out_valid;
use crate::report::{Answer, Undecided};
use crate::session::{Finished, Session};
use crate::termination;
use engine::ReasonKind;
use instrument::Property;

/// Answers a single question.
///
/// # Errors
/// `Err` if the program cannot be loaded or instrumented, or the initial knowledge cannot be read.
pub fn answer(session: &Session) -> Result<Finished, Failure> {
    if let [Property::Termination] = session.job.properties[..] {
        return termination::run(session);
    }
    if let Some(unsupported) = session.job.properties.iter().find(|p| p.checks().is_empty()) {
        let reason = format!("property {} is not supported", unsupported.name());
        return Ok(Finished::new(Answer::Unknown(Undecided::new(ReasonKind::Stated, reason))));
    }
    let (mut program, place) = session.prepare()?;
    let known = Known::read(&session.plan, &mut program)?;
    let holds_anyway = session.plan.is_none() && leave_out_valid(session, &mut program);
    let mut finished = decide_and_describe(session, &program, place.as_ref(), known);
    if holds_anyway {
        finished.proved.nothing_checked = None;
    }
    Ok(finished)
}
