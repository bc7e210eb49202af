//! Uninterpreted functions: the results are arbitrary, but equal for equal arguments.
//!
//! The body keeps a list of the previous calls and searches it for the arguments. It does not branch on whether they
//! are found, so that previous calls do not multiply the paths.

use super::builder::{Builder, Cursor};
use super::{Context, Mutability};
use crate::ir::Function;
use cfa::{AllocKind, ExprId, Family, FuncId, InputKind, Op, Var, VarKind};

/// The alignment of list entries.
const ALIGN: u32 = 16;

/// Creates the body of `func`, which has a result. `ir` is its declaration.
pub(super) fn lower(cx: &mut Context, ir: &Function, func: FuncId) {
    let pointer_width = cx.pointer_width;
    let ty = cx.unknown_type(Some(pointer_width));
    let null = cx.program.exprs.int(pointer_width, 0);
    let kind = VarKind::Global { init: Some(null), is_static: false };
    let list = cx.add_var(Var { name: None, ty, width: pointer_width, kind, place: None }, Mutability::Global);
    let params = cx.program.funcs[func].params.clone();
    let return_type = cx.program.funcs[func].return_type;
    let width = cx.program.funcs[func].return_width.expect("it has a result");

    let mut b = Builder::new(cx, func);
    let arguments: Vec<ExprId> = params.iter().map(|&var| b.var_expr(var)).collect();
    // A list entry: the next entry, the result, the arguments.
    let mut end = u64::from(pointer_width / 8);
    let mut field = |width: u32| {
        let offset = end;
        end += u64::from(width.div_ceil(8)).next_multiple_of(8);
        offset
    };
    let result_at = field(width);
    let argument_at: Vec<u64> = params.iter().map(|&var| field(b.cx.program.vars[var].width)).collect();

    let result_var = b.temp(width);
    b.havoc_var(result_var, InputKind::Nondet(ir.name.clone()), Some(return_type));
    let result = b.var_expr(result_var);
    let entry_var = b.temp(pointer_width);
    let (entry, first) = (b.var_expr(entry_var), b.var_expr(list));
    b.emit(Op::Assign { var: entry_var, value: first });
    let Some(head) = b.here() else { return };
    let (body, after) = (b.new_location(), b.new_location());
    let more = b.x().ne(entry, null);
    b.branch(more, body, after);

    b.cursor = Cursor::At(body);
    let mut same = b.x().bool(true);
    for (&argument, &at) in arguments.iter().zip(&argument_at) {
        let width = b.x().width(argument);
        let before = b.offset(entry, at);
        let before = b.load(before, width);
        let equal = b.x().eq(before, argument);
        same = b.x().and(same, equal);
    }
    let before = b.offset(entry, result_at);
    let before = b.load(before, width);
    let value = b.x().ite(same, before, result);
    b.emit(Op::Assign { var: result_var, value });
    let next = b.load(entry, pointer_width);
    b.emit(Op::Assign { var: entry_var, value: next });
    b.goto(head);

    b.cursor = Cursor::At(after);
    let size = b.size(end);
    let new = b.alloc(size, ALIGN, AllocKind::Library(Family::Internal), false);
    b.store(new, first);
    let slot = b.offset(new, result_at);
    b.store(slot, result);
    for (&argument, &at) in arguments.iter().zip(&argument_at) {
        let slot = b.offset(new, at);
        b.store(slot, argument);
    }
    b.emit(Op::Assign { var: list, value: new });
    b.finish(Op::Return { value: Some(result) });
}
