//! Lemmas about float operations whose encoding leaves the result open.
//!
//! A model may use such an open result and be spurious. The lemma states the result of the operation for the operands
//! of that model, as an implication. It excludes the model, and the solver may then find a real one nearby.

use super::path::Model;
use cfa::{Evaluator, Expr, ExprId, ExprPool, FBinOp, FloatFormat};
use rustc_hash::FxHashSet;

/// For every operation below `roots` with an open result under `model`: the implication from its operands to its
/// result, and true if this holds on every machine. Otherwise, it holds only in the reference semantics.
pub(super) fn pointwise(pool: &mut ExprPool, roots: &[ExprId], model: &Model) -> Vec<(ExprId, bool)> {
    let mut points = Vec::new();
    {
        let pool = &*pool;
        let mut evaluator = Evaluator::new(pool, |leaf, _| model.leaf(pool, leaf));
        let mut seen = FxHashSet::default();
        for &root in roots {
            pool.visit(root, &mut seen, |e, node| {
                if !is_open(node) {
                    return;
                }
                let value = evaluator.eval(e);
                let operands: Vec<_> = node.children().map(|c| (c, evaluator.eval(c))).collect();
                let nan = float_format(node).is_some_and(|f| cfa::float::is_nan(f, &value));
                let exact = match *node {
                    Expr::FBinary(FBinOp::Rem, format, ..) => {
                        if !(nan || is_wide(format)) {
                            return;
                        }
                        !nan
                    }
                    _ if !nan => return,
                    _ => false,
                };
                points.push((e, value, operands, exact));
            });
        }
    }
    let mut lemmas = Vec::new();
    for (e, value, operands, exact) in points {
        let mut at_point = pool.bool(true);
        for (operand, value) in operands {
            let c = pool.constant(value);
            let here = pool.eq(operand, c);
            at_point = pool.and(at_point, here);
        }
        let c = pool.constant(value);
        let result = pool.eq(e, c);
        let elsewhere = pool.not(at_point);
        lemmas.push((pool.or(elsewhere, result), exact));
    }
    lemmas
}

/// Returns true if the encoding has no exact `fmod` for the format.
fn is_wide(format: FloatFormat) -> bool {
    format.width() > 32
}

/// Returns true if the encoding leaves the result open for some operands.
fn is_open(node: &Expr) -> bool {
    float_format(node).is_some()
}

/// The result format of a float operation that may return a NaN.
fn float_format(node: &Expr) -> Option<FloatFormat> {
    match *node {
        Expr::FBinary(FBinOp::Min | FBinOp::Max, ..) => None,
        Expr::FUnary(cfa::FUnOp::Neg | cfa::FUnOp::Abs, ..) => None,
        Expr::FUnary(_, format, _) | Expr::FBinary(_, format, ..) | Expr::Fma(_, format, ..) => Some(format),
        Expr::FConvert { to, .. } => Some(to),
        _ => None,
    }
}
