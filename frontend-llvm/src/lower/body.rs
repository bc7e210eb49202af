//! Translates the body of a function, block by block.

use super::function::FunctionLowering;
use super::{Context, inlined, instruction, returned};
use cfa::FuncId;

/// Translates the body of function `n` of the module, if it has one.
pub(super) fn lower(cx: &mut Context, n: usize, func: FuncId) {
    let Some(mut lowering) = FunctionLowering::new(cx, n, func) else { return };
    returned::begin(&mut lowering, n);
    for block in lowering.order() {
        for i in lowering.begin_block(block) {
            let instruction = lowering.instruction(i);
            if lowering.begin_instruction(i) {
                inlined::emit_inlined_error(&mut lowering, instruction);
                instruction::lower(&mut lowering, i, instruction);
            }
            lowering.note_exceptions(i, instruction.opcode);
            returned::note_write(&mut lowering, i);
        }
    }
    let locations = lowering.locations();
    cx.layout.blocks[n] = (Some(func), locations);
}
