//! Capture analysis: whether a call stores the address in an argument so that it remains accessible after the return.
//!
//! LLVM's pass FunctionAttrs infers the same property of parameters (`captures(none)`). This analysis works on
//! unoptimised code, whose parameters are variables in memory. It looks through cells that are only loaded and stored.

use super::intrinsic::base_name;
use super::{Context, HANDLER};
use crate::ir::{Body, Function, Instruction, Operand, TypeKind, op};
use crate::primitives::{Primitive, primitive};
use rustc_hash::{FxHashMap, FxHashSet};

/// The fate of an address that a call passes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Capture {
    /// The address is not accessible after the return.
    Dropped,
    /// The result of the call may point to the same object.
    Returned,
    /// The address may be accessible after the return.
    Kept,
}

/// The results of the analysis, by function and parameter number.
#[derive(Default)]
pub(super) struct Captures {
    known: FxHashMap<(usize, u32), Capture>,
}

impl Captures {
    /// The greatest capture of the arguments for which `is_passed` returns true.
    pub fn of_call(&mut self, cx: &Context, call: &Instruction, is_passed: impl Fn(Operand) -> bool) -> Capture {
        let callee = cx.ir.extra(call)[1] as usize;
        let function = match cx.ir.operand(call, callee) {
            Operand::Constant(c) => cx.function_of_constant(c),
            _ => None,
        };
        let Some(function) = function else { return Capture::Kept };
        let name = &cx.ir.functions[function].name;
        if name.starts_with("llvm.") {
            let is_stored = stored_operand(name).is_some_and(|n| is_passed(cx.ir.operand(call, n)));
            return if is_stored { Capture::Kept } else { Capture::Returned };
        }
        let passed = cx.ir.operands(call).take(callee).enumerate().filter(|(_, argument)| is_passed(*argument));
        let of_each = passed.map(|(n, _)| self.of_parameter(cx, function, n as u32));
        of_each.max().unwrap_or(Capture::Dropped)
    }

    fn of_parameter(&mut self, cx: &Context, function: usize, parameter: u32) -> Capture {
        if let Some(&known) = self.known.get(&(function, parameter)) {
            return known;
        }
        // During the analysis of a parameter, recursive calls are assumed to capture it.
        self.known.insert((function, parameter), Capture::Kept);
        let capture = self.found(cx, &cx.ir.functions[function], parameter);
        self.known.insert((function, parameter), capture);
        capture
    }

    fn found(&mut self, cx: &Context, function: &Function, parameter: u32) -> Capture {
        let Some(body) = &function.body else {
            let is_known = primitive(&function.name).is_some_and(|p| !matches!(p, Primitive::Unmodelled(_)));
            let drops = is_known || function.name.starts_with(HANDLER);
            return if drops { Capture::Dropped } else { Capture::Kept };
        };
        let is_named = match cx.ir.kind(function.ty) {
            TypeKind::Function { params, .. } => (parameter as usize) < params.len(),
            _ => false,
        };
        if !is_named {
            return Capture::Kept;
        }
        let mut flow = Flow { parameter, leads: vec![false; body.instructions.len()], is_returned: false };
        let cells = cells(cx, body);
        // Iterates to a fixed point, because a cell may be loaded before the store in the order of the text.
        loop {
            let before = flow.count();
            for n in 0..body.instructions.len() as u32 {
                if !flow.goes_on(self, cx, body, &cells, n) {
                    return Capture::Kept;
                }
            }
            if flow.count() == before {
                return if flow.is_returned { Capture::Returned } else { Capture::Dropped };
            }
        }
    }
}

/// True if the result of an operation may point to the objects of its operands. An address may be a number, and a part
/// of a larger value.
pub(super) fn goes_through(opcode: u8) -> bool {
    matches!(
        opcode,
        op::GEP
            | op::PHI
            | op::SELECT
            | op::FREEZE
            | op::EXTRACT_ELEMENT..=op::INSERT_VALUE
            | op::TRUNC..=op::ADDR_SPACE_CAST
            | op::ADD..=op::XOR
    )
}

/// Variables in memory that are only loaded and stored.
fn cells(cx: &Context, body: &Body) -> FxHashSet<u32> {
    let is_alloca = |n: &u32| body.instructions[*n as usize].opcode == op::ALLOCA;
    let mut cells: FxHashSet<u32> = (0..body.instructions.len() as u32).filter(is_alloca).collect();
    for instruction in &body.instructions {
        for (position, operand) in cx.ir.operands(instruction).enumerate() {
            let is_access = matches!((instruction.opcode, position), (op::LOAD, 0) | (op::STORE, 1));
            if let Operand::Instruction(n) = operand
                && !is_access
                && !is_lifetime(cx, instruction)
            {
                cells.remove(&n);
            }
        }
    }
    cells
}

/// The position of the operand that an intrinsic stores in memory.
pub(super) fn stored_operand(name: &str) -> Option<usize> {
    match base_name(name) {
        "masked.store" | "masked.scatter" => Some(0),
        "memset" | "memset.inline" => Some(1),
        _ => None,
    }
}

fn is_lifetime(cx: &Context, instruction: &Instruction) -> bool {
    if instruction.opcode != op::CALL {
        return false;
    }
    let callee = cx.ir.extra(instruction)[1] as usize;
    match cx.ir.operand(instruction, callee) {
        Operand::Constant(c) => {
            cx.function_of_constant(c).is_some_and(|f| cx.ir.functions[f].name.starts_with("llvm.lifetime."))
        }
        _ => false,
    }
}

/// The flow of a parameter's address in a function.
struct Flow {
    parameter: u32,
    /// The instructions whose values may point to the parameter's object, and the cells that may hold such values.
    leads: Vec<bool>,
    is_returned: bool,
}

impl Flow {
    fn count(&self) -> usize {
        self.leads.iter().filter(|leads| **leads).count()
    }

    fn is(&self, operand: Operand) -> bool {
        match operand {
            Operand::Argument(n) => n == self.parameter,
            Operand::Instruction(n) => self.leads[n as usize],
            _ => false,
        }
    }

    /// Processes instruction `n`. Returns false if it captures the address.
    fn goes_on(&mut self, captures: &mut Captures, cx: &Context, body: &Body, cells: &FxHashSet<u32>, n: u32) -> bool {
        let i = &body.instructions[n as usize];
        let is_cell = |operand| matches!(operand, Operand::Instruction(m) if cells.contains(&m));
        if !cx.ir.operands(i).any(|operand| self.is(operand)) {
            return true;
        }
        match i.opcode {
            op::LOAD => self.leads[n as usize] |= is_cell(cx.ir.operand(i, 0)),
            op::STORE if self.is(cx.ir.operand(i, 0)) => match cx.ir.operand(i, 1) {
                Operand::Instruction(cell) if cells.contains(&cell) => self.leads[cell as usize] = true,
                _ => return false,
            },
            op::STORE | op::I_CMP | op::F_CMP | op::BR | op::SWITCH => {}
            op::RET => self.is_returned = true,
            op::CALL => {
                if self.is(cx.ir.operand(i, cx.ir.extra(i)[1] as usize)) {
                    return false;
                }
                match captures.of_call(cx, i, |argument| self.is(argument) && !is_cell(argument)) {
                    Capture::Dropped => {}
                    Capture::Returned => self.leads[n as usize] = true,
                    Capture::Kept => return false,
                }
            }
            opcode if goes_through(opcode) => self.leads[n as usize] = true,
            _ => return false,
        }
        true
    }
}
