//! Where an exploration leaves work for others: states that wait, told as the paths to them.

use cfa::EdgeId;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Between an exploration and those who would take work from it.
#[derive(Debug, Default)]
pub struct Desk {
    wanted: AtomicBool,
    waiting: AtomicUsize,
    given: Mutex<Vec<Vec<Vec<EdgeId>>>>,
    /// Pieces of work that are not done, of all who share it.
    unfinished: Arc<AtomicUsize>,
}

impl Desk {
    /// A desk whose work is counted there from when it is given.
    pub fn new(unfinished: Arc<AtomicUsize>) -> Self {
        Self { unfinished, ..Self::default() }
    }

    /// Asks for work.
    pub fn ask(&self) {
        self.wanted.store(true, Ordering::SeqCst);
    }
    /// A piece of work that was left there: paths to states.
    pub fn take(&self) -> Option<Vec<Vec<EdgeId>>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
    /// States that waited a moment ago, of which some may be given away.
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
