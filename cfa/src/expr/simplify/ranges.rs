//! Decides comparisons by the widths of extended operands. For example, the product of two 32-bit values always fits
//! into 64 bits. A solver would have to bit-blast the multiplication to find that out.

use super::*;

/// The maximal depth of the analysis. It suffices for `a * b + c` with extended operands inside another operation.
const MAX_DEPTH: u32 = 4;

/// A range: the signed value lies in `-2^(bits - 1) ..= 2^(bits - 1) - 1`. If `not_negative`, it is also at least 0.
#[derive(Clone, Copy)]
struct Size {
    bits: u32,
    not_negative: bool,
}

impl Size {
    fn from_expression(pool: &ExprPool, e: ExprId, depth: u32) -> Self {
        let width = pool.width(e);
        let any = Self { bits: width, not_negative: false };
        if depth == 0 {
            return any;
        }
        let of = |e| Self::from_expression(pool, e, depth - 1);
        let size = match *pool.get(e) {
            Expr::Const(ref c) => {
                let copies = (0..width - 1).rev().take_while(|&i| c.bit(i) == c.sign()).count() as u32;
                Self { bits: width - copies, not_negative: !c.sign() }
            }
            Expr::Sext { arg, .. } => of(arg),
            Expr::Zext { arg, .. } => match of(arg) {
                inside if inside.not_negative => inside,
                _ => Self { bits: pool.width(arg) + 1, not_negative: true },
            },
            Expr::Ite(_, t, e) => of(t).or(of(e)),
            Expr::Binary(Add, a, b) => {
                let either = of(a).or(of(b));
                Self { bits: either.bits + 1, ..either }
            }
            Expr::Binary(Sub, a, b) => {
                let either = of(a).or(of(b));
                Self { bits: either.bits + u32::from(!either.not_negative), not_negative: false }
            }
            Expr::Binary(Mul, a, b) => {
                let (a, b) = (of(a), of(b));
                // Only the product of the two least values needs the last bit.
                let least = !a.not_negative && !b.not_negative;
                Self { bits: a.bits + b.bits - u32::from(!least), not_negative: a.not_negative && b.not_negative }
            }
            _ => any,
        };
        // If the operation may wrap around, the result may be any value.
        if size.bits > width { any } else { size }
    }

    fn or(self, other: Self) -> Self {
        Self { bits: self.bits.max(other.bits), not_negative: self.not_negative && other.not_negative }
    }

    fn least(self, width: u32) -> Bv {
        if self.not_negative { Bv::zero(width) } else { Bv::min_signed(self.bits).sext(width) }
    }
    fn greatest(self, width: u32) -> Bv {
        Bv::min_signed(self.bits).not().sext(width)
    }
}

/// Decides `e op c` (or `c op e` if `const_left`), if the comparison has the same result for all values in the range of
/// `e`.
pub(super) fn compare_by_size(pool: &mut ExprPool, op: BinOp, e: ExprId, c: &Bv, const_left: bool) -> Option<ExprId> {
    let size = Size::from_expression(pool, e, MAX_DEPTH);
    let (least, greatest) = (size.least(c.width()), size.greatest(c.width()));
    let holds = match op {
        Slt => Bv::slt,
        Sle => Bv::sle,
        // The unsigned order differs from the signed one on negative values.
        Ult if size.not_negative => Bv::ult,
        Ule if size.not_negative => Bv::ule,
        _ => return None,
    };
    let (always, sometimes) = match const_left {
        true => (holds(c, &least), holds(c, &greatest)),
        false => (holds(&greatest, c), holds(&least, c)),
    };
    (always || !sometimes).then(|| pool.bool(always))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Evaluator, Value};

    const WIDE: u32 = 7;

    /// Terms over two values of `narrow` bits at `WIDE` bits, as overflow checks build them.
    fn terms(pool: &mut ExprPool, a: ExprId, b: ExprId) -> Vec<ExprId> {
        let extended = [pool.sext(WIDE, a), pool.zext(WIDE, a), pool.sext(WIDE, b), pool.zext(WIDE, b)];
        let mut terms = extended.to_vec();
        for op in [Add, Sub, Mul] {
            for x in extended {
                for y in extended {
                    terms.push(pool.binary(op, x, y));
                }
            }
        }
        let product = pool.mul(extended[0], extended[3]);
        terms.push(pool.add(product, extended[2]));
        terms.push(pool.mul(product, extended[1]));
        terms
    }

    #[test]
    fn what_sizes_decide_holds_of_all_values() {
        let mut decided = 0;
        for narrow in [2, 3] {
            let mut pool = ExprPool::new();
            let (a, b) = (pool.fresh_symbol(Sort::Bv(narrow)).1, pool.fresh_symbol(Sort::Bv(narrow)).1);
            let terms = terms(&mut pool, a, b);
            let asked = terms.iter().flat_map(|&e| [Ult, Ule, Slt, Sle].map(|op| [(e, op, false), (e, op, true)]));
            for (e, op, left) in asked.flatten() {
                for c in (0..1 << WIDE).map(|c| Bv::new(WIDE, c)) {
                    let Some(verdict) = compare_by_size(&mut pool, op, e, &c, left) else { continue };
                    decided += 1;
                    let always = pool.is_true(verdict);
                    for values in 0..1u64 << (2 * narrow) {
                        let leaf =
                            |x, _: &Expr| Value::Bv(Bv::new(narrow, if x == a { values } else { values >> narrow }));
                        let value = Evaluator::new(&pool, leaf).eval(e);
                        let (x, y) = if left { (&c, &value) } else { (&value, &c) };
                        let holds = match op {
                            Ult => x.ult(y),
                            Ule => x.ule(y),
                            Slt => x.slt(y),
                            _ => x.sle(y),
                        };
                        assert_eq!(holds, always, "{op:?} {c:?} {left} {values}");
                    }
                }
            }
        }
        assert!(decided > 10_000, "only {decided} comparisons were decided");
    }
}
