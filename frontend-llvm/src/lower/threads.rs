//! Lowers operations of threads to calls of the functions that represent them (`cfa::threads`).

use super::builder::{Builder, Cursor};
use super::{Context, Mutability};
use cfa::threads::{BLOCK, ThreadOp};
use cfa::{Callee, ExprId, FuncId, FunctionOrigin, Op, Var, VarKind};

/// Returns the kind of atomic section that the function with this name begins, or `Some(None)` if it ends one. These
/// functions mark atomic blocks in verification tasks.
fn block(name: &str) -> Option<Option<u64>> {
    match name {
        "__VERIFIER_atomic_begin" | "__CPROVER_atomic_begin" | "__ESBMC_atomic_begin" => Some(Some(BLOCK)),
        "__VERIFIER_atomic_end" | "__CPROVER_atomic_end" | "__ESBMC_atomic_end" => Some(None),
        _ => None,
    }
}

/// Lowers a call of a function that begins or ends an atomic block. It has no effect in programs without threads.
pub(super) fn synchronise(b: &mut Builder, name: &str) {
    match block(name) {
        Some(Some(kind)) if b.cx.is_threaded => begin(b, kind),
        Some(None) if b.cx.is_threaded => finish(b),
        _ => {}
    }
}

/// Begins an atomic section, if the program has threads.
pub(super) fn begin(b: &mut Builder, kind: u64) {
    if b.cx.is_threaded {
        let kind = b.size(kind);
        call(b, ThreadOp::Begin, &[kind]);
    }
}

/// Ends the innermost atomic section, if the program has threads.
pub(super) fn finish(b: &mut Builder) {
    if b.cx.is_threaded {
        call(b, ThreadOp::Finish, &[]);
    }
}

/// Emits a call of the function that represents an operation. Missing arguments are zero. Returns the result.
pub(super) fn call(b: &mut Builder, op: ThreadOp, args: &[ExprId]) -> Option<ExprId> {
    let func = declared(b.cx, op);
    let zero = b.size(0);
    let args: Box<[ExprId]> = (0..op.parameters()).map(|n| args.get(n).copied().unwrap_or(zero)).collect();
    let args = args.iter().map(|&arg| b.as_pointer(arg)).collect();
    let width = b.pointer_width();
    let result = op.has_result().then(|| b.temp(width));
    b.emit(Op::Call { callee: Callee::Direct(func), args, varargs: None, result });
    if op == ThreadOp::End {
        // The thread has no operations after its end.
        b.halt(cfa::HaltKind::Assumed);
    }
    result.map(|var| b.var_expr(var))
}

/// The function that represents an operation. Its body is for analyses of a single thread; the interpreter ignores it.
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
            b.approximate("threads are modelled only by an exploration of their schedules", true, true);
            None
        }
        ThreadOp::This => Some(b.size(0)),
        ThreadOp::Local => param.map(|param| b.var_expr(param)),
        _ => None,
    };
    b.finish(Op::Return { value });
    func
}
