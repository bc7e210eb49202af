//! Tests that simplification preserves values: random expressions, built with and without simplification, have equal
//! values under random values of their leaves.
//!
//! `PROPTEST_CASES` sets the number of cases.

mod builder;

use builder::*;
use cfa::{
    ArrayValue, BinOp, Bv, Evaluator, Expr, ExprId, ExprPool, FBinOp, FloatFormat, Id, Rounding, Sort, Value, VarId,
};
use proptest::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The value of a leaf, which depends only on the leaf and the seed, so both pools use the same values.
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

/// Arrays are equal if all elements are equal. The indices are narrow enough to compare all elements.
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
    // Substitution of the values of the leaves folds to the same value.
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
    // The recursive evaluator computes the same value.
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

/// The nodes below `root` with their values, for failure messages.
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

/// Long chains of operations do not overflow the stack. A value that is written byte by byte is read back as the same
/// term.
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

/// A choice of rounding modes folds to one operation if the mode is known or does not matter.
#[test]
fn choices_of_roundings_fold() {
    let mut pool = ExprPool::new();
    let (_, x) = pool.fresh_symbol(Sort::Bv(64));
    let (_, mode) = pool.fresh_symbol(Sort::Bv(Rounding::WIDTH));
    let sum = |pool: &mut ExprPool, r| pool.f_binary(FBinOp::Add(r), FloatFormat::Double, x, x);
    for (number, rounding) in Rounding::ALL.into_iter().enumerate() {
        let known = pool.int(Rounding::WIDTH, number as u64);
        assert_eq!(Rounding::choice(&mut pool, known, sum), sum(&mut pool, rounding));
    }
    let choice = Rounding::choice(&mut pool, mode, sum);
    assert!(matches!(pool.get(choice), Expr::Ite(..)));
    let wide = Rounding::choice(&mut pool, mode, |pool, r| pool.f_convert(r, FloatFormat::Double, FloatFormat::X87, x));
    assert!(matches!(pool.get(wide), Expr::FConvert { .. }));
}

/// A conversion that is considered exact returns the same value in every mode.
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
            // Includes subnormal numbers.
            for shift in [0, 0, 0, from.exponent_bits(), from.exponent_bits() + 3, from.width() - 2] {
                let value = BinOp::LShr.apply(&random(from.width()), &Bv::new(from.width(), u64::from(shift)));
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
