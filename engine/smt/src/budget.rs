//! Budgets: limits on time and processor time, with cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A deadline, a limit on processor time, and a switch that cancels the work. Clones share the switch.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// The wall-clock time at which the work ends.
    pub deadline: Option<Instant>,
    /// The switch; set by [`cancel`](Self::cancel).
    pub cancel: Arc<AtomicBool>,
    /// The switches of the larger pieces of work that contain this one.
    outer: Vec<Arc<AtomicBool>>,
    effort: Option<Effort>,
}

/// A limit on the processor time of a thread.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// The clock of the thread's processor time.
    clock: libc::clockid_t,
    /// The value of the clock at which the budget is spent.
    end: Duration,
    /// The earliest time at which the clock can reach `end`, since a thread works no faster than wall-clock time.
    /// Avoids reading the clock, a system call, because solvers query the budget often.
    earliest: Instant,
}

impl Effort {
    /// The remaining processor time; `None` if the thread has ended.
    fn left(self) -> Option<Duration> {
        Some(self.end.saturating_sub(read(self.clock)?))
    }

    fn is_over(self, now: Instant) -> bool {
        now >= self.earliest && self.left() == Some(Duration::ZERO)
    }
}

/// The processor time clock of this thread. Other threads can read it.
fn clock() -> Option<libc::clockid_t> {
    let mut clock = 0;
    let error = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
    (error == 0).then_some(clock)
}

fn read(clock: libc::clockid_t) -> Option<Duration> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let error = unsafe { libc::clock_gettime(clock, &mut now) };
    (error == 0).then(|| Duration::new(now.tv_sec as u64, now.tv_nsec as u32))
}

/// The processor time that this thread has used so far.
pub fn worked() -> Duration {
    clock().and_then(read).unwrap_or_default()
}

/// The reason why a budget is spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spent {
    /// The time limit was reached.
    Time,
    /// The work was cancelled.
    Cancelled,
}

impl Budget {
    /// A budget without a limit. Only [`cancel`](Self::cancel) ends it.
    pub fn unlimited() -> Self {
        Self::default()
    }
    /// A budget that ends `time` from now.
    pub fn lasting(time: Duration) -> Self {
        Self::unlimited().within(time)
    }
    /// A part of this budget that ends at most `time` from now. It shares the switch.
    pub fn within(&self, time: Duration) -> Self {
        let end = Instant::now().checked_add(time);
        let deadline = match (self.deadline, end) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self { deadline, cancel: Arc::clone(&self.cancel), outer: self.outer.clone(), effort: self.effort }
    }
    /// A part of this budget that ends when this thread has used another `time` of processor time. Decisions by such a
    /// budget do not depend on the load of the machine.
    pub fn exerting(&self, time: Duration) -> Self {
        let begun = clock().and_then(|clock| Some((clock, read(clock)?)));
        let Some((clock, now)) = begun else { return self.within(time) };
        let end = match self.effort {
            Some(effort) if effort.clock == clock => effort.end.min(now.saturating_add(time)),
            _ => now.saturating_add(time),
        };
        let Some(earliest) = Instant::now().checked_add(end.saturating_sub(now)) else { return self.clone() };
        Self { effort: Some(Effort { clock, end, earliest }), ..self.clone() }
    }
    /// A part of this budget with its own switch. Cancelling the whole also cancels the part.
    pub fn part(&self) -> Self {
        let outer = self.outer.iter().chain([&self.cancel]).cloned().collect();
        Self { deadline: self.deadline, cancel: Arc::default(), outer, effort: self.effort }
    }
    /// Stops all work under this budget and its parts. Any thread may call it.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
    /// The reason to stop the work, if there is one.
    #[inline]
    pub fn spent(&self) -> Option<Spent> {
        if self.cancel.load(Ordering::Relaxed) || self.outer.iter().any(|o| o.load(Ordering::Relaxed)) {
            Some(Spent::Cancelled)
        } else if self.deadline.is_none() && self.effort.is_none() {
            None
        } else {
            let now = Instant::now();
            let is_over = self.deadline.is_some_and(|d| now >= d) || self.effort.is_some_and(|e| e.is_over(now));
            is_over.then_some(Spent::Time)
        }
    }
    /// The remaining time; `None` if there is no limit.
    pub fn remaining(&self) -> Option<Duration> {
        let time = self.deadline.map(|d| d.saturating_duration_since(Instant::now()));
        let effort = self.effort.and_then(Effort::left);
        time.into_iter().chain(effort).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effort_is_what_the_thread_works() {
        let whole = Budget::unlimited();
        let part = whole.exerting(Duration::from_millis(20));
        // Sleeping uses no processor time.
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(part.spent(), None);
        assert!(part.remaining().is_some_and(|left| left > Duration::ZERO));
        // Other threads can observe the processor time of this one.
        let smaller = part.exerting(Duration::from_secs(9));
        let start = clock().and_then(read).expect("a clock");
        while clock().and_then(read).expect("a clock") < start + Duration::from_millis(20) {}
        let seen = std::thread::scope(|scope| scope.spawn(|| smaller.spent()).join().expect("no panic"));
        assert_eq!((seen, smaller.remaining()), (Some(Spent::Time), Some(Duration::ZERO)));
        assert_eq!(whole.spent(), None);
        // The maximal duration means no limit.
        assert_eq!(part.exerting(Duration::MAX).remaining(), Some(Duration::ZERO));
        assert_eq!(whole.exerting(Duration::MAX).spent(), None);
    }

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
