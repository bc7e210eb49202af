//! The static pre-analysis: proves, before any exploration, that locations are unreachable and that memory operations
//! are valid. It uses intervals, points-to sets and abstract memory, and analyses the whole program once.
//!
//! Its results hold for executions up to their first undefined operation.

use crate::invariant::fixpoint::apart::Apart;
use crate::invariant::fixpoint::contexts::Contexts;
use crate::invariant::fixpoint::{Analysis, Following, Strength, Uses};
use crate::invariant::handlers::Handlers;
use crate::invariant::memory::distances::Distances;
use crate::invariant::memory::domain::MemoryDomain;
use crate::invariant::memory::environment::{Environment, Rows};
use crate::invariant::memory::relations::Read;
use crate::invariant::undefined::{UndefinedFunctions, is_undefined_call};
use crate::invariant::value::Value;
use crate::invariant::value::limits::{Limit, Reach};
use crate::semantics::range;
use cfa::facts::returning;
use cfa::{
    AllocKind, BinOp, CallGraph, Callee, EdgeId, Expr, ExprId, Family, FuncId, FunctionOrigin, Harm, Id, LocId, Op,
    PlaceId, Program, Taint,
};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;
use slicer::pointer::{self, PointsTo, Undefined};
use smt::bounds::Bounds;
use smt::budget::Budget;
use std::rc::Rc;
use std::time::Instant;

/// The results of the static pre-analysis.
pub struct Discharged {
    /// The results of the analyses that ran. Each is sound by itself.
    parts: Vec<Part>,
    /// Code without a definition that may be executed.
    unknown: Vec<Unknown>,
    /// One of the parts is an analysis of the whole program.
    is_whole: bool,
}

/// Code without a definition in the program: a call of an undefined function, inline assembly, or another
/// approximation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    /// The reason, for the user.
    pub reason: String,
    /// The place of the code in the source.
    pub place: Option<PlaceId>,
    /// The harm of the code. For locations after code with the harm `Any`, there are no results. The results for other
    /// locations assume that calls of undefined functions and inline assembly (`Bounded`) only write memory that they
    /// can reach and call functions whose addresses are taken, and that code with the harm `Undefined` is not executed.
    pub harm: Harm,
}

/// The results of one analysis.
struct Part {
    /// By location: true if the analysis reached it.
    reached: Vec<bool>,
    /// Memory operations that may be invalid. `None` if memory was not analysed; then all may be.
    invalid: Option<FxHashSet<EdgeId>>,
    /// Locations that executions may reach after an `Approx` edge that drops behaviours. Nothing is known about them.
    beyond: FixedBitSet,
}

impl Part {
    /// True if nothing is known about most of the locations that the analysis reached.
    fn is_hidden(&self) -> bool {
        let reached = self.reached.iter().filter(|&&is_reached| is_reached).count();
        let known =
            self.reached.iter().enumerate().filter(|&(loc, &is_reached)| is_reached && !self.beyond.contains(loc));
        known.count() < reached / 2
    }
    fn is_reachable(&self, loc: LocId) -> bool {
        self.reached[loc.index()] || self.beyond.contains(loc.index())
    }

    fn is_valid(&self, edge: EdgeId, source: LocId) -> bool {
        self.invalid.as_ref().is_some_and(|invalid| !invalid.contains(&edge)) && !self.beyond.contains(source.index())
    }
}

/// Programs with more edges than this are first analysed quickly.
const LARGE: usize = 3_000;
/// The fraction of the time for the quick analysis of a large program.
const QUICK_FIRST: (u32, u32) = (2, 3);
/// The fraction of the time left for an analysis of the whole program at the usual strength.
const WHOLE: (u32, u32) = (3, 4);
/// The analysis of a large program at the usual strength is expected to take at least this multiple of the time of the
/// quick one. It was 3.5 for coreutils' `wc`, but the analysis hurries when its time ends.
const COST_OF_WHOLE: u32 = 2;
/// The fraction of the time left for the quick analysis of a small program that the usual one does not finish.
const QUICK_LATER: (u32, u32) = (2, 3);

impl Discharged {
    /// Analyses variables and memory of the whole program: a large program first quickly, then every program at the usual
    /// strength. A small program that the analysis at the usual strength does not finish is analysed quickly. If code
    /// without a definition may be executed, also analyses function by function: before the analysis at the usual strength
    /// if the quick one knows little. `None` if the budget is spent before an analysis has results.
    pub fn compute(program: &Program, budget: &Budget) -> Option<Self> {
        let share = |(part, of): (u32, u32)| {
            budget.remaining().map_or_else(|| budget.clone(), |left| budget.exerting(left * part / of))
        };
        let points_to = points_to(program, &share(WHOLE))?;
        let is_large = program.edges.len() > LARGE;
        let before = budget.remaining();
        let found =
            is_large.then(|| Self::analyse_whole(&points_to, None, Strength::QUICK, &share(QUICK_FIRST))).flatten();
        let (mut quick, reduce) = found.unzip();
        let taken = before.zip(budget.remaining()).map(|(before, left)| before.saturating_sub(left));
        // If most of the program lies after code of unknown effect, the functions have results only by themselves.
        let is_hidden = quick.as_ref().is_some_and(|quick| quick.parts[0].is_hidden());
        let by_function = is_hidden.then(|| Self::analyse_each_function(points_to.clone(), &share(WHOLE))).flatten();
        let is_hopeless =
            is_large && taken.zip(budget.remaining()).is_some_and(|(taken, left)| left < taken * COST_OF_WHOLE);
        let whole = match is_hopeless {
            true => None,
            false => {
                let strength = if is_large { Strength::LARGE } else { Strength::FULL };
                Self::analyse_whole(&points_to, reduce.map(|reduce| reduce()), strength, &share(WHOLE))
                    .map(|(found, _)| found)
            }
        };
        if !is_large && whole.is_none() {
            let found = Self::analyse_whole(&points_to, None, Strength::QUICK, &share(QUICK_LATER));
            quick = found.map(|(found, _)| found);
        }
        let covers_all = |found: &Self| found.unknown.is_empty() && found.parts[0].beyond.is_clear();
        let is_covered = [&whole, &quick].into_iter().flatten().any(covers_all);
        let by_function = match by_function {
            None if !is_covered => Self::analyse_each_function(points_to, budget),
            known => known,
        };
        [whole, quick, by_function].into_iter().flatten().reduce(Self::combined)
    }

    /// Joins the results of two analyses: a place is proved if one of them proves it. The unknown code of both remains.
    fn combined(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        let more: Vec<Unknown> = other.unknown.into_iter().filter(|unknown| !self.unknown.contains(unknown)).collect();
        self.unknown.extend(more);
        self
    }

    /// Like `compute`, with one coarse analysis of the whole program.
    pub fn quickly(program: &Program, budget: &Budget) -> Option<Self> {
        let points_to = points_to(program, budget)?;
        Self::analyse_whole(&points_to, None, Strength::QUICK, budget).map(|(found, _)| found)
    }

    /// Analyses variables and memory of the whole program. `reduced` is the program without code that an earlier analysis
    /// proved unreachable. Also returns a function that makes the program without code that this analysis proves
    /// unreachable. `None` if the budget is spent before the end.
    fn analyse_whole(
        points_to: &PointsTo,
        reduced: Option<Contexts>,
        strength: Strength,
        budget: &Budget,
    ) -> Option<(Self, impl FnOnce() -> Contexts + use<>)> {
        let program = points_to.program();
        let contexts = match reduced {
            Some(reduced) => reduced.copied(strength.copied),
            None => Contexts::new(program, Some(points_to), strength.copied),
        };
        let mut analysis = Analysis::following(&contexts, points_to.clone(), true, strength);
        analysis.iterate(budget)?;
        let mut reached = vec![false; program.locs.len()];
        for (loc, &origin) in contexts.program.locs.ids().zip(&contexts.locations) {
            reached[origin.index()] |= analysis.is_reachable(loc);
        }
        let following = analysis.following.as_ref()?;
        let invalid = following.invalid.iter().map(|edge| contexts.origin[edge.index()]).collect();
        let is_blind = |call| following.domain.callees(call).is_empty();
        let called = &analysis.undefined().called[..];
        let is_accounted_for = |edge: EdgeId, taint: &Taint| match taint.harm() {
            Harm::Addresses | Harm::Included | Harm::Undefined | Harm::Elsewhere | Harm::Again => true,
            Harm::Handlers | Harm::Signals => analysis.handlers().is_known,
            Harm::Bounded => is_undefined_call(program, edge),
            Harm::Any => false,
        };
        let beyond = beyond(program, &reached, is_blind, is_accounted_for, (analysis.handlers(), called));
        let unknown = unknown(program, &reached, is_blind, is_accounted_for);
        let found = Self { parts: vec![Part { reached, invalid: Some(invalid), beyond }], unknown, is_whole: true };
        let is_reachable: Vec<bool> = contexts.program.locs.ids().map(|loc| analysis.is_reachable(loc)).collect();
        drop(analysis);
        Some((found, move || contexts.reduced(|loc| is_reachable[loc.index()])))
    }

    /// Analyses function by function: assumes nothing about arguments and memory at a function's entry, or about memory
    /// after a call of another function, unless that is [analysed with its caller](Apart). The work is linear in the
    /// number of functions. `None` if the budget is spent before any function is finished.
    pub fn analyse_functions(program: &Program, budget: &Budget) -> Option<Self> {
        Self::analyse_each_function(points_to(program, budget)?, budget)
    }

    fn analyse_each_function(points_to: PointsTo, budget: &Budget) -> Option<Self> {
        let program = points_to.program();
        let contexts = Contexts::new(program, None, Strength::FULL.copied);
        let mut analysis = Analysis::following(&contexts, points_to, false, Strength::FULL);
        let done = analysis.iterate_apart(budget);
        if done.is_empty() {
            return None;
        }
        let apart = analysis.apart.as_ref()?;
        let is_open = apart.open_functions(&contexts.program, &done);
        let mut reached = vec![false; program.locs.len()];
        let mut invalid: FxHashSet<EdgeId> = FxHashSet::default();
        for (loc, &origin) in contexts.program.locs.ids().zip(&contexts.locations) {
            let is_open = is_open.contains(contexts.program.locs[loc].func.index());
            reached[origin.index()] |= is_open || analysis.is_reachable(loc);
            if is_open {
                invalid.extend(contexts.program.out_edges(loc).map(|edge| contexts.origin[edge.index()]));
            }
        }
        let following = analysis.following.as_ref()?;
        invalid.extend(following.invalid.iter().map(|edge| contexts.origin[edge.index()]));
        let is_accounted_for = |edge: EdgeId, taint: &Taint| match taint.harm() {
            Harm::Bounded | Harm::Addresses | Harm::Included | Harm::Undefined | Harm::Elsewhere | Harm::Again => true,
            Harm::Handlers => analysis.handlers().is_known,
            Harm::Signals | Harm::Any => program.funcs[program.func_of(edge)].origin == FunctionOrigin::Model,
        };
        let beyond = beyond(program, &reached, |_| false, is_accounted_for, (analysis.handlers(), &[]));
        let unknown = unknown(program, &reached, |_| false, is_accounted_for);
        Some(Self { parts: vec![Part { reached, invalid: Some(invalid), beyond }], unknown, is_whole: false })
    }

    /// Analyses the variables of the whole program, without memory. It takes less time than [`compute`](Self::compute).
    /// `None` if the budget is spent before the end.
    pub fn analyse_variables(program: &Program, budget: &Budget) -> Option<Self> {
        let mut analysis = Analysis::new(program);
        analysis.iterate(budget)?;
        let reached: Vec<bool> = program.locs.ids().map(|loc| analysis.is_reachable(loc)).collect();
        let beyond = beyond(program, &reached, |_| false, |_, _| false, (&Handlers::none(), &[]));
        let unknown = unknown(program, &reached, |_| false, |_, _| false);
        Some(Self { parts: vec![Part { reached, invalid: None, beyond }], unknown, is_whole: true })
    }

    /// True if executions may reach a location.
    pub fn is_reachable(&self, loc: LocId) -> bool {
        self.parts.iter().all(|part| part.is_reachable(loc))
    }

    /// True if the memory operation on `edge`, which starts at `source`, is valid whenever it is executed.
    pub fn is_valid(&self, edge: EdgeId, source: LocId) -> bool {
        self.parts.iter().any(|part| part.is_valid(edge, source))
    }

    /// True if all memory operations are valid.
    pub fn are_all_valid(&self) -> bool {
        let are_valid = |part: &Part| part.invalid.as_ref().is_some_and(FxHashSet::is_empty);
        self.unknown.is_empty() && self.parts.iter().any(are_valid)
    }

    /// The code without a definition that may be executed. If there is any, the results do not prove the program.
    pub fn unknown(&self) -> &[Unknown] {
        &self.unknown
    }

    /// Returns true if a check would be proved if unknown code had no effect: its location is unreachable, or its
    /// operation is valid.
    pub fn holds_but_for_unknown(&self, operation: Option<EdgeId>, source: LocId) -> bool {
        let is_valid = |part: &Part| {
            let invalid = operation.zip(part.invalid.as_ref());
            !part.reached[source.index()] || invalid.is_some_and(|(edge, invalid)| !invalid.contains(&edge))
        };
        self.parts.iter().any(is_valid)
    }

    /// True if the whole program was analysed, and not only function by function.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }
}

/// Unknown code that may be executed, each once. Library models call only functions that were passed to them.
fn unknown(
    program: &Program,
    reached: &[bool],
    is_blind: impl Fn(EdgeId) -> bool,
    is_accounted_for: impl Fn(EdgeId, &Taint) -> bool,
) -> Vec<Unknown> {
    let mut found: Vec<Unknown> = Vec::new();
    for (id, edge) in program.edges.iter().filter(|(_, edge)| reached[edge.source.index()]) {
        let unknown = match edge.op {
            Op::Approx { taint }
                if program.taints[taint].under
                    && (program.funcs[program.func_of(id)].origin != FunctionOrigin::Model
                        || is_accounted_for(id, &program.taints[taint])) =>
            {
                let Taint { reason, place, .. } = &program.taints[taint];
                let is_of_model = program.funcs[program.func_of(id)].origin == FunctionOrigin::Model;
                let harm = match program.taints[taint].harm() {
                    harm @ (Harm::Undefined | Harm::Handlers | Harm::Signals) => harm,
                    _ if is_of_model => Harm::Bounded,
                    harm => harm,
                };
                Unknown { reason: reason.clone(), place: *place, harm }
            }
            Op::Call { callee: Callee::Indirect(_), .. } if is_blind(id) => {
                let reason = "call of a function that is not known".to_owned();
                Unknown { reason, place: edge.place, harm: Harm::Any }
            }
            _ => continue,
        };
        if !found.contains(&unknown) {
            found.push(unknown);
        }
    }
    found
}

/// The locations that executions may reach after a reachable edge that drops behaviours, except for edges whose harm is
/// accounted for. Within a library model, dropped behaviours may call only functions that were passed to it. A call
/// through a pointer with unknown callees may do anything. Undefined functions call the functions `called`.
fn beyond(
    program: &Program,
    reached: &[bool],
    is_blind: impl Fn(EdgeId) -> bool,
    is_accounted_for: impl Fn(EdgeId, &Taint) -> bool,
    (handlers, called): (&Handlers, &[FuncId]),
) -> FixedBitSet {
    let calls = CallGraph::new(program);
    let mut todo: Vec<LocId> = Vec::new();
    for (id, edge) in program.edges.iter().filter(|(_, edge)| reached[edge.source.index()]) {
        match edge.op {
            Op::Approx { taint } if program.taints[taint].under && !is_accounted_for(id, &program.taints[taint]) => {
                todo.push(edge.target);
            }
            Op::Call { callee: Callee::Indirect(_), .. } if is_blind(id) => todo.push(edge.target),
            _ => {}
        }
    }
    let mut found = FixedBitSet::with_capacity(program.locs.len());
    if !todo.is_empty() {
        todo.extend(calls.address_taken().iter().map(|&func| program.funcs[func].entry));
    }
    let no_handlers = handlers.functions.is_clear();
    let returning = if todo.is_empty() && no_handlers { FixedBitSet::new() } else { returning(program) };
    let returns = |edge: EdgeId, callee: Callee| {
        let callees = calls.callees(program, edge);
        matches!(callee, Callee::Indirect(_)) || callees.as_slice().iter().any(|func| returning.contains(func.index()))
    };
    let undefined_calls = program.edges.iter().filter(|(id, _)| !called.is_empty() && is_undefined_call(program, *id));
    let undefined_calls: Vec<LocId> = undefined_calls.map(|(_, edge)| edge.target).collect();
    while let Some(loc) = todo.pop() {
        if found.put(loc.index()) {
            continue;
        }
        for edge in program.out_edges(loc) {
            let target = program.edges[edge].target;
            match program.edges[edge].op {
                Op::Call { callee, .. } => {
                    let callees = calls.callees(program, edge);
                    todo.extend(callees.as_slice().iter().map(|&func| program.funcs[func].entry));
                    todo.extend(returns(edge, callee).then_some(target));
                }
                // The callers of the model have called it before, or call it later.
                Op::Return { .. } => {
                    let callers = calls.callers(program.func_of(edge)).map(|call| &program.edges[call]);
                    todo.extend(callers.filter(|call| reached[call.source.index()]).map(|call| call.target));
                    if called.contains(&program.func_of(edge)) {
                        todo.extend(&undefined_calls);
                    }
                }
                _ => todo.push(target),
            }
        }
    }
    // A handler runs in any state. It calls only functions of this set.
    let entries = handlers.functions.ones().map(|func| program.funcs[FuncId::from_index(func)].entry);
    let mut todo: Vec<LocId> = entries.collect();
    let mut seen = FixedBitSet::with_capacity(program.locs.len());
    while let Some(loc) = todo.pop() {
        if seen.put(loc.index()) {
            continue;
        }
        let continues = |edge: EdgeId| match program.edges[edge].op {
            Op::Call { callee, .. } => returns(edge, callee),
            _ => true,
        };
        todo.extend(program.out_edges(loc).filter(|&edge| continues(edge)).map(|edge| program.edges[edge].target));
    }
    found.union_with(&seen);
    found
}

/// The points-to sets of a program. `None` if the budget is spent.
fn points_to<'p>(program: &'p Program, budget: &Budget) -> Option<PointsTo<'p>> {
    let deadline = budget.remaining().and_then(|left| Instant::now().checked_add(left));
    let options = pointer::Options { undefined: Undefined::LINKED, deadline, exposure: true, ..Default::default() };
    PointsTo::compute(program, &options)
}

impl<'p> Analysis<'p> {
    /// An analysis of variables and memory for the program of the points-to analysis, on its copy in `contexts`: of the
    /// whole program, or function by function.
    pub(super) fn following(
        contexts: &'p Contexts,
        mut points_to: PointsTo<'p>,
        is_whole: bool,
        strength: Strength,
    ) -> Self {
        let (program, original) = (&contexts.program, points_to.program());
        let handlers = Handlers::find(original, is_whole.then_some(&mut points_to));
        let mut analysis = Self::new(program);
        analysis.set_strength(strength);
        analysis.rows = Rows::following(program);
        let mut domain = MemoryDomain::new(program, is_whole.then(|| points_to.clone()), &contexts.origin);
        let numbers = |points_to: &PointsTo, objects| domain.numbers(points_to, objects);
        analysis.rows.set_distances(Distances::compute(&mut points_to, numbers, !is_whole));
        if is_whole {
            analysis.set_undefined(UndefinedFunctions::find(contexts, &points_to));
        }
        domain.set_recursive(program.funcs.ids().filter(|&f| analysis.is_recursive(f)).map(FuncId::index).collect());
        let returning = returning(program);
        if handlers.is_known {
            domain.add_changing(&handlers.objects);
        }
        analysis.set_handlers(handlers);
        let [changed, touched, accessed] = if is_whole {
            let UndefinedFunctions { reachable, called, .. } = analysis.undefined();
            let reachable = domain.numbers(&points_to, reachable.clone());
            accessed_objects(program, &analysis.calls, &mut domain, &contexts.origin, (&reachable, called))
        } else {
            analysis.apart = Some(Apart::compute(contexts, &analysis.calls));
            let mut all = FixedBitSet::with_capacity(domain.objects());
            all.insert_range(..);
            [(); 3].map(|()| vec![all.clone(); program.funcs.len()])
        };
        let mut frames = vec![Vec::new(); program.funcs.len()];
        for (id, edge) in program.edges.iter() {
            if matches!(edge.op, Op::Alloc { kind: AllocKind::Stack, .. }) {
                frames[program.func_of(id).index()].push(domain.site(id));
            }
        }
        let used = match strength.is_local {
            true => used_globals(
                program,
                &analysis.rows,
                &analysis.calls,
                &domain,
                &contexts.origin,
                &analysis.undefined().called,
            ),
            false => Vec::new(),
        };
        let uses = Uses { changed, touched, accessed, used };
        let origin = contexts.origin.clone();
        let invalid = FxHashSet::default();
        analysis.following = Some(Following { domain, original, origin, uses, frames, invalid, returning });
        analysis
    }
}

/// Per function: the objects that the function and its callees may allocate or free; these together with those that they
/// may write; and all of them together with those that they may read. Undefined functions may access the objects
/// `reachable` and call the functions `called`.
fn accessed_objects(
    program: &Program,
    calls: &CallGraph,
    domain: &mut MemoryDomain,
    origin: &[EdgeId],
    (reachable, called): (&[u32], &[FuncId]),
) -> [Vec<FixedBitSet>; 3] {
    let objects = domain.objects();
    let mut changed = vec![FixedBitSet::with_capacity(objects); program.funcs.len()];
    let mut written = changed.clone();
    let mut read = changed.clone();
    for (id, edge) in program.edges.iter() {
        let func = program.func_of(id).index();
        let add = |to: &mut Vec<FixedBitSet>, objects: &[u32]| {
            to[func].extend(objects.iter().map(|&object| object as usize));
        };
        match edge.op {
            Op::Load { addr, .. } => add(&mut read, &domain.objects_of(addr)),
            Op::Store { addr, .. } => add(&mut written, &domain.objects_of(addr)),
            Op::Copy { dst, src, .. } => {
                add(&mut written, &domain.objects_of(dst));
                add(&mut read, &domain.objects_of(src));
            }
            Op::Fill { dst, .. } => add(&mut written, &domain.objects_of(dst)),
            Op::Free { ptr, family } => {
                let freed = domain.objects_of(ptr);
                add(&mut changed, &freed);
                domain.add_freed(&freed, family);
            }
            Op::ObjectSize { ptr, .. } | Op::ObjectOffset { ptr, .. } => add(&mut read, &domain.objects_of(ptr)),
            Op::Alloc { .. } => {
                let object = domain.site(id);
                add(&mut changed, &[object]);
                add(&mut changed, domain.older(object).as_slice());
            }
            Op::Approx { .. } if is_undefined_call(program, id) => {
                add(&mut changed, reachable);
                domain.add_freed(reachable, Family::Malloc);
            }
            _ => {}
        }
    }
    let with = |fewer: &[FixedBitSet], more: Vec<FixedBitSet>| {
        let mut all = more;
        all.iter_mut().zip(fewer).for_each(|(all, fewer)| all.union_with(fewer));
        with_callees(program, calls, domain, origin, called, &mut all);
        all
    };
    let changed = with(&[], changed);
    let touched = with(&changed, written);
    let accessed = with(&touched, read);
    [changed, touched, accessed]
}

/// Per function: the indices of the global variables that the function and its callees may read or write.
fn used_globals(
    program: &Program,
    rows: &Rows,
    calls: &CallGraph,
    domain: &MemoryDomain,
    origin: &[EdgeId],
    called: &[FuncId],
) -> Vec<FixedBitSet> {
    let mut used = vec![FixedBitSet::with_capacity(rows.globals.len()); program.funcs.len()];
    for (id, edge) in program.edges.iter() {
        let used = &mut used[program.func_of(id).index()];
        used.extend(edge.op.def().and_then(|var| rows.of_global(var)));
        edge.op.for_each_expr(|e| used.extend(program.exprs.vars(e).iter().filter_map(|&var| rows.of_global(var))));
    }
    with_callees(program, calls, domain, origin, called, &mut used);
    used
}

/// Adds to the sets of each function those of its callees. Undefined functions call the functions `called`.
fn with_callees(
    program: &Program,
    calls: &CallGraph,
    domain: &MemoryDomain,
    origin: &[EdgeId],
    called: &[FuncId],
    sets: &mut [FixedBitSet],
) {
    let callees = |func: FuncId| {
        let of_call = |&call: &EdgeId| match program.edges[call].op {
            Op::Call { callee: Callee::Direct(callee), .. } => vec![callee],
            _ => domain.callees(origin[call.index()]).to_vec(),
        };
        let is_undefined = program.funcs[func].origin == FunctionOrigin::Undefined;
        let by_undefined = if is_undefined { called } else { &[] };
        calls.calls_in(func).iter().flat_map(of_call).chain(by_undefined.iter().copied()).collect::<Vec<_>>()
    };
    loop {
        let mut changed = false;
        for func in calls.bottom_up().flatten() {
            for callee in callees(func) {
                let more = sets[callee.index()].clone();
                if !more.is_subset(&sets[func.index()]) {
                    sets[func.index()].union_with(&more);
                    changed = true;
                }
            }
        }
        if !changed {
            return;
        }
    }
}

impl Following<'_> {
    /// The functions that a call through a pointer may call.
    pub fn callees(&self, call: EdgeId, value: Option<&Value>) -> Vec<FuncId> {
        let known = self.domain.functions(value);
        known.unwrap_or_else(|| self.domain.callees(self.origin[call.index()]).to_vec())
    }

    /// Applies the effect of an operation to memory, and to the variable that it loads or allocates into. Records the
    /// operation if it may be invalid.
    pub fn operate(&mut self, program: &Program, rows: &Rows, edge: EdgeId, env: &mut Environment) {
        let pool = &program.exprs;
        let eval = |env: &Environment, e: ExprId| env.eval(rows, pool, e);
        let pair = |env: &Environment, e: ExprId| (env.eval(rows, pool, e), e);
        let most = |len: &Option<Value>| len.clone().unwrap_or_else(|| Value::full(64));
        let least = |len: &Option<Value>| len.as_ref().map_or(0, |len| len.range.low);
        let domain = &mut self.domain;
        let is_valid = match program.edges[edge].op {
            Op::Load { var, addr } => {
                let (width, value) = (program.vars[var].width, eval(env, addr));
                let bytes = u64::from(width.div_ceil(8));
                let is_valid = domain.is_valid(&env.memory, value.as_ref(), bytes, false);
                let (loaded, cell) = domain.read(&env.memory, value.as_ref(), bytes);
                accessed(program, rows, env, addr, bytes);
                let is_steady = domain.is_steady(value.as_ref(), addr);
                let held = if is_steady { env.recent.held(pool, Read { var, width }, addr) } else { Vec::new() };
                let mut loaded = loaded.map(|v| super::resized(&v, width));
                for known in held.into_iter().filter_map(|same| env.get(rows, same)) {
                    // If the intersection is empty, the read is unreachable.
                    loaded = Some(loaded.and_then(|v| v.meet(known)).unwrap_or_else(|| known.clone()));
                }
                env.set(rows, var, loaded);
                if let Some(cell) = cell.filter(|_| width.is_multiple_of(8) && is_steady) {
                    env.recent.stored(var, 0, cell);
                }
                if width == 8 && is_steady {
                    env.recent.read(pool, Read { var, width }, addr);
                }
                is_valid
            }
            Op::Store { addr, value: stored } => {
                let (width, value) = (pool.width(stored), eval(env, addr));
                let bytes = u64::from(width.div_ceil(8));
                let is_valid = domain.is_valid(&env.memory, value.as_ref(), bytes, true);
                let content = eval(env, stored).map(|v| super::resized(&v, width.next_multiple_of(8)));
                let places = domain.places(value.as_ref(), addr);
                env.writing(rows, pool, &places, |env| {
                    domain.write(env, value.as_ref(), addr, bytes, content.as_ref());
                });
                accessed(program, rows, env, addr, bytes);
                let (base, by) = pool.base_and_offset(stored);
                if let &Expr::Var(var) = pool.get(base)
                    && width.is_multiple_of(8)
                    && domain.is_steady(value.as_ref(), addr)
                {
                    let is_address = env.get(rows, var).is_some_and(|value| value.targets.is_some());
                    if let Some(cell) = domain.only_cell(&env.memory, &places, bytes).filter(|_| is_address) {
                        env.recent.stored(var, by, cell);
                    }
                    if (width, by) == (8, 0) {
                        env.recent.read(pool, Read { var, width }, addr);
                    }
                }
                is_valid
            }
            Op::Alloc { var, size, .. } => {
                let bytes = eval(env, size);
                let address = domain.allocate(env, edge, bytes.as_ref());
                let object = domain.site(edge);
                if env.memory.is_one(object) {
                    env.limit(rows, pool, size, Limit::new(object, Reach::Size, 0).exact());
                }
                env.set(rows, var, address);
                true
            }
            Op::Free { ptr, family } => {
                let value = eval(env, ptr);
                let is_valid = domain.can_be_freed(&env.memory, value.as_ref(), family);
                env.recent.written(&|_| false);
                domain.free(env, value.as_ref(), ptr, family);
                is_valid
            }
            Op::ObjectOffset { var, ptr, writable } => {
                let value = eval(env, ptr);
                let offset = domain.offset(&env.memory, value.as_ref(), writable);
                if offset.is_some() {
                    env.recent.measured(pool, var, ptr);
                }
                env.set(rows, var, offset.map(|offset| super::resized(&offset, program.vars[var].width)));
                true
            }
            Op::ObjectSize { var, ptr, family } => {
                let value = eval(env, ptr);
                let size = domain.size(&env.memory, value.as_ref());
                env.set(rows, var, size.map(|size| super::resized(&size, program.vars[var].width)));
                env.recent.sized(pool, var, ptr);
                domain.is_start(&env.memory, value.as_ref(), family)
            }
            Op::Copy { dst, src, len } => {
                let is_within_size = env.recent.is_within_size(pool, len, src);
                let (to, from, len) = (pair(env, dst), eval(env, src), eval(env, len));
                let read = if is_within_size { Value::constant(64, 0) } else { most(&len) };
                let is_valid = domain.is_valid_up_to(&env.memory, to.0.as_ref(), &most(&len), true)
                    && domain.is_valid_up_to(&env.memory, from.as_ref(), &read, false);
                let bytes = least(&len);
                let places = domain.places(to.0.as_ref(), dst);
                env.writing(rows, pool, &places, |env| domain.copy(env, to, from, len));
                accessed(program, rows, env, dst, bytes);
                // A length that the object's size bounds excludes no object.
                if !is_within_size {
                    accessed(program, rows, env, src, bytes);
                }
                is_valid
            }
            Op::Fill { dst, byte, len } => {
                let (to, byte, len) = (pair(env, dst), eval(env, byte), eval(env, len));
                let is_valid = domain.is_valid_up_to(&env.memory, to.0.as_ref(), &most(&len), true);
                let bytes = least(&len);
                let places = domain.places(to.0.as_ref(), dst);
                env.writing(rows, pool, &places, |env| domain.fill(env, to, byte, len));
                accessed(program, rows, env, dst, bytes);
                is_valid
            }
            Op::Call { .. } => match self.original.edges[self.origin[edge.index()]].op {
                Op::Call { callee: Callee::Indirect(address), .. } => {
                    domain.functions(eval(env, address).as_ref()).is_some()
                }
                _ => true,
            },
            Op::Leak(_) => false,
            _ => true,
        };
        if !is_valid || env.memory.is_unmodelled {
            self.invalid.insert(edge);
        }
    }

    /// Ends the lifetime of the stack objects of a function.
    pub fn leave(&self, env: &mut Environment, func: FuncId, is_recursive: bool, result: &mut Option<Value>) {
        match &self.frames[func.index()][..] {
            [] => {}
            frame if is_recursive => self.domain.end_some(env, frame, result),
            frame => {
                self.domain.end(env, frame, result);
                // The callers do not know these objects.
                Rc::make_mut(&mut env.memory.lost).retain(|(object, _)| !frame.contains(object));
            }
        }
    }
}

/// Refines the address of an access of at least `bytes` bytes: execution continues only if the address is valid.
fn accessed(program: &Program, rows: &Rows, env: &mut Environment, address: ExprId, bytes: u64) {
    if bytes == 0 {
        return;
    }
    let pool = &program.exprs;
    let width = pool.width(address);
    // Split a sum into the address and the offset.
    let (mut base, mut by) = (address, Value::constant(width, 0));
    let var = loop {
        let is_address = |e: ExprId| env.eval(rows, pool, e).is_some_and(|value| value.targets.is_some());
        match *pool.get(base) {
            Expr::Var(var) => break var,
            Expr::Binary(BinOp::Add, a, b) => {
                let (address, other) = if pool.as_const(b).is_some() || is_address(a) { (a, b) } else { (b, a) };
                let Some(other) = env.eval(rows, pool, other) else { return };
                (base, by) = (address, Value::apply(BinOp::Add, &by, &other));
            }
            _ => return,
        }
    };
    let mut now = env.get(rows, var).cloned().unwrap_or_else(|| Value::full(width));
    let (low, high) = range(program.layout.pointer_width);
    if let Some(by) = by.as_constant().filter(|&by| by < low) {
        let within = Bounds::unsigned(width, low - by, high - by).and_then(Value::of_range);
        let Some(met) = within.and_then(|within| now.meet(&within)) else { return };
        now = met;
    }
    let most = |object| env.memory.status(object).map_or(u64::MAX, |status| status.most);
    let now = now.accessed(&by, bytes, most);
    let now = if by.as_constant() == Some(0) { now.reaching(bytes) } else { now };
    for cell in env.recent.cells_of(var).collect::<Vec<u32>>() {
        env.memory.cells.set(cell as usize, Some(now.clone()).filter(|v| !v.is_full()));
    }
    env.set(rows, var, Some(now));
}
