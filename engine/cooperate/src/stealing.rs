//! Parallel symbolic execution with work stealing.
//!
//! An idle thread requests every other waiting state of another thread, and explores the paths of the same program
//! through these states ([`PathAutomaton`]). The other thread drops them. So no thread idles while there are
//! states to share, and no state is explored twice. (Work stealing between ranges: Siddiqui, Khurshid: Scaling symbolic
//! execution using ranged analysis, OOPSLA 2012.)
//!
//! Covering states may be handed over like any others: the program is proved once all pieces are proved.

use crate::condition::rest::{Choice, ExploredProgram, all_but};
use cfa::Program;
use engine::budget::Budget;
use engine::part::PathAutomaton;
use engine::work_queue::WorkQueue;
use engine::{Analysis, Config, Outcome, Reason, Replay, Stats, Verdict};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The time between attempts to find work.
const PAUSE: Duration = Duration::from_millis(2);
/// The number of failed attempts after which an idle thread leaves.
const LOOKS: u32 = 25;
/// The stack size of a helper in bytes, reserved rather than used. Expressions are evaluated recursively.
const STACK: usize = 1 << 30;

/// The number of idle threads.
#[derive(Debug)]
pub struct Idle(AtomicIsize);

impl Idle {
    /// A counter of idle threads.
    pub fn new(threads: usize) -> Self {
        Self(AtomicIsize::new(threads as isize))
    }
    /// Adds a thread that has become idle.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
    fn take(&self) -> bool {
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| (n > 0).then_some(n - 1)).is_ok()
    }
}

/// Like [`engine::verify`]. If the analysis is symbolic execution, idle threads help.
pub fn verify(
    program: &Program,
    config: &Config,
    budget: &Budget,
    replay: &Replay<'_>,
    progress: &(dyn Fn(&Stats) + Sync),
    idle: &Idle,
) -> Outcome {
    // The frontier of several explorations is not supported.
    if config.analysis != Analysis::Symex || config.wants_frontier || program.errors.is_empty() {
        return engine::verify(program, config, budget, replay, progress);
    }
    let config = Config { jobs: 1, ..config.clone() };
    // All explorations use the simplified program, unless the configuration restricts the exploration to a part.
    let simplified = config.part.is_none().then(|| engine::simplify::simplified(program));
    let program = simplified.as_ref().unwrap_or(program);
    let unfinished = Arc::new(AtomicUsize::new(1));
    let crew = Crew {
        program,
        config,
        budget: budget.part(),
        replay,
        idle,
        unfinished,
        explorers: Mutex::default(),
        queue: Mutex::default(),
        outcomes: Mutex::default(),
    };
    thread::scope(|scope| {
        let crew = &crew;
        let hire = move || {
            while !crew.is_over() {
                if crew.has_work() && crew.idle.take() {
                    let help = move || {
                        crew.work(LOOKS);
                        crew.idle.add();
                    };
                    if thread::Builder::new().stack_size(STACK).spawn_scoped(scope, help).is_err() {
                        crew.idle.add();
                        return;
                    }
                }
                thread::sleep(PAUSE);
            }
        };
        // If the helper cannot be started, this thread explores everything.
        let _ = thread::Builder::new().spawn_scoped(scope, hire);
        crew.explore(None, progress);
        // Work like a helper until all pieces are done.
        crew.work(u32::MAX);
    });
    let mut outcomes = crew.outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    if crew.unfinished.load(Ordering::SeqCst) > 0 {
        let spent =
            crew.budget.spent().map_or_else(|| Reason::new("a thread ended by an internal error"), Reason::spent);
        outcomes.push(Outcome::unknown(spent, Analysis::Symex));
    }
    Outcome::of_parts(outcomes)
}

/// The threads that share an exploration.
struct Crew<'a> {
    program: &'a Program,
    config: Config,
    budget: Budget,
    replay: &'a Replay<'a>,
    idle: &'a Idle,
    /// The number of unfinished pieces of work, including those that no thread has taken. The first is the program
    /// itself.
    unfinished: Arc<AtomicUsize>,
    /// The work queues of running explorations.
    explorers: Mutex<Vec<Arc<WorkQueue>>>,
    /// Work that was handed over, but not taken before its explorer ended.
    queue: Mutex<Vec<Vec<Vec<Choice>>>>,
    outcomes: Mutex<Vec<Outcome>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crew<'_> {
    fn is_over(&self) -> bool {
        self.unfinished.load(Ordering::SeqCst) == 0 || self.budget.spent().is_some()
    }

    fn has_work(&self) -> bool {
        !lock(&self.queue).is_empty() || lock(&self.explorers).iter().any(|work_queue| work_queue.waiting() > 1)
    }

    /// Works until all pieces are done, or until `looks` successive attempts found no work.
    fn work(&self, looks: u32) {
        let mut looked = 0;
        while !self.is_over() && looked < looks {
            match self.find() {
                Some(paths) => {
                    looked = 0;
                    self.explore_part(&paths);
                }
                None => {
                    looked += 1;
                    thread::sleep(PAUSE);
                }
            }
        }
    }

    /// A piece of work that was handed over. If there is none, requests work from the explorer with the most waiting
    /// states.
    fn find(&self) -> Option<Vec<Vec<Choice>>> {
        if let Some(paths) = lock(&self.queue).pop() {
            return Some(paths);
        }
        let explorers = lock(&self.explorers);
        if let Some(paths) = explorers.iter().find_map(|work_queue| work_queue.take()) {
            return Some(self.choices(&paths));
        }
        let richest = explorers.iter().max_by_key(|work_queue| work_queue.waiting())?;
        if richest.waiting() > 1 {
            richest.ask();
        }
        None
    }

    /// The decisions of paths at choices.
    fn choices(&self, paths: &[Vec<cfa::EdgeId>]) -> Vec<Vec<Choice>> {
        let explored = ExploredProgram::unchanged(self.program);
        paths.iter().map(|path| explored.choices(path)).collect()
    }

    /// Explores the paths through states that were handed over.
    fn explore_part(&self, paths: &[Vec<Choice>]) {
        match all_but(self.program, paths).and_then(|rest| rest.part(None)) {
            Some(part) => self.explore(Some(Arc::new(part)), &|_| {}),
            None => {
                let why = Reason::new("another thread could not take over a path");
                Piece { crew: self, outcome: None }.done(Outcome::unknown(why, Analysis::Symex));
            }
        }
    }

    fn explore(&self, part: Option<Arc<PathAutomaton>>, progress: &(dyn Fn(&Stats) + Sync)) {
        let piece = Piece { crew: self, outcome: None };
        let work_queue = Arc::new(WorkQueue::new(self.unfinished.clone()));
        lock(&self.explorers).push(work_queue.clone());
        let part = part.or_else(|| self.config.part.clone());
        let config = Config { work_queue: Some(work_queue.clone()), part, ..self.config.clone() };
        let outcome = engine::verify(self.program, &config, &self.budget, self.replay, progress);
        let mut explorers = lock(&self.explorers);
        explorers.retain(|other| !Arc::ptr_eq(other, &work_queue));
        // Under the same lock, so that other threads always see either the queue or its remaining work.
        while let Some(paths) = work_queue.take() {
            lock(&self.queue).push(self.choices(&paths));
        }
        drop(explorers);
        piece.done(outcome);
    }
}

/// A piece of work that a thread has taken. Dropping it marks it as done, with or without an outcome.
struct Piece<'c, 'a> {
    crew: &'c Crew<'a>,
    outcome: Option<Outcome>,
}

impl Piece<'_, '_> {
    fn done(mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }
}

impl Drop for Piece<'_, '_> {
    fn drop(&mut self) {
        let ended = || Outcome::unknown(Reason::new("a thread ended by an internal error"), Analysis::Symex);
        let outcome = self.outcome.take().unwrap_or_else(ended);
        // A piece without a proof prevents the proof of the program, but other pieces may still find a violation.
        if matches!(outcome.verdict, Verdict::False(_)) {
            self.crew.budget.cancel();
        }
        lock(&self.crew.outcomes).push(outcome);
        self.crew.unfinished.fetch_sub(1, Ordering::SeqCst);
    }
}
