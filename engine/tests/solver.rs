//! The solvers against the reference semantics, and the layers against a plain solver.

use cfa::{BinOp, Bv, ExprPool, FBinOp, FCmp, FUnOp, FloatFormat, Sort};
use engine::budget::Budget;
use engine::solver::{Answer, Bitwuzla, Cores, Models, PathCondition, PathSolver, Solver};

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

/// `op(x, y) != c` for constants is unsatisfiable where `c` is what the evaluator says, over bits of every float
/// format and special values.
#[test]
fn float_operations_agree_with_the_evaluator() {
    let mut solver = Bitwuzla::new();
    for format in FloatFormat::ALL {
        let w = format.width();
        let e = format.exponent_bits();
        let mut samples =
            vec![Bv::zero(w), Bv::min_signed(w), Bv::one(w), Bv::ones(w), cfa::float::default_nan(format)];
        for i in [1i64, -1, 3, -7, 100, 12345] {
            samples.push(cfa::float::from_int(format, true, &Bv::from_i64(64, i)));
        }
        for i in 0..6u32 {
            samples.push(Bv::from_u128(w, 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835u128.rotate_left(i * 19)));
        }
        let inf = ((1u128 << e) - 1) << (w - 1 - e) | if format == FloatFormat::X87 { 1 << 63 } else { 0 };
        samples.push(Bv::from_u128(w, inf));
        let mut pool = ExprPool::new();
        solver.reset();
        for a in &samples {
            for b in &samples {
                let (_, x) = pool.fresh_symbol(Sort::Bv(w));
                let (_, y) = pool.fresh_symbol(Sort::Bv(w));
                let (ca, cb) = (pool.constant(a.clone()), pool.constant(b.clone()));
                let (xa, yb) = (pool.eq(x, ca), pool.eq(y, cb));
                let mut results = vec![];
                for op in [FBinOp::Add, FBinOp::Mul, FBinOp::Min, FBinOp::Max] {
                    results.push((pool.f_binary(op, format, x, y), cfa::float::binary(op, format, a, b)));
                }
                for op in [FCmp::Eq, FCmp::Lt, FCmp::Le] {
                    results.push((pool.f_compare(op, format, x, y), Bv::bool(cfa::float::compare(op, format, a, b))));
                }
                if a == b {
                    for op in [FUnOp::Neg, FUnOp::Abs, FUnOp::Floor, FUnOp::Trunc, FUnOp::RoundEven, FUnOp::RoundAway] {
                        results.push((pool.f_unary(op, format, x), cfa::float::unary(op, format, a)));
                    }
                    for signed in [true, false] {
                        if let Some(v) = cfa::float::to_int_checked(format, signed, 16, a) {
                            results.push((pool.f_to_int(format, signed, 16, x), v));
                        }
                    }
                }
                let mut wrong = pool.bool(false);
                for (term, value) in results {
                    let c = pool.constant(value.clone());
                    let mut differs = pool.binary(BinOp::Eq, term, c);
                    differs = pool.not(differs);
                    if pool.width(term) == w && cfa::float::is_nan(format, &value) {
                        // Another NaN may come out.
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
