//! Error functions that optimisation passes inlined in bitcode. An inlined body counts as a call; debug information
//! shows its position. If debug information is missing, calls may have disappeared, so there is no proof.
//!
//! The first call in the body of an error function is its *mark*, if its callee cannot be inlined and no pass removes
//! the call. A pass that merges two such calls drops their line. A call of the mark without a line may therefore belong
//! to the error function.

use super::builder::Builder;
use super::function::FunctionLowering;
use super::{Context, intrinsic, source};
use crate::compile::TRANSLATED;
use crate::ir::{ConstantKind, Function, GlobalRef, Instruction, Module, NONE, Operand, TypeKind, op};
use crate::models::is_library;
use crate::primitives::{self, Primitive};
use cfa::{Callee, Check, FuncId, FunctionOrigin, HaltKind, InputKind, Op};
use rustc_hash::FxHashMap;

/// Intrinsics without a result that have no effect either.
const IDLE: [&str; 4] = ["assume", "stackrestore", "va_copy", "va_start"];

/// Error functions that passes may have inlined.
#[derive(Default)]
pub(super) struct Inlined {
    /// For each position row in an inlined body of an error function, the error function.
    places: FxHashMap<u32, FuncId>,
    /// For each function that is the mark of an error function, the name of the error function.
    marks: FxHashMap<usize, String>,
    /// Error functions whose calls may have disappeared, with the reason.
    untraceable: Vec<(FuncId, String)>,
}

pub(super) fn find(cx: &mut Context) {
    let (ir, options) = (cx.ir, cx.options);
    if !options.checks.contains(&Check::Call) || !ir.functions.iter().any(|f| f.bitcode) {
        return;
    }
    let is_optimised = ir.functions.iter().any(Function::is_optimised);
    let mut is_known = false;
    for name in &options.error_functions {
        is_known |= find_places(cx, name) || is_library(name) || ir.functions.iter().any(|f| f.is_named(name));
        if TRANSLATED.contains(&name.as_str()) || is_optimised && is_library(name) {
            let reason = format!("in bitcode, calls of '{name}' may be instructions, or calls of another function");
            let func = error_function(cx, name);
            cx.inlined.untraceable.push((func, reason));
        }
        for f in ir.functions.iter().filter(|f| f.is_optimised() && f.is_named(name)) {
            match mark_of(ir, f) {
                Some(_) if f.not_inlined => {}
                Some(mark) if !f.c_name.is_empty() => drop(cx.inlined.marks.insert(mark, name.clone())),
                _ => {
                    let reason = format!("'{name}' is in optimised bitcode: calls of it may have been inlined");
                    let func = error_function(cx, name);
                    cx.inlined.untraceable.push((func, reason));
                }
            }
        }
    }
    // Even without optimisation, some functions are always inlined.
    let may_be_inlined = is_optimised || ir.functions.iter().any(|f| f.bitcode && f.c_name.is_empty());
    if let (true, false, Some(first)) = (may_be_inlined, is_known, options.error_functions.first()) {
        let reason = "no error function is in the bitcode: one may have been inlined".to_owned();
        let func = error_function(cx, first);
        cx.inlined.untraceable.push((func, reason));
    }
}

/// The error function with this name. If the program has none, creates one: a static function disappears when all its
/// calls are inlined.
fn error_function(cx: &mut Context, name: &str) -> FuncId {
    if let Some((func, _)) = cx.program.funcs.iter().find(|(_, f)| f.is_named(name)) {
        return func;
    }
    let func = cx.program.add_function(name, source::VOID, None);
    cx.program.funcs[func].origin = FunctionOrigin::Undefined;
    Builder::new(cx, func).halt(HaltKind::Abort);
    func
}

/// Finds the positions in inlined bodies of an error function. Returns whether there are any.
fn find_places(cx: &mut Context, name: &str) -> bool {
    let ir = cx.ir;
    let mut within = vec![false; ir.places.len()];
    for (n, place) in ir.places.iter().enumerate() {
        // The row of a call precedes the rows of the code inlined there.
        within[n] = place.is_inlined_from(name) || place.inlined_at != NONE && within[place.inlined_at as usize];
    }
    if !within.contains(&true) {
        return false;
    }
    let func = error_function(cx, name);
    let rows = within.iter().zip(0..).filter(|(within, _)| **within).map(|(_, row)| (row, func));
    cx.inlined.places.extend(rows);
    true
}

/// At the start of the program: if calls of an error function may have disappeared, adds a tainted call of it.
pub(super) fn at_start(b: &mut Builder) {
    for (func, reason) in std::mem::take(&mut b.cx.inlined.untraceable) {
        let is_called = b.havoc(1, InputKind::Unmodelled(reason.clone()), None);
        b.when(is_called, |b| {
            b.approximate(reason, true, true);
            call(b, func);
        });
    }
}

fn call(b: &mut Builder, func: FuncId) {
    let args = b.cx.program.funcs[func].params.clone();
    let args = args.iter().map(|&param| b.cx.program.vars[param].width).collect::<Vec<_>>();
    let args = args.into_iter().map(|width| b.int(width, 0)).collect();
    b.emit(Op::Call { callee: Callee::Direct(func), args, varargs: None, result: None });
}

/// The mark of a function: its first callee whose calls passes neither inline nor remove.
fn mark_of(ir: &Module, function: &Function) -> Option<usize> {
    let body = function.body.as_ref()?;
    let first = body.blocks.first()?;
    let calls = body.instructions[first.start as usize..first.end as usize].iter().filter(|i| is_call(i));
    let mut callees = calls.filter_map(|call| callee(ir, call));
    callees.find(|&n| is_lasting(&ir.functions[n]))
}

/// True if passes neither inline nor remove calls of the function.
fn is_lasting(f: &Function) -> bool {
    let is_lasting = |p| matches!(p, Primitive::Abort | Primitive::Exit | Primitive::ExitNow);
    f.declaration && !f.name.starts_with("llvm.") && primitives::primitive(&f.name).is_none_or(is_lasting)
}

pub(super) fn is_call(i: &Instruction) -> bool {
    matches!(i.opcode, op::CALL | op::INVOKE)
}

/// The function that a call names.
pub(super) fn callee(ir: &Module, call: &Instruction) -> Option<usize> {
    let Operand::Constant(c) = ir.operand(call, ir.extra(call)[1] as usize) else { return None };
    let ConstantKind::Global(number) = ir.constants[c as usize].kind else { return None };
    match ir.global(number) {
        GlobalRef::Function(n) => Some(n),
        _ => None,
    }
}

/// Called before an instruction. If the instruction is in an inlined body of an error function and has an effect, emits
/// the call of the error function. Passes may execute instructions without an effect speculatively.
pub(super) fn emit_inlined_error(fl: &mut FunctionLowering, i: &Instruction) {
    let Some(&func) = fl.b.cx.inlined.places.get(&i.place) else { return };
    let ir = fl.b.ir();
    let is_idle = |n: usize| {
        let name = ir.functions[n].name.as_str();
        let base = intrinsic::base_name(name);
        let has_result = !matches!(ir.kind(i.ty), TypeKind::Void);
        name.starts_with("llvm.") && (has_result || IDLE.contains(&base) || intrinsic::IGNORED.contains(&base))
    };
    let has_effect = match i.opcode {
        op::STORE | op::UNREACHABLE | op::FENCE | op::CMP_XCHG | op::ATOMIC_RMW => true,
        _ => is_call(i) && !callee(ir, i).is_some_and(is_idle),
    };
    if has_effect && !fl.function.model {
        call(&mut fl.b, func);
    }
}

/// Called before a call of function `n`. If an inlined error function may have contained the call, adds a taint.
pub(super) fn before_call(fl: &mut FunctionLowering, i: &Instruction, n: usize) {
    let Some(name) = fl.b.cx.inlined.marks.get(&n) else { return };
    let ir = fl.b.ir();
    let has_line = i.place != NONE && ir.places[i.place as usize].line != 0;
    if fl.function.is_optimised() && !has_line && !fl.function.is_named(name) {
        let reason = format!("this call of '{}' may be one of '{name}' that was inlined", ir.functions[n].name);
        fl.b.approximate(reason, false, true);
    }
}
