//! Inline assembly.

use super::function::FunctionLowering;
use crate::ir::{Assembly, Instruction, Module, Operand, Ty, TypeKind, op};
use cfa::{InputKind, Op};

/// Lowers inline assembly to a taint, unless it is a barrier without effect. Assembly that only computes values has
/// arbitrary results.
pub(super) fn lower(fl: &mut FunctionLowering, n: u32, i: &Instruction, assembly: u32) {
    let ir = fl.b.ir();
    let row = &ir.assemblies[assembly as usize];
    let args = fl.arguments(i);
    let width = fl.b.cx.width(i.ty);
    if row.text.trim().is_empty() && i.opcode == op::CALL {
        match (width, &args[..]) {
            (None, _) if !row.constraints.contains('=') => {
                fl.b.emit(Op::Skip);
                return;
            }
            // One register is input and output: the assembly only hides a value from the optimiser.
            (Some(width), &[value])
                if fl.b.x().width(value) == width && row.constraints.split(',').nth(1) == Some("0") =>
            {
                return fl.define(n, value);
            }
            _ => {}
        }
    }
    let value = match width {
        Some(width) if only_computes(fl, i, row) => {
            fl.b.approximate(format!("{}: its results are not modelled", cfa::INLINE_ASSEMBLY), true, false);
            // The results may be addresses that the operands hold as numbers.
            args.iter().for_each(|&operand| fl.b.expose(operand));
            Some(fl.b.havoc(width, InputKind::Unmodelled(cfa::ASSEMBLY_RESULT.to_owned()), None))
        }
        _ => fl.b.unmodelled(cfa::INLINE_ASSEMBLY, width),
    };
    if let Some(value) = value {
        fl.define_saved(n, value);
    }
}

/// Instructions that execute other code.
const TRANSFERS: [&str; 12] =
    ["call", "callq", "calll", "jmp", "syscall", "sysenter", "int", "bl", "blr", "svc", "ecall", "jalr"];
/// Parts of the names of instructions and registers that set the modes of floating-point operations.
const MODES: [&str; 11] =
    ["mxcsr", "fldcw", "fldenv", "frstor", "fninit", "finit", "fpcr", "fpscr", "fcsr", "fsrm", "fscsr"];

/// True if the assembly only writes its results, which are registers. It must declare its effects on memory; it does not
/// declare calls of other code, and changes of the modes of floating-point operations. Its operands and results are no
/// pointers. A number as an operand is not in memory of the program, even if its constraint allows memory.
fn only_computes(fl: &FunctionLowering, i: &Instruction, assembly: &Assembly) -> bool {
    let ir = fl.b.ir();
    // An asterisk marks the address of an operand in memory, and an exclamation mark a label.
    let accesses_memory = |constraint: &str| constraint.contains(['*', '!']) || constraint == "~{memory}";
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let has_other_effect = |word: &str| {
        let lower = word.to_ascii_lowercase();
        TRANSFERS.contains(&lower.as_str()) || MODES.iter().any(|mode| lower.contains(mode)) || is_symbol(ir, word)
    };
    let operands = ir.operands(i).filter(|operand| !matches!(operand, Operand::Assembly(_)));
    let inputs: Option<Vec<Ty>> = operands.map(|operand| ir.operand_type(fl.function, operand)).collect();
    let Some(inputs) = inputs else { return false };
    let inputs: Vec<Ty> = inputs.into_iter().flat_map(|ty| scalars(ir, ty)).collect();
    let results = scalars(ir, i.ty);
    let is_pointer = |ty: &Ty| !matches!(ir.kind(*ty), TypeKind::Int(_) | TypeKind::Float(_) | TypeKind::Vector(..));
    i.opcode == op::CALL
        && !results.iter().chain(&inputs).any(is_pointer)
        && !assembly.constraints.split(',').any(accesses_memory)
        && !assembly.text.split(|c| !is_part(c)).any(has_other_effect)
}

/// The types of the scalars in a value of type `ty`.
fn scalars(ir: &Module, ty: Ty) -> Vec<Ty> {
    match ir.kind(ty) {
        TypeKind::Struct(members) => members.iter().flat_map(|&(member, _)| scalars(ir, member)).collect(),
        &TypeKind::Array(element, _) => scalars(ir, element),
        _ => vec![ty],
    }
}

/// True if `word` names a function or a variable of the program. Some variables have no name.
fn is_symbol(ir: &Module, word: &str) -> bool {
    let has_name = || {
        ir.functions.iter().any(|function| function.name == word)
            || ir.variables.iter().any(|variable| variable.name == word)
    };
    !word.is_empty() && has_name()
}
