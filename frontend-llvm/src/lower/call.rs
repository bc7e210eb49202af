//! Calls of functions and calls through pointers. Other modules lower inline assembly, intrinsics and primitives.

use super::builder::Builder;
use super::by_value::{by_value, result_in_memory};
use super::function::FunctionLowering;
use super::globals::Cell;
use super::{
    Context, arguments, assembly, cancel, initialised, inlined, input, intrinsic, output, primitive, returned,
    sanitizer, uninterpreted, vararg,
};
use crate::hidden::HiddenState;
use crate::ir::{Instruction, Operand, TypeKind, op};
use crate::options::UndefinedFunctions;
use crate::primitives::{self, Primitive};
use cfa::{AllocKind, CType, Callee, Check, ErrorInfo, ExprId, Family, FuncId, HaltKind, InputKind, Op, TypeId, VarId};

impl Context<'_> {
    /// The primitive that a call of function `n` is, if any.
    pub(super) fn primitive(&self, n: usize) -> Option<Primitive> {
        let function = &self.ir.functions[n];
        if !function.declaration {
            return None;
        }
        let primitive = primitives::primitive(&function.name)?;
        // An input function of another verifier has no parameters. A function with parameters may use them in other
        // ways. LLVM passes a result in memory as a parameter.
        let takes = match self.ir.kind(function.ty) {
            _ if !function.c_types.is_empty() => function.c_types.len() > 1,
            TypeKind::Function { params, .. } => !params.is_empty(),
            _ => true,
        };
        let foreign = primitive == Primitive::Nondet && !function.name.starts_with("__VERIFIER_");
        (!(foreign && takes)).then_some(primitive)
    }

    /// Creates the body of a function that the module only declares.
    pub(super) fn synthesise_body(&mut self, n: usize, func: FuncId) {
        let name = &self.ir.functions[n].name;
        let primitive = self.primitive(n);
        let is_error = self.is_error_function(n);
        let (params, width) = (self.program.funcs[func].params.clone(), self.program.funcs[func].return_width);
        let mut b = Builder::new(self, func);
        let function = &b.ir().functions[n];
        let space = function.attributes.iter().find_map(|a| Some((params[a.parameter as usize], a.result?)));
        let ty = function.c_types.first().map(|&row| b.cx.source.c_type(row));
        if let (Some(Primitive::Nondet), Some(space)) = (primitive, space) {
            fill_result(&mut b, space, &InputKind::Nondet(name.clone()), ty);
            b.finish(Op::Return { value: None });
        } else if let Some(primitive) = primitive {
            let args: Vec<ExprId> = params.iter().map(|&var| b.var_expr(var)).collect();
            let value = primitive::lower(&mut b, primitive, name, &args, width);
            b.finish(Op::Return { value });
        } else if is_error || primitives::aborts(name) {
            b.halt(HaltKind::Abort);
        } else if primitives::fails_assertion(name) && !(1..3).contains(&params.len()) {
            let (null, line) = (b.size(0), b.int(32, 0));
            let callee = Callee::Direct(b.cx.failed_assertion());
            b.emit(Op::Call { callee, args: Box::new([null, null, line, null]), varargs: None, result: None });
            b.halt(HaltKind::Abort);
        } else if name.starts_with(primitives::UNINTERPRETED) && width.is_some() {
            uninterpreted::lower(self, &self.ir.functions[n], func);
        } else {
            let TypeKind::Function { params: types, .. } = b.ir().kind(function.ty) else { return };
            let mut written = Vec::new();
            // The space for the result is no parameter in C.
            let own = params.iter().zip(types).filter(|&(&param, _)| space.is_none_or(|(space, _)| param != space));
            let c_types = b.cx.parameter_types(function);
            for (k, (&param, &ty)) in own.enumerate() {
                let c_type = c_types.as_ref().map(|types| types[k]);
                let is_constant = |ty| points_to_constant(&b, ty);
                if matches!(b.ir().kind(ty), TypeKind::Pointer) && !c_type.is_some_and(is_constant) {
                    written.push(param);
                }
            }
            do_anything(b, name, &format!("undefined function '{name}'"), &written, (space, ty));
        }
    }
}

/// Creates the body of an undefined function. This is the only place that decides its effects. `written` are the
/// pointer parameters whose targets it may change. `space` is the parameter with the space for a result in memory, and
/// its size. `ty` is the type of the result.
pub(super) fn do_anything(
    mut b: Builder,
    name: &str,
    what: &str,
    written: &[VarId],
    (space, ty): (Option<(VarId, u64)>, Option<TypeId>),
) {
    match b.cx.options.undefined_functions {
        UndefinedFunctions::Taint => b.approximate(format!("call of {what}"), true, true),
        UndefinedFunctions::Pure => {
            b.use_hidden_states(name);
            if b.cx.options.undefined_functions_keep_state {
                b.change(HiddenState::Environment);
            }
        }
        UndefinedFunctions::Writes => write_anything(&mut b, name, written),
        UndefinedFunctions::Error => {
            let (message, place) = (format!("call of {what}"), b.place);
            let error = b.cx.program.errors.push(ErrorInfo { check: Check::Call, message, place });
            return b.finish(Op::Error(error));
        }
    }
    let kind = InputKind::Unmodelled(name.to_owned());
    if let Some(space) = space {
        fill_result(&mut b, space, &kind, ty);
    }
    let width = b.cx.program.funcs[b.func].return_width;
    let value = width.map(|width| b.havoc(width, kind, ty));
    b.finish(Op::Return { value });
}

/// Fills the space for a result in memory with arbitrary values of type `ty`.
fn fill_result(b: &mut Builder, (space, size): (VarId, u64), kind: &InputKind, ty: Option<TypeId>) {
    let ty = ty.unwrap_or_else(|| b.cx.unknown_type(Some(8 * size as u32)));
    let (address, size) = (b.var_expr(space), b.size(size));
    primitive::fill_with_inputs(b, address, size, kind, Some(ty));
}

/// The memory effects of an undefined function: writes arbitrary values to the objects that these parameters point to,
/// to global variables, and to `errno`.
fn write_anything(b: &mut Builder, name: &str, written: &[VarId]) {
    let kind = InputKind::Unmodelled(name.to_owned());
    for &param in written {
        let pointer = b.var_expr(param);
        overwrite_object(b, pointer, &kind);
    }
    for n in 0..b.cx.cells.len() {
        let variable = &b.ir().variables[n];
        if variable.constant || b.cx.is_of_models(variable) {
            continue;
        }
        match b.cx.cells[n] {
            Cell::Var(var) => b.havoc_var(var, kind.clone(), None),
            Cell::Object(global) => {
                let (width, size) = (b.pointer_width(), b.cx.program.globals[global].size);
                let (address, size) = (b.x().global_addr(global, width), b.size(size));
                primitive::fill_with_inputs(b, address, size, &kind, None);
            }
            _ => {}
        }
    }
    primitive::set_errno(b, |b| b.havoc(32, kind, None));
}

fn points_to_constant(b: &Builder, ty: TypeId) -> bool {
    let types = &b.cx.program.types;
    let CType::Pointer(mut to) = *b.cx.program.plain_type(ty) else { return false };
    loop {
        match types[to] {
            CType::Qualified { name: "const", .. } => return true,
            // The elements of a constant array are constant (C17, 6.7.3p9).
            CType::Qualified { ty, .. } | CType::Typedef { ty, .. } | CType::Array(ty, _) => to = ty,
            CType::Function => return true,
            _ => return false,
        }
    }
}

/// If a pointer points into an object that is not constant, fills the object with arbitrary bytes from there to its end.
/// A function with defined behaviour does not change a constant object (C17, 6.7.3p6, and 6.4.5p7 for literals).
fn overwrite_object(b: &mut Builder, pointer: ExprId, kind: &InputKind) {
    let width = b.pointer_width();
    let offset = b.temp(width);
    b.emit(Op::ObjectOffset { var: offset, ptr: pointer, writable: true });
    let (offset, ones) = (b.var_expr(offset), b.x().constant(cfa::Bv::ones(width)));
    let somewhere = b.x().ne(offset, ones);
    b.when(somewhere, |b| {
        let (size, start) = (b.temp(width), b.x().sub(pointer, offset));
        b.emit(Op::ObjectSize { var: size, ptr: start, family: None });
        let size = b.var_expr(size);
        let rest = b.x().sub(size, offset);
        primitive::fill_with_inputs(b, pointer, rest, kind, None);
    });
}

impl FunctionLowering<'_, '_> {
    /// The values of all arguments that have one.
    pub fn arguments(&mut self, i: &Instruction) -> Vec<ExprId> {
        let ir = self.b.ir();
        let count = ir.extra(i)[1] as usize;
        (0..count).filter_map(|k| self.operand(ir.operand(i, k))).collect()
    }
}

pub(super) fn lower(fl: &mut FunctionLowering, n: u32, i: &Instruction) {
    let ir = fl.b.ir();
    let count = ir.extra(i)[1] as usize;
    match ir.operand(i, count) {
        Operand::Assembly(assembly) => assembly::lower(fl, n, i, assembly),
        callee => {
            let function = match callee {
                Operand::Constant(c) => fl.b.cx.function_of_constant(c),
                _ => None,
            };
            match function {
                Some(f) if sanitizer::is_handler(&ir.functions[f].name) => {
                    sanitizer::lower(fl, i, &ir.functions[f].name);
                }
                Some(f) if ir.functions[f].name.starts_with("llvm.") => {
                    intrinsic::lower(fl, n, i, &ir.functions[f].name);
                }
                Some(f) => {
                    inlined::before_call(fl, i, f);
                    cancel::before_call(fl, Some(f));
                    initialised::demand_arguments(fl, i, &ir.functions[f].name);
                    if !cancel::lower(fl, n, i, f) {
                        lower_named(fl, n, i, callee, f);
                    }
                }
                None => {
                    cancel::before_call(fl, None);
                    initialised::demand_arguments(fl, i, "a function");
                    lower_function_call(fl, n, i, callee, None);
                }
            }
        }
    }
    if i.opcode != op::CALL {
        if i.opcode == op::INVOKE {
            fl.b.approximate("exceptions: not modelled", false, true);
        }
        if let Operand::Block(target) = ir.operand(i, count + 1) {
            fl.jump(target);
        }
    }
}

/// Lowers a call of function `f` by its name.
fn lower_named(fl: &mut FunctionLowering, n: u32, i: &Instruction, callee: Operand, f: usize) {
    let ir = fl.b.ir();
    match fl.b.cx.primitive(f) {
        // A watched function is not observed in calls from the library. An error function is, because a program may
        // replace `malloc`.
        Some(_) if fl.b.cx.is_error_function(f) || fl.b.cx.is_watched(f) && !fl.function.model => {
            lower_function_call(fl, n, i, callee, fl.b.cx.functions[f]);
        }
        Some(primitive) => lower_primitive(fl, n, i, primitive, f),
        None => {
            let simpler = fl.b.cx.ignoring_result.get(ir.functions[f].name.as_str()).copied();
            // A call of a watched function must remain a call of that function.
            let may_be = ir.functions[f].model && !fl.is_used(n) && !fl.b.cx.is_watched(f);
            let simpler = simpler.filter(|_| may_be);
            if simpler.is_some() && !fl.b.cx.options.keeps_output && output::lower(fl, i, f) {
                return;
            }
            let is_input = ir.functions[f].model && !fl.b.cx.is_watched(f) && !fl.b.cx.options.keeps_output;
            if is_input && input::lower(fl, n, i, f) {
                return;
            }
            let f = simpler.unwrap_or(f);
            lower_function_call(fl, n, i, callee, fl.b.cx.functions[f]);
        }
    }
}

fn lower_function_call(fl: &mut FunctionLowering, n: u32, i: &Instruction, callee: Operand, func: Option<FuncId>) {
    let ir = fl.b.ir();
    let TypeKind::Function { variadic, params, .. } = ir.kind(ir.extra(i)[0]) else { return };
    let by_value = by_value(fl.b.ir(), i);
    let count = by_value.len();
    // On i386, calls without a prototype look like any other call. On x86-64 they are variadic.
    let has_rest = *variadic || fl.b.pointer_width() == 32;
    // If the function is not declared, all arguments seem to belong to parameters.
    let fixed = match func.map(|func| &fl.b.cx.program.funcs[func]) {
        Some(func) if has_rest && func.varargs.is_some() => params.len().min(func.params.len()),
        _ => params.len(),
    };
    let mut args = Vec::with_capacity(count);
    let mut copies = Vec::new();
    for (k, copied) in by_value.iter().enumerate() {
        let Some(mut value) = fl.operand(ir.operand(i, k)) else { continue };
        // Variadic arguments are copied into the variadic block.
        if let (Some(copied), true) = (copied, k < fixed) {
            let size = fl.b.size(copied.size);
            let copy = fl.b.alloc(size, copied.align, AllocKind::Stack, false);
            fl.b.emit(Op::Copy { dst: copy, src: value, len: size });
            value = copy;
            copies.push(copy);
        }
        if func.is_none()
            && let Some(ty) = ir.operand_type(fl.function, ir.operand(i, k))
        {
            value = vararg::typed(&mut fl.b, value, ty);
        }
        args.push(value);
    }
    let is_from_constant = arguments::is_from_constant(fl, callee);
    let callee = match func {
        Some(func) => Callee::Direct(func),
        None => match fl.operand(callee) {
            Some(address) => Callee::Indirect(address),
            None => return,
        },
    };
    let behind = match callee {
        Callee::Indirect(_) if has_rest && count == fixed => vararg::behind_pointers(fl.b.cx, count),
        _ => Vec::new(),
    };
    let first = if behind.is_empty() { fixed } else { 0 };
    let mut block = None;
    if has_rest && args.len() == count {
        let rest: Vec<vararg::Argument> = (first..count)
            .filter_map(|k| {
                let ty = ir.operand_type(fl.function, ir.operand(i, k))?;
                Some(vararg::Argument { value: args[k], ty, by_value: by_value[k] })
            })
            .collect();
        block = vararg::block(&mut fl.b, &rest);
        args.truncate(fixed);
    }
    let varargs = match (callee, &block) {
        (Callee::Indirect(address), Some(block)) if !behind.is_empty() => {
            Some(vararg::behind_parameters(&mut fl.b, address, &behind, block))
        }
        (_, block) => block.as_ref().map(|(base, _)| *base),
    };
    let wanted = fl.b.cx.width(i.ty);
    let given = match callee {
        // Old C code may declare and define a function with different types.
        Callee::Direct(func) => fl.b.cx.program.funcs[func].return_width,
        Callee::Indirect(_) => wanted,
    };
    let result = if fl.is_used(n) { given.map(|width| fl.b.temp(width)) } else { None };
    if let (Callee::Direct(func), true) = (callee, by_value.iter().any(Option::is_some))
        && fl.b.cx.program.funcs[func].name.starts_with(primitives::UNINTERPRETED)
    {
        fl.b.approximate("structs as arguments of uninterpreted functions are not compared", true, false);
    }
    fl.before_call();
    let call = Op::Call { callee, args: args.into(), varargs, result };
    returned::with_result(fl, n, callee, |fl| match callee {
        Callee::Direct(_) => drop(fl.b.emit(call)),
        Callee::Indirect(_) if is_from_constant => drop(fl.b.emit(call)),
        Callee::Indirect(address) => arguments::call_pointer(&mut fl.b, address, ir.extra(i)[0], call),
    });
    // Parameters live as long as the call (C17, 6.9.1p9), even if the caller creates them.
    if fl.b.cx.options.scopes() && !fl.function.model {
        for ptr in copies.into_iter().chain(block.map(|(base, _)| base)) {
            fl.b.emit(Op::Free { ptr, family: Family::Scope });
        }
    }
    if let (Some(width), true) = (wanted, fl.is_used(n)) {
        let value = match result {
            Some(var) => {
                let value = fl.b.var_expr(var);
                fl.b.x().resize(width, value)
            }
            None => fl.b.havoc(width, InputKind::Uninit(None), None),
        };
        fl.define_saved(n, value);
    }
}

fn lower_primitive(fl: &mut FunctionLowering, n: u32, i: &Instruction, primitive: Primitive, f: usize) {
    let ir = fl.b.ir();
    let args = fl.arguments(i);
    let function = &ir.functions[f];
    let width = fl.b.cx.width(i.ty);
    if matches!(primitive, Primitive::Exit | Primitive::QuickExit | Primitive::SetRounding) {
        fl.before_call();
    }
    if primitive == Primitive::Nondet && function.implicit {
        primitive::note_undeclared(&mut fl.b, &function.name);
    }
    let ty = fl.c_type_of_result(function);
    let result = result_in_memory(fl.b.ir(), i);
    if let (Primitive::Nondet, Some(space), Some(&address)) = (primitive, result, args.first()) {
        let kind = InputKind::Nondet(function.name.clone());
        let size = fl.b.size(space.size);
        return primitive::fill_with_inputs(&mut fl.b, address, size, &kind, ty);
    }
    let value = match primitive {
        Primitive::Nondet if ty.is_some() => {
            width.map(|width| fl.b.havoc(width, InputKind::Nondet(function.name.clone()), ty))
        }
        Primitive::Nondet | Primitive::Environment => {
            primitive::lower(&mut fl.b, primitive, &function.name, &args, width)
        }
        _ => {
            let wanted = width.filter(|_| fl.is_used(n));
            primitive::lower(&mut fl.b, primitive, &function.name, &args, wanted)
        }
    };
    if let Some(value) = value {
        fl.define_saved(n, value);
    }
}
