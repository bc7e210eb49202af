//! The abstraction that forgets all values and constraints outside its precision.

use super::callers::Callers;
use super::precision::{Item, Kept, Precision};
use crate::domain::symbolic::Loops;
use crate::semantics::control::Control;
use crate::semantics::{Execution, Frame, Memory, Object, Part, State, Val};
use cfa::{EdgeId, ExprId, Id, LocId, Program, Sort, VarId};
use rpds::{HashTrieMap, HashTrieSet};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::PathCondition;
use std::rc::Rc;

/// Maximal number of values of a variable at one loop head on one path, if no refinement found the variable necessary.
const IN_ADVANCE: usize = 16;

/// The values that tracked variables had at loop heads on a path.
pub type Seen = HashTrieMap<(LocId, VarId), HashTrieSet<u64>>;

/// A fresh symbol with which an abstraction replaced the value of a variable.
#[derive(Clone, Copy, Debug)]
pub struct Replaced {
    /// The symbol.
    pub symbol: ExprId,
    /// The variable.
    pub var: VarId,
    /// Its value before the abstraction.
    pub old: Val,
}

/// The abstraction by a precision over variables, memory and constraints.
pub struct ValueAbstraction {
    precision: Precision,
    /// Maximal number of values of a variable at one location on one path. A variable with more is banned from the
    /// precision. 0 means no limit.
    threshold: usize,
    /// If true, null pointers are kept like addresses, because they end lists.
    keeps_null: bool,
    /// If true, a symbol for a forgotten value is kept by later abstractions. False if predicates need a fresh symbol
    /// per abstraction.
    keeps_symbols: bool,
    /// The first assume edge of the branch that a conjunct of a path condition comes from.
    source: FxHashMap<ExprId, EdgeId>,
    /// Symbols that represent forgotten values of variables.
    forgotten: FxHashSet<ExprId>,
    callers: Callers,
}

impl ValueAbstraction {
    /// An abstraction with these options.
    pub fn new(precision: Precision, threshold: usize, keeps_null: bool, keeps_symbols: bool) -> Self {
        Self {
            precision,
            threshold,
            keeps_null,
            keeps_symbols,
            source: FxHashMap::default(),
            forgotten: FxHashSet::default(),
            callers: Callers::default(),
        }
    }

    /// The precision.
    pub fn precision(&self) -> &Precision {
        &self.precision
    }

    /// The precision, to be changed.
    pub fn precision_mut(&mut self) -> &mut Precision {
        &mut self.precision
    }

    /// Records that the newest conjuncts of `st`, all but the oldest `before`, come from the branch of `edge`.
    pub fn note_constraints(&mut self, st: &State, before: usize, edge: EdgeId) {
        let added = st.pc.len().saturating_sub(before);
        for conjunct in st.pc.iter().take(added) {
            self.source.entry(conjunct).or_insert(edge);
        }
    }

    /// Forgets what the precision does not track in `st` at the control state `at`. Parts shared with `since` are
    /// abstracted already. `is_predicate` identifies conjuncts that predicate abstraction restores. Returns the
    /// replaced values.
    pub fn abstract_state(
        &mut self,
        execution: &mut Execution<'_>,
        st: &mut State,
        at: Control,
        since: Option<&State>,
        is_predicate: &dyn Fn(ExprId) -> bool,
    ) -> Vec<Replaced> {
        let precision = std::mem::take(&mut self.precision);
        let keep = |item| precision.keeps(at.loc, item);
        self.callers.forget_others(precision.changes());
        let mut replaced = Vec::new();
        let mut forget = Forget { abstraction: self, execution, keep: &keep, is_predicate, replaced: &mut replaced };
        forget.callers(st, Some(at.loc), since);
        forget.state(st, at, since.map(|s| &s.memory));
        self.precision = precision;
        replaced
    }

    /// Forgets all items in all frames of `st` except those that `keep` selects. Returns the replaced values.
    pub fn restrict(
        &mut self,
        execution: &mut Execution<'_>,
        st: &mut State,
        at: Control,
        keep: &dyn Fn(Item) -> Kept,
        is_predicate: &dyn Fn(ExprId) -> bool,
    ) -> Vec<Replaced> {
        let mut replaced = Vec::new();
        let mut forget = Forget { abstraction: self, execution, keep, is_predicate, replaced: &mut replaced };
        forget.callers(st, None, None);
        forget.state(st, at, None);
        replaced
    }
}

impl ValueAbstraction {
    /// Removes variables with too many values on one path from the precision (Beyer, Löwe, FASE 2013, section III-F).
    /// The limit is lower for variables that no refinement found necessary.
    pub fn count_values(
        &mut self,
        execution: &Execution<'_>,
        loops: &Loops,
        st: &State,
        values: &mut Seen,
        at: Control,
    ) {
        let counts = self.threshold > 0 || self.precision.has_some_in_advance();
        if !counts || loops.headed_by(at.loc).is_none() {
            return;
        }
        let slots = &execution.slots;
        let locals = slots.locals[st.frame.func.index()].iter().zip(&st.frame.vars);
        let globals = slots.globals.iter().zip(st.globals.iter());
        let mut new = Vec::new();
        for (&var, &value) in locals.chain(globals) {
            let Val::Int(v) = value else { continue };
            let seen = values.get(&(at.loc, var));
            if self.precision.keeps(at.loc, Item::Var(var)) != Kept::Nothing
                && !seen.is_some_and(|seen| seen.contains(&v))
            {
                new.push((var, v));
            }
        }
        for (var, v) in new {
            let seen = values.get(&(at.loc, var)).cloned().unwrap_or_default().insert(v);
            let item = Item::Var(var);
            if self.precision.is_in_advance(item) && seen.size() > IN_ADVANCE {
                self.precision.give_up(item);
            }
            if self.threshold > 0 && seen.size() > self.threshold {
                self.precision.ban(item);
            }
            values.insert_mut((at.loc, var), seen);
        }
    }

    /// All items of `st` that an abstraction could forget, without locals that are dead. `live` are the live slots.
    /// Variables that loops modify come last, because they may have many values.
    pub fn items(&self, execution: &Execution<'_>, live: &[u32], loops: &Loops, st: &State) -> Vec<Item> {
        let mut items = Vec::new();
        let func = st.frame.func;
        let locals =
            live.iter().map(|&s| (execution.slots.locals[func.index()][s as usize], st.frame.vars[s as usize]));
        let globals =
            execution.read_globals().iter().map(|&s| (execution.slots.globals[s as usize], st.globals[s as usize]));
        for (var, value) in locals.chain(globals) {
            if self.is_droppable(value) {
                items.push(Item::Var(var));
            }
        }
        // Variables of callers keep the values that they had at the call.
        let mut frame = st.frame.caller.as_ref();
        while let Some(f) = frame {
            for (slot, &value) in f.vars.iter().enumerate() {
                if self.is_droppable(value) {
                    items.push(Item::Var(execution.slots.locals[f.func.index()][slot]));
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
        let changing: FxHashSet<VarId> = loops.loops.iter().flat_map(|l| l.modified.iter().copied()).collect();
        items.sort_by_key(|item| (matches!(item, Item::Var(v) if changing.contains(v)), *item));
        items.dedup();
        items
    }

    /// True if an abstraction can forget the value.
    fn is_droppable(&self, value: Val) -> bool {
        match value {
            Val::Int(_) => true,
            Val::Expr(e) => !self.forgotten.contains(&e),
            Val::Ptr(..) | Val::Unset | Val::Unknown => false,
        }
    }

    /// True if the value is a null pointer that is kept because it may end a list.
    fn is_null(&self, execution: &Execution<'_>, var: VarId, value: Val) -> bool {
        let program = execution.program;
        self.keeps_null && value == Val::Int(0) && program.vars[var].width == program.layout.pointer_width
    }
}

/// The abstraction of one state.
struct Forget<'a, 'e, 'p> {
    abstraction: &'a mut ValueAbstraction,
    execution: &'e mut Execution<'p>,
    keep: &'a dyn Fn(Item) -> Kept,
    is_predicate: &'a dyn Fn(ExprId) -> bool,
    replaced: &'a mut Vec<Replaced>,
}

impl Forget<'_, '_, '_> {
    /// Forgets dead variables, and all values and constraints that `keep` does not select. Objects shared with `base`
    /// are abstracted already.
    fn state(&mut self, st: &mut State, at: Control, base: Option<&Memory>) {
        self.frame(Rc::make_mut(&mut st.frame), at.loc, &st.pc);
        for i in 0..self.execution.read_globals().len() {
            let slot = self.execution.read_globals()[i] as usize;
            let var = self.execution.slots.globals[slot];
            let value = st.globals[slot];
            if !self.abstraction.is_droppable(value) || self.abstraction.is_null(self.execution, var, value) {
                continue;
            }
            let new = self.kept((self.keep)(Item::Var(var)), &st.pc, var, value);
            if new != value {
                Rc::make_mut(&mut st.globals)[slot] = new;
            }
        }
        let objects: Vec<_> = match base {
            Some(base) => st.memory.differences(base).filter_map(|(id, ours, _)| Some((id, ours?.origin))).collect(),
            None => st.memory.iter().map(|(id, o)| (id, o.origin)).collect(),
        };
        for (id, origin) in objects {
            let null = match self.abstraction.keeps_null {
                true => st.memory.get(id).map_or(Vec::new(), |o| null_parts(o, self.execution.program)),
                false => Vec::new(),
            };
            let Some(object) = st.memory.get(id).filter(|o| !o.read_only) else { continue };
            let wants = |part, has_terms: &dyn Fn(Part) -> bool| {
                null.contains(&part)
                    || match (self.keep)(Item::Memory(origin, part)) {
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
            self.constraints(st);
        }
    }

    /// Abstracts the frames below the top, down to the first frame that `since` shares. `at` is the location of the
    /// precision that determines `keep`, if there is one. It selects entries of the cache.
    fn callers(&mut self, st: &mut State, at: Option<LocId>, since: Option<&State>) {
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
            below = at.and_then(|at| self.abstraction.callers.find(frame, at));
            if below.is_some() {
                break;
            }
            frames.push((Rc::clone(frame), self.execution.program.edges[call].target));
            above = frame;
        }
        if frames.is_empty()
            && below.as_ref().is_none_or(|b| st.frame.caller.as_ref().is_some_and(|c| Rc::ptr_eq(b, c)))
        {
            return;
        }
        // Every abstraction replaces values by other symbols, so frames with terms are not cached.
        let mut at = at.filter(|_| !self.execution.mode.names_unknowns);
        for (frame, loc) in frames.into_iter().rev() {
            let mut new = (*frame).clone();
            new.caller = below;
            at = at.filter(|_| !new.vars.iter().any(|v| matches!(v, Val::Expr(_))));
            self.frame(&mut new, loc, &st.pc);
            let new = Rc::new(new);
            if let Some(at) = at {
                self.abstraction.callers.put(frame, at, &new);
            }
            below = Some(new);
        }
        Rc::make_mut(&mut st.frame).caller = below;
    }

    /// Abstracts the locals of a frame at location `loc`.
    fn frame(&mut self, frame: &mut Frame, loc: LocId, pc: &PathCondition) {
        let live = self.execution.live(frame.func);
        let mut is_live = live.at(loc).iter().copied().peekable();
        for slot in 0..frame.vars.len() {
            let value = frame.vars[slot];
            let alive = is_live.next_if_eq(&(slot as u32)).is_some();
            frame.vars[slot] = match (alive, value) {
                (_, Val::Unset) => continue,
                (false, _) => Val::Unset,
                (true, _) if !self.abstraction.is_droppable(value) => continue,
                (true, _) => {
                    let var = self.execution.slots.locals[frame.func.index()][slot];
                    if self.abstraction.is_null(self.execution, var, value) {
                        continue;
                    }
                    self.kept((self.keep)(Item::Var(var)), pc, var, value)
                }
            };
        }
    }

    /// The abstraction of a variable's value.
    fn kept(&mut self, kept: Kept, pc: &PathCondition, var: VarId, value: Val) -> Val {
        let number = if kept == Kept::Nothing { value } else { self.as_number(pc, value) };
        match (kept, number) {
            (Kept::All, value) | (Kept::Number, value @ Val::Int(_)) => value,
            _ => self.any_value(var, value),
        }
    }

    /// A value as a constant if the path condition, which is about to be forgotten, implies one.
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
        if self.abstraction.keeps_symbols {
            self.abstraction.forgotten.insert(e);
        }
        self.replaced.push(Replaced { symbol: e, var, old });
        Val::Expr(e)
    }

    /// Forgets constraints. Constraints on addresses are kept.
    fn constraints(&mut self, st: &mut State) {
        let conjuncts = st.pc.conjuncts();
        let source = &self.abstraction.source;
        let kept: Vec<ExprId> = conjuncts
            .iter()
            .copied()
            .filter(|c| !(self.is_predicate)(*c))
            .filter(|c| source.get(c).is_none_or(|&edge| (self.keep)(Item::Constraint(edge)) == Kept::All))
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
}

/// The parts of an object that contain a null pointer, or zeros of that size.
fn null_parts(object: &Object, program: &Program) -> Vec<Part> {
    let bytes = program.layout.pointer_width.div_ceil(8);
    let known = object.known_parts();
    let is_null = |part: Part| {
        let start = part.offset().unwrap_or(u64::MAX) / u64::from(bytes) * u64::from(bytes);
        part != Part::WHOLE && object.read_whole(start, bytes) == Some(Val::Int(0))
    };
    known.into_iter().filter(|&part| is_null(part)).collect()
}
