//! What the precision does not track of the values of a state is forgotten.

use super::precision::{Item, Kept};
use super::shape;
use crate::control::Control;
use crate::cpa::tracking::{State, Tracking};
use crate::execution::{self, Frame, Memory, Part, Val};
use cfa::{ExprId, Id, LocId, Sort, VarId};
use rustc_hash::FxHashSet;
use smt::PathCondition;
use std::rc::Rc;

/// Values of a variable at one loop head on one path, if it is tracked without being known to be necessary.
const IN_ADVANCE: usize = 16;

impl Tracking<'_> {
    /// Takes variables with too many values on one path out of the precision (Beyer, Löwe, FASE 2013, section III-F), sooner what is
    /// tracked in advance.
    pub(in crate::cpa) fn count_values(&mut self, st: &mut State, at: Control) {
        let counts = self.threshold > 0 || self.precision.has_some_in_advance();
        if !counts || self.symbolic.loops.headed_by(at.loc).is_none() {
            return;
        }
        let slots = &self.symbolic.execution.slots;
        let locals = slots.locals[st.frame.func.index()].iter().zip(&st.frame.vars);
        let globals = slots.globals.iter().zip(st.globals.iter());
        let mut new = Vec::new();
        for (&var, &value) in locals.chain(globals) {
            let Val::Int(v) = value else { continue };
            let seen = st.along.values.get(&(at.loc, var));
            if self.precision.keeps(at.loc, Item::Var(var)) != Kept::Nothing
                && !seen.is_some_and(|seen| seen.contains(&v))
            {
                new.push((var, v));
            }
        }
        for (var, v) in new {
            let seen = st.along.values.get(&(at.loc, var)).cloned().unwrap_or_default().insert(v);
            let item = Item::Var(var);
            if self.precision.is_in_advance(item) && seen.size() > IN_ADVANCE {
                self.precision.give_up(item);
            }
            if self.threshold > 0 && seen.size() > self.threshold {
                self.precision.ban(item);
            }
            st.along.values.insert_mut((at.loc, var), seen);
        }
    }

    /// Forgets all numbers and constraints that `keep` does not want, and what is dead.
    pub(crate) fn forget(
        &mut self,
        st: &mut execution::State,
        at: Control,
        base: Option<&Memory>,
        keep: &dyn Fn(Item) -> Kept,
    ) {
        self.forget_frame(Rc::make_mut(&mut st.frame), at.loc, &st.pc, keep);
        for i in 0..self.symbolic.execution.read_globals().len() {
            let slot = self.symbolic.execution.read_globals()[i] as usize;
            let var = self.symbolic.execution.slots.globals[slot];
            let value = st.globals[slot];
            if !self.is_droppable(value) || self.is_null(var, value) {
                continue;
            }
            let new = self.kept(keep(Item::Var(var)), &st.pc, var, value);
            if new != value {
                Rc::make_mut(&mut st.globals)[slot] = new;
            }
        }
        let objects: Vec<_> = match base {
            Some(base) => st.memory.differences(base).filter_map(|(id, ours, _)| Some((id, ours?.origin))).collect(),
            None => st.memory.iter().map(|(id, o)| (id, o.origin)).collect(),
        };
        for (id, origin) in objects {
            let null = match self.folding {
                Some(_) => {
                    st.memory.get(id).map_or(Vec::new(), |o| shape::null_parts(o, self.symbolic.execution.program))
                }
                None => Vec::new(),
            };
            let Some(object) = st.memory.get(id).filter(|o| !o.read_only) else { continue };
            let wants = |part, has_terms: &dyn Fn(Part) -> bool| {
                null.contains(&part)
                    || match keep(Item::Memory(origin, part)) {
                        Kept::All => true,
                        Kept::Number => !has_terms(part),
                        Kept::Nothing => false,
                    }
            };
            let lost = |part: &Part| !wants(*part, &|part| object.has_terms(part));
            let lost: Vec<Part> = object.known_parts().into_iter().filter(lost).collect();
            if !lost.is_empty() {
                let object = st.memory.get_mut(id).expect("a live object");
                object.forget_numbers(|part| wants(part, &|part| lost.contains(&part)));
            }
        }
        if !st.pc.is_empty() {
            self.forget_constraints(st, keep);
        }
    }

    /// Forgets the locals in a frame that stands before location `loc`.
    fn forget_frame(&mut self, frame: &mut Frame, loc: LocId, pc: &PathCondition, keep: &dyn Fn(Item) -> Kept) {
        let live = self.symbolic.execution.live(frame.func);
        let mut is_live = live.at(loc).iter().copied().peekable();
        for slot in 0..frame.vars.len() {
            let value = frame.vars[slot];
            let alive = is_live.next_if_eq(&(slot as u32)).is_some();
            frame.vars[slot] = match (alive, value) {
                (_, Val::Unset) => continue,
                (false, _) => Val::Unset,
                (true, _) if !self.is_droppable(value) => continue,
                (true, _) => {
                    let var = self.symbolic.execution.slots.locals[frame.func.index()][slot];
                    if self.is_null(var, value) {
                        continue;
                    }
                    self.kept(keep(Item::Var(var)), pc, var, value)
                }
            };
        }
    }

    /// Forgets in the frames below the top what `keep` does not want, down to those that `since` has as well: they were
    /// abstracted before. `at` is the location for whose precision `keep` stands, if it does.
    pub(crate) fn forget_callers(
        &mut self,
        st: &mut State,
        at: Option<LocId>,
        since: Option<&State>,
        keep: &dyn Fn(Item) -> Kept,
    ) {
        let mut old = since.map(|s| &s.frame);
        let mut frames = Vec::new();
        let mut below = None;
        let mut above = &st.frame;
        while let (Some(frame), Some(call)) = (&above.caller, above.call) {
            while let Some(o) = old.filter(|o| o.depth > frame.depth) {
                old = o.caller.as_ref();
            }
            if old.is_some_and(|o| Rc::ptr_eq(o, frame)) {
                below = Some(Rc::clone(frame));
                break;
            }
            below = at.and_then(|at| self.callers.find(frame, at));
            if below.is_some() {
                break;
            }
            frames.push((Rc::clone(frame), self.symbolic.execution.program.edges[call].target));
            above = frame;
        }
        if frames.is_empty()
            && below.as_ref().is_none_or(|b| st.frame.caller.as_ref().is_some_and(|c| Rc::ptr_eq(b, c)))
        {
            return;
        }
        // What symbols stand for is another thing each time.
        let mut at = at.filter(|_| !self.symbolic.execution.mode.names_unknowns);
        for (frame, loc) in frames.into_iter().rev() {
            let mut new = (*frame).clone();
            new.caller = below;
            at = at.filter(|_| !new.vars.iter().any(|v| matches!(v, Val::Expr(_))));
            self.forget_frame(&mut new, loc, &st.pc, keep);
            let new = Rc::new(new);
            if let Some(at) = at {
                self.callers.put(frame, at, &new);
            }
            below = Some(new);
        }
        Rc::make_mut(&mut st.frame).caller = below;
    }

    /// Whether there is something to forget of a value.
    fn is_droppable(&self, value: Val) -> bool {
        match value {
            Val::Int(_) => true,
            Val::Expr(e) => !self.forgotten.contains(&e),
            Val::Ptr(..) | Val::Unset | Val::Unknown => false,
        }
    }

    /// Where lists are folded, null is kept as addresses are: it ends them.
    fn is_null(&self, var: VarId, value: Val) -> bool {
        let program = self.symbolic.execution.program;
        self.folding.is_some() && value == Val::Int(0) && program.vars[var].width == program.layout.pointer_width
    }

    /// What is kept of a variable's value.
    fn kept(&mut self, kept: Kept, pc: &PathCondition, var: VarId, value: Val) -> Val {
        let number = if kept == Kept::Nothing { value } else { self.as_number(pc, value) };
        match (kept, number) {
            (Kept::All, value) | (Kept::Number, value @ Val::Int(_)) => value,
            _ => self.any_value(var, value),
        }
    }

    /// A tracked value as a number, if the constraints that are about to be forgotten make it one.
    fn as_number(&self, pc: &PathCondition, value: Val) -> Val {
        match value {
            Val::Expr(e) => match self.symbolic.execution.solver.bounds(&self.symbolic.execution.terms, pc, e) {
                Some((low, high)) if low == high => Val::Int(low),
                _ => value,
            },
            _ => value,
        }
    }

    fn any_value(&mut self, var: VarId, old: Val) -> Val {
        if !self.symbolic.execution.mode.names_unknowns {
            return Val::Unknown;
        }
        let width = self.symbolic.execution.program.vars[var].width;
        let (_, e) = self.symbolic.execution.terms.fresh_symbol(Sort::Bv(width));
        if self.ways.1 {
            let name = self.symbolic.execution.terms.var(var, width);
            self.names.insert((e, self.depth), name);
        } else {
            self.forgotten.insert(e);
        }
        self.replaced.push((e, old));
        Val::Expr(e)
    }

    /// What is known of addresses stays.
    fn forget_constraints(&mut self, st: &mut execution::State, keep: &dyn Fn(Item) -> Kept) {
        let conjuncts = st.pc.conjuncts();
        let source = &self.source;
        let kept: Vec<ExprId> = conjuncts
            .iter()
            .copied()
            .filter(|c| !self.of_predicates.contains(c))
            .filter(|c| source.get(c).is_none_or(|&edge| keep(Item::Constraint(edge)) == Kept::All))
            .collect();
        if kept.len() == conjuncts.len() {
            return;
        }
        let model = st.pc.model().cloned();
        let mut pc = PathCondition::new();
        for conjunct in kept {
            self.symbolic.execution.solver.assume(&mut self.symbolic.execution.terms, &mut pc, conjunct, model.clone());
        }
        st.pc = pc;
    }

    /// Everything that could be forgotten of `st` at `at`, in the order in which it is better kept: what changes in
    /// loops last, since it may take many values.
    pub(crate) fn items(&mut self, st: &State, at: Control) -> Vec<Item> {
        let mut items = Vec::new();
        let func = st.frame.func;
        let live = self.symbolic.execution.live(func);
        let locals = live
            .at(at.loc)
            .iter()
            .map(|&s| (self.symbolic.execution.slots.locals[func.index()][s as usize], st.frame.vars[s as usize]));
        let globals = self
            .symbolic
            .execution
            .read_globals()
            .iter()
            .map(|&s| (self.symbolic.execution.slots.globals[s as usize], st.globals[s as usize]));
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
                    items.push(Item::Var(self.symbolic.execution.slots.locals[f.func.index()][slot]));
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
            if let Some(&edge) = self.source.get(&conjunct) {
                items.push(Item::Constraint(edge));
            }
        }
        let precision = &self.precision;
        items.retain(|&i| !precision.is_banned(i));
        let changing: FxHashSet<VarId> =
            self.symbolic.loops.loops.iter().flat_map(|l| l.modified.iter().copied()).collect();
        items.sort_by_key(|item| (matches!(item, Item::Var(v) if changing.contains(v)), *item));
        items.dedup();
        items
    }
}
