//! Every simplification preserves the value: random expressions, built with the simplifying
//! constructors and built as they are, have the same value under random values of their leaves.
//!
//! `PROPTEST_CASES` sets the number of cases.

use cfa::{
    ArrayValue, BinOp, Bv, Evaluator, Expr, ExprId, ExprPool, FBinOp, FCmp, FUnOp, FloatFormat, FuncId, GlobalId, Id,
    Rounding, Sort, UnOp, Value, VarId,
};
use proptest::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Narrow widths, where random values meet often; word sizes and their neighbours; floats; beyond a word.
const WIDTHS: [u32; 16] = [1, 2, 3, 4, 7, 8, 16, 24, 32, 33, 63, 64, 65, 80, 128, 130];
const VARS_PER_WIDTH: u32 = 3;
const POINTER_WIDTH: u32 = 64;

/// Choices from a list of random numbers; all zero when the list ends, so that shrinking the list shrinks
/// the expression.
struct Choices<'c> {
    numbers: std::slice::Iter<'c, u32>,
}

impl Choices<'_> {
    fn next(&mut self) -> u32 {
        self.numbers.next().copied().unwrap_or(0)
    }
    fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }
    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }
    fn bv(&mut self, width: u32) -> Bv {
        let bit = u64::from(self.below(width));
        match self.below(10) {
            0 => Bv::zero(width),
            1 => Bv::one(width),
            2 => Bv::ones(width),
            3 => Bv::min_signed(width),
            4 => Bv::min_signed(width).not(),
            5 => Bv::one(width).shl(&Bv::new(width, bit)),
            6 => Bv::one(width).shl(&Bv::new(width, bit)).sub(&Bv::one(width)),
            7 => Bv::from_i64(width, i64::from(self.below(9)) - 4),
            8 => Bv::new(width, u64::from(width) + u64::from(self.below(3)) - 1),
            _ => {
                let mut bytes = Vec::new();
                while 8 * (bytes.len() as u32) < width {
                    bytes.extend(self.next().to_le_bytes());
                }
                Bv::from_le_bytes(&bytes).resize(width)
            }
        }
    }
    /// A bit pattern of the format, often a special one.
    fn float(&mut self, format: FloatFormat) -> Bv {
        let width = format.width();
        match self.below(6) {
            0 => cfa::float::default_nan(format),
            1 => cfa::float::from_int(Rounding::Nearest, format, true, &Bv::from_i64(8, i64::from(self.below(7)) - 3)),
            2 => {
                let one = cfa::float::from_int(Rounding::Nearest, format, true, &Bv::one(8));
                cfa::float::binary(FBinOp::DIV, format, &one, &Bv::zero(width))
            }
            3 => Bv::new(width, 1),
            _ => self.bv(width),
        }
    }
}

/// The same expression simplified and raw.
#[derive(Clone, Copy)]
struct Pair {
    simple: ExprId,
    raw: ExprId,
}

struct Builder<'c> {
    choices: Choices<'c>,
    simple: ExprPool,
    raw: ExprPool,
    /// What was built, to build upon again.
    built: Vec<(Sort, Pair)>,
    /// Leaves by their id in the simplifying pool, with values.
    arrays: Vec<Pair>,
}

fn format_of_width(choices: &mut Choices, width: u32) -> Option<FloatFormat> {
    let formats: Vec<_> = FloatFormat::ALL.into_iter().filter(|f| f.width() == width).collect();
    if formats.is_empty() { None } else { Some(choices.of(&formats)) }
}

impl<'c> Builder<'c> {
    fn new(numbers: &'c [u32]) -> Self {
        Self {
            choices: Choices { numbers: numbers.iter() },
            simple: ExprPool::new(),
            raw: ExprPool::new(),
            built: Vec::new(),
            arrays: Vec::new(),
        }
    }

    /// Adds the node with these children to both pools.
    fn node(&mut self, sort: Sort, children: &[Pair], make: impl Fn(&[ExprId]) -> Expr) -> Pair {
        let simple_children: Vec<_> = children.iter().map(|c| c.simple).collect();
        let raw_children: Vec<_> = children.iter().map(|c| c.raw).collect();
        let simple_node = make(&simple_children);
        let simple = if children.is_empty() {
            self.simple.intern(simple_node, sort)
        } else {
            self.simple.rebuild(&simple_node, &simple_children)
        };
        let raw = self.raw.intern(make(&raw_children), sort);
        assert_eq!(self.simple.sort(simple), sort, "{simple_node:?}", simple_node = self.simple.get(simple));
        let pair = Pair { simple, raw };
        self.built.push((sort, pair));
        pair
    }

    fn constant(&mut self, value: Bv) -> Pair {
        self.node(Sort::Bv(value.width()), &[], |_| Expr::Const(value.clone()))
    }
    fn binary(&mut self, op: BinOp, a: Pair, b: Pair) -> Pair {
        let width = self.raw.width(a.raw);
        let result = match op {
            BinOp::Concat => width + self.raw.width(b.raw),
            _ if op.is_comparison() => 1,
            _ => width,
        };
        self.node(Sort::Bv(result), &[a, b], |c| Expr::Binary(op, c[0], c[1]))
    }
    fn extract(&mut self, hi: u32, lo: u32, arg: Pair) -> Pair {
        self.node(Sort::Bv(hi - lo + 1), &[arg], |c| Expr::Extract { hi, lo, arg: c[0] })
    }

    fn leaf(&mut self, width: u32) -> Pair {
        match self.choices.below(6) {
            0..=1 => {
                let value = self.choices.bv(width);
                self.constant(value)
            }
            2 if width == POINTER_WIDTH => {
                let id = self.choices.below(2);
                self.node(Sort::Bv(width), &[], |_| Expr::GlobalAddr(GlobalId(id)))
            }
            3 if width == POINTER_WIDTH => self.node(Sort::Bv(width), &[], |_| Expr::FuncAddr(FuncId(0))),
            4 => match format_of_width(&mut self.choices, width) {
                Some(format) => {
                    let value = self.choices.float(format);
                    self.constant(value)
                }
                None => self.var(width),
            },
            _ => self.var(width),
        }
    }
    fn var(&mut self, width: u32) -> Pair {
        let var = VarId(width * VARS_PER_WIDTH + self.choices.below(VARS_PER_WIDTH));
        self.node(Sort::Bv(width), &[], |_| Expr::Var(var))
    }
    fn reuse(&mut self, sort: Sort) -> Option<Pair> {
        let fitting: Vec<_> = self.built.iter().filter(|(s, _)| *s == sort).map(|(_, p)| *p).collect();
        if fitting.is_empty() { None } else { Some(self.choices.of(&fitting)) }
    }

    /// A width near `width`, mostly from the list.
    fn other_width(&mut self) -> u32 {
        self.choices.of(&WIDTHS)
    }

    fn bv(&mut self, width: u32, depth: u32) -> Pair {
        let sort = Sort::Bv(width);
        if depth == 0 {
            return self.leaf(width);
        }
        let d = depth - 1;
        let kinds = if width == 1 { 30 } else { 20 };
        match self.choices.below(kinds) {
            0..=1 => self.leaf(width),
            2..=4 => match self.reuse(sort) {
                Some(pair) => pair,
                None => self.leaf(width),
            },
            5 => {
                let op = self.choices.of(&[UnOp::Not, UnOp::Neg]);
                let a = self.bv(width, d);
                self.node(sort, &[a], |c| Expr::Unary(op, c[0]))
            }
            6..=9 => {
                let op = BinOp::ALL[self.choices.below(13) as usize];
                let (a, b) = (self.bv(width, d), self.bv(width, d));
                self.binary(op, a, b)
            }
            10 if width >= 2 => {
                let high = 1 + self.choices.below(width - 1);
                let (a, b) = (self.bv(high, d), self.bv(width - high, d));
                self.binary(BinOp::Concat, a, b)
            }
            11 if width >= 2 => self.adjacent_extracts(width, d),
            12 => {
                let wide = width + self.choices.of(&[0, 1, 2, 8, width, 32]);
                let lo = self.choices.below(wide - width + 1);
                let arg = self.bv(wide, d);
                self.extract(lo + width - 1, lo, arg)
            }
            13 => {
                let narrow = 1 + self.choices.below(width);
                let arg = self.bv(narrow, d);
                if self.choices.below(2) == 0 {
                    self.node(sort, &[arg], |c| Expr::Zext { width, arg: c[0] })
                } else {
                    self.node(sort, &[arg], |c| Expr::Sext { width, arg: c[0] })
                }
            }
            14 => {
                let c = self.bv(1, d);
                let (t, e) = (self.bv(width, d), self.bv(width, d));
                self.node(sort, &[c, t, e], |c| Expr::Ite(c[0], c[1], c[2]))
            }
            15 => {
                let index_width = self.choices.of(&[1, 2, 8]);
                let array = self.array(index_width, width, d);
                let index = self.bv(index_width, d);
                self.node(sort, &[array, index], |c| Expr::Select { array: c[0], index: c[1] })
            }
            16 => self.float_op(width, d),
            _ if width == 1 => self.comparison(d),
            17 => self.canonical_shape(width, d),
            _ => {
                let op = BinOp::ALL[self.choices.below(13) as usize];
                let a = self.bv(width, d);
                let value = self.choices.bv(width);
                let b = self.constant(value);
                if self.choices.below(3) == 0 { self.binary(op, b, a) } else { self.binary(op, a, b) }
            }
        }
    }

    fn comparison(&mut self, depth: u32) -> Pair {
        let op = self.choices.of(&[BinOp::Eq, BinOp::Ult, BinOp::Ule, BinOp::Slt, BinOp::Sle]);
        let width = self.other_width();
        match self.choices.below(4) {
            0 => {
                let (a, b) = (self.bv(width, depth), self.bv(width, depth));
                self.binary(op, a, b)
            }
            // Extensions against constants and each other.
            1 if width >= 2 => {
                let narrow = 1 + self.choices.below(width - 1);
                let a = self.extension(width, narrow, depth);
                let b = if self.choices.below(2) == 0 {
                    let other = if self.choices.below(2) == 0 { narrow } else { 1 + self.choices.below(width) };
                    self.extension(width, other, depth)
                } else {
                    let value = self.choices.bv(narrow);
                    let value = if self.choices.below(2) == 0 { value.zext(width) } else { value.sext(width) };
                    self.constant(value)
                };
                if self.choices.below(2) == 0 { self.binary(op, a, b) } else { self.binary(op, b, a) }
            }
            // Something of the shape that an equation with a constant is solved for, and a constant.
            2 => {
                let a = self.canonical_shape(width, depth);
                let value = self.choices.bv(width);
                let b = self.constant(value);
                if self.choices.below(2) == 0 { self.binary(op, a, b) } else { self.binary(op, b, a) }
            }
            _ => {
                let a = self.bv(width, depth);
                let value = self.choices.bv(width);
                let b = self.constant(value);
                if self.choices.below(2) == 0 { self.binary(op, a, b) } else { self.binary(op, b, a) }
            }
        }
    }

    fn extension(&mut self, width: u32, narrow: u32, depth: u32) -> Pair {
        let arg = self.bv(narrow, depth);
        if self.choices.below(2) == 0 {
            self.node(Sort::Bv(width), &[arg], |c| Expr::Zext { width, arg: c[0] })
        } else {
            self.node(Sort::Bv(width), &[arg], |c| Expr::Sext { width, arg: c[0] })
        }
    }

    /// Shapes that rules look for below an operation: sums, differences, chains of one operation with
    /// constants, if-then-else of constants, halves of which one is constant, and repeated operands.
    fn canonical_shape(&mut self, width: u32, depth: u32) -> Pair {
        let x = self.bv(width, depth);
        let value = self.choices.bv(width);
        let k = self.constant(value);
        let y = if self.choices.below(2) == 0 { self.leaf(width) } else { x };
        match self.choices.below(10) {
            0 => {
                let op = self.choices.of(&[BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::And, BinOp::Or, BinOp::Xor]);
                let inner = self.binary(op, x, k);
                let value = self.choices.bv(width);
                let k = self.constant(value);
                if self.choices.below(2) == 0 { self.binary(op, inner, k) } else { self.binary(op, k, inner) }
            }
            1 => {
                let op = self.choices.of(&[BinOp::Add, BinOp::Sub, BinOp::And, BinOp::Or, BinOp::Xor]);
                let outer = self.choices.of(&[BinOp::Add, BinOp::Sub, BinOp::And, BinOp::Or, BinOp::Xor, op]);
                let z = self.leaf(width);
                let inner = if self.choices.below(2) == 0 { self.binary(op, x, z) } else { self.binary(op, z, x) };
                if self.choices.below(2) == 0 { self.binary(outer, inner, y) } else { self.binary(outer, y, inner) }
            }
            2 => {
                let value = self.choices.bv(width);
                let other = self.constant(value);
                let c = self.bv(1, depth);
                self.node(Sort::Bv(width), &[c, k, other], |c| Expr::Ite(c[0], c[1], c[2]))
            }
            3 if width >= 2 => {
                let high = 1 + self.choices.below(width - 1);
                let (h, l) = (self.choices.bv(high), self.bv(width - high, depth));
                let h = self.constant(h);
                self.binary(BinOp::Concat, h, l)
            }
            4 if width >= 2 => {
                let high = 1 + self.choices.below(width - 1);
                let (h, l) = (self.bv(high, depth), self.choices.bv(width - high));
                let l = self.constant(l);
                self.binary(BinOp::Concat, h, l)
            }
            5 => {
                let c = self.bv(1, depth);
                let inner = self.node(Sort::Bv(width), &[c, x, k], |c| Expr::Ite(c[0], c[1], c[2]));
                let children = if self.choices.below(2) == 0 { [c, inner, y] } else { [c, y, inner] };
                self.node(Sort::Bv(width), &children, |c| Expr::Ite(c[0], c[1], c[2]))
            }
            6 => {
                let op = self.choices.of(&[UnOp::Not, UnOp::Neg]);
                let negated = self.node(Sort::Bv(width), &[x], |c| Expr::Unary(op, c[0]));
                let op = BinOp::ALL[self.choices.below(13) as usize];
                if self.choices.below(2) == 0 { self.binary(op, negated, y) } else { self.binary(op, y, negated) }
            }
            7 => {
                let a = self.binary(BinOp::Sub, k, x);
                let op = self.choices.of(&[BinOp::Add, BinOp::Sub]);
                let value = self.choices.bv(width);
                let k = self.constant(value);
                if self.choices.below(2) == 0 { self.binary(op, a, k) } else { self.binary(op, k, a) }
            }
            8 => {
                let shift = Bv::new(width, u64::from(self.choices.below(width + 1)));
                let shift = self.constant(shift);
                let op = self.choices.of(&[BinOp::Shl, BinOp::LShr, BinOp::AShr]);
                self.binary(op, x, shift)
            }
            // The low bits of an operation on wider values.
            _ => {
                let wide = width + 1 + self.choices.below(40);
                let op = self.choices.of(&[BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::And, BinOp::Or, BinOp::Xor]);
                let narrow = if self.choices.below(2) == 0 { width } else { 1 + self.choices.below(wide) };
                let a = self.extension(wide, narrow, depth);
                let b = if self.choices.below(2) == 0 {
                    let value = self.choices.bv(wide);
                    self.constant(value)
                } else {
                    self.extension(wide, width, depth)
                };
                let wide_op = self.binary(op, a, b);
                let lo = if self.choices.below(2) == 0 { 0 } else { self.choices.below(wide - width + 1) };
                self.extract(lo + width - 1, lo, wide_op)
            }
        }
    }

    /// Two or three neighbouring parts of one value put together again, or parts that are not neighbours.
    fn adjacent_extracts(&mut self, width: u32, depth: u32) -> Pair {
        let wide = width + self.choices.of(&[0, 1, 8]);
        let x = self.bv(wide, depth);
        let y = if self.choices.below(4) == 0 { self.bv(wide, depth) } else { x };
        let lo = self.choices.below(wide - width + 1);
        let split = 1 + self.choices.below(width - 1);
        let high = self.extract(lo + width - 1, lo + split, x);
        if split == 1 || self.choices.below(2) == 0 {
            let low = self.extract(lo + split - 1, lo, y);
            return self.binary(BinOp::Concat, high, low);
        }
        let middle = 1 + self.choices.below(split - 1);
        let mid = self.extract(lo + split - 1, lo + middle, x);
        let low =
            if self.choices.below(2) == 0 { self.extract(lo + middle - 1, lo, y) } else { self.bv(middle, depth) };
        if self.choices.below(2) == 0 {
            let rest = self.binary(BinOp::Concat, mid, low);
            self.binary(BinOp::Concat, high, rest)
        } else {
            let first = if self.choices.below(2) == 0 { high } else { self.bv(width - split, depth) };
            let first = self.binary(BinOp::Concat, first, mid);
            self.binary(BinOp::Concat, first, low)
        }
    }

    fn float_op(&mut self, width: u32, d: u32) -> Pair {
        let sort = Sort::Bv(width);
        if width == 1 {
            let format = self.choices.of(&FloatFormat::ALL);
            let (a, b) = (self.bv(format.width(), d), self.bv(format.width(), d));
            return match self.choices.below(2) {
                0 => self.node(sort, &[a], |c| Expr::FIsNan(format, c[0])),
                _ => {
                    let op = self.choices.of(&[FCmp::Eq, FCmp::Lt, FCmp::Le]);
                    self.node(sort, &[a, b], |c| Expr::FCompare(op, format, c[0], c[1]))
                }
            };
        }
        let Some(format) = format_of_width(&mut self.choices, width) else {
            let from = self.choices.of(&FloatFormat::ALL);
            let signed = self.choices.below(2) == 0;
            let a = self.bv(from.width(), d);
            return self.node(sort, &[a], |c| Expr::FToInt { from, signed, width, arg: c[0] });
        };
        let rounding = self.choices.of(&Rounding::ALL);
        match self.choices.below(5) {
            0 => {
                let op = self.choices.of(&[
                    FUnOp::Neg,
                    FUnOp::Abs,
                    FUnOp::Sqrt(rounding),
                    FUnOp::Floor,
                    FUnOp::Ceil,
                    FUnOp::Trunc,
                    FUnOp::RoundEven,
                    FUnOp::RoundAway,
                ]);
                let a = self.bv(width, d);
                self.node(sort, &[a], |c| Expr::FUnary(op, format, c[0]))
            }
            1 => {
                let op = self.choices.of(&[
                    FBinOp::Add(rounding),
                    FBinOp::Sub(rounding),
                    FBinOp::Mul(rounding),
                    FBinOp::Div(rounding),
                    FBinOp::Rem,
                    FBinOp::Min,
                    FBinOp::Max,
                ]);
                let (a, b) = (self.bv(width, d), self.bv(width, d));
                self.node(sort, &[a, b], |c| Expr::FBinary(op, format, c[0], c[1]))
            }
            2 => {
                let (a, b, c) = (self.bv(width, d), self.bv(width, d), self.bv(width, d));
                self.node(sort, &[a, b, c], |c| Expr::Fma(rounding, format, c[0], c[1], c[2]))
            }
            3 => {
                let from = self.choices.of(&FloatFormat::ALL);
                let a = self.bv(from.width(), d);
                self.node(sort, &[a], |c| Expr::FConvert { rounding, from, to: format, arg: c[0] })
            }
            _ => {
                let int = self.choices.of(&[1, 8, 32, 64, 128]);
                let signed = self.choices.below(2) == 0;
                let a = self.bv(int, d);
                self.node(sort, &[a], |c| Expr::IntToF { rounding, to: format, signed, arg: c[0] })
            }
        }
    }

    fn array(&mut self, index: u32, elem: u32, depth: u32) -> Pair {
        let sort = Sort::Array { index, elem };
        if self.choices.below(4) == 0
            && let Some(pair) = self.reuse(sort)
        {
            return pair;
        }
        let d = depth.saturating_sub(1);
        match self.choices.below(if depth == 0 { 2 } else { 6 }) {
            0 => {
                let symbol = self.simple.fresh_symbol(sort);
                assert_eq!(symbol, self.raw_symbol(sort, symbol));
                let pair = Pair { simple: symbol.1, raw: self.raw.symbol(symbol.0) };
                self.built.push((sort, pair));
                self.arrays.push(pair);
                pair
            }
            1 => {
                let value = self.bv(elem, d);
                self.node(sort, &[value], |c| Expr::ConstArray { index, value: c[0] })
            }
            2 => {
                let c = self.bv(1, d);
                let (t, e) = (self.array(index, elem, d), self.array(index, elem, d));
                self.node(sort, &[c, t, e], |c| Expr::Ite(c[0], c[1], c[2]))
            }
            _ => {
                let array = self.array(index, elem, d);
                let (i, v) = (self.bv(index, d), self.bv(elem, d));
                self.node(sort, &[array, i, v], |c| Expr::Store { array: c[0], index: c[1], value: c[2] })
            }
        }
    }
    fn raw_symbol(&mut self, sort: Sort, like: (cfa::SymId, ExprId)) -> (cfa::SymId, ExprId) {
        (self.raw.fresh_symbol(sort).0, like.1)
    }
}

/// A value of a leaf that depends on the leaf and the seed alone, so that both pools see the same.
fn leaf_value(seed: u32, sort: Sort, node: &Expr) -> Value {
    let tag = match node {
        Expr::Var(v) => v.0 * 4,
        Expr::GlobalAddr(g) => g.0 * 4 + 1,
        Expr::FuncAddr(f) => f.0 * 4 + 2,
        Expr::Sym(s) => s.0 * 4 + 3,
        _ => unreachable!("not a leaf"),
    };
    let mut state = u64::from(seed) << 32 | u64::from(tag);
    // SplitMix64.
    let numbers: Vec<u32> = (0..24)
        .map(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ z >> 31) >> 16) as u32
        })
        .collect();
    let mut choices = Choices { numbers: numbers.iter() };
    match sort {
        Sort::Bv(width) => Value::Bv(match format_of_width(&mut choices, width) {
            Some(format) if choices.below(2) == 0 => choices.float(format),
            _ => choices.bv(width),
        }),
        Sort::Array { index, elem } => {
            let default = choices.bv(elem);
            let entries =
                (0..2).map(|_| (choices.bv(index).to_u128().unwrap(), choices.bv(elem))).collect::<BTreeMap<_, _>>();
            Value::Array(Rc::new(ArrayValue { default, entries }))
        }
    }
}

/// Arrays are equal if they hold the same everywhere: indices are narrow enough here to look.
fn same(a: &Value, b: &Value, index_width: u32) -> bool {
    match (a, b) {
        (Value::Bv(a), Value::Bv(b)) => a == b,
        (Value::Array(a), Value::Array(b)) => {
            (0..1u64 << index_width).all(|i| a.get(&Bv::new(index_width, i)) == b.get(&Bv::new(index_width, i)))
        }
        _ => false,
    }
}

fn check(numbers: &[u32], seed: u32) -> Result<(), TestCaseError> {
    let mut builder = Builder::new(numbers);
    for _ in 0..3 {
        // Comparisons have the most rules.
        let width = if builder.choices.below(2) == 0 { 1 } else { builder.other_width() };
        builder.bv(width, 4);
    }
    let Builder { mut simple, raw, built, .. } = builder;
    for round in 0..3u32 {
        let seed = seed.wrapping_add(round);
        let mut simple_values = Evaluator::new(&simple, |e, node| leaf_value(seed, simple.sort(e), node));
        let mut raw_values = Evaluator::new(&raw, |e, node| leaf_value(seed, raw.sort(e), node));
        for (sort, pair) in &built {
            let (a, b) = (simple_values.value(pair.simple), raw_values.value(pair.raw));
            let index_width = if let Sort::Array { index, .. } = sort { *index } else { 0 };
            prop_assert!(
                same(&a, &b, index_width),
                "{a:?} simplified, {b:?} as built\nsimplified {}\nas built {}",
                show(&simple, pair.simple, seed),
                show(&raw, pair.raw, seed)
            );
        }
    }
    // Substituting the values of the leaves folds to the same.
    let mut memo = FxHashMap::default();
    let last = built.iter().rev().find(|(s, _)| matches!(s, Sort::Bv(_)));
    if let Some((_, pair)) = last {
        let expected = Evaluator::new(&raw, |e, node| leaf_value(seed, raw.sort(e), node)).eval(pair.raw);
        let folded = simple.substitute(pair.simple, &mut memo, |pool, e| match pool.get(e) {
            Expr::Const(_) => None,
            node => match leaf_value(seed, pool.sort(e), node) {
                Value::Bv(value) => Some(pool.constant(value)),
                Value::Array(_) => None,
            },
        });
        let value = Evaluator::new(&simple, |e, node| leaf_value(seed, simple.sort(e), node)).eval(folded);
        prop_assert_eq!(value, expected);
    }
    // The recursive evaluator agrees where it applies.
    if let Some((_, pair)) = last
        && !uses_arrays(&raw, pair.raw)
    {
        let value = raw.eval_tree(pair.raw, &mut |node| {
            let width = match node {
                Expr::Var(v) => v.0 / VARS_PER_WIDTH,
                _ => POINTER_WIDTH,
            };
            leaf_value(seed, Sort::Bv(width), node).bv().clone()
        });
        let expected = Evaluator::new(&raw, |e, node| leaf_value(seed, raw.sort(e), node)).eval(pair.raw);
        prop_assert_eq!(value, expected);
    }
    Ok(())
}

fn uses_arrays(pool: &ExprPool, root: ExprId) -> bool {
    let mut found = false;
    pool.visit(root, &mut Default::default(), |e, _| found |= matches!(pool.sort(e), Sort::Array { .. }));
    found
}

/// The nodes below `root` with their values, for a failure's message.
fn show(pool: &ExprPool, root: ExprId, seed: u32) -> String {
    let mut text = format!("{root}:");
    let mut values = Evaluator::new(pool, |e, node| leaf_value(seed, pool.sort(e), node));
    pool.visit(root, &mut Default::default(), |e, node| {
        text += &format!("\n  {e} = {node:?}  is {:?}", values.value(e));
    });
    text
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn simplification_preserves_values(numbers in prop::collection::vec(any::<u32>(), 1..120), seed: u32) {
        check(&numbers, seed)?;
    }
}

/// Long chains of operations do not overflow the stack, and reading back what was written byte by byte
/// gives the value itself.
#[test]
fn deep_and_byte_wise() {
    let mut pool = ExprPool::new();
    let x = pool.var(VarId(0), 32);
    let mut chain = x;
    for i in 0..200_000u64 {
        let k = pool.int(32, i | 1 << 30);
        let op = [BinOp::Xor, BinOp::And, BinOp::Or, BinOp::Mul, BinOp::Add][(i % 5) as usize];
        chain = pool.binary(op, chain, k);
    }
    pool.extract(7, 0, chain);
    pool.not(chain);
    let c = pool.var(VarId(1), 1);
    let mut choice = x;
    for i in 0..200_000u64 {
        let k = pool.int(32, i);
        let i = pool.var(VarId(2 + (i % 1000) as u32), 1);
        choice = pool.ite(i, k, choice);
    }
    pool.extract(7, 3, choice);
    let seven = pool.int(32, 7);
    pool.eq(choice, seven);
    let mut wide = pool.var(VarId(1002), 8);
    for i in 0..20_000u32 {
        let byte = pool.var(VarId(1003 + i % 7), 8);
        wide = if i % 2 == 0 { pool.concat(wide, byte) } else { pool.concat(byte, wide) };
    }
    let middle = pool.width(wide) / 2;
    pool.extract(middle + 3, middle - 3, wide);
    pool.ite(c, wide, wide);

    let mut again = None;
    for i in 0..4 {
        let byte = pool.extract(8 * i + 7, 8 * i, x);
        again = Some(match again {
            None => byte,
            Some(low) => pool.concat(byte, low),
        });
    }
    assert_eq!(again, Some(x));
    assert!(pool.get(x).children().next().is_none() && x.index() == 0);
}

/// A choice of roundings is one operation where the mode is known, and where it does not matter.
#[test]
fn choices_of_roundings_fold() {
    let mut pool = ExprPool::new();
    let (_, x) = pool.fresh_symbol(Sort::Bv(64));
    let (_, mode) = pool.fresh_symbol(Sort::Bv(Rounding::WIDTH));
    let sum = |pool: &mut ExprPool, r| pool.f_binary(FBinOp::Add(r), FloatFormat::Double, x, x);
    for (number, rounding) in Rounding::ALL.into_iter().enumerate() {
        let known = pool.int(Rounding::WIDTH, number as u64);
        assert_eq!(pool.rounding_choice(known, sum), sum(&mut pool, rounding));
    }
    let choice = pool.rounding_choice(mode, sum);
    assert!(matches!(pool.get(choice), Expr::Ite(..)));
    let wide = pool.rounding_choice(mode, |pool, r| pool.f_convert(r, FloatFormat::Double, FloatFormat::X87, x));
    assert!(matches!(pool.get(wide), Expr::FConvert { .. }));
}

/// Where a conversion is taken to be exact, it gives the same in every mode.
#[test]
fn exact_conversions_have_no_rounding() {
    let mut state = 1u64;
    let mut random = |width: u32| {
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u128::from(state >> 32)
        };
        Bv::from_u128(128, (word() << 96) | (word() << 64) | (word() << 32) | word()).resize(width)
    };
    for to in FloatFormat::ALL {
        for from in FloatFormat::ALL.into_iter().filter(|from| from.embeds_into(to)) {
            // Subnormal ones, too.
            for shift in [0, 0, 0, from.exponent_bits(), from.exponent_bits() + 3, from.width() - 2] {
                let value = random(from.width()).lshr(&Bv::new(from.width(), u64::from(shift)));
                let convert = |rounding| cfa::float::convert(rounding, from, to, &value);
                assert!(Rounding::ALL.into_iter().all(|r| convert(r) == convert(Rounding::Nearest)), "{from:?} {to:?}");
            }
        }
        for (width, signed) in (1..=128).flat_map(|width| [(width, false), (width, true)]) {
            if !to.has_integers(signed, width) {
                continue;
            }
            for value in [Bv::ones(width), Bv::min_signed(width), Bv::min_signed(width).not(), random(width)] {
                let convert = |rounding| cfa::float::from_int(rounding, to, signed, &value);
                assert!(Rounding::ALL.into_iter().all(|r| convert(r) == convert(Rounding::Nearest)), "{to:?} {width}");
            }
        }
    }
}
