//! Random expressions, built with and without simplification.

use cfa::{
    BinOp, Bv, Expr, ExprId, ExprPool, FBinOp, FCmp, FUnOp, FloatFormat, FuncId, GlobalId, Rounding, Sort, UnOp, VarId,
};

/// Narrow widths, in which random values often coincide; word sizes and their neighbours; float formats; more than a
/// word.
const WIDTHS: [u32; 16] = [1, 2, 3, 4, 7, 8, 16, 24, 32, 33, 63, 64, 65, 80, 128, 130];
pub(super) const VARS_PER_WIDTH: u32 = 3;
pub(super) const POINTER_WIDTH: u32 = 64;

/// Choices from a list of random numbers. After the end of the list all choices are zero, so that shrinking the list
/// shrinks the expression.
pub(super) struct Choices<'c> {
    pub(super) numbers: std::slice::Iter<'c, u32>,
}

impl Choices<'_> {
    pub(super) fn next(&mut self) -> u32 {
        self.numbers.next().copied().unwrap_or(0)
    }
    pub(super) fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }
    pub(super) fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }
    pub(super) fn bv(&mut self, width: u32) -> Bv {
        let bit = u64::from(self.below(width));
        match self.below(10) {
            0 => Bv::zero(width),
            1 => Bv::one(width),
            2 => Bv::ones(width),
            3 => Bv::min_signed(width),
            4 => Bv::min_signed(width).not(),
            5 => BinOp::Shl.apply(&Bv::one(width), &Bv::new(width, bit)),
            6 => BinOp::Shl.apply(&Bv::one(width), &Bv::new(width, bit)).sub(&Bv::one(width)),
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
    /// A bit pattern of the format, often a special value.
    pub(super) fn float(&mut self, format: FloatFormat) -> Bv {
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

/// The same expression, simplified and raw.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) simple: ExprId,
    pub(super) raw: ExprId,
}

pub(super) struct Builder<'c> {
    pub(super) choices: Choices<'c>,
    pub(super) simple: ExprPool,
    pub(super) raw: ExprPool,
    /// The expressions built so far, for reuse.
    pub(super) built: Vec<(Sort, Pair)>,
    /// Array leaves by their id in the simplifying pool.
    pub(super) arrays: Vec<Pair>,
}

pub(super) fn format_of_width(choices: &mut Choices, width: u32) -> Option<FloatFormat> {
    let formats: Vec<_> = FloatFormat::ALL.into_iter().filter(|f| f.width() == width).collect();
    if formats.is_empty() { None } else { Some(choices.choose(&formats)) }
}

impl<'c> Builder<'c> {
    pub(super) fn new(numbers: &'c [u32]) -> Self {
        Self {
            choices: Choices { numbers: numbers.iter() },
            simple: ExprPool::new(),
            raw: ExprPool::new(),
            built: Vec::new(),
            arrays: Vec::new(),
        }
    }

    /// Adds the node with these children to both pools.
    pub(super) fn node(&mut self, sort: Sort, children: &[Pair], make: impl Fn(&[ExprId]) -> Expr) -> Pair {
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

    pub(super) fn constant(&mut self, value: Bv) -> Pair {
        self.node(Sort::Bv(value.width()), &[], |_| Expr::Const(value.clone()))
    }
    pub(super) fn binary(&mut self, op: BinOp, a: Pair, b: Pair) -> Pair {
        let width = self.raw.width(a.raw);
        let result = match op {
            BinOp::Concat => width + self.raw.width(b.raw),
            _ if op.is_comparison() => 1,
            _ => width,
        };
        self.node(Sort::Bv(result), &[a, b], |c| Expr::Binary(op, c[0], c[1]))
    }
    pub(super) fn extract(&mut self, hi: u32, lo: u32, arg: Pair) -> Pair {
        self.node(Sort::Bv(hi - lo + 1), &[arg], |c| Expr::Extract { hi, lo, arg: c[0] })
    }

    pub(super) fn leaf(&mut self, width: u32) -> Pair {
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
    pub(super) fn var(&mut self, width: u32) -> Pair {
        let var = VarId(width * VARS_PER_WIDTH + self.choices.below(VARS_PER_WIDTH));
        self.node(Sort::Bv(width), &[], |_| Expr::Var(var))
    }
    pub(super) fn reuse(&mut self, sort: Sort) -> Option<Pair> {
        let fitting: Vec<_> = self.built.iter().filter(|(s, _)| *s == sort).map(|(_, p)| *p).collect();
        if fitting.is_empty() { None } else { Some(self.choices.choose(&fitting)) }
    }

    /// A width near `width`, mostly from the list.
    pub(super) fn other_width(&mut self) -> u32 {
        self.choices.choose(&WIDTHS)
    }

    pub(super) fn bv(&mut self, width: u32, depth: u32) -> Pair {
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
                let op = self.choices.choose(&[UnOp::Not, UnOp::Neg]);
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
                let wide = width + self.choices.choose(&[0, 1, 2, 8, width, 32]);
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
                let index_width = self.choices.choose(&[1, 2, 8]);
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

    pub(super) fn comparison(&mut self, depth: u32) -> Pair {
        let op = self.choices.choose(&[BinOp::Eq, BinOp::Ult, BinOp::Ule, BinOp::Slt, BinOp::Sle]);
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
            // The shapes that the rules for equations with a constant match, and a constant.
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

    pub(super) fn extension(&mut self, width: u32, narrow: u32, depth: u32) -> Pair {
        let arg = self.bv(narrow, depth);
        if self.choices.below(2) == 0 {
            self.node(Sort::Bv(width), &[arg], |c| Expr::Zext { width, arg: c[0] })
        } else {
            self.node(Sort::Bv(width), &[arg], |c| Expr::Sext { width, arg: c[0] })
        }
    }

    /// Shapes that rules match below an operation: sums, differences, chains of one operation with constants,
    /// if-then-else of constants, concatenations with one constant half, and repeated operands.
    pub(super) fn canonical_shape(&mut self, width: u32, depth: u32) -> Pair {
        let x = self.bv(width, depth);
        let value = self.choices.bv(width);
        let k = self.constant(value);
        let y = if self.choices.below(2) == 0 { self.leaf(width) } else { x };
        match self.choices.below(10) {
            0 => {
                let op = self.choices.choose(&[BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::And, BinOp::Or, BinOp::Xor]);
                let inner = self.binary(op, x, k);
                let value = self.choices.bv(width);
                let k = self.constant(value);
                if self.choices.below(2) == 0 { self.binary(op, inner, k) } else { self.binary(op, k, inner) }
            }
            1 => {
                let op = self.choices.choose(&[BinOp::Add, BinOp::Sub, BinOp::And, BinOp::Or, BinOp::Xor]);
                let outer = self.choices.choose(&[BinOp::Add, BinOp::Sub, BinOp::And, BinOp::Or, BinOp::Xor, op]);
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
                let op = self.choices.choose(&[UnOp::Not, UnOp::Neg]);
                let negated = self.node(Sort::Bv(width), &[x], |c| Expr::Unary(op, c[0]));
                let op = BinOp::ALL[self.choices.below(13) as usize];
                if self.choices.below(2) == 0 { self.binary(op, negated, y) } else { self.binary(op, y, negated) }
            }
            7 => {
                let a = self.binary(BinOp::Sub, k, x);
                let op = self.choices.choose(&[BinOp::Add, BinOp::Sub]);
                let value = self.choices.bv(width);
                let k = self.constant(value);
                if self.choices.below(2) == 0 { self.binary(op, a, k) } else { self.binary(op, k, a) }
            }
            8 => {
                let shift = Bv::new(width, u64::from(self.choices.below(width + 1)));
                let shift = self.constant(shift);
                let op = self.choices.choose(&[BinOp::Shl, BinOp::LShr, BinOp::AShr]);
                self.binary(op, x, shift)
            }
            // The low bits of an operation on wider values.
            _ => {
                let wide = width + 1 + self.choices.below(40);
                let op = self.choices.choose(&[BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::And, BinOp::Or, BinOp::Xor]);
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

    /// Two or three adjacent extracts of one value, concatenated again; or extracts that are not adjacent.
    pub(super) fn adjacent_extracts(&mut self, width: u32, depth: u32) -> Pair {
        let wide = width + self.choices.choose(&[0, 1, 8]);
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

    pub(super) fn float_op(&mut self, width: u32, d: u32) -> Pair {
        let sort = Sort::Bv(width);
        if width == 1 {
            let format = self.choices.choose(&FloatFormat::ALL);
            let (a, b) = (self.bv(format.width(), d), self.bv(format.width(), d));
            return match self.choices.below(2) {
                0 => self.node(sort, &[a], |c| Expr::FIsNan(format, c[0])),
                _ => {
                    let op = self.choices.choose(&[FCmp::Eq, FCmp::Lt, FCmp::Le]);
                    self.node(sort, &[a, b], |c| Expr::FCompare(op, format, c[0], c[1]))
                }
            };
        }
        let Some(format) = format_of_width(&mut self.choices, width) else {
            let from = self.choices.choose(&FloatFormat::ALL);
            let signed = self.choices.below(2) == 0;
            let a = self.bv(from.width(), d);
            return self.node(sort, &[a], |c| Expr::FToInt { from, signed, width, arg: c[0] });
        };
        let rounding = self.choices.choose(&Rounding::ALL);
        match self.choices.below(5) {
            0 => {
                let op = self.choices.choose(&[
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
                let op = self.choices.choose(&[
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
                let from = self.choices.choose(&FloatFormat::ALL);
                let a = self.bv(from.width(), d);
                self.node(sort, &[a], |c| Expr::FConvert { rounding, from, to: format, arg: c[0] })
            }
            _ => {
                let int = self.choices.choose(&[1, 8, 32, 64, 128]);
                let signed = self.choices.below(2) == 0;
                let a = self.bv(int, d);
                self.node(sort, &[a], |c| Expr::IntToF { rounding, to: format, signed, arg: c[0] })
            }
        }
    }

    pub(super) fn array(&mut self, index: u32, elem: u32, depth: u32) -> Pair {
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
    pub(super) fn raw_symbol(&mut self, sort: Sort, like: (cfa::SymId, ExprId)) -> (cfa::SymId, ExprId) {
        (self.raw.fresh_symbol(sort).0, like.1)
    }
}
