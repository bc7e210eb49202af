//! Queries to the solver.

use super::*;
use cfa::Value;
use smt::{Answer, Solver};

/// Largest number of addresses in a query for which disjointness is asserted.
const ADDRESSES: usize = 24;
/// The lowest address of an object.
const LOWEST: u64 = 4096;

impl Checker<'_> {
    /// Proves that a condition holds in all executions of `st`. In early iterations, the condition is assumed instead.
    pub(super) fn claim(&mut self, st: &mut State, holds: ExprId, what: &str) -> Checked {
        if self.early > 0 {
            self.assume(st, holds);
            return Ok(());
        }
        let violated = self.pool.not(holds);
        let question = self.pool.and(st.pc, violated);
        self.refute(question, self.certificate.of_variables, what)
    }

    /// Proves that `st` has no executions. Otherwise, the check is declined with the reason `why`.
    pub(super) fn never(&mut self, st: &mut State, why: &str) -> Checked {
        match self.refute(st.pc, false, why) {
            Ok(()) => {
                st.pc = self.pool.bool(false);
                Ok(())
            }
            Err(_) => declined(why),
        }
    }

    /// Proves that a condition is unsatisfiable.
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
                    (false, _) => Err(Failure::Declined(format!("{what}, with the facts about memory that it has"))),
                }
            }
        };
        self.solver.pop(1);
        result
    }

    /// The addresses of objects and functions that occur in conditions.
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

    /// Axioms about addresses: they are not null, objects are aligned and do not wrap around, and objects that are
    /// alive at the same time do not overlap. There is no axiom for two heap objects: a slice may lack the operation
    /// that freed the first one.
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

    /// The axiom that two objects do not overlap if the second was allocated while the first was alive.
    fn apart(&mut self, first: Object, second: Object) -> Option<ExprId> {
        let (a, b) = (&self.objects[first as usize], &self.objects[second as usize]);
        if let (ObjectKind::Heap(_), ObjectKind::Heap(_)) = (a.kind, b.kind) {
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
