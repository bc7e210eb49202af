//! The uses of the addresses of globals and functions in a module.

use super::sanitizer;
use crate::ir::{ConstantKind, Function, GlobalRef, Instruction, Module, NONE, Operand, Ty, TypeKind, op};

/// Facts about addresses in the whole module, found in one pass.
#[derive(Default)]
pub(super) struct Uses {
    /// For each variable: true if its address is used for more than loads and stores of the whole variable,
    /// or if a constant is stored to.
    pub escapes: Vec<bool>,
    /// For each variable: true if an instruction loads it.
    loaded: Vec<bool>,
    /// For each variable: true if it only describes a check of a sanitizer.
    pub describes: Vec<bool>,
    /// For each function: true if it is used as a value.
    pub address_taken: Vec<bool>,
    /// For each function: true if it is called directly.
    pub called: Vec<bool>,
}

impl Uses {
    pub fn find(ir: &Module) -> Self {
        let mut uses = Self {
            escapes: vec![false; ir.variables.len()],
            loaded: vec![false; ir.variables.len()],
            describes: vec![false; ir.variables.len()],
            address_taken: vec![false; ir.functions.len()],
            called: vec![false; ir.functions.len()],
        };
        for constant in &ir.constants {
            match &constant.kind {
                ConstantKind::Aggregate(children) | ConstantKind::Expression { operands: children, .. } => {
                    children.iter().for_each(|&child| uses.value(ir, child));
                }
                ConstantKind::Gep { base, .. } => uses.value(ir, *base),
                _ => {}
            }
        }
        for variable in &ir.variables {
            if variable.init != NONE {
                uses.value(ir, variable.init);
            }
        }
        for alias in &ir.aliases {
            if alias.target != NONE {
                uses.value(ir, alias.target);
            }
        }
        for function in &ir.functions {
            for instruction in function.body.iter().flat_map(|body| &body.instructions) {
                uses.instruction(ir, function, instruction);
            }
        }
        uses
    }

    /// True if an instruction loads a variable.
    pub fn is_loaded(&self, variable: usize) -> bool {
        self.loaded[variable]
    }

    fn instruction(&mut self, ir: &Module, function: &Function, instruction: &Instruction) {
        let mut operands = ir.operands(instruction);
        match instruction.opcode {
            op::LOAD => {
                if let Some(n) = self.access(ir, ir.operand(instruction, 0), instruction.ty) {
                    self.loaded[n] = true;
                }
            }
            op::STORE => {
                let value = ir.operand(instruction, 0);
                self.operand(ir, value);
                if let Some(ty) = ir.operand_type(function, value) {
                    // An invalid store to a constant is an error of its object.
                    if let Some(n) = self.access(ir, ir.operand(instruction, 1), ty)
                        && ir.variables[n].constant
                    {
                        self.escapes[n] = true;
                    }
                }
            }
            op::CALL | op::INVOKE | op::CALL_BR => {
                let callee = ir.extra(instruction)[1] as usize;
                if let Some(variable) = describes_check(ir, instruction, callee) {
                    self.describes[variable] = true;
                }
                for (n, operand) in operands.enumerate() {
                    match operand {
                        Operand::Constant(c) if n == callee => self.callee(ir, c),
                        _ => self.operand(ir, operand),
                    }
                }
            }
            _ => operands.by_ref().for_each(|operand| self.operand(ir, operand)),
        }
    }

    /// Records a load or store of type `ty` at this address. Returns the variable if the access is of the whole variable.
    fn access(&mut self, ir: &Module, address: Operand, ty: Ty) -> Option<usize> {
        if let Operand::Constant(c) = address
            && let Some(n) = ir.variable(c)
            && same_scalar(ir, ir.variables[n].ty, ty)
        {
            return Some(n);
        }
        self.operand(ir, address);
        None
    }

    fn callee(&mut self, ir: &Module, constant: u32) {
        match ir.constants[constant as usize].kind {
            ConstantKind::Global(number) => match ir.global(number) {
                GlobalRef::Function(n) => self.called[n] = true,
                // The target of an alias is marked as address-taken.
                _ => self.value(ir, constant),
            },
            _ => self.value(ir, constant),
        }
    }

    fn operand(&mut self, ir: &Module, operand: Operand) {
        if let Operand::Constant(c) = operand {
            self.value(ir, c);
        }
    }

    fn value(&mut self, ir: &Module, constant: u32) {
        if let ConstantKind::Global(number) = ir.constants[constant as usize].kind {
            match ir.global(number) {
                GlobalRef::Variable(n) => self.escapes[n] = true,
                GlobalRef::Function(n) => self.address_taken[n] = true,
                GlobalRef::Alias(_) => {}
            }
        }
    }
}

/// If the call is a handler's: the variable that describes the check.
fn describes_check(ir: &Module, call: &Instruction, callee: usize) -> Option<usize> {
    let Operand::Constant(c) = ir.operand(call, callee) else { return None };
    let ConstantKind::Global(number) = ir.constants[c as usize].kind else { return None };
    match ir.global(number) {
        GlobalRef::Function(n) if sanitizer::is_handler(&ir.functions[n].name) => sanitizer::description(ir, call),
        _ => None,
    }
}

/// True if both types are scalars of the same width, so that a cell of one type can be accessed as the other without
/// splitting it into bytes.
pub(super) fn same_scalar(ir: &Module, a: Ty, b: Ty) -> bool {
    let (a, b) = (&ir.types[a as usize], &ir.types[b as usize]);
    let scalar = |kind: &TypeKind| {
        matches!(kind, TypeKind::Int(_) | TypeKind::Float(_) | TypeKind::Pointer | TypeKind::Vector(..))
    };
    scalar(&a.kind) && scalar(&b.kind) && a.bits == b.bits && a.bits > 0
}
