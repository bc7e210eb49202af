//! Error functions in bitcode that passes have run over. A body that was inlined stands for a call: debug information tells where it is. Where
//! nothing tells, calls may be gone, and there is no proof.
//!
//! A body leaves a trace if it starts with a call of a function that nobody can inline and no pass takes away, its *mark*. A
//! pass that merges two such calls drops their line, so a call without a line may be one of the error function.

use super::builder::Builder;
use super::function::FunctionLowering;
use super::{Context, source};
use crate::compile::TRANSLATED;
use crate::ir::{ConstantKind, Function, GlobalRef, Instruction, Module, NONE, Operand, op};
use crate::models::is_library;
use crate::primitives::{self, Primitive};
use cfa::{Callee, Check, FuncId, FunctionOrigin, HaltKind, InputKind, Op};
use rustc_hash::FxHashMap;

/// Intrinsics that are not executed but where control comes.
const EFFECTS: [&str; 6] = ["debugtrap", "memcpy", "memmove", "memset", "trap", "ubsantrap"];

/// What is known of error functions that passes may have inlined.
#[derive(Default)]
pub(super) struct Inlined {
    /// By row of the module's places: the error function whose body the place is in.
    places: FxHashMap<u32, FuncId>,
    /// By number of a function that error functions call first: the name of one of them.
    marks: FxHashMap<usize, String>,
    /// Error functions whose calls may be gone without a trace, and why.
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
    // Without optimisation, too, some functions are always inlined.
    let may_be_inlined = is_optimised || ir.functions.iter().any(|f| f.bitcode && f.c_name.is_empty());
    if let (true, false, Some(first)) = (may_be_inlined, is_known, options.error_functions.first()) {
        let reason = "no error function is in the bitcode: one may have been inlined".to_owned();
        let func = error_function(cx, first);
        cx.inlined.untraceable.push((func, reason));
    }
}

/// The program's error function of a name. If it has none, one is made: a static function is gone when all its calls are inlined.
fn error_function(cx: &mut Context, name: &str) -> FuncId {
    if let Some((func, _)) = cx.program.funcs.iter().find(|(_, f)| f.is_named(name)) {
        return func;
    }
    let func = cx.program.add_function(name, source::VOID, None);
    cx.program.funcs[func].origin = FunctionOrigin::Undefined;
    Builder::new(cx, func).halt(HaltKind::Abort);
    func
}

/// Finds the places in bodies of an error function; returns whether there are any.
fn find_places(cx: &mut Context, name: &str) -> bool {
    let ir = cx.ir;
    let mut within = vec![false; ir.places.len()];
    for (n, place) in ir.places.iter().enumerate() {
        // The row of a call comes before those of what was inlined there.
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

/// At the start: where calls may be gone without a trace, there may be one.
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

/// The function that the body of another calls first, if no pass takes such a call away.
fn mark_of(ir: &Module, function: &Function) -> Option<usize> {
    let body = function.body.as_ref()?;
    let first = body.blocks.first()?;
    let calls = body.instructions[first.start as usize..first.end as usize].iter().filter(|i| is_call(i));
    let mut callees = calls.filter_map(|call| callee(ir, call));
    callees.find(|&n| is_lasting(&ir.functions[n]))
}

/// Whether passes neither inline calls of a function nor take them away.
fn is_lasting(f: &Function) -> bool {
    let is_lasting = |p| matches!(p, Primitive::Abort | Primitive::Exit | Primitive::ExitNow);
    f.declaration && !f.name.starts_with("llvm.") && primitives::primitive(&f.name).is_none_or(is_lasting)
}

fn is_call(i: &Instruction) -> bool {
    matches!(i.opcode, op::CALL | op::INVOKE)
}

/// The function that a call names.
fn callee(ir: &Module, call: &Instruction) -> Option<usize> {
    let Operand::Constant(c) = ir.operand(call, ir.extra(call)[1] as usize) else { return None };
    let ConstantKind::Global(number) = ir.constants[c as usize].kind else { return None };
    match ir.global(number) {
        GlobalRef::Function(n) => Some(n),
        _ => None,
    }
}

/// Before an instruction of an error function's body: the call that it stands for. Passes execute other instructions than
/// these where control does not come.
pub(super) fn before(fl: &mut FunctionLowering, i: &Instruction) {
    let Some(&func) = fl.b.cx.inlined.places.get(&i.place) else { return };
    let ir = fl.b.ir();
    let is_idle = |n: usize| {
        let name = ir.functions[n].name.as_str();
        let intrinsic = name.strip_prefix("llvm.");
        intrinsic.is_some_and(|name| !EFFECTS.contains(&name.split('.').next().unwrap_or_default()))
    };
    let has_effect = match i.opcode {
        op::STORE | op::UNREACHABLE => true,
        _ => is_call(i) && !callee(ir, i).is_some_and(is_idle),
    };
    if has_effect && !fl.function.model {
        call(&mut fl.b, func);
    }
}

/// Before a call of function `n`, which an error function may have made: see above.
pub(super) fn before_call(fl: &mut FunctionLowering, i: &Instruction, n: usize) {
    let Some(name) = fl.b.cx.inlined.marks.get(&n) else { return };
    let ir = fl.b.ir();
    let has_line = i.place != NONE && ir.places[i.place as usize].line != 0;
    if fl.function.is_optimised() && !has_line && !fl.function.is_named(name) {
        let reason = format!("this call of '{}' may be one of '{name}' that was inlined", ir.functions[n].name);
        fl.b.approximate(reason, false, true);
    }
}
