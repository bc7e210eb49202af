//! How long a piece of work may take, and who may stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A deadline and a switch that cancels the work. Clones share the switch.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    pub deadline: Option<Instant>,
    pub cancel: Arc<AtomicBool>,
    /// The switches of larger pieces of work that this is a part of.
    outer: Vec<Arc<AtomicBool>>,
}

/// Why a budget is spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spent {
    Time,
    Cancelled,
}

impl Budget {
    /// No deadline; ends only by [`cancel`](Self::cancel).
    pub fn unlimited() -> Self {
        Self::default()
    }
    /// Ends `time` from now.
    pub fn lasting(time: Duration) -> Self {
        Self::unlimited().within(time)
    }
    /// A part of this budget that ends at most `time` from now and is cancelled with the whole.
    pub fn within(&self, time: Duration) -> Self {
        let end = Instant::now().checked_add(time);
        let deadline = match (self.deadline, end) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self { deadline, cancel: Arc::clone(&self.cancel), outer: self.outer.clone() }
    }
    /// A part with a switch of its own, which is cancelled with the whole.
    pub fn part(&self) -> Self {
        let outer = self.outer.iter().chain([&self.cancel]).cloned().collect();
        Self { deadline: self.deadline, cancel: Arc::default(), outer }
    }
    /// Stops all work under this budget and its parts, from any thread.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
    /// Whether, and why, the work should stop.
    #[inline]
    pub fn spent(&self) -> Option<Spent> {
        if self.cancel.load(Ordering::Relaxed) || self.outer.iter().any(|o| o.load(Ordering::Relaxed)) {
            Some(Spent::Cancelled)
        } else if self.deadline.is_some_and(|d| Instant::now() >= d) {
            Some(Spent::Time)
        } else {
            None
        }
    }
    /// The time that is left; `None` without a deadline.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|d| d.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_end_with_the_whole() {
        let whole = Budget::lasting(Duration::ZERO);
        assert_eq!(whole.within(Duration::from_secs(9)).spent(), Some(Spent::Time));
        let whole = Budget::unlimited();
        let part = whole.within(Duration::from_secs(9));
        assert_eq!(part.spent(), None);
        let own = whole.part();
        own.cancel();
        assert_eq!((own.spent(), whole.spent()), (Some(Spent::Cancelled), None));
        let own = whole.part();
        whole.cancel();
        assert_eq!((own.spent(), part.spent()), (Some(Spent::Cancelled), Some(Spent::Cancelled)));
    }
}
