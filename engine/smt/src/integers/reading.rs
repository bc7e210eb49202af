//! Translates bit-vector terms to integer terms.

use super::is_leaf;
use crate::z3::Z3Terms;
use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, Sort, UnOp, Value};
use num_bigint::{BigInt, BigUint, Sign};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ffi::{CStr, CString};
use z3_sys::*;

/// The maximal number of bits of an operand that is divided into its bits.
const MOST_BITS: u64 = 12;

/// An integer term with the range that follows from its structure.
#[derive(Clone, Debug)]
struct Int {
    term: Z3_ast,
    low: BigInt,
    high: BigInt,
}

/// A leaf, divided into pieces at the bits at which some term begins to extract a part of it.
struct Leaf {
    /// The first bit of each piece, and the end of the last one.
    cuts: Vec<u32>,
    pieces: Vec<Option<Int>>,
}

/// The translation of terms to integers.
pub(super) struct Reading<'a> {
    pool: &'a ExprPool,
    pub(super) terms: &'a mut Z3Terms,
    sort: Z3_sort,
    ints: FxHashMap<ExprId, Int>,
    truths: FxHashMap<ExprId, Z3_ast>,
    leaves: FxHashMap<ExprId, Leaf>,
    /// Formulas that hold independently of the set.
    pub(super) definitions: Vec<Z3_ast>,
    numerals: FxHashMap<BigInt, Z3_ast>,
}

fn power(bits: u32) -> BigInt {
    BigInt::from(1) << bits
}

impl<'a> Reading<'a> {
    pub(super) fn new(pool: &'a ExprPool, set: &[ExprId], terms: &'a mut Z3Terms) -> Self {
        let mut leaves: FxHashMap<ExprId, Leaf> = FxHashMap::default();
        let mut seen = FxHashSet::default();
        for &root in set {
            pool.visit(root, &mut seen, |e, node| {
                let (leaf, cuts) = match *node {
                    Expr::Extract { hi, lo, arg } if is_leaf(pool.get(arg)) => (arg, vec![lo, hi + 1]),
                    _ if is_leaf(node) => match pool.sort(e) {
                        Sort::Bv(width) => (e, vec![0, width]),
                        Sort::Array { .. } => return,
                    },
                    _ => return,
                };
                let known = leaves.entry(leaf).or_insert(Leaf { cuts: Vec::new(), pieces: Vec::new() });
                known.cuts.extend(cuts);
            });
        }
        for leaf in leaves.values_mut() {
            leaf.cuts.sort_unstable();
            leaf.cuts.dedup();
            leaf.pieces = vec![None; leaf.cuts.len().saturating_sub(1)];
        }
        let sort = unsafe { Z3_mk_int_sort(terms.context) }.expect("a sort");
        unsafe { Z3_inc_ref(terms.context, Z3_sort_to_ast(terms.context, sort).expect("a sort")) };
        Self {
            pool,
            terms,
            sort,
            ints: FxHashMap::default(),
            truths: FxHashMap::default(),
            leaves,
            definitions: Vec::new(),
            numerals: FxHashMap::default(),
        }
    }

    // Z3 terms.

    fn numeral(&mut self, value: &BigInt) -> Z3_ast {
        if let Some(&known) = self.numerals.get(value) {
            return known;
        }
        let digits = CString::new(value.to_string()).expect("digits");
        let term = self.terms.keep(unsafe { Z3_mk_numeral(self.terms.context, digits.as_ptr(), self.sort) });
        self.numerals.insert(value.clone(), term);
        term
    }

    pub(super) fn fresh(&mut self, is_truth: bool) -> Z3_ast {
        let c = self.terms.context;
        self.terms.keep(unsafe {
            let sort = if is_truth { Z3_mk_bool_sort(c).expect("a sort") } else { self.sort };
            Z3_mk_fresh_const(c, c"v".as_ptr(), sort)
        })
    }

    fn plus(&mut self, a: Z3_ast, b: Z3_ast) -> Z3_ast {
        self.terms.keep(unsafe { Z3_mk_add(self.terms.context, 2, [a, b].as_ptr()) })
    }

    fn minus(&mut self, a: Z3_ast, b: Z3_ast) -> Z3_ast {
        self.terms.keep(unsafe { Z3_mk_sub(self.terms.context, 2, [a, b].as_ptr()) })
    }

    fn times(&mut self, a: Z3_ast, b: Z3_ast) -> Z3_ast {
        self.terms.keep(unsafe { Z3_mk_mul(self.terms.context, 2, [a, b].as_ptr()) })
    }

    fn at_most(&mut self, a: Z3_ast, b: Z3_ast) -> Z3_ast {
        self.terms.keep(unsafe { Z3_mk_le(self.terms.context, a, b) })
    }

    fn less(&mut self, a: Z3_ast, b: Z3_ast) -> Z3_ast {
        self.terms.keep(unsafe { Z3_mk_lt(self.terms.context, a, b) })
    }

    fn equal(&mut self, a: Z3_ast, b: Z3_ast) -> Z3_ast {
        self.terms.keep(unsafe { Z3_mk_eq(self.terms.context, a, b) })
    }

    fn choice(&mut self, c: Z3_ast, t: Z3_ast, e: Z3_ast) -> Z3_ast {
        self.terms.keep(unsafe { Z3_mk_ite(self.terms.context, c, t, e) })
    }

    pub(super) fn require_if(&mut self, condition: Z3_ast, term: Z3_ast) {
        let implied = self.terms.keep(unsafe { Z3_mk_implies(self.terms.context, condition, term) });
        self.definitions.push(implied);
    }

    // Integers with ranges.

    fn constant(&mut self, value: BigInt) -> Int {
        Int { term: self.numeral(&value), low: value.clone(), high: value }
    }

    /// An unknown integer in a range.
    fn unknown(&mut self, low: BigInt, high: BigInt) -> Int {
        if low == high {
            return self.constant(low);
        }
        let term = self.fresh(false);
        let (least, most) = (self.numeral(&low), self.numeral(&high));
        let (above, below) = (self.at_most(least, term), self.at_most(term, most));
        self.definitions.extend([above, below]);
        Int { term, low, high }
    }

    fn any(&mut self, width: u32) -> Int {
        self.unknown(BigInt::ZERO, power(width) - 1)
    }

    fn sum(&mut self, a: &Int, b: &Int) -> Int {
        Int { term: self.plus(a.term, b.term), low: &a.low + &b.low, high: &a.high + &b.high }
    }

    fn difference(&mut self, a: &Int, b: &Int) -> Int {
        Int { term: self.minus(a.term, b.term), low: &a.low - &b.high, high: &a.high - &b.low }
    }

    fn product(&mut self, a: &Int, b: &Int) -> Int {
        let ends = [&a.low * &b.low, &a.low * &b.high, &a.high * &b.low, &a.high * &b.high];
        let (low, high) = (ends.iter().min().expect("four").clone(), ends.iter().max().expect("four").clone());
        Int { term: self.times(a.term, b.term), low, high }
    }

    /// The product `a * 2^bits`.
    fn shifted(&mut self, a: &Int, bits: u32) -> Int {
        let factor = self.constant(power(bits));
        self.product(a, &factor)
    }

    /// The remainder of `a` modulo `2^width`.
    fn wrapped(&mut self, a: Int, width: u32) -> Int {
        self.divided(&a, &power(width)).1
    }

    /// The quotient, rounded down, and the remainder of a division by a positive number.
    fn divided(&mut self, a: &Int, by: &BigInt) -> (Int, Int) {
        let floor = |x: &BigInt| num_floor(x, by);
        let (low, high) = (floor(&a.low), floor(&a.high));
        if low == high {
            let quotient = self.constant(low);
            let factor = self.constant(by.clone());
            let whole = self.product(&quotient, &factor);
            let remainder = if whole.low == BigInt::ZERO { a.clone() } else { self.difference(a, &whole) };
            return (quotient, remainder);
        }
        let quotient = self.unknown(low, high);
        let remainder = self.unknown(BigInt::ZERO, by - 1);
        let factor = self.constant(by.clone());
        let whole = self.product(&quotient, &factor);
        let all = self.sum(&whole, &remainder);
        let definition = self.equal(a.term, all.term);
        self.definitions.push(definition);
        (quotient, remainder)
    }

    /// The unsigned value of a bit-vector.
    fn int(&mut self, e: ExprId) -> Int {
        if let Some(known) = self.ints.get(&e) {
            return known.clone();
        }
        let width = self.pool.width(e);
        let int = if width == 1 && self.pool.as_const(e).is_none() {
            let truth = self.truth(e);
            let (one, zero) = (self.numeral(&1.into()), self.numeral(&BigInt::ZERO));
            Int { term: self.choice(truth, one, zero), low: BigInt::ZERO, high: 1.into() }
        } else {
            match self.taken_apart(e, width) {
                Some(int) => self.wrapped(int, width),
                None => self.any(width),
            }
        };
        self.ints.insert(e, int.clone());
        int
    }

    fn taken_apart(&mut self, e: ExprId, width: u32) -> Option<Int> {
        let pool = self.pool;
        let half = || power(width - 1);
        Some(match *pool.get(e) {
            Expr::Const(ref c) => self.constant(BigInt::from_biguint(Sign::Plus, c.to_biguint())),
            ref node if is_leaf(node) => self.part(e, width - 1, 0),
            Expr::Extract { hi, lo, arg } if is_leaf(pool.get(arg)) => self.part(arg, hi, lo),
            Expr::Extract { hi, lo, arg } => {
                let whole = self.int(arg);
                let low = self.wrapped(whole, hi + 1);
                self.divided(&low, &power(lo)).0
            }
            Expr::Zext { arg, .. } => self.int(arg),
            Expr::Sext { arg, .. } => self.signed(arg),
            Expr::Unary(UnOp::Neg, a) => {
                let (zero, a) = (self.constant(BigInt::ZERO), self.int(a));
                self.difference(&zero, &a)
            }
            Expr::Unary(UnOp::Not, a) => {
                let (ones, a) = (self.constant(power(width) - 1), self.int(a));
                self.difference(&ones, &a)
            }
            Expr::Ite(c, t, f) => {
                let (c, t, f) = (self.truth(c), self.int(t), self.int(f));
                Int { term: self.choice(c, t.term, f.term), low: t.low.min(f.low), high: t.high.max(f.high) }
            }
            Expr::Binary(BinOp::Concat, high, low) => {
                let shift = pool.width(low);
                let (high, low) = (self.int(high), self.int(low));
                let high = self.shifted(&high, shift);
                self.sum(&high, &low)
            }
            Expr::Binary(op, a, b) => {
                let (x, y) = (self.int(a), self.int(b));
                let constant = (y.low == y.high).then(|| y.low.clone());
                let shift = constant.as_ref().and_then(|c| u32::try_from(c).ok()).filter(|&c| c < width);
                match op {
                    BinOp::Add if constant.as_ref().is_some_and(|c| *c >= half()) => {
                        // Subtract the complement, so that the result wraps around only if the subtraction does.
                        let less = self.constant(y.low - power(width));
                        self.sum(&x, &less)
                    }
                    BinOp::Add => self.sum(&x, &y),
                    BinOp::Sub => self.difference(&x, &y),
                    BinOp::Mul => self.product(&x, &y),
                    BinOp::Shl => self.shifted(&x, shift?),
                    BinOp::LShr => self.divided(&x, &power(shift?)).0,
                    BinOp::AShr => {
                        let x = self.signed(a);
                        self.divided(&x, &power(shift?)).0
                    }
                    BinOp::UDiv | BinOp::URem => {
                        let by = constant.filter(|c| *c != BigInt::ZERO)?;
                        let (quotient, remainder) = self.divided(&x, &by);
                        if op == BinOp::UDiv { quotient } else { remainder }
                    }
                    BinOp::SDiv | BinOp::SRem => {
                        let by = constant.filter(|c| *c != BigInt::ZERO && *c < half())?;
                        let x = self.signed(a);
                        let (quotient, remainder) = self.truncated(&x, &by);
                        if op == BinOp::SDiv { quotient } else { remainder }
                    }
                    BinOp::And | BinOp::Or | BinOp::Xor => {
                        let result = self.bitwise(op, x.clone(), y.clone(), width);
                        if op == BinOp::And && [(a, b), (b, a)].into_iter().any(|(a, b)| is_decrement(pool, a, b)) {
                            let number = if is_decrement(pool, a, b) { x } else { y };
                            self.is_zero_at_powers(&result, &number, width);
                        }
                        result
                    }
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// The quotient, rounded to zero, and the remainder of a division by a positive number.
    fn truncated(&mut self, a: &Int, by: &BigInt) -> (Int, Int) {
        if a.low >= BigInt::ZERO {
            return self.divided(a, by);
        }
        let quotient = self.unknown(-(-&a.low / by), num_floor(&a.high.clone().max(BigInt::ZERO), by));
        let remainder = self.unknown(1 - by, by - 1);
        let factor = self.constant(by.clone());
        let whole = self.product(&quotient, &factor);
        let all = self.sum(&whole, &remainder);
        let definition = self.equal(a.term, all.term);
        self.definitions.push(definition);
        // The remainder has the sign of the dividend.
        let zero = self.numeral(&BigInt::ZERO);
        let (negative, above) = (self.at_most(a.term, zero), self.at_most(remainder.term, zero));
        self.require_if(negative, above);
        let (positive, below) = (self.at_most(zero, a.term), self.at_most(zero, remainder.term));
        self.require_if(positive, below);
        (quotient, remainder)
    }

    /// The signed value of a bit-vector.
    fn signed(&mut self, e: ExprId) -> Int {
        let width = self.pool.width(e);
        let (int, half) = (self.int(e), power(width - 1));
        if int.high < half {
            return int;
        }
        let modulus = self.constant(power(width));
        let less = self.difference(&int, &modulus);
        if int.low >= half {
            return less;
        }
        let limit = self.numeral(&half);
        let positive = self.less(int.term, limit);
        Int { term: self.choice(positive, int.term, less.term), low: -half.clone(), high: half - 1 }
    }

    /// Bits `hi..=lo` of a leaf.
    fn part(&mut self, leaf: ExprId, hi: u32, lo: u32) -> Int {
        let mut all = self.constant(BigInt::ZERO);
        let Leaf { cuts, .. } = &self.leaves[&leaf];
        let pieces: Vec<(usize, u32, u32)> = cuts
            .windows(2)
            .enumerate()
            .filter(|(_, cut)| cut[0] >= lo && cut[1] <= hi + 1)
            .map(|(i, cut)| (i, cut[0], cut[1]))
            .collect();
        for (i, start, end) in pieces {
            let piece = match self.leaves[&leaf].pieces[i].clone() {
                Some(piece) => piece,
                None => {
                    let piece = self.any(end - start);
                    self.leaves.get_mut(&leaf).expect("just seen").pieces[i] = Some(piece.clone());
                    piece
                }
            };
            let piece = if start == lo { piece } else { self.shifted(&piece, start - lo) };
            all = if all.high == BigInt::ZERO { piece } else { self.sum(&all, &piece) };
        }
        all
    }

    fn bitwise(&mut self, op: BinOp, mut x: Int, mut y: Int, width: u32) -> Int {
        if x.high < y.high {
            (x, y) = (y, x);
        }
        // From here on, `y` has at most as many bits as `x`.
        if op == BinOp::And && y.low == y.high {
            let (mask, bits) = (y.low.clone(), y.high.bits() as u32);
            let lowest = mask.trailing_zeros().unwrap_or(0) as u32;
            if mask == power(bits) - power(lowest) {
                let part = self.wrapped(x, bits);
                let (quotient, _) = self.divided(&part, &power(lowest));
                return self.shifted(&quotient, lowest);
            }
        }
        let bits = y.high.bits();
        if bits <= MOST_BITS {
            let (xs, ys) = (self.bits(&x, bits as u32), self.bits(&y, bits as u32));
            let one = self.numeral(&1.into());
            let zero = self.numeral(&BigInt::ZERO);
            let mut all = match op {
                BinOp::And => self.constant(BigInt::ZERO),
                _ => {
                    let (above, _) = self.divided(&x, &power(bits as u32));
                    self.shifted(&above, bits as u32)
                }
            };
            for (i, (a, b)) in xs.into_iter().zip(ys).enumerate() {
                let (a, b) = (self.equal(a.term, one), self.equal(b.term, one));
                let c = self.terms.context;
                let bit = self.terms.keep(unsafe {
                    match op {
                        BinOp::And => Z3_mk_and(c, 2, [a, b].as_ptr()),
                        BinOp::Or => Z3_mk_or(c, 2, [a, b].as_ptr()),
                        _ => Z3_mk_xor(c, a, b),
                    }
                });
                let bit = Int { term: self.choice(bit, one, zero), low: BigInt::ZERO, high: 1.into() };
                let bit = self.shifted(&bit, i as u32);
                all = self.sum(&all, &bit);
            }
            return all;
        }
        let result = self.any(width);
        let total = self.plus(x.term, y.term);
        for operand in [x.term, y.term] {
            let ordered = match op {
                BinOp::And => self.at_most(result.term, operand),
                BinOp::Or => self.at_most(operand, result.term),
                _ => break,
            };
            self.definitions.push(ordered);
        }
        let bounded = self.at_most(result.term, total);
        self.definitions.push(bounded);
        result
    }

    /// Adds that `x & (x - 1)` is zero exactly if `x` is zero or a power of two.
    fn is_zero_at_powers(&mut self, result: &Int, x: &Int, width: u32) {
        let zero = self.numeral(&BigInt::ZERO);
        let mut powers = vec![self.equal(x.term, zero)];
        for bit in 0..width {
            let power = self.numeral(&power(bit));
            powers.push(self.equal(x.term, power));
        }
        let context = self.terms.context;
        let any = self.terms.keep(unsafe { Z3_mk_or(context, powers.len() as u32, powers.as_ptr()) });
        let is_zero = self.equal(result.term, zero);
        let definition = self.equal(is_zero, any);
        self.definitions.push(definition);
    }

    /// The lowest `count` bits.
    fn bits(&mut self, x: &Int, count: u32) -> Vec<Int> {
        let mut rest = x.clone();
        let two = BigInt::from(2);
        (0..count)
            .map(|_| {
                let (above, bit) = self.divided(&rest, &two);
                rest = above;
                bit
            })
            .collect()
    }

    /// The truth value of a one-bit expression.
    pub(super) fn truth(&mut self, e: ExprId) -> Z3_ast {
        if let Some(&known) = self.truths.get(&e) {
            return known;
        }
        let truth = self.condition(e);
        self.truths.insert(e, truth);
        truth
    }

    fn condition(&mut self, e: ExprId) -> Z3_ast {
        let (pool, c) = (self.pool, self.terms.context);
        match *pool.get(e) {
            Expr::Const(ref value) => {
                self.terms.keep(unsafe { if value.is_true() { Z3_mk_true(c) } else { Z3_mk_false(c) } })
            }
            Expr::Unary(UnOp::Not, a) => {
                let a = self.truth(a);
                self.terms.keep(unsafe { Z3_mk_not(c, a) })
            }
            // Negation is the identity on one bit.
            Expr::Unary(UnOp::Neg, a) => self.truth(a),
            Expr::Ite(condition, t, f) => {
                let (condition, t, f) = (self.truth(condition), self.truth(t), self.truth(f));
                self.choice(condition, t, f)
            }
            Expr::Binary(op @ (BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Add | BinOp::Sub), a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                self.terms.keep(unsafe {
                    match op {
                        BinOp::And => Z3_mk_and(c, 2, [a, b].as_ptr()),
                        BinOp::Or => Z3_mk_or(c, 2, [a, b].as_ptr()),
                        _ => Z3_mk_xor(c, a, b),
                    }
                })
            }
            Expr::Binary(op, a, b) if op.is_comparison() && matches!(pool.sort(a), Sort::Bv(_)) => match op {
                BinOp::Eq if pool.width(a) == 1 => {
                    let (a, b) = (self.truth(a), self.truth(b));
                    self.equal(a, b)
                }
                BinOp::Slt | BinOp::Sle => {
                    let (a, b) = (self.signed(a), self.signed(b));
                    if op == BinOp::Slt { self.less(a.term, b.term) } else { self.at_most(a.term, b.term) }
                }
                _ => {
                    let (a, b) = (self.int(a), self.int(b));
                    match op {
                        BinOp::Eq => self.equal(a.term, b.term),
                        BinOp::Ult => self.less(a.term, b.term),
                        _ => self.at_most(a.term, b.term),
                    }
                }
            },
            Expr::Extract { .. } | Expr::Sym(_) | Expr::Var(_) => {
                let int = self.taken_apart(e, 1).expect("a part");
                let int = self.wrapped(int, 1);
                let one = self.numeral(&1.into());
                self.equal(int.term, one)
            }
            _ => self.fresh(true),
        }
    }

    /// A condition under which all leaves, or their pieces, are less than `2^bits`.
    pub(super) fn modest(&mut self, bits: u32) -> Z3_ast {
        let name = self.fresh(true);
        let limit = self.numeral(&power(bits));
        let wide = |piece: &Int| piece.high >= power(bits);
        let pieces: Vec<Z3_ast> = self
            .leaves
            .values()
            .flat_map(|leaf| leaf.pieces.iter().flatten())
            .filter(|&piece| wide(piece))
            .map(|piece| piece.term)
            .collect();
        for piece in pieces {
            let small = self.less(piece, limit);
            self.require_if(name, small);
        }
        name
    }

    /// The values of leaves in a model.
    ///
    /// # Safety
    /// The model must belong to this context.
    pub(super) unsafe fn values(&self, model: Z3_model) -> FxHashMap<ExprId, Value> {
        let context = self.terms.context;
        let mut values = FxHashMap::default();
        for (&leaf, Leaf { cuts, pieces }) in &self.leaves {
            let mut value = BigUint::ZERO;
            for (cut, piece) in cuts.iter().zip(pieces) {
                let Some(piece) = piece else { continue };
                let mut term = piece.term;
                let digits = unsafe {
                    if !Z3_model_eval(context, model, piece.term, true, &mut term) {
                        continue;
                    }
                    Z3_inc_ref(context, term);
                    let text = CStr::from_ptr(Z3_get_numeral_string(context, term));
                    let digits = BigUint::parse_bytes(text.to_bytes(), 10).unwrap_or_default();
                    Z3_dec_ref(context, term);
                    digits
                };
                value |= digits << *cut;
            }
            values.insert(leaf, Value::Bv(Bv::from_big(self.pool.width(leaf), value)));
        }
        values
    }
}

/// Returns true if `b` is `a - 1`.
fn is_decrement(pool: &ExprPool, a: ExprId, b: ExprId) -> bool {
    matches!(*pool.get(b), Expr::Binary(BinOp::Add, x, c) if x == a && pool.as_const(c).is_some_and(Bv::is_ones))
}

fn num_floor(x: &BigInt, by: &BigInt) -> BigInt {
    let quotient = x / by;
    if x.sign() == Sign::Minus && &quotient * by != *x { quotient - 1 } else { quotient }
}
