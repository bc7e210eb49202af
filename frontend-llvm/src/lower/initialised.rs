//! Operations for the check of uninitialised memory. New memory gets an uninitialised shadow. A value that must be
//! initialised is marked by an assignment with a fault. `instrument::uninitialised` adds the shadows of variables.
//!
//! As for MemorySanitizer, clang marks the values that must be initialised: scalars that are passed or returned
//! (`noundef`), but no parts of structs that are passed in registers.

use super::builder::Builder;
use super::function::{FunctionLowering, value_of};
use crate::ir::{Instruction, Operand};
use cfa::{Check, ErrorInfo, ExprId, FunctionOrigin, Op};

/// A shadow byte with all bits uninitialised.
const POISON: u64 = 0xff;

impl Builder<'_, '_> {
    /// Marks new memory of a variable as uninitialised, except in models.
    pub fn poison(&mut self, address: ExprId, size: ExprId) {
        if !is_in_model(self) {
            self.poison_heap(address, size);
        }
    }

    /// Marks new heap memory as uninitialised, including in models.
    pub fn poison_heap(&mut self, dst: ExprId, len: ExprId) {
        if self.asks_for(Check::Memory) {
            let byte = self.int(8, POISON);
            self.emit(Op::Shadow(Box::new(Op::Fill { dst, byte, len })));
        }
    }

    /// Saves a value in a temporary if uses of uninitialised values are checked, except in models. An expression with it
    /// keeps its operands then: `x - x` is not 0, and a remainder of a division by 4 is no mask.
    pub fn separate(&mut self, value: ExprId) -> ExprId {
        if self.asks_for(Check::Memory) && !is_in_model(self) { self.pin(value) } else { value }
    }

    /// Marks a value that must be initialised, except in models. `use_` describes the use for the message.
    pub fn demand(&mut self, value: ExprId, use_: String) {
        if !is_in_model(self) {
            self.demand_always(value, use_);
        }
    }

    /// Like [`demand`](Self::demand), including in models. (Models may otherwise copy uninitialised values.)
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

/// Marks the arguments of a call that must be initialised.
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
