//! Candidates are assumed, checked, and dropped where they do not hold.

use super::super::SymbolicExecution;
use super::super::state::{Activation, Role, State};
use super::super::value::Val;
use super::{QUERY_TIME, polynomial};
use crate::solver::Feasibility;
use cfa::{ExprId, ExprPool, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Duration;

/// For a query about several candidates at a place, and about one of them.
const TOGETHER: Duration = Duration::from_millis(600);
const ALONE: Duration = Duration::from_millis(300);

impl SymbolicExecution<'_> {
    /// Drops the candidates that do not hold in `st`.
    pub(super) fn check_candidates(&mut self, st: &mut State, number: u32) {
        if self.is_early_before(st, number) {
            return;
        }
        let candidates = self.assumptions(number).candidates.clone();
        let open = candidates.into_iter().map(|c| (c, self.eval(st, c))).collect();
        let mut wrong = FxHashSet::default();
        self.refute(st, open, &mut wrong);
        if !wrong.is_empty() {
            self.assumptions(number).candidates.retain(|c| !wrong.contains(c));
            self.drop_assumption();
        }
    }

    /// Whether the path is in an early turn of a loop around the place of this number.
    fn is_early_before(&self, st: &State, number: u32) -> bool {
        let turns = self.induction.as_ref().map_or(1, |i| i.turns);
        let early = |a: &Activation| matches!(a.role, Role::Any(turn) if turn < turns);
        match st.active.last() {
            Some(a) if a.number == number => st.active[..st.active.len() - 1].iter().any(early),
            _ => st.active.iter().any(early),
        }
    }

    /// Adds to `wrong` the candidates whose values are not all ones in `st`.
    pub(super) fn refute(&mut self, st: &mut State, candidates: Vec<(ExprId, Val)>, wrong: &mut FxHashSet<ExprId>) {
        let mut open: Vec<(ExprId, ExprId)> = Vec::new();
        for (candidate, value) in candidates {
            match value {
                Val::Int(0) | Val::Unknown | Val::Unset => {
                    wrong.insert(candidate);
                }
                Val::Expr(term) if polynomial::is_identity(&self.pool, term) => {}
                Val::Expr(term) => {
                    self.expose(st, term);
                    open.push((candidate, term));
                }
                Val::Int(_) | Val::Ptr(..) => {}
            }
        }
        // All in one question; where that is too much for the solver, in parts.
        let mut parts = vec![open];
        while let Some(part) = parts.pop() {
            if part.is_empty() {
                continue;
            }
            self.solver.set_query_time(Some(if part.len() == 1 { ALONE } else { TOGETHER }));
            let all = self.pool.bool(true);
            let all = part.iter().fold(all, |all, &(_, term)| self.pool.and(all, term));
            let violated = self.pool.not(all);
            let answer = self.solver.check(&mut self.pool, &st.pc, violated);
            let before = part.len();
            let mut left = part;
            match answer {
                Feasibility::Infeasible => continue,
                Feasibility::Feasible(model) => {
                    let mut holds = |&(candidate, term): &(ExprId, ExprId)| {
                        let holds = model.eval(&self.pool, term).is_true();
                        if !holds {
                            wrong.insert(candidate);
                        }
                        holds
                    };
                    left.retain(&mut holds);
                    parts.iter_mut().for_each(|p| p.retain(&mut holds));
                }
                Feasibility::Unknown(_) if self.solver.spent().is_some() => {
                    // The run is over, and says nothing.
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
        self.solver.set_query_time(Some(QUERY_TIME));
    }

    /// Assumes what holds at the place.
    pub(super) fn assume_place(&mut self, st: &mut State, number: u32) {
        let terms = self.place_terms(st, number);
        self.assume_all(st, terms, Vec::new(), &[]);
    }

    pub(super) fn place_terms(&mut self, st: &State, number: u32) -> Vec<ExprId> {
        let place = self.assumptions(number);
        let all: Vec<ExprId> = place.facts.iter().chain(&place.candidates).copied().collect();
        let term = |e| match self.eval(st, e) {
            Val::Expr(term) => Some(term),
            _ => None,
        };
        all.into_iter().filter_map(term).collect()
    }

    /// Assumes all `terms`. The symbols `fresh` occur nowhere but in them and in the variables `places`: where an equation
    /// defines one of them, the definition takes its place.
    pub(super) fn assume_all(
        &mut self,
        st: &mut State,
        mut terms: Vec<ExprId>,
        mut fresh: Vec<ExprId>,
        places: &[VarId],
    ) {
        while let Some((i, (symbol, meaning))) =
            terms.iter().enumerate().find_map(|(i, &e)| Some((i, polynomial::definition(&mut self.pool, e, &fresh)?)))
        {
            terms.remove(i);
            fresh.retain(|&s| s != symbol);
            let mut memo = FxHashMap::default();
            let mut replace =
                |pool: &mut ExprPool, e| pool.substitute(e, &mut memo, |_, leaf| (leaf == symbol).then_some(meaning));
            terms.iter_mut().for_each(|e| *e = replace(&mut self.pool, *e));
            for &var in places {
                if let Val::Expr(e) = self.read_var(st, var) {
                    let e = replace(&mut self.pool, e);
                    let value = self.classify(e);
                    self.write_var(st, var, value);
                }
            }
        }
        for term in terms {
            self.expose(st, term);
            self.solver.assume(&mut self.pool, &mut st.pc, term, None);
        }
    }
}
