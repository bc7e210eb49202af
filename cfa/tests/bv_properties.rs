//! Tests of bit-vectors against a second definition of each operation in terms of `BigInt`.

use cfa::{BinOp, Bv};
use num_bigint::{BigInt, BigUint, Sign};
use proptest::prelude::*;

fn modulus(width: u32) -> BigInt {
    BigInt::from(1) << width
}

/// The bit-vector that is congruent to `value`.
fn wrap(width: u32, value: &BigInt) -> Bv {
    let m = modulus(width);
    let low = ((value % &m) + &m) % &m;
    Bv::from_big(width, low.to_biguint().expect("not negative"))
}

fn unsigned(a: &Bv) -> BigInt {
    BigInt::from_biguint(Sign::Plus, a.to_biguint())
}

fn signed(a: &Bv) -> BigInt {
    let value = unsigned(a);
    if value >= modulus(a.width() - 1) { value - modulus(a.width()) } else { value }
}

/// Truncated division, as in C; the results of SMT-LIB for a zero divisor.
fn sdiv(a: &Bv, b: &Bv) -> BigInt {
    let zero = BigInt::from(0);
    if b.is_zero() {
        return BigInt::from(if signed(a) < zero { 1 } else { -1 });
    }
    signed(a) / signed(b)
}

fn bv(width: u32) -> impl Strategy<Value = Bv> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), width.div_ceil(8) as usize)
            .prop_map(move |b| Bv::from_le_bytes(&b).resize(width)),
        (-3i64..=3).prop_map(move |v| Bv::from_i64(width, v)),
        (0..width, -1i64..=1).prop_map(move |(shift, d)| wrap(width, &((BigInt::from(1) << shift) + d))),
        (0..u64::from(2 * width)).prop_map(move |v| Bv::new(width, v)),
    ]
}

fn two() -> impl Strategy<Value = (Bv, Bv)> {
    prop_oneof![1u32..10, 30u32..35, 62u32..67, 126u32..131, 1u32..300].prop_flat_map(|w| (bv(w), bv(w)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arithmetic((a, b) in two()) {
        let w = a.width();
        let (ua, ub, sa, sb) = (unsigned(&a), unsigned(&b), signed(&a), signed(&b));
        prop_assert_eq!(a.add(&b), wrap(w, &(&ua + &ub)));
        prop_assert_eq!(a.sub(&b), wrap(w, &(&ua - &ub)));
        prop_assert_eq!(a.mul(&b), wrap(w, &(&ua * &ub)));
        prop_assert_eq!(a.neg(), wrap(w, &-&ua));
        prop_assert_eq!(a.not(), wrap(w, &(-&ua - 1)));
        prop_assert_eq!(BinOp::SDiv.apply(&a, &b), wrap(w, &sdiv(&a, &b)));
        if b.is_zero() {
            prop_assert_eq!(BinOp::UDiv.apply(&a, &b), Bv::ones(w));
            prop_assert_eq!(BinOp::URem.apply(&a, &b), a.clone());
            prop_assert_eq!(BinOp::SRem.apply(&a, &b), a.clone());
        } else {
            prop_assert_eq!(BinOp::UDiv.apply(&a, &b), wrap(w, &(&ua / &ub)));
            prop_assert_eq!(BinOp::URem.apply(&a, &b), wrap(w, &(&ua % &ub)));
            prop_assert_eq!(BinOp::SRem.apply(&a, &b), wrap(w, &(&sa % &sb)));
        }
        prop_assert_eq!(a.ult(&b), ua < ub);
        prop_assert_eq!(a.ule(&b), ua <= ub);
        prop_assert_eq!(a.slt(&b), sa < sb);
        prop_assert_eq!(a.sle(&b), sa <= sb);
        prop_assert_eq!(a == b, ua == ub);
    }

    #[test]
    fn bits((a, b) in two()) {
        let w = a.width();
        let (ua, ub) = (a.to_biguint(), b.to_biguint());
        prop_assert_eq!((&a & &b).to_biguint(), &ua & &ub);
        prop_assert_eq!((&a | &b).to_biguint(), &ua | &ub);
        prop_assert_eq!((&a ^ &b).to_biguint(), &ua ^ &ub);
        let shift = b.to_u64().filter(|s| *s < u64::from(w));
        let fill = if a.sign() { Bv::ones(w) } else { Bv::zero(w) };
        match shift {
            Some(s) => {
                prop_assert_eq!(BinOp::Shl.apply(&a, &b), wrap(w, &(unsigned(&a) << s)));
                prop_assert_eq!(BinOp::LShr.apply(&a, &b), wrap(w, &(unsigned(&a) >> s)));
                prop_assert_eq!(BinOp::AShr.apply(&a, &b), wrap(w, &(signed(&a) >> s)));
            }
            None => {
                prop_assert!(BinOp::Shl.apply(&a, &b).is_zero() && BinOp::LShr.apply(&a, &b).is_zero());
                prop_assert_eq!(BinOp::AShr.apply(&a, &b), fill);
            }
        }
        prop_assert_eq!(a.sign(), signed(&a) < BigInt::from(0));
        prop_assert_eq!(a.is_ones(), unsigned(&a) + 1 == modulus(w));
        prop_assert_eq!(a.is_zero(), ua == BigUint::from(0u8));
        prop_assert_eq!(a.log2_exact().map(|k| BigUint::from(1u8) << k), (ua.count_ones() == 1).then_some(ua.clone()));
        prop_assert_eq!(a.to_bigint(), signed(&a));
        prop_assert_eq!(a.to_u64(), u64::try_from(&ua).ok());
        prop_assert_eq!(a.to_u128(), u128::try_from(&ua).ok());
        prop_assert_eq!(a.to_i64(), i64::try_from(signed(&a)).ok());
        prop_assert_eq!(Bv::from_le_bytes(&a.to_le_bytes()).resize(w), a.clone());
        prop_assert_eq!(a.to_le_bytes().len() as u32, w.div_ceil(8));
        prop_assert_eq!(a.to_string(), ua.to_string());
    }

    #[test]
    fn widths((a, b) in two(), x: u32, y: u32, more in 0u32..140) {
        let w = a.width();
        let (lo, hi) = ((x % w).min(y % w), (x % w).max(y % w));
        prop_assert_eq!(a.extract(hi, lo), wrap(hi - lo + 1, &(unsigned(&a) >> lo)));
        prop_assert_eq!(unsigned(&a.concat(&b)), (unsigned(&a) << w) + unsigned(&b));
        prop_assert_eq!(unsigned(&a.zext(w + more)), unsigned(&a));
        prop_assert_eq!(a.zext(w + more).width(), w + more);
        prop_assert_eq!(signed(&a.sext(w + more)), signed(&a));
        prop_assert_eq!(a.sext(w + more).width(), w + more);
        prop_assert_eq!(a.resize(hi + 1), wrap(hi + 1, &unsigned(&a)));
        prop_assert_eq!(Bv::min_signed(w), wrap(w, &modulus(w - 1)));
    }
}
