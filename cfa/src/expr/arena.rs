//! The hash-consing store of expressions.

use super::{BinOp, Expr, ExprId, Sort, SymId};
use crate::bv::Bv;
use crate::index::{FuncId, GlobalId, Id, Table, VarId};
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

/// The store of expressions. An id is the position in order of construction, so a subexpression has a smaller id than
/// every expression that contains it. The arena stores nodes unchanged; [`ExprPool`](super::ExprPool) simplifies before
/// it stores.
#[derive(Clone, Default)]
pub struct Arena {
    nodes: Table<ExprId, Expr>,
    sorts: Vec<Sort>,
    interned: HashTable<ExprId>,
    symbols: Table<SymId, Sort>,
    /// The array terms that contain an [`Expr::Lambda`].
    with_lambda: FxHashSet<ExprId>,
    /// For arrays that contain constants only: the join of their elements.
    elements: FxHashMap<ExprId, Elements>,
}

/// The join of all elements of an array, each of at most 64 bits. For each element `e`, `low <= e <= high` (unsigned),
/// `e` has all bits of `ones`, and `e` has no bit of `zeros`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Elements {
    /// The least element.
    pub low: u64,
    /// The greatest element.
    pub high: u64,
    /// The bits that are 0 in all elements.
    pub zeros: u64,
    /// The bits that are 1 in all elements.
    pub ones: u64,
}

impl Elements {
    fn from_value(value: &Bv) -> Option<Self> {
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

impl Arena {
    /// The number of expressions.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// True if there are no expressions.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// The node of an expression.
    #[inline]
    pub fn get(&self, e: ExprId) -> &Expr {
        &self.nodes[e]
    }
    /// The sort of an expression.
    #[inline]
    pub fn sort(&self, e: ExprId) -> Sort {
        self.sorts[e.index()]
    }
    /// The width of a bit-vector expression. Panics on an array.
    #[inline]
    pub fn width(&self, e: ExprId) -> u32 {
        self.sort(e).width()
    }
    /// The value of a constant. `None` for all other expressions.
    #[inline]
    pub fn as_const(&self, e: ExprId) -> Option<&Bv> {
        match self.get(e) {
            Expr::Const(c) => Some(c),
            _ => None,
        }
    }
    /// Splits a term `x + c` into `x` and the constant `c`, if the constant fits into 64 bits. The offset of all other
    /// terms is 0. The base of a simplified term is no such sum.
    #[inline]
    pub fn base_and_offset(&self, e: ExprId) -> (ExprId, u64) {
        match *self.get(e) {
            Expr::Binary(BinOp::Add, base, c) => {
                self.as_const(c).and_then(Bv::to_u64).map_or((e, 0), |offset| (base, offset))
            }
            _ => (e, 0),
        }
    }
    /// True for the one-bit constant 1.
    pub fn is_true(&self, e: ExprId) -> bool {
        matches!(self.get(e), Expr::Const(c) if c.width() == 1 && c.is_one())
    }
    /// True for the one-bit constant 0.
    pub fn is_false(&self, e: ExprId) -> bool {
        matches!(self.get(e), Expr::Const(c) if c.width() == 1 && c.is_zero())
    }

    /// Interns a node without simplification. `sort` must be the sort of the node.
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
            Expr::ConstArray { value, .. } => self.as_const(value).and_then(Elements::from_value),
            Expr::Store { array, value, .. } => {
                let others = self.elements.get(&array).copied();
                others.and_then(|others| Some(others.join(self.as_const(value).and_then(Elements::from_value)?)))
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

    /// A constant.
    pub fn constant(&mut self, value: Bv) -> ExprId {
        let sort = Sort::Bv(value.width());
        self.intern(Expr::Const(value), sort)
    }
    /// The constant with the low `width` bits of `value`.
    pub fn int(&mut self, width: u32, value: u64) -> ExprId {
        self.constant(Bv::new(width, value))
    }
    /// The one-bit constant of a truth value.
    pub fn bool(&mut self, value: bool) -> ExprId {
        self.constant(Bv::bool(value))
    }
    /// A variable of this width.
    pub fn var(&mut self, var: VarId, width: u32) -> ExprId {
        self.intern(Expr::Var(var), Sort::Bv(width))
    }
    /// The address of a global.
    pub fn global_addr(&mut self, global: GlobalId, pointer_width: u32) -> ExprId {
        self.intern(Expr::GlobalAddr(global), Sort::Bv(pointer_width))
    }
    /// The address of a function.
    pub fn func_addr(&mut self, func: FuncId, pointer_width: u32) -> ExprId {
        self.intern(Expr::FuncAddr(func), Sort::Bv(pointer_width))
    }
    /// The bytes of a global at an offset (see [`Expr::Content`]).
    pub fn content(&mut self, of: GlobalId, offset: u32, width: u32) -> ExprId {
        self.intern(Expr::Content { of, offset, width }, Sort::Bv(width))
    }
    /// Creates a new symbol.
    pub fn fresh_symbol(&mut self, sort: Sort) -> (SymId, ExprId) {
        let symbol = self.symbols.push(sort);
        (symbol, self.intern(Expr::Sym(symbol), sort))
    }
    /// The sort of a symbol.
    pub fn symbol_sort(&self, symbol: SymId) -> Sort {
        self.symbols[symbol]
    }
    /// The number of symbols.
    pub fn symbol_count(&self) -> usize {
        self.symbols.len()
    }
    /// The expression of a symbol.
    pub fn symbol(&mut self, symbol: SymId) -> ExprId {
        let sort = self.symbols[symbol];
        self.intern(Expr::Sym(symbol), sort)
    }

    /// The join of the elements of an array. `None` unless the array consists of constants.
    pub fn elements(&self, array: ExprId) -> Option<Elements> {
        self.elements.get(&array).copied()
    }

    /// True if an array term contains an [`Expr::Lambda`].
    pub fn has_lambda(&self, array: ExprId) -> bool {
        self.with_lambda.contains(&array)
    }

    /// Calls `visit` once for every distinct subexpression of `root`, children first. A caller may pass the same `seen`
    /// for several roots, to visit each expression once over all of them.
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

    /// The variables in `root`, ascending and without duplicates.
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
