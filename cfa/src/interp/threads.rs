//! Runs of programs with threads: sequentially consistent, one thread at a time.
//!
//! Control may switch to another thread only at a *point*: before each visible operation, and at each place at which a
//! thread ends or waits. Visible operations are accesses to memory that other threads may access, starts of atomic
//! sections, and operations on locks. Other threads cannot observe the operations between two points. Points are
//! numbered in the order of the run. A schedule maps numbers of points to the thread that runs from there.

use super::memory::Digest;
use super::races::{Access, Clocks, Races, order_of};
use super::robust::{How, Orders, Robust};
use super::*;
use crate::PlaceId;
use crate::expr::BinOp;
use crate::liveness::{self, Liveness};
use crate::program::*;
use crate::threads::{self, Relation, ThreadOp};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The maximal number of threads of a run. A run that starts more ends at a limit.
const MAX_THREADS: usize = 128;

/// The functions of a program with threads that represent operations of threads or start atomic sections, and the errors
/// of threads.
pub struct Functions {
    ops: Vec<Option<ThreadOp>>,
    /// The kind of atomic section that a call of the function starts, unless the caller is in a section already.
    sections: Vec<Option<u64>>,
    race: Option<ErrorId>,
    deadlock: Option<ErrorId>,
    orders: Orders,
}

impl Functions {
    /// `None` if the program starts no threads.
    pub fn find(program: &Program) -> Option<Arc<Self>> {
        program.starts_threads().then(|| Arc::new(Self::new(program)))
    }

    fn new(program: &Program) -> Self {
        let ops: Vec<Option<ThreadOp>> = program.funcs.values().map(|f| ThreadOp::by_name(&f.name)).collect();
        // Models that use thread operations, directly or in callees, are not atomic sections.
        let mut uses: Vec<bool> = ops.iter().map(Option::is_some).collect();
        loop {
            let mut changed = false;
            for edge in program.edges.values() {
                if let Op::Call { callee: Callee::Direct(callee), .. } = edge.op {
                    let caller = program.locs[edge.source].func;
                    let is_model = program.funcs[callee].origin == FunctionOrigin::Model;
                    if is_model && uses[callee.index()] && !uses[caller.index()] {
                        uses[caller.index()] = true;
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let section = |(id, f): (FuncId, &Function)| match f.origin {
            FunctionOrigin::Source if f.name.starts_with("__VERIFIER_atomic_") => Some(threads::BLOCK),
            FunctionOrigin::Model if !uses[id.index()] => Some(threads::LIBRARY),
            _ => None,
        };
        let error = |check| program.errors.iter().find(|(_, error)| error.check == check).map(|(id, _)| id);
        Self {
            sections: program.funcs.iter().map(section).collect(),
            ops,
            race: error(crate::Check::DataRace),
            deadlock: error(crate::Check::Deadlock),
            orders: Orders::of(program),
        }
    }
}

/// The status of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Status {
    Runs,
    Waits(Wait),
    Ended,
}

/// A thread waits until the word at this address has this relation to the value, or until the word at `interrupt` is
/// not zero. `interrupt` is 0 if nothing interrupts the thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Wait {
    word: u64,
    relation: Relation,
    value: i32,
    interrupt: u64,
}

/// An atomic section.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Section {
    kind: u64,
    /// If the section is a function: the number of frames below its own, and the function.
    function: Option<(usize, FuncId)>,
    /// True if the thread has entered the section. Other threads cannot run then.
    entered: bool,
    /// True if the section has read memory, so that a write in it is a read-modify-write.
    loaded: bool,
}

/// A thread. The registers and frames of the current thread are in the interpreter's state, not here.
#[derive(Clone)]
struct Thread {
    words: Vec<u64>,
    wides: Vec<Bv>,
    words_base: usize,
    wides_base: usize,
    func: FuncId,
    frames: Vec<Frame>,
    stack_objects: Vec<u64>,
    pc: usize,
    /// True if the thread has already paused before the instruction at `pc`. It executes the instruction when it runs next.
    granted: bool,
    status: Status,
    /// The handle of the thread: the argument with which it was started.
    this: u64,
    sections: Vec<Section>,
    /// The addresses of the global locks that the thread holds.
    held: Vec<u64>,
    /// The next operation of the thread, if it is an access.
    next: Option<Access>,
}

/// The accesses to memory that are visible, so that control may switch there.
#[derive(Clone)]
pub(super) enum Visible {
    /// All, except those to constants.
    All,
    /// All, except those of library models outside atomic sections. Models access memory that other threads write only
    /// in atomic sections.
    Program,
    /// The accesses to memory that threads have been observed to share.
    Only(Rc<RefCell<Sharing>>),
}

/// The minimal number of bytes of a cell.
const MIN_CELL: u64 = 8;
/// The variable of the models that counts the threads that have not ended.
const LIVE: &str = "proviso_live";
/// The maximal number of cells of an object. The cells of larger objects have more bytes.
const MAX_CELLS: u64 = 4096;

/// A part of a global object, or of the objects that one thread allocates at one edge. All cells of an object have the
/// same size.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cell {
    /// A global object, and the number of the cell.
    Global(GlobalId, u32),
    /// The objects that an allocation makes in a thread: the edge, the thread, and the number of the cell.
    Made(EdgeId, u32, u32),
}

/// The memory that threads have been observed to share. Accesses to other memory are not visible.
#[derive(Clone, Default, Debug)]
pub struct Sharing {
    /// The cells that several threads access.
    pub shared: FxHashSet<Cell>,
    accesses: FxHashMap<Cell, CellAccesses>,
    /// Library functions that access shared memory. A call of such a function is a point.
    library: FxHashSet<FuncId>,
    /// Cells that library functions access, and cells that other functions access.
    by_library: FxHashSet<Cell>,
    by_others: FxHashSet<Cell>,
    /// Allocations, each by its edge and thread, whose objects another thread has accessed.
    foreign: FxHashSet<(EdgeId, u32)>,
    /// Allocations on stacks. Some of their objects ended before the run observed an access by another thread.
    ended: FxHashSet<(EdgeId, u32)>,
    /// True if a thread has tested whether a lock is held, without waiting for it. Unlocking is visible from then on.
    pub observes: bool,
    /// True if a shared cell or a library function was added, `observes` was set, or an allocation in `ended` became
    /// `foreign`, since the caller cleared this flag.
    pub grew: bool,
    /// A deliberate defect of the reduction, for tests.
    flaw: Option<Flaw>,
}

/// A deliberate defect of the reduction: accesses that do not commute count as independent. Tests check that they detect
/// it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// A cell that one thread writes and others only read counts as not shared.
    ReadersCommute,
    /// A cell that is always accessed under some lock counts as not shared, even if the locks differ.
    LocksAreOne,
}

impl Sharing {
    /// A reduction with a deliberate defect, for tests.
    pub fn with_flaw(flaw: Flaw) -> Self {
        Self { flaw: Some(flaw), ..Self::default() }
    }
}

/// The accesses to a cell so far.
#[derive(Clone, Debug)]
struct CellAccesses {
    /// The first thread that accessed the cell.
    first: u32,
    by_others: bool,
    written: bool,
    /// Global locks that were held at all accesses.
    locks: Vec<u64>,
}

/// A reason why the exploration of all interleavings does not cover all executions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Gap {
    /// The run depends on an input, which has other values.
    Input,
    /// The run depends on uninitialised memory.
    Uninitialised,
    /// The run depends on the addresses of objects.
    Address,
    /// Operations with weak memory orders permit executions that are not sequentially consistent.
    WeakOrder,
    /// Operations with weak memory orders permit executions in which the lifetime of an object ends before another thread
    /// accesses it.
    Lifetime,
    /// A library function, which is executed as one step, accesses memory that threads share.
    Library,
    /// One access has more bytes of shared memory than a pointer, so other threads may see a part of it.
    Torn,
    /// The program is checked for data races, and the exploration may miss one. It finds only races of accesses that can
    /// be next to each other, but a thread has observed a lock without being ordered after other threads. Or a model has
    /// made accesses for the program, which are not checked for races.
    Unordered,
    /// A leak check was skipped because other threads were alive.
    Leak,
    /// A thread waits within an atomic section.
    NestedWait,
}

/// The threads of a run.
#[derive(Clone)]
pub(super) struct Threads {
    functions: Arc<Functions>,
    all: Vec<Thread>,
    pub current: usize,
    /// The numbers of registers, small and wide, that all threads share.
    statics: (usize, usize),
    /// The number of threads that have not ended.
    live: usize,
    /// The number of points so far.
    pub points: u64,
    /// By base address of an allocated object: the thread and the edge that allocated it.
    made: FxHashMap<u64, (u32, EdgeId)>,
    /// Copies of thread-local variables, by thread and address of the original.
    locals: FxHashMap<(u32, u64), u64>,
    visible: Visible,
    races: Option<Box<Races>>,
    clocks: Option<Box<Clocks>>,
    /// The check for other executions than sequentially consistent ones. `None` if there are none, or no check.
    robust: Option<Box<Robust>>,
    /// The last race, for reports: the earlier access and the later one, with their threads.
    pub race: Option<[(u32, Access); 2]>,
    /// The gaps of the run, each with the place where the program reaches it first.
    pub gaps: Vec<(Gap, Option<PlaceId>)>,
    /// By base address of an object: a bit for each byte that is not written yet. `None` if not recorded.
    unwritten: Option<FxHashMap<u64, Vec<u64>>>,
    /// The accesses of the current step. `None` if not recorded.
    step: Option<Vec<Access>>,
    /// True if the run has freed an object.
    frees: bool,
    live_locals: Rc<RefCell<LiveLocals>>,
}

/// The live local variables at each location, computed per function on first use.
#[derive(Default)]
struct LiveLocals {
    locals: Vec<Vec<VarId>>,
    functions: FxHashMap<FuncId, Rc<Liveness>>,
}

impl LiveLocals {
    fn liveness(&mut self, program: &Program, func: FuncId) -> Rc<Liveness> {
        if self.locals.is_empty() {
            self.locals = liveness::locals(program);
        }
        let locals = &self.locals[func.index()];
        self.functions.entry(func).or_insert_with(|| Rc::new(Liveness::new(program, func, locals))).clone()
    }
}

impl Threads {
    pub fn new(code: &Code) -> Option<Box<Self>> {
        let functions = code.threads.clone()?;
        let detects = functions.race.is_some();
        Some(Box::new(Self {
            functions,
            all: Vec::new(),
            current: 0,
            statics: (0, 0),
            live: 1,
            points: 0,
            made: FxHashMap::default(),
            locals: FxHashMap::default(),
            visible: Visible::All,
            races: detects.then(Box::default),
            clocks: detects.then(Box::default),
            robust: None,
            race: None,
            gaps: Vec::new(),
            unwritten: None,
            step: None,
            frees: false,
            live_locals: Rc::default(),
        }))
    }

    fn thread(&mut self) -> &mut Thread {
        &mut self.all[self.current]
    }
    /// Returns true if no other thread can run: only one is alive, or the current one has entered an atomic section.
    fn is_alone(&self) -> bool {
        self.live == 1 || self.all[self.current].sections.iter().any(|s| s.entered)
    }
    /// Returns true if all other threads have ended before this point of the current thread.
    fn has_joined(&self) -> bool {
        self.live == 1 && self.robust.as_ref().is_none_or(|robust| robust.has_joined(self.current as u32))
    }
}

/// The continuation of the current thread after an operation of threads.
enum AfterOperation {
    /// The thread continues with the next instruction.
    Continue,
    /// The thread pauses before the instruction.
    Pause,
    /// The thread stops after the instruction, so that the scheduler chooses a thread.
    Reschedule,
}

impl State<'_> {
    fn threads(&mut self) -> &mut Threads {
        self.threads.as_mut().expect("a program with threads")
    }

    /// The number of the current thread. Threads are numbered from 0 in the order in which they were started.
    pub fn thread(&self) -> u32 {
        self.threads.as_ref().map_or(0, |threads| threads.current as u32)
    }

    pub(super) fn begin_threads(&mut self) {
        let (statics, func) = ((self.words_base, self.wides_base), self.func);
        let pc = self.code.entries[func].pc as usize;
        let threads = self.threads();
        threads.statics = statics;
        threads.all.push(Thread {
            words: Vec::new(),
            wides: Vec::new(),
            words_base: statics.0,
            wides_base: statics.1,
            func,
            frames: Vec::new(),
            stack_objects: Vec::new(),
            pc,
            granted: false,
            status: Status::Runs,
            this: 0,
            sections: Vec::new(),
            held: Vec::new(),
            next: None,
        });
    }

    /// Runs the program to its end. The inputs choose the thread that continues at each point.
    pub(super) fn run_threads<O: Observer>(&mut self, inputs: &mut dyn InputSource, observer: &mut O) -> Outcome {
        self.begin_threads();
        loop {
            if let Err(outcome) = self.advance(inputs, observer) {
                return outcome;
            }
            let enabled = self.enabled();
            if enabled.is_empty() {
                return self.blocked();
            }
            let (current, point) = (self.thread(), self.threads().points);
            let next = inputs.thread(point, current, &enabled);
            if next != current && enabled.contains(&next) {
                self.switch(next as usize);
            } else if !enabled.contains(&current) {
                self.switch(enabled[0] as usize);
            }
        }
    }

    /// The outcome when no thread can continue: a deadlock if a thread waits and deadlocks are an error, else a limit.
    pub(super) fn blocked(&mut self) -> Outcome {
        let waiting = |t: &Thread| matches!(t.status, Status::Waits(_));
        let threads = self.threads();
        let current = threads.current;
        let found = if waiting(&threads.all[current]) { Some(current) } else { threads.all.iter().position(waiting) };
        let (deadlock, pc) = (threads.functions.deadlock, found.map(|t| threads.all[t].pc));
        match (deadlock, found, pc) {
            (Some(error), Some(thread), Some(pc)) => {
                if thread != current {
                    self.switch(thread);
                }
                Outcome::Error(error, self.edge_at(pc))
            }
            _ => Outcome::Limit(LimitKind::Endless),
        }
    }

    /// The threads that can continue.
    pub fn enabled(&self) -> Vec<u32> {
        let threads = self.threads.as_ref().expect("a program with threads");
        let can = |thread: &Thread| match thread.status {
            Status::Runs => true,
            Status::Ended => false,
            Status::Waits(wait) => self.has_ended(wait),
        };
        (0..threads.all.len() as u32).filter(|&t| can(&threads.all[t as usize])).collect()
    }

    /// True if a wait has ended.
    fn has_ended(&self, wait: Wait) -> bool {
        let read = |word: u64| self.memory.peek(word, 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
        let holds = |word: u64, relation: Relation, value: i32| {
            // If the address is invalid, the thread continues, and its next access is the fault.
            read(word).is_none_or(|bytes| relation.holds(i32::from_le_bytes(bytes), value))
        };
        holds(wait.word, wait.relation, wait.value)
            || wait.interrupt != 0 && holds(wait.interrupt, Relation::Unequal, 0)
    }

    /// Makes another thread the current one.
    pub(super) fn switch(&mut self, to: usize) {
        let threads = self.threads.as_mut().expect("a program with threads");
        let (words, wides) = threads.statics;
        let old = &mut threads.all[threads.current];
        old.words = self.words.split_off(words);
        old.wides = self.wides.split_off(wides);
        (old.words_base, old.wides_base, old.func) = (self.words_base, self.wides_base, self.func);
        old.frames = std::mem::take(&mut self.frames);
        old.stack_objects = std::mem::take(&mut self.stack_objects);
        threads.current = to;
        let new = &mut threads.all[to];
        self.words.append(&mut new.words);
        self.wides.append(&mut new.wides);
        (self.words_base, self.wides_base, self.func) = (new.words_base, new.wides_base, new.func);
        self.frames = std::mem::take(&mut new.frames);
        self.stack_objects = std::mem::take(&mut new.stack_objects);
    }

    /// The cells of a memory range. Empty for invalid addresses.
    fn cells(&self, addr: u64, len: u64) -> impl Iterator<Item = Cell> + use<> {
        let object = self.memory.object_at(addr);
        let threads = self.threads.as_ref().expect("a program with threads");
        let found = object.map(|o| (o.seq, o.base, o.size, threads.made.get(&o.base).copied()));
        found.into_iter().flat_map(move |(seq, base, size, made)| {
            let width = MIN_CELL.max(size.div_ceil(MAX_CELLS));
            let first = (addr - base) / width;
            let last = ((addr - base).saturating_add(len.max(1) - 1)).min(size) / width;
            (first..=last).filter_map(move |number| match (seq, made) {
                (ObjectSeq::Global(global), _) => Some(Cell::Global(global, number as u32)),
                (_, Some((thread, edge))) => Some(Cell::Made(edge, thread, number as u32)),
                _ => None,
            })
        })
    }

    /// True if a model accesses a record that a model has allocated, outside of atomic sections. No other thread can
    /// access it: outside of sections, models access only the record of their own thread, and that of a thread that they
    /// have not started yet.
    fn is_private_record(&self, access: &Access) -> bool {
        let kind = ObjectKind::Allocated(AllocKind::Library(Family::Internal));
        let threads = self.threads.as_ref().expect("a program with threads");
        threads.all[threads.current].sections.is_empty()
            && self.program.funcs[self.func].origin == FunctionOrigin::Model
            && self.memory.object_at(access.addr).is_some_and(|object| object.kind == kind)
    }

    /// Returns two flags: true if the access counts as a point, and true if control may switch there.
    fn is_visible(&mut self, access: &Access) -> (bool, bool) {
        let Some(object) = self.memory.object_at(access.addr) else { return (false, false) };
        if object.kind == (ObjectKind::Global { read_only: true }) {
            return (false, false);
        }
        if self.is_private_record(access) {
            return (false, false);
        }
        let visible = match &self.threads().visible {
            Visible::All => true,
            Visible::Program => {
                let thread = self.threads().thread();
                let is_section = !thread.sections.is_empty();
                is_section || self.program.funcs[self.func].origin != FunctionOrigin::Model
            }
            Visible::Only(sharing) => {
                let sharing = sharing.clone();
                let sharing = sharing.borrow();
                self.cells(access.addr, access.len).any(|cell| sharing.shared.contains(&cell))
            }
        };
        (true, visible)
    }

    /// Must be called before the current thread makes `accesses`. Returns true if the thread has to pause first, so that
    /// others may run. `granted` is true if it has paused here already. The function clears it when the thread proceeds.
    fn pauses_before(&mut self, accesses: &[Access], granted: &mut bool) -> bool {
        let threads = self.threads();
        let kind = threads.thread().sections.last().map(|s| s.kind);
        if threads.live == 1 {
            *granted = false;
            threads.enter_section();
            return false;
        }
        let synchronises = matches!(kind, Some(threads::SYNCHRONISES..=threads::RELEASES));
        if synchronises {
            return false;
        }
        if threads.is_alone() || *granted {
            *granted = false;
            if kind == Some(threads::LIBRARY) && matches!(threads.visible, Visible::Only(_)) {
                let function = threads.thread().sections.last().and_then(|s| s.function);
                let is_shared = accesses.iter().any(|access| self.is_visible(access).1);
                if let (true, Some((_, function)), Visible::Only(sharing)) =
                    (is_shared, function, &self.threads().visible)
                {
                    let mut sharing = sharing.borrow_mut();
                    sharing.grew |= sharing.library.insert(function);
                }
            }
            self.threads().enter_section();
            return false;
        }
        let (mut point, mut visible) = (false, None);
        // In an atomic section, a later access may be visible. The switch has to happen before the section is entered.
        let is_block = matches!(kind, Some(threads::BLOCK | threads::SHARED_LIBRARY));
        for access in accesses {
            let (p, v) = self.is_visible(access);
            point |= p;
            if (v || p && is_block) && visible.is_none() {
                visible = Some(*access);
            }
        }
        let threads = self.threads();
        if point {
            threads.points += 1;
        }
        if let Some(access) = visible {
            let atomic = kind.is_some_and(|kind| kind <= threads::BLOCK);
            threads.thread().next = Some(Access { atomic, ..access });
            return true;
        }
        if point {
            threads.enter_section();
        }
        false
    }

    /// Records an access that was made. Returns the error if it races with an earlier one.
    fn record_memory_access(&mut self, access: Access) -> Option<Outcome> {
        let threads = self.threads.as_mut().expect("a program with threads");
        if threads.all.len() == 1 {
            return None;
        }
        let current = threads.current as u32;
        let kind = threads.all[threads.current].sections.last().map(|s| s.kind);
        let is_shared = self.share(&access);
        let is_free = matches!(self.program.edges[access.edge].op, Op::Free { .. });
        if is_free {
            self.check_end_of_lifetime(&access);
        } else if !self.is_robust(&access, kind, is_shared) {
            self.record_gap(Gap::WeakOrder, access.edge);
        }
        if matches!(kind, Some(threads::SYNCHRONISES..)) {
            return None;
        }
        if self.program.funcs[self.func].origin == FunctionOrigin::Model && kind.is_none() {
            return None;
        }
        if is_shared && kind.is_none() && access.len > u64::from(self.program.layout.pointer_width / 8) && !is_free {
            self.record_gap(Gap::Torn, access.edge);
        }
        let threads = self.threads.as_mut().expect("a program with threads");
        let access = Access { atomic: kind.is_some(), ..access };
        if let Some(step) = &mut threads.step {
            step.push(access);
        }
        let order = order_of(kind);
        let updates = match threads.all[threads.current].sections.last_mut() {
            Some(section) if access.writes => section.loaded,
            Some(section) => {
                section.loaded = true;
                false
            }
            None => false,
        };
        if let (Some(order), Some(clocks)) = (order, &mut threads.clocks)
            && !access.writes
        {
            clocks.load(current, access.addr, order);
        }
        let race = self.race_with_earlier(access);
        let threads = self.threads();
        if let (Some(order), Some(clocks), true) = (order, &mut threads.clocks, threads.races.is_some())
            && access.writes
        {
            clocks.store(current, access.addr, order, updates);
        }
        race
    }

    /// Records an access by the current thread for the detection of data races by vector clocks. Returns the error if it
    /// races with an earlier one.
    fn race_with_earlier(&mut self, access: Access) -> Option<Outcome> {
        self.threads().races.as_ref()?;
        // A report names the program's call of a library function.
        let edge = self.edge_in_source(access.edge).unwrap_or(access.edge);
        let threads = self.threads();
        let current = threads.current as u32;
        let (Some(races), Some(clocks), Some(error)) = (&mut threads.races, &threads.clocks, threads.functions.race)
        else {
            return None;
        };
        let earlier = races.access(current, &Access { edge, ..access }, clocks)?;
        threads.race = Some([earlier, (current, access)]);
        Some(Outcome::Error(error, access.edge))
    }

    /// Records an operation on a lock as an access. Returns the error if it races with an earlier one, or with that of a
    /// thread that waits for the lock.
    fn record_lock_access(&mut self, access: Access) -> Option<Outcome> {
        if self.threads().all.len() == 1 || self.memory.object_at(access.addr).is_none() {
            return None;
        }
        self.share(&access);
        let threads = self.threads();
        let current = threads.current as u32;
        if threads.robust.as_mut().is_some_and(|robust| robust.lock_races(current, &access)) {
            self.record_gap(Gap::WeakOrder, access.edge);
        }
        let threads = self.threads();
        if let Some(step) = &mut threads.step {
            step.push(access);
        }
        let waits = |(other, thread): (usize, &Thread)| {
            let next = thread.next.filter(|next| matches!(thread.status, Status::Waits(_)) && next.conflicts(&access));
            next.map(|next| (other as u32, next))
        };
        if let (Some(error), Some(waiting)) =
            (threads.functions.race, threads.all.iter().enumerate().find_map(waits).filter(|_| access.writes))
        {
            threads.race = Some([waiting, (current, access)]);
            return Some(Outcome::Error(error, access.edge));
        }
        self.race_with_earlier(access)
    }

    /// Records that an allocation has written a new object.
    fn record_zeroing(&mut self, access: Access) {
        let threads = self.threads();
        let current = threads.current as u32;
        if threads.all.len() == 1 {
            return;
        }
        if let Some(robust) = &mut threads.robust {
            robust.make(current, access.addr, access.len);
        }
        if let (Some(races), Some(clocks)) = (&mut threads.races, &threads.clocks) {
            // No other access precedes it.
            races.access(current, &access, clocks);
        }
    }

    /// Checks an access for other executions than sequentially consistent ones. `kind` is that of its atomic section.
    /// Memory that is not shared is ordered by locks. Returns false if there are such executions.
    fn is_robust(&mut self, access: &Access, kind: Option<u64>, is_shared: bool) -> bool {
        let is_model = self.program.funcs[self.func].origin == FunctionOrigin::Model;
        let (is_count, may_end) = match self.memory.object_at(access.addr).map(|object| object.seq) {
            // Nothing but the end of the program depends on the number of threads.
            Some(ObjectSeq::Global(global)) => (self.program.globals[global].name == LIVE, false),
            _ => (false, true),
        };
        let threads = self.threads();
        let current = threads.current as u32;
        let updates = access.writes && threads.thread().sections.last().is_some_and(|section| section.loaded);
        let Some(robust) = &mut threads.robust else { return true };
        match kind {
            Some(threads::SYNCHRONISES..threads::LIBRARY) => {
                if !is_count {
                    robust.word(current, access.addr, access.writes);
                }
                true
            }
            _ if !is_shared => true,
            _ => {
                let races = !(kind.is_none() && is_model || kind.is_some_and(|kind| kind >= threads::LIBRARY));
                let access = Access { atomic: kind.is_some(), ..*access };
                robust.access(current, &access, How { order: order_of(kind), updates, races, may_end })
            }
        }
    }

    /// Records a gap if executions are permitted in which an object's lifetime ends before another thread accesses it. `end` is
    /// a write of the whole object.
    fn check_end_of_lifetime(&mut self, end: &Access) {
        let threads = self.threads();
        let current = threads.current as u32;
        if threads.robust.as_ref().is_some_and(|robust| !robust.ends_last(current, end.addr, end.len)) {
            // The end of a function or thread may have no place. The allocation of the object has one.
            let own = self.edge_in_source(end.edge);
            let has_place = own.is_some_and(|edge| self.program.edges[edge].place.is_some());
            let made = self.threads().made.get(&end.addr).map(|&(_, edge)| edge);
            self.record_gap(Gap::Lifetime, made.filter(|_| !has_place).unwrap_or(end.edge));
        }
    }

    /// Records an access, with its thread and the locks that the thread holds. A cell is shared once a second thread has
    /// accessed it, one of them has written it, and no lock was held at all accesses (Savage et al., Eraser, 1997).
    /// Returns true if a cell was shared already.
    fn share(&mut self, access: &Access) -> bool {
        let threads = self.threads.as_ref().expect("a program with threads");
        let Visible::Only(sharing) = &threads.visible else { return false };
        if threads.has_joined() || self.is_private_record(access) {
            return false;
        }
        let (sharing, current) = (sharing.clone(), threads.current as u32);
        let held = &threads.all[threads.current].held;
        let kind = threads.all[threads.current].sections.last().map(|s| s.kind);
        let is_library = matches!(kind, Some(threads::LIBRARY | threads::SHARED_LIBRARY));
        let cells: Vec<Cell> = self.cells(access.addr, access.len).collect();
        let mut sharing = sharing.borrow_mut();
        let sharing = &mut *sharing;
        let (mut is_mixed, mut is_shared) = (false, false);
        for cell in cells {
            let (own, others) = match is_library {
                true => (&mut sharing.by_library, &sharing.by_others),
                false => (&mut sharing.by_others, &sharing.by_library),
            };
            own.insert(cell);
            if let Cell::Made(edge, thread, _) = cell
                && thread != current
            {
                sharing.grew |= sharing.foreign.insert((edge, thread)) && sharing.ended.contains(&(edge, thread));
            }
            let is_known = sharing.shared.contains(&cell);
            is_mixed |= others.contains(&cell) && is_known;
            is_shared |= is_known;
            if is_known {
                continue;
            }
            let known = sharing.accesses.entry(cell).or_insert_with(|| CellAccesses {
                first: current,
                by_others: false,
                written: false,
                locks: held.clone(),
            });
            known.by_others |= known.first != current && (access.writes || sharing.flaw != Some(Flaw::ReadersCommute));
            known.written |= access.writes;
            known
                .locks
                .retain(|lock| held.contains(lock) || sharing.flaw == Some(Flaw::LocksAreOne) && !held.is_empty());
            if known.by_others && known.written && known.locks.is_empty() {
                sharing.shared.insert(cell);
                sharing.grew = true;
            }
        }
        if is_mixed || is_library && is_shared && !self.is_of_library(access.addr) {
            self.record_gap(Gap::Library, access.edge);
        }
        is_shared
    }

    /// True for memory that only models access: their global variables, and their own allocations.
    fn is_of_library(&self, addr: u64) -> bool {
        let Some(object) = self.memory.object_at(addr) else { return false };
        match (object.seq, object.kind) {
            (ObjectSeq::Global(global), _) => {
                let global = &self.program.globals[global];
                global.name.starts_with("proviso_") && global.place.is_some_and(|p| self.program.is_of_models(p))
            }
            // The program accesses copies of its thread-local variables.
            (_, ObjectKind::Allocated(AllocKind::Library(_))) => {
                self.threads.as_ref().is_some_and(|threads| threads.locals.values().all(|&copy| copy != object.base))
            }
            _ => false,
        }
    }

    /// Must be called before the lifetime of a stack object ends. Records the end as a write of the whole object, if other
    /// threads access it.
    fn share_end_of_lifetime(&mut self, base: u64, pc: usize) {
        let threads = self.threads.as_ref().expect("a program with threads");
        let Visible::Only(sharing) = &threads.visible else { return };
        let Some(&(thread, edge)) = threads.made.get(&base) else { return };
        if threads.has_joined() {
            return;
        }
        if !sharing.borrow().foreign.contains(&(edge, thread)) {
            sharing.borrow_mut().ended.insert((edge, thread));
            return;
        }
        let Some(len) = self.memory.object_at(base).map(|object| object.size) else { return };
        let access = Access { addr: base, len, writes: true, atomic: false, edge: self.edge_at(pc) };
        self.share(&access);
        self.check_end_of_lifetime(&access);
    }

    /// Pauses the current thread before the instruction at `pc`.
    fn pause(&mut self, pc: usize) {
        let thread = self.threads().thread();
        thread.pc = pc;
        thread.granted = true;
    }

    /// The memory accesses of an instruction, with their number; `None` if it makes none.
    fn accesses(&self, instr: Instr, pc: usize) -> Option<([Access; 2], usize)> {
        let edge = |addr, len, writes| Access { addr, len, writes, atomic: false, edge: self.edge_at(pc) };
        let bytes = |width: u32| u64::from(width.div_ceil(8));
        let one = |access| Some(([access, access], 1));
        match instr {
            Instr::Load { width, addr, .. } => one(edge(self.get(addr), bytes(width), false)),
            Instr::Store { width, addr, .. } => one(edge(self.get(addr), bytes(width), true)),
            Instr::Copy { dst, src, len } => {
                let len = self.get(len);
                (len > 0).then(|| ([edge(self.get(src), len, false), edge(self.get(dst), len, true)], 2))
            }
            Instr::Fill { dst, len, .. } => {
                let len = self.get(len);
                (len > 0).then(|| ([edge(self.get(dst), len, true); 2], 1))
            }
            _ => None,
        }
    }

    /// Executes the current thread up to the next point at which control may switch. `Err` is the end of the run.
    pub(super) fn advance<O: Observer>(
        &mut self,
        inputs: &mut dyn InputSource,
        observer: &mut O,
    ) -> Result<(), Outcome> {
        let code = self.code;
        let thread = self.threads().thread();
        let mut pc = thread.pc;
        let mut granted = std::mem::take(&mut thread.granted);
        thread.next = None;
        if let Some(step) = &mut self.threads().step {
            step.clear();
        }
        loop {
            let instr = code.instrs[pc];
            match instr {
                Instr::Load { .. } | Instr::Store { .. } | Instr::Copy { .. } | Instr::Fill { .. } => {
                    let accesses = self.accesses(instr, pc);
                    let list = accesses.as_ref().map_or(&[][..], |(list, n)| &list[..*n]);
                    if !list.is_empty() && self.pauses_before(list, &mut granted) {
                        self.pause(pc);
                        return Ok(());
                    }
                    match (instr, list) {
                        (Instr::Copy { .. }, [from, to]) => self.record_copy(*from, *to),
                        _ => self.record_accesses(list),
                    }
                    pc += 1;
                    let done = match instr {
                        Instr::Load { width, dst, addr } if !is_wide(width) => {
                            match self.memory.load(self.get(addr), width.div_ceil(8), inputs) {
                                Ok(value) => {
                                    self.set(dst, value & word::mask(width));
                                    Ok(())
                                }
                                Err(stop) => Err(Interrupt::Stop(stop)),
                            }
                        }
                        _ => self.operate(instr, pc, inputs),
                    };
                    match done {
                        Ok(()) => {}
                        Err(Interrupt::Stop(stop)) => return Err(self.stopped(stop, pc)),
                        Err(Interrupt::Outcome(outcome)) => return Err(outcome),
                    }
                    for access in list {
                        if let Some(outcome) = self.record_memory_access(*access) {
                            return Err(outcome);
                        }
                    }
                    continue;
                }
                Instr::Free { ptr, family } if family != Family::Scope && self.get(ptr) != 0 => {
                    let (addr, edge) = (self.get(ptr), self.edge_at(pc));
                    let len = self.memory.object_at(addr).map_or(1, |o| o.size.max(1));
                    let access = Access { addr, len, writes: true, atomic: false, edge };
                    if self.pauses_before(&[access], &mut granted) {
                        self.pause(pc);
                        return Ok(());
                    }
                    self.threads().frees = true;
                    self.record_free(access);
                    // Two calls that free an object may race, too. The second one is invalid.
                    let frees = |o: &Object| matches!(o.kind, ObjectKind::Allocated(kind) if kind != AllocKind::Stack);
                    if !self.memory.object_at(addr).is_some_and(|o| o.base == addr && frees(o)) {
                        self.share(&access);
                    } else if let Some(race) = self.record_memory_access(access) {
                        return Err(race);
                    }
                }
                Instr::Free { ptr, family: Family::Scope } => self.share_end_of_lifetime(self.get(ptr), pc),
                Instr::Call(call) => {
                    let target = match code.calls[call as usize].callee {
                        Ok(func) => func,
                        Err(reg) => {
                            let addr = self.get(reg);
                            match self.func_at(addr) {
                                Some(func) => func,
                                None => {
                                    let stop = Stop::Fault(Fault::InvalidCall, addr, 0);
                                    return Err(self.stopped(stop, pc + 1));
                                }
                            }
                        }
                    };
                    let edge = code.calls[call as usize].edge;
                    if let Some(op) = self.threads().functions.ops[target.index()] {
                        match self.execute_thread_op(op, call, pc, &mut granted, inputs)? {
                            AfterOperation::Continue => {}
                            AfterOperation::Pause => {
                                self.pause(pc);
                                return Ok(());
                            }
                            AfterOperation::Reschedule => {
                                self.count_step(edge, observer)?;
                                self.threads().thread().pc = pc + 1;
                                return Ok(());
                            }
                        }
                        pc += 1;
                        self.count_step(edge, observer)?;
                        continue;
                    }
                    let depth = self.frames.len();
                    let threads = self.threads();
                    if let Some(mut kind) = threads.functions.sections[target.index()]
                        && threads.thread().sections.is_empty()
                    {
                        if let Visible::Only(sharing) = &threads.visible
                            && sharing.borrow().library.contains(&target)
                        {
                            kind = threads::SHARED_LIBRARY;
                        }
                        threads.thread().sections.push(Section {
                            kind,
                            function: Some((depth, target)),
                            entered: false,
                            loaded: false,
                        });
                    }
                    self.enter(target, call, pc + 1, inputs)?;
                    pc = code.entries[target].pc as usize;
                    self.count_step(edge, observer)?;
                    continue;
                }
                Instr::Return { width, value } => {
                    if self.frames.is_empty() && self.thread() != 0 {
                        self.end_thread(pc);
                        return Ok(());
                    }
                    let ended = self.frames.last().map_or(0, |frame| frame.stack_objects);
                    for n in ended..self.stack_objects.len() {
                        self.share_end_of_lifetime(self.stack_objects[n], pc);
                    }
                    pc = self.leave(Operand { reg: value, width }, inputs)?;
                    let depth = self.frames.len();
                    let threads = self.threads();
                    if threads
                        .thread()
                        .sections
                        .last()
                        .is_some_and(|s| s.function.is_some_and(|(below, _)| below == depth))
                    {
                        threads.leave_section();
                    }
                    continue;
                }
                Instr::Exit { .. } | Instr::Halt(_) if self.pauses_before_end(&mut granted) => {
                    self.pause(pc);
                    return Ok(());
                }
                Instr::Leak(Leak::Alive) if self.pauses_before_end(&mut granted) => {
                    self.pause(pc);
                    return Ok(());
                }
                Instr::Leak(leak) if leak == Leak::Lost && self.threads().live > 1 => {
                    self.record_gap(Gap::Leak, self.edge_at(pc));
                    pc += 1;
                    continue;
                }
                Instr::Alloc { dst, kind, zeroed, .. } => {
                    let edge = self.edge_at(pc);
                    pc += 1;
                    match self.operate(instr, pc, inputs) {
                        Ok(()) => {}
                        Err(Interrupt::Stop(stop)) => return Err(self.stopped(stop, pc)),
                        Err(Interrupt::Outcome(outcome)) => return Err(outcome),
                    }
                    let (base, thread) = (self.get(dst), self.thread());
                    let size = self.memory.object_at(base).map_or(0, |o| o.size);
                    let threads = self.threads();
                    threads.made.insert(base, (thread, edge));
                    if let Some(unwritten) =
                        threads.unwritten.as_mut().filter(|_| !zeroed && kind != AllocKind::Placeholder)
                    {
                        unwritten.insert(base, vec![u64::MAX; size.div_ceil(64) as usize]);
                    }
                    if zeroed {
                        let edge = self.edge_in_source(edge).unwrap_or(edge);
                        self.record_zeroing(Access { addr: base, len: size, writes: true, atomic: false, edge });
                    }
                    continue;
                }
                Instr::Extract { width, src, .. }
                    if (9..48).contains(&width)
                        && self.threads().unwritten.is_some()
                        && self.memory.is_address(self.get(src)) =>
                {
                    self.record_gap(Gap::Address, self.edge_at(pc));
                }
                Instr::Binary { op, a, b, .. } if self.threads().unwritten.is_some() => {
                    let (a, b) = (self.get(a), self.get(b));
                    self.record_use_of_addresses(op, a, b, self.edge_at(pc));
                }
                _ => {}
            }
            pc += 1;
            match instr {
                Instr::Move { dst, src } => {
                    let value = self.get(src);
                    self.set(dst, value);
                }
                Instr::MoveWide { dst, src } => {
                    let value = self.get_wide(src).clone();
                    self.set_wide(dst, value);
                }
                Instr::Binary { op, width, dst, a, b } => {
                    let value = word::binary(op, u32::from(width), self.get(a), self.get(b));
                    self.set(dst, value);
                }
                Instr::Extract { width, lo, dst, src } => {
                    let value = self.get(src) >> lo & word::mask(u32::from(width));
                    self.set(dst, value);
                }
                Instr::Sext { from, to, dst, src } => {
                    let value = word::signed(self.get(src), u32::from(from)) as u64 & word::mask(u32::from(to));
                    self.set(dst, value);
                }
                Instr::Ite { dst, cond, then, other } => {
                    let value = self.get(if self.get(cond) != 0 { then } else { other });
                    self.set(dst, value);
                }
                Instr::Node(node) => self.node(node),
                Instr::Exit { code } => return Err(Outcome::Exit(self.get(code) as i32)),
                Instr::Halt(kind) => return Err(halted(kind)),
                Instr::Error(error) => return Err(Outcome::Error(error, self.edge_at(pc - 2))),
                Instr::Approx(taint) => {
                    if !self.taints.contains(&taint) {
                        self.taints.push(taint);
                    }
                }
                Instr::Done(edge) => self.count_step(edge, observer)?,
                Instr::Branch { cond, other } => {
                    if self.get(cond) == 0 {
                        pc = other as usize;
                    }
                }
                Instr::Jump(target) => pc = target as usize,
                Instr::Stuck(loc) => return Err(Outcome::Stuck(loc)),
                other => match self.operate(other, pc, inputs) {
                    Ok(()) => {}
                    Err(Interrupt::Stop(stop)) => return Err(self.stopped(stop, pc)),
                    Err(Interrupt::Outcome(outcome)) => return Err(outcome),
                },
            }
        }
    }

    /// Must be called before the current thread ends the program or checks for objects that are still allocated. Returns
    /// true if the thread has to pause first, so that others may run.
    fn pauses_before_end(&mut self, granted: &mut bool) -> bool {
        let threads = self.threads();
        if std::mem::take(granted) || threads.is_alone() {
            return false;
        }
        threads.points += 1;
        true
    }

    #[inline]
    fn count_step<O: Observer>(&mut self, edge: EdgeId, observer: &mut O) -> Result<(), Outcome> {
        self.steps += 1;
        observer.executed(edge, self);
        if self.steps >= self.limits.steps {
            return Err(Outcome::Limit(LimitKind::Steps));
        }
        let is_late = |deadline| Instant::now() >= deadline;
        if self.steps.is_multiple_of(1 << 12) && self.limits.deadline.is_some_and(is_late) {
            return Err(Outcome::Limit(LimitKind::Time));
        }
        Ok(())
    }

    /// Ends the current thread at the instruction `pc`.
    fn end_thread(&mut self, pc: usize) {
        let threads = self.threads.as_ref().expect("a program with threads");
        let own = threads.current as u32;
        let locals = threads.locals.iter().filter(|((thread, _), _)| *thread == own).map(|(_, &copy)| copy);
        for base in self.stack_objects.iter().copied().chain(locals).collect::<Vec<u64>>() {
            self.share_end_of_lifetime(base, pc);
        }
        for base in std::mem::take(&mut self.stack_objects) {
            self.memory.kill(base);
        }
        self.frames.clear();
        let threads = self.threads.as_mut().expect("a program with threads");
        threads.locals.retain(|&(thread, _), copy| {
            if thread == own {
                self.memory.kill(*copy);
            }
            thread != own
        });
        let threads = self.threads();
        if let Some(robust) = &mut threads.robust {
            robust.end(own);
        }
        threads.live -= 1;
        threads.points += 1;
        let thread = threads.thread();
        thread.status = Status::Ended;
        thread.sections.clear();
        thread.next = None;
        let (words, wides) = threads.statics;
        self.words.truncate(words);
        self.wides.truncate(wides);
    }

    /// Executes a call of a function that represents an operation of threads.
    fn execute_thread_op(
        &mut self,
        op: ThreadOp,
        call: u32,
        pc: usize,
        granted: &mut bool,
        inputs: &mut dyn InputSource,
    ) -> Result<AfterOperation, Outcome> {
        let code = self.code;
        let call = &code.calls[call as usize];
        let args: Vec<u64> = call.args.iter().map(|&arg| self.value(arg).to_u64().unwrap_or(0)).collect();
        let arg = |n: usize| args.get(n).copied().unwrap_or(0);
        let mut result = 0;
        match op {
            ThreadOp::Start => {
                let Some(func) = self.func_at(arg(0)) else {
                    let stop = Stop::Fault(Fault::InvalidCall, arg(0), 0);
                    return Err(self.stopped(stop, pc + 1));
                };
                self.start_thread(func, arg(1))?;
            }
            ThreadOp::End => {
                self.end_thread(pc);
                return Ok(AfterOperation::Reschedule);
            }
            ThreadOp::This => result = self.threads().thread().this,
            ThreadOp::Begin => {
                let kind = arg(0);
                let is_release = kind == threads::RELEASES;
                let threads = self.threads();
                if kind == threads::OBSERVES
                    && threads.live > 1
                    && let Visible::Only(sharing) = &threads.visible
                {
                    let mut sharing = sharing.borrow_mut();
                    sharing.grew |= !sharing.observes;
                    sharing.observes = true;
                }
                if kind < threads::order::SEQUENTIAL && threads.live > 1 && threads.robust.is_none() {
                    self.record_gap(Gap::WeakOrder, call.edge);
                }
                let threads = self.threads();
                if kind > threads::BLOCK && !*granted && !threads.is_alone() {
                    threads.points += 1;
                    let seen = match &threads.visible {
                        Visible::All | Visible::Program => true,
                        Visible::Only(sharing) => !is_release || sharing.borrow().observes,
                    };
                    if seen {
                        return Ok(AfterOperation::Pause);
                    }
                }
                *granted = false;
                threads.thread().sections.push(Section {
                    kind,
                    function: None,
                    entered: kind > threads::BLOCK,
                    loaded: false,
                });
            }
            ThreadOp::Finish => self.threads().leave_section(),
            ThreadOp::When => {
                let (word, relation, value) = (arg(0), Relation::from_number(arg(1)), arg(2) as i32);
                let wait = Wait { word, relation, value, interrupt: arg(3) };
                let holds = self.has_ended(wait);
                let threads = self.threads();
                if threads.thread().sections.iter().any(|s| s.entered) && !holds {
                    self.record_gap(Gap::NestedWait, call.edge);
                    return Err(Outcome::Limit(LimitKind::Endless));
                }
                if !*granted && !threads.is_alone() || !holds {
                    threads.points += 1;
                    threads.thread().status = Status::Waits(wait);
                    let edge = self.edge_in_source(call.edge).unwrap_or(call.edge);
                    let next = Access { addr: word, len: 4, writes: false, atomic: true, edge };
                    self.threads().thread().next = Some(next);
                    return Ok(AfterOperation::Pause);
                }
                *granted = false;
                threads.thread().status = Status::Runs;
                let current = threads.current as u32;
                if let Some(robust) = &mut threads.robust {
                    robust.word(current, word, false);
                    robust.word(current, wait.interrupt, false);
                }
                let kind = threads::SYNCHRONISES;
                threads.thread().sections.push(Section { kind, function: None, entered: true, loaded: false });
            }
            ThreadOp::Acquire => {
                let is_global =
                    self.memory.object_at(arg(0)).is_some_and(|o| matches!(o.kind, ObjectKind::Global { .. }));
                let threads = self.threads();
                if arg(1) != 0 && is_global {
                    threads.thread().held.push(arg(0));
                }
                let current = threads.current as u32;
                if let Some(clocks) = &mut threads.clocks {
                    clocks.acquire(current, arg(0));
                }
                if let Some(robust) = &mut threads.robust {
                    robust.acquire(current, arg(0));
                }
            }
            ThreadOp::Release => {
                let threads = self.threads();
                let current = threads.current as u32;
                if let Some(clocks) = &mut threads.clocks {
                    clocks.release(current, arg(0));
                }
                if let Some(robust) = &mut threads.robust {
                    robust.release(current, arg(0));
                }
                let held = &mut threads.thread().held;
                if let Some(at) = held.iter().rposition(|&lock| lock == arg(0)) {
                    held.remove(at);
                }
            }
            ThreadOp::Fence => {
                let threads = self.threads();
                if arg(0) < threads::order::SEQUENTIAL && threads.live > 1 && threads.robust.is_none() {
                    self.record_gap(Gap::WeakOrder, call.edge);
                }
                let threads = self.threads();
                let current = threads.current as u32;
                // The order of these fences determines which executions are permitted.
                if arg(0) == threads::order::SEQUENTIAL && !std::mem::take(granted) && !threads.is_alone() {
                    threads.points += 1;
                    return Ok(AfterOperation::Pause);
                }
                if let Some(robust) = &mut threads.robust {
                    robust.fence(current, arg(0));
                }
                if let Some(clocks) = &mut threads.clocks {
                    clocks.fence(current, arg(0));
                }
            }
            ThreadOp::Update => {
                let threads = self.threads();
                if arg(1) < threads::order::SEQUENTIAL && threads.live > 1 && threads.robust.is_none() {
                    self.record_gap(Gap::WeakOrder, call.edge);
                }
                let threads = self.threads();
                let current = threads.current as u32;
                if let Some(robust) = &mut threads.robust {
                    robust.update(current, arg(0), arg(1));
                }
                if let Some(section) = threads.thread().sections.last_mut() {
                    section.kind = arg(1);
                }
                if let Some(clocks) = &mut threads.clocks {
                    clocks.load(current, arg(0), arg(1));
                }
            }
            ThreadOp::Observe => {
                let threads = self.threads();
                if threads.functions.race.is_some() && threads.live > 1 {
                    self.record_gap(Gap::Unordered, call.edge);
                }
            }
            ThreadOp::Lock => {
                let writes = arg(1) != 0;
                let access = Access { addr: arg(0), len: 1, writes, atomic: !writes, edge: call.edge };
                if writes && self.pauses_before(&[access], granted) {
                    return Ok(AfterOperation::Pause);
                }
                if let Some(race) = self.record_lock_access(access) {
                    return Err(race);
                }
            }
            ThreadOp::Local => result = self.thread_local_copy(arg(0), call.edge, inputs)?,
        }
        if let Some((_, to)) = call.result {
            self.set_value(to, &Bv::new(64, result));
        }
        Ok(AfterOperation::Continue)
    }

    fn start_thread(&mut self, func: FuncId, argument: u64) -> Result<(), Outcome> {
        let entry = &self.code.entries[func];
        let param = self.program.funcs[func].params.first().map(|&param| self.code.vars[param]);
        let threads = self.threads();
        if threads.all.len() >= MAX_THREADS {
            return Err(Outcome::Limit(LimitKind::Memory));
        }
        let mut words = vec![0; entry.words as usize];
        if let Some(param) = param {
            words[param.reg.at(0)] = argument & word::mask(param.width);
        }
        let (words_base, wides_base) = threads.statics;
        let parent = threads.current as u32;
        let child = threads.all.len() as u32;
        threads.all.push(Thread {
            words,
            wides: vec![Bv::zero(1); entry.wides as usize],
            words_base,
            wides_base,
            func,
            frames: Vec::new(),
            stack_objects: Vec::new(),
            pc: entry.pc as usize,
            granted: false,
            status: Status::Runs,
            this: argument,
            sections: Vec::new(),
            held: Vec::new(),
            next: None,
        });
        threads.live += 1;
        if let Some(clocks) = &mut threads.clocks {
            clocks.start(parent, child);
        }
        if let Some(robust) = &mut threads.robust {
            robust.start(parent, child);
        }
        Ok(())
    }

    /// The address of the current thread's copy of a thread-local variable. Allocates the copy on first use, at `edge`.
    fn thread_local_copy(&mut self, addr: u64, edge: EdgeId, inputs: &mut dyn InputSource) -> Result<u64, Outcome> {
        let thread = self.thread();
        let Some(object) = self.memory.object_at(addr) else { return Ok(addr) };
        let (base, size, seq) = (object.base, object.size, object.seq);
        let ObjectSeq::Global(global) = seq else { return Ok(addr) };
        if thread == 0 {
            return Ok(addr);
        }
        if let Some(copy) = self.threads().locals.get(&(thread, base)) {
            return Ok(copy + (addr - base));
        }
        let limit = |_| Outcome::Limit(LimitKind::Memory);
        let seq = ObjectSeq::Alloc(self.allocs);
        let kind = ObjectKind::Allocated(AllocKind::Library(Family::Internal));
        let align = u64::from(self.program.globals[global].align);
        let copy = self.memory.allocate(seq, size, align, kind, true, inputs).map_err(limit)?;
        let copy = copy.ok_or(Outcome::Unplaced(seq))?;
        self.allocs += 1;
        if let Some(init) = &self.program.globals[global].init {
            self.memory.initialise(copy, 0, &init.bytes, inputs).map_err(limit)?;
            for &(offset, value) in &init.pointers {
                let bytes = self.eval(value).to_le_bytes();
                self.memory.initialise(copy, offset, &bytes, inputs).map_err(limit)?;
            }
        }
        let threads = self.threads();
        threads.made.insert(copy, (thread, edge));
        threads.locals.insert((thread, base), copy);
        Ok(copy + (addr - base))
    }
}

impl Threads {
    /// Enters the innermost section: other threads cannot run until it ends.
    fn enter_section(&mut self) {
        let current = self.current as u32;
        let Some(section) = self.thread().sections.last_mut().filter(|s| !s.entered) else { return };
        section.entered = true;
        if section.kind == threads::BLOCK {
            if let Some(clocks) = &mut self.clocks {
                clocks.acquire(current, threads::BLOCK);
            }
            if let Some(robust) = &mut self.robust {
                robust.acquire(current, threads::BLOCK);
            }
        }
    }

    fn leave_section(&mut self) {
        let current = self.current as u32;
        let Some(section) = self.thread().sections.pop() else { return };
        if section.kind == threads::BLOCK && section.entered {
            if let Some(clocks) = &mut self.clocks {
                clocks.release(current, threads::BLOCK);
            }
            if let Some(robust) = &mut self.robust {
                robust.release(current, threads::BLOCK);
            }
        }
    }
}

// Records gaps: reasons why the exploration of all interleavings does not cover all executions.
impl State<'_> {
    /// Records a gap that the current thread reaches at an edge. The place of a gap in a library model is that of the
    /// program's call.
    fn record_gap(&mut self, gap: Gap, edge: EdgeId) {
        if self.threads().gaps.iter().any(|(known, _)| *known == gap) {
            return;
        }
        let place = self.program.edges[self.edge_in_source(edge).unwrap_or(edge)].place;
        self.threads().gaps.push((gap, place));
    }

    /// Returns the edge, or the program's call of the library function that executes it. `None` if there is no call.
    fn edge_in_source(&self, edge: EdgeId) -> Option<EdgeId> {
        let program = self.program;
        let calls = self.frames.iter().rev().map(|frame| self.code.calls[frame.call as usize].edge);
        let is_model = |edge: &EdgeId| program.funcs[program.func_of(*edge)].origin == FunctionOrigin::Model;
        std::iter::once(edge).chain(calls).find(|edge| !is_model(edge))
    }

    fn record_accesses(&mut self, accesses: &[Access]) {
        if self.threads().unwritten.is_none() {
            return;
        }
        for access in accesses {
            let Some(base) = self.memory.object_at(access.addr).map(|o| o.base) else { continue };
            let threads = self.threads();
            let Some(bits) = threads.unwritten.as_mut().and_then(|u| u.get_mut(&base)) else { continue };
            let mut reads = false;
            for at in access.addr - base..(access.addr - base).saturating_add(access.len) {
                let Some(word) = bits.get_mut((at / 64) as usize) else { break };
                if access.writes {
                    *word &= !(1 << (at % 64));
                } else {
                    reads |= *word >> (at % 64) & 1 != 0;
                }
            }
            if reads {
                self.record_gap(Gap::Uninitialised, access.edge);
            }
        }
    }

    /// Records a copy of bytes. A copy of a byte that was never written counts as never written, too: copying padding is
    /// not a use of it.
    fn record_copy(&mut self, from: Access, to: Access) {
        let object = |addr| self.memory.object_at(addr).map(|o| (o.base, o.size));
        let (Some((source, _)), Some((target, size))) = (object(from.addr), object(to.addr)) else { return };
        let Some(unwritten) = &mut self.threads().unwritten else { return };
        let bit = |at: u64| ((at / 64) as usize, 1 << (at % 64));
        let is_unwritten = |at: u64| {
            let (word, mask) = bit(from.addr - source + at);
            unwritten.get(&source).and_then(|bits| bits.get(word)).is_some_and(|bits| bits & mask != 0)
        };
        let copied: Vec<bool> = (0..from.len.min(size)).map(is_unwritten).collect();
        if copied.contains(&true) {
            unwritten.entry(target).or_insert_with(|| vec![0; size.div_ceil(64) as usize]);
        }
        let Some(bits) = unwritten.get_mut(&target) else { return };
        for (at, is_unwritten) in (to.addr - target..).zip(copied) {
            let (word, mask) = bit(at);
            let Some(word) = bits.get_mut(word) else { break };
            *word = if is_unwritten { *word | mask } else { *word & !mask };
        }
    }

    fn are_in_one_object(&self, a: u64, b: u64) -> bool {
        let base = |value| self.memory.object_at(value).map(|o| o.base);
        base(a).is_some() && base(a) == base(b)
    }

    fn record_free(&mut self, access: Access) {
        if let Some(unwritten) = &mut self.threads().unwritten {
            unwritten.remove(&access.addr);
        }
    }

    fn record_use_of_addresses(&mut self, op: BinOp, a: u64, b: u64, edge: EdgeId) {
        let is_address = |value: u64| self.memory.is_address(value);
        let (first, second) = (is_address(a), is_address(b));
        if !first && !second {
            return;
        }
        let is_dead = |value: u64| self.memory.object_at(value).is_none_or(|o| !o.live);
        let harmless = match op {
            BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::And => true,
            BinOp::Eq => {
                !(first && second)
                    || a == b
                    || !self.threads.as_ref().is_some_and(|t| t.frees)
                    || !(is_dead(a) || is_dead(b))
            }
            // The order of addresses within one object does not depend on the address of the object.
            BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle => first && second && self.are_in_one_object(a, b),
            _ => false,
        };
        if !harmless {
            self.record_gap(Gap::Address, edge);
        }
    }
}

/// A run that can be copied at each point and resumed there, for the exploration of interleavings.
#[derive(Clone)]
pub struct Machine<'r> {
    state: State<'r>,
}

impl<'r> Machine<'r> {
    /// A run at the start of a program with threads. With `sharing`, only accesses to shared memory are visible, and
    /// the caller detects data races. Without, all accesses of the program are visible, and a data race ends the run.
    pub fn new(
        interpreter: &'r Interpreter<'r>,
        limits: Limits,
        sharing: Option<Rc<RefCell<Sharing>>>,
        inputs: &mut dyn InputSource,
    ) -> Result<Self, Outcome> {
        let mut state = State::new(interpreter.program, &interpreter.code, limits);
        state.start(inputs)?;
        state.begin_threads();
        let threads = state.threads();
        match sharing {
            Some(sharing) => {
                threads.visible = Visible::Only(sharing);
                (threads.races, threads.clocks) = (None, None);
                let (orders, races) = (threads.functions.orders, threads.functions.race.is_some());
                threads.robust = orders.are_weak.then(|| Box::new(Robust::new(orders, races)));
            }
            None => threads.visible = Visible::Program,
        }
        threads.unwritten = Some(FxHashMap::default());
        threads.step = Some(Vec::new());
        Ok(Self { state })
    }
    /// The threads that can continue.
    pub fn enabled(&self) -> Vec<u32> {
        self.state.enabled()
    }
    /// Runs an enabled thread to its next point. `Err` is the end of the run.
    pub fn step(&mut self, thread: u32, inputs: &mut dyn InputSource) -> Result<(), Outcome> {
        if self.state.thread() != thread {
            self.state.switch(thread as usize);
        }
        let threads = self.state.threads.as_mut().expect("a program with threads");
        if threads.made.len() > 2048 {
            let memory = &self.state.memory;
            let live: FxHashSet<u64> = memory.live_objects().map(|o| o.base).collect();
            threads.made.retain(|base, _| live.contains(base));
            if let Some(unwritten) = &mut threads.unwritten {
                unwritten.retain(|base, _| live.contains(base));
            }
        }
        self.state.advance(inputs, &mut ())
    }
    /// The number of threads so far, including the first one and those that have ended.
    pub fn threads(&self) -> usize {
        self.state.threads.as_ref().map_or(1, |t| t.all.len())
    }
    /// The number of points so far, including those at which control could not switch.
    pub fn points(&self) -> u64 {
        self.state.threads.as_ref().map_or(0, |t| t.points)
    }
    /// The access before which a thread has paused, if it has paused before one.
    pub fn next(&self, thread: u32) -> Option<Access> {
        self.state.threads.as_ref().and_then(|t| t.all[thread as usize].next)
    }
    /// The accesses of the last step.
    pub fn accesses(&self) -> &[Access] {
        self.state.threads.as_ref().and_then(|t| t.step.as_deref()).unwrap_or(&[])
    }
    /// Marks the memory that the last step accessed as shared, so that accesses to it are visible. A step that does not end
    /// may wait for another thread to write there.
    pub fn share_step(&mut self) {
        let Some(Visible::Only(sharing)) = self.state.threads.as_ref().map(|t| &t.visible) else { return };
        let mut sharing = sharing.borrow_mut();
        let places: FxHashSet<(u64, u64)> = self.accesses().iter().map(|access| (access.addr, access.len)).collect();
        for cell in places.into_iter().flat_map(|(addr, len)| self.state.cells(addr, len)) {
            sharing.grew |= sharing.shared.insert(cell);
        }
    }
    /// The outcome when no thread can continue: a deadlock, if that is an error.
    pub fn blocked(&mut self) -> Outcome {
        self.state.blocked()
    }
    /// The reasons why the exploration of all interleavings would not cover all executions, each with the place where
    /// the program reaches it first.
    pub fn gaps(&self) -> &[(Gap, Option<PlaceId>)] {
        self.state.threads.as_ref().map_or(&[], |t| &t.gaps)
    }
    /// The taints of the run so far.
    pub fn taints(&self) -> &[TaintId] {
        &self.state.taints
    }
    /// The edges executed so far.
    pub fn steps(&self) -> u64 {
        self.state.steps
    }
    /// Sets the number of executed edges to 0.
    pub fn restart_steps(&mut self) {
        self.state.steps = 0;
    }

    /// A hash of all parts of the state that can affect the rest of the run.
    pub fn fingerprint(&self) -> [u64; 2] {
        let threads = self.state.threads.as_ref().expect("a program with threads");
        let mut mix = Digest::new();
        let (words, _) = threads.statics;
        mix.word(u64::from(threads.frees));
        mix.words(&self.state.words[..self.state.code.globals_at.min(words)]);
        for (number, thread) in threads.all.iter().enumerate() {
            let current = number == threads.current;
            mix.word(number as u64);
            let statics = threads.statics;
            let (frames, func, bases, own) = match current {
                true => (&self.state.frames, self.state.func, (self.state.words_base, self.state.wides_base), None),
                false => (&thread.frames, thread.func, (thread.words_base, thread.wides_base), Some(thread)),
            };
            // The registers of a paused thread are stored without the shared ones, so their number is subtracted from
            // the indices.
            let value = |operand: Operand, (words, wides): (usize, usize)| match own {
                None => self.state.value_in(operand, words, wides),
                Some(thread) if operand.is_wide() => {
                    let value = &thread.wides[operand.reg.at(wides) - statics.1];
                    if value.width() == operand.width { value.clone() } else { Bv::zero(operand.width) }
                }
                Some(thread) => Bv::new(operand.width, thread.words[operand.reg.at(words) - statics.0]),
            };
            mix.word(match thread.status {
                Status::Runs => 0,
                Status::Waits(_) => 1,
                Status::Ended => 2,
            });
            if thread.status == Status::Ended {
                continue;
            }
            mix.word(thread.pc as u64);
            mix.word(u64::from(thread.granted));
            mix.word(func.index() as u64);
            let program = self.state.program;
            let mut show = |func: FuncId, loc: LocId, except: Option<VarId>, bases: (usize, usize)| {
                let live = threads.live_locals.borrow_mut().liveness(program, func);
                for &var in live.at(loc).iter().filter(|var| Some(**var) != except) {
                    let value = value(self.state.code.vars[var], bases);
                    mix.word(var.index() as u64);
                    match value.to_u64() {
                        Some(word) => mix.word(word),
                        None => value.to_le_bytes().iter().for_each(|&byte| mix.word(u64::from(byte))),
                    }
                }
            };
            for frame in frames {
                let call = &self.state.code.calls[frame.call as usize];
                let after = program.edges[call.edge].target;
                show(frame.func, after, call.result.map(|(var, _)| var), (frame.words, frame.wides));
            }
            // If the thread ends the program next, no local variable is live.
            if !matches!(self.state.code.instrs[thread.pc], Instr::Exit { .. } | Instr::Halt(_)) {
                let at = self.state.edge_at(thread.pc);
                show(func, program.edges[at].source, None, bases);
            }
            for frame in frames {
                mix.word(u64::from(frame.call));
            }
            for section in &thread.sections {
                mix.word(section.kind << 1 | u64::from(section.entered));
            }
            mix.words(&thread.held);
            mix.word(thread.this);
        }
        if let Some(robust) = &threads.robust {
            robust.digest(&mut mix);
        }
        for object in self.state.memory.live_objects() {
            if object.kind == (ObjectKind::Global { read_only: true }) {
                continue;
            }
            mix.word(object.base);
            if let Some((thread, edge)) = threads.made.get(&object.base) {
                mix.words(&[u64::from(*thread), edge.index() as u64]);
            }
            if let Some(bits) = threads.unwritten.as_ref().and_then(|u| u.get(&object.base)) {
                mix.words(bits);
            }
            mix.words(&object.digest());
        }
        mix.finish()
    }
}
