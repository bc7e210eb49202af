//! IEEE floating-point arithmetic on bit patterns.
//!
//! A float is stored as a bit-vector of its format's width; the operations here take and give bits.
//! Rounding is to nearest, ties to even (the default of the C environment). NaN results follow x86:
//! a NaN operand, quieted (the first but for the x87), else the negative default NaN.

use crate::bv::Bv;
use num_bigint::BigUint;
use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round, Status};

/// A binary floating-point format that clang emits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FloatFormat {
    Half,
    BFloat,
    Single,
    Double,
    /// The x87 format with an explicit integer bit (`long double` on x86).
    X87,
    Quad,
}
use FloatFormat as F;

impl FloatFormat {
    pub const ALL: [Self; 6] = [F::Half, F::BFloat, F::Single, F::Double, F::X87, F::Quad];

    /// Bits of the representation.
    pub fn width(self) -> u32 {
        match self {
            F::Half | F::BFloat => 16,
            F::Single => 32,
            F::Double => 64,
            F::X87 => 80,
            F::Quad => 128,
        }
    }
    /// Bits of the exponent field.
    pub fn exponent_bits(self) -> u32 {
        match self {
            F::Half => 5,
            F::BFloat | F::Single => 8,
            F::Double => 11,
            F::X87 | F::Quad => 15,
        }
    }
    /// Bits of the significand with the leading one, whether stored (x87) or implied.
    pub fn significand_bits(self) -> u32 {
        match self {
            F::Half => 11,
            F::BFloat => 8,
            F::Single => 24,
            F::Double => 53,
            F::X87 => 64,
            F::Quad => 113,
        }
    }
    pub fn name(self) -> &'static str {
        match self {
            F::Half => "half",
            F::BFloat => "bfloat",
            F::Single => "single",
            F::Double => "double",
            F::X87 => "x87",
            F::Quad => "quad",
        }
    }
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }
}

/// Operations on one float that give a float.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FUnOp {
    Neg,
    Abs,
    Sqrt,
    /// Round to an integral value in the given direction.
    Floor,
    Ceil,
    Trunc,
    /// To nearest, ties to even (`rint`, `nearbyint`).
    RoundEven,
    /// To nearest, ties away from zero (`round`).
    RoundAway,
}

/// Operations on two floats that give a float.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FBinOp {
    Add,
    Sub,
    Mul,
    Div,
    /// C's `fmod`: exact, the sign of the dividend.
    Rem,
    /// C's `fmin`, `fmax`: a NaN operand loses.
    Min,
    Max,
}

/// Ordered comparisons: false if an operand is NaN. The others are built from these and [`is_nan`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FCmp {
    Eq,
    Lt,
    Le,
}

/// Calls `$body` with `$T` the apfloat type of `$format`.
macro_rules! with_format {
    ($format:expr, $T:ident => $body:expr) => {
        match $format {
            F::Half => {
                type $T = Half;
                $body
            }
            F::BFloat => {
                type $T = BFloat;
                $body
            }
            F::Single => {
                type $T = Single;
                $body
            }
            F::Double => {
                type $T = Double;
                $body
            }
            F::X87 => {
                type $T = X87DoubleExtended;
                $body
            }
            F::Quad => {
                type $T = Quad;
                $body
            }
        }
    };
}

fn ap<T: Float>(bits: &Bv) -> T {
    T::from_bits(bits.to_u128().expect("floats have at most 128 bits"))
}

fn bits<T: Float>(format: FloatFormat, value: T) -> Bv {
    Bv::from_u128(format.width(), value.to_bits())
}

fn sign_mask(format: FloatFormat) -> Bv {
    Bv::min_signed(format.width())
}

/// The quiet bit: the top bit of the fraction.
fn quiet_bit(format: FloatFormat) -> Bv {
    let position = if format == F::X87 { 62 } else { format.significand_bits() - 2 };
    Bv::from_u128(format.width(), 1 << position)
}

/// The NaN that an invalid x86 operation on non-NaN operands gives ("real indefinite").
pub fn default_nan(format: FloatFormat) -> Bv {
    let exponent = ((1u128 << format.exponent_bits()) - 1) << (format.width() - 1 - format.exponent_bits());
    let mut nan = Bv::from_u128(format.width(), exponent).or(&quiet_bit(format)).or(&sign_mask(format));
    if format == F::X87 {
        nan = nan.or(&Bv::from_u128(80, 1 << 63));
    }
    nan
}

pub fn is_nan(format: FloatFormat, a: &Bv) -> bool {
    match format {
        F::Single => f32::from_bits(a.to_u64().unwrap() as u32).is_nan(),
        F::Double => f64::from_bits(a.to_u64().unwrap()).is_nan(),
        _ => with_format!(format, T => ap::<T>(a).is_nan()),
    }
}

/// The NaN that x86 propagates from operands, if one is a NaN: the first with SSE; with the x87 (Intel's
/// manual, volume 1, table 4-7) a quiet one before a signalling one, then the larger significand, then the
/// positive.
fn propagate(format: FloatFormat, operands: &[&Bv]) -> Option<Bv> {
    let mut nans = operands.iter().copied().filter(|a| is_nan(format, a));
    let first = nans.next()?;
    let chosen = match format {
        F::X87 => {
            let rank = |a: &Bv| (a.bit(62), a.to_u128().map(|bits| bits as u64), !a.sign());
            nans.fold(first, |best, a| if rank(a) > rank(best) { a } else { best })
        }
        _ => first,
    };
    Some(chosen.or(&quiet_bit(format)))
}

pub fn unary(op: FUnOp, format: FloatFormat, a: &Bv) -> Bv {
    match op {
        FUnOp::Neg => return a.xor(&sign_mask(format)),
        FUnOp::Abs => return a.and(&sign_mask(format).not()),
        _ => {}
    }
    if let Some(nan) = propagate(format, &[a]) {
        return nan;
    }
    let direction = match op {
        FUnOp::Sqrt => return sqrt(format, a),
        FUnOp::Floor => Round::TowardNegative,
        FUnOp::Ceil => Round::TowardPositive,
        FUnOp::Trunc => Round::TowardZero,
        FUnOp::RoundEven => Round::NearestTiesToEven,
        FUnOp::RoundAway => Round::NearestTiesToAway,
        FUnOp::Neg | FUnOp::Abs => unreachable!(),
    };
    with_format!(format, T => {
        let x = ap::<T>(a);
        let rounded = bits(format, x.round_to_integral(direction).value);
        // apfloat gives +0 for negative values that round to zero; IEEE keeps the sign.
        if rounded.and(&sign_mask(format).not()).is_zero() { rounded.or(&a.and(&sign_mask(format))) } else { rounded }
    })
}

pub fn binary(op: FBinOp, format: FloatFormat, a: &Bv, b: &Bv) -> Bv {
    if let FBinOp::Min | FBinOp::Max = op {
        return match (is_nan(format, a), is_nan(format, b)) {
            (true, true) => a.or(&quiet_bit(format)),
            (true, false) => b.clone(),
            (false, true) => a.clone(),
            (false, false) => {
                let a_less =
                    compare(FCmp::Lt, format, a, b) || (compare(FCmp::Eq, format, a, b) && a.sign() && !b.sign());
                if a_less == (op == FBinOp::Min) { a.clone() } else { b.clone() }
            }
        };
    }
    if let Some(nan) = propagate(format, &[a, b]) {
        return nan;
    }
    let result = match format {
        F::Single => {
            let (x, y) = (f32::from_bits(a.to_u64().unwrap() as u32), f32::from_bits(b.to_u64().unwrap() as u32));
            let z = match op {
                FBinOp::Add => x + y,
                FBinOp::Sub => x - y,
                FBinOp::Mul => x * y,
                FBinOp::Div => x / y,
                FBinOp::Rem => x % y,
                FBinOp::Min | FBinOp::Max => unreachable!(),
            };
            if z.is_nan() { None } else { Some(Bv::new(32, u64::from(z.to_bits()))) }
        }
        F::Double => {
            let (x, y) = (f64::from_bits(a.to_u64().unwrap()), f64::from_bits(b.to_u64().unwrap()));
            let z = match op {
                FBinOp::Add => x + y,
                FBinOp::Sub => x - y,
                FBinOp::Mul => x * y,
                FBinOp::Div => x / y,
                FBinOp::Rem => x % y,
                FBinOp::Min | FBinOp::Max => unreachable!(),
            };
            if z.is_nan() { None } else { Some(Bv::new(64, z.to_bits())) }
        }
        _ => with_format!(format, T => {
            let (x, y) = (ap::<T>(a), ap::<T>(b));
            let z = match op {
                FBinOp::Add => x + y,
                FBinOp::Sub => x - y,
                FBinOp::Mul => x * y,
                FBinOp::Div => x / y,
                FBinOp::Rem => x.c_fmod(y),
                FBinOp::Min | FBinOp::Max => unreachable!(),
            };
            let z = z.value;
            if z.is_nan() { None } else { Some(bits(format, z)) }
        }),
    };
    result.unwrap_or_else(|| default_nan(format))
}

/// `a * b + c` with one rounding.
pub fn fma(format: FloatFormat, a: &Bv, b: &Bv, c: &Bv) -> Bv {
    if let Some(nan) = propagate(format, &[a, b, c]) {
        return nan;
    }
    with_format!(format, T => {
        let z = ap::<T>(a).mul_add(ap::<T>(b), ap::<T>(c)).value;
        if z.is_nan() { default_nan(format) } else { bits(format, z) }
    })
}

pub fn compare(op: FCmp, format: FloatFormat, a: &Bv, b: &Bv) -> bool {
    fn apply<P: PartialOrd>(op: FCmp, x: P, y: P) -> bool {
        match op {
            FCmp::Eq => x == y,
            FCmp::Lt => x < y,
            FCmp::Le => x <= y,
        }
    }
    match format {
        F::Single => apply(op, f32::from_bits(a.to_u64().unwrap() as u32), f32::from_bits(b.to_u64().unwrap() as u32)),
        F::Double => apply(op, f64::from_bits(a.to_u64().unwrap()), f64::from_bits(b.to_u64().unwrap())),
        _ => with_format!(format, T => apply(op, ap::<T>(a), ap::<T>(b))),
    }
}

/// Between formats, rounding to nearest. To the same format it is the identity, on every bit pattern.
pub fn convert(from: FloatFormat, to: FloatFormat, a: &Bv) -> Bv {
    if from == to {
        return a.clone();
    }
    fn via<A: Float + FloatConvert<B>, B: Float>(a: &Bv, to: FloatFormat) -> Bv {
        bits(to, FloatConvert::<B>::convert(ap::<A>(a), &mut false).value)
    }
    let converted = with_format!(from, A => with_format!(to, B => via::<A, B>(a, to)));
    if is_nan(from, a) { converted.or(&quiet_bit(to)) } else { converted }
}

/// An integer (signed or not) to the nearest float. Panics above 128 bits.
pub fn from_int(format: FloatFormat, signed: bool, a: &Bv) -> Bv {
    with_format!(format, T => {
        let value: T = if signed {
            T::from_i128(i128::try_from(a.to_bigint()).expect("integers of up to 128 bits")).value
        } else {
            T::from_u128(a.to_u128().expect("integers of up to 128 bits")).value
        };
        bits(format, value)
    })
}

/// Towards zero. `None` for NaN and out-of-range values, for which C leaves the result undefined.
pub fn to_int_checked(format: FloatFormat, signed: bool, width: u32, a: &Bv) -> Option<Bv> {
    with_format!(format, T => {
        let x = ap::<T>(a);
        if signed {
            // apfloat knows no signed integers of one bit; those are 0 and -1.
            let r = x.to_i128(width.clamp(2, 128) as usize);
            let fits = (r.status & Status::INVALID_OP).is_empty() && (width > 1 || matches!(r.value, 0 | -1));
            fits.then(|| Bv::from_u128(128, r.value as u128).extract_or_sext(width))
        } else {
            let r = x.to_u128(width.min(128) as usize);
            (r.status & Status::INVALID_OP).is_empty().then(|| Bv::from_u128(width.max(128), r.value).resize(width))
        }
    })
}

/// As [`to_int_checked`], with the sign bit alone (x86's "integer indefinite") for undefined results.
pub fn to_int(format: FloatFormat, signed: bool, width: u32, a: &Bv) -> Bv {
    to_int_checked(format, signed, width, a).unwrap_or_else(|| Bv::min_signed(width))
}

impl Bv {
    fn extract_or_sext(&self, width: u32) -> Bv {
        if width <= self.width() { self.extract(width - 1, 0) } else { self.sext(width) }
    }
}

/// The value in decimal, with `nan` and `inf`.
pub fn show(format: FloatFormat, a: &Bv) -> String {
    match format {
        F::Single => format!("{:?}", f32::from_bits(a.to_u64().unwrap() as u32)).to_lowercase(),
        F::Double => format!("{:?}", f64::from_bits(a.to_u64().unwrap())).to_lowercase(),
        _ => with_format!(format, T => ap::<T>(a).to_string()).to_lowercase(),
    }
}

/// The correctly rounded square root of a non-NaN.
fn sqrt(format: FloatFormat, a: &Bv) -> Bv {
    match format {
        F::Single => {
            let z = f32::from_bits(a.to_u64().unwrap() as u32).sqrt();
            return if z.is_nan() { default_nan(format) } else { Bv::new(32, u64::from(z.to_bits())) };
        }
        F::Double => {
            let z = f64::from_bits(a.to_u64().unwrap()).sqrt();
            return if z.is_nan() { default_nan(format) } else { Bv::new(64, z.to_bits()) };
        }
        _ => {}
    }
    with_format!(format, T => {
        let x = ap::<T>(a);
        if x.is_zero() {
            return a.clone();
        }
        if x.is_negative() {
            return default_nan(format);
        }
        if x.is_infinite() {
            return a.clone();
        }
        // x = m * 2^e with m an integer and e even; the root of m * 2^(2k) has more bits than the
        // significand, and a sticky bit below it makes the final rounding exact.
        let precision = format.significand_bits() as i32;
        let exponent = x.ilogb();
        let mut e = exponent - (precision - 1);
        let mut m = BigUint::from(x.scalbn(-e).to_u128(128).value);
        if e % 2 != 0 {
            m <<= 1;
            e -= 1;
        }
        m <<= 2 * precision as u32;
        let root = m.sqrt();
        let exact = &root * &root == m;
        // The root has about 3/2 * precision bits: too many for u128 with Quad, so drop low bits into the sticky one.
        let keep = precision as u64 + 3;
        let drop = root.bits().saturating_sub(keep);
        let sticky = !exact || root.trailing_zeros().is_some_and(|z| z < drop);
        let top = u128::try_from((&root >> drop) << 1u8).expect("precision + 4 bits") | u128::from(sticky);
        let value = T::from_u128(top).value.scalbn(e / 2 - precision + drop as i32 - 1);
        bits(format, value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(x: f64) -> Bv {
        Bv::new(64, x.to_bits())
    }

    #[test]
    fn sqrt_in_wide_formats_agrees_with_double() {
        for x in [2.0, 3.0, 0.1, 1e300, 1e-300, 5e-324, 4.0, 1234567.875] {
            for format in [F::X87, F::Quad] {
                let wide = unary(FUnOp::Sqrt, format, &convert(F::Double, format, &double(x)));
                // Rounding twice can differ in the last place only for ties, which these are not.
                assert_eq!(convert(format, F::Double, &wide), double(f64::sqrt(x)), "{x} {format:?}");
            }
        }
        let four = convert(F::Double, F::Quad, &double(4.0));
        assert_eq!(unary(FUnOp::Sqrt, F::Quad, &four), convert(F::Double, F::Quad, &double(2.0)));
    }

    #[test]
    fn nan_rules_of_x86() {
        let (inf, zero) = (double(f64::INFINITY), double(0.0));
        assert_eq!(binary(FBinOp::Mul, F::Double, &inf, &zero), Bv::new(64, 0xfff8_0000_0000_0000));
        let payload = Bv::new(64, 0x7ff0_0000_0000_0001);
        assert_eq!(binary(FBinOp::Add, F::Double, &zero, &payload), Bv::new(64, 0x7ff8_0000_0000_0001));
        assert_eq!(binary(FBinOp::Max, F::Double, &zero, &payload), zero);
        assert!(!compare(FCmp::Le, F::Double, &payload, &payload));
    }

    #[test]
    fn conversions() {
        assert_eq!(to_int(F::Double, true, 32, &double(-2.9)), Bv::from_i64(32, -2));
        assert_eq!(to_int(F::Double, true, 32, &double(1e10)), Bv::min_signed(32));
        assert_eq!(to_int_checked(F::Double, false, 8, &double(300.0)), None);
        assert_eq!(from_int(F::Double, true, &Bv::from_i64(8, -3)), double(-3.0));
        assert_eq!(convert(F::Double, F::Single, &double(0.1)), Bv::new(32, u64::from(0.1f32.to_bits())));
        assert_eq!(unary(FUnOp::Ceil, F::Double, &double(-0.5)), double(-0.0));
        assert_eq!(unary(FUnOp::RoundAway, F::Double, &double(2.5)), double(3.0));
    }
}
