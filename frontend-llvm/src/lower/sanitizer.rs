//! Turns the checks that clang inserts for `-fsanitize=` into errors.
//!
//! Only clang's front-end knows the rules of C for each operation, for example whether a shift or an addition has
//! signed operands. With `-fsanitize=` it emits a branch to a call of a handler, whose first argument describes the
//! check. That call becomes an error edge. The types in the description are used in the message. Integer divisions are
//! checked directly, without a handler.

use super::builder::{Builder, Cursor};
use super::function::FunctionLowering;
use crate::ir::{ConstantKind, Instruction, Module, NONE, Operand, op};
use cfa::{Check, ErrorInfo, ExprId, Op};

/// The prefix of the names of handlers.
pub(crate) const HANDLER: &str = "__ubsan_handle_";

/// The handlers, with the checks whose failure they report.
const TOLD: &[(&str, &[Check])] = &[
    ("add_overflow", OVERFLOW),
    ("sub_overflow", OVERFLOW),
    ("mul_overflow", OVERFLOW),
    ("negate_overflow", OVERFLOW),
    ("divrem_overflow", &[Check::FloatDivideByZero]),
    ("shift_out_of_bounds", &[Check::Shift, Check::SignedLeftShift]),
    ("out_of_bounds", &[Check::Bounds]),
    ("type_mismatch_v1", &[Check::Null, Check::Alignment]),
    ("alignment_assumption", &[Check::Alignment]),
    ("float_cast_overflow", &[Check::FloatCastOverflow]),
    ("implicit_conversion", &[Check::ImplicitConversion]),
    ("load_invalid_value", &[Check::Bool, Check::Enum]),
    ("pointer_overflow", &[Check::PointerOverflow]),
    ("nonnull_arg", &[Check::NonnullAttribute]),
    ("nonnull_return_v1", &[Check::ReturnsNonnullAttribute]),
    ("vla_bound_not_positive", &[Check::VlaBound]),
    ("invalid_builtin", &[Check::Builtin]),
    ("builtin_unreachable", &[Check::Unreachable]),
    ("missing_return", &[Check::Return]),
];
const OVERFLOW: &[Check] = &[Check::SignedIntegerOverflow, Check::UnsignedIntegerOverflow];

/// The handlers that report only checks other than these.
pub(crate) fn unasked_handlers(asked: &[Check]) -> Vec<String> {
    let is_unasked = |checks: &[Check]| !checks.iter().any(|check| asked.contains(check));
    TOLD.iter().filter(|(_, checks)| is_unasked(checks)).map(|(name, _)| format!("{HANDLER}{name}")).collect()
}

/// True if a function with this name is a handler of failed checks.
pub(super) fn is_handler(name: &str) -> bool {
    name.starts_with(HANDLER)
}

/// The description of a check: the first operand of a handler's call, which is a constant.
struct Description<'m> {
    ir: &'m Module,
    fields: &'m [u32],
}

/// A C type in a description.
struct Type<'m> {
    /// The name in quotes.
    name: std::borrow::Cow<'m, str>,
    is_integer: bool,
    is_signed: bool,
    /// The width in bits of an integer type.
    width: Option<u64>,
}

impl<'m> Description<'m> {
    fn read(ir: &'m Module, operand: Operand) -> Option<Self> {
        let Operand::Constant(c) = operand else { return None };
        Some(Self { ir, fields: fields(ir, c)? })
    }
    fn number(&self, field: usize) -> Option<u64> {
        number(self.ir, *self.fields.get(field)?)
    }
    /// The n-th type of the description. The first field is a source position.
    fn ty(&self, n: usize) -> Option<Type<'m>> {
        let &[kind, info, name] = fields(self.ir, *self.fields.get(1 + n)?)? else { return None };
        let ConstantKind::Data(range) = &self.ir.constants[name as usize].kind else { return None };
        let name = self.ir.text[range.clone()].split(|&b| b == 0).next()?;
        let is_integer = number(self.ir, kind)? == 0;
        let is_signed = is_integer && number(self.ir, info)? & 1 == 1;
        let width = if is_integer { 1u64.checked_shl(number(self.ir, info)? as u32 >> 1) } else { None };
        Some(Type { name: String::from_utf8_lossy(name), is_integer, is_signed, width })
    }
    /// For a failed shift check: true if the shift amount is a constant less than the width. Then the value is invalid,
    /// which only happens for left shifts.
    fn shifts_within_width(&self, call: &Instruction) -> bool {
        let by = match self.ir.operand(call, 2) {
            Operand::Constant(c) => number(self.ir, c),
            _ => None,
        };
        let width = self.ty(0).and_then(|t| t.width);
        by.zip(width).is_some_and(|(by, width)| by < width)
    }
}

/// The elements of the constant variable at this address.
fn fields(ir: &Module, address: u32) -> Option<&[u32]> {
    let init = ir.variables[ir.variable(address)?].init;
    match &ir.constants.get(init as usize).filter(|_| init != NONE)?.kind {
        ConstantKind::Aggregate(fields) => Some(fields),
        _ => None,
    }
}

fn number(ir: &Module, constant: u32) -> Option<u64> {
    match &ir.constants[constant as usize].kind {
        ConstantKind::Bits(words) => words.first().copied(),
        ConstantKind::Null => Some(0),
        _ => None,
    }
}

/// The variable of a handler's description, which is no object of the program.
pub(super) fn description(ir: &Module, call: &Instruction) -> Option<usize> {
    let Operand::Constant(c) = ir.operand(call, 0) else { return None };
    ir.variable(c)
}

impl Builder<'_, '_> {
    pub fn asks_for(&self, check: Check) -> bool {
        self.cx.options.checks.contains(&check)
    }

    fn error(&mut self, check: Check, message: String) {
        let place = self.place;
        let error = self.cx.program.errors.push(ErrorInfo { check, message, place });
        self.finish(Op::Error(error));
    }

    /// Adds an error with a taint where `condition` is true: the code does not show whether this violates the check.
    pub fn suspect(&mut self, condition: ExprId, check: Check, reason: &str, message: &str) {
        if !self.asks_for(check) || self.x().is_false(condition) {
            return;
        }
        let (inside, after) = (self.new_location(), self.new_location());
        self.branch(condition, inside, after);
        self.cursor = Cursor::At(inside);
        self.approximate(reason, true, false);
        self.error(check, message.to_owned());
        self.cursor = Cursor::At(after);
    }

    /// Adds an error where `condition` is true, if the check is enabled. The path continues where it is false.
    pub fn when_violated(&mut self, condition: ExprId, check: Check, message: String) {
        if !self.asks_for(check) || self.x().is_false(condition) {
            return;
        }
        let (inside, after) = (self.new_location(), self.new_location());
        self.branch(condition, inside, after);
        self.cursor = Cursor::At(inside);
        self.error(check, message);
        self.cursor = Cursor::At(after);
    }

    /// Checks after a valid copy that source and destination do not overlap. They may be equal: C forbids that too, but
    /// compilers rely on it, and AddressSanitizer permits it. The objects are compared first, so that the offsets are
    /// numbers.
    pub fn check_overlap(&mut self, dst: ExprId, src: ExprId, len: ExprId) {
        let is_zero = self.x().as_const(len).and_then(cfa::Bv::to_u64) == Some(0);
        if !self.asks_for(Check::Argument) || is_zero || are_different_globals(self.x(), dst, src) {
            return;
        }
        let [to, from] = [dst, src].map(|ptr| self.offset_in_object(ptr));
        let [to_base, from_base] = [(dst, to), (src, from)].map(|(ptr, offset)| self.x().sub(ptr, offset));
        let same = self.x().eq(to_base, from_base);
        self.when(same, |b| {
            let x = b.x();
            let (ahead, behind) = (x.sub(to, from), x.sub(from, to));
            let (ahead, behind) = (x.ult(ahead, len), x.ult(behind, len));
            let (overlap, moved) = (x.or(ahead, behind), x.ne(to, from));
            let violated = x.and(overlap, moved);
            b.when_violated(violated, Check::Argument, "memory is copied to memory that overlaps it".into());
        });
    }
}

impl Builder<'_, '_> {
    /// The offset of a pointer from the start of its object ([`Op::ObjectOffset`]).
    fn offset_in_object(&mut self, ptr: ExprId) -> ExprId {
        let var = self.temp(self.pointer_width());
        self.emit(Op::ObjectOffset { var, ptr, writable: false });
        self.var_expr(var)
    }

    /// Checks that two pointers are equal, or point into the same live object or to its end (C17 6.5.6p9, 6.5.8p5).
    /// AddressSanitizer checks the same with `detect_invalid_pointer_pairs=2`, also for null.
    pub fn check_same_object(&mut self, a: ExprId, b: ExprId, check: Check, message: &str) {
        if !self.asks_for(check) || a == b {
            return;
        }
        let differ = self.x().ne(a, b);
        let message = message.to_owned();
        self.when(differ, |builder| {
            let [a_offset, b_offset] = [a, b].map(|ptr| builder.offset_in_object(ptr));
            let width = builder.pointer_width();
            let x = builder.x();
            let nowhere = x.constant(cfa::Bv::ones(width));
            let [a_base, b_base] = [(a, a_offset), (b, b_offset)].map(|(ptr, offset)| x.sub(ptr, offset));
            let [a_lost, b_lost] = [a_offset, b_offset].map(|offset| x.eq(offset, nowhere));
            let (lost, apart) = (x.or(a_lost, b_lost), x.ne(a_base, b_base));
            let violated = x.or(lost, apart);
            builder.when_violated(violated, check, message);
        });
    }

    /// True if the current source position is in a system or compiler header.
    pub fn is_in_system_header(&self) -> bool {
        let file = self.place.map(|place| self.cx.program.places[place].file);
        file.is_some_and(|file| self.cx.program.files[file].path.starts_with("/usr/"))
    }
}

fn are_different_globals(x: &cfa::ExprPool, a: ExprId, b: ExprId) -> bool {
    let global = |e: ExprId| match *x.get(e) {
        cfa::Expr::GlobalAddr(g) => Some(g),
        _ => None,
    };
    matches!((global(a), global(b)), (Some(a), Some(b)) if a != b)
}

/// If a block only calls a handler: the call, the name of the handler, and the next block.
fn handling<'m>(fl: &mut FunctionLowering<'_, 'm>, block: u32) -> Option<(&'m Instruction, &'m str, u32)> {
    let ir = fl.b.ir();
    let range = fl.body.blocks[block as usize].clone();
    let (last, rest) = fl.body.instructions[range.start as usize..range.end as usize].split_last()?;
    let (call, operands) = rest.split_last()?;
    let callee = (call.opcode == op::CALL).then(|| ir.operand(call, ir.extra(call)[1] as usize))?;
    let Operand::Constant(c) = callee else { return None };
    let name = &ir.functions[fl.b.cx.function_of_constant(c)?].name;
    let handler = name.strip_prefix(HANDLER)?;
    // Operands wider than a register are passed in memory.
    if !operands.iter().all(|i| i.opcode == op::STORE || (op::TRUNC..=op::BIT_CAST).contains(&i.opcode)) {
        return None;
    }
    if last.opcode != op::BR || ir.operand_count(last) != 1 {
        return None;
    }
    match ir.operand(last, 0) {
        Operand::Block(next) => Some((call, handler, next)),
        _ => None,
    }
}

/// The block where execution continues after a failed check, if `block` only calls the handler.
pub(super) fn recovers(fl: &mut FunctionLowering<'_, '_>, block: u32) -> Option<u32> {
    handling(fl, block).map(|(.., next)| next)
}

impl FunctionLowering<'_, '_> {
    /// If a block only calls a handler for a disabled check: the next block.
    pub fn ignored_check(&mut self, block: u32) -> Option<u32> {
        let ir = self.b.ir();
        let (call, handler, next) = handling(self, block)?;
        if handler != "shift_out_of_bounds" {
            return None;
        }
        let description = Description::read(ir, ir.operand(call, 0))?;
        let left = is_of_signed_left_shift(self, block, call, &description);
        let asked = self.b.asks_for(if left { Check::SignedLeftShift } else { Check::Shift });
        (!asked).then_some(next)
    }
}

/// Lowers a call of a handler. For a disabled check, the path continues.
pub(super) fn lower(fl: &mut FunctionLowering, i: &Instruction, name: &str) {
    let handler = name.trim_start_matches(HANDLER);
    let (handler, returns) = match handler.strip_suffix("_abort") {
        Some(handler) => (handler, false),
        None => (handler, true),
    };
    let ir = fl.b.ir();
    let description = Description::read(ir, ir.operand(i, 0));
    let checks = match &description {
        Some(description) => failed_checks(fl, i, handler, description),
        None => Vec::new(),
    };
    fl.b.origin.clear();
    for (condition, check, message) in checks {
        match condition {
            None if fl.b.asks_for(check) => return fl.b.error(check, message),
            None => {}
            Some(condition) => fl.b.when_violated(condition, check, message),
        }
    }
    if !returns {
        fl.b.halt(cfa::HaltKind::Abort);
    }
}

/// The checks that may have failed at a call of a handler, in the order of testing: the condition that this check
/// failed (`None` if it is certain), the check, and the message.
fn failed_checks(
    fl: &mut FunctionLowering,
    i: &Instruction,
    handler: &str,
    description: &Description<'_>,
) -> Vec<(Option<ExprId>, Check, String)> {
    let ty = |n: usize| description.ty(n);
    let name = |n: usize| ty(n).map_or_else(|| "its type".into(), |t| t.name.into_owned());
    let does_not_fit = |what: &str| {
        let signed = ty(0).is_none_or(|t| t.is_signed);
        let (check, word) = match signed {
            true => (Check::SignedIntegerOverflow, "signed"),
            false => (Check::UnsignedIntegerOverflow, "unsigned"),
        };
        vec![(None, check, format!("{word} integer overflow: the {what} does not fit into {}", name(0)))]
    };
    let one = |check: Check, message: String| vec![(None, check, message)];
    match handler {
        "add_overflow" => does_not_fit("sum"),
        "sub_overflow" => does_not_fit("difference"),
        "mul_overflow" => does_not_fit("product"),
        "negate_overflow" => does_not_fit("negated value"),
        "divrem_overflow" if ty(0).is_some_and(|t| !t.is_integer) => {
            one(Check::FloatDivideByZero, format!("division of a {} by zero", name(0).replace('\'', "")))
        }
        "shift_out_of_bounds" => match is_of_signed_left_shift(fl, fl.block, i, description) {
            true => one(Check::SignedLeftShift, signed_left_shift(fl.b.ir(), i, description, &name(0))),
            false => one(
                Check::Shift,
                format!("the amount of a shift is negative, or not less than the width of {}", name(0)),
            ),
        },
        "out_of_bounds" => one(Check::Bounds, format!("index out of the bounds of {}", name(0))),
        "type_mismatch" | "type_mismatch_v1" => {
            let of = name(0);
            let alignment = 1u64 << description.number(2).unwrap_or(0).min(32);
            let text = format!("an address that is no multiple of {alignment} is used for {of}");
            // Null is a multiple of every alignment, so an ignored null pointer is not also misaligned.
            let null = any_bit_is_set(fl, i, 1, u64::MAX).map(|set| fl.b.x().not(set));
            let misaligned = any_bit_is_set(fl, i, 1, alignment - 1);
            vec![(null, Check::Null, format!("a null pointer is used for {of}")), (misaligned, Check::Alignment, text)]
        }
        "alignment_assumption" => one(Check::Alignment, "an address is not aligned as it was promised".into()),
        "float_cast_overflow" => {
            one(Check::FloatCastOverflow, format!("{} cannot represent the value of this {}", name(1), name(0)))
        }
        "implicit_conversion" => one(
            Check::ImplicitConversion,
            format!("the implicit conversion from {} to {} changes the value", name(0), name(1)),
        ),
        "load_invalid_value" => {
            let check = if name(0).contains("enum ") { Check::Enum } else { Check::Bool };
            one(check, format!("the value that is read is not a value of {}", name(0)))
        }
        "pointer_overflow" => one(Check::PointerOverflow, "pointer arithmetic leaves the address space".into()),
        "nonnull_arg" | "nullability_arg" => {
            one(Check::NonnullAttribute, "null is passed for a parameter that must not be null".into())
        }
        "nonnull_return" | "nonnull_return_v1" | "nullability_return_v1" => {
            one(Check::ReturnsNonnullAttribute, "null is returned by a function that must not return null".into())
        }
        "builtin_unreachable" => one(Check::Unreachable, "`__builtin_unreachable` is reached".into()),
        "missing_return" => one(Check::Return, "a function ends without returning a value".into()),
        "vla_bound_not_positive" => {
            one(Check::VlaBound, "the length of a variable-length array is not positive".into())
        }
        "invalid_builtin" => one(Check::Builtin, "a builtin is called with zero".into()),
        // Integer divisions are among these. Their checks are emitted at the division.
        _ => Vec::new(),
    }
}

/// The message of a failed check of a signed left shift, with the reasons that its constant operands do not exclude.
fn signed_left_shift(ir: &Module, call: &Instruction, of: &Description<'_>, ty: &str) -> String {
    let value = match ir.operand(call, 1) {
        Operand::Constant(c) => number(ir, c).zip(of.ty(0).and_then(|t| t.width)),
        _ => None,
    };
    let is_positive = value.is_some_and(|(value, width)| width <= 64 && value >> (width - 1) == 0);
    let why = match (is_positive, of.shifts_within_width(call)) {
        (true, true) => "the result does not fit into",
        (false, true) => "the value is negative, or the result does not fit into",
        (true, false) => "the amount is negative, or the amount or the result is too large for",
        (false, false) => "an operand is negative, or the amount or the result is too large for",
    };
    format!("left shift of a signed integer: {why} {ty}")
}

/// True if operand `k` of a call, of at most 64 bits, has any of these bits.
fn any_bit_is_set(fl: &mut FunctionLowering, i: &Instruction, k: usize, bits: u64) -> Option<ExprId> {
    let operand = fl.b.ir().operand(i, k);
    let e = fl.operand(operand)?;
    let width = fl.b.x().width(e);
    let (bits, zero) = (fl.b.int(width, bits), fl.b.int(width, 0));
    let x = fl.b.x();
    let these = x.and(e, bits);
    Some(x.ne(these, zero))
}

/// True if this block handles the failure of a check of a signed left shift.
fn is_of_signed_left_shift(fl: &FunctionLowering, block: u32, call: &Instruction, of: &Description<'_>) -> bool {
    let is_left = fails_before_shift_left(fl, block) || fails_of_two(fl, block) || of.shifts_within_width(call);
    of.ty(0).is_none_or(|t| t.is_signed) && is_left
}

/// True if the branch before this block, where clang puts it, tests two conditions of which the second may be skipped.
/// For signed left shifts clang tests the amount and, if that is valid, the value. For other shifts it tests only the
/// amount.
fn fails_of_two(fl: &FunctionLowering, block: u32) -> bool {
    let Some(before) = block.checked_sub(1).map(|n| fl.body.blocks[n as usize].clone()) else { return false };
    let (ir, instructions) = (fl.b.ir(), &fl.body.instructions);
    let Some(branch) = instructions[before.start as usize..before.end as usize].last() else { return false };
    let leads_here =
        branch.opcode == op::BR && ir.operands(branch).any(|o| matches!(o, Operand::Block(b) if b == block));
    let defined = |o: Operand| match o {
        Operand::Instruction(n) => Some(&instructions[n as usize]),
        _ => None,
    };
    let both = defined(ir.operand(branch, 0)).filter(|both| leads_here && both.opcode == op::AND);
    both.is_some_and(|both| ir.operands(both).filter_map(defined).any(|part| part.opcode == op::PHI))
}

/// True if this block handles the failure of a check before a left shift. Clang folds shifts of constants, so no shift
/// follows then.
fn fails_before_shift_left(fl: &FunctionLowering, block: u32) -> bool {
    let block = &fl.body.blocks[block as usize];
    let ir = fl.b.ir();
    // The block continues where control continues after a successful check: at the shift.
    let last = &fl.body.instructions[block.end as usize - 1];
    ir.operands(last).any(|operand| match operand {
        Operand::Block(next) => {
            let first = fl.body.blocks[next as usize].start;
            fl.body.instructions[first as usize].opcode == op::SHL
        }
        _ => false,
    })
}
