//! Variadic calls and `va_list`.
//!
//! A call stores its variadic arguments in a block of memory with the layout of stack arguments in the ABI, and passes
//! the address of the block. On i386, `va_list` is that address. On x86-64, `va_start` marks all registers as used, so
//! that the compiler's code for `va_arg` reads all arguments from the overflow area.

use super::Context;
use super::builder::Builder;
use super::by_value::ByValue;
use crate::ir::{self, ConstantKind, TypeKind};
use cfa::{AllocKind, ExprId, FloatFormat, FuncId, Op};

/// An argument of a variadic call.
pub(super) struct Argument {
    pub value: ExprId,
    pub ty: ir::Ty,
    pub by_value: Option<ByValue>,
}

/// The ends of the register save area on x86-64: of general registers, and of vector registers.
const GP_END: u64 = 48;
const FP_END: u64 = 176;

/// True if the constant is the offset in the save area after which two registers remain: two of 8 bytes each, or two
/// vector registers.
pub(super) fn leaves_two_registers(ir: &ir::Module, constant: u32) -> bool {
    let ConstantKind::Bits(words) = &ir.constants[constant as usize].kind else { return false };
    [GP_END - 16, FP_END - 32].contains(&words[0])
}

/// Stores arguments into a block of memory. Returns its address and the offset of each argument. `None` if there are no
/// arguments.
pub(super) fn block(b: &mut Builder, arguments: &[Argument]) -> Option<(ExprId, Vec<u64>)> {
    if arguments.is_empty() {
        return None;
    }
    let slot = u64::from(b.pointer_width() / 8);
    let mut end = 0u64;
    let mut offsets = Vec::with_capacity(arguments.len());
    let values: Vec<ExprId> = arguments.iter().map(|argument| typed(b, argument.value, argument.ty)).collect();
    for argument in arguments {
        let (size, align) = match argument.by_value {
            Some(copied) => (copied.size, u64::from(copied.align)),
            None => (b.ir().types[argument.ty as usize].size, alignment(b, argument.ty)),
        };
        end = end.next_multiple_of(align.max(slot));
        offsets.push(end);
        end += size.next_multiple_of(slot);
    }
    let size = b.size(end);
    let base = b.alloc(size, 16, AllocKind::Stack, false);
    for ((argument, value), &offset) in arguments.iter().zip(values).zip(&offsets) {
        let address = b.offset(base, offset);
        match argument.by_value {
            Some(copied) => {
                let len = b.size(copied.size);
                b.emit(Op::Copy { dst: address, src: argument.value, len });
            }
            None => b.store(address, value),
        }
    }
    Some((base, offsets))
}

/// Returns the value for a variadic argument of type `ty`. No parameter declares this type. If output is kept, a float
/// is therefore saved in a variable of its type, because a C printer needs the type.
pub(super) fn typed(b: &mut Builder, value: ExprId, ty: ir::Ty) -> ExprId {
    match b.ir().types[ty as usize].kind {
        TypeKind::Float(format) if b.cx.options.keeps_output => b.pin_float(value, format),
        _ => value,
    }
}

/// The variadic functions that a pointer may point to, each with its number of parameters, which is less than the
/// number of the call's arguments.
pub(super) fn behind_pointers(cx: &Context, arguments: usize) -> Vec<(FuncId, usize)> {
    let taken = cx.functions.iter().zip(&cx.uses.address_taken).filter(|(_, taken)| **taken);
    taken
        .filter_map(|(&func, _)| {
            let function = &cx.program.funcs[func?];
            function.varargs.and(func).map(|func| (func, function.params.len()))
        })
        .filter(|&(_, params)| params < arguments)
        .collect()
}

/// The address of the variadic arguments in a block of all arguments, for a call through a pointer without a prototype.
/// It depends on the number of parameters of the called function.
pub(super) fn behind_parameters(
    b: &mut Builder,
    callee: ExprId,
    functions: &[(FuncId, usize)],
    (base, offsets): &(ExprId, Vec<u64>),
) -> ExprId {
    let width = b.pointer_width();
    functions.iter().fold(b.size(0), |others, &(func, params)| {
        let Some(&offset) = offsets.get(params) else { return others };
        let function = b.x().func_addr(func, width);
        let (is_it, rest) = (b.x().eq(callee, function), b.offset(*base, offset));
        b.x().ite(is_it, rest, others)
    })
}

/// The alignment of an argument on the stack, if it exceeds that of a slot.
fn alignment(b: &Builder, ty: ir::Ty) -> u64 {
    let row = &b.ir().types[ty as usize];
    match row.kind {
        TypeKind::Vector(..) => row.size,
        // On i386, all other arguments are in slots of 4 bytes.
        _ if b.pointer_width() == 32 => 4,
        TypeKind::Float(FloatFormat::X87 | FloatFormat::Quad) => 16,
        TypeKind::Int(width) if width > 64 => 16,
        _ => 8,
    }
}

/// `va_start(list)`.
pub(super) fn start(b: &mut Builder, list: ExprId) {
    let area = match b.cx.program.funcs[b.func].varargs {
        Some(var) => b.var_expr(var),
        None => b.size(0),
    };
    if b.pointer_width() == 32 {
        return b.store(list, area);
    }
    let (gp, fp, zero) = (b.int(32, GP_END), b.int(32, FP_END), b.size(0));
    for (offset, value) in [(0, gp), (4, fp), (8, area), (16, zero)] {
        let address = b.offset(list, offset);
        b.store(address, value);
    }
}

/// `va_copy(to, from)`.
pub(super) fn copy(b: &mut Builder, to: ExprId, from: ExprId) {
    let len = b.size(if b.pointer_width() == 32 { 4 } else { 24 });
    b.emit(Op::Copy { dst: to, src: from, len });
}
