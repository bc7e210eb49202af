//! LLVM's operations on values, as expressions.
//!
//! Vector operations are applied to each lane. Lane 0 is in the lowest bits.

use super::rounding::Mode;
use crate::ir::{self, TypeKind, op};
use cfa::{BinOp, Bv, ExprId, ExprPool, FBinOp, FCmp, FUnOp, FloatFormat};

/// `whole` with the bits from `bit` on replaced by `part`.
pub(super) fn insert(x: &mut ExprPool, whole: ExprId, bit: u32, part: ExprId) -> ExprId {
    let (width, end) = (x.width(whole), bit + x.width(part));
    let mut result = part;
    if bit > 0 {
        let low = x.extract(bit - 1, 0, whole);
        result = x.concat(result, low);
    }
    if end < width {
        let high = x.extract(width - 1, end, whole);
        result = x.concat(high, result);
    }
    result
}

/// Splits a vector into lanes of this width.
pub(super) fn lanes(x: &mut ExprPool, vector: ExprId, lane: u32) -> Vec<ExprId> {
    (0..x.width(vector) / lane).map(|n| x.extract((n + 1) * lane - 1, n * lane, vector)).collect()
}

/// A vector of these lanes. The expression is balanced, so that it is not deep.
pub(super) fn from_lanes(x: &mut ExprPool, lanes: &[ExprId]) -> ExprId {
    match lanes {
        [lane] => *lane,
        _ => {
            let (low, high) = lanes.split_at(lanes.len() / 2);
            let (low, high) = (from_lanes(x, low), from_lanes(x, high));
            x.concat(high, low)
        }
    }
}

/// For each 8 bytes, the sum of the absolute differences of unsigned bytes, in 64 bits (`psadbw`).
pub(super) fn sums_of_differences(x: &mut ExprPool, a: ExprId, b: ExprId) -> ExprId {
    let (left, right) = (lanes(x, a, 8), lanes(x, b, 8));
    let differences = left.into_iter().zip(right).map(|(a, b)| {
        let (is_less, up, down) = (x.ult(a, b), x.sub(b, a), x.sub(a, b));
        let difference = x.ite(is_less, up, down);
        x.zext(64, difference)
    });
    let differences: Vec<ExprId> = differences.collect();
    let sums = differences.chunks(8).map(|eight| eight.iter().copied().reduce(|sum, next| x.add(sum, next)));
    let sums: Vec<ExprId> = sums.flatten().collect();
    from_lanes(x, &sums)
}

/// The width of a scalar type in bits.
pub(super) fn scalar_width(ir: &ir::Module, ty: ir::Ty) -> u32 {
    match *ir.kind(ty) {
        TypeKind::Int(width) => width,
        TypeKind::Float(format) => format.width(),
        TypeKind::Vector(lane, _) => scalar_width(ir, lane),
        _ => ir.pointer_width,
    }
}

/// The format of a float type, or of the lanes of a vector of floats.
pub(super) fn float_format(ir: &ir::Module, ty: ir::Ty) -> Option<FloatFormat> {
    match *ir.kind(ty) {
        TypeKind::Float(format) => Some(format),
        TypeKind::Vector(lane, _) => float_format(ir, lane),
        _ => None,
    }
}

/// Applies `f` to every lane of values of type `ty`, which may be a scalar. All values have the same number of lanes.
pub(super) fn map_lanes(
    x: &mut ExprPool,
    ir: &ir::Module,
    ty: ir::Ty,
    values: &[ExprId],
    mut f: impl FnMut(&mut ExprPool, &[ExprId]) -> ExprId,
) -> ExprId {
    let TypeKind::Vector(_, count) = *ir.kind(ty) else { return f(x, values) };
    let columns: Vec<Vec<ExprId>> = values
        .iter()
        .map(|&v| {
            let lane = x.width(v) / count;
            lanes(x, v, lane)
        })
        .collect();
    let mut results = Vec::with_capacity(count as usize);
    let mut row = Vec::with_capacity(values.len());
    for n in 0..count as usize {
        row.clear();
        row.extend(columns.iter().map(|column| column[n]));
        results.push(f(x, &row));
    }
    from_lanes(x, &results)
}

/// The shift amount as x86 masks it: modulo 32 or 64 for these widths, modulo 32 for narrower ones, and modulo 128 for
/// the double shifts that implement 128 bits.
fn mask_amount(x: &mut ExprPool, amount: ExprId) -> ExprId {
    let width = x.width(amount);
    let modulus: u64 = match width {
        64 => 64,
        128 => 128,
        8..=32 => 32,
        _ => return amount,
    };
    if modulus >= 1 << width.min(63) {
        return amount;
    }
    let mask = x.int(width, modulus - 1);
    x.and(amount, mask)
}

/// A binary instruction on scalars of type `ty`.
pub(super) fn binary(
    x: &mut ExprPool,
    opcode: u8,
    mode: Mode,
    format: Option<FloatFormat>,
    a: ExprId,
    b: ExprId,
) -> Option<ExprId> {
    let float = match opcode {
        op::F_ADD => Some(FBinOp::ADD),
        op::F_SUB => Some(FBinOp::SUB),
        op::F_MUL => Some(FBinOp::MUL),
        op::F_DIV => Some(FBinOp::DIV),
        op::F_REM => Some(FBinOp::Rem),
        _ => None,
    };
    if let Some(operation) = float {
        let format = format?;
        return mode.round(x, |x, r| Some(x.f_binary(operation.with_rounding(r), format, a, b)));
    }
    let operation = match opcode {
        op::ADD => BinOp::Add,
        op::SUB => BinOp::Sub,
        op::MUL => BinOp::Mul,
        op::U_DIV => BinOp::UDiv,
        op::S_DIV => BinOp::SDiv,
        op::U_REM => BinOp::URem,
        op::S_REM => BinOp::SRem,
        op::SHL => BinOp::Shl,
        op::L_SHR => BinOp::LShr,
        op::A_SHR => BinOp::AShr,
        op::AND => BinOp::And,
        op::OR => BinOp::Or,
        op::XOR => BinOp::Xor,
        _ => return None,
    };
    let b = if matches!(operation, BinOp::Shl | BinOp::LShr | BinOp::AShr) { mask_amount(x, b) } else { b };
    Some(x.binary(operation, a, b))
}

/// An `icmp` instruction with LLVM's predicate number.
pub(super) fn compare(x: &mut ExprPool, predicate: u32, a: ExprId, b: ExprId) -> ExprId {
    match predicate {
        32 => x.eq(a, b),
        33 => x.ne(a, b),
        34 => x.ult(b, a),
        35 => x.ule(b, a),
        36 => x.ult(a, b),
        37 => x.ule(a, b),
        38 => x.slt(b, a),
        39 => x.sle(b, a),
        40 => x.slt(a, b),
        _ => x.sle(a, b),
    }
}

/// True if the predicate of an `icmp` is an order.
pub(super) fn is_order(predicate: u32) -> bool {
    !matches!(predicate, 32 | 33)
}

/// An `fcmp` instruction with LLVM's predicate number. Bit 0: equal, 1: greater, 2: less, 3: unordered.
pub(super) fn float_compare(x: &mut ExprPool, predicate: u32, format: FloatFormat, a: ExprId, b: ExprId) -> ExprId {
    let ordered = predicate & 7;
    let unordered = predicate & 8 != 0;
    match (ordered, unordered) {
        (0, false) => x.bool(false),
        (7, true) => x.bool(true),
        // An unordered comparison is the negation of the opposite ordered one.
        (_, true) => {
            let opposite = float_compare(x, 7 ^ ordered, format, a, b);
            x.not(opposite)
        }
        (1, false) => x.f_compare(FCmp::Eq, format, a, b),
        (2, false) => x.f_compare(FCmp::Lt, format, b, a),
        (3, false) => x.f_compare(FCmp::Le, format, b, a),
        (4, false) => x.f_compare(FCmp::Lt, format, a, b),
        (5, false) => x.f_compare(FCmp::Le, format, a, b),
        (6, false) => {
            let (less, greater) = (x.f_compare(FCmp::Lt, format, a, b), x.f_compare(FCmp::Lt, format, b, a));
            x.or(less, greater)
        }
        (_, false) => {
            let (a, b) = (x.f_is_nan(format, a), x.f_is_nan(format, b));
            let either = x.or(a, b);
            x.not(either)
        }
    }
}

/// A conversion of a scalar to another type, except from floats to integers.
pub(super) fn cast(
    x: &mut ExprPool,
    opcode: u8,
    mode: Mode,
    from: Option<FloatFormat>,
    to: Option<FloatFormat>,
    width: u32,
    a: ExprId,
) -> Option<ExprId> {
    Some(match opcode {
        op::TRUNC => x.extract(width - 1, 0, a),
        op::Z_EXT => x.zext(width, a),
        op::S_EXT => x.sext(width, a),
        op::UI_TO_FP | op::SI_TO_FP => mode.round(x, |x, r| Some(x.int_to_f(r, to?, opcode == op::SI_TO_FP, a)))?,
        op::FP_TRUNC | op::FP_EXT => mode.round(x, |x, r| Some(x.f_convert(r, from?, to?, a)))?,
        op::PTR_TO_INT | op::INT_TO_PTR | op::ADDR_SPACE_CAST => x.resize(width, a),
        op::BIT_CAST if x.width(a) == width => a,
        _ => return None,
    })
}

/// A constant expression with operands of type `from`, and a result of type `to` with `width` bits.
pub(super) fn constant_expression(
    x: &mut ExprPool,
    ir: &ir::Module,
    opcode: u8,
    from: ir::Ty,
    to: ir::Ty,
    width: u32,
    values: &[ExprId],
) -> Option<ExprId> {
    if matches!(ir.kind(to), TypeKind::Vector(..)) && opcode != op::BIT_CAST {
        return None;
    }
    match *values {
        [a] => cast(x, opcode, Mode::Nearest, float_format(ir, from), float_format(ir, to), width, a),
        [a, b] => binary(x, opcode, Mode::Nearest, float_format(ir, to), a, b),
        _ => None,
    }
}

/// -1 if `a < b`, 0 if `a == b`, and 1 if `a > b`, as a number of `width` bits.
pub(super) fn three_way(x: &mut ExprPool, signed: bool, width: u32, a: ExprId, b: ExprId) -> ExprId {
    let less = if signed { x.slt(a, b) } else { x.ult(a, b) };
    let differs = x.ne(a, b);
    let (minus_one, positive) = (x.constant(Bv::ones(width)), x.zext(width, differs));
    x.ite(less, minus_one, positive)
}

/// `-a`.
pub(super) fn float_negate(x: &mut ExprPool, format: FloatFormat, a: ExprId) -> ExprId {
    x.f_unary(FUnOp::Neg, format, a)
}

/// The conditions under which a division of `a` by `b` is undefined: division by zero, and overflow of the result.
pub(super) fn division_undefined(x: &mut ExprPool, signed: bool, a: ExprId, b: ExprId) -> [ExprId; 2] {
    let width = x.width(b);
    let zero = x.int(width, 0);
    let by_zero = x.eq(b, zero);
    if !signed {
        return [by_zero, x.bool(false)];
    }
    let (minus_one, min) = (x.constant(Bv::ones(width)), x.constant(Bv::min_signed(width)));
    let (by_minus_one, of_min) = (x.eq(b, minus_one), x.eq(a, min));
    [by_zero, x.and(by_minus_one, of_min)]
}

/// Combines values with an associative operation as a balanced tree.
pub(super) fn combine(
    x: &mut ExprPool,
    values: &[ExprId],
    f: &mut impl FnMut(&mut ExprPool, ExprId, ExprId) -> ExprId,
) -> ExprId {
    match values {
        [value] => *value,
        _ => {
            let (left, right) = values.split_at(values.len() / 2);
            let (left, right) = (combine(x, left, f), combine(x, right, f));
            f(x, left, right)
        }
    }
}

/// The wrapped result of an operation, and the overflow bit.
pub(super) fn overflowing(x: &mut ExprPool, operation: &str, a: ExprId, b: ExprId) -> Option<(ExprId, ExprId)> {
    let (signed, opcode) = match operation {
        "sadd" => (true, BinOp::Add),
        "ssub" => (true, BinOp::Sub),
        "smul" => (true, BinOp::Mul),
        "uadd" => (false, BinOp::Add),
        "usub" => (false, BinOp::Sub),
        "umul" => (false, BinOp::Mul),
        _ => return None,
    };
    let width = x.width(a);
    let wrapped = x.binary(opcode, a, b);
    let overflows = match (signed, opcode) {
        (false, BinOp::Add) => x.ult(wrapped, a),
        (false, BinOp::Sub) => x.ult(a, b),
        (true, BinOp::Add | BinOp::Sub) if x.as_const(b).is_some() => {
            // A comparison with a constant is easier for bound analyses than a sum that is one bit wider.
            let constant = x.as_const(b).expect("just seen").clone();
            let goes_down = constant.sign() != (opcode == BinOp::Sub);
            let least = x.constant(Bv::min_signed(width));
            let end = if goes_down { least } else { x.not(least) };
            let back = if opcode == BinOp::Add { BinOp::Sub } else { BinOp::Add };
            let last = x.binary(back, end, b);
            if constant.is_zero() {
                x.bool(false)
            } else if goes_down {
                x.slt(a, last)
            } else {
                x.slt(last, a)
            }
        }
        _ => {
            let wide = if opcode == BinOp::Mul { 2 * width } else { width + 1 };
            let extend = |x: &mut ExprPool, e| if signed { x.sext(wide, e) } else { x.zext(wide, e) };
            let (wide_a, wide_b) = (extend(x, a), extend(x, b));
            let exact = x.binary(opcode, wide_a, wide_b);
            out_of_range(x, exact, width, signed)
        }
    };
    Some((wrapped, overflows))
}

/// True if an exact result is not a value of `width` bits.
fn out_of_range(x: &mut ExprPool, exact: ExprId, width: u32, signed: bool) -> ExprId {
    let wide = x.width(exact);
    if !signed {
        let most = x.constant(Bv::ones(width).zext(wide));
        return x.ult(most, exact);
    }
    let least = Bv::min_signed(width);
    let (low, high) = (x.constant(least.sext(wide)), x.constant(least.not().zext(wide)));
    let (below, above) = (x.slt(exact, low), x.slt(high, exact));
    x.or(below, above)
}
