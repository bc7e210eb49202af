//! IEEE floating-point arithmetic on bit patterns.
//!
//! A float is a bit-vector of its format's width. The operations of this module take and return such bit-vectors. An
//! operation whose exact result may not be representable has a [`Rounding`]. NaN results follow x86: if an operand is a
//! NaN, the result is that NaN with the quiet bit set, else the negative default NaN. If several operands are NaNs, SSE
//! takes the first one. The x87 orders them.

use crate::bv::Bv;
use num_bigint::BigUint;
use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round, Status};

/// A binary floating-point format that clang emits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FloatFormat {
    /// IEEE binary16.
    Half,
    /// bfloat16.
    BFloat,
    /// IEEE binary32.
    Single,
    /// IEEE binary64.
    Double,
    /// The x87 format with an explicit integer bit (`long double` on x86).
    X87,
    /// IEEE binary128.
    Quad,
}
use FloatFormat as F;

impl FloatFormat {
    /// All formats.
    pub const ALL: [Self; 6] = [F::Half, F::BFloat, F::Single, F::Double, F::X87, F::Quad];

    /// The name of the C type.
    pub fn c_name(self) -> &'static str {
        match self {
            F::Half => "_Float16",
            F::BFloat => "__bf16",
            F::Single => "float",
            F::Double => "double",
            F::X87 => "long double",
            F::Quad => "__float128",
        }
    }
    /// The width of the representation in bits.
    pub fn width(self) -> u32 {
        match self {
            F::Half | F::BFloat => 16,
            F::Single => 32,
            F::Double => 64,
            F::X87 => 80,
            F::Quad => 128,
        }
    }
    /// The width of the exponent field in bits.
    pub fn exponent_bits(self) -> u32 {
        match self {
            F::Half => 5,
            F::BFloat | F::Single => 8,
            F::Double => 11,
            F::X87 | F::Quad => 15,
        }
    }
    /// The width of the significand in bits, including the leading one, which only the x87 format stores.
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
    /// The name in the text form of programs.
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
    /// The format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }
    /// True if every value of this format is a value of `other`.
    pub fn embeds_into(self, other: Self) -> bool {
        // With at least as many exponent bits, `other` has a normal number at most as small. With at least as many
        // significand bits, it also has all subnormal numbers of this format.
        self.exponent_bits() <= other.exponent_bits() && self.significand_bits() <= other.significand_bits()
    }
    /// True if every integer of `width` bits is a value of the format.
    pub fn has_integers(self, signed: bool, width: u32) -> bool {
        let greatest_exponent = (1 << (self.exponent_bits() - 1)) - 1;
        // The smallest signed integer is a power of two.
        let bits = if signed { width - 1 } else { width };
        bits <= self.significand_bits() && bits <= greatest_exponent
    }
}

/// The rounding modes of the C environment. The mode also determines the result of an overflow (infinity or the largest
/// number), and the sign of a sum that is exactly zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Rounding {
    /// To nearest, ties to even: the initial mode of a C program.
    #[default]
    Nearest,
    /// Towards negative infinity.
    Down,
    /// Towards positive infinity.
    Up,
    /// Towards zero.
    Zero,
}

impl Rounding {
    /// All modes. A mode's index is its number in the control registers of x86.
    pub const ALL: [Self; 4] = [Self::Nearest, Self::Down, Self::Up, Self::Zero];
    /// The width of a mode's number in bits.
    pub const WIDTH: u32 = 2;

    /// The name in the text form of programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nearest => "nearest",
            Self::Down => "down",
            Self::Up => "up",
            Self::Zero => "zero",
        }
    }
    /// The mode with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }
    /// The operation that rounds to an integral value in this mode.
    pub fn to_integral(self) -> FUnOp {
        match self {
            Self::Nearest => FUnOp::RoundEven,
            Self::Down => FUnOp::Floor,
            Self::Up => FUnOp::Ceil,
            Self::Zero => FUnOp::Trunc,
        }
    }
    fn round(self) -> Round {
        match self {
            Self::Nearest => Round::NearestTiesToEven,
            Self::Down => Round::TowardNegative,
            Self::Up => Round::TowardPositive,
            Self::Zero => Round::TowardZero,
        }
    }
}

/// Operations from one float to a float.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FUnOp {
    /// The sign flipped, also of a NaN.
    Neg,
    /// The sign cleared, also of a NaN.
    Abs,
    /// The square root.
    Sqrt(Rounding),
    /// Rounds to an integral value, towards negative infinity.
    Floor,
    /// Rounds to an integral value, towards positive infinity.
    Ceil,
    /// Rounds to an integral value, towards zero.
    Trunc,
    /// Rounds to an integral value, ties to even (`roundeven`).
    RoundEven,
    /// Rounds to an integral value, ties away from zero (`round`).
    RoundAway,
}

impl FUnOp {
    /// The function of `math.h` for doubles that computes the operation in the default rounding mode. `None` for `-`.
    pub fn c_function(self) -> Option<&'static str> {
        match self {
            Self::Neg => None,
            Self::Abs => Some("fabs"),
            Self::Sqrt(_) => Some("sqrt"),
            Self::Floor => Some("floor"),
            Self::Ceil => Some("ceil"),
            Self::Trunc => Some("trunc"),
            Self::RoundEven => Some("rint"),
            Self::RoundAway => Some("round"),
        }
    }
}

/// Operations from two floats to a float.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FBinOp {
    /// The sum.
    Add(Rounding),
    /// The difference.
    Sub(Rounding),
    /// The product.
    Mul(Rounding),
    /// The quotient.
    Div(Rounding),
    /// C's `fmod`: exact, with the sign of the dividend.
    Rem,
    /// C's `fmin`: if one operand is a NaN, the result is the other.
    Min,
    /// C's `fmax`: if one operand is a NaN, the result is the other.
    Max,
}

impl FUnOp {
    /// The square root, rounded to nearest.
    pub const SQRT: Self = Self::Sqrt(Rounding::Nearest);

    /// The rounding mode, or `None` if the operation is exact.
    pub fn rounding(self) -> Option<Rounding> {
        match self {
            Self::Sqrt(rounding) => Some(rounding),
            _ => None,
        }
    }
    /// The same operation with another rounding.
    pub fn with_rounding(self, rounding: Rounding) -> Self {
        match self {
            Self::Sqrt(_) => Self::Sqrt(rounding),
            other => other,
        }
    }
}

impl FBinOp {
    /// The sum, rounded to nearest.
    pub const ADD: Self = Self::Add(Rounding::Nearest);
    /// The difference, rounded to nearest.
    pub const SUB: Self = Self::Sub(Rounding::Nearest);
    /// The product, rounded to nearest.
    pub const MUL: Self = Self::Mul(Rounding::Nearest);
    /// The quotient, rounded to nearest.
    pub const DIV: Self = Self::Div(Rounding::Nearest);

    /// The rounding mode, or `None` if the operation is exact.
    pub fn rounding(self) -> Option<Rounding> {
        match self {
            Self::Add(rounding) | Self::Sub(rounding) | Self::Mul(rounding) | Self::Div(rounding) => Some(rounding),
            Self::Rem | Self::Min | Self::Max => None,
        }
    }
    /// The same operation with another rounding.
    pub fn with_rounding(self, rounding: Rounding) -> Self {
        match self {
            Self::Add(_) => Self::Add(rounding),
            Self::Sub(_) => Self::Sub(rounding),
            Self::Mul(_) => Self::Mul(rounding),
            Self::Div(_) => Self::Div(rounding),
            exact @ (Self::Rem | Self::Min | Self::Max) => exact,
        }
    }
}

/// Ordered comparisons: false if an operand is a NaN. All other comparisons are composed from these and [`is_nan`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FCmp {
    /// Equal.
    Eq,
    /// Less.
    Lt,
    /// Less or equal.
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

/// `2^exponent`, or infinity if the format's largest number is smaller.
pub fn power_of_two(format: FloatFormat, exponent: u32) -> Bv {
    let bias = (1u32 << (format.exponent_bits() - 1)) - 1;
    let field = (exponent + bias).min(2 * bias + 1);
    let mut bits = u128::from(field) << (format.width() - 1 - format.exponent_bits());
    if format == F::X87 {
        bits |= 1 << 63;
    }
    Bv::from_u128(format.width(), bits)
}

/// The NaN that x86 returns for an invalid operation on operands that are not NaNs ("real indefinite").
pub fn default_nan(format: FloatFormat) -> Bv {
    let exponent = ((1u128 << format.exponent_bits()) - 1) << (format.width() - 1 - format.exponent_bits());
    let mut nan = &(&Bv::from_u128(format.width(), exponent) | &quiet_bit(format)) | &sign_mask(format);
    if format == F::X87 {
        nan = &nan | &Bv::from_u128(80, 1 << 63);
    }
    nan
}

/// True if the bits represent a NaN.
pub fn is_nan(format: FloatFormat, a: &Bv) -> bool {
    match format {
        F::Single => f32::from_bits(a.to_u64().unwrap() as u32).is_nan(),
        F::Double => f64::from_bits(a.to_u64().unwrap()).is_nan(),
        _ => with_format!(format, T => ap::<T>(a).is_nan()),
    }
}

/// Returns the NaN that x86 propagates from the operands, if one of them is a NaN. SSE returns the first one. The x87
/// (Intel's manual, volume 1, table 4-7) prefers a quiet to a signalling NaN, then the larger significand, then the
/// positive sign.
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
    Some(chosen | &quiet_bit(format))
}

/// Applies a unary operation.
pub fn unary(op: FUnOp, format: FloatFormat, a: &Bv) -> Bv {
    match op {
        FUnOp::Neg => return a ^ &sign_mask(format),
        FUnOp::Abs => return a & &sign_mask(format).not(),
        _ => {}
    }
    if let Some(nan) = propagate(format, &[a]) {
        return nan;
    }
    let direction = match op {
        FUnOp::Sqrt(rounding) => return sqrt(rounding, format, a),
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
        // apfloat returns +0 for negative values that round to zero. IEEE keeps the sign.
        let sign = sign_mask(format);
        if (&rounded & &sign.not()).is_zero() { &rounded | &(a & &sign) } else { rounded }
    })
}

/// Applies a binary operation.
pub fn binary(op: FBinOp, format: FloatFormat, a: &Bv, b: &Bv) -> Bv {
    if let FBinOp::Min | FBinOp::Max = op {
        return match (is_nan(format, a), is_nan(format, b)) {
            (true, true) => a | &quiet_bit(format),
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
    let nearest = op.rounding().is_none_or(|rounding| rounding == Rounding::Nearest);
    let result = match format {
        F::Single if nearest => {
            let (x, y) = (f32::from_bits(a.to_u64().unwrap() as u32), f32::from_bits(b.to_u64().unwrap() as u32));
            let z = native(op, x, y);
            if z.is_nan() { None } else { Some(Bv::new(32, u64::from(z.to_bits()))) }
        }
        F::Double if nearest => {
            let (x, y) = (f64::from_bits(a.to_u64().unwrap()), f64::from_bits(b.to_u64().unwrap()));
            let z = native(op, x, y);
            if z.is_nan() { None } else { Some(Bv::new(64, z.to_bits())) }
        }
        _ => with_format!(format, T => {
            let (x, y) = (ap::<T>(a), ap::<T>(b));
            let z = match op {
                FBinOp::Add(rounding) => x.add_r(y, rounding.round()),
                FBinOp::Sub(rounding) => x.sub_r(y, rounding.round()),
                FBinOp::Mul(rounding) => x.mul_r(y, rounding.round()),
                FBinOp::Div(rounding) => x.div_r(y, rounding.round()),
                FBinOp::Rem => x.c_fmod(y),
                FBinOp::Min | FBinOp::Max => unreachable!(),
            };
            let z = z.value;
            if z.is_nan() { None } else { Some(bits(format, z)) }
        }),
    };
    result.unwrap_or_else(|| default_nan(format))
}

/// The operation of the host, which rounds to nearest.
fn native<T>(op: FBinOp, x: T, y: T) -> T
where
    T: std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<Output = T>
        + std::ops::Div<Output = T>
        + std::ops::Rem<Output = T>,
{
    match op {
        FBinOp::Add(_) => x + y,
        FBinOp::Sub(_) => x - y,
        FBinOp::Mul(_) => x * y,
        FBinOp::Div(_) => x / y,
        FBinOp::Rem => x % y,
        FBinOp::Min | FBinOp::Max => unreachable!("no arithmetic"),
    }
}

/// `a * b + c` with a single rounding.
pub fn fma(rounding: Rounding, format: FloatFormat, a: &Bv, b: &Bv, c: &Bv) -> Bv {
    if let Some(nan) = propagate(format, &[a, b, c]) {
        return nan;
    }
    with_format!(format, T => {
        let z = ap::<T>(a).mul_add_r(ap::<T>(b), ap::<T>(c), rounding.round()).value;
        if z.is_nan() { default_nan(format) } else { bits(format, z) }
    })
}

/// Compares two floats.
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

/// Converts between formats. A conversion to the same format returns the bits unchanged.
pub fn convert(rounding: Rounding, from: FloatFormat, to: FloatFormat, a: &Bv) -> Bv {
    if from == to {
        return a.clone();
    }
    fn via<A: Float + FloatConvert<B>, B: Float>(rounding: Rounding, a: &Bv, to: FloatFormat) -> Bv {
        bits(to, FloatConvert::<B>::convert_r(ap::<A>(a), rounding.round(), &mut false).value)
    }
    let converted = with_format!(from, A => with_format!(to, B => via::<A, B>(rounding, a, to)));
    if is_nan(from, a) { &converted | &quiet_bit(to) } else { converted }
}

/// Converts an integer to a float. Panics if the integer has more than 128 bits.
pub fn from_int(rounding: Rounding, format: FloatFormat, signed: bool, a: &Bv) -> Bv {
    with_format!(format, T => {
        let value: T = if signed {
            T::from_i128_r(i128::try_from(a.to_bigint()).expect("integers of up to 128 bits"), rounding.round()).value
        } else {
            T::from_u128_r(a.to_u128().expect("integers of up to 128 bits"), rounding.round()).value
        };
        bits(format, value)
    })
}

/// Converts to an integer, rounded towards zero. Returns `None` for NaN and for values that do not fit.
pub fn to_int_checked(format: FloatFormat, signed: bool, width: u32, a: &Bv) -> Option<Bv> {
    with_format!(format, T => {
        let x = ap::<T>(a);
        if signed {
            // apfloat has no signed integers of one bit. Their values are 0 and -1.
            let r = x.to_i128(width.clamp(2, 128) as usize);
            let fits = (r.status & Status::INVALID_OP).is_empty() && (width > 1 || matches!(r.value, 0 | -1));
            fits.then(|| Bv::from_u128(128, r.value as u128).extract_or_sext(width))
        } else {
            let r = x.to_u128(width.min(128) as usize);
            (r.status & Status::INVALID_OP).is_empty().then(|| Bv::from_u128(width.max(128), r.value).resize(width))
        }
    })
}

/// Converts to an integer, rounded towards zero. For NaN and values that do not fit, the result has only the sign bit
/// set: x86's "integer indefinite".
pub fn to_int(format: FloatFormat, signed: bool, width: u32, a: &Bv) -> Bv {
    to_int_checked(format, signed, width, a).unwrap_or_else(|| Bv::min_signed(width))
}

impl Bv {
    fn extract_or_sext(&self, width: u32) -> Bv {
        if width <= self.width() { self.extract(width - 1, 0) } else { self.sext(width) }
    }
}

/// Formats the value in decimal, or as `nan` or `inf`.
pub fn show(format: FloatFormat, a: &Bv) -> String {
    match format {
        F::Single => format!("{:?}", f32::from_bits(a.to_u64().unwrap() as u32)).to_lowercase(),
        F::Double => format!("{:?}", f64::from_bits(a.to_u64().unwrap())).to_lowercase(),
        _ => with_format!(format, T => ap::<T>(a).to_string()).to_lowercase(),
    }
}

/// Parses a decimal number, a hexadecimal number of C, `nan` or `inf`. The result is rounded to nearest.
pub fn parse(format: FloatFormat, text: &str) -> Option<Bv> {
    with_format!(format, T => text.parse::<T>().ok().map(|value| bits(format, value)))
}

/// The correctly rounded square root of a non-NaN.
fn sqrt(rounding: Rounding, format: FloatFormat, a: &Bv) -> Bv {
    let nearest = rounding == Rounding::Nearest;
    match format {
        F::Single if nearest => {
            let z = f32::from_bits(a.to_u64().unwrap() as u32).sqrt();
            return if z.is_nan() { default_nan(format) } else { Bv::new(32, u64::from(z.to_bits())) };
        }
        F::Double if nearest => {
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
        // x = m * 2^e with an integer m and an even e. The root of m * 2^(2k) has more bits than the significand. A
        // sticky bit below it makes the final rounding exact.
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
        // The root has about 3/2 * precision bits. For Quad this exceeds u128, so the low bits are merged into the
        // sticky bit.
        let keep = precision as u64 + 3;
        let drop = root.bits().saturating_sub(keep);
        let sticky = !exact || root.trailing_zeros().is_some_and(|z| z < drop);
        let top = u128::try_from((&root >> drop) << 1u8).expect("precision + 4 bits") | u128::from(sticky);
        // A root is never subnormal, so scaling is exact.
        let value = T::from_u128_r(top, rounding.round()).value.scalbn(e / 2 - precision + drop as i32 - 1);
        bits(format, value)
    })
}

#[cfg(test)]
mod tests;
