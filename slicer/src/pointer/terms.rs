//! The pointers that a bit-vector expression may hold, as terms: pointer leaves, each with a transformation.
//!
//! Pointers are bit-vectors, so an address may be any expression. `base + 8` shifts every pointer in `base` by 8 bytes,
//! `base + 24 * i` by an unknown multiple of 24. If-then-else and extensions keep the pointers. Comparisons carry none.
//! Any other operation passes the pointers of its leaves on with an unknown offset, because a value composed from parts
//! of a pointer still carries it.
//!
//! The difference of two pointers is a distance from one object to another, not a pointer. A pointer to the one object
//! plus the distance is a pointer to the other. Any other operation on two pointers, and a negation, may make a distance
//! as well.

use cfa::{BinOp, Expr, ExprId, ExprPool, FuncId, GlobalId, UnOp, VarId};
use rustc_hash::FxHashMap;

/// A set of byte distances: `off` alone if `stride` is 0, otherwise all `off + k * stride`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Shift {
    /// One of the distances in bytes. It is less than `stride` and not negative unless `stride` is 0.
    pub off: i64,
    /// The step between distances in bytes, or 0.
    pub stride: u32,
}

/// Exact distances of at least this many bytes become [`Shift::ANY`].
const FAR: i64 = 1 << 30;

impl Shift {
    /// The distance 0.
    pub const ZERO: Self = Self { off: 0, stride: 0 };
    /// Any distance.
    pub const ANY: Self = Self { off: 0, stride: 1 };

    /// The shift in its normal form. Large distances become [`ANY`](Self::ANY).
    pub fn new(off: i64, stride: u32) -> Self {
        match stride {
            0 if off.abs() < FAR => Self { off, stride: 0 },
            0 | 1 => Self::ANY,
            _ => Self { off: off.rem_euclid(i64::from(stride)), stride },
        }
    }
    /// The sums of a distance from `self` and a distance from `next`.
    pub fn then(self, next: Self) -> Self {
        match (self.stride, next.stride) {
            (1, _) | (_, 1) => Self::ANY,
            (a, b) => Self::new(self.off.wrapping_add(next.off), gcd(a, b)),
        }
    }
    /// A shift with the distances of both.
    fn join(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let difference = u32::try_from(self.off.abs_diff(other.off)).unwrap_or(1);
        match gcd(gcd(self.stride, other.stride), difference) {
            0 => self,
            stride => Self::new(self.off, stride),
        }
    }
    fn scaled(self, factor: i64) -> Self {
        let stride = u64::from(self.stride).wrapping_mul(factor.unsigned_abs());
        match (self.off.checked_mul(factor), u32::try_from(stride)) {
            (Some(off), Ok(stride)) if self.stride == 0 || stride != 0 => Self::new(off, stride),
            _ if self.stride == 0 => Self::ANY,
            // Multiples of a huge number are also multiples of its power of two.
            _ => Self::new(0, 1 << stride.trailing_zeros().min(30)),
        }
    }
}

/// The greatest common divisor; `gcd(a, 0)` is `a`.
pub fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A leaf of an expression that may hold pointers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Base {
    /// The value of a variable.
    Var(VarId),
    /// The address of a global.
    Global(GlobalId),
    /// The address of a function.
    Func(FuncId),
}

/// The transformation of a leaf's pointers and distances on the way to the value of the expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LeafTransform {
    /// Pointers are shifted, distances stay unchanged.
    Moved(Shift),
    /// A pointer becomes the distance from other objects to its object.
    Distance,
    /// The leaf is added to a pointer. A distance leads to its object. A pointer is only an index here and leads
    /// nowhere.
    Arrival,
    /// A pointer leads nowhere, distances stay unchanged.
    Number,
    /// A pointer becomes one to anywhere in its object, which the environment may return. A distance leads nowhere.
    Exposure,
}

impl LeafTransform {
    /// The identity.
    pub const SAME: Self = Self::Moved(Shift::ZERO);
    const ANYWHERE: Self = Self::Moved(Shift::ANY);

    /// Over-approximates the composition of two ways, as a union of at most two ways.
    fn then(self, next: Self) -> [Option<Self>; 2] {
        match (self, next) {
            (Self::Moved(a), Self::Moved(b)) => [Some(Self::Moved(a.then(b))), None],
            (Self::Arrival, Self::Arrival | Self::Number) => [None, None],
            (Self::Distance, Self::Arrival) => [Some(Self::ANYWHERE), Some(Self::Arrival)],
            (Self::Distance, _) | (_, Self::Distance) => [Some(Self::Distance), None],
            (Self::Exposure, _) | (_, Self::Exposure) => [Some(Self::ANYWHERE), None],
            (Self::Arrival, _) | (_, Self::Arrival) => [Some(Self::Arrival), None],
            (Self::Number, _) | (_, Self::Number) => [Some(Self::Number), None],
        }
    }
}

/// A leaf of an expression, with the transformation of its pointers and distances.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term {
    /// The leaf.
    pub base: Base,
    /// The transformation.
    pub way: LeafTransform,
}

/// If an expression has more terms, they lose their offsets.
const MANY: usize = 48;

/// Facts about a variable.
#[derive(Clone, Copy, Default)]
pub struct VarFacts {
    /// C declares it a pointer.
    pub is_pointer: bool,
    /// It belongs to a library model. Models subtract only pointers into one object, so the differences of their pointers
    /// are no distances between objects.
    pub is_of_model: bool,
}

/// The terms of the expressions of a pool, cached.
#[derive(Clone)]
pub struct Terms<'p> {
    pool: &'p ExprPool,
    pointer_width: u32,
    /// By variable.
    facts: Vec<VarFacts>,
    arena: Vec<Term>,
    memo: FxHashMap<ExprId, (u32, u32)>,
}

impl<'p> Terms<'p> {
    /// An empty cache.
    pub fn new(pool: &'p ExprPool, pointer_width: u32, facts: Vec<VarFacts>) -> Self {
        Self { pool, pointer_width, facts, arena: Vec::new(), memo: FxHashMap::default() }
    }

    /// Returns true if C declares the variable a pointer.
    pub fn is_pointer(&self, v: VarId) -> bool {
        self.facts.get(v.0 as usize).is_some_and(|facts| facts.is_pointer)
    }
    /// Returns true if the variable belongs to a library model.
    pub fn is_of_model(&self, v: VarId) -> bool {
        self.facts.get(v.0 as usize).is_some_and(|facts| facts.is_of_model)
    }

    /// The terms of an expression, sorted and without duplicates.
    pub fn terms(&mut self, root: ExprId) -> &[Term] {
        let mut stack = vec![root];
        while let Some(&e) = stack.last() {
            if self.memo.contains_key(&e) {
                stack.pop();
                continue;
            }
            let pending = stack.len();
            for child in carrying(self.pool, e) {
                if !self.memo.contains_key(&child) {
                    stack.push(child);
                }
            }
            if stack.len() == pending {
                self.compute(e);
                stack.pop();
            }
        }
        self.known(root)
    }

    fn known(&self, e: ExprId) -> &[Term] {
        let (start, len) = self.memo[&e];
        &self.arena[start as usize..(start + len) as usize]
    }

    /// Computes the terms of `e`. The terms of the children must be cached.
    fn compute(&mut self, e: ExprId) {
        let pool = self.pool;
        let mut terms: Vec<Term> = Vec::new();
        let leaf = |base| Term { base, way: LeafTransform::SAME };
        match *pool.get(e) {
            Expr::Var(v) if pool.width(e) > 1 => terms.push(leaf(Base::Var(v))),
            Expr::GlobalAddr(g) => terms.push(leaf(Base::Global(g))),
            Expr::FuncAddr(f) => terms.push(leaf(Base::Func(f))),
            Expr::Binary(BinOp::Add, a, b) if self.is_address(e) => {
                let (of_a, of_b) = (self.role(a, DEPTH), self.role(b, DEPTH));
                for (one, of_one, other, of_other) in [(a, of_a, b, of_b), (b, of_b, a, of_a)] {
                    let is_moved = !of_other.points_beside(of_one);
                    let moved = LeafTransform::Moved(congruence(pool, other));
                    self.hand_on(&mut terms, one, if is_moved { moved } else { LeafTransform::Number });
                    if !of_one.points_beside(of_other) {
                        self.hand_on(&mut terms, one, LeafTransform::Arrival);
                    }
                    // The sum of an address and a negated one.
                    if self.known(other).iter().any(|term| term.way == LeafTransform::Distance) {
                        self.hand_on(&mut terms, one, LeafTransform::Distance);
                    }
                }
            }
            Expr::Binary(BinOp::Sub, a, b) if self.is_address(e) => {
                let (of_a, of_b) = (self.role(a, DEPTH), self.role(b, DEPTH));
                let is_moved = of_a.points_beside(of_b);
                if (of_a, of_b) != (Role::Pointer, Role::Pointer) {
                    self.hand_on(&mut terms, a, LeafTransform::Moved(congruence(pool, b).scaled(-1)));
                    self.hand_on(&mut terms, b, LeafTransform::Arrival);
                    self.hand_on(&mut terms, b, if is_moved { LeafTransform::Number } else { LeafTransform::ANYWHERE });
                    if !is_moved {
                        self.hand_on(&mut terms, a, LeafTransform::Arrival);
                    }
                }
                // A number that is subtracted from a pointer may be an address, too.
                if !is_moved || of_b == Role::Either {
                    self.hand_on(&mut terms, a, LeafTransform::Distance);
                    self.hand_on(&mut terms, b, LeafTransform::Distance);
                }
            }
            Expr::Ite(_, t, f) => {
                self.hand_on(&mut terms, t, LeafTransform::SAME);
                self.hand_on(&mut terms, f, LeafTransform::SAME);
            }
            Expr::Zext { arg, .. } | Expr::Sext { arg, .. } | Expr::Extract { lo: 0, arg, .. }
                if pool.width(arg).min(pool.width(e)) >= self.pointer_width =>
            {
                self.hand_on(&mut terms, arg, LeafTransform::SAME);
            }
            Expr::Binary(BinOp::Concat, high, low) => {
                let whole = pool.width(low) >= self.pointer_width;
                self.hand_on(&mut terms, low, if whole { LeafTransform::SAME } else { LeafTransform::ANYWHERE });
                self.hand_on(&mut terms, high, LeafTransform::ANYWHERE);
            }
            _ => {
                let is_mixed = carrying(pool, e).filter(|&child| !self.known(child).is_empty()).count() > 1;
                for child in carrying(pool, e) {
                    self.hand_on(&mut terms, child, LeafTransform::ANYWHERE);
                    if is_mixed || is_negation(pool, e) {
                        self.hand_on(&mut terms, child, LeafTransform::Distance);
                    }
                    if is_mixed {
                        self.hand_on(&mut terms, child, LeafTransform::Arrival);
                    }
                }
            }
        }
        terms.sort_unstable();
        terms.dedup();
        if terms.len() > MANY {
            let unshifted = |way| if let LeafTransform::Moved(_) = way { LeafTransform::ANYWHERE } else { way };
            terms.iter_mut().for_each(|t| t.way = unshifted(t.way));
            terms.dedup();
        }
        let start = self.arena.len() as u32;
        self.memo.insert(e, (start, terms.len() as u32));
        self.arena.extend(terms);
    }

    /// The role of an expression of pointer width in a sum.
    fn role(&self, e: ExprId, depth: u32) -> Role {
        if depth == 0 {
            return Role::Either;
        }
        let of = |e| self.role(e, depth - 1);
        let factor = |e| self.pool.as_const(e).and_then(|c| c.to_i64());
        match *self.pool.get(e) {
            Expr::GlobalAddr(_) | Expr::FuncAddr(_) => Role::Pointer,
            Expr::Var(v) if self.is_pointer(v) => Role::Pointer,
            Expr::Const(_) => Role::Index,
            Expr::Zext { arg, .. } | Expr::Sext { arg, .. }
                if self.pool.width(arg) < self.pointer_width && !self.has_address(arg) =>
            {
                Role::Index
            }
            Expr::Binary(BinOp::Mul, ..) => Role::Index,
            Expr::Binary(BinOp::Shl, _, by) if factor(by).is_some_and(|by| (1..=12).contains(&by)) => Role::Index,
            Expr::Unary(UnOp::Neg, a) if of(a) == Role::Index => Role::Index,
            Expr::Binary(BinOp::Add, a, b) => match (of(a), of(b)) {
                (Role::Pointer, _) | (_, Role::Pointer) => Role::Pointer,
                (Role::Index, Role::Index) => Role::Index,
                _ => Role::Either,
            },
            Expr::Binary(BinOp::Sub, a, b) => match (of(a), of(b)) {
                (Role::Pointer, Role::Pointer) | (Role::Index, Role::Index) => Role::Index,
                (Role::Pointer, _) => Role::Pointer,
                _ => Role::Either,
            },
            _ => Role::Either,
        }
    }

    /// True if the expression is computed from an address or a pointer of C. Its terms must be cached.
    fn has_address(&self, e: ExprId) -> bool {
        self.known(e).iter().any(|term| !matches!(term.base, Base::Var(v) if !self.is_pointer(v)))
    }

    fn is_address(&self, e: ExprId) -> bool {
        self.pool.width(e) == self.pointer_width
    }

    fn hand_on(&self, terms: &mut Vec<Term>, child: ExprId, next: LeafTransform) {
        for &Term { base, way } in self.known(child) {
            let next = match (base, next) {
                (Base::Var(v), LeafTransform::Distance) if self.is_of_model(v) && self.is_pointer(v) => {
                    LeafTransform::Number
                }
                _ => next,
            };
            terms.extend(way.then(next).into_iter().flatten().map(|way| Term { base, way }));
        }
    }
}

/// The maximal recursion depth of [`Terms::role`] and [`congruence`].
const DEPTH: u32 = 12;

/// The role of an operand in a sum. A pointer plus an index points into the object of the pointer, whatever the index
/// was computed from. The difference of two pointers is an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Pointer,
    /// A number: a constant, a scaled or narrow integer, or the difference of two pointers.
    Index,
    Either,
}

impl Role {
    /// Returns true if this operand of a sum is the pointer and `other` is not.
    fn points_beside(self, other: Self) -> bool {
        matches!((self, other), (Self::Pointer, Self::Index | Self::Either) | (Self::Either, Self::Index))
    }
}

/// The children whose pointers the expression may carry.
fn carrying(pool: &ExprPool, e: ExprId) -> impl Iterator<Item = ExprId> {
    let node = pool.get(e);
    let is_truth = matches!(*node, Expr::FCompare(..) | Expr::FIsNan(..))
        || matches!(*node, Expr::Binary(op, ..) if op.is_comparison());
    let conditions = usize::from(matches!(*node, Expr::Ite(..)));
    node.children().skip(if is_truth { usize::MAX } else { conditions })
}

/// True if the expression may contain the negation of an operand: a negation, a complement, a difference, or a product
/// with a negative constant.
fn is_negation(pool: &ExprPool, e: ExprId) -> bool {
    let is_negative = |e| pool.as_const(e).is_some_and(|c| c.sign());
    match *pool.get(e) {
        Expr::Unary(UnOp::Neg | UnOp::Not, _) | Expr::Binary(BinOp::Sub, ..) => true,
        Expr::Binary(BinOp::Mul, a, b) => is_negative(a) || is_negative(b),
        _ => false,
    }
}

/// The possible values of an integer expression, as far as multiplications by constants determine them.
///
/// Products of pointer width are assumed not to wrap around, because an index that overflows leaves its object, which
/// is undefined. Narrower products may wrap, which preserves only factors of two.
pub fn congruence(pool: &ExprPool, e: ExprId) -> Shift {
    congruence_within(pool, e, DEPTH)
}

fn congruence_within(pool: &ExprPool, e: ExprId, depth: u32) -> Shift {
    if depth == 0 {
        return Shift::ANY;
    }
    let of = |e| congruence_within(pool, e, depth - 1);
    let constant = |e| pool.as_const(e).and_then(|c| c.to_i64());
    match *pool.get(e) {
        Expr::Const(ref c) => c.to_i64().map_or(Shift::ANY, |c| Shift::new(c, 0)),
        Expr::Unary(UnOp::Neg, a) => of(a).scaled(-1),
        Expr::Binary(BinOp::Add, a, b) => of(a).then(of(b)),
        Expr::Binary(BinOp::Sub, a, b) => of(a).then(of(b).scaled(-1)),
        Expr::Binary(BinOp::Mul, a, b) => match (constant(a), constant(b)) {
            (_, Some(k)) => of(a).scaled(k),
            (Some(k), _) => of(b).scaled(k),
            _ => Shift::ANY,
        },
        Expr::Binary(BinOp::Shl, a, b) => match constant(b) {
            Some(k @ 0..=30) => of(a).scaled(1 << k),
            _ => Shift::ANY,
        },
        Expr::Binary(BinOp::And, _, mask) => match pool.as_const(mask).and_then(|c| c.to_u64()) {
            Some(mask) if mask != 0 => Shift::new(0, 1 << mask.trailing_zeros().min(30)),
            _ => Shift::ANY,
        },
        Expr::Ite(_, t, f) => of(t).join(of(f)),
        Expr::Zext { arg, .. } | Expr::Sext { arg, .. } => {
            let inner = of(arg);
            match inner.stride {
                // Constants are folded, so this one does not fit.
                0 => Shift::ANY,
                stride => Shift::new(inner.off, 1 << stride.trailing_zeros().min(30)),
            }
        }
        _ => Shift::ANY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(are_pointers: [bool; 3]) -> Vec<VarFacts> {
        are_pointers.map(|is_pointer| VarFacts { is_pointer, is_of_model: false }).to_vec()
    }

    fn pool_with_vars() -> (ExprPool, ExprId, ExprId) {
        let mut pool = ExprPool::new();
        let p = pool.var(VarId(0), 64);
        let i = pool.var(VarId(1), 32);
        (pool, p, i)
    }

    #[test]
    fn sums_shift() {
        let (mut pool, p, i) = pool_with_vars();
        let eight = pool.int(64, 8);
        let field = pool.add(p, eight);
        let wide = pool.sext(64, i);
        let scale = pool.int(64, 24);
        let index = pool.mul(wide, scale);
        let element = pool.add(field, index);
        let mut terms = Terms::new(&pool, 64, facts([true, false, false]));
        assert_eq!(
            terms.terms(field),
            [Term { base: Base::Var(VarId(0)), way: LeafTransform::Moved(Shift { off: 8, stride: 0 }) }]
        );
        let of_element = terms.terms(element).to_vec();
        assert!(
            of_element
                .contains(&Term { base: Base::Var(VarId(0)), way: LeafTransform::Moved(Shift { off: 8, stride: 24 }) })
        );
        assert_eq!(of_element.len(), 3);
        for way in [LeafTransform::Arrival, LeafTransform::Number] {
            let index = Term { base: Base::Var(VarId(1)), way };
            assert!(of_element.contains(&index), "the index does not point, unless it is a distance");
        }
    }

    #[test]
    fn distances_lead_from_one_pointer_to_another() {
        let mut pool = ExprPool::new();
        let (p, q, d) = (pool.var(VarId(0), 64), pool.var(VarId(1), 64), pool.var(VarId(2), 64));
        let mut terms = |make: &dyn Fn(&mut ExprPool) -> ExprId| -> Vec<(u32, LeafTransform)> {
            let e = make(&mut pool);
            let found = Terms::new(&pool, 64, facts([true, true, false])).terms(e).to_vec();
            let var = |base| if let Base::Var(v) = base { v.0 } else { unreachable!("no address") };
            found.into_iter().map(|t| (var(t.base), t.way)).collect()
        };
        assert_eq!(terms(&|pool| pool.sub(p, q)), [(0, LeafTransform::Distance), (1, LeafTransform::Distance)]);
        let of_sum = [(0, LeafTransform::ANYWHERE), (2, LeafTransform::Arrival), (2, LeafTransform::Number)];
        assert_eq!(terms(&|pool| pool.add(p, d)), of_sum);
        let there = terms(&|pool| {
            let far = pool.sub(q, p);
            let quarter = pool.int(64, 4);
            let units = pool.binary(BinOp::SDiv, far, quarter);
            pool.add(p, units)
        });
        assert!(there.contains(&(1, LeafTransform::ANYWHERE)), "{there:?}");
        type Make = fn(&mut ExprPool, ExprId, ExprId) -> ExprId;
        let others: [Make; 4] = [
            |pool, p, q| {
                let [low, from] = [p, q].map(|e| pool.extract(31, 0, e));
                let far = pool.sub(low, from);
                pool.sext(64, far)
            },
            |pool, p, q| {
                let minus = pool.neg(p);
                pool.add(q, minus)
            },
            |pool, p, q| {
                let (far, large) = (pool.sub(q, p), pool.int(64, 1 << 40));
                pool.binary(BinOp::SRem, far, large)
            },
            |pool, p, q| pool.binary(BinOp::Xor, p, q),
        ];
        for make in others {
            let far = terms(&|pool| make(pool, p, q));
            assert!([0, 1].iter().all(|&v| far.contains(&(v, LeafTransform::Distance))), "{far:?}");
        }
        // In a difference of two integers, either may be the pointer.
        let either = terms(&|pool| pool.sub(d, d));
        assert!(either.is_empty() || either.contains(&(2, LeafTransform::Distance)));
        let sum = terms(&|pool| {
            let twice = pool.binary(BinOp::Xor, d, q);
            pool.add(d, twice)
        });
        assert!(sum.contains(&(2, LeafTransform::ANYWHERE)) && sum.contains(&(2, LeafTransform::Arrival)), "{sum:?}");
    }

    #[test]
    fn parts_of_pointers_carry_them() {
        let (mut pool, p, i) = pool_with_vars();
        let byte = pool.extract(15, 8, p);
        let low = pool.extract(31, 0, p);
        let joined = pool.concat(i, low);
        let equal = pool.eq(p, joined);
        let mut terms = Terms::new(&pool, 64, facts([true, false, false]));
        assert_eq!(terms.terms(byte), [Term { base: Base::Var(VarId(0)), way: LeafTransform::ANYWHERE }]);
        assert_eq!(terms.terms(joined).len(), 2);
        assert!(terms.terms(equal).is_empty());
    }

    #[test]
    fn narrow_products_may_wrap() {
        let (mut pool, _, i) = pool_with_vars();
        let k = pool.int(32, 24);
        let product = pool.mul(i, k);
        let wide = pool.zext(64, product);
        assert_eq!(congruence(&pool, product), Shift { off: 0, stride: 24 });
        assert_eq!(congruence(&pool, wide), Shift { off: 0, stride: 8 });
    }
}
