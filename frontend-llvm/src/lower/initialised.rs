//! What is not initialised, for the check that asks: where memory comes into being, its shadow says so (`instrument::uninitialised` gives
//! variables shadows, too), and what must be initialised is an assignment that faults otherwise.
//!
//! What that is, clang says as it does for MemorySanitizer: scalars that are passed or returned (`noundef`), not parts of structs
//! that are passed in registers.

use super::builder::Builder;
use super::function::{FunctionLowering, value_of};
use crate::ir::{Instruction, Operand};
use cfa::{Check, ErrorInfo, ExprId, FunctionOrigin, Op};

/// A byte of a shadow none of whose bits is initialised.
const POISON: u64 = 0xff;

impl Builder<'_, '_> {
    /// New memory of a variable of the program's is not initialised; models know what they do.
    pub fn poison(&mut self, address: ExprId, size: ExprId) {
        if !is_in_model(self) {
            self.poison_heap(address, size);
        }
    }

    /// New memory of the heap is not initialised, whoever allocates it.
    pub fn poison_heap(&mut self, dst: ExprId, len: ExprId) {
        if self.asks_for(Check::Memory) {
            let byte = self.int(8, POISON);
            self.emit(Op::Shadow(Box::new(Op::Fill { dst, byte, len })));
        }
    }

    /// The value must be initialised; a sentence that says what is done with it.
    pub fn demand(&mut self, value: ExprId, use_: String) {
        if !is_in_model(self) {
            self.demand_always(value, use_);
        }
    }

    /// Also of a model, which else may pass on what it copies.
    pub fn demand_always(&mut self, value: ExprId, use_: String) {
        if !self.asks_for(Check::Memory) || self.cx.program.exprs.vars(value).is_empty() {
            return;
        }
        let width = self.x().width(value);
        let (var, place) = (self.temp(width), self.place);
        if let Some(edge) = self.emit(Op::Assign { var, value }) {
            let error = self.cx.program.errors.push(ErrorInfo { check: Check::Memory, message: use_, place });
            self.cx.program.edges[edge].fault = Some(error);
        }
    }
}

fn is_in_model(b: &Builder) -> bool {
    b.cx.program.funcs[b.func].origin == FunctionOrigin::Model
}

/// The arguments of a call that must be initialised.
pub(super) fn demand_arguments(fl: &mut FunctionLowering, call: &Instruction, callee: &str) {
    if !fl.b.asks_for(Check::Memory) {
        return;
    }
    let ir = fl.b.ir();
    let (count, defined) = (ir.extra(call)[1], ir.extra(call)[2]);
    for k in (0..count.min(u32::BITS)).filter(|k| defined >> k & 1 != 0) {
        let value = match ir.operand(call, k as usize) {
            Operand::Argument(n) => fl.args.get(n as usize).copied(),
            Operand::Instruction(n) => value_of(fl, n),
            _ => None,
        };
        if let Some(value) = value {
            fl.b.demand(value, format!("it is passed to {callee}"));
        }
    }
}
