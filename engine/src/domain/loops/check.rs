//! Candidates: how they are assumed, checked, and dropped when they fail.

use super::Unrolling;
use super::state::{Activation, Role, State};
use super::walks::Bounds;
use super::{QUERY_TIME, polynomial};
use crate::semantics::Val;
use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, Sort, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::{Feasibility, PathCondition};
use std::hash::Hash;
use std::time::Duration;

/// Time for a query about several candidates at a place. [`ALONE`] is the time for a query about one of them.
const TOGETHER: Duration = Duration::from_millis(600);
const ALONE: Duration = Duration::from_millis(300);
/// Maximal number of nonlinear terms that are replaced by unknowns.
const HARD: usize = 40;

impl Unrolling<'_> {
    /// Drops the candidates that do not hold in `st`.
    pub(super) fn check_candidates(&mut self, st: &mut State, number: u32) {
        if self.is_early_before(st, number) {
            return;
        }
        let candidates = self.place(number).candidates.clone();
        let mut wrong = FxHashSet::default();
        let mut open = Vec::new();
        for candidate in candidates {
            if self.is_set(st, candidate) {
                open.push((candidate, self.symbolic.execution.eval(st, candidate)));
            } else {
                wrong.insert(candidate);
            }
        }
        self.refute(st, open, &mut wrong);
        if !wrong.is_empty() {
            self.place(number).candidates.retain(|c| !wrong.contains(c));
            self.drop_assumption();
        }
        self.check_cells(st, number);
    }

    /// True if the path is in an early iteration of a loop around the place of this number.
    fn is_early_before(&self, st: &State, number: u32) -> bool {
        let iterations = self.assumptions.iterations;
        let early = |a: &Activation| matches!(a.role, Role::Any(iteration) if iteration < iterations);
        match st.nest.active.last() {
            Some(a) if a.number == number => st.nest.active[..st.nest.active.len() - 1].iter().any(early),
            _ => st.nest.active.iter().any(early),
        }
    }

    /// Adds to `wrong` the candidates that do not hold in `st`, or could not be proved in time.
    pub(super) fn refute<K: Copy + Eq + Hash>(
        &mut self,
        st: &mut State,
        candidates: Vec<(K, Val)>,
        wrong: &mut FxHashSet<K>,
    ) {
        let mut open: Vec<(K, ExprId)> = Vec::new();
        let equations = equations(&self.symbolic.execution.terms, &st.pc);
        for (candidate, value) in candidates {
            let value = match value {
                Val::Expr(term) => {
                    let term = self.align_powers(st, term);
                    self.symbolic.execution.terms.classify(term)
                }
                other => other,
            };
            match value {
                Val::Int(0) | Val::Unknown | Val::Unset => {
                    wrong.insert(candidate);
                }
                Val::Expr(term) if polynomial::is_identity(&self.symbolic.execution.terms, term) => {}
                Val::Expr(term) if polynomial::follows(&mut self.symbolic.execution.terms, term, &equations) => {}
                Val::Expr(term) => {
                    self.symbolic.execution.expose(st, term);
                    open.push((candidate, term));
                }
                Val::Int(_) | Val::Ptr(..) => {}
            }
        }
        self.settle_linearly(st, &mut open);
        // One query for all candidates. If it is too hard for the solver, they are split.
        let mut parts = vec![open];
        while let Some(part) = parts.pop() {
            if part.is_empty() {
                continue;
            }
            self.symbolic.execution.solver.set_query_time(Some(if part.len() == 1 { ALONE } else { TOGETHER }));
            let all = self.symbolic.execution.terms.bool(true);
            let all = part.iter().fold(all, |all, &(_, term)| self.symbolic.execution.terms.and(all, term));
            let violated = self.symbolic.execution.terms.not(all);
            let answer = self.symbolic.execution.solver.check(&mut self.symbolic.execution.terms, &st.pc, violated);
            let before = part.len();
            let mut left = part;
            match answer {
                Feasibility::Infeasible => continue,
                Feasibility::Feasible(model) => {
                    let mut holds = |&(candidate, term): &(K, ExprId)| {
                        let holds = model.eval(&self.symbolic.execution.terms, term).is_true();
                        if !holds {
                            wrong.insert(candidate);
                        }
                        holds
                    };
                    left.retain(&mut holds);
                    parts.iter_mut().for_each(|p| p.retain(&mut holds));
                }
                Feasibility::Unknown(_) if self.symbolic.execution.solver.spent().is_some() => {
                    // The run is out of time, and its result is void.
                    self.drop_assumption();
                    break;
                }
                Feasibility::Unknown(_) => {}
            }
            if left.len() < before {
                parts.push(left);
            } else if before == 1 {
                wrong.insert(left[0].0);
            } else {
                let rest = left.split_off(before / 2);
                parts.extend([rest, left]);
            }
        }
        self.symbolic.execution.solver.set_query_time(Some(QUERY_TIME));
    }

    /// Removes from `open` the candidates that hold for arbitrary values of products, quotients and remainders of
    /// unknowns within simple bounds. If these terms are bit-blasted, solvers are slow even on parts that do not depend
    /// on them (Cimatti et al.: Incremental linearization for satisfiability modulo nonlinear arithmetic, ACM TOCL
    /// 2018).
    fn settle_linearly<K>(&mut self, st: &State, open: &mut Vec<(K, ExprId)>) {
        let conjuncts = st.pc.conjuncts();
        let mut hard = Vec::new();
        let mut seen = FxHashSet::default();
        for e in conjuncts.iter().copied().chain(open.iter().map(|(_, term)| *term)) {
            self.symbolic.execution.terms.visit(e, &mut seen, |e, node| {
                if let Expr::Binary(op, a, b) = *node
                    && is_hard(&self.symbolic.execution.terms, op, a, b)
                {
                    hard.push((e, op, a, b));
                }
            });
        }
        if hard.is_empty() || hard.len() > HARD {
            return;
        }
        // Inner terms come first, so they are replaced before the terms around them.
        let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let mut facts = Vec::new();
        for (e, op, a, b) in hard {
            let width = self.symbolic.execution.terms.width(e);
            let (_, unknown) = self.symbolic.execution.terms.fresh_symbol(Sort::Bv(width));
            let a = self.symbolic.execution.terms.substitute(a, &mut replaced, |_, _| None);
            let b = self.symbolic.execution.terms.substitute(b, &mut replaced, |_, _| None);
            bounds(&mut self.symbolic.execution.terms, op, (a, b), unknown, &mut facts);
            replaced.insert(e, unknown);
        }
        let mut pc = PathCondition::new();
        for conjunct in conjuncts {
            let conjunct = self.symbolic.execution.terms.substitute(conjunct, &mut replaced, |_, _| None);
            self.symbolic.execution.solver.assume(&mut self.symbolic.execution.terms, &mut pc, conjunct, None);
        }
        for fact in facts {
            self.symbolic.execution.solver.assume(&mut self.symbolic.execution.terms, &mut pc, fact, None);
        }
        self.symbolic.execution.solver.set_query_time(Some(ALONE));
        open.retain(|(_, term)| {
            let term = self.symbolic.execution.terms.substitute(*term, &mut replaced, |_, _| None);
            let violated = self.symbolic.execution.terms.not(term);
            !self.symbolic.execution.solver.check(&mut self.symbolic.execution.terms, &pc, violated).is_infeasible()
        });
        self.symbolic.execution.solver.set_query_time(Some(QUERY_TIME));
    }

    /// Rewrites a power of two as a multiple of another one in the term, if the path condition permits it. Solvers are
    /// slow to see that `1 << x` is twice `1 << (x - 1)` unless `x` is zero.
    fn align_powers(&mut self, st: &State, term: ExprId) -> ExprId {
        let mut powers = Vec::new();
        self.symbolic.execution.terms.visit(term, &mut FxHashSet::default(), |e, node| {
            if let Expr::Binary(BinOp::Shl, one, by) = *node
                && self.symbolic.execution.terms.as_const(one).is_some_and(Bv::is_one)
            {
                powers.push((e, by));
            }
        });
        for (i, &(large, x)) in powers.iter().enumerate() {
            for &(small, y) in powers[..i].iter().chain(&powers[i + 1..]) {
                let width = self.symbolic.execution.terms.width(x);
                if self.symbolic.execution.terms.width(y) != width || width > 64 {
                    continue;
                }
                let difference = self.symbolic.execution.terms.sub(x, y);
                let Some(d @ 1..8) = self.symbolic.execution.terms.as_const(difference).and_then(Bv::to_u64) else {
                    continue;
                };
                // If `x` is the width or more, both sides are zero.
                let least = self.symbolic.execution.terms.int(width, d);
                let below = self.symbolic.execution.terms.ult(x, least);
                if !self
                    .symbolic
                    .execution
                    .solver
                    .check(&mut self.symbolic.execution.terms, &st.pc, below)
                    .is_infeasible()
                {
                    continue;
                }
                let factor = self.symbolic.execution.terms.int(width, 1 << d);
                let multiple = self.symbolic.execution.terms.mul(factor, small);
                let mut memo = FxHashMap::from_iter([(large, multiple)]);
                return self.symbolic.execution.terms.substitute(term, &mut memo, |_, _| None);
            }
        }
        term
    }

    /// Assumes the facts and candidates at the place.
    pub(super) fn assume_place(&mut self, st: &mut State, number: u32) {
        let terms = self.place_terms(st, number);
        self.assume_all(st, terms, Vec::new(), &[]);
        Bounds::new(self, number).assume(st);
        self.assume_cells(st, number);
    }

    pub(super) fn place_terms(&mut self, st: &State, number: u32) -> Vec<ExprId> {
        let place = self.place(number);
        let all: Vec<ExprId> = place.facts.iter().chain(&place.candidates).copied().collect();
        let term = |e| match self.is_set(st, e).then(|| self.symbolic.execution.eval(st, e)) {
            Some(Val::Expr(term)) => Some(term),
            _ => None,
        };
        all.into_iter().filter_map(term).collect()
    }

    /// True if all variables in `e` have values. A candidate may mention a variable that the program does not read
    /// before it is set.
    pub(super) fn is_set(&self, st: &State, e: ExprId) -> bool {
        self.symbolic.execution.terms.vars(e).into_iter().all(|v| self.symbolic.execution.read_var(st, v) != Val::Unset)
    }

    /// Assumes all `terms`. The symbols `fresh` occur only in them and in the variables `places`. If an equation
    /// defines one of the symbols, its definition replaces it.
    pub(super) fn assume_all(
        &mut self,
        st: &mut State,
        mut terms: Vec<ExprId>,
        mut fresh: Vec<ExprId>,
        places: &[VarId],
    ) {
        while let Some((i, (symbol, meaning))) = terms
            .iter()
            .enumerate()
            .find_map(|(i, &e)| Some((i, polynomial::definition(&mut self.symbolic.execution.terms, e, &fresh)?)))
        {
            terms.remove(i);
            fresh.retain(|&s| s != symbol);
            let mut memo = FxHashMap::default();
            let mut replace =
                |pool: &mut ExprPool, e| pool.substitute(e, &mut memo, |_, leaf| (leaf == symbol).then_some(meaning));
            terms.iter_mut().for_each(|e| *e = replace(&mut self.symbolic.execution.terms, *e));
            for &var in places {
                if let Val::Expr(e) = self.symbolic.execution.read_var(st, var) {
                    let e = replace(&mut self.symbolic.execution.terms, e);
                    let value = self.symbolic.execution.terms.classify(e);
                    self.symbolic.execution.write_var(st, var, value);
                }
            }
        }
        for term in terms {
            self.symbolic.execution.expose(st, term);
            self.symbolic.execution.solver.assume(&mut self.symbolic.execution.terms, &mut st.pc, term, None);
        }
    }
}

/// True if bit-blasting the operation is expensive.
fn is_hard(pool: &ExprPool, op: BinOp, a: ExprId, b: ExprId) -> bool {
    match op {
        BinOp::Mul => pool.as_const(a).is_none() && pool.as_const(b).is_none(),
        BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem => pool.as_const(b).is_none(),
        _ => false,
    }
}

/// Adds bounds of the result `r` of a quotient or remainder of arbitrary `a` and `b`.
fn bounds(pool: &mut ExprPool, op: BinOp, (a, b): (ExprId, ExprId), r: ExprId, facts: &mut Vec<ExprId>) {
    let width = pool.width(r);
    let zero = pool.int(width, 0);
    let mut implies = |pool: &mut ExprPool, condition: ExprId, then: ExprId| {
        let not = pool.not(condition);
        facts.push(pool.or(not, then));
    };
    match op {
        BinOp::URem => {
            let (divides, less, at_most) = (pool.ne(b, zero), pool.ult(r, b), pool.ule(r, a));
            implies(pool, divides, less);
            let always = pool.bool(true);
            implies(pool, always, at_most);
        }
        BinOp::UDiv => {
            let (divides, at_most) = (pool.ne(b, zero), pool.ule(r, a));
            implies(pool, divides, at_most);
        }
        BinOp::SRem => {
            // The remainder has the sign of `a`, and a smaller or equal magnitude.
            let (positive, low, high) = (pool.sle(zero, a), pool.sle(zero, r), pool.sle(r, a));
            let between = pool.and(low, high);
            implies(pool, positive, between);
            let (negative, low, high) = (pool.slt(a, zero), pool.sle(a, r), pool.sle(r, zero));
            let between = pool.and(low, high);
            implies(pool, negative, between);
            let (divisor, least, high) = (pool.slt(zero, b), pool.neg(b), pool.slt(r, b));
            let low = pool.slt(least, r);
            let between = pool.and(low, high);
            implies(pool, divisor, between);
        }
        BinOp::SDiv => {
            let (positive, divisor) = (pool.sle(zero, a), pool.slt(zero, b));
            let (both, low, high) = (pool.and(positive, divisor), pool.sle(zero, r), pool.sle(r, a));
            let between = pool.and(low, high);
            implies(pool, both, between);
        }
        _ => {}
    }
}

/// The equations over more than one bit that are conjuncts of the path condition, or pairs of inequalities in it.
fn equations(pool: &ExprPool, pc: &PathCondition) -> Vec<(ExprId, ExprId)> {
    let mut equations = Vec::new();
    let mut at_most = FxHashSet::default();
    for conjunct in pc.iter() {
        match *pool.get(conjunct) {
            Expr::Binary(BinOp::Eq, a, b) if pool.width(a) > 1 => equations.push((a, b)),
            Expr::Binary(op @ (BinOp::Sle | BinOp::Ule), a, b) => {
                if at_most.contains(&(op, b, a)) {
                    equations.push((a, b));
                }
                at_most.insert((op, a, b));
            }
            _ => {}
        }
    }
    equations
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds of quotients and remainders hold for all numbers of four bits.
    #[test]
    fn bounds_hold() {
        for op in [BinOp::UDiv, BinOp::URem, BinOp::SDiv, BinOp::SRem] {
            for (a, b) in (0..16).flat_map(|a| (0..16).map(move |b| (a, b))) {
                let mut pool = ExprPool::new();
                let (a, b) = (Bv::new(4, a), Bv::new(4, b));
                let r = op.apply(&a, &b);
                let (x, y, z) = (pool.constant(a), pool.constant(b), pool.constant(r));
                let mut facts = Vec::new();
                bounds(&mut pool, op, (x, y), z, &mut facts);
                assert!(!facts.is_empty());
                assert!(facts.into_iter().all(|f| pool.is_true(f)), "{op:?}");
            }
        }
    }
}
