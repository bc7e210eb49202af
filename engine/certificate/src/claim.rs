//! What is asked of the solver.

use super::*;
use cfa::Value;
use smt::{Answer, Solver};

/// Addresses in a question of which it is told that their objects do not overlap.
const ADDRESSES: usize = 24;
/// Addresses below this one are no object's.
const LOWEST: u64 = 4096;

impl Checker<'_> {
    /// Shows that a condition holds of all executions in `st`. What is claimed in an early iteration holds.
    pub(super) fn claim(&mut self, st: &mut State, holds: ExprId, what: &str) -> Checked {
        if self.early > 0 {
            self.assume(st, holds);
            return Ok(());
        }
        let violated = self.pool.not(holds);
        let question = self.pool.and(st.pc, violated);
        self.refute(question, self.certificate.of_variables, what)
    }

    /// Shows that there is no execution in `st`; else the check ends for the reason given.
    pub(super) fn never(&mut self, st: &mut State, why: &str) -> Checked {
        match self.refute(st.pc, false, why) {
            Ok(()) => {
                st.pc = self.pool.bool(false);
                Ok(())
            }
            Err(_) => declined(why),
        }
    }

    /// Shows that a condition has no model.
    fn refute(&mut self, question: ExprId, is_modelled: bool, what: &str) -> Checked {
        if self.pool.is_false(question) {
            return Ok(());
        }
        let mut all = cells::instances(self, question);
        all.push(question);
        let addresses = self.addresses(&all);
        all.extend(self.about_addresses(&addresses));
        self.solver.push();
        for &e in &all {
            self.solver.assert(&self.pool, e);
        }
        let answer = self.solver.check(&self.pool, &[], self.budget);
        let result = match answer {
            Answer::Unsat => Ok(()),
            Answer::Unknown(_) => declined("the solver did not answer in time"),
            Answer::Sat => {
                let mut modelled = is_modelled;
                self.pool.visit(question, &mut FxHashSet::default(), |e, node| {
                    modelled &= !self.unmodelled.contains(&e)
                        && !matches!(node, Expr::GlobalAddr(_) | Expr::FuncAddr(_) | Expr::Select { .. });
                });
                match (modelled, self.solver.value(&self.pool, question)) {
                    (true, Value::Bv(v)) if v.is_true() => Err(Failure::Refuted(what.to_owned())),
                    (true, _) => declined("the solver approximates floats"),
                    (false, _) => Err(Failure::Declined(format!("{what}, as far as memory is known"))),
                }
            }
        };
        self.solver.pop(1);
        result
    }

    /// The addresses of objects and functions that conditions speak of.
    fn addresses(&self, conditions: &[ExprId]) -> Vec<ExprId> {
        let (mut seen, mut all) = (FxHashSet::default(), Vec::new());
        for &e in conditions {
            self.pool.visit(e, &mut seen, |e, node| {
                if matches!(node, Expr::FuncAddr(_)) || self.by_base.contains_key(&e) {
                    all.push(e);
                }
            });
        }
        all.sort_unstable();
        all
    }

    /// What holds of addresses: none is null, objects are aligned and do not wrap around, and those that are alive at the same
    /// time do not overlap. Of two objects of the heap nothing is said: a program from which operations were taken may have lost
    /// the one that freed the first.
    fn about_addresses(&mut self, addresses: &[ExprId]) -> Vec<ExprId> {
        let width = self.pointer_width();
        let mut all = Vec::new();
        let lowest = self.pool.int(width, LOWEST);
        for (i, &address) in addresses.iter().enumerate() {
            all.push(self.pool.ule(lowest, address));
            let Some(&object) = self.by_base.get(&address) else {
                for &other in addresses[..i].iter().take(ADDRESSES) {
                    if matches!(self.pool.get(other), Expr::FuncAddr(_)) {
                        all.push(self.pool.ne(address, other));
                    }
                }
                continue;
            };
            let About { size, align, made, .. } = self.objects[object as usize];
            let elsewhere = self.pool.not(made);
            let negated = self.pool.neg(size);
            let zero = self.pool.int(width, 0);
            let (is_empty, before_end) = (self.pool.eq(size, zero), self.pool.ule(address, negated));
            let ends = self.pool.or(is_empty, before_end);
            let mut holds = vec![ends];
            if align > 1 {
                let bits = align.trailing_zeros();
                let (low, zero) = (self.pool.extract(bits - 1, 0, address), self.pool.int(bits, 0));
                holds.push(self.pool.eq(low, zero));
            }
            for holds in holds {
                all.push(self.pool.or(elsewhere, holds));
            }
            for &other in addresses[..i].iter().take(ADDRESSES) {
                if let Some(&other) = self.by_base.get(&other) {
                    all.extend(self.apart(object.min(other), object.max(other)));
                }
            }
        }
        all
    }

    /// That two objects do not overlap, of which the second was made while the first was alive.
    fn apart(&mut self, first: Object, second: Object) -> Option<ExprId> {
        let (a, b) = (&self.objects[first as usize], &self.objects[second as usize]);
        if let (Kind::Heap(_), Kind::Heap(_)) = (a.kind, b.kind) {
            return None;
        }
        let is_global = matches!(a.site, Site::Global(_));
        let alive = match b.before.get(&first) {
            Some(slot) => slot.alive,
            None if is_global => self.pool.bool(true),
            None => return None,
        };
        let (base_a, size_a, base_b, size_b, made) = (a.base, a.size, b.base, b.size, b.made);
        let (end_a, end_b) = (self.pool.add(base_a, size_a), self.pool.add(base_b, size_b));
        let (before, behind) = (self.pool.ule(end_a, base_b), self.pool.ule(end_b, base_a));
        let apart = self.pool.or(before, behind);
        let differ = self.pool.ne(base_a, base_b);
        let holds = self.pool.and(apart, differ);
        let together = self.pool.and(made, alive);
        let not = self.pool.not(together);
        Some(self.pool.or(not, holds))
    }
}
