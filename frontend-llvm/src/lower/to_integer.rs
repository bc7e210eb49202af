//! Conversions of floats to integers, including values that do not fit.
//!
//! In C, a value that does not fit is undefined. The reference is the code of `clang -O0` for x86 with SSE: the
//! conversion instruction for a register that holds the type, then a truncation. For NaN and values that do not fit the
//! register, the instruction returns "integer indefinite" (only the sign bit is set).

use super::arith;
use super::function::FunctionLowering;
use crate::ir::{Instruction, TypeKind, op};
use cfa::{Bv, ExprId, ExprPool, FCmp, FUnOp, FloatFormat, InputKind, Op};

impl FunctionLowering<'_, '_> {
    /// `fptosi` and `fptoui` of `a`. Where the machine's value is unknown, the result is arbitrary and tainted.
    pub fn float_to_integer(&mut self, i: &Instruction, format: FloatFormat, a: ExprId) -> ExprId {
        let (ir, pointer) = (self.b.ir(), self.b.pointer_width());
        let (signed, width) = (i.opcode == op::FP_TO_SI, arith::scalar_width(ir, i.ty));
        let a = self.b.share(a);
        // clang emits other code under `STDC FENV_ACCESS` and for vectors.
        let plain = ir.extra(i).is_empty() && !matches!(ir.kind(i.ty), TypeKind::Vector(..));
        let x = self.b.x();
        let on_machine = if plain { on_machine(x, pointer, format, signed, width, a) } else { None };
        let (value, known) = on_machine.unwrap_or_else(|| {
            let lanes = arith::lanes(x, a, format.width());
            let known: Vec<ExprId> = lanes.iter().map(|&lane| fits(x, format, signed, width, lane)).collect();
            let lanes: Vec<ExprId> = lanes.iter().map(|&lane| x.f_to_int(format, signed, width, lane)).collect();
            (arith::from_lanes(x, &lanes), arith::combine(x, &known, &mut |x, a, b| x.and(a, b)))
        });
        let unknown = x.not(known);
        if x.is_false(unknown) {
            return value;
        }
        let whole = x.width(value);
        let var = self.b.temp(whole);
        self.b.emit(Op::Assign { var, value });
        self.b.when(unknown, |b| {
            b.approximate("a float is converted to an integer type that it does not fit into", true, false);
            b.havoc_var(var, InputKind::Uninit(None), None);
        });
        self.b.var_expr(var)
    }
}

/// The result of the machine code for a scalar, and the condition under which it is known. `None` if a library function
/// does the conversion.
fn on_machine(
    x: &mut ExprPool,
    pointer: u32,
    format: FloatFormat,
    signed: bool,
    width: u32,
    a: ExprId,
) -> Option<(ExprId, ExprId)> {
    let x87 = format == FloatFormat::X87;
    let always = x.bool(true);
    let register = match width {
        _ if format == FloatFormat::Quad => return None,
        8 if x87 => 16,
        16 if x87 && signed => 16,
        8 | 16 => 32,
        32 if signed => 32,
        32 if x87 || pointer == 64 => 64,
        32 => return Some((unsigned_by_sse(x, format, width, a), always)),
        64 if signed => 64,
        64 if !x87 && pointer == 64 => return Some((unsigned_by_sse(x, format, width, a), always)),
        64 => return Some(unsigned_by_x87(x, format, width, a)),
        _ => return None,
    };
    let value = x.f_to_int(format, true, register, a);
    Some((x.extract(width - 1, 0, value), always))
}

/// For an unsigned type as wide as a register, the code does two signed conversions: of `a` and of `a - 2^(width - 1)`.
/// The second counts if the first is negative. The results for negative values are those of the signed type.
fn unsigned_by_sse(x: &mut ExprPool, format: FloatFormat, width: u32, a: ExprId) -> ExprId {
    let zero = x.int(format.width(), 0);
    let negative = x.f_compare(FCmp::Lt, format, a, zero);
    let (signed, unsigned) = (x.f_to_int(format, true, width, a), x.f_to_int(format, false, width, a));
    x.ite(negative, signed, unsigned)
}

/// The x87 code: if the value is at least `2^(width - 1)`, it subtracts that, converts, and flips the sign bit, which
/// turns "indefinite" into zero. The branch that NaN takes depends on the surrounding code.
fn unsigned_by_x87(x: &mut ExprPool, format: FloatFormat, width: u32, a: ExprId) -> (ExprId, ExprId) {
    let (half, whole) = (power(x, format, width - 1), power(x, format, width));
    let below_half = x.f_compare(FCmp::Lt, format, a, half);
    let below = x.f_compare(FCmp::Lt, format, a, whole);
    let (signed, unsigned) = (x.f_to_int(format, true, width, a), x.f_to_int(format, false, width, a));
    let zero = x.int(width, 0);
    let large = x.ite(below, unsigned, zero);
    let is_nan = x.f_is_nan(format, a);
    (x.ite(below_half, signed, large), x.not(is_nan))
}

/// True if the integral part of `a` is a value of the type.
fn fits(x: &mut ExprPool, format: FloatFormat, signed: bool, width: u32, a: ExprId) -> ExprId {
    let whole = x.f_unary(FUnOp::Trunc, format, a);
    let (min, above) = bounds(x, format, signed, width);
    let below = x.f_compare(FCmp::Lt, format, whole, above);
    // If the format does not reach the bounds, they are infinite, and every finite value fits.
    let finite = !signed || width <= 1 << (format.exponent_bits() - 1);
    let in_range = x.f_compare(if finite { FCmp::Le } else { FCmp::Lt }, format, min, whole);
    x.and(in_range, below)
}

/// The least integer of the type, and the least integer above the type.
fn bounds(x: &mut ExprPool, format: FloatFormat, signed: bool, width: u32) -> (ExprId, ExprId) {
    let above = power(x, format, if signed { width - 1 } else { width });
    let min = if signed { x.f_unary(FUnOp::Neg, format, above) } else { x.int(format.width(), 0) };
    (min, above)
}

/// `2^exponent`, or infinity if the format's largest number is smaller.
fn power(x: &mut ExprPool, format: FloatFormat, exponent: u32) -> ExprId {
    x.constant(cfa::float::power_of_two(format, exponent))
}

/// Converts to an integer, rounded towards zero. NaN becomes 0. A value that is out of range becomes the nearest limit.
pub(super) fn saturating(x: &mut ExprPool, format: FloatFormat, signed: bool, width: u32, a: ExprId) -> ExprId {
    let (min_float, above) = bounds(x, format, signed, width);
    let (max, min) =
        if signed { (Bv::min_signed(width).not(), Bv::min_signed(width)) } else { (Bv::ones(width), Bv::zero(width)) };
    let (max, min, zero) = (x.constant(max), x.constant(min), x.int(width, 0));
    let too_large = x.f_compare(FCmp::Le, format, above, a);
    let too_small = x.f_compare(FCmp::Le, format, a, min_float);
    let is_nan = x.f_is_nan(format, a);
    let value = x.f_to_int(format, signed, width, a);
    let value = x.ite(too_small, min, value);
    let value = x.ite(too_large, max, value);
    x.ite(is_nan, zero, value)
}
