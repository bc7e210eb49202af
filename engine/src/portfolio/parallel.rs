//! Several analyses in parallel, divided among threads. Each thread has its own terms and solvers. The threads share
//! the program, and exchange facts ([`Exchange`]).

use super::turns::Turns;
use super::{Replay, Setting};
use crate::composition::Analysis;
use crate::crash::Crash;
use crate::exchange::Exchange;
use crate::outcome::{Outcome, Turn};
use crate::stats::Stats;
use crate::verdict::Verdict;
use std::thread;

/// Stack size in bytes. Expressions are evaluated recursively; the memory is reserved but rarely used.
const STACK: usize = 1 << 30;

/// Like [`verify`](super::verify), with `analyses` divided among `config.jobs` threads. The first verdict cancels the
/// other threads. If several threads have a verdict at the same time, that of the first thread counts.
pub(crate) fn verify(
    setting: Setting<'_>,
    analyses: &[Analysis],
    replay: &Replay<'_>,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Outcome {
    let part = setting.budget.part();
    let groups = groups(analyses, setting.config.jobs);
    let exchange = if groups.len() > 1 { Exchange::shared() } else { Exchange::default() };
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let start = |(i, group): (usize, &Vec<Analysis>)| {
            let (part, group, exchange) = (&part, group.clone(), exchange.clone());
            let work = move || {
                let quiet = |_: &Stats| {};
                let progress: &(dyn Fn(&Stats) + Sync) = if i == 0 { progress } else { &quiet };
                let outcome = {
                    let setting = Setting { budget: part, ..setting };
                    Turns::new(setting, &group, exchange, replay, progress).verify()
                };
                if !matches!(outcome.verdict, Verdict::Unknown(_)) {
                    part.cancel();
                }
                outcome
            };
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).expect("a thread can be started")
        };
        let threads: Vec<_> = groups.iter().enumerate().map(start).collect();
        // Each analysis has its own panic handler. A panic outside costs the verdicts of its thread only.
        let end = |(thread, group): (thread::ScopedJoinHandle<'_, Outcome>, &Vec<Analysis>)| {
            thread.join().unwrap_or_else(|panic| {
                let crash = Crash::new(group[0], &*panic);
                let unknown = Outcome::new(Verdict::Unknown(crash.reason()), crash.analysis);
                Outcome { crashes: vec![crash], ..unknown }
            })
        };
        threads.into_iter().zip(&groups).map(end).collect()
    });
    joined(outcomes, setting.budget.spent().is_some())
}

/// Combines the outcomes of the threads. `stopped` is true if the budget was spent.
fn joined(outcomes: Vec<Outcome>, stopped: bool) -> Outcome {
    let mut total = Stats::default();
    let mut reasons = Vec::new();
    let mut crashes = Vec::new();
    let (mut frontiers, mut turns) = (Vec::new(), Vec::new());
    for (thread, outcome) in outcomes.iter().enumerate() {
        turns.extend(outcome.turns.iter().map(|turn| Turn { thread, ..turn.clone() }));
        total.join(&outcome.stats);
        reasons.extend(outcome.reasons.iter().cloned());
        crashes.extend(outcome.crashes.iter().cloned());
        frontiers.extend(outcome.frontiers.iter().cloned());
    }
    reasons.dedup();
    let unconfirmed = outcomes.iter().find_map(|o| o.unconfirmed.clone());
    let answered = outcomes.iter().position(|o| !matches!(o.verdict, Verdict::Unknown(_)));
    // If no thread was stopped, a panic takes precedence over the reasons of other threads.
    let crashed = || outcomes.iter().position(|o| !stopped && o.has_crashed());
    let answered = answered.or_else(crashed).unwrap_or(0);
    if let Some(crash) = contradiction(&outcomes) {
        crashes.insert(0, crash.clone());
        let unknown = Outcome::new(Verdict::Unknown(crash.reason()), crash.analysis);
        return Outcome { unconfirmed, stats: total, reasons, frontiers, crashes, turns, ..unknown };
    }
    let outcome = outcomes.into_iter().nth(answered).expect("at least one thread");
    // An unconfirmed violation of one thread prevents the proofs of all.
    let (verdict, proof) = match (outcome.verdict, &unconfirmed) {
        (Verdict::True, Some(reason)) => (Verdict::Unknown(reason.clone()), None),
        (verdict, _) => (verdict, outcome.proof),
    };
    Outcome { verdict, proof, unconfirmed, stats: total, reasons, frontiers, crashes, turns, ..outcome }
}

/// Two threads with contradictory verdicts: a defect of the verifier, which is reported as a crash.
fn contradiction(outcomes: &[Outcome]) -> Option<Crash> {
    let proof = outcomes.iter().find(|o| matches!(o.verdict, Verdict::True))?;
    let violation = outcomes.iter().find(|o| matches!(o.verdict, Verdict::False(_)))?;
    let (proof, violation) = (proof.decided_by, violation.decided_by);
    let message = format!(
        "`{}` proved the program safe, and `{}` found a violation that the interpreter confirms",
        proof.name(),
        violation.name()
    );
    Some(Crash { analysis: proof, message })
}

/// Proofs by invariants share a thread with symbolic execution, from which they learn. The other analyses are
/// distributed round-robin.
fn groups(analyses: &[Analysis], jobs: usize) -> Vec<Vec<Analysis>> {
    let mut groups = vec![Vec::new(); jobs.clamp(1, analyses.len())];
    let mut next = 0;
    for &analysis in analyses {
        if analysis == Analysis::Invariants {
            groups[0].push(analysis);
            continue;
        }
        let n = groups.len();
        groups[next % n].push(analysis);
        next += 1;
    }
    groups.retain(|g| !g.is_empty());
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Reason;

    fn outcome(verdict: Verdict, unconfirmed: Option<Reason>) -> Outcome {
        Outcome { unconfirmed, ..Outcome::new(verdict, Analysis::Symex) }
    }

    #[test]
    fn no_proof_beside_a_violation_that_does_not_replay() {
        let unknown = || Verdict::Unknown(Reason::new("time"));
        let proved = joined(vec![outcome(unknown(), None), outcome(Verdict::True, None)], false);
        assert!(matches!(proved.verdict, Verdict::True));
        let doubting = outcome(unknown(), Some(Reason::new("does not replay")));
        let doubted = joined(vec![doubting, outcome(Verdict::True, None)], false);
        assert!(matches!(doubted.verdict, Verdict::Unknown(reason) if reason.text == "does not replay"));
    }

    #[test]
    fn threads_that_contradict_one_another_abort() {
        let found = crate::verdict::Counterexample {
            error: cfa::ErrorId(0),
            inputs: cfa::interp::Inputs::default(),
            path: Vec::new(),
        };
        let joined = joined(vec![outcome(Verdict::True, None), outcome(Verdict::False(found), None)], false);
        assert!(joined.has_crashed() && joined.crashes[0].message.contains("the interpreter confirms"));
    }

    #[test]
    fn a_thread_that_crashed_is_the_reason_only_where_no_other_answers_or_was_stopped() {
        let time = || outcome(Verdict::Unknown(Reason::new("time")), None);
        let crash = Crash { analysis: Analysis::VALUE, message: "boom".into() };
        let crashed = || {
            let unknown = outcome(Verdict::Unknown(crash.reason()), None);
            Outcome { crashes: vec![crash.clone()], ..unknown }
        };
        let alone = joined(vec![time(), crashed()], false);
        assert!(alone.has_crashed());
        let stopped = joined(vec![time(), crashed()], true);
        assert!(!stopped.has_crashed() && stopped.crashes.len() == 1);
        let answered = joined(vec![crashed(), outcome(Verdict::True, None)], false);
        assert!(matches!(answered.verdict, Verdict::True) && answered.crashes.len() == 1);
    }

    #[test]
    fn invariants_go_with_symbolic_execution() {
        use Analysis::{Invariants, Merging, Symex};
        let all = [Symex, Merging, Analysis::VALUE, Invariants];
        assert_eq!(groups(&all, 2), [vec![Symex, Analysis::VALUE, Invariants], vec![Merging]]);
        assert_eq!(groups(&all, 1), [vec![Symex, Merging, Analysis::VALUE, Invariants]]);
        assert_eq!(groups(&all, 9).len(), 3);
    }
}
