use super::*;

fn double(x: f64) -> Bv {
    Bv::new(64, x.to_bits())
}

#[test]
fn sqrt_in_wide_formats_agrees_with_double() {
    for x in [2.0, 3.0, 0.1, 1e300, 1e-300, 5e-324, 4.0, 1234567.875] {
        for format in [F::X87, F::Quad] {
            let wide = unary(FUnOp::SQRT, format, &convert(Rounding::Nearest, F::Double, format, &double(x)));
            // Double rounding changes the last place only for ties. These values are no ties.
            assert_eq!(convert(Rounding::Nearest, format, F::Double, &wide), double(f64::sqrt(x)), "{x} {format:?}");
        }
    }
    let four = convert(Rounding::Nearest, F::Double, F::Quad, &double(4.0));
    assert_eq!(unary(FUnOp::SQRT, F::Quad, &four), convert(Rounding::Nearest, F::Double, F::Quad, &double(2.0)));
}

#[test]
fn nan_rules_of_x86() {
    let (inf, zero) = (double(f64::INFINITY), double(0.0));
    assert_eq!(binary(FBinOp::MUL, F::Double, &inf, &zero), Bv::new(64, 0xfff8_0000_0000_0000));
    let payload = Bv::new(64, 0x7ff0_0000_0000_0001);
    assert_eq!(binary(FBinOp::ADD, F::Double, &zero, &payload), Bv::new(64, 0x7ff8_0000_0000_0001));
    assert_eq!(binary(FBinOp::Max, F::Double, &zero, &payload), zero);
    assert!(!compare(FCmp::Le, F::Double, &payload, &payload));
}

#[test]
fn rounding_modes() {
    use Rounding::{Down, Nearest, Up, Zero};
    let (one, third) = (double(1.0), double(1.0 / 3.0));
    let above = third.add(&Bv::one(64));
    for (rounding, expected) in [(Nearest, &third), (Down, &third), (Up, &above), (Zero, &third)] {
        assert_eq!(binary(FBinOp::Div(rounding), F::Double, &one, &double(3.0)), *expected);
    }
    // Zeros and overflow.
    for (rounding, zero, huge) in
        [(Nearest, 0.0, f64::INFINITY), (Down, -0.0, f64::MAX), (Up, 0.0, f64::INFINITY), (Zero, 0.0, f64::MAX)]
    {
        assert_eq!(binary(FBinOp::Sub(rounding), F::Double, &one, &one), double(zero));
        assert_eq!(fma(rounding, F::Double, &one, &one, &double(-1.0)), double(zero));
        let max = double(f64::MAX);
        assert_eq!(binary(FBinOp::Add(rounding), F::Double, &max, &max), double(huge));
        assert_eq!(from_int(rounding, F::Double, true, &Bv::zero(32)), double(0.0));
    }
    let tiny = double(-1e-300);
    assert_eq!(convert(Down, F::Double, F::Single, &tiny), Bv::new(32, 0x8000_0001));
    assert_eq!(convert(Up, F::Double, F::Single, &tiny), Bv::new(32, 0x8000_0000));
    assert_eq!(unary(FUnOp::Sqrt(Up), F::Double, &double(2.0)), double(f64::sqrt(2.0)));
    assert_eq!(unary(FUnOp::Sqrt(Down), F::Double, &double(2.0)), double(f64::sqrt(2.0)).sub(&Bv::one(64)));
}

#[test]
fn conversions() {
    assert_eq!(to_int(F::Double, true, 32, &double(-2.9)), Bv::from_i64(32, -2));
    assert_eq!(to_int(F::Double, true, 32, &double(1e10)), Bv::min_signed(32));
    assert_eq!(to_int_checked(F::Double, false, 8, &double(300.0)), None);
    assert_eq!(from_int(Rounding::Nearest, F::Double, true, &Bv::from_i64(8, -3)), double(-3.0));
    assert_eq!(
        convert(Rounding::Nearest, F::Double, F::Single, &double(0.1)),
        Bv::new(32, u64::from(0.1f32.to_bits()))
    );
    assert_eq!(unary(FUnOp::Ceil, F::Double, &double(-0.5)), double(-0.0));
    assert_eq!(unary(FUnOp::RoundAway, F::Double, &double(2.5)), double(3.0));
}
