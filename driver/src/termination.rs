//! The termination analysis of a program: load it, search for a proof, and explain a violation.

use crate::failure::Failure;
use crate::report::{Answer, Ranking, Undecided, Violation};
use crate::session::{Finished, Session};
use crate::source::Sources;
use crate::trace::{self, Trace};
use cfa::Check;
use engine::Config;
use engine::termination::{Divergence, Recurrence, Termination, terminates};

/// Loads the program and decides whether all its executions terminate.
///
/// # Errors
/// `Err` if the program cannot be loaded.
pub fn run(session: &Session) -> Result<Finished, Failure> {
    let mut unchecked = session.job.load.clone();
    unchecked.entry_memory.finite = true;
    let mut options = unchecked.clone();
    options.checks = vec![Check::SignedIntegerOverflow, Check::SignedLeftShift];
    // Bitcode that was compiled without these checks says nothing about undefined behaviour.
    let (program, place) = session.load_with(&options).or_else(|_| session.load_with(&unchecked))?;
    session.describe(&program);
    let progress = |stats: &engine::Stats| session.shared().engine = Some(*stats);
    let terminated = session.stage("the analysis", "analysis", || {
        if let Some(known) = place.as_ref().and_then(|place| place.proof_of_termination(&program)) {
            session.shared().count("from_cache", 1.0);
            return known;
        }
        let counted = session.job.calls_count_while.and_then(|(name, value)| {
            let is_it = |var: &cfa::Var| var.func().is_none() && var.name.as_deref() == Some(name);
            program.vars.iter().find(|(_, var)| is_it(var)).map(|(id, _)| (id, value))
        });
        let config = Config { cycle_after: counted, ..session.config.clone() };
        let terminated = terminates(&program, &config, &session.budget, &progress);
        if let Some(place) = place {
            session.shared().warn_of_cache(place.store_termination(&terminated));
        }
        terminated
    });
    session.shared().engine = Some(terminated.stats);
    let sources = Sources::new();
    let decided_by = Some(terminated.decided_by);
    Ok(match terminated.answer {
        Termination::Ends(rankings) => {
            let rankings = rankings.into_iter().map(|r| Ranking {
                spot: r.place.and_then(|p| sources.spot(&program, p)),
                function: program.funcs[r.func].name.clone(),
                is_recursion: r.is_recursion,
                tuple: r.tuple,
            });
            Finished { decided_by, rankings: rankings.collect(), ..Finished::new(Answer::True) }
        }
        Termination::Unknown(reason) => {
            let spot = reason.place.and_then(|p| sources.spot(&program, p));
            Finished::new(Answer::Unknown(Undecided { kind: reason.kind, text: reason.text, spot }))
        }
        Termination::Diverges(found) => {
            let answer = Answer::False(Box::new(explain(session, &found, &sources)));
            Finished { decided_by, ..Finished::new(answer) }
        }
    })
}

/// Explains how an execution reaches the loop or recursion that does not end.
fn explain(session: &Session, found: &Divergence, sources: &Sources) -> Violation {
    let may_leave_loop = !found.is_never_left && matches!(found.recurrence, Recurrence::Loop(_));
    let message = found.program.errors[found.error].message.clone();
    let mut violation = Violation { may_leave_loop, ..Violation::new("termination", message) };
    session.shared().violation = Some(violation.clone());
    let recorded =
        session.stage("replaying the violation", "trace", || trace::record(&found.program, &found.inputs, sources));
    match recorded {
        Ok(trace) => violation.trace = Some(Trace { inputs_per_iteration: found.inputs_per_iteration, ..trace }),
        Err(outcome) => session.shared().warnings.push(format!("the trace is incomplete: in the replay, {outcome}")),
    }
    violation
}
