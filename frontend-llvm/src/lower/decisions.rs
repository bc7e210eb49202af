//! Conditions of C that clang's code computes with, as branches: gcov counts them, and so do coverage goals.
//!
//! Clang makes a `select` of `c ? a : b` where both are cheap, and no branch of the last operand of `&&` and `||` where their value is
//! asked for: it is what the phi behind them takes. Here execution parts at such a condition and comes together again at once.

use super::builder::Cursor;
use super::function::FunctionLowering;
use crate::ir::{Instruction, Operand, TypeKind, op};
use cfa::ExprId;

impl FunctionLowering<'_, '_> {
    /// The condition of a `select`.
    pub fn decide_select(&mut self, select: &Instruction, condition: ExprId) {
        let first = self.b.ir().operands(select).next();
        if let Some(operand) = first {
            self.decide(condition, operand);
        }
    }

    /// A value that a phi takes, if it is that of the last operand of `&&` or `||`: the others decide, so theirs are constants.
    pub fn decide_last_operand(&mut self, phi: u32, incoming: Operand, value: ExprId) {
        let (ir, phi) = (self.b.ir(), self.instruction(phi));
        let is_constant = |operand: Operand| matches!(operand, Operand::Constant(_));
        let is_truth = matches!(ir.kind(phi.ty), TypeKind::Int(1));
        if is_truth && !is_constant(incoming) && ir.operands(phi).any(is_constant) {
            self.decide(value, incoming);
        }
    }

    /// Lets execution part here, at the place of the operand, and come together again.
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
        self.b.branch_meaning(condition, yes, behind, [Some(true), Some(false)]);
        self.b.cursor = Cursor::At(yes);
        self.b.goto(behind);
        self.b.cursor = Cursor::At(behind);
        self.b.place = before;
    }

    /// Whether it is what a phi of truth values took, or the opposite: decided before.
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
