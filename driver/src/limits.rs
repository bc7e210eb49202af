//! Limits of time and memory, and interruption. The work runs in a thread of its own, so that every run ends with an
//! answer.
//!
//! The thread that calls [`supervise`] watches the worker. At a limit it raises the cancel flag, which the engine and
//! the solvers poll. If the worker does not react within [`Limits::grace`], `supervise` abandons it and the caller
//! reports without its result. With the grace period [`GRACE`], an answer follows within a second of the limit.

use engine::ReasonKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The default grace period: the time that a cancelled worker has to return its result.
pub const GRACE: Duration = Duration::from_millis(700);
/// The default limit of the wall time.
pub const DEFAULT: Duration = Duration::from_secs(120);
/// The interval at which limits are checked. Memory grows by at most some 100 MB in between.
const TICK: Duration = Duration::from_millis(20);
/// The size of the worker's stack in bytes. It is only reserved: pages are mapped when they are touched.
const STACK: usize = 1 << 30;

/// The number of calls of [`interrupt`].
static INTERRUPTS: AtomicU32 = AtomicU32::new(0);

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The limit of the wall time, from `start`.
    pub timeout: Option<Duration>,
    /// True if `timeout` is the default, not the choice of the user.
    pub is_default: bool,
    /// The limit of the processor time of this process and the children that it waited for.
    pub processor: Option<Duration>,
    /// The limit of the resident memory in bytes.
    pub memory: u64,
    /// The start of the run.
    pub start: Instant,
    /// The time that a cancelled worker has to return its result.
    pub grace: Duration,
}

/// Returns the limit of the wall time for the value of `--timeout`, where 0 means no limit. `otherwise` is the limit
/// without the option.
pub fn wall_time(option: Option<Duration>, otherwise: Option<Duration>) -> Option<Duration> {
    option.map_or(otherwise, |limit| Some(limit).filter(|limit| !limit.is_zero()))
}

impl Limits {
    /// Returns the time until the first time limit, or `None` if no time is limited. The remaining processor time
    /// counts as wall time: one thread needs at least as much wall time.
    pub fn left(&self) -> Option<Duration> {
        let wall = self.timeout.map(|limit| limit.saturating_sub(self.start.elapsed()));
        [wall, self.processor_left()].into_iter().flatten().min()
    }

    /// Returns the time limit with the least time left, or `None` if no time is limited.
    pub fn nearest(&self) -> Option<Stop> {
        let wall = self.timeout.map(|limit| (limit.saturating_sub(self.start.elapsed()), self.timed_out(limit)));
        let processor = self.processor.map(|limit| (limit.saturating_sub(processor_time()), Stop::Processor(limit)));
        [wall, processor].into_iter().flatten().min_by_key(|(left, _)| *left).map(|(_, stop)| stop)
    }

    /// Returns the limits of time.
    pub fn times(&self) -> impl Iterator<Item = Stop> {
        let wall = self.timeout.map(|limit| self.timed_out(limit));
        [wall, self.processor.map(Stop::Processor)].into_iter().flatten()
    }

    fn timed_out(&self, limit: Duration) -> Stop {
        if self.is_default { Stop::DefaultTimeout(limit) } else { Stop::Timeout(limit) }
    }

    /// Returns the remaining processor time, or `None` if it is not limited.
    pub fn processor_left(&self) -> Option<Duration> {
        self.processor.map(|limit| limit.saturating_sub(processor_time()))
    }
}

/// The reason why [`supervise`] stopped a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The limit of the wall time that the user chose.
    Timeout(Duration),
    /// The default limit of the wall time, which holds without `--timeout`.
    DefaultTimeout(Duration),
    /// The limit of the processor time.
    Processor(Duration),
    /// The limit of the resident memory in bytes.
    Memory(u64),
    /// A call of [`interrupt`].
    Interrupted,
}

impl Stop {
    /// Returns the kind of the reason of a run that ended at the limit.
    pub fn kind(self) -> ReasonKind {
        match self {
            Self::Timeout(_) | Self::DefaultTimeout(_) | Self::Processor(_) => ReasonKind::Time,
            Self::Memory(_) => ReasonKind::Memory,
            Self::Interrupted => ReasonKind::Stated,
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Timeout(limit) => write!(f, "timeout of {} s", limit.as_secs_f64()),
            Self::DefaultTimeout(limit) => {
                write!(f, "timeout of {} s, the default (--timeout sets another)", limit.as_secs_f64())
            }
            Self::Processor(limit) => write!(f, "{} s of processor time", limit.as_secs_f64()),
            Self::Memory(limit) => write!(f, "memory limit of {} MB", limit >> 20),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// The end of supervised work.
pub enum WorkEnd<T> {
    /// The worker returned this result, maybe after it was cancelled.
    Done(T),
    /// The worker panicked with this message, or could not be started.
    Panicked(String),
    /// The worker did not return in time after it was cancelled, or its memory ran away. It is still running.
    Abandoned,
}

/// The result of [`supervise`].
pub struct Supervised<T> {
    /// The end of the work.
    pub end: WorkEnd<T>,
    /// The reason of the cancellation, if the work was cancelled.
    pub stop: Option<Stop>,
    /// The maximal resident memory that was observed, in bytes.
    pub peak_memory: u64,
}

/// Runs `work` in a thread with a big stack under `limits`, and returns its end. A limit or an interrupt raises
/// `cancel`. `tick` is called about fifty times a second.
pub fn supervise<T: Send + 'static>(
    limits: &Limits,
    cancel: &Arc<AtomicBool>,
    mut tick: impl FnMut(),
    work: impl FnOnce() -> T + Send + 'static,
) -> Supervised<T> {
    let (sender, receiver) = channel();
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        // The receiver is gone only if this thread was abandoned.
        let _ = sender.send(result.map_err(|payload| crate::panics::message(&*payload)));
    };
    // If address space is limited, as by `ulimit -v`, a smaller stack must suffice.
    let body = Arc::new(Mutex::new(Some(body)));
    let spawned = [STACK, STACK >> 3, STACK >> 7].into_iter().any(|size| {
        let body = body.clone();
        let run = move || {
            let body = body.lock().ok().and_then(|mut body| body.take());
            if let Some(body) = body {
                body();
            }
        };
        std::thread::Builder::new().name("worker".into()).stack_size(size).spawn(run).is_ok()
    });
    if !spawned {
        let end = WorkEnd::Panicked("cannot create a thread: the address space is too small".into());
        return Supervised { end, stop: None, peak_memory: resident_memory() };
    }
    watch(limits, cancel, &receiver, &mut tick)
}

/// Waits for the result of the worker, and cancels or abandons it at a limit.
fn watch<T>(
    limits: &Limits,
    cancel: &AtomicBool,
    receiver: &Receiver<Result<T, String>>,
    tick: &mut impl FnMut(),
) -> Supervised<T> {
    let mut stop = None;
    let mut stopped_at = None;
    let mut peak_memory = 0;
    // Only interrupts from now on concern this work.
    let before = INTERRUPTS.load(Ordering::SeqCst);
    loop {
        let end = match receiver.recv_timeout(TICK) {
            Ok(Ok(value)) => Some(WorkEnd::Done(value)),
            Ok(Err(message)) => Some(WorkEnd::Panicked(message)),
            Err(RecvTimeoutError::Disconnected) => Some(WorkEnd::Panicked("the worker died".into())),
            Err(RecvTimeoutError::Timeout) => None,
        };
        let memory = resident_memory();
        peak_memory = peak_memory.max(memory);
        if stop.is_none() {
            let timeout = limits.timeout.filter(|t| limits.start.elapsed() >= *t);
            let timeout = timeout.map(|limit| limits.timed_out(limit));
            let spent = || limits.processor.filter(|limit| processor_time() >= *limit).map(Stop::Processor);
            stop = if INTERRUPTS.load(Ordering::SeqCst) > before {
                Some(Stop::Interrupted)
            } else if memory > limits.memory {
                Some(Stop::Memory(limits.memory))
            } else {
                timeout.or_else(spent)
            };
            if stop.is_some() {
                cancel.store(true, Ordering::SeqCst);
                stopped_at = Some(Instant::now());
            }
        }
        // The worker may have returned by itself because its own budget is spent.
        if let Some(end) = end {
            return Supervised { end, stop, peak_memory };
        }
        let runs_away = memory > limits.memory.saturating_add(limits.memory / 4).saturating_add(256 << 20);
        if runs_away || stopped_at.is_some_and(|at| at.elapsed() > limits.grace) {
            return Supervised { end: WorkEnd::Abandoned, stop, peak_memory };
        }
        tick();
    }
}

/// Interrupts supervised work, as Ctrl-C does. Returns the number of earlier calls.
pub fn interrupt() -> u32 {
    INTERRUPTS.fetch_add(1, Ordering::SeqCst)
}

/// Returns the processor time of this process and the children that it waited for.
fn processor_time() -> Duration {
    let of = |who| {
        // SAFETY: `usage` outlives the call. On failure it remains zero.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        unsafe { libc::getrusage(who, &mut usage) };
        let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
        time(usage.ru_utime) + time(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

/// Returns the resident memory of this process in bytes, or 0 if the system does not report it.
pub fn resident_memory() -> u64 {
    let Ok(statm) = std::fs::read_to_string("/proc/self/statm") else { return 0 };
    let pages = statm.split_ascii_whitespace().nth(1).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
    pages * page_size()
}

fn page_size() -> u64 {
    // SAFETY: sysconf has no effect on memory.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(4096)
}

/// Returns the default memory limit in bytes: four fifths of the memory of the machine or of the control group,
/// whichever is smaller.
pub fn default_memory() -> u64 {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
        line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb << 10)
    });
    let groups = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let group = groups.iter().find_map(|f| std::fs::read_to_string(f).ok()?.trim().parse::<u64>().ok());
    let available = machine.into_iter().chain(group).min().unwrap_or(8 << 30);
    available / 5 * 4
}

/// Raises the stack limit of the main thread and of the compilers that it starts. clang processes nested source by
/// recursion. With a stack of 8 MB it crashes before it reports which code is nested too deeply.
pub fn deepen_stack() {
    const DEEP: u64 = 512 << 20;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` outlives the calls. On failure the old limit remains.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_STACK, &mut limit) == 0 && limit.rlim_cur < DEEP {
            limit.rlim_cur = DEEP.min(limit.rlim_max);
            libc::setrlimit(libc::RLIMIT_STACK, &limit);
        }
    }
}

/// Limits the address space of this process to twice `memory` (in bytes) plus 8 GB. It is the last resort if memory
/// grows faster than [`supervise`] checks it: an allocation fails and the run ends with a verdict before the machine
/// runs out of memory. The limit is a multiple because a process has more address space than resident memory.
pub fn limit_address_space(memory: u64) {
    let bytes = memory.saturating_mul(2).saturating_add(8 << 30);
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `old` and `limit` outlive the calls. On failure the old limit remains.
    unsafe {
        let mut old = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_AS, &mut old) == 0 && old.rlim_cur > bytes {
            libc::setrlimit(libc::RLIMIT_AS, &libc::rlimit { rlim_max: old.rlim_max, ..limit });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(timeout: u64) -> Limits {
        Limits {
            timeout: Some(Duration::from_millis(timeout)),
            is_default: false,
            processor: None,
            memory: u64::MAX / 4,
            start: Instant::now(),
            grace: GRACE,
        }
    }

    #[test]
    fn what_ends_first_bounds_the_time_left() {
        let second = Duration::from_secs(1);
        let none = Limits {
            timeout: None,
            is_default: false,
            processor: None,
            memory: 0,
            start: Instant::now(),
            grace: GRACE,
        };
        assert_eq!(none.left(), None);
        let both = |wall: u32, processor: u32| {
            Limits { timeout: Some(second * wall), processor: Some(second * processor), ..none }
                .left()
                .expect("limited")
        };
        assert!(both(1_000, 1_000_000) <= second * 1_000);
        assert!(both(1_000_000, 1_000) <= second * 1_000);
        assert_eq!(Limits { processor: Some(Duration::ZERO), ..none }.left(), Some(Duration::ZERO));
    }

    #[test]
    fn a_limit_that_nobody_has_set_says_so() {
        let named = |is_default| {
            let stop = Limits { is_default, ..limits(120_000) }.nearest().expect("limited");
            (stop.to_string().contains("--timeout"), stop.to_string().starts_with("timeout of 120 s"))
        };
        assert_eq!((named(true), named(false)), ((true, true), (false, true)));
    }

    #[test]
    fn an_option_of_zero_is_no_limit() {
        let second = Duration::from_secs(1);
        assert_eq!(wall_time(None, Some(DEFAULT)), Some(DEFAULT));
        assert_eq!(wall_time(Some(second), Some(DEFAULT)), Some(second));
        assert_eq!(wall_time(Some(Duration::ZERO), Some(DEFAULT)), None);
    }

    #[test]
    fn work_comes_back() {
        let done = supervise(&limits(10_000), &Arc::default(), || (), || 7);
        assert!(matches!(done.end, WorkEnd::Done(7)));
        assert_eq!(done.stop, None);
        assert!(done.peak_memory > 0);
    }

    #[test]
    fn a_panic_is_a_message() {
        let done = supervise(&limits(10_000), &Arc::default(), || (), || panic!("of {} kinds", 2));
        assert!(matches!(done.end, WorkEnd::<()>::Panicked(m) if m.contains("of 2 kinds")));
    }

    #[test]
    fn work_that_reacts_is_waited_for() {
        let cancel = Arc::<AtomicBool>::default();
        let seen = cancel.clone();
        let work = move || {
            while !seen.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            "what there is"
        };
        let done = supervise(&limits(50), &cancel, || (), work);
        assert!(matches!(done.end, WorkEnd::Done("what there is")));
        assert_eq!(done.stop, Some(Stop::Timeout(Duration::from_millis(50))));
    }

    #[test]
    fn work_that_does_not_react_is_left_behind_within_a_second() {
        let begin = Instant::now();
        let done = supervise(&limits(50), &Arc::default(), || (), || std::thread::sleep(Duration::from_secs(20)));
        assert!(matches!(done.end, WorkEnd::Abandoned));
        assert!(begin.elapsed() < Duration::from_millis(1050));
    }

    #[test]
    fn processor_time_is_limited() {
        let cancel = Arc::<AtomicBool>::default();
        let seen = cancel.clone();
        let work = move || while !seen.load(Ordering::SeqCst) {};
        let limit = processor_time() + Duration::from_millis(50);
        let done = supervise(&Limits { processor: Some(limit), ..limits(20_000) }, &cancel, || (), work);
        assert_eq!(done.stop, Some(Stop::Processor(limit)));
    }

    #[test]
    fn the_stack_is_deep() {
        fn deep(n: u64) -> u64 {
            let mut block = [n; 64];
            std::hint::black_box(&mut block);
            if n == 0 { 0 } else { deep(n - 1) + block[63] - n + 1 }
        }
        let done = supervise(&limits(20_000), &Arc::default(), || (), || deep(500_000));
        assert!(matches!(done.end, WorkEnd::Done(500_000)));
    }
}
