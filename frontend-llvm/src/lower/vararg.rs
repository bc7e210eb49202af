//! Variadic calls and `va_list`.
//!
//! A call lays its variadic arguments out in memory as the ABI does for arguments on the stack, and passes
//! the address. On i386, `va_list` is that address. On x86-64, `va_start` tells the compiler's code for `va_arg`
//! that all registers are used up, so that it reads everything from the overflow area.

use super::Context;
use super::builder::Builder;
use super::call::ByValue;
use crate::ir::{self, ConstantKind, TypeKind};
use cfa::{AllocKind, ExprId, FloatFormat, FuncId, Op};

pub(super) struct Argument {
    pub value: ExprId,
    pub ty: ir::Ty,
    pub by_value: Option<ByValue>,
}

/// Where on x86-64 the registers' part of the save area ends: general registers, then vector registers.
const GP_END: u64 = 48;
const FP_END: u64 = 176;

/// Whether it is the offset in the save area from which on there are two more registers: two of 8 bytes each, or two of vectors.
pub(super) fn leaves_two_registers(ir: &ir::Module, constant: u32) -> bool {
    let ConstantKind::Bits(words) = &ir.constants[constant as usize].kind else { return false };
    [GP_END - 16, FP_END - 32].contains(&words[0])
}

/// Puts arguments into a block of memory; its address, and each argument's offset in it. `None` if there are none.
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

/// An argument that nothing but its value tells about: whoever writes the call down has to know whether it is a float.
pub(super) fn typed(b: &mut Builder, value: ExprId, ty: ir::Ty) -> ExprId {
    match b.ir().types[ty as usize].kind {
        TypeKind::Float(format) if b.cx.options.keeps_output => b.pin_float(value, format),
        _ => value,
    }
}

/// The functions with variable arguments that a pointer may lead to, each with its number of parameters, which are fewer than
/// the arguments of a call.
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

/// Where the variable arguments are of a call through a pointer without a prototype, in a block of all arguments: which of
/// them are of parameters, only the function says that is called.
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

/// The alignment of an argument on the stack beyond that of a slot.
fn alignment(b: &Builder, ty: ir::Ty) -> u64 {
    let row = &b.ir().types[ty as usize];
    match row.kind {
        TypeKind::Vector(..) => row.size,
        // On i386 everything else lies in slots of 4 bytes.
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
