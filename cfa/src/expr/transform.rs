//! Transformations of whole expressions.

use super::{Expr, ExprId, ExprPool};
use crate::float::Rounding;
use rustc_hash::FxHashMap;

impl ExprPool {
    /// Rebuilds `node` with new children and simplifies. Panics if the number of children is wrong.
    pub fn rebuild(&mut self, node: &Expr, children: &[ExprId]) -> ExprId {
        use Expr::*;
        match (node, children) {
            (Unary(op, _), &[a]) => self.unary(*op, a),
            (Binary(op, ..), &[a, b]) => self.binary(*op, a, b),
            (Ite(..), &[c, t, e]) => self.ite(c, t, e),
            (Extract { hi, lo, .. }, &[a]) => self.extract(*hi, *lo, a),
            (Zext { width, .. }, &[a]) => self.zext(*width, a),
            (Sext { width, .. }, &[a]) => self.sext(*width, a),
            (FUnary(op, format, _), &[a]) => self.f_unary(*op, *format, a),
            (FBinary(op, format, ..), &[a, b]) => self.f_binary(*op, *format, a, b),
            (Fma(rounding, format, ..), &[a, b, c]) => self.fma(*rounding, *format, a, b, c),
            (FCompare(op, format, ..), &[a, b]) => self.f_compare(*op, *format, a, b),
            (FIsNan(format, _), &[a]) => self.f_is_nan(*format, a),
            (FConvert { rounding, from, to, .. }, &[a]) => self.f_convert(*rounding, *from, *to, a),
            (IntToF { rounding, to, signed, .. }, &[a]) => self.int_to_f(*rounding, *to, *signed, a),
            (FToInt { from, signed, width, .. }, &[a]) => self.f_to_int(*from, *signed, *width, a),
            (Select { .. }, &[a, i]) => self.select(a, i),
            (Store { .. }, &[a, i, v]) => self.store(a, i, v),
            (ConstArray { index, .. }, &[v]) => self.const_array(*index, v),
            (Lambda { index, .. }, &[body]) => self.lambda(*index, body),
            _ => panic!("{} children for {node:?}", children.len()),
        }
    }

    /// Replaces leaves of `root`. `leaf` returns the replacement of a leaf, or `None` to keep it. A caller may pass the
    /// same `memo` to several calls with the same `leaf`. Iterative, because expressions may be deep.
    pub fn substitute(
        &mut self,
        root: ExprId,
        memo: &mut FxHashMap<ExprId, ExprId>,
        mut leaf: impl FnMut(&mut Self, ExprId) -> Option<ExprId>,
    ) -> ExprId {
        let mut stack = vec![root];
        let mut children = Vec::with_capacity(3);
        while let Some(&e) = stack.last() {
            if memo.contains_key(&e) {
                stack.pop();
                continue;
            }
            let node = self.get(e).clone();
            if node.children().next().is_none() {
                let replaced = leaf(self, e).unwrap_or(e);
                memo.insert(e, replaced);
                stack.pop();
                continue;
            }
            children.clear();
            let pending = stack.len();
            for child in node.children() {
                match memo.get(&child) {
                    Some(&done) => children.push(done),
                    None => stack.push(child),
                }
            }
            if stack.len() == pending {
                let changed = node.children().ne(children.iter().copied());
                let rebuilt = if changed { self.rebuild(&node, &children) } else { e };
                memo.insert(e, rebuilt);
                stack.pop();
            }
        }
        memo[&root]
    }

    /// Copies an expression of another pool into this one. Returns `None` if it contains symbols, because a symbol
    /// belongs to its pool.
    pub fn import(&mut self, from: &Self, root: ExprId) -> Option<ExprId> {
        let mut done: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let mut stack = vec![root];
        while let Some(&e) = stack.last() {
            let node = from.get(e);
            let missing: Vec<ExprId> = node.children().filter(|c| !done.contains_key(c)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            stack.pop();
            let children: Vec<ExprId> = node.children().map(|c| done[&c]).collect();
            let own = match node {
                Expr::Sym(_) => return None,
                leaf if children.is_empty() => self.intern(leaf.clone(), from.sort(e)),
                node => self.rebuild(node, &children),
            };
            done.insert(e, own);
        }
        Some(done[&root])
    }
}

impl Rounding {
    /// The result of `operation` in the rounding mode whose number in [`Rounding::ALL`] is `mode`, as a choice over all
    /// modes.
    pub fn choice(
        pool: &mut ExprPool,
        mode: ExprId,
        mut operation: impl FnMut(&mut ExprPool, Self) -> ExprId,
    ) -> ExprId {
        let mut result = operation(pool, Self::Zero);
        for (number, rounding) in (0..3u32).zip(Self::ALL).rev() {
            let number = pool.int(Self::WIDTH, number.into());
            let (is_mode, rounded) = (pool.eq(mode, number), operation(pool, rounding));
            result = pool.ite(is_mode, rounded, result);
        }
        result
    }
}
