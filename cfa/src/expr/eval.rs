//! Evaluation of expressions: the reference semantics of every operation.

use super::{Arena, Expr, ExprId, ExprPool, UnOp};
use crate::bv::Bv;
use crate::float;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Applies the operation `node` to the values of its children. Returns `None` for leaves and arrays.
pub(crate) fn apply(node: &Expr, values: &[&Bv]) -> Option<Bv> {
    Some(match (node, values) {
        (Expr::Const(c), []) => c.clone(),
        (Expr::Unary(UnOp::Not, _), [a]) => a.not(),
        (Expr::Unary(UnOp::Neg, _), [a]) => a.neg(),
        (Expr::Binary(op, ..), [a, b]) => op.apply(a, b),
        (Expr::Ite(..), [c, t, e]) => {
            if c.is_true() {
                (*t).clone()
            } else {
                (*e).clone()
            }
        }
        (Expr::Extract { hi, lo, .. }, [a]) => a.extract(*hi, *lo),
        (Expr::Zext { width, .. }, [a]) => a.zext(*width),
        (Expr::Sext { width, .. }, [a]) => a.sext(*width),
        (Expr::FUnary(op, format, _), [a]) => float::unary(*op, *format, a),
        (Expr::FBinary(op, format, ..), [a, b]) => float::binary(*op, *format, a, b),
        (Expr::Fma(rounding, format, ..), [a, b, c]) => float::fma(*rounding, *format, a, b, c),
        (Expr::FCompare(op, format, ..), [a, b]) => Bv::bool(float::compare(*op, *format, a, b)),
        (Expr::FIsNan(format, _), [a]) => Bv::bool(float::is_nan(*format, a)),
        (Expr::FConvert { rounding, from, to, .. }, [a]) => float::convert(*rounding, *from, *to, a),
        (Expr::IntToF { rounding, to, signed, .. }, [a]) => float::from_int(*rounding, *to, *signed, a),
        (Expr::FToInt { from, signed, width, .. }, [a]) => float::to_int(*from, *signed, *width, a),
        _ => return None,
    })
}

/// The value of an array: a default element, and the elements that differ from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayValue {
    /// The element at every index without an entry.
    pub default: Bv,
    /// The elements by index.
    pub entries: BTreeMap<u128, Bv>,
}

impl ArrayValue {
    /// The element at an index. Panics if the index does not fit into 128 bits.
    pub fn get(&self, index: &Bv) -> &Bv {
        let index = index.to_u128().expect("array indices have at most 128 bits");
        self.entries.get(&index).unwrap_or(&self.default)
    }
}

/// The value of an expression: a bit-vector or an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// The value of a bit-vector.
    Bv(Bv),
    /// The value of an array.
    Array(Rc<ArrayValue>),
}

impl Value {
    /// The bit-vector. Panics on an array.
    pub fn bv(&self) -> &Bv {
        match self {
            Value::Bv(v) => v,
            Value::Array(_) => panic!("an array where a bit-vector is expected"),
        }
    }
}

/// Evaluates expressions of one pool under one assignment of the leaves. It evaluates each subexpression once. It is
/// iterative, so that deep expressions cannot overflow the stack.
pub struct Evaluator<'p, F> {
    pool: &'p ExprPool,
    leaf: F,
    memo: FxHashMap<ExprId, Value>,
}

impl<'p, F: FnMut(ExprId, &Expr) -> Value> Evaluator<'p, F> {
    /// Creates an evaluator. `leaf` returns the value of a leaf other than a constant. The value must have the sort of the
    /// leaf.
    pub fn new(pool: &'p ExprPool, leaf: F) -> Self {
        Self::with_memo(pool, leaf, FxHashMap::default())
    }

    /// Starts with the memo of another evaluator with the same leaves; see [`into_memo`](Self::into_memo).
    pub fn with_memo(pool: &'p ExprPool, leaf: F, memo: FxHashMap<ExprId, Value>) -> Self {
        Self { pool, leaf, memo }
    }

    /// The values computed so far.
    pub fn into_memo(self) -> FxHashMap<ExprId, Value> {
        self.memo
    }

    /// The value of a bit-vector expression.
    pub fn eval(&mut self, root: ExprId) -> Bv {
        self.value(root).bv().clone()
    }

    /// The value of an expression. Panics on lambdas.
    pub fn value(&mut self, root: ExprId) -> Value {
        let mut stack = vec![root];
        while let Some(&e) = stack.last() {
            if self.memo.contains_key(&e) {
                stack.pop();
                continue;
            }
            let node = self.pool.get(e);
            let pending = stack.len();
            let value = if let Expr::Select { array, index } = *node {
                self.element(array, index, &mut stack)
            } else {
                stack.extend(node.children().filter(|c| !self.memo.contains_key(c)));
                (stack.len() == pending).then(|| self.node(e, node))
            };
            let Some(value) = value else { continue };
            self.memo.insert(e, value);
            stack.pop();
        }
        self.memo[&root].clone()
    }

    /// Evaluates one element of an array without evaluating the others. If a value that it needs is missing, it pushes
    /// that expression to the stack and returns `None`.
    fn element(&mut self, mut array: ExprId, index: ExprId, stack: &mut Vec<ExprId>) -> Option<Value> {
        let pending = stack.len();
        let known = |this: &Self, e: ExprId, stack: &mut Vec<ExprId>| {
            let known = this.memo.get(&e).cloned();
            if known.is_none() {
                stack.push(e);
            }
            known
        };
        let index = known(self, index, stack);
        loop {
            match *self.pool.get(array) {
                Expr::Store { array: inner, index: at, value } => {
                    // Collects all missing values of a chain of stores at once.
                    let at = known(self, at, stack);
                    if stack.len() == pending && at == index {
                        return known(self, value, stack);
                    }
                    array = inner;
                }
                Expr::Ite(c, t, e) => match known(self, c, stack) {
                    Some(c) => array = if c.bv().is_true() { t } else { e },
                    None => return None,
                },
                Expr::ConstArray { value, .. } => return known(self, value, stack).filter(|_| stack.len() == pending),
                _ => {
                    let Value::Array(leaf) = known(self, array, stack)? else { panic!("an ill-sorted select") };
                    let index = index.filter(|_| stack.len() == pending)?;
                    return Some(Value::Bv(leaf.get(index.bv()).clone()));
                }
            }
        }
    }

    fn node(&mut self, e: ExprId, node: &Expr) -> Value {
        match *node {
            Expr::Var(_) | Expr::Sym(_) | Expr::GlobalAddr(_) | Expr::FuncAddr(_) | Expr::Content { .. } => {
                (self.leaf)(e, node)
            }
            Expr::Ite(c, t, f) => self.memo[if self.memo[&c].bv().is_true() { &t } else { &f }].clone(),
            Expr::Store { array, index, value } => match (&self.memo[&array], &self.memo[&index], &self.memo[&value]) {
                (Value::Array(array), Value::Bv(index), Value::Bv(value)) => {
                    let mut array = (**array).clone();
                    array.entries.insert(index.to_u128().expect("narrow index"), value.clone());
                    Value::Array(Rc::new(array))
                }
                _ => panic!("ill-sorted store"),
            },
            Expr::ConstArray { value, .. } => {
                let default = self.memo[&value].bv().clone();
                Value::Array(Rc::new(ArrayValue { default, entries: BTreeMap::new() }))
            }
            Expr::Lambda { .. } | Expr::Index(_) => panic!("a lambda has no value, only its elements have"),
            _ => {
                let mut values: [Option<&Bv>; 3] = [None; 3];
                for (slot, child) in values.iter_mut().zip(node.children()) {
                    *slot = Some(self.memo[&child].bv());
                }
                let value = match values {
                    [Some(a), Some(b), Some(c)] => apply(node, &[a, b, c]),
                    [Some(a), Some(b), None] => apply(node, &[a, b]),
                    [Some(a), None, None] => apply(node, &[a]),
                    _ => apply(node, &[]),
                };
                Value::Bv(value.expect("every operation has a value"))
            }
        }
    }
}

impl Arena {
    /// Evaluates a small expression recursively and without a memo. It is meant for expressions on program edges, whose
    /// depth the front-end bounds. `leaf` returns the value of a leaf.
    pub fn eval_tree(&self, e: ExprId, leaf: &mut impl FnMut(&Expr) -> Bv) -> Bv {
        match *self.get(e) {
            Expr::Const(ref c) => c.clone(),
            Expr::Var(_) | Expr::Sym(_) | Expr::GlobalAddr(_) | Expr::FuncAddr(_) | Expr::Content { .. } => {
                leaf(self.get(e))
            }
            Expr::Binary(op, a, b) => op.apply(&self.eval_tree(a, leaf), &self.eval_tree(b, leaf)),
            Expr::Ite(c, t, f) => {
                if self.eval_tree(c, leaf).is_true() {
                    self.eval_tree(t, leaf)
                } else {
                    self.eval_tree(f, leaf)
                }
            }
            ref node => {
                let mut values = node.children().map(|c| self.eval_tree(c, leaf));
                let (a, b, c) = (values.next(), values.next(), values.next());
                let value = match (&a, &b, &c) {
                    (Some(a), None, None) => apply(node, &[a]),
                    (Some(a), Some(b), None) => apply(node, &[a, b]),
                    (Some(a), Some(b), Some(c)) => apply(node, &[a, b, c]),
                    _ => None,
                };
                value.expect("edges hold no arrays")
            }
        }
    }
}
