//! Facts about a program with threads that its sequentialisation needs: its threads, the functions that become parts of
//! `main`, and the places at which a thread may pause.

use super::Untranslated;
use cfa::threads::{BLOCK, RELEASES, ThreadOp};
use cfa::{
    AllocKind, BinOp, Callee, EdgeId, Expr, ExprId, Family, FuncId, FunctionOrigin, GlobalId, HaltKind, Id, LocId, Op,
    PlaceId, Program, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The function of the models in which every thread but the first starts.
pub(super) const RUN: &str = "proviso_run";
/// The function of the models that starts a thread. Its second parameter is the start function.
pub(super) const START: &str = "proviso_start";
/// The functions of the models that call a routine of the program, each with the library functions that get the routine,
/// and the number of the argument.
const CALLERS: [(&str, &[(&str, usize)]); 3] = [
    (RUN, &[("pthread_create", 2), ("thrd_create", 1)]),
    ("proviso_finish", &[("pthread_key_create", 1), ("tss_create", 1)]),
    ("proviso_once", &[("pthread_once", 1), ("call_once", 1)]),
];
/// The files of the models that implement threads and their synchronisation.
const FILES: [&str; 4] = ["<models>/pthread.c", "<models>/threads.c", "<models>/threading.c", "<models>/concurrent.h"];
/// Limit on the threads with the same start function.
const MOST_OF_ROOT: usize = 4;
/// Limit on the nesting of atomic sections.
const DEEPEST: u8 = 4;

/// A thread of the sequentialised program.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    /// The start function; `main` for the first thread.
    pub root: FuncId,
    /// By location, the set of states in which the thread may be there, as the bits [`State::bit`].
    states: FxHashMap<LocId, u16>,
}

/// The state of a thread at a location.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    /// The number of atomic sections that the thread is in.
    depth: u8,
    /// True if threads may have been started.
    has_others: bool,
}

impl State {
    fn bit(self) -> u16 {
        1 << (2 * self.depth + u8::from(self.has_others))
    }
}

/// The need for a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need {
    /// The thread does not pause here.
    Never,
    /// The thread may pause here.
    Always,
    /// The thread may pause here if it is in no atomic section.
    Outside,
}

/// The parts of a program that the sequentialisation merges into `main`.
pub(super) struct Plan {
    pub main: FuncId,
    /// The threads; the first one is that of `main`.
    pub threads: Vec<Thread>,
    /// By function, its edges that can be executed.
    pub bodies: Vec<Vec<EdgeId>>,
    pub ops: Vec<Option<ThreadOp>>,
    /// By function, true if it becomes a part of `main`.
    pub is_merged: Vec<bool>,
    /// By function, true if a call of it cannot be observed by other threads.
    is_quiet: Vec<bool>,
    /// By function, true if it may end the program.
    ends: Vec<bool>,
    /// By function, true if it uses operations that only a part of `main` can do.
    pub is_bound: Vec<bool>,
    /// True if the program tests whether a lock is held.
    observes: bool,
    /// Variables with the address of a stack object that only its own thread accesses.
    private: FxHashSet<VarId>,
    /// Global objects that one thread accesses, or that no thread writes.
    unshared: FxHashSet<GlobalId>,
    routines: FxHashMap<&'static str, Vec<FuncId>>,
    /// Functions whose address is taken other than as a routine.
    taken: Vec<FuncId>,
}

pub(super) struct Facts<'p> {
    program: &'p Program,
    plan: Plan,
}

fn refuse<T>(construct: impl Into<String>, place: Option<PlaceId>) -> Result<T, Untranslated> {
    Err(Untranslated { construct: construct.into(), place })
}

/// The name of a library function without the suffix of our copies.
fn library_name(name: &str) -> &str {
    name.strip_suffix(".void").unwrap_or(name)
}

impl<'p> Facts<'p> {
    /// The facts that do not depend on threads. `Err` if the program has no translation.
    pub fn new(program: &'p Program) -> Result<Self, Untranslated> {
        let ops: Vec<Option<ThreadOp>> = program.funcs.values().map(|f| ThreadOp::by_name(&f.name)).collect();
        let bodies = program.funcs.ids().map(|f| executed(program, f)).collect();
        let is_main = |f: &cfa::Function| f.name == "main" && f.origin == FunctionOrigin::Source;
        let Some((main, _)) = program.funcs.iter().find(|(_, f)| is_main(f)) else {
            return refuse("a program with threads and without `main`", None);
        };
        let none = vec![false; program.funcs.len()];
        let plan = Plan {
            main,
            threads: Vec::new(),
            bodies,
            ops,
            is_merged: none.clone(),
            is_quiet: none.clone(),
            ends: none.clone(),
            is_bound: none,
            observes: false,
            private: FxHashSet::default(),
            unshared: FxHashSet::default(),
            routines: FxHashMap::default(),
            taken: Vec::new(),
        };
        let mut this = Self { program, plan };
        this.find_routines()?;
        this.find_private();
        this.find_quiet();
        this.find_merged();
        Ok(this)
    }

    /// Completes the facts about the threads of the program.
    pub fn plan(mut self) -> Result<Plan, Untranslated> {
        self.check_calls()?;
        self.find_threads()?;
        for thread in 0..self.plan.threads.len() {
            self.check_recursion(thread)?;
            self.find_states(thread)?;
        }
        self.find_unshared();
        Ok(self.plan)
    }

    fn is_model(&self, func: FuncId) -> bool {
        self.program.funcs[func].origin == FunctionOrigin::Model
    }

    fn edges(&self) -> impl Iterator<Item = (FuncId, EdgeId)> + '_ {
        self.program.funcs.ids().flat_map(|f| self.plan.bodies[f.index()].iter().map(move |&edge| (f, edge)))
    }

    /// The library function that the edge calls directly, and the arguments.
    fn library_call(&self, edge: EdgeId) -> Option<(&str, &[ExprId])> {
        match &self.program.edges[edge].op {
            Op::Call { callee: Callee::Direct(f), args, .. } if self.is_model(*f) => {
                Some((library_name(&self.program.funcs[*f].name), args))
            }
            _ => None,
        }
    }

    /// Finds the routines that the models call, and the functions whose address is taken for another use.
    fn find_routines(&mut self) -> Result<(), Untranslated> {
        let program = self.program;
        let mut taken: FxHashSet<FuncId> = FxHashSet::default();
        let take = |taken: &mut FxHashSet<FuncId>, e: ExprId| {
            program.exprs.visit(e, &mut FxHashSet::default(), |_, node| {
                if let Expr::FuncAddr(f) = *node {
                    taken.insert(f);
                }
            });
        };
        for global in program.globals.values() {
            let pointers = global.init.iter().flat_map(|init| &init.pointers);
            pointers.for_each(|&(_, value)| take(&mut taken, value));
        }
        let mut routines: FxHashMap<&'static str, Vec<FuncId>> = FxHashMap::default();
        for (func, edge) in self.edges().collect::<Vec<_>>() {
            let mut known = None;
            if let Some((name, args)) = self.library_call(edge).filter(|_| !self.is_model(func)) {
                for (caller, takers) in CALLERS {
                    let Some(&(_, n)) = takers.iter().find(|(taker, _)| *taker == name) else { continue };
                    let Some(&routine) = args.get(n) else { continue };
                    match *program.exprs.get(routine) {
                        Expr::FuncAddr(f) => {
                            let list = routines.entry(caller).or_default();
                            if !list.contains(&f) {
                                list.push(f);
                            }
                        }
                        _ if program.exprs.as_const(routine).is_some_and(cfa::Bv::is_zero) => {}
                        _ => {
                            let construct = format!("a call of `{name}` whose function is not a constant");
                            return refuse(construct, program.edges[edge].place);
                        }
                    }
                    known = Some(n);
                }
            }
            match (&program.edges[edge].op, known) {
                (Op::Call { args, .. }, Some(n)) => {
                    args.iter().enumerate().filter(|&(m, _)| m != n).for_each(|(_, &arg)| take(&mut taken, arg));
                }
                (Op::Call { callee: Callee::Indirect(e), args, .. }, _) => {
                    if !matches!(program.exprs.get(*e), Expr::FuncAddr(_)) {
                        take(&mut taken, *e);
                    }
                    args.iter().for_each(|&arg| take(&mut taken, arg));
                }
                // The models start threads in one function of their own.
                (Op::Call { callee: Callee::Direct(f), .. }, _) if self.plan.ops[f.index()].is_some() => {}
                (op, _) => op.for_each_expr(|e| take(&mut taken, e)),
            }
        }
        self.plan.taken = taken.into_iter().collect();
        self.plan.taken.sort_unstable();
        self.plan.routines = routines;
        Ok(())
    }

    /// Finds the variables with the address of a stack object that no other thread can know.
    fn find_private(&mut self) {
        let program = self.program;
        let mut made: FxHashMap<VarId, usize> = FxHashMap::default();
        for (_, edge) in self.edges() {
            if let Op::Alloc { var, kind: AllocKind::Stack, .. } = program.edges[edge].op {
                *made.entry(var).or_default() += 1;
            }
        }
        let mut escaped: FxHashSet<VarId> =
            made.iter().filter(|&(_, &count)| count != 1).map(|(&var, _)| var).collect();
        for (_, edge) in self.edges() {
            let op = &program.edges[edge].op;
            let base = |e: ExprId| match base(program, e) {
                Some(Base::Var(v)) => Some(v),
                _ => None,
            };
            let mut leak = |e: ExprId, except: Option<VarId>| {
                escaped.extend(program.exprs.vars(e).into_iter().filter(|&v| Some(v) != except));
            };
            match op {
                Op::Load { addr, .. } => leak(*addr, base(*addr)),
                Op::Store { addr, value } => {
                    leak(*addr, base(*addr));
                    leak(*value, None);
                }
                Op::Copy { dst, src, len } => {
                    leak(*dst, base(*dst));
                    leak(*src, base(*src));
                    leak(*len, None);
                }
                Op::Fill { dst, len, .. } => {
                    leak(*dst, base(*dst));
                    leak(*len, None);
                }
                Op::Free { family: Family::Scope, .. } => {}
                Op::Call { callee: Callee::Direct(f), args, .. } if self.is_model(*f) => {
                    // Other threads learn these arguments from the library.
                    let name = library_name(&program.funcs[*f].name);
                    let passes = matches!(
                        name,
                        "pthread_create" | "thrd_create" | "pthread_setspecific" | "tss_set" | "pthread_exit"
                    );
                    if passes {
                        let first = usize::from(name.ends_with("create"));
                        args.iter().skip(first).for_each(|&arg| leak(arg, None));
                    }
                }
                op => op.for_each_expr(|e| leak(e, None)),
            }
        }
        self.plan.private = made.into_keys().filter(|v| !escaped.contains(v)).collect();
    }

    /// Finds the functions whose calls other threads cannot observe, and those that may end the program.
    fn find_quiet(&mut self) {
        let program = self.program;
        let mut loud = vec![false; program.funcs.len()];
        let mut ends = vec![false; program.funcs.len()];
        loop {
            let mut changed = false;
            for func in program.funcs.ids() {
                let (mut is_loud, mut may_end) = (program.funcs[func].origin == FunctionOrigin::Undefined, false);
                for &edge in &self.plan.bodies[func.index()] {
                    match &program.edges[edge].op {
                        Op::Load { addr, .. } => is_loud |= self.may_be_shared(*addr),
                        Op::Store { addr, .. } | Op::Fill { dst: addr, .. } => is_loud |= self.may_be_shared(*addr),
                        Op::Copy { dst, src, .. } => is_loud |= self.may_be_shared(*dst) || self.may_be_shared(*src),
                        Op::Free { family, .. } => is_loud |= *family != Family::Scope,
                        Op::Halt(kind) => may_end |= !matches!(kind, HaltKind::Assumed | HaltKind::Unreachable),
                        Op::Call { callee: Callee::Direct(f), .. } => {
                            is_loud |= loud[f.index()] || self.plan.ops[f.index()].is_some();
                            may_end |= ends[f.index()];
                        }
                        Op::Call { .. } => {
                            is_loud = true;
                            may_end |= self.plan.taken.iter().any(|f| ends[f.index()]);
                        }
                        Op::Approx { .. } => is_loud = true,
                        _ => {}
                    }
                }
                let is_error = matches!(self.plan.bodies[func.index()][..], [edge]
                    if matches!(program.edges[edge].op, Op::Error(_)));
                is_loud &= !is_error;
                changed |= is_loud && !loud[func.index()] || may_end && !ends[func.index()];
                loud[func.index()] |= is_loud;
                ends[func.index()] |= may_end;
            }
            if !changed {
                break;
            }
        }
        self.plan.is_quiet = loud.into_iter().map(|loud| !loud).collect();
        self.plan.ends = ends;
    }

    fn may_be_shared(&self, addr: ExprId) -> bool {
        match base(self.program, addr) {
            Some(Base::Var(v)) => !self.plan.private.contains(&v),
            Some(Base::Global(g)) => !self.program.globals[g].read_only,
            None => true,
        }
    }

    fn is_atomic(&self, func: FuncId) -> bool {
        let function = &self.program.funcs[func];
        function.origin == FunctionOrigin::Source
            && function.name.starts_with("__VERIFIER_atomic_")
            && !matches!(function.name.as_str(), "__VERIFIER_atomic_begin" | "__VERIFIER_atomic_end")
    }

    /// Finds the functions that become parts of `main`: those of the program in which a thread may pause, and the models
    /// of threads.
    fn find_merged(&mut self) {
        let program = self.program;
        let is_of_threads = |function: &cfa::Function| {
            let place = function.place.map(|place| &program.places[place]);
            place.is_some_and(|place| FILES.contains(&program.files[place.file].path.as_str()))
        };
        // Models that use operations of threads, directly or in callees.
        let mut uses: Vec<bool> = program
            .funcs
            .iter()
            .map(|(f, function)| self.plan.ops[f.index()].is_none() && self.is_model(f) && is_of_threads(function))
            .collect();
        loop {
            let mut changed = false;
            for (func, edge) in self.edges() {
                if let Op::Call { callee: Callee::Direct(f), .. } = program.edges[edge].op
                    && self.is_model(func)
                    && (self.plan.ops[f.index()].is_some() || self.is_model(f) && uses[f.index()])
                {
                    changed |= !std::mem::replace(&mut uses[func.index()], true);
                }
            }
            if !changed {
                break;
            }
        }
        for func in program.funcs.ids() {
            let is_loud = !self.plan.is_quiet[func.index()];
            self.plan.is_merged[func.index()] = match program.funcs[func].origin {
                _ if func == self.plan.main => true,
                _ if func == program.entry => false,
                FunctionOrigin::Source => is_loud && !self.is_atomic(func),
                FunctionOrigin::Model => uses[func.index()] && self.plan.ops[func.index()].is_none(),
                FunctionOrigin::Undefined => false,
            };
        }
    }

    /// Refuses calls that would run code of threads as one step.
    fn check_calls(&mut self) -> Result<(), Untranslated> {
        let program = self.program;
        if let Some(&f) = self.plan.taken.iter().find(|&&f| self.is_model(f) && self.plan.is_merged[f.index()]) {
            let name = library_name(&program.funcs[f].name);
            return refuse(format!("a pointer to `{name}`"), None);
        }
        // Operations that only a part of `main` can do.
        let needs_turns = |op: ThreadOp| {
            matches!(op, ThreadOp::Start | ThreadOp::End | ThreadOp::When | ThreadOp::This | ThreadOp::Local)
        };
        let mut is_bound: Vec<bool> = self.plan.ops.iter().map(|op| op.is_some_and(needs_turns)).collect();
        loop {
            let mut changed = false;
            for (func, edge) in self.edges() {
                let is_call_of_bound = match program.edges[edge].op {
                    Op::Call { callee: Callee::Direct(f), .. } => is_bound[f.index()],
                    Op::Call { .. } => self.plan.taken.iter().any(|f| is_bound[f.index()]),
                    _ => false,
                };
                changed |= is_call_of_bound && !std::mem::replace(&mut is_bound[func.index()], true);
            }
            if !changed {
                break;
            }
        }
        for (func, edge) in self.edges() {
            let is_first = func == program.entry;
            if !is_first && !self.plan.is_merged[func.index()] {
                continue;
            }
            let Op::Call { callee: Callee::Direct(f), .. } = program.edges[edge].op else { continue };
            if is_bound[f.index()] && !self.plan.is_merged[f.index()] && self.plan.ops[f.index()].is_none()
                || is_first && is_bound[f.index()] && f != self.plan.main
            {
                let name = library_name(&program.funcs[f].name);
                let construct = format!("an operation of threads in `{name}`, which runs as one step");
                return refuse(construct, program.edges[edge].place.or(program.funcs[f].place));
            }
        }
        self.plan.is_bound = is_bound;
        let tests = |name: &str| {
            ["trylock", "timedlock", "trywait", "tryrdlock", "trywrlock", "getvalue"]
                .iter()
                .any(|end| name.ends_with(end))
        };
        let is_test = |(f, edge)| !self.is_model(f) && self.library_call(edge).is_some_and(|(name, _)| tests(name));
        let observes = self.edges().any(is_test);
        self.plan.observes = observes;
        Ok(())
    }

    /// Finds the threads, in the order in which the program text starts them.
    fn find_threads(&mut self) -> Result<(), Untranslated> {
        let program = self.program;
        let thread = |root| Thread { root, states: FxHashMap::default() };
        self.plan.threads.push(thread(self.plan.main));
        // The number of times that a function may be called, or a thread started; at most the limit.
        let mut counts: FxHashMap<FuncId, usize> = FxHashMap::from_iter([(self.plan.main, 1)]);
        let mut roots: Vec<FuncId> = Vec::new();
        for _ in 0..program.funcs.len().min(64) {
            let mut next: FxHashMap<FuncId, usize> = FxHashMap::from_iter([(self.plan.main, 1)]);
            for (func, edge) in self.edges() {
                let Some(&count) = counts.get(&func).filter(|_| self.plan.is_merged[func.index()]) else { continue };
                let times = count * (1 + usize::from(self.is_repeated(edge)));
                let started = self.library_call(edge).and_then(|(name, args)| match name {
                    "pthread_create" => args.get(2),
                    "thrd_create" => args.get(1),
                    _ => None,
                });
                let callees = match (&program.edges[edge].op, started.map(|&e| program.exprs.get(e))) {
                    (_, Some(&Expr::FuncAddr(root))) if !self.is_model(func) => {
                        if !roots.contains(&root) {
                            roots.push(root);
                        }
                        vec![root]
                    }
                    (Op::Call { .. }, _) if !self.is_model(func) => self.plan.callees(program, 0, edge),
                    _ => Vec::new(),
                };
                for callee in callees {
                    let known = next.entry(callee).or_default();
                    *known = (*known + times).min(MOST_OF_ROOT);
                }
            }
            let is_done = next == counts;
            counts = next;
            if is_done {
                break;
            }
        }
        for root in roots {
            let count = counts.get(&root).copied().unwrap_or(0);
            self.plan.threads.extend((0..count).map(|_| thread(root)));
        }
        if self.plan.threads.len() > 60 {
            return refuse("more than 60 threads", None);
        }
        Ok(())
    }

    fn is_repeated(&self, edge: EdgeId) -> bool {
        is_repeated(self.program, edge)
    }

    /// Refuses recursive functions that become parts of `main`.
    fn check_recursion(&self, thread: usize) -> Result<(), Untranslated> {
        let program = self.program;
        let start = self.plan.start(program, thread);
        let mut done: FxHashSet<FuncId> = FxHashSet::default();
        let mut stack: Vec<(FuncId, Vec<(EdgeId, FuncId)>)> = vec![(start, self.merged_calls(thread, start))];
        while let Some((func, calls)) = stack.last_mut() {
            let func = *func;
            let Some((edge, callee)) = calls.pop() else {
                done.insert(func);
                stack.pop();
                continue;
            };
            if stack.iter().any(|(f, _)| *f == callee) {
                let name = &program.funcs[callee].name;
                return refuse(format!("the recursive function `{name}`"), program.edges[edge].place);
            }
            if !done.contains(&callee) {
                stack.push((callee, self.merged_calls(thread, callee)));
            }
        }
        Ok(())
    }

    fn merged_calls(&self, thread: usize, func: FuncId) -> Vec<(EdgeId, FuncId)> {
        let mut calls = Vec::new();
        for &edge in &self.plan.bodies[func.index()] {
            let callees = self.plan.callees(self.program, thread, edge).into_iter();
            calls.extend(callees.filter(|f| self.plan.is_merged[f.index()]).map(|f| (edge, f)));
        }
        calls
    }

    /// Computes whether a thread is in atomic sections, and whether others may have been started, at each location.
    fn find_states(&mut self, thread: usize) -> Result<(), Untranslated> {
        type Context = (FuncId, State);
        let program = self.program;
        let plan = &self.plan;
        let start = plan.start(program, thread);
        let first = State { depth: 0, has_others: thread > 0 };
        let mut seen: FxHashSet<(Context, LocId, State)> = FxHashSet::default();
        let mut exits: FxHashMap<Context, Vec<State>> = FxHashMap::default();
        let mut callers: FxHashMap<Context, Vec<(Context, EdgeId)>> = FxHashMap::default();
        let mut todo = vec![((start, first), program.funcs[start].entry, first)];
        let at_source = |callers: &FxHashMap<Context, Vec<(Context, EdgeId)>>, mut context: Context, edge: EdgeId| {
            let mut edge = edge;
            for _ in 0..100 {
                if program.funcs[context.0].origin == FunctionOrigin::Source {
                    break;
                }
                let Some(&(caller, call)) = callers.get(&context).and_then(|list| list.first()) else { break };
                (context, edge) = (caller, call);
            }
            program.edges[edge].place
        };
        while let Some((context, loc, state)) = todo.pop() {
            if !seen.insert((context, loc, state)) {
                continue;
            }
            for edge in program.out_edges(loc) {
                let target = program.edges[edge].target;
                let mut go = |state: State| todo.push((context, target, state));
                let op = match &program.edges[edge].op {
                    Op::Return { .. } => {
                        let known = exits.entry(context).or_default();
                        if !known.contains(&state) {
                            known.push(state);
                            for &(caller, call) in callers.get(&context).into_iter().flatten() {
                                todo.push((caller, program.edges[call].target, state));
                            }
                        }
                        continue;
                    }
                    Op::Call { callee: Callee::Direct(f), .. } => plan.ops[f.index()],
                    _ => None,
                };
                match op {
                    Some(ThreadOp::When) if state.depth > 0 => {
                        return refuse("waiting in an atomic section", at_source(&callers, context, edge));
                    }
                    Some(ThreadOp::Begin | ThreadOp::When) if state.depth + 1 == DEEPEST => {
                        return refuse("nested atomic sections", at_source(&callers, context, edge));
                    }
                    Some(ThreadOp::Begin | ThreadOp::When) => go(State { depth: state.depth + 1, ..state }),
                    Some(ThreadOp::Finish) => go(State { depth: state.depth.saturating_sub(1), ..state }),
                    Some(ThreadOp::Start) => go(State { has_others: true, ..state }),
                    Some(ThreadOp::End) => {}
                    Some(_) => go(state),
                    None => {
                        let callees = plan.callees(program, thread, edge);
                        let merged: Vec<FuncId> =
                            callees.iter().copied().filter(|f| plan.is_merged[f.index()]).collect();
                        if merged.len() < callees.len() || !matches!(program.edges[edge].op, Op::Call { .. }) {
                            go(state);
                        }
                        for callee in merged {
                            let called = (callee, state);
                            let known = callers.entry(called).or_default();
                            if !known.contains(&(context, edge)) {
                                known.push((context, edge));
                            }
                            todo.push((called, program.funcs[callee].entry, state));
                            for &exit in exits.get(&called).into_iter().flatten() {
                                todo.push((context, target, exit));
                            }
                        }
                    }
                }
            }
        }
        let states = &mut self.plan.threads[thread].states;
        for (_, loc, state) in seen {
            *states.entry(loc).or_default() |= state.bit();
        }
        Ok(())
    }

    /// Finds the global objects whose accesses are not visible: one thread accesses them, or none writes them.
    fn find_unshared(&mut self) {
        let program = self.program;
        let mut escaped: FxHashSet<GlobalId> = FxHashSet::default();
        let mut accesses: FxHashMap<GlobalId, (FxHashSet<usize>, bool)> = FxHashMap::default();
        let globals = |e: ExprId| {
            let mut found = Vec::new();
            program.exprs.visit(e, &mut FxHashSet::default(), |_, node| {
                if let Expr::GlobalAddr(g) = *node {
                    found.push(g);
                }
            });
            found
        };
        for global in program.globals.values() {
            for (_, value) in global.init.iter().flat_map(|init| &init.pointers) {
                escaped.extend(globals(*value));
            }
        }
        for (func, edge) in self.edges() {
            let source = program.edges[edge].source;
            let is_there = |thread: &Thread| thread.states.get(&source).copied().unwrap_or(0);
            let mut address = |e: ExprId, writes: bool, escaped: &mut FxHashSet<GlobalId>| {
                let at = match base(program, e) {
                    Some(Base::Global(g)) if self.plan.is_merged[func.index()] => Some(g),
                    _ => None,
                };
                escaped.extend(globals(e).into_iter().filter(|&g| Some(g) != at));
                let Some(g) = at else { return };
                let others = |bits: u16| bits & 0xaaaa != 0;
                let threads = self.plan.threads.iter().enumerate().filter(|(_, t)| others(is_there(t)));
                let (known, written) = accesses.entry(g).or_default();
                let count = known.len();
                known.extend(threads.map(|(n, _)| n));
                *written |= writes && known.len() + count > 0;
            };
            match program.edges[edge].op {
                Op::Load { addr, .. } => address(addr, false, &mut escaped),
                Op::Store { addr, value } => {
                    address(addr, true, &mut escaped);
                    escaped.extend(globals(value));
                }
                Op::Copy { dst, src, .. } => {
                    address(dst, true, &mut escaped);
                    address(src, false, &mut escaped);
                }
                Op::Fill { dst, .. } => address(dst, true, &mut escaped),
                ref op => op.for_each_expr(|e| escaped.extend(globals(e))),
            }
        }
        let is_unshared = |g: &GlobalId| {
            !escaped.contains(g) && accesses.get(g).is_none_or(|(threads, written)| threads.len() < 2 || !written)
        };
        self.plan.unshared = program.globals.ids().filter(is_unshared).collect();
    }
}

impl Plan {
    /// The function at which a thread starts.
    pub fn start(&self, program: &Program, thread: usize) -> FuncId {
        match thread {
            0 => self.main,
            _ => program.func_by_name(RUN).expect("the models start threads there"),
        }
    }

    /// The functions that an edge may call in a thread. Operations of threads are no functions. For a call through a
    /// pointer, these are the functions of the program that fit.
    pub fn callees(&self, program: &Program, thread: usize, edge: EdgeId) -> Vec<FuncId> {
        let Op::Call { callee, args, result, .. } = &program.edges[edge].op else { return Vec::new() };
        let function = match *callee {
            Callee::Direct(f) => Some(f),
            Callee::Indirect(e) => match *program.exprs.get(e) {
                Expr::FuncAddr(f) => Some(f),
                _ => None,
            },
        };
        if let Some(f) = function {
            return if self.ops[f.index()].is_some() { Vec::new() } else { vec![f] };
        }
        let caller = &program.funcs[program.func_of(edge)];
        if let Some((name, _)) = CALLERS.iter().find(|(name, _)| *name == caller.name) {
            return match *name {
                RUN => self.threads.get(thread).filter(|_| thread > 0).map(|t| t.root).into_iter().collect(),
                name => self.routines.get(name).cloned().unwrap_or_default(),
            };
        }
        let fits = |f: &FuncId| {
            let function = &program.funcs[*f];
            let has_result = result.is_none_or(|var| function.return_width == Some(program.vars[var].width));
            has_result && (function.params.len() == args.len() || function.varargs.is_some())
        };
        self.taken.iter().copied().filter(fits).collect()
    }

    /// The need for a point before an edge.
    pub fn need(&self, program: &Program, thread: usize, edge: EdgeId) -> Need {
        let func = program.func_of(edge);
        let is_source = program.funcs[func].origin == FunctionOrigin::Source;
        let is_visible = match &program.edges[edge].op {
            Op::Load { addr, .. } | Op::Store { addr, .. } | Op::Fill { dst: addr, .. } => {
                is_source && self.is_shared(program, *addr)
            }
            Op::Copy { dst, src, .. } => is_source && (self.is_shared(program, *dst) || self.is_shared(program, *src)),
            Op::Free { family, .. } => is_source && *family != Family::Scope,
            Op::Halt(HaltKind::Exit(_) | HaltKind::ExitNow(_) | HaltKind::Abort) => is_source,
            Op::Return { .. } => func == self.main,
            Op::Call { callee: Callee::Direct(f), args, .. } => match self.ops[f.index()] {
                Some(ThreadOp::Begin) => {
                    let kind = args.first().and_then(|&e| program.exprs.as_const(e)?.to_u64()).unwrap_or(BLOCK);
                    kind != RELEASES || self.observes
                }
                Some(ThreadOp::When) => true,
                Some(_) => false,
                None if self.is_merged[f.index()] => false,
                None => is_source && (!self.is_quiet[f.index()] || self.ends[f.index()]),
            },
            Op::Call { .. } => {
                let callees = self.callees(program, thread, edge);
                is_source && !callees.iter().all(|f| self.is_merged[f.index()])
            }
            _ => false,
        };
        let bits = self.threads[thread].states.get(&program.edges[edge].source).copied().unwrap_or(0) & 0xaaaa;
        let outside = State { depth: 0, has_others: true }.bit();
        match is_visible && bits & outside != 0 {
            false => Need::Never,
            true if bits == outside => Need::Always,
            true => Need::Outside,
        }
    }

    fn is_shared(&self, program: &Program, addr: ExprId) -> bool {
        match base(program, addr) {
            Some(Base::Var(v)) => !self.private.contains(&v),
            Some(Base::Global(g)) => !self.unshared.contains(&g) && !program.globals[g].read_only,
            None => true,
        }
    }

    /// True if a location is reached by a thread.
    pub fn reaches(&self, thread: usize, loc: LocId) -> bool {
        self.threads[thread].states.contains_key(&loc)
    }
}

/// The object that an address is computed from.
enum Base {
    /// The object that this variable points to.
    Var(VarId),
    Global(GlobalId),
}

fn base(program: &Program, addr: ExprId) -> Option<Base> {
    match *program.exprs.get(addr) {
        Expr::Var(v) => Some(Base::Var(v)),
        Expr::GlobalAddr(g) => Some(Base::Global(g)),
        Expr::Binary(BinOp::Add, a, b) => {
            let is_pointer = |e: &ExprId| {
                matches!(program.exprs.get(*e), Expr::GlobalAddr(_))
                    || matches!(program.exprs.get(*e), Expr::Binary(BinOp::Add, ..))
            };
            let leaves: Vec<Base> = [a, b].into_iter().filter_map(|e| base(program, e)).collect();
            match leaves.len() {
                1 => leaves.into_iter().next(),
                // The index is a variable as wide as a pointer.
                2 if is_pointer(&a) != is_pointer(&b) => {
                    leaves.into_iter().find(|base| matches!(base, Base::Global(_)))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// True if the edge is on a cycle of its function.
pub(super) fn is_repeated(program: &Program, edge: EdgeId) -> bool {
    let mut todo = vec![program.edges[edge].target];
    let mut known: FxHashSet<LocId> = todo.iter().copied().collect();
    while let Some(loc) = todo.pop() {
        for next in program.out_edges(loc) {
            if next == edge {
                return true;
            }
            if known.insert(program.edges[next].target) {
                todo.push(program.edges[next].target);
            }
        }
    }
    false
}

/// The edges of a function that are connected to its entry.
fn executed(program: &Program, func: FuncId) -> Vec<EdgeId> {
    let mut todo = vec![program.funcs[func].entry];
    let mut known: FxHashSet<LocId> = todo.iter().copied().collect();
    let mut edges = Vec::new();
    while let Some(loc) = todo.pop() {
        for edge in program.out_edges(loc) {
            edges.push(edge);
            if known.insert(program.edges[edge].target) {
                todo.push(program.edges[edge].target);
            }
        }
    }
    edges.sort_unstable();
    edges
}
