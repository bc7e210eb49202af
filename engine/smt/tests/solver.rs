//! Tests the solvers against the reference semantics, and the layers against a single solver.

use cfa::{BinOp, Bv, ExprPool, FBinOp, FCmp, FUnOp, FloatFormat, Rounding, Sort};
use smt::budget::Budget;
use smt::{Answer, Backend, Bitwuzla, Cores, Logged, Models, PathCondition, PathSolver, Reason, Solver, Z3, smtlib};
use std::time::{Duration, Instant};

#[test]
fn branches_of_a_path() {
    let mut pool = ExprPool::new();
    let mut solver = PathSolver::new(Box::new(Bitwuzla::new()), Budget::unlimited());
    let (_, x) = pool.fresh_symbol(Sort::Bv(32));
    let mut pc = PathCondition::new();
    let ten = pool.int(32, 10);
    let small = pool.ult(x, ten);
    let branch = solver.branch(&mut pool, &pc, small);
    assert!(branch.if_true.is_feasible() && branch.if_false.is_feasible());
    solver.assume(&mut pool, &mut pc, small, branch.if_true.model());
    let square = pool.mul(x, x);
    let c = pool.int(32, 49);
    let is_49 = pool.eq(square, c);
    let branch = solver.branch(&mut pool, &pc, is_49);
    let model = branch.if_true.model().unwrap();
    assert_eq!(model.eval(&pool, x), Bv::new(32, 7));
    solver.assume(&mut pool, &mut pc, is_49, Some(model));
    let c = pool.int(32, 7);
    let is_7 = pool.eq(x, c);
    let branch = solver.branch(&mut pool, &pc, is_7);
    assert!(branch.if_true.is_feasible() && branch.if_false.is_infeasible());
}

#[test]
fn cores_name_assumptions() {
    let mut pool = ExprPool::new();
    let (_, x) = pool.fresh_symbol(Sort::Bv(8));
    let (_, y) = pool.fresh_symbol(Sort::Bv(8));
    let five = pool.int(8, 5);
    let (a, b, c) = (pool.ult(x, five), pool.ult(five, x), pool.ult(five, y));
    let mut solver = Bitwuzla::new();
    assert_eq!(solver.check(&pool, &[a, b, c], &Budget::unlimited()), Answer::Unsat);
    assert_eq!(solver.unsat_core(), vec![a, b]);
    solver.push();
    solver.assert(&pool, a);
    assert_eq!(solver.check(&pool, &[b, c], &Budget::unlimited()), Answer::Unsat);
    assert_eq!(solver.unsat_core(), vec![b]);
    solver.pop(1);
    assert_eq!(solver.check(&pool, &[b, c], &Budget::unlimited()), Answer::Sat);
    assert!(solver.value(&pool, b).bv().is_true());
}

/// The solvers under test.
fn backends() -> Vec<Box<dyn Backend>> {
    vec![Box::new(Bitwuzla::new()), Box::new(Z3::new())]
}

/// A product of two 48-bit numbers that would have to be a prime.
fn hard(pool: &mut ExprPool) -> Vec<cfa::ExprId> {
    let (_, x) = pool.fresh_symbol(Sort::Bv(48));
    let (_, y) = pool.fresh_symbol(Sort::Bv(48));
    let (wide_x, wide_y) = (pool.zext(96, x), pool.zext(96, y));
    let product = pool.mul(wide_x, wide_y);
    // A prime has no proper factors, but no solver proves that for one of this size.
    let n = pool.constant(Bv::from_u128(96, (1 << 89) - 1));
    let is_n = pool.eq(product, n);
    let ordered = pool.ult(x, y);
    let one = pool.int(48, 1);
    let proper = pool.ult(one, x);
    vec![is_n, ordered, proper]
}

#[test]
fn deadlines_and_cancellation_are_honoured() {
    for mut solver in backends() {
        let mut pool = ExprPool::new();
        let query = hard(&mut pool);
        let start = Instant::now();
        let answer = solver.check(&pool, &query, &Budget::lasting(Duration::from_millis(100)));
        assert_eq!(answer, Answer::Unknown(Reason::Timeout), "{}", solver.name());
        assert!(start.elapsed() < Duration::from_secs(3), "{}: {:?}", solver.name(), start.elapsed());

        let budget = Budget::unlimited();
        let canceller = budget.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            canceller.cancel();
        });
        let start = Instant::now();
        assert_eq!(solver.check(&pool, &query, &budget), Answer::Unknown(Reason::Cancelled), "{}", solver.name());
        assert!(start.elapsed() < Duration::from_secs(3), "{}: {:?}", solver.name(), start.elapsed());
        thread.join().unwrap();

        // The solver works again afterwards.
        assert_eq!(solver.check(&pool, &query[1..], &Budget::unlimited()), Answer::Sat);
        assert!(solver.value(&pool, query[1]).bv().is_true());
    }
}

#[test]
fn models_of_arrays() {
    for mut solver in backends() {
        let mut pool = ExprPool::new();
        let (_, array) = pool.fresh_symbol(Sort::Array { index: 32, elem: 8 });
        let mut query = Vec::new();
        for i in 0..5u64 {
            let (index, value) = (pool.int(32, i * 100), pool.int(8, i + 7));
            let element = pool.select(array, index);
            query.push(pool.eq(element, value));
        }
        assert_eq!(solver.check(&pool, &query, &Budget::unlimited()), Answer::Sat);
        assert!(query.iter().all(|&e| solver.value(&pool, e).bv().is_true()), "{}", solver.name());
    }
}

/// This crate has no parser for scripts, so only their form is tested. Other tools read the logs.
#[test]
fn scripts_are_self_contained() {
    let mut pool = ExprPool::new();
    let (_, x) = pool.fresh_symbol(Sort::Bv(32));
    let y = pool.f_binary(FBinOp::MUL, FloatFormat::Single, x, x);
    let nan = pool.f_is_nan(FloatFormat::Single, y);
    let sign = pool.extract(31, 31, y);
    let text = smtlib::script(&pool, &[nan, sign]);
    assert!(text.contains("(declare-const s0 (_ BitVec 32))"), "{text}");
    assert!(text.contains("fp.mul RNE"), "{text}");
    assert!(text.ends_with("(check-sat)\n"), "{text}");
    let opened = text.matches('(').count();
    assert_eq!(opened, text.matches(')').count());
    // An axiom relates the bits of the product to it.
    assert!(text.contains(&format!("(declare-const bits!{} (_ BitVec 32))", y.0)), "{text}");

    let folder = std::env::temp_dir().join(format!("proviso-log-{}", std::process::id()));
    let mut solver = Logged::new(Bitwuzla::new(), &folder).unwrap();
    assert_eq!(solver.check(&pool, &[nan, sign], &Budget::unlimited()), Answer::Sat);
    let written = std::fs::read_to_string(folder.join("000001.smt2")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(written, format!("(set-info :status sat)\n{text}"));
}

/// `op(x, y) != c` for constants is unsatisfiable if `c` is the result of the evaluator, for special values of every
/// float format.
#[test]
fn float_operations_agree_with_the_evaluator() {
    let mut solver = Bitwuzla::new();
    for format in FloatFormat::ALL {
        let w = format.width();
        let e = format.exponent_bits();
        let mut samples =
            vec![Bv::zero(w), Bv::min_signed(w), Bv::one(w), Bv::ones(w), cfa::float::default_nan(format)];
        for i in [1i64, -1, 3, -7, 100, 12345] {
            samples.push(cfa::float::from_int(Rounding::Nearest, format, true, &Bv::from_i64(64, i)));
        }
        for i in 0..6u32 {
            samples.push(Bv::from_u128(w, 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835u128.rotate_left(i * 19)));
        }
        let inf = ((1u128 << e) - 1) << (w - 1 - e) | if format == FloatFormat::X87 { 1 << 63 } else { 0 };
        samples.push(Bv::from_u128(w, inf));
        let mut pool = ExprPool::new();
        solver.reset();
        for (m, a) in samples.iter().enumerate() {
            for (n, b) in samples.iter().enumerate() {
                let rounding = Rounding::ALL[(m + n) % 4];
                let (_, x) = pool.fresh_symbol(Sort::Bv(w));
                let (_, y) = pool.fresh_symbol(Sort::Bv(w));
                let (ca, cb) = (pool.constant(a.clone()), pool.constant(b.clone()));
                let (xa, yb) = (pool.eq(x, ca), pool.eq(y, cb));
                let mut results = vec![];
                for op in [FBinOp::ADD, FBinOp::MUL, FBinOp::Min, FBinOp::Max] {
                    let op = op.with_rounding(rounding);
                    results.push((pool.f_binary(op, format, x, y), cfa::float::binary(op, format, a, b)));
                }
                for op in [FCmp::Eq, FCmp::Lt, FCmp::Le] {
                    results.push((pool.f_compare(op, format, x, y), Bv::bool(cfa::float::compare(op, format, a, b))));
                }
                if a == b {
                    for op in [FUnOp::Neg, FUnOp::Abs, FUnOp::Floor, FUnOp::Trunc, FUnOp::RoundEven, FUnOp::RoundAway] {
                        results.push((pool.f_unary(op, format, x), cfa::float::unary(op, format, a)));
                    }
                    for to in [FloatFormat::Half, FloatFormat::Single] {
                        let value = cfa::float::convert(rounding, format, to, a);
                        if !cfa::float::is_nan(to, &value) {
                            results.push((pool.f_convert(rounding, format, to, x), value));
                        }
                    }
                    for signed in [true, false] {
                        for width in [8, 16, 32, 64] {
                            let value = cfa::float::to_int(format, signed, width, a);
                            results.push((pool.f_to_int(format, signed, width, x), value));
                        }
                    }
                }
                let mut wrong = pool.bool(false);
                for (term, value) in results {
                    let c = pool.constant(value.clone());
                    let mut differs = pool.binary(BinOp::Eq, term, c);
                    differs = pool.not(differs);
                    if pool.width(term) == w && cfa::float::is_nan(format, &value) {
                        // The result may be another NaN.
                        let nan = pool.f_is_nan(format, term);
                        differs = pool.not(nan);
                    }
                    wrong = pool.or(wrong, differs);
                }
                let t = std::time::Instant::now();
                let answer = {
                    solver.push();
                    for e in [xa, yb, wrong] {
                        solver.assert(&pool, e);
                    }
                    solver.check(&pool, &[], &Budget::unlimited())
                };
                if t.elapsed().as_millis() > 1000 {
                    eprintln!("{format:?} {a:?} {b:?} {:?}", t.elapsed());
                }
                assert_eq!(answer, Answer::Unsat, "{format:?} {a:?} {b:?}");
            }
        }
    }
}

/// An interrupted solver answers the next query correctly.
#[test]
fn interrupted_solvers_go_on() {
    for mut solver in backends() {
        let mut pool = ExprPool::new();
        let mut hard_ones = hard(&mut pool);
        let (_, x) = pool.fresh_symbol(Sort::Bv(64));
        let square = pool.f_binary(FBinOp::MUL, FloatFormat::Double, x, x);
        let quotient = pool.f_binary(FBinOp::DIV, FloatFormat::Double, square, x);
        let same = pool.eq(quotient, x);
        hard_ones.push(pool.not(same));
        let (_, y) = pool.fresh_symbol(Sort::Bv(32));
        for n in 0..12 {
            let low = pool.int(32, n);
            let below = pool.ult(y, low);
            solver.push();
            solver.assert(&pool, below);
            for &e in &hard_ones[..(n as usize % hard_ones.len())] {
                solver.assert(&pool, e);
            }
            solver.check(&pool, &hard_ones, &Budget::lasting(Duration::from_millis(1 + n % 7 * 5)));
            solver.pop(1);
            let expected = if n == 0 { Answer::Unsat } else { Answer::Sat };
            assert_eq!(solver.check(&pool, &[below], &Budget::unlimited()), expected, "{}", solver.name());
        }
    }
}
