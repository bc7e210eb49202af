//! The schedule of a run with threads, in a form that a native execution can enforce.
//!
//! The interpreter identifies positions in a run by its own points, which do not exist in a compiled program. An
//! *event* is an operation that exists in both: a thread accesses memory outside its own stack, calls a synchronising
//! function, frees memory, starts, or ends. The order of all events determines the values that each thread reads, and
//! so the run.

use cfa::interp::{Access, ObjectKind, Run, State};
use cfa::threads::{BLOCK, ThreadOp};
use cfa::{AllocKind, Callee, EdgeId, Expr, ExprId, Family, FunctionOrigin, Op, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The functions of the C library whose calls are two events: one before the call changes anything, and one before it
/// takes effect. Between the two events, the thread may wait.
pub const SYNCHRONISING: [&str; 41] = [
    "pthread_create",
    "pthread_join",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_timedlock",
    "pthread_mutex_unlock",
    "pthread_mutex_destroy",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock",
    "pthread_spin_lock",
    "pthread_spin_trylock",
    "pthread_spin_unlock",
    "pthread_barrier_wait",
    "pthread_once",
    "pthread_key_create",
    "pthread_exit",
    "sem_wait",
    "sem_trywait",
    "sem_timedwait",
    "sem_post",
    "sem_getvalue",
    "thrd_create",
    "thrd_join",
    "thrd_exit",
    "mtx_lock",
    "mtx_trylock",
    "mtx_timedlock",
    "mtx_unlock",
    "cnd_wait",
    "cnd_timedwait",
    "cnd_signal",
    "cnd_broadcast",
    "call_once",
    "tss_create",
];

/// The synchronising functions with a timeout. Their result may depend on the elapsed time, so the schedule records it.
const TIMED: [&str; 5] =
    ["pthread_mutex_timedlock", "pthread_cond_timedwait", "sem_timedwait", "mtx_timedlock", "cnd_timedwait"];

/// The order of the events of a run, from the start of the second thread on.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Schedule {
    /// The segments of the run in order: a thread, and the number of events that it executes. Adjacent segments have
    /// different threads.
    pub segments: Vec<(u32, u64)>,
    /// The results of the functions with a timeout, in the order in which they return.
    pub timed: Vec<i32>,
    /// The objects that threads reach from their arguments when they start.
    pub objects: Vec<Reached>,
    /// The end of the run.
    pub ending: Ending,
    /// The thread that runs last. It violates the property, unless no thread can continue.
    pub last: u32,
}

/// The end of a run with threads.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Ending {
    /// A thread violates the property after the last event.
    #[default]
    Error,
    /// No thread can continue.
    Deadlock,
    /// The last event and the event with this number, from 0, are a data race.
    Race(u64),
}

/// An object that is reachable from the argument of a thread when it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reached {
    /// The thread.
    pub thread: u32,
    /// A pointer to the object: the index of the object that contains the pointer, and the offset of the pointer there.
    /// `None` if the pointer is the argument of the thread.
    pub pointer: Option<(usize, u64)>,
    /// The offset in this object to which the pointer points.
    pub offset: u64,
    /// The size of the object in bytes if it is on a stack, else 0. From the start of the thread on, accesses to it are
    /// events, also for the owner of the stack.
    pub size: u64,
}

/// The maximal number of objects that are recorded as reachable from an argument.
const MOST_REACHED: usize = 64;
/// The maximal number of bytes of an object that are searched for pointers.
const MOST_BYTES: u64 = 4096;

/// A call of a synchronising function.
struct Call {
    /// The argument of the thread that the call starts.
    argument: Option<u64>,
    /// The depth of the frame of the function.
    depth: usize,
    /// The indices of the first and the last operation of the call.
    operations: Option<(usize, usize)>,
    has_returned: bool,
}

/// Collects the events of a run.
pub(super) struct Collector<'p> {
    program: &'p Program,
    /// The operations of threads, by the function that represents them.
    operations: FxHashMap<cfa::FuncId, ThreadOp>,
    /// True if a second thread was started.
    has_started: bool,
    /// The threads that have executed an edge.
    threads: FxHashSet<u32>,
    /// The events: the thread, and the index of the synchronising call if the event is a part of one.
    events: Vec<(u32, Option<usize>)>,
    calls: Vec<Call>,
    /// For each thread, the calls that have not returned, outermost first.
    open: FxHashMap<u32, Vec<usize>>,
    /// The private stack objects by address: the thread, and the address after the object.
    owners: BTreeMap<u64, (u32, u64)>,
    /// The threads in an atomic operation, each with true if the operation was recorded as an event already.
    atomic: FxHashMap<u32, bool>,
    /// The results of the functions with a timeout.
    timed: Vec<i32>,
    objects: Vec<Reached>,
    /// The number of threads that were started, including the first one.
    count: u32,
    /// The last event of an edge in a thread at an address.
    last: FxHashMap<(u32, EdgeId, u64), usize>,
}

impl<'p> Collector<'p> {
    /// A collector for one run of the program.
    pub fn new(program: &'p Program) -> Self {
        let operations = program.funcs.iter().filter_map(|(id, f)| Some((id, ThreadOp::by_name(&f.name)?)));
        Self {
            program,
            operations: operations.collect(),
            has_started: false,
            threads: FxHashSet::from_iter([0]),
            events: Vec::new(),
            calls: Vec::new(),
            open: FxHashMap::default(),
            owners: BTreeMap::new(),
            atomic: FxHashMap::default(),
            timed: Vec::new(),
            objects: Vec::new(),
            count: 1,
            last: FxHashMap::default(),
        }
    }

    fn is(&self, func: cfa::FuncId, origin: FunctionOrigin) -> bool {
        self.program.funcs[func].origin == origin
    }

    /// Returns true if the address is on the stack of the thread, or in its copy of a thread-local variable of the library.
    fn owns(&self, thread: u32, addr: u64) -> bool {
        self.owners.range(..=addr).next_back().is_some_and(|(_, &(owner, end))| owner == thread && addr < end)
    }

    /// Records the start of a thread with this argument. From then on, accesses to stack objects that are reachable
    /// from the argument are events.
    fn share(&mut self, argument: u64, state: &State) {
        let thread = self.count;
        self.count += 1;
        let width = u64::from(self.program.layout.pointer_width / 8);
        let first = self.objects.len();
        let mut bases: Vec<u64> = Vec::new();
        let mut todo = vec![(None, argument)];
        while let Some((pointer, target)) = todo.pop() {
            let Some(object) = state.object_at(target).filter(|o| o.live && !bases.contains(&o.base)) else { continue };
            if object.kind == (ObjectKind::Global { read_only: true }) || bases.len() >= MOST_REACHED {
                continue;
            }
            bases.push(object.base);
            let size = if self.owners.remove(&object.base).is_some() { object.size } else { 0 };
            self.objects.push(Reached { thread, pointer, offset: target - object.base, size });
            let index = first + bases.len() - 1;
            for at in (0..object.size.min(MOST_BYTES)).step_by(width as usize) {
                let bytes = state.bytes(object.base + at, width as usize);
                let target = bytes.and_then(|bytes| cfa::Bv::from_le_bytes(&bytes).to_u64());
                todo.extend(target.filter(|&target| target != 0).map(|target| (Some((index, at)), target)));
            }
        }
    }

    /// Returns true if accesses of the thread to this address are no events.
    fn is_private(&self, thread: u32, addr: u64, state: &State) -> bool {
        let is_constant = |object: &cfa::interp::Object| object.kind == ObjectKind::Global { read_only: true };
        state.object_at(addr).is_some_and(is_constant) || self.owns(thread, addr)
    }

    /// Records the owner of an object.
    fn own(&mut self, base: u64, thread: u32, state: &State) {
        let end = state.object_at(base).map_or(base, |object| object.base + object.size);
        self.owners.insert(base, (thread, end));
    }

    /// Records an access of the thread to these addresses.
    fn access(&mut self, thread: u32, edge: EdgeId, addrs: &[u64], state: &State) {
        if self.has_started && !addrs.iter().all(|&addr| self.is_private(thread, addr, state)) {
            self.count(thread, edge, addrs);
        }
    }

    /// Records the edge as an event, unless it belongs to an atomic operation that was recorded already.
    fn count(&mut self, thread: u32, edge: EdgeId, addrs: &[u64]) {
        if !self.atomic.get_mut(&thread).is_some_and(|counted| std::mem::replace(counted, true)) {
            self.events.push((thread, None));
        }
        self.last.extend(addrs.iter().map(|&addr| ((thread, edge, addr), self.events.len() - 1)));
    }

    /// Records an operation of threads that a library model executes.
    fn operation(&mut self, thread: u32) {
        let event = self.events.len();
        let call = self.open.get(&thread).and_then(|calls| calls.last().copied());
        if let Some(call) = call {
            let (first, _) = self.calls[call].operations.unwrap_or((event, event));
            self.calls[call].operations = Some((first, event));
        }
        self.events.push((thread, call));
    }

    /// Observes an executed edge.
    pub fn executed(&mut self, edge: EdgeId, state: &State) {
        let program = self.program;
        let (thread, func) = (state.thread(), program.func_of(edge));
        let is_source = self.is(func, FunctionOrigin::Source);
        if self.threads.insert(thread) {
            self.events.push((thread, None));
        }
        let number = |e: ExprId| state.eval(e).to_u64().unwrap_or(0);
        match program.edges[edge].op {
            Op::Alloc { var, kind, .. } => {
                let Some(base) = state.var(var).and_then(|value| value.to_u64()) else { return };
                match kind {
                    AllocKind::Stack => self.own(base, thread, state),
                    _ => drop(self.owners.remove(&base)),
                }
            }
            Op::Call { callee: Callee::Direct(callee), ref args, result, .. }
                if self.operations.contains_key(&callee) =>
            {
                match self.operations[&callee] {
                    ThreadOp::Start => {
                        if !std::mem::replace(&mut self.has_started, true) {
                            self.events.clear();
                            self.last.clear();
                            self.calls.iter_mut().for_each(|call| call.operations = None);
                        }
                        let call = self.open.get(&thread).and_then(|calls| calls.last());
                        self.share(call.and_then(|&call| self.calls[call].argument).unwrap_or(0), state);
                    }
                    // Accesses to variables of the library are no events.
                    ThreadOp::Local if !is_source => {
                        let copy = result.and_then(|var| state.var(var)?.to_u64());
                        let object = copy.and_then(|copy| state.object_at(copy)).map(|object| object.base);
                        object.into_iter().for_each(|base| self.own(base, thread, state));
                    }
                    ThreadOp::Begin if is_source => {
                        let kind = args.first().map(|&e| program.exprs.get(e));
                        if matches!(kind, Some(Expr::Const(kind)) if kind.to_u64().is_some_and(|k| k < BLOCK)) {
                            self.atomic.insert(thread, false);
                        }
                    }
                    ThreadOp::Finish if is_source => drop(self.atomic.remove(&thread)),
                    ThreadOp::Begin | ThreadOp::When if self.has_started => self.operation(thread),
                    _ => {}
                }
            }
            Op::Call { .. } => {
                let callee = &program.funcs[state.func()];
                let is_hooked = callee.origin == FunctionOrigin::Model && SYNCHRONISING.contains(&callee.name.as_str());
                if is_source && is_hooked {
                    let argument = match callee.name.as_str() {
                        "pthread_create" => callee.params.get(3),
                        "thrd_create" => callee.params.get(2),
                        _ => None,
                    };
                    let argument = argument.and_then(|&param| state.var(param)?.to_u64());
                    self.open.entry(thread).or_default().push(self.calls.len());
                    self.calls.push(Call { argument, depth: state.depth(), operations: None, has_returned: false });
                }
            }
            Op::Return { value } if !is_source => {
                let Some(open) = self.open.get_mut(&thread) else { return };
                if let Some(call) = open.pop_if(|call| self.calls[*call].depth == state.depth()) {
                    self.calls[call].has_returned = true;
                    if TIMED.contains(&program.funcs[func].name.as_str()) {
                        self.timed.push(value.map_or(0, number) as i32);
                    }
                }
            }
            _ if !is_source => {}
            Op::Load { addr, .. } | Op::Store { addr, .. } => self.access(thread, edge, &[number(addr)], state),
            Op::Copy { dst, src, len } if number(len) > 0 => {
                self.access(thread, edge, &[number(src), number(dst)], state);
            }
            Op::Fill { dst, len, .. } if number(len) > 0 => self.access(thread, edge, &[number(dst)], state),
            Op::Free { ptr, family } if family != Family::Scope && number(ptr) != 0 && self.has_started => {
                self.count(thread, edge, &[number(ptr)]);
            }
            _ => {}
        }
    }

    /// Returns the schedule of the run, in which the thread `last` runs at the end. `None` if no second thread was started, or if one of two racing accesses is no
    /// event because it is to the stack of its own thread, or is an operation on a lock. A native execution cannot enforce the order then.
    pub fn finish(mut self, run: &Run, last: u32, is_deadlock: bool) -> Option<Schedule> {
        if !self.has_started {
            return None;
        }
        let mut race = None;
        if let Some([(first, before), (second, access)]) = &run.race {
            let is_known = |thread: &u32, access: &Access| !self.owns(*thread, access.addr);
            let is_call = matches!(self.program.edges[access.edge].op, Op::Call { .. });
            if is_call || !is_known(first, before) || !is_known(second, access) {
                return None;
            }
            race = Some(*self.last.get(&(*first, before.edge, before.addr))?);
            self.count(*second, access.edge, &[access.addr]);
        }
        // A call is two events, its first and its last operation. Others are steps of the model alone.
        let mut order: Vec<u32> = Vec::new();
        let mut racing = None;
        for (n, &(thread, call)) in self.events.iter().enumerate() {
            if race == Some(n) {
                racing = Some(order.len() as u64);
            }
            let count = match call.map(|call| &self.calls[call]) {
                None => 1,
                Some(Call { operations, has_returned, .. }) => {
                    let (first, last) = operations.unwrap_or((n, n));
                    usize::from(n == first) + usize::from(n == last && *has_returned)
                }
            };
            order.extend(std::iter::repeat_n(thread, count));
        }
        let mut segments: Vec<(u32, u64)> = Vec::new();
        for thread in order {
            match segments.last_mut() {
                Some((last, count)) if *last == thread => *count += 1,
                _ => segments.push((thread, 1)),
            }
        }
        let ending = match racing {
            Some(first) => Ending::Race(first),
            None if is_deadlock => Ending::Deadlock,
            None => Ending::Error,
        };
        Some(Schedule { segments, timed: self.timed, objects: self.objects, ending, last })
    }
}
