//! Branches for conditions of C that clang computes without a branch. gcov counts them, and so do coverage goals.
//!
//! Clang emits a `select` for `c ? a : b` if both operands are cheap. If the value of `&&` or `||` is used, clang emits
//! no branch for the last operand: its value is an operand of the phi. For such conditions, this module emits a branch
//! whose two edges lead to the same location.

use super::builder::{Cursor, fork};
use super::function::FunctionLowering;
use crate::ir::{Instruction, Operand, TypeKind, op};
use cfa::ExprId;

impl FunctionLowering<'_, '_> {
    /// Emits a branch for the condition of a `select`.
    pub fn decide_select(&mut self, select: &Instruction, condition: ExprId) {
        let first = self.b.ir().operands(select).next();
        if let Some(operand) = first {
            self.decide(condition, operand);
        }
    }

    /// Emits a branch for a value of a phi, if it is the last operand of `&&` or `||`. The other operands decide the
    /// result, so their values are constants.
    pub fn decide_last_operand(&mut self, phi: u32, incoming: Operand, value: ExprId) {
        let (ir, phi) = (self.b.ir(), self.instruction(phi));
        let is_constant = |operand: Operand| matches!(operand, Operand::Constant(_));
        let is_truth = matches!(ir.kind(phi.ty), TypeKind::Int(1));
        if is_truth && !is_constant(incoming) && ir.operands(phi).any(is_constant) {
            self.decide(value, incoming);
        }
    }

    /// Emits a branch at the source position of the operand. Both edges lead to the same location.
    fn decide(&mut self, condition: ExprId, operand: Operand) {
        if !self.b.cx.options.decisions || self.function.model || self.is_decided(operand) {
            return;
        }
        let place = match operand {
            Operand::Instruction(n) => self.b.cx.source.instruction_place(self.instruction(n).place),
            _ => None,
        };
        let before = self.b.place;
        self.b.place = place.or(before);
        let (yes, behind) = (self.b.new_location(), self.b.new_location());
        match operand {
            Operand::Constant(_) => self.b.goto(yes),
            _ => fork(&mut self.b, condition, [yes, behind], [Some(true), Some(false)]),
        }
        self.b.cursor = Cursor::At(yes);
        self.b.goto(behind);
        self.b.cursor = Cursor::At(behind);
        self.b.place = before;
    }

    /// True if the operand is a phi of truth values, or its negation: it was decided before.
    fn is_decided(&self, operand: Operand) -> bool {
        let Operand::Instruction(n) = operand else { return false };
        let (ir, of) = (self.b.ir(), self.instruction(n));
        match of.opcode {
            op::PHI => true,
            op::XOR => ir.operands(of).next().is_some_and(|first| self.is_decided(first)),
            _ => false,
        }
    }
}
