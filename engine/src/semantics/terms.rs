//! The terms of all paths, and their conversion to and from values.

use super::value::{Bases, ObjId, Val, mask};
use cfa::{BinOp, Expr, ExprId, ExprPool, Id, Sort, SymId, UnOp};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// The pool of the program's expressions and the terms of all paths. It records which symbols are addresses of objects.
pub struct Terms {
    pool: ExprPool,
    /// The symbols for the addresses of objects.
    pub bases: Bases,
    /// Memo of [`has_base`](Self::has_base).
    holds_base: Vec<Option<bool>>,
    /// Memo of [`symbols_in`](Self::symbols_in).
    symbols: FxHashMap<ExprId, Rc<[SymId]>>,
    /// The width of pointers in bits.
    pub pointer_width: u32,
}

impl Deref for Terms {
    type Target = ExprPool;
    #[inline]
    fn deref(&self) -> &ExprPool {
        &self.pool
    }
}

impl DerefMut for Terms {
    #[inline]
    fn deref_mut(&mut self) -> &mut ExprPool {
        &mut self.pool
    }
}

impl Terms {
    /// The offset `n` bytes after another one.
    pub(super) fn offset_plus(&mut self, offset: Val, n: u64) -> Val {
        match offset {
            Val::Int(offset) => Val::Int(offset + n),
            other => {
                let w = self.pointer_width;
                let (e, n) = (self.term(other, w), self.int(w, n));
                let e = self.add(e, n);
                self.classify(e)
            }
        }
    }
    /// The terms over a pool of expressions.
    pub fn new(pool: ExprPool, pointer_width: u32) -> Self {
        Self { pool, bases: Bases::default(), holds_base: Vec::new(), symbols: FxHashMap::default(), pointer_width }
    }

    /// The symbol for the address of an object.
    pub fn base(&mut self, object: ObjId) -> ExprId {
        self.bases.symbol(&mut self.pool, object, self.pointer_width)
    }

    /// The canonical value of a term.
    #[inline]
    pub fn classify(&self, e: ExprId) -> Val {
        self.bases.classify(&self.pool, e)
    }

    /// The term for a value of `width` bits. An unset or unknown value becomes a fresh symbol.
    pub fn term(&mut self, value: Val, width: u32) -> ExprId {
        match value {
            Val::Int(v) => self.int(width, v),
            Val::Expr(e) => e,
            Val::Ptr(object, offset) => {
                let base = self.bases.symbol(&mut self.pool, object, width);
                let offset = self.int(width, offset);
                self.add(base, offset)
            }
            Val::Unset | Val::Unknown => {
                let (_, fresh) = self.fresh_symbol(Sort::Bv(width));
                fresh
            }
        }
    }

    /// The term for a value of a sort, which may be an array.
    pub fn term_of(&mut self, value: Val, sort: Sort) -> ExprId {
        match (value, sort) {
            (Val::Expr(e), _) => e,
            (value, Sort::Bv(width)) => self.term(value, width),
            (_, Sort::Array { .. }) => self.fresh_symbol(sort).1,
        }
    }

    /// A value truncated or zero-extended from `from` to `to` bits.
    pub fn resized(&mut self, value: Val, from: u32, to: u32) -> Val {
        if from == to {
            return value;
        }
        if let Val::Int(v) = value
            && to <= 64
        {
            return Val::Int(mask(to, v));
        }
        if value == Val::Unknown {
            return value;
        }
        let e = self.term(value, from);
        let e = self.resize(to, e);
        self.classify(e)
    }

    /// The bits `lo` to `hi`, inclusive, of a value of `width` bits.
    pub fn part(&mut self, value: Val, width: u32, hi: u32, lo: u32) -> Val {
        match value {
            _ if lo == 0 && hi + 1 == width => value,
            Val::Int(v) => Val::Int(mask(hi - lo + 1, v >> lo)),
            Val::Unknown => value,
            _ => {
                let e = self.term(value, width);
                let e = self.extract(hi, lo, e);
                self.classify(e)
            }
        }
    }

    /// A lower bound on the number of low bits of `e` that are always zero, from the top levels of the term.
    pub fn trailing_zeros(&self, e: ExprId) -> u32 {
        self.trailing_zeros_to(e, 24)
    }

    fn trailing_zeros_to(&self, e: ExprId, depth: u32) -> u32 {
        if depth == 0 {
            return 0;
        }
        let of = |e| self.trailing_zeros_to(e, depth - 1);
        let zeros = match *self.get(e) {
            Expr::Const(ref c) => (0..c.width()).find(|&i| c.bit(i)).unwrap_or(c.width()),
            Expr::Binary(BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor, a, b) => of(a).min(of(b)),
            Expr::Binary(BinOp::Mul, a, b) => of(a) + of(b),
            Expr::Binary(BinOp::And, a, b) => of(a).max(of(b)),
            Expr::Binary(BinOp::Concat, a, b) => {
                let low = of(b);
                if low == self.width(b) { low + of(a) } else { low }
            }
            Expr::Unary(UnOp::Neg, a) | Expr::Zext { arg: a, .. } | Expr::Sext { arg: a, .. } => of(a),
            Expr::Ite(_, t, f) => of(t).min(of(f)),
            _ => 0,
        };
        zeros.min(self.width(e))
    }

    /// Appends the summands of `e` to `terms`.
    pub fn sum_terms(&mut self, e: ExprId, terms: &mut Vec<ExprId>) {
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            match *self.get(e) {
                Expr::Binary(BinOp::Add, a, b) => stack.extend([b, a]),
                Expr::Binary(BinOp::Sub, a, b) if self.as_const(b).is_none() => {
                    let negated = self.neg(b);
                    if matches!(self.get(negated), Expr::Binary(BinOp::Sub | BinOp::Add, ..)) {
                        terms.push(negated);
                    } else {
                        stack.push(negated);
                    }
                    stack.push(a);
                }
                _ => terms.push(e),
            }
        }
    }

    /// The object that a pointer points into, if the structure of the pointer determines it.
    pub fn object_of(&mut self, value: Val) -> Option<ObjId> {
        match value {
            Val::Ptr(object, _) => Some(object),
            Val::Expr(e) => {
                let mut found = None;
                let mut terms = Vec::new();
                self.sum_terms(e, &mut terms);
                for term in terms {
                    match self.classify(term) {
                        Val::Ptr(object, _) if found.is_none() => found = Some(object),
                        _ if self.bases_in(term).is_empty() => {}
                        _ => return None,
                    }
                }
                found
            }
            _ => None,
        }
    }

    /// The objects whose addresses occur in a term, in order of id.
    pub fn bases_in(&mut self, e: ExprId) -> Vec<ObjId> {
        if !self.has_base(e) {
            return Vec::new();
        }
        let mut objects = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if !seen.insert(e) || self.holds_base.get(e.index()).copied().flatten() == Some(false) {
                continue;
            }
            if let Expr::Sym(s) = self.get(e)
                && let Some(object) = self.bases.object(*s)
            {
                objects.push(object);
            }
            stack.extend(self.get(e).children());
        }
        objects.sort_unstable();
        objects
    }

    /// True if the address of an object occurs in a term.
    pub(super) fn has_base(&mut self, root: ExprId) -> bool {
        if self.holds_base.len() < self.len() {
            self.holds_base.resize(self.len() + self.len() / 2, None);
        }
        if let Some(known) = self.holds_base[root.index()] {
            return known;
        }
        let mut stack = vec![root];
        while let Some(&e) = stack.last() {
            if self.holds_base[e.index()].is_some() {
                stack.pop();
                continue;
            }
            let pending = stack.len();
            let mut holds = matches!(self.get(e), Expr::Sym(s) if self.bases.object(*s).is_some());
            for child in self.get(e).children() {
                match self.holds_base[child.index()] {
                    Some(h) => holds |= h,
                    None => stack.push(child),
                }
            }
            if stack.len() == pending {
                self.holds_base[e.index()] = Some(holds);
                stack.pop();
            }
        }
        self.holds_base[root.index()].expect("just computed")
    }

    /// The symbols that occur in a term. The result is remembered.
    pub fn symbols_in(&mut self, e: ExprId) -> Rc<[SymId]> {
        if let Some(known) = self.symbols.get(&e) {
            return Rc::clone(known);
        }
        let symbols: Rc<[SymId]> = self.symbols_of(e).into();
        self.symbols.insert(e, Rc::clone(&symbols));
        symbols
    }

    /// The symbols that occur in a term.
    pub fn symbols_of(&self, e: ExprId) -> Vec<SymId> {
        let mut symbols = Vec::new();
        self.visit(e, &mut FxHashSet::default(), |_, node| {
            if let Expr::Sym(s) = node {
                symbols.push(*s);
            }
        });
        symbols
    }
}
