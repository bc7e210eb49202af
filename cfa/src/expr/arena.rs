//! Where expressions are kept, each once.

use super::{Expr, ExprId, Sort, SymId};
use crate::bv::Bv;
use crate::index::{Id, Table};
use crate::program::{FuncId, GlobalId, VarId};
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

/// The arena. Ids are given in order of construction, so a sub-expression has a smaller id than every
/// expression that holds it. It keeps nodes as they are; what builds them simplified is an [`ExprPool`](super::ExprPool).
#[derive(Clone, Default)]
pub struct Arena {
    nodes: Table<ExprId, Expr>,
    sorts: Vec<Sort>,
    interned: HashTable<ExprId>,
    symbols: Table<SymId, Sort>,
    /// The arrays that are, or are made from, an [`Expr::Lambda`].
    with_lambda: FxHashSet<ExprId>,
    /// What is known of the elements of arrays that are tables of constants.
    elements: FxHashMap<ExprId, Elements>,
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

impl Arena {
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
    /// What a global contains at an offset.
    pub fn content(&mut self, of: GlobalId, offset: u32, width: u32) -> ExprId {
        self.intern(Expr::Content { of, offset, width }, Sort::Bv(width))
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

    /// What all elements of an array have in common, if it was made of constants alone.
    pub fn elements(&self, array: ExprId) -> Option<Elements> {
        self.elements.get(&array).copied()
    }

    /// Whether an array is, or is made from, an [`Expr::Lambda`].
    pub fn has_lambda(&self, array: ExprId) -> bool {
        self.with_lambda.contains(&array)
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
