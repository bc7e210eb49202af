//! Translates expressions to terms of an SMT solver. This module alone defines the meaning of expressions in SMT-LIB.
//! Each solver implements [`Terms`], which only constructs terms.
//!
//! Expressions are bit-vectors, but SMT-LIB distinguishes truth values and floats from them. So a term has up to three
//! *forms*, which are created on demand and cached: its bits, its truth value, and its value as a float of some format.
//! The form that its operation yields is the native one; the others are conversions. SMT-LIB has no function from
//! floats to bits. So the bits of a float result are a new constant, and an *axiom* relates it to the float. Axioms are
//! satisfiable for some value of their constant, whatever else is asserted. They are asserted together with the first
//! formula that contains them.

mod terms;

use terms::Form::{self, Bits, Truth};
pub use terms::{Fun, Rounding, SmtSort, Terms};

use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, FBinOp, FCmp, FUnOp, FloatFormat, Id, Sort, UnOp};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Translates the expressions of one pool, each once per form.
pub struct Translator<T: Terms> {
    /// The constructor of terms.
    pub terms: T,
    bits: Vec<Option<T::Term>>,
    truths: Vec<Option<T::Term>>,
    floats: FxHashMap<(ExprId, FloatFormat), T::Term>,
    axioms: Vec<T::Term>,
    /// The axioms about the constants that represent an expression or one of its forms.
    axioms_of: FxHashMap<ExprId, Vec<u32>>,
    axioms_below: FxHashMap<ExprId, Rc<[u32]>>,
    /// The leaves other than constants, in the order of translation.
    leaves: Vec<ExprId>,
    stack: Vec<(ExprId, Form)>,
}

impl<T: Terms> Translator<T> {
    /// A translator without translated expressions.
    pub fn new(terms: T) -> Self {
        Self {
            terms,
            bits: Vec::new(),
            truths: Vec::new(),
            floats: FxHashMap::default(),
            axioms: Vec::new(),
            axioms_of: FxHashMap::default(),
            axioms_below: FxHashMap::default(),
            leaves: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// The truth value of the one-bit expression `e`.
    pub fn formula(&mut self, pool: &ExprPool, e: ExprId) -> T::Term {
        debug_assert_eq!(pool.width(e), 1);
        self.translate(pool, e, Truth)
    }

    /// The constant of the leaf `e`, if it was translated.
    pub fn leaf(&self, e: ExprId) -> Option<T::Term> {
        self.bits.get(e.index()).copied().flatten()
    }

    /// The axioms about sub-terms of `root`, as numbers for [`axiom`](Self::axiom). `root` must have been translated.
    pub fn axioms_below(&mut self, pool: &ExprPool, root: ExprId) -> Rc<[u32]> {
        if self.axioms.is_empty() {
            return Rc::default();
        }
        if let Some(known) = self.axioms_below.get(&root) {
            return Rc::clone(known);
        }
        let mut found = Vec::new();
        pool.visit(root, &mut FxHashSet::default(), |e, _| {
            found.extend(self.axioms_of.get(&e).into_iter().flatten());
        });
        let found: Rc<[u32]> = found.into();
        self.axioms_below.insert(root, Rc::clone(&found));
        found
    }

    /// The axiom with this number.
    pub fn axiom(&self, number: u32) -> T::Term {
        self.axioms[number as usize]
    }

    fn add_axiom(&mut self, e: ExprId, axiom: T::Term) {
        self.axioms_of.entry(e).or_default().push(self.axioms.len() as u32);
        self.axioms.push(axiom);
    }

    fn known(&self, e: ExprId, form: Form) -> Option<T::Term> {
        match form {
            Bits => self.bits[e.index()],
            Truth => self.truths[e.index()],
            Form::Float(format) => self.floats.get(&(e, format)).copied(),
        }
    }

    fn translate(&mut self, pool: &ExprPool, root: ExprId, form: Form) -> T::Term {
        if self.bits.len() < pool.len() {
            self.bits.resize(pool.len(), None);
            self.truths.resize(pool.len(), None);
        }
        debug_assert!(self.stack.is_empty());
        self.stack.push((root, form));
        while let Some(&(e, form)) = self.stack.last() {
            let pending = self.stack.len();
            if self.known(e, form).is_some() {
                self.stack.pop();
            } else if let Some(term) = self.make(pool, e, form) {
                match form {
                    Bits => self.bits[e.index()] = Some(term),
                    Truth => self.truths[e.index()] = Some(term),
                    Form::Float(format) => {
                        self.floats.insert((e, format), term);
                    }
                }
                self.stack.pop();
            } else {
                debug_assert!(self.stack.len() > pending, "nothing to wait for");
            }
        }
        self.known(root, form).expect("just made")
    }

    /// Returns the terms of `wanted`. If some are missing, pushes these on the stack and returns `None`.
    fn args<const N: usize>(&mut self, wanted: [(ExprId, Form); N]) -> Option<[T::Term; N]> {
        let pending = self.stack.len();
        let found = wanted.map(|(e, form)| {
            let term = self.known(e, form);
            if term.is_none() {
                self.stack.push((e, form));
            }
            term
        });
        (self.stack.len() == pending).then(|| found.map(|t| t.expect("none is missing")))
    }

    fn fun<const N: usize>(&mut self, fun: Fun, wanted: [(ExprId, Form); N]) -> Option<T::Term> {
        let args = self.args(wanted)?;
        Some(self.terms.apply(fun, &args))
    }

    fn not(&mut self, a: T::Term) -> T::Term {
        self.terms.apply(Fun::Not, &[a])
    }
    fn and(&mut self, a: T::Term, b: T::Term) -> T::Term {
        self.terms.apply(Fun::And, &[a, b])
    }
    fn or(&mut self, a: T::Term, b: T::Term) -> T::Term {
        self.terms.apply(Fun::Or, &[a, b])
    }
    fn ite(&mut self, c: T::Term, t: T::Term, e: T::Term) -> T::Term {
        self.terms.apply(Fun::Ite, &[c, t, e])
    }
    fn equal(&mut self, a: T::Term, b: T::Term) -> T::Term {
        self.terms.apply(Fun::Equal, &[a, b])
    }
    fn extract(&mut self, hi: u32, lo: u32, a: T::Term) -> T::Term {
        self.terms.apply(Fun::Extract { hi, lo }, &[a])
    }

    /// The form that the operation of a node yields. Constants and `Ite` have every form.
    fn native(pool: &ExprPool, e: ExprId) -> Form {
        match *pool.get(e) {
            Expr::Binary(op, ..) if op.is_comparison() => Truth,
            Expr::FCompare(..) | Expr::FIsNan(..) => Truth,
            Expr::Unary(UnOp::Not, _) | Expr::Binary(BinOp::And | BinOp::Or | BinOp::Xor, ..) | Expr::Ite(..)
                if pool.sort(e) == Sort::Bv(1) =>
            {
                Truth
            }
            Expr::FUnary(FUnOp::Neg | FUnOp::Abs, ..) | Expr::FBinary(FBinOp::Min | FBinOp::Max, ..) => Bits,
            Expr::FUnary(_, format, _) | Expr::FBinary(_, format, ..) | Expr::Fma(_, format, ..) => Form::Float(format),
            Expr::FConvert { to, .. } | Expr::IntToF { to, .. } => Form::Float(to),
            _ => Bits,
        }
    }

    /// The term of `e` in `form`. `None` if it needs other terms, which are then on the stack.
    fn make(&mut self, pool: &ExprPool, e: ExprId, form: Form) -> Option<T::Term> {
        match (form, Self::native(pool, e)) {
            (Truth, Truth) => self.make_truth(pool, e),
            (Truth, _) => {
                if let Some(c) = pool.as_const(e) {
                    return Some(self.terms.truth(c.is_true()));
                }
                let [bits] = self.args([(e, Bits)])?;
                let one = self.terms.bits(&Bv::one(1));
                Some(self.equal(bits, one))
            }
            (Bits, Bits) => self.make_bits(pool, e),
            (Bits, Truth) => {
                let [truth] = self.args([(e, Truth)])?;
                let (one, zero) = (self.terms.bits(&Bv::one(1)), self.terms.bits(&Bv::zero(1)));
                Some(self.ite(truth, one, zero))
            }
            (Bits, Form::Float(format)) => {
                let [float] = self.args([(e, Form::Float(format))])?;
                let bits = self.terms.constant(&format!("bits!{}", e.0), SmtSort::Bits(format.width()));
                let mut axiom = self.decode(format, bits);
                axiom = self.equal(axiom, float);
                if format == FloatFormat::X87 {
                    // Numbers are canonical: the integer bit is set exactly if the exponent is not zero. A NaN result
                    // may come from an invalid operand, so its integer bit is unconstrained.
                    let (exponent, zero) = (self.extract(78, 64, bits), self.terms.bits(&Bv::zero(15)));
                    let (integer, one) = (self.extract(63, 63, bits), self.terms.bits(&Bv::one(1)));
                    let (subnormal, integer) = (self.equal(exponent, zero), self.equal(integer, one));
                    let canonical = self.terms.apply(Fun::Xor, &[subnormal, integer]);
                    let nan = self.terms.apply(Fun::FpIsNan, &[float]);
                    let canonical = self.or(nan, canonical);
                    axiom = self.and(axiom, canonical);
                }
                self.add_axiom(e, axiom);
                Some(bits)
            }
            (Form::Float(format), native) => match self.make_float(pool, e, format, native) {
                Made::Term(term) => Some(term),
                Made::Waits => None,
                Made::FromBits => {
                    let [bits] = self.args([(e, Bits)])?;
                    Some(self.decode(format, bits))
                }
            },
        }
    }

    fn make_truth(&mut self, pool: &ExprPool, e: ExprId) -> Option<T::Term> {
        match *pool.get(e) {
            Expr::Unary(UnOp::Not, a) => self.fun(Fun::Not, [(a, Truth)]),
            Expr::Binary(BinOp::And, a, b) => self.fun(Fun::And, [(a, Truth), (b, Truth)]),
            Expr::Binary(BinOp::Or, a, b) => self.fun(Fun::Or, [(a, Truth), (b, Truth)]),
            Expr::Binary(BinOp::Xor, a, b) => self.fun(Fun::Xor, [(a, Truth), (b, Truth)]),
            Expr::Binary(BinOp::Eq, a, b) => {
                let form = if pool.sort(a) == Sort::Bv(1) { Truth } else { Bits };
                self.fun(Fun::Equal, [(a, form), (b, form)])
            }
            Expr::Binary(op, a, b) => self.fun(Fun::Bv(op), [(a, Bits), (b, Bits)]),
            Expr::Ite(c, t, f) => self.fun(Fun::Ite, [(c, Truth), (t, Truth), (f, Truth)]),
            Expr::FIsNan(format, a) => self.fun(Fun::FpIsNan, [(a, Form::Float(format))]),
            Expr::FCompare(op, format, a, b) => {
                let fun = match op {
                    FCmp::Eq => Fun::FpEq,
                    FCmp::Lt => Fun::FpLt,
                    FCmp::Le => Fun::FpLe,
                };
                self.fun(fun, [(a, Form::Float(format)), (b, Form::Float(format))])
            }
            ref node => unreachable!("{node:?} is no truth value"),
        }
    }

    fn make_bits(&mut self, pool: &ExprPool, e: ExprId) -> Option<T::Term> {
        match *pool.get(e) {
            Expr::Const(ref c) => Some(self.terms.bits(c)),
            Expr::Sym(_) | Expr::Var(_) | Expr::GlobalAddr(_) | Expr::FuncAddr(_) => {
                self.leaves.push(e);
                Some(self.terms.constant(&leaf_name(pool.get(e)), pool.sort(e).into()))
            }
            Expr::Unary(UnOp::Not, a) => self.fun(Fun::BvNot, [(a, Bits)]),
            Expr::Unary(UnOp::Neg, a) => self.fun(Fun::BvNeg, [(a, Bits)]),
            Expr::Binary(op, a, b) => self.fun(Fun::Bv(op), [(a, Bits), (b, Bits)]),
            Expr::Ite(c, t, f) => self.fun(Fun::Ite, [(c, Truth), (t, Bits), (f, Bits)]),
            Expr::Extract { hi, lo, arg } => self.fun(Fun::Extract { hi, lo }, [(arg, Bits)]),
            Expr::Zext { width, arg } => self.fun(Fun::ZeroExtend(width - pool.width(arg)), [(arg, Bits)]),
            Expr::Sext { width, arg } => self.fun(Fun::SignExtend(width - pool.width(arg)), [(arg, Bits)]),
            Expr::Select { array, index } => self.fun(Fun::Select, [(array, Bits), (index, Bits)]),
            Expr::Store { array, index, value } => self.fun(Fun::Store, [(array, Bits), (index, Bits), (value, Bits)]),
            Expr::ConstArray { index, value } => {
                let elem = pool.width(value);
                let [value] = self.args([(value, Bits)])?;
                Some(self.terms.const_array(index, elem, value))
            }
            Expr::Lambda { .. } | Expr::Index(_) => {
                panic!("a lambda in a formula: elements of one are terms without it")
            }
            Expr::FUnary(FUnOp::Neg, format, a) => {
                let [a] = self.args([(a, Bits)])?;
                let mask = self.terms.bits(&Bv::min_signed(format.width()));
                Some(self.terms.apply(Fun::Bv(BinOp::Xor), &[a, mask]))
            }
            Expr::FUnary(FUnOp::Abs, format, a) => {
                let [a] = self.args([(a, Bits)])?;
                let mask = self.terms.bits(&Bv::min_signed(format.width()).not());
                Some(self.terms.apply(Fun::Bv(BinOp::And), &[a, mask]))
            }
            Expr::FBinary(op @ (FBinOp::Min | FBinOp::Max), format, a, b) => {
                let float = Form::Float(format);
                let [x, y, a, b] = self.args([(a, float), (b, float), (a, Bits), (b, Bits)])?;
                let choice = self.min_max(op, x, y, a, b);
                // If both are NaN, the result is the first one, quieted.
                let (x_nan, y_nan) = (self.terms.apply(Fun::FpIsNan, &[x]), self.terms.apply(Fun::FpIsNan, &[y]));
                let both = self.and(x_nan, y_nan);
                let quiet_bit = if format == FloatFormat::X87 { 62 } else { format.significand_bits() - 2 };
                let quiet_bit = self.terms.bits(&Bv::from_u128(format.width(), 1 << quiet_bit));
                let quiet = self.terms.apply(Fun::Bv(BinOp::Or), &[a, quiet_bit]);
                Some(self.ite(both, quiet, choice))
            }
            Expr::FToInt { from, signed, width, arg } => {
                let [float] = self.args([(arg, Form::Float(from))])?;
                Some(self.float_to_int(from, signed, width, float))
            }
            ref node => unreachable!("the bits of {node:?}"),
        }
    }

    fn make_float(&mut self, pool: &ExprPool, e: ExprId, format: FloatFormat, native: Form) -> Made<T::Term> {
        let float = Form::Float(format);
        let made = match *pool.get(e) {
            Expr::Ite(c, t, f) => self.fun(Fun::Ite, [(c, Truth), (t, float), (f, float)]),
            Expr::FUnary(FUnOp::Neg, own, a) if own == format => self.fun(Fun::FpNeg, [(a, float)]),
            Expr::FUnary(FUnOp::Abs, own, a) if own == format => self.fun(Fun::FpAbs, [(a, float)]),
            Expr::FBinary(op @ (FBinOp::Min | FBinOp::Max), own, a, b) if own == format => {
                let Some([a, b]) = self.args([(a, float), (b, float)]) else { return Made::Waits };
                Some(self.min_max(op, a, b, a, b))
            }
            // An expression of another format, or one that is not a float.
            _ if native != float => return Made::FromBits,
            Expr::FUnary(op, _, a) => {
                let round = Fun::FpRoundToIntegral;
                let fun = match op {
                    FUnOp::Sqrt(rounding) => Fun::FpSqrt(rounding.into()),
                    FUnOp::Floor => round(Rounding::Down),
                    FUnOp::Ceil => round(Rounding::Up),
                    FUnOp::Trunc => round(Rounding::Zero),
                    FUnOp::RoundEven => round(Rounding::NearestEven),
                    FUnOp::RoundAway => round(Rounding::NearestAway),
                    FUnOp::Neg | FUnOp::Abs => unreachable!("native form is bits"),
                };
                self.fun(fun, [(a, float)])
            }
            Expr::FBinary(op, _, a, b) => {
                let fun = match op {
                    FBinOp::Add(rounding) => Fun::FpAdd(rounding.into()),
                    FBinOp::Sub(rounding) => Fun::FpSub(rounding.into()),
                    FBinOp::Mul(rounding) => Fun::FpMul(rounding.into()),
                    FBinOp::Div(rounding) => Fun::FpDiv(rounding.into()),
                    FBinOp::Rem => {
                        let Some([a, b]) = self.args([(a, float), (b, float)]) else { return Made::Waits };
                        return Made::Term(self.fmod(e, format, a, b));
                    }
                    FBinOp::Min | FBinOp::Max => unreachable!("native form is bits"),
                };
                self.fun(fun, [(a, float), (b, float)])
            }
            Expr::Fma(rounding, _, a, b, c) => {
                self.fun(Fun::FpFma(rounding.into()), [(a, float), (b, float), (c, float)])
            }
            Expr::FConvert { rounding, from, to, arg } => {
                self.fun(Fun::FpFromFp(rounding.into(), to), [(arg, Form::Float(from))])
            }
            Expr::IntToF { rounding, to, signed, arg } => {
                let Some([mut int]) = self.args([(arg, Bits)]) else { return Made::Waits };
                // Bitwuzla's conversion is very slow for integers that are about as wide as the significand.
                let width = pool.width(arg);
                let comfortable = to.significand_bits() + 3;
                if width < comfortable {
                    let by = comfortable - width;
                    int = self.terms.apply(if signed { Fun::SignExtend(by) } else { Fun::ZeroExtend(by) }, &[int]);
                }
                let rounding = rounding.into();
                let fun = if signed { Fun::FpFromSigned(rounding, to) } else { Fun::FpFromUnsigned(rounding, to) };
                Some(self.terms.apply(fun, &[int]))
            }
            ref node => unreachable!("{node:?} is no float"),
        };
        made.map_or(Made::Waits, Made::Term)
    }

    /// The float that `bits` represent.
    fn decode(&mut self, format: FloatFormat, bits: T::Term) -> T::Term {
        if format != FloatFormat::X87 {
            return self.terms.apply(Fun::FpFromBits(format), &[bits]);
        }
        // Drops the explicit integer bit. A pseudo-denormal (exponent 0, integer bit 1) has the value that it would
        // have with exponent 1. A nonzero exponent without the integer bit is not a number.
        let sign = self.extract(79, 79, bits);
        let exponent = self.extract(78, 64, bits);
        let integer = self.extract(63, 63, bits);
        let fraction = self.extract(62, 0, bits);
        let (zero, one) = (self.terms.bits(&Bv::zero(15)), self.terms.bits(&Bv::one(15)));
        let bit = self.terms.bits(&Bv::one(1));
        let has_integer = self.equal(integer, bit);
        let no_exponent = self.equal(exponent, zero);
        let pseudo_denormal = self.and(no_exponent, has_integer);
        let exponent = self.ite(pseudo_denormal, one, exponent);
        let high = self.terms.apply(Fun::Bv(BinOp::Concat), &[sign, exponent]);
        let ieee = self.terms.apply(Fun::Bv(BinOp::Concat), &[high, fraction]);
        let is_number = self.or(no_exponent, has_integer);
        let nan = self.terms.bits(&Bv::ones(79));
        let ieee = self.ite(is_number, ieee, nan);
        self.terms.apply(Fun::FpFromBits(format), &[ieee])
    }

    /// C's `fmin` and `fmax` of the floats `x` and `y`; the result is one of the bit patterns `a` and `b`. If one is a
    /// NaN, the result is the other; if both are, it is `b`. -0 is less than +0.
    fn min_max(&mut self, op: FBinOp, x: T::Term, y: T::Term, a: T::Term, b: T::Term) -> T::Term {
        let less = self.terms.apply(Fun::FpLt, &[x, y]);
        let equal = self.terms.apply(Fun::FpEq, &[x, y]);
        let (x_negative, y_negative) =
            (self.terms.apply(Fun::FpIsNegative, &[x]), self.terms.apply(Fun::FpIsNegative, &[y]));
        let y_positive = self.not(y_negative);
        let signs = self.and(x_negative, y_positive);
        let zeros = self.and(equal, signs);
        let less = self.or(less, zeros);
        let choice = if op == FBinOp::Min { self.ite(less, a, b) } else { self.ite(less, b, a) };
        let (x_nan, y_nan) = (self.terms.apply(Fun::FpIsNan, &[x]), self.terms.apply(Fun::FpIsNan, &[y]));
        let choice = self.ite(y_nan, a, choice);
        self.ite(x_nan, b, choice)
    }

    /// Converts to an integer, rounding towards zero. For NaN and values out of range, which SMT-LIB leaves open, the
    /// result is the sign bit alone.
    fn float_to_int(&mut self, from: FloatFormat, signed: bool, width: u32, x: T::Term) -> T::Term {
        let rtz = Rounding::Zero;
        let whole = self.terms.apply(Fun::FpRoundToIntegral(rtz), &[x]);
        // The bounds are powers of two, or infinite if the format cannot represent them.
        let power = |this: &mut Self, negative: bool, exponent: u32| {
            let mut bits = cfa::float::power_of_two(from, exponent);
            if negative {
                bits = cfa::float::unary(FUnOp::Neg, from, &bits);
            }
            let bits = this.terms.bits(&bits);
            this.decode(from, bits)
        };
        let (low, high) = if signed {
            (power(self, true, width - 1), power(self, false, width - 1))
        } else {
            let zero = self.terms.bits(&Bv::zero(from.width()));
            (self.decode(from, zero), power(self, false, width))
        };
        let above = self.terms.apply(Fun::FpLe, &[low, whole]);
        let below = self.terms.apply(Fun::FpLt, &[whole, high]);
        let infinite = self.terms.apply(Fun::FpIsInf, &[x]);
        let finite = self.not(infinite);
        let mut in_range = self.and(above, below);
        in_range = self.and(in_range, finite);
        // Bitwuzla 0.8 crashes on signed conversions to one bit.
        let wide = width.max(2);
        let fun = if signed { Fun::FpToSigned(rtz, wide) } else { Fun::FpToUnsigned(rtz, wide) };
        let mut value = self.terms.apply(fun, &[x]);
        if wide > width {
            value = self.extract(width - 1, 0, value);
        }
        let indefinite = self.terms.bits(&Bv::min_signed(width));
        self.ite(in_range, value, indefinite)
    }

    /// C's `fmod`. Up to single precision, it is computed from the IEEE remainder `r` of the magnitudes: `r` if that is
    /// not negative, and `r + |y|` otherwise (which is exact), with the sign of `x`. For wider formats, solvers cannot
    /// handle the remainder, which unrolls a division of thousands of bits. There, the result is a constant with the
    /// bounds of a remainder.
    fn fmod(&mut self, e: ExprId, format: FloatFormat, x: T::Term, y: T::Term) -> T::Term {
        let (x_abs, y_abs) = (self.terms.apply(Fun::FpAbs, &[x]), self.terms.apply(Fun::FpAbs, &[y]));
        let x_negative = self.terms.apply(Fun::FpIsNegative, &[x]);
        if format.width() <= 32 {
            let r = self.terms.apply(Fun::FpRem, &[x_abs, y_abs]);
            let zero = self.terms.bits(&Bv::zero(format.width()));
            let zero = self.decode(format, zero);
            let below = self.terms.apply(Fun::FpLt, &[r, zero]);
            let lifted = self.terms.apply(Fun::FpAdd(Rounding::NearestEven), &[r, y_abs]);
            let r = self.ite(below, lifted, r);
            let r = self.terms.apply(Fun::FpAbs, &[r]);
            let negated = self.terms.apply(Fun::FpNeg, &[r]);
            return self.ite(x_negative, negated, r);
        }
        let r = self.terms.constant(&format!("fmod!{}", e.0), SmtSort::Float(format));
        let is = |this: &mut Self, fun, a| this.terms.apply(fun, &[a]);
        let (x_nan, y_nan) = (is(self, Fun::FpIsNan, x), is(self, Fun::FpIsNan, y));
        let (x_inf, y_zero) = (is(self, Fun::FpIsInf, x), is(self, Fun::FpIsZero, y));
        let mut invalid = self.or(x_nan, y_nan);
        invalid = self.or(invalid, x_inf);
        invalid = self.or(invalid, y_zero);
        let r_nan = is(self, Fun::FpIsNan, r);
        let nan_iff_invalid = self.equal(invalid, r_nan);
        let r_abs = is(self, Fun::FpAbs, r);
        let below_x = self.terms.apply(Fun::FpLe, &[r_abs, x_abs]);
        let below_y = self.terms.apply(Fun::FpLt, &[r_abs, y_abs]);
        let r_negative = is(self, Fun::FpIsNegative, r);
        let same_sign = self.equal(r_negative, x_negative);
        let x_small = self.terms.apply(Fun::FpLt, &[x_abs, y_abs]);
        let x_large = self.not(x_small);
        let unchanged = self.equal(r, x);
        let small_unchanged = self.or(x_large, unchanged);
        let mut bounds = self.and(below_x, below_y);
        bounds = self.and(bounds, same_sign);
        bounds = self.and(bounds, small_unchanged);
        bounds = self.or(invalid, bounds);
        let axiom = self.and(nan_iff_invalid, bounds);
        self.add_axiom(e, axiom);
        r
    }
}

/// The result of an attempt to translate a term.
enum Made<T> {
    /// The translated term.
    Term(T),
    /// Needs terms that are on the stack now.
    Waits,
    /// Can only be converted from the bits.
    FromBits,
}

/// The name of a leaf in SMT-LIB text.
pub fn leaf_name(leaf: &Expr) -> String {
    match leaf {
        Expr::Sym(s) => format!("{s}"),
        Expr::Var(v) => format!("{v}"),
        Expr::GlobalAddr(g) => format!("&{g}"),
        Expr::FuncAddr(f) => format!("&{f}"),
        _ => unreachable!("not a leaf"),
    }
}
