//! The work queue through which an exploration hands waiting states, as the paths to them, to other threads.

use cfa::EdgeId;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The work queue of one exploration.
#[derive(Debug, Default)]
pub struct WorkQueue {
    wanted: AtomicBool,
    waiting: AtomicUsize,
    given: Mutex<Vec<Vec<Vec<EdgeId>>>>,
    /// Number of unfinished pieces of work, shared by all queues.
    unfinished: Arc<AtomicUsize>,
}

impl WorkQueue {
    /// An empty queue. Each piece of work increments `unfinished` when it is added.
    pub fn new(unfinished: Arc<AtomicUsize>) -> Self {
        Self { unfinished, ..Self::default() }
    }

    /// Requests work.
    pub fn ask(&self) {
        self.wanted.store(true, Ordering::SeqCst);
    }
    /// Takes a piece of work: paths to states.
    pub fn take(&self) -> Option<Vec<Vec<EdgeId>>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
    /// Size of the waitlist of the exploration when it last checked the queue.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub(crate) fn is_wanted(&self, waiting: usize) -> bool {
        self.waiting.store(waiting, Ordering::Relaxed);
        waiting > 1 && self.wanted.load(Ordering::Relaxed)
    }
    pub(crate) fn give(&self, paths: Vec<Vec<EdgeId>>) {
        self.unfinished.fetch_add(1, Ordering::SeqCst);
        self.given.lock().unwrap_or_else(PoisonError::into_inner).push(paths);
        self.wanted.store(false, Ordering::SeqCst);
    }
}
