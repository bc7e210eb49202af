//! Lowers LLVM's intrinsics to the operations that they represent.

use super::arith::{self, combine, lanes, map_lanes};
use super::builder::Builder;
use super::function::FunctionLowering;
use super::rounding::Mode;
use super::{to_integer, vararg};
use crate::ir::{Instruction, Operand, TypeKind, op};
use cfa::{BinOp, Bv, Check, ExprId, ExprPool, FBinOp, FCmp, FUnOp, FloatFormat, HaltKind, InputKind, Op, Rounding};

/// The effect of an intrinsic.
enum Effect {
    /// The value of the intrinsic.
    Value(ExprId),
    /// The intrinsic is lowered and has no value.
    Done,
    Unknown,
}
use Effect::{Done, Unknown, Value};

/// The name without prefix and types: `umul.with.overflow` for `llvm.umul.with.overflow.i32`.
pub(super) fn base_name(name: &str) -> &str {
    let mut base = name.strip_prefix("llvm.").unwrap_or(name);
    while let Some((rest, last)) = base.rsplit_once('.') {
        let digits = last.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let is_type = last.starts_with(['i', 'f', 'p', 'v', 'b', 'a', 's', 'n'])
            && (last == "bf16"
                || (last.len() > 1 && last[1..].starts_with(|c: char| c.is_ascii_digit()) && !digits.is_empty())
                || last == "sl_s"
                || last.starts_with("s_"));
        if !is_type {
            break;
        }
        base = rest;
    }
    base
}

/// Intrinsics that only inform the optimiser or the debugger.
pub(super) const IGNORED: &[&str] = &[
    "codeview.annotation",
    "dbg.assign",
    "dbg.declare",
    "dbg.label",
    "dbg.value",
    "donothing",
    "experimental.noalias.scope.decl",
    "fake.use",
    "invariant.end",
    "lifetime.end",
    "lifetime.start",
    "prefetch",
    "pseudoprobe",
    "sideeffect",
    "va_end",
    "var.annotation",
];

/// True if the address rounded up to 16 bytes belongs to a variadic argument that may also be in two registers.
fn reads_register_argument(fl: &FunctionLowering, mask: ExprId) -> bool {
    let rounds = fl.b.cx.program.exprs.as_const(mask).and_then(Bv::to_i64) == Some(-16);
    let is_variadic = fl.b.cx.program.funcs[fl.b.func].varargs.is_some();
    let ir = fl.b.ir();
    // The branch to this block compares the number of used registers with the total minus those that the argument
    // takes.
    let asks_for_two = |i: &Instruction| {
        let mut operands = ir.operands(i);
        let leads_here = ir.operands(i).any(|operand| matches!(operand, Operand::Block(block) if block == fl.block));
        let Some(Operand::Instruction(condition)) = operands.next().filter(|_| i.opcode == op::BR && leads_here) else {
            return false;
        };
        ir.operands(fl.instruction(condition)).any(|operand| match operand {
            Operand::Constant(c) => vararg::leaves_two_registers(ir, c),
            _ => false,
        })
    };
    rounds && is_variadic && fl.b.pointer_width() == 64 && fl.body.instructions.iter().any(asks_for_two)
}

pub(super) fn lower(fl: &mut FunctionLowering, n: u32, i: &Instruction, name: &str) {
    let base = base_name(name);
    if fl.b.cx.options.scopes() && base.starts_with("lifetime.") {
        return fl.lower_scope(i, base == "lifetime.start");
    }
    if base == "stackrestore" {
        return fl.end_dynamic_scope(n);
    }
    if IGNORED.contains(&base) {
        return;
    }
    let args = fl.arguments(i);
    // Clang passes an argument that is aligned to 16 bytes and read from general registers (`__int128`) as two words.
    // In the variadic block, it therefore follows the previous argument without padding.
    if let ("ptrmask", &[pointer, mask]) = (base, &args[..])
        && reads_register_argument(fl, mask)
    {
        let fifteen = fl.b.size(15);
        let value = fl.b.x().sub(pointer, fifteen);
        return fl.define(n, value);
    }
    let (base, constrained) = match base.strip_prefix("experimental.constrained.") {
        Some(base) => (base, true),
        None => (base, false),
    };
    // A rounding mode of its own, which x86 does not have.
    let own_rounding = constrained && fl.b.ir().extra(i).len().is_multiple_of(4);
    let effect = if own_rounding { Unknown } else { memory(fl, i, base, &args) };
    let mode = fl.rounding(constrained);
    let base = if base == "fmuladd" && i.is_fused { "fma" } else { base };
    let effect = match effect {
        Unknown if !own_rounding => value(fl, i, base, mode, &args),
        known => known,
    };
    match effect {
        Value(value) if base.ends_with(".with.overflow") => fl.define_saved(n, value),
        Value(value) => fl.define(n, value),
        Done => {}
        Unknown => {
            let width = fl.b.cx.width(i.ty);
            if let Some(value) = fl.b.unmodelled(&format!("intrinsic '{name}'"), width) {
                fl.define_saved(n, value);
            }
        }
    }
}

/// Intrinsics with an effect.
fn memory(fl: &mut FunctionLowering, i: &Instruction, base: &str, args: &[ExprId]) -> Effect {
    match (base, args) {
        ("masked.load" | "masked.gather", &[from, _, mask, kept]) => {
            fl.b.load_masked(i.ty, from, mask, kept).map_or(Unknown, Value)
        }
        ("masked.store" | "masked.scatter", &[value, to, _, mask]) => {
            let ir = fl.b.ir();
            let ty = ir.operand_type(fl.function, ir.operand(i, 0));
            ty.and_then(|ty| fl.b.store_masked(ty, value, to, mask)).map_or(Unknown, |()| Done)
        }
        ("load.relative", &[table, offset]) => {
            let operand = fl.b.ir().operand(i, 0);
            fl.b.load_relative(operand, table, offset).map_or(Unknown, Value)
        }
        ("memcpy" | "memcpy.inline" | "memmove" | "memcpy.element.unordered.atomic", &[dst, src, len, ..]) => {
            let len = fl.b.as_pointer(len);
            fl.b.emit(Op::Copy { dst, src, len });
            if base != "memmove" {
                fl.b.check_overlap(dst, src, len);
            }
            Done
        }
        ("memset" | "memset.inline", &[dst, byte, len, ..]) => {
            let len = fl.b.as_pointer(len);
            fl.b.emit(Op::Fill { dst, byte, len });
            Done
        }
        // A false assumption is undefined behaviour, as reaching `__builtin_unreachable` is. (The operand bundles
        // describe alignment and similar facts, which clang checks itself.)
        ("assume", &[cond, ..]) => {
            let violated = fl.b.x().not(cond);
            fl.b.when_violated(violated, Check::Builtin, "the condition of `__builtin_assume` is false".into());
            fl.b.assume(cond);
            Done
        }
        ("trap" | "debugtrap" | "ubsantrap", _) => {
            fl.b.halt(HaltKind::Abort);
            Done
        }
        ("va_start", &[list]) => {
            vararg::start(&mut fl.b, list);
            Done
        }
        ("va_copy", &[to, from]) => {
            vararg::copy(&mut fl.b, to, from);
            Done
        }
        _ => Unknown,
    }
}

/// Intrinsics that compute a value.
fn value(fl: &mut FunctionLowering, i: &Instruction, base: &str, mode: Mode, args: &[ExprId]) -> Effect {
    let ir = fl.b.ir();
    let Some(width) = fl.b.cx.width(i.ty) else { return Unknown };
    if let Some(value) = simple(fl, base, mode, args, width) {
        return Value(value);
    }
    if let Some(operation) = base.strip_suffix(".with.overflow") {
        let &[a, b] = args else { return Unknown };
        let TypeKind::Struct(fields) = ir.kind(i.ty) else { return Unknown };
        let vector = matches!(ir.kind(fields[0].0), TypeKind::Vector(..));
        let (value, overflow) = match arith::overflowing(fl.b.x(), operation, a, b) {
            Some(pair) if !vector => pair,
            _ => return Unknown,
        };
        // Each result is a separate variable: no analysis tracks bounds of two values in one word.
        let (value, overflow) = (fl.b.pin(value), fl.b.pin(overflow));
        return fl.pair(i.ty, value, overflow).map_or(Unknown, Value);
    }
    if let ("x86.sse2.psad.bw" | "x86.avx2.psad.bw", &[a, b]) = (base, args) {
        let (a, b) = (fl.b.share(a), fl.b.share(b));
        return Value(arith::sums_of_differences(fl.b.x(), a, b));
    }
    if let Some(operation) = base.strip_prefix("vector.reduce.") {
        return reduction(fl, i, operation, mode, args).map_or(Unknown, Value);
    }
    let format = arith::float_format(ir, i.ty);
    let lane = arith::scalar_width(ir, i.ty);
    if let ("scmp" | "ucmp", &[a, b]) = (base, args) {
        let ty = ir.operand_type(fl.function, ir.operand(i, 0));
        let (a, b) = (fl.b.share(a), fl.b.share(b));
        let compare =
            |ty| map_lanes(fl.b.x(), ir, ty, &[a, b], |x, v| arith::three_way(x, base == "scmp", lane, v[0], v[1]));
        return ty.map(compare).map_or(Unknown, Value);
    }
    if matches!(base, "ctpop" | "ctlz" | "cttz") {
        let &[a, ..] = args else { return Unknown };
        let count = match base {
            "ctpop" => count_ones,
            "ctlz" => leading_zeros,
            _ => trailing_zeros,
        };
        let parts = lanes(fl.b.x(), a, lane);
        let counts: Vec<ExprId> = parts.into_iter().map(|part| count(&mut fl.b, part)).collect();
        return Value(arith::from_lanes(fl.b.x(), &counts));
    }
    if matches!(base, "is.fpclass" | "lround" | "llround" | "lrint" | "llrint" | "fptosi.sat" | "fptoui.sat") {
        return integer_of_float(fl, i, base, mode, args, lane).map_or(Unknown, Value);
    }
    // All other intrinsics work on each lane, with operands of the result's type.
    let arity = match base {
        "fma" | "fmuladd" | "fshl" | "fshr" => 3,
        "bitreverse" | "bswap" | "abs" | "fabs" | "floor" | "ceil" | "trunc" | "rint" | "nearbyint" | "roundeven"
        | "round" | "sqrt" | "canonicalize" => 1,
        _ => 2,
    };
    let Some(operands) = args.get(..arity) else { return Unknown };
    let operands: Vec<ExprId> = operands.iter().map(|&e| fl.b.share(e)).collect();
    if operands.iter().any(|&e| fl.b.x().width(e) != width) {
        return Unknown;
    }
    let mut known = true;
    let value = map_lanes(fl.b.x(), ir, i.ty, &operands, |x, v| {
        let value = match format {
            Some(format) => float_operation(x, base, mode, format, v),
            None => integer_operation(x, base, lane, v),
        };
        known &= value.is_some();
        value.unwrap_or(v[0])
    });
    if known { Value(value) } else { Unknown }
}

/// Intrinsics whose value is a constant, an argument or an input.
fn simple(fl: &mut FunctionLowering, base: &str, mode: Mode, args: &[ExprId], width: u32) -> Option<ExprId> {
    Some(match (base, args) {
        ("threadlocal.address", &[value, ..]) if fl.b.cx.is_threaded => {
            super::threads::call(&mut fl.b, cfa::threads::ThreadOp::Local, &[value])?
        }
        (
            "expect"
            | "expect.with.probability"
            | "ssa.copy"
            | "annotation"
            | "ptr.annotation"
            | "launder.invariant.group"
            | "strip.invariant.group"
            | "threadlocal.address"
            | "arithmetic.fence",
            &[value, ..],
        ) => value,
        ("ptrmask", &[pointer, mask]) => {
            let x = fl.b.x();
            let wide = x.width(mask);
            // Bits that the mask does not cover are kept.
            let mask = if wide < width {
                let ones = x.constant(Bv::ones(width - wide));
                x.concat(ones, mask)
            } else {
                mask
            };
            fl.b.x().and(pointer, mask)
        }
        ("objectsize", &[_, min, ..]) => {
            let x = fl.b.x();
            if x.is_true(min) { x.int(width, 0) } else { x.constant(Bv::ones(width)) }
        }
        ("is.constant" | "allow.runtime.check" | "allow.ubsan.check" | "stacksave" | "get.dynamic.area.offset", _) => {
            fl.b.int(width, 0)
        }
        ("get.rounding" | "flt.rounds", _) => mode.round(fl.b.x(), |x, rounding| {
            // The value of `FLT_ROUNDS` in C.
            let number = match rounding {
                Rounding::Zero => 0,
                Rounding::Nearest => 1,
                Rounding::Up => 2,
                Rounding::Down => 3,
            };
            Some(x.int(width, number))
        })?,
        ("invariant.start", _) => fl.b.int(width, 0),
        ("readcyclecounter" | "readsteadycounter", _) => {
            let function = fl.b.cx.program.funcs[fl.b.func].name.clone();
            fl.b.havoc(width, InputKind::Environment(function), None)
        }
        _ => return None,
    })
}

/// The operand is a float. The result is an integer.
fn integer_of_float(
    fl: &mut FunctionLowering,
    i: &Instruction,
    base: &str,
    mode: Mode,
    args: &[ExprId],
    lane: u32,
) -> Option<ExprId> {
    let ir = fl.b.ir();
    let ty = ir.operand_type(fl.function, ir.operand(i, 0))?;
    let format = arith::float_format(ir, ty)?;
    let a = fl.b.share(*args.first()?);
    let classes = match args.get(1) {
        Some(&mask) if base == "is.fpclass" => fl.b.x().as_const(mask)?.to_u64()?,
        _ => 0,
    };
    Some(map_lanes(fl.b.x(), ir, ty, &[a], |x, v| match base {
        "is.fpclass" => float_class(x, format, v[0], classes),
        "lround" | "llround" => {
            let rounded = x.f_unary(FUnOp::RoundAway, format, v[0]);
            x.f_to_int(format, true, lane, rounded)
        }
        "lrint" | "llrint" => {
            let rounded = mode.round(x, |x, r| Some(x.f_unary(r.to_integral(), format, v[0]))).unwrap_or(v[0]);
            x.f_to_int(format, true, lane, rounded)
        }
        _ => to_integer::saturating(x, format, base == "fptosi.sat", lane, v[0]),
    }))
}

/// Operands: a vector, or a start value and a vector.
fn reduction(
    fl: &mut FunctionLowering,
    i: &Instruction,
    operation: &str,
    mode: Mode,
    args: &[ExprId],
) -> Option<ExprId> {
    let ir = fl.b.ir();
    let format = arith::float_format(ir, i.ty);
    let width = fl.b.cx.width(i.ty)?;
    let vector = fl.b.share(*args.last()?);
    let parts = lanes(fl.b.x(), vector, width);
    let x = fl.b.x();
    let integer =
        |opcode| move |x: &mut ExprPool, a, b| arith::binary(x, opcode, Mode::Nearest, None, a, b).unwrap_or(a);
    Some(match operation {
        "add" => combine(x, &parts, &mut integer(op::ADD)),
        "mul" => combine(x, &parts, &mut integer(op::MUL)),
        "and" => combine(x, &parts, &mut integer(op::AND)),
        "or" => combine(x, &parts, &mut integer(op::OR)),
        "xor" => combine(x, &parts, &mut integer(op::XOR)),
        "smax" | "smin" | "umax" | "umin" => {
            // Nested minima would double in size with every step.
            let mut result = parts[0];
            for &part in &parts[1..] {
                let next = integer_operation(fl.b.x(), operation, width, &[result, part])?;
                result = fl.b.pin(next);
            }
            result
        }
        // In order, because reassociation is not permitted.
        "fadd" | "fmul" => {
            let opcode = if operation == "fadd" { op::F_ADD } else { op::F_MUL };
            let mut result = args[0];
            for part in parts {
                let next = arith::binary(fl.b.x(), opcode, mode, format, result, part)?;
                result = if let Mode::Current(_) = mode { fl.b.pin(next) } else { next };
            }
            result
        }
        "fmax" | "fmin" => {
            let (format, operation) = (format?, if operation == "fmax" { FBinOp::Max } else { FBinOp::Min });
            combine(x, &parts, &mut |x, a, b| x.f_binary(operation, format, a, b))
        }
        _ => return None,
    })
}

/// Operations on integers of `width` bits with a result of this width.
fn integer_operation(x: &mut ExprPool, base: &str, width: u32, v: &[ExprId]) -> Option<ExprId> {
    Some(match (base, v) {
        ("abs", &[a]) => {
            let zero = x.int(width, 0);
            let (negative, negated) = (x.slt(a, zero), x.neg(a));
            x.ite(negative, negated, a)
        }
        ("smin" | "smax" | "umin" | "umax", &[a, b]) => {
            let less = if base.starts_with('s') { x.slt(a, b) } else { x.ult(a, b) };
            if base.ends_with("min") { x.ite(less, a, b) } else { x.ite(less, b, a) }
        }
        ("bswap", &[a]) => {
            let mut bytes = lanes(x, a, 8);
            bytes.reverse();
            arith::from_lanes(x, &bytes)
        }
        ("bitreverse", &[a]) => {
            let mut bits = lanes(x, a, 1);
            bits.reverse();
            arith::from_lanes(x, &bits)
        }
        ("fshl" | "fshr", &[high, low, amount]) => {
            let both = x.concat(high, low);
            let modulus = x.int(width, u64::from(width));
            let amount = if width.is_power_of_two() && width > 1 {
                let mask = x.int(width, u64::from(width - 1));
                x.and(amount, mask)
            } else {
                x.binary(BinOp::URem, amount, modulus)
            };
            let amount = x.zext(2 * width, amount);
            if base == "fshl" {
                let moved = x.binary(BinOp::Shl, both, amount);
                x.extract(2 * width - 1, width, moved)
            } else {
                let moved = x.binary(BinOp::LShr, both, amount);
                x.extract(width - 1, 0, moved)
            }
        }
        ("sadd.sat" | "ssub.sat" | "uadd.sat" | "usub.sat", &[a, b]) => {
            let (value, overflow) = arith::overflowing(x, &base[..4], a, b)?;
            let limit = match base {
                "uadd.sat" => x.constant(Bv::ones(width)),
                "usub.sat" => x.int(width, 0),
                _ => signed_limit(x, width, a),
            };
            x.ite(overflow, limit, value)
        }
        ("sshl.sat" | "ushl.sat", &[a, b]) => {
            let signed = base == "sshl.sat";
            let shifted = x.binary(BinOp::Shl, a, b);
            let back = x.binary(if signed { BinOp::AShr } else { BinOp::LShr }, shifted, b);
            let exact = x.eq(back, a);
            let limit = if signed { signed_limit(x, width, a) } else { x.constant(Bv::ones(width)) };
            x.ite(exact, shifted, limit)
        }
        _ => return None,
    })
}

/// The extreme value with the sign of `a`.
fn signed_limit(x: &mut ExprPool, width: u32, a: ExprId) -> ExprId {
    let (zero, min) = (x.int(width, 0), Bv::min_signed(width));
    let (max, min) = (x.constant(min.not()), x.constant(min));
    let negative = x.slt(a, zero);
    x.ite(negative, min, max)
}

/// Operations on floats with a result of the same format.
fn float_operation(x: &mut ExprPool, base: &str, mode: Mode, format: FloatFormat, v: &[ExprId]) -> Option<ExprId> {
    let unary = match base {
        "fabs" => Some(FUnOp::Abs),
        "floor" => Some(FUnOp::Floor),
        "ceil" => Some(FUnOp::Ceil),
        "trunc" => Some(FUnOp::Trunc),
        "roundeven" => Some(FUnOp::RoundEven),
        "round" => Some(FUnOp::RoundAway),
        _ => None,
    };
    if let (Some(operation), &[a]) = (unary, v) {
        return Some(x.f_unary(operation, format, a));
    }
    Some(match (base, v) {
        ("rint" | "nearbyint", &[a]) => mode.round(x, |x, r| Some(x.f_unary(r.to_integral(), format, a)))?,
        ("sqrt", &[a]) => mode.round(x, |x, r| Some(x.f_unary(FUnOp::Sqrt(r), format, a)))?,
        ("canonicalize", &[a]) => a,
        ("copysign", &[magnitude, sign]) => {
            let top = format.width() - 1;
            let (sign, rest) = (x.extract(top, top, sign), x.extract(top - 1, 0, magnitude));
            x.concat(sign, rest)
        }
        ("minnum", &[a, b]) => x.f_binary(FBinOp::Min, format, a, b),
        ("maxnum", &[a, b]) => x.f_binary(FBinOp::Max, format, a, b),
        ("minimum" | "maximum", &[a, b]) => {
            // Like Min and Max, but a NaN operand is the result, and -0 is less than +0.
            let operation = if base == "minimum" { FBinOp::Min } else { FBinOp::Max };
            let number = x.f_binary(operation, format, a, b);
            let equal = x.f_compare(FCmp::Eq, format, a, b);
            let signs = if base == "minimum" { x.or(a, b) } else { x.and(a, b) };
            let number = x.ite(equal, signs, number);
            let (a_nan, b_nan) = (x.f_is_nan(format, a), x.f_is_nan(format, b));
            let with_b = x.ite(b_nan, b, number);
            x.ite(a_nan, a, with_b)
        }
        ("fma", &[a, b, c]) => mode.round(x, |x, r| Some(x.fma(r, format, a, b, c)))?,
        ("fmuladd", &[a, b, c]) => mode.round(x, |x, r| {
            let product = x.f_binary(FBinOp::Mul(r), format, a, b);
            Some(x.f_binary(FBinOp::Add(r), format, product, c))
        })?,
        _ => return None,
    })
}

/// True if a float is in one of LLVM's classes. The bits of `classes`, from bit 0: signalling NaN, quiet NaN,
/// -infinity, -normal, -subnormal, -0, +0, +subnormal, +normal, +infinity.
fn float_class(x: &mut ExprPool, format: FloatFormat, a: ExprId, classes: u64) -> ExprId {
    let (width, exponent) = (format.width(), format.exponent_bits());
    let top = width - 1;
    let fraction = top - exponent;
    let sign = x.extract(top, top, a);
    let exponent_field = x.extract(top - 1, fraction, a);
    let is_nan = x.f_is_nan(format, a);
    let magnitude = x.extract(top - 1, 0, a);
    let (zero, zero_exponent) = (x.int(top, 0), x.int(exponent, 0));
    let is_zero = x.eq(magnitude, zero);
    let low_exponent = x.eq(exponent_field, zero_exponent);
    let not_zero = x.not(is_zero);
    let is_subnormal = x.and(low_exponent, not_zero);
    let all_ones = x.constant(Bv::ones(exponent));
    let high_exponent = x.eq(exponent_field, all_ones);
    let not_nan = x.not(is_nan);
    let is_infinite = x.and(high_exponent, not_nan);
    let special = x.or(low_exponent, high_exponent);
    let finite = x.not(special);
    let is_normal = x.and(finite, not_nan);
    // The quiet bit is below the leading one, which x87 stores.
    let quiet_bit = if format == FloatFormat::X87 { fraction - 2 } else { fraction - 1 };
    let quiet = x.extract(quiet_bit, quiet_bit, a);
    let signalling = x.not(quiet);
    let positive = x.not(sign);
    // Each class has two halves: their bits in `classes`, and the condition of each half.
    let parts = [
        (is_nan, [(0, signalling), (1, quiet)]),
        (is_infinite, [(2, sign), (9, positive)]),
        (is_normal, [(3, sign), (8, positive)]),
        (is_subnormal, [(4, sign), (7, positive)]),
        (is_zero, [(5, sign), (6, positive)]),
    ];
    let mut result = x.bool(false);
    for (class, halves) in parts {
        let wanted: Vec<ExprId> =
            halves.into_iter().filter(|(bit, _)| classes >> bit & 1 != 0).map(|(_, half)| half).collect();
        let part = match wanted[..] {
            [] => continue,
            [half] => x.and(class, half),
            _ => class,
        };
        result = x.or(result, part);
    }
    result
}

/// Zero-extends to the next power of two, which the bit-manipulation algorithms below need.
fn padded(b: &mut Builder, a: ExprId) -> (ExprId, u32) {
    let width = b.x().width(a).next_power_of_two();
    let a = b.x().zext(width, a);
    (b.share(a), width)
}

/// The number of ones, as wide as the value: sums of adjacent fields (Hacker's Delight, 5-1).
fn count_ones(b: &mut Builder, a: ExprId) -> ExprId {
    let result = b.x().width(a);
    let (mut sum, width) = padded(b, a);
    let mut field = 1;
    while field < width {
        let mask: Vec<ExprId> =
            (0..width / (2 * field)).map(|_| b.x().constant(Bv::ones(field).zext(2 * field))).collect();
        let x = b.x();
        let mask = arith::from_lanes(x, &mask);
        let shift = x.int(width, u64::from(field));
        let even = x.and(sum, mask);
        let moved = x.binary(BinOp::LShr, sum, shift);
        let odd = x.and(moved, mask);
        let next = x.add(even, odd);
        sum = b.share(next);
        field *= 2;
    }
    b.x().resize(result, sum)
}

/// The number of zeros above the highest one. For the value 0, the width.
fn leading_zeros(b: &mut Builder, a: ExprId) -> ExprId {
    let result = b.x().width(a);
    let (mut rest, width) = padded(b, a);
    let mut count = b.int(width, 0);
    let mut half = width / 2;
    while half > 0 {
        let x = b.x();
        let high = x.extract(width - 1, width - half, rest);
        let zero = x.int(half, 0);
        let empty = x.eq(high, zero);
        let shift = x.int(width, u64::from(half));
        let moved = x.binary(BinOp::Shl, rest, shift);
        let next = x.ite(empty, moved, rest);
        let more = x.add(count, shift);
        let next_count = x.ite(empty, more, count);
        (rest, count) = (b.share(next), b.share(next_count));
        half /= 2;
    }
    // One bit remains.
    let x = b.x();
    let top = x.extract(width - 1, width - 1, rest);
    let empty = x.not(top);
    let last = x.zext(width, empty);
    let count = x.add(count, last);
    let padding = x.int(width, u64::from(width - result));
    let count = x.sub(count, padding);
    x.resize(result, count)
}

/// The number of zeros below the lowest one. For the value 0, the width.
fn trailing_zeros(b: &mut Builder, a: ExprId) -> ExprId {
    // The ones of `!a & (a - 1)` are the trailing zeros.
    let a = b.share(a);
    let width = b.x().width(a);
    let x = b.x();
    let one = x.int(width, 1);
    let (inverted, below) = (x.not(a), x.sub(a, one));
    let zeros = x.and(inverted, below);
    let zeros = b.share(zeros);
    count_ones(b, zeros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_suffixes() {
        assert_eq!(base_name("llvm.memcpy.p0.p0.i64"), "memcpy");
        assert_eq!(base_name("llvm.sadd.with.overflow.i32"), "sadd.with.overflow");
        assert_eq!(base_name("llvm.vector.reduce.add.v4i32"), "vector.reduce.add");
        assert_eq!(base_name("llvm.is.fpclass.f80"), "is.fpclass");
        assert_eq!(base_name("llvm.fptosi.sat.i32.f64"), "fptosi.sat");
        assert_eq!(base_name("llvm.trap"), "trap");
        assert_eq!(base_name("llvm.fabs.bf16"), "fabs");
        assert_eq!(base_name("llvm.abs.i32"), "abs");
        assert_eq!(base_name("llvm.ssub.sat.i8"), "ssub.sat");
        assert_eq!(base_name("llvm.annotation.i32.p0"), "annotation");
        assert_eq!(base_name("llvm.masked.gather.v8i32.v8p0"), "masked.gather");
        assert_eq!(base_name("llvm.scmp.v4i8.v4i32"), "scmp");
        assert_eq!(base_name("llvm.load.relative.i64"), "load.relative");
    }
}
