//! Abstraction to a precision: what a state keeps where paths join.
//!
//! Between the locations where paths join, states are computed in full; there, the operator `prec` of a CPA with
//! dynamic precision adjustment (Beyer, Henzinger, Théoduloz: Program analysis with dynamic precision adjustment, ASE
//! 2008) forgets every value and every constraint that the precision does not track. Values that are not numbers but
//! addresses are kept as long as they are live: there are few of them, and nothing can be said of memory without them.
//!
//! With symbols the domain is symbolic execution with a precision over values and constraints (the thesis on slicing and
//! CEGAR for symbolic execution, section 2.2); without, it is the explicit-value domain (Beyer, Löwe: Explicit-state
//! software model checking based on CEGAR and interpolation, FASE 2013), whose states map variables to constants.

use super::predicates::Predicates;
use super::state::{Cut, Place, Seen, State};
use super::{Stop, SymbolicExecution};
use crate::control::Control;
use crate::execution::{self, Frame, Memory, Mode, Object, Origin, Part, Val, describe_object};
use crate::verdict::Reason;
use cfa::{EdgeId, Expr, ExprId, Id, LocId, Program, Sort, SymId, Value, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::{Model, PathCondition};
use std::rc::Rc;

/// Something that an abstract state may keep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Item {
    /// The value of a variable, in every activation of its function.
    Var(VarId),
    /// The numbers in a part of the objects of this origin.
    Memory(Origin, Part),
    /// The constraints that come from the branch which this assume edge is the first side of.
    Constraint(EdgeId),
}

/// For which locations an item that a refinement found at one location is tracked from then on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Sharing {
    /// That location alone.
    Location,
    /// All of its scope: a variable wherever it lives.
    #[default]
    Scope,
}

/// What is tracked, by location; under `None` what is tracked everywhere.
#[derive(Clone, Default, Debug)]
pub struct Precision {
    items: FxHashMap<Option<LocId>, FxHashSet<Item>>,
    /// Everything is tracked.
    pub full: bool,
    pub sharing: Sharing,
    /// Tracked no more, since they have too many values.
    banned: FxHashSet<Item>,
}

impl Precision {
    /// Whether the item is tracked at a location.
    #[inline]
    pub fn tracks(&self, loc: LocId, item: Item) -> bool {
        let has = |scope: Option<LocId>| self.items.get(&scope).is_some_and(|set| set.contains(&item));
        (self.full || has(None) || self.sharing == Sharing::Location && has(Some(loc))) && !self.is_banned(item)
    }
    #[inline]
    pub fn is_banned(&self, item: Item) -> bool {
        !self.banned.is_empty() && self.banned.contains(&item)
    }
    /// Tracks `item`, which was found necessary at `loc`; `false` if it was tracked there already.
    pub fn add(&mut self, loc: LocId, item: Item) -> bool {
        let scope = (self.sharing == Sharing::Location).then_some(loc);
        self.items.entry(scope).or_default().insert(item)
    }
    pub fn ban(&mut self, item: Item) {
        self.banned.insert(item);
    }
    /// Items tracked, those of several locations counted once each.
    pub fn len(&self) -> usize {
        self.items.values().map(FxHashSet::len).sum()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// All items tracked anywhere, in order.
    pub fn items(&self) -> Vec<Item> {
        let mut all: Vec<Item> = self.items.values().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Something that keeps a proof from being one if a state can really get there.
#[derive(Clone, Debug)]
pub struct Problem {
    pub edge: EdgeId,
    pub reason: Reason,
}

/// How states are abstracted and what refinements may track.
#[derive(Clone, Copy, Debug)]
pub struct Abstracted {
    /// Unknown values are not named by symbols.
    pub values_only: bool,
    /// Everything is tracked from the start.
    pub full: bool,
    pub sharing: Sharing,
    /// A variable with more values at one loop head is tracked no more; 0 for no limit.
    pub threshold: usize,
    /// Refinements try values first.
    pub values: bool,
    /// Then predicates, kept in all their combinations if `boolean`.
    pub predicates: bool,
    pub boolean: bool,
}

/// The state of abstraction.
#[derive(Default)]
pub(super) struct Abstracting {
    pub precision: Precision,
    /// Problems are collected here rather than recorded as taints.
    pub watching: bool,
    pub problems: Vec<Problem>,
    /// Operations whose problems are recorded as taints; reads among them may give anything.
    settled: FxHashSet<EdgeId>,
    /// The first side of the branch that a conjunct of a path condition comes from.
    source: FxHashMap<ExprId, EdgeId>,
    /// The symbols that stand for what was forgotten of a variable.
    forgotten: FxHashSet<ExprId>,
    /// The symbols made by the present abstraction, with what they replace.
    replaced: Vec<(ExprId, Val)>,
    /// The variables that symbols stand for, where so many states have been abstracted.
    pub names: FxHashMap<(ExprId, u32), ExprId>,
    /// States abstracted on the way to the one that is being abstracted, itself included.
    depth: u32,
    /// The content of memory that symbols stand for.
    pub contents: FxHashMap<ExprId, Seen>,
    /// The symbols by which predicates speak of places in memory.
    pub places: FxHashMap<Place, ExprId>,
    pub place_of: FxHashMap<SymId, Place>,
    pub predicates: Predicates,
    /// Predicates are kept in all their combinations.
    pub boolean: bool,
    /// Conjuncts that say which predicates hold.
    of_predicates: FxHashSet<ExprId>,
    /// Which refinements are tried.
    pub ways: (bool, bool),
    /// Distinct values seen of tracked variables at one location, while they are few.
    seen: FxHashMap<(LocId, VarId), FxHashSet<u64>>,
    /// A variable with more values at one location is tracked no more.
    pub threshold: usize,
}

impl<'p> SymbolicExecution<'p> {
    /// The domain with states abstracted.
    pub fn abstracted_as(mut self, how: Abstracted) -> Self {
        self.abstracting = Abstracting {
            precision: Precision { full: how.full, sharing: how.sharing, ..Precision::default() },
            watching: true,
            threshold: how.threshold,
            boolean: how.boolean,
            ways: (how.values, how.predicates),
            ..Abstracting::default()
        };
        // Refinement walks along all edges of a path.
        self.execution.mode = Mode { names_unknowns: !how.values_only, is_abstract: true, skips_calls: false };
        self.execution.unwritten = how.predicates.then(Vec::new);
        self
    }

    pub fn precision(&self) -> &Precision {
        &self.abstracting.precision
    }

    /// Tracks more, wherever states are abstracted from now on.
    pub fn track(&mut self, items: impl IntoIterator<Item = Item>) {
        self.abstracting.precision.items.entry(None).or_default().extend(items);
    }

    /// Values, constraints and predicates tracked.
    pub fn tracked(&self) -> usize {
        self.abstracting.precision.len() + self.abstracting.predicates.len()
    }

    /// Loop heads and entries of recursive functions: a set of locations that cuts every cycle. With `calls` also where functions
    /// are entered and where they return to.
    pub fn cutpoints(&self, calls_too: bool) -> Vec<bool> {
        let mut heads = vec![false; self.execution.program.locs.len()];
        for l in &self.loops.loops {
            heads[l.head.index()] = true;
        }
        let calls = cfa::CallGraph::new(self.execution.program);
        for (id, func) in self.execution.program.funcs.iter() {
            if calls_too || calls.is_recursive(id) {
                heads[func.entry.index()] = true;
            }
        }
        for edge in self.execution.program.edges.values().filter(|e| calls_too && matches!(e.op, cfa::Op::Call { .. }))
        {
            heads[edge.target.index()] = true;
        }
        heads
    }

    /// Problems met since the last call.
    pub(super) fn take_problems(&mut self) -> Vec<EdgeId> {
        std::mem::take(&mut self.abstracting.problems).into_iter().map(|p| p.edge).collect()
    }

    pub(super) fn settle_problem(&mut self, edge: EdgeId) {
        self.abstracting.settled.insert(edge);
    }

    /// Whether it is known that the operation is a problem.
    pub(super) fn is_settled(&self, edge: EdgeId) -> bool {
        self.abstracting.settled.contains(&edge)
    }

    pub(super) fn is_read(&self, edge: EdgeId) -> bool {
        matches!(self.execution.program.edges[edge].op, cfa::Op::Load { .. })
    }

    /// Records that the behaviour of a path beyond `edge` is not that of the program.
    pub(in crate::cpa) fn problem(&mut self, edge: EdgeId, reason: Reason) {
        if self.is_settled(edge) {
            // Not where a path is followed that may be infeasible.
            if self.is_read(edge) && self.execution.mode.is_abstract {
                self.taints.drop_behaviour(reason);
            }
            return;
        }
        if self.abstracting.watching {
            self.abstracting.problems.push(Problem { edge, reason });
        } else {
            self.taints.drop_behaviour(reason);
        }
    }

    /// `st` is followed over one side of a branch: `before` conjuncts of its path condition are older.
    pub(super) fn note_constraints(&mut self, st: &State, before: usize, edge: EdgeId) {
        if !self.execution.mode.names_unknowns || !self.abstracting.watching {
            return;
        }
        let added = st.pc.len().saturating_sub(before);
        for conjunct in st.pc.iter().take(added) {
            self.abstracting.source.entry(conjunct).or_insert(edge);
        }
    }

    /// `prec`: what the precision tracks of `st` at `at`. What `since` shares with it was abstracted before.
    pub(super) fn abstracted(&mut self, mut st: State, at: Control, since: Option<&State>) -> State {
        self.count_values(&st, at);
        let model = st.pc.model().cloned();
        let knowledge = self.knowledge(&mut st, since);
        let (pc, trail, memory) = (st.pc.clone(), std::mem::take(&mut st.trail), st.memory.clone());
        self.abstracting.replaced.clear();
        self.abstracting.depth = st.depth() + 1;
        let precision = std::mem::take(&mut self.abstracting.precision);
        let keep = |item| precision.tracks(at.loc, item);
        self.forget_callers(&mut st, since, &keep);
        self.forget(&mut st, at, since.map(|s| &s.memory), &keep);
        self.abstracting.precision = precision;
        let replaced = self.replaced();
        if self.abstracting.ways.1 {
            self.name_kept(&st);
            let (depth, replaced) = (st.depth(), replaced.clone());
            st.route.history =
                Some(Rc::new(Cut { pc, trail, memory, depth, replaced, before: st.route.history.take() }));
        }
        if !knowledge.is_empty() {
            let model = model.map(|m| self.extended(m, &replaced));
            let before = st.pc.len();
            self.restore_knowledge(&mut st, knowledge, model);
            let added = st.pc.len() - before;
            self.abstracting.of_predicates.extend(st.pc.iter().take(added));
        }
        st
    }

    /// Notes which variables of an abstracted state have a symbol as their value that is older.
    fn name_kept(&mut self, st: &State) {
        let globals = self.execution.slots.globals.iter().zip(st.globals.iter());
        let locals = self.execution.slots.locals[st.frame.func.index()].iter().zip(&st.frame.vars);
        for (&var, &value) in globals.chain(locals) {
            if let Val::Expr(e) = value
                && matches!(self.execution.terms.get(e), Expr::Sym(_))
            {
                let name = self.execution.terms.var(var, self.execution.program.vars[var].width);
                self.abstracting.names.entry((e, self.abstracting.depth)).or_insert(name);
            }
        }
    }

    /// The symbols made by the abstraction, with the terms that they replace.
    fn replaced(&mut self) -> Vec<(ExprId, ExprId)> {
        let replaced = std::mem::take(&mut self.abstracting.replaced);
        replaced
            .into_iter()
            .map(|(symbol, value)| (symbol, self.execution.terms.term(value, self.execution.terms.width(symbol))))
            .collect()
    }

    /// A model of a state, extended to the symbols that replace what was forgotten.
    fn extended(&self, mut model: Model, replaced: &[(ExprId, ExprId)]) -> Model {
        for &(symbol, old) in replaced {
            let old = model.eval(&self.execution.terms, old);
            model.set(symbol, Value::Bv(old));
        }
        model
    }

    /// Takes variables with too many values out of the precision.
    fn count_values(&mut self, st: &State, at: Control) {
        let threshold = self.abstracting.threshold;
        if threshold == 0 || self.loops.headed_by(at.loc).is_none() {
            return;
        }
        let slots = &self.execution.slots;
        let locals = slots.locals[st.frame.func.index()].iter().zip(&st.frame.vars);
        let globals = slots.globals.iter().zip(st.globals.iter());
        for (&var, &value) in locals.chain(globals) {
            let Val::Int(v) = value else { continue };
            if !self.abstracting.precision.tracks(at.loc, Item::Var(var)) {
                continue;
            }
            let seen = self.abstracting.seen.entry((at.loc, var)).or_default();
            if seen.len() <= threshold && seen.insert(v) && seen.len() > threshold {
                self.abstracting.precision.ban(Item::Var(var));
            }
        }
    }

    /// Forgets all numbers and constraints that `keep` does not want, and what is dead.
    pub(super) fn forget(
        &mut self,
        st: &mut execution::State,
        at: Control,
        base: Option<&Memory>,
        keep: &dyn Fn(Item) -> bool,
    ) {
        self.forget_frame(Rc::make_mut(&mut st.frame), at.loc, &st.pc, keep);
        for i in 0..self.execution.read_globals().len() {
            let slot = self.execution.read_globals()[i] as usize;
            let var = self.execution.slots.globals[slot];
            let value = st.globals[slot];
            if !self.is_droppable(value) {
                continue;
            }
            let new = match keep(Item::Var(var)) {
                true => self.as_number(&st.pc, value),
                false => self.any_value(var, value),
            };
            if new != value {
                Rc::make_mut(&mut st.globals)[slot] = new;
            }
        }
        let objects: Vec<_> = match base {
            Some(base) => st.memory.differences(base).filter_map(|(id, ours, _)| Some((id, ours?.origin))).collect(),
            None => st.memory.iter().map(|(id, o)| (id, o.origin)).collect(),
        };
        for (id, origin) in objects {
            let wants = |part| keep(Item::Memory(origin, part));
            let lost = |o: &Object| !o.read_only && !o.known_parts().into_iter().all(wants);
            if st.memory.get(id).is_some_and(lost) {
                st.memory.get_mut(id).expect("a live object").forget_numbers(wants);
            }
        }
        if !st.pc.is_empty() {
            self.forget_constraints(st, keep);
        }
    }

    /// Forgets the locals in a frame that stands before location `loc`.
    fn forget_frame(&mut self, frame: &mut Frame, loc: LocId, pc: &PathCondition, keep: &dyn Fn(Item) -> bool) {
        let live = self.execution.live(frame.func);
        let mut is_live = live.at(loc).iter().copied().peekable();
        for slot in 0..frame.vars.len() {
            let value = frame.vars[slot];
            let alive = is_live.next_if_eq(&(slot as u32)).is_some();
            frame.vars[slot] = match (alive, value) {
                (_, Val::Unset) => continue,
                (false, _) => Val::Unset,
                (true, _) if !self.is_droppable(value) => continue,
                (true, _) => {
                    let var = self.execution.slots.locals[frame.func.index()][slot];
                    match keep(Item::Var(var)) {
                        true => self.as_number(pc, value),
                        false => self.any_value(var, value),
                    }
                }
            };
        }
    }

    /// Forgets in the frames below the top what `keep` does not want, down to those that `since` has as well: they were
    /// abstracted before.
    pub(super) fn forget_callers(&mut self, st: &mut State, since: Option<&State>, keep: &dyn Fn(Item) -> bool) {
        let mut old = since.map(|s| &s.frame);
        let mut frames = Vec::new();
        let mut above = &st.frame;
        while let (Some(frame), Some(call)) = (&above.caller, above.call) {
            while let Some(o) = old.filter(|o| o.depth > frame.depth) {
                old = o.caller.as_ref();
            }
            if old.is_some_and(|o| Rc::ptr_eq(o, frame)) {
                break;
            }
            frames.push((Rc::clone(frame), self.execution.program.edges[call].target));
            above = frame;
        }
        let mut below = match frames.last() {
            Some((frame, _)) => frame.caller.clone(),
            None => return,
        };
        for (frame, loc) in frames.into_iter().rev() {
            let mut new = (*frame).clone();
            new.caller = below;
            self.forget_frame(&mut new, loc, &st.pc, keep);
            below = Some(Rc::new(new));
        }
        Rc::make_mut(&mut st.frame).caller = below;
    }

    /// Whether there is something to forget of a value.
    fn is_droppable(&self, value: Val) -> bool {
        match value {
            Val::Int(_) => true,
            Val::Expr(e) => !self.abstracting.forgotten.contains(&e),
            Val::Ptr(..) | Val::Unset | Val::Unknown => false,
        }
    }

    /// A tracked value as a number, if the constraints that are about to be forgotten make it one.
    fn as_number(&self, pc: &PathCondition, value: Val) -> Val {
        match value {
            Val::Expr(e) => match self.execution.solver.bounds(&self.execution.terms, pc, e) {
                Some((low, high)) if low == high => Val::Int(low),
                _ => value,
            },
            _ => value,
        }
    }

    fn any_value(&mut self, var: VarId, old: Val) -> Val {
        if !self.execution.mode.names_unknowns {
            return Val::Unknown;
        }
        let width = self.execution.program.vars[var].width;
        let (_, e) = self.execution.terms.fresh_symbol(Sort::Bv(width));
        if self.abstracting.ways.1 {
            let name = self.execution.terms.var(var, width);
            self.abstracting.names.insert((e, self.abstracting.depth), name);
        } else {
            self.abstracting.forgotten.insert(e);
        }
        self.abstracting.replaced.push((e, old));
        Val::Expr(e)
    }

    /// What is known of addresses stays.
    fn forget_constraints(&mut self, st: &mut execution::State, keep: &dyn Fn(Item) -> bool) {
        let conjuncts = st.pc.conjuncts();
        let source = &self.abstracting.source;
        let kept: Vec<ExprId> = conjuncts
            .iter()
            .copied()
            .filter(|c| !self.abstracting.of_predicates.contains(c))
            .filter(|c| source.get(c).is_none_or(|&edge| keep(Item::Constraint(edge))))
            .collect();
        if kept.len() == conjuncts.len() {
            return;
        }
        let model = st.pc.model().cloned();
        let mut pc = PathCondition::new();
        for conjunct in kept {
            self.execution.solver.assume(&mut self.execution.terms, &mut pc, conjunct, model.clone());
        }
        st.pc = pc;
    }

    /// Everything that could be forgotten of `st` at `at`, in the order in which it is better kept: what changes in
    /// loops last, since it may take many values.
    pub(super) fn items(&mut self, st: &State, at: Control) -> Vec<Item> {
        let mut items = Vec::new();
        let func = st.frame.func;
        let live = self.execution.live(func);
        let locals = live
            .at(at.loc)
            .iter()
            .map(|&s| (self.execution.slots.locals[func.index()][s as usize], st.frame.vars[s as usize]));
        let globals = self
            .execution
            .read_globals()
            .iter()
            .map(|&s| (self.execution.slots.globals[s as usize], st.globals[s as usize]));
        for (var, value) in locals.chain(globals) {
            if self.is_droppable(value) {
                items.push(Item::Var(var));
            }
        }
        // Callers' variables keep what they had when they called.
        let mut frame = st.frame.caller.as_ref();
        while let Some(f) = frame {
            for (slot, &value) in f.vars.iter().enumerate() {
                if self.is_droppable(value) {
                    items.push(Item::Var(self.execution.slots.locals[f.func.index()][slot]));
                }
            }
            frame = f.caller.as_ref();
        }
        for (_, object) in st.memory.iter() {
            if !object.read_only {
                items.extend(object.known_parts().into_iter().map(|part| Item::Memory(object.origin, part)));
            }
        }
        for conjunct in st.pc.iter() {
            if let Some(&edge) = self.abstracting.source.get(&conjunct) {
                items.push(Item::Constraint(edge));
            }
        }
        let precision = &self.abstracting.precision;
        items.retain(|&i| !precision.is_banned(i));
        let changing: FxHashSet<VarId> = self.loops.loops.iter().flat_map(|l| l.modified.iter().copied()).collect();
        items.sort_by_key(|item| (matches!(item, Item::Var(v) if changing.contains(v)), *item));
        items.dedup();
        items
    }

    /// An abstract state to cover others is looked for by the values that it has at these places.
    pub(super) fn outline_values(&mut self, st: &State, at: Control) -> Vec<Option<u64>> {
        let live = self.execution.live(st.frame.func);
        let locals = live.at(at.loc).iter().map(|&s| st.frame.vars[s as usize]);
        let globals = self.execution.read_globals().iter().map(|&s| st.globals[s as usize]);
        let word = |value| match value {
            Val::Int(v) => Some(v),
            Val::Ptr(object, offset) => Some(u64::from(object.0).rotate_right(16) ^ offset),
            Val::Expr(_) | Val::Unset | Val::Unknown => None,
        };
        locals.chain(globals).map(word).collect()
    }

    /// The error `what` is met at `edge` in a state that the solver does not refute.
    pub(super) fn is_real(&mut self, st: &mut State) -> Result<bool, Stop> {
        Ok(!self.execution.mode.names_unknowns || self.execution.is_feasible(st))
    }
}

/// The item in the words of the C program.
pub fn describe(program: &Program, item: Item) -> String {
    match item {
        Item::Var(var) if program.vars[var].name.is_none() => "an intermediate value".into(),
        Item::Var(var) => format!("the value of `{}`", name(program, var)),
        Item::Memory(origin, part) => {
            let object = describe_object(program, origin);
            match part.offset() {
                Some(offset) => format!("the contents of {object} at offset {offset}"),
                None => format!("the contents of {object}"),
            }
        }
        Item::Constraint(edge) => {
            format!("whether `{}`", cfa::text::c_operation(program, &program.edges[edge].op))
        }
    }
}

fn name(program: &Program, var: VarId) -> String {
    program.vars[var].name.clone().unwrap_or_else(|| "a temporary".into())
}
