//! Undefined functions that pointer arguments of the entry function lead to. Their types are those of the calls.

use super::{FUNCTION, NUMBER, POINTERS, token_of};
use crate::ir::{self, ConstantKind, NONE, Operand, TypeKind, op};
use crate::lower::builder::Builder;
use crate::lower::function::FunctionLowering;
use crate::lower::{Context, call, source};
use cfa::{Callee, ExprId, FuncId, FunctionOrigin, Op, PlaceId, TypeId, VarId};

/// The name of these functions.
pub const GIVEN: &str = "proviso_given_function";

/// True if an address is a function token.
pub fn is_given(address: u64, pointer_width: u32) -> bool {
    address & !NUMBERS == token_of(FUNCTION, pointer_width)
}

/// The bits in which function tokens differ. -1 and similar values in C are no tokens.
const NUMBERS: u64 = (POINTERS - 1) << NUMBER;

/// The bits in which function tokens are equal. The program tests them before it calls a function through a pointer.
pub fn token_mask(pointer_width: u32) -> u64 {
    !NUMBERS & (u64::MAX >> (64 - pointer_width))
}

/// The same test in the program.
pub(super) fn is_token(b: &mut Builder, address: ExprId) -> ExprId {
    let width = b.pointer_width();
    let fixed = b.size(token_mask(width));
    let fixed = b.x().and(address, fixed);
    let token = b.size(token_of(FUNCTION, width));
    b.x().eq(fixed, token)
}

/// True if a pointer is read from a constant variable, so that it is no function token.
pub fn is_from_constant(fl: &FunctionLowering, pointer: Operand) -> bool {
    let (ir, instructions) = (fl.b.ir(), &fl.body.instructions);
    let Operand::Instruction(n) = pointer else { return false };
    if instructions[n as usize].opcode != op::LOAD {
        return false;
    }
    let mut address = ir.operand(&instructions[n as usize], 0);
    while let Operand::Instruction(n) = address
        && instructions[n as usize].opcode == op::GEP
    {
        address = ir.operand(&instructions[n as usize], 0);
    }
    let Operand::Constant(mut constant) = address else { return false };
    if let ConstantKind::Gep { base, .. } = ir.constants[constant as usize].kind {
        constant = base;
    }
    ir.variable(constant).is_some_and(|n| ir.variables[n].constant && ir.variables[n].init != NONE)
}

/// Emits a call through a pointer that may be a function token.
pub fn call_pointer(b: &mut Builder, address: ExprId, ty: ir::Ty, call: Op) {
    let Op::Call { args, result, .. } = &call else { return };
    let Some(func) = b.cx.given_function(ty) else {
        b.emit(call);
        return;
    };
    let given = Op::Call { callee: Callee::Direct(func), args: args.clone(), varargs: None, result: *result };
    let is_given = is_token(b, address);
    b.either(is_given, given, call);
}

impl Context<'_> {
    /// The function that function tokens lead to in calls of this type. `None` if there are no function tokens.
    fn given_function(&mut self, ty: ir::Ty) -> Option<FuncId> {
        let known = self.lazy.as_ref().filter(|lazy| lazy.has_functions)?.functions.get(&ty).copied();
        if known.is_some() {
            return known;
        }
        let TypeKind::Function { result, params, .. } = self.ir.kind(ty) else { return None };
        let width = self.width(*result);
        let of_result = width.map_or(source::VOID, |width| self.unknown_type(Some(width)));
        let func = self.program.add_function(GIVEN, of_result, width);
        let params = params.iter().map(|&ty| self.add_parameter(func, ty)).collect();
        let function = &mut self.program.funcs[func];
        function.params = params;
        function.origin = FunctionOrigin::Undefined;
        self.lazy.as_mut()?.functions.insert(ty, func);
        Some(func)
    }
}

/// Creates the bodies of these functions.
pub(super) fn finish(cx: &mut Context) {
    let functions = cx.lazy.iter().flat_map(|lazy| &lazy.functions);
    let mut given: Vec<_> = functions.map(|(&ty, &func)| (func, ty)).collect();
    given.sort_unstable();
    for (func, ty) in given {
        let TypeKind::Function { params, .. } = cx.ir.kind(ty) else { continue };
        let vars = cx.program.funcs[func].params.iter().copied();
        let is_pointer = |ty: ir::Ty| matches!(cx.ir.kind(ty), TypeKind::Pointer);
        let written: Vec<VarId> = vars.zip(params).filter(|&(_, &ty)| is_pointer(ty)).map(|(var, _)| var).collect();
        let mut b = Builder::new(cx, func);
        b.place = place_of_entry(b.cx);
        call::do_anything(
            b,
            GIVEN,
            "the target of a function pointer in an argument (--undefined-functions sets its behaviour)",
            &written,
            (None, None),
        );
    }
}

/// Adds a taint about the objects of arguments, at the source position of the entry function.
pub(super) fn approximate(b: &mut Builder, reason: String, over: bool, under: bool) {
    let place = std::mem::replace(&mut b.place, place_of_entry(b.cx));
    b.approximate(reason, over, under);
    b.place = place;
}

fn place_of_entry(cx: &Context) -> Option<PlaceId> {
    let entry = cx.program.funcs.values().find(|f| f.name == cx.options.entry);
    entry.and_then(|f| f.place)
}

/// Adds a taint for an object of this type whose pointers have arbitrary values.
pub(super) fn approximate_pointers(b: &mut Builder, target: TypeId) {
    let target = b.cx.program.type_name(target);
    let what = format!("pointers in unions and to FILE are arbitrary ({target}, which is reachable from an argument)");
    approximate(b, format!("{what}: a caller that builds the object in C rules this out"), true, false);
}
