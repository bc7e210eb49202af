//! The arena of hash-consed expressions.

use super::{BinOp, Expr, ExprId, Sort, SymId, UnOp};
use crate::bv::Bv;
use crate::float::{FBinOp, FCmp, FUnOp, FloatFormat, Rounding};
use crate::index::{Id, Table};
use crate::program::{FuncId, GlobalId, VarId};
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

/// The arena. Ids are given in order of construction, so a sub-expression has a smaller id than every
/// expression that holds it.
#[derive(Clone, Default)]
pub struct ExprPool {
    nodes: Table<ExprId, Expr>,
    sorts: Vec<Sort>,
    interned: HashTable<ExprId>,
    symbols: Table<SymId, Sort>,
    /// The arrays that are, or are made from, an [`Expr::Lambda`].
    with_lambda: FxHashSet<ExprId>,
    /// What is known of the elements of arrays that are tables of constants.
    elements: FxHashMap<ExprId, Elements>,
    /// How many constructors are simplifying, one within the other.
    pub(super) simplifying: u32,
}

/// What all elements of an array, of at most 64 bits, have in common: `low <= e <= high` unsigned, and the bits of `ones`
/// and none of `zeros`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Elements {
    pub low: u64,
    pub high: u64,
    pub zeros: u64,
    pub ones: u64,
}

impl Elements {
    fn of(value: &Bv) -> Option<Self> {
        let v = value.to_u64().filter(|_| value.width() <= 64)?;
        Some(Self { low: v, high: v, zeros: !v, ones: v })
    }
    fn join(self, o: Self) -> Self {
        Self {
            low: self.low.min(o.low),
            high: self.high.max(o.high),
            zeros: self.zeros & o.zeros,
            ones: self.ones & o.ones,
        }
    }
}

impl ExprPool {
    pub fn new() -> Self {
        Self::default()
    }
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    #[inline]
    pub fn get(&self, e: ExprId) -> &Expr {
        &self.nodes[e]
    }
    #[inline]
    pub fn sort(&self, e: ExprId) -> Sort {
        self.sorts[e.index()]
    }
    /// The width of a bit-vector expression. Panics on arrays.
    #[inline]
    pub fn width(&self, e: ExprId) -> u32 {
        self.sort(e).width()
    }
    #[inline]
    pub fn as_const(&self, e: ExprId) -> Option<&Bv> {
        match self.get(e) {
            Expr::Const(c) => Some(c),
            _ => None,
        }
    }
    pub fn is_true(&self, e: ExprId) -> bool {
        matches!(self.get(e), Expr::Const(c) if c.width() == 1 && c.is_one())
    }
    pub fn is_false(&self, e: ExprId) -> bool {
        matches!(self.get(e), Expr::Const(c) if c.width() == 1 && c.is_zero())
    }

    /// Interns a node as it is, without simplification. `sort` must be the node's sort.
    pub fn intern(&mut self, node: Expr, sort: Sort) -> ExprId {
        let hash = FxBuildHasher.hash_one(&node);
        let nodes = &self.nodes;
        if let Some(&id) = self.interned.find(hash, |&id| nodes[id] == node) {
            return id;
        }
        let has_lambda = matches!(sort, Sort::Array { .. })
            && match node {
                Expr::Lambda { .. } => true,
                Expr::Store { array, .. } => self.with_lambda.contains(&array),
                Expr::Ite(_, t, e) => self.with_lambda.contains(&t) || self.with_lambda.contains(&e),
                _ => false,
            };
        let elements = match node {
            Expr::ConstArray { value, .. } => self.as_const(value).and_then(Elements::of),
            Expr::Store { array, value, .. } => {
                let others = self.elements.get(&array).copied();
                others.and_then(|others| Some(others.join(self.as_const(value).and_then(Elements::of)?)))
            }
            _ => None,
        };
        let id = self.nodes.push(node);
        self.sorts.push(sort);
        if has_lambda {
            self.with_lambda.insert(id);
        }
        if let Some(elements) = elements {
            self.elements.insert(id, elements);
        }
        let nodes = &self.nodes;
        self.interned.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(&nodes[id]));
        id
    }

    // Leaves.

    pub fn constant(&mut self, value: Bv) -> ExprId {
        let sort = Sort::Bv(value.width());
        self.intern(Expr::Const(value), sort)
    }
    /// The low `width` bits of `value`.
    pub fn int(&mut self, width: u32, value: u64) -> ExprId {
        self.constant(Bv::new(width, value))
    }
    pub fn bool(&mut self, value: bool) -> ExprId {
        self.constant(Bv::bool(value))
    }
    pub fn var(&mut self, var: VarId, width: u32) -> ExprId {
        self.intern(Expr::Var(var), Sort::Bv(width))
    }
    pub fn global_addr(&mut self, global: GlobalId, pointer_width: u32) -> ExprId {
        self.intern(Expr::GlobalAddr(global), Sort::Bv(pointer_width))
    }
    pub fn func_addr(&mut self, func: FuncId, pointer_width: u32) -> ExprId {
        self.intern(Expr::FuncAddr(func), Sort::Bv(pointer_width))
    }
    /// A new symbol, different from every other.
    pub fn fresh_symbol(&mut self, sort: Sort) -> (SymId, ExprId) {
        let symbol = self.symbols.push(sort);
        (symbol, self.intern(Expr::Sym(symbol), sort))
    }
    pub fn symbol_sort(&self, symbol: SymId) -> Sort {
        self.symbols[symbol]
    }
    pub fn symbol_count(&self) -> usize {
        self.symbols.len()
    }
    /// The expression that is this symbol.
    pub fn symbol(&mut self, symbol: SymId) -> ExprId {
        let sort = self.symbols[symbol];
        self.intern(Expr::Sym(symbol), sort)
    }

    // Operations. All simplify.

    pub fn unary(&mut self, op: UnOp, a: ExprId) -> ExprId {
        let sort = self.sort(a);
        self.simplified(Expr::Unary(op, a), sort)
    }
    pub fn not(&mut self, a: ExprId) -> ExprId {
        self.unary(UnOp::Not, a)
    }
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        self.unary(UnOp::Neg, a)
    }
    pub fn binary(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        let width = self.width(a);
        debug_assert!(op == BinOp::Concat || width == self.width(b), "{op:?} on {width} and {} bits", self.width(b));
        let result = match op {
            BinOp::Concat => width + self.width(b),
            _ if op.is_comparison() => 1,
            _ => width,
        };
        self.simplified(Expr::Binary(op, a, b), Sort::Bv(result))
    }
    pub fn ite(&mut self, c: ExprId, t: ExprId, e: ExprId) -> ExprId {
        debug_assert_eq!(self.width(c), 1);
        debug_assert_eq!(self.sort(t), self.sort(e));
        let sort = self.sort(t);
        self.simplified(Expr::Ite(c, t, e), sort)
    }
    /// Bits `hi..=lo`; `lo <= hi < width`.
    pub fn extract(&mut self, hi: u32, lo: u32, arg: ExprId) -> ExprId {
        debug_assert!(lo <= hi && hi < self.width(arg));
        self.simplified(Expr::Extract { hi, lo, arg }, Sort::Bv(hi - lo + 1))
    }
    /// Zero-extended to `width`, which is at least the width of `arg`.
    pub fn zext(&mut self, width: u32, arg: ExprId) -> ExprId {
        debug_assert!(width >= self.width(arg));
        self.simplified(Expr::Zext { width, arg }, Sort::Bv(width))
    }
    /// Sign-extended to `width`, which is at least the width of `arg`.
    pub fn sext(&mut self, width: u32, arg: ExprId) -> ExprId {
        debug_assert!(width >= self.width(arg));
        self.simplified(Expr::Sext { width, arg }, Sort::Bv(width))
    }
    /// Truncated or zero-extended to `width`.
    pub fn resize(&mut self, width: u32, arg: ExprId) -> ExprId {
        if width <= self.width(arg) { self.extract(width - 1, 0, arg) } else { self.zext(width, arg) }
    }
    pub fn f_unary(&mut self, op: FUnOp, format: FloatFormat, a: ExprId) -> ExprId {
        self.simplified(Expr::FUnary(op, format, a), Sort::Bv(format.width()))
    }
    pub fn f_binary(&mut self, op: FBinOp, format: FloatFormat, a: ExprId, b: ExprId) -> ExprId {
        self.simplified(Expr::FBinary(op, format, a, b), Sort::Bv(format.width()))
    }
    pub fn fma(&mut self, rounding: Rounding, format: FloatFormat, a: ExprId, b: ExprId, c: ExprId) -> ExprId {
        self.simplified(Expr::Fma(rounding, format, a, b, c), Sort::Bv(format.width()))
    }
    pub fn f_compare(&mut self, op: FCmp, format: FloatFormat, a: ExprId, b: ExprId) -> ExprId {
        self.simplified(Expr::FCompare(op, format, a, b), Sort::Bv(1))
    }
    pub fn f_is_nan(&mut self, format: FloatFormat, a: ExprId) -> ExprId {
        self.simplified(Expr::FIsNan(format, a), Sort::Bv(1))
    }
    pub fn f_convert(&mut self, rounding: Rounding, from: FloatFormat, to: FloatFormat, arg: ExprId) -> ExprId {
        self.simplified(Expr::FConvert { rounding, from, to, arg }, Sort::Bv(to.width()))
    }
    pub fn int_to_f(&mut self, rounding: Rounding, to: FloatFormat, signed: bool, arg: ExprId) -> ExprId {
        self.simplified(Expr::IntToF { rounding, to, signed, arg }, Sort::Bv(to.width()))
    }
    pub fn f_to_int(&mut self, from: FloatFormat, signed: bool, width: u32, arg: ExprId) -> ExprId {
        self.simplified(Expr::FToInt { from, signed, width, arg }, Sort::Bv(width))
    }
    /// An element. That of an array with a lambda in it is a term without: the choice between what was stored and the body
    /// of the lambda at `index`.
    pub fn select(&mut self, array: ExprId, index: ExprId) -> ExprId {
        let Sort::Array { elem, .. } = self.sort(array) else { panic!("select from a bit-vector") };
        if self.with_lambda.contains(&array) {
            return self.element(array, index);
        }
        self.simplified(Expr::Select { array, index }, Sort::Bv(elem))
    }
    pub fn store(&mut self, array: ExprId, index: ExprId, value: ExprId) -> ExprId {
        let sort = self.sort(array);
        self.simplified(Expr::Store { array, index, value }, sort)
    }
    pub fn const_array(&mut self, index: u32, value: ExprId) -> ExprId {
        let elem = self.width(value);
        self.intern(Expr::ConstArray { index, value }, Sort::Array { index, elem })
    }
    /// The index in the body of a lambda.
    pub fn index(&mut self, width: u32) -> ExprId {
        self.intern(Expr::Index(width), Sort::Bv(width))
    }
    /// The array whose elements are `body`, a bit-vector over [`index`](Self::index).
    pub fn lambda(&mut self, index: u32, body: ExprId) -> ExprId {
        let elem = self.width(body);
        self.intern(Expr::Lambda { index, body }, Sort::Array { index, elem })
    }

    /// What all elements of an array have in common, if it was made of constants alone.
    pub fn elements(&self, array: ExprId) -> Option<Elements> {
        self.elements.get(&array).copied()
    }

    /// Whether an array is, or is made from, an [`Expr::Lambda`].
    pub fn has_lambda(&self, array: ExprId) -> bool {
        self.with_lambda.contains(&array)
    }

    /// The element of an array with a lambda in it. Iterative: arrays may have been written many times.
    fn element(&mut self, array: ExprId, index: ExprId) -> ExprId {
        let mut elements: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let mut stack = vec![array];
        while let Some(&a) = stack.last() {
            if elements.contains_key(&a) {
                stack.pop();
                continue;
            }
            let element = match *self.get(a) {
                _ if !self.with_lambda.contains(&a) => self.select(a, index),
                Expr::Store { index: at, value, .. } if at == index => value,
                Expr::Store { array: inner, index: at, value } => match elements.get(&inner) {
                    None => {
                        stack.push(inner);
                        continue;
                    }
                    Some(&other) => {
                        let here = self.eq(at, index);
                        self.ite(here, value, other)
                    }
                },
                Expr::Ite(c, t, e) => match (elements.get(&t), elements.get(&e)) {
                    (Some(&t), Some(&e)) => self.ite(c, t, e),
                    _ => {
                        stack.extend([t, e]);
                        continue;
                    }
                },
                Expr::Lambda { body, .. } => {
                    let bound = |pool: &mut Self, leaf| matches!(pool.get(leaf), Expr::Index(_)).then_some(index);
                    self.substitute(body, &mut FxHashMap::default(), bound)
                }
                ref node => unreachable!("{node:?} is no array with a lambda"),
            };
            elements.insert(a, element);
            stack.pop();
        }
        elements[&array]
    }

    // Shorthands.

    pub fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Add, a, b)
    }
    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Sub, a, b)
    }
    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Mul, a, b)
    }
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::And, a, b)
    }
    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Or, a, b)
    }
    pub fn xor(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Xor, a, b)
    }
    pub fn eq(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Eq, a, b)
    }
    pub fn ne(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let eq = self.eq(a, b);
        self.not(eq)
    }
    pub fn ult(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Ult, a, b)
    }
    pub fn ule(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Ule, a, b)
    }
    pub fn slt(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Slt, a, b)
    }
    pub fn sle(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Sle, a, b)
    }
    pub fn concat(&mut self, high: ExprId, low: ExprId) -> ExprId {
        self.binary(BinOp::Concat, high, low)
    }

    /// `operation` in the rounding mode whose number (that of [`Rounding::ALL`]) is `mode`.
    pub fn rounding_choice(
        &mut self,
        mode: ExprId,
        mut operation: impl FnMut(&mut Self, Rounding) -> ExprId,
    ) -> ExprId {
        let mut result = operation(self, Rounding::Zero);
        for (number, rounding) in (0..3u32).zip(Rounding::ALL).rev() {
            let number = self.int(Rounding::WIDTH, number.into());
            let (is_mode, rounded) = (self.eq(mode, number), operation(self, rounding));
            result = self.ite(is_mode, rounded, result);
        }
        result
    }

    /// The node `node` with its children replaced by `children` (as many as it has), simplified.
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

    /// `root` with leaves replaced: `leaf` gives the replacement of a leaf, or `None` to keep it.
    /// `memo` may be kept between calls with the same `leaf`. Iterative: expressions may be deep.
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

    /// Calls `visit` once for every distinct sub-expression of `root`, children first. `seen` may be
    /// kept between calls to visit each expression once over several roots.
    pub fn visit(&self, root: ExprId, seen: &mut rustc_hash::FxHashSet<ExprId>, mut visit: impl FnMut(ExprId, &Expr)) {
        let mut stack = vec![(root, false)];
        while let Some((e, expanded)) = stack.pop() {
            if expanded {
                visit(e, self.get(e));
            } else if seen.insert(e) {
                stack.push((e, true));
                stack.extend(self.get(e).children().map(|c| (c, false)));
            }
        }
    }

    /// An expression of another pool in this one; `None` if it has symbols, which mean nothing here.
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

    /// The variables that occur in `root`, each once, in order of id.
    pub fn vars(&self, root: ExprId) -> Vec<VarId> {
        let mut vars = Vec::new();
        self.visit(root, &mut Default::default(), |_, node| {
            if let Expr::Var(v) = node {
                vars.push(*v);
            }
        });
        vars.sort_unstable();
        vars
    }
}
