//! The bodies of monitors.

use super::{Position, Row, STATE, Slot, WIDTH, Weaver};
use crate::automaton::{Action, Operator, Term, Transition, TransitionTarget};
use cfa::{BinOp, Check, ErrorInfo, ExprId, FuncId, LocId, Op, PlaceId, Taint, VarId, VarKind};

/// The current instance in a monitor, as local variables.
struct Instance {
    /// The index of its slot. For an instance in its initial configuration, the number of slots.
    slot: VarId,
    state: VarId,
    variables: Vec<VarId>,
}

/// The locations after a change of the instance.
struct Changed {
    /// The instance is in its initial configuration.
    first: LocId,
    other: LocId,
}

/// The body of a monitor under construction.
pub(super) struct Body<'w, 'a> {
    pub w: &'w mut Weaver<'a>,
    pub func: FuncId,
    pub given: Vec<(Position, VarId)>,
    /// For the monitor of the program's end: the source position of the end.
    pub end: Option<Option<PlaceId>>,
}

impl Body<'_, '_> {
    fn loc(&mut self) -> LocId {
        self.w.program.add_location(self.func)
    }
    fn assign(&mut self, at: LocId, var: VarId, value: ExprId) -> LocId {
        let next = self.loc();
        self.w.program.add_edge(at, Op::Assign { var, value }, next, None);
        next
    }
    fn goto(&mut self, at: LocId, to: LocId) {
        self.w.program.add_edge(at, Op::Skip, to, None);
    }
    /// Adds a branch. Returns the locations where the condition is true and where it is false.
    fn branch(&mut self, at: LocId, condition: ExprId) -> (LocId, LocId) {
        let (holds, fails) = (self.loc(), self.loc());
        self.w.program.add_branch(at, condition, holds, fails, None);
        (holds, fails)
    }
    pub fn finish(&mut self, at: LocId) {
        let sink = self.loc();
        self.w.program.add_edge(at, Op::Return { value: None }, sink, None);
    }
    pub fn give_up(&mut self, at: LocId, reason: String) -> LocId {
        self.w.approximate(at, reason, None)
    }
    fn fail(&mut self, at: LocId, message: &str) {
        let message = format!("automaton {}: {message}", self.w.automaton.name);
        let error = ErrorInfo { check: Check::Automaton, message, place: self.end.flatten() };
        let error = self.w.program.errors.push(error);
        let sink = self.loc();
        self.w.program.add_edge(at, Op::Error(error), sink, None);
    }
    /// Reports a violation by an instance. The caller of the function at which execution starts may have changed the
    /// instance before, for example locked a lock or allocated memory. A violation in the initial configuration is
    /// therefore tainted.
    fn fail_of(&mut self, mut at: LocId, instance: &Instance, message: &str) {
        if let (Some(func), true) = (self.w.within, self.w.automaton.key.is_some()) {
            let (slot, none) = (self.expr(instance.slot), self.int(STATE, self.w.slots.len() as i64));
            let is_first = self.w.program.exprs.eq(slot, none);
            let (first, known) = self.branch(at, is_first);
            let reason =
                format!("automaton {}: the events before the call of '{func}' are not known", self.w.automaton.name);
            let first = self.w.taint(first, Taint { reason, place: None, over: true, under: false });
            self.fail(first, message);
            at = known;
        }
        self.fail(at, message);
    }
    fn expr(&mut self, var: VarId) -> ExprId {
        self.w.program.var_expr(var)
    }
    fn int(&mut self, width: u32, value: i64) -> ExprId {
        self.w.program.exprs.int(width, value as u64)
    }

    fn instance(&mut self) -> Instance {
        let (byte, word, kind) = (self.w.byte, self.w.word, VarKind::Temp(self.func));
        let [slot, state] = [(); 2].map(|()| self.w.var(None, byte, STATE, kind.clone()));
        let variables =
            self.w.automaton.variables.iter().map(|_| self.w.var(None, word, WIDTH, kind.clone())).collect();
        Instance { slot, state, variables }
    }

    /// Loads the instance from a slot, or its initial configuration.
    fn take(&mut self, mut at: LocId, instance: &Instance, slot: usize) -> LocId {
        let number = self.int(STATE, slot as i64);
        at = self.assign(at, instance.slot, number);
        let (state, values) = match self.w.slots.get(slot) {
            Some(slot) => {
                let (state, variables) = (slot.state, slot.variables.clone());
                (self.expr(state), variables.into_iter().map(|v| self.expr(v)).collect::<Vec<_>>())
            }
            None => {
                let first: Vec<i64> = self.w.automaton.variables.iter().map(|(_, value)| *value).collect();
                (
                    self.int(STATE, self.w.first() as i64),
                    first.into_iter().map(|value| self.int(WIDTH, value)).collect(),
                )
            }
        };
        at = self.assign(at, instance.state, state);
        for (&var, value) in instance.variables.iter().zip(values) {
            at = self.assign(at, var, value);
        }
        at
    }

    /// Handles an event of the instance whose key is at a position.
    pub fn step(&mut self, at: LocId, key: Position, rows: &[&Row<'_>]) -> LocId {
        let instance = self.instance();
        let (found, end) = (self.loc(), self.loc());
        let key = self.given.iter().find(|(position, _)| *position == key).map(|(_, var)| *var);
        let key = key.filter(|_| self.w.automaton.key.is_some()).map(|var| {
            // Equal numbers denote the same instance, whatever the widths of their types are.
            let (value, pointer) = (self.number(var), self.w.program.layout.pointer_width);
            self.w.program.exprs.resize(pointer, value)
        });
        let last = match key {
            None => self.take(at, &instance, 0),
            Some(key) => {
                let mut at = at;
                let none = self.loc();
                for n in 0..self.w.slots.len() {
                    let (used, of_slot) = (self.expr(self.w.slots[n].used), self.expr(self.w.slots[n].key));
                    let (used, unused) = self.branch(at, used);
                    self.goto(unused, none);
                    let same = self.w.program.exprs.eq(of_slot, key);
                    let (it, other) = self.branch(used, same);
                    let it = self.take(it, &instance, n);
                    self.goto(it, found);
                    at = other;
                }
                self.goto(at, none);
                at = none;
                self.take(at, &instance, self.w.slots.len())
            }
        };
        self.goto(last, found);
        let changed = Changed { first: self.loc(), other: self.loc() };
        let at = self.transitions(found, &instance, rows, end, &changed);
        self.goto(at, end);
        self.keep(&changed, &instance, key, end);
        end
    }

    /// Tries the transitions in order. A path leads to `end` if the configuration does not change, and to `changed` if
    /// it does. Returns the location where no transition matches.
    fn transitions(
        &mut self,
        mut at: LocId,
        instance: &Instance,
        rows: &[&Row<'_>],
        end: LocId,
        changed: &Changed,
    ) -> LocId {
        for row in rows {
            let Transition { from, guard, actions, to, .. } = row.transition;
            let state = self.expr(instance.state);
            let mut is_taken = self.w.program.exprs.bool(false);
            for &from in from {
                let number = self.int(STATE, from as i64);
                let is_there = self.w.program.exprs.eq(state, number);
                is_taken = self.w.program.exprs.or(is_taken, is_there);
            }
            if let Some(guard) = guard {
                let holds = self.truth(guard, row, instance);
                is_taken = self.w.program.exprs.and(is_taken, holds);
            }
            let (mut taken, other) = self.branch(at, is_taken);
            at = other;
            for action in actions {
                taken = match action {
                    Action::Assign(n, term) => {
                        let value = self.term(term, row, instance);
                        self.assign(taken, instance.variables[*n], value)
                    }
                    Action::Assert(term, message) => {
                        let holds = self.truth(term, row, instance);
                        let (holds, fails) = self.branch(taken, holds);
                        self.fail_of(fails, instance, message);
                        holds
                    }
                };
            }
            let assigns = actions.iter().any(|action| matches!(action, Action::Assign(..)));
            match to {
                Some(TransitionTarget::Error(message)) => self.fail_of(taken, instance, message),
                Some(TransitionTarget::State(to)) if assigns || *from != [*to] => {
                    let number = self.int(STATE, *to as i64);
                    let taken = self.assign(taken, instance.state, number);
                    self.change(taken, instance, Some(*to), changed);
                }
                _ if assigns => self.change(taken, instance, None, changed),
                _ => self.goto(taken, end),
            }
        }
        at
    }

    /// Leads to a location of `changed`, depending on whether the new configuration is initial. `state` is the new
    /// state, or `None` if it did not change.
    fn change(&mut self, at: LocId, instance: &Instance, state: Option<usize>, changed: &Changed) {
        let mut is_first = match state {
            Some(state) => {
                let is_first = state == self.w.first();
                self.w.program.exprs.bool(is_first)
            }
            None => {
                let (state, first) = (self.expr(instance.state), self.int(STATE, self.w.first() as i64));
                self.w.program.exprs.eq(state, first)
            }
        };
        for (n, &var) in instance.variables.iter().enumerate() {
            let (value, first) = (self.expr(var), self.w.automaton.variables[n].1);
            let first = self.int(WIDTH, first);
            let same = self.w.program.exprs.eq(value, first);
            is_first = self.w.program.exprs.and(is_first, same);
        }
        match self.w.program.exprs.as_const(is_first).map(|value| value.is_zero()) {
            Some(is_other) => self.goto(at, if is_other { changed.other } else { changed.first }),
            None => {
                self.w.program.add_branch(at, is_first, changed.first, changed.other, None);
            }
        }
    }

    /// Stores a changed instance.
    fn keep(&mut self, changed: &Changed, instance: &Instance, key: Option<ExprId>, end: LocId) {
        let Some(key) = key else {
            for at in [changed.first, changed.other] {
                let at = self.put(at, instance, 0);
                self.goto(at, end);
            }
            return;
        };
        let mut at = changed.first;
        // The locations where a slot is freed.
        let left: Vec<LocId> = self.w.slots.iter().map(|_| self.w.program.add_location(self.func)).collect();
        for (n, &left) in left.iter().enumerate() {
            let (it, other) = self.branch_on_slot(at, instance, n);
            // The slot is written before it is freed, so that traces show the change.
            let it = self.put(it, instance, n);
            self.goto(it, left);
            at = other;
        }
        self.goto(at, end);
        for n in 0..left.len() {
            self.leave(&left, n, end);
        }
        at = changed.other;
        for n in 0..self.w.slots.len() {
            let (it, other) = self.branch_on_slot(at, instance, n);
            let it = self.put(it, instance, n);
            self.goto(it, end);
            at = other;
        }
        for n in 0..self.w.slots.len() {
            let taken = self.expr(self.w.slots[n].used);
            let (taken, free) = self.branch(at, taken);
            let Slot { used, key: var, .. } = self.w.slots[n];
            let one = self.w.program.exprs.bool(true);
            let free = self.assign(free, used, one);
            let free = self.assign(free, var, key);
            let free = self.put(free, instance, n);
            self.goto(free, end);
            at = taken;
        }
        let (name, count) = (&self.w.automaton.name, self.w.slots.len());
        let reason = format!("automaton {name}: more than {count} instances at a time (`for each … at most` more)");
        at = self.give_up(at, reason);
        self.goto(at, end);
    }

    /// Branches on whether the instance came from a slot.
    fn branch_on_slot(&mut self, at: LocId, instance: &Instance, slot: usize) -> (LocId, LocId) {
        let (from, number) = (self.expr(instance.slot), self.int(STATE, slot as i64));
        let is_it = self.w.program.exprs.eq(from, number);
        self.branch(at, is_it)
    }

    fn put(&mut self, mut at: LocId, instance: &Instance, slot: usize) -> LocId {
        let Slot { state, variables, .. } = &self.w.slots[slot];
        let (state, variables) = (*state, variables.clone());
        for (var, &from) in variables.into_iter().zip(&instance.variables) {
            let value = self.expr(from);
            at = self.assign(at, var, value);
        }
        let value = self.expr(instance.state);
        self.assign(at, state, value)
    }

    /// Frees a slot. The later slots move up, so that the used slots remain the first ones. The last used slot gets its
    /// initial values again, so that program states are equal whichever instance it stored.
    fn leave(&mut self, left: &[LocId], slot: usize, end: LocId) {
        let mut at = left[slot];
        let parts =
            |s: &Slot| -> Vec<VarId> { [s.key, s.state].into_iter().chain(s.variables.iter().copied()).collect() };
        let own = parts(&self.w.slots[slot]);
        if let Some(next) = self.w.slots.get(slot + 1) {
            let (next_used, next) = (next.used, parts(next));
            let next_used = self.expr(next_used);
            let (used, unused) = self.branch(at, next_used);
            let mut moved = used;
            for (&to, from) in own.iter().zip(next) {
                let value = self.expr(from);
                moved = self.assign(moved, to, value);
            }
            self.goto(moved, left[slot + 1]);
            at = unused;
        }
        let first =
            [0, self.w.first() as i64].into_iter().chain(self.w.automaton.variables.iter().map(|(_, value)| *value));
        let used = self.w.slots[slot].used;
        for (var, value) in [(used, 0)].into_iter().chain(own.into_iter().zip(first).collect::<Vec<_>>()) {
            let value = self.int(self.w.program.vars[var].width, value);
            at = self.assign(at, var, value);
        }
        self.goto(at, end);
    }

    /// Handles the end of the program for the instance in a slot. Leads to `none` if the slot is unused, because then
    /// all later ones are, too.
    pub fn end_of(&mut self, mut at: LocId, slot: usize, rows: &[Row<'_>], none: LocId) -> LocId {
        let end = self.loc();
        if self.w.automaton.key.is_some() {
            let used = self.expr(self.w.slots[slot].used);
            let (it, unused) = self.branch(at, used);
            self.goto(unused, none);
            at = it;
        }
        let instance = self.instance();
        at = self.take(at, &instance, slot);
        let rows: Vec<&Row<'_>> = rows.iter().collect();
        // Nothing follows the end, so the configuration is not stored.
        at = self.transitions(at, &instance, &rows, end, &Changed { first: end, other: end });
        self.goto(at, end);
        end
    }

    // Terms.

    /// Translates a term to a truth value of one bit.
    fn truth(&mut self, term: &Term, row: &Row<'_>, instance: &Instance) -> ExprId {
        match term {
            Term::Not(term) => {
                let term = self.truth(term, row, instance);
                self.w.program.exprs.not(term)
            }
            Term::Binary(operator, a, b) if matches!(operator, Operator::And | Operator::Or) => {
                let [a, b] = [a, b].map(|t| self.truth(t, row, instance));
                let exprs = &mut self.w.program.exprs;
                if *operator == Operator::And { exprs.and(a, b) } else { exprs.or(a, b) }
            }
            Term::Binary(operator, a, b) if !matches!(operator, Operator::Add | Operator::Sub | Operator::Mul) => {
                let [a, b] = [a, b].map(|t| self.term(t, row, instance));
                let exprs = &mut self.w.program.exprs;
                match operator {
                    Operator::Equal => exprs.eq(a, b),
                    Operator::Unequal => exprs.ne(a, b),
                    Operator::Less => exprs.slt(a, b),
                    Operator::LessEqual => exprs.sle(a, b),
                    Operator::Greater => exprs.slt(b, a),
                    _ => exprs.sle(b, a),
                }
            }
            _ => {
                let value = self.term(term, row, instance);
                let zero = self.int(WIDTH, 0);
                self.w.program.exprs.ne(value, zero)
            }
        }
    }

    /// Translates a term to a number.
    fn term(&mut self, term: &Term, row: &Row<'_>, instance: &Instance) -> ExprId {
        match term {
            Term::Number(number) => self.int(WIDTH, *number),
            Term::Variable(n) => self.expr(instance.variables[*n]),
            Term::Bound(name) => self.bound(name, row),
            Term::Negated(term) => {
                let value = self.term(term, row, instance);
                self.w.program.exprs.neg(value)
            }
            Term::Binary(operator @ (Operator::Add | Operator::Sub | Operator::Mul), a, b) => {
                let [a, b] = [a, b].map(|t| self.term(t, row, instance));
                let operator = match operator {
                    Operator::Add => BinOp::Add,
                    Operator::Sub => BinOp::Sub,
                    _ => BinOp::Mul,
                };
                self.w.program.exprs.binary(operator, a, b)
            }
            Term::Not(_) | Term::Binary(..) => {
                let truth = self.truth(term, row, instance);
                self.w.program.exprs.zext(WIDTH, truth)
            }
        }
    }

    /// The value that the event binds to a name, as a number of its C type.
    fn bound(&mut self, name: &str, row: &Row<'_>) -> ExprId {
        let position = row.bound().find(|(n, _)| *n == name).map(|(_, position)| position);
        let var = self.given.iter().find(|(p, _)| Some(*p) == position).map(|(_, var)| *var);
        let Some(var) = var else { return self.int(WIDTH, 0) };
        self.number(var)
    }

    /// The value of a variable, extended according to its C type.
    fn number(&mut self, var: VarId) -> ExprId {
        let value = self.expr(var);
        let ty = self.w.program.vars[var].ty;
        match self.w.is_signed(ty) {
            true => self.w.program.exprs.sext(WIDTH, value),
            false => self.w.program.exprs.zext(WIDTH, value),
        }
    }
}
