//! Operations of threads: calls of the functions that stand for them (`cfa::threads`).

use super::builder::{Builder, Cursor};
use super::{Context, Mutability};
use cfa::threads::{BLOCK, ThreadOp};
use cfa::{Callee, ExprId, FuncId, FunctionOrigin, Op, Var, VarKind};

/// The atomic blocks of verification tasks: the kind of section that a function begins or, if `None`, ends.
fn block(name: &str) -> Option<Option<u64>> {
    match name {
        "__VERIFIER_atomic_begin" | "__CPROVER_atomic_begin" | "__ESBMC_atomic_begin" => Some(Some(BLOCK)),
        "__VERIFIER_atomic_end" | "__CPROVER_atomic_end" | "__ESBMC_atomic_end" => Some(None),
        _ => None,
    }
}

/// Does what a call of a function does that only programs with threads have a use for.
pub(super) fn synchronise(b: &mut Builder, name: &str) {
    match block(name) {
        Some(Some(kind)) if b.cx.is_threaded => begin(b, kind),
        Some(None) if b.cx.is_threaded => finish(b),
        _ => {}
    }
}

/// An atomic section begins, if the program has threads.
pub(super) fn begin(b: &mut Builder, kind: u64) {
    if b.cx.is_threaded {
        let kind = b.size(kind);
        call(b, ThreadOp::Begin, &[kind]);
    }
}

pub(super) fn finish(b: &mut Builder) {
    if b.cx.is_threaded {
        call(b, ThreadOp::Finish, &[]);
    }
}

/// Calls the function that stands for an operation.
pub(super) fn call(b: &mut Builder, op: ThreadOp, args: &[ExprId]) -> Option<ExprId> {
    let func = declared(b.cx, op);
    let zero = b.size(0);
    let args: Box<[ExprId]> = (0..op.parameters()).map(|n| args.get(n).copied().unwrap_or(zero)).collect();
    let args = args.iter().map(|&arg| b.as_pointer(arg)).collect();
    let width = b.pointer_width();
    let result = op.has_result().then(|| b.temp(width));
    b.emit(Op::Call { callee: Callee::Direct(func), args, varargs: None, result });
    if op == ThreadOp::End {
        // Nothing comes after it.
        b.halt(cfa::HaltKind::Assumed);
    }
    result.map(|var| b.var_expr(var))
}

/// The function that stands for an operation, with the body that it has for who follows one thread.
fn declared(cx: &mut Context<'_>, op: ThreadOp) -> FuncId {
    if let Some(&func) = cx.thread_functions.get(op.name()) {
        return func;
    }
    let width = cx.pointer_width;
    let ty = cx.unknown_type(op.has_result().then_some(width));
    let func = cx.program.add_function(op.name(), ty, op.has_result().then_some(width));
    cx.program.funcs[func].origin = FunctionOrigin::Model;
    cx.thread_functions.insert(op.name(), func);
    for _ in 0..op.parameters() {
        let ty = cx.unknown_type(Some(width));
        let var = Var { name: None, ty, width, kind: VarKind::Param(func), place: None };
        let var = cx.add_var(var, Mutability::Fixed);
        cx.program.funcs[func].params.push(var);
    }
    let param = cx.program.funcs[func].params.first().copied();
    let mut b = Builder { cx, func, cursor: Cursor::Dead, place: None, origin: Vec::new() };
    b.cursor = Cursor::At(b.cx.program.funcs[func].entry);
    let value = match op {
        ThreadOp::Start | ThreadOp::When | ThreadOp::End => {
            b.approximate("threads are followed by schedules alone: not modelled here", true, true);
            None
        }
        ThreadOp::This => Some(b.size(0)),
        ThreadOp::Local => param.map(|param| b.var_expr(param)),
        _ => None,
    };
    b.finish(Op::Return { value });
    func
}
