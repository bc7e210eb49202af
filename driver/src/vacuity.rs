//! The vacuity check after TRUE: does an execution satisfy each assumption?
//!
//! Code after an assumption that no execution satisfies is proved vacuously. Random runs come first: one run that
//! satisfies an assumption is sufficient. An analysis with a small budget then decides the others. An assumption is not
//! reported if neither decides it, or if no execution reaches it.

use crate::evidence::blame;
use crate::report::{Answer, Rest};
use crate::session::{Finished, Session, is_target};
use crate::source::{Sources, Spot};
use cfa::Program;
use cfa::interp::{Inputs, Interpreter, Limits, Recording};
use engine::algorithm::random::RandomInputs;
use engine::{Config, Verdict};
use frontend_llvm::Options;
use instrument::vacuity::{Assumptions, Goal, Watch};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The maximal processor time of the analysis for all assumptions together. It also takes at most a fifth of the time
/// left.
const WORK: Duration = Duration::from_secs(1);
/// The maximal number of random runs.
const RUNS: u64 = 120;
/// The maximal number of edges of one random run.
const RUN: u64 = 50_000;
/// The number of edges of all random runs after which no further run starts.
const EDGES: u64 = 2_000_000;

/// Records in the result the assumptions that no execution satisfies, if something is proved.
pub fn look_for_vacuity(session: &Session, finished: &mut Finished) {
    let shared = session.shared();
    let is_proved = matches!(finished.answer, Answer::True)
        || shared.checks.iter().any(|check| check.violations.is_empty() && matches!(check.rest, Rest::Proved));
    let is_asked = is_proved && shared.features.assumes;
    let engine = shared.engine;
    drop(shared);
    if !is_asked {
        return;
    }
    let Some(program) = unchecked(session) else { return };
    session.stage("checking whether executions satisfy the assumptions", "vacuity", || {
        record_unsatisfied(session, &program, finished);
    });
    session.shared().engine = engine;
}

/// Returns the program with assertions and automata, but without other checks, which are proved. `None` if it cannot be
/// loaded.
fn unchecked(session: &Session) -> Option<Program> {
    let load = &session.job.load;
    let checked_elsewhere = load.checks.iter().chain(&load.checked_elsewhere).copied().collect();
    let options = Options { checks: Vec::new(), checked_elsewhere, ..load.clone() };
    let (mut program, _) = session.load_with(&options).ok()?;
    instrument::unreach_call(&mut program, &session.job.error_functions);
    session.job.add_automata(&mut program).ok()?;
    Some(program)
}

fn record_unsatisfied(session: &Session, program: &Program, finished: &mut Finished) {
    let assumptions = Assumptions::find(program);
    let unsatisfied = unsatisfied(session, program, &assumptions);
    if unsatisfied.is_empty() {
        return;
    }
    let sources = Sources::new();
    let excludes_all = assumptions.exclude_everything(&unsatisfied);
    let mut spots: Vec<Spot> = Vec::new();
    for number in assumptions.innermost(&unsatisfied) {
        let spot = assumptions.place(number).map(|place| blame::users_place(program, place));
        let Some(spot) = spot.and_then(|place| sources.spot(program, place)) else { continue };
        let condition = sources.argument(&spot).unwrap_or_default();
        let is_meant = match condition.as_str() {
            // A macro hides the condition.
            "" => assumptions.is_false(number),
            _ => (assumptions.is_false(number) || assumptions.is_call(number)) && is_constant(&condition),
        };
        if (excludes_all || !is_meant) && !spots.contains(&spot) {
            spots.push(spot);
        }
    }
    spots.sort();
    if excludes_all {
        let places: Vec<String> = spots.iter().map(ToString::to_string).collect();
        finished.proved.nothing_checked = Some(match &places[..] {
            [] => "no execution satisfies the assumptions".into(),
            [one] => format!("no execution satisfies the assumption at {one}"),
            many => format!("no execution satisfies one of the assumptions at {}", many.join(", ")),
        });
    }
    finished.proved.unsatisfied_assumptions = spots;
}

/// Returns the assumptions that executions reach but no execution satisfies.
fn unsatisfied(session: &Session, program: &Program, assumptions: &Assumptions<'_>) -> Vec<usize> {
    let mut watch = assumptions.watch();
    let open = |watch: &Watch<'_>| -> Vec<usize> {
        assumptions.numbers().filter(|&number| !watch.is_satisfied(number)).collect()
    };
    run_at_random(session, program, assumptions, &mut watch);
    let budget = session.budget.within(session.share_of_time(WORK)).exerting(WORK);
    let interpreter = Interpreter::new(program);
    let limits = Limits { steps: RUN, ..engine::replay_limits(WORK) };
    // Each execution found may satisfy several assumptions, one after another.
    loop {
        let left = open(&watch);
        if left.is_empty() {
            return left;
        }
        match search(session, &assumptions.question(&left, Goal::Satisfy), &budget) {
            SearchOutcome::Execution(found, inputs) => {
                watch.set_satisfied(left[found]);
                watch.set_reached(left[found]);
                interpreter.run(&mut inputs.source(), limits, &mut watch);
            }
            SearchOutcome::Nothing => break,
            SearchOutcome::Undecided => return Vec::new(),
        }
    }
    loop {
        let unreached: Vec<usize> = open(&watch).into_iter().filter(|&number| !watch.is_reached(number)).collect();
        if unreached.is_empty() {
            break;
        }
        match search(session, &assumptions.question(&unreached, Goal::Reach), &budget) {
            SearchOutcome::Execution(found, inputs) => {
                watch.set_reached(unreached[found]);
                interpreter.run(&mut inputs.source(), limits, &mut watch);
            }
            SearchOutcome::Nothing | SearchOutcome::Undecided => break,
        }
    }
    open(&watch).into_iter().filter(|&number| watch.is_reached(number)).collect()
}

/// Runs the program on random inputs, until all assumptions are satisfied or the limits are reached.
fn run_at_random(session: &Session, program: &Program, assumptions: &Assumptions<'_>, watch: &mut Watch<'_>) {
    let interpreter = Interpreter::new(program);
    let inputs = RandomInputs::new(program, session.config.seed);
    let mut edges = 0;
    for number in 0..RUNS {
        if edges >= EDGES || assumptions.numbers().all(|assumption| watch.is_satisfied(assumption)) {
            break;
        }
        let limits = Limits { steps: RUN, memory: 1 << 26, call_depth: 10_000, ..engine::replay_limits(WORK) };
        let mut random = Recording::new(inputs.run(number));
        edges += interpreter.run(&mut random, limits, watch).steps;
        if random.source.asked == 0 {
            break;
        }
    }
}

/// Searches for an execution of the program that reaches an error.
fn search(session: &Session, question: &Program, budget: &engine::budget::Budget) -> SearchOutcome {
    let criteria: Vec<_> = question.edges.iter().filter(|(_, e)| is_target(e)).map(|(id, _)| id).collect();
    let options = slicer::Options { deadline: budget.deadline, ..slicer::Options::default() };
    let slice = match slicer::slice(question, &criteria, &options) {
        Ok(slice) => slice,
        Err(slicer::Error::NoCriterion) => return SearchOutcome::Nothing,
        Err(slicer::Error::OutOfTime) => return SearchOutcome::Undecided,
    };
    // The proof says nothing about executions with undefined behaviour, so these do not count.
    let faults_elsewhere = Some(Arc::new(AtomicBool::new(false)));
    let (solvers, seed) = (session.config.solvers.clone(), session.config.seed);
    let config = Config { solvers, seed, faults_elsewhere, ..Config::default() };
    let ask = |slice| session.ask(question, question, slice, &config, budget, None).verdict;
    let mut verdict = ask(Some(&slice));
    if matches!(verdict, Verdict::Unknown(_)) && budget.spent().is_none() {
        // A slice may lack the loops without end that implement assumptions.
        verdict = ask(None);
    }
    match verdict {
        Verdict::True => SearchOutcome::Nothing,
        Verdict::False(found) => {
            let number = question.errors.ids().position(|error| error == found.error);
            SearchOutcome::Execution(number.expect("an error of the question"), found.inputs)
        }
        Verdict::Unknown(_) => SearchOutcome::Undecided,
    }
}

/// The result of an analysis of a question.
enum SearchOutcome {
    /// An execution on these inputs reaches the error with this number.
    Execution(usize, Inputs),
    /// No execution reaches an error.
    Nothing,
    /// The analysis did not decide within its time.
    Undecided,
}

/// Returns true if a condition is written as a constant. Programs use such a condition to end a path.
fn is_constant(condition: &str) -> bool {
    condition == "false" || !condition.contains(char::is_alphabetic)
}
