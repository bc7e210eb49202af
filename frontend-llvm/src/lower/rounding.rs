//! The rounding mode of the floating-point environment.
//!
//! If a program can change the mode, a variable holds it, and every rounded operation is a choice over that variable.
//! Along a path, the mode is mostly known, so the choice folds to one operation. In all other programs, and in models
//! except for operations that depend on the mode, operations round to nearest.
//!
//! The reference is clang's unoptimised code for x86. An operation or a conversion that the machine executes rounds in
//! the mode. An operation on constants that clang evaluates rounds to nearest.

use super::function::FunctionLowering;
use super::{Context, Mutability};
use crate::ir::{Instruction, TypeKind, op};
use crate::primitives::{Primitive, primitive};
use cfa::{ExprId, ExprPool, FloatFormat, Rounding, Var, VarKind};

/// The rounding of an operation.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    Nearest,
    /// In the mode with this number.
    Current(ExprId),
}

impl Mode {
    /// The result of `operation` rounded in this mode.
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
    /// Declares the variable of the rounding mode, if the program can change the mode. It can if models that change it
    /// are linked.
    pub(super) fn declare_rounding_mode(&mut self) {
        let set = |(n, f): (usize, &crate::ir::Function)| {
            f.declaration && self.uses.called[n] && primitive(&f.name) == Some(Primitive::SetRounding)
        };
        if !self.ir.functions.iter().enumerate().any(set) {
            return;
        }
        let (width, name) = (Rounding::WIDTH, Some("__rounding_mode".to_owned()));
        let (ty, nearest) = (self.unknown_type(Some(width)), self.program.exprs.int(width, 0));
        let kind = VarKind::Global { init: Some(nearest), is_static: false };
        self.rounding_mode = Some(self.add_var(Var { name, ty, width, kind, place: None }, Mutability::Global));
    }
}

impl FunctionLowering<'_, '_> {
    /// The mode of an operation at this point. An operation is `constrained` under `STDC FENV_ACCESS`.
    pub fn rounding(&mut self, constrained: bool) -> Mode {
        match self.b.cx.rounding_mode {
            Some(var) if constrained || !self.function.model => Mode::Current(self.b.var_expr(var)),
            _ => Mode::Nearest,
        }
    }

    /// An operand of an operation that is rounded in `mode`. If a choice over modes would repeat it, it is saved in a
    /// variable.
    pub fn operand_to_round(&mut self, mode: Mode, operand: ExprId) -> ExprId {
        match mode {
            Mode::Nearest => operand,
            Mode::Current(_) => self.b.share(operand),
        }
    }

    /// Adds a taint where compilers differ: for an unsigned integer as wide as a register, clang's code subtracts equal
    /// numbers if the integer is zero. The result is -0 when rounding downwards.
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
