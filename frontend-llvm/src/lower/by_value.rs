//! The arguments of a call that are passed by copy in memory.

use crate::ir::{Instruction, Module};

/// In place of an argument's number: the space for a result in memory (see export.cpp).
const RESULT: u32 = u32::MAX;

/// The size and the alignment in bytes of an argument passed by copy.
#[derive(Clone, Copy)]
pub(super) struct ByValue {
    pub size: u64,
    pub align: u32,
}

/// For each argument that is passed by copy, its size and alignment.
pub(super) fn by_value(ir: &Module, i: &Instruction) -> Vec<Option<ByValue>> {
    let mut by_value = vec![None; ir.extra(i)[1] as usize];
    for (number, argument) in passed_in_memory(ir, i) {
        if number != RESULT {
            by_value[number as usize] = Some(argument);
        }
    }
    by_value
}

/// The arguments that are passed by copy, by number, and the space for a result in memory.
pub(super) fn passed_in_memory<'m>(ir: &'m Module, i: &Instruction) -> impl Iterator<Item = (u32, ByValue)> + use<'m> {
    ir.extra(i)[3..].chunks_exact(4).map(|row| {
        let size = u64::from(row[1]) | u64::from(row[2]) << 32;
        (row[0], ByValue { size, align: row[3] })
    })
}

/// The space for a result in memory, if the call passes one.
pub(super) fn result_in_memory(ir: &Module, i: &Instruction) -> Option<ByValue> {
    passed_in_memory(ir, i).find(|&(number, _)| number == RESULT).map(|(_, space)| space)
}
