//! The rounding mode of the floating-point environment.
//!
//! A program that can change the mode has it in a variable, and whatever rounds is a choice over that variable. Along
//! a path the mode is mostly known, so that the choice folds to one operation. In all other programs, and in models
//! but for what asks for the mode, operations round to nearest.
//!
//! The reference is what clang makes of C for x86 without optimisation: a conversion or an operation that it leaves to
//! the machine is rounded in the mode, one of constants that it computes itself is rounded to nearest.

use super::function::FunctionLowering;
use super::{Context, Mutability};
use crate::ir::{Instruction, TypeKind, op};
use crate::primitives::{Primitive, primitive};
use cfa::{ExprId, ExprPool, FloatFormat, Rounding, Var, VarKind};

/// How an operation is rounded.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    Nearest,
    /// In the mode of which this is the number.
    Current(ExprId),
}

impl Mode {
    /// What `operation` makes, rounded in this mode.
    pub fn round(
        self,
        x: &mut ExprPool,
        mut operation: impl FnMut(&mut ExprPool, Rounding) -> Option<ExprId>,
    ) -> Option<ExprId> {
        let Self::Current(mode) = self else { return operation(x, Rounding::Nearest) };
        let mut known = true;
        let choice = Rounding::choice(x, mode, |x, rounding| {
            let rounded = operation(x, rounding);
            known &= rounded.is_some();
            rounded.unwrap_or(mode)
        });
        known.then_some(choice)
    }
}

impl Context<'_> {
    /// A program changes the mode through models, which are there only if it calls them.
    pub(super) fn declare_rounding_mode(&mut self) {
        let set = |(n, f): (usize, &crate::ir::Function)| {
            f.declaration && self.uses.called[n] && primitive(&f.name) == Some(Primitive::SetRounding)
        };
        if !self.ir.functions.iter().enumerate().any(set) {
            return;
        }
        let (width, name) = (Rounding::WIDTH, Some("__rounding_mode".to_owned()));
        let (ty, nearest) = (self.unknown_type(Some(width)), self.program.exprs.int(width, 0));
        let kind = VarKind::Global { init: Some(nearest) };
        self.rounding_mode = Some(self.add_var(Var { name, ty, width, kind, place: None }, Mutability::Global));
    }
}

impl FunctionLowering<'_, '_> {
    /// The mode at this point for an operation that is `constrained`, as `STDC FENV_ACCESS` makes them, or not.
    pub fn rounding(&mut self, constrained: bool) -> Mode {
        match self.b.cx.rounding_mode {
            Some(var) if constrained || !self.function.model => Mode::Current(self.b.var_expr(var)),
            _ => Mode::Nearest,
        }
    }

    /// An operand of an operation that is rounded in `mode`: named, where a choice over modes would repeat it.
    pub fn operand_to_round(&mut self, mode: Mode, operand: ExprId) -> ExprId {
        match mode {
            Mode::Nearest => operand,
            Mode::Current(_) => self.b.share(operand),
        }
    }

    /// Where compilers differ: clang's code for an unsigned integer as wide as a register subtracts equal numbers if
    /// the integer is zero, which gives -0 when rounding down.
    pub fn check_conversion_of_zero(&mut self, i: &Instruction, mode: Mode, to: Option<FloatFormat>, integer: ExprId) {
        let Mode::Current(mode) = mode else { return };
        if i.opcode != op::UI_TO_FP || self.function.model {
            return;
        }
        let (pointer, width, down) =
            (self.b.pointer_width(), self.b.x().width(integer), self.b.int(Rounding::WIDTH, 1));
        let mut affected = self.b.x().eq(mode, down);
        if !matches!(self.b.ir().kind(i.ty), TypeKind::Vector(..)) {
            match (pointer, width) {
                (32, 32) if to != Some(FloatFormat::X87) => {}
                (_, 64) if to == Some(FloatFormat::Double) => {}
                _ => return,
            }
            let zero = self.b.int(width, 0);
            let is_zero = self.b.x().eq(integer, zero);
            affected = self.b.x().and(affected, is_zero);
        }
        self.b.when(affected, |b| {
            b.approximate("compilers differ in the sign of an unsigned zero converted when rounding down", true, true);
        });
    }
}
