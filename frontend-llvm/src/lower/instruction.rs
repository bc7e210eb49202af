//! Lowers instructions other than calls.

use super::builder::{Builder, Cursor, fork};
use super::function::FunctionLowering;
use super::primitive::fill_with_inputs;
use super::rounding::Mode;
use super::{arguments, arith, call, sanitizer, threads};
use crate::ir::{Instruction, Operand, TypeKind, op};
use cfa::threads::ThreadOp;
use cfa::{AllocKind, Bv, Check, ExprId, HaltKind, InputKind, Op, STREAM_FIELDS};

impl FunctionLowering<'_, '_> {
    /// The value of operand `k`. `None` if it has no value.
    fn value(&mut self, i: &Instruction, k: usize) -> Option<ExprId> {
        let operand = self.b.ir().operand(i, k);
        self.operand(operand)
    }

    fn unmodelled_instruction(&mut self, n: u32, i: &Instruction) {
        let width = self.b.cx.width(i.ty);
        let what = format!("LLVM instruction {}", i.opcode);
        if let Some(value) = self.b.unmodelled(&what, width) {
            self.define_saved(n, value);
        }
        if i.opcode < op::F_NEG {
            self.b.halt(HaltKind::Abort);
        }
    }

    /// A struct of two values.
    pub fn pair(&mut self, ty: crate::ir::Ty, first: ExprId, second: ExprId) -> Option<ExprId> {
        let width = self.b.cx.width(ty)?;
        let TypeKind::Struct(fields) = self.b.ir().kind(ty) else { return None };
        let bit = fields.get(1)?.1 as u32 * 8;
        let empty = self.b.int(width, 0);
        let x = self.b.x();
        let with_first = arith::insert(x, empty, 0, first);
        Some(arith::insert(x, with_first, bit, second))
    }
}

pub(super) fn lower(fl: &mut FunctionLowering, n: u32, i: &Instruction) {
    if let Cursor::Dead = fl.b.cursor {
        return;
    }
    if i.is_inexact {
        fl.b.approximate("the compiler may change the result of floating-point operations (-ffast-math)", true, true);
    }
    if i.is_extended {
        fl.b.approximate("floats are computed with the precision of the x87 (-mno-sse2)", true, true);
    }
    match i.opcode {
        op::RET => lower_return(fl, i),
        op::BR => lower_branch(fl, i),
        op::SWITCH => lower_switch(fl, i),
        op::INDIRECT_BR => lower_indirect_branch(fl, i),
        op::UNREACHABLE => fl.b.halt(HaltKind::Unreachable),
        op::ALLOCA => {
            fl.keep_unmarked(n);
            lower_alloca(fl, n, i);
        }
        op::LOAD => lower_load(fl, n, i),
        op::STORE => {
            fl.keep_unmarked(n);
            lower_store(fl, i);
        }
        op::FENCE => match fl.b.ir().extra(i) {
            &[order, 0] if fl.b.cx.is_threaded => {
                let order = fl.b.size(u64::from(order));
                threads::call(&mut fl.b, ThreadOp::Fence, &[order]);
            }
            _ => drop(fl.b.emit(Op::Skip)),
        },
        op::CALL | op::INVOKE | op::CALL_BR => {
            fl.keep_unmarked(n);
            call::lower(fl, n, i);
        }
        op::CMP_XCHG => lower_compare_exchange(fl, n, i),
        op::ATOMIC_RMW => lower_atomic_update(fl, n, i),
        _ => lower_value(fl, n, i),
    }
}

// Control.

fn lower_return(fl: &mut FunctionLowering, i: &Instruction) {
    let value = if fl.b.ir().operand_count(i) > 0 { fl.value(i, 0) } else { None };
    if let Some(value) = value.filter(|_| fl.function.returns_defined) {
        fl.b.demand(value, "it is returned".into());
    }
    super::returned::record_missing_result(fl);
    fl.b.finish(Op::Return { value });
}

fn lower_branch(fl: &mut FunctionLowering, i: &Instruction) {
    let ir = fl.b.ir();
    let blocks: Vec<u32> = ir
        .operands(i)
        .filter_map(|operand| match operand {
            Operand::Block(block) => Some(block),
            _ => None,
        })
        .collect();
    match blocks[..] {
        [target] => fl.jump(target),
        [next, check] | [check, next] if fl.ignored_check(check) == Some(next) => fl.jump(next),
        [then_block, else_block] => {
            let Some(cond) = fl.value(i, 0) else { return };
            let mut landings = Vec::new();
            let then_loc = fl.landing(then_block, &mut landings);
            let else_loc = fl.landing(else_block, &mut landings);
            let means = meanings(fl.b.ir().extra(i));
            let [always, never] = [fl.b.x().is_true(cond), fl.b.x().is_false(cond)];
            // If a check always fails, the other edge is kept, because execution continues there after the error.
            let is_kept = always && sanitizer::recovers(fl, then_block) == Some(else_block)
                || never && sanitizer::recovers(fl, else_block) == Some(then_block)
                || means != [None, None] && keeps_decision(fl, i);
            match is_kept {
                true => fork(&mut fl.b, cond, [then_loc, else_loc], means),
                false => fl.b.branch_meaning(cond, then_loc, else_loc, means),
            }
            fl.finish_landings(&landings);
        }
        _ => {}
    }
}

fn lower_switch(fl: &mut FunctionLowering, i: &Instruction) {
    let ir = fl.b.ir();
    let Some(value) = fl.value(i, 0) else { return };
    let value = fl.b.share(value);
    let mut operands = ir.operands(i).skip(1);
    let Some(Operand::Block(default)) = operands.next() else { return };
    let is_kept = keeps_decision(fl, i);
    let mut landings = Vec::new();
    while let (Some(case), Some(Operand::Block(target))) = (operands.next(), operands.next()) {
        let Some(case) = fl.operand(case) else { continue };
        let target = fl.landing(target, &mut landings);
        chain(fl, value, case, target, is_kept);
    }
    let default = fl.landing(default, &mut landings);
    fl.b.goto(default);
    fl.finish_landings(&landings);
}

/// Branches to `target` if `value` equals `case`. Otherwise continues. If `is_kept`, the branch exists even if its
/// condition is constant.
fn chain(fl: &mut FunctionLowering, value: ExprId, case: ExprId, target: cfa::LocId, is_kept: bool) {
    let cond = fl.b.x().eq(value, case);
    let next = fl.b.new_location();
    match is_kept {
        true => fork(&mut fl.b, cond, [target, next], [None, None]),
        false => fl.b.branch(cond, target, next),
    }
    fl.b.cursor = Cursor::At(next);
}

/// Returns true if the branch exists even if its condition is constant: clang computes the condition, so coverage counts
/// both outcomes.
fn keeps_decision(fl: &FunctionLowering, i: &Instruction) -> bool {
    let is_computed = matches!(fl.b.ir().operands(i).next(), Some(Operand::Instruction(_)));
    fl.b.cx.options.decisions && !fl.function.model && is_computed
}

fn lower_indirect_branch(fl: &mut FunctionLowering, i: &Instruction) {
    let ir = fl.b.ir();
    let Some(value) = fl.value(i, 0) else { return };
    let value = fl.b.share(value);
    let mut landings = Vec::new();
    let mut seen = Vec::new();
    for operand in ir.operands(i).skip(1) {
        let Operand::Block(block) = operand else { continue };
        // Control cannot reach a block whose address is never taken.
        let Some(&number) = fl.b.cx.block_addresses.get(&(fl.number, block)) else { continue };
        if seen.contains(&block) {
            continue;
        }
        seen.push(block);
        let case = fl.b.size(u64::from(number));
        let target = fl.landing(block, &mut landings);
        chain(fl, value, case, target, false);
    }
    fl.b.halt(HaltKind::Unreachable);
    fl.finish_landings(&landings);
}

// Memory.

fn lower_alloca(fl: &mut FunctionLowering, n: u32, i: &Instruction) {
    if fl.home(Operand::Instruction(n)).is_some() {
        return;
    }
    let [ty, align, _] = *fl.b.ir().extra(i) else { return };
    let Some(count) = fl.value(i, 0) else { return };
    let count = fl.b.as_pointer(count);
    let element = fl.b.size(fl.b.ir().types[ty as usize].size);
    let size = fl.b.x().mul(count, element);
    let width = fl.b.pointer_width();
    let var = fl.scopes.addresses.get(&n).copied().unwrap_or_else(|| fl.b.temp(width));
    let address = fl.b.var_expr(var);
    if !fl.scopes.variables.contains(&n) {
        fl.b.emit(Op::Alloc { var, size, align: align.max(1), kind: AllocKind::Stack, zeroed: false });
        fl.b.poison(address, size);
    }
    fl.name_object(n, address);
    fl.define_saved(n, address);
}

fn lower_load(fl: &mut FunctionLowering, n: u32, i: &Instruction) {
    let address = fl.b.ir().operand(i, 0);
    let Some(width) = fl.b.cx.width(i.ty) else { return fl.unmodelled_instruction(n, i) };
    if let Some(value) = fl.constant_cell(address) {
        return fl.define(n, value);
    }
    if let Some(var) = fl.home(address) {
        let value = fl.b.var_expr(var);
        // Each read counts separately: `x - x` need not be 0.
        let separate = fl.b.separate(value);
        // A pointer that is read as another type becomes a number.
        if !matches!(fl.b.ir().kind(i.ty), TypeKind::Pointer) && fl.b.cx.is_pointer(var) {
            fl.b.use_as_number(value);
        }
        return if separate == value { fl.define(n, value) } else { fl.define_saved(n, separate) };
    }
    let Some(address) = fl.operand(address) else { return };
    let order = fl.b.ir().extra(i).first().map(|&order| u64::from(order));
    order.into_iter().for_each(|order| threads::begin(&mut fl.b, order));
    let value = if fl.b.ir().types[i.ty as usize].size == 0 { fl.b.int(width, 0) } else { fl.b.load(address, width) };
    order.into_iter().for_each(|_| threads::finish(&mut fl.b));
    let value = fl.b.followed(i.ty, value);
    fl.define_saved(n, value);
}

fn lower_store(fl: &mut FunctionLowering, i: &Instruction) {
    let ir = fl.b.ir();
    let (source, address) = (ir.operand(i, 0), ir.operand(i, 1));
    let empty = ir.operand_type(fl.function, source).is_some_and(|ty| ir.types[ty as usize].size == 0);
    let Some(value) = fl.operand(source) else { return };
    if let Some(var) = fl.home(address) {
        return fl.assign(var, value, source);
    }
    let Some(address) = fl.operand(address) else { return };
    if !empty {
        let order = ir.extra(i).first().map(|&order| u64::from(order));
        order.into_iter().for_each(|order| threads::begin(&mut fl.b, order));
        fl.b.store(address, value);
        order.into_iter().for_each(|_| threads::finish(&mut fl.b));
    }
}

/// Operands: address, expected value, new value. The result is the old value, and whether it was the expected one.
fn lower_compare_exchange(fl: &mut FunctionLowering, n: u32, i: &Instruction) {
    let (Some(address), Some(expected), Some(new)) = (fl.value(i, 0), fl.value(i, 1), fl.value(i, 2)) else {
        return;
    };
    let width = fl.b.x().width(expected);
    let (success, failure) = match *fl.b.ir().extra(i) {
        [success, _, failure] => (u64::from(success), u64::from(failure)),
        _ => (0, 0),
    };
    threads::begin(&mut fl.b, failure);
    let old = fl.b.load(address, width);
    let equal = fl.b.x().eq(old, expected);
    if fl.b.cx.is_threaded {
        // A failed exchange must not write, because a write may be a data race.
        let (inside, after) = (fl.b.new_location(), fl.b.new_location());
        fl.b.branch(equal, inside, after);
        fl.b.cursor = Cursor::At(inside);
        let order = fl.b.size(success);
        threads::call(&mut fl.b, ThreadOp::Update, &[address, order]);
        fl.b.store(address, new);
        fl.b.goto(after);
        fl.b.cursor = Cursor::At(after);
        threads::finish(&mut fl.b);
        if fl.b.ir().extra(i).get(1) == Some(&1) {
            fl.b.approximate(
                "a weak compare-and-exchange may fail although the values are equal, which is not modelled",
                false,
                true,
            );
        }
    } else {
        let stored = fl.b.x().ite(equal, new, old);
        fl.b.store(address, stored);
    }
    let Some(result) = fl.pair(i.ty, old, equal) else { return fl.unmodelled_instruction(n, i) };
    fl.define(n, result);
}

/// Operands: address, value. The result is the old value.
fn lower_atomic_update(fl: &mut FunctionLowering, n: u32, i: &Instruction) {
    let ir = fl.b.ir();
    let (Some(address), Some(operand)) = (fl.value(i, 0), fl.value(i, 1)) else { return };
    let width = fl.b.x().width(operand);
    let order = ir.extra(i).get(1).map_or(0, |&order| u64::from(order));
    threads::begin(&mut fl.b, order);
    let old = fl.b.load(address, width);
    let format = arith::float_format(ir, i.ty);
    let operation = ir.extra(i)[0];
    let mode = fl.rounding(false);
    let x = fl.b.x();
    let integer = |opcode| (opcode, None);
    let (opcode, format) = match operation {
        1 => integer(op::ADD),
        2 => integer(op::SUB),
        3 | 4 => integer(op::AND),
        5 => integer(op::OR),
        6 => integer(op::XOR),
        11 => (op::F_ADD, format),
        12 => (op::F_SUB, format),
        _ => (0, format),
    };
    let new = match operation {
        0 => Some(operand),
        7..=10 => {
            let first_less = if operation <= 8 { x.slt(old, operand) } else { x.ult(old, operand) };
            let (small, large) = if operation % 2 == 1 { (operand, old) } else { (old, operand) };
            Some(x.ite(first_less, small, large))
        }
        13 | 14 => format.map(|format| {
            let operation = if operation == 13 { cfa::FBinOp::Max } else { cfa::FBinOp::Min };
            x.f_binary(operation, format, old, operand)
        }),
        _ => arith::binary(x, opcode, mode, format, old, operand),
    };
    let Some(mut new) = new else { return fl.unmodelled_instruction(n, i) };
    if operation == 4 {
        new = fl.b.x().not(new);
    }
    fl.b.store(address, new);
    threads::finish(&mut fl.b);
    fl.define_saved(n, old);
}

// Values.

fn lower_value(fl: &mut FunctionLowering, n: u32, i: &Instruction) {
    match evaluate(fl, i) {
        Some(value) if i.opcode == op::PTR_TO_INT && is_conversion(fl, i) => {
            fl.b.use_as_number(value);
            fl.define(n, value);
        }
        Some(value) => fl.define(n, value),
        None => fl.unmodelled_instruction(n, i),
    }
}

/// True if the program converts a pointer to an integer here.
fn is_conversion(fl: &FunctionLowering, i: &Instruction) -> bool {
    !fl.function.model && fl.b.ir().extra(i).first() == Some(&op::IS_CONVERSION)
}

fn evaluate(fl: &mut FunctionLowering, i: &Instruction) -> Option<ExprId> {
    let ir = fl.b.ir();
    let width = fl.b.cx.width(i.ty)?;
    let operand_type = |k| ir.operand_type(fl.function, ir.operand(i, k));
    match i.opcode {
        op::F_NEG => {
            let (format, a) = (arith::float_format(ir, i.ty)?, fl.value(i, 0)?);
            Some(arith::map_lanes(fl.b.x(), ir, i.ty, &[a], |x, v| arith::float_negate(x, format, v[0])))
        }
        op::U_DIV | op::S_DIV | op::U_REM | op::S_REM => {
            let (a, b) = (fl.value(i, 0)?, fl.value(i, 1)?);
            fl.b.demand(b, "it divides".into());
            guard_division(fl, i, a, b);
            let b = fl.b.separate(b);
            Some(arith::map_lanes(fl.b.x(), ir, i.ty, &[a, b], |x, v| {
                arith::binary(x, i.opcode, Mode::Nearest, None, v[0], v[1]).unwrap_or(v[0])
            }))
        }
        op::ADD..=op::XOR => {
            let format = arith::float_format(ir, i.ty);
            let (mut a, mut b) = (fl.value(i, 0)?, fl.value(i, 1)?);
            let mut mode = Mode::Nearest;
            if format.is_none() {
                check_integers(fl, i, a, b);
            }
            if format.is_some() && i.opcode != op::F_REM {
                mode = fl.rounding(!ir.extra(i).is_empty());
                (a, b) = (fl.operand_to_round(mode, a), fl.operand_to_round(mode, b));
            }
            Some(arith::map_lanes(fl.b.x(), ir, i.ty, &[a, b], |x, v| {
                arith::binary(x, i.opcode, mode, format, v[0], v[1]).unwrap_or(v[0])
            }))
        }
        op::BIT_CAST => fl.value(i, 0).filter(|&a| fl.b.x().width(a) == width),
        op::FP_TO_UI | op::FP_TO_SI => {
            let format = arith::float_format(ir, operand_type(0)?)?;
            let a = fl.value(i, 0)?;
            Some(fl.float_to_integer(i, format, a))
        }
        op::TRUNC..=op::ADDR_SPACE_CAST => {
            let (from, to) = (arith::float_format(ir, operand_type(0)?), arith::float_format(ir, i.ty));
            let lane = arith::scalar_width(ir, i.ty);
            let mut a = fl.value(i, 0)?;
            let mut mode = Mode::Nearest;
            if matches!(i.opcode, op::UI_TO_FP | op::SI_TO_FP | op::FP_TRUNC) {
                mode = fl.rounding(!ir.extra(i).is_empty());
                a = fl.operand_to_round(mode, a);
                fl.check_conversion_of_zero(i, mode, to, a);
            }
            Some(arith::map_lanes(fl.b.x(), ir, i.ty, &[a], |x, v| {
                arith::cast(x, i.opcode, mode, from, to, lane, v[0]).unwrap_or(v[0])
            }))
        }
        op::I_CMP | op::F_CMP => {
            let ty = operand_type(0)?;
            let (predicate, format) = (ir.extra(i)[0], arith::float_format(ir, ty));
            let (a, b) = (fl.value(i, 0)?, fl.value(i, 1)?);
            if matches!(ir.kind(ty), TypeKind::Pointer) && arith::is_order(predicate) && !fl.function.model {
                fl.b.check_same_object(a, b, Check::PointerCompare, "pointers into different objects are compared");
            }
            Some(arith::map_lanes(fl.b.x(), ir, ty, &[a, b], |x, v| match format {
                Some(format) => arith::float_compare(x, predicate, format, v[0], v[1]),
                None => arith::compare(x, predicate, v[0], v[1]),
            }))
        }
        op::SELECT => {
            let by_lane = matches!(ir.kind(operand_type(0)?), TypeKind::Vector(..));
            let (c, a, b) = (fl.value(i, 0)?, fl.value(i, 1)?, fl.value(i, 2)?);
            if by_lane {
                Some(arith::map_lanes(fl.b.x(), ir, i.ty, &[c, a, b], |x, v| x.ite(v[0], v[1], v[2])))
            } else {
                fl.decide_select(i, c);
                Some(fl.b.x().ite(c, a, b))
            }
        }
        op::GEP => evaluate_address(fl, i),
        op::FREEZE => fl.value(i, 0),
        _ => evaluate_part(fl, i, width),
    }
}

/// Parts of structs and vectors.
fn evaluate_part(fl: &mut FunctionLowering, i: &Instruction, width: u32) -> Option<ExprId> {
    let ir = fl.b.ir();
    match i.opcode {
        op::EXTRACT_VALUE => {
            let a = fl.value(i, 0)?;
            let bit = ir.extra(i)[0] * 8;
            Some(fl.b.x().extract(bit + width - 1, bit, a))
        }
        op::INSERT_VALUE => {
            let (whole, part) = (fl.value(i, 0)?, fl.value(i, 1)?);
            let bit = ir.extra(i)[0] * 8;
            Some(arith::insert(fl.b.x(), whole, bit, part))
        }
        op::EXTRACT_ELEMENT => {
            let (vector, index) = (fl.value(i, 0)?, fl.value(i, 1)?);
            guard_lane(fl, vector, index, width);
            let shift = lane_shift(fl, vector, index, width)?;
            let x = fl.b.x();
            let moved = x.binary(cfa::BinOp::LShr, vector, shift);
            Some(x.extract(width - 1, 0, moved))
        }
        op::INSERT_ELEMENT => {
            let (vector, part, index) = (fl.value(i, 0)?, fl.value(i, 1)?, fl.value(i, 2)?);
            let lane = fl.b.x().width(part);
            guard_lane(fl, vector, index, lane);
            if let Some(index) = fl.b.x().as_const(index).and_then(Bv::to_u64) {
                return match u32::try_from(index).ok().and_then(|index| index.checked_mul(lane)) {
                    Some(bit) if bit + lane <= width => Some(arith::insert(fl.b.x(), vector, bit, part)),
                    _ => Some(vector),
                };
            }
            let shift = lane_shift(fl, vector, index, lane)?;
            let x = fl.b.x();
            let (ones, part) = (x.constant(Bv::ones(lane).zext(width)), x.zext(width, part));
            let (mask, part) = (x.binary(cfa::BinOp::Shl, ones, shift), x.binary(cfa::BinOp::Shl, part, shift));
            let mask = x.not(mask);
            let cleared = x.and(vector, mask);
            Some(x.or(cleared, part))
        }
        op::SHUFFLE_VECTOR => evaluate_shuffle(fl, i),
        _ => None,
    }
}

/// Ends the path if a vector has no element with this index. The result would be undefined. gcc's code accesses memory
/// outside the vector. If [`Check::Bounds`] is enabled, clang's own check reports the error.
fn guard_lane(fl: &mut FunctionLowering, vector: ExprId, index: ExprId, lane: u32) {
    let x = fl.b.x();
    let count = u64::from(x.width(vector) / lane);
    let width = x.width(index).max(32);
    let (index, count) = (x.zext(width, index), x.int(width, count));
    let outside = x.ule(count, index);
    fl.b.when(outside, |b| {
        b.approximate("the index of an element of a vector is out of range", false, true);
        b.halt(HaltKind::Abort);
    });
}

/// The shift amount that moves lane `index` of a vector to the lowest bits.
fn lane_shift(fl: &mut FunctionLowering, vector: ExprId, index: ExprId, lane: u32) -> Option<ExprId> {
    let width = fl.b.x().width(vector);
    let x = fl.b.x();
    // The width suffices for the product with any index.
    let count = u64::from(width / lane);
    let index = x.resize(width.max(32), index);
    let count = x.int(width.max(32), count);
    let index = x.binary(cfa::BinOp::URem, index, count);
    let index = x.resize(width, index);
    let lane = x.int(width, u64::from(lane));
    Some(x.mul(index, lane))
}

fn evaluate_shuffle(fl: &mut FunctionLowering, i: &Instruction) -> Option<ExprId> {
    let ir = fl.b.ir();
    let lane = arith::scalar_width(ir, i.ty);
    let mask = ir.extra(i);
    let TypeKind::Vector(_, count) = *ir.kind(ir.operand_type(fl.function, ir.operand(i, 0))?) else {
        return None;
    };
    // The second operand is usually undefined, and then no lane of it is used.
    let chosen = |n: i32| n >= 0;
    let first = mask.iter().any(|&n| chosen(n as i32) && n < count).then(|| fl.value(i, 0)).flatten();
    let second = mask.iter().any(|&n| chosen(n as i32) && n >= count).then(|| fl.value(i, 1)).flatten();
    let mut lanes = Vec::with_capacity(mask.len());
    for &n in mask {
        let source = if n < count { first } else { second };
        lanes.push(match source {
            Some(vector) if chosen(n as i32) => {
                let bit = n % count * lane;
                fl.b.x().extract(bit + lane - 1, bit, vector)
            }
            _ => fl.b.havoc(lane, cfa::InputKind::Uninit(None), None),
        });
    }
    Some(arith::from_lanes(fl.b.x(), &lanes))
}

/// The reason of a taint for an address of a field of a stream that is kept or passed on.
const KEPT_FIELDS: &str = "addresses of the fields of a stream (FILE) are not modelled";

/// The byte ranges of the models' stream with the state that a change of a field of the library's stream may change: the
/// indicators, and the position with the characters pushed back. `stream.c` asserts them.
const STATE_OF_STREAM: [(u64, u64); 2] = [(0, 2), (16, 36)];

/// Operands: base, then indices with strides. A vector of addresses is computed for each lane.
fn evaluate_address(fl: &mut FunctionLowering, i: &Instruction) -> Option<ExprId> {
    let ir = fl.b.ir();
    let extra = ir.extra(i);
    let word64 = |at: usize| u64::from(extra[at]) | u64::from(extra[at + 1]) << 32;
    let pointer = fl.b.pointer_width();
    let lanes = match *ir.kind(i.ty) {
        TypeKind::Vector(_, n) => n,
        _ => 1,
    };
    let mut address = fl.value(i, 0)?;
    if fl.b.x().width(address) < lanes * pointer {
        address = arith::from_lanes(fl.b.x(), &vec![address; lanes as usize]);
    }
    for k in 1..ir.operand_count(i) {
        let stride = word64(2 * k);
        let mut index = fl.value(i, k)?;
        let is_vector = matches!(ir.kind(ir.operand_type(fl.function, ir.operand(i, k))?), TypeKind::Vector(..));
        if lanes > 1 && !is_vector {
            index = arith::from_lanes(fl.b.x(), &vec![index; lanes as usize]);
        }
        address = arith::map_lanes(fl.b.x(), ir, i.ty, &[address, index], |x, v| {
            let index = if x.width(v[1]) < pointer { x.sext(pointer, v[1]) } else { x.extract(pointer - 1, 0, v[1]) };
            let stride = x.int(pointer, stride);
            let scaled = x.mul(index, stride);
            x.add(v[0], scaled)
        });
    }
    let offset = word64(0);
    let address = arith::map_lanes(fl.b.x(), ir, i.ty, &[address], |x, v| {
        let offset = x.int(pointer, offset);
        x.add(v[0], offset)
    });
    match extra.get(2 * ir.operand_count(i)) {
        Some(_) if !fl.function.model && lanes > 1 => {
            fl.b.approximate(KEPT_FIELDS, true, true);
            Some(address)
        }
        Some(&use_of_stream) if !fl.function.model => {
            let stream = fl.value(i, 0)?;
            Some(fl.b.field_of_stream(stream, address, use_of_stream))
        }
        _ => Some(address),
    }
}

impl Builder<'_, '_> {
    /// The address of a field of a stream of the GNU C library. The streams of the models have other fields, so this is an
    /// object with any content if the stream is an object, and `address` otherwise, where an access is invalid.
    fn field_of_stream(&mut self, stream: ExprId, address: ExprId, use_of_stream: u32) -> ExprId {
        /// The size and the alignment of the largest field in bytes.
        const LARGEST: (u64, u32) = (20, 8);
        let (stream, field) = (self.share(stream), self.pointer_temp());
        self.emit(Op::Assign { var: field, value: address });
        let (is_nowhere, _) = arguments::whereabouts(self, stream);
        let is_somewhere = self.x().not(is_nowhere);
        self.when(is_somewhere, |b| {
            let is_kept = ![op::STREAM_IS_LOADED, op::STREAM_IS_STORED].contains(&use_of_stream);
            b.approximate(if is_kept { KEPT_FIELDS } else { STREAM_FIELDS }, true, true);
            let changed = STATE_OF_STREAM.into_iter().filter(|_| use_of_stream == op::STREAM_IS_STORED);
            for (from, to) in changed {
                let (part, size) = (b.offset(stream, from), b.size(to - from));
                fill_with_inputs(b, part, size, &InputKind::Unmodelled(cfa::STREAM_FIELD.into()), None);
            }
            let size = b.size(LARGEST.0);
            let value = b.alloc(size, LARGEST.1, AllocKind::Stack, false);
            b.emit(Op::Assign { var: field, value });
        });
        self.var_expr(field)
    }
}

/// Checks integer arithmetic that clang's sanitizers ignore: differences of pointers, elements of vectors, and parts of
/// complex integers.
fn check_integers(fl: &mut FunctionLowering, i: &Instruction, a: ExprId, b: ExprId) {
    if fl.function.model {
        return;
    }
    let ir = fl.b.ir();
    let flags = ir.extra(i).first().copied().unwrap_or_default();
    if flags & op::IS_POINTER_DIFFERENCE != 0 {
        let what = "the difference of pointers into different objects is taken";
        return fl.b.check_same_object(a, b, Check::PointerSubtract, what);
    }
    let has_parts = matches!(ir.kind(i.ty), TypeKind::Vector(..)) || flags & op::IS_COMPLEX != 0;
    if !has_parts || fl.b.is_in_system_header() {
        return;
    }
    let lane = arith::scalar_width(ir, i.ty);
    let x = fl.b.x();
    let (a, b) = (arith::lanes(x, a, lane), arith::lanes(x, b, lane));
    for (a, b) in a.into_iter().zip(b) {
        suspect_part(fl, i.opcode, lane, a, b);
    }
}

/// Checks an operation on an element of a vector, or on a part of a complex integer.
fn suspect_part(fl: &mut FunctionLowering, opcode: u8, lane: u32, a: ExprId, b: ExprId) {
    let unknown = "clang's bitcode does not state whether the elements of a vector, or the parts of a complex integer, are signed";
    let overflows = "signed integer overflow: an element does not fit into its type";
    let x = fl.b.x();
    let operation = match opcode {
        op::ADD => "sadd",
        op::SUB => "ssub",
        op::MUL => "smul",
        _ => "",
    };
    if let Some((_, overflow)) = arith::overflowing(x, operation, a, b) {
        fl.b.suspect(overflow, Check::SignedIntegerOverflow, unknown, overflows);
    }
    if matches!(opcode, op::SHL | op::L_SHR | op::A_SHR) {
        let x = fl.b.x();
        let most = x.int(lane, u64::from(lane) - 1);
        let too_far = x.ult(most, b);
        fl.b.when_violated(too_far, Check::Shift, "shift of an element by as many bits as it has".into());
    }
    if opcode == op::SHL {
        let x = fl.b.x();
        let (most, zero) = (x.int(lane, u64::from(lane) - 1), x.int(lane, 0));
        let rest = x.sub(most, b);
        let lost = x.binary(cfa::BinOp::LShr, a, rest);
        let loses = x.ne(lost, zero);
        fl.b.suspect(loses, Check::SignedLeftShift, unknown, "left shift of an element that loses bits");
    }
}

/// Ends the path where a division is undefined, with an error if the check is enabled.
fn guard_division(fl: &mut FunctionLowering, i: &Instruction, a: ExprId, b: ExprId) {
    let ir = fl.b.ir();
    let signed = matches!(i.opcode, op::S_DIV | op::S_REM);
    let lane = arith::scalar_width(ir, i.ty);
    let x = fl.b.x();
    let (a, b) = (arith::lanes(x, a, lane), arith::lanes(x, b, lane));
    for (a, b) in a.into_iter().zip(b) {
        let [by_zero, overflow] = arith::division_undefined(fl.b.x(), signed, a, b);
        // This does not rely on clang's sanitizers: they omit functions that are exempt, and they do not apply to
        // bitcode and models.
        let too_large = format!("signed integer overflow: the quotient does not fit into {lane} bits");
        fl.b.when_violated(by_zero, Check::IntegerDivideByZero, "division by zero".into());
        fl.b.when_violated(overflow, Check::SignedIntegerOverflow, too_large);
        let told = &fl.b.cx.options.checked_elsewhere;
        let told = [Check::IntegerDivideByZero, Check::SignedIntegerOverflow].map(|check| told.contains(&check));
        let either = fl.b.x().or(by_zero, overflow);
        let cases = match told {
            [a, b] if a == b => vec![(either, a)],
            [zero, other] => vec![(by_zero, zero), (overflow, other)],
        };
        for (undefined, is_told) in cases {
            fl.b.when(undefined, |builder| {
                if !is_told {
                    builder.approximate(cfa::DIVISIONS, false, true);
                }
                builder.halt(HaltKind::Abort);
            });
        }
    }
}

/// The truth value of C's condition on the two edges of a branch, from the meanings that `shim/export.cpp` computed for
/// each. If both edges seem to have the same truth value, the edge that decides the whole condition counts.
fn meanings(extra: &[u32]) -> [Option<bool>; 2] {
    let &[a, b] = extra else { return [None, None] };
    let (a, b) = (a as i32, b as i32);
    let truth = |meaning: i32| (meaning != 0).then_some(meaning > 0);
    match (a.abs(), b.abs()) {
        (0, 0) => [None, None],
        _ if a.signum() == -b.signum() => [truth(a), truth(b)],
        (_, 0) => [truth(a), truth(-a)],
        (0, _) => [truth(-b), truth(b)],
        (2, 1) => [truth(a), None],
        (1, 2) => [None, truth(b)],
        _ => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::meanings;

    #[test]
    fn branches_mean_what_the_names_of_blocks_say() {
        let of = |a: i32, b: i32| meanings(&[a as u32, b as u32]);
        assert_eq!(of(2, -2), [Some(true), Some(false)], "if.then, if.end");
        assert_eq!(of(-2, 2), [Some(false), Some(true)], "if (!p)");
        assert_eq!(of(1, 0), [Some(true), Some(false)], "land.rhs, land.end");
        assert_eq!(of(0, -1), [Some(true), Some(false)], "lor.end, lor.rhs");
        assert_eq!(of(1, 2), [None, Some(true)], "!(a && b): land.lhs.true, if.then");
        assert_eq!(of(2, 2), [None, None]);
        assert_eq!(meanings(&[]), [None, None]);
    }
}
