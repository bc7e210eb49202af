//! Both solver libraries link, run, and are the versions that `scripts/setup-deps` installs.

// Forces linking of the libraries.
use smt as _;

/// `x * y == 143 && 1 < x && x < y` over 16 bits without overflow: 11 and 13.
#[test]
fn bitwuzla_factors() {
    use bitwuzla_sys::*;
    use std::ffi::CStr;
    unsafe {
        let tm = bitwuzla_term_manager_new();
        let options = bitwuzla_options_new();
        bitwuzla_set_option(options, BITWUZLA_OPT_PRODUCE_MODELS, 1);
        let solver = bitwuzla_new(tm, options);
        let sort = bitwuzla_mk_bv_sort(tm, 16);
        let x = bitwuzla_mk_const(tm, sort, c"x".as_ptr());
        let y = bitwuzla_mk_const(tm, sort, c"y".as_ptr());
        let num = |n| bitwuzla_mk_bv_value_uint64(tm, sort, n);
        let two = |kind, a, b| bitwuzla_mk_term2(tm, kind, a, b);
        let product = two(BITWUZLA_KIND_BV_MUL, x, y);
        bitwuzla_assert(solver, two(BITWUZLA_KIND_EQUAL, product, num(143)));
        bitwuzla_assert(solver, two(BITWUZLA_KIND_BV_ULT, num(1), x));
        bitwuzla_assert(solver, two(BITWUZLA_KIND_BV_ULT, x, y));
        bitwuzla_assert(solver, two(BITWUZLA_KIND_BV_ULT, y, num(256)));
        assert_eq!(bitwuzla_check_sat(solver), BITWUZLA_SAT);
        let value = |t| {
            let text = bitwuzla_term_value_get_str_fmt(bitwuzla_get_value(solver, t), 10);
            CStr::from_ptr(text).to_str().unwrap().to_owned()
        };
        assert_eq!((value(x).as_str(), value(y).as_str()), ("11", "13"));
        bitwuzla_assert(solver, two(BITWUZLA_KIND_BV_UGT, x, num(11)));
        assert_eq!(bitwuzla_check_sat(solver), BITWUZLA_UNSAT);
        bitwuzla_delete(solver);
        bitwuzla_options_delete(options);
        bitwuzla_term_manager_delete(tm);
        assert_eq!(CStr::from_ptr(bitwuzla_version()).to_str(), Ok("0.8.0"));
    }
}

/// Addition in 80-bit floats: needs a Bitwuzla built with `fpexp`.
#[test]
fn bitwuzla_has_long_double() {
    use bitwuzla_sys::*;
    unsafe {
        let tm = bitwuzla_term_manager_new();
        let solver = bitwuzla_new(tm, std::ptr::null());
        let sort = bitwuzla_mk_fp_sort(tm, 15, 64);
        let x = bitwuzla_mk_const(tm, sort, c"x".as_ptr());
        let rne = bitwuzla_mk_rm_value(tm, BITWUZLA_RM_RNE);
        let twice = bitwuzla_mk_term3(tm, BITWUZLA_KIND_FP_ADD, rne, x, x);
        let one = bitwuzla_mk_fp_from_real(tm, sort, rne, c"1.0".as_ptr());
        bitwuzla_assert(solver, bitwuzla_mk_term2(tm, BITWUZLA_KIND_FP_EQUAL, twice, one));
        assert_eq!(bitwuzla_check_sat(solver), BITWUZLA_SAT);
        bitwuzla_delete(solver);
        bitwuzla_term_manager_delete(tm);
    }
}

#[test]
fn z3_factors() {
    use z3::ast::BV;
    let solver = z3::Solver::new();
    let x = BV::new_const("x", 16);
    let y = BV::new_const("y", 16);
    let num = |n| BV::from_u64(n, 16);
    solver.assert((&x * &y).eq(num(143)));
    solver.assert(num(1).bvult(&x));
    solver.assert(x.bvult(&y));
    solver.assert(y.bvult(num(256)));
    assert_eq!(solver.check(), z3::SatResult::Sat);
    let model = solver.get_model().unwrap();
    let value = |v: &BV| model.eval(v, true).unwrap().as_u64().unwrap();
    assert_eq!((value(&x), value(&y)), (11, 13));
    solver.assert(x.bvugt(num(11)));
    assert_eq!(solver.check(), z3::SatResult::Unsat);
    let version = z3::full_version();
    assert!(version.starts_with("5.4.0"), "linked with another Z3: {version}");
}
