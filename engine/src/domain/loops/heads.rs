//! Loops replaced by invariants: arrival at loop heads, and exits from loops.

use super::state::{Activation, Role, State};
use super::walks::Bounds;
use super::{Stop, Unrolling, entry};
use crate::semantics::{ObjId, Val, Write};
use crate::verdict::Reason;
use cfa::{EdgeId, Sort, Value, VarId};
use std::rc::Rc;

impl Unrolling<'_> {
    /// Ends the loops that the path leaves over `edge`. Returns `false` if the path is to be dropped.
    pub(super) fn leave_loops(&mut self, st: &mut State, edge: EdgeId) -> bool {
        let target = self.symbolic.execution.program.edges[edge].target;
        let iterations = self.assumptions.iterations;
        while let Some(&Activation { number, depth, role, .. }) = st.nest.active.last() {
            let inside = st.frame.depth > depth
                || st.frame.depth == depth
                    && self.symbolic.loops.loops.get(number as usize).is_none_or(|l| l.body.contains(&target));
            if inside {
                break;
            }
            if matches!(role, Role::Any(iteration) if iteration < iterations) {
                return false;
            }
            self.deactivate(st);
        }
        true
    }

    /// Handles an arrival at the head of a loop over `edge`. Returns the state that continues, if there is one. Further
    /// states go to `siblings`.
    pub(super) fn come_to_loop(&mut self, mut st: State, edge: EdgeId, number: u32) -> Result<Option<State>, Stop> {
        if !self.leave_loops(&mut st, edge) {
            return Ok(None);
        }
        let (bounded, iterations) = (self.assumptions.bounded, self.assumptions.iterations);
        let l = &self.symbolic.loops.loops[number as usize];
        if l.irreducible && !bounded {
            return Err(Stop::Fatal(Reason::new("a loop has two entries")));
        }
        let inside = l.body.contains(&self.symbolic.execution.program.edges[edge].source);
        let last = st.nest.active.last().filter(|a| inside && a.number == number && a.depth == st.frame.depth);
        let back = last.copied();
        let iteration = |st: &mut State, role| {
            let active = Rc::make_mut(&mut st.nest.active);
            active.last_mut().expect("the loop is active").role = role;
        };
        if bounded {
            return Ok(match back.map(|a| a.role) {
                None => {
                    self.activate(&mut st, number, Role::First(1));
                    Some(st)
                }
                Some(Role::First(n)) if n < iterations => {
                    iteration(&mut st, Role::First(n + 1));
                    Some(st)
                }
                Some(_) => {
                    self.assumptions.cut = true;
                    None
                }
            });
        }
        match back.map(|a| a.role) {
            None => entry::enter_loop(self, st, number),
            Some(Role::Followed(n)) => Ok(entry::follow_on(self, st, number, n)),
            Some(Role::First(n)) => {
                self.check_candidates(&mut st, number);
                Bounds::new(self, number).check(&mut st);
                self.check_pointers(&st, number);
                if n + 1 >= iterations {
                    return Ok(None);
                }
                iteration(&mut st, Role::First(n + 1));
                Ok(Some(st))
            }
            Some(Role::Any(n)) if n < iterations => {
                self.check_pointers(&st, number);
                self.assume_place(&mut st, number);
                iteration(&mut st, Role::Any(n + 1));
                Ok(Some(st))
            }
            Some(_) => {
                self.check_candidates(&mut st, number);
                Bounds::new(self, number).check(&mut st);
                self.check_pointers(&st, number);
                Ok(None)
            }
        }
    }

    /// Checks that pointers stay in the objects that they pointed into at the entry, and drops the assumption for those
    /// that do not.
    pub(super) fn check_pointers(&mut self, st: &State, number: u32) {
        for var in self.symbolic.loops.modified(number).to_vec() {
            self.check_pointer(st, number, var);
        }
    }

    pub(super) fn check_pointer(&mut self, st: &State, number: u32, var: VarId) {
        let Some(&(_, object)) = st.nest.anchors.iter().rev().find(|(v, _)| *v == (number, var)) else { return };
        let value = self.symbolic.execution.read_var(st, var);
        if self.symbolic.execution.terms.object_of(value) != Some(object) && self.place(number).roaming.insert(var) {
            self.drop_assumption();
        }
    }

    /// Records the objects of the pointers that are assumed to stay in them.
    pub(super) fn anchor(&mut self, st: &mut State, number: u32) {
        for var in self.symbolic.loops.modified(number).to_vec() {
            if self.place(number).roaming.contains(&var) {
                continue;
            }
            let value = self.symbolic.execution.read_var(st, var);
            if let Some(object) = self.symbolic.execution.terms.object_of(value) {
                Rc::make_mut(&mut st.nest.anchors).push(((number, var), object));
            }
        }
    }

    /// The state at an arbitrary arrival at the head or entry: all that may be modified becomes unknown, and the
    /// assumptions hold. [`anchor`](Self::anchor) must have recorded the objects of the pointers.
    pub(super) fn any(&mut self, mut st: State, number: u32, role: Role) -> State {
        let mut model = st.pc.model().cloned();
        let mut new_symbols = Vec::new();
        for var in self.symbolic.loops.modified(number).to_vec() {
            let value = self.symbolic.execution.read_var(&st, var);
            let width = self.symbolic.execution.program.vars[var].width;
            let object = match self.place(number).roaming.contains(&var) {
                true => None,
                false => self.symbolic.execution.terms.object_of(value),
            };
            let (_, fresh) = self.symbolic.execution.terms.fresh_symbol(Sort::Bv(width));
            new_symbols.push(fresh);
            // The values at the entry satisfy the invariants, so the model assigns them to the fresh symbols.
            if let Some(m) = &mut model
                && !matches!(value, Val::Unset | Val::Unknown)
            {
                let mut old = self.symbolic.execution.terms.term(value, width);
                if let Some(object) = object {
                    let base = self.symbolic.execution.terms.base(object);
                    old = self.symbolic.execution.terms.sub(old, base);
                }
                let old = m.eval(&self.symbolic.execution.terms, old);
                m.set(fresh, Value::Bv(old));
            }
            let new = match object {
                Some(object) => {
                    let base = self.symbolic.execution.terms.base(object);
                    self.symbolic.execution.terms.add(base, fresh)
                }
                None => fresh,
            };
            self.symbolic.execution.write_var(&mut st, var, Val::Expr(new));
        }
        self.forget_written(&mut st, number);
        self.activate(&mut st, number, role);
        let holds = self.symbolic.execution.terms.bool(true);
        self.symbolic.execution.solver.assume(&mut self.symbolic.execution.terms, &mut st.pc, holds, model);
        let terms = self.place_terms(&st, number);
        let modified = self.symbolic.loops.modified(number).to_vec();
        self.assume_all(&mut st, terms, new_symbols, &modified);
        Bounds::new(self, number).assume(&mut st);
        self.assume_cells(&mut st, number);
        st
    }

    /// Makes the content of all objects unknown that the loop or recursion writes.
    pub(super) fn forget_written(&mut self, st: &mut State, number: u32) {
        let origins = &self.assumptions.places[number as usize].written;
        let written: Vec<ObjId> =
            st.memory.iter().filter(|(_, o)| origins.contains(&o.origin)).map(|(id, _)| id).collect();
        for object in written {
            let origin = st.memory.get(object).expect("a live object").origin;
            self.changes(&st.nest.clone(), st.frame.depth, Write { object, origin, frees: false });
            st.memory.get_mut(object).expect("a live object").forget();
        }
    }
}
