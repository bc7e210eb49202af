//! A decision procedure that translates bit-vectors to integer arithmetic.
//!
//! Typical questions are whether an access is in bounds, how much of a buffer is left, or which slot of a ring is next.
//! They are about sums of 64-bit numbers with few cases. A bit-blaster takes seconds for the circuits. A solver for
//! linear integer arithmetic answers in milliseconds, with or without a model.
//!
//! A term of `w` bits is an integer from 0 to 2^w - 1. An operation that may leave that range is the result of the
//! operation minus a multiple of 2^w (int-blasting: Zohar et al., *Bit-precise reasoning via int-blasting*, VMCAI
//! 2022). A term that is not arithmetic is an unknown in its range. So a contradiction here is one of the bit-vectors.
//! A model counts only if the evaluator confirms it, which this module checks.

mod reading;

use super::budget::Budget;
use super::z3::{Z3Terms, interruptible, make_solver};
use cfa::{BinOp, Evaluator, Expr, ExprId, ExprPool, Sort, Value};
use reading::Reading;
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Duration;
use z3_sys::*;

/// The maximal number of terms of a set.
const MOST_TERMS: usize = 4_000;
/// The number of terms up to which a set is passed to this procedure first.
const FEW_TERMS: usize = 300;
/// Sums of fewer bits do not count as arithmetic.
const NARROW: u32 = 32;

/// A model with larger numbers than this many bits is searched for once more, with small numbers. Runs with sizes of
/// terabytes cannot be replayed.
const MODEST: u32 = 24;
const AGAIN: Duration = Duration::from_millis(30);

/// The result of a decision procedure.
pub(super) enum ProcedureResult {
    /// A model, as values of leaves. Leaves without a value are zero.
    Model(FxHashMap<ExprId, Value>),
    /// An unsatisfiable subset of the set.
    Core(Vec<ExprId>),
    /// No result.
    Unknown,
}

/// The share of arithmetic in a set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Promise {
    /// No arithmetic, or too many other terms.
    Nothing,
    /// Sums of wide numbers, and other terms.
    Some,
    /// Only arithmetic.
    All,
}

/// Estimates the share of arithmetic in `set`.
pub(super) fn promise(pool: &ExprPool, set: &[ExprId]) -> Promise {
    let mut seen = FxHashSet::default();
    let (mut sums, mut others) = (false, false);
    let mut stack: Vec<ExprId> = set.to_vec();
    while let Some(e) = stack.pop() {
        if !seen.insert(e) {
            continue;
        }
        if seen.len() > MOST_TERMS {
            return Promise::Nothing;
        }
        let node = pool.get(e);
        match *node {
            Expr::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, _) => sums |= pool.width(a) >= NARROW,
            Expr::Binary(op, a, _) if op.is_comparison() => others |= matches!(pool.sort(a), Sort::Array { .. }),
            Expr::Binary(BinOp::And | BinOp::Or | BinOp::Xor, a, b) => {
                others |= pool.width(a) > 1 && pool.as_const(a).is_none() && pool.as_const(b).is_none();
            }
            Expr::Binary(BinOp::UDiv | BinOp::URem | BinOp::Shl | BinOp::LShr | BinOp::AShr, _, b) => {
                others |= pool.as_const(b).is_none();
            }
            Expr::Const(_) | Expr::Unary(..) | Expr::Ite(..) | Expr::Binary(BinOp::Concat, ..) => {}
            Expr::Extract { .. } | Expr::Zext { .. } | Expr::Sext { .. } => {}
            _ => others |= !is_leaf(node),
        }
        stack.extend(node.children());
    }
    match (sums, others || seen.len() > FEW_TERMS) {
        (false, _) => Promise::Nothing,
        (true, true) => Promise::Some,
        (true, false) => Promise::All,
    }
}

/// Looks for a model of `set`, or for a contradiction.
pub(super) fn solve(pool: &ExprPool, set: &[ExprId], terms: &mut Z3Terms, budget: &Budget) -> ProcedureResult {
    let mut reading = Reading::new(pool, set, terms);
    let mut tracked = Vec::with_capacity(set.len());
    for &e in set {
        let truth = reading.truth(e);
        let name = reading.fresh(true);
        tracked.push((e, name));
        reading.require_if(name, truth);
    }
    let modest = reading.modest(MODEST);
    let context = reading.terms.context;
    let solver = make_solver(context);
    let names: Vec<Z3_ast> = tracked.iter().map(|t| t.1).collect();
    let found = unsafe {
        for &term in &reading.definitions {
            Z3_solver_assert(context, solver, term);
        }
        let ask = |names: &[Z3_ast], budget: &Budget| {
            let ask = || Z3_solver_check_assumptions(context, solver, names.len() as u32, names.as_ptr());
            interruptible(context, budget, ask)
        };
        match ask(&names, budget) {
            Z3_L_FALSE => {
                let core = super::z3::read_core(context, solver);
                ProcedureResult::Core(tracked.iter().filter(|t| core.contains(&t.1)).map(|t| t.0).collect())
            }
            Z3_L_TRUE => {
                let model = || -> Option<ProcedureResult> {
                    let model = Z3_solver_get_model(context, solver)?;
                    Z3_model_inc_ref(context, model);
                    let values = reading.values(model);
                    Z3_model_dec_ref(context, model);
                    Some(confirmed(pool, set, values))
                };
                let found = model().unwrap_or(ProcedureResult::Unknown);
                let all: Vec<Z3_ast> = names.iter().copied().chain([modest]).collect();
                match ask(&all, &budget.exerting(AGAIN)) {
                    Z3_L_TRUE => model().filter(|again| matches!(again, ProcedureResult::Model(_))).unwrap_or(found),
                    _ => found,
                }
            }
            _ => ProcedureResult::Unknown,
        }
    };
    unsafe { Z3_solver_dec_ref(context, solver) };
    found
}

/// Returns the values as a model of `set`, if the evaluator confirms it.
pub(super) fn confirmed(pool: &ExprPool, set: &[ExprId], values: FxHashMap<ExprId, Value>) -> ProcedureResult {
    let holds = {
        let zero = |leaf| super::path::zero(pool.sort(leaf));
        let mut evaluator =
            Evaluator::new(pool, |leaf, _: &Expr| values.get(&leaf).cloned().unwrap_or_else(|| zero(leaf)));
        set.iter().all(|&e| evaluator.value(e).bv().is_true())
    };
    if holds { ProcedureResult::Model(values) } else { ProcedureResult::Unknown }
}

fn is_leaf(node: &Expr) -> bool {
    matches!(node, Expr::Sym(_) | Expr::Var(_) | Expr::GlobalAddr(_) | Expr::FuncAddr(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Bitwuzla, Solver};

    /// Random comparisons of random terms over few bits. Results agree with a bit-blaster.
    #[test]
    fn integers_agree_with_bits() {
        let mut below = crate::dice::dice(7);
        let (mut models, mut cores, mut nothing) = (0, 0, 0);
        for _ in 0..400 {
            let mut pool = ExprPool::new();
            let width = [4, 5, 8][below(3) as usize];
            let wide = pool.fresh_symbol(Sort::Bv(3 * width)).1;
            let mut terms: Vec<ExprId> = (0..3).map(|_| pool.fresh_symbol(Sort::Bv(width)).1).collect();
            terms.push(pool.extract(2 * width - 1, width, wide));
            terms.push(pool.extract(2 * width, width + 1, wide));
            for _ in 0..5 {
                let (a, b) = (terms[below(terms.len() as u64) as usize], terms[below(terms.len() as u64) as usize]);
                let c = pool.int(width, below(1 << width));
                let ops = [
                    BinOp::Add,
                    BinOp::Sub,
                    BinOp::Mul,
                    BinOp::UDiv,
                    BinOp::URem,
                    BinOp::SDiv,
                    BinOp::SRem,
                    BinOp::Shl,
                    BinOp::LShr,
                    BinOp::AShr,
                    BinOp::And,
                    BinOp::Or,
                    BinOp::Xor,
                ];
                let op = ops[below(ops.len() as u64) as usize];
                let e = match below(6) {
                    0 => pool.neg(a),
                    1 => pool.not(a),
                    2 => {
                        let narrow = pool.extract(width - 2, 1, a);
                        if below(2) == 0 { pool.zext(width, narrow) } else { pool.sext(width, narrow) }
                    }
                    3 => pool.binary(op, a, b),
                    _ => pool.binary(op, a, c),
                };
                terms.push(e);
            }
            let mut set = Vec::new();
            for _ in 0..5 {
                let (a, b) = (terms[below(terms.len() as u64) as usize], terms[below(terms.len() as u64) as usize]);
                let op = [BinOp::Ule, BinOp::Ult, BinOp::Slt, BinOp::Sle, BinOp::Eq][below(5) as usize];
                let e = pool.binary(op, a, b);
                let e = if below(3) == 0 { pool.not(e) } else { e };
                if pool.as_const(e).is_none() {
                    set.push(e);
                }
            }
            let budget = Budget::lasting(Duration::from_secs(5));
            let answer = Bitwuzla::new().check(&pool, &set, &budget);
            match solve(&pool, &set, &mut Z3Terms::new(), &budget) {
                ProcedureResult::Model(_) => {
                    models += 1;
                    assert_ne!(answer, Answer::Unsat, "{}", crate::smtlib::script(&pool, &set));
                }
                ProcedureResult::Core(core) => {
                    cores += 1;
                    assert_ne!(answer, Answer::Sat, "{}", crate::smtlib::script(&pool, &set));
                    let again = Bitwuzla::new().check(&pool, &core, &budget);
                    assert_ne!(again, Answer::Sat, "no core of {}", crate::smtlib::script(&pool, &set));
                }
                ProcedureResult::Unknown => nothing += 1,
            }
        }
        assert!(models > 100 && cores > 30 && nothing < 150, "{models} {cores} {nothing}");
    }
}
