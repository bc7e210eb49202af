//! A proof that a program has no data race, for any number of threads, inputs and memory orders.
//!
//! The analysis computes for each access the locks that its thread certainly holds (locksets: Savage et al., *Eraser*,
//! 1997; static, with relative locksets of functions: Voung, Jhala, Lerner: *RELAY*, FSE 2007). Two accesses are ordered
//! if they have a common lock, if one of them comes before the other's thread is created, or after it was joined.
//! Points-to sets show which accesses may overlap. Objects whose address never reaches another thread are private.
//!
//! The analysis relies on the assumptions of [`slicer::pointer`]: accesses stay within their objects.

use super::joined::Counts;
use cfa::threads::{BLOCK, ThreadOp};
use cfa::{
    AllocKind, BinOp, Callee, EdgeId, Expr, ExprId, FuncId, FunctionOrigin, GlobalId, Id, LocId, Op, Program, Var,
    VarId, VarKind,
};
use rustc_hash::{FxHashMap, FxHashSet};
use slicer::pointer::{Location, ObjectId, ObjectKind, Options, PointsTo, Slot};
use std::collections::BTreeSet;
use std::time::Instant;

/// The function of the models in which every thread but the first starts.
const RUN: &str = "proviso_run";
/// A function that may end another thread at calls of library functions. The analysis does not follow such ends.
const CANCEL: &str = "pthread_cancel";
/// The function of the models that writes the identifier of a new thread.
const START: &str = "proviso_start";
/// Functions of the models whose approximations this analysis excludes: it requires that a thread unlocks only locks
/// that it holds; other kinds of mutexes exclude threads as well; a wait changes no facts, and no thread destroys what
/// others use.
const EXCLUDED: [&str; 9] = [
    "proviso_kind",
    "proviso_unlock",
    "proviso_wait_for",
    "pthread_cond_init",
    "pthread_cond_destroy",
    "cnd_init",
    "cnd_destroy",
    "pthread_barrier_destroy",
    "pthread_rwlock_unlock",
];
/// Beginnings of the names of functions that are operations of threads. Their accesses to locks are atomic.
const THREAD_OPERATIONS: [&str; 8] = ["pthread_", "mtx_", "cnd_", "thrd_", "tss_", "sem_", "call_once", "__VERIFIER_"];
/// Beginnings of the names of functions that use the lock to which their first argument points.
const LOCKS: [&str; 10] = [
    "pthread_mutex_",
    "pthread_spin_",
    "pthread_rwlock_",
    "pthread_cond_",
    "pthread_barrier_",
    "pthread_once",
    "mtx_",
    "cnd_",
    "sem_",
    "call_once",
];
/// Limit on the start functions of threads.
const MOST_ROOTS: usize = 60;
/// Limit on the pairs of accesses that are compared.
const MOST_PAIRS: usize = 4_000_000;

/// A fact that certainly holds at a location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fact {
    /// The thread holds the lock at this offset of a global object.
    Holds(GlobalId, i64),
    /// The thread holds the read-write lock at this offset of a global object, perhaps only for reading.
    Shares(GlobalId, i64),
    /// The thread holds the lock to which the pointer points. The fact is about the current call of the function alone.
    /// It shows that an unlock is permitted, not that two threads exclude each other.
    HoldsAt(ExprId),
    /// If the variable is 0, this call has taken its lock, and the thread still holds it.
    Tried(VarId, EdgeId),
    /// The thread is in an atomic section.
    Atomic,
    /// No thread runs that this call has created: it has not created any yet, or they were joined.
    NoneOf(EdgeId),
    /// At most one thread runs that this call has created: the last one, whose identifier the call has stored.
    OneOf(EdgeId),
    /// The variable is the identifier of the last thread that this call has created.
    Last(VarId, EdgeId),
}

impl Fact {
    /// The call that creates the threads of the fact.
    fn site(self) -> Option<EdgeId> {
        match self {
            Self::NoneOf(site) | Self::OneOf(site) | Self::Last(_, site) => Some(site),
            Self::Holds(..) | Self::Shares(..) | Self::HoldsAt(_) | Self::Tried(..) | Self::Atomic => None,
        }
    }
    /// True if the fact is about the current call of its function alone.
    fn is_of_call(self) -> bool {
        matches!(self, Self::HoldsAt(_) | Self::Tried(..) | Self::Last(..))
    }
    /// True if the fact is about a lock in a global object.
    fn is_of_lock(self) -> bool {
        matches!(self, Self::Holds(..) | Self::Shares(..))
    }
    /// True if this fact of one thread excludes the other one of another thread.
    fn excludes(self, other: Self) -> bool {
        match (self, other) {
            (Self::Atomic, Self::Atomic) => true,
            (Self::Holds(a, x), Self::Holds(b, y) | Self::Shares(b, y)) | (Self::Shares(a, x), Self::Holds(b, y)) => {
                (a, x) == (b, y)
            }
            _ => false,
        }
    }
}

type Facts = BTreeSet<Fact>;

/// The effect of a function on facts, for every caller.
#[derive(Clone, Default)]
struct Effect {
    /// The facts that hold at the end, also if they do not hold at the start.
    gains: Facts,
    /// The facts that may no longer hold at the end.
    loses: Facts,
    /// True if the function may unlock any lock.
    loses_locks: bool,
}

/// An access to memory by a thread.
struct Access {
    slot: Slot,
    writes: bool,
    facts: Facts,
    /// The number of the start function of the thread.
    root: usize,
    /// The access is to an array element that no other thread with this start function accesses in this way.
    is_own: bool,
}

/// Returns true if it is proved that no run has a data race.
pub(super) fn are_race_free(program: &Program, deadline: Instant) -> bool {
    let Some(whole) = with_starts(program) else { return false };
    let options = Options { budget: 40_000_000, deadline: Some(deadline), ..Options::default() };
    PointsTo::compute(&whole, &options)
        .and_then(|points_to| Locksets::new(&whole, points_to))
        .is_some_and(|mut locksets| locksets.prove() == Some(true))
}

/// The program in which the start of a thread is a call, and the argument of the current thread a global variable: an
/// over-approximation for analyses that ignore the order of operations.
fn with_starts(program: &Program) -> Option<Program> {
    let mut whole = program.clone();
    let start = whole.thread_op(ThreadOp::Start)?;
    let [func, argument] = whole.funcs[start].params[..] else { return None };
    let (ty, width) = (whole.vars[argument].ty, whole.vars[argument].width);
    let this = whole.vars.push(Var {
        name: None,
        ty,
        width,
        kind: VarKind::Global { init: None, is_static: false },
        place: None,
    });
    let (func, argument, result) = (whole.exprs.var(func, width), whole.exprs.var(argument, width), this);
    let (entry, then, end) = (whole.add_location(start), whole.add_location(start), whole.add_location(start));
    let sink = whole.add_location(start);
    whole.add_edge(entry, Op::Assign { var: this, value: argument }, then, None);
    let call = Op::Call { callee: Callee::Indirect(func), args: Box::new([argument]), varargs: None, result: None };
    whole.add_edge(then, call, end, None);
    whole.add_edge(end, Op::Return { value: None }, sink, None);
    whole.funcs[start].entry = entry;
    if let Some(own) = whole.thread_op(ThreadOp::This) {
        let (entry, sink) = (whole.add_location(own), whole.add_location(own));
        let value = whole.exprs.var(result, width);
        whole.add_edge(entry, Op::Return { value: Some(value) }, sink, None);
        whole.funcs[own].entry = entry;
    }
    Some(whole)
}

struct Locksets<'p> {
    program: &'p Program,
    points_to: PointsTo<'p>,
    /// By function, its edges that can be executed.
    bodies: Vec<Vec<EdgeId>>,
    outgoing: FxHashMap<LocId, Vec<EdgeId>>,
    /// The start functions of threads; the first is the entry of the program.
    roots: Vec<FuncId>,
    /// By function, a bit for each root from which it is called.
    of_roots: Vec<u64>,
    /// By root, true if at most one thread at a time starts there.
    is_single: Vec<bool>,
    /// By root, the size of the array elements of which each of its threads gets another one.
    elements: FxHashMap<usize, u64>,
    /// By variable, the edges that write it.
    defs: FxHashMap<VarId, Vec<EdgeId>>,
    /// The roots of the threads that a call creates.
    creates: FxHashMap<EdgeId, Vec<usize>>,
    /// Edges after which the threads are joined that a call has created: joins, and the ends of loops of joins.
    joins: FxHashMap<EdgeId, EdgeId>,
    /// Loads of the identifier of the last thread that a call has created.
    ids: FxHashMap<EdgeId, EdgeId>,
    /// Functions that may be called in an atomic section of the program. `None` if they are not known.
    in_blocks: Option<FxHashSet<FuncId>>,
    /// By object: the objects to which it may contain pointers.
    contents: FxHashMap<ObjectId, FxHashSet<ObjectId>>,
    effects: Vec<Effect>,
    /// The global objects that contain the locks to which pointers may point; `None` if any may.
    locks: FxHashMap<ExprId, Option<FxHashSet<GlobalId>>>,
}

impl<'p> Locksets<'p> {
    /// `None` if the program has operations that the analysis does not cover.
    fn new(program: &'p Program, points_to: PointsTo<'p>) -> Option<Self> {
        let mut outgoing: FxHashMap<LocId, Vec<EdgeId>> = FxHashMap::default();
        for (id, edge) in program.edges.iter() {
            outgoing.entry(edge.source).or_default().push(id);
        }
        let mut this = Self {
            program,
            points_to,
            bodies: vec![Vec::new(); program.funcs.len()],
            outgoing,
            roots: vec![program.entry],
            of_roots: vec![0; program.funcs.len()],
            is_single: vec![true],
            elements: FxHashMap::default(),
            defs: FxHashMap::default(),
            creates: FxHashMap::default(),
            joins: FxHashMap::default(),
            ids: FxHashMap::default(),
            in_blocks: None,
            contents: FxHashMap::default(),
            effects: vec![Effect::default(); program.funcs.len()],
            locks: FxHashMap::default(),
        };
        for func in program.funcs.ids().filter(|&f| this.points_to.is_reached(f)) {
            this.bodies[func.index()] = this.executed(func);
        }
        this.find_roots()?;
        this.find_joins();
        this.in_blocks = this.called_in_blocks();
        this.find_locks();
        Some(this)
    }

    /// The edges of a function that are connected to its entry.
    fn executed(&self, func: FuncId) -> Vec<EdgeId> {
        let mut todo = vec![self.program.funcs[func].entry];
        let mut known: FxHashSet<LocId> = todo.iter().copied().collect();
        let mut edges = Vec::new();
        while let Some(loc) = todo.pop() {
            for &edge in self.outgoing.get(&loc).into_iter().flatten() {
                edges.push(edge);
                let target = self.program.edges[edge].target;
                if known.insert(target) {
                    todo.push(target);
                }
            }
        }
        edges
    }

    fn op_of(&self, func: FuncId) -> Option<ThreadOp> {
        ThreadOp::by_name(&self.program.funcs[func].name)
    }
    fn is_model(&self, func: FuncId) -> bool {
        self.program.funcs[func].origin == FunctionOrigin::Model
    }
    /// The name of a library function that the edge calls directly.
    fn library(&self, edge: EdgeId) -> Option<&str> {
        match &self.program.edges[edge].op {
            Op::Call { callee: Callee::Direct(f), .. } if self.is_model(*f) => {
                let name = self.program.funcs[*f].name.as_str();
                Some(name.strip_suffix(".void").unwrap_or(name))
            }
            _ => None,
        }
    }
    fn argument(&self, edge: EdgeId, n: usize) -> Option<ExprId> {
        match &self.program.edges[edge].op {
            Op::Call { args, .. } => args.get(n).copied(),
            _ => None,
        }
    }

    /// The functions called from `func`, also through callees. Threads that they create are not followed.
    fn called(&self, func: FuncId, without: Option<FuncId>) -> FxHashSet<FuncId> {
        let mut todo = vec![func];
        let mut known: FxHashSet<FuncId> = todo.iter().copied().collect();
        while let Some(func) = todo.pop() {
            for &edge in &self.bodies[func.index()] {
                let is_indirect = matches!(self.program.edges[edge].op, Op::Call { callee: Callee::Indirect(_), .. });
                if is_indirect && Some(func) == without {
                    continue;
                }
                for &callee in self.points_to.callees(edge) {
                    if self.op_of(callee).is_none() && known.insert(callee) {
                        todo.push(callee);
                    }
                }
            }
        }
        known
    }

    /// Finds the start functions of threads and the calls that create them. `None` if some are not known.
    fn find_roots(&mut self) -> Option<()> {
        let program = self.program;
        let run = program.func_by_name(RUN).filter(|_| program.func_by_name(CANCEL).is_none())?;
        let starts: Vec<EdgeId> = self.bodies[run.index()].clone();
        for edge in starts {
            if matches!(program.edges[edge].op, Op::Call { callee: Callee::Indirect(_), .. }) {
                for &root in self.points_to.callees(edge) {
                    if !self.roots[1..].contains(&root) {
                        self.roots.push(root);
                    }
                }
            }
        }
        if self.roots.len() > MOST_ROOTS {
            return None;
        }
        let at_the_end = self.called(run, Some(run));
        for (n, &root) in self.roots.clone().iter().enumerate() {
            let mut called = self.called(root, None);
            if n > 0 {
                called.extend(&at_the_end);
            }
            called.iter().for_each(|f| self.of_roots[f.index()] |= 1 << n);
        }
        let mut sites: Vec<Vec<EdgeId>> = vec![Vec::new(); self.roots.len()];
        for func in program.funcs.ids() {
            for edge in self.bodies[func.index()].clone() {
                if let Op::Call { callee: Callee::Indirect(_), .. } = program.edges[edge].op {
                    // Locks and threads are only known from direct calls.
                    if !self.is_model(func) && self.points_to.callees(edge).iter().any(|&f| self.is_model(f)) {
                        return None;
                    }
                }
                let n = match self.library(edge) {
                    Some("pthread_create") => 2,
                    Some("thrd_create") => 1,
                    _ => continue,
                };
                let start = self.argument(edge, n)?;
                let mut created = Vec::new();
                for location in self.points_to.points_to(start) {
                    let ObjectKind::Func(f) = self.points_to.objects[location.object].kind else { return None };
                    let root = self.roots[1..].iter().position(|&root| root == f)? + 1;
                    sites[root].push(edge);
                    created.push(root);
                }
                self.creates.insert(edge, created);
            }
        }
        let once = self.once();
        for sites in &sites[1..] {
            let is_single = match sites[..] {
                [site] => once.contains(&program.func_of(site)) && !self.is_repeated(site),
                _ => false,
            };
            self.is_single.push(is_single);
        }
        Some(())
    }

    /// True if the edge is on a cycle of its function.
    fn is_repeated(&self, edge: EdgeId) -> bool {
        let Self { program, outgoing, .. } = self;
        let mut todo = vec![program.edges[edge].target];
        let mut known: FxHashSet<LocId> = todo.iter().copied().collect();
        while let Some(loc) = todo.pop() {
            for &next in outgoing.get(&loc).into_iter().flatten() {
                if next == edge {
                    return true;
                }
                let target = program.edges[next].target;
                if known.insert(target) {
                    todo.push(target);
                }
            }
        }
        false
    }

    /// Functions that a run executes at most once, in the first thread.
    fn once(&self) -> FxHashSet<FuncId> {
        let mut callers: FxHashMap<FuncId, Vec<EdgeId>> = FxHashMap::default();
        for &edge in self.bodies.iter().flatten() {
            for &callee in self.points_to.callees(edge) {
                callers.entry(callee).or_default().push(edge);
            }
        }
        let mut once = FxHashSet::default();
        if callers.contains_key(&self.program.entry) {
            return once;
        }
        once.insert(self.program.entry);
        loop {
            let is_next = |func: &FuncId| match callers.get(func).map(Vec::as_slice) {
                Some(&[edge]) => once.contains(&self.program.func_of(edge)) && !self.is_repeated(edge),
                _ => false,
            };
            let found: Vec<FuncId> = self.program.funcs.ids().filter(|f| !once.contains(f)).filter(is_next).collect();
            if found.is_empty() {
                return once;
            }
            once.extend(found);
        }
    }

    /// Finds the calls, and loops of calls, that join threads whose identifiers are stored in an object that only their
    /// creation writes.
    fn find_joins(&mut self) {
        let program = self.program;
        let once = self.once();
        let mut loads: FxHashMap<VarId, Vec<Option<(EdgeId, ExprId)>>> = FxHashMap::default();
        for (id, edge) in program.edges.iter() {
            match edge.op {
                Op::Load { var, addr } => loads.entry(var).or_default().push(Some((id, addr))),
                ref op => op.def().into_iter().for_each(|var| loads.entry(var).or_default().push(None)),
            }
        }
        let joins: Vec<EdgeId> = self
            .bodies
            .iter()
            .flatten()
            .copied()
            .filter(|&edge| matches!(self.library(edge), Some("pthread_join" | "thrd_join")))
            .collect();
        let mut counts: Option<Counts<'p>> = None;
        for edge in joins {
            let Some(id) = self.argument(edge, 0) else { continue };
            let Expr::Var(var) = *program.exprs.get(id) else { continue };
            let Some(&[Some((load, addr))]) = loads.get(&var).map(Vec::as_slice) else { continue };
            let [at] = self.points_to.points_to(addr)[..] else { continue };
            let is_one_object = match self.points_to.objects[at.object].kind {
                ObjectKind::Global(_) => true,
                ObjectKind::Alloc(alloc) => once.contains(&program.func_of(alloc)) && !self.is_repeated(alloc),
                _ => false,
            };
            if !is_one_object || self.is_written(at) {
                continue;
            }
            let mut creators = Vec::new();
            for &site in self.creates.keys() {
                let Some(to) = self.argument(site, 0) else { continue };
                if self.points_to.points_to(to).iter().any(|l| may_meet(l, &at)) {
                    creators.push((site, to));
                }
            }
            let [(site, to)] = creators[..] else { continue };
            let func = program.func_of(site);
            if self.of_roots[func.index()] != 1 {
                continue;
            }
            if at.at.stride == 0 {
                self.ids.insert(load, site);
            }
            if !once.contains(&func) {
                continue;
            }
            if !self.is_repeated(site) {
                if at.at.stride == 0 {
                    self.joins.insert(edge, site);
                }
                continue;
            }
            let counts = counts.get_or_insert_with(|| Counts::new(program));
            if let (Some(creating), Some(joining)) = (counts.around(site), counts.around(edge))
                && counts.around(load).is_some_and(|loading| loading.exit == joining.exit)
                && counts.access_the_same((&creating, to), (&joining, addr))
            {
                self.joins.insert(joining.exit, site);
            }
        }
    }

    /// True if an operation other than the creation of a thread may write there.
    fn is_written(&mut self, at: Location) -> bool {
        let program = self.program;
        for func in program.funcs.ids().filter(|&f| program.funcs[f].name != START) {
            for edge in self.bodies[func.index()].clone() {
                let (addr, width) = match &program.edges[edge].op {
                    Op::Store { addr, value } => (*addr, Some(program.exprs.width(*value).div_ceil(8))),
                    Op::Copy { dst, .. } | Op::Fill { dst, .. } => (*dst, None),
                    _ => continue,
                };
                let slot = |l: &Location| width.map_or(Slot::WHOLE, |width| Slot::new(l.at, width));
                let meets = |l: &Location| l.object == at.object && slot(l).overlaps(&Slot::new(at.at, 8));
                if self.points_to.points_to(addr).iter().any(|l| meets(l) || self.is_unknown(l)) {
                    return true;
                }
            }
        }
        false
    }

    fn is_unknown(&self, location: &Location) -> bool {
        matches!(self.points_to.objects[location.object].kind, ObjectKind::Unknown)
    }

    // Facts.

    /// Finds the objects of the locks to which pointers may point.
    fn find_locks(&mut self) {
        for edge in self.bodies.iter().flatten().copied().collect::<Vec<_>>() {
            let Some(address) = self.locked(edge).or(self.unlocked(edge)) else { continue };
            let mut globals = Some(FxHashSet::default());
            for location in self.points_to.points_to(address) {
                match (self.points_to.objects[location.object].kind, &mut globals) {
                    (ObjectKind::Global(global), Some(globals)) => drop(globals.insert(global)),
                    (ObjectKind::Alloc(_), _) => {}
                    _ => globals = None,
                }
            }
            self.locks.insert(address, globals);
        }
    }

    /// The address of the lock that an edge takes or tries to take.
    fn locked(&self, edge: EdgeId) -> Option<ExprId> {
        match self.library(edge) {
            Some(
                "pthread_mutex_lock"
                | "mtx_lock"
                | "pthread_spin_lock"
                | "pthread_rwlock_rdlock"
                | "pthread_rwlock_wrlock",
            ) => self.argument(edge, 0),
            _ if self.may_fail(edge) => self.argument(edge, 0),
            _ => None,
        }
    }
    /// True if the edge tries to take a lock. Its result is 0 if it has taken the lock.
    fn may_fail(&self, edge: EdgeId) -> bool {
        let is_attempt = |name: &str| name.contains("_try") || name.ends_with("_timedlock");
        let locks = ["pthread_mutex_", "pthread_spin_", "pthread_rwlock_", "mtx_"];
        self.library(edge).is_some_and(|name| is_attempt(name) && locks.iter().any(|prefix| name.starts_with(prefix)))
    }
    /// The fact that the thread has taken the lock at this address at the edge.
    fn taken(&self, edge: EdgeId, address: ExprId) -> Fact {
        match (self.lock(address), self.library(edge)) {
            (Fact::Holds(global, at), Some("pthread_rwlock_rdlock" | "pthread_rwlock_tryrdlock")) => {
                Fact::Shares(global, at)
            }
            (lock, _) => lock,
        }
    }
    /// The address of the lock that an edge releases.
    fn unlocked(&self, edge: EdgeId) -> Option<ExprId> {
        match self.library(edge) {
            Some("pthread_mutex_unlock" | "mtx_unlock" | "pthread_spin_unlock" | "pthread_rwlock_unlock") => {
                self.argument(edge, 0)
            }
            _ => None,
        }
    }
    /// True if the address may be that of the lock.
    fn may_be(&self, address: ExprId, lock: &Fact) -> bool {
        match (lock, self.locks.get(&address)) {
            (Fact::Holds(global, _) | Fact::Shares(global, _), Some(Some(globals))) => globals.contains(global),
            _ => true,
        }
    }

    /// The lock at an address.
    fn lock(&self, address: ExprId) -> Fact {
        self.constant_lock(address).unwrap_or(Fact::HoldsAt(address))
    }
    fn constant_lock(&self, address: ExprId) -> Option<Fact> {
        let exprs = &self.program.exprs;
        let (base, offset) = exprs.base_and_offset(address);
        match *exprs.get(base) {
            Expr::GlobalAddr(global) => Some(Fact::Holds(global, offset as i64)),
            _ => None,
        }
    }

    /// Changes the facts by a call of a library function with a known effect. Returns false if it is none.
    fn call_library(&self, edge: EdgeId, facts: &mut Facts, lost: &mut Effect) -> bool {
        if let Some(address) = self.locked(edge) {
            match (self.may_fail(edge), &self.program.edges[edge].op) {
                (false, _) => drop(facts.insert(self.taken(edge, address))),
                (true, Op::Call { result: Some(result), .. }) => drop(facts.insert(Fact::Tried(*result, edge))),
                (true, _) => {}
            }
            return true;
        }
        if let Some(address) = self.unlocked(edge) {
            let lock = self.lock(address);
            let is_constant = matches!(lock, Fact::Holds(..));
            let released = match lock {
                Fact::Holds(global, at) => [lock, Fact::Shares(global, at)],
                _ => [lock; 2],
            };
            facts.retain(|fact| match *fact {
                Fact::Holds(..) | Fact::Shares(..) => {
                    !released.contains(fact) && (is_constant || !self.may_be(address, fact))
                }
                Fact::HoldsAt(other) => is_constant && !self.may_be(other, &lock),
                Fact::Tried(..) => false,
                _ => true,
            });
            lost.loses_locks |= !is_constant;
            lost.loses.extend(released);
            return true;
        }
        match self.library(edge) {
            Some("pthread_create" | "thrd_create") => {
                let was_none = facts.contains(&Fact::NoneOf(edge));
                facts.retain(|fact| fact.site() != Some(edge));
                lost.loses.extend([Fact::NoneOf(edge), Fact::OneOf(edge)]);
                if was_none {
                    facts.insert(Fact::OneOf(edge));
                }
            }
            Some("pthread_join" | "thrd_join") => {
                let id = self.argument(edge, 0).map(|id| self.program.exprs.get(id));
                let site = facts.iter().find_map(|fact| match (fact, id) {
                    (Fact::Last(var, site), Some(Expr::Var(id))) if var == id => Some(*site),
                    _ => None,
                });
                facts.extend(site.map(Fact::NoneOf));
            }
            Some(name) if name.starts_with("pthread_mutex") || name.starts_with("mtx_") => {}
            _ => return false,
        }
        true
    }

    /// The facts after an edge. `lost` collects the facts that the edge may end.
    fn after(&self, edge: EdgeId, mut facts: Facts, lost: &mut Effect) -> Facts {
        let program = self.program;
        if let Some(var) = program.edges[edge].op.def() {
            let reads = |e: ExprId| program.exprs.vars(e).contains(&var);
            facts.retain(|fact| match *fact {
                Fact::HoldsAt(address) => !reads(address),
                Fact::Last(id, _) | Fact::Tried(id, _) => id != var,
                _ => true,
            });
            if let Some(&site) = self.ids.get(&edge).filter(|site| facts.contains(&Fact::OneOf(**site))) {
                facts.insert(Fact::Last(var, site));
            }
        }
        if let Op::Assume { cond, .. } = program.edges[edge].op {
            let taken: Vec<Fact> = facts.iter().filter_map(|&fact| self.taken_if(fact, cond)).collect();
            facts.extend(taken);
        }
        let is_done = !matches!(program.edges[edge].op, Op::Call { .. }) || self.call_library(edge, &mut facts, lost);
        facts.extend(self.joins.get(&edge).map(|&site| Fact::NoneOf(site)));
        if is_done {
            return facts;
        }
        let callees = self.points_to.callees(edge);
        if let [callee] = callees[..]
            && let Some(op) = self.op_of(callee)
        {
            match op {
                ThreadOp::Begin => {
                    let kind = self.argument(edge, 0).and_then(|kind| program.exprs.as_const(kind)?.to_u64());
                    if kind.map_or(self.is_model(program.func_of(edge)), |kind| kind <= BLOCK) {
                        facts.insert(Fact::Atomic);
                    }
                }
                ThreadOp::Finish => {
                    facts.remove(&Fact::Atomic);
                    lost.loses.insert(Fact::Atomic);
                }
                _ => {}
            }
            return facts;
        }
        let mut joined: Option<Facts> = None;
        for &callee in callees {
            let effect = &self.effects[callee.index()];
            lost.loses.extend(&effect.loses);
            lost.loses_locks |= effect.loses_locks;
            let unlocks = effect.loses_locks || effect.loses.iter().any(|fact| fact.is_of_lock());
            let mut after = facts.clone();
            after.retain(|fact| match fact {
                Fact::Holds(..) | Fact::Shares(..) => !effect.loses_locks && !effect.loses.contains(fact),
                Fact::HoldsAt(_) | Fact::Tried(..) => !unlocks,
                Fact::Last(_, site) => !effect.loses.contains(&Fact::OneOf(*site)),
                _ => !effect.loses.contains(fact),
            });
            after.extend(&effect.gains);
            joined = Some(joined.map_or(after.clone(), |joined| joined.intersection(&after).copied().collect()));
        }
        joined.unwrap_or_default()
    }

    /// The lock that the thread has taken by the attempt in the fact, if the condition holds.
    fn taken_if(&self, fact: Fact, cond: ExprId) -> Option<Fact> {
        let Fact::Tried(result, attempt) = fact else { return None };
        let exprs = &self.program.exprs;
        let is = |e: ExprId, known: Expr| *exprs.get(e) == known;
        let Expr::Binary(BinOp::Eq, a, b) = *exprs.get(cond) else { return None };
        let is_zero = |e: ExprId| exprs.as_const(e).is_some_and(|value| value.is_zero());
        let succeeds = is(a, Expr::Var(result)) && is_zero(b) || is_zero(a) && is(b, Expr::Var(result));
        let lock = self.taken(attempt, self.argument(attempt, 0)?);
        (succeeds && lock.is_of_lock()).then_some(lock)
    }

    /// The facts before each edge of a function, and its effect if it starts with these facts.
    fn flow(&self, func: FuncId, entry: &Facts) -> (FxHashMap<LocId, Facts>, Effect) {
        let mut at: FxHashMap<LocId, Facts> = FxHashMap::default();
        let start = self.program.funcs[func].entry;
        at.insert(start, entry.clone());
        let mut todo = vec![start];
        let mut effect = Effect::default();
        let mut gains: Option<Facts> = None;
        while let Some(loc) = todo.pop() {
            let before = at[&loc].clone();
            for &edge in self.outgoing.get(&loc).into_iter().flatten() {
                let after = self.after(edge, before.clone(), &mut effect);
                let target = self.program.edges[edge].target;
                let known = at.get(&target);
                let merged = known.map_or(after.clone(), |known| known.intersection(&after).copied().collect());
                if known != Some(&merged) {
                    at.insert(target, merged);
                    todo.push(target);
                }
            }
        }
        for &edge in &self.bodies[func.index()] {
            if matches!(self.program.edges[edge].op, Op::Return { .. }) {
                let facts = &at[&self.program.edges[edge].source];
                gains = Some(gains.map_or(facts.clone(), |gains| gains.intersection(facts).copied().collect()));
            }
        }
        effect.gains = gains.unwrap_or_default();
        effect.gains.retain(|fact| !fact.is_of_call());
        (at, effect)
    }

    /// Computes the effects of all functions. Every round is sound for the facts that functions establish, so few rounds
    /// suffice. The facts that they end are a least fixed point.
    fn find_effects(&mut self) {
        for round in 0.. {
            let mut changed = false;
            for func in self.program.funcs.ids() {
                if self.bodies[func.index()].is_empty() || self.op_of(func).is_some() {
                    continue;
                }
                let mut effect = self.flow(func, &Facts::new()).1;
                // In the first rounds, the facts that callees end may not be known yet, so no fact is established.
                if round == 0 {
                    effect.gains.clear();
                }
                let known = &self.effects[func.index()];
                changed |= known.loses != effect.loses || known.loses_locks != effect.loses_locks;
                self.effects[func.index()] = effect;
            }
            if !changed && round > 2 {
                break;
            }
            if changed {
                self.effects.iter_mut().for_each(|effect| effect.gains.clear());
            }
        }
    }

    /// The facts at the start of each function that threads with this root call: those that hold at all its calls.
    fn find_entries(&self, root: usize) -> FxHashMap<FuncId, Facts> {
        let mut entries = FxHashMap::from_iter([(self.roots[root], self.at_start(root))]);
        let mut todo = vec![self.roots[root]];
        let run = self.program.func_by_name(RUN).filter(|_| root > 0);
        if let Some(run) = run {
            entries.insert(run, Facts::new());
            todo.push(run);
        }
        while let Some(func) = todo.pop() {
            let at = self.flow(func, &entries[&func]).0;
            for &edge in &self.bodies[func.index()] {
                let before = &at[&self.program.edges[edge].source];
                let is_indirect = matches!(self.program.edges[edge].op, Op::Call { callee: Callee::Indirect(_), .. });
                if is_indirect && Some(func) == run {
                    continue;
                }
                for &callee in self.points_to.callees(edge) {
                    if self.op_of(callee).is_some() {
                        continue;
                    }
                    let function = &self.program.funcs[callee];
                    let mut facts = before.clone();
                    facts.retain(|fact| !fact.is_of_call());
                    if function.origin == FunctionOrigin::Source && function.name.starts_with("__VERIFIER_atomic_") {
                        facts.insert(Fact::Atomic);
                    }
                    let known = entries.get(&callee);
                    let merged = known.map_or(facts.clone(), |known| known & &facts);
                    if known != Some(&merged) {
                        entries.insert(callee, merged);
                        todo.push(callee);
                    }
                }
            }
        }
        entries
    }

    /// The facts at the start of a thread with this root.
    fn at_start(&self, root: usize) -> Facts {
        if root > 0 {
            return Facts::new();
        }
        let is_of_first = |site: &EdgeId| self.of_roots[self.program.func_of(*site).index()] == 1;
        self.creates.keys().copied().filter(is_of_first).map(Fact::NoneOf).collect()
    }

    // Accesses.

    /// The objects that several threads may reach.
    fn shared(&mut self) -> Option<FxHashSet<ObjectId>> {
        let program = self.program;
        let mut holds: FxHashMap<ObjectId, FxHashSet<ObjectId>> = FxHashMap::default();
        let mut todo: Vec<ObjectId> = self
            .points_to
            .objects
            .iter()
            .filter(|(_, object)| matches!(object.kind, ObjectKind::Global(_) | ObjectKind::Unknown))
            .map(|(id, _)| id)
            .collect();
        for edge in self.bodies.iter().flatten().copied().collect::<Vec<_>>() {
            match &program.edges[edge].op {
                Op::Store { addr, value } => {
                    let values = self.objects(*value);
                    if values.is_empty() {
                        continue;
                    }
                    for to in self.objects(*addr) {
                        holds.entry(to).or_default().extend(&values);
                    }
                }
                Op::Copy { dst, src, .. } => {
                    let values = self.objects(*src);
                    for to in self.objects(*dst) {
                        holds.entry(to).or_default().extend(&values);
                    }
                }
                Op::Assign { var, value } if program.vars[*var].func().is_none() => {
                    todo.extend(self.objects(*value));
                }
                Op::Shadow(_) => return None,
                _ => {}
            }
        }
        self.contents = holds;
        Some(self.reachable(todo))
    }

    /// These objects, and those that pointers in them reach.
    fn reachable(&self, mut todo: Vec<ObjectId>) -> FxHashSet<ObjectId> {
        let mut found: FxHashSet<ObjectId> = todo.iter().copied().collect();
        while let Some(object) = todo.pop() {
            for &held in self.contents.get(&object).into_iter().flatten() {
                if found.insert(held) {
                    todo.push(held);
                }
            }
        }
        found
    }

    fn objects(&mut self, e: ExprId) -> Vec<ObjectId> {
        let mut objects: Vec<ObjectId> = self.points_to.points_to(e).iter().map(|l| l.object).collect();
        objects.dedup();
        objects
    }

    /// The memory that an operation accesses: address, bytes if known, and whether it writes.
    fn accessed(&self, op: &Op) -> Vec<(ExprId, Option<u32>, bool)> {
        let program = self.program;
        match op {
            Op::Load { var, addr } => vec![(*addr, Some(program.vars[*var].width.div_ceil(8)), false)],
            Op::Store { addr, value } => vec![(*addr, Some(program.exprs.width(*value).div_ceil(8)), true)],
            Op::Copy { dst, src, .. } => vec![(*src, None, false), (*dst, None, true)],
            Op::Fill { dst, .. } => vec![(*dst, None, true)],
            _ => Vec::new(),
        }
    }

    /// The kind of the atomic section that an edge begins.
    fn begun(&self, edge: EdgeId) -> Option<u64> {
        let begins = self.points_to.callees(edge).iter().any(|&f| self.op_of(f) == Some(ThreadOp::Begin));
        let kind = || self.argument(edge, 0).and_then(|kind| self.program.exprs.as_const(kind)?.to_u64());
        begins.then(|| kind().unwrap_or(BLOCK))
    }

    /// The functions that may be called in an atomic section of the program. `None` if a function may return in one.
    fn called_in_blocks(&self) -> Option<FxHashSet<FuncId>> {
        let program = self.program;
        let is_finish =
            |edge: EdgeId| self.points_to.callees(edge).iter().any(|&f| self.op_of(f) == Some(ThreadOp::Finish));
        let mut found: FxHashSet<FuncId> = FxHashSet::default();
        for func in program.funcs.ids().filter(|&f| !self.is_model(f)) {
            if program.funcs[func].name.starts_with("__VERIFIER_atomic_") {
                found.extend(self.called(func, None));
            }
            let begins = |edge: &EdgeId| self.begun(*edge) == Some(BLOCK);
            let edges = self.bodies[func.index()].iter().copied();
            // A location in a section, and whether an atomic access has begun there.
            let mut todo: Vec<(LocId, bool)> =
                edges.filter(begins).map(|edge| (program.edges[edge].target, false)).collect();
            let mut known: FxHashSet<(LocId, bool)> = todo.iter().copied().collect();
            while let Some((loc, is_access)) = todo.pop() {
                for &edge in self.outgoing.get(&loc).into_iter().flatten() {
                    let is_access = match (self.begun(edge), is_finish(edge)) {
                        (Some(_), _) => true,
                        (None, true) if !is_access => continue,
                        (None, true) => false,
                        _ => is_access,
                    };
                    match program.edges[edge].op {
                        Op::Return { .. } => return None,
                        Op::Call { .. } => {
                            let callees = self.points_to.callees(edge).iter().filter(|&&f| self.op_of(f).is_none());
                            callees.for_each(|&callee| found.extend(self.called(callee, None)));
                        }
                        _ => {}
                    }
                    let next = (program.edges[edge].target, is_access);
                    if known.insert(next) {
                        todo.push(next);
                    }
                }
            }
        }
        Some(found)
    }

    /// The models that a call of a library function executes. None for operations of threads and atomic accesses.
    fn executed_models(&self, call: EdgeId) -> FxHashSet<FuncId> {
        let program = self.program;
        let is_operation = |func: FuncId| {
            let name = program.funcs[func].name.as_str();
            self.op_of(func).is_some()
                || THREAD_OPERATIONS.iter().any(|prefix| name.starts_with(prefix))
                || self.bodies[func.index()].iter().any(|&edge| self.begun(edge).is_some())
        };
        let (mut todo, mut found) = (vec![call], FxHashSet::default());
        while let Some(edge) = todo.pop() {
            for &callee in self.points_to.callees(edge) {
                if self.is_model(callee) && !is_operation(callee) && found.insert(callee) {
                    todo.extend(&self.bodies[callee.index()]);
                }
            }
        }
        found
    }

    /// The accesses of a library function to memory of the program. They are accesses to objects that are reachable from
    /// the arguments of the call, or from objects of the library. `None` if the function may access any object.
    fn accesses_of_library(
        &mut self,
        call: EdgeId,
        facts: &Facts,
        root: usize,
        shared: &FxHashSet<ObjectId>,
    ) -> Option<Vec<(ObjectId, Access)>> {
        let Op::Call { args, .. } = &self.program.edges[call].op else { return Some(Vec::new()) };
        if self.is_model(self.program.func_of(call)) {
            return Some(Vec::new());
        }
        let mut accesses = Vec::new();
        for func in self.executed_models(call) {
            for edge in self.bodies[func.index()].clone() {
                let of_program = self.accesses(edge, facts, root)?.into_iter();
                accesses
                    .extend(of_program.filter(|(object, _)| shared.contains(object) && !self.is_of_models(*object)));
            }
        }
        if !accesses.is_empty() {
            let passed: Vec<ObjectId> = args.iter().flat_map(|&arg| self.objects(arg)).collect();
            let kept = self.points_to.objects.iter().map(|(id, _)| id).filter(|&id| self.is_of_models(id));
            let reachable = self.reachable(passed.into_iter().chain(kept).collect());
            accesses.retain(|(object, _)| reachable.contains(object));
        }
        Some(accesses)
    }

    /// True for memory that only models access.
    fn is_of_models(&self, object: ObjectId) -> bool {
        let program = self.program;
        match self.points_to.objects[object].kind {
            ObjectKind::Global(global) => {
                program.globals[global].place.is_some_and(|place| program.is_of_models(place))
            }
            ObjectKind::Alloc(edge) => {
                matches!(program.edges[edge].op, Op::Alloc { kind: AllocKind::Library(_), .. })
            }
            _ => false,
        }
    }

    /// True if accesses of a function count. Those of models do only in atomic sections of the program.
    fn counts(&self, func: FuncId) -> bool {
        let begins = |&edge: &EdgeId| self.begun(edge).is_some_and(|kind| kind <= BLOCK);
        let is_in_block = self.in_blocks.as_ref().is_none_or(|found| found.contains(&func));
        !self.is_model(func) || is_in_block || self.bodies[func.index()].iter().any(begins)
    }

    /// `Some(true)` if no two accesses race, `None` if the program is not covered.
    fn prove(&mut self) -> Option<bool> {
        let program = self.program;
        for func in program.funcs.ids() {
            let function = &program.funcs[func];
            let is_source = function.origin == FunctionOrigin::Source;
            if self.op_of(func).is_some() {
                continue;
            }
            for &edge in &self.bodies[func.index()] {
                match &program.edges[edge].op {
                    Op::Approx { taint }
                        if program.taints[*taint].under && !EXCLUDED.contains(&function.name.as_str()) =>
                    {
                        return None;
                    }
                    op if is_source && op.def().is_some_and(|var| program.vars[var].func().is_none()) => return None,
                    _ => {}
                }
            }
        }
        self.find_effects();
        self.find_elements();
        let shared = self.shared()?;
        let mut accesses: FxHashMap<ObjectId, Vec<Access>> = FxHashMap::default();
        // Calls that may create a thread while an earlier one of theirs runs.
        let mut overlapping: FxHashSet<EdgeId> = FxHashSet::default();
        for root in 0..self.roots.len() {
            for (func, entry) in self.find_entries(root) {
                let at = self.flow(func, &entry).0;
                if !self.bodies[func.index()].iter().all(|&edge| self.unlocks_what_it_holds(edge, &at)) {
                    return None;
                }
                let counts = self.counts(func);
                for edge in self.bodies[func.index()].clone() {
                    let facts = &at[&program.edges[edge].source];
                    if self.creates.contains_key(&edge) && !facts.contains(&Fact::NoneOf(edge)) {
                        overlapping.insert(edge);
                    }
                    let mut found = self.ends_of_objects(edge, facts, root);
                    found.extend(self.zeroed_objects(edge, facts, root));
                    found.extend(self.uses_of_locks(edge, facts, root));
                    if counts {
                        found.extend(self.accesses(edge, facts, root)?);
                    }
                    found.extend(self.accesses_of_library(edge, facts, root, &shared)?);
                    for (object, access) in found.into_iter().filter(|(object, _)| shared.contains(object)) {
                        accesses.entry(object).or_default().push(access);
                    }
                }
            }
        }
        for root in 1..self.roots.len() {
            let mut sites = self.creates.iter().filter(|(_, roots)| roots.contains(&root)).map(|(&site, _)| site);
            if let (Some(site), None) = (sites.next(), sites.next()) {
                self.is_single[root] |= !overlapping.contains(&site);
            }
        }
        let pairs: usize = accesses.values().map(|list| list.len() * list.len()).sum();
        if pairs > MOST_PAIRS {
            return None;
        }
        let races =
            |list: &Vec<Access>| list.iter().enumerate().any(|(n, a)| list[n..].iter().any(|b| self.may_race(a, b)));
        Some(!accesses.values().any(races))
    }

    /// The accesses of an edge to objects that can be written. `None` if it may access any object.
    fn accesses(&mut self, edge: EdgeId, facts: &Facts, root: usize) -> Option<Vec<(ObjectId, Access)>> {
        let mut accesses = Vec::new();
        for (addr, width, writes) in self.accessed(&self.program.edges[edge].op) {
            let is_own = width.is_some_and(|width| self.is_of_element(addr, width, edge, root));
            let found = self.points_to.points_to(addr);
            if found.is_empty() || found.iter().any(|l| self.is_unknown(l)) {
                return None;
            }
            for location in found {
                let is_constant = match self.points_to.objects[location.object].kind {
                    ObjectKind::Global(global) => self.program.globals[global].read_only,
                    _ => false,
                };
                if !is_constant {
                    let slot = width.map_or(Slot::WHOLE, |width| Slot::new(location.at, width));
                    accesses.push((location.object, Access { slot, writes, facts: facts.clone(), root, is_own }));
                }
            }
        }
        Some(accesses)
    }

    /// True if the address is in the array element that the thread got as its argument. The threads with this start
    /// function got different elements.
    fn is_of_element(&self, addr: ExprId, width: u32, edge: EdgeId, root: usize) -> bool {
        let program = self.program;
        let Some(&size) = self.elements.get(&root).filter(|_| program.func_of(edge) == self.roots[root]) else {
            return false;
        };
        let (mut at, mut offset) = (addr, 0u64);
        // Variables that are assigned once stand for their values.
        for _ in 0..16 {
            let (base, by) = program.exprs.base_and_offset(at);
            offset = offset.wrapping_add(by);
            let Expr::Var(var) = *program.exprs.get(base) else { return false };
            match self.defs.get(&var).map(Vec::as_slice) {
                None => {
                    let is_argument = program.funcs[self.roots[root]].params.first() == Some(&var);
                    return is_argument && offset.checked_add(u64::from(width)).is_some_and(|end| end <= size);
                }
                Some(&[def]) => match program.edges[def].op {
                    Op::Assign { value, .. } => at = value,
                    _ => return false,
                },
                Some(_) => return false,
            }
        }
        false
    }

    /// Finds the start functions whose threads a loop creates, each with the address of its own array element.
    fn find_elements(&mut self) {
        let program = self.program;
        for (id, edge) in program.edges.iter() {
            if let Some(var) = edge.op.def() {
                self.defs.entry(var).or_default().push(id);
            }
        }
        let (once, run) = (self.once(), program.func_by_name(RUN));
        let counts = Counts::new(program);
        for root in 1..self.roots.len() {
            let mut sites = self.creates.iter().filter(|(_, roots)| roots.contains(&root)).map(|(&site, _)| site);
            let (Some(site), None) = (sites.next(), sites.next()) else { continue };
            // Another call may pass another element.
            let calls = |edge: &&EdgeId| self.points_to.callees(**edge).contains(&self.roots[root]);
            if self.bodies.iter().flatten().filter(calls).any(|&edge| Some(program.func_of(edge)) != run) {
                continue;
            }
            let argument = match self.library(site) {
                Some("pthread_create") => self.argument(site, 3),
                _ => self.argument(site, 2),
            };
            if let (Some(argument), Some(counting), true) =
                (argument, counts.around(site), once.contains(&program.func_of(site)))
                && let Some(size) = counts.spacing(&counting, argument)
            {
                self.elements.insert(root, size);
            }
        }
    }

    /// The uses of locks as accesses: operations on a lock are atomic. Its initialisation and its end are not, and no lock
    /// orders them, because another thread may hold it or wait for it.
    fn uses_of_locks(&mut self, edge: EdgeId, facts: &Facts, root: usize) -> Vec<(ObjectId, Access)> {
        let Some(name) = self.library(edge) else { return Vec::new() };
        let is_lock = LOCKS.iter().any(|prefix| name.starts_with(prefix));
        if !is_lock {
            return Vec::new();
        }
        let writes = name.ends_with("_init") || name.ends_with("_destroy");
        let waits = name.starts_with("pthread_cond_") || name.starts_with("cnd_");
        let mut found = Vec::new();
        // A wait for a condition variable is also a use of its mutex.
        for n in 0..if waits && name.contains("wait") { 2 } else { 1 } {
            let Some(lock) = self.argument(edge, n) else { continue };
            let mut facts = facts.clone();
            if writes {
                facts.retain(|fact| !fact.is_of_lock() && *fact != Fact::Atomic);
            }
            if !writes {
                facts.insert(Fact::Atomic);
            }
            let access = |at| Access { slot: Slot::new(at, 1), writes, facts: facts.clone(), root, is_own: false };
            found.extend(self.points_to.points_to(lock).into_iter().map(|l| (l.object, access(l.at))));
        }
        found
    }

    /// The ends of the lifetimes of objects at an edge, as accesses that write the objects: other threads must not access
    /// them then or later. No lock orders them.
    fn ends_of_objects(&mut self, edge: EdgeId, facts: &Facts, root: usize) -> Vec<(ObjectId, Access)> {
        let program = self.program;
        let is_stack = |&edge: &EdgeId| matches!(program.edges[edge].op, Op::Alloc { kind: AllocKind::Stack, .. });
        let of_function = |func: FuncId| self.bodies[func.index()].iter().copied().filter(is_stack).collect();
        let allocs: Vec<EdgeId> = match program.edges[edge].op {
            Op::Return { .. } => of_function(program.func_of(edge)),
            _ if matches!(self.library(edge), Some("pthread_exit" | "thrd_exit")) => {
                self.bodies.iter().flatten().copied().filter(is_stack).collect()
            }
            _ => Vec::new(),
        };
        let mut objects: Vec<ObjectId> =
            allocs.iter().flat_map(|&alloc| self.points_to.allocs(alloc)).copied().collect();
        if let Op::Free { ptr, .. } = program.edges[edge].op {
            objects.extend(self.objects(ptr));
        }
        let mut facts = facts.clone();
        facts.retain(|fact| !fact.is_of_lock() && *fact != Fact::Atomic);
        let access = || Access { slot: Slot::WHOLE, writes: true, facts: facts.clone(), root, is_own: false };
        objects.into_iter().map(|object| (object, access())).collect()
    }

    /// The objects that an allocation writes, as accesses. Without weak memory orders, a thread that gets the address of
    /// the object from another thread without a data race is ordered after the allocation.
    fn zeroed_objects(&self, edge: EdgeId, facts: &Facts, root: usize) -> Vec<(ObjectId, Access)> {
        match self.program.edges[edge].op {
            Op::Alloc { zeroed: true, .. } if self.program.has_weak_orders() => {
                let access = || Access { slot: Slot::WHOLE, writes: true, facts: facts.clone(), root, is_own: false };
                self.points_to.allocs(edge).iter().map(|&object| (object, access())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// False if the edge may unlock a mutex that its thread does not hold.
    fn unlocks_what_it_holds(&self, edge: EdgeId, at: &FxHashMap<LocId, Facts>) -> bool {
        let is_held = |address| {
            let facts = &at[&self.program.edges[edge].source];
            match self.lock(address) {
                Fact::Holds(global, offset) if facts.contains(&Fact::Shares(global, offset)) => true,
                lock => facts.contains(&lock),
            }
        };
        self.unlocked(edge).is_none_or(is_held)
    }

    fn may_race(&self, a: &Access, b: &Access) -> bool {
        let is_excluded = |fact: &Fact| b.facts.iter().any(|other| fact.excludes(*other));
        (a.writes || b.writes)
            && a.slot.overlaps(&b.slot)
            && !a.facts.iter().any(is_excluded)
            && !(a.root == b.root && (self.is_single[a.root] || a.is_own && b.is_own))
            && !(a.root == 0 && self.excludes(&a.facts, b.root))
            && !(b.root == 0 && self.excludes(&b.facts, a.root))
    }

    /// True if the facts of the first thread exclude that a thread with this root runs.
    fn excludes(&self, facts: &Facts, root: usize) -> bool {
        let is_over = |site: &EdgeId| facts.contains(&Fact::NoneOf(*site));
        root > 0 && self.creates.iter().filter(|(_, roots)| roots.contains(&root)).all(|(site, _)| is_over(site))
    }
}

fn may_meet(a: &Location, b: &Location) -> bool {
    a.object == b.object && Slot::new(a.at, 8).overlaps(&Slot::new(b.at, 8))
}
