//! Addresses as sums.

use super::{Arena, BinOp, Expr, ExprId};
use crate::bv::Bv;

/// An address `base + offset + index * size`.
pub struct Address {
    /// The operand that points into the object.
    pub base: ExprId,
    /// The constant in bytes.
    pub offset: u64,
    /// The index and the number of bytes that it counts, if there is one.
    pub index: Option<(ExprId, u64)>,
}

impl Address {
    /// Splits an address. `None` if the offset is negative, or if not exactly one of two summands `is_base`.
    pub fn split(pool: &Arena, address: ExprId, is_base: impl Fn(ExprId) -> bool) -> Option<Self> {
        let (sum, offset) = pool.base_and_offset(address);
        if sum != address && pool.width(address) <= 64 && offset >> (pool.width(address) - 1) != 0 {
            return None;
        }
        let Expr::Binary(BinOp::Add, a, b) = *pool.get(sum) else {
            return Some(Self { base: sum, offset, index: None });
        };
        let (base, index) = match (is_base(a), is_base(b)) {
            (true, false) => (a, b),
            (false, true) => (b, a),
            _ => return None,
        };
        let index = match *pool.get(index) {
            Expr::Binary(BinOp::Mul, index, size) => (index, pool.as_const(size).and_then(Bv::to_u64)?),
            _ => (index, 1),
        };
        Some(Self { base, offset, index: Some(index) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::ExprPool;
    use crate::index::VarId;

    #[test]
    fn addresses_are_split() {
        let mut pool = ExprPool::new();
        let [p, i, j] = [0, 1, 2].map(|n| pool.var(VarId(n), 64));
        let [three, four, minus] = [3, 4, u64::MAX].map(|n| pool.int(64, n));
        let scaled = pool.mul(i, four);
        let element = pool.add(scaled, p);
        let member = pool.add(element, three);
        assert_eq!(pool.base_and_offset(member), (element, 3));
        assert_eq!(pool.base_and_offset(element), (element, 0));
        let split = |pool: &ExprPool, e| {
            Address::split(pool, e, |e| e == p).map(|address| (address.base, address.offset, address.index))
        };
        assert_eq!(split(&pool, member), Some((p, 3, Some((i, 4)))));
        assert_eq!(split(&pool, p), Some((p, 0, None)));
        let (before, of_indices) = (pool.add(p, minus), pool.add(i, j));
        assert_eq!([before, of_indices].map(|e| split(&pool, e)), [None, None]);
    }
}
