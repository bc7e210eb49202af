//! Sequence interpolants of infeasible paths.
//!
//! For steps `f1 … fn` that contradict one another, these are assertions `I1 … In-1` such that `f1 ⊨ I1`, `Ik ∧ fk+1 ⊨
//! Ik+1` and `In-1 ∧ fn ⊨ false`. `Ik` contains only leaves that occur both in the steps up to `k` and in the steps
//! after `k`.
//!
//! They are strongest postconditions of the path, restricted to the conjuncts that the rest of the path needs for its
//! contradiction (unsat cores, as in Dietsch et al., "Craig vs. Newton in software model checking", ESEC/FSE 2017). A
//! leaf that does not occur later is replaced by a term that it equals. If there is no such term, conjuncts with the
//! leaf are dropped. If the remaining conjuncts no longer contradict the rest of the path, the same is done from the
//! end of the path, with weakest preconditions. Every result is verified before it is returned.

use super::independence::{Leaves, is_free};
use super::path_solver::{conjuncts, is_too_large};
use super::{Answer, Backend, Reason};
use crate::budget::Budget;
use cfa::{BinOp, Expr, ExprId, ExprPool, Sort, UnOp};
use rustc_hash::{FxHashMap, FxHashSet};

/// The reason why there are no interpolants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoInterpolants {
    /// The steps do not contradict one another.
    Feasible,
    /// The solver gave no answer.
    Unknown(Reason),
    /// No quantifier-free interpolant was found.
    Inexpressible,
}

/// The end of the path from which interpolants are computed first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Strong interpolants: properties that the path has established.
    Forward,
    /// Weak interpolants: properties that the rest of the path needs.
    Backward,
}

/// Computes the interpolants between `steps` (one bit each), one fewer than there are steps. `solver` must have no
/// assertions, and has none afterwards.
pub fn interpolants(
    pool: &mut ExprPool,
    solver: &mut dyn Backend,
    steps: &[ExprId],
    direction: Direction,
    budget: &Budget,
) -> Result<Vec<ExprId>, NoInterpolants> {
    if is_too_large(pool, steps, budget) {
        return Err(NoInterpolants::Unknown(Reason::Timeout));
    }
    let mut core = match solver.check(pool, steps, budget) {
        Answer::Sat => return Err(NoInterpolants::Feasible),
        Answer::Unknown(reason) => return Err(NoInterpolants::Unknown(reason)),
        Answer::Unsat => solver.unsat_core(),
    };
    core.sort_unstable();
    // Steps outside the core are irrelevant.
    let always = pool.bool(true);
    let needed: Vec<ExprId> = steps.iter().map(|e| if core.binary_search(e).is_ok() { *e } else { always }).collect();
    let mut result = Err(NoInterpolants::Inexpressible);
    let other = if direction == Direction::Forward { Direction::Backward } else { Direction::Forward };
    for direction in [direction, other] {
        let found = match direction {
            Direction::Forward => postconditions(pool, solver, &needed, budget),
            Direction::Backward => preconditions(pool, solver, &needed, budget),
        };
        match found {
            Ok(found) if verified(pool, solver, steps, &found, budget)? => return Ok(found),
            Ok(_) => {}
            Err(why) => result = Err(why),
        }
    }
    result
}

/// Candidates from the end of the path: at each cut, a condition that contradicts the later steps.
fn preconditions(
    pool: &mut ExprPool,
    solver: &mut dyn Backend,
    steps: &[ExprId],
    budget: &Budget,
) -> Result<Vec<ExprId>, NoInterpolants> {
    let reversed: Vec<ExprId> = steps.iter().rev().copied().collect();
    let mut found = postconditions(pool, solver, &reversed, budget)?;
    found.reverse();
    for e in &mut found {
        *e = pool.not(*e);
    }
    Ok(found)
}

/// Candidates: at each cut, those conjuncts of the earlier steps that contradict the later ones.
fn postconditions(
    pool: &mut ExprPool,
    solver: &mut dyn Backend,
    steps: &[ExprId],
    budget: &Budget,
) -> Result<Vec<ExprId>, NoInterpolants> {
    let mut leaves = Leaves::default();
    let mut last_use: FxHashMap<ExprId, usize> = FxHashMap::default();
    for (k, &step) in steps.iter().enumerate() {
        for &leaf in leaves.free_leaves(pool, step).iter() {
            last_use.insert(leaf, k);
        }
    }
    // Push the rest of the path, the next step last, so that the solver receives each step once.
    for &step in steps.iter().skip(1).rev() {
        solver.push();
        solver.assert(pool, step);
    }
    let mut state: Vec<ExprId> = Vec::new();
    let mut found = Vec::with_capacity(steps.len().saturating_sub(1));
    for k in 0..steps.len().saturating_sub(1) {
        state.extend(conjuncts(pool, steps[k]));
        let all_known = state.clone();
        if let Err(why) = forget(pool, &mut leaves, &mut state, |leaf| last_use[&leaf] <= k, budget) {
            solver.pop((steps.len() - 1 - k) as u32);
            return Err(why);
        }
        let answer = solver.check(pool, &state, budget);
        if answer == Answer::Unsat {
            let core: FxHashSet<ExprId> = solver.unsat_core().into_iter().collect();
            state.retain(|e| core.contains(e));
            solver.pop(1);
        } else {
            solver.pop((steps.len() - 1 - k) as u32);
            return match answer {
                // The steps so far may contradict one another through dropped conjuncts about dead leaves.
                Answer::Sat if solver.check(pool, &all_known, budget) == Answer::Unsat => {
                    found.resize(steps.len() - 1, pool.bool(false));
                    Ok(found)
                }
                Answer::Unknown(reason) => Err(NoInterpolants::Unknown(reason)),
                _ => Err(NoInterpolants::Inexpressible),
            };
        }
        let mut all = pool.bool(true);
        for &e in &state {
            all = pool.and(all, e);
        }
        found.push(all);
    }
    Ok(found)
}

/// Weakens the conjunction `state` until it has no dead leaves.
fn forget(
    pool: &mut ExprPool,
    leaves: &mut Leaves,
    state: &mut Vec<ExprId>,
    dead: impl Fn(ExprId) -> bool,
    budget: &Budget,
) -> Result<(), NoInterpolants> {
    while let Some((at, leaf, term)) =
        state.iter().enumerate().find_map(|(at, &e)| definition(pool, leaves, e, &dead).map(|(x, t)| (at, x, t)))
    {
        if let Some(spent) = budget.spent() {
            return Err(NoInterpolants::Unknown(spent.into()));
        }
        state.remove(at);
        let mut memo = FxHashMap::default();
        let rewritten: Vec<ExprId> =
            state.iter().map(|&e| pool.substitute(e, &mut memo, |_, l| (l == leaf).then_some(term))).collect();
        state.clear();
        for e in rewritten {
            state.extend(conjuncts(pool, e));
        }
    }
    let mut seen = FxHashSet::default();
    state.retain(|&e| !pool.is_true(e) && seen.insert(e) && !leaves.free_leaves(pool, e).iter().any(|&l| dead(l)));
    Ok(())
}

/// If `e` is an equality of a dead leaf and a term without it, returns both.
fn definition(
    pool: &mut ExprPool,
    leaves: &mut Leaves,
    e: ExprId,
    dead: &impl Fn(ExprId) -> bool,
) -> Option<(ExprId, ExprId)> {
    let is_dead = |pool: &ExprPool, e| is_free(pool.get(e)) && dead(e);
    match *pool.get(e) {
        Expr::Binary(BinOp::Eq, a, b) => {
            [(a, b), (b, a)].into_iter().find(|&(x, t)| is_dead(pool, x) && !leaves.free_leaves(pool, t).contains(&x))
        }
        Expr::Unary(UnOp::Not, a) if is_dead(pool, a) => Some((a, pool.bool(false))),
        _ if pool.sort(e) == Sort::Bv(1) && is_dead(pool, e) => Some((e, pool.bool(true))),
        _ => None,
    }
}

/// Returns true if `found` are sequence interpolants of `steps`.
fn verified(
    pool: &mut ExprPool,
    solver: &mut dyn Backend,
    steps: &[ExprId],
    found: &[ExprId],
    budget: &Budget,
) -> Result<bool, NoInterpolants> {
    let mut leaves = Leaves::default();
    let mut before = pool.bool(true);
    let mut first_use: FxHashMap<ExprId, usize> = FxHashMap::default();
    let mut last_use: FxHashMap<ExprId, usize> = FxHashMap::default();
    for (k, &step) in steps.iter().enumerate() {
        for &leaf in leaves.free_leaves(pool, step).iter() {
            first_use.entry(leaf).or_insert(k);
            last_use.insert(leaf, k);
        }
    }
    for (k, &step) in steps.iter().enumerate() {
        let after = found.get(k).copied().unwrap_or_else(|| pool.bool(false));
        let shared = |l: &ExprId| first_use.get(l).is_some_and(|f| *f <= k) && last_use[l] > k;
        if !leaves.free_leaves(pool, after).iter().all(shared) {
            return Ok(false);
        }
        let violated = pool.not(after);
        match solver.check(pool, &[before, step, violated], budget) {
            Answer::Unsat => {}
            Answer::Sat => return Ok(false),
            Answer::Unknown(reason) => return Err(NoInterpolants::Unknown(reason)),
        }
        before = after;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bitwuzla;

    fn symbols(pool: &mut ExprPool, n: usize) -> Vec<ExprId> {
        (0..n).map(|_| pool.fresh_symbol(Sort::Bv(32)).1).collect()
    }

    #[test]
    fn a_loop_that_counts() {
        let mut pool = ExprPool::new();
        let mut solver = Bitwuzla::new();
        // x0 = 0; y0 = ?; three times x++, y += x; then x != 3.
        let (x, y) = (symbols(&mut pool, 4), symbols(&mut pool, 4));
        let (zero, one, three) = (pool.int(32, 0), pool.int(32, 1), pool.int(32, 3));
        let mut steps = vec![pool.eq(x[0], zero)];
        for k in 0..3 {
            let (next_x, next_y) = (pool.add(x[k], one), pool.add(y[k], x[k]));
            let (a, b) = (pool.eq(x[k + 1], next_x), pool.eq(y[k + 1], next_y));
            steps.push(pool.and(a, b));
        }
        steps.push(pool.ne(x[3], three));
        let found = interpolants(&mut pool, &mut solver, &steps, Direction::Forward, &Budget::unlimited()).unwrap();
        for (k, &i) in found.iter().enumerate() {
            let value = pool.int(32, k as u64);
            assert_eq!(i, pool.eq(x[k], value), "nothing about y");
        }
        steps.pop();
        let feasible = interpolants(&mut pool, &mut solver, &steps, Direction::Forward, &Budget::unlimited());
        assert_eq!(feasible, Err(NoInterpolants::Feasible));
    }

    #[test]
    fn from_the_end_where_dead_leaves_have_no_definition() {
        let mut pool = ExprPool::new();
        let mut solver = Bitwuzla::new();
        // z < x; z > 5; then x < 3. z is dead after the second step and equals no other term.
        let s = symbols(&mut pool, 2);
        let (x, z) = (s[0], s[1]);
        let (five, three) = (pool.int(32, 5), pool.int(32, 3));
        let steps = [pool.ult(z, x), pool.ult(five, z), pool.ult(x, three)];
        let found = interpolants(&mut pool, &mut solver, &steps, Direction::Forward, &Budget::unlimited()).unwrap();
        assert_eq!(found.len(), 2);
        let expected = pool.ule(three, x);
        assert_eq!(found[1], expected);
    }

    #[test]
    fn a_contradiction_in_the_middle() {
        let mut pool = ExprPool::new();
        let mut solver = Bitwuzla::new();
        let s = symbols(&mut pool, 2);
        let always = pool.bool(true);
        // In both directions, the leaves die at the contradiction without an equal term.
        let steps = [always, pool.ult(s[0], s[1]), pool.ult(s[1], s[0]), always];
        for direction in [Direction::Forward, Direction::Backward] {
            let found = interpolants(&mut pool, &mut solver, &steps, direction, &Budget::unlimited()).unwrap();
            assert!(pool.is_true(found[0]) && pool.is_false(found[2]));
        }
    }
}
